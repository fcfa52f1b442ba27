# SPDX-License-Identifier: Apache-2.0
# Statements in the builder's style, and the rest of the words that stand for a statement or a value and that no other
# file here names, against plain statements; with the older dialect's names for launches, shuffles and barriers.
# pair: choices A=arange B=zeros
# pair: rounds A=zeros B=zeros
# pair: names A=arange B=zeros
# pair: notes A=zeros
# pair: helpers A=zeros
# pair: shuffles A=arange B=zeros
# pair: types A=arange B=zeros
# pair: rings A=zeros
# pair: clusters A=zeros
# pair: older A=arange B=zeros
# pair: roles A=zeros
# pair: remaining A=arange B=zeros
from tvm.script import tirx as D
from tvm.tirx.lang.warp_role import WarpgroupRole, WarpRole
from tvm_tirx.script import tirx as T


@T.function
def choices(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    with T.If(A[tx] < 7):
        with T.Then():
            B[tx] = 1
            with T.If(tx == 3), T.Then():
                B[tx] += 10
        with T.Else():
            B[tx] = 2
            with T.If(tx > 20):
                with T.Else():
                    B[tx] += 40
                with T.Then():
                    B[tx] += 20
    with T.If(T.likely(T.tvm_thread_invariant(A[0]) == 0)), T.Then():
        T.buffer_store(B, B[tx] * 2, [tx])
    T.buffer_store(A, 5, tx)


@T.function
def choices_plain(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    if tx < 7:
        B[tx] = 2
        if tx == 3:
            B[tx] = 22
    elif tx > 20:
        B[tx] = 44
    else:
        B[tx] = 84
    A[tx] = 5


@T.function
def rounds(A: T.Tensor((4, 32), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    n: T.int32 = 0
    with T.While(n < 20):
        n += 1
        if n == 3:
            T.continue_loop()
        if n > tx:
            T.break_loop()
        A[0, tx] += n
    with T.serial(2, 5) as i, T.If(i != 3), T.Then():
        A[1, tx] += i
    with T.grid(3, 4) as (i, j):
        A[2, tx] += i * 10 + j
    with T.unroll(3) as i:
        A[3, tx] += i * tx
    with T.serial(3) as i, T.serial(i) as j:
        B[tx] += j + 1


@T.function
def rounds_plain(A: T.Tensor((4, 32), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    for n in range(1, 21):
        if n != 3 and n <= tx:
            A[0, tx] += n
    A[1, tx] = 6
    A[2, tx] = 138
    A[3, tx] = 3 * tx
    B[tx] = 4


@T.function
def names(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    old = T.bind(A[tx])
    wide = T.bind(A[tx] + 1, "int64")
    also = T.Bind(A[tx] * 2)
    A[tx] = 100
    B[tx] = old + T.cast(wide, "int32") + also


@T.function
def names_plain(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    B[tx] = A[tx] * 4 + 1
    A[tx] = 100


@T.function
def notes(A: T.Tensor((32,), "int32")):
    "what stands alone is no statement"
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    3
    True
    pass
    T.hint("a remark")
    T.evaluate(T.cuda.iket.mark("start", 3))
    T.cuda.iket.range_push("load")
    token = T.cuda.iket.range_start("store", tx)
    if tx > 40:
        token = T.cuda.iket.sentinel_token("store")
    T.cuda.iket.range_end(token)
    T.cuda.iket.range_pop()
    with T.attr({"tirx.launch_bounds_min_blocks_per_sm": 2}):
        with T.hint("another", level=1):
            A[tx] = 1
    T.static_assert(2 > 1, "sizes")
    assert tx < 32, ("ValueError", ["an ", "index"])
    T.evaluate(tx)
    T.evaluate(T.cuda.atomic_add(A.ptr_to([tx]), 2))
    if tx > 15:
        return 0
    A[tx] += 3


@T.function
def notes_plain(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    if tx > 15:
        A[tx] = 3
    else:
        A[tx] = 6


def fill(A, tx, limit):
    with T.If(tx < limit):
        with T.Then():
            T.buffer_store(A, tx, [tx])
        with T.Else():
            with T.serial(3) as i:
                A[tx] = A[tx] + i


@T.function
def helpers(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    fill(A, tx, 9)


@T.function
def helpers_plain(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    if tx < 9:
        A[tx] = tx
    else:
        A[tx] = 3


@T.function
def shuffles(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    every = T.uint32(0xFFFFFFFF)
    one = T.alloc_local((1,), "int32")
    one[0] = A[tx]
    B[tx] = T.tvm_warp_shuffle(every, A[tx], 3, 32, 32) + T.gpu_warp_shuffle(every, A[tx], 4, 8, 32)
    B[tx] += T.tvm_warp_shuffle_up(every, A[tx], 1, 32, 32) + T.gpu_warp_shuffle_up(every, A[tx], 1, 32, 32)
    B[tx] += T.tvm_warp_shuffle_down(every, A[tx], 1, 32, 32) + T.gpu_warp_shuffle_down(every, A[tx], 1, 32, 32)
    B[tx] += T.tvm_warp_shuffle_xor(every, A[tx], 1, 32, 32) + T.gpu_warp_shuffle_xor(every, A[tx], 1, 32, 32)
    B[tx] += T.cuda.__shfl_sync(every, one, 5, 32)
    T.tvm_storage_sync("shared")
    T.tvm_storage_sync("shared.dyn")
    T.tvm_storage_sync("warp")
    B[tx] += T.cuda.thread_rank() + T.cast(T.cuda.__activemask() == every, "int32")


@T.function
def shuffles_plain(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    n: T.int32 = 3 + tx // 8 * 8 + 4
    if tx > 0:
        n += 2 * (tx - 1)
    if tx < 31:
        n += 2 * (tx + 1)
    else:
        n += 62
    B[tx] = n + 2 * (tx ^ 1) + 5 + tx + 1


@T.function
def types(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    half = T.f16(A[tx])
    brain = T.bf16(half)
    byte = T.u8(A[tx])
    large = T.i64(A[tx])
    B[tx] = T.i32(half) + T.i32(T.f32(brain)) + T.i32(byte) + T.i32(large) + T.i32(T.f64(2)) + T.i32(T.i8(-2))
    B[tx] += T.i32(T.i16(3)) + T.i32(T.u16(4)) + T.i32(T.u32(5)) + T.i32(T.u64(6)) + T.int32(T.float32(7))
    up = T.float32("inf")
    down = T.float32("-inf")
    no = T.float32("nan")
    B[tx] += T.if_then_else(up > down, 100, 0) + T.cast(T.isnan(no), "int32")
    B[tx] += T.Select(T.And(T.boolean(True), T.bool(tx > 3)), 1000, 2000)
    B[tx] += T.if_then_else(0 < tx < 5, 1, 2) + (3 if tx < 5 else 4)


@T.function
def types_plain(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    n: T.int32 = 4 * A[tx] + 2 - 2 + 3 + 4 + 5 + 6 + 7 + 101
    if tx > 3:
        n += 1000
    else:
        n += 2000
    if tx > 0 and tx < 5:
        n += 1
    else:
        n += 2
    if tx < 5:
        n += 3
    else:
        n += 4
    B[tx] = n


@T.function
def rings(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    bar = T.alloc_shared((2,), "uint64")
    scratch = T.alloc_shared((1,), "int32")
    if T.ptx.elect_sync():
        T.ptx.mbarrier.init(bar.ptr_to([0]), 32)
        T.ptx.mbarrier.init(bar.ptr_to([1]), 32)
    T.cuda.cta_sync()
    T.ptx.mbarrier.arrive(bar.ptr_to([0]))
    T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
    T.ptx.mbarrier.arrive(bar.ptr_to([1]))
    T.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([1]), 0)
    T.cuda.nano_sleep(1)
    T.cuda.thread_fence()
    A[tx] = T.cuda.cta_max(tx, 1, scratch.ptr_to([0])) + T.cuda.warp_reduce(tx, "sum", 8)
    A[tx] += T.cast(T.ptx.any_sync(0xFFFFFFFF, tx == 3), "int32")


@T.function
def rings_plain(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    A[tx] = 31 + tx // 8 * 64 + 28 + 1


@T.function
def clusters(A: T.Tensor((4, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(32,), cluster=(2,)))
    tx = T.cuda.thread_idx("x")
    bx = T.cuda.block_idx("x")
    T.cuda.cluster_sync()
    A[bx, tx] = T.cuda.cluster_cta_id("x") + 10 * T.cuda.cluster_id("x") + 100 * T.cuda.cta_pair_id()
    A[bx, tx] += 1000 * T.cuda.cluster_dim("x") + 10000 * T.cuda.grid_dim("x") + 100000 * T.cuda.block_dim("x")


@T.function
def clusters_plain(A: T.Tensor((4, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    bx = T.cuda.block_idx("x")
    A[bx, tx] = bx % 2 * 101 + bx // 2 * 10 + 2000 + 40000 + 3200000


@D.prim_func
def older(A: D.Buffer((2, 128), "int32"), B: D.Buffer((2, 128), "int32")):
    D.device_entry()
    bx = D.cta_id([2])
    tx = D.thread_id([128])
    group = D.warpgroup_id([1])
    warp = D.warp_id([4])
    inner = D.warp_id_in_wg([4])
    lane = D.lane_id([32])
    place = D.thread_id_in_wg([128])
    D.attr({"tirx.max_registers": 64})
    with D.If(warp == inner):
        with D.Then():
            B[bx, tx] = A[bx, tx] + group
        with D.Else():
            B[bx, tx] = -1
    B[bx, tx] += warp * 1000 + lane + place


@D.prim_func
def older_plain(A: D.Buffer((2, 128), "int32"), B: D.Buffer((2, 128), "int32")):
    D.device_entry()
    bx = D.cta_id([2])
    tx = D.thread_id([128])
    B[bx, tx] = A[bx, tx] + tx // 32 * 1000 + tx % 32 + tx


@T.function
def roles(A: T.Tensor((512,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(512,)), kernel_attrs=T.cuda.KernelAttributes(max_registers_per_thread=128))
    tx = T.cuda.thread_idx("x")
    warp = T.cuda.warp_in_warpgroup()
    group = T.cuda.warpgroup_id()
    first = WarpRole(warp, 1)
    with first:
        A[tx] = 10
    with WarpRole(warp, 0):
        A[tx] = 20
    with WarpgroupRole(group, (0, 2), regs=160, increase=True), first:
        A[tx] += 1
    with WarpgroupRole(group, 2, regs=40):
        A[tx] += 2
    with WarpgroupRole(group, 3, regs=40):
        A[tx] += 3


@T.function
def roles_plain(A: T.Tensor((512,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(512,)))
    tx = T.cuda.thread_idx("x")
    if tx % 128 // 32 == 1:
        A[tx] = 10
        if tx < 256:
            A[tx] += 1
    if tx % 128 // 32 == 0:
        A[tx] = 20
    if tx >= 256 and tx < 384:
        A[tx] += 2
    if tx >= 384:
        A[tx] += 3


@T.function
def remaining(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    every = T.uint32(0xFFFFFFFF)
    scratch = T.alloc_shared((1,), "int32")
    for tx in T.thread_binding(0, 32, thread="threadIdx.x"):
        x = T.meta_var(A[tx] + 1)
        B[tx] = T.cuda.cta_min(x, 1, scratch.ptr_to([0])) + T.cuda._shfl_sync(every, A[tx], 2, 32)
        B[tx] += T.cuda._shfl_up_sync(every, A[tx], 32, 32) + T.cuda._shfl_down_sync(every, A[tx], 32, 32)
        B[tx] += T.cuda._shfl_xor_sync(every, A[tx], 1, 32)
        B[tx] += T.cast(T.cuda.__any_sync(every, A[tx] == 3), "int32") + T.cast(T.cuda.__all_sync(every, A[tx] < 31), "int32")
        B[tx] += T.cast(T.cuda.__ballot_sync(every, A[tx] == 2), "int32")
        B[tx] += T.cast(T.tvm_warp_activemask() == every, "int32")
        if T.cuda.syncthreads_and(A[tx] < 40):
            B[tx] += 5


@T.function
def remaining_plain(A: T.Tensor((32,), "int32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    B[tx] = 1 + 2 + 2 * A[tx] + (A[tx] ^ 1) + 1 + 0 + 4 + 1 + T.if_then_else(A[tx] < 40, 5, 0)
