/* SPDX-License-Identifier: Apache-2.0
 * Vectorized loops. In: IR_LOOP_VECTORIZED anywhere. Out: none; a loop of a few rounds whose body only stores
 * elementwise values becomes stores of whole vectors, any other becomes serial. The author promises that
 * rounds do not depend on each other; where the body reads what it writes the loop stays serial all the same.
 * Must not know layouts. */
#include "lower/lower_internal.h"

enum { LANES_LIMIT = 64 };

typedef struct state {
    lower_context *context;
    const ir_var *var;
    unsigned lanes;
    const ir_expr *start;
    base_map *memo;
    base_span span;
    bool depends; /* answer of the last question */
} state;

static void note_var(void *user, const ir_expr *e) {
    state *st = user;
    st->depends |= e->op == IR_VAR && e->at.var == st->var;
}
static bool depends(state *st, const ir_expr *e) {
    st->depends = false;
    ir_expr_visit(e, note_var, st);
    return st->depends;
}

static const ir_expr *lift(state *st, const ir_expr *e);

/* The expression in every lane. */
static const ir_expr *spread(state *st, const ir_expr *e) {
    if (e->type.kind != IR_TYPE_PRIM || e->type.lanes != 1)
        return NULL;
    return ir_make(st->context->module, IR_BROADCAST, ir_type_prim((num_dtype)e->type.dtype, st->lanes), &e,
                   1);
}

static const ir_expr *ramp(state *st, const ir_expr *base, const ir_expr *stride) {
    const ir_expr *args[] = {base, stride};
    return ir_make(st->context->module, IR_RAMP, ir_type_prim((num_dtype)base->type.dtype, st->lanes), args,
                   2);
}

/* Sums and products of a ramp with a value that all rounds share stay ramps. */
static const ir_expr *lift_ramp(state *st, const ir_expr *e) {
    ir_module *module = st->context->module;
    bool left = depends(st, e->args[0]), right = depends(st, e->args[1]);
    if (left == right || (e->op == IR_SUB && right))
        return NULL;
    const ir_expr *r = lift(st, e->args[left ? 0 : 1]), *other = e->args[left ? 1 : 0];
    if (!r || r->op != IR_RAMP)
        return NULL;
    const ir_expr *base =
        left ? ir_binary(module, e->op, r->args[0], other) : ir_binary(module, e->op, other, r->args[0]);
    const ir_expr *stride = e->op == IR_MUL ? ir_binary(module, IR_MUL, r->args[1], other) : r->args[1];
    return ramp(st, base, stride);
}

/* A ramp of the author's that starts off its alignment is an error, and his promise where nothing is known;
 * one that would be made here is not made, but a load may still go lane by lane. */
static bool may_align(state *st, const ir_tensor *tensor, const ir_expr *const *indices, bool is_store) {
    unsigned chunk = st->lanes & (0 - st->lanes), limit = lower_chunk_limit(tensor->type.dtype);
    if (tensor->type.scope == IR_SCOPE_TMEM)
        return false;
    lower_alignment alignment =
        lower_access_alignment(st->context, tensor, indices, chunk < limit ? chunk : limit, st->span);
    return alignment == LOWER_ALIGNED || (!is_store && alignment == LOWER_ALIGNMENT_UNKNOWN);
}

static const ir_expr *lift_load(state *st, const ir_expr *e) {
    const ir_expr **indices = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
    for (uint32_t i = 0; i < e->count; i++) {
        indices[i] = e->args[i];
        if (!depends(st, e->args[i]))
            continue;
        if (i + 1 != e->count || !(indices[i] = lift(st, e->args[i])) || indices[i]->op != IR_RAMP)
            return NULL;
    }
    if (e->type.lanes != 1 || !may_align(st, e->at.tensor, indices, false))
        return NULL;
    return ir_load(st->context->module, e->at.tensor, indices, e->count);
}

static bool is_elementwise(ir_op op) {
    const ir_op_info *info = ir_op_information(op);
    return (info->flags & IR_FLAG_PURE) && info->arguments > 0 && op != IR_IF_THEN_ELSE && op != IR_AND &&
           op != IR_OR && op != IR_RAMP && op != IR_BROADCAST && op != IR_VECTOR && op != IR_LANE &&
           op != IR_POINTER_OFFSET && op != IR_POINTER_ADDRESS;
}

static const ir_expr *lift_new(state *st, const ir_expr *e) {
    ir_module *module = st->context->module;
    if (e->type.kind != IR_TYPE_PRIM || e->type.lanes != 1)
        return NULL;
    if (e->op == IR_VAR)
        return ramp(st, st->start, ir_int(module, (num_dtype)e->type.dtype, 1));
    if (e->op == IR_LOAD)
        return lift_load(st, e);
    if (e->op == IR_ADD || e->op == IR_SUB || e->op == IR_MUL) {
        const ir_expr *r = ir_type_is_integer(e->type) ? lift_ramp(st, e) : NULL;
        if (r)
            return r;
    }
    if (!is_elementwise(e->op))
        return NULL;
    const ir_expr *args[8];
    for (uint32_t i = 0; i < e->count && i < 8; i++) {
        args[i] = depends(st, e->args[i]) ? lift(st, e->args[i]) : spread(st, e->args[i]);
        if (!args[i])
            return NULL;
    }
    return ir_make(module, e->op, ir_type_prim((num_dtype)e->type.dtype, st->lanes), args, e->count);
}

/* The vector of e over all rounds; NULL when it is not simple. e depends on the loop's variable. */
static const ir_expr *lift(state *st, const ir_expr *e) {
    const ir_expr *known = base_map_get(st->memo, BASE_KEY(e));
    if (!known && e->depth < 200) {
        known = lift_new(st, e);
        if (known)
            base_map_set(st->memo, BASE_KEY(e), (void *)(uintptr_t)known);
    }
    return known;
}

/* Whether e reads a tensor that the body writes, at another element than the one written. */
typedef struct conflict {
    const ir_stmt *store;
    bool found;
} conflict;
static void find_conflict(void *user, const ir_expr *e) {
    conflict *c = user;
    if (e->op != IR_LOAD || e->at.tensor != c->store->as.store.tensor)
        return;
    for (uint32_t i = 0; i < e->count; i++)
        c->found |= e->args[i] != c->store->as.store.indices[i];
}

static ir_stmt *lift_store(state *st, const ir_stmt *s) {
    if (s->kind != IR_STMT_STORE || s->as.store.count == 0 || s->as.store.value->type.lanes != 1)
        return NULL;
    conflict c = {s, false};
    ir_expr_visit(s->as.store.value, find_conflict, &c);
    uint32_t last = s->as.store.count - 1;
    for (uint32_t i = 0; i < last; i++)
        c.found |= depends(st, s->as.store.indices[i]);
    if (c.found || !depends(st, s->as.store.indices[last]))
        return NULL;
    const ir_expr *index = lift(st, s->as.store.indices[last]), *value = s->as.store.value;
    value = depends(st, value) ? lift(st, value) : spread(st, value);
    if (!index || index->op != IR_RAMP || !value)
        return NULL;
    ir_stmt *fresh = ir_stmt_create(st->context->module, IR_STMT_STORE, s->span);
    fresh->as.store = s->as.store;
    const ir_expr **indices = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, last + 1);
    for (uint32_t i = 0; i < last; i++)
        indices[i] = s->as.store.indices[i];
    indices[last] = index;
    fresh->as.store.indices = indices;
    fresh->as.store.value = value;
    return may_align(st, s->as.store.tensor, indices, true) ? fresh : NULL;
}

/* Several statements run as vectors one after the other, so only one is certain to keep its meaning. */
static ir_stmt *lift_loop(state *st, const ir_stmt *s) {
    int64_t extent, step;
    const ir_stmt *body = s->as.loop.body;
    if (!ir_is_int(s->as.loop.extent, &extent) || !ir_is_int(s->as.loop.step, &step) || step != 1 ||
        extent < 2 || extent > LANES_LIMIT || body->as.block.body.count != 1)
        return NULL;
    st->var = s->as.loop.var;
    st->start = s->as.loop.start;
    st->lanes = (unsigned)extent;
    st->span = s->span;
    st->memo = base_map_create(st->context->arena);
    return lift_store(st, body->as.block.body.items[0]);
}

static void replace(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    if (s->kind == IR_STMT_FOR && s->as.loop.kind == IR_LOOP_VECTORIZED) {
        ir_stmt *lifted = lift_loop(st, s);
        s->as.loop.kind = IR_LOOP_SERIAL;
        if (lifted)
            s = lifted;
    }
    base_vector_push(st->context->arena, out, s);
}

static bool is_vectorized(const ir_stmt *s) {
    return s->kind == IR_STMT_FOR && s->as.loop.kind == IR_LOOP_VECTORIZED;
}

void lower_vectorize(lower_context *context) {
    if (!lower_any_statement(context->function->body, is_vectorized))
        return;
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {.context = context};
    lower_map_guarded(context, context->function->body, replace, &st);
}
