/* SPDX-License-Identifier: Apache-2.0
 * Mathematical functions of float64. One instruction sequence per function; docs/math.md states each with its
 * error bound. Coefficients are Chebyshev interpolations of our own. */
#include "assemble/ptx_build_math.h"
#include <math.h>

#define LOG2_E       0x1.71547652b82fep+0
#define LOG2_E_REST  0x1.777d0ffda0d24p-56
#define LN_2         0x1.62e42fefa39efp-1
#define LN_2_REST    0x1.abc9e3b39803fp-56
#define LOG10_2      0x1.34413509f79ffp-2
#define LOG10_E      0x1.bcb7b1526e50ep-2
#define TWO_OVER_PI  0x1.45f306dc9c883p-1
#define PI_HALF      0x1.921fb54442d18p+0
#define PI_HALF_REST 0x1.1a62633145c07p-54

static ptx_operand infinity(bool negative) {
    return ptx_build_f64(negative ? -(double)INFINITY : (double)INFINITY);
}

ptx_operand math_to_word(const ptx_math *m, ptx_operand x) {
    return ptx_build_compute(m->b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_RZI, PTX_MOD_S32, PTX_MOD_F64),
                             PTX_ARGS(x));
}

ptx_operand math_join_words(const ptx_math *m, ptx_operand low, ptx_operand high) {
    ptx_operand parts[2] = {low, high}, pair = ptx_build_group(m->b, PTX_OPERAND_VECTOR, parts, 2);
    return ptx_build_compute(m->b, PTX_CLASS_F64, PTX_OP_MOV, PTX_MODS(PTX_MOD_B64), PTX_ARGS(pair));
}

void math_split_words(const ptx_math *m, ptx_operand x, ptx_operand *words) {
    words[0] = ptx_build_register(m->b, PTX_CLASS_R32), words[1] = ptx_build_register(m->b, PTX_CLASS_R32);
    ptx_operand pair = ptx_build_group(m->b, PTX_OPERAND_VECTOR, words, 2);
    ptx_build_emit(m->b, PTX_OP_MOV, PTX_MODS(PTX_MOD_B64), PTX_ARGS(pair, x));
}

/* ---- exponentials ---- */

static const double exp_terms[] = {0x1.0p-1,
                                   0x1.5555555555557p-3,
                                   0x1.5555555555556p-5,
                                   0x1.11111111100bep-7,
                                   0x1.6c16c16c16315p-10,
                                   0x1.a01a01abf85abp-13,
                                   0x1.a01a01a6c9648p-16,
                                   0x1.71de01fdbf9cap-19,
                                   0x1.27e4db79ae428p-22,
                                   0x1.af4e554377204p-26,
                                   0x1.1f72f3ffcea18p-29};

/* e^r - 1 for |r| <= ln 2 / 2. */
ptx_operand math_small_exponential(const ptx_math *m, ptx_operand r) {
    ptx_operand sum = math_polynomial(m, r, exp_terms, MATH_COUNT(exp_terms));
    return math_fma(m, math_op2(m, PTX_OP_MUL, sum, r), r, r);
}

/* x 2^n in two halves, so that neither leaves the range: n may be anything from -2000 to 2000. */
ptx_operand math_scaled(const ptx_math *m, ptx_operand x, ptx_operand n) {
    ptx_operand half = math_word(m, PTX_OP_SHR, PTX_MOD_S32, n, ptx_build_int(1));
    ptx_operand halves[2] = {half, math_word(m, PTX_OP_SUB, PTX_MOD_S32, n, half)};
    for (int i = 0; i < 2; i++) {
        ptx_operand high = math_word(m, PTX_OP_ADD, PTX_MOD_S32, halves[i], ptx_build_int(1023));
        high = math_word(m, PTX_OP_SHL, PTX_MOD_B32, high, ptx_build_int(20));
        x = math_op2(m, PTX_OP_MUL, x,
                     math_join_words(m, ptx_build_in_register(m->b, PTX_CLASS_R32, ptx_build_int(0)), high));
    }
    return x;
}

/* Keeps x inside [low, high]; a NaN comes out as one of them and is put back at the end. */
static ptx_operand clamped(const ptx_math *m, ptx_operand x, double low, double high) {
    x = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod), PTX_ARGS(x, ptx_build_f64(high)));
    return ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(x, ptx_build_f64(low)));
}

ptx_operand math_keep_nan(const ptx_math *m, ptx_operand x, ptx_operand value) {
    return math_choose(m, math_test(m, PTX_MOD_NAN, x, x), x, value);
}

ptx_operand math_exponential(const ptx_math *m, ptx_operand x, int shift) {
    ptx_operand a = clamped(m, x, -750, 712);
    ptx_operand n = math_round(m, PTX_MOD_RNI, math_op2(m, PTX_OP_MUL, a, ptx_build_f64(LOG2_E)));
    ptx_operand r = math_fma(m, n, ptx_build_f64(-LN_2), a);
    r = math_fma(m, n, ptx_build_f64(-LN_2_REST), r);
    ptx_operand sum = math_op2(m, PTX_OP_ADD, math_small_exponential(m, r), ptx_build_f64(1));
    ptx_operand power = math_to_word(m, n);
    if (shift)
        power = math_word(m, PTX_OP_ADD, PTX_MOD_S32, power, ptx_build_int(shift));
    return math_keep_nan(m, x, math_scaled(m, sum, power));
}

ptx_operand math_power_of_two(const ptx_math *m, ptx_operand x) {
    ptx_operand a = clamped(m, x, -1090, 1030), n = math_round(m, PTX_MOD_RNI, a);
    ptx_operand r = math_op2(m, PTX_OP_SUB, a, n);
    r = math_op2(m, PTX_OP_MUL, r, ptx_build_f64(LN_2));
    ptx_operand sum = math_op2(m, PTX_OP_ADD, math_small_exponential(m, r), ptx_build_f64(1));
    return math_keep_nan(m, x, math_scaled(m, sum, math_to_word(m, n)));
}

/* ---- logarithms ---- */

static const double log_terms[] = {0x1.5555555555555p-1, 0x1.9999999999a3ap-2, 0x1.2492492476765p-2,
                                   0x1.c71c7201f207cp-3, 0x1.745cf8c4c7bcap-3, 0x1.3b1c42e3df02cp-3,
                                   0x1.0fbd2bafa02d6p-3, 0x1.0c1263e1bac13p-3};

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)); with s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - s (f - s^2
 * P(s^2)). */
ptx_operand math_logarithm(const ptx_math *m, ir_op op, ptx_operand x) {
    ptx_builder *b = m->b;
    ptx_operand tiny = math_test(m, PTX_MOD_LT, x, ptx_build_f64(0x1p-1022));
    ptx_operand scaled = math_choose(m, tiny, math_op2(m, PTX_OP_MUL, x, ptx_build_f64(0x1p54)), x);
    ptx_operand bias = math_choose(m, tiny, ptx_build_f64(-54), ptx_build_f64(0)), words[2];
    math_split_words(m, scaled, words);
    ptx_operand exponent = math_word(m, PTX_OP_ADD, PTX_MOD_S32, words[1], ptx_build_int(-0x3fe6a09e));
    exponent = math_word(m, PTX_OP_AND, PTX_MOD_B32, exponent, ptx_build_int(-0x100000));
    ptx_operand mantissa =
        math_join_words(m, words[0], math_word(m, PTX_OP_SUB, PTX_MOD_S32, words[1], exponent));
    exponent = math_word(m, PTX_OP_SHR, PTX_MOD_S32, exponent, ptx_build_int(20));
    ptx_operand e = ptx_build_compute(b, m->class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RN, PTX_MOD_F64, PTX_MOD_S32),
                                      PTX_ARGS(exponent));
    e = math_op2(m, PTX_OP_ADD, e, bias);
    ptx_operand f = math_op2(m, PTX_OP_ADD, mantissa, ptx_build_f64(-1));
    ptx_operand s = math_op2(m, PTX_OP_DIV, f, math_op2(m, PTX_OP_ADD, f, ptx_build_f64(2)));
    ptx_operand z = math_op2(m, PTX_OP_MUL, s, s);
    ptx_operand sum = math_op2(m, PTX_OP_MUL, z, math_polynomial(m, z, log_terms, MATH_COUNT(log_terms)));
    sum = math_fma(m, s, math_op2(m, PTX_OP_SUB, sum, f), f);
    if (op == IR_LOG) {
        sum = math_fma(m, e, ptx_build_f64(LN_2_REST), sum);
        sum = math_fma(m, e, ptx_build_f64(LN_2), sum);
    } else if (op == IR_LOG2) {
        ptx_operand low = math_op2(m, PTX_OP_MUL, sum, ptx_build_f64(LOG2_E_REST));
        sum = math_op2(m, PTX_OP_ADD, math_fma(m, sum, ptx_build_f64(LOG2_E), low), e);
    } else {
        sum = math_fma(m, e, ptx_build_f64(LOG10_2), math_op2(m, PTX_OP_MUL, sum, ptx_build_f64(LOG10_E)));
    }
    /* x * inf + inf for what is not in (0, inf); zero: -inf. */
    ptx_operand inside = math_test(m, PTX_MOD_GT, x, ptx_build_f64(0));
    inside = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_LT, PTX_MOD_AND, m->mod),
                               PTX_ARGS(x, infinity(false), inside));
    sum = math_choose(m, inside, sum, math_fma(m, x, infinity(false), infinity(false)));
    return math_choose(m, math_test(m, PTX_MOD_EQ, x, ptx_build_f64(0)), infinity(true), sum);
}

/* ---- the circle ---- */

static const double sine_terms[] = {-0x1.5555555555555p-3, 0x1.111111111111p-7,    -0x1.a01a01a01992fp-13,
                                    0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33,
                                    -0x1.ab16f5caa198ap-41};
static const double cosine_terms[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d06p-16,
                                      -0x1.27e4fb77125c5p-22, 0x1.1eed8deac3dfep-29,  -0x1.9394b8bd50ae1p-37,
                                      0x1.ab779550c8d9bp-45};

static ptx_operand sine(const ptx_math *m, ir_op op, ptx_operand x) {
    ptx_builder *b = m->b;
    ptx_operand n = math_round(m, PTX_MOD_RNI, math_op2(m, PTX_OP_MUL, x, ptx_build_f64(TWO_OVER_PI)));
    ptx_operand quadrant = math_to_word(m, n);
    if (op == IR_COS)
        quadrant = math_word(m, PTX_OP_ADD, PTX_MOD_S32, quadrant, ptx_build_int(1));
    ptx_operand r = math_fma(m, n, ptx_build_f64(-PI_HALF), x);
    r = math_fma(m, n, ptx_build_f64(-PI_HALF_REST), r);
    ptx_operand z = math_op2(m, PTX_OP_MUL, r, r);
    ptx_operand s = math_polynomial(m, z, sine_terms, MATH_COUNT(sine_terms));
    s = math_fma(m, math_op2(m, PTX_OP_MUL, z, r), s, r);
    ptx_operand c = math_polynomial(m, z, cosine_terms, MATH_COUNT(cosine_terms));
    c = math_fma(m, math_fma(m, c, z, ptx_build_f64(-0.5)), z, ptx_build_f64(1));
    ptx_operand bit = math_word(m, PTX_OP_AND, PTX_MOD_B32, quadrant, ptx_build_int(1));
    ptx_operand odd = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                        PTX_ARGS(bit, ptx_build_int(0)));
    ptx_operand value = math_choose(m, odd, c, s);
    bit = math_word(m, PTX_OP_AND, PTX_MOD_B32, quadrant, ptx_build_int(2));
    ptx_operand turned = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, PTX_MOD_S32),
                                           PTX_ARGS(bit, ptx_build_int(0)));
    return math_choose(m, turned, math_op1(m, PTX_OP_NEG, value), value);
}

/* ---- tanh, erf ---- */

static ptx_operand with_sign(const ptx_math *m, ptx_operand x, ptx_operand magnitude) {
    ptx_operand negative = math_test(m, PTX_MOD_LT, x, ptx_build_f64(0));
    return math_choose(m, negative, math_op1(m, PTX_OP_NEG, magnitude), magnitude);
}

/* With t = e^2x - 1: t / (t + 2) where 2x needs no reduction, else 1 - 2 / (e^2|x| + 1). */
static ptx_operand hyperbolic_tangent(const ptx_math *m, ptx_operand x) {
    ptx_operand magnitude = math_op1(m, PTX_OP_ABS, x), twice = math_op2(m, PTX_OP_ADD, x, x);
    ptx_operand t = math_small_exponential(m, twice);
    ptx_operand small = math_op2(m, PTX_OP_DIV, t, math_op2(m, PTX_OP_ADD, t, ptx_build_f64(2)));
    ptx_operand grown = math_exponential(m, math_op2(m, PTX_OP_ADD, magnitude, magnitude), 0);
    ptx_operand quotient =
        math_op2(m, PTX_OP_DIV, ptx_build_f64(-2), math_op2(m, PTX_OP_ADD, grown, ptx_build_f64(1)));
    ptx_operand large = with_sign(m, x, math_op2(m, PTX_OP_ADD, quotient, ptx_build_f64(1)));
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f64(0.17)), small, large);
}

static const double erf_terms[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,
                                   -0x1.b82ce31288b47p-6,  0x1.565bcd0e6a2eep-8,   -0x1.c02db40035f1ep-11,
                                   0x1.f9a326f7ac5b1p-14,  -0x1.f4d25bf9af03ap-17, 0x1.b9e6c38e5cf3dp-20,
                                   -0x1.5f73c3bf14b91p-23, 0x1.fcbb312b48443p-27,  -0x1.517ce02f1265fp-30,
                                   0x1.9a0fcb5e22c5bp-34,  -0x1.b40e7abf9fp-38,    0x1.3c01fd3a74542p-42};
/* e^(x^2) (1 - erf x) on [1, 6] as a polynomial in (x - 2) / (x + 2). */
static const double erfc_terms[] = {
    0x1.058671b52c776p-2,   -0x1.b57034efd3f72p-2,  0x1.eeea7dc8a78b3p-3,   -0x1.437f0b68c0c23p-4,
    0x1.e9471597a0cbep-9,   0x1.ca95ed5345805p-8,   -0x1.bc25a47fd8794p-11, -0x1.016b5cebeba31p-10,
    0x1.6d5f051826a94p-15,  0x1.6da979b4b520fp-13,  0x1.cdca3336775d3p-16,  -0x1.ceb931ff6b9e6p-16,
    -0x1.d472e6f4bc117p-17, 0x1.760c71e18a2dep-20,  0x1.f68fb1e89325bp-19,  0x1.41fd5f0bcc4bap-20,
    -0x1.a3249a6baa8f6p-22, -0x1.26f6f10c02d32p-21, -0x1.5e7bc4a3e23c1p-23, 0x1.9677c63127a5cp-23};

static ptx_operand error_function(const ptx_math *m, ptx_operand x) {
    ptx_operand magnitude = math_op1(m, PTX_OP_ABS, x), z = math_op2(m, PTX_OP_MUL, x, x);
    ptx_operand small = math_fma(m, math_polynomial(m, z, erf_terms, MATH_COUNT(erf_terms)), x, x);
    ptx_operand a = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod),
                                      PTX_ARGS(magnitude, ptx_build_f64(6)));
    ptx_operand t = math_op2(m, PTX_OP_DIV, math_op2(m, PTX_OP_ADD, a, ptx_build_f64(-2)),
                             math_op2(m, PTX_OP_ADD, a, ptx_build_f64(2)));
    ptx_operand tail = math_polynomial(m, t, erfc_terms, MATH_COUNT(erfc_terms));
    ptx_operand decay = math_exponential(m, math_op1(m, PTX_OP_NEG, math_op2(m, PTX_OP_MUL, a, a)), 0);
    ptx_operand large = math_fma(m, math_op1(m, PTX_OP_NEG, decay), tail, ptx_build_f64(1));
    large = math_keep_nan(m, x, with_sign(m, x, large));
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f64(1)), small, large);
}

/* ---- pow ---- */

static ptx_operand and_predicates(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(m->b, PTX_CLASS_PRED, PTX_OP_AND, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(x, y));
}

/* 2^(y log2 |x|), then the cases of C: odd exponents keep the sign of x, a negative finite x needs a whole
 * exponent, anything to the 0 and 1 to anything is 1. */
static ptx_operand power(const ptx_math *m, ptx_operand x, ptx_operand y) {
    ptx_builder *b = m->b;
    ptx_operand magnitude = math_op1(m, PTX_OP_ABS, x), one = ptx_build_f64(1), zero = ptx_build_f64(0);
    ptx_operand exponent = math_op2(m, PTX_OP_MUL, y, math_logarithm(m, IR_LOG2, magnitude));
    ptx_operand value = math_power_of_two(m, exponent);
    ptx_operand unit = math_test(m, PTX_MOD_EQ, magnitude, one);
    ptx_operand known_y = math_test(m, PTX_MOD_NUM, y, y);
    value = math_choose(m, and_predicates(m, unit, known_y), one, value);
    ptx_operand whole = math_test(m, PTX_MOD_EQ, math_round(m, PTX_MOD_RZI, y), y);
    ptx_operand half = math_op2(m, PTX_OP_MUL, y, ptx_build_f64(0.5));
    ptx_operand odd =
        and_predicates(m, whole, math_test(m, PTX_MOD_NE, math_round(m, PTX_MOD_RZI, half), half));
    ptx_operand words[2];
    math_split_words(m, x, words);
    ptx_operand sign =
        ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_LT, PTX_MOD_AND, PTX_MOD_S32),
                          PTX_ARGS(words[1], ptx_build_int(0), odd));
    value = math_choose(m, sign, math_op1(m, PTX_OP_NEG, value), value);
    ptx_operand negative = math_test(m, PTX_MOD_LT, x, zero);
    negative = and_predicates(m, negative, math_test(m, PTX_MOD_NE, magnitude, infinity(false)));
    ptx_operand broken =
        ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_NOT, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(whole));
    value = math_choose(m, and_predicates(m, negative, broken),
                        ptx_build_f64_bits(UINT64_C(0x7fffffffffffffff)), value);
    value = math_choose(m, math_test(m, PTX_MOD_EQ, x, one), one, value);
    return math_choose(m, math_test(m, PTX_MOD_EQ, y, zero), one, value);
}

ptx_operand ptx_build_math_f64(ptx_builder *b, ir_op op, ptx_operand x, ptx_operand y) {
    ptx_math m = {b, PTX_CLASS_F64, PTX_MOD_F64};
    switch (op) {
    case IR_RSQRT: {
        ptx_operand root =
            ptx_build_compute(b, m.class, PTX_OP_SQRT, PTX_MODS(PTX_MOD_RN, PTX_MOD_F64), PTX_ARGS(x));
        return math_op2(&m, PTX_OP_DIV, ptx_build_f64(1), root);
    }
    case IR_EXP:
        return math_exponential(&m, x, 0);
    case IR_EXP2:
        return math_power_of_two(&m, x);
    case IR_LOG:
    case IR_LOG2:
    case IR_LOG10:
        return math_logarithm(&m, op, x);
    case IR_SIN:
    case IR_COS:
        return sine(&m, op, x);
    case IR_TANH:
        return hyperbolic_tangent(&m, x);
    case IR_ERF:
        return error_function(&m, x);
    case IR_POW:
        return power(&m, x, y);
    default:
        return math_composed(&m, op, x, y);
    }
}
