// SPDX-License-Identifier: Apache-2.0
// A loop that loads the next tile while it works on this one; the last load must not be executed.
// run: --grid 2 --block 64 --arg 0=arange@int32:1024 --arg 1=zeros@int32:128 --arg 2=8 --show 1
// expect: prefetch_param_1 = int32[128]: 3584 3592 3600 3608 3616 3624 3632 3640 3648 3656 3664 3672 3680 3688 3696 3704 ...
extern "C" __global__ void prefetch(const int *in, int *out, int tiles)
{
    int at = blockIdx.x * 64 + threadIdx.x, sum = 0;
    int next = in[at];
    for (int t = 0; t < tiles; ++t) {
        int now = next;
        if (t + 1 < tiles)
            next = in[at + (t + 1) * 128];
        sum += now;
    }
    out[at] = sum;
}
