# SPDX-License-Identifier: Apache-2.0
# Tile operations that cannot be: `# refuse: ENTRY PATTERN`, where the pattern must be in the one report.
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S, laneid, tid_in_wg


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


# refuse: apart "spread": elements of one result of 'm' are in different warps
# refuse: apart "groups": 'm' is in registers, not in shared or global memory
@T.prim_func
def apart(A: T.Buffer((128, 8), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([128])
    r = T.alloc_local((128, 8), "float32", layout=TileLayout(S[(128, 8) : (1@tid_in_wg, 1)]))
    m = T.alloc_local((1, 8), "float32", layout=TileLayout(S[(1, 8) : (1@tid_in_wg, 1)]))
    Tx.wg.copy(r, A)
    Tx.wg.sum(m, r, axes=0)


# refuse: cluster it works at scope thread or warp or warpgroup or cta, not cluster
@T.prim_func
def cluster(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([32])
    Tx.cluster.copy(B, A)


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
