/* SPDX-License-Identifier: Apache-2.0
 * What a tensor variable offers: properties, views, permutations, element pointers, vector accesses, and the
 * pointer words. None of it emits work of its own but vstore. */
#include "script/script_part.h"
#include <string.h>

enum { MAX_RANK = 16 };

/* Views of views keep to the pointer that the first one was declared over. */
const ir_expr *script_root_pointer(script_evaluator *e, const ir_tensor *tensor) {
    return tensor->kind == IR_TENSOR_VIEW && tensor->data ? tensor->data : ir_data(e->module, tensor);
}

/* ---- properties ---- */

script_value script_word_tensor_data(script_evaluator *e, const script_call *call) {
    return script_expr(ir_data(e->module, call->receiver.as.tensor));
}

static script_value tensor_type_of(script_evaluator *e, const ir_tensor *tensor) {
    script_value v = {.kind = SCRIPT_VALUE_TENSOR_TYPE};
    v.as.tensor_type = BASE_NEW(e->arena, script_tensor_type);
    v.as.tensor_type->type = tensor->type;
    v.as.tensor_type->has_scope = true;
    v.as.tensor_type->has_layout = tensor->type.layout != NULL || tensor->type.strides != NULL;
    return v;
}

script_value script_word_tensor_shape(script_evaluator *e, const script_call *call) {
    return script_get_attribute(e, tensor_type_of(e, call->receiver.as.tensor), "shape", call->span);
}

script_value script_word_tensor_dtype(script_evaluator *e, const script_call *call) {
    (void)e;
    script_value v = script_type(script_element_type(call->receiver.as.tensor));
    v.kind = SCRIPT_VALUE_DTYPE;
    return v;
}

script_value script_word_tensor_ty(script_evaluator *e, const script_call *call) {
    return tensor_type_of(e, call->receiver.as.tensor);
}

const layout_tile *script_layout_of(script_evaluator *e, const ir_tensor *tensor, base_span span) {
    int64_t shape[MAX_RANK];
    layout_error error = {NULL};
    if (tensor->type.layout)
        return tensor->type.layout;
    if (!script_constant_shape(e, &tensor->type, shape)) {
        script_error(e, "T0210", span,
                     "the layout of '%s' is not constant: an extent is known at launch only", tensor->name);
        return NULL;
    }
    const layout_tile *layout;
    if (tensor->type.scope == IR_SCOPE_TMEM && tensor->type.rank == 2) /* rows on the lanes */
        layout = layout_make(
            e->arena, (layout_iter[]){{shape[0], 1, LAYOUT_AXIS_TLANE}, {shape[1], 1, LAYOUT_AXIS_TCOL}}, 2,
            NULL, 0, NULL, 0, &error);
    else
        layout = layout_row_major(e->arena, shape, tensor->type.rank, &error);
    if (!layout)
        script_error(e, "T0214", span, "'%s' has no layout: %s", tensor->name, error.text);
    return layout;
}

script_value script_word_tensor_layout(script_evaluator *e, const script_call *call) {
    int64_t shape[MAX_RANK];
    const ir_tensor_type *type = &call->receiver.as.tensor->type;
    if (!type->layout && (type->strides || !script_constant_shape(e, type, shape)))
        return script_strided_layout(e, type);
    const layout_tile *layout = script_layout_of(e, call->receiver.as.tensor, call->span);
    return layout ? (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = layout} : script_poison();
}

script_value script_word_tensor_elem_offset(script_evaluator *e, const script_call *call) {
    (void)e;
    const layout_tile *layout = call->receiver.as.tensor->type.layout;
    return script_int(layout ? layout->offset[LAYOUT_AXIS_M] : 0);
}

script_value script_word_tensor_alignment(script_evaluator *e, const script_call *call) {
    (void)e;
    return script_int(call->receiver.as.tensor->type.align);
}

script_value script_word_tensor_is_scalar(script_evaluator *e, const script_call *call) {
    (void)e;
    return script_bool(call->receiver.as.tensor->is_scalar);
}

/* Where an element is, in elements or bytes from the start of the storage that the tensor stands on. */
script_value script_word_tensor_offset_of(script_evaluator *e, const script_call *call) {
    const ir_tensor *tensor = call->receiver.as.tensor;
    const ir_expr *const *indices;
    script_value region, position;
    int64_t shape[MAX_RANK], bits = (int64_t)num_dtype_storage_bits(tensor->type.dtype) * tensor->type.lanes;
    if (!script_indices(e, call->receiver.as.tensor, call->value[0], call->place[0], &indices, &region))
        return script_poison();
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_error(e, "T0211", call->place[0], "the offset of an element of '%s' takes %u indices",
                     tensor->name, tensor->type.rank);
        return script_poison();
    }
    if (!tensor->type.layout && (tensor->type.strides || !script_constant_shape(e, &tensor->type, shape)))
        position = script_strided_apply(e, script_strided_layout(e, &tensor->type).as.spec, indices,
                                        tensor->type.rank, call->span);
    else {
        const layout_tile *layout = script_layout_of(e, tensor, call->span);
        if (!layout || !script_constant_shape(e, &tensor->type, shape))
            return script_poison();
        position = script_layout_position(e, layout, (const ir_expr **)(uintptr_t)indices, tensor->type.rank,
                                          shape, call->span);
    }
    if (script_is_poison(position))
        return position;
    const script_value *m = script_dict_find(position, script_string(e->arena, "m", 1));
    if (!m || position.as.list->items.count != 2) {
        script_error(e, "T0217", call->span,
                     "an element of '%s' is not one offset: its layout is on other axes too", tensor->name);
        return script_poison();
    }
    if (call->word->data == 0)
        return *m;
    script_value all = script_binary(e, SCRIPT_OP_MUL, *m, script_int(bits), call->span);
    return script_binary(e, SCRIPT_OP_FLOORDIV, all, script_int(8), call->span);
}

/* Of the type alone, whatever storage a tensor of it stands on. */
script_value script_word_type_layout(script_evaluator *e, const script_call *call) {
    const ir_tensor_type *type = &call->receiver.as.tensor_type->type;
    int64_t shape[MAX_RANK];
    layout_error error = {NULL};
    if (!type->layout && (type->strides || !script_constant_shape(e, type, shape)))
        return call->word->data ? script_strided_layout(e, type) : script_bool(!type->strides);
    const layout_tile *dense =
        script_constant_shape(e, type, shape) ? layout_row_major(e->arena, shape, type->rank, &error) : NULL;
    if (call->word->data)
        return type->layout || dense ? (script_value){.kind = SCRIPT_VALUE_LAYOUT,
                                                      .as.layout = type->layout ? type->layout : dense}
                                     : script_none();
    return script_bool(!type->layout || (dense && layout_equal(e->arena, type->layout, dense)));
}

script_value script_word_tensor_scope(script_evaluator *e, const script_call *call) {
    const char *scope = ir_scope_name(call->receiver.as.tensor->type.scope);
    return script_string(e->arena, scope, strlen(scope));
}

script_value script_word_expr_ty(script_evaluator *e, const script_call *call) {
    const ir_expr *x = script_to_expr(e, call->receiver, call->span);
    return x ? script_type(x->type) : script_poison();
}

script_value script_word_expr_dtype(script_evaluator *e, const script_call *call) {
    script_value v = script_word_expr_ty(e, call);
    if (v.kind == SCRIPT_VALUE_TYPE && v.as.type.kind == IR_TYPE_PRIM)
        v.kind = SCRIPT_VALUE_DTYPE;
    return v;
}

script_value script_word_expr_astype(script_evaluator *e, const script_call *call) {
    ir_type type;
    if (!script_to_dtype(e, call->value[0], &type, call->place[0]))
        return script_poison();
    const ir_expr *x = script_to_type(e, call->receiver, type, call->span);
    return x ? script_expr(x) : script_poison();
}

/* ---- views ---- */

/* Strides of the launch count other elements: times the ratio, or divided where they are constants. */
static bool scale_strides(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                          ir_tensor_type *type, int64_t ratio, bool narrower) {
    const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, type->rank + 1), *x, *y;
    int64_t step;
    uint32_t last = type->rank - 1;
    bool good = ir_is_int(type->strides[last], &step) && step == 1;
    for (uint32_t i = 0; good && i <= type->rank; i++) {
        const ir_expr *old = i < type->rank ? type->strides[i] : type->origin;
        if (!old)
            continue;
        good = narrower || i == last || (ir_is_int(old, &step) && step % ratio == 0);
        if (good && i != last && script_promote(e, script_expr(old), script_int(ratio), &x, &y, call->span))
            old = ir_binary(e->module, narrower ? IR_MUL : IR_FLOORDIV, x, y);
        strides[i] = old;
    }
    type->origin = type->origin ? strides[type->rank] : NULL;
    type->strides = strides;
    if (!good) {
        base_diagnostic *d =
            script_error(e, "T0213", call->span,
                         "the strides of '%s' are known at launch only: they may not divide by %lld",
                         tensor->name, (long long)ratio);
        base_help(e->diagnostics, d, "give the view its own layout=");
    }
    return good;
}

/* The last extent in other elements; one of the launch divides only where its form says so. */
static bool scaled_extent(script_evaluator *e, const ir_expr *extent, int64_t ratio, bool narrower,
                          const ir_expr **out) {
    int64_t value;
    const ir_expr *x, *y;
    if (ratio == 1)
        return true;
    if (ir_is_int(extent, &value)) {
        if (narrower ? __builtin_mul_overflow(value, ratio, &value) : value % ratio != 0)
            return false;
        value = narrower ? value : value / ratio;
        *out = ir_int(e->module, value == (int32_t)value ? NUM_DTYPE_I32 : NUM_DTYPE_I64, value);
        return true;
    }
    if ((!narrower && !script_is_multiple(e, extent, ratio)) ||
        !script_promote(e, script_expr(extent), script_int(ratio), &x, &y, BASE_NO_SPAN))
        return false;
    *out = ir_binary(e->module, narrower ? IR_MUL : IR_FLOORDIV, x, y);
    return true;
}

/* view("float16"): the last axis counts the narrower or wider elements of the same bytes. */
static script_value view_dtype(script_evaluator *e, const script_call *call, ir_tensor *tensor,
                               ir_type element) {
    ir_tensor_type type = tensor->type;
    int64_t from = (int64_t)num_dtype_storage_bits(type.dtype) * type.lanes;
    int64_t to = (int64_t)num_dtype_storage_bits((num_dtype)element.dtype) * element.lanes, ratio;
    layout_error error = {NULL};
    const ir_expr **shape = base_arena_copy(e->arena, type.shape, type.rank * sizeof(*shape));
    bool narrower = to < from;
    ratio = narrower ? from / to : to / from;
    if ((narrower ? from % to : to % from) != 0 ||
        !scaled_extent(e, shape[type.rank - 1], ratio, narrower, &shape[type.rank - 1])) {
        script_error(e, "T0213", call->span,
                     "elements of %lld bits do not divide the last axis of '%s' into %lld bits",
                     (long long)from, tensor->name, (long long)to);
        return script_poison();
    }
    if (type.layout && ratio > 1) {
        type.layout = narrower ? layout_unpack(e->arena, type.layout, ratio, &error)
                               : layout_pack(e->arena, type.layout, ratio, &error);
        if (!type.layout) {
            script_error(e, "T0214", call->span, "the layout of '%s' cannot be read as %lld-bit elements: %s",
                         tensor->name, (long long)to, error.text);
            return script_poison();
        }
    }
    if (type.strides && ratio > 1 && !scale_strides(e, call, tensor, &type, ratio, narrower))
        return script_poison();
    type.shape = shape;
    type.dtype = (num_dtype)element.dtype;
    type.lanes = element.lanes;
    return script_make_view(e, &type, script_root_pointer(e, tensor), call->span);
}

static bool product_of(const int64_t *shape, uint32_t rank, int64_t *product) {
    *product = 1;
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*product, shape[i], product))
            return false;
    return true;
}

/* One -1 stands for what the other extents leave. */
bool script_view_shape(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                       ir_tensor_type *type) {
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    int64_t shape[MAX_RANK], total, known = 1, extent, inferred = -1;
    const script_arguments *rest = &call->rest;
    if (rest->items.count == 1 && (rest->items.items[0].value.kind == SCRIPT_VALUE_TUPLE ||
                                   rest->items.items[0].value.kind == SCRIPT_VALUE_LIST))
        list = rest->items.items[0].value;
    else
        for (size_t i = 0; i < rest->items.count; i++)
            script_list_add(e->arena, list, rest->items.items[i].value);
    script_value copy = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (size_t i = 0; i < list.as.list->items.count; i++) {
        script_value v = list.as.list->items.items[i];
        if (v.kind == SCRIPT_VALUE_INT && v.as.integer == -1 && inferred < 0) {
            inferred = (int64_t)i;
            v = script_int(1);
        } else if (script_value_integer(v, &extent) && __builtin_mul_overflow(known, extent, &known))
            known = 0;
        script_list_add(e->arena, copy, v);
    }
    if (inferred >= 0) {
        if (!script_constant_shape(e, &tensor->type, shape) ||
            !product_of(shape, tensor->type.rank, &total) || known <= 0 || total % known != 0) {
            script_error(e, "T0213", call->span, "-1 has no whole extent here: '%s' is %s", tensor->name,
                         script_value_name(e->arena, script_tensor((ir_tensor *)(uintptr_t)tensor)));
            return false;
        }
        copy.as.list->items.items[inferred] = script_int(total / known);
    }
    return script_shape(e, copy, call->span, &type->rank, &type->shape);
}

static script_value view_mismatch(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                                  int64_t wanted, int64_t have, const char *what) {
    base_diagnostic *d = script_error(e, "T0213", call->span, "the view has %lld elements, '%s' has %lld %s",
                                      (long long)wanted, tensor->name, (long long)have, what);
    base_help(e->diagnostics, d, "a view keeps the storage: the numbers must agree");
    return script_poison();
}

/* Without layout= the mapping stays, so the number of elements does; with one the view enumerates the
 * physical slots of this thread, gaps and origin included. */
static script_value check_view(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                               const ir_tensor_type *type, bool has_layout, bool *good) {
    int64_t old_shape[MAX_RANK], new_shape[MAX_RANK], have, want;
    *good = true;
    if ((has_layout && tensor->type.strides) || !script_constant_shape(e, &tensor->type, old_shape) ||
        !script_constant_shape(e, type, new_shape))
        return script_none();
    if (!product_of(old_shape, tensor->type.rank, &have) || !product_of(new_shape, type->rank, &want))
        return script_none();
    *good = false;
    if (!has_layout && tensor->type.strides) {
        base_diagnostic *d = script_error(
            e, "T0213", call->span,
            "'%s' has strides of the launch: another shape has no mapping without layout=", tensor->name);
        base_help(e->diagnostics, d, "A.view(%lld, layout=TileLayout(S[...]))", (long long)want);
        return script_poison();
    }
    if (!has_layout)
        return have == want ? (*good = true, script_none())
                            : view_mismatch(e, call, tensor, want, have, "elements");
    if (tensor->type.layout && !layout_footprint(tensor->type.layout, LAYOUT_AXIS_M, &have)) {
        script_error(e, "T0213", call->span, "the storage of '%s' is over 2^63 elements", tensor->name);
        return script_poison();
    }
    if (!type->layout)
        return have == want ? (*good = true, script_none())
                            : view_mismatch(e, call, tensor, want, have, "slots in storage");
    if (type->strides || !layout_footprint(type->layout, LAYOUT_AXIS_M, &want) || want <= have) {
        *good = true;
        return script_none();
    }
    return view_mismatch(e, call, tensor, want, have, "slots in storage");
}

script_value script_word_tensor_view(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    const script_value *layout = script_argument_of(call, "layout");
    ir_type element;
    ir_tensor_type type = tensor->type;
    bool good;
    if (call->rest.items.count == 0) {
        script_error(e, "T0203", call->span, "view needs extents or an element type");
        return script_poison();
    }
    script_value first = call->rest.items.items[0].value;
    if (call->rest.items.count == 1 &&
        (first.kind == SCRIPT_VALUE_STRING || first.kind == SCRIPT_VALUE_TYPE ||
         first.kind == SCRIPT_VALUE_DTYPE)) {
        if (!script_to_dtype(e, first, &element, call->rest.items.items[0].span))
            return script_poison();
        return view_dtype(e, call, tensor, element);
    }
    if (!script_view_shape(e, call, tensor, &type))
        return script_poison();
    base_span layout_span_place = script_argument_span(call, "layout");
    if (layout && !script_type_layout(e, *layout, &type, layout_span_place))
        return script_poison();
    if (layout && !script_check_layout(e, &type, layout_span_place))
        return script_poison();
    check_view(e, call, tensor, &type, layout != NULL, &good);
    return good ? script_make_view(e, &type, script_root_pointer(e, tensor), call->span) : script_poison();
}

/* local(): all slots of this thread; local(shape) and local(shape, layout=...): a view with an explicit
 * layout. */
script_value script_word_tensor_local(script_evaluator *e, const script_call *call) {
    script_call view = *call;
    const ir_tensor *tensor = call->receiver.as.tensor;
    int64_t slots = 0;
    if (tensor->type.scope != IR_SCOPE_LOCAL) {
        base_diagnostic *d =
            script_error(e, "T0205", call->span, "'%s' is in %s memory: only local memory is a thread's own",
                         tensor->name, ir_scope_name(tensor->type.scope));
        base_help(e->diagnostics, d, "%s.view(shape, layout=...)", tensor->name);
        return script_poison();
    }
    if (call->rest.items.count == 0) {
        const layout_tile *layout = script_layout_of(e, tensor, call->span);
        if (!layout)
            return script_poison();
        if (!layout_footprint(layout, LAYOUT_AXIS_M, &slots)) {
            script_error(e, "T0213", call->span, "the storage of '%s' is over 2^63 elements", tensor->name);
            return script_poison();
        }
        view.rest = (script_arguments){0};
        base_vector_push(e->arena, &view.rest.items,
                         (script_argument){.value = script_int(slots), .span = call->span});
    }
    if (!script_argument_of(call, "layout")) {
        view.given[0] = true;
        view.value[0] = script_string(e->arena, "default", strlen("default"));
        view.place[0] = call->span;
    }
    return script_word_tensor_view(e, &view);
}

/* Axis numbers, each once: permute(1, 0) or permute((1, 0)). */
bool script_read_order(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                       uint32_t *order) {
    uint32_t rank = tensor->type.rank, seen = 0;
    int64_t axis;
    const script_argument *dims = call->rest.items.items;
    size_t count = call->rest.items.count;
    script_value single = count == 1 ? dims[0].value : script_none();
    bool listed = single.kind == SCRIPT_VALUE_TUPLE || single.kind == SCRIPT_VALUE_LIST;
    if (listed)
        count = single.as.list->items.count;
    if (count != rank) {
        script_error(e, "T0211", call->span, "permute of %zu axes; '%s' has %u", count, tensor->name, rank);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        script_value v = listed ? single.as.list->items.items[i] : dims[i].value;
        if (!script_constant_int(e, v, &axis, call->span, "an axis number"))
            return false;
        if (axis < 0 || axis >= rank || (seen & (1u << axis))) {
            script_error(e, "T0211", call->span, "permute takes every axis number from 0 to %u once",
                         rank - 1);
            return false;
        }
        seen |= 1u << axis;
        order[i] = (uint32_t)axis;
    }
    return true;
}

script_value script_word_tensor_permute(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    uint32_t rank = tensor->type.rank, order[MAX_RANK];
    int64_t shape[MAX_RANK];
    layout_error error = {NULL};
    if (!script_read_order(e, call, tensor, order))
        return script_poison();
    const ir_expr **permuted = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank);
    for (uint32_t i = 0; i < rank; i++)
        permuted[i] = tensor->type.shape[order[i]];
    ir_tensor_type type = tensor->type;
    if (!type.layout && (type.strides || !script_constant_shape(e, &type, shape))) {
        const ir_expr *const *old = type.strides ? type.strides : script_dense_strides(e, &type);
        const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank);
        for (uint32_t i = 0; i < rank; i++)
            strides[i] = old[order[i]];
        type.strides = strides;
        type.shape = permuted;
        return script_make_view(e, &type, script_root_pointer(e, tensor), call->span);
    }
    const layout_tile *layout = script_layout_of(e, tensor, call->span);
    if (!layout || !script_constant_shape(e, &tensor->type, shape))
        return script_poison();
    type.layout = layout_permute(e->arena, layout, shape, rank, order, &error);
    type.shape = permuted;
    if (!type.layout && script_may_window(tensor, layout))
        return script_window_permute(e, call->receiver, order, call->span);
    if (!type.layout) {
        script_error(e, "T0214", call->span, "the axes of '%s' cannot be permuted: %s", tensor->name,
                     error.text);
        return script_poison();
    }
    return script_make_view(e, &type, script_root_pointer(e, tensor), call->span);
}

/* ---- pointers ---- */

const ir_expr *script_element_address(script_evaluator *e, ir_tensor *tensor, script_value index,
                                      base_span span) {
    const ir_expr *const *indices;
    script_value region;
    if (!script_indices(e, tensor, index, span, &indices, &region))
        return NULL;
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_error(e, "T0211", span, "a pointer to an element of '%s' takes %u indices", tensor->name,
                     tensor->type.rank);
        return NULL;
    }
    if (tensor->type.scope == IR_SCOPE_TMEM)
        return ir_address(e->module, tensor, indices, tensor->type.rank);
    /* the rules for access hold for pointers: reuse them, then take the address of what would be read */
    script_value load = script_tensor_item(e, tensor, index, span, span);
    if (load.kind != SCRIPT_VALUE_EXPR)
        return NULL;
    const ir_expr **scalar = BASE_NEW_ARRAY(e->arena, const ir_expr *, tensor->type.rank);
    for (uint32_t i = 0; i < tensor->type.rank; i++) /* the address of a vector is that of its first lane */
        scalar[i] = indices[i]->op == IR_RAMP ? indices[i]->args[0] : indices[i];
    return ir_address(e->module, tensor, scalar, tensor->type.rank);
}

script_value script_word_tensor_ptr_to(script_evaluator *e, const script_call *call) {
    const ir_expr *x = script_element_address(e, call->receiver.as.tensor, call->value[0], call->place[0]);
    return x ? script_expr(x) : script_poison();
}

script_value script_word_address_of(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    if (v.kind == SCRIPT_VALUE_EXPR && ir_type_is_tensor_map(v.as.expr->type))
        return v; /* used as a value it is its address */
    if (v.kind == SCRIPT_VALUE_EXPR && v.as.expr->op == IR_LOAD) {
        const ir_expr *load = v.as.expr;
        const ir_expr **scalar = BASE_NEW_ARRAY(e->arena, const ir_expr *, load->count);
        for (uint32_t i = 0; i < load->count; i++)
            scalar[i] = load->args[i]->op == IR_RAMP ? load->args[i]->args[0] : load->args[i];
        return script_expr(ir_address(e->module, load->at.tensor, scalar, load->count));
    }
    if (v.kind == SCRIPT_VALUE_WINDOW) {
        script_value index = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        for (size_t i = 0; i < script_window_rank(v.as.window); i++)
            script_list_add(e->arena, index, script_int(0));
        script_value load = script_window_item(e, v.as.window, index, call->place[0], call->place[0]);
        script_call first = *call;
        first.value[0] = load;
        return load.kind == SCRIPT_VALUE_EXPR && load.as.expr->op == IR_LOAD
                   ? script_word_address_of(e, &first)
                   : script_poison();
    }
    if (v.kind == SCRIPT_VALUE_TENSOR || v.kind == SCRIPT_VALUE_REGION) {
        ir_tensor *tensor = v.kind == SCRIPT_VALUE_TENSOR ? v.as.tensor : v.as.region->tensor;
        script_value index = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        for (uint32_t i = 0; i < tensor->type.rank; i++)
            script_list_add(e->arena, index,
                            v.kind == SCRIPT_VALUE_TENSOR ? script_int(0)
                                                          : script_expr(v.as.region->starts[i]));
        const ir_expr *x = script_element_address(e, tensor, index, call->place[0]);
        return x ? script_expr(x) : script_poison();
    }
    base_diagnostic *d =
        script_error(e, "T0205", call->place[0], "address_of takes a tensor or an element, not %s",
                     script_value_name(e->arena, v));
    base_help(e->diagnostics, d, "address_of(A[i, j]), or A.ptr_to([i, j])");
    return script_poison();
}

const ir_expr *script_to_pointer(script_evaluator *e, script_value v, base_span span, const char *what) {
    if (script_is_poison(v))
        return NULL;
    if (v.kind == SCRIPT_VALUE_EXPR && v.as.expr->type.kind == IR_TYPE_POINTER)
        return v.as.expr;
    base_diagnostic *d =
        script_error(e, "T0205", span, "%s must be a pointer, not %s", what, script_value_name(e->arena, v));
    if (v.kind == SCRIPT_VALUE_TENSOR)
        base_help(e->diagnostics, d, "%s.data is the pointer of '%s', %s.ptr_to([...]) that of an element",
                  v.as.tensor->name, v.as.tensor->name, v.as.tensor->name);
    return NULL;
}

script_value script_word_ptr_byte_offset(script_evaluator *e, const script_call *call) {
    const ir_expr *pointer = script_to_pointer(e, call->value[0], call->place[0], "the first argument");
    const ir_expr *bytes = script_to_index(e, call->value[1], call->place[1], "an offset in bytes");
    const script_value *ty = script_argument_of(call, "ty");
    ir_type element;
    if (!pointer || !bytes)
        return script_poison();
    ir_type type = pointer->type;
    if (call->word->data == 1)
        type = ir_type_pointer(NUM_DTYPE_NONE, 1, (ir_scope)type.scope);
    if (ty && ty->kind == SCRIPT_VALUE_TYPE && ty->as.type.kind == IR_TYPE_POINTER)
        type = ir_type_pointer((num_dtype)ty->as.type.dtype, ty->as.type.lanes, (ir_scope)type.scope);
    else if (ty && script_to_dtype(e, *ty, &element, script_argument_span(call, "ty")))
        type = ir_type_pointer((num_dtype)element.dtype, element.lanes, (ir_scope)type.scope);
    else if (ty)
        return script_poison();
    const ir_expr *args[2] = {pointer, bytes};
    return script_expr(ir_make(e->module, IR_POINTER_OFFSET, type, args, 2));
}

/* ---- vector access by method ---- */

/* vload([i, j], "float32x4"): the last index starts a vector of the dtype's lanes. */
static bool vector_indices(script_evaluator *e, ir_tensor *tensor, script_value begin, unsigned lanes,
                           base_span span, const ir_expr *const **indices) {
    script_value region;
    if (!script_indices(e, tensor, begin, span, indices, &region))
        return false;
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_error(e, "T0211", span, "a vector access of '%s' takes %u indices", tensor->name,
                     tensor->type.rank);
        return false;
    }
    if (lanes <= tensor->type.lanes || lanes % tensor->type.lanes != 0)
        return true;
    uint32_t last = tensor->type.rank - 1;
    const ir_expr **list = base_arena_copy(e->arena, *indices, tensor->type.rank * sizeof(*list));
    if (list[last]->type.lanes > 1)
        return true;
    const ir_expr *args[2] = {list[last], ir_int(e->module, (num_dtype)list[last]->type.dtype, 1)};
    list[last] =
        ir_make(e->module, IR_RAMP,
                ir_type_prim((num_dtype)list[last]->type.dtype, lanes / tensor->type.lanes), args, 2);
    *indices = list;
    return true;
}

script_value script_word_tensor_vload(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    ir_type type = script_element_type(tensor);
    const script_value *dtype = script_argument_of(call, "dtype");
    const ir_expr *const *indices;
    if (dtype && !script_to_dtype(e, *dtype, &type, script_argument_span(call, "dtype")))
        return script_poison();
    if (type.dtype != tensor->type.dtype) {
        script_error(e, "T0233", call->span, "vload of %s from '%s' of %s", script_type_name(e, type),
                     tensor->name, script_type_name(e, script_element_type(tensor)));
        return script_poison();
    }
    if (!vector_indices(e, tensor, call->value[0], type.lanes, call->place[0], &indices))
        return script_poison();
    return script_expr(ir_load(e->module, tensor, indices, tensor->type.rank));
}

script_value script_word_tensor_vstore(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    const ir_expr *const *indices;
    unsigned lanes = 1;
    if (script_is_ir(call->value[1])) {
        const ir_expr *x = script_to_expr(e, call->value[1], call->place[1]);
        if (!x)
            return script_poison();
        lanes = x->type.lanes;
    }
    if (!vector_indices(e, tensor, call->value[0], lanes, call->place[0], &indices))
        return script_poison();
    script_store(e, tensor, indices, tensor->type.rank, call->value[1], call->span, call->place[1]);
    return script_none();
}
