/* SPDX-License-Identifier: Apache-2.0
 * Instructions on tensor maps in memory, and reading one for a copy. */
#ifndef TIRC_VM_VM_TENSORMAP_H
#define TIRC_VM_VM_TENSORMAP_H
#include "vm/vm_internal.h"
#include "vm/vm_tensor_copy.h"

typedef enum vm_tensormap_kind {                       /* low 4 bits of imm */
                                 VM_TENSORMAP_REPLACE, /* extras: address, value; field << 4, ordinal << 8,
                                                          space << 12, wide << 16 */
                                 VM_TENSORMAP_COPY,    /* extras: global, shared address */
                                 VM_TENSORMAP_ACQUIRE  /* extras: generic address */
} vm_tensormap_kind;

/* The map at a generic address, read and checked; false after reporting. */
bool vm_tensormap_read(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, vm_tensor_map *map);
#endif
