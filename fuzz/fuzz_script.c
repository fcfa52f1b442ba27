/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: any bytes as a script. Parsing ends with a tree or reports; the tree prints; formatting keeps
 * the tree of a text that parsed, and formatting again changes nothing. */
#include "script/script.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_input {
    base_heap *heap;
    const char *text;
    size_t size;
} fuzz_input;

static void must(bool good) {
    if (!good)
        abort();
}

/* The printed tree without places: " @1:2-3:4" at the ends of lines. Empty when the text does not parse. */
static base_builder tree_of(base_arena *arena, const char *text, size_t size) {
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    script_ast *ast = script_parse(arena, list, base_sources_add(sources, "fuzz", text, size), NULL);
    base_builder tree, plain;
    base_builder_start(&tree, arena);
    base_builder_start(&plain, arena);
    script_ast_print(ast, &tree);
    for (size_t i = 0; i < tree.size && base_diagnostics_errors(list) == 0;) {
        const char *line = tree.data + i;
        size_t length = (size_t)(strchr(line, '\n') - line), end = length;
        while (end > 0 && strchr("0123456789:-", line[end - 1]))
            end--;
        bool place = end >= 2 && end < length && line[end - 1] == '@' && line[end - 2] == ' ';
        base_builder_add(&plain, line, place ? end - 2 : length);
        base_builder_char(&plain, '\n');
        i += length + 1;
    }
    return plain;
}

static bool format(base_arena *arena, const char *text, size_t size, base_builder *out) {
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz", text, size);
    base_builder_start(out, arena);
    return script_format(arena, list, file, out);
}

static void one_input(void *argument) {
    fuzz_input *input = argument;
    base_arena *arena = base_arena_create(input->heap);
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz", input->text, input->size);
    script_ast *ast = script_parse(arena, list, file, NULL);
    base_builder out, once, twice;
    base_builder_start(&out, arena);
    script_ast_print(ast, &out);
    base_diagnostics_render(list, BASE_TEXT, false, &out);
    bool good = format(arena, input->text, input->size, &once);
    must(good == (base_diagnostics_errors(list) == 0));
    if (good) {
        must(format(arena, once.data ? once.data : "", once.size, &twice));
        base_builder before = tree_of(arena, input->text, input->size);
        base_builder after = tree_of(arena, once.data ? once.data : "", once.size);
        must(before.size == after.size && memcmp(before.data, after.data, before.size) == 0);
        must(once.size == twice.size && (once.size == 0 || memcmp(once.data, twice.data, once.size) == 0));
    }
    base_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input input = {base_heap_create(NULL), (const char *)data, size};
    must(base_heap_run(input.heap, one_input, &input) == BASE_DONE);
    base_heap_destroy(input.heap);
    return 0;
}
