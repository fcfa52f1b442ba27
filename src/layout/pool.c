/* SPDX-License-Identifier: Apache-2.0
 * Pools: where the next tensor of a shared arena goes, and how large the arena has to be. */
#include "layout/pool.h"
#include "layout/layout_internal.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Only the storage axis m counts bytes of a pool. */
static bool refuse_axes(base_arena *arena, const layout_tile *layout, const char *name, layout_error *error) {
    for (uint32_t i = 0; i < layout->shard_count + layout->replica_count; i++) {
        bool replica = i >= layout->shard_count;
        uint32_t k = replica ? i - layout->shard_count : i;
        const layout_iter *iter = replica ? &layout->replica[k] : &layout->shard[k];
        if (iter->axis != LAYOUT_AXIS_M && iter->extent > 1) {
            layout_refuse(arena, error,
                          "'%s' cannot be placed in a pool: %s iter %u, %lld:%lld@%s, is on %s, and a pool "
                          "has bytes only (axis m)",
                          name, replica ? "replica" : "shard", k, (long long)iter->extent,
                          (long long)iter->stride, layout_axis_name(iter->axis),
                          layout_axis_name(iter->axis));
            return false;
        }
        if (iter->stride < 0 && iter->extent > 1) {
            layout_refuse(arena, error,
                          "'%s' cannot be placed in a pool: %s iter %u, %lld:%lld@m, steps down, and a pool "
                          "hands out bytes upwards only",
                          name, replica ? "replica" : "shard", k, (long long)iter->extent,
                          (long long)iter->stride);
            return false;
        }
    }
    for (unsigned axis = 0; axis < LAYOUT_AXIS_COUNT; axis++)
        if (layout->offset[axis] != 0 && (axis != LAYOUT_AXIS_M || layout->offset[axis] < 0)) {
            layout_refuse(arena, error,
                          "'%s' cannot be placed in a pool: its layout has the offset %lld on %s", name,
                          (long long)layout->offset[axis], layout_axis_name((layout_axis)axis));
            return false;
        }
    return true;
}

static bool least_common_multiple(int64_t *a, int64_t b) {
    return !__builtin_mul_overflow(*a, b / greatest_common_divisor(*a, b), a);
}

/* Fewest bytes that hold whole elements. */
static int64_t element_bytes(unsigned bits) {
    return bits / greatest_common_divisor(bits, 8);
}

/* Bytes that the start is a multiple of: as asked, whole elements, whole periods of the swizzle. */
static bool alignment(base_arena *arena, const layout_tile *layout, const char *name, unsigned bits,
                      int64_t asked, int64_t *align, layout_error *error) {
    if (asked < 0 || (asked & (asked - 1)) != 0) {
        layout_refuse(arena, error, "the alignment of '%s' is %lld bytes; it has to be a power of two", name,
                      (long long)asked);
        return false;
    }
    int64_t period =
        layout->swizzle.present && layout->swizzle.length > 0 ? layout_swizzle_period(layout->swizzle) : 1;
    *align = asked > 1 ? asked : 1;
    /* a period is at most 2^40 elements of 1024 bits; one below a byte is a part of one */
    int64_t period_bytes = period * bits % 8 == 0 ? period * bits / 8 : element_bytes(bits);
    if (least_common_multiple(align, element_bytes(bits)) && least_common_multiple(align, period_bytes))
        return true;
    layout_refuse(arena, error, "the alignment of '%s' does not fit in 64 bits", name);
    return false;
}

static bool bytes_of(const layout_tile *layout, unsigned bits, int64_t *bytes) {
    int64_t elements = 0, whole = 0;
    if (!layout_footprint(layout, LAYOUT_AXIS_M, &elements) ||
        __builtin_mul_overflow(elements, (int64_t)bits, &whole) || __builtin_add_overflow(whole, 7, &whole))
        return false;
    *bytes = whole / 8;
    return true;
}

const layout_tile *layout_pool_place(base_arena *arena, layout_pool *pool, const char *name,
                                     const layout_tile *layout, unsigned bits, int64_t align,
                                     layout_error *error) {
    layout_pool_block block = {.name = name};
    int64_t end = 0, up = 0;
    if (bits == 0 || bits > 1024)
        return layout_refuse(arena, error, "'%s': elements of %u bits have no place in a pool", name, bits);
    if (!refuse_axes(arena, layout, name, error) ||
        !alignment(arena, layout, name, bits, align, &block.align, error))
        return NULL;
    if (!bytes_of(layout, bits, &block.bytes) || __builtin_add_overflow(pool->cursor, block.align - 1, &up))
        return layout_refuse(arena, error, "the place of '%s' does not fit in 64 bits", name);
    block.begin = up / block.align * block.align;
    block.padding = block.begin - pool->cursor;
    if (__builtin_add_overflow(block.begin, block.bytes, &end))
        return layout_refuse(arena, error, "the place of '%s' does not fit in 64 bits", name);
    if (pool->limit > 0 && end > pool->limit)
        return layout_refuse(
            arena, error, "'%s' needs %lld bytes from byte %lld on, up to byte %lld; the pool ends at %lld",
            name, (long long)block.bytes, (long long)block.begin, (long long)end, (long long)pool->limit);
    int64_t offsets[LAYOUT_AXIS_COUNT] = {0}, moved = 0;
    /* begin is a multiple of whole elements: no bit is left over */
    if (__builtin_mul_overflow(block.begin / element_bytes(bits), element_bytes(bits) * 8 / (int64_t)bits,
                               &moved) ||
        __builtin_add_overflow(layout->offset[LAYOUT_AXIS_M], moved, &offsets[LAYOUT_AXIS_M]))
        return layout_refuse(arena, error, "the place of '%s' does not fit in 64 bits", name);
    const layout_tile *placed = layout_make(arena, layout->shard, layout->shard_count, layout->replica,
                                            layout->replica_count, offsets, 1u << LAYOUT_AXIS_M, error);
    if (placed != NULL && layout->swizzle.present)
        placed = layout_compose(arena, placed, layout->swizzle, error);
    if (placed == NULL)
        return NULL;
    base_vector_push(arena, &pool->blocks, block);
    pool->cursor = end;
    pool->high = end > pool->high ? end : pool->high;
    return placed;
}

bool layout_pool_move(base_arena *arena, layout_pool *pool, int64_t offset, layout_error *error) {
    if (offset < 0 || (pool->limit > 0 && offset > pool->limit)) {
        layout_refuse(arena, error,
                      offset < 0 ? "the base of a pool cannot move to byte %lld"
                                 : "the base of a pool cannot move to byte %lld: it ends at %lld",
                      (long long)offset, (long long)pool->limit);
        return false;
    }
    pool->cursor = offset;
    pool->high = offset > pool->high ? offset : pool->high;
    return true;
}

bool layout_pool_commit(base_arena *arena, const layout_pool *pool, int64_t size, int64_t *bytes,
                        layout_error *error) {
    if (size >= 0 && size < pool->high) {
        layout_refuse(arena, error, "%lld bytes are committed, but the pool reaches up to byte %lld",
                      (long long)size, (long long)pool->high);
        return false;
    }
    if (size >= 0 && pool->limit > 0 && size > pool->limit) {
        layout_refuse(arena, error, "%lld bytes are committed, but the pool ends at %lld", (long long)size,
                      (long long)pool->limit);
        return false;
    }
    *bytes = size < 0 ? pool->high : size;
    return true;
}

bool layout_pool_overlap(const layout_pool *pool, size_t *first, size_t *second) {
    size_t i = *first, j = *second;
    for (;;) {
        if (++j >= pool->blocks.count) {
            if (++i + 1 >= pool->blocks.count)
                return false;
            j = i + 1;
        }
        const layout_pool_block *a = &pool->blocks.items[i], *b = &pool->blocks.items[j];
        if (a->begin < b->begin + b->bytes && b->begin < a->begin + a->bytes) {
            *first = i;
            *second = j;
            return true;
        }
    }
}
