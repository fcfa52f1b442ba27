/* SPDX-License-Identifier: Apache-2.0
 * Shared-memory tiles of matrix operands. A swizzle atom is 8 rows of 32, 64 or 128 bytes; atoms are stacked
 * over all rows first, then over the column panels, then over the leading dimensions, because the descriptor
 * walks rows at one stride and panels at another (PTX ISA, "Shared memory matrix layout"). */
#include "layout/shared.h"
#include "layout/layout_internal.h"
#include <string.h>

static const char *const mode_names[] = {"none", "32B", "64B", "128B", "auto"};

const char *layout_mode_name(layout_mode mode) {
    return (unsigned)mode <= LAYOUT_MODE_AUTO ? mode_names[mode] : "?";
}

bool layout_mode_find(const char *name, size_t size, layout_mode *mode) {
    for (unsigned i = 0; i <= LAYOUT_MODE_AUTO; i++)
        if (strlen(mode_names[i]) == size && memcmp(mode_names[i], name, size) == 0) {
            *mode = (layout_mode)i;
            return true;
        }
    return false;
}

/* 16 bytes stay together in every mode. */
static bool together(unsigned bits, uint8_t *per_element) {
    switch (bits) {
    case 4:
        *per_element = 5;
        return true;
    case 8:
        *per_element = 4;
        return true;
    case 16:
        *per_element = 3;
        return true;
    case 32:
        *per_element = 2;
        return true;
    case 64:
        *per_element = 1;
        return true;
    default:
        return false;
    }
}

bool layout_mode_swizzle(layout_mode mode, unsigned bits, layout_swizzle *swizzle) {
    *swizzle = (layout_swizzle){.present = true, .length = (uint8_t)mode, .atom = 3};
    return mode <= LAYOUT_MODE_128B && together(bits, &swizzle->per_element);
}

int64_t layout_atom_columns(layout_mode mode, unsigned bits) {
    return mode == LAYOUT_MODE_NONE || mode > LAYOUT_MODE_128B || bits == 0 ? 0
                                                                            : ((int64_t)128 << mode) / bits;
}

int64_t layout_mma_alignment(layout_mode mode) {
    return mode >= LAYOUT_MODE_32B && mode <= LAYOUT_MODE_128B ? (int64_t)128 << mode : 16;
}

static layout_mode widest(unsigned bits, int64_t columns) {
    for (unsigned mode = LAYOUT_MODE_128B; mode > LAYOUT_MODE_NONE; mode--)
        if (columns % layout_atom_columns((layout_mode)mode, bits) == 0)
            return (layout_mode)mode;
    return LAYOUT_MODE_NONE;
}

static bool refuse_row(base_arena *arena, layout_mode mode, unsigned bits, int64_t columns,
                       layout_error *error) {
    layout_mode fits = widest(bits, columns);
    int64_t atom = layout_atom_columns(mode, bits);
    return layout_refuse(
               arena, error,
               "a row of %lld elements of %u bits is %lld bytes, but the %s swizzle needs a multiple "
               "of %lld bytes (%lld elements); %s%s",
               (long long)columns, bits, (long long)columns * bits / 8, layout_mode_name(mode),
               (long long)atom * bits / 8, (long long)atom,
               fits == LAYOUT_MODE_NONE ? "no swizzle's atom divides this row"
                                        : "the widest mode that fits is ",
               fits == LAYOUT_MODE_NONE ? "" : layout_mode_name(fits)) != NULL;
}

static bool check_shape(base_arena *arena, unsigned bits, const int64_t *shape, uint32_t rank,
                        layout_error *error) {
    uint8_t per_element = 0;
    if (!together(bits, &per_element))
        return layout_refuse(
                   arena, error,
                   "there is no matrix operand tile of %u-bit elements; widths are 4, 8, 16, 32 and "
                   "64",
                   bits) != NULL;
    int64_t size = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (shape[d] <= 0)
            return layout_refuse(arena, error, "extent %lld of dimension %u is not positive",
                                 (long long)shape[d], (unsigned)d) != NULL;
        if (__builtin_mul_overflow(size, shape[d], &size) || size > INT64_MAX / 64)
            return layout_refuse(arena, error, "the number of bits of the shape does not fit in 64 bits") !=
                   NULL;
    }
    return true;
}

bool layout_mma_choose(base_arena *arena, layout_mode asked, unsigned bits, const int64_t *shape,
                       uint32_t rank, layout_mode *mode, layout_error *error) {
    if (!check_shape(arena, bits, shape, rank, error))
        return false;
    *mode = asked;
    if (asked == LAYOUT_MODE_NONE)
        return true;
    if (rank < 2)
        return layout_refuse(arena, error,
                             "a matrix operand tile needs at least 2 dimensions (rows, columns), not %u",
                             (unsigned)rank) != NULL;
    int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    if (asked == LAYOUT_MODE_AUTO)
        *mode = widest(bits, columns);
    if (*mode == LAYOUT_MODE_NONE)
        return true;
    if (columns % layout_atom_columns(*mode, bits) != 0)
        return refuse_row(arena, *mode, bits, columns, error);
    if (rows % 8 != 0)
        return layout_refuse(arena, error,
                             "dimension %u has %lld rows, but a swizzle atom has 8 and the rows must be a "
                             "multiple of 8",
                             (unsigned)rank - 2, (long long)rows) != NULL;
    return true;
}

/* Iters for the leading dimensions, row-major over blocks of `block` elements. */
static uint32_t lead(const int64_t *shape, uint32_t rank, int64_t block, layout_iter *iters) {
    for (uint32_t d = rank - 2; d-- > 0; block *= shape[d])
        iters[d] = (layout_iter){shape[d], block, LAYOUT_AXIS_M};
    return rank - 2;
}

const layout_tile *layout_mma_shared(base_arena *arena, layout_mode asked, unsigned bits,
                                     const int64_t *shape, uint32_t rank, layout_error *error) {
    layout_mode mode = asked;
    layout_swizzle swizzle;
    if (!layout_mma_choose(arena, asked, bits, shape, rank, &mode, error))
        return NULL;
    if (rank < 2)
        return layout_row_major(arena, shape, rank, error);
    int64_t rows = shape[rank - 2], columns = shape[rank - 1];
    /* Without a swizzle the panels are 16 bytes wide. */
    int64_t panel = mode == LAYOUT_MODE_NONE ? 128 / bits : layout_atom_columns(mode, bits);
    if (columns % panel != 0)
        return layout_row_major(arena, shape, rank, error);
    layout_iter *iters = BASE_NEW_ARRAY(arena, layout_iter, (size_t)rank + 1);
    uint32_t count = lead(shape, rank, rows * columns, iters);
    iters[count++] = (layout_iter){rows, panel, LAYOUT_AXIS_M};
    iters[count++] = (layout_iter){columns / panel, rows * panel, LAYOUT_AXIS_M};
    iters[count++] = (layout_iter){panel, 1, LAYOUT_AXIS_M};
    const layout_tile *tile = layout_make(arena, iters, count, NULL, 0, NULL, 0, error);
    tile = tile == NULL ? NULL : layout_canonical(arena, tile);
    if (tile == NULL || mode == LAYOUT_MODE_NONE || !layout_mode_swizzle(mode, bits, &swizzle))
        return tile;
    return layout_compose(arena, tile, swizzle, error);
}
