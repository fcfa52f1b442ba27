/* SPDX-License-Identifier: Apache-2.0
 * CuTe's shape:stride notation. Modes run fastest first, and so does what is nested in a mode; an entry of a
 * coordinate belongs to a top-level mode. A CuTe layout and the tile layout made from it give the same
 * address to the same coordinate; a flat index counts the other way round in the two. */
#ifndef TIRC_LAYOUT_CUTE_H
#define TIRC_LAYOUT_CUTE_H
#include "layout/query.h"

enum { LAYOUT_CUTE_RANK = 16, LAYOUT_CUTE_LEAVES = 64 };

/* Top-level mode d has the leaves [at[d], at[d + 1]); address = swizzle(offset + sum of digit * stride). */
typedef struct layout_cute {
    uint32_t rank, at[LAYOUT_CUTE_RANK + 1];
    int64_t extents[LAYOUT_CUTE_LEAVES], strides[LAYOUT_CUTE_LEAVES];
    layout_swizzle swizzle;
    int64_t offset;
} layout_cute;

/* (8,(2,4)):(8,(1,2)), 4:1, (8,64) alone, and Sw<3,4,3> o 0 o (8,64):(64,1), where a pointer such as
 * smem_ptr[16b](unset) in place of the offset says that the swizzle counts bytes. */
bool layout_cute_read(base_arena *arena, const char *text, size_t size, layout_cute *cute,
                      layout_error *error);
void layout_cute_print(const layout_cute *cute, base_builder *out);

/* To a tile layout and its shape of cute->rank entries, and back where CuTe can say it. */
const layout_tile *layout_cute_tile(base_arena *arena, const layout_cute *cute, int64_t *shape,
                                    layout_error *error);
bool layout_cute_from(base_arena *arena, const layout_map *map, layout_cute *cute, layout_error *error);

/* The address of the element with this number, counted CuTe's way (first mode fastest). */
int64_t layout_cute_at(const layout_cute *cute, int64_t index);
int64_t layout_cute_size(const layout_cute *cute);
void layout_cute_coalesce(const layout_cute *cute, layout_cute *result); /* one mode */
/* a after b: result(i) = a(b(i)), mode by mode of b; refused with the mode and the numbers that do not divide
 * when no such layout exists. */
bool layout_cute_compose(base_arena *arena, const layout_cute *a, const layout_cute *b, layout_cute *result,
                         layout_error *error);
/* What is left of [0, size): strides of the result step over all that `cute` fills. */
bool layout_cute_complement(base_arena *arena, const layout_cute *cute, int64_t size, layout_cute *result,
                            layout_error *error);
#endif
