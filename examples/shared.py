# SPDX-License-Identifier: Apache-2.0
# Shared memory, static and dynamic: a tile that the whole CTA sees after a barrier, and one arena with two views.
from tvm_tirx.script import tirx as Tx

N = 128


@Tx.function
def reverse(A: Tx.Tensor((N,), "float32"), B: Tx.Tensor((N,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(N,)))
    tx = Tx.cuda.thread_idx("x")
    tile = Tx.alloc_shared((N,), "float32")
    tile[tx] = A[tx]
    Tx.cuda.cta_sync()
    B[tx] = tile[N - 1 - tx]


@Tx.function
def pair(A: Tx.Tensor((N,), "float32"), B: Tx.Tensor((N,), "float32"), C: Tx.Tensor((N,), "float32")):
    Tx.device_entry(launch=Tx.cuda.LaunchConfig(grid=(1,), block=(N,)))
    tx = Tx.cuda.thread_idx("x")
    arena = Tx.alloc_tensor(ty_args=[Tx.Tensor((2 * N,), "float32", scope="shared.dyn")])
    As = Tx.decl_tensor(arena.data, ty_args=[Tx.Tensor((N,), "float32", scope="shared.dyn")])
    Bs = Tx.decl_tensor(
        arena.data,
        ty_args=[Tx.Tensor((N,), "float32", scope="shared.dyn", layout=Tx.TileLayout(Tx.S[(N,)] + N))],
    )
    As[tx] = A[tx]
    Bs[tx] = B[tx]
    Tx.cuda.cta_sync()
    C[tx] = As[N - 1 - tx] + Bs[tx]
