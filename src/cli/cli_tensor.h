/* SPDX-License-Identifier: Apache-2.0
 * Arguments of tirc run: from --arg, --out, --expect and --show to arrays, and back. */
#ifndef TIRC_CLI_CLI_TENSOR_H
#define TIRC_CLI_CLI_TENSOR_H
#include "cli/cli_map.h"

typedef struct cli_tensor {
    const tirc_parameter *parameter;
    const char *value;        /* of --arg; NULL: not given */
    const char *out, *expect; /* files; NULL: none */
    const char *map;          /* of --tensor-map; NULL: none */
    bool show, is_scalar, filled;
    tirc_array array, expected;
    unsigned char scalar[16];
    cli_map described; /* with map */
} cli_tensor;

typedef struct cli_tensors {
    const tirc_kernel *kernel;
    cli_tensor *list; /* one per parameter */
    tirc_argument *arguments;
    size_t argument_count;
} cli_tensors;

tirc_status cli_tensors_prepare(const cli_arguments *arguments, cli_input *input, cli_tensors *tensors);
/* After the run: writes, compares, shows. TIRC_FINDINGS when a comparison failed. */
tirc_status cli_tensors_results(cli_input *input, cli_tensors *tensors, double rtol, double atol);
void cli_tensors_free(cli_tensors *tensors);
#endif
