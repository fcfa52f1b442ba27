/* SPDX-License-Identifier: Apache-2.0
 * What one thread does: scalars, lets, local arrays, stores, branches, loops. No thread writes what another
 * one reads, and every loop ends. */
#include "generate.h"

void add_variable(generator *g, const char *name, type t, range r, bool is_mutable) {
    if (g->variable_count < (int)(sizeof g->variables / sizeof g->variables[0]))
        g->variables[g->variable_count++] = (variable){name, t, r, is_mutable};
}

static void add_array(generator *g, array a) {
    if (g->array_count < (int)(sizeof g->arrays / sizeof g->arrays[0]))
        g->arrays[g->array_count++] = a;
}

/* Every spelling of a mutable scalar. */
void declare_scalar(generator *g, value v, range r) {
    const char *name = fresh_name(g), *t = type_name(v.type);
    switch (below(g, 7)) {
    case 0:
        line(g, "%s = T.local_scalar(\"%s\")", name, t);
        line(g, "%s = %s", name, v.text);
        break;
    case 1:
        line(g, "%s = T.alloc_local((1,), \"%s\")", name, t);
        line(g, "%s[0] = %s", name, v.text);
        if (chance(g, 50))
            name = format(g, "%s[0]", name);
        break;
    case 2:
        line(g, "%s: T.%s", name, t);
        line(g, "%s = %s", name, v.text);
        break;
    case 3:
        if (v.text[0] == '(') { /* an expression, not a name: a name would be an alias */
            line(g, "%s = %s", name, v.text);
            break;
        }
        line(g, "%s: T.%s = %s", name, t, v.text);
        break;
    case 4:
        line(g, "%s = T.alloc_scalar(\"%s\", scope=\"local\")", name, t);
        line(g, "%s = %s", name, v.text);
        break;
    default:
        line(g, "%s: T.%s = %s", name, t, v.text);
        break;
    }
    add_variable(g, name, v.type, r, true);
}

void declare_let(generator *g, value v) {
    const char *name = fresh_name(g);
    if (chance(g, 70))
        line(g, "%s: T.let = %s", name, v.text);
    else
        line(g, "%s: T.let[T.%s] = %s", name, type_name(v.type), v.text);
    add_variable(g, name, v.type, v.range, false);
}

static void new_scalar(generator *g) {
    type t = any_type(g);
    range r = full_range(t);
    value v = expression(g, t, 2 + below(g, 2));
    if (is_integer(t) && chance(g, 35)) {
        r = (range){is_signed(t) ? -100 : 0, 100};
        v = narrow(g, v, r.low, r.high);
    }
    declare_scalar(g, v, r);
}

static void new_let(generator *g) {
    declare_let(g, expression(g, any_type(g), 2 + below(g, 2)));
}

static void assign(generator *g) {
    int tries = 0;
    const variable *v = NULL;
    while (tries++ < 8 && g->variable_count) {
        v = &g->variables[below(g, g->variable_count)];
        if (v->is_mutable)
            break;
    }
    if (!v || !v->is_mutable) {
        new_scalar(g);
        return;
    }
    variable to = *v;
    value e = expression(g, to.type, 2 + below(g, 2));
    range full = full_range(to.type);
    bool any = to.range.low == full.low && to.range.high == full.high;
    bool wraps = is_float(to.type) ||
                 (any && is_integer(to.type) && (!is_signed(to.type) || type_bits(to.type) < 32 || g->wraps));
    if (chance(g, 40) && wraps) {
        static const char *const operators[] = {"+=", "-=", "*="};
        line(g, "%s %s %s", to.name, operators[below(g, 3)], e.text);
    } else if (chance(g, 40) && any && is_integer(to.type)) {
        static const char *const operators[] = {"^=", "|=", "&="};
        line(g, "%s %s %s", to.name, operators[below(g, 3)], e.text);
    } else if (chance(g, 20) && is_integer(to.type) && to.range.low <= 0) {
        static const char *const operators[] = {"//=", "%="};
        line(g, "%s %s %d", to.name, operators[below(g, 2)], 1 + below(g, 9));
    } else {
        if (is_integer(to.type))
            e = narrow(g, e, to.range.low, to.range.high);
        line(g, "%s = %s", to.name, e.text);
    }
}

/* ---- arrays ---- */
static void local_array(generator *g) {
    array a = {.name = fresh_name(g),
               .type = any_type(g),
               .rank = 1,
               .own_axis = -1,
               .is_writable = true,
               .is_readable = true,
               .is_dense = true};
    const char *t = type_name(a.type);
    a.shape[0] = 2 + below(g, 7);
    if (chance(g, 30)) {
        a.rank = 2;
        a.shape[0] = 2 + below(g, 3);
        a.shape[1] = 2 + below(g, 3);
        if (chance(g, 40))
            line(g, "%s = T.alloc_local((%d, %d), \"%s\", layout=T.TileLayout(T.S[(%d, %d) : (1, %d)]))",
                 a.name, a.shape[0], a.shape[1], t, a.shape[0], a.shape[1], a.shape[0] + below(g, 2));
        else
            line(g, "%s = T.alloc_local((%d, %d), \"%s\")", a.name, a.shape[0], a.shape[1], t);
    } else if (chance(g, 25)) {
        line(g, "%s: T.%s[%d]", a.name, t, a.shape[0]);
    } else if (chance(g, 30)) {
        line(g, "%s = T.alloc_buffer((%d,), \"%s\", scope=\"local\")", a.name, a.shape[0], t);
    } else {
        line(g, "%s = T.alloc_local((%d,), \"%s\")", a.name, a.shape[0], t);
    }
    /* every element gets a value before anything reads it */
    int mark = g->variable_count;
    const char *i = fresh_name(g), *j = fresh_name(g), *word = chance(g, 60) ? "T.unroll" : "T.serial";
    line(g, "for %s in %s(%d):", i, word, a.shape[0]);
    add_variable(g, i, I32, (range){0, a.shape[0] - 1}, false);
    g->indent++;
    if (a.rank == 2) {
        line(g, "for %s in %s(%d):", j, word, a.shape[1]);
        add_variable(g, j, I32, (range){0, a.shape[1] - 1}, false);
        g->indent++;
        line(g, "%s[%s, %s] = %s", a.name, i, j, expression(g, a.type, 1 + below(g, 2)).text);
        g->indent--;
    } else {
        line(g, "%s[%s] = %s", a.name, i, expression(g, a.type, 1 + below(g, 2)).text);
    }
    g->indent--;
    g->variable_count = mark;
    add_array(g, a);
}

void store_output(generator *g, const array *a, value v) {
    const char *place = element_text(g, a);
    static const char *const operators[] = {"+=", "-=", "^=", "|="};
    bool wraps = is_integer(a->type) && (!is_signed(a->type) || type_bits(a->type) < 32 || g->wraps);
    if (wraps && chance(g, 15))
        line(g, "%s %s %s", place, operators[below(g, 4)], v.text);
    else if (is_float(a->type) && chance(g, 15))
        line(g, "%s %s %s", place, operators[below(g, 2)], v.text);
    else
        line(g, "%s = %s", place, v.text);
}

static const array *pick_writable(generator *g) {
    const array *found = NULL;
    int count = 0;
    for (int i = 0; i < g->array_count; i++) {
        const array *a = &g->arrays[i];
        bool fits = a->own_axis < 0 || g->own_count <= a->shape[a->own_axis];
        if (a->is_writable && fits && below(g, ++count) == 0)
            found = a;
    }
    return found;
}

static void store(generator *g) {
    const array *found = pick_writable(g);
    if (!found) {
        new_scalar(g);
        return;
    }
    array a = *found;
    /* a store converts by itself; to an integer only from integers, as the conversion from floats warns */
    type from = a.type;
    if (chance(g, 15))
        from = is_float(a.type) ? any_type(g) : any_integer(g);
    if (a.type == BOOL)
        from = BOOL;
    store_output(g, &a, expression(g, from, 2 + below(g, 3)));
}

void store_anywhere(generator *g, value v) {
    const array *found = pick_writable(g);
    if (!found) {
        declare_scalar(g, v, full_range(v.type));
        return;
    }
    array a = *found;
    store_output(g, &a, convert(g, v, a.type));
}

/* ---- control ---- */
static void body(generator *g, int count, int loops) {
    int variables = g->variable_count, arrays = g->array_count, outer = g->loops;
    g->loops = loops;
    g->indent++;
    g->depth++;
    statements(g, count);
    g->depth--;
    g->indent--;
    g->loops = outer;
    g->variable_count = variables;
    g->array_count = arrays;
}

static void branch(generator *g) {
    line(g, "if %s:", bool_expression(g, 2).text);
    body(g, 1 + below(g, 3), g->loops);
    if (chance(g, 20)) {
        line(g, "elif %s:", bool_expression(g, 2).text);
        body(g, 1 + below(g, 2), g->loops);
    }
    if (chance(g, 40)) {
        line(g, "else:");
        body(g, 1 + below(g, 3), g->loops);
    }
}

/* What range(...) gets, and the values that the loop variable takes. */
static const char *bounds(generator *g, range *r, type t) {
    int low = chance(g, 70) ? 0 : below(g, 9) - (is_signed(t) ? 4 : 0), count = below(g, 6);
    *r = (range){low, low + count > low ? low + count - 1 : low};
    if (chance(g, 30)) { /* an extent that is known at run time only */
        const char *n = narrow(g, int_expression(g, t, 1), 0, 5).text;
        *r = (range){0, 4};
        return n;
    }
    if (chance(g, 25) && count > 0)
        return format(g, "%d, %d, step=%d", low, low + count, 1 + below(g, 3));
    if (low == 0)
        return format(g, "%d", count);
    return format(g, "%d, %d", low, low + count);
}

static const char *python_bounds(const char *text, generator *g) {
    const char *from = text;
    for (const char *c = text; *c; c++)
        if (c[0] == 's' && c[1] == 't' && c[2] == 'e' && c[3] == 'p' && c[4] == '=')
            return format(g, "%.*s%s", (int)(c - from), from, c + 5);
    return text;
}

static void loop(generator *g) {
    range r;
    const char *name = fresh_name(g);
    int kind = below(g, 10), mark = g->variable_count;
    type t = kind >= 8 && chance(g, 40) ? U32 : I32;
    const char *b = bounds(g, &r, t);
    if (kind < 3) {
        line(g, "for %s in range(%s):", name, python_bounds(b, g));
    } else if (kind == 3) {
        const char *other = fresh_name(g);
        int x = 1 + below(g, 3), y = 1 + below(g, 3);
        line(g, "for %s, %s in T.grid(%d, %d):", name, other, x, y);
        add_variable(g, name, I32, (range){0, x - 1}, false);
        add_variable(g, other, I32, (range){0, y - 1}, false);
        body(g, 1 + below(g, 3), 0);
        g->variable_count = mark;
        return;
    } else if (kind == 4 || kind == 5) {
        int count = below(g, 5);
        line(g, "for %s in T.unroll(%d):", name, count);
        add_variable(g, name, I32, (range){0, count > 0 ? count - 1 : 0}, false);
        body(g, 1 + below(g, 3), 0);
        g->variable_count = mark;
        return;
    } else if (kind == 6) {
        static const char *const hints[] = {"True", "False", "2", "4"};
        line(g, "for %s in T.serial(%s, unroll=%s):", name, b, hints[below(g, 4)]);
    } else if (t == U32) {
        line(g, "for %s in T.serial(%s, dtype=\"uint32\"):", name, b);
    } else {
        line(g, "for %s in T.serial(%s):", name, b);
    }
    add_variable(g, name, t, r, false);
    body(g, 1 + below(g, 4), g->loops + 1);
    g->variable_count = mark;
}

static void while_loop(generator *g) {
    type t = chance(g, 80) ? I32 : any_integer(g);
    const char *name = fresh_name(g);
    line(g, "%s: T.%s = %s", name, type_name(t), narrow(g, int_expression(g, t, 1), 0, 6).text);
    if (chance(g, 30))
        line(g, "while %s > 0 and %s:", name, bool_expression(g, 1).text);
    else
        line(g, "while %s > 0:", name);
    int mark = g->variable_count;
    /* counted down first, so that continue cannot skip it; nothing else assigns it */
    g->indent++;
    line(g, "%s %s", name, is_integer(t) && chance(g, 20) ? "//= 2" : "-= 1");
    g->indent--;
    add_variable(g, name, t, (range){0, 6}, false);
    body(g, 1 + below(g, 3), g->loops + 1);
    g->variable_count = mark;
}

/* A nest of counted loops that adds up elements at affine places: what the loop passes of the compiler are
 * for. */
static void sum_nest(generator *g) {
    type t = any_type(g);
    if (t == BOOL || (is_signed(t) && type_bits(t) >= 32 && !g->wraps))
        t = U32;
    int mark = g->variable_count, levels = 1 + below(g, 3), indent = g->indent;
    const char *total = fresh_name(g);
    line(g, "%s: T.%s = %s", total, type_name(t), literal(g, t).text);
    for (int i = 0; i < levels; i++) {
        const char *name = fresh_name(g);
        int count = 1 + below(g, i == 0 ? 8 : 4), first = chance(g, 70) ? 0 : below(g, 4),
            step = chance(g, 80) ? 1 : 2 + below(g, 2);
        static const char *const words[] = {"T.serial", "range", "T.unroll", "T.serial"};
        const char *word = words[below(g, 4)];
        if (step == 1)
            line(g, "for %s in %s(%d, %d):", name, word, first, first + count);
        else
            line(g, word[0] == 'r' ? "for %s in %s(%d, %d, %d):" : "for %s in %s(%d, %d, step=%d):", name,
                 word, first, first + count, step);
        add_variable(g, name, I32, (range){first, first + count - 1}, false);
        g->indent++;
        if (chance(g, 20))
            line(g, "%s %s %s", total, chance(g, 50) ? "+=" : "-=", leaf(g, t).text);
    }
    int terms = 1 + below(g, 4);
    for (int i = 0; i < terms; i++)
        line(g, "%s %s %s", total, chance(g, 60) ? "+=" : "-=",
             chance(g, 60) ? expression(g, t, 1).text
                           : format(g, "%s * %s", leaf(g, t).text, leaf(g, t).text));
    g->indent = indent;
    g->variable_count = mark;
    add_variable(g, total, t, is_float(t) ? (range){0, 0} : full_range(t), true);
}

static void leave_loop(generator *g) {
    line(g, "if %s:", bool_expression(g, 2).text);
    g->indent++;
    line(g, chance(g, 50) ? "break" : "continue");
    g->indent--;
}

static void statement(generator *g) {
    int kind = below(g, 100);
    if (g->depth >= 3 && kind >= 70)
        kind = below(g, 70);
    if (kind < 18)
        new_scalar(g);
    else if (kind < 28)
        new_let(g);
    else if (kind < 48)
        assign(g);
    else if (kind < 66)
        store(g);
    else if (kind < 70 && g->depth < 2)
        local_array(g);
    else if (kind < 71)
        line(g, "pass");
    else if (kind < 74)
        sum_nest(g);
    else if (kind < 78)
        guarded_segment(g);
    else if (kind < 84)
        branch(g);
    else if (kind < 94)
        loop(g);
    else if (kind < 98)
        while_loop(g);
    else if (g->loops > 0)
        leave_loop(g);
    else
        assign(g);
}

void statements(generator *g, int count) {
    int done = 0;
    for (int i = 0; i < count && g->budget > 0; i++, done++) {
        g->budget--;
        statement(g);
        if (g->loops > 0 && chance(g, 12))
            leave_loop(g);
    }
    if (done == 0)
        line(g, "pass");
}
