/* SPDX-License-Identifier: Apache-2.0
 * make bench: the machine on four kernel scripts against plain C and OpenCL on the CPU, and the command's
 * start-up against nvcc. One thread, medians of five after one warm-up, everything in one run; ratios are
 * what counts. */
#include "bench.h"
#include "tirc.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

double bench_median(double *times, int count) {
    qsort(times, (size_t)count, sizeof *times, by_value);
    return times[count / 2];
}

typedef struct row {
    const char *name, *script, *entry, *defines[3][2];
    size_t in_elements, out_elements;
    int inputs, n;
    size_t global[2], local[2];
    double floor_c, floor_opencl; /* most times plain C and OpenCL */
} row;

static const row rows[] = {
    {"elementwise 16 Mi",
     "bench/elementwise.py",
     "elementwise",
     {{0}},
     1 << 24,
     1 << 24,
     1,
     1 << 24,
     {1 << 24, 1},
     {256, 1},
     10,
     3.5},
    {"transpose 4096^2",
     "examples/transpose.py",
     "transpose",
     {{"M", "4096"}, {"N", "4096"}},
     1 << 24,
     1 << 24,
     1,
     4096,
     {4096, 1024},
     {32, 8},
     4,
     1},
    {"gemm fp32 1024^3",
     "examples/gemm.py",
     "gemm",
     {{"M", "1024"}, {"N", "1024"}, {"K", "1024"}},
     1 << 20,
     1 << 20,
     2,
     1024,
     {4096, 16},
     {256, 1},
     8,
     2},
    {"collatz to 10^6",
     "bench/collatz.py",
     "collatz",
     {{0}},
     0,
     1000000,
     0,
     1000000,
     {1000192, 1},
     {256, 1},
     4,
     5},
};

static void run_plain(const row *r, const float *a, const float *b, void *out) {
    if (!strcmp(r->entry, "elementwise"))
        plain_elementwise(a, out, (size_t)r->n);
    else if (!strcmp(r->entry, "transpose"))
        plain_transpose(a, out, (size_t)r->n);
    else if (!strcmp(r->entry, "gemm"))
        plain_gemm(a, b, out, (size_t)r->n);
    else
        plain_collatz(out, (size_t)r->n);
}

static double plain_time(const row *r, const float *a, const float *b, void *out) {
    double times[BENCH_ROUNDS];
    for (int round = -1; round < BENCH_ROUNDS; ++round) {
        double start = bench_now();
        run_plain(r, a, b, out);
        if (round >= 0)
            times[round] = bench_now() - start;
    }
    return bench_median(times, BENCH_ROUNDS);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        exit(1);
    }
    *size = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static double machine_time(const row *r, float *a, float *b, void *out, const char *level) {
    tirc_session *session = tirc_session_create(NULL);
    size_t size, defines = 0;
    char *text = read_file(r->script, &size);
    tirc_define define[3];
    for (; defines < 3 && r->defines[defines][0]; ++defines)
        define[defines] = (tirc_define){r->defines[defines][0], r->defines[defines][1]};
    tirc_source source = {.size = sizeof source,
                          .name = r->script,
                          .text = text,
                          .text_size = size,
                          .entry = r->entry,
                          .defines = define,
                          .define_count = defines};
    tirc_module *module = NULL;
    double times[BENCH_ROUNDS], median = NAN;
    if (tirc_load(session, &source, &module) == TIRC_OK) {
        const tirc_kernel *kernel = tirc_kernel_at(module, 0);
        tirc_argument arguments[3] = {0};
        for (size_t i = 0; i < kernel->parameter_count; ++i) {
            bool last = i + 1 == kernel->parameter_count;
            arguments[i].name = kernel->parameters[i].name;
            arguments[i].data = last ? out : i ? (void *)b : (void *)a;
            arguments[i].bytes = 4 * (last ? r->out_elements : r->in_elements);
        }
        tirc_launch launch = {.size = sizeof launch,
                              .arguments = arguments,
                              .argument_count = kernel->parameter_count,
                              .threads = 1,
                              .level = level};
        tirc_status status = TIRC_OK;
        for (int round = -1; round < BENCH_ROUNDS && status == TIRC_OK; ++round) {
            double start = bench_now();
            status = tirc_run(module, &launch, NULL);
            if (round >= 0)
                times[round] = bench_now() - start;
        }
        if (status == TIRC_OK)
            median = bench_median(times, BENCH_ROUNDS);
    }
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    free(text);
    tirc_session_destroy(session);
    return median;
}

static bool same(const row *r, const float *x, const float *y) {
    if (!strcmp(r->entry, "gemm")) {
        for (size_t i = 0; i < r->out_elements; ++i)
            if (!(fabsf(x[i] - y[i]) <= 1e-2f + 1e-4f * fabsf(y[i])))
                return false;
        return true;
    }
    return !memcmp(x, y, r->out_elements * 4);
}

/* Zeros, aligned as tirc_array_make aligns; every page is touched before anything is timed. */
static float *elements(size_t count) {
    size_t bytes = (count * 4 + 127) / 64 * 64;
    float *data = aligned_alloc(64, bytes);
    if (data)
        memset(data, 0, bytes);
    return data;
}

static void bench_machine(bool has_opencl) {
    static const char *const levels[] = {"x86-64-v4", "x86-64-v3", "x86-64"};
    printf("\nthe machine, 1 thread          plain C   OpenCL |");
    for (int l = 0; l < 3; ++l)
        printf(" %9s   /C  /OpenCL |", levels[l]);
    printf(" most\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const row *r = &rows[i];
        float *a = elements(r->in_elements), *b = elements(r->in_elements);
        float *plain = elements(r->out_elements), *out = elements(r->out_elements);
        if (!a || !b || !plain || !out)
            exit(1);
        for (size_t k = 0; k < r->in_elements; ++k) {
            a[k] = (float)((k * 2654435761u >> 12) & 1023) / 512.0f - 1;
            b[k] = (float)((k * 40503u >> 5) & 1023) / 512.0f - 1;
        }
        double c = plain_time(r, a, b, plain), opencl = NAN;
        if (has_opencl) {
            opencl = opencl_time(r->entry, r->inputs > 0 ? a : NULL, r->inputs > 1 ? b : NULL, out,
                                 4 * r->in_elements, 4 * r->out_elements, r->global, r->local, r->n);
            if (!same(r, out, plain))
                printf("OpenCL result of %s differs from plain C\n", r->name);
        }
        printf("%-26s %8.1f ms %8.1f |", r->name, 1e3 * c, 1e3 * opencl);
        for (int l = 0; l < 3; ++l) {
            if (strcmp(levels[l], tirc_level()) > 0) {
                printf(" %8s    %5s %6s   |", "-", "-", "-"); /* this processor lacks it */
                continue;
            }
            memset(out, 0, 4 * r->out_elements);
            double vm = machine_time(r, a, b, out, levels[l]);
            printf(" %8.1f %5.1f %6.2f%s |", 1e3 * vm, vm / c, vm / opencl,
                   same(r, out, plain) ? "  " : " !");
        }
        printf(" %.0f, %.1f\n", r->floor_c, r->floor_opencl);
        free(a);
        free(b);
        free(plain);
        free(out);
    }
}

/* A cold process; median seconds, and the largest resident size in *bytes. */
static double process_time(const char *const *words, int rounds, long *bytes) {
    double times[64];
    *bytes = 0;
    for (int round = -1; round < rounds; ++round) {
        double start = bench_now();
        pid_t child = fork();
        if (child == 0) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, 1);
            dup2(null, 2);
            execvp(words[0], (char *const *)(uintptr_t)words);
            _exit(127);
        }
        int status;
        struct rusage usage;
        if (child < 0 || wait4(child, &status, 0, &usage) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
            return NAN;
        if (round >= 0)
            times[round] = bench_now() - start;
        if (usage.ru_maxrss * 1024 > *bytes)
            *bytes = usage.ru_maxrss * 1024;
    }
    return bench_median(times, rounds);
}

static void bench_build(const char *tirc, const char *nvcc) {
    long bytes, nvcc_bytes;
    char cuda[] = "/tmp/tirc-bench-XXXXXX.cu";
    int file = mkstemps(cuda, 3);
    if (file < 0)
        return;
    close(file);
    const char *build[] = {tirc, "build", "examples/shared.py:reverse", "--emit", "cuda", "-o", cuda, NULL};
    const char *compile[] = {nvcc, "-ptx", "-arch=sm_90a", cuda, "-o", "/dev/null", NULL};
    double ours = process_time(build, 21, &bytes),
           theirs = *nvcc ? process_time(compile, 5, &nvcc_bytes) : NAN;
    printf("\nscript to CUDA, cold process: %.2f ms, %.1f MB; nvcc -ptx on its output %.0f ms: %.0f times "
           "(at least 40; "
           "under 5 ms, 16 MB)\n",
           1e3 * ours, (double)bytes / 1e6, 1e3 * theirs, theirs / ours);
    unlink(cuda);
}

static bool drop(void *user, const char *data, size_t size) {
    (void)data;
    *(size_t *)user += size;
    return true;
}

/* The launch plan of a kernel with a pool, in one process: load, plan as JSON, close; beside its CUDA text.
 */
static void bench_plan(void) {
    static char text[1 << 16];
    FILE *file = fopen("examples/pool.py", "r");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0, bytes = 0;
    static const tirc_emit_format formats[] = {TIRC_EMIT_PLAN_JSON, TIRC_EMIT_CUDA};
    double times[2][51];
    if (file)
        fclose(file);
    for (int round = 0; size && round < 51; ++round)
        for (int f = 0; f < 2; ++f) {
            tirc_source source = {.size = sizeof source,
                                  .name = "pool.py",
                                  .text = text,
                                  .text_size = size,
                                  .kind = TIRC_KIND_SCRIPT};
            tirc_module *module;
            double start = bench_now();
            tirc_session *session = tirc_session_create(NULL);
            if (tirc_load(session, &source, &module) != TIRC_OK ||
                tirc_emit(module, formats[f], NULL, drop, &bytes) != TIRC_OK)
                size = 0;
            tirc_session_destroy(session);
            times[f][round] = bench_now() - start;
        }
    double plan = bench_median(times[0], 51), cuda = bench_median(times[1], 51);
    if (size)
        printf("script to launch plan, in process: %.0f us; to CUDA text %.0f us: %.2f of it (at most 1.5)\n",
               1e6 * plan, 1e6 * cuda, plan / cuda);
}

int main(int count, char **words) {
    char why[128] = "";
    if (count < 3)
        return 2;
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    setenv("POCL_AFFINITY", "1", 1);
    bench_build(words[1], words[2]); /* first: a child's memory is counted from this process's size */
    bench_plan();
    bool has_opencl = opencl_open(why, sizeof why);
    if (!has_opencl)
        printf("OpenCL: %s\n", why);
    bench_machine(has_opencl);
    if (has_opencl)
        opencl_close();
    return 0;
}
