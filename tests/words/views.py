# SPDX-License-Identifier: Apache-2.0
# Views of storage with a constant layout: parts, permutations, other element types, pools of bytes, this thread's slots.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import ComposeLayout, R, S, TileLayout, laneid


# Stages of a swizzled tile, picked by an index of the kernel; a part inside a stage; every second row.
# pair: stages A=randn:1 B=zeros C=zeros
@Tx.function
def stages(A: Tx.Tensor((3, 16, 64), "float16"), B: Tx.Tensor((3, 16, 64), "float16"), C: Tx.Tensor((32,), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    ring = Tx.alloc_shared((3, 16, 64), "float16", layout=Tx.mma_shared_layout("float16", "auto", (3, 16, 64)))
    k: Tx.int32 = 0
    while k < 3:
        stage = ring.sub[k]
        for r in range(16):
            stage[r, t * 2] = A[k, r, t * 2]
            stage[r, t * 2 + 1] = A[k, r, t * 2 + 1]
        k += 1
    Tx.cuda.cta_sync()
    for s in range(3):
        stage = ring.sub[(s + 1) % 3]
        block = stage.sub[8:16, 16:48]
        odd = stage.sub[1::2, :]
        for r in range(8):
            B[s, r, t] = block[r, t]
            B[s, 8 + r, t] = odd[r, 63 - t]
            B[s, r, 32 + t] = stage.permute(1, 0)[t, r]
            B[s, 8 + r, 32 + t] = ring[s, r, t ^ 5]
    C[t] = ring.sub[2, 5, 32:][t] + ring.sub[1].sub[3][t]


@Tx.function
def stages_plain(A: Tx.Tensor((3, 16, 64), "float16"), B: Tx.Tensor((3, 16, 64), "float16"), C: Tx.Tensor((32,), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    for s in range(3):
        for r in range(8):
            B[s, r, t] = A[(s + 1) % 3, 8 + r, 16 + t]
            B[s, 8 + r, t] = A[(s + 1) % 3, 2 * r + 1, 63 - t]
            B[s, r, 32 + t] = A[(s + 1) % 3, r, t]
            B[s, 8 + r, 32 + t] = A[s, r, t ^ 5]
    C[t] = A[2, 5, 32 + t] + A[1, 3, t]


# Typed views over a pool of bytes at byte offsets, element pointers of the view's type, a view of another width.
# pair: pool A=arange B=zeros
@Tx.function
def pool(A: Tx.Tensor((64,), "float32"), B: Tx.Tensor((256,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    bytes = Tx.alloc_tensor(ty_args=[Tx.Tensor((1024,), "uint8", scope="shared.dyn")])
    words = Tx.decl_tensor(bytes.data, ty_args=[Tx.Tensor((64,), "float32", scope="shared.dyn")])
    above = Tx.decl_tensor(
        Tx.ptr_byte_offset(bytes.data, 256, ty=words.data.ty),
        ty_args=[Tx.Tensor((8, 8), "float32", scope="shared.dyn", layout=TileLayout(S[(8, 8) : (1, 8)]))],
    )
    shifted = Tx.decl_tensor(
        bytes.data,
        ty_args=[Tx.Tensor((64,), "float32", scope="shared.dyn", layout=TileLayout(S[(64,)] + 128))],
    )
    words[t] = A[t]
    above[t // 8, t % 8] = A[t] + Tx.float32(100.0)
    shifted[t] = A[63 - t]
    Tx.cuda.cta_sync()
    cell = Tx.decl_tensor(above.ptr_to([t % 8, t // 8]), ty_args=[Tx.Tensor((1,), "float32", scope="shared.dyn")])
    halves = shifted.view("uint16")
    B[t] = words[63 - t]
    B[64 + t] = cell[0]
    B[128 + t] = Tx.cast(halves[2 * t + 1], "float32")
    B[192 + t] = Tx.cast(bytes[t], "float32")


@Tx.function
def pool_plain(A: Tx.Tensor((64,), "float32"), B: Tx.Tensor((256,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = Tx.cuda.thread_idx("x")
    B[t] = A[63 - t]
    B[64 + t] = A[t % 8 * 8 + t // 8] + Tx.float32(100.0)
    B[128 + t] = Tx.cast(Tx.reinterpret("uint32", A[63 - t]) >> 16, "float32")
    bits: Tx.let = Tx.reinterpret("uint32", A[t // 4])
    B[192 + t] = Tx.cast((bits >> Tx.cast(t % 4 * 8, "uint32")) & Tx.uint32(255), "float32")


# A tensor spread over lanes: this lane's slots, gaps and origin included, or only those in use; a reshape that keeps
# the distribution; a view of a swizzled tile's storage.
# pair: slots A=randn:2 B=zeros
@Tx.function
def slots(A: Tx.Tensor((32, 8), "float32"), B: Tx.Tensor((32, 32), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    D = Tx.alloc_tensor(
        ty_args=[Tx.Tensor((32, 8), "float32", scope="local", layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)]))]
    )
    flat = D.view(8, layout="default")
    grid = D.view(2, 4, layout="default")
    again = D.view(8, 32).view(8, layout="default")
    G = Tx.alloc_tensor(
        ty_args=[Tx.Tensor((32, 4), "float32", scope="local", layout=TileLayout(S[(32, 4) : (1 @ laneid, 3)] + 2))]
    )
    span = G.view(12, layout="default")
    used = G.view(4, layout=TileLayout(S[(4,) : (3,)] + 2))
    tile = Tx.alloc_local((8, 8), "float32", layout=ComposeLayout(0, 2, 3, TileLayout(S[(8, 8)])))
    for k in Tx.unroll(8):
        flat[k] = A[t, k]
    for k in Tx.unroll(12):
        span[k] = Tx.float32(k)
    for k in Tx.unroll(4):
        used[k] = used[k] + A[t, k]
    for i in range(8):
        for j in range(8):
            tile[i, j] = A[t, i] + Tx.cast(j, "float32")
    raw = tile.view(64, layout="default")
    for k in Tx.unroll(4):
        B[t, k] = grid[1, k] + again[k]
        B[t, 4 + k] = span[3 * k + 2]
        B[t, 8 + k] = span[3 * k + 1]
    for k in range(20):
        B[t, 12 + k] = raw[k * 3]


@Tx.function
def slots_plain(A: Tx.Tensor((32, 8), "float32"), B: Tx.Tensor((32, 32), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    for k in range(4):
        B[t, k] = A[t, 4 + k] + A[t, k]
        B[t, 4 + k] = Tx.cast(3 * k + 2, "float32") + A[t, k]
        B[t, 8 + k] = Tx.cast(3 * k + 1, "float32")
    for k in range(20):
        B[t, 12 + k] = A[t, k * 3 // 8] + Tx.cast(k * 3 % 8 ^ (k * 3 // 8 % 4), "float32")


# Vectors through regions with a start of the kernel, and a part of a row.
# pair: regions A=arange B=zeros
@Tx.function
def regions(A: Tx.Tensor((16, 16), "float32"), B: Tx.Tensor((16, 16), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    m: Tx.let = t // 4 * 4
    B[t, m : m + 4] = A[t, m : m + 4]
    rest = A.sub[t, 8:]
    for k in range(8):
        B[t, (m + 4 + k) % 16] = rest[k]


@Tx.function
def regions_plain(A: Tx.Tensor((16, 16), "float32"), B: Tx.Tensor((16, 16), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    for k in range(4):
        B[t, t // 4 * 4 + k] = A[t, t // 4 * 4 + k]
    for k in range(8):
        B[t, (t // 4 * 4 + 4 + k) % 16] = A[t, 8 + k]


# Axes split, reordered and joined, over a swizzle too; the older word for this thread's slots.
# pair: arrange A=arange B=zeros C=zeros
@Tx.function
def arrange(
    A: Tx.Tensor((8, 12), "float32"), B: Tx.Tensor((4, 8, 3), "float32"), C: Tx.Tensor((16, 64), "float16")
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    V = A.rearrange("a (b c) -> c a b", c=4)
    W = A.rearrange("(p q) r -> (r p) q", p=2)
    tile = Tx.alloc_shared((16, 64), "float16", layout=Tx.mma_shared_layout("float16", "auto", (16, 64)))
    Z = tile.rearrange("r (g 8) -> g r 8")
    D = Tx.alloc_local((32, 6), "float32", layout=TileLayout(S[(32, 6) : (1 @ laneid, 2)] + 1))
    mine = D.local()
    two = D.local(3, 4)
    for k in Tx.unroll(12):
        mine[k] = Tx.float32(0.0)
    two[1, 2] = Tx.float32(5.0)
    for c in range(4):
        for b in range(3):
            B[c, t, b] = V[c, t, b] + W[b * 2 + c % 2, t % 4] + mine[6]
    for r in range(16):
        for k in range(8):
            Z[t, r, k] = Tx.cast(r * 64 + t * 8 + k, "float16")
    Tx.cuda.cta_sync()
    for r in range(2):
        for k in range(64):
            C[r * 8 + t, k] = tile[r * 8 + t, k]


@Tx.function
def arrange_plain(
    A: Tx.Tensor((8, 12), "float32"), B: Tx.Tensor((4, 8, 3), "float32"), C: Tx.Tensor((16, 64), "float16")
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    for c in range(4):
        for b in range(3):
            B[c, t, b] = A[t, b * 4 + c] + A[c % 2 * 4 + t % 4, b] + Tx.float32(5.0)
    for r in range(2):
        for k in range(64):
            C[r * 8 + t, k] = Tx.cast((r * 8 + t) * 64 + k, "float16")
