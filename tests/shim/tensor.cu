// SPDX-License-Identifier: Apache-2.0
// A program that asks for the driver's encoder by name, as libraries do, and moves a matrix by tensor copies: tiles go
// through swizzled shared memory and come out in transposed tile order.
#include <cstdio>
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                              const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

__device__ static uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void move(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ __align__(1024) unsigned short tile[64 * 64];
    __shared__ uint64_t barrier;
    uint32_t bar = shared_address(&barrier), at = shared_address(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(64 * 64 * 2) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at),
                     "l"(&from), "r"(blockIdx.x * 64), "r"(blockIdx.y * 64), "r"(bar)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nw:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra w;\n}" ::"r"(bar) : "memory");
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) { // row y, column x stands where the swizzle put it
        uint32_t y = i / 64, x = i % 64;
        tile[y * 64 + ((x / 8) ^ (y % 8)) * 8 + x % 8] += 1;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(blockIdx.y * 64),
                     "r"(blockIdx.x * 64), "r"(at)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main() {
    const int n = 200; // not a multiple of the tile
    unsigned short *a, *b;
    static unsigned short host[n * n], back[n * n];
    for (int i = 0; i < n * n; i++) host[i] = (unsigned short)(i * 7);
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, sizeof host);
    encode_tiled *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
        printf("no encoder\n");
        return 1;
    }
    cuuint64_t dims[] = {n, n}, strides[] = {n * 2};
    cuuint32_t box[] = {64, 64}, steps[] = {1, 1}, wide[] = {128, 64};
    CUtensorMap from, to, wrong;
    if (encode(&from, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, a, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) ||
        encode(&to, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, b, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
        printf("not encoded\n");
        return 1;
    }
    if (encode(&wrong, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, a, dims, strides, wide, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_ERROR_INVALID_VALUE) {
        printf("a box wider than its swizzle was taken\n");
        return 1;
    }
    move<<<dim3(4, 4), 128>>>(from, to);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaMemcpy(back, b, sizeof back, cudaMemcpyDeviceToHost);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            int ty = y / 64, tx = x / 64, sy = tx * 64 + y % 64, sx = ty * 64 + x % 64; // the tile it came from
            unsigned short want = sy < n && sx < n ? (unsigned short)(host[sy * n + sx] + 1) : 1;
            if (back[y * n + x] != want) {
                printf("(%d, %d): %u instead of %u\n", y, x, back[y * n + x], want);
                return 1;
            }
        }
    printf("all right\n");
}
