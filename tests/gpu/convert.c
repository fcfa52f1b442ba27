/* SPDX-License-Identifier: Apache-2.0
 * Every form of cvt that the first GPU has, on the GPU, against the slow model of numbers that the machine is
 * held to as well. Says so and succeeds where there is no GPU. */
#include "convert_stochastic.h"
#include "gpu/gpu.h"

typedef struct device {
    base_arena *arena;
    gpu_device *gpu;
    gpu_problem problem;
} device;

static bool run(void *user, const char *ptx, const uint64_t *in, const uint64_t *other, uint64_t *out,
                size_t count) {
    device *d = user;
    gpu_code *code = gpu_load(d->gpu, ptx, strlen(ptx), "k", &d->problem);
    uint64_t address[3] = {0}, bytes = count * 8;
    bool done = code != NULL;
    for (int i = 0; i < 3 && done; i++)
        done = gpu_allocate(d->gpu, bytes, &address[i], &d->problem);
    void *parameters[3] = {&address[0], &address[1], &address[2]};
    gpu_launch launch = {
        .grid = {(uint32_t)(count / BLOCK), 1, 1}, .block = {BLOCK, 1, 1}, .parameters = parameters};
    done = done && gpu_write(d->gpu, address[0], in, bytes, &d->problem) &&
           gpu_write(d->gpu, address[1], other, bytes, &d->problem) &&
           gpu_start(code, &launch, &d->problem) && gpu_wait(d->gpu, NULL, &d->problem) &&
           gpu_read(d->gpu, out, address[2], bytes, &d->problem);
    for (int i = 0; i < 3; i++)
        if (address[i])
            gpu_free(d->gpu, address[i]);
    if (!done)
        printf("%s: %s\n", d->problem.code, d->problem.text);
    return done;
}

int main(void) {
    device d = {.arena = base_arena_create(base_heap_create(NULL))};
    d.gpu = gpu_open(d.arena, 0, &d.problem);
    if (!d.gpu) {
        printf("no GPU: %s\n", d.problem.text);
        return 0;
    }
    const gpu_facts *facts = gpu_describe(d.gpu);
    convert_test test = {.target = facts->major >= 10 ? "sm_100a" : "sm_90a", .run = run, .user = &d};
    convert_all(&test);
    convert_stochastic(&test);
    printf("%s: %llu forms of cvt, %llu values: %llu failures\n", facts->name, (unsigned long long)test.forms,
           (unsigned long long)test.values, (unsigned long long)test.failures);
    gpu_close(d.gpu);
    return test.failures != 0;
}
