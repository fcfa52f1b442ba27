/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: any bytes as a script that is evaluated. Evaluation ends with reports or with IR that verifies.
 */
#include "script/script.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_input {
    base_heap *heap;
    const char *text;
    size_t size;
} fuzz_input;

static void one_input(void *argument) {
    static const script_options options = {.step_limit = 5000};
    fuzz_input *input = argument;
    base_arena *arena = base_arena_create(input->heap);
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz", input->text, input->size);
    script_ast *ast = script_parse(arena, list, file, &options);
    ir_module *module = script_evaluate(arena, list, ast, NULL, &options);
    base_builder out;
    base_builder_start(&out, arena);
    if (base_diagnostics_errors(list) == 0) {
        if (!ir_verify(module, IR_FORM_TENSOR))
            abort();
        ir_module_print(module, &out);
    }
    base_diagnostics_render(list, BASE_TEXT, false, &out);
    base_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {base_heap_create(&(base_heap_options){.limit_bytes = (size_t)1 << 30}),
                        (const char *)data, size};
    base_heap_run(input.heap, one_input, &input); /* the memory limit is an answer too */
    base_heap_destroy(input.heap);
    return 0;
}
