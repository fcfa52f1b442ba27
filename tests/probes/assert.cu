// SPDX-License-Identifier: Apache-2.0
// A device assertion that one thread fails.
// run: --grid 2 --block 64 --arg 0=arange@int32:128
// status: 1
// error: T0707
#include <cassert>
extern "C" __global__ void check(const int *in)
{
    assert(in[blockIdx.x * 64 + threadIdx.x] != 77);
}
