/* SPDX-License-Identifier: Apache-2.0
 * TMEMPool: columns of tensor memory for tensors, one after the other. One warp allocates all of them at
 * commit, one gives them back; tensors stand on the address in the pool's slot, which is read where they are
 * used. */
#include "layout/layout.h"
#include "layout/tmem.h"
#include "script/script_evaluate.h"
#include <string.h>

enum { COLUMNS = 512, MAX_RANK = 16 };

/* What a word of the pool allocates: its row's number in the dialect. */
enum { ANY, SCALE_FACTORS, OPERAND_A, OPERAND_D };

typedef struct script_tmem_pool {
    int64_t total, next, highest, group, alloc_warp, dealloc_warp;
    ir_tensor *slot;
    bool sync, committed, freed;
    BASE_VECTOR(const ir_tensor *) tensors;
    base_span span, commit_span;
} script_tmem_pool;

/* The slot: a uint32 of the pool of shared memory, or the caller's. */
static ir_tensor *slot_of(script_evaluator *e, const script_call *call) {
    const script_value *given = script_argument_of(call, "tmem_addr");
    if (given)
        return script_need_tensor(e, *given, script_argument_span(call, "tmem_addr"), "tmem_addr");
    script_value *pool = BASE_NEW(e->arena, script_value);
    *pool = call->value[0];
    if (pool->kind != SCRIPT_VALUE_POOL) {
        script_error(e, "T0205", call->place[0],
                     "TMEMPool takes the pool of shared memory for its slot, not %s",
                     script_value_name(e->arena, *pool));
        return NULL;
    }
    script_value method = {.kind = SCRIPT_VALUE_METHOD};
    method.as.method.word = script_word_find("SMEMPool.alloc");
    method.as.method.receiver = pool;
    script_arguments arguments = {0};
    script_value shape = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    script_list_add(e->arena, shape, script_int(1));
    base_vector_push(e->arena, &arguments.items, ((script_argument){.value = shape, .span = call->span}));
    base_vector_push(e->arena, &arguments.items,
                     ((script_argument){.value = script_string(e->arena, "uint32", 6), .span = call->span}));
    script_value slot = script_call_value(e, method, &arguments, call->node, call->span, call->name_span);
    script_name_tensor(e, slot, "tmem_addr", call->span);
    return slot.kind == SCRIPT_VALUE_TENSOR ? slot.as.tensor : NULL;
}

script_value script_word_tmem_pool(script_evaluator *e, const script_call *call) {
    script_tmem_pool *pool = BASE_NEW(e->arena, script_tmem_pool);
    const script_value *sync = script_argument_of(call, "sync_after_alloc");
    pool->span = call->span;
    pool->sync = true;
    if (!script_need_kernel(e, call->span, "a pool of tensor memory") ||
        !script_argument_int(e, call, "total_cols", COLUMNS, &pool->total) ||
        !script_argument_int(e, call, "cta_group", 1, &pool->group) ||
        !script_argument_int(e, call, "alloc_warp", 0, &pool->alloc_warp) ||
        !script_argument_int(e, call, "dealloc_warp", pool->alloc_warp, &pool->dealloc_warp) ||
        (sync && !script_constant_bool(e, *sync, &pool->sync, script_argument_span(call, "sync_after_alloc"),
                                       "sync_after_alloc")) ||
        !(pool->slot = slot_of(e, call)))
        return script_poison();
    return (script_value){.kind = SCRIPT_VALUE_TMEM_POOL, .as.tmem_pool = pool};
}

static int64_t columns_of(const ir_tensor_type *type) {
    int64_t span = 0, bits = (int64_t)num_dtype_bits(type->dtype) * type->lanes;
    if (type->layout && !layout_span(type->layout, LAYOUT_AXIS_TCOL, &span))
        return -1;
    if (!type->layout && (type->rank != 2 || !ir_is_int(type->shape[1], &span)))
        return -1;
    return (span * bits + 31) / 32;
}

static void report_full(script_evaluator *e, const script_call *call, const script_tmem_pool *pool,
                        int64_t columns) {
    base_builder names;
    base_builder_start(&names, e->arena);
    for (size_t i = 0; i < pool->tensors.count; i++)
        base_builder_format(&names, "%s%s (%lld)", i ? ", " : "", pool->tensors.items[i]->name,
                            (long long)columns_of(&pool->tensors.items[i]->type));
    base_diagnostic *d =
        script_error(e, "T0535", call->span, "%lld columns from column %lld on; the pool has %lld",
                     (long long)columns, (long long)pool->next, (long long)pool->total);
    if (names.size)
        base_help(e->diagnostics, d, "columns of its tensors: %s", names.data);
}

/* ---- layouts that a word knows ---- */

static bool bool_argument(script_evaluator *e, const script_call *call, const char *name, bool *out) {
    const script_value *v = script_argument_of(call, name);
    *out = false;
    return !v || script_constant_bool(e, *v, out, script_argument_span(call, name), name);
}

/* (rows, factors) of one stage, or stages of them. */
static const layout_tile *factors_layout(script_evaluator *e, const script_call *call, const int64_t *shape,
                                         uint32_t rank, layout_error *error) {
    int64_t per = 0, reuse = 1;
    if (!script_argument_int(e, call, "sf_per_mma", 0, &per) ||
        !script_argument_int(e, call, "sf_reuse", 1, &reuse))
        return NULL;
    if (rank != 2 && rank != 3) {
        error->text = "scale factors have two axes, rows and factors, and stages before them or none";
        return NULL;
    }
    int64_t columns = shape[rank - 1];
    if (reuse < 1 || columns % reuse) {
        error->text = base_arena_format(e->arena, "%lld factors of a row are no multiple of sf_reuse=%lld",
                                        (long long)columns, (long long)reuse);
        return NULL;
    }
    return layout_tmem_scale_factors(e->arena, shape[rank - 2], columns / reuse, per, reuse,
                                     rank == 3 ? shape[0] : 0, error);
}

static const layout_tile *operand_layout(script_evaluator *e, const script_call *call,
                                         const ir_tensor_type *type, const int64_t *shape,
                                         layout_error *error) {
    layout_tmem_mma mma = {.operand = call->word->data == OPERAND_A ? 'A' : 'D'};
    int64_t m, cta_group, group[3];
    const script_value *factors = script_argument_of(call, "group");
    if (!script_argument_int(e, call, "M", 0, &m) ||
        !script_argument_int(e, call, "cta_group", 0, &cta_group) || !bool_argument(e, call, "ws", &mma.ws) ||
        !bool_argument(e, call, "sparse", &mma.sparse))
        return NULL;
    if (factors) {
        bool is_list = factors->kind == SCRIPT_VALUE_TUPLE || factors->kind == SCRIPT_VALUE_LIST;
        if (!is_list || factors->as.list->items.count != 3) {
            error->text = "group has three factors (s, 2, n) of the columns";
            return NULL;
        }
        for (int i = 0; i < 3; i++)
            if (!script_constant_int(e, factors->as.list->items.items[i], &group[i],
                                     script_argument_span(call, "group"), "a factor of group"))
                return NULL;
        mma.group = group;
    }
    if (m < 0 || m > 256 || cta_group < 0 || cta_group > 2)
        m = cta_group = 0; /* no datapath has them, which is said below */
    mma.m = (int)m;
    mma.cta_group = (int)cta_group;
    mma.bits = num_dtype_bits(type->dtype);
    return layout_tmem_operand(e->arena, &mma, shape, type->rank, error);
}

static const layout_tile *datapath_layout(script_evaluator *e, const script_call *call, const int64_t *shape,
                                          uint32_t rank, layout_error *error) {
    const char *letter;
    if (!script_constant_string(e, *script_argument_of(call, "datapath"), &letter,
                                script_argument_span(call, "datapath"), "a datapath"))
        return NULL;
    if (strlen(letter) != 1 || rank != 2) {
        error->text = "datapath= is a letter, A to G, for a tensor of two axes";
        return NULL;
    }
    return layout_tmem_datapath(e->arena, letter[0], shape[0], shape[1], 0, error);
}

/* The layout that the word or datapath= says; false after a report. */
static bool known_layout(script_evaluator *e, const script_call *call, ir_tensor_type *type) {
    int64_t shape[MAX_RANK];
    layout_error error = {NULL};
    bool has_datapath = script_argument_of(call, "datapath") != NULL;
    size_t errors = base_diagnostics_errors(e->diagnostics);
    if (call->word->data == ANY && !has_datapath)
        return true;
    if (has_datapath && script_argument_of(call, "layout")) {
        script_error(e, "T0535", call->span, "datapath= and layout= say the same thing twice");
        return false;
    }
    if (type->rank > MAX_RANK || !script_constant_shape(e, type, shape)) {
        script_error(e, "T0535", call->span, "a tensor in tensor memory has constant extents");
        return false;
    }
    switch (call->word->data) {
    case SCALE_FACTORS:
        type->layout = factors_layout(e, call, shape, type->rank, &error);
        break;
    case ANY:
        type->layout = datapath_layout(e, call, shape, type->rank, &error);
        break;
    default:
        type->layout = operand_layout(e, call, type, shape, &error);
    }
    if (!type->layout && base_diagnostics_errors(e->diagnostics) == errors)
        script_error(e, "T0214", call->span, "%s gives no layout: %s", call->word->path,
                     error.text ? error.text : "numbers too large");
    return type->layout != NULL;
}

/* ---- allocation ---- */

script_value script_word_tmem_pool_alloc(script_evaluator *e, const script_call *call) {
    script_tmem_pool *pool = call->receiver.as.tmem_pool;
    script_tensor_type type;
    int64_t columns;
    if (!script_read_type(e, call, &type))
        return script_poison();
    if (call->word->data == OPERAND_A && !script_argument_of(call, "dtype"))
        type.type.dtype = NUM_DTYPE_BF16;
    if (!known_layout(e, call, &type.type))
        return script_poison();
    if (!script_argument_int(e, call, "cols", columns_of(&type.type), &columns))
        return script_poison();
    type.type.scope = IR_SCOPE_TMEM;
    if (columns < 1) {
        base_diagnostic *d = script_error(e, "T0535", call->span,
                                          "how many columns the tensor takes does not follow from its shape");
        base_help(e->diagnostics, d, "give a layout on TLane and TCol, or cols=");
        return script_poison();
    }
    if (pool->next < 0 || columns > pool->total - pool->next) {
        report_full(e, call, pool, columns);
        return script_poison();
    }
    const ir_expr *zero = ir_int(e->module, NUM_DTYPE_I32, 0);
    const ir_expr *address = ir_binary(e->module, IR_ADD, ir_load(e->module, pool->slot, &zero, 1),
                                       ir_int(e->module, NUM_DTYPE_U32, pool->next));
    script_value v = script_make_view(e, &type.type, address, call->span);
    if (v.kind == SCRIPT_VALUE_TENSOR)
        base_vector_push(e->arena, &pool->tensors, v.as.tensor);
    pool->next += columns;
    pool->highest = pool->next > pool->highest ? pool->next : pool->highest;
    return v;
}

script_value script_word_tmem_pool_move(script_evaluator *e, const script_call *call) {
    script_tmem_pool *pool = call->receiver.as.tmem_pool;
    int64_t column;
    if (!script_constant_int(e, call->value[0], &column, call->place[0], "a column"))
        return script_poison();
    if (column < 0 || column > pool->total) {
        script_error(e, "T0535", call->place[0], "column %lld of a pool of %lld", (long long)column,
                     (long long)pool->total);
        return script_poison();
    }
    pool->next = column;
    return script_none();
}

static script_value instruction(script_evaluator *e, const script_call *call, const char *name,
                                const script_value *values, size_t count) {
    script_arguments arguments = {0};
    for (size_t i = 0; i < count; i++)
        base_vector_push(e->arena, &arguments.items,
                         ((script_argument){.value = values[i], .span = call->span}));
    return script_ptx_instruction(e, name, &arguments, call->span, call->name_span);
}

/* commit and dealloc: what one warp does for the block. */
script_value script_word_tmem_pool_commit(script_evaluator *e, const script_call *call) {
    script_tmem_pool *pool = call->receiver.as.tmem_pool;
    bool frees = call->word->data == 1;
    ir_module *module = e->module;
    if (frees ? !pool->committed || pool->freed : pool->committed) {
        base_diagnostic *d = script_error(
            e, "T0535", call->span, frees && !pool->committed ? "dealloc before commit" : "%s once is enough",
            frees ? "dealloc" : "commit");
        base_note(e->diagnostics, d, pool->committed ? pool->commit_span : pool->span,
                  pool->committed ? "the first one" : "the pool");
        return script_poison();
    }
    (frees ? (pool->freed = true) : (pool->committed = true));
    pool->commit_span = call->span;
    ir_stmt *branch = ir_stmt_create(module, IR_STMT_IF, e->statement), *outer = e->block;
    branch->as.branch.condition =
        ir_binary(module, IR_EQ, ir_query(module, IR_WARP_ID, 0),
                  ir_int(module, NUM_DTYPE_I32, frees ? pool->dealloc_warp : pool->alloc_warp));
    branch->as.branch.then_body = ir_stmt_create(module, IR_STMT_BLOCK, e->statement);
    script_emit(e, branch);
    e->block = branch->as.branch.then_body;
    script_value values[2] = {script_tensor(pool->slot), script_int(pool->total)};
    const char *group = pool->group == 2 ? "2" : "1";
    if (frees) {
        const ir_expr *zero = ir_int(module, NUM_DTYPE_I32, 0);
        values[0] = script_expr(ir_load(module, pool->slot, &zero, 1));
        instruction(
            e, call,
            base_arena_format(e->arena, "tcgen05.relinquish_alloc_permit.cta_group::%s.sync.aligned", group),
            NULL, 0);
        instruction(e, call,
                    base_arena_format(e->arena, "tcgen05.dealloc.cta_group::%s.sync.aligned.b32", group),
                    values, 2);
    } else {
        instruction(
            e, call,
            base_arena_format(e->arena, "tcgen05.alloc.cta_group::%s.sync.aligned.shared::cta.b32", group),
            values, 2);
        if (pool->sync) {
            ir_stmt *sync = ir_stmt_create(module, IR_STMT_EVALUATE, e->statement);
            sync->as.evaluate.value =
                ir_make(module, IR_WARP_SYNC, (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, NULL, 0);
            script_emit(e, sync);
        }
    }
    e->block = outer;
    return script_none();
}

script_value script_word_tmem_pool_addr(script_evaluator *e, const script_call *call) {
    (void)e;
    return script_tensor(call->receiver.as.tmem_pool->slot);
}
