/* SPDX-License-Identifier: Apache-2.0
 * The matrix instructions of a warp in the machine; only src/vm includes it. */
#ifndef TIRC_VM_VM_MATRIX_WARP_H
#define TIRC_VM_VM_MATRIX_WARP_H
#include "vm/vm_internal.h"

/* imm of LDMATRIX and STMATRIX: matrices, and these. Operands: the address (64 bits), then the registers. */
enum {
    VM_MATRIX_TRANSPOSED = 8,
    VM_MATRIX_16X16 = 16,
    VM_MATRIX_BYTES = 32,  /* elements of 8 bits */
    VM_MATRIX_FROM_4 = 64, /* .b4x16_p64 */
    VM_MATRIX_FROM_6 = 128,
    VM_MATRIX_GENERIC = 256
};

/* All live lanes of the warp must execute an .aligned instruction together. False: answer *action. Lanes that
 * have exited or never were are a finding. */
bool vm_matrix_gather(vm_warp *warp, uint32_t mask, vm_action *action);
/* 90 for a module whose target is sm_90a. */
unsigned vm_matrix_sm(const vm_grid *run);
#endif
