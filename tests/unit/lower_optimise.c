/* SPDX-License-Identifier: Apache-2.0
 * Every optimise_* pass keeps what a kernel computes: random functions run in a model before and after each
 * pass alone, all passes, and all but one. Then what the passes are for, on small texts. covers: A37 A40 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "flat_model.h"
#include "flat_random.h"
#include "lower/lower.h"

enum { PROGRAMS = 130 };

/* ---- running ---- */

static const char *const all_passes =
    "optimise_unroll,optimise_promote,optimise_propagate,optimise_divide,optimise_select,optimise_addresses,"
    "optimise_induction,optimise_hoist,optimise_widen,optimise_loads,optimise_select_loaded,optimise_share,"
    "optimise_dead";
static const char *const passes[] = {
    "optimise_unroll", "optimise_promote",   "optimise_propagate",    "optimise_select", "optimise_addresses",
    "optimise_widen",  "optimise_induction", "optimise_hoist",        "optimise_loads",  "optimise_share",
    "optimise_dead",   "optimise_divide",    "optimise_select_loaded"};
enum { PASS_COUNT = sizeof passes / sizeof passes[0] };

/* all_passes without the one kept. */
static const char *all_but(base_arena *arena, const char *kept) {
    base_builder out;
    base_builder_start(&out, arena);
    for (unsigned i = 0; i < PASS_COUNT; i++)
        if (strcmp(passes[i], kept))
            base_builder_format(&out, "%s,", passes[i]);
    return out.data;
}

static ir_function *lowered(base_arena *arena, ir_module *module, const char *skip) {
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true, .skip = skip};
    lower_result *result = lower_module(arena, module, &options);
    if (!result) {
        base_builder out;
        base_builder_start(&out, arena);
        base_diagnostics_render(module->diagnostics, BASE_LINE, false, &out);
        print_error("skip %s:\n%s", skip, out.data);
    }
    assert_non_null(result);
    return result->module->functions.items[0];
}

typedef struct outcome {
    const char *trouble;
    uint64_t hash;
} outcome;

static outcome run(base_arena *arena, const ir_function *function) {
    model m = {.arena = arena, .values = base_map_create(arena), .thread = {3, 2, 1}, .block = {1, 1, 1}};
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *p = &function->parameters.items[i];
        if (p->var) {
            model_value value = {.i = {!strcmp(p->name, "n") ? 5 : 3}};
            model_set(&m, p->var, value);
            continue;
        }
        model_memory *memory = model_find(&m, p->tensor);
        bool is_float = p->tensor->type.dtype == NUM_DTYPE_F32;
        for (uint64_t k = 0; k < memory->size / 4; k++) {
            int32_t word = (int32_t)(k * 37 % 101) - 50;
            float real = (float)word * 0.25f;
            memcpy(memory->bytes + 4 * k, is_float ? (void *)&real : (void *)&word, 4);
        }
    }
    model_run(&m, function->body);
    outcome result = {m.trouble, 0};
    for (uint32_t i = 0; i < 4; i++) /* the parameters: found first */
        result.hash = base_hash(m.memories[i].bytes, m.memories[i].size, result.hash);
    return result;
}

static void compare(base_arena *arena, ir_module *module, const char *text, const char *what,
                    const char *skip, outcome expected) {
    outcome got = run(arena, lowered(arena, module, skip));
    if (got.trouble || got.hash != expected.hash)
        fail_msg("%s changes this function (%s):\n%s", what, got.trouble ? got.trouble : "other values",
                 text);
}

static void passes_keep_meaning(void **state) {
    unsigned sound = 0;
    (void)state;
    for (unsigned n = 0; n < PROGRAMS; n++) {
        base_heap *heap = base_heap_create(NULL);
        base_arena *arena = base_arena_create(heap);
        const char *text = random_function(arena, n + 1, false);
        base_builder messages;
        ir_module *module = help_parse(arena, text, &messages);
        if (!module)
            fail_msg("%s\n%s", messages.data, text);
        outcome expected = run(arena, lowered(arena, module, all_passes));
        if (!expected.trouble) {
            sound++;
            for (unsigned i = 0; i < PASS_COUNT; i++) {
                compare(arena, module, text, passes[i], all_but(arena, passes[i]), expected);
                if (n % 4 == i % 4)
                    compare(arena, module, text, base_arena_format(arena, "all without %s", passes[i]),
                            passes[i], expected);
            }
            compare(arena, module, text, "all passes", NULL, expected);
        }
        base_heap_destroy(heap);
    }
    assert_true(sound * 10 >= PROGRAMS * 9); /* the generator makes functions that run */
}

/* ---- what the passes are for ---- */

static lower_result *lower_text(base_arena *arena, const char *text, base_builder *out) {
    ir_module *module = help_parse(arena, text, out);
    if (!module)
        fail_msg("%s", out->data);
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true};
    lower_result *result = lower_module(arena, module, &options);
    base_diagnostics_render(module->diagnostics, BASE_LINE, false, out);
    if (!result)
        fail_msg("%s", out->data);
    ir_module_print(result->module, out);
    return result;
}

#define HEAD                                                                                                 \
    "tir 1\n\nfunction t(A: float32[1024], n: int32):\n    launch:\n        grid = (1, 1, 1)\n"              \
    "        block = (32, 1, 1)\n"

static void locals_are_placed(void **state) {
    base_builder out;
    lower_result *result =
        lower_text(*state,
                   HEAD "    alloc R: float32[4] local\n    alloc D: float32[4] local\n"
                        "    for i in unroll(4):\n        R[i] = A[i]\n        D[i] = A[i]\n"
                        "    A[0] = R[3] + D[n & 3]\n    A[1] = R[2] + R[1] + R[0]\n",
                   &out);
    const lower_plan *plan = result->plans.items[0];
    assert_int_equal(plan->locals.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const lower_local *local = &plan->locals.items[i];
        assert_int_equal(local->in_registers, !strcmp(local->name, "R"));
        assert_non_null(strstr(local->reason, local->in_registers ? "constant" : "run time"));
    }
    assert_null(strstr(out.data, "alloc R"));
    assert_non_null(strstr(out.data, "alloc D"));
}

/* An index outside the tensor must reach the machine, which reports it. */
static void outside_stays_in_memory(void **state) {
    base_builder out;
    lower_result *result = lower_text(
        *state,
        HEAD "    alloc R: float32[4] local\n    for i in unroll(5):\n        R[i] = A[i]\n    A[0] = R[1]\n",
        &out);
    const lower_plan *plan = result->plans.items[0];
    assert_int_equal(plan->locals.count, 1);
    assert_false(plan->locals.items[0].in_registers);
    assert_non_null(strstr(plan->locals.items[0].reason, "outside"));
}

/* A division that the script guards must not run before its guard. */
static void guarded_division_stays(void **state) {
    base_builder out;
    lower_text(*state, HEAD "    for i in serial(n):\n        if n > 7:\n            A[i] = A[1000 // n]\n",
               &out);
    const char *guard = strstr(out.data, "if "), *division = strstr(out.data, "1000 // n");
    assert_non_null(guard);
    assert_non_null(division);
    assert_true(division > guard);
}

static unsigned loads_of(base_arena *arena, const char *body) {
    base_builder out;
    unsigned count = 0;
    lower_text(arena, base_arena_format(arena, HEAD "%s", body), &out);
    for (const char *at = out.data; (at = strstr(at, "S.data[")) != NULL; at++)
        count++;
    return count;
}

/* A branch shares its load with what follows only where that is loaded in any case. */
static void branches_share_loads(void **state) {
#define SHARED "    alloc S: float32[64] shared\n    v: float32 = A[n]\n    k: int32 = n\n"
#define BRANCH "    if n > 7:\n        v = v + S[3]\n"
    assert_int_equal(loads_of(*state, SHARED BRANCH "    A[0] = S[3] + v\n"), 1);
    assert_int_equal(loads_of(*state, SHARED BRANCH "    A[0] = v\n"), 1);
    assert_int_equal(loads_of(*state, SHARED BRANCH "    S[n] = 4.0\n    A[0] = S[3] + v\n"), 3);
    assert_int_equal(loads_of(*state, SHARED BRANCH "    cta_sync()\n    A[0] = S[3] + v\n"), 2);
    assert_int_equal(loads_of(*state, SHARED BRANCH "    if n > 9:\n        return\n    A[0] = S[3] + v\n"),
                     2);
    assert_int_equal(loads_of(*state, SHARED BRANCH "    if n > 9:\n        A[0] = S[3] + v\n"), 2);
    assert_int_equal(loads_of(*state, SHARED BRANCH BRANCH "    A[0] = v\n"), 2);
    assert_int_equal(loads_of(*state, SHARED "    if n > 7:\n        k = k + int32(S[k])\n    A[0] = S[k]\n"),
                     2);
}

/* An address inside storage that the loop itself makes has no meaning before it. */
static void own_storage_stays_inside(void **state) {
    static const char *const bodies[] = {
        "    for i in serial(n):\n        alloc D: float32[4] local\n        D[n & 3] = A[i]\n"
        "        A[i] = D[i & 3]\n",
        "    alloc w: int32[1] local\n    w[0] = n\n    while w[0] > 0:\n        w[0] = w[0] - 1\n"
        "        alloc D: float32[8] local\n        D[n & 7] = A[w[0]]\n        A[0] = D[n & 7] + D[w[0] & "
        "7]\n"};
    for (size_t i = 0; i < 2; i++) {
        base_builder out;
        lower_text(*state, base_arena_format(*state, HEAD "%s", bodies[i]), &out);
        const char *made = strstr(out.data, "alloc D"), *used = strstr(out.data, "D.data");
        assert_non_null(made);
        assert_non_null(used);
        assert_true(made < used);
    }
}

/* Addresses advance, the invariant part stands before the loop, and the origin still names the script's
 * index. */
static void loop_body_is_bare(void **state) {
    base_builder out;
    lower_text(*state,
               HEAD "    alloc s: float32[1] local\n    s[0] = 0.0\n    for i in serial(n):\n"
                    "        s[0] = s[0] + A[thread_idx.x * 4 + i * 8 + 2]\n    A[0] = s[0]\n",
               &out);
    const char *loop = strstr(out.data, "for i"), *multiply = strstr(out.data, "thread_idx.x * 4");
    assert_non_null(loop);
    assert_non_null(multiply);
    assert_true(multiply < loop);
    assert_null(strstr(loop, "i * 8]"));
    assert_non_null(strstr(loop, "@ A[thread_idx.x * 4 + i * 8 + 2]"));
}

/* Four neighbours at a multiple of 16 bytes are one load; two of them at an odd place stay two. */
static void neighbours_load_together(void **state) {
    base_builder out;
    lower_text(*state,
               HEAD "    let i: int32 = thread_idx.x * 8\n"
                    "    A[512] = A[i + 3] + A[i] + A[i + 1] + A[i + 2]\n    A[513] = A[i + 5] + A[i + 6]\n"
                    "    if n > 3:\n        A[514] = A[i + 8]\n    A[515] = A[i + 9]\n",
               &out);
    const char *wide = strstr(out.data, "let wide: float32x4");
    assert_non_null(wide);
    assert_null(strstr(wide + 1, "let wide"));
    assert_null(strstr(out.data, "float32x2"));
    assert_non_null(strstr(out.data, "ramp(i, 1, 4)"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(neighbours_load_together), UNIT_WITH_ARENA(locals_are_placed),
        UNIT_WITH_ARENA(outside_stays_in_memory),  UNIT_WITH_ARENA(guarded_division_stays),
        UNIT_WITH_ARENA(branches_share_loads),     UNIT_WITH_ARENA(own_storage_stays_inside),
        UNIT_WITH_ARENA(loop_body_is_bare),        cmocka_unit_test(passes_keep_meaning),
    };
    return cmocka_run_group_tests_name("lower_optimise", tests, NULL, NULL);
}
