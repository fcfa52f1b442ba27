// SPDX-License-Identifier: Apache-2.0
// Structures by value: as a kernel parameter, as an argument and as a result of a function that is not inlined.
// run: --grid 1 --block 32 --arg 0=arange@int32:6 --arg 1=zeros@float32:32 --show 1
// expect: structs_param_1 = float32[32]: 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 ...
struct Pair { int a[3]; double scale; };
struct Big { float4 v; short s[5]; };
__device__ __noinline__ Big widen(Pair p, int lane)
{
    Big b;
    b.v = make_float4(p.a[0], p.a[1], p.a[2], lane);
    for (int i = 0; i < 5; ++i) b.s[i] = (short)(i * p.scale);
    return b;
}
extern "C" __global__ void structs(const int *in, float *out)
{
    Pair p = {{in[0], in[1], in[2] + 2}, 1.0};
    Big b = widen(p, threadIdx.x);
    float sum = b.v.x + b.v.y + b.v.z + b.v.w;
    for (int i = 0; i < 5; ++i) sum += b.s[i];
    out[threadIdx.x] = sum;
}
