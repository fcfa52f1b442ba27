/* SPDX-License-Identifier: Apache-2.0
 * Provenance of memory instructions: tensor, logical indices as the author wrote them, and the registers that
 * hold their variables now. Must not emit. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

enum { MAXIMUM_DEPTH = 24 };

static ptx_index_op index_op(ir_op op) {
    switch (op) {
    case IR_ADD:
        return PTX_INDEX_ADD;
    case IR_SUB:
        return PTX_INDEX_SUB;
    case IR_MUL:
        return PTX_INDEX_MUL;
    case IR_FLOORDIV:
        return PTX_INDEX_FLOORDIV;
    case IR_FLOORMOD:
        return PTX_INDEX_FLOORMOD;
    default:
        return PTX_INDEX_UNKNOWN;
    }
}

static ptx_index *of_operand(ptx_builder *b, ptx_operand operand) {
    ptx_index *index = BASE_NEW(b->arena, ptx_index);
    if (operand.kind == PTX_OPERAND_IMMEDIATE) {
        index->op = PTX_INDEX_CONSTANT;
        index->constant = (int64_t)operand.bits;
    } else if (operand.kind == PTX_OPERAND_REGISTER && operand.of.reg->type != PTX_TYPE_PRED) {
        index->op = PTX_INDEX_REGISTER;
        index->reg = operand.of.reg;
    }
    return index;
}

static bool special_of(const ir_expr *e, int64_t *special) {
    int64_t axis = e->at.integer;
    switch (e->op) {
    case IR_THREAD_IDX:
        *special = PTX_SPECIAL_TID_X + axis;
        return true;
    case IR_BLOCK_IDX:
        *special = PTX_SPECIAL_CTAID_X + axis;
        return true;
    case IR_BLOCK_DIM:
        *special = PTX_SPECIAL_NTID_X + axis;
        return true;
    case IR_GRID_DIM:
        *special = PTX_SPECIAL_NCTAID_X + axis;
        return true;
    case IR_LANE_ID:
        *special = PTX_SPECIAL_LANEID;
        return true;
    default:
        return false;
    }
}

/* A tree over constants, special registers and registers that are set at this place; UNKNOWN where a part is
 * none of these, for instance a variable whose value was folded into an address. */
static ptx_index *tree(ptx_builder *b, const ir_expr *e, unsigned depth) {
    ptx_index *index = BASE_NEW(b->arena, ptx_index);
    if (depth > MAXIMUM_DEPTH)
        return index;
    if (e->op == IR_INT) {
        index->op = PTX_INDEX_CONSTANT;
        index->constant = e->at.integer;
        return index;
    }
    if (special_of(e, &index->constant)) {
        index->op = PTX_INDEX_SPECIAL;
        return index;
    }
    if (e->op == IR_RAMP)
        return tree(b, e->args[0], depth + 1);
    if (e->op == IR_VAR || e->op == IR_REGISTER) {
        const ptx_operand *bound = ptx_build_bound(b, e->at.var);
        if (bound)
            return of_operand(b, bound[0]);
        return e->at.var->value ? tree(b, e->at.var->value, depth + 1) : index;
    }
    const ptx_operand *known = ptx_build_recall(&b->pure, e->id);
    if (known)
        return of_operand(b, known[0]);
    ptx_index_op op = index_op(e->op);
    if (op == PTX_INDEX_UNKNOWN || e->count != 2)
        return e->op == IR_CAST && ir_type_is_integer(e->type) ? tree(b, e->args[0], depth + 1) : index;
    const ptx_index *left = tree(b, e->args[0], depth + 1), *right = tree(b, e->args[1], depth + 1);
    if (left->op == PTX_INDEX_UNKNOWN || right->op == PTX_INDEX_UNKNOWN)
        return index;
    index->op = op;
    index->a = left, index->b = right;
    return index;
}

static const ptx_index *rooted(ptx_builder *b, const ir_expr *e) {
    base_builder text;
    base_builder_start(&text, b->arena);
    ir_expr_print(e, &text);
    ptx_index *index = tree(b, e, 0);
    index->text = text.data;
    return index;
}

static const char *pointer_name(const ir_expr *pointer) {
    for (unsigned i = 0; i < 64; i++) {
        if (pointer->op == IR_DATA)
            return pointer->at.tensor->name;
        if (pointer->op == IR_VAR || pointer->op == IR_REGISTER)
            return pointer->at.var->name;
        if (pointer->count == 0 || pointer->args[0]->type.kind != IR_TYPE_POINTER)
            break;
        pointer = pointer->args[0];
    }
    return "pointer";
}

const ptx_origin *ptx_build_origin(ptx_builder *b, const ir_expr *origin, const ir_expr *pointer,
                                   const ir_expr *index, bool is_store) {
    ptx_origin *result = BASE_NEW(b->arena, ptx_origin);
    result->is_store = is_store;
    result->space = ir_scope_name((ir_scope)pointer->type.scope);
    if (!origin) {
        result->tensor = pointer_name(pointer);
        const ptx_index **indices = BASE_NEW_ARRAY(b->arena, const ptx_index *, 1);
        int64_t *extents = BASE_NEW_ARRAY(b->arena, int64_t, 1);
        if (index)
            indices[0] = rooted(b, index);
        extents[0] = -1;
        result->rank = index ? 1 : 0;
        result->indices = indices;
        result->extents = extents;
        return result;
    }
    const ir_tensor *tensor = origin->at.tensor;
    result->tensor = tensor->name;
    result->rank = origin->count;
    const ptx_index **indices = BASE_NEW_ARRAY(b->arena, const ptx_index *, origin->count);
    int64_t *extents = BASE_NEW_ARRAY(b->arena, int64_t, origin->count);
    for (uint32_t i = 0; i < origin->count; i++) {
        indices[i] = rooted(b, origin->args[i]);
        if (i >= tensor->type.rank || !ir_is_int(tensor->type.shape[i], &extents[i]))
            extents[i] = -1;
    }
    result->indices = indices;
    result->extents = extents;
    return result;
}
