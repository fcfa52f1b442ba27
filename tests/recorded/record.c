/* SPDX-License-Identifier: Apache-2.0
 * record OUT_DIR: runs the conformance set on the first CUDA device and writes OUT_DIR/recorded.txt (digests;
 * words of approximate results) and OUT_DIR/outputs-N.bin (all outputs). Needs the CUDA driver only,
 * through dlopen. */
#include "cases.h"
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int result;
typedef unsigned long long pointer;
static struct driver {
    result (*init)(unsigned);
    result (*version)(int *);
    result (*device)(int *, int);
    result (*name)(char *, int, int);
    result (*attribute)(int *, int, int);
    result (*retain)(void **, int);
    result (*current)(void *);
    result (*load)(void **, const char *, unsigned, int *, void **);
    result (*unload)(void *);
    result (*function)(void **, void *, const char *);
    result (*allocate)(pointer *, size_t);
    result (*release)(pointer);
    result (*up)(pointer, const void *, size_t);
    result (*down)(void *, pointer, size_t);
    result (*set)(pointer, unsigned char, size_t);
    result (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                     void **, void **);
    result (*wait)(void);
    result (*text)(result, const char **);
} cuda;

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "record: %s\n", dlerror());
        exit(3);
    }
    static const struct {
        const char *name;
        size_t offset;
    } entries[] = {
        {"cuInit", offsetof(struct driver, init)},
        {"cuDriverGetVersion", offsetof(struct driver, version)},
        {"cuDeviceGet", offsetof(struct driver, device)},
        {"cuDeviceGetName", offsetof(struct driver, name)},
        {"cuDeviceGetAttribute", offsetof(struct driver, attribute)},
        {"cuDevicePrimaryCtxRetain", offsetof(struct driver, retain)},
        {"cuCtxSetCurrent", offsetof(struct driver, current)},
        {"cuModuleLoadDataEx", offsetof(struct driver, load)},
        {"cuModuleUnload", offsetof(struct driver, unload)},
        {"cuModuleGetFunction", offsetof(struct driver, function)},
        {"cuMemAlloc_v2", offsetof(struct driver, allocate)},
        {"cuMemFree_v2", offsetof(struct driver, release)},
        {"cuMemcpyHtoD_v2", offsetof(struct driver, up)},
        {"cuMemcpyDtoH_v2", offsetof(struct driver, down)},
        {"cuMemsetD8_v2", offsetof(struct driver, set)},
        {"cuLaunchKernel", offsetof(struct driver, launch)},
        {"cuCtxSynchronize", offsetof(struct driver, wait)},
        {"cuGetErrorName", offsetof(struct driver, text)},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        void *entry = dlsym(library, entries[i].name);
        if (entry == NULL) {
            fprintf(stderr, "record: the driver has no %s\n", entries[i].name);
            exit(3);
        }
        memcpy((char *)&cuda + entries[i].offset, &entry, sizeof entry);
    }
}

static const char *error_name(result code) {
    const char *name = NULL;
    cuda.text(code, &name);
    return name ? name : "?";
}

static void need(result code, const char *what) {
    if (code != 0) {
        fprintf(stderr, "record: %s: %s\n", what, error_name(code));
        exit(1);
    }
}

typedef struct recorder {
    FILE *list;
    const char *folder;
    FILE *outputs; /* OUT_DIR/outputs-N.bin: all outputs of one case after the other */
    size_t written;
    unsigned files, cases;
    unsigned *next; /* first case that no process has begun; shared by the processes */
    bool lost;      /* the context is gone: this process runs nothing more */
} recorder;

enum { FILE_LIMIT = 14 << 20 };

static void write_outputs(recorder *r, const uint32_t *out, size_t words) {
    if (r->outputs == NULL || r->written + words * 4 > FILE_LIMIT) {
        char path[512];
        snprintf(path, sizeof path, "%s/outputs-%u.bin", r->folder, r->files++);
        if (r->outputs != NULL)
            fclose(r->outputs);
        r->outputs = fopen(path, "wb");
        r->written = 0;
    }
    if (r->outputs == NULL || fwrite(out, 4, words, r->outputs) != words) {
        fprintf(stderr, "record: cannot write outputs: %s\n", strerror(errno));
        exit(1);
    }
    r->written += words * 4;
}

static void write_case(recorder *r, const recorded_case *c, const uint32_t *in, const uint32_t *out) {
    size_t in_words = (size_t)c->blocks * c->threads * c->in_words;
    size_t out_words = (size_t)c->blocks * c->threads * c->out_words;
    uint64_t inputs = case_digest(14695981039346656037u, in, in_words * 4);
    inputs = case_digest(inputs, c->ptx, strlen(c->ptx));
    fprintf(r->list, "case\t%s\t%016" PRIx64 "\n", c->name, inputs);
    for (unsigned p = 0; p < c->part_count; p++) {
        const case_part *part = &c->parts[p];
        fprintf(r->list, "%s\t%s\t", c->bounded ? "words" : "part", part->name);
        if (!c->bounded)
            for (unsigned block = 0; block < c->blocks; block++)
                fprintf(r->list, "%08" PRIx32, (uint32_t)case_part_digest(c, part, out, block));
        else
            for (size_t t = 0; t < (size_t)c->blocks * c->threads; t++)
                for (unsigned i = 0; i < part->count; i++)
                    fprintf(r->list, "%08" PRIx32, out[t * c->out_words + part->first + i]);
        fprintf(r->list, "\n");
    }
    write_outputs(r, out, out_words);
}

static void run(recorder *r, const recorded_case *c, void *module) {
    void *function;
    need(cuda.function(&function, module, "k"), c->name);
    size_t in_bytes = (size_t)c->blocks * c->threads * c->in_words * 4;
    size_t out_bytes = (size_t)c->blocks * c->threads * c->out_words * 4;
    uint32_t *in = case_inputs(c), *out = malloc(out_bytes);
    pointer device_in, device_out;
    need(cuda.allocate(&device_in, in_bytes + 64), "memory");
    need(cuda.allocate(&device_out, out_bytes + 64), "memory");
    need(cuda.up(device_in, in, in_bytes), "copy");
    need(cuda.set(device_out, 0xee, out_bytes), "set");
    void *arguments[] = {&device_in, &device_out};
    result code = cuda.launch(function, c->blocks, 1, 1, c->threads, 1, 1, 0, NULL, arguments, NULL);
    if (code == 0)
        code = cuda.wait();
    if (code == 0)
        code = cuda.down(out, device_out, out_bytes);
    if (code != 0) {
        fprintf(r->list, "failed\t%s\t%s\n", c->name, error_name(code));
        fprintf(stderr, "record: %s: %s\n", c->name, error_name(code));
        r->lost = true;
    } else {
        write_case(r, c, in, out);
        cuda.release(device_in);
        cuda.release(device_out);
    }
    free(in);
    free(out);
}

static void record(void *user, const recorded_case *c) {
    recorder *r = user;
    if (r->cases++ < *r->next || r->lost)
        return;
    (*r->next)++;
    char log[1024] = "";
    int options[] = {5, 6}; /* CU_JIT_ERROR_LOG_BUFFER, its size */
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    void *module;
    result code = cuda.load(&module, c->ptx, 2, options, values);
    if (code != 0) {
        log[strcspn(log, "\n")] = 0;
        fprintf(r->list, "refused\t%s\t%s\t%s\n", c->name, error_name(code), log);
        return;
    }
    run(r, c, module);
    if (!r->lost)
        cuda.unload(module);
}

/* One process until the end, or until a kernel takes the context with it. */
static int record_some(recorder *r) {
    open_driver();
    int device, driver_version = 0, major = 0, minor = 0;
    char name[128] = "";
    void *context;
    need(cuda.init(0), "cuInit");
    cuda.version(&driver_version);
    need(cuda.device(&device, 0), "device");
    cuda.name(name, sizeof name, device);
    cuda.attribute(&major, 75, device);
    cuda.attribute(&minor, 76, device);
    need(cuda.retain(&context, device), "context");
    need(cuda.current(context), "context");
    char path[512];
    snprintf(path, sizeof path, "%s/recorded.txt", r->folder);
    r->list = fopen(path, *r->next ? "a" : "w");
    if (r->list == NULL) {
        fprintf(stderr, "record: %s: %s\n", path, strerror(errno));
        return 1;
    }
    if (*r->next == 0)
        fprintf(r->list, "device\t%s\tsm_%d%d\tdriver %d\n", name, major, minor, driver_version);
    cases_make(record, r);
    fclose(r->list);
    if (r->outputs != NULL)
        fclose(r->outputs);
    return r->lost ? 7 : 0;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: record OUT_DIR\n");
        return 2;
    }
    mkdir(arguments[1], 0777);
    unsigned *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return 1;
    for (int lost = 0; lost < 50; lost++) {
        pid_t child = fork();
        if (child == 0) {
            recorder r = {.folder = arguments[1], .next = next, .files = (unsigned)lost * 10};
            _exit(record_some(&r));
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return 1;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
            printf("%s: %u cases, the context was lost %d times\n", arguments[1], *next, lost);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        }
    }
    return 1;
}
