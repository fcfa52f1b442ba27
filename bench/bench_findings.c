/* SPDX-License-Identifier: Apache-2.0
 * What the findings about tensor memory, work in flight and proxies cost: kernels with them and without, in
 * one process and turn about, by the time of the processor. examples/gemm_tma.ptx, and a kernel that does
 * nothing but load and store tensor memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "ptx/ptx.h"
#include "vm/vm.h"
#include "vm/vm_tensor_map.h"

enum { ROUNDS = 9, SIZE = 1024, STAGES = 4, TEXT_MOST = 1 << 16 };
static const double limit = 1.1;
static base_heap *heap;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each warp goes 16 times over its lanes of 512 columns, 32 columns at a time. */
static const char tmem_kernel[] =
    ".version 8.6\n.target sm_100a\n.address_size 64\n"
    ".visible .entry k()\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %v<32>; .shared .align 4 .b32 slot;\n"
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; setp.ne.u32 %p0, %r1, 0; mov.u32 %r2, slot;\n"
    "@%p0 bra ALLOCATED;\n"
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 512;\n"
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
    "ALLOCATED: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n"
    "ld.shared.u32 %r3, [slot]; shl.b32 %r4, %r1, 21; add.u32 %r4, %r4, %r3;\n"
    "mov.u32 %r5, %r4; mov.u32 %r6, 0;\n"
    "FILL: tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5], {LIST};\n"
    "add.u32 %r5, %r5, 32; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 16; @%p1 bra FILL;\n"
    "tcgen05.wait::st.sync.aligned; mov.u32 %r7, 0;\n"
    "AGAIN: mov.u32 %r5, %r4; mov.u32 %r6, 0;\n"
    "STEP: tcgen05.ld.sync.aligned.32x32b.x32.b32 {LIST}, [%r5]; tcgen05.wait::ld.sync.aligned;\n"
    "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r5], {LIST}; tcgen05.wait::st.sync.aligned;\n"
    "add.u32 %r5, %r5, 32; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 16; @%p1 bra STEP;\n"
    "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 16; @%p1 bra AGAIN;\n"
    "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync; @%p0 bra DONE;\n"
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 512;\nDONE: ret;\n}\n";

/* "LIST": the registers %v0 to %v31. */
static char *with_lists(const char *text) {
    char *out = malloc(TEXT_MOST), *to = out;
    if (!out)
        exit(1);
    for (const char *from = text; *from;)
        if (strncmp(from, "LIST", 4) == 0) {
            for (int i = 0; i < 32; i++)
                to += sprintf(to, "%s%%v%d", i ? ", " : "", i);
            from += 4;
        } else {
            *to++ = *from++;
        }
    *to = 0;
    return out;
}

static char *read_file(const char *name) {
    FILE *file = fopen(name, "r");
    char *text = calloc(1, TEXT_MOST);
    if (!file || !text || fread(text, 1, TEXT_MOST - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    fclose(file);
    return text;
}

static vm_program *load(base_arena *arena, const char *text) {
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    ptx_module *module =
        ptx_parse(arena, diagnostics, base_sources_add(sources, "bench.ptx", text, strlen(text)));
    if (base_diagnostics_errors(diagnostics) != 0) {
        base_builder out;
        base_builder_start(&out, arena);
        base_diagnostics_render(diagnostics, BASE_LINE, false, &out);
        fprintf(stderr, "%s", out.data);
        exit(1);
    }
    return vm_load(arena, module);
}

static double once(vm_program *program, vm_launch *launch, bool unchecked) {
    base_arena *arena = base_arena_create(heap);
    launch->unchecked = unchecked;
    double start = now();
    const vm_result *result = vm_run(arena, program, launch);
    double seconds = now() - start;
    if (result->status != VM_COMPLETE || result->finding_count != 0) {
        fprintf(stderr, "the kernel ended with status %d and %zu findings\n", (int)result->status,
                result->finding_count);
        exit(1);
    }
    base_arena_destroy(arena);
    return seconds;
}

static void row(const char *name, vm_program *program, vm_launch *launch) {
    double with = 1e9, without = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double on = once(program, launch, false), off = once(program, launch, true);
        with = on < with ? on : with;
        without = off < without ? off : without;
    }
    printf("  %-36s%12.2f%12.2f%10.3f%10.2f%s\n", name, 1e3 * with, 1e3 * without, with / without, limit,
           with / without <= limit ? "" : "  OVER THE LIMIT");
}

static void gemm(base_arena *arena, vm_numerics numerics, const char *name) {
    char *text = read_file("examples/gemm_tma.ptx");
    size_t count = (size_t)SIZE * SIZE;
    uint16_t *operands = base_arena_allocate(arena, 2 * count * sizeof *operands);
    for (size_t i = 0; i < 2 * count; i++) /* halves from 0.25 to 2 */
        operands[i] = (uint16_t)(0x3400u + i * 2654435761u % 0xc00u);
    vm_buffer buffers[] = {{.name = "A", .data = operands, .bytes = 2 * count},
                           {.name = "B", .data = operands + count, .bytes = 2 * count},
                           {.name = "D", .data = base_arena_allocate(arena, 4 * count), .bytes = 4 * count}};
    uint8_t maps[3][VM_TENSOR_MAP_BYTES];
    for (unsigned i = 0; i < 3; i++) {
        vm_tensor_map map = {.type = i < 2 ? VM_TENSOR_F16 : VM_TENSOR_F32,
                             .rank = 2,
                             .dim = {SIZE, SIZE},
                             .stride = {SIZE * (i < 2 ? 2 : 4)},
                             .box = {i < 2 ? 64 : 32, i < 2 ? 128 : 32},
                             .step = {1, 1},
                             .swizzle = VM_TENSOR_SWIZZLE_128};
        vm_tensor_map_write(&map, maps[i]);
    }
    uint32_t k = SIZE, stages = STAGES;
    vm_argument arguments[8];
    for (uint32_t i = 0; i < 3; i++) {
        arguments[i] = (vm_argument){
            .kind = VM_ARGUMENT_TENSOR_MAP, .buffer = i, .bytes = maps[i], .size = sizeof maps[i]};
        arguments[3 + i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = i};
    }
    arguments[6] = (vm_argument){.kind = VM_ARGUMENT_BYTES, .bytes = &k, .size = 4};
    arguments[7] = (vm_argument){.kind = VM_ARGUMENT_BYTES, .bytes = &stages, .size = 4};
    vm_launch launch = {.grid = {SIZE / 128, SIZE / 128, 1},
                        .block = {128, 1, 1},
                        .dynamic_shared_bytes = 1024 + 32768 * STAGES,
                        .arguments = arguments,
                        .argument_count = 8,
                        .buffers = buffers,
                        .buffer_count = 3,
                        .threads = 1,
                        .numerics = numerics};
    row(name, load(arena, text), &launch);
    free(text);
}

int main(void) {
    heap = base_heap_create(NULL);
    base_arena *arena = base_arena_create(heap);
    printf("findings about tensor memory, work in flight and proxies, 1 thread\n");
    printf("  %-36s%12s%12s%10s%10s\n", "ms of the processor, least of 9", "with", "without", "ratio",
           "limit");
    gemm(arena, VM_NUMERICS_HW, "GEMM fed by TMA, 1024^3, hw");
    gemm(arena, VM_NUMERICS_FP32, "GEMM fed by TMA, 1024^3, fp32");
    char *text = with_lists(tmem_kernel);
    vm_launch launch = {.grid = {16, 1, 1}, .block = {128, 1, 1}, .threads = 1};
    row("tcgen05.ld and st of tensor memory", load(arena, text), &launch);
    free(text);
    base_arena_destroy(arena);
    base_heap_destroy(heap);
    return 0;
}
