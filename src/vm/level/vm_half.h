/* SPDX-License-Identifier: Apache-2.0
 * fp16 and bf16 conversions in a form that vectorises; they agree with num on every input
 * (tests/unit/vm_lanes.c). */
#ifndef TIRC_VM_HALF_H
#define TIRC_VM_HALF_H
#include "vm/level/vm_level.h"

static inline f32 half_f16_decode(u32 h) {
    u32 magnitude = (h & 0x7fff) << 13;
    f32 finite = vm_float32(magnitude) * 0x1p112f;
    u32 bits =
        magnitude >= 0x0f800000u ? (magnitude == 0x0f800000u ? 0x7f800000u : 0x7fffffffu) : vm_bits32(finite);
    return vm_float32(bits == 0x7fffffffu ? bits : bits | (h & 0x8000) << 16);
}
static inline u32 half_f16_encode(f32 x) {
    u32 bits = vm_bits32(x), magnitude = bits & 0x7fffffffu, sign = bits >> 16 & 0x8000;
    /* below 2^-14: adding one half rounds at 2^-24, the step of subnormals */
    u32 subnormal = vm_bits32(vm_float32(magnitude) + 0.5f) - 0x3f000000u;
    u32 normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000u) >> 13;
    u32 result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00 : result;
    return magnitude > 0x7f800000u ? 0x7fff : sign | result;
}
static inline f32 half_bf16_decode(u32 h) {
    u32 bits = h << 16;
    return vm_float32((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}
static inline u32 half_bf16_encode(f32 x) {
    u32 bits = vm_bits32(x);
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#endif
