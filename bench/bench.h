/* SPDX-License-Identifier: Apache-2.0
 * Pieces of the benchmark: plain C, OpenCL, timing. */
#ifndef TIRC_BENCH_BENCH_H
#define TIRC_BENCH_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

void plain_elementwise(const float *a, float *b, size_t n);
void plain_transpose(const float *a, float *b, size_t n);
void plain_gemm(const float *restrict a, const float *restrict b, float *restrict c, size_t n);
void plain_collatz(int *b, size_t n);

double bench_now(void);
enum { BENCH_ROUNDS = 5 };
double bench_median(double *times, int count);

/* OpenCL on the CPU (PoCL), one thread. open says why there is none; a kernel is run once to warm up. */
bool opencl_open(char *why, size_t size);
/* Median seconds of one launch; results are left in out. kernel: "elementwise" "transpose" "gemm" "collatz".
 */
double opencl_time(const char *kernel, const void *a, const void *b, void *out, size_t in_bytes,
                   size_t out_bytes, const size_t global[2], const size_t local[2], int n);
void opencl_close(void);
#endif
