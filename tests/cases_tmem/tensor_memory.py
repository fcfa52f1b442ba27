# SPDX-License-Identifier: Apache-2.0
# Kinds of failure with tensor memory that users of tools in this field reported in public, as scripts: each id has the
# wrong kernels and the right one beside them. `# case: ID | entry and -D | options | status | pattern ; pattern`: what
# `tirc run` ends with and prints; # LINE n marks a line that a pattern names as @n. A right one (status 0, no pattern of a
# code) is run on every schedule. run.sh reads these lines; the same kinds as PTX are in tests/cases_cd.
from tvm.script import tirx as T
from tvm.tirx.layout import S, TileLayout


# Column counts; in a variable only the machine sees them.
# case: D01 | columns -D n=16 | --arg late=0 | 1 | @1: error: an allocation of 16 columns; .*T0526
# case: D01 | columns -D n=48 | --arg late=0 | 1 | @1: error: an allocation of 48 columns; .*T0526
# case: D01 | columns -D n=96 | --arg late=0 | 1 | @1: error: an allocation of 96 columns; .*T0526
# case: D01 | columns -D n=1024 | --arg late=0 | 1 | @1: error: an allocation of 1024 columns; .*T0526
# case: D01 | columns -D n=None | --arg late=48 | 1 | @1: error: alloc of 48 columns; possible are 32, 64, 128, 256 and 512 .T0747
# case: D01 | columns -D n=None | --arg late=64 | 0 |
# case: D01 | columns -D n=512 | --arg late=0 | 0 |
def columns(n):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32"), late: T.uint32):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        count = T.meta_var(late if n is None else n)
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=count, cta_group=1)  # LINE 1
        T.cuda.cta_sync()
        B[lane] = slot[0]
        T.cuda.cta_sync()
        T.ptx.tcgen05.dealloc(slot[0], n_cols=count, cta_group=1)

    return kernel


# Sizes that grow, and more than there are.
# case: D02 | two -D first=128 -D second=256 | --arg late=0 | 1 | @3: error: allocates 256 columns after an allocation of 128.*T0527 ; @2: note
# case: D02 | two -D first=128 -D second=None | --arg late=256 | 1 | @3: error: alloc of 256 columns after one of 128.*T0748
# case: D02 | two -D first=256 -D second=128 | --arg late=0 | 0 |
# case: D33 | two -D first=512 -D second=128 | --arg late=0 | 1 | @3: error: 640 columns of tensor memory are allocated at a time; there are 512 .T0531 ; tensors there: left .512 columns., right .128 columns. ; @2: note: 512 columns before it
# case: D33 | two -D first=512 -D second=None | --arg late=128 | 1 | @3: error: alloc of 128 columns while the CTA holds 512 of 512.*T0764
# case: D33 | two -D first=256 -D second=256 | --arg late=0 | 0 |
def two(first, second):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32"), late: T.uint32):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        slot = T.alloc_shared((2,), "uint32")
        count = T.meta_var(late if second is None else second)
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=first, cta_group=1)  # LINE 2
        T.ptx.tcgen05.alloc(slot.ptr_to([1]), n_cols=count, cta_group=1)  # LINE 3
        T.cuda.cta_sync()
        left = T.decl_buffer((128, first), "float32", scope="tmem", allocated_addr=slot[0])
        right = T.decl_buffer((128, 32 if second is None else second), "float32", scope="tmem", allocated_addr=slot[1])
        x: T.uint32
        T.ptx.tcgen05.st(left.ptr_to([0, 0]), T.uint32(1), shape="32x32b", num=1)
        T.ptx.tcgen05.st(right.ptr_to([0, 31]), T.uint32(2), shape="32x32b", num=1)
        T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.ld(right.ptr_to([0, 31]), x, shape="32x32b", num=1)
        T.ptx.tcgen05.wait.ld()
        B[lane] = x
        T.ptx.tcgen05.dealloc(slot[1], n_cols=count, cta_group=1)
        T.ptx.tcgen05.dealloc(slot[0], n_cols=first, cta_group=1)

    return kernel


# The permit; never allocated, never freed; one lane.
# case: D03 | life -D mode='permit' | --arg late=0 | 1 | @5: error: an allocation of tensor memory after the permit was given up .T0532
# case: D03 | life -D mode='warp' | --arg late=0 | 1 | @6: error: alloc after the CTA gave up its permit to allocate .T0746
# case: D04 | life -D mode='nothing' | --arg late=0 | 1 | @8: error: write of column 0: column 0 is not allocated .T0740 ; @8: warning: .*T0591
# case: D04 | life -D mode='leak' | --arg late=0 | 1 | @5: error: tensor memory is allocated here and freed nowhere in the kernel .T0533
# case: D04 | life -D mode='maybe' | --arg late=0 | 1 | @5: error: the CTA ended without dealloc of columns 0 to 31 .*T0745
# case: D04 | life -D mode='maybe' | --arg late=1 | 0 |
# case: D06 | life -D mode='lane' | --arg late=0 | 1 | @4: error: tcgen05.alloc is executed by all 32 lanes of a warp, but the guard `warp == 0 and lane == 0` keeps lanes out.*T0528
# case: D06 | life -D mode='lanes' | --arg late=1 | 1 | @7: error: executed by lanes 0x00000001 of a warp of 0xffffffff.*T0752
# case: D03 D04 D06 | life -D mode='right' | --arg late=0 | 0 |
def life(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32"), late: T.int32):
        T.device_entry()
        T.cta_id([1])
        warp = T.warp_id([4])
        lane = T.lane_id([32])
        slot = T.alloc_shared((2,), "uint32")
        if mode == "lane":
            if warp == 0 and lane == 0:
                T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)  # LINE 4
        elif mode == "lanes":
            if warp == 0 and lane < late:
                T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)  # LINE 7
        elif mode != "nothing":
            if warp == 0:
                if mode == "permit":
                    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
                T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)  # LINE 5
                if mode != "permit":
                    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        if mode == "warp":
            if warp == 1:
                T.ptx.tcgen05.alloc(slot.ptr_to([1]), n_cols=32, cta_group=1)  # LINE 6
                T.ptx.tcgen05.dealloc(slot[1], n_cols=32, cta_group=1)
        base = T.meta_var(T.uint32(0) if mode == "nothing" else slot[0])
        T.ptx.tcgen05.st(base + T.cast(warp, "uint32") * T.uint32(32 << 16), T.cast(lane, "uint32"), shape="32x32b", num=1)  # LINE 8
        T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if mode == "maybe":
            if warp == 0 and late > 0:
                T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)
        elif mode != "nothing" and mode != "leak":
            if warp == 0:
                T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# Two warpgroups, and no meeting before the columns are given back: the second one reads too late.
# case: D09 | late_warps -D meet=False | --schedule late | 1 | @9: error: read of column 256: column 256 was given back before .T0740
# case: D09 | late_warps -D meet=True | | 0 |
def late_warps(meet):
    @T.prim_func
    def kernel(B: T.Buffer((256,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        warp = T.warp_id([8])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        turn = T.alloc_shared((1,), "uint64")
        if warp == 0:
            if lane == 0:
                T.ptx.mbarrier.init(turn.ptr_to([0]), 1)
            T.cuda.warp_sync()
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=512, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        if warp >= 4:
            T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], warp % 4 * 32, 256), T.cast(lane, "uint32"), shape="32x32b", num=1)
            T.ptx.tcgen05.wait.st()
            if not meet:
                T.ptx.mbarrier.try_wait(turn.ptr_to([0]), 0)
            x: T.uint32
            T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], warp % 4 * 32, 256), x, shape="32x32b", num=1)  # LINE 9
            T.ptx.tcgen05.wait.ld()
            B[warp * 32 + lane] = x
        if meet:
            T.ptx.tcgen05.fence.before_thread_sync()
            T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=512, cta_group=1)
            if lane == 0:
                T.ptx.mbarrier.arrive(turn.ptr_to([0]))

    return kernel


# A pair: the columns are given back before the peer is known to have them.
# case: D11 | pair -D meet=False | | 1 | @10: error: .*T0763
# case: D11 | pair -D meet=True | | 0 |
def pair(meet):
    @T.function
    def kernel(B: T.Tensor((64,), "uint32")):
        T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), cluster=(2,), block=(32,)))
        slot = T.alloc_shared((1,), "uint32")
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=2)
        if meet:
            T.cuda.cluster_sync()
        else:
            T.cuda.cta_sync()
        T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=2)  # LINE 10
        T.ptx.tcgen05.relinquish_alloc_permit(cta_group=2)

    return kernel


# Two groups in one kernel: both places are named.
# case: D13 | groups -D commit=2 | | 1 | @12: error: .tcgen05.commit. is of cta_group::2, the kernel uses cta_group::1 .T0529 ; @11: note: the first instruction
# case: D13 | groups -D commit=1 | | 0 |
def groups(commit):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        bar = T.alloc_shared((1,), "uint64")
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)  # LINE 11
        if lane == 0:
            T.ptx.mbarrier.init(bar.ptr_to([0]), 1)
            T.ptx.tcgen05.commit(bar.ptr_to([0]), cta_group=commit)  # LINE 12
        T.cuda.cta_sync()
        T.ptx.mbarrier.try_wait(bar.ptr_to([0]), 0)
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# Lanes: warp w of four reaches 32w to 32w + 31, warp 5 those of warp 1.
# case: D15 | lanes -D warp=1 -D row=0 | | 1 | @13: warning: lane 0 of tensor memory in warp 1.*T0582 ; @13: error: load from lane 0 by a warp that owns lanes 32 to 63 .T0754
# case: D15 | lanes -D warp=3 -D row=64 | | 1 | @13: warning: lane 64 of tensor memory in warp 3.*T0582 ; @13: error: load from lane 64 by a warp that owns lanes 96 to 127 .T0754
# case: D15 | lanes -D warp=5 -D row=32 | | 0 | B = uint32.32.: 32 33 34 35
# case: D15 | lanes -D warp=7 -D row=96 | | 0 | B = uint32.32.: 96 97 98 99
def lanes(warp, row):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        w = T.warp_id([8])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        if w == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        if w < 4:
            T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], w * 32, 0), T.cast(w * 32 + lane, "uint32"), shape="32x32b", num=1)
            T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        x: T.uint32
        if w == warp:
            T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], row, 0), x, shape="32x32b", num=1)  # LINE 13
            T.ptx.tcgen05.wait.ld()
            B[lane] = x
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if w == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# The 16-row shapes reach both halves of a warp's 32 lanes, at row 0 and at row 16: B[lane] counts the cells of each lane that
# the registers hold. The right ones are in run.sh, which knows the lanes.
# case: D16 | halves -D shape='16x64b' -D row=8 | | 1 | @14: error: the address starts at lane 8 of the warp's 32; possible are 0 and 16 .T0755
# case: D16 | halves -D shape='32x32b' -D row=16 | | 1 | @14: error: the address starts at lane 16 of the warp's 32.*T0755
def halves(shape, row):
    registers = {"16x64b": 1, "16x128b": 2, "16x256b": 4, "32x32b": 1}[shape]

    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        w = T.warp_id([4])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        if w == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        v = T.alloc_local((8,), "uint32")
        for c in T.unroll(8):
            v[c] = T.cast((w * 32 + lane) * 256 + c, "uint32")
        T.ptx.tcgen05.st(T.cuda.get_tmem_addr(slot[0], w * 32, 0), *[v[c] for c in range(8)], shape="32x32b", num=8)
        T.ptx.tcgen05.wait.st()
        T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(slot[0], w * 32 + row, 0), *[v[c] for c in range(registers)], shape=shape, num=1)  # LINE 14
        T.ptx.tcgen05.wait.ld()
        for c in T.unroll(registers):
            T.cuda.atomic_add(B.ptr_to([v[c] // T.uint32(256)]), T.uint32(1))
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if w == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# Shape, count and registers; packing on the wrong side.
# case: D19 | forms -D text='ld.sync.aligned.16x128b.x128.b32' -D count=256 | | 1 | @15: error: .*x128
# case: D19 | forms -D text='ld.sync.aligned.16x256b.x64.b32' -D count=256 | | 1 | @15: error: .*x64
# case: D19 | forms -D text='ld.sync.aligned.16x128b.x4.b32' -D count=4 | | 1 | @15: error: .*takes 8 values
# case: D19 | forms -D text='ld.sync.aligned.16x128b.x4.b32' -D count=8 | | 0 |
# case: D20 | forms -D text='st.sync.aligned.32x32b.x1.pack::16b.b32' -D count=1 | | 1 | @16: error: .*pack::16b
# case: D20 | forms -D text='ld.sync.aligned.32x32b.x1.unpack::16b.b32' -D count=1 | | 1 | @15: error: .*unpack::16b
# case: D20 | forms -D text='ld.sync.aligned.32x32b.x2.pack::16b.b32' -D count=2 | | 0 |
# case: D20 | forms -D text='ld.sync.aligned.32x32b.x2.pack::16b.b32' -D count=1 | | 1 | @15: error: .*T0518
# case: D20 | forms -D text='st.sync.aligned.32x32b.x2.unpack::16b.b32' -D count=2 | | 0 |
# case: D20 | forms -D text='st.sync.aligned.32x32b.x2.unpack::16b.b32' -D count=4 | | 1 | @16: error: .*T0518
# Registers of a thread: the document's table.
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x1.b32' -D count=2 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x1.b32' -D count=1 | | 1 | @15: error: .*T0518
# case: B33 B34 | forms -D text='st.sync.aligned.16x128b.x1.b32' -D count=2 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x2.b32' -D count=4 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x2.b32' -D count=2 | | 1 | @15: error: .*T0518
# case: B33 B34 | forms -D text='st.sync.aligned.16x128b.x2.b32' -D count=4 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x4.b32' -D count=8 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x4.b32' -D count=4 | | 1 | @15: error: .*T0518
# case: B33 B34 | forms -D text='st.sync.aligned.16x128b.x4.b32' -D count=8 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x8.b32' -D count=16 | | 0 |
# case: B33 | forms -D text='ld.sync.aligned.16x128b.x8.b32' -D count=8 | | 1 | @15: error: .*T0518
# case: B33 B34 | forms -D text='st.sync.aligned.16x128b.x8.b32' -D count=16 | | 0 |
def forms(text, count):
    @T.prim_func
    def kernel(B: T.Buffer((32,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        T.warp_id([1])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
        T.cuda.cta_sync()
        v = T.alloc_local((256,), "uint32")
        for c in T.unroll(32):
            v[c] = T.cast(lane, "uint32")
        T.ptx["tcgen05.st.sync.aligned.32x32b.x32.b32"](slot[0], [v[c] for c in range(32)])
        T.ptx.tcgen05.wait.st()
        if text[:2] == "ld":
            T.ptx[f"tcgen05.{text}"]([v[c] for c in range(count)], slot[0])  # LINE 15
        else:
            T.ptx[f"tcgen05.{text}"](slot[0], [v[c] for c in range(count)])  # LINE 16
        T.ptx.tcgen05.wait.ld()
        T.ptx.tcgen05.wait.st()
        B[lane] = v[0]
        T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)

    return kernel


# Columns c and c + 1 hold 0xAAAA1111 and 0xBBBB2222: packed 0x22221111; unpacked and packed again the same. A tensor of
# 16-bit elements has two in a column: element 32 is in column 16.
# case: D22 | packed | | 0 | B = uint32.32, 2.: 572657937 572657937 572657937
# case: D31 | slices | | 0 | B = uint32.32.: 272 272 272
@T.prim_func
def packed(B: T.Buffer((32, 2), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.cuda.cta_sync()
    x: T.uint32
    y: T.uint32
    T.ptx["tcgen05.st.sync.aligned.32x32b.x2.b32"](slot[0], [T.uint32(0xAAAA1111), T.uint32(0xBBBB2222)])
    T.ptx.tcgen05.wait.st()
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32"]([x], slot[0])
    T.ptx.tcgen05.wait.ld()
    T.ptx["tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32"](slot[0] + T.uint32(8), [x])
    T.ptx.tcgen05.wait.st()
    T.ptx["tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32"]([y], slot[0] + T.uint32(8))
    T.ptx.tcgen05.wait.ld()
    B[lane, 0] = x
    B[lane, 1] = y
    T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)


@T.prim_func
def slices(B: T.Buffer((32,), "uint32")):
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=32, cta_group=1)
    T.cuda.cta_sync()
    half = T.decl_buffer((128, 64), "float16", scope="tmem", allocated_addr=slot[0])
    v = T.alloc_local((32,), "uint32")
    for c in T.unroll(32):
        v[c] = T.uint32(256 + c)
    T.ptx.tcgen05.st(slot[0], *[v[c] for c in range(32)], shape="32x32b", num=32)
    T.ptx.tcgen05.wait.st()
    x: T.uint32
    T.ptx.tcgen05.ld(half.ptr_to([0, 32]), x, shape="32x32b", num=1)
    T.ptx.tcgen05.wait.ld()
    B[lane] = x
    T.ptx.tcgen05.dealloc(slot[0], n_cols=32, cta_group=1)


# Waits: of a load before its registers are used and before its cells are written; of a store before its cells are read.
# case: D23 | waits -D mode='use' | --schedule late | 0 | @18: warning: a register of tcgen05.ld is used before tcgen05.wait::ld .T0584 ; @18: note: .*T0758
# case: D23 | waits -D mode='overwrite' | --schedule late | 1 | @19: error: column 0 is touched while tcgen05.ld still reads it .T0757
# case: D24 | waits -D mode='store' | --schedule late | 1 | @17: error: tcgen05.ld on cells that tcgen05.st may still write.*T0585
# case: D24 | waits -D mode='maybe' | --schedule late | 1 | @17: error: column 0 is touched while tcgen05.st still writes it .T0757
# case: D24 | waits -D mode='operand' | --schedule late | 1 | @20: error: tcgen05.mma on cells that tcgen05.st may still write.*T0585
# case: D23 D24 | waits -D mode='right' | | 0 | B = uint32.128.: 0 1 2 3
def waits(mode):
    @T.prim_func
    def kernel(B: T.Buffer((128,), "uint32")):
        T.device_entry()
        T.cta_id([1])
        w = T.warp_id([4])
        lane = T.lane_id([32])
        slot = T.alloc_shared((1,), "uint32")
        if w == 0:
            T.ptx.tcgen05.alloc(slot.ptr_to([0]), n_cols=64, cta_group=1)
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence.after_thread_sync()
        at = T.meta_var(T.cuda.get_tmem_addr(slot[0], w * 32, 0))
        x: T.uint32
        T.ptx.tcgen05.st(at, T.cast(w * 32 + lane, "uint32"), shape="32x32b", num=1)
        if mode == "maybe":
            if B[0] > 0:
                T.ptx.tcgen05.wait.st()
        elif mode != "store" and mode != "operand":
            T.ptx.tcgen05.wait.st()
        if mode == "operand":
            if w == 0:
                if T.ptx.elect_sync():
                    T.ptx["tcgen05.mma.cta_group::1.kind::f16"](slot[0] + T.uint32(32), slot[0], T.uint64(0), T.uint32(0x08080010), False)  # LINE 20
        T.ptx.tcgen05.ld(at, x, shape="32x32b", num=1)  # LINE 17
        if mode == "overwrite":
            T.ptx.tcgen05.st(at, T.uint32(0), shape="32x32b", num=1)  # LINE 19
        if mode == "use":
            B[w * 32 + lane] = x  # LINE 18
        T.ptx.tcgen05.wait.ld()
        T.ptx.tcgen05.wait.st()
        if mode != "use":
            B[w * 32 + lane] = x
        T.ptx.tcgen05.fence.before_thread_sync()
        T.cuda.cta_sync()
        if w == 0:
            T.ptx.tcgen05.dealloc(slot[0], n_cols=64, cta_group=1)

    return kernel
