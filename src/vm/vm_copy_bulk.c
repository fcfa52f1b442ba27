/* SPDX-License-Identifier: Apache-2.0
 * cp.async.bulk, cp.reduce.async.bulk and their prefetch (PTX ISA 9.7.9.25.4), one lane at a time: checked
 * when issued, done when complete. */
#include "vm/vm_copy.h"
#include "vm/vm_proxy.h"

typedef struct bulk_copy {
    uint8_t *to;
    const uint8_t *from;
    uint32_t size, mask; /* mask: of the bytes of each 16, 0xffff for all */
    vm_copy_target target;
    bool reduce, shared;
    uint8_t operation, type;
} bulk_copy;

static void complete_bulk(vm_async *operation) {
    const bulk_copy *c = (const bulk_copy *)(const void *)operation->of.bytes;
    if (c->reduce)
        vm_atomic_reduce(operation->cta->run, c->to, c->from, c->size, (vm_atomic_operation)c->operation,
                         (ptx_type)c->type, c->shared, false);
    else if (c->mask == 0xffff)
        memmove(c->to, c->from, c->size);
    else
        for (uint32_t i = 0; i < c->size; i++)
            if (c->mask >> i % 16 & 1)
                c->to[i] = c->from[i];
    if (c->target.cta != NULL)
        vm_proxy_clean(c->target.cta, c->target.offset, c->size, 0, 0);
    if (c->target.barrier_cta != NULL)
        vm_async_signal(operation, c->target.barrier_cta, c->target.barrier, 0, c->size);
}

static vm_async *start(vm_warp *warp, const vm_op *op, unsigned lane, vm_async_class class) {
    vm_async *operation = vm_async_new(warp, class, 1u << lane);
    bulk_copy *c = (bulk_copy *)(void *)operation->of.bytes;
    operation->complete = complete_bulk;
    c->mask = 0xffff;
    c->reduce = op->imm & VM_COPY_REDUCE;
    c->operation = (uint8_t)VM_COPY_OPERATION(op->imm);
    c->type = (uint8_t)VM_COPY_TYPE(op->imm);
    return operation;
}

/* Global memory of the copy, NULL after reporting. */
static uint8_t *global_of(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, uint32_t size,
                          bool store) {
    if (address % 16 != 0) {
        vm_copy_report(warp, VM_FIND_COPY_ALIGN, pc, lane, PTX_SPACE_GLOBAL, address, size, 16, store);
        return NULL;
    }
    return vm_memory_range(warp, pc, lane, VM_GLOBAL, address, size, store);
}

static void copy_out(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane,
                     uint32_t size) {
    uint64_t to = vm_operand64(warp, list[VM_BULK_TO], lane),
             from = vm_operand64(warp, list[VM_BULK_FROM], lane);
    uint32_t offset = 0;
    bool fits = vm_copy_own(warp, pc, lane, from, size, 16, false, &offset);
    uint8_t *host = global_of(warp, pc, lane, to, size, true);
    if (!fits || host == NULL)
        return;
    vm_proxy_read(warp, pc, lane, offset, size);
    vm_copy_thread *thread = &vm_copy_threads(warp)[lane];
    vm_async *operation = start(warp, op, lane, VM_ASYNC_BULK_STORE);
    bulk_copy *c = (bulk_copy *)(void *)operation->of.bytes;
    c->to = host;
    c->from = warp->cta->shared + offset;
    c->size = size;
    if (op->imm & VM_COPY_MASKED)
        c->mask = vm_operand32(warp, list[VM_BULK_MASK], lane) & 0xffff;
    operation->order = vm_copy_order(warp, lane);
    operation->group = thread->bulk_committed;
    thread->bulk_issued = thread->bulk_committed + 1;
    thread->bulk_pc = pc;
    vm_copy_range(operation, lane,
                  (vm_range){.space = VM_RANGE_SHARED, .begin = offset, .end = (uint64_t)offset + size});
    if (!c->reduce) /* reductions of several operations may meet */
        vm_copy_range(operation, lane,
                      (vm_range){.space = VM_RANGE_GLOBAL, .write = true, .begin = to, .end = to + size});
    vm_async_issue(operation);
}

/* Into shared memory, from global memory or from the own shared memory. */
static void copy_in(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane,
                    uint32_t size) {
    bool across = VM_COPY_DIRECTION(op->imm) == VM_COPY_ACROSS;
    uint64_t from = vm_operand64(warp, list[VM_BULK_FROM], lane);
    vm_copy_target targets[VM_COPY_TARGETS];
    vm_copy_place place = {.imm = op->imm,
                           .to = vm_operand64(warp, list[VM_BULK_TO], lane),
                           .barrier = vm_operand64(warp, list[VM_BULK_BARRIER], lane),
                           .bytes = size,
                           .align = 16};
    if (op->imm & VM_COPY_MULTICAST)
        place.mask = vm_operand32(warp, list[VM_BULK_MASK], lane) & 0xffff;
    uint32_t offset = 0, count = vm_copy_targets(warp, pc, lane, &place, targets);
    const uint8_t *host = NULL;
    if (!across)
        host = global_of(warp, pc, lane, from, size, false);
    else if (vm_copy_own(warp, pc, lane, from, size, 16, false, &offset))
        host = warp->cta->shared + offset;
    if (across && host != NULL)
        vm_proxy_read(warp, pc, lane, offset, size);
    for (uint32_t i = 0; host != NULL && i < count; i++) {
        vm_async *operation = start(warp, op, lane, VM_ASYNC_BULK);
        bulk_copy *c = (bulk_copy *)(void *)operation->of.bytes;
        c->target = targets[i];
        c->to = targets[i].cta->shared + targets[i].offset;
        c->from = host;
        c->size = size;
        c->shared = true;
        vm_copy_range(operation, lane,
                      (vm_range){.space = VM_RANGE_SHARED,
                                 .write = true,
                                 .cta = targets[i].cta,
                                 .begin = targets[i].offset,
                                 .end = (uint64_t)targets[i].offset + size});
        if (across)
            vm_copy_range(
                operation, lane,
                (vm_range){.space = VM_RANGE_SHARED, .begin = offset, .end = (uint64_t)offset + size});
        else
            vm_copy_range(operation, lane,
                          (vm_range){.space = VM_RANGE_GLOBAL, .begin = from, .end = from + size});
        vm_async_issue(operation);
    }
}

vm_action vm_external_BULK_COPY(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    VM_FOR_LANES(lane, mask) {
        uint32_t size = vm_operand32(warp, list[VM_BULK_SIZE], lane);
        uint64_t from = vm_operand64(warp, list[VM_BULK_FROM], lane);
        if (size == 0 || size % 16 != 0) {
            vm_copy_report(warp, VM_FIND_COPY_SIZE, pc, lane, PTX_SPACE_GENERIC, from, size, 16, false);
            size &= ~15u;
            if (size == 0)
                continue;
        }
        switch (VM_COPY_DIRECTION(op->imm)) {
        case VM_COPY_OUT:
            copy_out(warp, op, list, pc, lane, size);
            break;
        case VM_COPY_PREFETCH:
            global_of(warp, pc, lane, from, size, false);
            break;
        default:
            copy_in(warp, op, list, pc, lane, size);
        }
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
