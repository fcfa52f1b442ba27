/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory in the machine: what a CTA and a warp know about it, and the checks that make findings. The
 * data itself is vm_tmem.h. For the files that execute tcgen05 instructions. */
#ifndef TIRC_VM_VM_TMEM_MACHINE_H
#define TIRC_VM_VM_TMEM_MACHINE_H
#include "vm/vm_internal.h"
#include "vm/vm_tmem.h"

/* imm of TMEM_LOAD and TMEM_STORE; names: TMEM_LOAD: where in program->extras the virtual registers stand */
#define VM_TMEM_IMM(shape, log2_count, pack, split)                                                          \
    ((uint64_t)(shape) | (uint64_t)(log2_count) << 3 | (uint64_t)(pack) << 6 |                               \
     (uint64_t)(uint32_t)(split) << 32)
#define VM_TMEM_IMM_NAMES(names) ((uint64_t)(names) << 7)
#define VM_TMEM_NAMES_OF(imm)    ((uint32_t)(imm) >> 7)
#define VM_TMEM_NAMES_LIMIT      (1u << 25)
static inline vm_tmem_form vm_tmem_form_of(uint64_t imm) {
    return (vm_tmem_form){.shape = imm & 7,
                          .count = (uint8_t)(1u << (imm >> 3 & 7)),
                          .pack = imm >> 6 & 1,
                          .split = (int32_t)(imm >> 32)};
}
/* imm of TMEM_WAIT and TMEM_FENCE */
enum { VM_TMEM_WAIT_LOAD, VM_TMEM_WAIT_STORE };
enum { VM_TMEM_FENCE_BEFORE, VM_TMEM_FENCE_AFTER, VM_TMEM_FENCE_OTHER /* fence, st.release ... */ };
/* imm of TMEM_ALLOC, TMEM_DEALLOC, TMEM_RELINQUISH */
#define VM_TMEM_PAIR   1u /* cta_group::2 */
#define VM_TMEM_SHARED 2u /* the slot's address is in shared memory; else it is generic */

/* TMEM_NEED: imm is the index of raw words in program->extras: per reference of the list the virtual register
 * and how it is met. TARGET follows what is moved to it. */
typedef enum vm_tmem_need {
    VM_TMEM_NEED_DATA,      /* the value must be there; says nothing of its use */
    VM_TMEM_NEED_USE,       /* arithmetic, a store, an address ... */
    VM_TMEM_NEED_SELECT,    /* a predicate: of the TRUE and FALSE that follow */
    VM_TMEM_NEED_COPY,      /* moved */
    VM_TMEM_NEED_TRUE,      /* moved where the predicate is true */
    VM_TMEM_NEED_FALSE,     /* moved where it is false */
    VM_TMEM_NEED_TARGET,    /* where they are moved to */
    VM_TMEM_NEED_OVERWRITE, /* written by something else: whole */
    VM_TMEM_NEED_PARTLY     /* written in some lanes */
} vm_tmem_need;

/* What a row holds that a load has filled, or will. */
typedef struct vm_tmem_tag {
    uint64_t load; /* serial; 0: nothing */
    uint32_t reg;  /* virtual register */
    uint8_t index; /* of the load's registers */
    bool there;    /* the value has been read from tensor memory */
    bool copy;     /* moved from a register of the load */
    bool seen;     /* somebody has read the register */
} vm_tmem_tag;

typedef struct vm_tmem_pending_load {
    uint64_t serial;
    vm_tmem_form form;
    uint32_t pc, column, lane;
    uint32_t lanes, mask; /* that executed it; of these, those that have not waited */
    bool fetched;         /* all registers were filled at issue */
    bool skipped;         /* the access was wrong: poison arrives */
    bool reported;        /* a use before the wait */
    bool other_wait;      /* a wait::st with no store to wait for came since */
    uint8_t unseen;       /* registers that nobody has read */
    uint32_t frame_row;   /* of the frame that it loads for */
    uint64_t flights[2];
} vm_tmem_pending_load;

typedef struct vm_tmem_pending_store {
    vm_tmem_form form;
    uint32_t pc, column, lane, mask, threads;
    bool done;       /* the cells are written */
    bool other_wait; /* a wait::ld with no load to wait for came since */
    uint64_t flights[2];
    uint32_t *rows;
    uint32_t row_capacity;
} vm_tmem_pending_store;

typedef struct vm_tmem_warp {
    BASE_VECTOR(vm_tmem_pending_load) loads; /* by serial */
    BASE_VECTOR(vm_tmem_pending_store)
    stores; /* in order; those behind store_count keep their rows for reuse */
    size_t store_count;
    uint64_t serial;
    vm_tmem_tag *tags; /* per row of the warp */
    uint32_t tag_capacity;
    uint64_t fence_before, fence_after; /* *vm_tmem.clock at the last fence */
    uint32_t trying;                    /* pc + 1 of the alloc or dealloc that waits and is tried again */
} vm_tmem_warp;

typedef struct vm_tmem_freed {
    uint32_t begin, columns, pc;
} vm_tmem_freed;

typedef struct vm_tmem_cta {
    vm_sm alone;    /* of a CTA that runs alone */
    bool resident;  /* known to the SM's memory */
    uint32_t group; /* of the first instruction that has one: 1 or 2; 0: none yet */
    uint32_t group_pc;
    uint32_t smallest; /* columns of the smallest allocation so far; 0: none */
    uint32_t smallest_pc;
    bool relinquished;
    uint32_t relinquish_pc;
    uint64_t order;                           /* of the last event (vm_tmem_record.h) */
    uint32_t alloc_pc;                        /* of the last alloc */
    vm_tmem_freed freed[VM_TMEM_ALLOCATIONS]; /* the last ones, a ring */
    uint32_t freed_count;
    /* one half of a pair's alloc or dealloc that waits for the other */
    enum { VM_TMEM_PAIR_IDLE, VM_TMEM_PAIR_ALLOC, VM_TMEM_PAIR_DEALLOC, VM_TMEM_PAIR_DONE } pair;
    uint32_t pair_columns, pair_warp, pair_pc;
    uint32_t pair_address; /* DONE: what alloc gave */
} vm_tmem_cta;

vm_tmem *vm_tmem_of(vm_cta *cta); /* of the CTA's SM */
vm_tmem_cta *vm_tmem_cta_of(vm_cta *cta);
vm_tmem_warp *vm_tmem_warp_of(vm_warp *warp);
static inline uint16_t vm_tmem_agent(const vm_warp *warp) {
    return VM_TMEM_AGENT(warp->cta->rank, warp->index);
}

/* ---- for mma, cp and shift (vm_tensor_*.c): each reports what is wrong at pc ---- */
/* All instructions with a cta_group of a kernel have the same: report the first other one. */
void vm_tmem_group(vm_warp *warp, uint32_t pc, unsigned lane, uint32_t group);
/* May this warp touch the area in the memory of `cta`'s SM? Columns exist, are that CTA's, and, when another
 * warp than this allocated them, this one has synchronised since. False: do not touch it. */
bool vm_tmem_allowed(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                     bool store);
/* Cells of the area must have been written; low_only: only their low halves count. */
void vm_tmem_initialised(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                         bool low_only);
/* Loads and stores of warps (VM_TMEM_LOAD, VM_TMEM_STORE) that have not been waited for and overlap the area.
 */
bool vm_tmem_conflict(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                      uint32_t kinds);
/* What other warps wrote there must be ordered by their fence::before_thread_sync (or commit) and this one's
 * fence::after_thread_sync. */
void vm_tmem_ordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area);
/* The same for mma, cp and shift, which follow what this warp itself let the matrix unit write. */
void vm_tmem_engine_ordered(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area);
/* Marks the area as written by an engine operation that this warp issued. */
void vm_tmem_written(vm_warp *warp, uint32_t pc, vm_cta *cta, const vm_tmem_area *area, bool low_only,
                     uint16_t layout);

/* vm_tensor_layout.c: a load of cells that hold a matrix result in a layout that it does not read as such. */
void vm_tensor_layout_load(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, const vm_tmem_area *area,
                           bool pack);

/* A finding about an access to taddr; NULL when it was merged. */
vm_finding *vm_tmem_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, uint32_t taddr,
                           uint64_t size, uint64_t required, bool store);
/* The value of a row, which must be the same in all lanes. */
uint32_t vm_tmem_uniform(vm_warp *warp, uint32_t pc, uint32_t ref, uint32_t mask);

/* The last dealloc that freed this column, NULL: none of this CTA. */
const vm_tmem_freed *vm_tmem_freed_at(vm_cta *cta, uint32_t column);

/* ---- for the core ---- */
void vm_tmem_sm_start(vm_sm *sm, const vm_launch *launch); /* the SM is empty again */
void vm_tmem_start(vm_cta *cta);                           /* a CTA begins on its SM */
void vm_tmem_finish(vm_cta *cta);                          /* and has ended: leaks, permit, peers */
/* Every live lane of the warp must execute an .aligned instruction. False: answer *action. */
bool vm_tmem_gather(vm_warp *warp, uint32_t mask, vm_action *action);
/* Nobody can go on: lets one part of a warp that waits at such an instruction execute it without the rest. */
bool vm_tmem_force(vm_cta *cta);
/* A frame is left: its registers are no longer those that loads were to fill. */
void vm_tmem_return(vm_warp *warp, const vm_frame *frame);
/* "waits at tcgen05.alloc ..." of a split that is parked for ALLOC or PAIR. */
void vm_tmem_describe(const vm_cta *cta, const vm_split *split, base_builder *text);
#endif
