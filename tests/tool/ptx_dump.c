/* SPDX-License-Identifier: Apache-2.0
 * Test tool over the PTX module: reads a file, prints it or facts about it.
 *   ptx_dump [--print | --print-lines | --stats | --roundtrip | --verify] FILE
 * --roundtrip: parse, print, parse, compare; with and without lines. Exit 0 when it did what was asked, 1
 * otherwise. */
#include "ptx/ptx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const char *mode, *path;
    base_arena *arena;
    base_diagnostics *diagnostics;
    base_sources *sources;
    int status;
} job;

static char *read_all(const char *path, size_t *size) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, room = 0, got = 0;
    if (file == NULL) {
        return NULL;
    }
    do {
        used += got;
        if (room - used < 65536) {
            room = room * 2 + 131072;
            char *larger = realloc(text, room);
            if (larger == NULL) {
                free(text);
                fclose(file);
                return NULL;
            }
            text = larger;
        }
        got = fread(text + used, 1, room - used - 1, file);
    } while (got > 0);
    text[used] = '\0';
    *size = used;
    fclose(file);
    return text;
}

static void show_diagnostics(const job *j) {
    base_builder out;
    base_builder_start(&out, j->arena);
    base_diagnostics_render(j->diagnostics, BASE_TEXT, false, &out);
    fwrite(out.data, 1, out.size, stderr);
}

static void roundtrip(job *j, const ptx_module *module) {
    for (int lines = 0; lines < 2; lines++) {
        base_builder text, difference;
        base_builder_start(&text, j->arena);
        base_builder_start(&difference, j->arena);
        ptx_print(module, &(ptx_print_options){.lines = lines, .origins = true}, &text);
        uint32_t file = base_sources_add(j->sources, "printed.ptx", text.data, text.size);
        const ptx_module *again = ptx_parse(j->arena, j->diagnostics, file);
        if (base_diagnostics_errors(j->diagnostics) > 0 || again == NULL) {
            fprintf(stderr, "the printed text does not parse\n");
            j->status = 1;
            return;
        }
        if (!ptx_module_equal(module, again, lines, true, &difference)) {
            fprintf(stderr, "not equal after printing: %s\n", difference.data);
            j->status = 1;
        }
    }
}

static void stats(job *j, const ptx_module *module) {
    size_t instructions = 0, blocks = 0, registers = 0;
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = module->functions.items[i];
        const ptx_graph *graph = ptx_graph_build(j->arena, function);
        const ptx_liveness *live = ptx_liveness_compute(j->arena, function, graph);
        instructions += function->instructions.count;
        blocks += graph->block_count;
        registers += live->virtual_registers;
    }
    uint32_t version = ptx_module_minimum_version(module);
    printf("functions %zu instructions %zu blocks %zu registers %zu minimum-version %u.%u\n",
           module->functions.count, instructions, blocks, registers, version / 10, version % 10);
}

static void run(void *argument) {
    job *j = argument;
    size_t size = 0;
    char *text = read_all(j->path, &size);
    if (text == NULL) {
        fprintf(stderr, "cannot read %s\n", j->path);
        j->status = 2;
        return;
    }
    j->sources = base_sources_create(j->arena);
    j->diagnostics = base_diagnostics_create(j->arena, j->sources);
    uint32_t file = base_sources_add(j->sources, j->path, text, size);
    free(text);
    const ptx_module *module = ptx_parse(j->arena, j->diagnostics, file);
    bool parsed = module != NULL && base_diagnostics_errors(j->diagnostics) == 0;
    j->status = parsed ? 0 : 1;
    if (parsed && strncmp(j->mode, "--print", 7) == 0) {
        base_builder out;
        base_builder_start(&out, j->arena);
        ptx_print(module,
                  &(ptx_print_options){.lines = strcmp(j->mode, "--print-lines") == 0, .origins = true},
                  &out);
        fwrite(out.data, 1, out.size, stdout);
    } else if (parsed && strcmp(j->mode, "--stats") == 0) {
        stats(j, module);
    } else if (parsed && strcmp(j->mode, "--roundtrip") == 0) {
        roundtrip(j, module);
    } else if (parsed && strcmp(j->mode, "--verify") == 0) {
        j->status = ptx_verify(module, false) ? 0 : 1;
    }
    show_diagnostics(j);
}

int main(int argc, char **argv) {
    job j = {.mode = argc > 2 ? argv[1] : "--verify", .path = argc > 2 ? argv[2] : argc > 1 ? argv[1] : "-"};
    base_heap *heap = base_heap_create(NULL);
    if (heap == NULL) {
        return 2;
    }
    j.arena = base_arena_create(heap);
    if (base_heap_run(heap, run, &j) != BASE_DONE) {
        fprintf(stderr, "out of memory\n");
        j.status = 2;
    }
    base_heap_destroy(heap);
    return j.status;
}
