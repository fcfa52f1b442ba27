/* SPDX-License-Identifier: Apache-2.0
 * tirc fmt: the canonical text of a script. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    {"-w", NULL, "write the file in place", false},
    {"--check", NULL, "write nothing; exit status 1 when the file would change", false},
    {NULL, NULL, NULL, false},
};

static int format_file(const cli_arguments *arguments) {
    cli_input input;
    cli_output output = {0};
    tirc_status status = cli_read(arguments, &input);
    if (status == TIRC_OK) {
        tirc_source source;
        cli_source(&input, &source);
        source.kind = TIRC_KIND_SCRIPT;
        status = tirc_format_script(input.session, &source, cli_output_sink, &output);
    }
    bool same =
        output.size == input.text_size && (!output.size || !memcmp(output.data, input.text, output.size));
    if (status == TIRC_OK && cli_flag(arguments, "--check")) {
        if (!same)
            fprintf(stderr, "%s would change\n", input.path), status = TIRC_FINDINGS;
    } else if (status == TIRC_OK) {
        output.path = cli_flag(arguments, "-w") ? input.path : NULL;
        if ((!cli_flag(arguments, "-w") || !same) && !cli_output_close(&output))
            status = TIRC_ERROR;
    }
    free(output.data);
    return cli_finish(arguments, &input, status);
}

const cli_command cli_fmt_command = {.name = "fmt",
                                     .words = "FILE",
                                     .summary = "canonical text of a script, comments kept",
                                     .options = options,
                                     .least = 1,
                                     .most = 1,
                                     .run = format_file,
                                     .examples = "  tirc fmt -w kernel.py\n"};
