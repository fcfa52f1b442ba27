/* SPDX-License-Identifier: Apache-2.0
 * Operands that may not be evaluated. In: if_then_else, and, or over any operands. Out: such an operand reads
 * no memory and has no effect, so that computing it anyway changes nothing; the others are computed in a
 * branch before the statement, into a register. if_then_else is then a select. Only for PTX: in C the
 * operators are lazy themselves. */
#include "lower/lower_internal.h"

typedef struct state {
    lower_context *context;
    ir_module *module;
    base_span span;
    bool needed; /* answer of the last search */
} state;

static const ir_where lazy = {.effects = IR_INSIDE_LAZY};

static bool is_lazy_operand(const ir_expr *e, uint32_t k) {
    return (e->op == IR_IF_THEN_ELSE && k > 0) || ((e->op == IR_AND || e->op == IR_OR) && k == 1);
}

static void see(void *user, const ir_expr *e) {
    state *st = user;
    for (uint32_t k = 0; k < e->count; k++)
        st->needed |= is_lazy_operand(e, k) && ir_expr_reads(e->args[k]);
}
static void search(void *user, const ir_expr **e) {
    ir_expr_visit_where(*e, &lazy, see, user);
}
static bool needs_branch(state *st, const ir_expr *e) {
    st->needed = false;
    ir_expr_visit_where(e, &lazy, see, st);
    return st->needed;
}

static const ir_expr *plain(state *st, const ir_expr *e, ir_stmt *before, base_map *memo);

static void assign(state *st, ir_stmt *block, ir_var *var, const ir_expr *value) {
    ir_stmt *s = ir_stmt_create(st->module, IR_STMT_ASSIGN, st->span);
    s->as.assign.var = var;
    s->as.assign.value = value;
    ir_block_add(st->module, block, s);
}

/* A block that computes e into var; what is shared outside is not shared into it, as it may not run. */
static ir_stmt *branch(state *st, ir_var *var, const ir_expr *e) {
    ir_stmt *block = ir_stmt_create(st->module, IR_STMT_BLOCK, st->span);
    const ir_expr *value = plain(st, e, block, base_map_create(st->context->arena));
    assign(st, block, var, value);
    return block;
}

static const ir_expr *into_register(state *st, const ir_expr *e, ir_stmt *before, base_map *memo) {
    ir_var *var = ir_var_create(st->module, "t", e->type, IR_VAR_REGISTER, st->span);
    const ir_expr *use = ir_var_use(st->module, var), *condition = plain(st, e->args[0], before, memo);
    ir_stmt *s = ir_stmt_create(st->module, IR_STMT_IF, st->span);
    if (e->op == IR_IF_THEN_ELSE) {
        s->as.branch.then_body = branch(st, var, e->args[1]);
        s->as.branch.else_body = branch(st, var, e->args[2]);
    } else {
        assign(st, before, var, condition);
        condition = e->op == IR_AND ? use : ir_unary(st->module, IR_NOT, use);
        s->as.branch.then_body = branch(st, var, e->args[1]);
    }
    s->as.branch.condition = condition;
    ir_block_add(st->module, before, s);
    return use;
}

static const ir_expr *plain_new(state *st, const ir_expr *e, ir_stmt *before, base_map *memo) {
    for (uint32_t k = 0; k < e->count; k++)
        if (is_lazy_operand(e, k) && ir_expr_reads(e->args[k]))
            return into_register(st, e, before, memo);
    const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
    for (uint32_t k = 0; k < e->count; k++)
        args[k] = plain(st, e->args[k], before, memo);
    return ir_rebuild(st->module, e, args);
}

static const ir_expr *plain(state *st, const ir_expr *e, ir_stmt *before, base_map *memo) {
    if (!e->count || !needs_branch(st, e))
        return e;
    bool once = !ir_expr_has_effect(e);
    const ir_expr *known = once ? base_map_get(memo, BASE_KEY(e)) : NULL;
    if (!known) {
        known = plain_new(st, e, before, memo);
        if (once)
            base_map_set(memo, BASE_KEY(e), (void *)(uintptr_t)known);
    }
    return known;
}

/* ---- statements ---- */
typedef struct site {
    state *st;
    ir_stmt *before;
    base_map *memo;
} site;

static void simplify(void *user, const ir_expr **e) {
    site *at = user;
    *e = plain(at->st, *e, at->before, at->memo);
}

/* while (c) body becomes while (true) { before; if (!c) break; body }: continue comes back to the test. */
static void open_while(state *st, ir_stmt *s, ir_stmt *before) {
    ir_stmt *leave = ir_stmt_create(st->module, IR_STMT_IF, s->span);
    leave->as.branch.condition = ir_unary(st->module, IR_NOT, s->as.while_loop.condition);
    leave->as.branch.then_body = ir_stmt_create(st->module, IR_STMT_BLOCK, s->span);
    ir_block_add(st->module, leave->as.branch.then_body, ir_stmt_create(st->module, IR_STMT_BREAK, s->span));
    ir_block_add(st->module, before, leave);
    const ir_stmt *body = s->as.while_loop.body;
    for (size_t i = 0; i < body->as.block.body.count; i++)
        ir_block_add(st->module, before, body->as.block.body.items[i]);
    s->as.while_loop.body = before;
    s->as.while_loop.condition = ir_bool(st->module, true);
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    st->needed = false;
    ir_stmt_expressions(s, search, st);
    if (st->needed) {
        st->span = s->span;
        site at = {st, ir_stmt_create(st->module, IR_STMT_BLOCK, s->span),
                   base_map_create(st->context->arena)};
        ir_stmt_expressions(s, simplify, &at);
        if (s->kind == IR_STMT_WHILE)
            open_while(st, s, at.before);
        else
            for (size_t i = 0; i < at.before->as.block.body.count; i++)
                base_vector_push(st->context->arena, out, at.before->as.block.body.items[i]);
    }
    base_vector_push(st->context->arena, out, s);
}

static const ir_expr *select_now(void *user, const ir_expr *e) {
    lower_context *context = user;
    return e->op == IR_IF_THEN_ELSE
               ? ir_select(context->module, IR_SELECT, e->args[0], e->args[1], e->args[2])
               : e;
}

void lower_lazy(lower_context *context) {
    if (!lower_any_inside(context->function->body, lazy.effects))
        return;
    state st = {.context = context, .module = context->module};
    lower_map_statements(context, context->function->body, statement, &st);
    lower_rewrite_expressions(context, context->function->body, &lazy, select_now, context);
}
