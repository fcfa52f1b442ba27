# SPDX-License-Identifier: Apache-2.0
# The first kernel: B = A * 2 + 1, one element a thread.
#     tirc run scale.py -D N=1024 --arg A=arange --show B
from tvm_tirx.script import tirx as Tx

N = 1024


@Tx.function
def scale(A: Tx.Tensor((N,), "float32"), B: Tx.Tensor((N,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=((N + 255) // 256,), block=(256,)))
    bx = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    i: Tx.let = bx * 256 + tx
    if i < N:
        B[i] = A[i] * Tx.float32(2.0) + Tx.float32(1.0)
