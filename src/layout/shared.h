/* SPDX-License-Identifier: Apache-2.0
 * The layouts that hardware prescribes: shared-memory tiles of matrix operands, tensor memory, register
 * fragments. Rows are (extent, stride) facts of the PTX ISA; widths come in bits per element, so that this
 * knows no element types. */
#ifndef TIRC_LAYOUT_SHARED_H
#define TIRC_LAYOUT_SHARED_H
#include "layout/layout.h"

/* The value is the number of address bits that flip. */
typedef enum layout_mode {
    LAYOUT_MODE_NONE,
    LAYOUT_MODE_32B,
    LAYOUT_MODE_64B,
    LAYOUT_MODE_128B,
    LAYOUT_MODE_AUTO
} layout_mode;
const char *layout_mode_name(layout_mode mode);
bool layout_mode_find(const char *name, size_t size, layout_mode *mode);

/* The swizzle of a mode for elements of 4, 8, 16, 32 or 64 bits; false for other widths. */
bool layout_mode_swizzle(layout_mode mode, unsigned bits, layout_swizzle *swizzle);
int64_t layout_atom_columns(layout_mode mode, unsigned bits); /* elements of a row of the atom; 0 for none */
/* What alloc_tcgen05_mma_AB takes for a tile. AUTO is the widest mode whose atom divides the row, none when
 * no atom does. A tile that the mode does not fit is refused with the mode that would. */
bool layout_mma_choose(base_arena *arena, layout_mode asked, unsigned bits, const int64_t *shape,
                       uint32_t rank, layout_mode *mode, layout_error *error);
/* The layout of a shared operand tile; asked may be AUTO. */
const layout_tile *layout_mma_shared(base_arena *arena, layout_mode asked, unsigned bits,
                                     const int64_t *shape, uint32_t rank, layout_error *error);
int64_t layout_mma_alignment(layout_mode mode); /* bytes: one period, 16 for none */
#endif
