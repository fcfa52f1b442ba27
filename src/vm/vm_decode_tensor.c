/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.mma, cp, shift and commit (PTX ISA 9.7.16.9, 9.7.16.10, 9.7.16.12), into operations with all
 * references in a list. What the machine does not have: sparse A. */
#include "vm/vm_decode.h"
#include "vm/vm_tensor.h"

#define NONE VM_REF_NONE

static uint64_t group_of(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_CTA_GROUP__2) ? VM_TENSOR_PAIR : 0;
}

static bool kind_of(const ptx_instruction *i, vm_tensor_kind *kind) {
    static const ptx_mod kinds[VM_TENSOR_KIND_COUNT] = {
        [VM_TENSOR_F16] = PTX_MOD_KIND__F16,           [VM_TENSOR_TF32] = PTX_MOD_KIND__TF32,
        [VM_TENSOR_F8F6F4] = PTX_MOD_KIND__F8F6F4,     [VM_TENSOR_I8] = PTX_MOD_KIND__I8,
        [VM_TENSOR_MXF8F6F4] = PTX_MOD_KIND__MXF8F6F4, [VM_TENSOR_MXF4] = PTX_MOD_KIND__MXF4,
        [VM_TENSOR_MXF4NVF4] = PTX_MOD_KIND__MXF4NVF4,
    };
    for (unsigned k = 0; k < VM_TENSOR_KIND_COUNT; k++)
        if (ptx_has(i, kinds[k])) {
            *kind = (vm_tensor_kind)k;
            return true;
        }
    return false;
}

/* Factors per row: 32 elements of K share one, or 16. */
static unsigned scale_vec_of(const ptx_instruction *i, vm_tensor_kind kind) {
    if (kind < VM_TENSOR_MXF8F6F4)
        return 0;
    if (kind == VM_TENSOR_MXF8F6F4)
        return 1;
    return ptx_has(i, PTX_MOD_SCALE_VEC__4X) || ptx_has(i, PTX_MOD_BLOCK16) ? 4 : 2;
}

static uint64_t collector_of(const ptx_instruction *i) {
    static const struct {
        ptx_mod mod;
        uint8_t buffer, what;
    } rows[] = {
#define ROW(name, buffer)                                                                                    \
    {PTX_MOD_COLLECTOR__##name##__FILL, buffer, VM_TENSOR_FILL},                                             \
        {PTX_MOD_COLLECTOR__##name##__USE, buffer, VM_TENSOR_USE},                                           \
        {PTX_MOD_COLLECTOR__##name##__LASTUSE, buffer, VM_TENSOR_LASTUSE},                                   \
        {PTX_MOD_COLLECTOR__##name##__DISCARD, buffer, VM_TENSOR_DISCARD}
        ROW(A, 0), ROW(B0, 1), ROW(B1, 2), ROW(B2, 3), ROW(B3, 4)};
#undef ROW
    for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (ptx_has(i, rows[k].mod))
            return (uint64_t)rows[k].buffer << VM_TENSOR_BUFFER_SHIFT | (uint64_t)rows[k].what
                                                                            << VM_TENSOR_COLLECTOR_SHIFT;
    return i->op == PTX_OP_TCGEN05_MMA_WS ? (uint64_t)1 << VM_TENSOR_BUFFER_SHIFT : 0;
}

/* Words of disable-output-lane behind the descriptors, when they are there. */
static bool mask_words(vm_decoder *d, const ptx_operand *operand, uint32_t *list, uint32_t *count) {
    if (operand == NULL || operand->kind != PTX_OPERAND_VECTOR)
        return true;
    if (operand->count != 4 && operand->count != 8)
        return false;
    for (uint32_t k = 0; k < operand->count; k++)
        list[k] = vm_decode_source(d, &operand->args[k], PTX_TYPE_B32);
    *count = operand->count;
    return true;
}

static void multiply(vm_decoder *d) {
    d->program->proxies = true; /* it reads shared memory through the async proxy */
    const ptx_instruction *i = d->instruction;
    vm_tensor_kind kind;
    const ptx_operand *a = vm_decode_operand(d, 1);
    bool shifts = ptx_has(i, PTX_MOD_ASHIFT);
    if (!kind_of(i, &kind) || a == NULL || (shifts && a->kind != PTX_OPERAND_MEMORY)) {
        vm_decode_unsupported(d);
        return;
    }
    uint32_t list[VM_TENSOR_LIST_MASK + 8], words = 0;
    bool in_tmem = a->kind == PTX_OPERAND_MEMORY, ws = i->op == PTX_OP_TCGEN05_MMA_WS;
    uint64_t imm = kind | group_of(i) | (ws ? VM_TENSOR_WS : 0) | (in_tmem ? VM_TENSOR_A_IN_TMEM : 0) |
                   (shifts ? VM_TENSOR_ASHIFT : 0) |
                   (uint64_t)scale_vec_of(i, kind) << VM_TENSOR_SCALE_VEC_SHIFT | collector_of(i);
    unsigned at = 4;
    list[VM_TENSOR_LIST_D] = vm_decode_tensor_address(d, 0);
    list[VM_TENSOR_LIST_A] = in_tmem ? vm_decode_tensor_address(d, 1) : vm_decode_read(d, 1, PTX_TYPE_B64);
    list[VM_TENSOR_LIST_B] = vm_decode_read(d, 2, PTX_TYPE_B64);
    list[VM_TENSOR_LIST_IDESC] = vm_decode_read(d, 3, PTX_TYPE_B32);
    list[VM_TENSOR_LIST_FACTOR_A] = list[VM_TENSOR_LIST_FACTOR_B] = NONE;
    if (kind >= VM_TENSOR_MXF8F6F4) {
        list[VM_TENSOR_LIST_FACTOR_A] = vm_decode_tensor_address(d, 4);
        list[VM_TENSOR_LIST_FACTOR_B] = vm_decode_tensor_address(d, 5);
        at = 6;
    } else {
        if (!mask_words(d, vm_decode_operand(d, at), list + VM_TENSOR_LIST_MASK, &words)) {
            vm_decode_unsupported(d);
            return;
        }
        at += words != 0;
        imm |= (uint64_t)words << VM_TENSOR_MASK_SHIFT;
    }
    list[VM_TENSOR_LIST_ENABLE] = vm_decode_predicate(d, vm_decode_operand(d, at));
    const ptx_operand *last = vm_decode_operand(d, at + 1);
    if (last != NULL && ws) {
        list[VM_TENSOR_LIST_FACTOR_A] = vm_decode_read(d, at + 1, PTX_TYPE_B64);
        imm |= VM_TENSOR_ZERO_MASK;
    } else if (last != NULL) {
        if (last->kind != PTX_OPERAND_IMMEDIATE || last->bits > 15) {
            vm_decode_unsupported(d);
            return;
        }
        imm |= last->bits << VM_TENSOR_SCALE_D_SHIFT;
    }
    vm_decode_listed(d, VM_EXTERNAL_TENSOR_MMA, list, VM_TENSOR_LIST_MASK + words, imm);
}

static void copy(vm_decoder *d) {
    d->program->proxies = true;
    const ptx_instruction *i = d->instruction;
    vm_tensor_cp_shape shape = ptx_has(i, PTX_MOD_128X256B)        ? VM_TENSOR_CP_128X256B
                               : ptx_has(i, PTX_MOD_4X256B)        ? VM_TENSOR_CP_4X256B
                               : ptx_has(i, PTX_MOD_128X128B)      ? VM_TENSOR_CP_128X128B
                               : ptx_has(i, PTX_MOD_WARPX2__02_13) ? VM_TENSOR_CP_64X128B_02_13
                               : ptx_has(i, PTX_MOD_WARPX2__01_23) ? VM_TENSOR_CP_64X128B_01_23
                                                                   : VM_TENSOR_CP_32X128B;
    vm_tensor_unpack unpack = ptx_has(i, PTX_MOD_B6X16_P32)   ? VM_TENSOR_UNPACK_B6
                              : ptx_has(i, PTX_MOD_B4X16_P64) ? VM_TENSOR_UNPACK_B4
                                                              : VM_TENSOR_UNPACK_NONE;
    uint32_t list[2] = {vm_decode_tensor_address(d, 0), vm_decode_read(d, 1, PTX_TYPE_B64)};
    vm_decode_listed(d, VM_EXTERNAL_TENSOR_CP, list, 2, group_of(i) | VM_TENSOR_CP_IMM(shape, unpack));
}

static void commit(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool shared = ptx_has(i, PTX_MOD_SHARED__CLUSTER), multicast = ptx_has(i, PTX_MOD_MULTICAST__CLUSTER);
    uint32_t list[2] = {vm_decode_place(d, 0, shared ? VM_SHARED : VM_GENERIC), NONE};
    if (multicast)
        list[1] = vm_decode_read(d, 1, PTX_TYPE_U16);
    vm_decode_listed(d, VM_EXTERNAL_TENSOR_COMMIT, list, 2,
                     group_of(i) | (shared ? VM_TENSOR_SHARED : 0) | (multicast ? VM_TENSOR_MULTICAST : 0));
}

bool vm_decode_tensor(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_TCGEN05_MMA:
    case PTX_OP_TCGEN05_MMA_WS:
        multiply(d);
        return true;
    case PTX_OP_TCGEN05_CP:
        copy(d);
        return true;
    case PTX_OP_TCGEN05_SHIFT:
        vm_decode_listed(d, VM_EXTERNAL_TENSOR_SHIFT, (uint32_t[]){vm_decode_tensor_address(d, 0)}, 1,
                         group_of(d->instruction));
        return true;
    case PTX_OP_TCGEN05_COMMIT:
        commit(d);
        return true;
    default:
        return false;
    }
}
