// SPDX-License-Identifier: Apache-2.0
// wmma through its header, mma.sync with ldmatrix, and on sm_90a wgmma, each against a plain sum in the same kernel.
// run: --grid 1 --block 128 --arg 0=zeros@int32:4 --show 0
// expect: matrix_units_param_0 = int32[4]: 1024 0 0 0
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

__device__ float element_a(int m, int k) { return (float)((m * 7 + k * 3) % 9 - 4); }
__device__ float element_b(int k, int n) { return (float)((k * 5 + n * 11) % 7 - 3); }
__device__ float plain(int m, int n)
{
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += element_a(m, k) * element_b(k, n);
    return sum;
}

extern "C" __global__ void matrix_units(int *out)
{
    __shared__ __align__(1024) half a[64 * 16], b[16 * 16], pieces[64 * 16], pieces_b[8 * 16];
    __shared__ float c[16 * 16];
    int t = threadIdx.x, lane = t % 32;
    for (int i = t; i < 64 * 16; i += 128) {
        int m = i / 16, k = i % 16;
        half value = __float2half(element_a(m, k));
        a[i] = value;
        pieces[(m / 8) * 128 + (m % 8) * 8 + (k / 8) * 64 + k % 8] = value; // core matrices of 8 rows by 16 bytes
        if (m < 16)
            b[i] = __float2half(element_b(k, m));
        if (m < 8)
            pieces_b[(m % 8) * 8 + (k / 8) * 64 + k % 8] = __float2half(element_b(k, m));
    }
    __syncthreads();
    if (t < 32) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
        wmma::fill_fragment(fc, 0.0f);
        wmma::load_matrix_sync(fa, a, 16);
        wmma::load_matrix_sync(fb, b, 16);
        wmma::mma_sync(fc, fa, fb, fc);
        wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    }
    __syncthreads();
    int wrong = 0;
    for (int i = t; i < 256; i += 128)
        wrong += c[i] != plain(i / 16, i % 16);
    atomicAdd(&out[1], wrong);

    // every warp one m16n8k16
    unsigned ra[4], rb[2], where = (unsigned)__cvta_generic_to_shared(a + (t / 32) * 256 + lane % 16 * 16 + lane / 16 * 8);
    unsigned where_b = (unsigned)__cvta_generic_to_shared(b + lane % 8 * 16 + lane / 8 % 2 * 8);
    float d[4] = {0, 0, 0, 0};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(where));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(where_b));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    wrong = 0;
    for (int i = 0; i < 4; ++i)
        wrong += d[i] != plain(t / 32 * 16 + lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
    atomicAdd(&out[2], wrong);
    atomicAdd(&out[0], 4);

    float e[4] = {0, 0, 0, 0};
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    unsigned long long layout = 128ull >> 4 << 16 | 256ull >> 4 << 32;
    unsigned long long da = layout | (unsigned)__cvta_generic_to_shared(pieces) >> 4;
    unsigned long long db = layout | (unsigned)__cvta_generic_to_shared(pieces_b) >> 4;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
#else
    for (int i = 0; i < 4; ++i)
        e[i] = d[i];
#endif
    wrong = 0;
    for (int i = 0; i < 4; ++i)
        wrong += e[i] != plain(t / 32 * 16 + lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2);
    atomicAdd(&out[3], wrong);
    atomicAdd(&out[0], 4);
}
