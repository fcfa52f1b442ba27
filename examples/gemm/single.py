# SPDX-License-Identifier: Apache-2.0
# D = A * B^T on the tensor core of Blackwell, one tile of 128 x 128 x 64: A and B are float16, D is float32. The block
# stages A and B in shared memory in the order the tensor core reads (rows of 128 bytes, swizzled), one thread issues four
# multiplications of 16 columns each, and every thread brings its row of the sum from tensor memory.
#   tirc run examples/gemm/single.py --arg A=randn:1 --arg B=randn:2 --arg D=zeros --show D
from tvm.backend.cuda.lang import SMEMPool
from tvm.script import tirx as T
from tvm.tirx.layout import S, SwizzleMode, TileLayout, mma_shared_layout

M, N, K = 128, 128, 64


@T.prim_func
def gemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    row = T.meta_var(warp_id * 32 + lane_id)

    pool = SMEMPool()
    slot = pool.alloc((1,), "uint32")
    done = pool.alloc((1,), "uint64", align=8)
    pool.move_base_to(1024)
    As = pool.alloc((M, K), "float16", layout=mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (M, K)))
    Bs = pool.alloc((N, K), "float16", layout=mma_shared_layout("float16", SwizzleMode.SWIZZLE_128B_ATOM, (N, K)))
    pool.commit()

    if warp_id == 0:
        if lane_id == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(T.address_of(slot), n_cols=N, cta_group=1)
    for k in T.serial(K // 8):
        As[row, k * 8 : k * 8 + 8] = A[row, k * 8 : k * 8 + 8]
        Bs[row, k * 8 : k * 8 + 8] = B[row, k * 8 : k * 8 + 8]
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    acc = T.decl_buffer(
        (M, N), "float32", scope="tmem", allocated_addr=slot[0], layout=TileLayout(S[(M, N) : (1 @ TLane, 1 @ TCol)])
    )

    a_desc: T.uint64
    b_desc: T.uint64
    i_desc: T.uint32
    if warp_id == 0:
        T.cuda.tcgen05.encode_instr_descriptor(
            T.address_of(i_desc), d_dtype="float32", a_dtype="float16", b_dtype="float16",
            M=M, N=N, K=16, trans_a=False, trans_b=False,
        )
        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(a_desc), As.ptr_to([0, 0]), ldo=1, sdo=64, swizzle=3)
        T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(b_desc), Bs.ptr_to([0, 0]), ldo=1, sdo=64, swizzle=3)
        if T.ptx.elect_sync():
            for k in T.unroll(K // 16):  # 16 columns are 32 bytes: 2 in a descriptor
                T.ptx.tcgen05.mma(
                    acc, a_desc + T.uint64(2 * k), b_desc + T.uint64(2 * k), i_desc,
                    d_dtype="float32", a_dtype="float16", b_dtype="float16", cta_group=1, enable_input_d=k > 0,
                )
            T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    T.ptx.tcgen05.fence.after_thread_sync()

    values = T.alloc_local((32,), "float32")
    for part in T.serial(N // 32):
        T.ptx.tcgen05.ld(
            T.cuda.get_tmem_addr(acc, warp_id * 32, part * 32), *[values[i] for i in range(32)], shape="32x32b", num=32
        )
        T.ptx.tcgen05.wait.ld()
        for i in T.unroll(32):
            D[row, part * 32 + i] = values[i]

    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.ptx.tcgen05.dealloc(slot[0], n_cols=N, cta_group=1)
