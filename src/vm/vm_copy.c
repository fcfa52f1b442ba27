/* SPDX-License-Identifier: Apache-2.0
 * What copies share: their state in a CTA, targets in shared memory of a cluster, ranges in flight, groups,
 * and st.bulk (PTX ISA 9.7.9.13, 9.7.9.25). */
#include "vm/vm_copy.h"
#include "vm/vm_cluster.h"
#include "vm/vm_mbarrier.h"
#include "vm/vm_proxy.h"
#include "vm/vm_race.h"

struct vm_copy_cta *vm_copy_state(vm_cta *cta) {
    if (cta->copies == NULL) {
        cta->copies = BASE_NEW(cta->arena, struct vm_copy_cta);
        cta->copies->threads = BASE_NEW_ARRAY(cta->arena, vm_copy_thread, (size_t)cta->warp_count * VM_LANES);
    }
    return cta->copies;
}

void vm_copy_start(vm_cta *cta) {
    if (cta->copies == NULL)
        return;
    memset(cta->copies->threads, 0, sizeof(vm_copy_thread) * cta->warp_count * VM_LANES);
    cta->copies->edited.count = 0;
}

void vm_copy_finish(vm_cta *cta) {
    for (uint32_t w = 0; cta->copies != NULL && w < cta->warp_count; w++)
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            const vm_copy_thread *thread = &cta->copies->threads[w * VM_LANES + lane];
            if (thread->bulk_issued > thread->bulk_read)
                vm_finding_add(cta, VM_FIND_COPY_EXIT, thread->bulk_pc, &cta->warps[w], lane);
        }
    vm_copy_start(cta);
}

vm_finding *vm_copy_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, ptx_space space,
                           uint64_t address, uint64_t size, uint64_t required, bool store) {
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, lane);
    if (finding == NULL)
        return NULL;
    finding->space = space;
    finding->address = address;
    finding->size = size;
    finding->required = required;
    finding->is_store = store;
    return finding;
}

void vm_copy_range(vm_async *operation, unsigned lane, vm_range range) {
    vm_cta *cta = range.cta ? range.cta : operation->cta;
    if (range.begin >= range.end || operation->range_count >= VM_ASYNC_RANGES)
        return;
    bool busy = range.space != VM_RANGE_SHARED; /* of shared memory, the counters say */
    for (uint64_t g = range.begin / VM_FLIGHT_GRANULE;
         !busy && (cta->flights || cta->guards) && g <= (range.end - 1) / VM_FLIGHT_GRANULE; g++)
        busy = (cta->flights && cta->flight[g] != 0) || (range.write && cta->guards && cta->guard[g] != 0);
    if (busy)
        vm_async_conflict(operation->warp, operation->pc, lane, &range, operation);
    operation->ranges[operation->range_count++] = range;
}

/* ---- shared memory ---- */
static bool fits(vm_warp *warp, uint32_t pc, unsigned lane, const vm_cta *cta, uint64_t address,
                 uint32_t offset, uint32_t bytes, uint32_t align, bool store) {
    if (offset % align != 0) {
        vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, PTX_SPACE_SHARED, address, bytes, align, store);
        return false;
    }
    if (cta == NULL || bytes > cta->shared_bytes || offset > cta->shared_bytes - bytes) {
        vm_copy_report(warp, VM_FIND_COPY_EXTENT, pc, lane, PTX_SPACE_SHARED, address, bytes,
                       cta ? cta->shared_bytes : 0, store);
        return false;
    }
    return true;
}

bool vm_copy_own(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, uint32_t bytes, uint32_t align,
                 bool store, uint32_t *offset) {
    vm_cta *cta = vm_cluster_cta(warp->cta, address, offset);
    if (cta != NULL && cta != warp->cta) {
        vm_copy_report(warp, VM_FIND_COPY_CTA, pc, lane, PTX_SPACE_SHARED, address, cta->rank,
                       warp->cta->rank, store);
        return false;
    }
    return fits(warp, pc, lane, cta, address, *offset, bytes, align, store);
}

/* The barrier's CTA for a target: its own, or with .cta_group::2 the one of its pair that has the parity of
 * the CTA that the operand names (PTX ISA 9.7.9.25.5.2). */
static vm_cta *barrier_cta(const vm_copy_place *place, vm_cta *target, const vm_cta *named) {
    if (!(place->imm & VM_COPY_PAIR))
        return target;
    return vm_cluster_rank(target, (target->rank & ~1u) | (named->rank & 1u));
}

uint32_t vm_copy_targets(vm_warp *warp, uint32_t pc, unsigned lane, const vm_copy_place *place,
                         vm_copy_target targets[VM_COPY_TARGETS]) {
    uint32_t offset = 0, barrier = 0, count = 0;
    vm_cta *to = vm_cluster_cta(warp->cta, place->to, &offset);
    if (!fits(warp, pc, lane, to, place->to, offset, place->bytes, place->align, true))
        return 0;
    vm_cta *named = vm_cluster_shared(warp, pc, lane, VM_SHARED, place->barrier, 8, 8, true, &barrier);
    if (named == NULL)
        return 0;
    if (!(place->imm & VM_COPY_CLUSTER) && to != warp->cta) {
        vm_copy_report(warp, VM_FIND_COPY_CTA, pc, lane, PTX_SPACE_SHARED, place->to, to->rank,
                       warp->cta->rank, true);
        return 0;
    }
    if (!(place->imm & VM_COPY_MULTICAST)) {
        vm_cta *wanted = barrier_cta(place, to, named);
        if (wanted != named) /* another CTA's barrier */
            vm_copy_report(warp, VM_FIND_COPY_BARRIER, pc, lane, PTX_SPACE_SHARED, place->barrier,
                           named->rank, to->rank, true);
        targets[count++] = (vm_copy_target){to, offset, named, barrier};
        return count;
    }
    uint32_t present = 0;
    for (uint32_t rank = 0; rank < VM_COPY_TARGETS; rank++) {
        vm_cta *cta = place->mask >> rank & 1 ? vm_cluster_rank(warp->cta, rank) : NULL;
        vm_cta *signalled = cta ? barrier_cta(place, cta, named) : NULL;
        if (signalled == NULL)
            continue;
        present |= 1u << rank;
        targets[count++] = (vm_copy_target){cta, offset, signalled, barrier};
    }
    if (place->mask == 0 || present != place->mask)
        vm_copy_report(warp, VM_FIND_COPY_MASK, pc, lane, PTX_SPACE_SHARED, place->to, place->mask,
                       vm_cluster_size(warp->cta), true);
    return count;
}

/* ---- groups ---- */
typedef struct group_wait {
    const vm_warp *warp;
    uint32_t mask;
    vm_async_class class;
    const uint32_t *limits; /* per lane: groups below it */
} group_wait;

static bool in_group(const vm_async *operation, void *user) {
    const group_wait *wait = user;
    uint32_t lanes = operation->mask & wait->mask;
    if (operation->class != wait->class || operation->warp != wait->warp || operation->group == UINT32_MAX)
        return false;
    VM_FOR_LANES(lane, lanes) {
        if (operation->group < wait->limits[lane])
            return true;
    }
    return false;
}

static void wait_for(vm_warp *warp, uint32_t mask, vm_async_class class, uint32_t pending) {
    vm_copy_thread *threads = vm_copy_threads(warp);
    uint32_t limits[VM_LANES] = {0};
    VM_FOR_LANES(lane, mask) {
        vm_copy_thread *thread = &threads[lane];
        uint32_t committed = class == VM_ASYNC_COPY ? thread->committed : thread->bulk_committed;
        limits[lane] = committed > pending ? committed - pending : 0;
        if (class == VM_ASYNC_BULK_STORE && thread->bulk_read < limits[lane])
            thread->bulk_read = limits[lane];
    }
    group_wait wait = {warp, mask, class, limits};
    vm_async_finish(warp->cta, in_group, &wait);
}

/* ---- cp.async.mbarrier.arrive ---- */
typedef struct arrival {
    vm_cta *cta;
    uint32_t offset, count;
} arrival;

static void complete_arrive(vm_async *operation) {
    const arrival *a = (const arrival *)(const void *)operation->of.bytes;
    vm_async_signal(operation, a->cta, a->offset, a->count, 0);
}

/* Arrives once the copies that the threads have started are complete. Lanes with one barrier go together. */
static void arrive(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t mask) {
    uint32_t pc = warp->splits[warp->current].pc;
    vm_space space = op->imm & VM_COPY_STEP_GENERIC ? VM_GENERIC : VM_SHARED;
    while (mask) {
        unsigned first = vm_first_lane(mask);
        uint64_t address = vm_operand64(warp, list[0], first);
        uint32_t together = 0, offset = 0;
        VM_FOR_LANES(lane, mask) {
            if (vm_operand64(warp, list[0], lane) == address)
                together |= 1u << lane;
        }
        mask &= ~together;
        vm_cta *cta = vm_cluster_shared(warp, pc, first, space, address, 8, 8, true, &offset);
        if (cta == NULL)
            continue;
        vm_async *operation = vm_async_new(warp, VM_ASYNC_COPY, together);
        operation->complete = complete_arrive;
        operation->order = vm_copy_order(warp, 0);
        operation->group = UINT32_MAX;
        arrival *a = (arrival *)(void *)operation->of.bytes;
        *a = (arrival){cta, offset, (uint32_t)__builtin_popcount(together)};
        if (VM_COPY_STEP(op->imm) == VM_COPY_ARRIVE)
            vm_mbarrier_increment(operation, cta, offset, a->count);
        vm_async_issue(operation);
    }
}

vm_action vm_external_COPY_GROUP(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_copy_thread *threads = vm_copy_threads(warp);
    vm_copy_step step = VM_COPY_STEP(op->imm);
    switch (step) {
    case VM_COPY_COMMIT:
    case VM_COPY_BULK_COMMIT:
        VM_FOR_LANES(lane, mask) {
            if (step == VM_COPY_COMMIT)
                threads[lane].committed++;
            else
                threads[lane].bulk_committed++;
        }
        break;
    case VM_COPY_WAIT_ALL: /* commit_group, wait_group 0 */
        VM_FOR_LANES(lane, mask) {
            threads[lane].committed++;
        }
        wait_for(warp, mask, VM_ASYNC_COPY, 0);
        break;
    case VM_COPY_WAIT:
        wait_for(warp, mask, VM_ASYNC_COPY, VM_COPY_STEP_COUNT(op->imm));
        break;
    case VM_COPY_BULK_WAIT:
    case VM_COPY_BULK_WAIT_READ:
        wait_for(warp, mask, VM_ASYNC_BULK_STORE, VM_COPY_STEP_COUNT(op->imm));
        break;
    case VM_COPY_ARRIVE:
    case VM_COPY_ARRIVE_NO_INCREMENT:
        arrive(warp, op, list, mask);
        break;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}

/* ---- st.bulk: zeros, at once ---- */
vm_action vm_external_STORE_BULK(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_operand64(warp, list[0], lane), size = vm_operand64(warp, list[1], lane);
        uint32_t offset = 0;
        vm_space space = op->imm ? VM_SHARED : VM_GENERIC;
        if (size % 8 != 0) {
            vm_copy_report(warp, VM_FIND_COPY_SIZE, pc, lane, PTX_SPACE_SHARED, address, size, 8, true);
            size &= ~7ull;
        }
        if (address % 8 != 0) {
            vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, PTX_SPACE_SHARED, address, size, 8, true);
            continue;
        }
        vm_cta *cta = vm_cluster_shared(warp, pc, lane, space, address, size, 8, true, &offset);
        if (cta == NULL)
            continue;
        vm_range range = {
            .space = VM_RANGE_SHARED, .write = true, .cta = cta, .begin = offset, .end = offset + size};
        if ((cta->flights || cta->guards) && size)
            vm_async_conflict(warp, pc, lane, &range, NULL);
        vm_race_touch(warp, pc, lane, cta, offset, (uint32_t)size, VM_RACE_WRITE);
        memset(cta->shared + offset, 0, size);
        if (cta == warp->cta)
            vm_proxy_write(warp, offset, (uint32_t)size);
        warp->cta->writes++;
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
