/* SPDX-License-Identifier: Apache-2.0
 * Accesses inside loops: the index becomes a sum of products, and the address a chain of pointers, one link
 * per loop level whose variables it needs, outermost first, with the constant part left to the access itself.
 * Later passes move each link to its level, and accesses that differ by a constant share all of them. In and
 * out: flat form. Index arithmetic is taken not to overflow, as in C. */
#include <string.h>
#include "lower/lower_optimise.h"

enum { LEVEL_VARIES = 1000 };

typedef struct state {
    lower_context *context;
    base_map *levels; /* ir_var id + 1 -> level + 1 of the loop whose rounds give it its value */
    ir_memo *memo;    /* of the statement being rewritten */
    base_map *forms;  /* pointer with its index as a plain sum -> the pointer that stands for it */
    unsigned depth;
} state;

static void note_level(state *st, const ir_var *var, unsigned level) {
    base_map_set(st->levels, (uint64_t)var->id + 1, (void *)(uintptr_t)(level + 1));
}

typedef struct level_query {
    state *st;
    unsigned level;
} level_query;

static void visit_level(void *user, const ir_expr *e) {
    level_query *q = user;
    unsigned level = 0;
    if (e->op == IR_VAR) {
        uintptr_t known = (uintptr_t)base_map_get(q->st->levels, (uint64_t)e->at.var->id + 1);
        level = known ? (unsigned)known - 1 : 0;
    } else if (e->op == IR_REGISTER) {
        level = LEVEL_VARIES;
    }
    if (level > q->level)
        q->level = level;
}

static unsigned level_of(state *st, const ir_expr *e) {
    if (lower_traits_of(e))
        return LEVEL_VARIES;
    level_query q = {st, 0};
    ir_expr_visit(e, visit_level, &q);
    return q.level;
}

/* Sizes and strides that come as parameters: the same for all threads, so what they add is apart from what
 * the threads' own indices add, which accesses of several rows share. */
static bool is_uniform(const lower_term *term) {
    for (uint32_t k = 0; k < term->count; k++)
        if (term->atoms[k]->op != IR_VAR || term->atoms[k]->at.var->kind != IR_VAR_PARAMETER)
            return false;
    return true;
}

/* Twice the loop level, plus one for uniform terms, which come second. */
static unsigned rank_of(state *st, const lower_term *term) {
    unsigned rank = 0;
    for (uint32_t k = 0; k < term->count; k++) {
        unsigned level = level_of(st, term->atoms[k]);
        rank = level > rank ? level : rank;
    }
    return 2 * rank + (is_uniform(term) ? 1 : 0);
}

/* The pointer to share and the constant left over; false when the access stays as it is. */
static bool split(state *st, const ir_expr *base, const ir_expr *index, num_dtype dtype,
                  const ir_expr **pointer, const ir_expr **rest) {
    ir_module *module = st->context->module;
    lower_sum room, *sum = &room;
    if (base->type.kind != IR_TYPE_POINTER || base->type.dtype != dtype || !lower_sum_of(index, sum) ||
        !sum->count)
        return false;
    unsigned ranks[LOWER_TERMS];
    bool one_link = true;
    for (uint32_t i = 0; i < sum->count; i++) {
        ranks[i] = rank_of(st, &sum->terms[i]);
        one_link = one_link && ranks[i] == ranks[0];
    }
    *rest = ir_int(module, index->type.dtype, sum->constant);
    if (one_link) {
        /* The author's factors are as good as any, and one way of writing for all that differ by a constant.
         */
        bool all[LOWER_TERMS];
        memset(all, true, sizeof all);
        const ir_expr *plain = ir_pointer_address(
            module, base->type, base, lower_sum_rebuild(module, ir_type_scalar(index->type), sum, all), NULL);
        *pointer = base_map_get(st->forms, BASE_KEY(plain));
        if (!*pointer) {
            *pointer = sum->constant == 0 ? ir_pointer_address(module, base->type, base, index, NULL) : plain;
            base_map_set(st->forms, BASE_KEY(plain), (void *)(uintptr_t)*pointer);
        }
        return true;
    }
    *pointer = base;
    for (unsigned rank = 0, next; rank <= 2 * LEVEL_VARIES; rank = next) {
        bool keep[LOWER_TERMS];
        next = 2 * LEVEL_VARIES + 1;
        for (uint32_t i = 0; i < sum->count; i++) {
            keep[i] = ranks[i] == rank;
            if (ranks[i] > rank && ranks[i] < next)
                next = ranks[i];
        }
        const ir_expr *part = lower_sum_rebuild(module, ir_type_scalar(index->type), sum, keep);
        if (part)
            *pointer = ir_pointer_address(module, base->type, *pointer, part, NULL);
    }
    return true;
}

static const ir_expr *rewrite_access(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *pointer, *rest;
    if (e->op == IR_POINTER_LOAD && split(st, e->args[0], e->args[1], e->type.dtype, &pointer, &rest))
        return ir_pointer_load(st->context->module, e->type, pointer, rest, e->at.origin);
    /* Pointers that are not accessed here, for instance of atomics. */
    if (e->op == IR_POINTER_ADDRESS && e->at.origin && e->type.kind == IR_TYPE_POINTER &&
        split(st, e->args[0], e->args[1], e->type.dtype, &pointer, &rest))
        return ir_pointer_address(st->context->module, e->type, pointer, rest, e->at.origin);
    return e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    static const ir_where accesses = {.effects = IR_INSIDE_POINTER_LOAD | IR_INSIDE_POINTER_ADDRESS};
    *e = ir_expr_rewrite(st->context->module, *e, &accesses, rewrite_access, st, st->memo);
}

static void walk(state *st, ir_stmt *s);

static void walk_loop(state *st, ir_stmt *body) {
    st->depth++;
    ir_memo_clear(st->memo);
    walk(st, body);
    st->depth--;
    ir_memo_clear(st->memo);
}

static void walk(state *st, ir_stmt *s) {
    if (!s)
        return;
    const ir_expr *pointer, *rest;
    ir_stmt_expressions(s, rewrite, st);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            walk(st, s->as.block.body.items[i]);
        break;
    case IR_STMT_LET:
        note_level(st, s->as.let.var,
                   lower_traits_of(s->as.let.value) ? st->depth : level_of(st, s->as.let.value));
        break;
    case IR_STMT_POINTER_STORE:
        if (split(st, s->as.pointer_store.base, s->as.pointer_store.index,
                  s->as.pointer_store.value->type.dtype, &pointer, &rest)) {
            s->as.pointer_store.base = pointer;
            s->as.pointer_store.index = rest;
        }
        break;
    case IR_STMT_IF:
        walk(st, s->as.branch.then_body);
        walk(st, s->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        note_level(st, s->as.loop.var, st->depth + 1);
        walk_loop(st, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        walk_loop(st, s->as.while_loop.body);
        break;
    default:
        break;
    }
}

void lower_optimise_addresses(lower_context *context) {
    state st = {.context = context,
                .levels = base_map_create(context->arena),
                .memo = ir_memo_open(context->module),
                .forms = base_map_create(context->arena)};
    walk(&st, context->function->body);
    ir_memo_close(st.memo);
}
