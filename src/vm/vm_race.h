/* SPDX-License-Identifier: Apache-2.0
 * Races in shared memory, and reads of memory that nothing wrote (vm_launch.check). Programs for it are
 * decoded apart (vm_load_checked): their loads and stores are CHECK_LOAD and CHECK_STORE, so that other
 * programs run as if this did not exist.
 *
 * Order is kept in clocks. A domain (a CTA, or the CTAs of a cluster) counts what publishes something; the
 * accesses of a lane carry the count at its warp's last such event as their stamp. A lane's clock says for
 * every warp of the domain up to which stamp it knows the accesses of its lanes: one number for the warp, or,
 * where they differ, one for each lane. Lanes that know the same share one clock. What orders:
 * vm_race_clock.c; what is checked against it: vm_race.c. PTX ISA chapter 8 (memory consistency
 * model), 9.7.13 (barriers). Knows no wording. */
#ifndef TIRC_VM_VM_RACE_H
#define TIRC_VM_VM_RACE_H
#include "vm/vm_async.h"

typedef struct vm_clock vm_clock;
struct vm_clock {
    vm_clock *next; /* free */
    uint32_t references;
    uint32_t mixed;  /* warps with a row of lanes */
    uint32_t floor;  /* every warp's accesses up to it are known; UINT32_MAX: to be worked out */
    uint32_t **rows; /* per warp: 32 numbers, NULL: base holds for all lanes */
    uint32_t base[]; /* per warp: of all its lanes */
};

/* Who accessed: warp of the domain << 5 | lane. The warp after the last one stands for asynchronous work, its
 * lanes for mbarriers and warpgroups. */
#define VM_RACE_WHO(warp, lane)      ((uint16_t)((warp) << 5 | (lane)))
#define VM_RACE_BARRIER_LANE(offset) ((offset) / 8 % 24)
#define VM_RACE_GROUP_LANE(warp)     (24 + (warp)->index / 4)
#define VM_RACE_MANY                 0xffffu
/* Flags of a cell. LIST: its list holds writes before the last one, too. */
enum {
    VM_RACE_STRONG_WRITE = 1,
    VM_RACE_STRONG_READ = 2, /* the one reader */
    VM_RACE_ANY_LANE = 4,    /* all lanes of the writer's warp wrote it */
    VM_RACE_LIST = 8
};
/* What is remembered of a granule of shared memory: the last write, and the reads since. Stamps up to
 * vm_race_domain.start are of CTAs that were here before, start + 1 is known to everybody. */
typedef struct vm_race_cell {
    uint32_t write, write_pc;
    uint32_t read, read_pc; /* MANY: of the newest; the first of the list */
    uint32_t instance;      /* of the instruction that wrote: numbers of vm_race_domain.instances */
    uint32_t list;          /* MANY: index into vm_race_domain.readers */
    uint16_t writer, reader;
    uint32_t flags;
} vm_race_cell;
/* Lanes of a warp that accessed a granule with one stamp. */
enum { VM_RACE_ENTRY_STRONG = 1, VM_RACE_ENTRY_WRITE = 2 };
typedef struct vm_race_reader {
    uint32_t stamp, pc, lanes, next;
    uint16_t warp, flags;
} vm_race_reader;

typedef struct vm_race_warp {
    vm_clock *common;             /* of all lanes; NULL: they differ */
    vm_clock *lane[VM_LANES];     /* what each lane knows; its own accesses are always known */
    vm_clock *fenced[VM_LANES];   /* what it knew at its last fence, and */
    uint32_t fenced_at[VM_LANES]; /* up to which of its own accesses the fence was; 0: none */
    vm_clock *seen[VM_LANES];     /* what strong reads have met since the last fence; NULL: nothing */
    uint32_t stamp;               /* of the accesses from now on */
    uint32_t accessed;            /* of the last access */
    uint32_t met;                 /* stamp when the whole warp has met last; 0: not since */
    bool seeing;                  /* some seen */
} vm_race_warp;

typedef struct vm_race_place { /* a location that strong operations use: what they published there */
    uint64_t key;
    vm_clock *clock;
} vm_race_place;

typedef struct vm_race_domain {
    base_arena *arena;
    vm_cta *ctas[VM_CLUSTER_LIMIT];
    uint32_t cta_count, warps_per_cta, warps; /* warps: without the asynchronous one */
    uint32_t time, start, instances;
    uint32_t generation; /* counts how often the stamps began anew */
    bool full;           /* the numbers are used up: nothing more is checked in this CTA */
    vm_race_warp *warp;
    vm_clock *free_clocks;
    BASE_VECTOR(uint32_t *) free_rows;
    BASE_VECTOR(vm_race_reader) readers; /* from 1 */
    uint32_t free_reader;
    vm_race_place *places; /* hash table */
    uint32_t place_mask, place_count;
} vm_race_domain;

/* Most accesses meet nothing that their thread does not know of, and a look at stamps of whole lines tells
 * so. Those go into a log; only when a line does not pass, what the log has of it goes into its cells
 * (vm_race_settle), and the access is looked at granule by granule. */
#define VM_RACE_LINE 32u
typedef struct vm_race_entry {
    uint32_t pc, stamp, mask, warp;
    uint32_t first, last; /* lines, those between included */
    uint8_t bytes, store;
    /* Of lanes outside of the mask: some other lane's. Mask 0, asynchronous work: who, first byte, one past
     * the last. */
    uint32_t offset[VM_LANES];
} vm_race_entry;
enum { VM_RACE_LOG = 8192 };
typedef struct vm_race_async { /* what asynchronous work did with a line; stamp UINT32_MAX: several barriers
                                */
    uint32_t write, read;
    uint16_t writer, reader;
} vm_race_async;

struct vm_race { /* of a CTA */
    vm_race_domain *domain, *own;
    uint32_t shift; /* bytes of a granule, log2 */
    uint32_t granules, generation;
    vm_race_cell *cells;
    uint32_t lines, stride; /* numbers of a line in the next two: newest stamp of each warp */
    uint32_t *line_reads, *line_writes;
    vm_race_async *line_async;
    uint32_t *line_since; /* position in the log: what stands before it is in the cells */
    vm_race_entry *log;
    uint32_t log_count, log_base; /* log_base: position of its first entry */
    uint8_t *written;             /* per granule: something has written it */
    uint8_t *line_written;        /* how many of the line */
    uint32_t *probe;              /* per granule: vm_race_domain.instances of a store */
    uint32_t *local;              /* per word of a warp's local memory: lanes that wrote it */
    uint32_t local_words;
    bool races, initial; /* what is looked for */
};

/* ---- vm_race_clock.c ---- */
void vm_race_start(vm_cta *cta); /* a CTA begins; the first of a cluster before the others */
static inline vm_race_warp *vm_race_warp_of(const vm_warp *warp) {
    const struct vm_race *race = warp->cta->race;
    uint32_t first = race->domain->cta_count > 1 ? warp->cta->rank * race->domain->warps_per_cta : 0;
    return &race->domain->warp[first + warp->index];
}
static inline uint32_t vm_race_index_of(const vm_warp *warp) {
    return (uint32_t)(vm_race_warp_of(warp) - warp->cta->race->domain->warp);
}
uint32_t vm_race_floor(const vm_race_domain *domain, vm_clock *clock);
static inline uint32_t vm_race_known(const vm_clock *clock, uint32_t who) {
    const uint32_t *row = clock->mixed ? clock->rows[who >> 5] : NULL;
    return row ? row[who & 31] : clock->base[who >> 5];
}
/* Everything of these functions does nothing in a CTA that is not checked. */
/* The lanes publish what they did and know: it goes into *into (NULL: nothing yet). */
void vm_race_release(vm_warp *warp, uint32_t mask, vm_clock **into);
/* The lanes learn what the clock says. */
void vm_race_acquire(vm_warp *warp, uint32_t mask, const vm_clock *from);
/* The lanes have met: each knows what all of them did and know; and those of `named` that have ended. */
void vm_race_meet(vm_warp *warp, uint32_t mask, uint32_t named);
/* Lanes that have met at a collective, each with its own mask of members (VM_REF_NONE: none). */
void vm_race_collective(vm_warp *warp, uint32_t mask, uint32_t members_ref);
/* *into learns what *from says, and *from is given back. */
void vm_race_pour(vm_cta *cta, vm_clock **into, vm_clock **from);
/* *into learns what `from` says; NULL: nothing. */
void vm_race_learn(vm_cta *cta, vm_clock **into, const vm_clock *from);
void vm_race_drop(vm_cta *cta, vm_clock **clock); /* gives it back */
/* *into knows all of the lanes of the CTA that have ended. */
void vm_race_ended(vm_cta *cta, vm_clock **into);
/* The operation, and what stands before it in its order, is done, and an mbarrier at this offset of the CTA
 * says so: *into knows it. Answers its stamp. */
uint32_t vm_race_async_done(const vm_async *operation, vm_cta *cta, uint32_t offset, vm_clock **into);
/* The wgmmas of the warpgroup that vm_async_finish has just noted are done, and the lanes know it. */
void vm_race_group(vm_warp *warp, uint32_t mask);
/* A strong read, write or both of a location: it passes on what was published there. */
void vm_race_location(vm_warp *warp, unsigned lane, uint64_t key, bool reads, bool writes);
uint64_t vm_race_key(const vm_warp *warp, vm_space space, uint64_t address); /* of a shared address */
#define VM_RACE_GLOBAL UINT64_MAX /* key of all global locations together */

/* ---- vm_race.c ---- */
/* Is one of the stamps newer than what is known? The count is a multiple of 8. */
typedef uint32_t vm_race_eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t vm_race_four __attribute__((vector_size(32), aligned(4), may_alias));
static inline uint32_t vm_race_newer(const uint32_t *stamps, const uint32_t *known, uint32_t count) {
    vm_race_eight newer = {0};
    for (uint32_t w = 0; w < count; w += 8)
        newer |= (vm_race_eight)(*(const vm_race_eight *)(const void *)(stamps + w) >
                                 *(const vm_race_eight *)(const void *)(known + w));
    vm_race_four both = (vm_race_four)newer;
    return (both[0] | both[1] | both[2] | both[3]) != 0;
}
/* Do the lanes of a warp with this clock know everything of the line that the access meets? */
static inline bool vm_race_passes(const struct vm_race *race, uint32_t line, const vm_clock *clock,
                                  bool store) {
    size_t at = (size_t)line * race->stride;
    uint32_t unknown = vm_race_newer(race->line_writes + at, clock->base, race->stride);
    if (store)
        unknown |= vm_race_newer(race->line_reads + at, clock->base, race->stride);
    const vm_race_async *a = &race->line_async[line];
    if (a->write && a->write > vm_race_known(clock, a->writer))
        return false;
    return unknown == 0 && !(store && a->read && a->read > vm_race_known(clock, a->reader));
}
/* Everything that is in the log is known to all. */
void vm_race_all_known(vm_cta *cta);
vm_race_entry *vm_race_log(struct vm_race *race); /* a new entry, to be filled in */
void vm_race_access(vm_warp *warp, const vm_op *op,
                    uint32_t mask); /* CHECK_LOAD, CHECK_STORE, before it is done */
/* An access of one lane to shared memory. STRONG: by an atomic operation. CHECK: not now, nothing is
 * remembered. */
typedef enum vm_race_kind {
    VM_RACE_READ = 1,
    VM_RACE_WRITE = 2,
    VM_RACE_STRONG = 4,
    VM_RACE_CHECK = 8,
    VM_RACE_WARP = 16 /* for the whole warp */
} vm_race_kind;
void vm_race_touch(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint32_t offset, uint32_t bytes,
                   unsigned kind);
/* The same at an address, when it is in shared memory. */
void vm_race_touch_at(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                      uint32_t bytes, unsigned kind);
void vm_race_issue(vm_async *operation);    /* it is about to use its ranges */
void vm_race_observed(vm_async *operation); /* it has used them */
/* It has written there and is about to signal this barrier of the CTA; for what its ranges do not say. */
void vm_race_landed(vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t bytes, uint32_t barrier);
/* What an operation of cp.async wrote for one lane. */
void vm_race_copied(vm_async *operation, unsigned lane, uint32_t offset, uint32_t bytes);
#endif
