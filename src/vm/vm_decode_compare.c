/* SPDX-License-Identifier: Apache-2.0
 * set, setp, selp, slct, testp (PTX ISA 9.7.6, 9.7.7). Comparisons give predicates; orders that the lane
 * functions lack are made by swapping the operands, unordered ones by negating the ordered opposite. */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

static const ptx_mod comparisons[] = {PTX_MOD_EQ,  PTX_MOD_NE,  PTX_MOD_LT,  PTX_MOD_LE,  PTX_MOD_GT,
                                      PTX_MOD_GE,  PTX_MOD_LO,  PTX_MOD_LS,  PTX_MOD_HI,  PTX_MOD_HS,
                                      PTX_MOD_EQU, PTX_MOD_NEU, PTX_MOD_LTU, PTX_MOD_LEU, PTX_MOD_GTU,
                                      PTX_MOD_GEU, PTX_MOD_NUM, PTX_MOD_NAN};

static ptx_mod comparison(const ptx_instruction *i) {
    for (size_t k = 0; k < sizeof comparisons / sizeof comparisons[0]; k++)
        if (ptx_has(i, comparisons[k]))
            return comparisons[k];
    return PTX_MOD_NONE;
}

static uint32_t apply(vm_decoder *d, vm_lane lane, uint32_t a, uint32_t b, bool negate) {
    uint32_t p = vm_decode_lane_new(d, lane, a, b, NONE, 0);
    return negate ? vm_decode_lane_new(d, VM_LANE_PNOT, p, NONE, NONE, 0) : p;
}

static uint32_t compare_float(vm_decoder *d, ptx_mod mod, bool wide, uint32_t a, uint32_t b) {
    vm_lane eq = wide ? VM_LANE_EQF64 : VM_LANE_EQF32, ne = wide ? VM_LANE_NEF64 : VM_LANE_NEF32;
    vm_lane lt = wide ? VM_LANE_LTF64 : VM_LANE_LTF32, le = wide ? VM_LANE_LEF64 : VM_LANE_LEF32;
    vm_lane num = wide ? VM_LANE_NUMF64 : VM_LANE_NUMF32;
    switch (mod) {
    case PTX_MOD_EQ:
        return apply(d, eq, a, b, false);
    case PTX_MOD_NE:
        return apply(d, ne, a, b, false);
    case PTX_MOD_LT:
        return apply(d, lt, a, b, false);
    case PTX_MOD_LE:
        return apply(d, le, a, b, false);
    case PTX_MOD_GT:
        return apply(d, lt, b, a, false);
    case PTX_MOD_GE:
        return apply(d, le, b, a, false);
    case PTX_MOD_EQU:
        return apply(d, ne, a, b, true);
    case PTX_MOD_NEU:
        return apply(d, eq, a, b, true);
    case PTX_MOD_LTU:
        return apply(d, le, b, a, true);
    case PTX_MOD_LEU:
        return apply(d, lt, b, a, true);
    case PTX_MOD_GTU:
        return apply(d, le, a, b, true);
    case PTX_MOD_GEU:
        return apply(d, lt, a, b, true);
    case PTX_MOD_NUM:
        return apply(d, num, a, b, false);
    case PTX_MOD_NAN:
        return apply(d, num, a, b, true);
    default:
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, false);
    }
}

static uint32_t compare_integer(vm_decoder *d, ptx_mod mod, ptx_type type, uint32_t a, uint32_t b) {
    bool wide = ptx_type_bits(type) == 64, sign = vm_decode_signed(type);
    if (ptx_type_bits(type) < 32) {
        a = vm_decode_extend(d, a, type);
        b = vm_decode_extend(d, b, type);
    }
    vm_lane eq = wide ? VM_LANE_EQ64 : VM_LANE_EQ32, ne = wide ? VM_LANE_NE64 : VM_LANE_NE32;
    vm_lane lt = wide ? (sign ? VM_LANE_LTS64 : VM_LANE_LTU64) : (sign ? VM_LANE_LTS32 : VM_LANE_LTU32);
    vm_lane le = wide ? (sign ? VM_LANE_LES64 : VM_LANE_LEU64) : (sign ? VM_LANE_LES32 : VM_LANE_LEU32);
    switch (mod) {
    case PTX_MOD_EQ:
        return apply(d, eq, a, b, false);
    case PTX_MOD_NE:
        return apply(d, ne, a, b, false);
    case PTX_MOD_LT:
    case PTX_MOD_LO:
        return apply(d, lt, a, b, false);
    case PTX_MOD_LE:
    case PTX_MOD_LS:
        return apply(d, le, a, b, false);
    case PTX_MOD_GT:
    case PTX_MOD_HI:
        return apply(d, lt, b, a, false);
    case PTX_MOD_GE:
    case PTX_MOD_HS:
        return apply(d, le, b, a, false);
    default:
        vm_decode_unsupported(d);
        return vm_decode_constant(d, 0, false);
    }
}

static uint32_t to_float32(vm_decoder *d, ptx_type type, uint32_t ref) {
    bool bf16 = type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2;
    return vm_decode_lane_new(d, bf16 ? VM_LANE_BF16TOF32 : VM_LANE_F16TOF32, ref, NONE, NONE, 0);
}

/* Compares operands 1 and 2; half picks the upper element of packed types. */
static uint32_t compare(vm_decoder *d, ptx_type type, bool upper) {
    ptx_mod mod = comparison(d->instruction);
    uint32_t a = vm_decode_read(d, 1, type), b = vm_decode_read(d, 2, type);
    switch (type) {
    case PTX_TYPE_F16X2:
    case PTX_TYPE_BF16X2:
        if (upper) {
            uint32_t n = vm_decode_constant(d, 16, false);
            a = vm_decode_lane_new(d, VM_LANE_SHRU32, a, n, NONE, 0);
            b = vm_decode_lane_new(d, VM_LANE_SHRU32, b, n, NONE, 0);
        }
        /* falls through */
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
        a = to_float32(d, type, a);
        b = to_float32(d, type, b);
        return compare_float(d, mod, false, a, b); /* .ftz: both sides keep their order, and zero its sign */
    case PTX_TYPE_F32:
        if (ptx_has(d->instruction, PTX_MOD_FTZ)) {
            a = vm_decode_lane_new(d, VM_LANE_FTZ32, a, NONE, NONE, 0);
            b = vm_decode_lane_new(d, VM_LANE_FTZ32, b, NONE, NONE, 0);
        }
        return compare_float(d, mod, false, a, b);
    case PTX_TYPE_F64:
        return compare_float(d, mod, true, a, b);
    default:
        return compare_integer(d, mod, type, a, b);
    }
}

/* p (or its complement) combined with the third operand by .and, .or, .xor. */
static uint32_t combine(vm_decoder *d, uint32_t p) {
    const ptx_instruction *i = d->instruction;
    if (i->operand_count < 4)
        return p;
    vm_lane lane = ptx_has(i, PTX_MOD_AND)  ? VM_LANE_PAND
                   : ptx_has(i, PTX_MOD_OR) ? VM_LANE_POR
                                            : VM_LANE_PXOR;
    return vm_decode_lane_new(d, lane, p, vm_decode_read(d, 3, PTX_TYPE_PRED), NONE, 0);
}

static void set_predicate(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    const ptx_operand *to = vm_decode_operand(d, 0);
    bool packed = i->type == PTX_TYPE_F16X2 || i->type == PTX_TYPE_BF16X2;
    uint32_t p = compare(d, i->type, false), q = NONE;
    const ptx_operand *first = to, *second = NULL;
    if (to->kind == PTX_OPERAND_PAIR) {
        first = &to->args[0];
        second = &to->args[1];
        q = packed ? compare(d, i->type, true) : vm_decode_lane_new(d, VM_LANE_PNOT, p, NONE, NONE, 0);
        q = combine(d, q);
    }
    p = combine(d, p);
    vm_decode_lane(d, VM_LANE_PMOV, vm_decode_target(d, first, PTX_TYPE_PRED), p, NONE, NONE, 0);
    if (second != NULL)
        vm_decode_lane(d, VM_LANE_PMOV, vm_decode_target(d, second, PTX_TYPE_PRED), q, NONE, NONE, 0);
}

static void set_value(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t zero = vm_decode_constant(d, 0, false);
    uint64_t one = i->type == PTX_TYPE_F32                                  ? 0x3f800000u
                   : i->type == PTX_TYPE_F16 || i->type == PTX_TYPE_F16X2   ? 0x3c00
                   : i->type == PTX_TYPE_BF16 || i->type == PTX_TYPE_BF16X2 ? 0x3f80
                   : i->type == PTX_TYPE_U16 || i->type == PTX_TYPE_S16     ? 0xffff
                                                                            : UINT32_MAX;
    uint32_t yes = vm_decode_constant(d, one, false);
    uint32_t p = combine(d, compare(d, i->type2, false));
    bool packed = i->type == PTX_TYPE_F16X2 || i->type == PTX_TYPE_BF16X2;
    if (!packed && (i->type2 == PTX_TYPE_F16X2 || i->type2 == PTX_TYPE_BF16X2)) {
        vm_decode_unsupported(d);
        return;
    }
    uint32_t to = vm_decode_write(d, 0, i->type);
    if (!packed) {
        vm_decode_lane(d, VM_LANE_SELP32, to, yes, zero, p, 0);
        return;
    }
    uint32_t q = combine(d, compare(d, i->type2, true));
    uint32_t low = vm_decode_lane_new(d, VM_LANE_SELP32, yes, zero, p, 0);
    uint32_t high = vm_decode_lane_new(d, VM_LANE_SELP32, yes, zero, q, 0);
    vm_decode_lane(d, VM_LANE_PACK16, to, low, high, NONE, 0);
}

static void select_value(vm_decoder *d, uint32_t p) {
    ptx_type type = d->instruction->type;
    vm_decode_lane(d, ptx_type_bits(type) == 64 ? VM_LANE_SELP64 : VM_LANE_SELP32,
                   vm_decode_write(d, 0, type), vm_decode_read(d, 1, type), vm_decode_read(d, 2, type), p, 0);
}

/* slct: a where c >= 0; a NaN selects b. */
static void select_by_sign(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    uint32_t zero = vm_decode_constant(d, 0, false), c = vm_decode_read(d, 3, i->type2), p;
    if (i->type2 == PTX_TYPE_F32) {
        if (ptx_has(i, PTX_MOD_FTZ))
            c = vm_decode_lane_new(d, VM_LANE_FTZ32, c, NONE, NONE, 0);
        p = vm_decode_lane_new(d, VM_LANE_LEF32, zero, c, NONE, 0);
    } else {
        p = vm_decode_lane_new(d, VM_LANE_LES32, zero, c, NONE, 0);
    }
    select_value(d, p);
}

static void test_property(vm_decoder *d) {
    static const ptx_mod mods[] = {PTX_MOD_FINITE,     PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                   PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL,   PTX_MOD_SUBNORMAL};
    const ptx_instruction *i = d->instruction;
    uint64_t kind = VM_TESTP_FINITE;
    for (unsigned k = 0; k < 6; k++)
        if (ptx_has(i, mods[k]))
            kind = k;
    vm_decode_lane(d, i->type == PTX_TYPE_F64 ? VM_LANE_TESTP64 : VM_LANE_TESTP32,
                   vm_decode_write(d, 0, PTX_TYPE_PRED), vm_decode_read(d, 1, i->type), NONE, NONE, kind);
}

bool vm_decode_compare(vm_decoder *d) {
    switch (d->instruction->op) {
    case PTX_OP_SETP:
        set_predicate(d);
        return true;
    case PTX_OP_SET:
        set_value(d);
        return true;
    case PTX_OP_SELP:
        select_value(d, vm_decode_read(d, 3, PTX_TYPE_PRED));
        return true;
    case PTX_OP_SLCT:
        select_by_sign(d);
        return true;
    case PTX_OP_TESTP:
        test_property(d);
        return true;
    default:
        return false;
    }
}
