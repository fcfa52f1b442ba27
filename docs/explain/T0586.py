# SPDX-License-Identifier: Apache-2.0
# wrong: tirc check wrong.py
@T.prim_func
def kernel(B: T.Buffer((128, 4), "uint32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    rows = T.alloc_shared((128, 4), "uint32", align=128)
    for i in T.unroll(4):
        rows[warp * 32 + lane, i] = T.cast(lane, "uint32")
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    desc: T.uint64
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(desc), rows.ptr_to([0, 0]), ldo=1, sdo=8, swizzle=0)
    if warp == 0:
        if T.ptx.elect_sync():
            T.ptx.tcgen05.cp(slot[0], desc, shape="128x128b", cta_group=1)
            T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    v = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp * 32, 0), *[v[i] for i in range(4)], shape="32x32b", num=4)  # T0586
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[warp * 32 + lane, i] = v[i]
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((128, 4), "uint32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    rows = T.alloc_shared((128, 4), "uint32", align=128)
    for i in T.unroll(4):
        rows[warp * 32 + lane, i] = T.cast(lane, "uint32")
    if warp == 0:
        if lane == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    desc: T.uint64
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(desc), rows.ptr_to([0, 0]), ldo=1, sdo=8, swizzle=0)
    if warp == 0:
        if T.ptx.elect_sync():
            T.ptx.tcgen05.cp(slot[0], desc, shape="128x128b", cta_group=1)
            T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    T.ptx.tcgen05.fence.after_thread_sync()
    v = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp * 32, 0), *[v[i] for i in range(4)], shape="32x32b", num=4)
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[warp * 32 + lane, i] = v[i]
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)
