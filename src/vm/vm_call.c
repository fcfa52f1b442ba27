/* SPDX-License-Identifier: Apache-2.0
 * Calls: frames of registers and local memory, parameter blocks copied from the caller's local memory to the
 * callee's and results back, indirect calls by address, and the limits of depth and memory. */
#include "vm/vm_tmem_machine.h"

static vm_action stop(vm_warp *warp, vm_finding_kind kind, uint64_t address, uint64_t required) {
    vm_split *current = &warp->splits[warp->current];
    vm_finding *finding = vm_finding_add(warp->cta, kind, current->pc, warp, vm_first_lane(current->mask));
    if (finding != NULL) {
        finding->address = address;
        finding->required = required;
        finding->space = PTX_SPACE_LOCAL;
    }
    warp->cta->status = VM_FAULTED;
    return VM_HALT;
}

bool vm_call_rows_reserve(vm_warp *warp, uint32_t rows) {
    if (rows > VM_ROWS_LIMIT)
        return false;
    if (rows <= warp->row_capacity)
        return true;
    uint32_t capacity = warp->row_capacity ? warp->row_capacity : 16;
    while (capacity < rows)
        capacity *= 2;
    uint8_t *memory = base_arena_allocate(warp->cta->arena, (size_t)capacity * VM_ROW_BYTES + 64);
    memory += 64 - ((uintptr_t)memory & 63);
    if (warp->row_capacity)
        memcpy(memory, warp->rows, (size_t)warp->row_capacity * VM_ROW_BYTES);
    warp->rows = memory;
    warp->row_capacity = capacity;
    return true;
}

/* Copies a block of local memory of the active lanes; offsets and sizes are whole words. */
static void copy_block(vm_warp *warp, uint32_t mask, uint32_t from, uint32_t to, uint32_t bytes) {
    uint32_t *words = (uint32_t *)warp->local;
    for (uint32_t k = 0; k < (bytes + 3) / 4; k++) {
        const uint32_t *source = words + (size_t)(from / 4 + k) * VM_LANES;
        uint32_t *target = words + (size_t)(to / 4 + k) * VM_LANES;
        VM_FOR_LANES(lane, mask)
        target[lane] = source[lane];
    }
}

/* A frame that another split of the warp made for the same call, so that the two can merge inside. */
static vm_frame *shared_frame(vm_warp *warp, const vm_frame *parent, const vm_function *function,
                              uint32_t return_pc) {
    for (uint32_t i = 0; i < warp->split_count; i++)
        for (vm_frame *f = warp->splits[i].frame; f != NULL && f->depth > parent->depth; f = f->parent)
            if (f->parent == parent && f->function == function && f->return_pc == return_pc && f->stack == 0)
                return f;
    return NULL;
}

static vm_action enter(vm_warp *warp, const vm_call_site *site, const vm_function *function, uint32_t mask) {
    vm_split *current = &warp->splits[warp->current];
    vm_frame *caller = current->frame;
    if (!function->decoded)
        return stop(warp, VM_FIND_BAD_CALL, 0, 0);
    if (caller->depth + 1 >= VM_DEPTH_LIMIT)
        return stop(warp, VM_FIND_STACK, caller->depth, VM_DEPTH_LIMIT);
    vm_frame *frame = shared_frame(warp, caller, function, current->pc + 1);
    if (frame != NULL) {
        frame->references++;
    } else {
        uint32_t row = caller->row + caller->function->rows;
        uint32_t local = (caller->local + caller->function->local_bytes + caller->stack + 15) & ~15u;
        if (!vm_call_rows_reserve(warp, row + function->rows))
            return stop(warp, VM_FIND_STACK, row, VM_ROWS_LIMIT);
        if (!vm_memory_local_reserve(warp, local + function->local_bytes))
            return stop(warp, VM_FIND_STACK, local, VM_LOCAL_LIMIT);
        frame = vm_control_frame(warp);
        frame->parent = caller;
        frame->function = function;
        frame->return_pc = current->pc + 1;
        frame->call_pc = current->pc;
        frame->row = row;
        frame->local = local;
        frame->depth = caller->depth + 1;
        caller->references++;
    }
    /* what nobody writes reads as 0, whatever ran here before */
    for (uint32_t k = 0; k < (function->local_bytes + 3) / 4; k++)
        VM_FOR_LANES(lane, mask)
    ((uint32_t *)warp->local)[(size_t)(frame->local / 4 + k) * VM_LANES + lane] = 0;
    size_t parameters = function->source->parameters.count;
    for (uint32_t i = 0; i < site->argument_count && i < parameters; i++) {
        uint32_t bytes = site->arguments[i].bytes;
        if (bytes > function->parameters[i].bytes)
            bytes = function->parameters[i].bytes;
        copy_block(warp, mask, caller->local + site->arguments[i].offset,
                   frame->local + function->parameters[i].offset, bytes);
    }
    current->frame = frame;
    vm_control_release(warp, caller);
    current->pc = function->first_op;
    vm_control_load(warp);
    if (function->clears) {
        uint8_t *rows = warp->base[VM_REF_FRAME];
        for (uint32_t p = 0; p < function->predicates; p++)
            ((uint32_t *)rows)[p] &= ~mask;
        for (uint32_t r = (function->predicates + VM_LANES - 1) / VM_LANES; r < function->rows; r++)
            VM_FOR_LANES(lane, mask)
        ((uint32_t *)(rows + (size_t)r * VM_ROW_BYTES))[lane] = 0;
    }
    return VM_JUMP;
}

vm_action vm_external_CALL(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const vm_program *program = warp->cta->run->program;
    const vm_call_site *site = &program->calls.items[op->imm];
    return enter(warp, site, &program->functions[site->function], mask);
}

vm_action vm_external_CALL_INDIRECT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const vm_program *program = warp->cta->run->program;
    const vm_call_site *site = &program->calls.items[op->imm];
    uint64_t address = vm_operand64(warp, op->a, vm_first_lane(mask));
    uint32_t same = 0;
    VM_FOR_LANES(lane, mask)
    same |= (uint32_t)(vm_operand64(warp, op->a, lane) == address) << lane;
    uint64_t index = (address - VM_CODE_BASE) / 16;
    if (address < VM_CODE_BASE || address % 16 != 0 || index == 0 || index > program->function_count)
        return stop(warp, VM_FIND_BAD_CALL, address, 0);
    const vm_function *function = &program->functions[index - 1];
    if (!function->decoded || function->source->is_entry ||
        function->source->parameters.count != site->argument_count ||
        function->source->returns.count != site->return_count)
        return stop(warp, VM_FIND_BAD_CALL, address, 0);
    vm_control_isolate(warp, same);
    return enter(warp, site, function, same);
}

void vm_call_return(vm_warp *warp) {
    vm_split *current = &warp->splits[warp->current];
    vm_frame *frame = current->frame, *caller = frame->parent;
    const vm_program *program = warp->cta->run->program;
    const vm_call_site *site = &program->calls.items[program->ops.items[frame->call_pc].imm];
    for (uint32_t i = 0; i < site->return_count && i < frame->function->source->returns.count; i++) {
        uint32_t bytes = site->returns[i].bytes;
        if (bytes > frame->function->returns[i].bytes)
            bytes = frame->function->returns[i].bytes;
        copy_block(warp, current->mask, frame->local + frame->function->returns[i].offset,
                   caller->local + site->returns[i].offset, bytes);
    }
    if (warp->tmem != NULL && frame->references == 1)
        vm_tmem_return(warp, frame);
    current->pc = frame->return_pc;
    current->frame = caller;
    caller->references++;
    vm_control_release(warp, frame);
}

/* alloca: the frame grows; every lane of the frame shares its size, so the largest request counts. */
vm_action vm_external_ALLOCA(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_frame *frame = warp->splits[warp->current].frame;
    uint64_t align = op->imm & 0xffff, most = 0;
    bool wide = op->imm >> 16 & 1;
    if (align < 16)
        align = 16;
    VM_FOR_LANES(lane, mask) {
        uint64_t size = wide ? vm_operand64(warp, op->a, lane) : vm_operand32(warp, op->a, lane);
        most = size > most ? size : most;
    }
    uint64_t top =
        ((uint64_t)frame->local + frame->function->local_bytes + frame->stack + align - 1) / align * align;
    if (most > VM_LOCAL_LIMIT || !vm_memory_local_reserve(warp, (uint32_t)(top + most)))
        return stop(warp, VM_FIND_STACK, top + most, VM_LOCAL_LIMIT);
    frame->stack = (uint32_t)(top + most) - frame->local - frame->function->local_bytes;
    void *result = vm_operand(warp, op->d);
    VM_FOR_LANES(lane, mask) {
        if (wide)
            ((uint64_t *)result)[lane] = top;
        else
            ((uint32_t *)result)[lane] = (uint32_t)top;
    }
    return VM_GO;
}

vm_action vm_external_STACKSAVE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    const vm_frame *frame = warp->splits[warp->current].frame;
    void *result = vm_operand(warp, op->d);
    VM_FOR_LANES(lane, mask) {
        if (op->imm >> 16 & 1)
            ((uint64_t *)result)[lane] = frame->stack;
        else
            ((uint32_t *)result)[lane] = frame->stack;
    }
    return VM_GO;
}

vm_action vm_external_STACKRESTORE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_frame *frame = warp->splits[warp->current].frame;
    unsigned lane = vm_first_lane(mask);
    uint64_t value = op->imm >> 16 & 1 ? vm_operand64(warp, op->a, lane) : vm_operand32(warp, op->a, lane);
    /* lanes that are elsewhere in this frame keep what they allocated */
    if (value < frame->stack && mask == warp->live)
        frame->stack = (uint32_t)value;
    return VM_GO;
}
