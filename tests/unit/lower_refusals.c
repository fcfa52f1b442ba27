/* SPDX-License-Identifier: Apache-2.0
 * What lowering refuses: each input gives its code, at its place, with what was expected and what to do.
 * covers: A22 A32 A69 A76 */
#include "unit/unit.h"
#include "unit/lower_help.h"

#define HEAD                                                                                                 \
    "    launch:\n        grid = (1, 1, 1)\n        block = (128, 1, 1)\n    let tx: int32 = thread_idx.x\n"

typedef struct row {
    const char *code, *line; /* place as file:line: */
    const char *text;        /* part of the message */
    const char *tir;
} row;

/* clang-format off */
static const row rows[] = {
    {"T0403", "t.tir:4:", "unroll needs a constant extent",
     "function k(A: float32[8], n: int32):\n    for i in unroll(n):\n        A[i] = 1.0\n"},
    {"T0404", "t.tir:6:", "break directly inside unroll",
     "function k(A: float32[8], n: int32):\n    for i in unroll(4):\n        if A[i] > 0.0:\n            break\n"},
    {"T0404", "t.tir:6:", "continue directly inside unroll",
     "function k(A: float32[8], n: int32):\n    for i in unroll(4):\n        if A[i] > 0.0:\n            continue\n"
     "        A[i] = 1.0\n"},
    {"T0405", "t.tir:5:", "over the limit",
     "function k(A: float32[8]):\n    for i in unroll(1000):\n        for j in unroll(1000):\n            A[i] = 1.0\n"},
    {"T0406", "t.tir:3:", "maps 16 elements, but its shape has 32",
     "function k(A: float32[4, 8] layout=S[(4,4):(4,1)]):\n    A[0, 0] = 1.0\n"},
    {"T0407", "t.tir:5:", "its layout puts elements on the axis laneid",
     "function k(A: float32[8]):\n    alloc R: float32[32, 8] local layout=S[(32,8):(1@laneid,1)]\n    R[0, 0] = A[0]\n"},
    {"T0407", "t.tir:6:", "its layout puts elements on the axis laneid",
     "function k(A: float32[8]):\n    alloc R: float32[32, 8] local layout=S[(32,8):(1@laneid,1)]\n"
     "    view V: float32[8, 4, 8] local layout=S[(32,8):(1@laneid,1)] = R.data\n    V[0, 0, 0] = A[0]\n"},
    {"T0408", "t.tir:5:", "'t' is tensor memory",
     "function k(A: float32[8]):\n    alloc t: float32[128, 32] tmem\n    let p: float32*tmem = &t[0, 0]\n    let q: uint64 = reinterpret[uint64](p)\n"
     "    A[0] = float32(q)\n"},
    {"T0412", "t.tir:4:", "constant when the kernel is compiled",
     "function k(A: float32[8], n: int32):\n    alloc s: float32[n] shared\n    s[0] = A[0]\n"},
    {"T0413", "t.tir:8:", "element number divisible by 4, and this one never is",
     "function k(A: float32[512], B: float32[512] layout=S[512:1]+1):\n" HEAD
     "    B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4, 1, 4)]\n"},
    {"T0413", "t.tir:8:", "misaligned access to 'A'",
     "function k(A: float32[512], B: float32[512]):\n" HEAD
     "    B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4 + 2, 1, 4)]\n"},
    {"T0413", "t.tir:10:", "misaligned access to 'V'",
     "function k(A: float32[512], B: float32[512]):\n" HEAD
     "    alloc s: float32[512] shared\n    view V: float32[64] shared = &s[1]\n    B[ramp(0, 1, 4)] = V[ramp(tx * 4, 1, 4)]\n"},
    {"T0414", "t.tir:8:", "must start a byte",
     "function k(A: float4_e2m1fn[512], B: float32[8]):\n" HEAD
     "    let p: float4_e2m1fn*global = &A[tx]\n    let q: uint64 = reinterpret[uint64](p)\n    B[0] = float32(q)\n"},
    {"T0415", "t.tir:4:", "a vector of 60000 lanes",
     "function k(A: float32[100000], B: float32[100000]):\n    B[ramp(0, 1, 60000)] = A[ramp(0, 1, 60000)]\n"},
    {"T0416", "t.tir:5:", "reaches 65536 bytes with 'b'",
     "function k(A: float32[8]):\n    alloc a: float32[8192] shared\n    alloc b: float32[8192] shared\n"
     "    a[0] = A[0]\n    b[0] = a[0]\n    A[1] = b[0]\n"},
    {"T0417", "t.tir:4:", "dynamic_smem_bytes is 100, but the kernel's shared.dyn tensor needs 4096",
     "function k(A: float32[8]):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n"
     "        dynamic_smem_bytes = 100\n    alloc a: float32[1024] shared.dyn\n    a[0] = A[0]\n    A[1] = a[0]\n"},
    {"T0418", "t.tir:4:", "524292 bytes of local memory",
     "function k(A: float32[8], n: int32):\n    alloc a: float32[131073] local\n    a[n] = A[0]\n    A[1] = a[n]\n"},
    {"T0420", "t.tir:4:", "a register cap and launch bounds",
     "function k(A: float32[8]):\n    launch:\n        grid = (1, 1, 1)\n        block = (32, 1, 1)\n"
     "        min_blocks_per_sm = 2\n        max_registers = 32\n    A[0] = 1.0\n"},
};

/* Failure case A13 and its neighbour: accepted, with a word about the two elements. */
static const row warned[] = {
    {"T0421", "t.tir:10:", "a store to 'V', whose layout is not injective: [0] and [1] both map to m 0",
     "function k(A: int32[8]):\n" HEAD
     "    view V: int32[8] layout=S[8:0] = A.data\n    if tx < 8:\n        V[tx] = tx\n"},
    {"T0421", "t.tir:10:", "a store to 'V', whose layout is not injective: [0, 1] and [1, 0] both map to m 1",
     "function k(A: int32[8]):\n" HEAD
     "    view V: int32[4, 2] layout=S[(4,2):(1,1)] = A.data\n    if tx < 8:\n        V[tx // 2, tx % 2] = tx\n"},
};
/* clang-format on */

static void refusals(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int goal = 0; goal < 2; goal++) {
            help_lowered h = help_lower(*state, rows[i].tir, goal ? LOWER_FOR_PTX : LOWER_FOR_CUDA);
            const char *messages = help_messages(&h);
            if (h.result || !strstr(messages, rows[i].code) || !strstr(messages, rows[i].text) ||
                !strstr(messages, rows[i].line) || base_diagnostics_errors(h.diagnostics) != 1)
                fail_msg("row %zu, wanted %s at %s '%s', got:\n%s", i, rows[i].code, rows[i].line,
                         rows[i].text, messages);
        }
}

static void warnings(void **state) {
    for (size_t i = 0; i < sizeof warned / sizeof warned[0]; i++) {
        help_lowered h = help_lower(*state, warned[i].tir, LOWER_FOR_PTX);
        const char *messages = help_messages(&h);
        if (!h.result || !strstr(messages, warned[i].code) || !strstr(messages, warned[i].text) ||
            !strstr(messages, warned[i].line) || base_diagnostics_errors(h.diagnostics) != 0)
            fail_msg("row %zu, wanted %s at %s '%s', got:\n%s", i, warned[i].code, warned[i].line,
                     warned[i].text, messages);
    }
}

/* What stands next to a refusal is accepted. */
static void neighbours(void **state) {
    static const char *const accepted[] = {
        "function k(A: float32[512], B: float32[512] layout=S[512:1]+4):\n" HEAD
        "    B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4, 1, 4)]\n",
        "function k(A: float32[8]):\n    for i in serial(4):\n        for j in unroll(2):\n            A[j] "
        "= 1.0\n"
        "        break\n",
        "function k(A: float32[8]):\n    for i in unroll(2):\n        for j in serial(4):\n            "
        "break\n",
        "function k(A: float32[8]):\n    for i in unroll(4):\n        for j in unroll(i):\n            A[j] "
        "= 1.0\n",
        "function k(A: float32[8]):\n    let n: int32 = 4\n    for i in unroll(n):\n        A[i] = 1.0\n",
        "function k(A: float32[8]):\n    alloc a: float32[12288] shared\n    a[0] = A[0]\n    A[1] = a[0]\n",
    };
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        help_lowered h = help_lower(*state, accepted[i], LOWER_FOR_PTX);
        if (!h.result)
            fail_msg("refused %s\n%s", accepted[i], help_messages(&h));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(refusals), UNIT_WITH_ARENA(warnings),
                                       UNIT_WITH_ARENA(neighbours)};
    return cmocka_run_group_tests_name("lower_refusals", tests, NULL, NULL);
}
