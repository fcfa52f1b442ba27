# SPDX-License-Identifier: Apache-2.0
# Operations of a warp on fragments: gemm by mma.sync of every type, copies by ldmatrix and stmatrix. Lines as in products.py.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S, tid_in_wg, tx


def fragment(name, shape, unit):
    return T.fragment_layout(name).tile_to(shape, unit)


# ptxas: product 32 TA:="float16" TB:="float16" TD:="float32" W:="f16" V:="f32" M:=32 N:=16 K:=24 UM:=16 UK:=8 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# tmem: product 32 TA:="float16" TB:="float16" TD:="float16" W:="f16" V:="f16" M:=32 N:=16 K:=32 UM:=16 UK:=16 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float16" TB:="float16" TD:="float16" W:="f16" V:="f16" M:=16 N:=8 K:=8 UM:=16 UK:=8 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="bfloat16" TB:="bfloat16" TD:="float32" W:="bf16" V:="f32" M:=16 N:=8 K:=32 UM:=16 UK:=16 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float32" TB:="float32" TD:="float32" W:="tf32" V:="f32" M:=16 N:=16 K:=16 UM:=16 UK:=8 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float32" TB:="float32" TD:="float32" W:="tf32" V:="f32" M:=16 N:=8 K:=12 UM:=16 UK:=4 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="int8" TB:="uint8" TD:="int32" W:="s8" V:="s32" M:=32 N:=8 K:=32 UM:=16 UK:=32 A=randint:-9:9:1 B=randint:0:200:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="uint8" TB:="int8" TD:="int32" W:="s8" V:="s32" M:=16 N:=8 K:=48 UM:=16 UK:=16 A=randint:0:200:1 B=randint:-9:9:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="int8" TB:="int8" TD:="int32" W:="s8" V:="s32" M:=24 N:=8 K:=32 UM:=8 UK:=16 A=randint:-9:9:1 B=randint:-9:9:2 C=randint:-9:9:3 D=zeros
# tmem: product 32 TA:="float8_e4m3fn" TB:="float8_e5m2" TD:="float32" W:="e4m3" V:="f32" M:=16 N:=8 K:=64 UM:=16 UK:=32 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float8_e5m2" TB:="float8_e5m2" TD:="float16" W:="e5m2" V:="f16" M:=16 N:=8 K:=16 UM:=16 UK:=16 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# tmem: product 32 TA:="float64" TB:="float64" TD:="float64" W:="f64" V:="f64" M:=16 N:=8 K:=32 UM:=16 UK:=16 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float64" TB:="float64" TD:="float64" W:="f64" V:="f64" M:=32 N:=8 K:=12 UM:=16 UK:=4 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
# ptxas: product 32 TA:="float64" TB:="float64" TD:="float64" W:="f64" V:="f64" M:=8 N:=16 K:=8 UM:=8 UK:=4 A=randint:-3:4:1 B=randint:-3:4:2 C=randint:-9:9:3 D=zeros
@T.prim_func
def product(A: T.Buffer((M, K), TA), B: T.Buffer((K, N), TB), C: T.Buffer((M, N), TD), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    name = T.meta_var(f"mma.m{UM}n8k{UK}.{W}")
    a = T.alloc_local((M, K), TA, layout=fragment(f"{name}.A", (M, K), (UM, UK)))
    w = T.alloc_local((K, N), TB, layout=fragment(f"{name}.B", (K, N), (UK, 8)))
    c = T.alloc_local((M, N), TD, layout=fragment(f"mma.m{UM}n8.{V}.D", (M, N), (UM, 8)))
    Tx.warp.copy(a, A)
    Tx.warp.copy(w, B)
    Tx.warp.copy(c, C)
    Tx.warp.gemm(c, a, w, c, beta=1.0)
    Tx.warp.copy(D, c)


@T.prim_func
def product_plain(A: T.Buffer((M, K), TA), B: T.Buffer((K, N), TB), C: T.Buffer((M, N), TD), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(M):
            for j in range(N):
                total: T.float32 = T.cast(C[i, j], "float32")
                for k in range(K):
                    total = total + T.cast(A[i, k], "float32") * T.cast(B[k, j], "float32")
                D[i, j] = T.cast(total, TD)


def storage(type, mode, shape):
    if mode == "row":
        return TileLayout(S[shape : (shape[1], 1)])
    if mode == "padded":
        return TileLayout(S[shape : (shape[1] + 128 // T.DataType(type).bits, 1)])
    return T.mma_shared_layout(type, mode, shape)


# Shared memory to a fragment and from there to other shared memory: by ldmatrix and stmatrix, and by element accesses before
# and behind them. X: the operand's fragment; ACROSS: storage has the other axis along memory.
# tmem: through 32 TY:="float16" X:="mma.m16n8k16.f16.A" M:=32 K:=32 UM:=16 UK:=16 MODE:="row" ACROSS:=False A=arange B=zeros
# ptxas: through 32 TY:="float16" X:="mma.m16n8k16.f16.A" M:=16 K:=64 UM:=16 UK:=16 MODE:="128B" ACROSS:=False A=arange B=zeros
# tmem: through 32 TY:="bfloat16" X:="mma.m16n8k16.f16.B" M:=16 K:=24 UM:=16 UK:=8 MODE:="padded" ACROSS:=False A=randint:0:256:3 B=zeros
# ptxas: through 32 TY:="float16" X:="mma.m16n8k16.f16.B" M:=32 K:=32 UM:=16 UK:=8 MODE:="64B" ACROSS:=True A=arange B=zeros
# ptxas: through 32 TY:="uint16" X:="mma.m16n8k8.f16.A" M:=16 K:=8 UM:=16 UK:=8 MODE:="row" ACROSS:=True A=arange B=zeros
# ptxas: through 32 TY:="float32" X:="mma.m16n8k8.tf32.A" M:=16 K:=16 UM:=16 UK:=8 MODE:="64B" ACROSS:=False A=arange B=zeros
# ptxas: through 32 TY:="int8" X:="mma.m16n8k32.s8.A" M:=32 K:=64 UM:=16 UK:=32 MODE:="32B" ACROSS:=False A=randint:-99:99:1 B=zeros
@T.prim_func
def through(A: T.Buffer((K, M) if ACROSS else (M, K), TY), B: T.Buffer((K, M) if ACROSS else (M, K), TY)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    first = T.alloc_shared(A.shape, TY, layout=storage(TY, MODE, A.shape))
    second = T.alloc_shared(A.shape, TY, layout=storage(TY, "row", A.shape))
    r = T.alloc_local((M, K), TY, layout=fragment(X, (M, K), (UM, UK)))
    Tx.warp.copy(first, A)
    T.cuda.warp_sync()
    if ACROSS:
        Tx.warp.copy(r[:, :], first.permute(1, 0)[:, :], dispatch="ldstmatrix")
        Tx.warp.copy(second.permute(1, 0)[:, :], r[:, :], dispatch="ldstmatrix")
    else:
        Tx.warp.copy(r[:, :], first[:, :], dispatch="ldstmatrix")
        Tx.warp.copy(second[:, :], r[:, :], dispatch="ldstmatrix")
    T.cuda.warp_sync()
    Tx.warp.copy(B, second)


@T.prim_func
def through_plain(A: T.Buffer((K, M) if ACROSS else (M, K), TY), B: T.Buffer((K, M) if ACROSS else (M, K), TY)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] = A[i, j]


# What a fragment of ldmatrix holds: each lane writes its registers where PTX says they came from.
# ptxas: held 32 A=arange B=zeros
@T.prim_func
def held(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    lane = T.thread_id([32])
    s = T.alloc_shared((16, 16), "float16")
    r = T.alloc_local((16, 16), "float16", layout=T.fragment_layout("mma.m16n8k16.f16.A"))
    Tx.warp.copy(s, A)
    T.cuda.warp_sync()
    Tx.warp.copy(r, s, dispatch="ldstmatrix")
    mine = T.meta_var(r.local(8))
    for i in T.unroll(8):
        B[lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8] = mine[i]


@T.prim_func
def held_plain(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    lane = T.thread_id([32])
    for i in range(16):
        if lane < 16:
            B[i, lane] = A[i, lane]


# Four warps at once, a stage of several that only a run knows, and parts of a tile.
# tmem: groups 256 A=arange B=zeros C=zeros
@T.prim_func
def groups(A: T.Buffer((3, 64, 64), "float16"), B: T.Buffer((3, 64, 64), "float16"), C: T.Buffer((128, 16), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    s = T.alloc_shared((3, 64, 64), "float16", layout=T.mma_shared_layout("float16", "128B", (3, 64, 64)))
    u = T.alloc_shared((128, 16), "float16")
    r = T.alloc_local((64, 64), "float16", layout=TileLayout(S[(4, 2, 8, 4, 2, 4, 2) : (32 @ tid_in_wg, 2, 4 @ tid_in_wg, 8, 4, 1 @ tid_in_wg, 1)]))
    q = T.alloc_local((128, 16), "float16", layout=TileLayout(S[(8, 2, 8, 2, 4, 2) : (32 @ tx, 2, 4 @ tx, 4, 1 @ tx, 1)]))
    Tx.cta.copy(s, A)
    T.cuda.cta_sync()
    if t < 128:
        for stage in T.serial(3):
            Tx.wg.copy(r, s[stage, :, :], dispatch="ldstmatrix")
            Tx.wg.copy(s[stage, :, 0:32], r[:, 0:32], dispatch="ldstmatrix")
            Tx.wg.copy(B[stage, :, :], r)
    for i in T.serial(2):
        Tx.cta.copy(u[i * 64 : i * 64 + 64, :], A[i, :, 0:16])
    T.cuda.cta_sync()
    Tx.cta.copy(q, u, dispatch="ldstmatrix")
    Tx.cta.copy(C, q)


@T.prim_func
def groups_plain(A: T.Buffer((3, 64, 64), "float16"), B: T.Buffer((3, 64, 64), "float16"), C: T.Buffer((128, 16), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    if t < 64:
        for s in range(3):
            for j in range(64):
                B[s, t, j] = A[s, t, j]
        for s in range(2):
            for j in range(16):
                C[s * 64 + t, j] = A[s, t, j]
