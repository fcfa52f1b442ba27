/* SPDX-License-Identifier: Apache-2.0
 * A slow, obvious model of one cell of a matrix product, independent of the machine's: numbers come from
 * num_decode as doubles, sums are kept in fixed point of 720 bits, digit by digit. Rules: MMA-Sim. */
#ifndef TIRC_TESTS_VM_TENSOR_MODEL_H
#define TIRC_TESTS_VM_TENSOR_MODEL_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "num/num.h"

/* Magnitude: bit i of the array counts 2^(i - 400). */
enum { MODEL_BITS = 720, MODEL_LOWEST = -400 };
typedef struct model_number {
    bool negative;
    uint8_t bit[MODEL_BITS];
} model_number;

static inline model_number model_of(double x) { /* finite */
    model_number n;
    memset(&n, 0, sizeof n);
    n.negative = x < 0;
    int exponent;
    double fraction = frexp(fabs(x), &exponent); /* [0.5, 1) */
    for (int i = exponent - 1; fraction != 0; i--) {
        fraction *= 2;
        if (fraction >= 1) {
            n.bit[i - MODEL_LOWEST] = 1;
            fraction -= 1;
        }
    }
    return n;
}
static inline int model_compare(const model_number *a, const model_number *b) { /* of magnitudes */
    for (int i = MODEL_BITS - 1; i >= 0; i--)
        if (a->bit[i] != b->bit[i])
            return a->bit[i] - b->bit[i];
    return 0;
}
static inline model_number model_add(const model_number *a, const model_number *b) {
    model_number r;
    memset(&r, 0, sizeof r);
    if (a->negative != b->negative) { /* larger less smaller */
        int order = model_compare(a, b), borrow = 0;
        const model_number *big = order >= 0 ? a : b, *small = order >= 0 ? b : a;
        r.negative = order == 0 ? false : big->negative;
        for (int i = 0; i < MODEL_BITS; i++) {
            int digit = big->bit[i] - small->bit[i] - borrow;
            borrow = digit < 0;
            r.bit[i] = (uint8_t)(digit & 1);
        }
        return r;
    }
    r.negative = a->negative;
    for (int i = 0, carry = 0; i < MODEL_BITS; i++) {
        int digit = a->bit[i] + b->bit[i] + carry;
        r.bit[i] = (uint8_t)(digit & 1);
        carry = digit >> 1;
    }
    return r;
}
static inline void model_cut(model_number *n, int quantum) { /* drops what is below 2^quantum */
    for (int i = 0; i < quantum - MODEL_LOWEST && i < MODEL_BITS; i++)
        n->bit[i] = 0;
}
static inline int model_top(const model_number *n) { /* exponent of the highest bit; -9999 for zero */
    for (int i = MODEL_BITS - 1; i >= 0; i--)
        if (n->bit[i])
            return i + MODEL_LOWEST;
    return -9999;
}
/* Rounds to `fraction` bits in a format with this exponent range. */
static inline double model_round(model_number n, int fraction, int least, int greatest, bool nearest) {
    int top = model_top(&n);
    if (top == -9999)
        return 0;
    int quantum = (top < least ? least : top) - fraction;
    bool half = n.bit[quantum - 1 - MODEL_LOWEST], rest = false, odd = n.bit[quantum - MODEL_LOWEST];
    for (int i = 0; i < quantum - 1 - MODEL_LOWEST; i++)
        rest = rest || n.bit[i];
    model_cut(&n, quantum);
    if (nearest && half && (rest || odd)) {
        model_number one = model_of(ldexp(1, quantum));
        one.negative = n.negative;
        n = model_add(&n, &one);
    }
    double value = 0;
    for (int i = 0; i < MODEL_BITS; i++)
        if (n.bit[i])
            value += ldexp(1, i + MODEL_LOWEST);
    if (value >= ldexp(1, greatest + 1))
        value = INFINITY;
    return n.negative ? -value : value;
}

/* Exponent that the unit gives a number of a format: frexp's, not below the format's least; -126 for zero. */
static inline int model_exponent(double x, int least) {
    int exponent;
    if (x == 0)
        return -126;
    frexp(x, &exponent);
    return exponent - 1 < least ? least : exponent - 1;
}
static inline int model_least(num_dtype dtype) {
    switch (dtype) {
    case NUM_DTYPE_F16:
    case NUM_DTYPE_F8E5M2:
        return -14;
    case NUM_DTYPE_F8E4M3FN:
        return -6;
    case NUM_DTYPE_F6E3M2FN:
        return -2;
    case NUM_DTYPE_F6E2M3FN:
    case NUM_DTYPE_F4E2M1FN:
        return 0;
    case NUM_DTYPE_F8E8M0FNU:
        return -127;
    default:
        return -126;
    }
}

typedef struct model_problem {
    int numerics; /* 0 hw, 1 fp32, 2 exact */
    num_dtype a_type, b_type, d_type, scale_type;
    unsigned depth, group, block, fraction_bits, scale_d;
    bool negate_a, negate_b;
    const uint32_t *a, *b, *factor_a, *factor_b; /* encoded */
    uint32_t c;
} model_problem;

static inline double model_element(num_dtype type, uint32_t bits) {
    if (type == NUM_DTYPE_I8)
        return (int8_t)bits;
    if (type == NUM_DTYPE_U8)
        return (uint8_t)bits;
    if (type == NUM_DTYPE_TF32)
        return num_decode(NUM_DTYPE_F32, bits & 0xffffe000u);
    return num_decode(type, bits);
}

static inline uint32_t model_cell(const model_problem *p) {
    double a[128], b[128], fa[128], fb[128], c = num_decode(p->d_type, p->c), check = 0;
    bool half = p->d_type == NUM_DTYPE_F16;
    for (unsigned k = 0; k < p->depth; k++) {
        a[k] = model_element(p->a_type, p->a[k]) * (p->negate_a ? -1 : 1);
        b[k] = model_element(p->b_type, p->b[k]) * (p->negate_b ? -1 : 1);
        fa[k] = p->block ? fabs(num_decode(p->scale_type, p->factor_a[k / p->block])) : 1;
        fb[k] = p->block ? fabs(num_decode(p->scale_type, p->factor_b[k / p->block])) : 1;
        check += a[k] * b[k] * fa[k] * fb[k];
    }
    check += c;
    if (p->numerics != 1 && isnan(check))
        return half ? 0x7fff : 0x7fffffff;
    if (p->numerics != 1 && isinf(check))
        return half ? (check < 0 ? 0xfc00 : 0x7c00) : (check < 0 ? 0xff800000 : 0x7f800000);
    int c_exponent = c == 0 ? -126 : model_exponent(c, model_least(p->d_type)) - (int)p->scale_d;
    c = ldexp(c, -(int)p->scale_d);
    double result = 0;
    if (p->numerics == 1) {
        float sum = (float)c;
        for (unsigned k = 0; k < p->depth; k++) {
            double term = a[k] * b[k] * fa[k] * fb[k];
            if (isnan(term) || isinf(term) || isnan(sum) || isinf(sum) || (sum == 0 && term == 0)) {
                sum = (float)(sum + term);
                continue;
            }
            model_number x = model_of(sum), y = model_of(term);
            x = model_add(&x, &y);
            sum = (float)model_round(x, 23, -126, 127, true);
        }
        result = sum;
        return half ? (uint32_t)num_encode(NUM_DTYPE_F16, result, NUM_RN, false)
                    : (uint32_t)num_encode(NUM_DTYPE_F32, result, NUM_RN, false);
    }
    model_number sum = model_of(c);
    int greatest = c_exponent;
    if (p->numerics == 0) {
        for (unsigned k = 0; k < p->depth; k += p->group) {
            int e = p->block ? model_exponent(fa[k], model_least(p->scale_type)) +
                                   model_exponent(fb[k], model_least(p->scale_type))
                             : 0;
            if (p->group == 1)
                e += model_exponent(a[k], model_least(p->a_type)) +
                     model_exponent(b[k], model_least(p->b_type));
            greatest = e > greatest ? e : greatest;
        }
        model_cut(&sum, greatest - (int)p->fraction_bits);
    }
    for (unsigned k = 0; k < p->depth; k += p->group) {
        model_number term = model_of(0);
        for (unsigned i = k; i < k + p->group; i++) {
            model_number product = model_of(a[i] * b[i] * fa[i] * fb[i]);
            term = model_add(&term, &product);
        }
        if (p->numerics == 0)
            model_cut(&term, greatest - (int)p->fraction_bits);
        sum = model_add(&sum, &term);
    }
    result = half ? model_round(sum, 10, -14, 15, true) : model_round(sum, 23, -126, 127, p->numerics != 0);
    if (p->numerics == 0 && result == 0)
        result = fabs(result); /* hw: the sum is an integer number of quanta, so its zero has no sign */
    return (uint32_t)num_encode(p->d_type, result, NUM_RN, false);
}
#endif
