/* SPDX-License-Identifier: Apache-2.0
 * More methods of texts while compiling, and the older formatting with %. Places are counted in characters.
 */
#include "script/script_evaluate.h"
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

static const char *find_first(const char *text, size_t size, const char *part, size_t part_size) {
    return memmem(text, size, part, part_size);
}

static const char *find_last(const char *text, size_t size, const char *part, size_t part_size) {
    for (size_t i = size + 1; part_size <= size && i > part_size; i--)
        if (memcmp(text + i - 1 - part_size, part, part_size) == 0)
            return text + i - 1 - part_size;
    return NULL;
}

/* The bytes between the characters start and end, as a slice has them. */
static bool read_part(script_evaluator *e, const script_call *call, const char **text, size_t *size) {
    const char *data = call->receiver.as.string.text;
    int64_t length = (int64_t)script_text_length(data, call->receiver.as.string.size);
    int64_t bounds[2] = {0, length};
    for (int i = 0; i < 2; i++) {
        if (!call->given[1 + i] || call->value[1 + i].kind == SCRIPT_VALUE_NONE)
            continue;
        if (!script_constant_int(e, call->value[1 + i], &bounds[i], call->place[1 + i], "a place in a text"))
            return false;
        bounds[i] += bounds[i] < 0 ? length : 0;
        bounds[i] = bounds[i] < 0 ? 0 : bounds[i] > length && i == 1 ? length : bounds[i];
    }
    size_t start = script_text_offset(data, call->receiver.as.string.size, (size_t)bounds[0]);
    size_t end = script_text_offset(data, call->receiver.as.string.size, (size_t)bounds[1]);
    *text = bounds[0] > bounds[1] || bounds[0] > length ? NULL : data + start;
    *size = *text ? end - start : 0;
    return true;
}

enum { FIND, COUNT, INDEX, FIND_LAST, INDEX_LAST };

/* find, count, index, rfind, rindex */
script_value script_word_str_find(script_evaluator *e, const script_call *call) {
    const char *part, *text, *at;
    size_t size, part_size = call->value[0].as.string.size;
    int which = call->word->data;
    if (!script_constant_string(e, call->value[0], &part, call->place[0], "the text to find") ||
        !read_part(e, call, &text, &size))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    if (which == COUNT) {
        int64_t count = 0;
        if (part_size == 0)
            return script_int(text ? (int64_t)script_text_length(text, size) + 1 : 0);
        for (; text && (at = find_first(text, size, part, part_size)); count++) {
            size -= (size_t)(at - text) + part_size;
            text = at + part_size;
        }
        return script_int(count);
    }
    bool last = which == FIND_LAST || which == INDEX_LAST;
    at = !text ? NULL : (last ? find_last : find_first)(text, size, part, part_size);
    if (!at && (which == INDEX || which == INDEX_LAST)) {
        script_error(e, "T0263", call->span, "the text does not contain '%.40s'", part);
        return script_poison();
    }
    const char *data = call->receiver.as.string.text;
    return script_int(at ? (int64_t)script_text_length(data, (size_t)(at - data)) : -1);
}

/* startswith and endswith take one text or a tuple of them. */
script_value script_word_str_test(script_evaluator *e, const script_call *call) {
    const char *part, *text = call->receiver.as.string.text;
    size_t whole = call->receiver.as.string.size;
    script_value single = call->value[0];
    const script_value *items = &single;
    size_t count = 1;
    if (single.kind == SCRIPT_VALUE_TUPLE) {
        items = single.as.list->items.items;
        count = single.as.list->items.count;
    }
    for (size_t i = 0; i < count; i++) {
        if (!script_constant_string(e, items[i], &part, call->place[0], "the argument"))
            return script_poison();
        size_t size = items[i].as.string.size;
        if (size <= whole && memcmp(call->word->data ? text + whole - size : text, part, size) == 0)
            return script_bool(true);
    }
    return script_bool(false);
}

/* ---- parts ---- */

static script_value bytes(script_evaluator *e, const char *start, const char *end) {
    return script_string(e->arena, start, (size_t)(end - start));
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void reverse(script_list *list) {
    for (size_t i = 0, j = list->items.count; i + 1 < j; i++) {
        script_value v = list->items.items[i];
        list->items.items[i] = list->items.items[--j];
        list->items.items[j] = v;
    }
}

/* By blanks: runs of them separate, those at the ends do not count; what is left after the last split keeps
 * its far end. */
static void split_blanks(script_evaluator *e, script_value list, const char *text, const char *end,
                         int64_t most, bool from_right) {
    for (int64_t parts = 0;; parts++) {
        while (text < end && is_blank(from_right ? end[-1] : *text)) {
            text += !from_right;
            end -= from_right;
        }
        if (text >= end)
            return;
        if (parts == most) {
            script_list_add(e->arena, list, bytes(e, text, end));
            return;
        }
        const char *cut = from_right ? end : text;
        while (from_right ? cut > text && !is_blank(cut[-1]) : cut < end && !is_blank(*cut))
            cut += from_right ? -1 : 1;
        script_list_add(e->arena, list, from_right ? bytes(e, cut, end) : bytes(e, text, cut));
        *(from_right ? &end : &text) = cut;
    }
}

/* split(sep, maxsplit) and rsplit */
script_value script_word_str_split(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size, *by = NULL;
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    const script_value *separator = script_argument_of(call, "sep");
    bool from_right = call->word->data == 1;
    int64_t most = -1;
    if ((separator && !script_constant_string(e, *separator, &by, call->span, "a separator")) ||
        !script_argument_int(e, call, "maxsplit", -1, &most))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    if (by && !*by) {
        script_error(e, "T0262", call->span, "an empty separator");
        return script_poison();
    }
    if (!by)
        split_blanks(e, list, text, end, most, from_right);
    for (size_t size = by ? separator->as.string.size : 0; by; most--) {
        const char *at = most == 0    ? NULL
                         : from_right ? find_last(text, (size_t)(end - text), by, size)
                                      : find_first(text, (size_t)(end - text), by, size);
        if (!at) {
            script_list_add(e->arena, list, bytes(e, text, end));
            break;
        }
        script_list_add(e->arena, list, from_right ? bytes(e, at + size, end) : bytes(e, text, at));
        if (from_right)
            end = at;
        else
            text = at + size;
    }
    if (from_right)
        reverse(list.as.list);
    return list;
}

script_value script_word_str_splitlines(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    const script_value *v = script_argument_of(call, "keepends");
    bool keep = false;
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    if (v && !script_constant_bool(e, *v, &keep, call->span, "keepends"))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    while (text < end) {
        const char *stop = text;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        const char *next = stop + (stop < end) + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n');
        script_list_add(e->arena, list, bytes(e, text, keep ? next : stop));
        text = next;
    }
    return list;
}

/* partition, rpartition: what is before, the separator, what is behind */
script_value script_word_str_partition(script_evaluator *e, const script_call *call) {
    const char *by, *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    script_value tuple = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    if (!script_constant_string(e, call->value[0], &by, call->place[0], "a separator"))
        return script_poison();
    size_t size = call->value[0].as.string.size;
    if (size == 0) {
        script_error(e, "T0262", call->span, "an empty separator");
        return script_poison();
    }
    bool last = call->word->data == 1;
    const char *at = (last ? find_last : find_first)(text, (size_t)(end - text), by, size);
    const char *before = at ? at : last ? text : end, *behind = at ? at + size : last ? text : end;
    script_list_add(e->arena, tuple, bytes(e, text, before));
    script_list_add(e->arena, tuple, at ? call->value[0] : script_string(e->arena, "", 0));
    script_list_add(e->arena, tuple, bytes(e, behind, end));
    return tuple;
}

/* removeprefix, removesuffix */
script_value script_word_str_without(script_evaluator *e, const script_call *call) {
    const char *part, *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    if (!script_constant_string(e, call->value[0], &part, call->place[0], "the argument"))
        return script_poison();
    size_t size = call->value[0].as.string.size;
    bool fits = size <= call->receiver.as.string.size;
    if (call->word->data == 0 && fits && memcmp(text, part, size) == 0)
        text += size;
    else if (call->word->data == 1 && fits && memcmp(end - size, part, size) == 0)
        end -= size;
    return bytes(e, text, end);
}

script_value script_word_str_expandtabs(script_evaluator *e, const script_call *call) {
    int64_t width = 8;
    size_t column = 0;
    base_builder out;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    if (!script_argument_int(e, call, "tabsize", 8, &width))
        return script_poison();
    width = width < 0 ? 0 : width > 256 ? 256 : width;
    for (size_t i = 0; i < call->receiver.as.string.size; i++) {
        char c = call->receiver.as.string.text[i];
        if (c == '\t') {
            size_t blanks = width ? (size_t)width - column % (size_t)width : 0;
            script_charge(e, blanks);
            for (size_t j = 0; j < blanks && !script_is_stopped(e); j++)
                base_builder_char(&out, ' ');
            column += blanks;
            continue;
        }
        base_builder_char(&out, c);
        column = c == '\n' || c == '\r' ? 0 : column + (((unsigned char)c & 0xc0) != 0x80);
    }
    return script_string(e->arena, out.data, out.size);
}

/* ---- letters ---- */

/* Only ASCII's letters have a table here: others would be left as they are without a word. */
static bool is_ascii_only(script_evaluator *e, const script_call *call) {
    for (size_t i = 0; i < call->receiver.as.string.size; i++)
        if ((unsigned char)call->receiver.as.string.text[i] >= 0x80) {
            script_not_supported(e, call->span, "%s of letters outside ASCII", call->word->path + 4);
            return false;
        }
    return true;
}

enum { LOWER, UPPER, CAPITALIZE, TITLE, SWAPCASE };

script_value script_word_str_case(script_evaluator *e, const script_call *call) {
    script_value v = script_string(e->arena, call->receiver.as.string.text, call->receiver.as.string.size);
    char *text = (char *)(uintptr_t)v.as.string.text;
    bool inside = false;
    if (!is_ascii_only(e, call))
        return script_poison();
    for (size_t i = 0; i < v.as.string.size; i++) {
        bool lower = text[i] >= 'a' && text[i] <= 'z', upper = text[i] >= 'A' && text[i] <= 'Z';
        bool up = call->word->data == UPPER || (call->word->data == SWAPCASE && lower) ||
                  ((call->word->data == CAPITALIZE || call->word->data == TITLE) && !inside);
        if (lower && up)
            text[i] = (char)(text[i] - 'a' + 'A');
        else if (upper && !up)
            text[i] = (char)(text[i] - 'A' + 'a');
        inside = call->word->data == CAPITALIZE ? true : lower || upper;
    }
    return v;
}

/* isdigit, isalpha, isalnum, isspace of every character; isupper, islower of the letters */
script_value script_word_str_is(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text;
    size_t size = call->receiver.as.string.size;
    int which = call->word->data;
    bool letters = false;
    if (which == 6)
        return script_bool(script_is_identifier(text));
    if (!is_ascii_only(e, call))
        return script_poison();
    for (size_t i = 0; i < size; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        bool lower = text[i] >= 'a' && text[i] <= 'z', upper = text[i] >= 'A' && text[i] <= 'Z';
        letters |= lower || upper;
        bool good = which == 0   ? digit
                    : which == 1 ? lower || upper
                    : which == 2 ? digit || lower || upper
                    : which == 3 ? is_blank(text[i])
                    : which == 4 ? !lower
                                 : !upper;
        if (!good)
            return script_bool(false);
    }
    return script_bool(which < 4 ? size > 0 : letters);
}

/* ---- "%d of %s" % values ---- */

typedef struct percent {
    const char *text, *end;
    script_value values; /* of %(name)s: the dict; else a list whose items are taken in turn */
    size_t next, count;
    base_span span;
} percent;

static bool take_value(script_evaluator *e, percent *p, script_value *v) {
    if (p->values.kind == SCRIPT_VALUE_DICT || p->next >= p->count) {
        script_error(e, "T0262", p->span, "the text has more conversions than there are values");
        return false;
    }
    *v = p->values.as.list->items.items[p->next++];
    return true;
}

/* A width or precision: digits, or * for the next value. */
static bool read_amount(script_evaluator *e, percent *p, base_builder *spec) {
    script_value v;
    int64_t number;
    if (p->text < p->end && *p->text == '*') {
        p->text++;
        if (!take_value(e, p, &v) || !script_constant_int(e, v, &number, p->span, "a width"))
            return false;
        if (number < 0 || number > 4096) {
            script_error(e, "T0263", p->span, "a width of %lld", (long long)number);
            return false;
        }
        base_builder_format(spec, "%lld", (long long)number);
        return true;
    }
    while (p->text < p->end && *p->text >= '0' && *p->text <= '9')
        base_builder_char(spec, *p->text++);
    return true;
}

/* One conversion behind its %, as a specification of format(). */
static bool convert(script_evaluator *e, percent *p, base_builder *out) {
    bool left = false, plus = false, blank = false, alternate = false, zero = false;
    script_value v = script_none();
    bool named = p->text < p->end && *p->text == '(';
    if (named) {
        const char *close = memchr(p->text, ')', (size_t)(p->end - p->text));
        const script_value *found =
            close && p->values.kind == SCRIPT_VALUE_DICT
                ? script_dict_find(p->values,
                                   script_string(e->arena, p->text + 1, (size_t)(close - p->text) - 1))
                : NULL;
        if (!found) {
            script_error(e, "T0262", p->span, "no value for '%%%.*s'", (int)(close ? close - p->text + 1 : 1),
                         p->text);
            return false;
        }
        v = *found;
        p->text = close + 1;
    }
    for (; p->text < p->end && strchr("-+ #0", *p->text); p->text++) {
        left |= *p->text == '-';
        plus |= *p->text == '+';
        blank |= *p->text == ' ';
        alternate |= *p->text == '#';
        zero |= *p->text == '0';
    }
    base_builder width, spec;
    base_builder_start(&width, e->arena);
    base_builder_string(&width, "");
    if (!read_amount(e, p, &width))
        return false;
    if (p->text < p->end && *p->text == '.') {
        base_builder_char(&width, *p->text++);
        if (width.data[width.size - 1] == '.' && (p->text >= p->end || !strchr("*0123456789", *p->text)))
            base_builder_char(&width, '0');
        if (!read_amount(e, p, &width))
            return false;
    }
    char type = p->text < p->end ? *p->text++ : 0;
    if (!type || !strchr("diusrxXofFeEgGc", type)) {
        script_error(e, "T0262", p->span, "'%%%c' is no conversion", type ? type : ' ');
        return false;
    }
    if (!named && !take_value(e, p, &v))
        return false;
    base_builder_start(&spec, e->arena);
    base_builder_string(&spec, "");
    bool number = !strchr("src", type);
    if (number && v.kind == SCRIPT_VALUE_FLOAT && strchr("diu", type)) {
        if (!(v.as.real > -9.2e18 && v.as.real < 9.2e18)) {
            script_error(e, "T0260", p->span, "this float does not fit a 64-bit integer");
            return false;
        }
        v = script_int((int64_t)v.as.real);
    }
    if (strchr("sr", type)) {
        base_builder text;
        base_builder_start(&text, e->arena);
        base_builder_string(&text, "");
        if (!script_value_text(e, v, type == 'r', &text)) {
            script_error(e, "T0262", p->span, "%s has no text while compiling",
                         script_value_name(e->arena, v));
            return false;
        }
        v = script_string(e->arena, text.data, text.size);
    }
    const char *point = strchr(width.data, '.');
    bool integer = strchr("diuxXo", type) != NULL;
    if (integer && point) { /* so many digits at least, then so many characters */
        int64_t value = 0;
        bool has_sign = plus || blank || (script_value_integer(v, &value) && value < 0);
        base_builder digits;
        base_builder_start(&digits, e->arena);
        base_builder_string(&digits, "");
        base_builder_format(&spec, "%s%s0%lld%c",
                            plus    ? "+"
                            : blank ? " "
                                    : "",
                            alternate ? "#" : "",
                            atoll(point + 1) + has_sign + (alternate && strchr("xXo", type) ? 2 : 0),
                            strchr("iu", type) ? 'd' : type);
        if (!script_format_value(e, v, spec.data, p->span, &digits))
            return false;
        v = script_string(e->arena, digits.data, digits.size);
        const char *padded =
            base_arena_format(e->arena, "%s%.*s", left ? "<" : ">", (int)(point - width.data), width.data);
        return script_format_value(e, v, padded, p->span, out);
    }
    base_builder_string(&spec, left ? "<" : number && zero ? "" : ">");
    if (number)
        base_builder_string(&spec, plus ? "+" : blank ? " " : "");
    if (number && alternate)
        base_builder_char(&spec, '#');
    if (number && zero && !left)
        base_builder_char(&spec, '0');
    base_builder_string(&spec, width.data);
    if (number)
        base_builder_char(&spec, strchr("iu", type) ? 'd' : type);
    else if (type == 'c' && v.kind == SCRIPT_VALUE_INT)
        base_builder_char(&spec, 'c');
    return script_format_value(e, v, spec.data, p->span, out);
}

script_value script_text_percent(script_evaluator *e, script_value text, script_value values,
                                 base_span span) {
    percent p = {.text = text.as.string.text, .end = text.as.string.text + text.as.string.size, .span = span};
    base_builder out;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    values = script_as_tuple(e, values);
    p.values = values;
    if (values.kind != SCRIPT_VALUE_TUPLE && values.kind != SCRIPT_VALUE_DICT) {
        p.values = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        script_list_add(e->arena, p.values, values);
    }
    p.count = p.values.as.list->items.count;
    while (p.text < p.end) {
        if (*p.text != '%') {
            base_builder_char(&out, *p.text++);
        } else if (p.text + 1 < p.end && p.text[1] == '%') {
            base_builder_char(&out, '%');
            p.text += 2;
        } else {
            p.text++;
            if (!convert(e, &p, &out))
                return script_poison();
        }
    }
    if (p.values.kind == SCRIPT_VALUE_TUPLE && p.next < p.count) {
        script_error(e, "T0262", span, "%zu of %zu values have no conversion in the text", p.count - p.next,
                     p.count);
        return script_poison();
    }
    return script_string(e->arena, out.data, out.size);
}
