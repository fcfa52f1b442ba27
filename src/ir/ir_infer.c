/* SPDX-License-Identifier: Apache-2.0
 * The type an op gives over its arguments: one rule for constructors, printer, parser and verifier. Does not
 * judge whether the arguments are allowed (ir_verify.c). */
#include "ir/ir_private.h"
#include "ir/ir_text.h"
#include <string.h>

static unsigned clamp_lanes(unsigned long lanes) {
    return lanes > UINT16_MAX ? UINT16_MAX : (unsigned)lanes;
}

static ir_type load_type(const ir_tensor *tensor, const ir_expr *const *indices, uint32_t count) {
    unsigned long lanes = tensor->type.lanes;
    if (count && indices[count - 1]->type.kind == IR_TYPE_PRIM)
        lanes *= indices[count - 1]->type.lanes;
    return ir_type_prim(tensor->type.dtype, clamp_lanes(lanes));
}

static ir_type bool_over(ir_type type) {
    return ir_type_prim(NUM_DTYPE_BOOL, type.kind == IR_TYPE_PRIM ? type.lanes : 1);
}

/* The leaves and the tensor ops, whose attribute says the type. */
static bool infer_attribute(ir_op op, const ir_expr *const *args, uint32_t count, ir_attribute attribute,
                            ir_type *type) {
    const ir_tensor *tensor = attribute.tensor;
    switch (op) {
    case IR_STRING:
        *type = (ir_type){.kind = IR_TYPE_STRING, .lanes = 1};
        return true;
    case IR_VAR:
    case IR_REGISTER:
        *type = attribute.var->type;
        return true;
    case IR_LOAD:
        *type = load_type(tensor, args, count);
        return true;
    case IR_ADDRESS:
    case IR_DATA:
    case IR_REGION:
        *type = ir_type_pointer(tensor->type.dtype, tensor->type.lanes, tensor->type.scope);
        return true;
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
    case IR_LANE_ID:
    case IR_WARP_ID:
    case IR_LINEAR_THREAD:
    case IR_CTA_SYNC_AND:
    case IR_CTA_SYNC_OR:
        *type = ir_type_prim(NUM_DTYPE_I32, 1);
        return true;
    case IR_CLOCK:
        *type = ir_type_prim(NUM_DTYPE_I64, 1);
        return true;
    case IR_VOTE_BALLOT:
    case IR_ACTIVE_MASK:
        *type = ir_type_prim(NUM_DTYPE_U32, 1);
        return true;
    case IR_VOTE_ALL:
    case IR_VOTE_ANY:
        *type = ir_type_prim(NUM_DTYPE_BOOL, 1);
        return true;
    case IR_CTA_SYNC:
    case IR_WARP_SYNC:
    case IR_THREAD_FENCE:
    case IR_GRID_SYNC:
    case IR_NANOSLEEP:
    case IR_PRINTF:
    case IR_TRAP_UNLESS:
    case IR_TILE:
        *type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
        return true;
    default:
        return false;
    }
}

/* The type that source_call and ptx say in words: "float32", "void". */
static bool infer_from_words(const ir_expr *const *args, uint32_t count, uint32_t at, ir_type *type) {
    if (count <= at || args[at]->op != IR_STRING)
        return false;
    const char *word = args[at]->at.string;
    *type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
    return strcmp(word, "void") == 0 || ir_prim_find(word, strlen(word), type);
}

bool ir_infer(ir_op op, const ir_expr *const *args, uint32_t count, ir_attribute attribute, ir_type *type) {
    if (infer_attribute(op, args, count, attribute, type))
        return true;
    if (count == 0)
        return false;
    if (op == IR_SOURCE_CALL || op == IR_PTX)
        return infer_from_words(args, count, op == IR_PTX ? 1 : 2, type);
    switch (op) {
    case IR_SHARED_ADDRESS:
        *type = ir_type_prim(NUM_DTYPE_U32, 1);
        return true;
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_AND:
    case IR_OR:
    case IR_NOT:
    case IR_ISNAN:
    case IR_ISINF:
        *type = bool_over(args[0]->type);
        return true;
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
    case IR_SHUFFLE:
    case IR_SHUFFLE_UP:
    case IR_SHUFFLE_DOWN:
    case IR_SHUFFLE_XOR:
    case IR_REDUX_ADD:
    case IR_REDUX_MIN:
    case IR_REDUX_MAX:
    case IR_ATOMIC_ADD:
    case IR_ATOMIC_MIN:
    case IR_ATOMIC_MAX:
    case IR_ATOMIC_AND:
    case IR_ATOMIC_OR:
    case IR_ATOMIC_XOR:
    case IR_ATOMIC_EXCHANGE:
    case IR_ATOMIC_CAS:
        if (count < 2)
            return false;
        *type = args[1]->type;
        return true;
    case IR_CAST:
    case IR_REINTERPRET:
    case IR_RAMP: /* the text form writes the number of lanes */
    case IR_BROADCAST:
        return false;
    case IR_VECTOR:
        *type = args[0]->type;
        type->lanes = (uint16_t)clamp_lanes(count);
        return true;
    case IR_LANE:
        *type = ir_type_scalar(args[0]->type);
        return true;
    case IR_POINTER_LOAD: /* the element the pointer says */
        *type = args[0]->type;
        type->kind = IR_TYPE_PRIM;
        type->scope = 0;
        return args[0]->type.kind == IR_TYPE_POINTER && type->dtype != NUM_DTYPE_NONE;
    default: /* arithmetic, bits, mathematics, pointer_offset, pointer_address: as the first argument */
        *type = args[0]->type;
        return true;
    }
}
