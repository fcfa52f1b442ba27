/* SPDX-License-Identifier: Apache-2.0
 * mbarrier objects (PTX ISA 9.7.13.15) of a CTA. The full state lives beside shared memory, with phases that
 * never wrap; the 64 bits in shared memory are an image of it, by which overwriting is noticed. */
#ifndef TIRC_VM_VM_MBARRIER_H
#define TIRC_VM_VM_MBARRIER_H
#include "vm/vm_async.h"

/* Fields of vm_op.imm of VM_EXTERNAL_MBARRIER; its extras: address (64 bits), second operand or none, result
 * or none. */
typedef enum vm_mbarrier_kind {
    VM_MBARRIER_INIT,   /* count */
    VM_MBARRIER_INVAL,  /* none */
    VM_MBARRIER_ARRIVE, /* count, or bytes with EXPECT; result: state */
    VM_MBARRIER_EXPECT_TX,
    VM_MBARRIER_COMPLETE_TX,
    VM_MBARRIER_TEST_WAIT, /* state, or parity with PARITY; result: predicate */
    VM_MBARRIER_TRY_WAIT,
    VM_MBARRIER_PENDING_COUNT /* the address is the state; result: count */
} vm_mbarrier_kind;
#define VM_MBARRIER_KIND(imm)   ((vm_mbarrier_kind)((imm)&15))
#define VM_MBARRIER_EXPECT      (1u << 4)
#define VM_MBARRIER_DROP        (1u << 5)
#define VM_MBARRIER_NO_COMPLETE (1u << 6)
#define VM_MBARRIER_PARITY      (1u << 7)
#define VM_MBARRIER_CLUSTER     (1u << 8)  /* .shared::cluster: may be another CTA's */
#define VM_MBARRIER_GENERIC     (1u << 9)  /* the address is generic */
#define VM_MBARRIER_ONE         (1u << 10) /* no count given: 1 */

typedef struct vm_mbarrier {
    uint32_t offset;
    bool live;
    bool written;               /* as data, and that was reported */
    uint64_t phase;             /* the current, incomplete one; counts from 0 */
    uint64_t observed;          /* phases below it have been seen complete by a wait */
    uint32_t expected, pending; /* arrivals */
    int64_t transactions;       /* bytes expected less bytes completed */
    uint64_t image;             /* what shared memory must hold */
    uint32_t init_pc;
    struct vm_clock *race_arrived, *race_done; /* vm_race.h: of this phase, and of those before */
    uint32_t seen[32]; /* per warp of the CTA: phases that its waits have seen complete */
    uint32_t from[4],
        from_count; /* operations that arrived or completed bytes, the first few different ones */
} vm_mbarrier;

/* Arrivals and completed bytes of an asynchronous operation. Returns the number of the phase they counted
 * for. Reports what is wrong with the barrier and then does nothing. */
uint64_t vm_mbarrier_signal(const vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals,
                            uint32_t bytes, uint32_t *race_stamp);
/* cp.async.mbarrier.arrive: the phase waits for so many arrivals more. */
void vm_mbarrier_increment(const vm_async *operation, vm_cta *cta, uint32_t offset, uint32_t arrivals);
/* Reports a write of [begin, end) of the CTA's shared memory as data over a live mbarrier. */
void vm_mbarrier_written(vm_warp *warp, uint32_t pc, unsigned lane, vm_cta *cta, uint64_t begin,
                         uint64_t end);
/* Granules of shared memory count the live barriers and address slots in them, so that ordinary stores look
 * at one number. */
void vm_mbarrier_guard(vm_cta *cta, uint32_t offset, int by);
const vm_mbarrier *vm_mbarrier_at(const vm_cta *cta, uint32_t offset); /* NULL: none alive */
void vm_mbarrier_start(vm_cta *cta);                                   /* forgets all: a CTA begins */
/* "waits at the mbarrier at shared offset ... " for a deadlock report. */
void vm_mbarrier_describe(const vm_warp *warp, const vm_split *split, base_builder *text);
#endif
