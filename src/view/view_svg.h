/* SPDX-License-Identifier: Apache-2.0
 * Where the parts of a drawn figure lie; shared by the SVG and the HTML form. */
#ifndef TIRC_VIEW_SVG_H
#define TIRC_VIEW_SVG_H
#include "view/view.h"

/* One grid, or its corner, on the page. */
typedef struct view_area {
    const view_grid *grid;
    int x, y;
    int64_t rows, columns;           /* shown; 0 rows: not there */
    int64_t cell_width, cell_height; /* hundredths of a pixel */
    int64_t width, height;
    bool text;
} view_area;

typedef struct view_drawing {
    view_area areas[4]; /* logical, physical, and the corners of both */
    int count;
    int64_t width, height;
} view_drawing;

void view_svg_style(base_builder *out);
/* alone: with its own style rules. */
void view_svg_draw(const view_figure *figure, view_drawing *drawing, bool alone, base_builder *out);
#endif
