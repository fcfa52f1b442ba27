/* SPDX-License-Identifier: Apache-2.0
 * generated_check FILE [--nvcc NVCC] [--save FOLDER] [--only NAME] [--no-machine] [--gpu]: runs every kernel
 * of a generated script on every road and says where they part. With --save a failing kernel is made smaller
 * and kept there. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[] = "# kernel: ";

bool check_parse(const char *text, size_t size, kernel_text *kernel) {
    char head[64];
    size_t length = size < sizeof head - 1 ? size : sizeof head - 1;
    memcpy(head, text, length);
    head[length] = 0;
    kernel->text = text;
    kernel->size = size;
    return sscanf(head, "# kernel: %31s %15s", kernel->name, kernel->kind) == 2;
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file && !fseek(file, 0, SEEK_END)) {
        long length = ftell(file);
        rewind(file);
        text = malloc((size_t)length + 1);
        *size = text ? fread(text, 1, (size_t)length, file) : 0;
        if (text)
            text[*size] = 0;
    }
    if (file)
        fclose(file);
    return text;
}

/* Kernels begin at their comment lines; what stands before the first one belongs to all. */
static kernel_text *split(const char *text, size_t size, settings *s, size_t *count) {
    kernel_text *list = NULL;
    const char *at = strstr(text, mark), *end = text + size;
    s->prelude = text;
    s->prelude_size = at ? (size_t)(at - text) : size;
    for (*count = 0; at && at < end; ++*count) {
        const char *next = strstr(at + 1, mark);
        if (!next)
            next = end;
        list = realloc(list, (*count + 1) * sizeof *list);
        if (!list || !check_parse(at, (size_t)(next - at), &list[*count]))
            exit(2);
        at = next;
    }
    return list;
}

typedef struct totals {
    unsigned kernels, through_nvcc, runs, failures;
    const char *file, *save;
} totals;

static void save(settings *s, const kernel_text *kernel, const failure *found, const totals *t) {
    char path[1024];
    char *small = check_reduce(s, kernel, found);
    const char *base = strrchr(t->file, '/');
    mkdir(t->save, 0777);
    snprintf(path, sizeof path, "%s/%s.%s.py", t->save, base ? base + 1 : t->file, kernel->name);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%.*s# %s: %s\n%s", (int)s->prelude_size, s->prelude, found->road, "see below", small);
        for (const char *c = found->what; *c;) {
            size_t length = strcspn(c, "\n");
            fprintf(file, "# %.*s\n", (int)length, c);
            c += length + (c[length] == '\n');
        }
        fclose(file);
        printf("    reduced: %s\n", path);
    }
    free(small);
}

static void report(settings *s, const kernel_text *kernel, const failure *found, totals *t) {
    t->failures++;
    printf("%s: %s: %s: %s\n", t->file, kernel->name, found->road, found->what);
    fflush(stdout);
    if (t->save)
        save(s, kernel, found, t);
}

/* A file that nvcc refuses is halved until the kernel is found. */
static void check_group(settings *s, const kernel_text *kernels, size_t count, totals *t) {
    failure found;
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *ptx = NULL;
    if (s->nvcc && !(ptx = check_compile(s, kernels, count, session, &found))) {
        tirc_session_destroy(session);
        if (count == 1) {
            report(s, kernels, &found, t);
            return;
        }
        check_group(s, kernels, count / 2, t);
        check_group(s, kernels + count / 2, count - count / 2, t);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        t->kernels++;
        t->through_nvcc += ptx != NULL;
        if (!check_kernel(s, &kernels[i], session, ptx, &found, &t->runs))
            report(s, &kernels[i], &found, t);
    }
    tirc_session_destroy(session);
}

int main(int count, char **words) {
    char folder[] = "/tmp/tirc-generated-XXXXXX";
    settings s = {.all_roads = true};
    totals t = {0};
    const char *only = NULL;
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--nvcc") && i + 1 < count)
            s.nvcc = words[++i];
        else if (!strcmp(words[i], "--save") && i + 1 < count)
            t.save = words[++i];
        else if (!strcmp(words[i], "--only") && i + 1 < count)
            only = words[++i];
        else if (!strcmp(words[i], "--no-machine"))
            s.all_roads = false;
        else if (!strcmp(words[i], "--gpu"))
            s.gpu = true;
        else
            t.file = words[i];
    }
    size_t size = 0, kernels = 0;
    char *text = t.file ? read_file(t.file, &size) : NULL;
    if (!text || (s.nvcc && !mkdtemp(folder))) {
        fputs("usage: generated_check FILE [--nvcc NVCC] [--save FOLDER] [--only NAME] [--no-machine] "
              "[--gpu]\n",
              stderr);
        return 2;
    }
    s.folder = folder;
    kernel_text *list = split(text, size, &s, &kernels);
    for (size_t i = 0; only && i < kernels; i++)
        if (!strcmp(list[i].name, only)) {
            list[0] = list[i];
            kernels = 1;
        }
    check_group(&s, list, kernels, &t);
    printf("%u kernels, %u through nvcc, %u runs, %u failures\n", t.kernels, t.through_nvcc, t.runs,
           t.failures);
    if (s.nvcc)
        rmdir(folder);
    free(list);
    free(text);
    return t.failures != 0;
}
