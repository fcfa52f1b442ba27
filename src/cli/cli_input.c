/* SPDX-License-Identifier: Apache-2.0
 * Input files, output files, diagnostics on standard error, and finding tools. */
#include "cli/cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FILE[:ENTRY]; a file whose whole name exists wins. */
static bool split_entry(const char *word, cli_input *input) {
    input->path = strdup(word);
    if (!input->path)
        return false;
    struct stat status;
    char *colon = strrchr(input->path, ':');
    if (!colon || !stat(input->path, &status))
        return true;
    *colon = 0;
    input->entry = strdup(colon + 1);
    return input->entry != NULL;
}

static bool read_stream(FILE *file, cli_input *input) {
    size_t capacity = 1 << 16;
    input->text = malloc(capacity);
    while (input->text) {
        input->text_size += fread(input->text + input->text_size, 1, capacity - input->text_size, file);
        if (input->text_size < capacity)
            return !ferror(file);
        capacity *= 2;
        char *more = realloc(input->text, capacity);
        if (!more)
            free(input->text);
        input->text = more;
    }
    errno = ENOMEM;
    return false;
}

static bool read_text(cli_input *input) {
    struct stat status;
    if (!strcmp(input->path, "-"))
        return read_stream(stdin, input);
    if (!stat(input->path, &status) && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    FILE *file = fopen(input->path, "rb");
    if (!file)
        return false;
    bool good = read_stream(file, input);
    fclose(file);
    return good;
}

static bool read_defines(const cli_arguments *arguments, cli_input *input) {
    while (cli_value_at(arguments, "-D", input->define_count))
        ++input->define_count;
    input->defines = calloc(input->define_count + 1, sizeof *input->defines);
    for (size_t i = 0; input->defines && i < input->define_count; ++i) {
        const char *text = cli_value_at(arguments, "-D", i), *equals = strchr(text, '=');
        if (!equals || equals == text) {
            cli_usage(arguments->command, "`-D %s`: NAME=EXPR is wanted", text);
            return false;
        }
        char *name = strndup(text, (size_t)(equals - text));
        if (!name)
            return false;
        input->defines[i] = (tirc_define){name, equals + 1};
    }
    return input->defines != NULL;
}

tirc_status cli_read(const cli_arguments *arguments, cli_input *input) {
    const tirc_options options = {.size = sizeof options, .nvcc = ""};
    *input = (cli_input){.session = tirc_session_create(&options)};
    if (!input->session || !split_entry(arguments->words[0], input)) {
        fputs("tirc: out of memory\n", stderr);
        return TIRC_NO_MEMORY;
    }
    if (!read_defines(arguments, input))
        return TIRC_USAGE;
    if (read_text(input))
        return TIRC_OK;
    char text[512];
    snprintf(text, sizeof text, "cannot read %s: %s", input->path, strerror(errno));
    tirc_diagnostic_add(input->session, true, "T0819", text, NULL);
    return TIRC_ERROR;
}

void cli_source(const cli_input *input, tirc_source *source) {
    *source = (tirc_source){.size = sizeof *source,
                            .name = strcmp(input->path, "-") ? input->path : "<stdin>",
                            .text = input->text,
                            .text_size = input->text_size,
                            .entry = input->entry,
                            .defines = input->defines,
                            .define_count = input->define_count};
}

tirc_status cli_load(const cli_arguments *arguments, cli_input *input) {
    tirc_status status = cli_read(arguments, input);
    if (status != TIRC_OK)
        return status;
    tirc_source source;
    cli_source(input, &source);
    if (!cli_imports(arguments, &source))
        return TIRC_USAGE;
    return tirc_load(input->session, &source, &input->module);
}

static bool wants_colour(const cli_arguments *arguments) {
    const char *when = cli_value(arguments, "--color");
    if (when && !strcmp(when, "always"))
        return true;
    if (when && !strcmp(when, "never"))
        return false;
    const char *no = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no && *no);
}

int cli_finish(const cli_arguments *arguments, cli_input *input, tirc_status status) {
    static const char *const names[] = {"text", "line", "json", "sarif"};
    const char *wanted = cli_value(arguments, "--format");
    tirc_format format = TIRC_FORMAT_TEXT;
    bool known = !wanted;
    for (int i = 0; wanted && i < 4; ++i)
        if (!strcmp(names[i], wanted)) {
            format = (tirc_format)i;
            known = true;
        }
    if (!known)
        status = TIRC_USAGE,
        cli_usage(arguments->command, "`--format %s`: text, line, json or sarif is wanted", wanted);
    if (input->session && (tirc_diagnostic_count(input->session) || format == TIRC_FORMAT_SARIF))
        tirc_diagnostics_render(input->session, format, wants_colour(arguments), tirc_sink_file, stderr);
    if (status == TIRC_NO_MEMORY)
        fputs("tirc: out of memory\n", stderr);
    if (status == TIRC_BUG)
        fputs("tirc: this is a bug in tirc; please report the input that shows it\n", stderr);
    for (size_t i = 0; input->defines && i < input->define_count; ++i)
        free((char *)(uintptr_t)input->defines[i].name);
    free(input->defines);
    free(input->path);
    free(input->entry);
    free(input->text);
    tirc_session_destroy(input->session);
    return cli_exit(status);
}

/* ---- output ---- */
bool cli_output_sink(void *user, const char *data, size_t size) {
    cli_output *output = user;
    if (output->size + size > output->capacity) {
        size_t capacity = output->capacity ? output->capacity * 2 : 1 << 16;
        while (capacity < output->size + size)
            capacity *= 2;
        char *more = realloc(output->data, capacity);
        if (!more)
            return false;
        output->data = more;
        output->capacity = capacity;
    }
    memcpy(output->data + output->size, data, size);
    output->size += size;
    return true;
}

static bool write_file(const cli_output *output) {
    size_t length = strlen(output->path) + 32;
    char *temporary = malloc(length);
    if (!temporary)
        return false;
    snprintf(temporary, length, "%s.%ld.tmp", output->path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    bool good = file && fwrite(output->data, 1, output->size, file) == output->size;
    if (file && fclose(file))
        good = false;
    good = good && !rename(temporary, output->path);
    int problem = errno;
    if (!good && file)
        remove(temporary);
    free(temporary);
    errno = problem;
    return good;
}

bool cli_output_close(cli_output *output) {
    bool good;
    if (!output->path || !strcmp(output->path, "-"))
        good = fwrite(output->data, 1, output->size, stdout) == output->size && !fflush(stdout);
    else
        good = write_file(output);
    if (!good)
        fprintf(stderr, "tirc: cannot write %s: %s [T0820]\n",
                output->path ? output->path : "standard output", strerror(errno));
    free(output->data);
    *output = (cli_output){0};
    return good;
}

/* ---- tools ---- */
static char *tool_in(const char *folder, size_t folder_size, const char *name) {
    size_t size = folder_size + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        return NULL;
    snprintf(path, size, "%.*s/%s", (int)folder_size, folder, name);
    if (!access(path, X_OK))
        return path;
    free(path);
    return NULL;
}

char *cli_find_tool(const char *name) {
    char *found = NULL;
    const char *nvcc = getenv("TIRC_NVCC"), *home = getenv("CUDA_HOME"), *path = getenv("PATH");
    if (nvcc && strrchr(nvcc, '/'))
        found = tool_in(nvcc, (size_t)(strrchr(nvcc, '/') - nvcc), name);
    while (!found && path && *path) {
        size_t size = strcspn(path, ":");
        if (size)
            found = tool_in(path, size, name);
        path += size + (path[size] == ':');
    }
    if (!found && home) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/bin", home);
        found = tool_in(folder, strlen(folder), name);
    }
    if (!found)
        found = tool_in("/usr/local/cuda/bin", strlen("/usr/local/cuda/bin"), name);
    return found;
}
