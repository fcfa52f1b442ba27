/* SPDX-License-Identifier: Apache-2.0
 * The PTX writer: what it refuses, provenance, read-only loads, contraction, launch bounds, several kernels.
 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "assemble/ptx_build.h"

#define HEAD(parameters)                                                                                     \
    "tir 1\n\nfunction t(" parameters                                                                        \
    "):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 4, 1)\n"

typedef struct built {
    ptx_module *module;
    const char *text; /* PTX with origins, or the diagnostics */
} built;

static built build_checked(base_arena *arena, const char *text, bool contract, bool verify) {
    base_builder out;
    ir_module *module = help_parse(arena, text, &out);
    if (!module)
        fail_msg("%s", out.data);
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = verify};
    lower_result *lowered = lower_module(arena, module, &options);
    ptx_build_options building = {.contract = contract};
    built result = {lowered ? ptx_build(arena, lowered, &building) : NULL, ""};
    if (result.module) {
        assert_true(ptx_verify(result.module, true));
        ptx_print(result.module, &(ptx_print_options){.origins = true}, &out);
    } else {
        base_diagnostics_render(module->diagnostics, BASE_LINE, false, &out);
    }
    result.text = out.data ? out.data : "";
    return result;
}

static built build(base_arena *arena, const char *text, bool contract) {
    return build_checked(arena, text, contract, true);
}

/* The IR's verifier finds some of these first; the writer must not rely on it. */
static void refused(base_arena *arena, const char *code, const char *text) {
    built b = build_checked(arena, text, true, false);
    if (b.module || !strstr(b.text, code))
        fail_msg("wanted %s, got\n%s", code, b.text);
}

static void refusals(void **state) {
    refused(*state, "T0656", HEAD("A: float32[8]") "    atomic_max(&A[0], 1.0)\n");
    /* Other kernels of the module are still looked at. */
    refused(*state, "T0656",
            "tir 1\n\nfunction a(A: float32[8]):\n    launch:\n        grid = (1, 1, 1)\n        block = (1, "
            "1, 1)\n"
            "    A[0] = 1.0\n\nfunction b(A: float64[8]):\n    launch:\n        grid = (1, 1, 1)\n"
            "        block = (1, 1, 1)\n    atomic_min(&A[0], 1.0_float64)\n");
}

/* A value that is only reachable through deep nesting gives a message, not a crash. */
static void deep_expression(void **state) {
    base_builder text;
    base_builder_start(&text, *state);
    base_builder_string(&text, HEAD("A: int32[8]"));
    base_builder_string(&text, "    let v0: int32 = A[0]\n");
    for (int i = 1; i < 400; i++)
        base_builder_format(&text, "    let v%d: int32 = v%d * 3 + thread_idx.x\n", i, i - 1);
    base_builder_string(&text, "    A[1] = v399\n");
    built b = build(*state, text.data, true);
    assert_non_null(b.module);
}

static void provenance(void **state) {
    built b = build(*state,
                    HEAD("A: float32[64, 8], B: float32[n], n: int32") "    alloc S: float32[64] shared\n"
                                                                       "    for i in serial(n):\n"
                                                                       "        S[thread_idx.x] = A[i, 3]\n"
                                                                       "        B[i] = S[thread_idx.y + 1]\n",
                    true);
    assert_non_null(strstr(b.text, "//@ load \"global\" \"A\" 64 8 : \"i\" %r"));
    assert_non_null(strstr(b.text, "//@ store \"shared\" \"S\" 64 : \"thread_idx.x\" %tid.x"));
    assert_non_null(strstr(b.text, "//@ load \"shared\" \"S\" 64 : \"thread_idx.y + 1\" (add %tid.y 1)"));
    assert_non_null(strstr(b.text, "//@ store \"global\" \"B\" -1 : \"i\""));
}

static void read_only_loads(void **state) {
    built b = build(*state,
                    HEAD("A: float32[64], B: float32[64], C: int32[64]") "    B[0] = A[1] + B[2]\n"
                                                                         "    atomic_add(&C[0], C[1])\n",
                    true);
    assert_non_null(strstr(b.text, "ld.global.nc.f32"));
    assert_non_null(strstr(b.text, "ld.global.f32"));
    assert_non_null(strstr(b.text, "ld.global.b32"));
    assert_null(strstr(b.text, "ld.global.nc.b32"));
}

static void contraction(void **state) {
    const char *text =
        HEAD("A: float32[64]") "    A[0] = A[1] * A[2] + A[3]\n    A[4] = A[5] * A[6] - A[7]\n";
    const char *shared = HEAD("A: float32[64]") "    A[0] = A[1] * A[2] + A[3] / (A[1] * A[2])\n";
    assert_non_null(strstr(build(*state, text, true).text, "fma.rn.f32"));
    assert_null(strstr(build(*state, text, true).text, "mul.rn.f32"));
    assert_null(strstr(build(*state, text, false).text, "fma.rn.f32"));
    assert_null(strstr(build(*state, shared, true).text, "fma.rn.f32")); /* the product has two uses */
}

/* Quotients whose rounding is that of a product or a reciprocal; others stay. */
static void quotients(void **state) {
    const char *halves =
        HEAD("A: float32[8], B: float64[8]") "    A[0] = A[1] / 1024.0\n    A[2] = A[3] / -0.5\n"
                                             "    B[0] = B[1] / 4.0_float64\n";
    const char *text = build(*state, halves, true).text;
    assert_null(strstr(text, "div"));
    assert_non_null(strstr(text, "0f3A800000")); /* 2^-10 */
    assert_non_null(strstr(text, "0fC0000000"));
    assert_non_null(strstr(text, "0d3FD0000000000000"));
    /* 2^-127 has an exact reciprocal, 2^-149 has none; a product joins a sum only where contraction is on. */
    assert_null(strstr(
        build(*state, HEAD("A: float32[8]") "    A[0] = A[1] / 5.877471754111438e-39\n", true).text, "div"));
    assert_non_null(
        strstr(build(*state, HEAD("A: float32[8]") "    A[0] = A[1] / 1.401298464324817e-45\n", true).text,
               "div.rn"));
    const char *sum = HEAD("A: float32[8]") "    A[0] = A[1] / 8.0 + A[2]\n";
    assert_non_null(strstr(build(*state, sum, true).text, "fma.rn.f32"));
    assert_null(strstr(build(*state, sum, false).text, "fma.rn.f32"));
    const char *stay = HEAD("A: float32[8], H: float16[8]") "    A[0] = A[1] / 3.0\n    A[2] = 2.0 / A[3]\n"
                                                            "    A[4] = A[5] / 0.0\n    H[0] = H[1] / H[2]\n";
    unsigned count = 0;
    for (const char *at = build(*state, stay, true).text; (at = strstr(at, "div.rn.f32")) != NULL; at++)
        count++;
    assert_int_equal(count, 4);
    const char *one =
        HEAD("A: float32[8], B: float64[8]") "    A[0] = 1.0 / A[1]\n    B[0] = 1.0_float64 / B[1]\n";
    text = build(*state, one, true).text;
    assert_null(strstr(text, "div"));
    assert_non_null(strstr(text, "rcp.rn.f32"));
    assert_non_null(strstr(text, "rcp.rn.f64"));
}

static unsigned moves_of(const char *text) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, "mov.f32")) != NULL; at++)
        count++;
    return count;
}

/* A register that is only renamed is not moved, and a first value that is overwritten unread is not set; what
 * is still read afterwards, or on another way, is. */
static void renaming_moves(void **state) {
#define LETS "    x: float32 = A[0]\n    y: float32 = 0.0\n"
    assert_int_equal(
        moves_of(build(*state,
                       HEAD("A: float32[8]") LETS "    y = A[1]\n    x = x + y\n    A[2] = x\n    A[3] = y\n",
                       true)
                     .text),
        0);
    /* y's first value is read when the branch is not taken. */
    assert_int_equal(moves_of(build(*state,
                                    HEAD("A: float32[8], n: int32") LETS
                                    "    if n > 3:\n        y = A[1] / A[2]\n    A[2] = x + y\n",
                                    true)
                                  .text),
                     1);
    /* Both values are wanted after the move. */
    assert_int_equal(
        moves_of(build(*state,
                       HEAD("A: float32[8]") LETS "    y = x\n    x = x * x\n    A[2] = x\n    A[3] = y\n",
                       true)
                     .text),
        1);
#undef LETS
}

static void bounds_and_names(void **state) {
    built b =
        build(*state,
              "tir 1\n\nfunction a(A: float32[8], n: int32):\n    launch:\n        grid = (n, 1, 1)\n"
              "        block = (32, 4, 1)\n        min_blocks_per_sm = 2\n    alloc S: float32[8] shared\n"
              "    S[0] = 1.0\n    A[0] = S[n]\n\nfunction b(A: float32[8], n: int32):\n    launch:\n"
              "        grid = (1, 1, 1)\n        block = (n, 1, 1)\n    alloc S: float32[4] shared\n"
              "    S[0] = 1.0\n    A[0] = S[n]\n    printf(\"%f\\n\", A[1])\n",
              true);
    assert_non_null(b.module);
    const ptx_function *first = ptx_function_find(b.module, "a_kernel"),
                       *second = ptx_function_find(b.module, "b_kernel");
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(first->max_threads[0], 32);
    assert_int_equal(first->max_threads[1], 4);
    assert_int_equal(first->min_blocks, 2);
    assert_int_equal(second->max_threads[0], 0);
    assert_int_equal(first->parameters.count, 2);
    assert_string_equal(first->parameters.items[1]->name, "a_kernel_param_1");
    assert_non_null(ptx_function_find(b.module, "vprintf"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(refusals),    UNIT_WITH_ARENA(deep_expression),  UNIT_WITH_ARENA(provenance),
        UNIT_WITH_ARENA(quotients),   UNIT_WITH_ARENA(renaming_moves),   UNIT_WITH_ARENA(read_only_loads),
        UNIT_WITH_ARENA(contraction), UNIT_WITH_ARENA(bounds_and_names),
    };
    return cmocka_run_group_tests_name("ptx_build", tests, NULL, NULL);
}
