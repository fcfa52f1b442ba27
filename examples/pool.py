# SPDX-License-Identifier: Apache-2.0
# A pool in dynamic shared memory: two tiles, one of them swizzled, and a row that takes the bytes of the first again when
# all are done with it. C = B A, and in D the sums of C's columns, the last one first. N is a multiple of 8 up to 168.
from tvm.backend.cuda.lang import SMEMPool
from tvm_tirx.script import tirx as Tx

N = 64


@Tx.function
def product(
    A: Tx.Tensor((N, N), "float32"),
    B: Tx.Tensor((N, N), "float32"),
    C: Tx.Tensor((N, N), "float32"),
    D: Tx.Tensor((N,), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(N,)))
    tx = Tx.cuda.thread_idx("x")
    pool = SMEMPool()
    right = pool.alloc((N, N), "float32", align=128)
    left = pool.alloc_tcgen05_mma_AB((N, N), "float32", "32B")
    pool.move_base_to(0)
    sums = pool.alloc((N,), "float32")
    pool.commit()
    for i in Tx.serial(N):
        right[i, tx] = A[i, tx]
        left[i, tx] = B[i, tx]
    Tx.cuda.cta_sync()
    total: Tx.float32 = 0.0
    for i in Tx.serial(N):
        value: Tx.float32 = 0.0
        for k in Tx.serial(N):
            value = value + left[i, k] * right[k, tx]
        C[i, tx] = value
        total = total + value
    Tx.cuda.cta_sync()  # all are done with right: sums may take its bytes
    sums[tx] = total
    Tx.cuda.cta_sync()
    D[tx] = sums[N - 1 - tx]
