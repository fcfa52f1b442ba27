/* SPDX-License-Identifier: Apache-2.0
 * nvcc takes everything the writer emits, for sm_90a and sm_100a, without a warning: every operation over
 * every element type it is defined for, every collective, atomic, vector and statement form. Skipped where
 * there is no nvcc, unless REQUIRE_NVCC is set. */
#include "unit/unit.h"
#include "unit/lower_help.h"
#include "unit/cuda_kernels.h"
#include "cuda/cuda.h"
#include <stdlib.h>
#include <unistd.h>

static bool compiles(base_arena *arena, const char *nvcc, const char *folder, const char *target) {
    const char *command =
        base_arena_format(arena, "'%s' -Werror all-warnings -ptx -arch=%s -o %s/k.ptx %s/k.cu > %s/log 2>&1",
                          nvcc, target, folder, folder, folder);
    if (system(command) == 0)
        return true;
    print_message("%s\n", command);
    return system(base_arena_format(arena, "head -c 4000 %s/log >&2", folder)) && false;
}

static void everything_compiles(void **state) {
    base_arena *arena = *state;
    const char *nvcc = kernels_find_nvcc(arena);
    if (!nvcc && !getenv("REQUIRE_NVCC"))
        skip();
    assert_non_null(nvcc);
    base_builder tir, text;
    base_builder_start(&tir, arena);
    base_builder_start(&text, arena);
    kernels_all_types(&tir, false);
    kernels_atomics(&tir);
    kernels_collectives(&tir);
    kernels_vectors(&tir, false);
    kernels_statements(&tir);
    help_lowered h = help_lower(arena, tir.data, LOWER_FOR_CUDA);
    if (!h.result || !cuda_print(h.result, NULL, &text))
        fail_msg("%s", help_messages(&h));
    char folder[] = "/tmp/tirc-cuda-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = base_arena_format(arena, "%s/k.cu", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
    fclose(file);
    bool done = compiles(arena, nvcc, folder, "sm_90a") && compiles(arena, nvcc, folder, "sm_100a");
    assert_int_equal(system(base_arena_format(arena, "rm -rf %s", folder)), 0);
    assert_true(done);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(everything_compiles)};
    return cmocka_run_group_tests_name("cuda_nvcc", tests, NULL, NULL);
}
