/* SPDX-License-Identifier: Apache-2.0
 * Text while compiling: Python's format specifications, for f-strings and format, and the methods of strings.
 * Widths are counted in characters. */
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
    size_t length = script_text_length(text, size);
    size_t missing = (size_t)spec->width > length ? (size_t)spec->width - length : 0;
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
        script_value_text(NULL, script_float(magnitude), false, &plain);
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
        !script_value_text(e, v, false, &plain)) {
        script_error(e, "T0262", span, "the format '%.40s' does not go with %s", text,
                     script_value_name(e->arena, v));
        return false;
    }
    size_t size =
        spec.precision >= 0 ? script_text_offset(plain.data, plain.size, (size_t)spec.precision) : plain.size;
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
    int64_t most = -1;
    if (!script_argument_int(e, call, "count", -1, &most))
        return script_poison();
    script_charge(e, call->receiver.as.string.size);
    size_t size = call->value[0].as.string.size;
    for (; most != 0; most--) {
        const char *at = size > 0 ? find_text(text, (size_t)(end - text), from, size) : text;
        if (!at)
            break;
        if (size == 0) { /* between all characters, and at both ends */
            base_builder_add(&out, to, call->value[1].as.string.size);
            script_charge(e, call->value[1].as.string.size + 1);
            if (at >= end || out.size > SCRIPT_MAX_TEXT)
                break;
            size_t next = script_text_offset(text, (size_t)(end - text), 1);
            base_builder_add(&out, text, next);
            text += next;
            continue;
        }
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
    size_t length = script_text_length(text, call->receiver.as.string.size);
    size_t missing = (size_t)spec.width > length ? (size_t)spec.width - length : 0;
    if (spec.align == '^' && missing % 2 == 1 && spec.width % 2 == 1) { /* center leans to the right here */
        base_builder_char(&out, spec.fill);
        spec.width--;
    }
    add_padded(text, call->receiver.as.string.size, head, &spec, '<', &out);
    return script_string(e->arena, out.data, out.size);
}

static void add_character(base_builder *out, uint32_t c) {
    if (c < 0x80) {
        base_builder_char(out, (char)c);
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    base_builder_char(out, (char)(first[more] | (c >> (6 * more))));
    while (more-- > 0)
        base_builder_char(out, (char)(0x80 | ((c >> (6 * more)) & 0x3f)));
}

static int64_t character_number(const char *text) {
    unsigned char c = (unsigned char)*text;
    int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    int64_t number = more == 0 ? c : c & (0x3f >> more);
    for (int i = 1; i <= more; i++)
        number = number << 6 | ((unsigned char)text[i] & 0x3f);
    return number;
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
        if (!script_value_text(e, call->value[0], true, &out))
            base_builder_format(&out, "<%s>", script_value_name(e->arena, call->value[0]));
        break;
    case 4:
        if (!script_constant_int(e, call->value[0], &i, call->span, "a character"))
            return script_poison();
        if (i < 1 || i > 0x10ffff || (i >= 0xd800 && i < 0xe000)) {
            script_error(e, "T0262", call->span, "chr of %lld: characters 1 to 1114111 are known",
                         (long long)i);
            return script_poison();
        }
        add_character(&out, (uint32_t)i);
        break;
    case 5:
        if (call->value[0].kind == SCRIPT_VALUE_STRING &&
            script_text_length(call->value[0].as.string.text, call->value[0].as.string.size) == 1)
            return script_int(character_number(call->value[0].as.string.text));
        script_error(e, "T0262", call->span, "ord takes a string of one character");
        return script_poison();
    default:
        if (!script_constant_int(e, call->value[0], &i, call->span, "the number") ||
            !script_format_value(e, script_int(i), specs[call->word->data], call->span, &out))
            return script_poison();
    }
    return script_string(e->arena, out.data, out.size);
}
