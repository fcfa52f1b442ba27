/* SPDX-License-Identifier: Apache-2.0
 * Element types as a table made from the list in dtype.h. */
#include "num/dtype.h"
#include <string.h>

typedef struct dtype_row {
    const char *name, *alias;
    unsigned bits;
    num_class class;
} dtype_row;

static const dtype_row rows[NUM_DTYPE_COUNT] = {{"none", "", 0, NUM_UNSIGNED},
#define X(enumerator, name, bits, class, alias) {name, alias, bits, class},
                                                NUM_DTYPES(X)
#undef X
};

static const dtype_row *row(num_dtype dtype) {
    return &rows[(unsigned)dtype < NUM_DTYPE_COUNT ? dtype : NUM_DTYPE_NONE];
}

const char *num_dtype_name(num_dtype dtype) {
    return row(dtype)->name;
}

unsigned num_dtype_bits(num_dtype dtype) {
    return row(dtype)->bits;
}

unsigned num_dtype_bytes(num_dtype dtype) {
    return (row(dtype)->bits + 7) / 8;
}

num_class num_dtype_class(num_dtype dtype) {
    return row(dtype)->class;
}

bool num_dtype_is_integer(num_dtype dtype) {
    return dtype != NUM_DTYPE_NONE && (row(dtype)->class == NUM_SIGNED || row(dtype)->class == NUM_UNSIGNED);
}

bool num_dtype_is_float(num_dtype dtype) {
    return row(dtype)->class == NUM_FLOAT;
}

num_dtype num_dtype_find(const char *name, size_t size) {
    if (size == 0)
        return NUM_DTYPE_NONE;
    for (unsigned i = NUM_DTYPE_NONE + 1; i < NUM_DTYPE_COUNT; i++) {
        bool is_name = strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0;
        bool is_alias = strlen(rows[i].alias) == size && memcmp(rows[i].alias, name, size) == 0;
        if (is_name || is_alias)
            return (num_dtype)i;
    }
    return NUM_DTYPE_NONE;
}
