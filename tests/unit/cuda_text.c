/* SPDX-License-Identifier: Apache-2.0
 * The emitted CUDA C++, whole, for one kernel per construct: layouts, views, shared and local storage,
 * scalars, lets, vectors, control, names. covers: A7 A9 A10 A11 A16 A17 A18 A20 A21 A22 A23 A24 A25 A26 A27
 * A28 A29 A37 covers: A38 A39 A40 A41 A42 A44 A46 A47 A48 A49 A50 A51 A60 A67 A68 A69 A70 covers: A71 A73 A74
 * A75 */
#include "unit/unit.h"
#include "unit/lower_help.h"
#include "cuda/cuda.h"

typedef struct row {
    const char *name, *tir, *expected;
} row;

/* clang-format off */
static const row rows[] = {
    {"static_shared",
     "function k(A: float32[128], B: float32[128]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc sm: float32[128] shared\n"
     "    sm[tx] = A[tx]\n"
     "    cta_sync()\n"
     "    B[tx] = sm[tx] * 2.0\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  __shared__ alignas(64) float sm_ptr[128];\n"
     "  sm_ptr[tx] = A_ptr[tx];\n"
     "  __syncthreads();\n"
     "  B_ptr[tx] = sm_ptr[tx] * 2.0f;\n"
     "}\n"},
    {"dynamic_arena",
     "function k(A: float32[64], B: float32[64], C: float32[64]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc smem: float32[128] shared.dyn\n"
     "    view As: float32[64] shared.dyn = smem.data\n"
     "    view Bs: float32[64] shared.dyn layout=S[64:1]+64 = smem.data\n"
     "    As[tx] = A[tx]\n"
     "    Bs[tx] = B[tx]\n"
     "    cta_sync()\n"
     "    C[tx] = As[tx] + Bs[tx]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, float* __restrict__ C_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  extern __shared__ __align__(64) float smem_ptr[];\n"
     "  smem_ptr[tx] = A_ptr[tx];\n"
     "  smem_ptr[tx + 64] = B_ptr[tx];\n"
     "  __syncthreads();\n"
     "  C_ptr[tx] = smem_ptr[tx] + smem_ptr[tx + 64];\n"
     "}\n"},
    {"four_layouts",
     "function k(A: float32[4, 8], B: float32[4, 8], C: float32[4, 8] layout=S[(4,8):(1,4)], D: float32[4, 8] layout=S[(4,8):(8,1)]+64, E: float32[4, 8] layout=S[(4,8):(16,1)]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    for i in serial(4):\n"
     "        for j in serial(8):\n"
     "            B[i, j] = A[i, j] + 1.0\n"
     "            C[i, j] = A[i, j] + 1.0\n"
     "            D[i, j] = A[i, j] + 1.0\n"
     "            E[i, j] = A[i, j] + 1.0\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, float* __restrict__ C_ptr, float* __restrict__ D_ptr, float* __restrict__ E_ptr) {\n"
     "  for (int i = 0; i < 4; ++i) {\n"
     "    for (int j = 0; j < 8; ++j) {\n"
     "      B_ptr[((i * 8) + j)] = A_ptr[((i * 8) + j)] + 1.0f;\n"
     "      C_ptr[((j * 4) + i)] = A_ptr[((i * 8) + j)] + 1.0f;\n"
     "      D_ptr[(((i * 8) + j) + 64)] = A_ptr[((i * 8) + j)] + 1.0f;\n"
     "      E_ptr[((i * 16) + j)] = A_ptr[((i * 8) + j)] + 1.0f;\n"
     "    }\n"
     "  }\n"
     "}\n"},
    {"split_digits",
     "function k(A: float32[64] layout=S[(4,2,8):(2,1,16)], B: float32[64]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    B[tx] = A[tx]\n"
     "    B[3] = A[13]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  B_ptr[tx] = A_ptr[(((tx & 7) * 16) + (tx >> 3))];\n"
     "  B_ptr[3] = A_ptr[81];\n"
     "}\n"},
    {"crossing_layout",
     "function k(A: float32[6, 4] layout=S[(3,8):(8,1)], B: float32[6, 4] layout=S[(4,6):(1,4)]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    for i in serial(6):\n"
     "        B[i, 1] = A[i, 2]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  for (int i = 0; i < 6; ++i) {\n"
     "    B_ptr[(((((i * 4) + 1) % 6) * 4) + (((i * 4) + 1) / 6))] = A_ptr[((i * 4) + 2)];\n"
     "  }\n"
     "}\n"},
    {"symbolic_shape",
     "function k(n: int32, m: int32, A: float32[n, m, 4], B: float32[n, m, 4]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    for i in serial(n):\n"
     "        for j in serial(m):\n"
     "            B[i, j, 3] = A[i, j, 1]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int n, int m, float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  for (int i = 0; i < n; ++i) {\n"
     "    for (int j = 0; j < m; ++j) {\n"
     "      B_ptr[(((i * (m * 4)) + (j * 4)) + 3)] = A_ptr[(((i * (m * 4)) + (j * 4)) + 1)];\n"
     "    }\n"
     "  }\n"
     "}\n"},
    {"local_unrolled",
     "function k(A: float32[128, 4], B: float32[128]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc r: float32[4] local\n"
     "    for k in unroll(4):\n"
     "        r[k] = A[tx, k]\n"
     "    B[tx] = r[0] + r[3]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  alignas(64) float r_ptr[4];\n"
     "  r_ptr[0] = A_ptr[tx * 4];\n"
     "  r_ptr[1] = A_ptr[((tx * 4) + 1)];\n"
     "  r_ptr[2] = A_ptr[((tx * 4) + 2)];\n"
     "  r_ptr[3] = A_ptr[((tx * 4) + 3)];\n"
     "  B_ptr[tx] = r_ptr[0] + r_ptr[3];\n"
     "}\n"},
    {"scalar_loop",
     "function k(A: float32[128, 4], B: float32[128]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    phase: int32 = 0\n"
     "    acc: float32 = 0.0\n"
     "    while phase < 4:\n"
     "        acc = acc + A[tx, phase]\n"
     "        phase = phase + 1\n"
     "    B[tx] = acc\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  alignas(64) int phase_ptr[1];\n"
     "  phase_ptr[0] = 0;\n"
     "  alignas(64) float acc_ptr[1];\n"
     "  acc_ptr[0] = 0.0f;\n"
     "  while (phase_ptr[0] < 4) {\n"
     "    acc_ptr[0] = acc_ptr[0] + A_ptr[((tx * 4) + phase_ptr[0])];\n"
     "    phase_ptr[0] = phase_ptr[0] + 1;\n"
     "  }\n"
     "  B_ptr[tx] = acc_ptr[0];\n"
     "}\n"},
    {"let_value",
     "function k(m: int32, A: int32[128]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    let half: int32 = m * 2\n"
     "    let unused: int32 = m * 3\n"
     "    A[tx] = half + half\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int m, int* __restrict__ A_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  int half = m * 2;\n"
     "  A_ptr[tx] = half + half;\n"
     "}\n"},
    {"ramps",
     "function k(A: float32[512], B: float32[512]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4, 1, 4)]\n"
     "    B[ramp(tx, 1, 4)] = A[ramp(tx, 1, 4)]\n"
     "    B[ramp(tx * 4, 1, 4)] = A[ramp(tx * 4, 1, 4)] * broadcast(2.0, 4)\n"
     "    B[ramp(tx * 2, 3, 2)] = A[ramp(tx * 2, 1, 2)]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  *(float4*)(B_ptr + tx * 4) = *(float4*)(A_ptr + tx * 4);\n"
     "  *(float4*)(B_ptr + tx) = make_float4(A_ptr[tx], A_ptr[tx + 1], A_ptr[tx + 2], A_ptr[tx + 3]);\n"
     "  float4 v = *(float4*)(A_ptr + tx * 4);\n"
     "  *(float4*)(B_ptr + tx * 4) = make_float4(v.x * 2.0f, v.y * 2.0f, v.z * 2.0f, v.w * 2.0f);\n"
     "  float2 v_1 = *(float2*)(A_ptr + tx * 2);\n"
     "  B_ptr[tx * 2] = v_1.x;\n"
     "  B_ptr[((tx * 2) + 3)] = v_1.y;\n"
     "}\n"},
    {"ramp_through_let",
     "function k(A: float32[4096], B: float32[4096], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    let base: int32 = tx * 4 + 8\n"
     "    B[ramp(base, 1, 4)] = A[ramp(base, 1, 4)]\n"
     "    let other: int32 = n * 4\n"
     "    B[ramp(other, 1, 4)] = A[ramp(other, 1, 4)]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, int n) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  int base = (tx * 4) + 8;\n"
     "  *(float4*)(B_ptr + base) = *(float4*)(A_ptr + base);\n"
     "  int other = n * 4;\n"
     "  *(float4*)(B_ptr + other) = *(float4*)(A_ptr + other);\n"
     "}\n"},
    {"ramp_through_scalar",
     "function k(A: float32[4096], B: float32[4096]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    base: int32 = tx * 4\n"
     "    B[ramp(0, 1, 4)] = A[ramp(base, 1, 4)]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  alignas(64) int base_ptr[1];\n"
     "  base_ptr[0] = tx * 4;\n"
     "  *(float4*)(B_ptr) = make_float4(A_ptr[base_ptr[0]], A_ptr[base_ptr[0] + 1], A_ptr[base_ptr[0] + 2], A_ptr[base_ptr[0] + 3]);\n"
     "}\n"},
    {"reshape_and_permute",
     "function k(A: float32[256], B: float32[16, 4], C: float32[256]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    view A2: float32[64, 4] global = A.data\n"
     "    view At: float32[4, 16] global layout=S[(4,16):(1,4)] = B.data\n"
     "    C[tx] = A2[tx, 0] + A2[tx, 3]\n"
     "    for i in serial(4):\n"
     "        for j in serial(16):\n"
     "            C[i] = At[i, j]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, float* __restrict__ C_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  C_ptr[tx] = A_ptr[tx * 4] + A_ptr[((tx * 4) + 3)];\n"
     "  for (int i = 0; i < 4; ++i) {\n"
     "    for (int j = 0; j < 16; ++j) {\n"
     "      C_ptr[i] = B_ptr[((j * 4) + i)];\n"
     "    }\n"
     "  }\n"
     "}\n"},
    {"pointer_expressions",
     "function k(A: float32[256], B: float32[256], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    view V: float32[64] global = &A[16]\n"
     "    view W: uint32[64] global = A.data\n"
     "    view X: float32[64] global = pointer_offset[float32*global](A.data, n * 4)\n"
     "    view Y: float32[32] global = &V[8]\n"
     "    B[tx] = V[tx] + Y[tx]\n"
     "    B[1] = float32(W[tx])\n"
     "    B[2] = X[tx]\n"
     "    atomic_add(&V[tx], 1.0)\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, int n) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  float* X_ptr = ((float*)((char*)A_ptr + (n * 4)));\n"
     "  B_ptr[tx] = A_ptr[tx + 16] + A_ptr[tx + 24];\n"
     "  B_ptr[1] = ((float)((unsigned int*)A_ptr)[tx]);\n"
     "  B_ptr[2] = X_ptr[tx];\n"
     "  atomicAdd((&A_ptr[tx + 16]), 1.0f);\n"
     "}\n"},
    {"byte_pool",
     "function k(A: float32[64]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc pool: uint8[1024] shared\n"
     "    view t: float32[64] shared = pointer_offset[float32*shared](pool.data, 256)\n"
     "    t[tx] = A[tx]\n"
     "    A[tx] = t[tx + 1]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  __shared__ alignas(64) unsigned char pool_ptr[1024];\n"
     "  ((float*)pool_ptr)[tx + 64] = A_ptr[tx];\n"
     "  A_ptr[tx] = ((float*)pool_ptr)[tx + 65];\n"
     "}\n"},
    {"thread_layout",
     "function k(A: float32[8]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc R: float32[32, 8] local layout=S[(32,8):(1@laneid,1)]\n"
     "    view flat: float32[8] local = R.data\n"
     "    view pairs: float32[2, 4] local = R.data\n"
     "    for j in unroll(8):\n"
     "        flat[j] = A[j]\n"
     "    A[0] = pairs[1, 3]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr) {\n"
     "  alignas(64) float R_ptr[8];\n"
     "  R_ptr[0] = A_ptr[0];\n"
     "  R_ptr[1] = A_ptr[1];\n"
     "  R_ptr[2] = A_ptr[2];\n"
     "  R_ptr[3] = A_ptr[3];\n"
     "  R_ptr[4] = A_ptr[4];\n"
     "  R_ptr[5] = A_ptr[5];\n"
     "  R_ptr[6] = A_ptr[6];\n"
     "  R_ptr[7] = A_ptr[7];\n"
     "  A_ptr[0] = R_ptr[7];\n"
     "}\n"},
    {"footprint",
     "function k(A: float32[3, 4]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    alloc s: float32[3, 4] shared layout=S[(3,4):(16,2)]\n"
     "    s[2, 3] = A[2, 3]\n"
     "    A[0, 0] = s[0, 1]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr) {\n"
     "  __shared__ alignas(64) float s_ptr[39];\n"
     "  s_ptr[38] = A_ptr[11];\n"
     "  A_ptr[0] = s_ptr[2];\n"
     "}\n"},
    {"division",
     "function k(A: int32[128], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    A[0] = tx // 3 + tx % 3\n"
     "    A[1] = n // 8 + n % 8\n"
     "    A[2] = n // 3 + n % 3\n"
     "    A[3] = n // tx\n"
     "    A[4] = (tx + 1) % 128 // 200\n",
     "template <typename T>\n"
     "static __device__ __forceinline__ T tirc_floordiv(T a, T b) {\n"
     "  T r = (T)(a % b);\n"
     "  return (T)(a / b - ((r != 0 && (r < 0) != (b < 0)) ? 1 : 0));\n"
     "}\n"
     "\n"
     "template <typename T>\n"
     "static __device__ __forceinline__ T tirc_floormod(T a, T b) {\n"
     "  T r = (T)(a % b);\n"
     "  return (T)((r != 0 && (r < 0) != (b < 0)) ? r + b : r);\n"
     "}\n"
     "\n"
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int* __restrict__ A_ptr, int n) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  A_ptr[0] = (tx / 3) + (tx % 3);\n"
     "  A_ptr[1] = (n >> 3) + (n & 7);\n"
     "  A_ptr[2] = tirc_floordiv(n, 3) + tirc_floormod(n, 3);\n"
     "  A_ptr[3] = tirc_floordiv(n, tx);\n"
     "  A_ptr[4] = 0;\n"
     "}\n"},
    {"guards",
     "function k(A: int32[128], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    i: int32 = tx\n"
     "    if tx < 128:\n"
     "        A[0] = 1\n"
     "    if tx < 127:\n"
     "        A[1] = 1\n"
     "    if i < 128:\n"
     "        A[2] = 1\n"
     "    if tx >= 128:\n"
     "        A[3] = 1\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int* __restrict__ A_ptr, int n) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  alignas(64) int i_ptr[1];\n"
     "  i_ptr[0] = tx;\n"
     "  A_ptr[0] = 1;\n"
     "  if (tx < 127) {\n"
     "    A_ptr[1] = 1;\n"
     "  }\n"
     "  if (i_ptr[0] < 128) {\n"
     "    A_ptr[2] = 1;\n"
     "  }\n"
     "}\n"},
    {"control",
     "function k(A: int32[128], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    for i in pragma_unroll(n, factor=4):\n"
     "        if i == 3:\n"
     "            break\n"
     "        elif A[i] > 2:\n"
     "            continue\n"
     "        else:\n"
     "            A[i] = A[i] * 2\n"
     "    for i in serial(n, start=2, step=3):\n"
     "        A[i] = 1\n"
     "    for i in serial(A[0]):\n"
     "        A[i] = i\n"
     "    block:\n"
     "        let q: int32 = A[0]\n"
     "        A[q] = q\n"
     "    return\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int* __restrict__ A_ptr, int n) {\n"
     "  #pragma unroll 4\n"
     "  for (int i = 0; i < n; ++i) {\n"
     "    if (i == 3) {\n"
     "      break;\n"
     "    } else if (A_ptr[i] > 2) {\n"
     "      continue;\n"
     "    } else {\n"
     "      A_ptr[i] = (int)((unsigned int)A_ptr[i] * 2u);\n"
     "    }\n"
     "  }\n"
     "  for (int i = 2; i < (n + 2); i += 3) {\n"
     "    A_ptr[i] = 1;\n"
     "  }\n"
     "  int i_extent = A_ptr[0];\n"
     "  for (int i = 0; i < i_extent; ++i) {\n"
     "    A_ptr[i] = i;\n"
     "  }\n"
     "  {\n"
     "    int q = A_ptr[0];\n"
     "    A_ptr[q] = q;\n"
     "  }\n"
     "  return;\n"
     "}\n"},
    {"vectorized_loop",
     "function k(A: float32[1024], B: float32[1024], n: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    for j in vectorized(4):\n"
     "        B[tx * 4 + j] = A[tx * 4 + j] * 2.0\n"
     "    for j in vectorized(4):\n"
     "        B[tx * 5 + j] = 1.0\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, int n) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  float4 v = *(float4*)(A_ptr + tx * 4);\n"
     "  *(float4*)(B_ptr + tx * 4) = make_float4(v.x * 2.0f, v.y * 2.0f, v.z * 2.0f, v.w * 2.0f);\n"
     "  for (int j = 0; j < 4; ++j) {\n"
     "    B_ptr[((tx * 5) + j)] = 1.0f;\n"
     "  }\n"
     "}\n"},
    {"names",
     "function k(asm: int32[128], __x: int32, threadIdx: int32):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    let half: int32 = __x + 1\n"
     "    let abs_1: int32 = half * 2\n"
     "    for i in serial(2):\n"
     "        for threadIdx_1 in serial(3):\n"
     "            asm[i] = abs_1 + threadIdx + threadIdx_1\n"
     "    let asm_ptr: int32 = 3\n"
     "    asm[half] = asm_ptr\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(int* __restrict__ asm_ptr, int v_x, int threadIdx_1) {\n"
     "  int half = v_x + 1;\n"
     "  int abs_1 = half * 2;\n"
     "  for (int i = 0; i < 2; ++i) {\n"
     "    for (int threadIdx_1_1 = 0; threadIdx_1_1 < 3; ++threadIdx_1_1) {\n"
     "      asm_ptr[i] = (abs_1 + threadIdx_1) + threadIdx_1_1;\n"
     "    }\n"
     "  }\n"
     "  int asm_ptr_1 = 3;\n"
     "  asm_ptr[half] = asm_ptr_1;\n"
     "}\n"},
    {"nibbles",
     "function k(A: float4_e2m1fn[64] layout=S[64:1]+1, B: float4_e2m1fn[64]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    B[3] = A[4]\n"
     "    B[ramp(tx * 8, 1, 8)] = B[ramp(tx * 8 + 8, 1, 8)]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(unsigned char* __restrict__ A_ptr, unsigned char* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  B_ptr[1] = ((unsigned char)((((unsigned int)B_ptr[1]) & 4294967055u) | (((unsigned int)((unsigned char)(((unsigned int)A_ptr[2]) >> 4u))) << 4u)));\n"
     "  ((unsigned int*)B_ptr)[tx] = ((unsigned int*)B_ptr)[tx + 1];\n"
     "}\n"},
    {"byte_offset_pointer",
     "function k(A: float32[64], B: float32[64]):\n"
     "    launch:\n"
     "        grid = (1, 1, 1)\n"
     "        block = (128, 1, 1)\n"
     "    let tx: int32 = thread_idx.x\n"
     "    let p: float32*global = pointer_offset[float32*global](A.data, 16)\n"
     "    view V: float32[8] global = p\n"
     "    B[tx] = V[tx]\n",
     "extern \"C\" __global__ void __launch_bounds__(128)\n"
     "k_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr) {\n"
     "  int tx = ((int)threadIdx.x);\n"
     "  float* p = ((float*)((char*)A_ptr + 16));\n"
     "  B_ptr[tx] = p[tx];\n"
     "}\n"},
};
/* clang-format on */

static const char *emit(base_arena *arena, const char *tir) {
    help_lowered h = help_lower(arena, tir, LOWER_FOR_CUDA);
    if (!h.result)
        return help_messages(&h);
    base_builder out;
    base_builder_start(&out, arena);
    return cuda_print(h.result, NULL, &out) ? out.data : help_messages(&h);
}

static void texts(void **state) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = emit(*state, rows[i].tir);
        if (strcmp(text, rows[i].expected) != 0)
            fail_msg("%s:\n%s\nexpected:\n%s", rows[i].name, text, rows[i].expected);
    }
}

/* The three spellings of a scalar are one kernel: E08 of the public failures. */
static void scalar_spellings(void **state) {
    static const char *const spellings[] = {
        "function k(A: int32[8]):\n    s: int32 = 0\n    s = s + 1\n    A[s] = s\n",
        "function k(A: int32[8]):\n    s: int32\n    s = 0\n    s = s + 1\n    A[s] = s\n",
        ("function k(A: int32[8]):\n    alloc s: int32[1] local\n    s[0] = 0\n    s[0] = s[0] + 1\n    "
         "A[s[0]] = s[0]\n")};
    const char *first = emit(*state, spellings[0]);
    assert_non_null(strstr(first, "alignas(64) int s_ptr[1];"));
    for (int i = 1; i < 3; i++)
        assert_string_equal(emit(*state, spellings[i]), first);
}

/* Literals read back as the value; NaN and infinity are the macros of CUDA. */
static void literals(void **state) {
    const char *text =
        emit(*state, "function k(A: float32[8], B: float64[8], C: float16[8], D: int64[2], E: uint32[2]):\n"
                     "    A[0] = 0.1\n"
                     "    A[1] = 16777216.0\n"
                     "    A[2] = 1e-45\n"
                     "    A[3] = -inf\n"
                     "    A[4] = nan\n"
                     "    A[5] = 1e30\n"
                     "    B[0] = 0.1_float64\n"
                     "    C[0] = 0.1_float16\n"
                     "    D[0] = -9223372036854775808_int64\n"
                     "    E[0] = 4294967295_uint32\n");
    static const char *const lines[] = {"A_ptr[0] = 0.1f;",
                                        "A_ptr[1] = 16777216.0f;",
                                        "A_ptr[2] = 1e-45f;",
                                        "A_ptr[3] = -CUDART_INF_F;",
                                        "A_ptr[4] = CUDART_NAN_F;",
                                        "A_ptr[5] = 1e+30f;",
                                        "B_ptr[0] = 0.1;",
                                        "C_ptr[0] = __float2half_rn(0.099975586f);",
                                        "D_ptr[0] = (-9223372036854775807ll - 1);",
                                        "E_ptr[0] = 4294967295u;",
                                        "#include <cuda_fp16.h>\n#include <math_constants.h>\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no '%s' in:\n%s", lines[i], text);
    assert_null(strstr(text, "cuda_bf16"));
}

/* Launch attributes, parameter order, two arenas of different types in one unit. */
static void kernels(void **state) {
    static const char tir[] = "function one(B: float32[8], n: int32, A: float32[8]):\n"
                              "    launch:\n"
                              "        grid = (n, 1, 1)\n"
                              "        block = (32, 4, 1)\n"
                              "        cluster = (2, 1, 1)\n"
                              "        min_blocks_per_sm = 2\n"
                              "        max_blocks_per_cluster = 8\n"
                              "    alloc s: float32[8] shared.dyn\n"
                              "    s[0] = A[0]\n"
                              "\n"
                              "function two(A: float32[8], n: int32):\n"
                              "    launch:\n"
                              "        grid = (1, 1, 1)\n"
                              "        block = (n, 1, 1)\n"
                              "        max_registers = 64\n"
                              "    alloc s: int32[8] shared.dyn align=128\n"
                              "    s[0] = 1\n";
    const char *text = emit(*state, tir);
    static const char *const lines[] = {"void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2"
                                        ")\none_kernel(float* __restrict__ B_ptr, int n, float* "
                                        "__restrict__ A_ptr) {",
                                        "void __maxnreg__(64)\ntwo_kernel(",
                                        "extern __shared__ __align__(64) float s_ptr[];",
                                        "extern __shared__ __align__(128) int s_1_ptr[];"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no '%s' in:\n%s", lines[i], text);
    lower_options options = {.goal = LOWER_FOR_CUDA, .verify = true, .sorted_parameters = true};
    help_lowered h = help_lower_with(*state, tir, &options);
    base_builder out;
    base_builder_start(&out, *state);
    assert_true(cuda_print(h.result, NULL, &out));
    assert_non_null(
        strstr(out.data, "one_kernel(float* __restrict__ A_ptr, float* __restrict__ B_ptr, int n) {"));
}

static void line_directives(void **state) {
    help_lowered h =
        help_lower(*state, "function k(A: int32[8]):\n    A[0] = 1\n    A[1] = 2\n", LOWER_FOR_CUDA);
    cuda_options options = {.line_directives = true};
    base_builder out;
    base_builder_start(&out, *state);
    assert_true(cuda_print(h.result, &options, &out));
    assert_non_null(
        strstr(out.data, "#line 4 \"t.tir\"\n  A_ptr[0] = 1;\n#line 5 \"t.tir\"\n  A_ptr[1] = 2;\n"));
}

/* Types that CUDA has no name for are bytes, with conversions of our own. */
static void own_types(void **state) {
    const char *text =
        emit(*state, "function k(A: float8_e3m4[8], B: float32[8]):\n    B[0] = float32(A[0])\n"
                     "    A[1] = float8_e3m4(B[1])\n");
    assert_non_null(strstr(text, "k_kernel(unsigned char* __restrict__ A_ptr, float* __restrict__ B_ptr)"));
    assert_non_null(strstr(text, "B_ptr[0] = tirc_from_float8<4, 3, 0>(A_ptr[0]);"));
    assert_non_null(strstr(text, "A_ptr[1] = tirc_to_float8<4, 3, 0>(B_ptr[1]);"));
}

/* Signed arithmetic that may wrap is unsigned, but where it is index arithmetic or proved to fit. */
static void signed_overflow(void **state) {
    static const char *const cases[][2] = {
        /* low bits only */
        {"B[0] = n + 1", "B_ptr[0] = n + 1;"},
        {"B[0] = -n - m", "B_ptr[0] = (-n) - m;"},
        {"B[0] = (n + 1) & 7", "B_ptr[0] = (n + 1) & 7;"},
        {"C[0] = C[1] * 3_int64", "C_ptr[0] = C_ptr[1] * 3ll;"},
        {"let x: int32 = n * m\n    B[0] = x + 1", "int x = n * m;\n  B_ptr[0] = x + 1;"},
        /* all of it */
        {"if n + 1 > m:\n        B[0] = 1", "if (((int)((unsigned int)n + 1u)) > m) {"},
        {"B[0] = truncdiv(1 - n - m, 3)",
         "B_ptr[0] = ((int)((1u - (unsigned int)n) - (unsigned int)m)) / 3;"},
        {"B[0] = min(-n, m)", "B_ptr[0] = min((int)(0u - (unsigned int)n), m);"},
        {"B[0] = select(n * m > 3, n + 1, m)",
         "B_ptr[0] = ((((int)((unsigned int)n * (unsigned int)m)) > 3) ? (n + 1) : m);"},
        {"C[0] = int64(n + 1)", "C_ptr[0] = ((long long)((int)((unsigned int)n + 1u)));"},
        {"B[0] = int32(C[0] + 1_int64)", "B_ptr[0] = ((int)(C_ptr[0] + 1ll));"},
        {"if C[0] * 3_int64 < 1_int64:\n        B[0] = 1",
         "if (((long long)((unsigned long long)C_ptr[0] * 3ull)) < 1ll) {"},
        {"let x: int32 = n * m\n    if x > 3:\n        B[0] = x",
         "int x = (int)((unsigned int)n * (unsigned int)m);"},
        {"let x: int32 = n * m\n    let y: int32 = x + 1\n    if y > 3:\n        B[0] = x",
         "int x = (int)((unsigned int)n * (unsigned int)m);\n  int y = (int)((unsigned int)x + 1u);"},
        {"A[1] = A[0] + 1\n    if A[1] > 0:\n        B[0] = 1",
         "A_ptr[1] = (int)((unsigned int)A_ptr[0] + 1u);"},
        /* fits */
        {"if (n & 255) * (m & 65535) > 3:\n        B[0] = 1", "if (((n & 255) * (m & 65535)) > 3) {"},
        {"if (n & 65535) * (m & 65535) > 3:\n        B[0] = 1",
         "if (((int)((unsigned int)(n & 65535) * (unsigned int)(m & 65535))) > 3) {"},
        /* indices */
        {"B[n + m] = 1", "B_ptr[n + m] = 1;"},
        {"B[A[n + 1] * 2] = 1", "B_ptr[A_ptr[n + 1] * 2] = 1;"},
        {"B[min(n + m, 7)] = 1", "B_ptr[min((int)((unsigned int)n + (unsigned int)m), 7)] = 1;"},
        {"let x: int32 = n * 8\n    if x < m:\n        B[x] = 1", "int x = n * 8;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "function k(A: int32[8], B: int32[8], C: int64[8], n: int32, m: int32):\n    %s\n",
                 cases[i][0]);
        const char *out = emit(*state, text);
        if (!strstr(out, cases[i][1]))
            fail_msg("%s: expected %s in\n%s", cases[i][0], cases[i][1], out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(texts),           UNIT_WITH_ARENA(scalar_spellings), UNIT_WITH_ARENA(literals),
        UNIT_WITH_ARENA(kernels),         UNIT_WITH_ARENA(line_directives),  UNIT_WITH_ARENA(own_types),
        UNIT_WITH_ARENA(signed_overflow),
    };
    return cmocka_run_group_tests_name("cuda_text", tests, NULL, NULL);
}
