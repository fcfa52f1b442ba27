/* SPDX-License-Identifier: Apache-2.0
 * SMEMPool: places for tensors in one arena of dynamic shared memory, or behind a caller's pointer. A pool
 * gives exactly the views that decl_tensor gives at the same offsets, so nothing behind the evaluator knows
 * pools. The bookkeeping is layout/pool.h's. */
#include "layout/pool.h"
#include "layout/shared.h"
#include "script/script_evaluate.h"

enum {
    MAX_RANK = 16,
    DEFAULT_ALIGN = 64,
    MMA_ALIGN = 1024, /* the longest period, of 128-byte rows: a tile may then take any mode */
    MAX_ALIGN = 1 << 20,
    /* shared memory of a block on sm_90 and sm_100 after opting in, the most that any target has: CUDA C++
     * Programming Guide, "Technical Specifications per Compute Capability", 227 KiB */
    DEVICE_LIMIT = 232448
};

struct script_pool {
    layout_pool pool;
    ir_tensor *storage;  /* the arena, or what the caller's pointer is the data of; NULL: not known */
    const ir_expr *data; /* what the views stand on */
    bool is_owner;       /* the arena is the pool's own, and commit gives it its size */
    bool is_committed, is_named;
    bool has_failed; /* the last alloc found no place */
    base_span span, commit_span;
};

/* ---- pools ---- */

static bool storage_bytes(const ir_tensor *tensor, int64_t *bytes) {
    int64_t extent, bits = (int64_t)num_dtype_storage_bits(tensor->type.dtype) * tensor->type.lanes;
    if (tensor->type.layout && (!layout_footprint(tensor->type.layout, LAYOUT_AXIS_M, &extent) ||
                                __builtin_mul_overflow(bits, extent, &bits)))
        return false;
    for (uint32_t i = 0; !tensor->type.layout && i < tensor->type.rank; i++)
        if (!ir_is_int(tensor->type.shape[i], &extent) || __builtin_mul_overflow(bits, extent, &bits))
            return false;
    *bytes = bits / 8;
    return true;
}

/* The arena has one byte until commit: views need its pointer only. */
static bool own_arena(script_evaluator *e, script_pool *pool, base_span span) {
    const ir_expr *one = ir_int(e->module, NUM_DTYPE_I32, 1);
    ir_tensor_type type = {.dtype = NUM_DTYPE_U8,
                           .lanes = 1,
                           .scope = IR_SCOPE_SHARED_DYN,
                           .rank = 1,
                           .shape = &one,
                           .align = DEFAULT_ALIGN};
    const ir_expr **shape = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
    shape[0] = one;
    type.shape = shape;
    script_value arena = script_allocate(e, &type, span);
    if (script_is_poison(arena))
        return false;
    pool->storage = arena.as.tensor;
    pool->data = ir_data(e->module, arena.as.tensor);
    pool->pool.limit = DEVICE_LIMIT;
    pool->is_owner = true;
    return true;
}

static bool over_pointer(script_evaluator *e, script_pool *pool, script_value pointer, base_span span) {
    pool->data = script_to_pointer(e, pointer, span, "the storage of a pool");
    if (!pool->data)
        return false;
    ir_scope scope = (ir_scope)pool->data->type.scope;
    if (scope != IR_SCOPE_SHARED && scope != IR_SCOPE_SHARED_DYN) {
        script_error(e, "T0446", span, "a pool over %s memory: its pointer is to shared or shared.dyn memory",
                     ir_scope_name(scope));
        return false;
    }
    const ir_expr *root = pool->data; /* the data of a view is the data of what it stands on */
    while (root->op == IR_DATA && root->at.tensor->kind == IR_TENSOR_VIEW && root->at.tensor->data)
        root = root->at.tensor->data;
    if (root->op == IR_DATA && root->at.tensor->kind == IR_TENSOR_ALLOCATION &&
        storage_bytes(root->at.tensor, &pool->pool.limit))
        pool->storage = (ir_tensor *)(uintptr_t)root->at.tensor;
    return true;
}

script_value script_word_pool(script_evaluator *e, const script_call *call) {
    const script_value *pointer = script_argument_of(call, "ptr");
    script_pool *pool = BASE_NEW(e->arena, script_pool);
    *pool = (script_pool){.span = call->span};
    if (!script_need_kernel(e, call->span, "a pool") ||
        !(pointer ? over_pointer(e, pool, *pointer, script_argument_span(call, "ptr"))
                  : own_arena(e, pool, call->span)))
        return script_poison();
    if (pool->is_owner)
        e->pool = pool;
    return (script_value){.kind = SCRIPT_VALUE_POOL, .as.pool = pool};
}

void script_name_pool(script_evaluator *e, script_value v, const char *name, base_span span) {
    script_pool *pool = v.as.pool;
    script_value arena = script_tensor(pool->storage);
    if (!pool->is_owner || pool->is_named)
        return;
    pool->is_named = true;
    script_name_tensor(e, arena, base_arena_format(e->arena, "%s_buf", name), span);
}

void script_pool_finish(script_evaluator *e) {
    const script_pool *pool = e->pool;
    e->pool = NULL;
    if (!pool || pool->is_committed)
        return;
    base_diagnostic *d =
        script_error(e, "T0441", pool->span, "the pool is never committed: what is in it reaches byte %lld",
                     (long long)pool->pool.high);
    base_help(e->diagnostics, d, "say commit() after the last alloc: it gives the arena its size");
}

/* ---- placing ---- */

static bool is_open(script_evaluator *e, const script_call *call, const script_pool *pool) {
    if (!pool->is_committed)
        return true;
    base_diagnostic *d =
        script_error(e, "T0440", call->span, "%s on a pool that is committed, with %lld bytes",
                     call->word->path, (long long)pool->pool.high);
    base_note(e->diagnostics, d, pool->commit_span, "it is committed here");
    base_help(e->diagnostics, d, "commit() once, after the last alloc");
    return false;
}

static bool align_of(script_evaluator *e, const script_call *call, int64_t *align) {
    const script_value *v = script_argument_of(call, "align");
    base_span span = script_argument_span(call, "align");
    if (!v)
        return true;
    if (!script_constant_int(e, *v, align, span, "an alignment"))
        return false;
    if (*align >= 0 && *align <= MAX_ALIGN && (*align & (*align - 1)) == 0)
        return true;
    base_diagnostic *d =
        script_error(e, "T0444", span, "an alignment of %lld bytes: it is 0 or a power of two up to 1 MiB",
                     (long long)*align);
    if (*align > 0 && *align < MAX_ALIGN) {
        int64_t up = 1;
        while (up < *align)
            up *= 2;
        base_help(e->diagnostics, d, "align=%lld is the next one up", (long long)up);
    }
    return false;
}

static script_value no_place(script_evaluator *e, const script_call *call, const script_pool *pool,
                             const layout_tile *layout, unsigned bits, int64_t align, const char *why) {
    layout_error error = {NULL};
    layout_pool without = {.cursor = pool->pool.cursor, .high = pool->pool.high};
    bool is_full = layout_pool_place(e->arena, &without, "", layout, bits, align, &error) != NULL;
    base_diagnostic *d = script_error(e, is_full ? "T0443" : "T0446", call->span, "%s", why);
    if (is_full && pool->is_owner)
        base_help(e->diagnostics, d,
                  "no target gives a block more than %d bytes; move_base_to(offset) uses bytes again",
                  DEVICE_LIMIT);
    else if (is_full)
        base_note(e->diagnostics, d, pool->storage->span, "'%s' has %lld bytes", pool->storage->name,
                  (long long)pool->pool.limit);
    return script_poison();
}

/* Offsets count from the start of the storage, which has to stand on what its tensors stand on. */
static void raise_alignment(const script_pool *pool) {
    if (!pool->storage)
        return;
    const layout_pool_block *block = &pool->pool.blocks.items[pool->pool.blocks.count - 1];
    int64_t align = block->align & -block->align; /* elements of 3 bytes: what is left of a power of two */
    if (align > pool->storage->type.align && align <= MAX_ALIGN)
        pool->storage->type.align = (uint32_t)align;
}

/* The view of a tensor at the next place. */
static script_value place(script_evaluator *e, const script_call *call, script_pool *pool,
                          ir_tensor_type *type, int64_t align) {
    int64_t shape[MAX_RANK];
    layout_error error = {NULL};
    unsigned bits = num_dtype_storage_bits(type->dtype) * type->lanes;
    if (type->rank > MAX_RANK || !script_constant_shape(e, type, shape) || type->strides) {
        base_diagnostic *d =
            script_error(e, "T0446", call->span,
                         "a tensor in a pool has constant extents and strides; these come with the launch");
        base_help(e->diagnostics, d, "pass the size with -D NAME=...");
        return script_poison();
    }
    const char *name =
        base_arena_format(e->arena, "%s%s", script_type_name(e, ir_type_prim(type->dtype, type->lanes)),
                          layout_shape_text(e->arena, shape, type->rank));
    const layout_tile *dense =
        type->layout ? type->layout : layout_row_major(e->arena, shape, type->rank, &error);
    const layout_tile *placed =
        dense ? layout_pool_place(e->arena, &pool->pool, name, dense, bits, align, &error) : NULL;
    pool->has_failed = !placed;
    if (!placed)
        return no_place(e, call, pool, dense, bits, align, error.text ? error.text : "numbers too large");
    if (type->layout || pool->pool.blocks.items[pool->pool.blocks.count - 1].begin > 0)
        type->layout = placed;
    raise_alignment(pool);
    type->align = align > 0 ? (uint32_t)align : DEFAULT_ALIGN;
    type->scope = (ir_scope)pool->data->type.scope;
    script_value view = script_make_view(e, type, pool->data, call->span);
    if (view.kind == SCRIPT_VALUE_TENSOR)
        ((ir_tensor *)(uintptr_t)view.as.tensor)->is_pooled = true;
    return view;
}

script_value script_word_pool_alloc(script_evaluator *e, const script_call *call) {
    script_pool *pool = call->receiver.as.pool;
    script_tensor_type type;
    int64_t align = 0;
    if (!is_open(e, call, pool) || !align_of(e, call, &align) || !script_read_type(e, call, &type))
        return script_poison();
    if (type.has_scope && type.type.scope != (ir_scope)pool->data->type.scope) {
        base_diagnostic *d = script_error(
            e, "T0446", script_argument_span(call, "scope"), "scope=\"%s\" in a pool of %s memory",
            ir_scope_name(type.type.scope), ir_scope_name((ir_scope)pool->data->type.scope));
        base_note(e->diagnostics, d, pool->span, "the pool is made here");
        return script_poison();
    }
    return place(e, call, pool, &type.type, align);
}

script_value script_word_pool_mma(script_evaluator *e, const script_call *call) {
    script_pool *pool = call->receiver.as.pool;
    script_tensor_type type;
    int64_t align = MMA_ALIGN, shape[MAX_RANK];
    layout_mode mode;
    layout_error error = {NULL};
    if (!is_open(e, call, pool) || !align_of(e, call, &align) || !script_layout_mode(e, call, &mode) ||
        !script_read_type(e, call, &type))
        return script_poison();
    if (!script_argument_of(call, "dtype"))
        type.type.dtype = NUM_DTYPE_F16;
    if (type.type.lanes != 1) {
        script_error(e, "T0230", script_argument_span(call, "dtype"),
                     "the elements of an operand are scalars, not %s",
                     script_type_name(e, ir_type_prim(type.type.dtype, type.type.lanes)));
        return script_poison();
    }
    if (script_constant_shape(e, &type.type, shape)) {
        pool->has_failed = true; /* until it has its place */
        type.type.layout =
            layout_mma_shared(e->arena, mode, num_dtype_bits(type.type.dtype), shape, type.type.rank, &error);
        if (!type.type.layout) {
            script_error(e, "T0447", call->span, "no operand of an MMA: %s",
                         error.text ? error.text : "numbers too large");
            return script_poison();
        }
    }
    return place(e, call, pool, &type.type, align);
}

/* ---- the cursor and the size ---- */

script_value script_word_pool_move(script_evaluator *e, const script_call *call) {
    script_pool *pool = call->receiver.as.pool;
    layout_error error = {NULL};
    int64_t offset;
    if (!is_open(e, call, pool) ||
        !script_constant_int(e, call->value[0], &offset, call->place[0], "the offset of a pool"))
        return script_poison();
    if (!layout_pool_move(e->arena, &pool->pool, offset, &error)) {
        base_diagnostic *d = script_error(e, "T0442", call->place[0], "%s", error.text);
        base_help(e->diagnostics, d, "an offset counts bytes from the start of the pool, 0 to %lld here",
                  (long long)(pool->pool.limit ? pool->pool.limit : pool->pool.high));
        return script_poison();
    }
    return script_none();
}

script_value script_word_pool_commit(script_evaluator *e, const script_call *call) {
    script_pool *pool = call->receiver.as.pool;
    const script_value *v = script_argument_of(call, "size");
    layout_error error = {NULL};
    int64_t size = -1, bytes;
    if (!is_open(e, call, pool))
        return script_poison();
    pool->is_committed = true; /* a wrong size is said once */
    pool->commit_span = call->span;
    if (v && !script_constant_int(e, *v, &size, script_argument_span(call, "size"), "the size of a pool"))
        return script_poison();
    base_span span = v ? script_argument_span(call, "size") : call->span;
    if (v && size < 0) {
        script_error(e, "T0445", span, "%lld bytes are committed, but the pool reaches up to byte %lld",
                     (long long)size, (long long)pool->pool.high);
        return script_poison();
    }
    if (!layout_pool_commit(e->arena, &pool->pool, size, &bytes, &error)) {
        base_diagnostic *d = script_error(e, "T0445", span, "%s", error.text);
        base_help(e->diagnostics, d, "commit() takes the %lld bytes that the pool reaches",
                  (long long)pool->pool.high);
        return script_poison();
    }
    if (!pool->is_owner)
        return script_none();
    if (bytes == 0 && pool->has_failed) /* that was said */
        return script_poison();
    if (bytes == 0) {
        base_diagnostic *d = script_error(e, "T0445", span, "a pool of 0 bytes: nothing was allocated in it");
        base_help(e->diagnostics, d, "alloc(shape, dtype) before commit(), or leave the pool out");
        return script_poison();
    }
    const ir_expr **shape = BASE_NEW_ARRAY(e->module->arena, const ir_expr *, 1);
    shape[0] = ir_int(e->module, NUM_DTYPE_I32, bytes);
    pool->storage->type.shape = shape;
    pool->pool.high = bytes;
    return script_none();
}

/* offset, max_offset, ptr, buf: by the word's number. */
script_value script_word_pool_property(script_evaluator *e, const script_call *call) {
    const script_pool *pool = call->receiver.as.pool;
    switch (call->word->data) {
    case 0:
        return script_int(pool->pool.cursor);
    case 1:
        return script_int(pool->pool.high);
    case 2:
        return script_expr(pool->data);
    default:
        break;
    }
    if (pool->storage)
        return script_tensor(pool->storage);
    script_error(e, "T0446", call->span,
                 "the pool stands on a pointer of the caller: no tensor is known there");
    return script_poison();
}
