/* SPDX-License-Identifier: Apache-2.0
 * Whether two layouts are one function. Both are cut at the boundaries of both; then they are affine in the
 * same digits, and agree when every digit moves both alike. Layouts whose boundaries do not nest, or that lie
 * under different swizzles, are compared element by element, up to a limit. */
#include "layout/query.h"
#include "layout/layout_internal.h"
#include <stdlib.h>
#include <string.h>

enum { ELEMENT_LIMIT = 1 << 22, COPY_LIMIT = 1 << 16 };

/* Replicas that walk down start at their other end, copies at one place are one; a swizzle that no address
 * reaches is none. */
static const layout_tile *plain(base_arena *arena, const layout_tile *layout, bool fused) {
    const layout_tile *c =
        fused ? layout_canonical_fused(arena, layout, NULL) : layout_canonical(arena, layout);
    layout_iter *replica = BASE_NEW_ARRAY(arena, layout_iter, c->replica_count);
    layout_tile *tile = layout_like(
        arena, c, base_arena_copy(arena, c->shard, sizeof *c->shard * c->shard_count), c->shard_count);
    tile->replica = replica;
    tile->replica_count = 0;
    for (uint32_t i = 0; i < c->replica_count; i++) {
        layout_iter iter = c->replica[i];
        if (iter.extent == 1 || iter.stride == 0)
            continue;
        if (iter.stride < 0 && iter.stride != INT64_MIN) {
            tile->offset[iter.axis] += (iter.extent - 1) * iter.stride;
            tile->offset_axes |= 1u << iter.axis;
            iter.stride = -iter.stride;
        }
        replica[tile->replica_count++] = iter;
    }
    int64_t span = 0;
    const layout_swizzle *z = &tile->swizzle;
    if (z->present && (z->length == 0 || (!z->outer && layout_span(tile, LAYOUT_AXIS_M, &span) &&
                                          span <= (int64_t)1 << (z->per_element + z->atom))))
        tile->swizzle.present = false;
    return layout_canonical(arena, tile); /* sorts the replicas */
}

typedef struct point {
    int64_t at[LAYOUT_AXIS_COUNT];
} point;

static int compare_points(const void *left, const void *right) {
    return memcmp(left, right, sizeof(point)); /* any total order */
}

static const point *copies(base_arena *arena, const layout_tile *layout, size_t *count) {
    size_t total = 1;
    for (uint32_t i = 0; i < layout->replica_count; i++) {
        if ((uint64_t)layout->replica[i].extent > COPY_LIMIT / total)
            return NULL;
        total *= (size_t)layout->replica[i].extent;
    }
    point *points = BASE_NEW_ARRAY(arena, point, total);
    for (size_t k = 0; k < total; k++) {
        size_t rest = k;
        for (uint32_t i = 0; i < layout->replica_count; i++) {
            const layout_iter *iter = &layout->replica[i];
            points[k].at[iter->axis] += (int64_t)(rest % (size_t)iter->extent) * iter->stride;
            rest /= (size_t)iter->extent;
        }
    }
    qsort(points, total, sizeof *points, compare_points);
    *count = 0;
    for (size_t k = 0; k < total; k++)
        if (k == 0 || compare_points(&points[k], &points[*count - 1]) != 0)
            points[(*count)++] = points[k];
    return points;
}

static layout_answer same_copies(base_arena *arena, const layout_tile *a, const layout_tile *b) {
    size_t m = 0, n = 0;
    bool same = a->replica_count == b->replica_count;
    for (uint32_t i = 0; same && i < a->replica_count; i++)
        same = layout_same_iter(&a->replica[i], &b->replica[i]);
    if (same)
        return LAYOUT_YES;
    const point *x = copies(arena, a, &m), *y = copies(arena, b, &n);
    if (x == NULL || y == NULL)
        return LAYOUT_UNKNOWN;
    return m == n && memcmp(x, y, sizeof *x * m) == 0 ? LAYOUT_YES : LAYOUT_NO;
}

static void element(const layout_tile *layout, int64_t flat, int64_t *position) {
    memcpy(position, layout->offset, sizeof layout->offset);
    for (uint32_t i = layout->shard_count; i-- > 0; flat /= layout->shard[i].extent)
        position[layout->shard[i].axis] += flat % layout->shard[i].extent * layout->shard[i].stride;
    if (layout->swizzle.present)
        position[LAYOUT_AXIS_M] = layout_swizzle_apply(layout->swizzle, position[LAYOUT_AXIS_M]);
}

static uint32_t axes_of(const layout_tile *layout) {
    uint32_t axes = layout->offset_axes;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        axes |= 1u << layout->shard[i].axis;
    return axes;
}

static bool differ_at(const layout_tile *a, const layout_tile *b, int64_t flat,
                      layout_difference *difference) {
    element(a, flat, difference->first);
    element(b, flat, difference->second);
    difference->flat = flat;
    difference->first_axes = axes_of(a);
    difference->second_axes = axes_of(b);
    return memcmp(difference->first, difference->second, sizeof difference->first) != 0;
}

/* Both affine in the same digits: 0 and one step of every digit decide. */
static layout_answer by_digits(const layout_tile *a, const layout_tile *b, layout_difference *difference) {
    if (differ_at(a, b, 0, difference))
        return LAYOUT_NO;
    int64_t weight = 1;
    for (uint32_t i = a->shard_count; i-- > 0; weight *= a->shard[i].extent)
        if (a->shard[i].extent > 1 && differ_at(a, b, weight, difference))
            return LAYOUT_NO;
    return LAYOUT_YES;
}

static layout_answer by_elements(const layout_tile *a, const layout_tile *b, int64_t size,
                                 layout_difference *difference) {
    for (int64_t k = 0; k < size && k < ELEMENT_LIMIT; k++)
        if (differ_at(a, b, k, difference))
            return LAYOUT_NO;
    if (size <= ELEMENT_LIMIT)
        return LAYOUT_YES;
    difference->why = "the iters of the two do not nest, and there are too many elements to try each";
    return LAYOUT_UNKNOWN;
}

/* Cuts b at a's boundaries and the other way round; false when they do not nest. */
static bool refine(base_arena *arena, const layout_tile **a, const layout_tile **b) {
    for (int round = 0; round < 2; round++) {
        int64_t *extents = BASE_NEW_ARRAY(arena, int64_t, (size_t)(*a)->shard_count + 1);
        const int64_t *shape = extents;
        uint32_t rank = 0, *separators = NULL;
        for (uint32_t i = 0; i < (*a)->shard_count; i++)
            if ((*a)->shard[i].extent != 1)
                extents[rank++] = (*a)->shard[i].extent;
        if (rank == 0)
            extents[rank++] = 1;
        const layout_tile *cut = layout_group_many(arena, *b, 1, &shape, &rank, &separators, NULL);
        if (cut == NULL)
            return false;
        *b = *a;
        *a = cut;
    }
    return true;
}

layout_answer layout_compare(base_arena *arena, const layout_map *first, const layout_map *second,
                             layout_difference *difference) {
    *difference = (layout_difference){.why = NULL};
    layout_error error = {NULL};
    bool fused = layout_canonical_fused(arena, first->layout, &error) != NULL &&
                 layout_canonical_fused(arena, second->layout, &error) != NULL;
    if (!fused && first->axis_mask != second->axis_mask) { /* nothing says which threads are the same */
        difference->why = error.text;
        return LAYOUT_UNKNOWN;
    }
    const layout_tile *a = plain(arena, first->layout, fused), *b = plain(arena, second->layout, fused);
    bool same_swizzle = layout_same_swizzle(a->swizzle, b->swizzle);
    if (!same_swizzle && a->replica_count + b->replica_count > 0) {
        difference->why = "copies under different swizzles are not compared";
        return LAYOUT_UNKNOWN;
    }
    const layout_tile *x = a, *y = b;
    layout_answer answer = same_swizzle && refine(arena, &x, &y) ? by_digits(x, y, difference)
                                                                 : by_elements(a, b, first->size, difference);
    if (answer != LAYOUT_YES)
        return answer;
    answer = same_copies(arena, a, b);
    if (answer == LAYOUT_YES)
        return answer;
    (void)differ_at(a, b, 0, difference);
    difference->why = answer == LAYOUT_NO ? "their first copies agree, but the other copies do not"
                                          : "there are too many copies to compare";
    return answer;
}
