/* SPDX-License-Identifier: Apache-2.0
 * Views of parts of a tensor, A.sub[...], and of its axes split and joined, A.rearrange(...). Constant parts
 * move into the layout; a part that starts at a value of the kernel moves the pointer, or the origin where
 * the strides are values of the launch. */
#include "script/script_evaluate.h"
#include <string.h>

enum { MAX_RANK = 16 };

/* One axis of sub[...]: begin is an expression or a constant; every step-th of `extent` elements from there.
 */
typedef struct part {
    const ir_expr *begin; /* NULL: the constant `first` */
    int64_t first, step;
    const ir_expr *extent; /* of the result; NULL: the axis is dropped */
} part;

script_value script_word_tensor_sub(script_evaluator *e, const script_call *call) {
    script_value v = {.kind = SCRIPT_VALUE_METHOD};
    v.as.method.word = call->word;
    v.as.method.receiver = BASE_NEW(e->arena, script_value);
    *v.as.method.receiver = call->receiver;
    return v;
}

/* ---- reading ---- */

static bool outside(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, int64_t begin, int64_t end,
                    int64_t extent, base_span span) {
    base_diagnostic *d =
        script_error(e, "T0274", span, "%lld to %lld of axis %u is not inside '%s': its extent is %lld",
                     (long long)begin, (long long)end, axis, tensor->name, (long long)extent);
    base_help(e->diagnostics, d, "a part lies inside the tensor and is not empty");
    return false;
}

static bool read_begin(script_evaluator *e, script_value v, base_span span, const char *what, part *out) {
    if (script_value_integer(v, &out->first))
        return true;
    if (v.kind == SCRIPT_VALUE_EXPR && script_expr_constant(e, v.as.expr, &out->first))
        return true;
    out->begin = script_to_index(e, v, span, what);
    return out->begin != NULL;
}

/* a::s: every s-th, as the remainder a of a split of the axis. */
static bool read_step(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, const script_value *parts,
                      base_span span, part *out) {
    int64_t extent;
    if (!script_constant_int(e, parts[2], &out->step, span, "the step of a part"))
        return false;
    if (out->step == 1)
        return true;
    if (!ir_is_int(tensor->type.shape[axis], &extent) || out->begin || parts[1].kind != SCRIPT_VALUE_NONE ||
        out->step < 1 || extent % out->step || out->first < 0 || out->first >= out->step) {
        base_diagnostic *d = script_error(
            e, "T0274", span,
            "a stepped part of axis %u of '%s' is a::s with constants, 0 <= a < s, and s dividing "
            "the extent%s",
            axis, tensor->name,
            ir_is_int(tensor->type.shape[axis], &extent)
                ? base_arena_format(e->arena, " %lld; here a is %s%lld, s %lld", (long long)extent,
                                    out->begin ? "no constant, not " : "", (long long)out->first,
                                    (long long)out->step)
                : "");
        base_help(e->diagnostics, d, "sub[a:b] narrows first");
        return false;
    }
    out->extent = ir_int(e->module, NUM_DTYPE_I32, extent / out->step);
    return true;
}

static bool read_range(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, const script_value *parts,
                       base_span span, part *out) {
    const ir_expr *stop = tensor->type.shape[axis];
    int64_t length, extent;
    if (parts[0].kind != SCRIPT_VALUE_NONE && !read_begin(e, parts[0], span, "the start of a part", out))
        return false;
    if (parts[2].kind != SCRIPT_VALUE_NONE) {
        if (!read_step(e, tensor, axis, parts, span, out))
            return false;
        if (out->step > 1)
            return true;
    }
    if (parts[1].kind != SCRIPT_VALUE_NONE &&
        !(stop = script_to_index(e, parts[1], span, "the end of a part")))
        return false;
    const ir_expr *start = out->begin ? out->begin : ir_int(e->module, NUM_DTYPE_I64, out->first);
    if (!out->begin && out->first == (int32_t)out->first)
        start = ir_int(e->module, NUM_DTYPE_I32, out->first);
    if (!(out->extent = script_length(e, stop, start, span)))
        return false;
    if (script_expr_constant(e, out->extent, &length)) {
        bool bounded = ir_is_int(tensor->type.shape[axis], &extent);
        if (length < 1 || (!out->begin && out->first < 0) ||
            (bounded && (length > extent || (!out->begin && out->first > extent - length))))
            return outside(e, tensor, axis, out->begin ? 0 : out->first,
                           out->begin ? length : out->first + length, bounded ? extent : -1, span);
        out->extent = ir_int(e->module, NUM_DTYPE_I32, length);
        return true;
    }
    if (tensor->type.layout ||
        !tensor->type.strides) { /* checked again by script_shape's rule for dense ones */
        int64_t shape[MAX_RANK];
        if (tensor->type.layout || script_constant_shape(e, &tensor->type, shape)) {
            script_constant_int(e, script_expr(out->extent), &length, span, "the length of a part");
            return false;
        }
    }
    return true;
}

static bool read_part(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, script_value v,
                      base_span span, part *out) {
    int64_t extent;
    *out = (part){.step = 1};
    if (v.kind == SCRIPT_VALUE_SLICE)
        return read_range(e, tensor, axis, v.as.list->items.items, span, out);
    if (!read_begin(e, v, span, "an index", out))
        return false;
    if (!out->begin &&
        (out->first < 0 || (ir_is_int(tensor->type.shape[axis], &extent) && out->first >= extent)))
        return outside(e, tensor, axis, out->first, out->first < INT64_MAX ? out->first + 1 : out->first,
                       ir_is_int(tensor->type.shape[axis], &extent) ? extent : -1, span);
    return true;
}

/* ---- strides of the launch ---- */

static const ir_expr *sum_of(script_evaluator *e, ir_op op, const ir_expr *a, const ir_expr *b,
                             base_span span) {
    const ir_expr *x, *y;
    if (!a)
        return b;
    return script_promote(e, script_expr(a), script_expr(b), &x, &y, span) ? ir_binary(e->module, op, x, y)
                                                                           : a;
}

static script_value strided(script_evaluator *e, ir_tensor *tensor, const part *parts, base_span span) {
    ir_tensor_type type = tensor->type;
    const ir_expr *const *old = type.strides ? type.strides : script_dense_strides(e, &type);
    const ir_expr **shape = BASE_NEW_ARRAY(e->arena, const ir_expr *, type.rank + 1);
    const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, type.rank + 1);
    uint32_t rank = 0;
    int64_t zero;
    for (uint32_t i = 0; i < tensor->type.rank; i++) {
        const part *p = &parts[i];
        const ir_expr *begin = p->begin ? p->begin : ir_int(e->module, NUM_DTYPE_I32, p->first);
        if (ir_expr_reads(begin)) { /* taken now */
            script_value let = script_make_let(e, begin, span);
            if (let.kind != SCRIPT_VALUE_EXPR)
                return script_poison();
            begin = let.as.expr;
        }
        if (!ir_is_int(begin, &zero) || zero != 0)
            type.origin = sum_of(e, IR_ADD, type.origin, sum_of(e, IR_MUL, begin, old[i], span), span);
        if (!p->extent)
            continue;
        shape[rank] = p->extent;
        strides[rank++] = p->step == 1
                              ? old[i]
                              : sum_of(e, IR_MUL, old[i], ir_int(e->module, NUM_DTYPE_I32, p->step), span);
    }
    if (rank == 0) { /* one element */
        shape[rank] = ir_int(e->module, NUM_DTYPE_I32, 1);
        strides[rank++] = ir_int(e->module, NUM_DTYPE_I32, 1);
    }
    type.rank = rank;
    type.shape = shape;
    type.strides = strides;
    return script_make_view(e, &type, script_root_pointer(e, tensor), span);
}

/* ---- constant layouts ---- */

/* The expression is a multiple of n by its form. */
bool script_is_multiple(script_evaluator *e, const ir_expr *x, int64_t n) {
    int64_t value;
    if (x->size > 1000) /* nodes, shared ones counted again: the walk would not end */
        return false;
    if (n == 1 || (script_expr_constant(e, x, &value) && value % n == 0))
        return true;
    if (x->op == IR_VAR) {
        const ir_expr *let = e->let_values ? base_map_get(e->let_values, BASE_KEY(x->at.var)) : NULL;
        return let && let != x && script_is_multiple(e, let, n);
    }
    if (x->op == IR_ADD || x->op == IR_SUB)
        return script_is_multiple(e, x->args[0], n) && script_is_multiple(e, x->args[1], n);
    if (x->op == IR_MUL)
        return script_is_multiple(e, x->args[0], n) || script_is_multiple(e, x->args[1], n);
    return false;
}

/* Whether the pointer may move by the start of this axis: the address of begin + x is that of begin plus that
 * of x. Several digits: when neither carries into the other. A swizzle: when its phase does not change. */
static bool may_move(script_evaluator *e, const ir_tensor *tensor, const layout_tile *layout,
                     const layout_iter *iters, uint32_t count, uint32_t axis, const part *p, base_span span) {
    int64_t inner = 1, length = 1, period = layout_swizzle_period(layout->swizzle);
    bool whole = true;
    for (uint32_t i = 1; i < count; i++)
        inner *= iters[i].extent;
    for (uint32_t i = 0; i < count; i++)
        whole = whole && iters[i].stride % period == 0;
    if (p->extent)
        ir_is_int(p->extent, &length);
    if (p->extent && (!script_is_multiple(e, p->begin, inner) || length % inner != 0)) {
        base_diagnostic *d = script_error(e, "T0274", span,
                                          "axis %u of '%s' has blocks of %lld elements: a part that starts "
                                          "at a value of the kernel starts and ends "
                                          "on a block",
                                          axis, tensor->name, (long long)inner);
        base_help(e->diagnostics, d, "write the start as a multiple of %lld, or index '%s' itself",
                  (long long)inner, tensor->name);
        return false;
    }
    if (layout->swizzle.present && (!whole || layout->offset[LAYOUT_AXIS_M] != 0)) {
        base_diagnostic *d = script_error(
            e, "T0274", span,
            "the swizzle of '%s' repeats every %lld elements, and axis %u does not step by multiples of that",
            tensor->name, (long long)period, axis);
        base_help(e->diagnostics, d, "take constant parts of this axis, or index '%s' itself", tensor->name);
        return false;
    }
    return true;
}

/* What moved pointers are multiples of, in elements. */
static int64_t step_of(int64_t step, const layout_iter *iters, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        for (int64_t b = iters[i].stride, rest; b != 0; b = rest) {
            rest = step % b;
            step = b;
        }
    return step < 0 ? -step : step;
}

static script_value tiled(script_evaluator *e, ir_tensor *tensor, const part *parts, base_span span) {
    uint32_t rank = tensor->type.rank, wide = 0, kept = 0, *separators;
    int64_t shape[MAX_RANK], split[2 * MAX_RANK], begin[2 * MAX_RANK], end[2 * MAX_RANK];
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank + 1);
    const ir_expr **at = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank);
    layout_error error = {NULL};
    bool moves = false, good = true;
    int64_t step = 0;
    const layout_tile *layout = script_layout_of(e, tensor, span);
    if (!layout || !script_constant_shape(e, &tensor->type, shape))
        return script_poison();
    separators = BASE_NEW_ARRAY(e->arena, uint32_t, rank + 1);
    const layout_tile *group = layout_group(e->arena, layout, shape, rank, separators, &error);
    for (uint32_t i = 0; i < rank; i++) {
        const part *p = &parts[i];
        int64_t length = 1;
        at[i] = p->begin ? p->begin : ir_int(e->module, NUM_DTYPE_I32, 0);
        if (p->extent) {
            ir_is_int(p->extent, &length);
            extents[kept++] = p->extent;
        }
        int64_t first = p->begin ? 0 : p->first;
        if (p->step > 1) { /* (extent / step, step), and one remainder of the second */
            split[wide] = end[wide] = length;
            begin[wide++] = 0;
            split[wide] = p->step;
            begin[wide] = first;
            end[wide++] = first + 1;
        } else {
            split[wide] = shape[i];
            begin[wide] = first;
            end[wide++] = first + length;
        }
        if (!p->begin)
            continue;
        moves = true;
        if (group)
            step = step_of(step, group->shard + separators[i], separators[i + 1] - separators[i]);
        if (group)
            good &= may_move(e, tensor, layout, group->shard + separators[i],
                             separators[i + 1] - separators[i], i, p, span);
        else {
            script_error(e, "T0214", span, "no part of '%s' starts at a value of the kernel: %s",
                         tensor->name, error.text);
            good = false;
        }
    }
    if (!good)
        return script_poison();
    ir_tensor_type type = tensor->type;
    type.layout = layout_slice(e->arena, layout, split, wide, begin, end, &error);
    if (type.layout)
        type.layout = layout_canonical(e->arena, type.layout);
    if (!type.layout) {
        script_error(e, "T0274", span, "this part of '%s' is no layout: %s", tensor->name,
                     error.text ? error.text : "its numbers are too large");
        return script_poison();
    }
    if (kept == 0)
        extents[kept++] = ir_int(e->module, NUM_DTYPE_I32, 1);
    type.rank = kept;
    type.shape = extents;
    const ir_expr *pointer = script_root_pointer(e, tensor);
    if (moves) { /* the address holds the origin already */
        layout_tile *without = base_arena_copy(e->arena, type.layout, sizeof(*without));
        without->offset[LAYOUT_AXIS_M] -= layout->offset[LAYOUT_AXIS_M];
        if (without->offset[LAYOUT_AXIS_M] == 0)
            without->offset_axes &= ~(1u << LAYOUT_AXIS_M);
        type.layout = without;
        script_value place = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        for (uint32_t i = 0; i < rank; i++)
            script_list_add(e->arena, place, script_expr(at[i]));
        while (type.align > 1 &&
               step % (1 << 20) * num_dtype_bits(type.dtype) * type.lanes % (type.align * 8) != 0)
            type.align /= 2;
        pointer = script_element_address(e, tensor, place, span);
        if (!pointer)
            return script_poison();
    }
    return script_make_view(e, &type, pointer, span);
}

script_value script_tensor_sub(script_evaluator *e, ir_tensor *tensor, script_value index, base_span span) {
    part parts[MAX_RANK];
    script_value single = index;
    const script_value *items = &single;
    size_t count = 1;
    uint32_t rank = tensor->type.rank;
    int64_t shape[MAX_RANK];
    bool good = true;
    if (script_is_poison(index))
        return script_poison();
    if (index.kind == SCRIPT_VALUE_TUPLE || index.kind == SCRIPT_VALUE_LIST) {
        items = index.as.list->items.items;
        count = index.as.list->items.count;
    }
    if (count == 0 || count > rank || rank > MAX_RANK) {
        script_error(e, "T0211", span, "'%s' has %u ax%s, sub[...] has %zu", tensor->name, rank,
                     rank == 1 ? "is" : "es", count);
        return script_poison();
    }
    for (uint32_t i = 0; i < rank; i++)
        if (i < count)
            good &= read_part(e, tensor, i, items[i], span, &parts[i]);
        else
            parts[i] = (part){.step = 1, .extent = tensor->type.shape[i]};
    if (!good)
        return script_poison();
    bool constant = !tensor->type.strides && script_constant_shape(e, &tensor->type, shape);
    return constant ? tiled(e, tensor, parts, span) : strided(e, tensor, parts, span);
}

/* ---- rearrange ---- */

enum { MAX_NAMES = 16 };

/* One side of a pattern: factors in order, and how many stand in each axis. */
typedef struct side {
    const char *name[MAX_NAMES]; /* NULL: a number */
    int64_t size[MAX_NAMES];     /* 0: not known yet */
    uint32_t per_axis[MAX_RANK], axes, count;
} side;

static bool bad_pattern(script_evaluator *e, base_span span, const char *why) {
    base_diagnostic *d = script_error(e, "T0274", span, "this pattern cannot be read: %s", why);
    base_help(e->diagnostics, d, "rearrange(\"a (b c) -> c a b\", c=4)");
    return false;
}

static bool add_factor(script_evaluator *e, const char *text, size_t size, side *out, base_span span) {
    if (out->count == MAX_NAMES)
        return bad_pattern(e, span, "it has over 16 factors");
    out->name[out->count] = NULL;
    out->size[out->count] = 0;
    if (text[0] >= '0' && text[0] <= '9') {
        for (size_t i = 0; i < size; i++) {
            if (text[i] < '0' || text[i] > '9' || out->size[out->count] > INT64_MAX / 16)
                return bad_pattern(e, span, "a number in it is none");
            out->size[out->count] = out->size[out->count] * 10 + (text[i] - '0');
        }
        if (out->size[out->count] == 0)
            return bad_pattern(e, span, "a factor is 0");
    } else
        out->name[out->count] = base_arena_string(e->arena, text, size);
    out->count++;
    return true;
}

static bool read_side(script_evaluator *e, const char *text, const char *end, side *out, base_span span) {
    bool open = false;
    *out = (side){.count = 0};
    while (text < end) {
        size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (*text == ' ') {
            text++;
            continue;
        }
        if (*text == '(' || *text == ')') {
            if (open == (*text == '('))
                return bad_pattern(e, span, "its brackets do not match");
            open = *text == '(';
            if (open && out->axes == MAX_RANK)
                return bad_pattern(e, span, "it has over 16 axes");
            if (open)
                out->per_axis[out->axes++] = 0;
            text++;
            continue;
        }
        if (size == 0)
            return bad_pattern(e, span, "names, numbers and brackets are allowed");
        if (!open && out->axes == MAX_RANK)
            return bad_pattern(e, span, "it has over 16 axes");
        if (!open)
            out->per_axis[out->axes++] = 0;
        if (!add_factor(e, text, size, out, span))
            return false;
        out->per_axis[out->axes - 1]++;
        text += size;
    }
    return !open || bad_pattern(e, span, "a bracket is not closed");
}

static bool name_sizes(script_evaluator *e, const script_call *call, side *left) {
    for (size_t k = 0; k < call->keywords.items.count; k++) {
        const script_argument *given = &call->keywords.items.items[k];
        bool found = false;
        int64_t size;
        if (!script_constant_int(e, given->value, &size, given->span, "a size"))
            return false;
        for (uint32_t i = 0; i < left->count; i++)
            if (left->name[i] && strcmp(left->name[i], given->name) == 0) {
                left->size[i] = size;
                found = true;
            }
        if (!found || size < 1) {
            script_error(e, "T0274", given->span,
                         found ? "size %s = %lld is not positive" : "'%s' is not in the pattern", given->name,
                         (long long)size);
            return false;
        }
    }
    return true;
}

/* One factor per axis may follow from the extent. */
static bool infer_sizes(script_evaluator *e, const ir_tensor *tensor, const int64_t *shape, side *left,
                        base_span span) {
    uint32_t first = 0;
    for (uint32_t a = 0; a < left->axes; first += left->per_axis[a++]) {
        int64_t known = 1;
        uint32_t open = MAX_NAMES, unknown = 0;
        for (uint32_t i = first; i < first + left->per_axis[a]; i++) {
            if (left->size[i] == 0) {
                open = i;
                unknown++;
            } else if (__builtin_mul_overflow(known, left->size[i], &known))
                known = INT64_MAX;
        }
        if (unknown > 1) {
            script_error(e, "T0274", span,
                         "axis %u of '%s' has %u factors of unknown size; one can be left out", a,
                         tensor->name, unknown);
            return false;
        }
        if (unknown == 1 && shape[a] % known == 0)
            left->size[open] = shape[a] / known;
        else if (unknown == 1 || known != shape[a]) {
            script_error(e, "T0274", span,
                         "axis %u of '%s' has %lld elements, the factors of the pattern make %s%lld", a,
                         tensor->name, (long long)shape[a], unknown ? "multiples of " : "", (long long)known);
            return false;
        }
    }
    return true;
}

/* Places of the right side's factors on the left; every factor stands once on both sides. */
static bool match_sides(script_evaluator *e, const side *left, side *right, uint32_t *order, base_span span) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < right->count; i++) {
        uint32_t k = 0;
        while (k < left->count && ((seen >> k & 1) || !left->name[k] != !right->name[i] ||
                                   (left->name[k] ? strcmp(left->name[k], right->name[i]) != 0
                                                  : left->size[k] != right->size[i])))
            k++;
        if (k == left->count)
            return bad_pattern(e, span,
                               "a factor of the right side is not on the left, or stands there once less");
        seen |= 1u << k;
        order[i] = k;
        right->size[i] = left->size[k];
    }
    return right->count == left->count ||
           bad_pattern(e, span, "a factor of the left side is not on the right");
}

script_value script_word_tensor_rearrange(script_evaluator *e, const script_call *call) {
    ir_tensor *tensor = call->receiver.as.tensor;
    base_span span = call->place[0];
    const char *text;
    int64_t shape[MAX_RANK];
    uint32_t order[MAX_NAMES];
    side left, right;
    layout_error error = {NULL};
    if (!script_constant_string(e, call->value[0], &text, span, "a pattern"))
        return script_poison();
    const char *arrow = strstr(text, "->");
    if (!arrow) {
        bad_pattern(e, span, "it has no ->");
        return script_poison();
    }
    if (!read_side(e, text, arrow, &left, span) ||
        !read_side(e, arrow + 2, text + strlen(text), &right, span))
        return script_poison();
    if (left.axes != tensor->type.rank) {
        script_error(e, "T0211", span, "the left side has %u axes, '%s' has %u", left.axes, tensor->name,
                     tensor->type.rank);
        return script_poison();
    }
    const layout_tile *layout = script_layout_of(e, tensor, call->span);
    if (!layout || !script_constant_shape(e, &tensor->type, shape) || !name_sizes(e, call, &left) ||
        !infer_sizes(e, tensor, shape, &left, span) || !match_sides(e, &left, &right, order, span))
        return script_poison();
    ir_tensor_type type = tensor->type;
    type.layout = layout_permute(e->arena, layout, left.size, left.count, order, &error);
    if (!type.layout) {
        script_error(e, "T0214", call->span, "the axes of '%s' cannot be rearranged: %s", tensor->name,
                     error.text);
        return script_poison();
    }
    type.layout = layout_canonical(e->arena, type.layout);
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, right.axes + 1);
    for (uint32_t a = 0, i = 0; a < right.axes; a++) {
        int64_t extent = 1;
        for (uint32_t k = 0; k < right.per_axis[a]; k++)
            extent *= right.size[i++];
        extents[a] = ir_int(e->module, extent == (int32_t)extent ? NUM_DTYPE_I32 : NUM_DTYPE_I64, extent);
    }
    if (right.axes == 0)
        extents[right.axes++] = ir_int(e->module, NUM_DTYPE_I32, 1);
    type.rank = right.axes;
    type.shape = extents;
    return script_make_view(e, &type, script_root_pointer(e, tensor), call->span);
}
