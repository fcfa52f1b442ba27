/* SPDX-License-Identifier: Apache-2.0
 * Words of old scripts and of the reference's printer: they give what the newer words give. */
#include "unit/script_help.h"

#define HEAD "def k(A: T.Buffer((64,), \"float32\"), B: T.Buffer((64,), \"float32\")):\n"

/* The printed marker of the entry, bound loops, launch_thread and env_thread are the scope ids. */
static void entries(void **state) {
    static const char *const plain = "@T.prim_func\n" HEAD "    T.device_entry()\n"
                                     "    bx = T.cta_id([2])\n"
                                     "    tx = T.thread_id([32])\n"
                                     "    B[bx * 32 + tx] = A[tx]\n";
    help_equal(*state, plain,
               "@T.prim_func\n" HEAD "    T.attr({\"tirx.device_entry\": T.bool(True)})\n"
               "    bx = T.cta_id([2])\n"
               "    tx = T.thread_id([32])\n"
               "    B[bx * 32 + tx] = A[tx]\n");
    help_equal(*state, plain,
               "@T.prim_func\n" HEAD "    bx = T.launch_thread(\"blockIdx.x\", 2)\n"
               "    with T.launch_thread(\"threadIdx.x\", 32) as tx:\n"
               "        with T.attr({\"tirx.device_entry\": True}):\n"
               "            B[bx * 32 + tx] = A[tx]\n");
    help_equal(*state, plain,
               "@T.prim_func\n" HEAD "    for bx in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
               "        for tx in T.thread_binding(0, 32, thread=\"threadIdx.x\"):\n"
               "            B[bx * 32 + tx] = A[tx]\n");
    help_equal(*state, plain,
               "@T.prim_func\n" HEAD "    bx = T.env_thread(\"blockIdx.x\")\n"
               "    tx = T.env_thread(\"threadIdx.x\")\n"
               "    T.launch_thread(bx, 2)\n"
               "    T.launch_thread(tx, 32)\n"
               "    B[bx * 32 + tx] = A[tx]\n");
}

/* with device_entry(values..., attrs=...): the newer printer's form of a LaunchConfig */
static void printed_launch(void **state) {
    help_equal(*state,
               "@T.function\n" HEAD
               "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(32, 2)))\n"
               "    B[0] = A[1]\n",
               "@T.function\n" HEAD "    with T.device_entry(2, 1, 1, 32, 2, 1, "
               "attrs={\"cuda.kernel_attrs\": {}, \"cuda.launch_fields\":\n"
               "            [\"grid.x\", \"grid.y\", \"grid.z\", \"block.x\", \"block.y\", \"block.z\"]}):\n"
               "        B[0] = A[1]\n");
    SAYS("@T.function\n" HEAD "    T.device_entry(2, 1)\n", "3:20 T0251 launch values without the names");
    SAYS("@T.function\n" HEAD
         "    T.device_entry(2, attrs={\"cuda.launch_fields\": [\"grid.x\", \"grid.y\"]})\n",
         "3:29 T0251 cuda.launch_fields names 2 values, and 1 are given");
    SAYS("@T.function\n" HEAD "    T.device_entry(2, attrs={\"cuda.launch_fields\": [\"grid.w\"]})\n",
         "3:20 T0299 the launch field 'grid.w' by its place");
}

/* Jumps as calls, axes as Axis.NAME, .source of a scalar, types as values, tensors without axes */
static void small_words(void **state) {
    help_equal(*state,
               "@T.prim_func\n" HEAD "    for i in range(4):\n"
               "        if i == 2:\n"
               "            break\n"
               "        if i == 1:\n"
               "            continue\n"
               "        A[i] = 1.0\n",
               "@T.prim_func\n" HEAD "    for i in range(4):\n"
               "        if i == 2:\n"
               "            T.break_loop()\n"
               "        if i == 1:\n"
               "            T.continue_loop()\n"
               "        A[i] = 1.0\n");
    help_equal(
        *state,
        "@T.prim_func\n" HEAD
        "    a = T.alloc_shared((32, 2), \"float16\", layout=T.TileLayout(T.S[(32, 2) : (1 @ laneid, 1)]))\n",
        "@T.prim_func\n" HEAD "    a = T.alloc_shared((32, 2), \"float16\", "
        "layout=T.TileLayout(T.S[(32, 2) : (1 @ Axis.laneid, 1)]))\n");
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((), \"int32\")):\n"
               "    with T.hint(\"software pipeline\", depth=4):\n"
               "        s: T.int32 = 3\n"
               "        A[()] = s.source[0] + T.int32(len(A.shape))\n",
               NULL,
               "function k(A: int32[1]):\n"
               "    s: int32 = 3\n"
               "    A[0] = s + 1\n");
}

/* Pointers with an offset, the place of an element, a load through a pointer, an offset beside a layout */
static void addresses(void **state) {
    help_gives(*state,
               "@T.prim_func\n"
               "def k(A: T.Buffer((8, 16), \"float16\"), B: T.Buffer((8,), \"float16\"), i: T.int32):\n"
               "    T.device_entry()\n"
               "    tx = T.thread_id([1])\n"
               "    p: T.let[T.handle] = T.tvm_access_ptr(T.type_annotation(\"float16\"), A.data, 16, 8, 1)\n"
               "    B[0] = T.cuda.ldg(A.data, \"float16\")\n"
               "    B[T.buffer_offset(A[i, 3])] = B[1]\n"
               "    c = T.decl_buffer((2, 4), \"float16\", data=A.data, elem_offset=6,\n"
               "                      layout=T.TileLayout(T.S[(2, 4) : (16, 1)]))\n"
               "    B[2] = c[1, 2]\n",
               NULL,
               "function k(A: float16[8, 16], B: float16[8], i: int32):\n"
               "    launch:\n"
               "        grid = (1, 1, 1)\n"
               "        block = (1, 1, 1)\n"
               "    let tx: int32 = thread_idx.x\n"
               "    let p: float16*global = pointer_offset(A.data, 32)\n"
               "    view view0: float16[1] = A.data\n"
               "    B[0] = view0[0]\n"
               "    B[i * 16 + 3] = B[1]\n"
               "    view c: float16[2, 4] layout=S[(2,4):(16,1)]+6 = A.data\n"
               "    B[2] = c[1, 2]\n");
}

static void wrong_words(void **state) {
    SAYS("@T.prim_func\n" HEAD "    x = T.launch_thread(\"threadIdx.w\", 4)\n"
         "    y = T.launch_thread(\"threadIdx.x\", 4)\n"
         "    z = T.launch_thread(\"threadIdx.x\", 8)\n"
         "    for i in T.thread_binding(1, 4, thread=\"blockIdx.x\"):\n"
         "        pass\n"
         "    for j in T.thread_binding(4):\n"
         "        pass\n"
         "    T.break_loop()\n",
         "3:25 T0205 an index of the launch is \"blockIdx.x\" to \"threadIdx.z\"",
         "5:9 T0252 another extent of axis x of the block before",
         "6:31 T0299 thread_binding from another start than 0",
         "8:14 T0203 thread_binding needs thread=", "10:5 T0242 break outside a loop");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(entries),   UNIT_WITH_ARENA(printed_launch), UNIT_WITH_ARENA(small_words),
        UNIT_WITH_ARENA(addresses), UNIT_WITH_ARENA(wrong_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
