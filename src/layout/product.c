/* SPDX-License-Identifier: Apache-2.0
 * Layouts made of two: a tile repeated by an outer layout, and the sum of two layouts. */
#include "layout/layout_internal.h"
#include <string.h>

static const layout_tile *canonical(base_arena *arena, const layout_tile *layout, bool fused,
                                    layout_error *error) {
    return fused ? layout_canonical_fused(arena, layout, error) : layout_canonical(arena, layout);
}

/* Both operands grouped, and where their groups begin. */
typedef struct pair {
    const layout_tile *first, *second; /* outer or left; inner or right */
    uint32_t *first_at, *second_at;
} pair;

static bool group_pair(base_arena *arena, pair *p, const int64_t *first_shape, const int64_t *second_shape,
                       uint32_t rank, layout_error *error) {
    p->first_at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    p->second_at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    p->first = layout_group(arena, p->first, first_shape, rank, p->first_at, error);
    p->second =
        p->first == NULL ? NULL : layout_group(arena, p->second, second_shape, rank, p->second_at, error);
    return p->second != NULL;
}

/* Per dimension the iters of the first, then those of the second; replicas second first; offsets add. */
static const layout_tile *interleave(base_arena *arena, const pair *p, uint32_t rank, layout_error *error) {
    const layout_tile *a = p->first, *b = p->second;
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, (size_t)a->shard_count + b->shard_count);
    layout_iter *replica = BASE_NEW_ARRAY(arena, layout_iter, (size_t)a->replica_count + b->replica_count);
    uint32_t count = 0;
    for (uint32_t d = 0; d < rank; d++) {
        for (uint32_t i = p->first_at[d]; i < p->first_at[d + 1]; i++)
            shard[count++] = a->shard[i];
        for (uint32_t i = p->second_at[d]; i < p->second_at[d + 1]; i++)
            shard[count++] = b->shard[i];
    }
    layout_tile *tile = layout_like(arena, b, shard, count);
    if (b->replica_count > 0)
        memcpy(replica, b->replica, sizeof *replica * b->replica_count);
    if (a->replica_count > 0)
        memcpy(replica + b->replica_count, a->replica, sizeof *replica * a->replica_count);
    tile->replica = replica;
    tile->replica_count = a->replica_count + b->replica_count;
    tile->offset_axes = a->offset_axes | b->offset_axes;
    for (unsigned i = 0; i < LAYOUT_AXIS_COUNT; i++)
        if (__builtin_add_overflow(a->offset[i], b->offset[i], &tile->offset[i]))
            return layout_refuse(arena, error, "the offsets %lld and %lld on %s do not add up in 64 bits",
                                 (long long)a->offset[i], (long long)b->offset[i],
                                 layout_axis_name((layout_axis)i));
    return layout_check(arena, tile, error) ? tile : NULL;
}

/* The second operand's swizzle goes over the whole. */
static const layout_tile *swizzled(base_arena *arena, const layout_tile *tile, layout_swizzle swizzle,
                                   layout_error *error) {
    return tile != NULL && swizzle.present ? layout_compose(arena, tile, swizzle, error) : tile;
}

static bool scale_outer(base_arena *arena, pair *p, layout_error *error) {
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, p->first->shard_count);
    uint32_t axes = 0;
    for (uint32_t i = 0; i < p->second->shard_count; i++)
        axes |= 1u << p->second->shard[i].axis;
    for (uint32_t i = 0; i < p->first->shard_count; i++) {
        shard[i] = p->first->shard[i];
        int64_t span = 0;
        if (!(axes >> shard[i].axis & 1))
            continue;
        if (!layout_span(p->second, shard[i].axis, &span) ||
            __builtin_mul_overflow(shard[i].stride, span, &shard[i].stride))
            return layout_refuse(arena, error,
                                 "outer iter %u, %lld:%lld@%s, times the inner span %lld does not fit in 64 "
                                 "bits",
                                 (unsigned)i, (long long)shard[i].extent,
                                 (long long)p->first->shard[i].stride, layout_axis_name(shard[i].axis),
                                 (long long)span) != NULL;
    }
    p->first = layout_like(arena, p->first, shard, p->first->shard_count);
    return true;
}

const layout_tile *layout_product(base_arena *arena, const layout_tile *inner, const layout_tile *outer,
                                  const int64_t *outer_shape, const int64_t *inner_shape, uint32_t rank,
                                  bool fused, layout_error *error) {
    if (outer->swizzle.present)
        return layout_refuse(arena, error, "the outer layout of a tile cannot be swizzled: %s",
                             layout_text_of(arena, outer));
    layout_swizzle swizzle = inner->swizzle;
    const layout_tile *base = layout_under(arena, inner, inner_shape, rank, error);
    if (base == NULL)
        return NULL;
    pair p = {canonical(arena, outer, fused, error), NULL, NULL, NULL};
    p.second = p.first == NULL ? NULL : canonical(arena, base, fused, error);
    if (p.second == NULL || !group_pair(arena, &p, outer_shape, inner_shape, rank, error) ||
        !scale_outer(arena, &p, error))
        return NULL;
    const layout_tile *tile = interleave(arena, &p, rank, error);
    tile = tile == NULL ? NULL : canonical(arena, tile, fused, error);
    return swizzled(arena, tile, swizzle, error);
}

const layout_tile *layout_product_to(base_arena *arena, const layout_tile *inner, const int64_t *to_shape,
                                     const int64_t *inner_shape, uint32_t rank, layout_error *error) {
    int64_t *outer_shape = BASE_NEW_ARRAY(arena, int64_t, rank);
    for (uint32_t d = 0; d < rank; d++) {
        if (inner_shape[d] <= 0 || to_shape[d] <= 0 || to_shape[d] % inner_shape[d] != 0)
            return layout_refuse(arena, error, "dimension %u: %lld is no multiple of the tile's %lld",
                                 (unsigned)d, (long long)to_shape[d], (long long)inner_shape[d]);
        outer_shape[d] = to_shape[d] / inner_shape[d];
    }
    const layout_tile *outer = layout_row_major(arena, outer_shape, rank, error);
    return outer == NULL ? NULL
                         : layout_product(arena, inner, outer, outer_shape, inner_shape, rank, false, error);
}

const layout_tile *layout_direct_sum(base_arena *arena, const layout_tile *left, const layout_tile *right,
                                     const int64_t *left_shape, const int64_t *right_shape, uint32_t rank,
                                     layout_error *error) {
    if (left->swizzle.present)
        return layout_refuse(arena, error, "the left layout of a sum cannot be swizzled: %s",
                             layout_text_of(arena, left));
    layout_swizzle swizzle = right->swizzle;
    const layout_tile *base = layout_under(arena, right, right_shape, rank, error);
    if (base == NULL)
        return NULL;
    pair p = {layout_canonical(arena, left), layout_canonical(arena, base), NULL, NULL};
    if (!group_pair(arena, &p, left_shape, right_shape, rank, error))
        return NULL;
    const layout_tile *tile = interleave(arena, &p, rank, error);
    return swizzled(arena, tile == NULL ? NULL : layout_canonical(arena, tile), swizzle, error);
}
