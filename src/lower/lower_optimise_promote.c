/* SPDX-License-Identifier: Apache-2.0
 * Local tensors that are only accessed at constant indices become register variables, one per element. In and
 * out: flat form. Tells the plan which tensors stayed in local memory, and why. */
#include "lower/lower_optimise.h"
#include <string.h>

enum { MAXIMUM_ELEMENTS = LOWER_WRITTEN_ELEMENTS };

typedef struct promotion {
    ir_tensor *tensor;
    uint32_t elements;
    const ir_expr **registers; /* IR_REGISTER per scalar element, made at first use; NULL: refused */
    bool *read, *written;      /* per scalar element */
} promotion;

typedef struct state {
    lower_context *context;
    base_map *tensors; /* ir_tensor id + 1 -> promotion */
    base_map *refused; /* ir_tensor id + 1 -> reason */
    lower_locals *locals;
} state;

static const ir_where loads = {.effects = IR_INSIDE_POINTER_LOAD};

static promotion *promotion_of(state *st, const ir_expr *base) {
    return base->op == IR_DATA ? base_map_get(st->tensors, (uint64_t)base->at.tensor->id + 1) : NULL;
}

static unsigned lanes_of(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes > 1 ? type.lanes : 1;
}

/* ---- candidates ---- */

static void find_candidate(void *user, ir_stmt *s) {
    state *st = user;
    if (s->kind != IR_STMT_ALLOCATE || s->as.allocate.tensor->type.scope != IR_SCOPE_LOCAL)
        return;
    ir_tensor *tensor = s->as.allocate.tensor;
    const char *reason;
    uint64_t elements = tensor->type.lanes ? tensor->type.lanes : 1;
    int64_t slots;
    bool spread = tensor->type.layout && layout_footprint(tensor->type.layout, LAYOUT_AXIS_M, &slots);
    if (spread) /* what one thread holds of it */
        elements *= slots > 0 && slots <= MAXIMUM_ELEMENTS ? (uint64_t)slots : MAXIMUM_ELEMENTS + 1;
    for (uint32_t d = 0; d < tensor->type.rank && !spread; d++) {
        int64_t extent;
        if (!ir_is_int(tensor->type.shape[d], &extent) || extent <= 0 || extent > MAXIMUM_ELEMENTS)
            elements = MAXIMUM_ELEMENTS + 1;
        else
            elements *= (uint64_t)extent;
        if (elements > MAXIMUM_ELEMENTS)
            break;
    }
    if (!st->locals)
        st->locals = lower_judge_locals(st->context->function);
    if (!lower_local_is_static(st->locals, tensor, &reason)) {
        base_map_set(st->refused, (uint64_t)tensor->id + 1, (void *)(uintptr_t)reason);
        return;
    }
    if (elements > MAXIMUM_ELEMENTS) {
        reason = "larger than 1024 elements";
        base_map_set(st->refused, (uint64_t)tensor->id + 1, (void *)(uintptr_t)reason);
        return;
    }
    promotion *p = BASE_NEW(st->context->arena, promotion);
    p->tensor = tensor;
    p->elements = (uint32_t)elements;
    p->registers = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, elements);
    p->read = BASE_NEW_ARRAY(st->context->arena, bool, elements);
    p->written = BASE_NEW_ARRAY(st->context->arena, bool, elements);
    base_map_set(st->tensors, (uint64_t)tensor->id + 1, p);
}

/* A constant index may still be outside, or the access of another type: those keep the tensor in memory,
 * where the machine reports them. */
static void check_access(state *st, const ir_expr *base, const ir_expr *index, ir_type type, bool is_store) {
    promotion *p = promotion_of(st, base);
    int64_t at;
    if (!p || !p->registers)
        return;
    const char *reason = NULL;
    if (type.kind != IR_TYPE_PRIM || type.dtype != p->tensor->type.dtype)
        reason = "accessed as another element type";
    else if (!ir_is_int(index, &at) || at < 0 || (uint64_t)at + lanes_of(type) > p->elements)
        reason = "accessed outside its extent";
    if (!reason) {
        for (unsigned i = 0; i < lanes_of(type); i++)
            (is_store ? p->written : p->read)[at + i] = true;
        return;
    }
    p->registers = NULL;
    base_map_set(st->refused, (uint64_t)p->tensor->id + 1, (void *)(uintptr_t)reason);
}

static void check_expression(void *user, const ir_expr *e) {
    if (e->op == IR_POINTER_LOAD)
        check_access(user, e->args[0], e->args[1], e->type, false);
}

static void check_expressions(void *user, const ir_expr **e) {
    ir_expr_visit_where(*e, &loads, check_expression, user);
}

static void check_statement(void *user, ir_stmt *s) {
    if (s->kind == IR_STMT_POINTER_STORE)
        check_access(user, s->as.pointer_store.base, s->as.pointer_store.index,
                     s->as.pointer_store.value->type, true);
    ir_stmt_expressions(s, check_expressions, user);
}

/* An element that is read and never written stays in memory, where the machine reports the read. */
static void check_written(void *user, ir_stmt *s) {
    state *st = user;
    promotion *p = s->kind == IR_STMT_ALLOCATE
                       ? base_map_get(st->tensors, (uint64_t)s->as.allocate.tensor->id + 1)
                       : NULL;
    for (uint32_t i = 0; p && p->registers && i < p->elements; i++)
        if (p->read[i] && !p->written[i]) {
            p->registers = NULL;
            base_map_set(st->refused, (uint64_t)p->tensor->id + 1,
                         (void *)(uintptr_t) "an element is read and never written");
        }
}

/* For who looks for such reads: a register always has a value. */
static void check_order(void *user, ir_stmt *s) {
    state *st = user;
    promotion *p = s->kind == IR_STMT_ALLOCATE
                       ? base_map_get(st->tensors, (uint64_t)s->as.allocate.tensor->id + 1)
                       : NULL;
    if (!p || !p->registers || lower_written_first(st->context->function->body, p->tensor))
        return;
    p->registers = NULL;
    base_map_set(st->refused, (uint64_t)p->tensor->id + 1,
                 (void *)(uintptr_t) "an element may be read before it is written");
}

/* ---- rewriting ---- */

static const ir_expr *register_of(state *st, promotion *p, int64_t at) {
    if (p->registers[at])
        return p->registers[at];
    lower_context *context = st->context;
    const char *name = p->elements == 1
                           ? p->tensor->name
                           : base_arena_format(context->arena, "%s_%lld", p->tensor->name, (long long)at);
    ir_var *var = ir_var_create(context->module, name, ir_type_prim(p->tensor->type.dtype, 1),
                                IR_VAR_REGISTER, p->tensor->span);
    p->registers[at] = ir_var_use(context->module, var);
    return p->registers[at];
}

static const ir_expr *rewrite_load(void *user, const ir_expr *e) {
    state *st = user;
    promotion *p = e->op == IR_POINTER_LOAD ? promotion_of(st, e->args[0]) : NULL;
    int64_t at;
    if (!p || !p->registers || !ir_is_int(e->args[1], &at))
        return e;
    unsigned lanes = lanes_of(e->type);
    if (lanes == 1)
        return register_of(st, p, at);
    const ir_expr **parts = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, lanes);
    for (unsigned i = 0; i < lanes; i++)
        parts[i] = register_of(st, p, at + i);
    return ir_make(st->context->module, IR_VECTOR, e->type, parts, lanes);
}

static void add_assign(state *st, const ir_expr *reg, const ir_expr *value, base_span span,
                       lower_statements *out) {
    ir_stmt *assign = ir_stmt_create(st->context->module, IR_STMT_ASSIGN, span);
    assign->as.assign.var = (ir_var *)(uintptr_t)reg->at.var;
    assign->as.assign.value = value;
    base_vector_push(st->context->arena, out, assign);
}

static void rewrite_store(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    if (s->kind == IR_STMT_ALLOCATE) {
        promotion *p = base_map_get(st->tensors, (uint64_t)s->as.allocate.tensor->id + 1);
        if (!p || !p->registers)
            base_vector_push(st->context->arena, out, s);
        return;
    }
    promotion *p = s->kind == IR_STMT_POINTER_STORE ? promotion_of(st, s->as.pointer_store.base) : NULL;
    int64_t at;
    if (!p || !p->registers || !ir_is_int(s->as.pointer_store.index, &at)) {
        base_vector_push(st->context->arena, out, s);
        return;
    }
    const ir_expr *value = s->as.pointer_store.value;
    unsigned lanes = lanes_of(value->type);
    if (lanes == 1) {
        add_assign(st, register_of(st, p, at), value, s->span, out);
        return;
    }
    /* All lanes are read before the first is overwritten. */
    ir_stmt *let = lower_new_let(st->context, p->tensor->name, value, s->span);
    base_vector_push(st->context->arena, out, let);
    const ir_expr *vector = ir_var_use(st->context->module, let->as.let.var);
    for (unsigned i = 0; i < lanes; i++)
        add_assign(st, register_of(st, p, at + i), ir_lane(st->context->module, vector, i), s->span, out);
}

static void report(state *st, ir_stmt *s) {
    lower_context *context = st->context;
    if (s->kind != IR_STMT_ALLOCATE || s->as.allocate.tensor->type.scope != IR_SCOPE_LOCAL || !context->plan)
        return;
    const ir_tensor *tensor = s->as.allocate.tensor;
    const char *refused = base_map_get(st->refused, (uint64_t)tensor->id + 1);
    lower_local row = {tensor->name, refused == NULL, refused ? refused : "every index is a constant",
                       tensor->span};
    for (size_t i = 0; i < context->plan->locals.count; i++) {
        lower_local *known = &context->plan->locals.items[i];
        if (strcmp(known->name, row.name) || memcmp(&known->span, &row.span, sizeof(row.span)))
            continue;
        known->in_registers = row.in_registers;
        known->reason = row.reason;
        return;
    }
    base_vector_push(context->arena, &context->plan->locals, row);
}

static void report_statement(void *user, ir_stmt *s) {
    report(user, s);
}

void lower_optimise_promote(lower_context *context) {
    state st = {context, base_map_create(context->arena), base_map_create(context->arena), NULL};
    ir_stmt *body = context->function->body;
    lower_visit_statements(body, find_candidate, &st);
    if (base_map_count(st.tensors)) {
        lower_visit_statements(body, check_statement, &st);
        lower_visit_statements(body, check_written, &st);
        if (context->options->unwritten_stay)
            lower_visit_statements(body, check_order, &st);
    }
    lower_visit_statements(body, report_statement, &st);
    if (!base_map_count(st.tensors))
        return;
    lower_rewrite_expressions(context, body, &loads, rewrite_load, &st);
    lower_map_statements(context, body, rewrite_store, &st);
}
