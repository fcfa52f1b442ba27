/* SPDX-License-Identifier: Apache-2.0
 * Sources, places, and the four forms of diagnostics. */
#include "unit/unit.h"
#include "base/diagnostic.h"
#include <string.h>

static base_span span_of(base_sources *sources, uint32_t file, const char *needle) {
    base_text text = base_source_text(sources, file);
    const char *found = memmem(text.data, text.size, needle, strlen(needle));
    assert_non_null(found);
    uint32_t begin = (uint32_t)(found - text.data);
    return (base_span){file, begin, begin + (uint32_t)strlen(needle)};
}

static const char *rendered(const base_diagnostics *list, base_format format, base_arena *arena) {
    base_builder out;
    base_builder_start(&out, arena);
    base_diagnostics_render(list, format, false, &out);
    assert_int_equal(strlen(out.data), out.size);
    return out.data;
}

static void places(void **state) {
    base_sources *sources = base_sources_create(*state);
    uint32_t a = base_sources_add(sources, "a.py", "one\ntwo\r\n\nlast", 14);
    uint32_t b = base_sources_add(sources, "b.py", "", 0);
    assert_int_equal(base_sources_count(sources), 2);
    static const struct {
        uint32_t at, line, column;
    } rows[] = {{0, 1, 1}, {3, 1, 4}, {4, 2, 1}, {8, 2, 5}, {9, 3, 1}, {10, 4, 1}, {14, 4, 5}, {99, 4, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        base_place place = base_span_place(sources, (base_span){a, rows[i].at, rows[i].at});
        assert_string_equal(place.name, "a.py");
        assert_int_equal(place.line, rows[i].line);
        assert_int_equal(place.column, rows[i].column);
    }
    assert_true(base_text_is(base_source_line(sources, a, 1), "one"));
    assert_true(base_text_is(base_source_line(sources, a, 2), "two"));
    assert_true(base_text_is(base_source_line(sources, a, 3), ""));
    assert_true(base_text_is(base_source_line(sources, a, 4), "last"));
    assert_true(base_text_is(base_source_line(sources, a, 5), ""));
    assert_int_equal(base_span_place(sources, (base_span){b, 0, 0}).line, 1);
    assert_int_equal(base_span_place(sources, BASE_NO_SPAN).line, 0);
    assert_int_equal(base_span_place(sources, (base_span){77, 0, 0}).line, 0);
    base_span joined = base_span_join((base_span){a, 3, 5}, (base_span){a, 1, 4});
    assert_int_equal(joined.begin, 1);
    assert_int_equal(joined.end, 5);
    assert_int_equal(base_span_join((base_span){a, 3, 5}, (base_span){b, 0, 9}).end, 5);
    assert_int_equal(base_span_join(BASE_NO_SPAN, (base_span){b, 0, 9}).end, 9);
}

static void caret_text(void **state) {
    base_sources *sources = base_sources_create(*state);
    static const char text[] = "x = 1\n\tfoo(\xe4\xbd\xa0\xe5\xa5\xbd, bar)\nbad \xff\x01 end\n";
    uint32_t file = base_sources_add(sources, "k.py", text, sizeof text - 1);
    base_diagnostics *list = base_diagnostics_create(*state, sources);
    base_diagnostic *d =
        base_report(list, BASE_ERROR, "T0101", span_of(sources, file, "bar"), "unknown name '%s'", "bar");
    base_help(list, d, "define it\nor import it");
    base_note(list, d, span_of(sources, file, "x"), "a name like it");
    base_note(list, d, BASE_NO_SPAN, "no place");
    base_report(list, BASE_WARNING, "T0102", span_of(sources, file, "end"), "stray");
    base_report(list, BASE_ERROR, "T0901", BASE_NO_SPAN, "two\nlines");
    base_report(list, BASE_NOTE, "T0103", (base_span){file, sizeof text - 1, sizeof text - 1}, "ends here");
    assert_string_equal(rendered(list, BASE_TEXT, *state), "k.py:2:14: error: unknown name 'bar' [T0101]\n"
                                                           "     2 |     foo(\xe4\xbd\xa0\xe5\xa5\xbd, bar)\n"
                                                           "       |               ^~~\n"
                                                           "  help: define it\n"
                                                           "        or import it\n"
                                                           "  k.py:1:1: note: a name like it\n"
                                                           "     1 | x = 1\n"
                                                           "       | ^\n"
                                                           "  note: no place\n"
                                                           "k.py:3:8: warning: stray [T0102]\n"
                                                           "     3 | bad \\xff\\x01 end\n"
                                                           "       |              ^~~\n"
                                                           "k.py:4:1: note: ends here [T0103]\n"
                                                           "     4 | \n"
                                                           "       | ^\n"
                                                           "error: two\n"
                                                           "    lines [T0901]\n");
    assert_string_equal(rendered(list, BASE_LINE, *state), "k.py:2:14: error: unknown name 'bar' [T0101]\n"
                                                           "k.py:3:8: warning: stray [T0102]\n"
                                                           "k.py:4:1: note: ends here [T0103]\n"
                                                           "error: two lines [T0901]\n");
    base_builder colour;
    base_builder_start(&colour, *state);
    base_diagnostics_render(list, BASE_TEXT, true, &colour);
    assert_non_null(strstr(colour.data, "\033[1;31merror\033[0m"));
    assert_null(strstr(rendered(list, BASE_TEXT, *state), "\033"));
}

/* The window: a 10 MB line, from its start, middle and end, and one made of zero-width characters. */
static void long_lines(void **state) {
    enum { SIZE = 10 << 20 };
    char *text = base_arena_allocate(*state, SIZE);
    base_sources *sources = base_sources_create(*state);
    memset(text, 'a', SIZE);
    memcpy(text + SIZE / 2, "needle", 6);
    uint32_t plain = base_sources_add(sources, "long", text, SIZE);
    for (size_t i = 0; i + 1 < SIZE; i += 2)
        memcpy(text + i, "\xcc\x81", 2);
    uint32_t marks = base_sources_add(sources, "marks", text, SIZE);
    base_diagnostics *list = base_diagnostics_create(*state, sources);
    base_report(list, BASE_ERROR, "T0001", (base_span){plain, 0, SIZE}, "all of it");
    base_report(list, BASE_ERROR, "T0001", (base_span){plain, SIZE / 2, SIZE / 2 + 6}, "middle");
    base_report(list, BASE_ERROR, "T0001", (base_span){plain, SIZE, SIZE}, "end");
    for (uint32_t i = 0; i < 150; i++)
        base_report(list, BASE_ERROR, "T0001", (base_span){marks, i * 1000, i * 1000 + 1}, "marks");
    const char *out = rendered(list, BASE_TEXT, *state);
    assert_true(strlen(out) < 1000 * 1000);
    size_t widest = 0;
    for (const char *p = out; strncmp(p, "marks", 5) != 0; p = strchr(p, '\n') + 1)
        widest = (size_t)(strchr(p, '\n') - p) > widest ? (size_t)(strchr(p, '\n') - p) : widest;
    assert_true(widest < 120);
    const char *middle = strstr(out, "error: middle");
    const char *line = strchr(middle, '\n') + 1, *below = strchr(line, '\n') + 1;
    const char *needle = strstr(line, "needle"), *caret = strchr(below, '^');
    assert_int_equal(needle - line, caret - below);
    assert_memory_equal(caret, "^~~~~~\n", 7);
    assert_memory_equal(line + 9, "...aaa", 6);
    const char *end = strstr(out, "error: end");
    line = strchr(end, '\n') + 1, below = strchr(line, '\n') + 1;
    assert_int_equal(below - 1 - line, strchr(below, '^') - below); /* one after the last character */
    rendered(list, BASE_JSON, *state);
    rendered(list, BASE_SARIF, *state);
}

/* Whatever the bytes are, the caret stands under the character that the span begins with. */
static void caret_column(void **state) {
    base_sources *sources = base_sources_create(*state);
    static const char *const pieces[] = {"a",    "\t",        "\xc3\xa9", "\xe4\xbd\xa0",
                                         "\xff", "e\xcc\x81", "\x80",     " "};
    static const size_t cells[] = {1, 0, 1, 2, 4, 1, 4, 1};
    uint32_t seed = 1;
    for (int round = 0; round < 300; round++) {
        char text[400];
        size_t size = 0, cell = 0;
        unsigned count = (seed = seed * 1664525u + 1013904223u) >> 26;
        for (unsigned i = 0; i < count && cell < 80; i++) {
            unsigned pick = (seed = seed * 1664525u + 1013904223u) >> 29;
            memcpy(text + size, pieces[pick], strlen(pieces[pick]));
            size += strlen(pieces[pick]);
            cell += pick == 1 ? 4 - cell % 4 : cells[pick];
        }
        memcpy(text + size, "!!", 2);
        uint32_t file = base_sources_add(sources, "f", text, size + 2);
        base_diagnostics *list = base_diagnostics_create(*state, sources);
        base_report(list, BASE_ERROR, "T0001", (base_span){file, (uint32_t)size, (uint32_t)size + 2}, "x");
        const char *out = rendered(list, BASE_TEXT, *state);
        const char *below = strchr(strchr(out, '\n') + 1, '\n') + 1;
        assert_int_equal(strchr(below, '^') - below, 9 + cell);
        assert_string_equal(strchr(below, '^'), "^~\n");
    }
}

static void json(void **state) {
    base_sources *sources = base_sources_create(*state);
    uint32_t file = base_sources_add(sources, "d ir/\"k\".py", "ab\ncd\n", 6);
    base_diagnostics *list = base_diagnostics_create(*state, sources);
    base_diagnostic *d = base_report(list, BASE_ERROR, "T0101", (base_span){file, 1, 4}, "say \"no\"");
    base_note(list, d, (base_span){file, 3, 3}, "here");
    base_help(list, d, "h");
    base_report(list, BASE_WARNING, "T0102", BASE_NO_SPAN, "w\xff");
    assert_string_equal(
        rendered(list, BASE_JSON, *state),
        "{\"severity\":\"error\",\"code\":\"T0101\",\"file\":\"d ir/\\\"k\\\".py\",\"line\":1,\"column\":2,"
        "\"end_line\":2,\"end_column\":2,\"message\":\"say \\\"no\\\"\",\"help\":\"h\",\"notes\":[{"
        "\"file\":\"d ir/\\\"k\\\".py\",\"line\":2,\"column\":1,\"end_line\":2,\"end_column\":1,"
        "\"message\":\"here\"}]}\n"
        "{\"severity\":\"warning\",\"code\":\"T0102\",\"file\":null,\"line\":0,\"column\":0,\"end_line\":0,"
        "\"end_column\":0,\"message\":\"w\\ufffd\",\"help\":null,\"notes\":[]}\n");
    const char *sarif = rendered(list, BASE_SARIF, *state);
    assert_non_null(strstr(sarif, "\"version\":\"2.1.0\""));
    assert_non_null(strstr(sarif, "\"rules\":[{\"id\":\"T0101\"},{\"id\":\"T0102\"}]"));
    assert_non_null(strstr(sarif, "\"uri\":\"d%20ir/%22k%22.py\""));
    assert_non_null(strstr(sarif, "{\"ruleId\":\"T0101\",\"level\":\"error\",\"message\":{\"text\":\"say "
                                  "\\\"no\\\"\\nhelp: h\"},\"locations\":[{\"physicalLocation\":{"));
    assert_non_null(
        strstr(sarif, "\"region\":{\"startLine\":1,\"startColumn\":2,\"endLine\":2,\"endColumn\":2}"));
    assert_non_null(strstr(sarif, "\"relatedLocations\":[{\"physicalLocation\":"));
}

static void kept_once_and_limited(void **state) {
    base_sources *sources = base_sources_create(*state);
    uint32_t a = base_sources_add(sources, "a", "aaaaaaaaaa", 10), b = base_sources_add(sources, "b", "b", 1);
    base_diagnostics *list = base_diagnostics_create(*state, sources);
    base_report(list, BASE_ERROR, "T0001", (base_span){b, 0, 1}, "first in b");
    for (int i = 0; i < 3; i++)
        base_note(list, base_report(list, BASE_ERROR, "T0001", (base_span){a, 5, 6}, "same"), BASE_NO_SPAN,
                  "n");
    base_report(list, BASE_ERROR, "T0002", (base_span){a, 5, 6}, "same");
    base_report(list, BASE_ERROR, "T0001", (base_span){a, 4, 6}, "same");
    assert_int_equal(base_diagnostics_count(list), 4);
    assert_int_equal(base_diagnostics_errors(list), 4);
    assert_int_equal(base_diagnostics_at(list, 1)->notes.count, 1);
    assert_string_equal(rendered(list, BASE_LINE, *state), "b:1:1: error: first in b [T0001]\n"
                                                           "a:1:5: error: same [T0001]\n"
                                                           "a:1:6: error: same [T0001]\n"
                                                           "a:1:6: error: same [T0002]\n");
    for (int i = 0; i < 1000; i++) {
        base_diagnostic *d = base_report(list, BASE_ERROR, "T0003", (base_span){a, 0, 0}, "number %d", i);
        assert_non_null(d);
        base_help(list, d, "help %d", i);
    }
    assert_int_equal(base_diagnostics_count(list), 200);
    assert_int_equal(base_diagnostics_errors(list), 1004);
    assert_int_equal(base_diagnostics_dropped(list), 804);
    assert_non_null(base_report(list, BASE_WARNING, "T0004", (base_span){a, 0, 0}, "still kept"));
    assert_int_equal(base_diagnostics_count(list), 201);
    assert_int_equal(base_diagnostics_errors(list), 1004);
    assert_non_null(
        strstr(rendered(list, BASE_TEXT, *state), "note: 804 more diagnostics are not shown [T0990]\n"));
    assert_non_null(strstr(rendered(list, BASE_SARIF, *state), "\"droppedDiagnostics\":804"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(places),       UNIT_WITH_ARENA(caret_text), UNIT_WITH_ARENA(long_lines),
        UNIT_WITH_ARENA(caret_column), UNIT_WITH_ARENA(json),       UNIT_WITH_ARENA(kept_once_and_limited),
    };
    return cmocka_run_group_tests_name("base_diagnostic", tests, NULL, NULL);
}
