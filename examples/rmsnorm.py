# SPDX-License-Identifier: Apache-2.0
# RMSNorm: Y[r, c] = X[r, c] * W[c] / sqrt(mean(X[r, :]^2) + EPS). One CTA of 256 threads a row; sums go through
# shuffles inside a warp and through shared memory between warps.
from tvm_tirx.script import tirx as Tx

ROWS = 64
COLS = 1024
EPS = 1e-5


@Tx.function
def rmsnorm(
    X: Tx.Tensor((ROWS, COLS), "float32"),
    W: Tx.Tensor((COLS,), "float32"),
    Y: Tx.Tensor((ROWS, COLS), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(ROWS,), block=(256,)))
    row = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    partial = Tx.alloc_shared((8,), "float32")

    total: Tx.float32 = 0.0
    for k in Tx.serial((COLS + 255) // 256):
        if k * 256 + tx < COLS:
            total += X[row, k * 256 + tx] * X[row, k * 256 + tx]
    for s in Tx.unroll(5):
        total += Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), total, 16 >> s, 32)
    if tx % 32 == 0:
        partial[tx // 32] = total
    Tx.cuda.cta_sync()

    whole: Tx.float32 = 0.0
    for w in Tx.unroll(8):
        whole += partial[w]
    scale: Tx.let = Tx.float32(1.0) / Tx.sqrt(whole / Tx.float32(COLS) + Tx.float32(EPS))
    for k in Tx.serial((COLS + 255) // 256):
        if k * 256 + tx < COLS:
            Y[row, k * 256 + tx] = X[row, k * 256 + tx] * scale * W[k * 256 + tx]
