/* SPDX-License-Identifier: Apache-2.0
 * The two roads to the machine give the same bits: our PTX, and our CUDA C++ through nvcc -fmad=false -ptx,
 * for every exact operation over every element type, every vector width, shuffle and atomic, on random inputs
 * with all special values. Approximate functions have their own bounds and are not compared here. Skipped
 * where there is no nvcc, unless REQUIRE_NVCC is set. */
#include "unit/unit.h"
#include "unit/cuda_kernels.h"
#include "unit/lower_help.h"
#include "cuda/cuda.h"
#include "num/num.h"
#include "assemble/ptx_build.h"
#include "vm/vm.h"
#include <math.h>

enum { PARAMETERS = 4, ROUNDS = 3 };

static uint64_t random_bits(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static uint64_t random_element(num_dtype dtype, bool nonzero, uint64_t *seed) {
    static const double special[] = {0,    -0.0,  1,    -1,   INFINITY, -INFINITY, NAN,    0.5,
                                     2.5,  65504, 1e-8, 3e38, 1e-40,    100.7,     -100.7, 300,
                                     -300, 7e4,   3e9,  -3e9, 1e19,     259,       33000,  -259};
    uint64_t r = random_bits(seed), bits = 0;
    if (num_dtype_is_float(dtype)) {
        double x = r % 3 ? (double)((int64_t)(r / 8 % 2000001) - 1000000) / (r & 4 ? 1000.0 : 100000.0)
                         : special[r / 8 % COUNT(special)];
        if (dtype == NUM_DTYPE_F64)
            memcpy(&bits, &x, sizeof x);
        else
            bits = num_encode(dtype, x, NUM_RN, false);
        return bits;
    }
    if (dtype == NUM_DTYPE_BOOL)
        return r & 1;
    bits = r % 3 ? (uint64_t)((int64_t)(r / 8 % 41) - 20) : random_bits(seed);
    if (r % 17 == 0)
        bits = (uint64_t)num_minimum(dtype);
    if (r % 17 == 1)
        bits = num_maximum(dtype);
    uint64_t mask = num_dtype_bits(dtype) == 64 ? ~(uint64_t)0 : ((uint64_t)1 << num_dtype_bits(dtype)) - 1;
    return nonzero && !(bits & mask) ? 3 : bits;
}

static bool is_nan(num_dtype dtype, uint64_t bits) {
    double x;
    if (dtype == NUM_DTYPE_F64) {
        memcpy(&x, &bits, sizeof x);
        return x != x;
    }
    return num_dtype_is_float(dtype) && isnan(num_decode(dtype, bits));
}

/* Both programs on equal buffers; the first difference fails the test. */
static void compare(base_arena *arena, vm_program *const *programs, const lower_plan *plan, uint64_t *seed) {
    const ir_function *function = plan->function;
    vm_buffer buffers[2][PARAMETERS] = {0};
    vm_argument arguments[2][PARAMETERS] = {0};
    size_t count = function->parameters.count;
    assert_true(count <= PARAMETERS);
    for (size_t i = 0; i < count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        num_dtype dtype = tensor->type.dtype;
        size_t bytes = lower_tensor_bytes(tensor), step = num_dtype_bytes(dtype);
        unsigned char *data = base_arena_allocate(arena, bytes);
        for (size_t at = 0; at < bytes; at += step) {
            uint64_t element = random_element(dtype, i == 1, seed);
            memcpy(data + at, &element, step);
        }
        for (int side = 0; side < 2; side++) {
            buffers[side][i] = (vm_buffer){
                .name = tensor->name, .data = base_arena_copy(arena, data, bytes), .bytes = bytes};
            arguments[side][i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)i};
        }
    }
    for (int side = 0; side < 2; side++) {
        vm_launch launch = {.kernel = plan->kernel_name,
                            .grid = {1, 1, 1},
                            .block = {32, 1, 1},
                            .arguments = arguments[side],
                            .argument_count = count,
                            .buffers = buffers[side],
                            .buffer_count = count,
                            .threads = 1,
                            .step_limit = 10000000};
        vm_result *result = vm_run(arena, programs[side], &launch);
        if (result->status != VM_COMPLETE || result->finding_count)
            fail_msg("%s, side %d: status %d, %zu findings", plan->kernel_name, side, (int)result->status,
                     result->finding_count);
    }
    for (size_t i = 0; i < count; i++) {
        num_dtype dtype = function->parameters.items[i].tensor->type.dtype;
        size_t step = num_dtype_bytes(dtype);
        for (size_t at = 0; at < buffers[0][i].bytes; at += step) {
            uint64_t image[2] = {0};
            for (int side = 0; side < 2; side++)
                memcpy(&image[side], (char *)buffers[side][i].data + at, step);
            if (image[0] != image[1] && !(is_nan(dtype, image[0]) && is_nan(dtype, image[1])))
                fail_msg("%s: %s[%zu] is %llx through nvcc and %llx in our PTX", plan->kernel_name,
                         buffers[0][i].name, at / step, (unsigned long long)image[0],
                         (unsigned long long)image[1]);
        }
    }
}

static ptx_module *through_nvcc(base_arena *arena, const char *nvcc, const base_builder *text,
                                base_diagnostics *diagnostics) {
    char folder[] = "/tmp/tirc-cuda-XXXXXX";
    assert_non_null(mkdtemp(folder));
    FILE *file = fopen(base_arena_format(arena, "%s/k.cu", folder), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->size, file), text->size);
    fclose(file);
    int status = system(base_arena_format(arena, "'%s' -fmad=false -ptx -arch=sm_90a -o %s/k.ptx %s/k.cu >&2",
                                          nvcc, folder, folder));
    ptx_module *module = NULL;
    file = status == 0 ? fopen(base_arena_format(arena, "%s/k.ptx", folder), "r") : NULL;
    if (file) {
        enum { LIMIT = 16 << 20 };
        char *ptx = base_arena_allocate(arena, LIMIT);
        size_t size = fread(ptx, 1, LIMIT, file);
        fclose(file);
        module = ptx_parse(arena, diagnostics,
                           base_sources_add(base_diagnostics_sources(diagnostics), "k.ptx", ptx, size));
    }
    status = system(base_arena_format(arena, "rm -rf %s", folder));
    return status == 0 ? module : NULL;
}

static void same_bits(void **state) {
    base_arena *arena = *state;
    const char *nvcc = kernels_find_nvcc(arena);
    if (!nvcc && !getenv("REQUIRE_NVCC"))
        skip();
    assert_non_null(nvcc);
    base_builder tir, text;
    base_builder_start(&tir, arena);
    base_builder_start(&text, arena);
    kernels_all_types(&tir, true);
    kernels_atomics(&tir);
    kernels_collectives(&tir);
    kernels_vectors(&tir, true);
    help_lowered cuda = help_lower(arena, tir.data, LOWER_FOR_CUDA);
    help_lowered ptx = help_lower(arena, tir.data, LOWER_FOR_PTX);
    if (!cuda.result || !ptx.result || !cuda_print(cuda.result, NULL, &text))
        fail_msg("%s%s", help_messages(&cuda), help_messages(&ptx));
    ptx_build_options options = {.target = "sm_90a"};
    ptx_module *modules[2] = {through_nvcc(arena, nvcc, &text, cuda.diagnostics),
                              ptx_build(arena, ptx.result, &options)};
    if (!modules[0] || !modules[1])
        fail_msg("%s%s", help_messages(&cuda), help_messages(&ptx));
    vm_program *programs[2] = {vm_load(arena, modules[0]), vm_load(arena, modules[1])};
    assert_true(programs[0] && programs[1]);
    uint64_t seed = 88172645463325252u;
    size_t compared = 0;
    for (size_t k = 0; k < ptx.result->plans.count; k++) {
        const lower_plan *plan = ptx.result->plans.items[k];
        if (!strncmp(plan->name, "bounded_", 8) || !strcmp(plan->name, "votes")) /* votes reads the clock */
            continue;
        for (int round = 0; round < ROUNDS; round++, compared++)
            compare(arena, programs, plan, &seed);
    }
    assert_true(compared > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(same_bits)};
    return cmocka_run_group_tests_name("vm_cuda", tests, NULL, NULL);
}
