/* SPDX-License-Identifier: Apache-2.0
 * Memory for unit tests: an allocation function that keeps its own books and can be told to fail, and the
 * loop that lets every allocation of a run fail once. */
#ifndef TIRC_TESTS_UNIT_MEMORY_H
#define TIRC_TESTS_UNIT_MEMORY_H
#include "unit/unit.h"
#include <stdlib.h>
#include <string.h>

typedef struct unit_books {
    size_t live, blocks; /* bytes and blocks out */
    size_t calls;        /* allocations asked for */
    size_t fail_at;      /* the call that gets nothing; 0: none */
} unit_books;

/* user is the books. Blocks come filled with rubbish. */
static inline void *unit_counted(void *user, void *old, size_t old_size, size_t new_size) {
    unit_books *b = user;
    if (new_size == 0) {
        b->live -= old_size;
        b->blocks--;
        free(old);
        return NULL;
    }
    assert_null(old);
    if (++b->calls == b->fail_at)
        return NULL;
    void *block = malloc(new_size);
    assert_non_null(block);
    memset(block, 0xa5, new_size);
    b->live += new_size;
    b->blocks++;
    return block;
}

/* Runs body(argument) once in full and then with the n-th allocation failing, for n = 1, 1 + step, ...; each
 * run has to end as BASE_OUT_OF_MEMORY with nothing left behind, and a last one has to be whole again. body
 * makes its arenas in *heap and destroys them. chunk 1 makes nearly every allocation of an arena a call, 0
 * leaves the usual chunks. Returns how many calls a full run makes. */
static inline size_t unit_fail_each(void (*body)(void *argument), void *argument, base_heap **heap,
                                    size_t chunk, size_t step) {
    unit_books b = {0, 0, 0, 0};
    *heap = base_heap_create(&(base_heap_options){unit_counted, &b, 0});
    if (chunk != 0)
        base_heap_set_chunk(*heap, chunk);
    size_t empty = b.live;
    b.calls = 0;
    assert_int_equal(base_heap_run(*heap, body, argument), BASE_DONE);
    size_t calls = b.calls;
    assert_int_equal(b.live, empty);
    for (size_t n = 1; n <= calls; n += step) {
        b.calls = 0;
        b.fail_at = n;
        assert_int_equal(base_heap_run(*heap, body, argument), BASE_OUT_OF_MEMORY);
        assert_int_equal(b.live, empty);
        assert_int_equal(b.blocks, 1);
        assert_int_equal(base_heap_used(*heap), empty);
    }
    b.fail_at = 0;
    assert_int_equal(base_heap_run(*heap, body, argument), BASE_DONE);
    base_heap_destroy(*heap);
    assert_int_equal(b.live, 0);
    return calls;
}
#endif
