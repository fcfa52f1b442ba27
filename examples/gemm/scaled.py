# SPDX-License-Identifier: Apache-2.0
# D = A * B^T with scale factors, on the tensor core of Blackwell: A and B are float8_e4m3fn, and every 32 elements of a row
# share a factor of float8_e8m0fnu, a power of two (the "mxfp8" of the OCP Microscaling format). Each CTA makes a tile of
# 128 x 128. TMA brings the elements; threads bring the factors, into the blocks of 32 x 16 bytes that tcgen05.cp takes to
# tensor memory; one thread multiplies 32 elements of K at a time, four steps for each tile of operands.
#   tirc run examples/gemm/scaled.py:gemm_scaled -D M=256 -D N=128 -D K=256 --arg A=ones --arg B=ones --arg SFA=ones \
#     --arg SFB=ones --arg D=zeros --show D
from tvm.backend.cuda.lang import SMEMPool, TCGen05Bar, TMABar, TMEMPool
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import sf_smem_layout

BM, BN, BK = 128, 128, 128
BLOCK = 32  # elements that share a factor
FACTORS = BK // BLOCK  # of a row, in a tile
ELEMENT, FACTOR = "float8_e4m3fn", "float8_e8m0fnu"


def gemm_scaled(M, N, K):
    @T.prim_func
    def gemm(
        A: T.Buffer((M, K), ELEMENT),
        B: T.Buffer((N, K), ELEMENT),
        SFA: T.Buffer((M, K // BLOCK), FACTOR),
        SFB: T.Buffer((N, K // BLOCK), FACTOR),
        D: T.Buffer((M, N), "float32"),
    ):
        T.device_entry()
        bm, bn = T.cta_id([M // BM, N // BN])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        m = T.meta_var(bm * BM)
        n = T.meta_var(bn * BN)

        smem = SMEMPool()
        tmem = TMEMPool(smem, total_cols=256)
        filled = TMABar(smem, 1)
        summed = TCGen05Bar(smem, 1)
        As = smem.alloc_tcgen05_mma_AB((BM, BK), ELEMENT)
        Bs = smem.alloc_tcgen05_mma_AB((BN, BK), ELEMENT)
        SFAs = smem.alloc((BM, FACTORS), FACTOR, layout=sf_smem_layout(BM, FACTORS, 1), align=128)
        SFBs = smem.alloc((BN, FACTORS), FACTOR, layout=sf_smem_layout(BN, FACTORS, 1), align=128)
        smem.commit()
        acc = tmem.alloc_tcgen05_mma_D((BM, BN), M=BM, cta_group=1)
        SFAt = tmem.alloc_sf((BM, FACTORS), FACTOR, sf_per_mma=1)
        SFBt = tmem.alloc_sf((BN, FACTORS), FACTOR, sf_per_mma=1)

        filled.init(1)
        summed.init(1)
        T.ptx.fence.mbarrier_init()
        tmem.commit()
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()

        for step in T.serial(K // BK):
            k: T.let = step * BK
            if T.cuda.thread_rank() == 0:
                filled.arrive(0, (BM + BN) * BK)
                Tx.copy_async(As[:, :], A[m : m + BM, k : k + BK], dispatch="tma", mbar=filled.ptr_to([0]))
                Tx.copy_async(Bs[:, :], B[n : n + BN, k : k + BK], dispatch="tma", mbar=filled.ptr_to([0]))
            Tx.cta.copy(SFAs[:, :], SFA[m : m + BM, step * FACTORS : step * FACTORS + FACTORS])
            Tx.cta.copy(SFBs[:, :], SFB[n : n + BN, step * FACTORS : step * FACTORS + FACTORS])
            T.ptx.fence.proxy_async("shared::cta")
            T.cuda.cta_sync()
            if T.cuda.thread_rank() == 0:
                filled.wait(0, step % 2)
                Tx.copy_async(SFAt[:, :], SFAs[:, :])
                Tx.copy_async(SFBt[:, :], SFBs[:, :])
                Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], SFA=SFAt[:, :], SFB=SFBt[:, :], accum=step != 0)
                summed.arrive(0)
            summed.wait(0, step % 2)

        T.ptx.tcgen05.fence.after_thread_sync()
        row = T.alloc_local((BM, BN), "float32", layout=T.wg_local_layout(BN))
        Tx.wg.copy_async(row[:, :], acc[:, :])
        T.ptx.tcgen05.wait.ld()
        Tx.wg.copy(D[m : m + BM, n : n + BN], row[:, :])
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        tmem.dealloc()

    return gemm


def plain(M, N, K):
    """The same in float64, an element for each thread, to compare with."""

    @T.prim_func
    def reference(
        A: T.Buffer((M, K), ELEMENT),
        B: T.Buffer((N, K), ELEMENT),
        SFA: T.Buffer((M, K // BLOCK), FACTOR),
        SFB: T.Buffer((N, K // BLOCK), FACTOR),
        D: T.Buffer((M, N), "float32"),
    ):
        T.device_entry()
        i = T.cta_id([M])
        j = T.thread_id([N])
        total: T.float64 = 0.0
        for k in T.serial(K):
            a = T.meta_var(T.cast(T.cast(A[i, k], "float32") * T.cast(SFA[i, k // BLOCK], "float32"), "float64"))
            b = T.meta_var(T.cast(T.cast(B[j, k], "float32") * T.cast(SFB[j, k // BLOCK], "float32"), "float64"))
            total = total + a * b
        D[i, j] = T.cast(total, "float32")

    return reference
