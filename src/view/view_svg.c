/* SPDX-License-Identifier: Apache-2.0
 * A figure as one SVG file. Grids of few cells are boxes with text in them; larger ones are a picture of one
 * pixel per cell, scaled, with ticks, and a labelled corner below. Colours follow the page: light, or dark by
 * prefers-color-scheme. */
#include "view/view_svg.h"
#include <stdio.h>
#include <string.h>

enum { MARGIN = 20, LEFT = 58, TOP = 34, BAND = 92, GAP = 28, CHARACTER = 7, ROW = 22, CORNER = 8 };

static void escape(base_builder *out, const char *text) {
    for (; *text != 0; text++) {
        if (*text == '<')
            base_builder_string(out, "&lt;");
        else if (*text == '>')
            base_builder_string(out, "&gt;");
        else if (*text == '&')
            base_builder_string(out, "&amp;");
        else
            base_builder_char(out, *text);
    }
}

static size_t longest(const view_figure *f, const view_grid *g, int64_t rows, int64_t columns) {
    base_builder text;
    size_t most = 2;
    base_builder_start(&text, f->arena);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            int32_t element = g->element[r * g->columns + c];
            text.size = 0;
            if (element >= 0)
                (g == &f->logical ? view_place : view_coordinate)(f, element, true, &text);
            most = text.size > most ? text.size : most;
        }
    return most;
}

/* Room of a grid; cells get text when all of it stays readable on one screen. */
static void measure(const view_figure *f, const view_grid *g, view_area *area, int64_t rows,
                    int64_t columns) {
    *area = (view_area){.grid = g, .rows = rows, .columns = columns};
    if (rows <= 40 && columns <= 40 && rows * columns <= 1024) {
        int width = (int)longest(f, g, rows, columns) * CHARACTER + 8;
        if (width * columns <= 1400) {
            area->text = true;
            area->cell_width = 100 * (width > 26 ? width : 26);
            area->cell_height = 100 * ROW;
        }
    }
    if (!area->text) { /* hundredths of a pixel */
        int64_t w = 64000 / columns, h = 64000 / rows;
        area->cell_width = w > 1200 ? 1200 : w < 1 ? 1 : w;
        area->cell_height = h > 1200 ? 1200 : h < 1 ? 1 : h;
        if (rows <= 8)
            area->cell_height = 2000;
    }
    area->width = area->cell_width * columns / 100;
    area->height = area->cell_height * rows / 100;
}

static int64_t tick_step(int64_t count, int64_t cell, int64_t least) {
    int64_t step = 1;
    while (step * cell < least * 100 && step < count)
        step *= 2;
    return step;
}

static void hundredths(base_builder *out, const char *name, int64_t value) {
    if (value % 100 == 0)
        base_builder_format(out, " %s=\"%lld\"", name, (long long)(value / 100));
    else
        base_builder_format(out, " %s=\"%lld.%02lld\"", name, (long long)(value / 100),
                            (long long)(value % 100));
}

static void text_at(base_builder *out, const char *class, int64_t x, int64_t y, const char *text) {
    base_builder_format(out, "<text class=\"%s\"", class);
    hundredths(out, "x", x);
    hundredths(out, "y", y);
    base_builder_char(out, '>');
    escape(out, text);
    base_builder_string(out, "</text>\n");
}

static void ticks(const view_area *a, base_builder *out) {
    const view_grid *g = a->grid;
    char label[32];
    int64_t last = (g->column_first + a->columns) * g->column_step / g->column_parts, wide = 16;
    for (; last > 9; last /= 10)
        wide += CHARACTER;
    int64_t step = tick_step(a->columns, a->cell_width, wide);
    for (int64_t c = 0; c < a->columns; c += step) {
        snprintf(label, sizeof label, "%lld",
                 (long long)(g->column_first + c * g->column_step / g->column_parts));
        int64_t x = 100 * a->x + c * a->cell_width + (step == 1 ? a->cell_width / 2 : 0);
        text_at(out, step == 1 ? "n m" : "n", x, 100 * (a->y - 5), label);
        if (step > 1 && !a->text)
            base_builder_format(out, "<path class=\"g\" d=\"M%lld.%02lld %dv%lld\"/>\n", (long long)(x / 100),
                                (long long)(x % 100), a->y - 3, (long long)a->height + 3);
    }
    step = tick_step(a->rows, a->cell_height, 14);
    for (int64_t r = 0; r < a->rows; r += step) {
        snprintf(label, sizeof label, "%lld", (long long)(g->row_first + r * g->row_step));
        int64_t y = 100 * a->y + r * a->cell_height;
        text_at(out, "n e", 100 * (a->x - 6), y + (step == 1 ? a->cell_height / 2 + 400 : 900), label);
        if (step > 1 && !a->text)
            base_builder_format(out, "<path class=\"g\" d=\"M%d %lld.%02lldh%lld\"/>\n", a->x - 3,
                                (long long)(y / 100), (long long)(y % 100), (long long)a->width + 3);
    }
    if (*g->column_name != 0)
        text_at(out, "n", 100 * a->x, 100 * (a->y - 19),
                base_arena_format(out->arena, "%s \xe2\x86\x92", g->column_name));
    if (*g->row_name != 0)
        text_at(
            out, "n e", 100 * (a->x - 6), 100 * (a->y - 5),
            base_arena_format(out->arena, "%s \xe2\x86\x93", strlen(g->row_name) > 10 ? "" : g->row_name));
}

/* Each cell a box with its text. */
static void boxes(const view_figure *f, const view_area *a, base_builder *out) {
    const view_grid *g = a->grid;
    base_builder label;
    base_builder_start(&label, f->arena);
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t c = 0; c < a->columns; c++) {
            int64_t cell = r * g->columns + c, x = a->x + c * a->cell_width / 100, y = a->y + r * ROW;
            int64_t width = a->cell_width / 100;
            bool marked = g->mark != NULL && g->mark[cell] != 0;
            if (g->colour[cell] == VIEW_EMPTY)
                base_builder_format(
                    out, "<rect class=\"o\" x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%d\"/>\n",
                    (long long)x, (long long)y, (long long)width, ROW);
            else
                base_builder_format(
                    out, "<rect class=\"k%u%s\" x=\"%lld\" y=\"%lld\" width=\"%lld\" height=\"%d\"/>",
                    g->colour[cell], marked ? " a" : "", (long long)(x + marked), (long long)(y + marked),
                    (long long)(width - 2 * marked), ROW - 2 * marked);
            if (g->element[cell] < 0)
                continue;
            label.size = 0;
            (g == &f->logical ? view_place : view_coordinate)(f, g->element[cell], true, &label);
            base_builder_format(out, "<text x=\"%lld\" y=\"%lld\">%s</text>\n", (long long)(x + width / 2),
                                (long long)(y + 15), label.data);
        }
}

/* One pixel per cell, once for each theme. */
static void pixels(const view_figure *f, const view_area *a, base_builder *out) {
    for (int dark = 0; dark < 2; dark++) {
        base_builder_format(out,
                            "<image class=\"%s\" x=\"%d\" y=\"%d\" width=\"%lld\" height=\"%lld\" "
                            "preserveAspectRatio=\"none\" href=\"data:image/png;base64,",
                            dark ? "dk" : "lt", a->x, a->y, (long long)a->width, (long long)a->height);
        view_pixels p = {a->grid->colour, (uint32_t)a->columns, (uint32_t)a->rows,
                         (uint32_t)(a->cell_width + 99) / 100, (uint32_t)(a->cell_height + 99) / 100};
        view_png(f->arena, &p, dark != 0, out);
        base_builder_string(out, "\"/>\n");
    }
    base_builder_format(out, "<rect class=\"f\" x=\"%d\" y=\"%d\" width=\"%lld\" height=\"%lld\"/>\n", a->x,
                        a->y, (long long)a->width, (long long)a->height);
    for (int64_t k = 0; a->grid->mark != NULL && k < a->rows * a->columns; k++)
        if (a->grid->mark[k] != 0) {
            base_builder_string(out, "<rect class=\"a\" fill=\"none\"");
            hundredths(out, "x", 100 * a->x + k % a->columns * a->cell_width);
            hundredths(out, "y", 100 * a->y + k / a->columns * a->cell_height);
            hundredths(out, "width", a->cell_width);
            hundredths(out, "height", a->cell_height);
            base_builder_string(out, "/>\n");
        }
}

static void bands(const view_area *a, base_builder *out) {
    for (size_t i = 0; i < a->grid->bands.count; i++) {
        const view_band *band = &a->grid->bands.items[i];
        if (band->first >= a->rows)
            break;
        int64_t last = band->last < a->rows ? band->last : a->rows - 1;
        int64_t top = a->y + band->first * a->cell_height / 100 + 1, x = a->x + a->width + 6;
        int64_t end = a->y + (last + 1) * a->cell_height / 100 - 1;
        base_builder_format(out, "<path class=\"b\" d=\"M%lld %lldh4V%lldh-4\"/>\n", (long long)x,
                            (long long)top, (long long)end);
        if (end - top >= 12)
            text_at(out, "n", 100 * (x + 9), 50 * (top + end) + 400, band->text);
    }
}

static void draw(const view_figure *f, const view_area *a, base_builder *out) {
    if (a->text) {
        base_builder_string(out, "<g class=\"c\">\n");
        boxes(f, a, out);
        base_builder_string(out, "</g>\n");
    } else {
        pixels(f, a, out);
    }
    ticks(a, out);
    bands(a, out);
}

static void colour_rules(base_builder *out, bool dark) {
    for (unsigned i = 0; i < VIEW_COLOURS; i++)
        base_builder_format(out, ".k%u{fill:#%06x}", i, (unsigned)view_colour(i, dark, false));
}

/* The rules of the page that holds the figure; also used by the HTML form. */
void view_svg_style(base_builder *out) {
    base_builder_string(
        out,
        "text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24}"
        ".h{font-size:14px;font-weight:bold}.w{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:13px}"
        ".n{font-size:11px;fill:#57606a}.m,.c text{text-anchor:middle}.e{text-anchor:end}"
        ".p{fill:#fff}.c rect{stroke:#8c959f;stroke-width:.5}.c .o,.o{fill:#f6f8fa;stroke:#d0d7de}"
        ".g{stroke:#000;stroke-opacity:.18;fill:none}.b{stroke:#57606a;fill:none}.f{fill:none;stroke:#8c959f}"
        ".c "
        ".a,.a{stroke:#cf222e;stroke-width:2}image{image-rendering:optimizeSpeed;image-rendering:pixelated}."
        "dk{display:none}\n");
    colour_rules(out, false);
    base_builder_string(
        out, "\n@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9da7b3}.p{fill:#0d1117}"
             ".c rect{stroke:#484f58}.c .o,.o{fill:#161b22;stroke:#30363d}.g{stroke:#fff}"
             ".b{stroke:#9da7b3}.f{stroke:#484f58}.c .a,.a{stroke:#ff7b72}.lt{display:none}"
             ".dk{display:inline}");
    colour_rules(out, true);
    base_builder_string(out, "}\n");
}

static int64_t area_right(const view_area *a) {
    return a->x + a->width + (a->grid->bands.count > 0 ? BAND : 10);
}

/* Lays out both grids side by side, and below a picture its labelled corner. Returns the height. */
static int64_t arrange(const view_figure *f, view_drawing *d) {
    int64_t y = MARGIN + 24 + 20 * (int64_t)f->words.count + 24, below = 0;
    const view_grid *grids[2] = {&f->logical, &f->physical};
    int64_t x = MARGIN;
    for (int i = 0; i < 2; i++) {
        view_area *a = &d->areas[i], *corner = &d->areas[2 + i];
        measure(f, grids[i], a, grids[i]->rows, grids[i]->columns);
        a->x = (int)x + LEFT;
        a->y = (int)y + TOP;
        d->count = 2;
        corner->rows = 0;
        if (!a->text) {
            int64_t rows = grids[i]->rows < CORNER ? grids[i]->rows : CORNER;
            measure(f, grids[i], corner, rows, grids[i]->columns < CORNER ? grids[i]->columns : CORNER);
            corner->x = a->x;
        }
        int64_t right = area_right(a);
        if (corner->rows > 0 && area_right(corner) > right)
            right = area_right(corner);
        int64_t name = a->x + (int64_t)strlen(grids[i]->name) * 8 + 10;
        x = (name > right ? name : right) + GAP;
        below = a->y + a->height > below ? a->y + a->height : below;
    }
    d->width = x - GAP + MARGIN;
    d->height = below + MARGIN;
    for (int i = 2; i < 4; i++)
        if (d->areas[i].rows > 0) {
            d->areas[i].y = (int)below + 30 + TOP;
            d->count = 4;
            if (d->areas[i].y + d->areas[i].height + MARGIN > d->height)
                d->height = d->areas[i].y + d->areas[i].height + MARGIN;
        }
    size_t words = strlen(f->title) + 4;
    for (size_t i = 0; i < f->words.count; i++)
        words = strlen(f->words.items[i]) > words ? strlen(f->words.items[i]) : words;
    if ((int64_t)words * CHARACTER + 2 * MARGIN > d->width)
        d->width = (int64_t)words * CHARACTER + 2 * MARGIN;
    return d->height;
}

void view_svg_draw(const view_figure *f, view_drawing *d, bool alone, base_builder *out) {
    memset(d, 0, sizeof *d);
    arrange(f, d);
    base_builder_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lld\" height=\"%lld\" viewBox=\"0 0 %lld "
        "%lld\" role=\"img\">\n",
        (long long)d->width, (long long)d->height, (long long)d->width, (long long)d->height);
    base_builder_string(out, "<title>");
    escape(out, f->title);
    base_builder_string(out, "</title>\n");
    if (alone) {
        base_builder_string(out, "<style>");
        view_svg_style(out);
        base_builder_string(out, "</style>\n");
    }
    base_builder_format(out, "<rect class=\"p\" width=\"%lld\" height=\"%lld\"/>\n", (long long)d->width,
                        (long long)d->height);
    text_at(out, "h", 100 * MARGIN, 100 * (MARGIN + 10), f->title);
    for (size_t i = 0; i < f->words.count; i++)
        text_at(out, "w", 100 * MARGIN, 100 * (MARGIN + 34 + 20 * (int64_t)i), f->words.items[i]);
    for (int i = 0; i < 4; i++) {
        const view_area *a = &d->areas[i];
        if (a->rows == 0)
            continue;
        const char *name = i < 2 ? a->grid->name
                                 : base_arena_format(f->arena, "its first %lld x %lld cells",
                                                     (long long)a->rows, (long long)a->columns);
        text_at(out, "h", 100 * (a->x - LEFT), 100 * (a->y - TOP), name);
        draw(f, a, out);
    }
    base_builder_string(out, "</svg>\n");
}

void view_svg(const view_figure *figure, base_builder *out) {
    view_drawing drawing;
    view_svg_draw(figure, &drawing, true, out);
}
