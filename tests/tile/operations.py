# SPDX-License-Identifier: Apache-2.0
# Tile operations against one thread that does the same; driven by tests/words/run.sh.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.backend.cuda.lang.pipeline import MBarrier, PipelineState
from tvm.backend.cuda.lang.tile_scheduler import ClusterPersistentScheduler2D
from tvm.tirx.layout import TileLayout, S, R, laneid, tid_in_wg, wid_in_wg, tx


# pair: functions A=randn:1 B=zeros
@T.prim_func
def functions(A: T.Buffer((8, 40), "float32"), B: T.Buffer((8, 5, 40), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    Tx.cta.exp2(B[:, 0, :], A)
    Tx.cta.exp(B[:, 1, :], A[:, :], scale=0.5, bias=1.0)
    Tx.cta.silu(B[:, 2, :], A[:, :])
    Tx.cta.fma(B[:, 3, :], A[:, :], 2.0, A[3:4, :])
    Tx.cta.reciprocal(B[:, 4, :], A[:, :])
    T.cuda.cta_sync()
    Tx.cta.maximum(B[:, 4, :], B[:, 4, :], 0.0)
    T.cuda.cta_sync()
    Tx.cta.sqrt(B[:, 4, :])


@T.prim_func
def functions_plain(A: T.Buffer((8, 40), "float32"), B: T.Buffer((8, 5, 40), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    if t == 0:
        for i in range(8):
            for j in range(40):
                x: T.float32 = A[i, j]
                B[i, 0, j] = T.exp2(x)
                y: T.float32 = x * T.float32(0.5)
                B[i, 1, j] = T.exp(y + T.float32(1.0))
                B[i, 2, j] = x / (T.float32(1.0) + T.exp(-x))
                B[i, 3, j] = T.fma(x, T.float32(2.0), A[3, j])
                B[i, 4, j] = T.sqrt(T.max(T.float32(1.0) / x, T.float32(0.0)))


# pair: chosen A=arange B=zeros
@T.prim_func
def chosen(A: T.Buffer((16, 24), "int32"), B: T.Buffer((16, 24), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    Tx.cta.select(B[:, :], A[:, :], -1, lambda i, j: i + 3 >= j)
    T.cuda.cta_sync()
    Tx.cta.memset(B[2, 4:8], 7)
    Tx.cta.zero(B[3:5, :])


@T.prim_func
def chosen_plain(A: T.Buffer((16, 24), "int32"), B: T.Buffer((16, 24), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(16):
            for j in range(24):
                if i + 3 >= j:
                    B[i, j] = A[i, j]
                else:
                    B[i, j] = -1
        for j in range(4):
            B[2, 4 + j] = 7
        for i in range(2):
            for j in range(24):
                B[3 + i, j] = 0


# An accumulator fragment, its row sums in every lane of a row, and the rows divided by them.
# pair: fragment A=arange B=zeros C=zeros
@T.prim_func
def fragment(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16, 8), "float32"), C: T.Buffer((16,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local((16, 8), "float32", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4@laneid, 1@laneid, 1)]))
    m = T.alloc_local((16, 1), "float32", layout=TileLayout(S[(2, 8) : (1, 4@laneid)] + R[4 : 1@laneid]))
    Tx.warp.copy(r, A)
    Tx.warp.max(m[:, :], r[:, :], axes=-1)
    Tx.warp.copy(C[:], m[:, 0])
    Tx.warp.sub(r, r, m)
    Tx.warp.copy(B, r)


@T.prim_func
def fragment_plain(A: T.Buffer((16, 8), "float32"), B: T.Buffer((16, 8), "float32"), C: T.Buffer((16,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(16):
            C[i] = A[i, 0]
            for j in range(8):
                C[i] = T.max(C[i], A[i, j])
            for j in range(8):
                B[i, j] = A[i, j] - C[i]


# A row in each thread of a warpgroup, in parts that a loop takes, to another type.
# pair: rows A=randn:2 B=zeros
@T.prim_func
def rows(A: T.Buffer((256, 64), "float32"), B: T.Buffer((256, 64), "bfloat16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    g = T.meta_var(t // 128)
    r = T.alloc_local((64,), "float32")
    h = T.alloc_local((64,), "bfloat16")
    wide = r.view(128, 64, layout=TileLayout(S[(128, 64) : (1@tid_in_wg, 1)]))
    for k in T.serial(4):
        Tx.wg.copy(wide[:, k * 16 : (k + 1) * 16], A[g * 128 : g * 128 + 128, k * 16 : k * 16 + 16])
    Tx.cast(h[:], r[:])
    Tx.copy(B[t, :], h[:])


@T.prim_func
def rows_plain(A: T.Buffer((256, 64), "float32"), B: T.Buffer((256, 64), "bfloat16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    if t == 0:
        for i in range(256):
            for j in range(64):
                B[i, j] = T.cast(A[i, j], "bfloat16")


# Extents that the launch gives.
# pair: sized A=arange@24,5 B=zeros@24,5 n=24
@T.prim_func
def sized(A: T.Buffer(("n", 5), "float32"), B: T.Buffer(("n", 5), "float32"), n: T.int32):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((4, 5), "float32")
    Tx.cta.add(B[0:n, :], A[0:n, :], 1.0)
    Tx.warp.copy(s[:, :], A[n - 4 : n, :])
    T.cuda.cta_sync()
    Tx.warp.sum(B[2, :], s[:, :], axes=0)


@T.prim_func
def sized_plain(A: T.Buffer(("n", 5), "float32"), B: T.Buffer(("n", 5), "float32"), n: T.int32):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(n):
            for j in range(5):
                B[i, j] = A[i, j] + T.float32(1.0)
        for j in range(5):
            B[2, j] = A[n - 4, j] + A[n - 3, j] + A[n - 2, j] + A[n - 1, j]


# One layout to another, through shared memory of a swizzle.
# pair: rearranged A=arange B=zeros
@T.prim_func
def rearranged(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 64), "uint8", layout=TileLayout(S[(64, 64) : (1, 64)]))):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    s = T.alloc_shared((64, 64), "uint8", layout=T.mma_shared_layout("uint8", 2, (64, 64)))
    q = T.alloc_shared((64, 64), "uint8", layout=TileLayout(S[(64, 64) : (1, 68)]))
    Tx.cta.copy(s, A)
    T.cuda.cta_sync()
    Tx.cta.permute_layout(q, s)
    T.cuda.cta_sync()
    Tx.cta.copy(B, q)


@T.prim_func
def rearranged_plain(A: T.Buffer((64, 64), "uint8"), B: T.Buffer((64, 64), "uint8", layout=TileLayout(S[(64, 64) : (1, 64)]))):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    if t == 0:
        for i in range(64):
            for j in range(64):
                B[i, j] = A[i, j]


# Barriers over the stages of a ring, and the tiles of three persistent blocks.
# pair: ring A=zeros B=zeros
@T.prim_func
def ring(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
    T.device_entry()
    b = T.cta_id([3])
    t = T.thread_id([32])
    pool = T.SMEMPool()
    there = MBarrier(pool, 2)
    there.init(32)
    pool.commit()
    T.cuda.cta_sync()
    state = PipelineState(2, phase=0)
    total: T.int32 = 0
    for i in range(5):
        there.arrive(state.stage)
        there.wait(state.stage, state.phase)
        total = total * 4 + state.stage * 2 + state.phase
        state.advance()
    tiles = ClusterPersistentScheduler2D("tiles", num_m_tiles=7, num_n_tiles=3, num_clusters=3, l2_group_size=4)
    tiles.init(b)
    while tiles.valid():
        if T.filter(t, t == 0):
            A[tiles.m_idx * 3 + tiles.n_idx] = tiles.work_idx + 1
        if T.filter(t, 0, 1):
            B[tiles.m_idx * 3 + tiles.n_idx] = total + tiles.tile_count
        tiles.next_tile()


@T.prim_func
def ring_plain(A: T.Buffer((32,), "int32"), B: T.Buffer((32,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    number: T.int32 = 0
    if t == 0:
        for group in range(2):
            for n in range(3):
                for m in range(4):
                    if group * 4 + m < 7:
                        A[(group * 4 + m) * 3 + n] = number + 1
                        B[(group * 4 + m) * 3 + n] = number // 3 + (((0 * 4 + 2) * 4 + 1) * 4 + 3) * 4 + 0
                        number += 1


# A product by mma.sync: two by three tiles, two steps of K, on top of what C holds; B as (N, K).
# pair: tensor_core A=randint:-4:5:1 B=randint:-4:5:2 C=randint:-9:9:3 D=zeros
@T.prim_func
def tensor_core(A: T.Buffer((32, 32), "float16"), B: T.Buffer((24, 32), "float16"), C: T.Buffer((32, 24), "float32"), D: T.Buffer((32, 24), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    a = T.alloc_local((32, 32), "float16", layout=TileLayout(S[(2, 2, 8, 2, 2, 4, 2) : (16, 2, 4@laneid, 8, 4, 1@laneid, 1)]))
    w = T.alloc_local((24, 32), "float16", layout=TileLayout(S[(3, 8, 2, 2, 4, 2) : (8, 4@laneid, 4, 2, 1@laneid, 1)]))
    c = T.alloc_local((32, 24), "float32", layout=TileLayout(S[(2, 2, 8, 3, 4, 2) : (12, 2, 4@laneid, 4, 1@laneid, 1)]))
    Tx.warp.copy(a, A)
    Tx.warp.copy(w, B)
    Tx.warp.copy(c, C)
    Tx.warp.gemm(c, a, w, c, transpose_B=True, beta=1.0)
    Tx.warp.copy(D, c)


@T.prim_func
def tensor_core_plain(A: T.Buffer((32, 32), "float16"), B: T.Buffer((24, 32), "float16"), C: T.Buffer((32, 24), "float32"), D: T.Buffer((32, 24), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(32):
            for j in range(24):
                D[i, j] = C[i, j]
                for k in range(32):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")


# The same of bytes.
# pair: tensor_core_bytes A=randint:-4:5:1 B=randint:-4:5:2 D=zeros
@T.prim_func
def tensor_core_bytes(A: T.Buffer((16, 64), "int8"), B: T.Buffer((64, 8), "int8"), D: T.Buffer((16, 8), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    a = T.alloc_local((16, 64), "int8", layout=TileLayout(S[(2, 8, 2, 2, 4, 4) : (4, 4@laneid, 16, 8, 1@laneid, 1)]))
    w = T.alloc_local((64, 8), "int8", layout=TileLayout(S[(2, 2, 4, 4, 8) : (8, 4, 1@laneid, 1, 4@laneid)]))
    d = T.alloc_local((16, 8), "int32", layout=TileLayout(S[(2, 8, 4, 2) : (2, 4@laneid, 1@laneid, 1)]))
    Tx.warp.copy(a, A)
    Tx.warp.copy(w, B)
    Tx.warp.gemm(d, a, w)
    Tx.warp.copy(D, d)


@T.prim_func
def tensor_core_bytes_plain(A: T.Buffer((16, 64), "int8"), B: T.Buffer((64, 8), "int8"), D: T.Buffer((16, 8), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(16):
            for j in range(8):
                D[i, j] = 0
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "int32") * T.cast(B[k, j], "int32")
