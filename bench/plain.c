/* SPDX-License-Identifier: Apache-2.0
 * The four kernels as plain C loops, built with -O3 for this processor: what the machine is measured against.
 */
#include "bench.h"

void plain_elementwise(const float *a, float *b, size_t n) {
    for (size_t i = 0; i < n; ++i)
        b[i] = a[i] * 2.0f + 1.0f;
}

void plain_transpose(const float *a, float *b, size_t n) {
    enum { TILE = 32 };
    for (size_t i0 = 0; i0 < n; i0 += TILE)
        for (size_t j0 = 0; j0 < n; j0 += TILE)
            for (size_t i = i0; i < i0 + TILE; ++i)
                for (size_t j = j0; j < j0 + TILE; ++j)
                    b[j * n + i] = a[i * n + j];
}

void plain_gemm(const float *restrict a, const float *restrict b, float *restrict c, size_t n) {
    memset(c, 0, n * n * sizeof *c);
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k)
            for (size_t j = 0; j < n; ++j)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

void plain_collatz(int *b, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        unsigned long long v = i + 1;
        int steps = 0;
        while (v != 1) {
            v = v & 1 ? v * 3 + 1 : v >> 1;
            ++steps;
        }
        b[i] = steps;
    }
}
