/* SPDX-License-Identifier: Apache-2.0
 * One generated kernel on every road: the same inputs, and every tensor compared with what the plain run
 * gave. Exact kernels agree to the bit (any NaN equals any NaN), bounded ones within a tolerance by type. */
#include "check.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 16 };

typedef struct tensor {
    uint64_t elements, bytes;
    bool has_layout;
    int64_t shape[1];
    char *initial, *expected, *data;
    int64_t scalar;
} tensor;

typedef struct run_state {
    const kernel_text *kernel;
    tirc_session *session;
    tirc_module *module;
    const tirc_kernel *info;
    tensor tensors[MOST];
    size_t count;
    uint32_t grid[3], block[3];
    uint64_t dynamic;
    failure *failure;
    unsigned *runs;
} run_state;

/* ---- text sinks and messages ---- */
typedef struct buffer {
    char *data;
    size_t size;
} buffer;

static bool collect(void *user, const char *data, size_t size) {
    buffer *b = user;
    char *grown = realloc(b->data, b->size + size + 1);
    if (!grown)
        return false;
    b->data = grown;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    b->data[b->size] = 0;
    return true;
}

static bool fail(failure *f, const char *road, const char *what, tirc_session *session) {
    snprintf(f->road, sizeof f->road, "%s", road);
    size_t used = (size_t)snprintf(f->what, sizeof f->what, "%s", what);
    if (session && used < sizeof f->what) {
        buffer b = {NULL, 0};
        tirc_diagnostics_render(session, TIRC_FORMAT_LINE, false, collect, &b);
        snprintf(f->what + used, sizeof f->what - used, ": %.900s", b.data ? b.data : "no diagnostics");
        free(b.data);
    }
    return false;
}

/* ---- inputs ---- */
static uint64_t mix(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t integer_bits(uint64_t r, unsigned bits, uint64_t *state) {
    uint64_t one = 1;
    switch (r % 4) {
    case 0:
        return mix(state) % 20;
    case 1:
        return (uint64_t)0 - mix(state) % 20;
    case 2:
        return (one << mix(state) % bits) + mix(state) % 3 - 1;
    default:
        return mix(state);
    }
}

static uint64_t float_bits(const tirc_dtype *dtype, bool tame, uint64_t *state) {
    static const double special[] = {0.0,     -0.0,     INFINITY, -INFINITY, NAN,  1e-40, -1e-42, 65504,
                                     65519.9, 3e38,     1e-7,     0.5,       -2.5, 1.5,   1e300,  6e-8,
                                     257,     16777217, -1e-9,    1e9,       -3e9, 4.3e9, 1e19,   -128.7};
    uint64_t r = mix(state);
    double unit = (double)(mix(state) >> 11) * 0x1p-53;
    if (tame)
        return tirc_dtype_encode(dtype->name, unit * 6 - 3);
    switch (r % 8) {
    case 0:
    case 1:
    case 2:
        return tirc_dtype_encode(dtype->name, (double)(int64_t)(mix(state) % 65) / 4 - 8);
    case 3:
    case 4:
        return tirc_dtype_encode(dtype->name, (unit - 0.5) * 200);
    case 5:
        return tirc_dtype_encode(dtype->name, special[mix(state) % (sizeof special / sizeof special[0])]);
    case 6:
        return tirc_dtype_encode(dtype->name, ldexp(unit - 0.5, (int)(mix(state) % 60) - 30));
    default:
        return mix(state);
    }
}

static void fill(tensor *t, const tirc_parameter *parameter, const tirc_dtype *dtype, bool tame,
                 uint64_t seed) {
    uint64_t state = seed;
    for (uint64_t i = 0; i < t->elements; i++) {
        uint64_t r = mix(&state), bits;
        if (parameter->name[0] == 'Z')
            bits = 0;
        else if (dtype->kind == 'b')
            bits = r & 1;
        else if (dtype->kind == 'f')
            bits = float_bits(dtype, tame, &state);
        else
            bits = integer_bits(r, dtype->bits, &state);
        memcpy(t->initial + i * (dtype->bits / 8), &bits, dtype->bits / 8);
    }
}

/* "NAME=ELEMENTS[L]" or "NAME:VALUE" on the kernel's comment line. */
static bool described(const kernel_text *kernel, const char *name, char mark, char **end, long long *value) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s%c", name, mark);
    const char *stop = memchr(kernel->text, '\n', kernel->size),
               *at = memmem(kernel->text, (size_t)(stop - kernel->text), wanted, strlen(wanted));
    if (!at)
        return false;
    *value = strtoll(at + strlen(wanted), end, 10);
    return true;
}

static bool make_inputs(run_state *s) {
    s->count = s->info->parameter_count;
    if (s->count > MOST)
        return fail(s->failure, "inputs", "too many parameters", NULL);
    for (size_t i = 0; i < s->count; i++) {
        const tirc_parameter *parameter = &s->info->parameters[i];
        tensor *t = &s->tensors[i];
        long long value;
        char *end;
        tirc_dtype dtype;
        if (!parameter->is_tensor) {
            if (!described(s->kernel, parameter->name, ':', &end, &value))
                return fail(s->failure, "inputs", "a scalar without a value", NULL);
            t->scalar = value;
            t->bytes = parameter->bytes;
            continue;
        }
        if (!described(s->kernel, parameter->name, '=', &end, &value) ||
            !tirc_dtype_find(parameter->dtype, &dtype))
            return fail(s->failure, "inputs", "a tensor without a size", NULL);
        t->elements = (uint64_t)value;
        t->has_layout = *end == 'L';
        t->shape[0] = value;
        t->bytes = t->elements * (dtype.bits / 8);
        t->initial = malloc(t->bytes);
        t->expected = malloc(t->bytes);
        t->data = malloc(t->bytes);
        if (!t->initial || !t->expected || !t->data)
            return fail(s->failure, "inputs", "no memory", NULL);
        fill(t, parameter, &dtype, !strcmp(s->kernel->kind, "bounded"), i + 1);
    }
    return true;
}

/* ---- launches ---- */
static bool read_triple(const char *json, const char *key, uint32_t *out) {
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    const char *at = strstr(json, pattern);
    return at &&
           sscanf(at + strlen(pattern), "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &out[0], &out[1], &out[2]) == 3;
}

static bool read_plan(run_state *s) {
    buffer plan = {NULL, 0};
    bool good = tirc_emit(s->module, TIRC_EMIT_PLAN_JSON, NULL, collect, &plan) == TIRC_OK &&
                read_triple(plan.data, "grid", s->grid) && read_triple(plan.data, "block", s->block);
    const char *dynamic = good ? strstr(plan.data, "\"dynamic_smem_bytes\":") : NULL;
    if (dynamic)
        s->dynamic = strtoull(dynamic + strlen("\"dynamic_smem_bytes\":"), NULL, 10);
    free(plan.data);
    return dynamic || fail(s->failure, "plan", "no launch", s->session);
}

typedef struct variant {
    const char *name, *skip, *level;
    unsigned threads;
    tirc_schedule schedule;
    bool on_gpu;
} variant;

static bool launch(run_state *s, tirc_session *session, tirc_module *module, const variant *v,
                   bool by_number) {
    static const char *const numbers[MOST] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                              "8", "9", "10", "11", "12", "13", "14", "15"};
    tirc_argument list[MOST];
    char name[48];
    snprintf(name, sizeof name, "%s%s", s->kernel->name, by_number ? "_kernel" : "");
    memset(list, 0, sizeof list);
    for (size_t i = 0; i < s->count; i++) {
        tensor *t = &s->tensors[i];
        list[i].name = by_number ? numbers[i] : s->info->parameters[i].name;
        list[i].bytes = t->bytes;
        list[i].is_scalar = !t->initial;
        list[i].data = t->initial ? (void *)t->data : (void *)&t->scalar;
        if (t->initial)
            memcpy(t->data, t->initial, t->bytes);
        if (t->has_layout && !by_number && s->info->parameters[i].rank != 1) {
            list[i].rank = 1;
            list[i].shape = t->shape;
        }
    }
    tirc_launch l = {.size = sizeof l,
                     .kernel = name,
                     .arguments = list,
                     .argument_count = s->count,
                     .threads = v->threads,
                     .schedule = v->schedule,
                     .seed = 7,
                     .step_limit = 20000000,
                     .no_contract = true,
                     .skip = v->skip,
                     .level = v->level,
                     .on_gpu = v->on_gpu};
    if (by_number) {
        memcpy(l.grid, s->grid, sizeof l.grid);
        memcpy(l.block, s->block, sizeof l.block);
        l.dynamic_shared_bytes = s->dynamic;
    }
    ++*s->runs;
    return tirc_run(module, &l, NULL) == TIRC_OK || fail(s->failure, v->name, "run", session);
}

/* ---- comparison ---- */
static double tolerance(const char *dtype) {
    return !strcmp(dtype, "float64")   ? 1e-11
           : !strcmp(dtype, "float32") ? 2e-5
           : !strcmp(dtype, "float16") ? 4e-2
                                       : 3e-1;
}

/* C leaves open which zero fminf(0, -0) gives, and nvcc, when it folds one, takes another than min.f32 does.
 */
static bool zeros_are_open(const run_state *s, const char *road) {
    return !strcmp(road, "nvcc") && (memmem(s->kernel->text, s->kernel->size, "T.min(", 6) ||
                                     memmem(s->kernel->text, s->kernel->size, "T.max(", 6));
}

static bool same(const char *dtype, char kind, bool bounded, bool any_zero, uint64_t a, uint64_t b) {
    if (a == b)
        return true;
    if (kind != 'f')
        return false;
    double x = tirc_dtype_decode(dtype, a), y = tirc_dtype_decode(dtype, b);
    if (any_zero && x == 0 && y == 0)
        return true;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return bounded && fabs(x - y) <= tolerance(dtype) * (1 + fabs(y));
}

static bool compare(run_state *s, const char *road) {
    for (size_t i = 0; i < s->count; i++) {
        const tensor *t = &s->tensors[i];
        tirc_dtype dtype;
        if (!t->initial || !memcmp(t->data, t->expected, t->bytes))
            continue;
        const tirc_parameter *parameter = &s->info->parameters[i];
        tirc_dtype_find(parameter->dtype, &dtype);
        for (uint64_t k = 0; k < t->elements; k++) {
            uint64_t a = 0, b = 0;
            memcpy(&a, t->data + k * (dtype.bits / 8), dtype.bits / 8);
            memcpy(&b, t->expected + k * (dtype.bits / 8), dtype.bits / 8);
            if (same(parameter->dtype, dtype.kind, !strcmp(s->kernel->kind, "bounded"),
                     zeros_are_open(s, road), a, b))
                continue;
            char what[256];
            snprintf(what, sizeof what,
                     "%s (%s) element %" PRIu64 ": %#" PRIx64 " (%.17g), plain run %#" PRIx64 " (%.17g)",
                     parameter->name, parameter->dtype, k, a, tirc_dtype_decode(parameter->dtype, a), b,
                     tirc_dtype_decode(parameter->dtype, b));
            return fail(s->failure, road, what, NULL);
        }
    }
    return true;
}

static bool run_and_compare(run_state *s, tirc_session *session, tirc_module *module, const variant *v,
                            bool by_number) {
    return launch(s, session, module, v, by_number) && compare(s, v->name);
}

/* ---- roads ---- */
static bool load(tirc_session *session, const char *name, const char *text, size_t size,
                 tirc_module **module) {
    tirc_source source = {.size = sizeof source, .name = name, .text = text, .text_size = size};
    return tirc_load(session, &source, module) == TIRC_OK;
}

/* Written out as text and read again: IR, then PTX. */
static bool through_text(run_state *s, tirc_emit_format what, const char *road, const char *name) {
    tirc_session *session = tirc_session_create(NULL);
    buffer text = {NULL, 0}, again = {NULL, 0};
    tirc_emit_options options = {.size = sizeof options, .no_contract = true};
    tirc_module *module;
    variant v = {.name = road, .threads = 1};
    bool good = true;
    if (tirc_emit(s->module, what, &options, collect, &text) != TIRC_OK)
        good = fail(s->failure, road, "emit", s->session);
    if (good && !load(session, name, text.data, text.size, &module))
        good = fail(s->failure, road, "read back", session);
    if (good && tirc_emit(module, what, &options, collect, &again) != TIRC_OK)
        good = fail(s->failure, road, "emit again", session);
    if (good && (text.size != again.size || memcmp(text.data, again.data, text.size) != 0))
        good = fail(s->failure, road, "the text changes when it is read and written again", NULL);
    if (good)
        good = run_and_compare(s, session, module, &v, what == TIRC_EMIT_PTX);
    free(text.data);
    free(again.data);
    tirc_session_destroy(session);
    return good;
}

static bool machine_roads(run_state *s) {
    char all[1024] = "";
    const char *pass, *summary;
    variant list[64] = {{.name = "level x86-64", .level = "x86-64", .threads = 1},
                        {.name = "level x86-64-v3", .level = "x86-64-v3", .threads = 1},
                        {.name = "two threads", .threads = 2},
                        {.name = "late", .threads = 1, .schedule = TIRC_SCHEDULE_LATE},
                        {.name = "random schedule", .threads = 2, .schedule = TIRC_SCHEDULE_RANDOM}};
    size_t count = 5;
    static char names[48][64];
    for (size_t i = 0, n = 0; (pass = tirc_pass_at(i, &summary)) != NULL; i++) {
        if (strncmp(pass, "optimise_", 9) != 0 || n >= 48)
            continue;
        snprintf(names[n], sizeof names[n], "skip %s", pass);
        list[count++] = (variant){.name = names[n++], .skip = pass, .threads = 1};
        if (strlen(all) + strlen(pass) + 2 < sizeof all) {
            strcat(all, all[0] ? "," : "");
            strcat(all, pass);
        }
    }
    list[count++] = (variant){.name = "skip all", .skip = all, .threads = 1};
    for (size_t i = 0; i < count; i++)
        if (!run_and_compare(s, s->session, s->module, &list[i], false))
            return false;
    return through_text(s, TIRC_EMIT_IR, "IR text", "k.tir") &&
           through_text(s, TIRC_EMIT_PTX, "PTX text", "k.ptx");
}

static bool all_roads(const settings *options, run_state *s, tirc_session *session, tirc_module *ptx) {
    variant plain = {.name = "plain", .threads = 1}, nvcc = {.name = "nvcc", .threads = 1};
    buffer text = {NULL, 0};
    collect(&text, options->prelude, options->prelude_size);
    collect(&text, s->kernel->text, s->kernel->size);
    bool good = load(s->session, "k.py", text.data, text.size, &s->module);
    free(text.data);
    if (!good)
        return fail(s->failure, "load", "load", s->session);
    s->info = tirc_kernel_at(s->module, 0);
    if (!s->info)
        return fail(s->failure, "load", "no kernel", NULL);
    if (!make_inputs(s) || !read_plan(s) || !launch(s, s->session, s->module, &plain, false))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->tensors[i].initial)
            memcpy(s->tensors[i].expected, s->tensors[i].data, s->tensors[i].bytes);
    if (options->all_roads && !machine_roads(s))
        return false;
    const variant gpu = {.name = "GPU", .on_gpu = true};
    if (options->gpu && !run_and_compare(s, s->session, s->module, &gpu, false))
        return false;
    return !ptx || run_and_compare(s, session, ptx, &nvcc, true);
}

bool check_kernel(const settings *options, const kernel_text *kernel, tirc_session *session, tirc_module *ptx,
                  failure *out, unsigned *runs) {
    run_state s = {.kernel = kernel, .session = tirc_session_create(NULL), .failure = out, .runs = runs};
    bool good = s.session && all_roads(options, &s, session, ptx);
    for (size_t i = 0; i < MOST; i++) {
        free(s.tensors[i].initial);
        free(s.tensors[i].expected);
        free(s.tensors[i].data);
    }
    tirc_session_destroy(s.session);
    return good;
}

/* ---- nvcc ---- */
static bool write_file(const char *path, const buffer *b) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(b->data, 1, b->size, file) == b->size;
    return file ? fclose(file) == 0 && good : false;
}

static bool read_file(const char *path, buffer *b) {
    FILE *file = fopen(path, "rb");
    char piece[65536];
    size_t size;
    while (file && (size = fread(piece, 1, sizeof piece, file)) > 0)
        collect(b, piece, size);
    if (file)
        fclose(file);
    return b->size > 0;
}

tirc_module *check_compile(settings *s, const kernel_text *kernels, size_t count, tirc_session *session,
                           failure *out) {
    buffer script = {NULL, 0}, cuda = {NULL, 0}, ptx = {NULL, 0}, log = {NULL, 0};
    tirc_session *own = tirc_session_create(NULL);
    tirc_module *module = NULL, *result = NULL;
    char source[512], target[512], messages[512], command[2048];
    int number = s->number++;
    snprintf(source, sizeof source, "%s/n%d.cu", s->folder, number);
    snprintf(target, sizeof target, "%s/n%d.ptx", s->folder, number);
    snprintf(messages, sizeof messages, "%s/n%d.log", s->folder, number);
    snprintf(command, sizeof command, "'%s' -w -fmad=false -ptx -arch=sm_90a -o %s %s >%s 2>&1", s->nvcc,
             target, source, messages);
    collect(&script, s->prelude, s->prelude_size);
    for (size_t i = 0; i < count; i++)
        collect(&script, kernels[i].text, kernels[i].size);
    if (!load(own, "k.py", script.data, script.size, &module) ||
        tirc_emit(module, TIRC_EMIT_CUDA, NULL, collect, &cuda) != TIRC_OK)
        fail(out, "CUDA text", "emit", own);
    else if (!write_file(source, &cuda))
        fail(out, "CUDA text", "cannot write", NULL);
    else if (system(command) != 0) {
        read_file(messages, &log);
        snprintf(out->road, sizeof out->road, "nvcc refuses");
        snprintf(out->what, sizeof out->what, "%.900s", log.data ? log.data : "no message");
    } else if (!read_file(target, &ptx) || !load(session, "n.ptx", ptx.data, ptx.size, &result)) {
        result = NULL;
        fail(out, "nvcc's PTX", "load", session);
    }
    if (result) {
        unlink(source);
        unlink(target);
    }
    unlink(messages);
    free(script.data);
    free(cuda.data);
    free(ptx.data);
    free(log.data);
    tirc_session_destroy(own);
    return result;
}
