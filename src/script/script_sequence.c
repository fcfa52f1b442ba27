/* SPDX-License-Identifier: Apache-2.0
 * Items of Python's sequences: indices and slices with any step, of lists, tuples, ranges and texts, read,
 * assigned and deleted; iterators, which give each item once; assignments that change a list, dict or set in
 * its place. */
#include "script/script_evaluate.h"
#include <string.h>

struct script_iterator {
    script_list *list;
    size_t at;
};

/* ---- characters of UTF-8 ---- */

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t script_text_length(const char *text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += !is_continuation(text[i]);
    return count;
}

/* Byte at which the character begins; the size for those behind the end. */
size_t script_text_offset(const char *text, size_t size, size_t character) {
    size_t at = 0;
    for (; at < size && character > 0; character--)
        for (at++; at < size && is_continuation(text[at]); at++)
            ;
    return at;
}

static script_value character_at(script_evaluator *e, script_value text, size_t character, bool is_ascii) {
    const char *data = text.as.string.text;
    size_t size = text.as.string.size;
    size_t at = is_ascii ? character : script_text_offset(data, size, character);
    size_t end = at + 1;
    while (end < size && is_continuation(data[end]))
        end++;
    return script_string(e->arena, data + at, end - at);
}

void script_text_characters(script_evaluator *e, script_value text, script_list *out) {
    const char *data = text.as.string.text;
    size_t size = text.as.string.size, end;
    script_charge(e, size);
    for (size_t at = 0; at < size; at = end) {
        for (end = at + 1; end < size && is_continuation(data[end]); end++)
            ;
        base_vector_push(e->arena, &out->items, script_string(e->arena, data + at, end - at));
    }
}

/* ---- slices ---- */

typedef struct slice_range {
    int64_t start, stop, step, count;
} slice_range;

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

/* As Python does: bounds from the end, clamped, in the direction of the step. */
static bool read_slice(script_evaluator *e, script_value slice, int64_t length, slice_range *out,
                       base_span span) {
    int64_t v[3] = {0, 0, 1};
    bool given[3];
    for (int i = 2; i >= 0; i--) {
        script_value part = slice.as.list->items.items[i];
        given[i] = part.kind != SCRIPT_VALUE_NONE;
        if (given[i] && !script_constant_int(e, part, &v[i], span, "a bound of a slice"))
            return false;
    }
    if (v[2] == 0) {
        script_error(e, "T0262", span, "the step of a slice may not be 0");
        return false;
    }
    int64_t step = clamp(v[2], -INT64_MAX, INT64_MAX), low = step < 0 ? -1 : 0,
            high = step < 0 ? length - 1 : length;
    int64_t bounds[2] = {step < 0 ? high : low, step < 0 ? low : high};
    for (int i = 0; i < 2; i++)
        if (given[i])
            bounds[i] = clamp(v[i] < 0 ? v[i] + length : v[i], low, high);
    out->start = bounds[0];
    out->stop = bounds[1];
    out->step = step;
    out->count = step > 0 ? (bounds[1] > bounds[0] ? (bounds[1] - bounds[0] - 1) / step + 1 : 0)
                          : (bounds[0] > bounds[1] ? (bounds[0] - bounds[1] - 1) / -step + 1 : 0);
    return true;
}

static script_value text_slice(script_evaluator *e, script_value text, const slice_range *range,
                               bool is_ascii) {
    base_builder b;
    script_list characters = {0};
    base_builder_start(&b, e->arena);
    base_builder_string(&b, "");
    if (!is_ascii)
        script_text_characters(e, text, &characters);
    script_charge(e, (size_t)range->count);
    for (int64_t i = 0, at = range->start; i < range->count; i++, at += i < range->count ? range->step : 0) {
        if (is_ascii)
            base_builder_char(&b, text.as.string.text[at]);
        else
            base_builder_add(&b, characters.items.items[at].as.string.text,
                             characters.items.items[at].as.string.size);
    }
    return script_string(e->arena, b.data, b.size);
}

static int64_t sequence_length(script_value v, bool *is_ascii) {
    *is_ascii = true;
    if (v.kind != SCRIPT_VALUE_STRING)
        return (int64_t)v.as.list->items.count;
    size_t length = script_text_length(v.as.string.text, v.as.string.size);
    *is_ascii = length == v.as.string.size;
    return (int64_t)length;
}

/* A place in a sequence, from its end when negative; false: reported. */
static bool item_place(script_evaluator *e, script_value object, int64_t count, script_value index,
                       base_span span, int64_t *at) {
    const char *what = object.kind == SCRIPT_VALUE_LIST ? "the index of a list" : "the index of a sequence";
    if (!script_constant_int(e, index, at, span, what))
        return false;
    if (*at < -count || *at >= count) {
        script_error(e, "T0263", span, "index %lld is outside %s of %lld items", (long long)*at,
                     script_value_name(e->arena, object), (long long)count);
        return false;
    }
    *at += *at < 0 ? count : 0;
    return true;
}

script_value script_sequence_item(script_evaluator *e, script_value object, script_value index,
                                  base_span span) {
    bool is_ascii;
    int64_t at, count = sequence_length(object, &is_ascii);
    slice_range range;
    if (index.kind != SCRIPT_VALUE_SLICE) {
        if (!item_place(e, object, count, index, span, &at))
            return script_poison();
        return object.kind == SCRIPT_VALUE_STRING ? character_at(e, object, (size_t)at, is_ascii)
                                                  : object.as.list->items.items[at];
    }
    if (!read_slice(e, index, count, &range, span))
        return script_poison();
    if (object.kind == SCRIPT_VALUE_STRING)
        return text_slice(e, object, &range, is_ascii);
    script_value result = script_list_make(e->arena, object.kind);
    script_charge(e, (size_t)range.count);
    for (int64_t i = 0; i < range.count; i++)
        script_list_add(e->arena, result, object.as.list->items.items[range.start + i * range.step]);
    return result;
}

/* ---- ranges ---- */

/* Start, number of items and step of a range of constants. */
bool script_range_constants(script_value range, int64_t *start, int64_t *count, int64_t *step) {
    int64_t stop;
    const script_value *part = range.as.list->items.items;
    if (!script_value_integer(part[0], start) || !script_value_integer(part[1], &stop) ||
        !script_value_integer(part[2], step) || *step == 0)
        return false;
    uint64_t distance = *step > 0 ? (uint64_t)stop - (uint64_t)*start : (uint64_t)*start - (uint64_t)stop;
    uint64_t by = *step > 0 ? (uint64_t)*step : 0 - (uint64_t)*step;
    bool is_empty = *step > 0 ? stop <= *start : stop >= *start;
    uint64_t items = is_empty ? 0 : (distance - 1) / by + 1;
    *count = items > INT64_MAX ? INT64_MAX : (int64_t)items;
    return true;
}

script_value script_range_item(script_evaluator *e, script_value object, script_value index, base_span span) {
    int64_t start, count, step, at;
    slice_range range;
    if (!script_range_constants(object, &start, &count, &step)) {
        script_list *list; /* says which part is no constant */
        if (!script_iterate(e, object, &list, span))
            return script_poison();
        return script_sequence_item(e, (script_value){.kind = SCRIPT_VALUE_LIST, .as.list = list}, index,
                                    span);
    }
    if (index.kind != SCRIPT_VALUE_SLICE)
        return item_place(e, object, count, index, span, &at)
                   ? script_int((int64_t)((uint64_t)start + (uint64_t)at * (uint64_t)step))
                   : script_poison();
    if (!read_slice(e, index, count, &range, span))
        return script_poison();
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_RANGE);
    uint64_t first = (uint64_t)start + (uint64_t)range.start * (uint64_t)step;
    uint64_t by = (uint64_t)step * (uint64_t)range.step;
    uint64_t end = (uint64_t)start + (uint64_t)range.stop * (uint64_t)step;
    script_list_add(e->arena, result, script_int((int64_t)first));
    script_list_add(e->arena, result, script_int((int64_t)end));
    script_list_add(e->arena, result, script_int((int64_t)by));
    return result;
}

/* ---- assignment and deletion ---- */

/* Items from `start` on, `count` of them, become those of `with`. */
static bool replace_items(script_evaluator *e, script_list *list, size_t start, size_t count,
                          const script_list *with, base_span span) {
    size_t more = with->items.count, rest = list->items.count - start - count;
    script_value *items =
        BASE_NEW_ARRAY(e->arena, script_value, more + 1); /* a list may be put into itself */
    script_charge(e, more + rest);
    if (list->items.count - count + more > SCRIPT_MAX_ITEMS) {
        script_error(e, "T0263", span, "a sequence of over %d items", SCRIPT_MAX_ITEMS);
        return false;
    }
    for (size_t i = 0; i < more; i++)
        items[i] = with->items.items[i];
    for (size_t i = count; i < more; i++)
        base_vector_push(e->arena, &list->items, script_none());
    memmove(list->items.items + start + more, list->items.items + start + count,
            rest * sizeof(list->items.items[0]));
    memcpy(list->items.items + start, items, more * sizeof(items[0]));
    list->items.count = start + more + rest;
    return true;
}

static void assign_slice(script_evaluator *e, script_list *list, script_value slice, script_value value,
                         base_span span, base_span value_span) {
    slice_range range;
    script_list *with;
    if (!read_slice(e, slice, (int64_t)list->items.count, &range, span) ||
        !script_iterate(e, value, &with, value_span))
        return;
    if (range.step == 1) {
        replace_items(e, list, (size_t)range.start, (size_t)range.count, with, value_span);
        return;
    }
    if ((int64_t)with->items.count != range.count) {
        script_error(e, "T0229", value_span, "%zu values for a slice of %lld items", with->items.count,
                     (long long)range.count);
        return;
    }
    script_value *items = BASE_NEW_ARRAY(e->arena, script_value, with->items.count + 1);
    for (size_t i = 0; i < with->items.count; i++)
        items[i] = with->items.items[i];
    for (int64_t i = 0; i < range.count; i++)
        list->items.items[range.start + i * range.step] = items[i];
}

void script_list_assign(script_evaluator *e, script_value object, script_value index, script_value value,
                        base_span span, base_span value_span) {
    int64_t at;
    if (index.kind == SCRIPT_VALUE_SLICE)
        assign_slice(e, object.as.list, index, value, span, value_span);
    else if (item_place(e, object, (int64_t)object.as.list->items.count, index, span, &at))
        object.as.list->items.items[at] = value;
}

script_value script_list_take(script_list *list, size_t at) {
    script_value v = list->items.items[at];
    script_list_moved(list);
    memmove(&list->items.items[at], &list->items.items[at + 1],
            (list->items.count - at - 1) * sizeof(list->items.items[0]));
    list->items.count--;
    return v;
}

static void delete_slice(script_evaluator *e, script_list *list, script_value slice, base_span span) {
    slice_range range;
    if (!read_slice(e, slice, (int64_t)list->items.count, &range, span))
        return;
    if (range.step < 0) { /* the same places upwards */
        range.start += (range.count - 1) * range.step;
        range.step = -range.step;
    }
    size_t kept = 0;
    int64_t gone = 0;
    script_charge(e, list->items.count);
    for (size_t i = 0; i < list->items.count; i++) {
        if (gone < range.count && (int64_t)i == range.start + gone * range.step)
            gone++;
        else
            list->items.items[kept++] = list->items.items[i];
    }
    list->items.count = kept;
}

void script_delete_item(script_evaluator *e, script_value object, script_value index, base_span span) {
    int64_t at;
    if (object.kind == SCRIPT_VALUE_DICT) {
        script_value *found = script_dict_find(object, index);
        if (found) {
            size_t place = (size_t)(found - object.as.list->items.items) - 1;
            script_list_take(object.as.list, place);
            script_list_take(object.as.list, place);
        } else
            script_no_key(e, index, span);
    } else if (object.kind == SCRIPT_VALUE_LIST) {
        if (index.kind == SCRIPT_VALUE_SLICE)
            delete_slice(e, object.as.list, index, span);
        else if (item_place(e, object, (int64_t)object.as.list->items.count, index, span, &at))
            script_list_take(object.as.list, (size_t)at);
    } else if (object.kind == SCRIPT_VALUE_OBJECT &&
               script_find_method(e, object.as.object->class, "__delitem__"))
        script_call_method(e, object, "__delitem__", &index, span);
    else
        script_error(e, "T0262", span, "the items of %s cannot be deleted",
                     script_value_name(e->arena, object));
}

script_value script_no_key(script_evaluator *e, script_value key, base_span span) {
    base_builder text;
    base_builder_start(&text, e->arena);
    if (!script_value_text(e, key, true, &text))
        base_builder_string(&text, script_value_name(e->arena, key));
    script_error(e, "T0263", span, "the dict has no key %s", text.data);
    return script_poison();
}

/* slice(stop), slice(start, stop), slice(start, stop, step) */
script_value script_word_slice(script_evaluator *e, const script_call *call) {
    size_t count = call->rest.items.count;
    script_value slice = script_list_make(e->arena, SCRIPT_VALUE_SLICE);
    if (count < 1 || count > 3) {
        script_error(e, "T0203", call->span, "slice takes 1 to 3 bounds, not %zu", count);
        return script_poison();
    }
    if (count == 1)
        script_list_add(e->arena, slice, script_none());
    for (size_t i = 0; i < count; i++)
        script_list_add(e->arena, slice, call->rest.items.items[i].value);
    while (slice.as.list->items.count < 3)
        script_list_add(e->arena, slice, script_none());
    return slice;
}

/* ---- iterators ---- */

script_value script_iterator_make(script_evaluator *e, script_list *list) {
    script_value v = {.kind = SCRIPT_VALUE_ITERATOR};
    v.as.iterator = BASE_NEW(e->arena, script_iterator);
    v.as.iterator->list = list;
    return v;
}

/* What is left, which is then used up. */
void script_iterator_rest(script_evaluator *e, script_value v, script_list **list) {
    script_iterator *iterator = v.as.iterator;
    if (iterator->at == 0)
        *list = iterator->list;
    else {
        *list = BASE_NEW(e->arena, script_list);
        for (size_t i = iterator->at; i < iterator->list->items.count; i++)
            base_vector_push(e->arena, &(*list)->items, iterator->list->items.items[i]);
    }
    iterator->list = BASE_NEW(e->arena, script_list);
    iterator->at = 0;
}

/* Items are taken until one is found. */
bool script_iterator_find(script_value v, script_value item) {
    script_iterator *iterator = v.as.iterator;
    while (iterator->at < iterator->list->items.count)
        if (script_value_equal(iterator->list->items.items[iterator->at++], item, 20))
            return true;
    return false;
}

script_value script_word_iterator(script_evaluator *e, const script_call *call) {
    script_list *list;
    if (call->value[0].kind == SCRIPT_VALUE_ITERATOR)
        return call->value[0];
    return script_iterate(e, call->value[0], &list, call->place[0]) ? script_iterator_make(e, list)
                                                                    : script_poison();
}

script_value script_word_next(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    if (v.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, v.as.object->class, "__next__"))
        return script_call_method(e, v, "__next__", NULL, call->span);
    if (v.kind != SCRIPT_VALUE_ITERATOR) {
        base_diagnostic *d =
            script_error(e, "T0262", call->place[0], "%s is no iterator", script_value_name(e->arena, v));
        base_help(e->diagnostics, d, "iter(...) makes one of it");
        return script_poison();
    }
    if (v.as.iterator->at < v.as.iterator->list->items.count)
        return v.as.iterator->list->items.items[v.as.iterator->at++];
    if (call->given[1])
        return call->value[1];
    script_error(e, "T0263", call->span, "next of an iterator that has no more items");
    return script_poison();
}

/* ---- target op= value where the target is a list, dict or set: it changes in its place ---- */

static bool extend(script_evaluator *e, script_value list, script_value value, base_span span) {
    script_list *more;
    if (!script_iterate(e, value, &more, span))
        return false;
    size_t count = more->items.count; /* extending a list by itself reads the items from before */
    if (list.as.list->items.count + count > SCRIPT_MAX_ITEMS) {
        script_error(e, "T0263", span, "a sequence of over %d items", SCRIPT_MAX_ITEMS);
        return false;
    }
    script_charge(e, count);
    for (size_t i = 0; i < count; i++)
        script_list_add(e->arena, list, more->items.items[i]);
    return true;
}

/* The result of the operator, after which the target names it: the changed value itself, where there is one.
 */
script_value script_augment(script_evaluator *e, script_operator op, script_value before, script_value value,
                            base_span span, base_span value_span) {
    static const char *const names[] = {
        [SCRIPT_OP_ADD] = "__iadd__",           [SCRIPT_OP_SUB] = "__isub__",
        [SCRIPT_OP_MUL] = "__imul__",           [SCRIPT_OP_DIV] = "__itruediv__",
        [SCRIPT_OP_FLOORDIV] = "__ifloordiv__", [SCRIPT_OP_MOD] = "__imod__",
        [SCRIPT_OP_BITOR] = "__ior__",          [SCRIPT_OP_BITAND] = "__iand__",
        [SCRIPT_OP_BITXOR] = "__ixor__",        [SCRIPT_OP_SHL] = "__ilshift__",
        [SCRIPT_OP_SHR] = "__irshift__"};
    const char *name = (size_t)op < sizeof(names) / sizeof(names[0]) ? names[op] : NULL;
    if (before.kind == SCRIPT_VALUE_OBJECT && name && script_find_method(e, before.as.object->class, name))
        return script_call_method(e, before, name, &value, span);
    bool is_list = before.kind == SCRIPT_VALUE_LIST;
    if (is_list && op == SCRIPT_OP_ADD && !script_is_poison(value) && !script_is_ir(value))
        return extend(e, before, value, value_span) ? before : script_poison();
    script_value result = script_binary(e, op, before, value, span);
    if (script_is_poison(result))
        return result;
    if (is_list || before.kind == SCRIPT_VALUE_DICT || before.kind == SCRIPT_VALUE_SET) {
        *before.as.list = *result.as.list;
        return before;
    }
    return result;
}
