/* SPDX-License-Identifier: Apache-2.0
 * Parts by coordinates: an element of a window is an element of its parent at a coordinate that is computed
 * when it is accessed, so that the parent's layout (swizzles, blocks that a start may split) applies to the
 * whole coordinate. Exact for every start. Nothing of a window reaches the IR. */
#include "script/script_part.h"
#include <string.h>

enum { MAX_RANK = SCRIPT_PART_RANK };

ir_tensor *script_part_face(script_value subject) {
    return subject.kind == SCRIPT_VALUE_WINDOW ? &subject.as.window->face : subject.as.tensor;
}

static const ir_tensor *root_of(const script_window *window) {
    while (window->parent.kind == SCRIPT_VALUE_WINDOW)
        window = window->parent.as.window;
    return window->parent.as.tensor;
}

const char *script_window_title(const script_window *window) {
    return root_of(window)->name;
}

uint32_t script_window_rank(const script_window *window) {
    return window->face.type.rank;
}

void script_window_name(script_evaluator *e, script_window *window, const char *name) {
    if (!window->is_named)
        window->face.name = base_name_of(e->names, name);
    window->is_named = true;
}

static const ir_expr *number(script_evaluator *e, int64_t value) {
    return ir_int(e->module, value == (int32_t)value ? NUM_DTYPE_I32 : NUM_DTYPE_I64, value);
}

/* ---- making ---- */

bool script_may_window(const ir_tensor *tensor, const layout_tile *layout) {
    return tensor->type.scope != IR_SCOPE_TMEM && !layout_has_thread_axis(layout);
}

static script_window *make(script_evaluator *e, script_value parent, base_span span) {
    script_window *window = BASE_NEW(e->arena, script_window);
    const ir_tensor *face = script_part_face(parent);
    memset(window, 0, sizeof(*window));
    window->parent = parent;
    window->face = *face;
    window->face.type.layout = NULL;
    window->face.type.strides = NULL;
    window->face.type.origin = NULL;
    window->face.name = script_temporary_name(e, "view");
    window->face.span = span;
    return window;
}

static void set_shape(script_evaluator *e, script_window *window, const int64_t *shape, uint32_t rank) {
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
        extents[i] = number(e, shape[i]);
    window->face.type.rank = rank;
    window->face.type.shape = extents;
}

static script_value window_value(script_window *window) {
    return (script_value){.kind = SCRIPT_VALUE_WINDOW, .as.window = window};
}

script_value script_window_make(script_evaluator *e, script_value parent, const script_part *parts,
                                base_span span) {
    script_window *window = make(e, parent, span);
    uint32_t parent_rank = script_part_face(parent)->type.rank, rank = 0;
    int64_t shape[MAX_RANK + 1];
    if (!script_need_kernel(e, span, "a part of a tensor"))
        return script_poison();
    for (uint32_t i = 0; i < parent_rank; i++) {
        int64_t weight = 1, extent = 1;
        bool stays = false;
        for (uint32_t k = 1; k < parts[i].count; k++)
            weight *= parts[i].pieces[k].split;
        for (uint32_t k = 0; k < parts[i].count; k++) {
            const script_piece *p = &parts[i].pieces[k];
            script_window_piece *to = &window->pieces[window->count++];
            *to =
                (script_window_piece){.axis = i, .weight = weight, .first = p->first, .length = 1, .to = -1};
            if (p->begin && ir_expr_reads(p->begin)) { /* taken now */
                script_value let = script_make_let(e, p->begin, span);
                if (let.kind != SCRIPT_VALUE_EXPR)
                    return script_poison();
                to->start = let.as.expr;
            } else
                to->start = p->begin;
            if (p->extent && ir_is_int(p->extent, &to->length)) {
                to->to = (int32_t)rank;
                extent *= to->length;
                stays = true;
            }
            if (k + 1 < parts[i].count)
                weight /= parts[i].pieces[k + 1].split;
        }
        if (stays)
            shape[rank++] = extent;
    }
    if (rank == 0)
        shape[rank++] = 1;
    set_shape(e, window, shape, rank);
    return window_value(window);
}

script_value script_window_permute(script_evaluator *e, script_value parent, const uint32_t *order,
                                   base_span span) {
    script_window *window = make(e, parent, span);
    const ir_tensor_type *type = &script_part_face(parent)->type;
    int64_t shape[MAX_RANK];
    for (uint32_t i = 0; i < type->rank; i++) {
        ir_is_int(type->shape[order[i]], &shape[i]);
        window->pieces[window->count++] =
            (script_window_piece){.axis = order[i], .weight = 1, .length = shape[i], .to = (int32_t)i};
    }
    set_shape(e, window, shape, type->rank);
    return window_value(window);
}

script_value script_window_reshape(script_evaluator *e, script_value parent, const int64_t *shape,
                                   uint32_t rank, base_span span) {
    script_window *window = make(e, parent, span);
    window->is_reshape = true;
    set_shape(e, window, shape, rank);
    return window_value(window);
}

/* ---- coordinates ---- */

static const ir_expr *combine(script_evaluator *e, ir_op op, const ir_expr *a, const ir_expr *b) {
    const ir_expr *x, *y;
    if (!a || !b)
        return a ? a : b;
    return script_promote(e, script_expr(a), script_expr(b), &x, &y, BASE_NO_SPAN)
               ? ir_binary(e->module, op, x, y)
               : a;
}

static const ir_expr *base_of(const ir_expr *index) {
    return index->op == IR_RAMP ? index->args[0] : index;
}

/* Digit of an index that counts several of them: those of the pieces with its number, the last fastest. */
static const ir_expr *digit_of(script_evaluator *e, const script_window *window, uint32_t piece,
                               const ir_expr *index) {
    int32_t to = window->pieces[piece].to;
    int64_t below = 1;
    bool outermost = true;
    for (uint32_t k = 0; k < window->count; k++)
        if (window->pieces[k].to == to && k != piece) {
            below *= k > piece ? window->pieces[k].length : 1;
            outermost = outermost && k > piece;
        }
    if (below > 1)
        index = combine(e, IR_FLOORDIV, index, number(e, below));
    return outermost ? index : combine(e, IR_FLOORMOD, index, number(e, window->pieces[piece].length));
}

static uint32_t pieces_of(const script_window *window, int32_t to) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < window->count; k++)
        count += window->pieces[k].to == to;
    return count;
}

static bool refuse_vector(script_evaluator *e, const script_window *window, base_span span) {
    script_error(
        e, "T0234", span,
        "a vector index of '%s' would cross factors of '%s': take single elements, or index '%s' itself",
        window->face.name, script_window_title(window), script_window_title(window));
    return false;
}

/* Coordinates of the parent from those of the window. */
static bool part_indices(script_evaluator *e, const script_window *window, const ir_expr *const *indices,
                         const ir_expr **out, base_span span) {
    const ir_tensor *parent = script_part_face(window->parent);
    int64_t stride[MAX_RANK] = {0}, lanes[MAX_RANK] = {0}, step;
    for (uint32_t i = 0; i < parent->type.rank; i++)
        out[i] = NULL;
    for (uint32_t k = 0; k < window->count; k++) {
        const script_window_piece *p = &window->pieces[k];
        const ir_expr *at = p->start ? p->start : p->first ? number(e, p->first) : NULL;
        if (p->to >= 0) {
            const ir_expr *index = indices[p->to];
            if (index->op == IR_RAMP) {
                if (pieces_of(window, p->to) != 1 || !ir_is_int(index->args[1], &step))
                    return refuse_vector(e, window, span);
                stride[p->axis] = step * p->weight;
                lanes[p->axis] = index->type.lanes;
            }
            at = combine(e, IR_ADD, at, digit_of(e, window, k, base_of(index)));
        }
        if (at && p->weight != 1)
            at = combine(e, IR_MUL, at, number(e, p->weight));
        out[p->axis] = combine(e, IR_ADD, out[p->axis], at);
    }
    for (uint32_t i = 0; i < parent->type.rank; i++) {
        if (!out[i])
            out[i] = number(e, 0);
        if (lanes[i] == 0)
            continue;
        const ir_expr *args[2] = {out[i], ir_int(e->module, (num_dtype)out[i]->type.dtype, stride[i])};
        out[i] = ir_make(e->module, IR_RAMP, ir_type_prim((num_dtype)out[i]->type.dtype, (unsigned)lanes[i]),
                         args, 2);
    }
    return true;
}

static bool reshaped_indices(script_evaluator *e, const script_window *window, const ir_expr *const *indices,
                             const ir_expr **out, base_span span) {
    const ir_tensor_type *from = &window->face.type, *to = &script_part_face(window->parent)->type;
    const ir_expr *flat = NULL;
    int64_t below = 1, extent;
    for (uint32_t i = 0; i < from->rank; i++) {
        if (indices[i]->op == IR_RAMP)
            return refuse_vector(e, window, span);
        flat = combine(e, IR_ADD, flat ? combine(e, IR_MUL, flat, from->shape[i]) : NULL, indices[i]);
    }
    for (uint32_t i = to->rank; i-- > 0;) {
        const ir_expr *digit = below > 1 ? combine(e, IR_FLOORDIV, flat, number(e, below)) : flat;
        out[i] = i > 0 ? combine(e, IR_FLOORMOD, digit, to->shape[i]) : digit;
        if (ir_is_int(to->shape[i], &extent))
            below *= extent;
    }
    return true;
}

/* Down to the tensor below all windows. */
static ir_tensor *resolve(script_evaluator *e, const script_window *window, const ir_expr *const *indices,
                          const ir_expr *const **out, base_span span) {
    while (true) {
        const ir_expr **next = BASE_NEW_ARRAY(e->arena, const ir_expr *, MAX_RANK);
        if (window->is_reshape ? !reshaped_indices(e, window, indices, next, span)
                               : !part_indices(e, window, indices, next, span))
            return NULL;
        indices = next;
        if (window->parent.kind != SCRIPT_VALUE_WINDOW)
            break;
        window = window->parent.as.window;
    }
    *out = indices;
    return window->parent.as.tensor;
}

static script_value tuple_of(script_evaluator *e, const ir_expr *const *indices, uint32_t count) {
    script_value tuple = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (uint32_t i = 0; i < count; i++)
        script_list_add(e->arena, tuple, script_expr(indices[i]));
    return tuple;
}

/* ---- access ---- */

/* A region of the parent: every axis of it is picked, or one range of the window. */
static script_value region_of(script_evaluator *e, const script_window *window, const script_region *region,
                              base_span span, base_span index_span) {
    const ir_tensor *parent = script_part_face(window->parent);
    script_value index = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    bool plain = !window->is_reshape && window->count == parent->type.rank;
    for (uint32_t i = 0; plain && i < window->count; i++) {
        uint32_t k = 0;
        while (k < window->count && window->pieces[k].axis != i)
            k++;
        const script_window_piece *p = &window->pieces[k];
        plain = k < window->count && p->weight == 1 &&
                (p->to < 0 || (pieces_of(window, p->to) == 1 && region->starts[p->to]->type.lanes == 1));
        if (!plain)
            break;
        const ir_expr *start = p->start ? p->start : number(e, p->first);
        if (p->to >= 0)
            start = combine(e, IR_ADD, start, region->starts[p->to]);
        if (p->to < 0 || !region->is_range[p->to]) {
            script_list_add(e->arena, index, script_expr(start));
            continue;
        }
        script_value slice = script_list_make(e->arena, SCRIPT_VALUE_SLICE);
        script_list_add(e->arena, slice, script_expr(start));
        script_list_add(e->arena, slice, script_expr(combine(e, IR_ADD, start, region->extents[p->to])));
        script_list_add(e->arena, slice, script_none());
        script_list_add(e->arena, index, slice);
    }
    if (plain)
        return script_get_item(e, window->parent, index, span, index_span);
    base_diagnostic *d = script_error(
        e, "T0274", span, "a range of '%s' is no region of '%s': its factors or its shape are others",
        window->face.name, script_window_title(window));
    base_help(e->diagnostics, d, "slice '%s' itself", script_window_title(window));
    return script_poison();
}

script_value script_window_item(script_evaluator *e, script_window *window, script_value index,
                                base_span span, base_span index_span) {
    const ir_expr *const *indices;
    script_value region;
    if (!script_indices(e, &window->face, index, index_span, &indices, &region))
        return script_poison();
    if (region.kind == SCRIPT_VALUE_REGION)
        return region_of(e, window, region.as.region, span, index_span);
    ir_tensor *tensor = resolve(e, window, indices, &indices, index_span);
    return tensor ? script_tensor_item(e, tensor, tuple_of(e, indices, tensor->type.rank), span, index_span)
                  : script_poison();
}

script_value script_window_region(script_evaluator *e, script_window *window, base_span span) {
    script_value index = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (uint32_t i = 0; i < window->face.type.rank; i++) {
        script_value slice = script_list_make(e->arena, SCRIPT_VALUE_SLICE);
        for (int k = 0; k < 3; k++)
            script_list_add(e->arena, slice, script_none());
        script_list_add(e->arena, index, slice);
    }
    return script_window_item(e, window, index, span, span);
}

void script_window_store(script_evaluator *e, script_window *window, script_value index, script_value value,
                         base_span target_span, base_span index_span, base_span value_span) {
    const ir_expr *const *indices;
    script_value region;
    if (!script_indices(e, &window->face, index, index_span, &indices, &region))
        return;
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_value whole = region_of(e, window, region.as.region, target_span, index_span);
        if (whole.kind == SCRIPT_VALUE_REGION &&
            script_region_indices(e, whole.as.region, target_span, &indices))
            script_store(e, whole.as.region->tensor, indices, whole.as.region->count, value, target_span,
                         value_span);
        return;
    }
    ir_tensor *tensor = resolve(e, window, indices, &indices, index_span);
    if (tensor)
        script_store(e, tensor, indices, tensor->type.rank, value, target_span, value_span);
}

bool script_window_is_single(const script_window *window) {
    return script_is_single(&window->face);
}

const ir_expr *script_window_single(script_evaluator *e, script_window *window, base_span span) {
    script_value v = script_window_item(e, window, script_int(0), span, span);
    return v.kind == SCRIPT_VALUE_EXPR ? v.as.expr : NULL;
}

/* ---- attributes ---- */

script_value script_word_part_shape(script_evaluator *e, const script_call *call) {
    const ir_tensor_type *type = &call->receiver.as.window->face.type;
    script_value shape = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    int64_t extent = 0;
    for (uint32_t i = 0; i < type->rank; i++) {
        ir_is_int(type->shape[i], &extent);
        script_list_add(e->arena, shape, script_int(extent));
    }
    return shape;
}

script_value script_word_part_dtype(script_evaluator *e, const script_call *call) {
    (void)e;
    script_value v = script_type(script_element_type(&call->receiver.as.window->face));
    v.kind = SCRIPT_VALUE_DTYPE;
    return v;
}

script_value script_word_part_scope(script_evaluator *e, const script_call *call) {
    const char *scope = ir_scope_name(call->receiver.as.window->face.type.scope);
    return script_string(e->arena, scope, strlen(scope));
}

script_value script_word_part_ptr_to(script_evaluator *e, const script_call *call) {
    script_window *window = call->receiver.as.window;
    const ir_expr *const *indices;
    script_value region;
    if (!script_indices(e, &window->face, call->value[0], call->place[0], &indices, &region))
        return script_poison();
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_error(e, "T0211", call->place[0], "a pointer to an element of '%s' takes %u indices",
                     window->face.name, window->face.type.rank);
        return script_poison();
    }
    ir_tensor *tensor = resolve(e, window, indices, &indices, call->place[0]);
    const ir_expr *x =
        tensor ? script_element_address(e, tensor, tuple_of(e, indices, tensor->type.rank), call->place[0])
               : NULL;
    return x ? script_expr(x) : script_poison();
}

script_value script_word_part_permute(script_evaluator *e, const script_call *call) {
    const ir_tensor *face = &call->receiver.as.window->face;
    uint32_t order[MAX_RANK];
    return script_read_order(e, call, face, order)
               ? script_window_permute(e, call->receiver, order, call->span)
               : script_poison();
}

/* view("float16"): over a view of the tensor below, where the last index starts on whole elements. */
static script_value view_dtype(script_evaluator *e, const script_call *call, const script_argument *dtype) {
    const script_window *window = call->receiver.as.window;
    const ir_tensor *parent = script_part_face(window->parent);
    ir_type type;
    if (!script_to_dtype(e, dtype->value, &type, dtype->span))
        return script_poison();
    int64_t from = (int64_t)num_dtype_storage_bits(parent->type.dtype) * parent->type.lanes;
    int64_t to = (int64_t)num_dtype_bits((num_dtype)type.dtype) * type.lanes;
    int64_t up = to < from ? from / to : 1, down = to > from ? to / from : 1, shape[MAX_RANK];
    script_value method = script_get_attribute(e, window->parent, "view", call->span);
    script_arguments arguments = {0};
    base_vector_push(e->arena, &arguments.items, *dtype);
    script_window_piece last = window->count ? window->pieces[window->count - 1] : (script_window_piece){0};
    int32_t axis = (int32_t)window->face.type.rank - 1;
    bool good = !window->is_reshape && last.axis + 1 == parent->type.rank && last.to == axis &&
                last.weight == 1 && pieces_of(window, last.to) == 1 && last.first % down == 0 &&
                last.length % down == 0 && (!last.start || script_is_multiple(e, last.start, down));
    if (!good) {
        script_error(
            e, "T0213", call->span,
            "the last axis of '%s' does not start and end on elements of %lld bits of '%s', for sure",
            window->face.name, (long long)to, script_window_title(window));
        return script_poison();
    }
    script_value below = script_call_value(e, method, &arguments, NULL, call->span, call->span);
    if (below.kind != SCRIPT_VALUE_TENSOR && below.kind != SCRIPT_VALUE_WINDOW)
        return script_poison();
    script_window *result = make(e, below, call->span);
    result->count = window->count;
    memcpy(result->pieces, window->pieces, sizeof(result->pieces));
    script_window_piece *p = &result->pieces[result->count - 1];
    p->first = p->first / down * up;
    p->length = p->length / down * up;
    if (p->start && up > 1)
        p->start = combine(e, IR_MUL, p->start, number(e, up));
    if (p->start && down > 1)
        p->start = combine(e, IR_FLOORDIV, p->start, number(e, down));
    for (uint32_t i = 0; i < window->face.type.rank; i++)
        ir_is_int(window->face.type.shape[i], &shape[i]);
    shape[axis] = p->length;
    set_shape(e, result, shape, window->face.type.rank);
    return window_value(result);
}

script_value script_word_part_view(script_evaluator *e, const script_call *call) {
    const script_window *window = call->receiver.as.window;
    const script_arguments *rest = &call->rest;
    ir_tensor_type type = window->face.type;
    int64_t shape[MAX_RANK], have = 1, want = 1, extent;
    if (script_argument_of(call, "layout")) {
        script_error(
            e, "T0274", script_argument_span(call, "layout"),
            "'%s' starts at values of the kernel inside of '%s': no layout of its own counts from there",
            window->face.name, script_window_title(window));
        return script_poison();
    }
    if (rest->items.count == 1 && (rest->items.items[0].value.kind == SCRIPT_VALUE_STRING ||
                                   rest->items.items[0].value.kind == SCRIPT_VALUE_TYPE ||
                                   rest->items.items[0].value.kind == SCRIPT_VALUE_DTYPE))
        return view_dtype(e, call, &rest->items.items[0]);
    if (!script_view_shape(e, call, &window->face, &type) || !script_constant_shape(e, &type, shape))
        return script_poison();
    for (uint32_t i = 0; i < window->face.type.rank; i++)
        have *= ir_is_int(window->face.type.shape[i], &extent) ? extent : 1;
    for (uint32_t i = 0; i < type.rank; i++)
        if (__builtin_mul_overflow(want, shape[i], &want))
            want = -1;
    if (have != want) {
        base_diagnostic *d = script_error(e, "T0213", call->span, "the view has %lld elements, '%s' has %lld",
                                          (long long)want, window->face.name, (long long)have);
        base_help(e->diagnostics, d, "a view keeps the storage: the numbers must agree");
        return script_poison();
    }
    return script_window_reshape(e, call->receiver, shape, type.rank, call->span);
}

/* vload([i, j], "float32x4") and vstore([i, j], value): the last index starts a vector of the lanes. */
script_value script_word_part_vector(script_evaluator *e, const script_call *call) {
    script_window *window = call->receiver.as.window;
    const ir_tensor_type *type = &window->face.type;
    ir_type wanted = script_element_type(&window->face);
    const script_value *dtype = script_argument_of(call, "dtype");
    const ir_expr *const *indices;
    script_value region;
    if (dtype && !script_to_dtype(e, *dtype, &wanted, script_argument_span(call, "dtype")))
        return script_poison();
    if (call->word->data && script_is_ir(call->value[1])) {
        const ir_expr *value = script_to_expr(e, call->value[1], call->place[1]);
        if (!value)
            return script_poison();
        wanted.lanes = value->type.lanes;
    }
    if (wanted.dtype != type->dtype || wanted.lanes % type->lanes != 0) {
        script_error(e, "T0233", call->span, "a vector of %s from '%s' of %s", script_type_name(e, wanted),
                     window->face.name, script_type_name(e, script_element_type(&window->face)));
        return script_poison();
    }
    if (!script_indices(e, &window->face, call->value[0], call->place[0], &indices, &region))
        return script_poison();
    if (region.kind == SCRIPT_VALUE_REGION) {
        script_error(e, "T0211", call->place[0], "a vector access of '%s' takes %u indices",
                     window->face.name, type->rank);
        return script_poison();
    }
    script_value index = tuple_of(e, indices, type->rank);
    const ir_expr *last = indices[type->rank - 1];
    if (wanted.lanes > type->lanes && last->type.lanes == 1) {
        const ir_expr *args[2] = {last, ir_int(e->module, (num_dtype)last->type.dtype, 1)};
        index.as.list->items.items[type->rank - 1] = script_expr(
            ir_make(e->module, IR_RAMP, ir_type_prim((num_dtype)last->type.dtype, wanted.lanes / type->lanes),
                    args, 2));
    }
    if (call->word->data == 0)
        return script_window_item(e, window, index, call->span, call->place[0]);
    script_window_store(e, window, index, call->value[1], call->span, call->place[0], call->place[1]);
    return script_none();
}

script_value script_window_attribute(script_evaluator *e, script_value window, const char *name,
                                     base_span span) {
    bool found;
    script_value v = script_member(e, window, "Part", name, span, &found);
    if (found)
        return v;
    if (!script_word_of("Tensor", name)) {
        script_error(e, "T0202", span, "%s has no attribute '%s'", script_value_name(e->arena, window), name);
        return script_poison();
    }
    const script_window *w = window.as.window;
    base_diagnostic *d =
        script_error(e, "T0274", span,
                     "'%s' is a part of '%s' that starts at values of the kernel: it has no '%s' "
                     "of its own",
                     w->face.name, script_window_title(w), name);
    base_help(e->diagnostics, d, "index it, or take a pointer to an element: %s.ptr_to([...])", w->face.name);
    return script_poison();
}
