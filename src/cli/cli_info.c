/* SPDX-License-Identifier: Apache-2.0
 * tirc info: version, the machine's level on this processor, and the tools found. */
#include "cli/cli.h"
#include <stdlib.h>
#include <unistd.h>

static const cli_option options[] = {{NULL, NULL, NULL, false}};

static void print_tool(const char *name) {
    char *path = cli_find_tool(name);
    printf("%-12s %s\n", name,
           path ? path : "not found (needed only for cubins and for the differential tests)");
    free(path);
}

static int info(const cli_arguments *arguments) {
    (void)arguments;
    printf("%-12s %s\n", "tirc", tirc_version());
    printf("%-12s %s, %ld processors\n", "machine", tirc_level(), sysconf(_SC_NPROCESSORS_ONLN));
    print_tool("nvcc");
    print_tool("ptxas");
    printf("%-12s not in this version; kernels run on the CPU\n", "gpu");
    return CLI_CLEAN;
}

const cli_command cli_info_command = {.name = "info",
                                      .words = "",
                                      .summary = "version, processor level, tools found",
                                      .options = options,
                                      .least = 0,
                                      .most = 0,
                                      .run = info};
