# SPDX-License-Identifier: Apache-2.0
# D = A B^T by tile operations: each CTA makes a tile of 128 x 64 of D. TMA brings operands to shared memory over the
# phases of an mbarrier, the tensor core adds into tensor memory, and a row for each thread goes back. M is a multiple of
# 128, N and K are multiples of 64.
from tvm_tirx.script import tirx as T
from tvm_tirx.script.tirx import tile as Tx
from tvm_tirx.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

M = 256
N = 128
K = 192
TILE_M = 128
TILE_N = 64
TILE_K = 64


@T.inline
def await_phase(barrier, phase):
    done: T.bool = False
    while done == False:
        T.ptx["mbarrier.try_wait.parity.shared.b64"](done, barrier.ptr_to([0]), phase)


@T.function
def gemm(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), D: T.Tensor((M, N), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(M // TILE_M, N // TILE_N), block=(128,)))
    m = T.meta_var(T.cuda.block_idx("x") * TILE_M)
    n = T.meta_var(T.cuda.block_idx("y") * TILE_N)
    tx = T.cuda.thread_idx("x")
    warp = T.cuda.warp_id()
    slot = T.alloc_shared((1,), "uint32")
    filled = T.alloc_shared((1,), "uint64")
    summed = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((TILE_M, TILE_K), "float16", layout=T.mma_shared_layout("float16", 3, (TILE_M, TILE_K)))
    Bs = T.alloc_shared((TILE_N, TILE_K), "float16", layout=T.mma_shared_layout("float16", 3, (TILE_N, TILE_K)))
    if tx == 0:
        T.ptx["mbarrier.init.shared.b64"](filled.ptr_to([0]), 1)
        T.ptx["mbarrier.init.shared.b64"](summed.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
    if warp == 0:
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](slot.ptr_to([0]), T.uint32(64))
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
    T.cuda.cta_sync()
    acc = T.cuda.decl_tmem(
        slot[0],
        ty_args=[T.Tensor((TILE_M, TILE_N), "float32", scope="tmem", layout=TileLayout(S[(TILE_M, TILE_N) : (1 @ TLane, 1 @ TCol)]))],
    )
    for k in T.serial(K // TILE_K):
        if tx == 0:
            T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, filled.ptr_to([0]), (TILE_M + TILE_N) * TILE_K * 2)
            Tx.copy_async(As[:, :], A[m : m + TILE_M, k * TILE_K : k * TILE_K + TILE_K], dispatch="tma", mbar=filled.ptr_to([0]))
            Tx.copy_async(Bs[:, :], B[n : n + TILE_N, k * TILE_K : k * TILE_K + TILE_K], dispatch="tma", mbar=filled.ptr_to([0]))
        await_phase(filled, k % 2)
        if tx == 0:
            Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], accum=(k != 0))
            T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"](summed.ptr_to([0]))
        await_phase(summed, k % 2)
    T.ptx["tcgen05.fence::after_thread_sync"]()
    row = T.alloc_local((TILE_M, TILE_N), "float32", layout=T.wg_local_layout(TILE_N))
    Tx.wg.copy_async(row[:, :], acc[:, :])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[m : m + TILE_M, n : n + TILE_N], row[:, :])
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](slot[0], T.uint32(64))


@T.function
def plain(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K), "float16"), D: T.Tensor((M, N), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(M,), block=(N,)))
    i = T.cuda.block_idx("x")
    j = T.cuda.thread_idx("x")
    total: T.float32 = 0.0
    for k in T.serial(K):
        total = total + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")
    D[i, j] = total
