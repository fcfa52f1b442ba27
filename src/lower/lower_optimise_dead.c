/* SPDX-License-Identifier: Apache-2.0
 * What no effect depends on: bindings, assignments of registers that nothing else reads, and control around
 * nothing. In and out: flat form. A binding that goes leaves its value with its variable, for provenance. */
#include "lower/lower_optimise.h"

typedef struct state {
    lower_context *context;
    base_map *used; /* ir_var id + 1 */
    ir_memo *met;
    bool changed;
} state;

static void mark(void *user, const ir_expr *e) {
    state *st = user;
    if (e->op == IR_VAR || e->op == IR_REGISTER)
        base_map_set(st->used, (uint64_t)e->at.var->id + 1, st);
}

static void mark_expression(void *user, const ir_expr **e) {
    state *st = user;
    static const ir_where named = {.variables = UINT64_MAX};
    ir_expr_visit_new_where(st->met, *e, &named, mark, user);
}

typedef struct self_query {
    const ir_var *var;
    state *st;
} self_query;

static void mark_others(void *user, const ir_expr *e) {
    self_query *q = user;
    if ((e->op == IR_VAR || e->op == IR_REGISTER) && e->at.var != q->var)
        base_map_set(q->st->used, (uint64_t)e->at.var->id + 1, q->st);
}

/* A register that only its own next value reads is as dead as one that nothing reads. */
static bool feeds_itself(const ir_stmt *s) {
    return s->kind == IR_STMT_ASSIGN && !ir_expr_has_effect(s->as.assign.value);
}

static void mark_statement(void *user, ir_stmt *s) {
    state *st = user;
    if (feeds_itself(s)) {
        self_query q = {s->as.assign.var, st};
        ir_expr_visit(s->as.assign.value, mark_others, &q);
        return;
    }
    ir_stmt_expressions(s, mark_expression, st);
}

static bool is_used(state *st, const ir_var *var) {
    return base_map_get(st->used, (uint64_t)var->id + 1) != NULL;
}

static bool is_empty(const ir_stmt *s) {
    if (!s)
        return true;
    if (s->kind != IR_STMT_BLOCK)
        return false;
    for (size_t i = 0; i < s->as.block.body.count; i++)
        if (!is_empty(s->as.block.body.items[i]))
            return false;
    return true;
}

static void keep_effects(state *st, const ir_stmt *s, const ir_expr *value, lower_statements *out) {
    st->changed = true;
    if (!ir_expr_has_effect(value))
        return;
    ir_stmt *evaluate = ir_stmt_create(st->context->module, IR_STMT_EVALUATE, s->span);
    evaluate->as.evaluate.value = value;
    base_vector_push(st->context->arena, out, evaluate);
}

static void sweep(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    switch (s->kind) {
    case IR_STMT_LET:
        if (is_used(st, s->as.let.var))
            break;
        if (!ir_expr_reads(s->as.let.value))
            s->as.let.var->value = s->as.let.value;
        keep_effects(st, s, s->as.let.value, out);
        return;
    case IR_STMT_ASSIGN:
        if (is_used(st, s->as.assign.var))
            break;
        keep_effects(st, s, s->as.assign.value, out);
        return;
    case IR_STMT_IF:
        if (!is_empty(s->as.branch.then_body) || !is_empty(s->as.branch.else_body))
            break;
        keep_effects(st, s, s->as.branch.condition, out);
        return;
    case IR_STMT_FOR:
        if (!is_empty(s->as.loop.body) || ir_expr_has_effect(s->as.loop.start) ||
            ir_expr_has_effect(s->as.loop.extent))
            break;
        st->changed = true;
        return;
    case IR_STMT_EVALUATE:
        if (ir_expr_has_effect(s->as.evaluate.value))
            break;
        st->changed = true;
        return;
    default:
        break;
    }
    base_vector_push(st->context->arena, out, s);
}

void lower_optimise_dead(lower_context *context) {
    state st = {context, NULL, ir_memo_open(context->module), true};
    while (st.changed) {
        st.changed = false;
        ir_memo_clear(st.met);
        st.used = base_map_create(context->arena);
        lower_visit_statements(context->function->body, mark_statement, &st);
        lower_map_statements(context, context->function->body, sweep, &st);
    }
    ir_memo_close(st.met);
}
