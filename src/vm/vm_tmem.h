/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory of one SM (PTX ISA 9.7.16.1): 512 columns of 128 lanes of 32 bits, who owns which columns,
 * which cells were ever written and by whom, and the asynchronous operations that are still on their way.
 * Plain data: knows no warps and no instructions; what is wrong is answered, and the caller makes a finding
 * of it. */
#ifndef TIRC_VM_VM_TMEM_H
#define TIRC_VM_VM_TMEM_H
#include "base/heap.h"

#define VM_TMEM_COLUMNS     512u
#define VM_TMEM_LANES       128u
#define VM_TMEM_UNIT        32u /* columns that one allocation is a multiple of */
#define VM_TMEM_ALLOCATIONS (VM_TMEM_COLUMNS / VM_TMEM_UNIT)
#define VM_TMEM_POISON      0xffbadbadu /* a NaN as f32, and no small integer */

/* taddr = lane << 16 | column */
#define VM_TMEM_ADDRESS(lane, column) ((uint32_t)(lane) << 16 | (uint32_t)(column))
#define VM_TMEM_LANE(taddr)           ((uint32_t)(taddr) >> 16)
#define VM_TMEM_COLUMN(taddr)         ((uint32_t)(taddr)&0xffffu)

/* A rectangle of cells; bit l % 32 of lanes[l / 32]. */
typedef struct vm_tmem_area {
    uint32_t lanes[4];
    uint32_t column, columns;
} vm_tmem_area;

typedef struct vm_tmem_allocation {
    uint32_t begin, columns; /* columns 0: free slot */
    uint64_t owner;          /* linear index of the CTA */
    uint32_t pc, warp;       /* of the alloc */
    uint64_t event;          /* cta->events when it was done: the slot is published by a later barrier */
    bool pair;               /* cta_group::2 */
    bool left;               /* its owner has exited without giving it back */
    bool refused;            /* its owner tried to, and was told what is wrong */
} vm_tmem_allocation;

/* Who wrote a cell last, kept per column and 16 lanes. */
typedef struct vm_tmem_writer {
    uint64_t clock; /* *vm_tmem.clock when it was marked; 0: nobody */
    uint32_t pc;
    uint16_t agent;  /* warp that issued it: index of the CTA in its cluster << 8 | warp; | VM_TMEM_ENGINE */
    uint16_t layout; /* VM_TMEM_LAYOUT; 0: no matrix */
} vm_tmem_writer;
#define VM_TMEM_AGENT(rank, warp) ((uint16_t)((rank) << 8 | (warp)))
#define VM_TMEM_ENGINE            0x80u /* written by mma, cp or shift: not by the warp itself */
/* Of a matrix result: its datapath, 'A' to 'G', whether only the low halves of cells count (f16), whether
 * they are integers, and N, which says where the parts of B, E and G stand. */
#define VM_TMEM_LAYOUT(letter, half, integer, n)                                                             \
    ((uint16_t)(((letter)&31) | (half) << 5 | (integer) << 6 | (n) / 8 << 8))
#define VM_TMEM_LAYOUT_LETTER(layout)  ((char)('@' + ((layout)&31)))
#define VM_TMEM_LAYOUT_HALF(layout)    (((layout) >> 5 & 1) != 0)
#define VM_TMEM_LAYOUT_INTEGER(layout) (((layout) >> 6 & 1) != 0)
#define VM_TMEM_LAYOUT_N(layout)       ((unsigned)(layout) / 256 * 8)

typedef enum vm_tmem_kind {
    VM_TMEM_LOAD = 1,                                   /* tcgen05.ld: reads */
    VM_TMEM_STORE = 2,                                  /* tcgen05.st: writes */
    VM_TMEM_MMA = 4,                                    /* writes D */
    VM_TMEM_MMA_SOURCE = 8,                             /* reads A, scale factors, metadata */
    VM_TMEM_COPY = 16,                                  /* tcgen05.cp: writes */
    VM_TMEM_SHIFT = 32,                                 /* reads and writes */
    VM_TMEM_ASHIFT = VM_TMEM_MMA_SOURCE | VM_TMEM_SHIFT /* A of an mma with .ashift */
} vm_tmem_kind;
#define VM_TMEM_WRITERS (VM_TMEM_STORE | VM_TMEM_MMA | VM_TMEM_COPY | VM_TMEM_SHIFT)
#define VM_TMEM_ANY     (VM_TMEM_WRITERS | VM_TMEM_LOAD | VM_TMEM_MMA_SOURCE)

/* An asynchronous operation from its issue until somebody has waited for it. */
typedef struct vm_tmem_flight {
    vm_tmem_kind kind;
    uint16_t agent;
    uint32_t pc;
    uint64_t id; /* given by vm_tmem_flight_begin; never 0 */
    vm_tmem_area area;
    /* Its warp has waited: over for that warp, and for others of the CTA that have learned of what it
     * released since. released: of the warp; NULL: not waited for. */
    const uint64_t *released;
    uint64_t waited_at;
} vm_tmem_flight;

#define VM_TMEM_RESIDENTS 32u /* CTAs of one SM */
/* Columns side by side that most operations write as a whole: they share one writer then. */
#define VM_TMEM_GRAIN  8u
#define VM_TMEM_GRAINS (VM_TMEM_COLUMNS / VM_TMEM_GRAIN)
typedef struct vm_tmem {
    uint32_t (*cells)[VM_TMEM_LANES]; /* cells[column][lane] */
    uint32_t written[2][4]
                    [VM_TMEM_COLUMNS]; /* low and high halves of cells, per 32 lanes, whose bits they are */
    /* Per 16 lanes and grain a bit: whole: grain_writers has the writer of its columns, and what writers
     * has is out of date; full: all its cells are known to be written. */
    uint64_t whole[VM_TMEM_LANES / 16], full[VM_TMEM_LANES / 16];
    vm_tmem_writer grain_writers[VM_TMEM_LANES / 16][VM_TMEM_GRAINS];
    vm_tmem_writer writers[VM_TMEM_LANES / 16][VM_TMEM_COLUMNS];
    uint8_t slot_of[VM_TMEM_COLUMNS]; /* index in allocations + 1; 0: nobody's */
    vm_tmem_allocation allocations[VM_TMEM_ALLOCATIONS];
    bool touched[VM_TMEM_COLUMNS / VM_TMEM_UNIT]; /* somebody had these columns since the last reset */
    uint32_t base;                                /* where the search for free columns begins */
    uint64_t random;                              /* not 0: free places are chosen by this state */
    uint64_t *clock; /* counts the writes; own_clock, or one that the SMs of a cluster share */
    uint64_t own_clock;
    uint64_t last_write;      /* clock of the last write here */
    bool half_rows;           /* some result used 16 of each 32 lanes (datapaths C and F) */
    uint32_t storers[4];      /* per 32 lanes: bit per warp that has ever stored there with tcgen05.st */
    uint64_t engine_write[4]; /* likewise: clock of the last write of mma, cp or shift */
    base_arena *arena;
    BASE_VECTOR(vm_tmem_flight) flights;
    uint64_t next_flight;
    /* Of flights that nobody has waited for, those that only read and those that write: how many, and a bit
     * per grain of columns where they are, perhaps some more. */
    uint32_t open_count[2];
    uint64_t open_grains[2];
    uint32_t waited[4];     /* per 32 lanes: bit per warp whose flights were waited for, perhaps some more */
    uint32_t joined[2][32]; /* where a warp's waited flight perhaps stands that later ones become a part of */
    struct vm_cta *residents[VM_TMEM_RESIDENTS]; /* CTAs that live on the SM, for the machine */
    uint32_t resident_count;
} vm_tmem;

vm_tmem *vm_tmem_create(base_arena *arena);
/* As at the start of a run: all columns free, all cells poison. base: first column to try, a multiple of 32;
 * random: seed for choosing places at random, 0: first fit. */
void vm_tmem_reset(vm_tmem *t, uint32_t base, uint64_t random);

/* ---- allocation ---- */
static inline bool vm_tmem_size_legal(uint32_t columns) {
    return columns >= VM_TMEM_UNIT && columns <= VM_TMEM_COLUMNS && (columns & (columns - 1)) == 0;
}
/* First column of a free place at a multiple of `columns`, or -1. With `peer` the place is free in both. */
int32_t vm_tmem_place(vm_tmem *t, const vm_tmem *peer, uint32_t columns);
/* The columns at `begin` become the owner's; their cells are poison that nobody wrote. */
vm_tmem_allocation *vm_tmem_take(vm_tmem *t, uint32_t begin, uint32_t columns, uint64_t owner, uint32_t pc,
                                 bool pair);
typedef enum vm_tmem_free_result {
    VM_TMEM_FREED,
    VM_TMEM_FREE_OUTSIDE, /* the column is beyond 512, or lane bits are set */
    VM_TMEM_FREE_NOBODYS, /* not allocated now: never, or freed before */
    VM_TMEM_FREE_FOREIGN, /* another CTA's */
    VM_TMEM_FREE_INSIDE,  /* not the first column of its allocation */
    VM_TMEM_FREE_SIZE,    /* another number of columns than was allocated */
    VM_TMEM_FREE_GROUP    /* allocated with the other cta_group */
} vm_tmem_free_result;
/* found: the allocation that the address lies in, when there is one. Nothing changes unless FREED. */
vm_tmem_free_result vm_tmem_free(vm_tmem *t, uint32_t taddr, uint32_t columns, uint64_t owner, bool pair,
                                 vm_tmem_allocation *found);
const vm_tmem_allocation *vm_tmem_find(const vm_tmem *t, uint32_t column); /* NULL: nobody's, or beyond 512 */
uint32_t vm_tmem_free_columns(const vm_tmem *t);

/* ---- areas ---- */
static inline vm_tmem_area vm_tmem_rows(uint32_t column, uint32_t columns, uint32_t lane, uint32_t lanes) {
    vm_tmem_area area = {{0, 0, 0, 0}, column, columns};
    for (uint32_t k = lane / 32; k < 4 && k * 32 < lane + lanes; k++) {
        uint32_t from = lane > k * 32 ? lane - k * 32 : 0, to = lane + lanes - k * 32;
        area.lanes[k] = (to >= 32 ? UINT32_MAX : (1u << to) - 1) & (UINT32_MAX << from);
    }
    return area;
}
bool vm_tmem_overlap(const vm_tmem_area *a, const vm_tmem_area *b);

typedef enum vm_tmem_fault {
    VM_TMEM_FINE,
    VM_TMEM_OUTSIDE,     /* columns beyond 512 */
    VM_TMEM_UNALLOCATED, /* nobody's */
    VM_TMEM_FOREIGN      /* another CTA's */
} vm_tmem_fault;
/* May `owner` touch these columns? column: the first that it may not; found: whose it is, when somebody's. */
vm_tmem_fault vm_tmem_check(const vm_tmem *t, const vm_tmem_area *area, uint64_t owner, uint32_t *column,
                            vm_tmem_allocation *found);
/* A cell of the area, or half of it, that was never written since alloc. low_only: high halves do not matter.
 */
bool vm_tmem_unwritten(const vm_tmem *t, const vm_tmem_area *area, bool low_only, uint32_t *column,
                       uint32_t *lane);
/* Marks the area as written by `writer`, whose clock becomes the next one. low_only: the high halves are now
 * undefined. */
void vm_tmem_mark(vm_tmem *t, const vm_tmem_area *area, bool low_only, vm_tmem_writer writer);
/* tcgen05.shift in one partition, the 32 lanes from `lane` on: every row but the last takes the cells of the
 * next one, in VM_TMEM_SHIFT_COLUMNS columns from `column` on. Columns and lanes must be inside. */
#define VM_TMEM_SHIFT_COLUMNS 8u /* .31x256b */
void vm_tmem_shift(vm_tmem *t, uint32_t column, uint32_t lane);
/* Its marks, for whole partitions: who wrote, and what was ever written moves with the rows. */
void vm_tmem_shift_mark(vm_tmem *t, const vm_tmem_area *area, vm_tmem_writer writer);
static inline const vm_tmem_writer *vm_tmem_writer_at(const vm_tmem *t, uint32_t half, uint32_t column) {
    uint32_t grain = column / VM_TMEM_GRAIN;
    return t->whole[half] >> grain & 1 ? &t->grain_writers[half][grain] : &t->writers[half][column];
}
/* The first column behind this one that may have another writer. */
static inline uint32_t vm_tmem_writer_next(const vm_tmem *t, uint32_t half, uint32_t column) {
    uint32_t grain = column / VM_TMEM_GRAIN;
    return t->whole[half] >> grain & 1 ? (grain + 1) * VM_TMEM_GRAIN : column + 1;
}
/* The last writer of a cell of the area with clock > after and another agent than `agent`, without the bits
 * of `ignored`; NULL: none. */
const vm_tmem_writer *vm_tmem_foreign_writer(const vm_tmem *t, const vm_tmem_area *area, uint64_t after,
                                             uint16_t agent, uint16_t ignored);

/* ---- operations on their way ---- */
uint64_t vm_tmem_flight_begin(vm_tmem *t, vm_tmem_kind kind, uint16_t agent, uint32_t pc,
                              const vm_tmem_area *area);
void vm_tmem_flight_end(vm_tmem *t, uint64_t id); /* over for everybody */
/* Its warp has waited, at `now` on the CTA's clock; *released is when it last did what others can wait for.
 */
void vm_tmem_flight_waited(vm_tmem *t, uint64_t id, uint64_t now, const uint64_t *released);
void vm_tmem_flight_drop(vm_tmem *t, const vm_tmem_area *area); /* all that touch the area */
/* The oldest operation of these kinds (bits) that overlaps the area and is not over for `agent`, who learned
 * of others' work at `acquired` last; NULL: none. */
const vm_tmem_flight *vm_tmem_flight_find(const vm_tmem *t, const vm_tmem_area *area, uint32_t kinds,
                                          uint16_t agent, uint64_t acquired);

/* ---- an access of which nothing is to be said ---- */
typedef struct vm_tmem_visitor {
    uint64_t owner; /* of the columns */
    uint16_t agent; /* of that CTA */
    uint8_t window; /* all lanes of the area are among these 32 */
    bool store;
    uint64_t acquired;    /* when the agent learned of others' work last */
    uint64_t fence_after; /* the clock at its last fence */
} vm_tmem_visitor;
/* Begins a tcgen05.ld or st without .pack that passes every check: the columns are the owner's and were
 * published, every cell that a load wants is written, nothing that matters is on its way, and no other warp
 * has written there since the fence. What is stored is marked. Answers the flight; 0: nothing was done, and
 * it takes a closer look to say whether something is wrong. */
uint64_t vm_tmem_plain_begin(vm_tmem *t, const vm_tmem_area *area, const vm_tmem_visitor *visitor,
                             uint32_t pc);

/* ---- tcgen05.ld and st: which cells a register of the warp holds (PTX ISA 9.7.16.2.3) ---- */
typedef enum vm_tmem_shape {
    VM_TMEM_32X32B,
    VM_TMEM_16X64B,
    VM_TMEM_16X128B,
    VM_TMEM_16X256B,
    VM_TMEM_16X32BX2,
    VM_TMEM_SHAPE_COUNT
} vm_tmem_shape;
typedef struct vm_tmem_form {
    uint8_t shape; /* vm_tmem_shape */
    uint8_t count; /* the number behind x: 1, 2 ... 128 */
    bool pack;     /* .pack::16b or .unpack::16b */
    int32_t split; /* immHalfSplitoff of .16x32bx2 */
} vm_tmem_form;
uint32_t vm_tmem_registers(const vm_tmem_form *form); /* per thread; 0: no such form */
/* The areas that the form touches from column and lane: one, or two for .16x32bx2. Columns wrap as 32 bits.
 */
uint32_t vm_tmem_areas(const vm_tmem_form *form, uint32_t column, uint32_t lane, vm_tmem_area areas[2]);
/* Register r of all 32 threads; columns must be inside. */
void vm_tmem_load(const vm_tmem *t, const vm_tmem_form *form, uint32_t column, uint32_t lane, uint32_t r,
                  uint32_t to[32]);
/* threads: those that take part. preserve: .unpack::16b keeps the upper halves of cells, else they become 0.
 */
void vm_tmem_store(vm_tmem *t, const vm_tmem_form *form, uint32_t column, uint32_t lane, uint32_t r,
                   const uint32_t from[32], uint32_t threads, bool preserve);
#endif
