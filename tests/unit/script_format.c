/* SPDX-License-Identifier: Apache-2.0
 * Canonical text: spacing, comments, blank lines, wrapping; and that formatting again changes nothing. */
#include "unit/unit.h"
#include "script/script.h"
#include <string.h>

static const char *formatted(base_arena *arena, const char *text, size_t size, bool *good) {
    base_sources *sources = base_sources_create(arena);
    uint32_t file = base_sources_add(sources, "t.py", text, size);
    base_builder out;
    base_builder_start(&out, arena);
    *good = script_format(arena, base_diagnostics_create(arena, sources), file, &out);
    return out.data ? out.data : "";
}

static void rows(void **state) {
    static const struct {
        const char *text, *wanted;
    } table[] = {
        {"", ""},
        {"\n\n", ""},
        {"a", "a\n"},
        {"\n\n\na\n\n\n\n\nb\n\n", "a\n\n\nb\n"},
        {"a=1;b  =2 ;\n", "a = 1; b = 2\n"},
        {"x:int=1\n", "x: int = 1\n"},
        {"f( a,b = 1,* c,** d )[ 0 ] . e\n", "f(a, b=1, *c, **d)[0].e\n"},
        {"def f ( a:int=1,*,b=2 )->c :pass\n", "def f(a: int = 1, *, b=2) -> c: pass\n"},
        {"if(a):\n  b\n  if c :\n      d\n", "if (a):\n    b\n    if c:\n        d\n"},
        {"if a:\n\tb\n", "if a:\n    b\n"},
        {"a = -b** -c+ ~d - -1\n", "a = -b ** -c + ~d - -1\n"},
        {"lambda x,y=1 :x+y\nlambda:0\n", "lambda x, y=1: x + y\nlambda: 0\n"},
        {"a[1 :2], a[b+1:c], a[: :2], a[b.c :-1], a[x(1) :]\n",
         "a[1:2], a[b + 1 : c], a[::2], a[b.c:-1], a[x(1) :]\n"},
        {"S [(4,8):(1@laneid,1)]\n", "S[(4, 8) : (1 @ laneid, 1)]\n"},
        {"a  #b \nif c: # d\n      # e\n  f\n# g\nh\n", "a  #b\nif c:  # d\n    # e\n    f\n# g\nh\n"},
        {"(a,)\na[1,]\nf(a,)\n[a,]\n", "(a,)\na[1,]\nf(\n    a,\n)\n[\n    a,\n]\n"},
        {"f(a, # one\n  b # two\n  # three\n  )\n", "f(\n    a,  # one\n    b,  # two\n    # three\n)\n"},
        {"from . import  a\nfrom .b  import(c)\nfrom ... d import *\n",
         "from . import a\nfrom .b import (c)\nfrom ...d import *\n"},
        {"a = b if c else(d)\nnot(a)\nprint (a)\n", "a = b if c else (d)\nnot (a)\nprint(a)\n"},
        {"{a:b,** c}\n{ a , b }\n", "{a: b, **c}\n{a, b}\n"},
        {"@ a . b\nclass C (D) :\n  '''doc'''\n", "@a.b\nclass C(D):\n    '''doc'''\n"},
        {"a = \\\n  b\n", "a = b\n"},
        {"match (a):\n  case(b): pass\n", "match (a):\n    case (b): pass\n"},
        {"a\r\nif b:\r\n  c\r\n", "a\nif b:\n    c\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bool good;
        const char *once = formatted(*state, table[i].text, strlen(table[i].text), &good);
        assert_true(good);
        assert_string_equal(once, table[i].wanted);
        assert_string_equal(formatted(*state, once, strlen(once), &good), once);
    }
}

static void wrapping(void **state) {
    static const struct {
        const char *text, *wanted;
    } table[] = {
        {"view = Tx.decl_tensor(As.data, ty_args=[Tx.Tensor((BM, BK), \"float16\", scope=\"shared\")], "
         "name=\"view\")\n",
         "view = Tx.decl_tensor(\n"
         "    As.data,\n"
         "    ty_args=[Tx.Tensor((BM, BK), \"float16\", scope=\"shared\")],\n"
         "    name=\"view\",\n"
         ")\n"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + "
         "cccccccccccccccccccccccccccc + ddddddddd)\n",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = (\n"
         "    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb + cccccccccccccccccccccccccccc + ddddddddd\n"
         ")\n"},
        {"f(*[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[i] + bbbbbbbbbbbbbbbbbbbbbbbbbbbbb for i in "
         "range(nnnnnnnnnnnnnnnnnnnnnnnnnnnnn)])\n",
         "f(\n"
         "    *[\n"
         "        aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[i] + bbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
         "        for i in range(nnnnnnnnnnnnnnnnnnnnnnnnnnnnn)\n"
         "    ],\n"
         ")\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bool good;
        const char *once = formatted(*state, table[i].text, strlen(table[i].text), &good);
        assert_true(good);
        assert_string_equal(once, table[i].wanted);
        assert_string_equal(formatted(*state, once, strlen(once), &good), once);
    }
}

static void refuses_broken_text(void **state) {
    bool good;
    assert_string_equal(formatted(*state, "a = (\n", 6, &good), "");
    assert_false(good);
}

/* A line of a megabyte, in linear time. */
static void long_line(void **state) {
    base_builder text;
    base_builder_start(&text, *state);
    base_builder_string(&text, "a = [");
    for (int i = 0; i < 200000; i++)
        base_builder_string(&text, "(1,2),");
    base_builder_string(&text, "]");
    bool good;
    const char *once = formatted(*state, text.data, text.size, &good);
    assert_true(good);
    assert_int_equal(strlen(once), strlen("a = [\n") + 200000 * strlen("    (1, 2),\n") + strlen("]\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(rows),
        UNIT_WITH_ARENA(wrapping),
        UNIT_WITH_ARENA(refuses_broken_text),
        UNIT_WITH_ARENA(long_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
