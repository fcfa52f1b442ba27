/* SPDX-License-Identifier: Apache-2.0
 * Calls of every kind, switches, recursion, printf, assert, structures by value, function pointers, virtual calls. */
#include <cassert>
#include <cstdio>

struct small {
    int count;
    float values[3];
    char tail;
};
struct shape {
    __device__ virtual float area(float scale) const = 0;
};
struct square : shape {
    float side;
    __device__ explicit square(float s) : side(s) {}
    __device__ float area(float scale) const override { return side * side * scale; }
};
struct circle : shape {
    float radius;
    __device__ explicit circle(float r) : radius(r) {}
    __device__ float area(float scale) const override { return 3.14159f * radius * radius * scale; }
};

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ small twice(small s) {
    s.count *= 2;
    s.values[1] += 1.0f;
    return s;
}
__device__ int increment(int x) { return x + 1; }
__device__ int triple(int x) { return 3 * x; }
typedef int (*function)(int);
__device__ function functions[2] = {increment, triple};
__device__ const char *message = "message";
__device__ int counter = 7;
__device__ int *counter_pointer = &counter;

extern "C" __global__ void __launch_bounds__(128, 2) control(small s, float *out, int n, int choice) {
    int v = n;
    switch (choice) {
    case 0: v += 3; break;
    case 1: v *= 5; break;
    case 2: v ^= 7; break;
    case 3: v = factorial(v); break;
    case 4: v = v / n; break;
    case 5: v = functions[n & 1](v); break;
    case 6: v -= 9; break;
    case 7: v = v % n; break;
    default: v = -v;
    }
    s = twice(s);
    printf("%d %f %s %c\n", v, s.values[n % 3], message, s.tail);
    assert(v != 12345);
    square a(1.5f);
    circle b(2.5f);
    const shape *shapes[2] = {&a, &b};
    out[threadIdx.x] = shapes[n & 1]->area(2.0f) + (float)v + (float)*counter_pointer;
    for (int i = 0; i < n; i++) {
        if (out[i] < 0.0f) {
            continue;
        }
        if (out[i] > 100.0f) {
            return;
        }
        out[i] = sinf(out[i]) + (float)sin((double)out[i]);
    }
}
