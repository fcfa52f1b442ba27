// SPDX-License-Identifier: Apache-2.0
// Calls through a table of function pointers, a different function in every lane.
// run: --grid 1 --block 32 --arg 0=zeros@int32:32 --show 0
// expect: indirect_param_0 = int32[32]: 1 1 4 6 5 25 12 14 9 81 20 22 13 169 28 30 ...
__device__ __noinline__ int inc(int x) { return x + 1; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ int (*const table[4])(int) = {inc, square, twice, twice};
extern "C" __global__ void indirect(int *out)
{
    int t = threadIdx.x;
    out[t] = table[t % 4](t);
}
