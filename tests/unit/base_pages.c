/* SPDX-License-Identifier: Apache-2.0
 * Pages: blocks of every size are apart, as zero as they claim, and used again. */
#include "base/pages.h"
#include "unit/unit_memory.h"
#include <stdint.h>
#include <string.h>

enum { COUNT = 60 };

/* Sizes on both sides of every border: malloc's, slabs', powers of two, mappings of their own. */
static size_t size_at(size_t i) {
    static const size_t borders[] = {1, 4096, 65536, 100000, 1 << 20, (2 << 20) - 64, 2 << 20, 5 << 20};
    size_t size = borders[i % 8] + i / 8;
    return i % 3 ? size : size - 1;
}

static void check_zero(const unsigned char *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != 0)
            fail_msg("byte %zu of %zu is not zero", i, size);
}

static void blocks(void **state) {
    (void)state;
    base_pages pages = {0};
    unsigned char *block[COUNT];
    for (int round = 0; round < 3; round++) { /* the later ones reuse what was given back */
        for (size_t i = 0; i < COUNT; i++) {
            bool zeroed;
            block[i] = base_pages_take(&pages, size_at(i), &zeroed);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % 16, 0);
            if (zeroed)
                check_zero(block[i], size_at(i));
            memset(block[i], (int)(i + 1), size_at(i));
        }
        for (size_t i = 0; i < COUNT; i++)
            for (size_t k = 0; k < size_at(i); k++)
                if (block[i][k] != i + 1)
                    fail_msg("block %zu lost byte %zu", i, k);
        for (size_t i = 0; i < COUNT; i++)
            base_pages_give(&pages, block[i], size_at(i));
    }
    base_pages_destroy(&pages);
}

static void reuse(void **state) {
    (void)state;
    base_pages pages = {0};
    bool zeroed;
    void *first = base_pages_take(&pages, 65536, &zeroed);
    assert_true(zeroed);
    base_pages_give(&pages, first, 65536);
    void *smaller = base_pages_take(&pages, 50000, &zeroed); /* the block serves what is not larger */
    assert_ptr_equal(smaller, first);
    assert_false(zeroed);
    void *second = base_pages_take(&pages, 65536, &zeroed);
    assert_ptr_not_equal(second, first);
    base_pages_give(&pages, smaller, 50000); /* known as 50000 bytes now: too small for 65536 */
    assert_ptr_not_equal(base_pages_take(&pages, 65536, &zeroed), first);
    assert_ptr_equal(base_pages_take(&pages, 32768, &zeroed), first);
    base_pages_destroy(&pages);
}

static void too_large(void **state) {
    (void)state;
    base_pages pages = {0};
    bool zeroed;
    assert_null(base_pages_take(&pages, SIZE_MAX, &zeroed));
    assert_null(base_pages_take(&pages, SIZE_MAX - (3 << 20), &zeroed));
    base_pages_destroy(&pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(reuse),
        cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests_name("base_pages", tests, NULL, NULL);
}
