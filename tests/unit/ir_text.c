/* SPDX-License-Identifier: Apache-2.0
 * The text form: what the printer writes, that the parser reads it back to the same function, and what both
 * do with text that is wrong. covers: A43 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include <string.h>

/* Text that must come out of print(parse(text)) unchanged. */
static const char whole[] =
    "tir 1\n"
    "\n"
    "function copy[M: int32](A: float32[M, 128], B: float16x2[n] align=16, n: int32, out: handle, q: "
    "float32*global):\n"
    "    launch:\n"
    "        grid = (M, 1, 1)\n"
    "        block = (128, 2, 1)\n"
    "        cluster = (2, 1, 1)\n"
    "        dynamic_smem_bytes = n * 4\n"
    "        min_blocks_per_sm = 2\n"
    "        max_blocks_per_cluster = 8\n"
    "        max_registers = 64\n"
    "        cooperative\n"
    "    alloc As: float32[8, 8] shared layout=S[(8,8):(1,8)]\n"
    "    view V: float32[64] shared = &As[0, 0]\n"
    "    view W: float32x4[16] shared = As.data\n"
    "    alloc r: float32x4[8] local align=16\n"
    "    x: int32 = 0\n"
    "    y: float32\n"
    "    x = x + thread_idx.x * 4\n"
    "    let t: int64 = int64(n) * 3_int64 - -5_int64\n"
    "    for i in serial(8):\n"
    "        if i < n and not (i == 3 or True):\n"
    "            As[i, x % 8] = A[block_idx.x, i] * 2.0\n"
    "        elif i > 5:\n"
    "            continue\n"
    "        else:\n"
    "            break\n"
    "    for i in unroll(4, start=2, step=2):\n"
    "        pass\n"
    "    for j: int64 in vectorized(t, start=0):\n"
    "        pass\n"
    "    for k in pragma_unroll(16, factor=4):\n"
    "        while x < 5:\n"
    "            x = x + 1\n"
    "    block:\n"
    "        cta_sync()\n"
    "        printf(\"%d \\\"x\\\"\\n\\x1b\", x, -(3), -3, ~x, (x + 1) * 2, x - (n - 1))\n"
    "    y = select(x < 3, 1.5, float32(0.1_float16)) + min(0.1, 1e+30) - max(inf, -inf)\n"
    "    V[ramp(x * 4, 1, 4)] = broadcast(y, 4)\n"
    "    r[0] = vector(y, y, 1.0, 2.0)\n"
    "    y = lane(r[0], 3) + reinterpret[float32](x) + float32(nan_bfloat16)\n"
    "    evaluate_me: uint8 = 255_uint8\n"
    "    atomic_add(&A[0, x], 1.0)\n"
    "    y = shuffle_xor(4294967295_uint32, y, 16, 32)\n"
    "    return\n";

static void text_returns(void **state) {
    base_builder out;
    ir_module *module = help_parse(*state, whole, &out);
    assert_non_null(module);
    ir_module_print(module, &out);
    if (strcmp(out.data, whole) != 0)
        fail_msg("printed:\n%s", out.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(text_returns),
    };
    return cmocka_run_group_tests_name("ir_text", tests, NULL, NULL);
}
