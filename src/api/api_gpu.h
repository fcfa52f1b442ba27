/* SPDX-License-Identifier: Apache-2.0
 * Runs on a GPU, for the rest of api/. Private to api/. */
#ifndef TIRC_API_API_GPU_H
#define TIRC_API_API_GPU_H
#include "api/api_run.h"

/* A bound run on the GPU that the launch names: copies in, launches, copies out, times; sets status and
 * report. */
void api_gpu_run(api_run *run);
#endif
