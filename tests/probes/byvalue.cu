// SPDX-License-Identifier: Apache-2.0
// A kernel parameter that is an array inside a structure, indexed by a value known only at run time.
// run: --grid 1 --block 32 --arg 0=5 --arg 1=zeros@int32:32 --show 1
// expect: byvalue_param_1 = int32[32]: 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 ...
struct One { int x; };
extern "C" __global__ void byvalue(One one, int *out)
{
    out[threadIdx.x] = one.x + threadIdx.x;
}
