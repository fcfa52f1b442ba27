# SPDX-License-Identifier: Apache-2.0
# Boxes of A come by TMA into swizzled shared memory and go to B, each element doubled: copies whose tensor maps the launch
# makes, and a copy through a map of the caller's.
from tvm_tirx.script import tirx as T
from tvm_tirx.script.tirx import tile as Tx

ROWS = 32
COLS = 64


@T.inline
def await_phase(barrier, phase):
    done: T.bool = False
    while done == False:
        T.ptx["mbarrier.try_wait.parity.shared.b64"](done, barrier.ptr_to([0]), phase)


@T.function
def doubled(A: T.Tensor(("n", 128), "float16"), B: T.Tensor(("n", 128), "float16"), n: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(n // ROWS, 128 // COLS), block=(128,)))
    m = T.meta_var(T.cuda.block_idx("x") * ROWS)
    k = T.meta_var(T.cuda.block_idx("y") * COLS)
    tx = T.cuda.thread_idx("x")
    filled = T.alloc_shared((1,), "uint64")
    box = T.alloc_shared((ROWS, COLS), "float16", layout=T.mma_shared_layout("float16", 3, (ROWS, COLS)))
    if tx == 0:
        T.ptx["mbarrier.init.shared.b64"](filled.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
    T.cuda.cta_sync()
    if tx == 0:
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, filled.ptr_to([0]), ROWS * COLS * 2)
        Tx.copy_async(box[:, :], A[m : m + ROWS, k : k + COLS], dispatch="tma", mbar=filled.ptr_to([0]))
    await_phase(filled, 0)
    for i in T.serial(ROWS * COLS // 128):
        r = T.meta_var((i * 128 + tx) // COLS)
        c = T.meta_var((i * 128 + tx) % COLS)
        B[m + r, k + c] = box[r, c] * T.float16(2.0)


@T.function
def given(a: T.TensorMap(), B: T.Tensor((64, 64), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    filled = T.alloc_shared((1,), "uint64")
    box = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", 3, (64, 64)))
    if tx == 0:
        T.ptx["mbarrier.init.shared.b64"](filled.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
    T.cuda.cta_sync()
    if tx == 0:
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, filled.ptr_to([0]), 64 * 64 * 2)
        T.ptx.cp_async.bulk.tensor.g2c(2, box.ptr_to([0, 0]), filled.ptr_to([0]), a, 0, 0)
    await_phase(filled, 0)
    for i in T.serial(64):
        B[i, tx] = box[i, tx]
