/* SPDX-License-Identifier: Apache-2.0
 * Integer and bit instructions (PTX ISA 9.7.1, 9.7.2, 9.7.8). Types of 16 bits are computed in 32 and cut. */
#include "vm/vm_decode.h"

#define NONE VM_REF_NONE

/* d = lane(a, b, c) for an integer type; narrow: sources must be extended first. */
static void by_width(vm_decoder *d, ptx_type type, vm_lane lane32, vm_lane lane64, bool extend,
                     unsigned sources) {
    unsigned bits = ptx_type_bits(type);
    uint32_t source[3] = {NONE, NONE, NONE};
    for (unsigned i = 0; i < sources; i++) {
        source[i] = vm_decode_read(d, i + 1, type);
        if (bits < 32 && extend)
            source[i] = vm_decode_extend(d, source[i], type);
    }
    uint32_t to = vm_decode_write(d, 0, type);
    if (bits >= 32) {
        vm_decode_lane(d, bits == 64 ? lane64 : lane32, to, source[0], source[1], source[2], 0);
        return;
    }
    uint32_t wide = vm_decode_lane_new(d, lane32, source[0], source[1], source[2], 0);
    vm_decode_lane(d, VM_LANE_ZEXT16, to, wide, NONE, NONE, 0);
}

static uint32_t carry(vm_decoder *d) {
    if (d->carry == NONE)
        d->carry = vm_decode_temporary(d, 1);
    return d->carry;
}

/* to = a + b (or a - b) with carry in and out as asked; the carry of PTX is one per thread. */
static void add_carry(vm_decoder *d, bool wide, bool subtract, uint32_t to, uint32_t a, uint32_t b, bool in,
                      bool out) {
    static const vm_lane sums[2][2] = {{VM_LANE_ADDC32, VM_LANE_ADDC64}, {VM_LANE_SUBC32, VM_LANE_SUBC64}};
    static const vm_lane carries[2][2] = {{VM_LANE_CARRY32, VM_LANE_CARRY64},
                                          {VM_LANE_BORROW32, VM_LANE_BORROW64}};
    uint32_t c = in ? carry(d) : vm_decode_constant(d, subtract, false), next = NONE;
    if (out)
        next = vm_decode_lane_new(d, carries[subtract][wide], a, b, c, 0);
    vm_decode_lane(d, sums[subtract][wide], to, a, b, c, 0);
    if (out)
        vm_decode_lane(d, VM_LANE_MOV32, carry(d), next, NONE, NONE, 0);
}

static void add_sub(vm_decoder *d, ptx_type type, bool subtract) {
    const ptx_instruction *i = d->instruction;
    bool in = i->op == PTX_OP_ADDC || i->op == PTX_OP_SUBC;
    if (type == PTX_TYPE_U16X2 || type == PTX_TYPE_S16X2) {
        vm_decode_lane(d, VM_LANE_PACKED16, vm_decode_write(d, 0, type), vm_decode_read(d, 1, type),
                       vm_decode_read(d, 2, type), vm_decode_constant(d, 0, false), subtract ? 1 : 0);
        return;
    }
    if (in || ptx_has(i, PTX_MOD_CC)) {
        add_carry(d, ptx_type_bits(type) == 64, subtract, vm_decode_write(d, 0, type),
                  vm_decode_read(d, 1, type), vm_decode_read(d, 2, type), in, ptx_has(i, PTX_MOD_CC));
        return;
    }
    if (ptx_has(i, PTX_MOD_SAT)) { /* .s32 */
        uint32_t a = vm_decode_lane_new(d, VM_LANE_SEXT32, vm_decode_read(d, 1, type), NONE, NONE, 0);
        uint32_t b = vm_decode_lane_new(d, VM_LANE_SEXT32, vm_decode_read(d, 2, type), NONE, NONE, 0);
        uint32_t sum = vm_decode_lane_new(d, subtract ? VM_LANE_SUB64 : VM_LANE_ADD64, a, b, NONE, 0);
        sum = vm_decode_lane_new(d, VM_LANE_SATURATE64, sum, NONE, NONE, 32 | 0x300);
        vm_decode_lane(d, VM_LANE_TRUNC64, vm_decode_write(d, 0, type), sum, NONE, NONE, 0);
        return;
    }
    by_width(d, type, subtract ? VM_LANE_SUB32 : VM_LANE_ADD32, subtract ? VM_LANE_SUB64 : VM_LANE_ADD64,
             false, 2);
}

static ptx_type wide_type(ptx_type type) {
    switch (type) {
    case PTX_TYPE_U16:
        return PTX_TYPE_U32;
    case PTX_TYPE_S16:
        return PTX_TYPE_S32;
    case PTX_TYPE_U32:
        return PTX_TYPE_U64;
    default:
        return PTX_TYPE_S64;
    }
}

/* Product of operands 1 and 2: low, high or wide part. */
static uint32_t product(vm_decoder *d, ptx_type type, bool high, bool wide) {
    unsigned bits = ptx_type_bits(type);
    bool sign = vm_decode_signed(type);
    uint32_t a = vm_decode_read(d, 1, type), b = vm_decode_read(d, 2, type);
    if (bits < 32) {
        a = vm_decode_extend(d, a, type);
        b = vm_decode_extend(d, b, type);
        uint32_t full = vm_decode_lane_new(d, VM_LANE_MUL32, a, b, NONE, 0);
        if (wide)
            return full;
        if (high)
            full = vm_decode_lane_new(d, VM_LANE_SHRU32, full, vm_decode_constant(d, 16, false), NONE, 0);
        return vm_decode_lane_new(d, VM_LANE_ZEXT16, full, NONE, NONE, 0);
    }
    if (wide)
        return vm_decode_lane_new(d, sign ? VM_LANE_MULWS32 : VM_LANE_MULWU32, a, b, NONE, 0);
    if (high)
        return vm_decode_lane_new(d,
                                  bits == 64 ? (sign ? VM_LANE_MULHIS64 : VM_LANE_MULHIU64)
                                             : (sign ? VM_LANE_MULHIS32 : VM_LANE_MULHIU32),
                                  a, b, NONE, 0);
    return vm_decode_lane_new(d, bits == 64 ? VM_LANE_MUL64 : VM_LANE_MUL32, a, b, NONE, 0);
}

static void multiply(vm_decoder *d, ptx_type type) {
    bool high = ptx_has(d->instruction, PTX_MOD_HI), wide = ptx_has(d->instruction, PTX_MOD_WIDE);
    ptx_type result = wide ? wide_type(type) : type;
    uint32_t value = product(d, type, high, wide);
    vm_decode_lane(d, vm_decode_rows(result) == 2 ? VM_LANE_MOV64 : VM_LANE_MOV32,
                   vm_decode_write(d, 0, result), value, NONE, NONE, 0);
}

static void multiply_add(vm_decoder *d, ptx_type type) {
    const ptx_instruction *i = d->instruction;
    bool high = ptx_has(i, PTX_MOD_HI), wide = ptx_has(i, PTX_MOD_WIDE), in = i->op == PTX_OP_MADC;
    ptx_type result = wide ? wide_type(type) : type;
    unsigned bits = ptx_type_bits(result);
    if (bits == 32 && !high && !wide && !in && !ptx_has(i, PTX_MOD_CC)) {
        vm_decode_lane(d, VM_LANE_MAD32, vm_decode_write(d, 0, type), vm_decode_read(d, 1, type),
                       vm_decode_read(d, 2, type), vm_decode_read(d, 3, type), 0);
        return;
    }
    uint32_t value = product(d, type, high, wide), c = vm_decode_read(d, 3, result);
    uint32_t to = vm_decode_write(d, 0, result);
    if (ptx_has(i, PTX_MOD_SAT)) { /* mad.hi.sat.s32 */
        value = vm_decode_lane_new(d, VM_LANE_SEXT32, value, NONE, NONE, 0);
        c = vm_decode_lane_new(d, VM_LANE_SEXT32, c, NONE, NONE, 0);
        value = vm_decode_lane_new(d, VM_LANE_ADD64, value, c, NONE, 0);
        value = vm_decode_lane_new(d, VM_LANE_SATURATE64, value, NONE, NONE, 32 | 0x300);
        vm_decode_lane(d, VM_LANE_TRUNC64, to, value, NONE, NONE, 0);
    } else if (in || ptx_has(i, PTX_MOD_CC)) {
        add_carry(d, bits == 64, false, to, value, c, in, ptx_has(i, PTX_MOD_CC));
    } else if (bits == 16) {
        value = vm_decode_lane_new(d, VM_LANE_ADD32, value, c, NONE, 0);
        vm_decode_lane(d, VM_LANE_ZEXT16, to, value, NONE, NONE, 0);
    } else {
        vm_decode_lane(d, bits == 64 ? VM_LANE_ADD64 : VM_LANE_ADD32, to, value, c, NONE, 0);
    }
}

static void multiply24(vm_decoder *d, ptx_type type, bool add) {
    const ptx_instruction *i = d->instruction;
    uint64_t imm = (vm_decode_signed(type) ? 1 : 0) | (ptx_has(i, PTX_MOD_HI) ? 2 : 0);
    uint32_t value = vm_decode_lane_new(d, VM_LANE_MUL24, vm_decode_read(d, 1, type),
                                        vm_decode_read(d, 2, type), NONE, imm);
    uint32_t to = vm_decode_write(d, 0, type);
    if (!add) {
        vm_decode_lane(d, VM_LANE_MOV32, to, value, NONE, NONE, 0);
        return;
    }
    uint32_t c = vm_decode_read(d, 3, type);
    if (ptx_has(i, PTX_MOD_SAT)) {
        value = vm_decode_lane_new(d, VM_LANE_SEXT32, value, NONE, NONE, 0);
        c = vm_decode_lane_new(d, VM_LANE_SEXT32, c, NONE, NONE, 0);
        value = vm_decode_lane_new(d, VM_LANE_ADD64, value, c, NONE, 0);
        value = vm_decode_lane_new(d, VM_LANE_SATURATE64, value, NONE, NONE, 32 | 0x300);
        vm_decode_lane(d, VM_LANE_TRUNC64, to, value, NONE, NONE, 0);
        return;
    }
    vm_decode_lane(d, VM_LANE_ADD32, to, value, c, NONE, 0);
}

static void divide(vm_decoder *d, ptx_type type, bool remainder) {
    bool sign = vm_decode_signed(type);
    const ptx_operand *divisor = vm_decode_operand(d, 2);
    if (divisor != NULL && !(divisor->kind == PTX_OPERAND_IMMEDIATE && divisor->bits != 0)) {
        vm_op *check;
        uint32_t b = vm_decode_read(d, 2, type);
        check = vm_decode_emit(d, VM_CODE_EXTERNAL, VM_EXTERNAL_DIVIDE_CHECK);
        check->a = b;
        check->imm = ptx_type_bits(type) == 64;
    }
    if (remainder)
        by_width(d, type, sign ? VM_LANE_REMS32 : VM_LANE_REMU32, sign ? VM_LANE_REMS64 : VM_LANE_REMU64,
                 true, 2);
    else
        by_width(d, type, sign ? VM_LANE_DIVS32 : VM_LANE_DIVU32, sign ? VM_LANE_DIVS64 : VM_LANE_DIVU64,
                 true, 2);
}

static void minimum(vm_decoder *d, ptx_type type, bool largest) {
    bool sign = vm_decode_signed(type), relu = ptx_has(d->instruction, PTX_MOD_RELU);
    if (type == PTX_TYPE_U16X2 || type == PTX_TYPE_S16X2) {
        uint64_t imm = (largest ? 3 : 2) | (type == PTX_TYPE_S16X2 ? 16 : 0) | (relu ? 32 : 0);
        vm_decode_lane(d, VM_LANE_PACKED16, vm_decode_write(d, 0, type), vm_decode_read(d, 1, type),
                       vm_decode_read(d, 2, type), vm_decode_constant(d, 0, false), imm);
        return;
    }
    if (largest)
        by_width(d, type, sign ? VM_LANE_MAXS32 : VM_LANE_MAXU32, sign ? VM_LANE_MAXS64 : VM_LANE_MAXU64,
                 true, 2);
    else
        by_width(d, type, sign ? VM_LANE_MINS32 : VM_LANE_MINU32, sign ? VM_LANE_MINS64 : VM_LANE_MINU64,
                 true, 2);
    if (relu) {
        uint32_t to = vm_decode_write(d, 0, type);
        vm_decode_lane(d, VM_LANE_MAXS32, to, to, vm_decode_constant(d, 0, false), NONE, 0);
    }
}

static void shift(vm_decoder *d, ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    bool left = d->instruction->op == PTX_OP_SHL, sign = vm_decode_signed(type);
    uint32_t a = vm_decode_read(d, 1, type), n = vm_decode_read(d, 2, PTX_TYPE_U32);
    uint32_t to = vm_decode_write(d, 0, type);
    vm_lane lane32 = left ? VM_LANE_SHL32 : sign ? VM_LANE_SHRS32 : VM_LANE_SHRU32;
    vm_lane lane64 = left ? VM_LANE_SHL64 : sign ? VM_LANE_SHRS64 : VM_LANE_SHRU64;
    if (bits >= 32) {
        vm_decode_lane(d, bits == 64 ? lane64 : lane32, to, a, n, NONE, 0);
        return;
    }
    uint32_t value = vm_decode_lane_new(d, lane32, left ? a : vm_decode_extend(d, a, type), n, NONE, 0);
    vm_decode_lane(d, VM_LANE_ZEXT16, to, value, NONE, NONE, 0);
}

/* and, or, xor, not, also of predicates */
static void logic(vm_decoder *d, ptx_type type, vm_lane predicate, vm_lane lane32, vm_lane lane64,
                  unsigned sources) {
    if (type != PTX_TYPE_PRED) {
        by_width(d, type, lane32, lane64, false, sources);
        return;
    }
    uint32_t a = vm_decode_read(d, 1, type), b = sources > 1 ? vm_decode_read(d, 2, type) : NONE;
    vm_decode_lane(d, predicate, vm_decode_write(d, 0, type), a, b, NONE, 0);
}

/* Counting and bit fields whose result has 32 bits whatever the source. */
static void count_bits(vm_decoder *d, ptx_type type, vm_lane lane32, vm_lane lane64, uint64_t imm) {
    vm_decode_lane(d, ptx_type_bits(type) == 64 ? lane64 : lane32, vm_decode_write(d, 0, PTX_TYPE_U32),
                   vm_decode_read(d, 1, type), NONE, NONE, imm);
}

static void bit_field(vm_decoder *d, ptx_type type) {
    bool wide = ptx_type_bits(type) == 64, sign = vm_decode_signed(type);
    if (d->instruction->op == PTX_OP_BFE) {
        vm_lane lane =
            wide ? (sign ? VM_LANE_BFES64 : VM_LANE_BFEU64) : (sign ? VM_LANE_BFES32 : VM_LANE_BFEU32);
        vm_decode_lane(d, lane, vm_decode_write(d, 0, type), vm_decode_read(d, 1, type),
                       vm_decode_read(d, 2, PTX_TYPE_U32), vm_decode_read(d, 3, PTX_TYPE_U32), 0);
        return;
    }
    uint32_t where = vm_decode_lane_new(d, VM_LANE_BFIPOS, vm_decode_read(d, 3, PTX_TYPE_U32),
                                        vm_decode_read(d, 4, PTX_TYPE_U32), NONE, 0);
    vm_decode_lane(d, wide ? VM_LANE_BFI64 : VM_LANE_BFI32, vm_decode_write(d, 0, type),
                   vm_decode_read(d, 1, type), vm_decode_read(d, 2, type), where, 0);
}

static void logic3(vm_decoder *d) {
    const ptx_operand *table = vm_decode_operand(d, 4), *to = vm_decode_operand(d, 0);
    uint32_t a = vm_decode_read(d, 1, PTX_TYPE_U32), b = vm_decode_read(d, 2, PTX_TYPE_U32);
    uint32_t c = vm_decode_read(d, 3, PTX_TYPE_U32);
    if (table == NULL || table->kind != PTX_OPERAND_IMMEDIATE || to == NULL) {
        vm_decode_unsupported(d);
        return;
    }
    if (to->kind != PTX_OPERAND_PAIR) {
        vm_decode_lane(d, VM_LANE_LOP3, vm_decode_write(d, 0, PTX_TYPE_U32), a, b, c, table->bits & 0xff);
        return;
    }
    /* lop3.BoolOp d|p, ..., q: p = (d != 0) BoolOp q */
    uint32_t value = vm_decode_target(d, &to->args[0], PTX_TYPE_U32);
    vm_decode_lane(d, VM_LANE_LOP3, value, a, b, c, table->bits & 0xff);
    uint32_t set = vm_decode_lane_new(d, VM_LANE_NE32, value, vm_decode_constant(d, 0, false), NONE, 0);
    uint32_t q = vm_decode_read(d, 5, PTX_TYPE_PRED);
    vm_decode_lane(d, ptx_has(d->instruction, PTX_MOD_AND) ? VM_LANE_PAND : VM_LANE_POR,
                   vm_decode_target(d, &to->args[1], PTX_TYPE_PRED), set, q, NONE, 0);
}

static void ternary32(vm_decoder *d, vm_lane lane, uint64_t imm) {
    vm_decode_lane(d, lane, vm_decode_write(d, 0, PTX_TYPE_U32), vm_decode_read(d, 1, PTX_TYPE_U32),
                   vm_decode_read(d, 2, PTX_TYPE_U32), vm_decode_read(d, 3, PTX_TYPE_U32), imm);
}

static uint64_t prmt_mode(const ptx_instruction *i) {
    static const ptx_mod modes[] = {PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8,
                                    PTX_MOD_ECL, PTX_MOD_ECR, PTX_MOD_RC16};
    for (unsigned k = 0; k < 6; k++)
        if (ptx_has(i, modes[k]))
            return k + 1;
    return 0;
}

static void dot(vm_decoder *d, bool two) {
    const ptx_instruction *i = d->instruction;
    uint64_t imm = (i->type == PTX_TYPE_S32 ? 1 : 0) | (i->type2 == PTX_TYPE_S32 ? 2 : 0) |
                   (two && ptx_has(i, PTX_MOD_HI) ? 4 : 0);
    ternary32(d, two ? VM_LANE_DP2A : VM_LANE_DP4A, imm);
}

static bool bit_instruction(vm_decoder *d, ptx_type type) {
    const ptx_instruction *i = d->instruction;
    bool clamp = ptx_has(i, PTX_MOD_CLAMP), sign = vm_decode_signed(type);
    switch (i->op) {
    case PTX_OP_POPC:
        count_bits(d, type, VM_LANE_POPC32, VM_LANE_POPC64, 0);
        return true;
    case PTX_OP_CLZ:
        count_bits(d, type, VM_LANE_CLZ32, VM_LANE_CLZ64, 0);
        return true;
    case PTX_OP_BFIND:
        count_bits(d, type, sign ? VM_LANE_BFINDS32 : VM_LANE_BFINDU32,
                   sign ? VM_LANE_BFINDS64 : VM_LANE_BFINDU64, ptx_has(i, PTX_MOD_SHIFTAMT));
        return true;
    case PTX_OP_BREV:
        by_width(d, type, VM_LANE_BREV32, VM_LANE_BREV64, false, 1);
        return true;
    case PTX_OP_BFE:
    case PTX_OP_BFI:
        bit_field(d, type);
        return true;
    case PTX_OP_FNS:
        ternary32(d, VM_LANE_FNS, 0);
        return true;
    case PTX_OP_BMSK:
    case PTX_OP_SZEXT:
        vm_decode_lane(d, i->op == PTX_OP_BMSK ? VM_LANE_BMSK : VM_LANE_SZEXT,
                       vm_decode_write(d, 0, PTX_TYPE_U32), vm_decode_read(d, 1, PTX_TYPE_U32),
                       vm_decode_read(d, 2, PTX_TYPE_U32), NONE, (clamp ? 1 : 0) | (sign ? 2 : 0));
        return true;
    case PTX_OP_SHF:
        /* shf a, b: a is the low, b the high half */
        ternary32(d, ptx_has(i, PTX_MOD_L) ? VM_LANE_SHFL : VM_LANE_SHFR, clamp);
        return true;
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        shift(d, type);
        return true;
    case PTX_OP_LOP3:
        logic3(d);
        return true;
    case PTX_OP_PRMT:
        ternary32(d, VM_LANE_PRMT, prmt_mode(i));
        return true;
    case PTX_OP_DP4A:
        dot(d, false);
        return true;
    case PTX_OP_DP2A:
        dot(d, true);
        return true;
    case PTX_OP_AND:
        logic(d, type, VM_LANE_PAND, VM_LANE_AND32, VM_LANE_AND64, 2);
        return true;
    case PTX_OP_OR:
        logic(d, type, VM_LANE_POR, VM_LANE_OR32, VM_LANE_OR64, 2);
        return true;
    case PTX_OP_XOR:
        logic(d, type, VM_LANE_PXOR, VM_LANE_XOR32, VM_LANE_XOR64, 2);
        return true;
    case PTX_OP_NOT:
        logic(d, type, VM_LANE_PNOT, VM_LANE_NOT32, VM_LANE_NOT64, 1);
        return true;
    case PTX_OP_CNOT:
        by_width(d, type, VM_LANE_CNOT32, VM_LANE_CNOT64, false, 1);
        return true;
    default:
        return false;
    }
}

static bool integer_type(ptx_type type) {
    return !vm_decode_float(type) && type != PTX_TYPE_F16X2 && type != PTX_TYPE_BF16X2 &&
           type != PTX_TYPE_F32X2;
}

bool vm_decode_integer(vm_decoder *d) {
    const ptx_instruction *i = d->instruction;
    ptx_type type = i->type;
    if (bit_instruction(d, type))
        return true;
    if (!integer_type(type))
        return false;
    switch (i->op) {
    case PTX_OP_ADD:
    case PTX_OP_ADDC:
        add_sub(d, type, false);
        return true;
    case PTX_OP_SUB:
    case PTX_OP_SUBC:
        add_sub(d, type, true);
        return true;
    case PTX_OP_MUL:
        multiply(d, type);
        return true;
    case PTX_OP_MAD:
    case PTX_OP_MADC:
        multiply_add(d, type);
        return true;
    case PTX_OP_MUL24:
        multiply24(d, type, false);
        return true;
    case PTX_OP_MAD24:
        multiply24(d, type, true);
        return true;
    case PTX_OP_DIV:
        divide(d, type, false);
        return true;
    case PTX_OP_REM:
        divide(d, type, true);
        return true;
    case PTX_OP_SAD:
        by_width(d, type, vm_decode_signed(type) ? VM_LANE_SADS32 : VM_LANE_SADU32,
                 vm_decode_signed(type) ? VM_LANE_SADS64 : VM_LANE_SADU64, true, 3);
        return true;
    case PTX_OP_ABS:
        by_width(d, type, VM_LANE_ABS32, VM_LANE_ABS64, true, 1);
        return true;
    case PTX_OP_NEG:
        if (type == PTX_TYPE_S16X2)
            return false;
        by_width(d, type, VM_LANE_NEG32, VM_LANE_NEG64, false, 1);
        return true;
    case PTX_OP_MIN:
        minimum(d, type, false);
        return true;
    case PTX_OP_MAX:
        minimum(d, type, true);
        return true;
    default:
        return false;
    }
}
