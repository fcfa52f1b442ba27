/* SPDX-License-Identifier: Apache-2.0
 * Views name their storage. In: DECLARE over any pointer expression, views of views. Out: the data of every
 * view is DATA of a parameter or allocation or a pointer variable, retyped where its element type differs,
 * and perhaps one POINTER_ADDRESS over it with an offset in the view's elements; any other pointer is bound
 * to a variable where the declaration stands, so that it is taken when the declaration runs. Must not apply
 * layouts of accesses (lower_layouts). */
#include "lower/lower_internal.h"
#include "num/num.h"

/* A pointer as base + offset elements of the base's type; base NULL: not of that form. */
typedef struct place {
    const ir_expr *base, *offset;
} place;

static const ir_expr *retype(lower_context *context, const ir_expr *pointer, num_dtype dtype) {
    if (pointer->type.dtype == dtype)
        return pointer;
    if (pointer->op == IR_REINTERPRET)
        return retype(context, pointer->args[0], dtype);
    ir_type type = ir_type_pointer(dtype, 1, (ir_scope)pointer->type.scope);
    return ir_make(context->module, IR_REINTERPRET, type, &pointer, 1);
}

/* The offset counted in elements of another width, when it is a constant that stays whole. */
static bool rescale(lower_context *context, place *p, num_dtype from, num_dtype to) {
    unsigned a = num_dtype_bits(from), b = num_dtype_bits(to);
    int64_t value;
    if (a == b || !p->offset)
        return true;
    if (!ir_is_int(p->offset, &value) || value > INT64_MAX / 64 || value < INT64_MIN / 64 || value * a % b)
        return false;
    p->offset = ir_int(context->module, NUM_DTYPE_I64, value * a / b);
    return true;
}

static bool add_offset(lower_context *context, place *p, const ir_expr *offset) {
    if (ir_expr_reads(offset)) /* taken now, not at every use */
        return false;
    p->offset = p->offset ? lower_integer_binary(context->module, IR_ADD, p->offset, offset) : offset;
    return true;
}

static bool is_whole(num_dtype dtype) {
    return num_dtype_bits(dtype) >= 8;
}

static bool find_place(lower_context *context, const ir_expr *pointer, num_dtype dtype, base_span span,
                       place *p);

static bool tensor_place(lower_context *context, const ir_tensor *tensor, num_dtype dtype, place *p) {
    if (tensor->kind != IR_TENSOR_VIEW || !tensor->data) {
        p->base = ir_data(context->module, tensor);
        return true;
    }
    return find_place(context, tensor->data, dtype, tensor->span, p);
}

static bool address_place(lower_context *context, const ir_expr *e, num_dtype dtype, base_span span,
                          place *p) {
    const ir_tensor *tensor = e->at.tensor;
    if (!tensor_place(context, tensor, dtype, p))
        return false;
    /* lower_index counts from the tensor's base, the offset of a view included. */
    p->offset = lower_index(context, tensor, e->args, span);
    return p->offset && !ir_expr_reads(p->offset) && rescale(context, p, tensor->type.dtype, dtype);
}

/* Fills *p with the pointer in elements of dtype. */
static bool find_place(lower_context *context, const ir_expr *pointer, num_dtype dtype, base_span span,
                       place *p) {
    int64_t bytes;
    num_dtype from = (num_dtype)pointer->type.dtype;
    switch (pointer->op) {
    case IR_DATA:
        return tensor_place(context, pointer->at.tensor, dtype, p);
    case IR_VAR:
        p->base = pointer;
        return true;
    case IR_REINTERPRET:
        return pointer->args[0]->type.kind == IR_TYPE_POINTER &&
               find_place(context, pointer->args[0], dtype, span, p);
    case IR_ADDRESS:
        return is_whole(from) == is_whole(dtype) && address_place(context, pointer, dtype, span, p);
    case IR_POINTER_ADDRESS: /* a view resolved before */
        if (!find_place(context, pointer->args[0], dtype, span, p))
            return false;
        place own = {NULL, pointer->args[1]};
        return rescale(context, &own, from, dtype) && add_offset(context, p, own.offset);
    case IR_POINTER_OFFSET:
        if (!find_place(context, pointer->args[0], dtype, span, p) || !ir_is_int(pointer->args[1], &bytes) ||
            bytes > INT64_MAX / 16 || bytes < INT64_MIN / 16 || bytes * 8 % num_dtype_storage_bits(dtype))
            return false;
        return add_offset(context, p,
                          ir_int(context->module, NUM_DTYPE_I64, bytes * 8 / num_dtype_storage_bits(dtype)));
    default:
        return false;
    }
}

/* A small offset reads better as int32, the type of most index arithmetic. */
static const ir_expr *narrow(lower_context *context, const ir_expr *offset) {
    int64_t value;
    if (ir_is_int(offset, &value) && value == (int32_t)value)
        return ir_int(context->module, NUM_DTYPE_I32, value);
    return offset;
}

static void declare(void *user, ir_stmt *s, lower_statements *out) {
    lower_context *context = user;
    ir_tensor *tensor = s->kind == IR_STMT_DECLARE ? s->as.declare.tensor : NULL;
    if (!tensor || tensor->type.scope == IR_SCOPE_TMEM || !tensor->data) {
        base_vector_push(context->arena, out, s);
        return;
    }
    num_dtype dtype = tensor->type.dtype;
    place p = {0};
    if (!find_place(context, tensor->data, dtype, s->span, &p)) {
        ir_type type = ir_type_pointer(dtype, 1, (ir_scope)tensor->data->type.scope);
        ir_var *var =
            ir_var_create(context->module, base_arena_format(context->arena, "%s_ptr", tensor->name), type,
                          IR_VAR_LET, tensor->span);
        ir_stmt *let = ir_stmt_create(context->module, IR_STMT_LET, s->span);
        let->as.let.var = var;
        const ir_expr *value = tensor->data;
        if (!ir_type_equal(value->type, type))
            value = ir_make(context->module, IR_REINTERPRET, type, &value, 1);
        let->as.let.value = value;
        base_vector_push(context->arena, out, let);
        p = (place){ir_var_use(context->module, var), NULL};
    }
    const ir_expr *base = retype(context, p.base, dtype);
    int64_t zero;
    if (p.offset && !(ir_is_int(p.offset, &zero) && zero == 0))
        base = ir_pointer_address(context->module, base->type, base, narrow(context, p.offset), NULL);
    tensor->data = base;
    lower_note_part(context, tensor, p.offset);
    base_vector_push(context->arena, out, s);
}

static bool is_declaration(const ir_stmt *s) {
    return s->kind == IR_STMT_DECLARE;
}

void lower_views(lower_context *context) {
    if (!lower_any_statement(context->function->body, is_declaration))
        return;
    context->facts = arith_facts_create(context->arena, context->function);
    lower_map_statements(context, context->function->body, declare, context);
}
