/* SPDX-License-Identifier: Apache-2.0
 * Which values are already in registers where the builder stands, what an expression may do, and how often a
 * statement refers to it. Must not emit. */
#include "assemble/ptx_build_internal.h"
#include <string.h>

static void *grown(ptx_builder *b, void *old, size_t old_size, size_t new_size) {
    void *fresh = base_arena_allocate(b->arena, new_size);
    if (old_size)
        memcpy(fresh, old, old_size);
    return fresh;
}

/* Tables by expression id grow together: the builder itself interns a few more expressions. */
static void reserve(ptx_builder *b, uint32_t id) {
    if (id < b->expr_capacity)
        return;
    size_t old = b->expr_capacity, capacity = old ? old : 256;
    while (capacity <= id)
        capacity *= 2;
    b->uses = grown(b, b->uses, old * sizeof(uint32_t), capacity * sizeof(uint32_t));
    b->use_stamp = grown(b, b->use_stamp, old * sizeof(uint32_t), capacity * sizeof(uint32_t));
    b->expr_capacity = capacity;
}

ptx_build_mark ptx_build_scope_open(const ptx_builder *b) {
    return (ptx_build_mark){{b->pure.log.count, b->fleeting.log.count}};
}

static void forget(ptx_build_memo *memo, size_t mark) {
    while (memo->log.count > mark)
        memo->values[memo->log.items[--memo->log.count]] = NULL;
}

void ptx_build_scope_close(ptx_builder *b, ptx_build_mark mark) {
    forget(&b->pure, mark.at[0]);
    forget(&b->fleeting, mark.at[1]);
}

void ptx_build_forget_fleeting(ptx_builder *b) {
    forget(&b->fleeting, 0);
}

const void *ptx_build_recall(const ptx_build_memo *memo, uint32_t id) {
    return id < memo->capacity ? memo->values[id] : NULL;
}

void ptx_build_remember(ptx_builder *b, ptx_build_memo *memo, uint32_t id, const void *value) {
    if (id >= memo->capacity) {
        size_t capacity = memo->capacity ? memo->capacity : 256;
        while (capacity <= id)
            capacity *= 2;
        const void **fresh = BASE_NEW_ARRAY(b->arena, const void *, capacity);
        if (memo->capacity)
            memcpy((void *)fresh, (const void *)memo->values, memo->capacity * sizeof(*fresh));
        memo->values = fresh;
        memo->capacity = capacity;
    }
    if (!memo->values[id])
        base_vector_push(b->arena, &memo->log, id);
    memo->values[id] = value;
}

unsigned ptx_build_traits(const ir_expr *e) {
    unsigned inside = e->effects, traits = 0;
    if (inside & (IR_FLAG_WRITES | IR_FLAG_SYNC))
        traits |= PTX_TRAIT_EFFECT | PTX_TRAIT_GUARDED | PTX_TRAIT_READS;
    if (inside & IR_FLAG_READS)
        traits |= PTX_TRAIT_READS;
    if (inside & (IR_INSIDE_POINTER_LOAD | IR_INSIDE_DIVISION))
        traits |= PTX_TRAIT_GUARDED;
    if (inside & IR_FLAG_BOUNDED)
        traits |= PTX_TRAIT_EXPENSIVE;
    return traits;
}

static void touch(ptx_builder *b, const ir_expr *e) {
    reserve(b, e->id);
    if (b->use_stamp[e->id] != b->stamp) {
        b->use_stamp[e->id] = b->stamp;
        b->uses[e->id] = 0;
    }
    b->uses[e->id]++;
}

static void visit_uses(void *user, const ir_expr *e) {
    for (uint32_t i = 0; i < e->count; i++)
        touch(user, e->args[i]);
}

void ptx_build_count_uses(ptx_builder *b, const ir_expr *const *roots, size_t count) {
    b->stamp++;
    for (size_t i = 0; i < count; i++) {
        touch(b, roots[i]);
        ir_expr_visit(roots[i], visit_uses, b);
    }
}

unsigned ptx_build_use_count(const ptx_builder *b, const ir_expr *e) {
    return e->id < b->expr_capacity && b->use_stamp[e->id] == b->stamp ? b->uses[e->id] : 0;
}
