/* SPDX-License-Identifier: Apache-2.0
 * The dialect table as data, and look-up in it: words, element types and axes of a namespace. What a word
 * does is in its handler. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <string.h>

static const script_dialect_word words[] = {
#define WORD(path, kind, signature, handler, data, summary)                                                  \
    {path, sizeof(path) - 1, SCRIPT_WORD_##kind, signature, handler, data, summary},
#define LATER(path, summary) {path, sizeof(path) - 1, SCRIPT_WORD_LATER, "", NULL, 0, summary},
#include "script/script_dialect.def"
#undef WORD
#undef LATER
};
enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

static const char *const hidden[] = {"python.",    "math.",        "list.", "dict.",   "str.",
                                     "set.",       "tuple.",       "enum.", "typing.", "functools.",
                                     "itertools.", "dataclasses.", "os.",   "int."};

static bool is_hidden(const char *path) {
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (strncmp(path, hidden[i], strlen(hidden[i])) == 0)
            return true;
    return false;
}

const char *script_word(size_t index, const char **signature, const char **summary) {
    size_t shown = 0;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (is_hidden(words[i].path) || shown++ != index)
            continue;
        if (signature)
            *signature = words[i].signature;
        if (summary)
            *summary = words[i].summary;
        return words[i].path;
    }
    return NULL;
}

/* word_parameters, word_signatures and word_slots, made of the table when tirc is built */
#include "script_words.inc"
enum { WORD_SLOTS = sizeof(word_slots) / sizeof(word_slots[0]) };
_Static_assert(sizeof(word_signatures) / sizeof(word_signatures[0]) == WORD_COUNT, "a row was not read");
_Static_assert((WORD_SLOTS & (WORD_SLOTS - 1)) == 0 && WORD_COUNT < WORD_SLOTS / 2, "too few slots");

/* The hash of mk/script_words.awk, going on behind h; *size grows by that of the text. */
static uint32_t word_hash(uint32_t h, const char *text, size_t *size) {
    const char *at = text;
    for (; *at; at++)
        h = h * 37 + (unsigned char)*at;
    *size += (size_t)(at - text);
    return h;
}

const script_dialect_word *script_word_of(const char *family, const char *name) {
    size_t before = 0, size = 0;
    uint32_t h = word_hash(0, family, &before);
    if (before > 0)
        h = h * 37 + '.';
    h = word_hash(h, name, &size);
    const size_t whole = before + (before > 0) + size;
    for (uint32_t slot = h % WORD_SLOTS; word_slots[slot] != 0; slot = (slot + 1) % WORD_SLOTS) {
        const script_dialect_word *word = &words[word_slots[slot] - 1];
        if (word->size != whole || memcmp(word->path + whole - size, name, size) != 0)
            continue;
        if (before == 0 || (word->path[before] == '.' && memcmp(word->path, family, before) == 0))
            return word;
    }
    return NULL;
}

const script_dialect_word *script_word_find(const char *path) {
    return script_word_of("", path);
}

const script_signature *script_signature_of(const script_dialect_word *word,
                                            const script_parameter **parameters) {
    const script_signature *signature = &word_signatures[word - words];
    *parameters = word_parameters + signature->first;
    return signature;
}

static bool is_namespace(const char *path) {
    size_t size = strlen(path);
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (strncmp(words[i].path, path, size) == 0 && words[i].path[size] == '.')
            return true;
    return false;
}

script_value script_namespace_find(script_evaluator *e, const char *prefix, const char *name) {
    if (!prefix[0] && strcmp(name, "ptx") == 0)
        return script_ptx_root(e);
    const script_dialect_word *word = strchr(name, '.') ? NULL : script_word_of(prefix, name);
    script_value tile;
    if (word)
        return (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = word};
    char path[128];
    int size = snprintf(path, sizeof(path), prefix[0] ? "%s.%s" : "%s%s", prefix, name);
    if (size < 0 || (size_t)size >= sizeof(path))
        return script_poison();
    if (!prefix[0] && script_library_find(e, name, &tile))
        return tile;
    if (script_tile_find(e, path, &tile))
        return tile;
    if (strcmp(path, "cuda") == 0 || strcmp(path, "SwizzleMode") == 0 || (prefix[0] && is_namespace(path)))
        return (script_value){.kind = SCRIPT_VALUE_NAMESPACE,
                              .as.string.text = base_name_of(e->names, path),
                              .as.string.size = (size_t)size};
    layout_axis axis;
    if (strcmp(prefix, "Axis") == 0 && layout_axis_find(name, strlen(name), &axis))
        return (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = axis};
    if (prefix[0])
        return script_poison();
    if (strcmp(name, "Axis") == 0) /* Axis.laneid, as the reference prints axes */
        return (script_value){.kind = SCRIPT_VALUE_NAMESPACE, .as.string.text = "Axis", .as.string.size = 4};
    ir_type type;
    if (script_parse_dtype(name, strlen(name), &type))
        return script_type(type);
    if (layout_axis_find(name, strlen(name), &axis))
        return (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = axis};
    return script_poison();
}

/* Capitals are the writer's shape of a word; the suggestion still compares letter by letter. */
static const char *nearest_word(script_evaluator *e, const char *prefix, const char *name) {
    BASE_VECTOR(const char *) known = {0};
    size_t size = strlen(prefix);
    for (size_t i = 0; i < WORD_COUNT; i++) {
        const char *path = words[i].path;
        if (size > 0 && (strncmp(path, prefix, size) != 0 || path[size] != '.'))
            continue;
        const char *rest = size > 0 ? path + size + 1 : path;
        if (!strchr(rest, '.'))
            base_vector_push(e->arena, &known, rest);
    }
    if (size == 0)
        for (int dtype = NUM_DTYPE_NONE + 1; dtype < NUM_DTYPE_COUNT; dtype++)
            base_vector_push(e->arena, &known, num_dtype_name((num_dtype)dtype));
    return script_nearest(name, known.items, known.count);
}

script_value script_unknown_word(script_evaluator *e, const char *prefix, const char *name, base_span span) {
    base_diagnostic *d = prefix[0] ? script_error(e, "T0202", span, "'%s' has no word '%s'", prefix, name)
                                   : script_error(e, "T0202", span, "the dialect has no word '%s'", name);
    char path[128];
    const char *near = script_may_suggest(e) ? nearest_word(e, prefix, name) : NULL;
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
    else if (strlen(name) < 100 && !prefix[0]) {
        snprintf(path, sizeof(path), "cuda.%s", name);
        if (script_word_find(path))
            base_help(e->diagnostics, d, "it is in the cuda namespace: '%s'", path);
    } else if (strcmp(prefix, "cuda") == 0 && script_word_find(name))
        base_help(e->diagnostics, d, "it is not in the cuda namespace: '%s'", name);
    return script_poison();
}

/* What says the same, for constructs whose phrase begins so. */
static const struct {
    const char *phrase, *advice;
} substitutes[] = {
    {"else of a loop", "set a scalar before `break`, and test it behind the loop"},
    {"raise", "in a kernel: assert condition, message, or T.cuda.trap_when_assert_failed(condition)"},
    {"a try statement", "a kernel has no exceptions: test the condition with an if"},
    {"a chained assignment", "write one assignment for each name"},
    {"del", "leave it out: a name ends with its block"},
    {"a class inside a kernel", "write the class before the kernel, with @T.meta_class"},
    {"a kernel inside a kernel", "write it beside the kernel, or as a function with @T.inline"},
    {"async", "leave out `async`: nothing waits while a script is compiled"},
    {"await", "leave out `await`: nothing waits while a script is compiled"},
    {"match", "write if and elif"},
    {"yield", "return a list"},
    {"a type alias", "write the type where it is used"},
    {"thread_binding from another start",
     "T.thread_binding(0, extent, thread=...), and add the start where it is used"},
};

void script_not_supported(script_evaluator *e, base_span span, const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    base_diagnostic *d = script_error(e, "T0299", span, "%s is not supported yet", text);
    for (size_t i = 0; i < sizeof(substitutes) / sizeof(substitutes[0]); i++)
        if (strncmp(text, substitutes[i].phrase, strlen(substitutes[i].phrase)) == 0)
            base_help(e->diagnostics, d, "%s", substitutes[i].advice);
}

/* What a word gives when it is named: itself, the value it stands for, or an error for later words. */
script_value script_word_value(script_evaluator *e, const script_dialect_word *word, base_span span) {
    if (word->kind == SCRIPT_WORD_LATER) {
        script_not_supported(e, span, "'%s' (%s)", word->path, word->summary);
        return script_poison();
    }
    if (word->kind == SCRIPT_WORD_VALUE) {
        script_call call = {.word = word, .span = span, .name_span = span};
        return word->handler(e, &call);
    }
    return (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = word};
}
