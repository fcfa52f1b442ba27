/* SPDX-License-Identifier: Apache-2.0
 * Bindings of pure values dissolve into the expressions that use them, so that later passes see whole
 * expressions and place them anew; blocks inside blocks dissolve too. In and out: flat form. Must not touch
 * values that read or divide, or whose computation is long: those keep their binding, which is their one
 * evaluation. */
#include "lower/lower_optimise.h"

enum { MAXIMUM_DEPTH = 48 };

typedef struct state {
    lower_context *context;
    base_map *values; /* ir_var id + 1 -> ir_expr */
    ir_where where;
    ir_memo *memo;
} state;

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    if (e->op != IR_VAR)
        return e;
    const ir_expr *value = base_map_get(st->values, (uint64_t)e->at.var->id + 1);
    return value ? value : e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    *e = ir_expr_rewrite(st->context->module, *e, &st->where, replace, st, st->memo);
}

static bool dissolves(const ir_expr *value) {
    if (value->type.kind != IR_TYPE_PRIM && value->type.kind != IR_TYPE_POINTER)
        return false;
    return !lower_traits_of(value) && value->depth <= MAXIMUM_DEPTH;
}

/* A binding stands before its uses, so one walk in order is enough. */
static void walk(state *st, ir_stmt *s) {
    if (!s)
        return;
    ir_stmt_expressions(s, rewrite, st);
    switch (s->kind) {
    case IR_STMT_BLOCK: {
        lower_statements out = {0};
        for (size_t i = 0; i < s->as.block.body.count; i++) {
            ir_stmt *inner = s->as.block.body.items[i];
            walk(st, inner);
            if (inner->kind == IR_STMT_LET && dissolves(inner->as.let.value)) {
                base_map_set(st->values, (uint64_t)inner->as.let.var->id + 1,
                             (void *)(uintptr_t)inner->as.let.value);
                st->where.variables |= UINT64_C(1) << inner->as.let.var->id % 64;
                inner->as.let.var->value = inner->as.let.value;
                continue;
            }
            /* Names are variables here, so blocks inside blocks say nothing. */
            if (inner->kind == IR_STMT_BLOCK)
                for (size_t k = 0; k < inner->as.block.body.count; k++)
                    base_vector_push(st->context->arena, &out, inner->as.block.body.items[k]);
            else
                base_vector_push(st->context->arena, &out, inner);
        }
        s->as.block.body.items = out.items;
        s->as.block.body.count = out.count;
        s->as.block.body.capacity = out.capacity;
        break;
    }
    case IR_STMT_IF:
        walk(st, s->as.branch.then_body);
        walk(st, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        walk(st, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        walk(st, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

void lower_optimise_propagate(lower_context *context) {
    state st = {
        .context = context, .values = base_map_create(context->arena), .memo = ir_memo_open(context->module)};
    walk(&st, context->function->body);
    ir_memo_close(st.memo);
}
