/* SPDX-License-Identifier: Apache-2.0
 * A model of the rule table's language, for integers of any width up to 64: what patterns, results and
 * conditions are worth for given values. */
#ifndef TIRC_TESTS_ARITH_MODEL_H
#define TIRC_TESTS_ARITH_MODEL_H
#include "unit/unit.h"
#include "arith/arith_rule.h"

__extension__ typedef __int128 wide;

typedef struct model {
    unsigned bits;
    bool is_signed;
    wide slots[ARITH_SLOTS];
    bool undefined; /* divided by zero */
    bool overflows; /* an exact result did not fit: undefined in C for signed types */
} model;

static inline wide wrap(const model *m, wide value) {
    wide span = (wide)1 << m->bits, low = ((value % span) + span) % span;
    return m->is_signed && low >= span / 2 ? low - span : low;
}

static inline wide floor_divide(wide a, wide b) {
    wide q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static inline wide operate(model *m, ir_op op, wide a, wide b) {
    if ((op == IR_FLOORDIV || op == IR_FLOORMOD || op == IR_TRUNCDIV || op == IR_TRUNCMOD) && b == 0) {
        m->undefined = true;
        return 0;
    }
    switch (op) {
    case IR_NEG:
        return -a;
    case IR_BITNOT:
        return -a - 1;
    case IR_ADD:
        return a + b;
    case IR_SUB:
        return a - b;
    case IR_MUL: { /* two of 64 bits may need 128 without a sign: the low bits are right all the same */
        wide product;
        if (__builtin_mul_overflow(a, b, &product))
            m->overflows = true;
        return product;
    }
    case IR_FLOORDIV:
        return floor_divide(a, b);
    case IR_FLOORMOD:
        return a - floor_divide(a, b) * b;
    case IR_TRUNCDIV:
        return a / b;
    case IR_TRUNCMOD:
        return a % b;
    case IR_MIN:
        return a < b ? a : b;
    case IR_MAX:
        return a > b ? a : b;
    case IR_ABS:
        return a < 0 ? -a : a;
    case IR_BITAND:
        return a & b;
    case IR_BITOR:
        return a | b;
    case IR_BITXOR:
        return a ^ b;
    case IR_SHL:
        return b < 0 ? 0 : b >= m->bits ? 0 : a * ((wide)1 << b);
    case IR_SHR:
        return b < 0 ? 0 : floor_divide(a, (wide)1 << (b > 63 ? 63 : b));
    case IR_EQ:
        return a == b;
    case IR_NE:
        return a != b;
    case IR_LT:
        return a < b;
    case IR_LE:
        return a <= b;
    case IR_GT:
        return a > b;
    case IR_GE:
        return a >= b;
    case IR_AND:
        return a && b;
    case IR_OR:
        return a || b;
    case IR_NOT:
        return !a;
    default:
        fail_msg("the model lacks an operation");
        return 0;
    }
}

/* In the IR's arithmetic. */
static inline wide evaluate(model *m, const arith_node *n) {
    if (n->kind == ARITH_NODE_NUMBER)
        return n->is_truth ? n->number : wrap(m, n->number);
    if (n->kind != ARITH_NODE_OP)
        return m->slots[n->slot];
    wide v[3] = {0};
    for (unsigned i = 0; i < n->count; i++)
        v[i] = evaluate(m, arith_node_arg(n, i));
    if (n->op == IR_SELECT)
        return v[0] ? v[1] : v[2];
    if ((n->op == IR_SHL || n->op == IR_SHR) && v[1] < 0)
        m->undefined = true;
    wide exact = operate(m, n->op, v[0], v[1]);
    if (n->is_truth)
        return exact;
    m->overflows |= n->op != IR_SHL && !n->is_constant && exact != wrap(m, exact);
    return wrap(m, exact);
}

static inline wide evaluate_exact(const model *m, const arith_node *n) {
    model copy = *m;
    if (n->kind == ARITH_NODE_NUMBER)
        return n->number;
    if (n->kind == ARITH_NODE_BITS)
        return m->bits;
    if (n->kind != ARITH_NODE_OP)
        return m->slots[n->slot];
    wide a = evaluate_exact(m, arith_node_arg(n, 0)),
         b = n->count > 1 ? evaluate_exact(m, arith_node_arg(n, 1)) : 0;
    copy.bits = 64;
    return n->op == IR_SHL ? a * ((wide)1 << (b < 0 || b > 60 ? 60 : b)) : operate(&copy, n->op, a, b);
}

static inline bool is_exact(const model *m, const arith_node *n) {
    if (n->kind != ARITH_NODE_OP)
        return true;
    for (unsigned i = 0; i < n->count; i++)
        if (!is_exact(m, arith_node_arg(n, i)))
            return false;
    wide exact = evaluate_exact(m, n);
    return exact == wrap(m, exact);
}

static inline bool holds(const model *m, const arith_node *n) {
    wide v;
    switch (n->kind) {
    case ARITH_NODE_EXACT:
        return is_exact(m, arith_node_arg(n, 0));
    case ARITH_NODE_POWER:
        v = evaluate_exact(m, arith_node_arg(n, 0));
        return v > 0 && (v & (v - 1)) == 0;
    case ARITH_NODE_MASK:
        v = evaluate_exact(m, arith_node_arg(n, 0));
        return v >= 0 && (v & (v + 1)) == 0;
    default:
        return evaluate_exact(m, n) != 0;
    }
}

static inline bool conditions_hold(const model *m, const arith_rule *rule) {
    for (unsigned i = 0; i < rule->condition_count; i++)
        if (!holds(m, rule->conditions[i]))
            return false;
    return true;
}
#endif
