/* SPDX-License-Identifier: Apache-2.0
 * What nobody reads. In: flat form. Out: no binding without a use, and no one-element local that is only
 * written; effects inside their values stay. Must not remove arrays, whose stores a reader of the text
 * expects to see. */
#include "lower/lower_internal.h"

typedef struct state {
    lower_context *context;
    base_map *used;    /* ir_var or ir_tensor that an expression mentions */
    base_map *scalars; /* ir_tensor of one-element locals */
    ir_memo *met;
    bool changed;
} state;

static void mark(void *user, const ir_expr *e) {
    state *st = user;
    if (e->op == IR_VAR || e->op == IR_REGISTER)
        base_map_set(st->used, BASE_KEY(e->at.var), st);
    else if (e->op == IR_DATA)
        base_map_set(st->used, BASE_KEY(e->at.tensor), st);
}

/* The one-element local that a store writes directly; NULL for any other. */
static const ir_tensor *stored_scalar(state *st, const ir_stmt *s) {
    if (s->kind != IR_STMT_POINTER_STORE)
        return NULL;
    const ir_expr *base = s->as.pointer_store.base;
    if (base->op == IR_REINTERPRET)
        base = base->args[0];
    return base->op == IR_DATA && base_map_get(st->scalars, BASE_KEY(base->at.tensor)) ? base->at.tensor
                                                                                       : NULL;
}

static void mark_inside(state *st, const ir_expr *e) {
    static const ir_where named = {.effects = IR_INSIDE_TENSOR, .variables = UINT64_MAX};
    ir_expr_visit_new_where(st->met, e, &named, mark, st);
}

static void mark_expression(void *user, const ir_expr **e) {
    mark_inside(user, *e);
}

static void mark_statement(void *user, ir_stmt *s) {
    state *st = user;
    if (stored_scalar(st, s)) {
        mark_inside(st, s->as.pointer_store.index);
        mark_inside(st, s->as.pointer_store.value);
    } else
        ir_stmt_expressions(s, mark_expression, st);
}

static void find_scalar(void *user, ir_stmt *s) {
    state *st = user;
    int64_t extent;
    if (s->kind != IR_STMT_ALLOCATE || s->as.allocate.tensor->type.scope != IR_SCOPE_LOCAL)
        return;
    const ir_tensor_type *type = &s->as.allocate.tensor->type;
    for (uint32_t d = 0; d < type->rank; d++)
        if (!ir_is_int(type->shape[d], &extent) || extent != 1)
            return;
    base_map_set(st->scalars, BASE_KEY(s->as.allocate.tensor), st);
}

static void keep_effects(state *st, ir_stmt *s, const ir_expr *value, lower_statements *out) {
    st->changed = true;
    if (!ir_expr_has_effect(value))
        return;
    ir_stmt *evaluate = ir_stmt_create(st->context->module, IR_STMT_EVALUATE, s->span);
    evaluate->as.evaluate.value = value;
    base_vector_push(st->context->arena, out, evaluate);
}

static void sweep(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    const ir_tensor *scalar = stored_scalar(st, s);
    if (s->kind == IR_STMT_LET && !base_map_get(st->used, BASE_KEY(s->as.let.var)))
        keep_effects(st, s, s->as.let.value, out);
    else if (scalar && !base_map_get(st->used, BASE_KEY(scalar)))
        keep_effects(st, s, s->as.pointer_store.value, out);
    else if (s->kind == IR_STMT_ALLOCATE && base_map_get(st->scalars, BASE_KEY(s->as.allocate.tensor)) &&
             !base_map_get(st->used, BASE_KEY(s->as.allocate.tensor)))
        st->changed = true;
    else
        base_vector_push(st->context->arena, out, s);
}

void lower_dead(lower_context *context) {
    base_arena *arena = context->arena;
    state st = {context, NULL, base_map_create(arena), ir_memo_open(context->module), true};
    lower_visit_statements(context->function->body, find_scalar, &st);
    while (st.changed) {
        st.changed = false;
        st.used = base_map_create(arena);
        ir_memo_clear(st.met);
        lower_visit_statements(context->function->body, mark_statement, &st);
        lower_map_statements(context, context->function->body, sweep, &st);
    }
    ir_memo_close(st.met);
}
