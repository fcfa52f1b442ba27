/* SPDX-License-Identifier: Apache-2.0
 * Thread axes of nested scopes: which pair of scopes a layout spans, and the same threads named by a wider or
 * by two narrower axes. bx, by and bz number CTAs of the grid, so a layout on bx and tx spans (thread, grid)
 * and ends there. */
#include "layout/layout_internal.h"

/* Bits of the axes that a layout names anywhere. */
static uint32_t named_axes(const layout_tile *layout) {
    uint32_t axes = layout->offset_axes;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        axes |= 1u << layout->shard[i].axis;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        axes |= 1u << layout->replica[i].axis;
    return axes;
}

bool layout_scopes(base_arena *arena, const layout_tile *layout, layout_scope *narrow, layout_scope *wide,
                   layout_error *error) {
    layout_axis by[LAYOUT_SCOPE_THREAD + 1];                           /* the axis that gave the link */
    layout_scope above[LAYOUT_SCOPE_THREAD + 1] = {LAYOUT_SCOPE_NONE}; /* subscope to scope */
    uint32_t axes = named_axes(layout), links = 0;
    bool in_shard = false;
    *narrow = *wide = LAYOUT_SCOPE_NONE;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        in_shard = in_shard || layout_axis_is_thread(layout->shard[i].axis);
    if (!in_shard)
        return true;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++) {
        layout_scope scope, subscope;
        if (!(axes >> a & 1) || !layout_axis_scopes((layout_axis)a, &scope, &subscope))
            continue;
        if (above[subscope] != LAYOUT_SCOPE_NONE && above[subscope] != scope)
            return layout_refuse(arena, error,
                                 "axes %s and %s both number %ss, one within a %s, the other within a %s",
                                 layout_axis_name(by[subscope]), layout_axis_name((layout_axis)a),
                                 layout_scope_name(subscope), layout_scope_name(above[subscope]),
                                 layout_scope_name(scope)) != NULL;
        links += above[subscope] == LAYOUT_SCOPE_NONE;
        above[subscope] = scope;
        by[subscope] = (layout_axis)a;
        *narrow = subscope > *narrow ? subscope : *narrow;
    }
    uint32_t followed = 0;
    for (*wide = *narrow; above[*wide] != LAYOUT_SCOPE_NONE; *wide = above[*wide])
        followed++;
    if (followed == links)
        return true;
    for (unsigned s = 0; s <= LAYOUT_SCOPE_THREAD; s++)
        if (above[s] != LAYOUT_SCOPE_NONE && s <= (unsigned)*wide)
            return layout_refuse(arena, error,
                                 "axis %s numbers %ss, but the other thread axes end at the %s: nothing says "
                                 "which %s of a %s is meant",
                                 layout_axis_name(by[s]), layout_scope_name((layout_scope)s),
                                 layout_scope_name(*wide), layout_scope_name(*wide),
                                 layout_scope_name((layout_scope)s)) != NULL;
    return layout_refuse(arena, error, "the scopes of the thread axes do not form a chain") != NULL;
}

typedef struct fuse_row {
    layout_scope narrow, wide;
    layout_axis from, to;
    int64_t factor;
} fuse_row;

static const fuse_row fuse_rows[] = {
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_WARPGROUP, LAYOUT_AXIS_LANEID, LAYOUT_AXIS_TID_IN_WG, 1},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_WARPGROUP, LAYOUT_AXIS_WID_IN_WG, LAYOUT_AXIS_TID_IN_WG, 32},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_LANEID, LAYOUT_AXIS_TX, 1},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_WARPID, LAYOUT_AXIS_TX, 32},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_WGID, LAYOUT_AXIS_TX, 128},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_TID_IN_WG, LAYOUT_AXIS_TX, 1},
    {LAYOUT_SCOPE_THREAD, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_WID_IN_WG, LAYOUT_AXIS_TX, 32},
    {LAYOUT_SCOPE_WARP, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_WID_IN_WG, LAYOUT_AXIS_WARPID, 1},
    {LAYOUT_SCOPE_WARP, LAYOUT_SCOPE_CTA, LAYOUT_AXIS_WGID, LAYOUT_AXIS_WARPID, 4},
};

bool layout_fuse_iter(layout_iter *iter, layout_scope narrow, layout_scope wide) {
    for (unsigned i = 0; i < sizeof fuse_rows / sizeof fuse_rows[0]; i++) {
        const fuse_row *row = &fuse_rows[i];
        if (row->narrow != narrow || row->wide != wide || row->from != iter->axis)
            continue;
        iter->axis = row->to;
        return !__builtin_mul_overflow(iter->stride, row->factor, &iter->stride);
    }
    return true;
}

static const struct split_row {
    layout_axis axis, outer, inner;
    layout_scope scope;
    int64_t block;
} split_rows[] = {
    {LAYOUT_AXIS_TX, LAYOUT_AXIS_WARPID, LAYOUT_AXIS_LANEID, LAYOUT_SCOPE_WARP, 32},
    {LAYOUT_AXIS_TX, LAYOUT_AXIS_WGID, LAYOUT_AXIS_TID_IN_WG, LAYOUT_SCOPE_WARPGROUP, 128},
    {LAYOUT_AXIS_TID_IN_WG, LAYOUT_AXIS_WID_IN_WG, LAYOUT_AXIS_LANEID, LAYOUT_SCOPE_WARP, 32},
    {LAYOUT_AXIS_WARPID, LAYOUT_AXIS_WGID, LAYOUT_AXIS_WID_IN_WG, LAYOUT_SCOPE_WARPGROUP, 4},
};

uint32_t layout_split_iter(const layout_iter *iter, layout_scope scope, layout_iter *parts) {
    if (!layout_axis_is_thread(iter->axis)) {
        parts[0] = *iter;
        return 1;
    }
    for (unsigned i = 0; i < sizeof split_rows / sizeof split_rows[0]; i++) {
        const struct split_row *row = &split_rows[i];
        int64_t reach = 0;
        if (row->axis != iter->axis || row->scope != scope ||
            __builtin_mul_overflow(iter->extent, iter->stride, &reach) || iter->stride < 0)
            continue;
        if (reach < row->block || iter->stride == 0) {
            parts[0] = (layout_iter){iter->extent, iter->stride, row->inner};
            return 1;
        }
        if (iter->stride % row->block == 0) {
            parts[0] = (layout_iter){iter->extent, iter->stride / row->block, row->outer};
            return 1;
        }
        if (row->block % iter->stride != 0 || reach % row->block != 0)
            return 0;
        parts[0] = (layout_iter){reach / row->block, 1, row->outer};
        parts[1] = (layout_iter){row->block / iter->stride, iter->stride, row->inner};
        return parts[0].extent == 1 ? (parts[0] = parts[1], 1) : 2;
    }
    return 0;
}

static uint32_t split_all(const layout_iter *iters, uint32_t count, layout_scope scope, layout_iter *out,
                          const layout_iter **bad) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t parts = layout_split_iter(&iters[i], scope, &out[made]);
        if (parts == 0)
            *bad = &iters[i];
        made += parts;
    }
    return made;
}

/* An offset is a place, not a walk: it splits into quotient and remainder. */
static bool split_offset(layout_tile *tile, layout_axis axis, int64_t value, layout_scope scope) {
    for (unsigned i = 0; i < sizeof split_rows / sizeof split_rows[0]; i++) {
        const struct split_row *row = &split_rows[i];
        if (row->axis != axis || row->scope != scope || value < 0)
            continue;
        if (value / row->block != 0) {
            tile->offset[row->outer] += value / row->block;
            tile->offset_axes |= 1u << row->outer;
        }
        if (value % row->block != 0) {
            tile->offset[row->inner] += value % row->block;
            tile->offset_axes |= 1u << row->inner;
        }
        return true;
    }
    return false;
}

const layout_tile *layout_split_scope(base_arena *arena, const layout_tile *layout, layout_scope scope,
                                      layout_error *error) {
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, 2 * (size_t)layout->shard_count);
    layout_iter *replica = BASE_NEW_ARRAY(arena, layout_iter, 2 * (size_t)layout->replica_count);
    const layout_iter *bad = NULL;
    uint32_t count = split_all(layout->shard, layout->shard_count, scope, shard, &bad);
    layout_tile *tile = layout_like(arena, layout, shard, count);
    tile->replica = replica;
    tile->replica_count = split_all(layout->replica, layout->replica_count, scope, replica, &bad);
    if (bad != NULL)
        return layout_refuse(arena, error, "the iter %lld:%lld@%s does not divide at the %s",
                             (long long)bad->extent, (long long)bad->stride, layout_axis_name(bad->axis),
                             layout_scope_name(scope));
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if ((layout->offset_axes >> a & 1) && layout_axis_is_thread((layout_axis)a)) {
            tile->offset[a] = 0;
            tile->offset_axes &= ~(1u << a);
        }
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if ((layout->offset_axes >> a & 1) && layout_axis_is_thread((layout_axis)a) &&
            !split_offset(tile, (layout_axis)a, layout->offset[a], scope))
            return layout_refuse(arena, error, "the offset %lld on %s does not divide at the %s",
                                 (long long)layout->offset[a], layout_axis_name((layout_axis)a),
                                 layout_scope_name(scope));
    return tile;
}
