/* SPDX-License-Identifier: Apache-2.0
 * The driver's functions that tirc calls, as a table; private to gpu/. Types and numbers are those of the
 * CUDA driver API 12 and later (CUDA Driver API reference, "Data types used by CUDA driver"). */
#ifndef TIRC_GPU_GPU_DRIVER_H
#define TIRC_GPU_GPU_DRIVER_H
#include "gpu/gpu.h"

typedef struct driver_attribute {
    int id;
    int pad;
    union {
        uint64_t bytes[8];
        int32_t number;
        uint32_t dimensions[3];
        uint8_t numbers[2];
    } value;
} driver_attribute;
typedef struct driver_config {
    uint32_t grid[3], block[3], shared_bytes;
    void *stream;
    driver_attribute *attributes;
    uint32_t attribute_count;
} driver_config;

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_STUB_LIBRARY = 34,
    DRIVER_NO_DEVICE = 100,
    DRIVER_NO_BINARY = 209,
    DRIVER_INVALID_PTX = 218,
    DRIVER_PTX_VERSION = 222,
    DRIVER_NOT_FOUND = 500,
    DRIVER_COOPERATIVE_TOO_LARGE = 720
};
enum { /* CUdevice_attribute */
       DEVICE_SHARED_DEFAULT = 8,
       DEVICE_MULTIPROCESSORS = 16,
       DEVICE_MAJOR = 75,
       DEVICE_MINOR = 76,
       DEVICE_SHARED_MULTIPROCESSOR = 81,
       DEVICE_SHARED_OPT_IN = 97
};
enum { /* CUfunction_attribute */
       FUNCTION_MAX_THREADS = 0,
       FUNCTION_SHARED_BYTES = 1,
       FUNCTION_CONST_BYTES = 2,
       FUNCTION_LOCAL_BYTES = 3,
       FUNCTION_REGISTERS = 4,
       FUNCTION_MAX_DYNAMIC_SHARED = 8,
       FUNCTION_CARVEOUT = 9,
       FUNCTION_NON_PORTABLE_CLUSTER = 14
};
enum { /* CUlaunchAttributeID */
       LAUNCH_COOPERATIVE = 2,
       LAUNCH_CLUSTER = 4,
       LAUNCH_CLUSTER_POLICY = 5,
       LAUNCH_PROGRAMMATIC = 6,
       LAUNCH_PRIORITY = 8,
       LAUNCH_DOMAIN_MAP = 9,
       LAUNCH_DOMAIN = 10,
       LAUNCH_PREFERRED_CLUSTER = 11, /* from CUDA 12.8 on */
       LAUNCH_ATTRIBUTES_MOST = 8     /* of one launch */
};
enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 }; /* CUjit_option */

/* X(field, exported name, parameters) */
/* clang-format off */
#define DRIVER_FUNCTIONS(X) \
    X(init, "cuInit", (unsigned)) \
    X(version, "cuDriverGetVersion", (int *)) \
    X(error_name, "cuGetErrorName", (int, const char **)) \
    X(error_string, "cuGetErrorString", (int, const char **)) \
    X(device_count, "cuDeviceGetCount", (int *)) \
    X(device_get, "cuDeviceGet", (int *, int)) \
    X(device_name, "cuDeviceGetName", (char *, int, int)) \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t *, int)) \
    X(device_attribute, "cuDeviceGetAttribute", (int *, int, int)) \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int)) \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (int)) \
    X(context_set, "cuCtxSetCurrent", (void *)) \
    X(module_load, "cuModuleLoadDataEx", (void **, const void *, unsigned, const int *, void **)) \
    X(module_unload, "cuModuleUnload", (void *)) \
    X(module_function, "cuModuleGetFunction", (void **, void *, const char *)) \
    X(function_get, "cuFuncGetAttribute", (int *, int, void *)) \
    X(function_set, "cuFuncSetAttribute", (void *, int, int)) \
    X(memory_allocate, "cuMemAlloc_v2", (uint64_t *, size_t)) \
    X(memory_free, "cuMemFree_v2", (uint64_t)) \
    X(memory_write, "cuMemcpyHtoD_v2", (uint64_t, const void *, size_t)) \
    X(memory_read, "cuMemcpyDtoH_v2", (void *, uint64_t, size_t)) \
    X(map_tiled, "cuTensorMapEncodeTiled", \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *, const uint32_t *, int, \
       int, int, int)) \
    X(map_im2col, "cuTensorMapEncodeIm2col", \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const int *, const int *, uint32_t, \
       uint32_t, const uint32_t *, int, int, int, int)) \
    X(launch, "cuLaunchKernelEx", (const driver_config *, void *, void **, void **)) \
    X(stream_wait, "cuStreamSynchronize", (void *)) \
    X(event_create, "cuEventCreate", (void **, unsigned)) \
    X(event_destroy, "cuEventDestroy_v2", (void *)) \
    X(event_record, "cuEventRecord", (void *, void *)) \
    X(event_wait, "cuEventSynchronize", (void *)) \
    X(event_time, "cuEventElapsedTime", (float *, void *, void *))
/* NULL in drivers before CUDA 12.8. */
#define DRIVER_LATER_FUNCTIONS(X) \
    X(map_wide, "cuTensorMapEncodeIm2colWide", \
      (void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, int, int, uint32_t, uint32_t, \
       const uint32_t *, int, int, int, int, int))
/* clang-format on */

typedef struct gpu_driver {
    void *library;
#define X(field, name, parameters) int(*field) parameters;
    DRIVER_FUNCTIONS(X)
    DRIVER_LATER_FUNCTIONS(X)
#undef X
} gpu_driver;

/* Opens libcuda ($TIRC_LIBCUDA, else libcuda.so.1) and starts it. */
bool driver_open(gpu_driver *driver, gpu_problem *problem);
void driver_close(gpu_driver *driver);

void problem_set(gpu_problem *problem, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void problem_help(gpu_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "what: the driver says NAME (words)" */
bool problem_driver(gpu_problem *problem, const gpu_driver *driver, const char *code, const char *what,
                    int result);

typedef struct gpu_module gpu_module;
struct gpu_module {
    uint64_t hash;
    char *ptx;
    size_t size;
    void *handle;
    gpu_module *next;
};
struct gpu_code {
    gpu_device *device;
    const gpu_module *module;
    const char *name;
    void *function;
    gpu_code_facts facts;
    uint64_t dynamic_shared_limit; /* highest that was asked for: the attribute never goes down */
    bool non_portable_set, carveout_set;
    int32_t carveout;
    gpu_code *next;
};
struct gpu_device {
    base_arena *arena;
    gpu_driver driver;
    gpu_facts facts;
    int device;
    void *context;
    gpu_module *modules;
    gpu_code *codes;
};
#endif
