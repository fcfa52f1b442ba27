/* SPDX-License-Identifier: Apache-2.0
 * Where storage may stand. In: allocations anywhere. Out: shared allocations stand in the function's own
 * block, so that copies of a loop body share them as all threads share them. Must not know layouts. */
#include "lower/lower_internal.h"

typedef struct state {
    lower_context *context;
    lower_statements hoisted;
} state;

static bool is_shared(const ir_stmt *s) {
    return s->kind == IR_STMT_ALLOCATE && (s->as.allocate.tensor->type.scope == IR_SCOPE_SHARED ||
                                           s->as.allocate.tensor->type.scope == IR_SCOPE_SHARED_DYN);
}

static void hoist(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    if (is_shared(s))
        base_vector_push(st->context->arena, &st->hoisted, s);
    else
        base_vector_push(st->context->arena, out, s);
}

void lower_storage(lower_context *context) {
    state st = {.context = context};
    lower_statements out = {0};
    ir_stmt *body = context->function->body;
    for (size_t i = 0; i < body->as.block.body.count; i++) {
        ir_stmt *s = body->as.block.body.items[i];
        st.hoisted.count = 0;
        ir_stmt *single = ir_stmt_create(context->module, IR_STMT_BLOCK, s->span);
        ir_block_add(context->module, single, s);
        if (!is_shared(s))
            lower_map_statements(context, single, hoist, &st);
        for (size_t k = 0; k < st.hoisted.count; k++)
            base_vector_push(context->arena, &out, st.hoisted.items[k]);
        for (size_t k = 0; k < single->as.block.body.count; k++)
            base_vector_push(context->arena, &out, single->as.block.body.items[k]);
    }
    body->as.block.body.items = out.items;
    body->as.block.body.count = out.count;
    body->as.block.body.capacity = out.capacity;
}
