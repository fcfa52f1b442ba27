/* SPDX-License-Identifier: Apache-2.0
 * A box of a layout as a layout of its own. The box's origin becomes an offset; its extents shorten the
 * iters, which works when at most one iter per dimension is cut, or when the box ends one iter and begins the
 * next in two equal halves. Whatever else a box does has no single layout, and is refused. */
#include "layout/layout_internal.h"

/* One dimension: iters with the digits of the box's origin. */
typedef struct cut {
    const layout_iter *iters;
    uint32_t count;
    int64_t *digits;
    layout_iter *out;
    uint32_t out_count;
    int64_t *offset;
    uint32_t *axes;
} cut;

static bool start_digits(cut *c, int64_t begin) {
    for (uint32_t i = c->count; i-- > 0;) {
        c->digits[i] = i == 0 ? begin : begin % c->iters[i].extent;
        begin /= c->iters[i].extent;
        int64_t step = 0;
        layout_axis axis = c->iters[i].axis;
        if (__builtin_mul_overflow(c->digits[i], c->iters[i].stride, &step) ||
            __builtin_add_overflow(c->offset[axis], step, &c->offset[axis]))
            return false;
        if (step != 0)
            *c->axes |= 1u << axis;
    }
    return true;
}

/* The last `tail` iters are whole; `rest` steps of iter p begin at its digit. */
static bool cut_at(cut *c, uint32_t p, int64_t rest) {
    const layout_iter *iter = &c->iters[p];
    int64_t half = rest / 2, back = 0, stride = 0;
    if (c->digits[p] + rest <= iter->extent) {
        c->out[c->out_count++] = (layout_iter){rest, iter->stride, iter->axis};
    } else if (rest % 2 == 0 && c->digits[p] + half == iter->extent && p > 0 &&
               c->iters[p - 1].axis == iter->axis && c->digits[p - 1] + 1 < c->iters[p - 1].extent &&
               !__builtin_mul_overflow(iter->extent - half, iter->stride, &back) &&
               !__builtin_sub_overflow(c->iters[p - 1].stride, back, &stride)) {
        c->out[c->out_count++] = (layout_iter){2, stride, iter->axis};
        c->out[c->out_count++] = (layout_iter){half, iter->stride, iter->axis};
    } else {
        return false;
    }
    for (uint32_t i = p + 1; i < c->count; i++)
        c->out[c->out_count++] = c->iters[i];
    return true;
}

static bool cut_dimension(cut *c, int64_t begin, int64_t extent) {
    if (!start_digits(c, begin))
        return false;
    uint32_t p = c->count;
    while (p > 0 && c->digits[p - 1] == 0 && extent % c->iters[p - 1].extent == 0 && extent > 1) {
        p--;
        extent /= c->iters[p].extent;
    }
    if (p > 0)
        return cut_at(c, p - 1, extent);
    for (uint32_t i = 0; i < c->count; i++)
        c->out[c->out_count++] = c->iters[i];
    return extent == 1;
}

static bool check_box(base_arena *arena, const int64_t *shape, uint32_t rank, const int64_t *begin,
                      const int64_t *end, layout_error *error) {
    for (uint32_t d = 0; d < rank; d++) {
        if (begin[d] < 0 || end[d] > shape[d] || begin[d] > end[d])
            return layout_refuse(arena, error, "dimension %u: [%lld, %lld) is not inside [0, %lld)",
                                 (unsigned)d, (long long)begin[d], (long long)end[d],
                                 (long long)shape[d]) != NULL;
        if (begin[d] == end[d])
            return layout_refuse(arena, error, "dimension %u: [%lld, %lld) is empty", (unsigned)d,
                                 (long long)begin[d], (long long)end[d]) != NULL;
    }
    return true;
}

const layout_tile *layout_slice(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, const int64_t *begin, const int64_t *end,
                                layout_error *error) {
    if (!check_box(arena, shape, rank, begin, end, error))
        return NULL;
    const layout_tile *base = layout_under(arena, layout, shape, rank, error);
    uint32_t *at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    const layout_tile *grouped =
        base == NULL ? NULL : layout_group(arena, layout_canonical(arena, base), shape, rank, at, error);
    if (grouped == NULL)
        return NULL;
    layout_tile *tile = layout_like(arena, grouped, NULL, 0);
    cut c = {.digits = BASE_NEW_ARRAY(arena, int64_t, grouped->shard_count),
             .out = BASE_NEW_ARRAY(arena, layout_iter, 2 * (size_t)grouped->shard_count + rank),
             .offset = tile->offset,
             .axes = &tile->offset_axes};
    for (uint32_t d = 0; d < rank; d++) {
        layout_tile part = {.shard = grouped->shard + at[d], .shard_count = at[d + 1] - at[d]};
        const layout_tile *local = layout_canonical(arena, &part);
        c.iters = local->shard;
        c.count = local->shard_count;
        if (!cut_dimension(&c, begin[d], end[d] - begin[d]))
            return layout_refuse(arena, error,
                                 "dimension %u: [%lld, %lld) of %s is not one layout: it ends inside an iter "
                                 "of a dimension that has several",
                                 (unsigned)d, (long long)begin[d], (long long)end[d],
                                 layout_text_of(arena, layout));
    }
    tile->shard = c.out;
    tile->shard_count = c.out_count;
    if (!layout_check(arena, tile, error))
        return NULL;
    return layout->swizzle.present ? layout_compose(arena, tile, layout->swizzle, error) : tile;
}

const layout_tile *layout_broadcast(base_arena *arena, const layout_tile *layout, int64_t n,
                                    uint32_t position, layout_axis axis, layout_error *error) {
    if (position > layout->shard_count)
        return layout_refuse(arena, error, "iter %u is behind the %u iters of the layout", (unsigned)position,
                             (unsigned)layout->shard_count);
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, (size_t)layout->shard_count + 1);
    for (uint32_t i = 0; i < layout->shard_count; i++)
        shard[i + (i >= position)] = layout->shard[i];
    shard[position] = (layout_iter){n, 0, axis};
    layout_tile *tile = layout_like(arena, layout, shard, layout->shard_count + 1);
    return layout_check(arena, tile, error) ? tile : NULL;
}
