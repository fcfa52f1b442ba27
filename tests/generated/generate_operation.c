/* SPDX-License-Identifier: Apache-2.0
 * Arithmetic of the kernel generator: one operation over generated operands, with the range of its result. */
#include "generate.h"

static wide magnitude(range r) {
    wide low = r.low < 0 ? -r.low : r.low, high = r.high < 0 ? -r.high : r.high;
    return low > high ? low : high;
}

/* A result that may leave its type wraps: then every value is possible. */
static range fit(type t, wide low, wide high) {
    range full = full_range(t);
    return low < full.low || high > full.high ? full : (range){low, high};
}

static value binary_text(generator *g, value a, const char *op, value b, range r) {
    return (value){format(g, "(%s %s %s)", a.text, op, b.text), a.type, r, false};
}

/* An operand that is a bare Python number now and then: it takes the type of the other side. */
static value maybe_bare(generator *g, value v) {
    if (!chance(g, 25))
        return v;
    value one = literal(g, v.type);
    if (!is_integer(v.type))
        return v;
    one.text = integer_text(g, one.range.low);
    return one;
}

/* int32 and int64 sums must not overflow in C; smaller types are computed as int and wrap. */
static bool must_not_overflow(const generator *g, type t) {
    return is_signed(t) && type_bits(t) >= 32 && !g->wraps;
}

/* ---- sums and products ---- */
static value add_or_subtract(generator *g, type t, int depth, bool minus) {
    value a = int_expression(g, t, depth - 1), b = maybe_bare(g, int_expression(g, t, depth - 1));
    wide half = (wide)1 << (type_bits(t) - 2);
    for (int turn = 0; turn < 2; turn++) {
        wide low = minus ? a.range.low - b.range.high : a.range.low + b.range.low;
        wide high = minus ? a.range.high - b.range.low : a.range.high + b.range.high;
        range full = full_range(t);
        if (turn == 1 || !must_not_overflow(g, t) || (low >= full.low && high <= full.high))
            return binary_text(g, a, minus ? "-" : "+", b, fit(t, low, high));
        a = narrow(g, a, -half, half - 1);
        if (b.range.low != b.range.high)
            b = narrow(g, b, -half, half - 1);
        else if (b.range.low < -half || b.range.high > half - 1)
            b = (value){"7", t, {7, 7}, false};
    }
    return a;
}

static value multiply(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1), b = maybe_bare(g, int_expression(g, t, depth - 1));
    range full = full_range(t);
    wide root = ((wide)1 << (type_bits(t) / 2 - 1)) - 1;
    if (t == I64 || t == U64) { /* products of two 64-bit ranges may not fit the generator's own numbers */
        a = narrow(g, a, is_signed(t) ? -root : 0, root);
        if (b.range.low == b.range.high && magnitude(b.range) > root)
            b = (value){"9", t, {9, 9}, false};
        else if (b.range.low != b.range.high && !chance(g, is_signed(t) ? 0 : 50))
            b = narrow(g, b, is_signed(t) ? -root : 0, root);
    }
    wide m = magnitude(a.range) * magnitude(b.range);
    if (must_not_overflow(g, t) && m > full.high) {
        a = narrow(g, a, -root, root);
        b = b.range.low != b.range.high ? narrow(g, b, -root, root)
            : magnitude(b.range) > root ? (value){"11", t, {11, 11}, false}
                                        : b;
        m = magnitude(a.range) * magnitude(b.range);
    }
    bool positive = a.range.low >= 0 && b.range.low >= 0;
    return binary_text(g, a, "*", b, fit(t, positive ? a.range.low * b.range.low : -m, m));
}

/* ---- division ---- */
static value divisor(generator *g, type t, int depth) {
    range full = full_range(t);
    value b;
    switch (below(g, 5)) {
    case 0: {
        wide number = 1 + below(g, 12);
        if (chance(g, 30))
            number = (wide)1 << below(g, type_bits(t) - 1);
        if (is_signed(t) && chance(g, 35))
            number = -number;
        b = (value){NULL, t, {number, number}, false};
        b.text = chance(g, 50) ? integer_text(g, number)
                               : format(g, "T.%s(%s)", type_name(t), integer_text(g, number));
        return b;
    }
    case 1:
        if (is_signed(t))
            return narrow(g, int_expression(g, t, depth - 1), -(1 + below(g, 100)), -1);
        return narrow(g, int_expression(g, t, depth - 1), 1, 1 + below(g, 100));
    case 2:
        b = int_expression(g, t, depth - 1);
        b.text = format(g, "(%s | 1)", b.text);
        b.range = b.range.low > 0 ? (range){b.range.low, full.high} : full;
        return b;
    default:
        return narrow(g, int_expression(g, t, depth - 1), 1, 1 + below(g, 100));
    }
}

static range quotient_range(type t, range a, range b) {
    wide m = magnitude(a);
    if (a.low >= 0 && b.low > 0)
        return (range){0, a.high / b.low};
    return fit(t, is_signed(t) ? -m : 0, m);
}

static range remainder_range(range a, range b, bool truncated) {
    wide m = magnitude(b) - 1;
    if (truncated) {
        if (a.low >= 0)
            return (range){0, m < a.high ? m : a.high};
        return (range){-m, a.high <= 0 ? 0 : m};
    }
    if (b.low > 0)
        return (range){0, m};
    return b.high < 0 ? (range){-m, 0} : (range){-m, m};
}

static value divide(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1), b = divisor(g, t, depth);
    range full = full_range(t);
    /* the most negative number by -1 has no quotient */
    if (is_signed(t) && b.range.low <= -1 && b.range.high >= -1)
        a = narrow(g, a, full.low + 1, full.high);
    range q = quotient_range(t, a.range, b.range);
    const char *x = a.text, *y = b.text;
    switch (below(g, 7)) {
    case 0:
    case 1:
        return binary_text(g, a, "//", b, q);
    case 2:
    case 3:
        return binary_text(g, a, "%", b, remainder_range(a.range, b.range, false));
    case 4:
        return (value){format(g, "T.truncdiv(%s, %s)", x, y), t, q, false};
    case 5:
        return (value){format(g, "T.truncmod(%s, %s)", x, y), t, remainder_range(a.range, b.range, true),
                       false};
    default:
        if (chance(g, 50))
            return (value){format(g, "T.floordiv(%s, %s)", x, y), t, q, false};
        return (value){format(g, "T.floormod(%s, %s)", x, y), t, remainder_range(a.range, b.range, false),
                       false};
    }
}

/* T.ceildiv is one more than the quotient rounded down at most. */
static value divide_up(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1),
          b = narrow(g, int_expression(g, t, depth - 1), 1, 1 + below(g, 60));
    range full = full_range(t);
    a = narrow(g, a, full.low, full.high - 1);
    range q = quotient_range(t, a.range, b.range);
    return (value){format(g, "T.ceildiv(%s, %s)", a.text, b.text), t, fit(t, q.low, q.high + 1), false};
}

/* ---- bits ---- */
static wide all_ones(wide number) {
    wide mask = 1;
    while (mask < number)
        mask = 2 * mask + 1;
    return mask;
}

static value bits(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1), b = maybe_bare(g, int_expression(g, t, depth - 1));
    range full = full_range(t), r = full;
    bool positive = a.range.low >= 0 && b.range.low >= 0;
    int which = below(g, 3);
    if (which == 0 && a.range.low >= 0)
        r = (range){0, a.range.high};
    if (which == 0 && b.range.low >= 0 && b.range.high < r.high)
        r = (range){0, b.range.high};
    if (which > 0 && positive)
        r = (range){0, all_ones(a.range.high > b.range.high ? a.range.high : b.range.high)};
    static const char *const operators[] = {"&", "|", "^"}, *const words[] = {"and", "or", "xor"};
    if (chance(g, 20))
        return (value){format(g, "T.bitwise_%s(%s, %s)", words[which], a.text, b.text), t, r, false};
    return binary_text(g, a, operators[which], b, r);
}

static value shift(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1), b;
    int width = type_bits(t);
    if (chance(g, 40)) {
        int count = below(g, width);
        b = (value){format(g, "%d", count), t, {count, count}, false};
    } else if (chance(g, 80)) {
        b = narrow(g, int_expression(g, t, depth - 1), 0, width - 1);
    } else { /* counts outside the width have a meaning of their own */
        b = narrow(g, int_expression(g, t, depth - 1), is_signed(t) ? -3 : 0, width + 40);
    }
    bool left = chance(g, 50);
    range r = full_range(t);
    if (!left && a.range.low >= 0)
        r = (range){0, a.range.high};
    if (left && a.range.low >= 0 && b.range.low >= 0 && b.range.high < width &&
        a.range.high <= (r.high >> (int)b.range.high))
        r = (range){0, a.range.high << (int)b.range.high};
    if (left && !is_signed(t) && r.high == full_range(t).high)
        r.low = 0;
    if (chance(g, 20))
        return (value){format(g, "T.shift_%s(%s, %s)", left ? "left" : "right", a.text, b.text), t, r, false};
    return binary_text(g, a, left ? "<<" : ">>", b, r);
}

/* ---- choices and the rest ---- */
static value choose(generator *g, type t, int depth) {
    const char *condition = bool_expression(g, depth - 1).text;
    value a = expression(g, t, depth - 1), b = expression(g, t, depth - 1);
    value result = {NULL, t, join(a.range, b.range), false};
    static const char *const words[] = {"if_then_else", "Select"};
    if (chance(g, 30))
        result.text = format(g, "(%s if %s else %s)", a.text, condition, b.text);
    else
        result.text = format(g, "T.%s(%s, %s, %s)", words[below(g, 2)], condition, a.text, b.text);
    return result;
}

static value extreme(generator *g, type t, int depth) {
    value a = expression(g, t, depth - 1), b = expression(g, t, depth - 1);
    bool least = chance(g, 50);
    range r = a.range;
    if (least ? b.range.low < r.low : b.range.low > r.low)
        r.low = b.range.low;
    if (least ? b.range.high < r.high : b.range.high > r.high)
        r.high = b.range.high;
    return (value){format(g, "T.%s(%s, %s)", least ? "min" : "max", a.text, b.text), t, r, false};
}

static value unary_int(generator *g, type t, int depth) {
    value a = int_expression(g, t, depth - 1);
    range full = full_range(t);
    switch (below(g, 5)) {
    case 0:
        a.text = format(g, chance(g, 70) ? "(~%s)" : "T.bitwise_not(%s)", a.text);
        a.range = is_signed(t) ? (range){~a.range.high, ~a.range.low} : full;
        break;
    case 1:
        if (must_not_overflow(g, t))
            a = narrow(g, a, full.low + 1, full.high);
        a.text = format(g, "(-%s)", a.text);
        a.range = fit(t, -a.range.high, -a.range.low);
        break;
    case 2:
        if (must_not_overflow(g, t))
            a = narrow(g, a, full.low + 1, full.high);
        a.text = format(g, "T.abs(%s)", a.text);
        a.range = is_signed(t) ? fit(t, 0, magnitude(a.range)) : a.range;
        break;
    default:
        a.text = format(g, "T.%s(%s)", chance(g, 50) ? "popcount" : "clz", a.text);
        a.range = (range){0, type_bits(t)};
        break;
    }
    a.is_load = false;
    return a;
}

static value mixed(generator *g, type t, int depth) {
    type other = any_integer(g);
    if (other == t || common_type(t, other) != t)
        return int_expression(g, t, depth - 1);
    value a = int_expression(g, t, depth - 1), b = int_expression(g, other, depth - 1);
    value c = b;
    c.type = t;
    if (c.range.low < full_range(t).low || c.range.high > full_range(t).high)
        c.range = full_range(t);
    if (must_not_overflow(g, t)) {
        wide half = (wide)1 << (type_bits(t) - 2);
        a = narrow(g, a, -half, half - 1);
        if (c.range.low < -half || c.range.high >= half)
            c = convert(g, narrow(g, b, 0, 100), t);
    }
    static const char *const operators[] = {"+", "-", "&", "|", "^"};
    int which = below(g, 5);
    range r = full_range(t);
    if (which == 0)
        r = fit(t, a.range.low + c.range.low, a.range.high + c.range.high);
    if (which == 1)
        r = fit(t, a.range.low - c.range.high, a.range.high - c.range.low);
    if (chance(g, 50) || which == 1)
        return binary_text(g, a, operators[which], c, r);
    return (value){format(g, "(%s %s %s)", c.text, operators[which], a.text), t, r, false};
}

static type same_width(generator *g, type t) {
    for (;;) {
        type other = (type)below(g, TYPE_COUNT);
        if (other != t && other != BOOL && type_bits(other) == type_bits(t))
            return other;
        if (chance(g, 2))
            return t;
    }
}

/* A float that was computed may be a NaN, and its payload is nobody's promise: only loaded ones show their
 * bits. */
static value reinterpret(generator *g, type t, int depth) {
    type from = same_width(g, t);
    if (from == t || (g->no_floats && is_float(from)))
        return expression(g, t, depth - 1);
    value v = is_float(from) ? leaf(g, from) : expression(g, from, depth - 1);
    if (is_float(from) && !v.is_load)
        return expression(g, t, depth - 1);
    return (value){format(g, "T.reinterpret(\"%s\", %s)", type_name(t), v.text), t,
                   is_float(t) ? (range){0, 0} : full_range(t), false};
}

value int_operation(generator *g, type t, int depth) {
    switch (below(g, 21)) {
    case 20:
        return divided_sum(g, t);
    case 0:
    case 1:
    case 2:
        return add_or_subtract(g, t, depth, false);
    case 3:
    case 4:
        return add_or_subtract(g, t, depth, true);
    case 5:
    case 6:
        return multiply(g, t, depth);
    case 7:
    case 8:
    case 9:
        return divide(g, t, depth);
    case 10:
        return divide_up(g, t, depth);
    case 11:
    case 12:
        return bits(g, t, depth);
    case 13:
    case 14:
        return shift(g, t, depth);
    case 15:
        return choose(g, t, depth);
    case 16:
        return extreme(g, t, depth);
    case 17:
        return mixed(g, t, depth);
    case 18:
        return reinterpret(g, t, depth);
    default:
        return unary_int(g, t, depth);
    }
}

/* ---- floats: every operation here is exact ---- */
static value float_binary(generator *g, type t, int depth) {
    static const char *const operators[] = {"+", "-", "*", "/", "+", "*", "-", "%", "//"};
    value a = float_expression(g, t, depth - 1), b = float_expression(g, t, depth - 1);
    const char *op = operators[below(g, chance(g, 80) ? 7 : 9)];
    if (chance(g, 20)) {
        static const char *const bare[] = {"2", "0.5", "3", "1.0", "-2", "0.1", "10"};
        b.text = bare[below(g, 7)];
        if (chance(g, 30) && op[0] != '/' && op[0] != '%')
            return (value){format(g, "(%s %s %s)", b.text, op, a.text), t, {0, 0}, false};
    } else if (chance(g, 10)) {
        type other = any_type(g);
        if (common_type(t, other) == t)
            b = expression(g, other, depth - 1);
    }
    return (value){format(g, "(%s %s %s)", a.text, op, b.text), t, {0, 0}, false};
}

value float_operation(generator *g, type t, int depth) {
    static const char *const words[] = {"sqrt",  "floor",     "ceil", "trunc",
                                        "round", "nearbyint", "abs",  "fabs"};
    value v = {NULL, t, {0, 0}, false};
    switch (below(g, 14)) {
    case 0:
    case 1:
        v.text = format(g, "T.%s(%s)", words[below(g, 8)], float_expression(g, t, depth - 1).text);
        return v;
    case 2: {
        const char *a = float_expression(g, t, depth - 1).text, *b = float_expression(g, t, depth - 1).text;
        v.text = format(g, "T.fma(%s, %s, %s)", a, b, float_expression(g, t, depth - 1).text);
        return v;
    }
    case 3:
        v.text = format(g, "(-%s)", float_expression(g, t, depth - 1).text);
        return v;
    case 4:
        v = extreme(g, t, depth);
        return v;
    case 5:
        return choose(g, t, depth);
    case 6:
        return reinterpret(g, t, depth);
    default:
        return float_binary(g, t, depth);
    }
}
