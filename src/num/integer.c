/* SPDX-License-Identifier: Apache-2.0
 * Integers of a given width and sign, carried as int64_t; conversions between them and floats.
 * All arithmetic here is done on unsigned words, where overflow is defined. */
#include "num/float_format.h"
#include "num/num.h"
#include <math.h>

static bool is_signed(num_dtype dtype) {
    return num_dtype_class(dtype) == NUM_SIGNED;
}

int64_t num_minimum(num_dtype dtype) {
    return is_signed(dtype) ? (int64_t)(UINT64_MAX << (num_dtype_bits(dtype) - 1)) : 0;
}

uint64_t num_maximum(num_dtype dtype) {
    if (dtype == NUM_DTYPE_BOOL)
        return 1;
    unsigned bits = num_dtype_bits(dtype);
    if (bits == 0)
        return 0;
    return UINT64_MAX >> (64 - bits + (is_signed(dtype) ? 1 : 0));
}

int64_t num_truncate_divide(num_dtype dtype, int64_t a, int64_t b) {
    if (!is_signed(dtype))
        return (int64_t)((uint64_t)a / (uint64_t)b);
    if (b == -1) /* the smallest number has no negative: wrap instead of trapping */
        return num_wrap(dtype, (int64_t)(0 - (uint64_t)a));
    return a / b;
}

int64_t num_truncate_modulo(num_dtype dtype, int64_t a, int64_t b) {
    if (!is_signed(dtype))
        return (int64_t)((uint64_t)a % (uint64_t)b);
    return b == -1 ? 0 : a % b;
}

int64_t num_floor_divide(num_dtype dtype, int64_t a, int64_t b) {
    int64_t quotient = num_truncate_divide(dtype, a, b);
    if (is_signed(dtype) && num_truncate_modulo(dtype, a, b) != 0 && (a < 0) != (b < 0))
        quotient--;
    return quotient;
}

int64_t num_floor_modulo(num_dtype dtype, int64_t a, int64_t b) {
    int64_t rest = num_truncate_modulo(dtype, a, b);
    if (is_signed(dtype) && rest != 0 && (rest < 0) != (b < 0))
        rest += b;
    return rest;
}

int num_compare(num_dtype dtype, int64_t a, int64_t b) {
    if (is_signed(dtype))
        return a < b ? -1 : a > b;
    return (uint64_t)a < (uint64_t)b ? -1 : (uint64_t)a > (uint64_t)b;
}

/* Rounding to a whole number; on the magnitude, since only a - floor(a) of a positive a is exact. */
static double rounded(double value, num_rounding rounding) {
    double magnitude = fabs(value), below = floor(magnitude), rest = magnitude - below;
    bool up = false;
    switch (rounding) {
    case NUM_RZ:
        break;
    case NUM_RP:
        return ceil(value);
    case NUM_RM:
        return floor(value);
    case NUM_RNA:
        up = rest >= 0.5;
        break;
    case NUM_RN:
        up = rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0);
        break;
    }
    return copysign(up ? below + 1 : below, value);
}

int64_t num_nan_to_integer(num_dtype to, num_dtype from) {
    unsigned bits = num_dtype_bits(to);
    if (to == NUM_DTYPE_BOOL)
        return 1;
    if (from != NUM_DTYPE_F64 && bits < 64)
        return 0;
    return is_signed(to) ? num_minimum(to) : (int64_t)((uint64_t)1 << (bits - 1));
}

int64_t num_float_to_integer(num_dtype to, double value, num_rounding rounding) {
    if (to == NUM_DTYPE_BOOL)
        return value != 0;
    if (isnan(value))
        return 0;
    double whole = isinf(value) ? value : rounded(value, rounding);
    /* Both limits are compared as powers of two, which doubles hold exactly. */
    double past = ldexp(1, (int)num_dtype_bits(to) - (is_signed(to) ? 1 : 0));
    if (whole >= past)
        return (int64_t)num_maximum(to);
    if (whole < (double)num_minimum(to))
        return num_minimum(to);
    return is_signed(to) ? (int64_t)whole : (int64_t)(uint64_t)whole;
}

double num_integer_to_float(num_dtype from, int64_t value, num_dtype to, num_rounding rounding) {
    bool negative = is_signed(from) && value < 0;
    uint64_t magnitude = negative ? 0 - (uint64_t)value : (uint64_t)value;
    return num_decode(to, num_encode_parts(to, negative, magnitude, 0, rounding, false));
}
