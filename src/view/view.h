/* SPDX-License-Identifier: Apache-2.0
 * Pictures of layouts: the logical grid and the physical grid side by side, as SVG, as a self-contained HTML
 * page with hover, or as text for a terminal. One figure is made once and written in any form. Knows layouts,
 * no kernels. */
#ifndef TIRC_VIEW_VIEW_H
#define TIRC_VIEW_VIEW_H
#include "layout/fragment.h"
#include "layout/query.h"

enum {
    VIEW_ELEMENT_LIMIT = 1 << 20, /* elements, copies included */
    VIEW_CELL_LIMIT = 1 << 22,    /* cells of the physical grid */
    VIEW_EMPTY = 255,
    VIEW_COLOURS = 32 /* 8 hues of 4 shades */
};

typedef struct view_band { /* rows that belong together, named beside the grid */
    int64_t first, last;
    const char *text;
} view_band;

typedef struct view_grid {
    const char *name, *row_name, *column_name;
    int64_t rows, columns;
    int64_t row_first, column_first; /* numbers of the first row and column */
    int64_t row_step, column_step;   /* what a row counts; columns of 1 or of column_step / column_parts */
    int64_t column_parts;
    uint8_t *colour;  /* per cell, VIEW_EMPTY for none */
    int32_t *element; /* row-major number, -1 for none */
    uint8_t *mark;    /* 1 + lane of a warp access; NULL: none */
    BASE_VECTOR(view_band) bands;
} view_grid;

/* Where a position goes in the physical grid. */
typedef struct view_row_axis {
    uint32_t slot;
    int64_t low, span;
} view_row_axis;
typedef struct view_placement {
    view_row_axis rows[LAYOUT_AXIS_COUNT]; /* mixed radix, outermost first */
    uint32_t row_count;
    uint32_t column_slot; /* axis_count: none */
    int64_t column_low, column_span;
    bool wraps; /* the column axis alone, broken into rows of column_span */
} view_placement;

typedef struct view_options {
    unsigned bits;                /* of an element; 0: not known. With it a layout on m shows banks */
    const layout_banks *banks;    /* a warp access to mark; NULL: none */
    const int64_t *bank_elements; /* element of each lane */
    uint32_t bank_lanes;
    unsigned bank_width;
    const char *title; /* NULL: the layout's text */
} view_options;

typedef struct view_figure {
    base_arena *arena;
    const layout_map *map;
    const char *title;
    BASE_VECTOR(const char *) words; /* sentences under the title */
    view_grid logical, physical;
    view_placement placement;
    const char *place_words; /* how a place reads: "m" or "lane:register" */
    bool fragment, packed;
} view_figure;

/* NULL and *error when there is too much to draw. */
const view_figure *view_layout(base_arena *arena, const layout_map *map, const view_options *options,
                               layout_error *error);
const view_figure *view_fragment(base_arena *arena, const layout_fragment_request *request, const char *name,
                                 layout_error *error);

void view_svg(const view_figure *figure, base_builder *out);
void view_html(const view_figure *figure, base_builder *out);
/* colour: ANSI 256. width: columns of the terminal, 0 for 120. */
void view_text(const view_figure *figure, bool colour, unsigned width, base_builder *out);

/* "(3, 5)" of an element, and its place: "m 13", "lane 5 register 3"; short: "3,5" and "5:3". */
void view_coordinate(const view_figure *figure, int64_t element, bool brief, base_builder *out);
void view_place(const view_figure *figure, int64_t element, bool brief, base_builder *out);
/* 0xRRGGBB of a palette entry. picture: for cells without text on them. */
uint32_t view_colour(unsigned index, bool dark, bool picture);
/* A palette image as base64 of a PNG; index `VIEW_EMPTY` is transparent. */
typedef struct view_pixels {
    const uint8_t *indices;
    uint32_t width, height, scale_x, scale_y;
} view_pixels;
void view_png(base_arena *arena, const view_pixels *pixels, bool dark, base_builder *out);
#endif
