/* SPDX-License-Identifier: Apache-2.0
 * The module math, on compile-time numbers: the C library's functions, whose results Python's are. */
#include "script/script_evaluate.h"
#include <math.h>
#include <string.h>

script_value script_word_math_constant(script_evaluator *e, const script_call *call) {
    (void)e;
    static const double values[] = {3.141592653589793, 2.718281828459045, INFINITY, NAN, 6.283185307179586};
    return script_float(values[call->word->data]);
}

script_value script_word_math_gcd(script_evaluator *e, const script_call *call) {
    int64_t result = call->word->data == 1 ? 1 : 0;
    for (size_t i = 0; i < call->rest.items.count; i++) {
        int64_t v;
        const script_argument *item = &call->rest.items.items[i];
        if (!script_constant_int(e, item->value, &v, item->span, "an argument of gcd and lcm"))
            return script_poison();
        if (v == INT64_MIN) {
            script_error(e, "T0260", item->span, "this number has no divisor of 64 bits");
            return script_poison();
        }
        int64_t a = result < 0 ? -result : result, b = v < 0 ? -v : v, x = a, y = b;
        while (y != 0) {
            int64_t rest = x % y;
            x = y;
            y = rest;
        }
        if (call->word->data == 0)
            result = x;
        else if (x == 0)
            result = 0;
        else if (__builtin_mul_overflow(a / x, b, &result)) {
            script_error(e, "T0260", call->span, "the least common multiple does not fit 64 bits");
            return script_poison();
        }
    }
    return script_int(result);
}

static bool real_value(script_evaluator *e, const script_call *call, script_value v, base_span place,
                       double *value) {
    int64_t i;
    if (v.kind == SCRIPT_VALUE_FLOAT)
        *value = v.as.real;
    else if (script_value_integer(v, &i))
        *value = (double)i;
    else if (v.kind == SCRIPT_VALUE_INT)
        *value = (double)(uint64_t)v.as.integer;
    else {
        if (script_is_poison(v))
            return false;
        base_diagnostic *d = script_error(e, "T0210", place, "%s takes compile-time numbers, not %s",
                                          call->word->path, script_value_name(e->arena, v));
        if (script_is_ir(v))
            base_help(e->diagnostics, d, "inside a kernel use the dialect's own: T.exp, T.sqrt, ...");
        return false;
    }
    return true;
}

static bool real_argument(script_evaluator *e, const script_call *call, size_t index, double *value) {
    return real_value(e, call, call->value[index], call->place[index], value);
}

script_value script_word_math_integer(script_evaluator *e, const script_call *call) {
    double x;
    int64_t i;
    int which = call->word->data;
    if (script_value_integer(call->value[0], &i) && which != 0)
        return script_int(i);
    if (!real_argument(e, call, 0, &x))
        return script_poison();
    if (which == 0 && (!script_value_integer(call->value[0], &i) || i < 0)) {
        script_error(e, "T0262", call->span, "isqrt takes an integer that is not negative");
        return script_poison();
    }
    double result = which == 0 ? floor(sqrt(x)) : which == 1 ? ceil(x) : which == 2 ? floor(x) : trunc(x);
    if (!(result > -9.2e18 && result < 9.2e18)) {
        script_error(e, "T0260", call->span, "the result does not fit a 64-bit integer");
        return script_poison();
    }
    int64_t root = (int64_t)result;
    while (which == 0 && root > 0 && root > i / root)
        root--;
    while (which == 0 && (root + 1) <= i / (root + 1))
        root++;
    return script_int(root);
}

/* Functions of one number, and where they are defined. */
typedef struct real_function {
    double (*of)(double);
    double low, high;
    bool is_open; /* the ends themselves are outside */
} real_function;

static double to_degrees(double x) {
    return x * (180.0 / 3.141592653589793);
}
static double to_radians(double x) {
    return x * (3.141592653589793 / 180.0);
}

static const real_function functions[] = {{sqrt, 0, INFINITY, false},
                                          {exp, -INFINITY, INFINITY, false},
                                          {log, 0, INFINITY, true},
                                          {log2, 0, INFINITY, true},
                                          {log10, 0, INFINITY, true},
                                          {sin, -INFINITY, INFINITY, true},
                                          {cos, -INFINITY, INFINITY, true},
                                          {tan, -INFINITY, INFINITY, true},
                                          {tanh, -INFINITY, INFINITY, false},
                                          {fabs, -INFINITY, INFINITY, false},
                                          {asin, -1, 1, false},
                                          {acos, -1, 1, false},
                                          {atan, -INFINITY, INFINITY, false},
                                          {sinh, -INFINITY, INFINITY, false},
                                          {cosh, -INFINITY, INFINITY, false},
                                          {asinh, -INFINITY, INFINITY, false},
                                          {acosh, 1, INFINITY, false},
                                          {atanh, -1, 1, true},
                                          {erf, -INFINITY, INFINITY, false},
                                          {erfc, -INFINITY, INFINITY, false},
                                          {to_degrees, -INFINITY, INFINITY, false},
                                          {to_radians, -INFINITY, INFINITY, false},
                                          {cbrt, -INFINITY, INFINITY, false},
                                          {exp2, -INFINITY, INFINITY, false},
                                          {expm1, -INFINITY, INFINITY, false},
                                          {log1p, -1, INFINITY, true}};

static script_value not_defined(script_evaluator *e, const script_call *call) {
    script_error(e, "T0262", call->span, "%s is not defined there", call->word->path);
    return script_poison();
}

/* What overflows is an error in Python: an infinity that no infinity gave. */
static script_value real_result(script_evaluator *e, const script_call *call, double result,
                                bool was_finite) {
    if (was_finite && isinf(result)) {
        script_error(e, "T0260", call->span, "the result of %s is too large for a float", call->word->path);
        return script_poison();
    }
    return script_float(result);
}

script_value script_word_math_real(script_evaluator *e, const script_call *call) {
    double x, base;
    const real_function *f = &functions[call->word->data];
    if (!real_argument(e, call, 0, &x))
        return script_poison();
    bool is_end =
        x == f->low || (x == f->high && f->of != log && f->of != log2 && f->of != log10 && f->of != log1p);
    if (x < f->low || x > f->high || (f->is_open && is_end))
        return not_defined(e, call);
    if (f->of != log || !call->given[1])
        return real_result(e, call, f->of(x), isfinite(x));
    if (!real_argument(e, call, 1, &base))
        return script_poison();
    return base > 0 && base != 1 ? script_float(log(x) / log(base)) : not_defined(e, call);
}

/* Functions of two numbers. */
script_value script_word_math_two(script_evaluator *e, const script_call *call) {
    double x, y;
    if (!real_argument(e, call, 0, &x) || !real_argument(e, call, 1, &y))
        return script_poison();
    bool finite = isfinite(x) && isfinite(y);
    switch (call->word->data) {
    case 0:
        if ((x == 0 && y < 0) || (x < 0 && finite && y != floor(y)))
            return not_defined(e, call);
        return real_result(e, call, pow(x, y), finite);
    case 1:
        return script_float(copysign(x, y));
    case 2:
    case 3:
        if (isinf(x) || y == 0)
            return not_defined(e, call);
        return script_float(call->word->data == 2 ? fmod(x, y) : remainder(x, y));
    case 4:
        return script_float(atan2(x, y));
    default:
        return script_float(nextafter(x, y));
    }
}

/* hypot(x, y, ...) and dist(p, q): the root of a sum of squares. */
script_value script_word_math_distance(script_evaluator *e, const script_call *call) {
    script_list values = {0}, *p, *q;
    double result = 0;
    if (call->word->data == 0) {
        for (size_t i = 0; i < call->rest.items.count; i++)
            base_vector_push(e->arena, &values.items, call->rest.items.items[i].value);
    } else {
        if (!script_iterate(e, call->value[0], &p, call->place[0]) ||
            !script_iterate(e, call->value[1], &q, call->place[1]))
            return script_poison();
        if (p->items.count != q->items.count) {
            script_error(e, "T0262", call->span, "points of %zu and %zu coordinates", p->items.count,
                         q->items.count);
            return script_poison();
        }
        for (size_t i = 0; i < p->items.count; i++)
            base_vector_push(
                e->arena, &values.items,
                script_binary(e, SCRIPT_OP_SUB, p->items.items[i], q->items.items[i], call->span));
    }
    for (size_t i = 0; i < values.items.count; i++) {
        double x;
        if (!real_value(e, call, values.items.items[i], call->span, &x))
            return script_poison();
        result = hypot(result, x);
    }
    return script_float(result);
}

/* factorial(n), comb(n, k), perm(n, k) */
script_value script_word_math_count(script_evaluator *e, const script_call *call) {
    int64_t n, k, result = 1;
    int which = call->word->data;
    if (!script_constant_int(e, call->value[0], &n, call->place[0], "the argument"))
        return script_poison();
    k = n;
    if (call->given[1] && !script_constant_int(e, call->value[1], &k, call->place[1], "the number of items"))
        return script_poison();
    if (n < 0 || k < 0)
        return not_defined(e, call);
    if (k > n)
        return script_int(0);
    if (which == 1 && k > n - k)
        k = n - k;
    for (int64_t i = 0; i < k; i++) {
        __int128 next = (__int128)result * (n - i);
        if (which == 1)
            next /= i + 1;
        if (next > INT64_MAX) {
            script_error(e, "T0260", call->span, "the result does not fit a 64-bit integer");
            return script_poison();
        }
        if (i % 64 == 63)
            script_charge(e, 64);
        if (result == 0 || script_is_stopped(e))
            break;
        result = (int64_t)next;
    }
    return script_int(result);
}

/* frexp(x), modf(x): pairs; ldexp(x, n) */
script_value script_word_math_parts(script_evaluator *e, const script_call *call) {
    double x, whole;
    int exponent;
    int64_t n;
    script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    if (!real_argument(e, call, 0, &x))
        return script_poison();
    switch (call->word->data) {
    case 0:
        script_list_add(e->arena, pair, script_float(frexp(x, &exponent)));
        script_list_add(e->arena, pair, script_int(isfinite(x) ? exponent : 0));
        return pair;
    case 1:
        script_list_add(e->arena, pair, script_float(modf(x, &whole)));
        script_list_add(e->arena, pair, script_float(whole));
        return pair;
    default:
        if (!script_constant_int(e, call->value[1], &n, call->place[1], "the exponent"))
            return script_poison();
        n = n < -5000 ? -5000 : n > 5000 ? 5000 : n;
        return real_result(e, call, ldexp(x, (int)n), isfinite(x));
    }
}

/* The sum as if it were rounded once: what is lost at each step is kept in further terms (Shewchuk). */
script_value script_word_math_fsum(script_evaluator *e, const script_call *call) {
    script_list *list;
    double terms[64];
    size_t count = 0;
    if (!script_iterate(e, call->value[0], &list, call->place[0]))
        return script_poison();
    script_charge(e, list->items.count);
    for (size_t i = 0; i < list->items.count; i++) {
        double x;
        size_t kept = 0;
        if (!real_value(e, call, list->items.items[i], call->place[0], &x))
            return script_poison();
        for (size_t j = 0; j < count; j++) {
            double y = terms[j];
            if (fabs(x) < fabs(y)) {
                double swap = x;
                x = y;
                y = swap;
            }
            double high = x + y, low = y - (high - x);
            if (low != 0)
                terms[kept++] = low;
            x = high;
        }
        if (!isfinite(x) || kept == 63)
            return real_result(e, call, x, true);
        terms[kept++] = x;
        count = kept;
    }
    double high = 0, low = 0;
    while (count > 0) {
        double x = high, y = terms[--count];
        high = x + y;
        low = y - (high - x);
        if (low != 0)
            break;
    }
    /* half way between two floats, the terms below say to which side */
    if (count > 0 && ((low < 0 && terms[count - 1] < 0) || (low > 0 && terms[count - 1] > 0))) {
        double twice = low * 2, x = high + twice;
        if (twice == x - high)
            high = x;
    }
    return script_float(high);
}

script_value script_word_math_isclose(script_evaluator *e, const script_call *call) {
    double v[4] = {0, 0, 1e-9, 0};
    for (size_t i = 0; i < 4; i++)
        if (call->given[i] && !real_argument(e, call, i, &v[i]))
            return script_poison();
    if (v[0] == v[1])
        return script_bool(true);
    if (isinf(v[0]) || isinf(v[1]))
        return script_bool(false);
    double difference = fabs(v[1] - v[0]);
    return script_bool(difference <= fabs(v[2] * v[1]) || difference <= fabs(v[2] * v[0]) ||
                       difference <= v[3]);
}

script_value script_word_math_class(script_evaluator *e, const script_call *call) {
    double x;
    if (!real_argument(e, call, 0, &x))
        return script_poison();
    bool nan = x != x, finite = x - x == 0;
    return script_bool(call->word->data == 0 ? nan : call->word->data == 1 ? !nan && !finite : finite);
}
