/* SPDX-License-Identifier: Apache-2.0
 * IEEE arithmetic in integers, for the directed roundings that C cannot ask for without changing the
 * floating-point environment. One core for every precision: exact result as sign, 128-bit magnitude and
 * exponent, then one rounding. */
#ifndef TIRC_VM_SOFT_H
#define TIRC_VM_SOFT_H
#include "vm/level/vm_level.h"

typedef unsigned __int128 u128;
typedef struct soft_value { /* (-1)^sign * magnitude * 2^exponent; magnitude 0 is zero */
    bool sign;
    int exponent;
    u128 magnitude;
} soft_value;

static inline int soft_top(u128 m) { /* index of the highest set bit; m != 0 */
    u64 high = (u64)(m >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((u64)m);
}
static inline soft_value soft_unpack(f64 x) {
    u64 bits = vm_bits64(x);
    int biased = (int)(bits >> 52 & 0x7ff);
    u64 fraction = bits & 0xfffffffffffffu;
    soft_value value = {bits >> 63, biased ? biased - 1075 : -1074,
                        biased ? fraction | (u64)1 << 52 : fraction};
    return value;
}
/* Right shift that keeps "something was lost" in the lowest bit. */
static inline u128 soft_jam(u128 m, int shift) {
    if (shift <= 0)
        return m;
    if (shift > 127)
        return m != 0;
    return m >> shift | ((m & (((u128)1 << shift) - 1)) != 0);
}
/* Moves the highest bit to bit 124. */
static inline void soft_normalise(soft_value *v) {
    int shift = 124 - soft_top(v->magnitude);
    v->magnitude = shift >= 0 ? v->magnitude << shift : soft_jam(v->magnitude, -shift);
    v->exponent -= shift;
}
/* Rounds to 24 bits (float) or 53 (double) and gives the encoding. A magnitude of 0 gives a zero of that
 * sign. */
static inline u64 soft_pack(soft_value v, bool wide, num_rounding rounding) {
    int precision = wide ? 53 : 24, least = wide ? -1022 : -126, greatest = wide ? 1023 : 127;
    u64 sign = v.sign ? (wide ? (u64)1 << 63 : (u64)1 << 31) : 0;
    if (v.magnitude == 0)
        return sign;
    int exponent = v.exponent + soft_top(v.magnitude);
    int quantum = (exponent < least ? least : exponent) - (precision - 1);
    int shift = quantum - v.exponent;
    u128 m = v.magnitude, half = 0, rest = 0;
    if (shift > 127) {
        rest = 1;
        half = 2;
        m = 0;
    } else if (shift > 0) {
        half = (u128)1 << (shift - 1);
        rest = m & ((half << 1) - 1);
        m >>= shift;
    } else {
        m <<= -shift;
    }
    bool up = rounding == NUM_RN    ? rest > half || (rest == half && half && m & 1)
              : rounding == NUM_RNA ? half && rest >= half
              : rounding == NUM_RP  ? rest && !v.sign
              : rounding == NUM_RM  ? rest && v.sign
                                    : false;
    m += up;
    if (m >> precision) {
        m >>= 1;
        quantum++;
    }
    u64 hidden = (u64)1 << (precision - 1);
    if (m < hidden)
        return sign | (u64)m;
    if (quantum + precision - 1 > greatest) {
        bool infinite = rounding == NUM_RN || rounding == NUM_RNA || (rounding == NUM_RP && !v.sign) ||
                        (rounding == NUM_RM && v.sign);
        u64 infinity = (u64)(2 * greatest + 1) << (precision - 1);
        return sign | (infinite ? infinity : infinity - 1);
    }
    return sign | ((u64)(quantum + precision - 1 - least + 1) << (precision - 1)) | ((u64)m & (hidden - 1));
}
static inline soft_value soft_add(soft_value a, soft_value b, num_rounding rounding) {
    if (a.magnitude == 0 && b.magnitude == 0) {
        a.sign = a.sign == b.sign ? a.sign : rounding == NUM_RM;
        return a;
    }
    if (a.magnitude == 0)
        return b;
    if (b.magnitude == 0)
        return a;
    soft_normalise(&a);
    soft_normalise(&b);
    if (a.exponent < b.exponent) {
        soft_value t = a;
        a = b;
        b = t;
    }
    b.magnitude = soft_jam(b.magnitude, a.exponent - b.exponent > 127 ? 128 : a.exponent - b.exponent);
    if (a.sign == b.sign) {
        a.magnitude += b.magnitude;
    } else if (a.magnitude > b.magnitude) {
        a.magnitude -= b.magnitude;
    } else if (a.magnitude < b.magnitude) {
        a.magnitude = b.magnitude - a.magnitude;
        a.sign = b.sign;
    } else {
        a.magnitude = 0; /* exact cancellation: +0, and -0 rounding down */
        a.sign = rounding == NUM_RM;
    }
    return a;
}
static inline soft_value soft_multiply(soft_value a, soft_value b) {
    soft_value product = {a.sign != b.sign, a.exponent + b.exponent, a.magnitude * b.magnitude};
    return product;
}
static inline soft_value soft_divide(soft_value a, soft_value b) { /* b not 0 */
    soft_value quotient = {a.sign != b.sign, 0, 0};
    if (a.magnitude == 0)
        return quotient;
    int shift = 126 - soft_top(a.magnitude);
    u128 numerator = a.magnitude << shift;
    quotient.magnitude = numerator / b.magnitude << 1 | (numerator % b.magnitude != 0);
    quotient.exponent = a.exponent - shift - b.exponent - 1;
    return quotient;
}
static inline soft_value soft_sqrt(soft_value a) { /* a >= 0 */
    if (a.magnitude == 0)
        return a;
    int shift = 124 - soft_top(a.magnitude);
    shift -= (a.exponent - shift) & 1;
    u128 rest = a.magnitude << shift, root = 0;
    for (u128 bit = (u128)1 << 124; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    soft_value result = {false, (a.exponent - shift) / 2 - 1, root << 1 | (rest != 0)};
    return result;
}
/* One operation. Operands that are infinite or NaN go through the processor: no rounding is involved. */
static inline u64 soft_arith(vm_arith arith, num_rounding rounding, bool wide, f64 a, f64 b, f64 c) {
    f64 special = 0;
    bool finite = a - a == 0 && b - b == 0 && c - c == 0;
    switch (arith) {
    case VM_ARITH_ADD:
        special = vm_nan64(a + b, b, a, 0);
        break;
    case VM_ARITH_SUB:
        special = vm_nan64(a - b, b, a, 0);
        break;
    case VM_ARITH_MUL:
        special = vm_nan64(a * b, b, a, 0);
        break;
    case VM_ARITH_FMA:
        special = finite ? 0 : vm_nan64(a * b + c, b, c, a);
        break;
    case VM_ARITH_DIV:
        special = vm_nan64(a / b, a, b, 0);
        finite = finite && b != 0;
        break;
    case VM_ARITH_RCP:
        special = vm_nan64(1 / a, a, 0, 0);
        finite = finite && a != 0;
        break;
    case VM_ARITH_SQRT:
        special = vm_nan64(a < 0 ? (f64)NAN : a, a, 0, 0);
        finite = finite && a > 0;
        break;
    default:
        break;
    }
    if (!finite)
        return wide ? vm_bits64(special) : vm_canon((f32)special);
    soft_value x = soft_unpack(a), y = soft_unpack(b), z = soft_unpack(c), one = soft_unpack(1);
    switch (arith) {
    case VM_ARITH_SUB:
        y.sign = !y.sign;
        x = soft_add(x, y, rounding);
        break;
    case VM_ARITH_ADD:
        x = soft_add(x, y, rounding);
        break;
    case VM_ARITH_MUL:
        x = soft_multiply(x, y);
        break;
    case VM_ARITH_FMA:
        x = soft_add(soft_multiply(x, y), z, rounding);
        break;
    case VM_ARITH_DIV:
        x = soft_divide(x, y);
        break;
    case VM_ARITH_RCP:
        x = soft_divide(one, x);
        break;
    default:
        x = soft_sqrt(x);
        break;
    }
    return soft_pack(x, wide, rounding);
}
#endif
