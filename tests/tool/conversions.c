/* SPDX-License-Identifier: Apache-2.0
 * conversions emit: prints a script with one kernel per element type, which casts an array of it to every
 * other type, and kernels that do so with vectors. conversions check SCRIPT [NVCC_PTX]: runs them on the
 * machine, our PTX and nvcc's, over all patterns of types up to 16 bits and over boundary values of the wider
 * ones, against the model. */
#include "number_inputs.h"
#include "tirc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the script ---- */
static const char vector_types[][24] = {
    "float16",        "bfloat16",      "float8_e4m3fn", "float8_e5m2",   "float8_e5m2fnuz",
    "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int8"};
enum { VECTOR_TYPES = sizeof vector_types / sizeof vector_types[0], VECTOR_COUNT = 1024 };
static const unsigned lane_counts[] = {2, 4, 8, 16};

static void emit_kernel(const model_type *from) {
    number_list l = number_inputs(from);
    printf("\n\n@T.function\ndef of_%s(A: T.Tensor((%zu,), \"%s\")", from->name, l.count, from->name);
    for (int i = 0; i < MODEL_TYPES; i++)
        printf(",\n        R%d: T.Tensor((%zu,), \"%s\")", i, l.count, model_types[i].name);
    printf("):\n    T.device_entry(launch=T.cuda.LaunchConfig(grid=(%zu,), block=(128,)))\n"
           "    t = T.cuda.block_idx(\"x\") * 128 + T.cuda.thread_idx(\"x\")\n"
           "    for j in T.unroll(2):\n",
           l.count / 256);
    for (int i = 0; i < MODEL_TYPES; i++)
        printf("        R%d[t * 2 + j] = T.cast(A[t * 2 + j], \"%s\")\n", i, model_types[i].name);
    free(l.items);
}

/* To the type from float32 and back, in vectors, and the bits of the vector in between. */
static void emit_vector(const model_type *t, unsigned lanes) {
    printf("\n\n@T.function\ndef vector_%s_%u(A: T.Tensor((%d,), \"float32\"), N: T.Tensor((%d,), \"%s\"),\n"
           "        R: T.Tensor((%d,), \"float32\")):\n"
           "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(%d,)))\n"
           "    i: T.let = T.cuda.thread_idx(\"x\") * %u\n"
           "    N[T.Ramp(i, 1, %u)] = T.cast(A[T.Ramp(i, 1, %u)], \"%sx%u\")\n"
           "    R[T.Ramp(i, 1, %u)] = T.cast(N[T.Ramp(i, 1, %u)], \"float32x%u\")\n",
           t->name, lanes, VECTOR_COUNT, VECTOR_COUNT, t->name, VECTOR_COUNT, VECTOR_COUNT / (int)lanes,
           lanes, lanes, lanes, t->name, lanes, lanes, lanes, lanes);
}

static int emit(void) {
    puts("# SPDX-License-Identifier: Apache-2.0\nfrom tvm_tirx.script import tirx as T");
    for (int i = 0; i < MODEL_TYPES; i++)
        emit_kernel(&model_types[i]);
    for (int i = 0; i < VECTOR_TYPES; i++)
        for (int k = 0; k < 4; k++)
            emit_vector(model_find(vector_types[i]), lane_counts[k]);
    return 0;
}

/* ---- arrays as they lie in memory ---- */
static size_t array_bytes(const model_type *t, size_t count) {
    return t->bits == 4 ? (count + 1) / 2 : count * ((t->bits + 7) / 8);
}
static void put(void *data, const model_type *t, size_t i, uint64_t bits) {
    unsigned char *bytes = data;
    if (t->bits == 4) { /* low nibble first */
        unsigned shift = i % 2 * 4;
        bytes[i / 2] = (unsigned char)((bytes[i / 2] & ~(15u << shift)) | (bits & 15) << shift);
    } else {
        memcpy(bytes + i * ((t->bits + 7) / 8), &bits, (t->bits + 7) / 8);
    }
}
static uint64_t take(const void *data, const model_type *t, size_t i) {
    const unsigned char *bytes = data;
    uint64_t bits = 0;
    if (t->bits == 4)
        return bytes[i / 2] >> (i % 2 * 4) & 15;
    memcpy(&bits, bytes + i * ((t->bits + 7) / 8), (t->bits + 7) / 8);
    return bits;
}

/* ---- the check ---- */
static tirc_module *load(tirc_session *session, const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, room = 1 << 22;
    if (file && (text = malloc(room))) {
        for (size_t n; (n = fread(text + size, 1, room - size, file)) > 0;)
            if ((size += n) == room && !(text = realloc(text, room *= 2)))
                abort();
    }
    if (file)
        fclose(file);
    tirc_source source = {.size = sizeof source, .name = path, .text = text, .text_size = size};
    tirc_module *module = NULL;
    if (!text || tirc_load(session, &source, &module) != TIRC_OK) {
        tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
        module = NULL;
    }
    free(text);
    return module;
}

typedef struct road {
    const char *name;
    tirc_session *session;
    tirc_module *module;
    bool foreign; /* parameters by number, launch given */
    bool on_gpu;
} road;

static bool launch(const road *r, const char *kernel, tirc_argument *arguments, size_t count, unsigned grid,
                   unsigned block) {
    char name[96], numbers[32][24];
    snprintf(name, sizeof name, "%s%s", kernel, r->foreign ? "_kernel" : "");
    tirc_launch launch = {.size = sizeof launch,
                          .kernel = name,
                          .arguments = arguments,
                          .argument_count = count,
                          .on_gpu = r->on_gpu,
                          .threads = 1};
    for (size_t i = 0; r->foreign && i < count; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%zu", i);
        arguments[i].name = numbers[i];
    }
    if (r->foreign) {
        launch.grid[0] = grid, launch.block[0] = block;
        launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    }
    if (tirc_run(r->module, &launch, NULL) == TIRC_OK)
        return true;
    printf("%s, %s:\n", kernel, r->name);
    tirc_diagnostics_render(r->session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stdout);
    return false;
}

/* NaNs of a type are one value. */
static bool same(const model_type *t, uint64_t a, uint64_t b) {
    return a == b || (model_is_nan(t, a) && model_is_nan(t, b));
}

static unsigned check_type(const road *r, const model_type *from, uint64_t *done) {
    number_list l = number_inputs(from);
    tirc_argument arguments[MODEL_TYPES + 1];
    char names[MODEL_TYPES][8];
    void *data[MODEL_TYPES + 1];
    unsigned bad = 0;
    for (int i = 0; i <= MODEL_TYPES; i++) {
        const model_type *t = i ? &model_types[i - 1] : from;
        data[i] = calloc(array_bytes(t, l.count) + 1, 1);
        if (i)
            snprintf(names[i - 1], sizeof names[i - 1], "R%d", i - 1);
        arguments[i] = (tirc_argument){
            .name = i ? names[i - 1] : "A", .data = data[i], .bytes = array_bytes(t, l.count)};
    }
    for (size_t i = 0; i < l.count; i++)
        put(data[0], from, i, l.items[i]);
    char kernel[64];
    snprintf(kernel, sizeof kernel, "of_%s", from->name);
    if (!launch(r, kernel, arguments, MODEL_TYPES + 1, (unsigned)(l.count / 256), 128)) {
        bad = 1;
    } else {
        for (int k = 0; k < MODEL_TYPES; k++) {
            const model_type *to = &model_types[k];
            unsigned wrong = 0;
            for (size_t i = 0; i < l.count; i++) {
                uint64_t got = take(data[k + 1], to, i), want = model_cast(to, from, l.items[i]);
                ++*done;
                if (to == from ? got != l.items[i] : !same(to, got, want))
                    if (wrong++ < 3)
                        printf("%s %#" PRIx64 " to %s, %s: %#" PRIx64 ", expected %#" PRIx64 "\n", from->name,
                               l.items[i], to->name, r->name, got, want);
            }
            bad += wrong;
        }
    }
    for (int i = 0; i <= MODEL_TYPES; i++)
        free(data[i]);
    free(l.items);
    return bad;
}

static unsigned check_vector(const road *r, const model_type *t, unsigned lanes, uint64_t *done) {
    const model_type *single = model_find("float32");
    unsigned char in[VECTOR_COUNT * 4], narrow[VECTOR_COUNT * 4] = {0}, out[VECTOR_COUNT * 4] = {0};
    uint64_t state = 1;
    unsigned bad = 0;
    for (size_t i = 0; i < VECTOR_COUNT; i++) { /* exponents from 2^-20 to 2^20 */
        state = state * 6364136223846793005u + 1442695040888963407u;
        put(in, single, i, (state >> 32 & 0x807fffff) | (107 + state % 41) << 23);
    }
    tirc_argument arguments[3] = {{.name = "A", .data = in, .bytes = sizeof in},
                                  {.name = "N", .data = narrow, .bytes = array_bytes(t, VECTOR_COUNT)},
                                  {.name = "R", .data = out, .bytes = sizeof out}};
    char kernel[64];
    snprintf(kernel, sizeof kernel, "vector_%s_%u", t->name, lanes);
    if (!launch(r, kernel, arguments, 3, 1, VECTOR_COUNT / lanes))
        return 1;
    for (size_t i = 0; i < VECTOR_COUNT; i++) {
        uint64_t middle = model_cast(t, single, take(in, single, i)), end = model_cast(single, t, middle);
        *done += 2;
        if (take(narrow, t, i) != middle || !same(single, take(out, single, i), end))
            if (bad++ < 3)
                printf("%s x%u, %s: element %zu is %#" PRIx64 ", expected %#" PRIx64 "\n", t->name, lanes,
                       r->name, i, take(narrow, t, i), middle);
    }
    return bad;
}

static int check(int count, char **words) {
    uint64_t done = 0;
    unsigned bad = 0;
    tirc_session *session = tirc_session_create(NULL);
    bool on_gpu = !strcmp(words[1], "check-gpu");
    road r = {on_gpu ? "GPU" : "machine", session, load(session, words[2]), false, on_gpu};
    if (count > 3)
        r = (road){"CUDA through nvcc", session, load(session, words[3]), true, on_gpu};
    if (!r.module)
        return 1;
    for (int i = 0; i < MODEL_TYPES; i++)
        bad += check_type(&r, &model_types[i], &done);
    for (int i = 0; i < VECTOR_TYPES; i++)
        for (int k = 0; k < 4; k++)
            bad += check_vector(&r, model_find(vector_types[i]), lane_counts[k], &done);
    tirc_session_destroy(session);
    printf("%d types to each other, %" PRIu64 " casts, %s: %u failures\n", MODEL_TYPES, done, r.name, bad);
    return bad != 0;
}

int main(int count, char **words) {
    if (count == 2 && !strcmp(words[1], "emit"))
        return emit();
    if (count >= 3 && !strncmp(words[1], "check", 5))
        return check(count, words);
    return 2;
}
