/* SPDX-License-Identifier: Apache-2.0
 * A CUDA driver whose device is the CPU machine, for tests of everything that tirc does with a driver:
 * TIRC_LIBCUDA names this library. Written against the driver API's documented behaviour; knows tirc.h only.
 * What a real driver refuses is refused here too. Environment: FAKE_CAPABILITY (90), FAKE_DRIVER (13000),
 * FAKE_DEVICES (1), FAKE_TRACE (a file that gets a line per call that matters). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tirc.h"

typedef struct fake_module {
    tirc_module *module;
} fake_module;
typedef struct fake_function {
    fake_module *module;
    const tirc_kernel *kernel;
    int dynamic_shared, non_portable;
    bool opted_in;
} fake_function;
typedef struct fake_attribute {
    int id, pad;
    union {
        uint64_t bytes[8];
        uint32_t dimensions[3];
    } value;
} fake_attribute;
typedef struct fake_config {
    uint32_t grid[3], block[3], shared_bytes;
    void *stream;
    fake_attribute *attributes;
    uint32_t attribute_count;
} fake_config;

enum {
    OK = 0,
    INVALID = 1,
    NO_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    FAILED = 719
};
static tirc_session *session;
static tirc_device *device;
static int failed;
static double clock_ms;

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void trace(const char *what, long value) {
    const char *path = getenv("FAKE_TRACE");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %ld\n", what, value);
    fclose(file);
}

#define API __attribute__((visibility("default")))
API int cuInit(unsigned flags);
API int cuDriverGetVersion(int *version);
API int cuGetErrorName(int error, const char **name);
API int cuGetErrorString(int error, const char **text);
API int cuDeviceGetCount(int *count);
API int cuDeviceGet(int *out, int index);
API int cuDeviceGetName(char *name, int size, int index);
API int cuDeviceTotalMem_v2(size_t *bytes, int index);
API int cuDeviceGetAttribute(int *value, int attribute, int index);
API int cuDevicePrimaryCtxRetain(void **context, int index);
API int cuDevicePrimaryCtxRelease_v2(int index);
API int cuCtxSetCurrent(void *context);
API int cuModuleLoadDataEx(void **out, const void *image, unsigned count, const int *options, void **values);
API int cuModuleUnload(void *module);
API int cuModuleGetFunction(void **out, void *module, const char *name);
API int cuFuncGetAttribute(int *value, int attribute, void *function);
API int cuFuncSetAttribute(void *function, int attribute, int value);
API int cuMemAlloc_v2(uint64_t *address, size_t bytes);
API int cuMemFree_v2(uint64_t address);
API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
API int cuTensorMapEncodeTiled(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                               int interleave, int swizzle, int promotion, int fill);
API int cuTensorMapEncodeIm2colWide(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                    const uint64_t *strides, int lower, int upper, uint32_t channels,
                                    uint32_t pixels, const uint32_t *steps, int interleave, int mode,
                                    int swizzle, int promotion, int fill);
API int cuTensorMapEncodeIm2col(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const int *lower, const int *upper,
                                uint32_t channels, uint32_t pixels, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill);
API int cuLaunchKernelEx(const fake_config *config, void *function, void **parameters, void **extra);
API int cuStreamSynchronize(void *stream);
API int cuEventCreate(void **event, unsigned flags);
API int cuEventDestroy_v2(void *event);
API int cuEventRecord(void *event, void *stream);
API int cuEventSynchronize(void *event);
API int cuEventElapsedTime(float *milliseconds, void *start, void *end);

int cuInit(unsigned flags) {
    (void)flags;
    return number("FAKE_DEVICES", 1) ? OK : NO_DEVICE;
}
int cuDriverGetVersion(int *version) {
    *version = number("FAKE_DRIVER", 13000);
    return OK;
}
int cuGetErrorName(int error, const char **name) {
    *name = error == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
            : error == FAILED    ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == INVALID   ? "CUDA_ERROR_INVALID_VALUE"
            : error == NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                 : "CUDA_ERROR_UNKNOWN";
    return OK;
}
int cuGetErrorString(int error, const char **text) {
    (void)error;
    *text = "words of the driver";
    return OK;
}
int cuDeviceGetCount(int *count) {
    *count = number("FAKE_DEVICES", 1);
    return OK;
}
int cuDeviceGet(int *out, int index) {
    *out = index;
    return OK;
}
int cuDeviceGetName(char *name, int size, int index) {
    snprintf(name, (size_t)size, "Machine %d", index);
    return OK;
}
int cuDeviceTotalMem_v2(size_t *bytes, int index) {
    (void)index;
    *bytes = (size_t)1 << 30;
    return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int index) {
    (void)index;
    int capability = number("FAKE_CAPABILITY", 90);
    switch (attribute) {
    case 75:
        *value = capability / 10;
        return OK;
    case 76:
        *value = capability % 10;
        return OK;
    case 16:
        *value = 132;
        return OK;
    case 8:
        *value = 49152;
        return OK;
    case 81:
        *value = 233472;
        return OK;
    case 97:
        *value = 232448;
        return OK;
    default:
        return INVALID;
    }
}
int cuDevicePrimaryCtxRetain(void **context, int index) {
    (void)index;
    if (!session && (!(session = tirc_session_create(NULL)) || !(device = tirc_device_create(session))))
        return NO_MEMORY;
    *context = session;
    return OK;
}
int cuDevicePrimaryCtxRelease_v2(int index) {
    (void)index;
    return OK;
}
int cuCtxSetCurrent(void *context) {
    return context == session ? OK : INVALID;
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned count, const int *options, void **values) {
    tirc_source source = {.size = sizeof source,
                          .name = "driver.ptx",
                          .text = image,
                          .text_size = strlen(image),
                          .kind = TIRC_KIND_PTX};
    fake_module *module = calloc(1, sizeof *module);
    *out = module;
    trace("load", (long)source.text_size);
    if (tirc_load(session, &source, &module->module) == TIRC_OK)
        return OK;
    for (unsigned i = 0; i < count; ++i)
        if (options[i] == 5) {
            tirc_diagnostic first = {0};
            tirc_diagnostic_at(session, 0, &first);
            snprintf(values[i], 256, "ptx line %u: %s", first.line, first.text ? first.text : "");
        }
    free(module);
    return INVALID_PTX;
}
int cuModuleUnload(void *module) {
    free(module);
    return OK;
}
int cuModuleGetFunction(void **out, void *module, const char *name) {
    fake_module *from = module;
    for (size_t i = 0; i < tirc_kernel_count(from->module); ++i) {
        const tirc_kernel *kernel = tirc_kernel_at(from->module, i);
        if (strcmp(kernel->name, name) != 0)
            continue;
        fake_function *function = calloc(1, sizeof *function);
        *function = (fake_function){from, kernel, 49152, 0, false};
        *out = function;
        return OK;
    }
    return NOT_FOUND;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
    const fake_function *of = function;
    tirc_statistics numbers;
    if (tirc_inspect(of->module->module, of->kernel->name, &numbers) != TIRC_OK)
        return INVALID;
    *value = attribute == 0   ? 1024
             : attribute == 1 ? (int)numbers.static_shared_bytes
             : attribute == 3 ? (int)numbers.local_bytes
             : attribute == 4 ? (int)numbers.allocated_rows
             : attribute == 8 ? of->dynamic_shared
                              : 0;
    return OK;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
    fake_function *of = function;
    trace("attribute", attribute * 1000000L + value);
    if (attribute == 8) {
        of->dynamic_shared = value;
        of->opted_in = true;
    } else if (attribute == 14)
        of->non_portable = value;
    return OK;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    if (bytes > (size_t)1 << 30)
        return NO_MEMORY;
    return tirc_device_allocate(device, bytes, 0, "device memory", address) == TIRC_OK ? OK : NO_MEMORY;
}
int cuMemFree_v2(uint64_t address) {
    trace("free", 0);
    return tirc_device_free(device, address) == TIRC_OK ? OK : INVALID;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    void *place = tirc_device_memory(device, to, bytes);
    if (place)
        memcpy(place, from, bytes);
    return place ? OK : INVALID;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    const void *place = tirc_device_memory(device, from, bytes);
    if (place)
        memcpy(to, place, bytes);
    return place ? OK : INVALID;
}

int cuLaunchKernelEx(const fake_config *config, void *function, void **parameters, void **extra) {
    const fake_function *of = function;
    (void)extra;
    trace("launch", (long)config->shared_bytes);
    if (config->stream)
        trace("stream", (long)(intptr_t)config->stream);
    tirc_statistics numbers;
    if (tirc_inspect(of->module->module, of->kernel->name, &numbers) != TIRC_OK ||
        config->shared_bytes > (uint32_t)of->dynamic_shared ||
        (!of->opted_in && config->shared_bytes + numbers.static_shared_bytes > 49152))
        return INVALID;
    tirc_launch launch = {.size = sizeof launch,
                          .kernel = of->kernel->name,
                          .dynamic_shared_bytes = config->shared_bytes,
                          .device = device,
                          .parameters = parameters};
    for (int i = 0; i < 3; ++i) {
        launch.grid[i] = config->grid[i];
        launch.block[i] = config->block[i];
    }
    for (uint32_t a = 0; a < config->attribute_count; ++a) {
        char words[40];
        snprintf(words, sizeof words, "launch attribute %d", config->attributes[a].id);
        trace(words, (int32_t)config->attributes[a].value.dimensions[0]);
        for (int i = 0; i < 3 && config->attributes[a].id == 4; ++i)
            launch.cluster[i] = config->attributes[a].value.dimensions[i];
    }
    tirc_status status = tirc_run(of->module->module, &launch, NULL);
    clock_ms += 0.25;
    failed = status != TIRC_OK;
    return status == TIRC_OK || status == TIRC_FINDINGS ? OK : INVALID;
}
int cuStreamSynchronize(void *stream) {
    (void)stream;
    return failed ? FAILED : OK;
}
int cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(double));
    return *event ? OK : NO_MEMORY;
}
int cuEventDestroy_v2(void *event) {
    free(event);
    return OK;
}
int cuEventRecord(void *event, void *stream) {
    (void)stream;
    *(double *)event = clock_ms;
    return OK;
}
int cuEventSynchronize(void *event) {
    (void)event;
    return failed ? FAILED : OK;
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    *milliseconds = (float)(*(double *)end - *(double *)start);
    return OK;
}

/* ---- tensor maps ---- */
int cuTensorMapEncodeTiled(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                           int interleave, int swizzle, int promotion, int fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .box = box,
                           .element_strides = steps,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill};
    if ((uintptr_t)out % 64 != 0 || !tirc_device_memory(device, map.address, 1))
        return INVALID;
    trace("map", (long)rank);
    return tirc_tensor_map_encode_tiled(session, &map, out) == TIRC_OK ? OK : INVALID;
}
int cuTensorMapEncodeIm2colWide(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, int lower, int upper, uint32_t channels,
                                uint32_t pixels, const uint32_t *steps, int interleave, int mode, int swizzle,
                                int promotion, int fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .lower = &lower,
                           .upper = &upper,
                           .element_strides = steps,
                           .channels_per_pixel = channels,
                           .pixels_per_column = pixels,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill,
                           .wide = (uint32_t)mode + 1};
    if ((uintptr_t)out % 64 != 0 || !tirc_device_memory(device, map.address, 1))
        return INVALID;
    trace("map", (long)rank);
    return tirc_tensor_map_encode_im2col_wide(session, &map, out) == TIRC_OK ? OK : INVALID;
}
int cuTensorMapEncodeIm2col(void *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                            const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                            uint32_t pixels, const uint32_t *steps, int interleave, int swizzle,
                            int promotion, int fill) {
    tirc_tensor_map map = {.size = sizeof map,
                           .type = (uint32_t)type,
                           .rank = rank,
                           .address = (uint64_t)(uintptr_t)address,
                           .dims = dims,
                           .strides = strides,
                           .lower = lower,
                           .upper = upper,
                           .element_strides = steps,
                           .channels_per_pixel = channels,
                           .pixels_per_column = pixels,
                           .interleave = (uint32_t)interleave,
                           .swizzle = (uint32_t)swizzle,
                           .l2_promotion = (uint32_t)promotion,
                           .oob_fill = (uint32_t)fill};
    if ((uintptr_t)out % 64 != 0 || !tirc_device_memory(device, map.address, 1))
        return INVALID;
    trace("map", (long)rank);
    return tirc_tensor_map_encode_im2col(session, &map, out) == TIRC_OK ? OK : INVALID;
}
