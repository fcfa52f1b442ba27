/* SPDX-License-Identifier: Apache-2.0
 * Register fragments: which lane and register hold which element, of tcgen05.ld and st, mma, wgmma, ldmatrix
 * and stmatrix. */
#ifndef TIRC_LAYOUT_FRAGMENT_H
#define TIRC_LAYOUT_FRAGMENT_H
#include "layout/layout.h"

/* The data-movement shapes of tcgen05.ld and st. */
typedef enum layout_movement {
    LAYOUT_MOVEMENT_32X32B,
    LAYOUT_MOVEMENT_16X64B,
    LAYOUT_MOVEMENT_16X128B,
    LAYOUT_MOVEMENT_16X256B,
    LAYOUT_MOVEMENT_16X32BX2,
    LAYOUT_MOVEMENT_COUNT
} layout_movement;
const char *layout_movement_name(layout_movement movement);
bool layout_movement_find(const char *name, size_t size, layout_movement *movement);

/* One instruction of one warp. With packing, of two adjacent columns the low halves share a register. */
typedef struct layout_transfer {
    layout_movement movement;
    int count;     /* the N of .xN */
    bool pack;     /* .pack::16b or .unpack::16b */
    int64_t split; /* columns to the second half of 16x32bx2; 0: the halves stand side by side */
} layout_transfer;
typedef struct layout_transfer_size {
    int lanes;         /* tensor-memory lanes touched */
    int bits_per_lane; /* of tensor memory, moved */
    int columns;       /* cells walked in each lane */
    int cells;         /* lanes * columns */
    int registers;     /* 32-bit registers of each thread */
} layout_transfer_size;
bool layout_transfer_measure(base_arena *arena, const layout_transfer *transfer, layout_transfer_size *size,
                             layout_error *error);
/* The cell, relative to the address, behind a register of a lane; with packing the lower of the two columns.
 */
void layout_transfer_cell(const layout_transfer *transfer, int lane, int reg, int *row, int64_t *column);
/* As a layout of shape (lanes, columns), on laneid and m; TMEM halves are elements of 16 bits under packing,
 * so that m counts halves of registers: element (row, column) is half column % 2 of register m / 2. */
const layout_tile *layout_transfer_layout(base_arena *arena, const layout_transfer *transfer,
                                          layout_error *error);

/* The fragment of a warpgroup that reads or writes a (rows, columns) tile with one movement shape; elements
 * of 16 or 32 bits (layouts.md 3.3). */
const layout_tile *layout_tcgen05_atom(base_arena *arena, layout_movement movement, int64_t rows,
                                       int64_t columns, unsigned bits, layout_error *error);

/* Fragments by name: "mma.m16n8k16.f16.A" and the like; index counts from 0. */
typedef struct layout_fragment {
    const char *name, *layout;
    int64_t shape[2];
    unsigned bits; /* of an element */
    const char *note;
} layout_fragment;
const layout_fragment *layout_fragment_at(uint32_t index); /* NULL behind the last */
const layout_fragment *layout_fragment_find(const char *name, size_t size);
/* A fragment by the name of its instruction: tcgen05.ld.16x128b.x4, tcgen05.st..., ldmatrix.x4.trans,
 * stmatrix.x2, wgmma.m64n128, wgmma.m64k16.f16.A, mma.m16n8k16.f16.A, mma.m16n8.f32.D,
 * mma.m8n8k4.f16.A.col, mma.sp.m16n8k32.f16.A; and of whole tiles
 * tcgen05.atom.16x256b.128x64.b16, tcgen05.mma.F.n64.upper, tcgen05.cp.64x128b.warpx2::02_13,
 * tcgen05.sf.128x4.4X. */
typedef struct layout_fragment_request {
    bool is_transfer, store;
    layout_transfer transfer;
    layout_transfer_size size;
    const layout_tile *tile; /* NULL only for 16x32bx2 with its halves apart */
    int64_t shape[2];
    unsigned bits;        /* of an element */
    const char *words[5]; /* sentences that say it */
    uint32_t word_count;
} layout_fragment_request;
/* Every name that layout_fragment_parse takes, of free sizes the usual ones, in arena memory; *count of them.
 */
const char *const *layout_fragment_names(base_arena *arena, size_t *count);
bool layout_fragment_parse(base_arena *arena, const char *name, size_t size, bool pack, int64_t split,
                           layout_fragment_request *request, layout_error *error);
/* wgmma.m64nNk*: the fp32 accumulator of shape (64, n), n a multiple of 8 up to 256. */
const layout_tile *layout_wgmma_accumulator(base_arena *arena, int64_t n, layout_error *error);
/* ldmatrix and stmatrix of `count` (1, 2, 4) 8x8 matrices of 16-bit elements side by side. */
const layout_tile *layout_matrix_fragment(base_arena *arena, int count, bool transposed, layout_error *error);
#endif
