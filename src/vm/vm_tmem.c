/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory of one SM: columns and their owners, cells and their writers, operations on their way, and
 * the fragments of tcgen05.ld and st. Facts: PTX ISA 9.7.16.1 (geometry), 9.7.16.7 (allocation), 9.7.16.2.3
 * (fragments). That a place starts at a multiple of its size is this machine's choice: PTX does not say where
 * alloc puts it. */
#include <string.h>
#include "base/text.h"
#include "vm/vm_tmem.h"

vm_tmem *vm_tmem_create(base_arena *arena) {
    vm_tmem *t = BASE_NEW(arena, vm_tmem);
    uintptr_t cells = (uintptr_t)base_arena_allocate(arena, VM_TMEM_COLUMNS * sizeof *t->cells + 64);
    t->cells = (void *)((cells + 63) & ~(uintptr_t)63);
    t->arena = arena;
    t->clock = &t->own_clock;
    memset(t->touched, true, sizeof t->touched);
    vm_tmem_reset(t, 0, 0);
    return t;
}

static inline uint64_t bits_between(uint32_t first, uint32_t end) {
    return first >= end ? 0 : UINT64_MAX >> (64 - (end - first)) << first;
}

/* Whole units. */
static void poison(vm_tmem *t, uint32_t begin, uint32_t columns) {
    for (uint32_t l = 0; l < VM_TMEM_LANES; l++)
        t->cells[begin][l] = VM_TMEM_POISON;
    for (uint32_t c = begin + 1; c < begin + columns; c++)
        memcpy(t->cells[c], t->cells[begin], sizeof t->cells[c]);
    for (unsigned half = 0; half < 2; half++)
        for (unsigned k = 0; k < 4; k++)
            memset(t->written[half][k] + begin, 0, columns * sizeof(uint32_t));
    uint32_t first = begin / VM_TMEM_GRAIN, grains = columns / VM_TMEM_GRAIN;
    for (unsigned half = 0; half < VM_TMEM_LANES / 16; half++) {
        memset(t->grain_writers[half] + first, 0, grains * sizeof **t->grain_writers);
        t->whole[half] |= bits_between(first, first + grains);
        t->full[half] &= ~bits_between(first, first + grains);
    }
}

void vm_tmem_reset(vm_tmem *t, uint32_t base, uint64_t random) {
    memset(t->slot_of, 0, sizeof t->slot_of);
    memset(t->allocations, 0, sizeof t->allocations);
    for (uint32_t unit = 0; unit < VM_TMEM_COLUMNS / VM_TMEM_UNIT; unit++)
        if (t->touched[unit]) /* only who has columns writes there */
            poison(t, unit * VM_TMEM_UNIT, VM_TMEM_UNIT);
    memset(t->touched, false, sizeof t->touched);
    t->base = base % VM_TMEM_COLUMNS / VM_TMEM_UNIT * VM_TMEM_UNIT;
    t->random = random;
    t->own_clock = t->last_write = t->next_flight = 0;
    memset(t->storers, 0, sizeof t->storers);
    memset(t->engine_write, 0, sizeof t->engine_write);
    t->half_rows = false;
    t->flights.count = 0;
    memset(t->open_count, 0, sizeof t->open_count);
    memset(t->open_grains, 0, sizeof t->open_grains);
    memset(t->waited, 0, sizeof t->waited);
}

/* ---- allocation ---- */
static bool is_free(const vm_tmem *t, uint32_t begin, uint32_t columns) {
    for (uint32_t c = begin; c < begin + columns; c += VM_TMEM_UNIT)
        if (t->slot_of[c] != 0)
            return false;
    return true;
}

int32_t vm_tmem_place(vm_tmem *t, const vm_tmem *peer, uint32_t columns) {
    if (!vm_tmem_size_legal(columns))
        return -1;
    int32_t places[VM_TMEM_ALLOCATIONS];
    uint32_t count = 0, first = (t->base + columns - 1) / columns * columns % VM_TMEM_COLUMNS;
    for (uint32_t k = 0; k < VM_TMEM_COLUMNS / columns; k++) {
        uint32_t begin = (first + k * columns) % VM_TMEM_COLUMNS;
        if (is_free(t, begin, columns) && (peer == NULL || is_free(peer, begin, columns)))
            places[count++] = (int32_t)begin;
    }
    if (count == 0)
        return -1;
    if (t->random == 0)
        return places[0];
    t->random = base_hash_mix(t->random, columns) | 1;
    return places[(t->random >> 32) % count];
}

vm_tmem_allocation *vm_tmem_take(vm_tmem *t, uint32_t begin, uint32_t columns, uint64_t owner, uint32_t pc,
                                 bool pair) {
    for (uint32_t slot = 0; slot < VM_TMEM_ALLOCATIONS; slot++) {
        vm_tmem_allocation *a = &t->allocations[slot];
        if (a->columns != 0)
            continue;
        *a = (vm_tmem_allocation){.begin = begin, .columns = columns, .owner = owner, .pc = pc, .pair = pair};
        memset(t->slot_of + begin, (int)slot + 1, columns);
        for (uint32_t unit = begin / VM_TMEM_UNIT; unit < (begin + columns) / VM_TMEM_UNIT; unit++) {
            if (t->touched[unit]) /* else it is poison since the reset */
                poison(t, unit * VM_TMEM_UNIT, VM_TMEM_UNIT);
            t->touched[unit] = true;
        }
        return a;
    }
    return NULL; /* cannot be: 16 allocations of 32 columns fill the memory */
}

const vm_tmem_allocation *vm_tmem_find(const vm_tmem *t, uint32_t column) {
    if (column >= VM_TMEM_COLUMNS || t->slot_of[column] == 0)
        return NULL;
    return &t->allocations[t->slot_of[column] - 1];
}

vm_tmem_free_result vm_tmem_free(vm_tmem *t, uint32_t taddr, uint32_t columns, uint64_t owner, bool pair,
                                 vm_tmem_allocation *found) {
    memset(found, 0, sizeof *found);
    if (taddr >= VM_TMEM_COLUMNS)
        return VM_TMEM_FREE_OUTSIDE;
    const vm_tmem_allocation *a = vm_tmem_find(t, taddr);
    if (a == NULL)
        return VM_TMEM_FREE_NOBODYS;
    *found = *a;
    if (a->owner != owner)
        return VM_TMEM_FREE_FOREIGN;
    t->allocations[t->slot_of[taddr] - 1].refused = true;
    if (a->begin != taddr)
        return VM_TMEM_FREE_INSIDE;
    if (a->columns != columns)
        return VM_TMEM_FREE_SIZE;
    if (a->pair != pair)
        return VM_TMEM_FREE_GROUP;
    memset(&t->allocations[t->slot_of[taddr] - 1], 0, sizeof *a);
    memset(t->slot_of + found->begin, 0, found->columns);
    return VM_TMEM_FREED;
}

uint32_t vm_tmem_free_columns(const vm_tmem *t) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < VM_TMEM_COLUMNS; c++)
        count += t->slot_of[c] == 0;
    return count;
}

/* ---- areas ---- */
bool vm_tmem_overlap(const vm_tmem_area *a, const vm_tmem_area *b) {
    if ((uint64_t)a->column >= (uint64_t)b->column + b->columns ||
        (uint64_t)b->column >= (uint64_t)a->column + a->columns)
        return false;
    return ((a->lanes[0] & b->lanes[0]) | (a->lanes[1] & b->lanes[1]) | (a->lanes[2] & b->lanes[2]) |
            (a->lanes[3] & b->lanes[3])) != 0;
}

vm_tmem_fault vm_tmem_check(const vm_tmem *t, const vm_tmem_area *area, uint64_t owner, uint32_t *column,
                            vm_tmem_allocation *found) {
    uint64_t end = (uint64_t)area->column + area->columns;
    memset(found, 0, sizeof *found);
    for (uint64_t c = area->column; c < end;) {
        const vm_tmem_allocation *a = c < VM_TMEM_COLUMNS ? vm_tmem_find(t, (uint32_t)c) : NULL;
        if (a != NULL && a->owner == owner) {
            c = a->begin + a->columns;
            continue;
        }
        *column = (uint32_t)c;
        if (a != NULL)
            *found = *a;
        return c >= VM_TMEM_COLUMNS ? VM_TMEM_OUTSIDE : a == NULL ? VM_TMEM_UNALLOCATED : VM_TMEM_FOREIGN;
    }
    return VM_TMEM_FINE;
}

bool vm_tmem_unwritten(const vm_tmem *t, const vm_tmem_area *area, bool low_only, uint32_t *column,
                       uint32_t *lane) {
    for (unsigned k = 0; k < 4; k++) {
        if (area->lanes[k] == 0)
            continue;
        const uint32_t *low = t->written[0][k], *high = t->written[1][k];
        uint64_t all = UINT64_MAX, two; /* two columns at a time, as long as nothing is missing */
        uint32_t end = area->column + area->columns, pairs = area->columns & ~1u;
        for (uint32_t c = area->column; c < area->column + pairs; c += 2) {
            memcpy(&two, low + c, sizeof two);
            all &= two;
            memcpy(&two, high + c, sizeof two);
            all &= low_only ? UINT64_MAX : two;
        }
        uint64_t wanted = (uint64_t)area->lanes[k] << 32 | area->lanes[k];
        for (uint32_t c = (wanted & ~all) == 0 ? area->column + pairs : area->column; c < end; c++) {
            uint32_t have = low[c] & (low_only ? UINT32_MAX : high[c]);
            uint32_t missing = area->lanes[k] & ~have;
            if (missing == 0)
                continue;
            *column = c;
            *lane = k * 32 + (uint32_t)__builtin_ctz(missing);
            return true;
        }
    }
    return false;
}

/* Bit per 16 lanes of which the area has some. */
static inline uint32_t halves_of(const vm_tmem_area *area) {
    uint32_t halves = 0;
    for (unsigned k = 0; k < 4; k++)
        halves |= ((area->lanes[k] & 0xffffu) != 0 ? 1u : 0u) << 2 * k | (area->lanes[k] >> 16 != 0 ? 1u : 0u)
                                                                             << (2 * k + 1);
    return halves;
}

/* Bits of the grains that the area touches. */
static inline uint64_t grains_of(const vm_tmem_area *area) {
    return bits_between(area->column / VM_TMEM_GRAIN,
                        (area->column + area->columns + VM_TMEM_GRAIN - 1) / VM_TMEM_GRAIN);
}

static void write_bits(vm_tmem *t, const vm_tmem_area *area, bool low_only, unsigned k) {
    uint32_t lanes = area->lanes[k], high = low_only ? 0 : lanes, end = area->column + area->columns;
    uint32_t *low_written = t->written[0][k], *high_written = t->written[1][k], c = area->column;
    const uint64_t both = (uint64_t)lanes << 32 | lanes, known = t->full[2 * k] & t->full[2 * k + 1];
    if (!low_only && (grains_of(area) & ~known) == 0)
        return;
    for (uint64_t two; !low_only && c + 1 < end; c += 2) { /* two columns at a time */
        memcpy(&two, low_written + c, sizeof two);
        two |= both;
        memcpy(low_written + c, &two, sizeof two);
        memcpy(&two, high_written + c, sizeof two);
        two |= both;
        memcpy(high_written + c, &two, sizeof two);
    }
    for (; c < end; c++) {
        low_written[c] |= lanes;
        high_written[c] = (high_written[c] & ~lanes) | high;
    }
}

/* Columns of one grain that do not fill it. */
static void write_some(vm_tmem *t, uint32_t half, uint32_t begin, uint32_t end,
                       const vm_tmem_writer *writer) {
    uint32_t grain = begin / VM_TMEM_GRAIN;
    vm_tmem_writer *w = t->writers[half];
    if (t->whole[half] >> grain & 1) {
        for (uint32_t c = grain * VM_TMEM_GRAIN; c < (grain + 1) * VM_TMEM_GRAIN; c++)
            w[c] = t->grain_writers[half][grain];
        t->whole[half] &= ~((uint64_t)1 << grain);
    }
    for (uint32_t c = begin; c < end; c++)
        w[c] = *writer;
}

/* The columns of 16 lanes have a new writer. */
static inline void write_half(vm_tmem *t, uint32_t half, uint32_t begin, uint32_t end,
                              const vm_tmem_writer *writer) {
    const uint32_t first = (begin + VM_TMEM_GRAIN - 1) / VM_TMEM_GRAIN, last = end / VM_TMEM_GRAIN;
    if (first > last) { /* inside of one grain */
        write_some(t, half, begin, end, writer);
        return;
    }
    if (begin % VM_TMEM_GRAIN != 0)
        write_some(t, half, begin, first * VM_TMEM_GRAIN, writer);
    if (end % VM_TMEM_GRAIN != 0)
        write_some(t, half, last * VM_TMEM_GRAIN, end, writer);
    vm_tmem_writer *w = t->grain_writers[half] + first, *stop = t->grain_writers[half] + last;
    for (const vm_tmem_writer same = *writer; w < stop; w++)
        *w = same;
    t->whole[half] |= bits_between(first, last);
}

/* Cells that hold what was written whole. */
static inline void fill_half(vm_tmem *t, uint32_t half, const vm_tmem_area *area) {
    if ((area->lanes[half / 2] >> half % 2 * 16 & 0xffff) == 0xffff)
        t->full[half] |= bits_between((area->column + VM_TMEM_GRAIN - 1) / VM_TMEM_GRAIN,
                                      (area->column + area->columns) / VM_TMEM_GRAIN);
}

void vm_tmem_mark(vm_tmem *t, const vm_tmem_area *area, bool low_only, vm_tmem_writer writer) {
    writer.clock = ++*t->clock;
    t->last_write = writer.clock;
    t->half_rows |=
        VM_TMEM_LAYOUT_LETTER(writer.layout) == 'F' || VM_TMEM_LAYOUT_LETTER(writer.layout) == 'C';
    for (unsigned k = 0; k < 4; k++) {
        if (area->lanes[k] == 0)
            continue;
        if (writer.agent & VM_TMEM_ENGINE)
            t->engine_write[k] = writer.clock;
        else
            t->storers[k] |= 1u << writer.agent % 32;
        write_bits(t, area, low_only, k);
    }
    for (uint32_t rest = halves_of(area); rest; rest &= rest - 1) {
        uint32_t half = (uint32_t)__builtin_ctz(rest);
        if (low_only)
            t->full[half] &= ~grains_of(area);
        else
            fill_half(t, half, area);
        write_half(t, half, area->column, area->column + area->columns, &writer);
    }
}

void vm_tmem_shift(vm_tmem *t, uint32_t column, uint32_t lane) {
    for (uint32_t c = column; c < column + VM_TMEM_SHIFT_COLUMNS; c++)
        memmove(&t->cells[c][lane], &t->cells[c][lane + 1], 31 * sizeof t->cells[c][lane]);
}

void vm_tmem_shift_mark(vm_tmem *t, const vm_tmem_area *area, vm_tmem_writer writer) {
    writer.clock = ++*t->clock;
    t->last_write = writer.clock;
    for (unsigned k = 0; k < 4; k++)
        if (area->lanes[k] != 0)
            t->engine_write[k] = writer.clock;
    for (uint32_t c = area->column; c < area->column + area->columns; c++)
        for (unsigned h = 0; h < 2; h++)
            for (unsigned k = 0; k < 4; k++)
                if (area->lanes[k] != 0)
                    t->written[h][k][c] = t->written[h][k][c] >> 1 | (t->written[h][k][c] & 1u << 31);
    for (uint32_t rest = halves_of(area); rest; rest &= rest - 1) {
        uint32_t half = (uint32_t)__builtin_ctz(rest), end = area->column + area->columns;
        t->full[half] &= ~grains_of(area);
        for (uint32_t c = area->column, next; c < end; c = next) {
            next = (c / VM_TMEM_GRAIN + 1) * VM_TMEM_GRAIN;
            next = next < end ? next : end;
            write_some(t, half, c, next, &writer);
        }
    }
}

const vm_tmem_writer *vm_tmem_foreign_writer(const vm_tmem *t, const vm_tmem_area *area, uint64_t after,
                                             uint16_t agent, uint16_t ignored) {
    bool others = false; /* most often the warp is alone with its lanes */
    for (unsigned k = 0; k < 4; k++)
        others |=
            area->lanes[k] != 0 && ((t->storers[k] & ~(1u << agent % 32)) != 0 || t->engine_write[k] > after);
    if (t->last_write <= after || !others)
        return NULL;
    const vm_tmem_writer *last = NULL;
    for (uint32_t rest = halves_of(area); rest; rest &= rest - 1)
        for (uint32_t c = area->column, half = (uint32_t)__builtin_ctz(rest);
             c < area->column + area->columns; c = vm_tmem_writer_next(t, half, c)) {
            const vm_tmem_writer *w = vm_tmem_writer_at(t, half, c);
            if (w->clock > after && (w->agent & ~ignored) != agent &&
                (last == NULL || w->clock > last->clock))
                last = w;
        }
    return last;
}

_Static_assert(sizeof(vm_tmem_writer) == 2 * sizeof(uint64_t), "two words");

/* ---- operations on their way ---- */
enum {
    FLIGHTS_KEPT = 32,
    WAITED_LIMIT = 64
}; /* of those that were waited for, for the sake of other warps */

/* Its warp has waited and released since: most others know. */
static bool is_old(const vm_tmem_flight *f) {
    return f->released != NULL && *f->released > f->waited_at;
}

static inline unsigned is_writer(vm_tmem_kind kind) {
    return (kind & VM_TMEM_WRITERS) != 0;
}

static inline void note_waited(vm_tmem *t, const vm_tmem_flight *f) {
    const uint32_t bit = 1u << f->agent % 32;
    t->waited[0] |= f->area.lanes[0] != 0 ? bit : 0;
    t->waited[1] |= f->area.lanes[1] != 0 ? bit : 0;
    t->waited[2] |= f->area.lanes[2] != 0 ? bit : 0;
    t->waited[3] |= f->area.lanes[3] != 0 ? bit : 0;
}

static void find_open_grains(vm_tmem *t) {
    t->open_grains[0] = t->open_grains[1] = 0;
    for (size_t i = 0; i < t->flights.count; i++)
        if (t->flights.items[i].released == NULL)
            t->open_grains[is_writer(t->flights.items[i].kind)] |= grains_of(&t->flights.items[i].area);
}

/* One that was open is no longer. */
static inline void close_flight(vm_tmem *t, vm_tmem_kind kind) {
    if (--t->open_count[is_writer(kind)] == 0)
        t->open_grains[is_writer(kind)] = 0;
    else
        find_open_grains(t);
}

static void find_waited(vm_tmem *t) {
    memset(t->waited, 0, sizeof t->waited);
    for (size_t i = 0; i < t->flights.count; i++)
        if (t->flights.items[i].released != NULL)
            note_waited(t, &t->flights.items[i]);
}

static void remove_at(vm_tmem *t, size_t i) {
    bool open = t->flights.items[i].released == NULL;
    vm_tmem_kind kind = t->flights.items[i].kind;
    if (i < --t->flights.count)
        t->flights.items[i] = t->flights.items[t->flights.count];
    if (open)
        close_flight(t, kind);
}

static inline bool same_lanes(const vm_tmem_area *a, const vm_tmem_area *b) {
    return ((a->lanes[0] ^ b->lanes[0]) | (a->lanes[1] ^ b->lanes[1]) | (a->lanes[2] ^ b->lanes[2]) |
            (a->lanes[3] ^ b->lanes[3])) == 0;
}

/* Two areas of the same lanes whose columns touch become one. */
static inline bool join_areas(vm_tmem_area *to, const vm_tmem_area *from) {
    if (from->column > to->column + to->columns || to->column > from->column + from->columns ||
        !same_lanes(to, from))
        return false;
    uint32_t end = to->column + to->columns, other = from->column + from->columns;
    to->column = to->column < from->column ? to->column : from->column;
    to->columns = (end > other ? end : other) - to->column;
    return true;
}

/* A flight that the new one can be a part of: stores of a warp end together, at its wait, so those side by
 * side are one; a load is only the same as one of the same cells. */
static inline bool absorbs(vm_tmem_flight *f, vm_tmem_kind kind, uint16_t agent, const vm_tmem_area *area) {
    if (f->kind != kind || f->agent != agent || f->released != NULL)
        return false;
    if (kind == VM_TMEM_STORE)
        return join_areas(&f->area, area);
    return kind == VM_TMEM_LOAD && f->area.column == area->column && f->area.columns == area->columns &&
           same_lanes(&f->area, area);
}

static void forget_old(vm_tmem *t) {
    for (size_t i = 0; i < t->flights.count;)
        if (is_old(&t->flights.items[i]))
            remove_at(t, i);
        else
            i++;
    find_waited(t);
}

uint64_t vm_tmem_flight_begin(vm_tmem *t, vm_tmem_kind kind, uint16_t agent, uint32_t pc,
                              const vm_tmem_area *area) {
    const uint64_t id = ++t->next_flight, grains = grains_of(area);
    if (t->flights.count >= FLIGHTS_KEPT)
        forget_old(t);
    for (size_t i = 0; t->open_count[is_writer(kind)] != 0 && i < t->flights.count; i++)
        if (absorbs(&t->flights.items[i], kind, agent, area)) {
            vm_tmem_flight *f = &t->flights.items[i];
            if (kind == VM_TMEM_LOAD)
                f->id = id; /* the later one ends it */
            f->pc = kind == VM_TMEM_LOAD ? pc : f->pc;
            t->open_grains[is_writer(kind)] |= grains;
            return f->id;
        }
    base_vector_push(t->arena, &t->flights,
                     (vm_tmem_flight){.kind = kind, .agent = agent, .pc = pc, .id = id, .area = *area});
    t->open_count[is_writer(kind)]++;
    t->open_grains[is_writer(kind)] |= grains;
    return id;
}

void vm_tmem_flight_end(vm_tmem *t, uint64_t id) {
    for (size_t i = 0; i < t->flights.count; i++)
        if (t->flights.items[i].id == id) {
            remove_at(t, i);
            return;
        }
}

/* Makes the flight a part of one of the same warp that was waited for earlier, of which nobody knows yet. The
 * earlier time stays: what is not certain is no conflict. */
static inline bool joins(vm_tmem_flight *other, const vm_tmem_flight *mine) {
    return other != mine && other->released == mine->released && other->kind == mine->kind &&
           !is_old(other) && join_areas(&other->area, &mine->area);
}

void vm_tmem_flight_waited(vm_tmem *t, uint64_t id, uint64_t now, const uint64_t *released) {
    size_t at = t->flights.count, waited = 0, oldest = SIZE_MAX;
    while (at > 0 && t->flights.items[at - 1].id != id) /* most often one of the last */
        at--;
    if (at-- == 0)
        return;
    vm_tmem_flight *items = t->flights.items, *mine = &items[at];
    const bool was_open = mine->released == NULL;
    uint32_t *joined = &t->joined[is_writer(mine->kind)][mine->agent % 32];
    mine->released = released;
    mine->waited_at = now;
    if (was_open)
        close_flight(t, mine->kind);
    if (*joined < t->flights.count && joins(&items[*joined], mine)) {
        remove_at(t, at);
        return;
    }
    note_waited(t, mine);
    for (size_t i = 0; i < t->flights.count; i++) {
        if (items[i].released != released || i == at || is_old(&items[i]))
            continue;
        if (joins(&items[i], mine)) {
            *joined = (uint32_t)i;
            remove_at(t, at);
            return;
        }
        waited++;
        if (oldest == SIZE_MAX || items[i].id < items[oldest].id)
            oldest = i;
    }
    if (waited > WAITED_LIMIT)
        remove_at(t, oldest);
}

void vm_tmem_flight_drop(vm_tmem *t, const vm_tmem_area *area) {
    for (size_t i = 0; i < t->flights.count;) {
        if (vm_tmem_overlap(&t->flights.items[i].area, area))
            remove_at(t, i);
        else
            i++;
    }
    find_waited(t);
}

static bool is_over(const vm_tmem_flight *f, uint16_t agent, uint64_t acquired) {
    if (f->released == NULL)
        return false;
    return f->agent == agent || f->agent >> 8 != agent >> 8 ||
           (*f->released > f->waited_at && acquired > f->waited_at);
}

const vm_tmem_flight *vm_tmem_flight_find(const vm_tmem *t, const vm_tmem_area *area, uint32_t kinds,
                                          uint16_t agent, uint64_t acquired) {
    const vm_tmem_flight *first = NULL; /* the oldest, whatever order the list has */
    for (size_t i = 0; i < t->flights.count; i++) {
        const vm_tmem_flight *f = &t->flights.items[i];
        if (f->kind & kinds && vm_tmem_overlap(&f->area, area) && (first == NULL || f->id < first->id) &&
            !is_over(f, agent, acquired))
            first = f;
    }
    return first;
}

/* ---- an access of which nothing is to be said ---- */
uint64_t vm_tmem_plain_begin(vm_tmem *t, const vm_tmem_area *area, const vm_tmem_visitor *visitor,
                             uint32_t pc) {
    const uint32_t column = area->column, end = column + area->columns, window = visitor->window;
    const bool store = visitor->store;
    if (column >= VM_TMEM_COLUMNS || area->columns > VM_TMEM_COLUMNS - column || t->half_rows)
        return 0;
    const unsigned slot = t->slot_of[column];
    if (slot == 0)
        return 0;
    const vm_tmem_allocation *a = &t->allocations[slot - 1];
    if (t->slot_of[end - 1] != slot || a->owner != visitor->owner ||
        (a->warp != (visitor->agent & (VM_TMEM_ENGINE - 1)) && visitor->acquired <= a->event))
        return 0;
    const uint64_t grains = grains_of(area);
    const uint32_t others = (t->waited[window] | t->storers[window]) & ~(1u << visitor->agent % 32);
    if ((grains & (t->open_grains[1] | (store ? t->open_grains[0] : 0))) != 0 || others != 0 ||
        (t->engine_write[window] > visitor->fence_after && t->last_write > visitor->fence_after))
        return 0;
    const uint32_t lanes = area->lanes[window];
    const uint64_t empty = ((lanes & 0xffff) != 0 ? grains & ~t->full[2 * window] : 0) |
                           (lanes >> 16 != 0 ? grains & ~t->full[2 * window + 1] : 0);
    if (!store)
        return empty != 0 ? 0 : vm_tmem_flight_begin(t, VM_TMEM_LOAD, visitor->agent, pc, area);
    if (empty != 0) {
        vm_tmem_mark(t, area, false, (vm_tmem_writer){.pc = pc, .agent = visitor->agent});
    } else { /* the same, where all was written before */
        vm_tmem_writer writer = {.clock = ++*t->clock, .pc = pc, .agent = visitor->agent};
        t->last_write = writer.clock;
        t->storers[window] |= 1u << visitor->agent % 32;
        if ((lanes & 0xffff) != 0)
            write_half(t, 2 * window, column, end, &writer);
        if (lanes >> 16 != 0)
            write_half(t, 2 * window + 1, column, end, &writer);
    }
    return vm_tmem_flight_begin(t, VM_TMEM_STORE, visitor->agent, pc, area);
}

/* ---- ld and st ---- */
static const struct {
    uint8_t lanes, columns, registers; /* of one repetition */
} shapes[VM_TMEM_SHAPE_COUNT] = {
    [VM_TMEM_32X32B] = {32, 1, 1},  [VM_TMEM_16X64B] = {16, 2, 1},   [VM_TMEM_16X128B] = {16, 4, 2},
    [VM_TMEM_16X256B] = {16, 8, 4}, [VM_TMEM_16X32BX2] = {16, 1, 1},
};

uint32_t vm_tmem_registers(const vm_tmem_form *form) {
    if (form->shape >= VM_TMEM_SHAPE_COUNT || form->count == 0 || (form->count & (form->count - 1)) != 0)
        return 0;
    uint32_t registers = (uint32_t)shapes[form->shape].registers * form->count;
    return registers <= 128 ? registers : 0;
}

uint32_t vm_tmem_areas(const vm_tmem_form *form, uint32_t column, uint32_t lane, vm_tmem_area areas[2]) {
    uint32_t columns = (uint32_t)shapes[form->shape].columns * form->count * (form->pack ? 2 : 1);
    uint32_t lanes = shapes[form->shape].lanes, within = lane % 32, window = lane / 32;
    if (within + lanes <= 32) {
        uint32_t mask = (lanes == 32 ? UINT32_MAX : (1u << lanes) - 1) << within;
        areas[0] = (vm_tmem_area){.lanes = {window == 0 ? mask : 0, window == 1 ? mask : 0,
                                            window == 2 ? mask : 0, window == 3 ? mask : 0},
                                  .column = column,
                                  .columns = columns};
    } else {
        areas[0] = vm_tmem_rows(column, columns, lane, lanes);
    }
    if (form->shape != VM_TMEM_16X32BX2)
        return 1;
    areas[1] = areas[0];
    areas[1].column += (uint32_t)form->split;
    return 2;
}

/* Lane and column of thread t in the repetition that register r belongs to; without the split of .16x32bx2.
 */
typedef struct spot {
    uint8_t lane, column;
} spot;
static inline spot spot_of(vm_tmem_shape shape, uint32_t t, uint32_t r) {
    switch (shape) {
    case VM_TMEM_32X32B:
        return (spot){(uint8_t)t, 0};
    case VM_TMEM_16X64B:
        return (spot){(uint8_t)(t / 4 + 8 * (t % 2)), (uint8_t)(t / 2 % 2)};
    case VM_TMEM_16X128B:
        return (spot){(uint8_t)(t / 4 + 8 * (r % 2)), (uint8_t)(t % 4)};
    case VM_TMEM_16X256B:
        return (spot){(uint8_t)(t / 4 + 8 * (r / 2 % 2)), (uint8_t)(2 * (t % 4) + r % 2)};
    default:
        return (spot){(uint8_t)(t % 16), 0};
    }
}

/* First column of the repetition of register r, before the doubling of .pack. */
static uint32_t repetition(vm_tmem_shape shape, uint32_t r) {
    return r / shapes[shape].registers * shapes[shape].columns;
}

void vm_tmem_load(const vm_tmem *t, const vm_tmem_form *form, uint32_t column, uint32_t lane, uint32_t r,
                  uint32_t to[32]) {
    vm_tmem_shape shape = (vm_tmem_shape)form->shape;
    if (shape == VM_TMEM_32X32B && !form->pack) {
        memcpy(to, &t->cells[column + r][lane], 32 * sizeof *to);
        return;
    }
    uint32_t scale = form->pack ? 2 : 1, first = column + repetition(shape, r) * scale;
    for (uint32_t thread = 0; thread < 32; thread++) {
        spot at = spot_of(shape, thread, r);
        uint32_t c = first + at.column * scale;
        if (shape == VM_TMEM_16X32BX2 && thread >= 16)
            c += (uint32_t)form->split;
        const uint32_t *cell = &t->cells[c][lane + at.lane];
        to[thread] = form->pack ? (cell[0] & 0xffffu) | cell[VM_TMEM_LANES] << 16 : cell[0];
    }
}

void vm_tmem_store(vm_tmem *t, const vm_tmem_form *form, uint32_t column, uint32_t lane, uint32_t r,
                   const uint32_t from[32], uint32_t threads, bool preserve) {
    vm_tmem_shape shape = (vm_tmem_shape)form->shape;
    if (shape == VM_TMEM_32X32B && !form->pack && threads == UINT32_MAX) {
        memcpy(&t->cells[column + r][lane], from, 32 * sizeof *from);
        return;
    }
    uint32_t scale = form->pack ? 2 : 1, first = column + repetition(shape, r) * scale;
    uint32_t keep = preserve ? 0xffff0000u : 0;
    for (uint32_t thread = 0; thread < 32; thread++) {
        if (!(threads >> thread & 1))
            continue;
        spot at = spot_of(shape, thread, r);
        uint32_t c = first + at.column * scale;
        if (shape == VM_TMEM_16X32BX2 && thread >= 16)
            c += (uint32_t)form->split;
        uint32_t *cell = &t->cells[c][lane + at.lane];
        if (form->pack) {
            cell[0] = (cell[0] & keep) | (from[thread] & 0xffffu);
            cell[VM_TMEM_LANES] = (cell[VM_TMEM_LANES] & keep) | from[thread] >> 16;
        } else {
            cell[0] = from[thread];
        }
    }
}
