/* SPDX-License-Identifier: Apache-2.0
 * Files that scripts import: -I FOLDER names where they are. Nothing else is ever read for an import. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 << 20 };

static char *read_whole(const char *path, size_t *size) {
    struct stat facts;
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && !fstat(fileno(file), &facts) && S_ISREG(facts.st_mode) && facts.st_size <= MOST_BYTES)
        text = malloc((size_t)facts.st_size + 1);
    if (text)
        *size = fread(text, 1, (size_t)facts.st_size, file);
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

/* The first folder that has the file. */
static bool find(void *user, const char *path, tirc_imported *file) {
    const cli_arguments *arguments = user;
    for (size_t i = 0;; i++) {
        const char *folder = cli_value_at(arguments, "-I", i);
        if (!folder)
            return false;
        size_t size = strlen(folder) + strlen(path) + 2;
        char *name = malloc(size);
        if (!name)
            return false;
        snprintf(name, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", path);
        char *text = read_whole(name, &file->text_size);
        if (text) {
            file->name = name;
            file->text = text;
            return true;
        }
        free(name);
    }
}

static void release(void *user, tirc_imported *file) {
    (void)user;
    free((char *)(uintptr_t)file->name);
    free((char *)(uintptr_t)file->text);
}

bool cli_imports(const cli_arguments *arguments, tirc_source *source) {
    const char *folder;
    for (size_t i = 0; (folder = cli_value_at(arguments, "-I", i)); i++) {
        struct stat facts;
        if (stat(folder, &facts) || !S_ISDIR(facts.st_mode)) {
            cli_usage(arguments->command, "`-I %s`: a folder is wanted", folder);
            return false;
        }
        source->find_import = find;
        source->release_import = release;
        source->import_user = (void *)(uintptr_t)arguments;
    }
    return true;
}
