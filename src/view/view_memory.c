/* SPDX-License-Identifier: Apache-2.0
 * The map is not to scale: every stretch of bytes between two edges of boxes gets a row, and every line that
 * begins or ends a box a column, so that 4 bytes beside 64 KiB stay readable. */
#include "view/view_memory.h"
#include "view/view.h"
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 20, LEFT = 72, TOP = 96, ROW = 34, COLUMN = 64, CHARACTER = 7, GAP = 40, LEAST = 220 };

static void escape(base_builder *out, const char *text) {
    for (; *text != 0; text++) {
        const char *as = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (as != NULL)
            base_builder_string(out, as);
        else
            base_builder_char(out, *text);
    }
}

typedef struct edges {
    uint64_t *items;
    size_t count;
} edges;

static int by_number(const void *a, const void *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void distinct(edges *e) {
    size_t kept = 0;
    qsort(e->items, e->count, sizeof *e->items, by_number);
    for (size_t i = 0; i < e->count; i++)
        if (kept == 0 || e->items[kept - 1] != e->items[i])
            e->items[kept++] = e->items[i];
    e->count = kept;
}

static size_t place(const edges *e, uint64_t value) {
    size_t i = 0;
    while (i < e->count && e->items[i] < value)
        i++;
    return i;
}

typedef struct panel {
    edges bytes, lines; /* a line `last` ends at the edge last + 1 */
    size_t shown;
    int *tops; /* of the rows, and the end of the last */
    int width, height, columns;
} panel;

/* Rows with parts are as high as those need. */
static void place_rows(base_arena *arena, const view_memory *map, panel *p) {
    p->tops = BASE_NEW_ARRAY(arena, int, p->bytes.count);
    p->tops[0] = TOP;
    for (size_t row = 0; row + 1 < p->bytes.count; row++) {
        bool parts = false;
        for (size_t i = 0; i < p->shown && !parts; i++)
            parts = map->boxes[i].part && map->boxes[i].offset <= p->bytes.items[row] &&
                    map->boxes[i].offset + map->boxes[i].bytes > p->bytes.items[row];
        p->tops[row + 1] = p->tops[row] + ROW * (parts && map->slots > 1 ? (int)map->slots : 1);
    }
}

static panel measure(base_arena *arena, const view_memory *map) {
    panel p = {.shown = map->count < VIEW_MEMORY_BOXES ? map->count : VIEW_MEMORY_BOXES};
    p.bytes.items = BASE_NEW_ARRAY(arena, uint64_t, 2 * p.shown + 2);
    p.lines.items = BASE_NEW_ARRAY(arena, uint64_t, 2 * p.shown + 2);
    size_t longest = strlen(map->title);
    for (size_t i = 0; i < p.shown; i++) {
        const view_memory_box *box = &map->boxes[i];
        p.bytes.items[p.bytes.count++] = box->offset;
        p.bytes.items[p.bytes.count++] = box->offset + box->bytes;
        if (box->first == 0)
            continue;
        p.lines.items[p.lines.count++] = box->first;
        p.lines.items[p.lines.count++] = (uint64_t)box->last + 1;
    }
    p.bytes.items[p.bytes.count++] = 0;
    p.bytes.items[p.bytes.count++] = map->total;
    distinct(&p.bytes);
    distinct(&p.lines);
    p.columns = p.lines.count > 1 ? (int)p.lines.count - 1 : 1;
    int column = map->column ? (int)map->column : COLUMN;
    int body = p.columns * column > LEAST ? p.columns * column : LEAST;
    int title = (int)longest * 8;
    p.width = LEFT + (body > title ? body : title);
    place_rows(arena, map, &p);
    p.height = p.tops[p.bytes.count - 1] + 30;
    return p;
}

static void style(base_builder *out) {
    base_builder_string(
        out, "<style>text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1b1f24}"
             ".h{font-size:14px;font-weight:bold}.n{font-size:11px;fill:#57606a}.e{text-anchor:end}"
             ".p{fill:#fff}.g{stroke:#8c959f;stroke-opacity:.35}.s{stroke-width:2.5;stroke-dasharray:5 3}"
             "rect.b{stroke:#57606a}");
    for (unsigned hue = 0; hue < 8; hue++)
        base_builder_format(out, ".c%u{fill:#%06x}", hue, (unsigned)view_colour(hue * 4 + 1, false, false));
    base_builder_string(out,
                        "@media(prefers-color-scheme:dark){text{fill:#f0f3f6}.n{fill:#9ea7b3}.p{fill:#0d1117}"
                        "rect.b{stroke:#9ea7b3}");
    for (unsigned hue = 0; hue < 8; hue++)
        base_builder_format(out, ".c%u{fill:#%06x}", hue, (unsigned)view_colour(hue * 4 + 1, true, false));
    base_builder_string(out, "}</style>\n");
}

static void text_at(base_builder *out, const char *class, int x, int y, const char *text) {
    base_builder_format(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    escape(out, text);
    base_builder_string(out, "</text>\n");
}

/* As much of the text as fits. */
static const char *fitted(base_arena *arena, const char *text, int width) {
    size_t most = width > 12 ? (size_t)(width - 8) / CHARACTER : 1, size = strlen(text);
    return size <= most ? text
                        : base_arena_format(arena, "%.*s\xe2\x80\xa6", (int)(most > 1 ? most - 1 : 1), text);
}

static const char *unit_of(const view_memory *map) {
    return map->unit ? map->unit : "byte";
}
static const char *when_of(const view_memory *map) {
    return map->when ? map->when : "line";
}

static void draw_box(base_arena *arena, const view_memory *map, const panel *p, size_t index, int x,
                     int column, base_builder *out) {
    const view_memory_box *box = &map->boxes[index];
    int top = p->tops[place(&p->bytes, box->offset)],
        bottom = p->tops[place(&p->bytes, box->offset + box->bytes)];
    if (box->part && map->slots > 1) {
        int height = (bottom - top) / (int)map->slots;
        top += height * (int)box->slot;
        bottom = top + height;
    }
    int left = x, right = x + p->columns * column;
    if (box->first != 0) {
        left = x + (int)place(&p->lines, box->first) * column;
        right = x + (int)place(&p->lines, (uint64_t)box->last + 1) * column;
    }
    int inset = box->part ? 4 : 0;
    const char *unit = unit_of(map), *line = when_of(map);
    char *what = base_arena_format(arena, "%s, %llu %s%s", box->name, (unsigned long long)box->bytes, unit,
                                   box->bytes == 1 && map->unit ? "" : "s");
    char *when = box->first == 0 ? base_arena_format(arena, "never used")
                 : box->first == box->last
                     ? base_arena_format(arena, "%s %u", line, box->first)
                     : base_arena_format(arena, "%ss %u to %u", line, box->first, box->last);
    base_builder_format(out, "<g><title>");
    escape(out, what);
    base_builder_format(out, ", from %s %llu, %s", unit, (unsigned long long)box->offset, when);
    if (box->shared)
        base_builder_format(out, ", in use at once with another on the same %ss", unit);
    base_builder_string(out, "</title>");
    base_builder_format(
        out, "<rect class=\"b %s c%zu\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill-opacity=\"%s\"/>\n",
        box->shared ? "s" : "", index % 8, left + inset, top + inset, right - left - 2 * inset,
        bottom - top - 2 * inset,
        box->first == 0 ? "0.25"
        : box->shared   ? "0.6"
                        : "0.9");
    /* an allocation with parts in it is named at its lower edge */
    bool tall = bottom - top > ROW;
    text_at(out, "", left + inset + 4, box->part || !tall ? top + 21 : bottom - 8,
            fitted(arena, what, right - left - 2 * inset));
    base_builder_string(out, "</g>\n");
}

static void draw_panel(base_arena *arena, const view_memory *map, const panel *p, int x, base_builder *out) {
    int left = x + LEFT, body = p->width - LEFT, column = body / p->columns;
    text_at(out, "h", x, 66, map->title);
    text_at(out, "n e", left - 8, TOP - 10, unit_of(map));
    for (size_t i = 0; i + 1 < p->lines.count; i++)
        text_at(out, "n", left + (int)i * column, TOP - 10,
                base_arena_format(arena, "%s%s%llu", i == 0 ? when_of(map) : "", i == 0 ? " " : "",
                                  (unsigned long long)p->lines.items[i]));
    for (size_t i = 0; i < p->bytes.count; i++) {
        int y = p->tops[i];
        text_at(out, "n e", left - 8, y + 4,
                base_arena_format(arena, "%llu", (unsigned long long)p->bytes.items[i]));
        base_builder_format(out, "<line class=\"g\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n", left, y,
                            left + column * p->columns, y);
    }
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < p->shown; i++)
            if (map->boxes[i].part == (part != 0))
                draw_box(arena, map, p, i, left, column, out);
    if (p->shown < map->count)
        text_at(out, "n", x, p->height - 8,
                base_arena_format(arena, "shown: %zu of %zu %ss", p->shown, map->count,
                                  map->what ? map->what : "tensor"));
}

void view_memory_svg(base_arena *arena, const char *title, const view_memory *maps, size_t count,
                     base_builder *out) {
    panel *panels = BASE_NEW_ARRAY(arena, panel, count + 1);
    int width = MARGIN, height = TOP, heading = 2 * MARGIN + (int)strlen(title) * 9;
    for (size_t i = 0; i < count; i++) {
        panels[i] = measure(arena, &maps[i]);
        width += panels[i].width + GAP;
        height = panels[i].height > height ? panels[i].height : height;
    }
    width = width > heading ? width : heading;
    base_builder_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "role=\"img\">\n<title>",
        width, height, width, height);
    escape(out, title);
    base_builder_string(out, "</title>\n");
    style(out);
    base_builder_format(out, "<rect class=\"p\" width=\"%d\" height=\"%d\"/>\n", width, height);
    text_at(out, "h", MARGIN, 30, title);
    int x = MARGIN;
    for (size_t i = 0; i < count; x += panels[i++].width + GAP)
        draw_panel(arena, &maps[i], &panels[i], x, out);
    base_builder_string(out, "</svg>\n");
}
