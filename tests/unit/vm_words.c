/* SPDX-License-Identifier: Apache-2.0
 * The exact words of floats (copysign, nextafter, ldexp, fmod) from script to the machine, bit for bit
 * against the C library: arguments of every sign and exponent, powers of two and their neighbours, zeros,
 * infinities, NaN. */
#include "unit/script_help.h"
#include "lower/lower.h"
#include "assemble/ptx_build.h"
#include "vm/vm.h"
#include <math.h>

enum { POINTS = 16384, BUFFERS = 7 };
static const char *const names[BUFFERS] = {"A", "C", "N", "S", "X", "L", "F"};

static double nth(unsigned k, unsigned pace, bool is_double) {
    static const double specials[] = {0, -0.0, INFINITY, -INFINITY,  NAN,
                                      1, -1,   0x1p-149, -0x1p-1074, 0x1p-126};
    uint64_t bits = (k * pace) * UINT64_C(0x9e3779b97f4a7c15);
    unsigned kind = k / pace % 8, width = is_double ? 52 : 23;
    if (kind == 0)
        return specials[k % (sizeof specials / sizeof specials[0])];
    bits = is_double ? bits : bits >> 32;
    uint64_t low = (UINT64_C(1) << width) - 1;
    bits = kind == 1 ? bits & ~low : kind == 2 ? bits | low : kind == 3 ? (bits & ~low) + 1 : bits;
    if (is_double) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t word = (uint32_t)bits;
    float single;
    memcpy(&single, &word, sizeof single);
    return (double)single;
}

static bool same(double a, double b) {
    return (a != a && b != b) || (a == b && !signbit(a) == !signbit(b));
}

static vm_program *program_of(base_arena *arena, const char *type) {
    const char *script = base_arena_format(
        arena,
        "@T.function\n"
        "def k(A: T.Tensor((%d,), \"%s\"), C: T.Tensor((%d,), \"%s\"), N: T.Tensor((%d,), \"int32\"),\n"
        "      S: T.Tensor((%d,), \"%s\"), X: T.Tensor((%d,), \"%s\"), L: T.Tensor((%d,), \"%s\"),\n"
        "      F: T.Tensor((%d,), \"%s\")):\n"
        "    T.device_entry(launch=T.cuda.LaunchConfig(grid=(%d,), block=(256,)))\n"
        "    i = T.cuda.block_idx(\"x\") * 256 + T.cuda.thread_idx(\"x\")\n"
        "    S[i] = T.copysign(A[i], C[i])\n"
        "    X[i] = T.nextafter(A[i], C[i])\n"
        "    L[i] = T.ldexp(A[i], N[i])\n"
        "    F[i] = T.fmod(A[i], C[i])\n",
        POINTS, type, POINTS, type, POINTS, POINTS, type, POINTS, type, POINTS, type, POINTS, type,
        POINTS / 256);
    help_result result = help_evaluate(arena, script, NULL, NULL);
    if (result.messages[0])
        fail_msg("%s", result.messages);
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true};
    lower_result *lowered = lower_module(arena, result.module, &options);
    assert_non_null(lowered);
    ptx_build_options building = {.contract = true};
    ptx_module *ptx = ptx_build(arena, lowered, &building);
    assert_non_null(ptx);
    vm_program *program = vm_load(arena, ptx);
    assert_non_null(program);
    return program;
}

static void against_the_c_library(base_arena *arena, bool is_double) {
    vm_program *program = program_of(arena, is_double ? "float64" : "float32");
    vm_buffer buffers[BUFFERS];
    vm_argument arguments[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++) {
        uint64_t bytes = (uint64_t)POINTS * (is_double && i != 2 ? 8 : 4);
        buffers[i] = (vm_buffer){.name = names[i], .data = base_arena_allocate(arena, bytes), .bytes = bytes};
        arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = i};
    }
    int32_t *n = buffers[2].data;
    for (unsigned k = 0; k < POINTS; k++) {
        double x = nth(k, 1, is_double), y = k % 64 == 9 ? x : nth(k, 7, is_double);
        if (is_double)
            ((double *)buffers[0].data)[k] = x, ((double *)buffers[1].data)[k] = y;
        else
            ((float *)buffers[0].data)[k] = (float)x, ((float *)buffers[1].data)[k] = (float)y;
        n[k] = k % 32 == 5 ? (k % 64 == 5 ? INT32_MIN : INT32_MAX) : (int32_t)(k * 2654435761u % 4400) - 2200;
        n[k] = is_double || k % 32 == 5 ? n[k] : n[k] / 7;
    }
    vm_launch launch = {.grid = {POINTS / 256, 1, 1}, .block = {256, 1, 1}, .threads = 1};
    launch.arguments = arguments, launch.argument_count = BUFFERS;
    launch.buffers = buffers, launch.buffer_count = BUFFERS;
    vm_result *result = vm_run(arena, program, &launch);
    assert_int_equal(result->status, VM_COMPLETE);
    assert_int_equal(result->finding_count, 0);
    unsigned subnormal = 0;
    for (unsigned k = 0; k < POINTS; k++) {
        double v[BUFFERS];
        for (unsigned i = 0; i < BUFFERS; i++)
            v[i] = i == 2      ? n[k]
                   : is_double ? ((double *)buffers[i].data)[k]
                               : (double)((float *)buffers[i].data)[k];
        float x = (float)v[0], y = (float)v[1];
        double first = is_double ? copysign(v[0], v[1]) : (double)copysignf(x, y);
        double rest = is_double ? fmod(v[0], v[1]) : (double)fmodf(x, y);
        double next = is_double ? nextafter(v[0], v[1]) : (double)nextafterf(x, y);
        double moved = is_double ? ldexp(v[0], n[k]) : (double)ldexpf(x, n[k]);
        subnormal += moved != 0 && fabs(moved) < (is_double ? 0x1p-1022 : 0x1p-126);
        if (!same(v[3], first) || !same(v[4], next) || !same(v[5], moved) || !same(v[6], rest))
            fail_msg("%.17g, %.17g, %d: copysign %.17g (%.17g), nextafter %.17g (%.17g), ldexp %.17g "
                     "(%.17g), fmod %.17g (%.17g)",
                     v[0], v[1], n[k], v[3], first, v[4], next, v[5], moved, v[6], rest);
    }
    assert_true(subnormal > 100);
}

static void exact_words(void **state) {
    against_the_c_library(*state, false);
    against_the_c_library(*state, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(exact_words)};
    return cmocka_run_group_tests_name("vm_words", tests, NULL, NULL);
}
