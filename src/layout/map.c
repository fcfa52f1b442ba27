/* SPDX-License-Identifier: Apache-2.0
 * A layout prepared for one shape: divisions become shifts where they can, absent axes take no time, and the
 * whole map is laid down block by block. */
#include "layout/query.h"
#include "layout/layout_internal.h"

static int8_t shift_of(uint64_t value) {
    if (value == 0 || (value & (value - 1)) != 0)
        return -1;
    return (int8_t)__builtin_ctzll(value);
}

/* Axes of shard and offset, in the order in which the shard names them; then those of replicas alone. */
static void number_axes(layout_map *map) {
    const layout_tile *layout = map->layout;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (!(map->axis_mask >> layout->shard[i].axis & 1)) {
            map->axes[map->axis_count++] = layout->shard[i].axis;
            map->axis_mask |= 1u << layout->shard[i].axis;
        }
    uint32_t others = layout->offset_axes;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        others |= 1u << layout->replica[i].axis;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if ((others & ~map->axis_mask) >> a & 1) {
            map->axes[map->axis_count++] = (layout_axis)a;
            map->axis_mask |= 1u << a;
        }
    map->m_slot = map->axis_count;
    for (uint32_t s = 0; s < map->axis_count; s++) {
        map->origin[s] = layout->offset[map->axes[s]];
        if (map->axes[s] == LAYOUT_AXIS_M)
            map->m_slot = s;
    }
}

static uint32_t slot_of(const layout_map *map, layout_axis axis) {
    uint32_t slot = 0;
    while (map->axes[slot] != axis)
        slot++;
    return slot;
}

static void add_digits(const layout_map *map, layout_digit *digits, uint32_t *count, uint32_t dimension,
                       const layout_iter *iters, uint32_t n) {
    uint64_t below = 1;
    for (uint32_t i = n; i-- > 0; below *= (uint64_t)iters[i].extent) {
        uint64_t extent = i == 0 ? 0 : (uint64_t)iters[i].extent;
        if (iters[i].extent == 1 || iters[i].stride == 0)
            continue;
        digits[(*count)++] = (layout_digit){.divisor = below,
                                            .extent = extent,
                                            .stride = iters[i].stride,
                                            .dimension = dimension,
                                            .slot = slot_of(map, iters[i].axis),
                                            .divisor_shift = shift_of(below),
                                            .extent_shift = shift_of(extent),
                                            .mask = extent - 1}; /* all ones for 0 */
    }
}

/* By slot, so that evaluation adds up each position in one go. */
static const layout_digit *sort_digits(base_arena *arena, layout_map *map, const layout_digit *digits) {
    layout_digit *sorted = BASE_NEW_ARRAY(arena, layout_digit, map->digit_count);
    uint32_t count = 0;
    for (uint32_t s = 0; s < map->axis_count; s++) {
        map->slot_begin[s] = count;
        for (uint32_t i = 0; i < map->digit_count; i++)
            if (digits[i].slot == s)
                sorted[count++] = digits[i];
    }
    map->slot_begin[map->axis_count] = count;
    return sorted;
}

const layout_map *layout_map_make(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                  uint32_t rank, layout_error *error) {
    layout_map *map = BASE_NEW(arena, layout_map);
    int64_t size = 0;
    map->size = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d] <= 0)
            return layout_refuse(arena, error, "extent %lld of dimension %u is not positive",
                                 (long long)shape[d], (unsigned)d),
                   NULL;
        if (__builtin_mul_overflow(map->size, shape[d], &map->size))
            return layout_refuse(arena, error, "the number of elements of the shape does not fit in 64 bits"),
                   NULL;
    }
    if (!layout_size(layout, &size) || size != map->size)
        return layout_refuse(arena, error, "layout %s has %lld elements, but the shape %s has %lld",
                             layout_text_of(arena, layout), (long long)size,
                             layout_shape_text(arena, shape, rank), (long long)map->size),
               NULL;
    map->layout = layout;
    map->rank = rank;
    map->shape = base_arena_copy(arena, shape, sizeof *shape * rank);
    number_axes(map);
    const layout_tile *canonical = layout_canonical(arena, layout);
    size_t room = (size_t)canonical->shard_count + rank;
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, room);
    uint32_t *at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1), count = 0;
    layout_digit *digits = BASE_NEW_ARRAY(arena, layout_digit, room);
    map->flat = !layout_group_iters(canonical, shape, rank, iters, &count, at);
    if (map->flat)
        add_digits(map, digits, &map->digit_count, 0, canonical->shard, canonical->shard_count);
    else
        for (uint32_t d = 0; d < rank; d++)
            add_digits(map, digits, &map->digit_count, d, iters + at[d], at[d + 1] - at[d]);
    map->digits = sort_digits(arena, map, digits);
    map->shifts = true;
    for (uint32_t i = 0; i < map->digit_count; i++)
        map->shifts = map->shifts && digits[i].divisor_shift >= 0 &&
                      (digits[i].extent == 0 || digits[i].extent_shift >= 0);
    return map;
}

bool layout_map_inside(base_arena *arena, const layout_map *map, const int64_t *coordinate,
                       layout_error *error) {
    for (uint32_t d = 0; d < map->rank; d++)
        if (coordinate[d] < 0 || coordinate[d] >= map->shape[d])
            return layout_refuse(arena, error, "coordinate %lld of dimension %u is outside [0, %lld)",
                                 (long long)coordinate[d], (unsigned)d, (long long)map->shape[d]) != NULL;
    return true;
}

int64_t layout_map_flat(const layout_map *map, const int64_t *coordinate) {
    int64_t flat = 0;
    for (uint32_t d = 0; d < map->rank; d++)
        flat = flat * map->shape[d] + coordinate[d];
    return flat;
}

void layout_map_coordinate(const layout_map *map, int64_t flat, int64_t *coordinate) {
    for (uint32_t d = map->rank; d-- > 0; flat /= map->shape[d])
        coordinate[d] = flat % map->shape[d];
}

static uint64_t digit_of(const layout_digit *digit, uint64_t x) {
    x = digit->divisor_shift >= 0 ? x >> digit->divisor_shift : x / digit->divisor;
    if (digit->extent_shift >= 0)
        return x & digit->mask;
    return digit->extent != 0 ? x % digit->extent : x;
}

/* The position below the swizzle. */
static void place(const layout_map *map, const int64_t *coordinate, int64_t *position) {
    int64_t flat = 0;
    if (map->flat) {
        flat = layout_map_flat(map, coordinate);
        coordinate = &flat;
    }
    for (uint32_t s = 0; s < map->axis_count; s++) {
        int64_t sum = map->origin[s];
        const layout_digit *digit = map->digits + map->slot_begin[s];
        const layout_digit *end = map->digits + map->slot_begin[s + 1];
        if (map->shifts) {
            for (; digit < end; digit++)
                sum +=
                    (int64_t)((uint64_t)coordinate[digit->dimension] >> digit->divisor_shift & digit->mask) *
                    digit->stride;
        } else {
            for (; digit < end; digit++)
                sum += (int64_t)digit_of(digit, (uint64_t)coordinate[digit->dimension]) * digit->stride;
        }
        position[s] = sum;
    }
}

void layout_map_at(const layout_map *map, const int64_t *coordinate, int64_t *position) {
    place(map, coordinate, position);
    if (map->layout->swizzle.present)
        position[map->m_slot] = layout_swizzle_apply(map->layout->swizzle, position[map->m_slot]);
}

/* From the innermost iter out: the block that is there, once more for every step of the next iter. */
void layout_map_all(const layout_map *map, int64_t *planes) {
    const layout_tile *layout = map->layout;
    for (uint32_t s = 0; s < map->axis_count; s++) {
        int64_t *plane = planes + (size_t)s * (size_t)map->size, block = 1;
        plane[0] = map->origin[s];
        for (uint32_t i = layout->shard_count; i-- > 0; block *= layout->shard[i].extent) {
            int64_t stride = layout->shard[i].axis == map->axes[s] ? layout->shard[i].stride : 0;
            for (int64_t c = 1; c < layout->shard[i].extent; c++) {
                int64_t *to = plane + c * block, step = c * stride;
                for (int64_t k = 0; k < block; k++)
                    to[k] = plane[k] + step;
            }
        }
        if (layout->swizzle.present && s == map->m_slot)
            for (int64_t k = 0; k < map->size; k++)
                plane[k] = layout_swizzle_apply(layout->swizzle, plane[k]);
    }
}

int64_t layout_map_copies(const layout_map *map, const int64_t *coordinate, int64_t limit,
                          int64_t *positions) {
    const layout_tile *layout = map->layout;
    int64_t base[LAYOUT_AXIS_COUNT], count = 1;
    place(map, coordinate, base);
    for (uint32_t i = 0; i < layout->replica_count; i++)
        count *= layout->replica[i].extent;
    for (int64_t k = 0; k < count && k < limit; k++) {
        int64_t *position = positions + (size_t)k * map->axis_count, rest = k;
        for (uint32_t s = 0; s < map->axis_count; s++)
            position[s] = base[s];
        for (uint32_t i = layout->replica_count; i-- > 0; rest /= layout->replica[i].extent)
            position[slot_of(map, layout->replica[i].axis)] +=
                rest % layout->replica[i].extent * layout->replica[i].stride;
        if (layout->swizzle.present)
            position[map->m_slot] = layout_swizzle_apply(layout->swizzle, position[map->m_slot]);
    }
    return count;
}
