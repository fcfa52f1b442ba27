/* SPDX-License-Identifier: Apache-2.0
 * mbarrier instructions and what else orders threads of a cluster (PTX ISA 9.7.13). */
#include "vm/vm_atomic.h"
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

/* ---- clusters ---- */
static vm_op *listed(vm_decoder *d, vm_external kind, uint64_t imm, const uint32_t *list, uint32_t count) {
    uint32_t extras = vm_decode_extras(d, list, count);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, kind);
    op->x = extras;
    op->imm = imm;
    return op;
}

static void map_address(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool generic = !ptx_has(i, PTX_MOD_SHARED__CLUSTER), wide = ptx_type_bits(i->type) == 64;
    uint32_t list[3] = {vm_decode_read(d, 1, i->type), vm_decode_read(d, 2, PTX_TYPE_U32),
                        vm_decode_write(d, 0, i->type) | VM_REF_WRITTEN};
    listed(d, VM_EXTERNAL_CLUSTER_MAP, (generic ? 1 : 0) | (wide ? 2 : 0), list, 3);
}

static void rank_of_address(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool generic = !ptx_has(i, PTX_MOD_SHARED__CLUSTER), wide = ptx_type_bits(i->type) == 64;
    uint32_t list[2] = {vm_decode_read(d, 1, i->type), vm_decode_write(d, 0, PTX_TYPE_U32) | VM_REF_WRITTEN};
    listed(d, VM_EXTERNAL_CLUSTER_RANK, (generic ? 1 : 0) | (wide ? 2 : 0), list, 2);
}

/* st.async and red.async, to shared memory of the cluster or to global memory. */
static void async_store(vm_decoder *d, bool reduces) {
    const ptx_instruction *i = d->instruction;
    bool cluster = ptx_has(i, PTX_MOD_MBARRIER__COMPLETE_TX__BYTES);
    bool generic = !ptx_has(i, PTX_MOD_SHARED__CLUSTER);
    uint32_t count = ptx_has(i, PTX_MOD_V4) ? 4 : ptx_has(i, PTX_MOD_V2) ? 2 : 1, list[6];
    unsigned bits = ptx_type_bits(i->type), log2 = bits == 64 ? 3 : bits == 32 ? 2 : bits == 16 ? 1 : 0;
    vm_atomic_operation operation = VM_ATOMIC_ADD;
    const ptx_operand *from = vm_decode_operand(d, 1);
    if ((reduces && !vm_decode_atomic_operation(i, &operation)) || from == NULL ||
        (count > 1 && (from->kind != PTX_OPERAND_VECTOR || from->count != count))) {
        vm_decode_unsupported(d);
        return;
    }
    vm_space space = cluster && !generic ? VM_SHARED : VM_GENERIC;
    list[0] = vm_decode_place(d, 0, space);
    list[1] = cluster ? vm_decode_place(d, 2, space) : NONE;
    for (uint32_t k = 0; k < count; k++)
        list[2 + k] = vm_decode_source(d, count > 1 ? &from->args[k] : from, i->type);
    uint64_t imm = log2 | count << 4 | (space == VM_GENERIC ? 1u << 8 : 0) | (cluster ? 0 : 1u << 9) |
                   (uint32_t)operation << 16 | (uint64_t)i->type << 24;
    listed(d, reduces ? VM_EXTERNAL_ASYNC_REDUCE : VM_EXTERNAL_ASYNC_STORE, imm, list, 2 + count);
    if (!cluster && reduces)
        d->function->serial = true;
}

static void try_cancel(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool generic = !ptx_has(i, PTX_MOD_SHARED__CTA);
    vm_space space = generic ? VM_GENERIC : VM_SHARED;
    uint32_t list[2] = {vm_decode_place(d, 0, space), vm_decode_place(d, 1, space)};
    bool all = ptx_has(i, PTX_MOD_MULTICAST__CLUSTER__ALL);
    listed(d, VM_EXTERNAL_TRY_CANCEL, (generic ? 1 : 0) | (all ? 2 : 0), list, 2);
    d->function->grouped = true; /* CTAs that have not started can be taken back */
}

static void query_cancel(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t list[5] = {vm_decode_read(d, 1, PTX_TYPE_B128), NONE, NONE, NONE, NONE};
    const ptx_operand *to = vm_decode_operand(d, 0);
    if (ptx_has(i, PTX_MOD_IS_CANCELED)) {
        list[1] = vm_decode_write(d, 0, PTX_TYPE_PRED) | VM_REF_WRITTEN;
        listed(d, VM_EXTERNAL_QUERY_CANCEL, 0, list, 5);
        return;
    }
    if (!ptx_has(i, PTX_MOD_GET_FIRST_CTAID)) {
        uint64_t axis = ptx_has(i, PTX_MOD_GET_FIRST_CTAID__Z)   ? 2
                        : ptx_has(i, PTX_MOD_GET_FIRST_CTAID__Y) ? 1
                                                                 : 0;
        list[1] = vm_decode_write(d, 0, PTX_TYPE_B32) | VM_REF_WRITTEN;
        listed(d, VM_EXTERNAL_QUERY_CANCEL, 2 + axis, list, 5);
        return;
    }
    if (to == NULL || to->kind != PTX_OPERAND_VECTOR || to->count != 4) {
        vm_decode_unsupported(d);
        return;
    }
    for (uint32_t k = 0; k < 4; k++)
        if (to->args[k].kind != PTX_OPERAND_SINK)
            list[1 + k] = vm_decode_target(d, &to->args[k], PTX_TYPE_B32) | VM_REF_WRITTEN;
    listed(d, VM_EXTERNAL_QUERY_CANCEL, 1, list, 5);
}

static void registers(vm_decoder *d) {
    const ptx_operand *count = vm_decode_operand(d, 0);
    if (count == NULL || count->kind != PTX_OPERAND_IMMEDIATE) {
        vm_decode_unsupported(d);
        return;
    }
    bool more = ptx_has(d->instruction, PTX_MOD_INC);
    listed(d, VM_EXTERNAL_REGISTERS, (count->bits & 0xffff) | (more ? 1u << 16 : 0), NULL, 0);
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
    case PTX_OP_BARRIER_CLUSTER_ARRIVE:
        listed(d, VM_EXTERNAL_CLUSTER_ARRIVE, 0, NULL, 0);
        return true;
    case PTX_OP_BARRIER_CLUSTER_WAIT:
        listed(d, VM_EXTERNAL_CLUSTER_WAIT, 0, NULL, 0);
        return true;
    case PTX_OP_MAPA:
        map_address(d);
        return true;
    case PTX_OP_GETCTARANK:
        rank_of_address(d);
        return true;
    case PTX_OP_ST_ASYNC:
        async_store(d, false);
        return true;
    case PTX_OP_RED_ASYNC:
        async_store(d, true);
        return true;
    case PTX_OP_CLUSTERLAUNCHCONTROL_TRY_CANCEL:
        try_cancel(d);
        return true;
    case PTX_OP_CLUSTERLAUNCHCONTROL_QUERY_CANCEL:
        query_cancel(d);
        return true;
    case PTX_OP_SETMAXNREG:
        registers(d);
        return true;
    default:
        return false;
    }
}
