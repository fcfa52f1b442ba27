/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory: 128 lanes by 512 columns of 32-bit cells. Where accumulators, operands, scale factors and
 * copies put their elements, on the axes TLane and TCol; TCol counts elements, not cells. */
#ifndef TIRC_LAYOUT_TMEM_H
#define TIRC_LAYOUT_TMEM_H
#include "layout/layout.h"

enum { LAYOUT_TMEM_LANES = 128, LAYOUT_TMEM_COLUMNS = 512, LAYOUT_WARP_LANES = 32 };

/* Datapaths A to G of an accumulator (layouts.md 3.1). sub_slab 1: the upper 16 lanes of each window, for C
 * and F. */
const layout_tile *layout_tmem_datapath(base_arena *arena, char letter, int64_t rows, int64_t columns,
                                        int sub_slab, layout_error *error);
/* The datapath of an MMA; sparse A and M = 32 have their own letters in hardware, but no operand layout. */
bool layout_tmem_letter(base_arena *arena, int m, int cta_group, bool ws, char *letter, layout_error *error);

typedef struct layout_tmem_mma {
    char operand; /* 'A' or 'D' */
    int m, cta_group;
    bool ws, sparse;
    const int64_t *group; /* three factors (s, 2, n) of the columns of D in B and E; NULL: none */
    /* Of an element. An accumulator of 16 bits has a cell of 32 for itself, so its columns count by 2; A is
     * packed. 0: 32 bits. */
    unsigned bits;
} layout_tmem_mma;
const layout_tile *layout_tmem_operand(base_arena *arena, const layout_tmem_mma *mma, const int64_t *shape,
                                       uint32_t rank, layout_error *error);

/* 8-bit scale factors; columns count bytes, 4 to a cell. per: factors per MMA (1, 2, 4); reuse: elements that
 * share a factor along K, 1 for none; stages: leading pipeline dimension, 0 for none. */
const layout_tile *layout_tmem_scale_factors(base_arena *arena, int64_t rows, int64_t factors, int64_t per,
                                             int64_t reuse, int64_t stages, layout_error *error);
/* The shared-memory image that tcgen05.cp reads them from, in bytes, of shape (rows, factors). */
const layout_tile *layout_shared_scale_factors(base_arena *arena, int64_t rows, int64_t factors,
                                               layout_error *error);

/* tcgen05.cp: where row r, column c of the source arrives. shape "64x128b", multicast "warpx2::02_13" or
 * "". */
const layout_tile *layout_tmem_copy(base_arena *arena, const char *shape, const char *multicast,
                                    int64_t columns, layout_error *error);
/* One row per thread of a warpgroup. */
const layout_tile *layout_wg_local(base_arena *arena, int64_t rows, int64_t columns, layout_error *error);
#endif
