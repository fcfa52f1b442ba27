/* SPDX-License-Identifier: Apache-2.0
 * What the tests of lower and cuda share: from IR text to the flat form's text, with all diagnostics. */
#ifndef TIRC_TESTS_LOWER_HELP_H
#define TIRC_TESTS_LOWER_HELP_H
#include "lower/lower.h"
#include <string.h>

typedef struct help_lowered {
    base_arena *arena;
    base_diagnostics *diagnostics;
    lower_result *result; /* NULL after errors */
} help_lowered;

static inline help_lowered help_lower_with(base_arena *arena, const char *body,
                                           const lower_options *options) {
    help_lowered h = {.arena = arena};
    const char *text = base_arena_format(arena, "tir 1\n\n%s", body);
    base_sources *sources = base_sources_create(arena);
    h.diagnostics = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "t.tir", text, strlen(text));
    ir_module *module = ir_module_parse(arena, h.diagnostics, file);
    if (module && ir_verify(module, IR_FORM_TENSOR))
        h.result = lower_module(arena, module, options);
    return h;
}

static inline help_lowered help_lower(base_arena *arena, const char *body, lower_goal goal) {
    lower_options options = {.goal = goal, .verify = true};
    return help_lower_with(arena, body, &options);
}

static inline const char *help_messages(const help_lowered *h) {
    base_builder out;
    base_builder_start(&out, h->arena);
    base_diagnostics_render(h->diagnostics, BASE_LINE, false, &out);
    return out.data ? out.data : "";
}

/* Lines of text from the first one that contains begin on, without the indentation of the first. */
static inline const char *help_body(base_arena *arena, const char *text, const char *begin) {
    const char *at = strstr(text, begin);
    if (!at)
        return "";
    const char *line = at;
    while (line > text && line[-1] != '\n')
        line--;
    size_t indent = 0;
    while (line[indent] == ' ')
        indent++;
    base_builder out;
    base_builder_start(&out, arena);
    while (*line) {
        size_t size = strcspn(line, "\n"), skip = 0;
        while (skip < indent && line[skip] == ' ')
            skip++;
        base_builder_add(&out, line + skip, size - skip);
        base_builder_char(&out, '\n');
        line += size + (line[size] == '\n');
    }
    return out.data ? out.data : "";
}

/* The flat form of the only function, without its head. */
static inline const char *help_flat(const help_lowered *h, const char *begin) {
    if (!h->result)
        return help_messages(h);
    base_builder out;
    base_builder_start(&out, h->arena);
    ir_module_print(h->result->module, &out);
    return help_body(h->arena, out.data, begin);
}
#endif
