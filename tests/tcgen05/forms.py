# SPDX-License-Identifier: Apache-2.0
# Every form of the tensor memory instructions that a script may write, for ptxas and nvcc: nothing here is run.
# form: loads
# form: stores
# form: copies
# form: products
# form: products_of_pair
# form: rest
# form: barriers
# form: bulk
from tvm.script import tirx as T

LD = (
    [(f"32x32b.x{n}", n) for n in (1, 2, 4, 8, 16, 32, 64, 128)]
    + [(f"16x64b.x{n}", n) for n in (1, 2, 4, 8, 16, 32, 64, 128)]
    + [(f"16x128b.x{n}", 2 * n) for n in (1, 2, 4, 8, 16, 32, 64)]
    + [(f"16x256b.x{n}", 4 * n) for n in (1, 2, 4, 8, 16, 32)]
)


def all_loads(r, address):
    for shape, count in LD:
        for pack in ("", ".pack::16b"):
            T.ptx[f"tcgen05.ld.sync.aligned.{shape}{pack}.b32"]([r[i] for i in range(count)], address)
            T.ptx.tcgen05.wait__ld.sync.aligned()
    for n in (1, 2, 4, 8, 16, 32, 64, 128):
        T.ptx[f"tcgen05.ld.sync.aligned.16x32bx2.x{n}.b32"]([r[i] for i in range(n)], address, 16)
        T.ptx.tcgen05.wait__ld.sync.aligned()


def all_stores(r, address):
    for shape, count in LD:
        for unpack in ("", ".unpack::16b"):
            T.ptx[f"tcgen05.st.sync.aligned.{shape}{unpack}.b32"](address, [r[i] for i in range(count)])
    for n in (1, 2, 4, 8, 16, 32, 64, 128):
        T.ptx[f"tcgen05.st.sync.aligned.16x32bx2.x{n}.b32"](address, 16, [r[i] for i in range(n)])


def all_copies(address, D):
    for shape in ("128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"):
        for packing in ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"):
            T.ptx[f"tcgen05.cp.cta_group::1.{shape}{packing}"](address, D[0])


def all_products(group, d, D, idesc, lanes, go):
    collectors = ("", ".collector::a::fill", ".collector::a::use", ".collector::a::lastuse", ".collector::a::discard")
    for kind in ("f16", "tf32", "f8f6f4", "i8"):
        for collector in collectors:
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::{kind}{collector}"](d, D[0], D[1], idesc, go)
        T.ptx[f"tcgen05.mma.cta_group::{group}.kind::{kind}"](d, d, D[1], idesc, T.ptx.pred(go))
        masks = [lanes[i] for i in range(4 * group)]
        T.ptx[f"tcgen05.mma.cta_group::{group}.kind::{kind}"](d, D[0], D[1], idesc, masks, go)


def all_warp_products(d, D, go):
    for kind in ("f16", "tf32", "f8f6f4", "i8"):
        T.ptx[f"tcgen05.mma.ws.cta_group::1.kind::{kind}"](d, D[0], D[1], d, go)
        T.ptx[f"tcgen05.mma.ws.cta_group::1.kind::{kind}.collector::b1::fill"](d, D[0], D[1], d, go)


@T.prim_func
def loads(B: T.Buffer((128,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    r = T.alloc_local((128,), "uint32")
    for i in T.unroll(128):
        r[i] = T.uint32(0)
    address: T.uint32 = T.cast(lane_id // 32, "uint32")
    all_loads(r, address)
    for i in T.unroll(128):
        B[i] = r[i]


@T.prim_func
def stores(B: T.Buffer((128,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    r = T.alloc_local((128,), "uint32")
    for i in T.unroll(128):
        r[i] = B[i]
    address: T.uint32 = T.cast(lane_id // 32, "uint32")
    all_stores(r, address)
    T.ptx.tcgen05.wait__st.sync.aligned()


@T.prim_func
def copies(D: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    address: T.uint32 = T.cast(lane_id // 32, "uint32")
    if lane_id == 0:
        all_copies(address, D)
        T.ptx.tcgen05.shift.cta_group__1.down(address)


def product(group):
    mask = 4 * group

    @T.prim_func
    def kernel(D: T.Buffer((2,), "uint64")):
        T.device_entry()
        T.cta_id([1])
        lane_id = T.lane_id([32])
        d: T.uint32 = T.cast(lane_id // 32, "uint32")
        idesc: T.uint32 = 0x08200010
        lanes = T.alloc_local((mask,), "uint32")
        for i in T.unroll(mask):
            lanes[i] = T.uint32(0)
        go: T.bool = lane_id == 0
        if lane_id == 0:
            all_products(group, d, D, idesc, lanes, go)
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::f16"](d, D[0], D[1], idesc, go, 3)
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::mxf8f6f4.block_scale.scale_vec::1X"](d, D[0], D[1], idesc, d, d, go)
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::mxf4.block_scale.scale_vec::2X"](d, D[0], D[1], idesc, d, d, go)
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::mxf4nvf4.block_scale.scale_vec::4X"](d, D[0], D[1], idesc, d, d, go)
            T.ptx[f"tcgen05.mma.cta_group::{group}.kind::f16"](d, D[0], D[1], idesc, go, pred=go)

    return kernel


products, products_of_pair = product(1), product(2)


@T.prim_func
def rest(D: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((2,), "uint64")
    d: T.uint32 = 0
    go: T.bool = lane_id == 0
    T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(slot, 64)
    T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.b32(slot.ptr_to([0]), 32)
    if lane_id == 0:
        all_warp_products(d, D, go)
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(bar.ptr_to([0]))
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.b64(bar.ptr_to([0]))
        T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.multicast__cluster.b64(bar.ptr_to([1]), T.uint16(3))
        T.ptx.tcgen05.commit(bar.ptr_to([0]), cta_group=1, pred=go)
    T.ptx.tcgen05.fence__before_thread_sync()
    T.ptx.tcgen05.fence__after_thread_sync()
    T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
    T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(slot[0], 64)
    T.ptx.tcgen05.dealloc(slot, 32, cta_group=1)


@T.prim_func
def barriers(D: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    bar = T.alloc_shared((2,), "uint64")
    state: T.uint64
    p: T.bool
    T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), 1)
    T.ptx.mbarrier.arrive.shared__cta.b64(state, bar.ptr_to([0]), 1)
    T.ptx.mbarrier.arrive.expect_tx.shared__cta.b64(T.ptx.SINK, bar.ptr_to([0]), 16)
    T.ptx.mbarrier.arrive.expect_tx.relaxed.cluster.shared__cta.b64(bar.ptr_to([0]), 16)
    T.ptx.mbarrier.expect_tx.shared__cta.b64(bar.ptr_to([0]), 16)
    T.ptx.mbarrier.test_wait.shared__cta.b64(p, bar.ptr_to([0]), state)
    T.ptx.mbarrier.try_wait.parity.shared__cta.b64(p, bar.ptr_to([0]), 0)
    T.ptx.mbarrier.try_wait.parity.acquire.cluster.shared__cta.b64(p, bar.ptr_to([0]), 0, 100)
    T.ptx.mbarrier.inval.shared__cta.b64(bar.ptr_to([1]))
    T.ptx.mbarrier.arrive(bar.ptr_to([0]))
    T.ptx.mbarrier.arrive.expect_tx(bar.ptr_to([0]), 64)
    T.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([0]), 1)
    T.ptx.fence.mbarrier_init()
    T.ptx.fence.proxy_async()
    T.ptx.fence.acq_rel.gpu()
    T.ptx.bar.sync(1, 128)
    T.ptx.barrier.cta.sync.aligned(1, 128)
    T.ptx.bar.arrive(1, 128)
    T.cuda.warpgroup_sync(2)
    T.ptx.griddepcontrol.wait()
    T.ptx.griddepcontrol.launch_dependents()
    T.ptx.nanosleep.u32(100)
    D[0] = state + T.cast(p, "uint64")


@T.prim_func
def bulk(m: T.TensorMap(), A: T.Buffer((1024,), "uint8"), D: T.Buffer((2,), "uint64")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    bar = T.alloc_shared((1,), "uint64")
    tile = T.alloc_shared((1024,), "uint8", align=128)
    T.ptx.cp_async.bulk.tensor.g2c(2, tile.data, bar.ptr_to([0]), m, lane_id, 0)
    T.ptx.cp_async.bulk.tensor.s2g(2, tile.data, m, lane_id, 0)
    T.ptx.cp.async_.bulk.tensor._3d.shared__cluster.global_.tile.mbarrier__complete_tx__bytes(tile.data, m, (0, 0, lane_id), bar)
    T.ptx.cp.async_.bulk.tensor._1d.global_.shared__cta.tile.bulk_group(m, 0, tile.data)
    T.ptx.cp.reduce.async_.bulk.tensor._2d.global_.shared__cta.add.tile.bulk_group(m, [0, 1], tile.data)
    T.ptx.cp.async_.bulk.prefetch.tensor._2d.L2.global_.tile(m, 0, 0)
    T.ptx.prefetch.tensormap(T.address_of(m))
    T.ptx.cp.async_.bulk.shared__cluster.global_.mbarrier__complete_tx__bytes(tile.data, A.data, 128, bar.ptr_to([0]))
    T.ptx.cp.async_.bulk.global_.shared__cta.bulk_group(A.data, tile.data, 128)
    T.ptx.cp_async.bulk.commit_group()
    T.ptx.cp_async.bulk.wait_group(0)
    T.ptx.cp.async_.bulk.wait_group(1)
    T.ptx.cp.async_.ca.shared.global_(tile.ptr_to([16]), A.ptr_to([16]), 16)
    T.ptx.cp.async_.cg.shared.global_(tile.ptr_to([16]), A.ptr_to([16]), 16, 8)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.ptx.cp.async_.mbarrier.arrive.noinc.shared.b64(bar.ptr_to([0]))
