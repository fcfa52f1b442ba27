# SPDX-License-Identifier: Apache-2.0
# RMSNorm of bfloat16 rows at the speed of memory: one CTA a row, 16 bytes a load, the row kept in registers.
#     tirc run rmsnorm_bf16.py -D ROWS=4 --arg X=randn:1 --arg W=randn:2 --arg Y=zeros --show Y
from tvm_tirx.script import tirx as Tx

ROWS = 32768
COLS = 8192
EPS = 1e-5
THREADS = 256
PIECES = COLS // (THREADS * 8)


@Tx.function
def rmsnorm_bf16(
    X: Tx.Tensor((ROWS, COLS), "bfloat16"), W: Tx.Tensor((COLS,), "bfloat16"), Y: Tx.Tensor((ROWS, COLS), "bfloat16")
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(ROWS,), block=(THREADS,)))
    row = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    x = Tx.alloc_local((PIECES, 8), "bfloat16")
    w = Tx.alloc_local((PIECES, 8), "bfloat16")
    partial = Tx.alloc_shared((THREADS // 32,), "float32")
    for p in Tx.unroll(PIECES):
        x[p, Tx.Ramp(0, 1, 8)] = X[row, Tx.Ramp((p * THREADS + tx) * 8, 1, 8)]
    for p in Tx.unroll(PIECES):
        w[p, Tx.Ramp(0, 1, 8)] = W[Tx.Ramp((p * THREADS + tx) * 8, 1, 8)]
    total: Tx.float32 = Tx.float32(0.0)
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(8):
            total += Tx.float32(x[p, i]) * Tx.float32(x[p, i])
    for s in Tx.unroll(5):
        total += Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), total, 16 >> s, 32)
    if tx % 32 == 0:
        partial[tx // 32] = total
    Tx.cuda.cta_sync()
    whole: Tx.float32 = Tx.float32(0.0)
    for i in Tx.unroll(THREADS // 32):
        whole += partial[i]
    scale: Tx.let = Tx.float32(1.0) / Tx.sqrt(whole / Tx.float32(COLS) + Tx.float32(EPS))
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(8):
            x[p, i] = Tx.bfloat16(Tx.float32(x[p, i]) * scale * Tx.float32(w[p, i]))
        Y[row, Tx.Ramp((p * THREADS + tx) * 8, 1, 8)] = x[p, Tx.Ramp(0, 1, 8)]
