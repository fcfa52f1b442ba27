/* SPDX-License-Identifier: Apache-2.0
 * Running a kernel as tirc run does, for commands that want to know more of the run. */
#ifndef TIRC_CLI_CLI_RUN_H
#define TIRC_CLI_CLI_RUN_H
#include "cli/cli.h"

typedef struct cli_run_more {
    void (*prepare)(tirc_launch *launch);
    /* After the run, however it ended; false: a message says why it could not answer. */
    bool (*answer)(const cli_arguments *arguments, const tirc_report *report);
} cli_run_more;
extern const cli_option cli_run_options[];
int cli_run_with(const cli_arguments *arguments, const cli_run_more *more); /* more NULL: tirc run */
#endif
