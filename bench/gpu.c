/* SPDX-License-Identifier: Apache-2.0
 * bench-gpu [NVCC]: what emitted code reaches on a GPU, as ratios to the driver's own device-to-device copy
 * in the same run (bytes read and written over the median event time); the driver's time to load our PTX
 * beside nvcc's of our CUDA text; and the cost of a launch through libtirc beside a bare one. Says so where
 * there is no GPU. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tirc.h"

enum { REPEAT = 30, LAUNCHES = 5000 };

static struct {
    int (*copy)(uint64_t, uint64_t, size_t, void *);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_wait)(void *);
    int (*event_time)(float *, void *, void *);
    int (*load)(void **, const void *, unsigned, const int *, void **);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                  void **, void **);
    int (*synchronize)(void);
} cuda;

static bool open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return false;
#define GET(field, name) *(void **)(void *)&cuda.field = dlsym(library, name)
    GET(copy, "cuMemcpyDtoDAsync_v2");
    GET(event_create, "cuEventCreate");
    GET(event_record, "cuEventRecord");
    GET(event_wait, "cuEventSynchronize");
    GET(event_time, "cuEventElapsedTime");
    GET(load, "cuModuleLoadDataEx");
    GET(unload, "cuModuleUnload");
    GET(function, "cuModuleGetFunction");
    GET(launch, "cuLaunchKernel");
    GET(synchronize, "cuCtxSynchronize");
    return cuda.copy && cuda.event_time && cuda.load && cuda.launch;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int order(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static double median(float *times, int count) {
    qsort(times, (size_t)count, sizeof *times, order);
    return 1e-3 * (double)times[count / 2];
}

static _Noreturn void stop(tirc_session *session, const char *what) {
    printf("bench-gpu: %s\n", what);
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
    exit(1);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    *size = file && text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static tirc_module *load(tirc_session *session, const char *path, const tirc_define *defines, size_t count) {
    size_t size;
    char *text = read_file(path, &size);
    tirc_source source = {.size = sizeof source,
                          .name = path,
                          .text = text,
                          .text_size = size,
                          .defines = defines,
                          .define_count = count};
    tirc_module *module = NULL;
    if (size == 0 || tirc_load(session, &source, &module) != TIRC_OK)
        stop(session, path);
    free(text);
    return module;
}

/* The driver's own copy, bytes a second counting both directions. */
static double copy_bandwidth(tirc_gpu *gpu, tirc_session *session, uint64_t bytes) {
    uint64_t from = 0, to = 0;
    float times[REPEAT];
    void *events[2];
    if (tirc_gpu_allocate(gpu, bytes, &from) != TIRC_OK || tirc_gpu_allocate(gpu, bytes, &to) != TIRC_OK)
        stop(session, "memory");
    cuda.event_create(&events[0], 0);
    cuda.event_create(&events[1], 0);
    for (int i = -5; i < REPEAT; ++i) {
        cuda.event_record(events[0], NULL);
        cuda.copy(to, from, bytes, NULL);
        cuda.event_record(events[1], NULL);
        cuda.event_wait(events[1]);
        if (i >= 0)
            cuda.event_time(&times[i], events[0], events[1]);
    }
    tirc_gpu_free(gpu, from);
    tirc_gpu_free(gpu, to);
    return 2.0 * (double)bytes / median(times, REPEAT);
}

typedef struct row {
    const char *path, *words;
    tirc_define defines[2];
    size_t define_count;
    uint64_t bytes[3]; /* of the parameters; 0 ends */
    uint64_t moved;    /* bytes read once and written once */
    double floor;      /* of the ratio */
    uint32_t grid, grid_y, block_x, block_y;
} row;

static void fill(tirc_gpu *gpu, uint64_t address, uint64_t bytes) {
    enum { PIECE = 1 << 24 };
    uint16_t *piece = malloc(PIECE);
    for (unsigned i = 0, state = 1; piece && i < PIECE / 2; ++i) {
        state = state * 1664525u + 1013904223u;
        piece[i] =
            (uint16_t)(0x3c00 | (state >> 16 & 0x83ff)); /* small numbers as float16, bfloat16, float32 */
    }
    for (uint64_t at = 0; piece && at < bytes; at += PIECE)
        tirc_gpu_write(gpu, address + at, piece, bytes - at < PIECE ? bytes - at : PIECE);
    free(piece);
}

static void measure(tirc_gpu *gpu, tirc_session *session, const row *r, double copy) {
    tirc_module *module = load(session, r->path, r->defines, r->define_count);
    tirc_gpu_kernel *kernel;
    uint64_t addresses[3] = {0};
    void *values[3];
    float times[REPEAT];
    if (tirc_gpu_load(gpu, module, NULL, NULL, &kernel) != TIRC_OK)
        stop(session, r->path);
    for (int i = 0; i < 3 && r->bytes[i]; ++i) {
        if (tirc_gpu_allocate(gpu, r->bytes[i], &addresses[i]) != TIRC_OK)
            stop(session, "memory");
        fill(gpu, addresses[i], r->bytes[i]);
        values[i] = &addresses[i];
    }
    tirc_gpu_launch launch = {.size = sizeof launch,
                              .grid = {r->grid, r->grid_y, 1},
                              .block = {r->block_x, r->block_y, 1},
                              .parameters = values};
    if (tirc_gpu_time(kernel, &launch, 5, REPEAT, times) != TIRC_OK)
        stop(session, r->path);
    double seconds = median(times, REPEAT), rate = (double)r->moved / seconds;
    printf("%-28s %8.1f us  %6.2f TB/s  %5.2f of the copy  (at least %.2f)%s\n", r->words, 1e6 * seconds,
           1e-12 * rate, rate / copy, r->floor, rate / copy < r->floor ? "  MISSED" : "");
    for (int i = 0; i < 3; ++i)
        tirc_gpu_free(gpu, addresses[i]);
}

/* ---- loading and launching ---- */
typedef struct text {
    char data[1 << 18];
    size_t size;
} text;
static bool collect(void *user, const char *data, size_t size) {
    text *t = user;
    if (t->size + size + 1 > sizeof t->data)
        return false;
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = 0;
    return true;
}

static float load_time(const char *ptx) { /* ms; negative: it does not load */
    void *module;
    double start = now();
    if (cuda.load(&module, ptx, 0, NULL, NULL) != 0)
        return -1;
    float time = (float)(1e3 * (now() - start));
    cuda.unload(module);
    return time;
}

static void loading(tirc_session *session, const char *path, const char *nvcc) {
    static text ours, source, theirs;
    tirc_module *module = load(session, path, NULL, 0);
    char command[512];
    ours.size = source.size = theirs.size = 0;
    if (tirc_emit(module, TIRC_EMIT_PTX, NULL, collect, &ours) != TIRC_OK ||
        tirc_emit(module, TIRC_EMIT_CUDA, NULL, collect, &source) != TIRC_OK)
        stop(session, path);
    char folder[] = "/tmp/tirc-bench-XXXXXX";
    if (!mkdtemp(folder))
        stop(session, "no folder for temporary files");
    char cu[64], ptx[64];
    snprintf(cu, sizeof cu, "%s/k.cu", folder);
    snprintf(ptx, sizeof ptx, "%s/k.ptx", folder);
    FILE *file = fopen(cu, "wb");
    if (file) {
        fwrite(source.data, 1, source.size, file);
        fclose(file);
    }
    snprintf(command, sizeof command, "'%s' -w -ptx -arch=sm_90a -o %s %s", nvcc, ptx, cu);
    if (system(command) == 0) {
        size_t size;
        char *data = read_file(ptx, &size);
        collect(&theirs, data, size);
        free(data);
        enum { LOADS = 21 };
        float of_ours[LOADS], of_theirs[LOADS]; /* in turns: a busy machine slows both */
        for (int i = 0; i < LOADS; i++) {
            of_ours[i] = load_time(ours.data);
            of_theirs[i] = load_time(theirs.data);
        }
        double a = median(of_ours, LOADS), b = median(of_theirs, LOADS);
        printf("load %-23s ours %6.2f ms, nvcc's %6.2f ms: %.2f (at most 1.00)%s\n", path, 1e3 * a, 1e3 * b,
               a / b, a > b ? "  MISSED" : "");
    }
    remove(cu);
    remove(ptx);
    remove(folder);
}

static void launching(tirc_gpu *gpu, tirc_session *session) {
    static const char empty[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                ".visible .entry nothing(.param .u64 a) { ret; }\n";
    tirc_source source = {
        .size = sizeof source, .name = "nothing.ptx", .text = empty, .text_size = strlen(empty)};
    tirc_module *module;
    tirc_gpu_kernel *kernel;
    void *raw, *function;
    uint64_t value = 0;
    void *values[] = {&value};
    if (tirc_load(session, &source, &module) != TIRC_OK ||
        tirc_gpu_load(gpu, module, NULL, NULL, &kernel) != TIRC_OK ||
        cuda.load(&raw, empty, 0, NULL, NULL) != 0 || cuda.function(&function, raw, "nothing") != 0)
        stop(session, "the empty kernel");
    tirc_gpu_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = values};
    enum { TURNS = 31 }; /* the time of a launch itself wanders by more than what is measured */
    float bare[TURNS], ours[TURNS];
    for (int round = -1; round < TURNS; ++round) {
        double start = now();
        for (int i = 0; i < LAUNCHES; ++i)
            cuda.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, values, NULL);
        cuda.synchronize();
        double middle = now();
        for (int i = 0; i < LAUNCHES; ++i)
            tirc_gpu_start(kernel, &launch);
        cuda.synchronize();
        if (round >= 0) {
            bare[round] = (float)(1e9 * (middle - start) / LAUNCHES);
            ours[round] = (float)(1e9 * (now() - middle) / LAUNCHES);
        }
    }
    double a = 1e3 * median(ours, TURNS), b = 1e3 * median(bare, TURNS);
    printf("launch: %.0f ns through libtirc, %.0f ns bare: %.0f ns more (at most 300)%s\n", a, b, a - b,
           a - b > 300 ? "  MISSED" : "");
}

int main(int count, char **words) {
    tirc_session *session = tirc_session_create(NULL);
    tirc_gpu *gpu = NULL;
    if (!session || tirc_gpu_open(session, 0, &gpu) != TIRC_OK || !open_driver()) {
        puts("bench-gpu: no GPU here");
        tirc_diagnostics_render(session, TIRC_FORMAT_LINE, false, tirc_sink_file, stdout);
        return 0;
    }
    tirc_gpu_facts facts;
    tirc_gpu_describe(gpu, &facts);
    uint64_t gib = (uint64_t)1 << 30;
    double copy = copy_bandwidth(gpu, session, 2 * gib);
    printf("%s; the driver's copy of 2 GiB moves %.2f TB/s\n", facts.name, 1e-12 * copy);
    const row rows[] = {
        {"examples/stream.py",
         "scale, 2^28 float32",
         {{"N", "268435456"}},
         1,
         {gib, gib},
         2 * gib,
         0.95,
         65536,
         1,
         512,
         1},
        {"examples/transpose.py",
         "transpose, 16384^2 float32",
         {{"M", "16384"}, {"N", "16384"}},
         2,
         {gib, gib},
         2 * gib,
         0.75,
         512,
         512,
         32,
         8},
        {"examples/rmsnorm_bf16.py",
         "RMSNorm, 32768x8192 bf16",
         {{NULL, NULL}},
         0,
         {gib / 2, 16384, gib / 2},
         gib,
         0.80,
         32768,
         1,
         256,
         1},
        {"examples/softmax_bf16.py",
         "softmax, 32768x8192 bf16",
         {{NULL, NULL}},
         0,
         {gib / 2, gib / 2},
         gib,
         0.80,
         32768,
         1,
         256,
         1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        measure(gpu, session, &rows[i], copy);
    launching(gpu, session);
    if (count > 1) {
        setenv("CUDA_CACHE_DISABLE", "1", 1);
        loading(session, "examples/rmsnorm_bf16.py", words[1]);
        loading(session, "examples/transpose.py", words[1]);
        loading(session, "examples/gemm.py", words[1]);
    }
    tirc_gpu_close(gpu);
    tirc_session_destroy(session);
    return 0;
}
