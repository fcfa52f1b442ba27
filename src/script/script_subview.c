/* SPDX-License-Identifier: Apache-2.0
 * Views of parts of a tensor, A.sub[...], and of its axes split and joined, A.rearrange(...). Constant parts
 * move into the layout; a part that starts at a value of the kernel moves the pointer, or the origin where
 * the strides are values of the launch. */
#include "script/script_part.h"
#include <string.h>

enum { MAX_RANK = SCRIPT_PART_RANK, MAX_DIGITS = SCRIPT_PART_DIGITS };

/* One axis of sub[...]: begin is an expression or a constant; every step-th of `extent` elements from there.
 */
typedef struct entry {
    const ir_expr *begin; /* NULL: the constant `first` */
    int64_t first, step;
    const ir_expr *extent; /* of the result; NULL: the axis is dropped */
} entry;

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

static bool read_begin(script_evaluator *e, script_value v, base_span span, const char *what, entry *out) {
    if (script_value_integer(v, &out->first))
        return true;
    if (v.kind == SCRIPT_VALUE_EXPR && script_expr_constant(e, v.as.expr, &out->first))
        return true;
    out->begin = script_to_index(e, v, span, what);
    return out->begin != NULL;
}

/* a::s: every s-th, as the remainder a of a split of the axis. */
static bool read_step(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, const script_value *parts,
                      base_span span, entry *out) {
    int64_t extent;
    if (!script_constant_int(e, parts[2], &out->step, span, "the step of a part"))
        return false;
    if (out->step == 1)
        return true;
    if (!ir_is_int(tensor->type.shape[axis], &extent) || parts[1].kind != SCRIPT_VALUE_NONE ||
        out->step < 1 || extent % out->step || (!out->begin && (out->first < 0 || out->first >= out->step))) {
        base_diagnostic *d = script_error(
            e, "T0274", span,
            "a stepped part of axis %u of '%s' is a::s with a constant s, 0 <= a < s, and s dividing "
            "the extent%s",
            axis, tensor->name,
            ir_is_int(tensor->type.shape[axis], &extent)
                ? base_arena_format(
                      e->arena, " %lld; here %ss is %lld", (long long)extent,
                      out->begin ? "" : base_arena_format(e->arena, "a is %lld, ", (long long)out->first),
                      (long long)out->step)
                : "");
        base_help(e->diagnostics, d, "sub[a:b] narrows first");
        return false;
    }
    out->extent = ir_int(e->module, NUM_DTYPE_I32, extent / out->step);
    return true;
}

static bool read_range(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, const script_value *parts,
                       base_span span, entry *out) {
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
                      base_span span, entry *out) {
    int64_t extent;
    *out = (entry){.step = 1};
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

/* Steps of the last digit below each one; 0: a digit above it has no constant extent. */
static int64_t weight_of(const script_part *p, uint32_t piece) {
    int64_t weight = 1;
    for (uint32_t i = piece + 1; i < p->count; i++)
        weight =
            p->pieces[i].split && weight <= INT64_MAX / p->pieces[i].split ? weight * p->pieces[i].split : 0;
    return weight;
}

/* One axis of a tensor whose strides the launch gives; its digits that stay must be neighbours, to be one
 * axis again. */
static bool strided_axis(script_evaluator *e, const ir_tensor *tensor, uint32_t axis, const script_part *p,
                         const ir_expr *old, ir_tensor_type *type, const ir_expr **extent,
                         const ir_expr **stride, base_span span) {
    int64_t zero, last = -1;
    *extent = NULL;
    for (uint32_t k = 0; k < p->count; k++) {
        const script_piece *piece = &p->pieces[k];
        int64_t weight = weight_of(p, k);
        const ir_expr *step =
            weight == 1
                ? old
                : sum_of(e, IR_MUL, old,
                         ir_int(e->module, weight == (int32_t)weight ? NUM_DTYPE_I32 : NUM_DTYPE_I64, weight),
                         span);
        const ir_expr *begin = piece->begin ? piece->begin : ir_int(e->module, NUM_DTYPE_I32, piece->first);
        if (ir_expr_reads(begin)) { /* taken now */
            script_value let = script_make_let(e, begin, span);
            if (let.kind != SCRIPT_VALUE_EXPR)
                return false;
            begin = let.as.expr;
        }
        if (!ir_is_int(begin, &zero) || zero != 0)
            type->origin = sum_of(e, IR_ADD, type->origin, sum_of(e, IR_MUL, begin, step, span), span);
        if (!piece->extent)
            continue;
        if (last >= 0 && last + 1 != (int64_t)k) {
            base_diagnostic *d = script_error(
                e, "T0274", span,
                "'%s' has strides of the launch: the factors of axis %u that stay are not neighbours",
                tensor->name, axis);
            base_help(e->diagnostics, d, "pick the first or the last factor of an axis, or index '%s' itself",
                      tensor->name);
            return false;
        }
        *extent = *extent ? sum_of(e, IR_MUL, *extent, piece->extent, span) : piece->extent;
        *stride = step;
        last = k;
    }
    return true;
}

static script_value strided(script_evaluator *e, ir_tensor *tensor, const script_part *parts,
                            base_span span) {
    ir_tensor_type type = tensor->type;
    const ir_expr *const *old = type.strides ? type.strides : script_dense_strides(e, &type);
    const ir_expr **shape = BASE_NEW_ARRAY(e->arena, const ir_expr *, type.rank + 1);
    const ir_expr **strides = BASE_NEW_ARRAY(e->arena, const ir_expr *, type.rank + 1);
    uint32_t rank = 0;
    for (uint32_t i = 0; i < tensor->type.rank; i++) {
        if (!strided_axis(e, tensor, i, &parts[i], old[i], &type, &shape[rank], &strides[rank], span))
            return script_poison();
        rank += shape[rank] != NULL;
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

/* Whether the pointer may move by the start of this digit: the address of begin + x is that of begin plus
 * that of x. Several iters: when neither carries into the other. A swizzle: when its phase does not change.
 */
static bool may_move(script_evaluator *e, const layout_tile *layout, const layout_iter *iters, uint32_t count,
                     const script_piece *p) {
    int64_t inner = 1, length = 1, period = layout_swizzle_period(layout->swizzle);
    bool whole = true;
    for (uint32_t i = 1; i < count; i++)
        inner *= iters[i].extent;
    for (uint32_t i = 0; i < count; i++)
        whole = whole && iters[i].stride % period == 0;
    if (p->extent)
        ir_is_int(p->extent, &length);
    if (p->extent && (!script_is_multiple(e, p->begin, inner) || length % inner != 0))
        return false;
    return !layout->swizzle.present || (whole && layout->offset[LAYOUT_AXIS_M] == 0);
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

/* The digits of all axes: where the constant box begins and ends, and whether something starts at a value of
 * the kernel. */
typedef struct digits {
    uint32_t count;
    int64_t split[MAX_DIGITS], begin[MAX_DIGITS], end[MAX_DIGITS];
    const script_piece *piece[MAX_DIGITS];
    bool moves;
} digits;

static void list_digits(const script_part *parts, uint32_t rank, digits *out) {
    *out = (digits){.count = 0};
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t k = 0; k < parts[i].count; k++) {
            const script_piece *p = &parts[i].pieces[k];
            int64_t length = 1, first = p->begin ? 0 : p->first;
            if (p->extent)
                ir_is_int(p->extent, &length);
            out->piece[out->count] = p;
            out->split[out->count] = p->split;
            out->begin[out->count] = first;
            out->end[out->count++] = first + length;
            out->moves |= p->begin != NULL;
        }
}

/* Whether the pointer may move by every start of the kernel; *step: what it moves by multiples of. */
static bool all_may_move(script_evaluator *e, const layout_tile *layout, const digits *d, int64_t *step) {
    uint32_t separators[MAX_DIGITS + 1];
    layout_error error = {NULL};
    const layout_tile *group = layout_group(e->arena, layout, d->split, d->count, separators, &error);
    bool good = group != NULL;
    *step = 0;
    for (uint32_t i = 0; good && i < d->count; i++) {
        if (!d->piece[i]->begin)
            continue;
        const layout_iter *iters = group->shard + separators[i];
        uint32_t count = separators[i + 1] - separators[i];
        *step = step_of(*step, iters, count);
        good = may_move(e, layout, iters, count, d->piece[i]);
    }
    return good;
}

/* The extents that stay, one for each axis that keeps a digit. */
static uint32_t kept_shape(script_evaluator *e, const script_part *parts, uint32_t rank,
                           const ir_expr **extents) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t extent = 1, length;
        bool stays = false;
        for (uint32_t k = 0; k < parts[i].count; k++)
            if (parts[i].pieces[k].extent && ir_is_int(parts[i].pieces[k].extent, &length)) {
                extent *= length;
                stays = true;
            }
        if (stays)
            extents[kept++] =
                ir_int(e->module, extent == (int32_t)extent ? NUM_DTYPE_I32 : NUM_DTYPE_I64, extent);
    }
    if (kept == 0)
        extents[kept++] = ir_int(e->module, NUM_DTYPE_I32, 1);
    return kept;
}

/* The coordinate at which the part starts, constants left out: they are in the layout. */
static script_value start_of(script_evaluator *e, const script_part *parts, uint32_t rank, base_span span) {
    script_value place = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (uint32_t i = 0; i < rank; i++) {
        const ir_expr *sum = NULL;
        for (uint32_t k = 0; k < parts[i].count; k++) {
            const ir_expr *begin = parts[i].pieces[k].begin;
            int64_t weight = weight_of(&parts[i], k);
            if (begin && weight != 1)
                begin = sum_of(
                    e, IR_MUL, begin,
                    ir_int(e->module, weight == (int32_t)weight ? NUM_DTYPE_I32 : NUM_DTYPE_I64, weight),
                    span);
            if (begin)
                sum = sum_of(e, IR_ADD, sum, begin, span);
        }
        script_list_add(e->arena, place, script_expr(sum ? sum : ir_int(e->module, NUM_DTYPE_I32, 0)));
    }
    return place;
}

/* Tensor memory: a start of the kernel goes into the address of the view, where no digit carries into another
 * and the columns are whole cells of 32 bits. NULL: reported. */
static const ir_expr *tmem_start(script_evaluator *e, const ir_tensor *tensor, const layout_tile *layout,
                                 const script_part *parts, const digits *d, base_span span) {
    uint32_t separators[MAX_DIGITS + 1];
    layout_error error = {NULL};
    int64_t bits = (int64_t)num_dtype_storage_bits(tensor->type.dtype) * tensor->type.lanes;
    int64_t per = bits < 32 ? 32 / bits : 1;
    const ir_expr *start[MAX_RANK];
    const layout_tile *group = layout_group(e->arena, layout, d->split, d->count, separators, &error);
    for (uint32_t i = 0; i < d->count; i++) {
        const script_piece *p = d->piece[i];
        const layout_iter *iters = group ? group->shard + separators[i] : NULL;
        uint32_t count = group ? separators[i + 1] - separators[i] : 0;
        if (!p->begin)
            continue;
        bool good = group && may_move(e, layout, iters, count, p);
        for (uint32_t k = 0; good && k < count; k++) {
            int64_t step = iters[k].axis == LAYOUT_AXIS_TCOL ? iters[k].stride : per;
            good = step % per == 0 || (count == 1 && script_is_multiple(e, p->begin, per));
        }
        if (good)
            continue;
        base_diagnostic *report = script_error(e, "T0274", span,
                                               "this part of '%s' starts at a value of the kernel inside of "
                                               "a block or of a 32-bit cell: tensor memory has no "
                                               "address there",
                                               tensor->name);
        base_help(e->diagnostics, report,
                  per > 1 ? "a start that is a multiple of %lld columns by its form, as k * %lld"
                          : "a start on whole blocks of the layout",
                  (long long)per, (long long)per);
        return NULL;
    }
    script_value place = start_of(e, parts, tensor->type.rank, span);
    for (uint32_t i = 0; i < tensor->type.rank; i++)
        start[i] = place.as.list->items.items[i].as.expr;
    const ir_expr *address = script_tmem_address(e, tensor, start, span);
    return address && address->op != IR_INT ? script_make_let(e, address, span).as.expr : address;
}

/* A layout without its origin on the axes of the mask. */
static const layout_tile *without_origin(script_evaluator *e, const layout_tile *part,
                                         const layout_tile *whole, uint32_t axes) {
    layout_tile *without = base_arena_copy(e->arena, part, sizeof(*without));
    for (int a = 0; a < LAYOUT_AXIS_COUNT; a++) {
        if (!(axes >> a & 1))
            continue;
        without->offset[a] -= whole->offset[a];
        if (without->offset[a] == 0)
            without->offset_axes &= ~(1u << a);
    }
    return without;
}

static script_value tiled(script_evaluator *e, ir_tensor *tensor, const script_part *parts, base_span span) {
    uint32_t rank = tensor->type.rank;
    int64_t step = 0;
    digits d;
    layout_error error = {NULL};
    const layout_tile *layout = script_layout_of(e, tensor, span);
    if (!layout)
        return script_poison();
    list_digits(parts, rank, &d);
    bool tmem = tensor->type.scope == IR_SCOPE_TMEM;
    if (d.moves && !tmem && !all_may_move(e, layout, &d, &step))
        return script_window_make(e, script_tensor(tensor), parts, span);
    ir_tensor_type type = tensor->type;
    type.layout = layout_slice(e->arena, layout, d.split, d.count, d.begin, d.end, &error);
    if (type.layout)
        type.layout = layout_canonical(e->arena, type.layout);
    if (!type.layout) { /* no layout says it: coordinates do */
        if (script_may_window(tensor, layout))
            return script_window_make(e, script_tensor(tensor), parts, span);
        script_error(e, "T0274", span, "this part of '%s' is no layout: %s", tensor->name,
                     error.text ? error.text : "its numbers are too large");
        return script_poison();
    }
    const ir_expr **extents = BASE_NEW_ARRAY(e->arena, const ir_expr *, rank + 1);
    type.rank = kept_shape(e, parts, rank, extents);
    type.shape = extents;
    const ir_expr *pointer = script_root_pointer(e, tensor);
    if (d.moves && tmem) {
        type.layout =
            without_origin(e, type.layout, layout, 1u << LAYOUT_AXIS_TLANE | 1u << LAYOUT_AXIS_TCOL);
        pointer = tmem_start(e, tensor, layout, parts, &d, span);
        if (!pointer)
            return script_poison();
    } else if (d.moves) { /* the address holds the origin already */
        type.layout = without_origin(e, type.layout, layout, 1u << LAYOUT_AXIS_M);
        while (type.align > 1 &&
               step % (1 << 20) * num_dtype_storage_bits(type.dtype) * type.lanes % (type.align * 8) != 0)
            type.align /= 2;
        pointer = script_element_address(e, tensor, start_of(e, parts, rank, span), span);
        if (!pointer)
            return script_poison();
    }
    return script_make_view(e, &type, pointer, span);
}

script_value script_take_parts(script_evaluator *e, script_value subject, const script_part *parts,
                               base_span span) {
    int64_t shape[MAX_RANK];
    if (subject.kind == SCRIPT_VALUE_WINDOW)
        return script_window_make(e, subject, parts, span);
    ir_tensor *tensor = subject.as.tensor;
    bool constant = !tensor->type.strides && script_constant_shape(e, &tensor->type, shape);
    return constant ? tiled(e, tensor, parts, span) : strided(e, tensor, parts, span);
}

/* a::s is the remainder a of a split (extent / s, s). */
static void to_part(const ir_tensor *tensor, uint32_t axis, const entry *from, script_part *to) {
    int64_t extent;
    bool constant = ir_is_int(tensor->type.shape[axis], &extent);
    *to = (script_part){.count = 1};
    if (from->step == 1) {
        to->pieces[0] = (script_piece){constant ? extent : 0, from->begin, from->first, from->extent};
        return;
    }
    to->count = 2;
    to->pieces[0] = (script_piece){constant ? extent / from->step : 0, NULL, 0, from->extent};
    to->pieces[1] = (script_piece){from->step, from->begin, from->first, NULL};
}

/* subject: a tensor, or a part by coordinates. */
script_value script_tensor_sub(script_evaluator *e, script_value subject, script_value index,
                               base_span span) {
    const ir_tensor *tensor = script_part_face(subject);
    entry entries[MAX_RANK];
    script_part parts[MAX_RANK];
    script_value single = index;
    const script_value *items = &single;
    size_t count = 1;
    uint32_t rank = tensor->type.rank;
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
            good &= read_part(e, tensor, i, items[i], span, &entries[i]);
        else
            entries[i] = (entry){.step = 1, .extent = tensor->type.shape[i]};
    for (uint32_t i = 0; good && i < rank; i++)
        to_part(tensor, i, &entries[i], &parts[i]);
    return good ? script_take_parts(e, subject, parts, span) : script_poison();
}
