# SPDX-License-Identifier: Apache-2.0
# Swizzled tiles in shared memory: what is stored by coordinate is found at the address that the hardware's XOR says,
# and read back by coordinate. `plain` computes that address in bits.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import ComposeLayout, S, TileLayout
from tvm_tirx.backend.cuda.layout import mma_shared_layout

ROWS = 32
WIDTH = 128 // BITS if MODE == 0 else (128 << MODE) // BITS
COLUMNS = WIDTH * 3
TILE = mma_shared_layout(TYPE, MODE, (ROWS, COLUMNS))


def place(r, c):
    """Element number of (r, c): panels of one atom's width, rows under each other, 16-byte chunks flipped."""
    chunk = 128 // BITS
    inside = c % WIDTH
    flipped = inside // chunk
    if MODE > 0:
        flipped = flipped ^ (r % 8 // (8 >> MODE))
    return c // WIDTH * (ROWS * WIDTH) + r * WIDTH + flipped * chunk + inside % chunk


# pair: stage TYPE:="float16" BITS:=16 MODE:=3 A=randn:1 B=zeros P=zeros
# pair: stage TYPE:="float16" BITS:=16 MODE:=2 A=randn:2 B=zeros P=zeros
# pair: stage TYPE:="bfloat16" BITS:=16 MODE:=1 A=randn:3 B=zeros P=zeros
# pair: stage TYPE:="float16" BITS:=16 MODE:=0 A=randn:4 B=zeros P=zeros
# pair: stage TYPE:="float32" BITS:=32 MODE:=3 A=randn:5 B=zeros P=zeros
# pair: stage TYPE:="int32" BITS:=32 MODE:=1 A=arange B=zeros P=zeros
# pair: stage TYPE:="uint8" BITS:=8 MODE:=3 A=arange B=zeros P=zeros
# pair: stage TYPE:="int8" BITS:=8 MODE:=2 A=arange B=zeros P=zeros
# pair: stage TYPE:="float64" BITS:=64 MODE:=3 A=randn:6 B=zeros P=zeros
# pair: stage TYPE:="float64" BITS:=64 MODE:=2 A=randn:7 B=zeros P=zeros
# pair: stage TYPE:="float4_e2m1fn" BITS:=4 MODE:=3 A=randint:0:4:8 B=zeros P=zeros
# pair: stage TYPE:="float4_e2m1fn" BITS:=4 MODE:=1 A=randint:0:4:9 B=zeros P=zeros
# pair: stage TYPE:="float8_e4m3fn" BITS:=8 MODE:=1 A=randn:10 B=zeros P=zeros
@Tx.function
def stage(
    A: Tx.Tensor((ROWS, COLUMNS), TYPE),
    B: Tx.Tensor((COLUMNS, ROWS), TYPE),
    P: Tx.Tensor((ROWS * COLUMNS,), TYPE),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(ROWS,)))
    t = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((ROWS, COLUMNS), TYPE, layout=TILE)
    flat = Tx.decl_tensor(tile.data, ty_args=[Tx.Tensor((ROWS * COLUMNS,), TYPE, scope="shared")])
    for j in range(COLUMNS):
        tile[t, j] = A[t, j]
    Tx.cuda.cta_sync()
    for j in range(COLUMNS):
        B[j, t] = tile[t, j]
        P[t * COLUMNS + j] = flat[t * COLUMNS + j]


@Tx.function
def stage_plain(
    A: Tx.Tensor((ROWS, COLUMNS), TYPE),
    B: Tx.Tensor((COLUMNS, ROWS), TYPE),
    P: Tx.Tensor((ROWS * COLUMNS,), TYPE),
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(ROWS,)))
    t = Tx.cuda.thread_idx("x")
    for j in range(COLUMNS):
        B[j, t] = A[t, j]
        P[place(t, j)] = A[t, j]


# Unrolled columns, vectors of 16 bytes, several rows for each thread, an origin, a three-dimensional tile.
# pair: access TYPE:="float16" BITS:=16 MODE:=3 A=randn:8 B=zeros
# pair: access TYPE:="float16" BITS:=16 MODE:=1 A=randn:9 B=zeros
# pair: access TYPE:="float32" BITS:=32 MODE:=2 A=randn:10 B=zeros
# pair: access TYPE:="uint8" BITS:=8 MODE:=3 A=arange B=zeros
@Tx.function
def access(A: Tx.Tensor((2, ROWS, COLUMNS), TYPE), B: Tx.Tensor((2, ROWS, COLUMNS), TYPE)):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_tensor(
        (2, ROWS, COLUMNS), TYPE, scope="shared.dyn", layout=mma_shared_layout(TYPE, MODE, (2, ROWS, COLUMNS))
    )
    for s in range(2):
        for r in range(0, ROWS, 8):
            for j in range(COLUMNS // (128 // BITS)):
                tile[s, r + t, Tx.Ramp(j * (128 // BITS), 1, 128 // BITS)] = A[
                    s, r + t, Tx.Ramp(j * (128 // BITS), 1, 128 // BITS)
                ]
    Tx.cuda.cta_sync()
    for s in Tx.unroll(2):
        for r in range(ROWS // 8):
            for j in range(COLUMNS // 4):
                for k in Tx.unroll(4):
                    B[s, r * 8 + t, j * 4 + k] = tile[1 - s, r * 8 + (t ^ 1), j * 4 + (k ^ 3)]


@Tx.function
def access_plain(A: Tx.Tensor((2, ROWS, COLUMNS), TYPE), B: Tx.Tensor((2, ROWS, COLUMNS), TYPE)):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(8,)))
    t = Tx.cuda.thread_idx("x")
    for s in range(2):
        for r in range(ROWS // 8):
            for j in range(COLUMNS):
                B[s, r * 8 + t, j] = A[1 - s, r * 8 + (t ^ 1), j ^ 3]


# A swizzle that no hardware mode has, over a tile with an origin, in global memory.
# pair: odd TYPE:="int32" BITS:=32 MODE:=0 A=arange B=zeros n=5
@Tx.function
def odd(
    A: Tx.Tensor((12, 20), "int32", layout=ComposeLayout(1, 2, 3, TileLayout(S[(12, 4, 5) : (40, 1, 8)] + 6))),
    B: Tx.Tensor((12, 20), "int32", layout=ComposeLayout(0, 2, 4, TileLayout(S[(12, 20) : (20, 1)]), False)),
    n: Tx.int32,
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(2,), block=(6,)))
    i: Tx.let = Tx.cuda.block_idx("x") * 6 + Tx.cuda.thread_idx("x")
    for j in range(20):
        B[i, j] = A[11 - i, j] * 3 + A[n, 7]


@Tx.function
def odd_plain(A: Tx.Tensor((12, 20), "int32"), B: Tx.Tensor((12, 20), "int32"), n: Tx.int32):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(2,), block=(6,)))
    i: Tx.let = Tx.cuda.block_idx("x") * 6 + Tx.cuda.thread_idx("x")
    for j in range(20):
        B[i, j] = A[11 - i, j] * 3 + A[n, 7]
