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
    LAYOUT_AXIS_PID, /* device-mesh ids: neither threads of a kernel nor places in its storage */
    LAYOUT_AXIS_GPUID_X,
    LAYOUT_AXIS_GPUID_Y,
    LAYOUT_AXIS_GPUID_Z,
    LAYOUT_AXIS_COUNT
} layout_axis;
const char *layout_axis_name(layout_axis axis);
bool layout_axis_find(const char *name, size_t size, layout_axis *axis);
bool layout_axis_is_memory(layout_axis axis);
bool layout_axis_is_thread(layout_axis axis);

/* Thread scopes, wide to narrow; a thread axis numbers the subscopes of a scope. */
typedef enum layout_scope {
    LAYOUT_SCOPE_NONE,
    LAYOUT_SCOPE_GRID,
    LAYOUT_SCOPE_CLUSTER,
    LAYOUT_SCOPE_CTA,
    LAYOUT_SCOPE_WARPGROUP,
    LAYOUT_SCOPE_WARP,
    LAYOUT_SCOPE_THREAD
} layout_scope;
const char *layout_scope_name(layout_scope scope);

typedef struct layout_iter {
    int64_t extent, stride;
    layout_axis axis;
} layout_iter;

/* A XOR of address bits over what the tile gives on axis m; all are counts of bits (layouts.md 2.1). The
 * inner form flips bits [per_element, +length) by those `atom` above, the outer form the other way round. */
typedef struct layout_swizzle {
    bool present, outer;
    uint8_t per_element, length, atom;
} layout_swizzle;

/* Immutable once made; arena memory. */
typedef struct layout_tile {
    uint32_t shard_count, replica_count;
    const layout_iter *shard, *replica;
    int64_t offset[LAYOUT_AXIS_COUNT];
    uint32_t offset_axes; /* bit per axis that was given an offset */
    layout_swizzle swizzle;
} layout_tile;

/* Why an operation refused; text is in the caller's arena. */
typedef struct layout_error {
    const char *text;
} layout_error;

/* NULL and *error set when extents are not positive or sizes overflow 64 bits. */
const layout_tile *layout_make(base_arena *arena, const layout_iter *shard, uint32_t shard_count,
                               const layout_iter *replica, uint32_t replica_count, const int64_t *offsets,
                               uint32_t offset_axes, layout_error *error);
/* The same in another arena. */
const layout_tile *layout_copy(base_arena *arena, const layout_tile *layout);
const layout_tile *layout_row_major(base_arena *arena, const int64_t *shape, uint32_t rank,
                                    layout_error *error);
bool layout_size(const layout_tile *layout, int64_t *size);                   /* product of shard extents */
bool layout_span(const layout_tile *layout, layout_axis axis, int64_t *span); /* highest position + 1 */
/* Elements to allocate on an axis: the span, for a swizzled layout rounded up to the block that the XOR stays
 * in, so that no address of it lies beyond. */
bool layout_footprint(const layout_tile *layout, layout_axis axis, int64_t *footprint);
bool layout_has_thread_axis(const layout_tile *layout);
/* Canonical forms agree, threads named by the widest axis of their scope. Equal layouts are equal functions;
 * a few equal functions keep different forms (layout_compare in layout_query.h decides those). */
bool layout_equal(base_arena *arena, const layout_tile *a, const layout_tile *b);
const layout_tile *layout_canonical(base_arena *arena, const layout_tile *layout);
/* The canonical form with laneid, warpid, ... of nested scopes renamed to the one axis that covers them
 * (tid_in_wg, tx, warpid). Refuses thread axes whose scopes conflict or do not form a chain. */
const layout_tile *layout_canonical_fused(base_arena *arena, const layout_tile *layout, layout_error *error);
/* Narrowest and widest scope of the thread axes; both NONE when the shard has no thread axis. */
bool layout_scopes(base_arena *arena, const layout_tile *layout, layout_scope *narrow, layout_scope *wide,
                   layout_error *error);

/* The swizzle over a tile that lands on m only; bare (tile NULL): over one period. */
const layout_tile *layout_compose(base_arena *arena, const layout_tile *tile, layout_swizzle swizzle,
                                  layout_error *error);
int64_t layout_swizzle_apply(layout_swizzle swizzle, int64_t address); /* address >= 0 */
int64_t layout_swizzle_undo(layout_swizzle swizzle, int64_t address);
int64_t layout_swizzle_period(layout_swizzle swizzle);
int64_t layout_swizzle_block(layout_swizzle swizzle); /* aligned blocks that no flip leaves; 1 without any */

/* Position per axis (layouts.md 1.2), the origin included; shape NULL: coordinate is one flat index or one
 * digit per iter. position has LAYOUT_AXIS_COUNT entries; *axes gets a bit per axis present. */
bool layout_apply(const layout_tile *layout, const int64_t *coordinate, uint32_t rank, const int64_t *shape,
                  int64_t *position, uint32_t *axes, layout_error *error, base_arena *arena);
/* The same for many coordinates of one shape: what the iters are is found out once. */
typedef struct layout_prepared {
    const layout_tile *layout;
    const int64_t *shape;
    uint32_t rank, count;
    const layout_iter *iters; /* grouped by the shape; NULL: they cross its axes */
    const uint32_t *separators;
} layout_prepared;
layout_prepared layout_prepare(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                               uint32_t rank);
bool layout_apply_prepared(const layout_prepared *prepared, const int64_t *coordinate, int64_t *position,
                           uint32_t *axes, layout_error *error, base_arena *arena);
/* The digits instead of the position: *count of them, room for shard_count + rank. */
bool layout_apply_digits(const layout_tile *layout, const int64_t *coordinate, uint32_t rank,
                         const int64_t *shape, int64_t *digits, uint32_t *count, layout_error *error,
                         base_arena *arena);

/* Splits the iters so that group d, iters [separators[d], separators[d+1]), has extent shape[d]; NULL and
 * *error set when the shape does not refine the layout. separators has rank + 1 entries. */
const layout_tile *layout_group(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, uint32_t *separators, layout_error *error);
/* Groups by shape, then reorders whole groups. */
const layout_tile *layout_permute(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                  uint32_t rank, const uint32_t *order, layout_error *error);
/* Common refinement of several shapes and of the layout's own extents: shape k of `rank[k]` entries has the
 * separators separators[k], rank[k] + 1 of them. */
const layout_tile *layout_group_many(base_arena *arena, const layout_tile *layout, uint32_t count,
                                     const int64_t *const *shapes, const uint32_t *ranks,
                                     uint32_t **separators, layout_error *error);
const layout_tile *layout_permute_groups(base_arena *arena, const layout_tile *layout,
                                         const uint32_t *separators, uint32_t count, const uint32_t *order,
                                         layout_error *error);

/* Tiles (layouts.md 1.4). `fused`: threads by the widest axis of their scope, as canonical_fused.
 * layout_product repeats `inner` (inner_shape) as `outer` (outer_shape) says, its strides scaled by the
 * inner's span; layout_product_to repeats it row-major up to to_shape. layout_direct_sum adds without
 * scaling: (left + right)(p, q, ...) = left(p) + right(q). */
const layout_tile *layout_product(base_arena *arena, const layout_tile *inner, const layout_tile *outer,
                                  const int64_t *outer_shape, const int64_t *inner_shape, uint32_t rank,
                                  bool fused, layout_error *error);
const layout_tile *layout_product_to(base_arena *arena, const layout_tile *inner, const int64_t *to_shape,
                                     const int64_t *inner_shape, uint32_t rank, layout_error *error);
const layout_tile *layout_direct_sum(base_arena *arena, const layout_tile *left, const layout_tile *right,
                                     const int64_t *left_shape, const int64_t *right_shape, uint32_t rank,
                                     layout_error *error);
/* The other operand when `tiled` is a product or sum of the given one, else NULL; *error is set only when the
 * question itself makes no sense, and has text NULL when the answer is no. */
const layout_tile *layout_outer_of(base_arena *arena, const layout_tile *inner, const layout_tile *tiled,
                                   const int64_t *tiled_shape, const int64_t *inner_shape, uint32_t rank,
                                   bool fused, layout_error *error);
const layout_tile *layout_inner_of(base_arena *arena, const layout_tile *outer, const layout_tile *tiled,
                                   const int64_t *tiled_shape, const int64_t *outer_shape, uint32_t rank,
                                   bool fused, layout_error *error);
/* addend_is_right: `addend` is the right one of the sum, and the left one is given back. sum_shape has
 * 2 * rank entries: left and right extent of each dimension in turn. */
const layout_tile *layout_addend_of(base_arena *arena, const layout_tile *addend, const layout_tile *sum,
                                    const int64_t *sum_shape, const int64_t *shape, uint32_t rank,
                                    bool addend_is_right, layout_error *error);

/* The box [begin[d], end[d]) as a layout of its own; NULL when no layout says it (*error tells why) or the
 * box is not inside the shape. */
const layout_tile *layout_slice(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                uint32_t rank, const int64_t *begin, const int64_t *end, layout_error *error);
/* Repeats every element n times along a new iter before `position`, all copies at one place. */
const layout_tile *layout_broadcast(base_arena *arena, const layout_tile *layout, int64_t n,
                                    uint32_t position, layout_axis axis, layout_error *error);
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
/* The same as text of its own; (8, 4) of a shape, for messages. */
const char *layout_text_of(base_arena *arena, const layout_tile *layout);
const char *layout_shape_text(base_arena *arena, const int64_t *shape, uint32_t rank);
/* Sets *error (which may be NULL) and gives NULL, so that a refusal is one return statement. */
const layout_tile *layout_refuse(base_arena *arena, layout_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif
