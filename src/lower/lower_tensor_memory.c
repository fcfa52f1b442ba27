/* SPDX-License-Identifier: Apache-2.0
 * Rules of tensor memory that the text of a kernel shows, whatever it is run with: column counts, sizes that
 * grow, one cta_group, instructions of a whole warp under a guard of one lane, an address captured before it
 * is published, more columns than there are, tensor memory that is never freed. Changes nothing. Everything
 * that depends on values is the machine's to find. Sources: PTX ISA 9.0, 9.7.16 (tcgen05), and
 * docs/machine.md. */
#include "layout/layout.h"
#include "lower/lower_internal.h"
#include "ptx/ptx_pattern.h"
#include <stdarg.h>
#include <string.h>

enum { COLUMNS = 512, SMALLEST = 32, MAX_GUARDS = 64 };

typedef struct guard {
    const ir_expr *condition;
    bool negated;
    base_span span;
} guard;

typedef struct event { /* one allocation, release or relinquishing */
    ptx_op op;
    int64_t columns; /* -1: not a constant */
    const ir_tensor *slot;
    base_span span;
    guard *guards;
    uint32_t guard_count;
    bool published;
} event;

typedef struct capture { /* a binding that reads a slot */
    const ir_var *var;
    const ir_tensor *slot;
    const event *allocation; /* before it, not published; NULL */
    base_span span;
} capture;

typedef struct walk {
    lower_context *context;
    base_arena *arena;
    base_diagnostics *diagnostics;
    base_map *lets; /* ir_var -> value */
    guard guards[MAX_GUARDS];
    uint32_t guard_count;
    BASE_VECTOR(event *) events;
    BASE_VECTOR(capture) captures;
    BASE_VECTOR(const ir_tensor *) tensors;
    base_span span; /* of the statement */
    int64_t group;
    base_span group_span;
    bool group_reported, lane_reported;
} walk;

/* ---- expressions ---- */

static const ir_expr *resolve(const walk *w, const ir_expr *e) {
    for (unsigned i = 0; i < 64 && e->op == IR_VAR; i++) {
        const ir_expr *value = base_map_get(w->lets, BASE_KEY(e->at.var));
        if (!value)
            break;
        e = value;
    }
    return e;
}

/* The lane's own number, up to a constant: lane_id, or the thread's number modulo 32. */
static bool is_lane(const walk *w, const ir_expr *e, unsigned depth) {
    int64_t by;
    e = resolve(w, e);
    if (depth > 8)
        return false;
    if (e->op == IR_LANE_ID)
        return true;
    if (e->op == IR_CAST)
        return is_lane(w, e->args[0], depth + 1);
    if (e->op != IR_FLOORMOD && e->op != IR_TRUNCMOD && e->op != IR_BITAND)
        return false;
    const ir_expr *x = resolve(w, e->args[0]);
    if (!ir_is_int(resolve(w, e->args[1]), &by) || by != (e->op == IR_BITAND ? 31 : 32))
        return false;
    return x->op == IR_LINEAR_THREAD || (x->op == IR_THREAD_IDX && x->at.integer == 0);
}

static bool is_thread(const walk *w, const ir_expr *e) {
    e = resolve(w, e);
    if (e->op == IR_CAST)
        e = resolve(w, e->args[0]);
    return e->op == IR_LINEAR_THREAD || (e->op == IR_THREAD_IDX && e->at.integer == 0);
}

static bool is_elect(const walk *w, const ir_expr *e) {
    e = resolve(w, e);
    while (e->op == IR_CAST)
        e = resolve(w, e->args[0]);
    return e->op == IR_PTX && strncmp(e->args[0]->at.string, "elect.sync", 10) == 0;
}

/* True when the condition certainly holds in some lanes of a warp only. what: how it says so. */
static bool picks_lanes(const walk *w, const ir_expr *e, bool negated, const char **what, unsigned depth) {
    int64_t value;
    e = resolve(w, e);
    if (depth > 16)
        return false;
    if (e->op == IR_NOT)
        return picks_lanes(w, e->args[0], !negated, what, depth + 1);
    if (e->op == IR_AND && !negated)
        return picks_lanes(w, e->args[0], false, what, depth + 1) ||
               picks_lanes(w, e->args[1], false, what, depth + 1);
    *what = "elect.sync chooses one lane";
    if (is_elect(w, e))
        return true;
    if (e->count != 2 || !ir_is_int(resolve(w, e->args[1]), &value))
        return false;
    ir_op op = e->op;
    if (is_elect(w, e->args[0]))
        return op == IR_NE || op == IR_EQ || op == IR_GT;
    bool lane = is_lane(w, e->args[0], 0), thread = !lane && is_thread(w, e->args[0]);
    if (!lane && !thread)
        return false;
    *what = lane ? "it tests the lane" : "it tests the thread";
    if (op == IR_EQ || op == IR_NE)
        return true; /* one lane, or all but one */
    if (op == IR_LT || op == IR_GE)
        return lane ? value > 0 && value < 32 : value % 32 != 0;
    if (op == IR_LE || op == IR_GT)
        return lane ? value >= 0 && value < 31 : (value + 1) % 32 != 0;
    return false;
}

typedef struct slot_search {
    const walk *w;
    const ir_tensor *found;
} slot_search;

static void look_for_slot(void *user, const ir_expr *e) {
    slot_search *s = user;
    bool names = e->op == IR_LOAD || e->op == IR_ADDRESS || e->op == IR_DATA;
    if (names && e->at.tensor &&
        (e->at.tensor->type.scope == IR_SCOPE_SHARED || e->at.tensor->type.scope == IR_SCOPE_SHARED_DYN))
        s->found = e->at.tensor;
}

static const ir_tensor *slot_of(const walk *w, const ir_expr *e) {
    slot_search s = {w, NULL};
    ir_expr_visit(resolve(w, e), look_for_slot, &s);
    return s.found;
}

/* ---- order ---- */

/* Whoever runs b has run a before: a stands earlier, under no guard that b is not under. */
static bool precedes(const event *a, const guard *guards, uint32_t count) {
    for (uint32_t i = 0; i < a->guard_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count && !found; k++)
            found =
                guards[k].condition == a->guards[i].condition && guards[k].negated == a->guards[i].negated;
        if (!found)
            return false;
    }
    return true;
}

static base_diagnostic *report(walk *w, const char *code, base_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static base_diagnostic *report(walk *w, const char *code, base_span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *d = base_report_list(w->diagnostics, BASE_ERROR, code, span, format, arguments);
    va_end(arguments);
    return d;
}

/* ---- rules of one instruction ---- */

static void check_group(walk *w, const ptx_pattern *pattern, const char *name) {
    int64_t group = 0;
    for (uint32_t i = 0; i < pattern->mod_count; i++)
        group = pattern->mods[i] == PTX_MOD_CTA_GROUP__1   ? 1
                : pattern->mods[i] == PTX_MOD_CTA_GROUP__2 ? 2
                                                           : group;
    bool is_tensor = strncmp(name, "tcgen05.", 8) == 0;
    if (group == 0 || !is_tensor)
        return;
    if (w->group == 0) {
        w->group = group;
        w->group_span = w->span;
        return;
    }
    if (w->group == group || w->group_reported)
        return;
    w->group_reported = true;
    base_diagnostic *d =
        report(w, "T0529", w->span, "`%s` is of cta_group::%lld, the kernel uses cta_group::%lld",
               ptx_op_name(pattern->op), (long long)group, (long long)w->group);
    base_note(w->diagnostics, d, w->group_span, "the first instruction with a cta_group");
    base_help(w->diagnostics, d, "all tcgen05 instructions of a kernel have the same cta_group");
}

static bool is_of_warp(const ptx_pattern *pattern, const char *name) {
    bool aligned = false;
    for (uint32_t i = 0; i < pattern->mod_count; i++)
        aligned |= pattern->mods[i] == PTX_MOD_ALIGNED;
    return aligned && strncmp(name, "tcgen05.", 8) == 0;
}

static void check_lanes(walk *w, const ir_expr *e, const ptx_pattern *pattern, const char *name) {
    const char *what = "";
    const guard *wrong = NULL;
    guard own;
    if (!is_of_warp(pattern, name) || w->lane_reported)
        return;
    for (uint32_t i = 0; i < w->guard_count && !wrong; i++)
        if (picks_lanes(w, w->guards[i].condition, w->guards[i].negated, &what, 0))
            wrong = &w->guards[i];
    if (!wrong && pattern->guard >= 0) {
        own = (guard){e->args[pattern->guard + 2], pattern->guard_negated, w->span};
        if (picks_lanes(w, own.condition, own.negated, &what, 0))
            wrong = &own;
    }
    if (!wrong)
        return;
    w->lane_reported = true;
    base_builder text;
    base_builder_start(&text, w->arena);
    ir_expr_print(wrong->condition, &text);
    base_diagnostic *d =
        report(w, "T0528", w->span,
               "%s is executed by all 32 lanes of a warp, but the guard `%s` keeps lanes out: %s",
               ptx_op_name(pattern->op), text.data, what);
    base_note(w->diagnostics, d, wrong->span, "the guard");
    base_help(w->diagnostics, d, "guard it by the warp alone, such as `if warp_id == 0:`");
}

static void list_tensors(const walk *w, base_builder *out) {
    for (size_t i = 0; i < w->tensors.count; i++) {
        const ir_tensor *t = w->tensors.items[i];
        int64_t span = 0;
        if (t->type.layout && layout_span(t->type.layout, LAYOUT_AXIS_TCOL, &span))
            span = (span * num_dtype_bits(t->type.dtype) * t->type.lanes + 31) / 32;
        base_builder_format(out, "%s%s (%lld columns)", i ? ", " : "", t->name, (long long)span);
    }
}

static void check_allocation(walk *w, const event *new) {
    int64_t total = new->columns;
    for (size_t i = 0; i < w->events.count; i++) {
        const event *old = w->events.items[i];
        if (!precedes(old, new->guards, new->guard_count))
            continue;
        if (old->op == PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT) {
            base_diagnostic *d =
                report(w, "T0532", new->span, "an allocation of tensor memory after the permit was given up");
            base_note(w->diagnostics, d, old->span, "tcgen05.relinquish_alloc_permit");
            base_help(w->diagnostics, d, "allocate first; relinquish after the last allocation");
            return;
        }
        if (old->op == PTX_OP_TCGEN05_DEALLOC)
            total -= old->columns > 0 ? old->columns : total;
        if (old->op != PTX_OP_TCGEN05_ALLOC || old->columns < 0)
            continue;
        total += old->columns;
        if (new->columns <= old->columns || new->columns < 0)
            continue;
        base_diagnostic *d =
            report(w, "T0527", new->span,
                   "allocates %lld columns after an allocation of %lld: later ones may not be larger",
                   (long long)new->columns, (long long)old->columns);
        base_note(w->diagnostics, d, old->span, "the earlier allocation");
        base_help(w->diagnostics, d, "allocate the largest first");
        return;
    }
    if (new->columns > 0 && total > COLUMNS) {
        base_builder names;
        base_builder_start(&names, w->arena);
        list_tensors(w, &names);
        base_diagnostic *d = report(w, "T0531", new->span,
                                    "%lld columns of tensor memory are allocated at a time; there are %d",
                                    (long long)total, COLUMNS);
        if (names.size)
            base_help(w->diagnostics, d, "tensors there: %s", names.data);
    }
}

static void check_columns(walk *w, event *new, const char *name) {
    int64_t n = new->columns;
    if (n < 0 || (n >= SMALLEST && n <= COLUMNS && (n & (n - 1)) == 0))
        return;
    base_diagnostic *d =
        report(w, "T0526", new->span, "%s of %lld columns; 32, 64, 128, 256 or 512 are possible", name,
               (long long)n);
    int64_t next = SMALLEST;
    while (next < n && next < COLUMNS)
        next *= 2;
    if (n <= COLUMNS)
        base_help(w->diagnostics, d, "%lld is the next size", (long long)next);
    new->columns = -1; /* said once */
}

static void note_event(walk *w, const ir_expr *e, const ptx_pattern *pattern) {
    event *new = BASE_NEW(w->arena, event);
    *new = (event){.op = pattern->op, .columns = -1, .span = w->span, .guard_count = w->guard_count};
    new->guards = base_arena_copy(w->arena, w->guards, w->guard_count * sizeof(guard) + 1);
    if (e->count >= 4 && !ir_is_int(resolve(w, e->args[3]), &new->columns))
        new->columns = -1;
    if (pattern->op == PTX_OP_TCGEN05_ALLOC) {
        new->slot = e->count > 2 ? slot_of(w, e->args[2]) : NULL;
        check_columns(w, new, "an allocation");
        check_allocation(w, new);
    } else if (pattern->op == PTX_OP_TCGEN05_DEALLOC) {
        check_columns(w, new, "a release");
    }
    base_vector_push(w->arena, &w->events, new);
}

static void instruction(void *user, const ir_expr *e) {
    walk *w = user;
    ptx_pattern pattern;
    base_builder why;
    if (e->op != IR_PTX)
        return;
    const char *name = e->args[0]->at.string;
    name += name[0] == '@' ? strcspn(name, " ") + 1 : 0;
    if (strncmp(name, "tcgen05.", 8) != 0)
        return;
    base_builder_start(&why, w->arena);
    if (!ptx_pattern_parse(w->arena, e->args[0]->at.string, &pattern, &why))
        return;
    check_group(w, &pattern, name);
    check_lanes(w, e, &pattern, name);
    if (pattern.op == PTX_OP_TCGEN05_ALLOC || pattern.op == PTX_OP_TCGEN05_DEALLOC ||
        pattern.op == PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT)
        note_event(w, e, &pattern);
}

static bool is_barrier(const ir_expr *e) {
    if (e->op == IR_CTA_SYNC || e->op == IR_CTA_SYNC_AND || e->op == IR_CTA_SYNC_OR)
        return true;
    if (e->op != IR_PTX)
        return false;
    const char *name = e->args[0]->at.string;
    return strncmp(name, "bar", 3) == 0 || strncmp(name, "mbarrier.try_wait", 17) == 0 ||
           strncmp(name, "mbarrier.test_wait", 18) == 0;
}

static void barrier(void *user, const ir_expr *e) {
    walk *w = user;
    if (is_barrier(e))
        for (size_t i = 0; i < w->events.count; i++)
            w->events.items[i]->published = true;
}

static void expressions(void *user, const ir_expr **e) {
    if (*e) {
        ir_expr_visit(*e, instruction, user);
        ir_expr_visit(*e, barrier, user);
    }
}

/* ---- declarations ---- */

static void note_capture(walk *w, const ir_var *var, const ir_expr *value) {
    const ir_tensor *slot = slot_of(w, value);
    capture c = {var, slot, NULL, w->span};
    if (!slot)
        return;
    for (size_t i = 0; i < w->events.count; i++) {
        const event *old = w->events.items[i];
        if (old->op == PTX_OP_TCGEN05_ALLOC && old->slot == slot && !old->published &&
            !(old->guard_count && precedes(old, w->guards, w->guard_count)))
            c.allocation = old;
    }
    base_vector_push(w->arena, &w->captures, c);
}

static void declaration(walk *w, const ir_tensor *tensor) {
    int64_t span;
    if (tensor->type.scope != IR_SCOPE_TMEM)
        return;
    base_vector_push(w->arena, &w->tensors, tensor);
    if (tensor->type.layout && layout_span(tensor->type.layout, LAYOUT_AXIS_TCOL, &span)) {
        int64_t columns = (span * num_dtype_bits(tensor->type.dtype) * tensor->type.lanes + 31) / 32;
        if (columns > COLUMNS) {
            base_builder names;
            base_builder_start(&names, w->arena);
            list_tensors(w, &names);
            base_diagnostic *d =
                report(w, "T0531", w->span, "'%s' reaches over %lld columns of tensor memory; there are %d",
                       tensor->name, (long long)columns, COLUMNS);
            base_help(w->diagnostics, d, "tensors there: %s", names.data);
        }
    }
    for (size_t i = 0; tensor->data && tensor->data->op == IR_VAR && i < w->captures.count; i++) {
        const capture *c = &w->captures.items[i];
        if (c->var != tensor->data->at.var || !c->allocation)
            continue;
        base_diagnostic *d = report(
            w, "T0530", w->span,
            "'%s' takes its address from '%s' here, before the allocation is published: other warps may "
            "read the slot before tcgen05.alloc has written it",
            tensor->name, c->slot->name);
        base_note(w->diagnostics, d, c->allocation->span, "the allocation that writes '%s'", c->slot->name);
        base_help(w->diagnostics, d, "a barrier of the block between them, such as cuda.cta_sync()");
    }
}

/* ---- statements ---- */

static void block(walk *w, const ir_stmt *body);

static void guarded(walk *w, const ir_stmt *s, const ir_stmt *body, bool negated) {
    if (!body)
        return;
    if (w->guard_count == MAX_GUARDS) {
        block(w, body);
        return;
    }
    w->guards[w->guard_count++] = (guard){resolve(w, s->as.branch.condition), negated, s->span};
    block(w, body);
    w->guard_count--;
}

static void statement(walk *w, ir_stmt *s) {
    w->span = s->span;
    ir_stmt_expressions(s, expressions, w);
    switch (s->kind) {
    case IR_STMT_BLOCK:
        block(w, s);
        return;
    case IR_STMT_LET:
        base_map_set(w->lets, BASE_KEY(s->as.let.var), (void *)(uintptr_t)s->as.let.value);
        note_capture(w, s->as.let.var, s->as.let.value);
        return;
    case IR_STMT_DECLARE:
        declaration(w, s->as.declare.tensor);
        return;
    case IR_STMT_IF:
        guarded(w, s, s->as.branch.then_body, false);
        guarded(w, s, s->as.branch.else_body, true);
        return;
    case IR_STMT_FOR:
        block(w, s->as.loop.body);
        return;
    case IR_STMT_WHILE:
        block(w, s->as.while_loop.body);
        return;
    default:
        return;
    }
}

static void block(walk *w, const ir_stmt *body) {
    for (size_t i = 0; i < body->as.block.body.count; i++)
        statement(w, body->as.block.body.items[i]);
}

/* ---- at the end ---- */

static void check_release(walk *w) {
    const event *first = NULL, *released = NULL;
    bool known = true;
    for (size_t i = 0; i < w->events.count; i++) {
        const event *e = w->events.items[i];
        if (e->op == PTX_OP_TCGEN05_ALLOC) {
            first = first ? first : e;
            known &= e->columns > 0 && e->slot;
        }
        released = e->op == PTX_OP_TCGEN05_DEALLOC && !released ? e : released;
    }
    if (first && !released) {
        base_diagnostic *d = report(w, "T0533", first->span,
                                    "tensor memory is allocated here and freed nowhere in the kernel");
        base_help(w->diagnostics, d,
                  "tcgen05.dealloc with the same address and columns before the end, by one warp");
        return;
    }
    for (size_t i = 0; known && first && i < w->events.count; i++) {
        const event *e = w->events.items[i];
        bool matches = e->op != PTX_OP_TCGEN05_DEALLOC || e->columns < 0;
        for (size_t k = 0; !matches && k < w->events.count; k++)
            matches =
                w->events.items[k]->op == PTX_OP_TCGEN05_ALLOC && w->events.items[k]->columns == e->columns;
        if (matches)
            continue;
        base_diagnostic *d =
            report(w, "T0534", e->span, "frees %lld columns, but no allocation has that many",
                   (long long)e->columns);
        base_note(w->diagnostics, d, first->span, "an allocation of %lld columns", (long long)first->columns);
        base_help(w->diagnostics, d, "an allocation is freed whole");
        return;
    }
}

void lower_tensor_memory(lower_context *context) {
    walk *w = BASE_NEW(context->arena, walk);
    w->context = context;
    w->arena = context->arena;
    w->diagnostics = context->diagnostics;
    w->lets = base_map_create(context->arena);
    block(w, context->function->body);
    check_release(w);
}
