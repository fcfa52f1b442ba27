/* SPDX-License-Identifier: Apache-2.0
 * Tile layouts: pure integer algebra from a coordinate of a shape to a position on named axes.
 * Knows no expressions and no text of the language; its own text form is S[(8,8):(10,1)]+R[..]+n@axis. */
#ifndef TIRC_LAYOUT_LAYOUT_H
#define TIRC_LAYOUT_LAYOUT_H
#include "base/text.h"

/* Axes: index of a subscope inside a scope (thread axes), or a place in storage (memory axes). */
typedef enum layout_axis {
    LAYOUT_AXIS_M, /* element offset in the tensor's storage */
    LAYOUT_AXIS_TLANE,
    LAYOUT_AXIS_TCOL,
    LAYOUT_AXIS_P,
    LAYOUT_AXIS_F,
    LAYOUT_AXIS_BANK,
    LAYOUT_AXIS_BX,
    LAYOUT_AXIS_BY,
    LAYOUT_AXIS_BZ,
    LAYOUT_AXIS_CBX,
    LAYOUT_AXIS_CBY,
    LAYOUT_AXIS_CBZ,
    LAYOUT_AXIS_TX,
    LAYOUT_AXIS_WARPID,
    LAYOUT_AXIS_LANEID,
    LAYOUT_AXIS_WGID,
    LAYOUT_AXIS_TID_IN_WG,
    LAYOUT_AXIS_WID_IN_WG,
    LAYOUT_AXIS_COUNT
} layout_axis;
const char *layout_axis_name(layout_axis axis);
bool layout_axis_find(const char *name, size_t size, layout_axis *axis);
bool layout_axis_is_memory(layout_axis axis);

typedef struct layout_iter {
    int64_t extent, stride;
    layout_axis axis;
} layout_iter;

/* Immutable once made; arena memory. */
typedef struct layout_tile {
    uint32_t shard_count, replica_count;
    const layout_iter *shard, *replica;
    int64_t offset[LAYOUT_AXIS_COUNT];
    uint32_t offset_axes; /* bit per axis that was given an offset */
} layout_tile;

/* Why an operation refused; text is in the caller's arena. */
typedef struct layout_error {
    const char *text;
} layout_error;

/* NULL and *error set when extents are not positive or sizes overflow 64 bits. */
const layout_tile *layout_make(base_arena *arena, const layout_iter *shard, uint32_t shard_count,
                               const layout_iter *replica, uint32_t replica_count, const int64_t *offsets,
                               uint32_t offset_axes, layout_error *error);
const layout_tile *layout_row_major(base_arena *arena, const int64_t *shape, uint32_t rank,
                                    layout_error *error);
bool layout_size(const layout_tile *layout, int64_t *size);                   /* product of shard extents */
bool layout_span(const layout_tile *layout, layout_axis axis, int64_t *span); /* highest position + 1 */
bool layout_has_thread_axis(const layout_tile *layout);
bool layout_equal(base_arena *arena, const layout_tile *a, const layout_tile *b); /* canonical forms agree */
const layout_tile *layout_canonical(base_arena *arena, const layout_tile *layout);

/* Position per axis (layouts.md 1.2), the origin included; shape NULL: coordinate is one flat index or one
 * digit per iter. position has LAYOUT_AXIS_COUNT entries; *axes gets a bit per axis present. */
bool layout_apply(const layout_tile *layout, const int64_t *coordinate, uint32_t rank, const int64_t *shape,
                  int64_t *position, uint32_t *axes, layout_error *error, base_arena *arena);

/* Splits the iters so that group d, iters [separators[d], separators[d+1]), has extent shape[d]; NULL and
 * *error set when the shape does not refine the layout. separators has rank + 1 entries. */
const layout_tile *layout_group(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, uint32_t *separators, layout_error *error);
/* Groups by shape, then reorders whole groups. */
const layout_tile *layout_permute(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                  uint32_t rank, const uint32_t *order, layout_error *error);
/* n narrower elements per element, and back. */
const layout_tile *layout_unpack(base_arena *arena, const layout_tile *layout, int64_t n,
                                 layout_error *error);
const layout_tile *layout_pack(base_arena *arena, const layout_tile *layout, int64_t n, layout_error *error);
/* Drops thread iters, replicas and offsets. */
const layout_tile *layout_storage(base_arena *arena, const layout_tile *layout);

/* Text form, and its reader (for the IR's text form and tirc layout). */
void layout_print(const layout_tile *layout, base_builder *out);
const layout_tile *layout_parse(base_arena *arena, const char *text, size_t size, size_t *consumed,
                                layout_error *error);
#endif
