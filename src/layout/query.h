/* SPDX-License-Identifier: Apache-2.0
 * Questions about a layout over a shape. Answers are exact; where deciding one would take too long, the
 * answer says that it gave up. */
#ifndef TIRC_LAYOUT_QUERY_H
#define TIRC_LAYOUT_QUERY_H
#include "layout/layout.h"

typedef enum layout_answer { LAYOUT_NO, LAYOUT_YES, LAYOUT_UNKNOWN } layout_answer;

/* One digit of a coordinate: entry `dimension`, divided, reduced, times stride, onto a position. */
typedef struct layout_digit {
    uint64_t divisor, extent; /* extent 0: not reduced */
    int64_t stride;
    uint32_t dimension, slot;
    int8_t divisor_shift, extent_shift; /* -1: not a power of two */
    uint64_t mask;                      /* of a digit that is shifts and masks alone */
} layout_digit;

/* A layout prepared for many evaluations over one shape, whose elements it must match one by one. */
typedef struct layout_map {
    const layout_tile *layout;
    const int64_t *shape;
    uint32_t rank, digit_count;
    int64_t size;
    uint32_t axis_count, axis_mask;
    layout_axis axes[LAYOUT_AXIS_COUNT]; /* in the order of the positions below */
    int64_t origin[LAYOUT_AXIS_COUNT];
    uint32_t m_slot;            /* axis_count when there is no m */
    bool flat;                  /* the digits are those of the row-major number of the element */
    bool shifts;                /* every digit is a shift and a mask */
    const layout_digit *digits; /* by slot: those of slot s from slot_begin[s] on */
    uint32_t slot_begin[LAYOUT_AXIS_COUNT + 1];
} layout_map;
const layout_map *layout_map_make(base_arena *arena, const layout_tile *layout, const int64_t *shape,
                                  uint32_t rank, layout_error *error);
/* Coordinates inside of the shape; position gets axis_count entries. */
bool layout_map_inside(base_arena *arena, const layout_map *map, const int64_t *coordinate,
                       layout_error *error);
void layout_map_at(const layout_map *map, const int64_t *coordinate, int64_t *position);
/* All elements in row-major order: one plane of map->size entries per axis. */
void layout_map_all(const layout_map *map, int64_t *planes);
void layout_map_coordinate(const layout_map *map, int64_t flat, int64_t *coordinate);
int64_t layout_map_flat(const layout_map *map, const int64_t *coordinate);
/* Copies of an element, replicas expanded: axis_count entries each, at most `limit` of them, duplicates kept.
 * Returns how many there are. */
int64_t layout_map_copies(const layout_map *map, const int64_t *coordinate, int64_t limit,
                          int64_t *positions);

/* The elements at a place: positions on the axes of the mask, any value on the others. Sorted by m, then by
 * number; complete is false when it stopped at the limit or gave up searching. */
typedef struct layout_holding {
    int64_t flat;
    int64_t position[LAYOUT_AXIS_COUNT]; /* by axis */
} layout_holding;
typedef struct layout_holdings {
    layout_holding *items;
    size_t count;
    bool complete;
} layout_holdings;
void layout_find(base_arena *arena, const layout_map *map, const int64_t *position, uint32_t axes,
                 size_t limit, layout_holdings *found);

/* Whether no two elements share a place. NO: the two elements and the place. */
typedef struct layout_collision {
    int64_t first, second;
    int64_t position[LAYOUT_AXIS_COUNT];
} layout_collision;
layout_answer layout_injective(const layout_map *map, layout_collision *collision);

/* Whether two layouts put every element of a shape at the same places. NO: an element that differs, and where
 * each puts it. Threads are compared by the widest axis of their scope. */
typedef struct layout_difference {
    int64_t flat;
    int64_t first[LAYOUT_AXIS_COUNT], second[LAYOUT_AXIS_COUNT];
    uint32_t first_axes, second_axes;
    const char *why; /* of UNKNOWN, and of NO when it is the copies that differ; else NULL */
} layout_difference;
layout_answer layout_compare(base_arena *arena, const layout_map *a, const layout_map *b,
                             layout_difference *difference);

/* The widest access along the last dimension that is contiguous and aligned from every start that is a
 * multiple of it, for elements of `bits` and at most limit_bytes. */
typedef struct layout_vector {
    int64_t elements;
    bool exact;      /* false: at least this many, whether more was not decided */
    const char *why; /* why not twice as many */
} layout_vector;
layout_vector layout_widest_vector(base_arena *arena, const layout_map *map, unsigned bits,
                                   unsigned limit_bytes);

/* A shared-memory access of a warp: lane l reads or writes `width` bytes from element elements[l] on. */
typedef struct layout_bank_conflict {
    uint32_t wavefront_group, bank, words; /* different words of one bank */
    uint32_t lanes;                        /* mask */
} layout_bank_conflict;
typedef struct layout_banks {
    uint32_t wavefronts, ideal; /* 128-byte passes it takes, and would take without conflicts */
    uint32_t group_lanes;       /* lanes served together: 32, 16 or 8 */
    int64_t address[32];        /* bytes */
    BASE_VECTOR(layout_bank_conflict) conflicts;
} layout_banks;
bool layout_bank_conflicts(base_arena *arena, const layout_map *map, const int64_t *elements, uint32_t lanes,
                           unsigned bits, unsigned width, layout_banks *banks, layout_error *error);
#endif
