// SPDX-License-Identifier: Apache-2.0
// A spin lock by compare-and-swap, taken by every lane of every warp: plain reconvergence at the post-dominator hangs.
// run: --grid 3 --block 64 --arg 0=zeros@int32:1 --arg 1=zeros@int32:1 --show 0 --show 1
// expect: lock_param_0 = int32[1]: 0
// expect: lock_param_1 = int32[1]: 192
extern "C" __global__ void lock(int *mutex, int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter = *(volatile int *)counter + 1;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
