/* SPDX-License-Identifier: Apache-2.0
 * Attributes of tensor variables: the order of lookup, the two tables of the type, what is built when, and
 * what a receiver must be. */
#include "unit/script_help.h"

/* B.view(..) is B.ty.view(B, ..); both tables are readable, and their entries can be called. covers: A61 A62
 */
static void tables_of_the_type(void **state) {
    BODY(
        "methods = A.ty.__expr_methods__\n"
        "properties = A.ty.__expr_properties__\n"
        "assert \"view\" in methods and \"permute\" in methods and \"ptr_to\" in methods\n"
        "assert all([name in properties for name in (\"shape\", \"dtype\", \"layout\", \"sub\", \"data\")])\n"
        "assert not any([name in methods for name in properties.keys()])\n"
        "assert properties[\"shape\"](A.ty, A) == A.shape and properties[\"dtype\"](A.ty, A) == \"float32\"\n"
        "V = A.view(8, 8)\n"
        "W = A.ty.view(A, 8, 8)\n"
        "X = methods[\"view\"](A, 8, 8)\n"
        "P = V.permute(1, 0)\n"
        "Q = V.ty.permute(V, 1, 0)\n"
        "p = properties[\"data\"](A.ty, A)\n"
        "q = A.ty.ptr_to(A, [tx])\n",
        "view V: float32[8, 8] = A.data\n"
        "view W: float32[8, 8] = A.data\n"
        "view X: float32[8, 8] = A.data\n"
        "view P: float32[8, 8] layout=S[(8,8):(1,8)] = A.data\n"
        "view Q: float32[8, 8] layout=S[(8,8):(1,8)] = A.data\n"
        "let p: float32*global = A.data\n"
        "let q: float32*global = &A[tx]\n");
}

/* Fetching a method builds nothing; a property is computed each time that it is read. covers: A64 A65 A66 */
static void what_reading_builds(void **state) {
    BODY("f = A.view\n"
         "A.view\n"
         "A.permute\n"
         "A.ptr_to\n"
         "unbound = A.ty.view\n"
         "A.sub\n"
         "A.shape\n"
         "A.data\n"
         "g = f(4, 16)\n"
         "h = f(16, 4)\n",
         "view g: float32[4, 16] = A.data\n"
         "view h: float32[16, 4] = A.data\n");
}

/* The variable gives a DataType, its type a PrimType. covers: A63 */
static void two_dtypes(void **state) {
    BODY("assert A.dtype == \"float32\" and str(A.dtype) == \"float32\"\n"
         "assert A.ty.dtype == T.float32 and A.ty.dtype == T.PrimType(\"float32\")\n"
         "assert A.ty.dtype.dtype == A.dtype and A.dtype.bits == 32\n"
         "assert A.data.ty.element_type == A.ty.dtype and A.data.ty.storage_scope == \"global\"\n"
         "assert A[tx].ty == A.ty.dtype and A[tx].dtype == A.dtype\n",
         "");
}

/* An element pointer has the element type and the scope of the tensor, whatever storage is behind it. covers:
 * A68 */
static void pointers_of_views(void **state) {
    BODY("pool = T.alloc_tensor(ty_args=[T.Tensor((1024,), \"uint8\", scope=\"shared.dyn\")])\n"
         "tile = T.decl_tensor(pool.data, ty_args=[T.Tensor((8, 8), \"float16\", scope=\"shared.dyn\", "
         "layout=TileLayout(S[(8, 8)] + 64))])\n"
         "p = tile.ptr_to([1, 2])\n"
         "assert p.ty.element_type == T.float16 and p.ty.storage_scope == \"shared.dyn\"\n"
         "assert tile.view(64).ptr_to([3]).ty == p.ty and tile.permute(1, 0).ptr_to([3, 0]).ty == p.ty\n"
         "assert tile.view(\"uint32\").ptr_to([0, 0]).ty.element_type == T.uint32\n"
         "assert tile.sub[2].ptr_to([0]).ty == p.ty\n"
         "assert T.ptr_byte_offset(pool.data, 32, ty=tile.data.ty).ty == p.ty\n"
         "assert T.address_of(tile).ty == p.ty\n"
         "words = T.decl_tensor(p, ty_args=[T.Tensor((4,), \"uint32\", scope=\"shared.dyn\")])\n"
         "assert words.ptr_to([0]).ty.element_type == T.uint32\n",
         "alloc pool: uint8[1024] shared.dyn\n"
         "view tile: float16[8, 8] shared.dyn layout=S[(8,8):(8,1)]+64 = pool.data\n"
         "let p: float16*shared.dyn = &tile[1, 2]\n"
         "view view2: float16[64] shared.dyn layout=S[(8,8):(8,1)]+64 = pool.data\n"
         "view view3: float16[8, 8] shared.dyn layout=S[(8,8):(1,8)]+64 = pool.data\n"
         "view view4: uint32[8, 4] shared.dyn layout=S[(8,4):(4,1)]+32 = pool.data\n"
         "view view5: float16[8] shared.dyn layout=S[8:1]+80 = pool.data\n"
         "view words: uint32[4] shared.dyn = p\n");
}

/* covers: A65 */
static void receivers(void **state) {
    BODY_SAYS("a = A.ty.view(3, 8, 8)\n"
              "b = A.ty.view()\n"
              "c = A.ty.__expr_methods__[\"permute\"](B[0], 0)\n"
              "d = A.ty.__expr_properties__[\"shape\"](A)\n"
              "e = A.ty.__expr_properties__[\"data\"](A.ty, B.data)\n"
              "f = B[0].view(1)\n"
              "g = A.data.shape\n"
              "h = (A[0] + 1.0).layout\n"
              "A.layout = None\n"
              "A.sub = 3\n"
              "A.ty.shape = (2,)\n"
              "i = A.strides\n"
              "j = A[0:4].shape\n"
              "k = A.dtype.dtype\n",
              "5:19 T0205 Tensor.view needs a tensor as its first argument, not an int",
              "6:9 T0205 Tensor.view needs a tensor as its first argument, not nothing",
              "7:42 T0205 Tensor.permute needs a tensor as its first argument, not a value of type float32",
              "8:43 T0205 Tensor.shape needs a tensor type as its first argument, not a tensor of shape",
              "9:48 T0205 Tensor.data needs a tensor as its second argument, not a pointer float32*global",
              "10:14 T0202 a value of type float32 has no attribute 'view'",
              "11:16 T0202 a pointer float32*global has no attribute 'shape'",
              "12:22 T0202 a value of type float32 has no attribute 'layout'",
              "13:5 T0227 'layout' of a tensor is read-only", "14:5 T0227 'sub' of a tensor is read-only",
              "15:5 T0227 attributes of the type", "16:11 T0202 has no attribute 'strides'",
              "17:16 T0202 a region has no attribute 'shape': it belongs to tensor variables",
              "18:17 T0202 the type float32 has no attribute 'dtype'");
}

/* Alignment, scalars, offsets of elements, and what the type says of its layout. covers: A16 A62 */
static void questions(void **state) {
    BODY("V = T.decl_tensor((8, 8), \"float16\", data=A.data, layout=TileLayout(S[(8, 8) : (9, 1)] + 5), "
         "align=16)\n"
         "assert V.data_alignment == 16 and V.ty.data_alignment == 16 and not V.is_scalar()\n"
         "s: T.float32 = 0.0\n"
         "assert V.elem_offset_of([2, 3]) == 26 and V.byte_offset_of((2, 3)) == 52\n"
         "assert A.elem_offset_of([7]) == 7\n"
         "x: T.let = V.byte_offset_of([tx % 8, 1])\n"
         "assert A.ty.has_default_layout() and not V.ty.has_default_layout()\n"
         "assert str(V.ty.effective_layout()) == \"S[(8,8):(9,1)]+5\" and str(A.ty.effective_layout()) == "
         "\"S[64:1]\"\n",
         "view V: float16[8, 8] align=16 layout=S[(8,8):(9,1)]+5 = A.data\n"
         "s: float32 = 0.0\n"
         "let x: int32 = (tx % 8 * 9 + 6) * 16 // 8\n");
}

/* covers: A72 */
static void source_calls(void **state) {
    BODY("B[tx] = T.cuda.func_call(\"ld\", A.ptr_to([tx]), \"float ld(float *p);\", ty=\"float32\")\n"
         "T.cuda.func_call(\"go\", A, n, source_code=\"void go();\")\n"
         "x: T.let = T.cuda.func_call(\"ld\", B.data, \"float ld(float *p);\", ty=T.float32)\n",
         "B[tx] = source_call(\"ld\", \"float ld(float *p);\", \"float32\", &A[tx])\n"
         "source_call(\"go\", \"void go();\", \"void\", A.data, n)\n"
         "let x: float32 = source_call(\"ld\", \"float ld(float *p);\", \"float32\", B.data)\n");
    BODY_SAYS("T.cuda.func_call(\"f\", A)\n"
              "T.cuda.func_call(\"f g\", \"f g\")\n"
              "T.cuda.func_call(\"f\", \"void g();\")\n"
              "T.cuda.func_call(\"f\", \"void f();\")\n"
              "T.cuda.func_call(\"f\", n, \"void f(int);\")\n"
              "T.cuda.func_call(\"f\", \"void f();\", ty=\"flot\")\n",
              "5:5 T0203 func_call needs the source text", "6:22 T0276 'f g' is no name of a function",
              "7:5 T0276 the source text does not name 'f'", "9:5 T0276 'f' has another source text",
              "10:43 T0230 'flot' is no element type");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(tables_of_the_type), UNIT_WITH_ARENA(what_reading_builds),
        UNIT_WITH_ARENA(two_dtypes),         UNIT_WITH_ARENA(pointers_of_views),
        UNIT_WITH_ARENA(receivers),          UNIT_WITH_ARENA(source_calls),
        UNIT_WITH_ARENA(questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
