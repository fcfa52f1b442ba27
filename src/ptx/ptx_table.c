/* SPDX-License-Identifier: Apache-2.0
 * Reads the patterns of ptx_table.def. A row that does not read is a defect of the table: the unit test
 * builds them all. */
#include "ptx/ptx_table.h"
#include <string.h>

typedef struct row {
    ptx_op op;
    const char *modifiers, *operands;
    unsigned version, sm;
    char target;
} row;

static const row rows[] = {
#define OP(enumerator, text, written, class)
#define FORM(enumerator, modifiers, operands, version, sm, target)                                           \
    {PTX_OP_##enumerator, modifiers, operands, version, sm, target},
#include "ptx/ptx_table.def"
#undef OP
#undef FORM
};

enum { CLASS_0, CLASS_M, CLASS_RW, CLASS_CALL };
enum { WRITTEN_RED = 100, RED = WRITTEN_RED };
static const uint8_t op_classes[PTX_OP_COUNT] = {
#define OP(enumerator, text, written, class) [PTX_OP_##enumerator] = CLASS_##class,
#define FORM(enumerator, modifiers, operands, version, sm, target)
#include "ptx/ptx_table.def"
#undef OP
};
static const uint8_t op_written[PTX_OP_COUNT] = {
#define OP(enumerator, text, written, class) [PTX_OP_##enumerator] = written,
#include "ptx/ptx_table.def"
#undef OP
#undef FORM
};

static const struct {
    uint8_t version, sm;
} mod_minimum[PTX_MOD_COUNT] =
    {
#define MOD(enumerator, text, version, sm) [PTX_MOD_##enumerator] = {version, sm},
#include "ptx/ptx_mods.def"
#undef MOD
},
  special_minimum[PTX_SPECIAL_COUNT] = {
#define X(name, text, bits, version, sm) [PTX_SPECIAL_##name] = {version, sm},
      PTX_SPECIALS(X)
#undef X
};

unsigned ptx_mod_version(ptx_mod mod) {
    return mod_minimum[mod].version;
}

unsigned ptx_mod_sm(ptx_mod mod) {
    return mod_minimum[mod].sm;
}

unsigned ptx_special_version(ptx_special special) {
    return special_minimum[special].version;
}

unsigned ptx_special_sm(ptx_special special) {
    return special_minimum[special].sm;
}

bool ptx_op_is_memory(ptx_op op) {
    return op_classes[op] == CLASS_M;
}

bool ptx_op_reads_destination(ptx_op op) {
    return op_classes[op] == CLASS_RW;
}

int ptx_op_written(const ptx_instruction *instruction) {
    unsigned written = op_written[instruction->op];
    if (written == WRITTEN_RED) {
        return ptx_has(instruction, PTX_MOD_RED) ? 1 : 0;
    }
    return (int)written;
}

/* ---- reading the patterns ---- */

static const char *const class_names[PTX_CLASS_COUNT] = {
    [PTX_CLASS_ADDRESS] = "",  [PTX_CLASS_T] = "t",         [PTX_CLASS_U] = "u",
    [PTX_CLASS_X] = "x",       [PTX_CLASS_W] = "w",         [PTX_CLASS_UW] = "uw",
    [PTX_CLASS_S] = "s",       [PTX_CLASS_US] = "us",       [PTX_CLASS_M] = "m",
    [PTX_CLASS_8R] = "8r",     [PTX_CLASS_16R] = "16r",     [PTX_CLASS_32R] = "32r",
    [PTX_CLASS_U4] = "u4",     [PTX_CLASS_16] = "16",       [PTX_CLASS_32] = "32",
    [PTX_CLASS_64] = "64",     [PTX_CLASS_128] = "128",     [PTX_CLASS_PRED] = "pred",
    [PTX_CLASS_PQ] = "pq",     [PTX_CLASS_PP] = "pp",       [PTX_CLASS_TQ] = "tq",
    [PTX_CLASS_32Q] = "32q",   [PTX_CLASS_TP] = "tp",       [PTX_CLASS_MV] = "mv",
    [PTX_CLASS_A] = "a",       [PTX_CLASS_AD] = "ad",       [PTX_CLASS_V] = "v",
    [PTX_CLASS_V2] = "v2",     [PTX_CLASS_V4] = "v4",       [PTX_CLASS_VS] = "vs",
    [PTX_CLASS_VQ] = "vq",     [PTX_CLASS_FD] = "fd",       [PTX_CLASS_FA] = "fa",
    [PTX_CLASS_FB] = "fb",     [PTX_CLASS_FC] = "fc",       [PTX_CLASS_IMM] = "imm",
    [PTX_CLASS_ZERO] = "zero", [PTX_CLASS_C4] = "c4",       [PTX_CLASS_C16] = "c16",
    [PTX_CLASS_C128] = "c128", [PTX_CLASS_PI] = "pi",       [PTX_CLASS_SINK] = "sink",
    [PTX_CLASS_Y] = "y",       [PTX_CLASS_LABEL] = "label", [PTX_CLASS_TABLE] = "table",
    [PTX_CLASS_CALL] = "call",
};

/* Whether a pattern with one '*' for digits matches a modifier's text. */
static bool matches(const char *name, size_t size, const char *text) {
    const char *star = memchr(name, '*', size);
    size_t before = (size_t)(star - name), after = size - before - 1, length = strlen(text);
    if (length <= before + after || memcmp(name, text, before) != 0 ||
        memcmp(star + 1, text + length - after, after) != 0) {
        return false;
    }
    for (size_t i = before; i < length - after; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
    }
    return true;
}

static uint64_t text_key(const char *text, size_t size) {
    char lower[64];
    size = size < sizeof(lower) ? size : sizeof(lower);
    for (size_t i = 0; i < size; i++) {
        lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    }
    return base_hash(lower, size, 0);
}

static void add_mod(ptx_slot *slot, unsigned mod) {
    slot->mods[mod / 64] |= UINT64_C(1) << mod % 64;
    slot->is_type = mod < PTX_TYPE_COUNT;
}

static bool add_alternative(const ptx_table *table, ptx_slot *slot, const char *name, size_t size) {
    bool found = false;
    if (memchr(name, '*', size) == NULL) {
        unsigned mod = (unsigned)(uintptr_t)base_map_get(table->mods, text_key(name, size));
        if (mod != 0) {
            add_mod(slot, mod);
        }
        return mod != 0;
    }
    for (unsigned mod = PTX_TYPE_COUNT; mod < PTX_MOD_COUNT; mod++) {
        if (matches(name, size, ptx_mod_name((ptx_mod)mod))) {
            add_mod(slot, mod);
            found = true;
        }
    }
    return found;
}

static size_t word_size(const char *p) {
    return strcspn(p, ".,{}");
}

/* ".name", ".{a,b}", "{.a,.b}" */
static bool read_modifiers(const ptx_table *table, ptx_form *form) {
    const char *p = form->modifiers;
    while (*p) {
        if (form->slot_count == PTX_SLOTS_MAX) {
            return false;
        }
        ptx_slot *slot = &form->slots[form->slot_count++];
        bool group = p[0] == '{' || p[1] == '{';
        slot->optional = p[0] == '{';
        p += p[0] == '{' || p[1] != '{' ? 1 : 2;
        for (;;) {
            p += *p == '.';
            size_t size = word_size(p);
            if (size == 0 || !add_alternative(table, slot, p, size)) {
                return false;
            }
            p += size;
            if (group && *p == ',') {
                p++;
                continue;
            }
            break;
        }
        if (group && *p++ != '}') {
            return false;
        }
    }
    return true;
}

static ptx_class find_class(const char *name, size_t size) {
    for (unsigned i = 1; i < PTX_CLASS_COUNT; i++) {
        if (strlen(class_names[i]) == size && memcmp(class_names[i], name, size) == 0) {
            return (ptx_class)i;
        }
    }
    return PTX_CLASS_COUNT;
}

static ptx_range find_range(const char *name, size_t size) {
    static const char *const names[PTX_RANGES] = {
        [PTX_RANGE_NONE] = "",     [PTX_RANGE_BARRIER] = "barrier", [PTX_RANGE_THREADS] = "threads",
        [PTX_RANGE_BYTE] = "byte", [PTX_RANGE_REGS] = "regs",       [PTX_RANGE_COUNT] = "count"};
    unsigned range = 0;
    while (range < PTX_RANGES && (strlen(names[range]) != size || memcmp(names[range], name, size) != 0)) {
        range++;
    }
    return (ptx_range)range;
}

/* "?name=class/range, [a], policy=64 if .L2::cache_hint" */
static bool read_operands(const ptx_table *table, ptx_form *form) {
    const char *p = form->operand_text;
    while (*p) {
        if (form->operand_count == PTX_OPERANDS_MAX) {
            return false;
        }
        ptx_operand_rule *rule = &form->operands[form->operand_count++];
        if (*p == '?') {
            rule->optional = true;
            p++;
        }
        size_t size = strcspn(p, ",=");
        rule->name = p;
        rule->name_size = (uint8_t)size;
        p += size;
        if (*p == '=') {
            size_t class_size = strcspn(++p, "/, ");
            rule->class = find_class(p, class_size);
            p += class_size;
            if (*p == '/') {
                size_t range_size = strcspn(++p, ", ");
                rule->range = find_range(p, range_size);
                p += range_size;
            }
        } else {
            bool is_call = size == 4 && memcmp(rule->name, "call", 4) == 0;
            rule->class = is_call                ? PTX_CLASS_CALL
                          : rule->name[0] == '[' ? PTX_CLASS_ADDRESS
                                                 : PTX_CLASS_COUNT;
        }
        if (strncmp(p, " if .", 5) == 0) {
            p += 5;
            size_t mod_size = strcspn(p, ",");
            rule->condition = (ptx_mod)(uintptr_t)base_map_get(table->mods, text_key(p, mod_size));
            p += mod_size;
            if (rule->condition == PTX_MOD_NONE) {
                return false;
            }
        }
        if (rule->class == PTX_CLASS_COUNT || rule->range == PTX_RANGES) {
            return false;
        }
        p += *p == ',';
        p += *p == ' ';
    }
    return true;
}

ptx_table *ptx_table_create(base_arena *arena) {
    ptx_table *table = BASE_NEW(arena, ptx_table);
    table->arena = arena;
    table->mods = base_map_create(arena);
    for (uintptr_t mod = 1; mod < PTX_MOD_COUNT; mod++) {
        const char *text = ptx_mod_name((ptx_mod)mod);
        base_map_set(table->mods, text_key(text, strlen(text)), (void *)mod);
    }
    return table;
}

ptx_table *ptx_table_of(const ptx_module *module) {
    if (*module->table == NULL) {
        *module->table = ptx_table_create(module->arena);
    }
    return *module->table;
}

/* The rows stand in the order of the opcodes. */
static unsigned first_row(ptx_op op) {
    unsigned low = 0, high = sizeof(rows) / sizeof(rows[0]);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (rows[middle].op < op) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const ptx_form *ptx_table_forms(ptx_table *table, ptx_op op, unsigned *count) {
    if (table->forms[op] == NULL) {
        unsigned first = first_row(op), end = first_row((ptx_op)(op + 1));
        ptx_form *forms = BASE_NEW_ARRAY(table->arena, ptx_form, end - first);
        for (unsigned i = first; i < end; i++) {
            ptx_form *form = &forms[i - first];
            form->modifiers = rows[i].modifiers;
            form->operand_text = rows[i].operands;
            form->version = rows[i].version;
            form->sm = rows[i].sm;
            form->target = rows[i].target;
            if (!read_modifiers(table, form) || !read_operands(table, form)) {
                return NULL;
            }
        }
        table->forms[op] = forms;
        table->counts[op] = end - first;
    }
    *count = table->counts[op];
    return table->forms[op];
}

/* Types keep their order, and so do state spaces (destination, source); other modifiers may come in any:
 * ptxas takes atom.add.relaxed.gpu.u32 and atom.relaxed.gpu.add.u32 alike, and both exist in headers that
 * nvcc compiles. */
bool ptx_form_takes_modifiers(const ptx_form *form, const ptx_instruction *instruction) {
    uint32_t used = 0;
    unsigned type_from = 0, space_from = 0;
    for (unsigned m = 0; m < instruction->mod_count; m++) {
        unsigned mod = instruction->mods[m];
        bool is_type = mod < PTX_TYPE_COUNT, is_space = mod >= PTX_MOD_CONST && mod <= PTX_MOD_PARAM__FUNC,
             found = false;
        for (unsigned s = is_type    ? type_from
                          : is_space ? space_from
                                     : 0;
             s < form->slot_count && !found; s++) {
            if (!(used >> s & 1) && (form->slots[s].mods[mod / 64] >> mod % 64 & 1)) {
                used |= 1u << s;
                type_from = is_type ? s + 1 : type_from;
                space_from = is_space ? s + 1 : space_from;
                found = true;
            }
        }
        if (!found) {
            return false;
        }
    }
    for (unsigned s = 0; s < form->slot_count; s++) {
        if (!form->slots[s].optional && !(used >> s & 1)) {
            return false;
        }
    }
    return true;
}

static ptx_spelling *spell(ptx_table *table, const ptx_instruction *instruction) {
    ptx_spelling *spelling = BASE_NEW(table->arena, ptx_spelling);
    unsigned count = 0, lowest = 0;
    const ptx_form *forms = ptx_table_forms(table, instruction->op, &count);
    spelling->op = instruction->op;
    spelling->mod_count = instruction->mod_count;
    memcpy(spelling->mods, instruction->mods, sizeof(spelling->mods));
    spelling->forms = BASE_NEW_ARRAY(table->arena, const ptx_form *, count);
    for (unsigned i = 0; i < count; i++) {
        if (ptx_form_takes_modifiers(&forms[i], instruction)) {
            spelling->forms[spelling->form_count++] = &forms[i];
            for (unsigned k = 0; k < forms[i].operand_count; k++)
                spelling->has_range |= forms[i].operands[k].range != PTX_RANGE_NONE;
            lowest = lowest == 0 || forms[i].version < lowest ? forms[i].version : lowest;
        }
    }
    for (unsigned m = 0; m < instruction->mod_count; m++) {
        unsigned version = ptx_mod_version(instruction->mods[m]);
        lowest = version > lowest ? version : lowest;
    }
    spelling->version = lowest;
    spelling->number = table->spelling_count++;
    return spelling;
}

static bool same_mods(const ptx_mod *a, const ptx_mod *b, unsigned count) {
    while (count > 0 && a[count - 1] == b[count - 1]) {
        count--;
    }
    return count == 0;
}

/* An opcode has few spellings in a module; the one asked for last stands first. */
const ptx_spelling *ptx_table_spelling(ptx_table *table, const ptx_instruction *instruction) {
    unsigned count = instruction->mod_count;
    for (ptx_spelling **at = &table->spellings[instruction->op]; *at != NULL; at = &(*at)->next) {
        ptx_spelling *s = *at;
        if (s->mod_count == count && same_mods(s->mods, instruction->mods, count)) {
            *at = s->next;
            s->next = table->spellings[instruction->op];
            table->spellings[instruction->op] = s;
            return s;
        }
    }
    ptx_spelling *fresh = spell(table, instruction);
    fresh->next = table->spellings[instruction->op];
    table->spellings[instruction->op] = fresh;
    return fresh;
}

void ptx_form_print(ptx_op op, const ptx_form *form, base_builder *out) {
    base_builder_format(out, "%s%s", ptx_op_name(op), form->modifiers);
    for (unsigned i = 0; i < form->operand_count; i++) {
        const ptx_operand_rule *rule = &form->operands[i];
        base_builder_string(out, i ? ", " : " ");
        bool maybe = rule->optional || rule->condition != PTX_MOD_NONE;
        base_builder_format(out, maybe ? "{%.*s}" : "%.*s", (int)rule->name_size, rule->name);
    }
}
