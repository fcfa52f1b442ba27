/* SPDX-License-Identifier: Apache-2.0
 * nvcc takes everything the writer emits, for sm_90a and sm_100a, without a warning: every operation over
 * every element type it is defined for, every collective, atomic, vector and statement form. Skipped where
 * there is no nvcc, unless REQUIRE_NVCC is set. */
#include "unit/unit.h"
#include "unit/lower_help.h"
#include "cuda/cuda.h"
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const integers[] = {"int8",  "int16",  "int32",  "int64",
                                       "uint8", "uint16", "uint32", "uint64"};
static const char *const floats[] = {"float32",       "float64",     "float16",       "bfloat16",
                                     "float8_e4m3fn", "float8_e5m2", "float6_e2m3fn", "float6_e3m2fn",
                                     "float4_e2m1fn", "tfloat32"};

static void head(base_builder *out, const char *name, const char *parameters) {
    base_builder_format(
        out,
        "function %s(%s):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n"
        "    let tx: int32 = thread_idx.x\n",
        name, parameters);
}

static void casts(base_builder *out, const char *type, int *row) {
    for (size_t i = 0; i < COUNT(integers) + COUNT(floats); i++) {
        const char *other = i < COUNT(integers) ? integers[i] : floats[i - COUNT(integers)];
        if (strcmp(other, type) != 0)
            base_builder_format(out, "    C[%d, tx] = %s(%s(a))\n", (*row)++, type, other);
    }
    base_builder_format(out, "    C[%d, tx] = %s(a < b and not (a != b) or a >= b)\n", (*row)++, type);
}

/* One kernel that applies every expression to a and b of the type; $ stands for the literal's suffix. */
static void over_type(base_builder *out, const char *type, const char *const *expressions, size_t count) {
    const char *suffix =
        !strcmp(type, "int32") || !strcmp(type, "float32") ? "" : base_arena_format(out->arena, "_%s", type);
    base_builder body;
    base_builder_start(&body, out->arena);
    int row = 0;
    base_builder_format(&body, "    let a: %s = A[tx]\n    let b: %s = B[tx]\n", type, type);
    for (size_t i = 0; i < count; i++) {
        base_builder_format(&body, "    C[%d, tx] = ", row++);
        for (const char *c = expressions[i]; *c; c++)
            if (*c == '$')
                base_builder_string(&body, suffix);
            else
                base_builder_char(&body, *c);
        base_builder_char(&body, '\n');
    }
    casts(&body, type, &row);
    head(out, base_arena_format(out->arena, "over_%s", type),
         base_arena_format(out->arena, "A: %s[32], B: %s[32], C: %s[%d, 32]", type, type, type, row));
    base_builder_add(out, body.data, body.size);
}

static void all_types(base_builder *out) {
    static const char *const whole[] = {"a + b",
                                        "a - b",
                                        "a * b",
                                        "a // b",
                                        "a % b",
                                        "truncdiv(a, b)",
                                        "truncmod(a, b)",
                                        "min(a, b)",
                                        "max(a, b)",
                                        "a & b",
                                        "a | b",
                                        "a ^ b",
                                        "~a",
                                        "a << b",
                                        "a >> b",
                                        "a << 3$",
                                        "a >> 3$",
                                        "a // 4$",
                                        "a % 8$",
                                        "a // 3$",
                                        "a % 3$",
                                        "popcount(a)",
                                        "clz(a)",
                                        "-a",
                                        "abs(a)",
                                        "select(a < b, a, b)",
                                        "if_then_else(a == b, A[tx], b)"};
    static const char *const real[] = {
        "a + b",     "a - b",     "a * b",        "a / b",
        "min(a, b)", "max(a, b)", "fma(a, b, a)", "-a",
        "abs(a)",    "floor(a)",  "ceil(a)",      "trunc(a)",
        "round(a)",  "sqrt(a)",   "rsqrt(a)",     "exp(a)",
        "exp2(a)",   "log(a)",    "log2(a)",      "log10(a)",
        "sin(a)",    "cos(a)",    "tanh(a)",      "pow(a, b)",
        "erf(a)",    "a * 0.5$",  "-(a - 1.5$)",  "select(isnan(a) or isinf(b), a, b)"};
    for (size_t i = 0; i < COUNT(integers); i++)
        over_type(out, integers[i], whole, COUNT(whole));
    for (size_t i = 0; i < COUNT(floats); i++)
        over_type(out, floats[i], real, COUNT(real));
}

static void atomics(base_builder *out) {
    static const char *const types[] = {"int32", "uint32", "int64", "uint64", "float32", "float64"};
    static const char *const ops[] = {"add", "exchange", "min", "max", "and", "or", "xor"};
    for (size_t t = 0; t < COUNT(types); t++) {
        head(out, base_arena_format(out->arena, "atomic_%s", types[t]),
             base_arena_format(out->arena, "A: %s[32], B: %s[32]", types[t], types[t]));
        bool whole = !strstr(types[t], "float");
        for (size_t i = 0; i < (whole ? COUNT(ops) : 2); i++)
            base_builder_format(out, "    atomic_%s(&A[tx], B[tx])\n    B[tx] = atomic_%s(&A[tx], B[tx])\n",
                                ops[i], ops[i]);
        if (whole)
            base_builder_string(out, "    B[tx] = atomic_cas(&A[tx], B[tx], B[tx])\n");
    }
}

static void collectives(base_builder *out) {
    static const char *const ways[] = {"shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"};
    for (size_t t = 0; t < COUNT(integers) + 5; t++) {
        const char *type = t < COUNT(integers) ? integers[t] : floats[t - COUNT(integers)];
        head(out, base_arena_format(out->arena, "shuffle_%s", type),
             base_arena_format(out->arena, "A: %s[32], B: %s[32]", type, type));
        for (size_t i = 0; i < COUNT(ways); i++)
            base_builder_format(out, "    B[tx] = %s(4294967295_uint32, A[tx], 1, 32)\n", ways[i]);
    }
    head(out, "votes", "A: int32[32], B: uint32[32]");
    base_builder_string(
        out, "    B[tx] = vote_ballot(4294967295_uint32, A[tx] > 0)\n"
             "    B[tx] = uint32(vote_all(4294967295_uint32, A[tx] > 0))\n"
             "    B[tx] = uint32(vote_any(4294967295_uint32, A[tx] > 0))\n"
             "    B[tx] = active_mask() + redux_add(4294967295_uint32, B[tx])\n"
             "    A[tx] = redux_min(4294967295_uint32, A[tx]) + redux_max(4294967295_uint32, A[tx])\n"
             "    B[tx] = uint32(lane_id() + warp_id() + linear_thread())\n"
             "    cta_sync()\n"
             "    A[tx] = cta_sync_and(A[tx] > 0) + cta_sync_or(A[tx] > 0)\n"
             "    warp_sync()\n"
             "    thread_fence()\n"
             "    nano_sleep(100_uint32)\n"
             "    A[tx] = int32(clock64())\n"
             "    printf(\"%d %f \\\"?\\\" %lld\\n\", tx, 0.5_float16, 1_int64)\n"
             "    trap_unless(A[tx] > 0)\n"
             "    trap_unless(A[tx] > 0, \"bad\")\n");
}

static void vectors(base_builder *out) {
    static const struct {
        const char *type;
        int lanes;
    } rows[] = {{"float32", 2},  {"float32", 4}, {"float32", 8}, {"float16", 2},        {"float16", 8},
                {"bfloat16", 8}, {"int8", 4},    {"int8", 16},   {"uint16", 2},         {"float64", 2},
                {"int64", 2},    {"bool", 4},    {"uint32", 3},  {"float8_e4m3fn", 16}, {"float4_e2m1fn", 8}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *t = rows[i].type;
        int n = rows[i].lanes;
        head(out, base_arena_format(out->arena, "vector_%s_%d", t, n),
             base_arena_format(out->arena, "A: %s[1024], B: %s[1024]", t, t));
        base_builder_format(out,
                            "    B[ramp(tx * %d, 1, %d)] = A[ramp(tx * %d, 1, %d)]\n"
                            "    let v: %sx%d = A[ramp(tx * %d, 1, %d)]\n"
                            "    B[tx] = lane(v, 1)\n"
                            "    B[ramp(tx * %d, 1, %d)] = v\n"
                            "    B[ramp(tx, 1, %d)] = A[ramp(tx, 1, %d)]\n",
                            n, n, n, n, t, n, n, n, n, n, n, n);
        if (strcmp(t, "bool") != 0)
            base_builder_format(out, "    B[ramp(tx * %d, 1, %d)] = v + A[ramp(tx * %d, 1, %d)]\n", n, n, n,
                                n);
    }
}

static void statements(base_builder *out) {
    head(out, "statements", "A: float32[64], n: int32, B: int32[64]");
    base_builder_string(out, "    alloc r: float32x4[2] local\n"
                             "    alloc w: float32x8[2] local\n"
                             "    alloc s: bfloat16[3] shared align=1024\n"
                             "    alloc d: int64[3] shared.dyn\n"
                             "    s[0] = bfloat16(A[0])\n"
                             "    d[n] = int64(n)\n"
                             "    r[tx % 2] = A[ramp(tx * 4, 1, 4)]\n"
                             "    w[0] = A[ramp(tx * 8, 1, 8)]\n"
                             "    A[ramp(0, 1, 4)] = r[0]\n"
                             "    A[ramp(0, 1, 8)] = w[1]\n"
                             "    A[tx] = lane(r[1], 2) + float32(s[1]) + float32(d[0])\n"
                             "    let bits: uint32 = reinterpret[uint32](A[0])\n"
                             "    let pair: float16x2 = reinterpret[float16x2](bits)\n"
                             "    A[1] = float32(lane(pair, 1))\n"
                             "    for i in pragma_unroll(n, factor=4):\n"
                             "        if i == 3:\n"
                             "            break\n"
                             "        elif B[i] > 2:\n"
                             "            continue\n"
                             "        else:\n"
                             "            B[i] = B[i] * 2 + i\n"
                             "    for i in serial(n, start=2, step=3):\n"
                             "        for j in unroll(2):\n"
                             "            let q: int32 = i * j\n"
                             "            B[q] = q + q\n"
                             "    while B[0] > 0 and B[1] > 0:\n"
                             "        B[0] = B[0] - 1\n"
                             "    return\n");
}

static bool compiles(base_arena *arena, const char *nvcc, const char *folder, const char *target) {
    const char *command =
        base_arena_format(arena, "'%s' -Werror all-warnings -ptx -arch=%s -o %s/k.ptx %s/k.cu > %s/log 2>&1",
                          nvcc, target, folder, folder, folder);
    if (system(command) == 0)
        return true;
    print_message("%s\n", command);
    return system(base_arena_format(arena, "head -c 4000 %s/log >&2", folder)) && false;
}

static const char *find_nvcc(base_arena *arena) {
    const char *given = getenv("TIRC_NVCC"), *home = getenv("CUDA_HOME");
    if (given && !access(given, X_OK))
        return given;
    if (system("command -v nvcc > /dev/null 2>&1") == 0)
        return "nvcc";
    const char *nvcc = base_arena_format(arena, "%s/bin/nvcc", home ? home : "/usr/local/cuda");
    return access(nvcc, X_OK) ? NULL : nvcc;
}

static void everything_compiles(void **state) {
    base_arena *arena = *state;
    const char *nvcc = find_nvcc(arena);
    if (!nvcc && !getenv("REQUIRE_NVCC"))
        skip();
    assert_non_null(nvcc);
    base_builder tir, text;
    base_builder_start(&tir, arena);
    base_builder_start(&text, arena);
    all_types(&tir);
    atomics(&tir);
    collectives(&tir);
    vectors(&tir);
    statements(&tir);
    help_lowered h = help_lower(arena, tir.data, LOWER_FOR_CUDA);
    if (!h.result || !cuda_print(h.result, NULL, &text))
        fail_msg("%s", help_messages(&h));
    char folder[] = "/tmp/tirc-cuda-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = base_arena_format(arena, "%s/k.cu", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
    fclose(file);
    bool done = compiles(arena, nvcc, folder, "sm_90a") && compiles(arena, nvcc, folder, "sm_100a");
    assert_int_equal(system(base_arena_format(arena, "rm -rf %s", folder)), 0);
    assert_true(done);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(everything_compiles)};
    return cmocka_run_group_tests_name("cuda_nvcc", tests, NULL, NULL);
}
