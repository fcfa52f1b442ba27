/* SPDX-License-Identifier: Apache-2.0
 * A branch that only gives one register another value becomes a select: on a machine of 32 lanes a branch
 * that the lanes disagree about costs more than a few operations that all of them execute. In and out: flat
 * form. Only what is cheap and can neither fault nor touch memory is executed by lanes that did not ask for
 * it. */
#include "lower/lower_optimise.h"

enum { MOST_OPERATIONS = 12 };

typedef struct inspection {
    unsigned operations;
    bool refused;
} inspection;

static void inspect(void *user, const ir_expr *e) {
    inspection *state = user;
    switch (e->op) {
    case IR_INT:
    case IR_FLOAT:
    case IR_VAR:
    case IR_REGISTER:
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
        return;
    case IR_NEG:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_FMA:
    case IR_MIN:
    case IR_MAX:
    case IR_ABS:
    case IR_BITAND:
    case IR_BITOR:
    case IR_BITXOR:
    case IR_BITNOT:
    case IR_SHL:
    case IR_SHR:
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
    case IR_NOT:
    case IR_AND:
    case IR_OR:
    case IR_SELECT:
    case IR_CAST:
        state->operations++;
        state->refused |= e->type.kind != IR_TYPE_PRIM || e->type.lanes > 1;
        return;
    default: /* division may fault; loads may be outside; the rest is not cheap */
        state->refused = true;
    }
}

static bool is_cheap(const ir_expr *e) {
    inspection state = {0, false};
    ir_expr_visit(e, inspect, &state);
    return !state.refused && state.operations <= MOST_OPERATIONS;
}

/* The only statement of a branch, seen through nested blocks; *count counts all of them. */
static const ir_stmt *only_statement(const ir_stmt *s, unsigned *count) {
    if (!s)
        return NULL;
    if (s->kind != IR_STMT_BLOCK) {
        ++*count;
        return s;
    }
    const ir_stmt *only = NULL;
    for (size_t i = 0; i < s->as.block.body.count && *count < 2; i++) {
        const ir_stmt *inner = only_statement(s->as.block.body.items[i], count);
        only = inner ? inner : only;
    }
    return only;
}

static const ir_expr *value_on(lower_context *context, const ir_stmt *assign, ir_var *var) {
    return assign ? assign->as.assign.value : ir_var_use(context->module, var);
}

/* The assignment that does the same as the branch, or NULL. */
static ir_stmt *selection(lower_context *context, const ir_stmt *s) {
    unsigned then_count = 0, else_count = 0;
    const ir_stmt *yes = only_statement(s->as.branch.then_body, &then_count);
    const ir_stmt *no = only_statement(s->as.branch.else_body, &else_count);
    if (then_count > 1 || else_count > 1 || (!yes && !no) || (yes && yes->kind != IR_STMT_ASSIGN) ||
        (no && no->kind != IR_STMT_ASSIGN) || (yes && no && yes->as.assign.var != no->as.assign.var))
        return NULL;
    ir_var *var = yes ? yes->as.assign.var : no->as.assign.var;
    const ir_expr *a = value_on(context, yes, var), *b = value_on(context, no, var);
    if (var->type.kind != IR_TYPE_PRIM || var->type.lanes > 1 || ir_type_is_bool(var->type) || !is_cheap(a) ||
        !is_cheap(b) || !is_cheap(s->as.branch.condition))
        return NULL;
    ir_stmt *assign = ir_stmt_create(context->module, IR_STMT_ASSIGN, s->span);
    assign->as.assign.var = var;
    assign->as.assign.value = ir_select(context->module, IR_SELECT, s->as.branch.condition, a, b);
    return assign;
}

static void convert(void *user, ir_stmt *s, lower_statements *out) {
    lower_context *context = user;
    ir_stmt *assign = s->kind == IR_STMT_IF ? selection(context, s) : NULL;
    base_vector_push(context->arena, out, assign ? assign : s);
}

void lower_optimise_select(lower_context *context) {
    lower_map_statements(context, context->function->body, convert, context);
}
