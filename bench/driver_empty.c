/* SPDX-License-Identifier: Apache-2.0
 * A CUDA driver that does nothing at once, as a shared library: what remains of a launch is what tirc does
 * itself. Knows only the names and the shapes of the calls. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CAPABILITY_MAJOR = 75, THREADS = 1024, VERSION = 13000, SHARED = 232448, MULTIPROCESSORS = 132 };
static char module, function, context, event;

#define ZERO(name, ...)                                                                                      \
    int name(__VA_ARGS__);                                                                                   \
    int name(__VA_ARGS__) {                                                                                  \
        return 0;                                                                                            \
    }
#define GIVE(name, type, value, ...)                                                                         \
    int name(type *out __VA_OPT__(, ) __VA_ARGS__);                                                          \
    int name(type *out __VA_OPT__(, ) __VA_ARGS__) {                                                         \
        *out = value;                                                                                        \
        return 0;                                                                                            \
    }
#define UNUSED __attribute__((unused))

ZERO(cuInit, UNUSED unsigned flags)
GIVE(cuDriverGetVersion, int, VERSION)
ZERO(cuGetErrorName, UNUSED int error, UNUSED const char **name)
ZERO(cuGetErrorString, UNUSED int error, UNUSED const char **text)
GIVE(cuDeviceGetCount, int, 1)
GIVE(cuDeviceGet, int, 0, UNUSED int index)
GIVE(cuDeviceTotalMem_v2, size_t, (size_t)1 << 30, UNUSED int device)
GIVE(cuDevicePrimaryCtxRetain, void *, &context, UNUSED int device)
ZERO(cuDevicePrimaryCtxRelease_v2, UNUSED int device)
ZERO(cuCtxSetCurrent, UNUSED void *to)
GIVE(cuModuleLoadDataEx, void *, &module, UNUSED const void *ptx, UNUSED unsigned count,
     UNUSED const int *options, UNUSED void **values)
ZERO(cuModuleUnload, UNUSED void *handle)
GIVE(cuModuleGetFunction, void *, &function, UNUSED void *handle, UNUSED const char *name)
ZERO(cuFuncSetAttribute, UNUSED void *of, UNUSED int attribute, UNUSED int value)
GIVE(cuMemAlloc_v2, uint64_t, UINT64_C(0x7f0000000000), UNUSED size_t bytes)
ZERO(cuMemFree_v2, UNUSED uint64_t address)
ZERO(cuMemcpyHtoD_v2, UNUSED uint64_t to, UNUSED const void *from, UNUSED size_t bytes)
ZERO(cuMemcpyDtoH_v2, UNUSED void *to, UNUSED uint64_t from, UNUSED size_t bytes)
ZERO(cuTensorMapEncodeTiled, UNUSED void *map)
ZERO(cuTensorMapEncodeIm2col, UNUSED void *map)
ZERO(cuLaunchKernelEx, UNUSED const void *config, UNUSED void *of, UNUSED void **values, UNUSED void **extra)
ZERO(cuStreamSynchronize, UNUSED void *stream)
GIVE(cuEventCreate, void *, &event, UNUSED unsigned flags)
ZERO(cuEventDestroy_v2, UNUSED void *of)
ZERO(cuEventRecord, UNUSED void *of, UNUSED void *stream)
ZERO(cuEventSynchronize, UNUSED void *of)
GIVE(cuEventElapsedTime, float, 1, UNUSED void *from, UNUSED void *to)

int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetName(char *name, int size, UNUSED int device) {
    strncpy(name, "Nothing", (size_t)size);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetAttribute(int *value, int attribute, UNUSED int device) {
    *value = attribute == CAPABILITY_MAJOR        ? 9
             : attribute == 16                    ? MULTIPROCESSORS
             : attribute == 8                     ? 49152
             : attribute == 81 || attribute == 97 ? SHARED
                                                  : 0;
    return 0;
}
int cuFuncGetAttribute(int *value, int attribute, void *of);
int cuFuncGetAttribute(int *value, int attribute, UNUSED void *of) {
    *value = attribute == 0 ? THREADS : 0;
    return 0;
}
