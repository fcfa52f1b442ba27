/* SPDX-License-Identifier: Apache-2.0
 * Copies that run beside the threads: cp.async, cp.async.bulk, cp.async.bulk.tensor and their reductions,
 * with the groups by which threads wait for them. How vm_decode_copy.c tells the executing files what an
 * instruction is. */
#ifndef TIRC_VM_VM_COPY_H
#define TIRC_VM_VM_COPY_H
#include "vm/vm_async.h"
#include "vm/vm_atomic.h"
#include "vm/vm_tensor_copy.h"

/* ---- imm of the externals ---- */
typedef enum vm_copy_direction {
    VM_COPY_IN,      /* global to shared memory of the cluster */
    VM_COPY_ACROSS,  /* shared memory to that of another CTA */
    VM_COPY_OUT,     /* shared to global memory */
    VM_COPY_PREFETCH /* global to L2: checked, then nothing */
} vm_copy_direction;
#define VM_COPY_DIRECTION(imm)  ((vm_copy_direction)((imm)&3))
#define VM_COPY_CLUSTER         (1u << 2) /* the destination is named .shared::cluster */
#define VM_COPY_MULTICAST       (1u << 3)
#define VM_COPY_PAIR            (1u << 4) /* .cta_group::2 */
#define VM_COPY_MASKED          (1u << 5) /* .cp_mask */
#define VM_COPY_REDUCE          (1u << 6)
#define VM_COPY_RANK(imm)       ((uint32_t)((imm) >> 8 & 7))
#define VM_COPY_RANK_SHIFT      8
#define VM_COPY_FORM(imm)       ((vm_tensor_form)((imm) >> 11 & 7)) /* tensor copies */
#define VM_COPY_FORM_SHIFT      11
#define VM_COPY_OPERATION(imm)  ((vm_atomic_operation)((imm) >> 16 & 0xff)) /* of REDUCE */
#define VM_COPY_OPERATION_SHIFT 16
#define VM_COPY_TYPE(imm)       ((ptx_type)((imm) >> 24 & 0xff)) /* of bulk reductions */
#define VM_COPY_TYPE_SHIFT      24

/* Places in the extras. */
enum { /* BULK_COPY */
       VM_BULK_TO,
       VM_BULK_FROM,
       VM_BULK_SIZE,
       VM_BULK_BARRIER, /* NONE: by group */
       VM_BULK_MASK,    /* of CTAs, or of bytes */
       VM_BULK_OPERANDS
};
enum {                        /* TENSOR_COPY */
       VM_TENSOR_COPY_SHARED, /* NONE: prefetch */
       VM_TENSOR_COPY_MAP,
       VM_TENSOR_COPY_BARRIER,
       VM_TENSOR_COPY_MASK,
       VM_TENSOR_COPY_COORDINATE,                             /* 5 */
       VM_TENSOR_COPY_OFFSET = VM_TENSOR_COPY_COORDINATE + 5, /* 3 */
       VM_TENSOR_COPY_OPERANDS = VM_TENSOR_COPY_OFFSET + 3
};
/* COPY_ASYNC: to, from, size (16 bytes or less: of the source) or NONE, ignore predicate or NONE; imm: bytes
 */

typedef enum vm_copy_step {                   /* COPY_GROUP: low 4 bits of imm; the count above */
                            VM_COPY_COMMIT,   /* cp.async.commit_group */
                            VM_COPY_WAIT,     /* cp.async.wait_group */
                            VM_COPY_WAIT_ALL, /* cp.async.wait_all */
                            VM_COPY_ARRIVE,   /* cp.async.mbarrier.arrive; extras: address */
                            VM_COPY_ARRIVE_NO_INCREMENT,
                            VM_COPY_BULK_COMMIT,
                            VM_COPY_BULK_WAIT,
                            VM_COPY_BULK_WAIT_READ
} vm_copy_step;
#define VM_COPY_STEP(imm)       ((vm_copy_step)((imm)&15))
#define VM_COPY_STEP_COUNT(imm) ((uint32_t)((imm) >> 4 & 0xffffff))
#define VM_COPY_STEP_GENERIC    (1u << 28) /* ARRIVE: the address is generic */

/* ---- state of a CTA ---- */
typedef struct vm_copy_thread {
    uint32_t committed;      /* groups of cp.async so far; an operation's group is the number before it */
    uint32_t bulk_committed; /* the same of bulk copies out */
    uint32_t bulk_issued;    /* group of the last bulk copy out, + 1; 0: none */
    uint32_t bulk_read;      /* groups below it are known to have read their sources */
    uint32_t bulk_pc;        /* of that last copy */
} vm_copy_thread;
struct vm_copy_cta {
    vm_copy_thread *threads;      /* of all warps */
    BASE_VECTOR(uint64_t) edited; /* tensor maps in global memory, changed and not acquired since */
};
struct vm_copy_cta *vm_copy_state(vm_cta *cta);
static inline vm_copy_thread *vm_copy_threads(vm_warp *warp) {
    return vm_copy_state(warp->cta)->threads + (size_t)warp->index * VM_LANES;
}
void vm_copy_start(vm_cta *cta);  /* a CTA begins */
void vm_copy_finish(vm_cta *cta); /* its threads have ended: copies that nobody waited for */

/* ---- shared by the executing files ---- */
/* Where a copy into shared memory goes and which barrier it signals. */
typedef struct vm_copy_target {
    vm_cta *cta;
    uint32_t offset;
    vm_cta *barrier_cta; /* NULL: none */
    uint32_t barrier;
} vm_copy_target;
enum { VM_COPY_TARGETS = 16 };
typedef struct vm_copy_place { /* the instruction's operands for one lane */
    uint64_t imm;
    uint64_t to, barrier; /* shared addresses */
    uint32_t mask;        /* of CTAs, with VM_COPY_MULTICAST */
    uint32_t bytes;       /* that shared memory must have from `to` on */
    uint32_t align;
} vm_copy_place;
/* The targets of one lane's copy, after reporting what is wrong with them: how many. */
uint32_t vm_copy_targets(vm_warp *warp, uint32_t pc, unsigned lane, const vm_copy_place *place,
                         vm_copy_target targets[VM_COPY_TARGETS]);
/* Offset of `bytes` of the own shared memory; false after reporting. */
bool vm_copy_own(vm_warp *warp, uint32_t pc, unsigned lane, uint64_t address, uint32_t bytes, uint32_t align,
                 bool store, uint32_t *offset);
vm_finding *vm_copy_report(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, ptx_space space,
                           uint64_t address, uint64_t size, uint64_t required, bool store);
/* Adds a range and reports a conflict with what is in flight. */
void vm_copy_range(vm_async *operation, unsigned lane, vm_range range);
/* FIFO of a thread. */
static inline uint64_t vm_copy_order(const vm_warp *warp, unsigned lane) {
    return ((uint64_t)(uintptr_t)warp << 5) + lane + 1;
}

/* ---- vm_atomic.c ---- */
/* to = to op from for each element. shared: no other worker touches it; flush: sums of f32 flush subnormals.
 */
void vm_atomic_reduce(vm_grid *run, uint8_t *to, const uint8_t *from, uint32_t bytes,
                      vm_atomic_operation operation, ptx_type type, bool shared, bool flush);
#endif
