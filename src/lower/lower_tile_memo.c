/* SPDX-License-Identifier: Apache-2.0
 * Answers about layouts that took a look at every element: a pipeline written out asks the same for each of
 * its stages. The question is its bytes. Must not know what is asked. */
#include "lower/lower_tile.h"
#include <string.h>

typedef struct answer {
    struct answer *next; /* of another question with the same hash */
    size_t size;
    const void *question;
    int64_t value;
} answer;

static answer *find(lower_tile *op, const void *question, size_t size, uint64_t hash) {
    base_map *answers = op->context->answers;
    for (answer *a = answers ? base_map_get(answers, hash) : NULL; a; a = a->next)
        if (a->size == size && !memcmp(a->question, question, size))
            return a;
    return NULL;
}

bool lower_tile_recall(lower_tile *op, const void *question, size_t size, int64_t *value) {
    const answer *a = find(op, question, size, base_hash(question, size, 0));
    if (a)
        *value = a->value;
    return a != NULL;
}

int64_t lower_tile_remember(lower_tile *op, const void *question, size_t size, int64_t value) {
    lower_context *context = op->context;
    uint64_t hash = base_hash(question, size, 0);
    if (!context->answers)
        context->answers = base_map_create(context->arena);
    answer *a = BASE_NEW(context->arena, answer);
    *a = (answer){base_map_get(context->answers, hash), size, base_arena_copy(context->arena, question, size),
                  value};
    base_map_set(context->answers, hash, a);
    return value;
}
