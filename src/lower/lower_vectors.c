/* SPDX-License-Identifier: Apache-2.0
 * Vector values. In: vector expressions of any kind. Out: a vector-typed expression is a variable, one LOAD
 * that is one aligned access of neighbours in storage, a VECTOR of scalars, or a REINTERPRET of one of these;
 * it stands as the value of a store or a binding, or under LANE; all arithmetic is scalar. A ramp that
 * provably starts off its alignment is an error; one that cannot be proved aligned is loaded lane by lane and
 * stored as a vector. Must not build addresses (lower_layouts). */
#include "lower/lower_internal.h"
#include "num/num.h"

typedef struct state {
    lower_context *context;
    ir_module *module;
    lower_statements *out; /* what stands before the statement; NULL: nothing may */
    base_span span;
    unsigned lazy;     /* inside an operand that may not be evaluated */
    base_map *memo[2]; /* scalar results, by laziness */
    base_map *bound;   /* whole load -> variable use */
    unsigned widest;   /* lanes, the answer of the last search */
} state;

/* Language and hardware know 64; each lane becomes a value of its own, so there must be an end. */
enum { LANES_LIMIT = 1024 };

static unsigned lanes_of(const ir_expr *e) {
    return e->type.kind == IR_TYPE_PRIM ? e->type.lanes : 1;
}

static const ir_expr *scalar(state *st, const ir_expr *e);
static const ir_expr *lane(state *st, const ir_expr *e, unsigned i);
static const ir_expr *vector(state *st, const ir_expr *e);

static const ir_expr *make_ramp(state *st, const ir_expr *base, unsigned lanes) {
    const ir_expr *args[] = {base, ir_int(st->module, (num_dtype)base->type.dtype, 1)};
    return lanes == 1
               ? base
               : ir_make(st->module, IR_RAMP, ir_type_prim((num_dtype)base->type.dtype, lanes), args, 2);
}

/* ---- how an access is done ---- */

/* Base of an index that counts up by one per lane; NULL when it does not. */
static const ir_expr *unit_base(state *st, const ir_expr *index) {
    int64_t stride;
    const ir_expr *a, *b;
    if (index->op == IR_RAMP)
        return ir_is_int(index->args[1], &stride) && stride == 1 ? index->args[0] : NULL;
    if (index->op != IR_ADD && index->op != IR_SUB)
        return NULL;
    a = index->args[0], b = index->args[1];
    if (a->op == IR_BROADCAST && index->op == IR_ADD) {
        b = unit_base(st, b);
        return b ? ir_binary(st->module, IR_ADD, a->args[0], b) : NULL;
    }
    if (b->op != IR_BROADCAST)
        return NULL;
    a = unit_base(st, a);
    return a ? ir_binary(st->module, index->op, a, b->args[0]) : NULL;
}

unsigned lower_chunk_limit(num_dtype dtype) {
    unsigned bits = num_dtype_bits(dtype);
    if (bits == 4)
        return 16;
    return 16 / num_dtype_bytes(dtype);
}

/* Lanes that one access may move at most, by number and by width. */
static unsigned widest(num_dtype dtype, unsigned lanes) {
    unsigned chunk = lanes & (0 - lanes), limit = lower_chunk_limit(dtype);
    return chunk < limit ? chunk : limit;
}

lower_alignment lower_access_alignment(lower_context *context, const ir_tensor *tensor,
                                       const ir_expr *const *indices, unsigned chunk, base_span span) {
    const ir_tensor *root = lower_root(tensor);
    uint32_t align = root ? root->type.align : tensor->type.align;
    const ir_expr *index = lower_index(context, tensor, indices, span);
    if (!index || align < chunk * num_dtype_bits(tensor->type.dtype) / 8)
        return LOWER_ALIGNMENT_UNKNOWN;
    if (arith_is_multiple(context->facts, index, chunk))
        return LOWER_ALIGNED;
    return arith_is_never_multiple(context->facts, index, chunk) ? LOWER_MISALIGNED : LOWER_ALIGNMENT_UNKNOWN;
}

static void report_misaligned(state *st, const ir_tensor *tensor, unsigned chunk) {
    base_diagnostic *d = base_report(st->context->diagnostics, BASE_ERROR, "T0413", st->span,
                                     "misaligned access to '%s': %u neighbours of %s need an element number "
                                     "divisible by %u, and this one never is",
                                     tensor->name, chunk, num_dtype_name(tensor->type.dtype), chunk);
    base_note(st->context->diagnostics, d, tensor->span, "'%s' is declared here; its origin counts too",
              tensor->name);
    base_help(st->context->diagnostics, d,
              "move the origin to a multiple of %u, or access the lanes one by one", chunk);
}

/* Lanes per access: all of them for one whole access, the element's own for one access per element. */
static unsigned chunk_of(state *st, const ir_tensor *tensor, const ir_expr *const *indices, uint32_t count,
                         bool is_store) {
    unsigned element = tensor->type.lanes > 1 ? tensor->type.lanes : 1;
    unsigned ramp = count ? lanes_of(indices[count - 1]) : 1;
    for (uint32_t k = 0; k + 1 < count; k++)
        if (lanes_of(indices[k]) > 1)
            return element;
    if (ramp == 1 || element > 1)
        return element;
    const ir_expr *base = unit_base(st, indices[count - 1]);
    unsigned chunk = widest(tensor->type.dtype, ramp);
    if (!base || num_dtype_bits(tensor->type.dtype) == 6)
        return 1;
    const ir_expr **flat = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, count);
    for (uint32_t k = 0; k < count; k++)
        flat[k] = scalar(st, k + 1 == count ? base : indices[k]);
    if (!lower_is_contiguous(st->context, tensor, flat[count - 1], ramp))
        return 1;
    for (; chunk > 1; chunk /= 2) {
        lower_alignment a = lower_access_alignment(st->context, tensor, flat, chunk, st->span);
        if (a == LOWER_MISALIGNED) {
            report_misaligned(st, tensor, chunk);
            return 1;
        }
        const ir_tensor *root = lower_root(tensor);
        uint32_t align = root ? root->type.align : tensor->type.align;
        bool wide_enough = align >= chunk * num_dtype_bits(tensor->type.dtype) / 8;
        if (a == LOWER_ALIGNED || (is_store && wide_enough && num_dtype_bits(tensor->type.dtype) >= 8))
            break;
    }
    return chunk;
}

/* Indices of the access that starts at a lane of the whole: ramps of chunk / element lanes. */
static const ir_expr *const *indices_at(state *st, const ir_expr *const *indices, uint32_t count,
                                        unsigned first, unsigned lanes) {
    const ir_expr **at = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, count);
    for (uint32_t k = 0; k < count; k++)
        at[k] = lanes_of(indices[k]) > 1 ? lane(st, indices[k], first) : scalar(st, indices[k]);
    if (count && lanes > 1)
        at[count - 1] = make_ramp(st, at[count - 1], lanes);
    return at;
}

/* ---- loads ---- */

/* A whole load is done once, before the statement, when the statement always does it. */
static const ir_expr *bind_load(state *st, const ir_expr *load) {
    if (st->lazy || !st->out)
        return load;
    const ir_expr *use = base_map_get(st->bound, BASE_KEY(load));
    if (use)
        return use;
    ir_var *var = ir_var_create(st->module, "v", load->type, IR_VAR_LET, st->span);
    ir_stmt *let = ir_stmt_create(st->module, IR_STMT_LET, st->span);
    let->as.let.var = var;
    let->as.let.value = load;
    base_vector_push(st->context->arena, st->out, let);
    use = ir_var_use(st->module, var);
    base_map_set(st->bound, BASE_KEY(load), (void *)(uintptr_t)use);
    return use;
}

/* The results of a PTX instruction or of a function of source text come together: it is executed once,
 * whatever reads them. */
static bool is_call(const ir_expr *e) {
    return e->op == IR_PTX || e->op == IR_SOURCE_CALL;
}

static const ir_expr *several_results(state *st, const ir_expr *e) {
    const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
    for (uint32_t k = 0; k < e->count; k++) {
        args[k] = lanes_of(e->args[k]) > 1 ? vector(st, e->args[k]) : scalar(st, e->args[k]);
        if (args[k]->op == IR_LOAD && lanes_of(args[k]) > 1)
            args[k] = bind_load(st, args[k]);
    }
    return ir_rebuild(st->module, e, args);
}

static const ir_expr *load_lane(state *st, const ir_expr *e, unsigned i) {
    const ir_tensor *tensor = e->at.tensor;
    unsigned element = tensor->type.lanes > 1 ? tensor->type.lanes : 1;
    unsigned chunk = chunk_of(st, tensor, e->args, e->count, false);
    unsigned first = i / chunk * chunk;
    const ir_expr *load = ir_load(
        st->module, tensor, indices_at(st, e->args, e->count, first / element, chunk / element), e->count);
    return chunk == 1 ? load : ir_lane(st->module, bind_load(st, load), i - first);
}

static const ir_expr *whole_load(state *st, const ir_expr *e) {
    unsigned chunk = chunk_of(st, e->at.tensor, e->args, e->count, false);
    unsigned element = e->at.tensor->type.lanes > 1 ? e->at.tensor->type.lanes : 1;
    if (chunk != lanes_of(e))
        return NULL;
    return ir_load(st->module, e->at.tensor, indices_at(st, e->args, e->count, 0, chunk / element), e->count);
}

/* ---- expressions ---- */

static const ir_expr *elementwise(state *st, const ir_expr *e, unsigned i) {
    const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
    for (uint32_t k = 0; k < e->count; k++) {
        bool lazy = (e->op == IR_IF_THEN_ELSE && k > 0) || ((e->op == IR_AND || e->op == IR_OR) && k == 1);
        st->lazy += lazy;
        args[k] = lanes_of(e->args[k]) > 1 ? lane(st, e->args[k], i) : scalar(st, e->args[k]);
        st->lazy -= lazy;
    }
    const ir_expr *like = ir_make(st->module, e->op, ir_type_scalar(e->type), args, e->count);
    return ir_rebuild(st->module, like, args);
}

static const ir_expr *lane(state *st, const ir_expr *e, unsigned i) {
    ir_module *module = st->module;
    if (lanes_of(e) == 1)
        return scalar(st, e);
    switch (e->op) {
    case IR_PTX:
    case IR_SOURCE_CALL:
        return ir_lane(module, bind_load(st, several_results(st, e)), i);
    case IR_RAMP: {
        const ir_expr *stride = scalar(st, e->args[1]);
        const ir_expr *number = ir_int(module, (num_dtype)stride->type.dtype, i);
        return ir_binary(module, IR_ADD, scalar(st, e->args[0]), ir_binary(module, IR_MUL, stride, number));
    }
    case IR_BROADCAST:
        return scalar(st, e->args[0]);
    case IR_VECTOR:
        return scalar(st, e->args[i]);
    case IR_VAR:
    case IR_REGISTER:
        return ir_lane(module, e, i);
    case IR_LOAD:
        return load_lane(st, e, i);
    case IR_REINTERPRET:
        if (lanes_of(e->args[0]) != lanes_of(e))
            return ir_lane(module, vector(st, e), i);
        return elementwise(st, e, i);
    default:
        return elementwise(st, e, i);
    }
}

/* x when the lanes are x's lanes in order. */
static const ir_expr *same_vector(const ir_expr *const *lanes, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (lanes[i]->op != IR_LANE || lanes[i]->at.integer != i || lanes[i]->args[0] != lanes[0]->args[0])
            return NULL;
    return lanes_of(lanes[0]->args[0]) == count ? lanes[0]->args[0] : NULL;
}

static const ir_expr *make_vector(state *st, const ir_expr *const *lanes, unsigned count) {
    const ir_expr *same = same_vector(lanes, count);
    return same ? same
                : ir_make(st->module, IR_VECTOR, ir_type_prim((num_dtype)lanes[0]->type.dtype, count), lanes,
                          count);
}

/* The vector in one of the forms that may stand as a value. */
static const ir_expr *vector(state *st, const ir_expr *e) {
    if (e->op == IR_VAR || e->op == IR_REGISTER)
        return e;
    if (is_call(e))
        return several_results(st, e);
    if (e->op == IR_REINTERPRET && lanes_of(e->args[0]) != lanes_of(e)) {
        const ir_expr *arg = lanes_of(e->args[0]) > 1 ? vector(st, e->args[0]) : scalar(st, e->args[0]);
        if (arg->op == IR_LOAD && lanes_of(arg) > 1)
            arg = bind_load(st, arg);
        return ir_make(st->module, IR_REINTERPRET, e->type, &arg, 1);
    }
    const ir_expr *whole = e->op == IR_LOAD ? whole_load(st, e) : NULL;
    if (whole)
        return whole;
    unsigned count = lanes_of(e);
    const ir_expr **lanes = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, count);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = lane(st, e, i);
    return make_vector(st, lanes, count);
}

/* The address of a vector access is the address of its first lane. */
static const ir_expr *address(state *st, const ir_expr *e) {
    return ir_address(st->module, e->at.tensor, indices_at(st, e->args, e->count, 0, 1), e->count);
}

static const ir_expr *scalar_new(state *st, const ir_expr *e) {
    if (e->op == IR_LANE)
        return lane(st, e->args[0], (unsigned)e->at.integer);
    if (e->op == IR_ADDRESS)
        return address(st, e);
    const ir_expr **args = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, e->count);
    for (uint32_t k = 0; k < e->count; k++) {
        bool lazy = (e->op == IR_IF_THEN_ELSE && k > 0) || ((e->op == IR_AND || e->op == IR_OR) && k == 1);
        st->lazy += lazy;
        args[k] = lanes_of(e->args[k]) > 1 ? vector(st, e->args[k]) : scalar(st, e->args[k]);
        if (args[k]->op == IR_LOAD && lanes_of(args[k]) > 1)
            args[k] = bind_load(st, args[k]);
        st->lazy -= lazy;
    }
    return ir_rebuild(st->module, e, args);
}

static const ir_expr *scalar(state *st, const ir_expr *e) {
    if (!e->count)
        return e;
    base_map *memo = st->memo[st->lazy != 0];
    const ir_expr *known = base_map_get(memo, BASE_KEY(e));
    if (!known) {
        known = scalar_new(st, e);
        base_map_set(memo, BASE_KEY(e), (void *)(uintptr_t)known);
    }
    return known;
}

/* ---- statements ---- */

static const ir_expr *bind_scalar(state *st, const ir_expr *value) {
    ir_var *var = ir_var_create(st->module, "v", value->type, IR_VAR_LET, st->span);
    ir_stmt *let = ir_stmt_create(st->module, IR_STMT_LET, st->span);
    let->as.let.var = var;
    let->as.let.value = value;
    base_vector_push(st->context->arena, st->out, let);
    return ir_var_use(st->module, var);
}

static void add_store(state *st, const ir_stmt *s, const ir_expr *const *indices, const ir_expr *value) {
    ir_stmt *store = ir_stmt_create(st->module, IR_STMT_STORE, s->span);
    store->as.store = s->as.store;
    store->as.store.indices = indices;
    store->as.store.value = value;
    base_vector_push(st->context->arena, st->out, store);
}

static void vector_store(state *st, const ir_stmt *s, unsigned total) {
    const ir_tensor *tensor = s->as.store.tensor;
    const ir_expr *const *indices = s->as.store.indices;
    uint32_t count = s->as.store.count;
    unsigned element = tensor->type.lanes > 1 ? tensor->type.lanes : 1;
    unsigned chunk = chunk_of(st, tensor, indices, count, true);
    if (chunk == total) {
        const ir_expr *value = vector(st, s->as.store.value);
        add_store(st, s, indices_at(st, indices, count, 0, chunk / element), value);
        return;
    }
    /* All lanes are read before the first is written. */
    const ir_expr **lanes = BASE_NEW_ARRAY(st->context->arena, const ir_expr *, total);
    for (unsigned i = 0; i < total; i++) {
        lanes[i] = lane(st, s->as.store.value, i);
        if (ir_expr_reads(lanes[i]))
            lanes[i] = bind_scalar(st, lanes[i]);
    }
    for (unsigned first = 0; first < total; first += chunk) {
        const ir_expr *value = chunk == 1 ? lanes[first] : make_vector(st, lanes + first, chunk);
        add_store(st, s, indices_at(st, indices, count, first / element, chunk / element), value);
    }
}

static void see(void *user, const ir_expr *e) {
    state *st = user;
    if (lanes_of(e) > st->widest)
        st->widest = lanes_of(e);
}
static void search(void *user, const ir_expr **e) {
    static const ir_where vectors = {.effects = IR_INSIDE_LANES};
    ir_expr_visit_where(*e, &vectors, see, user);
}
static void simplify(void *user, const ir_expr **e) {
    state *st = user;
    *e = lanes_of(*e) > 1 ? vector(st, *e) : scalar(st, *e);
}

static void statement(void *user, ir_stmt *s, lower_statements *out) {
    state *st = user;
    st->widest = 1;
    ir_stmt_expressions(s, search, st);
    if (st->widest > LANES_LIMIT)
        base_report(st->context->diagnostics, BASE_ERROR, "T0415", s->span,
                    "a vector of %u lanes, over the limit of %d: write a loop", st->widest, LANES_LIMIT);
    if (st->widest == 1 || st->widest > LANES_LIMIT) {
        base_vector_push(st->context->arena, out, s);
        return;
    }
    base_arena *arena = st->context->arena;
    st->out = s->kind == IR_STMT_WHILE ? NULL : out;
    st->span = s->span;
    st->lazy = 0;
    st->memo[0] = base_map_create(arena), st->memo[1] = base_map_create(arena);
    st->bound = base_map_create(arena);
    if (s->kind == IR_STMT_STORE) {
        unsigned ramp = s->as.store.count ? lanes_of(s->as.store.indices[s->as.store.count - 1]) : 1;
        unsigned total = ramp * (s->as.store.tensor->type.lanes > 1 ? s->as.store.tensor->type.lanes : 1);
        if (total > 1) {
            vector_store(st, s, total);
            return;
        }
    }
    if (s->kind == IR_STMT_EVALUATE && lanes_of(s->as.evaluate.value) > 1 &&
        !ir_expr_has_effect(s->as.evaluate.value))
        return;
    ir_stmt_expressions(s, simplify, st);
    base_vector_push(arena, out, s);
}

static void search_lanes(void *user, const ir_expr **e) {
    if ((*e)->effects & IR_INSIDE_LANES)
        *(bool *)user = true;
}

static bool has_lanes(const ir_stmt *s) {
    bool found = false;
    ir_stmt_expressions((ir_stmt *)(uintptr_t)s, search_lanes, &found);
    return found;
}

void lower_vectors(lower_context *context) {
    if (!lower_any_statement(context->function->body, has_lanes))
        return;
    context->facts = arith_facts_create(context->arena, context->function);
    state st = {.context = context, .module = context->module};
    lower_map_guarded(context, context->function->body, statement, &st);
}
