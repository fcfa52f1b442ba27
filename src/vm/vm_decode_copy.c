/* SPDX-License-Identifier: Apache-2.0
 * Asynchronous copies, their groups, and tensor maps (PTX ISA 9.7.9.25 to 9.7.9.28, 9.7.13.16) into
 * operations with all references in a list. */
#include "vm/vm_copy.h"
#include "vm/vm_decode.h"
#include "vm/vm_tensormap.h"

#define NONE VM_REF_NONE

static uint64_t operation_of(const ptx_instruction *i) {
    static const struct {
        ptx_mod mod;
        vm_atomic_operation operation;
    } rows[] = {{PTX_MOD_ADD, VM_ATOMIC_ADD}, {PTX_MOD_AND, VM_ATOMIC_AND}, {PTX_MOD_OR, VM_ATOMIC_OR},
                {PTX_MOD_XOR, VM_ATOMIC_XOR}, {PTX_MOD_MIN, VM_ATOMIC_MIN}, {PTX_MOD_MAX, VM_ATOMIC_MAX},
                {PTX_MOD_INC, VM_ATOMIC_INC}, {PTX_MOD_DEC, VM_ATOMIC_DEC}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (ptx_has(i, rows[k].mod))
            return VM_COPY_REDUCE | (uint64_t)rows[k].operation << VM_COPY_OPERATION_SHIFT;
    return 0;
}

/* Operands after the named ones: those that a modifier announces, in PTX's order. */
typedef struct rest {
    vm_decoder *d;
    unsigned at;
} rest;
static const ptx_operand *next_of(rest *r) {
    return vm_decode_operand(r->d, r->at++);
}

static vm_space barrier_space(const ptx_instruction *i) {
    (void)i; /* .mbarrier::complete_tx::bytes: the barrier stands in shared memory of the cluster */
    return VM_SHARED;
}

static void bulk(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool prefetch = i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH;
    bool out = !prefetch && ptx_has(i, PTX_MOD_BULK_GROUP);
    bool across = !prefetch && !out && ptx_has(i, PTX_MOD_SHARED__CTA) && ptx_has(i, PTX_MOD_SHARED__CLUSTER);
    uint32_t list[VM_BULK_OPERANDS] = {NONE, NONE, NONE, NONE, NONE};
    uint64_t imm = prefetch ? VM_COPY_PREFETCH : out ? VM_COPY_OUT : across ? VM_COPY_ACROSS : VM_COPY_IN;
    rest r = {d, 0};
    if (!prefetch)
        list[VM_BULK_TO] = vm_decode_place_of(d, next_of(&r), out ? VM_GLOBAL : VM_SHARED);
    list[VM_BULK_FROM] = vm_decode_place_of(d, next_of(&r), out || across ? VM_SHARED : VM_GLOBAL);
    list[VM_BULK_SIZE] = vm_decode_source(d, next_of(&r), PTX_TYPE_U32);
    if (!out && !prefetch)
        list[VM_BULK_BARRIER] = vm_decode_place_of(d, next_of(&r), barrier_space(i));
    if (ptx_has(i, PTX_MOD_SHARED__CLUSTER))
        imm |= VM_COPY_CLUSTER;
    if (ptx_has(i, PTX_MOD_MULTICAST__CLUSTER)) {
        imm |= VM_COPY_MULTICAST;
        list[VM_BULK_MASK] = vm_decode_source(d, next_of(&r), PTX_TYPE_U16);
    }
    if (ptx_has(i, PTX_MOD_CP_MASK)) {
        imm |= VM_COPY_MASKED;
        if (ptx_has(i, PTX_MOD_L2__CACHE_HINT))
            next_of(&r);
        list[VM_BULK_MASK] = vm_decode_source(d, next_of(&r), PTX_TYPE_U16);
    }
    if (i->op == PTX_OP_CP_REDUCE_ASYNC_BULK) {
        imm |= operation_of(i) | (uint64_t)i->type << VM_COPY_TYPE_SHIFT;
        if (out && vm_decode_float(i->type) && ptx_has(i, PTX_MOD_ADD))
            d->function->serial = true; /* the order of the sums shows */
    }
    d->program->proxies |= out || across;
    vm_decode_listed(d, VM_EXTERNAL_BULK_COPY, list, VM_BULK_OPERANDS, imm);
}

static vm_tensor_form tensor_form(const ptx_instruction *i, bool out) {
    return ptx_has(i, PTX_MOD_TILE__GATHER4)    ? VM_TENSOR_GATHER4
           : ptx_has(i, PTX_MOD_TILE__SCATTER4) ? VM_TENSOR_SCATTER4
           : ptx_has(i, PTX_MOD_IM2COL)         ? (out ? VM_TENSOR_IM2COL_NO_OFFSETS : VM_TENSOR_IM2COL_LOAD)
           : ptx_has(i, PTX_MOD_IM2COL__W)      ? VM_TENSOR_WIDE
           : ptx_has(i, PTX_MOD_IM2COL__W__128) ? VM_TENSOR_WIDE_128
           : ptx_has(i, PTX_MOD_IM2COL_NO_OFFS) ? VM_TENSOR_IM2COL_NO_OFFSETS
                                                : VM_TENSOR_TILE;
}

/* [map, {c0, c1, ...}] */
static bool tensor_place(vm_decoder *d, const ptx_operand *operand, vm_tensor_form form, uint32_t rank,
                         uint32_t *list) {
    uint32_t count = form == VM_TENSOR_GATHER4 || form == VM_TENSOR_SCATTER4 ? 5 : rank;
    if (operand == NULL || operand->kind != PTX_OPERAND_MEMORY || operand->count != 2)
        return false;
    const ptx_operand *vector = &operand->args[1];
    bool single = vector->kind != PTX_OPERAND_VECTOR;
    if ((single ? 1u : vector->count) != count)
        return false;
    ptx_operand base = *operand;
    base.count = 1;
    list[VM_TENSOR_COPY_MAP] = vm_decode_place_of(d, &base, VM_GENERIC);
    for (uint32_t k = 0; k < count; k++)
        list[VM_TENSOR_COPY_COORDINATE + k] =
            vm_decode_source(d, single ? vector : &vector->args[k], PTX_TYPE_S32);
    return true;
}

static bool tensor(vm_decoder *d) {
    static const ptx_mod ranks[] = {PTX_MOD_1D, PTX_MOD_2D, PTX_MOD_3D, PTX_MOD_4D, PTX_MOD_5D};
    const ptx_instruction *i = d->instruction;
    bool prefetch = i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR, out = ptx_has(i, PTX_MOD_BULK_GROUP);
    vm_tensor_form form = tensor_form(i, out);
    uint32_t rank = 1, list[VM_TENSOR_COPY_OPERANDS];
    for (uint32_t k = 0; k < VM_TENSOR_COPY_OPERANDS; k++)
        list[k] = NONE;
    for (uint32_t k = 0; k < 5; k++)
        if (ptx_has(i, ranks[k]))
            rank = k + 1;
    rest r = {d, 0};
    if (!prefetch && !out)
        list[VM_TENSOR_COPY_SHARED] = vm_decode_place_of(d, next_of(&r), VM_SHARED);
    if (!tensor_place(d, next_of(&r), form, rank, list))
        return false;
    if (out)
        list[VM_TENSOR_COPY_SHARED] = vm_decode_place_of(d, next_of(&r), VM_SHARED);
    if (!prefetch && !out)
        list[VM_TENSOR_COPY_BARRIER] = vm_decode_place_of(d, next_of(&r), barrier_space(i));
    bool wide = form == VM_TENSOR_WIDE || form == VM_TENSOR_WIDE_128;
    if (form == VM_TENSOR_IM2COL_LOAD || wide) {
        const ptx_operand *offsets = next_of(&r);
        uint32_t count = wide ? 2 : rank - 2;
        bool single = offsets != NULL && offsets->kind != PTX_OPERAND_VECTOR;
        if (offsets == NULL || (single ? 1u : offsets->count) != count)
            return false;
        for (uint32_t k = 0; k < count; k++)
            list[VM_TENSOR_COPY_OFFSET + k] =
                vm_decode_source(d, single ? offsets : &offsets->args[k], PTX_TYPE_U16);
    }
    uint64_t imm = prefetch ? VM_COPY_PREFETCH : out ? VM_COPY_OUT : VM_COPY_IN;
    imm |= (uint64_t)rank << VM_COPY_RANK_SHIFT | (uint64_t)form << VM_COPY_FORM_SHIFT;
    if (ptx_has(i, PTX_MOD_SHARED__CLUSTER))
        imm |= VM_COPY_CLUSTER;
    if (ptx_has(i, PTX_MOD_CTA_GROUP__2))
        imm |= VM_COPY_PAIR;
    if (ptx_has(i, PTX_MOD_MULTICAST__CLUSTER)) {
        imm |= VM_COPY_MULTICAST;
        list[VM_TENSOR_COPY_MASK] = vm_decode_source(d, next_of(&r), PTX_TYPE_U16);
    }
    if (i->op == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR) {
        imm |= operation_of(i);
        if (ptx_has(i, PTX_MOD_ADD)) /* the map says the type; of floats the order of the sums shows */
            d->function->serial = true;
    }
    d->program->proxies |= out;
    vm_decode_listed(d, VM_EXTERNAL_TENSOR_COPY, list, VM_TENSOR_COPY_OPERANDS, imm);
    return true;
}

static void copy_async(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t list[4] = {vm_decode_place(d, 0, VM_SHARED), vm_decode_place(d, 1, VM_GLOBAL), NONE, NONE};
    const ptx_operand *size = vm_decode_operand(d, 2), *extra = vm_decode_operand(d, 3);
    if (size == NULL || size->kind != PTX_OPERAND_IMMEDIATE) {
        vm_decode_unsupported(d);
        return;
    }
    unsigned hint = ptx_has(i, PTX_MOD_L2__CACHE_HINT);
    if (i->operand_count > 3 + hint && extra != NULL) {
        bool ignore = extra->kind == PTX_OPERAND_REGISTER && ptx_type_bits(extra->of.reg->type) == 1;
        list[ignore ? 3 : 2] =
            ignore ? vm_decode_predicate(d, extra) : vm_decode_source(d, extra, PTX_TYPE_U32);
    }
    vm_decode_listed(d, VM_EXTERNAL_COPY_ASYNC, list, 4, size->bits);
}

static void step(vm_decoder *d, vm_copy_step what, uint32_t count) {
    vm_decode_listed(d, VM_EXTERNAL_COPY_GROUP, NULL, 0, (uint64_t)what | (uint64_t)count << 4);
}

static uint32_t wait_count(vm_decoder *d) {
    const ptx_operand *count = vm_decode_operand(d, 0);
    if (count == NULL || count->kind != PTX_OPERAND_IMMEDIATE)
        vm_decode_unsupported(d);
    return count && count->bits < 0xffffff ? (uint32_t)count->bits : 0xffffff;
}

static void arrive(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool shared = ptx_has(i, PTX_MOD_SHARED) || ptx_has(i, PTX_MOD_SHARED__CTA);
    uint32_t list[1] = {vm_decode_place(d, 0, shared ? VM_SHARED : VM_GENERIC)};
    uint64_t imm = ptx_has(i, PTX_MOD_NOINC) ? VM_COPY_ARRIVE_NO_INCREMENT : VM_COPY_ARRIVE;
    vm_decode_listed(d, VM_EXTERNAL_COPY_GROUP, list, 1, imm | (shared ? 0 : VM_COPY_STEP_GENERIC));
}

static void store_bulk(vm_decoder *d) {
    bool shared = ptx_has(d->instruction, PTX_MOD_SHARED__CTA);
    uint32_t list[2];
    list[0] = vm_decode_place(d, 0, shared ? VM_SHARED : VM_GENERIC);
    list[1] = vm_decode_read(d, 1, PTX_TYPE_U64);
    const ptx_operand *size = vm_decode_operand(d, 1);
    if (size != NULL && size->kind == PTX_OPERAND_REGISTER && ptx_type_bits(size->of.reg->type) == 32)
        list[1] =
            vm_decode_lane_new(d, VM_LANE_ZEXT32, VM_REF(VM_REF_FRAME, size->of.reg->id), NONE, NONE, 0);
    vm_decode_listed(d, VM_EXTERNAL_STORE_BULK, list, 2, shared);
}

/* ---- tensor maps ---- */
static void map_replace(vm_decoder *d) {
    static const struct {
        ptx_mod mod;
        vm_tensor_field field;
    } rows[] = {{PTX_MOD_GLOBAL_ADDRESS, VM_TENSOR_FIELD_GLOBAL_ADDRESS},
                {PTX_MOD_RANK, VM_TENSOR_FIELD_RANK},
                {PTX_MOD_BOX_DIM, VM_TENSOR_FIELD_BOX_DIM},
                {PTX_MOD_GLOBAL_DIM, VM_TENSOR_FIELD_GLOBAL_DIM},
                {PTX_MOD_GLOBAL_STRIDE, VM_TENSOR_FIELD_GLOBAL_STRIDE},
                {PTX_MOD_ELEMENT_STRIDE, VM_TENSOR_FIELD_ELEMENT_STRIDE},
                {PTX_MOD_ELEMTYPE, VM_TENSOR_FIELD_ELEMTYPE},
                {PTX_MOD_INTERLEAVE_LAYOUT, VM_TENSOR_FIELD_INTERLEAVE_LAYOUT},
                {PTX_MOD_SWIZZLE_MODE, VM_TENSOR_FIELD_SWIZZLE_MODE},
                {PTX_MOD_SWIZZLE_ATOMICITY, VM_TENSOR_FIELD_SWIZZLE_ATOMICITY},
                {PTX_MOD_FILL_MODE, VM_TENSOR_FIELD_FILL_MODE}};
    const ptx_instruction *i = d->instruction;
    vm_tensor_field field = VM_TENSOR_FIELD_GLOBAL_ADDRESS;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if (ptx_has(i, rows[k].mod))
            field = rows[k].field;
    bool ordered = field == VM_TENSOR_FIELD_BOX_DIM || field == VM_TENSOR_FIELD_GLOBAL_DIM ||
                   field == VM_TENSOR_FIELD_GLOBAL_STRIDE || field == VM_TENSOR_FIELD_ELEMENT_STRIDE;
    bool wide = field == VM_TENSOR_FIELD_GLOBAL_ADDRESS || field == VM_TENSOR_FIELD_GLOBAL_STRIDE;
    const ptx_operand *ordinal = ordered ? vm_decode_operand(d, 1) : NULL;
    if (ordered && (ordinal == NULL || ordinal->kind != PTX_OPERAND_IMMEDIATE || ordinal->bits > 15)) {
        vm_decode_unsupported(d);
        return;
    }
    vm_space space = ptx_has(i, PTX_MOD_GLOBAL)        ? VM_GLOBAL
                     : ptx_has(i, PTX_MOD_SHARED__CTA) ? VM_SHARED
                                                       : VM_GENERIC;
    uint32_t list[2];
    list[0] = vm_decode_place(d, 0, space);
    list[1] = vm_decode_read(d, ordered ? 2 : 1, wide ? PTX_TYPE_B64 : PTX_TYPE_B32);
    vm_decode_listed(d, VM_EXTERNAL_TENSORMAP, list, 2,
                     VM_TENSORMAP_REPLACE | (uint64_t)field << 4 | (ordinal ? ordinal->bits : 0) << 8 |
                         (uint64_t)space << 12 | (uint64_t)wide << 16);
}

static void map_copy(vm_decoder *d) {
    uint32_t list[2] = {vm_decode_place(d, 0, VM_GLOBAL), vm_decode_place(d, 1, VM_SHARED)};
    vm_decode_listed(d, VM_EXTERNAL_TENSORMAP, list, 2, VM_TENSORMAP_COPY);
}

/* Fences between proxies; the other fences do nothing here. */
static bool fence(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    bool async = ptx_has(i, PTX_MOD_ASYNC) || ptx_has(i, PTX_MOD_ASYNC__GENERIC);
    if (async && !ptx_has(i, PTX_MOD_GLOBAL)) {
        vm_decode_listed(d, VM_EXTERNAL_PROXY_FENCE, NULL, 0, 0);
        return true;
    }
    if (ptx_has(i, PTX_MOD_TENSORMAP__GENERIC) && ptx_has(i, PTX_MOD_ACQUIRE)) {
        uint32_t list[1] = {vm_decode_place(d, 0, VM_GENERIC)};
        vm_decode_listed(d, VM_EXTERNAL_TENSORMAP, list, 1, VM_TENSORMAP_ACQUIRE);
        return true;
    }
    return false;
}

bool vm_decode_copy(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_CP_ASYNC:
        copy_async(d);
        return true;
    case PTX_OP_CP_ASYNC_COMMIT_GROUP:
        step(d, VM_COPY_COMMIT, 0);
        return true;
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
        step(d, VM_COPY_WAIT, wait_count(d));
        return true;
    case PTX_OP_CP_ASYNC_WAIT_ALL:
        step(d, VM_COPY_WAIT_ALL, 0);
        return true;
    case PTX_OP_CP_ASYNC_MBARRIER_ARRIVE:
        arrive(d);
        return true;
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH:
        bulk(d);
        return true;
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR:
        return tensor(d);
    case PTX_OP_CP_ASYNC_BULK_COMMIT_GROUP:
        step(d, VM_COPY_BULK_COMMIT, 0);
        return true;
    case PTX_OP_CP_ASYNC_BULK_WAIT_GROUP:
        step(d, ptx_has(d->instruction, PTX_MOD_READ) ? VM_COPY_BULK_WAIT_READ : VM_COPY_BULK_WAIT,
             wait_count(d));
        return true;
    case PTX_OP_ST_BULK:
        store_bulk(d);
        return true;
    case PTX_OP_TENSORMAP_REPLACE:
        map_replace(d);
        return true;
    case PTX_OP_TENSORMAP_CP_FENCEPROXY:
        map_copy(d);
        return true;
    case PTX_OP_FENCE_PROXY:
        return fence(d);
    default:
        return false;
    }
}
