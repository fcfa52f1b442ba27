/* SPDX-License-Identifier: Apache-2.0
 * The special function unit of an H200. It interpolates: of an input's low bits x it takes
 * A + B * x + C * square(x) in whole numbers, A, B and C from a table by the bits above, and drops the low
 * bits of the sum. Scheme, tables and their sources: tests/recorded/approx_fit.c. What ptxas puts around the
 * unit's instruction (scaling of subnormal numbers) is part of the functions here. Holds for all inputs:
 * tests/recorded/approx_replay.c. */
#include "vm/vm_approx.h"
#include <string.h>

typedef struct segment {
    int64_t a;
    int32_t b, c;
} segment;
static const segment rcp_table[128] = {
#define APPROX_RCP
#include "vm/vm_approx_h200.def"
#undef APPROX_RCP
};
static const segment rsqrt_table[2][64] = {{
#define APPROX_RSQRT_EVEN
#include "vm/vm_approx_h200.def"
#undef APPROX_RSQRT_EVEN
                                           },
                                           {
#define APPROX_RSQRT_ODD
#include "vm/vm_approx_h200.def"
#undef APPROX_RSQRT_ODD
                                           }};
static const segment sqrt_table[2][64] = {{
#define APPROX_SQRT_EVEN
#include "vm/vm_approx_h200.def"
#undef APPROX_SQRT_EVEN
                                          },
                                          {
#define APPROX_SQRT_ODD
#include "vm/vm_approx_h200.def"
#undef APPROX_SQRT_ODD
                                          }};
static const segment ex2_table[64] = {
#define APPROX_EX2
#include "vm/vm_approx_h200.def"
#undef APPROX_EX2
};
static const segment lg2_table[64] = {
#define APPROX_LG2
#include "vm/vm_approx_h200.def"
#undef APPROX_LG2
};
static const segment sin_table[64] = {
#define APPROX_SIN
#include "vm/vm_approx_h200.def"
#undef APPROX_SIN
};
static const segment tanh_table[] = {
#define APPROX_TANH
#include "vm/vm_approx_h200.def"
#undef APPROX_TANH
};

#define SIGN     0x80000000u
#define INFINITE 0x7f800000u
#define NOT_A    0x7fffffffu
#define ONE      0x800000u /* of a mantissa of 24 bits */

/* The squarer keeps 17 bits above the 18th of each partial product. Written out: it is most of the work. */
static inline int64_t square(uint32_t x) {
#define PRODUCT(bit) (x >> (18 - (bit)) & (0u - (x >> (bit)&1)))
    return (PRODUCT(2) + PRODUCT(3) + PRODUCT(4) + PRODUCT(5) + PRODUCT(6) + PRODUCT(7) + PRODUCT(8) +
            PRODUCT(9) + PRODUCT(10) + PRODUCT(11) + PRODUCT(12) + PRODUCT(13) + PRODUCT(14) + PRODUCT(15) +
            PRODUCT(16)) >>
           1;
#undef PRODUCT
}

static int64_t interpolate(const segment *s, unsigned a_shift, uint32_t x, unsigned scale) {
    return (s->a << a_shift) + (int64_t)s->b * x + s->c * square(x << scale);
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}
static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}
/* A product as FMUL rounds it, subnormal numbers kept. */
static uint32_t times(uint32_t x, float by) {
    return bits_of(float_of(x) * by);
}
static bool is_subnormal(uint32_t x) {
    return (x & INFINITE) == 0 && (x & ~SIGN) != 0;
}

/* A float of sign, exponent and a mantissa of 24 bits that may have become 2; too small ones are zeros. */
static uint32_t pack(uint32_t sign, int exponent, int64_t mantissa) {
    if (mantissa >= 2 * (int64_t)ONE) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent > 127)
        return sign | INFINITE;
    if (exponent < -126)
        return sign;
    return sign | (uint32_t)(exponent + 127) << 23 | ((uint32_t)mantissa & (ONE - 1));
}

/* A sum in units of 2^-unit, low bits dropped. */
static uint32_t pack_sum(uint32_t sign, int64_t sum, int unit) {
    if (sum <= 0)
        return sign;
    int top = 63 - __builtin_clzll((uint64_t)sum);
    int64_t mantissa = top >= 23 ? sum >> (top - 23) : sum << (23 - top);
    return pack(sign, top - unit, mantissa);
}

/* ---- the unit: subnormal inputs are zeros, results too ---- */
static uint32_t unit_rcp(uint32_t x) {
    uint32_t sign = x & SIGN, exponent = x >> 23 & 255, fraction = x & (ONE - 1);
    if (exponent == 255)
        return fraction ? NOT_A : sign;
    if (exponent == 0)
        return sign | INFINITE;
    int64_t sum = interpolate(&rcp_table[fraction >> 16], 13, fraction & 0xffff, 1) + 0x47e7;
    return pack(sign, 126 - (int)exponent, sum >> 15);
}

static uint32_t unit_rsqrt(uint32_t x) {
    int exponent = (int)(x >> 23 & 255) - 127;
    uint32_t fraction = x & (ONE - 1);
    if (exponent == -127)
        return (x & SIGN) | INFINITE;
    if ((x & ~SIGN) > INFINITE || x & SIGN)
        return NOT_A;
    if (exponent == 128)
        return 0;
    int odd = exponent & 1, half = (exponent - odd) / 2;
    if (!odd && fraction == 0)
        return pack(0, -half, ONE);
    int64_t sum = interpolate(&rsqrt_table[odd][fraction >> 17], 14, fraction & 0x1ffff, 0) + 0x7fff;
    return pack(0, -half - 1, sum >> 16);
}

static uint32_t unit_sqrt(uint32_t x) {
    int exponent = (int)(x >> 23 & 255) - 127;
    uint32_t fraction = x & (ONE - 1);
    if (exponent == -127)
        return x & SIGN;
    if ((x & ~SIGN) > INFINITE || x & SIGN)
        return NOT_A;
    if (exponent == 128)
        return INFINITE;
    int odd = exponent & 1;
    int64_t sum =
        interpolate(&sqrt_table[odd][fraction >> 17], odd ? 14 : 15, fraction & 0x1ffff, 0) + 0x7fff;
    return pack(0, (exponent - odd) / 2, sum >> (odd ? 16 : 17));
}

/* Quarter turns of 2^23 steps. */
static uint32_t unit_sine(uint32_t sign, uint32_t turns, bool cosine) {
    uint32_t quarter = turns >> 23 & 3, fraction = turns & (ONE - 1);
    if (cosine) {
        quarter++;
        sign = 0;
    }
    if (quarter & 1)
        fraction = ~fraction & (ONE - 1);
    if (quarter & 2)
        sign ^= SIGN;
    return pack_sum(sign, interpolate(&sin_table[fraction >> 17], 11, fraction & 0x1ffff, 0), 37);
}

/* 7 bits before the point and 23 behind it, toward zero. */
static uint32_t unit_ex2(uint32_t x) {
    uint32_t sign = x & SIGN, fraction = x & (ONE - 1);
    int exponent = (int)(x >> 23 & 255) - 127;
    if (exponent == 128 && fraction)
        return NOT_A;
    if (exponent >= 7)
        return sign ? 0 : INFINITE;
    int64_t value = exponent >= 0     ? (int64_t)(fraction | ONE) << exponent
                    : exponent >= -23 ? (fraction | ONE) >> -exponent
                                      : 0;
    int whole = (int)(value >> 23);
    fraction = (uint32_t)value & (ONE - 1);
    if (sign) { /* one less, and the rest complemented: the last place is given up */
        whole = fraction ? -whole - 1 : -whole;
        fraction = fraction ? ~fraction & (ONE - 1) : 0;
    }
    int64_t sum = interpolate(&ex2_table[fraction >> 17], 13, fraction & 0x1ffff, 0) + 0x77e2;
    return pack(0, whole, sum >> 15);
}

static uint32_t unit_lg2(uint32_t x) {
    int exponent = (int)(x >> 23 & 255) - 127;
    uint32_t fraction = x & (ONE - 1);
    int64_t sum = 0;
    if (exponent == -127)
        return SIGN | INFINITE;
    if ((x & ~SIGN) > INFINITE || x & SIGN)
        return NOT_A;
    if (exponent == 128)
        return x;
    if (fraction || exponent)
        sum = (interpolate(&lg2_table[fraction >> 17], 12, fraction & 0x1ffff, 0) + 0x3345) >> 2;
    sum += (int64_t)exponent * ((int64_t)1 << 36);
    return pack_sum(sum < 0 ? SIGN : 0, sum < 0 ? ~sum : sum, 36);
}

/* Below 2^-8 the input; from 8 on 1. */
static uint32_t unit_tanh(uint32_t x) {
    static const uint8_t ignored[] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3};
    static const uint8_t first[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
    uint32_t sign = x & SIGN;
    int exponent = (int)(x >> 23 & 255) - 127;
    if (exponent < -8)
        return x;
    if (exponent >= 3)
        return (x & ~SIGN) > INFINITE ? NOT_A : sign | 0x3f800000;
    unsigned drop = ignored[exponent + 8];
    uint32_t low = (x & (ONE - 1)) >> drop;
    int64_t sum = interpolate(&tanh_table[first[exponent + 8] + (low >> 17)], 0, low & 0x1ffff, 0);
    return pack_sum(sign, sum, exponent < 0 ? 39 - exponent - (int)drop : 39);
}

/* ---- instructions ---- */
/* x / 2 pi toward zero, in steps of 2^-25 turns. */
static uint32_t wave(uint32_t x, bool cosine) {
    int exponent = (int)(x >> 23 & 255) - 127;
    uint32_t sign = x & SIGN, mantissa = x & (ONE - 1);
    if (exponent == 128)
        return NOT_A;
    if (exponent == -127)
        exponent++;
    else
        mantissa |= ONE;
    uint64_t product = (uint64_t)mantissa * 0xa2f983; /* in units of 2^(exponent - 49) */
    int bits = product ? 64 - __builtin_clzll(product) : 0, shift = 24 - exponent;
    if (bits > 24)
        product = product >> (bits - 24) << (bits - 24);
    uint64_t turns = shift >= 64 ? 0 : shift >= 0 ? product >> shift : shift > -40 ? product << -shift : 0;
    return unit_sine(sign, (uint32_t)turns & 0x1ffffff, cosine);
}

static uint32_t flush(uint32_t x) {
    return is_subnormal(x) ? x & SIGN : x;
}

uint32_t vm_approx_f32(vm_approx function, bool ftz, uint32_t x) {
    bool small = !ftz && is_subnormal(x);
    uint32_t scaled = small ? times(x, 0x1p24f) : x, y;
    switch (function) {
    case VM_APPROX_RCP:
        if (!ftz && (x & ~SIGN) > 0x7e800000 && (x & ~SIGN) < INFINITE)
            return times(unit_rcp(times(x, 0.25f)), 0.25f);
        y = unit_rcp(scaled);
        return small ? times(y, 0x1p24f) : y;
    case VM_APPROX_RSQRT:
        y = unit_rsqrt(scaled);
        return small ? times(y, 0x1p12f) : y;
    case VM_APPROX_SQRT:
        y = unit_sqrt(scaled);
        return small ? times(y, 0x1p-12f) : y;
    case VM_APPROX_LG2:
        y = unit_lg2(scaled);
        return small ? bits_of(float_of(y) - 24) : y;
    case VM_APPROX_EX2:
        if (!ftz && float_of(x) < -126) {
            y = unit_ex2(times(x, 0.5f));
            return times(y, float_of(y));
        }
        return unit_ex2(x);
    case VM_APPROX_SIN:
    case VM_APPROX_COS:
        return wave(ftz ? flush(x) : x, function == VM_APPROX_COS);
    default:
        return unit_tanh(x);
    }
}

/* x times rcp(y). Small divisors are made larger, with .full large ones smaller; .approx loses those. */
uint32_t vm_approx_div(bool full, bool ftz, uint32_t x, uint32_t y) {
    float factor = 1;
    if (ftz) {
        x = flush(x);
        y = flush(y);
    }
    if (full && (y & ~SIGN) > 0x7e800000)
        factor = 0.25f;
    else if (!ftz && (y & INFINITE) == 0)
        factor = 0x1p24f;
    uint32_t result = times(times(x, factor), float_of(unit_rcp(times(y, factor))));
    if ((result & ~SIGN) > INFINITE)
        return NOT_A;
    return ftz ? flush(result) : result;
}

/* ---- 16-bit floats: the unit's result, cut ---- */
static uint32_t widen(uint16_t x, bool is_bf16) {
    if (is_bf16)
        return (uint32_t)x << 16;
    uint32_t sign = (uint32_t)(x & 0x8000) << 16, exponent = x >> 10 & 31, fraction = x & 0x3ff;
    if (exponent == 31)
        return sign | INFINITE | fraction << 13;
    if (exponent == 0)
        return sign | bits_of((float)fraction * 0x1p-24f);
    return sign | (exponent + 112) << 23 | fraction << 13;
}

static uint16_t cut(uint32_t x, bool is_bf16) {
    uint16_t sign = (uint16_t)(x >> 16 & 0x8000);
    int exponent = (int)(x >> 23 & 255) - 127;
    uint32_t mantissa = (x & (ONE - 1)) | ONE;
    if ((x & ~SIGN) > INFINITE)
        return 0x7fff;
    if (is_bf16)
        return (uint16_t)(x >> 16);
    if (exponent > 15)
        return sign | 0x7c00;
    if (exponent >= -14)
        return sign | (uint16_t)((exponent + 15) << 10 | (int)(mantissa >> 13 & 0x3ff));
    return exponent < -24 ? sign : sign | (uint16_t)(mantissa >> (-1 - exponent));
}

uint16_t vm_approx_half(vm_approx function, bool is_bf16, uint16_t x) {
    return cut(vm_approx_f32(function, is_bf16, widen(x, is_bf16)), is_bf16);
}

/* ---- upper words of doubles: the unit works on 23 bits of mantissa, of which 20 are kept ---- */
uint32_t vm_approx_f64(vm_approx function, uint32_t x) {
    uint32_t sign = x & SIGN, fraction = x & 0xfffff;
    int exponent = (int)(x >> 20 & 2047) - 1023;
    bool root = function == VM_APPROX_RSQRT;
    if (exponent == 1024 && fraction)
        return NOT_A;
    if (exponent == -1023)
        return sign | 0x7ff00000;
    if (root && sign)
        return NOT_A;
    if (exponent == 1024)
        return sign;
    int odd = root ? exponent & 1 : 0;
    uint32_t y = (root ? unit_rsqrt : unit_rcp)((uint32_t)(127 + odd) << 23 | fraction << 3);
    int result = (int)(y >> 23 & 255) - 127 - (root ? (exponent - odd) / 2 : exponent);
    return result < -1022 ? sign : sign | (uint32_t)(result + 1023) << 20 | (y & (ONE - 1)) >> 3;
}
