/* SPDX-License-Identifier: Apache-2.0
 * Walks over expressions and statements. Expressions may be very deep before they were verified, so these
 * walks keep their own stack; memory for it is kept with the module and used again. */
#include "ir/ir_private.h"
#include <string.h>

/* ---- scratch ---- */

static ir_scratch *scratch_take(ir_module *module) {
    struct ir_intern *intern = module->intern;
    if (intern->scratch_level == intern->scratches.count)
        base_vector_push(module->arena, &intern->scratches, BASE_NEW(module->arena, ir_scratch));
    ir_scratch *scratch = intern->scratches.items[intern->scratch_level++];
    scratch->stack_count = 0;
    if (++scratch->stamp == 0) { /* wrapped: old stamps could be mistaken for new ones */
        memset(scratch->stamps, 0, scratch->capacity * sizeof *scratch->stamps);
        scratch->stamp = 1;
    }
    return scratch;
}

static void scratch_give(ir_module *module) {
    module->intern->scratch_level--;
}

/* Room for the marks of e and of what is inside, whose numbers are smaller. */
static void scratch_reserve(ir_module *module, ir_scratch *scratch, const ir_expr *e) {
    if (e->id < scratch->capacity)
        return;
    uint32_t capacity = module->intern->next_expr + module->intern->next_expr / 2 + 64;
    uint32_t *stamps = BASE_NEW_ARRAY(module->arena, uint32_t, capacity);
    if (scratch->capacity)
        memcpy(stamps, scratch->stamps, scratch->capacity * sizeof *stamps);
    scratch->stamps = stamps;
    scratch->capacity = capacity;
}

/* True the first time e is met in this walk. */
static inline bool scratch_mark(ir_scratch *scratch, const ir_expr *e) {
    if (scratch->stamps[e->id] == scratch->stamp)
        return false;
    scratch->stamps[e->id] = scratch->stamp;
    return true;
}

static void scratch_push(ir_module *module, ir_scratch *scratch, const ir_expr *e) {
    if (scratch->stack_count == scratch->stack_capacity)
        scratch->stack = base_vector_grow(module->arena, scratch->stack, scratch->stack_count,
                                          &scratch->stack_capacity, sizeof *scratch->stack);
    scratch->stack[scratch->stack_count++] = (struct ir_frame){e, 0};
}

/* ---- expressions ---- */

/* Deeper expressions are walked with a stack of their own. */
enum { RECURSION_DEPTH = 200 };

typedef struct visiting {
    ir_scratch *scratch;
    const ir_where *where; /* NULL: everywhere */
    void (*fn)(void *user, const ir_expr *e);
    void *user;
} visiting;

static void visit_shallow(const visiting *v, const ir_expr *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        const ir_expr *child = e->args[i];
        if ((v->where && !ir_is_where(v->where, child)) || !scratch_mark(v->scratch, child))
            continue;
        if (child->count)
            visit_shallow(v, child);
        else
            v->fn(v->user, child);
    }
    v->fn(v->user, e);
}

static void visit_deep(const visiting *v, const ir_expr *e) {
    ir_scratch *scratch = v->scratch;
    scratch_push(e->module, scratch, e);
    while (scratch->stack_count) {
        struct ir_frame *top = &scratch->stack[scratch->stack_count - 1];
        if (top->next < top->e->count) {
            const ir_expr *child = top->e->args[top->next++];
            if ((v->where && !ir_is_where(v->where, child)) || !scratch_mark(scratch, child))
                continue;
            if (child->count)
                scratch_push(e->module, scratch, child);
            else
                v->fn(v->user, child);
        } else {
            const ir_expr *done = top->e;
            scratch->stack_count--;
            v->fn(v->user, done);
        }
    }
}

void ir_expr_visit(const ir_expr *e, void (*fn)(void *user, const ir_expr *e), void *user) {
    ir_expr_visit_where(e, NULL, fn, user);
}

void ir_expr_visit_where(const ir_expr *e, const ir_where *where, void (*fn)(void *user, const ir_expr *e),
                         void *user) {
    ir_module *module = e->module;
    if (where && !ir_is_where(where, e))
        return;
    if (e->count == 0) {
        fn(user, e);
        return;
    }
    visiting v = {scratch_take(module), where, fn, user};
    scratch_reserve(module, v.scratch, e);
    scratch_mark(v.scratch, e);
    if (e->depth > RECURSION_DEPTH)
        visit_deep(&v, e);
    else
        visit_shallow(&v, e);
    scratch_give(module);
}

void ir_expr_visit_new(ir_memo *met, const ir_expr *e, void (*fn)(void *user, const ir_expr *e), void *user) {
    ir_expr_visit_new_where(met, e, NULL, fn, user);
}

void ir_expr_visit_new_where(ir_memo *met, const ir_expr *e, const ir_where *where,
                             void (*fn)(void *user, const ir_expr *e), void *user) {
    if ((where && !ir_is_where(where, e)) || ir_memo_get(met, e))
        return;
    ir_memo_set(met, e, e);
    for (uint32_t i = 0; i < e->count; i++)
        ir_expr_visit_new_where(met, e->args[i], where, fn, user);
    fn(user, e);
}

/* One rewrite: the results so far are in one of the two memos, which has room for what is rewritten. */
typedef struct rewriting {
    ir_module *module;
    const ir_where *where;
    ir_rewrite_function fn;
    void *user;
    ir_memo *memo;
    base_map *map;
    bool fold;
} rewriting;

static inline const ir_expr *recall(const rewriting *r, const ir_expr *e) {
    const ir_memo *memo = r->memo;
    if (!memo)
        return base_map_get(r->map, BASE_KEY(e));
    return memo->stamps[e->id] == memo->stamp ? memo->values[e->id] : NULL;
}

static inline const ir_expr *remember(const rewriting *r, const ir_expr *e, const ir_expr *result) {
    ir_memo *memo = r->memo;
    if (memo) {
        memo->stamps[e->id] = memo->stamp;
        memo->values[e->id] = result;
    } else
        base_map_set(r->map, BASE_KEY(e), (void *)(uintptr_t)result);
    return result;
}

/* What e becomes, as far as that is known; NULL: it has yet to be found. */
static inline const ir_expr *settled(const rewriting *r, const ir_expr *e) {
    return r->where && !ir_is_where(r->where, e) ? e : recall(r, e);
}

/* e over its rewritten arguments. */
static const ir_expr *rebuild(const rewriting *r, const ir_expr *e, const ir_expr *const *args) {
    return r->fold ? ir_rebuild(r->module, e, args)
                   : ir_intern_expr(r->module, e->op, e->type, args, e->count,
                                    (ir_attribute){.integer = e->at.integer});
}

static const ir_expr *rewrite_shallow(const rewriting *r, const ir_expr *e) {
    const ir_expr *few[4], **args = few;
    bool changed = false;
    if (e->count > 4)
        args = BASE_NEW_ARRAY(r->module->arena, const ir_expr *, e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        const ir_expr *arg = e->args[i], *result = settled(r, arg);
        if (!result)
            result = rewrite_shallow(r, arg);
        args[i] = result;
        changed = changed || result != arg;
    }
    return remember(r, e, r->fn(r->user, changed ? rebuild(r, e, args) : e));
}

static const ir_expr *rewrite_deep(const rewriting *r, const ir_expr *e) {
    ir_module *module = r->module;
    ir_scratch *scratch = scratch_take(module);
    scratch_push(module, scratch, e);
    while (scratch->stack_count) {
        struct ir_frame *top = &scratch->stack[scratch->stack_count - 1];
        if (top->next < top->e->count) {
            const ir_expr *child = top->e->args[top->next++];
            if (!settled(r, child))
                scratch_push(module, scratch, child);
            continue;
        }
        const ir_expr *done = top->e;
        scratch->stack_count--;
        if (!recall(r, done))
            rewrite_shallow(r, done); /* what it is made of is known */
    }
    scratch_give(module);
    return recall(r, e);
}

static const ir_expr *rewrite(const rewriting *r, const ir_expr *e) {
    if (r->memo)
        ir_memo_reserve(r->memo, e);
    const ir_expr *known = settled(r, e);
    if (known)
        return known;
    return e->depth > RECURSION_DEPTH ? rewrite_deep(r, e) : rewrite_shallow(r, e);
}

const ir_expr *ir_expr_rewrite(ir_module *module, const ir_expr *e, const ir_where *where,
                               ir_rewrite_function fn, void *user, ir_memo *memo) {
    if (where && !ir_is_where(where, e))
        return e;
    if (!memo && e->count == 0)
        return fn(user, e);
    ir_memo *own = memo ? memo : ir_memo_open(module);
    const ir_expr *result = rewrite(&(rewriting){module, where, fn, user, own, NULL, true}, e);
    if (!memo)
        ir_memo_close(own);
    return result;
}

const ir_expr *ir_expr_rewrite_few(ir_module *module, const ir_expr *e, ir_rewrite_function fn, void *user,
                                   base_map *memo) {
    return rewrite(&(rewriting){module, NULL, fn, user, NULL, memo, true}, e);
}

const ir_expr *ir_expr_rewrite_plainly(ir_module *module, const ir_expr *e, const ir_where *where,
                                       ir_rewrite_function fn, void *user, ir_memo *memo) {
    return rewrite(&(rewriting){module, where, fn, user, memo, NULL, false}, e);
}

/* ---- statements ---- */

typedef void expression_function(void *user, const ir_expr **e);

/* Calls fn on a copy of the list, which takes the list's place when something was replaced: callers may
 * share the array that they built statements from. */
static void visit_list(const ir_expr *const **list, uint32_t count, expression_function *fn, void *user) {
    const ir_expr **copy = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const ir_expr *e = (*list)[i];
        fn(user, &e);
        if (e == (*list)[i])
            continue;
        if (!copy) {
            copy = BASE_NEW_ARRAY(e->module->arena, const ir_expr *, count);
            memcpy(copy, *list, count * sizeof *copy);
            *list = copy;
        }
        copy[i] = e;
    }
}

static void visit_tensor_type(ir_tensor_type *type, void (*fn)(void *user, const ir_expr **e), void *user) {
    visit_list(&type->shape, type->rank, fn, user);
    if (type->strides)
        visit_list(&type->strides, type->rank, fn, user);
    if (type->origin)
        fn(user, &type->origin);
}

void ir_stmt_expressions(ir_stmt *statement, void (*fn)(void *user, const ir_expr **e), void *user) {
    switch (statement->kind) {
    case IR_STMT_LET:
    case IR_STMT_ASSIGN:
        fn(user, statement->kind == IR_STMT_LET ? &statement->as.let.value : &statement->as.assign.value);
        break;
    case IR_STMT_ALLOCATE:
        visit_tensor_type(&statement->as.allocate.tensor->type, fn, user);
        break;
    case IR_STMT_DECLARE:
        visit_tensor_type(&statement->as.declare.tensor->type, fn, user);
        if (statement->as.declare.tensor->data)
            fn(user, &statement->as.declare.tensor->data);
        break;
    case IR_STMT_STORE:
        visit_list(&statement->as.store.indices, statement->as.store.count, fn, user);
        fn(user, &statement->as.store.value);
        break;
    case IR_STMT_POINTER_STORE:
        fn(user, &statement->as.pointer_store.base);
        fn(user, &statement->as.pointer_store.index);
        fn(user, &statement->as.pointer_store.value);
        break;
    case IR_STMT_IF:
        fn(user, &statement->as.branch.condition);
        break;
    case IR_STMT_FOR:
        fn(user, &statement->as.loop.start);
        fn(user, &statement->as.loop.extent);
        fn(user, &statement->as.loop.step);
        break;
    case IR_STMT_WHILE:
        fn(user, &statement->as.while_loop.condition);
        break;
    case IR_STMT_EVALUATE:
        fn(user, &statement->as.evaluate.value);
        break;
    case IR_STMT_BLOCK:
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        break;
    }
}

void ir_stmt_visit(ir_stmt *statement, void (*fn)(void *user, ir_stmt *statement), void *user) {
    fn(user, statement);
    switch (statement->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < statement->as.block.body.count; i++)
            ir_stmt_visit(statement->as.block.body.items[i], fn, user);
        break;
    case IR_STMT_IF:
        ir_stmt_visit(statement->as.branch.then_body, fn, user);
        if (statement->as.branch.else_body)
            ir_stmt_visit(statement->as.branch.else_body, fn, user);
        break;
    case IR_STMT_FOR:
        ir_stmt_visit(statement->as.loop.body, fn, user);
        break;
    case IR_STMT_WHILE:
        ir_stmt_visit(statement->as.while_loop.body, fn, user);
        break;
    default:
        break;
    }
}
