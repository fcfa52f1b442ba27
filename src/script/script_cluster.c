/* SPDX-License-Identifier: Apache-2.0
 * Words of clusters, and reductions over a block: which block of the cluster this is, and sums through shared
 * memory. Must not know what the rest of a kernel does. */
#include "script/script_evaluate.h"
#include <string.h>

static const ir_type i32 = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_I32, .lanes = 1};

/* A plain assignment binds it as a let, like other index queries. */
static script_value query(const ir_expr *x) {
    script_value v = script_expr(x);
    v.flag = true;
    return v;
}

static const ir_expr *special(script_evaluator *e, const char *name, int axis) {
    const char *pattern = axis < 0 ? base_arena_format(e->arena, "mov.b32 %%0, %%%s", name)
                                   : base_arena_format(e->arena, "mov.b32 %%0, %%%s.%c", name, "xyz"[axis]);
    return script_ptx_make(e, i32, pattern, NULL, 0);
}

script_value script_word_cluster_query(script_evaluator *e, const script_call *call) {
    static const char *const names[] = {"cluster_ctaid", "clusterid", "cluster_nctaid"};
    const char *axis;
    int64_t extent;
    if (!script_need_kernel(e, call->span, call->word->path) ||
        !script_constant_string(e, call->value[0], &axis, call->place[0], "an axis"))
        return script_poison();
    if (!axis[0] || axis[1] || !strchr("xyz", axis[0])) {
        script_error(e, "T0244", call->place[0], "the axis \"%s\"; it is \"x\", \"y\" or \"z\"", axis);
        return script_poison();
    }
    int which = axis[0] - 'x';
    const ir_expr *known = e->has_launch_config ? e->function->launch.cluster[which] : NULL;
    if (known && ir_is_int(known, &extent)) {
        if (call->word->data == 2)
            return query(ir_int(e->module, NUM_DTYPE_I32, extent));
        if (extent == 1 && call->word->data == 0)
            return query(ir_int(e->module, NUM_DTYPE_I32, 0));
    }
    return query(special(e, names[call->word->data], which));
}

script_value script_word_pair_id(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    return query(ir_binary(e->module, IR_BITAND, special(e, "cluster_ctarank", -1),
                           ir_int(e->module, NUM_DTYPE_I32, 1)));
}

/* cta_id_in_cluster([2]) and cluster_id([n]): the extents make the launch. */
script_value script_word_cluster_ids(script_evaluator *e, const script_call *call) {
    bool inside = call->word->data == 0;
    const script_value *extents = script_argument_of(call, "extents"),
                       *dtype = script_argument_of(call, "dtype");
    ir_type type = i32;
    script_list *list = NULL;
    size_t count = 1;
    if (!script_need_kernel(e, call->span, call->word->path) ||
        (dtype && !script_to_dtype(e, *dtype, &type, script_argument_span(call, "dtype"))))
        return script_poison();
    if (!e->has_entry || e->has_launch_config) {
        base_diagnostic *d =
            script_error(e, "T0252", call->span,
                         e->has_entry ? "%s beside a LaunchConfig: the launch is given already"
                                      : "%s needs a device entry before it",
                         call->word->path);
        base_help(e->diagnostics, d,
                  e->has_entry ? "use the queries: cuda.cluster_cta_id(\"x\")"
                               : "write T.device_entry() first");
        return script_poison();
    }
    if (extents && !script_iterate(e, *extents, &list, script_argument_span(call, "extents")))
        return script_poison();
    if (list)
        count = list->items.count;
    if (count < 1 || count > 3) {
        script_error(e, "T0252", call->span, "%s of %zu axes; 1 to 3 are possible", call->word->path, count);
        return script_poison();
    }
    e->ids.used = true;
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (size_t i = 0; i < count; i++) {
        int64_t extent = 0;
        if (list) {
            const ir_expr *x =
                script_to_index(e, list->items.items[i], script_argument_span(call, "extents"), "an extent");
            if (!x)
                return script_poison();
            (inside ? e->ids.cluster : e->ids.clusters)[i] = x;
            ir_is_int(x, &extent);
        }
        const ir_expr *value = extent == 1 ? ir_int(e->module, NUM_DTYPE_I32, 0)
                                           : special(e, inside ? "cluster_ctaid" : "clusterid", (int)i);
        script_list_add(e->arena, result, query(ir_cast(e->module, type, value)));
    }
    return count == 1 ? result.as.list->items.items[0] : result;
}

/* ---- reductions over the block ---- */

static const ir_expr *butterfly(script_evaluator *e, ir_op op, const ir_expr *x, int64_t width,
                                base_span span) {
    ir_module *module = e->module;
    const ir_expr *mask = ir_int(module, NUM_DTYPE_U32, 0xffffffff);
    x = script_make_let(e, x, span).as.expr;
    for (int64_t distance = width / 2; distance > 0; distance /= 2) {
        const ir_expr *args[4] = {mask, x, ir_int(module, NUM_DTYPE_I32, distance),
                                  ir_int(module, NUM_DTYPE_I32, 32)};
        const ir_expr *other = ir_make(module, IR_SHUFFLE_XOR, x->type, args, 4);
        x = script_make_let(e, ir_binary(module, op, x, other), span).as.expr;
    }
    return x;
}

static void barrier(script_evaluator *e) {
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_EVALUATE, e->statement);
    statement->as.evaluate.value =
        ir_make(e->module, IR_CTA_SYNC, (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, NULL, 0);
    script_emit(e, statement);
}

/* The scratch as a tensor of its element type: itself, or a view over the pointer. */
static ir_tensor *scratch_of(script_evaluator *e, const script_call *call, size_t index, ir_type element,
                             int64_t warps) {
    script_value v = call->value[index];
    if (v.kind != SCRIPT_VALUE_TENSOR) {
        const ir_expr *pointer = script_to_pointer(e, v, call->place[index], "the scratch of a reduction");
        if (!pointer)
            return NULL;
        const ir_expr **shape = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
        shape[0] = ir_int(e->module, NUM_DTYPE_I32, warps);
        ir_tensor_type type = {.dtype = (num_dtype)element.dtype,
                               .lanes = 1,
                               .scope = (ir_scope)pointer->type.scope,
                               .rank = 1,
                               .shape = shape,
                               .align = num_dtype_bytes((num_dtype)element.dtype)};
        v = script_make_view(e, &type, pointer, call->span);
    }
    if (v.kind != SCRIPT_VALUE_TENSOR)
        return NULL;
    int64_t extent;
    ir_tensor *t = v.as.tensor;
    bool shared = t->type.scope == IR_SCOPE_SHARED || t->type.scope == IR_SCOPE_SHARED_DYN;
    if (shared && t->type.rank == 1 && t->type.dtype == (num_dtype)element.dtype &&
        ir_is_int(t->type.shape[0], &extent) && extent >= warps)
        return t;
    script_error(e, "T0248", call->place[index],
                 "the scratch is %lld elements of %s in shared memory, one per warp", (long long)warps,
                 num_dtype_name((num_dtype)element.dtype));
    return NULL;
}

script_value script_word_cta_reduce(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    size_t next = call->word->data < 0 ? 2 : 1;
    const char *name = "";
    int64_t warps;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (call->word->data < 0) {
        if (!script_constant_string(e, call->value[1], &name, call->place[1], "the operation of a reduction"))
            return script_poison();
        op = strcmp(name, "sum") == 0 ? IR_ADD : strcmp(name, "max") == 0 ? IR_MAX : IR_MIN;
        if (op == IR_MIN && strcmp(name, "min") != 0) {
            script_error(e, "T0248", call->place[1], "a reduction by '%s'; sum, max and min are possible",
                         name);
            return script_poison();
        }
    }
    if (!script_constant_int(e, call->value[next], &warps, call->place[next], "the number of warps"))
        return script_poison();
    if (warps < 1 || warps > 32 || (warps & (warps - 1))) {
        script_error(e, "T0248", call->place[next], "%lld warps; a power of two up to 32 is possible",
                     (long long)warps);
        return script_poison();
    }
    const ir_expr *x = script_to_expr(e, call->value[0], call->place[0]);
    if (!x || x->type.kind != IR_TYPE_PRIM || x->type.lanes != 1 ||
        num_dtype_bits((num_dtype)x->type.dtype) < 16) {
        if (x)
            script_error(e, "T0248", call->place[0], "%s does not reduce %s", call->word->path,
                         script_type_name(e, x->type));
        return script_poison();
    }
    ir_tensor *scratch = scratch_of(e, call, next + 1, x->type, warps);
    if (!scratch)
        return script_poison();
    ir_module *module = e->module;
    x = butterfly(e, op, x, 32, call->span);
    const ir_expr *lane = ir_query(module, IR_LANE_ID, 0), *zero = ir_int(module, NUM_DTYPE_I32, 0);
    ir_stmt *branch = ir_stmt_create(module, IR_STMT_IF, e->statement), *outer = e->block;
    branch->as.branch.condition = ir_binary(module, IR_EQ, lane, zero);
    branch->as.branch.then_body = ir_stmt_create(module, IR_STMT_BLOCK, e->statement);
    script_emit(e, branch);
    e->block = branch->as.branch.then_body;
    const ir_expr **at = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1),
                  **mine = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
    at[0] = ir_query(module, IR_WARP_ID, 0);
    script_store(e, scratch, at, 1, script_expr(x), call->span, call->span);
    e->block = outer;
    barrier(e);
    mine[0] = ir_binary(module, IR_BITAND, lane, ir_int(module, NUM_DTYPE_I32, warps - 1));
    x = butterfly(e, op, ir_load(module, scratch, mine, 1), warps, call->span);
    barrier(e);
    return script_expr(x);
}
