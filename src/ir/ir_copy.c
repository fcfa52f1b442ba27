/* SPDX-License-Identifier: Apache-2.0
 * Deep copy of a function: statements, variables and tensors are fresh, expressions are rewritten over them.
 * A variable or tensor gets its copy when it is first met, so registers and the tensors that only origins
 * mention need no declaration. */
#include "ir/ir_private.h"

typedef struct copier {
    ir_module *module;
    base_map *vars, *tensors;
    ir_memo *memo;
} copier;

static const ir_expr *copy_expr(copier *copy, const ir_expr *e);

static ir_var *copy_var(copier *copy, const ir_var *var) {
    ir_var *known = base_map_get(copy->vars, BASE_KEY(var));
    if (known)
        return known;
    known = ir_var_copy(copy->module, var);
    base_map_set(copy->vars, BASE_KEY(var), known);
    known->value = copy_expr(copy, var->value);
    return known;
}

static const ir_expr **copy_list(copier *copy, const ir_expr *const *list, uint32_t count) {
    const ir_expr **fresh = BASE_NEW_ARRAY(copy->module->arena, const ir_expr *, count);
    for (uint32_t i = 0; i < count; i++)
        fresh[i] = copy_expr(copy, list[i]);
    return fresh;
}

static ir_tensor *copy_tensor(copier *copy, const ir_tensor *tensor) {
    ir_tensor *known = base_map_get(copy->tensors, BASE_KEY(tensor));
    if (known)
        return known;
    ir_tensor_type type = tensor->type;
    if (type.rank)
        type.shape = copy_list(copy, type.shape, type.rank);
    if (type.strides)
        type.strides = copy_list(copy, type.strides, type.rank);
    if (type.origin)
        type.origin = copy_expr(copy, type.origin);
    known = ir_tensor_create(copy->module, tensor->name, &type, tensor->kind, copy_expr(copy, tensor->data),
                             tensor->span);
    known->is_scalar = tensor->is_scalar;
    known->is_pooled = tensor->is_pooled;
    base_map_set(copy->tensors, BASE_KEY(tensor), known);
    return known;
}

static const ir_expr *copy_one(void *user, const ir_expr *e) {
    copier *copy = user;
    ir_attribute attribute = {0};
    switch (ir_op_attribute(e->op)) {
    case IR_ATTRIBUTE_VAR:
        attribute.var = copy_var(copy, e->at.var);
        break;
    case IR_ATTRIBUTE_TENSOR:
        attribute.tensor = copy_tensor(copy, e->at.tensor);
        break;
    case IR_ATTRIBUTE_ORIGIN:
        attribute.origin = copy_expr(copy, e->at.origin);
        break;
    default:
        return e;
    }
    return ir_intern_expr(copy->module, e->op, e->type, e->args, e->count, attribute);
}

static const ir_expr *copy_expr(copier *copy, const ir_expr *e) {
    static const ir_where named = {.effects =
                                       IR_INSIDE_TENSOR | IR_INSIDE_POINTER_LOAD | IR_INSIDE_POINTER_ADDRESS,
                                   .variables = UINT64_MAX};
    return e ? ir_expr_rewrite_plainly(copy->module, e, &named, copy_one, copy, copy->memo) : NULL;
}

static ir_stmt *copy_stmt(copier *copy, const ir_stmt *from) {
    ir_stmt *to = ir_stmt_create(copy->module, from->kind, from->span);
    to->as = from->as;
    switch (from->kind) {
    case IR_STMT_BLOCK:
        to->as.block.body.items = NULL;
        to->as.block.body.count = to->as.block.body.capacity = 0;
        for (size_t i = 0; i < from->as.block.body.count; i++)
            ir_block_add(copy->module, to, copy_stmt(copy, from->as.block.body.items[i]));
        break;
    case IR_STMT_LET:
    case IR_STMT_ASSIGN: /* let and assign share one struct */
        to->as.let.value = copy_expr(copy, from->as.let.value);
        to->as.let.var = copy_var(copy, from->as.let.var);
        break;
    case IR_STMT_ALLOCATE:
    case IR_STMT_DECLARE: /* so do allocate and declare */
        to->as.allocate.tensor = copy_tensor(copy, from->as.allocate.tensor);
        break;
    case IR_STMT_STORE:
        to->as.store.tensor = copy_tensor(copy, from->as.store.tensor);
        to->as.store.indices = copy_list(copy, from->as.store.indices, from->as.store.count);
        to->as.store.value = copy_expr(copy, from->as.store.value);
        break;
    case IR_STMT_POINTER_STORE:
        to->as.pointer_store.base = copy_expr(copy, from->as.pointer_store.base);
        to->as.pointer_store.index = copy_expr(copy, from->as.pointer_store.index);
        to->as.pointer_store.value = copy_expr(copy, from->as.pointer_store.value);
        to->as.pointer_store.origin = copy_expr(copy, from->as.pointer_store.origin);
        break;
    case IR_STMT_IF:
        to->as.branch.condition = copy_expr(copy, from->as.branch.condition);
        to->as.branch.then_body = copy_stmt(copy, from->as.branch.then_body);
        if (from->as.branch.else_body)
            to->as.branch.else_body = copy_stmt(copy, from->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        to->as.loop.start = copy_expr(copy, from->as.loop.start);
        to->as.loop.extent = copy_expr(copy, from->as.loop.extent);
        to->as.loop.step = copy_expr(copy, from->as.loop.step);
        to->as.loop.var = copy_var(copy, from->as.loop.var);
        to->as.loop.body = copy_stmt(copy, from->as.loop.body);
        break;
    case IR_STMT_WHILE:
        to->as.while_loop.condition = copy_expr(copy, from->as.while_loop.condition);
        to->as.while_loop.body = copy_stmt(copy, from->as.while_loop.body);
        break;
    case IR_STMT_EVALUATE:
        to->as.evaluate.value = copy_expr(copy, from->as.evaluate.value);
        break;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        break;
    }
    return to;
}

static void copy_launch(copier *copy, const ir_launch *from, ir_launch *to) {
    *to = *from;
    for (int i = 0; i < 3; i++) {
        to->grid[i] = copy_expr(copy, from->grid[i]);
        to->block[i] = copy_expr(copy, from->block[i]);
        to->cluster[i] = copy_expr(copy, from->cluster[i]);
    }
    to->dynamic_smem_bytes = copy_expr(copy, from->dynamic_smem_bytes);
}

ir_function *ir_function_copy(const ir_function *function) {
    base_arena *arena = function->module->arena;
    copier copy = {function->module, base_map_create(arena), base_map_create(arena),
                   ir_memo_open(function->module)};
    ir_function *to = BASE_NEW(arena, ir_function);
    to->name = function->name;
    to->span = function->span;
    to->module = function->module;
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *from = &function->parameters.items[i];
        ir_parameter parameter = {from->name, from->tensor ? copy_tensor(&copy, from->tensor) : NULL,
                                  from->var ? copy_var(&copy, from->var) : NULL};
        base_vector_push(arena, &to->parameters, parameter);
    }
    copy_launch(&copy, &function->launch, &to->launch);
    to->body = copy_stmt(&copy, function->body);
    ir_memo_close(copy.memo);
    return to;
}
