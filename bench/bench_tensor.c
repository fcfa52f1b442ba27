/* SPDX-License-Identifier: Apache-2.0
 * The matrix unit of Blackwell on the machine: examples/gemm_tcgen05.ptx, f16 to f32, by numerics and
 * processor level, beside OpenBLAS's sgemm of the same size when the system has one. Results are compared,
 * times are medians. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tirc.h"

enum { ROUNDS = 5 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
static double median(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_value);
    return times[count / 2];
}

/* Multiples of 1/8 in [-4, 4): exact in f16, so that sgemm of the same numbers is comparable. */
static void fill(uint16_t *half, float *single, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int eighths = (int)(seed >> 58) - 32;
        single[i] = (float)eighths / 8;
        unsigned magnitude = (unsigned)abs(eighths),
                 top = magnitude ? 31 - (unsigned)__builtin_clz(magnitude) : 0;
        half[i] =
            magnitude
                ? (uint16_t)((eighths < 0) << 15 | (15 - 3 + top) << 10 | (magnitude << (10 - top) & 1023))
                : 0;
    }
}

static char *read_file(const char *name) {
    FILE *file = fopen(name, "r");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(1);
    }
    fclose(file);
    return text;
}

typedef struct problem {
    uint32_t n;
    uint16_t *a, *b;
    float *a32, *b32, *d, *reference;
} problem;

static double machine(const problem *p, tirc_numerics numerics, const char *level, uint32_t threads,
                      int rounds) {
    tirc_session *session = tirc_session_create(NULL);
    char *text = read_file("examples/gemm_tcgen05.ptx");
    tirc_source source = {
        .size = sizeof source, .name = "examples/gemm_tcgen05.ptx", .text = text, .text_size = strlen(text)};
    tirc_module *module = NULL;
    double times[ROUNDS], result = NAN;
    if (tirc_load(session, &source, &module) == TIRC_OK) {
        uint32_t n = p->n;
        tirc_argument arguments[] = {{.name = "A", .data = p->a, .bytes = (uint64_t)n * n * 2},
                                     {.name = "B", .data = p->b, .bytes = (uint64_t)n * n * 2},
                                     {.name = "D", .data = p->d, .bytes = (uint64_t)n * n * 4},
                                     {.name = "N", .data = &n, .bytes = 4, .is_scalar = true},
                                     {.name = "K", .data = &n, .bytes = 4, .is_scalar = true}};
        tirc_launch launch = {.size = sizeof launch,
                              .arguments = arguments,
                              .argument_count = 5,
                              .grid = {n / 128, n / 128, 1},
                              .block = {128, 1, 1},
                              .threads = threads,
                              .level = level,
                              .numerics = numerics};
        tirc_status status = TIRC_OK;
        for (int round = 0; round < rounds && status == TIRC_OK; round++) {
            double start = now();
            status = tirc_run(module, &launch, NULL);
            times[round] = now() - start;
        }
        if (status == TIRC_OK)
            result = median(times, rounds);
    }
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    tirc_session_destroy(session);
    free(text);
    return result;
}

typedef void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);
static double blas(const problem *p, int threads) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    sgemm call = library ? (sgemm)(intptr_t)dlsym(library, "cblas_sgemm") : NULL;
    void (*set)(int) = library ? (void (*)(int))(intptr_t)dlsym(library, "openblas_set_num_threads") : NULL;
    double times[ROUNDS];
    if (!call)
        return NAN;
    if (set)
        set(threads);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        call(101, 111, 112, (int)p->n, (int)p->n, (int)p->n, 1, p->a32, (int)p->n, p->b32, (int)p->n, 0,
             p->reference, (int)p->n);
        times[round] = now() - start;
    }
    return median(times, ROUNDS);
}

static void table(uint32_t n, uint32_t threads, int rounds, bool all) {
    static const char *const levels[] = {"x86-64-v4", "x86-64-v3"};
    problem p = {.n = n};
    size_t count = (size_t)n * n;
    p.a = malloc(count * 2), p.b = malloc(count * 2), p.a32 = malloc(count * 4), p.b32 = malloc(count * 4);
    p.d = calloc(count, 4), p.reference = calloc(count, 4);
    if (!p.a || !p.b || !p.a32 || !p.b32 || !p.d || !p.reference)
        exit(1);
    fill(p.a, p.a32, count, 1);
    fill(p.b, p.b32, count, 2);
    double peer = blas(&p, (int)threads);
    printf("%u^3 f16 tcgen05 GEMM, %u thread%s: ", n, threads, threads == 1 ? "" : "s");
    if (isnan(peer))
        printf("no OpenBLAS here\n");
    else
        printf("OpenBLAS sgemm %.1f ms\n", 1e3 * peer);
    for (int l = 0; l < 2; l++)
        for (int numerics = 0; numerics < (all ? 2 : 1); numerics++) {
            double time = machine(&p, (tirc_numerics)numerics, levels[l], threads, rounds);
            bool same = true; /* the sums are exact in every numerics */
            for (size_t i = 0; !isnan(peer) && i < count; i++)
                same = same && p.d[i] == p.reference[i];
            if (!isnan(time))
                printf("  %-10s %-5s %8.1f ms%s\n", levels[l], numerics == 0 ? "hw" : "fp32", 1e3 * time,
                       same ? "" : "  RESULTS DIFFER");
        }
    free(p.a), free(p.b), free(p.a32), free(p.b32), free(p.d), free(p.reference);
}

int main(int count, char **words) {
    table(1024, 1, ROUNDS, true);
    if (count > 1 && !strcmp(words[1], "large"))
        table(4096, 2, 1, false);
    return 0;
}
