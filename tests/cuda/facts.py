# SPDX-License-Identifier: Apache-2.0
# What the analyzer proves, seen in the text: guards that go, accesses that become wide, indices that become short; and
# the same kernel with a scalar instead of a let, where memory says nothing. A49 A50
from tvm_tirx.script import tirx as T


# entry: with_let
# cuda: extern "C" __global__ void __launch_bounds__(128)
# cuda: with_let_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, int* __restrict__ C_ptr) {
# cuda:   int tx = ((int)threadIdx.x);
# cuda:   int i = tx * 4;
# cuda:   *(float4*)(B_ptr + i) = *(float4*)(A_ptr + i);
# cuda:   C_ptr[tx] = tx & 3;
# cuda: }
@T.function
def with_let(A: T.Tensor((512,), "float32"), B: T.Tensor((512,), "float32"), C: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    i: T.let = tx * 4
    if i < 512:
        B[T.Ramp(i, 1, 4)] = A[T.Ramp(i, 1, 4)]
    C[i // 4] = (i + tx % 4) % 4


# entry: with_scalar
# cuda: alignas(64) int i_ptr[1];
# cuda: i_ptr[0] = tx * 4;
# cuda: if (i_ptr[0] < 512) {
# cuda: *(float4*)(B_ptr + i_ptr[0]) = make_float4(A_ptr[i_ptr[0]], A_ptr[i_ptr[0] + 1], A_ptr[i_ptr[0] + 2], A_ptr[i_ptr[0] + 3]);
# cuda: }
# cuda: C_ptr[i_ptr[0] >> 2] = (i_ptr[0] + (tx & 3)) & 3;
@T.function
def with_scalar(A: T.Tensor((512,), "float32"), B: T.Tensor((512,), "float32"), C: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    i: T.int32 = tx * 4
    if i < 512:
        B[T.Ramp(i, 1, 4)] = A[T.Ramp(i, 1, 4)]
    C[i // 4] = (i + tx % 4) % 4


# entry: guards
# cuda: if ((m & 3) == 0) {
# cuda:   *(float4*)(B_ptr + m) = *(float4*)(A_ptr + m);
# cuda: } else {
# cuda:   B_ptr[m] = A_ptr[m];
# cuda: }
# cuda: for (int i = 0; i < n; ++i) {
# cuda:   B_ptr[i] = A_ptr[i];
# cuda: }
# cuda: if (((bx * 128) + tx) >= n) {
# cuda:   return;
# cuda: }
# cuda: B_ptr[((bx * 128) + tx)] = A_ptr[n >> 2];
# cuda: if (m >= 0) {
# cuda:   B_ptr[m % 10] = A_ptr[m / 10];
# cuda: }
# cuda: B_ptr[tirc_floormod(m, 10)] = A_ptr[tirc_floordiv(m, 10)];
@T.function
def guards(A: T.Tensor((512,), "float32"), B: T.Tensor((512,), "float32"), n: T.int32, m: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(128,)))
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    if m % 4 == 0:
        B[T.Ramp(m, 1, 4)] = A[T.Ramp(m, 1, 4)]
    else:
        B[m] = A[m]
    for i in T.serial(n):
        if i < n:
            B[i] = A[i]
    if bx * 128 + tx >= n:
        return
    if bx * 128 + tx < n:
        B[bx * 128 + tx] = A[n // 4]
    if m >= 0:
        B[m % 10] = A[m // 10]
    B[m % 10] = A[m // 10]


# entry: width
# cuda: A_ptr[((bx * 65536) + tx)] = 1.0f;
# cuda: A_ptr[((((long long)n) * 65536ll) + ((long long)tx))] = 2.0f;
# cuda: if ((n < 100) && (n >= 0)) {
# cuda:   A_ptr[((n * 65536) + tx)] = 3.0f;
# cuda: }
@T.function
def width(A: T.Tensor((65536, 65536), "float32"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(64,)))
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    A[bx, tx] = 1.0
    A[n, tx] = 2.0
    if n < 100 and n >= 0:
        A[n, tx] = 3.0


# entry: lazy
# cuda: B_ptr[tx] = ((m >= 0) ? A_ptr[m % 10] : A_ptr[tirc_floormod(m, 7)]);
# cuda: if ((m >= 8) && (A_ptr[m / 10] > 0.0f)) {
# cuda:   B_ptr[0] = 1.0f;
# cuda: }
@T.function
def lazy(A: T.Tensor((512,), "float32"), B: T.Tensor((512,), "float32"), m: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    B[tx] = T.if_then_else(m >= 0, A[m % 10], A[m % 7])
    if m >= 8 and A[m // 10] > 0.0 and m > 5:
        B[0] = 1.0
