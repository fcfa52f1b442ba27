/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.shift (PTX ISA 9.7.16.9.3, shape .31x256b): in the 32 lanes from the address on, every row but the
 * last takes the 32 bytes of the row after it. PTX says "down" and no more; that lane L takes lane L + 1,
 * within each partition of 32 lanes, is what NVIDIA's CUTLASS states and saw on a B200 of .ashift, which PTX
 * describes in the same words
 * (examples/python/CuTeDSL/experimental/primitives/tcgen05/1cta_mma_a_from_tmem.py). In a pair it works in
 * both CTAs. Must not know descriptors. */
#include "vm/vm_tensor.h"
#include "vm/vm_tmem_record.h"

uint64_t vm_tensor_shift_begin(vm_warp *warp, uint32_t pc, vm_cta *cta, const vm_tmem_area *area,
                               vm_tmem_kind kind) {
    vm_tmem *t = vm_tmem_of(cta);
    vm_tmem_shift_mark(t, area, (vm_tmem_writer){.pc = pc, .agent = vm_tmem_agent(warp) | VM_TMEM_ENGINE});
    return vm_tmem_flight_begin(t, kind, vm_tmem_agent(warp), pc, area);
}

void vm_tensor_shift_rows(vm_cta *cta, const vm_tmem_area *area) {
    vm_tmem *t = vm_tmem_of(cta);
    vm_tmem_allocation found;
    uint32_t column;
    if (vm_tmem_check(t, area, cta->linear, &column, &found) != VM_TMEM_FINE)
        return; /* given back meanwhile: reported there */
    for (unsigned k = 0; k < VM_TMEM_LANES / 32; k++)
        if (area->lanes[k] != 0)
            vm_tmem_shift(t, area->column, 32 * k);
}

typedef struct shift { /* payload */
    vm_tmem_area area;
    uint32_t cta_count;
    vm_cta *ctas[2];
    uint64_t flights[2];
} shift;
_Static_assert(sizeof(shift) <= VM_ASYNC_BYTES, "payload");

static void complete_shift(vm_async *o) {
    const shift *s = (const shift *)(const void *)o->of.bytes;
    for (unsigned i = 0; i < s->cta_count; i++)
        vm_tensor_shift_rows(s->ctas[i], &s->area);
}

static void observed_shift(vm_async *o) {
    const shift *s = (const shift *)(const void *)o->of.bytes;
    for (unsigned i = 0; i < s->cta_count; i++)
        vm_tmem_flight_end(vm_tmem_of(s->ctas[i]), s->flights[i]);
}

/* Two shifts follow each other only through an mma between them that reads what the first one moves: shift to
 * mma and mma to shift are pipelined pairs, shift to shift is none (9.7.16.6.2). */
static bool follows_shift(vm_cta *cta, const vm_tmem_area *area) {
    const vm_tmem *t = vm_tmem_of(cta);
    for (size_t i = 0; i < t->flights.count; i++) {
        const vm_tmem_flight *f = &t->flights.items[i];
        bool between = f->kind != VM_TMEM_SHIFT || !vm_tmem_overlap(&f->area, area);
        for (size_t k = 0; !between && k < t->flights.count; k++) {
            const vm_tmem_flight *later = &t->flights.items[k];
            between = later->id > f->id && (later->kind & VM_TMEM_MMA_SOURCE) != 0 &&
                      vm_tmem_overlap(&later->area, &f->area);
        }
        if (!between)
            return false;
    }
    return true;
}

static void issue_shift(vm_warp *warp, uint32_t pc, uint32_t imm, uint32_t taddr, unsigned lane) {
    shift s = {.area = vm_tmem_rows(VM_TMEM_COLUMN(taddr), VM_TMEM_SHIFT_COLUMNS, VM_TMEM_LANE(taddr), 32)};
    vm_tmem_group(warp, pc, lane, imm & VM_TENSOR_PAIR ? 2 : 1);
    s.cta_count = vm_tensor_ctas(warp, pc, lane, imm & VM_TENSOR_PAIR, s.ctas);
    vm_tensor_issued(warp, pc, lane);
    if (VM_TMEM_LANE(taddr) % 32 != 0 || VM_TMEM_LANE(taddr) >= VM_TMEM_LANES) {
        vm_tensor_report(warp, VM_FIND_TENSOR_LANE, pc, lane, taddr, 'H', 96);
        return;
    }
    for (unsigned i = 0; i < s.cta_count; i++)
        if (!vm_tmem_allowed(warp, pc, lane, s.ctas[i], &s.area, true))
            return;
    if (s.cta_count == 0)
        return;
    for (unsigned i = 0; i < s.cta_count; i++) {
        uint32_t kinds = VM_TMEM_LOAD | VM_TMEM_STORE | VM_TMEM_COPY;
        if (!follows_shift(s.ctas[i], &s.area))
            kinds |= VM_TMEM_SHIFT;
        if (!vm_tmem_conflict(warp, pc, lane, s.ctas[i], &s.area, kinds))
            vm_tmem_engine_ordered(warp, pc, lane, s.ctas[i], &s.area);
        s.flights[i] = vm_tensor_shift_begin(warp, pc, s.ctas[i], &s.area, VM_TMEM_SHIFT);
    }
    if (vm_tmem_recorded(warp->cta))
        vm_tmem_record_access(warp, VM_TMEM_EVENT_SHIFT, pc, &s.area, 1, 0, s.cta_count == 2, lane);
    vm_async *o = vm_async_new(warp, VM_ASYNC_TENSOR, 1u << lane);
    o->complete = complete_shift;
    o->observed = observed_shift;
    o->order = vm_tensor_order(s.ctas);
    memcpy(o->of.bytes, &s, sizeof s);
    vm_async_issue(o);
}

vm_action vm_external_TENSOR_SHIFT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    vm_tensor_single(warp, pc, mask, VM_FIND_TENSOR_LANES);
    VM_FOR_LANES(lane, mask)
    issue_shift(warp, pc, (uint32_t)op->imm, vm_operand32(warp, list[0], lane), lane);
    return VM_GO;
}
