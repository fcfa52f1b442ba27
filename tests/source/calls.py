# SPDX-License-Identifier: Apache-2.0
# Functions of CUDA source text on the machine: pointers, scalars, vectors, half and bool in and out, one function that
# calls another, shared memory and a barrier inside, printf inside, templates, functions that CUDA has itself.
from tvm_tirx.script import tirx as T

LOAD = """
__device__ __forceinline__ float load_twice(const float* p, int n) {
  return p[0] + p[n];
}
"""
MARK = "__device__ void mark(int* p) { atomicAdd(p, 1); }"
VECTORS = """
template <typename T>
__device__ T twice(T x) { return x + x; }

__device__ float4 scale(float4 v, half h, bool b, unsigned char c, short s) {
  float f = __half2float(h) + b + c + s;
  return make_float4(twice(v.x) * f, v.y * f, v.z * f, v.w * f);
}

__device__ float total(float4 v) {
  __shared__ float s[32];
  s[threadIdx.x] = v.x + v.y + v.z + v.w;
  __syncthreads();
  float r = 0;
  for (int i = 0; i < 32; i++) r += s[i];
  if (threadIdx.x == 0) printf("total %g\\n", r);
  __syncthreads();
  return r;
}
"""
SMALL = """
#include <cuda_fp16.h>
__device__ half half_of(float x) { return __float2half(x * 0.5f); }
__device__ bool is_odd(long long n) { return n & 1; }
__device__ signed char negative(signed char c) { return -c; }
__device__ double third(double x, const char* text) { return text[0] == 't' ? x / 3.0 : 0.0; }
__device__ void add_one(int* p) { ++*p; }
"""


@T.function
def calls(
    X: T.Tensor((64,), "float32"), Y: T.Tensor((32,), "float32"), C: T.Tensor((64,), "int32"),
    Z: T.Tensor((32, 4), "float32"), W: T.Tensor((32,), "float32"),
):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    mark: T.int32 = 1
    Y[t] = T.cuda.func_call("load_twice", X.ptr_to([t]), mark, LOAD, ty="float32") + T.cuda.func_call(
        "load_twice", X, t, source_code=LOAD, return_type="float32"
    )
    T.cuda.func_call("mark", C, MARK)
    v: T.let = T.cuda.func_call(
        "scale", Z.vload([t, 0], "float32x4"), T.float16(2.0), t > 3, T.uint8(1), T.int16(-1), VECTORS, ty="float32x4"
    )
    Z.vstore([t, 0], v)
    W[t] = T.cuda.func_call("total", v, VECTORS, ty="float32")


@T.function
def small(H: T.Tensor((32,), "float16"), C: T.Tensor((4, 32), "int32"), D: T.Tensor((32,), "float64")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    s = T.alloc_shared((32,), "int32")
    own = T.alloc_local((2,), "int32")
    s[t] = t
    own[1] = t * 7
    H[t] = T.cuda.func_call("half_of", T.cast(t, "float32"), SMALL, ty="float16")
    if T.cuda.func_call("is_odd", T.cast(t, "int64"), SMALL, ty="bool"):
        C[0, t] = T.cast(T.cuda.func_call("negative", T.cast(t, "int8"), SMALL, ty="int8"), "int32")
    D[t] = T.cuda.func_call("third", T.cast(t, "float64"), "text", SMALL, ty="float64")
    T.cuda.func_call("mark", s.ptr_to([t]), MARK)
    T.cuda.func_call("add_one", own.ptr_to([1]), SMALL)
    C[1, t] = s[t]
    C[2, t] = own[1]
    C[3, t] = T.call_extern("int32", "__popc", t) + T.call_pure_extern("int32", "max", t, 30)


# small_plain: what small must give
@T.function
def small_plain(H: T.Tensor((32,), "float16"), C: T.Tensor((4, 32), "int32"), D: T.Tensor((32,), "float64")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    H[t] = T.cast(T.cast(t, "float32") * 0.5, "float16")
    if t % 2 == 1:
        C[0, t] = 0 - t
    D[t] = T.cast(t, "float64") / T.float64(3.0)
    C[1, t] = t + 1
    C[2, t] = t * 7 + 1
    C[3, t] = T.popcount(t) + T.max(t, 30)


PAST = """
__device__ float past(const float* p, int n) {
  float first = p[n];
  return first + p[n + 64];
}
"""
WRONG = """
__device__ float wrong(const float* p) {
  return q[0];
}
__device__ int also(int x) { return x + y; }
"""


@T.function
def off(X: T.Tensor((64,), "float32"), Y: T.Tensor((32,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    Y[t] = T.cuda.func_call("past", X, t, PAST, ty="float32")


@T.function
def local_atomic(Y: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    own = T.alloc_local((2,), "int32")
    own[0] = T.cuda.func_call("half_of", T.cast(t, "float32"), SMALL, ty="int32")
    T.cuda.func_call("mark", own.ptr_to([0]), MARK)
    Y[t] = own[0]


@T.function
def refused(X: T.Tensor((64,), "float32"), Y: T.Tensor((32,), "float32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    Y[t] = T.cuda.func_call("wrong", X, WRONG, ty="float32")


@T.function
def reference(Y: T.Tensor((32,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    n: T.int32 = 0
    name = "bump"
    T.cuda.func_call("bump", n, f"__device__ void {name}(int& x) {{ x++; }}")
    Y[0] = n + T.call_extern("int32", "no_such_function", n)
