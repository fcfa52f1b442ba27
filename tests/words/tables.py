# SPDX-License-Identifier: Apache-2.0
# The words of a kernel's body that are neither tensors nor PTX: loops, choices, arithmetic by name, indices of the
# launch, barriers, collectives, atomics, against plain statements. covers: A57
# pair: loops A=zeros
# pair: choices X=randn:1 A=zeros B=zeros
# pair: arithmetic A=arange B=zeros C=zeros
# pair: limits A=zeros B=zeros
# pair: places A=zeros
# pair: barriers A=arange B=zeros
# pair: lanes A=arange B=zeros
# pair: reductions A=arange B=zeros C=zeros
# pair: atomics A=arange B=arange
# pair: older A=arange B=zeros
from tvm_tirx.script import tirx as T


@T.function
def loops(A: T.Tensor((16, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    for i in range(1, 4):
        A[0, tx] += i
    for i in T.serial(2, 9, step=3):
        A[1, tx] += i
    for i in T.serial(5, unroll=True):
        A[2, tx] += i * tx
    for i in T.serial(5, unroll=2, annotations={"note": 1}):
        A[3, tx] += i
    for i in T.unroll(3):
        A[4 + i, tx] = i + 7
    for i in T.parallel(4):
        A[7, tx] += i
    for i, j in T.grid(3, (1, 4)):
        A[8, tx] += i * 10 + j
    if tx == 0:
        for v in T.vectorized(32):
            A[9, v] = v + 1
    n: T.int32 = 0
    while n < 20:
        n += 1
        if n % 3 == 0:
            continue
        if n > 13:
            break
        A[10, tx] += n
    for i in T.serial(3, dtype="uint32"):
        A[11, tx] += T.cast(i, "int32")


@T.function
def loops_plain(A: T.Tensor((16, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    A[0, tx] = 6
    A[1, tx] = 15
    A[2, tx] = tx * 10
    A[3, tx] = 10
    A[4, tx] = 7
    A[5, tx] = 8
    A[6, tx] = 9
    A[7, tx] = 6
    A[8, tx] = 150
    A[9, tx] = tx + 1
    A[10, tx] = 61
    A[11, tx] = 3


@T.function
def choices(X: T.Tensor((64,), "float32"), A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    A[tx] = T.if_then_else(tx < 16, X[T.if_then_else(tx < 16, tx, 100000)], T.Select(tx < 20, T.float32(1), X[tx]))
    B[tx] = T.Select(T.And(tx > 3, T.Or(tx < 9, T.Not(tx != 30))), 1, 0) + (2 if T.likely(tx > 20) else 4)
    T.assume(tx < 32)
    assert tx >= 0, "an index"
    T.cuda.trap_when_assert_failed(tx >= 0)
    T.evaluate(0)
    B[tx] += T.undef() + T.reinterpret("int32", T.float32(1.0)) - T.cast(X[tx] * 0.0, "int32")


@T.function
def choices_plain(X: T.Tensor((64,), "float32"), A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    if tx < 16:
        A[tx] = X[tx]
    elif tx < 20:
        A[tx] = 1.0
    else:
        A[tx] = X[tx]
    n: T.int32 = 0
    if tx > 3 and (tx < 9 or tx == 30):
        n = 1
    if tx > 20:
        B[tx] = n + 2 + 1065353216
    else:
        B[tx] = n + 4 + 1065353216


@T.function
def arithmetic(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    a = A[tx] - 30
    B[tx] = (
        T.truncdiv(a, 7) + 2 * T.truncmod(a, 7) + 3 * T.floordiv(a, 7) + 5 * T.floormod(a, 7) + 11 * T.ceildiv(a, 7)
        + T.shift_left(a, 2) + T.shift_right(a, 1) + T.bitwise_and(a, 12) + T.bitwise_or(a, 3) + T.bitwise_xor(a, 5)
        + T.bitwise_not(a) + T.min(a, 4) + T.max(a, -4) + T.abs(a) + T.popcount(a) + T.clz(a)
        + T.call_intrin("int32", "tirx.min", a, 0)
    )
    x = T.cast(a, "float32")
    C[tx] = T.floor(x * 0.5) + T.ceil(x * 0.25) + T.trunc(x * 0.3) + T.round(x * 0.5) + T.nearbyint(x * 0.5) + T.fma(
        x, T.float32(2), T.float32(1)
    ) + T.fabs(x) + T.cast(T.isnan(x), "float32") + T.cast(T.isfinite(x), "float32") + T.cast(T.isinf(x), "float32")


@T.function
def arithmetic_plain(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32"), C: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    a = A[tx] - 30
    q = a // 7
    r = a % 7
    up: T.int32 = 0
    if r != 0:
        up = 1
    towards = q
    rest = r
    if a < 0 and r != 0:
        towards = q + 1
        rest = r - 7
    n: T.int32 = towards + 2 * rest + 3 * q + 5 * r + 11 * (q + up) + a * 4 + a // 2
    n = n + (a & 12) + (a | 3) + (a ^ 5) + (-1 - a)
    if a < 4:
        n += a
    else:
        n += 4
    if a > -4:
        n += a
    else:
        n -= 4
    if a < 0:
        n -= a
    else:
        n += a
    zeros: T.int32 = 0
    counting: T.bool = True
    for k in range(32):
        bit = T.cast((T.cast(a, "uint32") >> (31 - T.cast(k, "uint32"))) & T.uint32(1), "int32")
        n += bit
        if bit == 1:
            counting = False
        if counting:
            zeros += 1
    n += zeros
    if a < 0:
        n += a
    B[tx] = n
    x = T.cast(a, "float32")
    half = a // 2
    nearest = half
    away = half
    if a % 2 != 0:
        if half % 2 != 0:
            nearest = half + 1
        if a > 0:
            away = half + 1
    third: T.float32 = x * 0.3
    whole = T.cast(T.cast(third, "int32"), "float32")
    C[tx] = (
        T.cast(half, "float32") + T.cast((a + 3) // 4, "float32") + whole + T.cast(away, "float32")
        + T.cast(nearest, "float32") + (x * 2.0 + 1.0) + T.Select(a < 0, -x, x) + 0.0 + 1.0 + 0.0
    )


@T.function
def limits(A: T.Tensor((8,), "int64"), B: T.Tensor((8,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    A[0] = T.cast(T.max_value("int32"), "int64")
    A[1] = T.cast(T.min_value("int8"), "int64")
    A[2] = T.max_value("int64")
    A[3] = T.cast(T.Cast("uint8", T.int32(300)), "int64")
    B[0] = T.max_value("float32")
    B[1] = T.infinity("float32")
    B[2] = T.float32("-inf")
    B[3] = T.min_value("float16")
    B[T.Ramp(4, 1, 4)] = T.Broadcast(T.float32(2.5), 4)


@T.function
def limits_plain(A: T.Tensor((8,), "int64"), B: T.Tensor((8,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    A[0] = 2147483647
    A[1] = -128
    A[2] = 9223372036854775807
    A[3] = 44
    B[0] = 3.4028234663852886e38
    B[1] = 1.0 / T.cast(B[7], "float32")
    B[2] = -1.0 / T.cast(B[7], "float32")
    B[3] = -65504.0
    for i in range(4):
        B[4 + i] = 2.5


@T.function
def places(A: T.Tensor((6, 2, 256), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128, 2)))
    bx = T.cuda.block_idx("x")
    at: T.let = T.cuda.linear_thread_id()
    A[0, bx, at] = T.cuda.lane_id()
    A[1, bx, at] = T.cuda.warp_id()
    A[2, bx, at] = T.cuda.warpgroup_id() * 1000 + T.cuda.warp_in_warpgroup() * 200 + T.cuda.thread_in_warpgroup()
    A[3, bx, at] = T.cuda.block_dim("x") + 7 * T.cuda.block_dim("y") + 11 * T.cuda.grid_dim("x")
    A[4, bx, at] = T.cuda.thread_rank() * 3
    A[5, bx, at] = T.cast(T.cuda.clock64() >= 0, "int32")


@T.function
def places_plain(A: T.Tensor((6, 2, 256), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128, 2)))
    bx = T.cuda.block_idx("x")
    at = T.cuda.thread_idx("x") + 128 * T.cuda.thread_idx("y")
    A[0, bx, at] = at % 32
    A[1, bx, at] = at // 32
    A[2, bx, at] = at // 128 * 1000 + at // 32 % 4 * 200 + at % 128
    A[3, bx, at] = 128 + 14 + 22
    A[4, bx, at] = at * 3
    A[5, bx, at] = 1


@T.function
def barriers(A: T.Tensor((256,), "int32"), B: T.Tensor((5, 256), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(256,)))
    tx = T.cuda.thread_idx("x")
    s = T.alloc_shared((256,), "int32")
    s[tx] = A[tx]
    T.cuda.cta_sync()
    B[0, tx] = s[255 - tx]
    B[1, tx] = T.cuda.syncthreads_and(tx < 255) + 2 * T.cuda.syncthreads_or(tx == 255)
    s[tx] = tx * 2
    T.cuda.warp_sync()
    B[2, tx] = s[tx ^ 1]
    T.cuda.warpgroup_sync(1 + T.cuda.warpgroup_id())
    B[3, tx] = s[tx ^ 64]
    T.cuda.thread_fence()
    T.cuda.nano_sleep(10)
    if tx < 128:
        T.ptx.bar.arrive(4, 256)
    else:
        T.ptx.bar.sync(4, 256)
    T.ptx.fence.acq_rel.gpu()
    T.tvm_storage_sync("shared")
    T.tvm_storage_sync("warp")
    B[4, tx] = s[255 - tx]


@T.function
def barriers_plain(A: T.Tensor((256,), "int32"), B: T.Tensor((5, 256), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(256,)))
    tx = T.cuda.thread_idx("x")
    B[0, tx] = A[255 - tx]
    B[1, tx] = 2
    B[2, tx] = (tx ^ 1) * 2
    B[3, tx] = (tx ^ 64) * 2
    B[4, tx] = (255 - tx) * 2


@T.function
def lanes(A: T.Tensor((64,), "int32"), B: T.Tensor((14, 64), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    all_lanes = T.uint32(0xFFFFFFFF)
    x: T.int32 = A[tx] * 3
    B[0, tx] = T.cuda.__shfl_sync(all_lanes, x, 5, 32)
    B[1, tx] = T.cuda.__shfl_up_sync(all_lanes, x, 1, 32)
    B[2, tx] = T.cuda.__shfl_down_sync(all_lanes, x, 2, 32)
    B[3, tx] = T.cuda.__shfl_xor_sync(all_lanes, x, 4, 32)
    B[4, tx] = T.cuda._shfl_sync(all_lanes, x, 3, 8)
    B[5, tx] = T.tvm_warp_shuffle_xor(all_lanes, x, 8, 32, 32)
    B[6, tx] = T.cast(T.cuda.any_sync(all_lanes, tx % 32 == 7), "int32") + 2 * T.cast(
        T.cuda.all_sync(all_lanes, tx < 32), "int32"
    )
    B[7, tx] = T.cast(T.cuda.ballot_sync(all_lanes, tx % 2 == 0), "int32")
    B[8, tx] = T.cast(T.cuda.__activemask(), "int32")
    B[9, tx] = T.cast(T.cuda.reduce_add_sync_u32(all_lanes, T.cast(x, "uint32")), "int32")
    B[10, tx] = T.cast(T.cuda.reduce_min_sync_u32(all_lanes, T.cast(x, "uint32")), "int32")
    B[11, tx] = T.cast(T.cuda.reduce_max_sync_u32(all_lanes, T.cast(x, "uint32")), "int32")
    chosen = T.cuda.elect_sync()
    B[12, tx] = T.cuda.warp_sum(T.cast(chosen, "int32"))
    B[13, tx] = T.cuda.ldg(A.ptr_to([tx]), "int32") + T.cast(T.cuda.ffs_u32(T.cast(A[tx], "uint32")), "int32")


@T.function
def lanes_plain(A: T.Tensor((64,), "int32"), B: T.Tensor((14, 64), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    lane = tx % 32
    first = tx - lane
    B[0, tx] = 3 * (first + 5)
    B[1, tx] = 3 * T.max(tx - 1, first)
    B[2, tx] = T.Select(lane < 30, 3 * (tx + 2), 3 * tx)
    B[3, tx] = 3 * (tx ^ 4)
    B[4, tx] = 3 * (tx // 8 * 8 + 3)
    B[5, tx] = 3 * (tx ^ 8)
    B[6, tx] = T.Select(tx < 32, 3, 1)
    B[7, tx] = 0x55555555
    B[8, tx] = -1
    B[9, tx] = 3 * (32 * first + 496)
    B[10, tx] = 3 * first
    B[11, tx] = 3 * (first + 31)
    B[12, tx] = 1
    lowest: T.int32 = 0
    for k in range(6):
        if lowest == 0 and (tx >> k) % 2 == 1:
            lowest = k + 1
    B[13, tx] = tx + lowest


@T.function
def reductions(A: T.Tensor((64,), "int32"), B: T.Tensor((4, 64), "int32"), C: T.Tensor((3, 64), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    scratch = T.alloc_shared((2,), "float32")
    B[0, tx] = T.cuda.warp_sum(A[tx])
    B[1, tx] = T.cuda.warp_max(A[tx], width=8)
    B[2, tx] = T.cuda.warp_min(A[tx])
    B[3, tx] = T.cuda.warp_reduce(A[tx], "max")
    C[0, tx] = T.cuda.cta_sum(T.cast(A[tx], "float32"), 2, scratch.data)
    T.cuda.cta_sync()
    C[1, tx] = T.cuda.cta_max(T.cast(A[tx], "float32"), 2, scratch.data)
    T.cuda.cta_sync()
    C[2, tx] = T.cuda.cta_reduce(T.cast(A[tx], "float32"), "min", 2, scratch.data)


@T.function
def reductions_plain(A: T.Tensor((64,), "int32"), B: T.Tensor((4, 64), "int32"), C: T.Tensor((3, 64), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = T.cuda.thread_idx("x")
    first = tx // 32 * 32
    B[0, tx] = 32 * first + 496
    B[1, tx] = tx // 8 * 8 + 7
    B[2, tx] = first
    B[3, tx] = first + 31
    C[0, tx] = 2016.0
    C[1, tx] = 63.0
    C[2, tx] = 0.0


@T.function
def atomics(A: T.Tensor((16,), "int32"), B: T.Tensor((4,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    tx = T.cuda.thread_idx("x")
    T.cuda.atomic_add(A.ptr_to([0]), tx)
    T.cuda.atomic_min(A.ptr_to([1]), 0 - tx)
    T.cuda.atomic_max(A.ptr_to([2]), tx)
    T.cuda.atomic_and(A.ptr_to([7]), 0x7FFFFFFD)
    T.cuda.atomic_or(A.ptr_to([4]), T.shift_left(1, tx % 8))
    T.cuda.atomic_xor(A.ptr_to([5]), 3)
    T.evaluate(T.cuda.atomic_exch(A.ptr_to([6]), 9))
    if tx == 0:
        A[8] = T.cuda.atomic_cas(A.ptr_to([9]), 9, 40)
        A[10] = T.cuda.atomic_cas(A.ptr_to([11]), 9, 40)
    T.cuda.atomic_add(B.ptr_to([0]), T.float32(0.5))


@T.function
def atomics_plain(A: T.Tensor((16,), "int32"), B: T.Tensor((4,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    A[0] = 496
    A[1] = -31
    A[2] = 31
    A[7] = 5
    A[4] = 255
    A[5] = 5
    A[6] = 9
    A[8] = 9
    A[9] = 40
    A[10] = 11
    B[0] = 16.0


@T.function
def older(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    T.device_entry()
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 32)
    for i in T.serial(3):
        if i == 1:
            T.continue_loop()
        B[bx * 32 + tx] += A[bx * 32 + tx] + i


@T.function
def older_plain(A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(32,)))
    at = T.cuda.block_idx("x") * 32 + T.cuda.thread_idx("x")
    B[at] = A[at] * 2 + 2
