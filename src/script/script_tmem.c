/* SPDX-License-Identifier: Apache-2.0
 * Tensors in tensor memory: declarations over an address, and addresses of their elements. The address is
 * taken when the declaration executes. Must not know instructions. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 32 };

/* ---- addresses ---- */

static const ir_expr *word(script_evaluator *e, const ir_expr *x) {
    return ir_cast(e->module, ir_type_prim(NUM_DTYPE_U32, 1), x);
}

/* base + row in bits 16-31 and column in bits 0-15. */
static const ir_expr *displaced(script_evaluator *e, const ir_expr *base, const ir_expr *row,
                                const ir_expr *column) {
    const ir_expr *sixteen = ir_int(e->module, NUM_DTYPE_U32, 16);
    const ir_expr *shifted = ir_binary(e->module, IR_SHL, word(e, row), sixteen);
    return ir_binary(e->module, IR_ADD, ir_binary(e->module, IR_ADD, base, shifted), word(e, column));
}

static const ir_expr *base_of(script_evaluator *e, const ir_tensor *tensor, base_span span) {
    const ir_expr *data = tensor->data;
    while (data && data->op == IR_DATA)
        data = data->at.tensor->data;
    if (data && ir_type_is_integer(data->type))
        return data;
    script_error(e, "T0523", span, "'%s' has no address in tensor memory", tensor->name);
    return NULL;
}

static const ir_expr *axis(script_evaluator *e, script_value position, const char *name) {
    const script_value *found = script_dict_find(position, script_string(e->arena, name, strlen(name)));
    int64_t constant;
    if (!found)
        return ir_int(e->module, NUM_DTYPE_I32, 0);
    if (script_value_integer(*found, &constant))
        return ir_int(e->module, NUM_DTYPE_I32, constant);
    return found->as.expr;
}

const ir_expr *script_tmem_address(script_evaluator *e, const ir_tensor *tensor,
                                   const ir_expr *const *indices, base_span span) {
    const ir_expr *base = base_of(e, tensor, span), *lane, *column;
    unsigned bits = num_dtype_bits(tensor->type.dtype) * tensor->type.lanes;
    int64_t constant, shape[MAX_RANK];
    const ir_expr *coordinate[MAX_RANK];
    if (!base)
        return NULL;
    if (tensor->type.rank > MAX_RANK || !script_constant_shape(e, &tensor->type, shape)) {
        script_error(e, "T0523", span, "the shape of '%s' is not constant", tensor->name);
        return NULL;
    }
    for (uint32_t i = 0; i < tensor->type.rank; i++)
        coordinate[i] = indices ? indices[i] : ir_int(e->module, NUM_DTYPE_I32, 0);
    if (!tensor->type.layout) {
        if (tensor->type.rank != 2) {
            script_error(e, "T0523", span, "'%s' needs a layout on TLane and TCol", tensor->name);
            return NULL;
        }
        lane = coordinate[0];
        column = coordinate[1];
    } else {
        script_value position =
            script_layout_position(e, tensor->type.layout, coordinate, tensor->type.rank, shape, span);
        if (script_is_poison(position))
            return NULL;
        lane = axis(e, position, "TLane");
        column = axis(e, position, "TCol");
    }
    if (bits < 32) { /* elements per cell; the address is that of the cell */
        const ir_expr *per = ir_int(e->module, (num_dtype)column->type.dtype, 32 / bits);
        if (ir_is_int(column, &constant) && constant % (32 / (int)bits)) {
            script_error(e, "T0523", span, "element %lld of a column of '%s' begins no 32-bit cell",
                         (long long)constant, tensor->name);
            return NULL;
        }
        column = ir_binary(e->module, IR_FLOORDIV, column, per);
    } else if (bits > 32) {
        column =
            ir_binary(e->module, IR_MUL, column, ir_int(e->module, (num_dtype)column->type.dtype, bits / 32));
    }
    return displaced(e, base, lane, column);
}

const ir_expr *script_tmem_pointer_address(script_evaluator *e, const ir_expr *pointer, base_span span) {
    if (pointer->op == IR_ADDRESS)
        return script_tmem_address(e, pointer->at.tensor, pointer->args, span);
    if (pointer->op == IR_DATA)
        return script_tmem_address(e, pointer->at.tensor, NULL, span);
    script_error(e, "T0523", span, "this pointer into tensor memory names no tensor");
    return NULL;
}

/* ---- declarations ---- */

/* The address operand as uint32: a value, a slot, or the tensor that is one. */
static const ir_expr *address_value(script_evaluator *e, script_value v, base_span span) {
    int64_t constant;
    if (script_value_integer(v, &constant))
        return ir_int(e->module, NUM_DTYPE_U32, constant);
    const ir_expr *x = script_to_expr(e, v, span);
    if (!x)
        return NULL;
    if (!ir_type_is_integer(x->type) || x->type.lanes != 1 ||
        num_dtype_bits((num_dtype)x->type.dtype) != 32) {
        base_diagnostic *d =
            script_error(e, "T0523", span, "an address in tensor memory is a 32-bit integer, not %s",
                         script_type_name(e, x->type));
        base_help(e->diagnostics, d, "give the slot that tcgen05.alloc wrote, such as slot[0], plus columns");
        return NULL;
    }
    return word(e, x);
}

script_value script_tmem_declare(script_evaluator *e, script_tensor_type *type, script_value address,
                                 base_span span, base_span address_span) {
    if (!script_need_kernel(e, span, "a tensor in tensor memory"))
        return script_poison();
    if (type->has_scope && type->type.scope != IR_SCOPE_TMEM) {
        script_error(e, "T0523", span, "the declaration is over tensor memory, its type says scope \"%s\"",
                     ir_scope_name(type->type.scope));
        return script_poison();
    }
    type->type.scope = IR_SCOPE_TMEM;
    const ir_expr *x = address_value(e, address, address_span);
    if (!x)
        return script_poison();
    if (x->op != IR_INT) /* now, and not when it is used */
        x = script_make_let(e, x, span).as.expr;
    return script_make_view(e, &type->type, x, span);
}

script_value script_tmem_offset(script_evaluator *e, const script_value *parts, base_span span) {
    bool is_tensor = parts[0].kind == SCRIPT_VALUE_TENSOR && parts[0].as.tensor->type.scope == IR_SCOPE_TMEM;
    const ir_expr *base =
        is_tensor ? script_tmem_address(e, parts[0].as.tensor, NULL, span) : address_value(e, parts[0], span);
    const ir_expr *row = script_to_index(e, parts[1], span, "a row");
    const ir_expr *column = script_to_index(e, parts[2], span, "a column");
    if (!base || !row || !column)
        return script_poison();
    /* each half wraps by itself */
    ir_module *module = e->module;
    const ir_expr *mask = ir_int(module, NUM_DTYPE_U32, 0xffff), *sixteen = ir_int(module, NUM_DTYPE_U32, 16);
    const ir_expr *high = ir_binary(module, IR_ADD, ir_binary(module, IR_SHR, base, sixteen), word(e, row));
    const ir_expr *low = ir_binary(module, IR_ADD, base, word(e, column));
    return script_expr(ir_binary(module, IR_BITOR, ir_binary(module, IR_SHL, high, sixteen),
                                 ir_binary(module, IR_BITAND, low, mask)));
}

script_value script_word_get_tmem_addr(script_evaluator *e, const script_call *call) {
    return script_need_kernel(e, call->span, call->word->path)
               ? script_tmem_offset(e, call->value, call->span)
               : script_poison();
}
