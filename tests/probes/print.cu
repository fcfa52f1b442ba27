// SPDX-License-Identifier: Apache-2.0
// printf with mixed types, widths and a string argument; the output comes in CTA order whatever the worker threads do.
// run: --grid 3 --block 32
// expect: cta 0: -7 4000000000 ffff 3.50000 x 123456789012 text 50% 0x2a
// expect: cta 1: -6 4000000001 10000 4.50000 y 123456789013 text 50% 0x2b
// expect: cta 2: -5 4000000002 10001 5.50000 z 123456789014 text 50% 0x2c
#include <cstdio>
extern "C" __global__ void print()
{
    int b = blockIdx.x;
    if (threadIdx.x == 5)
        printf("cta %d: %d %u %x %.5f %c %lld %s 50%% %#x\n", b, b - 7, 4000000000u + b, 65535 + b, 3.5f + b, 'x' + b,
               123456789012ll + b, "text", 42 + b);
}
