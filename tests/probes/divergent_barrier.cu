// SPDX-License-Identifier: Apache-2.0
// Half of the block never reaches the barrier that the other half waits at with its own count: a deadlock report.
// run: --grid 1 --block 64 --arg 0=zeros@int32:64
// status: 1
// error: T0709
extern "C" __global__ void divergent_barrier(int *out)
{
    if (threadIdx.x >= 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
