/* SPDX-License-Identifier: Apache-2.0
 * More of Python's own functions: what takes functions (map, sorted by key, partial, reduce), sets, methods
 * of lists, dicts and sets, itertools, attributes by name, print. The plain ones are in script_python.c. */
#include "script/script_evaluate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script_partial {
    script_value callee;
    script_arguments arguments;
};

static script_value list_value(script_list *list, script_value_kind kind) {
    return (script_value){.kind = kind, .as.list = list};
}

static script_value call_one(script_evaluator *e, script_value callee, script_value v, base_span span) {
    script_arguments arguments = {0};
    base_vector_push(e->arena, &arguments.items, (script_argument){.value = v, .span = span});
    return script_call_value(e, callee, &arguments, NULL, span, span);
}

/* ---- functions of functions ---- */

script_value script_word_partial(script_evaluator *e, const script_call *call) {
    script_value v = {.kind = SCRIPT_VALUE_PARTIAL};
    v.as.partial = BASE_NEW(e->arena, script_partial);
    v.as.partial->callee = call->value[0];
    for (size_t i = 0; i < call->rest.items.count; i++)
        base_vector_push(e->arena, &v.as.partial->arguments.items, call->rest.items.items[i]);
    for (size_t i = 0; i < call->keywords.items.count; i++)
        base_vector_push(e->arena, &v.as.partial->arguments.items, call->keywords.items.items[i]);
    return v;
}

/* Positional arguments of the call come behind those of the partial; its keywords replace them. */
script_value script_call_partial(script_evaluator *e, const script_partial *partial,
                                 const script_arguments *arguments, const script_node *node, base_span span,
                                 base_span name_span) {
    script_arguments all = {0};
    for (size_t i = 0; i < partial->arguments.items.count; i++) {
        const script_argument *given = &partial->arguments.items.items[i];
        bool replaced = false;
        for (size_t j = 0; given->name && j < arguments->items.count; j++)
            replaced |=
                arguments->items.items[j].name && strcmp(arguments->items.items[j].name, given->name) == 0;
        if (!replaced)
            base_vector_push(e->arena, &all.items, *given);
    }
    for (size_t i = 0; i < arguments->items.count; i++)
        base_vector_push(e->arena, &all.items, arguments->items.items[i]);
    if (!script_enter(e, span))
        return script_poison();
    script_value v = script_call_value(e, partial->callee, &all, node, span, name_span);
    script_leave(e);
    return v;
}

script_value script_word_reduce(script_evaluator *e, const script_call *call) {
    script_list *list;
    size_t i = 0;
    if (!script_iterate(e, call->value[1], &list, call->place[1]))
        return script_poison();
    if (!call->given[2] && list->items.count == 0) {
        script_error(e, "T0203", call->span, "reduce of nothing, without a start");
        return script_poison();
    }
    script_value v = call->given[2] ? call->value[2] : list->items.items[i++];
    for (; i < list->items.count && !script_is_poison(v); i++) {
        script_arguments arguments = {0};
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = v, .span = call->span});
        base_vector_push(e->arena, &arguments.items,
                         (script_argument){.value = list->items.items[i], .span = call->span});
        v = script_call_value(e, call->value[0], &arguments, NULL, call->span, call->span);
    }
    return v;
}

/* map(f, lists...): all at once, given one by one. */
script_value script_word_map(script_evaluator *e, const script_call *call) {
    size_t count = call->rest.items.count, shortest = SIZE_MAX;
    script_list **lists = BASE_NEW_ARRAY(e->arena, script_list *, count + 1);
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (size_t i = 0; i < count; i++) {
        if (!script_iterate(e, call->rest.items.items[i].value, &lists[i], call->rest.items.items[i].span))
            return script_poison();
        shortest = lists[i]->items.count < shortest ? lists[i]->items.count : shortest;
    }
    for (size_t i = 0; count > 0 && i < shortest; i++) {
        script_arguments arguments = {0};
        for (size_t j = 0; j < count; j++)
            base_vector_push(e->arena, &arguments.items,
                             (script_argument){.value = lists[j]->items.items[i], .span = call->span});
        script_value v = script_call_value(e, call->value[0], &arguments, NULL, call->span, call->span);
        if (script_is_poison(v))
            return v;
        script_list_add(e->arena, result, v);
    }
    return script_iterator_make(e, result.as.list);
}

script_value script_word_filter(script_evaluator *e, const script_call *call) {
    script_list *list;
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    if (!script_iterate(e, call->value[1], &list, call->place[1]))
        return script_poison();
    for (size_t i = 0; i < list->items.count; i++) {
        bool truth;
        script_value v = list->items.items[i];
        script_value test =
            call->value[0].kind == SCRIPT_VALUE_NONE ? v : call_one(e, call->value[0], v, call->span);
        if (!script_truth(e, test, &truth, call->span)) {
            if (!script_is_poison(test))
                script_constant_bool(e, test, &truth, call->span, "the test of filter");
            return script_poison();
        }
        if (truth)
            script_list_add(e->arena, result, v);
    }
    return script_iterator_make(e, result.as.list);
}

/* ---- order ---- */

/* Merge sort of indices by their keys: stable, as Python's is. false: two keys cannot be compared. */
static bool sort_indices(script_evaluator *e, const script_list *keys, size_t *order, size_t *spare,
                         size_t count, bool reverse, base_span span) {
    if (count < 2)
        return true;
    size_t half = count / 2, i = 0, j = half, k = 0;
    if (!sort_indices(e, keys, order, spare, half, reverse, span) ||
        !sort_indices(e, keys, order + half, spare, count - half, reverse, span))
        return false;
    script_charge(e, count);
    while (i < half && j < count) {
        script_value a = keys->items.items[order[reverse ? i : j]];
        script_value b = keys->items.items[order[reverse ? j : i]];
        script_value less =
            script_is_stopped(e) ? script_poison() : script_compare(e, SCRIPT_OP_LT, a, b, span);
        if (less.kind != SCRIPT_VALUE_BOOL) {
            if (!script_is_poison(less))
                script_error(e, "T0210", span, "items that are known at run time only cannot be ordered");
            return false;
        }
        spare[k++] = less.as.boolean ? order[j++] : order[i++];
    }
    while (i < half)
        spare[k++] = order[i++];
    memcpy(order, spare, k * sizeof(*order));
    return true;
}

static bool sort_list(script_evaluator *e, const script_list *list, const script_value *key, bool reverse,
                      script_list *out, base_span span) {
    size_t count = list->items.count;
    script_list *keys = BASE_NEW(e->arena, script_list);
    size_t *order = BASE_NEW_ARRAY(e->arena, size_t, count + 1);
    size_t *spare = BASE_NEW_ARRAY(e->arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        script_value v = list->items.items[i];
        if (key && script_is_poison(v = call_one(e, *key, v, span)))
            return false;
        base_vector_push(e->arena, &keys->items, v);
        order[i] = i;
    }
    if (!sort_indices(e, keys, order, spare, count, reverse, span))
        return false;
    for (size_t i = 0; i < count; i++)
        base_vector_push(e->arena, &out->items, list->items.items[order[i]]);
    return true;
}

static bool reverse_flag(script_evaluator *e, const script_call *call, bool *reverse) {
    const script_value *v = script_argument_of(call, "reverse");
    *reverse = false;
    return !v || script_constant_bool(e, *v, reverse, script_argument_span(call, "reverse"), "reverse");
}

script_value script_word_sorted(script_evaluator *e, const script_call *call) {
    script_list *list, *out = BASE_NEW(e->arena, script_list);
    bool reverse;
    if (!reverse_flag(e, call, &reverse) || !script_iterate(e, call->value[0], &list, call->span) ||
        !sort_list(e, list, script_argument_of(call, "key"), reverse, out, call->span))
        return script_poison();
    return list_value(out, SCRIPT_VALUE_LIST);
}

script_value script_word_list_sort(script_evaluator *e, const script_call *call) {
    script_list out = {0};
    bool reverse;
    if (!reverse_flag(e, call, &reverse) ||
        !sort_list(e, call->receiver.as.list, script_argument_of(call, "key"), reverse, &out, call->span))
        return script_poison();
    *call->receiver.as.list = out;
    return script_none();
}

/* ---- lists ---- */

static bool item_place(script_evaluator *e, const script_list *list, script_value v, base_span span,
                       int64_t *at) {
    int64_t count = (int64_t)list->items.count;
    if (!script_constant_int(e, v, at, span, "the index of a list"))
        return false;
    if (*at < -count || *at >= count) {
        script_error(e, "T0263", span, "index %lld is outside a list of %lld items", (long long)*at,
                     (long long)count);
        return false;
    }
    *at += *at < 0 ? count : 0;
    return true;
}

script_value script_word_list_method(script_evaluator *e, const script_call *call) {
    script_list *list = call->receiver.as.list;
    size_t count = list->items.count, found = count, number = 0;
    int64_t at = (int64_t)count - 1;
    switch (call->word->data) {
    case 0: /* pop */
        if (count == 0) {
            script_error(e, "T0263", call->span, "pop from an empty list");
            return script_poison();
        }
        if (call->given[0] && !item_place(e, list, call->value[0], call->span, &at))
            return script_poison();
        return script_list_take(list, (size_t)at);
    case 1: /* insert */
        if (!script_constant_int(e, call->value[0], &at, call->span, "the index of a list"))
            return script_poison();
        at = at < 0 ? at + (int64_t)count : at;
        at = at < 0 ? 0 : at > (int64_t)count ? (int64_t)count : at;
        script_list_add(e->arena, call->receiver, call->value[1]);
        memmove(&list->items.items[at + 1], &list->items.items[at],
                (count - (size_t)at) * sizeof(list->items.items[0]));
        list->items.items[at] = call->value[1];
        return script_none();
    case 2: /* index */
    case 3: /* count */
    case 4: /* remove */
        for (size_t i = 0; i < count; i++)
            if (script_value_equal(list->items.items[i], call->value[0], 20)) {
                found = found == count ? i : found;
                number++;
            }
        if (call->word->data == 3)
            return script_int((int64_t)number);
        if (found == count) {
            script_error(e, "T0263", call->span, "the list has no such item");
            return script_poison();
        }
        if (call->word->data == 2)
            return script_int((int64_t)found);
        script_list_take(list, found);
        return script_none();
    case 5: /* reverse */
        for (size_t i = 0, j = count; i + 1 < j; i++) {
            script_value v = list->items.items[i];
            list->items.items[i] = list->items.items[--j];
            list->items.items[j] = v;
        }
        return script_none();
    case 6: { /* copy */
        script_value copy = script_list_make(e->arena, call->receiver.kind);
        script_charge(e, count);
        for (size_t i = 0; i < count; i++)
            script_list_add(e->arena, copy, list->items.items[i]);
        return copy;
    }
    default: /* clear */
        list->items.count = 0;
        return script_none();
    }
}

/* ---- itertools ---- */

script_value script_word_product(script_evaluator *e, const script_call *call) {
    int64_t repeat = 1;
    const script_value *r = script_argument_of(call, "repeat");
    if (r && !script_constant_int(e, *r, &repeat, script_argument_span(call, "repeat"), "repeat"))
        return script_poison();
    size_t given = call->rest.items.count, count = repeat < 0 || repeat > 16 ? 99 : given * (size_t)repeat;
    if (count > 16) {
        script_error(e, "T0263", call->span, "a product of over 16 lists");
        return script_poison();
    }
    script_list *lists[16];
    size_t at[16] = {0};
    bool ends = false;
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (size_t i = 0; i < count; i++) {
        const script_argument *item = &call->rest.items.items[i % given];
        if (!script_iterate(e, item->value, &lists[i], item->span))
            return script_poison();
        ends |= lists[i]->items.count == 0;
    }
    while (!ends) {
        script_value tuple = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        if (!script_enter(e, call->span))
            return script_poison();
        script_leave(e);
        for (size_t i = 0; i < count; i++)
            script_list_add(e->arena, tuple, lists[i]->items.items[at[i]]);
        script_list_add(e->arena, result, tuple);
        size_t i = count;
        while (i > 0 && ++at[i - 1] == lists[i - 1]->items.count)
            at[--i] = 0;
        ends = i == 0;
    }
    return script_iterator_make(e, result.as.list);
}

script_value script_word_chain(script_evaluator *e, const script_call *call) {
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (size_t i = 0; i < call->rest.items.count; i++) {
        script_list *list;
        if (!script_iterate(e, call->rest.items.items[i].value, &list, call->rest.items.items[i].span))
            return script_poison();
        script_charge(e, list->items.count);
        for (size_t j = 0; j < list->items.count; j++)
            script_list_add(e->arena, result, list->items.items[j]);
    }
    return script_iterator_make(e, result.as.list);
}

script_value script_word_accumulate(script_evaluator *e, const script_call *call) {
    script_list *list;
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST), sum = script_none();
    if (!script_iterate(e, call->value[0], &list, call->place[0]))
        return script_poison();
    for (size_t i = 0; i < list->items.count && !script_is_poison(sum); i++) {
        script_arguments arguments = {0};
        script_value next = list->items.items[i];
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = sum, .span = call->span});
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = next, .span = call->span});
        sum = i == 0 ? next
              : !call->given[1]
                  ? script_binary(e, SCRIPT_OP_ADD, sum, next, call->span)
                  : script_call_value(e, call->value[1], &arguments, NULL, call->span, call->span);
        script_list_add(e->arena, result, sum);
    }
    return script_is_poison(sum) ? sum : script_iterator_make(e, result.as.list);
}

/* Tuples of the items at r places: in rising order, or in every order of different places. */
script_value script_word_choices(script_evaluator *e, const script_call *call) {
    script_list *list;
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    if (!script_iterate(e, call->value[0], &list, call->place[0]))
        return script_poison();
    int64_t n = (int64_t)list->items.count, r = n, at[16] = {0};
    bool every = call->word->data == 1;
    if (call->given[1] && !script_constant_int(e, call->value[1], &r, call->place[1], "the number of items"))
        return script_poison();
    if (r < 0 || r > 16) {
        script_error(e, "T0263", call->span, "tuples of %lld items; up to 16 are possible", (long long)r);
        return script_poison();
    }
    for (int64_t depth = 0; depth >= 0;) {
        bool fits = true;
        if (!script_enter(e, call->span))
            return script_poison();
        script_leave(e);
        for (int64_t i = 0; i < depth && depth <= r; i++)
            fits &= depth == 0 || i + 1 >= depth || at[i] != at[depth - 1];
        if (fits && depth == r) {
            script_value tuple = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
            for (int64_t i = 0; i < r; i++)
                script_list_add(e->arena, tuple, list->items.items[at[i]]);
            script_list_add(e->arena, result, tuple);
        } else if (fits && depth < r && n > 0) { /* one place more */
            at[depth] = every || depth == 0 ? 0 : at[depth - 1] + 1;
            depth++;
            if (at[depth - 1] < n)
                continue;
        }
        while (depth > 0 && ++at[depth - 1] >= n) /* the next at this place, or at one before */
            depth--;
        depth -= depth == 0;
    }
    return script_iterator_make(e, result.as.list);
}

/* ---- numbers ---- */

script_value script_word_divmod(script_evaluator *e, const script_call *call) {
    script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    script_value q = script_binary(e, SCRIPT_OP_FLOORDIV, call->value[0], call->value[1], call->span);
    script_value r =
        script_is_poison(q) ? q : script_binary(e, SCRIPT_OP_MOD, call->value[0], call->value[1], call->span);
    script_list_add(e->arena, pair, q);
    script_list_add(e->arena, pair, r);
    return script_is_poison(r) ? r : pair;
}

script_value script_word_python_pow(script_evaluator *e, const script_call *call) {
    script_value v = script_binary(e, SCRIPT_OP_POW, call->value[0], call->value[1], call->span);
    return call->given[2] && !script_is_poison(v)
               ? script_binary(e, SCRIPT_OP_MOD, v, call->value[2], call->span)
               : v;
}

/* To a multiple of 10^digits, ties to even. */
static script_value round_integer(script_evaluator *e, int64_t value, int64_t digits, base_span span) {
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value, unit = 1;
    for (int64_t i = 0; i < digits; i++) {
        if (unit > UINT64_MAX / 20) /* more than twice the value */
            return script_int(0);
        unit *= 10;
    }
    uint64_t rest = magnitude % unit, whole = magnitude / unit;
    whole += rest > unit - rest || (rest == unit - rest && whole % 2 == 1);
    uint64_t result = whole * unit;
    if (result > (uint64_t)INT64_MAX) {
        script_error(e, "T0260", span, "the result does not fit a 64-bit integer");
        return script_poison();
    }
    return script_int(value < 0 ? -(int64_t)result : (int64_t)result);
}

/* The same of a float: exact digits, cut at a decimal place before the point. */
static double round_tens(double x, int digits) {
    char text[400], cut[400];
    snprintf(text, sizeof(text), "%.0f", trunc(fabs(x)));
    int size = (int)strlen(text), kept = size - digits;
    if (kept < 0)
        return copysign(0.0, x);
    bool above = text[kept] > '5', half = text[kept] == '5';
    for (int i = kept + 1; half && i < size; i++)
        above |= text[i] != '0';
    above |= half && trunc(x) != x;
    bool odd = kept > 0 && (text[kept - 1] - '0') % 2 == 1;
    memset(text + kept, '0', (size_t)digits);
    snprintf(cut, sizeof(cut), "%s", kept == 0 ? "0" : text);
    double down = strtod(cut, NULL);
    if (!above && !(half && odd))
        return copysign(down, x);
    text[size] = 0; /* one more in the last place that is kept */
    int i = kept - 1;
    for (; i >= 0 && text[i] == '9'; i--)
        text[i] = '0';
    if (i >= 0)
        text[i]++;
    snprintf(cut, sizeof(cut), i < 0 ? "1%s" : "%s", text);
    return copysign(strtod(cut, NULL), x);
}

/* To the nearest, ties to even. */
script_value script_word_python_round(script_evaluator *e, const script_call *call) {
    int64_t i, digits = 0;
    const script_value *d = script_argument_of(call, "ndigits");
    if (d && !script_constant_int(e, *d, &digits, call->span, "the number of digits"))
        return script_poison();
    if (script_value_integer(call->value[0], &i))
        return digits < 0 ? round_integer(e, i, -digits, call->span) : script_int(i);
    if (call->value[0].kind != SCRIPT_VALUE_FLOAT) {
        script_error(e, "T0210", call->span, "round takes a compile-time number, not %s",
                     script_value_name(e->arena, call->value[0]));
        return script_poison();
    }
    double x = call->value[0].as.real;
    if (d) {
        char text[800];
        if (!(fabs(x) < (double)INFINITY) || digits > 340)
            return script_float(x);
        if (digits < 0)
            return script_float(round_tens(x, digits < -400 ? 400 : (int)-digits));
        snprintf(text, sizeof(text), "%.*f", (int)digits, x);
        return script_float(strtod(text, NULL));
    }
    x = nearbyint(x);
    if (!(x > -9.2e18 && x < 9.2e18)) {
        script_error(e, "T0260", call->span, "the result does not fit a 64-bit integer");
        return script_poison();
    }
    return script_int((int64_t)x);
}

script_value script_word_bit_length(script_evaluator *e, const script_call *call) {
    (void)e;
    int64_t v = call->receiver.as.integer;
    uint64_t bits = v < 0 && !call->receiver.flag ? 0 - (uint64_t)v : (uint64_t)v;
    if (call->word->data == 1)
        return script_int(__builtin_popcountll(bits));
    return script_int(bits ? 64 - __builtin_clzll(bits) : 0);
}

/* Equal values have equal hashes; which number it is, is nobody's business. */
script_value script_word_hash(script_evaluator *e, const script_call *call) {
    uint64_t hash;
    int64_t number;
    script_value v = call->value[0];
    script_list *fields;
    if (script_value_integer(v, &number))
        return script_int(number);
    if (v.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, v.as.object->class, "__hash__"))
        return script_call_method(e, v, "__hash__", NULL, call->span);
    if (v.kind == SCRIPT_VALUE_OBJECT && v.as.object->class->kind == SCRIPT_CLASS_RECORD &&
        v.as.object->class->is_frozen && script_iterate(e, v, &fields, call->span))
        v = list_value(fields, SCRIPT_VALUE_TUPLE);
    if (!script_value_hash(v, &hash)) {
        script_error(e, "T0262", call->place[0], "%s has no hash", script_value_name(e->arena, v));
        return script_poison();
    }
    return script_int((int64_t)(hash >> 2));
}

/* ---- attributes by name ---- */

static bool has_attribute(script_evaluator *e, script_value object, const char *name) {
    bool found = false;
    if (object.kind == SCRIPT_VALUE_OBJECT) {
        if (script_scope_find(e, object.as.object->fields, name))
            return true;
        object = (script_value){.kind = SCRIPT_VALUE_CLASS,
                                .as.class = (script_class *)(uintptr_t)object.as.object->class};
    }
    if (object.kind == SCRIPT_VALUE_CLASS) {
        script_object_attribute(e, object, name, BASE_NO_SPAN, &found);
        return found;
    }
    if (object.kind == SCRIPT_VALUE_NAMESPACE)
        return !script_is_poison(script_namespace_find(e, object.as.string.text, name));
    const char *family = object.kind == SCRIPT_VALUE_TENSOR   ? "Tensor"
                         : object.kind == SCRIPT_VALUE_EXPR   ? "Expr"
                         : object.kind == SCRIPT_VALUE_LAYOUT ? "Layout"
                         : object.kind == SCRIPT_VALUE_LIST   ? "list"
                         : object.kind == SCRIPT_VALUE_DICT   ? "dict"
                         : object.kind == SCRIPT_VALUE_STRING ? "str"
                                                              : NULL;
    return family && script_word_of(family, name);
}

script_value script_word_attribute(script_evaluator *e, const script_call *call) {
    const char *name;
    if (!script_constant_string(e, call->value[1], &name, call->place[1], "the name of an attribute"))
        return script_poison();
    if (call->word->data == 2) { /* setattr */
        if (call->value[0].kind != SCRIPT_VALUE_OBJECT) {
            script_error(e, "T0227", call->span, "attributes of %s cannot be assigned",
                         script_value_name(e->arena, call->value[0]));
            return script_poison();
        }
        script_node target = {.kind = SCRIPT_ATTRIBUTE, .text = name, .span = call->span};
        script_object_assign(e, call->value[0], &target, call->value[2], call->span);
        return script_none();
    }
    bool has = has_attribute(e, call->value[0], name);
    if (call->word->data == 0)
        return script_bool(has);
    if (!has && call->given[2])
        return call->value[2];
    return script_get_attribute(e, call->value[0], name, call->span);
}

script_value script_word_callable(script_evaluator *e, const script_call *call) {
    (void)e;
    script_value_kind kind = call->value[0].kind;
    return script_bool(kind == SCRIPT_VALUE_FUNCTION || kind == SCRIPT_VALUE_BOUND ||
                       kind == SCRIPT_VALUE_PARTIAL || kind == SCRIPT_VALUE_CLASS ||
                       kind == SCRIPT_VALUE_WORD || kind == SCRIPT_VALUE_METHOD || kind == SCRIPT_VALUE_TYPE);
}

script_value script_word_type(script_evaluator *e, const script_call *call) {
    static const struct {
        script_value_kind kind;
        const char *path;
    } kinds[] = {{SCRIPT_VALUE_BOOL, "python.bool"},   {SCRIPT_VALUE_INT, "python.int"},
                 {SCRIPT_VALUE_FLOAT, "python.float"}, {SCRIPT_VALUE_STRING, "python.str"},
                 {SCRIPT_VALUE_LIST, "python.list"},   {SCRIPT_VALUE_TUPLE, "python.tuple"},
                 {SCRIPT_VALUE_DICT, "python.dict"},   {SCRIPT_VALUE_SET, "python.set"},
                 {SCRIPT_VALUE_TENSOR, "Tensor"},      {SCRIPT_VALUE_LAYOUT, "TileLayout"}};
    script_value v = call->value[0];
    if (v.kind == SCRIPT_VALUE_OBJECT)
        return (script_value){.kind = SCRIPT_VALUE_CLASS,
                              .as.class = (script_class *)(uintptr_t)v.as.object->class};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].kind == v.kind)
            return (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find(kinds[i].path)};
    if (v.kind == SCRIPT_VALUE_NONE)
        return v; /* a type of its own: isinstance(x, type(None)) */
    script_not_supported(e, call->span, "type of %s", script_value_name(e->arena, v));
    return script_poison();
}

/* ---- print, exceptions ---- */

/* A compiler's output is its messages: what a script prints is a note at the call. */
script_value script_word_print(script_evaluator *e, const script_call *call) {
    base_builder text;
    base_builder_start(&text, e->arena);
    base_builder_string(&text, "");
    for (size_t i = 0; i < call->rest.items.count; i++) {
        script_value v = call->rest.items.items[i].value;
        if (i > 0)
            base_builder_char(&text, ' ');
        if (!script_value_text(e, v, false, &text))
            base_builder_format(&text, "<%s>", script_value_name(e->arena, v));
    }
    base_report(e->diagnostics, BASE_NOTE, "T0387", call->span, "%s", text.data);
    return script_none();
}

script_value script_word_environment(script_evaluator *e, const script_call *call) {
    if (call->word->data == 0)
        return script_list_make(e->arena, SCRIPT_VALUE_DICT);
    return call->given[1] ? call->value[1] : script_none();
}

/* ValueError("text"): what raise says. */
script_value script_word_exception(script_evaluator *e, const script_call *call) {
    if (call->rest.items.count > 0 && call->rest.items.items[0].value.kind == SCRIPT_VALUE_STRING)
        return call->rest.items.items[0].value;
    const char *name = call->word->path + strlen("python.");
    return script_string(e->arena, name, strlen(name));
}
