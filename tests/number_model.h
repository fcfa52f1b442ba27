/* SPDX-License-Identifier: Apache-2.0
 * A slow model of number formats and of conversions between them, in exact integers: a number is a
 * significand and a power of two, and a conversion searches the codes of the target for the two neighbours of
 * the value. Shares nothing with tirc's own code. Sources: IEEE 754-2019; OCP 8-bit and Microscaling
 * specifications; PTX ISA 9.0, 5.2.3 and 9.7.9.21. */
#ifndef TIRC_TESTS_NUMBER_MODEL_H
#define TIRC_TESTS_NUMBER_MODEL_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum model_kind { MODEL_BOOL, MODEL_SIGNED, MODEL_UNSIGNED, MODEL_FLOAT } model_kind;
/* What codes above the finite numbers mean: infinity and NaN; one NaN of all ones; minus zero is NaN; none;
 * ue8m0: no mantissa, no sign; as all ones, no sign.
 */
typedef enum model_top { TOP_IEEE, TOP_ONES, TOP_MINUS_ZERO, TOP_NONE, TOP_EXPONENT, TOP_UNSIGNED } model_top;

typedef struct model_type {
    const char *name;
    unsigned bits; /* of one element in an array */
    model_kind kind;
    unsigned exponent, mantissa; /* digits of a float */
    int bias;
    model_top top;
    unsigned unused; /* low bits without meaning */
} model_type;

static const model_type model_types[] = {
    {"bool", 8, MODEL_BOOL, 0, 0, 0, TOP_IEEE, 0},
    {"int8", 8, MODEL_SIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"int16", 16, MODEL_SIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"int32", 32, MODEL_SIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"int64", 64, MODEL_SIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"uint8", 8, MODEL_UNSIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"uint16", 16, MODEL_UNSIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"uint32", 32, MODEL_UNSIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"uint64", 64, MODEL_UNSIGNED, 0, 0, 0, TOP_IEEE, 0},
    {"float16", 16, MODEL_FLOAT, 5, 10, 15, TOP_IEEE, 0},
    {"bfloat16", 16, MODEL_FLOAT, 8, 7, 127, TOP_IEEE, 0},
    {"tfloat32", 32, MODEL_FLOAT, 8, 10, 127, TOP_IEEE, 13},
    {"float32", 32, MODEL_FLOAT, 8, 23, 127, TOP_IEEE, 0},
    {"float64", 64, MODEL_FLOAT, 11, 52, 1023, TOP_IEEE, 0},
    {"float8_e3m4", 8, MODEL_FLOAT, 3, 4, 3, TOP_IEEE, 0},
    {"float8_e4m3", 8, MODEL_FLOAT, 4, 3, 7, TOP_IEEE, 0},
    {"float8_e4m3fn", 8, MODEL_FLOAT, 4, 3, 7, TOP_ONES, 0},
    {"float8_e4m3fnuz", 8, MODEL_FLOAT, 4, 3, 8, TOP_MINUS_ZERO, 0},
    {"float8_e4m3b11fnuz", 8, MODEL_FLOAT, 4, 3, 11, TOP_MINUS_ZERO, 0},
    {"float8_e5m2", 8, MODEL_FLOAT, 5, 2, 15, TOP_IEEE, 0},
    {"float8_e5m2fnuz", 8, MODEL_FLOAT, 5, 2, 16, TOP_MINUS_ZERO, 0},
    {"float8_e8m0fnu", 8, MODEL_FLOAT, 8, 0, 127, TOP_EXPONENT, 0},
    {"float6_e2m3fn", 6, MODEL_FLOAT, 2, 3, 1, TOP_NONE, 0},
    {"float6_e3m2fn", 6, MODEL_FLOAT, 3, 2, 3, TOP_NONE, 0},
    {"float4_e2m1fn", 4, MODEL_FLOAT, 2, 1, 1, TOP_NONE, 0},
};
enum { MODEL_TYPES = sizeof model_types / sizeof model_types[0] };

static inline const model_type *model_find(const char *name) {
    for (int i = 0; i < MODEL_TYPES; i++)
        if (!strcmp(model_types[i].name, name))
            return &model_types[i];
    return NULL;
}

typedef struct exact {
    bool nan, infinite, negative;
    uint64_t significand; /* times 2^exponent */
    int exponent;
} exact;

static inline exact exact_of_integer(bool negative, uint64_t magnitude) {
    return (exact){.negative = negative, .significand = magnitude};
}

/* -1, 0, 1 as |a| is less than, equal to or greater than |b|; both finite. */
static inline int exact_compare(exact a, exact b) {
    if (!a.significand || !b.significand)
        return (a.significand != 0) - (b.significand != 0);
    int lead = __builtin_clzll(a.significand), other = __builtin_clzll(b.significand);
    a.significand <<= lead, a.exponent -= lead;
    b.significand <<= other, b.exponent -= other;
    if (a.exponent != b.exponent)
        return a.exponent < b.exponent ? -1 : 1;
    return a.significand < b.significand ? -1 : a.significand > b.significand;
}

/* ---- codes of a float type, its sign apart ---- */
static inline bool model_has_sign(const model_type *t) {
    return t->top != TOP_EXPONENT && t->top != TOP_UNSIGNED;
}
static inline uint64_t model_sign(const model_type *t) {
    return model_has_sign(t) ? (uint64_t)1 << (t->exponent + t->mantissa) : 0;
}
static inline uint64_t model_all_ones(const model_type *t) {
    return ((uint64_t)1 << (t->exponent + t->mantissa)) - 1;
}
static inline uint64_t model_largest(const model_type *t) {
    uint64_t ones = model_all_ones(t);
    return t->top == TOP_IEEE ? ones - ((uint64_t)1 << t->mantissa)
           : t->top == TOP_ONES || t->top == TOP_EXPONENT || t->top == TOP_UNSIGNED ? ones - 1
                                                                                    : ones;
}
/* The finite number of a code that is at most the largest. */
static inline exact model_magnitude(const model_type *t, uint64_t code) {
    uint64_t mantissa = code & (((uint64_t)1 << t->mantissa) - 1), field = code >> t->mantissa;
    if (t->top == TOP_EXPONENT)
        return (exact){.significand = 1, .exponent = (int)code - t->bias};
    if (field == 0)
        return (exact){.significand = mantissa, .exponent = 1 - t->bias - (int)t->mantissa};
    return (exact){.significand = mantissa + ((uint64_t)1 << t->mantissa),
                   .exponent = (int)field - t->bias - (int)t->mantissa};
}
static inline uint64_t model_nan(const model_type *t) {
    if (t->top == TOP_MINUS_ZERO)
        return model_sign(t);
    if (t->top == TOP_NONE) /* PTX: the largest number */
        return model_all_ones(t);
    uint64_t nan = t->bits == 64 ? 0x7ff8000000000000u : model_all_ones(t);
    return nan << t->unused | (((uint64_t)1 << t->unused) - 1);
}

/* The value of bits as they lie in memory, of any type. */
static inline exact model_decode(const model_type *t, uint64_t bits) {
    if (t->kind != MODEL_FLOAT) {
        if (t->bits < 64)
            bits &= ((uint64_t)1 << t->bits) - 1;
        if (t->kind == MODEL_BOOL)
            return exact_of_integer(false, bits != 0);
        bool negative = t->kind == MODEL_SIGNED && bits >> (t->bits - 1);
        uint64_t rest = t->bits < 64 ? ((uint64_t)1 << t->bits) - bits : 0 - bits;
        return exact_of_integer(negative, negative ? rest : bits);
    }
    bits >>= t->unused;
    uint64_t code = bits & model_all_ones(t);
    bool negative = (bits & model_sign(t)) != 0;
    if (t->top == TOP_MINUS_ZERO && negative && code == 0)
        return (exact){.nan = true};
    if (code <= model_largest(t)) {
        exact value = model_magnitude(t, code);
        value.negative = negative;
        return value;
    }
    if (t->top == TOP_IEEE && code == model_largest(t) + 1)
        return (exact){.infinite = true, .negative = negative};
    return (exact){.nan = true};
}

static inline bool model_is_nan(const model_type *t, uint64_t bits) {
    return t->kind == MODEL_FLOAT && model_decode(t, bits).nan;
}

typedef enum model_rounding { ROUND_RN, ROUND_RZ, ROUND_RP, ROUND_RM, ROUND_RNA } model_rounding;

static inline bool model_toward_zero(model_rounding r, bool negative) {
    return r == ROUND_RZ || r == (negative ? ROUND_RP : ROUND_RM);
}

/* Whether a value strictly between significand and significand + 1, times 2^exponent, goes to the larger. */
static inline bool model_goes_up(exact value, exact low, bool odd, model_rounding r) {
    exact middle = {.significand = 2 * low.significand + 1, .exponent = low.exponent - 1};
    int against = exact_compare(value, middle);
    if (r == ROUND_RN)
        return against > 0 || (against == 0 && odd);
    if (r == ROUND_RNA)
        return against >= 0;
    return !model_toward_zero(r, value.negative);
}

static inline uint64_t model_overflow(const model_type *t, uint64_t sign, bool saturate) {
    if (saturate || t->top == TOP_NONE)
        return sign | model_largest(t);
    if (t->top == TOP_IEEE)
        return sign | (model_largest(t) + 1);
    return t->top == TOP_ONES ? sign | model_all_ones(t) : model_nan(t); /* e4m3 keeps the sign */
}

/* The last code whose number is not larger than the finite value's. */
static inline uint64_t model_below(const model_type *t, exact value) {
    uint64_t low = 0, high = model_largest(t) + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (exact_compare(model_magnitude(t, middle), value) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bits, as they lie in memory, of a value rounded to a float type. e8m0 takes the magnitude. */
static inline uint64_t model_encode(const model_type *t, exact value, model_rounding r, bool saturate) {
    if (value.nan)
        return model_nan(t);
    value.negative = value.negative && model_has_sign(t);
    uint64_t sign = value.negative ? model_sign(t) : 0, largest = model_largest(t);
    if (value.infinite)
        return model_overflow(t, sign, saturate) << t->unused;
    uint64_t low = model_below(t, value);
    exact at = model_magnitude(t, low);
    int against = exact_compare(value, at);
    if (against > 0) { /* less than zero: below the least number of e8m0, which then is the result */
        exact next = {.significand = at.significand + 1, .exponent = at.exponent};
        bool past = low == largest && exact_compare(value, next) >= 0;
        bool up = past ? !model_toward_zero(r, value.negative) : model_goes_up(value, at, low & 1, r);
        if (up && low == largest)
            return model_overflow(t, sign, saturate) << t->unused;
        low += up;
    }
    return (low == 0 && t->top == TOP_MINUS_ZERO ? 0 : sign | low) << t->unused;
}

/* PTX's .rs: the code below a finite value, and in units of 2^-digits the part of the way to the next code
 * that the value has gone; UINT32_MAX: a whole step past the largest. */
static inline uint64_t model_stochastic(const model_type *t, exact value, unsigned digits, uint32_t *part) {
    uint64_t low = model_below(t, value);
    exact at = model_magnitude(t, low);
    exact next = {.significand = at.significand + 1, .exponent = at.exponent};
    if (exact_compare(value, next) >= 0) {
        *part = UINT32_MAX;
        return low;
    }
    uint32_t least = 0, most = (uint32_t)1 << digits;
    while (most - least > 1) {
        uint32_t middle = least + (most - least) / 2;
        exact there = {.significand = (at.significand << digits) + middle,
                       .exponent = at.exponent - (int)digits};
        if (exact_compare(there, value) <= 0)
            least = middle;
        else
            most = middle;
    }
    *part = least;
    return low;
}

/* A value rounded to an integer type, saturated; NaN gives what the caller says. */
static inline uint64_t model_to_integer(unsigned bits, bool is_signed, exact value, model_rounding r,
                                        uint64_t nan) {
    uint64_t most = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0)), mask = UINT64_MAX >> (64 - bits);
    uint64_t least = is_signed ? most + 1 : 0; /* magnitude of the least number */
    if (value.nan)
        return nan & mask;
    uint64_t limit = value.negative ? least : most, whole = 0;
    exact top = {.significand = limit};
    if (value.infinite || exact_compare(value, top) > 0) {
        /* just past the limit: rounding may come back to it, which is the same */
        whole = limit;
    } else {
        while (value.exponent > 0) /* fits, so no digit is lost */
            value.significand <<= 1, value.exponent--;
        uint64_t low = value.exponent > -64 ? value.significand >> -value.exponent : 0;
        whole = low;
        exact at = {.significand = low};
        if (exact_compare(value, at) > 0) {
            /* 2 * low + 1 needs a digit more than 64 only where no fraction is left */
            bool up = model_goes_up(value, at, low & 1, r);
            whole += up && low < limit;
        }
    }
    return (value.negative ? 0 - whole : whole) & mask;
}

/* The cast of the language, bits to bits. */
static inline uint64_t model_cast(const model_type *to, const model_type *from, uint64_t bits) {
    exact value = model_decode(from, bits);
    if (to->kind == MODEL_FLOAT)
        return model_encode(to, value, to->top == TOP_EXPONENT ? ROUND_RP : ROUND_RN, to->bits <= 8);
    if (to->kind == MODEL_BOOL)
        return value.nan || value.infinite || value.significand != 0;
    if (from->kind != MODEL_FLOAT) {
        uint64_t whole = value.negative ? 0 - value.significand : value.significand;
        return to->bits < 64 ? whole & (((uint64_t)1 << to->bits) - 1) : whole;
    }
    /* PTX, cvt: NaN is 0 but from f64 or to 64 bits; 8 and 16 bits saturate what 32 bits give. */
    bool is_signed = to->kind == MODEL_SIGNED;
    if (value.nan && (from->bits == 64 || to->bits == 64)) {
        uint64_t most = UINT64_MAX >> (64 - to->bits);
        if (to->bits < 32)
            return is_signed ? (uint64_t)1 << (to->bits - 1) : most;
        return (uint64_t)1 << (to->bits - 1);
    }
    return model_to_integer(to->bits, is_signed, value, ROUND_RZ, 0);
}
#endif
