// SPDX-License-Identifier: Apache-2.0
// Several extern shared arrays of one module share one base; a static array lies before it.
// run: --grid 1 --block 32 --smem 256 --arg 0=zeros@int32:32 --show 0
// expect: dynamic_param_0 = int32[32]: 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 ...
extern __shared__ int first[];
extern __shared__ unsigned second[];
extern "C" __global__ void dynamic(int *out)
{
    __shared__ int fixed[32];
    int t = threadIdx.x;
    fixed[t] = t + 1;
    first[t] = t;
    __syncthreads();
    out[t] = (int)second[t] + fixed[t];
}
