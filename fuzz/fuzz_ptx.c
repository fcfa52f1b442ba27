/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target for PTX text: whatever the bytes, diagnostics and no crash; what parses comes back equal
 * from its print, and verifier, graph and liveness take it. */
#include "ptx/ptx.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct job {
    base_arena *arena;
    const uint8_t *data;
    size_t size;
} job;

static void complain(const char *what, const char *detail) {
    fprintf(stderr, "%s: %s\n", what, detail);
    abort();
}

static void analyse(base_arena *arena, const ptx_module *module) {
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_graph *graph = ptx_graph_build(arena, module->functions.items[i]);
        const ptx_liveness *live = ptx_liveness_compute(arena, module->functions.items[i], graph);
        if (live->virtual_registers > module->functions.items[i]->registers.count) {
            complain("liveness", "more registers than there are");
        }
    }
}

static void run(void *argument) {
    job *j = argument;
    base_sources *sources = base_sources_create(j->arena);
    base_diagnostics *diagnostics = base_diagnostics_create(j->arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz.ptx", (const char *)j->data, j->size);
    const ptx_module *module = ptx_parse(j->arena, diagnostics, file);
    base_builder text, difference;
    base_builder_start(&text, j->arena);
    base_builder_start(&difference, j->arena);
    base_diagnostics_render(diagnostics, BASE_TEXT, false, &text);
    if (module == NULL || base_diagnostics_errors(diagnostics) > 0) {
        return;
    }
    analyse(j->arena, module);
    base_builder_start(&text, j->arena);
    ptx_print(module, &(ptx_print_options){.lines = true, .origins = true}, &text);
    file = base_sources_add(sources, "printed.ptx", text.data, text.size);
    const ptx_module *again = ptx_parse(j->arena, diagnostics, file);
    if (again == NULL || base_diagnostics_errors(diagnostics) > 0) {
        base_builder shown;
        base_builder_start(&shown, j->arena);
        base_diagnostics_render(diagnostics, BASE_TEXT, false, &shown);
        complain("the printed text does not parse", shown.data);
    }
    if (!ptx_module_equal(module, again, true, true, &difference)) {
        complain("not equal after printing", difference.data);
    }
    ptx_verify(module, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    base_heap *heap = base_heap_create(&(base_heap_options){.limit_bytes = (size_t)1 << 30});
    if (heap == NULL) {
        return 0;
    }
    job j = {base_arena_create(heap), data, size};
    base_heap_run(heap, run, &j);
    base_heap_destroy(heap);
    return 0;
}
