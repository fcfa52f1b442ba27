# SPDX-License-Identifier: Apache-2.0
# Views cost nothing: reshape, permute, another element type, wide access; only index arithmetic changes.
from tvm_tirx.script import tirx as Tx


@Tx.function
def rows(A: Tx.Tensor((256,), "float32"), B: Tx.Tensor((64,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = Tx.cuda.thread_idx("x")
    A2 = A.view(64, 4)
    B[tx] = A2[tx, 0] + A2[tx, 3]


@Tx.function
def columns(A: Tx.Tensor((8, 4), "float32"), B: Tx.Tensor((4, 8), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(4, 8)))
    i = Tx.cuda.thread_idx("x")
    j = Tx.cuda.thread_idx("y")
    At = A.permute(1, 0)
    B[i, j] = At[i, j]


@Tx.function
def wide(A: Tx.Tensor((512,), "float32"), B: Tx.Tensor((512,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = Tx.cuda.thread_idx("x")
    B[Tx.Ramp(tx * 4, 1, 4)] = A[Tx.Ramp(tx * 4, 1, 4)]


@Tx.function
def bits(A: Tx.Tensor((64,), "float32"), B: Tx.Tensor((64,), "uint32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(64,)))
    tx = Tx.cuda.thread_idx("x")
    Au = Tx.decl_tensor(A.data, ty_args=[Tx.Tensor((64,), "uint32")])
    B[tx] = Au[tx]
