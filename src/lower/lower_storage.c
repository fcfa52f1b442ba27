/* SPDX-License-Identifier: Apache-2.0
 * Where storage may stand. In: allocations anywhere. Out: shared allocations stand in the function's own
 * block (so that copies of a loop body share them as all threads share them); at most one is dynamic; no
 * global storage is allocated. Must not know layouts. */
#include "lower/lower_internal.h"

typedef struct state {
    lower_context *context;
    const ir_tensor *arena; /* the dynamic allocation seen first */
    lower_statements hoisted;
} state;

static bool is_shared(const ir_stmt *s) {
    return s->kind == IR_STMT_ALLOCATE && (s->as.allocate.tensor->type.scope == IR_SCOPE_SHARED ||
                                           s->as.allocate.tensor->type.scope == IR_SCOPE_SHARED_DYN);
}

static void check(void *user, ir_stmt *s) {
    state *st = user;
    lower_context *context = st->context;
    if (s->kind != IR_STMT_ALLOCATE)
        return;
    const ir_tensor *tensor = s->as.allocate.tensor;
    if (tensor->type.scope == IR_SCOPE_GLOBAL) {
        base_diagnostic *d =
            base_report(context->diagnostics, BASE_ERROR, "T0401", s->span,
                        "'%s' allocates global memory, which device code cannot do", tensor->name);
        base_help(context->diagnostics, d,
                  "pass it as a tensor parameter, or use scope \"shared\", \"shared.dyn\" or \"local\"");
    }
    if (tensor->type.scope != IR_SCOPE_SHARED_DYN)
        return;
    if (!st->arena) {
        st->arena = tensor;
        return;
    }
    base_diagnostic *d =
        base_report(context->diagnostics, BASE_ERROR, "T0402", s->span,
                    "'%s' is a second shared.dyn allocation; a kernel has one dynamic arena", tensor->name);
    base_note(context->diagnostics, d, st->arena->span, "the arena is '%s'", st->arena->name);
    base_help(context->diagnostics, d,
              "declare '%s' as a view: decl_tensor(%s.data, ...) with an origin in its layout", tensor->name,
              st->arena->name);
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
    lower_visit_statements(context->function->body, check, &st);
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
