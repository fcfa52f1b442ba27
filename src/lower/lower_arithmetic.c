/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic that is certainly not meant. In: tensor form. Out: the same; warnings, each once, at the
 * statement: a division whose divisor is always 0, a shift whose count never is inside the width, an index
 * whose 32-bit arithmetic leaves its type for values that the kernel itself reaches. Must not change
 * anything. */
#include "lower/lower_internal.h"
#include "num/num.h"

__extension__ typedef __int128 wide;

typedef struct state {
    lower_context *context;
    base_map *told; /* expression -> told already */
    base_span span;
    bool in_index;
} state;

static const char *text_of(state *st, const ir_expr *e) {
    base_builder out;
    base_builder_start(&out, st->context->arena);
    ir_expr_print(e, &out);
    return out.size > 120 ? base_arena_format(st->context->arena, "%.117s...", out.data) : out.data;
}

static bool first_time(state *st, const ir_expr *e) {
    if (base_map_get(st->told, BASE_KEY(e)))
        return false;
    base_map_set(st->told, BASE_KEY(e), st);
    return true;
}

static bool is_scalar_integer(const ir_expr *e) {
    return ir_type_is_integer(e->type) && e->type.lanes == 1;
}

static void check_divisor(state *st, const ir_expr *e) {
    arith_range r = arith_bounds(st->context->facts, e->args[1]);
    if (!r.known || r.low != 0 || r.high != 0 || !first_time(st, e))
        return;
    base_diagnostics *diagnostics = st->context->diagnostics;
    base_diagnostic *d =
        base_report(diagnostics, BASE_WARNING, "T0350", st->span,
                    "`%s` divides by zero: its divisor is 0 whenever this runs", text_of(st, e));
    base_help(diagnostics, d, "the result is whatever the hardware gives; test the divisor first");
}

static void check_shift(state *st, const ir_expr *e) {
    arith_range r = arith_bounds(st->context->facts, e->args[1]);
    int bits = (int)num_dtype_bits((num_dtype)e->type.dtype);
    if (!r.known || (r.high >= 0 && r.low < bits) || !first_time(st, e))
        return;
    base_diagnostics *diagnostics = st->context->diagnostics;
    base_diagnostic *d = base_report(diagnostics, BASE_WARNING, "T0351", st->span,
                                     r.high < 0 ? "`%s` shifts by a negative count"
                                                : "`%s` shifts all of the %d bits of %s out",
                                     text_of(st, e), bits, num_dtype_name((num_dtype)e->type.dtype));
    base_help(diagnostics, d, "counts from 0 to %d move bits", bits - 1);
}

/* Whether the kernel itself reaches the ends of the bounds: constants, loops and launches of constant size.
 */
static bool is_reached(state *st, const ir_expr *e) {
    const ir_launch *launch = &st->context->function->launch;
    int axis = (int)e->at.integer;
    switch (e->op) {
    case IR_INT:
        return true;
    case IR_THREAD_IDX:
        return launch->present && ir_is_int(launch->block[axis], NULL);
    case IR_BLOCK_IDX:
        return launch->present && ir_is_int(launch->grid[axis], NULL);
    case IR_VAR: {
        arith_range r = arith_bounds(st->context->facts, e);
        wide most = num_maximum((num_dtype)e->type.dtype) / 4;
        return e->at.var->kind != IR_VAR_PARAMETER && r.known && r.low >= -most && r.high <= most;
    }
    case IR_ADD:
    case IR_MUL:
        return is_reached(st, e->args[0]) && is_reached(st, e->args[1]);
    default:
        return false;
    }
}

static void check_overflow(state *st, const ir_expr *e) {
    arith_range a = arith_bounds(st->context->facts, e->args[0]),
                b = arith_bounds(st->context->facts, e->args[1]);
    if (!a.known || !b.known || a.low < 0 || b.low < 0 || num_dtype_bits((num_dtype)e->type.dtype) != 32)
        return;
    wide high = e->op == IR_ADD ? (wide)a.high + b.high : (wide)a.high * b.high;
    if (high <= (wide)num_maximum((num_dtype)e->type.dtype) || e->depth > 50 || !is_reached(st, e) ||
        !first_time(st, e))
        return;
    base_diagnostics *diagnostics = st->context->diagnostics;
    const char *type = num_dtype_name((num_dtype)e->type.dtype);
    base_diagnostic *d = base_report(diagnostics, BASE_WARNING, "T0352", st->span,
                                     "the index `%s` reaches %lld, which %s does not hold: it wraps",
                                     text_of(st, e), (long long)high, type);
    base_help(diagnostics, d, "compute it with 64 bits: T.int64(...)");
}

static void visit(void *user, const ir_expr *e) {
    state *st = user;
    if (e->count != 2 || !is_scalar_integer(e))
        return;
    switch (e->op) {
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        check_divisor(st, e);
        break;
    case IR_SHL:
    case IR_SHR:
        check_shift(st, e);
        break;
    case IR_ADD:
    case IR_MUL:
        if (st->in_index)
            check_overflow(st, e);
        break;
    default:
        break;
    }
}

static void visit_indices(void *user, const ir_expr *e) {
    if (e->op != IR_LOAD && e->op != IR_ADDRESS)
        return;
    for (uint32_t i = 0; i < e->count; i++)
        ir_expr_visit(e->args[i], visit, user);
}

static void expression(void *user, const ir_expr **e) {
    static const ir_where quotients = {.effects = IR_INSIDE_QUOTIENT},
                          tensors = {.effects = IR_INSIDE_TENSOR};
    state *st = user;
    st->in_index = false;
    ir_expr_visit_where(*e, &quotients, visit, st);
    st->in_index = true;
    ir_expr_visit_where(*e, &tensors, visit_indices, st);
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    st->span = s->span;
    ir_stmt_expressions(s, expression, st);
    if (s->kind == IR_STMT_STORE)
        for (uint32_t i = 0; i < s->as.store.count; i++)
            ir_expr_visit(s->as.store.indices[i], visit, st);
    base_vector_push(st->context->arena, out, s);
}

void lower_arithmetic(lower_context *context) {
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {.context = context, .told = base_map_create(context->arena)};
    lower_map_guarded(context, context->function->body, statement, &st);
}
