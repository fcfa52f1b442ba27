/* SPDX-License-Identifier: Apache-2.0
 * cp.async (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes a thread from global to shared memory; what the source does
 * not fill is zero. The lanes of an instruction are one operation, as far as their groups and places allow.
 */
#include "vm/vm_copy.h"
#include "vm/vm_proxy.h"
#include "vm/vm_race.h"

typedef struct lane_copy {
    uint8_t *to;
    const uint8_t *from; /* NULL: zeros */
    uint8_t size, have, lane;
} lane_copy;
typedef struct warp_copy {
    uint32_t count;
    lane_copy lanes[VM_LANES];
} warp_copy;

static void complete_copy(vm_async *operation) {
    const warp_copy *c = operation->data;
    for (uint32_t i = 0; i < c->count; i++) {
        const lane_copy *lane = &c->lanes[i];
        if (lane->have)
            memcpy(lane->to, lane->from, lane->have);
        memset(lane->to + lane->have, 0, (size_t)(lane->size - lane->have));
    }
}

/* cp.async is no operation of the async proxy (9.7.9.25.2 names the bulk ones): once it is waited for, its
 * bytes are ordinary writes of its warp. */
static void observed_copy(vm_async *operation) {
    for (uint32_t i = 0; i < operation->range_count; i++)
        vm_proxy_write(operation->warp, (uint32_t)operation->ranges[i].begin,
                       (uint32_t)(operation->ranges[i].end - operation->ranges[i].begin));
    const warp_copy *c = operation->data;
    for (uint32_t i = 0; i < c->count; i++)
        vm_race_copied(operation, c->lanes[i].lane, (uint32_t)(c->lanes[i].to - operation->cta->shared),
                       c->lanes[i].size);
}

/* One lane, checked; false after reporting. */
typedef struct lane_place {
    lane_copy copy;
    uint32_t offset; /* in shared memory */
} lane_place;
static bool place_lane(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane,
                       lane_place *out) {
    uint64_t to = vm_operand64(warp, list[0], lane), from = vm_operand64(warp, list[1], lane);
    uint32_t size = (uint32_t)op->imm, have = size;
    if (list[2] != VM_REF_NONE)
        have = vm_operand32(warp, list[2], lane);
    if (have > size) {
        vm_copy_report(warp, VM_FIND_COPY_SIZE, pc, lane, PTX_SPACE_GLOBAL, from, have, size, false);
        have = size;
    }
    if (list[3] != VM_REF_NONE && (vm_operand32(warp, list[3], 0) >> lane & 1))
        have = 0;
    if (!vm_copy_own(warp, pc, lane, to, size, size, true, &out->offset))
        return false;
    if (have && from % size != 0) {
        vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, PTX_SPACE_GLOBAL, from, size, size, false);
        return false;
    }
    uint8_t *host = have ? vm_memory_range(warp, pc, lane, VM_GLOBAL, from, have, false) : NULL;
    if (have && host == NULL)
        have = 0;
    out->copy =
        (lane_copy){warp->cta->shared + out->offset, host, (uint8_t)size, (uint8_t)have, (uint8_t)lane};
    return true;
}

/* Adds [begin, end) to the ranges of the operation; false when they are full. */
static bool extend(vm_range *ranges, uint32_t *count, uint64_t begin, uint64_t end) {
    for (uint32_t i = 0; i < *count; i++) {
        if (ranges[i].end == begin)
            ranges[i].end = end;
        else if (ranges[i].begin == end)
            ranges[i].begin = begin;
        else
            continue;
        return true;
    }
    if (*count == VM_ASYNC_RANGES)
        return false;
    ranges[(*count)++] = (vm_range){.space = VM_RANGE_SHARED, .write = true, .begin = begin, .end = end};
    return true;
}

/* The operation for as many of the lanes, from the first on, as have its group and fit into its ranges; takes
 * them out of the mask. */
static void issue_some(vm_warp *warp, const lane_place *places, uint32_t *mask) {
    const vm_copy_thread *threads = vm_copy_threads(warp);
    unsigned first = vm_first_lane(*mask);
    uint32_t group = threads[first].committed, taken = 0, count = 0;
    vm_range ranges[VM_ASYNC_RANGES];
    VM_FOR_LANES(lane, *mask) {
        const lane_place *p = &places[lane];
        if (threads[lane].committed == group &&
            extend(ranges, &count, p->offset, (uint64_t)p->offset + p->copy.size))
            taken |= 1u << lane;
    }
    *mask &= ~taken;
    vm_async *operation = vm_async_new(warp, VM_ASYNC_COPY, taken);
    warp_copy *c = vm_async_data(operation, sizeof *c);
    c->count = 0;
    VM_FOR_LANES(lane, taken) {
        c->lanes[c->count++] = places[lane].copy;
    }
    operation->complete = complete_copy;
    operation->observed = warp->cta->proxy != NULL || warp->cta->race != NULL ? observed_copy : NULL;
    operation->order = vm_copy_order(warp, 0);
    operation->group = group;
    for (uint32_t i = 0; i < count; i++)
        vm_copy_range(operation, first, ranges[i]);
    vm_async_issue(operation);
}

vm_action vm_external_COPY_ASYNC(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc, good = 0;
    lane_place places[VM_LANES];
    VM_FOR_LANES(lane, mask) {
        if (!place_lane(warp, op, list, pc, lane, &places[lane]))
            continue;
        good |= 1u << lane;
        vm_race_touch(warp, pc, lane, warp->cta, places[lane].offset, (uint32_t)op->imm,
                      VM_RACE_WRITE | VM_RACE_CHECK);
    }
    while (good)
        issue_some(warp, places, &good);
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
