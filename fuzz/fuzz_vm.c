/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target for the machine: any bytes as PTX text; what parses and verifies is decoded and one CTA
 * of its only entry runs within limits. Whatever the code does, the run ends with a status, memory outside
 * the buffers stays as it was, and the lowest and the best processor level give the same bytes. */
#include "vm/vm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUFFERS = 4, BUFFER_BYTES = 4096, ARGUMENTS = 16, ARGUMENT_BYTES = 256, STEPS = 20000, LEVELS = 2 };

typedef struct job {
    base_heap *heap;
    const uint8_t *data;
    size_t size;
    uint8_t *memory[LEVELS][BUFFERS]; /* one allocation each, so that the sanitizer guards their ends */
} job;

static void different(const char *what, long long first, long long second) {
    fprintf(stderr, "levels differ: %s %lld and %lld\n", what, first, second);
    abort();
}

static bool give_arguments(const ptx_function *entry, vm_launch *launch, vm_argument *arguments,
                           const uint8_t *bytes) {
    launch->argument_count = entry->parameters.count;
    if (entry->parameters.count > ARGUMENTS)
        return false;
    for (size_t i = 0; i < entry->parameters.count; i++) {
        const ptx_variable *parameter = entry->parameters.items[i];
        if (parameter->bytes > ARGUMENT_BYTES)
            return false;
        if (parameter->bytes == 8)
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)i % BUFFERS};
        else
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BYTES, .bytes = bytes, .size = parameter->bytes};
    }
    return true;
}

/* Floats near one in the first buffer, small integers in the second, patterns in the others. */
static void fill(uint8_t *memory, unsigned buffer) {
    for (uint32_t i = 0; i < BUFFER_BYTES / 4; i++) {
        float real = 1.0f + (float)i / 16;
        uint32_t word = buffer == 1 ? i % 37 : i * 2654435761u;
        memcpy(memory + (size_t)i * 4, buffer == 0 ? (const void *)&real : (const void *)&word, 4);
    }
}

static vm_result *launch(const job *j, base_arena *arena, const vm_program *program,
                         const ptx_function *entry, unsigned level) {
    static const uint8_t argument_bytes[ARGUMENT_BYTES] = {7, 1, 0, 0, 64, 0, 0, 0, 0, 0, 128, 63};
    static const uint32_t blocks[] = {32, 1, 64, 33, 96};
    vm_buffer buffers[BUFFERS];
    vm_argument arguments[ARGUMENTS];
    vm_launch wanted = {.kernel = entry->name,
                        .grid = {1, 1, 1},
                        .block = {blocks[j->size % 5], 1, 1},
                        .dynamic_shared_bytes = 1024,
                        .buffers = buffers,
                        .buffer_count = BUFFERS,
                        .arguments = arguments,
                        .threads = 1,
                        .step_limit = STEPS,
                        .memory_limit = (uint64_t)256 << 20,
                        .level = level == 0 ? "x86-64" : NULL};
    for (unsigned i = 0; i < 3 && entry->required_threads[0]; i++)
        wanted.block[i] = entry->required_threads[i] ? entry->required_threads[i] : 1;
    if (!give_arguments(entry, &wanted, arguments, argument_bytes))
        return NULL;
    for (unsigned i = 0; i < BUFFERS; i++) {
        fill(j->memory[level][i], i);
        buffers[i] = (vm_buffer){.name = "buffer",
                                 .data = j->memory[level][i],
                                 .bytes = BUFFER_BYTES,
                                 .read_only = i == BUFFERS - 1};
    }
    return vm_run(arena, program, &wanted);
}

static void compare(const job *j, const vm_result *first, const vm_result *second) {
    if (first == NULL || second == NULL || first->status == VM_NO_MEMORY || second->status == VM_NO_MEMORY)
        return;
    if (first->status != second->status)
        different("status", first->status, second->status);
    if (first->finding_count != second->finding_count)
        different("findings", (long long)first->finding_count, (long long)second->finding_count);
    for (unsigned i = 0; i < BUFFERS; i++)
        for (unsigned byte = 0; byte < BUFFER_BYTES; byte++)
            if (j->memory[0][i][byte] != j->memory[1][i][byte])
                different("buffer and byte", i, byte);
}

static void one_input(void *argument) {
    job *j = argument;
    base_arena *arena = base_arena_create(j->heap);
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz.ptx", (const char *)j->data, j->size);
    const ptx_module *module = ptx_parse(arena, diagnostics, file);
    if (module == NULL || base_diagnostics_errors(diagnostics) > 0 || !ptx_verify(module, false))
        return;
    const vm_program *program = vm_load(arena, module);
    base_builder text;
    base_builder_start(&text, arena);
    base_diagnostics_render(diagnostics, BASE_TEXT, false, &text);
    const ptx_function *entry = NULL;
    for (size_t i = 0; i < module->functions.count && entry == NULL; i++)
        if (module->functions.items[i]->is_entry && module->functions.items[i]->has_body)
            entry = module->functions.items[i];
    if (program == NULL || entry == NULL)
        return;
    vm_result *results[LEVELS];
    for (unsigned level = 0; level < LEVELS; level++)
        results[level] = launch(j, arena, program, entry, level);
    compare(j, results[0], results[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    job j = {base_heap_create(&(base_heap_options){.limit_bytes = (size_t)512 << 20}), data, size, {{0}}};
    bool complete = j.heap != NULL;
    for (unsigned i = 0; i < LEVELS * BUFFERS; i++) {
        j.memory[i / BUFFERS][i % BUFFERS] = malloc(BUFFER_BYTES);
        complete &= j.memory[i / BUFFERS][i % BUFFERS] != NULL;
    }
    if (complete)
        base_heap_run(j.heap, one_input, &j);
    for (unsigned i = 0; i < LEVELS * BUFFERS; i++)
        free(j.memory[i / BUFFERS][i % BUFFERS]);
    base_heap_destroy(j.heap);
    return 0;
}
