/* SPDX-License-Identifier: Apache-2.0
 * Accesses to shared memory against the clocks (vm_race.h). Each granule remembers its last write and the
 * reads since then; an access is a race when it meets one of them that its thread does not know of, one of
 * the two writes, and not both are strong operations (PTX ISA 8.9.3: morally strong). What is in flight is
 * left to vm_async.c. A granule is as wide as the narrowest access of the program, so that neighbours never
 * share one. */
#include "vm/vm_race.h"

typedef struct visit { /* one access of one lane */
    vm_warp *warp;
    const vm_race_domain *domain;
    vm_clock *clock;
    uint32_t pc, stamp, floor, instance;
    uint16_t who;
    unsigned lane;
    bool whole;          /* the whole warp did it together */
    bool strong, checks; /* checks: for what comes later, nothing is remembered */
    const vm_op *op;     /* a store of registers; NULL: something else */
    vm_cta *cta;         /* whose memory */
    uint32_t granule;    /* now looked at */
    uint32_t offset;     /* of the first byte of the access */
    uint32_t bytes;
} visit;

/* ---- reports ---- */
typedef struct side { /* one of the two accesses */
    uint32_t pc, who;
    bool store;
} side;

static vm_warp *warp_of(const vm_race_domain *d, uint32_t who) {
    uint32_t index = who >> 5;
    if (index >= d->warps)
        return NULL;
    return &d->ctas[index / d->warps_per_cta]->warps[index % d->warps_per_cta];
}

/* What stands between the two, as far as it can be told. */
static uint64_t relation(const visit *v, uint32_t other, uint32_t stamp) {
    uint32_t mine = v->who >> 5, theirs = other >> 5;
    if (theirs == v->domain->warps)
        return VM_RACE_ASYNC;
    if (mine == theirs)
        return VM_RACE_SAME_WARP;
    for (uint32_t lane = 0; lane < VM_LANES; lane++)
        if (vm_race_known(v->clock, theirs << 5 | lane) >= stamp)
            return VM_RACE_ARRIVED; /* of its warp, another lane has told */
    return mine / v->domain->warps_per_cta == theirs / v->domain->warps_per_cta ? VM_RACE_CTA
                                                                                : VM_RACE_CLUSTER;
}

static void place_side(const visit *v, uint32_t who, uint32_t cta[3], uint32_t thread[3]) {
    const vm_warp *warp = warp_of(v->domain, who);
    memcpy(cta, (warp ? warp->cta : v->cta)->id, 3 * sizeof *cta);
    if (warp == NULL)
        return;
    const uint32_t *rows = (const uint32_t *)(warp->base[VM_REF_WARP] + VM_REF_WARP);
    for (unsigned i = 0; i < 3; i++)
        thread[i] = rows[(VM_WARP_TID_X + i) * VM_LANES + (who & 31)];
}

/* Of a read and a write the read comes first, of two writes the one that stands first in the program: so
 * every schedule names the same pair. */
static void report(const visit *v, bool store, uint32_t other_who, uint32_t other_pc, bool other_store,
                   uint32_t other_stamp) {
    side here = {v->pc, v->who, store}, there = {other_pc, other_who, other_store};
    bool turn = store != other_store ? store : v->pc > other_pc;
    side first = turn ? there : here, second = turn ? here : there;
    vm_finding_kind kind = store != other_store ? VM_FIND_RACE_READ_WRITE : VM_FIND_RACE_WRITE_WRITE;
    vm_finding *finding = vm_finding_pair(v->warp, kind, first.pc, second.pc, v->lane, !turn);
    if (finding == NULL)
        return;
    vm_finding_shared(v->warp->cta, finding, (uint64_t)v->granule << v->cta->race->shift, v->bytes);
    finding->is_store = first.store;
    finding->required = relation(v, other_who, other_stamp);
    place_side(v, first.who, finding->cta, finding->thread);
    place_side(v, second.who, finding->other_cta, finding->other_thread);
    finding->async = first.who >> 5 == v->domain->warps;
    finding->other_async = second.who >> 5 == v->domain->warps;
}

static void report_initial(const visit *v) {
    vm_finding_access(v->warp, VM_FIND_UNINITIALISED, v->pc, v->lane, PTX_SPACE_SHARED, v->offset, v->bytes,
                      (uint64_t)v->granule << v->cta->race->shift, false);
}

/* The bytes that one lane stores to the granule. */
static uint32_t stored(const visit *v, unsigned lane, uint32_t at, uint32_t bytes) {
    unsigned log2 = VM_ACCESS_LOG2(v->op->sub), count = VM_ACCESS_COUNT(v->op->sub), size = 1u << log2;
    const uint32_t *list = count > 1 ? v->warp->cta->run->program->extras.items + v->op->x + 1 : &v->op->d;
    bool wide = VM_ACCESS_WIDE(v->op->sub) || log2 == 3;
    uint32_t value = 0;
    const uint8_t *row = vm_operand(v->warp, list[at / size]);
    at %= size;
    if (log2 == 4)
        memcpy(&value, row + (at >= 8 ? 2 * VM_ROW_BYTES + 8 * lane + at - 8 : 8 * lane + at), bytes);
    else
        memcpy(&value, row + (wide ? 8 : 4) * lane + at, bytes);
    return value;
}

/* A write of what stands there already: nobody can tell it from no write. */
static bool changes_nothing(const visit *v, const vm_race_cell *cell, bool same_instance) {
    uint32_t bytes = 1u << v->cta->race->shift, at = (v->granule << v->cta->race->shift) - v->offset;
    if (v->op == NULL || at + bytes > v->bytes)
        return false;
    uint32_t value = stored(v, v->lane, at, bytes), there = 0;
    if (same_instance) { /* the other lane's has not been written yet */
        uint32_t other = (uint32_t)vm_memory_address(v->warp, v->op, cell->writer & 31);
        at = (v->granule << v->cta->race->shift) - (other & ((1u << VM_RANK_SHIFT) - 1));
        return at + bytes <= v->bytes && value == stored(v, cell->writer & 31, at, bytes);
    }
    memcpy(&there, v->cta->shared + v->offset + at, bytes);
    return value == there;
}

/* ---- reads ---- */
static bool knows(const visit *v, uint32_t who, uint32_t stamp, uint32_t flags) {
    if (who == v->who)
        return true;
    if (flags & VM_RACE_ANY_LANE) { /* all lanes of a warp stored the same value */
        if (who >> 5 == (uint32_t)v->who >> 5)
            return true;
        for (uint32_t lane = 0; lane < VM_LANES; lane++)
            if (vm_race_known(v->clock, (who & ~31u) | lane) >= stamp)
                return true;
    }
    return vm_race_known(v->clock, who) >= stamp;
}

static uint32_t reader_new(vm_race_domain *d) {
    uint32_t index = d->free_reader;
    if (index) {
        d->free_reader = d->readers.items[index].next;
        return index;
    }
    vm_race_reader none = {0};
    base_vector_push(d->arena, &d->readers, none);
    return (uint32_t)d->readers.count - 1;
}

static void forget_readers(vm_race_domain *d, vm_race_cell *cell) {
    if (cell->reader == VM_RACE_MANY && cell->read > d->start)
        for (uint32_t i = cell->list, next; i; i = next) {
            next = d->readers.items[i].next;
            d->readers.items[i].next = d->free_reader;
            d->free_reader = i;
        }
    cell->read = cell->list = 0;
    cell->reader = 0;
}

/* Lanes of the entry whose reads the visitor knows. */
static uint32_t known_lanes(const visit *v, const vm_race_reader *r) {
    uint32_t lanes = 0;
    VM_FOR_LANES(lane, r->lanes)
    lanes |= (uint32_t)knows(v, (uint32_t)r->warp << 5 | lane, r->stamp, 0) << lane;
    return lanes;
}

/* The list of a granule, with its only reader in it. */
static void open_list(vm_race_domain *d, vm_race_cell *cell) {
    if (cell->reader == VM_RACE_MANY && cell->read > d->start)
        return;
    uint32_t index = 0;
    if (cell->read > d->start) {
        index = reader_new(d);
        d->readers.items[index] = (vm_race_reader){
            cell->read, cell->read_pc,     1u << (cell->reader & 31),
            0,          cell->reader >> 5, cell->flags & VM_RACE_STRONG_READ ? VM_RACE_ENTRY_STRONG : 0};
    } else {
        cell->read = 0;
    }
    cell->list = index;
    cell->reader = VM_RACE_MANY;
}

/* Lanes of an entry that need no place any more, because a later access meets all that they meet: one that
 * knows of them, and is a write if they are, and is not strong if they are not. */
static uint32_t surpassed(const visit *v, const vm_race_reader *r, uint32_t by) {
    if ((r->flags & VM_RACE_ENTRY_WRITE && !(by & VM_RACE_ENTRY_WRITE)) ||
        (!(r->flags & VM_RACE_ENTRY_STRONG) && by & VM_RACE_ENTRY_STRONG))
        return 0;
    return known_lanes(v, r);
}

/* Takes out of the list what an access of the visitor surpasses, but for an entry that its own lane belongs
 * to, if there is one: the lane joins it. True: it did. */
static bool prune(const visit *v, vm_race_cell *cell, const vm_race_reader *entry, uint32_t by) {
    vm_race_domain *d = v->warp->cta->race->domain;
    bool found = false;
    for (uint32_t *link = &cell->list; *link;) {
        uint32_t index = *link;
        vm_race_reader *r = &d->readers.items[index];
        if (entry != NULL && !found && r->warp == entry->warp && r->stamp == entry->stamp &&
            r->flags == entry->flags && r->pc == entry->pc) {
            r->lanes |= entry->lanes;
            if (index == cell->list)
                return true;
            found = true;
        } else {
            r->lanes &= ~surpassed(v, r, by);
        }
        if (r->lanes) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        r->next = d->free_reader;
        d->free_reader = index;
    }
    return found;
}

static void add_entry(const visit *v, vm_race_cell *cell, vm_race_reader entry) {
    vm_race_domain *d = v->warp->cta->race->domain;
    cell->read = entry.stamp > cell->read ? entry.stamp : cell->read;
    uint32_t index = reader_new(d);
    entry.next = cell->list;
    d->readers.items[index] = entry;
    cell->list = index;
}

static void set_reader(const visit *v, vm_race_cell *cell) {
    cell->read = v->stamp;
    cell->read_pc = v->pc;
    cell->reader = v->who;
    cell->flags = (cell->flags & ~(uint32_t)VM_RACE_STRONG_READ) | (v->strong ? VM_RACE_STRONG_READ : 0);
}

/* One more reader of a granule that others have read. */
static void add_reader(const visit *v, vm_race_cell *cell) {
    if (cell->reader != VM_RACE_MANY && (!v->strong || cell->flags & VM_RACE_STRONG_READ) &&
        knows(v, cell->reader, cell->read, 0)) {
        set_reader(v, cell);
        return;
    }
    open_list(v->warp->cta->race->domain, cell);
    uint32_t flags = v->strong ? VM_RACE_ENTRY_STRONG : 0;
    vm_race_reader entry = {v->stamp, v->pc, 1u << v->lane, 0, v->who >> 5, (uint16_t)flags};
    if (!prune(v, cell, &entry, flags))
        add_entry(v, cell, entry);
}

static void look_at_write(const visit *v, const vm_race_cell *cell, bool store) {
    if (cell->write <= v->domain->start || knows(v, cell->writer, cell->write, cell->flags) ||
        (v->strong && cell->flags & VM_RACE_STRONG_WRITE) || !v->cta->race->races)
        return;
    report(v, store, cell->writer, cell->write_pc, true, cell->write);
}

/* The list against an access: a write meets all of it, a read the writes. */
static void look_at_list(const visit *v, const vm_race_cell *cell, bool store) {
    const vm_race_domain *d = v->domain;
    for (uint32_t i = cell->list; i; i = d->readers.items[i].next) {
        const vm_race_reader *r = &d->readers.items[i];
        if ((!store && !(r->flags & VM_RACE_ENTRY_WRITE)) || (v->strong && r->flags & VM_RACE_ENTRY_STRONG))
            continue;
        uint32_t unknown = r->lanes & ~known_lanes(v, r);
        if (unknown) {
            report(v, store, (uint32_t)r->warp << 5 | vm_first_lane(unknown), r->pc,
                   r->flags & VM_RACE_ENTRY_WRITE, r->stamp);
            return;
        }
    }
}

static inline void read_cell(const visit *v, vm_race_cell *cell, bool record) {
    if (record && v->cta->race->initial && !v->cta->race->written[v->granule])
        report_initial(v);
    if (cell->write > v->floor)
        look_at_write(v, cell, false);
    if (cell->flags & VM_RACE_LIST && cell->read > v->floor && v->cta->race->races)
        look_at_list(v, cell, false);
    if (!record)
        return;
    bool weak = cell->read > v->domain->start &&
                (cell->flags & VM_RACE_LIST || (v->strong && !(cell->flags & VM_RACE_STRONG_READ)));
    if (!weak && cell->read <= v->floor) {
        if (cell->read > v->domain->start)
            forget_readers(v->warp->cta->race->domain, cell);
        set_reader(v, cell);
    } else if (!weak && cell->reader == v->who) {
        set_reader(v, cell);
    } else {
        add_reader(v, cell);
    }
}

/* ---- writes ---- */
static void look_at_reads(const visit *v, vm_race_cell *cell) {
    if (!v->cta->race->races)
        return;
    if (cell->reader == VM_RACE_MANY)
        look_at_list(v, cell, true);
    else if (!(v->strong && cell->flags & VM_RACE_STRONG_READ) && !knows(v, cell->reader, cell->read, 0))
        report(v, true, cell->reader, cell->read_pc, false, cell->read);
}

static void lanes_differ(const visit *v, const vm_race_cell *cell) {
    vm_finding *finding = vm_finding_pair(v->warp, VM_FIND_RACE_LANES, v->pc, UINT32_MAX, v->lane, true);
    if (finding == NULL)
        return;
    vm_finding_shared(v->warp->cta, finding, (uint64_t)v->granule << v->cta->race->shift, v->bytes);
    finding->is_store = true;
    place_side(v, cell->writer, finding->other_cta, finding->other_thread);
    place_side(v, v->who, finding->cta, finding->thread);
}

/* A strong write. Strong operations meet no strong ones: what came before it stays where a later access may
 * meet it and not this write. */
static void keep_older(const visit *v, vm_race_cell *cell) {
    vm_race_domain *d = v->warp->cta->race->domain;
    if (cell->read <= d->start && cell->write <= d->start) {
        cell->flags &= ~(uint32_t)VM_RACE_LIST;
        return;
    }
    open_list(d, cell);
    cell->flags |= VM_RACE_LIST;
    prune(v, cell, NULL, VM_RACE_ENTRY_STRONG | VM_RACE_ENTRY_WRITE);
    bool strong = cell->flags & VM_RACE_STRONG_WRITE;
    if (cell->write > d->start && !(cell->flags & VM_RACE_ANY_LANE) &&
        !(strong && knows(v, cell->writer, cell->write, cell->flags)))
        add_entry(v, cell,
                  (vm_race_reader){cell->write, cell->write_pc, 1u << (cell->writer & 31), 0,
                                   cell->writer >> 5,
                                   VM_RACE_ENTRY_WRITE | (strong ? VM_RACE_ENTRY_STRONG : 0)});
}

static inline void write_cell(const visit *v, vm_race_cell *cell, bool record) {
    uint32_t any_lane = 0, start = v->domain->start;
    if (cell->instance == v->instance && cell->write > start && cell->writer != v->who) {
        /* another lane of the same instruction */
        if (v->strong || changes_nothing(v, cell, true))
            any_lane = v->strong ? 0 : VM_RACE_ANY_LANE;
        else if (v->cta->race->races)
            lanes_differ(v, cell);
    } else if (cell->write > v->floor && !knows(v, cell->writer, cell->write, cell->flags) &&
               !changes_nothing(v, cell, false)) {
        look_at_write(v, cell, true);
    }
    if (cell->read > v->floor)
        look_at_reads(v, cell);
    if (!record)
        return;
    uint32_t kept = 0;
    if (v->strong) {
        keep_older(v, cell);
        kept = cell->flags & (VM_RACE_LIST | VM_RACE_STRONG_READ);
    } else if (cell->read > start) {
        forget_readers(v->warp->cta->race->domain, cell);
    }
    cell->write = v->stamp;
    cell->write_pc = v->pc;
    cell->writer = v->who;
    cell->instance = v->instance;
    cell->flags = kept | (v->strong ? VM_RACE_STRONG_WRITE : 0) | (v->whole ? VM_RACE_ANY_LANE : any_lane);
}

static void remember_read(vm_race_domain *d, vm_race_cell *cell, uint32_t who, uint32_t stamp, uint32_t pc) {
    if (cell->read <= d->start || cell->reader == who) {
        if (cell->read <= d->start)
            cell->flags &= ~(uint32_t)VM_RACE_LIST;
        cell->read = stamp;
        cell->read_pc = pc;
        cell->reader = (uint16_t)who;
        cell->flags &= ~(uint32_t)VM_RACE_STRONG_READ;
        return;
    }
    open_list(d, cell);
    uint32_t bit = 1u << (who & 31);
    cell->read = stamp > cell->read ? stamp : cell->read;
    for (uint32_t i = cell->list; i; i = d->readers.items[i].next) {
        vm_race_reader *r = &d->readers.items[i];
        if (r->warp != who >> 5 || r->flags != 0 || (r->lanes != bit && (r->stamp != stamp || r->pc != pc)))
            continue;
        r->lanes |= bit;
        r->stamp = stamp;
        r->pc = pc;
        return;
    }
    uint32_t index = reader_new(d);
    d->readers.items[index] = (vm_race_reader){stamp, pc, bit, cell->list, (uint16_t)(who >> 5), 0};
    cell->list = index;
}

static void remember_write(vm_race_domain *d, vm_race_cell *cell, uint32_t who, uint32_t stamp, uint32_t pc) {
    if (cell->read > d->start)
        forget_readers(d, cell);
    *cell = (vm_race_cell){.write = stamp, .write_pc = pc, .writer = (uint16_t)who};
}

/* ---- the log ---- */
static void settle_bytes(struct vm_race *race, const vm_race_entry *e, uint32_t who, uint32_t begin,
                         uint32_t end) {
    for (uint32_t g = begin >> race->shift; g <= (end - 1) >> race->shift && g < race->granules; g++) {
        if (e->store)
            remember_write(race->domain, &race->cells[g], who, e->stamp, e->pc);
        else
            remember_read(race->domain, &race->cells[g], who, e->stamp, e->pc);
    }
}

static void settle_entry(struct vm_race *race, const vm_race_entry *e, uint32_t line) {
    if (e->mask == 0) {
        uint32_t begin = line * VM_RACE_LINE, end = begin + VM_RACE_LINE;
        settle_bytes(race, e, e->offset[0], begin > e->offset[1] ? begin : e->offset[1],
                     end < e->offset[2] ? end : e->offset[2]);
        return;
    }
    VM_FOR_LANES(lane, e->mask) {
        if (e->offset[lane] / VM_RACE_LINE == line)
            settle_bytes(race, e, e->warp << 5 | lane, e->offset[lane], e->offset[lane] + e->bytes);
    }
}

/* What the log has of the line goes into its cells. */
static void settle(struct vm_race *race, uint32_t line) {
    uint32_t since = race->line_since[line], end = race->log_base + race->log_count;
    since = since > race->log_base ? since : race->log_base;
    for (uint32_t i = since - race->log_base; i < race->log_count; i++)
        if (race->log[i].first <= line && line <= race->log[i].last)
            settle_entry(race, &race->log[i], line);
    race->line_since[line] = end;
}

/* All of it, because it is full. */
static void flush(struct vm_race *race) {
    for (uint32_t i = 0; i < race->log_count; i++) {
        const vm_race_entry *e = &race->log[i];
        for (uint32_t line = e->first; e->mask == 0 && line <= e->last; line++)
            if (race->line_since[line] <= race->log_base + i)
                settle_entry(race, e, line);
        VM_FOR_LANES(lane, e->mask) {
            if (race->line_since[e->offset[lane] / VM_RACE_LINE] <= race->log_base + i)
                settle_bytes(race, e, e->warp << 5 | lane, e->offset[lane], e->offset[lane] + e->bytes);
        }
    }
    race->log_base += race->log_count;
    race->log_count = 0;
}

vm_race_entry *vm_race_log(struct vm_race *race) {
    if (race->log_count == VM_RACE_LOG)
        flush(race);
    return &race->log[race->log_count++];
}

void vm_race_all_known(vm_cta *cta) {
    if (cta->race == NULL || cta->race->domain->cta_count > 1)
        return;
    cta->race->log_base += cta->race->log_count;
    cta->race->log_count = 0;
}

/* ---- accesses ---- */
static visit visit_of(vm_warp *warp, uint32_t pc, unsigned lane, bool strong) {
    vm_race_warp *state = vm_race_warp_of(warp);
    vm_race_domain *d = warp->cta->race->domain;
    state->accessed = state->stamp;
    return (visit){.warp = warp,
                   .domain = d,
                   .clock = state->lane[lane],
                   .pc = pc,
                   .stamp = state->stamp,
                   .floor = vm_race_floor(d, state->lane[lane]),
                   .who = VM_RACE_WHO(vm_race_index_of(warp), lane),
                   .lane = lane,
                   .strong = strong};
}

static void mark_written(struct vm_race *race, uint32_t granule) {
    if (race->written[granule])
        return;
    race->written[granule] = 1;
    race->line_written[granule / (VM_RACE_LINE >> race->shift)]++;
}

/* [offset, offset + bytes) of v->cta, which has them. */
static void visit_range(visit *v, uint32_t offset, uint32_t bytes, unsigned kind) {
    struct vm_race *race = v->cta->race;
    uint32_t first = offset >> race->shift, last = (offset + bytes - 1) >> race->shift, warp = v->who >> 5;
    v->offset = offset;
    v->bytes = bytes;
    for (uint32_t line = offset / VM_RACE_LINE; line <= (offset + bytes - 1) / VM_RACE_LINE; line++) {
        if (v->checks && vm_race_passes(race, line, v->clock, kind & VM_RACE_WRITE))
            continue;
        settle(race, line);
        uint32_t at = line * (VM_RACE_LINE >> race->shift), end = at + (VM_RACE_LINE >> race->shift) - 1;
        at = at > first ? at : first;
        end = end < last ? end : last;
        for (v->granule = at; v->granule <= end && v->granule < race->granules; v->granule++) {
            if (kind & VM_RACE_READ)
                read_cell(v, &race->cells[v->granule], !v->checks);
            if (kind & VM_RACE_WRITE)
                write_cell(v, &race->cells[v->granule], !v->checks);
            if (kind & VM_RACE_WRITE && !v->checks)
                mark_written(race, v->granule);
        }
        if (kind & VM_RACE_READ && !v->checks)
            race->line_reads[(size_t)line * race->stride + warp] = v->stamp;
        if (kind & VM_RACE_WRITE && !v->checks)
            race->line_writes[(size_t)line * race->stride + warp] = v->stamp;
    }
}

static bool in_flight(const vm_cta *cta, uint32_t offset, uint32_t bytes) {
    return cta->flights &&
           (cta->flight[offset / VM_FLIGHT_GRANULE] || cta->flight[(offset + bytes - 1) / VM_FLIGHT_GRANULE]);
}

/* The CTA and the offset of a shared address; NULL: not in shared memory, or not this CTA's business. */
static vm_cta *shared_place(vm_warp *warp, vm_space space, uint64_t address, uint32_t bytes,
                            uint32_t *offset) {
    if (space == VM_GENERIC) {
        if (address >> VM_WINDOW_BITS != VM_SHARED_BASE >> VM_WINDOW_BITS)
            return NULL;
        address &= VM_WINDOW(1) - 1;
    } else if (space == VM_SHARED) {
        address = (uint32_t)address;
    } else {
        return NULL;
    }
    vm_cta *cta = vm_cluster_cta(warp->cta, address, offset);
    if (cta == NULL || cta->race == NULL || cta->exited || cta->race->domain != warp->cta->race->domain ||
        bytes > cta->shared_bytes || *offset > cta->shared_bytes - bytes)
        return NULL;
    return cta;
}

/* Local memory of the kernel's own frame: which words a lane has written. What functions that it calls read
 * there is not looked at. */
static void local_words(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, uint32_t bytes,
                        bool store, bool reports) {
    struct vm_race *race = warp->cta->race;
    uint32_t *words = race->local + (size_t)warp->index * race->local_words;
    for (uint64_t w = address / 4; w <= (address + bytes - 1) / 4 && w < race->local_words; w++) {
        if (store) {
            words[w] |= 1u << lane;
        } else if (reports && !(words[w] >> lane & 1)) {
            vm_finding_access(warp, VM_FIND_UNINITIALISED, pc, lane, PTX_SPACE_LOCAL, address, bytes, 4 * w,
                              false);
            return;
        }
    }
}

void vm_race_touch(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint32_t offset, uint32_t bytes,
                   unsigned kind) {
    if (warp->cta->race == NULL || cta->race == NULL || cta->race->domain != warp->cta->race->domain ||
        warp->cta->race->domain->full || bytes == 0 || offset + bytes > cta->shared_bytes ||
        in_flight(cta, offset, bytes))
        return;
    visit v = visit_of(warp, pc, lane, kind & VM_RACE_STRONG);
    v.instance = ++warp->cta->race->domain->instances;
    v.cta = cta;
    v.checks = kind & VM_RACE_CHECK;
    v.whole = kind & VM_RACE_WARP;
    visit_range(&v, offset, bytes, kind);
}

void vm_race_touch_at(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                      uint32_t bytes, unsigned kind) {
    uint32_t offset;
    if (warp->cta->race == NULL)
        return;
    if (kind & VM_RACE_WRITE && space == VM_GENERIC &&
        address >> VM_WINDOW_BITS == VM_LOCAL_BASE >> VM_WINDOW_BITS)
        local_words(warp, pc, lane, address & (VM_WINDOW(1) - 1), bytes, true, false);
    vm_cta *cta = shared_place(warp, space, address, bytes, &offset);
    if (cta != NULL)
        vm_race_touch(warp, pc, lane, cta, offset, bytes, kind);
}

static void local_access(vm_warp *warp, const vm_op *op, uint32_t mask, uint32_t pc, bool store) {
    const vm_frame *frame = warp->splits[warp->current].frame;
    vm_space space = VM_ACCESS_SPACE(op->sub);
    if (!warp->cta->race->initial || (!store && frame->depth != 0))
        return;
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_memory_address(warp, op, lane);
        if (space == VM_GENERIC)
            address &= VM_WINDOW(1) - 1;
        else if (space == VM_FRAME)
            address += frame->local;
        local_words(warp, pc, lane, address, VM_ACCESS_COUNT(op->sub) << VM_ACCESS_LOG2(op->sub), store,
                    true);
    }
}

void vm_race_access(vm_warp *warp, const vm_op *op, uint32_t mask) {
    struct vm_race *race = warp->cta->race;
    if (race == NULL || race->domain->full)
        return;
    vm_space space = VM_ACCESS_SPACE(op->sub);
    bool store = op->code == VM_CODE_CHECK_STORE, strong = op->sub & VM_ACCESS_STRONG;
    uint32_t pc = warp->splits[warp->current].pc, bytes = VM_ACCESS_COUNT(op->sub) << VM_ACCESS_LOG2(op->sub);
    if (space == VM_FRAME || space == VM_LOCAL) {
        local_access(warp, op, mask, pc, store);
        return;
    }
    uint32_t instance = ++race->domain->instances, local = 0;
    vm_clock *clock = NULL;
    visit v = {0};
    VM_FOR_LANES(lane, mask) {
        uint64_t address = vm_memory_address(warp, op, lane);
        uint32_t offset;
        vm_cta *cta = shared_place(warp, space, address, bytes, &offset);
        if (cta == NULL) {
            local |= (uint32_t)(space == VM_GENERIC &&
                                address >> VM_WINDOW_BITS == VM_LOCAL_BASE >> VM_WINDOW_BITS)
                     << lane;
            if (strong && (space == VM_GLOBAL || space == VM_GENERIC))
                vm_race_location(warp, lane, VM_RACE_GLOBAL, !store, store);
            continue;
        }
        if (offset % bytes != 0 || in_flight(cta, offset, bytes))
            continue;
        if (clock == NULL || clock != vm_race_warp_of(warp)->lane[lane]) {
            v = visit_of(warp, pc, lane, strong);
            v.instance = instance;
            v.op = store ? op : NULL;
            clock = v.clock;
        }
        v.lane = lane;
        v.who = (uint16_t)((v.who & ~31u) | lane);
        v.cta = cta;
        visit_range(&v, offset, bytes, store ? VM_RACE_WRITE : VM_RACE_READ);
        if (strong)
            vm_race_location(warp, lane, (uint64_t)cta->rank << 32 | offset >> 2, !store, store);
    }
    if (local)
        local_access(warp, op, local, pc, store);
}

/* ---- asynchronous work ---- */
static bool has_range(const vm_async *operation, uint32_t i, vm_cta **cta) {
    const vm_range *range = &operation->ranges[i];
    *cta = range->cta ? range->cta : operation->cta;
    return range->space == VM_RANGE_SHARED && range->begin < range->end &&
           range->end <= (*cta)->shared_bytes && (*cta)->race != NULL &&
           (*cta)->race->domain == operation->cta->race->domain;
}

/* Its ranges are used from now on: may they be, by what its thread knows? Lanes of cp.async have been looked
 * at one by one. */
void vm_race_issue(vm_async *operation) {
    vm_warp *warp = operation->warp;
    if (warp->cta->race == NULL || warp->cta->race->domain->full)
        return;
    vm_cta *cta;
    for (uint32_t i = 0; operation->class != VM_ASYNC_COPY && i < operation->range_count; i++) {
        if (!has_range(operation, i, &cta))
            continue;
        const vm_range *range = &operation->ranges[i];
        for (uint64_t at = range->begin, next; at < range->end; at = next) {
            next = (at / VM_FLIGHT_GRANULE + 1) * VM_FLIGHT_GRANULE;
            next = next < range->end ? next : range->end;
            vm_race_touch(warp, operation->pc, vm_first_lane(operation->mask), cta, (uint32_t)at,
                          (uint32_t)(next - at),
                          VM_RACE_CHECK | (range->write ? VM_RACE_WRITE : VM_RACE_READ));
        }
    }
    if (operation->class == VM_ASYNC_BULK || operation->class == VM_ASYNC_TENSOR ||
        operation->class == VM_ASYNC_REMOTE ||
        (operation->class == VM_ASYNC_COPY && operation->group == UINT32_MAX))
        vm_race_release(warp, operation->mask, &operation->race_clock);
}

static void note_async(vm_race_domain *d, uint32_t *stamp, uint16_t *by, uint32_t who, uint32_t now,
                       bool whole) {
    bool other = *stamp > d->start && *by != who && !whole;
    *stamp = other ? UINT32_MAX : now;
    *by = (uint16_t)who;
}

static void remember(vm_async *operation, vm_cta *cta, uint32_t begin, uint32_t end, bool write, uint32_t who,
                     uint32_t stamp) {
    struct vm_race *race = cta->race;
    vm_race_domain *d = race->domain;
    uint32_t full = VM_RACE_LINE >> race->shift, last = (end - 1) / VM_RACE_LINE;
    vm_race_entry *e = vm_race_log(race);
    e->pc = operation->pc;
    e->stamp = stamp;
    e->mask = 0;
    e->store = write;
    e->first = begin / VM_RACE_LINE;
    e->last = last;
    e->offset[0] = who;
    e->offset[1] = begin;
    e->offset[2] = end;
    for (uint32_t line = begin / VM_RACE_LINE; line <= last; line++) {
        vm_race_async *a = &race->line_async[line];
        if (who >> 5 < d->warps)
            (write ? race->line_writes : race->line_reads)[(size_t)line * race->stride + (who >> 5)] = stamp;
        else if (write)
            note_async(d, &a->write, &a->writer, who, stamp,
                       begin <= line * VM_RACE_LINE && end >= (line + 1) * VM_RACE_LINE);
        else
            note_async(d, &a->read, &a->reader, who, stamp, false);
        if (!write || race->line_written[line] == full)
            continue;
        uint32_t g = line * full, stop = g + full;
        g = g > begin >> race->shift ? g : begin >> race->shift;
        for (; g < stop && g <= (end - 1) >> race->shift; g++)
            mark_written(race, g);
    }
}

/* Whose access it was: of those who wait at the mbarrier that it signalled, or of the thread that waited. */
static uint32_t access_of(const vm_async *operation, unsigned lane, uint32_t *stamp) {
    const vm_race_domain *d = operation->cta->race->domain;
    *stamp = operation->race_stamp;
    if (operation->class ==
        VM_ASYNC_WGMMA) { /* whichever warp of the warpgroup waits, all four parts are done */
        *stamp = d->time;
        return VM_RACE_WHO(d->warps, VM_RACE_GROUP_LANE(operation->warp));
    }
    if (operation->race_stamp != 0 && operation->race_waited) { /* two ways to know of it: taken for known */
        *stamp = d->start + 1;
        return VM_RACE_WHO(d->warps, 0);
    }
    if (operation->race_stamp != 0)
        return VM_RACE_WHO(d->warps, operation->race_lane);
    vm_race_warp *state = vm_race_warp_of(operation->warp);
    *stamp = state->accessed = state->stamp;
    return VM_RACE_WHO(vm_race_index_of(operation->warp), lane);
}

void vm_race_observed(vm_async *operation) {
    if (operation->cta->race == NULL)
        return;
    vm_race_drop(operation->cta, &operation->race_clock);
    vm_cta *cta;
    uint32_t stamp;
    for (uint32_t i = 0; operation->class != VM_ASYNC_COPY && i < operation->range_count; i++) {
        const vm_range *range = &operation->ranges[i];
        if (!has_range(operation, i, &cta))
            continue;
        uint32_t who = access_of(operation, vm_first_lane(operation->mask), &stamp);
        remember(operation, cta, (uint32_t)range->begin, (uint32_t)range->end, range->write, who, stamp);
    }
}

void vm_race_copied(vm_async *operation, unsigned lane, uint32_t offset, uint32_t bytes) {
    uint32_t stamp;
    if (operation->cta->race == NULL || bytes == 0)
        return;
    uint32_t who = access_of(operation, lane, &stamp);
    remember(operation, operation->cta, offset, offset + bytes, true, who, stamp);
}

void vm_race_landed(vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t bytes, uint32_t barrier) {
    if (operation->cta->race == NULL || cta->race == NULL)
        return;
    vm_race_domain *d = cta->race->domain;
    remember(operation, cta, offset, offset + bytes, true,
             VM_RACE_WHO(d->warps, VM_RACE_BARRIER_LANE(barrier)), d->time);
}
