/* SPDX-License-Identifier: Apache-2.0
 * Numbers: encode, decode and round every element type; integer helpers of a given width.
 * One function per meaning, shared by constant folding, the machine and the tests. */
#ifndef TIRC_NUM_NUM_H
#define TIRC_NUM_NUM_H
#include "num/dtype.h"

/* Rounding of a conversion: nearest even, toward zero, up, down, nearest ties away (PTX .rn .rz .rp .rm
 * .rna). */
typedef enum num_rounding { NUM_RN, NUM_RZ, NUM_RP, NUM_RM, NUM_RNA } num_rounding;

/* How a float format spells what is not a finite number. */
typedef enum num_special {
    NUM_SPECIAL_IEEE,    /* largest exponent: infinity when the mantissa is 0, else NaN */
    NUM_SPECIAL_ONES,    /* all ones below the sign is NaN; no infinity */
    NUM_SPECIAL_SIGN,    /* only the sign bit set is NaN; no infinity, no negative zero */
    NUM_SPECIAL_NONE,    /* finite numbers only */
    NUM_SPECIAL_UNSIGNED /* e8m0: no sign, no zero; all ones is NaN */
} num_special;
typedef struct num_format {
    unsigned bits, exponent_bits, mantissa_bits;
    int bias;
    num_special special;
    unsigned padding; /* low bits of the storage that carry nothing */
} num_format;
/* NULL when the dtype is no float. */
const num_format *num_format_of(num_dtype dtype);
extern const num_format num_format_ue5m3; /* a format of PTX that is no element type */

/* Value of an encoded float of any float dtype. Exact: every format here is a subset of double. */
double num_decode(num_dtype dtype, uint64_t bits);
/* Encodes a double with one rounding. saturate: overflow and infinity give the largest finite value (PTX
 * .satfinite); otherwise overflow gives infinity where the format has one, else NaN (where it has one, else
 * the largest finite value). As IEEE 754 says, a finite value that a directed rounding rounds toward zero
 * does not overflow: .rz of 1e6 to float16 is 65504. NaN gives the canonical NaN of PTX: 0x7fffffff, 0x7fff,
 * 0x7f ...; formats without NaN give the largest finite value. ue8m0 takes the magnitude. */
uint64_t num_encode(num_dtype dtype, double value, num_rounding rounding, bool saturate);

/* The same of a format. Without a sign (ue8m0, ue5m3) the magnitude is taken. */
double num_decode_format(const num_format *format, uint64_t bits);
uint64_t num_encode_format(const num_format *format, double value, num_rounding rounding, bool saturate);
/* Stochastic rounding (PTX .rs): the random number is added to as many of the digits that do not fit, from
 * the first on, and a carry rounds away from zero. random_bits: 1 to 31. */
uint64_t num_encode_stochastic(num_dtype dtype, double value, uint32_t random, unsigned random_bits,
                               bool saturate);

/* Fast forms, used on hot paths; they agree with the general ones on every input. Of NaNs, f16 gives
 * 0x7fffffff and bf16, which is a shift, keeps the bits. */
float num_f16_to_f32(uint16_t bits);
uint16_t num_f32_to_f16(float value); /* RN */
float num_bf16_to_f32(uint16_t bits);
uint16_t num_f32_to_bf16(float value); /* RN, NaN 0x7fff */

/* Integers are carried as int64_t holding the sign- or zero-extended value of their dtype. */
/* Keeps the low bits of the dtype, extended again. */
static inline int64_t num_wrap(num_dtype dtype, int64_t value) {
    if (dtype == NUM_DTYPE_BOOL)
        return value != 0;
    unsigned bits = num_dtype_bits(dtype);
    if (bits == 0 || bits >= 64)
        return value;
    uint64_t word = (uint64_t)value << (64 - bits);
    return num_dtype_class(dtype) == NUM_SIGNED ? (int64_t)word >> (64 - bits)
                                                : (int64_t)(word >> (64 - bits));
}
int64_t num_minimum(num_dtype dtype);  /* smallest value of an integer dtype */
uint64_t num_maximum(num_dtype dtype); /* largest value of an integer dtype */
/* Division. The divisor must not be 0; minimum / -1 wraps. The dtype says signedness. Operands are values of
 * the dtype, extended as above. */
int64_t num_floor_divide(num_dtype dtype, int64_t a, int64_t b);
int64_t num_floor_modulo(num_dtype dtype, int64_t a, int64_t b);
int64_t num_truncate_divide(num_dtype dtype, int64_t a, int64_t b);
int64_t num_truncate_modulo(num_dtype dtype, int64_t a, int64_t b);
int num_compare(num_dtype dtype, int64_t a, int64_t b); /* -1, 0, 1 */

/* Conversion as PTX cvt and C casts that stay in range do it: float to integer rounds and saturates, NaN
 * gives 0; integer to integer wraps. PTX gives 0 for NaN only when the source is not f64 and the destination
 * not 64 bits wide (PTX ISA 9.0, cvt): num_nan_to_integer. */
int64_t num_float_to_integer(num_dtype to, double value, num_rounding rounding);
int64_t num_nan_to_integer(num_dtype to, num_dtype from);
double num_integer_to_float(num_dtype from, int64_t value, num_dtype to, num_rounding rounding);

/* The casts of the language to a float: one rounding of the exact value, to nearest even. Formats of 8 bits
 * and fewer saturate, as PTX converts to them with .satfinite only; e8m0 rounds the magnitude up, as
 * cuda_fp8.h does (PTX has .rz and .rp). */
num_rounding num_cast_rounding(num_dtype to);
double num_cast_real(num_dtype to, double value);
double num_cast_integer(num_dtype to, num_dtype from, int64_t value);
#endif
