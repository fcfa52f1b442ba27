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
    BASE_VECTOR(shared) list;
    base_map *known; /* ir_expr id + 1 -> index + 1 */
    base_map
        *local; /* ir_var id + 1 of variables bound inside the block's statements, not in the block itself */
    size_t statement;
    unsigned arm; /* 1, 2: sides of a branch; 0: elsewhere */
    bool below;
    base_map *active; /* ir_expr id + 1 -> variable's use */
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

typedef struct local_query {
    state *st;
    bool hit;
} local_query;

static void visit_local(void *user, const ir_expr *e) {
    local_query *q = user;
    if (e->op == IR_VAR && base_map_get(q->st->local, (uint64_t)e->at.var->id + 1))
        q->hit = true;
}

static void note_use(void *user, const ir_expr *e) {
    state *st = user;
    if (is_free(e) || e->type.kind == IR_TYPE_STRING || lower_traits_of(e))
        return;
    local_query q = {st, false};
    ir_expr_visit(e, visit_local, &q);
    if (q.hit)
        return;
    uintptr_t at = (uintptr_t)base_map_get(st->known, (uint64_t)e->id + 1);
    if (!at) {
        base_vector_push(st->context->arena, &st->list, (shared){e, st->statement, st->arm, 1, st->below});
        base_map_set(st->known, (uint64_t)e->id + 1, (void *)(uintptr_t)st->list.count);
        return;
    }
    shared *entry = &st->list.items[at - 1];
    if (entry->first != st->statement || (entry->arm != st->arm && entry->arm && st->arm))
        entry->users++;
    else if (!st->below)
        entry->below = false;
}

static void note_uses(void *user, const ir_expr **e) {
    ir_expr_visit(*e, note_use, user);
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

static void note_bound(void *user, ir_stmt *s) {
    state *st = user;
    if (s->kind == IR_STMT_LET)
        base_map_set(st->local, (uint64_t)s->as.let.var->id + 1, s);
    else if (s->kind == IR_STMT_FOR)
        base_map_set(st->local, (uint64_t)s->as.loop.var->id + 1, s);
}

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *var = base_map_get(st->active, (uint64_t)e->id + 1);
    return var ? var : e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    *e = ir_expr_rewrite(st->context->module, *e, replace, st, NULL);
}

static void rewrite_statement(void *user, ir_stmt *s) {
    ir_stmt_expressions(s, rewrite, user);
}

/* Binds the largest shared expressions; their parts come along with them. */
static void bind_shared(state *st, ir_stmt *block) {
    lower_statements out = {0};
    st->active = base_map_create(st->context->arena);
    bool any = false;
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        for (size_t k = st->list.count; k-- > 0;) { /* larger expressions were met after their parts */
            shared *entry = &st->list.items[k];
            if (entry->first != i || entry->users < 2 || !entry->below ||
                base_map_get(st->active, (uint64_t)entry->e->id + 1))
                continue;
            ir_stmt *let = lower_new_let(st->context, "shared", entry->e, s->span);
            rewrite(st, &let->as.let.value);
            base_vector_push(st->context->arena, &out, let);
            base_map_set(st->active, (uint64_t)entry->e->id + 1,
                         (void *)(uintptr_t)ir_var_use(st->context->module, let->as.let.var));
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
    st->known = base_map_create(st->context->arena);
    st->local = base_map_create(st->context->arena);
    for (size_t i = 0; i < block->as.block.body.count; i++)
        if (block->as.block.body.items[i]->kind !=
            IR_STMT_LET) /* the block's own are bound before their uses */
            lower_visit_statements(block->as.block.body.items[i], note_bound, st);
    for (size_t i = 0; i < block->as.block.body.count; i++)
        note_child(st, block->as.block.body.items[i], i);
    bind_shared(st, block);
}

void lower_optimise_share(lower_context *context) {
    state st = {.context = context};
    lower_visit_statements(context->function->body, each_block, &st);
}
