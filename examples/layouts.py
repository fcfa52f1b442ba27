# SPDX-License-Identifier: Apache-2.0
# One access, four layouts: only the tensor's metadata differs, and with it the emitted index.
#     tirc build layouts.py:column_major
from tvm_tirx.script import tirx as Tx
from tvm_tirx.tirx.layout import TileLayout, S

SPEC = S[(4, 8)]


@Tx.function
def row_major(A: Tx.Tensor((4, 8), "float32"), B: Tx.Tensor((4, 8), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(1,)))
    for i in range(4):
        for j in range(8):
            B[i, j] = A[i, j] + Tx.float32(1.0)


@Tx.function
def column_major(
    A: Tx.Tensor((4, 8), "float32"), B: Tx.Tensor((4, 8), "float32", layout=TileLayout(S[(4, 8) : (1, 4)]))
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(1,)))
    for i in range(4):
        for j in range(8):
            B[i, j] = A[i, j] + Tx.float32(1.0)


@Tx.function
def shifted(A: Tx.Tensor((4, 8), "float32"), B: Tx.Tensor((4, 8), "float32", layout=TileLayout(SPEC + 64))):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(1,)))
    for i in range(4):
        for j in range(8):
            B[i, j] = A[i, j] + Tx.float32(1.0)


@Tx.function
def row_stride_16(
    A: Tx.Tensor((4, 8), "float32"), B: Tx.Tensor((4, 8), "float32", layout=TileLayout(S[(4, 8) : (16, 1)]))
):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(1,)))
    for i in range(4):
        for j in range(8):
            B[i, j] = A[i, j] + Tx.float32(1.0)
