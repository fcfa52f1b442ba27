/* SPDX-License-Identifier: Apache-2.0
 * The same storage seen with another element width, and the part of a layout that is storage.
 * Positions that count elements (m, TCol, F) scale with the width; lanes, partitions, banks and threads do
 * not move. */
#include "layout/layout_internal.h"

/* The axis on which the parts of an element lie side by side: that of the innermost iter that counts
 * elements, m when there is none. */
static layout_axis element_axis(const layout_tile *layout) {
    for (uint32_t i = layout->shard_count; i-- > 0;)
        if (layout_axis_counts_elements(layout->shard[i].axis))
            return layout->shard[i].axis;
    return LAYOUT_AXIS_M;
}

static bool scale(int64_t *value, int64_t up, int64_t down) {
    if (*value % down != 0)
        return false;
    *value /= down;
    return !__builtin_mul_overflow(*value, up, value);
}

/* Multiplies by up and divides by down every stride and offset that counts elements. */
static bool scale_layout(layout_tile *layout, layout_iter *shard, layout_iter *replica, int64_t up,
                         int64_t down) {
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (layout_axis_counts_elements(shard[i].axis) && !scale(&shard[i].stride, up, down))
            return false;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        if (layout_axis_counts_elements(replica[i].axis) && !scale(&replica[i].stride, up, down))
            return false;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout_axis_counts_elements((layout_axis)a) && !scale(&layout->offset[a], up, down))
            return false;
    return true;
}

/* A swizzle moves whole bytes, so the elements that stay together are n times as many or fewer. */
static bool shift_swizzle(base_arena *arena, layout_tile *layout, int64_t n, int direction,
                          layout_error *error) {
    layout_swizzle *swizzle = &layout->swizzle;
    if (!swizzle->present || n == 1)
        return true;
    unsigned shift = 0;
    while (n >> shift > 1)
        shift++;
    if ((int64_t)1 << shift != n)
        return layout_refuse(arena, error,
                             "under a swizzle the width changes by powers of two only, not by %lld",
                             (long long)n) != NULL;
    if (direction < 0 && shift > swizzle->per_element)
        return layout_refuse(arena, error,
                             "the swizzle keeps %lld elements together, fewer than the %lld to pack into one",
                             1LL << swizzle->per_element, (long long)n) != NULL;
    if (direction > 0 && shift + swizzle->per_element + swizzle->length + swizzle->atom > 40)
        return layout_refuse(arena, error, "the period of the swizzle becomes too long for %lld parts",
                             (long long)n) != NULL;
    swizzle->per_element = (uint8_t)(swizzle->per_element + direction * (int)shift);
    return true;
}

const layout_tile *layout_unpack(base_arena *arena, const layout_tile *layout, int64_t n,
                                 layout_error *error) {
    if (n <= 0)
        return layout_refuse(arena, error, "the factor %lld is not positive", (long long)n);
    uint32_t count = layout->shard_count;
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        shard[i] = layout->shard[i];
    shard[count] = (layout_iter){n, 1, element_axis(layout)};
    layout_iter *replica = base_arena_copy(arena, layout->replica, sizeof *replica * layout->replica_count);
    layout_tile *tile = layout_like(arena, layout, shard, count);
    tile->replica = replica;
    bool fits = scale_layout(tile, shard, replica, n, 1);
    tile->shard_count = count + 1;
    if (!fits)
        return layout_refuse(arena, error, "the positions that the layout reaches do not fit in 64 bits");
    return layout_check(arena, tile, error) && shift_swizzle(arena, tile, n, 1, error) ? tile : NULL;
}

const layout_tile *layout_pack(base_arena *arena, const layout_tile *layout, int64_t n, layout_error *error) {
    if (n <= 0)
        return layout_refuse(arena, error, "the factor %lld is not positive", (long long)n);
    if (layout->shard_count == 0)
        return layout_refuse(arena, error, "a layout without iters has nothing to pack");
    layout_iter last = layout->shard[layout->shard_count - 1];
    if (!layout_axis_counts_elements(last.axis) || last.stride != 1 || last.extent % n != 0)
        return layout_refuse(arena, error,
                             "to pack %lld elements into one, the last iter must be a multiple of %lld with "
                             "stride 1 on an axis that counts elements; it is %lld:%lld@%s",
                             (long long)n, (long long)n, (long long)last.extent, (long long)last.stride,
                             layout_axis_name(last.axis));
    uint32_t count = layout->shard_count - 1;
    layout_iter *shard = base_arena_copy(arena, layout->shard, sizeof *shard * layout->shard_count);
    layout_iter *replica = base_arena_copy(arena, layout->replica, sizeof *replica * layout->replica_count);
    layout_tile *tile = layout_like(arena, layout, shard, count);
    tile->replica = replica;
    if (!scale_layout(tile, shard, replica, 1, n))
        return layout_refuse(arena, error, "a stride or offset is not a multiple of %lld elements",
                             (long long)n);
    shard[count].extent = last.extent / n;
    tile->shard_count = count + 1;
    return shift_swizzle(arena, tile, n, -1, error) ? tile : NULL;
}

const layout_tile *layout_storage(base_arena *arena, const layout_tile *layout) {
    layout_iter *shard = BASE_NEW_ARRAY(arena, layout_iter, layout->shard_count);
    layout_iter *replica = BASE_NEW_ARRAY(arena, layout_iter, layout->replica_count);
    uint32_t count = 0, copies = 0;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        if (!layout_axis_is_thread(layout->shard[i].axis))
            shard[count++] = layout->shard[i];
    for (uint32_t i = 0; i < layout->replica_count; i++)
        if (!layout_axis_is_thread(layout->replica[i].axis))
            replica[copies++] = layout->replica[i];
    layout_tile *tile = layout_like(arena, layout, shard, count);
    tile->replica = replica;
    tile->replica_count = copies;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout_axis_is_thread((layout_axis)a)) {
            tile->offset[a] = 0;
            tile->offset_axes &= ~(1u << a);
        }
    return tile;
}
