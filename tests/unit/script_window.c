/* SPDX-License-Identifier: Apache-2.0
 * Parts by factors (tile, chunk) and by coordinates, regions as values, legacy pointers: what they become,
 * and what is refused with which numbers. */
#include "unit/script_help.h"

/* What a layout or a pointer can say is a view; the rest names elements of the tensor itself. covers: A4 A60
 * A70 */
static void becomes(void **state) {
    BODY("V = A.view(8, 8)\n"
         "a = V.tile(0, (2, -1))[1, :]\n"
         "b = V.tile(1, (-1, 2))[:, tx % 2]\n"
         "c = V.tile((0, (2, 4)), (1, (4, 2)))[:, 3, 1, :]\n"
         "d = V.tile(0, (2, 2, 2))[:, tx % 2, :]\n"
         "e = V.tile(-1, (8,))[tx % 8]\n"
         "B[tx] = b[3, 1] + d[2, 5]\n",
         "view V: float32[8, 8] = A.data\n"
         "view a: float32[4, 8] layout=S[32:1]+32 = A.data\n"
         "view b: float32[8, 4] align=4 layout=S[32:2] = &V[0, tx % 2]\n"
         "view c: float32[2, 2] layout=S[(2,2):(32,1)]+26 = A.data\n"
         "view d: float32[4, 8] layout=S[(2,16):(32,1)] = &V[tx % 2 * 2, 0]\n"
         "view e: float32[8] align=4 layout=S[8:8] = &V[0, tx % 8]\n"
         "B[tx] = b[3, 1] + d[2, 5]\n");
    BODY("s = T.alloc_shared((16, 64), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (16, 64)))\n"
         "w = s.sub[tx % 8 : tx % 8 + 8, 3 * n : 3 * n + 16]\n"
         "p = w.permute(1, 0).ptr_to([2, 1])\n"
         "w[1, 2] = w[3, 4] + T.float16(1)\n"
         "w[0, 0] += w.view(2, 64)[1, 5]\n"
         "q = T.address_of(w.sub[2, 3])\n"
         "r: T.let = w[2, T.Ramp(4, 1, 4)]\n"
         "w.vstore([3, 8], w.vload([2, 4], \"float16x4\"))\n"
         "assert w.shape == (8, 16) and w.dtype == \"float16\" and w.scope() == \"shared\"\n"
         "assert p.ty.element_type == T.float16 and p.ty.storage_scope == \"shared\"\n"
         "u = w[1:3, 2:4]\n"
         "assert u.source.shape == (16, 64) and u.region[1].extent == 2\n",
         "alloc s: float16[16, 64] shared align=1024 layout=Z(3,3,3)*S[1024:1]\n"
         "let p: float16*shared = &s[tx % 8 + 1, 3 * n + 2]\n"
         "s[tx % 8 + 1, 3 * n + 2] = s[tx % 8 + 3, 3 * n + 4] + 1.0_float16\n"
         "s[tx % 8, 3 * n] = s[tx % 8, 3 * n] + s[tx % 8 + 4, 3 * n + 5]\n"
         "let q: float16*shared = &s[tx % 8 + 2, 3 * n + 3]\n"
         "let r: float16x4 = s[tx % 8 + 2, ramp(3 * n + 4, 1, 4)]\n"
         "s[tx % 8 + 3, ramp(3 * n + 8, 1, 4)] = s[tx % 8 + 2, ramp(3 * n + 4, 1, 4)]\n");
}

/* A start that reads memory is taken where the part is made. */
static void starts_are_taken(void **state) {
    BODY("s = T.alloc_shared((16, 64), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (16, 64)))\n"
         "k: T.int32 = 3\n"
         "w = s.sub[k : k + 2, 0]\n"
         "k = 5\n"
         "w[1] = T.float16(0)\n"
         "v = s.sub[C[0]]\n"
         "v[3] = T.float16(1)\n",
         "alloc s: float16[16, 64] shared align=1024 layout=Z(3,3,3)*S[1024:1]\n"
         "k: int32 = 3\n"
         "let t3: int32 = k\n"
         "k = 5\n"
         "s[t3 + 1, 0] = 0.0_float16\n"
         "let t5: int32 = C[0]\n"
         "s[t5, 3] = 1.0_float16\n");
}

static void pointers_and_regions(void **state) {
    BODY("V = T.decl_tensor((8, 8), \"float32\", data=A.data, layout=TileLayout(S[(8, 8)] + 5))\n"
         "p = V.access_ptr(\"r\")\n"
         "q = V.access_ptr(\"rw\", ptr_type=\"float32\", content_lanes=4, offset=tx)\n"
         "assert q.ty.element_type == T.float32 and p.ty != q.ty\n"
         "r = V.chunk((4, None))[tx % 4, 2:4]\n"
         "assert r.source.shape == (8, 8) and r.region[0].extent == 2 and r.region[1].min == 2\n"
         "lo: T.let = r.region[0].min\n"
         "s = V.chunk((None, 4))[3, 1]\n"
         "assert [x.extent for x in s.region] == [1, 2]\n",
         "view V: float32[8, 8] layout=S[(8,8):(8,1)]+5 = A.data\n"
         "let p: handle = pointer_offset[handle](V.data, 20)\n"
         "let q: float32*global = pointer_offset(V.data, (tx * 4 + 5) * 4)\n"
         "let lo: int32 = tx % 4 * 2\n");
}

/* Parts of tensor memory: constants go into the layout, starts of the kernel into the address. covers: A58 B7
 */
static void tensor_memory(void **state) {
    BODY("acc = T.cuda.decl_tmem(T.uint32(0), ty_args=[T.Tensor((128, 64), \"float32\", scope=\"tmem\")])\n"
         "a = acc.sub[:, 8:24]\n"
         "b = acc.sub[:, n : n + 16]\n"
         "c = b.sub[32:64, 4:8]\n"
         "d = acc.tile(1, (4, 16))[tx % 4, :]\n"
         "H = T.cuda.decl_tmem(T.uint32(64), ty_args=[T.Tensor((128, 64), \"float16\", scope=\"tmem\", "
         "layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)] + 8 @ TCol))])\n"
         "f = H.sub[:, 2 * n : 2 * n + 8]\n"
         "assert str(acc.layout) == \"S[(128,64):(1@TLane,1@TCol)]\"\n",
         "view acc: float32[128, 64] tmem = 0_uint32\n"
         "view a: float32[128, 16] tmem layout=S[(128,16):(1@TLane,1@TCol)]+8@TCol = 0_uint32\n"
         "let t2: uint32 = uint32(n)\n"
         "view b: float32[128, 16] tmem layout=S[(128,16):(1@TLane,1@TCol)] = t2\n"
         "view c: float32[32, 4] tmem layout=S[(32,4):(1@TLane,1@TCol)]+32@TLane+4@TCol = t2\n"
         "let t5: uint32 = uint32(tx % 4 * 16)\n"
         "view d: float32[128, 16] tmem layout=S[(128,16):(1@TLane,1@TCol)] = t5\n"
         "view H: float16[128, 64] tmem layout=S[(128,64):(1@TLane,1@TCol)]+8@TCol = 64_uint32\n"
         "let t8: uint32 = 64_uint32 + uint32((2 * n + 8) // 2)\n"
         "view f: float16[128, 8] tmem layout=S[(128,8):(1@TLane,1@TCol)] = t8\n");
    BODY_SAYS(
        "H = T.cuda.decl_tmem(T.uint32(64), ty_args=[T.Tensor((128, 64), \"float16\", scope=\"tmem\", "
        "layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))])\n"
        "a = H.sub[:, n : n + 8]\n"
        "B = T.cuda.decl_tmem(T.uint32(64), ty_args=[T.Tensor((64, 64), \"float32\", scope=\"tmem\", "
        "layout=T.tmem_datapath_layout(\"B\", 64, 64))])\n"
        "b = B.sub[:, n : n + 8]\n"
        "c = B.sub[:, 32 * n : 32 * n + 32]\n",
        "6:9 T0274 this part of 'H' starts at a value of the kernel inside of a block or of a 32-bit cell",
        "8:9 T0274 this part of 'B' starts at a value of the kernel inside of a block");
}

/* covers: A65 A66 */
static void refusals(void **state) {
    BODY_SAYS(
        "V = A.view(8, 8)\n"
        "a = V.tile(0, (3, -1))[1, :]\n"
        "b = V.tile(0, (2, 4))[:, :]\n"
        "c = V.tile(0, (2, 4))[1]\n"
        "d = V.tile(0, (2, 4))[2, :]\n"
        "e = V.tile(0, (2, 4))[1:2, :]\n"
        "f = V.tile(2, (2, 4))[1, :]\n"
        "g = V.tile((0, (2, 4)), (0, (2, 4)))\n"
        "h = V.tile(0, (-1, -1))\n"
        "i = V.tile(0, (0, 8))\n"
        "j = V.tile(0, 4)\n"
        "k = V.tile(4)\n"
        "l = V.tile()\n"
        "m = V.chunk((3, None))\n"
        "o = V.chunk((2,))\n"
        "p = V.chunk((2, None))[1:2]\n"
        "q = V.chunk((2, None))[2]\n"
        "r = V.chunk((None, 2))[0]\n"
        "s = V.chunk((2, 2))[0, 0, 0]\n"
        "t = V.tile(0, (2, 4)).shape\n"
        "u = V.access_ptr(\"x\")\n"
        "v = V.access_ptr(0)\n"
        "w = V.access_ptr(\"r\", content_lanes=0)\n"
        "x = V[0:2].data\n"
        "y = V[0:2].foo\n"
        "z = V.tile(0, (2, 2))[1, :]\n",
        "6:16 T0274 axis 0 of 'V' has 8 elements, the factors make multiples of 3",
        "7:9 T0274 no factor of axis 0 of 'V' is picked", "8:9 T0211 1 picks for 2 factors of 'V'",
        "9:9 T0274 the pick 2 of axis 0 of 'V' is outside of [0, 2)",
        "10:9 T0274 factor 0 of axis 0 of 'V' is picked by an index or kept whole",
        "11:16 T0211 'V' has 2 axes; there is no axis 2", "12:29 T0274 axis 0 of 'V' is split twice",
        "13:16 T0274 factor 1 of axis 0 of 'V' is -1: factors are positive, and one -1 is inferred",
        "14:16 T0274 factor 0 of axis 0 of 'V' is 0",
        "15:16 T0274 the factors of axis 0 of 'V' are a tuple of 1 to 8",
        "16:16 T0274 tile takes an axis and its factors, or pairs of them, not an int",
        "17:9 T0203 tile needs an axis", "18:17 T0274 axis 0 of 'V' has 8 elements: no 3 equal chunks",
        "19:17 T0211 chunk has 1 entries, 'V' has 2 axes", "20:9 T0274 axis 0 of 'V' is cut into chunks",
        "21:9 T0274 chunk 2 of axis 0 of 'V' is outside of [0, 2)",
        "22:9 T0211 no chunk of axis 1 of 'V' is picked", "23:9 T0211 3 picks for the 2 axes of 'V'",
        "24:27 T0202 a tile or chunk without its [picks] has no attribute 'shape'",
        "25:22 T0205 an access is", "26:22 T0205 an access is", "27:41 T0234 content_lanes is 0: 1 to 64",
        "28:16 T0202 a region has no attribute 'data': it belongs to tensor variables",
        "29:16 T0202 has no attribute 'foo'", "30:16 T0274 axis 0 of 'V' has 8 elements, the factors make 4");
    BODY_SAYS(
        "s = T.alloc_shared((16, 64), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (16, 64)))\n"
        "w = s.sub[n : n + 8, n : n + 16]\n"
        "a = w.layout\n"
        "b = w.data\n"
        "c = w.view(128, layout=\"default\")\n"
        "d = w.view(100)\n"
        "e = w.view(\"float32\")\n"
        "f = w.sub[8]\n"
        "g = w[0]\n"
        "h = w + 1\n"
        "i = w.foo\n"
        "w.shape = (3,)\n"
        "j = w.permute(0)\n"
        "k = w.view(4, 32)[0, T.Ramp(0, 1, 4)]\n"
        "l = w.view(4, 32)[0, 0:2]\n"
        "m = w[1, 2, 3]\n"
        "o = w.rearrange(\"i j -> j\")\n"
        "p = w[8:10, 0]\n"
        "q = w.vload([0, 0], \"float32x2\")\n",
        "7:11 T0274 'w' is a part of 's' that starts at values of the kernel: it has no 'layout' of its own",
        "8:11 T0274 it has no 'data' of its own", "9:28 T0274 no layout of its own counts from there",
        "10:9 T0213 the view has 100 elements, 'w' has 128",
        "11:9 T0213 does not start and end on elements of 32 bits",
        "12:9 T0274 8 to 9 of axis 0 is not inside 'w'",
        "14:9 T0205 a part of 's' that starts at values of the kernel is not a value",
        "15:11 T0202 has no attribute 'foo'", "16:5 T0227 'shape' of a tensor is read-only",
        "17:9 T0211 permute of 1 axes; 'w' has 2", "18:23 T0234 a vector index of", "19:9 T0274 a range of",
        "20:11 T0211 'w' has 2 axes, the index has 3",
        "21:21 T0274 a factor of the left side is not on the right",
        "23:9 T0233 a vector of float32x2 from 'w' of float16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(becomes),
        UNIT_WITH_ARENA(starts_are_taken),
        UNIT_WITH_ARENA(pointers_and_regions),
        UNIT_WITH_ARENA(tensor_memory),
        UNIT_WITH_ARENA(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
