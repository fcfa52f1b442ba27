/* SPDX-License-Identifier: Apache-2.0
 * Sessions, statuses, diagnostics and explanations of the public interface. */
#include "api/api_private.h"
#include "gpu/gpu.h"
#include "script/script.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *code, *title, *text;
} codes[] = {
#define DIAGNOSTIC(code, title, text) {code, title, text},
#include "api/api_code_tables.h"
#undef DIAGNOSTIC
};
enum { CODE_COUNT = sizeof codes / sizeof codes[0] };

const char *tirc_status_name(tirc_status status) {
    static const char *const names[] = {"ok", "error", "findings", "incomplete", "usage", "no memory", "bug"};
    return (unsigned)status < sizeof names / sizeof names[0] ? names[status] : "unknown";
}

const char *tirc_version(void) {
    return TIRC_VERSION;
}

static void session_fill(void *argument) {
    tirc_session *session = argument;
    session->arena = base_arena_create(session->heap);
    if (session->nvcc)
        session->nvcc = base_arena_string(session->arena, session->nvcc, strlen(session->nvcc));
    session->sources = base_sources_create(session->arena);
    session->diagnostics = base_diagnostics_create(session->arena, session->sources);
}

static void session_fill_arrays(void *argument) {
    tirc_session *session = argument;
    session->array_arena = base_arena_create(session->arrays);
}

tirc_session *tirc_session_create(const tirc_options *options) {
    base_heap_options heap_options = {0}, array_options = {0};
    heap_options.limit_bytes = (size_t)4 << 30;
    if (options) {
        heap_options.allocate = array_options.allocate = options->allocate;
        heap_options.user = array_options.user = options->allocate_user;
        if (options->memory_limit)
            heap_options.limit_bytes = options->memory_limit;
    }
    tirc_session *session = heap_options.allocate
                                ? heap_options.allocate(heap_options.user, NULL, 0, sizeof *session)
                                : malloc(sizeof *session);
    if (!session)
        return NULL;
    memset(session, 0, sizeof *session);
    session->allocate = heap_options.allocate;
    session->allocate_user = heap_options.user;
    session->nvcc = options ? options->nvcc : NULL;
    session->heap = base_heap_create(&heap_options);
    session->arrays = base_heap_create(&array_options);
    if (session->heap && session->arrays &&
        base_heap_run(session->heap, session_fill, session) == BASE_DONE &&
        base_heap_run(session->arrays, session_fill_arrays, session) == BASE_DONE)
        return session;
    tirc_session_destroy(session);
    return NULL;
}

void tirc_session_destroy(tirc_session *session) {
    if (!session)
        return;
    for (api_gpu *held = session->gpus; held; held = held->next)
        gpu_close(held->device);
    if (session->heap)
        base_heap_destroy(session->heap);
    if (session->arrays)
        base_heap_destroy(session->arrays);
    if (session->allocate)
        session->allocate(session->allocate_user, session, sizeof *session, 0);
    else
        free(session);
}

size_t tirc_session_memory(const tirc_session *session) {
    return session ? base_heap_peak(session->heap) : 0;
}

tirc_status api_protect(base_heap *heap, void (*body)(void *argument), void *argument, tirc_status *status) {
    switch (base_heap_run(heap, body, argument)) {
    case BASE_DONE:
        return *status;
    case BASE_OUT_OF_MEMORY:
        return TIRC_NO_MEMORY;
    case BASE_LIMIT_REACHED:
        break;
    }
    return TIRC_INCOMPLETE;
}

static bool means_incomplete(const char *code) {
    static const char *const list[] = {"T0299", "T0499", "T0658", "T0699", "T0714", "T0715"};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i)
        if (!strcmp(code, list[i]))
            return true;
    return false;
}

tirc_status api_status_since(const tirc_session *session, size_t first) {
    size_t errors = 0, incomplete = 0;
    for (size_t i = first; i < base_diagnostics_count(session->diagnostics); ++i) {
        const base_diagnostic *diagnostic = base_diagnostics_at(session->diagnostics, i);
        if (diagnostic->severity != BASE_ERROR)
            continue;
        ++errors;
        incomplete += means_incomplete(diagnostic->code);
    }
    if (!errors)
        return TIRC_OK;
    return errors == incomplete ? TIRC_INCOMPLETE : TIRC_ERROR;
}

bool tirc_sink_file(void *file, const char *data, size_t size) {
    return fwrite(data, 1, size, (FILE *)file) == size;
}

/* ---- diagnostics ---- */
size_t tirc_diagnostic_count(const tirc_session *session) {
    return session ? base_diagnostics_count(session->diagnostics) : 0;
}

bool tirc_diagnostic_at(const tirc_session *session, size_t index, tirc_diagnostic *diagnostic) {
    static const char *const severities[] = {"note", "warning", "error"};
    if (!session || !diagnostic || index >= base_diagnostics_count(session->diagnostics))
        return false;
    const base_diagnostic *from = base_diagnostics_at(session->diagnostics, index);
    base_place place = base_span_place(session->sources, from->span);
    *diagnostic = (tirc_diagnostic){.severity = severities[from->severity],
                                    .code = from->code,
                                    .file = place.name,
                                    .line = place.line,
                                    .column = place.column,
                                    .text = from->text,
                                    .help = from->help};
    return true;
}

typedef struct render_call {
    const tirc_session *session;
    base_format format;
    bool colour;
    tirc_sink sink;
    void *user;
} render_call;

static void render_body(void *argument) {
    render_call *call = argument;
    base_arena *arena = base_arena_create(call->session->heap);
    base_builder out;
    base_builder_start(&out, arena);
    base_diagnostics_render(call->session->diagnostics, call->format, call->colour, &out);
    if (out.size)
        call->sink(call->user, out.data, out.size);
    base_arena_destroy(arena);
}

void tirc_diagnostics_render(const tirc_session *session, tirc_format format, bool colour, tirc_sink sink,
                             void *user) {
    if (!session || !sink)
        return;
    render_call call = {session, (base_format)format, colour, sink, user};
    base_heap_run(session->heap, render_body, &call);
}

typedef struct add_call {
    tirc_session *session;
    bool is_error;
    const char *code, *text, *help;
} add_call;

static void add_body(void *argument) {
    add_call *call = argument;
    base_diagnostics *list = call->session->diagnostics;
    const char *code = base_arena_string(call->session->arena, call->code, strlen(call->code));
    base_diagnostic *added =
        base_report(list, call->is_error ? BASE_ERROR : BASE_WARNING, code, BASE_NO_SPAN, "%s", call->text);
    if (call->help)
        base_help(list, added, "%s", call->help);
}

void tirc_diagnostic_add(tirc_session *session, bool is_error, const char *code, const char *text,
                         const char *help) {
    if (!session || !code || !text)
        return;
    add_call call = {session, is_error, code, text, help};
    base_heap_run(session->heap, add_body, &call);
}

bool tirc_explain(const char *code, const char **title, const char **explanation) {
    for (size_t i = 0; code && i < CODE_COUNT; ++i)
        if (!strcmp(codes[i].code, code)) {
            if (title)
                *title = codes[i].title;
            if (explanation)
                *explanation = codes[i].text;
            return true;
        }
    return false;
}

/* The tables are in module order, not in code order; there are few hundred rows, so a selection scan will do.
 */
const char *tirc_code_at(size_t index) {
    const char *last = "";
    for (size_t n = 0; n <= index; ++n) {
        const char *next = NULL;
        for (size_t i = 0; i < CODE_COUNT; ++i)
            if (strcmp(codes[i].code, last) > 0 && (!next || strcmp(codes[i].code, next) < 0))
                next = codes[i].code;
        if (!next)
            return NULL;
        last = next;
    }
    return last;
}

const char *tirc_word_at(size_t index, const char **signature, const char **summary) {
    return script_word(index, signature, summary);
}

const char *tirc_pass_at(size_t index, const char **summary) {
    return lower_pass(index, summary);
}

const char *tirc_level(void) {
    return vm_level_name();
}
