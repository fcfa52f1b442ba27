/* SPDX-License-Identifier: Apache-2.0
 * The op table and value types: rows of ir_ops.def, scope names, type comparison and type text. */
#include "ir/ir_private.h"
#include <string.h>

enum {
    P = IR_FLAG_PURE,
    F = IR_FLAG_FOLD,
    R = IR_FLAG_READS,
    W = IR_FLAG_WRITES,
    S = IR_FLAG_SYNC,
    X = IR_FLAG_EXACT,
    B = IR_FLAG_BOUNDED,
    O = IR_FLAG_ORDER_FREE,
    D = IR_FLAG_DIVERGENT
};

const ir_op_info ir_op_table[IR_OP_COUNT] = {
#define IR_OP(enumerator, name, arguments, flags, text) {#enumerator, name, text, arguments, flags},
#include "ir/ir_ops.def"
#undef IR_OP
};

ir_attribute_kind ir_op_attribute(ir_op op) {
    switch (op) {
    case IR_INT:
    case IR_LANE:
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
        return IR_ATTRIBUTE_INTEGER;
    case IR_FLOAT:
        return IR_ATTRIBUTE_REAL;
    case IR_STRING:
        return IR_ATTRIBUTE_STRING;
    case IR_VAR:
    case IR_REGISTER:
        return IR_ATTRIBUTE_VAR;
    case IR_LOAD:
    case IR_ADDRESS:
    case IR_DATA:
    case IR_REGION:
        return IR_ATTRIBUTE_TENSOR;
    case IR_POINTER_LOAD:
    case IR_POINTER_ADDRESS:
        return IR_ATTRIBUTE_ORIGIN;
    default:
        return IR_ATTRIBUTE_NONE;
    }
}

const char *ir_scope_name(ir_scope scope) {
    static const char *const names[] = {"global", "shared", "shared.dyn", "local", "tmem"};
    return names[scope];
}

enum { TENSOR_MAP_BYTES = 128 };

ir_type ir_type_tensor_map(void) {
    return ir_type_pointer(NUM_DTYPE_NONE, TENSOR_MAP_BYTES, IR_SCOPE_GLOBAL);
}

bool ir_type_is_tensor_map(ir_type type) {
    return ir_type_equal(type, ir_type_tensor_map());
}

ir_type ir_type_scalar(ir_type type) {
    if (type.kind == IR_TYPE_PRIM)
        type.lanes = 1;
    return type;
}

void ir_type_print(ir_type type, base_builder *out) {
    switch ((ir_type_kind)type.kind) {
    case IR_TYPE_VOID:
        base_builder_string(out, "void");
        return;
    case IR_TYPE_STRING:
        base_builder_string(out, "string");
        return;
    case IR_TYPE_POINTER:
        if (ir_type_is_tensor_map(type)) {
            base_builder_string(out, "tensormap");
            return;
        }
        if (type.dtype == NUM_DTYPE_NONE) {
            base_builder_string(out, "handle");
            if (type.scope == IR_SCOPE_GLOBAL)
                return;
        }
        break;
    case IR_TYPE_PRIM:
        break;
    }
    if (type.dtype != NUM_DTYPE_NONE)
        base_builder_string(out, num_dtype_name((num_dtype)type.dtype));
    if (type.lanes != 1 && type.dtype != NUM_DTYPE_NONE)
        base_builder_format(out, "x%u", type.lanes);
    if (type.kind == IR_TYPE_POINTER) {
        base_builder_char(out, '*');
        base_builder_string(out, ir_scope_name((ir_scope)type.scope));
    }
}
