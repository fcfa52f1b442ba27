# SPDX-License-Identifier: Apache-2.0
# gemm_async of every kind of tcgen05.mma: types, accumulators, datapaths, swizzles and which way the operands lie,
# against one thread that multiplies numbers that it decodes itself. `# tmem: ENTRY BLOCK NAME:=VALUE... NAME=VALUE...`:
# NAME:= is a -D; `# ptxas:` is without nvcc; see run.sh.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, ComposeLayout, S, R, TLane, TCol

COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"


@T.inline
def reserve(slot, bar, warp, lane):
    if warp == 0:
        if lane == 0:
            T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"](slot.ptr_to([0]), T.uint32(512))
    T.ptx["fence.proxy.async.shared::cta"]()
    T.cuda.cta_sync()


@T.inline
def release(slot, warp):
    T.cuda.cta_sync()
    if warp == 0:
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned"]()
        T.ptx["tcgen05.dealloc.cta_group::1.sync.aligned.b32"](slot[0], T.uint32(512))


@T.inline
def await_phase(bar, phase):
    done: T.bool = False
    while done == False:
        T.ptx["mbarrier.try_wait.parity.shared.b64"](done, bar.ptr_to([0]), phase)
    T.ptx["tcgen05.fence::after_thread_sync"]()


@T.inline
def published():
    T.ptx["fence.proxy.async.shared::cta"]()
    T.cuda.cta_sync()


@T.inline
def add_up(D, A, B, m, n, k, type_a, type_b, type_d):
    """One thread: D = A B^T. A and B give element (row, k) as float32."""
    for i in range(m):
        for j in range(n):
            total: T.float32 = 0.0
            for x in range(k):
                total = total + decoded(A, i, x, type_a) * decoded(B, j, x, type_b)
            D[i, j] = T.cast(total, type_d)


def decoded(A, i, k, type):
    """Element k of row i: of the type, or of 16 bytes that hold 16 of 4 or 6 bits."""
    if type == "float4_e2m1fn":
        code = T.cast(A[i, k // 16 * 16 + k % 16 // 2], "int32") >> k % 2 * 4 & 15
        return small(code, 2, 1, 1)
    if type == "float6_e2m3fn" or type == "float6_e3m2fn":
        bit = k % 16 * 6
        low = T.cast(A[i, k // 16 * 16 + bit // 8], "int32")
        high = T.cast(A[i, k // 16 * 16 + bit // 8 + 1], "int32")
        code = (low | high << 8) >> bit % 8 & 63
        return small(code, 2, 3, 1) if type == "float6_e2m3fn" else small(code, 3, 2, 3)
    return T.cast(A[i, k], "float32")


def small(code, exponents, mantissas, bias):
    """A number of few bits by its formula."""
    exponent = code >> mantissas & (1 << exponents) - 1
    mantissa = T.cast(code & (1 << mantissas) - 1, "float32") / T.float32(1 << mantissas)
    subnormal = mantissa * T.exp2(T.float32(1 - bias))
    normal = (mantissa + T.float32(1)) * T.exp2(T.cast(exponent - bias, "float32"))
    magnitude = T.Select(exponent == 0, subnormal, normal)
    return T.Select(code >> exponents + mantissas == 0, magnitude, -magnitude)


MAY = {"float4_e2m1fn": "uint8", "float6_e2m3fn": "uint8", "float6_e3m2fn": "uint8"}


# Types and accumulators.
# ptxas: types 128 TA:="float16" TB:="float16" TD:="float16" M:=128 N:=48 K:=32 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# tmem: types 128 TA:="float16" TB:="float16" TD:="float16" M:=64 N:=32 K:=32 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# tmem: types 128 TA:="float8_e4m3fn" TB:="float8_e5m2" TD:="float16" M:=128 N:=64 K:=64 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: types 128 TA:="float8_e5m2" TB:="float8_e4m3fn" TD:="float32" M:=64 N:=64 K:=64 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: types 128 TA:="float4_e2m1fn" TB:="float4_e2m1fn" TD:="float32" M:=128 N:=32 K:=64 A=randint:0:256:1 B=randint:0:256:2 D=zeros
# tmem: types 128 TA:="float6_e2m3fn" TB:="float6_e3m2fn" TD:="float32" M:=128 N:=32 K:=64 A=randint:0:256:3 B=randint:0:256:4 D=zeros
# ptxas: types 128 TA:="float4_e2m1fn" TB:="float8_e4m3fn" TD:="float32" M:=64 N:=16 K:=32 A=randint:0:256:1 B=randint:-3:4:2 D=zeros
@T.prim_func
def types(A: T.Buffer((M, K), MAY.get(TA, TA)), B: T.Buffer((N, K), MAY.get(TB, TB)), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((M, K), A.dtype, layout=T.mma_shared_layout(A.dtype, "auto", (M, K)))
    Bs = T.alloc_shared((N, K), B.dtype, layout=T.mma_shared_layout(B.dtype, "auto", (N, K)))
    reserve(slot, bar, warp, lane)
    where = T.meta_var(T.tmem_mma_operand_layout("D", (M, N), TD, M=M, cta_group=1))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((M, N), TD, scope="tmem", layout=where)])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        Tx.warp.gemm_async(acc[:, :], As[:, :], Bs[:, :], A_type=TA if TA in MAY else None, B_type=TB if TB in MAY else None)
        if T.ptx.elect_sync():
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((M, N), TD, layout=T.wg_local_layout(N) if M == 128 else T.tcgen05_atom_layout("16x64b", (M, N), TD))
    Tx.wg.copy_async(r[:, :], acc[:, :])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def types_plain(A: T.Buffer((M, K), MAY.get(TA, TA)), B: T.Buffer((N, K), MAY.get(TB, TB)), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        add_up(D, A, B, M, N, K, TA, TB, TD)


def lying(type, mode, rows, k, across):
    """Shape and layout of an operand; across: its rows lie along memory. A mode of "32": atoms of 32 bytes."""
    shape = (k, rows) if across else (rows, k)
    if mode == "32":
        tile = TileLayout(S[(k, rows // 32, 32) : (32, k * 32, 1)])
        return ComposeLayout(3, 2, 2, tile)
    return T.mma_shared_layout(type, mode, shape)


# Which way operands lie, under every swizzle.
# ptxas: lies 128 TY:="float16" TD:="float32" M:=128 N:=64 K:=32 TA:=True TB:=False MA:="128B" MB:="64B" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# tmem: lies 128 TY:="float16" TD:="float32" M:=64 N:=32 K:=32 TA:=True TB:=True MA:="64B" MB:="32B" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: lies 128 TY:="bfloat16" TD:="float32" M:=128 N:=32 K:=32 TA:=False TB:=True MA:="none" MB:="none" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: lies 128 TY:="float8_e4m3fn" TD:="float32" M:=128 N:=128 K:=32 TA:=True TB:=True MA:="128B" MB:="128B" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: lies 128 TY:="int8" TD:="int32" M:=128 N:=32 K:=64 TA:=False TB:=True MA:="64B" MB:="32B" A=randint:-9:9:1 B=randint:-9:9:2 D=zeros
# tmem: lies 128 TY:="float32" TD:="float32" M:=128 N:=64 K:=16 TA:=True TB:=True MA:="32" MB:="32" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: lies 128 TY:="float32" TD:="float32" M:=128 N:=64 K:=32 TA:=False TB:=True MA:="128B" MB:="32" A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
@T.prim_func
def lies(A: T.Buffer((K, M) if TA else (M, K), TY), B: T.Buffer((K, N) if TB else (N, K), TY), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared(A.shape, TY, layout=lying(TY, MA, M, K, TA))
    Bs = T.alloc_shared(B.shape, TY, layout=lying(TY, MB, N, K, TB))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((M, N), TD, scope="tmem", layout=T.tmem_mma_operand_layout("D", (M, N), TD, M=M, cta_group=1))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], transA=TA, transB=TB)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((M, N), TD, layout=T.wg_local_layout(N) if M == 128 else T.tcgen05_atom_layout("16x256b", (M, N), TD))
    Tx.wg.copy_async(r[:, :], acc[:, :])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def lies_plain(A: T.Buffer((K, M) if TA else (M, K), TY), B: T.Buffer((K, N) if TB else (N, K), TY), D: T.Buffer((M, N), TD)):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(M):
            for j in range(N):
                total: T.float32 = 0.0
                for k in range(K):
                    x = T.meta_var(A[k, i] if TA else A[i, k])
                    y = T.meta_var(B[k, j] if TB else B[j, k])
                    total = total + T.cast(x, "float32") * T.cast(y, "float32")
                D[i, j] = T.cast(total, TD)


# What lies along memory is for the layout to say: A and B through transposed views of their storage.
# ptxas: turned 128 M:=128 N:=64 K:=64 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
@T.prim_func
def turned(A: T.Buffer((K, M), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((K, M), "float16", layout=T.mma_shared_layout("float16", "128B", (K, M)))
    Bs = T.alloc_shared((N, K), "float16", layout=T.mma_shared_layout("float16", "128B", (N, K)))
    Ar = T.meta_var(As.permute(1, 0))
    Br = T.meta_var(Bs.permute(1, 0))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((M, N), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", M, N))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc[:, :], Ar[:, :], Br[:, :], transA=False, transB=True)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((M, N), "float32", layout=T.wg_local_layout(N))
    Tx.wg.copy_async(r[:, :], acc[:, :])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def turned_plain(A: T.Buffer((K, M), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(M):
            for j in range(N):
                D[i, j] = T.float32(0)
                for k in range(K):
                    D[i, j] = D[i, j] + T.cast(A[k, i], "float32") * T.cast(B[j, k], "float32")


# Weight stationary: datapaths D, E and G, A from shared memory, or from tensor memory with a copy for each fold.
# ptxas: stationary 128 M:=128 N:=64 K:=32 HERE:=False A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# tmem: stationary 128 M:=128 N:=512 K:=16 HERE:=False A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: stationary 128 M:=64 N:=128 K:=32 HERE:=False A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: stationary 128 M:=32 N:=128 K:=32 HERE:=False A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# tmem: stationary 128 M:=64 N:=64 K:=32 HERE:=True A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
# ptxas: stationary 128 M:=32 N:=64 K:=32 HERE:=True A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
@T.prim_func
def stationary(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((M, K), "float16", layout=T.mma_shared_layout("float16", "auto", (M, K)))
    Bs = T.alloc_shared((N, K), "float16", layout=T.mma_shared_layout("float16", "auto", (N, K)))
    reserve(slot, bar, warp, lane)
    letter = T.meta_var({128: "D", 64: "E", 32: "G"}[M])
    folds = T.meta_var(128 // M)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((M, N), "float32", scope="tmem", layout=T.tmem_datapath_layout(letter, M, N))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            if HERE:
                shape = T.meta_var("64x128b" if M == 64 else "32x128b")
                cast = T.meta_var("warpx2::02_13" if M == 64 else "warpx4")
                cells = T.cuda.decl_tmem(slot[0] + 256, ty_args=[T.Tensor((M, K), "float16", scope="tmem", layout=T.tcgen05_cp_layout(shape, K, cast))])
                Tx.copy_async(cells[:, :], As[:, :])
                Tx.gemm_async(acc[:, :], cells[:, :], Bs[:, :], weight_stationary=True)
            else:
                Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], weight_stationary=True)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    # a row of the lanes for each thread: its fold of the columns
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, N // folds), "float32", scope="tmem", layout=TileLayout(S[(128, N // folds) : (1 @ TLane, 1 @ TCol)]))])
    r = T.alloc_local((128, N // folds), "float32", layout=T.wg_local_layout(N // folds))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    t = T.meta_var(warp * 32 + lane)
    Tx.copy(D[t % M, t // M * (N // folds) : t // M * (N // folds) + N // folds], r.local(N // folds)[:])
    release(slot, warp)


@T.prim_func
def stationary_plain(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        add_up(D, A, B, M, N, K, "float16", "float16", "float32")


# Scale factors, brought by tcgen05.cp. Whole tiles; N of no whole window; more columns than one instruction has.
# ptxas: scaled 128 TA:="float8_e4m3fn" TB:="float8_e5m2" TS:="float8_e8m0fnu" PER:=1 N:=64 K:=128 A=randint:-3:4:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# tmem: scaled 128 TA:="float8_e5m2" TB:="float8_e5m2" TS:="float8_e8m0fnu" PER:=1 N:=40 K:=256 A=randint:-3:4:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# ptxas: scaled 128 TA:="float4_e2m1fn" TB:="float4_e2m1fn" TS:="float8_e8m0fnu" PER:=2 N:=64 K:=256 A=randint:0:256:1 B=randint:0:256:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# ptxas: scaled 128 TA:="float4_e2m1fn" TB:="float4_e2m1fn" TS:="float8_e8m0fnu" PER:=4 N:=64 K:=128 A=randint:0:256:1 B=randint:0:256:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# tmem: scaled 128 TA:="float4_e2m1fn" TB:="float4_e2m1fn" TS:="float8_e4m3fn" PER:=4 N:=128 K:=64 A=randint:0:256:1 B=randint:0:256:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# ptxas: scaled 128 TA:="float8_e4m3fn" TB:="float8_e4m3fn" TS:="float8_e8m0fnu" PER:=1 N:=384 K:=128 A=randint:-3:4:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
def stored(rows, k, type):
    return (rows, k // 2) if "4_" in type else (rows, k)


def unpacked(x, i, k, type):
    """Element k of row i, two to a byte where it has 4 bits, which PTX does not convert."""
    if type == "float4_e2m1fn":
        return small(T.cast(x[i, k // 2], "int32") >> k % 2 * 4 & 15, 2, 1, 1)
    return T.cast(x[i, k], "float32")


@T.prim_func
def scaled(A: T.Buffer(stored(128, K, TA), MAY.get(TA, TA)), B: T.Buffer(stored(N, K, TB), MAY.get(TB, TB)), U: T.Buffer((128, K // (64 if "4_" in TA else 32) * PER), TS), V: T.Buffer((N, K // (64 if "4_" in TA else 32) * PER), TS), D: T.Buffer((128, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    F = T.meta_var(U.shape[1])
    Ag = T.decl_buffer((128, K), TA, data=A.data)
    Bg = T.decl_buffer((N, K), TB, data=B.data)
    rows = T.meta_var((N + 127) // 128 * 128)
    pool = T.SMEMPool()
    slot = pool.alloc((1,), "uint32")
    bar = pool.alloc((1,), "uint64")
    As = pool.alloc_tcgen05_mma_AB((128, K), TA)
    Bs = pool.alloc_tcgen05_mma_AB((N, K), TB)
    Us = pool.alloc((128, F), TS, layout=T.sf_smem_layout(128, F, PER), align=128)
    Vs = pool.alloc((rows, F), TS, layout=T.sf_smem_layout(rows, F, PER), align=128)
    pool.commit()
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, N), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, N))])
    Ut = T.cuda.decl_tmem(slot[0] + 384, ty_args=[T.Tensor((128, F), TS, scope="tmem", layout=T.sf_tmem_layout(128, F, PER))])
    Vt = T.cuda.decl_tmem(slot[0] + 448, ty_args=[T.Tensor((rows, F), TS, scope="tmem", layout=T.sf_tmem_layout(rows, F, PER))])
    Tx.cta.copy(As[:, :], Ag[:, :])
    Tx.cta.copy(Bs[:, :], Bg[:, :])
    Tx.cta.copy(Us[:, :], U[:, :])
    Tx.cta.copy(Vs[0:N, :], V[:, :])
    if N < rows:
        Tx.cta.copy(Vs[N:rows, :], U[0 : rows - N, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(Ut[:, :], Us[:, :])
            Tx.copy_async(Vt[:, :], Vs[:, :], shape="32x128b", multicast="warpx4")
            Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], SFA=Ut[:, :], SFB=Vt[0 : (N + 31) // 32 * 32, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, N), "float32", layout=T.wg_local_layout(N))
    Tx.wg.copy_async(r, acc)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    release(slot, warp)


@T.prim_func
def scaled_plain(A: T.Buffer(stored(128, K, TA), MAY.get(TA, TA)), B: T.Buffer(stored(N, K, TB), MAY.get(TB, TB)), U: T.Buffer((128, K // (64 if "4_" in TA else 32) * PER), TS), V: T.Buffer((N, K // (64 if "4_" in TA else 32) * PER), TS), D: T.Buffer((128, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    each = T.meta_var((64 if "4_" in TA else 32) // PER)
    for j in range(N):
        total: T.float32 = 0.0
        for k in range(K):
            scale = T.meta_var(T.cast(U[t, k // each], "float32") * T.cast(V[j, k // each], "float32"))
            total = total + unpacked(A, t, k, TA) * unpacked(B, j, k, TB) * scale
        D[t, j] = total


@T.inline
def put(column, bytes, row, count):
    """The factors of a row to the cell of this lane and column."""
    word: T.uint32 = 0
    for s in T.unroll(count):
        word = word | T.cast(bytes[row, s], "uint32") << 8 * s
    T.ptx["tcgen05.st.sync.aligned.32x32b.x1.b32"](column + (T.cast(T.cuda.warp_id(), "uint32") << 21), word)


# Two CTAs of a cluster as one unit, M = 256 and M = 128 with a half of the columns in each half of the lanes: each CTA has
# the factors of its rows of A and those of all rows of B, written to tensor memory by its threads.
# tmem: scaled_pair 128@2 M:=128 N:=64 K:=64 A=randint:-3:4:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
# ptxas: scaled_pair 128@2 M:=64 N:=128 K:=128 A=randint:-3:4:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
@T.prim_func
def scaled_pair(A: T.Buffer((2 * M, K), "float8_e4m3fn"), B: T.Buffer((N, K), "float8_e4m3fn"), U: T.Buffer((2 * M, K // 32), "float8_e8m0fnu"), V: T.Buffer((N, K // 32), "float8_e8m0fnu"), D: T.Buffer((2 * M, N), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128,), cluster=(2,)))
    rank = T.cuda.block_idx("x")
    warp = T.cuda.warp_id()
    lane = T.cuda.lane_id()
    F = T.meta_var(K // 32)
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((M, K), "float8_e4m3fn", layout=T.mma_shared_layout("float8_e4m3fn", "auto", (M, K)))
    Bs = T.alloc_shared((N // 2, K), "float8_e4m3fn", layout=T.mma_shared_layout("float8_e4m3fn", "auto", (N // 2, K)))
    if warp == 0:
        if lane == 0:
            T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
            T.ptx["fence.mbarrier_init.release.cluster"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if warp == 0:
        T.ptx["tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32"](slot.ptr_to([0]), T.uint32(256))
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned"]()
    T.cuda.cta_sync()
    letter = T.meta_var("A" if M == 128 else "B")
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((M, N), "float32", scope="tmem", layout=T.tmem_datapath_layout(letter, M, N))])
    where = T.meta_var(T.sf_tmem_layout(N, F, 1) if M == 128 else TileLayout(S[(2, N // 64, 32, F) : (64 @ TLane, 4 @ TCol, 1 @ TLane, 1 @ TCol)] + R[2 : 32 @ TLane]))
    Ut = T.cuda.decl_tmem(slot[0] + 128, ty_args=[T.Tensor((M, F), "float8_e8m0fnu", scope="tmem", layout=T.sf_tmem_layout(M, F, 1))])
    Vt = T.cuda.decl_tmem(slot[0] + 160, ty_args=[T.Tensor((N, F), "float8_e8m0fnu", scope="tmem", layout=where)])
    Tx.cta.copy(As[:, :], A[rank * M : rank * M + M, :])
    Tx.cta.copy(Bs[:, :], B[rank * (N // 2) : rank * (N // 2) + N // 2, :])
    Ub = T.decl_buffer((2 * M, F), "uint8", data=U.data)
    Vb = T.decl_buffer((N, F), "uint8", data=V.data)
    for i in T.unroll(M // 32):
        put(slot[0] + 128 + i, Ub, rank * M + i * 32 + lane, F)
    for i in T.unroll(N // 32 if M == 128 else N // 64):
        put(slot[0] + 160 + i, Vb, i * 32 + lane + (0 if M == 128 else warp // 2 * (N // 2)), F)
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.ptx["fence.proxy.async.shared::cta"]()
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    T.ptx["tcgen05.fence::after_thread_sync"]()
    if rank == 0:
        if warp == 0:
            if lane == 0:
                Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], SFA=Ut[:, :], SFB=Vt[:, :], cta_group=2)
                T.ptx["tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](bar.ptr_to([0]), T.uint16(3))
    await_phase(bar, 0)
    folds = T.meta_var(128 // M)
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, N // folds), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, N // folds))])
    r = T.alloc_local((128, N // folds), "float32", layout=T.wg_local_layout(N // folds))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    t = T.meta_var(warp * 32 + lane)
    Tx.copy(D[rank * M + t % M, t // M * (N // folds) : t // M * (N // folds) + N // folds], r.local(N // folds)[:])
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if warp == 0:
        T.ptx["tcgen05.dealloc.cta_group::2.sync.aligned.b32"](slot[0], T.uint32(256))


@T.prim_func
def scaled_pair_plain(A: T.Buffer((2 * M, K), "float8_e4m3fn"), B: T.Buffer((N, K), "float8_e4m3fn"), U: T.Buffer((2 * M, K // 32), "float8_e8m0fnu"), V: T.Buffer((N, K // 32), "float8_e8m0fnu"), D: T.Buffer((2 * M, N), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    for i in range(2 * M // 128):
        for j in range(N):
            total: T.float32 = 0.0
            row = T.meta_var(i * 128 + t)
            for k in range(K):
                scale = T.meta_var(T.cast(U[row, k // 32], "float32") * T.cast(V[j, k // 32], "float32"))
                total = total + T.cast(A[row, k], "float32") * T.cast(B[j, k], "float32") * scale
            D[row, j] = total


# Parts of the factors: of several stages, a step of K that begins inside a cell, factors that several steps share, a start
# that only a run knows, and elements of 4 bits beside some of 8.
# tmem: parts 128 K:=128 A=randint:0:256:1 B=randint:-3:4:2 U=randint:1:9:3 V=randint:1:9:4 D=zeros
@T.prim_func
def parts(A: T.Buffer((128, K), "uint8"), B: T.Buffer((32, K), "float8_e4m3fn"), U: T.Buffer((128, K // 32), "float8_e8m0fnu"), V: T.Buffer((32, K // 128), "float8_e8m0fnu"), D: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    F = T.meta_var(K // 32)
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, K), "uint8", layout=T.mma_shared_layout("uint8", "auto", (128, K)))
    Bs = T.alloc_shared((32, K), "float8_e4m3fn", layout=T.mma_shared_layout("float8_e4m3fn", "auto", (32, K)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, 32))])
    Ut = T.cuda.decl_tmem(slot[0] + 384, ty_args=[T.Tensor((2, 128, F), "float8_e8m0fnu", scope="tmem", layout=T.sf_tmem_layout(128, F, 1, pipe_depth=2))])
    Vt = T.cuda.decl_tmem(slot[0] + 448, ty_args=[T.Tensor((32, F), "float8_e8m0fnu", scope="tmem", layout=T.sf_tmem_layout(32, F // 4, 1, sf_reuse=4))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    Ub = T.decl_buffer((128, F), "uint8", data=U.data)
    Vb = T.decl_buffer((32, K // 128), "uint8", data=V.data)
    for stage in T.unroll(2):
        for i in T.unroll(4):
            put(slot[0] + 384 + stage * 4 + i, Ub, i * 32 + lane, F)
    put(slot[0] + 448, Vb, lane, K // 128)
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.ptx["tcgen05.fence::before_thread_sync"]()
    published()
    T.ptx["tcgen05.fence::after_thread_sync"]()
    if warp == 0:
        if lane == 0:
            for i in T.serial(1):
                Tx.gemm_async(acc[:, :], As[:, 0 : K // 2], Bs[:, 0 : K // 2], SFA=Ut[i, :, 0 : F // 2], SFB=Vt[:, 0 : F // 2], A_type="float4_e2m1fn")
                Tx.gemm_async(acc[:, :], As[:, K // 2 : K], Bs[:, K // 2 : K], SFA=Ut[1 - i, :, F // 2 : F], SFB=Vt[:, F // 2 : F], A_type="float4_e2m1fn", accum=True)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 32), "float32", layout=T.wg_local_layout(32))
    Tx.wg.copy_async(r, acc)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    release(slot, warp)


@T.prim_func
def parts_plain(A: T.Buffer((128, K), "uint8"), B: T.Buffer((32, K), "float8_e4m3fn"), U: T.Buffer((128, K // 32), "float8_e8m0fnu"), V: T.Buffer((32, K // 128), "float8_e8m0fnu"), D: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    for j in range(32):
        total: T.float32 = 0.0
        for k in range(K):
            scale = T.meta_var(T.cast(U[t, k // 32], "float32") * T.cast(V[j, k // 128], "float32"))
            total = total + decoded(A, t, k, "float4_e2m1fn") * T.cast(B[j, k], "float32") * scale
        D[t, j] = total


# Columns from a pool that knows what they are for: A in tensor memory, an accumulator of float16, one by its datapath.
# ptxas: pools 128 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros E=zeros
@T.prim_func
def pools(A: T.Buffer((128, 32), "float16"), B: T.Buffer((64, 32), "float16"), D: T.Buffer((128, 64), "float16"), E: T.Buffer((64, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem, total_cols=256)
    bar = smem.alloc((1,), "uint64", align=8)
    As = smem.alloc_tcgen05_mma_AB((128, 32), "float16")
    Bs = smem.alloc_tcgen05_mma_AB((64, 32), "float16")
    smem.commit()
    d = columns.alloc_tcgen05_mma_D((128, 64), "float16", M=128, cta_group=1)
    a = columns.alloc_tcgen05_mma_A((128, 32), "float16", M=128, cta_group=1)
    e = columns.alloc((64, 64), "float32", datapath="F")
    if T.cuda.thread_rank() == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
    columns.commit()
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    w = T.alloc_local((128, 32), "float16", layout=T.wg_local_layout(32))
    Tx.wg.copy(w, A)
    Tx.wg.copy_async(a, w)
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.cuda.cta_sync()
    T.ptx["tcgen05.fence::after_thread_sync"]()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(d[:, :], a[:, :], Bs[:, :])
            Tx.gemm_async(e[:, :], As[0:64, :], Bs[:, :], mma_m=64, mma_n=32)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 64), "float16", layout=T.wg_local_layout(64))
    x = T.alloc_local((64, 64), "float32", layout=T.tcgen05_atom_layout("16x64b", (64, 64), "float32"))
    Tx.wg.copy_async(r, d)
    Tx.wg.copy_async(x, e)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    Tx.wg.copy(E, x)
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.cuda.cta_sync()
    columns.dealloc()


@T.prim_func
def pools_plain(A: T.Buffer((128, 32), "float16"), B: T.Buffer((64, 32), "float16"), D: T.Buffer((128, 64), "float16"), E: T.Buffer((64, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        add_up(D, A, B, 128, 64, 32, "float16", "float16", "float16")
        add_up(E, A, B, 64, 64, 32, "float16", "float16", "float32")
