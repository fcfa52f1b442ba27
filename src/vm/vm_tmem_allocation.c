/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.alloc, dealloc and relinquish_alloc_permit (PTX ISA 9.7.16.7), and the checks that every access to
 * tensor memory shares. An SM has one permit to allocate: a CTA takes it with its first alloc and holds it
 * until it relinquishes or ends; that is how co-resident CTAs are seen to behave (NVIDIA/Fuser#3795), PTX
 * only says that alloc may block. What a CTA leaves allocated stays so: PTX demands dealloc, and later CTAs
 * are seen to hang. */
#include "vm/vm_async.h"
#include "vm/vm_mbarrier.h"
#include "vm/vm_race.h"
#include "vm/vm_slot.h"
#include "vm/vm_sm.h"
#include "vm/vm_tmem_record.h"

/* ---- state ---- */
/* A CTA outside a group has an SM for itself. */
static vm_sm *sm_of(const vm_cta *cta) {
    return cta->sm != NULL ? cta->sm : &cta->tmem->alone;
}

static void reset(const vm_launch *launch, vm_tmem *t, uint64_t which) {
    uint64_t random = launch->tmem_random ? base_hash_mix(launch->tmem_random, which) | 1 : 0;
    vm_tmem_reset(t, launch->tmem_base, random);
    t->resident_count = 0;
}

/* Of SMs in groups the number, of CTAs alone the CTA: nothing that depends on the workers. */
static uint64_t place_of(const vm_cta *cta) {
    return cta->sm != NULL ? (uint64_t)cta->sm->id << 32 | UINT32_MAX : cta->linear;
}

void vm_tmem_sm_start(vm_sm *sm, const vm_launch *launch) {
    if (sm->tmem != NULL)
        reset(launch, sm->tmem, (uint64_t)sm->id << 32 | UINT32_MAX);
}

vm_tmem *vm_tmem_of(vm_cta *cta) {
    vm_tmem_cta_of(cta);
    vm_sm *sm = sm_of(cta);
    if (sm->tmem == NULL) {
        sm->tmem = vm_tmem_create(cta->arena);
        if (cta->sm != NULL)
            sm->tmem->clock = &cta->group->tmem_clock;
        reset(cta->run->launch, sm->tmem, place_of(cta));
    }
    return sm->tmem;
}

vm_tmem_cta *vm_tmem_cta_of(vm_cta *cta) {
    vm_tmem_cta *state = cta->tmem;
    if (state == NULL)
        state = cta->tmem = BASE_NEW(cta->arena, vm_tmem_cta);
    if (!state->resident) {
        state->resident = true;
        vm_tmem *t = vm_tmem_of(cta);
        if (t->resident_count < VM_TMEM_RESIDENTS)
            t->residents[t->resident_count++] = cta;
    }
    return state;
}

vm_tmem_warp *vm_tmem_warp_of(vm_warp *warp) {
    if (warp->tmem == NULL)
        warp->tmem = BASE_NEW(warp->cta->arena, vm_tmem_warp);
    return warp->tmem;
}

static vm_cta *peer_of(vm_cta *cta) {
    if (cta->cluster == NULL || (cta->rank ^ 1) >= cta->cluster->size)
        return NULL;
    return cta->cluster->ctas[cta->rank ^ 1];
}

void vm_tmem_start(vm_cta *cta) {
    if (cta->tmem == NULL)
        return;
    vm_sm alone = cta->tmem->alone;
    memset(cta->tmem, 0, sizeof *cta->tmem);
    if (alone.tmem != NULL) {
        cta->tmem->alone.tmem = alone.tmem;
        reset(cta->run->launch, alone.tmem, place_of(cta));
    }
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        vm_tmem_warp *w = cta->warps[i].tmem;
        if (w == NULL)
            continue;
        w->loads.count = w->store_count = 0;
        w->fence_before = w->fence_after = 0;
        w->trying = 0;
    }
}

/* ---- findings ---- */
static const ptx_instruction *instruction_at(const vm_warp *warp, uint32_t pc) {
    return vm_program_instruction_at(warp->cta->run->program, pc);
}

vm_finding *vm_tmem_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, uint32_t taddr,
                           uint64_t size, uint64_t required, bool store) {
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, lane);
    if (finding == NULL)
        return NULL;
    finding->space = PTX_SPACE_TENSOR;
    finding->address = taddr;
    finding->size = size;
    finding->required = required;
    finding->is_store = store;
    return finding;
}

static void add_allocation(const vm_warp *warp, vm_finding *finding, const vm_tmem_allocation *found) {
    if (finding == NULL || found->columns == 0)
        return;
    finding->allocation_begin = found->begin;
    finding->allocation_bytes = found->columns;
    finding->other = instruction_at(warp, found->pc);
}

void vm_tmem_group(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t group) {
    vm_tmem_cta *state = vm_tmem_cta_of(warp->cta);
    if (state->group == 0) {
        state->group = group;
        state->group_pc = pc;
    } else if (state->group != group) {
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_GROUP, pc, warp, lane);
        if (finding != NULL) {
            finding->size = group;
            finding->required = state->group;
            finding->other = instruction_at(warp, state->group_pc);
        }
    }
}

/* The address of an allocation by another warp comes through shared memory: something must have ordered it.
 */
static void check_published(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint32_t column) {
    const vm_tmem_allocation *a = vm_tmem_find(vm_tmem_of(cta), column);
    if (cta != warp->cta || a == NULL || a->warp == warp->index || warp->acquired > a->event)
        return;
    vm_finding *finding = vm_tmem_report(warp, VM_FIND_TMEM_UNPUBLISHED, pc, lane, column, 0, 0, false);
    if (finding != NULL)
        finding->other = instruction_at(warp, a->pc);
}

bool vm_tmem_allowed(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                     bool store) {
    vm_tmem_allocation found;
    uint32_t column = 0;
    if (vm_unchecked(cta) && area->column < VM_TMEM_COLUMNS &&
        area->columns <= VM_TMEM_COLUMNS - area->column)
        return true;
    vm_tmem_fault fault = vm_tmem_check(vm_tmem_of(cta), area, cta->linear, &column, &found);
    if (fault == VM_TMEM_FINE) {
        check_published(warp, pc, lane, cta, area->column);
        return true;
    }
    vm_finding_kind kind = fault == VM_TMEM_OUTSIDE ? VM_FIND_TMEM_RANGE : VM_FIND_TMEM_UNALLOCATED;
    vm_finding *finding = vm_tmem_report(warp, kind, pc, lane, area->column, area->columns,
                                         fault == VM_TMEM_OUTSIDE ? VM_TMEM_COLUMNS : column, store);
    add_allocation(warp, finding, &found);
    if (finding != NULL && found.columns == 0) { /* freed before? */
        const vm_tmem_freed *freed = vm_tmem_freed_at(cta, column);
        if (freed != NULL) {
            finding->allocation_begin = freed->begin;
            finding->allocation_bytes = freed->columns;
            finding->other = instruction_at(warp, freed->pc);
            finding->after_free = true;
        }
    }
    return false;
}

void vm_tmem_initialised(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                         bool low_only) {
    uint32_t column, row;
    if (vm_unchecked(cta) || !vm_tmem_unwritten(vm_tmem_of(cta), area, low_only, &column, &row))
        return;
    bool low = vm_tmem_of(cta)->written[0][row / 32][column] >> row % 32 & 1;
    vm_tmem_report(warp, VM_FIND_TMEM_UNWRITTEN, pc, lane, VM_TMEM_ADDRESS(row, column), low ? 2 : 4, 0,
                   false);
}

bool vm_tmem_conflict(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                      uint32_t kinds) {
    vm_tmem *t = vm_tmem_of(cta);
    if (t->flights.count == 0 || vm_unchecked(cta))
        return false;
    const vm_tmem_flight *flight = vm_tmem_flight_find(t, area, kinds, vm_tmem_agent(warp), warp->acquired);
    if (flight == NULL)
        return false;
    vm_finding *finding =
        vm_tmem_report(warp, VM_FIND_TMEM_IN_FLIGHT, pc, lane, VM_TMEM_ADDRESS(0, flight->area.column),
                       flight->area.columns, flight->kind, (kinds & VM_TMEM_LOAD) != 0);
    if (finding != NULL) {
        finding->other = instruction_at(warp, flight->pc);
        finding->after_free = flight->released != NULL;
    }
    return true;
}

static void ordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                    uint16_t ignored) {
    if (vm_unchecked(cta))
        return;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    uint16_t agent = vm_tmem_agent(warp);
    const vm_tmem_writer *writer =
        vm_tmem_foreign_writer(vm_tmem_of(cta), area, w->fence_after, agent, ignored);
    if (writer != NULL) {
        vm_finding *finding =
            vm_tmem_report(warp, VM_FIND_TMEM_FENCE_AFTER, pc, lane, area->column, area->columns, 0, false);
        if (finding != NULL)
            finding->other = instruction_at(warp, writer->pc);
    }
    /* what this warp's fence covers, but not the writer's own: commit stands for it after mma and cp */
    uint32_t storers = 0;
    for (unsigned k = 0; k < 4; k++)
        storers |= area->lanes[k] != 0 ? vm_tmem_of(cta)->storers[k] : 0;
    if ((storers & ~(1u << agent % 32)) == 0)
        return;
    writer = vm_tmem_foreign_writer(vm_tmem_of(cta), area, 0, agent, ignored);
    if (writer == NULL || writer->agent & VM_TMEM_ENGINE)
        return;
    vm_cta *other = vm_cluster_rank(warp->cta, writer->agent >> 8);
    uint32_t index = writer->agent & 0x7f;
    if (other == NULL || index >= other->warp_count || other->warps[index].tmem == NULL ||
        other->warps[index].tmem->fence_before >= writer->clock)
        return;
    vm_finding *finding =
        vm_tmem_report(warp, VM_FIND_TMEM_FENCE_BEFORE, pc, lane, area->column, area->columns, index, false);
    if (finding != NULL)
        finding->other = instruction_at(warp, writer->pc);
}

void vm_tmem_ordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area) {
    ordered(warp, pc, lane, cta, area, 0);
}

void vm_tmem_engine_ordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta,
                            const vm_tmem_area *area) {
    ordered(warp, pc, lane, cta, area, VM_TMEM_ENGINE);
}

void vm_tmem_written(vm_warp *warp, uint32_t pc, vm_cta *cta, const vm_tmem_area *area, bool low_only,
                     uint16_t layout) {
    if (vm_unchecked(cta))
        return;
    vm_tmem_mark(vm_tmem_of(cta), area, low_only,
                 (vm_tmem_writer){.pc = pc, .agent = vm_tmem_agent(warp) | VM_TMEM_ENGINE, .layout = layout});
}

/* ---- permit and space ---- */
static void wake_residents(vm_cta *cta) {
    vm_tmem *t = vm_tmem_of(cta);
    for (uint32_t i = 0; i < t->resident_count; i++)
        vm_schedule_wake(t->residents[i], VM_PARK_ALLOC, UINT64_MAX);
    /* pairs need room on both SMs */
    for (uint32_t i = 0; i < t->resident_count; i++) {
        vm_cta *peer = peer_of(t->residents[i]);
        if (peer != NULL)
            vm_schedule_wake(peer, VM_PARK_ALLOC, UINT64_MAX);
    }
}

static bool permitted(const vm_cta *cta) {
    return sm_of(cta)->permit == NULL || sm_of(cta)->permit == cta;
}

static void give_permit(vm_cta *cta) {
    if (sm_of(cta)->permit != cta)
        return;
    sm_of(cta)->permit = NULL;
    wake_residents(cta);
}

static uint32_t owned_columns(const vm_tmem *t, uint64_t owner) {
    uint32_t columns = 0;
    for (unsigned i = 0; i < VM_TMEM_ALLOCATIONS; i++)
        if (t->allocations[i].owner == owner)
            columns += t->allocations[i].columns;
    return columns;
}

/* ---- alloc ---- */
typedef struct request {
    vm_warp *warp;
    vm_cta *cta, *peer; /* peer: the other half of a pair that takes part */
    uint32_t pc, columns;
    unsigned lane;
} request;

/* What is wrong with an alloc, said once however often it is tried; columns become legal. */
static void check_alloc(request *r, bool pair) {
    vm_tmem_cta *state = vm_tmem_cta_of(r->cta);
    vm_finding *finding;
    vm_tmem_group(r->warp, r->pc, r->lane, pair ? 2 : 1);
    if (!vm_tmem_size_legal(r->columns)) {
        vm_tmem_report(r->warp, VM_FIND_TMEM_COLUMNS, r->pc, r->lane, 0, r->columns, 0, false);
        uint32_t legal = VM_TMEM_UNIT;
        while (legal < r->columns && legal < VM_TMEM_COLUMNS)
            legal *= 2;
        r->columns = legal;
    }
    if (state->relinquished) {
        finding = vm_tmem_report(r->warp, VM_FIND_TMEM_RELINQUISHED, r->pc, r->lane, 0, r->columns, 0, false);
        if (finding != NULL)
            finding->other = instruction_at(r->warp, state->relinquish_pc);
    }
    if (state->smallest != 0 && r->columns > state->smallest) {
        finding = vm_tmem_report(r->warp, VM_FIND_TMEM_GROWS, r->pc, r->lane, 0, r->columns, state->smallest,
                                 false);
        if (finding != NULL)
            finding->other = instruction_at(r->warp, state->smallest_pc);
    }
    uint32_t owned = owned_columns(vm_tmem_of(r->cta), r->cta->linear);
    if (owned + r->columns > VM_TMEM_COLUMNS)
        vm_tmem_report(r->warp, VM_FIND_TMEM_CAPACITY, r->pc, r->lane, 0, r->columns, owned, false);
}

static uint32_t legal_columns(uint32_t columns) {
    uint32_t legal = VM_TMEM_UNIT;
    while (legal < columns && legal < VM_TMEM_COLUMNS)
        legal *= 2;
    return vm_tmem_size_legal(columns) ? columns : legal;
}

static void own(vm_cta *cta, uint32_t begin, uint32_t columns, uint32_t pc, uint32_t warp, bool pair) {
    vm_tmem_cta *state = vm_tmem_cta_of(cta);
    vm_tmem_allocation *a = vm_tmem_take(vm_tmem_of(cta), begin, columns, cta->linear, pc, pair);
    a->warp = warp;
    a->event = ++cta->events;
    sm_of(cta)->permit = cta;
    if (state->smallest == 0 || columns < state->smallest) {
        state->smallest = columns;
        state->smallest_pc = pc;
    }
    state->alloc_pc = pc;
    if (vm_tmem_recorded(cta))
        vm_tmem_record_columns(cta, VM_TMEM_EVENT_ALLOCATE, pc, warp, begin, columns, pair);
}

/* The address goes to the slot: a weak write by one thread (A5). */
static void write_slot(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t ref, uint64_t flags,
                       uint32_t taddr) {
    uint64_t address = vm_operand64(warp, ref, lane);
    uint32_t offset;
    bool shared = flags & VM_TMEM_SHARED || address >> VM_WINDOW_BITS == VM_SHARED_BASE >> VM_WINDOW_BITS;
    if (!shared) {
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_SLOT, pc, warp, lane);
        if (finding != NULL)
            finding->address = address;
        vm_memory_write(warp, pc, lane, VM_GENERIC, address, &taddr, sizeof taddr);
        return;
    }
    vm_cta *cta = vm_cluster_shared(warp, pc, lane, flags & VM_TMEM_SHARED ? VM_SHARED : VM_GENERIC, address,
                                    sizeof taddr, sizeof taddr, true, &offset);
    if (cta == NULL)
        return;
    if (cta != warp->cta) {
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_SLOT, pc, warp, lane);
        if (finding != NULL) {
            finding->address = address;
            finding->space = PTX_SPACE_SHARED;
        }
    }
    if (cta->guards)
        vm_mbarrier_written(warp, pc, lane, cta, offset, offset + sizeof taddr);
    vm_race_touch(warp, pc, lane, cta, offset, sizeof taddr, VM_RACE_WRITE | VM_RACE_WARP);
    memcpy(cta->shared + offset, &taddr, sizeof taddr);
    vm_slot_begin(cta, offset, taddr, pc);
    cta->writes++;
}

static bool try_alloc(request *r, int32_t *begin) {
    *begin = -1;
    if (!permitted(r->cta) || (r->peer != NULL && !permitted(r->peer)))
        return false;
    *begin = vm_tmem_place(vm_tmem_of(r->cta), r->peer ? vm_tmem_of(r->peer) : NULL, r->columns);
    return *begin >= 0;
}

/* Half of a pair's alloc. True: *begin is where; false: it waits. */
static bool alloc_pair(request *r, int32_t *begin) {
    vm_tmem_cta *mine = vm_tmem_cta_of(r->cta);
    if (mine->pair == VM_TMEM_PAIR_DONE) {
        *begin = (int32_t)mine->pair_address;
        mine->pair = VM_TMEM_PAIR_IDLE;
        return true;
    }
    vm_tmem_cta *theirs = vm_tmem_cta_of(r->peer);
    if (theirs->pair != VM_TMEM_PAIR_ALLOC) {
        mine->pair = VM_TMEM_PAIR_ALLOC;
        mine->pair_columns = r->columns;
        mine->pair_warp = r->warp->index;
        mine->pair_pc = r->pc;
        vm_schedule_park(r->warp, VM_PARK_PAIR, 0);
        return false;
    }
    if (theirs->pair_columns != r->columns || theirs->pair_warp != r->warp->index) {
        vm_finding *finding = vm_tmem_report(r->warp, VM_FIND_TMEM_PAIR_DIFFERS, r->pc, r->lane, 0,
                                             r->columns, theirs->pair_columns, false);
        if (finding != NULL)
            finding->other = instruction_at(r->warp, theirs->pair_pc);
    }
    if (!try_alloc(r, begin)) {
        mine->pair = VM_TMEM_PAIR_ALLOC;
        mine->pair_columns = r->columns;
        mine->pair_warp = r->warp->index;
        mine->pair_pc = r->pc;
        vm_schedule_park(r->warp, VM_PARK_ALLOC, r->columns);
        return false;
    }
    own(r->cta, (uint32_t)*begin, r->columns, r->pc, r->warp->index, true);
    own(r->peer, (uint32_t)*begin, r->columns, theirs->pair_pc, theirs->pair_warp, true);
    mine->pair = VM_TMEM_PAIR_IDLE;
    theirs->pair = VM_TMEM_PAIR_DONE;
    theirs->pair_address = (uint32_t)*begin;
    vm_schedule_wake(r->peer, VM_PARK_PAIR, UINT64_MAX);
    vm_schedule_wake(r->peer, VM_PARK_ALLOC, UINT64_MAX);
    return true;
}

static vm_cta *live_peer(vm_cta *cta) {
    vm_cta *peer = peer_of(cta);
    return peer != NULL && peer->live_warps != 0 ? peer : NULL;
}

static void report_no_peer(const request *r) {
    vm_finding *finding = vm_finding_add(r->cta, VM_FIND_TMEM_PEER, r->pc, r->warp, r->lane);
    if (finding != NULL) {
        finding->size = r->cta->cluster != NULL ? r->cta->cluster->size : 1;
        finding->after_free = peer_of(r->cta) != NULL; /* it was there and has ended */
    }
}

vm_action vm_external_TMEM_ALLOC(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    request r = {
        .warp = warp, .cta = warp->cta, .pc = warp->splits[warp->current].pc, .lane = vm_first_lane(mask)};
    bool pair = op->imm & VM_TMEM_PAIR;
    int32_t begin = -1;
    if (w->trying != r.pc + 1) { /* not when it is tried again */
        w->trying = r.pc + 1;
        r.columns = vm_tmem_uniform(warp, r.pc, list[1], mask);
        check_alloc(&r, pair);
    }
    r.columns = legal_columns(vm_operand32(warp, list[1], r.lane));
    if (pair && vm_tmem_cta_of(r.cta)->pair != VM_TMEM_PAIR_DONE)
        r.peer = live_peer(r.cta);
    if (pair && (r.peer != NULL || vm_tmem_cta_of(r.cta)->pair == VM_TMEM_PAIR_DONE)) {
        if (!alloc_pair(&r, &begin))
            return VM_AGAIN;
    } else {
        if (pair)
            report_no_peer(&r);
        vm_tmem_cta_of(r.cta)->pair = VM_TMEM_PAIR_IDLE;
        if (!try_alloc(&r, &begin)) {
            vm_schedule_park(warp, VM_PARK_ALLOC, r.columns);
            return VM_AGAIN;
        }
        own(r.cta, (uint32_t)begin, r.columns, r.pc, warp->index, pair);
    }
    w->trying = 0;
    write_slot(warp, r.pc, r.lane, list[0], op->imm, (uint32_t)begin);
    return VM_GO;
}

/* ---- dealloc ---- */
const vm_tmem_freed *vm_tmem_freed_at(vm_cta *cta, uint32_t column) {
    const vm_tmem_cta *state = vm_tmem_cta_of(cta);
    for (uint32_t k = 0; k < VM_TMEM_ALLOCATIONS && k < state->freed_count; k++) {
        const vm_tmem_freed *freed = &state->freed[(state->freed_count - 1 - k) % VM_TMEM_ALLOCATIONS];
        if (column >= freed->begin && column < freed->begin + freed->columns)
            return freed;
    }
    return NULL;
}

static void report_free(const request *r, uint32_t taddr, vm_tmem_free_result result,
                        const vm_tmem_allocation *found) {
    const vm_tmem_freed *freed = result == VM_TMEM_FREE_NOBODYS ? vm_tmem_freed_at(r->cta, taddr) : NULL;
    vm_finding_kind kind = freed != NULL                  ? VM_FIND_TMEM_FREED_TWICE
                           : result == VM_TMEM_FREE_SIZE  ? VM_FIND_TMEM_FREE_SIZE
                           : result == VM_TMEM_FREE_GROUP ? VM_FIND_TMEM_GROUP
                                                          : VM_FIND_TMEM_FREE_ADDRESS;
    vm_finding *finding = vm_tmem_report(r->warp, kind, r->pc, r->lane, taddr, r->columns, result, false);
    if (finding == NULL)
        return;
    if (freed != NULL) {
        finding->allocation_begin = freed->begin;
        finding->allocation_bytes = freed->columns;
        finding->other = instruction_at(r->warp, freed->pc);
        return;
    }
    if (kind == VM_FIND_TMEM_GROUP) {
        finding->size = found->pair ? 1 : 2;
        finding->required = found->pair ? 2 : 1;
    }
    add_allocation(r->warp, finding, found);
}

static void free_columns(const request *r, vm_cta *cta, uint32_t taddr, bool pair) {
    vm_tmem *t = vm_tmem_of(cta);
    vm_tmem_allocation found;
    vm_tmem_free_result result = vm_tmem_free(t, taddr, r->columns, cta->linear, pair, &found);
    if (result != VM_TMEM_FREED) {
        report_free(r, taddr, result, &found);
        return;
    }
    vm_slot_end(cta, found.begin);
    vm_tmem_area area = vm_tmem_rows(found.begin, found.columns, 0, VM_TMEM_LANES);
    vm_tmem_conflict(r->warp, r->pc, r->lane, cta, &area, VM_TMEM_ANY);
    vm_tmem_flight_drop(t, &area);
    vm_tmem_cta *state = vm_tmem_cta_of(cta);
    state->freed[state->freed_count++ % VM_TMEM_ALLOCATIONS] =
        (vm_tmem_freed){.begin = found.begin, .columns = found.columns, .pc = r->pc};
    if (vm_tmem_recorded(cta))
        vm_tmem_record_columns(cta, VM_TMEM_EVENT_FREE, r->pc, r->warp->index, found.begin, found.columns,
                               pair);
    wake_residents(cta);
}

/* Half of a pair's dealloc: true: go on, freeing what is one's own. */
static bool free_pair(const request *r, uint32_t taddr) {
    vm_tmem_cta *mine = vm_tmem_cta_of(r->cta), *theirs = vm_tmem_cta_of(r->peer);
    if (mine->pair == VM_TMEM_PAIR_DONE) {
        mine->pair = VM_TMEM_PAIR_IDLE;
        return true;
    }
    if (theirs->pair != VM_TMEM_PAIR_DEALLOC) {
        mine->pair = VM_TMEM_PAIR_DEALLOC;
        mine->pair_columns = r->columns;
        mine->pair_address = taddr;
        mine->pair_pc = r->pc;
        vm_schedule_park(r->warp, VM_PARK_PAIR, 0);
        return false;
    }
    theirs->pair = VM_TMEM_PAIR_DONE;
    vm_schedule_wake(r->peer, VM_PARK_PAIR, UINT64_MAX);
    return true;
}

vm_action vm_external_TMEM_DEALLOC(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    vm_cta *cta = warp->cta;
    request r = {.warp = warp, .cta = cta, .pc = warp->splits[warp->current].pc, .lane = vm_first_lane(mask)};
    bool pair = op->imm & VM_TMEM_PAIR;
    uint32_t taddr = vm_operand32(warp, list[0], r.lane);
    r.columns = vm_operand32(warp, list[1], r.lane);
    if (w->trying != r.pc + 1) {
        w->trying = r.pc + 1;
        vm_tmem_group(warp, r.pc, r.lane, pair ? 2 : 1);
        vm_tmem_uniform(warp, r.pc, list[0], mask);
        vm_tmem_uniform(warp, r.pc, list[1], mask);
        if (!vm_tmem_size_legal(r.columns))
            vm_tmem_report(warp, VM_FIND_TMEM_COLUMNS, r.pc, r.lane, taddr, r.columns, 0, true);
        if (vm_tmem_find(vm_tmem_of(cta), taddr) != NULL)
            check_published(warp, r.pc, r.lane, cta, taddr);
        /* the peer's alloc is not known to have ended (NVIDIA/cutlass#3435) */
        const vm_tmem_allocation *a = vm_tmem_find(vm_tmem_of(cta), taddr);
        if (pair && a != NULL && a->pair && warp->cluster_acquired < a->event) {
            vm_finding *finding = vm_finding_add(cta, VM_FIND_TMEM_PAIR_ORDER, r.pc, warp, r.lane);
            if (finding != NULL)
                finding->other = instruction_at(warp, a->pc);
        }
    }
    if (pair) {
        vm_tmem_cta *state = vm_tmem_cta_of(cta);
        r.peer = live_peer(cta);
        if (r.peer == NULL && state->pair != VM_TMEM_PAIR_DONE) {
            report_no_peer(&r);
            state->pair = VM_TMEM_PAIR_IDLE;
        } else if (state->pair == VM_TMEM_PAIR_DONE) {
            state->pair = VM_TMEM_PAIR_IDLE;
        } else if (!free_pair(&r, taddr)) {
            return VM_AGAIN;
        }
    }
    w->trying = 0;
    r.columns = legal_columns(r.columns); /* as alloc did, after its finding */
    free_columns(&r, cta, taddr, pair);
    return VM_GO;
}

vm_action vm_external_TMEM_RELINQUISH(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    vm_tmem_cta *state = vm_tmem_cta_of(warp->cta);
    uint32_t pc = warp->splits[warp->current].pc;
    vm_tmem_group(warp, pc, vm_first_lane(mask), op->imm & VM_TMEM_PAIR ? 2 : 1);
    if (!state->relinquished) {
        state->relinquished = true;
        state->relinquish_pc = pc;
    }
    if (vm_tmem_recorded(warp->cta))
        vm_tmem_record_columns(warp->cta, VM_TMEM_EVENT_RELINQUISH, pc, warp->index, 0, 0,
                               op->imm & VM_TMEM_PAIR);
    give_permit(warp->cta);
    return VM_GO;
}

/* ---- the end of a CTA ---- */
void vm_tmem_finish(vm_cta *cta) {
    if (cta->tmem == NULL)
        return;
    vm_tmem *t = vm_tmem_of(cta);
    for (unsigned i = 0; i < VM_TMEM_ALLOCATIONS; i++) {
        vm_tmem_allocation *a = &t->allocations[i];
        if (a->columns == 0 || a->owner != cta->linear || a->left)
            continue;
        a->left = true;
        vm_tmem_area area = vm_tmem_rows(a->begin, a->columns, 0, VM_TMEM_LANES);
        vm_tmem_flight_drop(t, &area);
        if (cta->status != VM_COMPLETE || a->refused)
            continue;
        vm_finding *finding = vm_finding_add(cta, VM_FIND_TMEM_LEAK, a->pc, NULL, 0);
        if (finding != NULL) {
            finding->space = PTX_SPACE_TENSOR;
            finding->address = finding->allocation_begin = a->begin;
            finding->size = finding->allocation_bytes = a->columns;
        }
    }
    for (uint32_t i = 0; i < t->resident_count; i++)
        if (t->residents[i] == cta)
            t->residents[i--] = t->residents[--t->resident_count];
    if (sm_of(cta)->permit == cta)
        sm_of(cta)->permit = NULL;
    wake_residents(cta);
    vm_cta *peer = peer_of(cta);
    if (peer != NULL) { /* who waits for this one waits in vain, and sees it */
        vm_schedule_wake(peer, VM_PARK_PAIR, UINT64_MAX);
        vm_schedule_wake(peer, VM_PARK_ALLOC, UINT64_MAX);
    }
}

static const char *cta_name(const vm_grid *run, uint64_t linear, base_builder *text) {
    const uint32_t *grid = run->launch->grid;
    base_builder_format(text, "CTA (%u,%u,%u)", (uint32_t)(linear % grid[0]),
                        (uint32_t)(linear / grid[0] % grid[1]), (uint32_t)(linear / grid[0] / grid[1]));
    return "";
}

static void describe_memory(const vm_cta *cta, const vm_tmem *t, base_builder *text) {
    base_builder_format(text, "%u are free", vm_tmem_free_columns(t));
    for (unsigned i = 0; i < VM_TMEM_ALLOCATIONS; i++) {
        const vm_tmem_allocation *a = &t->allocations[i];
        if (a->columns == 0)
            continue;
        base_builder_format(text, "; columns %u to %u belong to ", a->begin, a->begin + a->columns - 1);
        cta_name(cta->run, a->owner, text);
        const ptx_instruction *at = vm_program_instruction_at(cta->run->program, a->pc);
        if (at != NULL && at->loc_line)
            base_builder_format(text, " since line %u", at->loc_line);
        if (a->left)
            base_builder_string(text, ", which ended without dealloc");
    }
}

void vm_tmem_describe(const vm_cta *cta, const vm_split *split, base_builder *text) {
    const vm_tmem_cta *state = cta->tmem;
    if (split->wait == VM_PARK_PAIR) {
        base_builder_format(text, "waits for the other CTA of the pair at tcgen05.%s",
                            state != NULL && state->pair == VM_TMEM_PAIR_DEALLOC ? "dealloc" : "alloc");
        return;
    }
    base_builder_format(text, "waits at tcgen05.alloc for %u columns: ", (uint32_t)split->detail);
    const vm_cta *holder = sm_of(cta)->permit;
    if (holder != NULL && holder != cta) {
        base_builder_string(text, "the permit to allocate is held by ");
        cta_name(cta->run, holder->linear, text);
        const ptx_instruction *at =
            holder->tmem ? vm_program_instruction_at(cta->run->program, holder->tmem->alloc_pc) : NULL;
        if (at != NULL && at->loc_line)
            base_builder_format(text, " since line %u", at->loc_line);
        base_builder_string(text, ", which has not relinquished it; ");
    }
    describe_memory(cta, sm_of(cta)->tmem, text);
}
