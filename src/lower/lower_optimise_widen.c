/* SPDX-License-Identifier: Apache-2.0
 * Loads of neighbouring 32-bit elements become one vector load where the address is provably a multiple of
 * the vector's size. In and out: flat form, addresses split by lower_optimise_addresses. A merged load's
 * origin spans the neighbours. Must not load what the script would not have loaded: only straight lines are
 * merged. */
#include "lower/lower_optimise.h"
#include <string.h>

typedef struct bundle {
    const ir_expr *base;
    num_dtype dtype;
    int64_t block;             /* index of the first element / 4, rounded down */
    const ir_expr *members[4]; /* loads by element, NULL: none seen */
    size_t first, last;        /* statements between which the memory does not change */
    uint32_t watched, older;   /* older: number + 1 of the one before with the same hash */
    ir_var *vars[2];           /* per half, or the whole in the first */
    unsigned width;            /* 4; 2: pairs; 0: not worth it */
} bundle;

typedef struct state {
    lower_context *context;
    lower_aliases aliases;
    BASE_VECTOR(bundle) bundles; /* in order of their first statement */
    base_map *index;             /* hash of base, type and block -> number + 1 of the last one */
    lower_watch *watch;
    size_t statement;
    BASE_VECTOR(uint32_t) bound; /* bundles whose variables serve the statement being rewritten */
    ir_memo *active;             /* lanes of those, by load */
} state;

/* ---- alignment ---- */

/* True when the pointer is a multiple of the bytes; tensors promise their alignment, 64 bytes unless said. */
static bool is_aligned(state *st, const ir_expr *e, int64_t bytes, unsigned depth) {
    if (depth > 40)
        return false;
    if (e->op == IR_DATA)
        return e->at.tensor->type.align && e->at.tensor->type.align % bytes == 0;
    if (e->op == IR_REINTERPRET && e->args[0]->type.kind == IR_TYPE_POINTER)
        return is_aligned(st, e->args[0], bytes, depth + 1);
    if (e->op != IR_POINTER_ADDRESS && e->op != IR_POINTER_OFFSET)
        return false;
    int64_t size = e->op == IR_POINTER_OFFSET ? 1 : (int64_t)num_dtype_bytes(e->type.dtype);
    if (size > bytes || bytes % size)
        return false;
    return arith_is_multiple(st->context->facts, e->args[1], bytes / size) &&
           is_aligned(st, e->args[0], bytes, depth + 1);
}

/* ---- finding ---- */

static void note_load(state *st, const ir_expr *e) {
    int64_t at;
    if (e->type.kind != IR_TYPE_PRIM || e->type.lanes > 1 || num_dtype_bits(e->type.dtype) != 32 ||
        !ir_is_int(e->args[1], &at) || (lower_traits_of(e) & LOWER_EFFECT))
        return;
    int64_t block = at >= 0 ? at / 4 : -((3 - at) / 4);
    if (!st->index)
        st->index = base_map_create(st->context->arena);
    uint64_t key = base_hash_mix((uint64_t)e->args[0]->id << 8 | (uint64_t)e->type.dtype, (uint64_t)block);
    uint32_t last = (uint32_t)(uintptr_t)base_map_get(st->index, key);
    for (uint32_t i = last; i; i = st->bundles.items[i - 1].older) {
        bundle *b = &st->bundles.items[i - 1];
        if (b->base != e->args[0] || b->dtype != e->type.dtype || b->block != block)
            continue;
        if (!lower_watch_is_good(st->watch, b->watched)) /* and those before it are older */
            break;
        b->last = st->statement;
        if (!b->members[at - 4 * block])
            b->members[at - 4 * block] = e;
        return;
    }
    bundle fresh = {.base = e->args[0], .dtype = e->type.dtype, .block = block, .older = last};
    fresh.members[at - 4 * block] = e;
    fresh.first = fresh.last = st->statement;
    fresh.watched = lower_watch_add(st->watch, fresh.base, fresh.base);
    base_vector_push(st->context->arena, &st->bundles, fresh);
    base_map_set(st->index, key, (void *)(uintptr_t)st->bundles.count);
}

/* Operands that the script may not evaluate are left alone. */
static void find_loads(state *st, const ir_expr *e, unsigned depth) {
    if (!(lower_traits_of(e) & LOWER_READS_MEMORY) || depth > 200)
        return;
    bool lazy = e->op == IR_AND || e->op == IR_OR || e->op == IR_IF_THEN_ELSE;
    for (uint32_t i = 0; i < (lazy ? 1 : e->count); i++)
        find_loads(st, e->args[i], depth + 1);
    if (e->op == IR_POINTER_LOAD)
        note_load(st, e);
}

static void find_in(void *user, const ir_expr **e) {
    find_loads(user, *e, 0);
}

static void note_effect(void *user, const ir_expr **e) {
    if (ir_expr_has_effect(*e))
        *(bool *)user = true;
}

/* Closes what the statement may change; everything when it branches or synchronises. */
static void close_bundles(state *st, const ir_stmt *s, bool all) {
    if (all)
        lower_watch_all(st->watch);
    else if (s->kind == IR_STMT_ASSIGN)
        lower_watch_assign(st->watch, s->as.assign.var);
    else if (s->kind == IR_STMT_POINTER_STORE)
        lower_watch_store(st->watch, s->as.pointer_store.base);
}

static void choose_width(state *st, bundle *b) {
    bool low = b->members[0] && b->members[1], high = b->members[2] && b->members[3];
    if (!low && !high)
        return;
    if (low && high && is_aligned(st, b->base, 16, 0))
        b->width = 4;
    else if (is_aligned(st, b->base, 8, 0))
        b->width = 2;
}

static bool find_in_block(state *st, ir_stmt *block) {
    st->bundles.count = 0;
    st->index = NULL;
    lower_watch_restart(st->watch);
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        bool effect = false;
        ir_stmt_expressions(s, note_effect, &effect);
        bool plain = s->kind == IR_STMT_LET || s->kind == IR_STMT_ASSIGN || s->kind == IR_STMT_POINTER_STORE;
        st->statement = i;
        if (plain && !effect)
            ir_stmt_expressions(s, find_in, st);
        close_bundles(st, s, !plain || effect);
    }
    bool any = false;
    for (size_t i = 0; i < st->bundles.count; i++) {
        choose_width(st, &st->bundles.items[i]);
        any = any || st->bundles.items[i].width;
    }
    return any;
}

/* ---- rewriting ---- */

/* The neighbours as one access of the script's tensor, where they lie along its last axis. */
static const ir_expr *joined_origin(state *st, const ir_expr *first, const ir_expr *last, unsigned width) {
    ir_module *module = st->context->module;
    if (!first || !last || first->op != IR_LOAD || last->op != IR_LOAD ||
        first->at.tensor != last->at.tensor || first->count == 0 || first->count != last->count)
        return first;
    uint32_t axis = first->count - 1;
    lower_sum *sums = BASE_NEW_ARRAY(st->context->arena, lower_sum, 2);
    if (memcmp((const void *)first->args, (const void *)last->args, axis * sizeof(*first->args)) ||
        !lower_sum_of(first->args[axis], &sums[0]) || !lower_sum_of(last->args[axis], &sums[1]))
        return first;
    bool along = sums[1].constant - sums[0].constant == width - 1 && sums[0].count == sums[1].count;
    for (uint32_t i = 0; along && i < sums[0].count; i++)
        along = !memcmp(&sums[0].terms[i], &sums[1].terms[i], sizeof(sums[0].terms[i]));
    if (!along)
        return first;
    const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, first->count);
    memcpy((void *)args, (const void *)first->args, first->count * sizeof(*args));
    ir_type type = first->args[axis]->type;
    const ir_expr *ramp[2] = {first->args[axis], ir_int(module, type.dtype, 1)};
    args[axis] = ir_make(module, IR_RAMP, ir_type_prim(type.dtype, width), ramp, 2);
    return ir_load(module, first->at.tensor, args, first->count);
}

static void bind(state *st, bundle *b, unsigned half, base_span span, lower_statements *out) {
    ir_module *module = st->context->module;
    const ir_expr *first = b->members[half * b->width], *last = b->members[half * b->width + b->width - 1];
    for (unsigned k = 0; k < b->width; k++)
        if (!b->members[half * b->width + k])
            return;
    const ir_expr *load = ir_pointer_load(module, ir_type_prim(b->dtype, b->width), b->base, first->args[1],
                                          joined_origin(st, first->at.origin, last->at.origin, b->width));
    ir_stmt *let = lower_new_let(st->context, "wide", load, span);
    b->vars[half] = let->as.let.var;
    base_vector_push(st->context->arena, out, let);
}

static const ir_expr *replace(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *lane = ir_memo_get(st->active, e);
    return lane ? lane : e;
}

static void rewrite(void *user, const ir_expr **e) {
    state *st = user;
    static const ir_where loads = {.effects = IR_INSIDE_POINTER_LOAD};
    *e = ir_expr_rewrite(st->context->module, *e, &loads, replace, st, NULL);
}

/* The lanes that stand for the bundle's loads, or the loads themselves again. */
static void activate(state *st, const bundle *b, bool active) {
    for (unsigned k = 0; k < 4; k++) {
        ir_var *var = b->vars[k / b->width];
        if (!b->members[k] || !var)
            continue;
        const ir_expr *lane = NULL;
        if (active)
            lane = ir_lane(st->context->module, ir_var_use(st->context->module, var), k % b->width);
        ir_memo_set(st->active, b->members[k], lane);
    }
}

static void retire(state *st, size_t statement) {
    size_t kept = 0;
    for (size_t i = 0; i < st->bound.count; i++) {
        const bundle *b = &st->bundles.items[st->bound.items[i]];
        if (b->last < statement)
            activate(st, b, false);
        else
            st->bound.items[kept++] = st->bound.items[i];
    }
    st->bound.count = kept;
}

static void each_block(void *user, ir_stmt *block) {
    state *st = user;
    if (block->kind != IR_STMT_BLOCK || !find_in_block(st, block))
        return;
    lower_statements out = {0};
    st->bound.count = 0;
    ir_memo_clear(st->active);
    for (size_t i = 0, next = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i];
        retire(st, i);
        for (; next < st->bundles.count && st->bundles.items[next].first == i; next++) {
            bundle *b = &st->bundles.items[next];
            for (unsigned half = 0; b->width && half < 4 / b->width; half++)
                bind(st, b, half, s->span, &out);
            if (!b->width)
                continue;
            activate(st, b, true);
            base_vector_push(st->context->arena, &st->bound, (uint32_t)next);
        }
        if (st->bound.count)
            ir_stmt_expressions(s, rewrite, st);
        base_vector_push(st->context->arena, &out, s);
    }
    block->as.block.body.items = out.items;
    block->as.block.body.count = out.count;
    block->as.block.body.capacity = out.capacity;
}

void lower_optimise_widen(lower_context *context) {
    state st = {.context = context, .active = ir_memo_open(context->module)};
    lower_aliases_start(&st.aliases, context);
    st.watch = lower_watch_create(context->arena, &st.aliases);
    context->facts = arith_facts_create_later(context->arena, context->function);
    lower_visit_statements(context->function->body, each_block, &st);
    ir_memo_close(st.active);
}
