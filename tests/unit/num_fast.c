/* SPDX-License-Identifier: Apache-2.0
 * The fast conversions agree with the general ones: every 16-bit code; around every code's neighbours and
 * midpoints; and random floats. */
#include "unit/unit.h"
#include "num/num.h"
#include <math.h>
#include <string.h>

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

static void widen_all(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 0x10000; code++) {
        double half = num_decode(NUM_DTYPE_F16, code), brain = num_decode(NUM_DTYPE_BF16, code);
        float fast = num_f16_to_f32((uint16_t)code);
        assert_int_equal(as_bits(fast), isnan(half) ? 0x7fffffffu : as_bits((float)half));
        fast = num_bf16_to_f32((uint16_t)code);
        assert_int_equal(as_bits(fast), code << 16);
        assert_true(isnan(brain) ? isnan(fast) : as_bits((float)brain) == as_bits(fast));
    }
}

static void narrow(uint32_t bits) {
    float value = as_float(bits);
    uint16_t half = num_f32_to_f16(value), brain = num_f32_to_bf16(value);
    if (half != num_encode(NUM_DTYPE_F16, value, NUM_RN, false))
        fail_msg("float16 of %#x: %#x", bits, half);
    if (brain != num_encode(NUM_DTYPE_BF16, value, NUM_RN, false))
        fail_msg("bfloat16 of %#x: %#x", bits, brain);
}

/* Every code as a float, the midpoint to the next one, and one bit to both sides of each. */
static void narrow_boundaries(void **state) {
    (void)state;
    for (uint32_t code = 0; code < 0x10000; code++)
        for (int step = -1; step <= 1; step++) {
            uint32_t half = as_bits(num_f16_to_f32((uint16_t)code)), brain = code << 16;
            float next = num_f16_to_f32((uint16_t)(code + 1));
            narrow(half + (uint32_t)step);
            narrow(as_bits((as_float(half) + next) / 2) + (uint32_t)step);
            narrow(brain + (uint32_t)step);
            narrow((brain | 0x8000u) + (uint32_t)step);
        }
}

static void narrow_random(void **state) {
    (void)state;
    uint32_t bits = 2463534242u;
    for (int n = 0; n < 1000000; n++) {
        bits ^= bits << 13;
        bits ^= bits >> 17;
        bits ^= bits << 5;
        narrow(bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widen_all),
        cmocka_unit_test(narrow_boundaries),
        cmocka_unit_test(narrow_random),
    };
    return cmocka_run_group_tests_name("num_fast", tests, NULL, NULL);
}
