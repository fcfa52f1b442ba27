/* SPDX-License-Identifier: Apache-2.0
 * What is known decides. In: flat form. Out: integer expressions are rewritten by the rule table of arith
 * where they stand; tests that always hold, branches that are never taken and loops that never run are gone.
 * Facts come from immutable values only, so memory never decides anything. Must not know single rules. */
#include "arith/arith_rewrite.h"
#include "lower/lower_internal.h"

typedef struct state {
    lower_context *context;
    arith_rewriter *rewriter;
} state;

static const ir_where operations = {.size = 2};

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    state *st = user;
    return arith_rewrite(st->rewriter, lower_under_conditions(st->context, e, &operations, rewrite, st));
}

static bool declares(const ir_stmt *block) {
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt_kind kind = block->as.block.body.items[i]->kind;
        if (kind == IR_STMT_LET || kind == IR_STMT_ALLOCATE)
            return true;
    }
    return false;
}

static void keep_block(lower_context *context, ir_stmt *block, lower_statements *out) {
    if (declares(block))
        base_vector_push(context->arena, out, block);
    else
        for (size_t i = 0; i < block->as.block.body.count; i++)
            base_vector_push(context->arena, out, block->as.block.body.items[i]);
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    lower_context *context = user;
    int64_t value;
    if (s->kind == IR_STMT_IF && ir_is_int(s->as.branch.condition, &value)) {
        ir_stmt *taken = value ? s->as.branch.then_body : s->as.branch.else_body;
        if (taken)
            keep_block(context, taken, out);
    } else if (s->kind == IR_STMT_FOR && ir_is_int(s->as.loop.extent, &value) && value <= 0) {
        return;
    } else if (s->kind == IR_STMT_WHILE && ir_is_int(s->as.while_loop.condition, &value) && !value) {
        return;
    } else {
        base_vector_push(context->arena, out, s);
    }
}

void lower_simplify(lower_context *context) {
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {context, arith_rewriter_create(context->arena, context->module, context->facts)};
    lower_rewrite_guarded(context, context->function->body, &operations, rewrite, &st);
    lower_map_statements(context, context->function->body, statement, context);
}
