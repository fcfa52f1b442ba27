/* SPDX-License-Identifier: Apache-2.0
 * Mathematical functions of float32, and of narrower floats through it. One instruction sequence per
 * function; docs/math.md states each with its error bound. Coefficients are Chebyshev interpolations of our
 * own. */
#include "assemble/ptx_build_math.h"
#include <math.h>

static const ir_type f32_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_F32, .lanes = 1};
static const ir_type f64_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_F64, .lanes = 1};

bool ptx_build_is_math(ir_op op) {
    return op >= IR_RSQRT && op <= IR_FMOD;
}

#define LOG2_E      0x1.715476p+0 /* rounded to float32; the rest is LOG2_E_REST */
#define LOG2_E_REST 0x1.4ae0cp-26
#define LN_2        0x1.62e43p-1
#define LOG10_2     0x1.344136p-2
#define LOG10_E     0x1.bcb7b2p-2

/* 2^n 2^f, where n is x log2 e to the nearest whole number and f the rest. A sum with EXP_WHOLE rounds to
 * whole numbers and leaves n + 127 in its low bits, which is the exponent of 2^n. n is kept where 2^n is a
 * normal number; f grows instead, so that infinities and subnormal results come out of ex2 and of the last
 * product. A NaN goes through f. */
#define EXP_WHOLE (0x1.8p23 + 127)
static ptx_operand exponential(const ptx_math *m, ptx_operand x) {
    ptx_mod approximate[3] = {PTX_MOD_APPROX, PTX_MOD_FTZ, PTX_MOD_F32};
    ptx_operand whole = math_fma(m, x, ptx_build_f32(LOG2_E), ptx_build_f32(EXP_WHOLE));
    whole = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod),
                              PTX_ARGS(whole, ptx_build_f32(EXP_WHOLE + 127)));
    whole = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod),
                              PTX_ARGS(whole, ptx_build_f32(EXP_WHOLE - 126)));
    ptx_operand opposite = math_op2(m, PTX_OP_SUB, ptx_build_f32(EXP_WHOLE), whole);
    ptx_operand rest = math_fma(m, x, ptx_build_f32(LOG2_E), opposite);
    rest = math_fma(m, x, ptx_build_f32(LOG2_E_REST), rest);
    rest = ptx_build_compute(m->b, m->class, PTX_OP_EX2, approximate, 3, PTX_ARGS(rest));
    ptx_operand power = ptx_build_compute(m->b, m->class, PTX_OP_SHL, PTX_MODS(PTX_MOD_B32),
                                          PTX_ARGS(whole, ptx_build_int(23)));
    return math_op2(m, PTX_OP_MUL, rest, power);
}

static const double log_terms[] = {-0x1.0p-1,      0x1.55552cp-2,  -0x1.ffffb6p-3,
                                   0x1.99bf86p-3,  -0x1.557832p-3, 0x1.1fdcf0p-3,
                                   -0x1.f75896p-4, 0x1.1990bcp-3,  -0x1.fcd036p-4};

/* x = m 2^e with m in [2/3, 4/3); log(1 + f) = f + f^2 P(f). */
static ptx_operand logarithm(const ptx_math *m, ir_op op, ptx_operand x) {
    ptx_builder *b = m->b;
    ptx_operand tiny = math_test(m, PTX_MOD_LT, x, ptx_build_f32(0x1p-126));
    ptx_operand scaled = math_choose(m, tiny, math_op2(m, PTX_OP_MUL, x, ptx_build_f32(0x1p23)), x);
    ptx_operand bias = math_choose(m, tiny, ptx_build_f32(-23), ptx_build_f32(0));
    ptx_operand bits =
        ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(scaled));
    ptx_operand exponent = math_word(m, PTX_OP_ADD, PTX_MOD_S32, bits, ptx_build_int(-0x3f2aaaab));
    exponent = math_word(m, PTX_OP_AND, PTX_MOD_B32, exponent, ptx_build_int(-0x800000));
    ptx_operand mantissa = math_word(m, PTX_OP_SUB, PTX_MOD_S32, bits, exponent);
    mantissa = ptx_build_compute(b, m->class, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(mantissa));
    ptx_operand e = ptx_build_compute(b, m->class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RN, PTX_MOD_F32, PTX_MOD_S32),
                                      PTX_ARGS(exponent));
    e = math_fma(m, e, ptx_build_f32(0x1p-23), bias);
    ptx_operand f = math_op2(m, PTX_OP_ADD, mantissa, ptx_build_f32(-1));
    ptx_operand sum = math_polynomial(m, f, log_terms, MATH_COUNT(log_terms));
    sum = math_fma(m, math_op2(m, PTX_OP_MUL, sum, f), f, f);
    if (op == IR_LOG)
        sum = math_fma(m, e, ptx_build_f32(LN_2), sum);
    else if (op == IR_LOG2)
        sum = math_fma(m, sum, ptx_build_f32(LOG2_E), e);
    else
        sum = math_fma(m, e, ptx_build_f32(LOG10_2), math_op2(m, PTX_OP_MUL, sum, ptx_build_f32(LOG10_E)));
    /* Infinity, NaN and what is negative: x * inf + inf; zero: -inf. */
    ptx_operand special = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_GE, PTX_MOD_U32),
                                            PTX_ARGS(bits, ptx_build_int(0x7f800000)));
    ptx_operand infinity = ptx_build_f32((double)INFINITY);
    sum = math_choose(m, special, math_fma(m, scaled, infinity, infinity), sum);
    ptx_operand zero = math_test(m, PTX_MOD_EQ, x, ptx_build_f32(0));
    return math_choose(m, zero, ptx_build_f32(-(double)INFINITY), sum);
}

static const double sine_terms[] = {-0x1.555552p-3, 0x1.110c28p-7, -0x1.9ac9b0p-13};
static const double cosine_terms[] = {0x1.555554p-5, -0x1.6c12d2p-10, 0x1.9bd89cp-16};

/* The quadrant is taken off in float64, so that no bit of the float32 remainder is lost up to 2^50; the
 * clamps bound what is left of larger ones. */
static ptx_operand sine(const ptx_math *m, ir_op op, ptx_operand x) {
    ptx_builder *b = m->b;
    ptx_math wide = {b, PTX_CLASS_F64, PTX_MOD_F64};
    ptx_operand xd = ptx_build_cast(b, f64_type, f32_type, x);
    ptx_operand n =
        math_round(&wide, PTX_MOD_RNI, math_op2(&wide, PTX_OP_MUL, xd, ptx_build_f64(0x1.45f306dc9c883p-1)));
    ptx_operand quadrant = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVT,
                                             PTX_MODS(PTX_MOD_RZI, PTX_MOD_S64, PTX_MOD_F64), PTX_ARGS(n));
    quadrant = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U64),
                                 PTX_ARGS(quadrant));
    if (op == IR_COS)
        quadrant = math_word(m, PTX_OP_ADD, PTX_MOD_S32, quadrant, ptx_build_int(1));
    ptx_operand rd = math_fma(&wide, n, ptx_build_f64(-0x1.921fb54442d18p+0), xd);
    rd = math_fma(&wide, n, ptx_build_f64(-0x1.1a62633145c07p-54), rd);
    ptx_operand r = ptx_build_cast(b, f32_type, f64_type, rd);
    ptx_mod nan_min[2] = {PTX_MOD_NAN, PTX_MOD_F32};
    r = ptx_build_compute(b, m->class, PTX_OP_MIN, nan_min, 2, PTX_ARGS(r, ptx_build_f32(1)));
    r = ptx_build_compute(b, m->class, PTX_OP_MAX, nan_min, 2, PTX_ARGS(r, ptx_build_f32(-1)));
    ptx_operand z = math_op2(m, PTX_OP_MUL, r, r);
    ptx_operand s = math_polynomial(m, z, sine_terms, MATH_COUNT(sine_terms));
    s = math_fma(m, math_op2(m, PTX_OP_MUL, z, r), s, r);
    ptx_operand c = math_polynomial(m, z, cosine_terms, MATH_COUNT(cosine_terms));
    c = math_fma(m, math_fma(m, c, z, ptx_build_f32(-0.5)), z, ptx_build_f32(1));
    ptx_operand bit = math_word(m, PTX_OP_AND, PTX_MOD_B32, quadrant, ptx_build_int(1));
    ptx_operand odd = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                        PTX_ARGS(bit, ptx_build_int(0)));
    ptx_operand value = math_choose(m, odd, c, s);
    bit = math_word(m, PTX_OP_AND, PTX_MOD_B32, quadrant, ptx_build_int(2));
    ptx_operand turned = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                           PTX_ARGS(bit, ptx_build_int(0)));
    return math_choose(m, turned, math_op1(m, PTX_OP_NEG, value), value);
}

/* The magnitude with the sign of x, where x is not small. */
static ptx_operand with_sign(const ptx_math *m, ptx_operand x, ptx_operand magnitude) {
    ptx_operand negative = math_test(m, PTX_MOD_LT, x, ptx_build_f32(0));
    return math_choose(m, negative, math_op1(m, PTX_OP_NEG, magnitude), magnitude);
}

static const double tanh_terms[] = {-0x1.555552p-2, 0x1.110e1cp-3, -0x1.b9258ap-5, 0x1.58048ep-6,
                                    -0x1.8f8de4p-8};

/* x + x^3 P(x^2) below 5/8, else 1 - 2 / (e^2x + 1). */
static ptx_operand hyperbolic_tangent(const ptx_math *m, ptx_operand x) {
    ptx_operand magnitude = math_op1(m, PTX_OP_ABS, x), z = math_op2(m, PTX_OP_MUL, x, x);
    ptx_operand small = math_polynomial(m, z, tanh_terms, MATH_COUNT(tanh_terms));
    small = math_fma(m, math_op2(m, PTX_OP_MUL, z, x), small, x);
    ptx_operand power = math_op2(m, PTX_OP_MUL, magnitude, ptx_build_f32(2 * LOG2_E));
    ptx_operand sum = math_op2(m, PTX_OP_ADD, math_approximate(m, PTX_OP_EX2, power), ptx_build_f32(1));
    ptx_operand quotient = math_op2(m, PTX_OP_DIV, ptx_build_f32(-2), sum);
    ptx_operand large = with_sign(m, x, math_op2(m, PTX_OP_ADD, quotient, ptx_build_f32(1)));
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f32(0.625)), small, large);
}

static const double erf_terms[] = {0x1.06eba8p-3, -0x1.812746p-2,  0x1.ce2f08p-4,  -0x1.b829c8p-6,
                                   0x1.562a60p-8, -0x1.bccf66p-11, 0x1.d88750p-14, -0x1.445f48p-17};
static const double erfc_terms[] = {0x1.c2b664p-12, -0x1.a16524p+0,  -0x1.d2d2d0p-1,
                                    -0x1.44c986p-3, 0x1.372f96p-5,   -0x1.bee792p-8,
                                    0x1.bdf722p-11, -0x1.11651ap-14, 0x1.3435dep-19};

/* x + x P(x^2) below 1, else 1 - 2^Q(|x|), where Q is log2 of 1 - erf; from 4.1 on that is below half an ulp.
 */
static ptx_operand error_function(const ptx_math *m, ptx_operand x) {
    ptx_operand magnitude = math_op1(m, PTX_OP_ABS, x), z = math_op2(m, PTX_OP_MUL, x, x);
    ptx_operand small = math_fma(m, math_polynomial(m, z, erf_terms, MATH_COUNT(erf_terms)), x, x);
    ptx_operand a = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(PTX_MOD_NAN, PTX_MOD_F32),
                                      PTX_ARGS(magnitude, ptx_build_f32(0x1.066666p+2)));
    ptx_operand tail =
        math_approximate(m, PTX_OP_EX2, math_polynomial(m, a, erfc_terms, MATH_COUNT(erfc_terms)));
    ptx_operand large = math_op2(m, PTX_OP_ADD, math_op1(m, PTX_OP_NEG, tail), ptx_build_f32(1));
    large = with_sign(m, x, large);
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f32(1)), small, large);
}

static ptx_operand of_f32(ptx_builder *b, ir_op op, ptx_operand x, ptx_operand y) {
    ptx_math m = {b, PTX_CLASS_F32, PTX_MOD_F32};
    x = ptx_build_in_register(b, PTX_CLASS_F32, x);
    switch (op) {
    case IR_RSQRT:
        return math_approximate(&m, PTX_OP_RSQRT, x);
    case IR_EXP:
        return exponential(&m, x);
    case IR_EXP2:
        return math_approximate(&m, PTX_OP_EX2, x);
    case IR_LOG:
    case IR_LOG2:
    case IR_LOG10:
        return logarithm(&m, op, x);
    case IR_SIN:
    case IR_COS:
        return sine(&m, op, x);
    case IR_TANH:
        return hyperbolic_tangent(&m, x);
    case IR_ERF:
        return error_function(&m, x);
    default: /* float64 has bits to spare for any float32 exponent and for what a composition loses */
        x = ptx_build_cast(b, f64_type, f32_type, x);
        y = ptx_build_cast(b, f64_type, f32_type, ptx_build_in_register(b, PTX_CLASS_F32, y));
        return ptx_build_cast(b, f32_type, f64_type, ptx_build_math_f64(b, op, x, y));
    }
}

ptx_operand ptx_build_math(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    ptx_operand result;
    if (ptx_build_class_of(type) == PTX_CLASS_F64) {
        x = ptx_build_in_register(b, PTX_CLASS_F64, x);
        y = ptx_build_in_register(b, PTX_CLASS_F64, y);
        ptx_math m = {b, PTX_CLASS_F64, PTX_MOD_F64};
        result = op == IR_FMOD ? math_remainder(&m, x, y) : ptx_build_math_f64(b, op, x, y);
    } else if (type.dtype == NUM_DTYPE_F32) {
        result = of_f32(b, op, x, y);
    } else {
        x = ptx_build_cast(b, f32_type, type, ptx_build_in_register(b, ptx_build_class_of(type), x));
        y = ir_op_information(op)->arguments == 2
                ? ptx_build_cast(b, f32_type, type, ptx_build_in_register(b, ptx_build_class_of(type), y))
                : x;
        result = ptx_build_cast(b, type, f32_type, of_f32(b, op, x, y));
    }
    b->want = want;
    return result;
}
