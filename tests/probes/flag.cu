// SPDX-License-Identifier: Apache-2.0
// Lane 31 sets a flag that the other lanes of the same warp poll: needs splits that take turns.
// run: --grid 1 --block 32 --arg 0=zeros@int32:32 --show 0
// expect: flag_param_0 = int32[32]: 42 42 42 42 42 42 42 42 42 42 42 42 42 42 42 42 ...
extern "C" __global__ void flag(int *out)
{
    __shared__ volatile int ready, value;
    if (threadIdx.x == 0)
        ready = 0;
    __syncwarp();
    if (threadIdx.x == 31) {
        value = 42;
        __threadfence_block();
        ready = 1;
    } else {
        while (!ready)
            ;
    }
    out[threadIdx.x] = value;
}
