# SPDX-License-Identifier: Apache-2.0
# copy_async by TMA beyond plain tiles: reductions, cache hints, elements of 4 bits, views of parameters, multicast. Lines as
# in products.py.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S


@T.inline
def await_phase(bar, phase):
    done: T.bool = False
    while done == False:
        T.ptx["mbarrier.try_wait.parity.shared.b64"](done, bar.ptr_to([0]), phase)


@T.inline
def flushed():
    T.ptx["cp.async.bulk.commit_group"]()
    T.ptx["cp.async.bulk.wait_group"](0)


def combined(word, old, new, type):
    """What a reduction leaves."""
    if word == "add":
        return old + new
    if word == "min":
        return T.min(old, new)
    if word == "max":
        return T.max(old, new)
    if word == "inc":
        return T.Select(old >= new, T.cast(0, type), old + T.cast(1, type))
    if word == "dec":
        return T.Select(T.Or(old == T.cast(0, type), old > new), new, old - T.cast(1, type))
    if word == "and":
        return old & new
    return old | new if word == "or" else old ^ new


# Every reduction, and the types that differ.
# tmem: reduced 128 TY:="float32" WORD:="add" A=randint:-9:9:1 B=randint:-9:9:2
# ptxas: reduced 128 TY:="float16" WORD:="min" A=randint:-9:9:1 B=randint:-9:9:2
# ptxas: reduced 128 TY:="bfloat16" WORD:="max" A=randint:-9:9:1 B=randint:-9:9:2
# ptxas: reduced 128 TY:="int32" WORD:="min" A=randint:-9:9:1 B=randint:-9:9:2
# ptxas: reduced 128 TY:="int64" WORD:="max" A=randint:-9:9:1 B=randint:-9:9:2
# ptxas: reduced 128 TY:="uint32" WORD:="inc" A=randint:0:9:1 B=randint:0:9:2
# ptxas: reduced 128 TY:="uint32" WORD:="dec" A=randint:0:9:1 B=randint:0:9:2
# ptxas: reduced 128 TY:="uint64" WORD:="and" A=randint:0:999:1 B=randint:0:999:2
# ptxas: reduced 128 TY:="uint32" WORD:="or" A=randint:0:999:1 B=randint:0:999:2
# ptxas: reduced 128 TY:="int32" WORD:="xor" A=randint:0:999:1 B=randint:0:999:2
@T.prim_func
def reduced(A: T.Buffer((16, 32), TY), B: T.Buffer((16, 32), TY)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    s = T.alloc_shared((8, 32), TY, align=128)
    for i in T.serial(2):
        Tx.cta.copy(s, A[i * 8 : i * 8 + 8, :])
        T.ptx["fence.proxy.async.shared::cta"]()
        T.cuda.cta_sync()
        if t == 0:
            Tx.copy_async(B[i * 8 : i * 8 + 8, :], s, dispatch="tma", use_tma_reduce=WORD)
            flushed()
        T.cuda.cta_sync()


@T.prim_func
def reduced_plain(A: T.Buffer((16, 32), TY), B: T.Buffer((16, 32), TY)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 32:
        for i in range(16):
            B[i, t] = combined(WORD, B[i, t], A[i, t], TY)


# Policies of the cache, by name and as a value.
# tmem: hinted 128 A=arange B=zeros
@T.prim_func
def hinted(A: T.Buffer((32, 64), "float16"), B: T.Buffer((32, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((32, 64), "float16", layout=T.mma_shared_layout("float16", "128B", (32, 64)))
    policy: T.uint64
    T.ptx["createpolicy.fractional.L2::evict_last.b64"](policy, T.float32(1.0))
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 32 * 64 * 2)
        Tx.copy_async(s[0:16, :], A[0:16, :], dispatch="tma", mbar=bar.ptr_to([0]), cache_hint="evict_first")
        Tx.copy_async(s[16:32, :], A[16:32, :], dispatch="tma", mbar=bar.ptr_to([0]), cache_hint=policy)
    T.cuda.cta_sync()
    await_phase(bar, 0)
    if t == 0:
        Tx.copy_async(B, s, dispatch="tma", cache_hint="evict_normal")
        flushed()


@T.prim_func
def hinted_plain(A: T.Buffer((32, 64), "float16"), B: T.Buffer((32, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 64:
        for i in range(32):
            B[i, t] = A[i, t]


# Elements of 4 bits: packed, and as bytes that hold 16 in 16.
# ptxas: packed 128 A=randint:0:256:1 B=zeros C=zeros
@T.prim_func
def packed(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 64), "uint8"), C: T.Buffer((64, 128), "uint8")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    bar = T.alloc_shared((1,), "uint64")
    Ag = T.decl_buffer((64, 128), "float4_e2m1fn", data=A.data)
    Bg = T.decl_buffer((64, 128), "float4_e2m1fn", data=B.data)
    s = T.alloc_shared((64, 128), "float4_e2m1fn", layout=T.mma_shared_layout("float4_e2m1fn", "64B", (64, 128)))
    u = T.alloc_shared((64, 128), "uint8", layout=T.mma_shared_layout("uint8", "128B", (64, 128)))
    Tx.cta.zero(u)
    T.ptx["fence.proxy.async.shared::cta"]()
    T.cuda.cta_sync()
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 2 * 64 * 64)
        Tx.copy_async(s, Ag, dispatch="tma", mbar=bar.ptr_to([0]))
        Tx.copy_async(u, Ag, dispatch="tma", mbar=bar.ptr_to([0]))
    T.cuda.cta_sync()
    await_phase(bar, 0)
    for i in T.unroll(8): # the padding is nobody's
        for j in T.unroll(8):
            C[t // 2, t % 2 * 64 + i // 2 * 16 + j] = u[t // 2, t % 2 * 64 + i // 2 * 16 + j]
    if t == 0:
        Tx.copy_async(Bg, s, dispatch="tma")
        flushed()


@T.prim_func
def packed_plain(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 64), "uint8"), C: T.Buffer((64, 128), "uint8")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 64:
        for i in range(64):
            B[t, i] = A[t, i]
            C[t, i // 8 * 16 + i % 8] = A[t, i]


# Views of a parameter: other axes, a part that starts behind it, another type of the same width.
# ptxas: views 128 A=arange B=zeros
@T.prim_func
def views(A: T.Buffer((4096,), "float16"), B: T.Buffer((32, 128), "uint16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((32, 64), "float16", align=128)
    u = T.alloc_shared((32, 64), "uint16", align=128)
    rows = T.meta_var(A.view(32, 128))
    part = T.meta_var(rows.sub[:, 64:128])
    bits = T.decl_buffer((32, 128), "uint16", data=A.data)
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 2 * 32 * 64 * 2)
        Tx.copy_async(s[:, :], part[:, :], dispatch="tma", mbar=bar.ptr_to([0]))
        Tx.copy_async(u[:, :], bits[:, 0:64], dispatch="tma", mbar=bar.ptr_to([0]))
    T.cuda.cta_sync()
    await_phase(bar, 0)
    Tx.cta.copy(B[:, 0:64], u)
    su = T.decl_buffer((32, 64), "uint16", data=s.data, scope="shared")
    Tx.cta.copy(B[:, 64:128], su)


@T.prim_func
def views_plain(A: T.Buffer((4096,), "float16"), B: T.Buffer((32, 128), "uint16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    for i in range(32):
        B[i, t] = T.reinterpret("uint16", A[i * 128 + t])


# Each CTA of a cluster loads half of a tile for both.
# ptxas: multicast 128@2 A=arange B=zeros
@T.prim_func
def multicast(A: T.Buffer((64, 64), "float16"), B: T.Buffer((2, 64, 64), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128,), cluster=(2,)))
    rank = T.cuda.block_idx("x")
    t = T.cuda.thread_idx("x")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", "128B", (64, 64)))
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 64 * 64 * 2)
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if t == 0:
        Tx.copy_async(s[rank * 32 : rank * 32 + 32, :], A[rank * 32 : rank * 32 + 32, :], dispatch="tma", mbar=bar.ptr_to([0]), cta_mask=3, cache_hint="evict_last")
    await_phase(bar, 0)
    Tx.cta.copy(B[rank, :, :], s)
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()


@T.prim_func
def multicast_plain(A: T.Buffer((64, 64), "float16"), B: T.Buffer((2, 64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    for i in range(64):
        B[t // 64, i, t % 64] = A[i, t % 64]


# What a box has outside of the tensor.
# ptxas: outside 128 TY:="float32" FILL:="nan" A=arange B=zeros
# ptxas: outside 128 TY:="float16" FILL:="zero" A=arange B=zeros
@T.prim_func
def outside(A: T.Buffer((12, 32), TY), B: T.Buffer((16, 32), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((16, 32), TY, align=128)
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 16 * 32 * T.DataType(TY).bits // 8)
        Tx.copy_async(s[:, :], A[0:16, :], dispatch="tma", mbar=bar.ptr_to([0]), oob=FILL)
    T.cuda.cta_sync()
    await_phase(bar, 0)
    for i in T.serial(4):
        value = T.meta_var(s[i * 4 + t // 32, t % 32])
        B[i * 4 + t // 32, t % 32] = T.Select(value == value, T.cast(value, "int32"), -1)


@T.prim_func
def outside_plain(A: T.Buffer((12, 32), TY), B: T.Buffer((16, 32), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 32:
        for i in range(16):
            B[i, t] = -1 if FILL == "nan" else 0
            if i < 12:
                B[i, t] = T.cast(A[i, t], "int32")
