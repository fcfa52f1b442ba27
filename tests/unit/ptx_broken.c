/* SPDX-License-Identifier: Apache-2.0
 * Broken PTX text: every cut and every code gives located diagnostics, never a crash; the reader goes on
 * after each problem. */
#include "unit/ptx_help.h"
#include "unit/ptx_sample.h"

/* Cut anywhere before the last function closes, the text is wrong and says so. */
static void every_cut_is_reported(void **state) {
    (void)state;
    size_t size = sizeof(ptx_sample) - 1;
    const char *close = strstr(ptx_sample, "\ttrap;\n}\n");
    assert_non_null(close);
    size_t complete = (size_t)(close - ptx_sample) + 8;
    for (size_t cut = 0; cut < size; cut++) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        ptx_case c = ptx_case_sized(arena, ptx_sample, cut);
        bool header_only = cut > 0 && c.module != NULL && c.module->functions.count == 0;
        if (cut < complete && !header_only && base_diagnostics_errors(c.diagnostics) == 0) {
            /* The only good cuts are those between two items of the module. */
            const char *before = ptx_sample + cut;
            while (before > ptx_sample && strchr(" \t\n", before[-1]) != NULL) {
                before--;
            }
            bool between = before[-1] == ';' || before[-1] == '}' ||
                           strncmp(before - 1, "k\n.visible", 9) == 0 ||
                           strstr(ptx_sample, "// .globl") - ptx_sample <= (long)cut;
            assert_true(between && cut <= (size_t)(strstr(ptx_sample, ".visible .entry k") - ptx_sample));
        }
        base_heap_destroy(base_arena_heap(arena));
    }
}

/* One byte replaced by another that upsets a lexer or a parser. */
static void every_damaged_byte_is_survived(void **state) {
    (void)state;
    static const char damage[] = {'\0', '}', '{', '"', ';', '(', '.', '%', '/', '\xff'};
    size_t size = sizeof(ptx_sample) - 1;
    for (size_t at = 0; at < size; at += 3) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        char *text = base_arena_copy(arena, ptx_sample, size);
        text[at] = damage[at % sizeof(damage)];
        ptx_case c = ptx_case_sized(arena, text, size);
        if (base_diagnostics_errors(c.diagnostics) == 0) {
            ptx_case again = ptx_case_parse(arena, ptx_case_print(arena, c.module, true, true));
            base_builder difference;
            base_builder_start(&difference, arena);
            ptx_module_equal(c.module, again.module, true, true, &difference);
            if (difference.size > 0) {
                print_error("byte %zu: %s\n%s", at, difference.data, ptx_case_messages(&again));
            }
            assert_int_equal(difference.size, 0);
        }
        base_heap_destroy(base_arena_heap(arena));
    }
}

static void each_problem_has_its_code(void **state) {
    static const struct {
        const char *code, *body;
    } cases[] = {
        {"T0501", "add.s32 %r1, %r2, \x01 1;"},
        {"T0502", "add.s32 %r1, %r2, 1; /* open"},
        {"T0503", "mov.f32 %f1, 0f3F80;"},
        {"T0503", "mov.b64 %rd1, 18446744073709551616;"},
        {"T0503", "mov.b32 %r1, 0x;"},
        {"T0503", "mov.b32 %r1, 12abc;"},
        {"T0504", "add.s32 %r1 %r2, 1;"},
        {"T0504", "add.s32 %r1, , 1;"},
        {"T0507", ".maxthreads 256;"},
        {"T0508", ".reg .b32 %x; .reg .b64 %x;"},
        {"T0510", ".local .align x .b32 y;"},
        {"T0510", "mov.b32 %r1, 1 / 0;"},
        {"T0510", "mov.b32 %r1, 1.5 + 1;"},
        {"T0512", "mov.b32 %r1, %undeclared;"},
        {"T0512", "@%pp bra $L;\n$L:"},
        {"T0512", "mov.b32 %r1, %r300;"},
        {"T0513", ".local .align 3 .b32 y;"},
        {"T0513", ".shared .b32 y[2] = {1, 2, 3};"},
        {"T0513", ".local .b32 y[1000000000][1000000000][1000];"},
        {"T0513", ".local y;"},
        {"T0514", "bra $L9;"},
        {"T0514", "brx.idx %r1, nowhere;"},
        {"T0515", "addd.s32 %r1, %r2, 1;"},
        {"T0515", "tcgen05.nothing [%r1];"},
        {"T0516", "ld.globl.b32 %r1, [%rd1];"},
        {"T0517", "//@ As[3]\nld.global.b32 %r1, [%rd1];"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_case c = ptx_case_parse(*state, ptx_case_kernel(*state, "sm_100a", cases[i].body));
        size_t count = base_diagnostics_count(c.diagnostics);
        assert_true(count >= 1);
        const base_diagnostic *first = base_diagnostics_at(c.diagnostics, 0);
        if (strcmp(first->code, cases[i].code) != 0) {
            print_error("%s: %s", cases[i].body, ptx_case_messages(&c));
        }
        assert_string_equal(first->code, cases[i].code);
        assert_true(first->span.file != 0 && first->span.end >= first->span.begin);
        /* An open comment also swallows the closing brace; the others leave the rest of the kernel alone. */
        assert_int_equal(count, strcmp(cases[i].code, "T0502") == 0 ? 2 : 1);
    }
}

static void module_problems(void **state) {
    static const struct {
        const char *code, *text;
    } cases[] = {
        {"T0506", ""},
        {"T0506", ".version 8\n.target sm_90\n"},
        {"T0506", ".version 8.0\n"},
        {"T0506", ".version 8.0\n.target sm_90\n.address_size 48\n"},
        {"T0505", PTX_HEADER ".entry k() { ret;"},
        {"T0505", PTX_HEADER ".section .debug_str { .b8 1"},
        {"T0507", PTX_HEADER "add.s32 %r1, %r2, 1;"},
        {"T0508", PTX_HEADER ".entry k() { ret; }\n.entry k() { ret; }"},
        {"T0508", PTX_HEADER ".global .b32 a;\n.global .b32 a;"},
        {"T0509", PTX_HEADER ".alias f, g;"},
        {"T0512", PTX_HEADER ".global .u64 p = nothing;"},
        {"T0510", PTX_HEADER ".global .b8 p[2] = {mask(0, q)};"},
        {"T0513", PTX_HEADER ".reg .b32 %r1;"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_case c = ptx_case_parse(*state, cases[i].text);
        if (strcmp(ptx_case_code(&c), cases[i].code) != 0) {
            print_error("%s\n%s", cases[i].text, ptx_case_messages(&c));
        }
        assert_string_equal(ptx_case_code(&c), cases[i].code);
    }
}

static void all_problems_in_one_run(void **state) {
    ptx_case c = ptx_case_parse(*state, ptx_case_kernel(*state, "sm_100a",
                                                        "addd.s32 %r1, %r2, 1;\nadd.s32 %r1, %r2, 1;\n"
                                                        "mov.b64 {%r1, %nope}, %rd1;\nadd.s32 %r1, %r2 1;\n"
                                                        "bra nowhere;\nld.globl.b32 %r1, [%rd1];\n"));
    assert_int_equal(base_diagnostics_errors(c.diagnostics), 5);
    /* What was good is kept: the add and the ret. */
    assert_int_equal(ptx_function_find(c.module, "k")->instructions.count, 3);
}

static const char *repeated(base_arena *arena, const char *head, const char *unit, size_t count,
                            const char *tail) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_string(&text, head);
    for (size_t i = 0; i < count; i++) {
        base_builder_string(&text, unit);
    }
    base_builder_string(&text, tail);
    return text.data;
}

static void depth_is_limited(void **state) {
    static const struct {
        const char *head, *unit;
    } cases[] = {
        {PTX_HEADER ".entry k() {", "{"},
        {PTX_HEADER ".global .b32 x = ", "("},
        {PTX_HEADER ".global .b32 x = ", "-"},
        {PTX_HEADER ".global .b32 x[1] = ", "{"},
        {PTX_HEADER ".global .b64 x = ", "generic("},
        {PTX_HEADER ".global .b64 x = ", "mask(1,"},
        {PTX_HEADER ".entry k() { .reg .b32 %r<3>; mov.b32 %r1, ", "{"},
        {PTX_HEADER ".entry k() { .reg .b32 %r<3>; mov.b32 %r1, ", "["},
        {PTX_HEADER ".entry k() { .reg .b32 %r<3>; mov.b32 %r1, ", "-%r1|"},
        {PTX_HEADER ".entry k() { .reg .b32 %r<3>; //@ load \"a\" \"b\" 1 : \"c\" ", "(add "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ptx_case c = ptx_case_parse(*state, repeated(*state, cases[i].head, cases[i].unit, 100000, "\nret;"));
        assert_true(base_diagnostics_errors(c.diagnostics) >= 1);
    }
    ptx_case deep = ptx_case_parse(*state, repeated(*state, PTX_HEADER ".global .b32 x = ", "(", 300, "1;"));
    assert_string_equal(ptx_case_code(&deep), "T0511");
}

/* Long texts take linear time. No clock is read: with a square in any of these the test would not end. */
static void long_texts(void **state) {
    (void)state;
    static const struct {
        const char *head, *unit, *tail;
    } cases[] = {
        {PTX_HEADER ".entry k() {\n.reg .b32 %r<99>;\n", "add.s32 %r1, %r2, %r3;\n", "ret; }"},
        {PTX_HEADER ".entry k() {\n.reg .b32 %r<99>;\n", "add.s32 %r1, %r2, %r3; ", "ret; }"}, /* one line */
        {PTX_HEADER ".entry k() {\n.reg .b32 %r<99>;\n", "{ .reg .pred p; .param .b32 q; L: @p bra L; }\n",
         "ret; }"},
        {PTX_HEADER ".entry k() {\n.reg .b32 %r<99>;\n", "bra END;\n{\n}\n", "END: ret; }"},
        {PTX_HEADER ".global .b8 x[] = {1", ",1", "};"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        base_arena *arena = base_arena_create(base_heap_create(NULL));
        size_t count = 200000;
        const char *text = repeated(arena, cases[i].head, cases[i].unit, count, cases[i].tail);
        ptx_case c = ptx_case_parse(arena, text);
        const char *printed = c.module != NULL ? ptx_case_print(arena, c.module, false, false) : "";
        assert_string_equal(ptx_case_messages(&c), "");
        assert_true(strlen(printed) > count);
        base_heap_destroy(base_arena_heap(arena));
    }
}

/* A range may be declared with any count; only the registers named come to life. */
static void huge_ranges_cost_nothing(void **state) {
    ptx_case c = ptx_case_parse(*state, PTX_HEADER
                                ".entry k() { .reg .b32 %r<4000000000>; mov.b32 %r3999999999, %r7; ret; }");
    assert_string_equal(ptx_case_messages(&c), "");
    assert_int_equal(ptx_function_find(c.module, "k")->registers.count, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_reported),
        cmocka_unit_test(every_damaged_byte_is_survived),
        UNIT_WITH_ARENA(each_problem_has_its_code),
        UNIT_WITH_ARENA(module_problems),
        UNIT_WITH_ARENA(all_problems_in_one_run),
        UNIT_WITH_ARENA(depth_is_limited),
        cmocka_unit_test(long_texts),
        UNIT_WITH_ARENA(huge_ranges_cost_nothing),
    };
    return cmocka_run_group_tests_name("ptx broken text", tests, NULL, NULL);
}
