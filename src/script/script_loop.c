/* SPDX-License-Identifier: Apache-2.0
 * Loops of a kernel: the words that make them (serial, unroll, vectorized, grid, range) and the for
 * statement. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- the words ---- */

static bool loop_dtype(script_evaluator *e, const script_call *call, num_dtype *dtype) {
    const script_value *v = script_argument_of(call, "dtype");
    ir_type type;
    *dtype = NUM_DTYPE_NONE;
    if (!v)
        return true;
    if (!script_to_dtype(e, *v, &type, script_argument_span(call, "dtype")))
        return false;
    if (type.lanes != 1 || (type.dtype != NUM_DTYPE_I32 && type.dtype != NUM_DTYPE_U32)) {
        script_error(e, "T0244", script_argument_span(call, "dtype"),
                     "a loop variable is int32 or uint32, not %s", script_type_name(e, type));
        return false;
    }
    *dtype = (num_dtype)type.dtype;
    return true;
}

/* Both bounds in one dtype; the extent is what lies between them. */
static bool read_bounds(script_evaluator *e, script_value start, script_value stop, num_dtype *dtype,
                        base_span span, script_loop_axis *axis) {
    const ir_expr *a = script_to_index(e, start, span, "the start of a loop");
    const ir_expr *b = script_to_index(e, stop, span, "the end of a loop");
    if (!a || !b || !script_promote(e, start, stop, &a, &b, span))
        return false;
    if (!ir_type_is_integer(a->type) || a->type.lanes != 1) {
        script_error(e, "T0212", span, "the bounds of a loop are integers, not %s",
                     script_type_name(e, a->type));
        return false;
    }
    num_dtype common = (num_dtype)a->type.dtype;
    if (*dtype == NUM_DTYPE_NONE)
        *dtype = num_dtype_bits(common) < 32 ? NUM_DTYPE_I32 : common;
    a = script_cast(e, a, ir_type_prim(*dtype, 1), span);
    b = script_cast(e, b, ir_type_prim(*dtype, 1), span);
    axis->start = a;
    axis->extent = ir_binary(e->module, IR_SUB, b, a);
    return true;
}

static bool read_step(script_evaluator *e, script_value v, base_span span, int64_t *step) {
    if (!script_constant_int(e, v, step, span, "the step of a loop"))
        return false;
    if (*step < 1 || *step > INT32_MAX) {
        base_diagnostic *d =
            script_error(e, "T0243", span, "a step of %lld: a loop counts upwards", (long long)*step);
        base_help(e->diagnostics, d, "count upwards and compute the falling index inside");
        return false;
    }
    return true;
}

static script_value loop_value(script_evaluator *e, ir_loop_kind kind, uint32_t count) {
    script_value v = {.kind = SCRIPT_VALUE_LOOP};
    v.as.loop = BASE_NEW(e->arena, script_loop);
    v.as.loop->kind = kind;
    v.as.loop->step = 1;
    v.as.loop->count = count;
    v.as.loop->axes = BASE_NEW_ARRAY(e->arena, script_loop_axis, count ? count : 1);
    return v;
}

/* unroll=True asks for #pragma unroll, k for #pragma unroll k, False for #pragma unroll 1. */
static bool read_unroll(script_evaluator *e, const script_call *call, script_loop *loop) {
    const script_value *v = script_argument_of(call, "unroll");
    if (!v)
        return true;
    base_span span = script_argument_span(call, "unroll");
    if (v->kind == SCRIPT_VALUE_BOOL) {
        loop->kind = IR_LOOP_PRAGMA;
        loop->factor = v->as.boolean ? 0 : 1;
        return true;
    }
    if (!script_constant_int(e, *v, &loop->factor, span, "an unroll factor"))
        return false;
    if (loop->factor < 1 || loop->factor > INT32_MAX) {
        script_error(e, "T0241", span, "an unroll factor of %lld; it is 1 or more", (long long)loop->factor);
        return false;
    }
    loop->kind = IR_LOOP_PRAGMA;
    return true;
}

script_value script_word_loop(script_evaluator *e, const script_call *call) {
    ir_loop_kind kind = (ir_loop_kind)call->word->data;
    script_left_out(e, call, "annotations");
    script_value loop = loop_value(e, kind, 1);
    const script_value *stop = script_argument_of(call, "stop"), *step = script_argument_of(call, "step");
    if (!loop_dtype(e, call, &loop.as.loop->dtype) ||
        !read_bounds(e, stop ? call->value[0] : script_int(0), stop ? *stop : call->value[0],
                     &loop.as.loop->dtype, call->span, &loop.as.loop->axes[0]))
        return script_poison();
    if (step && !read_step(e, *step, script_argument_span(call, "step"), &loop.as.loop->step))
        return script_poison();
    if (kind == IR_LOOP_SERIAL && !read_unroll(e, call, loop.as.loop))
        return script_poison();
    return loop;
}

script_value script_word_grid(script_evaluator *e, const script_call *call) {
    size_t count = call->rest.items.count;
    num_dtype dtype;
    if (count == 0 || count > 16) {
        script_error(e, "T0203", call->span, "grid takes 1 to 16 extents, not %zu", count);
        return script_poison();
    }
    if (!loop_dtype(e, call, &dtype))
        return script_poison();
    script_value loop = loop_value(e, IR_LOOP_SERIAL, (uint32_t)count);
    loop.as.loop->is_grid = true;
    for (size_t i = 0; i < count; i++) {
        script_value v = call->rest.items.items[i].value, start = script_int(0);
        if (v.kind == SCRIPT_VALUE_TUPLE && v.as.list->items.count == 2) { /* (start, extent) */
            start = v.as.list->items.items[0];
            v = script_binary(e, SCRIPT_OP_ADD, start, v.as.list->items.items[1], call->span);
        }
        if (!read_bounds(e, start, v, &dtype, call->rest.items.items[i].span, &loop.as.loop->axes[i]))
            return script_poison();
    }
    loop.as.loop->dtype = dtype;
    return loop;
}

static bool range_loop(script_evaluator *e, script_value range, base_span span, script_value *loop) {
    script_value *part = range.as.list->items.items;
    *loop = loop_value(e, IR_LOOP_SERIAL, 1);
    return read_bounds(e, part[0], part[1], &loop->as.loop->dtype, span, &loop->as.loop->axes[0]) &&
           read_step(e, part[2], span, &loop->as.loop->step);
}

/* ---- the statement ---- */

static void shadow_warning(script_evaluator *e, const script_node *target) {
    script_binding *old = script_find_local_name(e, target->text);
    if (!old || !old->span.file)
        return;
    if (old->value.kind != SCRIPT_VALUE_TENSOR && old->kind != SCRIPT_BIND_LET &&
        old->kind != SCRIPT_BIND_PARAMETER && old->kind != SCRIPT_BIND_LOOP)
        return;
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0226", target->span,
                    "the loop variable '%s' hides the '%s' from before; inside the loop it is a "
                    "new value that cannot be assigned",
                    target->text, target->text);
    base_note(e->diagnostics, d, old->span, "'%s' from before is here", target->text);
}

static ir_stmt *open_loop(script_evaluator *e, const script_node *node, const script_node *target,
                          const script_loop *loop, uint32_t axis) {
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_FOR, e->statement);
    ir_type type = ir_type_prim(loop->dtype, 1);
    const char *name = target->kind == SCRIPT_NAME ? target->text : "i";
    ir_var *var = ir_var_create(e->module, name, type, IR_VAR_LOOP, target->span);
    statement->as.loop.var = var;
    statement->as.loop.start = loop->axes[axis].start;
    statement->as.loop.extent = loop->axes[axis].extent;
    statement->as.loop.step = ir_int(e->module, loop->dtype, loop->step);
    statement->as.loop.kind = loop->kind;
    statement->as.loop.factor = loop->factor;
    statement->as.loop.body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    shadow_warning(e, target);
    e->block = statement->as.loop.body;
    script_scope_open(e, false);
    script_bind(e, name, script_expr(ir_var_use(e->module, var)), SCRIPT_BIND_LOOP, target->span);
    return statement;
}

static bool check_loop(script_evaluator *e, const script_loop *loop, base_span span) {
    int64_t extent;
    if (loop->kind != IR_LOOP_UNROLL)
        return true;
    if (!script_expr_constant(e, loop->axes[0].extent, &extent)) {
        base_diagnostic *d =
            script_error(e, "T0241", span, "an unrolled loop needs a constant number of rounds");
        base_help(e->diagnostics, d, "serial(n, unroll=True) leaves unrolling to the C compiler");
        return false;
    }
    if (extent / loop->step > (1 << 16)) {
        script_error(e, "T0241", span, "an unrolled loop of over %d rounds", 1 << 16);
        return false;
    }
    loop->axes[0].extent = ir_int(e->module, loop->dtype, extent < 0 ? 0 : extent);
    return true;
}

static bool targets_of(script_evaluator *e, const script_node *target, const script_loop *loop,
                       const script_node *const **targets) {
    if (target->kind == SCRIPT_NAME && loop->count == 1) {
        *targets = (const script_node *const *)base_arena_copy(e->arena, &target, sizeof(target));
        return true;
    }
    bool many = target->kind == SCRIPT_TUPLE || target->kind == SCRIPT_LIST;
    if (!many || target->items.count != loop->count) {
        script_error(e, "T0240", target->span, "the loop gives %u value%s", loop->count,
                     loop->count == 1 ? ": its target is one name" : "s, one for each name");
        return false;
    }
    for (size_t i = 0; i < target->items.count; i++)
        if (target->items.items[i]->kind != SCRIPT_NAME) {
            script_error(e, "T0240", target->items.items[i]->span, "the target of a loop is a name");
            return false;
        }
    *targets = (const script_node *const *)target->items.items;
    return true;
}

void script_for_kernel(script_evaluator *e, const script_node *node) {
    script_value iterable = script_expression(e, node->b);
    if (iterable.kind == SCRIPT_VALUE_RANGE && !range_loop(e, iterable, node->b->span, &iterable))
        iterable = script_poison();
    if (node->orelse.count > 0)
        script_not_supported(e, node->orelse.items[0]->span, "else of a loop");
    if (iterable.kind != SCRIPT_VALUE_LOOP) {
        if (!script_is_poison(iterable)) {
            base_diagnostic *d = script_error(e, "T0240", node->b->span, "a kernel cannot loop over %s",
                                              script_value_name(e->arena, iterable));
            base_help(e->diagnostics, d, "range, T.serial, T.unroll, T.vectorized and T.grid make loops");
        }
        /* the body still shows its own errors */
        script_scope_open(e, false);
        if (node->a->kind == SCRIPT_NAME)
            script_bind(e, node->a->text, script_poison(), SCRIPT_BIND_LOOP, node->a->span);
        ir_stmt *outer = e->block, *scratch = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
        e->block = scratch;
        base_vector_push(e->arena, &e->nest, SCRIPT_NEST_SERIAL);
        script_statements(e, &node->body);
        e->nest.count--;
        e->block = outer;
        script_scope_close(e);
        return;
    }
    script_for_loop(e, node, iterable.as.loop);
}

void script_for_loop(script_evaluator *e, const script_node *node, const script_loop *loop) {
    const script_node *const *targets;
    if (loop->bound) {
        script_for_bound(e, node, loop);
        return;
    }
    if (!check_loop(e, loop, node->b->span) || !targets_of(e, node->a, loop, &targets))
        return;
    if (!script_deeper(e, loop->count, node->b->span))
        return;
    for (uint32_t i = 0; i < loop->count; i++) { /* bounds are read once, whatever the body stores */
        script_loop_axis *axis = &loop->axes[i];
        if (ir_expr_reads(axis->start))
            axis->start = script_make_let(e, axis->start, node->b->span).as.expr;
        if (ir_expr_reads(axis->extent))
            axis->extent = script_make_let(e, axis->extent, node->b->span).as.expr;
    }
    ir_stmt *outer = e->block;
    for (uint32_t i = 0; i < loop->count; i++)
        open_loop(e, node, targets[i], loop, i);
    base_vector_push(e->arena, &e->nest,
                     loop->kind == IR_LOOP_UNROLL || loop->kind == IR_LOOP_VECTORIZED ? SCRIPT_NEST_UNROLL
                                                                                      : SCRIPT_NEST_SERIAL);
    script_statements(e, &node->body);
    e->nest.count--;
    e->ir_depth -= loop->count;
    for (uint32_t i = 0; i < loop->count; i++)
        script_scope_close(e);
    e->block = outer;
}
