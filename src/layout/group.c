/* SPDX-License-Identifier: Apache-2.0
 * Splitting iters along the dimensions of a shape, and reordering the groups that this makes. */
#include "layout/layout_internal.h"

typedef struct grouping {
    layout_iter *iters;
    uint32_t count;
    const int64_t *shape;
    uint32_t rank, dimension; /* dimension: the one being filled */
    uint32_t *separators;
    int64_t run; /* product of the extents since the last boundary */
} grouping;

/* Cuts an iter wherever a dimension ends inside or behind it; the rest of it opens the next dimension. */
static bool add_iter(grouping *g, layout_iter iter) {
    g->run *= iter.extent; /* a factor of the layout's size */
    while (g->dimension < g->rank && g->run % g->shape[g->dimension] == 0) {
        int64_t rest = g->run / g->shape[g->dimension], stride = 0;
        if (iter.extent % rest != 0 || __builtin_mul_overflow(iter.stride, rest, &stride))
            return false;
        g->iters[g->count++] = (layout_iter){iter.extent / rest, stride, iter.axis};
        iter.extent = g->run = rest;
        g->separators[++g->dimension] = g->count;
    }
    if (iter.extent == 1)
        return true;
    if (g->dimension >= g->rank)
        return false;
    g->iters[g->count++] = iter;
    return true;
}

bool layout_group_iters(const layout_tile *layout, const int64_t *shape, uint32_t rank, layout_iter *iters,
                        uint32_t *count, uint32_t *separators) {
    grouping g = {iters, 0, shape, rank, 0, separators, 1};
    separators[0] = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (shape[d] <= 0)
            return false;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (!add_iter(&g, layout->shard[i]))
            return false;
    *count = g.count;
    return g.dimension == rank;
}

const layout_tile *layout_group(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, uint32_t *separators, layout_error *error) {
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, (size_t)layout->shard_count + rank);
    uint32_t count = 0;
    if (layout_group_iters(layout, shape, rank, iters, &count, separators))
        return layout_like(arena, layout, iters, count);
    return layout_refuse(arena, error, "layout %s cannot be grouped by the shape %s",
                         layout_text_of(arena, layout), layout_shape_text(arena, shape, rank));
}

const layout_tile *layout_permute_groups(base_arena *arena, const layout_tile *layout,
                                         const uint32_t *separators, uint32_t count, const uint32_t *order,
                                         layout_error *error) {
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, layout->shard_count);
    bool *seen = BASE_NEW_ARRAY(arena, bool, count);
    uint32_t made = 0;
    for (uint32_t d = 0; d < count; d++) {
        if (order[d] >= count || seen[order[d]])
            return layout_refuse(arena, error, "entry %u of the order is no permutation of %u dimensions",
                                 (unsigned)d, (unsigned)count);
        seen[order[d]] = true;
        for (uint32_t i = separators[order[d]]; i < separators[order[d] + 1]; i++)
            iters[made++] = layout->shard[i];
    }
    return layout_like(arena, layout, iters, made);
}

const layout_tile *layout_permute(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                  uint32_t rank, const uint32_t *order, layout_error *error) {
    uint32_t *separators = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    const layout_tile *grouped = layout_group(arena, layout, shape, rank, separators, error);
    return grouped == NULL ? NULL : layout_permute_groups(arena, grouped, separators, rank, order, error);
}
