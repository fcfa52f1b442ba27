# SPDX-License-Identifier: Apache-2.0
# Seeds of the evaluator's fuzz target: most constructs of a kernel once.
import math
from tvm.script import tirx as T
from tvm.tirx.layout import TileLayout, S, R, laneid, warpid

N = 16


def pick(a, *rest, b=2, **kw):
    out = []
    for i, x in enumerate(rest):
        if x > b:
            out.append(x)
        else:
            continue
    while len(out) < 3:
        out.append(math.gcd(a, 12))
    return [v for v in out if v > 0], {k: kw[k] for k in kw}


VALUES, TABLE = pick(8, 1, 2, 3, b=1, z=4)
SPREAD = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)] + R[4 : 1 @ warpid] + 3 @ laneid)
n = T.dynamic("n")


@T.function
def newer(A: T.Tensor((n, 8), "float16"), B: T.Tensor(("wide", 8), "int32", align=16), f: T.float32, h: T.handle("float32")):
    T.device_entry(
        launch=T.cuda.LaunchConfig(grid=(n, 2), block=(64,), cluster=2, dynamic_smem_bytes=4096),
        options=T.cuda.KernelOptions(min_blocks_per_sm=2),
    )
    bx = T.cuda.block_idx("x")
    w = T.cuda.warp_id()
    lane = T.cuda.lane_id()
    P = T.decl_tensor((4, 8), "float32", data=h, layout=TileLayout(S[(4, 8) : (16, 1)] + 2))
    off = P.layout.apply(lane, 3, shape=(4, 8))["m"]
    c = SPREAD.apply(5)["laneid"]
    P[lane % 4, 3] = T.cast(A[bx, 0], "float32") + f * 2 + c
    P.view(32)[off % 32] = T.Select(lane < 4, 1.0, P[0, 0])
    q: T.f32[4]
    for i, j in T.grid(4, (1, 2)):
        q[i] = T.max(q[i], T.exp(f)) if j > i else T.float32(0)
    for i in T.serial(4, unroll=2):
        if q[i] > 0.5 and not (lane == 3 or w != 1):
            break
        elif T.isnan(q[i]):
            continue
        else:
            B[i, 0] += T.cuda.atomic_add(B.ptr_to([0, i]), 1)
    u = T.uint32(7)
    u ^= u << 3
    a, b = u, T.int64(5)
    a, u = u, a
    s2 = T.cuda.__shfl_xor_sync(0xFFFFFFFF, f, 1, 32) + T.tvm_warp_shuffle_down(T.uint32(0xFFFFFFFF), f, 4, 32, 32)
    T.cuda.printf("%d %f\n", lane, s2)
    assert lane < 32, f"lane {VALUES[0]} of {SPREAD}"
    V = T.alloc_local((4,), "float32x4")
    V[0] = T.Broadcast(f, 4)
    P[0, 0:4] = P[1, 4:8]
    X = A.view("uint32")
    ptr: T.let[T.handle("float32")] = T.ptr_byte_offset(P.ptr_to([0, 1]), 16 * lane, ty=P.data.ty)
    y = T.reinterpret("int32", f) if TABLE["z"] == 4 else T.ceildiv(n, 10)
    z = T.ceildiv(n, 10) + T.truncmod(n, 3) - n // 2 % 5
    B[0, 1] = T.if_then_else(y > z, y, z)
    t = T.cuda.syncthreads_or(y > z)
    while T.cuda.any_sync(T.uint32(1), y < 0):
        y = y + 1
    half: T.let = n // 2
    R0 = T.alloc_local((32, 8), "float32", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))
    R0.view(2, 4, layout="default")[1, 2] = T.cuda.warp_sum(f, 8)
    D = T.alloc_tensor(ty_args=[T.Tensor((128,), "float32", scope="shared.dyn")])
    E = D.view(16, 8).permute(1, 0)
    E[3, T.Ramp(0, 1, 4)] = D[T.Ramp(lane * 4, 1, 4)] * 2


@T.prim_func(private=True)
def older(a: T.handle, B: T.Buffer((N, 8), "float32", strides=(16, 1), elem_offset=4), k: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (m, 8), "bfloat16")
    T.func_attr({"global_symbol": "older", "tirx.noalias": True})
    T.device_entry()
    T.attr({"tirx.max_registers": 64})
    bx, by = T.cta_id([m, 2])
    tx = T.thread_id([64])
    warp = T.warp_id([2])
    s = T.alloc_buffer((64,), "float32", scope="shared")
    p = s.ptr_to([tx])
    C = T.decl_buffer((4,), "float16", data=p, byte_offset=4)
    for i in T.unroll(4):
        s[tx] = B[i, by] + A[bx, i]
    T.tvm_storage_sync("shared")
    if k > 2:
        return 0
    C[1] = s[63 - tx]
