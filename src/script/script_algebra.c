/* SPDX-License-Identifier: Apache-2.0
 * The algebra of layouts as methods: tile, group, slice, permute, pack and what recognises them, and the
 * parts of a layout as values. All of it happens while compiling. The algebra is layout/'s; here words become
 * calls. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 32 };

/* ---- arguments ---- */

static script_value layout_value(const layout_tile *layout) {
    return (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = layout};
}

/* A layout, or the refusal with the name of the method. */
static script_value give(script_evaluator *e, const script_call *call, const layout_tile *layout,
                         const layout_error *error) {
    if (layout)
        return layout_value(layout);
    script_error(e, "T0214", call->span, "%s gives no layout: %s", call->word->path,
                 error->text ? error->text : "its numbers are too large");
    return script_poison();
}

/* What a recogniser found, or None; a question that makes no sense is an error. */
static script_value give_or_none(script_evaluator *e, const script_call *call, const layout_tile *layout,
                                 const layout_error *error) {
    return layout || error->text ? give(e, call, layout, error) : script_none();
}

static bool layout_argument(script_evaluator *e, const script_call *call, const char *name,
                            const layout_tile **layout) {
    const script_value *v = script_argument_of(call, name);
    base_span span = script_argument_span(call, name);
    if (!v || !script_to_layout(e, *v, layout, span))
        return false;
    if (!*layout)
        script_error(e, "T0205", span, "%s of %s is a layout, written out: TileLayout(S[...])", name,
                     call->word->path);
    return *layout != NULL;
}

static bool numbers_of(script_evaluator *e, script_value v, base_span span, const char *what,
                       int64_t *numbers, uint32_t *count) {
    script_value single = v;
    const script_value *items = &single;
    size_t n = 1;
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        items = v.as.list->items.items;
        n = v.as.list->items.count;
    }
    if (n == 0 || n > MAX_RANK) {
        script_error(e, "T0211", span, "%s has %zu entries; 1 to %d are possible", what, n, MAX_RANK);
        return false;
    }
    for (*count = 0; *count < n; ++*count)
        if (!script_constant_int(e, items[*count], &numbers[*count], span, what))
            return false;
    return true;
}

static bool numbers_argument(script_evaluator *e, const script_call *call, const char *name, int64_t *numbers,
                             uint32_t *count) {
    const script_value *v = script_argument_of(call, name);
    return v && numbers_of(e, *v, script_argument_span(call, name), name, numbers, count);
}

/* A shape: positive extents. */
static bool shape_argument(script_evaluator *e, const script_call *call, const char *name, int64_t *shape,
                           uint32_t *rank) {
    if (!numbers_argument(e, call, name, shape, rank))
        return false;
    for (uint32_t i = 0; i < *rank; i++)
        if (shape[i] < 1) {
            script_error(e, "T0213", script_argument_span(call, name),
                         "extent %u of %s is %lld: extents are positive", i, name, (long long)shape[i]);
            return false;
        }
    return true;
}

static bool same_rank(script_evaluator *e, const script_call *call, const char *a, uint32_t rank_a,
                      const char *b, uint32_t rank_b) {
    if (rank_a == rank_b)
        return true;
    script_error(e, "T0211", call->span, "%s has %u entries, %s has %u", a, rank_a, b, rank_b);
    return false;
}

static script_value number_list(script_evaluator *e, const uint32_t *numbers, uint32_t count) {
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (uint32_t i = 0; i < count; i++)
        script_list_add(e->arena, list, script_int(numbers[i]));
    return list;
}

/* ---- forms of one layout ---- */

/* Threads by the widest axis of their scope, as the reference's CUDA target does it. */
script_value script_word_layout_canonicalize(script_evaluator *e, const script_call *call) {
    layout_error error = {NULL};
    return give(e, call, layout_canonical_fused(e->arena, call->receiver.as.layout, &error), &error);
}

script_value script_word_layout_storage(script_evaluator *e, const script_call *call) {
    layout_error error = {"it has no part in storage"};
    const layout_tile *layout = layout_storage(e->arena, call->receiver.as.layout);
    return give(e, call, layout->shard_count ? layout : NULL, &error);
}

/* unpack(n), pack(n): data is 1 for pack. The axis, when it is said, is the one that the elements lie on. */
script_value script_word_layout_pack(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout, *result;
    const script_value *axis = script_argument_of(call, "axis");
    layout_error error = {NULL};
    layout_axis wanted = LAYOUT_AXIS_M;
    int64_t n;
    if (!script_constant_int(e, call->value[0], &n, call->place[0], "a number of elements") ||
        (axis && !script_layout_axis(e, *axis, &wanted, script_argument_span(call, "axis"))))
        return script_poison();
    result = call->word->data ? layout_pack(e->arena, layout, n, &error)
                              : layout_unpack(e->arena, layout, n, &error);
    if (result && axis && result->shard[result->shard_count - 1].axis != wanted) {
        script_error(e, "T0214", script_argument_span(call, "axis"),
                     "the elements of %s lie side by side on axis %s, not on %s",
                     layout_text_of(e->arena, layout),
                     layout_axis_name(result->shard[result->shard_count - 1].axis), layout_axis_name(wanted));
        return script_poison();
    }
    return give(e, call, result, &error);
}

script_value script_word_layout_broadcast(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    const script_value *axis = script_argument_of(call, "axis"),
                       *place = script_argument_of(call, "position");
    layout_error error = {NULL};
    layout_axis on = LAYOUT_AXIS_M;
    int64_t n, position = -1, count = layout->shard_count;
    if (!script_constant_int(e, call->value[0], &n, call->place[0], "a number of copies") ||
        (place &&
         !script_constant_int(e, *place, &position, script_argument_span(call, "position"), "a position")) ||
        (axis && !script_layout_axis(e, *axis, &on, script_argument_span(call, "axis"))))
        return script_poison();
    if (position < 0) /* -1 is behind the last */
        position += count + 1;
    if (position < 0 || position > count) {
        script_error(e, "T0214", script_argument_span(call, "position"),
                     "position %lld is outside the %lld parts of the layout",
                     (long long)(position < 0 ? position - count - 1 : position), (long long)count);
        return script_poison();
    }
    return give(e, call, layout_broadcast(e->arena, layout, n, (uint32_t)position, on, &error), &error);
}

/* ---- groups and permutations ---- */

script_value script_word_layout_group(script_evaluator *e, const script_call *call) {
    int64_t shape[MAX_RANK];
    uint32_t rank, separators[MAX_RANK + 1];
    layout_error error = {NULL};
    if (!shape_argument(e, call, "shape", shape, &rank))
        return script_poison();
    script_value layout = give(
        e, call, layout_group(e->arena, call->receiver.as.layout, shape, rank, separators, &error), &error);
    if (script_is_poison(layout))
        return layout;
    script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    script_list_add(e->arena, pair, layout);
    script_list_add(e->arena, pair, number_list(e, separators, rank + 1));
    return pair;
}

script_value script_word_layout_group_many(script_evaluator *e, const script_call *call) {
    script_value shapes = call->value[0];
    layout_error error = {NULL};
    bool listed = shapes.kind == SCRIPT_VALUE_LIST || shapes.kind == SCRIPT_VALUE_TUPLE;
    size_t count = listed ? shapes.as.list->items.count : 0;
    if (count == 0 || count > MAX_RANK) {
        script_error(e, "T0211", call->place[0], "group_many takes a list of 1 to %d shapes", MAX_RANK);
        return script_poison();
    }
    const int64_t *list[MAX_RANK];
    uint32_t ranks[MAX_RANK], *separators[MAX_RANK];
    for (size_t i = 0; i < count; i++) {
        int64_t *shape = BASE_NEW_ARRAY(e->arena, int64_t, MAX_RANK);
        if (!numbers_of(e, shapes.as.list->items.items[i], call->place[0], "a shape", shape, &ranks[i]))
            return script_poison();
        list[i] = shape;
        separators[i] = BASE_NEW_ARRAY(e->arena, uint32_t, ranks[i] + 1);
    }
    script_value layout = give(e, call,
                               layout_group_many(e->arena, call->receiver.as.layout, (uint32_t)count, list,
                                                 ranks, separators, &error),
                               &error);
    if (script_is_poison(layout))
        return layout;
    script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    script_value all = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (size_t i = 0; i < count; i++)
        script_list_add(e->arena, all, number_list(e, separators[i], ranks[i] + 1));
    script_list_add(e->arena, pair, layout);
    script_list_add(e->arena, pair, all);
    return pair;
}

/* permute_dims reorders the iters one by one, permute_by_groups whole groups between separators. */
script_value script_word_layout_permute(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    int64_t order[MAX_RANK], bounds[MAX_RANK + 1];
    uint32_t count, groups = layout->shard_count, bound_count, separators[MAX_RANK + 1], places[MAX_RANK];
    layout_error error = {NULL};
    base_span span = script_argument_span(call, "perm");
    if (!numbers_argument(e, call, "perm", order, &count))
        return script_poison();
    for (uint32_t i = 0; i <= groups && i <= MAX_RANK; i++)
        separators[i] = i;
    if (call->word->data == 1) {
        if (!numbers_argument(e, call, "seps", bounds, &bound_count))
            return script_poison();
        groups = bound_count - 1;
        bool rising = bounds[0] == 0 && bounds[groups] == layout->shard_count;
        for (uint32_t i = 0; i <= groups; i++) {
            rising = rising && bounds[i] >= 0 && bounds[i] <= layout->shard_count &&
                     (i == 0 || bounds[i] >= bounds[i - 1]);
            separators[i] = rising ? (uint32_t)bounds[i] : 0;
        }
        if (!rising) {
            script_error(e, "T0214", script_argument_span(call, "seps"),
                         "separators rise from 0 to the %u parts of the layout", layout->shard_count);
            return script_poison();
        }
    }
    if (groups > MAX_RANK || !same_rank(e, call, "perm", count, "the layout", groups))
        return script_poison();
    uint64_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (order[i] < 0 || order[i] >= count || (seen >> order[i] & 1)) {
            script_error(e, "T0214", span, "perm holds every number from 0 to %u once; entry %u is %lld",
                         count - 1, i, (long long)order[i]);
            return script_poison();
        }
        seen |= (uint64_t)1 << order[i];
        places[i] = (uint32_t)order[i];
    }
    return give(e, call, layout_permute_groups(e->arena, layout, separators, count, places, &error), &error);
}

/* ---- layouts of two ---- */

script_value script_word_layout_tile(script_evaluator *e, const script_call *call) {
    const layout_tile *outer;
    int64_t outer_shape[MAX_RANK], inner_shape[MAX_RANK];
    uint32_t outer_rank, inner_rank;
    layout_error error = {NULL};
    if (!layout_argument(e, call, "outer", &outer) ||
        !shape_argument(e, call, "outer_shape", outer_shape, &outer_rank) ||
        !shape_argument(e, call, "inner_shape", inner_shape, &inner_rank) ||
        !same_rank(e, call, "outer_shape", outer_rank, "inner_shape", inner_rank))
        return script_poison();
    return give(e, call,
                layout_product(e->arena, call->receiver.as.layout, outer, outer_shape, inner_shape,
                               inner_rank, true, &error),
                &error);
}

script_value script_word_layout_tile_to(script_evaluator *e, const script_call *call) {
    int64_t to[MAX_RANK], current[MAX_RANK];
    uint32_t to_rank, rank;
    layout_error error = {NULL};
    if (!shape_argument(e, call, "to_shape", to, &to_rank) ||
        !shape_argument(e, call, "current_shape", current, &rank) ||
        !same_rank(e, call, "to_shape", to_rank, "current_shape", rank))
        return script_poison();
    const layout_tile *layout =
        layout_product_to(e->arena, call->receiver.as.layout, to, current, rank, &error);
    return give(e, call, layout ? layout_canonical_fused(e->arena, layout, &error) : NULL, &error);
}

script_value script_word_layout_direct_sum(script_evaluator *e, const script_call *call) {
    const layout_tile *left;
    int64_t left_shape[MAX_RANK], right_shape[MAX_RANK];
    uint32_t left_rank, right_rank;
    layout_error error = {NULL};
    if (!layout_argument(e, call, "left", &left) ||
        !shape_argument(e, call, "left_shape", left_shape, &left_rank) ||
        !shape_argument(e, call, "right_shape", right_shape, &right_rank) ||
        !same_rank(e, call, "left_shape", left_rank, "right_shape", right_rank))
        return script_poison();
    return give(e, call,
                layout_direct_sum(e->arena, left, call->receiver.as.layout, left_shape, right_shape,
                                  right_rank, &error),
                &error);
}

/* The other operand of a tile (data 0: the receiver is inner, 1: outer) or of a direct sum (2: the receiver
 * is the right addend, 3: the left one). */
script_value script_word_layout_is_tile(script_evaluator *e, const script_call *call) {
    static const char *const names[] = {"inner_shape", "outer_shape", "right_shape", "left_shape"};
    bool sum = call->word->data >= 2;
    const layout_tile *whole, *own = call->receiver.as.layout, *other;
    int64_t shape[MAX_RANK], own_shape[MAX_RANK];
    uint32_t rank, own_rank;
    layout_error error = {NULL};
    const char *shape_name = sum ? "interleaved_shape" : "tiled_shape", *own_name = names[call->word->data];
    if (!layout_argument(e, call, sum ? "sum_layout" : "tile_layout", &whole) ||
        !shape_argument(e, call, shape_name, shape, &rank) ||
        !shape_argument(e, call, own_name, own_shape, &own_rank))
        return script_poison();
    if (rank != own_rank * (sum ? 2 : 1)) {
        script_error(e, "T0211", call->span, "%s has %u entries and %s %u: %s", shape_name, rank, own_name,
                     own_rank, sum ? "the sum has two for each of them" : "they are as many");
        return script_poison();
    }
    if (sum)
        other =
            layout_addend_of(e->arena, own, whole, shape, own_shape, own_rank, call->word->data == 2, &error);
    else if (call->word->data == 0)
        other = layout_outer_of(e->arena, own, whole, shape, own_shape, rank, true, &error);
    else
        other = layout_inner_of(e->arena, own, whole, shape, own_shape, rank, true, &error);
    return give_or_none(e, call, other, &error);
}

/* The box of (begin, end) pairs as a layout, or None when no layout says it. */
script_value script_word_layout_slice(script_evaluator *e, const script_call *call) {
    int64_t shape[MAX_RANK], begin[MAX_RANK], end[MAX_RANK], size, product = 1;
    uint32_t rank;
    layout_error error = {NULL};
    base_span span = script_argument_span(call, "region");
    const script_value *region = script_argument_of(call, "region");
    const layout_tile *layout = call->receiver.as.layout;
    if (!region || !shape_argument(e, call, "shape", shape, &rank))
        return script_poison();
    bool listed = region->kind == SCRIPT_VALUE_LIST || region->kind == SCRIPT_VALUE_TUPLE;
    if (!listed || region->as.list->items.count != rank) {
        script_error(e, "T0211", span,
                     "region is a list of %u pairs (begin, end), one for each extent of shape", rank);
        return script_poison();
    }
    for (uint32_t d = 0; d < rank; d++) {
        int64_t pair[MAX_RANK];
        uint32_t count;
        if (!numbers_of(e, region->as.list->items.items[d], span, "a range of region", pair, &count))
            return script_poison();
        if (count != 2 || pair[0] < 0 || pair[1] <= pair[0] || pair[1] > shape[d]) {
            script_error(e, "T0274", span, "range %u of region is (begin, end) inside the extent %lld%s", d,
                         (long long)shape[d],
                         count == 2 ? base_arena_format(e->arena, ", not (%lld, %lld)", (long long)pair[0],
                                                        (long long)pair[1])
                                    : "");
            return script_poison();
        }
        begin[d] = pair[0];
        end[d] = pair[1];
        if (__builtin_mul_overflow(product, shape[d], &product))
            product = -1;
    }
    if (!layout_size(layout, &size) || size != product) {
        script_error(e, "T0213", script_argument_span(call, "shape"),
                     "the shape has %lld elements, the layout %lld coordinates", (long long)product,
                     (long long)size);
        return script_poison();
    }
    const layout_tile *part = layout_slice(e->arena, layout, shape, rank, begin, end, &error);
    return part ? layout_value(part) : script_none();
}

/* The digits that a constant coordinate has, one for each part. */
script_value script_word_layout_apply_to_shape(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    int64_t coordinate[MAX_RANK], shape[MAX_RANK];
    uint32_t count, rank, digit_count = 0;
    layout_error error = {NULL};
    if (!numbers_argument(e, call, "coord", coordinate, &count) ||
        !shape_argument(e, call, "input_shape", shape, &rank) ||
        !same_rank(e, call, "coord", count, "input_shape", rank))
        return script_poison();
    int64_t *digits = BASE_NEW_ARRAY(e->arena, int64_t, layout->shard_count + rank + 1);
    if (!layout_apply_digits(layout, coordinate, rank, shape, digits, &digit_count, &error, e->arena)) {
        script_error(e, "T0214", call->span, "the layout does not apply: %s",
                     error.text ? error.text : "numbers too large");
        return script_poison();
    }
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (uint32_t i = 0; i < digit_count; i++)
        script_list_add(e->arena, list, script_int(digits[i]));
    return list;
}

/* ---- questions ---- */

/* Strides that are row-major on m. */
static bool is_contiguous(const layout_tile *layout) {
    int64_t step = 1;
    if (layout->replica_count || layout->swizzle.present)
        return false;
    for (uint32_t i = layout->shard_count; i-- > 0;)
        if (layout->shard[i].axis != LAYOUT_AXIS_M ||
            (layout->shard[i].extent != 1 && layout->shard[i].stride != step) ||
            __builtin_mul_overflow(step, layout->shard[i].extent, &step))
            return false;
    for (int a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (a != LAYOUT_AXIS_M && layout->offset[a])
            return false;
    return true;
}

/* The identity onto one memory axis, as the reference has it: lanes and columns of tensor memory too. */
static bool is_trivial(script_evaluator *e, const layout_tile *layout) {
    const layout_tile *form = layout_canonical(e->arena, layout);
    if (!form || form->shard_count != 1 || form->replica_count || form->offset_axes || form->swizzle.present)
        return false;
    return layout_axis_is_memory(form->shard[0].axis) &&
           (form->shard[0].extent == 1 || form->shard[0].stride == 1);
}

enum { ASK_SWIZZLE, ASK_CONTIGUOUS, ASK_TRIVIAL, ASK_TRAINIUM };
script_value script_word_layout_is(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    bool trainium = !layout->swizzle.present;
    switch (call->word->data) {
    case ASK_SWIZZLE:
        return script_bool(layout->swizzle.present && layout->swizzle.length > 0);
    case ASK_CONTIGUOUS:
        return script_bool(is_contiguous(layout));
    case ASK_TRIVIAL:
        return script_bool(is_trivial(e, layout));
    default:
        for (uint32_t i = 0; i < layout->shard_count; i++)
            trainium = trainium &&
                       (layout->shard[i].axis == LAYOUT_AXIS_P || layout->shard[i].axis == LAYOUT_AXIS_F ||
                        layout->shard[i].axis == LAYOUT_AXIS_BANK);
        return script_bool(trainium);
    }
}

/* ("thread", "warpgroup"), or None without threads. */
script_value script_word_layout_scope(script_evaluator *e, const script_call *call) {
    layout_scope scopes[2];
    layout_error error = {NULL};
    if (!layout_scopes(e->arena, call->receiver.as.layout, &scopes[0], &scopes[1], &error))
        return give(e, call, NULL, &error);
    if (scopes[0] == LAYOUT_SCOPE_NONE)
        return script_none();
    script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (int i = 0; i < 2; i++) {
        const char *name = layout_scope_name(scopes[i]);
        script_list_add(e->arena, pair, script_string(e->arena, name, strlen(name)));
    }
    return pair;
}

/* check_well_formed() ends with an error or says nothing; the older verify_well_formed() answers. */
script_value script_word_layout_check(script_evaluator *e, const script_call *call) {
    layout_error error = {NULL};
    bool good = layout_canonical_fused(e->arena, call->receiver.as.layout, &error) != NULL;
    if (call->word->data == 1)
        return script_bool(good);
    if (good)
        return script_none();
    script_error(e, "T0214", call->span, "%s is not well formed: %s",
                 layout_text_of(e->arena, call->receiver.as.layout), error.text ? error.text : "too large");
    return script_poison();
}

/* ---- parts ---- */

static script_value iter_value(layout_iter iter) {
    return (script_value){.kind = SCRIPT_VALUE_ITER, .as.iter = iter};
}

enum { PART_SHARD, PART_REPLICA, PART_OFFSET, PART_TILE, PART_ELEMENT, PART_LENGTH, PART_ATOM, PART_INNER };
script_value script_word_layout_part(script_evaluator *e, const script_call *call) {
    const layout_tile *layout = call->receiver.as.layout;
    bool replica = call->word->data == PART_REPLICA;
    if (call->word->data >= PART_TILE && !layout->swizzle.present) {
        script_error(e, "T0202", call->span, "%s has no swizzle, and no attribute '%s'",
                     layout_text_of(e->arena, layout), call->word->path + strlen("Layout."));
        return script_poison();
    }
    switch (call->word->data) {
    case PART_SHARD:
    case PART_REPLICA: {
        script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
        for (uint32_t i = 0; i < (replica ? layout->replica_count : layout->shard_count); i++)
            script_list_add(e->arena, list, iter_value(replica ? layout->replica[i] : layout->shard[i]));
        return list;
    }
    case PART_OFFSET: {
        script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
        for (int a = 0; a < LAYOUT_AXIS_COUNT; a++)
            if (layout->offset_axes >> a & 1) {
                const char *name = layout_axis_name((layout_axis)a);
                script_list_add(e->arena, dict, script_string(e->arena, name, strlen(name)));
                script_list_add(e->arena, dict, script_int(layout->offset[a]));
            }
        return dict;
    }
    case PART_TILE: {
        layout_tile *tile = base_arena_copy(e->arena, layout, sizeof(*tile));
        tile->swizzle = (layout_swizzle){0};
        return layout_value(tile);
    }
    case PART_ELEMENT:
        return script_int(layout->swizzle.per_element);
    case PART_LENGTH:
        return script_int(layout->swizzle.length);
    case PART_ATOM:
        return script_int(layout->swizzle.atom);
    default:
        return script_bool(!layout->swizzle.outer);
    }
}

/* iter.extent, iter.stride, iter.axis; axis.name and its questions. */
script_value script_word_iter_part(script_evaluator *e, const script_call *call) {
    layout_iter iter = call->receiver.as.iter;
    (void)e;
    if (call->word->data == 2)
        return (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = iter.axis};
    return script_int(call->word->data ? iter.stride : iter.extent);
}

script_value script_word_axis_part(script_evaluator *e, const script_call *call) {
    layout_axis axis = call->receiver.as.axis;
    const char *name = layout_axis_name(axis);
    if (call->word->data == 0)
        return script_string(e->arena, name, strlen(name));
    return script_bool(call->word->data == 1 ? layout_axis_is_thread(axis) : layout_axis_is_memory(axis));
}

script_value script_word_iter(script_evaluator *e, const script_call *call) {
    layout_iter iter = {.axis = LAYOUT_AXIS_M};
    if (!script_constant_int(e, call->value[0], &iter.extent, call->place[0], "an extent of a layout") ||
        !script_constant_int(e, call->value[1], &iter.stride, call->place[1], "a stride of a layout") ||
        !script_layout_axis(e, call->value[2], &iter.axis, call->place[2]))
        return script_poison();
    if (iter.extent < 1) {
        script_error(e, "T0214", call->place[0], "the extent of an Iter is %lld: extents are positive",
                     (long long)iter.extent);
        return script_poison();
    }
    return iter_value(iter);
}

static bool iters_argument(script_evaluator *e, const script_call *call, const char *name, layout_iter *iters,
                           uint32_t *count) {
    const script_value *v = script_argument_of(call, name);
    script_list *list;
    *count = 0;
    if (!v)
        return true;
    if (!script_iterate(e, *v, &list, script_argument_span(call, name)))
        return false;
    if (list->items.count > MAX_RANK) {
        script_error(e, "T0214", script_argument_span(call, name), "%zu parts; at most %d are possible",
                     list->items.count, MAX_RANK);
        return false;
    }
    for (; *count < list->items.count; ++*count) {
        script_value item = list->items.items[*count];
        if (item.kind != SCRIPT_VALUE_ITER) {
            script_error(e, "T0205", script_argument_span(call, name), "entry %u of %s is an Iter, not %s",
                         *count, name, script_value_name(e->arena, item));
            return false;
        }
        iters[*count] = item.as.iter;
    }
    return true;
}

script_value script_word_from_iters(script_evaluator *e, const script_call *call) {
    layout_iter shard[MAX_RANK], replica[MAX_RANK];
    uint32_t shard_count, replica_count, axes = 0;
    int64_t offset[LAYOUT_AXIS_COUNT] = {0};
    layout_error error = {NULL};
    const script_value *given = script_argument_of(call, "offset");
    base_span span = script_argument_span(call, "offset");
    if (!iters_argument(e, call, "shard", shard, &shard_count) ||
        !iters_argument(e, call, "replica", replica, &replica_count))
        return script_poison();
    if (shard_count == 0) {
        script_error(e, "T0214", call->span, "a layout needs at least one part of its shard");
        return script_poison();
    }
    if (given && given->kind != SCRIPT_VALUE_DICT) {
        script_error(e, "T0205", span, "offset is a dict from axes to numbers, not %s",
                     script_value_name(e->arena, *given));
        return script_poison();
    }
    for (size_t i = 0; given && i + 1 < given->as.list->items.count; i += 2) {
        layout_axis axis;
        if (!script_layout_axis(e, given->as.list->items.items[i], &axis, span) ||
            !script_constant_int(e, given->as.list->items.items[i + 1], &offset[axis], span, "an offset"))
            return script_poison();
        axes |= 1u << axis;
    }
    return give(e, call,
                layout_make(e->arena, shard, shard_count, replica, replica_count, offset, axes, &error),
                &error);
}
