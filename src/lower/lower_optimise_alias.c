/* SPDX-License-Identifier: Apache-2.0
 * Which pointers may point into the same memory. Must not know passes. */
#include "lower/lower_optimise.h"

static const ir_expr *pointer_root(const ir_expr *e) {
    while (e->op == IR_POINTER_ADDRESS || e->op == IR_POINTER_OFFSET ||
           (e->op == IR_REINTERPRET && e->args[0]->type.kind == IR_TYPE_POINTER))
        e = e->args[0];
    return e;
}

const ir_tensor *lower_pointed_tensor(const lower_aliases *aliases, const ir_expr *pointer) {
    const ir_expr *root = pointer_root(pointer);
    if (root->op == IR_DATA)
        return root->at.tensor;
    if (root->op == IR_VAR || root->op == IR_REGISTER)
        return base_map_get(aliases->roots, (uint64_t)root->at.var->id + 1);
    return NULL;
}

/* Distinct tensors do not overlap: allocations are storage of their own, parameters are __restrict__. */
bool lower_may_touch(const lower_aliases *aliases, const ir_expr *a, const ir_expr *b) {
    const ir_tensor *first = lower_pointed_tensor(aliases, a), *second = lower_pointed_tensor(aliases, b);
    if (first && second)
        return first == second;
    bool a_shared = a->type.scope == IR_SCOPE_SHARED || a->type.scope == IR_SCOPE_SHARED_DYN;
    bool b_shared = b->type.scope == IR_SCOPE_SHARED || b->type.scope == IR_SCOPE_SHARED_DYN;
    return a->type.scope == b->type.scope || (a_shared && b_shared);
}

static void note_root(void *user, ir_stmt *s) {
    lower_aliases *aliases = user;
    if ((s->kind != IR_STMT_LET && s->kind != IR_STMT_ASSIGN) || s->as.let.var->type.kind != IR_TYPE_POINTER)
        return;
    const ir_tensor *tensor = lower_pointed_tensor(aliases, s->as.let.value);
    if (tensor && !base_map_get(aliases->roots, (uint64_t)s->as.let.var->id + 1))
        base_map_set(aliases->roots, (uint64_t)s->as.let.var->id + 1, (void *)(uintptr_t)tensor);
}

void lower_aliases_start(lower_aliases *aliases, lower_context *context) {
    aliases->roots = base_map_create(context->arena);
    lower_visit_statements(context->function->body, note_root, aliases);
}
