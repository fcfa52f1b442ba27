# SPDX-License-Identifier: Apache-2.0
# Tile operations of two parts, and the scope of a cluster. Lines as in products.py.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import R, S, TileLayout, laneid, tid_in_wg, tx


# Shared memory, where the scope meets between the parts, at the scopes of a block, a warp and a thread.
# tmem: shared_parts 128 A=randint:-9:9:1 B=randint:-9:9:2 C=zeros D=zeros E=zeros F=zeros
@T.prim_func
def shared_parts(A: T.Buffer((24, 40), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((24, 40), "float32"), D: T.Buffer((24,), "float32"), E: T.Buffer((40,), "float32"), F: T.Buffer((3, 24), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    a = T.alloc_shared((24, 40), "float32")
    c = T.alloc_shared((24, 40), "float32")
    e = T.alloc_shared((40,), "float32")
    f = T.alloc_shared((24,), "float32")
    Tx.cta.copy(a, A)
    T.cuda.cta_sync()
    Tx.cta.binary_reduce(c, D, a, B, "sub", "max", reduce_axes=-1)
    T.cuda.cta_sync()
    Tx.cta.copy(C, c)
    Tx.cta.unary_reduce(c[:, :], e[:], a[:, :], "exp2", "sum", bias=T.float32(2), scale=T.float32(0), reduce_axes=0)
    T.cuda.cta_sync()
    Tx.cta.copy(E, e)
    if warp == 2:
        Tx.warp.binary_reduce(c, f, a, T.float32(3), "mul", "min")
        T.cuda.warp_sync()
        Tx.warp.copy(F[0, :], f)
        T.cuda.warp_sync()
        Tx.warp.reduce_negate(f, a, "sum")
        T.cuda.warp_sync()
        Tx.warp.copy(F[1, :], f)
        T.cuda.warp_sync()
        Tx.warp.reduce_negate(f, a, "sum", accum=True)
        T.cuda.warp_sync()
        Tx.warp.copy(F[2, :], f)


@T.prim_func
def shared_parts_plain(A: T.Buffer((24, 40), "float32"), B: T.Buffer((24, 40), "float32"), C: T.Buffer((24, 40), "float32"), D: T.Buffer((24,), "float32"), E: T.Buffer((40,), "float32"), F: T.Buffer((3, 24), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 24:
        D[t] = T.float32(-1000)
        F[0, t] = T.float32(1000)
        for j in range(40):
            C[t, j] = A[t, j] - B[t, j]
            D[t] = T.max(D[t], C[t, j])
            F[0, t] = T.min(F[0, t], A[t, j] * T.float32(3))
            F[1, t] = F[1, t] - A[t, j]
        F[2, t] = F[1, t] + F[1, t]
    if t < 40:
        total: T.float32 = 0.0
        for i in range(24):
            total = total + T.float32(4)
        E[t] = total


# Registers: of each thread, and of a warp's lanes.
# tmem: register_parts 32 A=randint:1:9:1 C=zeros D=zeros E=zeros F=zeros
@T.prim_func
def register_parts(A: T.Buffer((32, 16), "float32"), C: T.Buffer((32, 16), "float32"), D: T.Buffer((32,), "float32"), E: T.Buffer((32, 16), "int32"), F: T.Buffer((32,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    lane = T.thread_id([32])
    own = T.alloc_local((16,), "float32")
    sum = T.alloc_local((1,), "float32")
    x = T.alloc_local((32, 16), "float32", layout=TileLayout(S[(8, 4, 4, 4) : (4 @ laneid, 4, 1 @ laneid, 1)]))
    y = T.alloc_local((32, 16), "float32", layout=TileLayout(S[(8, 4, 4, 4) : (4 @ laneid, 4, 1 @ laneid, 1)]))
    m = T.alloc_local((32,), "float32", layout=TileLayout(S[(8, 4) : (4 @ laneid, 1)] + R[4 : 1 @ laneid]))
    z = T.alloc_local((16,), "int32")
    Tx.warp.copy(x, A)
    with Tx.compose_op():
        Tx.warp.binary_reduce(y, m, x, T.float32(2), "mul", "sum")
        Tx.warp.reduce_negate(m, y, "max", accum=False)
    Tx.warp.copy(C, y)
    Tx.warp.copy(F, m)
    Tx.copy(own[:], A[lane, :])
    Tx.unary_reduce(own[:], sum[:], own[:], "sqrt", "max", scale=T.float32(4))
    D[lane] = sum[0]
    for i in T.unroll(16):
        z[i] = lane - i
    Tx.binary_chain(z[:], z[:], 100, 3, "sub", "mul")
    Tx.binary_chain(E[lane, :], z[:], 7, 1000, "maximum", "sub", reverse1=True)


@T.prim_func
def register_parts_plain(A: T.Buffer((32, 16), "float32"), C: T.Buffer((32, 16), "float32"), D: T.Buffer((32,), "float32"), E: T.Buffer((32, 16), "int32"), F: T.Buffer((32,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    D[t] = T.float32(0)
    F[t] = T.float32(0)
    for j in range(16):
        C[t, j] = A[t, j] * T.float32(2)
        F[t] = T.min(F[t], -C[t, j])
        D[t] = T.max(D[t], T.sqrt(A[t, j] * T.float32(4)))
        E[t, j] = 1000 - T.max(7, (100 - (t - j)) * 3)


# All threads of a cluster over global memory: each element once.
# tmem: clustered 64@2 A=randint:-9:9:1 B=zeros C=zeros D=zeros
@T.prim_func
def clustered(A: T.Buffer((40, 24), "float32"), B: T.Buffer((40, 24), "float32"), C: T.Buffer((40, 24), "float32"), D: T.Buffer((40,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(64,), cluster=(2,)))
    t = T.cuda.thread_idx("x")
    Tx.cluster.copy(B, A)
    Tx.cluster.add(C, A, A)
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    Tx.cluster.sum(D, C)


@T.prim_func
def clustered_plain(A: T.Buffer((40, 24), "float32"), B: T.Buffer((40, 24), "float32"), C: T.Buffer((40, 24), "float32"), D: T.Buffer((40,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    if t < 40:
        for j in range(24):
            B[t, j] = A[t, j]
            C[t, j] = A[t, j] + A[t, j]
            D[t] = D[t] + C[t, j]


# Registers of several warps: rows over the threads of a warpgroup that is the block, and of a block of 8 warps.
# tmem: over_warps 128 A=randint:-9:9:1 B=zeros C=zeros
@T.prim_func
def over_warps(A: T.Buffer((128, 6), "float32"), B: T.Buffer((6,), "float32"), C: T.Buffer((2, 6), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    x = T.alloc_local((128, 6), "float32", layout=TileLayout(S[(128, 6) : (1 @ tid_in_wg, 1)]))
    s = T.alloc_local((1, 6), "float32", layout=TileLayout(S[(1, 6) : (1 @ tid_in_wg, 1)] + R[128 : 1 @ tid_in_wg]))
    m = T.alloc_local((2, 6), "float32", layout=TileLayout(S[(2, 6) : (64 @ tid_in_wg, 1)] + R[64 : 1 @ tid_in_wg]))
    Tx.wg.copy(x, A)
    Tx.wg.sum(s, x, axes=0)
    Tx.wg.copy(B, s)
    halves = T.decl_buffer((2, 64, 6), "float32", data=x.data, scope="local", layout=TileLayout(S[(2, 64, 6) : (64 @ tid_in_wg, 1 @ tid_in_wg, 1)]))
    Tx.wg.max(m, halves, axes=1)
    Tx.wg.copy(C, m)


@T.prim_func
def over_warps_plain(A: T.Buffer((128, 6), "float32"), B: T.Buffer((6,), "float32"), C: T.Buffer((2, 6), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 6:
        C[0, t] = A[0, t]
        C[1, t] = A[64, t]
        for i in range(128):
            B[t] = B[t] + A[i, t]
            C[i // 64, t] = T.max(C[i // 64, t], A[i, t])


# ptxas: over_block 256 A=randint:-9:9:1 B=zeros
@T.prim_func
def over_block(A: T.Buffer((256, 5), "int32"), B: T.Buffer((5,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    x = T.alloc_local((256, 5), "int32", layout=TileLayout(S[(256, 5) : (1 @ tx, 1)]))
    s = T.alloc_local((5,), "int32", layout=TileLayout(S[5:1] + R[256 : 1 @ tx]))
    Tx.cta.copy(x, A)
    for i in T.serial(2):
        Tx.cta.sum(s, x, axes=0)
    Tx.cta.copy(B, s)


@T.prim_func
def over_block_plain(A: T.Buffer((256, 5), "int32"), B: T.Buffer((5,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    if t < 5:
        for i in range(256):
            B[t] = B[t] + A[i, t]
