/* SPDX-License-Identifier: Apache-2.0
 * Operands against one form of the instruction table: kinds, widths, numbers of elements, and the constants
 * that a rule takes. Must not know targets and versions, nor report: what does not hold is left in words. */
#include "ptx/ptx_verify.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

__attribute__((format(printf, 2, 3))) static bool fail(ptx_verifier *v, const char *format, ...) {
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
static bool check_special(ptx_verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits) {
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

static bool check_immediate(ptx_verifier *v, const ptx_operand *operand, ptx_type type) {
    bool is_float = family_of(type) == FAMILY_FLOAT || family_of(type) == FAMILY_PACKED;
    if (family_of(type) == FAMILY_INTEGER && operand->immediate != PTX_IMMEDIATE_INT) {
        return fail(v, "is a floating constant, but an integer is needed");
    }
    return !is_float || operand->immediate != PTX_IMMEDIATE_INT ||
           fail(v, "is an integer constant, but a floating one like 0f3F800000 is needed");
}

/* `_` throws a result away; ptxas allows it alone for few instructions, in pairs and vectors for all. */
static bool check_sink(ptx_verifier *v) {
    ptx_op op = v->instruction->op;
    bool allowed = op == PTX_OP_ATOM || op == PTX_OP_SETP || op == PTX_OP_MBARRIER_ARRIVE ||
                   op == PTX_OP_MBARRIER_ARRIVE_DROP || v->in_group;
    return (v->destination && allowed) ||
           fail(v, "is _, but a %s is needed here", v->destination ? "register" : "value");
}

/* A register of `bits`, or a constant or special register where a value is read; wide: or a wider register.
 * type NONE: any type. */
static bool check_scalar(ptx_verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits,
                         bool wide) {
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
static bool check_element(ptx_verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits,
                          bool wide) {
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
static bool check_moved(ptx_verifier *v, const ptx_operand *operand, ptx_type type) {
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
static bool check_mov(ptx_verifier *v, const ptx_operand *operand, ptx_type type) {
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

static bool check_vector(ptx_verifier *v, const ptx_operand *operand) {
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

static bool check_address(ptx_verifier *v, const ptx_operand *operand, bool tensor) {
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
static bool check_pair(ptx_verifier *v, const ptx_operand *operand, ptx_type type, unsigned bits) {
    if (operand->kind != PTX_OPERAND_PAIR) {
        return check_scalar(v, operand, type, bits, false);
    }
    return check_element(v, &operand->args[0], type, bits, false) &&
           check_element(v, &operand->args[1], PTX_TYPE_PRED, 1, false);
}

static bool check_constant(ptx_verifier *v, const ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_IMMEDIATE || fail(v, "is no constant");
}

static bool check_value(ptx_verifier *v, const ptx_operand *operand, uint64_t value) {
    if (operand->kind != PTX_OPERAND_IMMEDIATE || operand->immediate != PTX_IMMEDIATE_INT ||
        operand->bits != value) {
        return fail(v, "must be the constant %u", (unsigned)value);
    }
    return true;
}

/* A matrix operand: as many registers as its tile takes, in braces when more than one. */
static bool check_fragment(ptx_verifier *v, const ptx_operand *operand, char name) {
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

static bool check_register_parts(ptx_verifier *v, const ptx_operand *operand) {
    const ptx_operand *inner = operand->kind == PTX_OPERAND_MASKED ? &operand->args[0] : operand;
    return check_scalar(v, inner, PTX_TYPE_B32, 32, false);
}

/* A register of bits, or of an integer type. */
static bool check_bits(ptx_verifier *v, const ptx_operand *operand, unsigned bits) {
    return operand->kind == PTX_OPERAND_REGISTER ? check_scalar(v, operand, PTX_TYPE_U32, bits, false)
                                                 : fail(v, "must be a register");
}

/* Classes that say a width or a type. */
static bool check_typed(ptx_verifier *v, ptx_class class, const ptx_operand *operand) {
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
static bool check_coordinates(ptx_verifier *v, const ptx_operand *operand) {
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

static bool check_four(ptx_verifier *v, const ptx_operand *operand, ptx_type type) {
    bool good = operand->kind == PTX_OPERAND_VECTOR && operand->count == 4;
    for (unsigned i = 0; good && i < 4; i++) {
        if (!check_element(v, &operand->args[i], type, ptx_type_bits(type), false)) {
            return false;
        }
    }
    return good || fail(v, "is no {vector} of 4");
}

static bool check_operand(ptx_verifier *v, const ptx_operand_rule *rule, const ptx_operand *operand) {
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

static bool check_range(ptx_verifier *v, ptx_range range, const ptx_operand *operand) {
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

/* Optional operands are taken when they fit and enough is left for the rest. */
bool ptx_verify_operands(ptx_verifier *v, const ptx_form *form, unsigned *reached) {
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
