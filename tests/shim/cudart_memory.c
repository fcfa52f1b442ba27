/* SPDX-License-Identifier: Apache-2.0
 * Preloaded CUDA runtime: memory, copies, streams (work is done when a call returns), events, the device's
 * facts, and the driver's entry points for tensor maps. */
#include "cudart.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *shim_place(const void *address, size_t bytes) {
    return tirc_device_memory(shim_device(), (uint64_t)(uintptr_t)address, bytes);
}

/* ---- allocation ---- */
cudaError_t cudaMalloc(void **address, size_t bytes) {
    uint64_t at = 0;
    char name[48];
    static unsigned number;
    shim_lock();
    snprintf(name, sizeof name, "cudaMalloc %u (%zu bytes)", number++, bytes);
    tirc_status status = tirc_device_allocate(shim_device(), bytes, 0, name, &at);
    shim_unlock();
    *address = (void *)(uintptr_t)at;
    return shim_error(status == TIRC_OK ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *address) {
    if (!address)
        return cudaSuccess;
    shim_lock();
    tirc_status status = tirc_device_free(shim_device(), (uint64_t)(uintptr_t)address);
    shim_unlock();
    return shim_error(status == TIRC_OK ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocAsync(void **address, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMalloc(address, bytes);
}
cudaError_t cudaFreeAsync(void *address, cudaStream_t stream) {
    (void)stream;
    return cudaFree(address);
}
cudaError_t cudaMallocHost(void **address, size_t bytes) {
    *address = malloc(bytes ? bytes : 1);
    return shim_error(*address ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaHostAlloc(void **address, size_t bytes, unsigned flags) {
    (void)flags;
    return cudaMallocHost(address, bytes);
}
cudaError_t cudaFreeHost(void *address) {
    free(address);
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *available = *total = (size_t)16 << 30;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address) {
    memset(attributes, 0, sizeof *attributes);
    shim_lock();
    bool on_device = shim_place(address, 0) != NULL;
    shim_unlock();
    attributes->type = on_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    if (on_device)
        attributes->devicePointer = (void *)(uintptr_t)address;
    else
        attributes->hostPointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

/* ---- copies ---- */
/* Which sides are the device's is said by `kind`, or under cudaMemcpyDefault by the addresses. */
static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    if (bytes == 0)
        return cudaSuccess;
    shim_lock();
    void *target =
        kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? to : shim_place(to, bytes);
    const void *source =
        kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? from : shim_place(from, bytes);
    if (kind == cudaMemcpyDefault) {
        target = target ? target : to;
        source = source ? source : from;
    }
    if (target && source)
        memmove(target, source, bytes);
    shim_unlock();
    return shim_error(target && source ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    (void)stream;
    return copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, enum cudaMemcpyKind kind) {
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; ++row)
        error = copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return error;
}
cudaError_t cudaMemset(void *address, int value, size_t bytes) {
    shim_lock();
    void *place = shim_place(address, bytes);
    if (place)
        memset(place, value, bytes);
    shim_unlock();
    return shim_error(place ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMemset(address, value, bytes);
}

/* Bytes of a variable at an offset; NULL when they are not all inside it. */
static void *symbol_place(const void *symbol, size_t bytes, size_t offset, cudaError_t *error) {
    tirc_device_symbol found = {0};
    *error = shim_symbol(symbol, &found);
    if (*error == cudaSuccess && (offset > found.bytes || bytes > found.bytes - offset))
        *error = shim_error(cudaErrorInvalidValue);
    return *error == cudaSuccess ? (char *)found.memory + offset : NULL;
}
static cudaError_t move_symbol(void *to, const void *from, size_t bytes) {
    const void *source = shim_place(from, bytes);
    void *target = shim_place(to, bytes);
    memmove(target ? target : to, source ? source : from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    (void)kind;
    cudaError_t error;
    void *to = symbol_place(symbol, bytes, offset, &error);
    return to ? move_symbol(to, from, bytes) : error;
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    (void)kind;
    cudaError_t error;
    const void *from = symbol_place(symbol, bytes, offset, &error);
    return from ? move_symbol(to, from, bytes) : error;
}

/* ---- streams and events: every call has finished when it returns ---- */
cudaError_t cudaDeviceSynchronize(void) {
    return cudaPeekAtLastError() == cudaErrorLaunchFailure ? cudaErrorLaunchFailure : cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = NULL;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    (void)flags;
    return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    (void)stream;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    return cudaDeviceSynchronize();
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
    (void)stream;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    double *time = calloc(1, sizeof *time);
    *event = (cudaEvent_t)(void *)time;
    return shim_error(time ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    (void)flags;
    return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free((void *)event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    (void)stream;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *(double *)(void *)event = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    (void)event;
    return cudaDeviceSynchronize();
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    *milliseconds = (float)(*(const double *)(const void *)end - *(const double *)(const void *)start);
    return cudaSuccess;
}

/* ---- the device ---- */
/* The machine has no clock; programs that divide by one get a rate that is plainly made up: 1 GHz. */
enum { SHARED_OPT_IN = 227 * 1024, SHARED_SM = 228 * 1024, CLOCK_KHZ = 1000000 };
/* as many as launches have (cudart_module.c) */
static int sm_count(void) {
    const char *text = getenv("TIRC_SMS");
    return text && atoi(text) > 0 ? atoi(text) : 148;
}
int shim_capability(void) {
    const char *text = getenv("TIRC_CAPABILITY");
    return text ? atoi(text) : 100;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *number) {
    *number = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) {
    return shim_error(number == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDA_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int number) {
    (void)number;
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "tirc machine %s", tirc_version());
    properties->totalGlobalMem = (size_t)16 << 30;
    properties->sharedMemPerBlock = 48 * 1024;
    properties->sharedMemPerBlockOptin = SHARED_OPT_IN;
    properties->sharedMemPerMultiprocessor = SHARED_SM;
    properties->reservedSharedMemPerBlock = 1024;
    properties->totalConstMem = 65536;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = shim_capability() / 10;
    properties->minor = shim_capability() % 10;
    properties->multiProcessorCount = sm_count();
    properties->l2CacheSize = 126 << 20;
    properties->unifiedAddressing = 1;
    properties->clusterLaunch = 1;
    properties->cooperativeLaunch = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number) {
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } facts[] = {
        {cudaDevAttrComputeCapabilityMajor, shim_capability() / 10},
        {cudaDevAttrComputeCapabilityMinor, shim_capability() % 10},
        {cudaDevAttrMultiProcessorCount, sm_count()},
        {cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, SHARED_OPT_IN},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, SHARED_SM},
        {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
        {cudaDevAttrMaxThreadsPerBlock, 1024},
        {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
        {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
        {cudaDevAttrWarpSize, 32},
        {cudaDevAttrMaxRegistersPerBlock, 65536},
        {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
        {cudaDevAttrTotalConstantMemory, 65536},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64},
        {cudaDevAttrMaxGridDimX, 0x7fffffff},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535},
        {cudaDevAttrL2CacheSize, 126 << 20},
        {cudaDevAttrComputeMode, cudaComputeModeDefault},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrClusterLaunch, 1},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrClockRate, CLOCK_KHZ},
        {cudaDevAttrMemoryClockRate, CLOCK_KHZ},
        /* what the machine does not do */
        {cudaDevAttrManagedMemory, 0},
        {cudaDevAttrConcurrentManagedAccess, 0},
        {cudaDevAttrPageableMemoryAccess, 0},
        {cudaDevAttrCanMapHostMemory, 0},
        {cudaDevAttrMemoryPoolsSupported, 0},
        {cudaDevAttrConcurrentKernels, 0},
        {cudaDevAttrAsyncEngineCount, 0},
        {cudaDevAttrIntegrated, 0},
        {cudaDevAttrKernelExecTimeout, 0},
        {cudaDevAttrEccEnabled, 0},
        {cudaDevAttrTccDriver, 0},
        {cudaDevAttrIsMultiGpuBoard, 0},
        {cudaDevAttrStreamPrioritiesSupported, 0},
    };
    (void)number;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; ++i)
        if (facts[i].attribute == attribute) {
            *value = facts[i].value;
            return cudaSuccess;
        }
    *value = 0;
    return shim_error(cudaErrorNotSupported);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t shared) {
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, function);
    if (error != cudaSuccess)
        return error;
    size_t each = attributes.sharedSizeBytes + shared + 1024;
    int by_threads = threads > 0 ? 2048 / threads : 0, by_shared = (int)(SHARED_SM / each);
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    *blocks = *blocks > 32 ? 32 : *blocks;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                                   int threads, size_t shared,
                                                                   unsigned flags) {
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config) {
    int blocks = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, function, (int)(config->blockDim.x * config->blockDim.y * config->blockDim.z),
        config->dynamicSmemBytes);
    unsigned size = 1;
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            size = config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                   config->attrs[i].val.clusterDim.z;
    *clusters = blocks * (sm_count() / (int)(size ? size : 1));
    return error;
}

/* ---- names of errors ---- */
static const char *error_name(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
        return "cudaSuccess";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorLaunchFailure:
        return "cudaErrorLaunchFailure";
    case cudaErrorNotSupported:
        return "cudaErrorNotSupported";
    case cudaErrorCooperativeLaunchTooLarge:
        return "cudaErrorCooperativeLaunchTooLarge";
    case cudaErrorInvalidDeviceFunction:
        return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidDevice:
        return "cudaErrorInvalidDevice";
    case cudaErrorMissingConfiguration:
        return "cudaErrorMissingConfiguration";
    case cudaErrorInvalidSymbol:
        return "cudaErrorInvalidSymbol";
    default:
        return "cudaErrorUnknown";
    }
}
const char *cudaGetErrorName(cudaError_t error) {
    return error_name(error);
}
const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorLaunchFailure ? "the machine found something wrong; see standard error"
                                           : error_name(error);
}
