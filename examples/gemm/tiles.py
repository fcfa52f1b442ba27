# SPDX-License-Identifier: Apache-2.0
# D = A * B^T on the tensor core of Blackwell, float16 to float32, for any number of tiles: a block of 128 threads makes a
# tile of 128 x BN of D and walks K in steps of 64. The block stages one step in shared memory, one thread issues its four
# multiplications, and everybody waits until the tensor core has read the stage before the next step overwrites it: an
# mbarrier whose phase alternates. gemm_loop is one tile with a loop over K, gemm_grid a grid of tiles.
#   tirc run examples/gemm/tiles.py:gemm_loop -D K=256 --arg A=randn:1 --arg B=randn:2 --arg D=zeros --show D
#   tirc run examples/gemm/tiles.py:gemm_grid -D M=256 -D N=256 -D K=128 --arg A=randn:1 --arg B=randn:2 --arg D=zeros
from tvm.backend.cuda.lang import SMEMPool
from tvm.script import tirx as T
from tvm.tirx.layout import S, SwizzleMode, TileLayout, mma_shared_layout

BM, BN, BK = 128, 128, 64


def gemm_of(M, N, K):
    operand = mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (BM, BK))

    @T.prim_func
    def gemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
        T.device_entry()
        bm, bn = T.cta_id([M // BM, N // BN])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        row = T.meta_var(warp_id * 32 + lane_id)

        pool = SMEMPool()
        slot = pool.alloc((1,), "uint32")
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        As = pool.alloc((BM, BK), "float16", layout=operand)
        Bs = pool.alloc((BN, BK), "float16", layout=operand)
        pool.commit()

        if warp_id == 0:
            if lane_id == 0:
                T.ptx.mbarrier.init(done.ptr_to([0]), 1)
            T.cuda.warp_sync()
            T.ptx.tcgen05.alloc(T.address_of(slot), n_cols=BN, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        acc = T.decl_buffer(
            (BM, BN), "float32", scope="tmem", allocated_addr=slot[0],
            layout=TileLayout(S[(BM, BN) : (1 @ TLane, 1 @ TCol)]),
        )

        a_desc: T.uint64
        b_desc: T.uint64
        i_desc: T.uint32
        T.cuda.tcgen05.encode_instr_descriptor(
            T.address_of(i_desc), d_dtype="float32", a_dtype="float16", b_dtype="float16",
            M=BM, N=BN, K=16, trans_a=False, trans_b=False,
        )
        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(a_desc), As.ptr_to([0, 0]), ldo=1, sdo=64, swizzle=3)
        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(b_desc), Bs.ptr_to([0, 0]), ldo=1, sdo=64, swizzle=3)
        for step in T.serial(K // BK):
            for k in T.serial(BK // 8):
                As[row, k * 8 : k * 8 + 8] = A[bm * BM + row, step * BK + k * 8 : step * BK + k * 8 + 8]
                Bs[row, k * 8 : k * 8 + 8] = B[bn * BN + row, step * BK + k * 8 : step * BK + k * 8 + 8]
            T.ptx.fence.proxy_async("shared::cta")
            T.cuda.cta_sync()
            if warp_id == 0:
                T.ptx.tcgen05.fence.after_thread_sync()
                if T.ptx.elect_sync():
                    for k in T.unroll(BK // 16):
                        T.ptx.tcgen05.mma(
                            acc, a_desc + T.uint64(2 * k), b_desc + T.uint64(2 * k), i_desc,
                            d_dtype="float32", a_dtype="float16", b_dtype="float16", cta_group=1,
                            enable_input_d=(step + k) > 0,
                        )
                    T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
            T.ptx.mbarrier.try_wait(done.ptr_to([0]), step % 2)
            T.ptx.tcgen05.fence.after_thread_sync()

        values = T.alloc_local((32,), "float32")
        for part in T.serial(BN // 32):
            T.ptx.tcgen05.ld(
                T.cuda.get_tmem_addr(acc, warp_id * 32, part * 32), *[values[i] for i in range(32)],
                shape="32x32b", num=32,
            )
            T.ptx.tcgen05.wait.ld()
            for i in T.unroll(32):
                D[bm * BM + row, bn * BN + part * 32 + i] = values[i]

        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
            T.ptx.tcgen05.dealloc(slot[0], n_cols=BN, cta_group=1)

    return gemm


def gemm_loop(K):
    return gemm_of(BM, BN, K)


def gemm_grid(M, N, K):
    return gemm_of(M, N, K)
