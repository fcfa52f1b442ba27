// SPDX-License-Identifier: Apache-2.0
// A cooperative-groups reduction of a block, and the last block adds the partial sums.
// run: --grid 8 --block 128 --arg 0=arange@int32:1024 --arg 1=zeros@int32:8 --arg 2=zeros@int32:1 --arg 3=zeros@int32:1 --show 3
// expect: reduce_param_3 = int32[1]: 523776
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reduce(const int *in, int *partial, unsigned *done, int *out)
{
    __shared__ int sums[4];
    __shared__ bool last;
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int v = cg::reduce(warp, in[blockIdx.x * 128 + threadIdx.x], cg::plus<int>());
    if (warp.thread_rank() == 0)
        sums[warp.meta_group_rank()] = v;
    block.sync();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    block.sync();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < 8; ++i)
            sum += ((volatile int *)partial)[i];
        *out = sum;
    }
}
