/* SPDX-License-Identifier: Apache-2.0
 * Operators: Python's rules on compile-time operands, IR with promotion as soon as one operand is IR. */
#include "script/script_evaluate.h"
#include <math.h>
#include <string.h>

static script_value no_operator(script_evaluator *e, script_operator op, script_value a, script_value b,
                                base_span span) {
    if (script_is_poison(a) || script_is_poison(b))
        return script_poison();
    script_error(e, "T0262", span, "operator %s does not take %s and %s", script_operator_text(op),
                 script_value_name(e->arena, a), script_value_name(e->arena, b));
    return script_poison();
}

static script_value overflow(script_evaluator *e, base_span span) {
    base_diagnostic *d =
        script_error(e, "T0260", span, "the result of this compile-time arithmetic does not fit 64 bits");
    base_help(e->diagnostics, d, "integers of a script are 64 bits wide");
    return script_poison();
}

static script_value by_zero(script_evaluator *e, base_span span) {
    script_error(e, "T0261", span, "division by zero");
    return script_poison();
}

/* ---- compile-time numbers ---- */

static script_value power(script_evaluator *e, int64_t a, int64_t b, base_span span) {
    if (b < 0)
        return script_float(pow((double)a, (double)b));
    int64_t result = 1;
    for (; b > 0; b >>= 1) {
        if ((b & 1) && __builtin_mul_overflow(result, a, &result))
            return overflow(e, span);
        if (b > 1 && __builtin_mul_overflow(a, a, &a))
            return overflow(e, span);
    }
    return script_int(result);
}

static script_value integer_divide(script_evaluator *e, script_operator op, int64_t a, int64_t b,
                                   base_span span) {
    if (b == 0)
        return by_zero(e, span);
    if (op == SCRIPT_OP_DIV)
        return script_float((double)a / (double)b);
    if (b == -1)
        return op == SCRIPT_OP_MOD ? script_int(0) : a == INT64_MIN ? overflow(e, span) : script_int(-a);
    return script_int(op == SCRIPT_OP_MOD ? num_floor_modulo(NUM_DTYPE_I64, a, b)
                                          : num_floor_divide(NUM_DTYPE_I64, a, b));
}

static script_value integer_shift(script_evaluator *e, script_operator op, int64_t a, int64_t b,
                                  base_span span) {
    if (b < 0) {
        script_error(e, "T0262", span, "a shift count may not be negative");
        return script_poison();
    }
    if (op == SCRIPT_OP_SHR)
        return script_int(a >> (b > 63 ? 63 : b));
    if (a == 0)
        return script_int(0);
    if (b > 62 || a > (INT64_MAX >> b) || a < (INT64_MIN >> b))
        return overflow(e, span);
    return script_int((int64_t)((uint64_t)a << b));
}

static script_value integer_binary(script_evaluator *e, script_operator op, int64_t a, int64_t b,
                                   base_span span) {
    int64_t result;
    switch (op) {
    case SCRIPT_OP_ADD:
        return __builtin_add_overflow(a, b, &result) ? overflow(e, span) : script_int(result);
    case SCRIPT_OP_SUB:
        return __builtin_sub_overflow(a, b, &result) ? overflow(e, span) : script_int(result);
    case SCRIPT_OP_MUL:
        return __builtin_mul_overflow(a, b, &result) ? overflow(e, span) : script_int(result);
    case SCRIPT_OP_DIV:
    case SCRIPT_OP_FLOORDIV:
    case SCRIPT_OP_MOD:
        return integer_divide(e, op, a, b, span);
    case SCRIPT_OP_POW:
        return power(e, a, b, span);
    case SCRIPT_OP_SHL:
    case SCRIPT_OP_SHR:
        return integer_shift(e, op, a, b, span);
    case SCRIPT_OP_BITAND:
        return script_int(a & b);
    case SCRIPT_OP_BITOR:
        return script_int(a | b);
    case SCRIPT_OP_BITXOR:
        return script_int(a ^ b);
    default:
        return no_operator(e, op, script_int(a), script_int(b), span);
    }
}

/* As Python divides floats: the remainder is exact and has the divisor's sign, zeros too; the quotient
 * follows from it. */
static void real_divide(double a, double b, double *quotient, double *remainder) {
    double r = fmod(a, b), q = (a - r) / b;
    if (r == 0)
        r = copysign(0.0, b);
    else if ((r < 0) != (b < 0)) {
        r += b;
        q -= 1;
    }
    double whole = floor(q);
    *quotient = q == 0 ? copysign(0.0, a / b) : q - whole > 0.5 ? whole + 1 : whole;
    *remainder = r;
}

static script_value real_binary(script_evaluator *e, script_operator op, double a, double b, base_span span) {
    switch (op) {
    case SCRIPT_OP_ADD:
        return script_float(a + b);
    case SCRIPT_OP_SUB:
        return script_float(a - b);
    case SCRIPT_OP_MUL:
        return script_float(a * b);
    case SCRIPT_OP_DIV:
        return b == 0 ? by_zero(e, span) : script_float(a / b);
    case SCRIPT_OP_FLOORDIV:
    case SCRIPT_OP_MOD: {
        double quotient, remainder;
        if (b == 0)
            return by_zero(e, span);
        real_divide(a, b, &quotient, &remainder);
        return script_float(op == SCRIPT_OP_MOD ? remainder : quotient);
    }
    case SCRIPT_OP_POW:
        return script_float(pow(a, b));
    default:
        return no_operator(e, op, script_float(a), script_float(b), span);
    }
}

static bool real_of(script_value v, double *real) {
    int64_t i;
    if (v.kind == SCRIPT_VALUE_FLOAT)
        *real = v.as.real;
    else if (script_value_integer(v, &i))
        *real = (double)i;
    else if (v.kind == SCRIPT_VALUE_INT)
        *real = (double)(uint64_t)v.as.integer;
    else
        return false;
    return true;
}

/* ---- sequences ---- */

static script_value repeat(script_evaluator *e, script_value v, int64_t count, base_span span) {
    size_t size = v.kind == SCRIPT_VALUE_STRING ? v.as.string.size : v.as.list->items.count;
    if (count < 0)
        count = 0;
    if (size > 0 && (uint64_t)count > SCRIPT_MAX_ITEMS / size) {
        script_error(e, "T0263", span, "a sequence of over %d items", SCRIPT_MAX_ITEMS);
        return script_poison();
    }
    script_charge(e, size * (size_t)count);
    if (v.kind == SCRIPT_VALUE_STRING) {
        base_builder b;
        base_builder_start(&b, e->arena);
        base_builder_string(&b, "");
        for (int64_t i = 0; i < count; i++)
            base_builder_add(&b, v.as.string.text, size);
        return script_string(e->arena, b.data, b.size);
    }
    script_value list = script_list_make(e->arena, v.kind);
    for (int64_t i = 0; i < count; i++)
        for (size_t j = 0; j < size; j++)
            script_list_add(e->arena, list, v.as.list->items.items[j]);
    return list;
}

static size_t item_count(script_value v) {
    return v.kind == SCRIPT_VALUE_STRING ? v.as.string.size : v.as.list->items.count;
}

static script_value concatenate(script_evaluator *e, script_value a, script_value b, base_span span) {
    script_charge(e, item_count(a) + item_count(b));
    if (item_count(a) + item_count(b) > SCRIPT_MAX_ITEMS) {
        script_error(e, "T0263", span, "a sequence of over %d items", SCRIPT_MAX_ITEMS);
        return script_poison();
    }
    if (a.kind == SCRIPT_VALUE_STRING) {
        base_builder text;
        base_builder_start(&text, e->arena);
        base_builder_add(&text, a.as.string.text, a.as.string.size);
        base_builder_add(&text, b.as.string.text, b.as.string.size);
        return script_string(e->arena, text.data, text.size);
    }
    script_value list = script_list_make(e->arena, a.kind);
    for (size_t i = 0; i < a.as.list->items.count; i++)
        script_list_add(e->arena, list, a.as.list->items.items[i]);
    for (size_t i = 0; i < b.as.list->items.count; i++)
        script_list_add(e->arena, list, b.as.list->items.items[i]);
    return list;
}

static bool is_sequence(script_value v) {
    return v.kind == SCRIPT_VALUE_STRING || v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST;
}

static script_value constant_binary(script_evaluator *e, script_operator op, script_value a, script_value b,
                                    base_span span) {
    int64_t i, j;
    double x, y;
    if (script_value_integer(a, &i) && script_value_integer(b, &j))
        return integer_binary(e, op, i, j, span);
    if (real_of(a, &x) && real_of(b, &y))
        return a.kind == SCRIPT_VALUE_INT && b.kind == SCRIPT_VALUE_INT ? overflow(e, span)
                                                                        : real_binary(e, op, x, y, span);
    if (op == SCRIPT_OP_ADD && is_sequence(a) && a.kind == b.kind)
        return concatenate(e, a, b, span);
    if (op == SCRIPT_OP_MUL && is_sequence(a) && script_value_integer(b, &j))
        return repeat(e, a, j, span);
    if (op == SCRIPT_OP_MUL && is_sequence(b) && script_value_integer(a, &i))
        return repeat(e, b, i, span);
    return no_operator(e, op, a, b, span);
}

/* ---- IR ---- */

static script_value need_integers(script_evaluator *e, script_operator op, ir_type type, base_span span) {
    script_error(e, "T0262", span, "operator %s takes integers, not %s", script_operator_text(op),
                 script_type_name(e, type));
    return script_poison();
}

static script_value divide_ir(script_evaluator *e, script_operator op, const ir_expr *x, const ir_expr *y,
                              base_span span) {
    bool is_integer = !ir_type_is_float(x->type);
    int64_t zero;
    if (op == SCRIPT_OP_DIV) {
        if (!is_integer)
            return script_expr(ir_binary(e->module, IR_DIV, x, y));
        base_diagnostic *d = script_error(e, "T0232", span, "`/` between integers could mean two things");
        base_help(e->diagnostics, d,
                  "a // b rounds down, T.truncdiv(a, b) toward zero; for a float convert one side first");
        return script_poison();
    }
    if (is_integer && ir_is_int(y, &zero) && zero == 0)
        return by_zero(e, span);
    if (is_integer)
        return script_expr(ir_binary(e->module, op == SCRIPT_OP_MOD ? IR_FLOORMOD : IR_FLOORDIV, x, y));
    /* floats: floor(x / y), and x - floor(x / y) * y with one rounding, so that no road may round it
     * otherwise */
    const ir_expr *quotient = ir_unary(e->module, IR_FLOOR, ir_binary(e->module, IR_DIV, x, y));
    if (op == SCRIPT_OP_FLOORDIV)
        return script_expr(quotient);
    return script_expr(ir_fma(e->module, ir_unary(e->module, IR_NEG, quotient), y, x));
}

static script_value bits_ir(script_evaluator *e, script_operator op, const ir_expr *x, const ir_expr *y,
                            base_span span) {
    ir_op ir = op == SCRIPT_OP_BITAND   ? IR_BITAND
               : op == SCRIPT_OP_BITOR  ? IR_BITOR
               : op == SCRIPT_OP_BITXOR ? IR_BITXOR
               : op == SCRIPT_OP_SHL    ? IR_SHL
                                        : IR_SHR;
    if (ir_type_is_integer(x->type))
        return script_expr(ir_binary(e->module, ir, x, y));
    if (ir_type_is_bool(x->type) && ir != IR_SHL && ir != IR_SHR) {
        if (ir == IR_BITXOR)
            return script_expr(ir_binary(e->module, IR_NE, x, y));
        return script_expr(ir_binary(e->module, ir == IR_BITAND ? IR_AND : IR_OR, x, y));
    }
    return need_integers(e, op, x->type, span);
}

/* a + b by __add__ of a, or __radd__ of b; a member of an enumeration of integers is its number. */
static script_value object_binary(script_evaluator *e, script_operator op, script_value a, script_value b,
                                  base_span span) {
    static const char *const names[] = {
        [SCRIPT_OP_ADD] = "add",      [SCRIPT_OP_SUB] = "sub",    [SCRIPT_OP_MUL] = "mul",
        [SCRIPT_OP_DIV] = "truediv",  [SCRIPT_OP_MOD] = "mod",    [SCRIPT_OP_FLOORDIV] = "floordiv",
        [SCRIPT_OP_POW] = "pow",      [SCRIPT_OP_SHL] = "lshift", [SCRIPT_OP_SHR] = "rshift",
        [SCRIPT_OP_BITAND] = "and",   [SCRIPT_OP_BITOR] = "or",   [SCRIPT_OP_BITXOR] = "xor",
        [SCRIPT_OP_MATMUL] = "matmul"};
    const char *name = (size_t)op < sizeof(names) / sizeof(names[0]) ? names[op] : NULL;
    for (int reflected = 0; name && reflected < 2; reflected++) {
        script_value object = reflected ? b : a, other = reflected ? a : b;
        const char *method = base_arena_format(e->arena, reflected ? "__r%s__" : "__%s__", name);
        if (object.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, object.as.object->class, method))
            return script_call_method(e, object, method, &other, span);
    }
    int64_t x, y;
    bool a_number = a.kind != SCRIPT_VALUE_OBJECT || script_value_integer(a, &x);
    bool b_number = b.kind != SCRIPT_VALUE_OBJECT || script_value_integer(b, &y);
    if (!a_number || !b_number)
        return no_operator(e, op, a, b, span);
    return script_binary(e, op, a.kind == SCRIPT_VALUE_OBJECT ? script_int(x) : a,
                         b.kind == SCRIPT_VALUE_OBJECT ? script_int(y) : b, span);
}

script_value script_binary(script_evaluator *e, script_operator op, script_value a, script_value b,
                           base_span span) {
    if (script_is_poison(a) || script_is_poison(b))
        return script_poison();
    if (op == SCRIPT_OP_MATMUL || a.kind == SCRIPT_VALUE_LAYOUT_SPEC || b.kind == SCRIPT_VALUE_LAYOUT_SPEC) {
        bool handled = false;
        script_value layout = script_layout_operator(e, op, a, b, span, &handled);
        if (handled)
            return layout;
    }
    if (a.kind == SCRIPT_VALUE_OBJECT || b.kind == SCRIPT_VALUE_OBJECT)
        return object_binary(e, op, a, b, span);
    if (a.kind == SCRIPT_VALUE_DICT && b.kind == SCRIPT_VALUE_DICT && op == SCRIPT_OP_BITOR)
        return script_dict_join(e, a, b, span);
    if (a.kind == SCRIPT_VALUE_STRING && op == SCRIPT_OP_MOD)
        return script_text_percent(e, a, b, span);
    if (a.kind == SCRIPT_VALUE_SET && b.kind == SCRIPT_VALUE_SET &&
        (op == SCRIPT_OP_BITOR || op == SCRIPT_OP_BITAND || op == SCRIPT_OP_SUB || op == SCRIPT_OP_BITXOR))
        return script_set_operator(e, op, a, b, span);
    if (!script_is_ir(a) && !script_is_ir(b))
        return constant_binary(e, op, a, b, span);
    const ir_expr *x, *y;
    if (op == SCRIPT_OP_POW || op == SCRIPT_OP_MATMUL)
        return no_operator(e, op, a, b, span);
    if (!script_promote(e, a, b, &x, &y, span))
        return script_poison();
    if (ir_type_is_bool(x->type) && op != SCRIPT_OP_BITAND && op != SCRIPT_OP_BITOR &&
        op != SCRIPT_OP_BITXOR) {
        x = ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, x->type.lanes), x);
        y = ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, y->type.lanes), y);
    }
    switch (op) {
    case SCRIPT_OP_ADD:
        return script_expr(ir_binary(e->module, IR_ADD, x, y));
    case SCRIPT_OP_SUB:
        return script_expr(ir_binary(e->module, IR_SUB, x, y));
    case SCRIPT_OP_MUL:
        return script_expr(ir_binary(e->module, IR_MUL, x, y));
    case SCRIPT_OP_DIV:
    case SCRIPT_OP_FLOORDIV:
    case SCRIPT_OP_MOD:
        return divide_ir(e, op, x, y, span);
    default:
        return bits_ir(e, op, x, y, span);
    }
}

script_value script_unary(script_evaluator *e, script_operator op, script_value a, base_span span) {
    int64_t i;
    bool truth;
    if (script_is_poison(a))
        return a;
    if (script_is_ir(a)) {
        if (op == SCRIPT_OP_NOT) {
            const ir_expr *condition = script_to_condition(e, a, span, "the operand of `not`");
            return condition ? script_expr(ir_unary(e->module, IR_NOT, condition)) : script_poison();
        }
        const ir_expr *x = script_to_expr(e, a, span);
        if (!x || x->type.kind != IR_TYPE_PRIM)
            return x ? no_operator(e, op, a, a, span) : script_poison();
        if (op == SCRIPT_OP_INVERT) {
            if (ir_type_is_bool(x->type))
                return script_expr(ir_unary(e->module, IR_NOT, x));
            return ir_type_is_integer(x->type) ? script_expr(ir_unary(e->module, IR_BITNOT, x))
                                               : need_integers(e, op, x->type, span);
        }
        if (ir_type_is_bool(x->type))
            x = ir_cast(e->module, ir_type_prim(NUM_DTYPE_I32, x->type.lanes), x);
        return script_expr(op == SCRIPT_OP_NEGATIVE ? ir_unary(e->module, IR_NEG, x) : x);
    }
    if (op == SCRIPT_OP_NOT)
        return script_need_truth(e, a, &truth, span, "the operand of `not`") ? script_bool(!truth)
                                                                             : script_poison();
    if (a.kind == SCRIPT_VALUE_OBJECT) {
        const char *name = op == SCRIPT_OP_NEGATIVE ? "__neg__"
                           : op == SCRIPT_OP_INVERT ? "__invert__"
                                                    : "__pos__";
        if (script_find_method(e, a.as.object->class, name))
            return script_call_method(e, a, name, NULL, span);
    }
    if (a.kind == SCRIPT_VALUE_FLOAT && op != SCRIPT_OP_INVERT)
        return script_float(op == SCRIPT_OP_NEGATIVE ? -a.as.real : a.as.real);
    if (a.kind == SCRIPT_VALUE_INT && a.flag && op == SCRIPT_OP_NEGATIVE && a.as.integer == INT64_MIN)
        return script_int(INT64_MIN);
    if (script_value_integer(a, &i)) {
        if (op == SCRIPT_OP_NEGATIVE)
            return i == INT64_MIN ? overflow(e, span) : script_int(-i);
        return script_int(op == SCRIPT_OP_INVERT ? ~i : i);
    }
    script_error(e, "T0262", span, "operator %s does not take %s", script_operator_text(op),
                 script_value_name(e->arena, a));
    return script_poison();
}

/* ---- comparisons ---- */

static script_value order(script_operator op, int sign) {
    return script_bool(op == SCRIPT_OP_LT   ? sign < 0
                       : op == SCRIPT_OP_LE ? sign <= 0
                       : op == SCRIPT_OP_GT ? sign > 0
                                            : sign >= 0);
}

static bool is_same(script_value a, script_value b) {
    if (a.kind != b.kind)
        return false;
    if (a.kind == SCRIPT_VALUE_LIST || a.kind == SCRIPT_VALUE_DICT || a.kind == SCRIPT_VALUE_SET)
        return a.as.list == b.as.list;
    return a.kind == SCRIPT_VALUE_OBJECT ? a.as.object == b.as.object : script_value_equal(a, b, 20);
}

static bool contains(script_evaluator *e, script_value item, script_value container, base_span span,
                     bool *found) {
    *found = false;
    if (container.kind == SCRIPT_VALUE_STRING && item.kind == SCRIPT_VALUE_STRING) {
        *found = item.as.string.size == 0 || memmem(container.as.string.text, container.as.string.size,
                                                    item.as.string.text, item.as.string.size) != NULL;
        return true;
    }
    if (container.kind == SCRIPT_VALUE_DICT) {
        *found = script_dict_find(container, item) != NULL;
        return true;
    }
    if (container.kind == SCRIPT_VALUE_SET) {
        *found = script_list_find(container.as.list, item, 1) != SIZE_MAX;
        return true;
    }
    int64_t start, count, step, number;
    if (container.kind == SCRIPT_VALUE_RANGE && script_value_integer(item, &number) &&
        script_range_constants(container, &start, &count, &step)) {
        int64_t distance = step > 0 ? number - start : start - number, by = step > 0 ? step : -step;
        *found = count > 0 && distance >= 0 && distance % by == 0 && distance / by < count;
        return true;
    }
    if (container.kind == SCRIPT_VALUE_ITERATOR) {
        *found = script_iterator_find(container, item);
        return true;
    }
    if (container.kind == SCRIPT_VALUE_OBJECT &&
        script_find_method(e, container.as.object->class, "__contains__")) {
        script_value v = script_call_method(e, container, "__contains__", &item, span);
        return script_need_truth(e, v, found, span, "what __contains__ gives");
    }
    script_list *list;
    if (!script_iterate(e, container, &list, span))
        return false;
    script_charge(e, list->items.count);
    for (size_t i = 0; i < list->items.count; i++)
        *found |= script_value_equal(list->items.items[i], item, 20);
    return true;
}

/* The first items that differ decide, then the lengths. */
static script_value list_compare(script_evaluator *e, script_operator op, script_value a, script_value b,
                                 base_span span) {
    size_t n = a.as.list->items.count, m = b.as.list->items.count;
    if (!script_enter(e, span))
        return script_poison();
    script_value result = order(op, n < m ? -1 : n > m);
    for (size_t i = 0; i < n && i < m; i++)
        if (!script_value_equal(a.as.list->items.items[i], b.as.list->items.items[i], 20)) {
            result = script_compare(e, op, a.as.list->items.items[i], b.as.list->items.items[i], span);
            break;
        }
    script_leave(e);
    return result;
}

/* a <= b: every item of a is in b. */
static script_value set_compare(script_operator op, script_value a, script_value b) {
    bool turned = op == SCRIPT_OP_GT || op == SCRIPT_OP_GE;
    script_list *part = turned ? b.as.list : a.as.list, *whole = turned ? a.as.list : b.as.list;
    bool inside = true;
    for (size_t i = 0; i < part->items.count; i++)
        inside &= script_list_find(whole, part->items.items[i], 1) != SIZE_MAX;
    bool strict = op == SCRIPT_OP_LT || op == SCRIPT_OP_GT;
    return script_bool(inside && (!strict || part->items.count < whole->items.count));
}

static script_value constant_compare(script_evaluator *e, script_operator op, script_value a, script_value b,
                                     base_span span) {
    double x, y;
    int64_t i, j;
    if ((a.kind == SCRIPT_VALUE_TUPLE || a.kind == SCRIPT_VALUE_LIST) && b.kind == a.kind)
        return list_compare(e, op, a, b, span);
    if (a.kind == SCRIPT_VALUE_SET && b.kind == SCRIPT_VALUE_SET)
        return set_compare(op, a, b);
    if (script_value_integer(a, &i) && script_value_integer(b, &j))
        return order(op, i < j ? -1 : i > j);
    if (real_of(a, &x) && real_of(b, &y)) {
        if (x != x || y != y)
            return script_bool(false);
        return order(op, x < y ? -1 : x > y);
    }
    if (a.kind == SCRIPT_VALUE_STRING && b.kind == SCRIPT_VALUE_STRING) {
        size_t n = a.as.string.size < b.as.string.size ? a.as.string.size : b.as.string.size;
        int sign = memcmp(a.as.string.text, b.as.string.text, n);
        if (sign == 0)
            sign = a.as.string.size < b.as.string.size ? -1 : a.as.string.size > b.as.string.size;
        return order(op, sign);
    }
    return no_operator(e, op, a, b, span);
}

/* By __eq__, __lt__ and so on; members of an enumeration of integers become their numbers. */
static bool object_compare(script_evaluator *e, script_operator op, script_value *a, script_value *b,
                           base_span span, script_value *result) {
    static const char *const names[] = {
        [SCRIPT_OP_EQ] = "__eq__", [SCRIPT_OP_NE] = "__ne__", [SCRIPT_OP_LT] = "__lt__",
        [SCRIPT_OP_LE] = "__le__", [SCRIPT_OP_GT] = "__gt__", [SCRIPT_OP_GE] = "__ge__"};
    int64_t number;
    if (a->kind == SCRIPT_VALUE_OBJECT && script_find_method(e, a->as.object->class, names[op])) {
        *result = script_call_method(e, *a, names[op], b, span);
        return true;
    }
    if (op == SCRIPT_OP_NE && a->kind == SCRIPT_VALUE_OBJECT &&
        script_find_method(e, a->as.object->class, "__eq__")) {
        *result = script_unary(e, SCRIPT_OP_NOT, script_call_method(e, *a, "__eq__", b, span), span);
        return true;
    }
    /* reflected: a > b asks b for b < a */
    static const script_operator turned[] = {
        [SCRIPT_OP_EQ] = SCRIPT_OP_EQ, [SCRIPT_OP_NE] = SCRIPT_OP_NE, [SCRIPT_OP_LT] = SCRIPT_OP_GT,
        [SCRIPT_OP_LE] = SCRIPT_OP_GE, [SCRIPT_OP_GT] = SCRIPT_OP_LT, [SCRIPT_OP_GE] = SCRIPT_OP_LE};
    if (b->kind == SCRIPT_VALUE_OBJECT && script_find_method(e, b->as.object->class, names[turned[op]])) {
        *result = script_call_method(e, *b, names[turned[op]], a, span);
        return true;
    }
    if (a->kind == SCRIPT_VALUE_OBJECT && b->kind == SCRIPT_VALUE_OBJECT &&
        a->as.object->class == b->as.object->class && a->as.object->class->kind == SCRIPT_CLASS_RECORD &&
        a->as.object->class->is_ordered && op != SCRIPT_OP_EQ && op != SCRIPT_OP_NE) {
        script_list *x, *y;
        if (!script_iterate(e, *a, &x, span) || !script_iterate(e, *b, &y, span))
            *result = script_poison();
        else
            *result = script_compare(e, op, (script_value){.kind = SCRIPT_VALUE_TUPLE, .as.list = x},
                                     (script_value){.kind = SCRIPT_VALUE_TUPLE, .as.list = y}, span);
        return true;
    }
    if (a->kind == SCRIPT_VALUE_OBJECT && script_value_integer(*a, &number))
        *a = script_int(number);
    if (b->kind == SCRIPT_VALUE_OBJECT && script_value_integer(*b, &number))
        *b = script_int(number);
    return false;
}

script_value script_compare(script_evaluator *e, script_operator op, script_value a, script_value b,
                            base_span span) {
    if (script_is_poison(a) || script_is_poison(b))
        return script_poison();
    bool found;
    if (op == SCRIPT_OP_IN || op == SCRIPT_OP_NOT_IN) {
        if (!contains(e, a, b, span, &found))
            return script_poison();
        return script_bool(found == (op == SCRIPT_OP_IN));
    }
    if (op == SCRIPT_OP_IS || op == SCRIPT_OP_IS_NOT)
        return script_bool(is_same(a, b) == (op == SCRIPT_OP_IS));
    if (a.kind == SCRIPT_VALUE_OBJECT || b.kind == SCRIPT_VALUE_OBJECT) {
        script_value result;
        if (object_compare(e, op, &a, &b, span, &result))
            return result;
    }
    bool ir = script_is_ir(a) || script_is_ir(b);
    bool other = (script_is_ir(a) || script_value_is_constant(a)) &&
                 (script_is_ir(b) || script_value_is_constant(b)) && a.kind != SCRIPT_VALUE_NONE &&
                 b.kind != SCRIPT_VALUE_NONE && a.kind != SCRIPT_VALUE_STRING &&
                 b.kind != SCRIPT_VALUE_STRING;
    if (!ir || !other) {
        if (op == SCRIPT_OP_EQ || op == SCRIPT_OP_NE)
            return script_bool(script_value_equal(a, b, 20) == (op == SCRIPT_OP_EQ));
        return constant_compare(e, op, a, b, span);
    }
    const ir_expr *x, *y;
    if (!script_promote(e, a, b, &x, &y, span))
        return script_poison();
    ir_op code = op == SCRIPT_OP_EQ   ? IR_EQ
                 : op == SCRIPT_OP_NE ? IR_NE
                 : op == SCRIPT_OP_LT ? IR_LT
                 : op == SCRIPT_OP_LE ? IR_LE
                 : op == SCRIPT_OP_GT ? IR_GT
                                      : IR_GE;
    return script_expr(ir_binary(e->module, code, x, y));
}

/* ---- iteration at compile time ---- */

static bool iterate_range(script_evaluator *e, script_value range, script_list *list, base_span span) {
    int64_t v[3];
    static const char *const names[] = {"the start of a range", "the end of a range", "the step of a range"};
    for (int i = 0; i < 3; i++)
        if (!script_constant_int(e, range.as.list->items.items[i], &v[i], span, names[i]))
            return false;
    if (v[2] == 0) {
        script_error(e, "T0243", span, "the step of a range may not be 0");
        return false;
    }
    for (int64_t i = v[0]; v[2] > 0 ? i < v[1] : i > v[1];) {
        if (list->items.count >= SCRIPT_MAX_ITEMS) {
            script_error(e, "T0263", span, "a sequence of over %d items", SCRIPT_MAX_ITEMS);
            return false;
        }
        base_vector_push(e->arena, &list->items, script_int(i));
        if (list->items.count % 64 == 0)
            script_charge(e, 64);
        if (__builtin_add_overflow(i, v[2], &i))
            break;
    }
    return true;
}

/* By __iter__, or the fields of a record in their order, as a named tuple gives them. */
static bool iterate_object(script_evaluator *e, script_value v, script_list **list, base_span span) {
    const script_object *object = v.as.object;
    if (script_find_method(e, object->class, "__iter__")) {
        script_value items = script_call_method(e, v, "__iter__", NULL, span);
        if (items.kind != SCRIPT_VALUE_OBJECT)
            return script_iterate(e, items, list, span);
    } else if (object->class->kind == SCRIPT_CLASS_RECORD) {
        *list = BASE_NEW(e->arena, script_list);
        for (size_t i = 0; i < object->class->fields.count; i++)
            base_vector_push(
                e->arena, &(*list)->items,
                script_scope_find(e, object->fields, object->class->fields.items[i].name)->value);
        return true;
    }
    script_error(e, "T0240", span, "%s cannot be iterated at compile time", script_value_name(e->arena, v));
    return false;
}

bool script_iterate(script_evaluator *e, script_value v, script_list **list, base_span span) {
    switch (v.kind) {
    case SCRIPT_VALUE_POISON:
        return false;
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
    case SCRIPT_VALUE_SET:
        *list = v.as.list;
        return true;
    case SCRIPT_VALUE_OBJECT:
        return iterate_object(e, v, list, span);
    case SCRIPT_VALUE_CLASS: /* the members of an enumeration */
        if (!script_is_enumeration(v.as.class))
            break;
        *list = BASE_NEW(e->arena, script_list);
        for (size_t i = 0; i < v.as.class->scope->names.count; i++) {
            const char *name = v.as.class->scope->names.items[i];
            script_value member = script_scope_find(e, v.as.class->scope, name)->value;
            if (member.kind == SCRIPT_VALUE_OBJECT && member.as.object->class == v.as.class)
                base_vector_push(e->arena, &(*list)->items, member);
        }
        return true;
    case SCRIPT_VALUE_RANGE:
        *list = BASE_NEW(e->arena, script_list);
        return iterate_range(e, v, *list, span);
    case SCRIPT_VALUE_DICT:
        *list = BASE_NEW(e->arena, script_list);
        for (size_t i = 0; i < v.as.list->items.count; i += 2)
            base_vector_push(e->arena, &(*list)->items, v.as.list->items.items[i]);
        return true;
    case SCRIPT_VALUE_STRING:
        *list = BASE_NEW(e->arena, script_list);
        script_text_characters(e, v, *list);
        return true;
    case SCRIPT_VALUE_ITERATOR:
        script_iterator_rest(e, v, list);
        return true;
    default:
        break;
    }
    script_error(e, "T0240", span, "%s cannot be iterated at compile time", script_value_name(e->arena, v));
    return false;
}
