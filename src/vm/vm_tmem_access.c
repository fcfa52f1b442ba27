/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.ld, st, wait and fence (PTX ISA 9.7.16.8, 9.7.16.11). A load or store is checked when it is issued;
 * its cells move at once, or, when the schedule is late, at the wait or when a register is first needed.
 * Checks of what is in flight, never written or not ordered do not depend on that. */
#include "vm/vm_async.h"
#include "vm/vm_race.h"
#include "vm/vm_tmem_record.h"

/* ---- .aligned: all lanes of the warp, together ---- */
static uint32_t lanes_at_start(const vm_warp *warp) {
    uint32_t threads = warp->cta->run->threads_per_cta - warp->index * VM_LANES;
    return threads >= VM_LANES ? VM_ALL_LANES : (1u << threads) - 1;
}

static void report_lanes(vm_warp *warp, uint32_t mask) {
    vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_PARTIAL, warp->splits[warp->current].pc,
                                         warp, vm_first_lane(mask));
    if (finding != NULL) {
        finding->size = mask;
        finding->required = lanes_at_start(warp);
        finding->address = warp->live;
    }
}

bool vm_tmem_gather(vm_warp *warp, uint32_t mask, vm_action *action) {
    vm_split *current = &warp->splits[warp->current];
    if (current->state == VM_SPLIT_RELEASED) { /* nobody can go on: the others do not come */
        current->state = VM_SPLIT_READY;
        report_lanes(warp, mask);
        return true;
    }
    uint32_t missing = warp->live & ~mask;
    if (missing == 0) {
        if (mask != lanes_at_start(warp))
            report_lanes(warp, mask);
        vm_race_meet(warp, mask, VM_ALL_LANES);
        return true;
    }
    current->state = VM_SPLIT_READY;
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (i != warp->current && warp->splits[i].pc == current->pc &&
            warp->splits[i].frame == current->frame && warp->splits[i].state == VM_SPLIT_COLLECTIVE)
            warp->splits[i].state = VM_SPLIT_READY;
    uint32_t before = warp->split_count;
    vm_control_merge(warp, warp->current);
    *action = VM_AGAIN;
    if (warp->split_count == before) {
        current = &warp->splits[warp->current];
        current->state = VM_SPLIT_COLLECTIVE;
        current->wait = missing;
    }
    return false;
}

bool vm_tmem_force(vm_cta *cta) {
    const vm_program *program = cta->run->program;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (uint32_t s = 0; s < cta->warps[i].split_count; s++) {
            vm_split *split = &cta->warps[i].splits[s];
            const vm_op *op = &program->ops.items[split->pc];
            if (split->state != VM_SPLIT_COLLECTIVE || op->code != VM_CODE_EXTERNAL ||
                op->sub < VM_EXTERNAL_TMEM_ALLOC || op->sub > VM_EXTERNAL_TMEM_WAIT)
                continue;
            split->state = VM_SPLIT_RELEASED;
            return true;
        }
    return false;
}

/* The value of a row, which must be the same in all lanes. */
uint32_t vm_tmem_uniform(vm_warp *warp, uint32_t pc, uint32_t ref, uint32_t mask) {
    const uint32_t *row = vm_operand(warp, ref);
    uint32_t value = row[vm_first_lane(mask)];
    VM_FOR_LANES(lane, mask) {
        if (row[lane] == value)
            continue;
        vm_finding *finding = vm_finding_add(warp->cta, VM_FIND_TMEM_LANES, pc, warp, lane);
        if (finding != NULL) {
            finding->address = row[lane];
            finding->required = value;
        }
        break;
    }
    return value;
}

/* ---- where a warp may go ---- */
/* Column and lane that an address means for this warp. False: nothing can be accessed. */
static bool resolve(vm_warp *warp, uint32_t pc, unsigned first, const vm_tmem_form *form, uint32_t taddr,
                    bool store, uint32_t *column, uint32_t *lane) {
    uint32_t window = warp->index % 4, given = VM_TMEM_LANE(taddr), low = given % 32;
    *column = VM_TMEM_COLUMN(taddr);
    *lane = window * 32 + low;
    if (given >= VM_TMEM_LANES) {
        vm_tmem_report(warp, VM_FIND_TMEM_RANGE, pc, first, taddr, 1, VM_TMEM_LANES, store);
        return false;
    }
    bool release = warp->cta->run->launch->tmem_lanes_release;
    if (given / 32 != window && !(release && given / 32 == 0))
        vm_tmem_report(warp, VM_FIND_TMEM_WINDOW, pc, first, taddr, given, window * 32, store);
    if (low != 0 && (low != 16 || form->shape == VM_TMEM_32X32B)) {
        vm_tmem_report(warp, VM_FIND_TMEM_LANE_START, pc, first, taddr, low,
                       form->shape == VM_TMEM_32X32B ? 0 : 16, store);
        return false;
    }
    return true;
}

/* All checks of one load or store, and its flights. False: it touches nothing. */
static bool admit(vm_warp *warp, uint32_t pc, unsigned first, const vm_tmem_form *form, uint32_t taddr,
                  bool store, uint32_t *column, uint32_t *lane, uint64_t flights[2]) {
    vm_cta *cta = warp->cta;
    vm_tmem *t = vm_tmem_of(cta);
    vm_tmem_area areas[2];
    if (!resolve(warp, pc, first, form, taddr, store, column, lane))
        return false;
    uint32_t count = vm_tmem_areas(form, *column, *lane, areas);
    flights[0] = flights[1] = 0;
    if (!form->pack && count == 1 && !vm_unchecked(cta)) {
        vm_tmem_visitor visitor = {.owner = cta->linear,
                                   .agent = vm_tmem_agent(warp),
                                   .window = (uint8_t)(*lane / 32),
                                   .store = store,
                                   .acquired = warp->acquired,
                                   .fence_after = warp->tmem->fence_after};
        flights[0] = vm_tmem_plain_begin(t, areas, &visitor, pc);
        if (flights[0] != 0)
            return true;
    }
    for (uint32_t k = 0; k < count; k++)
        if (!vm_tmem_allowed(warp, pc, first, cta, &areas[k], store))
            return false;
    if (vm_unchecked(cta))
        return true;
    for (uint32_t k = 0; k < count; k++) {
        if (!vm_tmem_conflict(warp, pc, first, cta, &areas[k], store ? VM_TMEM_ANY : VM_TMEM_WRITERS)) {
            if (!store)
                vm_tmem_initialised(warp, pc, first, cta, &areas[k], form->pack);
            if (!store && (form->pack || t->half_rows))
                vm_tensor_layout_load(warp, pc, first, cta, &areas[k], form->pack);
            vm_tmem_ordered(warp, pc, first, cta, &areas[k]);
        }
        if (store)
            vm_tmem_mark(t, &areas[k], form->pack, (vm_tmem_writer){.pc = pc, .agent = vm_tmem_agent(warp)});
    }
    for (uint32_t k = 0; k < count; k++) /* after both: the halves of one store may lie on each other */
        flights[k] =
            vm_tmem_flight_begin(t, store ? VM_TMEM_STORE : VM_TMEM_LOAD, vm_tmem_agent(warp), pc, &areas[k]);
    return true;
}

static void record(vm_warp *warp, vm_tmem_event_kind kind, uint32_t pc, const vm_tmem_form *form,
                   uint32_t column, uint32_t lane) {
    vm_tmem_area areas[2];
    uint32_t count = vm_tmem_areas(form, column, lane, areas);
    vm_tmem_record_access(warp, kind, pc, areas, count, vm_tmem_registers(form), false, 0);
}

/* This warp has waited for them; others know when it has released something since. */
static void end_flights(vm_warp *warp, uint64_t flights[2]) {
    for (unsigned k = 0; k < 2; k++)
        if (flights[k] != 0)
            vm_tmem_flight_waited(vm_tmem_of(warp->cta), flights[k], warp->cta->events, &warp->released);
    flights[0] = flights[1] = 0;
}

static bool is_late(const vm_warp *warp, vm_async_class class, uint64_t serial) {
    const vm_launch *launch = warp->cta->run->launch;
    switch (launch->schedule) {
    case VM_SCHEDULE_LATE:
        return launch->late_classes == 0 || (launch->late_classes >> class & 1);
    case VM_SCHEDULE_RANDOM:
        return base_hash_mix(launch->seed ^ serial << 8, warp->cta->linear << 5 | warp->index) >> 17 & 1;
    default:
        return false;
    }
}

enum { PENDING_LIMIT = 1024 }; /* loads and stores of a warp that are remembered without a wait */

/* ---- loads ---- */
static vm_tmem_pending_load *find_load(vm_tmem_warp *w, uint64_t serial) {
    for (size_t i = w->loads.count; serial && i-- > 0;)
        if (w->loads.items[i].serial == serial)
            return &w->loads.items[i];
    return NULL;
}

static void fill(const vm_tmem *t, const vm_tmem_pending_load *load, uint32_t r, uint32_t *row) {
    uint32_t value[VM_LANES];
    if (load->skipped) {
        for (unsigned l = 0; l < VM_LANES; l++)
            value[l] = VM_TMEM_POISON;
    } else if (load->lanes == VM_ALL_LANES) {
        vm_tmem_load(t, &load->form, load->column, load->lane, r, row);
        return;
    } else {
        vm_tmem_load(t, &load->form, load->column, load->lane, r, value);
    }
    VM_FOR_LANES(l, load->lanes)
    row[l] = value[l];
}

/* Tags of the rows of the running frame, by VM_TAG of a reference; grow with the warp's rows. */
#define VM_TAG(ref) ((ref) / VM_ROW_BYTES)
static vm_tmem_tag *tags_of(vm_warp *warp) {
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    if (w->tag_capacity < warp->row_capacity) {
        vm_tmem_tag *tags = BASE_NEW_ARRAY(warp->cta->arena, vm_tmem_tag, warp->row_capacity);
        if (w->tag_capacity)
            memcpy(tags, w->tags, w->tag_capacity * sizeof *tags);
        w->tags = tags;
        w->tag_capacity = warp->row_capacity;
    }
    return w->tags + warp->splits[warp->current].frame->row;
}

/* A kind of work that the run has: other schedules are worth trying. */
static void note_class(const vm_warp *warp, vm_async_class class) {
    vm_grid *run = warp->cta->run;
    if (!(run->async_classes >> class & 1))
        run->async_classes |= 1u << class;
}

/* Loads that a kernel never waits for: those whose registers were all read are over, of the rest the oldest
 * go. */
static void forget_loads(vm_warp *warp, vm_tmem_warp *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->loads.count; i++)
        if (w->loads.items[i].unseen != 0)
            w->loads.items[kept++] = w->loads.items[i];
    size_t over = kept > PENDING_LIMIT / 2 ? kept - PENDING_LIMIT / 2 : 0;
    for (size_t i = 0; i < over; i++)
        end_flights(warp, w->loads.items[i].flights);
    memmove(w->loads.items, w->loads.items + over, (kept - over) * sizeof *w->loads.items);
    w->loads.count = kept - over;
}

vm_action vm_external_TMEM_LOAD(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    const uint32_t *names = warp->cta->run->program->extras.items + VM_TMEM_NAMES_OF(op->imm);
    uint32_t pc = warp->splits[warp->current].pc;
    vm_tmem_pending_load load = {.serial = ++w->serial, .form = vm_tmem_form_of(op->imm), .pc = pc};
    load.mask = load.lanes = mask;
    load.frame_row = warp->splits[warp->current].frame->row;
    load.skipped = !admit(warp, pc, vm_first_lane(mask), &load.form, vm_tmem_uniform(warp, pc, list[0], mask),
                          false, &load.column, &load.lane, load.flights);
    if (!load.skipped && vm_tmem_recorded(warp->cta))
        record(warp, VM_TMEM_EVENT_LOAD, pc, &load.form, load.column, load.lane);
    uint32_t count = vm_tmem_registers(&load.form);
    load.unseen = (uint8_t)count;
    load.fetched = load.skipped || !is_late(warp, VM_ASYNC_TMEM_LOAD, load.serial);
    note_class(warp, VM_ASYNC_TMEM_LOAD);
    vm_tmem_tag *tags = tags_of(warp);
    const vm_tmem *t = vm_tmem_of(warp->cta);
    for (uint32_t r = 0; r < count; r++) {
        tags[VM_TAG(list[1 + r])] =
            (vm_tmem_tag){.load = load.serial, .reg = names[r], .index = (uint8_t)r, .there = load.fetched};
        if (load.fetched)
            fill(t, &load, r, vm_operand(warp, list[1 + r]));
    }
    if (w->loads.count >= PENDING_LIMIT)
        forget_loads(warp, w);
    base_vector_push(warp->cta->arena, &w->loads, load);
    return VM_GO;
}

void vm_tmem_return(vm_warp *warp, const vm_frame *frame) {
    vm_tmem_warp *w = warp->tmem;
    for (size_t i = 0; i < w->loads.count; i++)
        if (w->loads.items[i].frame_row >= frame->row)
            w->loads.items[i].serial = 0; /* no register finds it; a wait still ends it */
}

static void report_use(vm_warp *warp, uint32_t pc, unsigned lane, vm_tmem_pending_load *load) {
    if (load->reported)
        return;
    load->reported = true;
    vm_finding_kind kind = load->other_wait ? VM_FIND_TMEM_WRONG_WAIT : VM_FIND_TMEM_USE_BEFORE_WAIT;
    vm_finding *finding = vm_finding_add(warp->cta, kind, pc, warp, lane);
    if (finding != NULL)
        finding->other = vm_program_instruction_at(warp->cta->run->program, load->pc);
}

/* The value is read: PTX honours the true dependency. Registers that were all read leave nothing to wait for,
 * although PTX (9.7.16.6.4.5) says that the dependency orders nothing else. */
static void see(vm_warp *warp, vm_tmem_pending_load *load, vm_tmem_tag *tag, uint32_t ref) {
    if (!tag->there)
        fill(vm_tmem_of(warp->cta), load, tag->index, vm_operand(warp, ref));
    tag->there = true;
    if (tag->copy || tag->seen)
        return;
    tag->seen = true;
    if (--load->unseen == 0 && !warp->cta->run->launch->strict_ptx)
        end_flights(warp, load->flights);
}

/* What an operation meets of registers that tcgen05.ld may not have filled; see vm_pending.c. */
vm_action vm_external_TMEM_NEED(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    const uint32_t *list = warp->cta->run->program->extras.items + op->x;
    const uint32_t *words = warp->cta->run->program->extras.items + op->imm;
    uint32_t pc = warp->splits[warp->current].pc, count = *list++, predicate = 0;
    vm_tmem_tag moved = {0}, *tags = tags_of(warp);
    for (uint32_t i = 0; i < count; i++) {
        vm_tmem_need need = (vm_tmem_need)words[2 * i + 1];
        if (need == VM_TMEM_NEED_SELECT) {
            predicate = *(const uint32_t *)vm_operand(warp, list[i]);
            continue;
        }
        vm_tmem_tag *tag = &tags[VM_TAG(list[i])];
        if (need == VM_TMEM_NEED_TARGET) {
            *tag = moved;
            tag->reg = words[2 * i];
            memset(&moved, 0, sizeof moved);
            continue;
        }
        vm_tmem_pending_load *load = tag->reg == words[2 * i] ? find_load(w, tag->load) : NULL;
        if (load == NULL)
            continue;
        bool waited = (load->mask & mask) == 0;
        switch (need) {
        case VM_TMEM_NEED_TRUE:
        case VM_TMEM_NEED_FALSE:
        case VM_TMEM_NEED_COPY:
            see(warp, load, tag, list[i]);
            if (need != VM_TMEM_NEED_COPY &&
                ((need == VM_TMEM_NEED_TRUE ? predicate : ~predicate) & mask) == 0)
                break;
            moved = (vm_tmem_tag){.load = tag->load, .index = tag->index, .there = true, .copy = true};
            break;
        case VM_TMEM_NEED_USE:
            see(warp, load, tag, list[i]);
            if (!waited)
                report_use(warp, pc, vm_first_lane(mask), load);
            break;
        case VM_TMEM_NEED_OVERWRITE:
        case VM_TMEM_NEED_PARTLY:
            if (!waited && !tag->copy && !tag->seen) {
                vm_finding *finding =
                    vm_finding_add(warp->cta, VM_FIND_TMEM_OVERWRITE, pc, warp, vm_first_lane(mask));
                if (finding != NULL)
                    finding->other = vm_program_instruction_at(warp->cta->run->program, load->pc);
            }
            if (need == VM_TMEM_NEED_PARTLY)
                see(warp, load, tag, list[i]);
            else
                tag->load = 0;
            break;
        default:
            if (!tag->there)
                fill(vm_tmem_of(warp->cta), load, tag->index, vm_operand(warp, list[i]));
            tag->there = true;
        }
    }
    return VM_GO;
}

/* ---- stores ---- */
static void write_cells(const vm_warp *warp, vm_tmem *t, const vm_tmem_pending_store *store, uint32_t r,
                        const uint32_t *row) {
    vm_tmem_store(t, &store->form, store->column, store->lane, r, row, store->threads,
                  warp->cta->run->launch->tmem_unpack_preserves);
}

/* The cells that a late store wrote: still this CTA's? */
static void complete_store(vm_warp *warp, vm_tmem_pending_store *store) {
    vm_tmem_area areas[2];
    uint32_t column, count = vm_tmem_areas(&store->form, store->column, store->lane, areas);
    vm_tmem_allocation found;
    vm_tmem *t = vm_tmem_of(warp->cta);
    if (store->done)
        return;
    store->done = true;
    for (uint32_t k = 0; k < count; k++)
        if (vm_tmem_check(t, &areas[k], warp->cta->linear, &column, &found) != VM_TMEM_FINE)
            return;
    for (uint32_t r = 0; r < vm_tmem_registers(&store->form); r++)
        write_cells(warp, t, store, r, store->rows + (size_t)r * VM_LANES);
}

/* Stores that a kernel never waits for: the oldest goes as if it had waited. */
static void forget_store(vm_warp *warp, vm_tmem_warp *w) {
    vm_tmem_pending_store first = w->stores.items[0];
    complete_store(warp, &first);
    end_flights(warp, first.flights);
    memmove(w->stores.items, w->stores.items + 1, (w->store_count - 1) * sizeof *w->stores.items);
    w->stores.items[--w->store_count] = first; /* its rows are used again */
}

vm_action vm_external_TMEM_STORE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    const uint32_t *list = warp->cta->run->program->extras.items + op->x + 1;
    uint32_t pc = warp->splits[warp->current].pc;
    if (w->store_count >= PENDING_LIMIT)
        forget_store(warp, w);
    if (w->store_count == w->stores.count)
        base_vector_push(warp->cta->arena, &w->stores, (vm_tmem_pending_store){0});
    vm_tmem_pending_store *store = &w->stores.items[w->store_count];
    uint32_t *rows = store->rows, capacity = store->row_capacity;
    *store = (vm_tmem_pending_store){.form = vm_tmem_form_of(op->imm), .pc = pc, .rows = rows};
    store->row_capacity = capacity;
    store->mask = store->threads = mask;
    if (!admit(warp, pc, vm_first_lane(mask), &store->form, vm_tmem_uniform(warp, pc, list[0], mask), true,
               &store->column, &store->lane, store->flights))
        return VM_GO;
    if (vm_tmem_recorded(warp->cta))
        record(warp, VM_TMEM_EVENT_STORE, pc, &store->form, store->column, store->lane);
    w->store_count++;
    uint32_t count = vm_tmem_registers(&store->form);
    store->done = !is_late(warp, VM_ASYNC_TMEM_STORE, ++w->serial);
    note_class(warp, VM_ASYNC_TMEM_STORE);
    if (!store->done && store->row_capacity < count) {
        store->rows = BASE_NEW_ARRAY(warp->cta->arena, uint32_t, (size_t)count * VM_LANES);
        store->row_capacity = count;
    }
    vm_tmem *t = vm_tmem_of(warp->cta);
    for (uint32_t r = 0; r < count; r++) {
        if (store->done)
            write_cells(warp, t, store, r, vm_operand(warp, list[1 + r]));
        else
            memcpy(store->rows + (size_t)r * VM_LANES, vm_operand(warp, list[1 + r]), VM_ROW_BYTES);
    }
    return VM_GO;
}

/* ---- wait ---- */
static void wait_loads(vm_warp *warp, vm_tmem_warp *w, uint32_t mask) {
    size_t kept = 0;
    for (size_t i = 0; i < w->loads.count; i++) {
        vm_tmem_pending_load *load = &w->loads.items[i];
        load->mask &= ~mask;
        if (load->mask != 0) {
            w->loads.items[kept++] = *load;
            continue;
        }
        end_flights(warp, load->flights);
        if (vm_tmem_recorded(warp->cta) && !load->skipped)
            vm_tmem_record_waited(warp, VM_TMEM_EVENT_LOAD, load->pc, warp->splits[warp->current].pc);
    }
    w->loads.count = kept;
}

static void wait_stores(vm_warp *warp, vm_tmem_warp *w, uint32_t mask) {
    size_t kept = 0;
    for (size_t i = 0; i < w->store_count; i++) {
        vm_tmem_pending_store *store = &w->stores.items[i];
        complete_store(warp, store); /* in the order of issue */
        store->mask &= ~mask;
        if (store->mask == 0) {
            end_flights(warp, store->flights);
            if (vm_tmem_recorded(warp->cta))
                vm_tmem_record_waited(warp, VM_TMEM_EVENT_STORE, store->pc, warp->splits[warp->current].pc);
            continue;
        }
        vm_tmem_pending_store swap = w->stores.items[kept];
        w->stores.items[kept++] = *store;
        w->stores.items[i] = swap;
    }
    w->store_count = kept;
}

vm_action vm_external_TMEM_WAIT(vm_warp *warp, const vm_op *op, uint32_t mask) {
    vm_action action;
    if (!vm_tmem_gather(warp, mask, &action))
        return action;
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    if (op->imm == VM_TMEM_WAIT_LOAD) {
        if (w->loads.count == 0 && w->store_count != 0)
            w->stores.items[w->store_count - 1].other_wait = true;
        wait_loads(warp, w, mask);
    } else {
        for (size_t i = 0; w->store_count == 0 && i < w->loads.count; i++)
            w->loads.items[i].other_wait = true;
        wait_stores(warp, w, mask);
    }
    return VM_GO;
}

vm_action vm_external_TMEM_FENCE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)mask;
    if (op->imm == VM_TMEM_FENCE_OTHER) {
        vm_warp_released(warp);
        vm_warp_acquired(warp);
        return VM_GO;
    }
    vm_tmem_warp *w = vm_tmem_warp_of(warp);
    if (op->imm == VM_TMEM_FENCE_BEFORE)
        w->fence_before = *vm_tmem_of(warp->cta)->clock;
    else
        w->fence_after = *vm_tmem_of(warp->cta)->clock;
    return VM_GO;
}
