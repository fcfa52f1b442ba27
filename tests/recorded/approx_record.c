/* SPDX-License-Identifier: Apache-2.0
 * approx_record OUT_DIR: what the first CUDA device gives for every approximate instruction.
 * OUT_DIR/approx.txt: for each form, a digest of all results of each sign and exponent (all 2^32 inputs).
 * OUT_DIR/arrays-N.bin: results over whole ranges of mantissas, from which tables are fitted (approx_fit.c).
 * Needs the CUDA driver only, through dlopen. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "approx.h"

typedef unsigned long long pointer;
static struct driver {
    int (*init)(unsigned);
    int (*version)(int *);
    int (*device)(int *, int);
    int (*name)(char *, int, int);
    int (*retain)(void **, int);
    int (*current)(void *);
    int (*load)(void **, const char *, unsigned, int *, void **);
    int (*function)(void **, void *, const char *);
    int (*allocate)(pointer *, size_t);
    int (*down)(void *, pointer, size_t);
    int (*set)(pointer, unsigned char, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                  void **, void **);
    int (*wait)(void);
    int (*text)(int, const char **);
} cuda;

static void open_driver(void) {
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
        {"cuInit", offsetof(struct driver, init)},
        {"cuDriverGetVersion", offsetof(struct driver, version)},
        {"cuDeviceGet", offsetof(struct driver, device)},
        {"cuDeviceGetName", offsetof(struct driver, name)},
        {"cuDevicePrimaryCtxRetain", offsetof(struct driver, retain)},
        {"cuCtxSetCurrent", offsetof(struct driver, current)},
        {"cuModuleLoadDataEx", offsetof(struct driver, load)},
        {"cuModuleGetFunction", offsetof(struct driver, function)},
        {"cuMemAlloc_v2", offsetof(struct driver, allocate)},
        {"cuMemcpyDtoH_v2", offsetof(struct driver, down)},
        {"cuMemsetD8_v2", offsetof(struct driver, set)},
        {"cuLaunchKernel", offsetof(struct driver, launch)},
        {"cuCtxSynchronize", offsetof(struct driver, wait)},
        {"cuGetErrorName", offsetof(struct driver, text)},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "approx_record: %s\n", dlerror());
        exit(3);
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(library, entries[i].name);
        if (entry == NULL) {
            fprintf(stderr, "approx_record: the driver has no %s\n", entries[i].name);
            exit(3);
        }
        memcpy((char *)&cuda + entries[i].offset, &entry, sizeof entry);
    }
}

static void need(int code, const char *what) {
    const char *name = NULL;
    if (code == 0)
        return;
    cuda.text(code, &name);
    fprintf(stderr, "approx_record: %s: %s\n", what, name ? name : "?");
    exit(1);
}

/* %r2: input, %r3: result. Wide forms take and give the upper word of a double. */
static const char *const call_text[] = {
    [APPROX_F32] = "mov.b32 %%f1, %%r2;\n%s %%f2, %%f1;\nmov.b32 %%r3, %%f2;\n",
    [APPROX_F64] = "mov.b32 %%r4, 0;\nmov.b64 %%d1, {%%r4, %%r2};\n%s %%d2, %%d1;\nmov.b64 {%%r4, %%r3}, "
                   "%%d2;\n",
    [APPROX_F16] = "cvt.u16.u32 %%h1, %%r2;\n%s %%h2, %%h1;\ncvt.u32.u16 %%r3, %%h2;\n"};

/* Kernels over inputs first + step * i. `digest`: each thread takes 1024 inputs and adds the mixes of
 * approx_mix to sums[input >> shift]; `array`: stores results. The loop counts down: ptxas 13.0 compares an
 * input that counts up with its end as signed numbers, and that loop never ends where it passes 2^31. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry digest(.param .u64 sums, .param .u32 first, .param .u32 shift)\n{\n"
    ".reg .b16 %%h<3>;\n.reg .b32 %%r<9>;\n.reg .f32 %%f<3>;\n.reg .b64 %%l<9>;\n.reg .f64 %%d<3>;\n.reg "
    ".pred %%p;\n"
    "mov.u32 %%r5, %%ctaid.x;\nmov.u32 %%r6, %%ntid.x;\nmov.u32 %%r7, %%tid.x;\n"
    "mad.lo.u32 %%r5, %%r5, %%r6, %%r7;\nshl.b32 %%r5, %%r5, 10;\nld.param.u32 %%r6, [first];\n"
    "add.u32 %%r2, %%r5, %%r6;\nmov.u32 %%r8, 1024;\nmov.u64 %%l4, 0;\n"
    "again:\n%1$s"
    "cvt.u64.u32 %%l1, %%r2;\nmov.u64 %%l2, 0x9e3779b97f4a7c15;\nmul.lo.u64 %%l1, %%l1, %%l2;\n"
    "cvt.u64.u32 %%l2, %%r3;\nadd.u64 %%l1, %%l1, %%l2;\nshr.u64 %%l2, %%l1, 32;\nxor.b64 %%l1, %%l1, %%l2;\n"
    "mov.u64 %%l3, 0xd6e8feb86659fd93;\nmul.lo.u64 %%l1, %%l1, %%l3;\nshr.u64 %%l2, %%l1, 32;\n"
    "xor.b64 %%l1, %%l1, %%l2;\nadd.u64 %%l4, %%l4, %%l1;\n"
    "add.u32 %%r2, %%r2, 1;\nsub.u32 %%r8, %%r8, 1;\nsetp.ne.u32 %%p, %%r8, 0;\n@%%p bra again;\n"
    "sub.u32 %%r2, %%r2, 1;\nld.param.u32 %%r6, [shift];\nshr.u32 %%r2, %%r2, %%r6;\nld.param.u64 %%l5, "
    "[sums];\n"
    "mad.wide.u32 %%l5, %%r2, 8, %%l5;\nred.global.add.u64 [%%l5], %%l4;\nret;\n}\n"
    ".visible .entry array(.param .u64 out, .param .u32 first, .param .u32 step)\n{\n"
    ".reg .b16 %%h<3>;\n.reg .b32 %%r<9>;\n.reg .f32 %%f<3>;\n.reg .b64 %%l<9>;\n.reg .f64 %%d<3>;\n"
    "mov.u32 %%r5, %%ctaid.x;\nmov.u32 %%r6, %%ntid.x;\nmov.u32 %%r7, %%tid.x;\n"
    "mad.lo.u32 %%r5, %%r5, %%r6, %%r7;\nld.param.u32 %%r6, [first];\nld.param.u32 %%r7, [step];\n"
    "mad.lo.u32 %%r2, %%r5, %%r7, %%r6;\n%1$s"
    "ld.param.u64 %%l5, [out];\nmad.wide.u32 %%l5, %%r5, 4, %%l5;\nst.global.u32 [%%l5], %%r3;\nret;\n}\n";

static void *load(const approx_form *form) {
    char call[400], text[6000], log[2000] = "";
    int options[] = {5, 6}; /* CU_JIT_ERROR_LOG_BUFFER, its size */
    void *values[] = {log, (void *)(uintptr_t)sizeof log}, *module;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(call, sizeof call, call_text[form->kind], form->text);
    snprintf(text, sizeof text, module_text, call);
#pragma GCC diagnostic pop
    int code = cuda.load(&module, text, 2, options, values);
    if (code)
        fprintf(stderr, "%s\n", log);
    need(code, form->text);
    return module;
}

static void digests(FILE *list, const approx_form *form, void *module, pointer sums) {
    static uint64_t values[APPROX_MOST_BLOCKS];
    void *function;
    uint32_t shift = approx_shift(form), blocks = approx_blocks(form);
    uint64_t inputs = approx_inputs(form);
    need(cuda.function(&function, module, "digest"), "digest");
    need(cuda.set(sums, 0, sizeof values), "set");
    uint32_t per_launch = inputs > 1u << 30 ? 1u << 30 : (uint32_t)inputs, threads = 64;
    for (uint64_t first = 0; first < inputs; first += per_launch) {
        uint32_t start = (uint32_t)first;
        void *arguments[] = {&sums, &start, &shift};
        need(cuda.launch(function, per_launch / (threads * 1024), 1, 1, threads, 1, 1, 0, NULL, arguments,
                         NULL),
             form->text);
    }
    need(cuda.wait(), form->text);
    need(cuda.down(values, sums, sizeof values), "copy");
    fprintf(list, "form\t%s\t", form->text);
    for (uint32_t i = 0; i < blocks; i++)
        fprintf(list, "%016" PRIx64, values[i]);
    fprintf(list, "\n");
}

/* Results as second differences, two bits each; what does not fit follows as a whole word. */
typedef struct packer {
    const char *folder;
    FILE *file;
    unsigned files;
    size_t written;
    uint64_t bits;
    unsigned held;
} packer;

static void put(packer *p, uint32_t value, unsigned bits) {
    p->bits |= (uint64_t)value << p->held;
    for (p->held += bits; p->held >= 8; p->held -= 8, p->bits >>= 8, p->written++)
        if (putc((int)(p->bits & 255), p->file) == EOF) {
            fprintf(stderr, "approx_record: cannot write: %s\n", strerror(errno));
            exit(1);
        }
}

static void pack(packer *p, const char *name, uint32_t first, uint32_t step, const uint32_t *y,
                 uint32_t count) {
    if (p->file == NULL || p->written > 12u << 20) {
        char path[512];
        snprintf(path, sizeof path, "%s/arrays-%u.bin", p->folder, p->files++);
        if (p->file)
            fclose(p->file);
        p->file = fopen(path, "wb");
        p->written = 0;
        if (!p->file) {
            fprintf(stderr, "approx_record: %s: %s\n", path, strerror(errno));
            exit(1);
        }
    }
    fprintf(p->file, "%s\n%u %u %u\n", name, first, step, count);
    uint32_t last = 0, slope = 0, escapes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t change = y[i] - last - slope;
        if (change + 1 <= 2) {
            put(p, change + 1, 2);
        } else {
            put(p, 3, 2);
            put(p, change, 32);
            escapes++;
        }
        slope = y[i] - last;
        last = y[i];
    }
    put(p, 0, 7);
    p->bits = p->held = 0;
    printf("%s from %08" PRIx32 ": %u results, %u escapes\n", name, first, count, escapes);
}

static void arrays(packer *p, const approx_form *form, void *module, pointer out) {
    void *function;
    need(cuda.function(&function, module, "array"), "array");
    for (const approx_range *range = approx_ranges; range->form; range++) {
        if (strcmp(range->form, form->text) != 0)
            continue;
        uint32_t first = range->first, step = range->step, count = range->count;
        uint32_t *y = malloc((size_t)count * 4);
        void *arguments[] = {&out, &first, &step};
        need(cuda.launch(function, count / 256, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL), form->text);
        need(cuda.wait(), form->text);
        need(cuda.down(y, out, (size_t)count * 4), "copy");
        pack(p, form->text, first, step, y, count);
        free(y);
    }
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: approx_record OUT_DIR\n");
        return 2;
    }
    char path[512], name[128] = "";
    int device, version = 0;
    void *context;
    pointer memory;
    mkdir(arguments[1], 0777);
    snprintf(path, sizeof path, "%s/approx.txt", arguments[1]);
    FILE *list = fopen(path, "w");
    if (!list) {
        fprintf(stderr, "approx_record: %s: %s\n", path, strerror(errno));
        return 1;
    }
    open_driver();
    need(cuda.init(0), "cuInit");
    cuda.version(&version);
    need(cuda.device(&device, 0), "device");
    cuda.name(name, sizeof name, device);
    need(cuda.retain(&context, device), "context");
    need(cuda.current(context), "context");
    need(cuda.allocate(&memory, (size_t)4 << 23), "memory");
    fprintf(list, "device\t%s\tdriver %d\n", name, version);
    packer p = {.folder = arguments[1]};
    for (const approx_form *form = approx_forms; form->text; form++) {
        void *module = load(form);
        digests(list, form, module, memory);
        arrays(&p, form, module, memory);
    }
    if (p.file)
        fclose(p.file);
    fclose(list);
    printf("%s: %s\n", arguments[1], name);
    return 0;
}
