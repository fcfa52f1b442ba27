/* SPDX-License-Identifier: Apache-2.0
 * Diagnostics: one list per session, as data; rendered as caret text, one-line text, JSON or SARIF.
 * Codes are "Tnnnn"; each module lists its own in <module>/<module>_codes.def with title and explanation. */
#ifndef TIRC_BASE_DIAGNOSTIC_H
#define TIRC_BASE_DIAGNOSTIC_H
#include "base/source.h"
#include <stdarg.h>

typedef enum base_severity { BASE_NOTE, BASE_WARNING, BASE_ERROR } base_severity;

typedef struct base_note_entry {
    base_span span; /* file 0: a note without a place */
    const char *text;
} base_note_entry;

typedef struct base_diagnostic {
    base_severity severity;
    const char *code; /* "T0101" */
    base_span span;
    const char *text; /* what is wrong, and what was expected */
    const char *help; /* what to do; NULL when there is nothing to add */
    BASE_VECTOR(base_note_entry) notes;
} base_diagnostic;

typedef struct base_diagnostics base_diagnostics;
base_diagnostics *base_diagnostics_create(base_arena *arena, base_sources *sources);
/* Adds a diagnostic. The same code at the same span with the same text is kept once; after 200 errors the
 * rest is counted, not kept. Never NULL (a dropped one returns a scratch object). */
base_diagnostic *base_report(base_diagnostics *list, base_severity severity, const char *code, base_span span,
                             const char *format, ...) __attribute__((format(printf, 5, 6)));
base_diagnostic *base_report_list(base_diagnostics *list, base_severity severity, const char *code,
                                  base_span span, const char *format, va_list arguments);
void base_note(base_diagnostics *list, base_diagnostic *diagnostic, base_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void base_help(base_diagnostics *list, base_diagnostic *diagnostic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t base_diagnostics_count(const base_diagnostics *list);
size_t base_diagnostics_errors(const base_diagnostics *list);  /* kept and counted */
size_t base_diagnostics_dropped(const base_diagnostics *list); /* over the limit of 200 */
const base_diagnostic *base_diagnostics_at(const base_diagnostics *list, size_t index);
base_sources *base_diagnostics_sources(const base_diagnostics *list);
base_arena *base_diagnostics_arena(const base_diagnostics *list);

typedef enum base_format { BASE_TEXT, BASE_LINE, BASE_JSON, BASE_SARIF } base_format;
/* Appends all diagnostics, sorted by place within a file, files in order of first mention. colour: ANSI. */
void base_diagnostics_render(const base_diagnostics *list, base_format format, bool colour,
                             base_builder *out);

/* Rows of <module>_codes.def: DIAGNOSTIC(code, "short title", "explanation, several lines, ends without
 * newline") */
#endif
