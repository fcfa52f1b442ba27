/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps given on the command line. */
#ifndef TIRC_CLI_CLI_MAP_H
#define TIRC_CLI_CLI_MAP_H
#include "cli/cli.h"

typedef struct cli_map {
    tirc_tensor_map map; /* its arrays are those below */
    uint64_t dims[5], strides[5];
    uint32_t box[5], steps[5];
    int32_t lower[5], upper[5];
    char tensor[256]; /* name of the parameter whose tensor it describes */
} cli_map;

/* "A,box=64x16,swizzle=128" into the map, less what follows from the tensor; TIRC_ERROR after reporting. */
tirc_status cli_map_parse(cli_input *input, const char *name, const char *text, cli_map *out);
/* Fills in what was not given: type, dimensions and strides of a dense array. */
tirc_status cli_map_complete(cli_input *input, const char *name, const tirc_array *array, cli_map *map);
#endif
