/* SPDX-License-Identifier: Apache-2.0
 * Tensor form to flat form. In: vectors and views as lower_vectors and lower_views leave them. Out: every
 * access is a base pointer and one element number; no axis, layout or DECLARE is left. Accesses wider than 16
 * bytes are split. Must not simplify indices beyond what building them folds. */
#include "lower/lower_internal.h"
#include "layout/query.h"
#include "num/num.h"

typedef struct state {
    lower_context *context;
    base_span span;
    ir_memo *memo;    /* of what was rewritten in this scope of facts */
    uint64_t scope;   /* its number */
    bool refused;     /* something in the memo could not be rewritten, which was reported */
    base_map *stored; /* tensors whose layout was looked at */
} state;

static const ir_expr *offset_by(ir_module *module, const ir_expr *index, int64_t delta) {
    return delta ? lower_integer_binary(module, IR_ADD, index,
                                        ir_int(module, (num_dtype)index->type.dtype, delta))
                 : index;
}

static const ir_expr *make_load(state *st, ir_type type, const ir_expr *base, const ir_expr *index,
                                const ir_expr *origin) {
    ir_module *module = st->context->module;
    unsigned limit = lower_chunk_limit((num_dtype)type.dtype);
    if (type.lanes <= limit)
        return ir_pointer_load(module, type, base, index, origin);
    unsigned chunk = (unsigned)(type.lanes & (0 - type.lanes));
    chunk = chunk < limit ? chunk : limit;
    const ir_expr **lanes = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, type.lanes);
    ir_type part = ir_type_prim((num_dtype)type.dtype, chunk);
    for (unsigned i = 0; i < type.lanes; i++) {
        const ir_expr *load =
            ir_pointer_load(module, part, base, offset_by(module, index, i / chunk * chunk), origin);
        lanes[i] = chunk == 1 ? load : ir_lane(module, load, i % chunk);
    }
    return ir_make(module, IR_VECTOR, type, lanes, type.lanes);
}

static const ir_expr *refuse(state *st, const ir_expr *e) {
    st->refused = true;
    return e;
}

static const ir_expr *make_address(state *st, const ir_expr *e) {
    lower_context *context = st->context;
    const ir_tensor *tensor = e->at.tensor;
    const ir_expr *index = lower_index(context, tensor, e->args, st->span);
    if (!index)
        return refuse(st, e);
    if (num_dtype_bits(tensor->type.dtype) == 4 && !arith_is_multiple(context->facts, index, 2)) {
        base_report(
            context->diagnostics, BASE_ERROR, "T0414", st->span,
            "the address of an element of '%s' must start a byte: the element number must be even for %s",
            tensor->name, num_dtype_name(tensor->type.dtype));
        return refuse(st, e);
    }
    const ir_expr *base = lower_base(context, tensor);
    ir_type type = ir_type_pointer(tensor->type.dtype, tensor->type.lanes, (ir_scope)base->type.scope);
    return ir_pointer_address(context->module, type, base, index, e);
}

static const ir_expr *make_data(state *st, const ir_expr *e) {
    const ir_tensor *tensor = e->at.tensor;
    if (tensor->kind != IR_TENSOR_VIEW || !tensor->data)
        return e;
    const ir_expr *base = lower_base(st->context, tensor);
    if (tensor->data->op != IR_POINTER_ADDRESS)
        return base;
    return ir_pointer_address(st->context->module, base->type, base, tensor->data->args[1], NULL);
}

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    state *st = user;
    const ir_expr *index;
    switch (e->op) {
    case IR_LOAD:
        index = lower_index(st->context, e->at.tensor, e->args, st->span);
        return index ? make_load(st, e->type, lower_base(st->context, e->at.tensor), index, e)
                     : refuse(st, e);
    case IR_ADDRESS:
        return make_address(st, e);
    case IR_DATA:
        return make_data(st, e);
    default:
        return e;
    }
}

static void expression(void *user, const ir_expr **e) {
    state *st = user;
    static const ir_where tensors = {.effects = IR_INSIDE_TENSOR};
    *e = ir_expr_rewrite(st->context->module, *e, &tensors, rewrite, st, st->memo);
}

static const char *coordinate_text(state *st, const layout_map *map, int64_t flat) {
    int64_t *coordinate = BASE_NEW_ARRAY(st->context->arena, int64_t, (size_t)map->rank + 1);
    base_builder text;
    base_builder_start(&text, st->context->arena);
    layout_map_coordinate(map, flat, coordinate);
    for (uint32_t d = 0; d < map->rank; d++)
        base_builder_format(&text, d == 0 ? "[%lld" : ", %lld", (long long)coordinate[d]);
    base_builder_char(&text, ']');
    return text.data;
}

/* A store to one element that changes another is seldom meant, and a race when two threads do it. */
static void check_injective(state *st, const ir_tensor *tensor) {
    base_arena *arena = st->context->arena;
    if (!tensor->type.layout || base_map_get(st->stored, tensor->id + 1))
        return;
    base_map_set(st->stored, tensor->id + 1, st);
    int64_t *shape = BASE_NEW_ARRAY(arena, int64_t, (size_t)tensor->type.rank + 1);
    for (uint32_t d = 0; d < tensor->type.rank; d++)
        if (!ir_is_int(tensor->type.shape[d], &shape[d]))
            return;
    layout_collision collision;
    const layout_map *map = layout_map_make(arena, tensor->type.layout, shape, tensor->type.rank, NULL);
    if (!map || layout_injective(map, &collision) != LAYOUT_NO)
        return;
    base_diagnostic *d =
        base_report(st->context->diagnostics, BASE_WARNING, "T0421", st->span,
                    "a store to '%s', whose layout is not injective: %s and %s both map to m %lld",
                    tensor->name, coordinate_text(st, map, collision.first),
                    coordinate_text(st, map, collision.second), (long long)collision.position[LAYOUT_AXIS_M]);
    base_note(st->context->diagnostics, d, tensor->span, "'%s' has the layout %s", tensor->name,
              layout_text_of(arena, tensor->type.layout));
}

static void add_store(state *st, const ir_stmt *s, const ir_expr *index, const ir_expr *value,
                      lower_statements *out) {
    ir_module *module = st->context->module;
    ir_stmt *store = ir_stmt_create(module, IR_STMT_POINTER_STORE, s->span);
    store->as.pointer_store.base = lower_base(st->context, s->as.store.tensor);
    store->as.pointer_store.index = index;
    store->as.pointer_store.value = value;
    store->as.pointer_store.origin =
        ir_address(module, s->as.store.tensor, s->as.store.indices, s->as.store.count);
    base_vector_push(st->context->arena, out, store);
}

/* lower_vectors splits stores along ramps; only vector elements over 16 bytes are still too wide. */
static void store(state *st, const ir_stmt *s, lower_statements *out) {
    ir_module *module = st->context->module;
    const ir_expr *index = lower_index(st->context, s->as.store.tensor, s->as.store.indices, s->span);
    const ir_expr *value = s->as.store.value;
    if (!index)
        return;
    check_injective(st, s->as.store.tensor);
    unsigned lanes = value->type.lanes, limit = lower_chunk_limit((num_dtype)value->type.dtype);
    if (lanes <= limit) {
        add_store(st, s, index, value, out);
        return;
    }
    unsigned chunk = lanes & (0 - lanes);
    chunk = chunk < limit ? chunk : limit;
    ir_stmt *let = ir_stmt_create(module, IR_STMT_LET, s->span);
    let->as.let.var = ir_var_create(module, "v", value->type, IR_VAR_LET, s->span);
    let->as.let.value = value;
    base_vector_push(st->context->arena, out, let);
    value = ir_var_use(module, let->as.let.var);
    for (unsigned first = 0; first < lanes; first += chunk) {
        const ir_expr *part[16];
        for (unsigned i = 0; i < chunk; i++)
            part[i] = ir_lane(module, value, first + i);
        const ir_expr *piece =
            chunk == 1
                ? part[0]
                : ir_make(module, IR_VECTOR, ir_type_prim((num_dtype)value->type.dtype, chunk), part, chunk);
        add_store(st, s, offset_by(module, index, first), piece, out);
    }
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    if (s->kind == IR_STMT_DECLARE)
        return;
    st->span = s->span;
    /* Reports name the statement, so what led to one is looked at again. */
    uint64_t scope = arith_scope_number(st->context->facts);
    if (scope != st->scope || st->refused)
        ir_memo_clear(st->memo);
    st->scope = scope;
    st->refused = false;
    ir_stmt_expressions(s, expression, st);
    if (s->kind == IR_STMT_STORE)
        store(st, s, out);
    else
        base_vector_push(st->context->arena, out, s);
}

void lower_layouts(lower_context *context) {
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {
        .context = context, .stored = base_map_create(context->arena), .memo = ir_memo_open(context->module)};
    lower_map_guarded(context, context->function->body, statement, &st);
    ir_memo_close(st.memo);
}
