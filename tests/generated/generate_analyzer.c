/* SPDX-License-Identifier: Apache-2.0
 * What an analyzer works on: quotients and remainders of sums of multiples, lets of such sums, and statements
 * under conditions that say something about a variable, so that wrong facts change results. Every value keeps
 * its range. */
#include "generate.h"

/* x * C + y with small ranges; *factor is C. */
static value sum_of_multiples(generator *g, type t, int *factor) {
    static const int factors[] = {2, 3, 4, 5, 8, 4, 8, 6, 12};
    int c = factors[below(g, type_bits(t) == 8 ? 5 : 9)], many = type_bits(t) == 8 ? 6 : 1 + below(g, 200);
    bool negative = is_signed(t) && chance(g, 35);
    value x = narrow(g, int_expression(g, t, 1), negative ? -many : 0, many);
    value y =
        narrow(g, int_expression(g, t, 1), negative && chance(g, 40) ? -c : 0, chance(g, 70) ? c - 1 : 2 * c);
    *factor = c;
    value s = {NULL, t, {x.range.low * c + y.range.low, x.range.high * c + y.range.high}, false};
    if (x.range.low * c > x.range.high * c || chance(g, 25))
        s.text = format(g, "(%s + %s * %d)", y.text, x.text, c);
    else
        s.text = format(g, "(%s * %d + %s)", x.text, c, y.text);
    if (chance(g, 25)) {
        int more = below(g, 3) * c + (chance(g, 30) ? 1 : 0);
        s.text = format(g, "(%s + %d)", s.text, more);
        s.range.low += more;
        s.range.high += more;
    }
    return s;
}

static wide floor_quotient(wide a, wide b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static wide truncated_or(wide a, wide b, wide other, bool truncated) {
    return truncated ? a / b : other;
}

/* s divided by something that has to do with its factor. */
value divided_sum(generator *g, type t) {
    int c;
    value s = sum_of_multiples(g, t, &c);
    int d = chance(g, 50) ? c : chance(g, 50) ? c * 2 : c % 2 == 0 ? c / 2 : 3;
    bool truncated = chance(g, 25);
    if (chance(g, 50)) {
        s.text = truncated ? format(g, "T.truncdiv(%s, %d)", s.text, d) : format(g, "(%s // %d)", s.text, d);
        s.range = (range){truncated_or(s.range.low, d, floor_quotient(s.range.low, d), truncated),
                          truncated_or(s.range.high, d, floor_quotient(s.range.high, d), truncated)};
        return s;
    }
    s.text = truncated ? format(g, "T.truncmod(%s, %d)", s.text, d) : format(g, "(%s %% %d)", s.text, d);
    s.range = (range){truncated && s.range.low < 0 ? 1 - d : 0, d - 1};
    return s;
}

/* A value made of the variable, without a sum that could overflow. */
static value about(generator *g, const variable *v) {
    int c = 1 + below(g, 12);
    range full = full_range(v->type);
    bool room = v->range.low > full.low / 4 && v->range.high < full.high / 4 - 16;
    value r = {v->name, v->type, v->range, false};
    switch (below(g, room ? 9 : 6)) {
    case 0:
        r.text = format(g, "(%s // %d)", v->name, c);
        r.range = (range){floor_quotient(r.range.low, c), floor_quotient(r.range.high, c)};
        return r;
    case 1:
        r.text = format(g, "(%s %% %d)", v->name, c);
        r.range = (range){0, c - 1};
        return r;
    case 2:
        r.text = format(g, "T.min(%s, %d)", v->name, c);
        r.range = (range){r.range.low < c ? r.range.low : c, r.range.high < c ? r.range.high : c};
        return r;
    case 3:
        r.text = format(g, "T.max(%s, %d)", v->name, c);
        r.range = (range){r.range.low > c ? r.range.low : c, r.range.high > c ? r.range.high : c};
        return r;
    case 4:
        return (value){format(g, "T.Select(%s < %d, %s, %d)", v->name, c, v->name, c),
                       v->type,
                       {r.range.low < c ? r.range.low : c, c > r.range.high ? r.range.high : c},
                       false};
    case 5:
        return (value){format(g, "(%s & %d)", v->name, c), v->type, {0, 15}, false};
    case 6:
        r.text = format(g, "(%s // %d * %d + %s %% %d)", v->name, c, c, v->name, c);
        return r;
    case 7:
        r.text = format(g, "((%s + %d) // %d)", v->name, c * below(g, 3), c);
        r.range = (range){full.low, full.high};
        return r;
    default:
        r.text = format(g, "(%s - %s %% %d)", v->name, v->name, c);
        r.range.low -= c;
        return r;
    }
}

static const char *condition_about(generator *g, const variable *v) {
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    int c = below(g, 20), m = 2 + below(g, 7);
    switch (below(g, 6)) {
    case 0:
        return format(g, "%s %% %d == %d", v->name, m, below(g, m));
    case 1:
        return format(g, "%s >= %d and %s < %d", v->name, below(g, 4), v->name, c);
    case 2:
        return format(g, "not (%s %s %d)", v->name, operators[below(g, 6)], c);
    case 3:
        return format(g, "%s // %d %s %d", v->name, m, operators[below(g, 6)], below(g, 5));
    case 4:
        return format(g, "%s < %d or %s > %d", v->name, c, v->name, c + below(g, 9));
    default:
        return format(g, "%s %s %d", v->name, operators[below(g, 6)], c);
    }
}

static const variable *integer_variable(generator *g) {
    const variable *found = NULL;
    int count = 0;
    for (int i = 0; i < g->variable_count; i++)
        if (is_integer(g->variables[i].type) && below(g, ++count) == 0)
            found = &g->variables[i];
    return found;
}

static void keep(generator *g, value v) {
    if (chance(g, 60))
        declare_let(g, v);
    else
        declare_scalar(g, v, v.range);
}

/* A condition about a variable, and inside it what the condition decides. */
void guarded_segment(generator *g) {
    int c, mark = g->variable_count;
    value s = sum_of_multiples(g, chance(g, 70) ? I32 : any_integer(g), &c);
    keep(g, s);
    const variable *picked = chance(g, 60) ? &g->variables[g->variable_count - 1] : integer_variable(g);
    if (!picked || g->variable_count == mark)
        return;
    variable v = *picked;
    line(g, "if %s:", condition_about(g, &v));
    int inner = g->variable_count;
    g->indent++;
    for (int i = 0, count = 1 + below(g, 3); i < count; i++)
        store_anywhere(g, about(g, &v));
    if (chance(g, 35)) {
        line(g, "if %s:", condition_about(g, &v));
        g->indent++;
        store_anywhere(g, about(g, &v));
        g->indent--;
    }
    g->variable_count = inner; /* what a branch declares is gone after it */
    g->indent--;
    if (chance(g, 50)) {
        line(g, "else:");
        g->indent++;
        store_anywhere(g, about(g, &v));
        g->indent--;
        g->variable_count = inner;
    }
}
