/* SPDX-License-Identifier: Apache-2.0
 * NVIDIA's compiler of CUDA C++ text as a library, opened at run time: text in, PTX out. TIRC_LIBNVRTC names
 * the library. Numbers and functions are those of NVRTC 12 and later (NVRTC documentation, "User Interface").
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpu/gpu_driver.h"

/* X(field, exported name, parameters) */
/* clang-format off */
#define NVRTC_FUNCTIONS(X) \
    X(version, "nvrtcVersion", (int *, int *)) \
    X(create, "nvrtcCreateProgram", (void **, const char *, const char *, int, const char *const *, const char *const *)) \
    X(compile, "nvrtcCompileProgram", (void *, int, const char *const *)) \
    X(log_size, "nvrtcGetProgramLogSize", (void *, size_t *)) \
    X(log, "nvrtcGetProgramLog", (void *, char *)) \
    X(ptx_size, "nvrtcGetPTXSize", (void *, size_t *)) \
    X(ptx, "nvrtcGetPTX", (void *, char *)) \
    X(destroy, "nvrtcDestroyProgram", (void **))
/* clang-format on */
typedef struct nvrtc {
    void *library;
#define X(field, name, parameters) int(*field) parameters;
    NVRTC_FUNCTIONS(X)
#undef X
} nvrtc;

static bool open_library(nvrtc *n, gpu_problem *problem) {
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so",
                                        "/usr/local/cuda/lib/libnvrtc.so"};
    const char *asked = getenv("TIRC_LIBNVRTC"), *missing = NULL;
    char first[200] = "";
    memset(n, 0, sizeof *n);
    if (asked && *asked) {
        n->library = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
        snprintf(first, sizeof first, "%s", n->library ? "" : dlerror());
    } else {
        for (size_t i = 0; i < sizeof names / sizeof names[0] && !n->library; ++i) {
            n->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
            if (!n->library && i == 0)
                snprintf(first, sizeof first, "%s", dlerror());
        }
    }
    if (!n->library) {
        problem_set(problem, "T0920", "NVRTC is not here (%s)", first);
        problem_help(problem,
                     "leave out --via nvrtc: tirc writes PTX itself; or name the library in TIRC_LIBNVRTC");
        return false;
    }
#define X(field, name, parameters)                                                                           \
    *(void **)(void *)&n->field = dlsym(n->library, name);                                                   \
    missing = n->field ? missing : name;
    NVRTC_FUNCTIONS(X)
#undef X
    if (!missing)
        return true;
    problem_set(problem, "T0920", "NVRTC is not usable: it has no %s", missing);
    problem_help(problem, "NVRTC 12 or later is needed, from the CUDA toolkit");
    dlclose(n->library);
    return false;
}

/* Headers of the toolkit that the library belongs to: cuda_fp16.h and its like. */
static bool headers_of(const nvrtc *n, char *out, size_t size) {
    Dl_info info;
    const char *home = getenv("CUDA_HOME");
    char path[1024];
    if (home && *home)
        snprintf(path, sizeof path, "%s/include", home);
    else if (dladdr(*(void *const *)(const void *)&n->version, &info) && info.dli_fname &&
             strrchr(info.dli_fname, '/'))
        snprintf(path, sizeof path, "%.*s/../include", (int)(strrchr(info.dli_fname, '/') - info.dli_fname),
                 info.dli_fname);
    else
        return false;
    snprintf(out, size, "--include-path=%s", path);
    return access(path, R_OK) == 0;
}

static const char *log_of(const nvrtc *n, void *program, base_arena *arena) {
    size_t size = 0;
    if (n->log_size(program, &size) != 0 || size <= 1)
        return "";
    char *text = base_arena_allocate(arena, size + 1);
    return n->log(program, text) == 0 ? text : "";
}

/* The first line of the log that tells of an error. */
static void refuse(gpu_problem *problem, int result, const char *log) {
    const char *at = strstr(log, "error");
    while (at && at > log && at[-1] != '\n')
        --at;
    problem_set(problem, "T0921", "NVRTC does not take the CUDA text (%d)%s%.*s", result, at ? ": " : "",
                at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    problem_help(problem, "leave out --via nvrtc to load the PTX that tirc writes");
}

bool gpu_nvrtc(base_arena *arena, const char *text, const char *target, bool contract, const char **ptx,
               size_t *size, gpu_problem *problem) {
    nvrtc n;
    void *program = NULL;
    char architecture[64], headers[1100];
    if (!open_library(&n, problem))
        return false;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%s",
             strncmp(target, "sm_", 3) == 0 ? target + 3 : target);
    const char *options[4] = {architecture, "--std=c++17", contract ? "--fmad=true" : "--fmad=false"};
    int count = 3;
    if (headers_of(&n, headers, sizeof headers))
        options[count++] = headers;
    int result = n.create(&program, text, "kernel.cu", 0, NULL, NULL);
    if (result == 0)
        result = n.compile(program, count, options);
    bool good = result == 0 && (result = n.ptx_size(program, size)) == 0;
    if (good) {
        char *out = base_arena_allocate(arena, *size + 1);
        good = (result = n.ptx(program, out)) == 0;
        *ptx = out;
        *size = strlen(out);
    }
    if (!good)
        refuse(problem, result, program ? log_of(&n, program, arena) : "");
    if (program)
        n.destroy(&program);
    dlclose(n.library);
    return good;
}
