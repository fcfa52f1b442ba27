/* SPDX-License-Identifier: Apache-2.0
 * Compile-time values to IR values: literals take a type, casts, dtypes by name, constants where constants
 * are needed, promotion of two operands (language.md 2.9). Knows no operator. */
#include "script/script_evaluate.h"
#include <math.h>
#include <string.h>

bool script_parse_dtype(const char *text, size_t size, ir_type *type) {
    unsigned lanes = 1;
    num_dtype dtype = num_dtype_find(text, size);
    if (dtype == NUM_DTYPE_NONE) {
        size_t digits = size;
        while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
            digits--;
        if (digits == size || size - digits > 3 || digits < 2 || text[digits - 1] != 'x')
            return false;
        lanes = 0;
        for (size_t i = digits; i < size; i++)
            lanes = lanes * 10 + (unsigned)(text[i] - '0');
        if (lanes < 2 || lanes > 64 || (lanes & (lanes - 1)) != 0)
            return false;
        dtype = num_dtype_find(text, digits - 1);
    }
    if (dtype == NUM_DTYPE_NONE)
        return false;
    *type = ir_type_prim(dtype, lanes);
    return true;
}

const char *script_type_name(script_evaluator *e, ir_type type) {
    base_builder b;
    base_builder_start(&b, e->arena);
    ir_type_print(type, &b);
    return b.data;
}

bool script_to_dtype(script_evaluator *e, script_value v, ir_type *type, base_span span) {
    if (script_is_poison(v))
        return false;
    if (v.kind == SCRIPT_VALUE_STRING) {
        if (script_parse_dtype(v.as.string.text, v.as.string.size, type))
            return true;
        const char *names[NUM_DTYPE_COUNT];
        for (int i = 1; i < NUM_DTYPE_COUNT; i++)
            names[i - 1] = num_dtype_name((num_dtype)i);
        base_diagnostic *d = script_error(e, "T0230", span, "'%s' is no element type", v.as.string.text);
        const char *near = script_nearest(v.as.string.text, names, NUM_DTYPE_COUNT - 1);
        if (near)
            base_help(e->diagnostics, d, "did you mean '%s'?", near);
        return false;
    }
    if ((v.kind == SCRIPT_VALUE_TYPE || v.kind == SCRIPT_VALUE_DTYPE) && v.as.type.kind == IR_TYPE_PRIM) {
        *type = v.as.type;
        return true;
    }
    if (v.kind == SCRIPT_VALUE_WORD && strncmp(v.as.word->path, "python.", 7) == 0) {
        const char *name = v.as.word->path + 7;
        num_dtype dtype = strcmp(name, "int") == 0     ? NUM_DTYPE_I32
                          : strcmp(name, "float") == 0 ? NUM_DTYPE_F32
                          : strcmp(name, "bool") == 0  ? NUM_DTYPE_BOOL
                                                       : NUM_DTYPE_NONE;
        *type = ir_type_prim(dtype, 1);
        if (dtype != NUM_DTYPE_NONE)
            return true;
    }
    script_error(e, "T0205", span, "an element type such as \"float32\" was expected, not %s",
                 script_value_name(e->arena, v));
    return false;
}

bool script_is_ir(script_value v) {
    return v.kind == SCRIPT_VALUE_EXPR || v.kind == SCRIPT_VALUE_TENSOR || v.kind == SCRIPT_VALUE_REGION ||
           v.kind == SCRIPT_VALUE_WINDOW || v.kind == SCRIPT_VALUE_SYMBOL;
}

/* ---- literals ---- */

static bool literal_fits(script_value v, num_dtype dtype) {
    if (v.flag)
        return dtype == NUM_DTYPE_U64;
    if (num_dtype_class(dtype) == NUM_UNSIGNED)
        return v.as.integer >= 0 && (uint64_t)v.as.integer <= num_maximum(dtype);
    return v.as.integer >= num_minimum(dtype) &&
           (v.as.integer < 0 || (uint64_t)v.as.integer <= num_maximum(dtype));
}

static const ir_expr *literal(script_evaluator *e, script_value v, num_dtype dtype, base_span span) {
    num_class class = num_dtype_class(dtype);
    if (v.kind == SCRIPT_VALUE_BOOL)
        v = script_int(v.as.boolean);
    if (v.kind == SCRIPT_VALUE_FLOAT) {
        if (class == NUM_FLOAT) /* a number is cast; an infinity is one where the type has it */
            return ir_float(e->module, dtype, isinf(v.as.real) ? v.as.real : num_cast_real(dtype, v.as.real));
        return ir_cast(e->module, ir_type_prim(dtype, 1), ir_float(e->module, NUM_DTYPE_F64, v.as.real));
    }
    if (class == NUM_FLOAT)
        return ir_float(e->module, dtype,
                        num_cast_integer(dtype, v.flag ? NUM_DTYPE_U64 : NUM_DTYPE_I64, v.as.integer));
    if (class == NUM_BOOL)
        return ir_bool(e->module, v.as.integer != 0);
    if (!literal_fits(v, dtype)) {
        base_builder text;
        base_builder_start(&text, e->arena);
        script_value_text(e, v, false, &text);
        base_diagnostic *d =
            script_error(e, "T0231", span, "%s does not fit %s", text.data, num_dtype_name(dtype));
        base_help(e->diagnostics, d, "give the literal a type of its own, as T.int64(%s)", text.data);
        return NULL;
    }
    return ir_int(e->module, dtype, v.as.integer);
}

static bool is_literal(script_value v) {
    return v.kind == SCRIPT_VALUE_BOOL || v.kind == SCRIPT_VALUE_INT || v.kind == SCRIPT_VALUE_FLOAT;
}

/* ---- values as IR ---- */

static void refuse_value(script_evaluator *e, script_value v, base_span span) {
    if (script_is_poison(v))
        return;
    if (v.kind == SCRIPT_VALUE_FOREIGN) {
        script_foreign_used(e, v, span);
        return;
    }
    base_diagnostic *d = script_error(
        e, v.kind == SCRIPT_VALUE_TENSOR || v.kind == SCRIPT_VALUE_REGION ? "T0215" : "T0205", span,
        "%s is not a value that a kernel can compute with", script_value_name(e->arena, v));
    if (v.kind == SCRIPT_VALUE_TENSOR)
        base_help(e->diagnostics, d, "index it: %s[...]", v.as.tensor->name);
    else if (v.kind == SCRIPT_VALUE_SYMBOL)
        base_help(e->diagnostics, d, "assign it to a name first, as in `n = T.int32()`");
}

const ir_expr *script_to_expr(script_evaluator *e, script_value v, base_span span) {
    switch (v.kind) {
    case SCRIPT_VALUE_EXPR:
        return v.as.expr;
    case SCRIPT_VALUE_TENSOR:
        if (v.as.tensor->type.scope != IR_SCOPE_TMEM && script_is_single(v.as.tensor))
            return script_load_single(e, v.as.tensor);
        break;
    case SCRIPT_VALUE_WINDOW:
        if (script_window_is_single(v.as.window))
            return script_window_single(e, v.as.window, span);
        break;
    case SCRIPT_VALUE_REGION:
        return script_region_load(e, v.as.region, span);
    case SCRIPT_VALUE_BOOL:
        return ir_bool(e->module, v.as.boolean);
    case SCRIPT_VALUE_INT: {
        num_dtype dtype = v.flag                           ? NUM_DTYPE_U64
                          : literal_fits(v, NUM_DTYPE_I32) ? NUM_DTYPE_I32
                                                           : NUM_DTYPE_I64;
        return ir_int(e->module, dtype, v.as.integer);
    }
    case SCRIPT_VALUE_FLOAT:
        return ir_float(e->module, NUM_DTYPE_F32, v.as.real);
    default:
        break;
    }
    refuse_value(e, v, span);
    return NULL;
}

const ir_expr *script_cast(script_evaluator *e, const ir_expr *x, ir_type type, base_span span) {
    if (ir_type_equal(x->type, type))
        return x;
    if (x->type.kind != IR_TYPE_PRIM || type.kind != IR_TYPE_PRIM) {
        base_diagnostic *d = script_error(e, "T0233", span, "%s cannot be converted to %s",
                                          script_type_name(e, x->type), script_type_name(e, type));
        base_help(e->diagnostics, d, "T.reinterpret keeps the bits of a pointer");
        return NULL;
    }
    if (x->type.lanes != type.lanes) {
        if (x->type.lanes != 1) {
            script_error(e, "T0234", span, "a vector of %u lanes does not fit a vector of %u lanes",
                         (unsigned)x->type.lanes, (unsigned)type.lanes);
            return NULL;
        }
        const ir_expr *scalar = ir_cast(e->module, ir_type_scalar(type), x);
        return ir_make(e->module, IR_BROADCAST, type, &scalar, 1);
    }
    return ir_cast(e->module, type, x);
}

const ir_expr *script_to_type(script_evaluator *e, script_value v, ir_type type, base_span span) {
    if (is_literal(v) && type.kind == IR_TYPE_PRIM) {
        const ir_expr *x = literal(e, v, (num_dtype)type.dtype, span);
        return x ? script_cast(e, x, type, span) : NULL;
    }
    const ir_expr *x = script_to_expr(e, v, span);
    return x ? script_cast(e, x, type, span) : NULL;
}

const ir_expr *script_to_index(script_evaluator *e, script_value v, base_span span, const char *what) {
    const ir_expr *x = script_to_expr(e, v, span);
    if (!x)
        return NULL;
    if (ir_type_is_bool(x->type))
        x = ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, x->type.lanes), x);
    if (!ir_type_is_integer(x->type)) {
        script_error(e, "T0212", span, "%s must be an integer, not %s", what, script_type_name(e, x->type));
        return NULL;
    }
    if (num_dtype_bits((num_dtype)x->type.dtype) < 32)
        x = ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, x->type.lanes), x);
    return x;
}

const ir_expr *script_to_condition(script_evaluator *e, script_value v, base_span span, const char *what) {
    const ir_expr *x = script_to_expr(e, v, span);
    if (!x)
        return NULL;
    if (ir_type_is_bool(x->type))
        return x;
    if (x->type.kind == IR_TYPE_PRIM && ir_type_is_integer(x->type) && x->type.lanes == 1)
        return ir_binary(e->module, IR_NE, x, ir_int(e->module, (num_dtype)x->type.dtype, 0));
    base_diagnostic *d = script_error(e, "T0245", span, "%s must be a truth value, not %s", what,
                                      script_type_name(e, x->type));
    base_help(e->diagnostics, d, "write a comparison, such as x != 0");
    return NULL;
}

/* ---- constants ---- */

static const ir_expr *substitute_let(void *user, const ir_expr *x) {
    script_evaluator *e = user;
    if (x->op == IR_VAR) {
        const ir_expr *value = base_map_get(e->let_values, BASE_KEY(x->at.var));
        return value && value->op == IR_INT ? value : x;
    }
    return x;
}

bool script_expr_constant(script_evaluator *e, const ir_expr *x, int64_t *value) {
    if (ir_is_int(x, value))
        return true;
    if (!ir_type_is_integer(x->type) || !e->let_values || ir_expr_reads(x))
        return false;
    x = ir_expr_rewrite(e->module, x, NULL, substitute_let, e, NULL);
    return ir_is_int(x, value);
}

static void want_constant(script_evaluator *e, script_value v, base_span span, const char *what,
                          const char *kind) {
    if (script_is_poison(v))
        return;
    base_diagnostic *d = script_error(e, "T0210", span, "%s must be a constant %s, not %s", what, kind,
                                      script_value_name(e->arena, v));
    if (script_is_ir(v))
        base_help(e->diagnostics, d,
                  "a name assigned inside the kernel is a variable; assign it before the function, or use "
                  "T.meta_var(...)");
}

bool script_constant_int(script_evaluator *e, script_value v, int64_t *value, base_span span,
                         const char *what) {
    if (script_value_integer(v, value))
        return true;
    if (v.kind == SCRIPT_VALUE_EXPR && script_expr_constant(e, v.as.expr, value))
        return true;
    want_constant(e, v, span, what, "integer");
    return false;
}

bool script_constant_bool(script_evaluator *e, script_value v, bool *value, base_span span,
                          const char *what) {
    int64_t constant;
    if (v.kind == SCRIPT_VALUE_EXPR && ir_is_int(v.as.expr, &constant)) { /* T.bool(True) */
        *value = constant != 0;
        return true;
    }
    if (v.kind == SCRIPT_VALUE_BOOL || v.kind == SCRIPT_VALUE_INT || v.kind == SCRIPT_VALUE_NONE)
        return script_value_truth(v, value);
    want_constant(e, v, span, what, "truth value");
    return false;
}

bool script_constant_string(script_evaluator *e, script_value v, const char **text, base_span span,
                            const char *what) {
    if (v.kind == SCRIPT_VALUE_STRING) {
        *text = v.as.string.text;
        return true;
    }
    want_constant(e, v, span, what, "string");
    return false;
}

/* ---- promotion ---- */

/* Floats by rank: an IEEE float beats the others, then bfloat16, then fp8, fp6, fp4; the wider wins inside.
 */
static int float_rank(num_dtype dtype) {
    switch (dtype) {
    case NUM_DTYPE_F64:
        return 90;
    case NUM_DTYPE_F32:
        return 80;
    case NUM_DTYPE_F16:
        return 70;
    case NUM_DTYPE_TF32:
        return 65;
    case NUM_DTYPE_BF16:
        return 60;
    default:
        return (int)num_dtype_bits(dtype);
    }
}

static num_dtype common_dtype(num_dtype a, num_dtype b) {
    if (a == b)
        return a;
    num_class ca = num_dtype_class(a), cb = num_dtype_class(b);
    if (ca == NUM_FLOAT && cb == NUM_FLOAT) {
        int ra = float_rank(a), rb = float_rank(b);
        return ra == rb ? NUM_DTYPE_NONE : ra > rb ? a : b;
    }
    if (ca == NUM_FLOAT || cb == NUM_BOOL)
        return a;
    if (cb == NUM_FLOAT || ca == NUM_BOOL)
        return b;
    unsigned wa = num_dtype_bits(a), wb = num_dtype_bits(b);
    if (wa != wb)
        return wa > wb ? a : b;
    return ca == NUM_UNSIGNED ? a : b;
}

/* A literal beside a typed operand: takes its type, but a float literal never becomes an integer. */
static const ir_expr *beside(script_evaluator *e, script_value v, const ir_expr *other, base_span span) {
    if (!is_literal(v))
        return script_to_expr(e, v, span);
    if (other->type.kind != IR_TYPE_PRIM)
        return script_to_expr(e, v, span);
    num_class class = num_dtype_class((num_dtype)other->type.dtype);
    if (v.kind == SCRIPT_VALUE_FLOAT && class != NUM_FLOAT)
        return script_to_expr(e, v, span);
    if (class == NUM_BOOL && v.kind != SCRIPT_VALUE_BOOL)
        return script_to_expr(e, v, span);
    if (v.kind == SCRIPT_VALUE_BOOL && class != NUM_BOOL)
        v = script_int(v.as.boolean);
    return literal(e, v, (num_dtype)other->type.dtype, span);
}

bool script_promote(script_evaluator *e, script_value a, script_value b, const ir_expr **x, const ir_expr **y,
                    base_span span) {
    *x = *y = NULL;
    if (script_is_poison(a) || script_is_poison(b))
        return false;
    if (is_literal(a) && !is_literal(b)) {
        *y = script_to_expr(e, b, span);
        *x = *y ? beside(e, a, *y, span) : NULL;
    } else {
        *x = script_to_expr(e, a, span);
        *y = *x ? beside(e, b, *x, span) : NULL;
    }
    if (!*x || !*y)
        return false;
    ir_type tx = (*x)->type, ty = (*y)->type;
    if (tx.kind != IR_TYPE_PRIM || ty.kind != IR_TYPE_PRIM) {
        base_diagnostic *d = script_error(e, "T0233", span, "no arithmetic between %s and %s",
                                          script_type_name(e, tx), script_type_name(e, ty));
        if (tx.kind == IR_TYPE_POINTER || ty.kind == IR_TYPE_POINTER)
            base_help(e->diagnostics, d, "T.ptr_byte_offset(pointer, bytes, ty=...) moves a pointer");
        return false;
    }
    if (tx.lanes != ty.lanes && tx.lanes != 1 && ty.lanes != 1) {
        script_error(e, "T0234", span, "vectors of %u and %u lanes do not go together", (unsigned)tx.lanes,
                     (unsigned)ty.lanes);
        return false;
    }
    num_dtype dtype = common_dtype((num_dtype)tx.dtype, (num_dtype)ty.dtype);
    if (dtype == NUM_DTYPE_NONE) {
        base_diagnostic *d = script_error(e, "T0233", span, "%s and %s have no common type",
                                          script_type_name(e, tx), script_type_name(e, ty));
        base_help(e->diagnostics, d, "convert one of them with T.cast");
        return false;
    }
    ir_type common = ir_type_prim(dtype, tx.lanes > ty.lanes ? tx.lanes : ty.lanes);
    if ((*x)->depth > IR_DEPTH_LIMIT - 8 || (*y)->depth > IR_DEPTH_LIMIT - 8 ||
        (uint64_t)(*x)->size + (*y)->size > IR_SIZE_LIMIT - 8) {
        script_error(e, "T0281", span, "this expression has grown over %d levels or %d nodes", IR_DEPTH_LIMIT,
                     IR_SIZE_LIMIT);
        return false;
    }
    if (!ir_type_equal(tx, common))
        *x = script_cast(e, *x, common, span);
    if (!ir_type_equal(ty, common))
        *y = script_cast(e, *y, common, span);
    return *x && *y;
}
