/* SPDX-License-Identifier: Apache-2.0
 * Tables by expression, for a while: as dense as the numbers of expressions, cleared by a new stamp, and used
 * again from a list of the module. Must not know what is kept in them. */
#include "ir/ir_private.h"
#include <string.h>

ir_memo *ir_memo_open(ir_module *module) {
    struct ir_intern *intern = module->intern;
    ir_memo *memo = intern->memos;
    if (memo) {
        intern->memos = memo->next;
    } else {
        memo = BASE_NEW(module->arena, ir_memo);
        memo->intern = intern;
        memo->arena = module->arena;
    }
    ir_memo_clear(memo);
    return memo;
}

void ir_memo_close(ir_memo *memo) {
    memo->next = memo->intern->memos;
    memo->intern->memos = memo;
}

void ir_memo_clear(ir_memo *memo) {
    if (++memo->stamp == 0) { /* wrapped: old stamps could be mistaken for new ones */
        if (memo->capacity)
            memset(memo->stamps, 0, memo->capacity * sizeof *memo->stamps);
        memo->stamp = 1;
    }
}

void ir_memo_reserve(ir_memo *memo, const ir_expr *e) {
    if (e->id < memo->capacity)
        return;
    uint32_t capacity = memo->intern->next_expr + memo->intern->next_expr / 2 + 64;
    uint32_t *stamps = BASE_NEW_ARRAY(memo->arena, uint32_t, capacity);
    const void **values = BASE_NEW_ARRAY(memo->arena, const void *, capacity);
    if (memo->capacity) {
        memcpy(stamps, memo->stamps, memo->capacity * sizeof *stamps);
        memcpy((void *)values, (const void *)memo->values, memo->capacity * sizeof *values);
    }
    memo->stamps = stamps;
    memo->values = values;
    memo->capacity = capacity;
}
