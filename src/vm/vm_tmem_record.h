/* SPDX-License-Identifier: Apache-2.0
 * What a launch asked to be remembered of its use of tensor memory (vm_launch.tmem_history): an event for
 * each kind, warp and instruction. For the files that execute tcgen05 instructions; they ask vm_tmem_recorded
 * first. */
#ifndef TIRC_VM_VM_TMEM_RECORD_H
#define TIRC_VM_VM_TMEM_RECORD_H
#include "vm/vm_tmem_machine.h"

static inline bool vm_tmem_recorded(const vm_cta *cta) {
    return cta->run->launch->tmem_history;
}
/* ALLOCATE, FREE and RELINQUISH (of no columns). */
void vm_tmem_record_columns(vm_cta *cta, vm_tmem_event_kind kind, uint32_t pc, uint32_t warp, uint32_t column,
                            uint32_t columns, bool pair);
/* An instruction touches these areas, in the CTA or in both of a pair. */
void vm_tmem_record_access(vm_warp *warp, vm_tmem_event_kind kind, uint32_t pc, const vm_tmem_area *areas,
                           uint32_t area_count, uint32_t registers, bool pair, unsigned lane);
/* The load or store at `pc` of this warp is waited for by the instruction at `by`. */
void vm_tmem_record_waited(vm_warp *warp, vm_tmem_event_kind kind, uint32_t pc, uint32_t by);
/* A commit: of everything that this warp has issued since its last one. offset: of the mbarrier, in
 * so many CTAs. */
void vm_tmem_record_commit(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t offset, uint32_t targets,
                           bool pair);
/* Somebody has waited for what that commit signalled to the barrier of that CTA (vm_cta.observer). */
void vm_tmem_record_committed(vm_warp *warp, uint32_t pc, const vm_cta *barrier, uint32_t offset);
/* Copies events into the arena. */
vm_tmem_event *vm_tmem_record_copy(base_arena *arena, const vm_tmem_event *events, size_t count);
/* Have two CTAs done the same? */
bool vm_tmem_record_same(const vm_tmem_event *a, const vm_tmem_event *b, size_t count);
#endif
