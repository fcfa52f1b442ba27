/* SPDX-License-Identifier: Apache-2.0
 * Common subexpressions: a pure value that several statements below a block need is bound in the lowest block
 * that contains all its uses, before the first of them. In and out: flat form. Must not bind what might fail,
 * or is long to compute, on a path that does not use it. */
#include "lower/lower_optimise.h"

/* Uses of one expression inside the block that is looked at. */
typedef struct shared {
    const ir_expr *e;
    size_t first;   /* statement of the block with the first use */
    unsigned arm;   /* of that statement, when it is a branch */
    uint32_t users; /* statements of the block with a use */
    bool below;     /* the first use is inside a branch or a loop, so it does not cover the others */
} shared;

typedef struct state {
    lower_context *context;
    BASE_VECTOR(shared) list; /* in order of their first statement */
    ir_memo *known;           /* position in the list + 1 */
    ir_memo *seen;            /* of the expression that is looked at */
    ir_memo *locality;        /* whether local variables are inside */
    base_map
        *local; /* ir_var id + 1 of variables bound inside the block's statements, not in the block itself */
    uint64_t local_bits; /* of their numbers, as in ir_expr */
    size_t statement;
    unsigned arm; /* 1, 2: sides of a branch; 0: elsewhere */
    bool below;
    base_map *active;   /* ir_expr id + 1 -> variable's use */
    ir_where where;     /* as large as the smallest one */
    ir_memo *rewritten; /* with those that are active now */
} state;

static bool is_free(const ir_expr *e) {
    switch (e->op) {
    case IR_LANE:
    case IR_VECTOR:
    case IR_BROADCAST:
    case IR_RAMP:
    case IR_REINTERPRET:
    case IR_CAST:
        return true;
    case IR_POINTER_ADDRESS:
    case IR_POINTER_OFFSET:
        return e->args[1]->op == IR_INT;
    default:
        return e->count == 0;
    }
}

static const char yes, no; /* addresses that stand for answers in the memo */

static bool is_local(state *st, const ir_expr *e) {
    if (!(e->variables & st->local_bits))
        return false;
    if (e->op == IR_VAR)
        return base_map_get(st->local, (uint64_t)e->at.var->id + 1) != NULL;
    const void *answer = ir_memo_get(st->locality, e);
    if (!answer) {
        bool local = false;
        for (uint32_t i = 0; i < e->count && !local; i++)
            local = is_local(st, e->args[i]);
        answer = local ? &yes : &no;
        ir_memo_set(st->locality, e, answer);
    }
    return answer == &yes;
}

/* Another use says nothing new: of this expression, and so of its parts, which were used wherever it was. */
static bool is_settled(const state *st, const shared *entry) {
    return entry->users > 1 && entry->first != st->statement;
}

static void note_use(state *st, const ir_expr *e, uintptr_t at) {
    if (is_free(e) || e->type.kind == IR_TYPE_STRING || lower_traits_of(e) || is_local(st, e))
        return;
    if (!at) {
        base_vector_push(st->context->arena, &st->list, (shared){e, st->statement, st->arm, 1, st->below});
        ir_memo_set(st->known, e, (void *)(uintptr_t)st->list.count);
        return;
    }
    shared *entry = &st->list.items[at - 1];
    if (entry->first != st->statement || (entry->arm != st->arm && entry->arm && st->arm))
        entry->users++;
    else if (!st->below)
        entry->below = false;
}

/* Each once, children first. */
static void note_inside(state *st, const ir_expr *e) {
    if (!e->count || ir_memo_get(st->seen, e))
        return;
    uintptr_t at = (uintptr_t)ir_memo_get(st->known, e);
    if (at && is_settled(st, &st->list.items[at - 1]))
        return;
    ir_memo_set(st->seen, e, e);
    for (uint32_t i = 0; i < e->count; i++)
        note_inside(st, e->args[i]);
    note_use(st, e, at);
}

static void note_uses(void *user, const ir_expr **e) {
    state *st = user;
    ir_memo_clear(st->seen);
    note_inside(st, *e);
}

static void note_statement(void *user, ir_stmt *s) {
    state *st = user;
    ir_stmt_expressions(s, note_uses, st);
    st->below = true;
}

static void note_child(state *st, ir_stmt *s, size_t index) {
    st->statement = index;
    st->arm = 0;
    st->below = false;
    if (s->kind != IR_STMT_IF) {
        lower_visit_statements(s, note_statement, st);
        return;
    }
    ir_stmt_expressions(s, note_uses, st);
    st->below = true;
    st->arm = 1;
    lower_visit_statements(s->as.branch.then_body, note_statement, st);
    st->arm = 2;
    lower_visit_statements(s->as.branch.else_body, note_statement, st);
}

static void note_local(state *st, const ir_var *var) {
    base_map_set(st->local, (uint64_t)var->id + 1, st);
    st->local_bits |= UINT64_C(1) << var->id % 64;
}

static void note_bound(void *user, ir_stmt *s) {
    if (s->kind == IR_STMT_LET)
        note_local(user, s->as.let.var);
    else if (s->kind == IR_STMT_FOR)
        note_local(user, s->as.loop.var);
}

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *var = base_map_get(st->active, (uint64_t)e->id + 1);
    return var ? var : e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    *e = ir_expr_rewrite(st->context->module, *e, &st->where, replace, st, st->rewritten);
}

static void rewrite_statement(void *user, ir_stmt *s) {
    ir_stmt_expressions(s, rewrite, user);
}

/* Binds the largest shared expressions; their parts come along with them. */
static void bind_shared(state *st, ir_stmt *block) {
    lower_statements out = {0};
    st->active = base_map_create(st->context->arena);
    st->where = (ir_where){0};
    ir_memo_clear(st->rewritten);
    bool any = false;
    for (size_t i = 0, begin = 0, end = 0; i < block->as.block.body.count; i++, begin = end) {
        ir_stmt *s = block->as.block.body.items[i];
        while (end < st->list.count && st->list.items[end].first == i)
            end++;
        for (size_t k = end; k-- > begin;) { /* larger expressions were met after their parts */
            shared *entry = &st->list.items[k];
            if (entry->users < 2 || !entry->below || base_map_get(st->active, (uint64_t)entry->e->id + 1))
                continue;
            ir_stmt *let = lower_new_let(st->context, "shared", entry->e, s->span);
            rewrite(st, &let->as.let.value);
            base_vector_push(st->context->arena, &out, let);
            base_map_set(st->active, (uint64_t)entry->e->id + 1,
                         (void *)(uintptr_t)ir_var_use(st->context->module, let->as.let.var));
            if (!st->where.size || entry->e->size < st->where.size)
                st->where.size = entry->e->size;
            ir_memo_clear(st->rewritten);
            any = true;
        }
        if (any)
            lower_visit_statements(s, rewrite_statement, st);
        base_vector_push(st->context->arena, &out, s);
    }
    block->as.block.body.items = out.items;
    block->as.block.body.count = out.count;
    block->as.block.body.capacity = out.capacity;
}

static void each_block(void *user, ir_stmt *block) {
    state *st = user;
    if (block->kind != IR_STMT_BLOCK)
        return;
    bool branches = false;
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt_kind kind = block->as.block.body.items[i]->kind;
        branches = branches || kind == IR_STMT_IF || kind == IR_STMT_FOR || kind == IR_STMT_WHILE;
    }
    if (!branches)
        return;
    st->list.count = 0;
    ir_memo_clear(st->known);
    ir_memo_clear(st->locality);
    st->local = base_map_create(st->context->arena);
    st->local_bits = 0;
    for (size_t i = 0; i < block->as.block.body.count; i++)
        if (block->as.block.body.items[i]->kind !=
            IR_STMT_LET) /* the block's own are bound before their uses */
            lower_visit_statements(block->as.block.body.items[i], note_bound, st);
    for (size_t i = 0; i < block->as.block.body.count; i++)
        note_child(st, block->as.block.body.items[i], i);
    bind_shared(st, block);
}

void lower_optimise_share(lower_context *context) {
    state st = {.context = context,
                .known = ir_memo_open(context->module),
                .seen = ir_memo_open(context->module),
                .locality = ir_memo_open(context->module),
                .rewritten = ir_memo_open(context->module)};
    lower_visit_statements(context->function->body, each_block, &st);
    ir_memo_close(st.known);
    ir_memo_close(st.seen);
    ir_memo_close(st.locality);
    ir_memo_close(st.rewritten);
}
