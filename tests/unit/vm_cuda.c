/* SPDX-License-Identifier: Apache-2.0
 * The two roads to the machine give the same bits: our PTX, and our CUDA C++ through nvcc -fmad=false -ptx,
 * for every exact operation over every element type, every vector width, shuffle and atomic, on random inputs
 * with all special values. Functions with bounds are within the sum of ours and CUDA's, and agree on NaN,
 * infinities and the signs of zeros. Skipped where there is no nvcc, unless REQUIRE_NVCC is set. */
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

/* ---- functions with bounds ---- */

enum { POINTS = 4096 };

/* Bounds in ulp: docs/math.md, and the tables of standard functions in the CUDA programming guide. */
static const struct {
    const char *text;
    double ours[2], theirs[2], limit; /* of float32 and float64; |a| up to the limit counts */
} functions[] = {
    {"tan(a)", {1, 4}, {4, 2}, 0x1p30},        {"asin(a)", {1, 4}, {2, 2}, INFINITY},
    {"acos(a)", {1, 4}, {2, 2}, INFINITY},     {"atan(a)", {1, 4}, {2, 2}, INFINITY},
    {"atan2(a, b)", {1, 4}, {3, 2}, INFINITY}, {"sinh(a)", {1, 5}, {3, 2}, INFINITY},
    {"cosh(a)", {1, 4}, {2, 1}, INFINITY},     {"asinh(a)", {1, 5}, {3, 3}, INFINITY},
    {"acosh(a)", {1, 5}, {4, 3}, INFINITY},    {"atanh(a)", {1, 5}, {3, 2}, INFINITY},
    {"exp10(a)", {1, 3}, {2, 1}, INFINITY},    {"expm1(a)", {1, 4}, {1, 1}, INFINITY},
    {"log1p(a)", {1, 4}, {1, 1}, INFINITY},    {"cbrt(a)", {1, 1}, {1, 1}, INFINITY},
    {"hypot(a, b)", {1, 2}, {3, 2}, INFINITY},
};

static void function_kernel(base_builder *tir, const char *type) {
    base_builder_format(
        tir,
        "function f_%s(A: %s[%d], B: %s[%d], C: %s[%d, %d]):\n    launch:\n        grid = (%d, 1, 1)\n"
        "        block = (256, 1, 1)\n    let i: int32 = block_idx.x * 256 + thread_idx.x\n"
        "    let a: %s = A[i]\n    let b: %s = B[i]\n",
        type, type, POINTS, type, POINTS, type, (int)COUNT(functions), POINTS, POINTS / 256, type, type);
    for (size_t row = 0; row < COUNT(functions); row++)
        base_builder_format(tir, "    C[%d, i] = %s\n", (int)row, functions[row].text);
    base_builder_char(tir, '\n');
}

static double number_at(const void *data, size_t at, bool is_double) {
    return is_double ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

/* How many ulps of the type x and y are apart; infinite where one is NaN, infinite or a zero of another sign
 * alone. A finite largest number beside an infinity is one apart. */
static double apart(double x, double y, bool is_double) {
    double most = is_double ? 0x1.fffffffffffffp+1023 : 0x1.fffffep+127;
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    if (isinf(x) || isinf(y))
        return x == y ? 0 : fabs(x) >= most && fabs(y) >= most && x * y > 0 ? 1 : INFINITY;
    if (x == 0 && y == 0)
        return signbit(x) == signbit(y) ? 0 : INFINITY;
    int exponent, least = is_double ? -1021 : -125;
    frexp(fmin(fabs(x), fabs(y)), &exponent);
    exponent = exponent < least ? least : exponent;
    return ldexp(fabs(x - y), (is_double ? 53 : 24) - exponent);
}

static void compare_functions(base_arena *arena, vm_program *const *programs, const lower_plan *plan,
                              bool is_double) {
    static const char *const names[] = {"A", "B", "C"};
    vm_buffer buffers[2][3];
    vm_argument arguments[3];
    uint64_t seed = 88172645463325252u;
    size_t size = is_double ? 8 : 4;
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t bytes = POINTS * size * (i == 2 ? COUNT(functions) : 1);
            buffers[side][i] =
                (vm_buffer){.name = names[i], .data = base_arena_allocate(arena, bytes), .bytes = bytes};
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = i};
        }
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < POINTS; k++) {
            uint64_t bits = k % 2 ? random_element(is_double ? NUM_DTYPE_F64 : NUM_DTYPE_F32, false, &seed)
                                  : random_bits(&seed);
            for (int side = 0; side < 2; side++)
                memcpy((char *)buffers[side][i].data + k * size, &bits, size);
        }
    for (int side = 0; side < 2; side++) {
        vm_launch launch = {.kernel = plan->kernel_name, .grid = {POINTS / 256, 1, 1}, .block = {256, 1, 1}};
        launch.arguments = arguments, launch.argument_count = 3;
        launch.buffers = buffers[side], launch.buffer_count = 3;
        launch.threads = 1;
        vm_result *result = vm_run(arena, programs[side], &launch);
        assert_int_equal(result->status, VM_COMPLETE);
        assert_int_equal(result->finding_count, 0);
    }
    for (size_t row = 0; row < COUNT(functions); row++)
        for (size_t k = 0; k < POINTS; k++) {
            double a = number_at(buffers[0][0].data, k, is_double),
                   b = number_at(buffers[0][1].data, k, is_double);
            double theirs = number_at(buffers[0][2].data, row * POINTS + k, is_double);
            double ours = number_at(buffers[1][2].data, row * POINTS + k, is_double);
            double allowed = functions[row].ours[is_double] + functions[row].theirs[is_double];
            if (!(fabs(a) > functions[row].limit) && apart(theirs, ours, is_double) > allowed)
                fail_msg("%s of %s, a %.17g, b %.17g: %.17g through nvcc and %.17g in our PTX",
                         functions[row].text, is_double ? "float64" : "float32", a, b, theirs, ours);
        }
}

static void within_bounds(void **state) {
    base_arena *arena = *state;
    const char *nvcc = kernels_find_nvcc(arena);
    if (!nvcc && !getenv("REQUIRE_NVCC"))
        skip();
    assert_non_null(nvcc);
    base_builder tir, text;
    base_builder_start(&tir, arena);
    base_builder_start(&text, arena);
    function_kernel(&tir, "float32");
    function_kernel(&tir, "float64");
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
    assert_int_equal(ptx.result->plans.count, 2);
    for (size_t k = 0; k < 2; k++)
        compare_functions(arena, programs, ptx.result->plans.items[k], k == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(same_bits), UNIT_WITH_ARENA(within_bounds)};
    return cmocka_run_group_tests_name("vm_cuda", tests, NULL, NULL);
}
