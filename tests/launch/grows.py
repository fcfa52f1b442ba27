# SPDX-License-Identifier: Apache-2.0
# A kernel whose launch says how much dynamic shared memory it gets.
from tvm_tirx.script import tirx as T

@T.function
def grows(A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32"), bytes: T.int32):
    T.device_entry(launch=T.cuda.LaunchConfig(grid=(1,), block=(128,), dynamic_smem_bytes=bytes))
    tx = T.cuda.thread_idx("x")
    arena = T.alloc_tensor(ty_args=[T.Tensor((128,), "float32", scope="shared.dyn")])
    arena[127 - tx] = A[tx]
    T.cuda.cta_sync()
    B[tx] = arena[tx] + T.float32(1.0)
