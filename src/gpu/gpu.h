/* SPDX-License-Identifier: Apache-2.0
 * The GPU through NVIDIA's driver, which is opened at run time: PTX in, launches and times out. Knows text of
 * PTX and bytes; nothing of scripts, tensors or the machine. A machine without a driver is told so in one
 * line. A gpu belongs to one thread at a time. */
#ifndef TIRC_GPU_GPU_H
#define TIRC_GPU_GPU_H
#include "base/heap.h"
#include "vm/vm_tensor_map.h"

typedef struct gpu_device gpu_device; /* one device, with its primary context */
typedef struct gpu_code gpu_code;     /* one loaded kernel; belongs to its gpu */

/* Why a call failed, in words for the user. help may be empty. */
typedef struct gpu_problem {
    const char *code; /* T091x */
    char text[600], help[300];
} gpu_problem;

typedef struct gpu_facts {
    char name[128];
    int major, minor; /* compute capability */
    int multiprocessors;
    uint64_t memory_bytes;
    uint64_t shared_default, shared_opt_in, shared_multiprocessor; /* bytes */
    int driver_version; /* 13000: the CUDA version that the driver speaks */
} gpu_facts;

/* How many devices there are; false with a problem when there is no driver or it does not start. */
bool gpu_count(int *count, gpu_problem *problem);
/* NULL with a problem. The arena must outlive the gpu. */
gpu_device *gpu_open(base_arena *arena, int index, gpu_problem *problem);
void gpu_close(gpu_device *device); /* unloads its code; memory must have been freed */
const gpu_facts *gpu_describe(const gpu_device *device);

/* Loads PTX and finds the kernel. The same text and kernel are loaded once. Checks .version and .target
 * first, so that the message names what would work; the driver's own log is added when it refuses. */
gpu_code *gpu_load(gpu_device *device, const char *ptx, size_t size, const char *kernel,
                   gpu_problem *problem);
typedef struct gpu_code_facts {
    int registers, max_threads;
    uint64_t shared_bytes, local_bytes, const_bytes;
} gpu_code_facts;
const gpu_code_facts *gpu_code_describe(const gpu_code *code);

/* CUDA C++ text to PTX for a target ("sm_90a") by NVIDIA's NVRTC library, where it is. Needs no device. */
bool gpu_nvrtc(base_arena *arena, const char *text, const char *target, bool contract, const char **ptx,
               size_t *size, gpu_problem *problem);

/* Memory. Addresses are the device's. */
bool gpu_allocate(gpu_device *device, uint64_t bytes, uint64_t *address, gpu_problem *problem);
void gpu_free(gpu_device *device, uint64_t address);
bool gpu_write(gpu_device *device, uint64_t address, const void *from, uint64_t bytes, gpu_problem *problem);
/* The driver's 128 bytes of a tensor map whose address is a device address. */
bool gpu_tensor_map(gpu_device *device, const vm_tensor_map *map, void *bytes, gpu_problem *problem);
bool gpu_read(gpu_device *device, void *to, uint64_t address, uint64_t bytes, gpu_problem *problem);

typedef struct gpu_launch {
    uint32_t grid[3], block[3], cluster[3]; /* cluster[0] 0: none */
    uint64_t dynamic_shared_bytes;
    void *const *parameters;        /* one pointer per kernel parameter */
    void *stream;                   /* CUstream; NULL: the default one */
    bool cooperative, programmatic; /* programmatic: may start before the launch before it has ended */
    bool non_portable_cluster;      /* clusters of more than 8 CTAs */
    bool has_priority, has_carveout;
    int32_t priority;
    int32_t carveout;       /* preferred shared memory in percent of the SM's, 0 to 100 */
    int32_t cluster_policy; /* 0: not given; else CUclusterSchedulingPolicy + 1 */
    uint32_t preferred[3];  /* CTAs of a preferred cluster; [0] 0: none */
    int32_t sync_domain;    /* 0: not given; else CUlaunchMemSyncDomain + 1 */
    bool has_domain_map;
    uint8_t domain_map[2]; /* numbers of the default and the remote domain */
} gpu_launch;
/* Starts the kernel. Everything that the driver would refuse with a bare number is checked before, with the
 * numbers. */
bool gpu_start(gpu_code *code, const gpu_launch *launch, gpu_problem *problem);
/* Waits; false when a launch failed on the device. stream as in gpu_launch. */
bool gpu_wait(gpu_device *device, void *stream, gpu_problem *problem);
/* Launches warm_up + count times and times each of the last `count` by events; milliseconds[count]. */
bool gpu_time(gpu_code *code, const gpu_launch *launch, unsigned warm_up, unsigned count, float *milliseconds,
              gpu_problem *problem);
#endif
