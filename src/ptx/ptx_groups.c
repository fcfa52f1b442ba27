/* SPDX-License-Identifier: Apache-2.0
 * All tcgen05 instructions of a kernel have one cta_group, those of the functions that it calls included (PTX
 * ISA 9.7.16.7 and others; ptxas refuses a kernel with both that it can reach). Must not know what the
 * instructions do. */
#include <string.h>
#include "ptx/ptx.h"

typedef struct group_walk {
    const ptx_module *module;
    const ptx_function *kernel;
    base_arena *arena;
    uint32_t *seen; /* per function: the last kernel that came there, + 1 */
    const ptx_instruction *first;
    bool second; /* reported */
} group_walk;

static unsigned group_of(const ptx_instruction *i) {
    if (strncmp(ptx_op_name(i->op), "tcgen05.", 8) != 0)
        return 0;
    return ptx_has(i, PTX_MOD_CTA_GROUP__1) ? 1 : ptx_has(i, PTX_MOD_CTA_GROUP__2) ? 2 : 0;
}

static void meet(group_walk *w, const ptx_instruction *i) {
    if (w->first == NULL || w->second || group_of(w->first) == group_of(i)) {
        w->first = w->first == NULL ? i : w->first;
        return;
    }
    w->second = true;
    base_diagnostic *d =
        base_report(w->module->diagnostics, BASE_ERROR, "T0749", i->span,
                    "`%s` with cta_group::%u in kernel `%s`, which has cta_group::%u elsewhere",
                    ptx_op_name(i->op), group_of(i), w->kernel->name, group_of(w->first));
    if (d != NULL) {
        d->help = "all tcgen05 instructions of a kernel, and of what it calls, have the same cta_group";
        base_note(w->module->diagnostics, d, w->first->span, "cta_group::%u here", group_of(w->first));
    }
}

/* The functions that wait to be walked stand in `waiting`, each once: there is room for all. */
static void walk(group_walk *w, const ptx_function **waiting) {
    size_t count = 0;
    waiting[count++] = w->kernel;
    w->seen[w->kernel->id] = w->kernel->id + 1;
    while (count != 0 && !w->second) {
        const ptx_function *function = waiting[--count];
        if (function->instructions.count == 0)
            continue;
        const ptx_graph *graph = ptx_graph_build(w->arena, function);
        for (size_t n = 0; n < function->instructions.count; n++) {
            const ptx_instruction *i = &function->instructions.items[n];
            if (!graph->blocks[graph->block_of[n]].reachable)
                continue;
            if (group_of(i) != 0)
                meet(w, i);
            for (unsigned k = 0; k < i->operand_count; k++) {
                const ptx_function *called =
                    i->operands[k].kind == PTX_OPERAND_FUNCTION ? i->operands[k].of.function : NULL;
                if (called != NULL && called->alias != NULL)
                    called = called->alias;
                if (called == NULL || w->seen[called->id] == w->kernel->id + 1)
                    continue;
                w->seen[called->id] = w->kernel->id + 1;
                waiting[count++] = called;
            }
        }
    }
}

bool ptx_verify_groups(const ptx_module *module) {
    base_arena *arena = base_arena_create(base_arena_heap(module->arena));
    size_t count = module->functions.count;
    const ptx_function **waiting = BASE_NEW_ARRAY(arena, const ptx_function *, count + 1);
    uint32_t *seen = BASE_NEW_ARRAY(arena, uint32_t, count + 1);
    bool good = true;
    for (size_t f = 0; f < count; f++) {
        group_walk w = {.module = module, .kernel = module->functions.items[f], .arena = arena, .seen = seen};
        if (!w.kernel->is_entry)
            continue;
        walk(&w, waiting);
        good &= !w.second;
    }
    base_arena_destroy(arena);
    return good;
}
