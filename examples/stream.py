# SPDX-License-Identifier: Apache-2.0
# B = A * FACTOR at the speed of memory: 16 bytes a load, two of them in flight in each thread.
#     tirc run stream.py -D N=65536 --arg A=arange --arg B=zeros --show B
from tvm_tirx.script import tirx as Tx

N = 1 << 28
FACTOR = 3.0
THREADS = 512
PIECES = 2


@Tx.function
def stream(A: Tx.Tensor((N,), "float32"), B: Tx.Tensor((N,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(N // (THREADS * PIECES * 4),), block=(THREADS,)))
    bx = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    piece = Tx.alloc_local((PIECES, 4), "float32")
    for p in Tx.unroll(PIECES):
        piece[p, Tx.Ramp(0, 1, 4)] = A[Tx.Ramp(((bx * PIECES + p) * THREADS + tx) * 4, 1, 4)]
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(4):
            piece[p, i] = piece[p, i] * Tx.float32(FACTOR)
        B[Tx.Ramp(((bx * PIECES + p) * THREADS + tx) * 4, 1, 4)] = piece[p, Tx.Ramp(0, 1, 4)]
