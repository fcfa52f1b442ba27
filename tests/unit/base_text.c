/* SPDX-License-Identifier: Apache-2.0
 * Text slices, builder, JSON escapes, names, map. */
#include "unit/unit.h"
#include "base/text.h"
#include <string.h>

static void builder_grows(void **state) {
    base_arena *arena = *state;
    base_builder b;
    base_builder_start(&b, arena);
    assert_string_equal(b.data, "");
    for (int i = 0; i < 1000; i++)
        base_builder_format(&b, "%d,", i);
    base_builder_repeat(&b, 'x', 3000);
    base_builder_char(&b, 0);
    base_builder_string(&b, "end");
    assert_int_equal(b.size, 10 * 2 + 90 * 3 + 900 * 4 + 3000 + 4);
    assert_memory_equal(b.data, "0,1,2,3,", 8);
    assert_string_equal(b.data + b.size - 3, "end");
    /* The closing zero is within the builder's memory, whatever the size: a neighbour does not overwrite it.
     */
    for (size_t size = 0; size < 300; size++) {
        char text[300];
        memset(text, 'a', sizeof text);
        for (int way = 0; way < 3; way++) {
            base_builder_start(&b, arena);
            if (way == 0)
                base_builder_add(&b, text, size);
            else if (way == 1)
                base_builder_repeat(&b, 'a', size);
            else
                base_builder_format(&b, "%.*s", (int)size, text);
            memset(base_arena_allocate(arena, 64), 0xff, 64);
            assert_int_equal(strlen(b.data), size);
            assert_int_equal(b.size, size);
        }
    }
    base_builder_start(&b, arena);
    base_builder_format(&b, "%0200d", 7); /* longer than the room at the start */
    assert_int_equal(b.size, 200);
    assert_string_equal(b.data + 198, "07");
}

static void json_escapes(void **state) {
    base_builder b;
    base_builder_start(&b, *state);
    static const char text[] = "a\"b\\c\n\t\r\x01\x7f\xff\xc3\xa9\xed\xa0\x80\0z";
    base_builder_json(&b, text, sizeof text - 1);
    assert_string_equal(b.data,
                        "a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\\u0000z");
}

static void utf8_by_definition(void **state) {
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char bytes[4];
        size_t size = 0;
        if (c < 0x80) {
            bytes[size++] = (char)c;
        } else {
            unsigned tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
            bytes[size++] = (char)((0xff00u >> (tail + 1) & 0xffu) | c >> (6 * tail));
            while (tail-- > 0)
                bytes[size++] = (char)(0x80u | (c >> (6 * tail) & 0x3fu));
        }
        uint32_t back = 0;
        size_t length = base_utf8_decode(bytes, size, &back);
        if (c >= 0xd800 && c <= 0xdfff) {
            assert_int_equal(length, 0);
        } else {
            assert_int_equal(length, size);
            assert_int_equal(back, c);
            if (size > 1)
                assert_int_equal(base_utf8_decode(bytes, size - 1, &back), 0);
        }
    }
    uint32_t c = 0;
    assert_int_equal(base_utf8_decode("\xc0\x80", 2, &c), 0);         /* too long a form of U+0000 */
    assert_int_equal(base_utf8_decode("\xe0\x80\xaf", 3, &c), 0);     /* and of '/' */
    assert_int_equal(base_utf8_decode("\xf4\x90\x80\x80", 4, &c), 0); /* over U+10FFFF */
    assert_int_equal(base_utf8_decode("\x80", 1, &c), 0);
}

static void text_compare(void **state) {
    (void)state;
    assert_true(base_text_is((base_text){"abcd", 3}, "abc"));
    assert_false(base_text_is((base_text){"abcd", 4}, "abc"));
    assert_true(base_text_equal((base_text){NULL, 0}, base_text_of("")));
    assert_true(base_hash("abc", 3, 0) != base_hash("abd", 3, 0));
    assert_true(base_hash("abc", 3, 0) != base_hash("abc\0", 4, 0));
    assert_true(base_hash("12345678", 8, 0) == base_hash("12345678", 8, 0));
}

static void names_intern(void **state) {
    base_names *names = base_names_create(*state);
    const char *kept[3000];
    for (int i = 0; i < 3000; i++) {
        char text[16];
        snprintf(text, sizeof text, "name%d", i);
        kept[i] = base_name_of(names, text);
        assert_string_equal(kept[i], text);
    }
    for (int i = 0; i < 3000; i++) {
        char text[16];
        int size = snprintf(text, sizeof text, "name%d", i);
        assert_ptr_equal(base_name(names, text, (size_t)size), kept[i]);
    }
    assert_ptr_not_equal(base_name(names, "a\0b", 3), base_name(names, "a\0c", 3));
    assert_ptr_equal(base_name(names, "", 0), base_name_of(names, ""));
}

static void map_keeps(void **state) {
    base_map *map = base_map_create(*state);
    assert_null(base_map_get(map, 0));
    int value[2];
    for (uint64_t i = 0; i < 5000; i++)
        base_map_set(map, i << 32, &value[i % 2]);
    base_map_set(map, 7, &value[0]);
    base_map_set(map, 7, &value[1]);
    assert_int_equal(base_map_count(map), 5001);
    for (uint64_t i = 0; i < 5000; i++)
        assert_ptr_equal(base_map_get(map, i << 32), &value[i % 2]);
    assert_ptr_equal(base_map_get(map, 7), &value[1]);
    assert_null(base_map_get(map, 8));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(builder_grows), UNIT_WITH_ARENA(json_escapes),  UNIT_WITH_ARENA(names_intern),
        UNIT_WITH_ARENA(map_keeps),     cmocka_unit_test(text_compare), cmocka_unit_test(utf8_by_definition),
    };
    return cmocka_run_group_tests_name("base_text", tests, NULL, NULL);
}
