/* SPDX-License-Identifier: Apache-2.0
 * Element types as a table made from the list in dtype.h. */
#include "num/dtype.h"
#include <string.h>

const num_dtype_row num_dtype_rows[NUM_DTYPE_COUNT] = {{"none", "", 0, NUM_UNSIGNED},
#define X(enumerator, name, bits, class, alias) {name, alias, bits, class},
                                                       NUM_DTYPES(X)
#undef X
};

const char *num_dtype_name(num_dtype dtype) {
    return num_dtype_row_of(dtype)->name;
}

num_dtype num_dtype_find(const char *name, size_t size) {
    if (size == 0)
        return NUM_DTYPE_NONE;
    for (unsigned i = NUM_DTYPE_NONE + 1; i < NUM_DTYPE_COUNT; i++) {
        bool is_name =
            strlen(num_dtype_rows[i].name) == size && memcmp(num_dtype_rows[i].name, name, size) == 0;
        bool is_alias =
            strlen(num_dtype_rows[i].alias) == size && memcmp(num_dtype_rows[i].alias, name, size) == 0;
        if (is_name || is_alias)
            return (num_dtype)i;
    }
    return NUM_DTYPE_NONE;
}
