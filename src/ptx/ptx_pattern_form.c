/* SPDX-License-Identifier: Apache-2.0
 * What the instruction table says of the operands of a pattern, in the words of a writer: how many values, of
 * which type, in which state space. Must not know scripts. */
#include "ptx/ptx_pattern.h"
#include "ptx/ptx_table.h"
#include <string.h>

static ptx_type twice(ptx_type type) {
    switch (type) {
    case PTX_TYPE_U16:
        return PTX_TYPE_U32;
    case PTX_TYPE_S16:
        return PTX_TYPE_S32;
    case PTX_TYPE_S32:
        return PTX_TYPE_S64;
    default:
        return PTX_TYPE_U64;
    }
}

static void value(ptx_pattern_rule *rule, ptx_type type) {
    rule->role = PTX_ROLE_VALUE;
    rule->type = type;
    rule->bits = ptx_type_bits(type);
}

static void vector(ptx_pattern_rule *rule, ptx_type type, unsigned bits, unsigned count) {
    rule->role = PTX_ROLE_VECTOR;
    rule->type = type;
    rule->bits = bits;
    rule->count = count;
}

static void fragment(ptx_pattern_rule *rule, const ptx_instruction *instruction, char name) {
    unsigned bits = 32, count = ptx_fragment_registers(instruction, name, &bits);
    vector(rule, PTX_TYPE_NONE, bits, count);
}

static bool named(const ptx_operand_rule *rule, const char *name) {
    return rule->name_size == strlen(name) && memcmp(rule->name, name, rule->name_size) == 0;
}

static unsigned dimensions(const ptx_instruction *instruction) {
    static const ptx_mod mods[] = {PTX_MOD_1D, PTX_MOD_2D, PTX_MOD_3D, PTX_MOD_4D, PTX_MOD_5D};
    if (ptx_has(instruction, PTX_MOD_TILE__GATHER4) || ptx_has(instruction, PTX_MOD_TILE__SCATTER4))
        return 5;
    for (unsigned i = 0; i < 5; i++)
        if (ptx_has(instruction, mods[i]))
            return i + 1;
    return 0;
}

static ptx_pattern_space place_of(ptx_mod mod) {
    switch (mod) {
    case PTX_MOD_GLOBAL:
        return PTX_PLACE_GLOBAL;
    case PTX_MOD_SHARED:
    case PTX_MOD_SHARED__CTA:
    case PTX_MOD_SHARED__CLUSTER:
        return PTX_PLACE_SHARED;
    default: /* local, const and param windows */
        return PTX_PLACE_LOCAL;
    }
}

/* The state space of an address: of two in the name the first is the destination's, the second the source's.
 * Barriers of bulk copies and of remote stores lie in shared memory whatever else is written. */
static ptx_pattern_space space(const ptx_operand_rule *rule, const ptx_instruction *instruction) {
    ptx_pattern_space found[2] = {PTX_PLACE_GENERIC, PTX_PLACE_GENERIC};
    unsigned count = 0;
    ptx_op op = instruction->op;
    if (named(rule, "[taddr]") ||
        (rule->name_size > 6 && memcmp(rule->name + rule->name_size - 6, "-tmem]", 6) == 0))
        return PTX_PLACE_TENSOR;
    for (unsigned i = 0; i < instruction->mod_count && count < 2; i++)
        if (instruction->mods[i] >= PTX_MOD_CONST && instruction->mods[i] <= PTX_MOD_PARAM__FUNC &&
            instruction->mods[i] != PTX_MOD_TENSORMAP)
            found[count++] = place_of(instruction->mods[i]);
    bool global_only = count == 1 && found[0] == PTX_PLACE_GLOBAL;
    if ((op == PTX_OP_ST_ASYNC || op == PTX_OP_RED_ASYNC) && !global_only)
        return PTX_PLACE_SHARED;
    if (named(rule, "[mbar]") && op != PTX_OP_TCGEN05_COMMIT && op != PTX_OP_CLUSTERLAUNCHCONTROL_TRY_CANCEL)
        return PTX_PLACE_SHARED;
    return named(rule, "[src]") && count == 2 ? found[1] : found[0];
}

static unsigned moved_count(const ptx_instruction *instruction) {
    return ptx_has(instruction, PTX_MOD_V8)   ? 8
           : ptx_has(instruction, PTX_MOD_V4) ? 4
           : ptx_has(instruction, PTX_MOD_V2) ? 2
                                              : 1;
}

static void describe(const ptx_operand_rule *from, const ptx_instruction *instruction,
                     ptx_pattern_rule *rule) {
    ptx_type t = instruction->type, u = instruction->type2;
    unsigned count = moved_count(instruction);
    switch (from->class) {
    case PTX_CLASS_ADDRESS:
        rule->role = named(from, "[tensorMap]") ? PTX_ROLE_COORDINATES : PTX_ROLE_ADDRESS;
        rule->count = dimensions(instruction);
        rule->space = rule->role == PTX_ROLE_COORDINATES ? PTX_PLACE_GENERIC : space(from, instruction);
        return;
    case PTX_CLASS_T:
    case PTX_CLASS_W:
        value(rule, t);
        if (t == PTX_TYPE_PRED)
            rule->role = PTX_ROLE_PREDICATE;
        return;
    case PTX_CLASS_U:
    case PTX_CLASS_UW:
        value(rule, u);
        return;
    case PTX_CLASS_X:
        value(rule, twice(t));
        return;
    case PTX_CLASS_S:
    case PTX_CLASS_US:
        value(rule, PTX_TYPE_NONE);
        rule->bits = ptx_type_bits(from->class == PTX_CLASS_S ? t : u);
        return;
    case PTX_CLASS_8R:
        value(rule, PTX_TYPE_U8);
        return;
    case PTX_CLASS_16:
    case PTX_CLASS_16R:
        value(rule, PTX_TYPE_U16);
        return;
    case PTX_CLASS_32:
    case PTX_CLASS_32R:
        value(rule, PTX_TYPE_U32);
        return;
    case PTX_CLASS_U4:
        vector(rule, u, ptx_type_bits(u), 4);
        return;
    case PTX_CLASS_64:
    case PTX_CLASS_AD:
        value(rule, PTX_TYPE_U64);
        return;
    case PTX_CLASS_128:
        value(rule, PTX_TYPE_B128);
        return;
    case PTX_CLASS_PRED:
        rule->role = PTX_ROLE_PREDICATE;
        return;
    case PTX_CLASS_PQ:
    case PTX_CLASS_PP:
        value(rule, PTX_TYPE_PRED);
        rule->role = PTX_ROLE_PAIR;
        return;
    case PTX_CLASS_TQ:
    case PTX_CLASS_TP:
        value(rule, t);
        rule->role = PTX_ROLE_PAIR;
        return;
    case PTX_CLASS_32Q:
        value(rule, PTX_TYPE_U32);
        rule->role = PTX_ROLE_PAIR;
        return;
    case PTX_CLASS_MV:
        value(rule, t);
        rule->role = PTX_ROLE_MOVED;
        return;
    case PTX_CLASS_A:
    case PTX_CLASS_VS:
        value(rule, PTX_TYPE_NONE);
        rule->bits = from->class == PTX_CLASS_VS ? 32 : 0;
        return;
    case PTX_CLASS_M:
        value(rule, t);
        if (count > 1)
            vector(rule, t, ptx_type_bits(t), count);
        return;
    case PTX_CLASS_V:
    case PTX_CLASS_VQ:
        vector(rule, PTX_TYPE_NONE, 32, 0);
        if (named(from, "{disable-output-lane}"))
            rule->count = ptx_has(instruction, PTX_MOD_CTA_GROUP__2) ? 8 : 4;
        return;
    case PTX_CLASS_V2:
    case PTX_CLASS_V4:
        vector(rule, PTX_TYPE_NONE, from->class == PTX_CLASS_V2 ? 16 : 32,
               from->class == PTX_CLASS_V2 ? 2 : 4);
        return;
    case PTX_CLASS_FD:
        fragment(rule, instruction, 'd');
        return;
    case PTX_CLASS_FA:
        fragment(rule, instruction, 'a');
        return;
    case PTX_CLASS_FB:
        fragment(rule, instruction, 'b');
        return;
    case PTX_CLASS_FC:
        fragment(rule, instruction, 'c');
        return;
    case PTX_CLASS_IMM:
    case PTX_CLASS_ZERO:
    case PTX_CLASS_C4:
    case PTX_CLASS_C16:
    case PTX_CLASS_C128:
        rule->role = PTX_ROLE_CONSTANT;
        return;
    case PTX_CLASS_PI:
        rule->role = PTX_ROLE_CONSTANT_OR_PREDICATE;
        return;
    case PTX_CLASS_SINK:
        rule->role = PTX_ROLE_SINK;
        return;
    default:
        rule->role = PTX_ROLE_OTHER;
        return;
    }
}

static bool sinkable(ptx_op op) {
    return op == PTX_OP_ATOM || op == PTX_OP_SETP || op == PTX_OP_MBARRIER_ARRIVE ||
           op == PTX_OP_MBARRIER_ARRIVE_DROP;
}

static void read_form(base_arena *arena, const ptx_form *from, const ptx_instruction *instruction,
                      ptx_pattern_form *form) {
    unsigned written = (unsigned)ptx_op_written(instruction);
    for (unsigned i = 0; i < from->operand_count; i++) {
        const ptx_operand_rule *rule = &from->operands[i];
        if (rule->condition != PTX_MOD_NONE && !ptx_has(instruction, rule->condition))
            continue;
        ptx_pattern_rule *out = &form->rules[form->count];
        *out = (ptx_pattern_rule){.name = base_arena_string(arena, rule->name, rule->name_size),
                                  .optional = rule->optional,
                                  .written = form->count < written};
        out->sinkable = out->written && sinkable(instruction->op);
        form->count++;
        describe(rule, instruction, out);
    }
}

uint32_t ptx_pattern_forms(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                           ptx_pattern_form **forms, base_builder *why, base_builder *accepted) {
    ptx_instruction instruction = {.op = pattern->op,
                                   .mod_count = (uint8_t)pattern->mod_count,
                                   .type = pattern->type,
                                   .type2 = pattern->type2};
    unsigned count = 0;
    uint32_t found = 0;
    memcpy(instruction.mods, pattern->mods, sizeof instruction.mods);
    const ptx_form *all = ptx_table_forms(ptx_pattern_table(arena, cache), pattern->op, &count);
    *forms = BASE_NEW_ARRAY(arena, ptx_pattern_form, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (ptx_form_takes_modifiers(&all[i], &instruction))
            read_form(arena, &all[i], &instruction, &(*forms)[found++]);
    if (found == 0)
        ptx_verify_instruction(arena, ptx_pattern_table(arena, cache), &instruction, why, accepted);
    else
        ptx_verify_list_forms(arena, ptx_pattern_table(arena, cache), &instruction, true, accepted);
    return found;
}

void ptx_pattern_near(base_arena *arena, ptx_pattern_cache *cache, const ptx_pattern *pattern,
                      base_builder *out) {
    ptx_instruction instruction = {.op = pattern->op, .mod_count = (uint8_t)pattern->mod_count};
    memcpy(instruction.mods, pattern->mods, sizeof instruction.mods);
    ptx_verify_list_forms(arena, ptx_pattern_table(arena, cache), &instruction, false, out);
}

uint32_t ptx_pattern_words(base_arena *arena, ptx_pattern_cache *cache, ptx_op op, const char ***words) {
    unsigned count = 0;
    uint32_t found = 0, most = op == PTX_OP_NONE ? PTX_OP_COUNT : PTX_MOD_COUNT;
    const ptx_form *forms =
        op == PTX_OP_NONE ? NULL : ptx_table_forms(ptx_pattern_table(arena, cache), op, &count);
    *words = BASE_NEW_ARRAY(arena, const char *, most);
    for (unsigned i = 1; i < most; i++) {
        bool has = op == PTX_OP_NONE;
        for (unsigned f = 0; f < count && !has; f++)
            for (unsigned s = 0; s < forms[f].slot_count && !has; s++)
                has = forms[f].slots[s].mods[i / 64] >> i % 64 & 1;
        if (has)
            (*words)[found++] = op == PTX_OP_NONE ? ptx_op_name((ptx_op)i) : ptx_mod_text(op, (ptx_mod)i);
    }
    return found;
}
