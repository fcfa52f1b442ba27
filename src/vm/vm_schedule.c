/* SPDX-License-Identifier: Apache-2.0
 * One CTA: its warps in turn, until all have exited, something stops it, or nothing can move. Deadlock: no
 * split can run; or every split that can only repeats polls, and shared and global memory have not changed
 * for very long. */
#include "vm/vm_copy.h"
#include "vm/vm_mbarrier.h"
#include "vm/vm_slot.h"
#include "vm/vm_proxy.h"
#include "vm/vm_race.h"
#include "vm/vm_tmem_machine.h"
#include "vm/vm_wgmma.h"

enum {
    STALL_ROUNDS = 2,         /* idle rounds after which other CTAs get their turn */
    TIMEOUT_ROUNDS = 1 << 10, /* failed waits in a row after which waiting for them is given up */
    DEADLOCK_ROUNDS = 1 << 14 /* idle rounds of a CTA that nobody else can wake */
};

static void *allocate_aligned(base_arena *arena, size_t size) {
    uintptr_t memory = (uintptr_t)base_arena_allocate(arena, size + 64);
    return (void *)((memory + 63) & ~(uintptr_t)63);
}

vm_cta *vm_schedule_create(vm_grid *run, base_arena *arena) {
    vm_cta *cta = allocate_aligned(arena, sizeof *cta);
    cta->run = run;
    cta->arena = arena;
    cta->recent[0] = cta->recent[1] = &run->allocations[run->allocation_count]; /* empty, behind the last */
    cta->linear = UINT64_MAX;
    cta->step_limit = run->launch->step_limit ? run->launch->step_limit : UINT64_MAX;
    cta->shared_bytes = run->shared_bytes;
    cta->shared = allocate_aligned(arena, run->shared_bytes);
    cta->warp_count = run->warps_per_cta;
    cta->warps = allocate_aligned(arena, cta->warp_count * sizeof *cta->warps);
    for (unsigned i = 0; i < VM_BARRIERS; i++)
        cta->barriers[i].pending = BASE_NEW_ARRAY(arena, uint32_t, cta->warp_count);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        vm_warp *warp = &cta->warps[i];
        warp->cta = cta;
        warp->index = i;
        uint32_t threads = run->threads_per_cta - i * VM_LANES;
        warp->lanes = threads >= VM_LANES ? VM_ALL_LANES : (1u << threads) - 1;
        warp->base[VM_REF_POOL] = run->pool - VM_REF_POOL;
        warp->base[VM_REF_WARP] = run->warp_rows + (size_t)i * VM_WARP_ROWS * VM_ROW_BYTES - VM_REF_WARP;
        warp->base[VM_REF_CTA] = (uint8_t *)cta->rows - VM_REF_CTA;
        vm_call_rows_reserve(warp, run->kernel->rows);
        vm_memory_local_reserve(warp, run->kernel->local_bytes);
    }
    return cta;
}

static void start_warp(vm_warp *warp, const vm_function *kernel) {
    vm_frame *frame = warp->splits[0].frame;
    if (!warp->resting) {
        while (warp->split_count) /* left over from a CTA that was stopped */
            vm_control_release(warp, warp->splits[--warp->split_count].frame);
        frame = vm_control_frame(warp);
        frame->function = kernel;
    }
    warp->resting = false;
    vm_wgmma_reset(warp);
    warp->live = warp->lanes;
    warp->split_count = 1;
    warp->current = 0;
    warp->steps = 0;
    warp->idle = false;
    warp->cluster_arrived = warp->cluster_owed = warp->registers = 0;
    warp->splits[0] = (vm_split){.pc = kernel->first_op, .mask = warp->lanes, .frame = frame};
    if (kernel->clears)
        memset(warp->rows, 0, (size_t)kernel->rows * VM_ROW_BYTES);
    if (kernel->local_bytes)
        memset(warp->local, 0, (size_t)kernel->local_bytes * VM_LANES);
}

/* The CTA's place in the grid; the next one along x costs no division. */
static void place_cta(vm_cta *cta, uint64_t linear) {
    const uint32_t *grid = cta->run->launch->grid;
    uint32_t rows = VM_CTA_Z + 1;
    if (linear == cta->linear + 1 && linear != 0 && cta->id[0] + 1 < grid[0]) {
        cta->id[0]++;
        rows = 1; /* only that of x changes */
    } else {
        cta->id[0] = (uint32_t)(linear % grid[0]);
        cta->id[1] = (uint32_t)(linear / grid[0] % grid[1]);
        cta->id[2] = (uint32_t)(linear / grid[0] / grid[1]);
    }
    cta->linear = cta->stop_key = linear;
    for (uint32_t i = 0; i < rows; i++)
        for (unsigned lane = 0; lane < VM_LANES; lane++)
            cta->rows[i][lane] = cta->id[i];
}

void vm_schedule_start(vm_cta *cta, uint64_t linear) {
    const vm_launch *launch = cta->run->launch;
    place_cta(cta, linear);
    if (cta->shared_bytes > VM_SHARED_RESERVED)
        memset(cta->shared, 0, cta->shared_bytes);
    vm_race_start(cta);
    for (uint32_t used = cta->open_barriers | cta->used_barriers; used; used &= used - 1) {
        unsigned i = (unsigned)__builtin_ctz(used);
        uint32_t *pending = cta->barriers[i].pending;
        memset(pending, 0, cta->warp_count * sizeof *pending);
        memset(&cta->barriers[i], 0, sizeof cta->barriers[i]);
        cta->barriers[i].pending = pending;
    }
    cta->open_barriers = cta->used_barriers = 0;
    if (cta->mbarriers != NULL)
        vm_mbarrier_start(cta);
    vm_slot_start(cta);
    if (cta->group == NULL && cta->async != NULL) {
        vm_async_reset(cta->async);
        vm_async_seed(cta->async, linear);
    }
    cta->exited = false;
    cta->registers = 0;
    vm_tmem_start(cta);
    vm_copy_start(cta);
    vm_proxy_start(cta);
    vm_tensor_start(cta);
    cta->live_warps = cta->warp_count;
    cta->steps = cta->writes = cta->seen_writes = cta->idle_rounds = 0;
    cta->parked = cta->timeouts = 0;
    cta->status = VM_COMPLETE;
    if (launch->schedule == VM_SCHEDULE_RANDOM)
        cta->random = base_hash_mix(launch->seed, linear);
    for (uint32_t i = 0; i < cta->warp_count; i++)
        start_warp(&cta->warps[i], cta->run->kernel);
}

/* ---- waits that somebody ends ---- */
void vm_schedule_park(vm_warp *warp, vm_park why, uint64_t detail) {
    vm_split *current = &warp->splits[warp->current];
    current->state = VM_SPLIT_PARKED;
    current->wait = why;
    current->detail = detail;
    warp->cta->parked++;
}

void vm_schedule_wake(vm_cta *cta, vm_park why, uint64_t detail) {
    for (uint32_t i = 0; cta->parked && i < cta->warp_count; i++) {
        vm_warp *warp = &cta->warps[i];
        for (uint32_t s = 0; s < warp->split_count; s++) {
            vm_split *split = &warp->splits[s];
            if (split->state != VM_SPLIT_PARKED || split->wait != (uint32_t)why ||
                (detail != UINT64_MAX && split->detail != detail))
                continue;
            split->state = VM_SPLIT_READY;
            cta->parked--;
            cta->writes++;
        }
    }
}

bool vm_schedule_time_out(vm_cta *cta) {
    bool any = false;
    for (uint32_t i = 0; cta->parked && i < cta->warp_count; i++)
        for (uint32_t s = 0; s < cta->warps[i].split_count; s++) {
            vm_split *split = &cta->warps[i].splits[s];
            if (split->state != VM_SPLIT_PARKED || split->wait != VM_PARK_MBARRIER)
                continue;
            split->state = VM_SPLIT_READY;
            split->timed_out = any = true;
            cta->parked--;
        }
    return any;
}

static void end(vm_cta *cta, vm_warp *warp) {
    const vm_grid *run = cta->run;
    if (run->stop || run->stop_at < cta->stop_key) {
        cta->status = VM_STOPPED;
        return;
    }
    if (warp->split_count) {
        vm_split *split = &warp->splits[warp->current < warp->split_count ? warp->current : 0];
        vm_finding *finding =
            vm_finding_add(cta, VM_FIND_STEP_LIMIT, split->pc, warp, vm_first_lane(split->mask));
        if (finding != NULL)
            finding->required = run->launch->step_limit;
    }
    cta->status = VM_STEP_LIMIT;
}

/* The order in which the warps take their turns: first to last, last to first, or shuffled anew each round
 * from the seed and the CTA's number, so that results do not depend on the workers. */
static void order_warps(vm_cta *cta, uint8_t order[32]) {
    uint32_t count = cta->warp_count;
    vm_schedule schedule = cta->run->launch->schedule;
    for (uint32_t i = 0; i < count; i++)
        order[i] = (uint8_t)(schedule == VM_SCHEDULE_LATE ? count - 1 - i : i);
    for (uint32_t i = count; schedule == VM_SCHEDULE_RANDOM && i > 1; i--) {
        cta->random = base_hash_mix(cta->random, i);
        uint32_t other = (uint32_t)(cta->random >> 32) % i;
        uint8_t swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
}

vm_progress vm_schedule_run(vm_cta *cta, bool alone) {
    uint64_t limit = cta->run->launch->step_limit;
    cta->budget = limit == 0 || limit / 16 >= VM_BUDGET ? VM_BUDGET : (uint32_t)(limit / 16) + 1;
    bool in_order = cta->in_order = cta->run->launch->schedule == VM_SCHEDULE_EARLY;
    for (uint64_t idle = 0;;) {
        bool moved = false, polled = false;
        cta->turn_moved = false;
        uint8_t order[32];
        if (!in_order)
            order_warps(cta, order);
        for (uint32_t i = 0; i < cta->warp_count; i++) {
            vm_warp *warp = &cta->warps[in_order ? i : order[i]];
            if (warp->live == 0)
                continue;
            vm_schedule_turn(warp);
            vm_leave leave = cta->run->level->run(warp);
            if (in_order) { /* warps that exited handed over */
                i = cta->turn;
                warp = &cta->warps[i];
            }
            uint64_t steps = warp->steps - warp->turn_steps;
            cta->steps += steps;
            if (leave == VM_LEAVE_HALT)
                return VM_CTA_DONE;
            if (leave == VM_LEAVE_EXITED)
                cta->live_warps--;
            bool only_polled = leave == VM_LEAVE_YIELD && warp->idle;
            polled |= only_polled;
            moved |= !only_polled && (steps != 0 || leave == VM_LEAVE_EXITED);
            warp->idle = false;
            if (vm_schedule_over(cta)) {
                end(cta, warp);
                return VM_CTA_DONE;
            }
        }
        if (cta->async != NULL && cta->run->launch->schedule == VM_SCHEDULE_RANDOM)
            vm_async_turn(cta->async);
        if (cta->live_warps == 0) {
            vm_async_leave(cta);
            vm_tmem_finish(cta);
            return VM_CTA_DONE;
        }
        moved |= cta->turn_moved;
        if (cta->group == NULL)
            moved |= vm_async_round(cta->async);
        if (moved || cta->writes != cta->seen_writes) {
            if (cta->writes != cta->seen_writes)
                cta->timeouts = 0;
            if (cta->timeouts == 0)
                cta->idle_rounds = idle = 0;
            cta->seen_writes = cta->writes;
            cta->moved = true;
            if (cta->group != NULL && cta->run->launch->schedule == VM_SCHEDULE_RANDOM)
                return VM_CTA_RUNNING; /* the others get their turn sooner */
            continue;
        }
        if (cta->group != NULL) {
            cta->polled = polled;
            return VM_CTA_STALLED;
        }
        if (vm_async_advance(cta->async))
            continue;
        if (cta->timeouts < TIMEOUT_ROUNDS && vm_schedule_time_out(cta)) {
            cta->timeouts++;
            continue;
        }
        if (vm_tmem_force(cta))
            continue;
        if (!polled || (alone && ++cta->idle_rounds > DEADLOCK_ROUNDS)) {
            vm_deadlock(cta);
            return VM_CTA_DONE;
        }
        if (!alone && ++idle > STALL_ROUNDS)
            return VM_CTA_STALLED;
    }
}
