/* SPDX-License-Identifier: Apache-2.0
 * Which build of the matrix loops this processor runs. */
#include "vm/vm_tensor_multiply.h"
#include "vm/vm_internal.h"

#if defined(__x86_64__)
void vm_tensor_multiply_v1(const vm_tensor_job *job, void *scratch);
void vm_tensor_multiply_v3(const vm_tensor_job *job, void *scratch);
void vm_tensor_multiply_v4(const vm_tensor_job *job, void *scratch);
#else
void vm_tensor_multiply_generic(const vm_tensor_job *job, void *scratch);
#endif

vm_tensor_multiply vm_tensor_multiply_choose(const char *name) {
    const vm_level *level = vm_level_choose(name);
    if (level == NULL)
        return NULL;
#if defined(__x86_64__)
    return strcmp(level->name, "x86-64-v4") == 0   ? vm_tensor_multiply_v4
           : strcmp(level->name, "x86-64-v3") == 0 ? vm_tensor_multiply_v3
                                                   : vm_tensor_multiply_v1;
#else
    return vm_tensor_multiply_generic;
#endif
}
