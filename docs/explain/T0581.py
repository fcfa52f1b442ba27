# SPDX-License-Identifier: Apache-2.0
# wrong: tirc check wrong.py
@T.prim_func
def kernel(B: T.Buffer((64,), "uint32")):
    T.device_entry()
    cta = T.cta_id([2])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=2)  # T0581
    T.cuda.cluster_sync()
    B[cta * 32 + lane] = slot[0]
    T.cuda.cluster_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=2)
# right: tirc run right.py --arg B=zeros
@T.prim_func
def kernel(B: T.Buffer((64,), "uint32")):
    T.device_entry()
    T.cluster_id([1])
    cta = T.cta_id_in_cluster([2])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=2)
    T.cuda.cluster_sync()
    B[cta * 32 + lane] = slot[0]
    T.cuda.cluster_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=2)
