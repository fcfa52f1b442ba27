/* SPDX-License-Identifier: Apache-2.0
 * Python while compiling: numbers, text, sequences, functions, the module level, -D, imports. */
#include "unit/script_help.h"

static void numbers(void **state) {
    help_gives(*state,
               "@T.function\n"
               "def k(X: T.Tensor((64,), \"int64\")):\n"
               "    X[0] = 7 // 2 + 7 % 3\n"
               "    X[1] = 2 ** 10 + (1 << 4) - (256 >> 3)\n"
               "    X[2] = 0xff & 0x0f | 0x30 ^ 1\n"
               "    X[3] = ~5 + -3 + +2\n"
               "    X[4] = int(7 / 2) + int(-2.5)\n"
               "    X[5] = max(1, 2, 3) + min([4, 5]) + abs(-6)\n"
               "    X[6] = len(\"abc\") + len((1, 2)) + len(range(5))\n"
               "    X[7] = sum([1, 2, 3]) + sum(range(4), 10)\n"
               "    X[8] = 1 if 2 < 3 <= 3 and not 1 == 2 else 0\n"
               "    X[9] = int(\"12\") + bool(3) + int(True)\n"
               "    X[10] = 5 if \"b\" in \"abc\" and 3 not in [1, 2] else 6\n"
               "    X[11] = 9 if None is None and \"a\" < \"b\" else 0\n",
               NULL,
               "function k(X: int64[64]):\n"
               "    X[0] = 4_int64\n"
               "    X[1] = 1008_int64\n"
               "    X[2] = 63_int64\n"
               "    X[3] = -7_int64\n"
               "    X[4] = 1_int64\n"
               "    X[5] = 13_int64\n"
               "    X[6] = 10_int64\n"
               "    X[7] = 22_int64\n"
               "    X[8] = 1_int64\n"
               "    X[9] = 14_int64\n"
               "    X[10] = 5_int64\n"
               "    X[11] = 9_int64\n");
}

static void sequences(void **state) {
    help_gives(*state,
               "row = [4, 5, 6]\n"
               "grid = ((1, 2), (3, 4))\n"
               "table = {\"a\": 1, \"b\": 2}\n"
               "@T.function\n"
               "def k(X: T.Tensor((64,), \"int64\")):\n"
               "    X[0] = row[1] + row[-1] + grid[1][0]\n"
               "    X[1] = [x * x for x in range(5) if x % 2 == 1][1]\n"
               "    X[2] = sum([a * b for a, b in zip([1, 2], (3, 4))])\n"
               "    X[3] = [i + x for i, x in enumerate([5, 6], 1)][1]\n"
               "    X[4] = table[\"b\"] + table.get(\"z\", 4) + len(table)\n"
               "    X[5] = {x: x + 1 for x in [1, 2]}[2]\n"
               "    X[6] = sorted([3, 1, 2])[0] + list(reversed([1, 2]))[0]\n"
               "    X[7] = (row + [9])[3] + ([1] * 4)[3] + row[1:][0] + row[:2][1] + (1, 2, 3)[0:3:2][1]\n"
               "    X[8] = sum([sum([i * j for j in range(2)]) for i in range(3)])\n"
               "    X[9] = 9 if any([0, 1]) and all([1, 1]) else 0\n"
               "    X[10] = len([1 for a in (1, 2) for b in (3, 4) if a < b])\n"
               "    X[11] = sum(dict(a=1, b=2).values()) + len({**table, \"q\": 1})\n",
               NULL,
               "function k(X: int64[64]):\n"
               "    X[0] = 14_int64\n"
               "    X[1] = 9_int64\n"
               "    X[2] = 11_int64\n"
               "    X[3] = 8_int64\n"
               "    X[4] = 8_int64\n"
               "    X[5] = 3_int64\n"
               "    X[6] = 3_int64\n"
               "    X[7] = 23_int64\n"
               "    X[8] = 3_int64\n"
               "    X[9] = 9_int64\n"
               "    X[10] = 4_int64\n"
               "    X[11] = 6_int64\n");
}

static void text(void **state) {
    help_gives(*state,
               "kind, bits = \"float\", 32\n"
               "name = f\"{kind}{bits}\"\n"
               "other = \"float\" + \"1\" * 1 + \"6\"\n"
               "parts = \"x\".join([\"float32\", \"4\"])\n"
               "assert f\"{3:04d}|{1.5:.2f}|{255:x}|{True}|{(1, 'a')!r}|{7}\" == \"0003|1.50|ff|True|(1, "
               "'a')|7\", f\"{3:04d}\"\n"
               "assert name.startswith(\"float\") and name.endswith(\"32\") and str(1.0) == \"1.0\" and "
               "name[0] == \"f\"\n"
               "@T.function\n"
               "def k(X: T.Tensor((8,), name), Y: T.Tensor((8,), other), Z: T.Tensor((2,), parts)):\n"
               "    X[0] = Y[0]\n",
               NULL,
               "function k(X: float32[8], Y: float16[8], Z: float32x4[2]):\n"
               "    X[0] = float32(Y[0])\n");
}

static void functions_of_the_script(void **state) {
    help_gives(*state,
               "def triangle(n):\n"
               "    total = 0\n"
               "    for i in range(n + 1):\n"
               "        total += i\n"
               "    return total\n"
               "def fib(n):\n"
               "    if n < 2:\n"
               "        return n\n"
               "    return fib(n - 1) + fib(n - 2)\n"
               "def spread(a, b=10, *, c=100):\n"
               "    return a + b + c\n"
               "def collect(*args, **kwargs):\n"
               "    return len(args) * 10 + kwargs[\"k\"]\n"
               "def first_even(items):\n"
               "    for x in items:\n"
               "        if x % 2 == 1:\n"
               "            continue\n"
               "        break\n"
               "    else:\n"
               "        return -1\n"
               "    return x\n"
               "twice = lambda x, y=2: x * y\n"
               "def countdown(n):\n"
               "    steps = 0\n"
               "    while n > 0:\n"
               "        n -= 3\n"
               "        steps = steps + 1\n"
               "    return steps\n"
               "def make_adder(n):\n"
               "    def add(m):\n"
               "        return n + m\n"
               "    return add\n"
               "@T.function\n"
               "def k(X: T.Tensor((64,), \"int64\")):\n"
               "    X[0] = triangle(10)\n"
               "    X[1] = fib(10)\n"
               "    X[2] = spread(1, 2, c=5)\n"
               "    X[3] = spread(1)\n"
               "    X[4] = collect(1, 2, 3, k=4)\n"
               "    X[5] = first_even([3, 5, 8, 9])\n"
               "    X[6] = twice(3)\n"
               "    X[7] = countdown(10)\n"
               "    X[8] = make_adder(3)(4)\n",
               NULL,
               "function k(X: int64[64]):\n"
               "    X[0] = 55_int64\n"
               "    X[1] = 55_int64\n"
               "    X[2] = 8_int64\n"
               "    X[3] = 111_int64\n"
               "    X[4] = 34_int64\n"
               "    X[5] = 8_int64\n"
               "    X[6] = 6_int64\n"
               "    X[7] = 4_int64\n"
               "    X[8] = 7_int64\n");
}

static void functions_on_values_of_the_kernel(void **state) {
    help_gives(*state,
               "def clamp(x, low, high):\n"
               "    return T.min(T.max(x, low), high)\n"
               "def fill(tensor, count, value):\n"
               "    for i in range(count):\n"
               "        tensor[i] = value + i\n"
               "def norm(x):\n"
               "    y = x * x\n"
               "    return T.sqrt(y)\n"
               "@T.function\n"
               "def k(X: T.Tensor((8,), \"float32\"), n: T.int32):\n"
               "    X[n] = clamp(X[0], 0.0, 1.0) + norm(X[1])\n"
               "    fill(X, 3, 2)\n"
               "    rows = [X[i] * 2 for i in range(2)]\n"
               "    X[7] = rows[0] + rows[1] + sum([X[i] for i in range(3)])\n",
               NULL,
               "function k(X: float32[8], n: int32):\n"
               "    X[n] = min(max(X[0], 0.0), 1.0) + sqrt(X[1] * X[1])\n"
               "    X[0] = 2.0\n"
               "    X[1] = 3.0\n"
               "    X[2] = 4.0\n"
               "    X[7] = X[0] * 2.0 + X[1] * 2.0 + (0.0 + X[0] + X[1] + X[2])\n");
}

static void module_level(void **state) {
    help_gives(*state,
               "import math\n"
               "from math import gcd, log2\n"
               "N = 4\n"
               "M: int = N * 8\n"
               "N += 1\n"
               "a, (b, c) = 1, (2, 3)\n"
               "x = y = 7\n"
               "sizes = []\n"
               "for i in range(3):\n"
               "    sizes.append(i * N)\n"
               "if M > 16:\n"
               "    BIG = True\n"
               "elif missing:\n"
               "    BIG = missing\n"
               "else:\n"
               "    BIG = False\n"
               "while len(sizes) < 5:\n"
               "    sizes.append(0)\n"
               "if __name__ == \"__main__\":\n"
               "    missing()\n"
               "@T.function\n"
               "def k(X: T.Tensor((64,), \"int32\")):\n"
               "    X[0] = N + M + a + b + c + x + y + sum(sizes) + len(sizes)\n"
               "    X[1] = 1 if BIG else 0\n"
               "    X[2] = math.gcd(12, 18) + gcd(4, 6) + int(log2(1024)) + math.ceil(2.1) + math.floor(2.9) "
               "+ math.isqrt(17) + math.lcm(4, 6)\n"
               "    X[3] = int(math.sqrt(49) + math.prod([2, 3])) + math.trunc(2.7)\n",
               NULL,
               "function k(X: int32[64]):\n"
               "    X[0] = 77\n"
               "    X[1] = 1\n"
               "    X[2] = 39\n"
               "    X[3] = 15\n");
}

/* -D overrides assignments of the module, and takes any compile-time expression, layouts included; */
static void definitions_come_first(void **state) {
    help_gives(*state,
               "N = 4\n"
               "L = \"default\"\n"
               "@T.function\n"
               "def k(X: T.Tensor((N, M), \"float32\", layout=L)):\n"
               "    X[0, 1] = 2.0\n",
               "N=2 M=N*3 L=TileLayout(S[(N,M):(1,N)])",
               "function k(X: float32[2, 6] layout=S[(2,6):(1,2)]):\n"
               "    X[0, 1] = 2.0\n");
}

/* covers: A34 A77 */
static void aliases(void **state) {
    help_gives(*state,
               "from tvm.script import tirx as Q\n"
               "from tvm.script.tirx import tile as Tx\n"
               "from tvm.tirx.layout import TileLayout, S as Shard, laneid\n"
               "from tvm.backend.cuda.lang import SMEMPool\n"
               "from tvm.ir import PointerType, PrimType\n"
               "from __future__ import annotations\n"
               "@Q.prim_func\n"
               "def k(X: Q.Buffer((4, 8), \"float32\", layout=TileLayout(Shard[(4, 8) : (1, 4)]))):\n"
               "    p: Q.let[PointerType(PrimType(\"float32\"))] = X.data\n"
               "    X[0, 0] = 1.0\n",
               NULL,
               "function k(X: float32[4, 8] layout=S[(4,8):(1,4)]):\n"
               "    let p: float32*global = X.data\n"
               "    X[0, 0] = 1.0\n");
    help_gives(*state,
               "import tvm.tirx as tx\n"
               "import tvm\n"
               "@tvm.tirx.function\n"
               "def k(X: tx.Tensor((8,), \"float32\")):\n"
               "    X[0] = 1.0\n",
               NULL,
               "function k(X: float32[8]):\n"
               "    X[0] = 1.0\n");
    help_gives(*state,
               "from tvm_tirx.tirx.layout import TileLayout, S\n"
               "@Tx.function\n"
               "def a(X: Tx.Tensor((4,), \"float32\", layout=TileLayout(S[(4,)]))):\n"
               "    X[0] = T.float32(1)\n",
               NULL,
               "function a(X: float32[4] layout=S[4:1]):\n"
               "    X[0] = 1.0\n");
}

static void several_kernels(void **state) {
    help_gives(*state,
               "def make(n):\n"
               "    @T.function\n"
               "    def inner(X: T.Tensor((n,), \"float32\")):\n"
               "        X[0] = n\n"
               "    return inner\n"
               "@T.function\n"
               "def one(X: T.Tensor((4,), \"float32\")):\n"
               "    X[0] = 1.0\n"
               "@T.function\n"
               "def two(X: T.Tensor((4,), \"float32\")):\n"
               "    X[0] = 2.0\n"
               "made = make(16)\n",
               NULL,
               "function one(X: float32[4]):\n"
               "    X[0] = 1.0\n"
               "\n"
               "function two(X: float32[4]):\n"
               "    X[0] = 2.0\n"
               "\n"
               "function inner(X: float32[16]):\n"
               "    X[0] = 16.0\n");
    help_result only =
        help_evaluate(*state,
                      "@T.function\ndef one(X: T.Tensor((4,), \"float32\")):\n    X[0] = missing\n"
                      "@T.function\ndef two(X: T.Tensor((4,), \"float32\")):\n    X[0] = 2.0\n",
                      "two", NULL);
    assert_string_equal(only.messages, "");
    assert_string_equal(only.text, "function two(X: float32[4]):\n    X[0] = 2.0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(numbers),
        UNIT_WITH_ARENA(sequences),
        UNIT_WITH_ARENA(text),
        UNIT_WITH_ARENA(functions_of_the_script),
        UNIT_WITH_ARENA(functions_on_values_of_the_kernel),
        UNIT_WITH_ARENA(module_level),
        UNIT_WITH_ARENA(definitions_come_first),
        UNIT_WITH_ARENA(aliases),
        UNIT_WITH_ARENA(several_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
