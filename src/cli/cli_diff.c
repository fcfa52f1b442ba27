/* SPDX-License-Identifier: Apache-2.0
 * tirc diff: whether two kernels are structurally identical. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

/* As of diff(1). */
enum { SAME = 0, DIFFERENT = 1, TROUBLE = 2 };

static const cli_option options[] = {
    {"-D", "NAME=EXPR", "define a compile-time value of both scripts", true},
    {"-I", "FOLDER", "where files that the scripts import are", true},
    {NULL, NULL, NULL, false},
};

static void print_place(const char *word, const tirc_place *place) {
    if (place->file)
        printf("%s: %s:%u:%u\n", word, place->file, place->line, place->column);
}

static int compare(const cli_input *first, const cli_input *second, tirc_status *status) {
    bool equal = false;
    tirc_difference difference = {.size = sizeof difference};
    *status = tirc_structural_equal(first->module, second->module, &equal, &difference);
    if (*status == TIRC_USAGE)
        return cli_usage("diff", "PTX has no structure to compare: scripts and .tir files are wanted");
    if (*status != TIRC_OK)
        return TROUBLE;
    if (equal) {
        puts("equal");
        return SAME;
    }
    printf("different: %s\n", difference.text);
    print_place("first", &difference.a);
    print_place("second", &difference.b);
    return DIFFERENT;
}

static int run_diff(const cli_arguments *arguments) {
    cli_input inputs[2] = {{0}, {0}};
    tirc_status status[2] = {TIRC_OK, TIRC_OK};
    for (int i = 0; i < 2; ++i) {
        cli_arguments one = *arguments;
        one.words += i;
        one.word_count = 1;
        status[i] = cli_load(&one, &inputs[i]);
    }
    int result = TROUBLE;
    if (status[0] == TIRC_OK && status[1] == TIRC_OK)
        result = compare(&inputs[0], &inputs[1], &status[0]);
    if (status[0] == TIRC_USAGE) /* said already */
        status[0] = TIRC_ERROR;
    for (int i = 1; i >= 0; --i) {
        int finished = cli_finish(arguments, &inputs[i], status[i]);
        if (finished > CLI_PROBLEMS)
            result = result == SAME || result == DIFFERENT ? TROUBLE : result;
    }
    return result;
}

const cli_command cli_diff_command = {
    .name = "diff",
    .words = "FILE[:ENTRY] FILE[:ENTRY]",
    .summary = "whether two kernels are structurally identical: exit status 0 yes, 1 no, 2 trouble",
    .options = options,
    .least = 2,
    .most = 2,
    .run = run_diff,
    .examples = "  tirc diff kernel.py:gemm gemm.tir\n"};
