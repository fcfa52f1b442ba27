# SPDX-License-Identifier: Apache-2.0
# 16 Mi elements, B = A * 2 + 1.
from tvm_tirx.script import tirx as Tx

N = 16777216


@Tx.function
def elementwise(A: Tx.Tensor((N,), "float32"), B: Tx.Tensor((N,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(N // 256,), block=(256,)))
    i: Tx.let = Tx.cuda.block_idx("x") * 256 + Tx.cuda.thread_idx("x")
    B[i] = A[i] * Tx.float32(2.0) + Tx.float32(1.0)
