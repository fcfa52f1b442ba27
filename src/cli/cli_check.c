/* SPDX-License-Identifier: Apache-2.0
 * tirc check: the diagnostics alone. Without --tool everything up to PTX, and nothing is run; with it the
 * kernel runs on the machine, which looks for what the tools stand for. Their names are those of
 * compute-sanitizer. */
#include "cli/cli_run.h"
#include <string.h>

static const cli_option options[] = {
    {"--tool", "NAME,...",
     "runs the kernel and reports what these tools find: memcheck, initcheck, racecheck, synccheck, "
     "tmemcheck, or all",
     false},
    {NULL, NULL, NULL, false},
};

static const struct {
    const char *name;
    uint32_t bits;
} tools[] = {{"memcheck", TIRC_TOOL_MEMCHECK},   {"initcheck", TIRC_TOOL_INITCHECK},
             {"racecheck", TIRC_TOOL_RACECHECK}, {"synccheck", TIRC_TOOL_SYNCCHECK},
             {"tmemcheck", TIRC_TOOL_TMEMCHECK}, {"all", TIRC_TOOL_ALL}};
enum { TOOLS = sizeof tools / sizeof tools[0] };

/* The bits of a list; 0 after a usage message. */
static uint32_t read_tools(const char *text) {
    uint32_t bits = 0;
    for (const char *at = text;; at++) {
        size_t size = strcspn(at, ","), i = 0;
        while (i < TOOLS && (strlen(tools[i].name) != size || strncmp(tools[i].name, at, size)))
            i++;
        if (i == TOOLS) {
            cli_usage("check",
                      "`--tool %s`: `%.*s` is no tool; memcheck, initcheck, racecheck, synccheck, tmemcheck "
                      "or all is "
                      "wanted, with commas between",
                      text, (int)size, at);
            return 0;
        }
        bits |= tools[i].bits;
        at += size;
        if (!*at)
            return bits;
    }
}

static bool drop(void *user, const char *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

/* Registers as the machine would hold them: 32-bit rows, one value for each of 32 lanes. */
static tirc_status print_kernels(tirc_module *module) {
    for (size_t i = 0; i < tirc_kernel_count(module); ++i) {
        const char *name = tirc_kernel_at(module, i)->name;
        tirc_statistics s;
        tirc_status status = tirc_inspect(module, name, &s);
        if (status != TIRC_OK)
            return status;
        fprintf(stderr,
                "%s: %u virtual registers, %u allocated rows; shared memory %llu bytes, local memory %llu "
                "bytes\n",
                name, s.virtual_registers, s.allocated_rows, (unsigned long long)s.static_shared_bytes,
                (unsigned long long)s.local_bytes);
    }
    return TIRC_OK;
}

/* Everything up to PTX; nothing runs. */
static int check_statically(const cli_arguments *arguments) {
    cli_input input;
    tirc_status status = cli_load(arguments, &input);
    if (status == TIRC_OK && tirc_kernel_count(input.module))
        status = tirc_emit(input.module, TIRC_EMIT_PTX, NULL, drop, NULL);
    if (status == TIRC_OK)
        status = print_kernels(input.module);
    if (status == TIRC_OK)
        fprintf(stderr, "%s: clean\n", arguments->words[0]);
    return cli_finish(arguments, &input, status);
}

static uint32_t wanted; /* by prepare, which has no other way to know it */

static void prepare(tirc_launch *launch) {
    launch->tools = wanted;
}

static bool answer(const cli_arguments *arguments, const tirc_report *report) {
    (void)arguments, (void)report;
    return true;
}

static int check(const cli_arguments *arguments) {
    static const cli_run_more more = {prepare, answer};
    const char *list = cli_value(arguments, "--tool"), *on = cli_value(arguments, "--on");
    if (!list) {
        for (const cli_option *option = cli_run_options; option->name; ++option)
            if (strcmp(option->name, "-D") && strcmp(option->name, "-I") && cli_flag(arguments, option->name))
                return cli_usage("check", "`%s` is for a run; --tool says what to run the kernel for",
                                 option->name);
        return check_statically(arguments);
    }
    wanted = read_tools(list);
    if (!wanted)
        return CLI_USAGE;
    if (on && strcmp(on, "vm"))
        return cli_usage("check", "`--on %s`: the tools watch the CPU machine; leave --on out", on);
    int status = cli_run_with(arguments, &more);
    if (status == CLI_CLEAN)
        fprintf(stderr, "%s: clean\n", arguments->words[0]);
    return status;
}

const cli_command cli_check_command = {
    .name = "check",
    .words = "FILE[:ENTRY]",
    .summary = "only the diagnostics: up to PTX, or with --tool those of a run",
    .options = options,
    .more = cli_run_options,
    .least = 1,
    .most = 1,
    .run = check,
    .examples = "  tirc check scale.py --format json\n"
                "  tirc check scale.py --tool racecheck,initcheck --arg A=randn:7 --arg B=zeros\n"};
