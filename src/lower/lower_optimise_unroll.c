/* SPDX-License-Identifier: Apache-2.0
 * Short loops with a constant number of rounds become straight lines where that lets local tensors live in
 * registers or saves more than it costs. In and out: flat form. Loops that break or continue stay. A kernel
 * grows by so much and no more: dozens of loops written out are slower to compile, here and in ptxas, and to
 * fetch, than what their counters cost. */
#include "lower/lower_optimise.h"

enum {
    ROUNDS_PLAIN = 16,    /* of a loop that nobody asked to unroll */
    ROUNDS_INDEXED = 128, /* of one whose variable indexes a local tensor, or that has the pragma */
    COST_PLAIN = 400,     /* operations after unrolling */
    COST_INDEXED = 6000,
    GROWTH_PLAIN = 2000 /* operations that plain loops add to one kernel, first come, first served */
};

typedef struct unroller {
    lower_context *context;
    uint64_t growth;
} unroller;

typedef struct cost_query {
    unsigned cost;
    const ir_var *var;
    bool indexes_local, jumps;
} cost_query;

typedef struct mention {
    const ir_var *var;
    bool hit;
} mention;

static void visit_mention(void *user, const ir_expr *e) {
    mention *m = user;
    m->hit = m->hit || (e->op == IR_VAR && e->at.var == m->var);
}

static bool mentions(const ir_expr *e, const ir_var *var) {
    mention m = {var, false};
    if (e->variables >> var->id % 64 & 1)
        ir_expr_visit(e, visit_mention, &m);
    return m.hit;
}

static bool is_local(const ir_expr *base) {
    return base->op == IR_DATA && base->at.tensor->type.scope == IR_SCOPE_LOCAL;
}

static void count_expression(void *user, const ir_expr *e) {
    cost_query *q = user;
    if (e->count)
        q->cost++;
    if (e->op == IR_POINTER_LOAD && is_local(e->args[0]) && mentions(e->args[1], q->var))
        q->indexes_local = true;
}

static void count_root(void *user, const ir_expr **e) {
    ir_expr_visit(*e, count_expression, user);
}

static void count_statement(void *user, ir_stmt *s) {
    cost_query *q = user;
    q->cost++;
    if (s->kind == IR_STMT_BREAK || s->kind == IR_STMT_CONTINUE || s->kind == IR_STMT_RETURN ||
        s->kind == IR_STMT_WHILE)
        q->jumps = true;
    if (s->kind == IR_STMT_POINTER_STORE && is_local(s->as.pointer_store.base) &&
        mentions(s->as.pointer_store.index, q->var))
        q->indexes_local = true;
    ir_stmt_expressions(s, count_root, q);
}

static bool pays(unroller *u, const ir_stmt *loop, int64_t rounds) {
    cost_query q = {.var = loop->as.loop.var};
    lower_visit_statements(loop->as.loop.body, count_statement, &q);
    if (q.jumps)
        return false;
    bool asked =
        loop->as.loop.kind == IR_LOOP_PRAGMA && (loop->as.loop.factor == 0 || loop->as.loop.factor >= rounds);
    bool wide = q.indexes_local || asked;
    if (loop->as.loop.kind == IR_LOOP_PRAGMA && loop->as.loop.factor == 1 && !q.indexes_local)
        return false;
    if (rounds > (wide ? ROUNDS_INDEXED : ROUNDS_PLAIN) ||
        q.cost * (uint64_t)rounds > (wide ? COST_INDEXED : COST_PLAIN))
        return false;
    uint64_t growth = q.cost * (uint64_t)(rounds - 1);
    if (!wide && u->growth + growth > GROWTH_PLAIN)
        return false;
    u->growth += wide ? 0 : growth;
    return true;
}

static void unroll(void *user, ir_stmt *s, lower_statements *out) {
    unroller *u = user;
    lower_context *context = u->context;
    int64_t start, extent, step;
    bool constant = s->kind == IR_STMT_FOR && ir_is_int(s->as.loop.start, &start) &&
                    ir_is_int(s->as.loop.extent, &extent) && ir_is_int(s->as.loop.step, &step) && step > 0;
    int64_t rounds = constant && extent > 0 ? (extent + step - 1) / step : 0;
    if (!constant || rounds < 1 || !pays(u, s, rounds)) {
        base_vector_push(context->arena, out, s);
        return;
    }
    for (int64_t i = 0; i < rounds; i++) {
        lower_substitution substitution;
        lower_substitution_start(&substitution, context->module);
        const ir_expr *value = ir_int(context->module, s->as.loop.var->type.dtype, start + i * step);
        lower_substitute_var(&substitution, s->as.loop.var, value);
        base_vector_push(context->arena, out, lower_stmt_copy(&substitution, s->as.loop.body));
        lower_substitution_end(&substitution);
    }
}

void lower_optimise_unroll(lower_context *context) {
    unroller u = {context, 0};
    lower_map_statements(context, context->function->body, unroll, &u);
}
