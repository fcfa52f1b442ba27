/* SPDX-License-Identifier: Apache-2.0
 * The flat form that the PTX builder gets: lazy operands as branches, floor division as shifts where it is
 * one; and the launch plan of every goal. covers: A31 A32 A37 A40 */
#include "unit/unit.h"
#include "unit/lower_help.h"

/* The must-run passes only, so that the text does not follow every change of an optimisation. */
static help_lowered lower_plain(base_arena *arena, const char *tir) {
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true};
    base_builder skip;
    base_builder_start(&skip, arena);
    const char *name;
    for (size_t i = 0; (name = lower_pass(i, NULL)); i++)
        if (!strncmp(name, "optimise_", 9))
            base_builder_format(&skip, "%s,", name);
    options.skip = skip.size ? skip.data : NULL;
    return help_lower_with(arena, tir, &options);
}

typedef struct row {
    const char *tir, *begin, *expected;
} row;

/* clang-format off */
static const row rows[] = {
    /* only the chosen side is read */
    {"function k(A: float32[8], n: int32):\n    A[0] = if_then_else(n < 8, A[n], 0.0)\n",
     "if n < 8",
     "if n < 8:\n"
     "    t = A.data[n @ A[n]]\n"
     "else:\n"
     "    t = 0.0\n"
     "A.data[0 @ &A[0]] = t\n"},
    /* the guard of a guarded read */
    {"function k(A: float32[8], n: int32):\n    if n < 8 and A[n] > 0.0:\n        A[0] = 1.0\n",
     "t = n < 8",
     "t = n < 8\n"
     "if t:\n"
     "    t = A.data[n @ A[n]] > 0.0\n"
     "if t:\n"
     "    A.data[0 @ &A[0]] = 1.0\n"},
    /* a condition that needs statements is tested inside the loop, where continue comes back to it */
    {"function k(A: float32[8], n: int32):\n    i: int32 = 0\n    while i < n and A[i] > 0.0:\n        i = i + 1\n"
     "    A[0] = float32(i)\n",
     "while ",
     "while True:\n"
     "    t = i.data[0 @ i] < n\n"
     "    if t:\n"
     "        t = A.data[i.data[0 @ i] @ A[i.data[0 @ i]]] > 0.0\n"
     "    if not t:\n"
     "        break\n"
     "    i.data[0 @ &i] = i.data[0 @ i] + 1\n"
     "A.data[0 @ &A[0]] = float32(i.data[0 @ i])\n"},
    /* a pure choice is a select */
    {"function k(A: int32[8], n: int32):\n    A[0] = if_then_else(n < 8, n, 8 - n)\n",
     "A.data", "A.data[0 @ &A[0]] = select(n < 8, n, 8 - n)\n"},
    {"function k(A: int32[8], n: int32, m: int32):\n    A[0] = n // 8\n    A[1] = n % 8\n    A[2] = n // 10\n"
     "    A[3] = n % m\n",
     "A.data",
     "A.data[0 @ &A[0]] = n >> 3\n"
     "A.data[1 @ &A[1]] = n & 7\n"
     "A.data[2 @ &A[2]] = n // 10\n"
     "A.data[3 @ &A[3]] = n % m\n"},
};
/* clang-format on */

static void flat_text(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        help_lowered h = lower_plain(*state, rows[i].tir);
        const char *text = help_flat(&h, rows[i].begin);
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("row %zu:\n%s\nexpected:\n%s", i, text, rows[i].expected);
    }
}

static void plans(void **state) {
    help_lowered h =
        lower_plain(*state, "function k(A: float32[8], n: int32):\n"
                            "    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n"
                            "        dynamic_smem_bytes = 5000\n"
                            "    alloc a: float32[5] shared\n"
                            "    alloc b: float16[3, 4] shared align=128 layout=S[(3,4):(16,2)]\n"
                            "    alloc d: int32[1024] shared.dyn\n"
                            "    alloc fixed: float32[2] local\n"
                            "    alloc moving: float32[2] local\n"
                            "    alloc known: float32[2] local\n"
                            "    fixed[0] = A[0]\n"
                            "    moving[n] = A[0]\n"
                            "    known[1] = A[0]\n"
                            "    atomic_add(&A[0], fixed[0])\n"
                            "    a[0] = moving[1]\n"
                            "    b[0, 0] = 0.0_float16\n"
                            "    d[0] = 1\n"
                            "    let p: float32*local = &known[0]\n"
                            "    A[1] = float32(reinterpret[uint64](p))\n");
    if (!h.result)
        fail_msg("%s", help_messages(&h));
    const lower_plan *plan = h.result->plans.items[0];
    assert_string_equal(plan->kernel_name, "k_kernel");
    assert_int_equal(plan->static_smem_bytes, 128 + 39 * 2);
    assert_int_equal(plan->dynamic_smem_bytes, 5000);
    assert_int_equal(plan->shared.count, 3);
    assert_int_equal(plan->shared.items[0].offset, 0);
    assert_int_equal(plan->shared.items[0].bytes, 20);
    assert_int_equal(plan->shared.items[1].offset, 128);
    assert_int_equal(plan->shared.items[1].bytes, 78);
    assert_true(plan->shared.items[2].dynamic);
    assert_int_equal(plan->shared.items[2].bytes, 4096);
    assert_int_equal(plan->locals.count, 3);
    assert_true(plan->locals.items[0].in_registers);
    assert_string_equal(plan->locals.items[0].reason, "every index is a constant");
    assert_false(plan->locals.items[1].in_registers);
    assert_string_equal(plan->locals.items[1].reason, "indexed at run time by n");
    assert_false(plan->locals.items[2].in_registers);
    assert_string_equal(plan->locals.items[2].reason, "its address is taken");
}

/* The input stays as it was, and can be lowered again. */
static void input_unchanged(void **state) {
    base_builder before, after;
    base_arena *arena = *state;
    const char *text = "tir 1\n\nfunction k(A: float32[8]):\n    for i in unroll(2):\n        A[i] = 1.0\n";
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *diagnostics = base_diagnostics_create(arena, sources);
    ir_module *module =
        ir_module_parse(arena, diagnostics, base_sources_add(sources, "t.tir", text, strlen(text)));
    base_builder_start(&before, arena);
    base_builder_start(&after, arena);
    ir_module_print(module, &before);
    for (int goal = 0; goal < 2; goal++) {
        lower_options options = {.goal = goal ? LOWER_FOR_PTX : LOWER_FOR_CUDA, .verify = true};
        assert_non_null(lower_module(arena, module, &options));
    }
    ir_module_print(module, &after);
    assert_string_equal(before.data, after.data);
    assert_string_equal(before.data, text);
}

/* Dumps name the pass they follow; unknown names are not a pass. */
static void dumps(void **state) {
    base_builder dump;
    base_builder_start(&dump, *state);
    lower_options options = {
        .goal = LOWER_FOR_CUDA, .verify = true, .dump_after = "lower_unroll", .dump = &dump};
    help_lower_with(*state, "function k(A: float32[8]):\n    for i in unroll(2):\n        A[i] = 1.0\n",
                    &options);
    assert_non_null(strstr(dump.data, "# after lower_unroll\n"));
    assert_non_null(strstr(dump.data, "    A[0] = 1.0\n    A[1] = 1.0\n"));
    assert_null(strstr(dump.data, "lower_views"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(flat_text),
        UNIT_WITH_ARENA(plans),
        UNIT_WITH_ARENA(input_unchanged),
        UNIT_WITH_ARENA(dumps),
    };
    return cmocka_run_group_tests_name("lower_flat", tests, NULL, NULL);
}
