# SPDX-License-Identifier: Apache-2.0
# wrong: tirc run wrong.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    arena = T.alloc_shared((64,), "uint32")
    T.ptx.tcgen05.alloc(arena.ptr_to([0]), n_cols=32, cta_group=1)
    T.cuda.cta_sync()
    base: T.uint32 = arena[0]
    arena[lane] = T.uint32(3)  # T0831
    T.cuda.cta_sync()
    x: T.uint32
    T.ptx.tcgen05.st(arena[0], T.uint32(7), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(arena[0], x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[lane] = x
    T.ptx.tcgen05.dealloc(base, n_cols=32, cta_group=1)
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    arena = T.alloc_shared((64,), "uint32")
    T.ptx.tcgen05.alloc(arena.ptr_to([0]), n_cols=32, cta_group=1)
    T.cuda.cta_sync()
    base: T.uint32 = arena[0]
    arena[lane + 32] = T.uint32(3)
    T.cuda.cta_sync()
    x: T.uint32
    T.ptx.tcgen05.st(arena[0], T.uint32(7), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(arena[0], x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[lane] = x
    T.ptx.tcgen05.dealloc(base, n_cols=32, cta_group=1)
