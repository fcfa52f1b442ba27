/* SPDX-License-Identifier: Apache-2.0
 * Element access: indices, regions, vector indices, loads, stores with their implicit conversions. */
#include "layout/query.h"
#include "script/script_evaluate.h"
#include <string.h>

ir_tensor *script_need_tensor(script_evaluator *e, script_value v, base_span span, const char *what) {
    if (v.kind == SCRIPT_VALUE_TENSOR)
        return v.as.tensor;
    if (!script_is_poison(v))
        script_error(e, "T0205", span, "%s must be a tensor, not %s", what, script_value_name(e->arena, v));
    return NULL;
}

/* Elements of a tensor that is spread over threads are reached through a view of this thread's slots only. */
static bool is_addressable(script_evaluator *e, const ir_tensor *tensor, base_span span) {
    if (tensor->type.scope == IR_SCOPE_TMEM) {
        base_diagnostic *d = script_error(
            e, "T0524", span, "'%s' is tensor memory, which no load or store reaches", tensor->name);
        base_help(e->diagnostics, d,
                  "read it with tcgen05.ld, write it with tcgen05.st, tcgen05.mma or tcgen05.cp; an element "
                  "names an "
                  "address there: %s.ptr_to([i, j])",
                  tensor->name);
        return false;
    }
    if (!tensor->type.layout || !layout_has_thread_axis(tensor->type.layout))
        return true;
    base_diagnostic *d = script_error(
        e, "T0217", span, "'%s' is distributed over threads: it has no element here", tensor->name);
    base_help(e->diagnostics, d, "index this thread's slots: %s.view(slots, layout=\"default\")[...]",
              tensor->name);
    return false;
}

const ir_expr *script_load_single(script_evaluator *e, ir_tensor *tensor) {
    const ir_expr *zero = ir_int(e->module, NUM_DTYPE_I32, 0);
    return ir_load(e->module, tensor, &zero, 1);
}

static const ir_expr *ramp(script_evaluator *e, const ir_expr *base, int64_t stride, int64_t lanes) {
    const ir_expr *args[2] = {base, ir_int(e->module, (num_dtype)base->type.dtype, stride)};
    return ir_make(e->module, IR_RAMP, ir_type_prim((num_dtype)base->type.dtype, (unsigned)lanes), args, 2);
}

/* ---- lengths ---- */

enum { MAX_TERMS = 16, SMALL = 1000 }; /* nodes, shared ones counted again */
typedef struct linear_terms {
    const ir_expr *value[MAX_TERMS];
    int64_t factor[MAX_TERMS], constant;
    uint32_t count;
} linear_terms;

static bool add_linear(linear_terms *t, const ir_expr *x, int64_t factor) {
    int64_t c;
    if (ir_is_int(x, &c))
        return !__builtin_mul_overflow(c, factor, &c) &&
               !__builtin_add_overflow(t->constant, c, &t->constant);
    if (x->op == IR_ADD || x->op == IR_SUB)
        return add_linear(t, x->args[0], factor) &&
               add_linear(t, x->args[1], x->op == IR_ADD ? factor : -factor);
    if (x->op == IR_MUL && ir_is_int(x->args[1], &c) && !__builtin_mul_overflow(c, factor, &c) &&
        c != INT64_MIN)
        return add_linear(t, x->args[0], c);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->value[i] == x)
            return !__builtin_add_overflow(t->factor[i], factor, &t->factor[i]) && t->factor[i] != INT64_MIN;
    if (t->count == MAX_TERMS)
        return false;
    t->value[t->count] = x;
    t->factor[t->count++] = factor;
    return true;
}

static void visit_read(void *user, const ir_expr *e) {
    bool *steady = user;
    if (e->op == IR_LOAD ? e->at.tensor->type.scope != IR_SCOPE_LOCAL
                         : (ir_op_information(e->op)->flags & IR_FLAG_READS) != 0)
        *steady = false;
}

/* Two reads beside each other give the same: nothing is read, or what only this thread can change. */
static bool is_steady(const ir_expr *e) {
    bool steady = !ir_expr_has_effect(e);
    if (steady && ir_expr_reads(e))
        ir_expr_visit(e, visit_read, &steady);
    return steady;
}

const ir_expr *script_length(script_evaluator *e, const ir_expr *stop, const ir_expr *start, base_span span) {
    linear_terms t = {.count = 0};
    const ir_expr *a, *b;
    int64_t stop_value, start_value;
    if (!script_promote(e, script_expr(stop), script_expr(start), &a, &b, span))
        return NULL;
    /* k + 4 - k is 4, wrapped or not; what the memory holds may change between two reads */
    bool constant = a->size < SMALL && b->size < SMALL && is_steady(a) && is_steady(b) &&
                    add_linear(&t, a, 1) && add_linear(&t, b, -1);
    for (uint32_t i = 0; i < t.count; i++)
        constant = constant && t.factor[i] == 0;
    if (constant && num_wrap((num_dtype)a->type.dtype, t.constant) == t.constant)
        return ir_int(e->module, (num_dtype)a->type.dtype, t.constant);
    /* through lets of constants */
    if (script_expr_constant(e, a, &stop_value) && script_expr_constant(e, b, &start_value))
        return ir_binary(e->module, IR_SUB, ir_int(e->module, (num_dtype)a->type.dtype, stop_value),
                         ir_int(e->module, (num_dtype)b->type.dtype, start_value));
    return ir_binary(e->module, IR_SUB, a, b);
}

/* ---- one axis of an index ---- */

typedef struct axis_index {
    const ir_expr *start, *extent;
    bool is_range;
} axis_index;

static bool read_slice(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, script_value slice,
                       base_span span, axis_index *out) {
    script_value *part = slice.as.list->items.items;
    int64_t step = 1, extent;
    const ir_expr *stop;
    out->start = part[0].kind == SCRIPT_VALUE_NONE
                     ? ir_int(e->module, NUM_DTYPE_I32, 0)
                     : script_to_index(e, part[0], span, "the start of a slice");
    if (part[1].kind == SCRIPT_VALUE_NONE)
        stop = axis < tensor->type.rank ? tensor->type.shape[axis] : NULL;
    else
        stop = script_to_index(e, part[1], span, "the end of a slice");
    if (part[2].kind != SCRIPT_VALUE_NONE &&
        !script_constant_int(e, part[2], &step, span, "the step of a slice"))
        return false;
    if (!out->start || !stop || !(out->extent = script_length(e, stop, out->start, span)))
        return false;
    out->is_range = true;
    if (step == 1)
        return true;
    if (step < 1 || !script_expr_constant(e, out->extent, &extent)) {
        script_error(e, "T0210", span, "a slice with a step needs a constant length and a positive step");
        return false;
    }
    extent = (extent + step - 1) / step;
    if (extent < 2 || extent > 64) {
        script_error(e, "T0234", span, "a strided slice is a vector of 2 to 64 lanes, not %lld",
                     (long long)extent);
        return false;
    }
    out->start = ramp(e, out->start, step, extent);
    out->extent = NULL;
    out->is_range = false;
    return true;
}

static bool read_axis(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, script_value v,
                      base_span span, axis_index *out) {
    int64_t constant;
    *out = (axis_index){NULL, NULL, false};
    if (v.kind == SCRIPT_VALUE_SLICE)
        return read_slice(e, tensor, axis, v, span, out);
    if (script_value_integer(v, &constant) && constant < 0) {
        base_diagnostic *d = script_error(e, "T0216", span, "index %lld of '%s': indices count from 0",
                                          (long long)constant, tensor->name);
        base_help(e->diagnostics, d, "a negative index does not count from the end");
        return false;
    }
    out->start = script_to_index(e, v, span, "an index");
    return out->start != NULL;
}

bool script_indices(script_evaluator *e, ir_tensor *tensor, script_value index, base_span span,
                    const ir_expr *const **indices, script_value *region) {
    script_value single = index;
    const script_value *items = &single;
    size_t count = 1;
    uint32_t rank = tensor->type.rank;
    *region = script_none();
    if (script_is_poison(index))
        return false;
    if (index.kind == SCRIPT_VALUE_TUPLE || index.kind == SCRIPT_VALUE_LIST) {
        items = index.as.list->items.items;
        count = index.as.list->items.count;
    }
    script_value zero = script_int(0);
    if (count == 0 && script_is_single(tensor)) { /* t[()] */
        items = &zero;
        count = 1;
    }
    if (count > rank || count == 0) {
        script_error(e, "T0211", span, "'%s' has %u ax%s, the index has %zu", tensor->name, rank,
                     rank == 1 ? "is" : "es", count);
        return false;
    }
    const ir_expr **starts = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank);
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank);
    bool *ranges = BASE_NEW_ARRAY(e->arena, bool, rank), any = false, good = true;
    for (uint32_t i = 0; i < rank; i++) {
        axis_index axis = {ir_int(e->module, NUM_DTYPE_I32, 0), tensor->type.shape[i], true};
        if (i < count && !read_axis(e, tensor, i, items[i], span, &axis)) {
            good = false;
            continue;
        }
        starts[i] = axis.start;
        extents[i] = axis.extent ? axis.extent : ir_int(e->module, NUM_DTYPE_I32, 1);
        ranges[i] = axis.is_range;
        any |= axis.is_range;
        if (axis.start->type.lanes > 1 && i + 1 != rank) {
            script_error(e, "T0234", span,
                         "a vector index of '%s' stands on axis %u; only the last axis takes one",
                         tensor->name, i);
            good = false;
        }
    }
    if (!good)
        return false;
    *indices = starts;
    if (any) {
        region->kind = SCRIPT_VALUE_REGION;
        region->as.region = BASE_NEW(e->arena, script_region);
        *region->as.region = (script_region){tensor, rank, starts, extents, ranges};
    }
    return true;
}

/* A region of one row with a constant length is a vector. */
bool script_region_indices(script_evaluator *e, script_region *region, base_span span,
                           const ir_expr *const **indices) {
    int64_t lanes = 1;
    uint32_t last = region->count - 1;
    bool good = region->is_range[last] && region->starts[last]->type.lanes == 1 &&
                script_expr_constant(e, region->extents[last], &lanes) && lanes >= 1 && lanes <= 64;
    for (uint32_t i = 0; i < last; i++)
        good &= !region->is_range[i];
    if (!good) {
        base_diagnostic *d =
            script_error(e, "T0215", span, "a region of '%s' is not a value", region->tensor->name);
        base_help(e->diagnostics, d,
                  "give every axis an index; a vector is a constant slice of the last axis only");
        return false;
    }
    const ir_expr **list = BASE_NEW_ARRAY(e->arena, const ir_expr *, region->count);
    memcpy(list, region->starts, region->count * sizeof(*list));
    if (lanes > 1)
        list[last] = ramp(e, list[last], 1, lanes);
    *indices = list;
    return true;
}

const ir_expr *script_region_load(script_evaluator *e, script_region *region, base_span span) {
    const ir_expr *const *indices;
    if (!script_region_indices(e, region, span, &indices) || !is_addressable(e, region->tensor, span))
        return NULL;
    return ir_load(e->module, region->tensor, indices, region->count);
}

script_value script_tensor_item(script_evaluator *e, ir_tensor *tensor, script_value index, base_span span,
                                base_span index_span) {
    const ir_expr *const *indices;
    script_value region;
    if (!script_indices(e, tensor, index, index_span, &indices, &region))
        return script_poison();
    if (region.kind == SCRIPT_VALUE_REGION)
        return region;
    if (!is_addressable(e, tensor, span))
        return script_poison();
    return script_expr(ir_load(e->module, tensor, indices, tensor->type.rank));
}

/* ---- stores ---- */

/* The layout of the axes whose index varies, in storage alone: copies (R) do not count, and neither do
 * threads, which have storage each. NULL: nothing to ask. */
static const layout_tile *varying_layout(script_evaluator *e, const ir_tensor *tensor,
                                         const ir_expr *const *indices, int64_t *shape, uint32_t *axes,
                                         uint32_t *rank) {
    const layout_tile *layout = tensor->type.layout;
    int64_t full[16], constant;
    uint32_t separators[17], count = 0;
    layout_error error = {NULL};
    if (!layout || tensor->type.rank > 16 || !script_constant_shape(e, &tensor->type, full))
        return NULL;
    const layout_tile *group = layout_group(e->arena, layout, full, tensor->type.rank, separators, &error);
    if (!group)
        return NULL;
    layout_iter *iters = BASE_NEW_ARRAY(e->arena, layout_iter, group->shard_count + 1);
    *rank = 0;
    for (uint32_t d = 0; d < tensor->type.rank; d++) {
        if (full[d] == 1 || script_expr_constant(e, indices[d], &constant))
            continue;
        for (uint32_t i = separators[d]; i < separators[d + 1]; i++)
            iters[count++] = group->shard[i];
        axes[*rank] = d;
        shape[(*rank)++] = full[d];
    }
    return count ? layout_make(e->arena, iters, count, NULL, 0, NULL, 0, &error) : NULL;
}

/* Says once per tensor when two elements that a store can reach have one place. */
static void check_collision(script_evaluator *e, const ir_tensor *tensor, const ir_expr *const *indices,
                            base_span span) {
    int64_t shape[16], first[16], second[16], at[2][16] = {{0}}, constant;
    uint32_t axes[16], rank;
    layout_collision collision;
    layout_error error = {NULL};
    if (!tensor->type.layout || base_map_get(e->collisions, BASE_KEY(tensor)))
        return;
    const layout_tile *layout = varying_layout(e, tensor, indices, shape, axes, &rank);
    const layout_map *map = layout ? layout_map_make(e->arena, layout, shape, rank, &error) : NULL;
    if (!map || layout_injective(map, &collision) != LAYOUT_NO)
        return;
    base_map_set(e->collisions, BASE_KEY(tensor), e);
    layout_map_coordinate(map, collision.first, first);
    layout_map_coordinate(map, collision.second, second);
    for (uint32_t d = 0; d < tensor->type.rank; d++)
        if (script_expr_constant(e, indices[d], &constant))
            at[0][d] = at[1][d] = constant;
    for (uint32_t i = 0; i < rank; i++) {
        at[0][axes[i]] = first[i];
        at[1][axes[i]] = second[i];
    }
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0275", span,
                    "the layout %s of '%s' puts %s and %s at one place: a store to one overwrites the other",
                    layout_text_of(e->arena, tensor->type.layout), tensor->name,
                    layout_shape_text(e->arena, at[0], tensor->type.rank),
                    layout_shape_text(e->arena, at[1], tensor->type.rank));
    base_note(e->diagnostics, d, tensor->span, "'%s' is declared here", tensor->name);
    base_help(e->diagnostics, d, "strides that keep the elements apart; copies of every element are R[...]");
}

static void warn_precision(script_evaluator *e, const ir_tensor *tensor, ir_type from, ir_type to,
                           base_span span) {
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0235", span,
                    "kernel '%s' stores %s into '%s' of %s: the value is truncated toward zero",
                    e->function->name, script_type_name(e, from), tensor->name, script_type_name(e, to));
    base_help(e->diagnostics, d, "write T.cast(value, \"%s\") if this is meant",
              num_dtype_name((num_dtype)to.dtype));
}

void script_store(script_evaluator *e, ir_tensor *tensor, const ir_expr *const *indices, uint32_t count,
                  script_value value, base_span target_span, base_span value_span) {
    if (script_is_poison(value) || !script_need_kernel(e, target_span, "a store") ||
        !is_addressable(e, tensor, target_span))
        return;
    unsigned lanes = tensor->type.lanes * indices[count - 1]->type.lanes;
    ir_type element = ir_type_prim(tensor->type.dtype, lanes);
    bool is_float = value.kind == SCRIPT_VALUE_FLOAT;
    ir_type from = ir_type_prim(NUM_DTYPE_F32, 1);
    if (script_is_ir(value)) {
        const ir_expr *x = script_to_expr(e, value, value_span);
        if (!x)
            return;
        from = x->type;
        is_float = ir_type_is_float(from);
        value = script_expr(x);
        if (from.kind == IR_TYPE_PRIM && from.lanes != 1 && from.lanes != lanes) {
            script_error(e, "T0234", target_span,
                         "a value of %u lanes into %u lanes of '%s' (%u per element)", (unsigned)from.lanes,
                         lanes, tensor->name, (unsigned)tensor->type.lanes);
            return;
        }
    }
    const ir_expr *x = script_to_type(e, value, element, value_span);
    if (!x)
        return;
    if (is_float && !num_dtype_is_float(tensor->type.dtype) && tensor->type.dtype != NUM_DTYPE_BOOL)
        warn_precision(e, tensor, ir_type_scalar(from), ir_type_scalar(element), value_span);
    check_collision(e, tensor, indices, target_span);
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_STORE, e->statement);
    statement->as.store.tensor = tensor;
    statement->as.store.count = count;
    statement->as.store.indices = base_arena_copy(e->module->arena, indices, count * sizeof(*indices));
    statement->as.store.value = x;
    script_emit(e, statement);
}
