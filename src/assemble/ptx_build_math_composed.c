/* SPDX-License-Identifier: Apache-2.0
 * Functions of float64 that are composed of the exponential, the logarithm and one inverse tangent; float32
 * goes through them and is rounded once more. docs/math.md states each with its error bound. Coefficients are
 * Chebyshev interpolations of our own. Knows nothing of types other than float64. */
#include "assemble/ptx_build_math.h"
#include <math.h>

#define NOT_A_NUMBER UINT64_C(0x7fffffffffffffff)

static ptx_operand sum(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return math_op2(m, PTX_OP_ADD, x, y);
}

static ptx_operand difference(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return math_op2(m, PTX_OP_SUB, x, y);
}

static ptx_operand product(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return math_op2(m, PTX_OP_MUL, x, y);
}

static ptx_operand quotient(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return math_op2(m, PTX_OP_DIV, x, y);
}

static ptx_operand magnitude_of(const ptx_math *m, ptx_operand x) {
    return math_op1(m, PTX_OP_ABS, x);
}

static ptx_operand root(const ptx_math *m, ptx_operand x) {
    return ptx_build_compute(m->b, m->class, PTX_OP_SQRT, PTX_MODS(PTX_MOD_RN, m->mod), PTX_ARGS(x));
}

/* The magnitude of one and the sign bit of the other. */
static ptx_operand with_sign_of(const ptx_math *m, ptx_operand x, ptx_operand magnitude) {
    return ptx_build_compute(m->b, m->class, PTX_OP_COPYSIGN, PTX_MODS(m->mod), PTX_ARGS(x, magnitude));
}

static ptx_operand both(const ptx_math *m, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(m->b, PTX_CLASS_PRED, PTX_OP_AND, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(x, y));
}

static ptx_operand is_infinite(const ptx_math *m, ptx_operand magnitude) {
    return math_test(m, PTX_MOD_EQ, magnitude, ptx_build_f64((double)INFINITY));
}

/* ---- hyperbolic functions and their inverses ---- */

#define LOG2_E    0x1.71547652b82fep+0
#define LN_2      0x1.62e42fefa39efp-1
#define LN_2_REST 0x1.abc9e3b39803fp-56

/* With x = n ln 2 + r and t = 2^(n-1): 2 (t (e^r - 1) + (t - 1/2)). From n = -60 down the result is -1; n =
 * 1025 is infinity. What is small is its own result, which keeps the sign of a zero. */
static ptx_operand exponential_less_1(const ptx_math *m, ptx_operand x) {
    ptx_operand n = math_round(m, PTX_MOD_RNI, product(m, x, ptx_build_f64(LOG2_E)));
    n = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod), PTX_ARGS(n, ptx_build_f64(1025)));
    n = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(n, ptx_build_f64(-60)));
    ptx_operand r = math_fma(m, n, ptx_build_f64(-LN_2), x);
    r = math_fma(m, n, ptx_build_f64(-LN_2_REST), r);
    r = ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod), PTX_ARGS(r, ptx_build_f64(0.5)));
    r = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(r, ptx_build_f64(-0.5)));
    ptx_operand high = math_word(m, PTX_OP_ADD, PTX_MOD_S32, math_to_word(m, n), ptx_build_int(1022));
    high = math_word(m, PTX_OP_SHL, PTX_MOD_B32, high, ptx_build_int(20));
    ptx_operand zero = ptx_build_in_register(m->b, PTX_CLASS_R32, ptx_build_int(0));
    ptx_operand t = math_join_words(m, zero, high);
    ptx_operand value = math_fma(m, math_small_exponential(m, r), t, difference(m, t, ptx_build_f64(0.5)));
    value = product(m, value, ptx_build_f64(2));
    value = math_choose(m, math_test(m, PTX_MOD_LT, magnitude_of(m, x), ptx_build_f64(0x1p-54)), x, value);
    return math_keep_nan(m, x, value);
}

/* Where 1 + x loses bits of x, the logarithm of the sum is corrected by what was lost, over the sum. */
static ptx_operand logarithm_of_1_plus(const ptx_math *m, ptx_operand x) {
    ptx_operand one = ptx_build_f64(1), u = sum(m, x, one);
    ptx_operand lost =
        math_choose(m, math_test(m, PTX_MOD_GE, u, ptx_build_f64(2)), difference(m, one, difference(m, u, x)),
                    difference(m, x, sum(m, u, ptx_build_f64(-1))));
    ptx_operand ratio = quotient(m, lost, u);
    ratio = math_choose(m, math_test(m, PTX_MOD_NUM, ratio, ratio), ratio, ptx_build_f64(0));
    ptx_operand value = sum(m, math_logarithm(m, IR_LOG, u), ratio);
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude_of(m, x), ptx_build_f64(0x1p-54)), x, value);
}

/* With h = e^|x| / 2: h + 1 / (4 h), h - 1 / (4 h); below 1, with t = e^|x| - 1, sinh is (t + t / (t + 1))
 * / 2. */
static ptx_operand hyperbolic(const ptx_math *m, ir_op op, ptx_operand x) {
    ptx_operand magnitude = magnitude_of(m, x), h = math_exponential(m, magnitude, -1);
    ptx_operand other = quotient(m, ptx_build_f64(0.25), h);
    if (op == IR_COSH)
        return sum(m, h, other);
    ptx_operand t = exponential_less_1(m, magnitude);
    ptx_operand small = sum(m, t, quotient(m, t, sum(m, t, ptx_build_f64(1))));
    small = product(m, small, ptx_build_f64(0.5));
    small = math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f64(0x1p-54)), magnitude, small);
    ptx_operand value =
        math_choose(m, math_test(m, PTX_MOD_LT, magnitude, ptx_build_f64(1)), small, difference(m, h, other));
    return with_sign_of(m, x, value);
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))) with a = |x|, and log(a) + ln 2 from 2^28 on. */
static ptx_operand inverse_sine(const ptx_math *m, ptx_operand x) {
    ptx_operand a = magnitude_of(m, x), square = product(m, a, a), one = ptx_build_f64(1);
    ptx_operand below = sum(m, root(m, sum(m, square, one)), one);
    ptx_operand small = logarithm_of_1_plus(m, sum(m, a, quotient(m, square, below)));
    ptx_operand large = sum(m, math_logarithm(m, IR_LOG, a), ptx_build_f64(LN_2));
    return with_sign_of(m, x,
                        math_choose(m, math_test(m, PTX_MOD_GE, a, ptx_build_f64(0x1p28)), large, small));
}

/* log1p(t + sqrt(t (t + 2))) with t = x - 1, and log(x) + ln 2 from 2^28 on. */
static ptx_operand inverse_cosine(const ptx_math *m, ptx_operand x) {
    ptx_operand t = sum(m, x, ptx_build_f64(-1));
    ptx_operand square = product(m, t, sum(m, t, ptx_build_f64(2)));
    square = math_choose(m, math_test(m, PTX_MOD_LT, x, ptx_build_f64(1)), ptx_build_f64(-1), square);
    ptx_operand small = logarithm_of_1_plus(m, sum(m, t, root(m, square)));
    ptx_operand large = sum(m, math_logarithm(m, IR_LOG, x), ptx_build_f64(LN_2));
    return math_choose(m, math_test(m, PTX_MOD_GE, x, ptx_build_f64(0x1p28)), large, small);
}

/* log1p(2 a / (1 - a)) / 2 with a = |x|. */
static ptx_operand inverse_tangent(const ptx_math *m, ptx_operand x) {
    ptx_operand a = magnitude_of(m, x);
    ptx_operand t = quotient(m, sum(m, a, a), difference(m, ptx_build_f64(1), a));
    ptx_operand value = product(m, logarithm_of_1_plus(m, t), ptx_build_f64(0.5));
    value = math_choose(m, math_test(m, PTX_MOD_LT, a, ptx_build_f64(0x1p-54)), a, value);
    return with_sign_of(m, x, value);
}

/* ---- the circle ---- */

#define TWO_OVER_PI   0x1.45f306dc9c883p-1
#define PI_HALF       0x1.921fb54442d18p+0
#define PI_HALF_REST  0x1.1a62633145c07p-54
#define PI_HALF_LEAST -0x1.f1976b7ed8fbcp-110
#define PI            0x1.921fb54442d18p+1
#define PI_REST       0x1.1a62633145c07p-53
#define PI_4          0x1.921fb54442d18p-1
#define PI_4_REST     0x1.1a62633145c07p-55
#define PI_3_4        0x1.2d97c7f3321d2p+1
#define PI_3_4_REST   0x1.a79394c9e8a0ap-54

static const double sine_terms[] = {-0x1.5555555555555p-3, 0x1.111111111111p-7,    -0x1.a01a01a01992fp-13,
                                    0x1.71de3a545f836p-19, -0x1.ae645410e937bp-26, 0x1.61217d9252c03p-33,
                                    -0x1.ab16f5caa198ap-41};
static const double cosine_terms[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d06p-16,
                                      -0x1.27e4fb77125c5p-22, 0x1.1eed8deac3dfep-29,  -0x1.9394b8bd50ae1p-37,
                                      0x1.ab779550c8d9bp-45};

/* sin r / cos r after an even number n of quarter turns, -cos r / sin r after an odd one. The quarter turns
 * go off with three constants; n is odd where its half is not whole, which holds to 2^53. */
static ptx_operand tangent(const ptx_math *m, ptx_operand x) {
    ptx_operand n = math_round(m, PTX_MOD_RNI, product(m, x, ptx_build_f64(TWO_OVER_PI)));
    ptx_operand half = product(m, n, ptx_build_f64(0.5));
    ptx_operand odd = math_test(m, PTX_MOD_NE, math_round(m, PTX_MOD_RZI, half), half);
    ptx_operand r = math_fma(m, n, ptx_build_f64(-PI_HALF), x);
    r = math_fma(m, n, ptx_build_f64(-PI_HALF_REST), r);
    r = math_fma(m, n, ptx_build_f64(-(PI_HALF_LEAST)), r);
    ptx_operand z = product(m, r, r);
    ptx_operand s = math_polynomial(m, z, sine_terms, MATH_COUNT(sine_terms));
    s = math_fma(m, product(m, z, r), s, r);
    ptx_operand c = math_polynomial(m, z, cosine_terms, MATH_COUNT(cosine_terms));
    c = math_fma(m, math_fma(m, c, z, ptx_build_f64(-0.5)), z, ptx_build_f64(1));
    ptx_operand above = math_choose(m, odd, math_op1(m, PTX_OP_NEG, c), s);
    ptx_operand value = quotient(m, above, math_choose(m, odd, s, c));
    return math_choose(m, math_test(m, PTX_MOD_LT, magnitude_of(m, x), ptx_build_f64(0x1p-28)), x, value);
}

static const double arc_terms[] = {-0x1.5555555555555p-2, 0x1.9999999999953p-3,  -0x1.249249248d7cap-3,
                                   0x1.c71c71c30300bp-4,  -0x1.745d165d9ee17p-4, 0x1.3b1392d04b71cp-4,
                                   -0x1.110e875de57ebp-4, 0x1.e19a0439b3b4bp-5,  -0x1.ac7a216389ddfp-5,
                                   0x1.74dbcb5c2167ap-5,  -0x1.1b2e7e3386b79p-5, 0x1.0ac7d2dc4c828p-6};

/* Angle of the point (x, y). With a = |y| and b = |x| it is base + atan t, where t is a / b, (a - b) / (a +
 * b) or -b / a and the base 0, pi/4 or pi/2, so that |t| <= tan(pi/8); left of the axis the base is counted
 * from pi and t turns over. Two infinities stand for a diagonal, 0 over 0 for 0. */
static ptx_operand angle(const ptx_math *m, ptx_operand y, ptx_operand x) {
    ptx_operand a = magnitude_of(m, y), b = magnitude_of(m, x), one = ptx_build_f64(1), words[2];
    ptx_operand endless = both(m, is_infinite(m, a), is_infinite(m, b));
    a = math_choose(m, endless, one, a), b = math_choose(m, endless, one, b);
    ptx_operand scale = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(a, b));
    scale =
        math_choose(m, math_test(m, PTX_MOD_GT, scale, ptx_build_f64(0x1p1000)), ptx_build_f64(0.25), one);
    a = product(m, a, scale), b = product(m, b, scale);
    math_split_words(m, x, words);
    ptx_operand left = ptx_build_compute(m->b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_LT, PTX_MOD_S32),
                                         PTX_ARGS(words[1], ptx_build_int(0)));
    ptx_operand low = math_test(m, PTX_MOD_LE, a, product(m, b, ptx_build_f64(0x1.a82799p-2)));
    ptx_operand middle = math_test(m, PTX_MOD_LT, a, product(m, b, ptx_build_f64(0x1.3504f3p+1)));
    ptx_operand above = math_choose(m, middle, difference(m, a, b), math_op1(m, PTX_OP_NEG, b));
    ptx_operand below = math_choose(m, middle, sum(m, a, b), a);
    ptx_operand t = quotient(m, math_choose(m, low, a, above), math_choose(m, low, b, below));
    t = math_choose(m, both(m, math_test(m, PTX_MOD_EQ, a, ptx_build_f64(0)), math_test(m, PTX_MOD_EQ, b, a)),
                    a, t);
    t = math_choose(m, left, math_op1(m, PTX_OP_NEG, t), t);
    static const double bases[2][4] = {{PI_3_4, PI_4, PI, 0}, {PI_3_4_REST, PI_4_REST, PI_REST, 0}};
    ptx_operand base[2];
    for (int i = 0; i < 2; i++) {
        ptx_operand diagonal = math_choose(m, left, ptx_build_f64(bases[i][0]), ptx_build_f64(bases[i][1]));
        ptx_operand axis = math_choose(m, left, ptx_build_f64(bases[i][2]), ptx_build_f64(bases[i][3]));
        base[i] = math_choose(m, middle, diagonal, ptx_build_f64(i ? PI_HALF_REST : PI_HALF));
        base[i] = math_choose(m, low, axis, base[i]);
    }
    ptx_operand z = product(m, t, t);
    ptx_operand p = math_polynomial(m, z, arc_terms, MATH_COUNT(arc_terms));
    p = math_fma(m, product(m, z, t), p, t);
    return with_sign_of(m, y, sum(m, sum(m, p, base[1]), base[0]));
}

/* The leg that belongs to a sine or cosine: sqrt((1 - x) (1 + x)), NaN outside [-1, 1]. */
static ptx_operand other_leg(const ptx_math *m, ptx_operand x) {
    ptx_operand one = ptx_build_f64(1);
    return root(m, product(m, difference(m, one, x), sum(m, one, x)));
}

/* ---- powers and lengths ---- */

#define LOG2_10      0x1.a934f0979a371p+1
#define LOG10_2      0x1.34413509f79ffp-2
#define LOG10_2_REST -0x1.9dc1da994fd21p-59
#define LN_10        0x1.26bb1bbb55516p+1

/* 10^x = 2^n e^(r ln 10) with r = x - n log10 2. */
static ptx_operand power_of_ten(const ptx_math *m, ptx_operand x) {
    ptx_operand a =
        ptx_build_compute(m->b, m->class, PTX_OP_MIN, PTX_MODS(m->mod), PTX_ARGS(x, ptx_build_f64(310)));
    a = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(a, ptx_build_f64(-326)));
    ptx_operand n = math_round(m, PTX_MOD_RNI, product(m, a, ptx_build_f64(LOG2_10)));
    ptx_operand r = math_fma(m, n, ptx_build_f64(-LOG10_2), a);
    r = product(m, math_fma(m, n, ptx_build_f64(-(LOG10_2_REST)), r), ptx_build_f64(LN_10));
    ptx_operand value = sum(m, math_small_exponential(m, r), ptx_build_f64(1));
    return math_keep_nan(m, x, math_scaled(m, value, math_to_word(m, n)));
}

/* 2^(log2|x| / 3) and one step of Newton's, whose residue is taken by fma. Below 2^-800 x is scaled by 2^300,
 * so that the square of the root is normal. */
static ptx_operand cube_root(const ptx_math *m, ptx_operand x) {
    ptx_operand a = magnitude_of(m, x), tiny = math_test(m, PTX_MOD_LT, a, ptx_build_f64(0x1p-800));
    ptx_operand one = ptx_build_f64(1);
    ptx_operand scaled = product(m, a, math_choose(m, tiny, ptx_build_f64(0x1p300), one));
    ptx_operand guess = product(m, math_logarithm(m, IR_LOG2, scaled), ptx_build_f64(1.0 / 3));
    guess = math_power_of_two(m, guess);
    ptx_operand square = product(m, guess, guess);
    ptx_operand rest = math_fma(m, math_op1(m, PTX_OP_NEG, square), guess, scaled);
    ptx_operand step = quotient(m, rest, product(m, square, ptx_build_f64(3)));
    ptx_operand value = product(m, sum(m, guess, step), math_choose(m, tiny, ptx_build_f64(0x1p-100), one));
    value = with_sign_of(m, x, value);
    ptx_operand inside = both(m, math_test(m, PTX_MOD_GT, a, ptx_build_f64(0)),
                              math_test(m, PTX_MOD_LT, a, ptx_build_f64((double)INFINITY)));
    return math_choose(m, inside, value, x);
}

/* Both are scaled where a square could overflow or vanish. An infinity gives infinity, even beside a NaN. */
static ptx_operand length(const ptx_math *m, ptx_operand x, ptx_operand y) {
    ptx_operand a = magnitude_of(m, x), b = magnitude_of(m, y), one = ptx_build_f64(1);
    ptx_operand more = ptx_build_compute(m->b, m->class, PTX_OP_MAX, PTX_MODS(m->mod), PTX_ARGS(a, b));
    ptx_operand large = math_test(m, PTX_MOD_GT, more, ptx_build_f64(0x1p500));
    ptx_operand tiny = math_test(m, PTX_MOD_LT, more, ptx_build_f64(0x1p-400));
    ptx_operand down = math_choose(m, large, ptx_build_f64(0x1p-600), one);
    down = math_choose(m, tiny, ptx_build_f64(0x1p600), down);
    ptx_operand up = math_choose(m, large, ptx_build_f64(0x1p600), one);
    up = math_choose(m, tiny, ptx_build_f64(0x1p-600), up);
    ptx_operand p = product(m, a, down), q = product(m, b, down);
    ptx_operand value = product(m, root(m, math_fma(m, p, p, product(m, q, q))), up);
    value = math_choose(m, is_infinite(m, a), a, value);
    return math_choose(m, is_infinite(m, b), b, value);
}

/* Exact for numbers of float32, whose quotients are below 2^277: |y| 2^(28 k) goes off a whole number of
 * times, k from 9 to 0. The count is below 2^30 and at most one from the true one, so that what is left is
 * smaller than twice the multiple and has its last digit: 26 digits at most, and the fma is exact. */
static ptx_operand remainder_of(const ptx_math *m, ptx_operand x, ptx_operand y) {
    ptx_operand b = magnitude_of(m, y), rest = magnitude_of(m, x);
    ptx_operand inverse = quotient(m, ptx_build_f64(1), b);
    for (int k = 9; k >= 0; k--) {
        ptx_operand multiple = product(m, b, ptx_build_f64(ldexp(1, 28 * k)));
        ptx_operand count = product(m, rest, product(m, inverse, ptx_build_f64(ldexp(1, -28 * k))));
        count = math_round(m, PTX_MOD_RZI, count);
        rest = math_fma(m, math_op1(m, PTX_OP_NEG, count), multiple, rest);
    }
    ptx_operand zero = ptx_build_f64(0);
    rest = math_choose(m, math_test(m, PTX_MOD_LT, rest, zero), sum(m, rest, b), rest);
    rest = math_choose(m, math_test(m, PTX_MOD_GE, rest, b), difference(m, rest, b), rest);
    /* a finite x stays below an infinite y; a y of zero and an infinite x have come out as NaN */
    ptx_operand finite = math_test(m, PTX_MOD_LT, magnitude_of(m, x), ptx_build_f64((double)INFINITY));
    rest = math_choose(m, both(m, is_infinite(m, b), finite), x, rest);
    return with_sign_of(m, x, rest);
}

/* The exponent field that v > 0 has, or would have if there were no subnormal numbers. */
static ptx_operand exponent_of(const ptx_math *m, ptx_operand v) {
    ptx_operand small = math_test(m, PTX_MOD_LT, v, ptx_build_f64(0x1p-960)), words[2];
    math_split_words(m, math_choose(m, small, product(m, v, ptx_build_f64(0x1p64)), v), words);
    ptx_operand field = math_word(m, PTX_OP_SHR, PTX_MOD_U32, words[1], ptx_build_int(20));
    ptx_operand moved = ptx_build_compute(m->b, PTX_CLASS_R32, PTX_OP_SELP, PTX_MODS(PTX_MOD_B32),
                                          PTX_ARGS(ptx_build_int(64), ptx_build_int(0), small));
    return math_word(m, PTX_OP_SUB, PTX_MOD_S32, field, moved);
}

/* Exact for float64, in a loop: b 2^s, s the difference of the exponents less 52 and not below 0, goes off a
 * whole number of times. It is not above what is left, so the count is below 2^53; div.rz cuts it, so it is
 * never too high; what is then left is smaller than b 2^s and has its last digit, so the fma is exact. 52
 * digits a turn. */
ptx_operand math_remainder(const ptx_math *m, ptx_operand x, ptx_operand y) {
    ptx_builder *b = m->b;
    ptx_operand divisor = magnitude_of(m, y), start = magnitude_of(m, x);
    ptx_operand valid = both(m, math_test(m, PTX_MOD_LT, start, ptx_build_f64((double)INFINITY)),
                             math_test(m, PTX_MOD_GT, divisor, ptx_build_f64(0)));
    ptx_operand rest = ptx_build_register(b, PTX_CLASS_F64), exponent = exponent_of(m, divisor);
    ptx_label *again = ptx_build_label(b, "fmod"), *end = ptx_build_label(b, "endfmod");
    ptx_build_move(b, PTX_CLASS_F64, rest, start);
    ptx_build_branch(b, both(m, valid, math_test(m, PTX_MOD_GE, start, divisor)), true, end);
    ptx_build_place(b, again);
    ptx_build_mark mark = ptx_build_scope_open(b);
    ptx_operand shift = math_word(m, PTX_OP_SUB, PTX_MOD_S32, exponent_of(m, rest), exponent);
    shift = math_word(m, PTX_OP_SUB, PTX_MOD_S32, shift, ptx_build_int(52));
    shift = math_word(m, PTX_OP_MAX, PTX_MOD_S32, shift, ptx_build_int(0));
    ptx_operand multiple = math_scaled(m, divisor, shift);
    ptx_operand count = ptx_build_compute(b, PTX_CLASS_F64, PTX_OP_DIV, PTX_MODS(PTX_MOD_RZ, PTX_MOD_F64),
                                          PTX_ARGS(rest, multiple));
    count = math_round(m, PTX_MOD_RZI, count);
    ptx_build_move(b, PTX_CLASS_F64, rest, math_fma(m, math_op1(m, PTX_OP_NEG, count), multiple, rest));
    ptx_build_branch(b, math_test(m, PTX_MOD_GE, rest, divisor), false, again);
    ptx_build_scope_close(b, mark);
    ptx_build_place(b, end);
    return math_choose(m, valid, with_sign_of(m, x, rest), ptx_build_f64((double)NAN));
}

ptx_operand math_composed(const ptx_math *m, ir_op op, ptx_operand x, ptx_operand y) {
    switch (op) {
    case IR_TAN:
        return tangent(m, x);
    case IR_ASIN:
        return angle(m, x, other_leg(m, x));
    case IR_ACOS:
        return angle(m, other_leg(m, x), x);
    case IR_ATAN:
        return angle(m, x, ptx_build_in_register(m->b, m->class, ptx_build_f64(1)));
    case IR_ATAN2:
        return angle(m, x, y);
    case IR_SINH:
    case IR_COSH:
        return hyperbolic(m, op, x);
    case IR_ASINH:
        return inverse_sine(m, x);
    case IR_ACOSH:
        return inverse_cosine(m, x);
    case IR_ATANH:
        return inverse_tangent(m, x);
    case IR_EXP10:
        return power_of_ten(m, x);
    case IR_EXPM1:
        return exponential_less_1(m, x);
    case IR_LOG1P:
        return logarithm_of_1_plus(m, x);
    case IR_CBRT:
        return cube_root(m, x);
    case IR_HYPOT:
        return length(m, x, y);
    default:
        return remainder_of(m, x, y);
    }
}
