// SPDX-License-Identifier: Apache-2.0
// One thread stores past the end of a buffer.
// run: --grid 1 --block 33 --arg 0=zeros@int32:32
// status: 1
// error: T0702
extern "C" __global__ void outside(int *out)
{
    out[threadIdx.x] = 1;
}
