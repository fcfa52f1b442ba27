// SPDX-License-Identifier: Apache-2.0
// Cooperative launches: a sum over the whole grid in steps, with a barrier of the grid between them. Checks
// itself.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
namespace groups = cooperative_groups;

// Each step halves what is left; a step reads what other CTAs wrote in the step before.
__global__ void sum_halves(unsigned *data, int count) {
    groups::grid_group grid = groups::this_grid();
    for (int half = count / 2; half > 0; half /= 2) {
        for (int i = int(grid.thread_rank()); i < half; i += int(grid.size()))
            data[i] += data[i + half];
        grid.sync();
    }
}

__global__ void is_valid(int *out) {
    if (groups::this_grid().thread_rank() == 0)
        *out = groups::this_grid().is_valid();
}

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error_ = (call);                                                                         \
        if (error_ != cudaSuccess) {                                                                         \
            std::printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));                        \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)
#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::printf("%d: %s\n", __LINE__, #condition);                                                   \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

int main() {
    int served = 0, sms = 0, residents = 0;
    CHECK(cudaDeviceGetAttribute(&served, cudaDevAttrCooperativeLaunch, 0));
    EXPECT(served == 1);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.cooperativeLaunch == 1);
    const int count = 1 << 12;
    std::vector<unsigned> values(count);
    unsigned expected = 0;
    for (int i = 0; i < count; ++i)
        expected += values[i] = unsigned(i * 2654435761u >> 7);
    unsigned *data, sum = 0;
    int *flag, valid = -1;
    CHECK(cudaMalloc(&data, count * sizeof(unsigned)));
    CHECK(cudaMalloc(&flag, sizeof(int)));
    int length = count;
    void *arguments[] = {&data, &length};
    const dim3 grid(8), block(64);

    // by the call
    CHECK(cudaMemcpy(data, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaLaunchCooperativeKernel(sum_halves, grid, block, arguments, 0, nullptr));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == expected);

    // by an attribute, also one of false
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaMemcpy(data, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernelEx(&config, sum_halves, data, length));
    CHECK(cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == expected);
    CHECK(cudaLaunchKernelEx(&config, is_valid, flag));
    CHECK(cudaMemcpy(&valid, flag, sizeof valid, cudaMemcpyDeviceToHost));
    EXPECT(valid == 1);
    attribute.val.cooperative = 0;
    CHECK(cudaLaunchKernelEx(&config, is_valid, flag));
    CHECK(cudaMemcpy(&valid, flag, sizeof valid, cudaMemcpyDeviceToHost));
    EXPECT(valid == 0);

    // as many CTAs as are resident at once, and one more: refused before anything runs
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&residents, is_valid, 1024, 100000));
    CHECK(cudaFuncSetAttribute(is_valid, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    void *place[] = {&flag};
    CHECK(cudaLaunchCooperativeKernel(is_valid, dim3(sms * residents), dim3(1024), place, 100000, nullptr));
    EXPECT(cudaLaunchCooperativeKernel(is_valid, dim3(sms * residents + 1), dim3(1024), place, 100000,
                                       nullptr) == cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    CHECK(cudaFree(data));
    CHECK(cudaFree(flag));
    std::puts("all right");
    return 0;
}
