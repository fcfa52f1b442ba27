/* SPDX-License-Identifier: Apache-2.0
 * One element of a matrix product: d = c + sum of a[k] * b[k], in the three named numeric models of the
 * machine. Exact, scalar and slow: the reference for the fast kernels of mma.sync, wgmma and tcgen05. Knows
 * no registers, fragments or descriptors.
 *
 * hw: what tensor cores do. Every product is exact; it has the exponent eA + eB of its factors, so that its
 *   significand lies in [0, 4). All products of one step and the accumulator are cut toward zero `fraction`
 *   bits below the largest exponent among them and added exactly; the sum is rounded once: f32 toward zero,
 *   f16 to nearest even. Source: microsoft/MMA-Sim c7851383 and arXiv 2511.10909, which report bit equality
 *   with hardware; arXiv 2512.07004 agrees in kind.
 * fp32: one fused multiply-add in f32 for each k, in increasing order; an f16 result is rounded at the end.
 * exact: the exact sum, rounded to nearest even once. */
#ifndef TIRC_VM_VM_FUSED_SUM_H
#define TIRC_VM_VM_FUSED_SUM_H
#include "num/num.h"

typedef enum vm_numerics { VM_NUMERICS_HW, VM_NUMERICS_FP32, VM_NUMERICS_EXACT } vm_numerics;

typedef enum vm_fused_class { VM_FUSED_FINITE, VM_FUSED_INFINITE, VM_FUSED_NAN } vm_fused_class;
/* (-1)^negative * significand * 2^(exponent - fraction). The exponent is that of the format: a subnormal
 * keeps the smallest one and has no leading bit. */
typedef struct vm_fused_value {
    uint8_t class; /* vm_fused_class */
    bool negative;
    uint8_t fraction; /* bits of the significand after the point */
    int16_t exponent;
    uint32_t significand;
} vm_fused_value;

typedef enum vm_fused_unit { VM_FUSED_MMA, VM_FUSED_WGMMA, VM_FUSED_TCGEN05 } vm_fused_unit;
typedef struct vm_fused_model {
    vm_numerics numerics;
    num_dtype output;        /* NUM_DTYPE_F32 or NUM_DTYPE_F16; c has the same type */
    uint8_t fraction;        /* hw: bits kept below the largest exponent */
    uint8_t output_fraction; /* hw: bits after the point that an f32 result keeps */
    uint16_t step;           /* hw: products added at once; 0: all */
    uint16_t group;          /* hw: products that are added exactly, then scaled as one term; 0: none */
    uint8_t scale_c;         /* c counts 2^-scale_c times (scale-input-d of tcgen05.mma) */
} vm_fused_model;

/* The exponent that zero has while the largest is looked for (MMA-Sim). */
#define VM_FUSED_ZERO_EXPONENT (-126)

const char *vm_numerics_name(vm_numerics numerics); /* "hw", "fp32", "exact" */
/* Any float dtype up to 32 bits; tf32 drops the 13 low bits; ue4m3 is f8e4m3fn without its sign. */
vm_fused_value vm_fused_decode(num_dtype dtype, uint32_t bits);

/* Parameters of a unit of the processor `sm` (90, 100 ...) for these inputs; k is the instruction's. For
 * block-scaled kinds `block_scale` is set. */
vm_fused_model vm_fused_model_of(vm_numerics numerics, unsigned sm, vm_fused_unit unit, num_dtype input,
                                 unsigned k, num_dtype output, bool block_scale);

/* a and b have `count` values; scale_a and scale_b (both or none) one for every `block` products. c and the
 * result are encoded in model->output. */
uint32_t vm_fused_sum(const vm_fused_model *model, unsigned count, const vm_fused_value *a,
                      const vm_fused_value *b, const vm_fused_value *scale_a, const vm_fused_value *scale_b,
                      unsigned block, uint32_t c);

/* The last step of hw: sign * magnitude * 2^exponent as an f32 that keeps `output_fraction` bits after the
 * point (toward zero) or as f16 (to nearest even). Past the largest finite number stands infinity; zero is
 * positive. */
uint32_t vm_fused_round(const vm_fused_model *model, bool negative, uint64_t magnitude, int exponent);
#endif
