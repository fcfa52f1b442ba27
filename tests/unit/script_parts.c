/* SPDX-License-Identifier: Apache-2.0
 * Strides and extents of the launch, and parts of tensors: what they become, and what is refused with which
 * numbers. */
#include "unit/script_help.h"

/* covers: A12 A16 A17 A19 A60 A70 */
static void strides_of_the_launch(void **state) {
    help_gives(
        *state,
        "m = T.dynamic(\"m\")\n"
        "n = T.dynamic(\"n\")\n"
        "lda = T.dynamic(\"lda\", \"int64\")\n"
        "L = TileLayout(S[(m, n) : (lda, 1)] + 4)\n"
        "D = S[(m, 8)] + m\n"
        "@T.function\n"
        "def k(A: T.Tensor((m, n), \"float32\", layout=L), B: T.Tensor((m, 8), \"float32\", layout=D), "
        "C: T.Tensor((m, n), \"float32\", layout=TileLayout(S[(m, n)]))):\n"
        "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(8,)))\n"
        "    t = T.cuda.thread_idx(\"x\")\n"
        "    x = A.layout.apply(t, 2, shape=A.shape)[\"m\"]\n"
        "    P = A.permute(1, 0)\n"
        "    h = A.view(\"float16\")\n"
        "    r = A.sub[t, 1:n]\n"
        "    d = C.sub[2:4, 0]\n"
        "    E = T.decl_tensor(C.data, ty_args=[T.Tensor((4, 4), \"float32\", layout=TileLayout(S[(4, 4) : "
        "(t + 8, 1)]))])\n"
        "    F = T.decl_tensor(C.data, ty_args=[T.Tensor((m, n), \"float32\", layout=A.layout)])\n"
        "    G = C.sub[T.int32(A[0, 0])]\n"
        "    B[t, 0] = P[1, t] + x + E[1, 2]\n",
        NULL,
        "function k(A: float32[m, n] strides=(lda, 1) origin=4, B: float32[m, 8] strides=(8, 1) origin=m, C: "
        "float32[m, n] strides=(n, 1), m: int32, lda: int64, n: int32):\n"
        "    launch:\n"
        "        grid = (1, 1, 1)\n"
        "        block = (8, 1, 1)\n"
        "    let t: int32 = thread_idx.x\n"
        "    x: int64 = int64(t) * lda + 6_int64\n"
        "    view P: float32[n, m] strides=(1, lda) origin=4 = A.data\n"
        "    view h: float16[m, n * 2] strides=(lda * 2_int64, 1) origin=8 = A.data\n"
        "    view r: float32[n - 1] strides=(1) origin=int64(t) * lda + 5_int64 = A.data\n"
        "    view d: float32[2] strides=(n) origin=2 * n = C.data\n"
        "    view E: float32[4, 4] strides=(t + 8, 1) = C.data\n"
        "    view F: float32[m, n] strides=(lda, 1) origin=4 = C.data\n"
        "    let t7: int32 = int32(A[0, 0])\n"
        "    view G: float32[n] strides=(1) origin=t7 * n = C.data\n"
        "    B[t, 0] = P[1, t] + float32(x) + E[1, 2]\n");
}

/* The older dialects say strides= and elem_offset=. */
static void older_strides(void **state) {
    help_gives(*state,
               "@T.prim_func\n"
               "def k(a: T.handle, s: T.int32, o: T.int64):\n"
               "    A = T.match_buffer(a, (4, 6), \"float32\", strides=[s, 1], elem_offset=o)\n"
               "    A[1, 2] = 1.0\n",
               NULL,
               "function k(A: float32[4, 6] strides=(s, 1) origin=o, s: int32, o: int64):\n"
               "    A[1, 2] = 1.0\n");
}

static void strides_refused(void **state) {
    SAYS("m = T.dynamic(\"m\")\n"
         "s = T.dynamic(\"s\")\n"
         "a = T.Tensor((m, 4), \"float32\", layout=TileLayout(S[(4, m) : (s, 1)]))\n"
         "b = T.Tensor((m, 4, 2), \"float32\", layout=TileLayout(S[(m, 8) : (s, 1)]))\n"
         "c = T.Tensor((m, 4), \"float32\", layout=TileLayout(S[(m, 5) : (s, 1)]))\n"
         "d = T.Tensor((m, 4), \"float32\", layout=TileLayout(S[(m, 4) : (1 @ laneid, s)]))\n"
         "e = T.Tensor((m, 4), \"float32\", layout=TileLayout(S[(m, 4) : (s, 1)] + R[2 : 1]))\n"
         "f = T.ComposeLayout(3, 3, 3, S[(8, 64) : (s, 1)])\n"
         "g = TileLayout(S[(8, 64) : (s, 1)]).size()\n"
         "h = S[4 : 1] + R[m : 1]\n",
         "3:40 T0213 extent 0 of the layout is 4, axis 0 of the shape has m",
         "4:43 T0211 2 extents with values of the launch for a tensor of 3 axes",
         "5:40 T0213 extent 1 of the layout is 5, axis 1 of the shape has 4",
         "6:40 T0210 on axis m only; this one is also on laneid",
         "7:40 T0210 on axis m only; this one has replicas",
         "8:30 T0210 a layout of constants is needed here",
         "9:37 T0210 'size' of a layout with values of the launch", "10:16 T0210 replicas have constant");
    BODY_SAYS("s = T.alloc_shared((4, 4), \"float32\", layout=TileLayout(S[(4, 4) : (n, 1)]))\n"
              "p: T.int32 = 3\n"
              "v = T.decl_tensor(A.data, ty_args=[T.Tensor((4, 4), \"float32\", layout=TileLayout(S[(4, 4) : "
              "(p, 1)]))])\n"
              "w = T.decl_tensor(A.data, ty_args=[T.Tensor((4, 4), \"float32\", layout=TileLayout(S[(4, 4) : "
              "(n, 1)]))])\n"
              "x = w.view(16)\n"
              "y = w.view(\"float64\")\n"
              "z = w.view(8, layout=TileLayout(S[8 : 2]))\n",
              "5:9 T0210 storage has a constant size", "7:86 T0210 a stride of a layout must be a constant",
              "9:9 T0213 'w' has strides of the launch",
              "10:9 T0213 the strides of 'w' are known at launch only");
}

/* Parts with constants go into the layout, a swizzle's included; others move the pointer. covers: A60 A61 A70
 */
static void constant_parts(void **state) {
    help_gives(
        *state,
        "@T.function\n"
        "def k(A: T.Tensor((4,), \"float32\"), n: T.int32):\n"
        "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))\n"
        "    t = T.cuda.thread_idx(\"x\")\n"
        "    s = T.alloc_shared((3, 16, 64), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (3, 16, "
        "64)))\n"
        "    d = T.alloc_shared((6, 10), \"float32\")\n"
        "    R = T.alloc_local((32, 8), \"float32\", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))\n"
        "    a = s.sub[1]\n"
        "    b = s.sub[0, 8:16, 8:24]\n"
        "    c = s.sub[t % 3]\n"
        "    e = d.sub[2, 1:]\n"
        "    f = d.sub[t % 6, 3]\n"
        "    g = d.sub[1::2, :]\n"
        "    h = d.sub[n : n + 2, 4]\n"
        "    i = R.sub[:, 2:4]\n"
        "    q = d.permute(1, 0).sub[2:4]\n",
        NULL,
        "function k(A: float32[4], n: int32):\n"
        "    launch:\n"
        "        grid = (1, 1, 1)\n"
        "        block = (32, 1, 1)\n"
        "    let t: int32 = thread_idx.x\n"
        "    alloc s: float16[3, 16, 64] shared align=1024 layout=Z(3,3,3)*S[3072:1]\n"
        "    alloc d: float32[6, 10] shared\n"
        "    alloc R: float32[32, 8] local layout=S[(32,8):(1@laneid,1)]\n"
        "    view a: float16[16, 64] shared align=1024 layout=Z(3,3,3)*S[1024:1]+1024 = s.data\n"
        "    view b: float16[8, 16] shared align=1024 layout=Z(3,3,3)*S[(8,16):(64,1)]+520 = s.data\n"
        "    view c: float16[16, 64] shared align=1024 layout=Z(3,3,3)*S[1024:1] = &s[t % 3, 0, 0]\n"
        "    view e: float32[9] shared layout=S[9:1]+21 = d.data\n"
        "    view f: float32[1] shared align=8 layout=S[1:1]+3 = &d[t % 6, 0]\n"
        "    view g: float32[3, 10] shared layout=S[(3,10):(20,1)]+10 = d.data\n"
        "    view h: float32[2] shared align=8 layout=S[2:10]+4 = &d[n, 0]\n"
        "    view i: float32[32, 2] local layout=S[(32,2):(1@laneid,1)]+2 = R.data\n"
        "    view view11: float32[10, 6] shared layout=S[(10,6):(1,10)] = d.data\n"
        "    view q: float32[2, 6] shared layout=S[(2,6):(1,10)]+2 = d.data\n");
}

/* Failure case A13: a store that may reach two elements at one place says which; copies, indices that stay
 * apart and loads are no concern. covers: A22 */
static void stores_that_collide(void **state) {
    BODY_SAYS("s = T.alloc_shared((8,), \"float32\", layout=TileLayout(S[(8,) : (0,)]))\n"
              "u = T.alloc_shared((4, 2), \"float32\", layout=TileLayout(S[(4, 2) : (1, 1)]))\n"
              "v = T.alloc_shared((2, 3, 4), \"float32\", layout=TileLayout(S[(2, 3, 4) : (0, 4, 1)]))\n"
              "w = T.alloc_shared((4, 8), \"float32\", layout=TileLayout(S[(4, 8) : (8, 1)] + R[2 : 32]))\n"
              "z = T.alloc_shared((8, 8), \"float32\", layout=T.ComposeLayout(1, 2, 3, S[(8, 8) : (4, 1)]))\n"
              "s[tx % 8] = A[tx]\n"
              "s[tx % 4] = A[tx]\n"
              "u[tx // 2 % 4, tx % 2] = A[tx]\n"
              "v[1, tx % 3, 2] = A[tx]\n"
              "B[tx] = v[tx % 2, 1, 1] + s[tx % 8]\n"
              "v[tx % 2, 1, tx % 4] = A[tx]\n"
              "w[tx % 4, tx % 8] = A[tx]\n"
              "z[1, tx % 8] = A[tx]\n"
              "z[tx % 8, T.Ramp(0, 1, 8)] = A[T.Ramp(0, 1, 8)]\n"
              "u.view(8)[tx % 8] = 1.0\n",
              "9:50 T0422 the swizzle of Z(1,2,3)*S[(8,8):(4,1)]",
              "10:5 T0275 the layout S[8:0] of 's' puts (0) and (1) at one place",
              "12:5 T0275 the layout S[(4,2):(1,1)] of 'u' puts (0, 1) and (1, 0) at one place",
              "15:5 T0275 the layout S[(2,3,4):(0,4,1)] of 'v' puts (0, 1, 0) and (1, 1, 0) at one place",
              "18:5 T0275 of 'z' puts (0, 4) and (1, 0) at one place",
              "19:5 T0275 puts (1) and (2) at one place");
}

/* The numbers of what is wrong. covers: A22 A23 */
static void malformed(void **state) {
    SAYS("a = S[(4, 0) : (8, 1)]\n"
         "b = S[(4, -2)]\n"
         "c = S[(1 << 40, 1 << 40)]\n"
         "d = TileLayout(S[(1 << 31, 1 << 31) : (1 << 33, 1)])\n"
         "e = S[(4, 8) : (8 @ \"lane\", 1)]\n"
         "f = S[(4, 8) : (8, 1, 1)]\n"
         "g = S[(4, (2, 2)) : (4, 1)]\n"
         "h = T.Tensor((4, 8), \"float32\", layout=TileLayout(S[(4, 4) : (4, 1)]))\n"
         "i = T.Tensor((4, 8), \"float32\", layout=\"dense\")\n"
         "j = T.ComposeLayout(3, 3, 3, S[(8, 8) : (8, -1)])\n",
         "1:5 T0214 extent 1 of a layout is 0: extents are positive",
         "2:5 T0214 extent 1 of a layout is -2: extents are positive",
         "3:5 T0214 extent 0, 1099511627776, makes a layout of over 2^63 coordinates", "4:5 T0214 no layout",
         "5:17 T0214 'lane' is no layout axis", "6:5 T0214 2 extents and 3 strides",
         "7:5 T0210 an extent of a layout must be a constant integer, not a tuple",
         "8:40 T0213 the layout S[(4,4):(4,1)] has 16 coordinates, the shape has 32 elements",
         "9:40 T0205 a layout must be a TileLayout or", "10:5 T0214 its tile reaches down to -7 on m");
    BODY_SAYS("s = T.alloc_shared((1 << 20, 1 << 20), \"float32\")\n"
              "r = T.alloc_local((8,), \"float32\", layout=TileLayout(S[(8,) : (3,)] + 2))\n"
              "a = r.view(23, layout=\"default\")\n"
              "b = r.view(25, layout=\"default\")\n"
              "c = r.view(9)\n"
              "d = r.view(4, layout=TileLayout(S[(4,) : (8,)]))\n"
              "e = r.sub[3:9]\n"
              "f = r.sub[8]\n"
              "g = r.sub[1::3]\n"
              "h = r.sub[0, 0]\n"
              "i = T.alloc_local((8, 2), \"float32\").sub[tx % 8, 2:2]\n",
              "5:9 T0213 an allocation of over 1 TiB: its extent 1 is 1048576",
              "7:9 T0213 the view has 23 elements, 'r' has 24 slots in storage",
              "8:9 T0213 the view has 25 elements, 'r' has 24 slots in storage",
              "9:9 T0213 the view has 9 elements, 'r' has 8 elements",
              "10:9 T0213 the view has 25 elements, 'r' has 24 slots in storage",
              "11:9 T0274 3 to 9 of axis 0 is not inside 'r': its extent is 8",
              "12:9 T0274 8 to 9 of axis 0 is not inside 'r': its extent is 8", "13:9 T0274 a stepped part",
              "14:9 T0211 'r' has 1 axis, sub[...] has 2", "15:9 T0274 2 to 2 of axis 1");
}

/* A swizzle whose blocks the tile does not fill: a word about it, once per declaration. */
static void swizzle_of_half_a_block(void **state) {
    BODY_SAYS(
        "z = T.alloc_shared((8, 60), \"float16\", layout=T.ComposeLayout(3, 3, 3, S[(8, 60)]))\n"
        "y = T.alloc_shared((8, 60), \"float16\", layout=T.ComposeLayout(3, 3, 3, S[(8, 60) : (64, 1)]))\n"
        "x = T.alloc_shared((8, 56), \"float16\", layout=T.ComposeLayout(3, 3, 3, S[(8, 56) : (64, 1)]))\n"
        "w = T.alloc_shared((24, 128), \"float16\", layout=T.mma_shared_layout(\"float16\", 3, (24, 128)))\n",
        "5:51 T0422 flips bits within blocks of 64 elements, which do not divide the tile: it ends at m 479, "
        "but "
        "its elements reach into a block that ends at m 511",
        "6:51 T0422 it ends at m 507", "7:51 T0422 it ends at m 503");
}

static void arrangements(void **state) {
    BODY("V = A.view(8, 8)\n"
         "a = V.rearrange(\"i (j k) -> k i j\", k=2)\n"
         "b = V.rearrange(\"(x 2) y -> 2 (y x)\")\n"
         "c = V.rearrange(\"i j -> (i j)\")\n",
         "view V: float32[8, 8] = A.data\n"
         "view a: float32[2, 8, 4] layout=S[(2,32):(1,2)] = A.data\n"
         "view b: float32[2, 32] layout=S[(16,4):(1,16)] = A.data\n"
         "view c: float32[64] layout=S[64:1] = A.data\n");
    BODY_SAYS("V = A.view(8, 8)\n"
              "a = V.rearrange(\"i j > j i\")\n"
              "b = V.rearrange(\"i (j -> j i\")\n"
              "c = V.rearrange(\"i -> i\")\n"
              "d = V.rearrange(\"(i k) (j l) -> i k j l\", k=3, l=2)\n"
              "e = V.rearrange(\"(i k) j -> i k j\")\n"
              "f = V.rearrange(\"i j -> j i j\")\n"
              "g = V.rearrange(\"i j -> i\")\n"
              "h = V.rearrange(\"i j -> j i\", m=4)\n"
              "l = V.local()\n"
              "o = V.rearrange(\"(i 0) j -> j i 0\")\n",
              "6:21 T0274 it has no ->", "7:21 T0274 a bracket is not closed",
              "8:21 T0211 the left side has 1 axes",
              "9:21 T0274 axis 0 of 'V' has 8 elements, the factors of the pattern make multiples of 3",
              "10:21 T0274 axis 0 of 'V' has 2 factors of unknown size",
              "11:21 T0274 a factor of the right side", "12:21 T0274 a factor of the left side",
              "13:37 T0274 'm' is not in the pattern", "14:9 T0205 'V' is in global memory",
              "15:21 T0274 a factor is 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(strides_of_the_launch),   UNIT_WITH_ARENA(older_strides),
        UNIT_WITH_ARENA(strides_refused),         UNIT_WITH_ARENA(constant_parts),
        UNIT_WITH_ARENA(stores_that_collide),     UNIT_WITH_ARENA(malformed),
        UNIT_WITH_ARENA(swizzle_of_half_a_block), UNIT_WITH_ARENA(arrangements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
