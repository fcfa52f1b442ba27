/* SPDX-License-Identifier: Apache-2.0
 * One layout cut at the boundaries of several shapes at once. A boundary is a product of leading extents; all
 * boundaries of all shapes must form one chain in which each divides the next. Unit extents are boundaries
 * that repeat, and are kept as often as the shape that has most of them there. */
#include "layout/layout_internal.h"
#include <stdlib.h>
#include <string.h>

typedef struct boundary_list {
    int64_t *values;
    uint32_t count;
} boundary_list;

static bool boundaries(base_arena *arena, boundary_list *list, const int64_t *extents, uint32_t rank,
                       uint32_t which, layout_error *error) {
    list->values = BASE_NEW_ARRAY(arena, int64_t, (size_t)rank + 1);
    list->values[0] = 1;
    list->count = rank + 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (extents[i] <= 0)
            return layout_refuse(arena, error, "shape %u: extent %lld of dimension %u is not positive",
                                 (unsigned)which, (long long)extents[i], (unsigned)i) != NULL;
        if (__builtin_mul_overflow(list->values[i], extents[i], &list->values[i + 1]))
            return layout_refuse(arena, error, "shape %u: the number of elements does not fit in 64 bits",
                                 (unsigned)which) != NULL;
    }
    return true;
}

static int compare_values(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Merges the sorted lists; a value occurs as often as in the list that has it most. */
static void merge_lists(base_arena *arena, const boundary_list *lists, uint32_t count,
                        boundary_list *merged) {
    size_t total = 0;
    for (uint32_t k = 0; k < count; k++)
        total += lists[k].count;
    int64_t *all = BASE_NEW_ARRAY(arena, int64_t, total);
    size_t n = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < lists[k].count; i++)
            all[n++] = lists[k].values[i];
    qsort(all, n, sizeof *all, compare_values);
    uint32_t *at = BASE_NEW_ARRAY(arena, uint32_t, count);
    merged->values = BASE_NEW_ARRAY(arena, int64_t, total);
    merged->count = 0;
    for (size_t i = 0; i < n;) {
        int64_t value = all[i];
        uint32_t most = 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t have = 0;
            for (; at[k] < lists[k].count && lists[k].values[at[k]] == value; at[k]++)
                have++;
            most = have > most ? have : most;
        }
        for (uint32_t j = 0; j < most; j++)
            merged->values[merged->count++] = value;
        while (i < n && all[i] == value)
            i++;
    }
}

/* Where each boundary of the list stands in the merged one: the first of all at the front of its equals, the
 * last of all at the back of them, the others in order. */
static void find_positions(const boundary_list *merged, const boundary_list *list, uint32_t *positions) {
    uint32_t m = 0;
    for (uint32_t j = 0; j < list->count; j++) {
        while (merged->values[m] != list->values[j])
            m++;
        positions[j] = m;
        if (m + 1 < merged->count)
            m++;
    }
    positions[list->count - 1] = merged->count - 1;
}

const layout_tile *layout_group_many(base_arena *arena, const layout_tile *layout, uint32_t count,
                                     const int64_t *const *shapes, const uint32_t *ranks,
                                     uint32_t **separators, layout_error *error) {
    boundary_list *lists = BASE_NEW_ARRAY(arena, boundary_list, (size_t)count + 1), merged;
    int64_t *own = BASE_NEW_ARRAY(arena, int64_t, layout->shard_count);
    for (uint32_t i = 0; i < layout->shard_count; i++)
        own[i] = layout->shard[i].extent;
    for (uint32_t k = 0; k <= count; k++) {
        if (k < count && ranks[k] == 0)
            return layout_refuse(arena, error, "shape %u has no dimension", (unsigned)k);
        if (!boundaries(arena, &lists[k], k < count ? shapes[k] : own,
                        k < count ? ranks[k] : layout->shard_count, k, error))
            return NULL;
    }
    int64_t size = lists[count].values[lists[count].count - 1];
    for (uint32_t k = 0; k < count; k++)
        if (lists[k].values[ranks[k]] != size)
            return layout_refuse(arena, error, "shape %u has %lld elements, the layout %lld", (unsigned)k,
                                 (long long)lists[k].values[ranks[k]], (long long)size);
    merge_lists(arena, lists, count + 1, &merged);
    for (uint32_t i = 1; i < merged.count; i++)
        if (merged.values[i] % merged.values[i - 1] != 0)
            return layout_refuse(arena, error,
                                 "the shapes have no common refinement: one has a boundary at %lld elements, "
                                 "another at %lld, and neither divides the other",
                                 (long long)merged.values[i - 1], (long long)merged.values[i]);
    for (uint32_t k = 0; k < count; k++) {
        separators[k] = BASE_NEW_ARRAY(arena, uint32_t, lists[k].count);
        find_positions(&merged, &lists[k], separators[k]);
    }
    uint32_t *mine = BASE_NEW_ARRAY(arena, uint32_t, lists[count].count);
    find_positions(&merged, &lists[count], mine);
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, merged.count);
    uint32_t made = 0;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        for (uint32_t p = mine[i]; p < mine[i + 1]; p++) {
            int64_t below = merged.values[mine[i + 1]] / merged.values[p + 1], stride = 0;
            if (__builtin_mul_overflow(layout->shard[i].stride, below, &stride))
                return layout_refuse(
                    arena, error, "shard iter %u: its stride does not fit in 64 bits when cut", (unsigned)i);
            shard[made++] =
                (layout_iter){merged.values[p + 1] / merged.values[p], stride, layout->shard[i].axis};
        }
    return layout_like(arena, layout, shard, made);
}
