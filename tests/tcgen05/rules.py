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
# wrong: B19 | T0534 | other_size | 7 | frees 32 columns, but no allocation has that many
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
