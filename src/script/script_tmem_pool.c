/* SPDX-License-Identifier: Apache-2.0
 * TMEMPool: columns of tensor memory for tensors, one after the other. One warp allocates all of them at
 * commit, one gives them back; tensors stand on the address in the pool's slot, which is read where they are
 * used. */
#include "layout/layout.h"
#include "script/script_evaluate.h"

enum { COLUMNS = 512 };

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

script_value script_word_tmem_pool_alloc(script_evaluator *e, const script_call *call) {
    script_tmem_pool *pool = call->receiver.as.tmem_pool;
    script_tensor_type type;
    int64_t columns;
    if (!script_read_type(e, call, &type))
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
