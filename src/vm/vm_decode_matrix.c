/* SPDX-License-Identifier: Apache-2.0
 * mma, ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.14.5). Every register of a fragment is an operand of one
 * operation; what the form says stands beside the program. */
#include "vm/vm_decode.h"
#include "vm/vm_matrix.h"
#include "vm/vm_matrix_warp.h"
#include "vm/vm_wgmma.h"

#define NONE VM_REF_NONE

enum { LIST = PTX_REGISTERS_MAX };
typedef struct reference_list {
    uint32_t refs[LIST];
    uint32_t count;
} reference_list;

static void push(vm_decoder *d, reference_list *list, uint32_t ref) {
    if (list->count < LIST)
        list->refs[list->count++] = ref;
    else
        vm_decode_unsupported(d);
}

/* The registers of a fragment: a vector, or one register. */
static void push_fragment(vm_decoder *d, reference_list *list, unsigned operand, unsigned count,
                          ptx_type type, bool written) {
    const ptx_operand *o = vm_decode_operand(d, operand);
    bool vector = o != NULL && o->kind == PTX_OPERAND_VECTOR;
    if (o == NULL || (vector ? o->count : 1u) != count) {
        vm_decode_unsupported(d);
        return;
    }
    ptx_type bits = ptx_type_bits(type) == 64 ? PTX_TYPE_B64 : PTX_TYPE_B32;
    for (unsigned k = 0; k < count; k++) {
        const ptx_operand *element = vector ? &o->args[k] : o;
        push(d, list,
             written ? vm_decode_target(d, element, bits) | VM_REF_WRITTEN
                     : vm_decode_source(d, element, bits));
    }
}

static void emit(vm_decoder *d, vm_external external, const reference_list *list, uint64_t imm) {
    if (d->failed)
        return;
    uint32_t extras = vm_decode_extras(d, list->refs, list->count);
    vm_op *op = vm_decode_emit(d, VM_CODE_EXTERNAL, external);
    op->x = extras;
    op->imm = imm;
}

/* d, a, b, c; with scale factors: scale-a, {byte-id, thread-id}, scale-b, {byte-id, thread-id}. */
static void multiply(vm_decoder *d) {
    vm_matrix_form *form = BASE_NEW(d->program->arena, vm_matrix_form);
    if (!vm_matrix_form_read(d->instruction, form)) {
        vm_decode_unsupported(d);
        return;
    }
    reference_list list = {.count = 0};
    push_fragment(d, &list, 0, form->d_count, form->d, true);
    push_fragment(d, &list, 1, form->a_count, form->a, false);
    push_fragment(d, &list, 2, form->b_count, form->b, false);
    push_fragment(d, &list, 3, form->c_count, form->c, false);
    for (unsigned side = 0; form->scales && side < 2; side++) {
        const ptx_operand *data = vm_decode_operand(d, 4 + 2 * side),
                          *ids = vm_decode_operand(d, 5 + 2 * side);
        if (data == NULL || ids == NULL || ids->kind != PTX_OPERAND_VECTOR || ids->count != 2) {
            vm_decode_unsupported(d);
            return;
        }
        push(d, &list,
             vm_decode_source(d, data->kind == PTX_OPERAND_VECTOR ? &data->args[0] : data, PTX_TYPE_B32));
        for (unsigned k = 0; k < 2; k++)
            push(d, &list, vm_decode_source(d, &ids->args[k], PTX_TYPE_U16));
    }
    emit(d, VM_EXTERNAL_MMA, &list, (uint64_t)(uintptr_t)form);
}

static unsigned repeats(const ptx_instruction *i) {
    return ptx_has(i, PTX_MOD_X4) ? 4 : ptx_has(i, PTX_MOD_X2) ? 2 : 1;
}

static uint64_t move_flags(const ptx_instruction *i) {
    uint64_t imm = repeats(i);
    if (ptx_has(i, PTX_MOD_TRANS))
        imm |= VM_MATRIX_TRANSPOSED;
    if (ptx_has(i, PTX_MOD_M16N16))
        imm |= VM_MATRIX_16X16;
    if (ptx_has(i, PTX_MOD_M16N8) || ptx_has(i, PTX_MOD_M8N16) || ptx_has(i, PTX_MOD_M16N16))
        imm |= VM_MATRIX_BYTES;
    if (ptx_has(i, PTX_MOD_B4X16_P64))
        imm |= VM_MATRIX_FROM_4;
    if (ptx_has(i, PTX_MOD_B6X16_P32))
        imm |= VM_MATRIX_FROM_6;
    if (!ptx_has(i, PTX_MOD_SHARED) && !ptx_has(i, PTX_MOD_SHARED__CTA))
        imm |= VM_MATRIX_GENERIC;
    return imm;
}

static void move(vm_decoder *d, bool store) {
    uint64_t imm = move_flags(d->instruction);
    unsigned count = repeats(d->instruction) * (imm & VM_MATRIX_16X16 ? 2 : 1);
    reference_list list = {.count = 0};
    push(d, &list, vm_decode_place(d, store ? 0 : 1, imm & VM_MATRIX_GENERIC ? VM_GENERIC : VM_SHARED));
    push_fragment(d, &list, store ? 1 : 0, count, PTX_TYPE_B32, !store);
    emit(d, store ? VM_EXTERNAL_STMATRIX : VM_EXTERNAL_LDMATRIX, &list, imm);
}

static void wmma_multiply(vm_decoder *d) {
    vm_matrix_form *form = BASE_NEW(d->program->arena, vm_matrix_form);
    if (!vm_matrix_form_read_wmma(d->instruction, form)) {
        vm_decode_unsupported(d);
        return;
    }
    reference_list list = {.count = 0};
    push_fragment(d, &list, 0, form->d_count, form->d, true);
    push_fragment(d, &list, 1, form->a_count, form->a, false);
    push_fragment(d, &list, 2, form->b_count, form->b, false);
    push_fragment(d, &list, 3, form->c_count, form->c, false);
    emit(d, VM_EXTERNAL_MMA, &list, (uint64_t)(uintptr_t)form);
}

static void wmma_move(vm_decoder *d) {
    vm_matrix_move *form = BASE_NEW(d->program->arena, vm_matrix_move);
    if (!vm_matrix_move_read(d->instruction, form)) {
        vm_decode_unsupported(d);
        return;
    }
    reference_list list = {.count = 0};
    push(d, &list,
         vm_decode_place(d, form->store ? 0 : 1,
                         form->space == 's'   ? VM_SHARED
                         : form->space == 'g' ? VM_GLOBAL
                                              : VM_GENERIC));
    push(d, &list, d->instruction->operand_count > 2 ? vm_decode_read(d, 2, PTX_TYPE_U32) : NONE);
    push_fragment(d, &list, form->store ? 1 : 0, form->count, form->type, !form->store);
    emit(d, VM_EXTERNAL_WMMA_MOVE, &list, (uint64_t)(uintptr_t)form);
}

/* D stands in the list twice: it is read and written, when the operation completes. */
static void warpgroup(vm_decoder *d) {
    vm_wgmma_form *form = BASE_NEW(d->program->arena, vm_wgmma_form);
    if (!vm_wgmma_form_read(d->instruction, form)) {
        vm_decode_unsupported(d);
        return;
    }
    const vm_matrix_form *f = &form->matrix;
    reference_list list = {.count = 0};
    push_fragment(d, &list, 0, f->d_count, f->d, true);
    push_fragment(d, &list, 0, f->d_count, f->d, false);
    if (form->a_shared)
        push(d, &list, vm_decode_read(d, 1, PTX_TYPE_B64));
    else
        push_fragment(d, &list, 1, f->a_count, PTX_TYPE_B32, false);
    push(d, &list, vm_decode_read(d, 2, PTX_TYPE_B64));
    push(d, &list, vm_decode_read(d, 3, PTX_TYPE_PRED));
    d->program->proxies = true; /* it reads shared memory through the async proxy */
    emit(d, VM_EXTERNAL_WGMMA, &list, (uint64_t)(uintptr_t)form);
}

static void group(vm_decoder *d, vm_wgmma_group what, uint64_t keep) {
    reference_list list = {.count = 0};
    emit(d, VM_EXTERNAL_WGMMA_GROUP, &list, (uint64_t)what | keep << 8);
}

void vm_decode_matrix_end(vm_decoder *d) {
    for (size_t i = 0; i < d->source->instructions.count; i++)
        if (d->source->instructions.items[i].op == PTX_OP_WGMMA_MMA_ASYNC) {
            group(d, VM_WGMMA_END, d->source->is_entry ? 0 : 1);
            return;
        }
}

bool vm_decode_matrix(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_WGMMA_MMA_ASYNC:
        warpgroup(d);
        return true;
    case PTX_OP_WGMMA_FENCE:
        group(d, VM_WGMMA_FENCE, 0);
        return true;
    case PTX_OP_WGMMA_COMMIT_GROUP:
        group(d, VM_WGMMA_COMMIT, 0);
        return true;
    case PTX_OP_WGMMA_WAIT_GROUP: {
        const ptx_operand *n = vm_decode_operand(d, 0);
        if (n == NULL || n->kind != PTX_OPERAND_IMMEDIATE)
            vm_decode_unsupported(d);
        else
            group(d, VM_WGMMA_WAIT, n->bits & 0xffffff);
        return true;
    }
    case PTX_OP_MMA:
        multiply(d);
        return true;
    case PTX_OP_WMMA_MMA:
        wmma_multiply(d);
        return true;
    case PTX_OP_WMMA_LOAD:
    case PTX_OP_WMMA_STORE:
        wmma_move(d);
        return true;
    case PTX_OP_LDMATRIX:
        move(d, false);
        return true;
    case PTX_OP_STMATRIX:
        move(d, true);
        return true;
    case PTX_OP_MOVMATRIX: {
        reference_list list = {.count = 0};
        push_fragment(d, &list, 0, 1, PTX_TYPE_B32, true);
        push_fragment(d, &list, 1, 1, PTX_TYPE_B32, false);
        emit(d, VM_EXTERNAL_MOVMATRIX, &list, 0);
        return true;
    }
    default:
        return false;
    }
}
