/* SPDX-License-Identifier: Apache-2.0
 * Layouts as the language writes them: S[..], R[..], offsets, n @ axis, TileLayout, and apply on constant and
 * on run-time coordinates. The algebra is layout/'s. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_ITERS = 32 };

/* ---- parts ---- */

static bool axis_by_name(script_evaluator *e, const char *name, layout_axis *axis, base_span span) {
    if (layout_axis_find(name, strlen(name), axis))
        return true;
    const char *names[LAYOUT_AXIS_COUNT];
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
        names[i] = layout_axis_name((layout_axis)i);
    base_diagnostic *d = script_error(e, "T0214", span, "'%s' is no layout axis", name);
    const char *near = script_nearest(name, names, LAYOUT_AXIS_COUNT);
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
    return false;
}

/* A stride or an offset: 4, 4 @ laneid, laneid, "laneid". */
static bool read_term(script_evaluator *e, script_value v, layout_axis *axis, int64_t *value,
                      base_span span) {
    *axis = LAYOUT_AXIS_M;
    *value = 1;
    switch (v.kind) {
    case SCRIPT_VALUE_AXIS_TERM:
        *axis = v.as.term.axis;
        *value = v.as.term.value;
        return true;
    case SCRIPT_VALUE_AXIS:
        *axis = v.as.axis;
        return true;
    case SCRIPT_VALUE_STRING:
        return axis_by_name(e, v.as.string.text, axis, span);
    default:
        return script_constant_int(e, v, value, span, "a stride of a layout");
    }
}

/* An axis alone, or its name. */
bool script_layout_axis(script_evaluator *e, script_value v, layout_axis *axis, base_span span) {
    if (v.kind == SCRIPT_VALUE_AXIS) {
        *axis = v.as.axis;
        return true;
    }
    if (v.kind == SCRIPT_VALUE_STRING)
        return axis_by_name(e, v.as.string.text, axis, span);
    if (!script_is_poison(v))
        script_error(e, "T0205", span, "an axis of a layout is wanted, not %s",
                     script_value_name(e->arena, v));
    return false;
}

static void as_items(script_value *v, const script_value **items, size_t *count) {
    bool many = v->kind == SCRIPT_VALUE_TUPLE || v->kind == SCRIPT_VALUE_LIST;
    *items = many ? v->as.list->items.items : v;
    *count = many ? v->as.list->items.count : 1;
}

script_value script_layout_item(script_evaluator *e, const script_dialect_word *word, script_value index,
                                base_span span) {
    bool is_replica = word->data == 1, has_strides = index.kind == SCRIPT_VALUE_SLICE;
    script_value shape = index, strides = script_none();
    layout_iter iters[MAX_ITERS];
    script_layout_symbol symbols[MAX_ITERS] = {{NULL, NULL}};
    const ir_expr *inner = NULL; /* the dense step so far, when it is no constant */
    bool any = false;
    size_t count, stride_count;
    if (has_strides) {
        shape = index.as.list->items.items[0];
        strides = index.as.list->items.items[1];
        if (shape.kind == SCRIPT_VALUE_NONE || strides.kind == SCRIPT_VALUE_NONE) {
            script_error(e, "T0214", span, "%s[extents : strides] needs both sides of the colon", word->path);
            return script_poison();
        }
    }
    const script_value *extents, *steps;
    as_items(&shape, &extents, &count);
    as_items(&strides, &steps, &stride_count);
    if (count == 0 || count > MAX_ITERS) {
        script_error(e, "T0214", span, "a layout part of %zu extents; 1 to %d are possible", count,
                     MAX_ITERS);
        return script_poison();
    }
    if (has_strides && stride_count != count) {
        script_error(e, "T0214", span, "%zu extents and %zu strides: there is one stride per extent", count,
                     stride_count);
        return script_poison();
    }
    int64_t dense = 1;
    for (size_t i = count; i-- > 0;) {
        size_t errors = base_diagnostics_errors(e->diagnostics);
        iters[i] = (layout_iter){1, dense, LAYOUT_AXIS_M};
        symbols[i].extent = script_layout_symbol_of(e, extents[i], span, "an extent of a layout");
        symbols[i].stride =
            has_strides ? script_layout_symbol_of(e, steps[i], span, "a stride of a layout") : inner;
        any |= symbols[i].extent || symbols[i].stride;
        if (base_diagnostics_errors(e->diagnostics) > errors ||
            (!symbols[i].extent &&
             !script_constant_int(e, extents[i], &iters[i].extent, span, "an extent of a layout")) ||
            (has_strides && !symbols[i].stride &&
             !read_term(e, steps[i], &iters[i].axis, &iters[i].stride, span)))
            return script_poison();
        if (!has_strides && (inner || symbols[i].extent)) {
            const ir_expr *x, *y;
            script_value step = inner ? script_expr(inner) : script_int(dense);
            script_value extent =
                symbols[i].extent ? script_expr(symbols[i].extent) : script_int(iters[i].extent);
            if (!script_promote(e, extent, step, &x, &y, span))
                return script_poison();
            inner = ir_binary(e->module, IR_MUL, x, y);
        }
        if (iters[i].extent < 1) {
            script_error(e, "T0214", span, "extent %zu of a layout is %lld: extents are positive", i,
                         (long long)iters[i].extent);
            return script_poison();
        }
        if (__builtin_mul_overflow(dense, iters[i].extent, &dense)) {
            script_error(e, "T0214", span, "extent %zu, %lld, makes a layout of over 2^63 coordinates", i,
                         (long long)iters[i].extent);
            return script_poison();
        }
    }
    script_layout_spec *spec = BASE_NEW(e->arena, script_layout_spec);
    if (any && is_replica) {
        script_error(e, "T0210", span, "replicas have constant extents and strides");
        return script_poison();
    }
    for (size_t i = 0; i < count; i++) {
        if (any)
            base_vector_push(e->arena, &spec->symbols, symbols[i]);
        if (is_replica)
            base_vector_push(e->arena, &spec->replica, iters[i]);
        else
            base_vector_push(e->arena, &spec->shard, iters[i]);
    }
    return (script_value){.kind = SCRIPT_VALUE_LAYOUT_SPEC, .as.spec = spec};
}

/* ---- + and @ ---- */

static script_value at_axis(script_evaluator *e, script_value a, script_value b, base_span span) {
    script_value v = {.kind = SCRIPT_VALUE_AXIS_TERM};
    if (b.kind == SCRIPT_VALUE_AXIS)
        v.as.term.axis = b.as.axis;
    else if (!axis_by_name(e, b.as.string.text, &v.as.term.axis, span))
        return script_poison();
    if (!script_constant_int(e, a, &v.as.term.value, span, "a stride or offset on an axis"))
        return script_poison();
    return v;
}

static bool add_offset(script_evaluator *e, script_layout_spec *spec, script_value v, base_span span) {
    layout_axis axis;
    int64_t value;
    size_t errors = base_diagnostics_errors(e->diagnostics);
    const ir_expr *symbol = script_layout_symbol_of(e, v, span, "an origin of a layout"), *x, *y;
    if (symbol && spec->origin &&
        script_promote(e, script_expr(spec->origin), script_expr(symbol), &x, &y, span))
        symbol = ir_binary(e->module, IR_ADD, x, y);
    if (symbol) {
        spec->origin = symbol;
        return true;
    }
    if (base_diagnostics_errors(e->diagnostics) > errors || !read_term(e, v, &axis, &value, span))
        return false;
    if (__builtin_add_overflow(spec->offset[axis], value, &spec->offset[axis])) {
        script_error(e, "T0214", span, "an offset of over 2^63 in a layout");
        return false;
    }
    spec->offset_axes |= 1u << axis;
    return true;
}

static script_value add_parts(script_evaluator *e, script_value a, script_value b, base_span span) {
    if (a.kind != SCRIPT_VALUE_LAYOUT_SPEC) {
        script_value swap = a;
        a = b;
        b = swap;
    }
    script_layout_spec *spec = BASE_NEW(e->arena, script_layout_spec);
    *spec = *a.as.spec;
    if (b.kind == SCRIPT_VALUE_LAYOUT_SPEC) {
        const script_layout_spec *other = b.as.spec;
        if (spec->shard.count == 0) {
            spec->shard.items = other->shard.items;
            spec->shard.count = spec->shard.capacity = other->shard.count;
            spec->symbols.items = other->symbols.items;
            spec->symbols.count = spec->symbols.capacity = other->symbols.count;
        }
        if (other->origin && !add_offset(e, spec, script_expr(other->origin), span))
            return script_poison();
        if (other->replica.count > 0)
            spec->replica.items = other->replica.items,
            spec->replica.count = spec->replica.capacity = other->replica.count;
        for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
            if (other->offset_axes & (1u << i)) {
                script_value term = {.kind = SCRIPT_VALUE_AXIS_TERM};
                term.as.term.axis = (layout_axis)i;
                term.as.term.value = other->offset[i];
                if (!add_offset(e, spec, term, span))
                    return script_poison();
            }
    } else if (!add_offset(e, spec, b, span))
        return script_poison();
    return (script_value){.kind = SCRIPT_VALUE_LAYOUT_SPEC, .as.spec = spec};
}

script_value script_layout_operator(script_evaluator *e, script_operator op, script_value a, script_value b,
                                    base_span span, bool *handled) {
    *handled = true;
    if (op == SCRIPT_OP_MATMUL && (b.kind == SCRIPT_VALUE_AXIS || b.kind == SCRIPT_VALUE_STRING))
        return at_axis(e, a, b, span);
    if (op == SCRIPT_OP_ADD && (a.kind == SCRIPT_VALUE_LAYOUT_SPEC || b.kind == SCRIPT_VALUE_LAYOUT_SPEC))
        return add_parts(e, a, b, span);
    *handled = false;
    return script_poison();
}

/* ---- layouts ---- */

static script_value layout_from(script_evaluator *e, const script_layout_spec *spec, base_span span) {
    layout_error error = {NULL};
    if (spec->shard.count == 0) {
        script_error(e, "T0214", span, "a layout needs a shard part: S[...]");
        return script_poison();
    }
    const layout_tile *layout =
        layout_make(e->arena, spec->shard.items, (uint32_t)spec->shard.count, spec->replica.items,
                    (uint32_t)spec->replica.count, spec->offset, spec->offset_axes, &error);
    if (!layout) {
        script_error(e, "T0214", span, "no layout: %s",
                     error.text ? error.text : "its numbers are too large");
        return script_poison();
    }
    return (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = layout};
}

script_value script_word_tile_layout(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    if (script_is_symbolic(v))
        return v;
    if (v.kind == SCRIPT_VALUE_LAYOUT_SPEC)
        return layout_from(e, v.as.spec, call->span);
    if (v.kind == SCRIPT_VALUE_LAYOUT)
        return v;
    base_diagnostic *d = script_error(e, "T0205", call->place[0], "TileLayout takes layout parts, not %s",
                                      script_value_name(e->arena, v));
    base_help(e->diagnostics, d, "TileLayout(S[(4, 8) : (8, 1)] + 64)");
    return script_poison();
}

script_value script_word_shard(script_evaluator *e, const script_call *call) {
    (void)e;
    (void)call;
    return script_poison(); /* a subscript word: script_layout_item serves it, calls are refused before */
}

/* A swizzle without a tile stands over the whole tensor, row-major; a layout that names its domain does not.
 */
bool script_spread_swizzle(script_evaluator *e, script_value v, ir_tensor_type *type, base_span span) {
    int64_t shape[MAX_ITERS];
    layout_error error = {NULL};
    if (v.kind != SCRIPT_VALUE_LAYOUT || !v.flag || !script_constant_shape(e, type, shape))
        return true;
    const layout_tile *tile = layout_row_major(e->arena, shape, type->rank, &error);
    type->layout = tile ? layout_compose(e->arena, tile, v.as.layout->swizzle, &error) : NULL;
    if (!type->layout)
        script_error(e, "T0214", span, "the swizzle has no place over this shape: %s", error.text);
    return type->layout != NULL;
}

bool script_to_layout(script_evaluator *e, script_value v, const layout_tile **layout, base_span span) {
    *layout = NULL;
    if (script_is_poison(v))
        return false;
    if (v.kind == SCRIPT_VALUE_NONE ||
        (v.kind == SCRIPT_VALUE_STRING && strcmp(v.as.string.text, "default") == 0))
        return true;
    if (script_is_symbolic(v)) {
        script_error(e, "T0210", span,
                     "a layout of constants is needed here; this one has values of the launch");
        return false;
    }
    if (v.kind == SCRIPT_VALUE_LAYOUT_SPEC)
        v = layout_from(e, v.as.spec, span);
    if (v.kind == SCRIPT_VALUE_LAYOUT) {
        *layout = v.as.layout;
        return true;
    }
    if (!script_is_poison(v))
        script_error(e, "T0205", span, "a layout must be a TileLayout or \"default\", not %s",
                     script_value_name(e->arena, v));
    return false;
}

script_value script_word_layout_size(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    layout_axis axis = LAYOUT_AXIS_M;
    int64_t size = 1;
    const script_value *v = script_argument_of(call, "axis");
    int64_t unused;
    if (v && !read_term(e, *v, &axis, &unused, call->span))
        return script_poison();
    bool good = true;
    if (call->word->data == 1)
        good = layout_span(layout, axis, &size);
    else if (call->word->data == 2)
        good = layout_footprint(layout, axis, &size);
    else if (!v)
        good = layout_size(layout, &size);
    else
        for (uint32_t i = 0; i < layout->shard_count; i++)
            if (layout->shard[i].axis == axis)
                good &= !__builtin_mul_overflow(size, layout->shard[i].extent, &size);
    if (!good) {
        script_error(e, "T0260", call->span, "the size of this layout does not fit 64 bits");
        return script_poison();
    }
    return script_int(size);
}

/* ---- apply ---- */

typedef struct axis_sums {
    const ir_expr *sum[LAYOUT_AXIS_COUNT];
    uint32_t axes;
} axis_sums;

static void add_term(script_evaluator *e, axis_sums *sums, layout_axis axis, const ir_expr *term) {
    const ir_expr *x = term, *y;
    sums->axes |= 1u << axis;
    if (sums->sum[axis] &&
        script_promote(e, script_expr(sums->sum[axis]), script_expr(term), &x, &y, BASE_NO_SPAN))
        x = ir_binary(e->module, IR_ADD, x, y);
    sums->sum[axis] = x;
}

/* Splits x over iters, innermost last; the outermost digit is not reduced. */
static void split(script_evaluator *e, const ir_expr *x, const layout_iter *iters, uint32_t count,
                  axis_sums *sums) {
    int64_t below[MAX_ITERS + 1];
    num_dtype dtype = (num_dtype)x->type.dtype;
    below[count] = 1;
    for (uint32_t i = count; i-- > 0;)
        below[i] = below[i + 1] * iters[i].extent;
    for (uint32_t i = 0; i < count; i++) {
        const ir_expr *digit = x;
        if (below[i + 1] != 1)
            digit = ir_binary(e->module, IR_FLOORDIV, digit, ir_int(e->module, dtype, below[i + 1]));
        if (i > 0)
            digit = ir_binary(e->module, IR_FLOORMOD, digit, ir_int(e->module, dtype, iters[i].extent));
        add_term(e, sums, iters[i].axis,
                 ir_binary(e->module, IR_MUL, digit, ir_int(e->module, dtype, iters[i].stride)));
    }
}

static const ir_expr *flatten(script_evaluator *e, const ir_expr **coord, const int64_t *shape,
                              uint32_t rank) {
    const ir_expr *flat = coord[0], *x, *y;
    for (uint32_t i = 1; i < rank; i++) {
        flat = ir_binary(e->module, IR_MUL, flat, ir_int(e->module, (num_dtype)flat->type.dtype, shape[i]));
        if (!script_promote(e, script_expr(flat), script_expr(coord[i]), &x, &y, BASE_NO_SPAN))
            return coord[0];
        flat = ir_binary(e->module, IR_ADD, x, y);
    }
    return flat;
}

static script_value position_dict(script_evaluator *e, const axis_sums *sums) {
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++) {
        if (!(sums->axes & (1u << i)))
            continue;
        const char *name = layout_axis_name((layout_axis)i);
        int64_t constant;
        script_list_add(e->arena, dict, script_string(e->arena, name, strlen(name)));
        script_list_add(e->arena, dict,
                        ir_is_int(sums->sum[i], &constant) ? script_int(constant)
                                                           : script_expr(sums->sum[i]));
    }
    return dict;
}

/* The XOR over a whole position (layouts.md 2.1). */
static const ir_expr *swizzled(script_evaluator *e, const ir_expr *x, layout_swizzle z) {
    num_dtype dtype = (num_dtype)x->type.dtype;
    int64_t value;
    if (ir_is_int(x, &value) && value >= 0)
        return ir_int(e->module, dtype, layout_swizzle_apply(z, value));
    int64_t mask = (((int64_t)1 << z.length) - 1) << (z.per_element + (z.outer ? z.atom : 0));
    const ir_expr *moved =
        ir_binary(e->module, z.outer ? IR_SHL : IR_SHR, x, ir_int(e->module, dtype, z.atom));
    return ir_binary(e->module, IR_BITXOR, x,
                     ir_binary(e->module, IR_BITAND, moved, ir_int(e->module, dtype, mask)));
}

static script_value apply_constant(script_evaluator *e, const layout_tile *layout, const int64_t *coordinate,
                                   uint32_t rank, const int64_t *shape, base_span span) {
    int64_t position[LAYOUT_AXIS_COUNT];
    uint32_t axes = 0;
    layout_error error = {NULL};
    if (!layout_apply(layout, coordinate, rank, shape, position, &axes, &error, e->arena)) {
        script_error(e, "T0214", span, "the layout does not apply: %s",
                     error.text ? error.text : "numbers too large");
        return script_poison();
    }
    axis_sums sums = {.axes = axes};
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
        sums.sum[i] = ir_int(e->module, NUM_DTYPE_I64, position[i]);
    return position_dict(e, &sums);
}

static script_value apply_run_time(script_evaluator *e, const layout_tile *layout, const ir_expr **coord,
                                   uint32_t rank, const int64_t *shape, base_span span) {
    axis_sums sums = {.axes = 0};
    layout_error error = {NULL};
    uint32_t separators[MAX_ITERS + 1];
    if (layout->shard_count > MAX_ITERS || rank > MAX_ITERS) {
        script_error(e, "T0214", span, "a layout of over %d parts", MAX_ITERS);
        return script_poison();
    }
    const layout_tile *grouped = NULL;
    if (shape) {
        int64_t size, product = 1;
        for (uint32_t i = 0; i < rank; i++)
            if (__builtin_mul_overflow(product, shape[i], &product))
                product = -1;
        if (!layout_size(layout, &size) || size != product) {
            script_error(e, "T0213", span, "the shape has %lld elements, the layout %lld coordinates",
                         (long long)product, (long long)size);
            return script_poison();
        }
        grouped = layout_group(e->arena, layout, shape, rank, separators, &error);
    }
    if (grouped && grouped->shard_count <= MAX_ITERS) {
        for (uint32_t i = 0; i < rank; i++)
            split(e, coord[i], grouped->shard + separators[i], separators[i + 1] - separators[i], &sums);
    } else if (shape || rank == 1) {
        split(e, shape ? flatten(e, coord, shape, rank) : coord[0], layout->shard, layout->shard_count,
              &sums);
    } else if (rank == layout->shard_count) {
        for (uint32_t i = 0; i < rank; i++) {
            const ir_expr *stride =
                ir_int(e->module, (num_dtype)coord[i]->type.dtype, layout->shard[i].stride);
            add_term(e, &sums, layout->shard[i].axis, ir_binary(e->module, IR_MUL, coord[i], stride));
        }
    } else {
        script_error(e, "T0211", span, "%u coordinates for a layout of %u parts; say shape=", rank,
                     layout->shard_count);
        return script_poison();
    }
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
        if (layout->offset_axes & (1u << i))
            add_term(e, &sums, (layout_axis)i,
                     ir_int(e->module,
                            layout->offset[i] == (int32_t)layout->offset[i] ? NUM_DTYPE_I32 : NUM_DTYPE_I64,
                            layout->offset[i]));
    if (layout->swizzle.present && layout->swizzle.length > 0 && sums.sum[LAYOUT_AXIS_M])
        sums.sum[LAYOUT_AXIS_M] = swizzled(e, sums.sum[LAYOUT_AXIS_M], layout->swizzle);
    return position_dict(e, &sums);
}

script_value script_layout_position(script_evaluator *e, const layout_tile *layout,
                                    const ir_expr **coordinate, uint32_t rank, const int64_t *shape,
                                    base_span span) {
    return apply_run_time(e, layout, coordinate, rank, shape, span);
}

script_value script_word_layout_apply(script_evaluator *e, const script_call *call) {
    int64_t shape[MAX_ITERS], coordinate[MAX_ITERS];
    const ir_expr *coord[MAX_ITERS];
    bool all_constant = true;
    uint32_t rank = 0;
    script_value coordinates = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    const script_arguments *rest = &call->rest;
    const script_value *shape_value = script_argument_of(call, "shape");
    const script_value *items;
    size_t count;
    if (rest->items.count == 1)
        coordinates = rest->items.items[0].value;
    else
        for (size_t i = 0; i < rest->items.count; i++)
            script_list_add(e->arena, coordinates, rest->items.items[i].value);
    as_items(&coordinates, &items, &count);
    if (count == 0 || count > MAX_ITERS) {
        script_error(e, "T0211", call->span, "apply of %zu coordinates", count);
        return script_poison();
    }
    for (; rank < count; rank++) {
        coord[rank] = NULL;
        if (script_value_integer(items[rank], &coordinate[rank]))
            continue;
        all_constant = false;
    }
    bool symbolic = call->receiver.kind == SCRIPT_VALUE_LAYOUT_SPEC;
    for (uint32_t i = 0; (!all_constant || symbolic) && i < rank; i++)
        if (!(coord[i] = script_to_index(e, items[i], call->span, "a coordinate")))
            return script_poison();
    if (symbolic)
        return script_strided_apply(e, call->receiver.as.spec, coord, rank, call->span);
    if (shape_value) {
        script_value copy = *shape_value;
        as_items(&copy, &items, &count);
        if (count != rank) {
            script_error(e, "T0211", script_argument_span(call, "shape"),
                         "%u coordinates in a shape of %zu axes", rank, count);
            return script_poison();
        }
        for (size_t i = 0; i < count; i++)
            if (!script_constant_int(e, items[i], &shape[i], script_argument_span(call, "shape"),
                                     "an extent"))
                return script_poison();
    }
    const layout_tile *layout = call->receiver.as.layout;
    return all_constant ? apply_constant(e, layout, coordinate, rank, shape_value ? shape : NULL, call->span)
                        : apply_run_time(e, layout, coord, rank, shape_value ? shape : NULL, call->span);
}
