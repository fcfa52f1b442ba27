/* SPDX-License-Identifier: Apache-2.0
 * Python's own functions that scripts use while compiling: range, len, min, int, zip, ..., methods of lists,
 * dicts and strings, and the module math. */
#include "script/script_evaluate.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static script_value list_of(script_list *list, script_value_kind kind) {
    return (script_value){.kind = kind, .as.list = list};
}

/* ---- numbers and text ---- */

script_value script_word_range(script_evaluator *e, const script_call *call) {
    script_value range = script_list_make(e->arena, SCRIPT_VALUE_RANGE);
    bool has_stop = call->given[1];
    script_list_add(e->arena, range, has_stop ? call->value[0] : script_int(0));
    script_list_add(e->arena, range, has_stop ? call->value[1] : call->value[0]);
    script_list_add(e->arena, range, call->given[2] ? call->value[2] : script_int(1));
    return range;
}

script_value script_word_len(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    script_list *list;
    if (v.kind == SCRIPT_VALUE_STRING)
        return script_int((int64_t)script_text_length(v.as.string.text, v.as.string.size));
    if (v.kind == SCRIPT_VALUE_DICT)
        return script_int((int64_t)v.as.list->items.count / 2);
    if (v.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, v.as.object->class, "__len__"))
        return script_call_method(e, v, "__len__", NULL, call->span);
    int64_t start, count, step;
    if (v.kind == SCRIPT_VALUE_RANGE && script_range_constants(v, &start, &count, &step))
        return script_int(count);
    if (v.kind == SCRIPT_VALUE_ITERATOR) {
        base_diagnostic *d = script_error(e, "T0262", call->place[0], "an iterator has no length");
        base_help(e->diagnostics, d, "len(list(...)) counts what it gives");
        return script_poison();
    }
    return script_iterate(e, v, &list, call->span) ? script_int((int64_t)list->items.count) : script_poison();
}

static script_value extreme_by_key(script_evaluator *e, const script_list *list, script_value key, ir_op op,
                                   base_span span) {
    script_value best = script_poison(), best_key = script_poison();
    for (size_t i = 0; i < list->items.count; i++) {
        script_arguments arguments = {0};
        base_vector_push(e->arena, &arguments.items,
                         (script_argument){.value = list->items.items[i], .span = span});
        script_value v = script_call_value(e, key, &arguments, NULL, span, span);
        script_value better =
            script_is_poison(v) ? v
            : i == 0            ? script_bool(true)
                     : script_compare(e, op == IR_MIN ? SCRIPT_OP_LT : SCRIPT_OP_GT, v, best_key, span);
        if (better.kind != SCRIPT_VALUE_BOOL)
            return script_poison();
        if (better.as.boolean) {
            best = list->items.items[i];
            best_key = v;
        }
    }
    return best;
}

/* min and max: of the arguments, or of one sequence; IR operands give an IR minimum. */
script_value script_word_extreme(script_evaluator *e, const script_call *call) {
    script_list *list = BASE_NEW(e->arena, script_list);
    const script_value *key = NULL, *otherwise = NULL;
    ir_op op = (ir_op)call->word->data;
    for (size_t i = 0; i < call->keywords.items.count; i++) {
        const script_argument *item = &call->keywords.items.items[i];
        if (strcmp(item->name, "key") == 0)
            key = &item->value;
        else if (strcmp(item->name, "default") == 0)
            otherwise = &item->value;
        else {
            script_error(e, "T0204", item->span, "%s takes no argument '%s'", op == IR_MIN ? "min" : "max",
                         item->name);
            return script_poison();
        }
    }
    if (call->rest.items.count == 1) {
        if (!script_iterate(e, call->rest.items.items[0].value, &list, call->span))
            return script_poison();
    } else
        for (size_t i = 0; i < call->rest.items.count; i++)
            base_vector_push(e->arena, &list->items, call->rest.items.items[i].value);
    if (list->items.count == 0 && otherwise)
        return *otherwise;
    if (list->items.count == 0) {
        script_error(e, "T0203", call->span, "%s of nothing", op == IR_MIN ? "min" : "max");
        return script_poison();
    }
    script_value best = list->items.items[0];
    if (key)
        return extreme_by_key(e, list, *key, op, call->span);
    for (size_t i = 1; i < list->items.count; i++) {
        script_value v = list->items.items[i];
        if (script_is_ir(best) || script_is_ir(v)) {
            const ir_expr *x, *y;
            if (!script_promote(e, best, v, &x, &y, call->span))
                return script_poison();
            best = script_expr(ir_binary(e->module, op, x, y));
            continue;
        }
        script_value less = op == IR_MIN ? script_compare(e, SCRIPT_OP_LT, v, best, call->span)
                                         : script_compare(e, SCRIPT_OP_GT, v, best, call->span);
        if (script_is_poison(less))
            return less;
        if (less.kind == SCRIPT_VALUE_BOOL && less.as.boolean)
            best = v;
    }
    return best;
}

static script_value integer_of_text(script_evaluator *e, const script_call *call, script_value v) {
    int64_t base = 10;
    char *end;
    const char *text = v.as.string.text;
    if (call->given[1] && (!script_constant_int(e, call->value[1], &base, call->span, "the base") ||
                           base < 0 || base == 1 || base > 36)) {
        script_error(e, "T0262", call->span, "the base of a number is 0 or 2 to 36");
        return script_poison();
    }
    if (strchr(text, '_')) { /* one between two digits */
        char *plain = (char *)(uintptr_t)base_arena_string(e->arena, text, v.as.string.size), *to = plain;
        for (const char *from = text; *from; from++)
            if (*from != '_' || from == text || from[-1] == '_' || !isalnum((unsigned char)from[-1]) ||
                !isalnum((unsigned char)from[1]))
                *to++ = *from;
        *to = 0;
        text = v.as.string.text = plain;
        v.as.string.size = (size_t)(to - plain);
    }
    const char *sign = text + strspn(text, " \t\n");
    bool negative = *sign == '-';
    sign += *sign == '-' || *sign == '+';
    char prefix = sign[0] == '0' ? (char)(sign[1] | 0x20) : 0;
    bool is_binary = prefix == 'b' && (base == 0 || base == 2),
         is_octal = prefix == 'o' && (base == 0 || base == 8);
    if (is_binary || is_octal) { /* which strtoll does not read */
        base = is_binary ? 2 : 8;
        text = base_arena_format(e->arena, "%s%s", negative ? "-" : "", sign + 2);
    }
    v.as.string.size -= is_binary || is_octal ? v.as.string.size - strlen(text) : 0;
    v.as.string.text = text;
    errno = 0;
    long long value = strtoll(text, &end, (int)base);
    while (end != text && (*end == ' ' || (*end >= '\t' && *end <= '\r')))
        end++;
    if (errno == ERANGE) {
        script_error(e, "T0260", call->span, "the number does not fit 64 bits");
        return script_poison();
    }
    if (v.as.string.size == 0 || *end || end == text ||
        (size_t)(end - v.as.string.text) != v.as.string.size) {
        script_error(e, "T0262", call->span, "'%.40s' is no integer", v.as.string.text);
        return script_poison();
    }
    return script_int(value);
}

script_value script_word_python_int(script_evaluator *e, const script_call *call) {
    script_value v = call->given[0] ? call->value[0] : script_int(0);
    int64_t i;
    if (v.kind == SCRIPT_VALUE_EXPR && ir_is_int(v.as.expr, &i))
        return script_int(i);
    if (v.kind == SCRIPT_VALUE_INT)
        return v;
    if (script_value_integer(v, &i))
        return script_int(i);
    if (v.kind == SCRIPT_VALUE_FLOAT) {
        if (v.as.real > -9.2e18 && v.as.real < 9.2e18)
            return script_int((int64_t)v.as.real);
        script_error(e, "T0260", call->span, "this float does not fit a 64-bit integer");
        return script_poison();
    }
    if (v.kind == SCRIPT_VALUE_STRING)
        return integer_of_text(e, call, v);
    if (v.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, v.as.object->class, "__int__"))
        return script_call_method(e, v, "__int__", NULL, call->span);
    script_constant_int(e, v, &i, call->span, "the argument of int");
    return script_poison();
}

script_value script_word_python_float(script_evaluator *e, const script_call *call) {
    script_value v = call->given[0] ? call->value[0] : script_float(0);
    int64_t i;
    if (v.kind == SCRIPT_VALUE_FLOAT)
        return v;
    if (script_value_integer(v, &i))
        return script_float((double)i);
    if (v.kind == SCRIPT_VALUE_STRING) {
        char *end;
        double value = strtod(v.as.string.text, &end);
        bool is_hex = strpbrk(v.as.string.text, "xX") != NULL; /* which Python does not take here */
        size_t read = (size_t)(end - v.as.string.text);
        while (*end == ' ' || (*end >= '\t' && *end <= '\r'))
            end++;
        if (read > 0 && !is_hex && (size_t)(end - v.as.string.text) == v.as.string.size)
            return script_float(value);
    }
    if (!script_is_poison(v))
        script_error(e, "T0210", call->span, "float takes a compile-time number, not %s",
                     script_value_name(e->arena, v));
    return script_poison();
}

script_value script_word_python_bool(script_evaluator *e, const script_call *call) {
    bool truth = false;
    if (!call->given[0] || script_truth(e, call->value[0], &truth, call->span))
        return script_bool(truth);
    script_constant_bool(e, call->value[0], &truth, call->span, "the argument of bool");
    return script_poison();
}

script_value script_word_python_str(script_evaluator *e, const script_call *call) {
    base_builder text;
    base_builder_start(&text, e->arena);
    base_builder_string(&text, "");
    if (call->given[0] && !script_value_text(e, call->value[0], false, &text)) {
        script_error(e, "T0210", call->span, "%s has no text while compiling",
                     script_value_name(e->arena, call->value[0]));
        return script_poison();
    }
    return script_string(e->arena, text.data ? text.data : "", text.size);
}

/* ---- sequences ---- */

static script_list *copy_list(script_evaluator *e, const script_list *from) {
    script_list *list = BASE_NEW(e->arena, script_list);
    script_charge(e, from->items.count);
    for (size_t i = 0; i < from->items.count; i++)
        base_vector_push(e->arena, &list->items, from->items.items[i]);
    return list;
}

script_value script_word_sequence(script_evaluator *e, const script_call *call) {
    script_list *list;
    script_value_kind kind = (script_value_kind)call->word->data;
    if (!call->given[0])
        return script_list_make(e->arena, kind);
    return script_iterate(e, call->value[0], &list, call->span) ? list_of(copy_list(e, list), kind)
                                                                : script_poison();
}

script_value script_word_reversed(script_evaluator *e, const script_call *call) {
    script_list *list;
    if (!script_iterate(e, call->value[0], &list, call->span))
        return script_poison();
    list = copy_list(e, list);
    for (size_t i = 0, j = list->items.count; i + 1 < j; i++) {
        script_value v = list->items.items[i];
        list->items.items[i] = list->items.items[--j];
        list->items.items[j] = v;
    }
    return script_iterator_make(e, list);
}

script_value script_word_enumerate(script_evaluator *e, const script_call *call) {
    script_list *list;
    int64_t start = 0;
    if ((call->given[1] &&
         !script_constant_int(e, call->value[1], &start, call->span, "the start of enumerate")) ||
        !script_iterate(e, call->value[0], &list, call->span))
        return script_poison();
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    script_charge(e, list->items.count);
    for (size_t i = 0; i < list->items.count; i++) {
        script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        script_list_add(e->arena, pair, script_int((int64_t)((uint64_t)start + i)));
        script_list_add(e->arena, pair, list->items.items[i]);
        script_list_add(e->arena, result, pair);
    }
    return script_iterator_make(e, result.as.list);
}

script_value script_word_zip(script_evaluator *e, const script_call *call) {
    size_t count = call->rest.items.count, shortest = SIZE_MAX;
    script_list **lists = BASE_NEW_ARRAY(e->arena, script_list *, count + 1);
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    for (size_t i = 0; i < count; i++) {
        if (!script_iterate(e, call->rest.items.items[i].value, &lists[i], call->rest.items.items[i].span))
            return script_poison();
        if (lists[i]->items.count < shortest)
            shortest = lists[i]->items.count;
    }
    const script_value *strict = script_argument_of(call, "strict");
    bool same = false;
    if (strict && !script_constant_bool(e, *strict, &same, script_argument_span(call, "strict"), "strict"))
        return script_poison();
    for (size_t i = 0; same && i < count; i++)
        if (lists[i]->items.count != shortest) {
            script_error(e, "T0262", call->rest.items.items[i].span, "zip(strict=True) of %zu items and %zu",
                         lists[i]->items.count, shortest);
            return script_poison();
        }
    script_charge(e, count > 0 ? count * shortest : 0);
    for (size_t i = 0; count > 0 && i < shortest; i++) {
        script_value tuple = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        for (size_t j = 0; j < count; j++)
            script_list_add(e->arena, tuple, lists[j]->items.items[i]);
        script_list_add(e->arena, result, tuple);
    }
    return script_iterator_make(e, result.as.list);
}

static script_value fold_list(script_evaluator *e, script_value v, script_operator op, script_value start,
                              base_span span) {
    script_list *list;
    if (!script_iterate(e, v, &list, span))
        return script_poison();
    script_charge(e, list->items.count);
    for (size_t i = 0; i < list->items.count && !script_is_poison(start); i++)
        start = script_binary(e, op, start, list->items.items[i], span);
    return start;
}

script_value script_word_sum(script_evaluator *e, const script_call *call) {
    return fold_list(e, call->value[0], SCRIPT_OP_ADD, call->given[1] ? call->value[1] : script_int(0),
                     call->span);
}

script_value script_word_math_prod(script_evaluator *e, const script_call *call) {
    return fold_list(e, call->value[0], SCRIPT_OP_MUL, script_int(1), call->span);
}

script_value script_word_any_all(script_evaluator *e, const script_call *call) {
    script_list *list;
    bool all = call->word->data == 1, truth;
    if (!script_iterate(e, call->value[0], &list, call->span))
        return script_poison();
    for (size_t i = 0; i < list->items.count; i++) {
        if (!script_truth(e, list->items.items[i], &truth, call->span)) {
            script_constant_bool(e, list->items.items[i], &truth, call->span, "an item");
            return script_poison();
        }
        if (truth != all)
            return script_bool(!all);
    }
    return script_bool(all);
}

static bool is_instance(script_value v, script_value kind, bool *known) {
    static const struct {
        const char *name;
        script_value_kind kind;
    } kinds[] = {{"python.int", SCRIPT_VALUE_INT},    {"python.float", SCRIPT_VALUE_FLOAT},
                 {"python.bool", SCRIPT_VALUE_BOOL},  {"python.str", SCRIPT_VALUE_STRING},
                 {"python.list", SCRIPT_VALUE_LIST},  {"python.tuple", SCRIPT_VALUE_TUPLE},
                 {"python.dict", SCRIPT_VALUE_DICT},  {"python.set", SCRIPT_VALUE_SET},
                 {"TileLayout", SCRIPT_VALUE_LAYOUT}, {"Tensor", SCRIPT_VALUE_TENSOR},
                 {"Buffer", SCRIPT_VALUE_TENSOR}};
    if (kind.kind == SCRIPT_VALUE_TUPLE) {
        for (size_t i = 0; i < kind.as.list->items.count; i++)
            if (kind.as.list->items.items[i].kind != SCRIPT_VALUE_TUPLE &&
                is_instance(v, kind.as.list->items.items[i], known))
                return true;
        return false;
    }
    if (kind.kind == SCRIPT_VALUE_NONE) /* type(None) */
        return v.kind == SCRIPT_VALUE_NONE;
    if (kind.kind == SCRIPT_VALUE_WORD && strcmp(kind.as.word->path, "python.tuple") == 0 &&
        v.kind == SCRIPT_VALUE_OBJECT && v.as.object->class->is_tuple)
        return true;
    if (kind.kind == SCRIPT_VALUE_CLASS)
        return v.kind == SCRIPT_VALUE_OBJECT && script_is_subclass(v.as.object->class, kind.as.class);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kind.kind == SCRIPT_VALUE_WORD && strcmp(kind.as.word->path, kinds[i].name) == 0)
            return v.kind == kinds[i].kind ||
                   (kinds[i].kind == SCRIPT_VALUE_INT && v.kind == SCRIPT_VALUE_BOOL);
    *known = false;
    return false;
}

/* issubclass(Derived, Base) */
script_value script_word_issubclass(script_evaluator *e, const script_call *call) {
    if (call->value[0].kind != SCRIPT_VALUE_CLASS || call->value[1].kind != SCRIPT_VALUE_CLASS) {
        script_not_supported(e, call->span, "issubclass of %s and %s",
                             script_value_name(e->arena, call->value[0]),
                             script_value_name(e->arena, call->value[1]));
        return script_poison();
    }
    return script_bool(script_is_subclass(call->value[0].as.class, call->value[1].as.class));
}

script_value script_word_isinstance(script_evaluator *e, const script_call *call) {
    bool known = true, result = is_instance(call->value[0], call->value[1], &known);
    if (!known && !result) {
        script_not_supported(e, call->place[1], "isinstance with %s",
                             script_value_name(e->arena, call->value[1]));
        return script_poison();
    }
    return script_bool(result);
}

/* ---- methods ---- */

script_value script_word_list_append(script_evaluator *e, const script_call *call) {
    script_list *more;
    if (call->word->data == 0) {
        script_list_add(e->arena, call->receiver, call->value[0]);
        return script_none();
    }
    if (!script_iterate(e, call->value[0], &more, call->span))
        return script_poison();
    script_charge(e, more->items.count);
    size_t count = more->items.count; /* extending a list by itself reads the items from before */
    for (size_t i = 0; i < count; i++)
        script_list_add(e->arena, call->receiver, more->items.items[i]);
    return script_none();
}

script_value script_word_str_join(script_evaluator *e, const script_call *call) {
    script_list *list;
    base_builder text;
    base_builder_start(&text, e->arena);
    base_builder_string(&text, "");
    if (!script_iterate(e, call->value[0], &list, call->span))
        return script_poison();
    for (size_t i = 0; i < list->items.count; i++) {
        if (list->items.items[i].kind != SCRIPT_VALUE_STRING) {
            script_error(e, "T0262", call->span, "join takes strings, not %s",
                         script_value_name(e->arena, list->items.items[i]));
            return script_poison();
        }
        if (i > 0)
            base_builder_add(&text, call->receiver.as.string.text, call->receiver.as.string.size);
        base_builder_add(&text, list->items.items[i].as.string.text, list->items.items[i].as.string.size);
    }
    return script_string(e->arena, text.data ? text.data : "", text.size);
}
