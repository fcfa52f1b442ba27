/* SPDX-License-Identifier: Apache-2.0
 * The command: one file per subcommand, all on the public header alone. */
#ifndef TIRC_CLI_CLI_H
#define TIRC_CLI_CLI_H
#include "tirc.h"
#include <stdio.h>

/* Exit statuses: 0 clean, 1 findings or diagnostics, 2 usage, 3 incomplete or unsupported, 4 bug in tirc. */
enum { CLI_CLEAN = 0, CLI_PROBLEMS = 1, CLI_USAGE = 2, CLI_INCOMPLETE = 3, CLI_BUG = 4 };
int cli_exit(tirc_status status);

/* One option of a subcommand. */
typedef struct cli_option {
    const char *name;  /* "--arg" or "-D" */
    const char *value; /* name of its value in the help; NULL: a flag */
    const char *help;
    bool many; /* may be repeated */
} cli_option;

typedef struct cli_given {
    const cli_option *option;
    const char *value;
} cli_given;

typedef struct cli_arguments {
    const char *command;
    const char **words; /* what is not an option */
    size_t word_count;
    cli_given *given;
    size_t given_count;
    char *store; /* owns texts */
} cli_arguments;

typedef struct cli_command {
    const char *name, *words, *summary;
    const cli_option *options; /* ends with a NULL name */
    const cli_option *more;    /* options of another command that this one has too; NULL: none */
    size_t least, most;        /* words */
    int (*run)(const cli_arguments *arguments);
    const char *examples;
} cli_command;
extern const cli_command cli_run_command, cli_build_command, cli_check_command, cli_fmt_command,
    cli_explain_command, cli_info_command, cli_layout_command, cli_fragment_command, cli_diff_command,
    cli_tmem_command;

const char *cli_value(const cli_arguments *arguments, const char *name); /* last one given, or NULL */
bool cli_flag(const cli_arguments *arguments, const char *name);
/* The n-th value of an option that may be repeated; NULL after the last. */
const char *cli_value_at(const cli_arguments *arguments, const char *name, size_t n);
/* Prints "tirc: ..." and a hint to stderr; returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Parses a whole unsigned number, with the range; false after a usage message. */
bool cli_number(const cli_arguments *arguments, const char *name, uint64_t least, uint64_t most,
                uint64_t *value);

/* A loaded input and the session behind it. */
typedef struct cli_input {
    tirc_session *session;
    tirc_module *module;
    char *path, *entry, *text;
    size_t text_size;
    tirc_define *defines;
    size_t define_count;
} cli_input;
/* Splits FILE[:ENTRY], reads the file ("-": standard input) and loads it. Diagnostics are left in the
 * session. */
tirc_status cli_load(const cli_arguments *arguments, cli_input *input);
/* Reads without loading: fmt and --emit ast. */
tirc_status cli_read(const cli_arguments *arguments, cli_input *input);
void cli_source(const cli_input *input, tirc_source *source);
/* Imports of the folders of -I; false after a message. The arguments must live as long as the source is used.
 */
bool cli_imports(const cli_arguments *arguments, tirc_source *source);
/* Renders the diagnostics as --format says, frees the input, and gives the exit status. */
int cli_finish(const cli_arguments *arguments, cli_input *input, tirc_status status);

/* Output that becomes a file only when it is whole. */
typedef struct cli_output {
    const char *path; /* NULL or "-": standard output */
    char *data;
    size_t size, capacity;
} cli_output;
bool cli_output_sink(void *user, const char *data, size_t size);
/* Writes and frees; false after a message. */
bool cli_output_close(cli_output *output);
/* Looks for nvcc or ptxas as docs say; the caller frees. NULL when there is none. */
char *cli_find_tool(const char *name);
#endif
