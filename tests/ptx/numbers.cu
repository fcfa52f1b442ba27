/* SPDX-License-Identifier: Apache-2.0
 * Half, bfloat16 and fp8 arithmetic and conversions, warp matrix instructions, double and fast math. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void numbers(__half *h, __nv_bfloat16 *b, float *f, double *d, unsigned char *bytes, int n) {
    __half2 x = __halves2half2(h[0], h[1]), y = __floats2half2_rn(f[0], f[1]);
    x = __hfma2(x, y, __hmul2(x, __hadd2_sat(x, y)));
    x = __hmax2(x, __habs2(y));
    h[2] = __hlt(h[0], h[1]) ? hexp(h[0]) : htanh(h[1]);
    h[3] = __low2half(x);
    __nv_bfloat162 u = __floats2bfloat162_rn(f[2], f[3]);
    b[0] = __hfma(u.x, u.y, b[1]);
    b[2] = __hmin(b[0], b[1]);
    b[3] = (__nv_bfloat16)n;
    __nv_fp8x2_e4m3 q(make_float2(f[4], f[5]));
    bytes[0] = (unsigned char)q.__x;
    f[6] = (float)__nv_fp8_e5m2(f[7]);
    f[8] = __expf(f[9]) + rsqrtf(f[10]) + __fdividef(f[11], f[12]) + sqrtf(f[13]) + log2f(f[14]) + f[15] / f[16];
    f[17] = fminf(f[18], fmaxf(f[19], 0.0f)) + truncf(f[20]) + rintf(f[21]) + (float)(n / 7) + fabsf(f[22]) + fmodf(f[23], f[24]);
    f[25] = (isnan(f[26]) ? 1.0f : __int_as_float(n)) + __saturatef(f[27]) + (float)(unsigned char)f[28] + (float)(long long)f[29];
    d[0] = d[1] / d[2] + sqrt(d[3]) + exp(d[4]) + (double)f[30] + fma(d[5], d[6], d[7]) + __dadd_ru(d[8], d[9]);
    f[31] = (float)d[10] + __fmaf_rz(f[32], f[33], f[34]);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> c;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    wmma::load_matrix_sync(a, h, 16);
    wmma::load_matrix_sync(c, h + 256, 16);
    wmma::mma_sync(acc, a, c, acc);
    wmma::store_matrix_sync(f, acc, 16, wmma::mem_row_major);
}
