/* SPDX-License-Identifier: Apache-2.0
 * Inside of layout: what its files share. */
#ifndef TIRC_LAYOUT_INTERNAL_H
#define TIRC_LAYOUT_INTERNAL_H
#include "layout/layout.h"

/* Sets *error (which may be NULL) and gives NULL, so that a refusal is one return statement. */
const layout_tile *layout_refuse(base_arena *arena, layout_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A new layout with room for the iters, everything else as in `from`; the caller fills shard. */
layout_tile *layout_like(base_arena *arena, const layout_tile *from, layout_iter *shard, uint32_t count);
/* Whether every extent is positive and size and positions fit in 64 bits; the reason is in *error. */
bool layout_check(base_arena *arena, const layout_tile *layout, layout_error *error);
/* Grouping without memory of its own: iters has room for shard_count + rank, separators for rank + 1. */
bool layout_group_iters(const layout_tile *layout, const int64_t *shape, uint32_t rank, layout_iter *iters,
                        uint32_t *count, uint32_t *separators);
/* Axes whose positions count elements, so that they scale with the element's width: m, TCol, F. TLane, P and
 * Bank are memory axes too, but number places that do not depend on the element. */
bool layout_axis_counts_elements(layout_axis axis);
#endif
