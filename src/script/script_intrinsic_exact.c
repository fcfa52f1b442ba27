/* SPDX-License-Identifier: Apache-2.0
 * Words of floats that are exact and need no operation of their own: copysign, nextafter and ldexp, made of
 * integer operations on the bits, comparisons and products. So they fold, and mean the same as PTX and as
 * CUDA. */
#include "script/script_evaluate.h"

static script_value wrong(script_evaluator *e, const script_call *call, const char *wanted, ir_type type) {
    script_error(e, "T0205", call->span, "%s takes %s, not %s", call->word->path, wanted,
                 script_type_name(e, type));
    return script_poison();
}

/* The types whose formats have a sign, infinities and whole bytes as IEEE's do. */
static bool has_format(ir_type type) {
    num_dtype dtype = (num_dtype)type.dtype;
    return type.kind == IR_TYPE_PRIM && type.lanes == 1 &&
           (dtype == NUM_DTYPE_F16 || dtype == NUM_DTYPE_BF16 || dtype == NUM_DTYPE_F32 ||
            dtype == NUM_DTYPE_F64);
}
#define FORMATS "a float16, bfloat16, float32 or float64"

static num_dtype bits_of(ir_type type) {
    unsigned bits = num_dtype_bits((num_dtype)type.dtype);
    return bits == 16 ? NUM_DTYPE_U16 : bits == 32 ? NUM_DTYPE_U32 : NUM_DTYPE_U64;
}

static const ir_expr *pun(ir_module *m, num_dtype to, const ir_expr *x) {
    return ir_reinterpret(m, ir_type_prim(to, 1), x);
}

static const ir_expr *sign_mask(ir_module *m, ir_type type) {
    num_dtype bits = bits_of(type);
    return ir_int(m, bits, (int64_t)(UINT64_C(1) << (num_dtype_bits(bits) - 1)));
}

/* A number known while compiling is float32, as alone. */
static const ir_expr *float_of(script_evaluator *e, script_value v, base_span place) {
    int64_t whole;
    if (script_value_integer(v, &whole))
        v = script_float((double)whole);
    return script_to_expr(e, v, place);
}

static bool two_floats(script_evaluator *e, const script_call *call, const ir_expr **x, const ir_expr **y) {
    script_value v[2] = {call->value[0], call->value[1]};
    if (!script_is_ir(v[0]) && !script_is_ir(v[1])) {
        *x = float_of(e, v[0], call->place[0]), *y = float_of(e, v[1], call->place[1]);
        if (!*x || !*y)
            return false;
        v[0] = script_expr(*x), v[1] = script_expr(*y);
    }
    if (!script_promote(e, v[0], v[1], x, y, call->span))
        return false;
    if (!has_format((*x)->type)) {
        wrong(e, call, FORMATS, (*x)->type);
        return false;
    }
    return true;
}

script_value script_word_copysign(script_evaluator *e, const script_call *call) {
    ir_module *m = e->module;
    const ir_expr *x, *y;
    if (!two_floats(e, call, &x, &y))
        return script_poison();
    num_dtype bits = bits_of(x->type);
    const ir_expr *mask = sign_mask(m, x->type);
    const ir_expr *magnitude = ir_binary(m, IR_BITAND, pun(m, bits, x), ir_unary(m, IR_BITNOT, mask));
    const ir_expr *sign = ir_binary(m, IR_BITAND, pun(m, bits, y), mask);
    return script_expr(pun(m, (num_dtype)x->type.dtype, ir_binary(m, IR_BITOR, magnitude, sign)));
}

/* The bits of a float count up with its magnitude: one more away from zero, one less toward it. From a zero
 * it is the least subnormal number with the sign of y. */
script_value script_word_nextafter(script_evaluator *e, const script_call *call) {
    ir_module *m = e->module;
    const ir_expr *x, *y;
    if (!two_floats(e, call, &x, &y))
        return script_poison();
    num_dtype bits = bits_of(x->type), real = (num_dtype)x->type.dtype;
    const ir_expr *one = ir_int(m, bits, 1), *less_one = ir_int(m, bits, -1), *zero = ir_float(m, real, 0);
    const ir_expr *positive = ir_binary(m, IR_GT, x, zero);
    const ir_expr *up = ir_select(m, IR_SELECT, positive, one, less_one);
    const ir_expr *down = ir_select(m, IR_SELECT, positive, less_one, one);
    const ir_expr *step = ir_select(m, IR_SELECT, ir_binary(m, IR_LT, x, y), up, down);
    const ir_expr *moved = ir_binary(m, IR_ADD, pun(m, bits, x), step);
    const ir_expr *sign = ir_binary(m, IR_BITAND, pun(m, bits, y), sign_mask(m, x->type));
    const ir_expr *least = ir_binary(m, IR_BITOR, sign, one);
    const ir_expr *value = pun(m, real, ir_select(m, IR_SELECT, ir_binary(m, IR_EQ, x, zero), least, moved));
    value = ir_select(m, IR_SELECT, ir_binary(m, IR_EQ, x, y), y, value);
    const ir_expr *unknown = ir_binary(m, IR_OR, ir_unary(m, IR_ISNAN, x), ir_unary(m, IR_ISNAN, y));
    return script_expr(ir_select(m, IR_SELECT, unknown, ir_binary(m, IR_ADD, x, y), value));
}

/* n within [-limit, limit], as int64. */
static const ir_expr *clamped(ir_module *m, const ir_expr *n, int64_t limit) {
    if (n->type.dtype == NUM_DTYPE_U64)
        n = ir_binary(m, IR_MIN, n, ir_int(m, NUM_DTYPE_U64, limit));
    n = ir_cast(m, ir_type_prim(NUM_DTYPE_I64, 1), n);
    n = ir_binary(m, IR_MIN, n, ir_int(m, NUM_DTYPE_I64, limit));
    return ir_binary(m, IR_MAX, n, ir_int(m, NUM_DTYPE_I64, -limit));
}

/* x 2^n for n in [-1022, 1023]. */
static const ir_expr *scaled(ir_module *m, const ir_expr *x, const ir_expr *n) {
    const ir_expr *high = ir_binary(m, IR_ADD, n, ir_int(m, NUM_DTYPE_I64, 1023));
    high = ir_binary(m, IR_SHL, high, ir_int(m, NUM_DTYPE_I64, 52));
    return ir_binary(m, IR_MUL, x, pun(m, NUM_DTYPE_F64, high));
}

/* Types up to float32 are scaled exactly in float64 and rounded once. float64 is scaled in three steps; those
 * down leave 53 bits to the last one, so that only one rounding of a subnormal result shows. */
script_value script_word_ldexp(script_evaluator *e, const script_call *call) {
    ir_module *m = e->module;
    const ir_expr *x = float_of(e, call->value[0], call->place[0]);
    const ir_expr *n = script_to_expr(e, call->value[1], call->place[1]);
    if (!x || !n)
        return script_poison();
    if (!has_format(x->type))
        return wrong(e, call, FORMATS, x->type);
    if (!ir_type_is_integer(n->type) || n->type.lanes != 1)
        return wrong(e, call, "an integer as exponent", n->type);
    if (x->type.dtype != NUM_DTYPE_F64) {
        const ir_expr *wide = ir_cast(m, ir_type_prim(NUM_DTYPE_F64, 1), x);
        return script_expr(ir_cast(m, x->type, scaled(m, wide, clamped(m, n, 600))));
    }
    n = clamped(m, n, 2200);
    const ir_expr *most = ir_int(m, NUM_DTYPE_I64, 1023), *least = ir_int(m, NUM_DTYPE_I64, -1022);
    for (int i = 0; i < 2; i++) {
        const ir_expr *down = ir_select(m, IR_SELECT, ir_binary(m, IR_LT, n, least),
                                        ir_int(m, NUM_DTYPE_I64, -1022 + 53), ir_int(m, NUM_DTYPE_I64, 0));
        const ir_expr *part = ir_select(m, IR_SELECT, ir_binary(m, IR_GT, n, most), most, down);
        x = scaled(m, x, part);
        n = ir_binary(m, IR_SUB, n, part);
    }
    n = ir_binary(m, IR_MAX, ir_binary(m, IR_MIN, n, most), least);
    return script_expr(scaled(m, x, n));
}
