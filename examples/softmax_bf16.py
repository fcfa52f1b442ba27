# SPDX-License-Identifier: Apache-2.0
# Row softmax of bfloat16 at the speed of memory: one CTA a row, 16 bytes a load, the row kept in registers. Maximum and
# sum go through shuffles inside a warp and through shared memory between warps.
#     tirc run softmax_bf16.py -D ROWS=4 --arg X=randn:1 --arg Y=zeros --show Y
from tvm_tirx.script import tirx as Tx

ROWS = 32768
COLS = 8192
THREADS = 256
PIECES = COLS // (THREADS * 8)
WARPS = THREADS // 32
LOG2E = 1.4426950408889634


@Tx.function
def softmax_bf16(X: Tx.Tensor((ROWS, COLS), "bfloat16"), Y: Tx.Tensor((ROWS, COLS), "bfloat16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(ROWS,), block=(THREADS,)))
    row = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    x = Tx.alloc_local((PIECES, 8), "bfloat16")
    e = Tx.alloc_local((PIECES, 8), "float32")
    maxima = Tx.alloc_shared((WARPS,), "float32")
    sums = Tx.alloc_shared((WARPS,), "float32")
    for p in Tx.unroll(PIECES):
        x[p, Tx.Ramp(0, 1, 8)] = X[row, Tx.Ramp((p * THREADS + tx) * 8, 1, 8)]
    most: Tx.float32 = Tx.float32(x[0, 0])
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(8):
            most = Tx.max(most, Tx.float32(x[p, i]))
    for s in Tx.unroll(5):
        most = Tx.max(most, Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), most, 16 >> s, 32))
    if tx % 32 == 0:
        maxima[tx // 32] = most
    Tx.cuda.cta_sync()
    for w in Tx.unroll(WARPS):
        most = Tx.max(most, maxima[w])
    total: Tx.float32 = Tx.float32(0.0)
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(8):
            e[p, i] = Tx.exp2((Tx.float32(x[p, i]) - most) * Tx.float32(LOG2E))
            total += e[p, i]
    for s in Tx.unroll(5):
        total += Tx.cuda.__shfl_xor_sync(Tx.uint32(0xFFFFFFFF), total, 16 >> s, 32)
    if tx % 32 == 0:
        sums[tx // 32] = total
    Tx.cuda.cta_sync()
    whole: Tx.float32 = Tx.float32(0.0)
    for w in Tx.unroll(WARPS):
        whole += sums[w]
    scale: Tx.let = Tx.float32(1.0) / whole
    for p in Tx.unroll(PIECES):
        for i in Tx.unroll(8):
            x[p, i] = Tx.bfloat16(e[p, i] * scale)
        Y[row, Tx.Ramp((p * THREADS + tx) * 8, 1, 8)] = x[p, Tx.Ramp(0, 1, 8)]
