/* SPDX-License-Identifier: Apache-2.0
 * Every form of cvt on the machine against the slow model of numbers. */
#include "convert_stochastic.h"
#include "unit/vm_help.h"

static bool run(void *user, const char *ptx, const uint64_t *in, const uint64_t *other, uint64_t *out,
                size_t count) {
    base_arena *arena = base_arena_create(user);
    vm_case *c = vm_case_load(arena, ptx);
    memcpy(vm_case_buffer(c, "in", count * 8), in, count * 8);
    memcpy(vm_case_buffer(c, "other", count * 8), other, count * 8);
    void *data = vm_case_buffer(c, "out", count * 8);
    vm_case_run(c, (uint32_t)(count / BLOCK), BLOCK);
    vm_case_clean(c);
    memcpy(out, data, count * 8);
    base_arena_destroy(arena);
    return true;
}

#define PART(name)                                                                                           \
    static void name(void **state) {                                                                         \
        convert_test test = {.target = "sm_107a", .run = run, .user = base_arena_heap(*state)};              \
        convert_##name(&test);                                                                               \
        print_message("%llu forms, %llu values\n", (unsigned long long)test.forms,                           \
                      (unsigned long long)test.values);                                                      \
        assert_int_equal(test.failures, 0);                                                                  \
    }
PART(integers)
PART(to_integers)
PART(scalars)
PART(pairs)
PART(scales)
PART(packed)
PART(stochastic)
PART(every_target)

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(integers), UNIT_WITH_ARENA(to_integers),  UNIT_WITH_ARENA(scalars),
        UNIT_WITH_ARENA(pairs),    UNIT_WITH_ARENA(every_target), UNIT_WITH_ARENA(scales),
        UNIT_WITH_ARENA(packed),   UNIT_WITH_ARENA(stochastic),
    };
    return cmocka_run_group_tests_name("vm_convert", tests, NULL, NULL);
}
