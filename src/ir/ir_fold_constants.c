/* SPDX-License-Identifier: Apache-2.0
 * The value of an op over constants, in num's arithmetic and with the rounding of the type. Where hardware
 * leaves a result open (division by zero, float to integer out of range, a NaN's payload, negative shift
 * counts, second roundings of TF32 and E8M0) there is no value and nothing folds. Knows no identities
 * (ir_fold.c). */
#include "ir/ir_private.h"
#include <math.h>
#include <string.h>

/* A computed value: which member counts is said by the result's type. */
typedef struct number {
    int64_t integer;
    double real;
} number;

/* ---- floats ---- */

/* Rounds an exact or double-rounded-safe value to the type. TF32 and E8M0 are computed in float32 first: its
 * rounding can show in an fma of TF32, and wherever E8M0 rounds up, so only exact values pass there. */
static bool round_to(ir_op op, num_dtype dtype, double value, double *result) {
    *result = num_cast_real(dtype, value);
    bool twice = dtype == NUM_DTYPE_F8E8M0FNU || (dtype == NUM_DTYPE_TF32 && op == IR_FMA);
    return !twice || *result == value;
}

/* a * b + c rounded to odd in double: rounding that once more to a format of at most 50 bits is the same as
 * rounding the exact value once. The product of two such numbers is exact. */
static double fma_to_odd(double a, double b, double c) {
    double product = a * b, sum = product + c;
    if (!isfinite(sum))
        return sum;
    double part = sum - product, error = (product - (sum - part)) + (c - part);
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error != 0 && (bits & 1) == 0)
        sum = nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
    return sum;
}

static double minimum(double a, double b) {
    if (a != a)
        return b;
    if (b != b)
        return a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static double maximum(double a, double b) {
    if (a != a)
        return b;
    if (b != b)
        return a;
    if (a == 0 && b == 0)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}

/* Sum, product, quotient and root of formats up to float32 are rounded twice here, first to double. That is
 * the same as once, since double has more than twice their precision plus two. */
static bool real_value(ir_op op, num_dtype dtype, const double *v, double *result) {
    double r;
    switch (op) {
    case IR_NEG:
        r = -v[0];
        break;
    case IR_ADD:
        r = v[0] + v[1];
        break;
    case IR_SUB:
        r = v[0] - v[1];
        break;
    case IR_MUL:
        r = v[0] * v[1];
        break;
    case IR_DIV:
        r = v[0] / v[1];
        break;
    case IR_MIN:
        r = minimum(v[0], v[1]);
        break;
    case IR_MAX:
        r = maximum(v[0], v[1]);
        break;
    case IR_FMA:
        r = dtype == NUM_DTYPE_F64 ? fma(v[0], v[1], v[2]) : fma_to_odd(v[0], v[1], v[2]);
        break;
    case IR_ABS:
        r = fabs(v[0]);
        break;
    case IR_FLOOR:
        r = floor(v[0]);
        break;
    case IR_CEIL:
        r = ceil(v[0]);
        break;
    case IR_TRUNC:
        r = trunc(v[0]);
        break;
    case IR_ROUND:
        r = rint(v[0]);
        break;
    case IR_SQRT:
        r = sqrt(v[0]);
        break;
    case IR_FMOD: /* exact in double, and a number of the type of both */
        r = fmod(v[0], v[1]);
        break;
    default:
        return false;
    }
    return round_to(op, dtype, r, result);
}

static bool compare_real(ir_op op, double a, double b, int64_t *result) {
    switch (op) {
    case IR_EQ:
        *result = a == b;
        return true;
    case IR_NE:
        *result = !(a == b);
        return true;
    case IR_LT:
        *result = a < b;
        return true;
    case IR_LE:
        *result = a <= b;
        return true;
    case IR_GT:
        *result = a > b;
        return true;
    case IR_GE:
        *result = a >= b;
        return true;
    case IR_ISNAN:
        *result = a != a;
        return true;
    case IR_ISINF:
        *result = isinf(a) != 0;
        return true;
    default:
        return false;
    }
}

/* ---- integers ---- */

static bool shift_value(ir_op op, num_dtype dtype, int64_t a, int64_t count, int64_t *result) {
    unsigned bits = num_dtype_bits(dtype);
    bool is_signed = num_dtype_class(dtype) == NUM_SIGNED;
    if (is_signed && count < 0)
        return false;
    bool over = (uint64_t)count >= bits;
    if (op == IR_SHL)
        *result = over ? 0 : (int64_t)((uint64_t)a << count);
    else if (is_signed)
        *result = a >> (over ? 63 : count); /* arithmetic on every compiler we build with */
    else
        *result = over ? 0 : (int64_t)((uint64_t)a >> count);
    return true;
}

static uint64_t low_bits(num_dtype dtype, int64_t value) {
    unsigned bits = num_dtype_bits(dtype);
    return bits == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << bits) - 1);
}

static bool divide_value(ir_op op, num_dtype dtype, int64_t a, int64_t b, int64_t *result) {
    if (b == 0)
        return false;
    if (op == IR_FLOORDIV)
        *result = num_floor_divide(dtype, a, b);
    else if (op == IR_FLOORMOD)
        *result = num_floor_modulo(dtype, a, b);
    else if (op == IR_TRUNCDIV)
        *result = num_truncate_divide(dtype, a, b);
    else
        *result = num_truncate_modulo(dtype, a, b);
    return true;
}

static bool bit_value(ir_op op, num_dtype dtype, const int64_t *v, int64_t *result) {
    switch (op) {
    case IR_BITAND:
        *result = v[0] & v[1];
        return true;
    case IR_BITOR:
        *result = v[0] | v[1];
        return true;
    case IR_BITXOR:
        *result = v[0] ^ v[1];
        return true;
    case IR_BITNOT:
        *result = ~v[0];
        return true;
    case IR_SHL:
    case IR_SHR:
        return shift_value(op, dtype, v[0], v[1], result);
    case IR_POPCOUNT:
        *result = __builtin_popcountll(low_bits(dtype, v[0]));
        return true;
    case IR_CLZ: {
        uint64_t bits = low_bits(dtype, v[0]);
        *result = bits ? (int64_t)(__builtin_clzll(bits) - (64 - (int)num_dtype_bits(dtype)))
                       : (int64_t)num_dtype_bits(dtype);
        return true;
    }
    default:
        return false;
    }
}

static bool integer_value(ir_op op, num_dtype dtype, const int64_t *v, int64_t *result) {
    switch (op) {
    case IR_NEG:
        *result = (int64_t)(0 - (uint64_t)v[0]);
        return true;
    case IR_ADD:
        *result = (int64_t)((uint64_t)v[0] + (uint64_t)v[1]);
        return true;
    case IR_SUB:
        *result = (int64_t)((uint64_t)v[0] - (uint64_t)v[1]);
        return true;
    case IR_MUL:
        *result = (int64_t)((uint64_t)v[0] * (uint64_t)v[1]);
        return true;
    case IR_FMA:
        *result = (int64_t)((uint64_t)v[0] * (uint64_t)v[1] + (uint64_t)v[2]);
        return true;
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        return divide_value(op, dtype, v[0], v[1], result);
    case IR_MIN:
        *result = num_compare(dtype, v[0], v[1]) <= 0 ? v[0] : v[1];
        return true;
    case IR_MAX:
        *result = num_compare(dtype, v[0], v[1]) >= 0 ? v[0] : v[1];
        return true;
    case IR_ABS:
        *result = num_dtype_class(dtype) == NUM_SIGNED && v[0] < 0 ? (int64_t)(0 - (uint64_t)v[0]) : v[0];
        return true;
    default:
        return bit_value(op, dtype, v, result);
    }
}

static bool compare_integer(ir_op op, num_dtype dtype, int64_t a, int64_t b, int64_t *result) {
    int order = dtype == NUM_DTYPE_BOOL ? (a > b) - (a < b) : num_compare(dtype, a, b);
    return compare_real(op, order, 0, result);
}

static bool truth_value(ir_op op, const int64_t *v, int64_t *result) {
    switch (op) {
    case IR_AND:
        *result = v[0] && v[1];
        return true;
    case IR_OR:
        *result = v[0] || v[1];
        return true;
    case IR_NOT:
        *result = !v[0];
        return true;
    default:
        return false;
    }
}

/* ---- conversions ---- */

/* Out of range and NaN differ between C, PTX and widths of PTX: no value. */
static bool real_to_integer(num_dtype to, double value, int64_t *result) {
    double whole = trunc(value), limit = ldexp(1, (int)num_dtype_bits(to));
    bool is_signed = num_dtype_class(to) == NUM_SIGNED;
    double low = is_signed ? -limit / 2 : 0, high = is_signed ? limit / 2 : limit;
    if (!(whole >= low && whole < high))
        return false;
    *result = num_float_to_integer(to, value, NUM_RZ);
    return true;
}

static bool cast_value(num_dtype from, num_dtype to, number v, number *result) {
    bool from_real = num_dtype_is_float(from);
    if (num_dtype_is_float(to)) {
        result->real = from_real ? num_cast_real(to, v.real) : num_cast_integer(to, from, v.integer);
        return true;
    }
    if (to == NUM_DTYPE_BOOL) {
        result->integer = from_real ? !(v.real == 0) : v.integer != 0;
        return true;
    }
    if (from_real)
        return real_to_integer(to, v.real, &result->integer);
    result->integer = v.integer;
    return true;
}

static bool reinterpret_value(num_dtype from, num_dtype to, number v, number *result) {
    unsigned bits = num_dtype_bits(from);
    if (bits != num_dtype_bits(to) || bits < 8 || from == NUM_DTYPE_BOOL || to == NUM_DTYPE_BOOL)
        return false;
    if (num_dtype_is_float(from) && v.real != v.real)
        return false;
    uint64_t image =
        num_dtype_is_float(from) ? num_encode(from, v.real, NUM_RN, false) : low_bits(from, v.integer);
    if (num_dtype_is_float(to)) {
        result->real = num_decode(to, image);
        return result->real == result->real && num_encode(to, result->real, NUM_RN, false) == image;
    }
    result->integer = num_wrap(to, (int64_t)image);
    return true;
}

/* ---- the entry ---- */

static bool value_of(ir_op op, num_dtype from, num_dtype to, const number *v, uint32_t count,
                     number *result) {
    double reals[3] = {0};
    int64_t integers[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        reals[i] = v[i].real;
        integers[i] = v[i].integer;
    }
    if (op == IR_CAST)
        return cast_value(from, to, v[0], result);
    if (op == IR_REINTERPRET)
        return reinterpret_value(from, to, v[0], result);
    if (op == IR_AND || op == IR_OR || op == IR_NOT)
        return from == NUM_DTYPE_BOOL && truth_value(op, integers, &result->integer);
    if (num_dtype_is_float(from))
        return to == NUM_DTYPE_BOOL ? compare_real(op, reals[0], reals[1], &result->integer)
                                    : real_value(op, to, reals, &result->real);
    if (to == NUM_DTYPE_BOOL)
        return op != IR_ISNAN && op != IR_ISINF &&
               compare_integer(op, from, integers[0], integers[1], &result->integer);
    return from != NUM_DTYPE_BOOL && integer_value(op, to, integers, &result->integer);
}

const ir_expr *ir_fold_constants(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args,
                                 uint32_t count) {
    number values[3], result = {0};
    bool vector = false;
    if (!(ir_op_information(op)->flags & IR_FLAG_FOLD) || count == 0 || count > 3 || op == IR_SELECT ||
        op == IR_IF_THEN_ELSE || type.kind != IR_TYPE_PRIM)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const ir_expr *constant = ir_constant(args[i]);
        if (!constant || args[i]->type.lanes != type.lanes || args[i]->type.dtype != args[0]->type.dtype)
            return NULL;
        vector = vector || constant != args[i];
        values[i] = constant->op == IR_INT ? (number){.integer = constant->at.integer}
                                           : (number){.real = constant->at.real};
    }
    num_dtype from = (num_dtype)args[0]->type.dtype, to = (num_dtype)type.dtype;
    if (!value_of(op, from, to, values, count, &result))
        return NULL;
    const ir_expr *e =
        num_dtype_is_float(to) ? ir_float(module, to, result.real) : ir_int(module, to, result.integer);
    return vector ? ir_make(module, IR_BROADCAST, type, &e, 1) : e;
}
