/* SPDX-License-Identifier: Apache-2.0
 * The plain directives of printf; a format with any other goes to vsnprintf whole. */
#include "base/format.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct output {
    char *to;
    size_t room, size; /* size: of the whole text, of which room - 1 bytes and a zero are kept */
} output;

static inline void put(output *out, const char *text, size_t size) {
    if (out->size < out->room) {
        size_t left = out->room - out->size;
        memcpy(out->to + out->size, text, size < left ? size : left);
    }
    out->size += size;
}

static void put_unsigned(output *out, uint64_t value, bool minus) {
    char digits[24], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    if (minus)
        *--first = '-';
    put(out, first, (size_t)(digits + sizeof digits - first));
}

static void put_signed(output *out, int64_t value) {
    put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

/* Of a directive behind its '%': the arguments are taken from the list. NULL: it is not one of the plain
 * ones. */
static const char *directive(output *out, const char *p, va_list *arguments) {
    const char *text;
    int precision;
    char c;
    switch (*p++) {
    case '%':
        put(out, "%", 1);
        return p;
    case 'c':
        c = (char)va_arg(*arguments, int);
        put(out, &c, 1);
        return p;
    case 'd':
        put_signed(out, va_arg(*arguments, int));
        return p;
    case 'u':
        put_unsigned(out, va_arg(*arguments, unsigned), false);
        return p;
    case 's':
        text = va_arg(*arguments, const char *);
        if (text == NULL)
            return NULL;
        put(out, text, strlen(text));
        return p;
    case '.':
        if (p[0] != '*' || p[1] != 's' || (precision = va_arg(*arguments, int)) < 0)
            return NULL;
        text = va_arg(*arguments, const char *);
        if (text == NULL)
            return NULL;
        put(out, text, strnlen(text, (size_t)precision));
        return p + 2;
    case 'z':
        if (*p != 'u')
            return NULL;
        put_unsigned(out, va_arg(*arguments, size_t), false);
        return p + 1;
    case 'l': {
        bool twice = *p == 'l';
        p += twice;
        if (*p == 'd')
            put_signed(out, twice ? va_arg(*arguments, long long) : va_arg(*arguments, long));
        else if (*p == 'u')
            put_unsigned(out,
                         twice ? va_arg(*arguments, unsigned long long) : va_arg(*arguments, unsigned long),
                         false);
        else
            return NULL;
        return p + 1;
    }
    default:
        return NULL;
    }
}

int base_format_list(char *to, size_t room, const char *format, va_list arguments) {
    output out = {to, room, 0};
    va_list list;
    va_copy(list, arguments);
    for (const char *p = format; *p != 0;) {
        const char *percent = strchrnul(p, '%');
        put(&out, p, (size_t)(percent - p));
        if (*percent == 0)
            break;
        p = directive(&out, percent + 1, &list);
        if (p == NULL) {
            va_end(list);
            return vsnprintf(to, room, format, arguments);
        }
    }
    va_end(list);
    if (room != 0)
        to[out.size < room ? out.size : room - 1] = 0;
    return out.size > INT_MAX ? -1 : (int)out.size;
}
