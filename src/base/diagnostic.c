/* SPDX-License-Identifier: Apache-2.0
 * The list of diagnostics: keeping, dropping and ordering. Says nothing of how they look. */
#include "base/diagnostic.h"
#include "base/diagnostic_render.h"
#include <stdlib.h>
#include <string.h>

enum { KEPT_ERRORS = 200, KEPT_OTHERS = 200 };

typedef struct entry entry;
struct entry {
    base_diagnostic diagnostic; /* first: a base_diagnostic pointer of this list points to its entry */
    entry *same_hash;
};

struct base_diagnostics {
    base_arena *arena;
    base_sources *sources;
    BASE_VECTOR(entry *) entries;
    base_map *by_hash;
    size_t errors, kept_errors, dropped;
    base_diagnostic scratch; /* what a dropped diagnostic's notes and help are added to: nothing */
};

base_diagnostics *base_diagnostics_create(base_arena *arena, base_sources *sources) {
    base_diagnostics *list = BASE_NEW(arena, base_diagnostics);
    list->arena = arena;
    list->sources = sources;
    list->by_hash = base_map_create(arena);
    list->scratch.code = "";
    list->scratch.text = "";
    return list;
}

static bool same(const base_diagnostic *a, const char *code, base_span span, const char *text) {
    return a->span.file == span.file && a->span.begin == span.begin && a->span.end == span.end &&
           strcmp(a->code, code) == 0 && strcmp(a->text, text) == 0;
}

base_diagnostic *base_report_list(base_diagnostics *list, base_severity severity, const char *code,
                                  base_span span, const char *format, va_list arguments) {
    size_t kept_others = list->entries.count - list->kept_errors;
    if (severity == BASE_ERROR ? list->kept_errors >= KEPT_ERRORS : kept_others >= KEPT_OTHERS) {
        list->errors += severity == BASE_ERROR;
        list->dropped++;
        return &list->scratch;
    }
    const char *text = base_arena_format_list(list->arena, format, arguments);
    uint64_t hash = base_hash(text, strlen(text), base_hash(code, strlen(code), span.begin));
    hash = base_hash_mix(hash, (uint64_t)span.file << 32 | span.end);
    entry *first = base_map_get(list->by_hash, hash);
    for (entry *e = first; e != NULL; e = e->same_hash)
        if (same(&e->diagnostic, code, span, text))
            return &list->scratch;
    entry *added = BASE_NEW(list->arena, entry);
    added->diagnostic.severity = severity;
    added->diagnostic.code = base_arena_string(list->arena, code, strlen(code));
    added->diagnostic.span = span;
    added->diagnostic.text = text;
    added->same_hash = first;
    base_vector_push(list->arena, &list->entries, added);
    list->errors += severity == BASE_ERROR;
    list->kept_errors += severity == BASE_ERROR;
    base_map_set(list->by_hash, hash, added);
    return &added->diagnostic;
}

base_diagnostic *base_report(base_diagnostics *list, base_severity severity, const char *code, base_span span,
                             const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *diagnostic = base_report_list(list, severity, code, span, format, arguments);
    va_end(arguments);
    return diagnostic;
}

void base_note(base_diagnostics *list, base_diagnostic *diagnostic, base_span span, const char *format, ...) {
    if (diagnostic == &list->scratch)
        return;
    va_list arguments;
    va_start(arguments, format);
    const char *text = base_arena_format_list(list->arena, format, arguments);
    va_end(arguments);
    base_vector_push(list->arena, &diagnostic->notes, (base_note_entry){span, text});
}

void base_help(base_diagnostics *list, base_diagnostic *diagnostic, const char *format, ...) {
    if (diagnostic == &list->scratch)
        return;
    va_list arguments;
    va_start(arguments, format);
    diagnostic->help = base_arena_format_list(list->arena, format, arguments);
    va_end(arguments);
}

size_t base_diagnostics_count(const base_diagnostics *list) {
    return list->entries.count;
}

size_t base_diagnostics_errors(const base_diagnostics *list) {
    return list->errors;
}

size_t base_diagnostics_dropped(const base_diagnostics *list) {
    return list->dropped;
}

const base_diagnostic *base_diagnostics_at(const base_diagnostics *list, size_t index) {
    return &list->entries.items[index]->diagnostic;
}

base_sources *base_diagnostics_sources(const base_diagnostics *list) {
    return list->sources;
}

base_arena *base_diagnostics_arena(const base_diagnostics *list) {
    return list->arena;
}

const char *base_severity_name(base_severity severity) {
    return severity == BASE_ERROR ? "error" : severity == BASE_WARNING ? "warning" : "note";
}

/* Sorting keys: the file's rank by first mention, the place, then the order of reporting. */
typedef struct sort_key {
    size_t rank, begin, index;
} sort_key;

static int compare_keys(const void *left, const void *right) {
    const sort_key *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static const base_diagnostic **sorted(const base_diagnostics *list) {
    size_t count = list->entries.count;
    sort_key *keys = BASE_NEW_ARRAY(list->arena, sort_key, count);
    base_map *first_mention = base_map_create(list->arena);
    for (size_t i = 0; i < count; i++) {
        base_span span = list->entries.items[i]->diagnostic.span;
        if (base_map_get(first_mention, span.file) == NULL)
            base_map_set(first_mention, span.file, (void *)(uintptr_t)(i + 1));
        keys[i] = (sort_key){(size_t)(uintptr_t)base_map_get(first_mention, span.file), span.begin, i};
    }
    if (count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
    const base_diagnostic **order = BASE_NEW_ARRAY(list->arena, const base_diagnostic *, count);
    for (size_t i = 0; i < count; i++)
        order[i] = &list->entries.items[keys[i].index]->diagnostic;
    return order;
}

void base_diagnostics_render(const base_diagnostics *list, base_format format, bool colour,
                             base_builder *out) {
    const base_diagnostic **order = sorted(list);
    size_t count = list->entries.count;
    switch (format) {
    case BASE_TEXT:
        for (size_t i = 0; i < count; i++)
            base_render_text(list->sources, order[i], colour, out);
        break;
    case BASE_LINE:
        for (size_t i = 0; i < count; i++)
            base_render_line(list->sources, order[i], out);
        break;
    case BASE_JSON:
        for (size_t i = 0; i < count; i++)
            base_render_json(list->sources, order[i], out);
        break;
    case BASE_SARIF:
        base_render_sarif(list->sources, order, count, list->dropped, out);
        return;
    }
    if (list->dropped == 0)
        return;
    base_diagnostic more = {BASE_NOTE, "T0990", BASE_NO_SPAN, NULL, NULL, {NULL, 0, 0}};
    more.text = base_arena_format(list->arena, "%zu more diagnostics are not shown", list->dropped);
    if (format == BASE_TEXT)
        base_render_text(list->sources, &more, colour, out);
    else if (format == BASE_LINE)
        base_render_line(list->sources, &more, out);
    else
        base_render_json(list->sources, &more, out);
}
