/* SPDX-License-Identifier: Apache-2.0
 * nvcc: where it is, PTX of a unit of CUDA source text by it, and its messages at the places of the script
 * that they are about. */
#include "api/api_private.h"
#include "api/api_process.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SECONDS = 60, MOST_MESSAGES = 20 };

/* One text for one target is compiled once in a session. */
typedef struct api_compiled {
    const char *text, *target;
    bool contract;
    uint32_t file;
    struct api_compiled *next;
} api_compiled;

/* ---- where ---- */
static const char *usable(base_arena *arena, const char *folder, size_t size, const char *name) {
    const char *path = base_arena_format(arena, "%.*s/%s", (int)size, folder, name);
    return size && folder[0] == '/' && !access(path, X_OK) ? path : NULL;
}

/* Folders of PATH that are not absolute are passed over: what lies there depends on where one stands. */
static const char *in_path(base_arena *arena) {
    const char *found = NULL, *path = getenv("PATH");
    for (const char *at = path; at && *at && !found; at += *at == ':') {
        size_t size = strcspn(at, ":");
        found = usable(arena, at, size, "nvcc");
        at += size;
    }
    return found;
}

static const char *find_nvcc(tirc_session *session) {
    static const char *const usual[] = {"/usr/local/cuda/bin", "/opt/cuda/bin"};
    base_arena *arena = session->arena;
    if (!session->nvcc || *session->nvcc)
        return session->nvcc;
    const char *named = getenv("TIRC_NVCC"), *home = getenv("CUDA_HOME");
    if (named && *named)
        return !access(named, X_OK) ? base_arena_string(arena, named, strlen(named)) : NULL;
    const char *found = in_path(arena);
    if (!found && home)
        found = usable(arena, home, strlen(home), "bin/nvcc");
    for (size_t i = 0; !found && i < sizeof usual / sizeof usual[0]; i++)
        found = usable(arena, usual[i], strlen(usual[i]), "nvcc");
    return found;
}

/* ---- what it says ---- */
static base_text next_line(const char **at) {
    size_t size = strcspn(*at, "\n");
    base_text line = {*at, size};
    *at += size + ((*at)[size] == '\n');
    return line;
}

/* "unit.cu(12): error: ..." */
static bool is_error(base_text line, uint32_t *number, base_text *message) {
    static const char start[] = CUDA_UNIT_NAME "(";
    if (line.size < sizeof start || strncmp(line.data, start, sizeof start - 1) != 0)
        return false;
    char *end;
    *number = (uint32_t)strtoul(line.data + sizeof start - 1, &end, 10);
    const char *word = memmem(end, line.size - (size_t)(end - line.data), "error", 5);
    const char *colon = word ? memchr(word, ':', line.size - (size_t)(word - line.data)) : NULL;
    if (strncmp(end, "): ", 3) != 0 || word != end + 3 || !colon)
        return false;
    for (colon++; *colon == ' ';)
        colon++;
    *message = (base_text){colon, line.size - (size_t)(colon - line.data)};
    return true;
}

static base_text line_at(const cuda_unit *unit, uint32_t number) {
    const char *at = unit->text;
    base_text line = next_line(&at);
    while (--number && *at)
        line = next_line(&at);
    while (line.size && strchr(" \t", line.data[0]))
        line.data++, line.size--;
    return line;
}

static void report_errors(tirc_session *session, const cuda_unit *unit, const char *log) {
    base_diagnostics *list = session->diagnostics;
    unsigned reported = 0;
    base_text message;
    uint32_t number;
    for (const char *at = log; *at;) {
        base_text line = next_line(&at);
        if (!is_error(line, &number, &message) || reported++ >= MOST_MESSAGES)
            continue;
        base_span span = unit->wrappers.items[0].span;
        const cuda_unit_part *part = cuda_unit_place(unit, session->sources, number, &span);
        base_text text = line_at(unit, number);
        base_diagnostic *d = base_report(
            list, BASE_ERROR, "T0659", span, "nvcc refuses the source text of `%s`: %.*s",
            part ? part->call->args[0]->at.string : unit->wrappers.items[0].call->args[0]->at.string,
            (int)message.size, message.data);
        base_note(list, d, BASE_NO_SPAN, "in the line `%.*s`", (int)text.size, text.data);
    }
    if (reported)
        return;
    const char *at = log + strspn(log, "\n");
    base_text first = next_line(&at);
    base_report(list, BASE_ERROR, "T0659", unit->wrappers.items[0].span,
                "nvcc refuses the source text of `%s`: %.*s",
                unit->wrappers.items[0].call->args[0]->at.string, (int)first.size, first.data);
}

/* ---- the call ---- */
static uint32_t run_nvcc(tirc_session *session, const char *nvcc, const cuda_unit *unit, const char *target,
                         bool contract) {
    const char *arch = base_arena_format(session->arena, "-arch=%s", target);
    const char *const arguments[] = {
        nvcc,         "-ptx",     "-rdc=true",    "-lineinfo",
        "-std=c++17", "-w",       arch,           contract ? "-fmad=true" : "-fmad=false",
        "-o",         "unit.ptx", CUDA_UNIT_NAME, NULL};
    api_process process = {arguments, CUDA_UNIT_NAME, unit->text, unit->size, "unit.ptx", MOST_SECONDS};
    const cuda_wrapper *first = &unit->wrappers.items[0];
    base_builder ptx, log;
    int status;
    base_builder_start(&ptx, session->arena);
    base_builder_start(&log, session->arena);
    api_process_end end = api_process_run(&process, &status, &ptx, &log);
    if (end == API_PROCESS_DONE && status == 0)
        return base_sources_add(session->sources, "unit.ptx", ptx.size ? ptx.data : "", ptx.size);
    if (end == API_PROCESS_DONE)
        report_errors(session, unit, log.size ? log.data : "it says nothing");
    else
        base_report(session->diagnostics, BASE_ERROR, "T0660", first->span,
                    end == API_PROCESS_LATE ? "%s took longer than %u seconds for the source text of `%s`"
                    : end == API_PROCESS_STOPPED
                        ? "%s was ended (limit %u seconds) with the source text of `%s`"
                        : "%s could not be run (limit %u seconds) for the source text of `%s`",
                    nvcc, MOST_SECONDS, first->call->args[0]->at.string);
    return 0;
}

uint32_t api_compile(void *user, const cuda_unit *unit, const char *target, bool contract) {
    tirc_session *session = user;
    const cuda_wrapper *first = &unit->wrappers.items[0];
    for (const api_compiled *known = session->compiled; known; known = known->next)
        if (!strcmp(known->text, unit->text) && !strcmp(known->target, target) && known->contract == contract)
            return known->file;
    const char *nvcc = find_nvcc(session);
    if (!nvcc) {
        base_diagnostic *d = base_report(
            session->diagnostics, BASE_ERROR, "T0658", first->span,
            "`%s` is CUDA source text, of which only nvcc makes PTX, and nvcc %s",
            first->call->args[0]->at.string, session->nvcc ? "was not found" : "is not to be used");
        base_help(session->diagnostics, d,
                  session->nvcc ? "install the CUDA toolkit or set TIRC_NVCC; --emit cuda works without it"
                                : "allow it; the CUDA text can be written without it");
        return 0;
    }
    uint32_t file = run_nvcc(session, nvcc, unit, target, contract);
    if (!file)
        return 0;
    api_compiled *made = BASE_NEW(session->arena, api_compiled);
    *made = (api_compiled){base_arena_string(session->arena, unit->text, unit->size),
                           base_arena_string(session->arena, target, strlen(target)), contract, file,
                           session->compiled};
    session->compiled = made;
    return file;
}
