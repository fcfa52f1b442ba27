/* SPDX-License-Identifier: Apache-2.0
 * The picture of a run's tensor memory: columns down, the order of events across; a box for each allocation,
 * and in it one for what each instruction touches. */
#include "api/api_tmem.h"
#include "view/view_memory.h"

typedef BASE_VECTOR(view_memory_box) boxes;
enum { SLOTS = 12 }; /* of accesses that overlap */

static uint32_t clipped(uint64_t order) {
    return order < UINT32_MAX ? (uint32_t)order : UINT32_MAX - 1;
}

/* From the allocation to the release of the same columns, or to the end. */
static void add_allocations(const api_tmem_call *call, const vm_tmem_history *history, boxes *list) {
    uint64_t end = 0;
    for (size_t i = 0; i < history->event_count; i++)
        end = history->events[i].last > end ? history->events[i].last : end;
    for (size_t i = 0; i < history->event_count; i++) {
        const vm_tmem_event *e = &history->events[i], *freed = NULL;
        if (e->kind != VM_TMEM_EVENT_ALLOCATE)
            continue;
        for (size_t k = i + 1; k < history->event_count; k++)
            if (history->events[k].kind == VM_TMEM_EVENT_FREE && history->events[k].column == e->column)
                freed = &history->events[k];
        base_place at = api_tmem_place_of(call, e->instruction);
        view_memory_box box = {.name = base_arena_format(call->arena, "allocated in line %u%s", at.line,
                                                         freed ? "" : ", not released"),
                               .offset = e->column,
                               .bytes = e->column_end - e->column,
                               .first = clipped(e->first),
                               .last = clipped(freed ? freed->last : end)};
        base_vector_push(call->arena, list, box);
    }
}

static bool meet(const view_memory_box *a, const view_memory_box *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes && a->first <= b->last &&
           b->first <= a->last;
}

/* The first slot that no box has at the same columns and the same time; the last one when there is none. */
static unsigned free_slot(const boxes *list, size_t first, const view_memory_box *box) {
    for (unsigned slot = 0; slot + 1 < SLOTS; slot++) {
        bool taken = false;
        for (size_t k = first; k < list->count && !taken; k++)
            taken = list->items[k].slot == slot && meet(&list->items[k], box);
        if (!taken)
            return slot;
    }
    return SLOTS - 1;
}

/* How many slots they need. */
static unsigned add_accesses(const api_tmem_call *call, const vm_tmem_history *history, boxes *list) {
    api_tmem_places places = {0};
    size_t first = list->count;
    unsigned slots = 1;
    for (size_t i = 0; i < history->event_count; i++)
        api_tmem_add(call, &places, &history->events[i]);
    for (size_t i = 0; i < places.count; i++) {
        const api_tmem_place *p = &places.items[i];
        vm_tmem_event all = p->warps.items[0];
        if (api_tmem_is_columns(p->kind) || p->kind == VM_TMEM_EVENT_COMMIT)
            continue;
        for (size_t k = 1; k < p->warps.count; k++) {
            const vm_tmem_event *e = &p->warps.items[k];
            all.first = e->first < all.first ? e->first : all.first;
            all.last = e->last > all.last ? e->last : all.last;
            all.column = e->column < all.column ? e->column : all.column;
            all.column_end = e->column_end > all.column_end ? e->column_end : all.column_end;
        }
        view_memory_box box = {
            .name = base_arena_format(call->arena, "%s in line %u", api_tmem_kind_name(p->kind), p->at.line),
            .offset = all.column,
            .bytes = all.column_end - all.column,
            .first = clipped(all.first),
            .last = clipped(all.last),
            .part = true};
        box.slot = free_slot(list, first, &box);
        slots = box.slot + 1 > slots ? box.slot + 1 : slots;
        base_vector_push(call->arena, list, box);
    }
    return slots;
}

void api_tmem_svg(const api_tmem_call *call, const vm_result *result, base_builder *out) {
    view_memory *maps = BASE_NEW_ARRAY(call->arena, view_memory, result->tmem_history_count + 1);
    for (size_t i = 0; i < result->tmem_history_count; i++) {
        const vm_tmem_history *history = &result->tmem_histories[i];
        const uint32_t *id = history->events[0].cta_id;
        boxes list = {0};
        add_allocations(call, history, &list);
        unsigned slots = add_accesses(call, history, &list);
        maps[i] = (view_memory){.boxes = list.items,
                                .count = list.count,
                                .total = 512,
                                .column = 160,      /* wide enough for "mma D in line 57" */
                                .slots = slots + 1, /* the last: the name of the allocation */
                                .unit = "column",
                                .when = "event",
                                .what = "use"};
        maps[i].title = base_arena_format(call->arena, "CTA (%u,%u,%u)", id[0], id[1], id[2]);
        if (history->ctas > 1)
            maps[i].title = base_arena_format(call->arena, "%s and %llu like it", maps[i].title,
                                              (unsigned long long)history->ctas - 1);
    }
    view_memory_svg(
        call->arena,
        base_arena_format(call->arena, "%s: %s", call->report->kernel,
                          result->tmem_history_count ? "tensor memory" : "no CTA used tensor memory"),
        maps, result->tmem_history_count, out);
}
