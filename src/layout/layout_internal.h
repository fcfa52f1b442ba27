/* SPDX-License-Identifier: Apache-2.0
 * Inside of layout: what its files share. */
#ifndef TIRC_LAYOUT_INTERNAL_H
#define TIRC_LAYOUT_INTERNAL_H
#include "layout/layout.h"

/* A new layout with room for the iters, everything else as in `from`; the caller fills shard. */
layout_tile *layout_like(base_arena *arena, const layout_tile *from, layout_iter *shard, uint32_t count);
/* Whether every extent is positive and size and positions fit in 64 bits; the reason is in *error. */
bool layout_check(base_arena *arena, const layout_tile *layout, layout_error *error);
/* Grouping without memory of its own: iters has room for shard_count + rank, separators for rank + 1. */
bool layout_group_iters(const layout_tile *layout, const int64_t *shape, uint32_t rank, layout_iter *iters,
                        uint32_t *count, uint32_t *separators);
/* What a thread axis numbers; false for other axes. */
bool layout_axis_scopes(layout_axis axis, layout_scope *scope, layout_scope *subscope);
/* Re-expresses the iter on the axis that covers (narrow, wide); other iters stay as they are. */
bool layout_fuse_iter(layout_iter *iter, layout_scope narrow, layout_scope wide);
/* An iter of a wide thread axis as iters on the axes above and below `scope`: 1 or 2 of them, outer first; 0
 * when it does not divide there. */
uint32_t layout_split_iter(const layout_iter *iter, layout_scope scope, layout_iter *parts);
/* Everything of a layout split at the scope, or NULL and why not. */
const layout_tile *layout_split_scope(base_arena *arena, const layout_tile *layout, layout_scope scope,
                                      layout_error *error);
/* The tile below the swizzle, with a trivial tile replaced by the row-major layout of the shape: a bare
 * swizzle stands for whatever it is laid over. */
const layout_tile *layout_under(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, layout_error *error);
bool layout_same_iter(const layout_iter *a, const layout_iter *b);
bool layout_same_swizzle(layout_swizzle a, layout_swizzle b);
/* Axes whose positions count elements, so that they scale with the element's width: m, TCol, F. TLane, P and
 * Bank are memory axes too, but number places that do not depend on the element. */
bool layout_axis_counts_elements(layout_axis axis);
#endif
