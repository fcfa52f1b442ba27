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
    size_t size[COUNT];
    for (int round = 0; round < 3; round++) { /* the later ones reuse what was given back */
        for (size_t i = 0; i < COUNT; i++) {
            bool zeroed;
            size[i] = size_at(i);
            block[i] = base_pages_take(&pages, &size[i], &zeroed);
            assert_non_null(block[i]);
            assert_true(size[i] >= size_at(i));
            assert_int_equal((uintptr_t)block[i] % 16, 0);
            if (zeroed)
                check_zero(block[i], size[i]);
            memset(block[i], (int)(i + 1), size[i]);
        }
        for (size_t i = 0; i < COUNT; i++)
            for (size_t k = 0; k < size[i]; k++)
                if (block[i][k] != i + 1)
                    fail_msg("block %zu lost byte %zu", i, k);
        for (size_t i = 0; i < COUNT; i++)
            base_pages_give(&pages, block[i], size[i]);
    }
    base_pages_destroy(&pages);
}

static void *take(base_pages *pages, size_t wanted, size_t *size) {
    bool zeroed;
    *size = wanted;
    return base_pages_take(pages, size, &zeroed);
}

/* What was given back serves every size that it has room for, and stays as large as it was. */
static void reuse(void **state) {
    (void)state;
    base_pages pages = {0};
    size_t size, other;
    void *first = take(&pages, 65536, &size);
    base_pages_give(&pages, first, size);
    assert_ptr_equal(take(&pages, 50000, &size), first);
    assert_int_equal(size, 65536);
    assert_ptr_not_equal(take(&pages, 65536, &other), first);
    base_pages_give(&pages, first, size);
    assert_ptr_equal(take(&pages, 65536, &size), first);
    base_pages_destroy(&pages);
}

/* A size that is no power of two: its block comes back for the same size, however often. */
static void reuse_odd(void **state) {
    (void)state;
    static const size_t odd[] = {4128, 16416, 100000, 1048608, 2097000};
    base_pages pages = {0};
    size_t size;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        void *first = take(&pages, odd[i], &size);
        for (int round = 0; round < 100; round++) {
            base_pages_give(&pages, first, size);
            assert_ptr_equal(take(&pages, odd[i], &size), first);
        }
    }
    base_pages_destroy(&pages);
}

static void too_large(void **state) {
    (void)state;
    base_pages pages = {0};
    size_t size;
    assert_null(take(&pages, SIZE_MAX, &size));
    assert_null(take(&pages, SIZE_MAX - (3 << 20), &size));
    base_pages_destroy(&pages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(reuse),
        cmocka_unit_test(reuse_odd),
        cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests_name("base_pages", tests, NULL, NULL);
}
