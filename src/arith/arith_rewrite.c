/* SPDX-License-Identifier: Apache-2.0
 * Matches expressions with the rule table, proves the conditions from facts, builds the results. Each rule
 * lowers a measure: an operation costs 1, a product 2, a shift to the right 2 and a quotient or remainder 8
 * with what they divide once more, a truncating one 1 more, a leaf 1; so rewriting ends. Fuel bounds it
 * besides. Must not know single rules.
 */
#include "arith/arith_rewrite.h"
#include "arith/arith_fact.h"
#include "num/num.h"
#include <string.h>

typedef arith_wide wide;

/* Rules that may apply one after the other to one expression and what they build. */
enum { FUEL = 32 };

typedef struct matching {
    arith_rewriter *rewriter;
    const arith_rule *rule;
    ir_type type; /* of x y z C D E; VOID until one is met */
    ir_op select; /* SELECT or IF_THEN_ELSE, as it was found */
    const ir_expr *slots[ARITH_SLOTS];
} matching;

arith_rewriter *arith_rewriter_create(base_arena *arena, ir_module *module, arith_facts *facts) {
    arith_rewriter *r = BASE_NEW(arena, arith_rewriter);
    r->arena = arena;
    r->module = module;
    r->facts = facts;
    r->rules = arith_rules(&r->rule_count);
    r->hits = BASE_NEW_ARRAY(arena, uint64_t, r->rule_count);
    return r;
}

/* ---- matching ---- */
static ir_op kind_of(const ir_expr *e) {
    return e->op == IR_IF_THEN_ELSE ? IR_SELECT : e->op;
}

static bool same_op(matching *m, ir_op pattern, ir_op op) {
    if (pattern != IR_SELECT)
        return pattern == op;
    if (op != IR_SELECT && op != IR_IF_THEN_ELSE)
        return false;
    if (m->select == IR_INT)
        m->select = op;
    return m->select == op;
}

static bool match_slot(matching *m, const arith_node *n, const ir_expr *e) {
    if (n->kind == ARITH_NODE_TRUTH) {
        if (!ir_type_is_bool(e->type) || e->type.lanes != 1)
            return false;
    } else {
        if (m->type.kind == IR_TYPE_VOID && ir_type_is_integer(e->type))
            m->type = e->type;
        if (!ir_type_equal(e->type, m->type) || e->type.lanes != 1)
            return false;
    }
    if (n->kind == ARITH_NODE_CONSTANT && e->op != IR_INT)
        return false;
    if (!m->slots[n->slot])
        m->slots[n->slot] = e;
    return m->slots[n->slot] == e;
}

/* exchanged: bit of each operation whose sides are taken in the other order. */
static bool match(matching *m, const arith_node *n, const ir_expr *e, unsigned exchanged) {
    m->rewriter->steps++;
    switch ((arith_node_kind)n->kind) {
    case ARITH_NODE_NUMBER:
        return e->op == IR_INT && ir_type_is_bool(e->type) == n->is_truth &&
               e->at.integer == (n->is_truth ? n->number : num_wrap((num_dtype)e->type.dtype, n->number));
    case ARITH_NODE_OP:
        break;
    default:
        return match_slot(m, n, e);
    }
    if (!same_op(m, n->op, e->op) || e->count != n->count)
        return false;
    bool swap = n->exchange && (exchanged >> (n->exchange - 1) & 1);
    for (unsigned i = 0; i < n->count; i++)
        if (!match(m, arith_node_arg(n, i), e->args[swap ? 1 - i : i], exchanged))
            return false;
    return true;
}

/* ---- conditions, in exact integers ---- */
static bool bounds(const matching *m, const arith_node *n, wide *low, wide *high);

static bool bounds_of_op(const matching *m, const arith_node *n, wide *low, wide *high) {
    wide al, ah, bl = 0, bh = 0, corner[4];
    if (!bounds(m, arith_node_arg(n, 0), &al, &ah) ||
        (n->count > 1 && !bounds(m, arith_node_arg(n, 1), &bl, &bh)))
        return false;
    switch (n->op) {
    case IR_NEG:
        *low = -ah, *high = -al;
        return true;
    case IR_ADD:
        *low = al + bl, *high = ah + bh;
        return true;
    case IR_SUB:
        *low = al - bh, *high = ah - bl;
        return true;
    case IR_SHL: /* by a constant */
        if (bl != bh || bl < 0 || bl > 63)
            return false;
        bl = bh = (wide)1 << bl;
        /* fall through */
    case IR_MUL:
        if (__builtin_mul_overflow(al, bl, &corner[0]) || __builtin_mul_overflow(al, bh, &corner[1]) ||
            __builtin_mul_overflow(ah, bl, &corner[2]) || __builtin_mul_overflow(ah, bh, &corner[3]))
            return false;
        *low = *high = corner[0];
        for (int i = 1; i < 4; i++) {
            *low = corner[i] < *low ? corner[i] : *low;
            *high = corner[i] > *high ? corner[i] : *high;
        }
        return true;
    case IR_FLOORDIV:
    case IR_FLOORMOD:
        if (bl != bh || bl == 0)
            return false;
        if (n->op == IR_FLOORDIV && bl > 0)
            *low = arith_floor_divide(al, bl), *high = arith_floor_divide(ah, bl);
        else if (al == ah)
            *low = *high =
                n->op == IR_FLOORDIV ? arith_floor_divide(al, bl) : al - arith_floor_divide(al, bl) * bl;
        else if (n->op == IR_FLOORMOD && bl > 0)
            *low = 0, *high = bl - 1;
        else
            return false;
        return true;
    default:
        return false;
    }
}

/* Everything here is below 2^127 in amount: operands have 65 bits, and patterns multiply at most once. */
static bool bounds(const matching *m, const arith_node *n, wide *low, wide *high) {
    switch (n->kind) {
    case ARITH_NODE_NUMBER:
        *low = *high = n->number;
        return true;
    case ARITH_NODE_BITS:
        *low = *high = num_dtype_bits((num_dtype)m->type.dtype);
        return true;
    case ARITH_NODE_CONSTANT: {
        const ir_expr *c = m->slots[n->slot];
        *low = *high = m->type.dtype == NUM_DTYPE_U64 ? (wide)(uint64_t)c->at.integer : c->at.integer;
        return true;
    }
    case ARITH_NODE_VARIABLE:
        arith_wide_bounds(m->rewriter->facts, m->slots[n->slot], low, high);
        return true;
    case ARITH_NODE_OP:
        return bounds_of_op(m, n, low, high);
    default:
        return false;
    }
}

static bool is_exact(const matching *m, const arith_node *n) {
    wide low, high, least, most;
    if (n->kind != ARITH_NODE_OP)
        return true;
    for (unsigned i = 0; i < n->count; i++)
        if (!is_exact(m, arith_node_arg(n, i)))
            return false;
    arith_type_bounds(m->type, &least, &most);
    return bounds(m, n, &low, &high) && low >= least && high <= most;
}

/* x % c == 0. */
static bool is_multiple(const matching *m, const arith_node *modulo) {
    wide low, high, c;
    const arith_node *x = arith_node_arg(modulo, 0);
    if (!bounds(m, arith_node_arg(modulo, 1), &c, &high) || c != high || c == 0)
        return false;
    if (x->kind != ARITH_NODE_VARIABLE)
        return bounds(m, x, &low, &high) && low == high && low % c == 0;
    arith_modular set = arith_fact_of(m->rewriter->facts, m->slots[x->slot]).modular;
    return set.modulus % c == 0 && set.remainder % c == 0;
}

static bool compare_bounds(const matching *m, const arith_node *n) {
    wide al, ah, bl, bh;
    if (!bounds(m, arith_node_arg(n, 0), &al, &ah) || !bounds(m, arith_node_arg(n, 1), &bl, &bh))
        return false;
    switch (n->op) {
    case IR_LT:
        return ah < bl;
    case IR_LE:
        return ah <= bl;
    case IR_GT:
        return al > bh;
    case IR_GE:
        return al >= bh;
    case IR_EQ:
        return al == ah && bl == bh && al == bl;
    case IR_NE:
        return ah < bl || bh < al;
    default:
        return false;
    }
}

static bool holds(const matching *m, const arith_node *n) {
    wide low, high;
    switch (n->kind) {
    case ARITH_NODE_EXACT:
        return is_exact(m, arith_node_arg(n, 0));
    case ARITH_NODE_POWER:
        return bounds(m, arith_node_arg(n, 0), &low, &high) && low == high && low > 0 &&
               (low & (low - 1)) == 0;
    case ARITH_NODE_MASK:
        return bounds(m, arith_node_arg(n, 0), &low, &high) && low == high && low >= 0 &&
               (low & (low + 1)) == 0;
    default:
        break;
    }
    if (n->kind != ARITH_NODE_OP || n->count != 2)
        return false;
    const arith_node *a = arith_node_arg(n, 0), *b = arith_node_arg(n, 1);
    if (n->op == IR_EQ && a->kind == ARITH_NODE_OP && a->op == IR_FLOORMOD)
        return is_multiple(m, a);
    if (compare_bounds(m, n))
        return true;
    return a->kind == ARITH_NODE_VARIABLE && b->kind == ARITH_NODE_VARIABLE &&
           arith_always(m->rewriter->facts, n->op, m->slots[a->slot], m->slots[b->slot]);
}

/* ---- results ---- */
static const ir_expr *rewrite(arith_rewriter *r, const ir_expr *e, int *fuel);

static const ir_expr *build(matching *m, const arith_node *n, int *fuel) {
    arith_rewriter *r = m->rewriter;
    const ir_expr *args[3];
    switch (n->kind) {
    case ARITH_NODE_NUMBER:
        return n->is_truth ? ir_bool(r->module, n->number != 0)
                           : ir_int(r->module, (num_dtype)m->type.dtype, n->number);
    case ARITH_NODE_OP:
        break;
    default:
        return m->slots[n->slot];
    }
    for (unsigned i = 0; i < n->count; i++)
        args[i] = build(m, arith_node_arg(n, i), fuel);
    if (n->op == IR_SELECT)
        return ir_select(r->module, m->select, args[0], args[1], args[2]);
    const ir_expr *e =
        n->count == 1 ? ir_unary(r->module, n->op, args[0]) : ir_binary(r->module, n->op, args[0], args[1]);
    return rewrite(r, e, fuel);
}

/* A part that a rule names twice is evaluated once afterwards: both evaluations must give one value. */
static bool may_join(const matching *m) {
    for (unsigned s = 0; s < ARITH_SLOTS; s++)
        if (m->rule->uses[s] > 1 && m->slots[s] && ir_expr_reads(m->slots[s]))
            return false;
    return true;
}

/* By the operations alone, each with its operands in either order where the pattern has them so. */
static bool has_shape(const arith_node *n, const ir_expr *e) {
    if (n->kind != ARITH_NODE_OP)
        return (n->kind != ARITH_NODE_NUMBER && n->kind != ARITH_NODE_CONSTANT) || e->op == IR_INT;
    if (n->op != kind_of(e) || n->count != e->count)
        return false;
    bool in_order = true;
    for (unsigned i = 0; i < n->count && in_order; i++)
        in_order = has_shape(arith_node_arg(n, i), e->args[i]);
    return in_order || (n->exchange && has_shape(arith_node_arg(n, 0), e->args[1]) &&
                        has_shape(arith_node_arg(n, 1), e->args[0]));
}

static const ir_expr *apply(arith_rewriter *r, const arith_rule *rule, const ir_expr *e, int *fuel) {
    if (rule->exchanges > 1 && !has_shape(rule->pattern, e))
        return NULL;
    for (unsigned exchanged = 0; exchanged >> rule->exchanges == 0; exchanged++) {
        matching m = {.rewriter = r, .rule = rule, .select = IR_INT};
        if (!match(&m, rule->pattern, e, exchanged) || !may_join(&m))
            continue;
        bool all = true;
        for (unsigned i = 0; all && i < rule->condition_count; i++)
            all = holds(&m, rule->conditions[i]);
        if (all) {
            r->hits[rule - r->rules]++;
            return build(&m, rule->result, fuel);
        }
    }
    return NULL;
}

/* Operations that vanish when their value is certain; sums of known values are left as they were written. */
static bool is_decided(const ir_expr *e) {
    switch (e->op) {
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
    case IR_MIN:
    case IR_MAX:
    case IR_BITAND:
    case IR_SHR:
        return true;
    default:
        return ir_type_is_bool(e->type) && e->op != IR_VAR && e->op != IR_INT;
    }
}

/* A quotient or remainder of a let is looked at as one of what the let stands for, and taken when nothing is
 * left to be computed twice. */
static const ir_expr *look_through_let(arith_rewriter *r, const ir_expr *e, int *fuel) {
    const ir_expr *value;
    if ((e->op != IR_FLOORDIV && e->op != IR_FLOORMOD && e->op != IR_SHR) || e->args[0]->op != IR_VAR ||
        !(value = arith_definition(r->facts, e->args[0]->at.var)) || --*fuel <= 0)
        return e;
    const ir_expr *args[] = {value, e->args[1]};
    const ir_expr *opened = ir_make(r->module, e->op, e->type, args, 2), *result = rewrite(r, opened, fuel);
    return result != opened && result->size <= e->size ? result : e;
}

static bool fits(ir_op need, ir_op op) {
    return need == IR_OP_COUNT || need == op;
}

/* By the operations of the operands alone. */
static bool may_match(const arith_choice *choice, ir_op first, ir_op second) {
    return (fits(choice->needs[0], first) && fits(choice->needs[1], second)) ||
           (choice->exchange && fits(choice->needs[0], second) && fits(choice->needs[1], first));
}

static const ir_expr *rewrite(arith_rewriter *r, const ir_expr *e, int *fuel) {
    if (!e->count || !arith_is_integral(e->type) || ir_expr_has_effect(e) ||
        !(ir_op_information(e->op)->flags & IR_FLAG_PURE))
        return e;
    int64_t value;
    if (is_decided(e) && arith_is_constant(r->facts, e, &value))
        return ir_int(r->module, (num_dtype)e->type.dtype, value);
    size_t count;
    const arith_choice *choices = arith_choices(kind_of(e), &count);
    ir_op first = kind_of(e->args[0]), second = e->count > 1 ? kind_of(e->args[1]) : IR_OP_COUNT;
    for (size_t i = 0; i<count && * fuel> 0; i++) {
        if (!may_match(&choices[i], first, second))
            continue;
        const ir_expr *result = apply(r, &r->rules[choices[i].rule], e, fuel);
        if (!result)
            continue;
        if (result == e) /* a rule that gives back what it took would go on for ever */
            return e;
        --*fuel;
        return rewrite(r, result, fuel);
    }
    return look_through_let(r, e, fuel);
}

const ir_expr *arith_rewrite(arith_rewriter *r, const ir_expr *e) {
    int fuel = FUEL;
    return rewrite(r, e, &fuel);
}

static const ir_expr *rewrite_inside(void *user, const ir_expr *e) {
    return arith_rewrite(user, e);
}

const ir_expr *arith_simplify(arith_rewriter *r, const ir_expr *e) {
    return ir_expr_rewrite(r->module, e, NULL, rewrite_inside, r, NULL);
}
