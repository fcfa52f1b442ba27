/* SPDX-License-Identifier: Apache-2.0
 * What a loop computes anew in every round although it never changes is bound before the loop; outer loops
 * first, so each value lands as far out as it may. In and out: flat form. Must not move what reads memory,
 * and what might fail where the loop would not have evaluated it. */
#include "lower/lower_optimise.h"

typedef struct state {
    lower_context *context;
    lower_effects effects;
    lower_invariance invariance;
    ir_stmt *loop;
    ir_memo *memo; /* rewritten expressions */
    lower_statements *out;
} state;

/* Operations that cost no instruction of their own, or only put lanes together. */
static bool is_free(const ir_expr *e) {
    switch (e->op) {
    case IR_LANE:
    case IR_VECTOR:
    case IR_BROADCAST:
    case IR_RAMP:
    case IR_DATA:
    case IR_REINTERPRET:
        return true;
    case IR_POINTER_ADDRESS:
    case IR_POINTER_OFFSET:
        return e->args[1]->op == IR_INT;
    default:
        return e->count == 0;
    }
}

static const ir_expr *rewrite(state *st, const ir_expr *e, unsigned depth) {
    const ir_expr *known = ir_memo_get(st->memo, e);
    if (known || e->count == 0)
        return known ? known : e;
    const ir_expr *result = e;
    bool fixed = !is_free(e) && e->type.kind != IR_TYPE_STRING && lower_is_invariant(&st->invariance, e) &&
                 !(lower_traits_of(e) & LOWER_GUARDED);
    if (fixed) {
        ir_stmt *let = lower_new_let(st->context, "fixed", e, st->loop->span);
        base_vector_push(st->context->arena, st->out, let);
        result = ir_var_use(st->context->module, let->as.let.var);
    } else if (depth < 200) {
        const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
        bool changed = false;
        for (uint32_t i = 0; i < e->count; i++) {
            args[i] = rewrite(st, e->args[i], depth + 1);
            changed = changed || args[i] != e->args[i];
        }
        if (changed)
            result = ir_rebuild(st->context->module, e, args);
    }
    ir_memo_set(st->memo, e, result);
    return result;
}

static void rewrite_expression(void *user, const ir_expr **e) {
    *e = rewrite(user, *e, 0);
}

static void rewrite_statement(void *user, ir_stmt *s) {
    ir_stmt_expressions(s, rewrite_expression, user);
}

static void hoist_from(lower_context *context, ir_stmt *loop, lower_statements *out) {
    state st = {.context = context, .loop = loop, .memo = ir_memo_open(context->module), .out = out};
    lower_effects_of(context, loop, &st.effects);
    st.invariance = (lower_invariance){&st.effects, ir_memo_open(context->module)};
    if (loop->kind == IR_STMT_FOR) {
        lower_visit_statements(loop->as.loop.body, rewrite_statement, &st);
    } else {
        rewrite_expression(&st, &loop->as.while_loop.condition);
        lower_visit_statements(loop->as.while_loop.body, rewrite_statement, &st);
    }
    ir_memo_close(st.memo);
    ir_memo_close(st.invariance.memo);
}

static void walk(lower_context *context, ir_stmt *s) {
    if (!s)
        return;
    switch (s->kind) {
    case IR_STMT_BLOCK: {
        lower_statements out = {0};
        for (size_t i = 0; i < s->as.block.body.count; i++) {
            ir_stmt *inner = s->as.block.body.items[i];
            if (inner->kind == IR_STMT_FOR || inner->kind == IR_STMT_WHILE)
                hoist_from(context, inner, &out);
            walk(context, inner);
            base_vector_push(context->arena, &out, inner);
        }
        s->as.block.body.items = out.items;
        s->as.block.body.count = out.count;
        s->as.block.body.capacity = out.capacity;
        break;
    }
    case IR_STMT_IF:
        walk(context, s->as.branch.then_body);
        walk(context, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        walk(context, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        walk(context, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

void lower_optimise_hoist(lower_context *context) {
    walk(context, context->function->body);
}
