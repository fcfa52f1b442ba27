# SPDX-License-Identifier: Apache-2.0
# Tile operations that cannot be: `# refuse: ENTRY PATTERN`, where the pattern must be in the one report.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S, TCol, TLane, laneid, tid_in_wg


# refuse: extents error: no way to do copy at scope cta.*T0562
# refuse: extents "threads": the extents differ: B has \(8, 8\), A has \(8, 4\)
@T.prim_func
def extents(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.copy(B, A[:, 0:4])


# refuse: types "threads": 'B' is float16 and 'A' is float32; cast converts while it copies
@T.prim_func
def types(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.copy(B, A)


# refuse: holder 'r' is an array that each thread has for itself.*S\[\(32, n\) : \(1@laneid, 1\)\]
@T.prim_func
def holder(A: T.Buffer((8,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local((8,), "float32")
    Tx.warp.copy(r[:], A[:])


# refuse: narrow at scope warpgroup it must number each thread within the warpgroup
@T.prim_func
def narrow(A: T.Buffer((32, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    r = T.alloc_local((32, 8), "float32", layout=TileLayout(S[(32, 8) : (1@laneid, 1)]))
    Tx.wg.copy(r, A)


# refuse: parted `t < 64` tells threads 0 and 64 apart.*T0564
@T.prim_func
def parted(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t < 64:
        Tx.cta.copy(B, A)


# refuse: lanes all threads of the warp do copy together, but `lane == 0` tells threads 0 and 1 apart
@T.prim_func
def lanes(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    lane = T.lane_id([32])
    warp = T.warp_id([4])
    if warp == 2:
        Tx.warp.zero(B)
        if lane == 0:
            Tx.warp.copy(B, A)


# refuse: unknown copy has no dispatch "magic".*T0563
# refuse: unknown it has .*"threads"
@T.prim_func
def unknown(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.copy(B, A, dispatch="magic")


# refuse: scoped 'block' is no scope of a tile operation.*T0561
@T.prim_func
def scoped(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.copy(B, A, scope="block")


# refuse: stepped a region with a step is no operand of a tile operation.*T0560
@T.prim_func
def stepped(A: T.Buffer((64,), "float32"), B: T.Buffer((32,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.copy(B, A[0:64:2])


# refuse: integers "threads": it is a function of floats, and the source is int32
@T.prim_func
def integers(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.sqrt(B, A)


# refuse: apart "spread": elements of one result of 'm' are in different warps, which meet at the block's barrier: at scope cta
# refuse: apart "groups": 'm' is in registers, not in shared or global memory
@T.prim_func
def apart(A: T.Buffer((128, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    r = T.alloc_local((128, 8), "float32", layout=TileLayout(S[(128, 8) : (1@tid_in_wg, 1)]))
    m = T.alloc_local((1, 8), "float32", layout=TileLayout(S[(1, 8) : (1@tid_in_wg, 1)]))
    Tx.wg.copy(r, A)
    Tx.wg.sum(m, r, axes=0)


# refuse: cluster the CTAs of a cluster share global memory, and 's' is in shared, of which each has its own
# refuse: cluster "ldstmatrix": it works at scope warp or warpgroup or cta, not cluster
@T.prim_func
def cluster(A: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((64,), "float32")
    Tx.cluster.copy(s, A)


# refuse: cluster_parted all CTAs of the cluster do copy together, but `.*== 0` may tell them apart.*T0564
@T.prim_func
def cluster_parted(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(32,), cluster=(2,)))
    rank = T.cuda.block_idx("x")
    if rank == 0:
        Tx.cluster.copy(B, A)


# refuse: cluster_waits it works at scope thread or warp or warpgroup or cta, not cluster
@T.prim_func
def cluster_waits(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((1,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(2,), block=(32,), cluster=(2,)))
    Tx.cluster.binary_reduce(B, C, A, A, "add", "sum")


# refuse: no_barrier "parts": 's' is in memory, and several warpgroups have no barrier that is theirs alone
@T.prim_func
def no_barrier(A: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([256])
    s = T.alloc_shared((64,), "float32")
    m = T.alloc_shared((1,), "float32")
    Tx.wg.binary_reduce(s, m, A, A, "add", "sum")


# refuse: no_part "parts": its part add: the extents differ: s has \(64\), A has \(60\)
@T.prim_func
def no_part(A: T.Buffer((60,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((64,), "float32")
    m = T.alloc_shared((1,), "float32")
    Tx.cta.binary_reduce(s, m, A, A, "add", "sum")


# refuse: no_name "parts": binary_op= is one of add, sub, mul, fdiv, maximum, minimum
@T.prim_func
def no_name(A: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((64,), "float32")
    m = T.alloc_shared((1,), "float32")
    Tx.cta.binary_reduce(s, m, A, A, "pow", "sum")


# refuse: no_link "threads": op1= is one of add, sub, mul, fdiv, maximum, minimum
@T.prim_func
def no_link(A: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.binary_chain(A, A, A, A, "add", "sqrt")


# refuse: no_negative "groups": reduce_op= is one of sum, max, min
@T.prim_func
def no_negative(A: T.Buffer((64,), "float32"), B: T.Buffer((1,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cta.reduce_negate(B, A, "mean")


# refuse: crowd 32 threads come to this copy_async, and each would issue it.*T0565
@T.prim_func
def crowd(A: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", 3, (64, 64)))
    if t // 32 == 1:
        Tx.copy_async(s[:, :], A[:, :], dispatch="tma", mbar=bar.ptr_to([0]))


# refuse: steps "tcgen05": '(As|Bs)' has the layout of rows one after the other, which no matrix descriptor describes; mma_shared_layout
@T.prim_func
def steps(A: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared((128, 64), "float16")
    Bs = T.alloc_shared((32, 64), "float16")
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    if t == 0:
        Tx.gemm_async(acc, As, Bs)


# refuse: datapath 'acc' lies at .*, and an MMA of M = 64 with cta_group 1 writes datapath F: .*tmem_datapath_layout\("F", 64, 32\)
@T.prim_func
def datapath(A: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", 3, (64, 64)))
    Bs = T.alloc_shared((32, 64), "float16", layout=T.mma_shared_layout("float16", 3, (32, 64)))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    if t == 0:
        Tx.gemm_async(acc[0:64, :], As, Bs)


# refuse: fit "tcgen05": the shapes do not fit: D is \(128, 32\), A \(128, 64\), B \(64, 32\)
@T.prim_func
def fit(A: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared((128, 64), "float16", layout=T.mma_shared_layout("float16", 3, (128, 64)))
    Bs = T.alloc_shared((64, 32), "float16", layout=T.mma_shared_layout("float16", 2, (64, 32)))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    if t == 0:
        Tx.gemm_async(acc, As, Bs)


# refuse: cells the registers of 'r' .* and the cells of 'acc' .* do not meet in an instruction
# refuse: cells "ldgsts": cp.async goes from global to shared memory, not from tmem to local
@T.prim_func
def cells(A: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    r = T.alloc_local((128, 32), "float32", layout=TileLayout(S[(4, 32, 32) : (32@tid_in_wg, 1, 1@tid_in_wg)]))
    Tx.wg.copy_async(r, acc)


# refuse: empty a tile operation takes at most .* and none that is empty.*T0560
@T.prim_func
def empty(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    Tx.cta.copy(B[0:0, :], A[0:0, :])


@T.inline
def multiply(d, a, b, u=None, v=None, d_type="float32", d_layout=None, u_type="float8_e8m0fnu", u_scope="tmem", u_layout=None, **config):
    """A gemm_async of the types and shapes that are wrong."""
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared(a[0:2], a[2], layout=T.mma_shared_layout(a[2], "auto", a[0:2]))
    Bs = T.alloc_shared(b[0:2], b[2], layout=T.mma_shared_layout(b[2], "auto", b[0:2]))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor(d, d_type, scope="tmem", layout=d_layout or T.tmem_datapath_layout("D" if d[0] == 128 else "F" if d[0] == 64 else "G", *d))])
    if u is None:
        Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], **config)
    else:
        if u_scope == "tmem":
            Ut = T.cuda.decl_tmem(slot[0] + 256, ty_args=[T.Tensor(u, u_type, scope="tmem", layout=u_layout or T.sf_tmem_layout(u[0], u[1], 1))])
        else:
            Ut = T.alloc_shared(u, u_type)
        Vt = T.cuda.decl_tmem(slot[0] + 384, ty_args=[T.Tensor(v, u_type, scope="tmem", layout=T.sf_tmem_layout(v[0], v[1], 1))])
        Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], SFA=Ut[:, :], SFB=Vt[:, :], **config)


# refuse: half_of_bfloat "tcgen05": the accumulator 'acc' is float16; of bfloat16 with bfloat16 it is float32
@T.prim_func
def half_of_bfloat():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "bfloat16"), (64, 64, "bfloat16"), d_type="float16")


# refuse: half_packed 'acc' lies at S\[\(128,64\):\(1@TLane,1@TCol\)\], and an MMA of M = 128 with cta_group 1 writes datapath D, float16 in a cell for itself: .*tmem_mma_operand_layout\("D", \(128, 64\), "float16", M=128, cta_group=1\)
@T.prim_func
def half_packed():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (64, 64, "float16"), d_type="float16")


# refuse: four_bits 'As' is a tensor of float4_e2m1fn; this MMA reads 16 bytes of memory for 16 elements: a uint8 tensor with A_type="float4_e2m1fn"; packed operands are both of 4 bits
@T.prim_func
def four_bits():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float4_e2m1fn"), (64, 64, "float8_e4m3fn"))


# refuse: held_wrongly A_type="float16": it says which elements the bytes of a uint8 tensor hold, .* and 'As' is uint8
@T.prim_func
def held_wrongly():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "uint8"), (64, 64, "float8_e4m3fn"), A_type="float16")


# refuse: scaled_halves there is no MMA of float16 with float16 and scale factors: float4_e2m1fn with itself
@T.prim_func
def scaled_halves():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (64, 64, "float16"), (128, 4), (64, 4))


# refuse: scaled_64 M = 64 rows; with scale factors one CTA has 128
@T.prim_func
def scaled_64():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((64, 64), (64, 64, "float8_e4m3fn"), (64, 64, "float8_e4m3fn"), (64, 2), (64, 2))


# refuse: factor_type scale factors of float8_e4m3fn are float8_e8m0fnu, and 'Ut' is float8_e4m3fn
@T.prim_func
def factor_type():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float8_e4m3fn"), (64, 64, "float8_e4m3fn"), (128, 2), (64, 2), u_type="float8_e4m3fn")


# refuse: factor_scope the scale factors 'Ut' must be in tensor memory, not in shared: copy_async takes them there
@T.prim_func
def factor_scope():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float8_e4m3fn"), (64, 64, "float8_e4m3fn"), (128, 2), (64, 2), u_scope="shared")


# refuse: factor_count SFA: the region of 'Ut' is \(128, 4\); of 128 rows and 2 steps of K with 1 factors it is \(128, 2\)
@T.prim_func
def factor_count():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float8_e4m3fn"), (64, 64, "float8_e4m3fn"), (128, 4), (64, 2))


# refuse: factor_place SFA: 'Ut' lies at .*, and factors of 128 rows, 1 for an instruction, are read from sf_tmem_layout\(128, 2, 1\), as TMEMPool.alloc_sf gives it
@T.prim_func
def factor_place():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float8_e4m3fn"), (64, 64, "float8_e4m3fn"), (128, 2), (64, 2), u_layout=TileLayout(S[(128, 2) : (1 @ TLane, 1 @ TCol)]))


# refuse: stationary_pair weight_stationary= is for cta_group=1 without scale factors
@T.prim_func
def stationary_pair():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (32, 64, "float16"), weight_stationary=True, cta_group=2)


# refuse: stationary_narrow N = 32 columns; of M = 128 they come in steps of 64
@T.prim_func
def stationary_narrow():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 32), (128, 64, "float16"), (32, 64, "float16"), weight_stationary=True)


# refuse: thirty_two M = 32 rows in a CTA; the unit has 64 and 128, and 32 with weight_stationary=True
@T.prim_func
def thirty_two():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((32, 64), (32, 64, "float16"), (64, 64, "float16"))


# refuse: not_blocks the cells of 'Ut' .* take no blocks of 8 rows of 16 bytes from 'Us' .*sf_smem_layout\(rows, SF_K, sf_per_mma\)
@T.prim_func
def not_blocks():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    Us = T.alloc_shared((128, 4), "float8_e8m0fnu")
    Ut = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 4), "float8_e8m0fnu", scope="tmem", layout=T.sf_tmem_layout(128, 4, 1))])
    if t == 0:
        Tx.copy_async(Ut[:, :], Us[:, :], dispatch="tcgen05_cp")


# refuse: floats_across rows of 'As' run along memory, and of float32 the unit reads that only under the swizzle of 128 bytes with atoms of 32: ComposeLayout\(3, 2, 2, tile\)
@T.prim_func
def floats_across():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared((16, 128), "float32", layout=T.mma_shared_layout("float32", "128B", (16, 128)))
    Bs = T.alloc_shared((32, 16), "float32", layout=T.mma_shared_layout("float32", "64B", (32, 16)))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    if t == 0:
        Tx.gemm_async(acc[:, :], As[:, :], Bs[:, :], transA=True)


# refuse: wanders the tile of 'Bs' is not the same wherever axis 1 may start: it must start at a multiple of its extent
@T.prim_func
def wanders():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    slot = T.alloc_shared((1,), "uint32")
    As = T.alloc_shared((128, 64), "float16", layout=T.mma_shared_layout("float16", "128B", (128, 64)))
    Bs = T.alloc_shared((32, 256), "float16", layout=T.mma_shared_layout("float16", "128B", (32, 256)))
    acc = T.cuda.decl_tmem(slot[0], ty_args=[T.Tensor((128, 32), "float32", scope="tmem")])
    if t == 0:
        for i in T.serial(8):
            Tx.gemm_async(acc[:, :], As[:, :], Bs[:, i * 8 : i * 8 + 64])


# refuse: pool_factors TMEMPool.alloc_sf gives no layout: 5 factors per row are no multiple of 2.*T0214
@T.prim_func
def pool_factors():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc_sf((2, 128, 5), "float8_e8m0fnu", sf_per_mma=2)
    columns.commit()
    columns.dealloc()


# refuse: pool_reuse TMEMPool.alloc_sf gives no layout: 6 factors of a row are no multiple of sf_reuse=4
@T.prim_func
def pool_reuse():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc_sf((128, 6), "float8_e8m0fnu", sf_per_mma=1, sf_reuse=4)
    columns.commit()
    columns.dealloc()


# refuse: pool_m TMEMPool.alloc_tcgen05_mma_D gives no layout: no datapath for M = 96 with cta_group 1; M is 64 or 128
@T.prim_func
def pool_m():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc_tcgen05_mma_D((96, 64), M=96, cta_group=1)
    columns.commit()
    columns.dealloc()


# refuse: pool_letter TMEMPool.alloc gives no layout: there is no datapath 'Q'
@T.prim_func
def pool_letter():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc((64, 64), "float32", datapath="Q")
    columns.commit()
    columns.dealloc()


# refuse: pool_twice datapath= and layout= say the same thing twice.*T0535
@T.prim_func
def pool_twice():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc((64, 64), "float32", datapath="F", layout=T.tmem_datapath_layout("F", 64, 64))
    columns.commit()
    columns.dealloc()


# refuse: pool_full 1024 columns from column 0 on; the pool has 512.*T0535
@T.prim_func
def pool_full():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    smem = T.SMEMPool()
    columns = T.TMEMPool(smem)
    smem.commit()
    x = columns.alloc_tcgen05_mma_D((128, 1024), M=128, cta_group=1)
    columns.commit()
    columns.dealloc()


# refuse: no_rows "ldstmatrix": the registers of 'r' .* are not rows of 16 bytes of 's' .*, a row for four lanes, nor columns of them
@T.prim_func
def no_rows():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((32, 8), "float16")
    r = T.alloc_local((32, 8), "float16", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    Tx.warp.copy(r, s, dispatch="ldstmatrix")


# refuse: no_cells "ldstmatrix": it moves between shared memory and registers
@T.prim_func
def no_cells(A: T.Buffer((16, 16), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    r = T.alloc_local((16, 16), "float16", layout=T.fragment_layout("mma.m16n8k16.f16.A"))
    Tx.warp.copy(r, A, dispatch="ldstmatrix")


# refuse: parted_rows "ldstmatrix": the tile of 's' is not the same wherever axis 1 may start
@T.prim_func
def parted_rows():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    s = T.alloc_shared((16, 64), "float16")
    r = T.alloc_local((16, 16), "float16", layout=T.fragment_layout("mma.m16n8k16.f16.A"))
    for i in T.serial(3):
        Tx.warp.copy(r, s[:, i * 4 : i * 4 + 16], dispatch="ldstmatrix")


@T.inline
def multiply_sync(a, b, d, names):
    """A gemm of a warp of the types and shapes that are wrong."""
    x = T.alloc_local(a[0:2], a[2], layout=T.fragment_layout(names[0]).tile_to(a[0:2], names[3]))
    y = T.alloc_local(b[0:2], b[2], layout=T.fragment_layout(names[1]).tile_to(b[0:2], names[4]))
    z = T.alloc_local(d[0:2], d[2], layout=T.fragment_layout(names[2]).tile_to(d[0:2], (names[3][0], 8)))
    Tx.warp.gemm(z, x, y)


HALF = ("mma.m16n8k16.f16.A", "mma.m16n8k16.f16.B", "mma.m16n8.f32.D", (16, 16), (16, 8))


# refuse: sync_result of bfloat16 with bfloat16 the result and C are both float32, not float16 and float16
@T.prim_func
def sync_result():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    multiply_sync((16, 16, "bfloat16"), (16, 8, "bfloat16"), (16, 8, "float16"), HALF)


# refuse: sync_mixed there is no mma.sync of float16 with bfloat16: float16, bfloat16, float32 \(as tf32\) or float64 with itself
@T.prim_func
def sync_mixed():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    multiply_sync((16, 16, "float16"), (16, 8, "bfloat16"), (16, 8, "float32"), HALF)


# refuse: sync_steps M, N and K are 8, 8 and 16; of float16 they come in steps of 16, 8 and 8
@T.prim_func
def sync_steps():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    x = T.alloc_local((16, 16), "float16", layout=T.fragment_layout(HALF[0]))
    y = T.alloc_local((16, 8), "float16", layout=T.fragment_layout(HALF[1]))
    z = T.alloc_local((16, 8), "float32", layout=T.fragment_layout(HALF[2]))
    Tx.warp.gemm(z[0:8, :], x[0:8, :], y)


# refuse: sync_fragment the layout .* of 'x' is not made of the fragments of mma.m16n8k16: fragment_layout\("mma.m16n8k16.f16.A"\), tiled
@T.prim_func
def sync_fragment():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    x = T.alloc_local((16, 16), "float16", layout=TileLayout(S[(8, 2, 4, 4) : (4 @ laneid, 1, 1 @ laneid, 2)]))
    y = T.alloc_local((16, 8), "float16", layout=T.fragment_layout(HALF[1]))
    z = T.alloc_local((16, 8), "float32", layout=T.fragment_layout(HALF[2]))
    Tx.warp.gemm(z, x, y)


@T.inline
def store(g, type, shared_type="", **config):
    """A copy to global memory by TMA that cannot be."""
    s = T.alloc_shared((8, 128), shared_type or type, align=128)
    Tx.copy_async(g[:, :], s[:, :], dispatch="tma", **config)


# refuse: reduce_type use_tma_reduce="inc" takes uint32, and 'A' is float32
@T.prim_func
def reduce_type(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A, "float32", use_tma_reduce="inc")


# refuse: reduce_word use_tma_reduce="mul": it is add, min, max, inc, dec, and, or or xor
@T.prim_func
def reduce_word(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A, "float32", use_tma_reduce="mul")


# refuse: reduce_load use_tma_reduce= is for copies to global memory
@T.prim_func
def reduce_load(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((8, 128), "float32", align=128)
    if t == 0:
        Tx.copy_async(s, A, dispatch="tma", mbar=bar.ptr_to([0]), use_tma_reduce="add")


# refuse: hint_word cache_hint="evict_never": it is evict_normal, evict_first, evict_last, or a uint64
@T.prim_func
def hint_word(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A, "float32", cache_hint="evict_never")


# refuse: mask_store cta_mask= is for loads: a store comes from one CTA
@T.prim_func
def mask_store(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A, "float32", cta_mask=3)


# refuse: four_bits_swizzled elements of 4 bits go to bytes of 's' 128 at a time, under no swizzle or that of 128 bytes
@T.prim_func
def four_bits_swizzled(A: T.Buffer((8, 128), "float4_e2m1fn")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((8, 128), "uint8", layout=T.mma_shared_layout("uint8", "64B", (8, 128)))
    if t == 0:
        Tx.copy_async(s, A, dispatch="tma", mbar=bar.ptr_to([0]))


# refuse: view_start starts 4 elements behind 'A', no multiple of 16 bytes
@T.prim_func
def view_start(A: T.Buffer((8, 136), "float16")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A.sub[:, 4:132], "float16")


# refuse: option gemm_async has no option 'cta_groop'.*T0566
# refuse: option it has these: SFA SFB transA transB accum cta_group
@T.prim_func
def option():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (64, 64, "float16"), cta_groop=2)


# refuse: no_option copy has no option 'mbar'.*T0566
@T.prim_func
def no_option(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    Tx.cta.copy(A, B, mbar=bar.ptr_to([0]))


# refuse: unit_n mma_m=128, mma_n=40: they come together, M is that of the operands, 128, and N at most 256, in steps of 8, a divisor of 64
@T.prim_func
def unit_n():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (64, 64, "float16"), mma_m=128, mma_n=40)


# refuse: unit_m mma_m=0, mma_n=32: they come together
@T.prim_func
def unit_m():
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    if t == 0:
        multiply((128, 64), (128, 64, "float16"), (64, 64, "float16"), mma_n=32)


# refuse: oob_word oob="one": it is zero or nan
@T.prim_func
def oob_word(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((8, 128), "float32", align=128)
    if t == 0:
        Tx.copy_async(s, A, dispatch="tma", mbar=bar.ptr_to([0]), oob="one")


# refuse: oob_type oob="nan" is for floats of 16 bits and more, and 'A' is int32
@T.prim_func
def oob_type(A: T.Buffer((8, 128), "int32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    s = T.alloc_shared((8, 128), "int32", align=128)
    if t == 0:
        Tx.copy_async(s, A, dispatch="tma", mbar=bar.ptr_to([0]), oob="nan")


# refuse: oob_store oob= is for loads: a store leaves out what is outside
@T.prim_func
def oob_store(A: T.Buffer((8, 128), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    if t == 0:
        store(A, "float32", oob="zero")
