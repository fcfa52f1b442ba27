/* SPDX-License-Identifier: Apache-2.0
 * From a coordinate to a position per axis. A digit beyond its range is not an error here: the outermost
 * digit of a group is taken as it is, which keeps an index that runs over within its own dimension. */
#include "layout/layout_internal.h"
#include <string.h>

static int64_t floor_divide(int64_t a, int64_t b) { /* b > 0 */
    return a / b - (a % b < 0 ? 1 : 0);
}

/* Mixed radix, innermost last. */
static void split(int64_t flat, const layout_iter *iters, uint32_t count, int64_t *digits) {
    for (uint32_t i = count; i-- > 0;) {
        if (i == 0) {
            digits[i] = flat;
            break;
        }
        int64_t quotient = floor_divide(flat, iters[i].extent);
        digits[i] = flat - quotient * iters[i].extent;
        flat = quotient;
    }
}

static bool flatten(const int64_t *coordinate, const int64_t *shape, uint32_t rank, int64_t *flat) {
    *flat = 0;
    for (uint32_t d = 0; d < rank; d++)
        if (__builtin_mul_overflow(*flat, shape[d], flat) ||
            __builtin_add_overflow(*flat, coordinate[d], flat))
            return false;
    return true;
}

static bool place(const layout_tile *layout, const layout_iter *iters, uint32_t count, const int64_t *digits,
                  int64_t *position, uint32_t *axes) {
    memcpy(position, layout->offset, sizeof layout->offset);
    *axes = layout->offset_axes;
    for (uint32_t i = 0; i < count; i++) {
        int64_t step = 0;
        if (__builtin_mul_overflow(digits[i], iters[i].stride, &step) ||
            __builtin_add_overflow(position[iters[i].axis], step, &position[iters[i].axis]))
            return false;
        *axes |= 1u << iters[i].axis;
    }
    if (layout->swizzle.present) /* out of range, an address may be below 0: arithmetic on its bits goes on */
        position[LAYOUT_AXIS_M] = layout_swizzle_apply(layout->swizzle, position[LAYOUT_AXIS_M]);
    return true;
}

/* Room for one call: on the stack for every usual layout, since this runs once per element. */
enum { SMALL = 32 };
typedef struct room {
    layout_iter small_iters[SMALL], *iters;
    int64_t small_digits[SMALL], *digits;
    uint32_t small_separators[SMALL + 1], *separators;
} room;

static void make_room(room *r, size_t iters, size_t rank, base_arena *arena) {
    bool small = iters <= SMALL && rank <= SMALL;
    r->iters = small ? r->small_iters : BASE_NEW_ARRAY(arena, layout_iter, iters);
    r->digits = small ? r->small_digits : BASE_NEW_ARRAY(arena, int64_t, iters);
    r->separators = small ? r->small_separators : BASE_NEW_ARRAY(arena, uint32_t, rank + 1);
}

/* The digits of a coordinate, and the iters that they are digits of. */
static bool find_digits(const layout_tile *layout, const int64_t *coordinate, uint32_t rank,
                        const int64_t *shape, room *r, const layout_iter **iters, uint32_t *count,
                        layout_error *error, base_arena *arena) {
    *iters = layout->shard;
    *count = layout->shard_count;
    if (shape != NULL && layout_group_iters(layout, shape, rank, r->iters, count, r->separators)) {
        *iters = r->iters;
        for (uint32_t d = 0; d < rank; d++)
            split(coordinate[d], &r->iters[r->separators[d]], r->separators[d + 1] - r->separators[d],
                  &r->digits[r->separators[d]]);
        return true;
    }
    *count = layout->shard_count;
    if (shape != NULL || rank == 1) {
        int64_t flat = rank > 0 ? coordinate[0] : 0;
        if (shape != NULL && !flatten(coordinate, shape, rank, &flat))
            return layout_refuse(arena, error, "the position of the coordinate does not fit in 64 bits") !=
                   NULL;
        split(flat, *iters, *count, r->digits);
        return true;
    }
    if (rank != *count)
        return layout_refuse(arena, error, "the coordinate has %u entries, the layout %u shard iters",
                             (unsigned)rank, (unsigned)*count) != NULL;
    memcpy(r->digits, coordinate, sizeof *coordinate * rank);
    return true;
}

bool layout_apply(const layout_tile *layout, const int64_t *coordinate, uint32_t rank, const int64_t *shape,
                  int64_t *position, uint32_t *axes, layout_error *error, base_arena *arena) {
    room r;
    const layout_iter *iters = NULL;
    uint32_t count = 0;
    make_room(&r, (size_t)layout->shard_count + rank, rank, arena);
    if (!find_digits(layout, coordinate, rank, shape, &r, &iters, &count, error, arena))
        return false;
    return place(layout, iters, count, r.digits, position, axes) ||
           layout_refuse(arena, error, "the position of the coordinate does not fit in 64 bits") != NULL;
}

layout_prepared layout_prepare(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                               uint32_t rank) {
    layout_prepared p = {.layout = layout, .shape = shape, .rank = rank};
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, (size_t)layout->shard_count + rank);
    uint32_t *separators = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    if (layout_group_iters(layout, shape, rank, iters, &p.count, separators)) {
        p.iters = iters;
        p.separators = separators;
    }
    return p;
}

bool layout_apply_prepared(const layout_prepared *p, const int64_t *coordinate, int64_t *position,
                           uint32_t *axes, layout_error *error, base_arena *arena) {
    int64_t digits[SMALL];
    if (!p->iters || p->count > SMALL)
        return layout_apply(p->layout, coordinate, p->rank, p->shape, position, axes, error, arena);
    for (uint32_t d = 0; d < p->rank; d++)
        split(coordinate[d], p->iters + p->separators[d], p->separators[d + 1] - p->separators[d],
              digits + p->separators[d]);
    return place(p->layout, p->iters, p->count, digits, position, axes) ||
           layout_refuse(arena, error, "the position of the coordinate does not fit in 64 bits") != NULL;
}

bool layout_apply_digits(const layout_tile *layout, const int64_t *coordinate, uint32_t rank,
                         const int64_t *shape, int64_t *digits, uint32_t *count, layout_error *error,
                         base_arena *arena) {
    room r;
    const layout_iter *iters = NULL;
    make_room(&r, (size_t)layout->shard_count + rank, rank, arena);
    if (!find_digits(layout, coordinate, rank, shape, &r, &iters, count, error, arena))
        return false;
    memcpy(digits, r.digits, sizeof *digits * *count);
    return true;
}
