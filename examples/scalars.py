# SPDX-License-Identifier: Apache-2.0
# Scalars and lets: a mutable scalar is a one-element local tensor by another name; a let never changes.
from tvm_tirx.script import tirx as Tx

N = 1024


@Tx.function
def collatz(A: Tx.Tensor((N,), "int32"), B: Tx.Tensor((N,), "int32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=((N + 127) // 128,), block=(128,)))
    i: Tx.let = Tx.cuda.block_idx("x") * 128 + Tx.cuda.thread_idx("x")
    if i < N:
        value: Tx.int64 = Tx.int64(A[i])
        steps: Tx.int32 = 0
        while value > 1:
            if value % 2 == 0:
                value = value // 2
            else:
                value = value * 3 + 1
            steps += 1
        B[i] = steps
