# SPDX-License-Identifier: Apache-2.0
# wrong: tirc check wrong.py
@T.prim_func
def kernel(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    slot[0] = T.uint32(0)
    T.cuda.cta_sync()
    x: T.uint32
    T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], 0, 0), T.uint32(7), shape="32x32b", num=1)  # T0591
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], 0, 0), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[lane] = x
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.cuda.cta_sync()
    x: T.uint32
    T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], 0, 0), T.uint32(7), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], 0, 0), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[lane] = x
    T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)
