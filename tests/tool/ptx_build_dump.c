/* SPDX-License-Identifier: Apache-2.0
 * Test tool over lowering and the PTX writer: reads the IR's text form, prints the PTX.
 *   ptx_build_dump [--target sm_90a] [--skip PASSES] [--after PASS|all] [--no-contract] [--origins]
 * [--verify] FILE Exit 0 when the module was built (and, with --verify, is well formed), 1 otherwise. */
#include "assemble/ptx_build.h"
#include <stdio.h>
#include <string.h>

typedef struct job {
    const char *path, *target, *skip, *after;
    bool no_contract, origins, verify;
    base_arena *arena;
    int status;
} job;

static const char *read_all(base_arena *arena, const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    base_builder text;
    char piece[4096];
    if (!file)
        return NULL;
    base_builder_start(&text, arena);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        base_builder_add(&text, piece, got);
    fclose(file);
    *size = text.size;
    return text.data ? text.data : "";
}

static void build(job *j, base_diagnostics *diagnostics, uint32_t file, base_builder *out) {
    ir_module *module = ir_module_parse(j->arena, diagnostics, file);
    if (!module)
        return;
    lower_options options = {
        .goal = LOWER_FOR_PTX, .verify = true, .skip = j->skip, .dump_after = j->after, .dump = out};
    lower_result *lowered = lower_module(j->arena, module, &options);
    if (!lowered)
        return;
    ptx_build_options building = {.target = j->target, .contract = !j->no_contract};
    ptx_module *ptx = ptx_build(j->arena, lowered, &building);
    if (!ptx)
        return;
    if (!j->after)
        ptx_print(ptx, &(ptx_print_options){.origins = j->origins}, out);
    j->status = j->verify && !ptx_verify(ptx, true);
}

static void run(void *argument) {
    job *j = argument;
    size_t size = 0;
    const char *text = read_all(j->arena, j->path, &size);
    if (!text) {
        fprintf(stderr, "cannot read %s\n", j->path);
        return;
    }
    base_sources *sources = base_sources_create(j->arena);
    base_diagnostics *diagnostics = base_diagnostics_create(j->arena, sources);
    base_builder out;
    base_builder_start(&out, j->arena);
    build(j, diagnostics, base_sources_add(sources, j->path, text, size), &out);
    if (out.data)
        fputs(out.data, stdout);
    base_builder messages;
    base_builder_start(&messages, j->arena);
    base_diagnostics_render(diagnostics, BASE_LINE, false, &messages);
    if (messages.data)
        fputs(messages.data, stderr);
}

int main(int count, char **words) {
    job j = {.status = 1};
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--target") && i + 1 < count)
            j.target = words[++i];
        else if (!strcmp(words[i], "--skip") && i + 1 < count)
            j.skip = words[++i];
        else if (!strcmp(words[i], "--after") && i + 1 < count)
            j.after = words[++i];
        else if (!strcmp(words[i], "--no-contract"))
            j.no_contract = true;
        else if (!strcmp(words[i], "--origins"))
            j.origins = true;
        else if (!strcmp(words[i], "--verify"))
            j.verify = true;
        else
            j.path = words[i];
    }
    if (!j.path)
        return 1;
    base_heap *heap = base_heap_create(NULL);
    j.arena = base_arena_create(heap);
    if (base_heap_run(heap, run, &j) != BASE_DONE)
        j.status = 1;
    base_heap_destroy(heap);
    return j.status;
}
