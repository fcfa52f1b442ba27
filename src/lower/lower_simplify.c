/* SPDX-License-Identifier: Apache-2.0
 * What constant bounds decide. In: flat form. Out: comparisons, minima and remainders whose result the bounds
 * of their operands fix are replaced by it; branches that are never taken and loops that never run are gone.
 * Bounds come from immutable values only, so memory never decides anything. Must not reorder or reassociate.
 */
#include "lower/lower_internal.h"

/* -1: always false, 1: always true, 0: open. */
static int decide(ir_op op, arith_range a, arith_range b) {
    if (!a.known || !b.known)
        return 0;
    switch (op) {
    case IR_LT:
        return a.high < b.low ? 1 : a.low >= b.high ? -1 : 0;
    case IR_LE:
        return a.high <= b.low ? 1 : a.low > b.high ? -1 : 0;
    case IR_GT:
        return decide(IR_LT, b, a);
    case IR_GE:
        return decide(IR_LE, b, a);
    case IR_EQ:
        return a.low == a.high && b.low == b.high && a.low == b.low ? 1
               : a.high < b.low || b.high < a.low                   ? -1
                                                                    : 0;
    case IR_NE:
        return -decide(IR_EQ, a, b);
    default:
        return 0;
    }
}

static bool is_integer_pair(const ir_expr *e) {
    return e->count == 2 && e->args[0]->type.lanes == 1 && ir_type_is_integer(e->args[0]->type) &&
           ir_type_is_integer(e->args[1]->type);
}

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    lower_context *context = user;
    if (!is_integer_pair(e) || ir_expr_has_effect(e))
        return e;
    arith_range a = arith_bounds(context->facts, e->args[0]), b = arith_bounds(context->facts, e->args[1]);
    bool small = a.known && b.known && a.low >= 0 && a.high < b.low;
    switch (e->op) {
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_EQ:
    case IR_NE: {
        int answer = decide(e->op, a, b);
        return answer ? ir_bool(context->module, answer > 0) : e;
    }
    case IR_MIN:
    case IR_MAX: {
        bool first = e->op == IR_MIN;
        if (decide(IR_LE, a, b) > 0)
            return e->args[first ? 0 : 1];
        return decide(IR_LE, b, a) > 0 ? e->args[first ? 1 : 0] : e;
    }
    case IR_FLOORMOD:
    case IR_TRUNCMOD:
        return small ? e->args[0] : e;
    case IR_FLOORDIV:
    case IR_TRUNCDIV:
        return small ? ir_int(context->module, (num_dtype)e->type.dtype, 0) : e;
    default:
        return e;
    }
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
    lower_rewrite_expressions(context, context->function->body, rewrite, context);
    lower_map_statements(context, context->function->body, statement, context);
}
