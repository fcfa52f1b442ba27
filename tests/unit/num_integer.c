/* SPDX-License-Identifier: Apache-2.0
 * Element types and integers: names, wrapping, division, comparison, conversion. Failure cases F03 and F08.
 * covers: A10 */
#include "unit/unit.h"
#include "num/num.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void dtype_table(void **state) {
    (void)state;
    for (unsigned i = 1; i < NUM_DTYPE_COUNT; i++) {
        num_dtype d = (num_dtype)i;
        const char *name = num_dtype_name(d);
        assert_int_equal(num_dtype_find(name, strlen(name)), d);
        assert_int_equal(num_dtype_find(name, strlen(name) - 1), NUM_DTYPE_NONE);
        assert_int_equal(num_dtype_bytes(d), num_dtype_bits(d) <= 8 ? 1 : num_dtype_bits(d) / 8);
        /* The bits stand in the name: float8_e4m3fn, int32. */
        const char *digits = strpbrk(name, "0123456789");
        assert_int_equal(digits == NULL ? 8 : atoi(digits), num_dtype_bits(d));
        assert_true(num_dtype_is_float(d) == (strstr(name, "float") != NULL));
        assert_true(num_dtype_is_integer(d) == (strstr(name, "int") != NULL));
    }
    static const struct {
        const char *alias;
        num_dtype dtype;
    } aliases[] = {{"f16", NUM_DTYPE_F16},       {"bf16", NUM_DTYPE_BF16},
                   {"e4m3", NUM_DTYPE_F8E4M3FN}, {"tf32", NUM_DTYPE_TF32},
                   {"u8", NUM_DTYPE_U8},         {"boolean", NUM_DTYPE_BOOL},
                   {"e2m1", NUM_DTYPE_F4E2M1FN}, {"float4_e2m1fn", NUM_DTYPE_F4E2M1FN},
                   {"", NUM_DTYPE_NONE},         {"none", NUM_DTYPE_NONE},
                   {"Int32", NUM_DTYPE_NONE},    {"int33", NUM_DTYPE_NONE}};
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        assert_int_equal(num_dtype_find(aliases[i].alias, strlen(aliases[i].alias)), aliases[i].dtype);
    assert_int_equal(num_dtype_bits(NUM_DTYPE_NONE), 0);
    assert_false(num_dtype_is_integer(NUM_DTYPE_NONE));
    assert_false(num_dtype_is_integer(NUM_DTYPE_BOOL));
}

static void limits_and_wrap(void **state) {
    (void)state;
    assert_true(num_minimum(NUM_DTYPE_I64) == INT64_MIN && num_maximum(NUM_DTYPE_I64) == INT64_MAX);
    assert_true(num_minimum(NUM_DTYPE_U64) == 0 && num_maximum(NUM_DTYPE_U64) == UINT64_MAX);
    assert_true(num_minimum(NUM_DTYPE_I8) == -128 && num_maximum(NUM_DTYPE_I8) == 127);
    assert_true(num_minimum(NUM_DTYPE_U16) == 0 && num_maximum(NUM_DTYPE_U16) == 65535);
    assert_true(num_maximum(NUM_DTYPE_BOOL) == 1 && num_minimum(NUM_DTYPE_BOOL) == 0);
    assert_int_equal(num_wrap(NUM_DTYPE_I32, 2000000000LL + 2000000000), -294967296); /* F08 */
    assert_int_equal(num_wrap(NUM_DTYPE_I32, 319LL * 7864320), -1786249216);          /* F10's wrap */
    assert_int_equal(num_wrap(NUM_DTYPE_U32, -1), 0xffffffff);
    assert_int_equal(num_wrap(NUM_DTYPE_I8, 128), -128);
    assert_int_equal(num_wrap(NUM_DTYPE_U8, -1), 255);
    assert_int_equal(num_wrap(NUM_DTYPE_BOOL, 256), 1);
    assert_true(num_wrap(NUM_DTYPE_I64, INT64_MIN) == INT64_MIN);
    assert_true(num_wrap(NUM_DTYPE_U64, -1) == -1);
    for (int64_t v = -100000; v <= 100000; v += 7) {
        assert_int_equal(num_wrap(NUM_DTYPE_I16, v), (int16_t)v);
        assert_int_equal(num_wrap(NUM_DTYPE_U16, v), (uint16_t)v);
        assert_int_equal(num_wrap(NUM_DTYPE_I8, v), (int8_t)v);
    }
}

static void division(void **state) {
    (void)state;
    static const int rows[][4] = {
        {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {7, 2, 3, 1}, {-8, 2, -4, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) { /* F03 */
        assert_int_equal(num_floor_divide(NUM_DTYPE_I32, rows[i][0], rows[i][1]), rows[i][2]);
        assert_int_equal(num_floor_modulo(NUM_DTYPE_I32, rows[i][0], rows[i][1]), rows[i][3]);
        assert_int_equal(num_truncate_divide(NUM_DTYPE_I32, rows[i][0], rows[i][1]), rows[i][0] / rows[i][1]);
        assert_int_equal(num_truncate_modulo(NUM_DTYPE_I32, rows[i][0], rows[i][1]), rows[i][0] % rows[i][1]);
    }
    assert_int_equal(num_floor_divide(NUM_DTYPE_I32, INT32_MIN, -1), INT32_MIN);
    assert_int_equal(num_truncate_divide(NUM_DTYPE_I8, -128, -1), -128);
    assert_true(num_floor_divide(NUM_DTYPE_I64, INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(num_floor_modulo(NUM_DTYPE_I64, INT64_MIN, -1), 0);
    assert_int_equal(num_truncate_modulo(NUM_DTYPE_I64, INT64_MIN, -1), 0);
    assert_true(num_truncate_divide(NUM_DTYPE_U64, -1, 2) == INT64_MAX);
    assert_int_equal(num_floor_modulo(NUM_DTYPE_U64, -1, 10), 5);
    assert_true(num_floor_divide(NUM_DTYPE_U64, -1, 10) == 0x1999999999999999);
    assert_true(num_floor_divide(NUM_DTYPE_U64, -1, -1) == 1);
    /* Every pair of int8: by the definition of floor on exact quotients. */
    for (int a = -128; a < 128; a++)
        for (int b = -128; b < 128; b++) {
            if (b == 0)
                continue;
            int64_t quotient = num_floor_divide(NUM_DTYPE_I8, a, b),
                    rest = num_floor_modulo(NUM_DTYPE_I8, a, b);
            assert_int_equal(quotient, num_wrap(NUM_DTYPE_I8, (int64_t)floor((double)a / b)));
            assert_int_equal(num_wrap(NUM_DTYPE_I8, quotient * b + rest), a);
            assert_true(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
        }
}

static void comparison(void **state) {
    (void)state;
    assert_int_equal(num_compare(NUM_DTYPE_I64, -1, 0), -1);
    assert_int_equal(num_compare(NUM_DTYPE_U64, -1, 0), 1);
    assert_int_equal(num_compare(NUM_DTYPE_U32, 3, 3), 0);
    assert_int_equal(num_compare(NUM_DTYPE_I8, 5, -5), 1);
    assert_int_equal(num_compare(NUM_DTYPE_BOOL, 0, 1), -1);
}

static void from_float(void **state) {
    (void)state;
    static const struct {
        double value;
        int rn, rz, rp, rm, rna;
    } rows[] = {{2.5, 2, 2, 3, 2, 3},
                {-2.5, -2, -2, -2, -3, -3},
                {3.5, 4, 3, 4, 3, 4},
                {-0.5, 0, 0, 0, -1, -1},
                {0.49999999999999994, 0, 0, 1, 0, 0},
                {-0.49999999999999994, 0, 0, 0, -1, 0},
                {1e-300, 0, 0, 1, 0, 0},
                {-1e-300, 0, 0, 0, -1, 0},
                {-7, -7, -7, -7, -7, -7}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double v = rows[i].value;
        assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, v, NUM_RN), rows[i].rn);
        assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, v, NUM_RZ), rows[i].rz);
        assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, v, NUM_RP), rows[i].rp);
        assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, v, NUM_RM), rows[i].rm);
        assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, v, NUM_RNA), rows[i].rna);
    }
    assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, NAN, NUM_RZ), 0);
    assert_int_equal(num_nan_to_integer(NUM_DTYPE_I32, NUM_DTYPE_F32), 0);
    assert_int_equal(num_nan_to_integer(NUM_DTYPE_I32, NUM_DTYPE_F64), INT32_MIN);
    assert_int_equal(num_nan_to_integer(NUM_DTYPE_U16, NUM_DTYPE_F64), 0x8000);
    assert_int_equal(num_nan_to_integer(NUM_DTYPE_I64, NUM_DTYPE_F16), INT64_MIN);
    assert_true((uint64_t)num_nan_to_integer(NUM_DTYPE_U64, NUM_DTYPE_F32) == (uint64_t)1 << 63);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, 1e30, NUM_RZ), INT32_MAX);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_I32, -INFINITY, NUM_RZ), INT32_MIN);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_U8, -3, NUM_RZ), 0);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_U8, 255.9, NUM_RZ), 255);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_U8, 255.9, NUM_RN), 255);
    assert_true(num_float_to_integer(NUM_DTYPE_I64, 0x1p63, NUM_RZ) == INT64_MAX);
    assert_true(num_float_to_integer(NUM_DTYPE_I64, -0x1p63, NUM_RZ) == INT64_MIN);
    assert_true(num_float_to_integer(NUM_DTYPE_U64, 0x1p64, NUM_RZ) == -1);
    assert_true((uint64_t)num_float_to_integer(NUM_DTYPE_U64, 0x1.8p63, NUM_RZ) == 0xc000000000000000u);
    assert_int_equal(num_float_to_integer(NUM_DTYPE_BOOL, 0.25, NUM_RZ), 1);
}

/* int64 to float rounds once; going through double would round twice. */
static void to_float(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int n = 0; n < 200000; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int64_t value = (int64_t)(random ^ random >> 29) >> (random >> 58);
        assert_true(num_integer_to_float(NUM_DTYPE_I64, value, NUM_DTYPE_F32, NUM_RN) == (float)value);
        assert_true(num_integer_to_float(NUM_DTYPE_I64, value, NUM_DTYPE_F64, NUM_RN) == (double)value);
        assert_true(num_integer_to_float(NUM_DTYPE_U64, value, NUM_DTYPE_F32, NUM_RN) ==
                    (float)(uint64_t)value);
    }
    int64_t twice = (1LL << 60) + (1LL << 36) + 1; /* to double it would lose the last 1, then tie */
    assert_true(num_integer_to_float(NUM_DTYPE_I64, twice, NUM_DTYPE_F32, NUM_RN) == 0x1.000002p60);
    assert_true(num_integer_to_float(NUM_DTYPE_I32, 70000, NUM_DTYPE_F16, NUM_RN) == INFINITY);
    assert_true(num_integer_to_float(NUM_DTYPE_I32, 70000, NUM_DTYPE_F16, NUM_RZ) == 65504);
    assert_true(num_integer_to_float(NUM_DTYPE_BOOL, 1, NUM_DTYPE_F32, NUM_RN) == 1);
    assert_true(num_integer_to_float(NUM_DTYPE_I64, 0, NUM_DTYPE_F32, NUM_RM) == 0);
    assert_true(num_integer_to_float(NUM_DTYPE_I64, INT64_MIN, NUM_DTYPE_F64, NUM_RN) == -0x1p63);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtype_table), cmocka_unit_test(limits_and_wrap), cmocka_unit_test(division),
        cmocka_unit_test(comparison),  cmocka_unit_test(from_float),      cmocka_unit_test(to_float),
    };
    return cmocka_run_group_tests_name("num_integer", tests, NULL, NULL);
}
