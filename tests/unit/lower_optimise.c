/* SPDX-License-Identifier: Apache-2.0
 * Every optimise_* pass keeps what a kernel computes: random functions run in a model before and after each
 * pass alone, all passes, and all but one. Then what the passes are for, on small texts. covers: A37 A40 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "ir_model.h"
#include "lower/lower.h"

enum { PROGRAMS = 130, EXTENT = 2048 };

/* ---- random functions as text ---- */

typedef struct generator {
    uint64_t seed;
    base_builder *out;
    unsigned indent, depth, names, budget;
    char loops[8][8];
    unsigned loop_count;
    char lets[24][8];
    unsigned let_count;
    unsigned loop_level; /* loops around, of any kind */
} generator;

static unsigned pick(generator *g, unsigned count) {
    g->seed ^= g->seed << 13, g->seed ^= g->seed >> 7, g->seed ^= g->seed << 17;
    return (unsigned)((g->seed >> 11) % count);
}

static void put(generator *g, const char *text) {
    base_builder_string(g->out, text);
}

static void line(generator *g) {
    base_builder_repeat(g->out, ' ', 4 * (size_t)g->indent);
}

static void put_atom(generator *g) {
    unsigned choice = pick(g, 6);
    if (choice < 3 && g->loop_count)
        put(g, g->loops[pick(g, g->loop_count)]);
    else
        put(g, choice == 0   ? "thread_idx.x"
               : choice == 1 ? "thread_idx.y"
               : choice == 2 ? "n"
               : choice == 3 ? "m"
               : choice == 4 ? "block_idx.x"
                             : "(thread_idx.x + m)");
}

/* Stays inside [0, EXTENT): atoms are below 8, products of two below 40. */
static void put_index(generator *g) {
    unsigned terms = 1 + pick(g, 3);
    base_builder_format(g->out, "%u", 700 + pick(g, 5));
    for (unsigned i = 0; i < terms; i++) {
        bool negative = pick(g, 4) == 0;
        put(g, negative ? " - " : " + ");
        if (pick(g, 4) == 0) {
            put(g, "(");
            put_atom(g);
            base_builder_format(g->out, " + %u) * ", pick(g, 3));
            put(g, pick(g, 2) ? "n" : "m");
            if (!negative)
                base_builder_format(g->out, " * %u", 1 + pick(g, 6));
        } else {
            put_atom(g);
            base_builder_format(g->out, " * %u", negative ? 1 + pick(g, 3) : 1 + pick(g, 12));
        }
    }
    if (pick(g, 3) == 0)
        base_builder_format(g->out, " + %u", 1 + pick(g, 64));
}

static void put_condition(generator *g, unsigned depth);

static void put_load(generator *g, const char *name) {
    base_builder_format(g->out, "%s[", name);
    put_index(g);
    put(g, "]");
}

static void put_int(generator *g, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * ", " & ", " | ", " ^ "};
    unsigned choice = pick(g, depth ? 17 : 8);
    switch (choice) {
    case 0:
        base_builder_format(g->out, "%d", (int)pick(g, 40) - 10);
        return;
    case 1:
        put_atom(g);
        return;
    case 2:
        put_load(g, pick(g, 2) ? "A" : "B");
        return;
    case 3:
        put_load(g, "S");
        return;
    case 4:
        base_builder_format(g->out, "L[%u]", pick(g, 16));
        return;
    case 5:
        put(g, "w");
        return;
    case 6:
        put(g, "D[(");
        put_int(g, 0);
        put(g, ") & 15]");
        return;
    case 7:
        put(g, g->let_count ? g->lets[pick(g, g->let_count)] : "n");
        return;
    case 8:
        put(g, pick(g, 2) ? "min(" : "max(");
        put_int(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ")");
        return;
    case 9:
        put(g, "(");
        put_int(g, depth - 1);
        base_builder_format(g->out, pick(g, 2) ? " // %u)" : " %% %u)", 1 + pick(g, 12));
        return;
    case 10:
        put(g, pick(g, 2) ? "select(" : "if_then_else(");
        put_condition(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ", ");
        put_int(g, depth - 1);
        put(g, ")");
        return;
    default:
        put(g, "(");
        put_int(g, depth - 1);
        put(g, operators[pick(g, 6)]);
        put_int(g, depth - 1);
        put(g, ")");
        return;
    }
}

static void put_condition(generator *g, unsigned depth) {
    static const char *const operators[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    if (depth && pick(g, 3) == 0) {
        put(g, "(");
        put_condition(g, depth - 1);
        put(g, pick(g, 2) ? " and " : " or ");
        put_condition(g, depth - 1);
        put(g, ")");
        return;
    }
    if (pick(g, 6) == 0)
        put(g, "not ");
    put(g, "(");
    put_int(g, depth ? depth - 1 : 0);
    put(g, operators[pick(g, 6)]);
    put_int(g, depth ? depth - 1 : 0);
    put(g, ")");
}

static void put_float(generator *g, unsigned depth) {
    static const char *const operators[] = {" + ", " - ", " * "};
    switch (pick(g, depth ? 8 : 5)) {
    case 0:
        base_builder_format(g->out, "%u.5", pick(g, 4));
        return;
    case 1:
        put_load(g, pick(g, 2) ? "F" : "G");
        return;
    case 2:
        base_builder_format(g->out, "X[%u]", pick(g, 8));
        return;
    case 3:
        base_builder_format(g->out, "lane(V[%u], %u)", pick(g, 2), pick(g, 4));
        return;
    case 4:
        put(g, "float32(");
        put_int(g, 0);
        put(g, ")");
        return;
    default:
        put(g, "(");
        put_float(g, depth - 1);
        put(g, operators[pick(g, 3)]);
        put_float(g, depth - 1);
        put(g, ")");
        return;
    }
}

static void put_block(generator *g, unsigned statements);

static void put_simple(generator *g) {
    unsigned choice = pick(g, 12);
    line(g);
    if (choice < 3) {
        put_load(g, choice == 0 ? "A" : choice == 1 ? "B" : "S");
        put(g, " = ");
        put_int(g, 3);
    } else if (choice < 5) {
        put_load(g, choice == 3 ? "F" : "G");
        put(g, " = ");
        put_float(g, 3);
    } else if (choice == 5) {
        base_builder_format(g->out, "L[%u] = ", pick(g, 16));
        put_int(g, 2);
    } else if (choice == 6) {
        put(g, "D[(");
        put_int(g, 1);
        put(g, ") & 15] = ");
        put_int(g, 2);
    } else if (choice == 7) {
        base_builder_format(g->out, "X[%u] = ", pick(g, 8));
        put_float(g, 2);
    } else if (choice == 8) {
        base_builder_format(g->out, "V[%u] = ", pick(g, 2));
        if (pick(g, 2)) {
            put(g, "F[ramp(");
            put_atom(g);
            base_builder_format(g->out, " * 4 + %u, 1, 4)]", 4 * pick(g, 30));
        } else {
            base_builder_format(g->out, "vector(lane(V[%u], 1), ", pick(g, 2));
            put_float(g, 1);
            base_builder_format(g->out, ", X[%u], lane(V[0], 0))", pick(g, 8));
        }
    } else if (choice == 9) {
        put(g, "w = ");
        put_int(g, 3);
    } else if (choice == 10 && g->let_count < 24) {
        base_builder_format(g->out, "let t%u: int32 = ", g->names);
        put_int(g, 3);
        snprintf(g->lets[g->let_count++], sizeof g->lets[0], "t%u", g->names++);
    } else {
        put(g, "atomic_add(&A[");
        put_index(g);
        put(g, "], ");
        put_int(g, 1);
        put(g, ")");
    }
    put(g, "\n");
}

static void put_nested(generator *g, unsigned statements) {
    unsigned lets = g->let_count, loops = g->loop_count;
    g->indent++, g->depth++;
    put_block(g, statements);
    g->indent--, g->depth--;
    g->let_count = lets, g->loop_count = loops;
}

static void put_for(generator *g) {
    static const char *const extents[] = {"n", "m", "7", "4", "2", "w & 3"};
    unsigned name = g->names++;
    line(g);
    base_builder_format(g->out, "for i%u in %s(", name, pick(g, 5) == 0 ? "pragma_unroll" : "serial");
    put(g, extents[pick(g, 6)]);
    if (pick(g, 3) == 0)
        base_builder_format(g->out, ", start=%u", pick(g, 2));
    if (pick(g, 4) == 0)
        put(g, ", step=2");
    put(g, "):\n");
    snprintf(g->loops[g->loop_count++], sizeof g->loops[0], "i%u", name);
    g->loop_level++;
    put_nested(g, 1 + pick(g, 4));
    g->loop_level--;
    g->loop_count--;
}

static void put_while(generator *g) {
    unsigned name = g->names++;
    line(g);
    base_builder_format(g->out, "c%u: int32 = 0\n", name);
    line(g);
    base_builder_format(g->out, "while c%u < %u", name, 1 + pick(g, 4));
    if (pick(g, 2)) {
        put(g, " and ");
        put_condition(g, 1);
    }
    put(g, ":\n");
    g->indent++;
    line(g);
    base_builder_format(g->out, "c%u = c%u + 1\n", name, name);
    g->indent--;
    g->loop_level++;
    put_nested(g, 1 + pick(g, 3));
    g->loop_level--;
}

static void put_if(generator *g) {
    line(g);
    put(g, "if ");
    put_condition(g, 2);
    put(g, ":\n");
    if (g->loop_level && pick(g, 4) == 0) {
        g->indent++;
        line(g);
        g->indent--;
        put(g, pick(g, 2) ? "continue\n" : "break\n");
        return;
    }
    put_nested(g, 1 + pick(g, 3));
    if (pick(g, 2)) {
        line(g);
        put(g, "else:\n");
        put_nested(g, 1 + pick(g, 3));
    }
}

static void put_block(generator *g, unsigned statements) {
    for (unsigned i = 0; i < statements; i++) {
        unsigned choice = g->depth < 3 && g->loop_count < 6 ? pick(g, 10) : 9;
        if (choice < 2)
            put_for(g);
        else if (choice == 2)
            put_while(g);
        else if (choice < 5)
            put_if(g);
        else
            put_simple(g);
    }
}

static const char *random_function(base_arena *arena, uint64_t seed) {
    base_builder out;
    base_builder_start(&out, arena);
    generator g = {.seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, .out = &out, .indent = 1};
    for (unsigned i = 0; i < 8; i++)
        pick(&g, 2);
    put(&g, "tir 1\n\nfunction t(A: int32[2048], B: int32[2048], F: float32[2048], G: float32[2048], n: "
            "int32, m: "
            "int32):\n    launch:\n        grid = (4, 1, 1)\n        block = (8, 4, 1)\n"
            "    alloc S: int32[2048] shared\n    alloc L: int32[16] local\n    alloc D: int32[16] local\n"
            "    alloc X: float32[8] local\n    alloc V: float32x4[2] local\n    w: int32 = 1\n"
            "    for z in unroll(16):\n        L[z] = z * 3\n        D[z] = z - 5\n"
            "    for z in unroll(8):\n        X[z] = float32(z)\n"
            "    V[0] = F[ramp(8, 1, 4)]\n    V[1] = F[ramp(20, 1, 4)]\n");
    put_block(&g, 4 + pick(&g, 6));
    put(&g, "    A[0] = w + L[3] + D[4]\n    F[0] = X[2] + lane(V[1], 2)\n");
    return out.data;
}

/* ---- running ---- */

static const char *const all_passes =
    "optimise_unroll,optimise_promote,optimise_propagate,optimise_addresses,optimise_induction,"
    "optimise_hoist,optimise_loads,optimise_share,optimise_dead";
static const char *const passes[] = {"optimise_unroll",    "optimise_promote",   "optimise_propagate",
                                     "optimise_addresses", "optimise_induction", "optimise_hoist",
                                     "optimise_loads",     "optimise_share",     "optimise_dead"};
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

static outcome run(base_arena *arena, const ir_function *function, const char *name) {
    model m = {.arena = arena, .values = base_map_create(arena)};
    static const char *const scalars[] = {"n", "m"};
    (void)name;
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *p = &function->parameters.items[i];
        if (p->var) {
            model_value value = {.i = {!strcmp(p->name, scalars[0]) ? 5 : 3}};
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
    outcome got = run(arena, lowered(arena, module, skip), what);
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
        const char *text = random_function(arena, n + 1);
        base_builder messages;
        ir_module *module = help_parse(arena, text, &messages);
        if (!module)
            fail_msg("%s\n%s", messages.data, text);
        outcome expected = run(arena, lowered(arena, module, all_passes), "nothing");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(locals_are_placed),      UNIT_WITH_ARENA(outside_stays_in_memory),
        UNIT_WITH_ARENA(guarded_division_stays), UNIT_WITH_ARENA(loop_body_is_bare),
        cmocka_unit_test(passes_keep_meaning),
    };
    return cmocka_run_group_tests_name("lower_optimise", tests, NULL, NULL);
}
