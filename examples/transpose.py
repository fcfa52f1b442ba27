# SPDX-License-Identifier: Apache-2.0
# Tiled transpose. The tile's rows are 33 elements apart (a layout, not a bigger shape), so that neither the row-wise
# store nor the column-wise load of a warp meets the same shared-memory bank twice.
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import TileLayout, S

M = 1024
N = 1024


@Tx.function
def transpose(A: Tx.Tensor((M, N), "float32"), B: Tx.Tensor((N, M), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=((N + 31) // 32, (M + 31) // 32), block=(32, 8)))
    bx = Tx.cuda.block_idx("x")
    by = Tx.cuda.block_idx("y")
    tx = Tx.cuda.thread_idx("x")
    ty = Tx.cuda.thread_idx("y")
    tile = Tx.alloc_shared((32, 32), "float32", layout=TileLayout(S[(32, 32) : (33, 1)]))
    for r in Tx.unroll(4):
        if by * 32 + ty + r * 8 < M and bx * 32 + tx < N:
            tile[ty + r * 8, tx] = A[by * 32 + ty + r * 8, bx * 32 + tx]
    Tx.cuda.cta_sync()
    for r in Tx.unroll(4):
        if bx * 32 + ty + r * 8 < N and by * 32 + tx < M:
            B[bx * 32 + ty + r * 8, by * 32 + tx] = tile[tx, ty + r * 8]
