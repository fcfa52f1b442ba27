/* SPDX-License-Identifier: Apache-2.0
 * A PTX module as canonical text: ptxas accepts it, and ptx_parse makes the same module of it. Scopes are
 * flat here: the names were made unique when they were read. */
#include "ptx/ptx.h"
#include "ptx/ptx_private.h"
#include <stdlib.h>
#include <string.h>

/* ---- operands and instructions ---- */

const char *ptx_mod_text(ptx_op op, ptx_mod mod) {
    bool is_comparison = op == PTX_OP_SET || op == PTX_OP_SETP;
    return mod == PTX_MOD_NAN && is_comparison ? "nan" : ptx_mod_name(mod);
}

static void print_list(const ptx_operand *operand, char open, char close, base_builder *out) {
    base_builder_char(out, open);
    for (unsigned i = 0; i < operand->count; i++) {
        if (i)
            base_builder_add(out, ", ", 2);
        ptx_operand_print(&operand->args[i], out);
    }
    base_builder_char(out, close);
}

static void print_offset(uint64_t bits, base_builder *out) {
    if (bits != 0) {
        base_builder_char(out, '+'); /* ptxas wants [%rd1+-8], not [%rd1-8] */
        base_builder_decimal(out, (int64_t)bits);
    }
}

static void print_bits(char letter, uint64_t bits, unsigned digits, base_builder *out) {
    char text[2 + 16] = {'0', letter};
    for (unsigned i = 0; i < digits; i++) {
        text[2 + i] = "0123456789ABCDEF"[bits >> (4 * (digits - 1 - i)) & 15];
    }
    base_builder_add(out, text, 2 + digits);
}

static void print_immediate(const ptx_operand *operand, base_builder *out) {
    if (operand->immediate == PTX_IMMEDIATE_F32) {
        print_bits('f', operand->bits, 8, out);
    } else if (operand->immediate == PTX_IMMEDIATE_F64) {
        print_bits('d', operand->bits, 16, out);
    } else if (operand->bits == UINT64_C(1) << 63) {
        base_builder_string(out, "0x8000000000000000"); /* its positive half is no literal */
    } else {
        base_builder_decimal(out, (int64_t)operand->bits);
    }
}

static void print_special(uint64_t bits, base_builder *out) {
    ptx_special special = (ptx_special)(bits & 0xffff);
    unsigned number = (unsigned)(bits >> 16);
    if (special == PTX_SPECIAL_WARP_SIZE) {
        base_builder_string(out, "WARP_SZ");
    } else if (special == PTX_SPECIAL_PM_64) {
        base_builder_format(out, "%%pm%u_64", number);
    } else if (special == PTX_SPECIAL_PM || special == PTX_SPECIAL_ENVREG) {
        base_builder_format(out, "%%%s%u", ptx_special_name(special), number);
    } else {
        base_builder_format(out, "%%%s", ptx_special_name(special));
    }
}

static void print_memory(const ptx_operand *operand, base_builder *out) {
    base_builder_char(out, '[');
    for (unsigned i = 0; i < operand->count; i++) {
        if (i)
            base_builder_add(out, ", ", 2);
        ptx_operand_print(&operand->args[i], out);
        if (i == 0) {
            print_offset(operand->bits, out);
        }
    }
    base_builder_char(out, ']');
}

static void print_masked(const ptx_operand *operand, base_builder *out) {
    unsigned digits = (unsigned)(operand->bits >> 48 & 0xff);
    ptx_operand_print(&operand->args[0], out);
    base_builder_format(out, ".%c%0*llx", (char)(operand->bits >> 56), (int)digits,
                        (unsigned long long)(operand->bits & 0xffffffff));
}

void ptx_operand_print(const ptx_operand *operand, base_builder *out) {
    if (operand->negated) {
        bool is_predicate = operand->kind == PTX_OPERAND_REGISTER && operand->of.reg->type == PTX_TYPE_PRED;
        base_builder_char(out, is_predicate || operand->kind == PTX_OPERAND_SPECIAL ? '!' : '-');
    }
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REGISTER:
        base_builder_name(out, operand->of.reg->name);
        break;
    case PTX_OPERAND_IMMEDIATE:
        print_immediate(operand, out);
        break;
    case PTX_OPERAND_SPECIAL:
        print_special(operand->bits, out);
        break;
    case PTX_OPERAND_VARIABLE:
        base_builder_name(out, operand->of.variable->name);
        print_offset(operand->bits, out);
        break;
    case PTX_OPERAND_FUNCTION:
        base_builder_string(out, operand->of.function->name);
        break;
    case PTX_OPERAND_LABEL:
        base_builder_name(out, operand->of.label ? operand->of.label->name : "?");
        break;
    case PTX_OPERAND_TABLE:
        base_builder_string(out, operand->of.table ? operand->of.table->name : "?");
        break;
    case PTX_OPERAND_MEMORY:
        print_memory(operand, out);
        break;
    case PTX_OPERAND_VECTOR:
        print_list(operand, '{', '}', out);
        break;
    case PTX_OPERAND_LIST:
        print_list(operand, '(', ')', out);
        break;
    case PTX_OPERAND_SINK:
        base_builder_char(out, '_');
        break;
    case PTX_OPERAND_PAIR:
        ptx_operand_print(&operand->args[0], out);
        base_builder_char(out, '|');
        ptx_operand_print(&operand->args[1], out);
        break;
    case PTX_OPERAND_MASKED:
        print_masked(operand, out);
        break;
    case PTX_OPERAND_NONE:
        break;
    }
}

void ptx_instruction_form(const ptx_instruction *instruction, base_builder *out) {
    base_builder_string(out, ptx_op_name(instruction->op));
    for (unsigned i = 0; i < instruction->mod_count; i++)
        base_builder_format(out, ".%s", ptx_mod_text(instruction->op, instruction->mods[i]));
}

/* Opcode and modifiers; .unified stands behind the address. */
static void print_form(const ptx_instruction *instruction, bool *unified, base_builder *out) {
    base_builder_name(out, ptx_op_name(instruction->op));
    for (unsigned i = 0; i < instruction->mod_count; i++) {
        if (instruction->mods[i] == PTX_MOD_UNIFIED) {
            *unified = true;
            continue;
        }
        base_builder_char(out, '.');
        base_builder_name(out, ptx_mod_text(instruction->op, instruction->mods[i]));
    }
}

/* Where in the text each opcode's last form stands: the next instruction is often of the same one. */
typedef struct form_place {
    const ptx_instruction *of;
    size_t begin, size;
} form_place;

static void print_instruction(const ptx_instruction *instruction, form_place *places, base_builder *out) {
    bool unified = false;
    if (instruction->guard != NULL) {
        base_builder_string(out, instruction->guard_negated ? "@!" : "@");
        base_builder_name(out, instruction->guard->name);
        base_builder_char(out, ' ');
    }
    form_place *place = places ? &places[instruction->op] : NULL;
    if (place && place->of && place->of->mod_count == instruction->mod_count &&
        memcmp(place->of->mods, instruction->mods, instruction->mod_count * sizeof(ptx_mod)) == 0) {
        base_builder_grow(out, place->size);
        base_builder_add(out, out->data + place->begin, place->size);
    } else {
        size_t begin = out->size;
        print_form(instruction, &unified, out);
        if (place && !unified)
            *place = (form_place){instruction, begin, out->size - begin};
    }
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (i)
            base_builder_add(out, ", ", 2);
        else
            base_builder_char(out, ' ');
        ptx_operand_print(&instruction->operands[i], out);
        if (unified && instruction->operands[i].kind == PTX_OPERAND_MEMORY) {
            base_builder_string(out, ".unified");
        }
    }
    base_builder_char(out, ';');
}

void ptx_instruction_print(const ptx_function *function, const ptx_instruction *instruction,
                           base_builder *out) {
    (void)function;
    print_instruction(instruction, NULL, out);
}

/* ---- variables ---- */

static const char *space_word(ptx_space space) {
    switch (space) {
    case PTX_SPACE_GLOBAL:
        return ".global";
    case PTX_SPACE_SHARED:
        return ".shared";
    case PTX_SPACE_LOCAL:
        return ".local";
    case PTX_SPACE_PARAM:
        return ".param";
    case PTX_SPACE_CONST:
        return ".const";
    case PTX_SPACE_REG:
        return ".reg";
    case PTX_SPACE_GENERIC:
    case PTX_SPACE_TENSOR:
        break;
    }
    return "";
}

static const char *linkage_word(ptx_linkage linkage) {
    static const char *const words[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
    return words[linkage];
}

static void print_initial(const ptx_initial *initial, ptx_type type, base_builder *out) {
    if (initial->variable == NULL && initial->function == NULL) {
        if (type == PTX_TYPE_F32) {
            base_builder_format(out, "0f%08X", (unsigned)initial->bits);
        } else if (type == PTX_TYPE_F64) {
            base_builder_format(out, "0d%016llX", (unsigned long long)initial->bits);
        } else {
            print_immediate(&(ptx_operand){.bits = initial->bits}, out);
        }
        return;
    }
    const char *name = initial->variable ? initial->variable->name : initial->function->name;
    if (initial->mask != 0) {
        base_builder_format(out, "mask(0x%llx, ", (unsigned long long)initial->mask);
    }
    base_builder_format(out, initial->generic ? "generic(%s)" : "%s", name);
    base_builder_string(out, initial->mask != 0 ? ")" : "");
    print_offset(initial->bits, out);
}

static void print_declaration(const ptx_variable *variable, base_builder *out) {
    base_builder_format(out, "%s ", space_word(variable->space));
    if (variable->align != 0 && variable->space != PTX_SPACE_REG) {
        base_builder_format(out, ".align %u ", variable->align);
    }
    if (variable->vector > 1) {
        base_builder_format(out, ".v%u ", variable->vector);
    }
    base_builder_format(out, ".%s ", ptx_type_name(variable->type));
    if (variable->is_pointer) {
        base_builder_string(out, ".ptr ");
        if (variable->pointer_space != PTX_SPACE_GENERIC) {
            base_builder_format(out, "%s ", space_word(variable->pointer_space));
        }
        if (variable->pointer_align != 0) {
            base_builder_format(out, ".align %u ", variable->pointer_align);
        }
    }
    base_builder_string(out, variable->name);
    if (variable->is_array && variable->elements == 0) {
        base_builder_string(out, "[]");
    } else if (variable->is_array) {
        base_builder_format(out, "[%lld]", (long long)variable->elements);
    }
}

static void print_variable(const ptx_variable *variable, base_builder *out) {
    base_builder_string(out, linkage_word(variable->linkage));
    print_declaration(variable, out);
    if (variable->initial.count > 0) {
        bool braces = variable->is_array || variable->vector > 1;
        base_builder_string(out, braces ? " = {" : " = ");
        for (size_t i = 0; i < variable->initial.count; i++) {
            base_builder_string(out, i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ");
            print_initial(&variable->initial.items[i], variable->type, out);
        }
        base_builder_string(out, braces ? "}" : "");
    }
    base_builder_string(out, ";\n");
}

/* ---- functions ---- */

static void print_parameters(const ptx_variable *const *items, size_t count, const char *separator,
                             base_builder *out) {
    for (size_t i = 0; i < count; i++) {
        base_builder_string(out, i ? separator : "");
        print_declaration(items[i], out);
    }
}

static void print_signature(const ptx_function *function, base_builder *out) {
    base_builder_string(out, linkage_word(function->linkage));
    base_builder_string(out, function->is_entry ? ".entry " : ".func ");
    if (function->returns.count > 0) {
        base_builder_char(out, '(');
        print_parameters((const ptx_variable *const *)function->returns.items, function->returns.count, ", ",
                         out);
        base_builder_string(out, ") ");
    }
    base_builder_format(out, "%s(", function->name);
    if (function->parameters.count > 0) {
        base_builder_string(out, "\n    ");
        print_parameters((const ptx_variable *const *)function->parameters.items, function->parameters.count,
                         ",\n    ", out);
        base_builder_char(out, '\n');
    }
    base_builder_char(out, ')');
}

static void print_three(const char *word, const uint32_t values[3], base_builder *out) {
    if (values[0] != 0) {
        base_builder_format(out, "\n%s %u, %u, %u", word, values[0], values[1], values[2]);
    }
}

static void print_one(const char *word, uint32_t value, base_builder *out) {
    if (value != 0) {
        base_builder_format(out, "\n%s %u", word, value);
    }
}

static void print_directives(const ptx_function *function, base_builder *out) {
    base_builder_string(out, function->noreturn ? "\n.noreturn" : "");
    print_three(".maxntid", function->max_threads, out);
    print_three(".reqntid", function->required_threads, out);
    print_one(".minnctapersm", function->min_blocks, out);
    print_one(".maxnctapersm", function->max_blocks, out);
    print_one(".maxnreg", function->max_registers, out);
    base_builder_string(out, function->explicit_cluster ? "\n.explicitcluster" : "");
    print_three(".reqnctapercluster", function->cluster, out);
    print_one(".maxclusterrank", function->max_cluster_rank, out);
    base_builder_string(out, function->blocks_are_clusters ? "\n.blocksareclusters" : "");
}

/* A register's name as prefix and number, so that %r0 ... %r9 can be declared as %r<10>. */
typedef struct register_key {
    const ptx_register *reg;
    uint32_t prefix; /* length; the whole name when there is no usable number */
    uint32_t number;
} register_key;

static register_key key_of(const ptx_register *reg) {
    size_t size = strlen(reg->name), digits = 0;
    while (digits < size && reg->name[size - 1 - digits] >= '0' && reg->name[size - 1 - digits] <= '9') {
        digits++;
    }
    register_key key = {reg, (uint32_t)size, 0};
    const char *first = reg->name + size - digits;
    bool plain = digits > 0 && digits < 9 && digits < size && (digits == 1 || first[0] != '0') &&
                 memchr(reg->name, '$', size) == NULL;
    if (plain) {
        key.prefix = (uint32_t)(size - digits);
        for (size_t i = 0; i < digits; i++) {
            key.number = 10 * key.number + (uint32_t)(first[i] - '0');
        }
    }
    return key;
}

static bool same_group(const register_key *a, const register_key *b) {
    return a->reg->type == b->reg->type && a->prefix == b->prefix &&
           memcmp(a->reg->name, b->reg->name, a->prefix) == 0;
}

static int compare_groups(const register_key *a, const register_key *b) {
    uint32_t shorter = a->prefix < b->prefix ? a->prefix : b->prefix;
    if (a->reg->type != b->reg->type) {
        return a->reg->type < b->reg->type ? -1 : 1;
    }
    int order = memcmp(a->reg->name, b->reg->name, shorter);
    if (order != 0 || a->prefix == b->prefix) {
        return order;
    }
    return a->prefix < b->prefix ? -1 : 1;
}

static int compare_keys(const void *left, const void *right) {
    const register_key *a = left, *b = right;
    int order = compare_groups(a, b);
    if (order != 0) {
        return order;
    }
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    /* The same name twice does not happen; keep the order total all the same. */
    return a->reg->id < b->reg->id ? -1 : a->reg->id > b->reg->id;
}

static bool has_number(const register_key *key) {
    return key->reg->name[key->prefix] != '\0';
}

static bool is_parameter(const ptx_function *function, const ptx_register *reg) {
    size_t signature = function->parameters.count + function->returns.count;
    for (size_t p = 0; p < signature; p++) {
        const ptx_variable *variable = p < function->parameters.count
                                           ? function->parameters.items[p]
                                           : function->returns.items[p - function->parameters.count];
        if (variable->space == PTX_SPACE_REG && strcmp(variable->name, reg->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Keys of one type and prefix, as they were met. */
typedef struct register_group {
    register_key first;
    size_t count, next; /* next: where the next key goes */
    bool sorted;
    uint32_t last;
} register_group;

static int compare_first(const void *left, const void *right) {
    const register_group *const *a = left, *const *b = right;
    return compare_groups(&(*a)->first, &(*b)->first);
}

/* Sorted as compare_keys says: a compiler numbers its registers upwards, so a group seldom needs it. */
static void sort_keys(register_key *keys, size_t count, base_arena *arena) {
    register_group **groups = base_arena_allocate_array(arena, count, sizeof(register_group *));
    register_group **of = base_arena_allocate_array(arena, count, sizeof(register_group *));
    base_map *known = base_map_create(arena);
    size_t group_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = base_hash(keys[i].reg->name, keys[i].prefix, keys[i].reg->type);
        register_group *group = base_map_get(known, key);
        if (group == NULL || !same_group(&group->first, &keys[i])) {
            if (group != NULL) { /* two groups with one hash */
                qsort(keys, count, sizeof(keys[0]), compare_keys);
                return;
            }
            group = groups[group_count++] = BASE_NEW(arena, register_group);
            *group = (register_group){.first = keys[i], .sorted = true};
            base_map_set(known, key, group);
        }
        group->sorted = group->sorted && (group->count == 0 || keys[i].number > group->last);
        group->last = keys[i].number;
        group->count++;
        of[i] = group;
    }
    qsort(groups, group_count, sizeof(groups[0]), compare_first);
    register_key *sorted = base_arena_allocate_array(arena, count, sizeof(register_key));
    for (size_t g = 0, next = 0; g < group_count; next += groups[g++]->count) {
        groups[g]->next = next;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[of[i]->next++] = keys[i];
    }
    memcpy(keys, sorted, count * sizeof(keys[0]));
    for (size_t g = 0; g < group_count; g++) {
        if (!groups[g]->sorted) {
            qsort(keys + groups[g]->next - groups[g]->count, groups[g]->count, sizeof(keys[0]), compare_keys);
        }
    }
}

/* Registers of the body, sorted; parameters in registers are declared by the signature. */
static size_t collect_registers(const ptx_function *function, register_key *keys, base_arena *arena) {
    size_t kept = 0, signature = function->parameters.count + function->returns.count;
    for (size_t i = 0; i < function->registers.count; i++) {
        const ptx_register *reg = function->registers.items[i];
        if (i >= signature || !is_parameter(function, reg)) {
            keys[kept++] = key_of(reg);
        }
    }
    if (kept > 1) {
        sort_keys(keys, kept, arena);
    }
    return kept;
}

static size_t group_end(const register_key *keys, size_t count, size_t begin) {
    size_t end = begin + 1;
    while (end < count && same_group(&keys[begin], &keys[end]) && has_number(&keys[begin]) &&
           has_number(&keys[end])) {
        end++;
    }
    return end;
}

static uint64_t prefix_key(const register_key *key) {
    return base_hash(key->reg->name, key->prefix, 0);
}

/* %r<10> where the numbers are dense and the prefix belongs to one type (a range claims every number below
 * its count); the others one by one, several on a line. */
static void print_registers(const ptx_function *function, base_arena *arena, base_builder *out) {
    register_key *keys = base_arena_allocate_array(arena, function->registers.count, sizeof(register_key));
    size_t count = collect_registers(function, keys, arena);
    base_map *prefixes = base_map_create(arena);
    for (size_t i = 0; i < count; i = group_end(keys, count, i)) {
        if (has_number(&keys[i])) {
            uint64_t key = prefix_key(&keys[i]);
            uintptr_t seen = (uintptr_t)base_map_get(prefixes, key);
            base_map_set(prefixes, key, (void *)(seen + 1));
        }
    }
    for (size_t i = 0; i < count;) {
        size_t end = group_end(keys, count, i);
        uint32_t range = keys[end - 1].number + 1;
        if (has_number(&keys[i]) && base_map_get(prefixes, prefix_key(&keys[i])) == (void *)(uintptr_t)1 &&
            range / 4 <= end - i + 16) {
            base_builder_format(out, "\t.reg .%s \t%.*s<%u>;\n", ptx_type_name(keys[i].reg->type),
                                (int)keys[i].prefix, keys[i].reg->name, range);
            i = end;
            continue;
        }
        for (size_t column = 0; i < end; i++, column++) {
            if (column % 8 == 0) {
                base_builder_format(out, "%s\t.reg .%s \t", column ? ";\n" : "",
                                    ptx_type_name(keys[i].reg->type));
            }
            base_builder_format(out, "%s%s", column % 8 ? ", " : "", keys[i].reg->name);
        }
        base_builder_string(out, ";\n");
    }
}

static void print_table(const ptx_table_declaration *table, base_builder *out) {
    base_builder_format(out, "%s:\n\t", table->name);
    if (table->kind == PTX_TABLE_BRANCH) {
        base_builder_string(out, ".branchtargets ");
        for (size_t i = 0; i < table->labels.count; i++) {
            base_builder_format(out, "%s%s", i ? ", " : "",
                                table->labels.items[i] ? table->labels.items[i]->name : "?");
        }
    } else if (table->kind == PTX_TABLE_CALL) {
        base_builder_string(out, ".calltargets ");
        for (size_t i = 0; i < table->functions.count; i++) {
            base_builder_format(out, "%s%s", i ? ", " : "", table->functions.items[i]->name);
        }
    } else {
        const ptx_function *prototype = table->prototype;
        base_builder_string(out, ".callprototype ");
        if (prototype->returns.count > 0) {
            base_builder_char(out, '(');
            print_parameters((const ptx_variable *const *)prototype->returns.items, prototype->returns.count,
                             ", ", out);
            base_builder_string(out, ") ");
        }
        base_builder_string(out, "_ (");
        print_parameters((const ptx_variable *const *)prototype->parameters.items,
                         prototype->parameters.count, ", ", out);
        base_builder_string(out, prototype->noreturn ? ") .noreturn" : ")");
    }
    base_builder_string(out, ";\n");
}

/* Labels in the order of their targets; the order of labels on one instruction is the order they were made
 * in. */
static const ptx_label **sorted_labels(const ptx_function *function, base_arena *arena) {
    size_t instructions = function->instructions.count, count = function->labels.count;
    uint32_t *first = base_arena_allocate_array(arena, instructions + 2, sizeof(uint32_t));
    const ptx_label **sorted = base_arena_allocate_array(arena, count + 1, sizeof(ptx_label *));
    for (size_t i = 0; i < count; i++) {
        uint32_t target = function->labels.items[i]->target;
        first[(target < instructions ? target : instructions) + 1]++;
    }
    for (size_t i = 1; i < instructions + 2; i++) {
        first[i] += first[i - 1];
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t target = function->labels.items[i]->target;
        sorted[first[target < instructions ? target : instructions]++] = function->labels.items[i];
    }
    return sorted;
}

static void print_body(const ptx_function *function, const ptx_print_options *options, base_arena *arena,
                       base_builder *out) {
    const ptx_label **labels = sorted_labels(function, arena);
    size_t label = 0, table = 0, count = function->instructions.count;
    uint32_t file = 0, line = 0, column = 0;
    form_place places[PTX_OP_COUNT] = {{NULL, 0, 0}};
    for (size_t i = 0; i <= count; i++) {
        while (label < function->labels.count && (labels[label]->target <= i || i == count)) {
            base_builder_string(out, labels[label++]->name);
            base_builder_string(out, ":\n");
        }
        while (table < function->tables.count &&
               (function->tables.items[table]->position <= i || i == count)) {
            print_table(function->tables.items[table++], out);
        }
        if (i == count) {
            break;
        }
        const ptx_instruction *instruction = &function->instructions.items[i];
        if (options->lines && (instruction->loc_file != file || instruction->loc_line != line ||
                               instruction->loc_column != column)) {
            file = instruction->loc_file;
            line = instruction->loc_line;
            column = instruction->loc_column;
            base_builder_format(out, "\t.loc %u %u %u\n", file, line, column);
        }
        if (options->origins && instruction->origin != NULL) {
            base_builder_char(out, '\t');
            ptx_origin_print(instruction->origin, out);
            base_builder_char(out, '\n');
        }
        base_builder_char(out, '\t');
        print_instruction(instruction, places, out);
        base_builder_char(out, '\n');
    }
}

static void print_function(const ptx_function *function, const ptx_print_options *options, base_arena *arena,
                           base_builder *out) {
    base_builder_char(out, '\n');
    print_signature(function, out);
    print_directives(function, out);
    base_builder_string(out, "\n{\n");
    for (size_t i = 0; i < function->variables.count; i++) {
        base_builder_char(out, '\t');
        print_variable(function->variables.items[i], out);
    }
    print_registers(function, arena, out);
    base_builder_char(out, '\n');
    print_body(function, options, arena, out);
    base_builder_string(out, "}\n");
}

void ptx_print(const ptx_module *module, const ptx_print_options *options, base_builder *out) {
    base_arena *arena = base_arena_create(base_arena_heap(module->arena));
    uint32_t version = module->version ? module->version : ptx_module_minimum_version(module);
    base_builder_format(out, ".version %u.%u\n.target %s%s%s\n.address_size %u\n\n", version / 10,
                        version % 10, module->target,
                        module->target_options && module->target_options[0] ? ", " : "",
                        module->target_options ? module->target_options : "", module->address_size);
    /* Prototypes first: initialisers and calls may name any function. */
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = module->functions.items[i];
        if (!function->is_entry || !function->has_body) {
            print_signature(function, out);
            base_builder_string(out, function->noreturn ? " .noreturn" : "");
            base_builder_string(out, ";\n");
        }
    }
    for (size_t i = 0; i < module->variables.count; i++) {
        print_variable(module->variables.items[i], out);
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        if (module->functions.items[i]->has_body) {
            print_function(module->functions.items[i], options, arena, out);
        }
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        const ptx_function *function = module->functions.items[i];
        if (function->alias != NULL) {
            base_builder_format(out, ".alias %s, %s;\n", function->name, function->alias->name);
        }
    }
    for (size_t i = 0; options->lines && i < module->files.count; i++) {
        if (module->files.items[i] != NULL) {
            base_builder_format(out, "\t.file %zu \"%s\"\n", i, module->files.items[i]);
        }
    }
    base_arena_destroy(arena);
}
