/* SPDX-License-Identifier: Apache-2.0
 * Scalars and local tensors that are read although nothing can have written them. In: tensor form. Out: the
 * same; one warning for each, at its first such read, where the text shows it on every path: no store stands
 * before the read on any way to it, and its address was not given away. Reads that a later round of a loop
 * may do only after a store of an earlier one (under a condition, behind a jump) count when no store stands
 * in the loop at all. Must not change anything. */
#include "lower/lower_internal.h"

typedef struct mark {
    const ir_tensor *tensor;
    bool is_written; /* on a way to here */
    bool is_told;
    uint32_t depth;       /* loops around its allocation */
    uint32_t first_store; /* number of the statement, or UINT32_MAX */
    base_span store_span;
} mark;

typedef struct state {
    lower_context *context;
    base_map *marks;             /* ir_tensor -> mark */
    base_map *met;               /* expressions that the statement evaluates for certain: number + 1 */
    BASE_VECTOR(uint32_t) ends;  /* of each statement by its number: number of the last one inside */
    BASE_VECTOR(uint32_t) loops; /* numbers of the loops around the statement, outermost first */
    BASE_VECTOR(mark *) trail;   /* what became written, in order */
    BASE_VECTOR(mark *) given;   /* whose address the statement gives away */
    uint32_t number;
    bool is_uncertain; /* a first round of the loops around may pass this by */
    bool is_first;     /* the first pass: stores are looked for, nothing is said */
    base_span span;
} state;

static mark *mark_of(const state *st, const ir_tensor *tensor) {
    return base_map_get(st->marks, BASE_KEY(tensor));
}

static void set_written(state *st, mark *m) {
    if (st->is_first) {
        if (m->first_store == UINT32_MAX) {
            m->first_store = st->number;
            m->store_span = st->span;
        }
    } else if (!m->is_written) {
        m->is_written = true;
        base_vector_push(st->context->arena, &st->trail, m);
    }
}

/* ---- reads ---- */

static void tell(state *st, mark *m) {
    base_diagnostics *diagnostics = st->context->diagnostics;
    const char *name = m->tensor->name;
    bool later = m->first_store != UINT32_MAX;
    m->is_told = true;
    base_diagnostic *d = base_report(diagnostics, BASE_WARNING, "T0353", st->span,
                                     later ? "'%s' is read before anything is written to it"
                                           : "'%s' is read, and nothing is ever written to it",
                                     name);
    base_note(diagnostics, d, m->tensor->span, "'%s' is declared here, without a value", name);
    if (later)
        base_note(diagnostics, d, m->store_span, "the first store to it is here");
    base_help(diagnostics, d,
              m->tensor->is_scalar ? "give it a value where it is declared: `%s: T.%s = 0`"
                                   : "store to '%s' first, as a loop over its elements%.0s",
              name, num_dtype_name(m->tensor->type.dtype));
}

/* certain: in the first round of the loops around it, too. */
static void read_tensor(state *st, const ir_tensor *tensor, bool certain) {
    mark *m = mark_of(st, tensor);
    if (!m || m->is_written || m->is_told)
        return;
    if (!certain && st->loops.count > m->depth && m->first_store <= st->ends.items[st->loops.items[m->depth]])
        return; /* the outermost loop that the tensor outlives holds a store */
    tell(st, m);
}

/* The loads that are evaluated whenever the expression is. */
static void strict_reads(state *st, const ir_expr *e) {
    void *met = (void *)(uintptr_t)(st->number + 1);
    if (!(e->effects & IR_FLAG_READS) || base_map_get(st->met, BASE_KEY(e)) == met)
        return;
    base_map_set(st->met, BASE_KEY(e), met);
    bool lazy = e->op == IR_IF_THEN_ELSE || e->op == IR_AND || e->op == IR_OR;
    for (uint32_t i = 0; i < (lazy ? 1 : e->count); i++)
        strict_reads(st, e->args[i]);
    if (e->op == IR_LOAD)
        read_tensor(st, e->at.tensor, !st->is_uncertain);
}

static void lazy_read(void *user, const ir_expr *e) {
    state *st = user;
    if (e->op == IR_LOAD)
        read_tensor(st, e->at.tensor, false);
}

static void find_given(void *user, const ir_expr *e) {
    state *st = user;
    mark *m =
        e->op == IR_ADDRESS || e->op == IR_DATA || e->op == IR_REGION ? mark_of(st, e->at.tensor) : NULL;
    if (m)
        base_vector_push(st->context->arena, &st->given, m);
}

static const ir_where tensors = {.effects = IR_INSIDE_TENSOR};

static void expression(void *user, const ir_expr **e) {
    state *st = user;
    if (!st->is_first && ((*e)->effects & IR_FLAG_READS)) {
        strict_reads(st, *e);
        ir_expr_visit_where(*e, &tensors, lazy_read, st);
    }
    ir_expr_visit_where(*e, &tensors, find_given, st);
}

/* ---- statements ---- */

static bool is_local(const ir_stmt *s) {
    return s->kind == IR_STMT_ALLOCATE && s->as.allocate.tensor->type.scope == IR_SCOPE_LOCAL;
}

static void walk(state *st, ir_stmt *s);

static void walk_branch(state *st, const ir_stmt *s) {
    bool outer = st->is_uncertain;
    size_t start = st->trail.count;
    st->is_uncertain |= st->loops.count > 0;
    walk(st, s->as.branch.then_body);
    size_t middle = st->trail.count;
    /* the other side does not see what this one wrote; behind both, either counts */
    for (size_t i = start; i < middle; i++)
        st->trail.items[i]->is_written = false;
    if (s->as.branch.else_body)
        walk(st, s->as.branch.else_body);
    for (size_t i = start; i < middle; i++)
        st->trail.items[i]->is_written = true;
    st->is_uncertain = outer;
}

static bool jumps(const ir_stmt *s) {
    return s->kind == IR_STMT_BREAK || s->kind == IR_STMT_CONTINUE || s->kind == IR_STMT_RETURN;
}

static void walk_loop(state *st, ir_stmt *s, uint32_t number) {
    int64_t rounds;
    bool outer = st->is_uncertain, is_for = s->kind == IR_STMT_FOR;
    bool runs = is_for && ir_is_int(s->as.loop.extent, &rounds) && rounds > 0;
    st->is_uncertain |= st->loops.count > 0 && !runs;
    base_vector_push(st->context->arena, &st->loops, number);
    walk(st, is_for ? s->as.loop.body : s->as.while_loop.body);
    st->loops.count--;
    st->is_uncertain = outer;
}

static void walk_block(state *st, const ir_stmt *s) {
    for (size_t i = 0; i < s->as.block.body.count; i++) {
        ir_stmt *inner = s->as.block.body.items[i];
        walk(st, inner);
        /* behind a branch that may leave the round */
        if (st->loops.count > 0 && inner->kind == IR_STMT_IF && !st->is_uncertain)
            st->is_uncertain = lower_any_statement(inner, jumps);
    }
}

static void walk(state *st, ir_stmt *s) {
    uint32_t number = ++st->number;
    if (st->is_first)
        base_vector_push(st->context->arena, &st->ends, number);
    st->span = s->span;
    st->given.count = 0;
    ir_stmt_expressions(s, expression, st);
    if (s->kind == IR_STMT_DECLARE && s->as.declare.tensor->data)
        ir_expr_visit_where(s->as.declare.tensor->data, &tensors, find_given, st);
    for (size_t i = 0; i < st->given.count; i++)
        set_written(st, st->given.items[i]);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        walk_block(st, s);
        break;
    case IR_STMT_ALLOCATE:
        if (st->is_first && is_local(s)) {
            mark *m = BASE_NEW(st->context->arena, mark);
            *m = (mark){.tensor = s->as.allocate.tensor,
                        .depth = (uint32_t)st->loops.count,
                        .first_store = UINT32_MAX};
            base_map_set(st->marks, BASE_KEY(m->tensor), m);
        }
        break;
    case IR_STMT_STORE: {
        mark *m = mark_of(st, s->as.store.tensor);
        if (m)
            set_written(st, m);
        break;
    }
    case IR_STMT_IF:
        walk_branch(st, s);
        break;
    case IR_STMT_FOR:
    case IR_STMT_WHILE:
        walk_loop(st, s, number);
        break;
    default:
        break;
    }
    if (st->is_first)
        st->ends.items[number] = st->number;
}

void lower_unwritten(lower_context *context) {
    if (!lower_any_statement(context->function->body, is_local))
        return;
    state st = {.context = context, .marks = base_map_create(context->arena), .is_first = true};
    st.met = base_map_create(context->arena);
    base_vector_push(context->arena, &st.ends, 0); /* statements count from 1 */
    walk(&st, context->function->body);
    st.is_first = st.is_uncertain = false;
    st.number = 0;
    walk(&st, context->function->body);
}
