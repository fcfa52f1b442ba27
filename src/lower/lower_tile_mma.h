/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.mma over a tile, read and checked: what its types, its scale factors and its writing share. Private
 * to src/lower. */
#ifndef TIRC_LOWER_LOWER_TILE_MMA_H
#define TIRC_LOWER_LOWER_TILE_MMA_H
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

/* Scale factors in tensor memory: for each step of K the byte column of the first row's first factor. */
typedef struct lower_tile_factors {
    lower_tile_tmem cells;
    const int64_t *first;
} lower_tile_factors;

typedef struct lower_tile_mma {
    const lower_tile_region *d, *a, *b;
    const char *kind;
    num_dtype a_type, b_type; /* of the elements, whatever holds them */
    bool is_integer, is_half; /* the accumulator is int32, float16 */
    bool is_stationary;       /* .ws */
    bool is_scaled;           /* by SFA and SFB */
    int64_t per;              /* factors of a row for one instruction */
    int64_t group, m, n, k;   /* cta_group; rows of this CTA; columns; K */
    int64_t depth;            /* K of one instruction */
    int64_t step;             /* columns of one instruction */
    uint32_t descriptor;      /* but for the places of scale factors */
    bool a_in_tmem;
    lower_tile_tmem accumulator, a_cells;
    lower_tile_matrix a_matrix, b_matrix;
    lower_tile_region sfa, sfb;
    lower_tile_factors a_factors, b_factors;
} lower_tile_mma;

/* ---- lower_tile_mma_types.c ---- */
/* Kind, depth and the type fields of the descriptor, from d, a, b, sfa and sfb; NULL or why not. */
const char *lower_tile_mma_types(lower_tile *op, lower_tile_mma *p);

/* ---- lower_tile_factors.c ---- */
/* SFA and SFB in p where they were given. */
const char *lower_tile_factors_read(lower_tile *op, lower_tile_mma *p);
/* Their places, once shapes are known. */
const char *lower_tile_factors_place(lower_tile *op, lower_tile_mma *p);
/* Bits of the instruction descriptor that say where in a cell the factors of a step stand. */
uint32_t lower_tile_factors_bits(const lower_tile_mma *p, int64_t step);
#endif
