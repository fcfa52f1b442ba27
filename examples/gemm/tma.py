# SPDX-License-Identifier: Apache-2.0
# D = A * B^T on the tensor core of Blackwell, fed by TMA: boxes of 128 x 64 of A and B come into a ring of STAGES stages,
# two mbarriers a stage say when it is full and when it is free, and their phases alternate with every round. Warp 0 asks
# for boxes, warp 1 multiplies, all four warps bring the sum from tensor memory.
#   tirc run examples/gemm/tma.py:gemm_tma -D M=256 -D N=256 -D K=256 --arg A=randn:1 --arg B=randn:2 --arg D=zeros \
#     --tensor-map a_map=A,box=64x128,swizzle=128 --tensor-map b_map=B,box=64x128,swizzle=128 --show D
from tvm.backend.cuda.lang import SMEMPool
from tvm.script import tirx as T
from tvm.tirx.layout import S, SwizzleMode, TileLayout, mma_shared_layout

BM, BN, BK, STAGES = 128, 128, 64, 2


def gemm_tma(M, N, K):
    @T.prim_func
    def gemm(
        a_map: T.TensorMap(),
        b_map: T.TensorMap(),
        A: T.Buffer((M, K), "float16"),
        B: T.Buffer((N, K), "float16"),
        D: T.Buffer((M, N), "float32"),
    ):
        T.device_entry()
        bm, bn = T.cta_id([M // BM, N // BN])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        row = T.meta_var(warp_id * 32 + lane_id)

        pool = SMEMPool()
        slot = pool.alloc((1,), "uint32")
        full = pool.alloc((STAGES,), "uint64", align=8)
        empty = pool.alloc((STAGES,), "uint64", align=8)
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        ring = mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (STAGES * BM, BK))
        As = pool.alloc((STAGES * BM, BK), "float16", layout=ring)
        Bs = pool.alloc((STAGES * BN, BK), "float16", layout=ring)
        pool.commit()

        if warp_id == 0:
            if lane_id == 0:
                for s in T.unroll(STAGES):
                    T.ptx.mbarrier.init(full.ptr_to([s]), 1)
                    T.ptx.mbarrier.init(empty.ptr_to([s]), 1)
                T.ptx.mbarrier.init(done.ptr_to([0]), 1)
                T.ptx.fence.mbarrier_init()
            T.cuda.warp_sync()
            T.ptx.tcgen05.alloc(T.address_of(slot), n_cols=BN, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        acc = T.decl_buffer(
            (BM, BN), "float32", scope="tmem", allocated_addr=slot[0],
            layout=TileLayout(S[(BM, BN) : (1 @ TLane, 1 @ TCol)]),
        )

        if warp_id == 0:
            if lane_id == 0:
                for step in T.serial(K // BK):
                    stage: T.let = step % STAGES
                    T.ptx.mbarrier.try_wait(empty.ptr_to([stage]), (step // STAGES + 1) % 2)
                    T.ptx.mbarrier.arrive.expect_tx(full.ptr_to([stage]), (BM + BN) * BK * 2)
                    T.ptx.cp_async.bulk.tensor.g2c(
                        2, As.ptr_to([stage * BM, 0]), full.ptr_to([stage]), a_map, step * BK, bm * BM
                    )
                    T.ptx.cp_async.bulk.tensor.g2c(
                        2, Bs.ptr_to([stage * BN, 0]), full.ptr_to([stage]), b_map, step * BK, bn * BN
                    )
        if warp_id == 1:
            if lane_id == 0:
                a_desc: T.uint64
                b_desc: T.uint64
                i_desc: T.uint32
                T.cuda.tcgen05.encode_instr_descriptor(
                    T.address_of(i_desc), d_dtype="float32", a_dtype="float16", b_dtype="float16",
                    M=BM, N=BN, K=16, trans_a=False, trans_b=False,
                )
                for step in T.serial(K // BK):
                    stage: T.let = step % STAGES
                    T.ptx.mbarrier.try_wait(full.ptr_to([stage]), (step // STAGES) % 2)
                    T.ptx.tcgen05.fence.after_thread_sync()
                    T.cuda.tcgen05.encode_matrix_descriptor(
                        T.address_of(a_desc), As.ptr_to([stage * BM, 0]), ldo=1, sdo=64, swizzle=3
                    )
                    T.cuda.tcgen05.encode_matrix_descriptor(
                        T.address_of(b_desc), Bs.ptr_to([stage * BN, 0]), ldo=1, sdo=64, swizzle=3
                    )
                    for k in T.unroll(BK // 16):
                        T.ptx.tcgen05.mma(
                            acc, a_desc + T.uint64(2 * k), b_desc + T.uint64(2 * k), i_desc,
                            d_dtype="float32", a_dtype="float16", b_dtype="float16", cta_group=1,
                            enable_input_d=(step + k) > 0,
                        )
                    T.ptx.tcgen05.commit(empty.ptr_to([stage]), cta_group=1)
                T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
        T.cuda.warp_sync()
        T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
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
