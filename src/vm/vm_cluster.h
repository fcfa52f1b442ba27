/* SPDX-License-Identifier: Apache-2.0
 * CTAs of a cluster and their shared memory. A shared::cluster address is rank << 24 | offset, for the own
 * CTA too when the launch has clusters; an address without a cluster is an offset in the own CTA. */
#ifndef TIRC_VM_VM_CLUSTER_H
#define TIRC_VM_VM_CLUSTER_H
#include "vm/vm_internal.h"

#define VM_RANK_SHIFT 24
/* The CTA of the cluster that a shared address (an offset in the shared window) points into, and the offset
 * there. NULL: no such rank. */
vm_cta *vm_cluster_cta(vm_cta *cta, uint64_t address, uint32_t *offset);
/* The same for `size` bytes of an address in SHARED or GENERIC space, with checks; NULL after reporting. */
vm_cta *vm_cluster_shared(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                          uint64_t size, uint64_t align, bool store, uint32_t *offset);
/* The CTA of this rank, NULL when there is none. Rank 0 without a cluster is the CTA itself. */
vm_cta *vm_cluster_rank(vm_cta *cta, uint32_t rank);
uint32_t vm_cluster_size(const vm_cta *cta);
#endif
