# SPDX-License-Identifier: Apache-2.0
# wrong: tirc check wrong.py
@T.prim_func
def kernel(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    smem = T.SMEMPool()
    pool = T.TMEMPool(smem, total_cols=64, cta_group=1)
    left = pool.alloc((128, 64), "float32")
    right = pool.alloc((128, 64), "float32")  # T0535
    smem.commit()
    pool.commit()
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.float32
    T.ptx.tcgen05.st(right.ptr_to([warp * 32, 0]), T.float32(7.0), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(right.ptr_to([warp * 32, 0]), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[warp * 32 + lane] = x
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    pool.dealloc()
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    smem = T.SMEMPool()
    pool = T.TMEMPool(smem, total_cols=128, cta_group=1)
    left = pool.alloc((128, 64), "float32")
    right = pool.alloc((128, 64), "float32")
    smem.commit()
    pool.commit()
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.float32
    T.ptx.tcgen05.st(right.ptr_to([warp * 32, 0]), T.float32(7.0), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(right.ptr_to([warp * 32, 0]), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[warp * 32 + lane] = x
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    pool.dealloc()
