/* SPDX-License-Identifier: Apache-2.0
 * Source map: files by number, byte offset to line and column. */
#ifndef TIRC_BASE_SOURCE_H
#define TIRC_BASE_SOURCE_H
#include "base/text.h"

/* A place: bytes [begin, end) of a file. file 0 means "no place". */
typedef struct base_span {
    uint32_t file, begin, end;
} base_span;
#define BASE_NO_SPAN ((base_span){0, 0, 0})

typedef struct base_sources base_sources;
base_sources *base_sources_create(base_arena *arena);
/* Copies name and text; returns the file's number, from 1. Text over 1 GiB escapes with BASE_LIMIT_REACHED.
 */
uint32_t base_sources_add(base_sources *sources, const char *name, const char *text, size_t size);
size_t base_sources_count(const base_sources *sources);
const char *base_source_name(const base_sources *sources, uint32_t file); /* "" for file 0 */
base_text base_source_text(const base_sources *sources, uint32_t file);

typedef struct base_place {
    const char *name;
    uint32_t line, column; /* from 1; column counts bytes; 0 when there is no place */
} base_place;
base_place base_span_place(const base_sources *sources, base_span span);
base_text base_source_line(const base_sources *sources, uint32_t file, uint32_t line); /* without newline */
base_span base_span_join(base_span a, base_span b); /* smallest span over both (same file), else a */
#endif
