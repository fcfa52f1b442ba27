/* SPDX-License-Identifier: Apache-2.0
 * For test scripts: script_dump ast|fmt|check FILE. Prints the tree or the formatted text to standard output
 * and the diagnostics, one a line, to standard error. Status 1 after errors. Knows only base and script. */
#include "script/script.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dump_job {
    base_heap *heap;
    const char *mode, *name;
    char *text;
    size_t size;
    bool failed;
} dump_job;

static void work(void *argument) {
    dump_job *job = argument;
    base_arena *arena = base_arena_create(job->heap);
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, job->name, job->text, job->size);
    base_builder out, messages;
    base_builder_start(&out, arena);
    base_builder_start(&messages, arena);
    if (strcmp(job->mode, "fmt") == 0) {
        script_format(arena, diagnostics, file, &out);
    } else {
        script_ast *ast = script_parse(arena, diagnostics, file, NULL);
        if (strcmp(job->mode, "ast") == 0)
            script_ast_print(ast, &out);
    }
    base_diagnostics_render(diagnostics, strcmp(job->mode, "text") == 0 ? BASE_TEXT : BASE_LINE, false,
                            &messages);
    if (out.size)
        fwrite(out.data, 1, out.size, stdout);
    if (messages.size)
        fwrite(messages.data, 1, messages.size, stderr);
    job->failed = base_diagnostics_errors(diagnostics) > 0;
    base_arena_destroy(arena);
}

int main(int count, char **arguments) {
    dump_job job = {0};
    FILE *input = count == 3 ? fopen(arguments[2], "rb") : NULL;
    if (!input) {
        fprintf(stderr, "usage: script_dump ast|fmt|check|text FILE\n");
        return 2;
    }
    job.mode = arguments[1];
    job.name = arguments[2];
    size_t capacity = 0, got;
    do {
        if (job.size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(job.text, capacity);
            if (!grown)
                return 2;
            job.text = grown;
        }
        got = fread(job.text + job.size, 1, capacity - job.size, input);
        job.size += got;
    } while (got > 0);
    fclose(input);
    job.heap = base_heap_create(NULL);
    base_outcome outcome = base_heap_run(job.heap, work, &job);
    base_heap_destroy(job.heap);
    free(job.text);
    return outcome != BASE_DONE ? 3 : job.failed;
}
