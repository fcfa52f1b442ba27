/* SPDX-License-Identifier: Apache-2.0
 * Dicts and sets while compiling: their methods and operators, dicts with a default, named tuples. */
#include "script/script_evaluate.h"
#include <string.h>

static script_value list_value(script_list *list, script_value_kind kind) {
    return (script_value){.kind = kind, .as.list = list};
}

/* ---- sets ---- */

static bool is_member(script_list *list, script_value v) {
    return script_list_find(list, v, 1) != SIZE_MAX;
}

bool script_set_add(script_evaluator *e, script_value set, script_value v, base_span span) {
    if (v.kind == SCRIPT_VALUE_LIST || v.kind == SCRIPT_VALUE_DICT || v.kind == SCRIPT_VALUE_SET ||
        script_is_ir(v)) {
        script_error(e, "T0262", span, "%s cannot be in a set", script_value_name(e->arena, v));
        return false;
    }
    script_charge(e, 1);
    if (set.as.list->items.count >= SCRIPT_MAX_ENTRIES) {
        script_error(e, "T0263", span, "a set of over %d items", SCRIPT_MAX_ENTRIES);
        return false;
    }
    if (!is_member(set.as.list, v))
        script_list_add(e->arena, set, v);
    return true;
}

static bool add_items(script_evaluator *e, script_value set, const script_list *list, base_span span) {
    size_t count = list->items.count;
    for (size_t i = 0; i < count; i++)
        if (!script_set_add(e, set, list->items.items[i], span))
            return false;
    return true;
}

script_value script_word_set(script_evaluator *e, const script_call *call) {
    script_list *list;
    script_value set = script_list_make(e->arena, SCRIPT_VALUE_SET);
    if (!call->given[0])
        return set;
    return script_iterate(e, call->value[0], &list, call->span) && add_items(e, set, list, call->span)
               ? set
               : script_poison();
}

/* a | b, a & b, a - b, a ^ b */
script_value script_set_operator(script_evaluator *e, script_operator op, script_value a, script_value b,
                                 base_span span) {
    script_value set = script_list_make(e->arena, SCRIPT_VALUE_SET);
    bool from_b = op == SCRIPT_OP_BITOR || op == SCRIPT_OP_BITXOR;
    for (size_t i = 0; i < a.as.list->items.count; i++) {
        bool both = is_member(b.as.list, a.as.list->items.items[i]);
        if ((op == SCRIPT_OP_BITOR || both == (op == SCRIPT_OP_BITAND)) &&
            !script_set_add(e, set, a.as.list->items.items[i], span))
            return script_poison();
    }
    for (size_t i = 0; from_b && i < b.as.list->items.count; i++)
        if (!is_member(a.as.list, b.as.list->items.items[i]) &&
            !script_set_add(e, set, b.as.list->items.items[i], span))
            return script_poison();
    return set;
}

enum { SET_ADD, SET_DISCARD, SET_REMOVE, SET_POP, SET_CLEAR, SET_COPY };

script_value script_word_set_method(script_evaluator *e, const script_call *call) {
    script_value set = call->receiver;
    script_list *own = set.as.list;
    size_t at;
    switch (call->word->data) {
    case SET_ADD:
        return script_set_add(e, set, call->value[0], call->span) ? script_none() : script_poison();
    case SET_DISCARD:
    case SET_REMOVE:
        at = script_list_find(own, call->value[0], 1);
        if (at != SIZE_MAX) {
            script_list_take(own, at);
            return script_none();
        }
        if (call->word->data == SET_DISCARD)
            return script_none();
        script_error(e, "T0263", call->span, "the set has no such item");
        return script_poison();
    case SET_POP:
        if (own->items.count > 0)
            return script_list_take(own, 0);
        script_error(e, "T0263", call->span, "pop from an empty set");
        return script_poison();
    case SET_CLEAR:
        script_list_moved(own);
        own->items.count = 0;
        return script_none();
    default:
        return script_set_operator(e, SCRIPT_OP_BITOR, set, set, call->span);
    }
}

/* union, intersection, difference, symmetric_difference with any iterables; from 4 on they change the set. */
script_value script_word_set_combine(script_evaluator *e, const script_call *call) {
    static const script_operator ops[] = {SCRIPT_OP_BITOR, SCRIPT_OP_BITAND, SCRIPT_OP_SUB, SCRIPT_OP_BITXOR};
    script_value set = call->receiver;
    bool changes = call->word->data >= 4;
    if (!changes)
        set = script_set_operator(e, SCRIPT_OP_BITOR, set, set, call->span);
    for (size_t i = 0; i < call->rest.items.count && !script_is_poison(set); i++) {
        script_list *list;
        script_value other = script_list_make(e->arena, SCRIPT_VALUE_SET);
        if (!script_iterate(e, call->rest.items.items[i].value, &list, call->rest.items.items[i].span) ||
            !add_items(e, other, list, call->span))
            return script_poison();
        set = script_set_operator(e, ops[call->word->data % 4], set, other, call->span);
    }
    if (!changes || script_is_poison(set))
        return set;
    *call->receiver.as.list = *set.as.list;
    return script_none();
}

/* issubset, issuperset, isdisjoint */
script_value script_word_set_test(script_evaluator *e, const script_call *call) {
    script_list *list, *own = call->receiver.as.list;
    script_value other = script_list_make(e->arena, SCRIPT_VALUE_SET);
    if (!script_iterate(e, call->value[0], &list, call->span) || !add_items(e, other, list, call->span))
        return script_poison();
    bool turned = call->word->data == 1, result = true;
    script_list *part = turned ? other.as.list : own, *whole = turned ? own : other.as.list;
    for (size_t i = 0; i < part->items.count; i++)
        result &= is_member(whole, part->items.items[i]) == (call->word->data != 2);
    return script_bool(result);
}

/* ---- dicts ---- */

static bool set_entries(script_evaluator *e, script_value dict, script_value from, base_span span) {
    script_list *pairs, *pair;
    if (from.kind == SCRIPT_VALUE_DICT) {
        for (size_t i = 0; i + 1 < from.as.list->items.count; i += 2)
            if (!script_dict_set(e, dict, from.as.list->items.items[i], from.as.list->items.items[i + 1],
                                 span))
                return false;
        return true;
    }
    if (!script_iterate(e, from, &pairs, span))
        return false;
    for (size_t i = 0; i < pairs->items.count; i++) {
        if (!script_iterate(e, pairs->items.items[i], &pair, span))
            return false;
        if (pair->items.count != 2) {
            script_error(e, "T0262", span, "a dict takes pairs, not %zu values", pair->items.count);
            return false;
        }
        if (!script_dict_set(e, dict, pair->items.items[0], pair->items.items[1], span))
            return false;
    }
    return true;
}

static bool set_keywords(script_evaluator *e, script_value dict, const script_arguments *keywords) {
    for (size_t i = 0; i < keywords->items.count; i++) {
        const script_argument *item = &keywords->items.items[i];
        if (!script_dict_set(e, dict, script_string(e->arena, item->name, strlen(item->name)), item->value,
                             item->span))
            return false;
    }
    return true;
}

script_value script_word_dict(script_evaluator *e, const script_call *call) {
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    bool good = (!call->given[0] || set_entries(e, dict, call->value[0], call->span)) &&
                set_keywords(e, dict, &call->keywords);
    return good ? dict : script_poison();
}

/* defaultdict(factory, pairs): a missing key gets what the factory makes. */
script_value script_word_default_dict(script_evaluator *e, const script_call *call) {
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    if (call->given[0] && call->value[0].kind != SCRIPT_VALUE_NONE)
        dict.as.list->factory = base_arena_copy(e->arena, &call->value[0], sizeof(call->value[0]));
    bool good = (!call->given[1] || set_entries(e, dict, call->value[1], call->span)) &&
                set_keywords(e, dict, &call->keywords);
    return good ? dict : script_poison();
}

script_value script_dict_item(script_evaluator *e, script_value dict, script_value key, base_span span) {
    script_arguments none = {0};
    script_value *found = script_dict_find(dict, key);
    if (found)
        return *found;
    if (!dict.as.list->factory)
        return script_no_key(e, key, span);
    script_value v = script_call_value(e, *dict.as.list->factory, &none, NULL, span, span);
    return !script_is_poison(v) && script_dict_set(e, dict, key, v, span) ? v : script_poison();
}

static script_value copy_dict(script_evaluator *e, script_value dict, base_span span) {
    script_value copy = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    copy.as.list->factory = dict.as.list->factory;
    return set_entries(e, copy, dict, span) ? copy : script_poison();
}

/* a | b: the entries of both, those of b for keys in both */
script_value script_dict_join(script_evaluator *e, script_value a, script_value b, base_span span) {
    script_value joined = copy_dict(e, a, span);
    return !script_is_poison(joined) && set_entries(e, joined, b, span) ? joined : script_poison();
}

static script_value take_entry(script_value dict, size_t at) {
    script_list_take(dict.as.list, at);
    return script_list_take(dict.as.list, at);
}

enum { DICT_POP, DICT_SETDEFAULT, DICT_UPDATE, DICT_COPY, DICT_POPITEM, DICT_CLEAR };

script_value script_word_dict_method(script_evaluator *e, const script_call *call) {
    script_value dict = call->receiver, *found, pair;
    script_list *list = dict.as.list;
    switch (call->word->data) {
    case DICT_POP:
        found = script_dict_find(dict, call->value[0]);
        if (found)
            return take_entry(dict, (size_t)(found - list->items.items) - 1);
        return call->given[1] ? call->value[1] : script_no_key(e, call->value[0], call->span);
    case DICT_SETDEFAULT:
        found = script_dict_find(dict, call->value[0]);
        if (found)
            return *found;
        pair = call->given[1] ? call->value[1] : script_none();
        return script_dict_set(e, dict, call->value[0], pair, call->span) ? pair : script_poison();
    case DICT_UPDATE:
        return (!call->given[0] || set_entries(e, dict, call->value[0], call->place[0])) &&
                       set_keywords(e, dict, &call->keywords)
                   ? script_none()
                   : script_poison();
    case DICT_COPY:
        return copy_dict(e, dict, call->span);
    case DICT_POPITEM:
        if (list->items.count < 2) {
            script_error(e, "T0263", call->span, "popitem from an empty dict");
            return script_poison();
        }
        pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        script_list_add(e->arena, pair, list->items.items[list->items.count - 2]);
        script_list_add(e->arena, pair, list->items.items[list->items.count - 1]);
        take_entry(dict, list->items.count - 2);
        return pair;
    default: /* clear */
        script_list_moved(list);
        list->items.count = 0;
        return script_none();
    }
}

/* dict.fromkeys(keys, value) */
script_value script_word_dict_from_keys(script_evaluator *e, const script_call *call) {
    script_list *keys;
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    if (!script_iterate(e, call->value[0], &keys, call->place[0]))
        return script_poison();
    for (size_t i = 0; i < keys->items.count; i++)
        if (!script_dict_set(e, dict, keys->items.items[i], call->given[1] ? call->value[1] : script_none(),
                             call->span))
            return script_poison();
    return dict;
}

script_value script_word_dict_get(script_evaluator *e, const script_call *call) {
    (void)e;
    script_value *found = script_dict_find(call->receiver, call->value[0]);
    return found ? *found : call->given[1] ? call->value[1] : script_none();
}

script_value script_word_dict_items(script_evaluator *e, const script_call *call) {
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    const script_list *list = call->receiver.as.list;
    for (size_t i = 0; i + 1 < list->items.count; i += 2) {
        script_value pair = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        script_list_add(e->arena, pair, list->items.items[i]);
        script_list_add(e->arena, pair, list->items.items[i + 1]);
        script_list_add(e->arena, result,
                        call->word->data == 2 ? pair : list->items.items[i + (size_t)call->word->data]);
    }
    return result;
}

/* ---- named tuples ---- */

/* The names of namedtuple("Point", "x y"), also as "x, y" or a list. */
static bool read_names(script_evaluator *e, script_class *class, script_value names, base_span span) {
    script_list *list;
    if (names.kind == SCRIPT_VALUE_STRING) {
        const char *text = names.as.string.text;
        list = BASE_NEW(e->arena, script_list);
        while (*(text += strspn(text, ", \t\n"))) {
            size_t size = strcspn(text, ", \t\n");
            base_vector_push(e->arena, &list->items, script_string(e->arena, text, size));
            text += size;
        }
    } else if (!script_iterate(e, names, &list, span))
        return false;
    for (size_t i = 0; i < list->items.count; i++) {
        const char *name;
        if (!script_constant_string(e, list->items.items[i], &name, span, "the name of a field"))
            return false;
        if (!script_is_identifier(name) || name[0] == '_') {
            script_error(e, "T0262", span, "'%.40s' is no name of a field", name);
            return false;
        }
        base_vector_push(e->arena, &class->fields, (script_field){.name = base_name_of(e->names, name)});
    }
    return true;
}

script_value script_word_named_tuple(script_evaluator *e, const script_call *call) {
    script_class *class = BASE_NEW(e->arena, script_class);
    const script_value *defaults = script_argument_of(call, "defaults");
    script_list *list = NULL;
    if (!script_constant_string(e, call->value[0], &class->name, call->place[0], "the name of the class") ||
        !read_names(e, class, call->value[1], call->place[1]) ||
        (defaults && !script_iterate(e, *defaults, &list, script_argument_span(call, "defaults"))))
        return script_poison();
    if (list && list->items.count > class->fields.count) {
        script_error(e, "T0203", call->span, "more defaults than fields");
        return script_poison();
    }
    for (size_t i = 0; list && i < list->items.count; i++) {
        script_field *field = &class->fields.items[class->fields.count - list->items.count + i];
        field->has_default = true;
        field->value = &list->items.items[i];
    }
    class->span = call->span;
    class->scope = BASE_NEW(e->arena, script_scope);
    class->kind = SCRIPT_CLASS_RECORD;
    class->is_tuple = class->is_ordered = class->is_frozen = true;
    return (script_value){.kind = SCRIPT_VALUE_CLASS, .as.class = class};
}

/* The fields of a named tuple as a tuple; other values as they are. */
script_value script_as_tuple(script_evaluator *e, script_value v) {
    script_list *list;
    if (v.kind != SCRIPT_VALUE_OBJECT || !v.as.object->class->is_tuple ||
        !script_iterate(e, v, &list, v.as.object->class->span))
        return v;
    return list_value(list, SCRIPT_VALUE_TUPLE);
}
