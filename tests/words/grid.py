# SPDX-License-Identifier: Apache-2.0
# The barrier of the grid: a kernel that needs it twice, one in which a CTA does not come, and one of more CTAs than are
# resident at once.
# pair: steps A=zeros
from tvm_tirx.script import tirx as T


@T.function
def steps(A: T.Tensor((8, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(8,), block=(32,)))
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    A[bx, tx] = bx + tx
    T.cuda.grid_sync()
    n: T.int32 = A[(bx + 1) % 8, tx]
    T.cuda.grid_sync()
    A[bx, tx] += n * 10


@T.function
def steps_plain(A: T.Tensor((8, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(8,), block=(32,)))
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    A[bx, tx] = bx + tx + ((bx + 1) % 8 + tx) * 10


@T.function
def left_out(A: T.Tensor((8, 32), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(8,), block=(32,)))
    bx = T.cuda.block_idx("x")
    tx = T.cuda.thread_idx("x")
    A[bx, tx] = bx
    if bx != 5:
        T.cuda.grid_sync()


@T.function
def too_many(A: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(4096,), block=(1024,)))
    T.cuda.grid_sync()
    A[T.cuda.thread_idx("x") % 32] = 1
