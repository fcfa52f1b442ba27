/* SPDX-License-Identifier: Apache-2.0
 * Kernels, as IR text, that use every operation over every element type, every collective, atomic, vector and
 * statement form; and where nvcc is. Shared by the tests that compile them and the test that runs them. */
#ifndef TIRC_TESTS_CUDA_KERNELS_H
#define TIRC_TESTS_CUDA_KERNELS_H
#include "base/text.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kernels_integers[] = {"int8",  "int16",  "int32",  "int64",
                                               "uint8", "uint16", "uint32", "uint64"};
static const char *const kernels_floats[] = {"float32",       "float64",     "float16",       "bfloat16",
                                             "float8_e4m3fn", "float8_e5m2", "float6_e2m3fn", "float6_e3m2fn",
                                             "float4_e2m1fn", "tfloat32"};

/* sm_90 converts no 6- and 4-bit floats. */
static inline bool kernels_lacks(const char *type, bool runs_on_sm_90) {
    return runs_on_sm_90 && (strstr(type, "float6") || strstr(type, "float4"));
}

static inline void kernels_head(base_builder *out, const char *name, const char *parameters) {
    base_builder_format(
        out,
        "function %s(%s):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n"
        "    let tx: int32 = thread_idx.x\n",
        name, parameters);
}

static inline void kernels_casts(base_builder *out, const char *type, bool runs_on_sm_90, int *row) {
    for (size_t i = 0; i < COUNT(kernels_integers) + COUNT(kernels_floats); i++) {
        const char *other =
            i < COUNT(kernels_integers) ? kernels_integers[i] : kernels_floats[i - COUNT(kernels_integers)];
        if (strcmp(other, type) != 0 && !kernels_lacks(other, runs_on_sm_90))
            base_builder_format(out, "    C[%d, tx] = %s(%s(a))\n", (*row)++, type, other);
    }
    base_builder_format(out, "    C[%d, tx] = %s(a < b and not (a != b) or a >= b)\n", (*row)++, type);
}

/* One kernel that applies every expression to a and b of the type; $ stands for the literal's suffix. */
static inline void kernels_over_type(base_builder *out, const char *prefix, const char *type,
                                     const char *const *expressions, size_t count, bool runs_on_sm_90) {
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
    kernels_casts(&body, type, runs_on_sm_90, &row);
    kernels_head(out, base_arena_format(out->arena, "%s_%s", prefix, type),
                 base_arena_format(out->arena, "A: %s[32], B: %s[32], C: %s[%d, 32]", type, type, type, row));
    base_builder_add(out, body.data, body.size);
}

static inline void kernels_all_types(base_builder *out, bool runs_on_sm_90) {
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
    static const char *const exact[] = {"a + b",
                                        "a - b",
                                        "a * b",
                                        "a / b",
                                        "min(a, b)",
                                        "max(a, b)",
                                        "fma(a, b, a)",
                                        "-a",
                                        "abs(a)",
                                        "floor(a)",
                                        "ceil(a)",
                                        "trunc(a)",
                                        "round(a)",
                                        "sqrt(a)",
                                        "a * 0.5$",
                                        "-(a - 1.5$)",
                                        "select(isnan(a) or isinf(b), a, b)",
                                        "fmod(a, b)"};
    static const char *const bounded[] = {
        "rsqrt(a)", "exp(a)",      "exp2(a)",   "log(a)",  "log2(a)",    "log10(a)", "sin(a)",
        "cos(a)",   "tanh(a)",     "pow(a, b)", "erf(a)",  "tan(a)",     "asin(a)",  "acos(a)",
        "atan(a)",  "atan2(a, b)", "sinh(a)",   "cosh(a)", "asinh(a)",   "acosh(a)", "atanh(a)",
        "exp10(a)", "expm1(a)",    "log1p(a)",  "cbrt(a)", "hypot(a, b)"};
    for (size_t i = 0; i < COUNT(kernels_integers); i++)
        kernels_over_type(out, "exact", kernels_integers[i], whole, COUNT(whole), runs_on_sm_90);
    for (size_t i = 0; i < COUNT(kernels_floats); i++) {
        if (kernels_lacks(kernels_floats[i], runs_on_sm_90))
            continue;
        kernels_over_type(out, "exact", kernels_floats[i], exact, COUNT(exact), runs_on_sm_90);
        kernels_over_type(out, "bounded", kernels_floats[i], bounded, COUNT(bounded), runs_on_sm_90);
    }
}

static inline void kernels_atomics(base_builder *out) {
    static const char *const types[] = {"int32", "uint32", "int64", "uint64", "float32", "float64"};
    static const char *const ops[] = {"add", "exchange", "min", "max", "and", "or", "xor"};
    for (size_t t = 0; t < COUNT(types); t++) {
        kernels_head(out, base_arena_format(out->arena, "atomic_%s", types[t]),
                     base_arena_format(out->arena, "A: %s[32], B: %s[32]", types[t], types[t]));
        bool whole = !strstr(types[t], "float");
        for (size_t i = 0; i < (whole ? COUNT(ops) : 2); i++)
            base_builder_format(out, "    atomic_%s(&A[tx], B[tx])\n    B[tx] = atomic_%s(&A[tx], B[tx])\n",
                                ops[i], ops[i]);
        if (whole)
            base_builder_string(out, "    B[tx] = atomic_cas(&A[tx], B[tx], B[tx])\n");
    }
}

static inline void kernels_collectives(base_builder *out) {
    static const char *const ways[] = {"shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"};
    for (size_t t = 0; t < COUNT(kernels_integers) + 5; t++) {
        const char *type =
            t < COUNT(kernels_integers) ? kernels_integers[t] : kernels_floats[t - COUNT(kernels_integers)];
        kernels_head(out, base_arena_format(out->arena, "shuffle_%s", type),
                     base_arena_format(out->arena, "A: %s[32], B: %s[32]", type, type));
        for (size_t i = 0; i < COUNT(ways); i++)
            base_builder_format(out, "    B[tx] = %s(4294967295_uint32, A[tx], 1, 32)\n", ways[i]);
    }
    kernels_head(out, "votes", "A: int32[32], B: uint32[32]");
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

static inline void kernels_vectors(base_builder *out, bool runs_on_sm_90) {
    static const struct {
        const char *type;
        int lanes;
    } rows[] = {{"float32", 2},  {"float32", 4}, {"float32", 8}, {"float16", 2},        {"float16", 8},
                {"bfloat16", 8}, {"int8", 4},    {"int8", 16},   {"uint16", 2},         {"float64", 2},
                {"int64", 2},    {"bool", 4},    {"uint32", 3},  {"float8_e4m3fn", 16}, {"float4_e2m1fn", 8}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *t = rows[i].type;
        if (kernels_lacks(t, runs_on_sm_90))
            continue;
        int n = rows[i].lanes;
        kernels_head(out, base_arena_format(out->arena, "vector_%s_%d", t, n),
                     base_arena_format(out->arena, "A: %s[1024], B: %s[1024]", t, t));
        base_builder_format(out,
                            "    B[ramp(tx * %d, 1, %d)] = A[ramp(tx * %d, 1, %d)]\n"
                            "    let v: %sx%d = A[ramp(tx * %d, 1, %d)]\n"
                            "    B[tx] = lane(v, 1)\n"
                            "    B[ramp(tx * %d, 1, %d)] = v\n"
                            "    B[ramp(tx * %d, 1, %d)] = A[ramp(tx, 1, %d)]\n",
                            n, n, n, n, t, n, n, n, n, n, n, n, n);
        if (!runs_on_sm_90) /* aligned only if the caller says so */
            base_builder_format(out, "    B[ramp(tx, 1, %d)] = v\n", n);
        if (strcmp(t, "bool") != 0)
            base_builder_format(out, "    B[ramp(tx * %d, 1, %d)] = v + A[ramp(tx * %d, 1, %d)]\n", n, n, n,
                                n);
    }
}

static inline void kernels_statements(base_builder *out) {
    kernels_head(out, "statements", "A: float32[64], n: int32, B: int32[64]");
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

static inline const char *kernels_find_nvcc(base_arena *arena) {
    const char *given = getenv("TIRC_NVCC"), *home = getenv("CUDA_HOME");
    if (given && !access(given, X_OK))
        return given;
    if (system("command -v nvcc > /dev/null 2>&1") == 0)
        return "nvcc";
    const char *nvcc = base_arena_format(arena, "%s/bin/nvcc", home ? home : "/usr/local/cuda");
    return access(nvcc, X_OK) ? NULL : nvcc;
}

#endif
