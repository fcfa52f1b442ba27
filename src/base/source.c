/* SPDX-License-Identifier: Apache-2.0
 * Source map. The line table of a file is made when a place in it is first asked for; most files never need
 * one. Because of that, even the reading functions belong to the heap's thread. */
#include "base/source.h"
#include <string.h>

#define SOURCE_LARGEST ((size_t)1 << 30)

typedef struct source_file {
    const char *name;
    base_text text;
    uint32_t *starts; /* offset of the first byte of each line; NULL: not made yet */
    uint32_t line_count;
} source_file;

struct base_sources {
    base_arena *arena;
    BASE_VECTOR(source_file *) files;
};

base_sources *base_sources_create(base_arena *arena) {
    base_sources *sources = BASE_NEW(arena, base_sources);
    sources->arena = arena;
    return sources;
}

uint32_t base_sources_add(base_sources *sources, const char *name, const char *text, size_t size) {
    if (size > SOURCE_LARGEST || sources->files.count >= UINT32_MAX)
        base_heap_escape(base_arena_heap(sources->arena), BASE_LIMIT_REACHED);
    source_file *file = BASE_NEW(sources->arena, source_file);
    file->name = base_arena_string(sources->arena, name, strlen(name));
    file->text = (base_text){base_arena_string(sources->arena, text, size), size};
    base_vector_push(sources->arena, &sources->files, file);
    return (uint32_t)sources->files.count;
}

size_t base_sources_count(const base_sources *sources) {
    return sources->files.count;
}

static source_file *file_at(const base_sources *sources, uint32_t file) {
    return file == 0 || file > sources->files.count ? NULL : sources->files.items[file - 1];
}

const char *base_source_name(const base_sources *sources, uint32_t file) {
    const source_file *f = file_at(sources, file);
    return f == NULL ? "" : f->name;
}

base_text base_source_text(const base_sources *sources, uint32_t file) {
    const source_file *f = file_at(sources, file);
    return f == NULL ? (base_text){"", 0} : f->text;
}

static void make_line_table(const base_sources *sources, source_file *file) {
    if (file->starts != NULL)
        return;
    const char *begin = file->text.data, *end = begin + file->text.size;
    size_t lines = 1;
    for (const char *p = begin; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        lines++;
    uint32_t *starts = BASE_NEW_ARRAY(sources->arena, uint32_t, lines);
    size_t line = 1;
    for (const char *p = begin; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        starts[line++] = (uint32_t)(p + 1 - begin);
    file->line_count = (uint32_t)lines;
    file->starts = starts;
}

base_place base_span_place(const base_sources *sources, base_span span) {
    source_file *file = file_at(sources, span.file);
    if (file == NULL)
        return (base_place){"", 0, 0};
    make_line_table(sources, file);
    uint32_t offset = span.begin <= file->text.size ? span.begin : (uint32_t)file->text.size;
    uint32_t low = 0, high = file->line_count; /* starts[low] <= offset < starts[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (file->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return (base_place){file->name, low + 1, offset - file->starts[low] + 1};
}

base_text base_source_line(const base_sources *sources, uint32_t file, uint32_t line) {
    source_file *f = file_at(sources, file);
    if (f == NULL || line == 0)
        return (base_text){"", 0};
    make_line_table(sources, f);
    if (line > f->line_count)
        return (base_text){"", 0};
    size_t begin = f->starts[line - 1];
    size_t end = line == f->line_count ? f->text.size : f->starts[line] - 1;
    if (end > begin && line < f->line_count && f->text.data[end - 1] == '\r')
        end--;
    return (base_text){f->text.data + begin, end - begin};
}

base_span base_span_join(base_span a, base_span b) {
    if (a.file == 0)
        return b;
    if (a.file != b.file)
        return a;
    return (base_span){a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
