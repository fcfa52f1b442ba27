# SPDX-License-Identifier: Apache-2.0
# The second document's rules, and those of tensor memory in the first, as kernels: what is right runs clean on every
# schedule, what is wrong is found where it stands. `# case: IDS | ENTRY | options | status | pattern`: the pattern is in
# what `tirc run` prints; status 0 is clean, 1 findings. run.sh reads these lines.
from tvm.backend.cuda.lang import SMEMPool
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout

cta_group = 1
FULL = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])


# case: A52 A55 A59 B2 B10 B11 B18 B19 | frees_first | | 0 | B = uint32.128.: 7 7 7
# case: A52 A59 B2 B20 | relinquishes_first | | 0 | B = uint32.128.: 7 7 7
def store_and_load(order):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        pool = T.SMEMPool()
        tmem_addr = pool.alloc((1,), "uint32")
        pool.commit()
        if warp_id == 0:
            T.ptx.tcgen05.alloc(T.address_of(tmem_addr), n_cols=64, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        tmem = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=tmem_addr[0], layout=FULL)
        x: T.uint32
        T.ptx.tcgen05.st(T.cuda.get_tmem_addr(tmem, warp_id * 32, 5), T.uint32(7), shape="32x32b", num=1)
        T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(tmem, warp_id * 32, 5), x, shape="32x32b", num=1)
        T.ptx.tcgen05.wait.ld()
        B[warp_id * 32 + lane_id] = x
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if warp_id == 0:
            if order:
                T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
            T.ptx.tcgen05.dealloc(tmem_addr[0], n_cols=64, cta_group=1)
            if not order:
                T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)

    return kernel


frees_first = store_and_load(False)
relinquishes_first = store_and_load(True)


# Each warp reaches its 32 lanes; the address of a column is base + offset; an element names an address.
# case: A8 A53 A57 A58 B1 B3 B4 B15 B16 B22 | windows | | 0 | B = uint32.128, 4.: 0 1000 2000 3000 1 1001 2001 3001
@T.function
def windows(B: T.Tensor((128, 4), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    warp_id = T.cuda.warp_id()
    slot = T.shared_scalar("uint32")
    if warp_id == 0:
        T.ptx[f"tcgen05.alloc.cta_group::{cta_group}.sync.aligned.shared::cta.b32"](T.address_of(slot), T.uint32(64))
    T.ptx.tcgen05.fence__before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence__after_thread_sync()
    left = T.cuda.decl_tmem(slot, ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    right = T.cuda.decl_tmem(slot + T.uint32(32), ty_args=[T.Tensor((128, 32), "float32", scope="tmem", layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))])
    r = T.alloc_local((4,), "uint32")
    for i in T.unroll(4):
        r[i] = T.cast(tx, "uint32") + T.uint32(1000 * i)
    lanes = T.cast(warp_id, "uint32") * T.uint32(32 << 16)
    T.ptx.tcgen05.st.sync.aligned._32x32b.x2.b32(left.ptr_to([warp_id * 32, 30]), r[0], r[1])
    T.ptx["tcgen05.st.sync.aligned.32x32b.x2.b32"](right.ptr_to([warp_id * 32, 0]), [r[2], r[3]])
    T.ptx.tcgen05.wait__st.sync.aligned()
    v = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x4.b32([v[i] for i in range(4)], slot + lanes + T.uint32(30))
    T.ptx.tcgen05.wait__ld.sync.aligned()
    for i in T.unroll(4):
        B[tx, i] = v[i]
    T.ptx.tcgen05.fence__before_thread_sync()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx[f"tcgen05.relinquish_alloc_permit.cta_group::{cta_group}.sync.aligned"]()
        T.ptx[f"tcgen05.dealloc.cta_group::{cta_group}.sync.aligned.b32"](slot, T.uint32(64))


# A later write to the slot does not move the tensor.
# case: A54 | captured | | 0 | B = uint32.32.: 5 5 5
@T.function
def captured(B: T.Tensor((32,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    slot = T.alloc_shared((2,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    slot[1] = slot[0]
    T.cuda.cta_sync()
    if tx == 0:
        slot[0] = T.uint32(4096)
    T.cuda.cta_sync()
    x: T.uint32
    T.ptx.tcgen05.st(acc, T.uint32(5), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(acc, x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[tx] = x
    T.ptx.tcgen05.dealloc(slot[1], n_cols=32, cta_group=1)
    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)


# What a warp may get wrong around one store and one load; `mode` chooses.
def one_warp(mode):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane_id = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        columns: T.uint32 = 32
        if mode == "columns":
            columns = T.uint32(32) + T.uint32(32) * T.cast(lane_id // 16, "uint32")
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=columns, cta_group=1)
        T.cuda.cta_sync()
        acc = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=slot[0])
        x: T.uint32
        column: T.uint32 = 0
        if mode == "address":
            column = T.cast(lane_id % 2, "uint32")
        T.ptx.tcgen05.st(T.cuda.get_tmem_addr(acc, 0, column), T.cast(lane_id, "uint32"), shape="32x32b", num=1)
        if mode != "store":
            T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(acc, 32 if mode == "window" else 0, column), x, shape="32x32b", num=1)
        if mode == "wrong wait":
            T.ptx.tcgen05.wait.st()
        elif mode != "load":
            T.ptx.tcgen05.wait.ld()
        B[lane_id] = x + T.uint32(1)
        if mode == "load" or mode == "wrong wait":
            T.ptx.tcgen05.wait.ld()
        if mode != "never":
            T.ptx.tcgen05.dealloc(slot[0] + T.uint32(16 if mode == "place" else 0), n_cols=columns, cta_group=1)
        if mode == "twice":
            T.ptx.tcgen05.dealloc(slot[0], n_cols=columns, cta_group=1)

    return kernel


# case: B5 B38 | clean | | 0 | B = uint32.32.: 1 2 3 4
# case: B5 | no_wait_load | --schedule late | 0 | memory.py:[0-9]+:[0-9]+: note: .*used before tcgen05.wait::ld
# case: B38 | wrong_wait | --schedule late | 1 | memory.py:[0-9]+:[0-9]+: (error|warning): .*wait::st, which does not wait for loads
# case: B5 | no_wait_store | --schedule late | 1 | memory.py:[0-9]+:[0-9]+: error: .*while tcgen05.st still writes
# case: B3 | outside_window | | 1 | memory.py:[0-9]+:[0-9]+: error: load from lane 32 by a warp that owns lanes 0 to 31 .T0754
# case: B29 | two_addresses | | 1 | memory.py:[0-9]+:[0-9]+: error: lanes disagree: 0x1 in this one, 0x0 in the first
# case: B13 | two_counts | | 1 | memory.py:[0-9]+:[0-9]+: error: lanes disagree: 0x40 in this one, 0x20 in the first
# case: B19 | wrong_place | | 1 | memory.py:[0-9]+:[0-9]+: error: frees column 16 of an allocation.*T0589
# case: B19 | freed_twice | | 1 | memory.py:[0-9]+:[0-9]+: error: .*given back before .T0588
clean = one_warp("")
no_wait_load = one_warp("load")
wrong_wait = one_warp("wrong wait")
no_wait_store = one_warp("store")
outside_window = one_warp("window")
two_addresses = one_warp("address")
two_counts = one_warp("columns")
wrong_place = one_warp("place")
freed_twice = one_warp("twice")


# The slot gets the address of the first column, wherever that is; every warp reaches every column of its lanes.
# case: B7 B11 B27 | everywhere | | 0 | B = uint32.128, 4.: 0 255 511 0 0 255 511 0
# case: B11 | slot_only | --tmem-base 64 | 0 | B = uint32.32.: 64 64 64
# case: B11 | slot_only | --tmem-base 448 | 0 | B = uint32.32.: 448 448 448
@T.prim_func
def everywhere(B: T.Buffer((128, 4), "uint32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    if warp_id == 0:
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=512, cta_group=1)
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.uint32
    for c in T.serial(512):
        T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], warp_id * 32, c), T.cast(c, "uint32"), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    wrong: T.uint32 = 0
    for c in T.serial(512):
        T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp_id * 32, c), x, shape="32x32b", num=1)
        T.ptx.tcgen05.wait.ld()
        if x != T.cast(c, "uint32"):
            wrong = wrong + T.uint32(1)
        if c == 0:
            B[warp_id * 32 + lane_id, 0] = x
        if c == 255:
            B[warp_id * 32 + lane_id, 1] = x
    B[warp_id * 32 + lane_id, 2] = x
    B[warp_id * 32 + lane_id, 3] = wrong
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=512, cta_group=1)


@T.prim_func
def slot_only(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
    T.cuda.cta_sync()
    B[lane_id] = slot[0]
    T.cuda.warp_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)


# Two CTAs on one SM want all columns: the second allocation waits until the first CTA frees.
# case: B9 B12 | waits | --sms 1 --ctas-per-sm 2 | 0 | B = uint32.2.: 1 1
@T.prim_func
def waits(B: T.Buffer((2,), "uint32")):
    T.device_entry()
    cta = T.cta_id([2])
    T.warp_id([1])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=512, cta_group=1)
    T.cuda.cta_sync()
    if lane_id == 0:
        B[cta] = T.uint32(1) + slot[0]
    T.cuda.warp_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=512, cta_group=1)


# Another warp reads what warp 0 stored: after the wait a barrier, with fences on both sides.
def two_warps(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([8])
        lane_id = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
        if mode != "slot":
            T.ptx.tcgen05.fence.before_thread_sync()
            T.cuda.cta_sync()
            T.ptx.tcgen05.fence.after_thread_sync()
        x: T.uint32 = 0
        if warp_id < 4:
            T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 0), T.cast(lane_id, "uint32"), shape="32x32b", num=1)
            T.ptx.tcgen05.wait.st()
        if mode != "fence":
            T.ptx.tcgen05.fence.before_thread_sync()
        if mode != "sync":
            T.cuda.cta_sync()
        if mode != "fence":
            T.ptx.tcgen05.fence.after_thread_sync()
        if warp_id >= 4:
            T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], (warp_id - 4) * 32, 0), x, shape="32x32b", num=1)
            T.ptx.tcgen05.wait.ld()
            B[(warp_id - 4) * 32 + lane_id] = x
        T.ptx.tcgen05.fence.before_thread_sync()
        if mode != "end":
            T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# case: B14 B39 | handed_over | | 0 | B = uint32.128.: 0 1 2 3
# case: B39 | no_fence | | 1 | memory.py:[0-9]+:[0-9]+: warning: .*no tcgen05.fence::before_thread_sync since .T0762
# case: B39 | no_sync | --schedule 3 | 1 | memory.py:[0-9]+:[0-9]+: error: .*no barrier tells this warp that the other one's tcgen05.st is complete .T0757
# case: B21 | freed_in_use | --schedule 3 | 1 | memory.py:[0-9]+:[0-9]+: error: read of column 0: column 0 was given back before .T0740
handed_over = two_warps("")
no_fence = two_warps("fence")
no_sync = two_warps("sync")
freed_in_use = two_warps("end")


# A pair of CTAs allocates together, one warp on each side; the address is the same.
# case: B23 B24 B25 | pair | | 0 | B = uint32.2.: 0 0
@T.function
def pair(B: T.Tensor((2,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), cluster=(2,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=2)
    T.cuda.cluster_sync()
    if tx == 0:
        B[T.cuda.block_idx("x")] = slot[0]
    T.cuda.cluster_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=2)
    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=2)


# The other side never comes.
# case: B24 | half_pair | | 1 | memory.py:[0-9]+:[0-9]+: error: deadlock
@T.function
def half_pair(B: T.Tensor((2,), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), cluster=(2,), block=(32,)))
    slot = T.alloc_shared((1,), "uint32")
    if T.cuda.block_idx("x") == 0:
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=2)
    T.cuda.cluster_sync()
    if T.cuda.block_idx("x") == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=2)


# tcgen05.cp has shapes of its own and completes by a commit, not by a wait.
# case: B40 | copied | | 0 | B = uint32.128, 4.: 0 1 2 3 4 5 6 7
@T.function
def copied(B: T.Tensor((128, 4), "uint32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    warp_id = T.cuda.warp_id()
    slot = T.alloc_shared((1,), "uint32")
    done = T.alloc_shared((1,), "uint64")
    rows = T.alloc_shared((128, 4), "uint32", align=128)
    for i in T.unroll(4):
        rows[tx, i] = T.cast(tx * 4 + i, "uint32")
    if warp_id == 0:
        if T.cuda.lane_id() == 0:
            T.ptx.mbarrier.init(done.ptr_to([0]), 1)
        T.cuda.warp_sync()
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.ptx.fence.proxy_async("shared::cta")
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    desc: T.uint64
    T.cuda.tcgen05.encode_matrix_descriptor(T.address_of(desc), rows.ptr_to([0, 0]), ldo=1, sdo=8, swizzle=0)
    if tx == 0:
        T.ptx.tcgen05.cp(slot[0], desc, shape="128x128b", cta_group=1)
        T.ptx.tcgen05.commit(done.ptr_to([0]), cta_group=1)
    T.cuda.mbarrier_wait(done.ptr_to([0]), 0)
    T.ptx.tcgen05.fence.after_thread_sync()
    v = T.alloc_local((4,), "uint32")
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 0), *[v[i] for i in range(4)], shape="32x32b", num=4)
    T.ptx.tcgen05.wait.ld()
    for i in T.unroll(4):
        B[tx, i] = v[i]
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)


# Columns by a pool: the tensors stand one after the other; relinquish and dealloc are its own.
# case: A53 A59 B2 | pooled | | 0 | B = uint32.128, 2.: 0 1000 1 1001
@T.prim_func
def pooled(B: T.Buffer((128, 2), "uint32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    smem = T.SMEMPool()
    pool = T.TMEMPool(smem, total_cols=64, cta_group=1)
    left = pool.alloc((128, 32), "float32")
    right = pool.alloc((128, 16), "float32", layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]))
    smem.commit()
    pool.commit()
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    T.ptx.tcgen05.fence.after_thread_sync()
    x: T.uint32
    y: T.uint32
    row = T.meta_var(warp_id * 32 + lane_id)
    T.ptx.tcgen05.st(left.ptr_to([warp_id * 32, 31]), T.cast(row, "uint32"), shape="32x32b", num=1)
    T.ptx.tcgen05.st(right.ptr_to([warp_id * 32, 0]), T.cast(row + 1000, "uint32"), shape="32x32b", num=1)
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(left, warp_id * 32, 31), x, y, shape="32x32b", num=2)
    T.ptx.tcgen05.wait.ld()
    B[row, 0] = x
    B[row, 1] = y
    T.ptx.tcgen05.fence.before_thread_sync()
    T.cuda.cta_sync()
    pool.dealloc()


# Which block of the cluster this is, in both dialects' words.
# case: B24 | places | | 0 | B = uint32.8.: 0 101 10 111 20 121 30 131
@T.prim_func
def places(B: T.Buffer((8,), "uint32")):
    T.device_entry()
    cluster = T.cluster_id([4])
    rank = T.cta_id_in_cluster([2])
    side = T.cta_id_in_pair()
    lane_id = T.lane_id([32])
    T.cuda.cluster_sync()
    if lane_id == 0:
        B[cluster * 2 + rank] = T.cast(cluster * 10 + rank + side * 100, "uint32")
