/* SPDX-License-Identifier: Apache-2.0
 * Rules of tensor memory about one instruction or declaration and its place: who issues it, whose lanes it
 * names, what was allocated or freed where it goes. Everything that depends on values is the machine's to
 * find. Source: PTX ISA 9.0, 9.7.16 (tcgen05). */
#include "lower/lower_tensor_memory.h"
#include <string.h>

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* ---- one thread ---- */

/* The matrix unit is started by one thread: nothing that stands around this keeps lanes out. */
static void check_issuer(tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, const char *name) {
    int64_t threads = tmem_threads(w);
    if (!starts(name, "tcgen05.mma") && !starts(name, "tcgen05.cp.") && !starts(name, "tcgen05.commit.") &&
        !starts(name, "tcgen05.shift."))
        return;
    if (threads < 2 || !tmem_whole_warps(w))
        return;
    if (pattern->guard >= 0 && !tmem_is_uniform(w, e->args[pattern->guard + 2]))
        return;
    base_diagnostic *d =
        tmem_report(w, BASE_ERROR, "T0580", w->span,
                    "%s is started by one thread, but %lld lanes of the warp execute it here",
                    ptx_op_name(pattern->op), (long long)(threads < 32 ? threads : 32));
    base_help(w->diagnostics, d, "guard it by one thread, such as `if T.ptx.elect_sync():` within one warp");
}

static void check_pair(tmem_walk *w, const ptx_pattern *pattern) {
    const ir_launch *launch = &w->context->function->launch;
    int64_t size, all = 1;
    if (w->group != 2 || w->pair_reported || !launch->present)
        return;
    for (int i = 0; i < 3; i++) {
        if (launch->cluster[i] && !ir_is_int(launch->cluster[i], &size))
            return;
        all *= launch->cluster[i] ? size : 1;
    }
    if (all % 2 == 0)
        return;
    w->pair_reported = true;
    base_builder how;
    base_builder_start(&how, w->arena);
    base_builder_format(&how, all == 1 ? "without clusters" : "in clusters of %lld", (long long)all);
    base_diagnostic *d = tmem_report(w, BASE_WARNING, "T0581", w->span,
                                     "%s of cta_group::2 needs pairs of CTAs, but the kernel is launched %s",
                                     ptx_op_name(pattern->op), how.data);
    base_help(w->diagnostics, d,
              "clusters of two CTAs, such as T.cta_id_in_cluster([2]) or LaunchConfig(cluster=(2,))");
}

/* ---- lanes ---- */

static void check_window(tmem_walk *w, const tmem_address *a) {
    int64_t lane = a->lane, warp = tmem_only_warp(w), threads = tmem_threads(w);
    if (!a->root || a->row || a->step || lane < 0 || lane > 127) /* step may bring lanes */
        return;
    if (warp < 0) {
        for (uint32_t i = 0; i < w->guard_count; i++)
            if (!tmem_is_block_uniform(w, w->guards[i].condition))
                return;
        if (w->jumped || threads <= 32)
            return;
        warp = lane < 32 ? 1 : 0;
    }
    if (lane / 32 == warp % 4)
        return;
    base_diagnostic *d = tmem_report(
        w, BASE_WARNING, "T0582", w->span,
        "lane %lld of tensor memory in warp %lld, which reaches lanes %lld to %lld", (long long)lane,
        (long long)warp, (long long)(warp % 4 * 32), (long long)(warp % 4 * 32 + 31));
    base_help(w->diagnostics, d,
              "warp w of four reaches lanes 32 * w to 32 * w + 31: add `warp_id * 32` to the row");
}

/* ---- allocations ---- */

const tmem_event *tmem_allocation_of(const tmem_walk *w, const tmem_address *a) {
    const tmem_event *found = NULL;
    for (size_t i = 0; i < w->events.count; i++) {
        const tmem_event *e = w->events.items[i];
        if (e->op != PTX_OP_TCGEN05_ALLOC)
            continue;
        if (!e->element)
            return NULL;
        if (!tmem_is_allocated_by(a, e))
            continue;
        if (found)
            return NULL;
        found = e;
    }
    return found;
}

/* The release that all who come here have behind them, and no allocation since; NULL: none. */
static const tmem_event *release_before(const tmem_walk *w, const tmem_address *a) {
    const tmem_event *found = NULL;
    for (size_t i = 0; a->root && i < w->events.count; i++) {
        const tmem_event *e = w->events.items[i];
        if (e->op == PTX_OP_TCGEN05_ALLOC && (!e->element || tmem_is_allocated_by(a, e)))
            found = NULL;
        if (e->op == PTX_OP_TCGEN05_DEALLOC && e->address.root == a->root && !e->address.step && !a->step &&
            e->address.column == 0 && (e->behind || tmem_precedes(e, w->guards, w->guard_count)))
            found = e;
    }
    return found;
}

static void check_columns(tmem_walk *w, const tmem_address *a, int64_t width, const char *what) {
    const tmem_event *made = tmem_allocation_of(w, a);
    if (!made || made->columns < 0 || a->step || a->column + width <= made->columns)
        return;
    base_diagnostic *d =
        tmem_report(w, BASE_ERROR, "T0583", w->span, "%s reaches column %lld of an allocation of %lld", what,
                    (long long)(a->column + width - 1), (long long)made->columns);
    base_note(w->diagnostics, d, made->span, "the allocation");
    base_help(w->diagnostics, d, "columns 0 to %lld are its own", (long long)made->columns - 1);
}

void tmem_check_declaration(tmem_walk *w, const ir_tensor *tensor) {
    base_builder what;
    if (!tensor->data || tmem_columns_of(tensor) < 0 || tmem_columns_of(tensor) > TMEM_COLUMNS)
        return;
    tmem_address a = tmem_address_of(w, tensor->data);
    base_builder_start(&what, w->arena);
    base_builder_format(&what, "'%s'", tensor->name);
    if (a.root && !a.row)
        check_columns(w, &a, tmem_columns_of(tensor), what.data);
}

static void check_freed(tmem_walk *w, const tmem_address *a, const char *op) {
    const tmem_event *freed = release_before(w, a);
    if (!freed)
        return;
    base_diagnostic *d =
        tmem_report(w, BASE_ERROR, "T0587", w->span, "%s on tensor memory that was given back before", op);
    base_note(w->diagnostics, d, freed->span, "tcgen05.dealloc");
    base_help(w->diagnostics, d, "free it after the last use, behind a barrier of the block");
}

void tmem_check_release(tmem_walk *w, tmem_event *release) {
    const tmem_address *a = &release->address;
    const tmem_event *made = tmem_allocation_of(w, a), *freed = release_before(w, a);
    base_diagnostic *d;
    if (!made)
        return;
    if (!a->step && !a->row && (a->column || a->lane)) {
        d = tmem_report(w, BASE_ERROR, "T0589", w->span,
                        "frees column %lld of an allocation: only its first stands for it",
                        (long long)a->column);
        base_note(w->diagnostics, d, made->span, "the allocation");
        base_help(w->diagnostics, d, "tcgen05.dealloc with the address that tcgen05.alloc wrote");
        return;
    }
    if (freed) {
        d = tmem_report(w, BASE_ERROR, "T0588", w->span, "tensor memory that was given back before");
        base_note(w->diagnostics, d, freed->span, "tcgen05.dealloc");
        base_help(w->diagnostics, d, "free an allocation once");
        return;
    }
    if (tmem_threads(w) <= 32 || w->jumped || made->guard_count == 0)
        return;
    for (uint32_t i = 0; i < w->guard_count; i++)
        if (!tmem_is_block_uniform(w, w->guards[i].condition))
            return;
    d = tmem_report(w, BASE_ERROR, "T0588", w->span,
                    "every warp of the block frees this, but one warp allocated it");
    base_note(w->diagnostics, d, made->span, "the allocation");
    base_help(w->diagnostics, d, "one warp frees it: `if warp_id == 0:`");
}

/* ---- publication ---- */

typedef struct mention {
    const void *what;
    bool found;
} mention;

static void look_for_var(void *user, const ir_expr *e) {
    mention *m = user;
    m->found |= e->op == IR_VAR && e->at.var == m->what;
}

static void look_for_load(void *user, const ir_expr *e) {
    mention *m = user;
    m->found |= e == m->what;
}

static void check_published(tmem_walk *w, const ir_expr *given, const tmem_address *a) {
    for (size_t i = 0; a->root && i < w->events.count; i++) {
        const tmem_event *made = w->events.items[i];
        if (made->op != PTX_OP_TCGEN05_ALLOC || !tmem_is_allocated_by(a, made) || tmem_threads(w) <= 32)
            continue;
        base_span where = w->span;
        mention direct = {a->root, false};
        ir_expr_visit(given, look_for_load, &direct);
        bool early = direct.found && !made->published && !tmem_precedes(made, w->guards, w->guard_count);
        for (size_t k = 0; !early && k < w->captures.count; k++) {
            tmem_capture *c = &w->captures.items[k];
            mention bound = {c->var, false};
            ir_expr_visit(given, look_for_var, &bound);
            early = bound.found && c->allocation == made && !c->reported;
            if (early) {
                c->reported = true;
                where = c->span;
            }
        }
        if (!early)
            continue;
        base_diagnostic *d = tmem_report(
            w, BASE_ERROR, "T0530", where,
            "'%s' is read here for an address, before the allocation is published: other warps may read "
            "the slot before tcgen05.alloc has written it",
            made->slot->name);
        base_note(w->diagnostics, d, made->span, "the allocation that writes '%s'", made->slot->name);
        base_help(w->diagnostics, d, "a barrier of the block between them, such as cuda.cta_sync()");
        return;
    }
}

/* ---- all of them ---- */

void tmem_check_place(tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, const char *name) {
    base_builder what;
    check_issuer(w, e, pattern, name);
    check_pair(w, pattern);
    bool moves = starts(name, "tcgen05.ld.") || starts(name, "tcgen05.st.");
    const ir_expr *given = tmem_operand(e, pattern, tmem_address_operand(pattern));
    if (!given || (!moves && !starts(name, "tcgen05.mma") && !starts(name, "tcgen05.cp.")))
        return;
    tmem_address a = tmem_operand_address(w, e, pattern, tmem_address_operand(pattern));
    check_published(w, given, &a);
    check_freed(w, &a, ptx_op_name(pattern->op));
    if (!moves)
        return;
    check_window(w, &a);
    base_builder_start(&what, w->arena);
    base_builder_format(&what, "a %s", ptx_op_name(pattern->op));
    check_columns(w, &a, tmem_width(name), what.data);
}
