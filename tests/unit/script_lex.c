/* SPDX-License-Identifier: Apache-2.0
 * Tokens: kinds and places, logical lines, indentation, what the formatter needs kept. */
#include "unit/unit.h"
#include "script/script_lex.h"
#include <string.h>

/* The tokens of a text as "NAME:a +:+ ...", one word each. */
static const char *tokens_of(base_arena *arena, const char *text, size_t size, bool keep_comments) {
    static const char *const kinds[] = {"end",  "newline",   "indent", "dedent",  "name",  "int",
                                        "real", "imaginary", "string", "comment", "break", "word"};
    base_sources *sources = base_sources_create(arena);
    uint32_t file = base_sources_add(sources, "t.py", text, size);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    script_lexer lexer;
    base_builder out;
    base_builder_start(&out, arena);
    script_lexer_start(&lexer, arena, list, file, 0, UINT32_MAX, 200, false);
    lexer.keep_comments = keep_comments;
    for (;;) {
        script_token token;
        script_lexer_next(&lexer, &token);
        assert_true(token.begin <= token.end && token.end <= size);
        bool shown = token.kind >= SCRIPT_TOKEN_NAME && token.kind != SCRIPT_TOKEN_BREAK;
        if (token.kind != SCRIPT_TOKEN_WORD)
            base_builder_string(&out, kinds[token.kind]);
        if (shown)
            base_builder_format(&out, "%s%.*s", token.kind == SCRIPT_TOKEN_WORD ? "" : ":",
                                (int)(token.end - token.begin), text + token.begin);
        if (token.kind == SCRIPT_TOKEN_END)
            break;
        base_builder_char(&out, ' ');
    }
    for (size_t i = 0; i < base_diagnostics_count(list); i++)
        base_builder_format(&out, " %s", base_diagnostics_at(list, i)->code);
    return out.data;
}

static void tokens(void **state) {
    static const struct {
        const char *text, *tokens;
    } rows[] = {
        {"", "end"},
        {"a", "name:a newline end"},
        {"a = b.c[0:1]\n", "name:a = name:b . name:c [ int:0 : int:1 ] newline end"},
        {"a**=b//c<<d->e:=f!=g...",
         "name:a **= name:b // name:c << name:d -> name:e := name:f != name:g ... newline end"},
        {"1.5.real 1..x .5", "real:1.5 . name:real real:1. . name:x real:.5 newline end"},
        {"0x1F 0b1 0o7 1_0 1e5 1j", "int:0x1F int:0b1 int:0o7 int:1_0 real:1e5 imaginary:1j newline end"},
        {"rb'x' f\"{a}\" '''a\n''' u'' bad'x'",
         "string:rb'x' string:f\"{a}\" string:'''a\n''' string:u'' name:bad string:'x' newline end"},
        {"f'{a['b']}' f'{x:{y}}' f'{{' f'{f'{1}'}'",
         "string:f'{a['b']}' string:f'{x:{y}}' string:f'{{' string:f'{f'{1}'}' newline end"},
        {"if a:\n  b\nc\n", "if name:a : newline indent name:b newline dedent name:c newline end"},
        {"if a:\n  if b:\n    c",
         "if name:a : newline indent if name:b : newline indent name:c newline dedent dedent end"},
        {"(a,\n  b)\nc\n", "( name:a , name:b ) newline name:c newline end"},
        {"a \\\n  b\n", "name:a name:b newline end"},
        {"\n  # c\n\na\n", "name:a newline end"},
        {"None True is not in notin", "None True is not in name:notin newline end"},
        {"1if x", "int:1 if name:x newline end"},
        {"a $ b", "name:a name:b newline end T0101"},
        {"a ) b", "name:a name:b newline end T0114"},
        {"(a", "( name:a newline end T0113"},
        {"'a\nb", "string:'a newline name:b newline end T0104"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(tokens_of(*state, rows[i].text, strlen(rows[i].text), false), rows[i].tokens);
}

static void comments_for_the_formatter(void **state) {
    const char *text = "# one\n\na  # two\nf(  # three\n  b)\n";
    assert_string_equal(
        tokens_of(*state, text, strlen(text), true),
        "comment:# one break break name:a comment:# two newline name:f ( comment:# three break "
        "name:b ) newline end");
}

static void words(void **state) {
    (void)state;
    for (int word = SCRIPT_WORD_FALSE; word <= SCRIPT_WORD_YIELD; word++) {
        const char *text = script_word_text((script_word_kind)word);
        assert_int_equal(script_keyword(text, strlen(text)), word);
    }
    assert_int_equal(script_keyword("match", 5), SCRIPT_WORD_NONE);
    assert_int_equal(script_keyword("", 0), SCRIPT_WORD_NONE);
    assert_string_equal(script_word_text(SCRIPT_WORD_SHIFT_RIGHT_ASSIGN), ">>=");
}

/* Every operator's text is read back as that operator. */
static void operators(void **state) {
    for (int word = SCRIPT_WORD_OPEN_ROUND; word < SCRIPT_WORD_COUNT; word++) {
        const char *text = script_word_text((script_word_kind)word);
        if (word == SCRIPT_WORD_BANG || script_word_text((script_word_kind)word)[0] == ')' ||
            text[0] == ']' || text[0] == '}')
            continue;
        base_sources *sources = base_sources_create(*state);
        uint32_t file = base_sources_add(sources, "t.py", text, strlen(text));
        script_lexer lexer;
        script_token token;
        script_lexer_start(&lexer, *state, base_diagnostics_create(*state, sources), file, 0, UINT32_MAX, 200,
                           false);
        script_lexer_next(&lexer, &token);
        assert_int_equal(token.word, word);
        assert_int_equal(token.end, strlen(text));
    }
}

/* Any bytes end in END, with places inside the text. */
static void any_bytes(void **state) {
    uint64_t seed = 1;
    static const char alphabet[] = "ab1 \n\t\r\\'\"{}()[]:=.,#f0xe_\xC3\xA9\xFF\x00!";
    for (int round = 0; round < 20000; round++) {
        char text[40];
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t size = (seed >> 33) % sizeof text;
        for (size_t i = 0; i < size; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[i] = alphabet[(seed >> 33) % (sizeof alphabet - 1)];
        }
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        tokens_of(arena, text, size, round % 2);
        base_arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(tokens),    UNIT_WITH_ARENA(comments_for_the_formatter),
        UNIT_WITH_ARENA(words),     UNIT_WITH_ARENA(operators),
        UNIT_WITH_ARENA(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
