/* SPDX-License-Identifier: Apache-2.0
 * Factories, templates, inline functions, macros and classes: what they give, and which kernel a run takes.
 */
#include "unit/script_help.h"

static void takes(base_arena *arena, const char *script, const char *entry, const char *defines,
                  const char *expected) {
    script_define list[16];
    script_options options = {.defines = list};
    char *copy = base_arena_string(arena, defines, strlen(defines));
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = 0;
        list[options.define_count++] = (script_define){word, value + 1};
    }
    help_result result = help_evaluate(arena, script, entry, &options);
    const char *got = result.messages[0] ? result.messages : result.text;
    if (!strstr(got, expected)) {
        fprintf(stderr, "script:\n%s\ngot:\n%s\nexpected:\n%s\n", script, got, expected);
        fail_msg("another result than expected");
    }
}

#define FACTORY                                                                                              \
    "def make(M, N=8, *, scale=2):\n"                                                                        \
    "    half = M // 2\n"                                                                                    \
    "    @T.prim_func\n"                                                                                     \
    "    def kernel(A: T.Buffer((M, N), \"float32\")):\n"                                                    \
    "        A[0, half % N] = scale\n"                                                                       \
    "    return kernel\n"

static void factories(void **state) {
    takes(*state, FACTORY, "make", "M=6", "function kernel(A: float32[6, 8]):\n    A[0, 3] = 2.0\n");
    takes(*state, FACTORY, NULL, "M=6 N=2 scale=5",
          "function kernel(A: float32[6, 2]):\n    A[0, 1] = 5.0\n");
    takes(*state, FACTORY, "make", "N=4", "t.py:1:5: error: 'make' needs a value for M [T0381]");
    takes(*state, FACTORY, "make", "M=4 scal=4", "'make' takes no 'scal', and nothing reads it [T0381]");
    takes(*state, FACTORY "k4 = make(4)\nk8 = make(8, 4)\n", "k8", "",
          "function kernel_1(A: float32[8, 4]):\n    A[0, 0] = 2.0\n");
    takes(*state,
          FACTORY "def other(K):\n    @T.jit\n    def g(A: T.Buffer((K,), \"int8\")):\n        A[0] = 1\n",
          NULL, "", "the file has 2 functions that make a kernel [T0382]");
    takes(*state, "def make(M):\n    return M\n", "make", "M=3",
          "t.py:1:5: error: 'make' gives an int, not a kernel [T0383]");
    takes(*state,
          "def make(**sizes):\n" /* what no parameter takes */
          "    @T.prim_func\n"
          "    def kernel(A: T.Buffer((sizes[\"M\"],), \"int8\")):\n"
          "        A[0] = 1\n"
          "    return kernel\n",
          "make", "M=6", "function kernel(A: int8[6])");
    takes(*state,
          "@T.prim_func\n" /* a kernel that only a factory asks for */
          "def inner(A: T.Buffer((4,), \"int8\")):\n"
          "    A[0] = 1\n"
          "@T.prim_func\n"
          "def broken(A: T.Buffer((4,), \"int8\")):\n"
          "    A[0] = nothing\n"
          "def make():\n"
          "    return inner.with_attr(\"global_symbol\", \"named\")\n",
          "make", "", "function named(A: int8[4]):\n    A[0] = 1_int8\n");
    takes(*state, FACTORY "def pair(M):\n    return make(M), make(M + 1)\n", "pair", "M=2",
          "function kernel_1(A: float32[3, 8])");
    takes(*state, FACTORY, "mak", "", "the file has no kernel 'mak' [T0206]");
}

/* -D, specialize, caching, absent parameters */
static void templates(void **state) {
    static const char *const script =
        "@T.jit\n"
        "def k(A: T.Buffer((8,), \"int32\"), B: T.Optional(T.Buffer((8,), \"int32\")), *, K: T.constexpr,\n"
        "      twice: T.constexpr = False):\n"
        "    if twice:\n"
        "        A[0] = K * 2\n"
        "    else:\n"
        "        A[0] = K\n"
        "    if B is not None:\n"
        "        B[0] = 1\n";
    takes(*state, script, "k", "K=3", "function k(A: int32[8], B: int32[8]):\n    A[0] = 3\n    B[0] = 1\n");
    takes(*state, script, NULL, "K=3 B=None twice=True", "function k(A: int32[8]):\n    A[0] = 6\n");
    takes(*state, script, "k", "", "'k' needs a constant for K [T0384]");
    static const char *const cached = "@T.jit\n"
                                      "def k(A: T.Buffer((8,), \"int32\"), *, K: T.constexpr):\n"
                                      "    A[0] = K\n"
                                      "a = k.specialize(K=1)\n"
                                      "b = k.specialize(K=1)\n"
                                      "c = k.specialize(K=2)\n"
                                      "assert a is b and a is not c\n";
    takes(*state, cached, "c", "", "function k_1(A: int32[8]):\n    A[0] = 2\n");
    SAYS("@T.jit\n"
         "def k(A: T.Buffer((8,), \"int32\"), B: T.Optional(T.Buffer((8,), \"int32\")), *, K: T.constexpr):\n"
         "    A[0] = K\n"
         "k.specialize(K=1, L=2)\n"
         "k.specialize()\n"
         "k.specialize(K=[1])\n"
         "k.specialize(K=1, B=3)\n"
         "k.specialize(K=1, A=3)\n"
         "x = T.constexpr(3)\n",
         "4:1 T0384 specialize got 'L', which is no parameter of 'k'", "5:1 T0384 'k' needs a constant for K",
         "6:1 T0384 'K' of 'k' is a constant that never changes, not a list",
         "7:1 T0384 'B' of 'k' is optional: specialize takes only None for it, not an int",
         "8:1 T0384 'A' of 'k' is given at launch, not by specialize",
         "9:5 T0384 constexpr is the type of a parameter of @T.jit");
}

/* Spliced statements: late-bound lexical scope, defaults, keywords, callbacks, recursion, stores through
 * names */
static void inline_functions(void **state) {
    BODY("@T.inline\n"
         "def put(i, v=2.0, *, to):\n"
         "    to[i] = v * scale\n"
         "scale = T.meta_var(3.0)\n"
         "put(tx, to=B)\n"
         "put(0, A[tx], to=B)\n"
         "@T.inline\n"
         "def down(fn, c):\n"
         "    if c > 0:\n"
         "        down(fn, c - 1)\n"
         "    fn(c)\n"
         "@T.inline\n"
         "def mark(c):\n"
         "    C[c] = c\n"
         "down(mark, 2)\n",
         "B[tx] = 6.0\n"
         "B[0] = A[tx] * 3.0\n"
         "C[0] = 0\n"
         "C[1] = 1\n"
         "C[2] = 2\n");
    BODY("s: T.int32 = 1\n"
         "@T.inline\n"
         "def bump(x, y, z):\n"
         "    x = x + 1\n"
         "    s = s * 2\n"
         "    y = 7\n"
         "    local = z\n"
         "    local = local + 1\n"
         "bump(s, C[tx], n)\n"
         "@T.inline\n"
         "def early(flag):\n"
         "    if flag:\n"
         "        return 5\n"
         "    C[0] = 1\n"
         "C[1] = early(True)\n"
         "early(False)\n",
         "s: int32 = 1\n"
         "s = s + 1\n"
         "s = s * 2\n"
         "C[tx] = 7\n"
         "local: int32 = n\n"
         "local = local + 1\n"
         "C[1] = 5\n"
         "C[0] = 1\n");
    BODY_SAYS("@T.inline\n"
              "def early(x):\n"
              "    if x > 0:\n"
              "        return\n"
              "early(n)\n"
              "early(n, 2)\n",
              "8:13 T0385 return under a branch or loop of the kernel",
              "10:14 T0203 too many arguments for early");
    SAYS("@T.inline\n"
         "def f():\n"
         "    pass\n"
         "f()\n",
         "4:1 T0253 an inline function belongs into the body of a kernel");
}

/* A hygienic macro keeps what names were; the other kind sees those of its caller. */
static void macros(void **state) {
    BODY("v = T.meta_var(1)\n"
         "@T.macro\n"
         "def keeps(to):\n"
         "    to[0] = v\n"
         "@T.macro(hygienic=False)\n"
         "def sees(to):\n"
         "    to[0] = w\n"
         "v = T.meta_var(2)\n"
         "w = T.meta_var(3)\n"
         "keeps(C)\n"
         "sees(C)\n",
         "C[0] = 1\n"
         "C[0] = 3\n");
}

static void meta_classes(void **state) {
    help_gives(*state,
               "@T.meta_class\n"
               "class Ring:\n"
               "    limit = 4\n"
               "    def __init__(self, depth, name=\"ring\"):\n"
               "        self.stage = T.local_scalar(\"int32\")\n"
               "        self.slots = [T.alloc_local((2,), \"float32\") for _ in range(2)]\n"
               "        self.depth = depth\n"
               "    @property\n"
               "    def last(self):\n"
               "        return self.depth - 1\n"
               "    @staticmethod\n"
               "    def twice(x):\n"
               "        return x * 2\n"
               "    @classmethod\n"
               "    def of(cls, depth):\n"
               "        return cls(depth + cls.limit)\n"
               "    @T.inline\n"
               "    def advance(self):\n"
               "        self.stage = self.stage + 1\n"
               "        if self.stage == self.depth:\n"
               "            self.stage = 0\n"
               "@T.prim_func\n"
               "def k(A: T.Buffer((8,), \"int32\")):\n"
               "    ring = Ring(3)\n"
               "    ring.stage = 2\n"
               "    ring.advance()\n"
               "    ring.slots[1][0] = 1.0\n"
               "    A[0] = ring.stage + ring.last + Ring.twice(5)\n"
               "    other = Ring.of(1)\n"
               "    A[1] = other.depth\n"
               "    other.stage += 1\n",
               NULL,
               "function k(A: int32[8]):\n"
               "    ring_stage: int32\n"
               "    alloc ring_slots_0: float32[2] local\n"
               "    alloc ring_slots_1: float32[2] local\n"
               "    ring_stage = 2\n"
               "    ring_stage = ring_stage + 1\n"
               "    if ring_stage == 3:\n"
               "        ring_stage = 0\n"
               "    ring_slots_1[0] = 1.0\n"
               "    A[0] = ring_stage + 12\n"
               "    other_stage: int32\n"
               "    alloc other_slots_0: float32[2] local\n"
               "    alloc other_slots_1: float32[2] local\n"
               "    A[1] = 5\n"
               "    other_stage = other_stage + 1\n");
    SAYS("@T.meta_class\n"
         "class C:\n"
         "    def __init__(self):\n"
         "        lost = T.alloc_local((4,), \"float32\")\n"
         "        self.kept = T.alloc_local((4,), \"float32\")\n"
         "@T.prim_func\n"
         "def k(A: T.Buffer((8,), \"int32\")):\n"
         "    c = C()\n"
         "    c.missing = 1\n"
         "    A[0] = c.nothing\n"
         "    A[1] = c\n",
         "4:16 T0380 the constructor of 'C' allocates a tensor that no field of the object holds",
         "10:14 T0202 an object of 'C' has no attribute 'nothing'",
         "11:12 T0205 an object of 'C' is not a value");
}

static void classes(void **state) {
    help_gives(*state,
               "from dataclasses import dataclass, field\n"
               "from enum import Enum, IntEnum\n"
               "from typing import NamedTuple\n"
               "@dataclass(frozen=True)\n"
               "class Config:\n"
               "    block: int\n"
               "    stages: int = 3\n"
               "    extra: list = field(default_factory=list)\n"
               "    def __post_init__(self):\n"
               "        assert self.block > 0\n"
               "class Wide(Config):\n"
               "    def area(self):\n"
               "        return self.block * self.stages\n"
               "class Base:\n"
               "    def __init__(self, x):\n"
               "        self.x = x\n"
               "    def value(self):\n"
               "        return self.x\n"
               "    def __add__(self, other):\n"
               "        return self.x + other.x\n"
               "    def __len__(self):\n"
               "        return 9\n"
               "    def __getitem__(self, i):\n"
               "        return i * 10\n"
               "    def __call__(self, y):\n"
               "        return y + 100\n"
               "class Derived(Base):\n"
               "    def __init__(self, x):\n"
               "        super().__init__(x + 1)\n"
               "    def value(self):\n"
               "        return super().value() * 2\n"
               "class Mode(Enum):\n"
               "    A = 1\n"
               "    B = 2\n"
               "class Level(IntEnum):\n"
               "    LOW = 3\n"
               "class Point(NamedTuple):\n"
               "    x: int\n"
               "    y: int = 5\n"
               "d = Derived(4)\n"
               "assert Config(2) == Config(2) and Config(2) != Config(3) and d != Derived(4)\n"
               "assert isinstance(d, Base) and not isinstance(Base(1), Derived) and type(d) is Derived\n"
               "assert Mode(2) is Mode.B and Mode[\"A\"].value == 1 and Mode.A.name == \"A\"\n"
               "assert [m.value for m in Mode] == [1, 2] and hasattr(d, \"x\") and not hasattr(d, \"y\")\n"
               "a, b = Point(1)\n"
               "@T.function\n"
               "def k(X: T.Tensor((64,), \"int64\")):\n"
               "    X[0] = Wide(4).area() + Config(1).stages\n"
               "    X[1] = d.value()\n"
               "    X[2] = d + Base(3)\n"
               "    X[3] = len(d) + d[4] + d(1)\n"
               "    X[4] = Level.LOW + 1\n"
               "    X[5] = a + b + getattr(d, \"x\") + getattr(d, \"zz\", 7)\n",
               NULL,
               "function k(X: int64[64]):\n"
               "    X[0] = 15_int64\n"
               "    X[1] = 10_int64\n"
               "    X[2] = 8_int64\n"
               "    X[3] = 150_int64\n"
               "    X[4] = 4_int64\n"
               "    X[5] = 18_int64\n");
    SAYS("from dataclasses import dataclass\n"
         "@dataclass(frozen=True)\n"
         "class C:\n"
         "    x: int\n"
         "c = C(1)\n"
         "c.x = 2\n"
         "C()\n"
         "C(1, 2)\n"
         "C(y=1, x=2)\n"
         "class D:\n"
         "    @property\n"
         "    def p(self):\n"
         "        return 1\n"
         "D().p = 3\n"
         "D(4)\n"
         "class E(C, D):\n"
         "    pass\n"
         "super().x\n"
         "class F(3):\n"
         "    pass\n",
         "6:1 T0227 'x' of a frozen record cannot be assigned", "7:1 T0203 C needs an argument 'x'",
         "8:6 T0203 too many arguments for C", "9:5 T0204 C takes no argument 'y'",
         "14:1 T0227 'p' of an object of 'D' is a property", "15:3 T0203 D takes no arguments",
         "16:12 T0386 'E' has a second base class", "18:1 T0386 super() stands in a method",
         "19:9 T0386 an int is no class to build on");
}

/* Modules of kernels, decorators of the script, and of packages that are not there */
static void decorators(void **state) {
    takes(*state,
          "from tvm.script import ir as I\n"
          "@I.ir_module\n"
          "class Module:\n"
          "    @T.prim_func\n"
          "    def first(A: T.Buffer((8,), \"int32\")):\n"
          "        A[0] = 1\n"
          "    @T.prim_func\n"
          "    def second(A: T.Buffer((8,), \"int32\")):\n"
          "        A[0] = 2\n",
          "Module.second", "", "function second(A: int32[8]):\n    A[0] = 2\n");
    help_gives(*state,
               "import pytest\n"
               "import functools\n"
               "import tvm\n"
               "def twice(f):\n"
               "    @functools.wraps(f)\n"
               "    def wrapped(*args):\n"
               "        return f(*args) * 2\n"
               "    return wrapped\n"
               "@pytest.mark.parametrize(\"n\", [1])\n"
               "def test_it(n):\n"
               "    tvm.compile(n)\n"
               "@tvm.testing.requires_cuda\n"
               "def test_that():\n"
               "    pass\n"
               "@functools.lru_cache(maxsize=None)\n"
               "@twice\n"
               "def three():\n"
               "    return 3\n"
               "try:\n"
               "    import torch\n"
               "except ImportError:\n"
               "    torch = None\n"
               "@T.function\n"
               "def k(X: T.Tensor((4,), \"int64\")):\n"
               "    X[0] = three()\n",
               NULL, "function k(X: int64[4]):\n    X[0] = 6_int64\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(factories),  UNIT_WITH_ARENA(templates), UNIT_WITH_ARENA(inline_functions),
        UNIT_WITH_ARENA(macros),     UNIT_WITH_ARENA(classes),   UNIT_WITH_ARENA(meta_classes),
        UNIT_WITH_ARENA(decorators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
