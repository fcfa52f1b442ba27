/* SPDX-License-Identifier: Apache-2.0
 * Checks a module against the instruction table: modifiers, operand kinds and widths, versions and targets,
 * labels, and for modules of ours that memory instructions say where they come from. One pass, every problem.
 */
#include "ptx/ptx_table.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct verifier {
    const ptx_module *module;
    base_diagnostics *diagnostics;
    base_arena *arena;
    ptx_table *table;
    const ptx_function *function;
    const ptx_instruction *instruction;
    unsigned sm;
    char suffix; /* of the target: 0, 'a', 'f' */
    unsigned version;
    bool any_target;            /* form and operands only */
    bool destination, in_group; /* the operand being checked is written; is part of a pair or vector */
    base_map *fitting;          /* signature -> ptx_form that takes it; NULL: not kept */
    char why[200];              /* why the last operand rule did not hold */
} verifier;

/* ---- operands ---- */

typedef enum family { FAMILY_BITS, FAMILY_INTEGER, FAMILY_FLOAT, FAMILY_PACKED, FAMILY_PREDICATE } family;

static family family_of(ptx_type type) {
    switch (type) {
    case PTX_TYPE_U8:
    case PTX_TYPE_U16:
    case PTX_TYPE_U32:
    case PTX_TYPE_U64:
    case PTX_TYPE_S8:
    case PTX_TYPE_S16:
    case PTX_TYPE_S32:
    case PTX_TYPE_S64:
        return FAMILY_INTEGER;
    case PTX_TYPE_BF16:
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2:
    case PTX_TYPE_F32X2:
        return FAMILY_PACKED; /* live in .b registers */
    case PTX_TYPE_F16:
    case PTX_TYPE_F32:
    case PTX_TYPE_F64:
        return FAMILY_FLOAT;
    case PTX_TYPE_PRED:
        return FAMILY_PREDICATE;
    default:
        return FAMILY_BITS; /* .b, and the small floats: any register of the size */
    }
}

/* PTX ISA 9.4: same size; untyped bits go with everything, integers with integers, floats with the same
 * float. */
static bool types_agree(ptx_type wanted, ptx_type found) {
    family a = family_of(wanted), b = family_of(found);
    if (a == FAMILY_PREDICATE || b == FAMILY_PREDICATE) {
        return a == b;
    }
    if (a == FAMILY_BITS || b == FAMILY_BITS) {
        return true;
    }
    return a == b && (a == FAMILY_INTEGER || wanted == found);
}

__attribute__((format(printf, 2, 3))) static bool fail(verifier *v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->why, sizeof(v->why), format, arguments);
    va_end(arguments);
    return false;
}

static bool is_scalar(const ptx_operand *operand) {
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REGISTER:
    case PTX_OPERAND_IMMEDIATE:
    case PTX_OPERAND_SPECIAL:
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION:
    case PTX_OPERAND_SINK:
        return true;
    default:
        return false;
    }
}

/* Special registers are read by mov and cvt alone; %gridid in either width. */
static bool check_special(verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits) {
    ptx_special special = (ptx_special)(operand->bits & 0xffff);
    unsigned has = ptx_special_bits(special);
    ptx_op op = v->instruction->op;
    if (special == PTX_SPECIAL_WARP_SIZE) {
        return bits > 1 || fail(v, "is a number, not a predicate");
    }
    if (op != PTX_OP_MOV && op != PTX_OP_CVT) {
        return fail(v, "is a special register, which only mov and cvt read");
    }
    bool fits = has == 1 ? bits == 1 : has == 32 ? bits <= 32 && bits > 1 : bits == 64;
    fits = fits || (special == PTX_SPECIAL_GRIDID && bits == 32);
    return (fits && family_of(type) != FAMILY_FLOAT) || fail(v, "is a special register of %u bits", has);
}

static bool check_immediate(verifier *v, const ptx_operand *operand, ptx_type type) {
    bool is_float = family_of(type) == FAMILY_FLOAT || family_of(type) == FAMILY_PACKED;
    if (family_of(type) == FAMILY_INTEGER && operand->immediate != PTX_IMMEDIATE_INT) {
        return fail(v, "is a floating constant, but an integer is needed");
    }
    return !is_float || operand->immediate != PTX_IMMEDIATE_INT ||
           fail(v, "is an integer constant, but a floating one like 0f3F800000 is needed");
}

/* `_` throws a result away; ptxas allows it alone for few instructions, in pairs and vectors for all. */
static bool check_sink(verifier *v) {
    ptx_op op = v->instruction->op;
    bool allowed = op == PTX_OP_ATOM || op == PTX_OP_SETP || op == PTX_OP_MBARRIER_ARRIVE ||
                   op == PTX_OP_MBARRIER_ARRIVE_DROP || v->in_group;
    return (v->destination && allowed) ||
           fail(v, "is _, but a %s is needed here", v->destination ? "register" : "value");
}

/* A register of `bits`, or a constant or special register where a value is read; wide: or a wider register.
 * type NONE: any type. */
static bool check_scalar(verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits, bool wide) {
    if (operand->kind == PTX_OPERAND_SINK) {
        return check_sink(v);
    }
    if (operand->kind != PTX_OPERAND_REGISTER && v->destination) {
        return fail(v, "is no register, but is written");
    }
    switch ((ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_SPECIAL:
        return check_special(v, operand, type, bits);
    case PTX_OPERAND_IMMEDIATE:
        return check_immediate(v, operand, type);
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION:
        return bits == 32 || bits == 64 || fail(v, "is an address, which takes 32 or 64 bits");
    case PTX_OPERAND_REGISTER:
        break;
    default:
        return fail(v, "is no register or constant");
    }
    ptx_type found = operand->of.reg->type;
    unsigned size = ptx_type_bits(found);
    if ((found == PTX_TYPE_PRED) != (bits == 1)) {
        return fail(v, bits == 1 ? "is no predicate" : "is a predicate");
    }
    if (operand->negated && found != PTX_TYPE_PRED && v->instruction->op != PTX_OP_VMAD) {
        return fail(v, "is negated, which only predicates can be");
    }
    bool exact = !wide || family_of(found) == FAMILY_FLOAT;
    if (exact && family_of(type) == FAMILY_BITS && wide ? size < bits : exact ? size != bits : size < bits) {
        return fail(v, exact ? "is .%s, but %u bits are needed" : "is .%s, but at least %u bits are needed",
                    ptx_type_name(found), bits);
    }
    if (type != PTX_TYPE_NONE && !types_agree(type, found)) {
        return fail(v, "is .%s, which does not go with .%s", ptx_type_name(found), ptx_type_name(type));
    }
    return true;
}

/* One register of a pair or vector. */
static bool check_element(verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits, bool wide) {
    v->in_group = true;
    bool good = check_scalar(v, operand, type, bits, wide);
    v->in_group = false;
    return good;
}

static unsigned vector_length(const ptx_instruction *instruction) {
    return ptx_has(instruction, PTX_MOD_V8)   ? 8
           : ptx_has(instruction, PTX_MOD_V4) ? 4
           : ptx_has(instruction, PTX_MOD_V2) ? 2
                                              : 1;
}

/* ld, st, atom with .vN: a vector of that many; without: a scalar (or a vector where nvcc writes {%r1}). */
static bool check_moved(verifier *v, const ptx_operand *operand, ptx_type type) {
    ptx_op op = v->instruction->op;
    /* Only plain loads and stores take registers wider than what they move (PTX ISA 9.4.1). */
    bool wide = op == PTX_OP_LD || op == PTX_OP_LDU || op == PTX_OP_ST || op == PTX_OP_ST_ASYNC;
    unsigned length = vector_length(v->instruction);
    if (operand->kind != PTX_OPERAND_VECTOR) {
        return length > 1 ? fail(v, "is no vector, but .v%u moves several", length)
                          : check_scalar(v, operand, type, ptx_type_bits(type), wide);
    }
    if (operand->count != length) {
        return fail(v, "has %u elements, but .v%u is written", operand->count, length);
    }
    for (unsigned i = 0; i < operand->count; i++) {
        if (!check_element(v, &operand->args[i], type, ptx_type_bits(type), wide)) {
            return false;
        }
    }
    return true;
}

/* mov.b64 {lo, hi}, d and back: the elements' widths add up to the type's. */
static bool check_mov(verifier *v, const ptx_operand *operand, ptx_type type) {
    if (operand->kind != PTX_OPERAND_VECTOR) {
        return check_scalar(v, operand, type, ptx_type_bits(type), false);
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < operand->count; i++) {
        const ptx_operand *element = &operand->args[i];
        if (element->kind == PTX_OPERAND_REGISTER) {
            sum += ptx_type_bits(element->of.reg->type);
        } else if (element->kind == PTX_OPERAND_SINK || element->kind == PTX_OPERAND_IMMEDIATE) {
            sum += ptx_type_bits(type) / operand->count;
        } else {
            return fail(v, "holds something that is no register");
        }
    }
    return sum == ptx_type_bits(type) || fail(v, "is .%s, which takes %u bits, but the vector has %u",
                                              ptx_type_name(type), ptx_type_bits(type), sum);
}

static bool check_vector(verifier *v, const ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_VECTOR) {
        return is_scalar(operand) || fail(v, "is no {vector}");
    }
    for (unsigned i = 0; i < operand->count; i++) {
        if (!is_scalar(&operand->args[i])) {
            return fail(v, "holds something that is no register or constant");
        }
    }
    return true;
}

/* Tensor memory addresses are 32 bits. */
static bool is_tensor_address(const ptx_operand_rule *rule) {
    return rule->name_size > 6 && (memcmp(rule->name + rule->name_size - 6, "-tmem]", 6) == 0 ||
                                   memcmp(rule->name, "[taddr]", 7) == 0);
}

static bool check_address(verifier *v, const ptx_operand *operand, bool tensor) {
    if (operand->kind != PTX_OPERAND_MEMORY) {
        return fail(v, "is no [address]");
    }
    const ptx_operand *base = &operand->args[0];
    if (base->kind == PTX_OPERAND_REGISTER) {
        unsigned bits = ptx_type_bits(base->of.reg->type);
        if (tensor && bits != 32) {
            return fail(v, "is an address in a register of %u bits; tensor memory takes 32", bits);
        }
        return bits == 32 || bits == 64 ||
               fail(v, "is an address in a register of %u bits; 32 or 64 are needed", bits);
    }
    return base->kind == PTX_OPERAND_VARIABLE || base->kind == PTX_OPERAND_IMMEDIATE ||
           fail(v, "is an address without register, variable or number");
}

/* p, or p|q; for the 32-bit and typed pairs the second is a predicate. */
static bool check_pair(verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits) {
    if (operand->kind != PTX_OPERAND_PAIR) {
        return check_scalar(v, operand, type, bits, false);
    }
    return check_element(v, &operand->args[0], type, bits, false) &&
           check_element(v, &operand->args[1], PTX_TYPE_PRED, 1, false);
}

static bool check_constant(verifier *v, const ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_IMMEDIATE || fail(v, "is no constant");
}

static bool check_value(verifier *v, const ptx_operand *operand, uint64_t value) {
    if (operand->kind != PTX_OPERAND_IMMEDIATE || operand->immediate != PTX_IMMEDIATE_INT ||
        operand->bits != value) {
        return fail(v, "must be the constant %u", (unsigned)value);
    }
    return true;
}

/* A matrix operand: as many registers as its tile takes, in braces when more than one. */
static bool check_fragment(verifier *v, const ptx_operand *operand, char name) {
    unsigned bits = 32, wanted = ptx_fragment_registers(v->instruction, name, &bits);
    unsigned count = operand->count;
    if (operand->kind != PTX_OPERAND_VECTOR) {
        return fail(v, "is no {vector} of registers");
    }
    if (wanted != 0 && count != wanted) {
        return fail(v, "has %u registers, but this shape and type take %u", count, wanted);
    }
    bool tensor = v->instruction->op == PTX_OP_TCGEN05_LD || v->instruction->op == PTX_OP_TCGEN05_LD_RED ||
                  v->instruction->op == PTX_OP_TCGEN05_ST;
    for (unsigned i = 0; i < count; i++) {
        if (tensor && operand->args[i].kind != PTX_OPERAND_REGISTER) {
            return fail(v, "takes registers only, no constant and no _");
        }
        if (!check_element(v, &operand->args[i], PTX_TYPE_NONE, bits, false)) {
            return false;
        }
    }
    return true;
}

static bool check_register_parts(verifier *v, const ptx_operand *operand) {
    const ptx_operand *inner = operand->kind == PTX_OPERAND_MASKED ? &operand->args[0] : operand;
    return check_scalar(v, inner, PTX_TYPE_B32, 32, false);
}

/* A register of bits, or of an integer type. */
static bool check_bits(verifier *v, const ptx_operand *operand, unsigned bits) {
    return operand->kind == PTX_OPERAND_REGISTER ? check_scalar(v, operand, PTX_TYPE_U32, bits, false)
                                                 : fail(v, "must be a register");
}

/* Classes that say a width or a type. */
static bool check_typed(verifier *v, ptx_class class, const ptx_operand *operand) {
    ptx_type t = v->instruction->type, u = v->instruction->type2;
    unsigned t_bits = ptx_type_bits(t), u_bits = ptx_type_bits(u);
    switch (class) {
    case PTX_CLASS_T:
        return check_scalar(v, operand, t, t_bits, t_bits == 8);
    case PTX_CLASS_U:
        return check_scalar(v, operand, u, u_bits, u_bits == 8);
    case PTX_CLASS_X:
        return check_scalar(v, operand, PTX_TYPE_U64, t_bits * 2, false);
    case PTX_CLASS_W:
        return check_scalar(v, operand, t, t_bits, true);
    case PTX_CLASS_UW:
        return check_scalar(v, operand, u, u_bits, true);
    case PTX_CLASS_S:
        return check_bits(v, operand, t_bits);
    case PTX_CLASS_US:
        return check_bits(v, operand, u_bits);
    case PTX_CLASS_8R:
    case PTX_CLASS_16R:
    case PTX_CLASS_32R:
        return check_bits(v, operand, class == PTX_CLASS_8R ? 8 : class == PTX_CLASS_16R ? 16 : 32);
    case PTX_CLASS_16:
        return check_scalar(v, operand, PTX_TYPE_U16, 16, false);
    case PTX_CLASS_32:
        return check_scalar(v, operand, PTX_TYPE_U32, 32, false);
    case PTX_CLASS_64:
        return check_scalar(v, operand, PTX_TYPE_U64, 64, false);
    case PTX_CLASS_128:
        return check_scalar(v, operand, PTX_TYPE_NONE, 128, false);
    case PTX_CLASS_PRED:
        return check_scalar(v, operand, PTX_TYPE_PRED, 1, false);
    case PTX_CLASS_PQ:
        return check_pair(v, operand, PTX_TYPE_PRED, 1);
    case PTX_CLASS_TQ:
        return check_pair(v, operand, t, t_bits);
    case PTX_CLASS_32Q:
        return check_pair(v, operand, PTX_TYPE_U32, 32);
    case PTX_CLASS_PP:
        return operand->kind == PTX_OPERAND_PAIR ? check_pair(v, operand, PTX_TYPE_PRED, 1)
                                                 : fail(v, "is no pair p|q of predicates");
    case PTX_CLASS_TP:
        return operand->kind == PTX_OPERAND_PAIR ? check_pair(v, operand, t, t_bits)
                                                 : fail(v, "is no pair d|p");
    default:
        return false;
    }
}

/* [map, {coordinates}] has as many coordinates as dimensions; gather4 and scatter4 give four rows and a
 * column. */
static bool check_coordinates(verifier *v, const ptx_operand *operand) {
    static const ptx_mod dimensions[] = {PTX_MOD_1D, PTX_MOD_2D, PTX_MOD_3D, PTX_MOD_4D, PTX_MOD_5D};
    unsigned wanted = 0;
    for (unsigned i = 0; i < 5; i++) {
        wanted = ptx_has(v->instruction, dimensions[i]) ? i + 1 : wanted;
    }
    if (ptx_has(v->instruction, PTX_MOD_TILE__GATHER4) || ptx_has(v->instruction, PTX_MOD_TILE__SCATTER4)) {
        wanted = 5;
    }
    if (operand->count != 2 || operand->args[1].kind != PTX_OPERAND_VECTOR) {
        return fail(v, "is no [map, {coordinates}]");
    }
    return operand->args[1].count == wanted ||
           fail(v, "has %u coordinates, but %u are needed", operand->args[1].count, wanted);
}

static bool check_four(verifier *v, const ptx_operand *operand, ptx_type type) {
    bool good = operand->kind == PTX_OPERAND_VECTOR && operand->count == 4;
    for (unsigned i = 0; good && i < 4; i++) {
        if (!check_element(v, &operand->args[i], type, ptx_type_bits(type), false)) {
            return false;
        }
    }
    return good || fail(v, "is no {vector} of 4");
}

static bool check_operand(verifier *v, const ptx_operand_rule *rule, const ptx_operand *operand) {
    switch (rule->class) {
    case PTX_CLASS_ADDRESS:
        return check_address(v, operand, is_tensor_address(rule)) &&
               (rule->name_size != 11 || memcmp(rule->name, "[tensorMap]", 11) != 0 ||
                check_coordinates(v, operand));
    case PTX_CLASS_M:
        return check_moved(v, operand, v->instruction->type);
    case PTX_CLASS_MV:
        return check_mov(v, operand, v->instruction->type);
    case PTX_CLASS_AD:
        return operand->kind == PTX_OPERAND_REGISTER && ptx_type_bits(operand->of.reg->type) == 32
                   ? check_scalar(v, operand, PTX_TYPE_U32, 32, false)
                   : check_scalar(v, operand, PTX_TYPE_U64, 64, false);
    case PTX_CLASS_A:
        return is_scalar(operand) || fail(v, "is no register or constant");
    case PTX_CLASS_V:
    case PTX_CLASS_VS:
        return check_vector(v, operand);
    case PTX_CLASS_V2:
    case PTX_CLASS_V4:
        return operand->kind == PTX_OPERAND_VECTOR && operand->count == (rule->class == PTX_CLASS_V2 ? 2 : 4)
                   ? check_vector(v, operand)
                   : fail(v, "is no {vector} of %u", rule->class == PTX_CLASS_V2 ? 2 : 4);
    case PTX_CLASS_U4:
        return check_four(v, operand, v->instruction->type2);
    case PTX_CLASS_VQ:
        return operand->kind == PTX_OPERAND_PAIR ? check_vector(v, &operand->args[0])
                                                 : check_vector(v, operand);
    case PTX_CLASS_FD:
        return check_fragment(v, operand, 'd');
    case PTX_CLASS_FA:
        return check_fragment(v, operand, 'a');
    case PTX_CLASS_FB:
        return check_fragment(v, operand, 'b');
    case PTX_CLASS_FC:
        return check_fragment(v, operand, 'c');
    case PTX_CLASS_IMM:
        return check_constant(v, operand);
    case PTX_CLASS_ZERO:
        return check_value(v, operand, 0);
    case PTX_CLASS_C4:
        return check_constant(v, operand) && (operand->bits == 4 || operand->bits == 8 ||
                                              operand->bits == 16 || fail(v, "must be 4, 8 or 16"));
    case PTX_CLASS_C16:
        return check_value(v, operand, 16);
    case PTX_CLASS_C128:
        return check_value(v, operand, 128);
    case PTX_CLASS_PI:
        return operand->kind == PTX_OPERAND_IMMEDIATE || check_scalar(v, operand, PTX_TYPE_PRED, 1, false);
    case PTX_CLASS_SINK:
        return operand->kind == PTX_OPERAND_SINK || fail(v, "must be _, there is no result here");
    case PTX_CLASS_Y:
        return check_register_parts(v, operand);
    case PTX_CLASS_LABEL:
        return operand->kind == PTX_OPERAND_LABEL || fail(v, "is no label");
    case PTX_CLASS_TABLE:
        return operand->kind == PTX_OPERAND_TABLE || fail(v, "is no target list");
    case PTX_CLASS_CALL:
        return true;
    default:
        return check_typed(v, rule->class, operand);
    }
}

static bool check_range(verifier *v, ptx_range range, const ptx_operand *operand) {
    int64_t value = (int64_t)operand->bits;
    if (operand->kind != PTX_OPERAND_IMMEDIATE || operand->immediate != PTX_IMMEDIATE_INT) {
        return true;
    }
    switch (range) {
    case PTX_RANGE_BARRIER:
        return (value >= 0 && value <= 15) || fail(v, "is %lld; barriers are 0 to 15", (long long)value);
    case PTX_RANGE_THREADS:
        return (value >= 0 && value % 32 == 0) ||
               fail(v, "is %lld; so many threads are no whole warps of 32", (long long)value);
    case PTX_RANGE_BYTE:
        return (value >= 0 && value <= 255) || fail(v, "is %lld; it is 0 to 255", (long long)value);
    case PTX_RANGE_REGS:
        return (value >= 24 && value <= 256 && value % 8 == 0) ||
               fail(v, "is %lld; it is a multiple of 8 from 24 to 256", (long long)value);
    case PTX_RANGE_COUNT:
        return value >= 0 || fail(v, "is %lld; it is not negative", (long long)value);
    default:
        return true;
    }
}

/* Optional operands are taken when they fit and enough is left for the rest. reached: the operand that
 * failed; UINT32_MAX: their number is wrong. */
static bool check_operands(verifier *v, const ptx_form *form, unsigned *reached) {
    const ptx_instruction *instruction = v->instruction;
    unsigned count = instruction->operand_count, required = 0, at = 0;
    unsigned written = (unsigned)ptx_op_written(instruction);
    bool present[PTX_OPERANDS_MAX];
    if (form->operand_count == 1 && form->operands[0].class == PTX_CLASS_CALL) {
        return true;
    }
    unsigned possible = 0;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const ptx_operand_rule *rule = &form->operands[i];
        present[i] = rule->condition == PTX_MOD_NONE || ptx_has(instruction, rule->condition);
        required += present[i] && !rule->optional;
        possible += present[i];
    }
    *reached = UINT32_MAX;
    if (count < required || count > possible) {
        return fail(v, "has %u operands, but takes %s%u", count,
                    possible == required ? ""
                    : count < required   ? "at least "
                                         : "at most ",
                    count < required ? required : possible);
    }
    unsigned spare = count - required;
    for (unsigned i = 0; i < form->operand_count; i++) {
        const ptx_operand_rule *rule = &form->operands[i];
        if (!present[i] || (rule->optional && spare == 0)) {
            continue;
        }
        v->destination = at < written;
        if (check_operand(v, rule, &instruction->operands[at]) &&
            check_range(v, rule->range, &instruction->operands[at])) {
            spare -= rule->optional;
            at++;
        } else if (!rule->optional) {
            *reached = at;
            return false;
        }
    }
    *reached = at;
    return at == count;
}

/* ---- instructions ---- */

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
static void list_forms(verifier *v, bool with_modifiers_only, base_builder *out) {
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

static void accepted_forms(verifier *v, base_diagnostic *diagnostic, bool with_modifiers_only) {
    base_builder text;
    base_builder_start(&text, v->arena);
    list_forms(v, with_modifiers_only, &text);
    base_help(v->diagnostics, diagnostic, "accepted: %s", text.data);
}

static const char *written(verifier *v) {
    base_builder text;
    base_builder_start(&text, v->arena);
    ptx_instruction_form(v->instruction, &text);
    return text.data;
}

/* The modifier that no form of the opcode which takes the written types has: the one to name. */
static const char *stray_modifier(verifier *v, const ptx_form *forms, unsigned count) {
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

static void report_modifiers(verifier *v) {
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

static void report_operands(verifier *v, unsigned reached) {
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

static bool target_has(const verifier *v, const ptx_form *form) {
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

static void check_need(verifier *v, const char *what, unsigned version, unsigned sm) {
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

static void check_form_target(verifier *v, const ptx_form *form) {
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

static void check_special_need(verifier *v, const ptx_operand *operand) {
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

static void check_target(verifier *v, const ptx_operand *operand) {
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
static void check_call(verifier *v) {
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

static void check_origin(verifier *v) {
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
static const ptx_form *find_form(verifier *v, const ptx_spelling *spelling, unsigned *furthest,
                                 bool *modifiers_fit) {
    unsigned reached = 0;
    const ptx_form *fits = NULL;
    char why[sizeof(v->why)];
    why[0] = '\0';
    *furthest = 0;
    *modifiers_fit = false;
    for (unsigned i = 0; i < spelling->form_count && (fits == NULL || !target_has(v, fits)); i++) {
        v->why[0] = '\0';
        if (check_operands(v, spelling->forms[i], &reached)) {
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
    if (instruction->operand_count > 5 || spelling->number >= 1 << 20) {
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

static const ptx_form *find_form_once(verifier *v, unsigned *furthest, bool *modifiers_fit) {
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
static void check_output_lanes(verifier *v) {
    const ptx_instruction *i = v->instruction;
    unsigned words = ptx_has(i, PTX_MOD_CTA_GROUP__2) ? 8 : 4;
    for (unsigned k = 4; k < i->operand_count; k++)
        if (i->operands[k].kind == PTX_OPERAND_VECTOR && i->operands[k].count != words)
            base_report(v->diagnostics, BASE_ERROR, "T0602", i->span,
                        "`%s`: disable-output-lane has %u words, and cta_group::%u takes %u", written(v),
                        i->operands[k].count, words / 4, words);
}

static void check_instruction(verifier *v, bool ours) {
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

static void read_target(verifier *v) {
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

static void check_tables(verifier *v) {
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
    verifier v = {.module = module, .diagnostics = module->diagnostics, .arena = arena};
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
static bool all_forms_exist(verifier *v, const ptx_spelling *spelling) {
    for (unsigned i = 0; i < spelling->form_count; i++)
        if (!target_has(v, spelling->forms[i]))
            return false;
    return true;
}

static bool exists(verifier *v, base_map *spellings) {
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
    verifier v = {.module = &named, .diagnostics = module->diagnostics, .arena = arena};
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
    verifier v = {.arena = arena, .instruction = instruction, .any_target = true};
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
    verifier v = {.arena = arena, .instruction = instruction, .table = table, .any_target = true};
    list_forms(&v, with_modifiers_only, out);
}
