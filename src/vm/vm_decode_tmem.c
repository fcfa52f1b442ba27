/* SPDX-License-Identifier: Apache-2.0
 * tcgen05 instructions that allocate, move and wait for tensor memory (PTX ISA 9.7.16.7 to 9.7.16.11), into
 * operations with all references in a list. Matrix instructions have a file of their own. */
#include "vm/vm_decode.h"
#include "vm/vm_tmem_machine.h"

#define NONE VM_REF_NONE

/* A tensor-memory address in [ ]: a 32-bit register or a constant, and an offset. */
uint32_t vm_decode_tensor_address(vm_decoder *d, unsigned index) {
    const ptx_operand *operand = vm_decode_operand(d, index);
    if (operand == NULL || operand->kind != PTX_OPERAND_MEMORY || operand->count != 1) {
        vm_decode_unsupported(d);
        return NONE;
    }
    const ptx_operand *base = &operand->args[0];
    switch (base->kind) {
    case PTX_OPERAND_REGISTER: {
        uint32_t ref = VM_REF(VM_REF_FRAME, base->of.reg->id);
        if (vm_decode_rows_of(d, ref) != 1)
            break;
        if (operand->bits == 0)
            return ref;
        return vm_decode_lane_new(d, VM_LANE_ADD32, ref, vm_decode_constant(d, operand->bits, false), NONE,
                                  0);
    }
    case PTX_OPERAND_IMMEDIATE:
        return vm_decode_constant(d, base->bits + operand->bits, false);
    default:
        break;
    }
    vm_decode_unsupported(d);
    return NONE;
}

static uint64_t group_of(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_CTA_GROUP__2) ? VM_TMEM_PAIR : 0;
}

static void allocate(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool shared = ptx_has(i, PTX_MOD_SHARED__CTA);
    uint32_t list[2];
    list[0] = vm_decode_place(d, 0, shared ? VM_SHARED : VM_GENERIC);
    list[1] = vm_decode_read(d, 1, PTX_TYPE_B32);
    d->function->grouped = true; /* CTAs of an SM share its columns and its permit */
    vm_decode_listed(d, VM_EXTERNAL_TMEM_ALLOC, list, 2, group_of(i) | (shared ? VM_TMEM_SHARED : 0));
}

static void deallocate(vm_decoder *d) {
    uint32_t list[2];
    list[0] = vm_decode_read(d, 0, PTX_TYPE_B32);
    list[1] = vm_decode_read(d, 1, PTX_TYPE_B32);
    vm_decode_listed(d, VM_EXTERNAL_TMEM_DEALLOC, list, 2, group_of(d->instruction));
}

static bool form_of(const ptx_instruction *i, vm_tmem_form *form, unsigned *log2_count) {
    static const ptx_mod shapes[VM_TMEM_SHAPE_COUNT] = {
        [VM_TMEM_32X32B] = PTX_MOD_32X32B,     [VM_TMEM_16X64B] = PTX_MOD_16X64B,
        [VM_TMEM_16X128B] = PTX_MOD_16X128B,   [VM_TMEM_16X256B] = PTX_MOD_16X256B,
        [VM_TMEM_16X32BX2] = PTX_MOD_16X32BX2,
    };
    static const ptx_mod counts[] = {PTX_MOD_X1,  PTX_MOD_X2,  PTX_MOD_X4,  PTX_MOD_X8,
                                     PTX_MOD_X16, PTX_MOD_X32, PTX_MOD_X64, PTX_MOD_X128};
    *form = (vm_tmem_form){.shape = VM_TMEM_SHAPE_COUNT};
    for (unsigned k = 0; k < VM_TMEM_SHAPE_COUNT; k++)
        if (ptx_has(i, shapes[k]))
            form->shape = (uint8_t)k;
    for (unsigned k = 0; k < 8; k++)
        if (ptx_has(i, counts[k])) {
            form->count = (uint8_t)(1u << k);
            *log2_count = k;
        }
    form->pack = ptx_has(i, PTX_MOD_PACK__16B) || ptx_has(i, PTX_MOD_UNPACK__16B);
    return vm_tmem_registers(form) != 0;
}

static void transfer(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool store = i->op == PTX_OP_TCGEN05_ST;
    vm_tmem_form form;
    unsigned log2_count = 0;
    if (!form_of(i, &form, &log2_count)) {
        vm_decode_unsupported(d);
        return;
    }
    bool split = form.shape == VM_TMEM_16X32BX2;
    unsigned data_at = store ? (split ? 2 : 1) : 0, address_at = store ? 0 : 1, split_at = store ? 1 : 2;
    const ptx_operand *data = vm_decode_operand(d, data_at), *offset = vm_decode_operand(d, split_at);
    uint32_t list[1 + 128], registers = vm_tmem_registers(&form);
    bool is_vector = data != NULL && data->kind == PTX_OPERAND_VECTOR;
    if (data == NULL || (is_vector ? data->count : 1u) != registers ||
        (split && (offset == NULL || offset->kind != PTX_OPERAND_IMMEDIATE))) {
        vm_decode_unsupported(d);
        return;
    }
    list[0] = vm_decode_tensor_address(d, address_at);
    for (uint32_t r = 0; r < registers; r++) {
        const ptx_operand *reg = is_vector ? &data->args[r] : data;
        list[1 + r] = store ? vm_decode_source(d, reg, PTX_TYPE_B32)
                            : vm_decode_target(d, reg, PTX_TYPE_B32) | VM_REF_WRITTEN;
    }
    uint64_t imm = VM_TMEM_IMM(form.shape, log2_count, form.pack, split ? (uint32_t)offset->bits : 0);
    if (store) {
        vm_decode_listed(d, VM_EXTERNAL_TMEM_STORE, list, 1 + registers, imm);
        return;
    }
    vm_program *program = d->program; /* the registers' names, by which a row is known to be still theirs */
    if (program->extras.count >= VM_TMEM_NAMES_LIMIT) {
        vm_decode_unsupported(d);
        return;
    }
    imm |= VM_TMEM_IMM_NAMES(program->extras.count);
    for (uint32_t r = 0; r < registers; r++)
        base_vector_push(program->arena, &program->extras, VM_REF_INDEX(list[1 + r] & ~VM_REF_WRITTEN));
    vm_decode_listed(d, VM_EXTERNAL_TMEM_LOAD, list, 1 + registers, imm);
}

void vm_decode_synchronises(vm_decoder *d) {
    const char *target = d->program->module->target;
    if (target != NULL && (strncmp(target, "sm_10", 5) == 0 || strncmp(target, "sm_11", 5) == 0))
        vm_decode_listed(d, VM_EXTERNAL_TMEM_FENCE, NULL, 0, VM_TMEM_FENCE_OTHER);
}

bool vm_decode_tmem(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_TCGEN05_ALLOC:
        allocate(d);
        return true;
    case PTX_OP_TCGEN05_DEALLOC:
        deallocate(d);
        return true;
    case PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT:
        vm_decode_listed(d, VM_EXTERNAL_TMEM_RELINQUISH, NULL, 0, group_of(d->instruction));
        return true;
    case PTX_OP_TCGEN05_LD:
    case PTX_OP_TCGEN05_ST:
        transfer(d);
        return true;
    case PTX_OP_TCGEN05_WAIT__LD:
        vm_decode_listed(d, VM_EXTERNAL_TMEM_WAIT, NULL, 0, VM_TMEM_WAIT_LOAD);
        return true;
    case PTX_OP_TCGEN05_WAIT__ST:
        vm_decode_listed(d, VM_EXTERNAL_TMEM_WAIT, NULL, 0, VM_TMEM_WAIT_STORE);
        return true;
    case PTX_OP_TCGEN05_FENCE__BEFORE_THREAD_SYNC:
        vm_decode_listed(d, VM_EXTERNAL_TMEM_FENCE, NULL, 0, VM_TMEM_FENCE_BEFORE);
        return true;
    case PTX_OP_TCGEN05_FENCE__AFTER_THREAD_SYNC:
        vm_decode_listed(d, VM_EXTERNAL_TMEM_FENCE, NULL, 0, VM_TMEM_FENCE_AFTER);
        return true;
    default:
        return false;
    }
}
