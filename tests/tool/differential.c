/* SPDX-License-Identifier: Apache-2.0
 * differential FILE ENTRY NVCC_PTX[:KERNEL] [NAME=VALUE]...: runs a script kernel's own PTX and what nvcc
 * made of its CUDA on the machine, on the same random inputs, and compares every tensor: to the bit where all
 * operations of the kernel are exact, within a stated bound where it uses approximate functions. */
#include "tirc.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every extent and stride that the launch gives, so that all of them agree. */
enum { SIZE = 24 };

typedef struct arguments {
    tirc_argument list[64];
    tirc_array arrays[64];
    int64_t scalars[64];
    size_t count;
} arguments;

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && !fseek(file, 0, SEEK_END)) {
        long length = ftell(file);
        rewind(file);
        text = malloc((size_t)length + 1);
        *size = text ? fread(text, 1, (size_t)length, file) : 0;
    }
    if (file)
        fclose(file);
    return text;
}

static _Noreturn void stop(tirc_session *session, const char *what) {
    fprintf(stderr, "differential: %s\n", what);
    tirc_diagnostics_render(session, TIRC_FORMAT_TEXT, false, tirc_sink_file, stderr);
    exit(1);
}

static tirc_module *load(tirc_session *session, const char *path, const char *entry,
                         const tirc_define *defines, size_t count) {
    size_t size = 0;
    char *text = read_file(path, &size);
    tirc_source source = {.size = sizeof source,
                          .name = path,
                          .text = text,
                          .text_size = size,
                          .entry = entry,
                          .defines = defines,
                          .define_count = count};
    tirc_module *module;
    if (!text || tirc_load(session, &source, &module) != TIRC_OK)
        stop(session, path);
    free(text);
    return module;
}

/* The same inputs for both sides: by dtype, from the parameter's number. */
static void fill(tirc_session *session, const tirc_kernel *kernel, bool by_number, arguments *out) {
    static char names[64][24];
    out->count = kernel->parameter_count;
    for (size_t i = 0; i < kernel->parameter_count; ++i) {
        const tirc_parameter *parameter = &kernel->parameters[i];
        tirc_argument *to = &out->list[i];
        char spec[64];
        tirc_dtype dtype;
        if (!tirc_dtype_find(parameter->dtype, &dtype))
            stop(session, "parameter without a dtype");
        snprintf(names[i], sizeof names[i], "%zu", i);
        to->name = by_number ? names[i] : parameter->name;
        if (!parameter->is_tensor) {
            out->scalars[i] = parameter->is_size ? SIZE : 7 + (int64_t)i;
            to->data = &out->scalars[i];
            to->bytes = parameter->bytes;
            to->is_scalar = true;
            continue;
        }
        if (dtype.kind == 'f')
            snprintf(spec, sizeof spec, "randn:%zu", i + 1);
        else if (dtype.kind == 'b')
            snprintf(spec, sizeof spec, "randint:0:2:%zu", i + 1);
        else
            snprintf(spec, sizeof spec, "randint:1:250:%zu", i + 1);
        int64_t shape[TIRC_RANK_MAX];
        for (uint32_t d = 0; d < parameter->rank && d < TIRC_RANK_MAX; ++d)
            shape[d] = parameter->shape[d] < 0 ? SIZE : parameter->shape[d];
        if (tirc_array_make(session, spec, parameter->dtype, parameter->rank, shape, &out->arrays[i]) !=
            TIRC_OK)
            stop(session, "input");
        to->data = out->arrays[i].data;
        to->bytes = out->arrays[i].bytes;
        to->rank = out->arrays[i].rank;
        to->shape = out->arrays[i].shape;
    }
}

/* Room for what a layout with gaps or an origin reaches: both sides get one flat array of this many bytes. */
enum { SLACK = 4096 };

static bool collect(void *user, const char *data, size_t size) {
    char *text = user;
    if (strlen(text) + size >= 65536)
        return false;
    strncat(text, data, size);
    return true;
}

static bool read_triple(const char *json, const char *key, uint32_t *out) {
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    const char *at = strstr(json, pattern);
    return at &&
           sscanf(at + strlen(pattern), "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &out[0], &out[1], &out[2]) == 3;
}

static bool collect_cuda(void *user, const char *data, size_t size) {
    return collect(user, data, size);
}

/* Approximate functions of the emitted text: their results are bounded, not exact. */
static double tolerance(tirc_module *module, tirc_session *session) {
    static char cuda[65536];
    static const char *const words[] = {"expf(", "exp2f(", "logf(", "log2f(", "log10f(", "sinf(",
                                        "cosf(", "tanhf(", "powf(", "erff(",  "rsqrtf("};
    if (tirc_emit(module, TIRC_EMIT_CUDA, NULL, collect_cuda, cuda) != TIRC_OK)
        stop(session, "cuda");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i)
        if (strstr(cuda, words[i]))
            return 4e-6;
    return 0;
}

int main(int count, char **words) {
    tirc_define defines[32];
    size_t define_count = 0;
    static char plan[65536];
    if (count < 4)
        return 2;
    for (int i = 4; i < count && define_count < 32; ++i) {
        char *equals = strchr(words[i], '=');
        if (!equals)
            return 2;
        *equals = 0;
        defines[define_count++] = (tirc_define){words[i], equals + 1};
    }
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *ours = load(session, words[1], words[2], defines, define_count);
    char *kernel_name = strrchr(words[3], ':'); /* one of several in the file */
    if (kernel_name)
        *kernel_name++ = 0;
    tirc_module *theirs = load(session, words[3], NULL, NULL, 0);
    if (tirc_emit(ours, TIRC_EMIT_PLAN_JSON, NULL, collect, plan) != TIRC_OK)
        stop(session, "plan");
    static arguments a, b;
    const tirc_kernel *kernel = tirc_kernel_at(ours, 0);
    fill(session, kernel, false, &a);
    fill(session, kernel, true, &b);
    tirc_launch launch = {
        .size = sizeof launch, .arguments = a.list, .argument_count = a.count, .no_contract = true};
    tirc_launch other = {.size = sizeof other,
                         .kernel = kernel_name,
                         .cooperative = strstr(plan, "\"cooperative\":true") != NULL,
                         .arguments = b.list,
                         .argument_count = b.count};
    const char *dynamic = strstr(plan, "\"dynamic_smem_bytes\":");
    if (!read_triple(plan, "grid", other.grid) || !read_triple(plan, "block", other.block) || !dynamic)
        stop(session, "launch of the plan");
    other.dynamic_shared_bytes = strtoull(dynamic + strlen("\"dynamic_smem_bytes\":"), NULL, 10);
    /* layouts: hand both sides physical storage */
    for (size_t i = 0; i < a.count; ++i) {
        if (a.list[i].is_scalar)
            continue;
        size_t bytes = a.list[i].bytes + SLACK;
        char *x = calloc(1, bytes), *y = calloc(1, bytes);
        if (!x || !y)
            return 2;
        memcpy(x, a.list[i].data, a.list[i].bytes);
        memcpy(y, b.list[i].data, b.list[i].bytes);
        a.list[i].data = x;
        b.list[i].data = y;
        a.list[i].bytes = b.list[i].bytes = bytes;
        a.list[i].shape = NULL;
    }
    if (tirc_run(ours, &launch, NULL) != TIRC_OK)
        stop(session, "our PTX");
    if (tirc_run(theirs, &other, NULL) != TIRC_OK)
        stop(session, "nvcc's PTX");
    double bound = tolerance(ours, session);
    int different = 0;
    for (size_t i = 0; i < a.count; ++i) {
        const tirc_parameter *parameter = &kernel->parameters[i];
        if (a.list[i].is_scalar)
            continue;
        if (!memcmp(a.list[i].data, b.list[i].data, a.list[i].bytes))
            continue;
        tirc_dtype dtype;
        tirc_dtype_find(parameter->dtype, &dtype);
        tirc_array x = {.dtype = parameter->dtype, .rank = 1, .count = a.list[i].bytes / (dtype.bits / 8)}, y;
        x.shape[0] = (int64_t)x.count;
        x.bytes = a.list[i].bytes;
        y = x;
        x.data = a.list[i].data;
        y.data = b.list[i].data;
        tirc_comparison c;
        if (tirc_array_compare(session, &x, &y, dtype.kind == 'f' ? bound : 0,
                               dtype.kind == 'f' ? bound / 10 : 0, &c) != TIRC_OK)
            stop(session, "comparison");
        if (!c.different && bound > 0)
            continue;
        fprintf(stderr,
                "%s: %" PRIu64 " elements differ; first %" PRIu64
                ": ours %.9g, through nvcc %.9g; worst %g\n",
                parameter->name, c.different, c.first, c.first_actual, c.first_expected, c.max_absolute);
        different = 1;
    }
    tirc_session_destroy(session);
    return different;
}
