/* SPDX-License-Identifier: Apache-2.0
 * CTA barriers 0 to 15 (PTX ISA 9.7.13.1). Since sm_70 each thread arrives for itself; a warp counts as 32
 * threads once all its live lanes have arrived, so that splits of a warp may come one after the other. */
#include "vm/vm_race.h"

/* Fields of op->imm. */
enum { KIND_SYNC, KIND_ARRIVE, KIND_REDUCE };
#define BARRIER_KIND(imm)   ((imm)&3)
#define BARRIER_REDUCE(imm) ((imm) >> 4 & 3) /* 1 and, 2 or, 3 popc */

static uint32_t threads_expected(const vm_cta *cta, const vm_barrier *barrier) {
    if (barrier->expected)
        return barrier->expected;
    /* all threads: warps that are alive, or have arrived in this phase and left */
    uint32_t warps = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        warps += cta->warps[i].live != 0 || barrier->contributed >> i & 1;
    return warps * VM_LANES;
}

static void release(vm_cta *cta, unsigned number) {
    vm_barrier *barrier = &cta->barriers[number];
    cta->events++;
    barrier->last_count = barrier->expected ? barrier->expected : cta->warp_count * VM_LANES;
    barrier->last_event = cta->events;
    cta->used_barriers |= 1u << number;
    if (barrier->expected == 0) /* of all threads: whoever has ended did so before */
        vm_race_ended(cta, &barrier->clock);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        vm_warp *warp = &cta->warps[i];
        for (uint32_t s = 0; s < warp->split_count; s++)
            if (warp->splits[s].state == VM_SPLIT_BARRIER && warp->splits[s].wait == number) {
                warp->splits[s].state = VM_SPLIT_RELEASED;
                warp->splits[s].result = barrier->accumulated;
                warp->acquired = cta->events; /* now, whenever it runs */
                vm_race_acquire(warp, warp->splits[s].mask, barrier->clock);
            }
        for (uint32_t s = 0; s < warp->split_count; s++)
            if (warp->splits[s].state == VM_SPLIT_RELEASED)
                vm_control_merge(warp, s);
    }
    if (barrier->expected == 0)
        vm_race_all_known(cta);
    vm_race_drop(cta, &barrier->clock);
    memset(barrier->pending, 0, cta->warp_count * sizeof *barrier->pending);
    barrier->active = false;
    cta->open_barriers &= ~(1u << number);
    barrier->arrived = barrier->contributed = barrier->expected = barrier->accumulated = 0;
    cta->writes++;
}

/* Marks a warp that has arrived completely, and releases the barrier when it was the last. */
static void advance(vm_cta *cta, unsigned number, uint32_t warp_index) {
    vm_barrier *barrier = &cta->barriers[number];
    uint32_t live = cta->warps[warp_index].live, pending = barrier->pending[warp_index];
    if (pending != 0 && (live & ~pending) == 0) {
        barrier->arrived += VM_LANES;
        barrier->contributed |= 1u << warp_index;
        barrier->pending[warp_index] = 0; /* it may arrive once more in this phase */
    }
    if (barrier->active && barrier->arrived >= threads_expected(cta, barrier))
        release(cta, number);
}

void vm_barrier_exit(vm_warp *warp) {
    for (uint32_t open = warp->cta->open_barriers; open; open &= open - 1)
        advance(warp->cta, (unsigned)__builtin_ctz(open), warp->index);
}

static void mismatch(vm_warp *warp, uint32_t pc, uint32_t mask, uint64_t had, uint64_t wanted) {
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_BARRIER_MISMATCH, pc, warp, vm_first_lane(mask));
    if (finding != NULL) {
        finding->size = had;
        finding->required = wanted;
    }
}

static void write_result(vm_warp *warp, const vm_op *op, uint32_t mask, uint32_t value) {
    uint32_t *d = vm_operand(warp, op->d);
    if (BARRIER_REDUCE(op->imm) == 3) {
        VM_FOR_LANES(lane, mask)
        d[lane] = value;
    } else {
        *d = (*d & ~mask) | (value ? mask : 0);
    }
}

static void accumulate(vm_warp *warp, const vm_op *op, uint32_t mask, vm_barrier *barrier, bool first) {
    uint32_t predicate = *(const uint32_t *)vm_operand(warp, op->c) & mask;
    switch (BARRIER_REDUCE(op->imm)) {
    case 1:
        barrier->accumulated = (first ? 1 : barrier->accumulated) && predicate == mask;
        break;
    case 2:
        barrier->accumulated = (first ? 0 : barrier->accumulated) || predicate;
        break;
    default:
        barrier->accumulated += (uint32_t)__builtin_popcount(predicate);
    }
}

vm_action vm_external_BARRIER(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_split *current = &warp->splits[warp->current];
    vm_cta *cta = warp->cta;
    uint32_t pc = current->pc;
    if (current->state == VM_SPLIT_RELEASED) {
        current->state = VM_SPLIT_READY;
        if (BARRIER_KIND(op->imm) == KIND_REDUCE)
            write_result(warp, op, mask, current->result);
        return VM_GO;
    }
    vm_warp_released(warp);
    uint32_t number = vm_operand32(warp, op->a, vm_first_lane(mask));
    uint32_t same = (op->a & 3) == VM_REF_POOL ? mask : 0; /* the pool has one number for all */
    VM_FOR_LANES(lane, mask & ~same)
    same |= (uint32_t)(vm_operand32(warp, op->a, lane) == number) << lane;
    if (same != mask) {
        vm_control_isolate(warp, same);
        return VM_AGAIN;
    }
    uint32_t expected = op->b != VM_REF_NONE ? vm_operand32(warp, op->b, vm_first_lane(mask)) : 0;
    uint32_t threads = cta->warp_count * VM_LANES;
    if (number >= VM_BARRIERS || (op->b != VM_REF_NONE && (expected == 0 || expected > threads))) {
        mismatch(warp, pc, mask, number >= VM_BARRIERS ? number : expected,
                 number >= VM_BARRIERS ? VM_BARRIERS : threads);
        cta->status = VM_FAULTED;
        return VM_HALT;
    }
    if (expected % VM_LANES != 0) {
        mismatch(warp, pc, mask, expected, VM_LANES);
        expected = (expected + VM_LANES - 1) / VM_LANES * VM_LANES;
    }
    vm_barrier *barrier = &cta->barriers[number];
    bool first = !barrier->active;
    if (first) {
        barrier->active = true;
        cta->open_barriers |= 1u << number;
        barrier->expected = expected;
        barrier->first_pc = pc;
    } else if (barrier->expected != expected) {
        uint32_t all = threads_expected(cta, barrier);
        if ((expected ? expected : threads) != all)
            mismatch(warp, pc, mask, expected ? expected : threads, all);
    }
    /* Two groups of threads with one barrier: nothing keeps this phase behind the one with another count. */
    uint32_t count = expected ? expected : threads;
    if (barrier->last_count != 0 && barrier->last_count != count && warp->acquired < barrier->last_event)
        mismatch(warp, pc, mask, count, barrier->last_count);
    barrier->pending[warp->index] |= mask;
    vm_race_release(warp, mask, &barrier->clock);
    if (BARRIER_KIND(op->imm) == KIND_REDUCE)
        accumulate(warp, op, mask, barrier, first);
    if (BARRIER_KIND(op->imm) == KIND_ARRIVE) {
        advance(cta, number, warp->index);
        return VM_GO;
    }
    current->state = VM_SPLIT_BARRIER;
    current->wait = number;
    advance(cta, number, warp->index);
    return VM_AGAIN;
}
