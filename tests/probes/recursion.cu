// SPDX-License-Identifier: Apache-2.0
// Recursion with a different depth in every lane; the local stack grows per thread.
// run: --grid 1 --block 32 --arg 0=zeros@int32:32 --show 0
// expect: recursion_param_0 = int32[32]: 0 1 1 2 3 5 8 13 21 34 55 89 0 1 1 2 ...
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}
