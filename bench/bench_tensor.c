/* SPDX-License-Identifier: Apache-2.0
 * The matrix unit of Blackwell on the machine: examples/gemm_tma.ptx, f16 to f32, by numerics and processor
 * level, and examples/gemm/tma.py against it, beside the floors and OpenBLAS's sgemm of the same size when
 * the system has one. Results are compared with sgemm's or else with sums in f64 of some rows; the inputs are
 * such that both are exact. Of several times the least counts, the median and the processor's time stand
 * beside it: other work on the processor only adds. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tirc.h"

enum { ROUNDS = 5 };

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
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

/* Halves from 2^-6 to 1 of either sign with all their bits: products lose some when they are added. */
static void fill_full(uint16_t *half, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned bits = (unsigned)(seed >> 40);
        half[i] = (uint16_t)((bits & 0x83ffu) | (9 + (bits >> 16) % 6) << 10);
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

typedef struct timing {
    double least, median, processor; /* seconds; NAN: it did not run */
} timing;
typedef struct stopwatch {
    double start, processor_start, times[ROUNDS], processor[ROUNDS];
    int rounds;
} stopwatch;
static void watch_start(stopwatch *w) {
    w->processor_start = now(CLOCK_PROCESS_CPUTIME_ID);
    w->start = now(CLOCK_MONOTONIC);
}
static void watch_stop(stopwatch *w) {
    w->times[w->rounds] = now(CLOCK_MONOTONIC) - w->start;
    w->processor[w->rounds++] = now(CLOCK_PROCESS_CPUTIME_ID) - w->processor_start;
}
static timing watch_read(stopwatch *w) {
    double middle = median(w->times, w->rounds);
    median(w->processor, w->rounds);
    return (timing){w->times[0], middle, w->processor[0]};
}

static tirc_tensor_map map_of(uint32_t type, const uint64_t dims[2], const uint64_t strides[1],
                              const uint32_t box[2]) {
    return (tirc_tensor_map){.size = sizeof(tirc_tensor_map),
                             .type = type,
                             .rank = 2,
                             .dims = dims,
                             .strides = strides,
                             .box = box,
                             .swizzle = 3}; /* CU_TENSOR_MAP_SWIZZLE_128B */
}
/* The same product as PTX by hand and as a script, which is compiled when it is loaded. */
typedef struct kernel {
    const char *file, *entry; /* NULL: PTX */
    uint32_t stages;
} kernel;
static const kernel by_hand = {"examples/gemm_tma.ptx", NULL, 4},
                    by_hand_two = {"examples/gemm_tma.ptx", NULL, 2},
                    from_script = {"examples/gemm/tma.py", "gemm_tma", 2};

static tirc_module *load(tirc_session *session, const kernel *k, uint32_t n) {
    char *text = read_file(k->file), size[16];
    tirc_module *module = NULL;
    snprintf(size, sizeof size, "%u", n);
    const tirc_define defines[] = {{"M", size}, {"N", size}, {"K", size}};
    tirc_source source = {.size = sizeof source,
                          .name = k->file,
                          .text = text,
                          .text_size = strlen(text),
                          .entry = k->entry,
                          .defines = defines,
                          .define_count = k->entry ? sizeof defines / sizeof defines[0] : 0};
    if (tirc_load(session, &source, &module) != TIRC_OK)
        module = NULL;
    free(text);
    return module;
}

/* The script stores its result by itself and knows its size; the other takes both as parameters. */
static tirc_status run_once(tirc_module *module, const kernel *k, const problem *p, tirc_launch *launch) {
    uint32_t n = p->n, stages = k->stages;
    const uint64_t dims[2] = {n, n}, strides[1] = {(uint64_t)n * 2}, result_strides[1] = {(uint64_t)n * 4};
    const uint32_t box[2] = {64, 128}, result_box[2] = {32, 32};
    tirc_tensor_map operand = map_of(6, dims, strides, box),
                    result = map_of(7, dims, result_strides, result_box);
    tirc_argument arguments[] = {{.name = k->entry ? "a_map" : "a", .tensor_map = &operand, .tensor = "A"},
                                 {.name = k->entry ? "b_map" : "b", .tensor_map = &operand, .tensor = "B"},
                                 {.name = "A", .data = p->a, .bytes = (uint64_t)n * n * 2},
                                 {.name = "B", .data = p->b, .bytes = (uint64_t)n * n * 2},
                                 {.name = "D", .data = p->d, .bytes = (uint64_t)n * n * 4},
                                 {.name = "d", .tensor_map = &result, .tensor = "D"},
                                 {.name = "K", .data = &n, .bytes = 4, .is_scalar = true},
                                 {.name = "S", .data = &stages, .bytes = 4, .is_scalar = true}};
    launch->arguments = arguments;
    launch->argument_count = k->entry ? 5 : 8;
    if (!k->entry) {
        launch->grid[0] = launch->grid[1] = n / 128;
        launch->grid[2] = launch->block[1] = launch->block[2] = 1;
        launch->block[0] = 128;
        launch->dynamic_shared_bytes = 1024 + 32768 * stages;
    }
    return tirc_run(module, launch, NULL);
}

static timing machine(const problem *p, tirc_numerics numerics, const char *level, uint32_t threads,
                      int rounds) {
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *module = load(session, &by_hand, p->n);
    stopwatch watch = {.rounds = 0};
    timing result = {NAN, NAN, NAN};
    tirc_launch launch = {.size = sizeof launch, .threads = threads, .level = level, .numerics = numerics};
    tirc_status status = module ? TIRC_OK : TIRC_ERROR;
    for (int round = 0; round < rounds && status == TIRC_OK; round++) {
        watch_start(&watch);
        status = run_once(module, &by_hand, p, &launch);
        watch_stop(&watch);
    }
    if (status == TIRC_OK)
        result = watch_read(&watch);
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    tirc_session_destroy(session);
    return result;
}

/* The script's kernel beside the one by hand, in turns: the same tiles, two stages each; the processor's
 * time. */
static void script_row(const problem *p, tirc_numerics numerics) {
    enum { TURNS = 2 * ROUNDS };
    static const double limit = 1.3;
    const kernel *kernels[2] = {&by_hand_two, &from_script};
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *modules[2];
    size_t bytes = (size_t)p->n * p->n * sizeof *p->d;
    float *first = malloc(bytes);
    double least[2] = {INFINITY, INFINITY};
    bool runs = first != NULL, same = true;
    for (int k = 0; k < 2; k++) {
        modules[k] = load(session, kernels[k], p->n);
        runs &= modules[k] != NULL;
    }
    for (int turn = 0; runs && turn < TURNS; turn++)
        for (int k = 0; k < 2 && runs; k++) {
            tirc_launch launch = {.size = sizeof launch, .threads = 1, .numerics = numerics};
            memset(p->d, 0, bytes);
            const double start = now(CLOCK_PROCESS_CPUTIME_ID);
            runs = run_once(modules[k], kernels[k], p, &launch) == TIRC_OK;
            const double time = now(CLOCK_PROCESS_CPUTIME_ID) - start;
            least[k] = time < least[k] ? time : least[k];
            if (k == 0)
                memcpy(first, p->d, bytes);
            else
                same &= memcmp(first, p->d, bytes) == 0;
        }
    const double ratio = least[1] / least[0];
    if (runs)
        printf("  script, numerics %-5s%12.1f ms, by hand %.1f ms: %.2f times (limit %.1f)%s%s\n",
               numerics == TIRC_NUMERICS_HW ? "hw" : "fp32", 1e3 * least[1], 1e3 * least[0], ratio, limit,
               ratio > limit ? "  OVER" : "", same ? "" : "  RESULTS DIFFER");
    else
        printf("  script: not run\n");
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    tirc_session_destroy(session);
    free(first);
}

typedef void (*sgemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                      const float *b, int ldb, float beta, float *c, int ldc);
/* An OpenBLAS that is older than the processor takes its oldest kernels: it is told the best it has. */
static const char *blas_core = "";
static timing blas(const problem *p, int threads) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512vl") ? "SkylakeX" : "Haswell", 0);
#endif
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    sgemm call = library ? (sgemm)(intptr_t)dlsym(library, "cblas_sgemm") : NULL;
    void (*set)(int) = library ? (void (*)(int))(intptr_t)dlsym(library, "openblas_set_num_threads") : NULL;
    stopwatch watch = {.rounds = 0};
    if (!call)
        return (timing){NAN, NAN, NAN};
    char *(*core)(void) = (char *(*)(void))(intptr_t)dlsym(library, "openblas_get_corename");
    blas_core = core ? core() : "";
    if (set)
        set(threads);
    for (int round = 0; round < ROUNDS; round++) {
        watch_start(&watch);
        call(101, 111, 112, (int)p->n, (int)p->n, (int)p->n, 1, p->a32, (int)p->n, p->b32, (int)p->n, 0,
             p->reference, (int)p->n);
        watch_stop(&watch);
    }
    return watch_read(&watch);
}

/* Every cell beside sgemm's, or eight rows beside sums of ours. */
static bool is_right(const problem *p, bool has_reference) {
    size_t n = p->n;
    if (has_reference)
        return memcmp(p->d, p->reference, n * n * sizeof *p->d) == 0;
    for (size_t i = 0; i < n; i += n / 8)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += (double)p->a32[i * n + k] * (double)p->b32[j * n + k];
            if ((double)p->d[i * n + j] != sum)
                return false;
        }
    return true;
}

/* The most that a row may take, in ms: docs/machine_tensor.md; 0: none is stated. */
static double floor_of(uint32_t n, int level, int numerics) {
    if (n == 1024)
        return numerics == 1 ? 40 : level == 0 ? 90 : 150;
    return n == 4096 && numerics == 0 ? level == 0 ? 3200 : 5000 : 0;
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
    timing peer = blas(&p, (int)threads);
    printf("%u^3 f16 tcgen05 GEMM fed by TMA, %u thread%s\n", n, threads, threads == 1 ? "" : "s");
    printf("  %-24s%10s%10s%11s%10s%13s\n", "ms", "least", "median", "processor", "floor", "floor/least");
    if (isnan(peer.least))
        printf("  OpenBLAS sgemm, f32: not here (libopenblas.so.0 of package libopenblas0)\n");
    else
        printf("  %-24s%10.1f%10.1f%11.1f%10s%13s  kernels: %s\n", "OpenBLAS sgemm, f32", 1e3 * peer.least,
               1e3 * peer.median, 1e3 * peer.processor, "", "", blas_core);
    for (int l = 0; l < 2; l++)
        for (int numerics = 0; numerics < (all ? 2 : 1); numerics++) {
            memset(p.d, 0, count * sizeof *p.d);
            timing time = machine(&p, (tirc_numerics)numerics, levels[l], threads, rounds);
            double floor = floor_of(n, l, numerics);
            if (isnan(time.least)) {
                printf("  %s: not run\n", levels[l]);
                continue;
            }
            printf("  %-10s numerics %-5s%10.1f%10.1f%11.1f", levels[l], numerics == 0 ? "hw" : "fp32",
                   1e3 * time.least, 1e3 * time.median, 1e3 * time.processor);
            if (floor > 0)
                printf("%10.0f%13.2f", floor, floor / (1e3 * time.least));
            printf("%s\n", is_right(&p, !isnan(peer.least)) ? "" : "  RESULTS DIFFER");
        }
    for (int numerics = 0; all && numerics < 2; numerics++)
        script_row(&p, (tirc_numerics)numerics);
    for (int l = 0; all && l < 2; l++) { /* no sgemm rounds like this: the levels are compared */
        fill_full(p.a, count, 3);
        fill_full(p.b, count, 4);
        timing time = machine(&p, TIRC_NUMERICS_HW, levels[l], threads, rounds);
        if (isnan(time.least))
            continue;
        printf("  %-10s hw, all bits    %10.1f%10.1f%11.1f%10.0f%13.2f%s\n", levels[l], 1e3 * time.least,
               1e3 * time.median, 1e3 * time.processor, floor_of(n, l, 0),
               floor_of(n, l, 0) / (1e3 * time.least),
               l == 0 || memcmp(p.d, p.reference, count * sizeof *p.d) == 0 ? "" : "  RESULTS DIFFER");
        memcpy(p.reference, p.d, count * sizeof *p.d);
    }
    free(p.a), free(p.b), free(p.a32), free(p.b32), free(p.d), free(p.reference);
}

int main(int count, char **words) {
    table(1024, 1, ROUNDS, true);
    if (count > 1 && !strcmp(words[1], "large"))
        table(4096, 2, 1, false);
    return 0;
}
