# SPDX-License-Identifier: Apache-2.0
# A kernel whose constants are given by specialize(): one block for a row, warps reduce by shuffles. The file is
# a template until somebody says COLS: tirc run softmax_template.py:softmax -D ROWS=8 -D COLS=256 ...
import math

from tvm.script import tirx as T

WARP = 32


def threads_for(columns):
    """Whole warps, up to 8, a power of two."""
    warps = min(8, 2 ** math.ceil(math.log2(max(1, -(-columns // WARP)))))
    return warps * WARP


@T.inline
def across_block(value, scratch, combine, tx, threads):
    """value = combine of all threads' values: in the warp first, then over the warps' results."""
    for i in T.unroll(5):
        value = combine(value, T.tvm_warp_shuffle_xor(0xFFFFFFFF, value, 16 >> i, 32, 32))
    if tx % WARP == 0:
        scratch[tx // WARP] = value
    T.cuda.cta_sync()
    value = scratch[0]
    for w in T.unroll(1, threads // WARP):
        value = combine(value, scratch[w])
    T.cuda.cta_sync()


@T.jit
def softmax(
    X: T.Buffer((ROWS, COLS), "float32"), Y: T.Buffer((ROWS, COLS), "float32"), *, ROWS: T.constexpr, COLS: T.constexpr
):
    T.device_entry()
    threads = T.meta_var(threads_for(COLS))
    row = T.cta_id([ROWS])
    tx = T.thread_id([threads])
    scratch = T.alloc_shared((threads // WARP,), "float32")
    largest: T.float32 = T.float32("-inf")
    for i in range(T.ceildiv(COLS, threads)):
        if i * threads + tx < COLS:
            largest = T.max(largest, X[row, i * threads + tx])
    across_block(largest, scratch, T.max, tx, threads)
    total: T.float32 = 0.0
    for i in range(T.ceildiv(COLS, threads)):
        if i * threads + tx < COLS:
            total = total + T.exp(X[row, i * threads + tx] - largest)
    across_block(total, scratch, lambda a, b: a + b, tx, threads)
    for i in range(T.ceildiv(COLS, threads)):
        if i * threads + tx < COLS:
            Y[row, i * threads + tx] = T.exp(X[row, i * threads + tx] - largest) / total
