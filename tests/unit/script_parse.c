/* SPDX-License-Identifier: Apache-2.0
 * Trees of scripts and reports about broken ones. The comparison with Python's own parser is
 * tests/script/run.sh; here stand what it cannot say: limits, recovery, and what the tree keeps beyond
 * Python's. */
#include "unit/unit.h"
#include "script/script_ast.h"
#include <string.h>

typedef struct parsed {
    script_ast *ast;
    base_diagnostics *list;
    const char *messages;
    const char *tree;
} parsed;

static parsed parse_bytes(base_arena *arena, const char *text, size_t size, const script_options *options) {
    parsed result;
    base_sources *sources = base_sources_create(arena);
    uint32_t file = base_sources_add(sources, "t.py", text, size);
    base_builder messages, tree;
    base_builder_start(&messages, arena);
    base_builder_start(&tree, arena);
    result.list = base_diagnostics_create(arena, sources);
    result.ast = script_parse(arena, result.list, file, options);
    assert_non_null(result.ast);
    script_ast_print(result.ast, &tree);
    base_diagnostics_render(result.list, BASE_LINE, false, &messages);
    result.messages = messages.data ? messages.data : "";
    result.tree = tree.data;
    return result;
}

static parsed parse(base_arena *arena, const char *text) {
    return parse_bytes(arena, text, strlen(text), NULL);
}

static void clean(base_arena *arena, const char *text) {
    parsed result = parse(arena, text);
    if (base_diagnostics_count(result.list) != 0)
        fail_msg("%s\n%s", text, result.messages);
}

/* Exactly one error, with this code at this place. */
static void broken(base_arena *arena, const char *text, size_t size, const char *code, uint32_t line,
                   uint32_t column) {
    parsed result = parse_bytes(arena, text, size, NULL);
    if (base_diagnostics_count(result.list) != 1)
        fail_msg("%zu diagnostics\n%s", base_diagnostics_count(result.list), result.messages);
    const base_diagnostic *d = base_diagnostics_at(result.list, 0);
    base_place place = base_span_place(base_diagnostics_sources(result.list), d->span);
    if (strcmp(d->code, code) != 0 || place.line != line || place.column != column)
        fail_msg("expected %s at %u:%u, got %s", code, line, column, result.messages);
}

static void slices_of_tuples(void **state) {
    parsed result = parse(*state, "S[(4, 8) : (1 @ laneid, 1)]\n");
    assert_string_equal(result.messages, "");
    const script_node *index = result.ast->body.items[0]->a->b;
    assert_int_equal(index->kind, SCRIPT_SLICE);
    assert_int_equal(index->a->kind, SCRIPT_TUPLE);
    assert_int_equal(index->b->items.items[0]->op, SCRIPT_OP_MATMUL);
    assert_null(index->c);
}

static void integers(void **state) {
    parsed result = parse(*state, "0xFFFF_FFFF_FFFF_FFFF\n9223372036854775807\n0b101\n0o17\n1_000\n");
    assert_string_equal(result.messages, "");
    const script_nodes *body = &result.ast->body;
    assert_true(body->items[0]->a->is_wide);
    assert_int_equal(body->items[0]->a->integer, -1);
    assert_false(body->items[1]->a->is_wide);
    assert_int_equal(body->items[1]->a->integer, INT64_MAX);
    assert_int_equal(body->items[2]->a->integer, 5);
    assert_int_equal(body->items[3]->a->integer, 15);
    assert_int_equal(body->items[4]->a->integer, 1000);
    broken(*state, "a = 18446744073709551616\n", 25, "T0106", 1, 5);
}

static void replacement_fields(void **state) {
    parsed result = parse(*state, "f\"a{x!r:>{w}}b{{{y:}\" \"c\"\n");
    assert_string_equal(result.messages, "");
    const script_node *node = result.ast->body.items[0]->a;
    assert_int_equal(node->kind, SCRIPT_FSTRING);
    assert_int_equal(node->items.count, 5);
    assert_string_equal(node->items.items[1]->text, "!r:>{w}");
    assert_int_equal(node->items.items[1]->items.count, 2);
    assert_string_equal(node->items.items[2]->text, "b{");
    assert_string_equal(node->items.items[4]->text, "c");
}

static void every_problem_in_one_run(void **state) {
    parsed result = parse(*state, "a = 1 +\n"
                                  "def f(x:\n"
                                  "    return x\n"
                                  "if a = 2:\n"
                                  "    b = (1\n"
                                  "c = 3\n"
                                  "for i in range(3)\n"
                                  "    print 1\n"
                                  "f(1) = 2\n");
    const char *codes[] = {"T0119", "T0113", "T0121", "T0113", "T0118", "T0126", "T0122"};
    size_t count = sizeof codes / sizeof *codes;
    if (base_diagnostics_count(result.list) != count)
        fail_msg("%s", result.messages);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(base_diagnostics_at(result.list, i)->code, codes[i]);
    assert_non_null(strstr(result.tree, "target: Name \"c\""));
}

static void repeat(base_builder *out, const char *text, size_t count) {
    for (size_t i = 0; i < count; i++)
        base_builder_string(out, text);
}

static void depth(void **state) {
    const char *const rows[][4] = {
        /* before, inside, after, levels of each if not one */
        {"(", "1", ")"},       {"[", "", "]"},
        {"-", "1", ""},        {"not ", "x", ""},
        {"", "1", "+1"},       {"f(", "", ")"},
        {"a[", "0", "]"},      {"{**", "a", "}"},
        {"[*", "a", "]", "2"}, {"lambda: ", "1", ""},
        {"", "a", ".b"},       {"2**", "2", ""},
        {"(yield ", "1", ")"}, {"a if b else ", "c", ""},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
        for (int over = 0; over < 3; over++) {
            size_t count = over == 0 ? (rows[row][3] ? 97 : 195) : over == 1 ? 201 : 100000;
            base_builder text;
            base_builder_start(&text, *state);
            repeat(&text, rows[row][0], count);
            base_builder_string(&text, rows[row][1]);
            repeat(&text, rows[row][2], count);
            parsed result = parse(*state, text.data);
            if (base_diagnostics_count(result.list) != (over > 0))
                fail_msg("%s x %zu: %s", rows[row][0], count, result.messages);
            if (over)
                assert_string_equal(base_diagnostics_at(result.list, 0)->code, "T0115");
        }
    base_builder blocks;
    base_builder_start(&blocks, *state);
    for (size_t i = 0; i < 5000; i++) {
        base_builder_repeat(&blocks, ' ', i);
        base_builder_string(&blocks, "if a:\n");
    }
    parsed result = parse(*state, blocks.data);
    if (base_diagnostics_count(result.list) != 1)
        fail_msg("%s", result.messages);
    assert_string_equal(base_diagnostics_at(result.list, 0)->code, "T0115");
    script_options options = {.depth_limit = 3};
    result = parse_bytes(*state, "((1))\n(((1)))\n", 14, &options);
    assert_int_equal(base_diagnostics_count(result.list), 1);
}

static void odd_files(void **state) {
    clean(*state, "");
    clean(*state, "\n\n   \n# only a comment");
    clean(*state, "\xEF\xBB\xBF"
                  "a = 1");
    clean(*state, "a = 1\rb = 2\r\nc = 3");
    clean(*state, "if a:\n\tb\n\tc\n");
    clean(*state, "\f\na = 1\n  \\\n\nb = 2\n");
    parsed result = parse(*state, "a = 1\rb = 2\r\nif c:\r\n  d");
    assert_int_equal(result.ast->body.count, 3);
    broken(*state, "a\0b\n", 4, "T0103", 1, 2);
    broken(*state, "a = '\xff'\n", 8, "T0102", 1, 6);
    broken(*state, "x = 1 \\", 7, "T0117", 1, 7);
    broken(*state,
           "x = \xE2\x80\x9C"
           "a\n",
           9, "T0101", 1, 5);
    broken(*state, "if a:\n        b\n\tc\n", 18, "T0109", 3, 1);
    broken(*state, "if a:\n    b\n  c\n  d\ne\n", 22, "T0110", 3, 1);
    broken(*state, "x = '''abc\n\n", 12, "T0104", 1, 5);
}

static void long_lines(void **state) {
    static const struct {
        const char *first, *repeated;
        size_t count;
        const char *code; /* NULL: clean */
    } rows[] = {
        {"a = '", "0123456789", 1000000, "T0104"},
        {"# ", "0123456789", 1000000, NULL},
        {"a = [", "1,", 5000000, "T0116"},
        {"a = 1", "+1", 5000000, "T0115"},
        {"a = ", "(", 10000000, "T0115"},
        {"a = x", "(", 10000000, "T0115"},
        {"", ")", 10000000, "T0114"},
        {"a = ", "f'{", 3000000, "T0115"},
        {"a = ", "f'{1\n", 2000000, "T0115"},
        {"", "a = f'{1\n", 1000000, "T0115"},
        {"", "{\n", 5000000, "T0115"},
        {"x(\n", "a = 3\n", 1500000, "T0113"},
        {"", "x = (\n", 1500000, "T0113"},
        {"", "  ", 5000000, NULL},
        {"", "@", 10000000, "T0119"},
        {"", "a\n", 400000, NULL},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        base_builder text;
        base_builder_start(&text, arena);
        base_builder_string(&text, rows[row].first);
        repeat(&text, rows[row].repeated, rows[row].count);
        base_sources *sources = base_sources_create(arena);
        uint32_t file = base_sources_add(sources, "t.py", text.data, text.size);
        base_diagnostics *list = base_diagnostics_create(arena, sources);
        script_parse(arena, list, file, NULL);
        if (!rows[row].code && base_diagnostics_count(list) != 0)
            fail_msg("row %zu: %s", row, base_diagnostics_at(list, 0)->text);
        if (rows[row].code) {
            assert_true(base_diagnostics_errors(list) > 0);
            if (strcmp(base_diagnostics_at(list, 0)->code, rows[row].code) != 0)
                fail_msg("row %zu: %s %s", row, base_diagnostics_at(list, 0)->code,
                         base_diagnostics_at(list, 0)->text);
        }
        base_arena_destroy(arena);
    }
}

static void one_expression(void **state) {
    static const struct {
        const char *text;
        bool good;
    } rows[] = {{"128", true},        {"TileLayout(S[(128, 256) : (1@TLane, 1@TCol)])", true},
                {" (1,\n2)\n", true}, {"1, 2", true},
                {"", false},          {"a = 1", false},
                {"1\n2", false},      {"x:", false},
                {"pass", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        base_sources *sources = base_sources_create(*state);
        uint32_t file = base_sources_add(sources, "-D", rows[i].text, strlen(rows[i].text));
        base_diagnostics *list = base_diagnostics_create(*state, sources);
        script_node *node = script_parse_expression(*state, list, file, NULL);
        assert_int_equal(node != NULL, rows[i].good);
        assert_int_equal(base_diagnostics_errors(list) == 0, rows[i].good);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(slices_of_tuples),
        UNIT_WITH_ARENA(integers),
        UNIT_WITH_ARENA(replacement_fields),
        UNIT_WITH_ARENA(every_problem_in_one_run),
        UNIT_WITH_ARENA(depth),
        UNIT_WITH_ARENA(odd_files),
        UNIT_WITH_ARENA(long_lines),
        UNIT_WITH_ARENA(one_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
