/* SPDX-License-Identifier: Apache-2.0
 * mbarrier instructions and what else orders threads of a cluster (PTX ISA 9.7.13). */
#include "vm/vm_decode.h"
#include "vm/vm_mbarrier.h"

#define NONE VM_REF_NONE

static uint64_t address_flags(const ptx_instruction *i) {
    if (ptx_has(i, PTX_MOD_SHARED__CLUSTER))
        return VM_MBARRIER_CLUSTER;
    return ptx_has(i, PTX_MOD_SHARED) || ptx_has(i, PTX_MOD_SHARED__CTA) ? 0 : VM_MBARRIER_GENERIC;
}

static void emit(vm_decoder *d, uint64_t imm, uint32_t address, uint32_t operand, uint32_t result) {
    uint32_t list[3] = {address, operand, result == NONE ? NONE : result | VM_REF_WRITTEN};
    uint32_t extras = vm_decode_extras(d, list, 3);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_MBARRIER);
    op->x = extras;
    op->imm = imm;
}

static void mbarrier(vm_decoder *d, vm_mbarrier_kind kind) {
    const ptx_instruction *i = d->instruction;
    uint64_t imm = kind | address_flags(i);
    vm_space space = imm & VM_MBARRIER_GENERIC ? VM_GENERIC : VM_SHARED;
    uint32_t address = vm_decode_place(d, 0, space), operand = NONE;
    if (kind != VM_MBARRIER_INVAL)
        operand = vm_decode_read(d, 1, PTX_TYPE_U32);
    emit(d, imm, address, operand, NONE);
}

static void arrive(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint64_t imm = VM_MBARRIER_ARRIVE | address_flags(i);
    if (i->op == PTX_OP_MBARRIER_ARRIVE_DROP)
        imm |= VM_MBARRIER_DROP;
    if (ptx_has(i, PTX_MOD_EXPECT_TX))
        imm |= VM_MBARRIER_EXPECT;
    if (ptx_has(i, PTX_MOD_NOCOMPLETE))
        imm |= VM_MBARRIER_NO_COMPLETE;
    vm_space space = imm & VM_MBARRIER_GENERIC ? VM_GENERIC : VM_SHARED;
    const ptx_operand *to = vm_decode_operand(d, 0);
    uint32_t address = vm_decode_place(d, 1, space), operand = NONE, result = NONE;
    if (i->operand_count > 2)
        operand = vm_decode_read(d, 2, PTX_TYPE_U32);
    else
        imm |= VM_MBARRIER_ONE;
    if (to != NULL && to->kind != PTX_OPERAND_SINK)
        result = vm_decode_target(d, to, PTX_TYPE_B64);
    emit(d, imm, address, operand, result);
}

static void wait(vm_decoder *d, vm_mbarrier_kind kind) {
    const ptx_instruction *i = d->instruction;
    uint64_t imm = kind | address_flags(i);
    bool parity = ptx_has(i, PTX_MOD_PARITY);
    vm_space space = imm & VM_MBARRIER_GENERIC ? VM_GENERIC : VM_SHARED;
    uint32_t address = vm_decode_place(d, 1, space);
    uint32_t operand = vm_decode_read(d, 2, parity ? PTX_TYPE_U32 : PTX_TYPE_B64);
    emit(d, imm | (parity ? VM_MBARRIER_PARITY : 0), address, operand, vm_decode_write(d, 0, PTX_TYPE_PRED));
    d->poll = kind == VM_MBARRIER_TEST_WAIT;
}

bool vm_decode_sync(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_MBARRIER_INIT:
        mbarrier(d, VM_MBARRIER_INIT);
        return true;
    case PTX_OP_MBARRIER_INVAL:
        mbarrier(d, VM_MBARRIER_INVAL);
        return true;
    case PTX_OP_MBARRIER_EXPECT_TX:
        mbarrier(d, VM_MBARRIER_EXPECT_TX);
        return true;
    case PTX_OP_MBARRIER_COMPLETE_TX:
        mbarrier(d, VM_MBARRIER_COMPLETE_TX);
        return true;
    case PTX_OP_MBARRIER_ARRIVE:
    case PTX_OP_MBARRIER_ARRIVE_DROP:
        arrive(d);
        return true;
    case PTX_OP_MBARRIER_TEST_WAIT:
        wait(d, VM_MBARRIER_TEST_WAIT);
        return true;
    case PTX_OP_MBARRIER_TRY_WAIT:
        wait(d, VM_MBARRIER_TRY_WAIT);
        return true;
    case PTX_OP_MBARRIER_PENDING_COUNT:
        emit(d, VM_MBARRIER_PENDING_COUNT, vm_decode_read(d, 1, PTX_TYPE_B64), NONE,
             vm_decode_write(d, 0, PTX_TYPE_U32));
        return true;
    default:
        return false;
    }
}
