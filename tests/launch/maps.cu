// SPDX-License-Identifier: Apache-2.0
// The launch functions that tirc emits for maps.py (maps_host.cu): one makes its tensor map over the pointer it gets, the
// other takes the caller's. Prints what comes out, element sums by row, and what is refused.
#include "maps_host.cu"
#include <cstdio>
#include <vector>

static std::vector<half> fetch(const half *from, size_t count) {
    std::vector<half> to(count);
    if (cudaDeviceSynchronize() != cudaSuccess || cudaMemcpy(to.data(), from, count * sizeof(half), cudaMemcpyDeviceToHost) != cudaSuccess)
        to[0] = __float2half(-1.f);
    return to;
}

int main() {
    const int rows = 96;
    std::vector<half> host(rows * 128);
    for (int i = 0; i < rows * 128; ++i)
        host[i] = __float2half(float(i % 1000));
    half *a, *b;
    if (cudaMalloc(&a, rows * 256) != cudaSuccess || cudaMalloc(&b, rows * 256) != cudaSuccess ||
        cudaMemcpy(a, host.data(), rows * 256, cudaMemcpyHostToDevice) != cudaSuccess)
        return 1;
    if (doubled_kernel_launch(a, b, rows, 0) != cudaSuccess)
        return 1;
    std::vector<half> out = fetch(b, rows * 128);
    int wrong = 0;
    for (int i = 0; i < rows * 128; ++i)
        wrong += __half2float(out[i]) != float(i % 1000) * 2.f;
    std::printf("doubled: %d wrong\n", wrong);
    /* A map of the caller's: the middle 64 columns of rows 8 to 71. */
    CUtensorMap map;
    const cuuint64_t dims[] = {64, 64}, strides[] = {256};
    const cuuint32_t box[] = {64, 64};
    if (host_tensor_map(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, a + 8 * 128 + 32, dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B) != cudaSuccess ||
        given_kernel_launch(map, b, 0) != cudaSuccess)
        return 1;
    out = fetch(b, 64 * 64);
    wrong = 0;
    for (int i = 0; i < 64; ++i)
        for (int k = 0; k < 64; ++k)
            wrong += __half2float(out[i * 64 + k]) != float(((i + 8) * 128 + k + 32) % 1000);
    std::printf("given: %d wrong\n", wrong);
    std::printf("misaligned: %s\n", doubled_kernel_launch(a + 8, b, rows, 0) == cudaErrorMisalignedAddress ? "refused" : "taken");
    return 0;
}
