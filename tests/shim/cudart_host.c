/* SPDX-License-Identifier: Apache-2.0
 * Preloaded CUDA runtime: the rest of what programs call around their kernels. Streams and events that are
 * always done, host functions, pitched memory, settings without a meaning here, and the refusals: managed and
 * mapped memory, graphs, and other devices are not modelled, and a program that asks for them is told so. */
#include "cudart.h"
#include <stdio.h>

static cudaError_t refuse(const char *what) {
    fprintf(stderr, "tirc: %s: not modelled by the machine\n", what);
    return shim_error(cudaErrorNotSupported);
}

/* ---- streams and events ---- */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    (void)priority;
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = 0;
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    (void)stream, (void)event, (void)flags;
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return cudaStreamSynchronize(stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    return cudaEventSynchronize(event);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    (void)flags;
    return cudaEventRecord(event, stream);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *user) {
    (void)stream;
    function(user);
    return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *user,
                                  unsigned flags) {
    (void)flags;
    callback(stream, cudaStreamSynchronize(stream), user);
    return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    (void)stream, (void)mode;
    return refuse("cudaStreamBeginCapture");
}

/* ---- memory ---- */
cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
    enum { ALIGN = 512 };
    *pitch = (width + ALIGN - 1) / ALIGN * ALIGN;
    if (*pitch < width || (height && *pitch > SIZE_MAX / height))
        return shim_error(cudaErrorInvalidValue);
    return cudaMalloc(address, *pitch * height);
}
cudaError_t cudaMemset2D(void *address, size_t pitch, int value, size_t width, size_t height) {
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; ++row)
        error = cudaMemset((char *)address + row * pitch, value, width);
    return error;
}
cudaError_t cudaMemset2DAsync(void *address, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    (void)stream;
    return cudaMemset2D(address, pitch, value, width, height);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags) {
    (void)address, (void)bytes;
    return flags & cudaHostRegisterMapped ? refuse("cudaHostRegister, mapped") : cudaSuccess;
}
cudaError_t cudaHostUnregister(void *address) {
    (void)address;
    return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
    (void)host, (void)flags;
    *device = NULL;
    return refuse("cudaHostGetDevicePointer");
}
cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned flags) {
    (void)bytes, (void)flags;
    *address = NULL;
    return refuse("cudaMallocManaged");
}

/* ---- settings ---- */
cudaError_t cudaDeviceReset(void) {
    return cudaDeviceSynchronize();
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    return cudaSuccess;
}
cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config) {
    (void)function, (void)config;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    (void)config;
    return cudaSuccess;
}
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaProfilerStart(void) {
    return cudaSuccess;
}
cudaError_t cudaProfilerStop(void) {
    return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    (void)limit;
    *value = 0;
    return refuse("cudaDeviceGetLimit");
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    (void)device, (void)peer;
    *can = 0;
    return cudaSuccess;
}
