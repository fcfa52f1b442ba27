/* SPDX-License-Identifier: Apache-2.0
 * Making layouts, their sizes, and the canonical form.
 * Every layout that exists has been checked here: extents are positive, and its size and every position of a
 * coordinate within it fit in 64 bits, so the other files need checks only for what they add.
 * Two canonical forms: the plain one, and the fused one, which also names threads by the widest axis of their
 * scope, so that laneid beside warpid and tx are one thing. Equality uses the fused one where it exists. */
#include "layout/layout_internal.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const layout_tile *layout_refuse(base_arena *arena, layout_error *error, const char *format, ...) {
    if (error == NULL)
        return NULL;
    va_list arguments;
    va_start(arguments, format);
    error->text = base_arena_format_list(arena, format, arguments);
    va_end(arguments);
    return NULL;
}

/* Adds the lowest and highest position that an iter reaches. */
static bool add_reach(const layout_iter *iter, int64_t *lowest, int64_t *highest) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(iter->extent - 1, iter->stride, &reach))
        return false;
    return !__builtin_add_overflow(reach < 0 ? *lowest : *highest, reach, reach < 0 ? lowest : highest);
}

static bool check_iters(base_arena *arena, const layout_iter *iters, uint32_t count, const char *what,
                        layout_error *error) {
    int64_t size = 1;
    for (uint32_t i = 0; i < count; i++) {
        if ((unsigned)iters[i].axis >= LAYOUT_AXIS_COUNT)
            return layout_refuse(arena, error, "%s %u names no axis", what, (unsigned)i) != NULL;
        if (iters[i].extent <= 0)
            return layout_refuse(arena, error, "extent %lld of %s %u is not positive",
                                 (long long)iters[i].extent, what, (unsigned)i) != NULL;
        if (__builtin_mul_overflow(size, iters[i].extent, &size))
            return layout_refuse(
                       arena, error,
                       "the product of the %s extents does not fit in 64 bits: %s %u has the extent "
                       "%lld",
                       what, what, (unsigned)i, (long long)iters[i].extent) != NULL;
    }
    return true;
}

bool layout_check(base_arena *arena, const layout_tile *layout, layout_error *error) {
    if (!check_iters(arena, layout->shard, layout->shard_count, "shard", error) ||
        !check_iters(arena, layout->replica, layout->replica_count, "replica", error))
        return false;
    int64_t lowest[LAYOUT_AXIS_COUNT], highest[LAYOUT_AXIS_COUNT];
    memcpy(lowest, layout->offset, sizeof lowest);
    memcpy(highest, layout->offset, sizeof highest);
    for (uint32_t i = 0; i < layout->shard_count + layout->replica_count; i++) {
        bool shard = i < layout->shard_count;
        const layout_iter *iter = shard ? &layout->shard[i] : &layout->replica[i - layout->shard_count];
        if (!add_reach(iter, &lowest[iter->axis], &highest[iter->axis]) || highest[iter->axis] == INT64_MAX)
            return layout_refuse(arena, error,
                                 "the positions that the layout reaches do not fit in 64 bits: %s iter %u is "
                                 "%lld:%lld@%s%s",
                                 shard ? "shard" : "replica", (unsigned)(shard ? i : i - layout->shard_count),
                                 (long long)iter->extent, (long long)iter->stride,
                                 layout_axis_name(iter->axis),
                                 layout->offset[iter->axis] == 0
                                     ? ""
                                     : base_arena_format(arena, ", the offset there %lld",
                                                         (long long)layout->offset[iter->axis])) != NULL;
    }
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (highest[a] == INT64_MAX) /* the span is one more */
            return layout_refuse(arena, error,
                                 "the positions that the layout reaches do not fit in 64 bits: the offset on "
                                 "%s is %lld",
                                 layout_axis_name((layout_axis)a), (long long)layout->offset[a]) != NULL;
    return true;
}

layout_tile *layout_like(base_arena *arena, const layout_tile *from, layout_iter *shard, uint32_t count) {
    layout_tile *tile = BASE_NEW(arena, layout_tile);
    *tile = *from;
    tile->shard = shard;
    tile->shard_count = count;
    return tile;
}

const layout_tile *layout_copy(base_arena *arena, const layout_tile *layout) {
    layout_tile *tile = base_arena_copy(arena, layout, sizeof *layout);
    tile->shard = base_arena_copy(arena, layout->shard, sizeof *layout->shard * layout->shard_count);
    tile->replica = base_arena_copy(arena, layout->replica, sizeof *layout->replica * layout->replica_count);
    return tile;
}

const layout_tile *layout_make(base_arena *arena, const layout_iter *shard, uint32_t shard_count,
                               const layout_iter *replica, uint32_t replica_count, const int64_t *offsets,
                               uint32_t offset_axes, layout_error *error) {
    layout_tile *tile = BASE_NEW(arena, layout_tile);
    tile->shard = base_arena_copy(arena, shard, sizeof *shard * shard_count);
    tile->shard_count = shard_count;
    tile->replica = base_arena_copy(arena, replica, sizeof *replica * replica_count);
    tile->replica_count = replica_count;
    for (unsigned a = 0; offsets != NULL && a < LAYOUT_AXIS_COUNT; a++)
        if (offset_axes >> a & 1) {
            tile->offset[a] = offsets[a];
            tile->offset_axes |= 1u << a;
        }
    return layout_check(arena, tile, error) ? tile : NULL;
}

const layout_tile *layout_row_major(base_arena *arena, const int64_t *shape, uint32_t rank,
                                    layout_error *error) {
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, rank);
    int64_t stride = 1;
    for (uint32_t d = rank; d-- > 0;) {
        iters[d] = (layout_iter){shape[d], stride, LAYOUT_AXIS_M};
        if (shape[d] <= 0)
            return layout_refuse(arena, error, "extent %lld of dimension %u is not positive",
                                 (long long)shape[d], (unsigned)d);
        if (__builtin_mul_overflow(stride, shape[d], &stride))
            return layout_refuse(arena, error, "the number of elements of the shape does not fit in 64 bits");
    }
    return layout_make(arena, iters, rank, NULL, 0, NULL, 0, error);
}

bool layout_size(const layout_tile *layout, int64_t *size) {
    *size = 1;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (__builtin_mul_overflow(*size, layout->shard[i].extent, size))
            return false;
    return true;
}

/* Replicas hold copies of elements, so they are part of the span. */
bool layout_span(const layout_tile *layout, layout_axis axis, int64_t *span) {
    int64_t lowest = 0;
    *span = layout->offset[axis];
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (layout->shard[i].axis == axis && !add_reach(&layout->shard[i], &lowest, span))
            return false;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        if (layout->replica[i].axis == axis && !add_reach(&layout->replica[i], &lowest, span))
            return false;
    return !__builtin_add_overflow(*span, 1, span);
}

bool layout_has_thread_axis(const layout_tile *layout) {
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (layout_axis_is_thread(layout->shard[i].axis))
            return true;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        if (layout_axis_is_thread(layout->replica[i].axis))
            return true;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if ((layout->offset_axes >> a & 1) && layout_axis_is_thread((layout_axis)a))
            return true;
    return false;
}

static int compare_iters(const void *left, const void *right) {
    const layout_iter *a = left, *b = right;
    if (a->axis != b->axis)
        return a->axis < b->axis ? -1 : 1;
    if (a->extent != b->extent)
        return a->extent < b->extent ? -1 : 1;
    return a->stride < b->stride ? -1 : a->stride > b->stride;
}

/* Whether stepping through `next` inside of one step of `previous` is one longer iter. */
static bool continues(const layout_iter *previous, const layout_iter *next) {
    int64_t block = 0;
    return previous->axis == next->axis && !__builtin_mul_overflow(next->extent, next->stride, &block) &&
           block == previous->stride;
}

static layout_tile *merge(base_arena *arena, const layout_tile *layout, layout_iter *shard,
                          const layout_iter *from, uint32_t from_count) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < from_count; i++) {
        const layout_iter *iter = &from[i];
        if (iter->extent == 1)
            continue;
        if (count > 0 && continues(&shard[count - 1], iter))
            shard[count - 1] =
                (layout_iter){shard[count - 1].extent * iter->extent, iter->stride, iter->axis};
        else
            shard[count++] = *iter;
    }
    if (count == 0 && from_count > 0)
        shard[count++] = (layout_iter){1, 1, from[0].axis};
    layout_tile *tile = layout_like(arena, layout, shard, count);
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout->offset[a] == 0)
            tile->offset_axes &= ~(1u << a);
    layout_iter *replica =
        base_arena_copy(arena, layout->replica, sizeof *layout->replica * layout->replica_count);
    if (layout->replica_count > 1)
        qsort(replica, layout->replica_count, sizeof *replica, compare_iters);
    tile->replica = replica;
    return tile;
}

const layout_tile *layout_canonical(base_arena *arena, const layout_tile *layout) {
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, layout->shard_count);
    return merge(arena, layout, shard, layout->shard, layout->shard_count);
}

/* Unit iters and zero offsets name no thread, so the scopes are those of what is left without them. */
const layout_tile *layout_canonical_fused(base_arena *arena, const layout_tile *layout, layout_error *error) {
    layout_scope narrow, wide;
    const layout_tile *plain = layout_canonical(arena, layout);
    if (!layout_scopes(arena, plain, &narrow, &wide, error))
        return NULL;
    if (narrow == LAYOUT_SCOPE_NONE)
        return plain;
    layout_iter *shard = base_arena_copy(arena, plain->shard, sizeof *shard * plain->shard_count);
    layout_iter *replica = base_arena_copy(arena, plain->replica, sizeof *replica * plain->replica_count);
    layout_tile *tile = layout_like(arena, plain, shard, plain->shard_count);
    tile->replica = replica;
    memset(tile->offset, 0, sizeof tile->offset);
    tile->offset_axes = 0;
    bool fits = true;
    for (uint32_t i = 0; i < tile->shard_count; i++)
        fits = layout_fuse_iter(&shard[i], narrow, wide) && fits;
    for (uint32_t i = 0; i < tile->replica_count; i++)
        fits = layout_fuse_iter(&replica[i], narrow, wide) && fits;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (plain->offset_axes >> a & 1) { /* two offsets may meet on one axis: they add */
            layout_iter place = {1, plain->offset[a], (layout_axis)a};
            fits = layout_fuse_iter(&place, narrow, wide) && fits;
            fits =
                !__builtin_add_overflow(tile->offset[place.axis], place.stride, &tile->offset[place.axis]) &&
                fits;
            tile->offset_axes |= 1u << place.axis;
        }
    if (!fits)
        return layout_refuse(arena, error,
                             "the thread numbers that the layout reaches do not fit in 64 bits");
    if (!layout_check(arena, tile, error))
        return NULL;
    return layout_canonical(arena, tile);
}

bool layout_same_iter(const layout_iter *a, const layout_iter *b) {
    return a->extent == b->extent && a->stride == b->stride && a->axis == b->axis;
}

static bool same_iters(const layout_iter *a, const layout_iter *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!layout_same_iter(&a[i], &b[i]))
            return false;
    return true;
}

bool layout_equal(base_arena *arena, const layout_tile *a, const layout_tile *b) {
    const layout_tile *x = layout_canonical_fused(arena, a, NULL);
    const layout_tile *y = layout_canonical_fused(arena, b, NULL);
    if (x == NULL || y == NULL) {
        x = layout_canonical(arena, a);
        y = layout_canonical(arena, b);
    }
    return x->shard_count == y->shard_count && x->replica_count == y->replica_count &&
           x->offset_axes == y->offset_axes && memcmp(x->offset, y->offset, sizeof x->offset) == 0 &&
           layout_same_swizzle(x->swizzle, y->swizzle) && same_iters(x->shard, y->shard, x->shard_count) &&
           same_iters(x->replica, y->replica, x->replica_count);
}
