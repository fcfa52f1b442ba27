# SPDX-License-Identifier: Apache-2.0
# Parts of tensors that start at values of the kernel where no pointer can move: axes that a swizzle mixes, starts inside of
# a block of several digits; parts of such parts; tile, chunk and access_ptr. The plain kernels index the arrays.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import ComposeLayout, S, TileLayout


# Rows and columns of a swizzled operand, at every alignment; stores through a part; one element by its name.
# pair: mixed A=randn:1 B=zeros C=zeros
@Tx.function
def mixed(A: Tx.Tensor((32, 128), "float16"), B: Tx.Tensor((32, 64), "float16"), C: Tx.Tensor((32, 32), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((32, 128), "float16", layout=Tx.mma_shared_layout("float16", "auto", (32, 128)))
    mine = tile.sub[t, :]
    for j in range(128):
        mine[j] = A[t, j]
    Tx.cuda.cta_sync()
    k: Tx.int32 = 0
    while k < 4:
        rows = tile.sub[k * 7 : k * 7 + 8, t * 3 : t * 3 + 16]
        for j in range(16):
            B[t, k * 16 + j] = rows[k + j % 4, j]
        k += 1
    for j in range(32):
        one = tile.sub[(t + j) % 32, t + j]
        C[t, j] = one + tile.sub[j, 3 * t :  3 * t + 2][1]
    Tx.cuda.cta_sync()
    one = tile.sub[t, 2 * t + 1]
    one = one + Tx.float16(1.0)
    B[t, 0] = tile[t, 2 * t + 1]


@Tx.function
def mixed_plain(A: Tx.Tensor((32, 128), "float16"), B: Tx.Tensor((32, 64), "float16"), C: Tx.Tensor((32, 32), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    for k in range(4):
        for j in range(16):
            B[t, k * 16 + j] = A[k * 7 + k + j % 4, t * 3 + j]
    for j in range(32):
        C[t, j] = A[(t + j) % 32, t + j] + A[j, 3 * t + 1]
    B[t, 0] = A[t, 2 * t + 1] + Tx.float16(1.0)


# Parts of parts: narrowed, permuted, reshaped, split and joined, as narrower and as wider elements.
# pair: nested A=arange B=zeros
@Tx.function
def nested(A: Tx.Tensor((64, 64), "float32"), B: Tx.Tensor((16, 128), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((64, 64), "float32", layout=ComposeLayout(2, 3, 3, TileLayout(S[(64, 64)])))
    for i in range(4):
        for j in range(64):
            tile[t * 4 + i, j] = A[t * 4 + i, j]
    Tx.cuda.cta_sync()
    part = tile.sub[t : t + 24, 2 * t : 2 * t + 32]
    inner = part.sub[t % 5 : t % 5 + 8, 4:20]
    turned = part.permute(1, 0)
    flat = part.view(768)
    split = part.rearrange("(a b) (c d) -> (d b) a c", a=4, d=8)
    halves = part.view("uint16")
    pairs = part.view("float32x2")
    for j in range(16):
        B[t, j] = inner[j % 8, j]
        B[t, 16 + j] = turned[j + 3, t]
        B[t, 32 + j] = flat[j * 47 + 5]
        B[t, 48 + j] = split[j * 3, j % 4, j // 4]
        B[t, 64 + j] = Tx.cast(halves[j, 2 * j + 1], "float32")
        B[t, 80 + j] = part.tile(0, (3, 8))[1, :][j % 8, j] + part.sub[::4, 1::2][j % 6, j]
        B[t, 96 + j] = part.tile((0, (-1, 2)), (1, (4, 8)))[:, t % 2, t % 4, :][j % 12, j % 8]
        B[t, 112 + j] = pairs[j, j][1]


@Tx.function
def nested_plain(A: Tx.Tensor((64, 64), "float32"), B: Tx.Tensor((16, 128), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    for j in range(16):
        B[t, j] = A[t + t % 5 + j % 8, 2 * t + 4 + j]
        B[t, 16 + j] = A[t + t, 2 * t + j + 3]
        B[t, 32 + j] = A[t + (j * 47 + 5) // 32, 2 * t + (j * 47 + 5) % 32]
        B[t, 48 + j] = A[t + j % 4 * 6 + j * 3 % 6, 2 * t + j // 4 * 8 + j * 3 // 6]
        B[t, 64 + j] = Tx.cast(Tx.reinterpret("uint32", A[t + j, 2 * t + j]) >> 16, "float32")
        B[t, 80 + j] = A[t + 8 + j % 8, 2 * t + j] + A[t + j % 6 * 4, 2 * t + 1 + j * 2]
        B[t, 96 + j] = A[t + j % 12 * 2 + t % 2, 2 * t + t % 4 * 8 + j % 8]
        B[t, 112 + j] = A[t + j, 2 * t + 2 * j + 1]


# Blocks of several digits: a start inside of one carries.
# pair: blocks A=arange B=zeros
# pair: blocks A=arange@float32:8,60 B=zeros
@Tx.function
def blocks(
    A: Tx.Tensor((8, 60), "float32", layout=TileLayout(S[(8, 4, 5, 3) : (60, 3, 12, 1)])),
    B: Tx.Tensor((8, 64), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    for k in range(4):
        row = A.sub[t, t * 5 + k : t * 5 + k + 16]
        for j in range(16):
            B[t, k * 16 + j] = row[j]


@Tx.function
def blocks_plain(
    A: Tx.Tensor((8, 60), "float32", layout=TileLayout(S[(8, 4, 5, 3) : (60, 3, 12, 1)])),
    B: Tx.Tensor((8, 64), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    for k in range(4):
        for j in range(16):
            B[t, k * 16 + j] = A[t, t * 5 + k + j]


# tile(axis, factors)[picks]: blocks, round robin, several axes, several picks of one axis; over dense arrays, arrays with
# strides of the launch and swizzled tiles.
# pair: tiles W:=2 A=arange B=zeros D=arange@float32:24,24
# pair: tiles W:=3 A=arange B=zeros D=arange@float32:24,10
@Tx.function
def tiles(
    A: Tx.Tensor((64, 48), "float32"),
    B: Tx.Tensor((16, 96), "float32"),
    D: Tx.Tensor((24, Tx.dynamic("n")), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    w: Tx.let = t // 16 + W
    tile = Tx.alloc_shared((64, 48), "float32", layout=Tx.mma_shared_layout("float32", "auto", (64, 48)))
    for i in range(4):
        for j in range(48):
            tile[t * 4 + i, j] = A[t * 4 + i, j]
    Tx.cuda.cta_sync()
    stripe = A.tile(0, (-1, 4, 4))[:, w, :]
    block = A.tile(0, (4, -1))[w, :]
    turns = A.tile(1, (-1, 6))[:, t % 6]
    both = A.tile((0, (8, -1)), (1, (-1, 8)))[w, :, :, t % 8]
    cell = A.tile(1, (2, 3, 8))[1, w - 1, :]
    mixed = tile.tile(1, (6, 8))[:, t % 8]
    some = tile.tile(0, (2, 8, 4))[:, t % 8, :]
    third = D.tile(0, (-1, 3))[:, w % 3]
    first = D.tile(-2, (4, 6))[t % 4, :]
    for j in range(16):
        B[t, j] = stripe[j, t]
        B[t, 16 + j] = block[j, t + 1]
        B[t, 32 + j] = turns[j, j % 8] + both[j % 8, j % 6]
        B[t, 48 + j] = cell[t, j % 8] + mixed[j + t, j % 6]
        B[t, 64 + j] = some[j % 8, t + j]
        B[t, 80 + j] = third[j % 8, j % 10] + first[j % 6, j % 10]


@Tx.function
def tiles_plain(
    A: Tx.Tensor((64, 48), "float32"),
    B: Tx.Tensor((16, 96), "float32"),
    D: Tx.Tensor((24, Tx.dynamic("n")), "float32"),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = Tx.cuda.thread_idx("x")
    w: Tx.let = t // 16 + W
    for j in range(16):
        B[t, j] = A[j // 4 * 16 + w * 4 + j % 4, t]
        B[t, 16 + j] = A[w * 16 + j, t + 1]
        B[t, 32 + j] = A[j, j % 8 * 6 + t % 6] + A[w * 8 + j % 8, j % 6 * 8 + t % 8]
        B[t, 48 + j] = A[t, 24 + (w - 1) * 8 + j % 8] + A[j + t, j % 6 * 8 + t % 8]
        B[t, 64 + j] = A[j % 8 // 4 * 32 + t % 8 * 4 + j % 4, t + j]
        B[t, 80 + j] = D[j % 8 * 3 + w % 3, j % 10] + D[t % 4 * 6 + j % 6, j % 10]


# chunk(spec)[picks] is the slice written out; regions know their source and ranges; legacy pointers.
# pair: chunks A=arange B=zeros
@Tx.function
def chunks(A: Tx.Tensor((8, 16), "float32"), B: Tx.Tensor((8, 16), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((8, 16), "float32", layout=TileLayout(S[(8, 16)] + 8))
    region = A.chunk((2, 4))[1, t % 4]
    assert region.source.dtype == "float32" and region.region[0].min == 4 and region.region[0].extent == 4
    assert region.region[1].extent == 4 and region.buffer.shape == (8, 16)
    B[t, 0:4] = A.chunk((None, 4))[t, t % 4]
    B[t, 4:8] = A.sub[t, t : t + 8].chunk((2,))[1]
    for j in range(16):
        tile[t, j] = A[t, j]
    Tx.cuda.cta_sync()
    start = Tx.decl_tensor((8, 16), "float32", data=tile.access_ptr("r", "float32"))
    later = Tx.decl_tensor((64,), "float32", data=tile.access_ptr(3, ptr_type="float32", content_lanes=2, offset=t * 8))
    for j in range(4):
        B[t, 8 + j] = start[t, j]
        B[t, 12 + j] = later[j]


@Tx.function
def chunks_plain(A: Tx.Tensor((8, 16), "float32"), B: Tx.Tensor((8, 16), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    for j in range(4):
        B[t, j] = A[t, t % 4 * 4 + j]
        B[t, 4 + j] = A[t, t + 4 + j]
        B[t, 8 + j] = A[t, j]
        B[t, 12 + j] = A[t, j]


# Tile operations on parts by coordinates, whole and with an axis dropped.
# pair: copies A=arange B=zeros
@Tx.function
def copies(A: Tx.Tensor((8, 64), "float16"), B: Tx.Tensor((8, 64), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    n: Tx.let = Tx.cuda.block_idx("x") + 1
    tile = Tx.alloc_shared((8, 64), "float16", layout=Tx.mma_shared_layout("float16", "auto", (8, 64)))
    Tx.cta.copy(tile, A)
    Tx.cuda.cta_sync()
    part = tile.sub[n : n + 4, n * 8 : n * 8 + 8]
    Tx.cta.copy(B[0:4, 0:8], part)
    Tx.cta.copy(B[0:1, 16:24], tile.sub[n, n * 8 : n * 8 + 8])
    Tx.cuda.cta_sync()
    Tx.cta.copy(part, A[4:8, 0:8])
    Tx.cuda.cta_sync()
    Tx.cta.copy(B[4:8, 8:16], tile[1:5, 8:16])


@Tx.function
def copies_plain(A: Tx.Tensor((8, 64), "float16"), B: Tx.Tensor((8, 64), "float16")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = Tx.cuda.thread_idx("x")
    if t < 8:
        for i in range(4):
            B[i, t] = A[1 + i, 8 + t]
            B[4 + i, 8 + t] = A[4 + i, t]
        B[0, 16 + t] = A[1, 8 + t]
