/* SPDX-License-Identifier: Apache-2.0
 * Our PTX on the machine: random functions give what the model of flat IR gives, with all optimising passes
 * and with none; the mathematical functions stay inside the bounds of docs/math.md. */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "flat_model.h"
#include "flat_random.h"
#include "assemble/ptx_build.h"
#include "vm/vm.h"
#include <math.h>

enum { PROGRAMS = 100, EXTENT = 2048 };

static ptx_module *build_text(base_arena *arena, ir_module *module, const char *skip,
                              lower_result **lowered) {
    lower_options options = {.goal = LOWER_FOR_PTX, .verify = true, .skip = skip};
    *lowered = lower_module(arena, module, &options);
    ptx_build_options building = {.contract = false};
    ptx_module *ptx = *lowered ? ptx_build(arena, *lowered, &building) : NULL;
    if (ptx && ptx_verify(ptx, true))
        return ptx;
    base_builder out;
    base_builder_start(&out, arena);
    base_diagnostics_render(module->diagnostics, BASE_LINE, false, &out);
    fail_msg("%s", out.data ? out.data : "not built");
    return NULL;
}

static void fill(num_dtype dtype, uint8_t *bytes) {
    unsigned size = num_dtype_bytes(dtype);
    for (uint64_t k = 0; k < EXTENT; k++) {
        int word = (int)(k * 37 % 101) - 50;
        model_value value = {.i = {num_dtype_is_float(dtype) ? 0 : num_wrap(dtype, word)},
                             .f = {word * 0.25}};
        model_write(dtype, bytes + k * size, &value, 0);
    }
}

/* The parameters' memory after the model's run; NULL when the function does something undefined. */
static model *expected_of(base_arena *arena, const ir_function *function) {
    model *m = BASE_NEW(arena, model);
    m->arena = arena;
    m->values = base_map_create(arena);
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_parameter *p = &function->parameters.items[i];
        model_value scalar = {.i = {!strcmp(p->name, "n") ? 5 : 3}};
        if (p->var)
            model_set(m, p->var, scalar);
        else
            fill(p->tensor->type.dtype, model_find(m, p->tensor)->bytes);
    }
    model_run(m, function->body);
    return m->trouble ? NULL : m;
}

static void run_on_machine(base_arena *arena, const ir_function *function, const ptx_module *ptx,
                           model *expected, const char *text) {
    vm_program *program = vm_load(arena, ptx);
    assert_non_null(program);
    size_t count = function->parameters.count;
    vm_argument *arguments = BASE_NEW_ARRAY(arena, vm_argument, count);
    vm_buffer *buffers = BASE_NEW_ARRAY(arena, vm_buffer, count);
    size_t buffer_count = 0;
    static const int32_t five = 5, three = 3;
    for (size_t i = 0; i < count; i++) {
        const ir_parameter *p = &function->parameters.items[i];
        if (p->var) {
            arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BYTES, .size = 4};
            arguments[i].bytes = !strcmp(p->name, "n") ? &five : &three;
            continue;
        }
        num_dtype dtype = p->tensor->type.dtype;
        vm_buffer *buffer = &buffers[buffer_count];
        buffer->name = p->name;
        buffer->bytes = (uint64_t)EXTENT * num_dtype_bytes(dtype);
        buffer->data = base_arena_allocate(arena, buffer->bytes);
        fill(dtype, buffer->data);
        arguments[i] = (vm_argument){.kind = VM_ARGUMENT_BUFFER, .buffer = (uint32_t)buffer_count++};
    }
    vm_launch launch = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .arguments = arguments, .argument_count = count};
    launch.buffers = buffers;
    launch.buffer_count = buffer_count;
    launch.threads = 1;
    launch.step_limit = 5000000;
    vm_result *result = vm_run(arena, program, &launch);
    if (result->status != VM_COMPLETE || result->finding_count)
        fail_msg("status %d, %zu findings%s%s in\n%s", (int)result->status, result->finding_count,
                 result->finding_count ? ": " : "",
                 result->finding_count ? vm_finding_kind_name(result->findings[0].kind) : "", text);
    for (size_t i = 0; i < buffer_count; i++) {
        const uint8_t *got = buffers[i].data, *want = NULL;
        for (uint32_t k = 0; k < expected->memory_count; k++)
            if (!strcmp(expected->memories[k].name, buffers[i].name))
                want = expected->memories[k].bytes;
        unsigned size = (unsigned)(buffers[i].bytes / EXTENT);
        for (uint64_t k = 0; want && k < EXTENT; k++)
            if (memcmp(got + k * size, want + k * size, size))
                fail_msg("%s[%u] differs after\n%s", buffers[i].name, (unsigned)k, text);
    }
}

static void random_functions(void **state) {
    static const char none[] =
        "optimise_unroll,optimise_promote,optimise_propagate,optimise_divide,optimise_select,optimise_select_"
        "loaded,optimise_addresses,optimise_"
        "widen,"
        "optimise_induction,optimise_hoist,optimise_loads,optimise_share,optimise_dead";
    unsigned sound = 0;
    (void)state;
    for (unsigned n = 1; n <= PROGRAMS; n++) {
        base_heap *heap = base_heap_create(NULL);
        base_arena *arena = base_arena_create(heap);
        const char *text = random_function(arena, n, true);
        base_builder messages;
        ir_module *module = help_parse(arena, text, &messages);
        if (!module)
            fail_msg("%s\n%s", messages.data, text);
        lower_result *plain, *optimised;
        ptx_module *slow = build_text(arena, module, none, &plain),
                   *fast = build_text(arena, module, NULL, &optimised);
        model *expected = expected_of(arena, plain->module->functions.items[0]);
        if (expected) {
            sound++;
            run_on_machine(arena, plain->module->functions.items[0], slow, expected, text);
            run_on_machine(arena, optimised->module->functions.items[0], fast, expected, text);
        }
        base_heap_destroy(heap);
    }
    assert_true(sound * 10 >= PROGRAMS * 9);
}

/* Branches over nothing go, what their conditions are made of stays for its other readers. */
static void empty_branches(void **state) {
    static const char *const bodies[] = {
        "    let p: bool = A[0] < A[1]\n    B[0] = select(p, 7, 9)\n    if p:\n        pass\n",
        ("    let p: bool = A[0] < A[1]\n    if p:\n        pass\n    if p:\n        pass\n    else:\n       "
         " "
         "pass\n"
         "    B[0] = select(p, 7, 9)\n"),
        ("    let p: bool = A[2] == A[1]\n    for i in serial(3):\n        if p:\n            if i > 1:\n"
         "                pass\n        B[i] = select(p, i, 5 - i)\n")};
    base_arena *arena = *state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        const char *text = base_arena_format(
            arena,
            "tir 1\n\nfunction t(A: int32[2048], B: int32[2048]):\n    launch:\n        grid = (1, 1, 1)\n"
            "        block = (1, 1, 1)\n%s",
            bodies[i]);
        base_builder messages;
        ir_module *module = help_parse(arena, text, &messages);
        if (!module)
            fail_msg("%s", messages.data);
        static const char *const skips[] = {"optimise_dead", NULL};
        for (size_t k = 0; k < 2; k++) {
            lower_result *lowered;
            ptx_module *ptx = build_text(arena, module, skips[k], &lowered);
            const ir_function *function = lowered->module->functions.items[0];
            model *expected = expected_of(arena, function);
            assert_non_null(expected);
            run_on_machine(arena, function, ptx, expected, text);
        }
    }
}

/* ---- mathematics ---- */

enum { POINTS = 8192 };

static long double exact_exp10(long double x) {
    return powl(10, x);
}

static const struct function {
    const char *name;
    double low, high, bound32, bound64; /* of the argument; ulp, or absolute where negative */
    long double (*exact)(long double);
    long double (*exact_pair)(long double, long double); /* of two arguments */
    bool every;                                          /* a quarter of the arguments has every exponent */
} functions[] = {
    /* clang-format off */
    {"exp", -120, 95, 3, 1.5, expl, NULL, false},      {"exp2", -155, 130, 2, 2, exp2l, NULL, false}, {"log", 1e-30, 1e30, 2, 2, logl, NULL, false},
    {"log2", 1e-30, 1e30, 3, 4, log2l, NULL, false},   {"log10", 1e-30, 1e30, 3, 4, log10l, NULL, false}, {"sin", -1e5, 1e5, 2, -0x1p-52, sinl, NULL, false},
    {"cos", -1e5, 1e5, 2, -0x1p-52, cosl, NULL, false}, {"tanh", -12, 12, 4, 8, tanhl, NULL, false},  {"erf", -7, 7, 4, 4, erfl, NULL, false},
    {"tan", -0x1p30, 0x1p30, 1, 4, tanl, NULL, false}, {"asin", -1, 1, 1, 4, asinl, NULL, true},
    {"acos", -1, 1, 1, 4, acosl, NULL, true}, {"atan", -20, 20, 1, 4, atanl, NULL, true},
    {"atan2", -20, 20, 1, 4, NULL, atan2l, true}, {"sinh", -100, 100, 1, 5, sinhl, NULL, true},
    {"cosh", -100, 100, 1, 4, coshl, NULL, true}, {"asinh", -100, 100, 1, 5, asinhl, NULL, true},
    {"acosh", 1, 100, 1, 5, acoshl, NULL, true}, {"atanh", -1, 1, 1, 5, atanhl, NULL, true},
    {"exp10", -50, 40, 1, 3, exact_exp10, NULL, true}, {"expm1", -30, 90, 1, 4, expm1l, NULL, true},
    {"log1p", -1, 100, 1, 4, log1pl, NULL, true}, {"cbrt", -100, 100, 1, 1, cbrtl, NULL, true},
    {"hypot", -100, 100, 1, 2, NULL, hypotl, true}, {"fmod", -1000, 1000, 0, 0, NULL, fmodl, true},
    /* clang-format on */
};

/* Half of the points are spread evenly, a quarter lies near 0, a quarter over all magnitudes. */
static double argument(const struct function *f, unsigned k) {
    static const double specials[] = {0, 1, -1, 0.5, INFINITY, -INFINITY, NAN, 1e-40, 0.625, -0.17, 4.1, 6};
    double t = (k * 2654435761u % POINTS) / (double)POINTS;
    bool positive = f->low > 0;
    if (k < sizeof specials / sizeof specials[0])
        return specials[k];
    if (k % 4 == 1)
        return positive ? 0.5 + 1.5 * t : 2 * t - 1;
    if (k % 4 == 2)
        return (positive || k % 8 == 2 ? 1 : -1) * exp(log(1e-6) + t * (log(f->high) - log(1e-6)));
    return f->low + t * (f->high - f->low);
}

/* Arguments of one sign, exponent and beginning after another; the rest of the digits is mixed. The second
 * argument of a pair walks at another pace, so that all distances of exponents come. */
static double spread(unsigned k, bool is_double) {
    static const double specials[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, 2, 0x1p-149, 0x1p-1074};
    enum { COUNT = sizeof specials / sizeof specials[0] };
    if (k % 16 == 0)
        return specials[k / 16 % COUNT];
    uint64_t bits = (k * UINT64_C(0x9e3779b97f4a7c15)) ^ (k * UINT64_C(0xbf58476d1ce4e5b9) >> 7);
    if (k % 16 < 4)
        bits &= ~(UINT64_MAX >> 12); /* a power of two */
    double value;
    memcpy(&value, &bits, sizeof value);
    if (is_double)
        return value;
    uint32_t word = (uint32_t)(bits >> 32);
    float single;
    memcpy(&single, &word, sizeof single);
    return (double)single;
}

static double error_of(double got, long double exact, bool is_double, bool absolute) {
    double rounded = is_double ? (double)exact : (double)(float)exact;
    if (isnan(rounded) || isnan(got))
        return isnan(rounded) && isnan(got) ? 0 : INFINITY;
    if (isinf(rounded) || isinf(got))
        return rounded == got ? 0 : INFINITY;
    int exponent, least = is_double ? -1021 : -125;
    frexp(rounded, &exponent);
    exponent = exponent < least ? least : exponent;
    double difference = fabs((double)((long double)got - exact));
    return absolute ? difference : ldexp(difference, (is_double ? 53 : 24) - exponent);
}

static void check_function(base_arena *arena, const struct function *f, bool is_double) {
    const char *type = is_double ? "float64" : "float32";
    const char *text = base_arena_format(
        arena,
        "tir 1\n\nfunction t(A: %s[8192], B: %s[8192], C: %s[8192]):\n    launch:\n        grid = (32, 1, "
        "1)\n"
        "        block = (256, 1, 1)\n    let i: int32 = block_idx.x * 256 + thread_idx.x\n    B[i] = "
        "%s(A[i]%s)\n",
        type, type, type, f->name, f->exact_pair ? ", C[i]" : "");
    base_builder messages;
    ir_module *module = help_parse(arena, text, &messages);
    if (!module)
        fail_msg("%s", messages.data);
    lower_result *lowered;
    ptx_module *ptx = build_text(arena, module, NULL, &lowered);
    vm_program *program = vm_load(arena, ptx);
    assert_non_null(program);
    unsigned size = is_double ? 8 : 4;
    vm_buffer buffers[3] = {{.name = "A", .bytes = (uint64_t)POINTS * size},
                            {.name = "B", .bytes = (uint64_t)POINTS * size},
                            {.name = "C", .bytes = (uint64_t)POINTS * size}};
    for (int i = 0; i < 3; i++)
        buffers[i].data = base_arena_allocate(arena, buffers[i].bytes);
    double *x64 = buffers[0].data, *y64 = buffers[1].data, *z64 = buffers[2].data;
    float *x32 = buffers[0].data, *y32 = buffers[1].data, *z32 = buffers[2].data;
    for (unsigned k = 0; k < POINTS; k++) {
        double x = f->every && k % 2 ? spread(k / 2, is_double) : argument(f, k);
        double z = f->every && k % 4 != 2 ? spread(k / 2 * 37 + k / 1024, is_double) : argument(f, k * 5 + 3);
        if (is_double)
            x64[k] = x, z64[k] = z;
        else
            x32[k] = (float)x, z32[k] = (float)z;
    }
    vm_argument arguments[3] = {{.kind = VM_ARGUMENT_BUFFER, .buffer = 0},
                                {.kind = VM_ARGUMENT_BUFFER, .buffer = 1},
                                {.kind = VM_ARGUMENT_BUFFER, .buffer = 2}};
    vm_launch launch = {
        .grid = {32, 1, 1}, .block = {256, 1, 1}, .arguments = arguments, .argument_count = 3};
    launch.buffers = buffers;
    launch.buffer_count = 3;
    launch.threads = 1;
    vm_result *result = vm_run(arena, program, &launch);
    assert_int_equal(result->status, VM_COMPLETE);
    assert_int_equal(result->finding_count, 0);
    double bound = is_double ? f->bound64 : f->bound32;
    for (unsigned k = 0; k < POINTS; k++) {
        double x = is_double ? x64[k] : (double)x32[k], y = is_double ? y64[k] : (double)y32[k];
        double z = is_double ? z64[k] : (double)z32[k];
        long double exact = f->exact ? f->exact(x) : f->exact_pair(x, z);
        double error = error_of(y, exact, is_double, bound < 0);
        if (f->every && exact == 0 && !signbit(exact) != !signbit(y))
            error = INFINITY; /* these keep the sign of a zero */
        /* exp of float64 may lose one more where the result is subnormal */
        double allowed = fabs(bound) + (is_double && fabs(y) < 0x1p-1022 ? 1.5 : 0) +
                         (!is_double && fabs(y) < 0x1p-126 ? 1 : 0);
        if (error > allowed)
            fail_msg("%s of %s %.17g (%.17g) is %.17g: off by %g, allowed %g", f->name, type, x, z, y, error,
                     allowed);
    }
}

static void mathematics(void **state) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        check_function(*state, &functions[i], false);
        check_function(*state, &functions[i], true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_functions),
        UNIT_WITH_ARENA(empty_branches),
        UNIT_WITH_ARENA(mathematics),
    };
    return cmocka_run_group_tests_name("vm_build", tests, NULL, NULL);
}
