/* SPDX-License-Identifier: Apache-2.0
 * Names while a function is printed: the author's where they are free, with a suffix where not. A name is
 * taken while its scope is open; what is used outside every open scope is "detached" and listed in the
 * function's head. Not for other modules. */
#ifndef TIRC_IR_IR_NAMING_H
#define TIRC_IR_IR_NAMING_H
#include "ir/ir_text.h"

typedef struct ir_name_word {
    const char *text;
    uint32_t live, next; /* open uses; next suffix to try */
} ir_name_word;

typedef struct ir_name_entry {
    ir_name_word *word;
    bool live;
} ir_name_entry;

typedef struct ir_detached {
    const ir_var *var; /* one of the two */
    const ir_tensor *tensor;
    const char *name; /* NULL until declared */
} ir_detached;

typedef struct ir_naming {
    base_arena *arena;
    base_names *names;
    base_map *words, *entries;
    BASE_VECTOR(ir_name_entry *) open;
    base_map *detached_by_key;
    BASE_VECTOR(ir_detached *) detached;
} ir_naming;

ir_naming *ir_naming_create(base_arena *arena);
const char *ir_naming_declare(ir_naming *naming, const void *key, const char *author);
/* Closes every scope opened since open.count was mark. */
void ir_naming_close(ir_naming *naming, size_t mark);
#endif
