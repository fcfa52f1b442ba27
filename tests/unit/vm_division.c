/* SPDX-License-Identifier: Apache-2.0
 * Division by constants on the machine: every integer type, the four roundings, divisors of every kind
 * (powers of two, those whose reciprocal needs one bit more than the type, negative ones, the ends of the
 * range), dividends at all ends. The same quotients must come from divisors that are known at run time only.
 */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "num/num.h"
#include "lower/lower.h"
#include "assemble/ptx_build.h"
#include "vm/vm.h"

enum { POINTS = 256, WORDS = 8 };
static const char *const operations[] = {"A[i] // %s", "A[i] %% %s", "truncdiv(A[i], %s)",
                                         "truncmod(A[i], %s)"};

static int64_t expected(num_dtype dtype, int operation, int64_t a, int64_t b) {
    switch (operation) {
    case 0:
        return num_floor_divide(dtype, a, b);
    case 1:
        return num_floor_modulo(dtype, a, b);
    case 2:
        return num_truncate_divide(dtype, a, b);
    default:
        return num_truncate_modulo(dtype, a, b);
    }
}

static void fill(num_dtype dtype, int64_t divisor, int64_t *points) {
    int64_t low = num_minimum(dtype), high = (int64_t)num_maximum(dtype);
    for (int64_t k = 0; k < POINTS; k++) {
        int64_t around = k < 32    ? low + k
                         : k < 64  ? high - (k - 32)
                         : k < 96  ? (int64_t)((uint64_t)divisor * (uint64_t)(k - 80))
                         : k < 128 ? (int64_t)((uint64_t)high / 2 + (uint64_t)k - 112)
                         : k < 160 ? (int64_t)((uint64_t)divisor * (uint64_t)(k - 144)) - 1
                                   : (int64_t)((uint64_t)k * UINT64_C(0x9e3779b97f4a7c15) >> (k % 60));
        points[k] = num_wrap(dtype, around);
        if (divisor == -1 && points[k] == low) /* has no quotient */
            points[k] = low + 1;
    }
}

static vm_program *load(base_arena *arena, num_dtype dtype, const char *divisor, size_t count) {
    base_builder text, messages;
    base_builder_start(&text, arena);
    const char *t = num_dtype_name(dtype);
    base_builder_format(&text, "tir 1\n\nfunction t(A: %s[%d], D: %s[1]", t, POINTS, t);
    for (size_t k = 0; k < count; k++)
        base_builder_format(&text, ", Q%zu: %s[%d]", k, t, POINTS);
    base_builder_format(
        &text,
        "):\n    launch:\n        grid = (1, 1, 1)\n        block = (%d, 1, 1)\n    let i: int32 = "
        "thread_idx.x\n    let d: %s = D[0]\n",
        POINTS, t);
    for (size_t k = 0; k < count; k++) {
        base_builder_format(&text, "    Q%zu[i] = ", k);
        base_builder_format(&text, operations[k % 4], k < 4 ? divisor : "d");
        base_builder_char(&text, '\n');
    }
    ir_module *module = help_parse(arena, text.data, &messages);
    if (!module)
        fail_msg("%s\n%s", messages.data, text.data);
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true};
    lower_result *lowered = lower_module(arena, module, &options);
    assert_non_null(lowered);
    ptx_build_options building = {.contract = false};
    ptx_module *ptx = ptx_build(arena, lowered, &building);
    assert_non_null(ptx);
    return vm_load(arena, ptx);
}

static void divide(base_arena *arena, num_dtype dtype, int64_t divisor) {
    unsigned size = num_dtype_bytes(dtype);
    int64_t points[POINTS];
    vm_buffer buffers[2 + WORDS];
    vm_argument arguments[2 + WORDS];
    bool is_signed = num_dtype_class(dtype) == NUM_SIGNED;
    const char *spelled = base_arena_format(arena, is_signed ? "%lld_%s" : "%llu_%s", (long long)divisor,
                                            num_dtype_name(dtype));
    if (dtype == NUM_DTYPE_I32)
        spelled = base_arena_format(arena, "%lld", (long long)divisor);
    if (divisor < 0)
        spelled = base_arena_format(arena, "(%s)", spelled);
    vm_program *program = load(arena, dtype, spelled, WORDS);
    assert_non_null(program);
    fill(dtype, divisor, points);
    for (uint32_t k = 0; k < 2 + WORDS; k++) {
        buffers[k] = (vm_buffer){.name = "x", .bytes = (uint64_t)(k == 1 ? 1 : POINTS) * size};
        buffers[k].data = base_arena_allocate(arena, buffers[k].bytes);
        arguments[k] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = k};
    }
    for (size_t k = 0; k < POINTS; k++)
        memcpy((char *)buffers[0].data + k * size, &points[k], size);
    memcpy(buffers[1].data, &divisor, size);
    vm_launch launch = {
        .grid = {1, 1, 1}, .block = {POINTS, 1, 1}, .arguments = arguments, .argument_count = 2 + WORDS};
    launch.buffers = buffers;
    launch.buffer_count = 2 + WORDS;
    launch.threads = 1;
    vm_result *result = vm_run(arena, program, &launch);
    assert_int_equal(result->status, VM_COMPLETE);
    assert_int_equal(result->finding_count, 0);
    for (size_t w = 0; w < WORDS; w++)
        for (size_t k = 0; k < POINTS; k++) {
            int64_t got = 0, want = expected(dtype, (int)(w % 4), points[k], divisor);
            memcpy(&got, (char *)buffers[2 + w].data + k * size, size);
            if (num_wrap(dtype, got) != num_wrap(dtype, want))
                fail_msg("%s: %s of %lld by %lld is %lld, not %lld", num_dtype_name(dtype), operations[w % 4],
                         (long long)points[k], (long long)divisor, (long long)num_wrap(dtype, got),
                         (long long)want);
        }
}

static void constants(void **state) {
    static const num_dtype dtypes[] = {NUM_DTYPE_I8, NUM_DTYPE_I16, NUM_DTYPE_I32, NUM_DTYPE_I64,
                                       NUM_DTYPE_U8, NUM_DTYPE_U16, NUM_DTYPE_U32, NUM_DTYPE_U64};
    static const int64_t divisors[] = {
        1,    2,     3,      5,     6,     7,       8,          9,          10,         11,
        13,   19,    31,     33,    53,    64,      84,         100,        113,        127,
        -1,   -2,    -3,     -7,    -8,    -100,    128,        255,        641,        1000,
        4095, 32767, -32767, 65535, 65537, 1000003, 2147483647, 2147483648, 3000000001, 4294967295};
    (void)state;
    for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++)
        for (size_t d = 0; d < sizeof divisors / sizeof divisors[0]; d++) {
            if (num_wrap(dtypes[t], divisors[d]) != divisors[d])
                continue;
            base_heap *heap = base_heap_create(NULL);
            divide(base_arena_create(heap), dtypes[t], divisors[d]);
            base_heap_destroy(heap);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants)};
    return cmocka_run_group_tests_name("vm_division", tests, NULL, NULL);
}
