/* SPDX-License-Identifier: Apache-2.0
 * CTAs of a cluster and their shared memory. A shared::cluster address is rank << 24 | offset, for the own
 * CTA too when the launch has clusters; an address without a cluster is an offset in the own CTA. */
#ifndef TIRC_VM_VM_CLUSTER_H
#define TIRC_VM_VM_CLUSTER_H
#include "vm/vm_internal.h"

#define VM_RANK_SHIFT 24
enum { VM_CLUSTER_LIMIT = 16 };

/* The CTAs of one cluster, and barrier.cluster (PTX ISA 9.7.13.4). A CTA without a cluster is one of its own.
 */
struct vm_cluster {
    uint64_t index;                 /* in the grid */
    uint32_t size, left;            /* CTAs; those that have not ended. size 0: free */
    uint64_t phase;                 /* barriers completed */
    vm_cta *ctas[VM_CLUSTER_LIMIT]; /* by rank */
    struct vm_clock *race_arrived,
        *race_done; /* vm_race.h: what the barrier of this phase, and those before, pass on */
};

/* The CTA of the cluster that a shared address (an offset in the shared window) points into, and the offset
 * there. NULL: no such rank. */
vm_cta *vm_cluster_cta(vm_cta *cta, uint64_t address, uint32_t *offset);
/* The same for `size` bytes of an address in SHARED or GENERIC space, with checks; NULL after reporting. */
vm_cta *vm_cluster_shared(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                          uint64_t size, uint64_t align, bool store, uint32_t *offset);
/* The CTA of this rank, NULL when there is none. Rank 0 without a cluster is the CTA itself. */
vm_cta *vm_cluster_rank(vm_cta *cta, uint32_t rank);
uint32_t vm_cluster_size(const vm_cta *cta);
/* An access to shared memory of a CTA of the cluster that has ended. */
void vm_cluster_report_exited(vm_warp *warp, uint32_t pc, unsigned lane, const vm_cta *owner,
                              uint64_t offset);
vm_cluster *vm_cluster_of(vm_cta *cta); /* its cluster, or one of its own */
/* Lanes, or the whole CTA, have ended: the barrier of the cluster may complete. */
void vm_cluster_exit(vm_cta *cta);
/* "waits at the barrier of the cluster, for ..." */
void vm_cluster_describe(const vm_cta *cta, base_builder *text);
#endif
