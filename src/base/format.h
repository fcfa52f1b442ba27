/* SPDX-License-Identifier: Apache-2.0
 * Formatting. Knows no memory but what it is given. */
#ifndef TIRC_BASE_FORMAT_H
#define TIRC_BASE_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

/* vsnprintf; the directives that printers are full of (%s %.*s %c %d %u %ld %lu %lld %llu %zu %%) without its
 * costs. */
int base_format_list(char *to, size_t room, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
#endif
