/* SPDX-License-Identifier: Apache-2.0
 * Preloaded CUDA runtime: device code that the compiler embedded, kernels, variables, launches. A program
 * built with `nvcc -cudart shared -no-compress` and PTX inside (code=compute_XX) runs on the machine with
 *     LD_PRELOAD=build/release/libtirc_cudart.so ./program
 * Options come from the environment: TIRC_SCHEDULE (early, late, late:KIND, or a seed), TIRC_THREADS,
 * TIRC_CTAS_PER_SM, TIRC_SMS, TIRC_TMEM_BASE, TIRC_TMEM_RANDOM, TIRC_NUMERICS (hw, fp32, exact), TIRC_STEPS,
 * TIRC_VERBOSE. Findings go to standard error. */
#include "cudart.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tirc_session *session;
static tirc_device *device;
static shim_binary *binaries;
static shim_kernel *kernels;
static size_t reported;
static _Thread_local cudaError_t last_error;

typedef struct shim_variable {
    const void *host;
    const char *name;
    shim_binary *binary;
    struct shim_variable *next;
} shim_variable;
static shim_variable *variables;

void shim_lock(void) {
    pthread_mutex_lock(&lock);
}
void shim_unlock(void) {
    pthread_mutex_unlock(&lock);
}

static _Noreturn void no_memory(void) {
    fputs("tirc: out of memory\n", stderr);
    exit(1);
}

tirc_session *shim_session(void) {
    if (!session && !(session = tirc_session_create(NULL)))
        no_memory();
    return session;
}

tirc_device *shim_device(void) {
    if (!device && !(device = tirc_device_create(shim_session())))
        no_memory();
    return device;
}

bool shim_report(void) {
    tirc_diagnostic at;
    bool errors = false;
    for (; tirc_diagnostic_at(shim_session(), reported, &at); ++reported) {
        fprintf(stderr, "tirc: %s:%u: %s: %s [%s]\n", at.file ? at.file : "", at.line, at.severity, at.text,
                at.code);
        if (at.help)
            fprintf(stderr, "tirc:   %s\n", at.help);
        errors |= !strcmp(at.severity, "error");
    }
    return errors;
}

cudaError_t shim_error(cudaError_t error) {
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    return last_error;
}

/* ---- fat binaries ----
 * A container of entries, each with a header of its own; kind 1 holds PTX. The layout is known from the bytes
 * that nvcc 13 writes: container magic 0xba55ed50, u16 version, u16 header bytes, u64 bytes of all entries;
 * entry: u16 kind, u16 version, u32 header bytes, u64 padded payload bytes, ..., flags at 40 (0x2000 and
 * 0x8000: compressed). */
static uint16_t read16(const uint8_t *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static uint32_t read32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static uint64_t read64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static void find_ptx(shim_binary *binary, const uint8_t *container) {
    enum { KIND_PTX = 1, COMPRESSED = 0x2000 | 0x8000 };
    if (read32(container) != 0xba55ed50u)
        return;
    const uint8_t *at = container + read16(container + 6), *end = at + read64(container + 8);
    while (at + 64 <= end) {
        uint32_t header = read32(at + 4);
        uint64_t payload = read64(at + 8);
        if (header < 64 || payload > (uint64_t)(end - at) - header)
            return;
        if (read16(at) == KIND_PTX && !(read64(at + 40) & COMPRESSED)) {
            binary->ptx = (const char *)at + header;
            binary->ptx_bytes = strnlen(binary->ptx, payload);
        }
        at += header + payload;
    }
}

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device_name, const char *name, int threads,
                            uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external,
                       size_t size, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

void **__cudaRegisterFatBinary(void *wrapper) {
    struct {
        int magic, version;
        const void *data, *rest;
    } text;
    memcpy(&text, wrapper, sizeof text);
    shim_binary *binary = calloc(1, sizeof *binary);
    if (!binary)
        no_memory();
    find_ptx(binary, text.data);
    shim_lock();
    binary->next = binaries;
    binaries = binary;
    shim_unlock();
    return (void **)(void *)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}
void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}
char __cudaInitModule(void **handle) {
    (void)handle;
    return 1;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device_name, const char *name, int threads,
                            uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp) {
    (void)device_name, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    shim_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        no_memory();
    *kernel = (shim_kernel){.host = host, .name = name, .binary = (shim_binary *)(void *)handle};
    kernel->dynamic_shared_limit = 48 * 1024;
    shim_lock();
    kernel->next = kernels;
    kernels = kernel;
    shim_unlock();
}

void __cudaRegisterVar(void **handle, char *host, char *device_address, const char *name, int external,
                       size_t size, int constant, int global) {
    (void)device_address, (void)external, (void)size, (void)constant, (void)global;
    shim_variable *variable = calloc(1, sizeof *variable);
    if (!variable)
        no_memory();
    shim_lock();
    *variable = (shim_variable){host, name, (shim_binary *)(void *)handle, variables};
    variables = variable;
    shim_unlock();
}

tirc_module *shim_module(shim_binary *binary) {
    if (binary->tried)
        return binary->module;
    binary->tried = true;
    if (!binary->ptx) {
        fputs(
            "tirc: the program holds no readable PTX; build it with -gencode arch=compute_XX,code=compute_XX "
            "-no-compress -cudart shared\n",
            stderr);
        return NULL;
    }
    const char *save = getenv("TIRC_SAVE_PTX");
    FILE *file = save ? fopen(save, "wb") : NULL;
    if (file) {
        fwrite(binary->ptx, 1, binary->ptx_bytes, file);
        fclose(file);
    }
    tirc_source source = {.size = sizeof source,
                          .name = "program.ptx",
                          .text = binary->ptx,
                          .text_size = binary->ptx_bytes,
                          .kind = TIRC_KIND_PTX};
    tirc_status status = tirc_load(shim_session(), &source, &binary->module);
    if (status != TIRC_OK)
        fprintf(stderr, "tirc: the program's PTX was not accepted (%s)\n", tirc_status_name(status));
    shim_report();
    return binary->module;
}

shim_kernel *shim_kernel_find(const void *host) {
    for (shim_kernel *kernel = kernels; kernel; kernel = kernel->next)
        if (kernel->host == host || (const void *)kernel == host)
            return kernel;
    return NULL;
}

/* ---- launches ---- */
static void options_from_environment(tirc_launch *launch) {
    const char *text = getenv("TIRC_SCHEDULE");
    if (text && !strncmp(text, "late", 4)) { /* late, late:bulk */
        const char *name;
        launch->schedule = TIRC_SCHEDULE_LATE;
        for (unsigned i = 0; text[4] == ':' && (name = tirc_async_name(i)) != NULL; ++i)
            if (!strcmp(text + 5, name))
                launch->late_classes = 1u << i;
    } else if (text && *text >= '0' && *text <= '9') {
        launch->schedule = TIRC_SCHEDULE_RANDOM;
        launch->seed = strtoull(text, NULL, 0);
    }
    if ((text = getenv("TIRC_THREADS")))
        launch->threads = (uint32_t)strtoul(text, NULL, 0);
    if ((text = getenv("TIRC_STEPS")))
        launch->step_limit = strtoull(text, NULL, 0);
    if ((text = getenv("TIRC_NUMERICS")))
        launch->numerics = *text == 'f'   ? TIRC_NUMERICS_FP32
                           : *text == 'e' ? TIRC_NUMERICS_EXACT
                                          : TIRC_NUMERICS_HW;
    if ((text = getenv("TIRC_APPROX")))
        launch->approximations = *text == 'h' ? TIRC_APPROXIMATE_H200 : TIRC_APPROXIMATE_NEARLY;
    if ((text = getenv("TIRC_SMS")))
        launch->sms = (uint32_t)strtoul(text, NULL, 0);
    if ((text = getenv("TIRC_CTAS_PER_SM")))
        launch->ctas_per_sm = (uint32_t)strtoul(text, NULL, 0);
    if ((text = getenv("TIRC_TMEM_BASE")))
        launch->tmem_base = (uint32_t)strtoul(text, NULL, 0);
    if ((text = getenv("TIRC_TMEM_RANDOM")))
        launch->tmem_random = strtoull(text, NULL, 0);
}

static bool print_text(void *user, const char *data, size_t size) {
    (void)user;
    return fwrite(data, 1, size, stdout) == size;
}

static void tell(const shim_kernel *kernel, const tirc_launch *launch, tirc_status status,
                 tirc_report *report) {
    if (!getenv("TIRC_VERBOSE"))
        return;
    tirc_statistics numbers;
    tirc_report_statistics(report, &numbers);
    fprintf(
        stderr, "tirc: %s<<<(%u,%u,%u),(%u,%u,%u)>>>: %s, %llu CTAs, %llu warp instructions, %.3f s (%s)\n",
        kernel->name, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
        launch->block[2], tirc_status_name(status), (unsigned long long)numbers.ctas,
        (unsigned long long)numbers.warp_instructions, numbers.seconds, numbers.level ? numbers.level : "");
}

cudaError_t shim_launch(shim_kernel *kernel, const shim_geometry *geometry, void *const *arguments,
                        size_t shared) {
    const dim3 grid = geometry->grid, block = geometry->block, cluster = geometry->cluster;
    tirc_module *module = kernel ? shim_module(kernel->binary) : NULL;
    if (!module)
        return shim_error(cudaErrorInvalidDeviceFunction);
    if (shared > (size_t)kernel->dynamic_shared_limit)
        return shim_error(cudaErrorInvalidValue);
    static void *const none[1] = {NULL};
    tirc_launch launch = {.size = sizeof launch,
                          .kernel = kernel->name,
                          .grid = {grid.x, grid.y, grid.z},
                          .block = {block.x, block.y, block.z},
                          .cluster = {cluster.x, cluster.y, cluster.z},
                          .dynamic_shared_bytes = shared,
                          .cooperative = geometry->cooperative,
                          .device = shim_device(),
                          .parameters = arguments ? arguments : none,
                          .print = print_text};
    options_from_environment(&launch);
    tirc_report *report = NULL;
    tirc_status status = tirc_run(module, &launch, &report);
    bool errors = shim_report();
    tell(kernel, &launch, status, report);
    switch (status) {
    case TIRC_OK:
        return cudaSuccess;
    case TIRC_FINDINGS:
        return !errors || getenv("TIRC_LENIENT") ? cudaSuccess : shim_error(cudaErrorLaunchFailure);
    case TIRC_INCOMPLETE:
        return shim_error(cudaErrorNotSupported);
    default:
        return shim_error(cudaErrorInvalidValue);
    }
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) {
    shim_lock();
    shim_kernel *found = shim_kernel_find(host);
    shim_unlock();
    *kernel = (cudaKernel_t)(void *)found;
    return shim_error(found ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

static cudaError_t launch(const void *kernel, const shim_geometry *geometry, void **arguments,
                          size_t shared) {
    shim_lock();
    cudaError_t error = shim_launch(shim_kernel_find(kernel), geometry, arguments, shared);
    shim_unlock();
    return error;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream) {
    (void)stream;
    return launch((const void *)kernel, &(shim_geometry){.grid = grid, .block = block}, arguments, shared);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    (void)stream;
    return launch(kernel, &(shim_geometry){.grid = grid, .block = block}, arguments, shared);
}

/* All CTAs of a cooperative grid are resident at once; where the SMs do not hold them, the runtime has an
 * error of its own for it. CTAs for one SM: the same answer as the occupancy query. */
static cudaError_t check_residents(const void *kernel, const shim_geometry *geometry, size_t shared) {
    int residents = 0, sms = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &residents, kernel, (int)(geometry->block.x * geometry->block.y * geometry->block.z), shared);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    if (error != cudaSuccess)
        return error;
    uint64_t ctas = (uint64_t)geometry->grid.x * geometry->grid.y * geometry->grid.z;
    return ctas <= (uint64_t)residents * (uint64_t)sms ? cudaSuccess
                                                       : shim_error(cudaErrorCooperativeLaunchTooLarge);
}

static cudaError_t launch_cooperative(const void *kernel, const shim_geometry *geometry, void **arguments,
                                      size_t shared) {
    cudaError_t error = check_residents(kernel, geometry, shared);
    return error == cudaSuccess ? launch(kernel, geometry, arguments, shared) : error;
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared, cudaStream_t stream) {
    (void)stream;
    return launch_cooperative(kernel, &(shim_geometry){.grid = grid, .block = block, .cooperative = true},
                              arguments, shared);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    shim_geometry geometry = {.grid = config->gridDim, .block = config->blockDim};
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            geometry.cluster = (dim3){config->attrs[i].val.clusterDim.x, config->attrs[i].val.clusterDim.y,
                                      config->attrs[i].val.clusterDim.z};
        else if (config->attrs[i].id == cudaLaunchAttributeCooperative)
            geometry.cooperative = config->attrs[i].val.cooperative != 0;
    return geometry.cooperative ? launch_cooperative(kernel, &geometry, arguments, config->dynamicSmemBytes)
                                : launch(kernel, &geometry, arguments, config->dynamicSmemBytes);
}

typedef struct call_configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} call_configuration;
static _Thread_local call_configuration pushed[8];
static _Thread_local unsigned pushed_count;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    if (pushed_count == sizeof pushed / sizeof pushed[0])
        return 1;
    pushed[pushed_count++] = (call_configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (pushed_count == 0)
        return shim_error(cudaErrorMissingConfiguration);
    const call_configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    memcpy(stream, &top->stream, sizeof top->stream);
    return cudaSuccess;
}

/* ---- kernels' attributes ---- */
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
    shim_lock();
    shim_kernel *kernel = shim_kernel_find(function);
    cudaError_t error = kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    if (kernel && attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || value > 227 * 1024)
            error = cudaErrorInvalidValue;
        else
            kernel->dynamic_shared_limit = value;
    } else if (kernel && attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
        kernel->non_portable_cluster = value != 0;
    }
    shim_unlock();
    return shim_error(error);
}

/* 90 of ".target sm_90a": libraries choose among the variants of their kernels by it. */
static int target_of(const shim_binary *binary) {
    static const char words[] = ".target sm_";
    const char *found = memmem(binary->ptx, binary->ptx_bytes, words, sizeof words - 1);
    int target = 0;
    for (const char *p = found ? found + sizeof words - 1 : NULL;
         p && p < binary->ptx + binary->ptx_bytes && *p >= '0' && *p <= '9'; ++p)
        target = target * 10 + (*p - '0');
    return target;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    memset(attributes, 0, sizeof *attributes);
    shim_lock();
    shim_kernel *kernel = shim_kernel_find(function);
    tirc_module *module = kernel ? shim_module(kernel->binary) : NULL;
    tirc_statistics numbers;
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    if (module && tirc_inspect(module, kernel->name, &numbers) == TIRC_OK) {
        attributes->sharedSizeBytes = numbers.static_shared_bytes;
        attributes->localSizeBytes = numbers.local_bytes;
        attributes->maxThreadsPerBlock = 1024;
        attributes->numRegs = (int)(numbers.allocated_rows < 255 ? numbers.allocated_rows : 255);
        attributes->ptxVersion = target_of(kernel->binary);
        attributes->binaryVersion = shim_capability();
        attributes->maxDynamicSharedSizeBytes = kernel->dynamic_shared_limit;
        attributes->preferredShmemCarveout = -1;
        error = cudaSuccess;
    }
    shim_report();
    shim_unlock();
    return shim_error(error);
}

/* ---- variables ---- */
cudaError_t shim_symbol(const void *symbol, tirc_device_symbol *found) {
    shim_lock();
    cudaError_t error = cudaErrorInvalidSymbol;
    for (const shim_variable *variable = variables; variable; variable = variable->next) {
        tirc_module *module = variable->host == symbol ? shim_module(variable->binary) : NULL;
        if (module && tirc_device_variable(shim_device(), module, variable->name, found) == TIRC_OK)
            error = cudaSuccess;
    }
    shim_report();
    shim_unlock();
    return shim_error(error);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    tirc_device_symbol found = {0};
    cudaError_t error = shim_symbol(symbol, &found);
    *address = (void *)(uintptr_t)found.address;
    return error;
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    tirc_device_symbol found = {0};
    cudaError_t error = shim_symbol(symbol, &found);
    *size = found.bytes;
    return error;
}
