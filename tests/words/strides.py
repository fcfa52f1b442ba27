# SPDX-License-Identifier: Apache-2.0
# Extents and strides that only the launch knows: from arrays, from scalars, in both dialects, under permutations and
# parts. The plain kernels see the same dense arrays.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import S, TileLayout

m = Tx.dynamic("m")
n = Tx.dynamic("n")
lda = Tx.dynamic("lda")
ldb = Tx.dynamic("ldb", "int64")


# pair: copy A=arange@float32:24,24 B=zeros@float32:24,24
# pair: copy A=arange@float32:5,7 B=zeros@float32:5,7
# pair: copy A=arange@float32:5,7 B=zeros@float32:5,7 lda=11
# pair: copy A=arange@float32:5,7 B=zeros@float32:5,7 lda=9 ldb=32
@Tx.function
def copy(
    A: Tx.Tensor((m, n), "float32", layout=TileLayout(S[(m, n) : (lda, 1)])),
    B: Tx.Tensor((m, n), "float32", layout=TileLayout(S[(m, n) : (ldb, 1)] + 3)),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(4,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    for r in range((m + 3) // 4):
        i: Tx.let = r * 4 + Tx.cuda.block_idx("x")
        if i < m and t < n:
            B[i, t] = A[i, t] * Tx.float32(2.0) + A[i, n - 1 - t]


@Tx.function
def copy_plain(A: Tx.Tensor((m, n), "float32"), B: Tx.Tensor((m, n), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(4,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    for r in range((m + 3) // 4):
        i: Tx.let = r * 4 + Tx.cuda.block_idx("x")
        if i < m and t < n:
            B[i, t] = A[i, t] * Tx.float32(2.0) + A[i, n - 1 - t]


# The older spelling, with an origin of the launch; permuted; parts with indices of the kernel.
# pair: parts A=arange@int32:6,5,4 B=zeros@int32:4,5 s0=20 s1=4 first=0
# pair: parts A=arange@int32:6,5,4 B=zeros@int32:4,5 s0=64 s1=9 first=17
@Tx.prim_func
def parts(a: Tx.handle, b: Tx.handle, s0: Tx.int32, s1: Tx.int32, first: Tx.int32):
    k = Tx.int32()
    A = Tx.match_buffer(a, (k, 5, 4), "int32", strides=(s0, s1, 1), elem_offset=first)
    B = Tx.match_buffer(b, (4, 5), "int32")
    Tx.device_entry()
    c = Tx.cta_id([1])
    t = Tx.thread_id([20])
    count: Tx.int32 = 0
    At = A.permute(2, 0, 1)
    last = At.sub[t // 5, k - 1]
    col = A.sub[:, t % 5, t // 5]
    even = A.sub[1, :, 1::2]
    B[t // 5, t % 5] = last[t % 5] * 3
    while count < k:
        row = A.sub[count, 1:]
        B[t // 5, t % 5] += col[count] + row[t % 4, 3] + A.sub[count].permute(1, 0)[t // 5, 4]
        count += 1
    B[t // 5, t % 5] += even[t % 5, t // 10]


@Tx.prim_func
def parts_plain(a: Tx.handle, b: Tx.handle, s0: Tx.int32, s1: Tx.int32, first: Tx.int32):
    k = Tx.int32()
    A = Tx.match_buffer(a, (k, 5, 4), "int32")
    B = Tx.match_buffer(b, (4, 5), "int32")
    Tx.device_entry()
    c = Tx.cta_id([1])
    t = Tx.thread_id([20])
    B[t // 5, t % 5] = A[k - 1, t % 5, t // 5] * 3
    for i in range(k):
        B[t // 5, t % 5] += A[i, t % 5, t // 5] + A[i, 1 + t % 4, 3] + A[i, 4, t // 5]
    B[t // 5, t % 5] += A[1, t % 5, 1 + 2 * (t // 10)]


# Views in the kernel: strides that it computes, another element type, a vector, apply.
# pair: views A=arange@float32:24,24 O=zeros@float32:64
@Tx.function
def views(A: Tx.Tensor((m, n), "float32", layout=TileLayout(S[(m, n) : (lda, 1)])), O: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    step: Tx.let = lda * 2
    skip = Tx.decl_tensor(A.data, ty_args=[Tx.Tensor((12, 24), "float32", layout=TileLayout(S[(12, 24) : (step, 1)]))])
    words = A.view("uint32")
    halves = A.view("uint16")
    flat = Tx.decl_tensor(A.data, ty_args=[Tx.Tensor((576,), "float32")])
    O[t] = skip[t, 3]
    O[8 + t] = Tx.reinterpret("float32", words[t, t])
    O[16 + t] = Tx.cast(halves[t, 2 * t + 1], "float32")
    O[Tx.Ramp(24 + t * 4, 1, 4)] = A[t, Tx.Ramp(4, 1, 4)]
    O[56 + t] = flat[A.layout.apply(t, 5, shape=A.shape)["m"]] + skip.ty.shape[1]


@Tx.function
def views_plain(A: Tx.Tensor((m, n), "float32"), O: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    O[t] = A[2 * t, 3]
    O[8 + t] = A[t, t]
    O[16 + t] = Tx.cast(Tx.reinterpret("uint32", A[t, t]) >> 16, "float32")
    for k in range(4):
        O[24 + t * 4 + k] = A[t, 4 + k]
    O[56 + t] = A[t, 5] + 24
