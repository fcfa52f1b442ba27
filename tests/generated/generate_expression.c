/* SPDX-License-Identifier: Apache-2.0
 * Expressions: literals, variables, element loads, conversions, conditions. Every integer expression carries
 * the range of its values; what would leave a tensor, overflow a signed sum or divide by zero is narrowed
 * first. */
#include "generate.h"

range join(range a, range b) {
    return (range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
static bool inside(range r, wide low, wide high) {
    return r.low >= low && r.high <= high;
}

const char *integer_text(generator *g, wide number) {
    if (number >= 0)
        return format(g, "%llu", (unsigned long long)number);
    return format(g, "-%llu", (unsigned long long)-number);
}

/* ---- literals ---- */
static wide interesting_integer(generator *g, type t) {
    range full = full_range(t);
    wide number;
    switch (below(g, 5)) {
    case 0:
        return below(g, 5);
    case 1:
        number = (wide)1 << below(g, type_bits(t));
        number += below(g, 3) - 1;
        break;
    case 2:
        number = chance(g, 50) ? full.low + below(g, 2) : full.high - below(g, 2);
        break;
    case 3:
        number = below(g, 100) - 40;
        break;
    default:
        number = (wide)(random_bits(g) >> (64 - type_bits(t)));
        if (is_signed(t))
            number += full.low;
        break;
    }
    return number < full.low || number > full.high ? below(g, 100) : number;
}

static const char *float_text(generator *g, type t) {
    static const char *const common[] = {"0.0", "1.0",  "2.0",  "0.5",  "-1.0",   "-1.5", "3.0",
                                         "0.1", "-0.0", "10.0", "0.75", "3.1415", "-7.0", "1e-3"};
    static const char *const wide_ones[] = {"1e10", "-3e20", "1e-30", "123456789.0", "16777217.0"};
    if (t != F16 && chance(g, 15))
        return wide_ones[below(g, 5)];
    return common[below(g, sizeof common / sizeof common[0])];
}

value literal(generator *g, type t) {
    if (t == BOOL) {
        bool truth = chance(g, 50);
        return (value){truth ? "T.bool(True)" : "T.bool(False)", BOOL, {truth, truth}, false};
    }
    if (is_float(t))
        return (value){format(g, "T.%s(%s)", type_name(t), float_text(g, t)), t, {0, 0}, false};
    wide number = interesting_integer(g, t);
    return (value){format(g, "T.%s(%s)", type_name(t), integer_text(g, number)), t, {number, number}, false};
}

/* ---- conversions ---- */
value convert(generator *g, value v, type to) {
    if (v.type == to)
        return v;
    const char *name = type_name(to);
    value result = {NULL, to, {0, 0}, false};
    switch (below(g, 5)) {
    case 0:
        result.text = format(g, "T.cast(%s, \"%s\")", v.text, name);
        break;
    case 1:
        result.text = format(g, "T.Cast(\"%s\", %s)", name, v.text);
        break;
    default:
        result.text = format(g, "T.%s(%s)", name, v.text);
        break;
    }
    if (is_float(to))
        return result;
    result.range = full_range(to);
    if (to != BOOL && !is_float(v.type) && inside(v.range, result.range.low, result.range.high))
        result.range = v.range;
    return result;
}

value narrow(generator *g, value v, wide low, wide high) {
    range full = full_range(v.type);
    if (inside(v.range, low, high))
        return v;
    wide count = high - low + 1, mask = 1;
    int way = below(g, 3);
    if (way == 0 && count <= full.high) {
        v.text = format(g, "(%s %% %s)", v.text, integer_text(g, count));
        if (low != 0)
            v.text =
                format(g, low < 0 ? "(%s - %s)" : "(%s + %s)", v.text, integer_text(g, low < 0 ? -low : low));
        v.range = (range){low, high};
    } else if (way == 1 && low <= 0 && high > 0) {
        while (2 * mask + 1 <= high)
            mask = 2 * mask + 1;
        v.text = format(g, "(%s & %s)", v.text, integer_text(g, mask));
        v.range = (range){0, mask};
    } else {
        if (v.range.low < low)
            v.text = format(g, "T.max(%s, %s)", v.text, integer_text(g, low));
        if (v.range.high > high)
            v.text = format(g, "T.min(%s, %s)", v.text, integer_text(g, high));
        v.range.low = v.range.low < low ? low : v.range.low > high ? high : v.range.low;
        v.range.high = v.range.high > high ? high : v.range.high < low ? low : v.range.high;
    }
    v.is_load = false;
    return v;
}

/* ---- loads ---- */
/* Sums of multiples of variables, as real kernels index: what strength reduction and wide loads work on. */
static const char *affine_index(generator *g, int extent) {
    wide low = 0, high = 0;
    const char *text = NULL;
    for (int tries = 0; tries < 6; tries++) {
        const variable *v = &g->variables[g->variable_count - 1 - below(g, g->variable_count)];
        if (chance(g, 60)) /* the nearest ones are loop variables */
            v = &g->variables[g->variable_count - 1 -
                              below(g, g->variable_count < 4 ? g->variable_count : 4)];
        int factor = chance(g, 40) ? 1 : 1 + below(g, 8);
        if (v->type != I32 || v->is_mutable || v->range.low < 0 || high + factor * v->range.high > extent - 1)
            continue;
        low += factor * v->range.low;
        high += factor * v->range.high;
        const char *term = factor == 1     ? v->name
                           : chance(g, 80) ? format(g, "%s * %d", v->name, factor)
                                           : format(g, "%d * %s", factor, v->name);
        text = text ? format(g, "%s + %s", text, term) : term;
    }
    if (!text)
        return NULL;
    int room = (int)(extent - 1 - high);
    if (room > 0 && chance(g, 40))
        return format(g, "%s + %d", text, 1 + below(g, room));
    if (low > 0 && chance(g, 30))
        return format(g, "%s - %d", text, (int)low);
    return text;
}

const char *index_text(generator *g, int extent) {
    if (extent == 1 || chance(g, 15))
        return format(g, "%d", below(g, extent));
    if (g->variable_count && chance(g, 45)) {
        const char *affine = affine_index(g, extent);
        if (affine)
            return affine;
    }
    for (int tries = 0; tries < 3 && chance(g, 70) && g->variable_count; tries++) {
        const variable *v = &g->variables[below(g, g->variable_count)];
        if (is_integer(v->type) && inside(v->range, 0, extent - 1))
            return v->name;
    }
    g->nest++;
    type t = chance(g, 80) ? I32 : any_integer(g);
    value v = expression(g, t, g->nest > 1 ? 0 : 1);
    g->nest--;
    wide high = extent - 1;
    range full = full_range(t);
    return narrow(g, v, 0, high < full.high ? high : full.high).text;
}

const char *element_text(generator *g, const array *a) {
    const char *text = NULL;
    for (int i = 0; i < a->rank; i++) {
        const char *index = i == a->own_axis ? g->own : index_text(g, a->shape[i]);
        text = text ? format(g, "%s, %s", text, index) : index;
    }
    return format(g, "%s[%s]", a->name, text);
}

value load(generator *g, const array *a) {
    return (value){element_text(g, a), a->type, is_float(a->type) ? (range){0, 0} : full_range(a->type),
                   true};
}

static bool is_reachable(const generator *g, const array *a) {
    return a->is_readable && (a->own_axis < 0 || g->own_count <= a->shape[a->own_axis]);
}

static const array *pick_array(generator *g, int t) {
    const array *found = NULL;
    int count = 0;
    for (int i = 0; i < g->array_count; i++)
        if (is_reachable(g, &g->arrays[i]) && (t < 0 || (int)g->arrays[i].type == t) &&
            below(g, ++count) == 0)
            found = &g->arrays[i];
    return found;
}

static const variable *pick_variable(generator *g, int t) {
    const variable *found = NULL;
    int count = 0;
    for (int i = 0; i < g->variable_count; i++)
        if ((t < 0 || (int)g->variables[i].type == t) && below(g, ++count) == 0)
            found = &g->variables[i];
    return found;
}

value leaf(generator *g, type t) {
    const variable *v = pick_variable(g, t);
    const array *a = g->nest < 2 ? pick_array(g, t) : NULL;
    if (v && (!a || chance(g, 55)) && !chance(g, 15))
        return (value){v->name, t, v->range, false};
    if (a && !chance(g, 10))
        return load(g, a);
    if (v || chance(g, 40))
        return literal(g, t);
    v = pick_variable(g, -1);
    a = g->nest < 2 ? pick_array(g, -1) : NULL;
    if (g->no_floats && a && is_float(a->type))
        a = NULL;
    if (a && chance(g, 50))
        return convert(g, load(g, a), t);
    if (v)
        return convert(g, (value){v->name, v->type, v->range, false}, t);
    return literal(g, t);
}

/* ---- promotion, as language.md 2.9 says ---- */
type common_type(type a, type b) {
    static const int rank[TYPE_COUNT] = {[BF16] = 1, [F16] = 2, [F32] = 3, [F64] = 4};
    if (a == b)
        return a;
    if (is_float(a) || is_float(b))
        return is_float(a) && (!is_float(b) || rank[a] > rank[b]) ? a : b;
    if (a == BOOL || b == BOOL)
        return a == BOOL ? b : a;
    if (type_bits(a) != type_bits(b))
        return type_bits(a) > type_bits(b) ? a : b;
    return is_signed(a) ? b : a;
}

/* ---- conditions ---- */
static value truth(const char *text) {
    return (value){text, BOOL, {0, 1}, false};
}

static value comparison(generator *g, int depth) {
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    const char *op = operators[below(g, 6)];
    type t = g->no_floats || chance(g, 65) ? any_integer(g) : any_float(g);
    value a = expression(g, t, depth - 1);
    if (chance(g, 25)) {
        value one = literal(g, t);
        if (is_integer(t))
            return truth(format(g, "(%s %s %s)", a.text, op, integer_text(g, one.range.low)));
        return truth(format(g, "(%s %s %s)", a.text, op, float_text(g, t)));
    }
    type other = chance(g, 80) ? t : any_integer(g);
    value b = expression(g, other, depth - 1);
    if (chance(g, 10) && other == t)
        return truth(format(g, "(%s %s %s %s %s)", a.text, op, b.text, operators[below(g, 6)],
                            expression(g, t, depth - 1).text));
    return truth(format(g, "(%s %s %s)", a.text, op, b.text));
}

static value logic(generator *g, int depth) {
    const char *a = bool_expression(g, depth - 1).text, *b = bool_expression(g, depth - 1).text;
    switch (below(g, 9)) {
    case 0:
        return truth(format(g, "(%s and %s)", a, b));
    case 1:
        return truth(format(g, "(%s or %s)", a, b));
    case 2:
        return truth(format(g, "T.And(%s, %s)", a, b));
    case 3:
        return truth(format(g, "T.Or(%s, %s)", a, b));
    case 4:
        return truth(format(g, "(%s & %s)", a, b));
    case 5:
        return truth(format(g, "(%s | %s)", a, b));
    case 6:
        return truth(format(g, "(%s ^ %s)", a, b));
    case 7:
        return truth(format(g, "(not %s)", a));
    default:
        return truth(format(g, "T.Not(%s)", b));
    }
}

value bool_expression(generator *g, int depth) {
    if (depth <= 0)
        return leaf(g, BOOL);
    switch (below(g, 8)) {
    case 0:
    case 1:
    case 2:
        return logic(g, depth);
    case 3:
        if (!g->no_floats) {
            static const char *const words[] = {"isnan", "isinf", "isfinite"};
            type t = any_float(g);
            return truth(format(g, "T.%s(%s)", words[below(g, 3)], float_expression(g, t, depth - 1).text));
        }
        return comparison(g, depth);
    case 4: {
        type t = chance(g, 70) || g->no_floats ? any_integer(g) : any_float(g);
        return convert(g, expression(g, t, depth - 1), BOOL);
    }
    default:
        return comparison(g, depth);
    }
}

/* ---- all ---- */
value int_expression(generator *g, type t, int depth) {
    if (depth <= 0)
        return leaf(g, t);
    if (chance(g, 15)) {
        type from = any_type(g);
        if (from != t)
            return convert(g, expression(g, from, depth - 1), t);
    }
    return int_operation(g, t, depth);
}

/* A value through a type of 8 bits and fewer, which rounds and saturates it. */
static value through_narrow(generator *g, type t, int depth) {
    static const char *const narrow_types[] = {"float8_e3m4",     "float8_e4m3",        "float8_e4m3fn",
                                               "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2",
                                               "float8_e5m2fnuz", "float8_e8m0fnu",     "float6_e2m3fn",
                                               "float6_e3m2fn",   "float4_e2m1fn",      "tfloat32"};
    const char *name = narrow_types[below(g, sizeof narrow_types / sizeof narrow_types[0])];
    value v = expression(g, any_type(g), depth - 1);
    return (value){
        format(g, "T.cast(T.cast(%s, \"%s\"), \"%s\")", v.text, name, type_name(t)), t, {0, 0}, false};
}

value float_expression(generator *g, type t, int depth) {
    if (depth <= 0)
        return leaf(g, t);
    if (chance(g, 8))
        return through_narrow(g, t, depth);
    if (chance(g, 15)) {
        type from = any_type(g);
        if (from != t)
            return convert(g, expression(g, from, depth - 1), t);
    }
    return float_operation(g, t, depth);
}

value expression(generator *g, type t, int depth) {
    if (t == BOOL)
        return bool_expression(g, depth);
    return is_float(t) ? float_expression(g, t, depth) : int_expression(g, t, depth);
}
