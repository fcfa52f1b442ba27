/* SPDX-License-Identifier: Apache-2.0
 * A bump allocator of bytes for tensors with layouts: shared-memory pools. Bookkeeping alone: it owns no
 * memory, and knows neither scopes nor devices. */
#ifndef TIRC_LAYOUT_POOL_H
#define TIRC_LAYOUT_POOL_H
#include "layout/layout.h"

typedef struct layout_pool_block {
    const char *name;
    int64_t begin, bytes;
    int64_t align;   /* what it was aligned to, raised by its elements and its swizzle */
    int64_t padding; /* bytes skipped before it for that */
} layout_pool_block;

/* All zero is an empty pool without a limit. */
typedef struct layout_pool {
    int64_t cursor, high; /* bytes; high: the highest byte that a block or a move of the base reached */
    int64_t limit;        /* bytes it may hold; 0: any number */
    BASE_VECTOR(layout_pool_block) blocks;
} layout_pool;

/* Room for a tensor of `bits`-wide elements, by the footprint of its layout rather than by the number of its
 * elements: the padding of one tensor holds no other. align, in bytes, is 0 or a power of two; whole elements
 * and, under a swizzle, whole periods are kept in any case, because the flips go by absolute addresses. The
 * layout moved to its place, NULL and *error set when it has none. The name is kept, not copied. */
const layout_tile *layout_pool_place(base_arena *arena, layout_pool *pool, const char *name,
                                     const layout_tile *layout, unsigned bits, int64_t align,
                                     layout_error *error);
/* The next block starts here or behind; an earlier byte is used again. */
bool layout_pool_move(base_arena *arena, layout_pool *pool, int64_t offset, layout_error *error);
/* Bytes to ask for: the high-water mark, or `size` (negative: none asked), which may not be smaller. */
bool layout_pool_commit(base_arena *arena, const layout_pool *pool, int64_t size, int64_t *bytes,
                        layout_error *error);
/* Pairs of blocks that share bytes, first < second: the pair behind the given one, which starts as 0, 0. */
bool layout_pool_overlap(const layout_pool *pool, size_t *first, size_t *second);
#endif
