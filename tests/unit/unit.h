/* SPDX-License-Identifier: Apache-2.0
 * What unit tests share: cmocka's includes in the order it wants, and a set-up that gives a test an arena. */
#ifndef TIRC_TESTS_UNIT_H
#define TIRC_TESTS_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/heap.h"

/* *state is an arena of a heap of its own; a test that runs out of memory aborts. */
static inline int unit_start_arena(void **state) {
    *state = base_arena_create(base_heap_create(NULL));
    return 0;
}

static inline int unit_end_arena(void **state) {
    base_heap_destroy(base_arena_heap(*state));
    return 0;
}

#define UNIT_WITH_ARENA(function) cmocka_unit_test_setup_teardown(function, unit_start_arena, unit_end_arena)
#endif
