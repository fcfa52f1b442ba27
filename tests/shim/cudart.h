/* SPDX-License-Identifier: Apache-2.0
 * Inside of the preloaded CUDA runtime: what its files share. Knows tirc.h and NVIDIA's own headers only. */
#ifndef TIRC_SHIM_CUDART_H
#define TIRC_SHIM_CUDART_H
#include <cuda.h>
#include <cuda_runtime_api.h>
#include "tirc.h"

/* One module of device code, as the compiler's start-up code registers it. */
typedef struct shim_binary {
    tirc_module *module; /* NULL until a kernel or variable of it is asked for */
    const char *ptx;
    size_t ptx_bytes;
    bool tried;
    struct shim_binary *next;
} shim_binary;

typedef struct shim_kernel {
    const void *host; /* the stub's address, the runtime's name for the kernel */
    const char *name;
    shim_binary *binary;
    int dynamic_shared_limit;
    bool non_portable_cluster;
    struct shim_kernel *next;
} shim_kernel;

void shim_lock(void);
void shim_unlock(void);
/* All below: with the lock held. */
tirc_session *shim_session(void);
tirc_device *shim_device(void);
tirc_module *shim_module(shim_binary *binary);
shim_kernel *shim_kernel_find(const void *host_or_handle);
int shim_capability(void); /* of the device: 100 is 10.0 */
bool shim_report(void); /* prints the diagnostics that are new since the last call; true: errors among them */
cudaError_t shim_error(cudaError_t error); /* remembers it, as cudaGetLastError will say */
typedef struct shim_geometry {
    dim3 grid, block, cluster; /* a cluster of 0: none */
    bool cooperative;
} shim_geometry;
cudaError_t shim_launch(shim_kernel *kernel, const shim_geometry *geometry, void *const *arguments,
                        size_t shared);
/* A variable of the program; takes the lock itself. */
cudaError_t shim_symbol(const void *symbol, tirc_device_symbol *found);
/* Host place of a device address; NULL: not inside one allocation. */
void *shim_place(const void *address, size_t bytes);
#endif
