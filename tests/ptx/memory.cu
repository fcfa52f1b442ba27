/* SPDX-License-Identifier: Apache-2.0
 * Every state space and width, vectors, atomics of all scopes, barriers, shuffles, votes, clusters, clocks. */
#include <cooperative_groups.h>
#include <cstdint>
namespace groups = cooperative_groups;

__constant__ float coefficients[4] = {1.0f, 2.0f, -3.5f, 4.25f};
__device__ double matrix[2][3] = {{1, 2, 3}, {4, 5}};
__device__ int2 pairs[2] = {{1, 2}, {3, 4}};
__device__ __managed__ int managed_value;
extern __shared__ float dynamic_first[];
extern __shared__ double dynamic_second[];

extern "C" __global__ void memory(const float4 *__restrict__ in, float4 *out, unsigned long long *totals, int *ints,
                                  short *shorts, int n) {
    __shared__ int tile[32][33];
    float4 v = in[threadIdx.x];
    float scratch[16];
    for (int i = 0; i < 16; i++) {
        scratch[(i * n) & 15] = v.x * coefficients[i & 3];
    }
    tile[threadIdx.x & 31][threadIdx.x >> 5] = n;
    __syncthreads();
    int w = tile[threadIdx.x >> 5][threadIdx.x & 31];
    w = __shfl_xor_sync(0xffffffffu, w, 1) + __shfl_up_sync(0xffffffffu, w, 2);
    w += __ballot_sync(0xffffffffu, w > 3) + __any_sync(0xffffffffu, w > 5) + __reduce_add_sync(0xffffffffu, w);
    w += __match_any_sync(__activemask(), w) + __syncthreads_count(w > 1) + __syncthreads_or(w);
    atomicAdd(&out->x, v.y);
    atomicAdd(totals, 1ull);
    atomicCAS(ints, w, n);
    atomicCAS((unsigned short *)shorts, (unsigned short)w, (unsigned short)n);
    atomicMax_block(ints + 1, w);
    atomicExch_system(ints + 2, w);
    atomicInc((unsigned *)ints + 3, 7u);
    atomicAnd(ints + 4, w);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    dynamic_first[threadIdx.x] = scratch[n & 15];
    dynamic_second[threadIdx.x + 64] = matrix[n & 1][n % 3];
    groups::this_grid().sync();
    auto warp = groups::tiled_partition<32>(groups::this_thread_block());
    warp.sync();
    ints[5] = (int)clock() + (int)clock64() + pairs[n & 1].y + managed_value + (int)warp.meta_group_rank();
    shorts[6] = (short)__popc(w) + (short)__clz(w) + (short)__brev(w) + (short)__ffs(w) + (short)__byte_perm(w, n, 0x5140);
    v.w = dynamic_first[n] + (float)dynamic_second[n];
    __stcs(out + 1, v);
    out[2] = __ldg(in + 3);
    out[3] = __ldcg(in + 4);
    *(volatile int *)(ints + 8) = *(volatile int *)(ints + 9);
    ints[10] = __dp4a(w, n, 1) + __funnelshift_l(w, n, 3) + __mulhi(w, n) + __usad(w, n, 1) + __vadd4(w, n);
    totals[1] = __umul64hi(totals[2], 5) + ((unsigned long long)w << n);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(int *out) {
    __shared__ int mine;
    auto group = groups::this_cluster();
    mine = (int)group.block_rank();
    group.sync();
    out[group.block_rank()] = *group.map_shared_rank(&mine, group.block_rank() ^ 1);
    group.sync();
}
