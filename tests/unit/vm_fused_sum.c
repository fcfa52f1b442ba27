/* SPDX-License-Identifier: Apache-2.0
 * The numeric models of the matrix units against models written another way: hw in doubles and libm's frexp
 * and trunc, fp32 with fmaf, exact in 128-bit fixed point; special values and hand-made roundings. */
#include "unit/unit.h"
#include "vm/vm_fused_sum.h"
#include <math.h>
#include <string.h>

static uint64_t seed = 88172645463325252u;
static uint32_t next_random(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static uint32_t as_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static const struct {
    num_dtype dtype;
    int smallest; /* exponent of subnormals */
} inputs[] = {{NUM_DTYPE_F16, -14},     {NUM_DTYPE_BF16, -126},  {NUM_DTYPE_TF32, -126},
              {NUM_DTYPE_F8E4M3FN, -6}, {NUM_DTYPE_F8E5M2, -14}, {NUM_DTYPE_F6E2M3FN, 0},
              {NUM_DTYPE_F6E3M2FN, -2}, {NUM_DTYPE_F4E2M1FN, 0}};
enum { INPUTS = sizeof inputs / sizeof inputs[0], K = 64 };

/* Values near each other, so that cutting and cancelling happen. */
static uint32_t random_code(num_dtype dtype) {
    uint32_t r = next_random();
    switch (dtype) {
    case NUM_DTYPE_F16:
        return (r & 0x83ff) | (8 + (r >> 16) % 12) << 10;
    case NUM_DTYPE_BF16:
        return (r & 0x807f) | (118 + (r >> 16) % 16) << 7;
    case NUM_DTYPE_TF32:
        return (r & 0x807fffffu) | (118 + next_random() % 16) << 23;
    default:
        return r & ((1u << num_dtype_bits(dtype)) - 1);
    }
}

static double slow_exponent(double value, int smallest, int *exponent) {
    double s = 2 * frexp(value, exponent);
    if (--*exponent < smallest) {
        s = ldexp(s, *exponent - smallest);
        *exponent = smallest;
    }
    if (value == 0)
        *exponent = -126;
    return s;
}

static uint32_t slow_round(double value, bool half, int kept) {
    int exponent;
    double s = slow_exponent(value, half ? -14 : -126, &exponent);
    s = half ? nearbyint(ldexp(s, 10)) : trunc(ldexp(s, kept));
    value = ldexp(s, exponent - (half ? 10 : kept)) + 0.0;
    return half ? (uint32_t)num_encode(NUM_DTYPE_F16, value, NUM_RN, false) : as_bits((float)value);
}

/* The fused sum as its discoverers state it. */
static uint32_t slow_hw(const vm_fused_model *m, unsigned count, const double *a, const double *b,
                        int smallest, uint32_t c) {
    bool half = m->output == NUM_DTYPE_F16;
    int exponents[K + 1], largest;
    double terms[K + 1], sum = 0;
    terms[count] = slow_exponent(num_decode(m->output, c), half ? -14 : -126, &exponents[count]);
    largest = exponents[count];
    for (unsigned k = 0; k < count; k++) {
        int ea, eb;
        terms[k] = slow_exponent(a[k], smallest, &ea) * slow_exponent(b[k], smallest, &eb);
        exponents[k] = ea + eb;
        largest = exponents[k] > largest ? exponents[k] : largest;
    }
    for (unsigned k = 0; k <= count; k++)
        sum += trunc(ldexp(terms[k], m->fraction + exponents[k] - largest));
    return slow_round(ldexp(sum, largest - m->fraction), half, m->output_fraction);
}

static void check_models(num_dtype dtype, int smallest, num_dtype output, unsigned count) {
    vm_fused_value a[K], b[K];
    double x[K], y[K];
    for (unsigned k = 0; k < count; k++) {
        uint32_t p = random_code(dtype), q = random_code(dtype);
        if (next_random() % 7 == 0)
            p = 0;
        a[k] = vm_fused_decode(dtype, p);
        b[k] = vm_fused_decode(dtype, q);
        x[k] = num_decode(dtype, p);
        y[k] = num_decode(dtype, q);
        if (a[k].class != VM_FUSED_FINITE || b[k].class != VM_FUSED_FINITE) {
            k--;
            continue;
        }
        assert_true(x[k] ==
                    ldexp((a[k].negative ? -1.0 : 1.0) * a[k].significand, a[k].exponent - a[k].fraction));
    }
    bool half = output == NUM_DTYPE_F16;
    uint32_t c = half ? random_code(NUM_DTYPE_F16) : random_code(NUM_DTYPE_TF32);
    if (next_random() % 5 == 0)
        c = 0;
    for (unsigned sm = 70; sm <= 100; sm += 10) {
        vm_fused_model m = vm_fused_model_of(VM_NUMERICS_HW, sm, sm == 90 ? VM_FUSED_WGMMA : VM_FUSED_MMA,
                                             dtype, count, output, false);
        m.step = 0;
        assert_int_equal(vm_fused_sum(&m, count, a, b, NULL, NULL, 0, c),
                         slow_hw(&m, count, x, y, smallest, c));
    }
    float chained = (float)num_decode(output, c);
    __int128 sum = (__int128)ldexp(num_decode(output, c), 60);
    for (unsigned k = 0; k < count; k++) {
        chained = fmaf((float)x[k], (float)y[k], chained);
        sum += (__int128)ldexp(x[k] * y[k], 60);
    }
    vm_fused_model m = vm_fused_model_of(VM_NUMERICS_FP32, 100, VM_FUSED_MMA, dtype, count, output, false);
    uint32_t expected = half ? num_f32_to_f16(chained) : as_bits(chained + 0.0f);
    assert_int_equal(vm_fused_sum(&m, count, a, b, NULL, NULL, 0, c), expected);
    m.numerics = VM_NUMERICS_EXACT;
    long double wide =
        (long double)(int64_t)(sum >> 40) * 1099511627776.0L + (long double)(int64_t)(sum & 0xffffffffff);
    if ((__int128)wide == sum) { /* 64 bits are enough: rounded once by num */
        double narrow = (double)ldexpl(wide, -60);
        if ((long double)narrow == ldexpl(wide, -60))
            assert_int_equal(vm_fused_sum(&m, count, a, b, NULL, NULL, 0, c),
                             num_encode(output, narrow + 0.0, NUM_RN, false));
    }
}

static void random_sums(void **state) {
    (void)state;
    static const unsigned counts[] = {4, 8, 16, 32, 64};
    for (unsigned n = 0; n < 20000; n++) {
        unsigned i = n % INPUTS;
        check_models(inputs[i].dtype, inputs[i].smallest, n / INPUTS % 2 ? NUM_DTYPE_F16 : NUM_DTYPE_F32,
                     counts[next_random() % 5]);
    }
}

/* Every code decodes to what num_decode says. */
static void decoding(void **state) {
    (void)state;
    for (unsigned i = 0; i < INPUTS; i++) {
        num_dtype dtype = inputs[i].dtype;
        unsigned bits = dtype == NUM_DTYPE_TF32 ? 19 : num_dtype_bits(dtype);
        for (uint32_t code = 0; code < 1u << bits; code++) {
            uint32_t stored = dtype == NUM_DTYPE_TF32 ? code << 13 : code;
            double value = num_decode(dtype, stored);
            vm_fused_value v = vm_fused_decode(dtype, stored);
            if (isnan(value))
                assert_int_equal(v.class, VM_FUSED_NAN);
            else if (isinf(value))
                assert_true(v.class == VM_FUSED_INFINITE && v.negative == (value < 0));
            else
                assert_true(v.class == VM_FUSED_FINITE &&
                            ldexp(v.negative ? -(double)v.significand : v.significand,
                                  v.exponent - v.fraction) == value);
        }
    }
    for (uint32_t code = 0; code < 256; code++) {
        vm_fused_value v = vm_fused_decode(NUM_DTYPE_F8E8M0FNU, code);
        if (code == 255)
            assert_int_equal(v.class, VM_FUSED_NAN);
        else
            assert_true(ldexp(v.significand, v.exponent) == ldexp(1, (int)code - 127));
    }
    assert_int_equal(vm_fused_decode(NUM_DTYPE_TF32, 0x3f801fff).significand,
                     1u << 10); /* low bits dropped */
}

static uint32_t one(num_dtype output, vm_numerics numerics, const float *a, const float *b, unsigned count,
                    uint32_t c) {
    vm_fused_value x[K], y[K];
    for (unsigned k = 0; k < count; k++) {
        x[k] = vm_fused_decode(NUM_DTYPE_BF16, as_bits(a[k]) >> 16);
        y[k] = vm_fused_decode(NUM_DTYPE_BF16, as_bits(b[k]) >> 16);
    }
    vm_fused_model m =
        vm_fused_model_of(numerics, 100, VM_FUSED_TCGEN05, NUM_DTYPE_BF16, count, output, false);
    return vm_fused_sum(&m, count, x, y, NULL, NULL, 0, c);
}

static void special_values(void **state) {
    (void)state;
    float inf = INFINITY;
    for (int n = VM_NUMERICS_HW; n <= VM_NUMERICS_EXACT; n++) {
        vm_numerics numerics = (vm_numerics)n;
        float a[2] = {inf, 1}, b[2] = {1, 1}, zero[2] = {0, 1}, minus[2] = {-1, 1};
        assert_int_equal(one(NUM_DTYPE_F32, numerics, a, b, 2, 0), 0x7f800000u);
        assert_int_equal(one(NUM_DTYPE_F32, numerics, a, minus, 2, 0), 0xff800000u);
        assert_int_equal(one(NUM_DTYPE_F32, numerics, a, zero, 2, 0), 0x7fffffffu);
        assert_int_equal(one(NUM_DTYPE_F16, numerics, a, zero, 2, 0), 0x7fffu);
        assert_int_equal(one(NUM_DTYPE_F32, numerics, a, minus, 2, 0x7f800000u), 0x7fffffffu);
        assert_int_equal(one(NUM_DTYPE_F32, numerics, b, b, 2, 0xff800000u), 0xff800000u);
        assert_int_equal(one(NUM_DTYPE_F32, numerics, b, b, 2, 0x7f800001u), 0x7fffffffu);
        assert_int_equal(one(NUM_DTYPE_F16, numerics, b, b, 2, 0xfc00u), 0xfc00u);
        float big[2] = {0x1p127f, 0}, two[2] = {2, 1};
        assert_int_equal(one(NUM_DTYPE_F32, numerics, big, two, 2, 0), 0x7f800000u);
        float most[2] = {65280, 255}, ones[2] = {1, 1};
        assert_int_equal(one(NUM_DTYPE_F16, numerics, most, ones, 2, 0), 0x7c00u); /* 65535 rounds up */
    }
}

/* Where the three models part: a small product beside a large one. */
static void models_part(void **state) {
    (void)state;
    float a[2] = {1, 0x1.8p-13f}, b[2] = {1, 0x1p-12f}; /* 1 + 1.5 * 2^-25: the cut keeps 2^-25 */
    uint32_t tiny = as_bits(-0x1p-26f);
    assert_int_equal(one(NUM_DTYPE_F32, VM_NUMERICS_HW, a, b, 2, tiny), as_bits(1));
    assert_int_equal(one(NUM_DTYPE_F32, VM_NUMERICS_EXACT, a, b, 2, tiny), as_bits(1));
    float c[2] = {0x1p-13f, 0x1p-13f}, d[2] = {0x1.8p-11f, 0x1.8p-11f}; /* 3 * 2^-24 in all, beside 1 */
    assert_int_equal(one(NUM_DTYPE_F32, VM_NUMERICS_HW, c, d, 2, as_bits(1)), as_bits(1 + 0x1p-23f));
    assert_int_equal(one(NUM_DTYPE_F32, VM_NUMERICS_EXACT, c, d, 2, as_bits(1)), as_bits(1 + 0x1p-22f));
    assert_int_equal(one(NUM_DTYPE_F32, VM_NUMERICS_FP32, c, d, 2, as_bits(1)), as_bits(1 + 0x1p-22f));
}

/* Block scales: a power of two on both sides; groups of mxf4 with 35 bits and ue4m3 without its sign. */
static void block_scales(void **state) {
    (void)state;
    for (unsigned n = 0; n < 4000; n++) {
        vm_fused_value a[K], b[K], scale_a[4], scale_b[4];
        double exact = 0, group[4] = {0};
        bool e4m3 = n % 2;
        unsigned block = n % 4 < 2 ? 16 : 32;
        double factor[4];
        for (unsigned i = 0; i < K / block; i++) {
            uint32_t p = e4m3 ? next_random() % 127 | (next_random() & 128) : 120 + next_random() % 12,
                     q = e4m3 ? next_random() % 127 : 120 + next_random() % 12;
            num_dtype dtype = e4m3 ? NUM_DTYPE_F8E4M3FN : NUM_DTYPE_F8E8M0FNU;
            scale_a[i] = vm_fused_decode(dtype, p);
            scale_b[i] = vm_fused_decode(dtype, q);
            factor[i] = fabs(num_decode(dtype, p)) * num_decode(dtype, q);
        }
        for (unsigned k = 0; k < K; k++) {
            uint32_t p = next_random() & 15, q = next_random() & 15;
            a[k] = vm_fused_decode(NUM_DTYPE_F4E2M1FN, p);
            b[k] = vm_fused_decode(NUM_DTYPE_F4E2M1FN, q);
            double product = num_decode(NUM_DTYPE_F4E2M1FN, p) * num_decode(NUM_DTYPE_F4E2M1FN, q);
            group[k / 16] += product;
            exact += product * factor[k / block];
        }
        uint32_t c = random_code(NUM_DTYPE_TF32);
        exact += (double)as_float(c);
        vm_fused_model m = vm_fused_model_of(VM_NUMERICS_EXACT, 100, VM_FUSED_TCGEN05, NUM_DTYPE_F4E2M1FN, K,
                                             NUM_DTYPE_F32, true);
        assert_int_equal(vm_fused_sum(&m, K, a, b, scale_a, scale_b, block, c), as_bits((float)exact + 0.0f));
        m.numerics = VM_NUMERICS_HW;
        int ec, exponents[4], largest;
        double sc = slow_exponent((double)as_float(c), -126, &ec), terms[4], sum = 0;
        largest = ec;
        for (unsigned g = 0; g < 4; g++) {
            const vm_fused_value *p = &scale_a[g * 16 / block], *q = &scale_b[g * 16 / block];
            exponents[g] = p->exponent + q->exponent;
            terms[g] = group[g] * ldexp(p->significand, -p->fraction) * ldexp(q->significand, -q->fraction);
            largest = exponents[g] > largest ? exponents[g] : largest;
        }
        for (unsigned g = 0; g < 4; g++)
            sum += trunc(ldexp(terms[g], 35 + exponents[g] - largest));
        sum += trunc(ldexp(sc, 35 + ec - largest));
        assert_int_equal(vm_fused_sum(&m, K, a, b, scale_a, scale_b, block, c),
                         slow_round(ldexp(sum, largest - 35), false, 23));
    }
}

static void parameters(void **state) {
    (void)state;
    vm_fused_model m =
        vm_fused_model_of(VM_NUMERICS_HW, 80, VM_FUSED_MMA, NUM_DTYPE_F16, 16, NUM_DTYPE_F32, false);
    assert_int_equal(m.fraction, 24);
    assert_int_equal(m.step, 8);
    m = vm_fused_model_of(VM_NUMERICS_HW, 90, VM_FUSED_WGMMA, NUM_DTYPE_F8E4M3FN, 32, NUM_DTYPE_F32, false);
    assert_int_equal(m.fraction, 13);
    assert_int_equal(m.output_fraction, 13);
    m = vm_fused_model_of(VM_NUMERICS_HW, 100, VM_FUSED_TCGEN05, NUM_DTYPE_F8E4M3FN, 32, NUM_DTYPE_F32,
                          false);
    assert_int_equal(m.fraction, 25);
    assert_int_equal(m.output_fraction, 23);
    assert_int_equal(m.step, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),    cmocka_unit_test(random_sums),  cmocka_unit_test(special_values),
        cmocka_unit_test(models_part), cmocka_unit_test(block_scales), cmocka_unit_test(parameters),
    };
    return cmocka_run_group_tests_name("vm_fused_sum", tests, NULL, NULL);
}
