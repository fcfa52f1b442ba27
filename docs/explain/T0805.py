# SPDX-License-Identifier: Apache-2.0
# wrong: tirc run wrong.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    tile = T.alloc_shared((128, 16), "float16", align=128)
    for i in T.unroll(16):
        tile[warp * 32 + lane, i] = T.float16(1.0)
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    tiles: T.uint64
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(tiles), tile.ptr_to([0, 0]), ldo=8, sdo=16, swizzle=0)
    form: T.uint32 = 1 << 4 | (32 // 8) << 17 | (128 // 16) << 24
    if warp == 0:
        if lane == 0:
            T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0], tiles, tiles, form, False)
            T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0] + T.uint32(16), tiles, tiles, form, False)  # T0805
            T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.float32
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp * 32, 0), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[warp * 32 + lane] = x
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    tile = T.alloc_shared((128, 16), "float16", align=128)
    for i in T.unroll(16):
        tile[warp * 32 + lane, i] = T.float16(1.0)
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    tiles: T.uint64
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(tiles), tile.ptr_to([0, 0]), ldo=8, sdo=16, swizzle=0)
    form: T.uint32 = 1 << 4 | (32 // 8) << 17 | (128 // 16) << 24
    if warp == 0:
        if lane == 0:
            T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0], tiles, tiles, form, False)
            T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0] + T.uint32(32), tiles, tiles, form, False)
            T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.float32
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp * 32, 0), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[warp * 32 + lane] = x
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)
