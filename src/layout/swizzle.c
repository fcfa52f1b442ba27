/* SPDX-License-Identifier: Apache-2.0
 * XOR swizzles over a tile. Source of the hardware's modes: PTX ISA, "Swizzling modes" of tensor maps and
 * matrix descriptors; in bytes they flip bits 4-6 by bits 7-9 (128B), 4-5 by 7-8 (64B) and 4 by 7 (32B). */
#include "layout/layout_internal.h"

enum { WIDEST = 40 }; /* bits of a period; a larger one would not be a swizzle of any memory */

int64_t layout_swizzle_apply(layout_swizzle swizzle, int64_t address) {
    if (!swizzle.present)
        return address;
    uint64_t a = (uint64_t)address, mask = ((uint64_t)1 << swizzle.length) - 1;
    uint64_t x = a >> swizzle.per_element;
    uint64_t flip = swizzle.outer ? (x & mask) << swizzle.atom : x >> swizzle.atom & mask;
    return (int64_t)(a ^ flip << swizzle.per_element);
}

/* The bits that decide are never among those that flip, because atom >= length; so it undoes itself. */
int64_t layout_swizzle_undo(layout_swizzle swizzle, int64_t address) {
    return layout_swizzle_apply(swizzle, address);
}

int64_t layout_swizzle_period(layout_swizzle swizzle) {
    return swizzle.present ? (int64_t)1 << (swizzle.per_element + swizzle.length + swizzle.atom) : 1;
}

int64_t layout_swizzle_block(layout_swizzle swizzle) {
    if (!swizzle.present || swizzle.length == 0)
        return 1;
    return swizzle.outer ? layout_swizzle_period(swizzle)
                         : (int64_t)1 << (swizzle.per_element + swizzle.length);
}

bool layout_same_swizzle(layout_swizzle a, layout_swizzle b) {
    return a.present == b.present &&
           (!a.present || (a.per_element == b.per_element && a.length == b.length && a.atom == b.atom &&
                           (a.outer == b.outer || a.length == 0)));
}

static const layout_tile *check_tile(base_arena *arena, const layout_tile *tile, layout_error *error) {
    int64_t lowest = tile->offset[LAYOUT_AXIS_M], reach = 0;
    for (uint32_t i = 0; i < tile->shard_count + tile->replica_count; i++) {
        bool shard = i < tile->shard_count;
        const layout_iter *iter = shard ? &tile->shard[i] : &tile->replica[i - tile->shard_count];
        if (iter->axis != LAYOUT_AXIS_M)
            return layout_refuse(
                arena, error,
                "a swizzle works on axis m only, but %s iter %u of its tile, %lld:%lld@%s, is "
                "on %s",
                shard ? "shard" : "replica", (unsigned)(shard ? i : i - tile->shard_count),
                (long long)iter->extent, (long long)iter->stride, layout_axis_name(iter->axis),
                layout_axis_name(iter->axis));
        if (iter->stride < 0 && !__builtin_mul_overflow(iter->extent - 1, iter->stride, &reach))
            lowest += reach;
    }
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if ((tile->offset_axes >> a & 1) && a != LAYOUT_AXIS_M)
            return layout_refuse(arena, error,
                                 "a swizzle works on axis m only, but its tile has the offset %lld on %s",
                                 (long long)tile->offset[a], layout_axis_name((layout_axis)a));
    if (lowest < 0)
        return layout_refuse(arena, error,
                             "a swizzle needs addresses from 0 on, but its tile reaches down to %lld on m",
                             (long long)lowest);
    return tile;
}

const layout_tile *layout_compose(base_arena *arena, const layout_tile *tile, layout_swizzle swizzle,
                                  layout_error *error) {
    if (swizzle.atom < swizzle.length)
        return layout_refuse(arena, error,
                             "a swizzle of length %u needs an atom length of at least %u, not %u",
                             (unsigned)swizzle.length, (unsigned)swizzle.length, (unsigned)swizzle.atom);
    if ((unsigned)swizzle.per_element + swizzle.length + swizzle.atom > WIDEST)
        return layout_refuse(arena, error, "the swizzle Z(%u,%u,%u) spans %u address bits; the limit is %d",
                             (unsigned)swizzle.per_element, (unsigned)swizzle.length, (unsigned)swizzle.atom,
                             (unsigned)swizzle.per_element + swizzle.length + swizzle.atom, WIDEST);
    swizzle.present = true;
    int64_t period = layout_swizzle_period(swizzle);
    if (tile == NULL)
        tile = layout_row_major(arena, &period, 1, error);
    else if (tile->swizzle.present)
        return layout_refuse(arena, error, "a layout has at most one swizzle; %s already has one",
                             layout_text_of(arena, tile));
    if (tile == NULL || check_tile(arena, tile, error) == NULL)
        return NULL;
    /* The flipped bits can raise an address to the end of its period. */
    int64_t span = 0;
    if (!layout_span(tile, LAYOUT_AXIS_M, &span) || span > INT64_MAX - period)
        return layout_refuse(arena, error, "the positions that the layout reaches do not fit in 64 bits");
    layout_tile *made =
        layout_like(arena, tile, base_arena_copy(arena, tile->shard, sizeof *tile->shard * tile->shard_count),
                    tile->shard_count);
    made->swizzle = swizzle;
    return made;
}

static bool is_trivial(base_arena *arena, const layout_tile *layout) {
    const layout_tile *c = layout_canonical(arena, layout);
    return c->replica_count == 0 && c->offset_axes == 0 &&
           (c->shard_count == 0 ||
            (c->shard_count == 1 && c->shard[0].axis == LAYOUT_AXIS_M && c->shard[0].stride == 1));
}

const layout_tile *layout_under(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, layout_error *error) {
    if (!layout->swizzle.present)
        return layout;
    if (is_trivial(arena, layout))
        return layout_row_major(arena, shape, rank, error);
    layout_tile *tile = BASE_NEW(arena, layout_tile);
    *tile = *layout;
    tile->swizzle.present = false;
    return tile;
}

bool layout_footprint(const layout_tile *layout, layout_axis axis, int64_t *footprint) {
    if (!layout_span(layout, axis, footprint))
        return false;
    if (!layout->swizzle.present || axis != LAYOUT_AXIS_M || layout->swizzle.length == 0 || *footprint <= 0)
        return true;
    int64_t block = layout_swizzle_block(layout->swizzle), rest = *footprint % block;
    return rest == 0 || !__builtin_add_overflow(*footprint, block - rest, footprint);
}
