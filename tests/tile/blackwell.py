# SPDX-License-Identifier: Apache-2.0
# Tile operations on tensor memory against one thread that does the same with small whole numbers, of which every sum is
# exact. `# tmem: ENTRY BLOCK NAME=VALUE...`: on three schedules, and what nvcc makes of its CUDA.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S, TLane, TCol, tid_in_wg

FULL = TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)])
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


# One tile.
# tmem: single 128 A=randint:-3:4:1 B=randint:-3:4:2 D=zeros
@T.prim_func
def single(A: T.Buffer((128, 64), "float16"), B: T.Buffer((128, 64), "float16"), D: T.Buffer((128, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, 64), "float16", layout=T.mma_shared_layout("float16", 3, (128, 64)))
    Bs = T.alloc_shared((128, 64), "float16", layout=T.mma_shared_layout("float16", 3, (128, 64)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc[:, 64:192], As[:, :], Bs[:, :], accum=False, dispatch="tcgen05", cta_group=1)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 128), "float32", layout=T.wg_local_layout(128))
    Tx.wg.copy_async(r[:, :], acc[:, 64:192])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def single_plain(A: T.Buffer((128, 64), "float16"), B: T.Buffer((128, 64), "float16"), D: T.Buffer((128, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(128):
                D[i, j] = T.cast(0, "float32")
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")

# K in five steps through two stages of shared memory.
# tmem: stages 128 A=randint:-3:4:3 B=randint:-3:4:4 D=zeros
@T.prim_func
def stages(A: T.Buffer((128, 160), "bfloat16"), B: T.Buffer((64, 160), "bfloat16"), D: T.Buffer((128, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((2, 128, 32), "bfloat16", layout=T.mma_shared_layout("bfloat16", 2, (2, 128, 32)))
    Bs = T.alloc_shared((2, 64, 32), "bfloat16", layout=T.mma_shared_layout("bfloat16", 2, (2, 64, 32)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    for i in T.serial(5):
        Tx.cta.copy(As[i % 2, :, :], A[:, i * 32 : i * 32 + 32])
        Tx.cta.copy(Bs[i % 2, :, :], B[:, i * 32 : i * 32 + 32])
        published()
        if warp == 0:
            if lane == 0:
                Tx.gemm_async(acc[:, 0:64], As[i % 2, :, :], Bs[i % 2, :, :], accum=(i != 0))
                T.ptx[COMMIT](bar.ptr_to([0]))
        await_phase(bar, i % 2)
    r = T.alloc_local((128, 64), "float32", layout=T.tcgen05_atom_layout("16x256b", (128, 64), "float32"))
    Tx.wg.copy_async(r[:, :], acc[:, 0:64])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def stages_plain(A: T.Buffer((128, 160), "bfloat16"), B: T.Buffer((64, 160), "bfloat16"), D: T.Buffer((128, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(64):
                D[i, j] = T.cast(0, "float32")
                for k in range(160):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")

# M = 64 over datapath F, and B with its columns together.
# tmem: across 128 A=randint:-3:4:5 B=randint:-3:4:6 D=zeros
@T.prim_func
def across(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 192), "float16"), D: T.Buffer((64, 192), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", 1, (64, 64)))
    Bs = T.alloc_shared((64, 192), "float16", layout=T.mma_shared_layout("float16", 3, (64, 192)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((64, 192), "float32", scope="tmem", layout=T.tmem_datapath_layout("F", 64, 192))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], transB=True)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((64, 64), "float32", layout=T.tcgen05_atom_layout("16x128b", (64, 64), "float32"))
    for j in T.unroll(3):
        Tx.wg.copy_async(r[:, :], acc[:, j * 64 : j * 64 + 64])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        Tx.wg.copy(D[:, j * 64 : j * 64 + 64], r[:, :])
    release(slot, warp)


@T.prim_func
def across_plain(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 192), "float16"), D: T.Buffer((64, 192), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(64):
            for j in range(192):
                D[i, j] = T.cast(0, "float32")
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[k, j], "float32")

# A in tensor memory, stored there from registers.
# tmem: inside 128 A=randint:-3:4:7 B=randint:-3:4:8 D=zeros
@T.prim_func
def inside(A: T.Buffer((128, 64), "float16"), B: T.Buffer((32, 64), "float16"), D: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    Bs = T.alloc_shared((32, 64), "float16", layout=T.mma_shared_layout("float16", 3, (32, 64)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    p = T.cuda.decl_tmem(slot[0] + T.uint32(64), ty_args=[T.Tensor((128, 64), "float16", scope="tmem", layout=TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)]))])
    h = T.alloc_local((128, 64), "float16", layout=T.wg_local_layout(64))
    Tx.wg.copy(h[:, :], A[:, :])
    Tx.wg.copy_async(p[:, :], h[:, :])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.cta.copy(Bs[:, :], B[:, :])
    T.ptx["tcgen05.fence::before_thread_sync"]()
    published()
    if warp == 0:
        if lane == 0:
            T.ptx["tcgen05.fence::after_thread_sync"]()
            Tx.gemm_async(acc[:, 0:32], p[:, :], Bs[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 32), "float32", layout=T.wg_local_layout(32))
    Tx.wg.copy_async(r[:, :], acc[:, 0:32])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[:, :], r[:, :])
    release(slot, warp)


@T.prim_func
def inside_plain(A: T.Buffer((128, 64), "float16"), B: T.Buffer((32, 64), "float16"), D: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                D[i, j] = T.cast(0, "float32")
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")

# Elements of int8.
# tmem: bytes 128 A=randint:-3:4:9 B=randint:-3:4:10 D=zeros
@T.prim_func
def bytes(A: T.Buffer((128, 128), "int8"), B: T.Buffer((16, 128), "int8"), D: T.Buffer((128, 16), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, 128), "int8", layout=T.mma_shared_layout("int8", 3, (128, 128)))
    Bs = T.alloc_shared((16, 128), "int8", layout=T.mma_shared_layout("int8", 0, (16, 128)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "int32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, 16))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc, As, Bs)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 16), "int32", layout=T.wg_local_layout(16))
    Tx.wg.copy_async(r, acc)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    release(slot, warp)


@T.prim_func
def bytes_plain(A: T.Buffer((128, 128), "int8"), B: T.Buffer((16, 128), "int8"), D: T.Buffer((128, 16), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(16):
                D[i, j] = T.cast(0, "int32")
                for k in range(128):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "int32") * T.cast(B[j, k], "int32")

# Elements of float8_e4m3fn, made from others.
# tmem: eights 128 A=randint:-3:4:9 B=randint:-3:4:10 D=zeros
@T.prim_func
def eights(A: T.Buffer((128, 64), "float32"), B: T.Buffer((16, 64), "float32"), D: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, 64), "float8_e4m3fn", layout=T.mma_shared_layout("float8_e4m3fn", 2, (128, 64)))
    Bs = T.alloc_shared((16, 64), "float8_e4m3fn", layout=T.mma_shared_layout("float8_e4m3fn", 0, (16, 64)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, 16))])
    Tx.cta.cast(As[:, :], A[:, :])
    Tx.cta.cast(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc, As, Bs)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 16), "float32", layout=T.wg_local_layout(16))
    Tx.wg.copy_async(r, acc)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    release(slot, warp)


@T.prim_func
def eights_plain(A: T.Buffer((128, 64), "float32"), B: T.Buffer((16, 64), "float32"), D: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(16):
                D[i, j] = T.cast(0, "float32")
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")

# Elements of float32.
# tmem: tf 128 A=randint:-3:4:9 B=randint:-3:4:10 D=zeros
@T.prim_func
def tf(A: T.Buffer((128, 32), "float32"), B: T.Buffer((16, 32), "float32"), D: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, 32), "float32", layout=T.mma_shared_layout("float32", 3, (128, 32)))
    Bs = T.alloc_shared((16, 32), "float32", layout=T.mma_shared_layout("float32", 0, (16, 32)))
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "float32", scope="tmem", layout=T.tmem_datapath_layout("D", 128, 16))])
    Tx.cta.copy(As[:, :], A[:, :])
    Tx.cta.copy(Bs[:, :], B[:, :])
    published()
    if warp == 0:
        if lane == 0:
            Tx.gemm_async(acc, As, Bs)
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 16), "float32", layout=T.wg_local_layout(16))
    Tx.wg.copy_async(r, acc)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D, r)
    release(slot, warp)


@T.prim_func
def tf_plain(A: T.Buffer((128, 32), "float32"), B: T.Buffer((16, 32), "float32"), D: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(16):
                D[i, j] = T.cast(0, "float32")
                for k in range(32):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")

# Stored as 32x32b, loaded as another shape.
# tmem: around_32x32b 128 A=randn:0 B=zeros
@T.prim_func
def around_32x32b(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    r = T.alloc_local((128, 32), "float32", layout=T.wg_local_layout(32))
    q = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x64b", (128, 32), "float32"))
    Tx.wg.copy(r, A)
    Tx.wg.copy_async(cells[:, 40:72], r[:, :])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.wg.copy_async(q[:, :], cells[:, 40:72])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, q)
    release(slot, warp)


@T.prim_func
def around_32x32b_plain(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                B[i, j] = A[i, j]

# Stored as 16x64b, loaded as another shape.
# tmem: around_16x64b 128 A=randn:1 B=zeros
@T.prim_func
def around_16x64b(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    r = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x64b", (128, 32), "float32"))
    q = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x128b", (128, 32), "float32"))
    Tx.wg.copy(r, A)
    Tx.wg.copy_async(cells[:, 40:72], r[:, :])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.wg.copy_async(q[:, :], cells[:, 40:72])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, q)
    release(slot, warp)


@T.prim_func
def around_16x64b_plain(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                B[i, j] = A[i, j]

# Stored as 16x128b, loaded as another shape.
# tmem: around_16x128b 128 A=randn:2 B=zeros
@T.prim_func
def around_16x128b(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    r = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x128b", (128, 32), "float32"))
    q = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x256b", (128, 32), "float32"))
    Tx.wg.copy(r, A)
    Tx.wg.copy_async(cells[:, 40:72], r[:, :])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.wg.copy_async(q[:, :], cells[:, 40:72])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, q)
    release(slot, warp)


@T.prim_func
def around_16x128b_plain(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                B[i, j] = A[i, j]

# Stored as 16x256b, loaded as another shape.
# tmem: around_16x256b 128 A=randn:3 B=zeros
@T.prim_func
def around_16x256b(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    r = T.alloc_local((128, 32), "float32", layout=T.tcgen05_atom_layout("16x256b", (128, 32), "float32"))
    q = T.alloc_local((128, 32), "float32", layout=T.wg_local_layout(32))
    Tx.wg.copy(r, A)
    Tx.wg.copy_async(cells[:, 40:72], r[:, :])
    T.ptx["tcgen05.wait::st.sync.aligned"]()
    Tx.wg.copy_async(q[:, :], cells[:, 40:72])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, q)
    release(slot, warp)


@T.prim_func
def around_16x256b_plain(A: T.Buffer((128, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                B[i, j] = A[i, j]

# cp.async, in 16 bytes.
# tmem: background 128 A=arange B=zeros
@T.prim_func
def background(A: T.Buffer((64, 48), "float32"), B: T.Buffer((64, 48), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    s = T.alloc_shared((64, 48), "float32", layout=TileLayout(S[(64, 48) : (52, 1)]))
    Tx.cta.copy_async(s[:, :], A[:, :], dispatch="ldgsts")
    T.ptx["cp.async.commit_group"]()
    T.ptx["cp.async.wait_group"](0)
    T.cuda.cta_sync()
    Tx.cta.copy(B[:, :], s[:, :])


@T.prim_func
def background_plain(A: T.Buffer((64, 48), "float32"), B: T.Buffer((64, 48), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(64):
            for j in range(48):
                B[i, j] = A[i, j]

# Operands by TMA over an mbarrier's phases, the result by TMA from shared memory; tiles of a larger matrix.
# tmem: fed 128 A=randint:-3:4:11 B=randint:-3:4:12 D=zeros
@T.prim_func
def fed(A: T.Buffer((256, 192), "float16"), B: T.Buffer((64, 192), "float16"), D: T.Buffer((256, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    full = T.alloc_shared((1,), "uint64")
    pool = T.SMEMPool()
    As = pool.alloc((2, 128, 64), "float16", layout=T.mma_shared_layout("float16", 3, (2, 128, 64)))
    Bs = pool.alloc((64, 64), "float16", layout=T.mma_shared_layout("float16", 3, (64, 64)))
    Ds = pool.alloc((128, 64), "float32", layout=T.mma_shared_layout("float32", 3, (128, 64)))
    pool.commit()
    if warp == 0:
        if lane == 0:
            T.ptx["mbarrier.init.shared.b64"](full.ptr_to([0]), 1)
    reserve(slot, bar, warp, lane)
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 512), "float32", scope="tmem", layout=FULL)])
    r = T.alloc_local((128, 64), "float32", layout=T.wg_local_layout(64))
    for m in T.serial(2):
        for k in T.serial(3):
            if warp == 0:
                if lane == 0:
                    Tx.copy_async(As[k % 2, :, :], A[m * 128 : m * 128 + 128, k * 64 : k * 64 + 64], dispatch="tma_auto", mbar=full.ptr_to([0]))
                    Tx.copy_async(Bs[:, :], B[0:64, k * 64 : k * 64 + 64], dispatch="tma", mbar=full.ptr_to([0]))
                    T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, full.ptr_to([0]), (128 + 64) * 64 * 2)
            await_phase(full, (m * 3 + k) % 2)
            if warp == 0:
                if lane == 0:
                    Tx.gemm_async(acc[:, 0:64], As[k % 2, :, :], Bs[:, :], accum=(k != 0))
                    T.ptx[COMMIT](bar.ptr_to([0]))
            await_phase(bar, (m * 3 + k) % 2)
        Tx.wg.copy_async(r[:, :], acc[:, 0:64])
        T.ptx["tcgen05.wait::ld.sync.aligned"]()
        Tx.wg.copy(Ds[:, :], r[:, :])
        T.ptx["tcgen05.fence::before_thread_sync"]()
        published()
        if warp == 0:
            if lane == 0:
                T.ptx["tcgen05.fence::after_thread_sync"]()
                Tx.copy_async(D[m * 128 : m * 128 + 128, 0:64], Ds[:, :], dispatch="tma")
                T.ptx["cp.async.bulk.commit_group"]()
                T.ptx["cp.async.bulk.wait_group.read"](0)
        T.cuda.cta_sync()
    if warp == 0:
        if lane == 0:
            T.ptx["cp.async.bulk.wait_group"](0)
    release(slot, warp)


@T.prim_func
def fed_plain(A: T.Buffer((256, 192), "float16"), B: T.Buffer((64, 192), "float16"), D: T.Buffer((256, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(256):
            for j in range(64):
                D[i, j] = T.float32(0)
                for k in range(192):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")


# tcgen05.cp: 128 rows to the lanes.
# tmem: cp_128x256b 128 A=randn:7 B=zeros
@T.prim_func
def cp_128x256b(A: T.Buffer((128, 16), "float32"), B: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((128, 16), "float32", layout=T.mma_shared_layout("float32", 2, (128, 16)))
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "float32", scope="tmem", layout=T.tcgen05_cp_layout("128x256b", 16))])
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "float32", scope="tmem", layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]))])
    Tx.cta.copy(s, A)
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(cells[:, :], s[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 16), "float32", layout=T.wg_local_layout(16))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, r)
    release(slot, warp)


@T.prim_func
def cp_128x256b_plain(A: T.Buffer((128, 16), "float32"), B: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(16):
                B[i, j] = A[i, j]


# tcgen05.cp: 128 rows to the lanes.
# tmem: cp_128x128b 128 A=randn:7 B=zeros
@T.prim_func
def cp_128x128b(A: T.Buffer((128, 24), "float16"), B: T.Buffer((128, 24), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((128, 24), "float16", layout=T.mma_shared_layout("float16", 0, (128, 24)))
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 24), "float16", scope="tmem", layout=T.tcgen05_cp_layout("128x128b", 24))])
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 24), "float16", scope="tmem", layout=TileLayout(S[(128, 24) : (1 @ TLane, 1 @ TCol)]))])
    Tx.cta.copy(s, A)
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(cells[:, :], s[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 24), "float16", layout=T.wg_local_layout(24))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, r)
    release(slot, warp)


@T.prim_func
def cp_128x128b_plain(A: T.Buffer((128, 24), "float16"), B: T.Buffer((128, 24), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(24):
                B[i, j] = A[i, j]


# tcgen05.cp: 64 rows to the lanes.
# tmem: cp_64x128b 128 A=randn:7 B=zeros
@T.prim_func
def cp_64x128b(A: T.Buffer((64, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((64, 32), "float32", layout=T.mma_shared_layout("float32", 3, (64, 32)))
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((64, 32), "float32", scope="tmem", layout=T.tcgen05_cp_layout("64x128b", 32, "warpx2::02_13"))])
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem", layout=TileLayout(S[(128, 32) : (1 @ TLane, 1 @ TCol)]))])
    Tx.cta.copy(s, A)
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(cells[:, :], s[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 32), "float32", layout=T.wg_local_layout(32))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, r)
    release(slot, warp)


@T.prim_func
def cp_64x128b_plain(A: T.Buffer((64, 32), "float32"), B: T.Buffer((128, 32), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(32):
                B[i, j] = A[i % 64, j]


# tcgen05.cp: 64 rows to the lanes.
# tmem: cp_64x128b_pairs 128 A=randn:7 B=zeros
@T.prim_func
def cp_64x128b_pairs(A: T.Buffer((64, 16), "float32"), B: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((64, 16), "float32", layout=T.mma_shared_layout("float32", 2, (64, 16)))
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((64, 16), "float32", scope="tmem", layout=T.tcgen05_cp_layout("64x128b", 16, "warpx2::01_23"))])
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 16), "float32", scope="tmem", layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]))])
    Tx.cta.copy(s, A)
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(cells[:, :], s[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 16), "float32", layout=T.wg_local_layout(16))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, r)
    release(slot, warp)


@T.prim_func
def cp_64x128b_pairs_plain(A: T.Buffer((64, 16), "float32"), B: T.Buffer((128, 16), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(16):
                B[i, j] = A[i // 64 * 32 + i % 32, j]


# tcgen05.cp: 32 rows to the lanes.
# tmem: cp_32x128b 128 A=randn:7 B=zeros
@T.prim_func
def cp_32x128b(A: T.Buffer((32, 8), "float32"), B: T.Buffer((128, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    warp = T.warp_id([4])
    lane = T.lane_id([32])
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((32, 8), "float32", layout=T.mma_shared_layout("float32", 1, (32, 8)))
    reserve(slot, bar, warp, lane)
    cells = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((32, 8), "float32", scope="tmem", layout=T.tcgen05_cp_layout("32x128b", 8, "warpx4"))])
    whole = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 8), "float32", scope="tmem", layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))])
    Tx.cta.copy(s, A)
    published()
    if warp == 0:
        if lane == 0:
            Tx.copy_async(cells[:, :], s[:, :])
            T.ptx[COMMIT](bar.ptr_to([0]))
    await_phase(bar, 0)
    r = T.alloc_local((128, 8), "float32", layout=T.wg_local_layout(8))
    Tx.wg.copy_async(r, whole)
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(B, r)
    release(slot, warp)


@T.prim_func
def cp_32x128b_plain(A: T.Buffer((32, 8), "float32"), B: T.Buffer((128, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(128):
            for j in range(8):
                B[i, j] = A[i % 32, j]


# Two CTAs of a cluster as one unit: each holds its rows of A and half of B, and gets its rows of D.
# tmem: pair 128@2 A=randint:-3:4:13 B=randint:-3:4:14 D=zeros
@T.prim_func
def pair(A: T.Buffer((256, 64), "float16"), B: T.Buffer((64, 64), "float16"), D: T.Buffer((256, 64), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128,), cluster=(2,)))
    rank = T.cuda.block_idx("x")
    warp = T.cuda.warp_id()
    lane = T.cuda.lane_id()
    slot = T.alloc_shared((1,), "uint32")
    bar = T.alloc_shared((1,), "uint64")
    As = T.alloc_shared((128, 64), "float16", layout=T.mma_shared_layout("float16", 3, (128, 64)))
    Bs = T.alloc_shared((32, 64), "float16", layout=T.mma_shared_layout("float16", 3, (32, 64)))
    if warp == 0:
        if lane == 0:
            T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
            T.ptx["fence.mbarrier_init.release.cluster"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if warp == 0:
        T.ptx["tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32"](slot.ptr_to([0]), T.uint32(64))
        T.ptx["tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned"]()
    T.cuda.cta_sync()
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 64), "float32", scope="tmem", layout=T.tmem_datapath_layout("A", 128, 64))])
    Tx.cta.copy(As[:, :], A[rank * 128 : rank * 128 + 128, :])
    Tx.cta.copy(Bs[:, :], B[rank * 32 : rank * 32 + 32, :])
    T.ptx["fence.proxy.async.shared::cta"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if rank == 0:
        if warp == 0:
            if lane == 0:
                Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], cta_group=2)
                T.ptx["tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"](bar.ptr_to([0]), T.uint16(3))
    await_phase(bar, 0)
    r = T.alloc_local((128, 64), "float32", layout=T.wg_local_layout(64))
    Tx.wg.copy_async(r[:, :], acc[:, :])
    T.ptx["tcgen05.wait::ld.sync.aligned"]()
    Tx.wg.copy(D[rank * 128 : rank * 128 + 128, :], r[:, :])
    T.ptx["tcgen05.fence::before_thread_sync"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if warp == 0:
        T.ptx["tcgen05.dealloc.cta_group::2.sync.aligned.b32"](slot[0], T.uint32(64))


@T.prim_func
def pair_plain(A: T.Buffer((256, 64), "float16"), B: T.Buffer((64, 64), "float16"), D: T.Buffer((256, 64), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for i in range(256):
            for j in range(64):
                D[i, j] = T.float32(0)
                for k in range(64):
                    D[i, j] = D[i, j] + T.cast(A[i, k], "float32") * T.cast(B[j, k], "float32")


# A tile of shared memory, under its swizzle, and a part of a padded one to the other CTA.
# tmem: across_ctas 128@2 A=arange B=zeros
@T.prim_func
def across_ctas(A: T.Buffer((2, 64, 64), "float16"), B: T.Buffer((2, 64, 64), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(128,), cluster=(2,)))
    rank = T.cuda.block_idx("x")
    t = T.cuda.thread_idx("x")
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((2, 64, 64), "float16", layout=T.mma_shared_layout("float16", 3, (2, 64, 64)))
    p = T.alloc_shared((8, 72), "float16")
    q = T.alloc_shared((8, 64), "float16")
    if t == 0:
        T.ptx["mbarrier.init.shared.b64"](bar.ptr_to([0]), 1)
        T.ptx["fence.mbarrier_init.release.cluster"]()
        T.ptx["mbarrier.arrive.expect_tx.shared.b64"](T.ptx.SINK, bar.ptr_to([0]), 64 * 64 * 2 + 8 * 64 * 2)
    Tx.cta.copy(s[0, :, :], A[rank, :, :])
    Tx.cta.copy(p[:, 8:72], A[rank, 0:8, :])
    T.ptx["fence.proxy.async.shared::cta"]()
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()
    if t == 0:
        Tx.copy_async(s[1, :, :], s[0, :, :], dispatch="dsmem", mbar=bar.ptr_to([0]), remote_cta_id=1 - rank)
        Tx.copy_async(q[:, :], p[:, 8:72], mbar=bar.ptr_to([0]), remote_cta_id=1 - rank)
    done: T.bool = False
    while done == False:
        T.ptx["mbarrier.try_wait.parity.shared.b64"](done, bar.ptr_to([0]), 0)
    Tx.cta.copy(B[rank, :, :], s[1, :, :])
    T.cuda.cta_sync()
    Tx.cta.add(B[rank, 0:8, :], B[rank, 0:8, :], q[:, :])
    T.ptx["barrier.cluster.arrive.aligned"]()
    T.ptx["barrier.cluster.wait.aligned"]()


@T.prim_func
def across_ctas_plain(A: T.Buffer((2, 64, 64), "float16"), B: T.Buffer((2, 64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        for r in range(2):
            for i in range(64):
                for j in range(64):
                    if i < 8:
                        B[r, i, j] = A[1 - r, i, j] + A[1 - r, i, j]
                    else:
                        B[r, i, j] = A[1 - r, i, j]
