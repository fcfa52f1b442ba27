# SPDX-License-Identifier: Apache-2.0
# Row softmax, one warp a row, four rows a CTA; every lane keeps its part of the row in registers.
from tvm_tirx.script import tirx as Tx

ROWS = 64
COLS = 256
PER_LANE = (COLS + 31) // 32


@Tx.function
def softmax(X: Tx.Tensor((ROWS, COLS), "float32"), Y: Tx.Tensor((ROWS, COLS), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=((ROWS + 3) // 4,), block=(128,)))
    bx = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    row: Tx.let = bx * 4 + tx // 32
    lane: Tx.let = tx % 32
    x = Tx.alloc_local((PER_LANE,), "float32")
    if row < ROWS:
        largest: Tx.float32 = Tx.min_value("float32")
        for k in Tx.unroll(PER_LANE):
            x[k] = Tx.min_value("float32")
            if k * 32 + lane < COLS:
                x[k] = X[row, k * 32 + lane]
            largest = Tx.max(largest, x[k])
        for s in Tx.unroll(5):
            largest = Tx.max(largest, Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), largest, 16 >> s, 32))
        total: Tx.float32 = 0.0
        for k in Tx.unroll(PER_LANE):
            if k * 32 + lane < COLS:
                x[k] = Tx.exp(x[k] - largest)
                total += x[k]
        for s in Tx.unroll(5):
            total += Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), total, 16 >> s, 32)
        for k in Tx.unroll(PER_LANE):
            if k * 32 + lane < COLS:
                Y[row, k * 32 + lane] = x[k] / total
