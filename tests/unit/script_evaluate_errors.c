/* SPDX-License-Identifier: Apache-2.0
 * Every report of the evaluator: its code, its place, its text. */
#include "unit/script_help.h"

/* T0201 T0202 */
static void names(void **state) {
    BODY_SAYS("B[tx] = missing + 1\n"
              "B[0] = 2.0\n"
              "C[missing2] = 1\n",
              "5:13 T0201 name 'missing' is not defined", "7:7 T0201 name 'missing2' is not defined");
    BODY_SAYS("if n > 2:\n"
              "    inner = 1\n"
              "C[0] = inner\n"
              "for i in range(3):\n"
              "    pass\n"
              "C[1] = i\n",
              "7:12 T0201 name 'inner' is not defined", "10:12 T0201 name 'i' is not defined");
    SAYS("@T.function\n"
         "def k(A: T.Tensor((M, 4), \"float32\")):\n"
         "    A[0, 0] = N\n",
         "2:20 T0201 name 'M' is not defined", "3:15 T0201 name 'N' is not defined");
    BODY_SAYS("B[0] = A.shap[0]\n"
              "B[1] = T.alloc_share((4,))\n"
              "B[2] = T.cuda.cta_sink()\n"
              "B[3] = T.cta_sync()\n",
              "5:14 T0202 a tensor of shape (64,) and dtype float32 has no attribute 'shap'",
              "6:14 T0202 the dialect has no word 'alloc_share'", "7:19 T0202 'cuda' has no word 'cta_sink'",
              "8:14 T0202 the dialect has no word 'cta_sync'");
}

/* T0203 T0204 */
static void arguments(void **state) {
    BODY_SAYS("T.cuda.cta_sync(1)\n"
              "a = T.Ramp(tx, 1)\n"
              "b = T.alloc_local((4,), \"float32\", name=\"b\")\n"
              "c = T.alloc_local((4,), shape=(3,))\n"
              "d = T.decl_tensor((4,), \"float32\")\n",
              "5:21 T0203 cuda.cta_sync takes 0 positional arguments",
              "6:9 T0203 Ramp needs an argument 'lanes'", "7:45 T0204 alloc_local takes no argument 'name'",
              "8:35 T0204 alloc_local got 'shape' twice",
              "9:9 T0203 decl_tensor needs a pointer: it makes no storage");
    SAYS("def f(a, b=1):\n"
         "    return a\n"
         "x = f()\n"
         "y = f(1, 2, 3)\n"
         "z = f(1, c=2)\n"
         "@T.function\n"
         "def k():\n"
         "    pass\n",
         "3:5 T0203 f needs an argument 'a'", "4:13 T0203 too many arguments for f",
         "5:12 T0204 f takes no argument 'c'");
}

/* T0205 covers: A65 */
static void kinds_of_values(void **state) {
    BODY_SAYS("d = T.decl_tensor(A, ty_args=[T.Tensor((4,), \"float32\")])\n"
              "e = T.address_of(3)\n"
              "f = T.alloc_tensor((4,), \"float32\", scope=\"sharde\")\n"
              "g = T.alloc_tensor(ty_args=[\"float32\"])\n"
              "x = T.float32(1).data\n"
              "y = T.alloc_shared((4,), \"float32\", align=48)\n"
              "z = T.cast(n, 4)\n"
              "w = T.cuda.cta_sync()\n",
              "5:23 T0205 the storage of a declaration must be a pointer, not a tensor of shape (64,) and "
              "dtype float32",
              "6:22 T0205 address_of takes a tensor or an element, not an int",
              "7:47 T0205 'sharde' is no memory scope",
              "8:32 T0205 ty_args takes one tensor type: ty_args=[Tensor(shape, dtype, ...)]",
              "9:22 T0202 a value of type float32 has no attribute 'data'",
              "10:47 T0205 an alignment is a power of two up to 1 MiB, not 48",
              "11:19 T0205 an element type such as \"float32\" was expected, not an int",
              "12:9 T0205 the right side gives no value to assign");
}

/* T0206 T0207 T0208 T0229 */
static void kernels_and_parameters(void **state) {
    SAYS("x = 1\n", "1:1 T0206 the file has no kernel");
    SAYS("def k(A):\n"
         "    pass\n",
         "1:1 T0206 the file has no kernel");
    SAYS("@T.function\n"
         "def k(A, n: int, t: 4):\n"
         "    pass\n",
         "2:7 T0207 parameter 'A' has no type",
         "2:13 T0207 the type of a parameter cannot be a word of the dialect",
         "2:21 T0207 the type of a parameter cannot be an int");
    SAYS("@T.cuda\n"
         "def k():\n"
         "    pass\n",
         "1:2 T0208 a namespace of the dialect is no decorator of the dialect");
    SAYS("@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\")):\n"
         "    A[0] = 1.0\n"
         "@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\")):\n"
         "    A[0] = 2.0\n",
         "5:5 T0229 a second kernel named 'k'");
    SAYS("@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\", scope=\"shared\")):\n"
         "    pass\n",
         "2:10 T0205 a parameter is in global memory, not in shared");
}

/* T0210 T0241 */
static void constants(void **state) {
    BODY_SAYS("m = 4\n"
              "a = T.alloc_local((m,), \"float32\")\n"
              "b = T.alloc_shared((n,), \"float32\")\n"
              "for i in T.unroll(n):\n"
              "    pass\n"
              "T.static_assert(n > 2)\n",
              "6:23 T0210 an extent must be a constant integer, not a tensor of shape (1,) and dtype int32",
              "7:9 T0210 an allocation needs constant extents",
              "8:14 T0241 an unrolled loop needs a constant number of rounds",
              "10:21 T0210 the condition of static_assert must be a constant truth value, not a value of "
              "type bool");
}

/* T0211 T0212 T0215 T0216 */
static void axes_and_indices(void **state) {
    BODY_SAYS(
        "M = A.view(8, 8)\n"
        "M[0, 1, 2] = 1.0\n"
        "B[0] = M[1:3]\n"
        "B[1] = A\n"
        "B[A[0]] = 1.0\n"
        "B[-1] = 1.0\n"
        "P = M.permute(0, 0)\n"
        "Q = M.permute(1)\n"
        "z = T.alloc_local((0,), \"float32\")\n",
        "6:7 T0211 'M' has 2 axes, the index has 3", "7:12 T0215 a region of 'M' is not a value",
        "8:12 T0215 a tensor of shape (64,) and dtype float32 is not a value that a kernel can compute with",
        "9:7 T0212 an index must be an integer, not float32",
        "10:7 T0216 index -1 of 'B': indices count from 0",
        "11:9 T0211 permute takes every axis number from 0 to 1 once",
        "12:9 T0211 permute of 1 axes; 'M' has 2", "13:23 T0212 an extent of 0: extents are positive");
}

/* T0213; failure case A22 covers: A22 A75 */
static void layouts_describe_the_domain(void **state) {
    SAYS("@T.function\n"
         "def k(A: T.Tensor((4, 8), \"float32\", layout=TileLayout(S[(4, 4) : (4, 1)]))):\n"
         "    pass\n",
         "2:45 T0213 the layout S[(4,4):(4,1)] has 16 coordinates, the shape has 32 elements");
    BODY_SAYS("V = A.view(63)\n"
              "W = A.view(3, -1)\n"
              "R = T.alloc_local((32, 4), \"float32\", layout=TileLayout(S[(32, 4) : (1 @ laneid, 2)] + 1))\n"
              "x = R.view(4, layout=\"default\")\n"
              "y = R.view(4, layout=TileLayout(S[(4,) : (3,)]))\n"
              "z = T.alloc_local((4,), \"uint8\").view(\"uint64\")\n",
              "5:9 T0213 the view has 63 elements, 'A' has 64 elements",
              "6:9 T0213 -1 has no whole extent here: 'A' is a tensor of shape (64,) and dtype float32",
              "8:9 T0213 the view has 4 elements, 'R' has 8 slots in storage",
              "9:9 T0213 the view has 10 elements, 'R' has 8 slots in storage",
              "10:9 T0213 elements of 8 bits do not divide the last axis of 'tensor1' into 64 bits");
    SAYS("n = T.int32()\n"
         "@T.function\n"
         "def k(A: T.Tensor((n, 8), \"float32\", layout=TileLayout(S[(4, 8)]))):\n"
         "    pass\n",
         "3:45 T0213 an explicit layout needs constant extents");
}

/* T0214 */
static void malformed_layouts(void **state) {
    SAYS("a = S[(4, 8) : (8,)]\n"
         "b = S[(0, 8)]\n"
         "c = S[(4,) : (1 @ \"lane\",)]\n"
         "d = TileLayout(R[4 : 1])\n"
         "e = S[4:]\n"
         "@T.function\n"
         "def k():\n"
         "    pass\n",
         "1:5 T0214 2 extents and 1 strides: there is one stride per extent",
         "2:5 T0214 extent 0 of a layout is 0: extents are positive", "3:15 T0214 'lane' is no layout axis",
         "4:5 T0214 a layout needs a shard part: S[...]",
         "5:5 T0214 S[extents : strides] needs both sides of the colon");
}

/* T0217: a reshape keeps the thread axes, so it stays refused covers: A74 A76 */
static void distributed_tensors(void **state) {
    BODY_SAYS("R = T.alloc_local((32, 8), \"float32\", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))\n"
              "B[0] = R[0, 0]\n"
              "R[1, 1] = 2.0\n"
              "p = R.ptr_to([0, 0])\n"
              "V = R.view(8, 32)\n"
              "B[1] = V[0, 0]\n",
              "6:12 T0217 'R' is distributed over threads: it has no element here",
              "7:5 T0217 'R' is distributed over threads: it has no element here",
              "8:18 T0217 'R' is distributed over threads: it has no element here",
              "10:12 T0217 'V' is distributed over threads: it has no element here");
}

/* T0220 T0221; failure cases E02 E05, with the place of the let in a note covers: A46 */
static void lets_never_change(void **state) {
    BODY_SAYS("v: T.let = n * 2\n"
              "if n > 1:\n"
              "    v = 0\n"
              "v = n + 1\n"
              "v -= 1\n"
              "v: T.let = 3\n"
              "v: T.int32 = 4\n"
              "w: T.let = 5\n"
              "w = 6\n"
              "tx = 3\n",
              "7:9 T0221 'v' cannot be assigned: it is a let: its value never changes",
              "8:5 T0221 'v' cannot be assigned: it is a let: its value never changes",
              "9:5 T0220 'v' cannot be assigned: it is a let: its value never changes",
              "10:5 T0221 'v' cannot be assigned: it is a let: its value never changes",
              "11:5 T0221 'v' cannot be assigned: it is a let: its value never changes",
              "13:5 T0221 'w' cannot be assigned: it is a let: its value never changes",
              "14:5 T0221 'tx' cannot be assigned: it is a let: its value never changes");
    help_result result = help_evaluate(
        *state, help_indent(*state, HELP_HEAD, "v: T.let = n * 2\nif n > 1:\n    v = 0\n"), NULL, NULL);
    help_notes(*state, &result, "5:5 'v' was bound here");
}

/* T0222 T0223 T0224 T0225 T0227 T0228 */
static void other_immutable_names(void **state) {
    BODY_SAYS("p = A.data\n"
              "p = B.data\n"
              "n = 3\n"
              "n += 1\n"
              "for i in range(4):\n"
              "    i = 2\n"
              "    i += 1\n"
              "x: T.let\n"
              "q: T.handle = A.data\n"
              "r: T.f32[4] = 0.0\n"
              "A.shape = (4,)\n"
              "A.dtype = \"int32\"\n",
              "6:5 T0222 'p' cannot be assigned: it is a pointer, which is bound once",
              "7:5 T0223 'n' cannot be assigned: it is a parameter of the kernel",
              "8:5 T0223 'n' cannot be assigned: it is a parameter of the kernel",
              "10:9 T0224 'i' cannot be assigned: it is the variable of a loop",
              "11:9 T0224 'i' cannot be assigned: it is the variable of a loop",
              "12:5 T0225 a let needs its value where it stands", "13:8 T0228 a pointer is no mutable scalar",
              "14:19 T0228 an array has no initial value", "15:5 T0227 'shape' of a tensor is read-only",
              "16:5 T0227 'dtype' of a tensor is read-only");
}

/* T0229 */
static void targets(void **state) {
    BODY_SAYS("a, a = 1, 2\n"
              "b, c = 1, 2, 3\n",
              "5:8 T0229 'a' stands twice in one target", "6:5 T0229 2 targets for 3 values");
}

/* T0230 T0231 T0232 T0233 */
static void types(void **state) {
    BODY_SAYS("a = T.alloc_local((4,), \"float33\")\n"
              "b = C[0] + 3000000000\n"
              "c = T.uint8(300)\n"
              "d = n / 2\n"
              "e = A.data + 4\n"
              "f = T.cast(A[0], \"float8_e4m3fn\") + T.cast(A[0], \"float8_e5m2\")\n"
              "g = T.reinterpret(\"int64\", A[0])\n"
              "h = ~A[0]\n"
              "i = T.truncdiv(A[0], 2)\n"
              "j = T.popcount(A[0])\n"
              "l = T.exp(n)\n",
              "5:29 T0230 'float33' is no element type", "6:9 T0231 3000000000 does not fit int32",
              "7:17 T0231 300 does not fit uint8", "8:9 T0232 `/` between integers could mean two things",
              "9:9 T0233 no arithmetic between float32*global and int32",
              "10:9 T0233 float8_e4m3fn and float8_e5m2 have no common type",
              "11:9 T0233 float32 has 32 bits, int64 has 64",
              "12:9 T0262 operator ~ takes integers, not float32",
              "13:9 T0205 truncdiv takes integers, not float32",
              "14:9 T0205 popcount takes an integer, not float32", "15:9 T0205 exp takes a float, not int32");
}

/* T0234 */
static void lanes(void **state) {
    BODY_SAYS("B[T.Ramp(0, 1, 4)] = A[T.Ramp(0, 1, 2)]\n"
              "x = A[T.Ramp(0, 1, 4)] + A[T.Ramp(0, 1, 2)]\n"
              "M = A.view(8, 8)\n"
              "M[T.Ramp(0, 1, 4), 0] = 1.0\n"
              "y = T.Broadcast(A[0], 100)\n"
              "if A[T.Ramp(0, 1, 2)] > 1.0:\n"
              "    pass\n",
              "5:5 T0234 a value of 2 lanes into 4 lanes of 'B' (1 per element)",
              "6:9 T0234 vectors of 4 and 2 lanes do not go together",
              "8:7 T0234 a vector index of 'M' stands on axis 0; only the last axis takes one",
              "9:27 T0234 a vector of 100 lanes; 1 to 64 are possible",
              "10:8 T0234 the test of an if is one truth value, not a vector");
}

/* T0240 T0241 T0242 T0243 T0244 */
static void loops(void **state) {
    BODY_SAYS("for x in [1, 2]:\n"
              "    y = x\n"
              "for i in T.unroll(n):\n"
              "    pass\n"
              "for i in T.unroll(4):\n"
              "    break\n"
              "for i in range(8, 0, -1):\n"
              "    pass\n"
              "for i in T.serial(4, dtype=\"int8\"):\n"
              "    pass\n"
              "for i in T.serial(4, unroll=0):\n"
              "    pass\n"
              "for i, j in range(3):\n"
              "    pass\n"
              "T.serial(4)\n"
              "for i in T.grid(2, 3):\n"
              "    pass\n",
              "5:14 T0240 a kernel cannot loop over a list",
              "7:14 T0241 an unrolled loop needs a constant number of rounds",
              "10:9 T0242 break inside an unrolled or vectorized loop",
              "11:14 T0243 a step of -1: a loop counts upwards",
              "13:32 T0244 a loop variable is int32 or uint32, not int8",
              "15:33 T0241 an unroll factor of 0; it is 1 or more",
              "17:9 T0240 the loop gives 1 value: its target is one name",
              "19:5 T0240 a loop that no for runs", "20:9 T0240 the loop gives 2 values, one for each name");
}

/* T0245 T0246 */
static void tests_and_returns(void **state) {
    BODY_SAYS("if 4:\n"
              "    pass\n"
              "while A.data:\n"
              "    pass\n"
              "if n > 1:\n"
              "    return 2\n"
              "while T.cuda.warp_sum(n) > 3:\n"
              "    pass\n",
              "5:8 T0245 the test of an if is a truth value, not an int",
              "7:11 T0245 the condition of a while must be a truth value, not float32*global",
              "10:9 T0246 a kernel returns nothing",
              "11:11 T0245 the condition of a while is evaluated every round: it cannot hold a reduction or "
              "a view");
    SAYS("def f(x):\n"
         "    if x > 2:\n"
         "        return 1\n"
         "    return 2\n"
         "@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\")):\n"
         "    A[0] = f(A[1])\n",
         "2:8 T0245 a plain function cannot branch on a value of type bool");
}

/* T0247 T0248 T0249 */
static void operands_of_words(void **state) {
    BODY_SAYS("T.cuda.printf(\"%d %d\", n)\n"
              "T.cuda.printf(\"%y\", n)\n"
              "T.cuda.printf(\"%f\", T.float16(1))\n"
              "x = T.cuda.warp_sum(A[0], 24)\n"
              "y = T.cuda.warp_reduce(n, \"product\")\n"
              "z = T.tvm_warp_shuffle(T.uint32(1), n > 1, 0, 32, 32)\n"
              "q = T.alloc_shared((4,), \"int8\")\n"
              "T.cuda.atomic_add(q.ptr_to([0]), 1)\n"
              "T.cuda.atomic_and(A.ptr_to([0]), 1)\n"
              "r = T.alloc_local((4,), \"int32\")\n"
              "T.cuda.atomic_add(r.ptr_to([0]), 1)\n",
              "5:5 T0247 the format takes 2 values, 1 is given",
              "6:19 T0247 a % of this format begins no conversion", "7:25 T0247 printf does not take float16",
              "8:31 T0248 a width of 24; it is 2, 4, 8, 16 or 32",
              "9:31 T0248 a reduction by 'product'; sum, max and min are possible",
              "10:41 T0248 tvm_warp_shuffle does not move bool",
              "12:23 T0249 cuda.atomic_add works on elements of 32 or 64 bits, not on int8*shared",
              "13:23 T0249 cuda.atomic_and works on integers, not on float32",
              "15:23 T0249 an atomic on local memory: no other thread sees it");
}

/* T0244 T0248: what would be executed by some lanes only is refused */
static void reductions_on_one_side(void **state) {
    BODY_SAYS(
        "B[0] = T.cuda.warp_sum(A[0]) if n > 3 else 0.0\n"
        "B[1] = T.if_then_else(n > 3, 0.0, T.cuda.warp_sum(A[0]))\n"
        "f = n > 3 and T.cuda.warp_max(n) > 2\n",
        "5:12 T0248 a reduction in a place that is not always evaluated, such as one side of a condition",
        "6:39 T0248 a reduction in a place that is not always evaluated, such as one side of a condition",
        "7:19 T0248 a reduction in a place that is not always evaluated, such as one side of a condition");
    SAYS("@T.prim_func\n"
         "def k():\n"
         "    T.device_entry()\n"
         "    x = T.cta_id([2], dtype=\"float32\")\n"
         "    y = [A[0] for A[0] in range(2)]\n",
         "4:29 T0244 an index is int32 or uint32, not float32",
         "5:19 T0229 the target of a comprehension is a name, not a subscript");
}

/* T0250 T0251 T0252 T0254 T0255; failure case H07 */
static void launches(void **state) {
    SAYS("@T.function\n"
         "def k():\n"
         "    T.device_entry()\n"
         "    T.device_entry()\n",
         "4:5 T0250 a second device entry in one function");
    SAYS("@T.function\n"
         "def k():\n"
         "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1, 2, 3, 4), block=(32,)))\n"
         "@T.function\n"
         "def l():\n"
         "    T.device_entry(launch=T.cuda.LaunchConfig(grid=0, block=(64, 32)))\n"
         "@T.function\n"
         "def m():\n"
         "    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=32), "
         "options=T.cuda.KernelOptions(min_blocks_per_sm=2, max_registers_per_thread=32))\n"
         "@T.function\n"
         "def o():\n"
         "    T.device_entry(launch=T.cuda.LaunchConfig(grid=2, block=(64, 32)))\n",
         "3:52 T0251 4 extents; a launch has 1 to 3", "6:52 T0212 an extent of 0: extents are positive",
         "9:74 T0251 a register cap together with launch bounds",
         "12:61 T0251 a block of 2048 threads; 1024 is the limit");
    SAYS("@T.prim_func\n"
         "def k():\n"
         "    T.device_entry()\n"
         "    t = T.thread_id([64])\n"
         "    w = T.warp_id([4])\n"
         "@T.prim_func\n"
         "def l():\n"
         "    t = T.thread_id([64])\n"
         "@T.prim_func\n"
         "def m():\n"
         "    T.device_entry()\n"
         "    a = T.cta_id([64])\n"
         "    b = T.cta_id([32])\n"
         "    c = T.lane_id([16])\n"
         "@T.function\n"
         "def n():\n"
         "    T.device_entry(launch=T.cuda.LaunchConfig(grid=1, block=48))\n"
         "    w = T.cuda.warp_id()\n"
         "    t = T.thread_id([48])\n",
         "5:9 T0252 4 warps are 128 threads, thread_id has 64",
         "8:9 T0252 thread_id needs a device entry before it",
         "13:9 T0252 the extent of cta_id on axis x is 32 here and 64 before",
         "14:19 T0252 the extent of lane_id is always 32",
         "18:9 T0252 cuda.warp_id needs a constant block of whole warps (a multiple of 32 threads)",
         "19:9 T0252 thread_id beside a LaunchConfig: the launch is given already");
    BODY_SAYS("T.attr({\"tirx.max_register\": 64})\n"
              "x = T.cuda.thread_idx(0)\n"
              "y = T.cuda.block_idx(\"w\")\n",
              "5:12 T0254 the attribute 'tirx.max_register' is unknown and left out",
              "6:27 T0255 an axis is \"x\", \"y\" or \"z\"", "7:26 T0255 an axis is \"x\", \"y\" or \"z\"");
}

/* T0254 */
static void left_out(void **state) {
    BODY_SAYS("a = T.alloc_local((4,), \"float32\", annotations={\"x\": 1})\n"
              "for i in T.serial(4, annotations={\"p\": 2}):\n"
              "    a[i] = A[i]\n"
              "b = T.alloc_buffer((4,), \"float32\", data=A.data, scope=\"local\")\n",
              "5:52 T0254 annotations= of alloc_local is left out",
              "6:38 T0254 annotations= of serial is left out",
              "8:46 T0299 an allocation over a pointer is not supported yet");
}

/* T0253 */
static void words_outside_a_kernel(void **state) {
    SAYS("a = T.alloc_shared((4,), \"float32\")\n"
         "b = T.cuda.thread_idx(\"x\")\n"
         "T.cuda.cta_sync()\n"
         "@T.function\n"
         "def k():\n"
         "    pass\n",
         "1:5 T0253 an allocation belongs into the body of a kernel",
         "2:5 T0253 cuda.thread_idx belongs into the body of a kernel",
         "3:1 T0253 cuda.cta_sync belongs into the body of a kernel");
}

/* T0260 T0261 T0262 T0263 T0264 */
static void compile_time_arithmetic(void **state) {
    SAYS("a = 2 ** 64\n"
         "b = 9223372036854775807 + 1\n"
         "c = 5 // 0\n"
         "d = 5 % 0\n"
         "e = \"a\" + 1\n"
         "f = [1, 2][2]\n"
         "g = {\"a\": 1}[\"b\"]\n"
         "h = 3(4)\n"
         "i = -(1 << 70)\n"
         "j = len(3)\n"
         "@T.function\n"
         "def k():\n"
         "    pass\n",
         "1:5 T0260 the result of this compile-time arithmetic does not fit 64 bits",
         "2:5 T0260 the result of this compile-time arithmetic does not fit 64 bits",
         "3:5 T0261 division by zero", "4:5 T0261 division by zero",
         "5:5 T0262 operator + does not take a string and an int",
         "6:12 T0263 index 2 is outside a list of 2 items", "7:14 T0263 the dict has no key 'b'",
         "8:5 T0264 an int cannot be called",
         "9:7 T0260 the result of this compile-time arithmetic does not fit 64 bits",
         "10:5 T0240 an int cannot be iterated at compile time");
    BODY_SAYS("x = n // 0\n"
              "y = T.truncmod(n, 0)\n"
              "T.cuda.cta_sync\n",
              "5:9 T0261 division by zero", "6:9 T0261 division by zero",
              "7:5 T0264 'cuda.cta_sync' is named, not called");
}

/* T0265 T0266 T0267 */
static void packages_assertions_and_raise(void **state) {
    SAYS("import torch\n"
         "from numpy import zeros\n"
         "a = torch.empty(4)\n"
         "b = zeros(3)\n"
         "assert 1 == 2, \"never\"\n"
         "def f():\n"
         "    raise ValueError(f\"bad {3}\")\n"
         "f()\n"
         "from tvm.script import tirx2\n"
         "from math import sqroot\n"
         "@T.function\n"
         "def k():\n"
         "    T.static_assert(1 > 2, \"order\")\n"
         "    import math\n",
         "3:5 T0265 torch.empty is not available while compiling: tirc runs no Python packages",
         "4:5 T0265 numpy.zeros is not available while compiling: tirc runs no Python packages",
         "5:1 T0266 the assertion is false: never", "7:5 T0267 the script raised an error: bad 3",
         "9:24 T0202 the dialect has no word 'tirx2'", "10:18 T0202 'math' has no word 'sqroot'",
         "13:5 T0266 the assertion is false: order", "14:5 T0265 an import in the body of a kernel");
}

/* T0270 T0271 T0272 T0273; failure case B09 covers: A19 A30 */
static void storage(void **state) {
    BODY_SAYS("a = T.alloc_tensor(ty_args=[T.Tensor((4,), \"float32\", scope=\"shared.dyn\")])\n"
              "b = T.alloc_tensor((4,), \"float32\", scope=\"shared.dyn\")\n"
              "c = T.alloc_buffer((4,), \"float32\")\n"
              "d = T.Tensor((4, 8), \"float32\", strides=(16, 1))\n"
              "e = T.alloc_shared((4,), \"float32\", elem_offset=3)\n"
              "f = T.decl_tensor(A.data, ty_args=[T.Tensor((4,), \"float32\", scope=\"local\")])\n",
              "6:9 T0270 a second allocation of dynamic shared memory",
              "7:9 T0271 a kernel cannot allocate global memory",
              "8:45 T0272 strides is no argument here: only the layout has strides and origin",
              "9:53 T0272 elem_offset is no argument here: only the layout has strides and origin",
              "10:23 T0273 the pointer is in global memory, the declaration says local: the pointer decides");
    help_result result =
        help_evaluate(*state,
                      help_indent(*state, HELP_HEAD,
                                  "a = T.alloc_tensor((4,), \"float32\", scope=\"shared.dyn\")\n"
                                  "b = T.alloc_tensor((4,), \"float32\", scope=\"shared.dyn\")\n"),
                      NULL, NULL);
    help_notes(*state, &result, "5:9 the first is here");
}

/* T0263 T0280 T0281 */
static void limits(void **state) {
    static const script_options few = {.step_limit = 1000}, flat = {.depth_limit = 20};
    help_result steps = help_evaluate(*state, "def f():\n    while True:\n        pass\nf()\n", NULL, &few);
    assert_int_equal(base_diagnostics_count(steps.list), 1);
    assert_string_equal(base_diagnostics_at(steps.list, 0)->code, "T0280");
    help_result levels = help_evaluate(*state, "def f(n):\n    return f(n)\nf(1)\n", NULL, &flat);
    assert_int_equal(base_diagnostics_count(levels.list), 1);
    assert_string_equal(base_diagnostics_at(levels.list, 0)->code, "T0281");
    help_result deep =
        help_evaluate(*state,
                      "def f(x):\n    for i in range(2000):\n        x = x * x\n    return x\n"
                      "@T.function\ndef k(A: T.Tensor((8,), \"float32\")):\n    A[0] = f(A[1])\n",
                      NULL, NULL);
    assert_int_equal(base_diagnostics_count(deep.list), 1);
    assert_string_equal(base_diagnostics_at(deep.list, 0)->code, "T0281");
    help_result huge = help_evaluate(*state, "x = \"ab\"\nfor i in range(64):\n    x = x + x\n", NULL, NULL);
    assert_string_equal(base_diagnostics_at(huge.list, 0)->code, "T0263");
    base_builder nest;
    base_builder_start(&nest, *state);
    base_builder_string(&nest, "@T.function\ndef k(A: T.Tensor((8,), \"float32\")):\n");
    for (unsigned i = 0; i < 60; i++) {
        base_builder_repeat(&nest, ' ', i + 1);
        base_builder_format(&nest, "for a%u, b%u, c%u, d%u in T.grid(2, 2, 2, 2):\n", i, i, i, i);
    }
    base_builder_repeat(&nest, ' ', 61);
    base_builder_string(&nest, "A[0] = 1.0\n");
    help_result loops = help_evaluate(*state, nest.data, NULL, NULL);
    assert_int_equal(base_diagnostics_count(loops.list), 1);
    assert_string_equal(base_diagnostics_at(loops.list, 0)->code, "T0281");
    help_result self = help_evaluate(*state, "x = [1]\nx.append(x)\ny = f\"{x}\"\nz = x == x\n", NULL, NULL);
    assert_string_equal(base_diagnostics_at(self.list, 0)->code, "T0262");
}

/* T0299, each naming the construct at its place, all in one run */
static void not_supported_yet(void **state) {
    SAYS("from tvm.backend.cuda.lang import SMEMPool\n"
         "@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\")):\n"
         "    pool = T.call_packed('f')\n"
         "    pool.commit()\n"
         "    a = b = 3\n"
         "    x = T.tvm_stack_alloca('tensormap', 1)\n"
         "    y = T.alloc_tensor((4,), \"float32\", scope=\"tmem\")\n"
         "    try:\n"
         "        pass\n"
         "    except ValueError:\n"
         "        pass\n"
         "    A[0] = 1.0\n",
         "4:14 T0299 'call_packed' (host call: the program that launches the kernel makes it) is not "
         "supported yet",
         "6:5 T0299 a chained assignment in a kernel is not supported yet",
         "7:11 T0299 'tvm_stack_alloca' (host storage of a descriptor: take a parameter of type "
         "T.TensorMap() instead) is not supported yet",
         "8:9 T0299 an allocation of tensor memory is not supported yet",
         "9:5 T0299 a try statement in a kernel is not supported yet");
}

/* a wrong value silences what follows from it, and nothing else */
static void all_problems_in_one_run(void **state) {
    SAYS("@T.function\n"
         "def k(A: T.Tensor((8,), \"float32\")):\n"
         "    bad = missing\n"
         "    also = bad + 1\n"
         "    A[bad] = also\n"
         "    if bad > 2:\n"
         "        A[0] = other\n"
         "    for i in bad:\n"
         "        A[i] = third\n"
         "    A[1] = A[0, 0]\n",
         "3:11 T0201 name 'missing' is not defined", "7:16 T0201 name 'other' is not defined",
         "9:16 T0201 name 'third' is not defined", "10:14 T0211 'A' has 1 axis, the index has 2");
}

/* T0206 T0209 */
static void bad_definitions(void **state) {
    static const script_define wrong = {"3D", "1"}, broken = {"N", "4 +"}, unknown = {"N", "M * 2"};
    const script_options one = {.defines = &wrong, .define_count = 1},
                         two = {.defines = &broken, .define_count = 1},
                         three = {.defines = &unknown, .define_count = 1};
    static const char script[] = "@T.function\ndef k(A: T.Tensor((N,), \"float32\")):\n    A[0] = 1.0\n";
    assert_non_null(strstr(help_evaluate(*state, script, NULL, &one).messages, "T0209"));
    help_result cut = help_evaluate(*state, script, NULL, &two);
    assert_int_equal(base_diagnostics_count(cut.list), 1);
    assert_non_null(strstr(cut.messages, "-D N:1:"));
    help_result free = help_evaluate(*state, script, NULL, &three);
    assert_int_equal(base_diagnostics_count(free.list), 1);
    assert_non_null(strstr(free.messages, "-D N:1:1: error: name 'M' is not defined"));
    assert_non_null(strstr(help_evaluate(*state, "@T.function\ndef k():\n    pass\n", "other", NULL).messages,
                           "the file has no kernel 'other'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(names),
        UNIT_WITH_ARENA(arguments),
        UNIT_WITH_ARENA(kinds_of_values),
        UNIT_WITH_ARENA(kernels_and_parameters),
        UNIT_WITH_ARENA(constants),
        UNIT_WITH_ARENA(axes_and_indices),
        UNIT_WITH_ARENA(layouts_describe_the_domain),
        UNIT_WITH_ARENA(malformed_layouts),
        UNIT_WITH_ARENA(distributed_tensors),
        UNIT_WITH_ARENA(lets_never_change),
        UNIT_WITH_ARENA(other_immutable_names),
        UNIT_WITH_ARENA(targets),
        UNIT_WITH_ARENA(types),
        UNIT_WITH_ARENA(lanes),
        UNIT_WITH_ARENA(loops),
        UNIT_WITH_ARENA(tests_and_returns),
        UNIT_WITH_ARENA(operands_of_words),
        UNIT_WITH_ARENA(reductions_on_one_side),
        UNIT_WITH_ARENA(launches),
        UNIT_WITH_ARENA(left_out),
        UNIT_WITH_ARENA(words_outside_a_kernel),
        UNIT_WITH_ARENA(compile_time_arithmetic),
        UNIT_WITH_ARENA(packages_assertions_and_raise),
        UNIT_WITH_ARENA(storage),
        UNIT_WITH_ARENA(limits),
        UNIT_WITH_ARENA(not_supported_yet),
        UNIT_WITH_ARENA(all_problems_in_one_run),
        UNIT_WITH_ARENA(bad_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
