/* SPDX-License-Identifier: Apache-2.0
 * What stands behind the opaque handles. Private to api/. */
#ifndef TIRC_API_API_PRIVATE_H
#define TIRC_API_API_PRIVATE_H
#include "base/diagnostic.h"
#include "lower/lower.h"
#include "assemble/ptx_build.h"
#include "tirc.h"
#include "vm/vm.h"
#include "vm/vm_tensor_map.h"

/* A device that runs of this session opened; kept, so that contexts and loaded code last. */
typedef struct api_gpu {
    uint32_t index;
    struct gpu_device *device;
    struct api_gpu *next;
} api_gpu;

struct tirc_session {
    base_heap *heap;   /* everything of the compiler and the machine's bookkeeping */
    base_heap *arrays; /* tirc_array data: not under the memory limit */
    base_arena *arena, *array_arena;
    base_sources *sources;
    base_diagnostics *diagnostics;
    void *(*allocate)(void *user, void *old, size_t old_size, size_t new_size);
    void *allocate_user;
    api_gpu *gpus;
    const char *nvcc;              /* as in tirc_options */
    struct api_compiled *compiled; /* PTX that nvcc made in this session */
};

/* Code built for the machine; kept so that a second run does not build again. */
typedef struct api_code {
    lower_result *lowered;
    ptx_module *ptx;
    vm_program *program, *program_h200; /* the second when asked for */
    vm_program *checked[2];             /* by approximations, when asked for */
    bool no_contract, unwritten_stay;
    const char *skip;
    struct api_code *next;
} api_code;

struct tirc_module {
    tirc_session *session;
    base_arena *arena; /* the module's own: itself, its IR and what lowering made of that, its kernels */
    tirc_kind kind;
    ir_module *ir;   /* SCRIPT, IR */
    ptx_module *ptx; /* PTX */
    size_t kernel_count;
    tirc_kernel *kernels;
    void **kernel_of; /* the ir_function or ptx_function of each kernel */
    api_code *codes;
};

struct tirc_report {
    tirc_session *session;
    tirc_statistics statistics;
    const lower_plan *plan;
    const vm_result *result; /* of the machine; NULL: it ran elsewhere */
    const ptx_module *ptx;
    const char *kernel;
};

/* Runs body under the session's heap; turns an escape into a status. */
tirc_status api_protect(base_heap *heap, void (*body)(void *argument), void *argument, tirc_status *status);
/* TIRC_OK, or TIRC_INCOMPLETE when every error since the mark says "not supported yet", else TIRC_ERROR. */
tirc_status api_status_since(const tirc_session *session, size_t first_diagnostic);
/* The plan of one kernel for a target (NULL: sm_90a), as a table and as one JSON object. */
void api_plan_text(const tirc_session *session, const lower_plan *plan, const char *target,
                   base_builder *out);
void api_plan_json(const tirc_session *session, const lower_plan *plan, const char *target,
                   base_builder *out);
/* The maps of shared memory of all kernels as one SVG. */
void api_plan_svg(const tirc_session *session, const lower_result *lowered, const char *target,
                  base_builder *out);
/* Code for the machine, made on first use. NULL after errors. */
/* unwritten_stay: see lower_options. */
api_code *api_code_get(tirc_module *module, bool no_contract, const char *skip, bool unwritten_stay);
/* The machine's code with the approximations that the launch asks for. */
vm_program *api_code_program(base_arena *arena, api_code *code, const tirc_launch *launch);
/* ptx_build_compile with nvcc; user: the session. */
uint32_t api_compile(void *session, const cuda_unit *unit, const char *target, bool contract);
bool api_lower(base_arena *arena, tirc_module *module, const lower_options *options, lower_result **lowered);
/* Our bytes of a map given as an argument; false after reporting what is wrong. */
bool api_tensor_map(tirc_session *session, const tirc_tensor_map *from, const char *name,
                    uint8_t bytes[VM_TENSOR_MAP_BYTES]);
#endif
