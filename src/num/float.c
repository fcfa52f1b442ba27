/* SPDX-License-Identifier: Apache-2.0
 * Floating formats as a table, and the one decoder and the one encoder that serve all of them.
 * Sources: IEEE 754-2019; PTX ISA 5.2.3 (alternate floating formats) for bf16, tf32, e4m3, e5m2, e2m3, e3m2,
 * e2m1 and ue8m0; OCP 8-bit and Microscaling specifications for the special values of the small formats; the
 * other fp8 kinds follow the usual naming: FN has no infinity, UZ has no negative zero, B11 states the bias.
 */
#include "num/float_format.h"
#include "num/num.h"
#include <string.h>

/* clang-format off */
static const num_format formats[NUM_DTYPE_COUNT] = {
    [NUM_DTYPE_F16]           = {16,  5, 10,   15, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_BF16]          = {16,  8,  7,  127, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_TF32]          = {19,  8, 10,  127, NUM_SPECIAL_IEEE, 13},
    [NUM_DTYPE_F32]           = {32,  8, 23,  127, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_F64]           = {64, 11, 52, 1023, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_F8E3M4]        = { 8,  3,  4,    3, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_F8E4M3]        = { 8,  4,  3,    7, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_F8E4M3FN]      = { 8,  4,  3,    7, NUM_SPECIAL_ONES, 0},
    [NUM_DTYPE_F8E4M3FNUZ]    = { 8,  4,  3,    8, NUM_SPECIAL_SIGN, 0},
    [NUM_DTYPE_F8E4M3B11FNUZ] = { 8,  4,  3,   11, NUM_SPECIAL_SIGN, 0},
    [NUM_DTYPE_F8E5M2]        = { 8,  5,  2,   15, NUM_SPECIAL_IEEE, 0},
    [NUM_DTYPE_F8E5M2FNUZ]    = { 8,  5,  2,   16, NUM_SPECIAL_SIGN, 0},
    [NUM_DTYPE_F8E8M0FNU]     = { 8,  8,  0,  127, NUM_SPECIAL_UNSIGNED, 0},
    [NUM_DTYPE_F6E2M3FN]      = { 6,  2,  3,    1, NUM_SPECIAL_NONE, 0},
    [NUM_DTYPE_F6E3M2FN]      = { 6,  3,  2,    3, NUM_SPECIAL_NONE, 0},
    [NUM_DTYPE_F4E2M1FN]      = { 4,  2,  1,    1, NUM_SPECIAL_NONE, 0},
};
/* clang-format on */

/* PTX ISA 9.4, 5.2.3: 8 bits without a sign, no infinity, 0xff is NaN. */
const num_format num_format_ue5m3 = {8, 5, 3, 15, NUM_SPECIAL_ONES, 0};

const num_format *num_format_of(num_dtype dtype) {
    return num_dtype_is_float(dtype) ? &formats[dtype] : NULL;
}

/* As float: 0x7fffffff, the canonical NaN of PTX. */
#define NAN_BITS 0x7fffffffe0000000u

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* 2^exponent, for exponents of normal doubles. */
static double power_of_two(int exponent) {
    return from_bits((uint64_t)(exponent + 1023) << 52);
}

/* Code of the largest finite number, sign excluded. */
static uint64_t largest_code(const num_format *f) {
    uint64_t ones = ((uint64_t)1 << (f->exponent_bits + f->mantissa_bits)) - 1;
    switch (f->special) {
    case NUM_SPECIAL_IEEE:
        return ones - ((uint64_t)1 << f->mantissa_bits);
    case NUM_SPECIAL_ONES:
    case NUM_SPECIAL_UNSIGNED:
        return ones - 1;
    default:
        return ones;
    }
}

static uint64_t sign_bit(const num_format *f) {
    return f->exponent_bits + f->mantissa_bits == f->bits ? 0 : (uint64_t)1 << (f->bits - 1);
}

double num_decode_format(const num_format *f, uint64_t bits) {
    if (f->bits == 64)
        return from_bits(bits);
    bits = bits >> f->padding & (((uint64_t)1 << f->bits) - 1);
    uint64_t sign = bits & sign_bit(f);
    uint64_t code = bits & ~sign_bit(f);
    if (f->special == NUM_SPECIAL_UNSIGNED)
        return code == 0xff ? from_bits(NAN_BITS) : power_of_two((int)code - f->bias);
    if (f->special == NUM_SPECIAL_SIGN && sign != 0 && code == 0)
        return from_bits(NAN_BITS);
    uint64_t mantissa = code & (((uint64_t)1 << f->mantissa_bits) - 1);
    int exponent = (int)(code >> f->mantissa_bits);
    double value;
    if (code > largest_code(f)) {
        if (f->special != NUM_SPECIAL_IEEE || mantissa != 0)
            return from_bits(NAN_BITS);
        value = from_bits(0x7ff0000000000000u);
    } else if (exponent == 0) {
        value = (double)mantissa * power_of_two(1 - f->bias - (int)f->mantissa_bits);
    } else {
        mantissa |= (uint64_t)1 << f->mantissa_bits;
        value = (double)mantissa * power_of_two(exponent - f->bias - (int)f->mantissa_bits);
    }
    return sign != 0 ? -value : value;
}

double num_decode(num_dtype dtype, uint64_t bits) {
    return num_dtype_is_float(dtype) ? num_decode_format(&formats[dtype], bits) : 0;
}

static uint64_t nan_code(const num_format *f) {
    uint64_t ones = ((uint64_t)1 << (f->exponent_bits + f->mantissa_bits)) - 1;
    switch (f->special) {
    case NUM_SPECIAL_SIGN:
        return sign_bit(f);
    case NUM_SPECIAL_NONE:
        return largest_code(f); /* as cvt to e2m1, e2m3 and e3m2 does */
    default:
        if (f->bits == 64)
            return 0x7ff8000000000000u;
        return ones;
    }
}

/* Storage of a code: tf32 lives in the high bits of a float, and its NaN is that of float. */
static uint64_t stored(const num_format *f, uint64_t code) {
    if (f->padding == 0)
        return code;
    uint64_t low = code == nan_code(f) ? ((uint64_t)1 << f->padding) - 1 : 0;
    return code << f->padding | low;
}

/* Infinity, and what rounding carried past the largest finite number. An infinity stays infinite where
 * IEEE 754 lets a directed rounding of a finite number stop at the largest finite one. */
static uint64_t overflow_code(const num_format *f, bool negative, bool infinite, num_rounding rounding,
                              bool saturate) {
    uint64_t sign = negative ? sign_bit(f) : 0;
    negative = sign != 0;
    bool toward_zero =
        rounding == NUM_RZ || (rounding == NUM_RP && negative) || (rounding == NUM_RM && !negative);
    if (saturate || f->special == NUM_SPECIAL_NONE || (toward_zero && !infinite))
        return sign | largest_code(f);
    if (f->special == NUM_SPECIAL_IEEE)
        return sign | (largest_code(f) + 1);
    /* e4m3 keeps the sign of what overflowed, as the conversions of cuda_fp8.h do. */
    return f->special == NUM_SPECIAL_ONES ? sign | nan_code(f) : nan_code(f);
}

/* How what does not fit is rounded. */
typedef struct rounding_rule {
    num_rounding rounding;
    bool saturate;
    uint32_t random; /* stochastic: random_bits of them, which count from the first digit that is lost */
    unsigned random_bits;
} rounding_rule;

static bool rounds_up(num_rounding rounding, bool negative, bool odd, bool inexact, int against_half) {
    switch (rounding) {
    case NUM_RN:
        return against_half > 0 || (against_half == 0 && odd);
    case NUM_RNA:
        return against_half >= 0;
    case NUM_RP:
        return inexact && !negative;
    case NUM_RM:
        return inexact && negative;
    case NUM_RZ:
        break;
    }
    return false;
}

/* Whether the first random_bits of the `drop` lost digits and the random number carry. */
static bool carries(const rounding_rule *rule, uint64_t rest, int drop) {
    int below = drop - (int)rule->random_bits;
    uint64_t first = below > 63 ? 0 : below >= 0 ? rest >> below : rest << -below;
    return first + rule->random >= (uint64_t)1 << rule->random_bits;
}

static uint64_t encode_parts(const num_format *f, bool negative, uint64_t significand, int exponent,
                             const rounding_rule *rule) {
    /* ue8m0 takes the magnitude, and cvt.rp rounds the magnitude up; ue5m3 likewise. */
    uint64_t sign = negative ? sign_bit(f) : 0;
    negative = sign != 0;
    int smallest = f->special == NUM_SPECIAL_UNSIGNED ? -f->bias : 1 - f->bias;
    if (significand == 0)
        return f->special == NUM_SPECIAL_SIGN ? 0 : stored(f, sign);
    int zeros = __builtin_clzll(significand);
    significand <<= zeros;
    exponent += 63 - zeros; /* value = significand / 2^63 * 2^exponent, 1 <= significand / 2^63 < 2 */
    if (f->special == NUM_SPECIAL_UNSIGNED && exponent < smallest)
        return 0; /* there is nothing below 2^-127 */
    int drop = 63 - (int)f->mantissa_bits + (exponent < smallest ? smallest - exponent : 0);
    uint64_t kept = drop > 63 ? 0 : significand >> drop;
    uint64_t rest = drop > 63 ? significand : significand & (((uint64_t)1 << drop) - 1);
    int against_half = -1;
    if (drop <= 64) {
        uint64_t half = (uint64_t)1 << (drop - 1);
        against_half = rest > half ? 1 : rest == half ? 0 : -1;
    }
    /* Numbers of one format and sign are in the order of their codes, so rounding up is adding one to the
     * code, also across a power of two and out of the subnormals. */
    uint64_t code = kept;
    if (exponent >= smallest) {
        uint64_t biased = (uint64_t)(exponent - smallest + (f->special == NUM_SPECIAL_UNSIGNED ? 0 : 1));
        if (biased > (uint64_t)1 << f->exponent_bits)
            return stored(f, overflow_code(f, negative, false, rule->rounding, rule->saturate));
        code = (biased << f->mantissa_bits) + (kept - ((uint64_t)1 << f->mantissa_bits));
    }
    if (rule->random_bits ? carries(rule, rest, drop)
                          : rounds_up(rule->rounding, negative, code & 1, rest != 0, against_half))
        code++;
    if (code > largest_code(f))
        return stored(f, overflow_code(f, negative, false, rule->rounding, rule->saturate));
    if (code == 0 && f->special == NUM_SPECIAL_SIGN)
        return 0;
    return stored(f, sign | code);
}

static uint64_t encode(const num_format *f, double value, const rounding_rule *rule) {
    uint64_t bits = to_bits(value);
    bool negative = bits >> 63 != 0;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & 0xfffffffffffffu;
    if (exponent == 0x7ff) {
        if (mantissa != 0)
            return stored(f, nan_code(f));
        return stored(f, overflow_code(f, negative, true, rule->rounding, rule->saturate));
    }
    if (exponent != 0)
        mantissa |= (uint64_t)1 << 52;
    else
        exponent = 1;
    return encode_parts(f, negative, mantissa, exponent - 1075, rule);
}

uint64_t num_encode_parts(num_dtype dtype, bool negative, uint64_t significand, int exponent,
                          num_rounding rounding, bool saturate) {
    rounding_rule rule = {.rounding = rounding, .saturate = saturate};
    return num_dtype_is_float(dtype) ? encode_parts(&formats[dtype], negative, significand, exponent, &rule)
                                     : 0;
}

uint64_t num_encode_format(const num_format *format, double value, num_rounding rounding, bool saturate) {
    return encode(format, value, &(rounding_rule){.rounding = rounding, .saturate = saturate});
}

uint64_t num_encode(num_dtype dtype, double value, num_rounding rounding, bool saturate) {
    return num_dtype_is_float(dtype) ? num_encode_format(&formats[dtype], value, rounding, saturate) : 0;
}

uint64_t num_encode_stochastic(num_dtype dtype, double value, uint32_t random, unsigned random_bits,
                               bool saturate) {
    rounding_rule rule = {NUM_RN, saturate, random & (((uint32_t)1 << random_bits) - 1), random_bits};
    return num_dtype_is_float(dtype) ? encode(&formats[dtype], value, &rule) : 0;
}

num_rounding num_cast_rounding(num_dtype to) {
    return to == NUM_DTYPE_F8E8M0FNU ? NUM_RP : NUM_RN;
}

static bool cast_saturates(num_dtype to) {
    return num_dtype_bits(to) <= 8;
}

double num_cast_real(num_dtype to, double value) {
    return num_decode(to, num_encode(to, value, num_cast_rounding(to), cast_saturates(to)));
}

double num_cast_integer(num_dtype to, num_dtype from, int64_t value) {
    bool negative = num_dtype_class(from) == NUM_SIGNED && value < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
    return num_decode(
        to, num_encode_parts(to, negative, magnitude, 0, num_cast_rounding(to), cast_saturates(to)));
}
