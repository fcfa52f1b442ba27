/* SPDX-License-Identifier: Apache-2.0
 * Expressions of the text form: infix as a person would write it, with the parentheses that are needed. A
 * type is written where the arguments do not say it. Knows no statements. */
#include "ir/ir_text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ir_print_identifier(base_builder *out, const char *name) {
    if (!name || !*name)
        name = "v";
    if (*name >= '0' && *name <= '9')
        base_builder_char(out, '_');
    for (; *name; name++) {
        bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                      (*name >= '0' && *name <= '9') || *name == '_';
        base_builder_char(out, letter ? *name : '_');
    }
}

static void print_name(ir_printer *printer, const ir_var *var, const ir_tensor *tensor) {
    if (printer->naming)
        base_builder_string(printer->out, ir_printer_name(printer, var, tensor));
    else
        ir_print_identifier(printer->out, var ? var->name : tensor->name);
}

/* ---- constants ---- */

static double round_to(num_dtype dtype, double value) {
    return dtype == NUM_DTYPE_F64 ? value : num_decode(dtype, num_encode(dtype, value, NUM_RN, false));
}

/* The shortest decimal text that reads back as the same value, written with a point whatever the locale. */
static void print_real(base_builder *out, num_dtype dtype, double value) {
    char text[40], clean[40];
    size_t size = 0;
    bool is_whole = true;
    if (!isfinite(value)) {
        base_builder_string(out, value != value ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    /* the exact decimal when it is short, so that 448 of an 8-bit float is not 4.5e+02 */
    for (int digits = 1; digits <= 8 + 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits <= 8 ? digits : digits - 8, value);
        double read = strtod(text, NULL);
        if ((digits <= 8 ? read : round_to(dtype, read)) == value)
            break;
    }
    for (const char *c = text; *c && size < sizeof clean - 1; c++) {
        bool plain = (*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e';
        is_whole = is_whole && plain && *c != 'e';
        if (plain || size == 0 || clean[size - 1] != '.')
            clean[size++] = plain ? *c : '.';
    }
    base_builder_add(out, clean, size);
    if (is_whole)
        base_builder_string(out, ".0");
}

static void print_suffix(base_builder *out, ir_type type, num_dtype usual) {
    if (type.dtype == usual)
        return;
    base_builder_char(out, '_');
    base_builder_string(out, num_dtype_name((num_dtype)type.dtype));
}

static void print_int(base_builder *out, const ir_expr *e) {
    if (e->type.dtype == NUM_DTYPE_BOOL) {
        base_builder_string(out, e->at.integer ? "True" : "False");
        return;
    }
    if (num_dtype_class((num_dtype)e->type.dtype) == NUM_UNSIGNED)
        base_builder_format(out, "%llu", (unsigned long long)e->at.integer);
    else
        base_builder_format(out, "%lld", (long long)e->at.integer);
    print_suffix(out, e->type, NUM_DTYPE_I32);
}

static void print_string(base_builder *out, const char *string) {
    base_builder_char(out, '"');
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            base_builder_format(out, "\\%c", c);
        else if (c == '\n')
            base_builder_string(out, "\\n");
        else if (c == '\t')
            base_builder_string(out, "\\t");
        else if (c < 0x20 || c > 0x7e)
            base_builder_format(out, "\\x%02x", c);
        else
            base_builder_char(out, (char)c);
    }
    base_builder_char(out, '"');
}

/* ---- accesses ---- */

void ir_print_indices(ir_printer *printer, const ir_tensor *tensor, const ir_expr *const *indices,
                      uint32_t count) {
    print_name(printer, NULL, tensor);
    if (ir_tensor_prints_as_scalar(tensor) && ir_index_is_zero(indices, count))
        return;
    base_builder_char(printer->out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            base_builder_string(printer->out, ", ");
        ir_print_expr(printer, indices[i], IR_BIND_ANY);
    }
    base_builder_char(printer->out, ']');
}

void ir_print_access(ir_printer *printer, const ir_expr *base, const ir_expr *index, ir_type type,
                     ir_type usual, const ir_expr *origin) {
    ir_print_expr(printer, base, IR_BIND_POSTFIX);
    base_builder_char(printer->out, '[');
    ir_print_expr(printer, index, IR_BIND_ANY);
    if (!ir_type_equal(type, usual)) {
        base_builder_string(printer->out, " : ");
        ir_type_print(type, printer->out);
    }
    if (origin) {
        base_builder_string(printer->out, " @ ");
        ir_print_expr(printer, origin, IR_BIND_ANY);
    }
    base_builder_char(printer->out, ']');
}

/* ---- calls ---- */

static void print_arguments(ir_printer *printer, const ir_expr *e, const char *more, long number) {
    base_builder_char(printer->out, '(');
    for (uint32_t i = 0; i < e->count; i++) {
        if (i)
            base_builder_string(printer->out, ", ");
        ir_print_expr(printer, e->args[i], IR_BIND_ANY);
    }
    if (more)
        base_builder_format(printer->out, more, number);
    base_builder_char(printer->out, ')');
}

static void print_call(ir_printer *printer, const ir_expr *e, bool typed) {
    base_builder_string(printer->out, ir_op_information(e->op)->name);
    if (typed) {
        base_builder_char(printer->out, '[');
        ir_type_print(e->type, printer->out);
        base_builder_char(printer->out, ']');
    }
    if (e->op == IR_LANE)
        print_arguments(printer, e, ", %ld", (long)e->at.integer);
    else
        print_arguments(printer, e, NULL, 0);
}

static void print_query(ir_printer *printer, const ir_expr *e) {
    base_builder_string(printer->out, ir_op_information(e->op)->name);
    base_builder_char(printer->out, '.');
    base_builder_char(printer->out, e->at.integer >= 0 && e->at.integer < 3 ? "xyz"[e->at.integer] : '?');
}

/* Ramps and broadcasts say their lanes as the last argument when the element type is the base's. */
static bool lanes_suffice(const ir_expr *e) {
    ir_type expected = e->args[0]->type;
    if (expected.kind != IR_TYPE_PRIM || expected.lanes != 1 || e->type.lanes < 2)
        return false;
    expected.lanes = e->type.lanes;
    return ir_type_equal(expected, e->type);
}

/* ---- infix ---- */

static void print_infix(ir_printer *printer, const ir_expr *e, const ir_infix *infix, int bind) {
    bool enclosed = infix->bind < bind, compares = infix->bind == IR_BIND_COMPARE;
    if (enclosed)
        base_builder_char(printer->out, '(');
    ir_print_expr(printer, e->args[0], infix->bind + compares);
    base_builder_format(printer->out, " %s ", infix->sign);
    ir_print_expr(printer, e->args[1], infix->bind + 1);
    if (enclosed)
        base_builder_char(printer->out, ')');
}

static void print_prefix(ir_printer *printer, const ir_expr *e, const char *sign, int own, int bind) {
    const ir_expr *a = e->args[0];
    bool enclosed = own < bind;
    /* -3 reads as a constant, so the negation of 3 is written -(3) */
    bool constant = e->op == IR_NEG && (a->op == IR_INT || a->op == IR_FLOAT);
    base_builder_string(printer->out, enclosed ? "(" : "");
    base_builder_string(printer->out, sign);
    base_builder_string(printer->out, constant ? "(" : "");
    ir_print_expr(printer, a, constant ? IR_BIND_ANY : own);
    base_builder_string(printer->out, constant ? ")" : "");
    base_builder_string(printer->out, enclosed ? ")" : "");
}

static void print_operator(ir_printer *printer, const ir_expr *e, int bind) {
    ir_type inferred;
    ir_attribute attribute = {.integer = e->at.integer};
    bool typed =
        !ir_infer(e->op, e->args, e->count, attribute, &inferred) || !ir_type_equal(inferred, e->type);
    const ir_infix *infix = ir_infix_of(e->op);
    if (infix && e->count == 2 && !typed)
        print_infix(printer, e, infix, bind);
    else if (e->op == IR_NEG && e->count == 1 && !typed)
        print_prefix(printer, e, "-", IR_BIND_UNARY, bind);
    else if (e->op == IR_BITNOT && e->count == 1 && !typed)
        print_prefix(printer, e, "~", IR_BIND_UNARY, bind);
    else if (e->op == IR_NOT && e->count == 1 && !typed)
        print_prefix(printer, e, "not ", IR_BIND_NOT, bind);
    else if (e->op == IR_CAST && e->count == 1 && e->type.kind == IR_TYPE_PRIM) {
        ir_type_print(e->type, printer->out);
        print_arguments(printer, e, NULL, 0);
    } else if ((e->op == IR_RAMP || e->op == IR_BROADCAST) && e->count && lanes_suffice(e)) {
        base_builder_string(printer->out, ir_op_information(e->op)->name);
        print_arguments(printer, e, ", %ld", e->type.lanes);
    } else {
        print_call(printer, e, typed);
    }
}

static void print_constant(ir_printer *printer, const ir_expr *e, int bind) {
    bool negative = e->op == IR_INT ? e->at.integer < 0 : signbit(e->at.real) != 0;
    bool enclosed = negative && bind > IR_BIND_UNARY;
    if (enclosed)
        base_builder_char(printer->out, '(');
    if (e->op == IR_INT) {
        print_int(printer->out, e);
    } else {
        print_real(printer->out, (num_dtype)e->type.dtype, e->at.real);
        print_suffix(printer->out, e->type, NUM_DTYPE_F32);
    }
    if (enclosed)
        base_builder_char(printer->out, ')');
}

void ir_print_expr(ir_printer *printer, const ir_expr *e, int bind) {
    switch (e->op) {
    case IR_INT:
    case IR_FLOAT:
        print_constant(printer, e, bind);
        return;
    case IR_STRING:
        print_string(printer->out, e->at.string);
        return;
    case IR_VAR:
    case IR_REGISTER:
        print_name(printer, e->at.var, NULL);
        return;
    case IR_ADDRESS:
        if (bind > IR_BIND_UNARY)
            base_builder_char(printer->out, '(');
        base_builder_char(printer->out, '&');
        ir_print_indices(printer, e->at.tensor, e->args, e->count);
        if (bind > IR_BIND_UNARY)
            base_builder_char(printer->out, ')');
        return;
    case IR_LOAD:
        ir_print_indices(printer, e->at.tensor, e->args, e->count);
        return;
    case IR_DATA:
        print_name(printer, NULL, e->at.tensor);
        base_builder_string(printer->out, ".data");
        return;
    case IR_REGION:
        print_name(printer, NULL, e->at.tensor);
        base_builder_string(printer->out, ".region(");
        for (uint32_t i = 0; i < e->count; i++) {
            base_builder_string(printer->out, i ? ", " : "");
            ir_print_expr(printer, e->args[i], IR_BIND_ANY);
        }
        base_builder_char(printer->out, ')');
        return;
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
        print_query(printer, e);
        return;
    case IR_POINTER_LOAD: {
        ir_type usual = {0};
        ir_infer(IR_POINTER_LOAD, e->args, e->count, (ir_attribute){0}, &usual);
        ir_print_access(printer, e->args[0], e->args[1], e->type, usual, e->at.origin);
        return;
    }
    case IR_POINTER_ADDRESS:
        base_builder_string(printer->out, bind > IR_BIND_UNARY ? "(&" : "&");
        ir_print_access(printer, e->args[0], e->args[1], e->type, e->args[0]->type, e->at.origin);
        base_builder_string(printer->out, bind > IR_BIND_UNARY ? ")" : "");
        return;
    default:
        print_operator(printer, e, bind);
    }
}

void ir_expr_print(const ir_expr *e, base_builder *out) {
    ir_printer printer = {out, NULL};
    if (e->depth > IR_DEPTH_LIMIT || e->size > IR_SIZE_LIMIT)
        base_builder_format(out, "<expression of %u nodes, %u deep>", e->size, e->depth);
    else
        ir_print_expr(&printer, e, IR_BIND_ANY);
}
