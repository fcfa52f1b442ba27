/* SPDX-License-Identifier: Apache-2.0
 * The folding constructors. A rule stands here only when it holds for every input: integers wrap, so sums and
 * products of constants may join; floats are never reordered, and -0.0 and NaN keep their meaning. An
 * operand is dropped only when it has no effect. */
#include "ir/ir_private.h"
#include <math.h>

/* A scalar or broadcast integer constant. */
static bool integer_constant(const ir_expr *e, int64_t *value) {
    const ir_expr *constant = ir_constant(e);
    return constant && constant->op == IR_INT && ir_is_int(constant, value);
}

static bool integer_is(const ir_expr *e, int64_t value) {
    int64_t constant;
    return integer_constant(e, &constant) && constant == value;
}

/* This float constant, sign of zero included. */
static bool real_is(const ir_expr *e, double value) {
    const ir_expr *constant = ir_constant(e);
    return constant && constant->op == IR_FLOAT && constant->at.real == value &&
           signbit(constant->at.real) == signbit(value);
}

static const ir_expr *constant_like(ir_module *module, ir_type type, int64_t value) {
    const ir_expr *e = ir_int(module, (num_dtype)type.dtype, value);
    return type.lanes == 1 ? e : ir_make(module, IR_BROADCAST, type, &e, 1);
}

/* The same value each time it is evaluated within one statement, and free to drop. */
static bool steady(const ir_expr *e) {
    return !ir_expr_reads(e);
}

/* ---- sums and products of integers ---- */

/* e = base + delta, for e a sum or difference with a constant. */
static bool split_sum(const ir_expr *e, const ir_expr **base, uint64_t *delta) {
    int64_t constant;
    if (e->op == IR_ADD && integer_constant(e->args[1], &constant)) {
        *base = e->args[0];
        *delta = (uint64_t)constant;
    } else if (e->op == IR_ADD && integer_constant(e->args[0], &constant)) {
        *base = e->args[1];
        *delta = (uint64_t)constant;
    } else if (e->op == IR_SUB && integer_constant(e->args[1], &constant)) {
        *base = e->args[0];
        *delta = 0 - (uint64_t)constant;
    } else {
        return false;
    }
    return true;
}

/* base + delta modulo the width, written as a person would: x - 3, not x + -3. */
static const ir_expr *join_sum(ir_module *module, ir_type type, const ir_expr *base, uint64_t delta) {
    num_dtype dtype = (num_dtype)type.dtype;
    unsigned unused = 64 - num_dtype_bits(dtype);
    int64_t distance = (int64_t)(delta << unused) >> unused;
    int64_t lowest = (int64_t)(UINT64_C(1) << 63) >> unused;
    if (distance == 0)
        return base;
    bool down = distance < 0 && distance != lowest;
    const ir_expr *args[] = {base, constant_like(module, type, down ? -distance : distance)};
    return ir_make(module, down ? IR_SUB : IR_ADD, type, args, 2);
}

static const ir_expr *fold_integer_sum(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b) {
    const ir_expr *base;
    uint64_t delta;
    int64_t constant;
    if (integer_is(b, 0))
        return a;
    if (op == IR_ADD && integer_is(a, 0))
        return b;
    if (op == IR_SUB && a == b && steady(a))
        return constant_like(module, a->type, 0);
    if (op == IR_ADD && b->op == IR_SUB && b->args[1] == a &&
        steady(a)) /* the end of a loop: start + extent */
        return b->args[0];
    if (op == IR_ADD && a->op == IR_SUB && a->args[1] == b && steady(b))
        return a->args[0];
    if (integer_constant(b, &constant) && split_sum(a, &base, &delta))
        return join_sum(module, a->type, base,
                        op == IR_ADD ? delta + (uint64_t)constant : delta - (uint64_t)constant);
    return NULL;
}

static const ir_expr *fold_integer_product(ir_module *module, const ir_expr *a, const ir_expr *b) {
    int64_t outer, inner;
    if (integer_is(b, 1))
        return a;
    if (integer_is(a, 1))
        return b;
    if ((integer_is(b, 0) && !ir_expr_has_effect(a)) || (integer_is(a, 0) && !ir_expr_has_effect(b)))
        return constant_like(module, a->type, 0);
    if (a->op == IR_MUL && integer_constant(b, &outer) && integer_constant(a->args[1], &inner)) {
        const ir_expr *c = constant_like(module, a->type, (int64_t)((uint64_t)outer * (uint64_t)inner));
        return ir_binary(module, IR_MUL, a->args[0], c);
    }
    return NULL;
}

static const ir_expr *fold_bits(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b) {
    int64_t zero = 0, ones = num_wrap((num_dtype)a->type.dtype, -1);
    if (op == IR_SHL || op == IR_SHR)
        return integer_is(b, 0) ? a : NULL;
    int64_t neutral = op == IR_BITAND ? ones : zero;
    if (integer_is(b, neutral))
        return a;
    if (integer_is(a, neutral))
        return b;
    if (op == IR_BITAND &&
        ((integer_is(b, zero) && !ir_expr_has_effect(a)) || (integer_is(a, zero) && !ir_expr_has_effect(b))))
        return constant_like(module, a->type, 0);
    return NULL;
}

static const ir_expr *fold_integer(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b) {
    switch (op) {
    case IR_ADD:
    case IR_SUB:
        return fold_integer_sum(module, op, a, b);
    case IR_MUL:
        return fold_integer_product(module, a, b);
    case IR_FLOORDIV:
    case IR_TRUNCDIV:
        return integer_is(b, 1) ? a : NULL;
    case IR_FLOORMOD:
    case IR_TRUNCMOD:
        return integer_is(b, 1) && !ir_expr_has_effect(a) ? constant_like(module, a->type, 0) : NULL;
    case IR_MIN:
    case IR_MAX:
        return a == b && steady(a) ? a : NULL;
    case IR_BITAND:
    case IR_BITOR:
    case IR_BITXOR:
    case IR_SHL:
    case IR_SHR:
        return fold_bits(module, op, a, b);
    case IR_EQ:
    case IR_LE:
    case IR_GE:
        return a == b && steady(a) ? constant_like(module, ir_type_prim(NUM_DTYPE_BOOL, a->type.lanes), 1)
                                   : NULL;
    case IR_NE:
    case IR_LT:
    case IR_GT:
        return a == b && steady(a) ? constant_like(module, ir_type_prim(NUM_DTYPE_BOOL, a->type.lanes), 0)
                                   : NULL;
    default:
        return NULL;
    }
}

/* x + 0.0 is not x for x = -0.0; adding -0.0 and subtracting 0.0 keep every value. */
static const ir_expr *fold_real(ir_op op, const ir_expr *a, const ir_expr *b) {
    switch (op) {
    case IR_ADD:
        return real_is(b, -0.0) ? a : real_is(a, -0.0) ? b : NULL;
    case IR_SUB:
        return real_is(b, 0.0) ? a : NULL;
    case IR_MUL:
        return real_is(b, 1.0) ? a : real_is(a, 1.0) ? b : NULL;
    case IR_DIV:
        return real_is(b, 1.0) ? a : NULL;
    default:
        return NULL;
    }
}

/* The right side of and/or is not evaluated when the left side decides, so it may vanish with its effects. */
static const ir_expr *fold_truth(ir_op op, const ir_expr *a, const ir_expr *b) {
    int64_t deciding = op == IR_OR;
    if (integer_is(a, deciding))
        return a;
    if (integer_is(a, !deciding))
        return b;
    if (integer_is(b, !deciding))
        return a;
    if (integer_is(b, deciding) && !ir_expr_has_effect(a))
        return b;
    return NULL;
}

const ir_expr *ir_binary(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b) {
    const ir_expr *args[] = {a, b};
    ir_type type = a->type;
    if (op < IR_NEG || op > IR_SHR) /* arithmetic and bits have the type of their operands */
        ir_infer(op, args, 2, (ir_attribute){0}, &type);
    if (!ir_type_equal(a->type, b->type))
        return ir_make(module, op, type, args, 2); /* ir_verify will say what is wrong */
    const ir_expr *folded =
        ir_constant(a) && ir_constant(b) ? ir_fold_constants(module, op, type, args, 2) : NULL;
    if (!folded && (op == IR_AND || op == IR_OR))
        folded = ir_type_is_bool(a->type) ? fold_truth(op, a, b) : NULL;
    else if (!folded && ir_type_is_integer(a->type))
        folded = fold_integer(module, op, a, b);
    else if (!folded && ir_type_is_float(a->type))
        folded = fold_real(op, a, b);
    return folded ? folded : ir_make(module, op, type, args, 2);
}

/* not (a < b) is a >= b for integers; with NaN only == and != are each other's negation. */
static const ir_expr *negate_comparison(ir_module *module, const ir_expr *e) {
    static const struct {
        ir_op op, negated;
    } pairs[] = {{IR_EQ, IR_NE}, {IR_NE, IR_EQ}, {IR_LT, IR_GE},
                 {IR_GE, IR_LT}, {IR_LE, IR_GT}, {IR_GT, IR_LE}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (e->op != pairs[i].op)
            continue;
        if (ir_type_is_float(e->args[0]->type) && e->op != IR_EQ && e->op != IR_NE)
            return NULL;
        return ir_binary(module, pairs[i].negated, e->args[0], e->args[1]);
    }
    return NULL;
}

const ir_expr *ir_unary(ir_module *module, ir_op op, const ir_expr *a) {
    ir_type type = a->type;
    ir_infer(op, &a, 1, (ir_attribute){0}, &type);
    const ir_expr *folded = ir_fold_constants(module, op, type, &a, 1);
    if (folded)
        return folded;
    if ((op == IR_NEG || op == IR_BITNOT || op == IR_NOT) && a->op == op)
        return a->args[0];
    if (op == IR_NOT && (folded = negate_comparison(module, a)))
        return folded;
    if (op == IR_ABS && (a->op == IR_ABS || num_dtype_class((num_dtype)type.dtype) == NUM_UNSIGNED) &&
        type.kind == IR_TYPE_PRIM)
        return a;
    return ir_make(module, op, type, &a, 1);
}

const ir_expr *ir_select(ir_module *module, ir_op select_or_if_then_else, const ir_expr *condition,
                         const ir_expr *a, const ir_expr *b) {
    const ir_expr *args[] = {condition, a, b};
    int64_t truth;
    if (integer_constant(condition, &truth) && ir_type_equal(a->type, b->type)) {
        const ir_expr *chosen = truth ? a : b, *other = truth ? b : a;
        if (select_or_if_then_else == IR_IF_THEN_ELSE || !ir_expr_has_effect(other))
            return chosen;
    }
    if (a == b && !ir_expr_has_effect(condition) &&
        (select_or_if_then_else == IR_IF_THEN_ELSE || !ir_expr_has_effect(a)))
        return a;
    return ir_make(module, select_or_if_then_else, a->type, args, 3);
}

const ir_expr *ir_fma(ir_module *module, const ir_expr *a, const ir_expr *b, const ir_expr *c) {
    const ir_expr *args[] = {a, b, c};
    const ir_expr *folded = ir_fold_constants(module, IR_FMA, a->type, args, 3);
    return folded ? folded : ir_make(module, IR_FMA, a->type, args, 3);
}

const ir_expr *ir_cast(ir_module *module, ir_type to, const ir_expr *a) {
    if (ir_type_equal(a->type, to))
        return a;
    const ir_expr *folded = ir_fold_constants(module, IR_CAST, to, &a, 1);
    return folded ? folded : ir_make(module, IR_CAST, to, &a, 1);
}

const ir_expr *ir_reinterpret(ir_module *module, ir_type to, const ir_expr *a) {
    if (ir_type_equal(a->type, to))
        return a;
    const ir_expr *folded = ir_fold_constants(module, IR_REINTERPRET, to, &a, 1);
    return folded ? folded : ir_make(module, IR_REINTERPRET, to, &a, 1);
}

const ir_expr *ir_lane(ir_module *module, const ir_expr *vector, unsigned lane) {
    if (vector->op == IR_BROADCAST)
        return vector->args[0];
    if (vector->op == IR_VECTOR && lane < vector->count && !ir_expr_has_effect(vector))
        return vector->args[lane];
    if (vector->op == IR_RAMP && lane < vector->type.lanes && ir_type_is_integer(vector->type)) {
        ir_type scalar = ir_type_scalar(vector->type);
        const ir_expr *number = constant_like(module, scalar, lane);
        return ir_binary(module, IR_ADD, vector->args[0], ir_binary(module, IR_MUL, vector->args[1], number));
    }
    return ir_intern_expr(module, IR_LANE, ir_type_scalar(vector->type), &vector, 1,
                          (ir_attribute){.integer = lane});
}

const ir_expr *ir_rebuild(ir_module *module, const ir_expr *like, const ir_expr *const *args) {
    bool same = true;
    for (uint32_t i = 0; i < like->count; i++)
        same = same && like->args[i] == args[i];
    if (same)
        return like;
    const ir_op_info *info = ir_op_information(like->op);
    if (like->op == IR_CAST)
        return ir_cast(module, like->type, args[0]);
    if (like->op == IR_SELECT || like->op == IR_IF_THEN_ELSE)
        return ir_select(module, like->op, args[0], args[1], args[2]);
    if (like->op == IR_LANE)
        return ir_lane(module, args[0], (unsigned)like->at.integer);
    if (like->op == IR_REINTERPRET && ir_type_equal(like->type, args[0]->type))
        return args[0];
    if (info->flags & IR_FLAG_FOLD) {
        if (like->count == 1 && like->op != IR_REINTERPRET)
            return ir_unary(module, like->op, args[0]);
        if (like->count == 2)
            return ir_binary(module, like->op, args[0], args[1]);
        const ir_expr *folded = ir_fold_constants(module, like->op, like->type, args, like->count);
        if (folded)
            return folded;
    }
    ir_attribute attribute = {.integer = like->at.integer};
    return ir_intern_expr(module, like->op, like->type, args, like->count, attribute);
}
