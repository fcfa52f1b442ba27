/* SPDX-License-Identifier: Apache-2.0
 * Asynchronous operations: work that an instruction starts and that ends later (copies, matrix operations,
 * loads and stores of tensor memory, arrivals at other CTAs). An operation reads its sources and writes its
 * destinations when it completes; the schedule of the launch says when that is:
 *  - EARLY: as soon as what stands before it in its order is complete, at once; what other warps wait for
 *    through an mbarrier, when each of them has had a turn;
 *  - LATE: when nobody can go on without it, or somebody waits for it; vm_launch.late_classes restricts this
 * to some classes, the others are early;
 *  - RANDOM: at a moment drawn from the seed.
 * Nothing here depends on worker threads. From issue until somebody has *observed* the completion (waited for
 * the mbarrier phase that it signalled, or for its group) its ranges are in flight: other accesses that
 * overlap them are findings, under every schedule. Knows no instruction. */
#ifndef TIRC_VM_VM_ASYNC_H
#define TIRC_VM_VM_ASYNC_H
#include "vm/vm_cluster.h"
#include "vm/vm_internal.h"

/* vm_async_class (VM_ASYNC_BULK ...) is in vm.h: a launch can name classes. */

typedef enum vm_range_space {
    VM_RANGE_NONE,
    VM_RANGE_SHARED,
    VM_RANGE_GLOBAL,
    VM_RANGE_TENSOR
} vm_range_space;
typedef struct vm_range {
    uint8_t space; /* vm_range_space */
    bool write;
    uint16_t lane_begin, lane_end; /* TENSOR: lanes */
    vm_cta *cta;                   /* SHARED, TENSOR: whose; NULL: of the issuing CTA */
    uint64_t begin, end;           /* bytes: shared offset or global address; TENSOR: columns */
} vm_range;

enum { VM_ASYNC_RANGES = 4, VM_ASYNC_BYTES = 192 };
typedef struct vm_async vm_async;
struct vm_async {
    /* ---- the issuer fills in ---- */
    void (*complete)(vm_async *operation); /* reads, writes, signals; must not issue and not wait */
    void (*observed)(vm_async *operation); /* somebody has waited for it, or it is dropped; may be NULL */
    uint64_t order; /* operations of one class and order complete in the order of issue; 0: unordered */
    uint32_t group; /* for the issuer's commit groups */
    uint32_t range_count;
    vm_range ranges[VM_ASYNC_RANGES];
    void *data; /* of vm_async_data, freed with the operation */
    union {     /* payload */
        uint8_t bytes[VM_ASYNC_BYTES];
        uint32_t words[VM_ASYNC_BYTES / 4];
        uint64_t longs[VM_ASYNC_BYTES / 8];
        void *pointers[VM_ASYNC_BYTES / sizeof(void *)];
    } of;
    /* ---- vm_async_new fills in ---- */
    vm_cta *cta;
    vm_warp *warp;
    uint32_t pc, mask;
    vm_async_class class;
    uint64_t sequence; /* of issue in its queue */
    /* ---- private ---- */
    uint8_t state;
    uint32_t data_class;
    /* the barriers whose phases make it observed: at this offset in CTAs of one cluster */
    vm_cta *signal_cta; /* one of them; NULL: none yet */
    uint32_t signal_offset, signal_ranks;
    uint64_t signal_phase[VM_CLUSTER_LIMIT]; /* by rank */
    /* vm_race.h: what its thread knew when it issued it; since when those who wait at the barrier with this
     * number know of it (0: nobody) */
    struct vm_clock *race_clock;
    uint32_t race_stamp, race_lane;
    bool race_waited; /* its own thread has waited for it */
    vm_async *next, *previous;
};

/* A zeroed operation of the current split's instruction. Fill it in and issue it. */
vm_async *vm_async_new(vm_warp *warp, vm_async_class class, uint32_t mask);
void *vm_async_data(vm_async *operation, size_t bytes); /* 64-byte aligned, contents undefined */
/* Starts it; it may be complete and gone when this returns. */
void vm_async_issue(vm_async *operation);

/* Completes now the pending operations that `wanted` accepts, each after those before it in its order, and
 * takes them all as observed. For waits of a warp for its own groups. Returns how many were pending. */
uint32_t vm_async_finish(vm_cta *cta, bool (*wanted)(const vm_async *operation, void *user), void *user);

/* From `complete`: arrivals and transferred bytes for the mbarrier at this shared offset of that CTA (which
 * may be another one of the cluster). The operation counts as observed once somebody has waited for the
 * phase; after signals to several CTAs (multicast: the same offset), for any of them. */
void vm_async_signal(vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals, uint32_t bytes);

/* Counts a range over [begin, end) of shared memory in, or out: what lies there is looked at closer when it
 * is accessed. */
void vm_async_count(vm_cta *cta, uint64_t begin, uint64_t end, int by);
/* Reports (finding IN_FLIGHT) when an access meets a range in flight: reads meet writes, writes meet both.
 * except: an operation that may overlap (the accessing one itself), or NULL. True: a conflict was found. */
bool vm_async_conflict(vm_warp *warp, uint32_t pc, unsigned lane, const vm_range *access,
                       const vm_async *except);

/* ---- for the core ---- */
typedef struct vm_async_queue vm_async_queue;
vm_async_queue *vm_async_create(vm_grid *run, base_arena *arena, uint64_t seed);
void vm_async_seed(vm_async_queue *queue, uint64_t seed);
/* EARLY: every warp had a turn; completes what was issued before that round of turns began. True: something
 * was pending. */
bool vm_async_round(vm_async_queue *queue);
/* Nothing can go on: completes what stands next. False: nothing is pending. */
bool vm_async_advance(vm_async_queue *queue);
void vm_async_turn(vm_async_queue *queue);  /* RANDOM: between two warps, perhaps something completes */
void vm_async_leave(vm_cta *cta);           /* a CTA ends: its operations complete, ranges are forgotten */
void vm_async_reset(vm_async_queue *queue); /* drops everything: the CTAs were stopped */
void vm_async_observe(vm_cta *cta, uint32_t offset, uint64_t phase); /* a wait saw this phase completed */
#endif
