/* SPDX-License-Identifier: Apache-2.0
 * Flat IR (LOWER_FOR_PTX) to a PTX module, with provenance on every memory instruction. */
#ifndef TIRC_PTX_PTX_BUILD_H
#define TIRC_PTX_PTX_BUILD_H
#include "cuda/cuda.h"
#include "lower/lower.h"
#include "ptx/ptx.h"

/* PTX of a unit of CUDA source text, for a target like "sm_90a": a file of the sources; 0 after reporting why
 * not. */
typedef uint32_t (*ptx_build_compile)(void *user, const cuda_unit *unit, const char *target, bool contract);

typedef struct ptx_build_options {
    const char *target; /* "sm_90a"; NULL: the lowest of sm_90a and sm_100a that has the instructions */
    bool contract;      /* a * b + c becomes fma (nvcc's default) */
    ptx_build_compile compile; /* NULL: functions of CUDA source text are an error */
    void *compile_user;
} ptx_build_options;
/* NULL when there were errors. Kernel parameters in the order of the plan; names as in the CUDA text. */
ptx_module *ptx_build(base_arena *arena, const lower_result *lowered, const ptx_build_options *options);
#endif
