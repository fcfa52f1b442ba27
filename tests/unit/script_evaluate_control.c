/* SPDX-License-Identifier: Apache-2.0
 * Loops, branches, jumps, launches and scope ids, to IR text. */
#include "unit/script_help.h"

/* covers: A38 */
static void loops(void **state) {
    BODY("r = T.alloc_local((4,), \"float32\")\n"
         "for k in T.unroll(4):\n"
         "    r[k] = A[k]\n"
         "for i in range(n):\n"
         "    B[i] = r[0]\n"
         "for i in range(2, n):\n"
         "    B[i] = r[1]\n"
         "for i in range(0, 64, 4):\n"
         "    B[i] = r[2]\n"
         "for i in T.serial(2, n, step=3):\n"
         "    B[i] = r[3]\n"
         "for i in T.serial(8, unroll=True):\n"
         "    B[i] = 0.0\n"
         "for i in T.serial(8, unroll=4):\n"
         "    B[i] = 0.0\n"
         "for i in T.serial(8, unroll=False):\n"
         "    B[i] = 0.0\n"
         "for i in T.vectorized(4):\n"
         "    B[i] = A[i]\n"
         "for i, j in T.grid(4, (2, 8)):\n"
         "    B[i * 8 + j] = A[j]\n"
         "for u in T.serial(4, dtype=\"uint32\"):\n"
         "    B[u] = 0.0\n"
         "w: T.int64 = 9\n"
         "for i in range(w):\n"
         "    B[i] = 1.0\n",
         "alloc r: float32[4] local\n"
         "for k in unroll(4):\n"
         "    r[k] = A[k]\n"
         "for i in serial(n):\n"
         "    B[i] = r[0]\n"
         "for i in serial(n - 2, start=2):\n"
         "    B[i] = r[1]\n"
         "for i in serial(64, step=4):\n"
         "    B[i] = r[2]\n"
         "for i in serial(n - 2, start=2, step=3):\n"
         "    B[i] = r[3]\n"
         "for i in pragma_unroll(8):\n"
         "    B[i] = 0.0\n"
         "for i in pragma_unroll(8, factor=4):\n"
         "    B[i] = 0.0\n"
         "for i in pragma_unroll(8, factor=1):\n"
         "    B[i] = 0.0\n"
         "for i in vectorized(4):\n"
         "    B[i] = A[i]\n"
         "for i in serial(4):\n"
         "    for j in serial(8, start=2):\n"
         "        B[i * 8 + j] = A[j]\n"
         "for u: uint32 in serial(4_uint32):\n"
         "    B[u] = 0.0\n"
         "w: int64 = 9_int64\n"
         "let t2: int64 = w\n"
         "for i: int64 in serial(t2):\n"
         "    B[i] = 1.0\n");
}

/* covers: A41 */
static void while_if_break_continue_return(void **state) {
    BODY("s = 0\n"
         "while True:\n"
         "    s += 1\n"
         "    if s == 3:\n"
         "        continue\n"
         "    elif s > 10:\n"
         "        break\n"
         "    else:\n"
         "        pass\n"
         "    for i in range(4):\n"
         "        if A[i] < 0.0:\n"
         "            break\n"
         "    if tx == 0:\n"
         "        return\n"
         "    if tx == 1:\n"
         "        return 0\n",
         "s: int32 = 0\n"
         "while True:\n"
         "    s = s + 1\n"
         "    if s == 3:\n"
         "        continue\n"
         "    elif s > 10:\n"
         "        break\n"
         "    else:\n"
         "        pass\n"
         "    for i in serial(4):\n"
         "        if A[i] < 0.0:\n"
         "            break\n"
         "    if tx == 0:\n"
         "        return\n"
         "    if tx == 1:\n"
         "        return\n");
}

/* a compile-time bool selects, and what the chosen branch binds stays */
static void compile_time_branches(void **state) {
    help_gives(*state,
               "FAST = True\n"
               "MODE = \"b\"\n"
               "@T.function\n"
               "def k(A: T.Tensor((8,), \"float32\")):\n"
               "    if FAST:\n"
               "        step = 2\n"
               "    else:\n"
               "        step = missing(4)\n"
               "    A[step] = 1.0 if MODE == \"b\" and not (MODE != \"b\") else missing\n"
               "    if MODE == \"a\":\n"
               "        A[0] = 1.0\n"
               "    elif MODE == \"b\":\n"
               "        A[0] = 2.0\n",
               NULL,
               "function k(A: float32[8]):\n"
               "    step: int32 = 2\n"
               "    A[step] = 1.0\n"
               "    A[0] = 2.0\n");
    help_gives(*state,
               "FAST = True\n"
               "@T.function\n"
               "def k(A: T.Tensor((8,), \"float32\")):\n"
               "    if FAST:\n"
               "        A[0] = 1.0\n"
               "    else:\n"
               "        A[0] = 2.0\n",
               "FAST=False",
               "function k(A: float32[8]):\n"
               "    A[0] = 2.0\n");
}

/* covers: A25 A32 */
static void launch_of_the_newer_dialects(void **state) {
    help_gives(*state,
               "@Tx.function\n"
               "def k(A: Tx.Tensor((8,), \"float32\"), n: Tx.int32):\n"
               "    with Tx.device_entry(\n"
               "        launch=Tx.cuda.LaunchConfig(grid=(n, 3), block=[32, 2], cluster=(2,), "
               "dynamic_smem_bytes=n * 4, cooperative=True),\n"
               "        options=Tx.cuda.KernelOptions(min_blocks_per_sm=2, max_blocks_per_cluster=4),\n"
               "    ):\n"
               "        x = Tx.cuda.block_idx(\"x\")\n"
               "        y = Tx.cuda.block_idx(\"y\")\n"
               "        z = Tx.cuda.block_idx(\"z\")\n"
               "        A[x + y + z] = 0.0\n",
               NULL,
               "function k(A: float32[8], n: int32):\n"
               "    launch:\n"
               "        grid = (n, 3, 1)\n"
               "        block = (32, 2, 1)\n"
               "        cluster = (2, 1, 1)\n"
               "        dynamic_smem_bytes = n * 4\n"
               "        min_blocks_per_sm = 2\n"
               "        max_blocks_per_cluster = 4\n"
               "        cooperative\n"
               "    let x: int32 = block_idx.x\n"
               "    let y: int32 = block_idx.y\n"
               "    A[x + y] = 0.0\n");
    help_gives(*state,
               "@Tx.function\n"
               "def k(A: Tx.Tensor((8,), \"float32\")):\n"
               "    Tx.device_entry(\n"
               "        launch=Tx.cuda.LaunchConfig(grid=1, block=64),\n"
               "        kernel_attrs=Tx.cuda.KernelAttributes(max_registers_per_thread=64),\n"
               "    )\n"
               "    A[Tx.cuda.thread_idx(\"x\")] = Tx.cuda.block_dim(\"x\") + Tx.cuda.warp_in_warpgroup() + "
               "Tx.cuda.thread_in_warpgroup()\n",
               NULL,
               "function k(A: float32[8]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (64, 1, 1)\n"
               "        max_registers = 64\n"
               "    A[thread_idx.x] = float32(64 + warp_id() % 4 + linear_thread() % 128)\n");
}

static void launch_of_the_older_dialects(void **state) {
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((64,), \"float32\"), n: T.int32):\n"
               "    T.func_attr({\"global_symbol\": \"renamed\", \"tirx.noalias\": True})\n"
               "    T.device_entry()\n"
               "    T.attr({\"tirx.launch_bounds_min_blocks_per_sm\": 2})\n"
               "    bx, by = T.cta_id([n, 4])\n"
               "    tx = T.thread_id([64], dtype=\"uint32\")\n"
               "    w = T.warp_id([2])\n"
               "    lane = T.lane_id([32])\n"
               "    A[bx + by + w + lane] = tx\n",
               NULL,
               "function renamed(A: float32[64], n: int32):\n"
               "    launch:\n"
               "        grid = (n, 4, 1)\n"
               "        block = (64, 1, 1)\n"
               "        min_blocks_per_sm = 2\n"
               "    let bx: int32 = block_idx.x\n"
               "    let by: int32 = block_idx.y\n"
               "    let tx: uint32 = uint32(thread_idx.x)\n"
               "    let w: int32 = warp_id()\n"
               "    let lane_1: int32 = lane_id()\n"
               "    A[bx + by + w + lane_1] = float32(tx)\n");
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((64,), \"float32\")):\n"
               "    T.device_entry()\n"
               "    bx = T.cta_id()\n"
               "    g = T.warpgroup_id([2])\n"
               "    w = T.warp_id_in_wg([4])\n"
               "    t = T.thread_id_in_wg([128])\n"
               "    A[bx + g] = w + t\n",
               NULL,
               "function k(A: float32[64]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (256, 1, 1)\n"
               "    let bx: int32 = block_idx.x\n"
               "    let g: int32 = warp_id() // 4\n"
               "    let w: int32 = warp_id() % 4\n"
               "    let t: int32 = linear_thread() % 128\n"
               "    A[bx + g] = float32(w + t)\n");
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((64,), \"float32\")):\n"
               "    T.device_entry()\n"
               "    w = T.warp_id([4])\n"
               "    t = T.thread_id()\n"
               "    A[w] = t\n",
               NULL,
               "function k(A: float32[64]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (128, 1, 1)\n"
               "    let w: int32 = warp_id()\n"
               "    let t: int32 = thread_idx.x\n"
               "    A[w] = float32(t)\n");
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((64,), \"float32\")):\n"
               "    T.device_entry()\n"
               "    A[0] = 1\n",
               NULL,
               "function k(A: float32[64]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (1, 1, 1)\n"
               "    A[0] = 1.0\n");
}

/* it compiles; the launch is not present */
static void no_device_entry(void **state) {
    help_gives(*state,
               "@T.function\n"
               "def k(A: T.Tensor((8,), \"float32\")):\n"
               "    \"\"\"A kernel whose launch is given when it is run.\"\"\"\n"
               "    A[T.cuda.thread_idx(\"x\")] = T.cuda.block_idx(\"x\")\n",
               NULL,
               "function k(A: float32[8]):\n"
               "    A[thread_idx.x] = float32(block_idx.x)\n");
}

/* a name bound in a block of the kernel ends with it; one from before is assigned */
static void names_of_blocks(void **state) {
    BODY("if n > 1:\n"
         "    inner = 1\n"
         "    C[0] = inner\n"
         "else:\n"
         "    inner = 2.5\n"
         "    B[0] = inner\n"
         "for i in range(2):\n"
         "    inner = i\n"
         "    C[i] = inner\n"
         "outer = 0\n"
         "if n > 2:\n"
         "    outer = 3\n"
         "C[1] = outer\n",
         "if n > 1:\n"
         "    inner: int32 = 1\n"
         "    C[0] = inner\n"
         "else:\n"
         "    inner: float32 = 2.5\n"
         "    B[0] = inner\n"
         "for i in serial(2):\n"
         "    inner: int32 = i\n"
         "    C[i] = inner\n"
         "outer: int32 = 0\n"
         "if n > 2:\n"
         "    outer = 3\n"
         "C[1] = outer\n");
}

static void assertions(void **state) {
    BODY("assert n < 8, \"n is small\"\n"
         "assert tx < 64\n"
         "assert 3 < 4, \"never said\"\n"
         "assert n > 0, (\"ValueError\", [\"n is \", \"positive\"])\n"
         "T.static_assert(64 % 8 == 0, \"whole\")\n"
         "T.cuda.trap_when_assert_failed(n != 3)\n",
         "trap_unless(n < 8, \"n is small\")\n"
         "trap_unless(tx < 64)\n"
         "trap_unless(n > 0, \"n is positive\")\n"
         "trap_unless(n != 3)\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(loops),
        UNIT_WITH_ARENA(while_if_break_continue_return),
        UNIT_WITH_ARENA(compile_time_branches),
        UNIT_WITH_ARENA(launch_of_the_newer_dialects),
        UNIT_WITH_ARENA(launch_of_the_older_dialects),
        UNIT_WITH_ARENA(no_device_entry),
        UNIT_WITH_ARENA(names_of_blocks),
        UNIT_WITH_ARENA(assertions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
