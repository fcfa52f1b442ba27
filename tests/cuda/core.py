# SPDX-License-Identifier: Apache-2.0
# Kernels with the constructs of the document, written afresh, and the CUDA statements they must become.
from tvm_tirx.script import tirx as T
from tvm_tirx.tirx.layout import S, TileLayout


# entry: triple_static
# cuda: extern "C" __global__ void __launch_bounds__(64)
# cuda: triple_static_kernel(float* __restrict__ X_ptr, float* __restrict__ Y_ptr) {
# cuda:   int t = ((int)threadIdx.x);
# cuda:   __shared__ alignas(64) float tile_ptr[64];
# cuda:   tile_ptr[t] = X_ptr[t];
# cuda:   __syncthreads();
# cuda:   Y_ptr[t] = tile_ptr[t] * 3.0f;
# cuda: }
@T.function
def triple_static(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(64,)))
    b = T.cuda.block_idx("x")
    t = T.cuda.thread_idx("x")
    tile = T.alloc_shared((64,), "float32")
    tile[t] = X[t]
    T.cuda.cta_sync()
    Y[t] = tile[t] * T.float32(3.0)


# entry: two_views
# cuda: extern __shared__ __align__(64) half store_ptr[];
# cuda: store_ptr[t] = X_ptr[t];
# cuda: store_ptr[t + 32] = X_ptr[t + 32];
# cuda: __syncthreads();
# cuda: Y_ptr[t] = store_ptr[63 - t];
@T.function
def two_views(X: T.Tensor((64,), "float16"), Y: T.Tensor((32,), "float16")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    store = T.alloc_tensor(ty_args=[T.Tensor((64,), "float16", scope="shared.dyn")])
    low = T.decl_tensor(store.data, ty_args=[T.Tensor((32,), "float16", scope="shared.dyn")])
    high = T.decl_tensor(
        store.data, ty_args=[T.Tensor((32,), "float16", scope="shared.dyn", layout=TileLayout(S[(32,)] + 32))]
    )
    low[t] = X[t]
    high[t] = X[t + 32]
    T.cuda.cta_sync()
    Y[t] = high[31 - t]


# entry: three_layouts
# cuda: P_ptr[((a * 6) + b)] = X_ptr[((a * 6) + b)];
# cuda: Q_ptr[((b * 3) + a)] = X_ptr[((a * 6) + b)];
# cuda: R_ptr[(((a * 8) + b) + 5)] = X_ptr[((a * 6) + b)];
@T.function
def three_layouts(
    X: T.Tensor((3, 6), "int32"),
    P: T.Tensor((3, 6), "int32"),
    Q: T.Tensor((3, 6), "int32", layout=TileLayout(S[(3, 6) : (1, 3)])),
    R: T.Tensor((3, 6), "int32", layout=TileLayout(S[(3, 6) : (8, 1)] + 5)),
):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    for a in range(3):
        for b in range(6):
            P[a, b] = X[a, b]
            Q[a, b] = X[a, b]
            R[a, b] = X[a, b]


# entry: unrolled
# cuda: alignas(64) float v_ptr[3];
# cuda: v_ptr[0] = X_ptr[t * 3 + 0];
# cuda: v_ptr[1] = X_ptr[t * 3 + 1];
# cuda: v_ptr[2] = X_ptr[t * 3 + 2];
# cuda: Y_ptr[t] = (v_ptr[0] + v_ptr[1]) + v_ptr[2];
@T.function
def unrolled(X: T.Tensor((32, 3), "float32"), Y: T.Tensor((32,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    v = T.alloc_local((3,), "float32")
    for k in T.unroll(3):
        v[k] = X[t, k]
    Y[t] = v[0] + v[1] + v[2]


# entry: counted
# partial
# cuda: alignas(64) int n_ptr[1];
# cuda: n_ptr[0] = 0;
# cuda: n_ptr[0] = (int)((unsigned int)n_ptr[0] + 2u);
@T.function
def counted(X: T.Tensor((32,), "int32"), Y: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    n: T.int32 = 0
    while n < X[t]:
        n += 2
    Y[t] = n


# entry: halves
# partial
# cuda: int twice = m * 2;
@T.function
def halves(m: T.int32, Y: T.Tensor((64,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    twice: T.let = m * 2
    Y[twice % 64] = twice


# entry: wide_copy
# cuda: *(float2*)(Y_ptr + t * 2) = *(float2*)(X_ptr + t * 2);
@T.function
def wide_copy(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    Y[T.Ramp(t * 2, 1, 2)] = X[T.Ramp(t * 2, 1, 2)]


# entry: reshaped
# map: rows_ptr=X_ptr
# cuda: Y_ptr[t] = rows_ptr[t * 8] + rows_ptr[t * 8 + 7];
@T.function
def reshaped(X: T.Tensor((128,), "float32"), Y: T.Tensor((16,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(16,)))
    t = T.cuda.thread_idx("x")
    rows = X.view(16, 8)
    Y[t] = rows[t, 0] + rows[t, 7]


# entry: turned
# cuda: Y_ptr[i * 8 + j] = X_ptr[j * 4 + i];
@T.function
def turned(X: T.Tensor((8, 4), "float32"), Y: T.Tensor((4, 8), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(1,)))
    Xt = X.permute(1, 0)
    for i in T.serial(4):
        for j in T.serial(8):
            Y[i, j] = Xt[i, j]


# entry: old_dialect
# cuda: Y_ptr[t] = X_ptr[t] + 1.0f;
@T.prim_func
def old_dialect(x: T.handle, y: T.handle):
    X = T.match_buffer(x, (64,), "float32")
    Y = T.match_buffer(y, (64,), "float32")
    T.device_entry()
    b = T.cta_id([1])
    t = T.thread_id([64])
    Y[t] = X[t] + T.float32(1.0)
