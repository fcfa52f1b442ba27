/* SPDX-License-Identifier: Apache-2.0
 * Patterns as text and back, and their check against the instruction table. */
#include "ptx/ptx_pattern.h"
#include "ptx/ptx_table.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

/* The opcode that the longest run of whole words spells; its length comes back in *used. */
static ptx_op find_op(const char *text, size_t size, size_t *used) {
    ptx_op best = PTX_OP_NONE;
    *used = 0;
    for (unsigned op = 1; op < PTX_OP_COUNT; op++) {
        const char *name = ptx_op_name((ptx_op)op);
        size_t length = name[0] == text[0] ? strlen(name) : 0;
        if (length > *used && length <= size && memcmp(name, text, length) == 0 &&
            (length == size || text[length] == '.')) {
            best = (ptx_op)op;
            *used = length;
        }
    }
    return best;
}

static ptx_mod find_mod(const char *text, size_t size) {
    for (unsigned mod = 1; mod < PTX_MOD_COUNT; mod++) {
        const char *name = ptx_mod_name((ptx_mod)mod);
        if ((name[0] | 32) == (text[0] | 32) && strncasecmp(name, text, size) == 0 && name[size] == '\0')
            return (ptx_mod)mod;
    }
    return PTX_MOD_NONE;
}

/* What no instruction has is named; the others are still added. */
static bool add_modifiers(const char *text, const char *end, ptx_pattern *pattern, base_builder *why) {
    bool good = true;
    for (const char *next; text < end; text = next) {
        const char *stop = memchr(text + 1, '.', (size_t)(end - text - 1));
        stop = next = stop ? stop : end;
        ptx_mod mod = find_mod(text + 1, (size_t)(stop - text - 1));
        if (mod == PTX_MOD_NONE || pattern->mod_count == PTX_MODS_MAX) {
            if (good)
                base_builder_format(why,
                                    mod ? "`%.*s` is one modifier too many for %s"
                                        : "`%.*s` is no modifier that any PTX instruction has (here: %s)",
                                    (int)(stop - text), text, ptx_op_name(pattern->op));
            good = false;
            continue;
        }
        pattern->mods[pattern->mod_count++] = mod;
    }
    return good;
}

static void find_types(ptx_pattern *pattern) {
    pattern->type = pattern->type2 = PTX_TYPE_NONE;
    for (unsigned i = 0; i < pattern->mod_count; i++) {
        if ((unsigned)pattern->mods[i] >= PTX_TYPE_COUNT)
            continue;
        if (pattern->type == PTX_TYPE_NONE)
            pattern->type = (ptx_type)pattern->mods[i];
        else if (pattern->type2 == PTX_TYPE_NONE)
            pattern->type2 = (ptx_type)pattern->mods[i];
    }
}

/* In the order of the first form that takes them, which is the order ptxas wants. */
ptx_table *ptx_pattern_table(base_arena *arena, ptx_pattern_cache *cache) {
    if (cache == NULL)
        return ptx_table_create(arena);
    if (cache->table == NULL)
        cache->table = ptx_table_create(cache->arena);
    return cache->table;
}

static void order_modifiers(base_arena *arena, ptx_pattern_cache *cache, ptx_pattern *pattern) {
    unsigned count = 0;
    ptx_instruction instruction = {.op = pattern->op, .mod_count = (uint8_t)pattern->mod_count};
    memcpy(instruction.mods, pattern->mods, sizeof instruction.mods);
    const ptx_form *forms = ptx_table_forms(ptx_pattern_table(arena, cache), pattern->op, &count);
    for (unsigned f = 0; f < count; f++) {
        if (!ptx_form_takes_modifiers(&forms[f], &instruction))
            continue;
        bool used[PTX_MODS_MAX] = {false};
        unsigned at = 0;
        for (unsigned s = 0; s < forms[f].slot_count; s++)
            for (unsigned m = 0; m < pattern->mod_count; m++) {
                unsigned mod = instruction.mods[m];
                if (used[m] || !(forms[f].slots[s].mods[mod / 64] >> mod % 64 & 1))
                    continue;
                used[m] = true;
                pattern->mods[at++] = instruction.mods[m];
                break;
            }
        for (unsigned m = 0; m < pattern->mod_count; m++)
            if (!used[m])
                pattern->mods[at++] = instruction.mods[m];
        return;
    }
}

static bool read_name(const char *text, size_t size, ptx_pattern *pattern, base_builder *why) {
    size_t used;
    pattern->mod_count = 0;
    pattern->op = find_op(text, size, &used);
    if (pattern->op == PTX_OP_NONE) {
        base_builder_format(why, "`%.*s` is no PTX instruction", (int)size, text);
        return false;
    }
    if (!add_modifiers(text + used, text + size, pattern, why))
        return false;
    find_types(pattern);
    return true;
}

bool ptx_pattern_name(base_arena *arena, ptx_pattern_cache *cache, const char *text, size_t size,
                      ptx_pattern *pattern, base_builder *why) {
    if (!read_name(text, size, pattern, why))
        return false;
    order_modifiers(arena, cache, pattern);
    find_types(pattern);
    return true;
}

void ptx_pattern_print_name(const ptx_pattern *pattern, base_builder *out) {
    base_builder_string(out, ptx_op_name(pattern->op));
    for (unsigned i = 0; i < pattern->mod_count; i++)
        base_builder_format(out, ".%s", ptx_mod_text(pattern->op, pattern->mods[i]));
}

/* ---- text to pattern ---- */

typedef struct reader {
    base_arena *arena;
    const char *at;
    ptx_pattern *pattern;
    base_builder *why;
    unsigned depth;
} reader;

static void skip_spaces(reader *r) {
    while (*r->at == ' ')
        r->at++;
}

static bool accept(reader *r, char c) {
    skip_spaces(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool wrong(reader *r, const char *wanted) {
    base_builder_format(r->why, "%s is expected at `%.20s`", wanted, r->at);
    return false;
}

/* The number after % or $. */
static bool read_number(reader *r, uint32_t *number, uint32_t *count) {
    unsigned value = 0, digits = 0;
    for (; *r->at >= '0' && *r->at <= '9' && digits < 4; digits++)
        value = value * 10 + (unsigned)(*r->at++ - '0');
    if (digits == 0 || value >= PTX_PATTERN_VALUES)
        return wrong(r, "a number under 512");
    *number = value;
    *count = *count > value ? *count : value + 1;
    return true;
}

static bool read_constant(reader *r, ptx_pattern_operand *operand) {
    char *end;
    const char *start = r->at;
    operand->kind = PTX_PATTERN_CONSTANT;
    if (start[0] == '0' && (start[1] == 'f' || start[1] == 'd')) {
        bool is_double = start[1] == 'd';
        operand->immediate = is_double ? PTX_IMMEDIATE_F64 : PTX_IMMEDIATE_F32;
        operand->bits = strtoull(start + 2, &end, 16);
        r->at = end;
        return end - start == (is_double ? 18 : 10) || wrong(r, "8 digits after 0f, 16 after 0d");
    }
    bool negative = *start == '-';
    if (!isdigit((unsigned char)start[negative]))
        return wrong(r, "an operand");
    uint64_t value = strtoull(start + negative, &end, 0);
    operand->immediate = PTX_IMMEDIATE_INT;
    operand->bits = negative ? 0 - value : value;
    r->at = end;
    return true;
}

static bool read_operand(reader *r, ptx_pattern_operand *operand);

/* A list up to the closing character, after its first item where there is one. */
static bool read_list(reader *r, ptx_pattern_operand *operand, char close) {
    BASE_VECTOR(ptx_pattern_operand) items = {0};
    while (!accept(r, close)) {
        ptx_pattern_operand item;
        if ((items.count && !accept(r, ',')) || items.count == PTX_PATTERN_VALUES)
            return wrong(r, "a comma");
        if (!read_operand(r, &item))
            return false;
        base_vector_push(r->arena, &items, item);
    }
    operand->args = items.items;
    operand->count = (uint32_t)items.count;
    return true;
}

static bool read_address(reader *r, ptx_pattern_operand *operand) {
    BASE_VECTOR(ptx_pattern_operand) items = {0};
    ptx_pattern_operand item;
    operand->kind = PTX_PATTERN_ADDRESS;
    if (!read_operand(r, &item))
        return false;
    base_vector_push(r->arena, &items, item);
    if (accept(r, '+')) {
        skip_spaces(r);
        if (!read_constant(r, &item))
            return false;
        operand->bits = item.bits;
    }
    while (accept(r, ',')) {
        if (!read_operand(r, &item))
            return false;
        base_vector_push(r->arena, &items, item);
    }
    operand->args = items.items;
    operand->count = (uint32_t)items.count;
    return accept(r, ']') || wrong(r, "]");
}

/* %cluster_ctaid.x */
static bool read_special(reader *r, ptx_pattern_operand *operand) {
    size_t size = 0;
    while (isalnum((unsigned char)r->at[size]) || r->at[size] == '_' || r->at[size] == '.')
        size++;
    for (unsigned special = 1; special < PTX_SPECIAL_COUNT; special++) {
        const char *name = ptx_special_name((ptx_special)special);
        if (strlen(name) != size || memcmp(name, r->at, size) != 0)
            continue;
        operand->kind = PTX_PATTERN_SPECIAL;
        operand->bits = special;
        r->at += size;
        return true;
    }
    return wrong(r, "a special register");
}

static bool read_single(reader *r, ptx_pattern_operand *operand) {
    *operand = (ptx_pattern_operand){0};
    if (accept(r, '{')) {
        operand->kind = PTX_PATTERN_VECTOR;
        return read_list(r, operand, '}');
    }
    if (accept(r, '<')) {
        operand->kind = PTX_PATTERN_WIDE;
        return read_list(r, operand, '>') && (operand->count == 2 || wrong(r, "two halves"));
    }
    if (accept(r, '['))
        return read_address(r, operand);
    if (accept(r, '_')) {
        operand->kind = PTX_PATTERN_SINK;
        return true;
    }
    operand->negated = accept(r, '!');
    if (accept(r, '%')) {
        if (isalpha((unsigned char)*r->at))
            return read_special(r, operand);
        operand->kind = PTX_PATTERN_RESULT;
        return read_number(r, &operand->index, &r->pattern->results);
    }
    if (accept(r, '$')) {
        operand->kind = PTX_PATTERN_ARGUMENT;
        return read_number(r, &operand->index, &r->pattern->arguments);
    }
    return operand->negated ? wrong(r, "a predicate") : read_constant(r, operand);
}

static bool read_operand(reader *r, ptx_pattern_operand *operand) {
    if (r->depth++ > 4)
        return wrong(r, "a plain operand");
    bool good = read_single(r, operand);
    if (good && accept(r, '|')) {
        ptx_pattern_operand *both = BASE_NEW_ARRAY(r->arena, ptx_pattern_operand, 2);
        both[0] = *operand;
        good = read_single(r, &both[1]);
        *operand = (ptx_pattern_operand){.kind = PTX_PATTERN_PAIR, .count = 2, .args = both};
    }
    r->depth--;
    return good;
}

static bool read_guard(reader *r) {
    uint32_t number;
    r->pattern->guard = -1;
    if (!accept(r, '@'))
        return true;
    r->pattern->guard_negated = accept(r, '!');
    if (!accept(r, '$') || !read_number(r, &number, &r->pattern->arguments))
        return wrong(r, "a guard like @$2");
    r->pattern->guard = number;
    return true;
}

static bool read_keep(reader *r) {
    BASE_VECTOR(uint32_t) keep = {0};
    skip_spaces(r);
    if (strncmp(r->at, "keep", 4) != 0)
        return *r->at == '\0' || wrong(r, "the end");
    r->at += 4;
    do {
        uint32_t number;
        if (!accept(r, '$') || keep.count == PTX_PATTERN_VALUES ||
            !read_number(r, &number, &r->pattern->arguments))
            return wrong(r, "an argument like $2");
        base_vector_push(r->arena, &keep, number);
    } while (accept(r, ','));
    r->pattern->keep = keep.items;
    r->pattern->keep_count = (uint32_t)keep.count;
    skip_spaces(r);
    return *r->at == '\0' || wrong(r, "the end");
}

static bool parse(base_arena *arena, const char *text, ptx_pattern *pattern, base_builder *why) {
    reader r = {.arena = arena, .at = text, .pattern = pattern, .why = why};
    BASE_VECTOR(ptx_pattern_operand) operands = {0};
    *pattern = (ptx_pattern){0};
    if (!read_guard(&r))
        return false;
    skip_spaces(&r);
    size_t size = strcspn(r.at, " ");
    if (!read_name(r.at, size, pattern, why))
        return false;
    r.at += size;
    skip_spaces(&r);
    while (*r.at && strncmp(r.at, "keep", 4) != 0) {
        ptx_pattern_operand operand;
        if (operands.count && !accept(&r, ','))
            return wrong(&r, "a comma");
        if (operands.count == 32 || !read_operand(&r, &operand))
            return operands.count < 32 ? false : wrong(&r, "the end");
        base_vector_push(arena, &operands, operand);
        skip_spaces(&r);
    }
    pattern->operands = operands.items;
    pattern->operand_count = (uint32_t)operands.count;
    if (!read_keep(&r))
        return false;
    if (pattern->keep_count && pattern->keep_count != pattern->results) {
        base_builder_format(why, "%u results, but %u kept values", pattern->results, pattern->keep_count);
        return false;
    }
    return true;
}

bool ptx_pattern_parse(base_arena *arena, ptx_pattern_cache *cache, const char *text, ptx_pattern *pattern,
                       base_builder *why) {
    if (cache == NULL || cache->arena == NULL)
        return parse(arena, text, pattern, why);
    if (cache->parsed == NULL)
        cache->parsed = base_map_create(cache->arena);
    const ptx_pattern *known = base_map_get(cache->parsed, (uint64_t)(uintptr_t)text);
    if (known != NULL) {
        *pattern = *known;
        return true;
    }
    if (!parse(cache->arena, text, pattern, why))
        return false;
    base_map_set(cache->parsed, (uint64_t)(uintptr_t)text,
                 base_arena_copy(cache->arena, pattern, sizeof *pattern));
    return true;
}

/* ---- pattern to text ---- */

static void print_operand(const ptx_pattern_operand *operand, base_builder *out) {
    static const char *const open[] = {
        [PTX_PATTERN_VECTOR] = "{", [PTX_PATTERN_WIDE] = "<", [PTX_PATTERN_ADDRESS] = "["};
    switch (operand->kind) {
    case PTX_PATTERN_RESULT:
        base_builder_format(out, "%s%%%u", operand->negated ? "!" : "", operand->index);
        return;
    case PTX_PATTERN_ARGUMENT:
        base_builder_format(out, "%s$%u", operand->negated ? "!" : "", operand->index);
        return;
    case PTX_PATTERN_CONSTANT:
        if (operand->immediate == PTX_IMMEDIATE_INT)
            base_builder_format(out, "%lld", (long long)operand->bits);
        else
            base_builder_format(out, operand->immediate == PTX_IMMEDIATE_F32 ? "0f%08llX" : "0d%016llX",
                                (unsigned long long)operand->bits);
        return;
    case PTX_PATTERN_SINK:
        base_builder_char(out, '_');
        return;
    case PTX_PATTERN_SPECIAL:
        base_builder_format(out, "%%%s", ptx_special_name((ptx_special)operand->bits));
        return;
    case PTX_PATTERN_PAIR:
        print_operand(&operand->args[0], out);
        base_builder_char(out, '|');
        print_operand(&operand->args[1], out);
        return;
    case PTX_PATTERN_VECTOR:
    case PTX_PATTERN_WIDE:
    case PTX_PATTERN_ADDRESS:
        break;
    }
    base_builder_string(out, open[operand->kind]);
    for (uint32_t i = 0; i < operand->count; i++) {
        base_builder_string(out, i ? ", " : "");
        print_operand(&operand->args[i], out);
        if (i == 0 && operand->kind == PTX_PATTERN_ADDRESS && operand->bits)
            base_builder_format(out, "+%lld", (long long)operand->bits);
    }
    base_builder_char(out, operand->kind == PTX_PATTERN_VECTOR ? '}'
                           : operand->kind == PTX_PATTERN_WIDE ? '>'
                                                               : ']');
}

void ptx_pattern_print(const ptx_pattern *pattern, base_builder *out) {
    if (pattern->guard >= 0)
        base_builder_format(out, "@%s$%u ", pattern->guard_negated ? "!" : "", (unsigned)pattern->guard);
    ptx_pattern_print_name(pattern, out);
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        base_builder_string(out, i ? ", " : " ");
        print_operand(&pattern->operands[i], out);
    }
    for (uint32_t i = 0; i < pattern->keep_count; i++)
        base_builder_format(out, i ? ", $%u" : " keep $%u", pattern->keep[i]);
}

static bool has(const ptx_pattern *pattern, ptx_mod mod) {
    for (uint32_t i = 0; i < pattern->mod_count; i++)
        if (pattern->mods[i] == mod)
            return true;
    return false;
}

bool ptx_pattern_is_byte(const ptx_pattern *pattern, uint32_t i) {
    return pattern->op == PTX_OP_CVT &&
           ((i == 0 && pattern->type == PTX_TYPE_E2M1X2) || (i == 1 && pattern->type2 == PTX_TYPE_E2M1X2) ||
            (i > 1 && i + 1 == pattern->operand_count && has(pattern, PTX_MOD_SCALED__N1__UE8M0)));
}

bool ptx_pattern_is_register(const ptx_pattern *pattern, uint32_t i) {
    return pattern->op == PTX_OP_CVT && i + 1 == pattern->operand_count && has(pattern, PTX_MOD_RS);
}

/* ---- check ---- */

void ptx_pattern_predicates(const ptx_pattern *pattern, ptx_type *results) {
    for (uint32_t i = 0; i < pattern->operand_count; i++) {
        const ptx_pattern_operand *operand = &pattern->operands[i];
        if (operand->kind == PTX_PATTERN_PAIR && operand->args[1].kind == PTX_PATTERN_RESULT)
            results[operand->args[1].index] = PTX_TYPE_PRED;
    }
}

typedef struct filler {
    base_arena *arena;
    ptx_register *results, *arguments, *wide;
} filler;

static ptx_operand fill(filler *f, const ptx_pattern_operand *from) {
    ptx_operand to = {.bits = from->bits, .negated = from->negated, .count = (uint16_t)from->count};
    switch (from->kind) {
    case PTX_PATTERN_RESULT:
        to.kind = PTX_OPERAND_REGISTER;
        to.of.reg = &f->results[from->index];
        return to;
    case PTX_PATTERN_ARGUMENT:
        to.kind = PTX_OPERAND_REGISTER;
        to.of.reg = &f->arguments[from->index];
        return to;
    case PTX_PATTERN_CONSTANT:
        to.kind = PTX_OPERAND_IMMEDIATE;
        to.immediate = from->immediate;
        return to;
    case PTX_PATTERN_SINK:
        to.kind = PTX_OPERAND_SINK;
        return to;
    case PTX_PATTERN_SPECIAL:
        to.kind = PTX_OPERAND_SPECIAL;
        return to;
    case PTX_PATTERN_WIDE:
        to.kind = PTX_OPERAND_REGISTER;
        to.count = 0;
        to.of.reg = f->wide;
        return to;
    case PTX_PATTERN_VECTOR:
        to.kind = PTX_OPERAND_VECTOR;
        break;
    case PTX_PATTERN_PAIR:
        to.kind = PTX_OPERAND_PAIR;
        break;
    case PTX_PATTERN_ADDRESS:
        to.kind = PTX_OPERAND_MEMORY;
        break;
    }
    to.args = BASE_NEW_ARRAY(f->arena, ptx_operand, from->count);
    for (uint32_t i = 0; i < from->count; i++)
        to.args[i] = fill(f, &from->args[i]);
    return to;
}

static ptx_register *registers(base_arena *arena, const ptx_type *types, uint32_t count, const char *stem) {
    ptx_register *all = BASE_NEW_ARRAY(arena, ptx_register, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        all[i].name = base_arena_format(arena, "%s%u", stem, i);
        all[i].type = types[i];
        all[i].id = i;
    }
    return all;
}

static bool agrees(const ptx_pattern *pattern, const ptx_type *results, const ptx_type *arguments,
                   base_builder *why) {
    if (pattern->guard >= 0 && arguments[pattern->guard] != PTX_TYPE_PRED) {
        base_builder_format(why, "the guard is .%s, not a predicate",
                            ptx_type_name(arguments[pattern->guard]));
        return false;
    }
    for (uint32_t i = 0; i < pattern->keep_count; i++)
        if (ptx_type_bits(arguments[pattern->keep[i]]) != ptx_type_bits(results[i]) &&
            results[i] != PTX_TYPE_PRED) {
            base_builder_format(why, "kept value %u is .%s, the result .%s", i,
                                ptx_type_name(arguments[pattern->keep[i]]), ptx_type_name(results[i]));
            return false;
        }
    return true;
}

/* Both halves of 128 bits have 64. */
static bool halves_fit(const ptx_pattern_operand *operand, const ptx_type *results, const ptx_type *arguments,
                       base_builder *why) {
    for (uint32_t i = 0; operand->kind == PTX_PATTERN_WIDE && i < operand->count; i++) {
        const ptx_pattern_operand *half = &operand->args[i];
        unsigned bits = half->kind == PTX_PATTERN_RESULT     ? ptx_type_bits(results[half->index])
                        : half->kind == PTX_PATTERN_ARGUMENT ? ptx_type_bits(arguments[half->index])
                                                             : 64;
        if (bits == 64)
            continue;
        base_builder_format(why, "half %u of 128 bits has %u", i + 1, bits);
        return false;
    }
    return true;
}

bool ptx_pattern_check(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                       const ptx_type *results, const ptx_type *arguments, base_builder *why,
                       base_builder *accepted) {
    static const ptx_type wide = PTX_TYPE_B128;
    static ptx_register byte = {.name = "c", .type = PTX_TYPE_B8};
    filler f = {arena, registers(arena, results, pattern->results, "%"),
                registers(arena, arguments, pattern->arguments, "$"), registers(arena, &wide, 1, "q")};
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        if (!halves_fit(&pattern->operands[i], results, arguments, why))
            return false;
    ptx_instruction instruction = {.op = pattern->op,
                                   .mod_count = (uint8_t)pattern->mod_count,
                                   .operand_count = (uint8_t)pattern->operand_count,
                                   .type = pattern->type,
                                   .type2 = pattern->type2};
    memcpy(instruction.mods, pattern->mods, sizeof instruction.mods);
    instruction.operands = BASE_NEW_ARRAY(arena, ptx_operand, pattern->operand_count + 1);
    for (uint32_t i = 0; i < pattern->operand_count; i++)
        instruction.operands[i] = fill(&f, &pattern->operands[i]);
    for (uint32_t i = 0; i < pattern->operand_count; i++) { /* bytes travel in words */
        ptx_operand *o = &instruction.operands[i];
        if (o->kind == PTX_OPERAND_REGISTER && ptx_pattern_is_byte(pattern, i) &&
            ptx_type_bits(o->of.reg->type) == 32)
            o->of.reg = &byte;
    }
    return agrees(pattern, results, arguments, why) &&
           ptx_verify_instruction(arena, ptx_pattern_table(arena, cache), &instruction, why, accepted);
}
