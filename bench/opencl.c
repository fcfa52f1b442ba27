/* SPDX-License-Identifier: Apache-2.0
 * The four kernels in OpenCL, built and run through whatever OpenCL CPU device is installed (PoCL on Debian).
 */
#include "bench.h"
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const source =
    "__kernel void elementwise(__global const float *a, __global float *b, int n)\n"
    "{ int i = get_global_id(0); b[i] = a[i] * 2.0f + 1.0f; }\n"
    "__kernel void transpose(__global const float *a, __global float *b, int n)\n"
    "{ __local float tile[32][33]; int x = get_local_id(0), y = get_local_id(1);\n"
    "  int bx = get_group_id(0) * 32, by = get_group_id(1) * 32;\n"
    "  for (int r = 0; r < 32; r += 8) tile[y + r][x] = a[(by + y + r) * n + bx + x];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int r = 0; r < 32; r += 8) b[(bx + y + r) * n + by + x] = tile[x][y + r]; }\n"
    "__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n)\n"
    "{ __local float as[16][64], bs[16][64]; int t = get_local_id(0), col = t % 16 * 4, row = t / 16 * 4;\n"
    "  int bx = get_group_id(0) * 64, by = get_group_id(1) * 64; float acc[4][4] = {{0}};\n"
    "  for (int step = 0; step < n; step += 16) {\n"
    "    float4 v = vload4(0, a + (by + t / 4) * n + step + t % 4 * 4);\n"
    "    as[t % 4 * 4][t / 4] = v.x; as[t % 4 * 4 + 1][t / 4] = v.y; as[t % 4 * 4 + 2][t / 4] = v.z;\n"
    "    as[t % 4 * 4 + 3][t / 4] = v.w;\n"
    "    vstore4(vload4(0, b + (step + t / 16) * n + bx + col), 0, &bs[t / 16][col]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int k = 0; k < 16; ++k) { float4 x = vload4(0, &as[k][row]), y = vload4(0, &bs[k][col]);\n"
    "      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};\n"
    "      for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) acc[i][j] = fma(xs[i], ys[j], acc[i][j]); "
    "}\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "  for (int i = 0; i < 4; ++i)\n"
    "    vstore4((float4)(acc[i][0], acc[i][1], acc[i][2], acc[i][3]), 0, c + (by + row + i) * n + bx + "
    "col); }\n"
    "__kernel void collatz(__global int *b, int n)\n"
    "{ int i = get_global_id(0); if (i < n) { ulong v = i + 1; int steps = 0;\n"
    "  while (v != 1) { v = v & 1 ? v * 3 + 1 : v >> 1; ++steps; } b[i] = steps; } }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;

bool opencl_open(char *why, size_t size) {
    cl_platform_id platforms[8];
    cl_device_id device;
    cl_uint count = 0;
    cl_int error = clGetPlatformIDs(8, platforms, &count);
    bool found = false;
    for (cl_uint i = 0; error == CL_SUCCESS && !found && i < count; ++i)
        found = clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS;
    if (!found) {
        snprintf(why, size, "no OpenCL CPU device");
        return false;
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    queue = clCreateCommandQueue(context, device, 0, &error);
    const char *text = source;
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    error = clBuildProgram(program, 1, &device, "", NULL, NULL);
    if (error == CL_SUCCESS)
        return true;
    snprintf(why, size, "OpenCL build failed (%d)", error);
    return false;
}

static void check(cl_int error, const char *what) {
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "bench: OpenCL %s failed (%d)\n", what, error);
    exit(1);
}

double opencl_time(const char *name, const void *a, const void *b, void *out, size_t in_bytes,
                   size_t out_bytes, const size_t global[2], const size_t local[2], int n) {
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, name);
    const void *inputs[2] = {a, b};
    cl_mem memory[3] = {NULL};
    cl_uint argument = 0;
    for (int i = 0; i < 2; ++i) {
        if (!inputs[i])
            continue;
        void *data;
        memcpy(&data, &inputs[i], sizeof data);
        memory[i] = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, in_bytes, data, &error);
        check(error, "buffer");
        check(clSetKernelArg(kernel, argument++, sizeof(cl_mem), &memory[i]), "argument");
    }
    memory[2] = clCreateBuffer(context, CL_MEM_WRITE_ONLY, out_bytes, NULL, &error);
    check(error, "buffer");
    check(clSetKernelArg(kernel, argument++, sizeof(cl_mem), &memory[2]), "argument");
    check(clSetKernelArg(kernel, argument++, sizeof(int), &n), "argument");
    double times[BENCH_ROUNDS];
    for (int round = -1; round < BENCH_ROUNDS; ++round) {
        double start = bench_now();
        check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
        check(clFinish(queue), "finish");
        if (round >= 0)
            times[round] = bench_now() - start;
    }
    check(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, out_bytes, out, 0, NULL, NULL), "read");
    for (int i = 0; i < 3; ++i)
        if (memory[i])
            clReleaseMemObject(memory[i]);
    clReleaseKernel(kernel);
    return bench_median(times, BENCH_ROUNDS);
}

void opencl_close(void) {
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}
