# SPDX-License-Identifier: Apache-2.0
# LayerNorm: Y = (X - mean) / sqrt(variance + EPS) * W + B over each row, the variance in a second pass so that it
# does not cancel.
from tvm_tirx.script import tirx as Tx

ROWS = 64
COLS = 1024
EPS = 1e-5


@Tx.function
def layernorm(
    X: Tx.Tensor((ROWS, COLS), "float32"),
    W: Tx.Tensor((COLS,), "float32"),
    B: Tx.Tensor((COLS,), "float32"),
    Y: Tx.Tensor((ROWS, COLS), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(ROWS,), block=(128,)))
    row = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    partial = Tx.alloc_shared((2, 4), "float32")

    total: Tx.float32 = 0.0
    for k in range((COLS + 127) // 128):
        if k * 128 + tx < COLS:
            total += X[row, k * 128 + tx]
    total = Tx.cuda.warp_sum(total)
    if tx % 32 == 0:
        partial[0, tx // 32] = total
    Tx.cuda.cta_sync()
    mean: Tx.let = (partial[0, 0] + partial[0, 1] + partial[0, 2] + partial[0, 3]) / Tx.float32(COLS)

    squares: Tx.float32 = 0.0
    for k in range((COLS + 127) // 128):
        if k * 128 + tx < COLS:
            difference: Tx.let = X[row, k * 128 + tx] - mean
            squares += difference * difference
    squares = Tx.cuda.warp_sum(squares)
    if tx % 32 == 0:
        partial[1, tx // 32] = squares
    Tx.cuda.cta_sync()
    variance: Tx.let = (partial[1, 0] + partial[1, 1] + partial[1, 2] + partial[1, 3]) / Tx.float32(COLS)
    scale: Tx.let = Tx.float32(1.0) / Tx.sqrt(variance + Tx.float32(EPS))
    for k in range((COLS + 127) // 128):
        if k * 128 + tx < COLS:
            Y[row, k * 128 + tx] = (X[row, k * 128 + tx] - mean) * scale * W[k * 128 + tx] + B[k * 128 + tx]
