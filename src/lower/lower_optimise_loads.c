/* SPDX-License-Identifier: Apache-2.0
 * A value that several statements of one block load from the same place, with nothing in between that may
 * have changed it, is loaded once. In and out: flat form. A load that is merged keeps its origin; loads with
 * different origins are different expressions and stay apart. A branch that only assigns one register shares
 * its loads too where what follows loads the same in any case. Must not move a load over a store that may
 * touch it, over synchronisation, or to where the script does not load. */
#include "lower/lower_optimise.h"

typedef struct use {
    size_t statement;
    uint32_t group;
} use;

typedef struct group {
    const ir_expr *load;
    size_t first;
    uint32_t uses;
    bool certain; /* some use is on every way through the block */
    ir_var *var;
} group;

typedef struct state {
    lower_context *context;
    ir_memo *known;     /* number + 1 of the load's last group */
    lower_watch *watch; /* by the groups' numbers */
    BASE_VECTOR(group) groups;
    BASE_VECTOR(use) uses;
    BASE_VECTOR(uint32_t) uncertain; /* groups found in branches */
    size_t statement;
    bool in_branch; /* what is found is loaded only where the branch is taken */
    lower_aliases aliases;
    ir_memo *active; /* of the statement being rewritten: variables of loads */
} state;

/* ---- finding ---- */

static void note_load(state *st, const ir_expr *e) {
    if (e->op != IR_POINTER_LOAD || (lower_traits_of(e) & LOWER_EFFECT))
        return;
    uintptr_t known = (uintptr_t)ir_memo_get(st->known, e);
    uint32_t index = (uint32_t)known - 1;
    if (known && lower_watch_is_good(st->watch, index)) {
        st->groups.items[index].uses++;
        st->groups.items[index].certain |= !st->in_branch;
    } else {
        index = lower_watch_add(st->watch, e->args[0], e->args[1]);
        base_vector_push(st->context->arena, &st->groups, (group){e, st->statement, 1, !st->in_branch, NULL});
        ir_memo_set(st->known, e, (void *)((uintptr_t)index + 1));
        if (st->in_branch)
            base_vector_push(st->context->arena, &st->uncertain, index);
    }
    base_vector_push(st->context->arena, &st->uses, (use){st->statement, index});
}

/* Loads that a lazy operand guards may not run before their guard. */
static void find_loads(state *st, const ir_expr *e, unsigned depth) {
    if (!(lower_traits_of(e) & LOWER_READS_MEMORY) || depth > 200)
        return;
    uint32_t count = e->count;
    if (e->op == IR_AND || e->op == IR_OR || e->op == IR_IF_THEN_ELSE)
        count = 1;
    for (uint32_t i = 0; i < count; i++)
        find_loads(st, e->args[i], depth + 1);
    note_load(st, e);
}

static void find_in(void *user, const ir_expr **e) {
    find_loads(user, *e, 0);
}

static void note_effect(void *user, const ir_expr **e) {
    if (ir_expr_has_effect(*e))
        *(bool *)user = true;
}

static void forget_below(void *user, ir_stmt *s) {
    state *st = user;
    bool effect = false;
    ir_stmt_expressions(s, note_effect, &effect);
    if (effect)
        lower_watch_all(st->watch);
    if (s->kind == IR_STMT_ASSIGN)
        lower_watch_assign(st->watch, s->as.assign.var);
    if (s->kind == IR_STMT_POINTER_STORE)
        lower_watch_store(st->watch, s->as.pointer_store.base);
}

/* The one assignment of a branch without another side; NULL when there is more to it. */
static ir_stmt *lone_assignment(ir_stmt *s) {
    if (s->kind != IR_STMT_IF || s->as.branch.else_body)
        return NULL;
    ir_stmt *body = s->as.branch.then_body;
    while (body->kind == IR_STMT_BLOCK && body->as.block.body.count == 1)
        body = body->as.block.body.items[0];
    return body->kind == IR_STMT_ASSIGN && !ir_expr_has_effect(body->as.assign.value) ? body : NULL;
}

/* What follows a statement that may leave the block is not on every way. */
static void forget_uncertain(state *st) {
    for (size_t i = 0; i < st->uncertain.count; i++)
        if (!st->groups.items[st->uncertain.items[i]].certain)
            lower_watch_forget(st->watch, st->uncertain.items[i]);
    st->uncertain.count = 0;
}

static void find_in_block(state *st, ir_stmt *block) {
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        st->statement = i;
        bool effect = false;
        ir_stmt_expressions(s, note_effect, &effect);
        bool plain = s->kind == IR_STMT_LET || s->kind == IR_STMT_ASSIGN ||
                     s->kind == IR_STMT_POINTER_STORE || s->kind == IR_STMT_EVALUATE || s->kind == IR_STMT_IF;
        if (plain && !effect)
            ir_stmt_expressions(s, find_in, st);
        ir_stmt *assignment = plain && !effect ? lone_assignment(s) : NULL;
        if (assignment) {
            st->in_branch = true;
            ir_stmt_expressions(assignment, find_in, st);
            st->in_branch = false;
        }
        lower_visit_statements(s, forget_below, st);
        if (!plain || (s->kind == IR_STMT_IF && !assignment))
            forget_uncertain(st);
    }
}

/* ---- rewriting ---- */

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *var = ir_memo_get(st->active, e);
    return var ? var : e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    static const ir_where loads = {.effects = IR_INSIDE_POINTER_LOAD};
    *e = ir_expr_rewrite(st->context->module, *e, &loads, replace, st, NULL);
}

static void rewrite_block(state *st, ir_stmt *block) {
    lower_statements out = {0};
    size_t next = 0;
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        bool any = false;
        ir_memo_clear(st->active);
        for (; next < st->uses.count && st->uses.items[next].statement == i; next++) {
            group *g = &st->groups.items[st->uses.items[next].group];
            if (g->uses < 2 || !g->certain)
                continue;
            if (!g->var) {
                ir_stmt *let = lower_new_let(st->context, "loaded", g->load, s->span);
                if (any) /* its address may hold a load that is merged too */
                    rewrite(st, &let->as.let.value);
                g->var = let->as.let.var;
                base_vector_push(st->context->arena, &out, let);
            }
            ir_memo_set(st->active, g->load, ir_var_use(st->context->module, g->var));
            any = true;
        }
        if (any)
            ir_stmt_expressions(s, rewrite, st);
        ir_stmt *assignment = any ? lone_assignment(s) : NULL;
        if (assignment)
            ir_stmt_expressions(assignment, rewrite, st);
        base_vector_push(st->context->arena, &out, s);
    }
    block->as.block.body.items = out.items;
    block->as.block.body.count = out.count;
    block->as.block.body.capacity = out.capacity;
}

static void each_block(void *user, ir_stmt *s) {
    state *st = user;
    if (s->kind != IR_STMT_BLOCK)
        return;
    st->groups.count = st->uses.count = st->uncertain.count = 0;
    ir_memo_clear(st->known);
    lower_watch_restart(st->watch);
    find_in_block(st, s);
    for (size_t i = 0; i < st->groups.count; i++)
        if (st->groups.items[i].uses > 1 && st->groups.items[i].certain) {
            rewrite_block(st, s);
            return;
        }
}

void lower_optimise_loads(lower_context *context) {
    state st = {
        .context = context, .known = ir_memo_open(context->module), .active = ir_memo_open(context->module)};
    lower_aliases_start(&st.aliases, context);
    st.watch = lower_watch_create(context->arena, &st.aliases);
    lower_visit_statements(context->function->body, each_block, &st);
    ir_memo_close(st.known);
    ir_memo_close(st.active);
}
