/* SPDX-License-Identifier: Apache-2.0
 * One lane of arithmetic, comparison and selection as PTX instructions. Float operations always carry .rn:
 * without it ptxas may contract them (PTX ISA, "Floating Point Instructions"). Must not know expressions. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

static const ir_type f32_type = {.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_F32, .lanes = 1};

/* Types that PTX does arithmetic in; 8- and 16-bit integers are extended to 32 bits. */
static ptx_mod type_mod(ir_type type) {
    switch ((num_dtype)type.dtype) {
    case NUM_DTYPE_I64:
        return PTX_MOD_S64;
    case NUM_DTYPE_U64:
        return PTX_MOD_U64;
    case NUM_DTYPE_F16:
        return PTX_MOD_F16;
    case NUM_DTYPE_BF16:
        return PTX_MOD_BF16;
    case NUM_DTYPE_F64:
        return PTX_MOD_F64;
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return PTX_MOD_F32;
    default:
        return num_dtype_class(type.dtype) == NUM_SIGNED ? PTX_MOD_S32 : PTX_MOD_U32;
    }
}

static bool is_narrow(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_is_integer(type.dtype) && num_dtype_bits(type.dtype) < 32;
}

static bool is_pointer(ir_type type) {
    return type.kind != IR_TYPE_PRIM;
}

/* Floats without arithmetic of their own go through float32 and are rounded once more. */
static bool goes_through_f32(ir_type type, ir_op op) {
    ptx_build_class class = ptx_build_class_of(type);
    if (class == PTX_CLASS_BYTE || type.dtype == NUM_DTYPE_TF32)
        return true;
    if (class != PTX_CLASS_HALF)
        return false;
    bool rounds = op == IR_FLOOR || op == IR_CEIL || op == IR_TRUNC || op == IR_ROUND;
    return op == IR_DIV || op == IR_SQRT || rounds;
}

ptx_operand ptx_build_wrap(ptx_builder *b, num_dtype dtype, ptx_operand x) {
    if (ptx_build_is_immediate(x))
        return ptx_build_int(num_wrap(dtype, (int64_t)x.bits));
    switch (dtype) {
    case NUM_DTYPE_I8:
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_S32, PTX_MOD_S8),
                                 PTX_ARGS(x));
    case NUM_DTYPE_I16:
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_S32, PTX_MOD_S16),
                                 PTX_ARGS(x));
    case NUM_DTYPE_U8:
    case NUM_DTYPE_U16:
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_AND, PTX_MODS(PTX_MOD_B32),
                                 PTX_ARGS(x, ptx_build_int(dtype == NUM_DTYPE_U8 ? 255 : 65535)));
    default:
        return x;
    }
}

ptx_operand ptx_build_as_predicate(ptx_builder *b, ptx_operand x) {
    if (!ptx_build_is_immediate(x))
        return x;
    return ptx_build_constant(b, PTX_CLASS_PRED, ptx_build_int(x.bits ? 1 : 0));
}

static ptx_operand predicate_binary(ptx_builder *b, ir_op op, ptx_operand x, ptx_operand y) {
    x = ptx_build_as_predicate(b, x), y = ptx_build_as_predicate(b, y);
    ptx_op code = op == IR_AND || op == IR_BITAND || op == IR_MUL || op == IR_MIN ? PTX_OP_AND
                  : op == IR_OR || op == IR_BITOR || op == IR_ADD || op == IR_MAX ? PTX_OP_OR
                                                                                  : PTX_OP_XOR;
    return ptx_build_compute(b, PTX_CLASS_PRED, code, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(x, y));
}

/* Shift counts are 32-bit and clamp at the width (PTX ISA, shl and shr), which is what the language says. */
static ptx_operand shift_count(ptx_builder *b, ir_type type, ptx_operand y) {
    if (ptx_build_class_of(type) != PTX_CLASS_R64 || ptx_build_is_immediate(y))
        return y;
    const ptx_operand *want = b->want;
    b->want = NULL;
    y = ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MIN, PTX_MODS(PTX_MOD_U64),
                          PTX_ARGS(y, ptx_build_int(64)));
    y = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_CVT, PTX_MODS(PTX_MOD_U32, PTX_MOD_U64), PTX_ARGS(y));
    b->want = want;
    return y;
}

static bool swaps(ir_op op) {
    return op == IR_ADD || op == IR_MUL || op == IR_MIN || op == IR_MAX || op == IR_BITAND ||
           op == IR_BITOR || op == IR_BITXOR;
}

static ptx_operand integer_binary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y) {
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod mod = type_mod(type), bits = ptx_build_bits_mod(class);
    ptx_mod wrapping = class == PTX_CLASS_R64 ? PTX_MOD_S64 : PTX_MOD_S32;
    if (swaps(op) && ptx_build_is_immediate(x) && !ptx_build_is_immediate(y)) {
        ptx_operand swap = x;
        x = y, y = swap;
    }
    switch (op) {
    case IR_ADD:
        return ptx_build_compute(b, class, PTX_OP_ADD, PTX_MODS(wrapping), PTX_ARGS(x, y));
    case IR_SUB:
        if (ptx_build_is_immediate(y) && (int64_t)y.bits != INT64_MIN)
            return ptx_build_compute(b, class, PTX_OP_ADD, PTX_MODS(wrapping),
                                     PTX_ARGS(x, ptx_build_int(num_wrap(type.dtype, -(int64_t)y.bits))));
        return ptx_build_compute(b, class, PTX_OP_SUB, PTX_MODS(wrapping), PTX_ARGS(x, y));
    case IR_MUL:
        if (ptx_build_is_immediate(y) && (int64_t)y.bits > 0 && !(y.bits & (y.bits - 1)))
            return ptx_build_compute(b, class, PTX_OP_SHL, PTX_MODS(bits),
                                     PTX_ARGS(x, ptx_build_int(__builtin_ctzll(y.bits))));
        return ptx_build_compute(b, class, PTX_OP_MUL, PTX_MODS(PTX_MOD_LO, wrapping), PTX_ARGS(x, y));
    case IR_MIN:
        return ptx_build_compute(b, class, PTX_OP_MIN, PTX_MODS(mod), PTX_ARGS(x, y));
    case IR_MAX:
        return ptx_build_compute(b, class, PTX_OP_MAX, PTX_MODS(mod), PTX_ARGS(x, y));
    case IR_BITAND:
        return ptx_build_compute(b, class, PTX_OP_AND, PTX_MODS(bits), PTX_ARGS(x, y));
    case IR_BITOR:
        return ptx_build_compute(b, class, PTX_OP_OR, PTX_MODS(bits), PTX_ARGS(x, y));
    case IR_BITXOR:
        return ptx_build_compute(b, class, PTX_OP_XOR, PTX_MODS(bits), PTX_ARGS(x, y));
    case IR_SHL:
        return ptx_build_compute(b, class, PTX_OP_SHL, PTX_MODS(bits), PTX_ARGS(x, shift_count(b, type, y)));
    case IR_SHR:
        return ptx_build_compute(b, class, PTX_OP_SHR, PTX_MODS(mod), PTX_ARGS(x, shift_count(b, type, y)));
    default:
        ptx_build_error(b, "T0650", "operation %s on %s has no PTX form: this is a bug in tirc",
                        ir_op_information(op)->name, num_dtype_name(type.dtype));
        return x;
    }
}

static bool is_one(ptx_operand x) {
    if (!ptx_build_is_immediate(x))
        return false;
    return (x.immediate == PTX_IMMEDIATE_F32 && x.bits == UINT32_C(0x3f800000)) ||
           (x.immediate == PTX_IMMEDIATE_F64 && x.bits == UINT64_C(0x3ff0000000000000));
}

static ptx_operand float_binary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y) {
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod mod = type_mod(type);
    switch (op) {
    case IR_ADD:
        return ptx_build_compute(b, class, PTX_OP_ADD, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(x, y));
    case IR_SUB:
        return ptx_build_compute(b, class, PTX_OP_SUB, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(x, y));
    case IR_MUL:
        return ptx_build_compute(b, class, PTX_OP_MUL, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(x, y));
    case IR_DIV:
        if (is_one(x)) /* the same number, rounded once, by a shorter way */
            return ptx_build_compute(b, class, PTX_OP_RCP, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(y));
        return ptx_build_compute(b, class, PTX_OP_DIV, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(x, y));
    case IR_MIN:
        return ptx_build_compute(b, class, PTX_OP_MIN, PTX_MODS(mod), PTX_ARGS(x, y));
    case IR_MAX:
        return ptx_build_compute(b, class, PTX_OP_MAX, PTX_MODS(mod), PTX_ARGS(x, y));
    default:
        ptx_build_error(b, "T0650", "operation %s on %s has no PTX form: this is a bug in tirc",
                        ir_op_information(op)->name, num_dtype_name(type.dtype));
        return x;
    }
}

ptx_operand ptx_build_binary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y) {
    const ptx_operand *want = b->want;
    if (ir_type_is_bool(type))
        return predicate_binary(b, op, x, y);
    if (is_pointer(type) || num_dtype_is_integer(type.dtype)) {
        if (!is_narrow(type))
            return integer_binary(b, op, type, x, y);
        b->want = NULL;
        ptx_operand wide = integer_binary(b, op, type, x, y);
        b->want = want;
        bool stays = op == IR_MIN || op == IR_MAX || op == IR_BITAND || op == IR_BITOR || op == IR_BITXOR ||
                     op == IR_SHR;
        return stays ? wide : ptx_build_wrap(b, type.dtype, wide);
    }
    if (!goes_through_f32(type, op))
        return float_binary(b, op, type, x, y);
    b->want = NULL;
    x = ptx_build_cast(b, f32_type, type, x), y = ptx_build_cast(b, f32_type, type, y);
    ptx_operand wide = float_binary(b, op, f32_type, x, y);
    b->want = want;
    return ptx_build_cast(b, type, f32_type, wide);
}

ptx_operand ptx_build_fma(ptx_builder *b, ir_type type, ptx_operand x, ptx_operand y, ptx_operand z) {
    const ptx_operand *want = b->want;
    if (num_dtype_is_float(type.dtype)) {
        if (!goes_through_f32(type, IR_FMA))
            return ptx_build_compute(b, ptx_build_class_of(type), PTX_OP_FMA,
                                     PTX_MODS(PTX_MOD_RN, type_mod(type)), PTX_ARGS(x, y, z));
        b->want = NULL;
        x = ptx_build_cast(b, f32_type, type, x), y = ptx_build_cast(b, f32_type, type, y);
        ptx_operand wide = ptx_build_fma(b, f32_type, x, y, ptx_build_cast(b, f32_type, type, z));
        b->want = want;
        return ptx_build_cast(b, type, f32_type, wide);
    }
    if (ptx_build_is_immediate(x)) {
        ptx_operand swap = x;
        x = y, y = swap;
    }
    if (is_narrow(type))
        b->want = NULL;
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod mod = class == PTX_CLASS_R64 ? PTX_MOD_S64 : PTX_MOD_S32;
    ptx_operand sum = ptx_build_compute(b, class, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, mod), PTX_ARGS(x, y, z));
    if (!is_narrow(type))
        return sum;
    b->want = want;
    return ptx_build_wrap(b, type.dtype, sum);
}

static ptx_operand count_bits(ptx_builder *b, ir_op op, ir_type type, ptx_operand x) {
    const ptx_operand *want = b->want;
    unsigned width = num_dtype_bits(type.dtype);
    ptx_op code = op == IR_CLZ ? PTX_OP_CLZ : PTX_OP_POPC;
    ptx_build_class class = ptx_build_class_of(type);
    if (width == 32)
        return ptx_build_compute(b, PTX_CLASS_R32, code, PTX_MODS(PTX_MOD_B32), PTX_ARGS(x));
    b->want = NULL;
    x = ptx_build_in_register(b, class, x);
    if (width < 32 && num_dtype_class(type.dtype) == NUM_SIGNED)
        x = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_AND, PTX_MODS(PTX_MOD_B32),
                              PTX_ARGS(x, ptx_build_int(width == 8 ? 255 : 65535)));
    ptx_operand count =
        ptx_build_compute(b, PTX_CLASS_R32, code, PTX_MODS(ptx_build_bits_mod(class)), PTX_ARGS(x));
    b->want = want;
    if (width == 64)
        return ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_CVT, PTX_MODS(PTX_MOD_U64, PTX_MOD_U32),
                                 PTX_ARGS(count));
    if (op == IR_CLZ)
        return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_ADD, PTX_MODS(PTX_MOD_S32),
                                 PTX_ARGS(count, ptx_build_int((int64_t)width - 32)));
    return count;
}

static ptx_operand integer_unary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x) {
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod wrapping = class == PTX_CLASS_R64 ? PTX_MOD_S64 : PTX_MOD_S32;
    const ptx_operand *want = b->want;
    if (op == IR_POPCOUNT || op == IR_CLZ)
        return count_bits(b, op, type, x);
    if (op == IR_ABS && num_dtype_class(type.dtype) == NUM_UNSIGNED)
        return x;
    bool rounding = op == IR_FLOOR || op == IR_CEIL || op == IR_TRUNC || op == IR_ROUND;
    if (rounding)
        return x;
    if (is_narrow(type))
        b->want = NULL;
    ptx_operand wide;
    if (op == IR_BITNOT)
        wide = ptx_build_compute(b, class, PTX_OP_NOT, PTX_MODS(ptx_build_bits_mod(class)), PTX_ARGS(x));
    else
        wide = ptx_build_compute(b, class, op == IR_ABS ? PTX_OP_ABS : PTX_OP_NEG, PTX_MODS(wrapping),
                                 PTX_ARGS(x));
    if (!is_narrow(type))
        return wide;
    b->want = want;
    return ptx_build_wrap(b, type.dtype, wide);
}

static ptx_operand infinity_of(ptx_builder *b, ir_type type) {
    switch (ptx_build_class_of(type)) {
    case PTX_CLASS_F64:
        return ptx_build_f64_bits(UINT64_C(0x7ff0000000000000));
    case PTX_CLASS_F32:
        return ptx_build_f32_bits(0x7f800000);
    default:
        return ptx_build_constant(b, PTX_CLASS_HALF,
                                  ptx_build_int(type.dtype == NUM_DTYPE_F16 ? 0x7c00 : 0x7f80));
    }
}

static ptx_operand float_test(ptx_builder *b, ir_op op, ir_type type, ptx_operand x) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    ptx_build_class class = ptx_build_class_of(type);
    x = ptx_build_in_register(b, class, x);
    if (op == IR_ISINF)
        x = ptx_build_compute(b, class, PTX_OP_ABS, PTX_MODS(type_mod(type)), PTX_ARGS(x));
    ptx_operand other = op == IR_ISINF ? infinity_of(b, type) : x;
    b->want = want;
    return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP,
                             PTX_MODS(op == IR_ISINF ? PTX_MOD_EQ : PTX_MOD_NAN, type_mod(type)),
                             PTX_ARGS(x, other));
}

static ptx_operand float_unary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x) {
    ptx_build_class class = ptx_build_class_of(type);
    ptx_mod mod = type_mod(type);
    switch (op) {
    case IR_NEG:
        return ptx_build_compute(b, class, PTX_OP_NEG, PTX_MODS(mod), PTX_ARGS(x));
    case IR_ABS:
        return ptx_build_compute(b, class, PTX_OP_ABS, PTX_MODS(mod), PTX_ARGS(x));
    case IR_FLOOR:
        return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RMI, mod, mod), PTX_ARGS(x));
    case IR_CEIL:
        return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RPI, mod, mod), PTX_ARGS(x));
    case IR_TRUNC:
        return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RZI, mod, mod), PTX_ARGS(x));
    case IR_ROUND:
        return ptx_build_compute(b, class, PTX_OP_CVT, PTX_MODS(PTX_MOD_RNI, mod, mod), PTX_ARGS(x));
    case IR_SQRT:
        return ptx_build_compute(b, class, PTX_OP_SQRT, PTX_MODS(PTX_MOD_RN, mod), PTX_ARGS(x));
    default:
        ptx_build_error(b, "T0650", "operation %s on %s has no PTX form: this is a bug in tirc",
                        ir_op_information(op)->name, num_dtype_name(type.dtype));
        return x;
    }
}

ptx_operand ptx_build_unary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x) {
    const ptx_operand *want = b->want;
    if (ir_type_is_bool(type))
        return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_NOT, PTX_MODS(PTX_MOD_PRED),
                                 PTX_ARGS(ptx_build_as_predicate(b, x)));
    if (num_dtype_is_integer(type.dtype))
        return integer_unary(b, op, type, x);
    bool tests = op == IR_ISNAN || op == IR_ISINF;
    if (!goes_through_f32(type, op))
        return tests ? float_test(b, op, type, x) : float_unary(b, op, type, x);
    b->want = NULL;
    x = ptx_build_cast(b, f32_type, type, x);
    if (tests) {
        b->want = want;
        return float_test(b, op, f32_type, x);
    }
    ptx_operand wide = float_unary(b, op, f32_type, x);
    b->want = want;
    return ptx_build_cast(b, type, f32_type, wide);
}

/* false < true */
static ptx_operand compare_predicates(ptx_builder *b, ir_op op, ptx_operand x, ptx_operand y) {
    const ptx_operand *want = b->want;
    if (op == IR_NE)
        return predicate_binary(b, IR_BITXOR, x, y);
    if (op == IR_GT || op == IR_GE) {
        ptx_operand swap = x;
        x = y, y = swap;
        op = op == IR_GT ? IR_LT : IR_LE;
    }
    b->want = NULL;
    x = ptx_build_unary(b, IR_NOT, (ir_type){.kind = IR_TYPE_PRIM, .dtype = NUM_DTYPE_BOOL, .lanes = 1}, x);
    b->want = want;
    /* x == y: not x differs from y; x < y: not x and y; x <= y: not x or y. */
    return predicate_binary(b, op == IR_EQ ? IR_BITXOR : op == IR_LT ? IR_AND : IR_OR, x, y);
}

ptx_operand ptx_build_compare(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y) {
    static const ptx_mod comparisons[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_LT,
                                          PTX_MOD_LE, PTX_MOD_GT, PTX_MOD_GE};
    ptx_mod comparison = comparisons[op - IR_EQ];
    const ptx_operand *want = b->want;
    if (is_pointer(type)) {
        ptx_mod bits = ptx_build_class_of(type) == PTX_CLASS_R64 ? PTX_MOD_U64 : PTX_MOD_U32;
        return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(comparison, bits), PTX_ARGS(x, y));
    }
    if (ir_type_is_bool(type))
        return compare_predicates(b, op, x, y);
    if (ptx_build_class_of(type) == PTX_CLASS_BYTE) {
        b->want = NULL;
        x = ptx_build_cast(b, f32_type, type, x), y = ptx_build_cast(b, f32_type, type, y);
        b->want = want;
        type = f32_type;
    }
    if (ptx_build_is_immediate(x) && !ptx_build_is_immediate(y)) { /* 3 < y is y > 3, without a register */
        static const ptx_mod turned[] = {PTX_MOD_EQ, PTX_MOD_NE, PTX_MOD_GT,
                                         PTX_MOD_GE, PTX_MOD_LT, PTX_MOD_LE};
        ptx_operand swap = x;
        x = y, y = swap;
        comparison = turned[op - IR_EQ];
    }
    if (ir_type_is_float(type) && op == IR_NE)
        comparison = PTX_MOD_NEU;
    x = ptx_build_in_register(b, ptx_build_class_of(type), x);
    return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(comparison, type_mod(type)),
                             PTX_ARGS(x, y));
}

static ptx_operand select_predicate(ptx_builder *b, ptx_operand p, ptx_operand x, ptx_operand y) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    x = ptx_build_as_predicate(b, x), y = ptx_build_as_predicate(b, y);
    ptx_operand first =
        ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_AND, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(x, p));
    ptx_operand other = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_NOT, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(p));
    other = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_AND, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(y, other));
    b->want = want;
    return ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_OR, PTX_MODS(PTX_MOD_PRED), PTX_ARGS(first, other));
}

ptx_operand ptx_build_select(ptx_builder *b, ir_type type, ptx_operand predicate, ptx_operand x,
                             ptx_operand y) {
    ptx_build_class class = ptx_build_class_of(type);
    if (class == PTX_CLASS_PRED)
        return select_predicate(b, predicate, x, y);
    return ptx_build_compute(b, class, PTX_OP_SELP, PTX_MODS(ptx_build_bits_mod(class)),
                             PTX_ARGS(x, y, predicate));
}
