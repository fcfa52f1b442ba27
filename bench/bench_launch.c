/* SPDX-License-Identifier: Apache-2.0
 * bench_launch DRIVER.so: what a launch through libtirc costs on the processor, beside the call into a driver
 * that does nothing (driver_empty.c). What a real driver adds is the same on both sides; make bench-gpu shows
 * it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tirc.h"

enum { ROUNDS = 15, CALLS = 100000, NAMED_CALLS = 2000 };

static const char script[] =
    "from tvm_tirx.script import tirx as Tx\n"
    "N = 4\n"
    "@Tx.function\n"
    "def scale(A: Tx.Tensor((N, 32), \"float32\"), B: Tx.Tensor((N, 32), \"float32\"), factor: Tx.float32):\n"
    "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(N,), block=(32,)))\n"
    "    row = Tx.cuda.block_idx(\"x\")\n"
    "    t = Tx.cuda.thread_idx(\"x\")\n"
    "    B[row, t] = A[row, t] * factor\n";

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double less(double a, double b) {
    return a < b ? a : b;
}

int main(int count, char **words) {
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
    int (*bare)(const void *, void *, void **, void **) = NULL;
    if (library)
        *(void **)(void *)&bare = dlsym(library, "cuLaunchKernelEx");
    tirc_session *session = tirc_session_create(NULL);
    tirc_source source = {.size = sizeof source,
                          .name = "scale.py",
                          .text = script,
                          .text_size = sizeof script - 1,
                          .kind = TIRC_KIND_SCRIPT};
    tirc_module *module;
    tirc_gpu *gpu;
    tirc_gpu_kernel *kernel;
    if (!bare || setenv("TIRC_LIBCUDA", words[1], 1) != 0 ||
        tirc_load(session, &source, &module) != TIRC_OK || tirc_gpu_open(session, 0, &gpu) != TIRC_OK ||
        tirc_gpu_load(gpu, module, NULL, NULL, &kernel) != TIRC_OK) {
        tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
        return 1;
    }
    uint64_t a = UINT64_C(0x7f0000000000);
    float factor = 2;
    int64_t shape[2] = {4, 32};
    void *values[] = {&a, &a, &factor};
    tirc_gpu_launch launch = {
        .size = sizeof launch, .grid = {4, 1, 1}, .block = {32, 1, 1}, .parameters = values};
    tirc_argument named[3] = {
        {.name = "A",
         .data = (void *)(uintptr_t)a,
         .dtype = "float32",
         .rank = 2,
         .shape = shape,
         .bytes = 512},
        {.name = "B",
         .data = (void *)(uintptr_t)a,
         .dtype = "float32",
         .rank = 2,
         .shape = shape,
         .bytes = 512},
        {.name = "factor", .data = &factor, .dtype = "float32", .bytes = 4, .is_scalar = true}};
    double none = 1, ours = 1, by_name = 1;
    int failed = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        double start = now();
        for (int i = 0; i < CALLS; ++i)
            failed |= bare(&launch, kernel, values, NULL);
        double middle = now();
        for (int i = 0; i < CALLS; ++i)
            failed |= tirc_gpu_start(kernel, &launch) != TIRC_OK;
        double end = now();
        for (int i = 0; i < NAMED_CALLS; ++i)
            failed |= tirc_gpu_call(kernel, named, 3, NULL) != TIRC_OK;
        none = less(none, (middle - start) / CALLS);
        ours = less(ours, (end - middle) / CALLS);
        by_name = less(by_name, (now() - end) / NAMED_CALLS);
    }
    double more = 1e9 * (ours - none);
    printf("launch by pointers: %.0f ns beyond a bare driver call (at most 300)%s; by name, shapes checked: "
           "%.1f us\n",
           more, more > 300 ? "  MISSED" : "", 1e6 * by_name);
    tirc_gpu_close(gpu);
    tirc_session_destroy(session);
    return failed;
}
