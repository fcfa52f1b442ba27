/* SPDX-License-Identifier: Apache-2.0
 * Flat IR to CUDA C++ text. Knows nothing of PTX. */
#ifndef TIRC_CUDA_CUDA_H
#define TIRC_CUDA_CUDA_H
#include "lower/lower.h"

typedef struct cuda_options {
    bool line_directives; /* #line to the script */
    bool host;            /* with a launch function for each kernel that has a device entry */
} cuda_options;
/* Appends a complete translation unit: headers, helpers used, kernels. False when there were errors. */
bool cuda_print(const lower_result *lowered, const cuda_options *options, base_builder *out);
#endif
