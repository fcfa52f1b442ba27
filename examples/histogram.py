# SPDX-License-Identifier: Apache-2.0
# Histogram of 256 bins: each CTA counts in shared memory with atomics and adds its bins to the result at the end.
from tvm_tirx.script import tirx as Tx

N = 65536
CTAS = 16


@Tx.function
def histogram(X: Tx.Tensor((N,), "int32"), H: Tx.Tensor((256,), "int32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(CTAS,), block=(256,)))
    bx = Tx.cuda.block_idx("x")
    tx = Tx.cuda.thread_idx("x")
    bins = Tx.alloc_shared((256,), "int32")
    bins[tx] = 0
    Tx.cuda.cta_sync()
    i: Tx.int32 = bx * 256 + tx
    while i < N:
        if X[i] >= 0 and X[i] < 256:
            Tx.evaluate(Tx.cuda.atomic_add(bins.ptr_to([X[i]]), Tx.int32(1)))
        i += CTAS * 256
    Tx.cuda.cta_sync()
    Tx.evaluate(Tx.cuda.atomic_add(H.ptr_to([tx]), bins[tx]))
