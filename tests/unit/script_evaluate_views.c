/* SPDX-License-Identifier: Apache-2.0
 * What a tensor variable offers: views, pointers, attributes, vectors, regions, positions of layouts. */
#include "unit/script_help.h"

/* covers: A60 A61 A67 A70 */
static void views_keep_the_pointer(void **state) {
    BODY("V = A.view(16, 4)\n"
         "W = V.view(4, -1)\n"
         "P = V.permute(1, 0)\n"
         "Q = P.view(64)\n"
         "U = A.ty.view(A, 8, 8)\n"
         "M = A.ty.__expr_methods__[\"view\"](A, 2, 32)\n"
         "B[tx] = V[tx % 16, 0] + V[tx % 16, 3] + W[3, 15] + P[3, 1] + Q[tx] + U[7, 7] + M[1, 2]\n",
         "view V: float32[16, 4] = A.data\n"
         "view W: float32[4, 16] = A.data\n"
         "view P: float32[4, 16] layout=S[(4,16):(1,4)] = A.data\n"
         "view Q: float32[64] layout=S[(4,16):(1,4)] = A.data\n"
         "view U: float32[8, 8] = A.data\n"
         "view M: float32[2, 32] = A.data\n"
         "B[tx] = V[tx % 16, 0] + V[tx % 16, 3] + W[3, 15] + P[3, 1] + Q[tx] + U[7, 7] + M[1, 2]\n");
}

/* an origin stays with the mapping and goes with an explicit layout covers: A9 A11 A61 */
static void views_of_declarations(void **state) {
    BODY("s = T.alloc_shared((128,), \"uint8\")\n"
         "p = s.ptr_to([64])\n"
         "d = T.decl_tensor((16,), \"float32\", data=p, layout=T.TileLayout(T.S[(16,)] + 4))\n"
         "v = d.view(4, 4)\n"
         "w = v.view(20, layout=\"default\")\n"
         "x = v.permute(1, 0)\n"
         "x[0, 3] = w[19]\n",
         "alloc s: uint8[128] shared\n"
         "let p: uint8*shared = &s[64]\n"
         "view d: float32[16] shared layout=S[16:1]+4 = p\n"
         "view v: float32[4, 4] shared layout=S[16:1]+4 = p\n"
         "view w: float32[20] shared = p\n"
         "view x: float32[4, 4] shared layout=S[(4,4):(1,4)]+4 = p\n"
         "x[0, 3] = w[19]\n");
}

/* covers: A60 */
static void reinterpreting_views(void **state) {
    BODY("h = A.view(\"float16\")\n"
         "d = A.view(\"float64\")\n"
         "g = A.view(\"float32x4\")\n"
         "s = T.alloc_shared((4, 8), \"float32\", layout=T.TileLayout(T.S[(4, 8) : (16, 1)]))\n"
         "b = s.view(\"uint16\")\n"
         "h[127] = T.cast(d[31], \"float16\")\n"
         "b[3, 15] = T.uint16(1)\n",
         "view h: float16[128] = A.data\n"
         "view d: float64[32] = A.data\n"
         "view g: float32x4[16] = A.data\n"
         "alloc s: float32[4, 8] shared layout=S[(4,8):(16,1)]\n"
         "view b: uint16[4, 16] shared layout=S[(4,8,2):(32,2,1)] = s.data\n"
         "h[127] = float16(d[31])\n"
         "b[3, 15] = 1_uint16\n");
}

/* covers: A62 A63 A64 A66 A67 */
static void attributes(void **state) {
    BODY("assert A.dtype == \"float32\" and A.ty.dtype.dtype == A.dtype and A.ty.dtype == T.float32\n"
         "assert A.shape == (64,) and A.ty.shape == (64,) and A.scope() == \"global\" and A.ty.scope == "
         "\"global\"\n"
         "assert A.data.ty.storage_scope == \"global\" and A.data.ty.element_type == T.float32\n"
         "assert str(A.layout) == \"S[64:1]\" and A.ty.align == 64\n"
         "assert \"data\" in A.ty.__expr_properties__ and \"ptr_to\" in A.ty.__expr_methods__\n"
         "assert not (\"data\" in A.ty.__expr_methods__)\n"
         "assert tx.dtype == \"int32\" and (A[tx] * 2).ty == T.float32 and tx.dtype.bits == 32\n"
         "fetch = A.view\n"
         "A.view\n"
         "p = T.ptr_byte_offset(A.data, 16 * tx, ty=A.data.ty)\n"
         "v = T.decl_tensor((4,), A.dtype, data=p)\n"
         "c = T.cast(n, B.dtype)\n",
         "let p: float32*global = pointer_offset(A.data, 16 * tx)\n"
         "view v: float32[4] = p\n"
         "c: float32 = float32(n)\n");
}

/* failure case A21: the address of a vector is that of its first lane covers: A5 A68 A71 */
static void element_pointers(void **state) {
    BODY("pool = T.alloc_shared((256,), \"uint8\")\n"
         "typed = T.decl_tensor((32,), \"float32\", data=pool.data)\n"
         "p = typed.ptr_to([tx % 32])\n"
         "q = A.ptr_to([tx])\n"
         "r = T.address_of(B[tx + 1])\n"
         "s = T.address_of(A)\n"
         "t = T.address_of(B[T.Ramp(4, 1, 2)])\n"
         "u = A.data\n"
         "k = T.local_scalar(\"int32\")\n"
         "w = T.address_of(k)\n"
         "o = T.alloc_shared((1,), \"uint32\")\n"
         "x = T.address_of(o)\n",
         "alloc pool: uint8[256] shared\n"
         "view typed: float32[32] shared = pool.data\n"
         "let p: float32*shared = &typed[tx % 32]\n"
         "let q: float32*global = &A[tx]\n"
         "let r: float32*global = &B[tx + 1]\n"
         "let s: float32*global = &A[0]\n"
         "let t: float32*global = &B[4]\n"
         "let u: float32*global = A.data\n"
         "k: int32\n"
         "let w: int32*local = &k\n"
         "alloc o: uint32[1] shared\n"
         "let x: uint32*shared = &o[0]\n");
}

/* failure case G12: the wide access keeps its shape in the IR covers: A69 */
static void vector_accesses(void **state) {
    BODY("B[T.Ramp(tx * 4, 1, 4)] = A[T.Ramp(tx * 4, 1, 4)]\n"
         "B[T.ramp(tx, 2, 2)] = A[T.Ramp(0, 1, 2)] * 2 + T.Broadcast(T.float32(1), 2)\n"
         "B[0:4] = A[4:8]\n"
         "B[0:8:2] = 0.0\n"
         "x = A.vload([tx * 4], \"float32x4\")\n"
         "B.vstore([tx * 4], x)\n"
         "B[tx] = x[0][3] + A[T.Ramp(0, 1, 4)][1]\n"
         "g = T.alloc_local((2,), \"float32x2\")\n"
         "g[1] = A[T.Ramp(0, 1, 2)]\n"
         "y = A[T.Ramp(0, 1, 4)] < B[T.Ramp(0, 1, 4)]\n"
         "B[T.Ramp(0, 1, 4)] = T.Select(y, A[T.Ramp(0, 1, 4)], 1.0)\n",
         "B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4, 1, 4)]\n"
         "B[ramp(tx, 2, 2)] = A[ramp(0, 1, 2)] * broadcast(2.0, 2) + broadcast(1.0, 2)\n"
         "B[ramp(0, 1, 4)] = A[ramp(4, 1, 4)]\n"
         "B[ramp(0, 2, 4)] = broadcast(0.0, 4)\n"
         "x: float32x4 = A[ramp(tx * 4, 1, 4)]\n"
         "B[ramp(tx * 4, 1, 4)] = x\n"
         "B[tx] = lane(x, 3) + lane(A[ramp(0, 1, 4)], 1)\n"
         "alloc g: float32x2[2] local\n"
         "g[1] = A[ramp(0, 1, 2)]\n"
         "y: boolx4 = A[ramp(0, 1, 4)] < B[ramp(0, 1, 4)]\n"
         "B[ramp(0, 1, 4)] = select(y, A[ramp(0, 1, 4)], broadcast(1.0, 4))\n");
}

/* covers: A73 A74 A75 A76 */
static void slots_of_this_thread(void **state) {
    BODY("R = T.alloc_tensor(\n"
         "    ty_args=[T.Tensor((32, 6), \"float32\", scope=\"local\", layout=TileLayout(S[(32, 6) : (1 @ "
         "laneid, 1)]))]\n"
         ")\n"
         "flat = R.view(6, layout=\"default\")\n"
         "grid = R.view(2, 3, layout=\"default\")\n"
         "same = R.view(16, 12)\n"
         "G = T.alloc_local((32, 4), \"float32\", layout=TileLayout(S[(32, 4) : (1 @ laneid, 2)] + 1))\n"
         "gaps = G.view(8, layout=\"default\")\n"
         "packed = G.view(4, layout=TileLayout(S[(4,) : (2,)] + 1))\n"
         "flat[5] = grid[1, 2]\n"
         "packed[3] = gaps[7]\n",
         "alloc R: float32[32, 6] local layout=S[(32,6):(1@laneid,1)]\n"
         "view flat: float32[6] local = R.data\n"
         "view grid: float32[2, 3] local = R.data\n"
         "view same: float32[16, 12] local layout=S[(32,6):(1@laneid,1)] = R.data\n"
         "alloc G: float32[32, 4] local layout=S[(32,4):(1@laneid,2)]+1\n"
         "view gaps: float32[8] local = G.data\n"
         "view packed: float32[4] local layout=S[4:2]+1 = G.data\n"
         "flat[5] = grid[1, 2]\n"
         "packed[3] = gaps[7]\n");
}

/* covers: A4 */
static void regions(void **state) {
    BODY("M = A.view(8, 8)\n"
         "m0: T.let = n * 2\n"
         "row = M[m0 : m0 + 4, 0:8]\n"
         "whole = M[3]\n"
         "rest = M[:, 2:]\n"
         "p = T.address_of(row)\n",
         "view M: float32[8, 8] = A.data\n"
         "let m0: int32 = n * 2\n"
         "let p: float32*global = &M[m0, 0]\n");
}

/* covers: A16 A17 */
static void positions_of_layouts(void **state) {
    help_gives(*state,
               "L = Tx.TileLayout(Tx.S[(4, 8) : (16, 1)] + 64)\n"
               "D = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[4 : 1 @ warpid] + 3 @ warpid)\n"
               "at = L.apply(2, 3, shape=(4, 8))[\"m\"]\n"
               "where = D.apply(13)\n"
               "flat = L.apply(9)[\"m\"]\n"
               "spread = (where[\"laneid\"], where[\"m\"], where[\"warpid\"], L.size(), L.span(\"m\"), "
               "D.span(laneid))\n"
               "@Tx.function\n"
               "def positions(X: Tx.Tensor((4, 8), \"float32\", layout=L), out: Tx.Tensor((16,), \"int32\"), "
               "i: Tx.int32, j: Tx.int32):\n"
               "    out[0] = at\n"
               "    out[1] = flat\n"
               "    for k in Tx.unroll(1):\n"
               "        out[k] = L.apply(i, j, shape=(4, 8))[\"m\"]\n"
               "    out[3] = X.layout.apply(i, 5, shape=X.shape)[\"m\"]\n"
               "    out[4] = D.apply(i)[\"laneid\"] + D.apply(i)[\"m\"]\n"
               "    out[5] = L.apply(i)[\"m\"]\n"
               "    out[6] = D.apply(i, j, 1)[\"laneid\"]\n"
               "    out[7] = L.apply(i * 8 + j, shape=(32,))[\"m\"]\n"
               "    assert spread == (6, 1, 3, 32, 64 + 56, 32), f\"{spread}\"\n",
               NULL,
               "function positions(X: float32[4, 8] layout=S[(4,8):(16,1)]+64, out: int32[16], i: int32, j: "
               "int32):\n"
               "    out[0] = 99\n"
               "    out[1] = 81\n"
               "    for k in unroll(1):\n"
               "        out[k] = i * 16 + j + 64\n"
               "    out[3] = i * 16 + 69\n"
               "    out[4] = i // 8 * 4 + i // 2 % 4 + i % 2\n"
               "    out[5] = i // 8 * 16 + i % 8 + 64\n"
               "    out[6] = i * 4 + j\n"
               "    out[7] = (i * 8 + j) // 8 * 16 + (i * 8 + j) % 8 + 64\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(views_keep_the_pointer), UNIT_WITH_ARENA(views_of_declarations),
        UNIT_WITH_ARENA(reinterpreting_views),   UNIT_WITH_ARENA(attributes),
        UNIT_WITH_ARENA(element_pointers),       UNIT_WITH_ARENA(vector_accesses),
        UNIT_WITH_ARENA(slots_of_this_thread),   UNIT_WITH_ARENA(regions),
        UNIT_WITH_ARENA(positions_of_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
