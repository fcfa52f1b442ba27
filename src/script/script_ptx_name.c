/* SPDX-License-Identifier: Apache-2.0
 * Names of PTX instructions in scripts: attribute chains after T.ptx and T.ptx["..."]. Knows no operands. */
#include "ptx/ptx_pattern.h"
#include "script/script_evaluate.h"
#include <ctype.h>
#include <string.h>

static script_value ptx_value(script_evaluator *e, const char *text) {
    script_value v = {.kind = SCRIPT_VALUE_PTX};
    v.as.string.text = base_arena_string(e->arena, text, strlen(text));
    v.as.string.size = strlen(text);
    return v;
}

script_value script_ptx_root(script_evaluator *e) {
    return ptx_value(e, "");
}

/* `global_` is .global, `shared__cta` .shared::cta, `_2d` .2d: names that Python's grammar has no letters
 * for. */
static void add_word(const char *name, base_builder *out) {
    size_t size = strlen(name), begin = name[0] == '_' && isdigit((unsigned char)name[1]) ? 1 : 0;
    if (size > begin + 1 && name[size - 1] == '_' && name[size - 2] != '_')
        size--;
    for (size_t i = begin; i < size; i++) {
        bool two = i + 1 < size && name[i] == '_' && name[i + 1] == '_';
        base_builder_string(out, two ? "::" : "");
        if (!two)
            base_builder_char(out, name[i]);
        i += two;
    }
}

const char *script_ptx_family(script_evaluator *e, const char *text) {
    ptx_pattern pattern;
    base_builder why;
    size_t size = strcspn(text, ".");
    base_builder_start(&why, e->arena);
    if (!memchr(text, '_', size) ||
        ptx_pattern_name(e->arena, &e->module->patterns, text, size, &pattern, &why))
        return text;
    char *copy = base_arena_string(e->arena, text, strlen(text));
    for (size_t i = 0; i < size; i++) {
        if (copy[i] != '_')
            continue;
        copy[i] = '.';
        size_t first = i;
        if (ptx_pattern_name(e->arena, &e->module->patterns, copy, first, &pattern, &why) ||
            ptx_pattern_name(e->arena, &e->module->patterns, copy, size, &pattern, &why))
            return copy;
        copy[i] = '_';
    }
    return text;
}

script_value script_ptx_attribute(script_evaluator *e, script_value object, const char *name) {
    base_builder text;
    base_builder_start(&text, e->arena);
    base_builder_string(&text, object.as.string.text);
    if (object.as.string.size)
        base_builder_char(&text, '.');
    add_word(name, &text);
    return ptx_value(e, text.data);
}

script_value script_ptx_item(script_evaluator *e, script_value object, script_value index, base_span span) {
    if (object.as.string.size || index.kind != SCRIPT_VALUE_STRING) {
        base_diagnostic *d = script_error(e, "T0519", span, "T.ptx[...] takes the text of one instruction");
        base_help(e->diagnostics, d, "T.ptx[\"ld.shared.b32\"](x, pointer)");
        return script_poison();
    }
    return ptx_value(e, index.as.string.text);
}

/* ---- what a wrong name may have meant ---- */

static bool is_among(const char *word, const char *const *words, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* For a name that is no instruction: one that is nearly the same, or stands further behind. */
static const char *suggest_instruction(script_evaluator *e, const char *text, const char *const *words,
                                       uint32_t count) {
    size_t size = strcspn(text, ".");
    for (const char *part = text + size; *part; part += strcspn(part, ".")) {
        part++;
        if (is_among(base_arena_string(e->arena, part, strcspn(part, ".")), words, count))
            return base_arena_format(e->arena, "the instruction's name stands first: `%.*s`",
                                     (int)strcspn(part, "."), part);
    }
    const char *near = script_nearest(text, words, count);
    near = near ? near : script_nearest(base_arena_string(e->arena, text, size), words, count);
    return near ? base_arena_format(e->arena, "did you mean `%s`?", near) : "";
}

/* The first part of the name that the instruction does not have, and the one of its own that is nearest. */
const char *script_ptx_suggest(script_evaluator *e, const char *text, int op) {
    const char **words;
    uint32_t count = ptx_pattern_words(e->arena, &e->module->patterns, (ptx_op)op, &words);
    if (!script_may_suggest(e))
        return "";
    if (op == PTX_OP_NONE)
        return suggest_instruction(e, text, words, count);
    for (const char *part = text + strlen(ptx_op_name((ptx_op)op)); *part; part += strcspn(part, ".")) {
        const char *word = base_arena_string(e->arena, part + 1, strcspn(part + 1, "."));
        part++;
        const char *near = is_among(word, words, count) ? NULL : script_nearest(word, words, count);
        if (near)
            return base_arena_format(e->arena, "did you mean `.%s`? ", near);
    }
    return "";
}
