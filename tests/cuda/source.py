# SPDX-License-Identifier: Apache-2.0
# Functions of CUDA source text: printed once before the kernels, called in place; names of the kernel keep away.
from tvm_tirx.script import tirx as T

LOAD = """
__device__ __forceinline__ float load_twice(const float* p, int n) {
  return p[0] + p[n];
}
"""
MARK = "__device__ void mark(int* p) { atomicAdd(p, 1); }"


# entry: calls
# cuda: Y_ptr[t] = load_twice(&X_ptr[t], mark_ptr[0]) + load_twice(X_ptr, t);
# cuda: mark(C_ptr);
# partial
@T.function
def calls(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32"), C: T.Tensor((64,), "int32")):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(32,)))
    t = T.cuda.thread_idx("x")
    mark: T.int32 = 1
    Y[t] = T.cuda.func_call("load_twice", X.ptr_to([t]), mark, LOAD, ty="float32") + T.cuda.func_call(
        "load_twice", X, t, source_code=LOAD, return_type="float32"
    )
    T.cuda.func_call("mark", C, MARK)
