/* SPDX-License-Identifier: Apache-2.0
 * Loading PTX: checks that explain, the driver's compiler, and a cache by text. */
#include "gpu/gpu_driver.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 4096 };

static uint64_t hash_text(const char *text, size_t size) { /* FNV-1a; equality is checked on the text */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The word after a directive of the header; empty when there is none. */
static void directive(const char *ptx, const char *name, char *out, size_t size) {
    const char *at = strstr(ptx, name);
    size_t count = 0;
    if (at)
        for (at += strlen(name); *at == ' ' || *at == '\t';)
            ++at;
    while (at && count + 1 < size &&
           (isalnum((unsigned char)at[count]) || at[count] == '_' || at[count] == '.')) {
        out[count] = at[count];
        ++count;
    }
    out[count] = 0;
}

/* A target runs on devices of its own capability and later; one with an `a` only on exactly its own, one with
 * an `f` on its own family (PTX ISA, "PTX Module Directives: .target"). */
static bool target_runs(const char *target, const gpu_facts *facts) {
    char *end;
    if (strncmp(target, "sm_", 3) != 0)
        return true; /* the driver will say */
    long wanted = strtol(target + 3, &end, 10), has = facts->major * 10L + facts->minor;
    if (*end == 'a')
        return wanted == has;
    if (*end == 'f')
        return wanted / 10 == facts->major && has >= wanted;
    return has >= wanted;
}

static bool check_header(const gpu_device *device, const char *ptx, gpu_problem *problem) {
    char target[32], version[32];
    const gpu_facts *facts = &device->facts;
    directive(ptx, ".target", target, sizeof target);
    directive(ptx, ".version", version, sizeof version);
    int major = 0, minor = 0;
    /* Driver for CUDA 11.0 speaks PTX 7.0, 12.0: 8.0, 13.0: 9.0; minor numbers go along (PTX ISA, release
     * notes). */
    int newest = (facts->driver_version / 1000 - 4) * 10 + facts->driver_version % 1000 / 10;
    if (!target_runs(target, facts)) {
        problem_set(problem, "T0912", "the code is for %s, and device %s has compute capability %d.%d",
                    target, facts->name, facts->major, facts->minor);
        problem_help(
            problem, "%s",
            strncmp(target, "sm_100", 6) == 0 || strncmp(target, "sm_103", 6) == 0
                ? "tensor memory needs a Blackwell device; leave out --on cuda to run on the CPU machine"
                : "build it for the device: -arch sm_XY with its capability");
        return false;
    }
    if (sscanf(version, "%d.%d", &major, &minor) == 2 && major * 10 + minor > newest) {
        problem_set(problem, "T0913",
                    "the code is PTX %d.%d, and the driver (CUDA %d.%d) reads up to PTX %d.%d", major, minor,
                    facts->driver_version / 1000, facts->driver_version % 1000 / 10, newest / 10,
                    newest % 10);
        problem_help(problem, "a newer driver is needed, or instructions of an older PTX version");
        return false;
    }
    return true;
}

static gpu_module *module_get(gpu_device *device, const char *ptx, size_t size, gpu_problem *problem) {
    uint64_t hash = hash_text(ptx, size);
    for (gpu_module *module = device->modules; module; module = module->next)
        if (module->hash == hash && module->size == size && !memcmp(module->ptx, ptx, size))
            return module;
    char *text = base_arena_string(device->arena, ptx, size);
    if (!check_header(device, text, problem))
        return NULL;
    char *log = base_arena_allocate(device->arena, LOG_BYTES);
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
    void *handle = NULL;
    int result = device->driver.module_load(&handle, text, 2, options, values);
    if (result != DRIVER_SUCCESS) {
        problem_driver(problem, &device->driver, "T0915", "the code was not accepted", result);
        if (log[0])
            problem_help(problem, "%s", log);
        return NULL;
    }
    gpu_module *module = BASE_NEW(device->arena, gpu_module);
    *module = (gpu_module){hash, text, size, handle, device->modules};
    return device->modules = module;
}

static uint64_t function_fact(const gpu_device *device, void *function, int id) {
    int value = 0;
    return device->driver.function_get(&value, id, function) == DRIVER_SUCCESS && value > 0 ? (uint64_t)value
                                                                                            : 0;
}

gpu_code *gpu_load(gpu_device *device, const char *ptx, size_t size, const char *kernel,
                   gpu_problem *problem) {
    device->driver.context_set(device->context);
    const gpu_module *module = module_get(device, ptx, size, problem);
    if (!module)
        return NULL;
    for (gpu_code *code = device->codes; code; code = code->next)
        if (code->module == module && !strcmp(code->name, kernel))
            return code;
    void *function = NULL;
    int result = device->driver.module_function(&function, module->handle, kernel);
    if (result != DRIVER_SUCCESS) {
        problem_driver(problem, &device->driver, "T0915", "the kernel was not found", result);
        problem_help(problem, "the name is `%s`", kernel);
        return NULL;
    }
    gpu_code *code = BASE_NEW(device->arena, gpu_code);
    code->device = device;
    code->module = module;
    code->name = base_arena_string(device->arena, kernel, strlen(kernel));
    code->function = function;
    code->facts = (gpu_code_facts){
        .registers = (int)function_fact(device, function, FUNCTION_REGISTERS),
        .max_threads = (int)function_fact(device, function, FUNCTION_MAX_THREADS),
        .shared_bytes = function_fact(device, function, FUNCTION_SHARED_BYTES),
        .local_bytes = function_fact(device, function, FUNCTION_LOCAL_BYTES),
        .const_bytes = function_fact(device, function, FUNCTION_CONST_BYTES),
    };
    /* Static shared memory counts against what a kernel has without asking, whatever the attribute says. */
    code->dynamic_shared_limit = function_fact(device, function, FUNCTION_MAX_DYNAMIC_SHARED);
    uint64_t unasked = device->facts.shared_default > code->facts.shared_bytes
                           ? device->facts.shared_default - code->facts.shared_bytes
                           : 0;
    if (code->dynamic_shared_limit > unasked)
        code->dynamic_shared_limit = unasked;
    code->next = device->codes;
    return device->codes = code;
}

const gpu_code_facts *gpu_code_describe(const gpu_code *code) {
    return &code->facts;
}
