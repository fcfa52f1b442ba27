// SPDX-License-Identifier: Apache-2.0
// A switch with enough dense cases to become a branch table, different in every lane, with fall-through.
// run: --grid 1 --block 32 --arg 0=zeros@int32:32 --show 0
// expect: divergent_param_0 = int32[32]: 100 11 24 39 203 200 196 191 -8 1000 101 12 25 40 213 210 ...
extern "C" __global__ void divergent(int *out)
{
    int i = threadIdx.x, v = i / 10;
    switch (i % 10) {
    case 0: v += 100; break;
    case 1: v += 11; break;
    case 2: v += 24; break;
    case 3: v += 39; break;
    case 4: v += 3; v += v < 100 ? i / 10 * 9 : 0; /* fall through */
    case 5: v += i % 10 == 5 ? i / 10 * 9 + 0 : 0; v += 200; break;
    case 6: v ^= 196; break;
    case 7: v = 191 - v * v; break;
    case 8: v = -i; break;
    default: v = 1000 << v; break;
    }
    out[i] = v;
}
