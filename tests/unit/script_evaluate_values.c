/* SPDX-License-Identifier: Apache-2.0
 * Scalars, lets, assignment rules, promotion and arithmetic, to IR text. */
#include "unit/script_help.h"

/* failure case E08 covers: A41 A42 A43 A44 */
static void three_spellings_of_one_scalar(void **state) {
    help_equal(*state,
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s: T.int32 = 0\n"
               "    while s < 4:\n"
               "        A[s] = 1.0\n"
               "        s += 1\n",
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s = T.local_scalar(\"int32\")\n"
               "    s = 0\n"
               "    while s < 4:\n"
               "        A[s] = 1.0\n"
               "        s = s + 1\n");
    help_equal(*state,
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s: T.int32 = 0\n"
               "    while s < 4:\n"
               "        A[s] = 1.0\n"
               "        s += 1\n",
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s = T.alloc_local((1,), \"int32\")\n"
               "    s[0] = 0\n"
               "    while s[0] < 4:\n"
               "        A[s[0]] = 1.0\n"
               "        s[0] += 1\n");
    help_equal(*state,
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s: T.int32 = 0\n"
               "    A[s] = 2.0\n",
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s = 0\n"
               "    A[s] = 2.0\n");
    help_equal(*state,
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s: T.int32\n"
               "    s = 7\n"
               "    A[s] = 2.0\n",
               "@T.function\n"
               "def k(A: T.Tensor((64,), \"float32\")):\n"
               "    s = T.alloc_local((1,), \"int32\")\n"
               "    s = 7\n"
               "    A[s[0]] = 2.0\n");
}

/* covers: A45 */
static void scopes_of_scalars(void **state) {
    BODY("a = T.local_scalar(\"int32\")\n"
         "b = T.shared_scalar()\n"
         "c = T.alloc_scalar(\"uint32\", scope=\"shared\")\n"
         "a = 1\n"
         "b = 2.5\n"
         "c = a + 1\n"
         "B[tx] = a + b[0] + c\n",
         "a: int32\n"
         "alloc b: float32[1] shared\n"
         "alloc c: uint32[1] shared\n"
         "a = 1\n"
         "b[0] = 2.5\n"
         "c[0] = uint32(a + 1)\n"
         "B[tx] = float32(a) + b[0] + float32(c[0])\n");
}

/* language.md 2.7: a new name for a number or an expression is a mutable scalar; covers: A46 */
static void plain_first_assignment(void **state) {
    BODY("i = 3\n"
         "x = 1.5\n"
         "t = True\n"
         "big = 5000000000\n"
         "e = A[tx] * 2\n"
         "i = tx\n"
         "x = e\n"
         "x += i\n"
         "y = i\n",
         "i: int32 = 3\n"
         "x: float32 = 1.5\n"
         "t: bool = True\n"
         "big: int64 = 5000000000_int64\n"
         "e: float32 = A[tx] * 2.0\n"
         "i = tx\n"
         "x = e\n"
         "x = x + float32(i)\n"
         "y: int32 = i\n");
}

/* language.md 2.7: tensors, pointers, layouts, text, tuples and regions are bound */
static void assignments_that_bind(void **state) {
    BODY("name = \"float32\"\n"
         "shape = (4, 8)\n"
         "tile = T.alloc_shared(shape, name)\n"
         "other = tile\n"
         "p = tile.data\n"
         "lay = T.TileLayout(T.S[shape])\n"
         "nothing = None\n"
         "part = tile[0:2, 0:8]\n"
         "cut = T.meta_var(2)\n"
         "pair = [T.alloc_local((2,), name), T.alloc_local((2,), name)]\n"
         "pair[1][0] = other[cut, 3]\n"
         "one = T.alloc_shared((1,), \"int32\")\n"
         "one = 4\n"
         "q = T.decl_tensor((8,), \"float32\", data=p, layout=T.TileLayout(T.S[(8,)]))\n",
         "alloc tile: float32[4, 8] shared\n"
         "let p: float32*shared = tile.data\n"
         "alloc pair_0: float32[2] local\n"
         "alloc pair_1: float32[2] local\n"
         "pair_1[0] = tile[2, 3]\n"
         "alloc one: int32[1] shared\n"
         "one[0] = 4\n"
         "view q: float32[8] shared layout=S[8:1] = p\n");
}

static void tuples_and_stars(void **state) {
    BODY("a, b = 1, T.int64(2)\n"
         "a, b = b, a\n"
         "c, *rest = [A[tx], A[0], A[1]]\n"
         "B[tx], B[0] = B[0], B[tx]\n"
         "d = rest[1] + c\n"
         "(e, f), g = (tx, 2), 3\n",
         "a: int32 = 1\n"
         "b: int64 = 2_int64\n"
         "let t2: int32 = a\n"
         "a = int32(b)\n"
         "b = int64(t2)\n"
         "c: float32 = A[tx]\n"
         "let t4: float32 = B[tx]\n"
         "B[tx] = B[0]\n"
         "B[0] = t4\n"
         "d: float32 = A[1] + c\n"
         "e: int32 = tx\n"
         "f: int32 = 2\n"
         "g: int32 = 3\n");
}

/* a list or dict of scalars is a row of variables */
static void rows_of_scalars(void **state) {
    BODY("regs = [T.local_scalar(\"float32\") for _ in range(3)]\n"
         "regs[0] = A[tx]\n"
         "regs[-1] += regs[0]\n"
         "grid = [[T.local_scalar(\"int32\")] for _ in range(2)]\n"
         "grid[1][0] = 4\n"
         "table = {\"low\": T.local_scalar(\"int32\"), \"n\": 3}\n"
         "table[\"low\"] = n\n"
         "table[\"n\"] = 5\n"
         "B[tx] = regs[2] + table[\"low\"] + table[\"n\"]\n",
         "regs_0: float32\n"
         "regs_1: float32\n"
         "regs_2: float32\n"
         "regs_0 = A[tx]\n"
         "regs_2 = regs_2 + regs_0\n"
         "grid_0_0: int32\n"
         "grid_1_0: int32 = 4\n"
         "table_low: int32 = n\n"
         "B[tx] = regs_2 + float32(table_low) + 5.0\n");
}

/* covers: A47 A48 A51 */
static void lets(void **state) {
    BODY("m: T.let = 4 * 16\n"
         "half: T.let[T.int32] = n // 2\n"
         "wide: T.let[T.int64] = n\n"
         "x: T.let = A[tx]\n"
         "p: T.let[T.handle(\"float32\")] = A.ptr_to([tx])\n"
         "h: T.let[T.handle] = A.data\n"
         "word: T.let = \"abc\"\n"
         "B[half] = x * 2 + wide\n"
         "r = T.alloc_local((m,), \"float32\")\n"
         "for i in T.unroll(m // 32):\n"
         "    r[i] = A[m - 1]\n",
         "let m: int32 = 64\n"
         "let half: int32 = n // 2\n"
         "let wide: int64 = int64(n)\n"
         "let x: float32 = A[tx]\n"
         "let p: float32*global = &A[tx]\n"
         "let h: float32*global = A.data\n"
         "B[half] = x * 2.0 + float32(wide)\n"
         "alloc r: float32[64] local\n"
         "for i in unroll(2):\n"
         "    r[i] = A[m - 1]\n");
}

/* failure case E04 */
static void let_of_a_load_is_read_where_it_stands(void **state) {
    BODY("t: T.let = T.max(A[tx], 1)\n"
         "A[tx] = t * 2\n"
         "B[tx] = t / 2\n"
         "u = T.max(A[tx], 1)\n"
         "A[tx] = u * 2\n"
         "B[tx] = u / 2\n",
         "let t: float32 = max(A[tx], 1.0)\n"
         "A[tx] = t * 2.0\n"
         "B[tx] = t / 2.0\n"
         "u: float32 = max(A[tx], 1.0)\n"
         "A[tx] = u * 2.0\n"
         "B[tx] = u / 2.0\n");
}

static void index_queries_are_lets(void **state) {
    BODY("ty = T.cuda.thread_idx(\"y\")\n"
         "bx = T.cuda.block_idx(\"x\")\n"
         "by = T.cuda.block_idx(\"y\")\n"
         "dim = T.cuda.block_dim(\"x\")\n"
         "grid = T.cuda.grid_dim(\"x\")\n"
         "lane = T.cuda.lane_id()\n"
         "warp = T.cuda.warp_id()\n"
         "group = T.cuda.warpgroup_id()\n"
         "t = T.cuda.linear_thread_id()\n"
         "C[bx * dim + tx + ty * 8 + by] = grid\n"
         "moved = tx + 1\n"
         "moved += 1\n",
         "let bx: int32 = block_idx.x\n"
         "let lane_1: int32 = lane_id()\n"
         "let warp: int32 = warp_id()\n"
         "let group: int32 = warp_id() // 4\n"
         "let t: int32 = linear_thread()\n"
         "C[bx * 64 + tx] = 2\n"
         "moved: int32 = tx + 1\n"
         "moved = moved + 1\n");
}

/* failure case E05: on scalars and elements it is read, modify, write */
static void augmented_assignments(void **state) {
    BODY("s = 2\n"
         "s += 1\n"
         "s *= n\n"
         "s //= 3\n"
         "s %= 5\n"
         "s <<= 2\n"
         "s |= 1\n"
         "s ^= tx\n"
         "A[tx] -= 1\n"
         "A[tx] /= 2\n"
         "k = T.alloc_local((2, 2), \"int32\")\n"
         "k[0, tx % 2] += k[1, 0]\n",
         "s: int32 = 2\n"
         "s = s + 1\n"
         "s = s * n\n"
         "s = s // 3\n"
         "s = s % 5\n"
         "s = s << 2\n"
         "s = s | 1\n"
         "s = s ^ tx\n"
         "A[tx] = A[tx] - 1.0\n"
         "A[tx] = A[tx] / 2.0\n"
         "alloc k: int32[2, 2] local\n"
         "k[0, tx % 2] = k[0, tx % 2] + k[1, 0]\n");
}

/* failure case E13 */
static void halving_loop(void **state) {
    BODY("s = 128\n"
         "total: T.int32 = 0\n"
         "while s >= 1:\n"
         "    total += s\n"
         "    s //= 2\n",
         "s: int32 = 128\n"
         "total: int32 = 0\n"
         "while s >= 1:\n"
         "    total = total + s\n"
         "    s = s // 2\n");
}

/* failure case E01: the loop binds a fresh name, the scalar is untouched after it */
static void loop_variable_hides_a_scalar(void **state) {
    static const char *const warning[] = {"9:9 T0226 the loop variable 'd' hides the 'd' from before"};
    static const char script[] = "d = 0\n"
                                 "for i in range(4):\n"
                                 "    d += i\n"
                                 "    A[d] = 0.0\n"
                                 "for d in range(2):\n"
                                 "    B[d] = 1.0\n"
                                 "C[d] = 2\n";
    const char *whole = help_indent(*state, HELP_HEAD, script);
    help_says(*state, whole, warning, 1);
    help_result result = help_evaluate(*state, whole, NULL, NULL);
    assert_non_null(strstr(result.text, "    for d_1 in serial(2):\n        B[d_1] = 1.0\n    C[d] = 2\n"));
    help_notes(*state, &result, "5:5 'd' from before is here");
}

/* language.md 2.9 */
static void promotion(void **state) {
    BODY("u8 = T.uint8(1)\n"
         "i16 = T.int16(2)\n"
         "u32 = T.uint32(3)\n"
         "i64 = T.int64(4)\n"
         "h = T.float16(5)\n"
         "b = T.bfloat16(6)\n"
         "f8 = T.cast(A[tx], \"float8_e4m3fn\")\n"
         "yes = tx > 3\n"
         "a1 = u8 + i16\n"
         "a2 = n + u32\n"
         "a3 = u32 + i64\n"
         "a4 = h + n\n"
         "a5 = b + h\n"
         "a6 = f8 + b\n"
         "a7 = yes + n\n"
         "a8 = h + A[tx]\n"
         "a9 = f8 * 2\n"
         "b1 = n * 1.5\n"
         "b2 = h * 1.5\n"
         "b3 = u8 + 1\n"
         "b4 = A[tx] + 1\n"
         "b5 = 1 - h\n"
         "b6 = n < 2.5\n"
         "b7 = -yes\n"
         "b8 = yes & (n > 2)\n"
         "b9 = ~n + (~u8)\n",
         "u8: uint8 = 1_uint8\n"
         "i16: int16 = 2_int16\n"
         "u32: uint32 = 3_uint32\n"
         "i64: int64 = 4_int64\n"
         "h: float16 = 5.0_float16\n"
         "b: bfloat16 = 6.0_bfloat16\n"
         "f8: float8_e4m3fn = float8_e4m3fn(A[tx])\n"
         "yes: bool = tx > 3\n"
         "a1: int16 = int16(u8) + i16\n"
         "a2: uint32 = uint32(n) + u32\n"
         "a3: int64 = int64(u32) + i64\n"
         "a4: float16 = h + float16(n)\n"
         "a5: float16 = float16(b) + h\n"
         "a6: bfloat16 = bfloat16(f8) + b\n"
         "a7: int32 = int32(yes) + n\n"
         "a8: float32 = float32(h) + A[tx]\n"
         "a9: float8_e4m3fn = f8 * 2.0_float8_e4m3fn\n"
         "b1: float32 = float32(n) * 1.5\n"
         "b2: float16 = h * 1.5_float16\n"
         "b3: uint8 = u8 + 1_uint8\n"
         "b4: float32 = A[tx] + 1.0\n"
         "b5: float16 = 1.0_float16 - h\n"
         "b6: bool = float32(n) < 2.5\n"
         "b7: int32 = -int32(yes)\n"
         "b8: bool = yes and n > 2\n"
         "b9: int32 = ~n + int32(~u8)\n");
}

/* failure cases F01 F03 F05: floor rules, folded and at run time; rounding up does not add first */
static void division(void **state) {
    BODY("q = n // 2 + n % 3\n"
         "r = T.truncdiv(n, 2) + T.truncmod(n, 3)\n"
         "f = A[tx] / 2\n"
         "g = A[tx] // 2.0\n"
         "h = A[tx] % 3.0\n"
         "c = T.ceildiv(n, 10)\n"
         "c1 = T.ceildiv(24, 10)\n"
         "a1 = T.int32(-7) // 2\n"
         "a2 = T.int32(-7) % 2\n"
         "a3 = T.int32(7) // -2\n"
         "a4 = T.int32(7) % -2\n"
         "t1 = T.truncdiv(T.int32(-7), 2)\n"
         "t2 = T.truncmod(T.int32(-7), 2)\n"
         "k1 = -7 // 2\n"
         "k2 = -7 % 2\n"
         "k3 = 7 // -2\n"
         "k4 = 7 % -2\n"
         "k5 = -5.0 % 3.0\n"
         "k6 = T.float32(-5.0) % 3.0\n"
         "k7 = T.int32(-5) % 3\n"
         "t3 = T.truncdiv(-7, 2)\n",
         "q: int32 = n // 2 + n % 3\n"
         "r: int32 = truncdiv(n, 2) + truncmod(n, 3)\n"
         "f: float32 = A[tx] / 2.0\n"
         "g: float32 = floor(A[tx] / 2.0)\n"
         "h: float32 = fma(-floor(A[tx] / 3.0), 3.0, A[tx])\n"
         "c: int32 = n // 10 + int32(n % 10 != 0)\n"
         "c1: int32 = 3\n"
         "a1: int32 = -4\n"
         "a2: int32 = 1\n"
         "a3: int32 = -4\n"
         "a4: int32 = -1\n"
         "t1: int32 = -3\n"
         "t2: int32 = -1\n"
         "k1: int32 = -4\n"
         "k2: int32 = 1\n"
         "k3: int32 = -4\n"
         "k4: int32 = -1\n"
         "k5: float32 = 1.0\n"
         "k6: float32 = 1.0\n"
         "k7: int32 = 1\n"
         "t3: int32 = -3\n");
}

/* failure case F08 */
static void wrapping_of_folded_sums(void **state) {
    BODY("C[tx] = (C[tx] + 2000000000) + 2000000000\n"
         "C[0] = T.int32(2000000000) + 2000000000\n",
         "C[tx] = C[tx] - 294967296\n"
         "C[0] = -294967296\n");
}

static void casts_and_limits(void **state) {
    BODY("a = T.cast(A[tx], \"int32\") + T.Cast(\"int32\", A[0]) + T.int32(A[1])\n"
         "b = T.reinterpret(\"uint32\", A[tx])\n"
         "c = T.reinterpret(\"int32\", T.float32(1.0))\n"
         "d = T.float32(\"inf\") + T.float32(\"-inf\")\n"
         "e = T.max_value(\"int8\") + T.min_value(\"int8\")\n"
         "f = T.max_value(\"float16\") == T.float16(65504)\n"
         "g = T.infinity(\"float32\")\n"
         "h = A[tx].astype(\"float16\")\n"
         "p = T.reinterpret(\"uint64\", A.data)\n"
         "v = T.cast(A[T.Ramp(0, 1, 4)], \"float16\")\n"
         "i = T.i64(3) + T.u8(300 - 45)\n"
         "j = T.boolean(n)\n",
         "a: int32 = int32(A[tx]) + int32(A[0]) + int32(A[1])\n"
         "b: uint32 = reinterpret[uint32](A[tx])\n"
         "c: int32 = 1065353216\n"
         "d: float32 = nan\n"
         "e: int8 = -1_int8\n"
         "f: bool = True\n"
         "g: float32 = inf\n"
         "h: float16 = float16(A[tx])\n"
         "p: uint64 = reinterpret[uint64](A.data)\n"
         "v: float16x4 = float16x4(A[ramp(0, 1, 4)])\n"
         "i: int64 = 258_int64\n"
         "j: bool = bool(n)\n");
}

/* failure case E12 */
static void float_stored_into_an_integer(void **state) {
    static const char *const warning[] = {
        "5:12 T0235 kernel 'k' stores float32 into 'C' of int32: the value is truncated toward zero"};
    help_says(*state, help_indent(*state, HELP_HEAD, "C[0] = A[tx]\nC[1] = T.cast(A[tx], \"int32\")\n"),
              warning, 1);
}

static void truth(void **state) {
    BODY("a = n > 1 and n < 5 or not (tx == 3)\n"
         "b = 1 < n <= 8\n"
         "c = T.And(n > 1, T.Or(tx > 2, T.Not(tx == 4)))\n"
         "d = 1 if n > 2 else 2\n"
         "e = T.Select(tx > 1, A[tx], 0)\n"
         "f = T.if_then_else(tx > 1, A[tx], 0)\n"
         "g = 3 if True else missing\n"
         "h = n > 1 and True\n"
         "i = False and missing\n"
         "if n and tx > 2:\n"
         "    C[0] = 1\n",
         "a: bool = n > 1 and n < 5 or tx != 3\n"
         "b: bool = 1 < n and n <= 8\n"
         "c: bool = n > 1 and (tx > 2 or tx != 4)\n"
         "d: int32 = if_then_else(n > 2, 1, 2)\n"
         "e: float32 = select(tx > 1, A[tx], 0.0)\n"
         "f: float32 = if_then_else(tx > 1, A[tx], 0.0)\n"
         "g: int32 = 3\n"
         "h: bool = n > 1\n"
         "i: bool = False\n"
         "if n != 0 and tx > 2:\n"
         "    C[0] = 1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(three_spellings_of_one_scalar),
        UNIT_WITH_ARENA(scopes_of_scalars),
        UNIT_WITH_ARENA(plain_first_assignment),
        UNIT_WITH_ARENA(assignments_that_bind),
        UNIT_WITH_ARENA(tuples_and_stars),
        UNIT_WITH_ARENA(rows_of_scalars),
        UNIT_WITH_ARENA(lets),
        UNIT_WITH_ARENA(let_of_a_load_is_read_where_it_stands),
        UNIT_WITH_ARENA(index_queries_are_lets),
        UNIT_WITH_ARENA(augmented_assignments),
        UNIT_WITH_ARENA(halving_loop),
        UNIT_WITH_ARENA(loop_variable_hides_a_scalar),
        UNIT_WITH_ARENA(promotion),
        UNIT_WITH_ARENA(division),
        UNIT_WITH_ARENA(wrapping_of_folded_sums),
        UNIT_WITH_ARENA(casts_and_limits),
        UNIT_WITH_ARENA(float_stored_into_an_integer),
        UNIT_WITH_ARENA(truth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
