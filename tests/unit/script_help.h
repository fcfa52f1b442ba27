/* SPDX-License-Identifier: Apache-2.0
 * What the tests of the evaluator share: script text in, IR text or one-line diagnostics out. */
#ifndef TIRC_TESTS_SCRIPT_HELP_H
#define TIRC_TESTS_SCRIPT_HELP_H
#include "script/script.h"
#include "unit/unit.h"
#include <stdio.h>
#include <string.h>

typedef struct help_result {
    ir_module *module;
    base_diagnostics *list;
    const char *text;     /* the IR, without its first lines up to the first function; "" after errors */
    const char *messages; /* one line per diagnostic, places and notes included */
} help_result;

static inline help_result help_evaluate(base_arena *arena, const char *script, const char *entry,
                                        const script_options *options) {
    help_result result;
    base_sources *sources = base_sources_create(arena);
    uint32_t file = base_sources_add(sources, "t.py", script, strlen(script));
    base_builder messages, text;
    base_builder_start(&messages, arena);
    base_builder_start(&text, arena);
    result.list = base_diagnostics_create(arena, sources);
    script_ast *ast = script_parse(arena, result.list, file, options);
    result.module = script_evaluate(arena, result.list, ast, entry, options);
    assert_non_null(result.module);
    if (base_diagnostics_errors(result.list) == 0) {
        ir_verify(result.module, IR_FORM_TENSOR);
        ir_module_print(result.module, &text);
    }
    base_diagnostics_render(result.list, BASE_LINE, false, &messages);
    result.messages = messages.data ? messages.data : "";
    const char *start = text.data ? strstr(text.data, "function ") : NULL;
    result.text = start ? start : "";
    return result;
}

/* The script gives this IR and says nothing. defines: "M=4 N=8", or NULL. */
static inline void help_gives(base_arena *arena, const char *script, const char *defines,
                              const char *expected) {
    script_define list[16];
    script_options options = {.defines = list};
    char *copy = base_arena_string(arena, defines ? defines : "", defines ? strlen(defines) : 0);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = 0;
        list[options.define_count++] = (script_define){word, value + 1};
    }
    help_result result = help_evaluate(arena, script, NULL, &options);
    if (result.messages[0] || strcmp(result.text, expected) != 0) {
        /* fail_msg cuts long texts */
        fprintf(stderr, "script:\n%s\nmessages:\n%s\ngot:\n%s\nexpected:\n%s\n", script, result.messages,
                result.text, expected);
        fail_msg("another IR than expected");
    }
}

/* Two scripts give structurally equal first functions. */
static inline void help_equal(base_arena *arena, const char *a, const char *b) {
    help_result x = help_evaluate(arena, a, NULL, NULL), y = help_evaluate(arena, b, NULL, NULL);
    base_builder difference;
    base_builder_start(&difference, arena);
    if (x.messages[0] || y.messages[0])
        fail_msg("%s%s", x.messages, y.messages);
    if (!ir_function_equal(x.module->functions.items[0], y.module->functions.items[0], &difference))
        fail_msg("%s\n%s\n%s", difference.data, x.text, y.text);
    if (strcmp(x.text, y.text) != 0)
        fail_msg("printed differently:\n%s\n%s", x.text, y.text);
}

/* Exactly these diagnostics, as "line:column code" with a piece of the text of each: "2:5 T0201 'x' is not".
 */
static inline void help_says(base_arena *arena, const char *script, const char *const *expected,
                             size_t count) {
    help_result result = help_evaluate(arena, script, NULL, NULL);
    if (base_diagnostics_count(result.list) != count)
        fail_msg("script:\n%s\n%zu diagnostics, expected %zu:\n%s", script,
                 base_diagnostics_count(result.list), count, result.messages);
    for (size_t i = 0; i < count; i++) {
        const base_diagnostic *d = base_diagnostics_at(result.list, i);
        base_place place = base_span_place(base_diagnostics_sources(result.list), d->span);
        base_builder line;
        base_builder_start(&line, arena);
        base_builder_format(&line, "%u:%u %s ", place.line, place.column, d->code);
        bool same = strncmp(line.data, expected[i], line.size) == 0;
        if (!same || !strstr(d->text, expected[i] + line.size)) {
            fprintf(stderr, "script:\n%s\nexpected: %s\ngot:\n%s\n", script, expected[i], result.messages);
            fail_msg("another diagnostic than expected");
        }
    }
}
/* The first diagnostic has this note, as "line:column text". */
static inline void help_notes(base_arena *arena, const help_result *result, const char *expected) {
    assert_true(base_diagnostics_count(result->list) > 0);
    const base_diagnostic *d = base_diagnostics_at(result->list, 0);
    for (size_t i = 0; i < d->notes.count; i++) {
        base_place place = base_span_place(base_diagnostics_sources(result->list), d->notes.items[i].span);
        if (strstr(base_arena_format(arena, "%u:%u %s", place.line, place.column, d->notes.items[i].text),
                   expected))
            return;
    }
    fail_msg("no note %s\n%s", expected, result->messages);
}

#define SAYS(script, ...)                                                                                    \
    do {                                                                                                     \
        static const char *const expected_[] = {__VA_ARGS__};                                                \
        help_says(*state, script, expected_, sizeof(expected_) / sizeof(expected_[0]));                      \
    } while (0)

/* Tests of statements write only the body: this kernel is around it. */
#define HELP_HEAD                                                                                            \
    "@T.function\n"                                                                                          \
    "def k(A: T.Tensor((64,), \"float32\"), B: T.Tensor((64,), \"float32\"), C: T.Tensor((64,), "            \
    "\"int32\"), "                                                                                           \
    "n: T.int32):\n"                                                                                         \
    "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(64,)))\n"                               \
    "    tx = T.cuda.thread_idx(\"x\")\n"

static inline const char *help_indent(base_arena *arena, const char *head, const char *body) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, head);
    while (*body) {
        size_t size = strcspn(body, "\n");
        base_builder_string(&text, "    ");
        base_builder_add(&text, body, size);
        base_builder_char(&text, '\n');
        body += size + (body[size] == '\n');
    }
    return text.data;
}

static inline void help_body(base_arena *arena, const char *body, const char *expected) {
    help_gives(arena, help_indent(arena, HELP_HEAD, body), NULL,
               help_indent(arena,
                           "function k(A: float32[64], B: float32[64], C: int32[64], n: int32):\n"
                           "    launch:\n"
                           "        grid = (2, 1, 1)\n"
                           "        block = (64, 1, 1)\n"
                           "    let tx: int32 = thread_idx.x\n",
                           expected));
}
#define BODY(body, expected) help_body(*state, body, expected)
/* Places count the lines of the kernel around the body: its first line is 5, its first column 5. */
#define BODY_SAYS(body, ...) SAYS(help_indent(*state, HELP_HEAD, body), __VA_ARGS__)
#endif
