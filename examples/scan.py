# SPDX-License-Identifier: Apache-2.0
# Inclusive prefix sum of every row: shuffles inside a warp, shared memory between the eight warps, and a carry
# between chunks of 256 elements.
from tvm_tirx.script import tirx as Tx

ROWS = 16
COLS = 1000


@Tx.function
def scan(X: Tx.Tensor((ROWS, COLS), "int32"), Y: Tx.Tensor((ROWS, COLS), "int32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(ROWS,), block=(256,)))
    row = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    sums = Tx.alloc_shared((8,), "int32")
    lane: Tx.let = tx % 32
    warp: Tx.let = tx // 32
    carry: Tx.int32 = 0
    for chunk in Tx.serial((COLS + 255) // 256):
        value: Tx.int32 = 0
        if chunk * 256 + tx < COLS:
            value = X[row, chunk * 256 + tx]
        for s in Tx.unroll(5):
            below: Tx.let = Tx.cuda.__shfl_up_sync(Tx.uint32(0xFFFFFFFF), value, 1 << s, 32)
            if lane >= 1 << s:
                value += below
        if lane == 31:
            sums[warp] = value
        Tx.cuda.cta_sync()
        total: Tx.int32 = 0
        for w in Tx.unroll(8):
            if w < warp:
                value += sums[w]
            total += sums[w]
        if chunk * 256 + tx < COLS:
            Y[row, chunk * 256 + tx] = value + carry
        carry += total
        Tx.cuda.cta_sync()
