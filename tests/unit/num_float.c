/* SPDX-License-Identifier: Apache-2.0
 * Every floating format against its published limits and against a slow model that knows only the list of
 * values of the format. */
#include "unit/unit.h"
#include "num/num.h"
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* clang-format off */
/* Largest and smallest positive numbers, and special codes, as the formats' documents print them. */
static const struct {
    num_dtype dtype;
    double largest, smallest_normal, smallest;
    int64_t infinity, nan; /* codes; -1: the format has none */
} published[] = {
    {NUM_DTYPE_F16,           65504,             0x1p-14,  0x1p-24,  0x7c00, 0x7fff},
    {NUM_DTYPE_BF16,          0x1.fep127,        0x1p-126, 0x1p-133, 0x7f80, 0x7fff},
    {NUM_DTYPE_TF32,          0x1.ffcp127,       0x1p-126, 0x1p-136, 0x7f800000, 0x7fffffff},
    {NUM_DTYPE_F32,           0x1.fffffep127,    0x1p-126, 0x1p-149, 0x7f800000, 0x7fffffff},
    {NUM_DTYPE_F64,           0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, 0x7ff0000000000000, 0x7ff8000000000000},
    {NUM_DTYPE_F8E3M4,        15.5,              0.25,     0x1p-6,   0x70, 0x7f},
    {NUM_DTYPE_F8E4M3,        240,               0x1p-6,   0x1p-9,   0x78, 0x7f},
    {NUM_DTYPE_F8E4M3FN,      448,               0x1p-6,   0x1p-9,   -1, 0x7f},
    {NUM_DTYPE_F8E4M3FNUZ,    240,               0x1p-7,   0x1p-10,  -1, 0x80},
    {NUM_DTYPE_F8E4M3B11FNUZ, 30,                0x1p-10,  0x1p-13,  -1, 0x80},
    {NUM_DTYPE_F8E5M2,        57344,             0x1p-14,  0x1p-16,  0x7c, 0x7f},
    {NUM_DTYPE_F8E5M2FNUZ,    57344,             0x1p-15,  0x1p-17,  -1, 0x80},
    {NUM_DTYPE_F8E8M0FNU,     0x1p127,           0x1p-127, 0x1p-127, -1, 0xff},
    {NUM_DTYPE_F6E2M3FN,      7.5,               1,        0.125,    -1, -1},
    {NUM_DTYPE_F6E3M2FN,      28,                0.25,     0.0625,   -1, -1},
    {NUM_DTYPE_F4E2M1FN,      6,                 1,        0.5,      -1, -1},
};
/* clang-format on */
enum { FORMATS = sizeof published / sizeof published[0] };

static void published_limits(void **state) {
    (void)state;
    size_t floats = 0;
    for (unsigned d = 1; d < NUM_DTYPE_COUNT; d++)
        floats += num_dtype_is_float((num_dtype)d);
    assert_int_equal(floats, FORMATS);
    for (size_t i = 0; i < FORMATS; i++) {
        num_dtype d = published[i].dtype;
        uint64_t largest = num_encode(d, published[i].largest, NUM_RN, false);
        assert_true(num_decode(d, largest) == published[i].largest);
        assert_true(num_decode(d, num_encode(d, published[i].smallest, NUM_RN, false)) ==
                    published[i].smallest);
        assert_true(num_decode(d, num_encode(d, published[i].smallest_normal, NUM_RN, false)) ==
                    published[i].smallest_normal);
        if (d != NUM_DTYPE_F8E8M0FNU && d != NUM_DTYPE_F64) {
            assert_true(num_encode(d, published[i].smallest / 4, NUM_RN, false) == 0);
            assert_true(num_decode(d, num_encode(d, published[i].smallest / 4, NUM_RP, false)) ==
                        published[i].smallest);
        }
        uint64_t infinity = num_encode(d, INFINITY, NUM_RN, false), nan = num_encode(d, NAN, NUM_RN, false);
        if (published[i].infinity >= 0) {
            assert_true(infinity == (uint64_t)published[i].infinity);
            assert_true(num_decode(d, infinity) == INFINITY);
        } else {
            assert_true(infinity == (published[i].nan >= 0 ? nan : largest));
        }
        assert_true(nan == (published[i].nan >= 0 ? (uint64_t)published[i].nan : largest));
        assert_true(num_encode(d, -NAN, NUM_RZ, true) == nan);
        assert_true(published[i].nan < 0 || isnan(num_decode(d, nan)));
        assert_true(num_encode(d, INFINITY, NUM_RN, true) == largest);
        assert_true(num_encode(d, 0.0, NUM_RP, false) == 0);
    }
}

static bool is_code_of(num_dtype d, uint64_t code) {
    return num_dtype_bits(d) > 16 || code >> num_dtype_bits(d) == 0;
}

/* Each pattern comes back, whatever the rounding, since its value needs none. */
static void round_trips(void **state) {
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        num_dtype d = published[i].dtype;
        if (num_dtype_bits(d) > 16)
            continue;
        size_t numbers = 0;
        for (uint64_t code = 0; is_code_of(d, code); code++) {
            double value = num_decode(d, code);
            for (int r = NUM_RN; r <= NUM_RNA; r++)
                for (int saturate = 0; saturate < 2; saturate++) {
                    uint64_t back = num_encode(d, value, (num_rounding)r, saturate != 0);
                    if (isnan(value))
                        assert_true(back == (uint64_t)published[i].nan);
                    else if (isinf(value) && saturate)
                        assert_true(num_decode(d, back) == copysign(published[i].largest, value));
                    else
                        assert_true(back == code);
                }
            numbers += !isnan(value);
        }
        assert_true(numbers >= ((size_t)1 << num_dtype_bits(d)) * 7 / 8);
    }
}

/* The slow model: the finite magnitudes in order; a number is rounded between its two neighbours, and the
 * number that would follow the largest one if the format went on stands for all that lies past it. */
typedef struct value_row {
    double value;
    uint64_t code;
} value_row;
static value_row values[(1 << 16) + 1];

static int by_value(const void *left, const void *right) {
    const value_row *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

static size_t list_values(num_dtype d) {
    size_t count = 0;
    for (uint64_t code = 0; is_code_of(d, code); code++) {
        double value = num_decode(d, code);
        if (isfinite(value) && !signbit(value))
            values[count++] = (value_row){value, code};
    }
    qsort(values, count, sizeof values[0], by_value);
    double last = values[count - 1].value;
    double next = d == NUM_DTYPE_F8E8M0FNU ? last * 2 : last + (last - values[count - 2].value);
    values[count] = (value_row){next, values[count - 1].code + 1};
    return count;
}

static uint64_t model_encode(size_t i, size_t count, double value, num_rounding rounding, bool saturate) {
    num_dtype d = published[i].dtype;
    double magnitude = fabs(value);
    bool negative = signbit(value) && d != NUM_DTYPE_F8E8M0FNU; /* ue8m0 takes the magnitude */
    if (magnitude < values[0].value)
        return values[0].code;        /* only ue8m0: there is nothing below 2^-127 */
    size_t low = 0, high = count + 1; /* the last magnitude that is not larger */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (values[middle].value <= magnitude)
            low = middle;
        else
            high = middle;
    }
    size_t chosen = low;
    if (low < count && values[low].value != magnitude) {
        double to_low = magnitude - values[low].value, to_high = values[low + 1].value - magnitude;
        bool up = rounding == NUM_RP    ? !negative
                  : rounding == NUM_RM  ? negative
                  : rounding == NUM_RNA ? to_high <= to_low
                  : rounding == NUM_RN  ? to_high < to_low || (to_high == to_low && (values[low].code & 1))
                                        : false;
        chosen = low + up;
    } else if (low == count && (rounding == NUM_RZ || rounding == (negative ? NUM_RP : NUM_RM))) {
        chosen = count - 1; /* toward zero a finite number stays finite */
    }
    uint64_t sign = negative ? (uint64_t)1 << (num_dtype_bits(d) - 1) : 0;
    bool has_nan = published[i].nan >= 0, has_infinity = published[i].infinity >= 0;
    if (chosen < count)
        return values[chosen].value == 0 && published[i].nan == 0x80 ? 0 : sign | values[chosen].code;
    if (saturate || (!has_nan && !has_infinity))
        return sign | values[count - 1].code;
    if (has_infinity)
        return sign | (uint64_t)published[i].infinity;
    return (published[i].nan == 0x7f ? sign : 0) | (uint64_t)published[i].nan;
}

/* A random value near the numbers of the format: one of them, a midpoint, a neighbour, or any magnitude. */
static double probe(size_t count) {
    double sign = next_random() & 1 ? 1 : -1;
    size_t at = next_random() % count;
    double value = sign * values[at].value, middle = sign * (values[at].value / 2 + values[at + 1].value / 2);
    double away = next_random() & 1 ? INFINITY : -INFINITY;
    switch (next_random() % 8) {
    case 0:
        return value;
    case 1:
        return middle;
    case 2:
        return nextafter(middle, away);
    case 3:
        return nextafter(value, away);
    case 4:
        return value + values[next_random() % count].value * 0x1p-9;
    case 5:
        return sign * values[count - 1].value * (1 + (double)(next_random() % 4096) / 8192);
    case 6:
        return ldexp((double)(int64_t)next_random(), (int)(next_random() % 300) - 200);
    default:
        return value * (double)(next_random() >> 11) * 0x1p-53;
    }
}

static void nearest_by_scan(void **state) {
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        num_dtype d = published[i].dtype;
        if (num_dtype_bits(d) > 16)
            continue;
        size_t count = list_values(d);
        for (int n = 0; n < 6000; n++) {
            double value = probe(count);
            for (int r = NUM_RN; r <= NUM_RNA; r++)
                for (int saturate = 0; saturate < 2; saturate++) {
                    uint64_t got = num_encode(d, value, (num_rounding)r, saturate != 0);
                    uint64_t want = model_encode(i, count, value, (num_rounding)r, saturate != 0);
                    if (got != want)
                        fail_msg("%s of %a, rounding %d, saturate %d: %#llx, not %#llx", num_dtype_name(d),
                                 value, r, saturate, (unsigned long long)got, (unsigned long long)want);
                }
        }
    }
}

/* float: the processor is the model, in its four rounding modes. */
static void float_by_processor(void **state) {
    (void)state;
    static const struct {
        int mode;
        num_rounding rounding;
    } modes[] = {{FE_TONEAREST, NUM_RN}, {FE_TOWARDZERO, NUM_RZ}, {FE_UPWARD, NUM_RP}, {FE_DOWNWARD, NUM_RM}};
    for (size_t m = 0; m < 4; m++) {
        for (int n = 0; n < 100000; n++) {
            uint64_t bits = next_random();
            if (n % 2) /* an exponent of float, and few bits below its mantissa */
                bits = (bits & 0x800fffffffffffffu) | (uint64_t)(870 + n / 2 % 285) << 52;
            if (n % 3 == 0)
                bits &= ~(uint64_t)0xfffffff;
            double value;
            memcpy(&value, &bits, 8);
            if (isnan(value))
                continue;
            volatile double input = value;
            fesetround(modes[m].mode);
            volatile float output = (float)input;
            fesetround(FE_TONEAREST);
            float want = output;
            uint32_t code;
            memcpy(&code, &want, 4);
            assert_true(num_encode(NUM_DTYPE_F32, value, modes[m].rounding, false) == code);
            assert_true(num_decode(NUM_DTYPE_F32, code) == (double)want);
            assert_true(num_encode(NUM_DTYPE_F64, value, modes[m].rounding, false) == bits);
        }
    }
}

/* tf32: the float rounded to ten bits of mantissa; its low 13 bits are no part of the number. */
static void tf32(void **state) {
    (void)state;
    assert_true(num_encode(NUM_DTYPE_TF32, 1.0 + 0x1p-11, NUM_RNA, false) == 0x3f802000);
    assert_true(num_encode(NUM_DTYPE_TF32, 1.0 + 0x1p-11, NUM_RN, false) == 0x3f800000);
    assert_true(num_encode(NUM_DTYPE_TF32, -1.0 - 0x1p-11, NUM_RNA, false) == 0xbf802000);
    assert_true(num_decode(NUM_DTYPE_TF32, 0x3f801fff) == 1.0);
    for (int n = 0; n < 100000; n++) {
        uint32_t bits = (uint32_t)next_random();
        float value;
        memcpy(&value, &bits, 4);
        if (!isfinite(value))
            continue;
        uint64_t code = num_encode(NUM_DTYPE_TF32, value, NUM_RNA, false);
        uint32_t want = (bits + 0x1000u) & ~0x1fffu;
        assert_int_equal(code, want);
        assert_int_equal(num_encode(NUM_DTYPE_TF32, value, NUM_RZ, false), bits & ~0x1fffu);
    }
}

/* Failure cases G01 and G05: integers to bf16 round, and e2m1 takes the nearest code. */
static void failure_cases(void **state) {
    (void)state;
    assert_int_equal(num_encode(NUM_DTYPE_BF16, 259, NUM_RN, false), 0x4382);
    assert_int_equal(num_encode(NUM_DTYPE_BF16, 33000, NUM_RN, false), 0x4701);
    assert_int_equal(num_encode(NUM_DTYPE_BF16, -259, NUM_RN, false), 0xc382);
    assert_true(num_integer_to_float(NUM_DTYPE_I32, 259, NUM_DTYPE_BF16, NUM_RN) == 260);
    assert_true(num_integer_to_float(NUM_DTYPE_I32, 33000, NUM_DTYPE_BF16, NUM_RN) == 33024);
    assert_true(num_integer_to_float(NUM_DTYPE_I32, -259, NUM_DTYPE_BF16, NUM_RN) == -260);
    static const double rows[][2] = {{0.24, 0}, {0.26, 0.5}, {0.74, 0.5}, {1.3, 1.5},
                                     {2.5, 2},  {5.1, 6},    {7, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t code = num_encode(NUM_DTYPE_F4E2M1FN, rows[i][0], NUM_RN, true);
        assert_true(num_decode(NUM_DTYPE_F4E2M1FN, code) == rows[i][1]);
        assert_int_equal(num_encode(NUM_DTYPE_F4E2M1FN, -rows[i][0], NUM_RN, true), code | 8);
    }
    /* e4m3 overflows to the NaN of the same sign. */
    assert_int_equal(num_encode(NUM_DTYPE_F8E4M3FN, -500, NUM_RN, false), 0xff);
    assert_int_equal(num_encode(NUM_DTYPE_F8E4M3FN, -INFINITY, NUM_RN, false), 0xff);
    assert_int_equal(num_encode(NUM_DTYPE_F8E4M3FN, -500, NUM_RN, true), 0xfe);
    /* G03's numbers: saturating and not. */
    assert_int_equal(num_encode(NUM_DTYPE_F8E5M2, 1e6, NUM_RN, true), 0x7b);
    assert_int_equal(num_encode(NUM_DTYPE_F8E5M2, 1e6, NUM_RN, false), 0x7c);
    assert_int_equal(num_encode(NUM_DTYPE_F8E5M2, 65504, NUM_RN, false), 0x7c);
    assert_int_equal(num_encode(NUM_DTYPE_F8E5M2, INFINITY, NUM_RN, true), 0x7b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_limits),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(nearest_by_scan),
        cmocka_unit_test(float_by_processor),
        cmocka_unit_test(tf32),
        cmocka_unit_test(failure_cases),
    };
    return cmocka_run_group_tests_name("num_float", tests, NULL, NULL);
}
