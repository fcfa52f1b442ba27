/* SPDX-License-Identifier: Apache-2.0
 * Floats of 8 bits and fewer to and from float32, and float32 rounded to odd. float8_e4m3fn and float8_e5m2
 * have instructions on every target; for the others PTX has some on sm_100 or none, so they are integer
 * arithmetic on the bits, the same on every target. Must not know expressions. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

static const ptx_mod unsigned_mod = PTX_MOD_U32;

/* d = op.type args, a 32-bit register. */
static ptx_operand word(ptx_builder *b, ptx_op op, ptx_mod type, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(b, PTX_CLASS_R32, op, PTX_MODS(type), PTX_ARGS(x, y));
}

static ptx_operand number(ptx_builder *b, ptx_op op, ptx_mod type, ptx_operand x, int64_t y) {
    return word(b, op, type, x, ptx_build_int(y));
}

static ptx_operand compare(ptx_builder *b, ptx_mod relation, ptx_operand x, int64_t y) {
    return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(relation, unsigned_mod),
                             PTX_ARGS(x, ptx_build_int(y)));
}

static ptx_operand choose(ptx_builder *b, ptx_operand p, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SELP, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x, y, p));
}

static ptx_operand as_bits(ptx_builder *b, ptx_operand x) {
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x));
}

static ptx_operand as_float(ptx_builder *b, ptx_operand x) {
    return ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x));
}

static uint32_t f32_bits(double value) {
    return (uint32_t)num_encode(NUM_DTYPE_F32, value, NUM_RN, false);
}

/* ---- the pairs that PTX converts, through float16 one way ---- */

static bool has_pair_form(num_dtype dtype) {
    return dtype == NUM_DTYPE_F8E4M3FN || dtype == NUM_DTYPE_F8E5M2;
}

static ptx_mod pair_mod(num_dtype dtype) {
    return dtype == NUM_DTYPE_F8E4M3FN ? PTX_MOD_E4M3X2 : PTX_MOD_E5M2X2;
}

static ptx_operand pair_to_f32(ptx_builder *b, num_dtype from, ptx_operand x, const ptx_operand *want) {
    ptx_operand pair = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT,
                                         PTX_MODS(PTX_MOD_RN, PTX_MOD_F16X2, pair_mod(from)), PTX_ARGS(x));
    ptx_operand halves[2] = {ptx_build_register(b, PTX_CLASS_HALF), ptx_build_register(b, PTX_CLASS_HALF)};
    ptx_operand group = ptx_build_group(b, PTX_OPERAND_VECTOR, halves, 2);
    ptx_build_emit(b, PTX_OP_MOV, PTX_MODS(PTX_MOD_B32), PTX_ARGS(group, pair));
    b->want = want;
    return ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_CVT, PTX_MODS(PTX_MOD_F32, PTX_MOD_F16),
                             PTX_ARGS(halves[0]));
}

/* ---- from narrow ---- */

/* e8m0: the byte is the exponent of a power of two; 0 is 2^-127, which float32 holds as a subnormal. */
static ptx_operand exponent_bits(ptx_builder *b, ptx_operand code) {
    ptx_operand bits = number(b, PTX_OP_SHL, PTX_MOD_B32, code, 23);
    return number(b, PTX_OP_MAX, unsigned_mod, bits, 0x400000);
}

/* The code's exponent and mantissa as those of a float32 are the number times 2^(bias - 127), subnormals too.
 */
static ptx_operand magnitude_bits(ptx_builder *b, const num_format *f, ptx_operand code) {
    ptx_operand bits = number(b, PTX_OP_SHL, PTX_MOD_B32, code, 23 - (int64_t)f->mantissa_bits);
    ptx_operand scaled = ptx_build_compute(
        b, PTX_CLASS_F32, PTX_OP_MUL, PTX_MODS(PTX_MOD_RN, PTX_MOD_F32),
        PTX_ARGS(as_float(b, bits), ptx_build_f32_bits(f32_bits(__builtin_ldexp(1, 127 - f->bias)))));
    return as_bits(b, scaled);
}

/* Gives the bits of codes that are no finite numbers. */
static ptx_operand special_bits(ptx_builder *b, const num_format *f, ptx_operand code, ptx_operand magnitude,
                                ptx_operand bits) {
    int64_t ones = ((int64_t)1 << (f->exponent_bits + f->mantissa_bits)) - 1;
    int64_t infinity = ones + 1 - ((int64_t)1 << f->mantissa_bits);
    ptx_operand nan = ptx_build_int(0x7fffffff), is_nan;
    switch (f->special) {
    case NUM_SPECIAL_IEEE: {
        ptx_operand sign = number(b, PTX_OP_AND, PTX_MOD_B32, bits, (int64_t)0x80000000u);
        ptx_operand infinite = number(b, PTX_OP_OR, PTX_MOD_B32, sign, 0x7f800000);
        bits = choose(b, compare(b, PTX_MOD_EQ, magnitude, infinity), infinite, bits);
        is_nan = compare(b, PTX_MOD_GT, magnitude, infinity);
        break;
    }
    case NUM_SPECIAL_ONES:
    case NUM_SPECIAL_UNSIGNED:
        is_nan = compare(b, PTX_MOD_EQ, magnitude, ones);
        break;
    case NUM_SPECIAL_SIGN:
        is_nan = compare(b, PTX_MOD_EQ, code, (int64_t)1 << (f->bits - 1));
        break;
    default:
        return bits;
    }
    return choose(b, is_nan, nan, bits);
}

ptx_operand ptx_build_narrow_to_f32(ptx_builder *b, num_dtype from, ptx_operand x) {
    const num_format *f = num_format_of(from);
    const ptx_operand *want = b->want;
    b->want = NULL;
    x = ptx_build_in_register(b, PTX_CLASS_BYTE, x);
    if (has_pair_form(from))
        return pair_to_f32(b, from, x, want);
    ptx_operand code =
        ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(unsigned_mod, PTX_MOD_U16), PTX_ARGS(x));
    ptx_operand magnitude = code, bits;
    if (f->special == NUM_SPECIAL_UNSIGNED) {
        bits = exponent_bits(b, code);
    } else {
        magnitude = number(b, PTX_OP_AND, PTX_MOD_B32, code, ((int64_t)1 << (f->bits - 1)) - 1);
        bits = magnitude_bits(b, f, magnitude);
        ptx_operand sign = number(b, PTX_OP_SHL, PTX_MOD_B32, code, 32 - (int64_t)f->bits);
        sign = number(b, PTX_OP_AND, PTX_MOD_B32, sign, (int64_t)0x80000000u);
        bits = word(b, PTX_OP_OR, PTX_MOD_B32, bits, sign);
    }
    bits = special_bits(b, f, code, magnitude, bits);
    b->want = want;
    return as_float(b, bits);
}

/* ---- to narrow ---- */

/* The magnitude rounded up to a power of two. */
static ptx_operand exponent_code(ptx_builder *b, ptx_operand magnitude) {
    ptx_operand code = number(b, PTX_OP_ADD, unsigned_mod, magnitude, 0x7fffff);
    code = number(b, PTX_OP_SHR, unsigned_mod, code, 23);
    code = number(b, PTX_OP_MIN, unsigned_mod, code, 254);
    return choose(b, compare(b, PTX_MOD_LE, magnitude, 0x400000), ptx_build_int(0), code);
}

/* Nearest even, overflow to the largest number: an addition carries into the code of a normal result; a
 * subnormal one is rounded by an addition of float32 whose unit is the smallest subnormal. */
static ptx_operand magnitude_code(ptx_builder *b, num_dtype to, const num_format *f, ptx_operand magnitude) {
    int64_t shift = 23 - (int64_t)f->mantissa_bits;
    double largest = num_decode(to, num_encode(to, 1e300, NUM_RN, true));
    magnitude = number(b, PTX_OP_MIN, unsigned_mod, magnitude, f32_bits(largest));
    ptx_operand odd = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_BFE, PTX_MODS(unsigned_mod),
                                        PTX_ARGS(magnitude, ptx_build_int(shift), ptx_build_int(1)));
    ptx_operand normal = number(b, PTX_OP_ADD, PTX_MOD_S32, magnitude,
                                (((int64_t)1 << (shift - 1)) - 1) - ((int64_t)(127 - f->bias) << 23));
    normal = word(b, PTX_OP_ADD, unsigned_mod, normal, odd);
    normal = number(b, PTX_OP_SHR, unsigned_mod, normal, shift);
    double unit = __builtin_ldexp(1, 23 + 1 - f->bias - (int)f->mantissa_bits);
    ptx_operand sum = ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_ADD, PTX_MODS(PTX_MOD_RN, PTX_MOD_F32),
                                        PTX_ARGS(as_float(b, magnitude), ptx_build_f32_bits(f32_bits(unit))));
    ptx_operand subnormal = number(b, PTX_OP_SUB, unsigned_mod, as_bits(b, sum), f32_bits(unit));
    double smallest_normal = __builtin_ldexp(1, 1 - f->bias);
    return choose(b, compare(b, PTX_MOD_LT, magnitude, f32_bits(smallest_normal)), subnormal, normal);
}

ptx_operand ptx_build_f32_to_narrow(ptx_builder *b, num_dtype to, ptx_operand x) {
    const num_format *f = num_format_of(to);
    if (has_pair_form(
            to)) /* the first operand goes to the upper byte (PTX ISA, cvt), so the value is the second */
        return ptx_build_compute(b, PTX_CLASS_BYTE, PTX_OP_CVT,
                                 PTX_MODS(PTX_MOD_RN, PTX_MOD_SATFINITE, pair_mod(to), PTX_MOD_F32),
                                 PTX_ARGS(ptx_build_f32(0), x));
    const ptx_operand *want = b->want;
    b->want = NULL;
    ptx_operand bits = as_bits(b, ptx_build_in_register(b, PTX_CLASS_F32, x));
    ptx_operand magnitude = number(b, PTX_OP_AND, PTX_MOD_B32, bits, 0x7fffffff), code;
    if (f->special == NUM_SPECIAL_UNSIGNED) {
        code = exponent_code(b, magnitude);
    } else {
        code = magnitude_code(b, to, f, magnitude);
        ptx_operand sign = number(b, PTX_OP_SHR, unsigned_mod, bits, 32 - (int64_t)f->bits);
        sign = number(b, PTX_OP_AND, PTX_MOD_B32, sign, (int64_t)1 << (f->bits - 1));
        ptx_operand signed_code = word(b, PTX_OP_OR, PTX_MOD_B32, code, sign);
        code = f->special == NUM_SPECIAL_SIGN
                   ? choose(b, compare(b, PTX_MOD_EQ, code, 0), ptx_build_int(0), signed_code)
                   : signed_code;
    }
    ptx_operand nan = ptx_build_int((int64_t)num_encode(to, __builtin_nan(""), NUM_RN, true));
    code = choose(b, compare(b, PTX_MOD_GT, magnitude, 0x7f800000), nan, code);
    b->want = want;
    return ptx_build_compute(b, PTX_CLASS_BYTE, PTX_OP_CVT, PTX_MODS(PTX_MOD_U16, unsigned_mod),
                             PTX_ARGS(code));
}

/* ---- to odd ---- */

/* Toward zero, and odd where that lost something: rounding the result to fewer than 23 digits is then
 * rounding the source once. */
ptx_operand ptx_build_f32_odd(ptx_builder *b, ptx_build_class class, ptx_mod from, ptx_operand x) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    x = ptx_build_in_register(b, class, x);
    ptx_operand cut =
        ptx_build_compute(b, PTX_CLASS_F32, PTX_OP_CVT, PTX_MODS(PTX_MOD_RZ, PTX_MOD_F32, from), PTX_ARGS(x));
    bool real = class == PTX_CLASS_F64;
    ptx_operand back =
        real ? ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(from, PTX_MOD_F32), PTX_ARGS(cut))
             : ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RZI, from, PTX_MOD_F32),
                                 PTX_ARGS(cut));
    ptx_operand lost = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP,
                                         PTX_MODS(real ? PTX_MOD_NEU : PTX_MOD_NE, from), PTX_ARGS(back, x));
    ptx_operand bits = as_bits(b, cut);
    bits = choose(b, lost, number(b, PTX_OP_OR, PTX_MOD_B32, bits, 1), bits);
    b->want = want;
    return as_float(b, bits);
}
