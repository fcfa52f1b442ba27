/* SPDX-License-Identifier: Apache-2.0
 * Groups of SMs. A kernel whose placement shows (clusters, tensor memory) runs in groups: as many SMs as a
 * cluster has CTAs, holding as many clusters at a time as fit. Group u runs the clusters u, u + G, u + 2G,
 * ... of G groups, each as soon as one before it has left. One worker runs a group from its begin to its end,
 * all its CTAs in one deterministic interleaving; groups share nothing, so they run in parallel. */
#ifndef TIRC_VM_VM_SM_H
#define TIRC_VM_VM_SM_H
#include "vm/vm_async.h"
#include "vm/vm_cluster.h"

enum {
    VM_SMS = 148,
    VM_SM_SHARED_BYTES = 228 * 1024,
    VM_SM_THREADS = 2048,
    VM_SM_CTAS = 32,
    VM_SM_REGISTERS = 65536
};

struct vm_group {
    vm_grid *run;
    base_arena *arena;
    uint64_t index;
    vm_sm sms[VM_CLUSTER_LIMIT];
    struct vm_async_queue *async;
    vm_cluster *slots; /* resident clusters; size 0: free */
    uint32_t slot_count;
    uint64_t next;       /* cluster to admit next; cluster_count or more: none is left */
    uint64_t oldest;     /* lowest number of a CTA that is not committed */
    uint64_t tmem_clock; /* counts the writes of tensor memory on all SMs of the group */
    uint32_t timeouts;
    uint64_t random;
    bool active; /* the last step did something, perhaps only fail a wait */
    bool failed;
};

/* vm_run.c uses these. */
vm_group *vm_group_create(vm_grid *run, base_arena *arena);
void vm_group_start(vm_group *group, uint64_t index);
typedef enum vm_group_step { VM_GROUP_DONE, VM_GROUP_MOVED, VM_GROUP_STALLED } vm_group_step;
vm_group_step vm_group_run(vm_group *group); /* every CTA until it waits */
/* Nothing moves: ends a wait. False: there is none that could be ended. */
bool vm_group_unblock(vm_group *group);
void vm_group_deadlock(vm_group *group);
bool vm_launch_groups(vm_grid *run, char *problem,
                      size_t size); /* sizes; false: problem says what is wrong */

/* For what hangs on the SM (tensor memory). */
void vm_sm_wake(vm_sm *sm); /* permit or columns have become free: VM_PARK_ALLOC of its CTAs */
#define VM_FOR_GROUP_CTAS(cta, group)                                                                        \
    for (uint32_t slot_##cta = 0; slot_##cta < (group)->slot_count; slot_##cta++)                            \
        for (uint32_t rank_##cta = 0; rank_##cta < (group)->slots[slot_##cta].size; rank_##cta++)            \
            for (vm_cta *cta = (group)->slots[slot_##cta].ctas[rank_##cta]; cta != NULL; cta = NULL)

/* clusterlaunchcontrol.try_cancel: takes the cluster that this group would start next; UINT64_MAX: none. */
uint64_t vm_group_cancel(vm_group *group);
void vm_cluster_place(const vm_grid *run, uint64_t cluster, uint32_t rank, uint32_t id[3]);
#endif
