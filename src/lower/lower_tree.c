/* SPDX-License-Identifier: Apache-2.0
 * Copies, rewrites and walks of statement trees, shared by the passes. Must not know any pass. */
#include "lower/lower_internal.h"

/* ---- substitution ---- */
void lower_substitution_start(lower_substitution *substitution, ir_module *module) {
    *substitution = (lower_substitution){.module = module,
                                         .vars = base_map_create(module->arena),
                                         .tensors = base_map_create(module->arena),
                                         .memo = ir_memo_open(module)};
}

void lower_substitution_end(lower_substitution *substitution) {
    ir_memo_close(substitution->memo);
}

void lower_substitute_var(lower_substitution *substitution, const ir_var *var, const ir_expr *value) {
    uint64_t bit = UINT64_C(1) << var->id % 64;
    base_map_set(substitution->vars, (uint64_t)var->id + 1, (void *)(uintptr_t)value);
    substitution->where.variables |= bit;
    if (substitution->met & bit) /* what was rewritten so far may mention it */
        ir_memo_clear(substitution->memo);
}

void lower_substitute_tensor(lower_substitution *substitution, const ir_tensor *from, const ir_tensor *to) {
    base_map_set(substitution->tensors, (uint64_t)from->id + 1, (void *)(uintptr_t)to);
    substitution->where.effects = IR_INSIDE_TENSOR | IR_INSIDE_POINTER_LOAD | IR_INSIDE_POINTER_ADDRESS;
    ir_memo_clear(substitution->memo); /* what was rewritten so far may mention it */
}

/* The same region of another tensor. */
static const ir_expr *replace_region(lower_substitution *s, const ir_expr *e, const ir_tensor *tensor) {
    uint32_t rank = e->count / 2;
    const ir_expr **starts = BASE_NEW_ARRAY(s->module->arena, const ir_expr *, rank + 1);
    const ir_expr **extents = BASE_NEW_ARRAY(s->module->arena, const ir_expr *, rank + 1);
    for (uint32_t i = 0; i < rank; i++) {
        starts[i] = e->args[2 * i];
        extents[i] = e->args[2 * i + 1];
    }
    return ir_region(s->module, tensor, starts, extents);
}

static const ir_expr *replace(void *user, const ir_expr *e) {
    lower_substitution *s = user;
    const ir_tensor *tensor;
    switch (e->op) {
    case IR_VAR:
    case IR_REGISTER: {
        const ir_expr *value = base_map_get(s->vars, (uint64_t)e->at.var->id + 1);
        return value ? value : e;
    }
    case IR_LOAD:
        tensor = base_map_get(s->tensors, (uint64_t)e->at.tensor->id + 1);
        return tensor ? ir_load(s->module, tensor, e->args, e->count) : e;
    case IR_ADDRESS:
        tensor = base_map_get(s->tensors, (uint64_t)e->at.tensor->id + 1);
        return tensor ? ir_address(s->module, tensor, e->args, e->count) : e;
    case IR_REGION:
        tensor = base_map_get(s->tensors, (uint64_t)e->at.tensor->id + 1);
        return tensor ? replace_region(s, e, tensor) : e;
    case IR_DATA:
        tensor = base_map_get(s->tensors, (uint64_t)e->at.tensor->id + 1);
        return tensor ? ir_data(s->module, tensor) : e;
    case IR_POINTER_LOAD:
        return e->at.origin ? ir_pointer_load(s->module, e->type, e->args[0], e->args[1],
                                              lower_substitute(s, e->at.origin))
                            : e;
    case IR_POINTER_ADDRESS:
        return e->at.origin ? ir_pointer_address(s->module, e->type, e->args[0], e->args[1],
                                                 lower_substitute(s, e->at.origin))
                            : e;
    default:
        return e;
    }
}

const ir_expr *lower_substitute(lower_substitution *substitution, const ir_expr *e) {
    if (!e)
        return NULL;
    substitution->met |= e->variables;
    return ir_expr_rewrite(substitution->module, e, &substitution->where, replace, substitution,
                           substitution->memo);
}

/* ---- statement copies ---- */
static ir_var *copy_var(lower_substitution *s, const ir_var *var) {
    ir_var *fresh = ir_var_copy(s->module, var);
    lower_substitute_var(s, var, ir_var_use(s->module, fresh));
    return fresh;
}

static const ir_expr *const *copy_list(lower_substitution *s, const ir_expr *const *list, uint32_t count) {
    const ir_expr **fresh = BASE_NEW_ARRAY(s->module->arena, const ir_expr *, count);
    for (uint32_t i = 0; i < count; i++)
        fresh[i] = lower_substitute(s, list[i]);
    return fresh;
}

static ir_tensor *copy_tensor(lower_substitution *s, const ir_tensor *tensor) {
    ir_tensor_type type = tensor->type;
    type.shape = copy_list(s, type.shape, type.rank);
    if (type.strides)
        type.strides = copy_list(s, type.strides, type.rank);
    if (type.origin)
        type.origin = lower_substitute(s, type.origin);
    ir_tensor *fresh = ir_tensor_create(s->module, tensor->name, &type, tensor->kind,
                                        lower_substitute(s, tensor->data), tensor->span);
    fresh->is_scalar = tensor->is_scalar;
    lower_substitute_tensor(s, tensor, fresh);
    return fresh;
}

static ir_tensor *mapped_tensor(lower_substitution *s, ir_tensor *tensor) {
    ir_tensor *fresh = base_map_get(s->tensors, (uint64_t)tensor->id + 1);
    return fresh ? fresh : tensor;
}

static void copy_loop(lower_substitution *s, ir_stmt *to, const ir_stmt *from) {
    to->as.loop = from->as.loop;
    to->as.loop.start = lower_substitute(s, from->as.loop.start);
    to->as.loop.extent = lower_substitute(s, from->as.loop.extent);
    to->as.loop.var = copy_var(s, from->as.loop.var);
    to->as.loop.body = lower_stmt_copy(s, from->as.loop.body);
}

/* Assignment to a register that is itself replaced by a fresh one. */
static ir_var *mapped_register(lower_substitution *s, ir_var *var) {
    const ir_expr *fresh = base_map_get(s->vars, (uint64_t)var->id + 1);
    return fresh ? (ir_var *)(uintptr_t)fresh->at.var : var;
}

ir_stmt *lower_stmt_copy(lower_substitution *s, const ir_stmt *from) {
    if (!from)
        return NULL;
    ir_stmt *to = ir_stmt_create(s->module, from->kind, from->span);
    switch (from->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < from->as.block.body.count; i++)
            ir_block_add(s->module, to, lower_stmt_copy(s, from->as.block.body.items[i]));
        break;
    case IR_STMT_LET:
        to->as.let.value = lower_substitute(s, from->as.let.value);
        to->as.let.var = copy_var(s, from->as.let.var);
        break;
    case IR_STMT_ASSIGN:
        to->as.assign.value = lower_substitute(s, from->as.assign.value);
        to->as.assign.var = mapped_register(s, from->as.assign.var);
        break;
    case IR_STMT_ALLOCATE:
        to->as.allocate.tensor = copy_tensor(s, from->as.allocate.tensor);
        break;
    case IR_STMT_DECLARE:
        to->as.declare.tensor = copy_tensor(s, from->as.declare.tensor);
        break;
    case IR_STMT_STORE:
        to->as.store.tensor = mapped_tensor(s, from->as.store.tensor);
        to->as.store.count = from->as.store.count;
        to->as.store.indices = copy_list(s, from->as.store.indices, from->as.store.count);
        to->as.store.value = lower_substitute(s, from->as.store.value);
        break;
    case IR_STMT_POINTER_STORE:
        to->as.pointer_store.base = lower_substitute(s, from->as.pointer_store.base);
        to->as.pointer_store.index = lower_substitute(s, from->as.pointer_store.index);
        to->as.pointer_store.value = lower_substitute(s, from->as.pointer_store.value);
        to->as.pointer_store.origin = lower_substitute(s, from->as.pointer_store.origin);
        break;
    case IR_STMT_IF:
        to->as.branch.condition = lower_substitute(s, from->as.branch.condition);
        to->as.branch.then_body = lower_stmt_copy(s, from->as.branch.then_body);
        to->as.branch.else_body = lower_stmt_copy(s, from->as.branch.else_body);
        break;
    case IR_STMT_FOR:
        copy_loop(s, to, from);
        break;
    case IR_STMT_WHILE:
        to->as.while_loop.condition = lower_substitute(s, from->as.while_loop.condition);
        to->as.while_loop.body = lower_stmt_copy(s, from->as.while_loop.body);
        break;
    case IR_STMT_EVALUATE:
        to->as.evaluate.value = lower_substitute(s, from->as.evaluate.value);
        break;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        break;
    }
    return to;
}

/* ---- walks ---- */
/* facts: the scopes of what holds at a statement are open while it is visited; NULL: nobody asks. */
typedef struct map_state {
    lower_context *context;
    arith_facts *facts;
    lower_statement_function fn;
    void *user;
} map_state;

static void map_block(const map_state *state, ir_stmt *block);

/* The statement's blocks, each in the scope of its condition. */
static void map_inside(const map_state *state, ir_stmt *s) {
    arith_facts *facts = state->facts;
    size_t depth = facts ? arith_depth(facts) : 0;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        map_block(state, s);
        break;
    case IR_STMT_IF:
        for (int side = 0; side < 2; side++) {
            ir_stmt *body = side ? s->as.branch.else_body : s->as.branch.then_body;
            if (facts && body)
                arith_enter(facts, s->as.branch.condition, side == 0);
            map_block(state, body);
            if (facts)
                arith_leave_to(facts, depth);
        }
        break;
    case IR_STMT_FOR:
        if (facts)
            arith_enter_loop(facts, s);
        map_block(state, s->as.loop.body);
        break;
    case IR_STMT_WHILE:
        if (facts)
            arith_enter(facts, s->as.while_loop.condition, true);
        map_block(state, s->as.while_loop.body);
        break;
    default:
        break;
    }
    if (facts)
        arith_leave_to(facts, depth);
}

/* Most statements stay: a new list is begun at the first that does not. */
static void map_block(const map_state *state, ir_stmt *block) {
    if (!block)
        return;
    base_arena *arena = state->context->arena;
    lower_statements list = {0};
    bool changed = false;
    size_t depth = state->facts ? arith_depth(state->facts) : 0;
    for (size_t i = 0; i < block->as.block.body.count; i++) {
        ir_stmt *s = block->as.block.body.items[i], *few[4];
        lower_statements out = {few, 0, sizeof few / sizeof *few};
        map_inside(state, s);
        state->fn(state->user, s, &out);
        if (!changed && (out.count != 1 || out.items[0] != s)) {
            changed = true;
            for (size_t k = 0; k < i; k++)
                base_vector_push(arena, &list, block->as.block.body.items[k]);
        }
        for (size_t k = 0; changed && k < out.count; k++)
            base_vector_push(arena, &list, out.items[k]);
        if (state->facts) /* s itself may have been replaced; what it says about the rest stands */
            arith_enter_after(state->facts, s);
    }
    if (state->facts)
        arith_leave_to(state->facts, depth);
    if (!changed)
        return;
    block->as.block.body.items = list.items;
    block->as.block.body.count = list.count;
    block->as.block.body.capacity = list.capacity;
}

void lower_map_statements(lower_context *context, ir_stmt *block, lower_statement_function fn, void *user) {
    map_block(&(map_state){context, NULL, fn, user}, block);
}

void lower_map_guarded(lower_context *context, ir_stmt *block, lower_statement_function fn, void *user) {
    map_block(&(map_state){context, context->facts, fn, user}, block);
}

bool lower_any_statement(const ir_stmt *s, bool (*test)(const ir_stmt *statement)) {
    if (!s)
        return false;
    if (test(s))
        return true;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            if (lower_any_statement(s->as.block.body.items[i], test))
                return true;
        return false;
    case IR_STMT_IF:
        return lower_any_statement(s->as.branch.then_body, test) ||
               lower_any_statement(s->as.branch.else_body, test);
    case IR_STMT_FOR:
        return lower_any_statement(s->as.loop.body, test);
    case IR_STMT_WHILE:
        return lower_any_statement(s->as.while_loop.body, test);
    default:
        return false;
    }
}

typedef struct inside_query {
    unsigned effects;
    bool found;
} inside_query;

static void look_inside(void *user, const ir_expr **e) {
    inside_query *q = user;
    q->found = q->found || (*e && ((*e)->effects & q->effects));
}

bool lower_any_inside(const ir_stmt *s, unsigned effects) {
    inside_query q = {effects, false};
    if (!s)
        return false;
    ir_stmt_expressions((ir_stmt *)(uintptr_t)s, look_inside, &q);
    if (q.found)
        return true;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            if (lower_any_inside(s->as.block.body.items[i], effects))
                return true;
        return false;
    case IR_STMT_IF:
        return lower_any_inside(s->as.branch.then_body, effects) ||
               lower_any_inside(s->as.branch.else_body, effects);
    case IR_STMT_FOR:
        return lower_any_inside(s->as.loop.body, effects);
    case IR_STMT_WHILE:
        return lower_any_inside(s->as.while_loop.body, effects);
    default:
        return false;
    }
}

void lower_visit_statements(ir_stmt *s, void (*fn)(void *user, ir_stmt *statement), void *user) {
    if (!s)
        return;
    fn(user, s);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++)
            lower_visit_statements(s->as.block.body.items[i], fn, user);
        break;
    case IR_STMT_IF:
        lower_visit_statements(s->as.branch.then_body, fn, user);
        lower_visit_statements(s->as.branch.else_body, fn, user);
        break;
    case IR_STMT_FOR:
        lower_visit_statements(s->as.loop.body, fn, user);
        break;
    case IR_STMT_WHILE:
        lower_visit_statements(s->as.while_loop.body, fn, user);
        break;
    default:
        break;
    }
}

/* Results found under assumptions hold only there; the scope is its number. */
typedef struct scope_memo {
    uint64_t number;
    ir_memo *memo;
} scope_memo;

typedef struct rewrite_state {
    ir_module *module;
    arith_facts *facts; /* as above */
    const ir_where *where;
    ir_rewrite_function fn;
    void *user;
    ir_memo *memo; /* of this scope */
    BASE_VECTOR(scope_memo) scopes;
} rewrite_state;

static void rewrite_expression(void *user, const ir_expr **e) {
    rewrite_state *state = user;
    if (*e)
        *e = ir_expr_rewrite(state->module, *e, state->where, state->fn, state->user, state->memo);
}

static void rewrite_statement(void *user, ir_stmt *statement) {
    ir_stmt_expressions(statement, rewrite_expression, user);
}

void lower_rewrite_expressions(lower_context *context, ir_stmt *statement, const ir_where *where,
                               ir_rewrite_function fn, void *user) {
    rewrite_state state = {.module = context->module,
                           .where = where,
                           .fn = fn,
                           .user = user,
                           .memo = ir_memo_open(context->module)};
    lower_visit_statements(statement, rewrite_statement, &state);
    ir_memo_close(state.memo);
}

/* Scopes number upwards, inner ones above outer ones: those above the current one were left. */
static void leave_scopes(rewrite_state *state, uint64_t number) {
    while (state->scopes.count && state->scopes.items[state->scopes.count - 1].number > number)
        ir_memo_close(state->scopes.items[--state->scopes.count].memo);
}

static void choose_memo(rewrite_state *state) {
    uint64_t number = arith_scope_number(state->facts);
    leave_scopes(state, number);
    if (!state->scopes.count || state->scopes.items[state->scopes.count - 1].number != number)
        base_vector_push(state->module->arena, &state->scopes,
                         (scope_memo){number, ir_memo_open(state->module)});
    state->memo = state->scopes.items[state->scopes.count - 1].memo;
}

static void rewrite_guarded(rewrite_state *state, ir_stmt *s) {
    if (!s)
        return;
    arith_facts *facts = state->facts;
    size_t depth = arith_depth(facts);
    const ir_expr *condition; /* as it was asked: what the rewrite leaves of it may say less */
    choose_memo(state);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        for (size_t i = 0; i < s->as.block.body.count; i++) {
            ir_stmt *inner = s->as.block.body.items[i];
            if (inner->kind != IR_STMT_IF &&
                inner->kind != IR_STMT_EVALUATE) { /* says nothing about the rest */
                rewrite_guarded(state, inner);
                continue;
            }
            ir_stmt before = *inner;
            rewrite_guarded(state, inner);
            arith_enter_after(facts, &before);
        }
        break;
    case IR_STMT_IF:
        condition = s->as.branch.condition;
        rewrite_statement(state, s);
        arith_enter(facts, condition, true);
        rewrite_guarded(state, s->as.branch.then_body);
        arith_leave_to(facts, depth);
        arith_enter(facts, condition, false);
        rewrite_guarded(state, s->as.branch.else_body);
        break;
    case IR_STMT_FOR: {
        ir_stmt before = *s;
        rewrite_statement(state, s);
        arith_enter_loop(facts, &before);
        rewrite_guarded(state, s->as.loop.body);
        break;
    }
    case IR_STMT_WHILE:
        condition = s->as.while_loop.condition;
        rewrite_statement(state, s);
        arith_enter(facts, condition, true);
        rewrite_guarded(state, s->as.while_loop.body);
        break;
    default:
        rewrite_statement(state, s);
        break;
    }
    arith_leave_to(facts, depth);
}

void lower_rewrite_guarded(lower_context *context, ir_stmt *statement, const ir_where *where,
                           ir_rewrite_function fn, void *user) {
    rewrite_state state = {
        .module = context->module, .facts = context->facts, .where = where, .fn = fn, .user = user};
    rewrite_guarded(&state, statement);
    while (state.scopes.count)
        ir_memo_close(state.scopes.items[--state.scopes.count].memo);
}

/* Each operand is looked at once more, so there must be an end. */
enum { LAZY_LEVELS = 2, LAZY_SIZE = 256 };

static const ir_expr *rewrite_under(lower_context *context, const ir_expr *condition, bool truth,
                                    const ir_expr *e, const ir_where *where, ir_rewrite_function fn,
                                    void *user) {
    if (!ir_is_where(where, e) || !e->count || e->size > LAZY_SIZE || context->inside >= LAZY_LEVELS ||
        ir_expr_has_effect(e))
        return e;
    size_t depth = arith_depth(context->facts);
    context->inside++;
    arith_enter(context->facts, condition, truth);
    e = ir_expr_rewrite(context->module, e, where, fn, user, NULL);
    arith_leave_to(context->facts, depth);
    context->inside--;
    return e;
}

const ir_expr *lower_under_conditions(lower_context *context, const ir_expr *e, const ir_where *where,
                                      ir_rewrite_function fn, void *user) {
    if (e->op == IR_IF_THEN_ELSE) {
        const ir_expr *c = e->args[0];
        const ir_expr *args[] = {c, rewrite_under(context, c, true, e->args[1], where, fn, user),
                                 rewrite_under(context, c, false, e->args[2], where, fn, user)};
        return ir_rebuild(context->module, e, args);
    }
    if ((e->op == IR_AND || e->op == IR_OR) && e->type.lanes == 1) {
        const ir_expr *args[] = {
            e->args[0], rewrite_under(context, e->args[0], e->op == IR_AND, e->args[1], where, fn, user)};
        return ir_rebuild(context->module, e, args);
    }
    return e;
}
