/* SPDX-License-Identifier: Apache-2.0
 * Heap: accounting to the byte, limits, unwinding, nesting, arenas. */
#include "unit/unit_memory.h"
#include "base/heap.h"

static void accounting(void **state) {
    (void)state;
    unit_books b = {0, 0, 0, 0};
    base_heap *heap = base_heap_create(&(base_heap_options){unit_counted, &b, 0});
    assert_int_equal(base_heap_used(heap), b.live);
    base_arena *first = base_arena_create(heap);
    base_arena *second = base_arena_create(heap);
    for (size_t i = 0; i < 400; i++) {
        unsigned char *block = base_arena_allocate(i % 2 ? first : second, i * 37);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (size_t k = 0; k < i * 37; k++)
            assert_int_equal(block[k], 0);
        memset(block, 0xff, i * 37);
        assert_int_equal(base_heap_used(heap), b.live);
    }
    base_arena_allocate(first, 50 << 20);
    size_t peak = b.live;
    base_arena_destroy(first);
    assert_int_equal(base_heap_used(heap), b.live);
    assert_int_equal(base_heap_peak(heap), peak);
    base_heap_destroy(heap);
    assert_int_equal(b.live, 0);
    assert_int_equal(b.blocks, 0);
}

static void blocks_do_not_meet(void **state) {
    unsigned char *blocks[2000];
    for (size_t i = 0; i < 2000; i++) {
        blocks[i] = base_arena_allocate(*state, i % 97);
        memset(blocks[i], (int)(i & 0xff), i % 97);
    }
    for (size_t i = 0; i < 2000; i++) {
        for (size_t k = 0; k < i % 97; k++)
            assert_int_equal(blocks[i][k], i & 0xff);
        for (size_t j = 0; j < i; j += 97) /* zero-sized blocks are distinct too */
            assert_ptr_not_equal(blocks[i], blocks[j]);
    }
    assert_string_equal(base_arena_string(*state, "abcdef", 3), "abc");
    assert_string_equal(base_arena_format(*state, "%d-%s", 12, "x"), "12-x");
    char *wide = base_arena_format(*state, "%01000d", 5);
    assert_int_equal(strlen(wide), 1000);
    assert_int_equal(wide[999], '5');
}

typedef struct run {
    base_heap *heap;
    base_arena *before, *during;
    base_outcome inner;
    int stage;
} run;

static void eat(void *argument) {
    run *r = argument;
    r->stage = 1;
    r->during = base_arena_create(r->heap);
    for (;;)
        base_arena_allocate(r->during, 10000);
}

static void nest(void *argument) {
    run *r = argument;
    base_arena *mine = base_arena_create(r->heap);
    r->inner = base_heap_run(r->heap, eat, r);
    r->stage = 2;
    memset(base_arena_allocate(mine, 1000), 1, 1000); /* the outer run's arena is alive */
}

static void limit(void **state) {
    (void)state;
    unit_books b = {0, 0, 0, 0};
    run r = {base_heap_create(&(base_heap_options){unit_counted, &b, 1 << 20}), NULL, NULL, BASE_DONE, 0};
    r.before = base_arena_create(r.heap);
    memset(base_arena_allocate(r.before, 100), 1, 100);
    size_t used = base_heap_used(r.heap);
    assert_int_equal(base_heap_run(r.heap, eat, &r), BASE_LIMIT_REACHED);
    assert_int_equal(base_heap_used(r.heap), used);
    assert_true(base_heap_peak(r.heap) <= 1 << 20);
    assert_int_equal(base_heap_run(r.heap, nest, &r), BASE_DONE);
    assert_int_equal(r.inner, BASE_LIMIT_REACHED);
    assert_int_equal(r.stage, 2);
    assert_true(base_heap_used(r.heap) > used); /* arenas of a run that ends well stay */
    base_heap_destroy(r.heap);
    assert_int_equal(b.live, 0);
}

static void no_memory(void **state) {
    (void)state;
    for (size_t n = 2; n < 10; n++) {
        unit_books b = {0, 0, 0, n};
        run r = {base_heap_create(&(base_heap_options){unit_counted, &b, 0}), NULL, NULL, BASE_DONE, 0};
        assert_int_equal(base_heap_run(r.heap, eat, &r), BASE_OUT_OF_MEMORY);
        assert_int_equal(base_heap_used(r.heap), b.live);
        assert_int_equal(b.blocks, 1);
        base_heap_destroy(r.heap);
        assert_int_equal(b.live, 0);
    }
    unit_books b = {0, 0, 0, 1};
    assert_null(base_heap_create(&(base_heap_options){unit_counted, &b, 0}));
    assert_null(base_heap_create(&(base_heap_options){NULL, NULL, 8}));
}

static void overflow(void *argument) {
    run *r = argument;
    base_arena *arena = base_arena_create(r->heap);
    r->stage = base_arena_allocate_array(arena, SIZE_MAX / 8, 16) != NULL;
}

static void huge(void *argument) {
    run *r = argument;
    base_arena *arena = base_arena_create(r->heap);
    r->stage = base_arena_allocate(arena, SIZE_MAX - 8) != NULL;
}

/* Leaving early is no failure: the run's arenas stay. */
static void leave(void *argument) {
    run *r = argument;
    r->during = base_arena_create(r->heap);
    base_heap_escape(r->heap, BASE_DONE);
}

static void sizes_overflow(void **state) {
    (void)state;
    run r = {base_heap_create(NULL), NULL, NULL, BASE_DONE, 0};
    assert_int_equal(base_heap_run(r.heap, overflow, &r), BASE_OUT_OF_MEMORY);
    assert_int_equal(base_heap_run(r.heap, huge, &r), BASE_OUT_OF_MEMORY);
    assert_int_equal(base_heap_run(r.heap, leave, &r), BASE_DONE);
    memset(base_arena_allocate(r.during, 100), 1, 100);
    base_heap_destroy(r.heap);
}

static void vectors(void **state) {
    BASE_VECTOR(uint64_t) v = {NULL, 0, 0};
    for (uint64_t i = 0; i < 10000; i++)
        base_vector_push(*state, &v, i * i);
    assert_int_equal(v.count, 10000);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(v.items[i], i * i);
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
/* Under ASan every byte of a chunk that is not part of a block is poisoned, also right behind a block whose
 * size is a multiple of the alignment. */
static void tails_are_poisoned(void **state) {
    for (size_t size = 0; size < 300; size++) {
        char *block = base_arena_allocate(*state, size), *next = base_arena_allocate(*state, 1);
        assert_null(__asan_region_is_poisoned(block, size));
        assert_true(__asan_address_is_poisoned(block + size));
        assert_true(__asan_address_is_poisoned(next + 1));
    }
}
#endif

/* Only the last block grows where it stands, and its new part is zero. */
static void extension(void **state) {
    base_arena *arena = *state;
    for (int round = 0; round < 3; round++) {
        char *first = base_arena_allocate(arena, 40), *second = base_arena_allocate(arena, 24);
        memset(first, 'a', 40);
        memset(second, 'b', 24);
        assert_false(base_arena_extend(arena, first, 40, 200));
        assert_false(base_arena_extend(arena, second, 24, (size_t)1 << 40));
        if (base_arena_extend(arena, second, 24, 1000)) /* never with gaps between blocks */
            for (size_t i = 0; i < 1000; i++)
                assert_int_equal(second[i], i < 24 ? 'b' : 0);
        char *third = base_arena_allocate(arena, 16);
        memset(third, 'c', 16);
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(first[i], 'a');
        for (size_t i = 0; i < 24; i++)
            assert_int_equal(second[i], 'b');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounting),
        UNIT_WITH_ARENA(blocks_do_not_meet),
        cmocka_unit_test(limit),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(sizes_overflow),
        UNIT_WITH_ARENA(vectors),

        UNIT_WITH_ARENA(extension),

#if defined(__SANITIZE_ADDRESS__)
        UNIT_WITH_ARENA(tails_are_poisoned),
#endif

    };
    return cmocka_run_group_tests_name("base_heap", tests, NULL, NULL);
}
