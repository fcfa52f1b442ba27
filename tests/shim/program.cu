// SPDX-License-Identifier: Apache-2.0
// A CUDA program as users write them: memory, symbols, streams, events, attributes, the launch forms. Checks itself.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

__device__ unsigned calls;
__constant__ float weights[4];
__device__ int table[3] = {5, 7, 11};

struct pair_of_sizes {
    int rows, columns;
    float scale;
};

__global__ void weigh(const float *in, float *out, pair_of_sizes size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.rows * size.columns)
        out[i] = in[i] * weights[i % 4] * size.scale + table[i % 3];
    if (threadIdx.x == 0)
        atomicAdd(&calls, 1u);
}

__global__ void reverse(float *data, int count) {
    extern __shared__ float staged[];
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        staged[i] = data[i];
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        data[i] = staged[count - 1 - i];
    if (threadIdx.x == 0)
        printf("reversed %d\n", count);
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            std::printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main() {
    const int rows = 37, columns = 501, count = rows * columns;
    std::vector<float> in(count), out(count);
    for (int i = 0; i < count; ++i)
        in[i] = float(i % 97);
    float *device_in, *device_out;
    CHECK(cudaMalloc(&device_in, count * sizeof(float)));
    CHECK(cudaMalloc(&device_out, count * sizeof(float)));
    CHECK(cudaMemcpy(device_in, in.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_out, 0, count * sizeof(float)));
    const float host_weights[4] = {1, 2, 4, 8};
    CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventRecord(start, stream));
    pair_of_sizes size = {rows, columns, 0.5f};
    const int blocks = (count + 127) / 128;
    weigh<<<blocks, 128, 0, stream>>>(device_in, device_out, size);
    weigh<<<blocks, 128>>>(device_in, device_out, size);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaStreamSynchronize(stream));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    unsigned host_calls = 0;
    CHECK(cudaMemcpyFromSymbol(&host_calls, calls, sizeof host_calls));
    CHECK(cudaMemcpy(out.data(), device_out, count * sizeof(float), cudaMemcpyDefault));
    const int host_table[3] = {5, 7, 11};
    for (int i = 0; i < count; ++i)
        if (out[i] != in[i] * host_weights[i % 4] * 0.5f + host_table[i % 3]) {
            std::printf("element %d is %g\n", i, out[i]);
            return 1;
        }
    if (host_calls != 2u * blocks || milliseconds < 0) {
        std::printf("%u calls, %g ms\n", host_calls, milliseconds);
        return 1;
    }
    // more dynamic shared memory than 48 KiB needs the attribute first
    const size_t bytes = count * sizeof(float);
    reverse<<<1, 256, bytes>>>(device_out, count);
    if (cudaGetLastError() == cudaSuccess) {
        std::printf("72 KiB without the attribute\n");
        return 1;
    }
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 256;
    config.dynamicSmemBytes = bytes;
    CHECK(cudaLaunchKernelEx(&config, reverse, device_out, count));
    std::vector<float> turned(count);
    CHECK(cudaMemcpy2D(turned.data(), columns * sizeof(float), device_out, columns * sizeof(float),
                       columns * sizeof(float), rows, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i)
        if (turned[i] != out[count - 1 - i]) {
            std::printf("reversed element %d is %g\n", i, turned[i]);
            return 1;
        }
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, weigh));
    const int archs[] = {__CUDA_ARCH_LIST__}; // of the one architecture that the program is built for
    if (attributes.ptxVersion != archs[0] / 10) {
        std::printf("PTX of %d, built for %d\n", attributes.ptxVersion, archs[0]);
        return 1;
    }
    int active = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, reverse, 256, bytes));
    CHECK(cudaFree(device_in));
    if (cudaFree(device_in) == cudaSuccess || active != 3) {
        std::printf("freed twice, or %d CTAs\n", active);
        return 1;
    }
    (void)cudaGetLastError();
    // a use after free is found: its address is never given away again
    weigh<<<1, 32>>>(device_in, device_out, size);
    if (cudaDeviceSynchronize() == cudaSuccess) {
        std::printf("use after free went unseen\n");
        return 1;
    }
    (void)cudaGetLastError();
    // pitched memory, and what the machine does not do is refused, not done wrong
    char *pitched, byte[3] = {0, 0, 0};
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&pitched, &pitch, 700, 3));
    CHECK(cudaMemset2D(pitched, pitch, 1, 700, 3));
    CHECK(cudaMemset2D(pitched, pitch, 9, 5, 2));
    CHECK(cudaMemcpy2D(byte, 1, pitched + 4, pitch, 1, 3, cudaMemcpyDeviceToHost));
    void *arguments[] = {&device_out, (void *)&count}, *managed;
    if (pitch < 700 || byte[0] != 9 || byte[1] != 9 || byte[2] != 1 ||
        cudaMallocManaged(&managed, 8) != cudaErrorNotSupported) {
        std::printf("pitch %zu, %d %d %d\n", pitch, byte[0], byte[1], byte[2]);
        return 1;
    }
    CHECK(cudaLaunchCooperativeKernel((void *)reverse, 1, 32, arguments, bytes));
    CHECK(cudaFree(device_out));
    std::printf("all right\n");
    return 0;
}
