/* SPDX-License-Identifier: Apache-2.0
 * Broken kernels: pieces of a good one exchanged, dropped and doubled give reports or IR that verifies;
 * memory that runs out at any place unwinds; text, IR and reports do not depend on anything but the text. */
#include "unit/script_help.h"
#include "unit/unit_memory.h"

static const char good[] =
    "from tvm.tirx.layout import TileLayout, S, R, laneid\n"
    "N = 16\n"
    "def scale(x, *more, k=2):\n"
    "    out = [x * k]\n"
    "    for i, y in enumerate(more):\n"
    "        out.append(y + i if y > 1 else -y)\n"
    "    return sum(out), {\"n\": len(out), **{\"m\": max(out)}}\n"
    "A0, B0 = scale(3, 1, 2)\n"
    "L = TileLayout(S[(4, 8) : (16, 1)] + 2)\n"
    "@T.function\n"
    "def k(A: T.Tensor((N, 8), \"float32\"), B: T.Buffer((\"w\", 8), \"int32\", align=16), f: T.float32, p: "
    "T.handle):\n"
    "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(N, 2), block=64), "
    "options=T.cuda.KernelOptions(min_blocks_per_sm=2))\n"
    "    bx = T.cuda.block_idx(\"x\")\n"
    "    lane = T.cuda.lane_id()\n"
    "    s = T.alloc_shared((4, 8), \"float32\", layout=L)\n"
    "    v = T.decl_tensor((32,), \"float32\", data=s.data)\n"
    "    d = T.alloc_tensor(ty_args=[T.Tensor((32, 4), \"float32\", scope=\"local\", "
    "layout=TileLayout(S[(32, 4) : (1 @ laneid, 1)]))])\n"
    "    e = d.view(2, 2, layout=\"default\")\n"
    "    half: T.let[T.int32] = w // 2 + A0\n"
    "    acc: T.float32 = 0.0\n"
    "    q = L.apply(lane, 3, shape=(4, 8))[\"m\"]\n"
    "    for i, j in T.grid(4, (1, 2)):\n"
    "        e[i % 2, 0] = T.max(A[i, j], T.exp(f)) if j > i else acc\n"
    "    for i in T.serial(4, unroll=True):\n"
    "        if acc > 0.5 and not (lane == 3):\n"
    "            break\n"
    "        acc += v[i] * 2\n"
    "        B[i, 0] += T.cuda.atomic_add(B.ptr_to([0, i]), B0[\"n\"])\n"
    "    A[bx, T.Ramp(0, 1, 4)] = A.permute(1, 0).view(N, 8)[0, 0:4] * T.Broadcast(acc, 4)\n"
    "    x, y = half, T.cast(q, \"uint8\")\n"
    "    x, y = y, x\n"
    "    while T.cuda.any_sync(T.uint32(1), x < 9):\n"
    "        x = T.cuda.warp_sum(x, 8) + T.if_then_else(x > y, x, 1)\n"
    "    T.cuda.printf(\"%d %f\\n\", x, acc)\n"
    "    assert lane < 32, f\"lane {A0} of {L}\"\n";

typedef struct pieces {
    const char *text[1024];
    size_t size[1024];
    size_t count;
} pieces;

static bool is_word(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Words, single characters, and runs of spaces. */
static void cut(pieces *p) {
    p->count = 0;
    for (const char *at = good; *at && p->count < 1024;) {
        size_t size = 1;
        while (is_word(at[0]) && is_word(at[size]))
            size++;
        while (at[0] == ' ' && at[size] == ' ')
            size++;
        p->text[p->count] = at;
        p->size[p->count++] = size;
        at += size;
    }
}

static const char *const odd[] = {"-1",
                                  "0",
                                  "18446744073709551615",
                                  "9223372036854775807",
                                  "1e300",
                                  "None",
                                  "True",
                                  "\"x\"",
                                  "(1,)",
                                  "[]",
                                  "T",
                                  "S",
                                  "-1 << 63",
                                  "k",
                                  "good",
                                  "..."};

static void one_broken(base_arena *arena, const pieces *p, uint64_t seed) {
    static const script_options options = {.step_limit = 20000};
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    base_builder text, out;
    uint64_t place = base_hash_mix(seed, 1) % p->count, other = base_hash_mix(seed, 2) % p->count;
    base_builder_start(&text, arena);
    base_builder_start(&out, arena);
    for (size_t i = 0; i < p->count; i++) {
        if (i == place && seed % 4 == 0)
            continue;
        if (i == place && seed % 4 == 1)
            base_builder_string(&text, odd[seed / 4 % 16]);
        else
            base_builder_add(&text, p->text[i == place ? other : i], p->size[i == place ? other : i]);
        if (i == place && seed % 4 == 3)
            base_builder_add(&text, p->text[i], p->size[i]);
    }
    uint32_t file = base_sources_add(sources, "t.py", text.data, text.size);
    ir_module *module =
        script_evaluate(arena, list, script_parse(arena, list, file, &options), NULL, &options);
    if (base_diagnostics_errors(list) == 0) {
        if (!ir_verify(module, IR_FORM_TENSOR)) {
            base_diagnostics_render(list, BASE_LINE, false, &out);
            fail_msg("verifier: %s\n%s", out.data, text.data);
        }
        ir_module_print(module, &out);
    }
    for (size_t i = 0; i < base_diagnostics_count(list); i++) { /* every report has a place in the text */
        const base_diagnostic *d = base_diagnostics_at(list, i);
        assert_string_not_equal(d->code, "T0298"); /* a value that went wrong without a report */
        assert_int_equal(d->span.file, file);
        assert_true(d->span.begin <= d->span.end && d->span.end <= text.size);
    }
    base_diagnostics_render(list, BASE_TEXT, false, &out);
}

static void exchanged_pieces(void **state) {
    base_heap *heap = base_arena_heap(*state);
    pieces *p = BASE_NEW(*state, pieces);
    cut(p);
    for (uint64_t seed = 0; seed < 1500; seed++) {
        base_arena *arena = base_arena_create(heap);
        one_broken(arena, p, seed);
        base_arena_destroy(arena);
    }
}

static void evaluate_good(void *argument) {
    base_heap **heap = argument;
    base_arena *arena = base_arena_create(*heap);
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    uint32_t file = base_sources_add(sources, "t.py", good, sizeof(good) - 1);
    script_evaluate(arena, list, script_parse(arena, list, file, NULL), NULL, NULL);
    base_arena_destroy(arena);
}

static void memory_that_runs_out(void **state) {
    base_heap *heap = NULL;
    (void)state;
    size_t calls = unit_fail_each(evaluate_good, &heap, &heap, 512, 7);
    assert_true(calls > 100);
}

static void the_same_twice(void **state) {
    help_result a = help_evaluate(*state, good, NULL, NULL), b = help_evaluate(*state, good, NULL, NULL);
    assert_string_equal(a.messages, "");
    assert_true(strlen(a.text) > 500);
    assert_string_equal(a.text, b.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(exchanged_pieces),
                                       UNIT_WITH_ARENA(memory_that_runs_out),
                                       UNIT_WITH_ARENA(the_same_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
