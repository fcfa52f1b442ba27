/* SPDX-License-Identifier: Apache-2.0
 * cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch (PTX ISA 9.7.9.25.5), one lane at a
 * time. The map is read and everything is checked when the copy is issued; rows move when it completes. */
#include "vm/vm_copy.h"
#include "vm/vm_proxy.h"
#include "vm/vm_tensormap.h"

typedef struct tensor_copy {
    vm_tensor_map map;
    vm_tensor_request request;
    vm_copy_target target; /* shared memory, source or destination */
    vm_async *operation;
    const vm_allocation *last;
    bool refused; /* an address was bad: said once */
    bool reduce;
    uint8_t operation_code;
    ptx_type type;
} tensor_copy;

/* Host place of a row in global memory; NULL after reporting. */
static uint8_t *host_of(tensor_copy *c, const vm_tensor_row *row, bool store) {
    const vm_allocation *a = c->last;
    if (a == NULL || row->global < a->begin || row->global >= a->end || a->end - row->global < row->inside ||
        (store && a->read_only)) {
        vm_async *o = c->operation;
        if (c->refused && (a = vm_memory_find(o->cta->run, row->global)) == NULL)
            return NULL;
        uint8_t *host = vm_memory_range(o->warp, o->pc, vm_first_lane(o->mask), VM_GLOBAL, row->global,
                                        row->inside, store);
        c->refused |= host == NULL;
        c->last = host ? vm_memory_find(o->cta->run, row->global) : NULL;
        return host;
    }
    return a->host + (row->global - a->begin);
}

static bool load_row(void *user, const vm_tensor_row *row) {
    tensor_copy *c = user;
    const uint8_t *from = row->inside ? host_of(c, row, false) : NULL;
    if (row->inside == 0 || from != NULL) {
        vm_tensor_row_load(&c->map, c->target.cta->shared, c->target.offset, row, from);
        return true;
    }
    vm_tensor_row outside = {.shared = row->shared, .after = row->before + row->inside + row->after};
    vm_tensor_row_load(&c->map, c->target.cta->shared, c->target.offset, &outside, NULL);
    return true;
}

static bool store_row(void *user, const vm_tensor_row *row) {
    tensor_copy *c = user;
    uint8_t bytes[VM_TENSOR_ROW_BYTES], *to = row->inside ? host_of(c, row, true) : NULL;
    if (to == NULL)
        return true;
    if (!c->reduce) {
        vm_tensor_row_store(&c->map, c->target.cta->shared, c->target.offset, row, to);
        return true;
    }
    vm_tensor_row_store(&c->map, c->target.cta->shared, c->target.offset, row, bytes);
    vm_atomic_reduce(c->operation->cta->run, to, bytes, row->inside, (vm_atomic_operation)c->operation_code,
                     c->type, false, c->map.type == VM_TENSOR_F32_FTZ || c->map.type == VM_TENSOR_TF32_FTZ);
    return true;
}

/* A whole box at once, when it lies in one allocation. False: row by row. */
static bool copy_box(tensor_copy *c, bool load) {
    vm_tensor_box box;
    if (!vm_tensor_request_box(&c->request, &box))
        return false;
    const vm_allocation *a = vm_memory_find(c->operation->cta->run, box.global);
    uint64_t bytes = (uint64_t)(box.rows - 1) * box.stride + box.bytes;
    if (a == NULL || bytes > a->end - box.global || (!load && a->read_only))
        return false;
    uint8_t *host = a->host + (box.global - a->begin);
    if (load)
        vm_tensor_box_load(&c->map, &box, c->target.cta->shared, c->target.offset, host);
    else
        vm_tensor_box_store(&c->map, &box, c->target.cta->shared, c->target.offset, host);
    return true;
}

static void complete_tensor(vm_async *operation) {
    tensor_copy *c = operation->data;
    c->operation = operation;
    bool load = c->request.direction == VM_TENSOR_LOAD;
    if (!copy_box(c, load))
        vm_tensor_request_walk(&c->request, load ? load_row : store_row, c);
    if (!load)
        return;
    uint32_t span = vm_tensor_swizzle_span(c->map.swizzle);
    vm_proxy_clean(c->target.cta, c->target.offset, vm_tensor_request_extent(&c->request),
                   VM_PROXY_LAYOUT(span ? span : 16, span == 128 ? c->map.atom : 0), operation->pc);
    vm_async_signal(operation, c->target.barrier_cta, c->target.barrier, 0,
                    vm_tensor_request_bytes(&c->request));
}

/* The numbers of a map's type as those of atomics. */
static ptx_type reduction_type(vm_tensor_type type, vm_tensor_reduction reduction) {
    static const uint8_t types[VM_TENSOR_TYPE_COUNT] = {
        [VM_TENSOR_U32] = PTX_TYPE_U32,     [VM_TENSOR_S32] = PTX_TYPE_S32,
        [VM_TENSOR_U64] = PTX_TYPE_U64,     [VM_TENSOR_S64] = PTX_TYPE_S64,
        [VM_TENSOR_F16] = PTX_TYPE_F16,     [VM_TENSOR_F32] = PTX_TYPE_F32,
        [VM_TENSOR_F64] = PTX_TYPE_F64,     [VM_TENSOR_BF16] = PTX_TYPE_BF16,
        [VM_TENSOR_F32_FTZ] = PTX_TYPE_F32, [VM_TENSOR_TF32] = PTX_TYPE_F32,
        [VM_TENSOR_TF32_FTZ] = PTX_TYPE_F32};
    if (reduction == VM_TENSOR_BITS)
        return vm_tensor_type_bits(type) == 64 ? PTX_TYPE_B64 : PTX_TYPE_B32;
    return (ptx_type)types[type];
}

static vm_tensor_reduction reduction_of(vm_atomic_operation operation) {
    switch (operation) {
    case VM_ATOMIC_ADD:
        return VM_TENSOR_ADD;
    case VM_ATOMIC_MIN:
    case VM_ATOMIC_MAX:
        return VM_TENSOR_MIN_MAX;
    case VM_ATOMIC_INC:
    case VM_ATOMIC_DEC:
        return VM_TENSOR_INC_DEC;
    default:
        return VM_TENSOR_BITS;
    }
}

/* Map and request of one lane; false after reporting. */
static bool prepare(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane,
                    tensor_copy *c) {
    memset(c, 0, sizeof *c);
    uint64_t address = vm_operand64(warp, list[VM_TENSOR_COPY_MAP], lane);
    if (!vm_tensormap_read(warp, pc, lane, address, &c->map))
        return false;
    vm_tensor_request *r = &c->request;
    c->reduce = op->imm & VM_COPY_REDUCE;
    c->operation_code = (uint8_t)VM_COPY_OPERATION(op->imm);
    r->map = &c->map;
    r->form = VM_COPY_FORM(op->imm);
    r->direction = VM_COPY_DIRECTION(op->imm) != VM_COPY_OUT ? VM_TENSOR_LOAD
                   : c->reduce                               ? VM_TENSOR_REDUCE
                                                             : VM_TENSOR_STORE;
    r->rank = VM_COPY_RANK(op->imm);
    r->reduction = reduction_of((vm_atomic_operation)c->operation_code);
    c->type = reduction_type(c->map.type, r->reduction);
    for (unsigned i = 0; i < VM_TENSOR_RANK; i++)
        if (list[VM_TENSOR_COPY_COORDINATE + i] != VM_REF_NONE)
            r->coordinate[i] = (int32_t)vm_operand32(warp, list[VM_TENSOR_COPY_COORDINATE + i], lane);
    for (unsigned i = 0; i < 3; i++)
        if (list[VM_TENSOR_COPY_OFFSET + i] != VM_REF_NONE)
            r->offset[i] = vm_operand32(warp, list[VM_TENSOR_COPY_OFFSET + i], lane) & 0xffff;
    vm_tensor_fault faults[VM_TENSOR_FAULTS_MAX];
    size_t count = vm_tensor_request_check(r, faults);
    const char *open = count == 0 ? vm_tensor_request_open(r) : NULL;
    if (count == 0 && open == NULL)
        return true;
    vm_finding *finding =
        vm_copy_report(warp, VM_FIND_TENSOR_REQUEST, pc, lane, PTX_SPACE_GENERIC, address, 0, count, false);
    if (open != NULL) {
        warp->cta->status = VM_UNSUPPORTED;
        if (finding != NULL)
            finding->text = open;
        return false;
    }
    if (finding != NULL && finding->text == NULL) {
        base_builder text;
        base_builder_start(&text, vm_finding_arena(warp->cta));
        for (size_t i = 0; i < count; i++) {
            char one[160];
            vm_tensor_fault_text(&faults[i], one, sizeof one);
            base_builder_format(&text, "%s%s", i ? "; " : "", one);
        }
        finding->text = text.data;
    }
    return false;
}

static vm_async *start(vm_warp *warp, vm_async_class class, unsigned lane, const tensor_copy *c) {
    vm_async *operation = vm_async_new(warp, class, 1u << lane);
    tensor_copy *own = vm_async_data(operation, sizeof *own);
    *own = *c;
    own->request.map = &own->map;
    operation->complete = complete_tensor;
    return operation;
}

static void store(vm_warp *warp, const uint32_t *list, uint32_t pc, unsigned lane, tensor_copy *c) {
    uint32_t offset = 0, bytes = vm_tensor_request_extent(&c->request);
    if (!vm_copy_own(warp, pc, lane, vm_operand64(warp, list[VM_TENSOR_COPY_SHARED], lane), bytes,
                     vm_tensor_request_align(&c->map), false, &offset))
        return;
    vm_proxy_read(warp, pc, lane, offset, bytes);
    c->target = (vm_copy_target){.cta = warp->cta, .offset = offset};
    vm_copy_thread *thread = &vm_copy_threads(warp)[lane];
    vm_async *operation = start(warp, VM_ASYNC_BULK_STORE, lane, c);
    operation->order = vm_copy_order(warp, lane);
    operation->group = thread->bulk_committed;
    thread->bulk_issued = thread->bulk_committed + 1;
    thread->bulk_pc = pc;
    vm_copy_range(operation, lane,
                  (vm_range){.space = VM_RANGE_SHARED, .begin = offset, .end = (uint64_t)offset + bytes});
    vm_async_issue(operation);
}

static void load(vm_warp *warp, const vm_op *op, const uint32_t *list, uint32_t pc, unsigned lane,
                 tensor_copy *c) {
    vm_copy_target targets[VM_COPY_TARGETS];
    vm_copy_place place = {.imm = op->imm,
                           .to = vm_operand64(warp, list[VM_TENSOR_COPY_SHARED], lane),
                           .barrier = vm_operand64(warp, list[VM_TENSOR_COPY_BARRIER], lane),
                           .bytes = vm_tensor_request_extent(&c->request),
                           .align = vm_tensor_request_align(&c->map)};
    if (op->imm & VM_COPY_MULTICAST)
        place.mask = vm_operand32(warp, list[VM_TENSOR_COPY_MASK], lane) & 0xffff;
    uint32_t count = vm_copy_targets(warp, pc, lane, &place, targets);
    for (uint32_t i = 0; i < count; i++) {
        c->target = targets[i];
        vm_async *operation = start(warp, VM_ASYNC_BULK, lane, c);
        vm_copy_range(operation, lane,
                      (vm_range){.space = VM_RANGE_SHARED,
                                 .write = true,
                                 .cta = targets[i].cta,
                                 .begin = targets[i].offset,
                                 .end = (uint64_t)targets[i].offset + place.bytes});
        vm_async_issue(operation);
    }
}

vm_action vm_external_TENSOR_COPY(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    VM_FOR_LANES(lane, mask) {
        tensor_copy c;
        if (!prepare(warp, op, list, pc, lane, &c) || VM_COPY_DIRECTION(op->imm) == VM_COPY_PREFETCH)
            continue;
        if (VM_COPY_DIRECTION(op->imm) == VM_COPY_OUT)
            store(warp, list, pc, lane, &c);
        else
            load(warp, op, list, pc, lane, &c);
    }
    return warp->cta->status == VM_COMPLETE ? VM_GO : VM_HALT;
}
