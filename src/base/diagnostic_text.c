/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics for people: the one-line form, and the form with the source line and a caret below it.
 * A source line may be megabytes long or hold any bytes: only a window around the place is looked at, and
 * what a terminal would not show as one visible character is written as an escape. */
#include "base/diagnostic_render.h"
#include <string.h>

enum {
    TAB_WIDTH = 4,
    WINDOW_CELLS = 100, /* cells of a source line that are shown */
    BEFORE_CELLS = 60,  /* at most this many before the caret when the line is cut */
    LOOK_BACK = 1024    /* bytes before the place that are measured */
};

static const char RESET[] = "\033[0m", BOLD[] = "\033[1m", GREEN[] = "\033[1;32m", BLUE[] = "\033[1;34m";

static const char *severity_colour(base_severity severity) {
    return severity == BASE_ERROR ? "\033[1;31m" : severity == BASE_WARNING ? "\033[1;35m" : "\033[1;36m";
}

typedef struct range {
    uint32_t first, last;
} range;

static bool in_ranges(const range *ranges, size_t count, uint32_t character) {
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

/* Control, format and bidirectional characters: shown as escapes, since they would move or hide text. */
static bool is_hidden(uint32_t character) {
    static const range hidden[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                                   {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},  {0xfeff, 0xfeff},
                                   {0xfff9, 0xfffb}, {0xe000, 0xf8ff}, {0xe0000, 0xe0fff}};
    return in_ranges(hidden, sizeof hidden / sizeof hidden[0], character);
}

/* Cells that terminals give a visible character: combining marks 0, East Asian wide and emoji 2. */
static size_t character_cells(uint32_t character) {
    static const range none[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                 {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
                                 {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    static const range wide[] = {
        {0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
        {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (character < 0x300)
        return 1;
    if (in_ranges(none, sizeof none / sizeof none[0], character))
        return 0;
    return in_ranges(wide, sizeof wide / sizeof wide[0], character) ? 2 : 1;
}

/* One character of a source line: its bytes, and how it is shown from cell `cell` on. */
typedef struct shown {
    size_t bytes, cells;
    char escape[16]; /* empty: the bytes themselves; tabs become spaces */
} shown;

static void put_hex(char *to, unsigned value, unsigned digits) {
    for (unsigned i = 0; i < digits; i++)
        to[i] = "0123456789abcdef"[value >> (4 * (digits - 1 - i)) & 15u];
    to[digits] = 0;
}

static shown show(const char *data, size_t size, size_t cell) {
    uint32_t character = 0;
    shown s = {base_utf8_decode(data, size, &character), 0, ""};
    if (s.bytes == 0 || (is_hidden(character) && character < 0x80 && character != '\t')) {
        memcpy(s.escape, "\\x", 2);
        put_hex(s.escape + 2, (unsigned char)data[0], 2);
        s.bytes = 1;
    } else if (character == '\t') {
        s.cells = TAB_WIDTH - cell % TAB_WIDTH;
        memset(s.escape, ' ', s.cells);
        s.escape[s.cells] = 0;
        return s;
    } else if (is_hidden(character)) {
        memcpy(s.escape, "\\u", 2);
        put_hex(s.escape + 2, character, character > 0xffff ? 6 : 4);
    } else {
        s.cells = character_cells(character);
        return s;
    }
    s.cells = strlen(s.escape);
    return s;
}

/* Text of a message: escapes as in source lines; a line break stays when `indent` is not 0. */
static void add_message(base_builder *out, const char *text, size_t indent) {
    size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        shown s = show(text + i, size - i, 0);
        if (text[i] == '\n' && indent != 0) {
            base_builder_char(out, '\n');
            base_builder_repeat(out, ' ', indent);
        } else if (text[i] == '\n' || text[i] == '\t') {
            base_builder_char(out, ' ');
        } else if (s.escape[0] != 0) {
            base_builder_string(out, s.escape);
        } else {
            base_builder_add(out, text + i, s.bytes);
        }
        i += s.bytes;
    }
}

static void add_place(const base_sources *sources, base_span span, base_builder *out) {
    base_place place = base_span_place(sources, span);
    if (place.line == 0)
        return;
    add_message(out, place.name, 0);
    base_builder_format(out, ":%u:%u: ", (unsigned)place.line, (unsigned)place.column);
}

/* Where the window starts: at the line's start, or so that the place stands BEFORE_CELLS cells into it. */
static size_t window_start(base_text line, size_t at) {
    size_t start = 0;
    if (at > LOOK_BACK) {
        start = at - LOOK_BACK;
        while (start < at && ((unsigned char)line.data[start] & 0xc0u) == 0x80u)
            start++;
    }
    size_t cells = 0;
    for (size_t i = start; i < at;) {
        shown s = show(line.data + i, line.size - i, cells);
        cells += s.cells;
        i += s.bytes;
    }
    if (start == 0 && cells + 8 <= WINDOW_CELLS)
        return 0;
    size_t cell = 0;
    while (start < at && cells - cell > BEFORE_CELLS) {
        shown s = show(line.data + start, line.size - start, cell);
        cell += s.cells;
        start += s.bytes;
    }
    return start;
}

/* The source line and the line below it: caret at the span's begin, tildes to its end or the line's end. */
static void add_source(const base_sources *sources, base_span span, bool colour, base_builder *out) {
    base_place place = base_span_place(sources, span);
    if (place.line == 0)
        return;
    base_text line = base_source_line(sources, span.file, place.line);
    size_t at = place.column - 1 < line.size ? place.column - 1 : line.size;
    size_t length = span.end > span.begin ? span.end - span.begin : 0;
    size_t end = length > line.size - at ? line.size : at + length;
    size_t start = window_start(line, at), cell = 0, caret = 0, tail = 0;
    base_builder_format(out, "%s%6u | %s", colour ? BLUE : "", (unsigned)place.line, colour ? RESET : "");
    if (start > 0) {
        base_builder_string(out, "...");
        cell = 3;
    }
    caret = cell;
    size_t i = start;
    while (i < line.size && cell < WINDOW_CELLS && i - start < 2 * LOOK_BACK) {
        shown s = show(line.data + i, line.size - i, cell);
        if (i <= at)
            caret = cell;
        if (s.escape[0] != 0)
            base_builder_string(out, s.escape);
        else
            base_builder_add(out, line.data + i, s.bytes);
        i += s.bytes;
        cell += s.cells;
        if (i <= end)
            tail = cell;
    }
    if (at >= line.size && i == line.size)
        caret = cell;
    if (i < line.size)
        base_builder_string(out, "...");
    base_builder_format(out, "\n%s       | %s", colour ? BLUE : "", colour ? RESET : "");
    base_builder_repeat(out, ' ', caret);
    base_builder_format(out, "%s^", colour ? GREEN : "");
    base_builder_repeat(out, '~', tail > caret + 1 ? tail - caret - 1 : 0);
    base_builder_format(out, "%s\n", colour ? RESET : "");
}

void base_render_line(const base_sources *sources, const base_diagnostic *diagnostic, base_builder *out) {
    add_place(sources, diagnostic->span, out);
    base_builder_format(out, "%s: ", base_severity_name(diagnostic->severity));
    add_message(out, diagnostic->text, 0);
    base_builder_format(out, " [%s]\n", diagnostic->code);
}

void base_render_text(const base_sources *sources, const base_diagnostic *diagnostic, bool colour,
                      base_builder *out) {
    const char *bold = colour ? BOLD : "", *reset = colour ? RESET : "";
    base_builder_string(out, bold);
    add_place(sources, diagnostic->span, out);
    base_builder_format(out, "%s%s%s: %s", colour ? severity_colour(diagnostic->severity) : "",
                        base_severity_name(diagnostic->severity), reset, bold);
    add_message(out, diagnostic->text, 4);
    base_builder_format(out, "%s [%s]\n", reset, diagnostic->code);
    add_source(sources, diagnostic->span, colour, out);
    if (diagnostic->help != NULL) {
        base_builder_format(out, "  %shelp%s: ", bold, reset);
        add_message(out, diagnostic->help, 8);
        base_builder_char(out, '\n');
    }
    for (size_t i = 0; i < diagnostic->notes.count; i++) {
        const base_note_entry *note = &diagnostic->notes.items[i];
        base_builder_string(out, "  ");
        add_place(sources, note->span, out);
        base_builder_format(out, "%snote%s: ", colour ? severity_colour(BASE_NOTE) : "", reset);
        add_message(out, note->text, 8);
        base_builder_char(out, '\n');
        add_source(sources, note->span, colour, out);
    }
}
