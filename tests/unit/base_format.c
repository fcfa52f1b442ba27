/* SPDX-License-Identifier: Apache-2.0
 * Formatting: every directive gives what the C library gives, at every size of the room. */
#include "base/format.h"
#include "unit/unit_memory.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 1, 2))) static void same(const char *format, ...) {
    char expected[400], found[400];
    for (size_t room = 0; room < sizeof found; room++) {
        va_list list, again;
        va_start(list, format);
        va_copy(again, list);
        memset(expected, '#', sizeof expected);
        memset(found, '#', sizeof found);
        int size = vsnprintf(expected, room, format, list);
        assert_int_equal(base_format_list(found, room, format, again), size);
        assert_memory_equal(found, expected, sizeof found);
        va_end(list);
        va_end(again);
    }
}

static void directives(void **state) {
    (void)state;
    same("plain");
    same("%s", "");
    same("<%s|%s>", "left", "right");
    same("%.*s.%.*s", 3, "abcdef", 9, "xyz");
    same("%.*s", -1, "negative precision");
    same("%c%c%%%c", 'a', 0x7f, 'z');
    same("%d %d %d %d", 0, -7, INT_MAX, INT_MIN);
    same("%u %u", 0u, UINT_MAX);
    same("%ld %ld %lu", LONG_MIN, LONG_MAX, ULONG_MAX);
    same("%lld %lld %llu", LLONG_MIN, LLONG_MAX, ULLONG_MAX);
    same("%zu %zu", (size_t)0, SIZE_MAX);
}

/* Mixed with what only the library knows. */
static void others(void **state) {
    (void)state;
    same("%s %5d|%-5d|%05d %s", "before", 1, 2, 3, "after");
    same("%d %x %08X %#llx %g %.17g %e", 1, 255u, 0xabcu, 0xffull, 0.1, 0.1, 1e100);
    same("%.3s %10s %p", "abcdef", "abc", (void *)0);
    same("%zd %hhu %lx", (size_t)3, 300u & 255u, 5ul);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(directives), cmocka_unit_test(others)};
    return cmocka_run_group_tests_name("base_format", tests, NULL, NULL);
}
