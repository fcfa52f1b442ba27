/* SPDX-License-Identifier: Apache-2.0
 * Comparisons of sums. A side is written as a constant plus multiples of atoms, as far as its sums and
 * products provably stay inside their types; the difference of the sides is then compared with 0 by bounds of
 * the atoms, alone or after relations that hold here were taken off. Each question looks at a bounded number
 * of nodes, terms and relations. */
#include "arith/arith_prove.h"
#include "arith/arith_fact.h"
#include "num/num.h"

typedef arith_wide wide;

/* What one question looks at: levels of an expression and the latest relations. */
enum { LEVELS = 8, NEAREST = 16 };

static const wide most_wide = (wide)1 << 100;

/* False when the sum is over a limit; it is then not used. */
static bool add_constant(arith_linear *sum, wide value) {
    sum->constant += value;
    return sum->constant < most_wide && sum->constant > -most_wide;
}

static bool add_atom(arith_linear *sum, const ir_expr *atom, wide factor) {
    for (unsigned i = 0; i < sum->count; i++)
        if (sum->terms[i].atom == atom) {
            sum->terms[i].factor += factor;
            if (sum->terms[i].factor == 0)
                sum->terms[i] = sum->terms[--sum->count];
            return true;
        }
    if (sum->count == ARITH_TERMS)
        return false;
    sum->terms[sum->count].atom = atom;
    sum->terms[sum->count++].factor = factor;
    return true;
}

static bool scale(wide *factor, wide by) {
    return !__builtin_mul_overflow(*factor, by, factor) && *factor<most_wide && * factor> - most_wide;
}

/* The exact result of e's operation over what its arguments may be stays inside its type. */
static bool is_exact(arith_facts *facts, const ir_expr *e) {
    wide al, ah, bl = 0, bh = 0, low, high, least, most;
    arith_wide_bounds(facts, e->args[0], &al, &ah);
    if (e->count > 1)
        arith_wide_bounds(facts, e->args[1], &bl, &bh);
    arith_type_bounds(e->type, &least, &most);
    switch (e->op) {
    case IR_ADD:
        low = al + bl, high = ah + bh;
        break;
    case IR_SUB:
        low = al - bh, high = ah - bl;
        break;
    case IR_NEG:
        low = -ah, high = -al;
        break;
    case IR_MUL: { /* one side is a constant */
        wide a = al * bl, b = ah * bl;
        low = a < b ? a : b, high = a < b ? b : a;
        break;
    }
    default: /* CAST */
        low = al, high = ah;
        break;
    }
    return low >= least && high <= most;
}

static wide constant_of(const ir_expr *e) {
    return e->type.dtype == NUM_DTYPE_U64 ? (wide)(uint64_t)e->at.integer : e->at.integer;
}

/* sum += factor * e, as an equation about values. */
static bool add_expr(arith_facts *facts, arith_linear *sum, const ir_expr *e, wide factor, int levels) {
    const ir_expr *value;
    if (e->op == IR_INT) {
        wide constant = constant_of(e);
        return scale(&constant, factor) && add_constant(sum, constant);
    }
    if (e->op == IR_VAR && levels && (value = arith_definition(facts, e->at.var)))
        return add_expr(facts, sum, value, factor, levels - 1);
    if (levels == 0)
        return add_atom(sum, e, factor);
    switch (e->op) {
    case IR_ADD:
    case IR_SUB:
        if (is_exact(facts, e))
            return add_expr(facts, sum, e->args[0], factor, levels - 1) &&
                   add_expr(facts, sum, e->args[1], e->op == IR_ADD ? factor : -factor, levels - 1);
        break;
    case IR_NEG:
        if (is_exact(facts, e))
            return add_expr(facts, sum, e->args[0], -factor, levels - 1);
        break;
    case IR_MUL:
        if (e->args[1]->op == IR_INT && is_exact(facts, e))
            return scale(&factor, constant_of(e->args[1])) &&
                   add_expr(facts, sum, e->args[0], factor, levels - 1);
        break;
    case IR_CAST:
        if (arith_is_integral(e->args[0]->type) && e->type.dtype != NUM_DTYPE_BOOL && is_exact(facts, e))
            return add_expr(facts, sum, e->args[0], factor, levels - 1);
        break;
    default:
        break;
    }
    return add_atom(sum, e, factor);
}

/* sum = b - a - less. */
static bool difference(arith_facts *facts, const ir_expr *a, const ir_expr *b, int less, arith_linear *sum) {
    *sum = (arith_linear){.constant = -less};
    return add_expr(facts, sum, b, 1, LEVELS) && add_expr(facts, sum, a, -1, LEVELS);
}

static bool is_at_least_0(arith_facts *facts, const arith_linear *sum) {
    wide least = sum->constant;
    arith_count_steps(facts, sum->count);
    for (unsigned i = 0; i < sum->count; i++) {
        wide low, high, factor = sum->terms[i].factor;
        arith_wide_bounds(facts, sum->terms[i].atom, &low, &high);
        if (!scale(&factor, sum->terms[i].factor > 0 ? low : high))
            return false;
        least += factor;
    }
    return least >= 0;
}

/* from -= what, term by term. */
static bool take_off(arith_linear *from, const arith_linear *what) {
    bool fits = add_constant(from, -what->constant);
    for (unsigned i = 0; fits && i < what->count; i++)
        fits = add_atom(from, what->terms[i].atom, -what->terms[i].factor);
    return fits;
}

/* Whether taking the relation off can help: it removes an atom. */
static bool shares_atom(const arith_linear *a, const arith_linear *b) {
    for (unsigned i = 0; i < a->count; i++)
        for (unsigned j = 0; j < b->count; j++)
            if (a->terms[i].atom == b->terms[j].atom)
                return true;
    return false;
}

static bool proves(arith_facts *facts, const arith_linear *sum, int relations) {
    if (is_at_least_0(facts, sum))
        return true;
    const arith_relations *known = arith_known_relations(facts);
    for (size_t i = known->count; relations && i-- > 0 && known->count - i <= NEAREST;) {
        arith_linear rest = *sum;
        if (shares_atom(sum, &known->items[i]) && take_off(&rest, &known->items[i]) &&
            proves(facts, &rest, relations - 1))
            return true;
    }
    return false;
}

/* a <= b, or a < b with less 1. */
static bool is_ordered(arith_facts *facts, const ir_expr *a, const ir_expr *b, int less) {
    arith_linear sum;
    return difference(facts, a, b, less, &sum) && proves(facts, &sum, 2);
}

static bool is_comparable(const ir_expr *a, const ir_expr *b) {
    return arith_is_integral(a->type) && ir_type_equal(a->type, b->type);
}

int arith_relations_compare(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (!is_comparable(a, b) || ir_expr_reads(a) || ir_expr_reads(b))
        return 0;
    switch (op) {
    case IR_LT:
        return is_ordered(facts, a, b, 1) ? 1 : -is_ordered(facts, b, a, 0);
    case IR_LE:
        return -arith_relations_compare(facts, IR_LT, b, a);
    case IR_GT:
        return arith_relations_compare(facts, IR_LT, b, a);
    case IR_GE:
        return -arith_relations_compare(facts, IR_LT, a, b);
    case IR_EQ:
        if (is_ordered(facts, a, b, 1) || is_ordered(facts, b, a, 1))
            return -1;
        return is_ordered(facts, a, b, 0) && is_ordered(facts, b, a, 0);
    case IR_NE:
        return -arith_relations_compare(facts, IR_EQ, a, b);
    default:
        return 0;
    }
}

static bool relations_prove(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (!is_comparable(a, b) || ir_expr_reads(a) || ir_expr_reads(b))
        return false;
    switch (op) {
    case IR_LT:
        return is_ordered(facts, a, b, 1);
    case IR_GT:
        return is_ordered(facts, b, a, 1);
    case IR_LE: /* where the contrary can be proved too, nothing ever comes here */
        return is_ordered(facts, a, b, 0) && !is_ordered(facts, b, a, 1);
    case IR_GE:
        return is_ordered(facts, b, a, 0) && !is_ordered(facts, a, b, 1);
    default:
        return arith_relations_compare(facts, op, a, b) > 0;
    }
}

static void assume_order(arith_facts *facts, const ir_expr *a, const ir_expr *b, int less) {
    arith_linear sum;
    if (difference(facts, a, b, less, &sum) && sum.count)
        arith_relation_add(facts, &sum);
}

void arith_relations_assume(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (!is_comparable(a, b) || ir_expr_reads(a) || ir_expr_reads(b))
        return;
    if (op == IR_LT || op == IR_LE || op == IR_EQ)
        assume_order(facts, a, b, op == IR_LT);
    if (op == IR_GT || op == IR_GE || op == IR_EQ)
        assume_order(facts, b, a, op == IR_GT);
}

int arith_compare(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (!is_comparable(a, b))
        return 0;
    int answer = arith_fact_compare(op, arith_fact_of(facts, a), arith_fact_of(facts, b));
    return answer ? answer : arith_relations_compare(facts, op, a, b);
}

bool arith_always(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b) {
    if (!is_comparable(a, b))
        return false;
    int answer = arith_fact_compare(op, arith_fact_of(facts, a), arith_fact_of(facts, b));
    return answer ? answer > 0 : relations_prove(facts, op, a, b);
}

bool arith_can_prove(arith_facts *facts, const ir_expr *condition) {
    arith_range r = arith_fact_of(facts, condition).range;
    return ir_type_is_bool(condition->type) && r.known && r.low == 1;
}
