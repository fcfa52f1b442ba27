# SPDX-License-Identifier: Apache-2.0
# C = A * B in fp32: 64 x 64 x 16 tiles in shared memory, 4 x 4 results a thread, wide loads and stores.
# M, N and K are multiples of the tile.
from tvm_tirx.script import tirx as Tx

M = 256
N = 256
K = 256


@Tx.function
def gemm(A: Tx.Tensor((M, K), "float32"), B: Tx.Tensor((K, N), "float32"), C: Tx.Tensor((M, N), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(N // 64, M // 64), block=(256,)))
    bx = Tx.cuda.block_idx("x")
    by = Tx.cuda.block_idx("y")
    tx = Tx.cuda.thread_idx("x")
    As = Tx.alloc_shared((16, 64), "float32")  # k-major, so that a thread's four rows are one wide load
    Bs = Tx.alloc_shared((16, 64), "float32")
    acc = Tx.alloc_local((4, 4), "float32")
    a = Tx.alloc_local((4,), "float32")
    b = Tx.alloc_local((4,), "float32")
    column: Tx.let = tx % 16 * 4
    row: Tx.let = tx // 16 * 4
    for i in Tx.unroll(4):
        for j in Tx.unroll(4):
            acc[i, j] = 0.0
    for step in Tx.serial(K // 16):
        a[Tx.Ramp(0, 1, 4)] = A[by * 64 + tx // 4, Tx.Ramp(step * 16 + tx % 4 * 4, 1, 4)]
        for i in Tx.unroll(4):
            As[tx % 4 * 4 + i, tx // 4] = a[i]
        Bs[tx // 16, Tx.Ramp(column, 1, 4)] = B[step * 16 + tx // 16, Tx.Ramp(bx * 64 + column, 1, 4)]
        Tx.cuda.cta_sync()
        for k in Tx.unroll(16):
            a[Tx.Ramp(0, 1, 4)] = As[k, Tx.Ramp(row, 1, 4)]
            b[Tx.Ramp(0, 1, 4)] = Bs[k, Tx.Ramp(column, 1, 4)]
            for i in Tx.unroll(4):
                for j in Tx.unroll(4):
                    acc[i, j] += a[i] * b[j]
        Tx.cuda.cta_sync()
    for i in Tx.unroll(4):
        C[by * 64 + row + i, Tx.Ramp(bx * 64 + column, 1, 4)] = acc[i, Tx.Ramp(0, 1, 4)]
