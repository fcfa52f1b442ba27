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

/* No driver is no error here: the reason stands in the line. */
static void print_devices(void) {
    tirc_session *session = tirc_session_create(NULL);
    int32_t count = 0;
    tirc_status status = session ? tirc_gpu_count(session, &count) : TIRC_NO_MEMORY;
    tirc_diagnostic why = {.text = tirc_status_name(status)};
    if (status != TIRC_OK || count == 0) {
        if (session)
            tirc_diagnostic_at(session, 0, &why);
        printf("%-12s none: %s\n", "gpu", status == TIRC_OK ? "the driver has no device" : why.text);
    }
    for (int32_t i = 0; i < count; ++i) {
        tirc_gpu *gpu = NULL;
        tirc_gpu_facts facts;
        if (tirc_gpu_open(session, (uint32_t)i, &gpu) != TIRC_OK)
            continue;
        tirc_gpu_describe(gpu, &facts);
        printf("gpu %-8d %s, capability %d.%d, %d SMs, %.0f GiB, %llu KiB shared memory a CTA, CUDA %d.%d\n",
               i, facts.name, facts.major, facts.minor, facts.multiprocessors,
               (double)facts.memory_bytes / (1 << 30), (unsigned long long)facts.shared_opt_in / 1024,
               facts.driver_version / 1000, facts.driver_version % 1000 / 10);
        tirc_gpu_close(gpu);
    }
    tirc_session_destroy(session);
}

static int info(const cli_arguments *arguments) {
    (void)arguments;
    printf("%-12s %s\n", "tirc", tirc_version());
    printf("%-12s %s, %ld processors\n", "machine", tirc_level(), sysconf(_SC_NPROCESSORS_ONLN));
    print_tool("nvcc");
    print_tool("ptxas");
    print_devices();
    return CLI_CLEAN;
}

const cli_command cli_info_command = {.name = "info",
                                      .words = "",
                                      .summary = "version, processor level, tools found",
                                      .options = options,
                                      .least = 0,
                                      .most = 0,
                                      .run = info};
