/* SPDX-License-Identifier: Apache-2.0
 * Fast conversions between float and the 16-bit formats: branches only on what is rare, no table, no libm.
 * tests/unit/num_fast.c holds them against the general forms. */
#include "num/num.h"
#include <string.h>

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float num_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t code = bits & 0x7fffu;
    if (code > 0x7c00u)
        return as_float(0x7fffffffu);
    if (code == 0x7c00u)
        return as_float(sign | 0x7f800000u);
    /* The code as a float's exponent and mantissa is the number times 2^-112; a subnormal is taken the same
     * way, as a float with its leading one added and subtracted again. */
    if (code < 0x0400u)
        return as_float(sign | as_bits(as_float(0x38800000u | code << 13) - as_float(0x38800000u)));
    return as_float(sign | ((code << 13) + (112u << 23)));
}

uint16_t num_f32_to_f16(float value) {
    uint32_t bits = as_bits(value);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    uint32_t code = bits & 0x7fffffffu;
    if (code >= 0x47800000u) /* 65536 and up */
        return code > 0x7f800000u ? 0x7fffu : (uint16_t)(sign | 0x7c00u);
    if (code < 0x38800000u) /* below 2^-14: let float addition round at 2^-24 */
        return (uint16_t)(sign | (as_bits(as_float(code) + 0.5f) - as_bits(0.5f)));
    code += 0xfffu + (code >> 13 & 1u);
    return (uint16_t)(sign | ((code >> 13) - (112u << 10)));
}

/* A shift, as hardware does it: the bits of a NaN stay. */
float num_bf16_to_f32(uint16_t bits) {
    return as_float((uint32_t)bits << 16);
}

uint16_t num_f32_to_bf16(float value) {
    uint32_t bits = as_bits(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
