/* SPDX-License-Identifier: Apache-2.0
 * Rules of tensor memory that the text of a kernel shows, whatever it is run with: column counts, sizes that
 * grow, one cta_group, instructions of a whole warp under a guard of one lane, an address captured before it
 * is published, more columns than there are, tensor memory that is never freed; what one instruction shows
 * (lower_tensor_memory_place.c) and what is not waited for (lower_tensor_memory_wait.c). Changes nothing.
 * Everything that depends on values is the machine's to find. Sources: PTX ISA 9.0, 9.7.16 (tcgen05), and
 * docs/machine.md. */
#include "layout/layout.h"
#include "lower/lower_tensor_memory.h"
#include <string.h>

enum { SMALLEST = 32 };

/* ---- rules of one instruction ---- */

static void check_group(tmem_walk *w, const ptx_pattern *pattern, const char *name) {
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
    base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0529", w->span,
                                     "`%s` is of cta_group::%lld, the kernel uses cta_group::%lld",
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

static void check_lanes(tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, const char *name) {
    const char *what = "";
    const tmem_guard *wrong = NULL;
    tmem_guard own;
    if (!is_of_warp(pattern, name) || w->lane_reported)
        return;
    for (uint32_t i = 0; i < w->guard_count && !wrong; i++)
        if (tmem_picks_lanes(w, w->guards[i].condition, w->guards[i].negated, &what))
            wrong = &w->guards[i];
    if (!wrong && pattern->guard >= 0) {
        own = (tmem_guard){e->args[pattern->guard + 2], pattern->guard_negated, w->span};
        if (tmem_picks_lanes(w, own.condition, own.negated, &what))
            wrong = &own;
    }
    if (!wrong)
        return;
    w->lane_reported = true;
    base_builder text;
    base_builder_start(&text, w->arena);
    ir_expr_print(wrong->condition, &text);
    base_diagnostic *d =
        tmem_report(w, BASE_ERROR, "T0528", w->span,
                    "%s is executed by all 32 lanes of a warp, but the guard `%s` keeps lanes out: %s",
                    ptx_op_name(pattern->op), text.data, what);
    base_note(w->diagnostics, d, wrong->span, "the guard");
    base_help(w->diagnostics, d, "guard it by the warp alone, such as `if warp_id == 0:`");
}

static void list_tensors(const tmem_walk *w, base_builder *out) {
    for (size_t i = 0; i < w->tensors.count; i++) {
        const ir_tensor *t = w->tensors.items[i];
        base_builder_format(out, "%s%s (%lld columns)", i ? ", " : "", t->name,
                            (long long)tmem_columns_of(t));
    }
}

static void check_allocation(tmem_walk *w, const tmem_event *new) {
    int64_t total = new->columns;
    for (size_t i = 0; i < w->events.count; i++) {
        const tmem_event *old = w->events.items[i];
        if (!tmem_precedes(old, new->guards, new->guard_count))
            continue;
        if (old->op == PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT) {
            base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0532", new->span,
                                             "an allocation of tensor memory after the permit was given up");
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
            tmem_report(w, BASE_ERROR, "T0527", new->span,
                        "allocates %lld columns after an allocation of %lld: later ones may not be larger",
                        (long long)new->columns, (long long)old->columns);
        base_note(w->diagnostics, d, old->span, "the earlier allocation");
        base_help(w->diagnostics, d, "allocate the largest first");
        return;
    }
    if (new->columns > 0 && total > TMEM_COLUMNS && !w->too_many) {
        w->too_many = new;
        w->too_many_columns = total;
    }
}

/* Said at the end, when the tensors over the allocations are known. */
static void report_too_many(tmem_walk *w) {
    base_builder names;
    if (!w->too_many)
        return;
    base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0531", w->too_many->span,
                                     "%lld columns of tensor memory are allocated at a time; there are %d",
                                     (long long)w->too_many_columns, TMEM_COLUMNS);
    for (size_t i = 0; i < w->events.count && w->events.items[i] != w->too_many; i++)
        if (w->events.items[i]->op == PTX_OP_TCGEN05_ALLOC && w->events.items[i]->columns > 0)
            base_note(w->diagnostics, d, w->events.items[i]->span, "%lld columns before it",
                      (long long)w->events.items[i]->columns);
    base_builder_start(&names, w->arena);
    list_tensors(w, &names);
    if (names.size)
        base_help(w->diagnostics, d, "tensors there: %s", names.data);
}

static void check_columns(tmem_walk *w, tmem_event *new, const char *name) {
    int64_t n = new->columns;
    if (n < 0 || (n >= SMALLEST && n <= TMEM_COLUMNS && (n & (n - 1)) == 0))
        return;
    base_diagnostic *d =
        tmem_report(w, BASE_ERROR, "T0526", new->span,
                    "%s of %lld columns; 32, 64, 128, 256 or 512 are possible", name, (long long)n);
    int64_t next = SMALLEST;
    while (next < n && next < TMEM_COLUMNS)
        next *= 2;
    if (n <= TMEM_COLUMNS)
        base_help(w->diagnostics, d, "%lld is the next size", (long long)next);
    new->columns = -1; /* said once */
}

static void note_event(tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern) {
    tmem_event *new = BASE_NEW(w->arena, tmem_event);
    *new = (tmem_event){.op = pattern->op, .columns = -1, .span = w->span, .guard_count = w->guard_count};
    new->guards = base_arena_copy(w->arena, w->guards, w->guard_count * sizeof(tmem_guard) + 1);
    if (!tmem_constant(w, e, pattern, 1, &new->columns))
        new->columns = -1;
    const ir_expr *first = tmem_operand(e, pattern, 0);
    if (pattern->op == PTX_OP_TCGEN05_ALLOC) {
        new->slot = first ? tmem_slot_of(w, first) : NULL;
        const ir_expr *slot = first ? tmem_resolve(w, first) : NULL;
        while (slot && (slot->op == IR_SHARED_ADDRESS || slot->op == IR_CAST || slot->op == IR_REINTERPRET))
            slot = tmem_resolve(w, slot->args[0]);
        new->element = slot && slot->op == IR_ADDRESS ? slot : NULL;
        check_columns(w, new, "an allocation");
        check_allocation(w, new);
    } else if (pattern->op == PTX_OP_TCGEN05_DEALLOC) {
        check_columns(w, new, "a release");
        new->address = tmem_operand_address(w, e, pattern, 0);
        tmem_check_release(w, new);
    }
    base_vector_push(w->arena, &w->events, new);
}

static void instruction(void *user, const ir_expr *e) {
    tmem_walk *w = user;
    ptx_pattern pattern;
    base_builder why;
    if (e->op != IR_PTX)
        return;
    const char *name = e->args[0]->at.string;
    name += name[0] == '@' ? strcspn(name, " ") + 1 : 0;
    if (strncmp(name, "tcgen05.", 8) != 0)
        return;
    base_builder_start(&why, w->arena);
    if (!ptx_pattern_parse(w->arena, &w->context->module->patterns, e->args[0]->at.string, &pattern, &why))
        return;
    if (!w->first_use.file && (pattern.op == PTX_OP_TCGEN05_LD || pattern.op == PTX_OP_TCGEN05_ST))
        w->first_use = w->span;
    check_group(w, &pattern, name);
    check_lanes(w, e, &pattern, name);
    if (pattern.op == PTX_OP_TCGEN05_ALLOC || pattern.op == PTX_OP_TCGEN05_DEALLOC ||
        pattern.op == PTX_OP_TCGEN05_RELINQUISH_ALLOC_PERMIT)
        note_event(w, e, &pattern);
    tmem_check_place(w, e, &pattern, name);
}

static bool is_barrier(const ir_expr *e) {
    if (e->op == IR_GRID_SYNC || e->op == IR_CTA_SYNC || e->op == IR_CTA_SYNC_AND || e->op == IR_CTA_SYNC_OR)
        return true;
    if (e->op != IR_PTX)
        return false;
    const char *name = e->args[0]->at.string;
    return strncmp(name, "bar", 3) == 0 || strncmp(name, "mbarrier.try_wait", 17) == 0 ||
           strncmp(name, "mbarrier.test_wait", 18) == 0;
}

static void barrier(void *user, const ir_expr *e) {
    tmem_walk *w = user;
    if (!is_barrier(e))
        return;
    bool of_all = e->op != IR_PTX && w->guard_count == 0 && !w->jumped;
    for (size_t i = 0; i < w->events.count; i++) {
        w->events.items[i]->published = true;
        w->events.items[i]->behind |= of_all;
    }
}

static void expressions(void *user, const ir_expr **e) {
    static const ir_where calls = {.effects = IR_FLAG_SYNC}; /* instructions are among them */
    if (*e) {
        ir_expr_visit_where(*e, &calls, instruction, user);
        ir_expr_visit_where(*e, &calls, barrier, user);
    }
}

/* ---- declarations ---- */

static void note_capture(tmem_walk *w, const ir_var *var, const ir_expr *value) {
    const ir_tensor *slot = tmem_slot_of(w, value);
    tmem_capture c = {.var = var, .slot = slot, .span = w->span};
    if (!slot)
        return;
    for (size_t i = 0; i < w->events.count; i++) {
        const tmem_event *old = w->events.items[i];
        if (old->op == PTX_OP_TCGEN05_ALLOC && old->slot == slot && !old->published &&
            !(old->guard_count && tmem_precedes(old, w->guards, w->guard_count)) && tmem_threads(w) != 32)
            c.allocation = old;
    }
    base_vector_push(w->arena, &w->captures, c);
}

static void declaration(tmem_walk *w, const ir_tensor *tensor) {
    if (tensor->type.scope != IR_SCOPE_TMEM)
        return;
    base_vector_push(w->arena, &w->tensors, tensor);
    if (tmem_columns_of(tensor) > TMEM_COLUMNS) {
        base_builder names;
        base_builder_start(&names, w->arena);
        list_tensors(w, &names);
        base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0531", w->span,
                                         "'%s' reaches over %lld columns of tensor memory; there are %d",
                                         tensor->name, (long long)tmem_columns_of(tensor), TMEM_COLUMNS);
        base_help(w->diagnostics, d, "tensors there: %s", names.data);
    }
    tmem_check_declaration(w, tensor);
    for (size_t i = 0; tensor->data && tensor->data->op == IR_VAR && i < w->captures.count; i++) {
        tmem_capture *c = &w->captures.items[i];
        if (c->var != tensor->data->at.var || !c->allocation)
            continue;
        c->reported = true;
        base_diagnostic *d = tmem_report(
            w, BASE_ERROR, "T0530", w->span,
            "'%s' takes its address from '%s' here, before the allocation is published: other warps may "
            "read the slot before tcgen05.alloc has written it",
            tensor->name, c->slot->name);
        base_note(w->diagnostics, d, c->allocation->span, "the allocation that writes '%s'", c->slot->name);
        base_help(w->diagnostics, d, "a barrier of the block between them, such as cuda.cta_sync()");
    }
}

/* ---- statements ---- */

static void block(tmem_walk *w, const ir_stmt *body);

static void guarded(tmem_walk *w, const ir_expr *condition, bool negated, base_span span,
                    const ir_stmt *body) {
    if (!body)
        return;
    if (w->guard_count == TMEM_MAX_GUARDS) {
        block(w, body);
        return;
    }
    w->guards[w->guard_count++] = (tmem_guard){tmem_resolve(w, condition), negated, span};
    block(w, body);
    w->guard_count--;
}

static void statement(tmem_walk *w, ir_stmt *s) {
    int64_t rounds;
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
        guarded(w, s->as.branch.condition, false, s->span, s->as.branch.then_body);
        guarded(w, s->as.branch.condition, true, s->span, s->as.branch.else_body);
        return;
    case IR_STMT_FOR:
        /* A number of rounds that lanes do not share is a guard of the later rounds. */
        if (ir_is_int(s->as.loop.extent, &rounds))
            block(w, s->as.loop.body);
        else
            guarded(w, s->as.loop.extent, false, s->span, s->as.loop.body);
        return;
    case IR_STMT_WHILE:
        guarded(w, s->as.while_loop.condition, false, s->span, s->as.while_loop.body);
        return;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        w->jumped = true;
        return;
    default:
        return;
    }
}

static void block(tmem_walk *w, const ir_stmt *body) {
    for (size_t i = 0; i < body->as.block.body.count; i++)
        statement(w, body->as.block.body.items[i]);
}

/* ---- at the end ---- */

static void check_release(tmem_walk *w) {
    const tmem_event *first = NULL, *released = NULL;
    bool known = true;
    for (size_t i = 0; i < w->events.count; i++) {
        const tmem_event *e = w->events.items[i];
        if (e->op == PTX_OP_TCGEN05_ALLOC) {
            first = first ? first : e;
            known &= e->columns > 0 && e->slot;
        }
        released = e->op == PTX_OP_TCGEN05_DEALLOC && !released ? e : released;
    }
    if (!first && w->first_use.file)
        base_help(w->diagnostics,
                  tmem_report(w, BASE_WARNING, "T0591", w->first_use,
                              "tensor memory is used here and allocated nowhere in the kernel"),
                  "tcgen05.alloc by one warp, and its address from the slot behind a barrier");
    if (first && !released) {
        base_diagnostic *d = tmem_report(w, BASE_ERROR, "T0533", first->span,
                                         "tensor memory is allocated here and freed nowhere in the kernel");
        base_help(w->diagnostics, d,
                  "tcgen05.dealloc with the same address and columns before the end, by one warp");
        return;
    }
    for (size_t i = 0; known && first && i < w->events.count; i++) {
        const tmem_event *e = w->events.items[i];
        bool matches = e->op != PTX_OP_TCGEN05_DEALLOC || e->columns < 0;
        for (size_t k = 0; !matches && k < w->events.count; k++) {
            const tmem_event *made = w->events.items[k];
            matches = made->op == PTX_OP_TCGEN05_ALLOC && made->columns == e->columns;
        }
        if (matches && e->op == PTX_OP_TCGEN05_DEALLOC && tmem_allocation_of(w, &e->address))
            matches = tmem_allocation_of(w, &e->address)->columns == e->columns || e->columns < 0;
        if (matches)
            continue;
        base_diagnostic *d =
            tmem_report(w, BASE_ERROR, "T0534", e->span,
                        "frees %lld columns, but no allocation there has that many", (long long)e->columns);
        base_note(w->diagnostics, d, first->span, "an allocation of %lld columns", (long long)first->columns);
        base_help(w->diagnostics, d, "an allocation is freed whole");
        return;
    }
}

void lower_tensor_memory(lower_context *context) {
    tmem_walk *w = BASE_NEW(context->arena, tmem_walk);
    w->context = context;
    w->arena = context->arena;
    w->diagnostics = context->diagnostics;
    w->lets = base_map_create(context->arena);
    block(w, context->function->body);
    report_too_many(w);
    check_release(w);
    lower_tensor_memory_waits(context);
}
