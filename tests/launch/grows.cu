// SPDX-License-Identifier: Apache-2.0
// The launch function that tirc emits for grows.py (grows_host.cu), called with one size after the other. With COUNT it
// prints what that asks of the CUDA runtime (which has to be shared then).
#include "grows_host.cu"
#include <cstdio>
#include <cstdlib>
#ifdef COUNT
#include <dlfcn.h>
extern "C" cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
    typedef cudaError_t (*set)(const void *, enum cudaFuncAttribute, int);
    std::printf("attribute %d %d\n", (int)attribute, value);
    return ((set)dlsym(RTLD_NEXT, "cudaFuncSetAttribute"))(function, attribute, value);
}
#endif

int main(int count, char **arguments) {
    float host[128], *a, *b;
    for (int i = 0; i < 128; ++i)
        host[i] = (float)i;
    if (cudaMalloc(&a, 512) != cudaSuccess || cudaMalloc(&b, 512) != cudaSuccess ||
        cudaMemcpy(a, host, 512, cudaMemcpyHostToDevice) != cudaSuccess)
        return 1;
    for (int i = 1; i < count; ++i) {
        int bytes = atoi(arguments[i]);
        host[5] = 0;
        cudaError_t error = grows_kernel_launch(a, b, bytes, 0);
        if (error == cudaSuccess)
            error = cudaDeviceSynchronize();
        if (error == cudaSuccess)
            error = cudaMemcpy(host, b, 512, cudaMemcpyDeviceToHost);
        std::printf("%d %s\n", bytes, error != cudaSuccess ? "refused" : host[5] == 123.f ? "ok" : "wrong");
        (void)cudaGetLastError();
    }
    std::printf("misaligned %s\n",
                grows_kernel_launch(a + 4, b, 512, 0) == cudaErrorMisalignedAddress ? "refused" : "taken");
    return 0;
}
