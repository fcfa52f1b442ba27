/* SPDX-License-Identifier: Apache-2.0
 * Approximate instructions as an H200 computes them, to the last bit. Plain numbers in and out. */
#ifndef TIRC_VM_VM_APPROX_H
#define TIRC_VM_VM_APPROX_H
#include <stdbool.h>
#include <stdint.h>

typedef enum vm_approx {
    VM_APPROX_RCP,
    VM_APPROX_RSQRT,
    VM_APPROX_SQRT,
    VM_APPROX_SIN,
    VM_APPROX_COS,
    VM_APPROX_LG2,
    VM_APPROX_EX2,
    VM_APPROX_TANH
} vm_approx;

/* Bits of a float; ftz: the .ftz form. */
uint32_t vm_approx_f32(vm_approx function, bool ftz, uint32_t x);
/* div.approx and div.full: sequences around rcp. */
uint32_t vm_approx_div(bool full, bool ftz, uint32_t x, uint32_t y);
/* ex2 and tanh of 16-bit floats. */
uint16_t vm_approx_half(vm_approx function, bool is_bf16, uint16_t x);
/* rcp and rsqrt.approx.ftz.f64: upper words; the lower word does not count, and is 0 in the result. */
uint32_t vm_approx_f64(vm_approx function, uint32_t x);
#endif
