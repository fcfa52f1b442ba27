/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target of the IR's text form: any bytes are parsed without a crash; what parses is verified in both
 * forms, printed, read back, and must be the same text and an equal function. A copy must be equal too. */
#include "ir/ir.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    base_heap *heap;
    const char *text;
    size_t size;
} input;

static void fail(const char *what, const char *first, const char *second) {
    fprintf(stderr, "%s\n---- first\n%s\n---- second\n%s\n", what, first, second);
    abort();
}

static ir_module *parse(base_arena *arena, const char *text, size_t size, base_builder *told) {
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    ir_module *module =
        ir_module_parse(arena, diagnostics, base_sources_add(sources, "fuzz.tir", text, size));
    base_builder_start(told, arena);
    base_diagnostics_render(diagnostics, BASE_TEXT, false, told);
    return module;
}

static void round_trip(void *user) {
    input *in = user;
    base_arena *arena = base_arena_create(in->heap);
    base_builder first, second, told;
    ir_module *module = parse(arena, in->text, in->size, &told);
    if (!module)
        return;
    ir_verify(module, IR_FORM_TENSOR);
    ir_verify(module, IR_FORM_FLAT);
    base_builder_start(&first, arena);
    base_builder_start(&second, arena);
    ir_module_print(module, &first);
    ir_module *again = parse(arena, first.data, first.size, &told);
    if (!again)
        fail("the printed text does not parse", first.data, told.data);
    ir_module_print(again, &second);
    if (strcmp(first.data, second.data) != 0)
        fail("the printed text changed", first.data, second.data);
    for (size_t i = 0; i < module->functions.count; i++) {
        base_builder difference;
        base_builder_start(&difference, arena);
        if (!ir_function_equal(module->functions.items[i], again->functions.items[i], &difference) ||
            !ir_function_equal(ir_function_copy(module->functions.items[i]), module->functions.items[i],
                               &difference))
            fail("functions differ", first.data, difference.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {base_heap_create(&(base_heap_options){.limit_bytes = (size_t)256 << 20}), (const char *)data,
                size};
    if (in.heap)
        base_heap_run(in.heap, round_trip, &in);
    base_heap_destroy(in.heap);
    return 0;
}
