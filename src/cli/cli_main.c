/* SPDX-License-Identifier: Apache-2.0
 * Entry of the command: finds the subcommand, parses its options, prints help. */
#include "cli/cli.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *const commands[] = {
    &cli_run_command, &cli_build_command,   &cli_check_command, &cli_layout_command, &cli_fragment_command,
    &cli_fmt_command, &cli_explain_command, &cli_info_command,  &cli_diff_command,   &cli_tmem_command};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const cli_option common[] = {
    {"--format", "text|line|json|sarif", "how diagnostics are written to standard error", false},
    {"--color", "auto|always|never", "colours of diagnostics", false},
    {"--help", NULL, "this text", false},
    {NULL, NULL, NULL, false},
};

int cli_exit(tirc_status status) {
    switch (status) {
    case TIRC_OK:
        return CLI_CLEAN;
    case TIRC_ERROR:
    case TIRC_FINDINGS:
        return CLI_PROBLEMS;
    case TIRC_USAGE:
        return CLI_USAGE;
    case TIRC_INCOMPLETE:
    case TIRC_NO_MEMORY:
        return CLI_INCOMPLETE;
    case TIRC_BUG:
        break;
    }
    return CLI_BUG;
}

int cli_usage(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("tirc: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, " [T0901]\n`tirc help%s%s` lists what there is\n", command ? " " : "",
            command ? command : "");
    return CLI_USAGE;
}

static void print_options(FILE *out, const cli_option *options) {
    for (; options->name; ++options) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", options->name, options->value ? " " : "",
                 options->value ? options->value : "");
        fprintf(out, "  %-32s %s%s\n", left, options->help, options->many ? " (may be repeated)" : "");
    }
}

static void print_command_help(FILE *out, const cli_command *command) {
    fprintf(out, "tirc %s %s\n    %s\n\n", command->name, command->words, command->summary);
    print_options(out, command->options);
    if (command->more)
        print_options(out, command->more);
    print_options(out, common);
    if (command->examples)
        fprintf(out, "\nexamples\n%s", command->examples);
}

static void print_help(FILE *out) {
    fprintf(out, "tirc %s: TIRx kernels to CUDA C++ and PTX, and run on the CPU\n\n", tirc_version());
    for (size_t i = 0; i < COMMAND_COUNT; ++i)
        fprintf(out, "  tirc %-8s %-22s %s\n", commands[i]->name, commands[i]->words, commands[i]->summary);
    fputs("  tirc help     [COMMAND]              options and examples of a command\n\n"
          "exit status: 0 clean, 1 findings or diagnostics, 2 usage, 3 incomplete or unsupported, 4 bug in "
          "tirc\n",
          out);
}

static const cli_command *find_command(const char *name) {
    for (size_t i = 0; i < COMMAND_COUNT; ++i)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

static const cli_option *find_option(const cli_option *options, const char *name, size_t size) {
    for (; options->name; ++options)
        if (strlen(options->name) == size && !strncmp(options->name, name, size))
            return options;
    return NULL;
}

/* "--name=value", "--name value", "-Dvalue", "-D value". Returns the option and leaves its value, or NULL. */
static const cli_option *match_option(const cli_command *command, const char *word, const char **value) {
    const char *equals = strchr(word, '=');
    size_t size = equals ? (size_t)(equals - word) : strlen(word);
    *value = NULL;
    if (word[1] != '-' && word[2]) {
        const cli_option *glued = find_option(command->options, word, 2);
        if (!glued && command->more)
            glued = find_option(command->more, word, 2);
        if (glued && glued->value) {
            *value = word + 2;
            return glued;
        }
    }
    if (size == strlen("--include") && !strncmp(word, "--include", size)) {
        const cli_option *include = find_option(command->options, "-I", 2);
        if (!include && command->more)
            include = find_option(command->more, "-I", 2);
        *value = include && equals ? equals + 1 : NULL;
        return include;
    }
    const cli_option *option = find_option(command->options, word, size);
    if (!option && command->more)
        option = find_option(command->more, word, size);
    if (!option)
        option = find_option(common, word, size);
    if (option && equals)
        *value = equals + 1;
    return option;
}

static int parse(const cli_command *command, int count, char **words, cli_arguments *out) {
    bool options_end = false;
    for (int i = 0; i < count; ++i) {
        char *word = words[i];
        if (options_end || word[0] != '-' || !word[1]) {
            out->words[out->word_count++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            options_end = true;
            continue;
        }
        const char *value;
        const cli_option *option = match_option(command, word, &value);
        if (!option)
            return cli_usage(command->name, "`%s` has no option `%s`", command->name, word);
        if (option->value && !value) {
            if (i + 1 == count)
                return cli_usage(command->name, "`%s` needs a value: %s", option->name, option->value);
            value = words[++i];
        }
        if (!option->value && value)
            return cli_usage(command->name, "`%s` takes no value", option->name);
        if (!option->many && cli_flag(out, option->name))
            return cli_usage(command->name, "`%s` is given twice", option->name);
        out->given[out->given_count++] = (cli_given){option, value};
    }
    return CLI_CLEAN;
}

const char *cli_value_at(const cli_arguments *arguments, const char *name, size_t n) {
    for (size_t i = 0; i < arguments->given_count; ++i)
        if (!strcmp(arguments->given[i].option->name, name) && !n--)
            return arguments->given[i].value;
    return NULL;
}

const char *cli_value(const cli_arguments *arguments, const char *name) {
    return cli_value_at(arguments, name, 0);
}

bool cli_flag(const cli_arguments *arguments, const char *name) {
    for (size_t i = 0; i < arguments->given_count; ++i)
        if (!strcmp(arguments->given[i].option->name, name))
            return true;
    return false;
}

bool cli_number(const cli_arguments *arguments, const char *name, uint64_t least, uint64_t most,
                uint64_t *value) {
    const char *text = cli_value(arguments, name);
    if (!text)
        return true;
    char *end;
    unsigned long long number = strtoull(text, &end, 0);
    if (end == text || *end || *text == '-' || number < least || number > most) {
        cli_usage(arguments->command, "`%s %s`: a number from %llu to %llu is wanted", name, text,
                  (unsigned long long)least, (unsigned long long)most);
        return false;
    }
    *value = number;
    return true;
}

static int run_command(const cli_command *command, int count, char **words) {
    cli_arguments arguments = {.command = command->name};
    arguments.words = calloc((size_t)count + 1, sizeof *arguments.words);
    arguments.given = calloc((size_t)count + 1, sizeof *arguments.given);
    int status = CLI_INCOMPLETE;
    if (!arguments.words || !arguments.given) {
        fputs("tirc: out of memory\n", stderr);
        goto done;
    }
    status = parse(command, count, words, &arguments);
    if (status != CLI_CLEAN)
        goto done;
    if (cli_flag(&arguments, "--help"))
        print_command_help(stdout, command);
    else if (arguments.word_count > command->most)
        status = cli_usage(command->name, "`%s` is one word too many; wanted: tirc %s %s",
                           arguments.words[command->most], command->name, command->words);
    else if (arguments.word_count < command->least)
        status = cli_usage(command->name, "wanted: tirc %s %s", command->name, command->words);
    else
        status = command->run(&arguments);
done:
    free(arguments.words);
    free(arguments.given);
    return status;
}

int main(int count, char **words) {
    if (count < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (!strcmp(words[1], "--version") || !strcmp(words[1], "-V")) {
        printf("tirc %s\n", tirc_version());
        return CLI_CLEAN;
    }
    if (!strcmp(words[1], "help") || !strcmp(words[1], "--help") || !strcmp(words[1], "-h")) {
        const cli_command *command = count > 2 ? find_command(words[2]) : NULL;
        if (count > 2 && !command)
            return cli_usage(NULL, "there is no command `%s`", words[2]);
        if (command)
            print_command_help(stdout, command);
        else
            print_help(stdout);
        return CLI_CLEAN;
    }
    const cli_command *command = find_command(words[1]);
    if (!command)
        return cli_usage(NULL, "there is no command `%s`", words[1]);
    return run_command(command, count - 2, words + 2);
}
