/* SPDX-License-Identifier: Apache-2.0
 * Words of the dialect that make one operation or a few, to IR text. */
#include "unit/script_help.h"

static void mathematics(void **state) {
    BODY("x = A[tx]\n"
         "x = T.exp(x) + T.exp2(x) + T.log(x) + T.log2(x) + T.log10(x) + T.sqrt(x) + T.rsqrt(x)\n"
         "x = T.sin(x) + T.cos(x) + T.tanh(x) + T.erf(x) + T.pow(x, 2) + T.fma(x, 2, 1.0)\n"
         "x = T.tan(x) + T.asin(x) + T.acos(x) + T.atan(x) + T.atan2(x, 2) + T.sinh(x) + T.cosh(x)\n"
         "x = T.asinh(x) + T.acosh(x) + T.atanh(x) + T.exp10(x) + T.expm1(x) + T.log1p(x) + T.cbrt(x)\n"
         "x = T.hypot(3, x) + T.fmod(x, 2.5) + T.hypot(3, 4) + T.fmod(-7.5, 2)\n"
         "x = T.floor(x) + T.ceil(x) + T.trunc(x) + T.nearbyint(x) + T.abs(x) + T.fabs(x)\n"
         "x = T.sigmoid(x)\n"
         "x = T.round(x)\n"
         "f = T.isnan(x) and T.isinf(x) or T.isfinite(x)\n"
         "i = T.popcount(n) + T.clz(n) + T.abs(n)\n"
         "m = T.min(n, 3) + T.max(3, n) + min(n, 4, 5) + max(1, 2)\n"
         "x = T.exp(T.float32(2)) + T.floor(2.5) + T.sqrt(4)\n",
         "x: float32 = A[tx]\n"
         "x = exp(x) + exp2(x) + log(x) + log2(x) + log10(x) + sqrt(x) + rsqrt(x)\n"
         "x = sin(x) + cos(x) + tanh(x) + erf(x) + pow(x, 2.0) + fma(x, 2.0, 1.0)\n"
         "x = tan(x) + asin(x) + acos(x) + atan(x) + atan2(x, 2.0) + sinh(x) + cosh(x)\n"
         "x = asinh(x) + acosh(x) + atanh(x) + exp10(x) + expm1(x) + log1p(x) + cbrt(x)\n"
         "x = hypot(3.0, x) + fmod(x, 2.5) + hypot(3.0, 4.0) + -1.5\n"
         "x = floor(x) + ceil(x) + trunc(x) + round(x) + abs(x) + abs(x)\n"
         "x = 1.0 / (exp(-x) + 1.0)\n"
         "x = select(abs(x - trunc(x)) >= 0.5, select(x < 0.0, trunc(x) - 1.0, trunc(x) + 1.0), trunc(x))\n"
         "f: bool = isnan(x) and isinf(x) or not (isnan(x) or isinf(x))\n"
         "i: int32 = popcount(n) + clz(n) + abs(n)\n"
         "m: int32 = min(n, 3) + max(3, n) + min(min(n, 4), 5) + 2\n"
         "x = exp(2.0) + 2.0 + 2.0\n");
}

static void bits(void **state) {
    BODY("a = T.bitwise_and(n, 3) | T.bitwise_or(n, 4) ^ T.bitwise_xor(n, 5) & T.bitwise_not(n)\n"
         "b = T.shift_left(n, 2) + T.shift_right(n, tx)\n"
         "c = (n << 3) >> 1\n"
         "d = T.floordiv(n, 4) + T.floormod(n, 4)\n"
         "e = T.likely(n > 3)\n",
         "a: int32 = n & 3 | (n | 4) ^ (n ^ 5) & ~n\n"
         "b: int32 = (n << 2) + (n >> tx)\n"
         "c: int32 = n << 3 >> 1\n"
         "d: int32 = n // 4 + n % 4\n"
         "e: bool = n > 3\n");
}

/* covers: A25 */
static void barriers_and_fences(void **state) {
    BODY("T.cuda.cta_sync()\n"
         "T.cuda.warp_sync()\n"
         "T.cuda.thread_fence()\n"
         "a = T.cuda.syncthreads_and(n > 3)\n"
         "b = T.cuda.syncthreads_or(n)\n"
         "T.tvm_storage_sync(\"shared\")\n"
         "T.tvm_storage_sync(\"warp\")\n"
         "T.evaluate(T.cuda.cta_sync())\n"
         "T.cuda.nano_sleep(100)\n"
         "t = T.cuda.clock64()\n",
         "cta_sync()\n"
         "warp_sync()\n"
         "thread_fence()\n"
         "a: int32 = cta_sync_and(n > 3)\n"
         "b: int32 = cta_sync_or(n != 0)\n"
         "cta_sync()\n"
         "warp_sync()\n"
         "cta_sync()\n"
         "nano_sleep(100_uint32)\n"
         "t: int64 = clock64()\n");
}

static void shuffles_and_votes(void **state) {
    BODY("m: T.let = T.uint32(0xffffffff)\n"
         "x = A[tx]\n"
         "x = T.tvm_warp_shuffle(m, x, 0, 32, 32)\n"
         "x = T.tvm_warp_shuffle_up(m, x, 1, 16, 32)\n"
         "x = T.gpu_warp_shuffle_down(0xffffffff, x, tx, 8, 32)\n"
         "x = T.cuda.__shfl_xor_sync(m, x, 16, 32)\n"
         "x = T.cuda.__shfl_sync(m, x, n)\n"
         "x = T.cuda._shfl_down_sync(m, x, 4, 32)\n"
         "any = T.cuda.any_sync(m, x > 0)\n"
         "all = T.cuda.all_sync(m, n)\n"
         "bits = T.cuda.ballot_sync(m, x > 0)\n"
         "live = T.cuda.__activemask()\n"
         "s = T.cuda.reduce_add_sync_u32(m, live) + T.cuda.reduce_min_sync_u32(m, live) + "
         "T.cuda.reduce_max_sync_u32(m, live)\n",
         "let m: uint32 = 4294967295_uint32\n"
         "x: float32 = A[tx]\n"
         "x = shuffle(m, x, 0, 32)\n"
         "x = shuffle_up(m, x, 1, 16)\n"
         "x = shuffle_down(4294967295_uint32, x, tx, 8)\n"
         "x = shuffle_xor(m, x, 16, 32)\n"
         "x = shuffle(m, x, n, 32)\n"
         "x = shuffle_down(m, x, 4, 32)\n"
         "any: bool = vote_any(m, x > 0.0)\n"
         "all: bool = vote_all(m, n != 0)\n"
         "bits: uint32 = vote_ballot(m, x > 0.0)\n"
         "live: uint32 = active_mask()\n"
         "s: uint32 = redux_add(m, live) + redux_min(m, live) + redux_max(m, live)\n");
}

/* written out as xor shuffles, one let per step */
static void warp_reductions(void **state) {
    BODY("x = T.cuda.warp_sum(A[tx], 8)\n"
         "y = T.cuda.warp_reduce(n, \"max\", width=2)\n"
         "B[tx] = T.cuda.warp_min(x, 4) + 1\n",
         "let t0: float32 = A[tx]\n"
         "let t1: float32 = t0 + shuffle_xor(4294967295_uint32, t0, 4, 32)\n"
         "let t2: float32 = t1 + shuffle_xor(4294967295_uint32, t1, 2, 32)\n"
         "let t3: float32 = t2 + shuffle_xor(4294967295_uint32, t2, 1, 32)\n"
         "x: float32 = t3\n"
         "let t5: int32 = n\n"
         "let t6: int32 = max(t5, shuffle_xor(4294967295_uint32, t5, 1, 32))\n"
         "y: int32 = t6\n"
         "let t8: float32 = x\n"
         "let t9: float32 = min(t8, shuffle_xor(4294967295_uint32, t8, 2, 32))\n"
         "let t10: float32 = min(t9, shuffle_xor(4294967295_uint32, t9, 1, 32))\n"
         "B[tx] = t10 + 1.0\n");
}

static void atomics(void **state) {
    BODY("T.cuda.atomic_add(A.ptr_to([tx]), 1)\n"
         "old = T.cuda.atomic_add(C.ptr_to([0]), n)\n"
         "T.cuda.atomic_min(C.ptr_to([1]), 3)\n"
         "T.cuda.atomic_max(C.ptr_to([1]), n)\n"
         "T.cuda.atomic_and(C.ptr_to([1]), 7)\n"
         "T.cuda.atomic_or(C.ptr_to([1]), 7)\n"
         "T.cuda.atomic_xor(C.ptr_to([1]), 7)\n"
         "last = T.cuda.atomic_exch(C.ptr_to([2]), 9)\n"
         "seen = T.cuda.atomic_cas(T.address_of(C[3]), 0, n)\n"
         "s = T.alloc_shared((4,), \"uint64\")\n"
         "T.cuda.atomic_add(s.ptr_to([1]), 1)\n"
         "C[tx] += T.cuda.atomic_add(C.ptr_to([4]), 1)\n",
         "atomic_add(&A[tx], 1.0)\n"
         "old: int32 = atomic_add(&C[0], n)\n"
         "atomic_min(&C[1], 3)\n"
         "atomic_max(&C[1], n)\n"
         "atomic_and(&C[1], 7)\n"
         "atomic_or(&C[1], 7)\n"
         "atomic_xor(&C[1], 7)\n"
         "last: int32 = atomic_exchange(&C[2], 9)\n"
         "seen: int32 = atomic_cas(&C[3], 0, n)\n"
         "alloc s: uint64[4] shared\n"
         "atomic_add(&s[1], 1_uint64)\n"
         "C[tx] = C[tx] + atomic_add(&C[4], 1)\n");
}

/* What the words of two floats refuse; what is known while compiling folds. */
static void pairs_of_floats(void **state) {
    BODY("A[0] = T.copysign(2.5, -1)\n"
         "A[1] = T.nextafter(0, T.float32(-1)) + T.ldexp(T.float32(3), -1)\n"
         "A[2] = T.ldexp(A[1], T.int8(2)) + T.fmod(n, A[0])\n",
         "A[0] = -2.5\n"
         "A[1] = 1.5\n"
         "A[2] = float32(float64(A[1]) * 4.0_float64) + fmod(float32(n), "
         "A[0])\n");
    BODY_SAYS("d = T.float64(1.5)\n"
              "B[0] = T.cast(T.fmod(A[0], T.cast(A[1], \"float64\")), \"float32\")\n"
              "B[0] = T.ldexp(A[0], A[1])\n"
              "B[0] = T.copysign(n, n)\n"
              "B[0] = T.nextafter(T.cast(A[0], \"float8_e5m2\"), T.cast(A[1], \"float8_e5m2\"))\n"
              "B[0] = T.atan2(n, n)\n",
              "7:12 T0205 ldexp takes an integer as exponent",
              "8:12 T0205 copysign takes a float16, bfloat16, float32 or float64, not int32",
              "9:12 T0205 nextafter takes a float16", "10:12 T0205 atan2 takes floats, not int32");
}

static void printing(void **state) {
    BODY("T.cuda.printf(\"done\\n\")\n"
         "T.cuda.printf(\"%d of %5.2f%% at %p, %s\", n, A[tx], A.data, \"text\")\n",
         "printf(\"done\\n\")\n"
         "printf(\"%d of %5.2f%% at %p, %s\", n, A[tx], A.data, \"text\")\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(mathematics),         UNIT_WITH_ARENA(bits),
        UNIT_WITH_ARENA(barriers_and_fences), UNIT_WITH_ARENA(shuffles_and_votes),
        UNIT_WITH_ARENA(warp_reductions),     UNIT_WITH_ARENA(atomics),
        UNIT_WITH_ARENA(pairs_of_floats),     UNIT_WITH_ARENA(printing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
