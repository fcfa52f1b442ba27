/* SPDX-License-Identifier: Apache-2.0
 * Expressions as C text. Integers of less than 32 bits are computed as int and cast back, so that they wrap
 * as the IR says. Float operations and calls stand in their own files. */
#include "cuda/cuda_internal.h"
#include "num/num.h"
#include <string.h>

static bool is_small(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_bits((num_dtype)type.dtype) < 32 &&
           !num_dtype_is_float((num_dtype)type.dtype);
}
static bool is_unsigned(ir_type type) {
    return num_dtype_class((num_dtype)type.dtype) == NUM_UNSIGNED;
}
static unsigned bits_of(const ir_expr *e) {
    return num_dtype_bits((num_dtype)e->type.dtype);
}

/* ---- operators ---- */
static const char *operator_text(ir_op op) {
    switch (op) {
    case IR_ADD:
        return "+";
    case IR_SUB:
        return "-";
    case IR_MUL:
        return "*";
    case IR_DIV:
    case IR_TRUNCDIV:
        return "/";
    case IR_TRUNCMOD:
        return "%";
    case IR_BITAND:
        return "&";
    case IR_BITOR:
        return "|";
    case IR_BITXOR:
        return "^";
    case IR_SHL:
        return "<<";
    case IR_SHR:
        return ">>";
    case IR_EQ:
        return "==";
    case IR_NE:
        return "!=";
    case IR_LT:
        return "<";
    case IR_LE:
        return "<=";
    case IR_GT:
        return ">";
    case IR_GE:
        return ">=";
    case IR_AND:
        return "&&";
    case IR_OR:
        return "||";
    default:
        return NULL;
    }
}

static bool is_comparison(ir_op op) {
    return op >= IR_EQ && op <= IR_GE;
}

/* a op b; the result of a small type is cast back. */
static void binary(cuda_writer *w, const ir_expr *e, bool nested) {
    bool small = is_small(e->type) && !is_comparison(e->op) && e->op != IR_AND && e->op != IR_OR;
    /* Unsigned 16-bit factors promote to int, whose overflow is undefined. */
    bool widen = small && e->op == IR_MUL && is_unsigned(e->type);
    if (small)
        base_builder_format(w->out, "((%s)(", cuda_type(w, e->type));
    else if (nested)
        base_builder_char(w->out, '(');
    if (widen)
        base_builder_string(w->out, "(unsigned int)");
    cuda_expr(w, e->args[0], true);
    base_builder_char(w->out, ' ');
    base_builder_name(w->out, operator_text(e->op));
    base_builder_char(w->out, ' ');
    cuda_expr(w, e->args[1], true);
    if (small)
        base_builder_string(w->out, "))");
    else if (nested)
        base_builder_char(w->out, ')');
}

void cuda_apply(cuda_writer *w, const char *name, const ir_expr *const *args, uint32_t count) {
    base_builder_name(w->out, name);
    base_builder_char(w->out, '(');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            base_builder_string(w->out, ", ");
        cuda_expr(w, args[i], false);
    }
    base_builder_char(w->out, ')');
}

/* name(a, b) of int functions over small types, cast back. */
static void call_as(cuda_writer *w, const ir_expr *e, const char *name) {
    if (!is_small(e->type)) {
        cuda_apply(w, name, e->args, e->count);
        return;
    }
    base_builder_format(w->out, "((%s)%s(", cuda_type(w, e->type), name);
    for (uint32_t i = 0; i < e->count; i++) {
        base_builder_string(w->out, i ? ", (int)" : "(int)");
        cuda_expr(w, e->args[i], true);
    }
    base_builder_string(w->out, "))");
}

static void shift(cuda_writer *w, const ir_expr *e, bool nested) {
    arith_range count = arith_bounds(w->facts, e->args[1]);
    if (count.known && count.low >= 0 && count.high < (int64_t)bits_of(e)) {
        binary(w, e, nested);
        return;
    }
    cuda_use(w, e->op == IR_SHL ? HELPER_SHL : HELPER_SHR);
    base_builder_format(w->out, "%s(", e->op == IR_SHL ? "tirc_shl" : "tirc_shr");
    cuda_expr(w, e->args[0], false);
    /* A negative count is a very large one. */
    base_builder_string(w->out, ", (unsigned long long)");
    w->context = CUDA_WHOLE;
    cuda_expr(w, e->args[1], true);
    base_builder_char(w->out, ')');
}

static void select_text(cuda_writer *w, const ir_expr *e) {
    base_builder_char(w->out, '(');
    for (uint32_t i = 0; i < 3; i++) {
        if (i)
            base_builder_string(w->out, i == 1 ? " ? " : " : ");
        cuda_context context = w->context;
        w->context = i ? context : CUDA_WHOLE;
        cuda_expr(w, e->args[i], true);
        w->context = context;
    }
    base_builder_char(w->out, ')');
}

static void negate(cuda_writer *w, const ir_expr *e, const char *sign, bool nested) {
    bool small = is_small(e->type) && e->op != IR_NOT;
    if (small)
        base_builder_format(w->out, "((%s)", cuda_type(w, e->type));
    if (nested || small)
        base_builder_char(w->out, '(');
    base_builder_string(w->out, sign);
    bool constant = e->args[0]->op == IR_INT || e->args[0]->op == IR_FLOAT;
    if (constant)
        base_builder_char(w->out, '(');
    cuda_expr(w, e->args[0], true);
    if (constant)
        base_builder_char(w->out, ')');
    if (nested || small)
        base_builder_char(w->out, ')');
    if (small)
        base_builder_char(w->out, ')');
}

/* ---- bits ---- */
static void count_bits(cuda_writer *w, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    unsigned bits = bits_of(a);
    bool leading = e->op == IR_CLZ;
    num_dtype dtype = (num_dtype)a->type.dtype;
    /* Sign bits of small types do not count. */
    const char *image = bits == 8 ? "(unsigned char)" : bits == 16 ? "(unsigned short)" : "";
    base_builder_format(w->out, "((%s)(%s%s(%s", cuda_type(w, e->type), leading ? "__clz" : "__popc",
                        bits == 64 ? "ll" : "", leading ? (bits == 64 ? "(long long)" : "(int)") : "");
    base_builder_string(w->out, image);
    if (!leading && bits >= 32 && num_dtype_class(dtype) == NUM_SIGNED)
        base_builder_string(w->out, bits == 64 ? "(unsigned long long)" : "(unsigned int)");
    cuda_expr(w, a, true);
    base_builder_char(w->out, ')');
    if (leading && bits < 32)
        base_builder_format(w->out, " - %u", 32 - bits);
    base_builder_string(w->out, "))");
}

static void absolute(cuda_writer *w, const ir_expr *e) {
    if (is_unsigned(e->type))
        cuda_expr(w, e->args[0], true);
    else
        call_as(w, e, bits_of(e) == 64 ? "llabs" : "abs");
}

static const char *bit_function(num_dtype from, num_dtype to) {
    if (from == NUM_DTYPE_F32 || from == NUM_DTYPE_TF32)
        return to == NUM_DTYPE_I32 ? "__float_as_int" : to == NUM_DTYPE_U32 ? "__float_as_uint" : NULL;
    if (to == NUM_DTYPE_F32 || to == NUM_DTYPE_TF32)
        return from == NUM_DTYPE_I32 ? "__int_as_float" : from == NUM_DTYPE_U32 ? "__uint_as_float" : NULL;
    if (from == NUM_DTYPE_F64)
        return to == NUM_DTYPE_I64 ? "__double_as_longlong" : NULL;
    return to == NUM_DTYPE_F64 && from == NUM_DTYPE_I64 ? "__longlong_as_double" : NULL;
}

static void c_cast(cuda_writer *w, ir_type to, const ir_expr *a) {
    base_builder_string(w->out, "((");
    base_builder_name(w->out, cuda_type(w, to));
    base_builder_char(w->out, ')');
    cuda_expr(w, a, true);
    base_builder_char(w->out, ')');
}

static void reinterpret(cuda_writer *w, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    num_dtype from = (num_dtype)a->type.dtype, to = (num_dtype)e->type.dtype;
    if (e->type.kind == IR_TYPE_POINTER || a->type.kind == IR_TYPE_POINTER) {
        if (a->type.kind == e->type.kind && !strcmp(cuda_type(w, a->type), cuda_type(w, e->type)))
            cuda_expr(w, a, true);
        else
            c_cast(w, e->type, a);
        return;
    }
    bool scalars = a->type.lanes == 1 && e->type.lanes == 1;
    const char *name = scalars ? bit_function(from, to) : NULL;
    if (scalars && num_dtype_is_integer(from) && num_dtype_is_integer(to)) {
        c_cast(w, e->type, a);
    } else if (name) {
        cuda_apply(w, name, e->args, 1);
    } else {
        cuda_use(w, HELPER_BITS);
        cuda_apply(w, base_arena_format(w->arena, "tirc_bits<%s>", cuda_type(w, e->type)), e->args, 1);
    }
}

/* ---- pointers and memory ---- */
static bool is_flat(const ir_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        if (operator_text(e->args[i]->op))
            return false;
    return true;
}

/* Inside []: (i * 8) + j keeps its outer parentheses, tx + 64 needs none. */
void cuda_index(cuda_writer *w, const ir_expr *e) {
    cuda_context context = w->context;
    w->context = CUDA_INDEX;
    cuda_expr(w, e, !is_flat(e));
    w->context = context;
}

static const char *pointer_text(cuda_writer *w, ir_type type) {
    return cuda_type(w, ir_type_pointer((num_dtype)type.dtype, 1, (ir_scope)type.scope));
}

void cuda_pointer_element(cuda_writer *w, const ir_expr *base, const ir_expr *index, ir_type type) {
    base_builder *out = w->out;
    int64_t constant;
    if (type.lanes == 1) {
        cuda_expr(w, base, true);
        base_builder_char(out, '[');
        cuda_index(w, index);
        base_builder_char(out, ']');
        return;
    }
    base_builder_format(out, "*(%s*)(", cuda_type(w, type));
    cuda_expr(w, base, true);
    if (!ir_is_int(index, &constant) || constant) {
        base_builder_string(out, " + ");
        cuda_context context = w->context;
        w->context = CUDA_INDEX;
        cuda_expr(w, index, !(index->op == IR_MUL && is_flat(index)));
        w->context = context;
    }
    base_builder_char(out, ')');
}

static void pointer_load(cuda_writer *w, const ir_expr *e, bool nested) {
    bool wrap = nested && e->type.lanes > 1;
    if (wrap)
        base_builder_char(w->out, '(');
    cuda_pointer_element(w, e->args[0], e->args[1], e->type);
    if (wrap)
        base_builder_char(w->out, ')');
}

static void pointer_address(cuda_writer *w, const ir_expr *e) {
    const char *from = pointer_text(w, e->args[0]->type), *to = pointer_text(w, e->type);
    base_builder_string(w->out, "(");
    if (strcmp(from, to))
        base_builder_format(w->out, "(%s)", to);
    base_builder_string(w->out, "&");
    cuda_pointer_element(w, e->args[0], e->args[1], ir_type_prim((num_dtype)e->args[0]->type.dtype, 1));
    base_builder_string(w->out, ")");
}

static void pointer_offset(cuda_writer *w, const ir_expr *e) {
    base_builder_format(w->out, "((%s)((char*)", cuda_type(w, e->type));
    cuda_expr(w, e->args[0], true);
    base_builder_string(w->out, " + ");
    cuda_expr(w, e->args[1], true);
    base_builder_string(w->out, "))");
}

/* ---- vectors ---- */
static void vector(cuda_writer *w, const ir_expr *e) {
    bool builtin = cuda_vector_is_builtin((num_dtype)e->type.dtype, e->type.lanes);
    const char *type = cuda_type(w, e->type);
    bool array = e->type.lanes > 4;
    base_builder_format(w->out, builtin ? "make_%s(" : array ? "%s{{" : "%s{", type);
    for (uint32_t i = 0; i < e->type.lanes; i++) {
        if (i)
            base_builder_string(w->out, ", ");
        cuda_expr(w, e->op == IR_VECTOR ? e->args[i] : e->args[0], false);
    }
    base_builder_string(w->out, builtin ? ")" : array ? "}}" : "}");
}

static void lane(cuda_writer *w, const ir_expr *e) {
    cuda_expr(w, e->args[0], true);
    if (e->args[0]->type.lanes > 4)
        base_builder_format(w->out, ".v[%lld]", (long long)e->at.integer);
    else
        base_builder_format(w->out, ".%c", "xyzw"[e->at.integer & 3]);
}

/* ---- index queries ---- */
static bool query(cuda_writer *w, const ir_expr *e) {
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    switch (e->op) {
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
        base_builder_string(w->out, "((int)");
        base_builder_name(w->out, names[e->op - IR_THREAD_IDX]);
        base_builder_char(w->out, '.');
        base_builder_char(w->out, "xyz"[e->at.integer % 3]);
        base_builder_char(w->out, ')');
        return true;
    case IR_LANE_ID:
    case IR_WARP_ID:
    case IR_LINEAR_THREAD:
        cuda_use(w, HELPER_LINEAR_THREAD);
        base_builder_string(w->out, e->op == IR_LANE_ID   ? "(tirc_linear_thread() & 31)"
                                    : e->op == IR_WARP_ID ? "(tirc_linear_thread() >> 5)"
                                                          : "tirc_linear_thread()");
        return true;
    default:
        return false;
    }
}

/* ---- all ---- */
static void leaf(cuda_writer *w, const ir_expr *e) {
    switch (e->op) {
    case IR_INT:
        cuda_literal_integer(w, (num_dtype)e->type.dtype, e->at.integer);
        break;
    case IR_FLOAT:
        cuda_literal_float(w, (num_dtype)e->type.dtype, e->at.real);
        break;
    case IR_STRING:
        cuda_literal_string(w, e->at.string);
        break;
    case IR_VAR:
    case IR_REGISTER:
        if (ir_type_is_tensor_map(e->type))
            base_builder_char(w->out, '&');
        base_builder_name(w->out, cuda_name_of(w, e->at.var));
        break;
    case IR_DATA:
        if (e->at.tensor->map)
            base_builder_char(w->out, '&');
        base_builder_name(w->out, cuda_name_of(w, e->at.tensor));
        break;
    default:
        break;
    }
}

static void integer_operation(cuda_writer *w, const ir_expr *e, bool nested) {
    switch (e->op) {
    case IR_NEG:
        negate(w, e, "-", nested);
        break;
    case IR_BITNOT:
        negate(w, e, "~", nested);
        break;
    case IR_NOT:
        negate(w, e, "!", nested);
        break;
    case IR_MIN:
        call_as(w, e, "min");
        break;
    case IR_MAX:
        call_as(w, e, "max");
        break;
    case IR_FLOORDIV:
        cuda_use(w, HELPER_FLOORDIV);
        cuda_apply(w, "tirc_floordiv", e->args, 2);
        break;
    case IR_FLOORMOD:
        cuda_use(w, HELPER_FLOORMOD);
        cuda_apply(w, "tirc_floormod", e->args, 2);
        break;
    case IR_SHL:
    case IR_SHR:
        shift(w, e, nested);
        break;
    case IR_POPCOUNT:
    case IR_CLZ:
        count_bits(w, e);
        break;
    case IR_ABS:
        absolute(w, e);
        break;
    default:
        if (operator_text(e->op) && e->count == 2)
            binary(w, e, nested);
        else
            base_report(w->diagnostics, BASE_ERROR, "T0451", w->span, "%s over %s has no CUDA C++ form",
                        ir_op_information(e->op)->name, num_dtype_name((num_dtype)e->type.dtype));
    }
}

/* What most expressions are made of comes first; calls have the longest list. */
static void expression(cuda_writer *w, const ir_expr *e, bool nested) {
    switch (e->op) {
    case IR_INT:
    case IR_FLOAT:
    case IR_STRING:
    case IR_VAR:
    case IR_REGISTER:
    case IR_DATA:
        leaf(w, e);
        return;
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
        select_text(w, e);
        return;
    case IR_CAST:
        cuda_cast(w, e);
        return;
    case IR_REINTERPRET:
        reinterpret(w, e);
        return;
    case IR_BROADCAST:
    case IR_VECTOR:
        vector(w, e);
        return;
    case IR_LANE:
        lane(w, e);
        return;
    case IR_POINTER_LOAD:
        pointer_load(w, e, nested);
        return;
    case IR_POINTER_ADDRESS:
        pointer_address(w, e);
        return;
    case IR_POINTER_OFFSET:
        pointer_offset(w, e);
        return;
    default:
        break;
    }
    if (!operator_text(e->op) && (query(w, e) || cuda_call(w, e)))
        return;
    if (!cuda_float_operation(w, e, nested))
        integer_operation(w, e, nested);
}

/* The arguments that stand in another context than the others set theirs: indices, conditions and shift
 * counts. */
void cuda_expr(cuda_writer *w, const ir_expr *e, bool nested) {
    cuda_context context = w->context;
    bool chooses = e->op == IR_SELECT || e->op == IR_IF_THEN_ELSE;
    if (cuda_may_wrap(w, e)) {
        cuda_wrapping(w, e, nested);
        return;
    }
    w->context = cuda_argument_context(e, chooses, context);
    expression(w, e, nested);
    w->context = context;
}
