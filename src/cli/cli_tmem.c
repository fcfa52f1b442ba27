/* SPDX-License-Identifier: Apache-2.0
 * tirc tmem: runs a kernel on the machine and says what it did with tensor memory. */
#include "cli/cli_run.h"
#include <string.h>

static const cli_option options[] = {
    {"--json", NULL, "one JSON object instead of text", false},
    {"--svg", NULL, "a picture: columns down, the order of events across", false},
    {"-o", "FILE", "writes the answer there instead of standard output", false},
    {NULL, NULL, NULL, false},
};

static void prepare(tirc_launch *launch) {
    launch->tmem_history = true;
    launch->print_user = stderr; /* standard output is for the answer */
}

static bool answer(const cli_arguments *arguments, const tirc_report *report) {
    cli_output output = {.path = cli_value(arguments, "-o")};
    tirc_tmem_format format = cli_flag(arguments, "--json")  ? TIRC_TMEM_JSON
                              : cli_flag(arguments, "--svg") ? TIRC_TMEM_SVG
                                                             : TIRC_TMEM_TEXT;
    tirc_status status = tirc_report_tmem(report, format, cli_output_sink, &output);
    if (status == TIRC_OK)
        return cli_output_close(&output);
    fputs("tirc: out of memory\n", stderr);
    return false;
}

static int run(const cli_arguments *arguments) {
    static const cli_run_more more = {prepare, answer};
    const char *on = cli_value(arguments, "--on");
    if (on && strcmp(on, "vm"))
        return cli_usage("tmem", "`--on %s`: tirc tmem watches the CPU machine; leave --on out", on);
    if (cli_flag(arguments, "--json") && cli_flag(arguments, "--svg"))
        return cli_usage("tmem", "--json and --svg are two answers; give one");
    return cli_run_with(arguments, &more);
}

const cli_command cli_tmem_command = {
    .name = "tmem",
    .words = "FILE[:ENTRY]",
    .summary = "runs a kernel on the CPU and says what it does with tensor memory",
    .options = options,
    .more = cli_run_options,
    .least = 1,
    .most = 1,
    .run = run,
    .examples = "  tirc tmem gemm.py --arg A=randn:1 --arg B=randn:2 --arg D=zeros\n"
                "  tirc tmem kernel.ptx --grid 1 --block 128 --arg A=zeros@float32:1024 --json\n"};
