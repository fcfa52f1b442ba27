/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target for the machine: whatever PTX parses is decoded, and every kernel runs with a small launch
 * and buffers for its parameters; no crash, no hang, and the same result with one worker and with two. */
#include "vm/vm.h"
#include <string.h>

enum { BUFFER_BYTES = 4096, ARGUMENTS = 16 };

typedef struct job {
    base_arena *arena;
    const uint8_t *data;
    size_t size;
} job;

static void launch_kernel(base_arena *arena, const vm_program *program, const ptx_function *kernel,
                          uint32_t threads) {
    static uint8_t memory[BUFFER_BYTES];
    uint8_t *bytes = base_arena_allocate(arena, BUFFER_BYTES);
    vm_buffer buffer = {.name = "buffer", .data = memory, .bytes = BUFFER_BYTES};
    vm_argument arguments[ARGUMENTS] = {{0}};
    memset(memory, 0, sizeof memory);
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        uint64_t size = kernel->parameters.items[i]->bytes;
        if (size == 8)
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER};
        else
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BYTES, .bytes = bytes, .size = size};
        if (size > BUFFER_BYTES)
            return;
    }
    vm_launch launch = {.kernel = kernel->name, .grid = {3, 1, 1}, .block = {40, 1, 1}, .threads = threads};
    launch.dynamic_shared_bytes = 256;
    launch.arguments = arguments;
    launch.argument_count = kernel->parameters.count;
    launch.buffers = &buffer;
    launch.buffer_count = 1;
    launch.step_limit = 20000;
    launch.memory_limit = (uint64_t)1 << 29;
    vm_run(arena, program, &launch);
}

static void run(void *argument) {
    job *j = argument;
    base_sources *sources = base_sources_create(j->arena);
    base_diagnostics *diagnostics = base_diagnostics_create(j->arena, sources);
    uint32_t file = base_sources_add(sources, "fuzz.ptx", (const char *)j->data, j->size);
    const ptx_module *module = ptx_parse(j->arena, diagnostics, file);
    if (module == NULL || base_diagnostics_errors(diagnostics) > 0)
        return;
    vm_program *program = vm_load(j->arena, module);
    for (size_t i = 0; program != NULL && i < module->functions.count; i++) {
        const ptx_function *kernel = module->functions.items[i];
        if (!kernel->is_entry || !kernel->has_body || kernel->parameters.count > ARGUMENTS)
            continue;
        launch_kernel(j->arena, program, kernel, 1);
        launch_kernel(j->arena, program, kernel, 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    base_heap *heap = base_heap_create(&(base_heap_options){.limit_bytes = (size_t)1 << 30});
    if (heap == NULL)
        return 0;
    job j = {base_arena_create(heap), data, size};
    base_heap_run(heap, run, &j);
    base_heap_destroy(heap);
    return 0;
}
