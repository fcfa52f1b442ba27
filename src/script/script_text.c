/* SPDX-License-Identifier: Apache-2.0
 * Text while compiling: Python's format specifications, for f-strings and format, and the methods of strings.
 * Works on bytes; upper and lower know ASCII. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- format specifications: [[fill]align][sign][#][0][width][,][.precision][type] ---- */

typedef struct format_spec {
    char fill, align, sign, type, separator;
    bool alternate;
    int width, precision; /* -1: none */
} format_spec;

enum { MAX_WIDTH = 4096 };

static bool read_number(const char **text, int *value) {
    if (**text < '0' || **text > '9')
        return false;
    for (*value = 0; **text >= '0' && **text <= '9'; ++*text)
        if (*value <= MAX_WIDTH)
            *value = *value * 10 + (**text - '0');
    return true;
}

static bool read_spec(const char *text, format_spec *spec) {
    *spec = (format_spec){.fill = ' ', .precision = -1};
    if (text[0] && text[1] && strchr("<>^=", text[1])) {
        spec->fill = text[0];
        spec->align = text[1];
        text += 2;
    } else if (text[0] && strchr("<>^=", text[0]))
        spec->align = *text++;
    if (*text && strchr("+- ", *text))
        spec->sign = *text++;
    if (*text == '#') {
        spec->alternate = true;
        text++;
    }
    if (*text == '0' && !spec->align) {
        spec->fill = '0';
        spec->align = '=';
        text++;
    }
    read_number(&text, &spec->width);
    if (*text == ',' || *text == '_')
        spec->separator = *text++;
    if (*text == '.') {
        text++;
        if (!read_number(&text, &spec->precision))
            return false;
    }
    if (*text && strchr("bcdeEfFgGnosxX%", *text))
        spec->type = *text++;
    return *text == 0 && spec->width <= MAX_WIDTH && spec->precision <= 1000;
}

/* Padding around a sign or prefix of head bytes and the rest. */
static void add_padded(const char *text, size_t size, size_t head, const format_spec *spec, char natural,
                       base_builder *out) {
    char align = spec->align ? spec->align : natural;
    size_t missing = (size_t)spec->width > size ? (size_t)spec->width - size : 0;
    size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    for (size_t i = 0; i < before; i++)
        base_builder_char(out, spec->fill);
    base_builder_add(out, text, head);
    for (size_t i = 0; align == '=' && i < missing; i++)
        base_builder_char(out, spec->fill);
    base_builder_add(out, text + head, size - head);
    for (size_t i = before; align != '=' && i < missing; i++)
        base_builder_char(out, spec->fill);
}

/* Separators between groups of digits, from the point or the end backwards. */
static void group_digits(base_builder *out, const char *text, char separator, int group) {
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    if (strpbrk(text, ".e"))
        digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits; i++) {
        if (i > 0 && (digits - i) % (size_t)group == 0)
            base_builder_char(out, separator);
        base_builder_char(out, text[i]);
    }
    base_builder_string(out, text + digits);
}

static void format_integer(base_arena *arena, int64_t value, bool is_wide, const format_spec *spec,
                           base_builder *out) {
    uint64_t magnitude = value < 0 && !is_wide ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned base = spec->type == 'b'                        ? 2
                    : spec->type == 'o'                      ? 8
                    : spec->type == 'x' || spec->type == 'X' ? 16
                                                             : 10;
    const char *letters = spec->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char digits[80];
    size_t at = sizeof(digits) - 1;
    digits[at] = 0;
    do {
        digits[--at] = letters[magnitude % base];
        magnitude /= base;
    } while (magnitude);
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, "");
    if (value < 0 && !is_wide)
        base_builder_char(&text, '-');
    else if (spec->sign == '+' || spec->sign == ' ')
        base_builder_char(&text, spec->sign);
    if (spec->alternate && base != 10)
        base_builder_format(&text, "0%c", spec->type);
    size_t head = text.size;
    if (spec->separator)
        group_digits(&text, digits + at, spec->separator, base == 10 ? 3 : 4);
    else
        base_builder_string(&text, digits + at);
    add_padded(text.data, text.size, head, spec, '>', out);
}

static void format_real(base_arena *arena, double value, const format_spec *spec, base_builder *out) {
    char number[2100], pattern[16];
    char type = spec->type == '%' || spec->type == 'F' ? 'f' : spec->type ? spec->type : 'g';
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, "");
    bool negative = value < 0 || (value == 0 && 1 / value < 0);
    double magnitude = negative ? -value : value;
    if (negative)
        base_builder_char(&text, '-');
    else if (spec->sign == '+' || spec->sign == ' ')
        base_builder_char(&text, spec->sign);
    size_t head = text.size;
    if (spec->type == '%')
        magnitude *= 100;
    if (!spec->type && spec->precision < 0) { /* as str() */
        base_builder plain;
        base_builder_start(&plain, arena);
        script_value_text(script_float(magnitude), false, &plain);
        snprintf(number, sizeof(number), "%s", plain.data);
    } else {
        snprintf(pattern, sizeof(pattern), "%%%s.*%c", spec->alternate ? "#" : "", type == 'n' ? 'g' : type);
        snprintf(number, sizeof(number), pattern, spec->precision < 0 ? 6 : spec->precision, magnitude);
    }
    if (spec->separator)
        group_digits(&text, number, spec->separator, 3);
    else
        base_builder_string(&text, number);
    if (spec->type == '%')
        base_builder_char(&text, '%');
    add_padded(text.data, text.size, head, spec, '>', out);
}

/* The value under a specification without its colon; false: reported. */
bool script_format_value(script_evaluator *e, script_value v, const char *text, base_span span,
                         base_builder *out) {
    format_spec spec;
    int64_t i;
    bool is_integer = v.kind == SCRIPT_VALUE_INT || script_value_integer(v, &i);
    if (v.kind == SCRIPT_VALUE_INT)
        i = v.as.integer;
    if (v.kind == SCRIPT_VALUE_EXPR && ir_is_int(v.as.expr, &i))
        is_integer = true;
    if (!read_spec(text, &spec)) {
        script_error(e, "T0262", span, "'%.40s' is no format of a value", text);
        return false;
    }
    bool of_real = spec.type && strchr("eEfFgGn%", spec.type) != NULL;
    if (is_integer && spec.type == 'c' && i > 0 && i < 127) {
        char letter = (char)i;
        add_padded(&letter, 1, 0, &spec, '<', out);
        return true;
    }
    if (is_integer && !of_real && spec.type != 's' && spec.type != 'c' && spec.precision < 0) {
        format_integer(e->arena, i, v.flag && v.kind == SCRIPT_VALUE_INT, &spec, out);
        return true;
    }
    if ((is_integer && of_real) || (v.kind == SCRIPT_VALUE_FLOAT && (of_real || !spec.type))) {
        format_real(e->arena, v.kind == SCRIPT_VALUE_FLOAT ? v.as.real : (double)i, &spec, out);
        return true;
    }
    base_builder plain;
    base_builder_start(&plain, e->arena);
    base_builder_string(&plain, "");
    bool is_text = !spec.type || spec.type == 's';
    if (!is_text || is_integer || v.kind == SCRIPT_VALUE_FLOAT || spec.align == '=' ||
        !script_value_text(v, false, &plain)) {
        script_error(e, "T0262", span, "the format '%.40s' does not go with %s", text,
                     script_value_name(e->arena, v));
        return false;
    }
    size_t size =
        spec.precision >= 0 && (size_t)spec.precision < plain.size ? (size_t)spec.precision : plain.size;
    add_padded(plain.data, size, 0, &spec, '<', out);
    return true;
}

/* ---- "{} {name:>8}".format(...) ---- */

static const script_value *format_argument(const script_call *call, const char *name, size_t size,
                                           size_t *next) {
    if (size == 0)
        return *next < call->rest.items.count ? &call->rest.items.items[(*next)++].value : NULL;
    if (strspn(name, "0123456789") >= size) {
        size_t i = strtoul(name, NULL, 10);
        return i < call->rest.items.count ? &call->rest.items.items[i].value : NULL;
    }
    for (size_t i = 0; i < call->keywords.items.count; i++)
        if (strlen(call->keywords.items.items[i].name) == size &&
            memcmp(call->keywords.items.items[i].name, name, size) == 0)
            return &call->keywords.items.items[i].value;
    return NULL;
}

script_value script_word_str_format(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text;
    base_builder out;
    size_t next = 0;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    while (*text) {
        if ((text[0] == '{' || text[0] == '}') && text[1] == text[0]) {
            base_builder_char(&out, *text);
            text += 2;
            continue;
        }
        if (*text != '{') {
            base_builder_char(&out, *text++);
            continue;
        }
        size_t size = strcspn(++text, "}"), name = strcspn(text, ":}");
        const script_value *v = text[size] == '}' ? format_argument(call, text, name, &next) : NULL;
        if (!v) {
            script_error(e, "T0262", call->span, "format has no value for '{%.*s}'",
                         (int)(size < 40 ? size : 40), text);
            return script_poison();
        }
        const char *spec = name < size ? base_arena_string(e->arena, text + name + 1, size - name - 1) : "";
        if (!script_format_value(e, *v, spec, call->span, &out))
            return script_poison();
        text += size + 1;
    }
    return script_string(e->arena, out.data, out.size);
}

/* ---- methods of strings ---- */

static const char *find_text(const char *text, size_t size, const char *part, size_t part_size) {
    for (size_t i = 0; i + part_size <= size; i++)
        if (memcmp(text + i, part, part_size) == 0)
            return text + i;
    return NULL;
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

script_value script_word_str_split(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size, *by = NULL;
    script_value list = script_list_make(e->arena, SCRIPT_VALUE_LIST);
    const script_value *separator = script_argument_of(call, "sep");
    if (separator && !script_constant_string(e, *separator, &by, call->span, "a separator"))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    if (by && !*by) {
        script_error(e, "T0262", call->span, "an empty separator");
        return script_poison();
    }
    while (by) {
        const char *at = find_text(text, (size_t)(end - text), by, separator->as.string.size);
        script_list_add(e->arena, list, script_string(e->arena, text, (size_t)((at ? at : end) - text)));
        if (!at)
            return list;
        text = at + separator->as.string.size;
    }
    while (text < end) {
        while (text < end && is_blank(*text))
            text++;
        const char *start = text;
        while (text < end && !is_blank(*text))
            text++;
        if (text > start)
            script_list_add(e->arena, list, script_string(e->arena, start, (size_t)(text - start)));
    }
    return list;
}

/* strip, lstrip, rstrip: data has 1 for the left end, 2 for the right. */
script_value script_word_str_strip(script_evaluator *e, const script_call *call) {
    const char *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    const char *set = " \t\n\r\v\f";
    const script_value *characters = script_argument_of(call, "chars");
    if (characters && !script_constant_string(e, *characters, &set, call->span, "the characters"))
        return script_poison();
    while ((call->word->data & 1) && text < end && *text && strchr(set, *text))
        text++;
    while ((call->word->data & 2) && text < end && end[-1] && strchr(set, end[-1]))
        end--;
    return script_string(e->arena, text, (size_t)(end - text));
}

script_value script_word_str_replace(script_evaluator *e, const script_call *call) {
    const char *from, *to, *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    base_builder out;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    if (!script_constant_string(e, call->value[0], &from, call->span, "the text to replace") ||
        !script_constant_string(e, call->value[1], &to, call->span, "the new text"))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    for (size_t size = call->value[0].as.string.size; size > 0;) {
        const char *at = find_text(text, (size_t)(end - text), from, size);
        if (!at)
            break;
        base_builder_add(&out, text, (size_t)(at - text));
        base_builder_add(&out, to, call->value[1].as.string.size);
        script_charge(e, call->value[1].as.string.size);
        if (out.size > SCRIPT_MAX_TEXT) {
            script_error(e, "T0263", call->span, "a text of over %d bytes", SCRIPT_MAX_TEXT);
            return script_poison();
        }
        text = at + size;
    }
    base_builder_add(&out, text, (size_t)(end - text));
    return script_string(e->arena, out.data, out.size);
}

script_value script_word_str_case(script_evaluator *e, const script_call *call) {
    script_value v = script_string(e->arena, call->receiver.as.string.text, call->receiver.as.string.size);
    char *text = (char *)(uintptr_t)v.as.string.text;
    bool inside = false;
    for (size_t i = 0; i < v.as.string.size; i++) {
        bool lower = text[i] >= 'a' && text[i] <= 'z', upper = text[i] >= 'A' && text[i] <= 'Z';
        bool up = call->word->data == 1 || (call->word->data >= 2 && !inside);
        if (lower && up)
            text[i] = (char)(text[i] - 'a' + 'A');
        else if (upper && !up)
            text[i] = (char)(text[i] - 'A' + 'a');
        inside = call->word->data == 2 ? true : lower || upper;
    }
    return v;
}

/* find, count, index */
script_value script_word_str_find(script_evaluator *e, const script_call *call) {
    const char *part, *text = call->receiver.as.string.text, *end = text + call->receiver.as.string.size;
    if (!script_constant_string(e, call->value[0], &part, call->span, "the text to find"))
        return script_poison();
    size_t size = call->value[0].as.string.size;
    script_charge(e, call->receiver.as.string.size);
    if (call->word->data != 1) {
        const char *at = find_text(text, (size_t)(end - text), part, size);
        if (!at && call->word->data == 2) {
            script_error(e, "T0263", call->span, "the text does not contain '%.40s'", part);
            return script_poison();
        }
        return script_int(at ? at - text : -1);
    }
    int64_t count = 0;
    for (const char *at; size > 0 && (at = find_text(text, (size_t)(end - text), part, size)); count++)
        text = at + size;
    return script_int(count);
}

/* isdigit, isalpha, isupper ... of every character, and not empty */
script_value script_word_str_is(script_evaluator *e, const script_call *call) {
    (void)e;
    const char *text = call->receiver.as.string.text;
    size_t size = call->receiver.as.string.size;
    for (size_t i = 0; i < size; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        bool letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
        if (!(call->word->data == 0 ? digit : call->word->data == 1 ? letter : digit || letter))
            return script_bool(false);
    }
    return script_bool(size > 0);
}

/* ljust, rjust, center, zfill */
script_value script_word_str_just(script_evaluator *e, const script_call *call) {
    int64_t width;
    const char *fill = " ", *text = call->receiver.as.string.text;
    const script_value *given = script_argument_of(call, "fill");
    if (!script_constant_int(e, call->value[0], &width, call->span, "the width") ||
        (given && !script_constant_string(e, *given, &fill, call->span, "the fill")))
        return script_poison();
    if (width > MAX_WIDTH) {
        script_error(e, "T0263", call->span, "a width of over %d", MAX_WIDTH);
        return script_poison();
    }
    format_spec spec = {.fill = *fill ? *fill : ' ', .width = width < 0 ? 0 : (int)width};
    static const char aligns[] = {'<', '>', '^', '='};
    spec.align = aligns[call->word->data];
    if (spec.align == '=')
        spec.fill = '0';
    base_builder out;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    size_t head = spec.align == '=' && (text[0] == '-' || text[0] == '+');
    size_t missing = (size_t)spec.width > call->receiver.as.string.size
                         ? (size_t)spec.width - call->receiver.as.string.size
                         : 0;
    if (spec.align == '^' && missing % 2 == 1 && spec.width % 2 == 1) { /* center leans to the right here */
        base_builder_char(&out, spec.fill);
        spec.width--;
    }
    add_padded(text, call->receiver.as.string.size, head, &spec, '<', &out);
    return script_string(e->arena, out.data, out.size);
}

/* hex, bin, oct, repr, chr, ord */
script_value script_word_number_text(script_evaluator *e, const script_call *call) {
    static const char *const specs[] = {"#x", "#b", "#o"};
    base_builder out;
    int64_t i;
    base_builder_start(&out, e->arena);
    base_builder_string(&out, "");
    switch (call->word->data) {
    case 3:
        if (!script_value_text(call->value[0], true, &out))
            base_builder_format(&out, "<%s>", script_value_name(e->arena, call->value[0]));
        break;
    case 4:
        if (!script_constant_int(e, call->value[0], &i, call->span, "a character"))
            return script_poison();
        if (i < 1 || i > 126) {
            script_error(e, "T0262", call->span, "chr of %lld: ASCII characters 1 to 126 are known",
                         (long long)i);
            return script_poison();
        }
        base_builder_char(&out, (char)i);
        break;
    case 5:
        if (call->value[0].kind == SCRIPT_VALUE_STRING && call->value[0].as.string.size == 1)
            return script_int((unsigned char)call->value[0].as.string.text[0]);
        script_error(e, "T0262", call->span, "ord takes a string of one ASCII character");
        return script_poison();
    default:
        if (!script_constant_int(e, call->value[0], &i, call->span, "the number") ||
            !script_format_value(e, script_int(i), specs[call->word->data], call->span, &out))
            return script_poison();
    }
    return script_string(e->arena, out.data, out.size);
}
