# SPDX-License-Identifier: Apache-2.0
# Rules of tensor memory that the text of a kernel shows, each with a wrong and a right kernel: `# wrong: IDS | CODE | ENTRY
# | line | pattern` is refused by `tirc build` with that code at that line (the number after LINE in a comment there), and
# `# right: ENTRY` builds. run.sh reads these lines.
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout


def allocate(first, second=0, guard="warp", group=1, other=1, released=None, order="late"):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        slot = T.alloc_shared((2,), "uint32")
        if guard == "warp":
            if warp_id == 0:
                T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=first, cta_group=group)  # LINE 1
                if order == "early":
                    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=other)  # LINE 2
                if second > 0:
                    T.ptx.tcgen05.alloc(slot.ptr_to([1]), n_cols=second, cta_group=group)  # LINE 3
        elif guard == "lane":
            if warp_id == 0:
                if lane_id == 0:
                    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=first, cta_group=group)  # LINE 4
        elif guard == "thread":
            if warp_id * 32 + lane_id == 0 and lane_id < 1:
                T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=first, cta_group=group)  # LINE 5
        elif guard == "elect":
            if warp_id == 0:
                if T.ptx.elect_sync():
                    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=first, cta_group=group)  # LINE 6
        T.cuda.cta_sync()
        if warp_id == 0:
            if released != 0:
                T.ptx.tcgen05.dealloc(slot[0], n_cols=first if released is None else released, cta_group=group)  # LINE 7
            if second > 0:
                T.ptx.tcgen05.dealloc(slot[1], n_cols=second, cta_group=group)
            if order == "late":
                T.ptx.tcgen05.relinquish_alloc_permit(cta_group=other)  # LINE 8

    return kernel


# wrong: B9 | T0526 | cols_48 | 1 | an allocation of 48 columns; 32, 64, 128, 256 or 512 are possible
# wrong: B9 | T0526 | cols_16 | 1 | an allocation of 16 columns
# wrong: B9 | T0526 | cols_1024 | 1 | an allocation of 1024 columns
# right: cols_32 cols_64 cols_128 cols_256 cols_512
cols_48, cols_16, cols_1024 = allocate(48), allocate(16), allocate(1024)
cols_32, cols_64, cols_128, cols_256, cols_512 = allocate(32), allocate(64), allocate(128), allocate(256), allocate(512)

# wrong: B17 | T0527 | grows | 3 | allocates 256 columns after an allocation of 128
# right: shrinks
grows, shrinks = allocate(128, 256), allocate(256, 128)

# wrong: B13 | T0528 | one_lane | 4 | the guard `lane_id == 0` keeps lanes out
# wrong: B13 | T0528 | one_thread | 5 | keeps lanes out
# wrong: B13 | T0528 | elected | 6 | elect.sync chooses one lane
# right: cols_64
one_lane, one_thread, elected = allocate(64, guard="lane"), allocate(64, guard="thread"), allocate(64, guard="elect")

# wrong: B25 | T0529 | mixed | 8 | is of cta_group::1, the kernel uses cta_group::2
# right: both_one
mixed, both_one = allocate(64, group=2, other=1), allocate(64)

# wrong: A55 | T0531 | too_many | 3 | 768 columns of tensor memory are allocated at a time; there are 512
# right: half_each
too_many, half_each = allocate(512, 256), allocate(256, 256)

# wrong: B20 | T0532 | after_permit | 3 | an allocation of tensor memory after the permit was given up
# right: permit_last
after_permit, permit_last = allocate(64, 64, order="early"), allocate(64, 64)

# wrong: A52 B19 | T0533 | leaked | 1 | freed nowhere in the kernel
# wrong: B19 | T0534 | other_size | 7 | frees 32 columns, but no allocation there has that many
# right: cols_128
leaked, other_size = allocate(64, released=0), allocate(64, released=32)


def declared(early, columns=64):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        slot = T.alloc_shared((1,), "uint32")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
        if not early:
            T.cuda.cta_sync()
        acc = T.decl_buffer((128, columns), "float32", scope="tmem", allocated_addr=slot[0], layout=TileLayout(S[(128, columns) : (1 @ TLane, 1 @ TCol)]))  # LINE 9
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)

    return kernel


# wrong: A54 B14 | T0530 | unpublished | 9 | takes its address from 'slot' here, before the allocation is published
# wrong: A58 | T0531 | too_wide | 9 | 'acc' reaches over 576 columns of tensor memory; there are 512
# right: published
unpublished, too_wide, published = declared(True), declared(False, 576), declared(False)


@T.prim_func
def as_address(B: T.Buffer((128,), "float32")):
    T.device_entry()
    T.cta_id([1])
    warp_id = T.warp_id([4])
    lane_id = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    if warp_id == 0:
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
    T.cuda.cta_sync()
    acc = T.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=slot[0])
    x: T.float32 = 0.0
    T.ptx.tcgen05.ld(acc.ptr_to([warp_id * 32, 3]), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[warp_id * 32 + lane_id] = x
    T.cuda.cta_sync()
    if warp_id == 0:
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)


@T.prim_func
def rows_128(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    lane_id = T.lane_id([32])
    desc: T.uint32
    T.cuda.tcgen05.encode_instr_descriptor(
        T.address_of(desc), d_dtype="float32", a_dtype="float16", b_dtype="float16",
        M=128, N=128, K=16, trans_a=False, trans_b=False,
    )
    B[lane_id] = desc


# right: as_address rows_128


# What is started by one thread, under guards that let whole warps through.
def started(guard):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32"), D: T.Buffer((2,), "uint64"), late: T.int32):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        tx = T.meta_var(warp_id * 32 + lane_id)
        slot = T.alloc_shared((1,), "uint32")
        bar = T.alloc_shared((1,), "uint64")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
        T.cuda.cta_sync()
        if guard == "warp":
            if warp_id == 1:
                T.ptx.tcgen05.cp(slot[0], D[0], shape="128x128b", cta_group=1)  # LINE 10
        elif guard == "group":
            if warp_id // 2 == 0 and late > 0:
                T.ptx.tcgen05.commit(bar.ptr_to([0]), cta_group=1)  # LINE 11
        elif guard == "all":
            T.ptx.tcgen05.shift.cta_group__1.down(slot[0])  # LINE 12
        elif guard == "loop":
            for i in range(late):
                T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0], D[0], D[1], 0x08200010, i > 0)  # LINE 13
        elif guard == "thread":
            if lane_id == 0:
                T.ptx.tcgen05.cp(slot[0], D[0], shape="128x128b", cta_group=1)
        elif guard == "pred":
            T.ptx["tcgen05.cp.cta_group::1.128x128b"](slot[0], D[0], pred=lane_id == 3)
        elif guard == "value":
            if B[lane_id] == 0:
                T.ptx.tcgen05.cp(slot[0], D[0], shape="128x128b", cta_group=1)
        elif guard == "linear":
            if tx == 64:
                T.ptx.tcgen05.cp(slot[0], D[0], shape="128x128b", cta_group=1)
        elif guard == "elect":
            if warp_id == 0:
                if T.ptx.elect_sync():
                    T.ptx.tcgen05.cp(slot[0], D[0], shape="128x128b", cta_group=1)
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)

    return kernel


# wrong: B29 | T0580 | by_warp | 10 | tcgen05.cp is started by one thread, but 32 lanes of the warp execute it here
# wrong: B29 | T0580 | by_group | 11 | tcgen05.commit is started by one thread
# wrong: B29 | T0580 | by_all | 12 | tcgen05.shift is started by one thread
# wrong: B29 | T0580 | by_loop | 13 | tcgen05.mma is started by one thread
# right: by_thread by_pred by_value by_linear by_elect
by_warp, by_group, by_all, by_loop = started("warp"), started("group"), started("all"), started("loop")
by_thread, by_pred, by_value, by_linear, by_elect = started("thread"), started("pred"), started("value"), started("linear"), started("elect")


# What stands between a store, a load and their use; `mode` chooses.
def moved(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128, 4), "uint32"), late: T.int32):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        row = T.meta_var(warp_id * 32 + lane_id)
        slot = T.alloc_shared((1,), "uint32")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
        if mode != "early":
            T.cuda.cta_sync()
        v = T.alloc_local((4,), "uint32")
        for i in T.unroll(4):
            v[i] = T.cast(row, "uint32")
        at = T.meta_var(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 0))
        T.ptx.tcgen05.st(at, *[v[i] for i in range(4)], shape="32x32b", num=4)  # LINE 14
        if mode == "store branch":
            if late > 0:
                T.ptx.tcgen05.wait.st()
            else:
                v[0] = T.uint32(1)
        elif mode == "store late":
            if late > 0:
                T.ptx.tcgen05.wait.st()
            else:
                T.ptx.tcgen05.wait.st()
        elif mode != "store":
            T.ptx.tcgen05.wait.st()
        if mode == "columns":
            T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 62), *[v[i] for i in range(4)], shape="32x32b", num=4)  # LINE 15
        if mode == "free":
            T.cuda.cta_sync()
            if warp_id == 0:
                T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)
            T.cuda.cta_sync()
        T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 2), v[0], v[1], shape="32x32b", num=2)  # LINE 16
        if mode == "loop":
            for k in T.serial(late):
                B[row, k] = v[0]  # LINE 17
        if mode == "branch":
            if late > 0:
                T.ptx.tcgen05.wait.ld()
        if mode == "other":
            B[row, 1] = v[2]
        if mode == "condition":
            if v[1] > T.uint32(7):  # LINE 18
                B[row, 2] = T.uint32(0)
        if mode == "write":
            v[1] = T.uint32(3)  # LINE 19
        if mode == "again":
            T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp_id * 32, 2), v[1], v[2], shape="32x32b", num=2)  # LINE 20
        T.ptx.tcgen05.wait.ld()
        B[row, 0] = v[0] + v[1]
        T.cuda.cta_sync()
        if mode == "everybody":
            T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)  # LINE 21
        elif mode == "inside":
            if warp_id == 0:
                T.ptx.tcgen05.dealloc(slot[0] + T.uint32(32), n_cols=64, cta_group=1)  # LINE 22
        elif mode != "free":
            if warp_id == 0:
                T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)
                if mode == "twice":
                    T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)  # LINE 23

    return kernel


# wrong: B5 B38 | T0585 | no_wait_store | 16 | tcgen05.ld on cells that tcgen05.st may still write
# wrong: B14 | T0530 | slot_early | 14 | 'slot' is read here for an address, before the allocation is published
# wrong: B7 | T0583 | columns_beyond | 15 | a tcgen05.ld reaches column 65 of an allocation of 64
# wrong: B21 | T0587 | after_free | 16 | tcgen05.ld on tensor memory that was given back before
# warns: B5 B38 | T0584 | used_in_loop | 17 | a register of tcgen05.ld is used before tcgen05.wait::ld
# warns: B5 B38 | T0584 | used_in_condition | 18 | a register of tcgen05.ld is used before tcgen05.wait::ld
# wrong: B5 | T0590 | written_early | 19 | writes a register that tcgen05.ld has not been waited for
# wrong: B5 | T0590 | loaded_again | 20 | writes a register that tcgen05.ld has not been waited for
# wrong: B18 B22 | T0588 | everybody_frees | 21 | every warp of the block frees this, but one warp allocated it
# wrong: B18 | T0589 | frees_inside | 22 | frees column 32 of an allocation
# wrong: B18 | T0588 | frees_again | 23 | tensor memory that was given back before
# right: moves waits_somewhere waits_on_both waits_on_one other_register
no_wait_store, slot_early, columns_beyond, after_free = moved("store"), moved("early"), moved("columns"), moved("free")
used_in_loop, used_in_condition, written_early, loaded_again = moved("loop"), moved("condition"), moved("write"), moved("again")
everybody_frees, frees_inside, frees_again = moved("everybody"), moved("inside"), moved("twice")
moves, waits_somewhere, waits_on_both = moved(""), moved("store branch"), moved("store late")
waits_on_one, other_register = moved("branch"), moved("other")


# wrong: B18 | T0534 | other_slot | 24 | frees 64 columns, but no allocation there has that many
@T.prim_func
def other_slot(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    slot = T.alloc_shared((2,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=128, cta_group=1)
    T.ptx.tcgen05.alloc(slot.ptr_to([1]), n_cols=64, cta_group=1)
    T.cuda.cta_sync()
    T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)  # LINE 24
    T.ptx.tcgen05.dealloc(slot[1], n_cols=64, cta_group=1)


# Warps and the lanes that they name.
def rows(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([8])
        lane_id = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
        T.cuda.cta_sync()
        acc = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=slot[0])
        x: T.uint32
        if mode == "one":
            if warp_id == 1:
                T.ptx.tcgen05.ld(acc.ptr_to([0, 3]), x, shape="32x32b", num=1)  # LINE 25
        elif mode == "third":
            if warp_id == 7:
                T.ptx.tcgen05.ld(acc.ptr_to([64, 3]), x, shape="32x32b", num=1)  # LINE 26
        elif mode == "all":
            T.ptx.tcgen05.ld(acc.ptr_to([0, 3]), x, shape="32x32b", num=1)  # LINE 27
        elif mode == "own":
            if warp_id == 5:
                T.ptx.tcgen05.ld(acc.ptr_to([32, 3]), x, shape="32x32b", num=1)
        elif mode == "half":
            if warp_id == 2:
                T.ptx.tcgen05.ld(acc.ptr_to([80, 3]), x, shape="16x64b", num=1)
        elif mode == "first":
            if warp_id % 4 == 0:
                T.ptx.tcgen05.ld(acc.ptr_to([0, 3]), x, shape="32x32b", num=1)
        T.ptx.tcgen05.wait.ld()
        if warp_id < 4:
            B[warp_id * 32 + lane_id] = x
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# warns: B3 B26 | T0582 | first_rows | 25 | lane 0 of tensor memory in warp 1, which reaches lanes 32 to 63
# warns: B3 B26 | T0582 | third_rows | 26 | lane 64 of tensor memory in warp 7, which reaches lanes 96 to 127
# warns: B26 B28 | T0582 | rows_for_all | 27 | lane 0 of tensor memory in warp 1
# right: own_rows half_rows every_first_warp
first_rows, third_rows, rows_for_all = rows("one"), rows("third"), rows("all")
own_rows, half_rows, every_first_warp = rows("own"), rows("half"), rows("first")


# warns: B24 | T0581 | no_pair | 28 | tcgen05.alloc of cta_group::2 needs pairs of CTAs, but the kernel is launched without clusters
# right: in_pairs
def paired(cluster):
    @T.function
    def kernel(B: T.Tensor((2,), "uint32")):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), cluster=cluster, block=(32,)))
        slot = T.alloc_shared((1,), "uint32")
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=2)  # LINE 28
        T.cuda.cluster_sync()
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=2)

    return kernel


no_pair, in_pairs = paired(None), paired((2,))


# A wait for the matrix unit, with and without its fence; another wait after the fence needs none.
def completed(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32"), D: T.Buffer((2,), "uint64")):
        T.device_entry()
        T.cta_id([1])
        warp_id = T.warp_id([4])
        lane_id = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        bar = T.alloc_shared((2,), "uint64")
        if warp_id == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
        T.cuda.cta_sync()
        acc = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=slot[0])
        next = T.decl_buffer((128, 32), "float32", scope="tmem", allocated_addr=slot[0] + T.uint32(32))
        x: T.uint32
        if warp_id == 1:
            if T.ptx.elect_sync():
                for k in T.serial(4):
                    T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0], D[0], D[1], 0x08080010, k > 0)
                T.ptx.tcgen05.commit(bar.ptr_to([0]), cta_group=1)
        T.ptx.mbarrier.try_wait(bar.ptr_to([0]), 0)
        if mode != "none":
            T.ptx.tcgen05.fence.after_thread_sync()
        if mode == "later":
            T.ptx.mbarrier.try_wait(bar.ptr_to([1]), 0)
        if mode != "other":
            T.ptx.tcgen05.ld(acc.ptr_to([warp_id * 32, 3]), x, shape="32x32b", num=1)  # LINE 29
        T.ptx.tcgen05.wait.ld()
        B[warp_id * 32 + lane_id] = x
        T.cuda.cta_sync()
        if mode == "tensor":
            T.ptx.tcgen05.ld(next.ptr_to([warp_id * 32, 3]), x, shape="32x32b", num=1)
            T.ptx.tcgen05.wait.ld()
            B[warp_id * 32 + lane_id] = x
        T.cuda.cta_sync()
        if warp_id == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)

    return kernel


# warns: B39 | T0586 | no_fence | 29 | tcgen05.ld behind a synchronisation without tcgen05.fence::after_thread_sync
# right: with_fence another_wait another_tensor
no_fence = completed("none")
with_fence, another_wait, another_tensor = completed(""), completed("later"), completed("tensor")
