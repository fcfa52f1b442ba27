/* SPDX-License-Identifier: Apache-2.0
 * What the text of a kernel shows not to be waited for: registers of tcgen05.ld, cells of tcgen05.st, results
 * of the matrix unit behind a synchronisation without its fence. One thread's way is followed through the
 * statements; where ways meet, only what holds on both is kept, so what is reported happens to every thread
 * that comes there. Tile operations wait as they must, so nothing is known behind one. Source: PTX
 * ISA 9.0, 9.7.16.6 (memory consistency). */
#include "lower/lower_tensor_memory.h"
#include <string.h>

typedef struct pending { /* a register that tcgen05.ld has not filled yet */
    const ir_tensor *tensor;
    int64_t index; /* of an element, row-major */
    const ir_var *var;
    base_span span; /* of the load */
    bool wrong_wait;
} pending;

typedef struct store { /* cells that tcgen05.st may still write */
    tmem_address address;
    int64_t width;
    base_span span;
} store;

typedef enum progress { ISSUED, SYNCHRONISED, FENCED } progress;
typedef struct product { /* of the matrix unit, or a copy by it */
    tmem_address address;
    base_span span, synchronised;
    progress progress;
} product;

typedef struct state {
    BASE_VECTOR(pending) loads;
    BASE_VECTOR(store) stores;
    BASE_VECTOR(product) products;
} state;

typedef struct follow {
    tmem_walk walk;
    state now;
    const ir_expr *destined; /* tcgen05.ld whose results are registers of this statement */
} follow;

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- states ---- */

static state copied(follow *f, const state *s) {
    state new = {0};
    for (size_t i = 0; i < s->loads.count; i++)
        base_vector_push(f->walk.arena, &new.loads, s->loads.items[i]);
    for (size_t i = 0; i < s->stores.count; i++)
        base_vector_push(f->walk.arena, &new.stores, s->stores.items[i]);
    for (size_t i = 0; i < s->products.count; i++)
        base_vector_push(f->walk.arena, &new.products, s->products.items[i]);
    return new;
}

static bool same_register(const pending *a, const pending *b) {
    return a->tensor == b->tensor && a->index == b->index && a->var == b->var;
}

static bool same_span(base_span a, base_span b) {
    return a.file == b.file && a.begin == b.begin;
}

/* What a thread may rely on that came by one of two ways. A product that only one way issued is kept: others
 * wait for it as well. */
static state met(follow *f, const state *a, const state *b) {
    state new = {0};
    base_arena *arena = f->walk.arena;
    for (size_t i = 0; i < a->loads.count; i++)
        for (size_t k = 0; k < b->loads.count; k++)
            if (same_register(&a->loads.items[i], &b->loads.items[k])) {
                base_vector_push(arena, &new.loads, a->loads.items[i]);
                break;
            }
    for (size_t i = 0; i < a->stores.count; i++)
        for (size_t k = 0; k < b->stores.count; k++)
            if (same_span(a->stores.items[i].span, b->stores.items[k].span)) {
                base_vector_push(arena, &new.stores, a->stores.items[i]);
                break;
            }
    for (size_t i = 0; i < a->products.count; i++)
        base_vector_push(arena, &new.products, a->products.items[i]);
    for (size_t k = 0; k < b->products.count; k++) {
        const product *other = &b->products.items[k];
        product *known = NULL;
        for (size_t i = 0; i < new.products.count; i++)
            if (same_span(new.products.items[i].span, other->span))
                known = &new.products.items[i];
        if (!known)
            base_vector_push(arena, &new.products, *other);
        else if (other->progress == FENCED || known->progress == FENCED)
            known->progress = FENCED;
        else if (other->progress == ISSUED)
            known->progress = ISSUED;
    }
    return new;
}

/* ---- registers ---- */

/* The number of a tensor's element, when it is a constant; -1: it is not. */
static int64_t element_number(const follow *f, const ir_tensor *t, const ir_expr *const *indices,
                              uint32_t count) {
    int64_t number = 0, index, size;
    for (uint32_t i = 0; i < count; i++) {
        if (i >= t->type.rank || !ir_is_int(tmem_resolve(&f->walk, indices[i]), &index) ||
            !ir_is_int(t->type.shape[i], &size))
            return -1;
        number = number * size + index;
    }
    return number;
}

/* Whether every element of a tensor is pending. */
static bool all_pending(const follow *f, const ir_tensor *t) {
    int64_t elements = 1, size, count = 0;
    for (uint32_t i = 0; i < t->type.rank; i++) {
        if (!ir_is_int(t->type.shape[i], &size))
            return false;
        elements *= size;
    }
    for (size_t i = 0; i < f->now.loads.count; i++)
        count += f->now.loads.items[i].tensor == t;
    return count >= elements;
}

static void forget(follow *f, const pending *what) {
    size_t kept = 0;
    for (size_t i = 0; i < f->now.loads.count; i++)
        if (!same_register(&f->now.loads.items[i], what))
            f->now.loads.items[kept++] = f->now.loads.items[i];
    f->now.loads.count = kept;
}

/* All registers of one load: one report for it. */
static void forget_load(follow *f, base_span span) {
    size_t kept = 0;
    for (size_t i = 0; i < f->now.loads.count; i++)
        if (!same_span(f->now.loads.items[i].span, span))
            f->now.loads.items[kept++] = f->now.loads.items[i];
    f->now.loads.count = kept;
}

static void used(void *user, const ir_expr *e) {
    follow *f = user;
    const pending *found = NULL;
    for (size_t i = 0; i < f->now.loads.count && !found; i++) {
        const pending *p = &f->now.loads.items[i];
        if (e->op == IR_VAR && e->at.var == p->var)
            found = p;
        if (e->op != IR_LOAD || e->at.tensor != p->tensor)
            continue;
        int64_t number = element_number(f, e->at.tensor, e->args, e->count);
        if (number == p->index || (number < 0 && all_pending(f, e->at.tensor)))
            found = p;
    }
    if (!found)
        return;
    tmem_walk *w = &f->walk;
    base_diagnostic *d = tmem_report(w, BASE_WARNING, "T0584", w->span,
                                     "a register of tcgen05.ld is used before tcgen05.wait::ld%s",
                                     found->wrong_wait ? "; tcgen05.wait::st does not wait for loads" : "");
    base_note(w->diagnostics, d, found->span, "loaded here");
    base_help(w->diagnostics, d, "T.ptx.tcgen05.wait.ld() between the load and the use");
    forget_load(f, found->span);
}

static bool is_load(const ir_expr *e) {
    return e->op == IR_PTX && starts(e->args[0]->at.string, "tcgen05.ld");
}

/* A part of what a load gave, as it stands: storing it in a register is no use. */
static const ir_var *moved(const ir_expr *e) {
    while (e->op == IR_LANE || e->op == IR_REINTERPRET)
        e = e->args[0];
    return e->op == IR_VAR ? e->at.var : NULL;
}

static void written(follow *f, const ir_tensor *t, const ir_expr *const *indices, uint32_t count,
                    const ir_expr *value) {
    tmem_walk *w = &f->walk;
    int64_t number = element_number(f, t, indices, count);
    const ir_var *from = moved(value);
    pending new = {.tensor = t, .index = number, .span = w->span};
    if (t->type.scope != IR_SCOPE_LOCAL || number < 0)
        return;
    for (size_t i = 0; i < f->now.loads.count; i++) {
        const pending *old = &f->now.loads.items[i];
        if (!same_register(old, &new))
            continue;
        base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0590", w->span,
                                         "writes a register that tcgen05.ld has not been waited for");
        base_note(w->diagnostics, d, old->span, "loaded here");
        base_help(w->diagnostics, d, "T.ptx.tcgen05.wait.ld() before the register is written");
        forget_load(f, old->span);
        break;
    }
    bool waits = is_load(value);
    for (size_t i = 0; from && !waits && i < f->now.loads.count; i++)
        if (f->now.loads.items[i].var == from) {
            new.span = f->now.loads.items[i].span;
            waits = true;
        }
    forget(f, &new);
    if (waits)
        base_vector_push(w->arena, &f->now.loads, new);
}

/* ---- cells ---- */

static bool same_cells(const tmem_address *a, int64_t width, const store *s) {
    return a->root == s->address.root && a->row == s->address.row && a->step == s->address.step &&
           a->lane == s->address.lane && a->column < s->address.column + s->width &&
           s->address.column < a->column + width;
}

static void touched(follow *f, const tmem_address *a, int64_t width, bool lanes, const char *op) {
    tmem_walk *w = &f->walk;
    for (size_t i = 0; a->root && i < f->now.stores.count; i++) {
        store *s = &f->now.stores.items[i];
        tmem_address place = *a;
        if (!lanes) {
            place.row = s->address.row;
            place.lane = s->address.lane;
        }
        if (!same_cells(&place, width, s))
            continue;
        base_diagnostic *d =
            tmem_report(w, BASE_ERROR, "T0585", w->span,
                        "%s on cells that tcgen05.st may still write: nothing has waited for it", op);
        base_note(w->diagnostics, d, s->span, "stored here");
        base_help(w->diagnostics, d, "T.ptx.tcgen05.wait.st() behind the store");
        f->now.stores.items[i] = f->now.stores.items[--f->now.stores.count];
        return;
    }
}

static void freed(follow *f, const tmem_address *a) {
    for (size_t i = 0; a->root && i < f->now.stores.count; i++)
        if (f->now.stores.items[i].address.root == a->root) {
            touched(f, &f->now.stores.items[i].address, 1, true, "tcgen05.dealloc");
            return;
        }
}

/* The declared tensor around a column of this allocation. */
static const ir_tensor *tensor_at(const follow *f, const tmem_address *a) {
    for (size_t i = 0; i < f->walk.tensors.count; i++) {
        const ir_tensor *t = f->walk.tensors.items[i];
        tmem_address start = t->data ? tmem_address_of(&f->walk, t->data) : (tmem_address){0};
        if (start.root == a->root && !start.step && a->column >= start.column &&
            a->column < start.column + tmem_columns_of(t))
            return t;
    }
    return NULL;
}

static void read_back(follow *f, const tmem_address *a) {
    tmem_walk *w = &f->walk;
    for (size_t i = 0; a->root && i < f->now.products.count; i++) {
        product *p = &f->now.products.items[i];
        const ir_tensor *t = tensor_at(f, a);
        if (p->progress != SYNCHRONISED || p->address.root != a->root)
            continue;
        if (t ? t != tensor_at(f, &p->address) : a->step || a->column != p->address.column)
            continue;
        base_diagnostic *d =
            tmem_report(w, BASE_WARNING, "T0586", w->span,
                        "tcgen05.ld behind a synchronisation without tcgen05.fence::after_thread_sync");
        base_note(w->diagnostics, d, p->synchronised, "the synchronisation");
        base_note(w->diagnostics, d, p->span, "what it waits for");
        base_help(w->diagnostics, d, "T.ptx.tcgen05.fence.after_thread_sync() behind the wait");
        p->progress = FENCED;
        return;
    }
}

/* ---- instructions ---- */

static void advance(follow *f, progress from, progress to) {
    for (size_t i = 0; i < f->now.products.count; i++) {
        product *p = &f->now.products.items[i];
        if (p->progress != from)
            continue;
        p->progress = to;
        if (to == SYNCHRONISED)
            p->synchronised = f->walk.span;
    }
}

static void waited(follow *f, bool for_loads) {
    if (for_loads)
        f->now.loads.count = 0;
    else
        f->now.stores.count = 0;
    for (size_t i = 0; i < f->now.loads.count; i++)
        f->now.loads.items[i].wrong_wait = true;
}

/* An address that stands for the same cells wherever it is written. */
static bool is_steady(const tmem_address *a) {
    return a->root && !(a->row && ir_expr_reads(a->row)) && !(a->step && ir_expr_reads(a->step));
}

static bool is_word(const ir_expr *e) { /* a descriptor has 64 bits */
    return ir_type_is_integer(e->type) && num_dtype_bits(e->type.dtype) == 32;
}

static void tensor_instruction(follow *f, const ir_expr *e, const char *name) {
    ptx_pattern pattern;
    base_builder why;
    if (starts(name, "tcgen05.wait::"))
        waited(f, starts(name, "tcgen05.wait::ld"));
    if (starts(name, "tcgen05.fence::after"))
        advance(f, SYNCHRONISED, FENCED);
    base_builder_start(&why, f->walk.arena);
    if (!ptx_pattern_parse(f->walk.arena, &f->walk.context->module->patterns, e->args[0]->at.string, &pattern,
                           &why))
        return;
    tmem_address a = tmem_operand_address(&f->walk, e, &pattern, tmem_address_operand(&pattern));
    if (starts(name, "tcgen05.ld.")) {
        touched(f, &a, tmem_width(name), true, "tcgen05.ld");
        read_back(f, &a);
    } else if (starts(name, "tcgen05.st.") && is_steady(&a)) {
        base_vector_push(f->walk.arena, &f->now.stores, ((store){a, tmem_width(name), f->walk.span}));
    } else if (starts(name, "tcgen05.mma") || starts(name, "tcgen05.cp.")) {
        touched(f, &a, 1, false, starts(name, "tcgen05.cp.") ? "tcgen05.cp" : "tcgen05.mma");
        const ir_expr *second = tmem_operand(e, &pattern, 1);
        if (starts(name, "tcgen05.mma") && second && is_word(second)) { /* A in tensor memory */
            tmem_address operand = tmem_operand_address(&f->walk, e, &pattern, 1);
            touched(f, &operand, 1, false, "tcgen05.mma");
        }
        if (a.root && !a.step)
            base_vector_push(f->walk.arena, &f->now.products,
                             ((product){a, f->walk.span, f->walk.span, ISSUED}));
    } else if (starts(name, "tcgen05.dealloc")) {
        freed(f, &a);
    }
}

static void instruction(void *user, const ir_expr *e) {
    follow *f = user;
    if (e->op == IR_TILE) {
        f->now.loads.count = f->now.stores.count = 0;
        advance(f, ISSUED, FENCED);
        advance(f, SYNCHRONISED, FENCED);
    }
    if (e->op == IR_CTA_SYNC || e->op == IR_CTA_SYNC_AND || e->op == IR_CTA_SYNC_OR)
        advance(f, ISSUED, SYNCHRONISED);
    if (e->op != IR_PTX)
        return;
    const char *name = e->args[0]->at.string;
    name += name[0] == '@' ? strcspn(name, " ") + 1 : 0;
    if (starts(name, "bar") || starts(name, "mbarrier.try_wait") || starts(name, "mbarrier.test_wait"))
        advance(f, ISSUED, SYNCHRONISED);
    if (starts(name, "tcgen05."))
        tensor_instruction(f, e, name);
}

static void expression(void *user, const ir_expr **e) {
    follow *f = user;
    if (!*e)
        return;
    static const ir_where calls = {.effects = IR_FLAG_SYNC}; /* instructions are among them */
    if (f->now.loads.count && !(f->destined && moved(*e)))
        ir_expr_visit(*e, used, f);
    ir_expr_visit_where(*e, &calls, instruction, f);
}

/* ---- statements ---- */

static void block(follow *f, const ir_stmt *body);

static void has_jump(void *user, ir_stmt *s) {
    bool *found = user;
    *found |= s->kind == IR_STMT_BREAK || s->kind == IR_STMT_CONTINUE || s->kind == IR_STMT_RETURN;
}

static void loop(follow *f, ir_stmt *body, bool runs) {
    bool jumps = false;
    state before = copied(f, &f->now);
    ir_stmt_visit(body, has_jump, &jumps);
    block(f, body);
    size_t kept = 0;
    for (size_t i = 0; i < f->now.stores.count; i++) /* others in every round */
        if (!f->now.stores.items[i].address.step && !f->now.stores.items[i].address.row)
            f->now.stores.items[kept++] = f->now.stores.items[i];
    f->now.stores.count = kept;
    if (!runs || jumps)
        f->now = met(f, &before, &f->now);
}

static void branch(follow *f, const ir_stmt *s) {
    state before = copied(f, &f->now);
    block(f, s->as.branch.then_body);
    state first = f->now;
    f->now = before;
    if (s->as.branch.else_body)
        block(f, s->as.branch.else_body);
    f->now = met(f, &first, &f->now);
}

static void statement(follow *f, ir_stmt *s) {
    int64_t rounds;
    f->walk.span = s->span;
    bool stores = s->kind == IR_STMT_STORE && s->as.store.tensor->type.scope == IR_SCOPE_LOCAL;
    f->destined = stores ? s->as.store.value : NULL;
    ir_stmt_expressions(s, expression, f);
    f->destined = NULL;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        block(f, s);
        return;
    case IR_STMT_LET:
        base_map_set(f->walk.lets, BASE_KEY(s->as.let.var), (void *)(uintptr_t)s->as.let.value);
        if (is_load(s->as.let.value))
            base_vector_push(f->walk.arena, &f->now.loads,
                             ((pending){.var = s->as.let.var, .span = s->span}));
        return;
    case IR_STMT_STORE:
        written(f, s->as.store.tensor, s->as.store.indices, s->as.store.count, s->as.store.value);
        return;
    case IR_STMT_DECLARE:
        if (s->as.declare.tensor->type.scope == IR_SCOPE_TMEM)
            base_vector_push(f->walk.arena, &f->walk.tensors, s->as.declare.tensor);
        return;
    case IR_STMT_IF:
        branch(f, s);
        return;
    case IR_STMT_FOR:
        loop(f, s->as.loop.body, ir_is_int(s->as.loop.extent, &rounds) && rounds > 0);
        return;
    case IR_STMT_WHILE:
        loop(f, s->as.while_loop.body, false);
        return;
    default:
        return;
    }
}

static void block(follow *f, const ir_stmt *body) {
    for (size_t i = 0; i < body->as.block.body.count; i++)
        statement(f, body->as.block.body.items[i]);
}

void lower_tensor_memory_waits(lower_context *context) {
    follow *f = BASE_NEW(context->arena, follow);
    f->walk = (tmem_walk){.context = context, .arena = context->arena, .diagnostics = context->diagnostics};
    f->walk.lets = base_map_create(context->arena);
    block(f, context->function->body);
}
