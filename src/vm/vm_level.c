/* SPDX-License-Identifier: Apache-2.0
 * Which build of the lane loops this processor runs. TIRC_VM_LEVEL overrides the choice, for tests. */
#include <stdlib.h>
#include "vm/vm_internal.h"

#if defined(__x86_64__)
extern const vm_level vm_level_v1, vm_level_v3, vm_level_v4;
static const vm_level *const levels[] = {&vm_level_v4, &vm_level_v3, &vm_level_v1};
static bool available(const vm_level *level) {
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (level == &vm_level_v4)
        return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    return level == &vm_level_v3 ? v3 : true;
}
#else
extern const vm_level vm_level_generic;
static const vm_level *const levels[] = {&vm_level_generic};
static bool available(const vm_level *level) {
    return level != NULL;
}
#endif

const vm_level *vm_level_choose(const char *name) {
    if (name == NULL)
        name = getenv("TIRC_VM_LEVEL");
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (available(levels[i]) && (name == NULL || name[0] == 0 || strcmp(name, levels[i]->name) == 0))
            return levels[i];
    return NULL;
}

const char *vm_level_name(void) {
    const vm_level *level = vm_level_choose(NULL);
    return level != NULL ? level->name : vm_level_choose("")->name;
}
