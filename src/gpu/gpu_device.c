/* SPDX-License-Identifier: Apache-2.0
 * Devices and their memory. */
#include <string.h>
#include "gpu/gpu_driver.h"

bool gpu_count(int *count, gpu_problem *problem) {
    gpu_driver driver;
    *count = 0;
    if (!driver_open(&driver, problem))
        return false;
    int result = driver.device_count(count);
    if (result != DRIVER_SUCCESS)
        problem_driver(problem, &driver, "T0910", "devices cannot be counted", result);
    driver_close(&driver);
    return result == DRIVER_SUCCESS;
}

static int attribute(const gpu_device *device, int id) {
    int value = 0;
    return device->driver.device_attribute(&value, id, device->device) == DRIVER_SUCCESS ? value : 0;
}

static void learn(gpu_device *device) {
    gpu_facts *facts = &device->facts;
    size_t bytes = 0;
    if (device->driver.device_name(facts->name, sizeof facts->name, device->device) != DRIVER_SUCCESS)
        strcpy(facts->name, "?");
    device->driver.device_memory(&bytes, device->device);
    device->driver.version(&facts->driver_version);
    facts->memory_bytes = bytes;
    facts->major = attribute(device, DEVICE_MAJOR);
    facts->minor = attribute(device, DEVICE_MINOR);
    facts->multiprocessors = attribute(device, DEVICE_MULTIPROCESSORS);
    facts->shared_default = (uint64_t)attribute(device, DEVICE_SHARED_DEFAULT);
    facts->shared_opt_in = (uint64_t)attribute(device, DEVICE_SHARED_OPT_IN);
    facts->shared_multiprocessor = (uint64_t)attribute(device, DEVICE_SHARED_MULTIPROCESSOR);
}

gpu_device *gpu_open(base_arena *arena, int index, gpu_problem *problem) {
    gpu_device *device = BASE_NEW(arena, gpu_device);
    device->arena = arena;
    if (!driver_open(&device->driver, problem))
        return NULL;
    int count = 0, result = device->driver.device_count(&count);
    if (result == DRIVER_SUCCESS && (index < 0 || index >= count)) {
        problem_set(problem, "T0910", "there is no CUDA device %d; %d device%s here", index, count,
                    count == 1 ? " is" : "s are");
        driver_close(&device->driver);
        return NULL;
    }
    if (result == DRIVER_SUCCESS)
        result = device->driver.device_get(&device->device, index);
    if (result == DRIVER_SUCCESS)
        result = device->driver.context_retain(&device->context, device->device);
    if (result == DRIVER_SUCCESS)
        result = device->driver.context_set(device->context);
    if (result != DRIVER_SUCCESS) {
        problem_driver(problem, &device->driver, "T0910", "the device cannot be used", result);
        if (device->context)
            device->driver.context_release(device->device);
        driver_close(&device->driver);
        return NULL;
    }
    learn(device);
    return device;
}

void gpu_close(gpu_device *device) {
    if (!device || !device->driver.library)
        return;
    device->driver.context_set(device->context);
    for (gpu_module *module = device->modules; module; module = module->next)
        device->driver.module_unload(module->handle);
    device->driver.context_release(device->device);
    driver_close(&device->driver);
}

const gpu_facts *gpu_describe(const gpu_device *device) {
    return &device->facts;
}

bool gpu_allocate(gpu_device *device, uint64_t bytes, uint64_t *address, gpu_problem *problem) {
    device->driver.context_set(device->context);
    int result = device->driver.memory_allocate(address, bytes ? bytes : 1);
    if (result == DRIVER_SUCCESS)
        return true;
    problem_driver(problem, &device->driver, "T0914", "memory", result);
    problem_help(problem, "%llu bytes were asked for; %s has %llu", (unsigned long long)bytes,
                 device->facts.name, (unsigned long long)device->facts.memory_bytes);
    return false;
}

void gpu_free(gpu_device *device, uint64_t address) {
    if (address)
        device->driver.memory_free(address);
}

bool gpu_write(gpu_device *device, uint64_t address, const void *from, uint64_t bytes, gpu_problem *problem) {
    int result = bytes ? device->driver.memory_write(address, from, bytes) : DRIVER_SUCCESS;
    return result == DRIVER_SUCCESS ||
           problem_driver(problem, &device->driver, "T0914", "copy to the device", result);
}

bool gpu_read(gpu_device *device, void *to, uint64_t address, uint64_t bytes, gpu_problem *problem) {
    int result = bytes ? device->driver.memory_read(to, address, bytes) : DRIVER_SUCCESS;
    return result == DRIVER_SUCCESS ||
           problem_driver(problem, &device->driver, "T0914", "copy from the device", result);
}

bool gpu_tensor_map(gpu_device *device, const vm_tensor_map *map, void *bytes, gpu_problem *problem) {
    const gpu_driver *driver = &device->driver;
    _Alignas(64) uint8_t encoded[VM_TENSOR_MAP_BYTES];
    void *address = (void *)(uintptr_t)map->address;
    int swizzle = (int)vm_tensor_swizzle_number(map->swizzle, map->atom), result;
    if (map->mode == VM_TENSOR_TILED)
        result =
            driver->map_tiled(encoded, (int)map->type, map->rank, address, map->dim, map->stride, map->box,
                              map->step, (int)map->interleave, swizzle, (int)map->promotion, (int)map->fill);
    else if (vm_tensor_is_wide(map->mode) && driver->map_wide == NULL) {
        problem_set(problem, "T0911", "this CUDA driver has no im2col::w maps: CUDA 12.8 brought them");
        return false;
    } else if (vm_tensor_is_wide(map->mode))
        result = driver->map_wide(encoded, (int)map->type, map->rank, address, map->dim, map->stride,
                                  map->lower[0], map->upper[0], map->channels, map->pixels, map->step,
                                  (int)map->interleave, map->mode == VM_TENSOR_IM2COL_W128, swizzle,
                                  (int)map->promotion, (int)map->fill);
    else
        result = driver->map_im2col(encoded, (int)map->type, map->rank, address, map->dim, map->stride,
                                    map->lower, map->upper, map->channels, map->pixels, map->step,
                                    (int)map->interleave, swizzle, (int)map->promotion, (int)map->fill);
    if (result != DRIVER_SUCCESS) { /* a bare number; our rules say which one is broken */
        vm_tensor_problem problems[VM_TENSOR_PROBLEMS];
        char words[200];
        if (!vm_tensor_map_check(map, problems))
            return problem_driver(problem, driver, "T0924", "tensor map", result);
        vm_tensor_problem_text(&problems[0], words, sizeof words);
        problem_set(problem, "T0924", "%s takes no such tensor map for TMA: %s", device->facts.name, words);
        problem_help(problem,
                     "a tensor that TMA copies begins at a multiple of 16 bytes, and so do its rows");
        return false;
    }
    memcpy(bytes, encoded, sizeof encoded);
    return true;
}
