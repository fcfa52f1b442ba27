# SPDX-License-Identifier: Apache-2.0
# wrong: tirc run wrong.py --arg B=zeros
@T.function
def kernel(B: T.Tensor((64,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), cluster=(2,), block=(32,)))
    done = T.alloc_shared((1,), "uint64")
    lane = T.cuda.thread_idx("x")
    if lane == 0:
        T.ptx.mbarrier.init(done.ptr_to([0]), 2)
    T.ptx.fence.mbarrier_init()
    T.cuda.cluster_sync()
    if lane == 0:
        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](done.ptr_to([0]), T.uint16(7))  # T0812
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    B[T.cuda.block_idx("x") * 32 + lane] = T.uint32(1)
    T.cuda.cluster_sync()
# right: tirc run right.py --arg B=zeros
@T.function
def kernel(B: T.Tensor((64,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), cluster=(2,), block=(32,)))
    done = T.alloc_shared((1,), "uint64")
    lane = T.cuda.thread_idx("x")
    if lane == 0:
        T.ptx.mbarrier.init(done.ptr_to([0]), 2)
    T.ptx.fence.mbarrier_init()
    T.cuda.cluster_sync()
    if lane == 0:
        T.ptx["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](done.ptr_to([0]), T.uint16(3))
    T.ptx.mbarrier.try_wait(done.ptr_to([0]), 0)
    B[T.cuda.block_idx("x") * 32 + lane] = T.uint32(1)
    T.cuda.cluster_sync()
