/* SPDX-License-Identifier: Apache-2.0
 * Clocks of the race checker (vm_race.h), and what passes them on: barriers of the CTA, of warps and of
 * clusters (PTX ISA 9.7.13), mbarriers, and fences with strong operations (8.7 to 8.9). An arrival publishes
 * what its own thread did and knows, and nothing of the other lanes of its warp. */
#include "vm/vm_race.h"

enum { TIME_LIMIT = UINT32_MAX - (1u << 16), CELL_SPARE = 64 };
#define ORDER_KEY ((uint64_t)1 << 63)

/* ---- clocks ---- */
static uint32_t all_warps(const vm_race_domain *d) {
    return d->warps + 1;
}

/* Numbers of a clock: all warps, and zeros up to whole vectors. */
static uint32_t numbers_of(uint32_t warps) {
    return (warps + 1 + 15) / 16 * 16;
}

static vm_clock *clock_new(vm_race_domain *d) {
    vm_clock *clock = d->free_clocks;
    if (clock != NULL) {
        d->free_clocks = clock->next;
    } else {
        size_t numbers = (sizeof(vm_clock) + sizeof(uint32_t) * numbers_of(d->warps) + 7) / 8 * 8;
        clock = base_arena_allocate(d->arena, numbers + sizeof(uint32_t *) * all_warps(d));
        memset(clock, 0, numbers + sizeof(uint32_t *) * all_warps(d));
        clock->rows = (uint32_t **)(void *)((uint8_t *)clock + numbers);
    }
    clock->references = 1;
    clock->mixed = 0;
    clock->floor = UINT32_MAX;
    return clock;
}

static uint32_t *row_new(vm_race_domain *d) {
    if (d->free_rows.count)
        return d->free_rows.items[--d->free_rows.count];
    return BASE_NEW_ARRAY(d->arena, uint32_t, VM_LANES);
}

static void row_free(vm_race_domain *d, vm_clock *clock, uint32_t warp) {
    base_vector_push(d->arena, &d->free_rows, clock->rows[warp]);
    clock->rows[warp] = NULL;
    clock->mixed--;
}

static void clock_release(vm_race_domain *d, vm_clock *clock) {
    if (clock == NULL || --clock->references)
        return;
    for (uint32_t w = 0; clock->mixed && w < all_warps(d); w++)
        if (clock->rows[w] != NULL)
            row_free(d, clock, w);
    clock->next = d->free_clocks;
    d->free_clocks = clock;
}

static void row_open(vm_race_domain *d, vm_clock *clock, uint32_t warp) {
    if (clock->rows[warp] != NULL)
        return;
    clock->rows[warp] = row_new(d);
    clock->mixed++;
    for (unsigned l = 0; l < VM_LANES; l++)
        clock->rows[warp][l] = clock->base[warp];
}

/* After a row has changed: base is what holds for all lanes, and equal lanes need no row. */
static void row_close(vm_race_domain *d, vm_clock *clock, uint32_t warp) {
    const uint32_t *row = clock->rows[warp];
    uint32_t low = row[0], high = row[0];
    for (unsigned l = 1; l < VM_LANES; l++) {
        low = row[l] < low ? row[l] : low;
        high = row[l] > high ? row[l] : high;
    }
    clock->base[warp] = low;
    if (low == high)
        row_free(d, clock, warp);
}

static vm_clock *clock_copy(vm_race_domain *d, const vm_clock *from) {
    vm_clock *clock = clock_new(d);
    memcpy(clock->base, from->base, sizeof *from->base * all_warps(d));
    clock->floor = from->floor;
    for (uint32_t w = 0; from->mixed && w < all_warps(d); w++)
        if (from->rows[w] != NULL) {
            clock->rows[w] = row_new(d);
            clock->mixed++;
            memcpy(clock->rows[w], from->rows[w], sizeof(uint32_t) * VM_LANES);
        }
    return clock;
}

static void clock_join(vm_race_domain *d, vm_clock *into, const vm_clock *from) {
    into->floor = UINT32_MAX;
    if (!into->mixed && !from->mixed) {
        for (uint32_t w = 0; w < all_warps(d); w++)
            into->base[w] = into->base[w] > from->base[w] ? into->base[w] : from->base[w];
        return;
    }
    for (uint32_t w = 0; w < all_warps(d); w++) {
        if (into->rows[w] == NULL && from->rows[w] == NULL) {
            into->base[w] = into->base[w] > from->base[w] ? into->base[w] : from->base[w];
            continue;
        }
        row_open(d, into, w);
        for (unsigned l = 0; l < VM_LANES; l++) {
            uint32_t other = from->rows[w] ? from->rows[w][l] : from->base[w];
            into->rows[w][l] = into->rows[w][l] > other ? into->rows[w][l] : other;
        }
        row_close(d, into, w);
    }
}

static bool clock_covers(const vm_race_domain *d, const vm_clock *clock, const vm_clock *other) {
    if (clock == other)
        return true;
    for (uint32_t w = 0; w < all_warps(d); w++) {
        if (!(clock->mixed && clock->rows[w]) && !(other->mixed && other->rows[w])) {
            if (clock->base[w] < other->base[w])
                return false;
            continue;
        }
        for (unsigned l = 0; l < VM_LANES; l++)
            if (vm_race_known(clock, w << 5 | l) < vm_race_known(other, w << 5 | l))
                return false;
    }
    return true;
}

/* The clock knows the accesses of these lanes up to a stamp; `all`: the lanes that the warp has. */
static void clock_learn(vm_race_domain *d, vm_clock *clock, uint32_t warp, uint32_t mask, uint32_t all,
                        uint32_t stamp) {
    clock->floor = UINT32_MAX;
    mask |= ~all;
    if (mask == VM_ALL_LANES) {
        if (clock->mixed && clock->rows[warp] != NULL)
            row_free(d, clock, warp);
        clock->base[warp] = stamp;
        return;
    }
    row_open(d, clock, warp);
    VM_FOR_LANES(lane, mask)
    clock->rows[warp][lane] = stamp;
    row_close(d, clock, warp);
}

uint32_t vm_race_floor(const vm_race_domain *d, vm_clock *clock) {
    if (clock->floor == UINT32_MAX) {
        uint32_t low = clock->base[0];
        for (uint32_t w = 1; w < d->warps; w++)
            low = clock->base[w] < low ? clock->base[w] : low;
        clock->floor = low;
    }
    return clock->floor;
}

/* ---- lanes ---- */
static void set_lanes(vm_race_domain *d, vm_race_warp *state, uint32_t mask, vm_clock *clock) {
    VM_FOR_LANES(lane, mask) {
        if (state->lane[lane] == clock)
            continue;
        clock->references++;
        clock_release(d, state->lane[lane]);
        state->lane[lane] = clock;
    }
    state->common = state->lane[0];
    for (unsigned l = 1; l < VM_LANES; l++)
        if (state->lane[l] != state->common)
            state->common = NULL;
}

/* The first lane's clock, and which lanes of the mask share it. */
static uint32_t together(const vm_race_warp *state, uint32_t mask) {
    const vm_clock *clock = state->lane[vm_first_lane(mask)];
    uint32_t lanes = 0;
    VM_FOR_LANES(lane, mask)
    lanes |= (uint32_t)(state->lane[lane] == clock) << lane;
    return lanes;
}

/* Something was published: accesses from now on are later than it. */
static void tick(vm_race_domain *d, vm_race_warp *state) {
    if (d->time >= TIME_LIMIT)
        d->full = true;
    else
        d->time++;
    state->stamp = d->time;
}

static vm_clock *own_clock(vm_race_domain *d, vm_clock **clock) {
    if (*clock == NULL) {
        *clock = clock_new(d);
        for (uint32_t w = 0; w < all_warps(d); w++)
            (*clock)->base[w] = d->start + 1;
    } else if ((*clock)->references > 1) {
        vm_clock *copy = clock_copy(d, *clock);
        clock_release(d, *clock);
        *clock = copy;
    }
    return *clock;
}

void vm_race_release(vm_warp *warp, uint32_t mask, vm_clock **into) {
    if (warp->cta->race == NULL || mask == 0)
        return;
    vm_race_domain *d = warp->cta->race->domain;
    vm_race_warp *state = vm_race_warp_of(warp);
    vm_clock *to = own_clock(d, into);
    for (uint32_t rest = mask; rest;) {
        clock_join(d, to, state->lane[vm_first_lane(rest)]);
        rest &= ~together(state, rest);
    }
    clock_learn(d, to, vm_race_index_of(warp), mask, warp->lanes, state->stamp);
    tick(d, state);
}

void vm_race_acquire(vm_warp *warp, uint32_t mask, const vm_clock *from) {
    if (warp->cta->race == NULL || from == NULL)
        return;
    vm_race_domain *d = warp->cta->race->domain;
    vm_race_warp *state = vm_race_warp_of(warp);
    for (uint32_t rest = mask, lanes; rest; rest &= ~lanes) {
        vm_clock *clock = state->lane[vm_first_lane(rest)];
        lanes = together(state, rest);
        if (clock_covers(d, clock, from))
            continue;
        if (clock->references == (uint32_t)__builtin_popcount(lanes)) {
            clock_join(d, clock, from);
            continue;
        }
        vm_clock *more = clock_copy(d, clock);
        clock_join(d, more, from);
        set_lanes(d, state, lanes, more);
        clock_release(d, more);
    }
}

void vm_race_meet(vm_warp *warp, uint32_t mask, uint32_t named) {
    if (warp->cta->race == NULL || (mask & (mask - 1)) == 0)
        return;
    vm_race_domain *d = warp->cta->race->domain;
    vm_race_warp *state = vm_race_warp_of(warp);
    uint32_t self = vm_race_index_of(warp), ended = warp->lanes & ~warp->live & named;
    uint32_t lanes = together(state, mask);
    vm_clock *clock = state->lane[vm_first_lane(mask)];
    bool whole = (mask | ended) == warp->lanes;
    if (whole && lanes == mask && state->met == state->stamp && state->accessed != state->stamp)
        return; /* they met before, and nothing has happened since */
    if (lanes == mask && clock->references == (uint32_t)__builtin_popcount(mask)) {
        clock_learn(d, clock, self, mask | ended, warp->lanes, state->stamp);
        tick(d, state);
        state->met = whole ? state->stamp : 0;
        return;
    }
    vm_clock *all = clock_copy(d, clock);
    for (uint32_t rest = mask & ~lanes; rest;) {
        clock_join(d, all, state->lane[vm_first_lane(rest)]);
        rest &= ~together(state, rest);
    }
    clock_learn(d, all, self, mask | ended, warp->lanes, state->stamp);
    set_lanes(d, state, mask, all);
    clock_release(d, all);
    tick(d, state);
    state->met = whole ? state->stamp : 0;
}

void vm_race_collective(vm_warp *warp, uint32_t mask, uint32_t members_ref) {
    if (warp->cta->race == NULL || members_ref == VM_REF_NONE)
        return;
    const uint32_t *members = vm_operand(warp, members_ref);
    for (uint32_t rest = mask; rest;) {
        uint32_t wanted = members[vm_first_lane(rest)], lanes = 0;
        VM_FOR_LANES(lane, rest)
        lanes |= (uint32_t)(members[lane] == wanted) << lane;
        vm_race_meet(warp, lanes, wanted);
        rest &= ~lanes;
    }
}

void vm_race_drop(vm_cta *cta, vm_clock **clock) {
    if (cta->race != NULL)
        clock_release(cta->race->domain, *clock);
    *clock = NULL;
}

void vm_race_pour(vm_cta *cta, vm_clock **into, vm_clock **from) {
    if (cta->race == NULL || *from == NULL)
        return;
    vm_race_domain *d = cta->race->domain;
    if (*into == NULL) {
        *into = *from;
        *from = NULL;
        return;
    }
    clock_join(d, own_clock(d, into), *from);
    vm_race_drop(cta, from);
}

void vm_race_learn(vm_cta *cta, vm_clock **into, const vm_clock *from) {
    if (cta->race != NULL && from != NULL)
        clock_join(cta->race->domain, own_clock(cta->race->domain, into), from);
}

void vm_race_ended(vm_cta *cta, vm_clock **into) {
    if (cta->race == NULL || *into == NULL)
        return;
    vm_race_domain *d = cta->race->domain;
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        const vm_warp *warp = &cta->warps[i];
        if (warp->lanes & ~warp->live)
            clock_learn(d, own_clock(d, into), vm_race_index_of(warp), warp->lanes & ~warp->live, warp->lanes,
                        vm_race_warp_of(warp)->stamp);
    }
}

/* ---- fences and strong operations ---- */
static vm_race_place *place_of(vm_race_domain *d, uint64_t key, bool make) {
    if (d->places == NULL || d->place_count * 2 > d->place_mask) {
        uint32_t mask = d->places ? d->place_mask * 2 + 1 : 63;
        vm_race_place *old = d->places;
        uint32_t count = old ? d->place_mask + 1 : 0;
        d->places = BASE_NEW_ARRAY(d->arena, vm_race_place, mask + 1);
        d->place_mask = mask;
        for (uint32_t i = 0; i < count; i++)
            if (old[i].clock != NULL) {
                uint32_t at = (uint32_t)base_hash_mix(old[i].key, 0) & mask;
                while (d->places[at].clock != NULL)
                    at = (at + 1) & mask;
                d->places[at] = old[i];
            }
    }
    uint32_t at = (uint32_t)base_hash_mix(key, 0) & d->place_mask;
    while (d->places[at].clock != NULL && d->places[at].key != key)
        at = (at + 1) & d->place_mask;
    if (d->places[at].clock == NULL) {
        if (!make)
            return NULL;
        d->places[at].key = key;
        d->place_count++;
    }
    return &d->places[at];
}

uint32_t vm_race_async_done(const vm_async *operation, vm_cta *cta, uint32_t offset, vm_clock **into) {
    if (cta->race == NULL)
        return 0;
    vm_race_domain *d = cta->race->domain;
    uint32_t stamp = d->time, lane = 1u << VM_RACE_BARRIER_LANE(offset);
    clock_learn(d, own_clock(d, into), d->warps, lane, VM_ALL_LANES, stamp);
    if (operation->order != 0) { /* who waits for a later one of the order waits for this one, too */
        vm_race_place *place =
            place_of(d, ORDER_KEY | (uint64_t)operation->class << 48 | operation->order, true);
        clock_learn(d, own_clock(d, &place->clock), d->warps, lane, VM_ALL_LANES, stamp);
        clock_join(d, *into, place->clock);
    }
    if (d->time >= TIME_LIMIT)
        d->full = true;
    else
        d->time++;
    return stamp;
}

void vm_race_group(vm_warp *warp, uint32_t mask) {
    if (warp->cta->race == NULL)
        return;
    vm_race_domain *d = warp->cta->race->domain;
    vm_clock *done = NULL;
    clock_learn(d, own_clock(d, &done), d->warps, 1u << VM_RACE_GROUP_LANE(warp), VM_ALL_LANES, d->time);
    vm_race_acquire(warp, mask, done);
    clock_release(d, done);
    tick(d, vm_race_warp_of(warp));
}

uint64_t vm_race_key(const vm_warp *warp, vm_space space, uint64_t address) {
    uint32_t inside = (uint32_t)(space == VM_GENERIC ? address & (VM_WINDOW(1) - 1) : address);
    uint32_t rank = warp->cta->cluster_size ? inside >> VM_RANK_SHIFT : warp->cta->rank;
    return (uint64_t)rank << 32 | (inside & ((1u << VM_RANK_SHIFT) - 1)) >> 2;
}

void vm_race_location(vm_warp *warp, unsigned lane, uint64_t key, bool reads, bool writes) {
    vm_race_domain *d = warp->cta->race->domain;
    vm_race_warp *state = vm_race_warp_of(warp);
    if (reads) {
        const vm_race_place *place = place_of(d, key, false);
        if (place != NULL && !clock_covers(d, state->lane[lane], place->clock)) {
            clock_join(d, own_clock(d, &state->seen[lane]), place->clock);
            state->seeing = true;
        }
    }
    if (writes && state->fenced_at[lane] != 0) {
        vm_race_place *place = place_of(d, key, true);
        vm_clock *to = own_clock(d, &place->clock);
        clock_join(d, to, state->fenced[lane]);
        uint32_t who = VM_RACE_WHO(vm_race_index_of(warp), lane);
        if (vm_race_known(to, who) < state->fenced_at[lane])
            clock_learn(d, to, who >> 5, 1u << lane, warp->lanes, state->fenced_at[lane]);
    }
}

/* fence, membar: what strong reads have met is known from here on, and strong writes from here on publish
 * what came before (PTX ISA 8.8: release and acquire patterns). */
vm_action vm_external_RACE_FENCE(vm_warp *warp, const vm_op *op, uint32_t mask) {
    (void)op;
    if (warp->cta->race == NULL)
        return VM_GO;
    vm_race_domain *d = warp->cta->race->domain;
    vm_race_warp *state = vm_race_warp_of(warp);
    VM_FOR_LANES(lane, state->seeing ? mask : 0) {
        if (state->seen[lane] == NULL)
            continue;
        vm_race_acquire(warp, 1u << lane, state->seen[lane]);
        vm_race_drop(warp->cta, &state->seen[lane]);
    }
    VM_FOR_LANES(lane, mask) {
        state->lane[lane]->references++;
        clock_release(d, state->fenced[lane]);
        state->fenced[lane] = state->lane[lane];
        state->fenced_at[lane] = state->stamp;
    }
    tick(d, state);
    return VM_GO;
}

/* ---- a CTA begins ---- */
static void make_domain(vm_cta *cta, uint32_t count) {
    struct vm_race *race = cta->race;
    vm_race_domain *d = race->own;
    if (d == NULL) {
        d = race->own = BASE_NEW(cta->arena, vm_race_domain);
        d->arena = cta->arena;
        d->warps_per_cta = cta->warp_count;
        d->cta_count = count;
        d->warps = count * cta->warp_count;
        d->warp = BASE_NEW_ARRAY(cta->arena, vm_race_warp, d->warps);
    }
    vm_race_reader none = {0};
    if (d->readers.count == 0)
        base_vector_push(d->arena, &d->readers, none);
    d->readers.count = 1; /* those of the CTA before are in no cell that counts */
    d->free_reader = 0;
    for (uint32_t i = 0; d->places != NULL && i <= d->place_mask; i++) {
        clock_release(d, d->places[i].clock);
        d->places[i].clock = NULL;
    }
    d->place_count = 0;
    d->full = false;
    if (d->time == 0 || d->time > UINT32_MAX / 2) { /* the cells start again, too */
        d->time = 1;
        d->generation++;
    }
    d->start = d->time;
    d->time += 2;
    vm_clock *fresh = clock_new(d);
    for (uint32_t w = 0; w < all_warps(d); w++)
        fresh->base[w] = d->start + 1;
    for (uint32_t w = 0; w < d->warps; w++) {
        vm_race_warp *state = &d->warp[w];
        for (unsigned lane = 0; lane < VM_LANES; lane++) {
            clock_release(d, state->fenced[lane]);
            clock_release(d, state->seen[lane]);
            state->fenced[lane] = state->seen[lane] = NULL;
            state->fenced_at[lane] = 0;
        }
        set_lanes(d, state, VM_ALL_LANES, fresh);
        state->stamp = d->time;
        state->accessed = state->met = 0;
        state->seeing = false;
    }
    clock_release(d, fresh);
    race->domain = d;
}

void vm_race_start(vm_cta *cta) {
    const vm_grid *run = cta->run;
    if (!run->program->checked || run->launch->check == 0)
        return;
    if (cta->race == NULL) {
        struct vm_race *race = cta->race = BASE_NEW(cta->arena, struct vm_race);
        race->shift = run->program->race_shift;
        race->granules = (cta->shared_bytes >> race->shift) + CELL_SPARE;
        race->cells = BASE_NEW_ARRAY(cta->arena, vm_race_cell, race->granules);
        race->lines = cta->shared_bytes / VM_RACE_LINE + 2;
        race->stride = (cta->warp_count * (cta->cluster != NULL ? cta->cluster->size : 1) + 7) / 8 * 8;
        race->line_reads = BASE_NEW_ARRAY(cta->arena, uint32_t, (size_t)race->lines * race->stride);
        race->line_writes = BASE_NEW_ARRAY(cta->arena, uint32_t, (size_t)race->lines * race->stride);
        race->line_async = BASE_NEW_ARRAY(cta->arena, vm_race_async, race->lines);
        race->line_since = BASE_NEW_ARRAY(cta->arena, uint32_t, race->lines);
        race->log = BASE_NEW_ARRAY(cta->arena, vm_race_entry, VM_RACE_LOG);
        race->written = BASE_NEW_ARRAY(cta->arena, uint8_t, race->granules);
        race->line_written = BASE_NEW_ARRAY(cta->arena, uint8_t, race->lines);
        race->probe = BASE_NEW_ARRAY(cta->arena, uint32_t, race->granules);
        race->local_words = (run->kernel->local_bytes + 3) / 4;
        race->local = BASE_NEW_ARRAY(cta->arena, uint32_t, (size_t)race->local_words * cta->warp_count + 1);
        race->races = run->launch->check & VM_CHECK_RACES;
        race->initial = run->launch->check & VM_CHECK_INITIAL;
    }
    struct vm_race *race = cta->race;
    memset(race->local, 0, sizeof *race->local * race->local_words * cta->warp_count);
    for (unsigned i = 0; i < VM_BARRIERS; i++)
        if (cta->barriers[i].clock != NULL)
            vm_race_drop(cta, &cta->barriers[i].clock);
    uint32_t count = cta->cluster != NULL ? cta->cluster->size : 1;
    if (count > 1 && cta->rank != 0) {
        race->domain = cta->cluster->ctas[0]->race->own;
    } else {
        make_domain(cta, count);
        if (count > 1) {
            vm_race_drop(cta, &cta->cluster->race_arrived);
            vm_race_drop(cta, &cta->cluster->race_done);
        }
    }
    if (race->generation != race->domain->generation) {
        memset(race->cells, 0, sizeof *race->cells * race->granules);
        memset(race->line_reads, 0, sizeof(uint32_t) * race->lines * race->stride);
        memset(race->line_writes, 0, sizeof(uint32_t) * race->lines * race->stride);
        race->generation = race->domain->generation;
    }
    memset(race->line_async, 0, sizeof *race->line_async * race->lines);
    memset(race->written, 0, race->granules);
    memset(race->line_written, 0, race->lines);
    race->log_base += race->log_count;
    race->log_count = 0;
    if (race->log_base > UINT32_MAX / 2) {
        memset(race->line_since, 0, sizeof *race->line_since * race->lines);
        race->log_base = 0;
    }
    race->domain->ctas[count > 1 ? cta->rank : 0] = cta;
}
