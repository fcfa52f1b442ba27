/* SPDX-License-Identifier: Apache-2.0
 * Bounds and residues of one operation from those of its arguments. Must not assume that arithmetic does not
 * overflow: results are clipped by what the type can hold. Knows neither variables nor places. */
#include "arith/arith_fact.h"
#include "num/num.h"

typedef arith_wide wide;
typedef arith_fact fact;

fact arith_fact_clip(ir_type type, wide low, wide high, arith_modular modular) {
    arith_range all = arith_type_range(type);
    wide least = all.known ? all.low : 0, most = all.known ? all.high : INT64_MAX;
    if (low >= least && high <= most)
        return (fact){{true, (int64_t)low, (int64_t)high}, modular};
    if (modular.modulus == 0)
        modular = arith_any_residue;
    wide span = (wide)1 << num_dtype_bits((num_dtype)type.dtype);
    return (fact){all, arith_modular_make(arith_gcd(modular.modulus, span), modular.remainder)};
}

fact arith_fact_unknown(ir_type type) {
    return (fact){arith_type_range(type), arith_any_residue};
}
fact arith_fact_within(int64_t low, int64_t high) {
    return (fact){{true, low, high}, low == high ? (arith_modular){0, low} : arith_any_residue};
}
/* What the range pins down, the residue says too. */
fact arith_fact_settle(fact f) {
    if (f.range.known && f.range.low == f.range.high)
        f.modular = (arith_modular){0, f.range.low};
    return f;
}

fact arith_fact_join(ir_type type, fact a, fact b) {
    fact f = arith_fact_unknown(type);
    if (a.range.known && b.range.known)
        f.range = (arith_range){true, a.range.low < b.range.low ? a.range.low : b.range.low,
                                a.range.high > b.range.high ? a.range.high : b.range.high};
    f.modular = arith_modular_join(a.modular, b.modular);
    return f;
}

/* Both hold. Where no value has both, the place is never reached, and the first is kept. */
fact arith_fact_meet(fact a, fact b) {
    bool empty;
    fact f = a;
    f.modular = arith_modular_meet(a.modular, b.modular, &empty);
    if (b.range.known)
        f.range = !a.range.known ? b.range
                                 : (arith_range){true, a.range.low > b.range.low ? a.range.low : b.range.low,
                                                 a.range.high < b.range.high ? a.range.high : b.range.high};
    if (empty || (f.range.known && f.range.low > f.range.high))
        return a;
    /* The ends of a range have the residue too. */
    wide m = f.modular.modulus;
    if (f.range.known && m > 1) {
        wide low = f.modular.remainder - arith_floor_divide(f.modular.remainder - (wide)f.range.low, m) * m;
        wide high = f.modular.remainder + arith_floor_divide((wide)f.range.high - f.modular.remainder, m) * m;
        if (low <= high)
            f.range.low = (int64_t)low, f.range.high = (int64_t)high;
    }
    return f;
}

/* ---- operations ---- */
static fact add(ir_type type, fact a, fact b, int sign) {
    arith_modular m = arith_modular_add(a.modular, b.modular, sign);
    if (!a.range.known || !b.range.known)
        return arith_fact_clip(type, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, m);
    wide low = sign > 0 ? b.range.low : -(wide)b.range.high,
         high = sign > 0 ? b.range.high : -(wide)b.range.low;
    return arith_fact_clip(type, a.range.low + low, a.range.high + high, m);
}

static void corners(fact a, fact b, wide (*fn)(wide, wide), wide *low, wide *high) {
    int64_t x[2] = {a.range.low, a.range.high}, y[2] = {b.range.low, b.range.high};
    for (int i = 0; i < 4; i++) {
        wide v = fn(x[i & 1], y[i >> 1]);
        *low = i == 0 || v < *low ? v : *low;
        *high = i == 0 || v > *high ? v : *high;
    }
}
static wide times(wide a, wide b) {
    return a * b;
}
static wide truncate_divide(wide a, wide b) {
    return a / b;
}

static fact multiply(ir_type type, fact a, fact b) {
    arith_modular m = arith_modular_multiply(a.modular, b.modular);
    if (!a.range.known || !b.range.known)
        return arith_fact_clip(type, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, m);
    wide low, high;
    corners(a, b, times, &low, &high);
    return arith_fact_clip(type, low, high, m);
}

/* Division by a divisor that is positive everywhere; anything else has no facts. */
static fact divide(ir_type type, fact a, fact b, bool floors) {
    if (!a.range.known || !b.range.known || b.range.low <= 0)
        return arith_fact_unknown(type);
    wide low, high;
    corners(a, b, floors ? arith_floor_divide : truncate_divide, &low, &high);
    arith_modular m = arith_any_residue;
    int64_t c = b.range.low;
    if (c == b.range.high && a.modular.modulus % c == 0 && (floors || a.range.low >= 0))
        m = arith_modular_make(a.modular.modulus / c, arith_floor_divide(a.modular.remainder, c));
    return arith_fact_clip(type, low, high, m);
}

static fact modulo(ir_type type, fact a, fact b, bool floors) {
    if (!a.range.known || !b.range.known || b.range.low <= 0)
        return arith_fact_unknown(type);
    fact f = arith_fact_unknown(type);
    int64_t most = b.range.high - 1, c = b.range.low;
    if (a.range.low >= 0 && a.range.high < b.range.low)
        return (fact){a.range, a.modular};
    if (floors || a.range.low >= 0)
        f.range = (arith_range){true, 0, a.range.low >= 0 && a.range.high < most ? a.range.high : most};
    else
        f.range = (arith_range){true, a.range.low > -most ? a.range.low : -most,
                                a.range.high <= 0 ? 0 : (a.range.high < most ? a.range.high : most)};
    if (c == b.range.high && (floors || a.range.low >= 0)) {
        if (a.modular.modulus % c == 0) {
            int64_t r = (int64_t)(a.modular.remainder - arith_floor_divide(a.modular.remainder, c) * c);
            return arith_fact_within(r, r);
        }
        f.modular = arith_modular_make(arith_gcd(a.modular.modulus, c), a.modular.remainder);
    }
    return f;
}

static fact shift(ir_type type, ir_op op, fact a, fact b) {
    unsigned bits = num_dtype_bits((num_dtype)type.dtype);
    if (!b.range.known || b.range.low != b.range.high || b.range.low < 0 || b.range.low >= (int64_t)bits ||
        b.range.low > 62)
        return arith_fact_unknown(type);
    fact power = arith_fact_within((int64_t)1 << b.range.low, (int64_t)1 << b.range.low);
    return op == IR_SHL ? multiply(type, a, power) : divide(type, a, power, true);
}

/* Smallest 2^k - 1 that is at least v. */
static int64_t fill(int64_t v) {
    uint64_t m = (uint64_t)v;
    for (unsigned s = 1; s < 64; s *= 2)
        m |= m >> s;
    return (int64_t)m;
}

static fact bit_and(ir_type type, fact a, fact b) {
    fact f = arith_fact_unknown(type);
    bool pa = a.range.known && a.range.low >= 0, pb = b.range.known && b.range.low >= 0;
    if (pa || pb) {
        int64_t high = pa && pb ? (a.range.high < b.range.high ? a.range.high : b.range.high)
                                : (pa ? a.range.high : b.range.high);
        f.range = (arith_range){true, 0, high};
    }
    for (int side = 0; side < 2; side++) {
        fact x = side ? a : b, y = side ? b : a; /* x: the mask */
        if (!x.range.known || x.range.low != x.range.high || x.range.low == 0)
            continue;
        int64_t mask = x.range.low;
        uint64_t lowest = (uint64_t)mask & (0 - (uint64_t)mask);
        if (mask > 0 && mask < INT64_MAX && (mask & (mask + 1)) == 0) {
            wide n = (wide)mask + 1, g = arith_gcd(y.modular.modulus, n);
            if (g == n)
                return arith_fact_within((int64_t)(y.modular.remainder & mask),
                                         (int64_t)(y.modular.remainder & mask));
            f.modular = arith_modular_make(g, y.modular.remainder);
        } else if (lowest <= INT64_MAX)
            f.modular = arith_modular_make((wide)lowest, 0);
    }
    return f;
}

static fact bit_or(ir_type type, ir_op op, fact a, fact b) {
    fact f = arith_fact_unknown(type);
    int64_t ka = arith_modular_known_bits(a.modular), kb = arith_modular_known_bits(b.modular),
            known = ka < kb ? ka : kb;
    int64_t low_bits = op == IR_BITOR ? a.modular.remainder | b.modular.remainder
                                      : a.modular.remainder ^ b.modular.remainder;
    if (known > 1)
        f.modular = arith_modular_make(known, low_bits & (known - 1));
    if (a.range.known && a.range.low >= 0 && b.range.known && b.range.low >= 0) {
        int64_t low = op == IR_BITOR ? (a.range.low > b.range.low ? a.range.low : b.range.low) : 0;
        f.range = (arith_range){true, low, fill(a.range.high | b.range.high)};
    }
    return f;
}

static fact smaller_or_larger(ir_type type, ir_op op, fact a, fact b) {
    fact f = arith_fact_join(type, a, b);
    if (!a.range.known || !b.range.known)
        return f;
    if (op == IR_MIN)
        f.range.high = a.range.high < b.range.high ? a.range.high : b.range.high;
    else
        f.range.low = a.range.low > b.range.low ? a.range.low : b.range.low;
    /* One side always wins. */
    if (a.range.high <= b.range.low)
        return op == IR_MIN ? a : b;
    if (b.range.high <= a.range.low)
        return op == IR_MIN ? b : a;
    return f;
}

static fact cast(ir_type to, const ir_expr *from, fact a) {
    if (!arith_is_integral(from->type))
        return arith_fact_unknown(to);
    if (to.dtype == NUM_DTYPE_BOOL)
        return arith_fact_unknown(to);
    if (!a.range.known)
        return arith_fact_clip(to, (wide)INT64_MIN * 4, (wide)INT64_MAX * 4, a.modular);
    return arith_fact_clip(to, a.range.low, a.range.high, a.modular);
}

/* ---- comparisons ---- */
static fact truth(int answer) {
    return arith_fact_within(answer > 0, answer >= 0);
}
static bool is_truth(fact f, int64_t value) {
    return f.range.known && f.range.low == value && f.range.high == value;
}

int arith_fact_compare(ir_op op, fact a, fact b) {
    bool apart, known = a.range.known && b.range.known;
    switch (op) {
    case IR_LT:
        return !known ? 0 : a.range.high < b.range.low ? 1 : -(a.range.low >= b.range.high);
    case IR_LE:
        return -arith_fact_compare(IR_LT, b, a);
    case IR_GT:
        return arith_fact_compare(IR_LT, b, a);
    case IR_GE:
        return -arith_fact_compare(IR_LT, a, b);
    case IR_EQ:
        arith_modular_meet(a.modular, b.modular, &apart);
        if (apart || (known && (a.range.high < b.range.low || b.range.high < a.range.low)))
            return -1;
        return known && a.range.low == a.range.high && b.range.low == b.range.high;
    case IR_NE:
        return -arith_fact_compare(IR_EQ, a, b);
    default:
        return 0;
    }
}

fact arith_fact_of_binary(const ir_expr *e, fact a, fact b) {
    switch (e->op) {
    case IR_ADD:
        return add(e->type, a, b, 1);
    case IR_SUB:
        return add(e->type, a, b, -1);
    case IR_MUL:
        return multiply(e->type, a, b);
    case IR_FLOORDIV:
        return divide(e->type, a, b, true);
    case IR_FLOORMOD:
        return modulo(e->type, a, b, true);
    case IR_TRUNCDIV:
        return divide(e->type, a, b, false);
    case IR_TRUNCMOD:
        return modulo(e->type, a, b, false);
    case IR_MIN:
    case IR_MAX:
        return smaller_or_larger(e->type, e->op, a, b);
    case IR_BITAND:
        return bit_and(e->type, a, b);
    case IR_BITOR:
    case IR_BITXOR:
        return bit_or(e->type, e->op, a, b);
    case IR_SHL:
    case IR_SHR:
        return shift(e->type, e->op, a, b);
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        return truth(arith_fact_compare(e->op, a, b));
    case IR_AND:
        return truth(is_truth(a, 0) || is_truth(b, 0) ? -1 : is_truth(a, 1) && is_truth(b, 1));
    case IR_OR:
        return truth(is_truth(a, 1) || is_truth(b, 1) ? 1 : -(is_truth(a, 0) && is_truth(b, 0)));
    default:
        return arith_fact_unknown(e->type);
    }
}

fact arith_fact_of_unary(const ir_expr *e, fact a) {
    unsigned bits = num_dtype_bits((num_dtype)e->args[0]->type.dtype);
    switch (e->op) {
    case IR_NOT:
        return truth(is_truth(a, 0) ? 1 : -is_truth(a, 1));
    case IR_NEG:
        return add(e->type, arith_fact_within(0, 0), a, -1);
    case IR_BITNOT:
        return add(e->type, arith_fact_within(-1, -1), a, -1);
    case IR_CAST:
        return cast(e->type, e->args[0], a);
    case IR_POPCOUNT:
    case IR_CLZ:
        return arith_fact_within(0, bits);
    case IR_ABS:
        if (a.range.known && a.range.low >= 0)
            return a;
        if (a.range.known) {
            wide low = -(wide)a.range.low, high = a.range.high > low ? a.range.high : low;
            return arith_fact_clip(e->type, 0, high, arith_any_residue);
        }
        return arith_fact_unknown(e->type);
    default:
        return arith_fact_unknown(e->type);
    }
}
