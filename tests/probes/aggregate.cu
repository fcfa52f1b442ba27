// SPDX-License-Identifier: Apache-2.0
// Warp-aggregated atomics: the leader of the lanes that keep an element adds for all of them.
// run: --grid 4 --block 64 --arg 0=arange@int32:256 --arg 1=zeros@int32:256 --arg 2=zeros@int32:1 --show 2
// expect: aggregate_param_2 = int32[1]: 86
extern "C" __global__ void aggregate(const int *in, int *out, int *count)
{
    int i = blockIdx.x * 64 + threadIdx.x, v = in[i];
    if (v % 3 == 0) {
        unsigned mask = __activemask();
        int lane = threadIdx.x % 32, leader = __ffs(mask) - 1, base = 0;
        if (lane == leader)
            base = atomicAdd(count, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & ((1u << lane) - 1))] = v;
    }
}
