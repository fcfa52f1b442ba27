# SPDX-License-Identifier: Apache-2.0
# Steps of the Collatz sequence for n = 1 .. N, in 64-bit integers: a loop of a different length in every lane.
from tvm_tirx.script import tirx as Tx

N = 1000000


@Tx.function
def collatz(B: Tx.Tensor((N,), "int32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=((N + 255) // 256,), block=(256,)))
    i: Tx.let = Tx.cuda.block_idx("x") * 256 + Tx.cuda.thread_idx("x")
    if i < N:
        n: Tx.uint64 = Tx.uint64(i) + Tx.uint64(1)
        steps: Tx.int32 = 0
        while n != Tx.uint64(1):
            if (n & Tx.uint64(1)) == Tx.uint64(0):
                n = n >> Tx.uint64(1)
            else:
                n = n * Tx.uint64(3) + Tx.uint64(1)
            steps += 1
        B[i] = steps
