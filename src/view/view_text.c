/* SPDX-License-Identifier: Apache-2.0
 * A figure for a terminal: the two grids side by side, or one below the other when the terminal is narrow;
 * cells are texts, coloured by ANSI 256 background where asked. Grids too large for a terminal show their
 * corner and say so. */
#include "view/view.h"
#include <string.h>

enum { ROWS = 40, LABEL = 9 };

/* Nearest of the 6x6x6 cube. */
static unsigned ansi(uint32_t rgb) {
    unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;
    return 16 + 36 * ((r * 5 + 127) / 255) + 6 * ((g * 5 + 127) / 255) + (b * 5 + 127) / 255;
}

typedef struct page {
    const view_figure *figure;
    const view_grid *grid;
    bool colour;
    size_t cell; /* characters */
    int64_t rows, columns;
} page;

static void cell_text(const page *p, int64_t r, int64_t c, base_builder *text) {
    int32_t element = p->grid->element[r * p->grid->columns + c];
    text->size = 0;
    if (element >= 0)
        (p->grid == &p->figure->logical ? view_place : view_coordinate)(p->figure, element, true, text);
    if (text->size == 0)
        base_builder_char(text, '.');
}

/* How many columns fit into `width` characters. */
static page fit(const view_figure *f, const view_grid *g, bool colour, unsigned width) {
    page p = {f, g, colour, 1, g->rows < ROWS ? g->rows : ROWS, g->columns};
    base_builder text;
    base_builder_start(&text, f->arena);
    if (p.columns > width / 2)
        p.columns = width / 2;
    for (int64_t r = 0; r < p.rows; r++)
        for (int64_t c = 0; c < p.columns; c++) {
            cell_text(&p, r, c, &text);
            p.cell = text.size > p.cell ? text.size : p.cell;
        }
    int64_t room = ((int64_t)width - LABEL) / (int64_t)(p.cell + 1);
    if (p.columns > room)
        p.columns = room > 1 ? room : 1;
    return p;
}

static size_t page_width(const page *p) {
    size_t cells = LABEL + (size_t)p->columns * (p->cell + 1), name = strlen(p->grid->name);
    return cells > name ? cells : name;
}

static void pad(base_builder *out, size_t begin, size_t width) {
    if (out->size - begin < width)
        base_builder_repeat(out, ' ', width - (out->size - begin));
}

static void number_cell(base_builder *out, int64_t value, size_t width) {
    base_builder_format(out, "%*lld", (int)width, (long long)value);
}

/* Line 0 is the name, 1 the column numbers, then the rows. No newline. */
static void line(const page *p, int64_t n, base_builder *out) {
    const view_grid *g = p->grid;
    size_t begin = out->size;
    base_builder text;
    base_builder_start(&text, p->figure->arena);
    if (n == 0)
        base_builder_format(out, "%s%s", g->name,
                            p->rows < g->rows || p->columns < g->columns ? " (its corner)" : "");
    else if (n == 1) {
        base_builder_format(out, "%*.*s ", LABEL - 1, LABEL - 1, *g->column_name ? g->column_name : "");
        for (int64_t c = 0; c < p->columns; c++) {
            number_cell(out, g->column_first + c * g->column_step / g->column_parts, p->cell);
            base_builder_char(out, ' ');
        }
    } else if (n - 2 < p->rows) {
        number_cell(out, g->row_first + (n - 2) * g->row_step, LABEL - 1);
        base_builder_char(out, ' ');
        for (int64_t c = 0; c < p->columns; c++) {
            uint8_t colour = g->colour[(n - 2) * g->columns + c];
            bool marked = g->mark != NULL && g->mark[(n - 2) * g->columns + c] != 0;
            cell_text(p, n - 2, c, &text);
            if (p->colour && colour != VIEW_EMPTY)
                base_builder_format(out, "\x1b[%s48;5;%u;38;5;16m", marked ? "1;4;" : "",
                                    ansi(view_colour(colour, false, false)));
            base_builder_repeat(out, ' ', p->cell - text.size);
            base_builder_string(out, text.data);
            if (p->colour && colour != VIEW_EMPTY)
                base_builder_string(out, "\x1b[0m");
            base_builder_char(out, marked && !p->colour ? '*' : ' ');
        }
        for (size_t i = 0; i < g->bands.count; i++)
            if (g->bands.items[i].first == n - 2 && p->columns == g->columns)
                base_builder_string(out, g->bands.items[i].text);
        /* colours have no width */
        base_builder_repeat(out, ' ', page_width(p) - LABEL - (size_t)p->columns * (p->cell + 1));
        return;
    }
    pad(out, begin, page_width(p));
}

static void rest_of(const page *p, base_builder *out) {
    const view_grid *g = p->grid;
    if (p->rows < g->rows || p->columns < g->columns)
        base_builder_format(out, "shown: %lld of %lld rows, %lld of %lld columns of the %s grid\n",
                            (long long)p->rows, (long long)g->rows, (long long)p->columns,
                            (long long)g->columns, p->grid == &p->figure->logical ? "logical" : "physical");
}

void view_text(const view_figure *f, bool colour, unsigned width, base_builder *out) {
    width = width == 0 ? 120 : width < 40 ? 40 : width;
    base_builder_format(out, "%s\n", f->title);
    for (size_t i = 0; i < f->words.count; i++)
        base_builder_format(out, "%s\n", f->words.items[i]);
    base_builder_char(out, '\n');
    page left = fit(f, &f->logical, colour, width), right = fit(f, &f->physical, colour, width);
    bool beside = page_width(&left) + page_width(&right) + 3 <= width;
    if (!beside) { /* half the terminal each, when half says enough */
        page l = fit(f, &f->logical, colour, width / 2 - 2), r = fit(f, &f->physical, colour, width / 2 - 2);
        beside = l.columns >= 8 && r.columns >= 8;
        left = beside ? l : left;
        right = beside ? r : right;
    }
    int64_t lines = 2 + (left.rows > right.rows ? left.rows : right.rows);
    for (int64_t n = 0; beside && n < lines; n++) {
        line(&left, n, out);
        base_builder_string(out, "   ");
        line(&right, n, out);
        while (out->size > 0 && out->data[out->size - 1] == ' ')
            out->data[--out->size] = 0;
        base_builder_char(out, '\n');
    }
    const page *pages[2] = {&left, &right};
    for (int i = 0; !beside && i < 2; i++)
        for (int64_t n = 0; n < pages[i]->rows + 2; n++) {
            line(pages[i], n, out);
            while (out->size > 0 && out->data[out->size - 1] == ' ')
                out->data[--out->size] = 0;
            base_builder_string(out, n == pages[i]->rows + 1 && i == 0 ? "\n\n" : "\n");
        }
    rest_of(&left, out);
    rest_of(&right, out);
}
