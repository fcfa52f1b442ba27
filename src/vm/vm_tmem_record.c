/* SPDX-License-Identifier: Apache-2.0
 * Remembers the use of tensor memory of each CTA (vm_tmem_record.h). Executions of one instruction by one
 * warp are one event, so that what is kept does not grow with the steps of loops. Must not know how it is
 * shown. */
#include "vm/vm_tmem_record.h"

/* The event of the warp at this instruction; NULL: none yet. key: the first column of allocations, the
 * barrier of commits: different ones are different events. */
static vm_tmem_event *find(vm_cta *cta, vm_tmem_event_kind kind, uint32_t pc, uint32_t warp, uint32_t key) {
    bool columns = kind == VM_TMEM_EVENT_ALLOCATE || kind == VM_TMEM_EVENT_FREE;
    for (size_t i = cta->tmem_events.count; i-- > 0 && cta->tmem_events.items[i].cta == cta->linear;) {
        vm_tmem_event *event = &cta->tmem_events.items[i];
        if (event->kind == kind && event->pc == pc && event->warp == warp &&
            (!columns || event->column == key) && (kind != VM_TMEM_EVENT_COMMIT || event->barrier == key))
            return event;
    }
    return NULL;
}

static vm_tmem_event *note(vm_cta *cta, vm_tmem_event_kind kind, uint32_t pc, uint32_t warp, uint32_t key) {
    uint64_t order = ++vm_tmem_cta_of(cta)->order;
    vm_tmem_event *event = find(cta, kind, pc, warp, key);
    if (event == NULL) {
        vm_tmem_event made = {.kind = kind, .cta = cta->linear, .warp = warp, .pc = pc, .first = order};
        made.instruction = vm_program_instruction_at(cta->run->program, pc);
        memcpy(made.cta_id, cta->id, sizeof made.cta_id);
        if (kind == VM_TMEM_EVENT_COMMIT)
            made.barrier = key;
        else
            made.column = key;
        base_vector_push(vm_finding_arena(cta), &cta->tmem_events, made);
        event = &cta->tmem_events.items[cta->tmem_events.count - 1];
    }
    event->last = order;
    event->count++;
    return event;
}

void vm_tmem_record_columns(vm_cta *cta, vm_tmem_event_kind kind, uint32_t pc, uint32_t warp, uint32_t column,
                            uint32_t columns, bool pair) {
    vm_tmem_event *event = note(cta, kind, pc, warp, column);
    event->column_end = column + columns;
    event->pair = pair;
}

void vm_tmem_record_access(vm_warp *warp, vm_tmem_event_kind kind, uint32_t pc, const vm_tmem_area *areas,
                           uint32_t area_count, uint32_t registers, bool pair, unsigned lane) {
    vm_tmem_event *event = note(warp->cta, kind, pc, warp->index, areas[0].column);
    for (uint32_t k = 0; k < area_count; k++) {
        uint32_t begin = areas[k].column, end = begin + areas[k].columns;
        event->column = begin < event->column ? begin : event->column;
        event->column_end = end > event->column_end ? end : event->column_end;
        for (unsigned i = 0; i < 4; i++)
            event->lanes[i] |= areas[k].lanes[i];
    }
    event->registers = registers;
    event->pair = pair;
    event->issued++;
    event->open++;
    event->uncommitted[lane]++;
}

/* One more place that completes it; of many the first are kept. */
static void add_by(vm_tmem_event *event, const vm_cta *cta, uint32_t by, uint32_t by_warp) {
    const ptx_instruction *instruction = vm_program_instruction_at(cta->run->program, by);
    for (uint32_t i = 0; i < event->by_count; i++)
        if (event->by[i] == instruction)
            return;
    if (event->by_count == VM_TMEM_EVENT_BY) {
        event->by_more = true;
        return;
    }
    if (event->by_count == 0)
        event->by_warp = by_warp;
    event->by[event->by_count++] = instruction;
}

void vm_tmem_record_waited(vm_warp *warp, vm_tmem_event_kind kind, uint32_t pc, uint32_t by) {
    vm_tmem_event *event = find(warp->cta, kind, pc, warp->index, 0);
    if (event == NULL)
        return;
    event->open -= event->open != 0;
    add_by(event, warp->cta, by, warp->index);
}

/* A commit covers what its own thread has issued. */
void vm_tmem_record_commit(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t offset, uint32_t targets,
                           bool pair) {
    vm_cta *cta = warp->cta;
    for (size_t i = cta->tmem_events.count; i-- > 0 && cta->tmem_events.items[i].cta == cta->linear;) {
        vm_tmem_event *event = &cta->tmem_events.items[i];
        bool engine = event->kind >= VM_TMEM_EVENT_MMA && event->kind <= VM_TMEM_EVENT_SHIFT;
        if (!engine || event->warp != warp->index || event->uncommitted[lane] == 0)
            continue;
        event->open -= event->uncommitted[lane];
        event->uncommitted[lane] = 0;
        add_by(event, cta, pc, warp->index);
    }
    vm_tmem_event *event = note(cta, VM_TMEM_EVENT_COMMIT, pc, warp->index, offset);
    event->pair = pair;
    event->issued += targets;
    event->open += targets;
}

/* Who has just seen a phase complete: at this barrier, or at that of a later commit, in any CTA of the
 * cluster, since the matrix unit works in order. NULL: nobody, the CTA ends. */
static const vm_warp *observer_of(const vm_cta *cta, const vm_cta *barrier) {
    if (barrier->observer != NULL || cta->observer != NULL)
        return barrier->observer != NULL ? barrier->observer : cta->observer;
    for (uint32_t rank = 0; cta->peers != NULL && rank < cta->cluster_size; rank++)
        if (cta->peers[rank] != NULL && cta->peers[rank]->observer != NULL)
            return cta->peers[rank]->observer;
    return NULL;
}

void vm_tmem_record_committed(vm_warp *warp, uint32_t pc, const vm_cta *barrier, uint32_t offset) {
    const vm_warp *observer = observer_of(warp->cta, barrier);
    vm_tmem_event *event = find(warp->cta, VM_TMEM_EVENT_COMMIT, pc, warp->index, offset);
    if (event == NULL || observer == NULL)
        return;
    event->open -= event->open != 0;
    add_by(event, warp->cta, observer->splits[observer->current].pc, observer->index);
}

vm_tmem_event *vm_tmem_record_copy(base_arena *arena, const vm_tmem_event *events, size_t count) {
    vm_tmem_event *copy = BASE_NEW_ARRAY(arena, vm_tmem_event, count);
    memcpy(copy, events, count * sizeof *copy);
    return copy;
}

static bool same(const vm_tmem_event *a, const vm_tmem_event *b) {
    return a->kind == b->kind && a->warp == b->warp && a->pc == b->pc && a->first == b->first &&
           a->last == b->last && a->count == b->count && a->column == b->column &&
           a->column_end == b->column_end && !memcmp(a->lanes, b->lanes, sizeof a->lanes) &&
           a->registers == b->registers && a->pair == b->pair && a->open == b->open &&
           a->issued == b->issued && a->barrier == b->barrier && a->by_count == b->by_count &&
           a->by_warp == b->by_warp && !memcmp(a->by, b->by, sizeof a->by);
}

bool vm_tmem_record_same(const vm_tmem_event *a, const vm_tmem_event *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!same(&a[i], &b[i]))
            return false;
    return true;
}
