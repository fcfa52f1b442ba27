# SPDX-License-Identifier: Apache-2.0
# Index forms of swizzled tensors: one XOR where the parts can be told apart, shared by accesses that differ by
# constants; the whole formula where bounds prove nothing.
from tvm_tirx.script import tirx as T


# entry: one_xor
# cuda: tile_ptr[((t * 64) + (j ^ ((t & 7) * 8)))] = X_ptr[((t * 64) + j)];
# partial
@T.function
def one_xor(X: T.Tensor((64, 64), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    t = T.cuda.thread_idx("x")
    tile = T.alloc_shared((64, 64), "float16", layout=T.mma_shared_layout("float16", "auto", (64, 64)))
    for j in range(64):
        tile[t, j] = X[t, j]
    X[t, 0] = tile[t, t]


# Panels of 64 columns; constants of the column flip bits of one base, constants below 16 bytes are offsets.
# entry: shared_base
# cuda: X_ptr[((t * 256) + (j * 64))] = tile_ptr[(((j * 1024) + (t * 64)) + ((t & 7) * 8))];
# cuda: X_ptr[(((t * 256) + (j * 64)) + 9)] = tile_ptr[(((((j * 1024) + (t * 64)) + ((t & 7) * 8)) ^ 8) + 1)];
# cuda: X_ptr[(((t * 256) + (j * 64)) + 18)] = tile_ptr[(((((j * 1024) + (t * 64)) + ((t & 7) * 8)) ^ 16) + 2)];
# cuda: X_ptr[((t * 256) + 255)] = tile_ptr[((((t * 64) + ((t & 7) * 8)) ^ 56) + 3079)];
# partial
@T.function
def shared_base(X: T.Tensor((16, 256), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = T.cuda.thread_idx("x")
    tile = T.alloc_shared((16, 256), "float16", layout=T.mma_shared_layout("float16", "auto", (16, 256)))
    for j in range(4):
        tile[t, j] = X[t, j]
        for k in T.unroll(3):
            X[t, j * 64 + k * 9] = tile[t, j * 64 + k * 9]
    X[t, 255] = tile[t, 255]


# Nothing bounds n, which may even be negative: the XOR stands over the whole element number.
# entry: whole_formula
# cuda: X_ptr[0] = tile_ptr[(((n * 16) + m) ^ ((((n * 16) + m) >> 3) & 4))];
# partial
@T.function
def whole_formula(X: T.Tensor((32, 16), "int32"), n: T.int32, m: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    tile = T.alloc_shared((32, 16), "int32", layout=T.ComposeLayout(2, 1, 3, T.S[(32, 16)]))
    for j in range(16):
        tile[t, j] = X[t, j]
    T.cuda.cta_sync()
    X[0, 0] = tile[n, m]
