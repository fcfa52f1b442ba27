/* SPDX-License-Identifier: Apache-2.0
 * Pointers that move by the same amount in every round of a loop become registers that are advanced at the
 * round's end, instead of being computed from the loop variable. In and out: flat form. Loops with a continue
 * of their own stay: their rounds have several ends. */
#include "lower/lower_optimise.h"

enum { MAXIMUM_POINTERS = 24, SHORT_LOOP = 2 };

typedef struct moving {
    const ir_expr *pointer, *reg; /* what is replaced, and the IR_REGISTER that replaces it */
    ir_var *var;
    const ir_expr *first, *stride; /* value before the loop; elements per round */
} moving;

typedef struct state {
    lower_context *context;
    ir_stmt *loop;
    lower_effects effects;
    lower_invariance invariance;
    moving found[MAXIMUM_POINTERS];
    uint32_t count;
    base_map *rejected, *memo;
} state;

/* index = variable * stride + the rest, both the same in every round; the rest may be nothing. */
static bool advance(state *st, const ir_expr *index, const ir_expr **stride) {
    ir_module *module = st->context->module;
    lower_sum *sum = BASE_NEW(st->context->arena, lower_sum), *step = BASE_NEW(st->context->arena, lower_sum);
    const ir_expr *variable = ir_var_use(module, st->loop->as.loop.var);
    int64_t round;
    if (!ir_is_int(st->loop->as.loop.step, &round) || !lower_sum_of(index, sum))
        return false;
    for (uint32_t i = 0; i < sum->count; i++) {
        lower_term *term = &sum->terms[i], factor = {0};
        unsigned degree = 0;
        if (__builtin_mul_overflow(term->coefficient, round, &factor.coefficient))
            return false;
        for (uint32_t k = 0; k < term->count; k++) {
            if (term->atoms[k] == variable)
                degree++;
            else if (!lower_is_invariant(&st->invariance, term->atoms[k]))
                return false;
            else
                factor.atoms[factor.count++] = term->atoms[k];
        }
        if (degree > 1)
            return false;
        if (degree == 0)
            continue;
        if (factor.count)
            step->terms[step->count++] = factor;
        else if (__builtin_add_overflow(step->constant, factor.coefficient, &step->constant))
            return false;
    }
    if (!step->count && !step->constant)
        return false;
    bool keep[LOWER_TERMS];
    for (uint32_t i = 0; i < step->count; i++)
        keep[i] = true;
    *stride = lower_sum_rebuild(module, ir_type_scalar(index->type), step, keep);
    const ir_expr *constant = ir_int(module, index->type.dtype, step->constant);
    *stride = *stride ? ir_binary(module, IR_ADD, *stride, constant) : constant;
    return true;
}

static const ir_where pointers = {.effects = IR_INSIDE_POINTER_ADDRESS};

static void consider(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *stride;
    if (e->op != IR_POINTER_ADDRESS || e->at.origin || st->count == MAXIMUM_POINTERS ||
        base_map_get(st->rejected, (uint64_t)e->id + 1))
        return;
    base_map_set(st->rejected, (uint64_t)e->id + 1, st);
    if (!lower_is_invariant(&st->invariance, e->args[0]) || !advance(st, e->args[1], &stride))
        return;
    lower_substitution start;
    lower_substitution_start(&start, st->context->module);
    lower_substitute_var(&start, st->loop->as.loop.var, st->loop->as.loop.start);
    ir_var *var = ir_var_create(st->context->module, "at", e->type, IR_VAR_REGISTER, st->loop->span);
    st->found[st->count++] =
        (moving){e, ir_var_use(st->context->module, var), var, lower_substitute(&start, e), stride};
    lower_substitution_end(&start);
}

static void consider_all(void *user, const ir_expr **e) {
    ir_expr_visit_where(*e, &pointers, consider, user);
}

static void consider_statement(void *user, ir_stmt *s) {
    ir_stmt_expressions(s, consider_all, user);
}

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    for (uint32_t i = 0; i < st->count; i++)
        if (st->found[i].pointer == e)
            return st->found[i].reg;
    return e;
}

static ir_stmt *assign(state *st, const moving *m, const ir_expr *value) {
    ir_stmt *s = ir_stmt_create(st->context->module, IR_STMT_ASSIGN, st->loop->span);
    s->as.assign.var = m->var;
    s->as.assign.value = value;
    return s;
}

/* The registers' first values go to out, which then gets the loop. */
static void rewrite_loop(lower_context *context, ir_stmt *loop, lower_statements *out) {
    int64_t extent;
    bool is_short = ir_is_int(loop->as.loop.extent, &extent) && extent <= SHORT_LOOP;
    if (is_short || lower_has_continue(loop->as.loop.body))
        return;
    state st = {.context = context, .loop = loop, .rejected = base_map_create(context->arena)};
    lower_effects_of(context, loop, &st.effects);
    st.invariance = (lower_invariance){&st.effects, ir_memo_open(context->module)};
    lower_visit_statements(loop->as.loop.body, consider_statement, &st);
    ir_memo_close(st.invariance.memo);
    if (!st.count)
        return;
    lower_rewrite_expressions(context, loop->as.loop.body, &pointers, replace, &st);
    for (uint32_t i = 0; i < st.count; i++) {
        const moving *m = &st.found[i];
        base_vector_push(context->arena, out, assign(&st, m, m->first));
        const ir_expr *next = ir_pointer_address(context->module, m->pointer->type, m->reg, m->stride, NULL);
        ir_block_add(context->module, loop->as.loop.body, assign(&st, m, next));
    }
}

/* Outer loops first: the pointers of an inner loop start from those of the outer ones. */
static void walk(lower_context *context, ir_stmt *s) {
    if (!s)
        return;
    switch (s->kind) {
    case IR_STMT_BLOCK: {
        lower_statements out = {0};
        for (size_t i = 0; i < s->as.block.body.count; i++) {
            ir_stmt *inner = s->as.block.body.items[i];
            if (inner->kind == IR_STMT_FOR)
                rewrite_loop(context, inner, &out);
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

void lower_optimise_induction(lower_context *context) {
    walk(context, context->function->body);
}
