/* SPDX-License-Identifier: Apache-2.0
 * Address slots of tensor memory: the 4 bytes of shared memory where tcgen05.alloc leaves its address. Data
 * that lands on one while somebody still takes the address from there is a finding at the write. */
#ifndef TIRC_VM_VM_SLOT_H
#define TIRC_VM_VM_SLOT_H
#include "vm/vm_internal.h"

/* alloc has written taddr there. */
void vm_slot_begin(vm_cta *cta, uint32_t offset, uint32_t taddr, uint32_t pc);
/* dealloc has given the columns at taddr back. */
void vm_slot_end(vm_cta *cta, uint32_t taddr);
/* Something else writes, or will write, [begin, end) of the CTA's shared memory. */
void vm_slot_written(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin, uint64_t end);
/* [begin, end) is read: reports when that was a slot, its value is another now, and the instruction's result
 * goes into the address of a tensor-memory instruction. */
void vm_slot_read(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin, uint64_t end);
void vm_slot_start(vm_cta *cta); /* forgets all: a CTA begins */
#endif
