/* SPDX-License-Identifier: Apache-2.0
 * A.rearrange("a (b c) -> c a b", c=4): the axes of a tensor split, reordered and joined, as a view. */
#include "script/script_part.h"
#include <string.h>

enum { MAX_NAMES = 16, MAX_RANK = SCRIPT_PART_RANK };

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

/* Split, permuted and joined, one window over the other. */
static script_value rearranged_window(script_evaluator *e, const script_call *call, const side *left,
                                      const side *right, const uint32_t *order) {
    int64_t shape[MAX_RANK];
    uint32_t rank = 0;
    script_value v = script_window_reshape(e, call->receiver, left->size, left->count, call->span);
    v = script_window_permute(e, v, order, call->span);
    for (uint32_t a = 0, i = 0; a < right->axes; a++) {
        shape[rank] = 1;
        for (uint32_t k = 0; k < right->per_axis[a]; k++)
            shape[rank] *= right->size[i++];
        rank++;
    }
    if (rank == 0)
        shape[rank++] = 1;
    return script_window_reshape(e, v, shape, rank, call->span);
}

script_value script_word_tensor_rearrange(script_evaluator *e, const script_call *call) {
    const ir_tensor *tensor = script_part_face(call->receiver);
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
    bool window = call->receiver.kind == SCRIPT_VALUE_WINDOW;
    const layout_tile *layout = window ? NULL : script_layout_of(e, tensor, call->span);
    if ((!window && !layout) || !script_constant_shape(e, &tensor->type, shape) ||
        !name_sizes(e, call, &left) || !infer_sizes(e, tensor, shape, &left, span) ||
        !match_sides(e, &left, &right, order, span))
        return script_poison();
    if (window)
        return rearranged_window(e, call, &left, &right, order);
    ir_tensor_type type = tensor->type;
    type.layout = layout_permute(e->arena, layout, left.size, left.count, order, &error);
    if (!type.layout && script_may_window(tensor, layout))
        return rearranged_window(e, call, &left, &right, order);
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
