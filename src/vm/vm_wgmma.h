/* SPDX-License-Identifier: Apache-2.0
 * wgmma (PTX ISA 9.7.15): shared-memory matrix descriptors as data, and the warpgroup instructions in the
 * machine; only src/vm includes it. */
#ifndef TIRC_VM_VM_WGMMA_H
#define TIRC_VM_VM_WGMMA_H
#include "vm/vm_internal.h"
#include "vm/vm_matrix.h"

/* ---- descriptors (9.7.15.5.1.2.2) ---- */
typedef struct vm_wgmma_matrix {
    uint32_t start, leading, stride; /* bytes */
    uint32_t swizzle;                /* bytes of a row of the pattern: 32, 64, 128; 0: none */
    uint32_t base;                   /* base offset: where the pattern starts, in units of 128 bytes */
    bool major;                      /* M- or N-major: neighbours in M or N are adjacent */
    uint32_t bits;                   /* of an element */
} vm_wgmma_matrix;

vm_wgmma_matrix vm_wgmma_decode(uint64_t descriptor, bool major, uint32_t bits);
/* What PTX forbids, or NULL: reserved bits, a start inside the swizzle pattern. */
const char *vm_wgmma_problem(uint64_t descriptor);
/* Shared address of the byte that holds element (mn, k); for elements of less than 8 bits k is that of the
 * byte's first one. */
uint32_t vm_wgmma_address(const vm_wgmma_matrix *matrix, uint32_t mn, uint32_t k);
/* Smallest range of addresses [begin, end) around all of mn < rows, k < columns. */
void vm_wgmma_range(const vm_wgmma_matrix *matrix, uint32_t rows, uint32_t columns, uint64_t *begin,
                    uint64_t *end);

/* ---- the machine ---- */
/* Operands of WGMMA: D (written), D (read), then A's four registers or its descriptor, B's descriptor,
 * scale-d. */
typedef struct vm_wgmma_form {
    vm_matrix_form matrix; /* of one warp: m is 16 */
    bool a_shared, a_major, b_major;
} vm_wgmma_form;
bool vm_wgmma_form_read(const ptx_instruction *instruction, vm_wgmma_form *form);

typedef enum vm_wgmma_group { VM_WGMMA_FENCE, VM_WGMMA_COMMIT, VM_WGMMA_WAIT, VM_WGMMA_END } vm_wgmma_group;
/* imm of WGMMA_GROUP: vm_wgmma_group | groups that may stay pending << 8 */

/* WGMMA_TOUCH: how a register is accessed, beside its number. */
#define VM_WGMMA_WRITTEN 0x80000000u
#define VM_WGMMA_COPIED  0x40000000u /* by mov: the operation completes first */

/* One wgmma of a warp that no wait has covered. */
typedef struct vm_wgmma_flight {
    uint32_t group, pc;
    uint32_t number; /* of the warp's wgmmas */
    uint32_t list, d_count,
        count; /* extras: its registers from list on; the first d_count are accumulators */
} vm_wgmma_flight;
typedef struct vm_wgmma_warp vm_wgmma_warp;
enum { VM_WGMMA_RECENT = 16 };
struct vm_wgmma_warp {
    uint32_t group; /* number of the group that is being filled */
    uint32_t issued;
    uint32_t waits_at; /* pc of the wgmma.mma_async that it has come to and not issued; UINT32_MAX: none */
    uint64_t recent[VM_WGMMA_RECENT][3]; /* descriptors and pc of the last ones, by number */
    BASE_VECTOR(vm_wgmma_flight) flights;
};
void vm_wgmma_reset(vm_warp *warp); /* a CTA starts */
/* Of a split that is parked at a wgmma.mma_async: which warps of the warpgroup have not come, and whether
 * they have ended. */
void vm_wgmma_describe(const vm_warp *warp, base_builder *text);

#endif
