/* SPDX-License-Identifier: Apache-2.0
 * PTX instructions of tile operations, addresses in tensor memory and matrix descriptors. Private to
 * src/lower. */
#ifndef TIRC_LOWER_LOWER_TILE_INSTRUCTION_H
#define TIRC_LOWER_LOWER_TILE_INSTRUCTION_H
#include "layout/shared.h"
#include "layout/tmem.h"
#include "lower/lower_tile.h"

/* One instruction by its pattern (ptx/ptx_pattern.h), without results. */
ir_stmt *lower_tile_instruction(lower_tile *op, const char *pattern, const ir_expr *const *args,
                                uint32_t count);
/* The same with `lanes` results of one type, bound in the block. */
const ir_expr *lower_tile_result(lower_tile *op, ir_stmt *block, const char *pattern, num_dtype dtype,
                                 unsigned lanes, const ir_expr *const *args, uint32_t count);
const ir_expr *lower_tile_let(lower_tile *op, ir_stmt *block, const char *name, const ir_expr *value);
const ir_expr *lower_tile_word(lower_tile *op, const ir_expr *x); /* as uint32 */
const ir_expr *lower_tile_shared(lower_tile *op, const ir_expr *pointer);
ir_stmt *lower_tile_block(lower_tile *op);
/* 1, 2 or 4 elements of 32, 16 or 8 bits as a register, and a register as those of a type. */
const ir_expr *lower_tile_pack(lower_tile *op, ir_stmt *block, const ir_expr *const *parts, int count);
void lower_tile_unpack(lower_tile *op, ir_stmt *block, const ir_expr *word, num_dtype dtype,
                       const ir_expr **parts);

/* A region in tensor memory: its layout on TLane and TCol, counted from its first element, and the address
 * of the cell of that; TCol counts elements of `bits`, and the first one is element `into` of its cell. */
typedef struct lower_tile_tmem {
    const layout_tile *layout;
    const ir_expr *address;
    unsigned bits;
    int64_t into; /* elements of a cell: not known */
} lower_tile_tmem;
/* Of any region, and of one that starts with a cell. */
const char *lower_tile_tmem_part(lower_tile *op, const lower_tile_region *region, lower_tile_tmem *out);
const char *lower_tile_tmem_region(lower_tile *op, const lower_tile_region *region, lower_tile_tmem *out);
/* The windows of 32 lanes that copies of an element stand in, as bits, its own the lowest; 0: other places.
 */
unsigned lower_tile_windows(const layout_tile *layout);
/* So many columns further, plus 65536 for each lane. */
const ir_expr *lower_tile_cell(lower_tile *op, const ir_expr *address, int64_t offset);

/* Whether a region whose start only a run knows lies, wherever it may start, as it does at 0, a multiple of
 * `unit` elements on: NULL or why not. plain: the layout before its swizzle, over this shape. */
const char *lower_tile_starts_alike(lower_tile *op, const lower_tile_region *region, const layout_tile *plain,
                                    const int64_t *shape, int64_t unit);

/* Element number of a coordinate on m; -1: it has none. */
int64_t lower_tile_position(lower_tile *op, const layout_prepared *plain, const int64_t *coordinate);

/* Makes sure that the tensor starts at a multiple of this; false: its place is not ours to choose. */
bool lower_tile_align(lower_tile *op, const ir_tensor *tensor, int64_t bytes);

/* An operand of tcgen05.mma in shared memory, as descriptors describe it; strides in bytes. */
typedef struct lower_tile_matrix {
    const lower_tile_region *region;
    uint32_t row_axis, k_axis;
    int64_t rows, depth;
    bool mn_major;   /* rows run along memory, not K */
    bool wide_atoms; /* a swizzle of 128 bytes with atoms of 32 */
    layout_mode mode;
    int64_t leading, stride;
} lower_tile_matrix;
/* transposed: the first of the two axes is K; which one lies along memory is the layout's to say. depth:
 * elements of K of one instruction. NULL, or why no descriptor describes it. */
const char *lower_tile_matrix_of(lower_tile *op, const lower_tile_region *region, bool transposed,
                                 int64_t depth, lower_tile_matrix *out);
/* The descriptor at an address: strides in bytes, the code of the swizzle. */
const ir_expr *lower_tile_descriptor_at(lower_tile *op, const ir_expr *address, int64_t leading,
                                        int64_t stride, uint64_t swizzle);
const ir_expr *lower_tile_descriptor(lower_tile *op, const lower_tile_matrix *m, int64_t row, int64_t k);
#endif
