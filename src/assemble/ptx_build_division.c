/* SPDX-License-Identifier: Apache-2.0
 * Integer division and remainder: shifts for powers of two, multiplication by a reciprocal for other
 * constants, div and rem otherwise. Must not know expressions.
 *
 * Reciprocals: for a divisor d and dividends n < 2^b, with p = b + ceil(log2 d) and M = ceil(2^p / d), the
 * error M * d - 2^p is below d <= 2^(p - b), so n * M / 2^p exceeds n / d by less than 1 / d and the floor is
 * right. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

typedef struct division {
    ptx_builder *b;
    const ptx_operand *want;
    ptx_build_class class;
    ptx_mod exact, wrapping, bits; /* e.g. .u32, .s32, .b32 */
    bool is_signed;
    unsigned width;
    ir_op op;
} division;

static ptx_operand step(division *d, ptx_op op, ptx_mod mod, ptx_operand x, ptx_operand y) {
    return ptx_build_compute(d->b, d->class, op, PTX_MODS(mod), PTX_ARGS(x, y));
}

/* The last step of a sequence may leave its result where it is wanted. */
static ptx_operand last(division *d, ptx_op op, ptx_mod mod, ptx_operand x, ptx_operand y) {
    d->b->want = d->want;
    return step(d, op, mod, x, y);
}

static ptx_operand multiply_add(division *d, ptx_operand x, ptx_operand y, ptx_operand z) {
    return ptx_build_compute(d->b, d->class, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, d->wrapping),
                             PTX_ARGS(x, y, z));
}

static ptx_operand multiply_high(division *d, ptx_operand x, uint64_t factor) {
    return ptx_build_compute(d->b, d->class, PTX_OP_MUL, PTX_MODS(PTX_MOD_HI, PTX_MOD_U32),
                             PTX_ARGS(x, ptx_build_int((int64_t)factor)));
}

static bool gives_quotient(const division *d) {
    return d->op == IR_FLOORDIV || d->op == IR_TRUNCDIV;
}

static bool rounds_down(const division *d) {
    return d->op == IR_FLOORDIV || d->op == IR_FLOORMOD;
}

/* x - quotient * divisor, or the quotient itself. */
static ptx_operand finish(division *d, ptx_operand x, ptx_operand quotient, int64_t divisor) {
    if (gives_quotient(d)) {
        d->b->want = d->want;
        ptx_operand result = ptx_build_result(d->b, d->class);
        ptx_build_move(d->b, d->class, result, quotient);
        return result;
    }
    d->b->want = d->want;
    return multiply_add(d, quotient, ptx_build_int(-divisor), x);
}

static ptx_operand by_power_of_two(division *d, ptx_operand x, int64_t divisor, bool non_negative) {
    int64_t shift = __builtin_ctzll((uint64_t)divisor);
    ptx_operand mask = ptx_build_int(divisor - 1), count = ptx_build_int(shift);
    if (rounds_down(d) || non_negative || !d->is_signed) {
        if (gives_quotient(d))
            return last(d, PTX_OP_SHR, d->exact, x, count);
        return last(d, PTX_OP_AND, d->bits, x, mask);
    }
    /* Toward zero: negative dividends get divisor - 1 first. */
    ptx_mod logical = d->class == PTX_CLASS_R64 ? PTX_MOD_U64 : PTX_MOD_U32;
    int64_t width = d->class == PTX_CLASS_R64 ? 64 : 32;
    ptx_operand bias = step(d, PTX_OP_SHR, d->exact, x, ptx_build_int(width - 1));
    bias = step(d, PTX_OP_SHR, logical, bias, ptx_build_int(width - shift));
    bias = step(d, PTX_OP_ADD, d->wrapping, x, bias);
    if (gives_quotient(d))
        return last(d, PTX_OP_SHR, d->exact, bias, count);
    bias = step(d, PTX_OP_AND, d->bits, bias, ptx_build_int(-divisor));
    return last(d, PTX_OP_SUB, d->wrapping, x, bias);
}

/* Quotient of an unsigned dividend below 2^31 (or at most 2^31, which the bound of the file's head covers).
 */
static ptx_operand small_quotient(division *d, ptx_operand x, uint64_t divisor) {
    unsigned log = 64 - (unsigned)__builtin_clzll(divisor - 1);
    uint64_t power = UINT64_C(1) << (31 + log), factor = power / divisor + (power % divisor != 0);
    ptx_operand high = multiply_high(d, x, factor);
    return log > 1 ? step(d, PTX_OP_SHR, PTX_MOD_U32, high, ptx_build_int((int64_t)log - 1)) : high;
}

/* Any uint32 dividend: the factor has 33 bits; its top bit is added by halves. */
static ptx_operand full_quotient(division *d, ptx_operand x, uint64_t divisor) {
    unsigned log = 64 - (unsigned)__builtin_clzll(divisor - 1);
    unsigned __int128 power = (unsigned __int128)1 << (32 + log);
    uint64_t factor = (uint64_t)((power + divisor - 1) / divisor) & UINT32_MAX;
    ptx_operand high = multiply_high(d, x, factor);
    ptx_operand half = step(d, PTX_OP_SUB, PTX_MOD_S32, x, high);
    half = step(d, PTX_OP_SHR, PTX_MOD_U32, half, ptx_build_int(1));
    half = step(d, PTX_OP_ADD, PTX_MOD_S32, half, high);
    return log > 1 ? step(d, PTX_OP_SHR, PTX_MOD_U32, half, ptx_build_int((int64_t)log - 1)) : half;
}

static ptx_operand by_constant(division *d, ptx_operand x, int64_t divisor, bool non_negative) {
    if (non_negative || (!d->is_signed && d->width < 32))
        return finish(d, x, small_quotient(d, x, (uint64_t)divisor), divisor);
    if (!d->is_signed)
        return finish(d, x, full_quotient(d, x, (uint64_t)divisor), divisor);
    ptx_operand sign = step(d, PTX_OP_SHR, PTX_MOD_S32, x, ptx_build_int(31));
    if (rounds_down(d)) { /* floor(n / d) = ~(~n / d) for negative n */
        ptx_operand quotient = step(d, PTX_OP_XOR, PTX_MOD_B32, x, sign);
        quotient = small_quotient(d, quotient, (uint64_t)divisor);
        return finish(d, x, step(d, PTX_OP_XOR, PTX_MOD_B32, quotient, sign), divisor);
    }
    ptx_operand magnitude = ptx_build_compute(d->b, d->class, PTX_OP_ABS, PTX_MODS(PTX_MOD_S32), PTX_ARGS(x));
    ptx_operand quotient = small_quotient(d, magnitude, (uint64_t)divisor);
    quotient = step(d, PTX_OP_XOR, PTX_MOD_B32, quotient, sign);
    return finish(d, x, step(d, PTX_OP_SUB, PTX_MOD_S32, quotient, sign), divisor);
}

static ptx_operand in_general(division *d, ptx_operand x, ptx_operand y, bool non_negative, bool positive) {
    ptx_builder *b = d->b;
    if (!d->is_signed || !rounds_down(d) || (non_negative && positive))
        return last(d, gives_quotient(d) ? PTX_OP_DIV : PTX_OP_REM, d->exact, x, y);
    y = ptx_build_in_register(b, d->class, y);
    ptx_operand zero = ptx_build_int(0), quotient = zero, remainder;
    if (gives_quotient(d)) {
        quotient = step(d, PTX_OP_DIV, d->exact, x, y);
        remainder = ptx_build_compute(b, d->class, PTX_OP_MUL, PTX_MODS(PTX_MOD_LO, d->wrapping),
                                      PTX_ARGS(quotient, y));
        remainder = step(d, PTX_OP_SUB, d->wrapping, x, remainder);
    } else {
        remainder = step(d, PTX_OP_REM, d->exact, x, y);
    }
    /* One too high where a remainder has not the divisor's sign. */
    ptx_operand off;
    if (positive) {
        off = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_LT, d->exact),
                                PTX_ARGS(remainder, zero));
    } else {
        ptx_operand signs = step(d, PTX_OP_XOR, d->bits, remainder, y);
        off = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_NE, d->exact),
                                PTX_ARGS(remainder, zero));
        off = ptx_build_compute(b, PTX_CLASS_PRED, PTX_OP_SETP, PTX_MODS(PTX_MOD_LT, PTX_MOD_AND, d->exact),
                                PTX_ARGS(signs, zero, off));
    }
    ptx_operand change = gives_quotient(d) ? ptx_build_int(-1) : y;
    change = ptx_build_compute(b, d->class, PTX_OP_SELP, PTX_MODS(d->bits), PTX_ARGS(change, zero, off));
    return last(d, PTX_OP_ADD, d->wrapping, gives_quotient(d) ? quotient : remainder, change);
}

ptx_operand ptx_build_divide(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y,
                             bool known_non_negative, bool positive_divisor) {
    division d = {.b = b, .want = b->want, .op = op, .class = ptx_build_class_of(type)};
    bool wide = d.class == PTX_CLASS_R64;
    d.width = num_dtype_bits(type.dtype);
    d.is_signed = num_dtype_class(type.dtype) == NUM_SIGNED;
    d.wrapping = wide ? PTX_MOD_S64 : PTX_MOD_S32;
    d.exact = d.is_signed ? d.wrapping : wide ? PTX_MOD_U64 : PTX_MOD_U32;
    d.bits = wide ? PTX_MOD_B64 : PTX_MOD_B32;
    b->want = NULL;
    int64_t divisor = ptx_build_is_immediate(y) ? (int64_t)y.bits : 0;
    x = ptx_build_in_register(b, d.class, x);
    if (divisor == 1)
        return gives_quotient(&d) ? x : ptx_build_int(0);
    if (divisor > 1 && !(divisor & (divisor - 1)))
        return by_power_of_two(&d, x, divisor, known_non_negative);
    if (divisor > 1 && !wide)
        return by_constant(&d, x, divisor, known_non_negative);
    ptx_operand result = in_general(&d, x, y, known_non_negative, positive_divisor);
    /* minimum / -1 leaves the range of 8- and 16-bit types. */
    return d.is_signed && d.width < 32 && gives_quotient(&d) ? ptx_build_wrap(b, type.dtype, result) : result;
}
