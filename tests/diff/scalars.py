# SPDX-License-Identifier: Apache-2.0
# One kernel with a scalar in its three spellings, case E08, and two that differ.
from tvm_tirx.script import tirx as T


@T.function
def sugar(A: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    s: T.int32 = 0
    while s < 5:
        s += tx + 1
    A[tx] = s


@T.function
def explicit(A: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    s = T.local_scalar("int32")
    s = 0
    while s < 5:
        s = s + (tx + 1)
    A[tx] = s


@T.function
def tensor(A: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    s = T.alloc_local((1,), "int32")
    s[0] = 0
    while s[0] < 5:
        s[0] = s[0] + (tx + 1)
    A[tx] = s[0]


@T.function
def other(A: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    s: T.int32 = 0
    while s < 5:
        s += tx + 2
    A[tx] = s


@T.function
def longer(A: T.Tensor((128,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    tx = T.cuda.thread_idx("x")
    s: T.int32 = 0
    while s < 5:
        s += tx + 1
    A[tx] = s
    A[0] = 1


@T.function
def wider(A: T.Tensor((128,), "int64")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,)))
    A[0] = 0
