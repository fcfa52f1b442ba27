/* SPDX-License-Identifier: Apache-2.0
 * Functions that the script brings as CUDA source text: found, written, and made into a unit that another
 * compiler can make PTX of. What the texts mean is not known here. */
#include "cuda/cuda_internal.h"
#include "num/num.h"
#include <string.h>

/* ---- finding ---- */

static void find_source(void *user, const ir_expr *e) {
    cuda_sources *list = user;
    if (e->op != IR_SOURCE_CALL)
        return;
    cuda_source_function found = {e, list->span};
    base_vector_push(list->arena, &list->calls, found);
    if (!*e->args[1]->at.string || base_map_get(list->seen, BASE_KEY(e->args[1])))
        return;
    base_map_set(list->seen, BASE_KEY(e->args[1]), list);
    base_vector_push(list->arena, &list->functions, found);
}

static void find_in_expression(void *user, const ir_expr **e) {
    static const ir_where calls = {.effects = IR_FLAG_WRITES};
    if (*e)
        ir_expr_visit_where(*e, &calls, find_source, user);
}

static void find_in_statement(void *user, ir_stmt *statement) {
    cuda_sources *list = user;
    list->span = statement->span;
    ir_stmt_expressions(statement, find_in_expression, user);
}

cuda_sources cuda_sources_find(base_arena *arena, const lower_result *lowered) {
    cuda_sources list = {.arena = arena, .seen = base_map_create(arena)};
    for (size_t i = 0; i < lowered->plans.count; i++)
        ir_stmt_visit(lowered->plans.items[i]->function->body, find_in_statement, &list);
    return list;
}

/* Headers by the names that the texts use, as the reference's own header has them all. */
unsigned cuda_sources_includes(const cuda_sources *sources) {
    static const struct {
        const char *name;
        unsigned include;
    } names[] = {{"half", CUDA_FP16},      {"bfloat16", CUDA_BF16},   {"_fp8", CUDA_FP8},
                 {"_fp6", CUDA_FP6},       {"_fp4", CUDA_FP4},        {"CUDART_", CUDA_CONSTANTS},
                 {"int8_t", CUDA_STDINT},  {"int16_t", CUDA_STDINT},  {"int32_t", CUDA_STDINT},
                 {"int64_t", CUDA_STDINT}, {"intptr_t", CUDA_STDINT}, {"CUtensorMap", CUDA_DRIVER}};
    unsigned includes = 0;
    for (size_t i = 0; i < sources->functions.count; i++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            if (strstr(sources->functions.items[i].call->args[1]->at.string, names[n].name))
                includes |= names[n].include;
    return includes;
}

/* The text without the empty lines that a Python string has around it. */
static base_text trimmed(const ir_expr *call) {
    const char *text = call->args[1]->at.string;
    size_t size;
    text += strspn(text, "\n");
    for (size = strlen(text); size > 0 && text[size - 1] == '\n';)
        size--;
    return (base_text){text, size};
}

void cuda_write_source(const ir_expr *call, base_builder *out) {
    base_text text = trimmed(call);
    base_builder_add(out, text.data, text.size);
    base_builder_string(out, "\n\n");
}

/* ---- the unit ---- */

unsigned cuda_unit_words(ir_type type) {
    if (type.kind != IR_TYPE_PRIM)
        return 0;
    unsigned bits = num_dtype_bits((num_dtype)type.dtype);
    if (type.lanes == 1 && bits >= 32)
        return 0;
    unsigned bytes = num_dtype_bytes((num_dtype)type.dtype) * type.lanes;
    return (bytes + 3) / 4;
}

static bool same_signature(const ir_expr *a, const ir_expr *b) {
    if (a->args[0] != b->args[0] || a->count != b->count || !ir_type_equal(a->type, b->type))
        return false;
    for (uint32_t i = 3; i < a->count; i++)
        if (!ir_type_equal(a->args[i]->type, b->args[i]->type))
            return false;
    return true;
}

const cuda_wrapper *cuda_unit_wrapper(const cuda_unit *unit, const ir_expr *call) {
    for (size_t i = 0; i < unit->wrappers.count; i++)
        if (same_signature(unit->wrappers.items[i].call, call))
            return &unit->wrappers.items[i];
    return NULL;
}

static uint32_t line_of(const base_builder *out) {
    uint32_t line = 1;
    for (size_t i = 0; i < out->size; i++)
        line += out->data[i] == '\n';
    return line;
}

static void add_part(cuda_unit *unit, base_arena *arena, const base_builder *out, uint32_t line,
                     cuda_source_function from, base_span text) {
    cuda_unit_part part = {from.call, line, line_of(out) - line, from.span, text};
    base_vector_push(arena, &unit->parts, part);
}

static void write_parameters(cuda_writer *w, const ir_expr *call, base_builder *out) {
    bool first = true;
    for (uint32_t i = 3; i < call->count; i++) {
        unsigned words = cuda_unit_words(call->args[i]->type);
        for (unsigned k = 0; k < (words ? words : 1); k++) {
            base_builder_string(out, first ? "" : ", ");
            first = false;
            if (words)
                base_builder_format(out, "unsigned a%u_%u", i - 3, k);
            else
                base_builder_format(out, "%s a%u", cuda_type(w, call->args[i]->type), i - 3);
        }
    }
}

/* Vectors and types narrower than a word come in words, so that no compiler's rules for passing them matter.
 */
static void write_unpacking(cuda_writer *w, const ir_expr *call, base_builder *out) {
    for (uint32_t i = 3; i < call->count; i++) {
        ir_type type = call->args[i]->type;
        unsigned words = cuda_unit_words(type), n = i - 3;
        if (!words)
            continue;
        base_builder_format(out, "  %s a%u;\n  unsigned w%u[%u] = {", cuda_type(w, type), n, n, words);
        for (unsigned k = 0; k < words; k++)
            base_builder_format(out, "%sa%u_%u", k ? ", " : "", n, k);
        base_builder_format(out, "};\n  memcpy(&a%u, w%u, sizeof a%u);\n", n, n, n);
    }
}

/* Arguments are values, as in the kernel's own text: a reference to one would be to a copy. */
static void write_call(cuda_writer *w, const ir_expr *call, base_builder *out) {
    base_builder_format(out, "%s(", call->args[0]->at.string);
    for (uint32_t i = 3; i < call->count; i++)
        base_builder_format(out, "%s(%s)a%u", i > 3 ? ", " : "", cuda_type(w, call->args[i]->type), i - 3);
    base_builder_string(out, ");\n");
}

static void write_wrapper(cuda_writer *w, const cuda_wrapper *wrapper, base_builder *out) {
    const ir_expr *call = wrapper->call;
    unsigned words = cuda_unit_words(call->type);
    const char *type = cuda_type(w, call->type);
    if (words)
        base_builder_format(out, "struct %s_words {\n  unsigned w[%u];\n};\n", wrapper->name, words);
    base_builder_string(out, "extern \"C\" __device__ __noinline__ ");
    if (words)
        base_builder_format(out, "%s_words", wrapper->name);
    else
        base_builder_string(out, type);
    base_builder_format(out, " %s(", wrapper->name);
    write_parameters(w, call, out);
    base_builder_string(out, ") {\n");
    write_unpacking(w, call, out);
    if (words)
        base_builder_format(out, "  %s r = ", type);
    else
        base_builder_string(out, call->type.kind == IR_TYPE_VOID ? "  " : "  return ");
    write_call(w, call, out);
    if (words)
        base_builder_format(out, "  %s_words w = {};\n  memcpy(&w, &r, sizeof r);\n  return w;\n",
                            wrapper->name);
    base_builder_string(out, "}\n");
}

/* Where the text stands in the script, when a literal holds it as it is. */
static base_span find_text(const base_sources *sources, base_span near, base_text text) {
    if (!near.file || !text.size)
        return BASE_NO_SPAN;
    base_text script = base_source_text(sources, near.file);
    const char *found = memmem(script.data, script.size, text.data, text.size);
    if (!found)
        return BASE_NO_SPAN;
    uint32_t begin = (uint32_t)(found - script.data);
    return (base_span){near.file, begin, begin + (uint32_t)text.size};
}

static void wrap_calls(cuda_writer *w, cuda_unit *unit, const cuda_sources *sources, base_builder *out) {
    for (size_t i = 0; i < sources->calls.count; i++) {
        cuda_source_function from = sources->calls.items[i];
        if (cuda_unit_wrapper(unit, from.call))
            continue;
        w->span = from.span;
        cuda_wrapper wrapper = {base_arena_format(w->arena, "tirc_call_%zu", unit->wrappers.count), from.call,
                                from.span};
        uint32_t line = line_of(out);
        write_wrapper(w, &wrapper, out);
        add_part(unit, w->arena, out, line, from, BASE_NO_SPAN);
        base_vector_push(w->arena, &unit->wrappers, wrapper);
    }
}

/* Lines of a later part of the unit, once it stands behind a first one. */
static void move_parts(cuda_unit *unit, uint32_t lines) {
    for (size_t i = 0; i < unit->parts.count; i++)
        unit->parts.items[i].line += lines;
}

const cuda_unit *cuda_unit_create(base_arena *arena, const lower_result *lowered) {
    cuda_sources sources = cuda_sources_find(arena, lowered);
    if (!sources.calls.count)
        return NULL;
    cuda_writer w = {.arena = arena, .diagnostics = lowered->module->diagnostics, .module = lowered->module};
    cuda_unit *unit = BASE_NEW(arena, cuda_unit);
    base_builder body, out;
    base_builder_start(&body, arena);
    base_builder_start(&out, arena);
    for (size_t i = 0; i < sources.functions.count; i++) {
        cuda_source_function from = sources.functions.items[i];
        uint32_t line = line_of(&body);
        cuda_write_source(from.call, &body);
        add_part(unit, arena, &body, line, from,
                 find_text(base_diagnostics_sources(w.diagnostics), from.span, trimmed(from.call)));
    }
    wrap_calls(&w, unit, &sources, &body);
    cuda_write_headers(w.includes | cuda_sources_includes(&sources), &out);
    cuda_write_vector_types(&w, &out);
    move_parts(unit, line_of(&out) - 1);
    base_builder_add(&out, body.data, body.size);
    unit->text = out.data;
    unit->size = out.size;
    return unit;
}

const cuda_unit_part *cuda_unit_place(const cuda_unit *unit, const base_sources *sources, uint32_t line,
                                      base_span *span) {
    for (size_t i = 0; i < unit->parts.count; i++) {
        const cuda_unit_part *part = &unit->parts.items[i];
        if (line < part->line || line - part->line >= part->lines)
            continue;
        *span = part->span;
        if (!part->text.file)
            return part;
        base_text script = base_source_text(sources, part->text.file);
        uint32_t at = part->text.begin, end;
        for (uint32_t skip = line - part->line; skip > 0 && at < part->text.end; at++)
            skip -= script.data[at] == '\n';
        while (at < part->text.end && strchr(" \t", script.data[at]))
            at++;
        for (end = at; end < part->text.end && script.data[end] != '\n';)
            end++;
        if (end > at)
            *span = (base_span){part->text.file, at, end};
        return part;
    }
    return NULL;
}
