/* SPDX-License-Identifier: Apache-2.0
 * Short names for the float instructions that the mathematical functions are made of. Private to
 * src/assemble/ptx_build_math*.c. */
#ifndef TIRC_PTX_PTX_BUILD_MATH_H
#define TIRC_PTX_PTX_BUILD_MATH_H
#include "assemble/ptx_build_internal.h"

typedef struct ptx_math {
    ptx_builder *b;
    ptx_build_class class; /* F32 or F64 */
    ptx_mod mod;
} ptx_math;

static inline ptx_operand math_constant(const ptx_math *m, double value) {
    return m->class == PTX_CLASS_F64 ? ptx_build_f64(value) : ptx_build_f32(value);
}
static inline ptx_operand math_op1(const ptx_math *m, ptx_op op, ptx_operand x) { /* abs, neg */
    return ptx_build_compute(m->b, m->class, op, PTX_MODS(m->mod), PTX_ARGS(x));
}
static inline ptx_operand math_op2(const ptx_math *m, ptx_op op, ptx_operand x,
                                   ptx_operand y) { /* add .. div */
    return ptx_build_compute(m->b, m->class, op, PTX_MODS(PTX_MOD_RN, m->mod), PTX_ARGS(x, y));
}
static inline ptx_operand math_fma(const ptx_math *m, ptx_operand x, ptx_operand y, ptx_operand z) {
    return ptx_build_compute(m->b, m->class, PTX_OP_FMA, PTX_MODS(PTX_MOD_RN, m->mod), PTX_ARGS(x, y, z));
}
static inline ptx_operand math_test(const ptx_math *m, ptx_mod comparison, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(m->b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(comparison, m->mod), PTX_ARGS(x, y));
}
static inline ptx_operand math_choose(const ptx_math *m, ptx_operand predicate, ptx_operand x,
                                      ptx_operand y) {
    return ptx_build_compute(m->b, m->class, PTX_OP_SELP, PTX_MODS(m->mod), PTX_ARGS(x, y, predicate));
}
static inline ptx_operand math_round(const ptx_math *m, ptx_mod rounding, ptx_operand x) {
    return ptx_build_compute(m->b, m->class, PTX_OP_CVT, PTX_MODS(rounding, m->mod, m->mod), PTX_ARGS(x));
}
static inline ptx_operand math_approximate(const ptx_math *m, ptx_op op, ptx_operand x) {
    return ptx_build_compute(m->b, m->class, op, PTX_MODS(PTX_MOD_APPROX, m->mod), PTX_ARGS(x));
}
/* Integer step on 32-bit registers. */
static inline ptx_operand math_word(const ptx_math *m, ptx_op op, ptx_mod mod, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(m->b, PTX_CLASS_R32, op, PTX_MODS(mod), PTX_ARGS(x, y));
}
/* c[0] + x * (c[1] + x * ...) by fma, highest first. */
static inline ptx_operand math_polynomial(const ptx_math *m, ptx_operand x, const double *c, unsigned count) {
    ptx_operand sum = math_constant(m, c[count - 1]);
    for (unsigned i = count - 1; i-- > 0;)
        sum = math_fma(m, i + 2 == count ? x : sum, i + 2 == count ? sum : x, math_constant(m, c[i]));
    return sum;
}
/* ---- ptx_build_math_f64.c: parts that other functions of float64 are made of ---- */
ptx_operand math_small_exponential(const ptx_math *m, ptx_operand r);      /* e^r - 1, |r| <= ln 2 / 2 */
ptx_operand math_exponential(const ptx_math *m, ptx_operand x, int shift); /* e^x 2^shift */
ptx_operand math_power_of_two(const ptx_math *m, ptx_operand x);
ptx_operand math_logarithm(const ptx_math *m, ir_op op, ptx_operand x);
ptx_operand math_scaled(const ptx_math *m, ptx_operand x, ptx_operand n); /* x 2^n, n in a word */
ptx_operand math_to_word(const ptx_math *m, ptx_operand x);
ptx_operand math_join_words(const ptx_math *m, ptx_operand low, ptx_operand high);
void math_split_words(const ptx_math *m, ptx_operand x, ptx_operand *words);
ptx_operand math_keep_nan(const ptx_math *m, ptx_operand x, ptx_operand value);
/* ---- ptx_build_math_composed.c ---- */
ptx_operand math_remainder(const ptx_math *m, ptx_operand x, ptx_operand y);
ptx_operand math_composed(const ptx_math *m, ir_op op, ptx_operand x, ptx_operand y);

#define MATH_COUNT(array) ((unsigned)(sizeof(array) / sizeof((array)[0])))
#endif
