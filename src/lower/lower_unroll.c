/* SPDX-License-Identifier: Apache-2.0
 * Unrolled loops. In: IR_LOOP_UNROLL anywhere. Out: none; each round stands as straight lines with the
 * variable replaced by its value and constants folded again; a round that declares something is its own
 * block. Must not know indices or layouts. */
#include "arith/arith_bounds.h"
#include "lower/lower_internal.h"

/* Statements that all unrolled loops of a function may become together. */
enum { STATEMENT_LIMIT = 1 << 17 };

typedef struct state {
    lower_context *context;
    arith_facts *facts;
    uint64_t made; /* statements so far */
} state;

typedef struct round_of round_of;
/* A round of an unrolled loop, and the rounds around it. */
struct round_of {
    const round_of *outer;
    const ir_var *var;
    const ir_expr *value;
};

static void count_statement(void *user, ir_stmt *s) {
    (void)s;
    ++*(size_t *)user;
}

/* The first break or continue that belongs to this body, not to a loop inside it. */
static const ir_stmt *find_jump(const ir_stmt *s) {
    if (!s)
        return NULL;
    const ir_stmt *found = NULL;
    switch (s->kind) {
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
        return s;
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count && !found; i++)
            found = find_jump(s->as.block.body.items[i]);
        return found;
    case IR_STMT_IF:
        found = find_jump(s->as.branch.then_body);
        return found ? found : find_jump(s->as.branch.else_body);
    default:
        return NULL;
    }
}

static bool declares(const ir_stmt *block) {
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt_kind kind = block->as.block.body.items[i]->kind;
        if (kind == IR_STMT_LET || kind == IR_STMT_ALLOCATE || kind == IR_STMT_DECLARE)
            return true;
    }
    return false;
}

static void substitute_rounds(lower_substitution *substitution, const round_of *round) {
    for (; round; round = round->outer)
        lower_substitute_var(substitution, round->var, round->value);
}

static bool is_constant(state *st, const ir_expr *e, const round_of *outer, int64_t *value) {
    if (!outer || !e->variables)
        return arith_is_constant(st->facts, e, value);
    lower_substitution substitution;
    lower_substitution_start(&substitution, st->context->module);
    substitute_rounds(&substitution, outer);
    e = lower_substitute(&substitution, e);
    lower_substitution_end(&substitution);
    return arith_is_constant(st->facts, e, value);
}

/* How often the loop runs, or -1 after a report. */
static int64_t rounds(state *st, const ir_stmt *loop, const round_of *outer, int64_t *start, int64_t *step) {
    base_diagnostics *diagnostics = st->context->diagnostics;
    int64_t extent;
    if (!is_constant(st, loop->as.loop.start, outer, start) ||
        !is_constant(st, loop->as.loop.extent, outer, &extent) || !ir_is_int(loop->as.loop.step, step)) {
        base_diagnostic *d = base_report(diagnostics, BASE_ERROR, "T0403", loop->span,
                                         "unroll needs a constant extent, known when the kernel is compiled");
        base_help(diagnostics, d,
                  "use serial(..., unroll=True) for a loop whose extent is known at run time");
        return -1;
    }
    const ir_stmt *jump = find_jump(loop->as.loop.body);
    if (jump) {
        base_diagnostic *d = base_report(diagnostics, BASE_ERROR, "T0404", jump->span,
                                         "%s directly inside unroll: there is no loop to %s",
                                         jump->kind == IR_STMT_BREAK ? "break" : "continue",
                                         jump->kind == IR_STMT_BREAK ? "leave" : "go on with");
        base_note(diagnostics, d, loop->span, "the unrolled loop");
        base_help(diagnostics, d, "use serial(n, unroll=True), which stays a loop");
        return -1;
    }
    if (extent <= 0 || *step <= 0)
        return 0;
    int64_t count = (extent - 1) / *step + 1;
    size_t size = 0;
    lower_visit_statements(loop->as.loop.body, count_statement, &size);
    uint64_t room = STATEMENT_LIMIT - st->made;
    if ((uint64_t)count > room / (size ? size : 1)) {
        base_diagnostic *d = base_report(
            diagnostics, BASE_ERROR, "T0405", loop->span,
            "unroll of %lld rounds of %zu statements goes over the limit of %d statements in a kernel",
            (long long)count, size, STATEMENT_LIMIT);
        base_help(diagnostics, d,
                  "use serial(n, unroll=True), which the next compiler unrolls as far as it pays");
        return -1;
    }
    st->made += (uint64_t)count * size;
    return count;
}

static bool is_unrolled(const ir_stmt *s) {
    return s->kind == IR_STMT_FOR && s->as.loop.kind == IR_LOOP_UNROLL;
}

static void expand_block(state *st, ir_stmt *block);

/* Unrolled loops inside the statement, which is none itself. */
static void expand_inside(state *st, ir_stmt *s) {
    switch (s->kind) {
    case IR_STMT_BLOCK:
        expand_block(st, s);
        break;
    case IR_STMT_IF:
        expand_block(st, s->as.branch.then_body);
        expand_block(st, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        expand_block(st, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        expand_block(st, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

static void expand(state *st, const ir_stmt *s, const round_of *outer, lower_statements *out);

/* The statements of one round. Loops directly inside are not copied first: their rounds know this one. */
static void expand_round(state *st, const ir_stmt *body, const round_of *round, lower_statements *out) {
    base_arena *arena = st->context->arena;
    lower_substitution substitution;
    lower_substitution_start(&substitution, st->context->module);
    substitute_rounds(&substitution, round);
    for (size_t i = 0; i < body->as.block.body.count; i++) {
        const ir_stmt *s = body->as.block.body.items[i];
        if (is_unrolled(s)) {
            expand(st, s, round, out);
            continue;
        }
        ir_stmt *copy = lower_stmt_copy(&substitution, s);
        expand_inside(st, copy);
        base_vector_push(arena, out, copy);
    }
    lower_substitution_end(&substitution);
}

/* The same where a round declares something: its own block, whose names are its own. */
static ir_stmt *expand_scope(state *st, const ir_stmt *body, const round_of *round) {
    lower_substitution substitution;
    lower_substitution_start(&substitution, st->context->module);
    substitute_rounds(&substitution, round);
    ir_stmt *copy = lower_stmt_copy(&substitution, body);
    lower_substitution_end(&substitution);
    expand_block(st, copy);
    return copy;
}

/* Outer loops first: the extent of an inner one may depend on the outer variable. */
static void expand(state *st, const ir_stmt *s, const round_of *outer, lower_statements *out) {
    int64_t start = 0, step = 1, count = rounds(st, s, outer, &start, &step);
    const ir_var *var = s->as.loop.var;
    const ir_stmt *body = s->as.loop.body;
    bool scope = declares(body);
    for (int64_t i = 0; i < count; i++) {
        round_of round = {outer, var,
                          ir_int(st->context->module, (num_dtype)var->type.dtype, start + i * step)};
        if (scope)
            base_vector_push(st->context->arena, out, expand_scope(st, body, &round));
        else
            expand_round(st, body, &round, out);
    }
}

static void expand_block(state *st, ir_stmt *block) {
    if (!block)
        return;
    lower_statements out = {0};
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        if (is_unrolled(s)) {
            expand(st, s, NULL, &out);
            continue;
        }
        expand_inside(st, s);
        base_vector_push(st->context->arena, &out, s);
    }
    block->as.block.body.items = out.items;
    block->as.block.body.count = out.count;
    block->as.block.body.capacity = out.capacity;
}

void lower_unroll(lower_context *context) {
    if (!lower_any_statement(context->function->body, is_unrolled))
        return;
    state st = {context, arith_facts_create(context->arena, context->function), 0};
    expand_block(&st, context->function->body);
    arith_facts_release(st.facts);
}
