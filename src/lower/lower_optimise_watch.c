/* SPDX-License-Identifier: Apache-2.0
 * Which of many loads a store, an assignment or an effect may have changed. Loads are kept by the tensor that
 * they read, so that a store looks at those of its own tensor only: a line of code stays cheap however many
 * stand before it. Must not know passes. */
#include "lower/lower_optimise.h"

typedef BASE_VECTOR(uint32_t) numbers;

typedef struct watched {
    const ir_expr *pointer, *inside;
    bool good;
} watched;

/* Loads of one tensor. */
typedef struct bucket {
    numbers list;
    bool filled; /* is in the list of filled ones */
} bucket;

struct lower_watch {
    base_arena *arena;
    const lower_aliases *aliases;
    BASE_VECTOR(watched) items;
    base_map *buckets; /* ir_tensor id + 1 -> bucket */
    BASE_VECTOR(bucket *) filled;
    numbers nested;    /* those whose address is loaded too, or of an unknown tensor */
    numbers registers; /* those that mention register variables */
};

lower_watch *lower_watch_create(base_arena *arena, const lower_aliases *aliases) {
    lower_watch *watch = BASE_NEW(arena, lower_watch);
    watch->arena = arena;
    watch->aliases = aliases;
    watch->buckets = base_map_create(arena);
    return watch;
}

static void empty(lower_watch *watch) {
    for (size_t i = 0; i < watch->filled.count; i++) {
        watch->filled.items[i]->list.count = 0;
        watch->filled.items[i]->filled = false;
    }
    watch->filled.count = watch->nested.count = watch->registers.count = 0;
}

void lower_watch_restart(lower_watch *watch) {
    empty(watch);
    watch->items.count = 0;
}

/* Whether a load is among the parts of an address. */
static bool loads_inside(const ir_expr *e) {
    return (e->effects & IR_INSIDE_MEMORY) != 0;
}

uint32_t lower_watch_add(lower_watch *watch, const ir_expr *pointer, const ir_expr *inside) {
    uint32_t number = (uint32_t)watch->items.count;
    const ir_tensor *tensor = lower_pointed_tensor(watch->aliases, pointer);
    base_vector_push(watch->arena, &watch->items, (watched){pointer, inside, true});
    if (!tensor || loads_inside(pointer) || loads_inside(inside)) {
        base_vector_push(watch->arena, &watch->nested, number);
    } else {
        bucket *b = base_map_get(watch->buckets, (uint64_t)tensor->id + 1);
        if (!b) {
            b = BASE_NEW(watch->arena, bucket);
            base_map_set(watch->buckets, (uint64_t)tensor->id + 1, b);
        }
        if (!b->filled) {
            b->filled = true;
            base_vector_push(watch->arena, &watch->filled, b);
        }
        base_vector_push(watch->arena, &b->list, number);
    }
    if ((pointer->effects | inside->effects) & IR_INSIDE_REGISTER)
        base_vector_push(watch->arena, &watch->registers, number);
    return number;
}

bool lower_watch_is_good(const lower_watch *watch, uint32_t number) {
    return watch->items.items[number].good;
}

void lower_watch_forget(lower_watch *watch, uint32_t number) {
    watch->items.items[number].good = false;
}

typedef struct mention_query {
    const lower_aliases *aliases;
    const ir_var *var;
    const ir_expr *store; /* a pointer that is written through */
    bool hit;
} mention_query;

static void visit_mention(void *user, const ir_expr *e) {
    mention_query *q = user;
    if (q->var)
        q->hit = q->hit || (e->op == IR_REGISTER && e->at.var == q->var);
    else if (e->op == IR_POINTER_LOAD)
        q->hit = q->hit || lower_may_touch(q->aliases, q->store, e->args[0]);
}

static bool is_hit(const watched *item, mention_query *q) {
    q->hit = q->store && lower_may_touch(q->aliases, q->store, item->pointer);
    ir_expr_visit(item->pointer, visit_mention, q);
    if (item->inside != item->pointer)
        ir_expr_visit(item->inside, visit_mention, q);
    return q->hit;
}

/* Looks at every load of the list, and keeps those that are still good. */
static void sift(lower_watch *watch, numbers *list, mention_query *q) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        watched *item = &watch->items.items[list->items[i]];
        item->good = item->good && !is_hit(item, q);
        if (item->good)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static void drop(lower_watch *watch, bucket *b) {
    for (size_t i = 0; i < b->list.count; i++)
        watch->items.items[b->list.items[i]].good = false;
    b->list.count = 0;
}

void lower_watch_store(lower_watch *watch, const ir_expr *pointer) {
    mention_query q = {watch->aliases, NULL, pointer, false};
    const ir_tensor *tensor = lower_pointed_tensor(watch->aliases, pointer);
    sift(watch, &watch->nested, &q);
    if (!tensor) {
        for (size_t i = 0; i < watch->filled.count; i++)
            sift(watch, &watch->filled.items[i]->list, &q);
        return;
    }
    bucket *b = base_map_get(watch->buckets, (uint64_t)tensor->id + 1);
    if (b)
        drop(watch, b);
}

void lower_watch_assign(lower_watch *watch, const ir_var *var) {
    mention_query q = {watch->aliases, var, NULL, false};
    sift(watch, &watch->registers, &q);
}

void lower_watch_all(lower_watch *watch) {
    for (size_t i = 0; i < watch->filled.count; i++)
        drop(watch, watch->filled.items[i]);
    for (size_t i = 0; i < watch->nested.count; i++)
        watch->items.items[watch->nested.items[i]].good = false;
    empty(watch);
}
