/* SPDX-License-Identifier: Apache-2.0
 * Tensors and memory: the constructs of the first document's listings, written afresh, to IR text. */
#include "unit/script_help.h"

/* covers: A1 A3 A6 A14 A25 A77 */
static void static_shared_memory(void **state) {
    help_gives(*state,
               "@Tx.function\n"
               "def staged(X: Tx.Tensor((64,), \"float32\"), Y: Tx.Tensor((64,), \"float32\")):\n"
               "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))\n"
               "    block = Tx.cuda.block_idx(\"x\")\n"
               "    thread = Tx.cuda.thread_idx(\"x\")\n"
               "    tile = Tx.alloc_shared((64,), \"float32\")\n"
               "    tile[thread] = X[block * 64 + thread]\n"
               "    Tx.cuda.cta_sync()\n"
               "    Y[thread] = tile[63 - thread] * Tx.float32(3.0)\n",
               NULL,
               "function staged(X: float32[64], Y: float32[64]):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (64, 1, 1)\n"
               "    let thread: int32 = thread_idx.x\n"
               "    alloc tile: float32[64] shared\n"
               "    tile[thread] = X[thread]\n"
               "    cta_sync()\n"
               "    Y[thread] = tile[63 - thread] * 3.0\n");
}

/* covers: A2 A7 A11 A13 A15 */
static void free_names_from_the_command_line(void **state) {
    help_gives(*state,
               "@Tx.function\n"
               "def shapes(X: Tx.Tensor((ROWS, COLS), \"float16\", align=32)):\n"
               "    tile = Tx.alloc_shared((ROWS // 4, TILE), \"float16\")\n"
               "    part = Tx.alloc_local((4,), \"float32\")\n"
               "    same = Tx.decl_tensor(tile.data, ty_args=[Tx.Tensor((ROWS // 4, TILE), \"float16\", "
               "scope=\"shared\")])\n",
               "ROWS=64 COLS=32 TILE=COLS*2",
               "function shapes(X: float16[64, 32] align=32):\n"
               "    alloc tile: float16[16, 64] shared\n"
               "    alloc part: float32[4] local\n"
               "    view same: float16[16, 64] shared = tile.data\n");
}

/* covers: A12 A16 A20 A22 */
static void four_layouts(void **state) {
    help_gives(*state,
               "from tvm_tirx.tirx.layout import TileLayout, S\n"
               "@Tx.function\n"
               "def add(X: Tx.Tensor((4, 8), \"float32\"), Y: Tx.Tensor((4, 8), \"float32\")):\n"
               "    for i, j in Tx.grid(4, 8):\n"
               "        Y[i, j] = X[i, j] + 1\n",
               NULL,
               "function add(X: float32[4, 8], Y: float32[4, 8]):\n"
               "    for i in serial(4):\n"
               "        for j in serial(8):\n"
               "            Y[i, j] = X[i, j] + 1.0\n");
    help_gives(*state,
               "from tvm_tirx.tirx.layout import TileLayout, S\n"
               "@Tx.function\n"
               "def add(X: Tx.Tensor((4, 8), \"float32\"), Y: Tx.Tensor((4, 8), \"float32\", "
               "layout=TileLayout(S[(4, 8) : (1, 4)]))):\n"
               "    for i, j in Tx.grid(4, 8):\n"
               "        Y[i, j] = X[i, j] + 1\n",
               NULL,
               "function add(X: float32[4, 8], Y: float32[4, 8] layout=S[(4,8):(1,4)]):\n"
               "    for i in serial(4):\n"
               "        for j in serial(8):\n"
               "            Y[i, j] = X[i, j] + 1.0\n");
    help_gives(*state,
               "from tvm_tirx.tirx.layout import TileLayout, S\n"
               "@Tx.function\n"
               "def add(X: Tx.Tensor((4, 8), \"float32\"), Y: Tx.Tensor((4, 8), \"float32\", "
               "layout=TileLayout(S[(4, 8)] + 64))):\n"
               "    for i, j in Tx.grid(4, 8):\n"
               "        Y[i, j] = X[i, j] + 1\n",
               NULL,
               "function add(X: float32[4, 8], Y: float32[4, 8] layout=S[(4,8):(8,1)]+64):\n"
               "    for i in serial(4):\n"
               "        for j in serial(8):\n"
               "            Y[i, j] = X[i, j] + 1.0\n");
    help_gives(*state,
               "from tvm_tirx.tirx.layout import TileLayout, S\n"
               "@Tx.function\n"
               "def add(X: Tx.Tensor((4, 8), \"float32\"), Y: Tx.Tensor((4, 8), \"float32\", "
               "layout=TileLayout(S[(4, 8) : (16, 1)]))):\n"
               "    for i, j in Tx.grid(4, 8):\n"
               "        Y[i, j] = X[i, j] + 1\n",
               NULL,
               "function add(X: float32[4, 8], Y: float32[4, 8] layout=S[(4,8):(16,1)]):\n"
               "    for i in serial(4):\n"
               "        for j in serial(8):\n"
               "            Y[i, j] = X[i, j] + 1.0\n");
    help_gives(
        *state,
        "from tvm_tirx.tirx.layout import TileLayout, S\n"
        "@Tx.function\n"
        "def add(X: Tx.Tensor((4, 8), \"float32\"), Y: Tx.Tensor((4, 8), \"float32\", layout=\"default\")):\n"
        "    for i, j in Tx.grid(4, 8):\n"
        "        Y[i, j] = X[i, j] + 1\n",
        NULL,
        "function add(X: float32[4, 8], Y: float32[4, 8]):\n"
        "    for i in serial(4):\n"
        "        for j in serial(8):\n"
        "            Y[i, j] = X[i, j] + 1.0\n");
}

/* covers: A7 A9 A27 A28 */
static void dynamic_arena_with_views(void **state) {
    help_gives(
        *state,
        "@Tx.function\n"
        "def pair(X: Tx.Tensor((32,), \"float32\"), Y: Tx.Tensor((32,), \"float32\")):\n"
        "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,), dynamic_smem_bytes=512))\n"
        "    t = Tx.cuda.thread_idx(\"x\")\n"
        "    bytes = Tx.alloc_tensor(ty_args=[Tx.Tensor((64,), \"float32\", scope=\"shared.dyn\")])\n"
        "    low = Tx.decl_tensor(bytes.data, ty_args=[Tx.Tensor((32,), \"float32\", "
        "scope=\"shared.dyn\")])\n"
        "    high = Tx.decl_tensor(\n"
        "        bytes.data,\n"
        "        ty_args=[Tx.Tensor((32,), \"float32\", scope=\"shared.dyn\", "
        "layout=Tx.TileLayout(Tx.S[(32,)] + 32))],\n"
        "    )\n"
        "    low[t] = X[t]\n"
        "    high[t] = low[t]\n"
        "    Y[t] = low[31 - t] + high[t]\n",
        NULL,
        "function pair(X: float32[32], Y: float32[32]):\n"
        "    launch:\n"
        "        grid = (1, 1, 1)\n"
        "        block = (32, 1, 1)\n"
        "        dynamic_smem_bytes = 512\n"
        "    let t: int32 = thread_idx.x\n"
        "    alloc bytes: float32[64] shared.dyn\n"
        "    view low: float32[32] shared.dyn = bytes.data\n"
        "    view high: float32[32] shared.dyn layout=S[32:1]+32 = bytes.data\n"
        "    low[t] = X[t]\n"
        "    high[t] = low[t]\n"
        "    Y[t] = low[31 - t] + high[t]\n");
}

/* covers: A6 A14 A37 */
static void every_spelling_of_an_allocation(void **state) {
    BODY("a = T.alloc_tensor((8,), \"float32\", scope=\"shared\")\n"
         "b = T.alloc_buffer((8,), \"float32\", scope=\"shared\")\n"
         "c = T.alloc_shared(8, \"float32\")\n"
         "d = T.smem((8,), \"float32\")\n"
         "e = T.alloc_tensor(ty_args=[T.Tensor((8,), \"float32\", scope=\"local\", align=16)])\n"
         "f = T.alloc_buffer([8], T.float32, scope=\"local\")\n"
         "g = T.alloc_local((8,))\n"
         "h = T.alloc_local((2,), \"float32x4\", layout=T.TileLayout(T.S[(2,) : (3,)]))\n"
         "q: T.f32[2, 4]\n",
         "alloc a: float32[8] shared\n"
         "alloc b: float32[8] shared\n"
         "alloc c: float32[8] shared\n"
         "alloc d: float32[8] shared\n"
         "alloc e: float32[8] local align=16\n"
         "alloc f: float32[8] local\n"
         "alloc g: float32[8] local\n"
         "alloc h: float32x4[2] local layout=S[2:3]\n"
         "alloc q: float32[2, 4] local\n");
}

/* covers: A9 A18 A24 A71 */
static void declarations_over_pointer_expressions(void **state) {
    BODY("s = T.alloc_shared((128,), \"uint8\")\n"
         "a = T.decl_tensor((8,), \"float32\", data=s.data, scope=\"shared\")\n"
         "b = T.decl_tensor(T.ptr_byte_offset(s.data, 64, ty=\"float32\"), ty_args=[T.Tensor((8,), "
         "\"float32\", scope=\"shared\")])\n"
         "p = T.handle_add_byte_offset(s.data, tx * 4)\n"
         "c = T.decl_tensor((1,), \"float32\", data=p)\n"
         "d = T.decl_buffer((4, 4), \"float32\", data=s.ptr_to([32]), scope=\"shared\")\n"
         "e = T.decl_buffer((4, 4), \"float32\", data=s.data, strides=(8, 1), elem_offset=2, "
         "scope=\"shared\")\n"
         "f = T.decl_buffer((4,), \"float16\", data=A.data, byte_offset=6)\n"
         "g = T.decl_scalar(\"float32\", A.data, \"global\", 3)\n"
         "g = a[tx % 8] + b[0]\n",
         "alloc s: uint8[128] shared\n"
         "view a: float32[8] shared = s.data\n"
         "view b: float32[8] shared = pointer_offset[float32*shared](s.data, 64)\n"
         "let p: handle*shared = pointer_offset[handle*shared](s.data, tx * 4)\n"
         "view c: float32[1] shared = p\n"
         "view d: float32[4, 4] shared = &s[32]\n"
         "view e: float32[4, 4] shared layout=S[(4,4):(8,1)]+2 = s.data\n"
         "view f: float16[4] layout=S[4:1]+3 = A.data\n"
         "view g: float32[1] layout=S[1:1]+3 = A.data\n"
         "g[0] = a[tx % 8] + b[0]\n");
}

/* covers: A1 A10 */
static void buffers_of_the_older_dialects(void **state) {
    help_gives(*state,
               "from tvm.script import tirx as T\n"
               "@T.prim_func(private=True, persistent=False)\n"
               "def old(a: T.handle, B: T.Buffer((16,), \"float4_e2m1fn\", align=16), O: T.Buffer[(4, 4), "
               "\"int8\"], c: T.handle, d: T.handle(\"int32\")):\n"
               "    n = T.int32()\n"
               "    A = T.match_buffer(a, (n, 16), \"bfloat16\")\n"
               "    C = T.match_buffer(c, (n,), \"float8_e4m3fn\", strides=None, offset_factor=1)\n"
               "    T.device_entry()\n"
               "    bx = T.cta_id([n])\n"
               "    tx = T.thread_id([16])\n"
               "    D = T.decl_buffer((n,), \"int32\", data=d)\n"
               "    D[bx] = T.cast(A[bx, tx], \"int32\")\n",
               NULL,
               "function old(A: bfloat16[n, 16], B: float4_e2m1fn[16] align=16, O: int8[4, 4], C: "
               "float8_e4m3fn[n], d: int32*global, n: int32):\n"
               "    launch:\n"
               "        grid = (n, 1, 1)\n"
               "        block = (16, 1, 1)\n"
               "    let bx: int32 = block_idx.x\n"
               "    let tx: int32 = thread_idx.x\n"
               "    view D: int32[n] = d\n"
               "    D[bx] = int32(A[bx, tx])\n");
}

/* covers: A11 */
static void sizes_known_at_launch(void **state) {
    help_gives(*state,
               "n = Tx.int32()\n"
               "m = Tx.dynamic(\"m\")\n"
               "@Tx.function\n"
               "def sized[q](X: Tx.Tensor((n, m), \"float32\"), Y: Tx.Tensor((\"rows\", q), \"float32\"), k: "
               "Tx.int64):\n"
               "    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(n + 1, m // 32), block=32))\n"
               "    x = Tx.cuda.block_idx(\"x\")\n"
               "    Y[x, 0] = X[x, k] + rows\n",
               NULL,
               "function sized(X: float32[n, m], Y: float32[rows, q], k: int64, n: int32, m: int32, rows: "
               "int32, q: int32):\n"
               "    launch:\n"
               "        grid = (n + 1, m // 32, 1)\n"
               "        block = (32, 1, 1)\n"
               "    let x: int32 = block_idx.x\n"
               "    Y[x, 0] = X[x, k] + float32(rows)\n");
    help_gives(*state,
               "def width(n):\n"
               "    return n * 2\n"
               "n = Tx.dynamic(\"n\")\n"
               "@Tx.function\n"
               "def fixed(X: Tx.Tensor((n, width(n)), \"float32\")):\n"
               "    X[n - 1, 0] = 0.0\n",
               "n=8",
               "function fixed(X: float32[8, 16]):\n"
               "    X[7, 0] = 0.0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(static_shared_memory),
        UNIT_WITH_ARENA(free_names_from_the_command_line),
        UNIT_WITH_ARENA(four_layouts),
        UNIT_WITH_ARENA(dynamic_arena_with_views),
        UNIT_WITH_ARENA(every_spelling_of_an_allocation),
        UNIT_WITH_ARENA(declarations_over_pointer_expressions),
        UNIT_WITH_ARENA(buffers_of_the_older_dialects),
        UNIT_WITH_ARENA(sizes_known_at_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
