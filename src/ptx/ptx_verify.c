/* SPDX-License-Identifier: Apache-2.0
 * Checks a module against the instruction table: modifiers, operands (ptx_verify_operands.c), versions and
 * targets, labels, and for modules of ours that memory instructions say where they come from. One pass, every
 * problem.
 */
#include "ptx/ptx_verify.h"
#include <stdlib.h>
#include <string.h>

/* How near the form is to what is written: types that it has, then other modifiers. */
static unsigned form_score(const ptx_form *form, const ptx_instruction *instruction) {
    unsigned score = 0;
    for (unsigned m = 0; m < instruction->mod_count; m++) {
        unsigned mod = instruction->mods[m];
        for (unsigned s = 0; s < form->slot_count; s++)
            if (form->slots[s].mods[mod / 64] >> mod % 64 & 1) {
                score += mod < PTX_TYPE_COUNT ? 3 : 2;
                break;
            }
    }
    return score;
}

enum { LISTED_FORMS = 6 };

/* The nearest forms, in the order of the table; an instruction such as ld has dozens. */
static void list_forms(ptx_verifier *v, bool with_modifiers_only, base_builder *out) {
    const ptx_instruction *instruction = v->instruction;
    unsigned count = 0, best = 0, listed = 0, left = 0;
    const ptx_form *forms = ptx_table_forms(v->table, instruction->op, &count);
    for (unsigned i = 0; i < count; i++) {
        unsigned score = form_score(&forms[i], instruction);
        best = score > best ? score : best;
    }
    for (unsigned i = 0; i < count; i++) {
        if (with_modifiers_only && !ptx_form_takes_modifiers(&forms[i], instruction)) {
            continue;
        }
        if (listed == LISTED_FORMS || (!with_modifiers_only && form_score(&forms[i], instruction) < best)) {
            left++;
            continue;
        }
        listed++;
        base_builder_string(out, out->size ? "; " : "");
        ptx_form_print(instruction->op, &forms[i], out);
    }
    if (left > 0) {
        base_builder_format(out, "; and %u form%s more of %s", left, left == 1 ? "" : "s",
                            ptx_op_name(instruction->op));
    }
}

static void accepted_forms(ptx_verifier *v, base_diagnostic *diagnostic, bool with_modifiers_only) {
    base_builder text;
    base_builder_start(&text, v->arena);
    list_forms(v, with_modifiers_only, &text);
    base_help(v->diagnostics, diagnostic, "accepted: %s", text.data);
}

static const char *written(ptx_verifier *v) {
    base_builder text;
    base_builder_start(&text, v->arena);
    ptx_instruction_form(v->instruction, &text);
    return text.data;
}

/* The modifier that no form of the opcode which takes the written types has: the one to name. */
static const char *stray_modifier(ptx_verifier *v, const ptx_form *forms, unsigned count) {
    const ptx_instruction *instruction = v->instruction;
    const ptx_form *best = NULL;
    unsigned best_score = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned score = 1;
        for (unsigned m = 0; m < instruction->mod_count; m++) {
            unsigned mod = instruction->mods[m];
            for (unsigned s = 0; s < forms[i].slot_count; s++) {
                if (forms[i].slots[s].mods[mod / 64] >> mod % 64 & 1) {
                    score += mod < PTX_TYPE_COUNT ? 100 : 1; /* the form for these types is what was meant */
                    break;
                }
            }
        }
        if (score > best_score) {
            best_score = score;
            best = &forms[i];
        }
    }
    for (unsigned m = 0; best != NULL && m < instruction->mod_count; m++) {
        unsigned mod = instruction->mods[m];
        bool found = false;
        for (unsigned s = 0; s < best->slot_count && !found; s++) {
            found = best->slots[s].mods[mod / 64] >> mod % 64 & 1;
        }
        if (!found) {
            return ptx_mod_text(instruction->op, instruction->mods[m]);
        }
    }
    return NULL;
}

static void report_modifiers(ptx_verifier *v) {
    unsigned count = 0;
    const ptx_form *forms = ptx_table_forms(v->table, v->instruction->op, &count);
    const char *stray = stray_modifier(v, forms, count);
    base_diagnostic *d = stray != NULL
                             ? base_report(v->diagnostics, BASE_ERROR, "T0601", v->instruction->span,
                                           "`%s`: `.%s` is not a modifier of this form of %s", written(v),
                                           stray, ptx_op_name(v->instruction->op))
                             : base_report(v->diagnostics, BASE_ERROR, "T0601", v->instruction->span,
                                           "`%s`: these modifiers and types do not make a form of %s",
                                           written(v), ptx_op_name(v->instruction->op));
    accepted_forms(v, d, false);
}

static void report_operands(ptx_verifier *v, unsigned reached) {
    base_builder text;
    base_builder_start(&text, v->arena);
    ptx_instruction_print(v->function, v->instruction, &text);
    base_diagnostic *d =
        reached < v->instruction->operand_count
            ? base_report(v->diagnostics, BASE_ERROR, "T0602", v->instruction->span, "`%s`: operand %u %s",
                          text.data, reached + 1, v->why[0] ? v->why : "does not fit")
            : base_report(v->diagnostics, BASE_ERROR, "T0602", v->instruction->span, "`%s` %s", text.data,
                          v->why[0] ? v->why : "has operands that do not fit");
    accepted_forms(v, d, true);
}

static bool target_has(const ptx_verifier *v, const ptx_form *form) {
    if (v->any_target) {
        return form->target != 'o';
    }
    switch (form->target) {
    case 'x':
        return v->sm == form->sm && v->suffix == 'a';
    case 'a':
        return v->sm >= form->sm && v->suffix != '\0';
    case 't':
        return v->sm >= form->sm && v->sm < 120 && v->suffix != '\0';
    case 'f':
        return v->sm >= form->sm && v->sm / 10 == form->sm / 10 && v->suffix != '\0';
    case 'r':
        return v->sm >= form->sm && v->sm / 10 == form->sm / 10 && v->suffix == 'a';
    case 's':
        return v->sm >= form->sm && v->suffix == 'a';
    case 'o':
        return v->sm < 70;
    default:
        return v->sm >= form->sm;
    }
}

static void check_need(ptx_verifier *v, const char *what, unsigned version, unsigned sm) {
    if (v->version != 0 && version > v->version) {
        base_diagnostic *d = base_report(v->diagnostics, BASE_ERROR, "T0603", v->instruction->span,
                                         "%s needs .version %u.%u, the module says %u.%u", what, version / 10,
                                         version % 10, v->version / 10, v->version % 10);
        base_help(v->diagnostics, d, "raise the .version line to %u.%u", version / 10, version % 10);
    }
    if (sm > v->sm) {
        base_report(v->diagnostics, BASE_ERROR, "T0604", v->instruction->span,
                    "%s needs sm_%u or newer, not %s", what, sm, v->module->target);
    }
}

static void check_form_target(ptx_verifier *v, const ptx_form *form) {
    const char *text = written(v);
    check_need(v, text, form->version, 0);
    if (form->target == 'o') {
        base_report(v->diagnostics, BASE_ERROR, "T0604", v->instruction->span,
                    "`%s` without .sync is gone since sm_70; write .sync and a member mask", text);
        return;
    }
    if (!target_has(v, form)) {
        const char *suffix = form->target == 'x'   ? "a exactly"
                             : form->target == 'a' ? "a, or a newer one with suffix a or f"
                             : form->target == 't' ? "a, or another of sm_10x and sm_11x with suffix a or f"
                             : form->target == 'f' ? "a, or a newer one of its family with suffix a or f"
                             : form->target == 'r' ? "a, or a newer one of its family with suffix a"
                             : form->target == 's' ? "a, or a newer one with suffix a"
                                                   : " or newer";
        base_report(v->diagnostics, BASE_ERROR, "T0604", v->instruction->span, "`%s` needs sm_%u%s, not %s",
                    text, form->sm, suffix, v->module->target);
    }
}

static void check_special_need(ptx_verifier *v, const ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_SPECIAL) {
        ptx_special special = (ptx_special)(operand->bits & 0xffff);
        unsigned version = ptx_special_version(special), sm = ptx_special_sm(special);
        if (version > v->version || sm > v->sm) {
            check_need(v, base_arena_format(v->arena, "%%%s", ptx_special_name(special)), version, sm);
        }
    }
    for (unsigned i = 0; i < operand->count; i++) {
        check_special_need(v, &operand->args[i]);
    }
}

static void check_target(ptx_verifier *v, const ptx_operand *operand) {
    size_t count = v->function->instructions.count;
    if (operand->kind == PTX_OPERAND_LABEL &&
        (operand->of.label == NULL || operand->of.label->target > count)) {
        base_report(v->diagnostics, BASE_ERROR, "T0605", v->instruction->span,
                    "a branch to a label outside '%s'", v->function->name);
    }
    if (operand->kind == PTX_OPERAND_TABLE && operand->of.table == NULL) {
        base_report(v->diagnostics, BASE_ERROR, "T0605", v->instruction->span,
                    "a target list that '%s' does not have", v->function->name);
    }
}

/* (returns), callee, (arguments), targets: as many values as the callee's signature has. */
static void check_call(ptx_verifier *v) {
    const ptx_instruction *instruction = v->instruction;
    const ptx_function *signature = NULL;
    unsigned callee = 0;
    unsigned count = instruction->operand_count;
    while (callee < count && instruction->operands[callee].kind == PTX_OPERAND_LIST) {
        callee++;
    }
    if (callee == count || callee > 1) {
        base_report(v->diagnostics, BASE_ERROR, "T0606", instruction->span, "this call names no function");
        return;
    }
    if (instruction->operands[callee].kind == PTX_OPERAND_FUNCTION) {
        signature = instruction->operands[callee].of.function;
    } else if (instruction->operands[count - 1].kind == PTX_OPERAND_TABLE) {
        const ptx_table_declaration *table = instruction->operands[count - 1].of.table;
        if (table != NULL) {
            signature = table->kind == PTX_TABLE_PROTOTYPE ? table->prototype
                        : table->functions.count > 0       ? table->functions.items[0]
                                                           : NULL;
        }
    } else {
        base_report(v->diagnostics, BASE_ERROR, "T0606", instruction->span,
                    "an indirect call ends in a prototype or a list of targets");
    }
    bool has_list = callee + 1 < count && instruction->operands[callee + 1].kind == PTX_OPERAND_LIST;
    unsigned returns = callee == 1 ? instruction->operands[0].count : 0;
    unsigned arguments = has_list ? instruction->operands[callee + 1].count : 0;
    if (signature != NULL &&
        (returns != signature->returns.count || arguments != signature->parameters.count)) {
        base_diagnostic *d = base_report(
            v->diagnostics, BASE_ERROR, "T0606", instruction->span,
            "this call returns %u and passes %u values, but '%s' returns %zu and takes %zu", returns,
            arguments, signature->name, signature->returns.count, signature->parameters.count);
        base_note(v->diagnostics, d, signature->span, "the signature");
    }
}

static void check_origin(ptx_verifier *v) {
    const ptx_instruction *instruction = v->instruction;
    bool is_param = ptx_has(instruction, PTX_MOD_PARAM) || ptx_has(instruction, PTX_MOD_PARAM__FUNC) ||
                    ptx_has(instruction, PTX_MOD_PARAM__ENTRY);
    if (ptx_op_is_memory(instruction->op) && !is_param && instruction->origin == NULL) {
        base_report(v->diagnostics, BASE_ERROR, "T0607", instruction->span,
                    "`%s` has no provenance: a pass made or copied a memory instruction without its origin",
                    written(v));
    }
}

/* The form that takes the instruction; NULL: why not is in v->why, *furthest is the operand that failed
 * (UINT32_MAX: their number), *modifiers_fit whether any form takes the modifiers. */
static const ptx_form *find_form(ptx_verifier *v, const ptx_spelling *spelling, unsigned *furthest,
                                 bool *modifiers_fit) {
    unsigned reached = 0;
    const ptx_form *fits = NULL;
    char why[sizeof(v->why)];
    why[0] = '\0';
    *furthest = 0;
    *modifiers_fit = false;
    for (unsigned i = 0; i < spelling->form_count && (fits == NULL || !target_has(v, fits)); i++) {
        v->why[0] = '\0';
        if (ptx_verify_operands(v, spelling->forms[i], &reached)) {
            fits = spelling->forms[i];
        } else if (!*modifiers_fit || (reached != UINT32_MAX && reached >= *furthest)) {
            *furthest = reached;
            strcpy(why, v->why);
        }
        *modifiers_fit = true;
    }
    if (fits == NULL) {
        strcpy(v->why, why);
    }
    return fits;
}

/* What the rules of operands look at in one: kind, type, and of an integer whether it is one of those that
 * check_value and its like ask for. UINT8_MAX: there is more to it. */
static unsigned signature_of_operand(const ptx_operand *operand, bool of_reals) {
    enum { TYPE_BITS = 6, REGISTER = 1 << TYPE_BITS, REAL = 2 << TYPE_BITS, MEMORY = 3 << TYPE_BITS };
    enum { LABEL = 8, MORE = UINT8_MAX };
    _Static_assert(PTX_TYPE_COUNT < (1 << TYPE_BITS) - 1, "a type fits its field, and MORE is none");
    if (operand->negated) {
        return MORE;
    }
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REGISTER:
        return REGISTER | operand->of.reg->type;
    case PTX_OPERAND_LABEL:
        return LABEL;
    case PTX_OPERAND_MEMORY:
        return operand->count == 1 && operand->args[0].kind == PTX_OPERAND_REGISTER &&
                       !operand->args[0].negated
                   ? MEMORY | operand->args[0].of.reg->type
                   : MORE;
    case PTX_OPERAND_IMMEDIATE:
        if (operand->immediate != PTX_IMMEDIATE_INT) {
            return of_reals ? REAL | operand->immediate : MORE;
        }
        return operand->bits == 0     ? 1
               : operand->bits == 4   ? 2
               : operand->bits == 8   ? 3
               : operand->bits == 16  ? 4
               : operand->bits == 128 ? 5
                                      : 6;
    default:
        return MORE;
    }
}

/* The spelling and the signatures of up to five operands, all in one number: instructions that share it share
 * their form. 0: there is more to the operands. */
static uint64_t signature_of(const ptx_spelling *spelling, const ptx_instruction *instruction) {
    enum { OPERAND_BITS = 8 };
    uint64_t signature = spelling->number;
    bool of_reals = instruction->type == PTX_TYPE_F32 || instruction->type == PTX_TYPE_F64;
    if (instruction->operand_count > 5 || spelling->number >= 1 << 20 || spelling->has_range) {
        return 0;
    }
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        unsigned of_operand = signature_of_operand(&instruction->operands[i], of_reals);
        if (of_operand == UINT8_MAX) {
            return 0;
        }
        signature = signature << OPERAND_BITS | of_operand;
    }
    return (signature << 3 | instruction->operand_count) + 1;
}

static const ptx_form *find_form_once(ptx_verifier *v, unsigned *furthest, bool *modifiers_fit) {
    const ptx_spelling *spelling = ptx_table_spelling(v->table, v->instruction);
    uint64_t signature = v->fitting ? signature_of(spelling, v->instruction) : 0;
    const ptx_form *known = signature != 0 ? base_map_get(v->fitting, signature) : NULL;
    if (known != NULL) {
        *modifiers_fit = true;
        return known;
    }
    const ptx_form *fits = find_form(v, spelling, furthest, modifiers_fit);
    if (signature != 0 && fits != NULL) {
        base_map_set(v->fitting, signature, (void *)(uintptr_t)fits);
    }
    return fits;
}

/* disable-output-lane has a bit for each lane of tensor memory that the operation works in: 128, or 256 of a
 * pair. */
static void check_output_lanes(ptx_verifier *v) {
    const ptx_instruction *i = v->instruction;
    unsigned words = ptx_has(i, PTX_MOD_CTA_GROUP__2) ? 8 : 4;
    for (unsigned k = 4; k < i->operand_count; k++)
        if (i->operands[k].kind == PTX_OPERAND_VECTOR && i->operands[k].count != words)
            base_report(v->diagnostics, BASE_ERROR, "T0602", i->span,
                        "`%s`: disable-output-lane has %u words, and cta_group::%u takes %u", written(v),
                        i->operands[k].count, words / 4, words);
}

static void check_instruction(ptx_verifier *v, bool ours) {
    const ptx_instruction *instruction = v->instruction;
    unsigned furthest = 0;
    bool modifiers_fit = false;
    if (instruction->guard != NULL && instruction->guard->type != PTX_TYPE_PRED) {
        base_report(v->diagnostics, BASE_ERROR, "T0602", instruction->span,
                    "the guard '%s' is .%s, not a predicate", instruction->guard->name,
                    ptx_type_name(instruction->guard->type));
    }
    const ptx_form *fits = find_form_once(v, &furthest, &modifiers_fit);
    if (!modifiers_fit) {
        report_modifiers(v);
        return;
    }
    if (fits == NULL) {
        report_operands(v, furthest);
        return;
    }
    if (fits->version > v->version || !target_has(v, fits)) {
        check_form_target(v, fits);
    }
    for (unsigned i = 0; i < instruction->mod_count; i++) {
        unsigned version = ptx_mod_version(instruction->mods[i]), sm = ptx_mod_sm(instruction->mods[i]);
        if (version > v->version || sm > v->sm) {
            check_need(v, base_arena_format(v->arena, "`.%s`", ptx_mod_name(instruction->mods[i])), version,
                       sm);
        }
    }
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        check_special_need(v, &instruction->operands[i]);
        check_target(v, &instruction->operands[i]);
    }
    if (instruction->op == PTX_OP_CALL) {
        check_call(v);
    }
    if (instruction->op == PTX_OP_TCGEN05_MMA || instruction->op == PTX_OP_TCGEN05_MMA_SP) {
        check_output_lanes(v);
    }
    if (ours) {
        check_origin(v);
    }
}

static void read_target(ptx_verifier *v) {
    const char *target = v->module->target, *digits = strncmp(target, "sm_", 3) == 0 ? target + 3 : "";
    char *end = NULL;
    unsigned long sm = digits[0] >= '1' && digits[0] <= '9' ? strtoul(digits, &end, 10) : 0;
    bool plain = end != NULL && (end[0] == '\0' || ((end[0] == 'a' || end[0] == 'f') && end[1] == '\0'));
    if (!plain || sm > 999) {
        base_report(v->diagnostics, BASE_ERROR, "T0604", BASE_NO_SPAN,
                    "'%s' is no target; expected one like sm_80, sm_90a or sm_100f", target);
        sm = 999;
        v->suffix = 'a';
    } else {
        v->suffix = end[0];
    }
    v->sm = (unsigned)sm;
}

static void check_tables(ptx_verifier *v) {
    for (size_t i = 0; i < v->function->tables.count; i++) {
        const ptx_table_declaration *table = v->function->tables.items[i];
        for (size_t k = 0; k < table->labels.count; k++) {
            if (table->labels.items[k] == NULL ||
                table->labels.items[k]->target > v->function->instructions.count) {
                base_report(v->diagnostics, BASE_ERROR, "T0605", v->function->span,
                            "the jump table '%s' names a label outside '%s'", table->name, v->function->name);
            }
        }
    }
}

bool ptx_verify(const ptx_module *module, bool ours) {
    size_t before = base_diagnostics_errors(module->diagnostics);
    base_arena *arena = base_arena_create(base_arena_heap(module->arena));
    ptx_verifier v = {.module = module, .diagnostics = module->diagnostics, .arena = arena};
    v.version = module->version ? module->version : ptx_module_minimum_version(module);
    v.table = ptx_table_of(module);
    v.fitting = base_map_create(arena);
    read_target(&v);
    for (size_t f = 0; f < module->functions.count; f++) {
        v.function = module->functions.items[f];
        check_tables(&v);
        for (size_t i = 0; i < v.function->instructions.count; i++) {
            v.instruction = &v.function->instructions.items[i];
            check_instruction(&v, ours && !v.function->foreign);
        }
    }
    base_arena_destroy(arena);
    return base_diagnostics_errors(module->diagnostics) == before;
}

/* Whether every form of the spelling is on the target: then the operands need no look. */
static bool all_forms_exist(ptx_verifier *v, const ptx_spelling *spelling) {
    for (unsigned i = 0; i < spelling->form_count; i++)
        if (!target_has(v, spelling->forms[i]))
            return false;
    return true;
}

static bool exists(ptx_verifier *v, base_map *spellings) {
    static const char yes, no;
    unsigned reached = 0;
    bool modifiers_fit = false;
    const ptx_spelling *spelling = ptx_table_spelling(v->table, v->instruction);
    const char *known = base_map_get(spellings, spelling->number + 1);
    if (known == NULL) {
        known = all_forms_exist(v, spelling) ? &yes : &no;
        base_map_set(spellings, spelling->number + 1, (void *)(uintptr_t)known);
    }
    if (known == &yes)
        return true;
    const ptx_form *form = find_form_once(v, &reached, &modifiers_fit);
    return form == NULL || target_has(v, form);
}

bool ptx_module_exists_on(const ptx_module *module, const char *target) {
    base_arena *arena = base_arena_create(base_arena_heap(module->arena));
    ptx_module named = *module;
    named.target = target;
    ptx_verifier v = {.module = &named, .diagnostics = module->diagnostics, .arena = arena};
    bool all = true;
    base_map *spellings = base_map_create(arena);
    v.table = ptx_table_of(module);
    v.fitting = base_map_create(arena);
    read_target(&v);
    for (size_t f = 0; all && f < module->functions.count; f++) {
        v.function = module->functions.items[f];
        for (size_t i = 0; all && i < v.function->instructions.count; i++) {
            v.instruction = &v.function->instructions.items[i];
            all = exists(&v, spellings);
        }
    }
    base_arena_destroy(arena);
    return all;
}

bool ptx_verify_instruction(base_arena *arena, ptx_table *table, const ptx_instruction *instruction,
                            base_builder *why, base_builder *accepted) {
    ptx_verifier v = {.arena = arena, .instruction = instruction, .any_target = true};
    unsigned count = 0, furthest = 0;
    bool modifiers_fit = false;
    v.table = table;
    const ptx_form *forms = ptx_table_forms(v.table, instruction->op, &count);
    const ptx_form *fits = find_form_once(&v, &furthest, &modifiers_fit);
    if (fits != NULL && target_has(&v, fits)) {
        return true;
    }
    if (fits != NULL) {
        base_builder_string(why, "without .sync it is gone since sm_70");
    } else if (!modifiers_fit) {
        const char *stray = stray_modifier(&v, forms, count);
        if (stray != NULL) {
            base_builder_format(why, "`.%s` is not a modifier of this form of %s", stray,
                                ptx_op_name(instruction->op));
        } else {
            base_builder_format(why, "these modifiers and types do not make a form of %s",
                                ptx_op_name(instruction->op));
        }
    } else if (furthest < instruction->operand_count) {
        base_builder_format(why, "operand %u %s", furthest + 1, v.why[0] ? v.why : "does not fit");
    } else {
        base_builder_string(why, v.why[0] ? v.why : "has operands that do not fit");
    }
    list_forms(&v, modifiers_fit, accepted);
    return false;
}

void ptx_verify_list_forms(base_arena *arena, ptx_table *table, const ptx_instruction *instruction,
                           bool with_modifiers_only, base_builder *out) {
    ptx_verifier v = {.arena = arena, .instruction = instruction, .table = table, .any_target = true};
    list_forms(&v, with_modifiers_only, out);
}
