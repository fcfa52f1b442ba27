/* SPDX-License-Identifier: Apache-2.0
 * Layouts that scripts name: swizzles, shared operands of every width and mode, tensor memory and fragments.
 * The right values are written in the scripts as plain formulas of the PTX documents. */
#include "unit/script_help.h"

#define KERNEL                                                                                               \
    "@T.function\n"                                                                                          \
    "def k(A: T.Tensor((4,), \"float32\")):\n"                                                               \
    "    A[0] = 1.0\n"
#define KERNEL_TEXT                                                                                          \
    "function k(A: float32[4]):\n"                                                                           \
    "    A[0] = 1.0\n"

static void holds(void **state, const char *script) {
    help_gives(*state, base_arena_format(*state, "%s%s", script, KERNEL), NULL, KERNEL_TEXT);
}

/* Every width and mode, elements sampled, against the XOR of byte address bits 4-6 by 7-9 (128B), 4-5 by 7-8
 * (64B), 4 by 7 (32B). covers: A12 A16 A17 */
static void shared_operands(void **state) {
    holds(
        state,
        "from tvm_tirx.backend.cuda.layout import mma_shared_layout, SwizzleMode, mma_atom_shape\n"
        "modes = [SwizzleMode.SWIZZLE_NONE, SwizzleMode.SWIZZLE_32B_ATOM, SwizzleMode.SWIZZLE_64B_ATOM, "
        "SwizzleMode.SWIZZLE_128B_ATOM]\n"
        "def place(bits, mode, rows, columns, lead, r, c):\n"
        "    width = 128 // bits\n"
        "    if mode > 0:\n"
        "        width = (128 << mode) // bits\n"
        "    linear = (lead * rows * columns + (c // width) * rows * width + r * width + c % width)\n"
        "    whole = linear * bits // 8\n"
        "    flipped = whole ^ (((whole >> 7) & ((1 << mode) - 1)) << 4)\n"
        "    return flipped * 8 // bits + linear * bits % 8 // bits\n"
        "def check(dtype, bits, mode):\n"
        "    rows = 24\n"
        "    columns = 2 * 1024 // bits * 2\n"
        "    L = mma_shared_layout(dtype, mode, (3, rows, columns))\n"
        "    assert L.size() == 3 * rows * columns\n"
        "    for i in range(0, 3 * rows * columns, 61):\n"
        "        l = i // (rows * columns)\n"
        "        r = i // columns % rows\n"
        "        c = i % columns\n"
        "        got = L.apply(l, r, c, shape=(3, rows, columns))[\"m\"]\n"
        "        assert got == place(bits, mode, rows, columns, l, r, c), f\"{dtype} {mode} {r} {c} {got}\"\n"
        "    if mode > 0:\n"
        "        assert mma_atom_shape(dtype, mode) == [8, (128 << mode) // bits]\n"
        "    return True\n"
        "for mode in modes:\n"
        "    check(\"float4_e2m1fn\", 4, mode)\n"
        "    check(\"float8_e4m3fn\", 8, mode)\n"
        "    check(\"float8_e5m2\", 8, mode)\n"
        "    check(\"float8_e8m0fnu\", 8, mode)\n"
        "    check(\"int8\", 8, mode)\n"
        "    check(\"uint8\", 8, mode)\n"
        "    check(\"float16\", 16, mode)\n"
        "    check(\"bfloat16\", 16, mode)\n"
        "    check(\"float32\", 32, mode)\n"
        "    check(\"int32\", 32, mode)\n"
        "    check(\"float64\", 64, mode)\n");
}

/* "auto" is the widest mode whose atom divides the row. covers: A36 */
static void auto_is_widest(void **state) {
    holds(state,
          "def text(dtype, columns):\n"
          "    return str(T.mma_shared_layout(dtype, \"auto\", (16, columns)))\n"
          "assert text(\"float16\", 64) == str(T.mma_shared_layout(\"float16\", 3, (16, 64)))\n"
          "assert text(\"float16\", 192) == str(T.mma_shared_layout(\"float16\", \"128B\", (16, 192)))\n"
          "assert text(\"float16\", 96) == str(T.mma_shared_layout(\"float16\", 2, (16, 96)))\n"
          "assert text(\"float16\", 48) == str(T.mma_shared_layout(\"float16\", 1, (16, 48)))\n"
          "assert text(\"float16\", 24) == str(T.mma_shared_layout(\"float16\", \"none\", (16, 24)))\n"
          "assert text(\"float32\", 32) == str(T.mma_shared_layout(\"float32\", 3, (16, 32)))\n"
          "assert text(\"int8\", 64) == str(T.mma_shared_layout(\"int8\", 2, (16, 64)))\n"
          "assert text(\"float4_e2m1fn\", 64) == str(T.mma_shared_layout(\"float4_e2m1fn\", 1, (16, 64)))\n");
}

/* One construction, three spellings; the bare swizzle takes its domain from the tensor. covers: A12 */
static void compositions(void **state) {
    help_gives(*state,
               "tile = TileLayout(S[(8, 64) : (64, 1)])\n"
               "Z = T.ComposeLayout(3, 3, 3, tile)\n"
               "assert str(Z) == str(T.ComposeLayout(T.SwizzleLayout(3, 3, 3), tile))\n"
               "assert str(Z) == str(T.ComposeLayout(per_element=3, swizzle_len=3, atom_len=3, "
               "tile_layout=S[(8, 64)], swizzle_inner=True))\n"
               "assert T.mma_atom_layout(\"float16\", 3).apply(64)[\"m\"] == 72\n"
               "assert Z.apply(3, 17, shape=(8, 64))[\"m\"] == 3 * 64 + (17 ^ 24)\n"
               "assert Z.span(\"m\") == 512 and Z.footprint() == 512\n"
               "outer = T.ComposeLayout(0, 1, 2, S[(8,)], False)\n"
               "assert [outer.apply(i)[\"m\"] for i in range(8)] == [0, 5, 2, 7, 4, 1, 6, 3]\n"
               "@T.function\n"
               "def k(A: T.Tensor((16, 64), \"float16\"), i: T.int32):\n"
               "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))\n"
               "    a = T.alloc_shared((16, 64), \"float16\", layout=T.SwizzleLayout(3, 3, 3))\n"
               "    b = T.alloc_shared((8, 64), \"float16\", layout=Z, align=128)\n"
               "    c = a.view(2, 8, 64)\n"
               "    A[0, 0] = Z.apply(i, 5, shape=(8, 64))[\"m\"]\n",
               NULL,
               "function k(A: float16[16, 64], i: int32):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (1, 1, 1)\n"
               "    alloc a: float16[16, 64] shared align=1024 layout=Z(3,3,3)*S[(16,64):(64,1)]\n"
               "    alloc b: float16[8, 64] shared align=128 layout=Z(3,3,3)*S[(8,64):(64,1)]\n"
               "    view c: float16[2, 8, 64] shared align=1024 layout=Z(3,3,3)*S[(16,64):(64,1)] = a.data\n"
               "    A[0, 0] = float16(i * 64 + 5 ^ i * 64 + 5 >> 3 & 56)\n");
}

/* Datapaths, operands, scale factors, copies, atoms and fragments. covers: A12 B6 B26 */
static void tensor_memory_and_fragments(void **state) {
    holds(state,
          "def at(L, shape, *x):\n"
          "    return L.apply(*x, shape=shape)\n"
          "for c in range(0, 64, 5):\n"
          "    for r in range(0, 64, 7):\n"
          "        d = at(T.tmem_datapath_layout(\"F\", 64, 64, 1), (64, 64), r, c)\n"
          "        assert d[\"TLane\"] == 32 * (r // 16) + 16 + r % 16 and d[\"TCol\"] == c\n"
          "        d = at(T.tmem_datapath_layout(\"B\", rows=64, cols=64), (64, 64), r, c)\n"
          "        assert d[\"TLane\"] == r + 64 * (c // 32) and d[\"TCol\"] == c % 32\n"
          "        w = at(T.tcgen05_atom_layout(\"32x32b\", (128, 64), \"float32\"), (128, 64), r, c)\n"
          "        assert w[\"tid_in_wg\"] == r and w[\"m\"] == c\n"
          "        w = at(T.tcgen05_atom_layout(\".16x256b\", (64, 64), T.float32), (64, 64), r, c)\n"
          "        assert w[\"wid_in_wg\"] == r // 16 and w[\"laneid\"] == 4 * (r % 8) + c % 8 // 2\n"
          "        assert w[\"m\"] == c % 2 + 2 * (r % 16 // 8) + 4 * (c // 8)\n"
          "        g = at(T.fragment_layout(\"wgmma.m64n64\"), (64, 64), r, c)\n"
          "        assert g[\"wid_in_wg\"] == r // 16 and g[\"m\"] == 4 * (c // 8) + 2 * (r % 16 // 8) + c % "
          "2\n"
          "        assert g[\"laneid\"] == 4 * (r % 8) + c % 8 // 2\n"
          "assert str(T.wg_local_layout(32)) == \"S[(128,32):(1@tid_in_wg,1)]\"\n"
          "assert str(T.tmem_mma_operand_layout(\"D\", (128, 256), \"float32\", M=128, cta_group=1)) == "
          "str(T.tmem_datapath_layout(\"D\", 128, 256))\n"
          "assert str(T.tmem_mma_operand_layout(\"D\", (2, 64, 16), T.float32, M=128, cta_group=2)) == "
          "\"S[(128,16):(1@TLane,1@TCol)]\"\n"
          "assert str(T.sf_tmem_layout(128, 4, 4)) == \"S[(4,32,4):(4@TCol,1@TLane,1@TCol)]+R[4:32@TLane]\"\n"
          "s = T.sf_smem_layout(256, 8, 1, sf_reuse=2, pipe_depth=3)\n"
          "for m in range(0, 256, 17):\n"
          "    for f in range(8):\n"
          "        byte = 512 * (m // 128 * 2 + f // 4) + 16 * (m % 32) + 4 * (m % 128 // 32) + f % 4\n"
          "        assert at(s, (3, 256, 8, 2), 1, m, f, 1)[\"m\"] == 2048 + byte\n"
          "assert str(T.tcgen05_cp_layout(\"64x128b\", 4, \"warpx2::02_13\")) == "
          "\"S[(64,4):(1@TLane,1@TCol)]+R[2:64@TLane]\"\n"
          "assert at(T.fragment_layout(\"mma.m16n8.D\"), (16, 8), 9, 3)[\"laneid\"] == 5\n"
          "assert at(T.fragment_layout(\"ldmatrix.x4\"), (8, 32), 3, 13)[\"laneid\"] == 14\n");
}

/* Refusals say which number does not fit and what would. covers: A22 */
static void refusals(void **state) {
    SAYS(
        "a = T.mma_shared_layout(\"float16\", 3, (128, 32))\n"
        "b = T.mma_shared_layout(\"bfloat16\", \"128B\", (12, 64))\n"
        "c = T.mma_shared_layout(\"bfloat16\", \"auto\", (64,))\n"
        "d = T.mma_shared_layout(\"float16\", \"256B\", (8, 64))\n"
        "e = T.mma_shared_layout(\"float16\", 4, (8, 64))\n"
        "f = T.mma_shared_layout(\"float16x2\", 3, (8, 64))\n"
        "g = T.ComposeLayout(3, 3, 2, S[(512,)])\n"
        "h = T.ComposeLayout(3, 3, 3, S[(8, 4) : (1 @ laneid, 1)])\n"
        "i = T.ComposeLayout(3, 3, 3)\n"
        "j = T.ComposeLayout(TileLayout(S[8]), TileLayout(S[8]))\n"
        "k = T.SwizzleLayout(3, 3, 41)\n"
        "l = T.tmem_datapath_layout(\"H\", 128, 32)\n"
        "m = T.tmem_datapath_layout(\"B\", 128, 32)\n"
        "n = T.tmem_datapath_layout(\"D\", 128, 8, 1)\n"
        "o = T.tcgen05_atom_layout(\"16x512b\", (64, 8), \"float32\")\n"
        "p = T.tcgen05_atom_layout(\"32x32b\", (64, 6), \"float32\")\n"
        "q = T.fragment_layout(\"mma.m16n8.Q\")\n"
        "r = T.sf_tmem_layout(100, 4, 4)\n"
        "s = T.tcgen05_cp_layout(\"64x128b\", 4)\n"
        "t = T.wg_local_layout(8, 129)\n"
        "u = T.mma_atom_layout(\"float16\", \"auto\")\n"
        "v = T.SwizzleMode.SWIZZLE_256B_ATOM\n",
        "1:5 T0214 a row of 32 elements of 16 bits is 64 bytes, but the 128B swizzle needs a multiple of 128 "
        "bytes (64 elements); the widest mode that fits is 64B",
        "2:5 T0214 dimension 0 has 12 rows, but a swizzle atom has 8", "3:5 T0214 at least 2 dimensions",
        "4:36 T0205 '256B' is no swizzle mode", "5:36 T0205 4 is no swizzle mode",
        "6:25 T0230 the elements of an operand are scalars, not float16x2",
        "7:5 T0214 a swizzle of length 3 needs an atom length of at least 3, not 2",
        "8:5 T0214 a swizzle works on axis m only, but shard iter 0 of its tile, 8:1@laneid, is on laneid",
        "9:5 T0203 ComposeLayout needs its swizzle and the layout below it",
        "10:21 T0205 ComposeLayout begins with a swizzle, not with S[8:1]",
        "11:27 T0214 atom_len of SwizzleLayout is from 0 to 40, not 41",
        "12:5 T0214 there is no datapath 'H'", "13:5 T0214 datapath B has 64 rows per CTA, not 128",
        "14:5 T0214 datapath D has no sub-slab 1", "15:27 T0214 tcgen05.ld and st have no shape '16x512b'",
        "16:5 T0214 tcgen05_atom_layout gives no layout", "17:5 T0214 there is no fragment 'mma.m16n8.Q'",
        "18:5 T0214 scale factors have rows in multiples of 32, not 100",
        "19:5 T0214 tcgen05.cp has no form 64x128b", "20:5 T0214 a warpgroup has 128 threads",
        "21:5 T0214 no swizzle atom of mode auto", "22:19 T0202 'SwizzleMode' has no word");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(shared_operands), UNIT_WITH_ARENA(auto_is_widest),
        UNIT_WITH_ARENA(compositions),    UNIT_WITH_ARENA(tensor_memory_and_fragments),
        UNIT_WITH_ARENA(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
