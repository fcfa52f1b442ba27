/* SPDX-License-Identifier: Apache-2.0
 * The PTX machine: runs a PTX module on the CPU. Knows nothing of scripts, IR or lowering; findings are raw
 * data, worded by the layer above. */
#ifndef TIRC_VM_VM_H
#define TIRC_VM_VM_H
#include "ptx/ptx.h"
#include "vm/vm_fused_sum.h"

typedef struct vm_program vm_program; /* a decoded module; immutable after vm_load, shared by runs */

typedef struct vm_kernel_info {
    const char *name;
    uint32_t virtual_registers; /* declared, in 32-bit units used */
    uint32_t allocated_rows;    /* rows of 32 x u32 after allocation */
    uint64_t shared_bytes, local_bytes, parameter_bytes;
    uint32_t instructions;
} vm_kernel_info;

/* Decodes what the entries reach. Reports unsupported instructions as T07xx warnings at their place (they end
 * a run as incomplete only when executed). NULL on errors. */
vm_program *vm_load(base_arena *arena, const ptx_module *module);
/* How approximate instructions (ex2.approx and so on) are computed: nearly exactly, or as an H200 does. */
typedef enum vm_approximations { VM_APPROXIMATE_NEARLY, VM_APPROXIMATE_H200 } vm_approximations;
vm_program *vm_load_with(base_arena *arena, const ptx_module *module, vm_approximations approximations);
/* For launches that look for races (vm_launch.check). */
vm_program *vm_load_checked(base_arena *arena, const ptx_module *module, vm_approximations approximations);
bool vm_kernel(const vm_program *program, size_t index, vm_kernel_info *info);

/* A global buffer of the caller, alive during the run. The machine gives it a device address; guards around
 * it belong to no buffer. */
typedef struct vm_buffer {
    const char *name;
    void *data;
    uint64_t bytes;
    uint64_t align; /* of the device address; 0: 256 */
    bool read_only;
    bool placed;      /* address is the caller's: vm_address_first or above, the same in every run */
    uint64_t address; /* out, unless placed: device address, set by vm_run */
} vm_buffer;
/* Lowest device address that a placed buffer may have. Placed buffers must not touch each other. */
uint64_t vm_address_first(void);

/* Global variables of a module, in a fixed order. initial NULL: zeros. */
typedef struct vm_variable {
    const char *name;
    uint64_t address, bytes;
    const void *initial;
} vm_variable;
bool vm_variable_at(const vm_program *program, size_t index, vm_variable *variable);
/* Constant variables: addresses are generic, and `initial` points into vm_constants. */
bool vm_constant_at(const vm_program *program, size_t index, vm_variable *variable);
const void *vm_constants(const vm_program *program, uint64_t *bytes); /* the bank's initial bytes */

typedef enum vm_argument_kind {
    VM_ARGUMENT_BUFFER,
    VM_ARGUMENT_BYTES,
    VM_ARGUMENT_TENSOR_MAP /* bytes: a map (vm_tensor_map.h) whose address counts from the buffer's */
} vm_argument_kind;
typedef struct vm_argument {
    vm_argument_kind kind;
    uint32_t buffer;      /* BUFFER, TENSOR_MAP: index into buffers; its device address is passed */
    uint64_t byte_offset; /* BUFFER: added to the address */
    const void *bytes;    /* BYTES: the parameter's bytes */
    uint64_t size;
} vm_argument;

typedef enum vm_schedule { VM_SCHEDULE_EARLY, VM_SCHEDULE_LATE, VM_SCHEDULE_RANDOM } vm_schedule;

/* Asynchronous operations, by what orders them (vm_async.h). */
typedef enum vm_async_class {
    VM_ASYNC_COPY,       /* cp.async: groups of a thread, in order */
    VM_ASYNC_BULK,       /* bulk and tensor copies into shared memory: unordered */
    VM_ASYNC_BULK_STORE, /* bulk and tensor copies out of shared memory: groups of a thread */
    VM_ASYNC_TENSOR,     /* tcgen05 mma, cp, shift, commit: in order for each CTA or pair of CTAs */
    VM_ASYNC_TMEM_LOAD,  /* tcgen05.ld: of a warp */
    VM_ASYNC_TMEM_STORE, /* tcgen05.st: of a warp */
    VM_ASYNC_WGMMA,      /* wgmma.mma_async: of a warpgroup */
    VM_ASYNC_REMOTE,     /* st.async, red.async, arrivals at other CTAs */
    VM_ASYNC_CLASSES
} vm_async_class;
const char *vm_async_class_name(vm_async_class class);

/* What a launch of a program of vm_load_checked looks for. */
enum { VM_CHECK_RACES = 1, VM_CHECK_INITIAL = 2 };

typedef struct vm_launch {
    const char *kernel;                     /* NULL: the only entry */
    uint32_t grid[3], block[3], cluster[3]; /* cluster 0: none */
    uint64_t dynamic_shared_bytes;
    const vm_argument *arguments;
    size_t argument_count;
    vm_buffer *buffers;
    size_t buffer_count;
    /* Memory of the module's variables, one pointer for each of vm_variable_at, kept by the caller from run
     * to run. NULL: every run starts from the initial values. */
    void *const *variables;
    void *constants;  /* the constant bank likewise, vm_constants bytes and 16 more; NULL: the initial one */
    uint32_t threads; /* workers; 0: one per core */
    vm_schedule schedule;
    uint64_t seed;
    vm_numerics numerics;    /* of the matrix instructions; VM_NUMERICS_HW: as the target of the module */
    uint32_t late_classes;   /* LATE: bit per vm_async_class that is late, the others are early; 0: all */
    uint32_t sms;            /* SMs of the machine, for kernels whose placement shows; 0: 148 */
    uint32_t ctas_per_sm;    /* CTAs that live on an SM at a time, at most; 0: as many as fit */
    uint32_t tmem_base;      /* first column that alloc tries, a multiple of 32 */
    uint64_t tmem_random;    /* seed: alloc chooses among the free places; 0: the first from tmem_base on */
    bool tmem_lanes_release; /* ld and st: an address of lane 0 means the warp's own lanes, as released
                                hardware has it */
    bool tmem_unpack_preserves; /* st with .unpack::16b keeps the upper halves of cells; else they become 0 */
    bool unchecked;    /* to measure what it costs: what the findings about work in flight, tensor memory and
                          proxies need is not kept, and they are not made */
    bool tmem_history; /* vm_result.tmem_histories is wanted */
    bool cooperative;  /* all CTAs are resident at once, or the launch is refused; grid barriers have their
                          workspace */
    bool strict_ptx; /* orders that hardware keeps and PTX does not promise do not count; see docs/machine.md
                      */
    uint32_t check;  /* VM_CHECK_ bits: races in shared memory, reads of memory that nothing wrote */
    uint64_t step_limit;    /* warp instructions of the whole grid; 0: none */
    uint64_t memory_limit;  /* bytes for the machine's own state; 0: 8 GiB */
    uint32_t finding_limit; /* kept findings; 0: 100 */
    const char *level;      /* "x86-64", "x86-64-v3", "x86-64-v4"; NULL: best, or $TIRC_VM_LEVEL */
    void (*print)(void *user, const char *text, size_t size); /* printf output, in CTA order; NULL: dropped */
    void *print_user;
    /* Called now and then from the calling thread; return false to stop the run (status VM_STOPPED). May be
     * NULL. */
    bool (*progress)(void *user, uint64_t ctas_done, uint64_t ctas_total);
    void *progress_user;
} vm_launch;

typedef enum vm_status {
    VM_COMPLETE, /* ran to the end; look at the findings */
    VM_FAULTED,  /* the machine could not go on: a finding says why */
    VM_DEADLOCK,
    VM_STEP_LIMIT,
    VM_STOPPED,
    VM_UNSUPPORTED, /* reached an instruction it does not have */
    VM_NO_MEMORY,
    VM_BAD_LAUNCH /* a finding says what was wrong */
} vm_status;

/* Tensor memory. What the fields say, where it is not an access to [address, address + size) columns:
 * - FREE_ADDRESS: required: vm_tmem_free_result; GROWS, CAPACITY: required: columns before; GROUP: size here,
 * required elsewhere; LANES: address here, required elsewhere; PARTIAL: size lanes of required, address those
 * alive;
 * - WINDOW: size the lane given, required the first of the warp; UNWRITTEN: size 2: the upper half of the
 * cell;
 * - IN_FLIGHT: columns that required (vm_tmem_kind) works on; FENCE_BEFORE: required: the warp that lacks it.
 */
/* clang-format off */
#define VM_TMEM_FINDINGS(X) \
    X(UNALLOCATED, "tmem-unallocated") \
    X(RANGE, "tmem-range") \
    X(FREE_ADDRESS, "tmem-free-address") \
    X(FREE_SIZE, "tmem-free-size") \
    X(FREED_TWICE, "tmem-freed-twice") \
    X(LEAK, "tmem-leak") \
    X(RELINQUISHED, "tmem-relinquished") \
    X(COLUMNS, "tmem-columns") \
    X(GROWS, "tmem-grows") \
    X(GROUP, "tmem-group") \
    X(PEER, "tmem-peer") \
    X(LANES, "tmem-lanes") \
    X(PAIR_DIFFERS, "tmem-pair-differs") \
    X(PARTIAL, "tmem-partial") \
    X(SLOT, "tmem-slot") \
    X(SLOT_DATA, "tmem-slot-data") \
    X(WINDOW, "tmem-window") \
    X(LANE_START, "tmem-lane-start") \
    X(UNWRITTEN, "tmem-unwritten") \
    X(IN_FLIGHT, "tmem-in-flight") \
    X(USE_BEFORE_WAIT, "tmem-use-before-wait") \
    X(WRONG_WAIT, "tmem-wrong-wait") \
    X(OVERWRITE, "tmem-overwrite") \
    X(FENCE_AFTER, "tmem-fence-after") \
    X(FENCE_BEFORE, "tmem-fence-before") \
    X(UNPUBLISHED, "tmem-unpublished") \
    X(PAIR_ORDER, "tmem-pair-order") \
    X(CAPACITY, "tmem-capacity")
/* clang-format on */
/* Matrix instructions of warps and warpgroups. PARTIAL: size: the lanes that take part; DESCRIPTOR: address:
 * the descriptor, text: what is wrong with it; TOUCHED: text: the register; DIFFER: address, required: two
 * descriptors. */
/* clang-format off */
#define VM_MATRIX_FINDINGS(X) \
    X(MATRIX_PARTIAL, "matrix-partial") \
    X(MATRIX_SELECTOR, "matrix-selector") \
    X(WGMMA_TOUCHED, "wgmma-touched") \
    X(WGMMA_FENCE, "wgmma-fence") \
    X(WGMMA_DESCRIPTOR, "wgmma-descriptor") \
    X(WGMMA_DIFFER, "wgmma-differ") \
    X(WGMMA_WARPGROUP, "wgmma-warpgroup") \
    X(WGMMA_UNWAITED, "wgmma-unwaited")
/* clang-format on */
/* Copies. What the fields say:
 * - COPY_ALIGN: address, size; required: alignment. COPY_SIZE: size given, required: its unit, or the limit
 * (cp.async);
 * - COPY_EXTENT: size bytes from address, required: bytes of shared memory; COPY_CTA: size: rank given,
 * required: own; COPY_BARRIER: size: rank of the barrier, required: of the destination; COPY_MASK: size:
 * mask, required: CTAs of the cluster;
 * - COPY_PROXY: address of the first such bytes, size read, required: the warp that wrote them;
 * - TENSOR_MAP: size: vm_tensor_read, 0: in the wrong space; TENSOR_RULE, TENSOR_REQUEST: text: all that is
 * wrong, required: how much; TENSOR_REPLACE: size: value, required: ordinal. */
/* clang-format off */
#define VM_COPY_FINDINGS(X) \
    X(COPY_ALIGN, "copy-align") \
    X(COPY_SIZE, "copy-size") \
    X(TENSOR_MAP, "tensor-map") \
    X(TENSOR_RULE, "tensor-rule") \
    X(TENSOR_REQUEST, "tensor-request") \
    X(COPY_EXTENT, "copy-extent") \
    X(COPY_EXIT, "copy-exit") \
    X(COPY_PROXY, "copy-proxy") \
    X(COPY_CTA, "copy-cta") \
    X(COPY_BARRIER, "copy-barrier") \
    X(COPY_MASK, "copy-mask") \
    X(TENSOR_MAP_FENCE, "tensor-map-fence") \
    X(TENSOR_REPLACE, "tensor-replace")
/* clang-format on */
/* The matrix unit of Blackwell. INSTRUCTION, MATRIX: address: the descriptor, text: a violation per line;
 * TILE: [address, address + size) of required shared bytes; LANE: address: the tensor-memory address, size:
 * 'D', 'A', 'S'cale factors or 'C'opy, required: the lane it may have; OVERLAP: size columns from address, D
 * at required; ORDER: size columns at address; LANES, COMMIT_LANES: address: the lanes, size how many;
 * COMMIT_OTHER: address: the warp; COLLECTOR: address: 0 a, 1 to 4 b0 to b3, size: 1: filled with another
 * operand; FACTORS: size: the cell at address, required: the first copy; ZERO_MASK: address: the mask;
 * TARGET: address: the mask, size: the rank, required: CTAs; LAYOUT, LAYOUT_LOAD: address: the cell,
 * required: VM_TMEM_LAYOUT of its writer (vm_tmem.h), size: the wanted one, text: the operand, "D", "A" or
 * "S", or of loads "rows" or "halves"; SWIZZLE: address: of the tile, size: vm_proxy_layout of the copy that
 * wrote it, required: of the descriptor. */
/* clang-format off */
#define VM_TENSOR_FINDINGS(X) \
    X(INSTRUCTION, "tensor-instruction") \
    X(MATRIX, "tensor-matrix") \
    X(TILE, "tensor-tile") \
    X(LANE, "tensor-lane") \
    X(OVERLAP, "tensor-overlap") \
    X(ORDER, "tensor-order") \
    X(LANES, "tensor-lanes") \
    X(COMMIT_LANES, "tensor-commit-lanes") \
    X(COMMIT_OTHER, "tensor-commit-other") \
    X(COLLECTOR, "tensor-collector") \
    X(FACTORS, "tensor-factors") \
    X(ZERO_MASK, "tensor-zero-mask") \
    X(LAYOUT, "tensor-layout") \
    X(LAYOUT_LOAD, "tensor-layout-load") \
    X(SWIZZLE, "tensor-swizzle") \
    X(TARGET, "tensor-target")
/* clang-format on */
typedef enum vm_finding_kind {
    VM_FIND_BAD_LAUNCH,
    VM_FIND_OUT_OF_BOUNDS, /* address in no allocation of the space */
    VM_FIND_MISALIGNED,
    VM_FIND_WRITE_READ_ONLY, /* store to const, to a param, or to a read-only buffer */
    VM_FIND_BAD_SPACE,       /* e.g. ld.shared with an address outside the shared window */
    VM_FIND_DIVIDE_BY_ZERO,  /* integer; PTX: unspecified value */
    VM_FIND_ASSERT,
    VM_FIND_TRAP,
    VM_FIND_DEADLOCK,
    VM_FIND_BARRIER_MISMATCH, /* participant counts differ, or not a multiple of the warp size */
    VM_FIND_COLLECTIVE_LANES, /* a member lane can no longer come; or the executing lane is not in its mask */
    VM_FIND_SHUFFLE_INACTIVE, /* value read from a lane that does not take part: undefined */
    VM_FIND_UNINITIALISED,    /* shared or local memory never written (checked build) */
    VM_FIND_UNSUPPORTED,
    VM_FIND_STEP_LIMIT,
    VM_FIND_STACK,                  /* call depth or local memory limit */
    VM_FIND_MBARRIER_UNINITIALISED, /* address; also after inval */
    VM_FIND_MBARRIER_COUNT,         /* size: the count given, required: the most there can be */
    VM_FIND_MBARRIER_TRANSACTIONS,  /* size: bytes outstanding, required: the limit */
    VM_FIND_MBARRIER_PHASE,         /* waits for a phase (size) that is not the one before required */
    VM_FIND_MBARRIER_UNOBSERVED,    /* arrival before any wait saw phase `size` complete */
    VM_FIND_MBARRIER_BUSY,          /* init or inval of a barrier in use */
    VM_FIND_MBARRIER_OVERWRITTEN,   /* its memory was written by something else */
    VM_FIND_MBARRIER_DATA, /* data is written over it: address, size; required: its place; text: since when */
    VM_FIND_MBARRIER_REMOTE,      /* a form for the own CTA on another CTA's barrier */
    VM_FIND_MBARRIER_NO_COMPLETE, /* .noComplete completed the phase */
    VM_FIND_CLUSTER_EXITED,       /* shared memory of a CTA that has ended (text) */
    VM_FIND_CLUSTER_RANK,         /* rank `size` in a cluster of `required` */
    VM_FIND_CLUSTER_BARRIER,      /* text: a second arrival, or a wait without one */
    VM_FIND_CANCEL,               /* CTA index of a response that cancelled nothing */
    VM_FIND_REGISTERS,            /* setmaxnreg to `size` from `required`; is_store: .inc */
    VM_FIND_IN_FLIGHT, /* access to what an asynchronous operation still reads or writes; text: which one */
    VM_FIND_RACE_READ_WRITE,  /* of shared memory; here the read, other: the write; required: vm_race_relation
                               */
    VM_FIND_RACE_WRITE_WRITE, /* the same; here what stands first in the program */
    VM_FIND_RACE_LANES,       /* lanes of one store write different values to the same bytes */
    VM_FIND_BAD_CALL,         /* indirect call to something that is not a function */
#define X(name, text) VM_FIND_TMEM_##name,
    VM_TMEM_FINDINGS(X)
#undef X
#define X(name, text) VM_FIND_##name,
        VM_MATRIX_FINDINGS(X)
#undef X
#define X(name, text) VM_FIND_##name,
            VM_COPY_FINDINGS(X)
#undef X
#define X(name, text) VM_FIND_TENSOR_##name,
                VM_TENSOR_FINDINGS(X)
#undef X
                    VM_FIND_KIND_COUNT,
    VM_FIND_TMEM_FIRST = VM_FIND_TMEM_UNALLOCATED
} vm_finding_kind;
/* What the two threads of a race are to each other. */
typedef enum vm_race_relation {
    VM_RACE_SAME_WARP,
    VM_RACE_ARRIVED, /* another lane of the one's warp has told the other what it did; this lane has not */
    VM_RACE_CTA,
    VM_RACE_CLUSTER,
    VM_RACE_ASYNC /* the work of a copy or of a matrix unit, which somebody else has waited for */
} vm_race_relation;
/* Of note grade: does not make a run fail. */
bool vm_finding_is_note(vm_finding_kind kind);
const char *vm_finding_kind_name(vm_finding_kind kind);
/* The level this processor would use: "x86-64-v4", "x86-64-v3", "x86-64" or "generic"; $TIRC_VM_LEVEL lowers
 * it. */
const char *vm_level_name(void);

/* One raw finding: where it happened and the numbers. The same kind at the same instruction is merged: count.
 */
typedef struct vm_finding {
    vm_finding_kind kind;
    const ptx_function *function;
    const ptx_instruction *instruction; /* NULL when it has no place */
    uint32_t cta[3], thread[3];         /* first occurrence */
    uint64_t count;
    ptx_space space;
    uint64_t address, size, required; /* access; required alignment or limit */
    bool is_store;
    bool after_free;
    /* TMEM_IN_FLIGHT: it was waited for, but this warp cannot know; */ /* TMEM_UNALLOCATED: was allocated
                                                                           before; TMEM_PEER: was there
                                                                           and has ended */
    uint32_t other_cta[3], other_thread[3];                             /* RACE: who was there */
    bool async, other_async;      /* RACE: it was an asynchronous operation */
    const ptx_instruction *other; /* a second place: of the alloc, of the operation on its way; NULL: none */
    /* the allocation nearest below the address, when there is one */
    const char *allocation;
    uint64_t allocation_begin, allocation_bytes;
    /* logical indices of the origin, evaluated for the first lane; index_known[i] says whether */
    uint32_t index_count;
    int64_t index[8];
    bool index_known[8];
    const char *text; /* assert or trap message, waiters of a deadlock one per line, name of an instruction */
} vm_finding;

/* What was done with tensor memory, when the launch asks for it. */
typedef enum vm_tmem_event_kind {
    VM_TMEM_EVENT_ALLOCATE,
    VM_TMEM_EVENT_FREE,
    VM_TMEM_EVENT_RELINQUISH,
    VM_TMEM_EVENT_LOAD,
    VM_TMEM_EVENT_STORE,
    VM_TMEM_EVENT_MMA, /* D */
    VM_TMEM_EVENT_MMA_A,
    VM_TMEM_EVENT_MMA_FACTORS, /* scale factors of A and of B */
    VM_TMEM_EVENT_COPY,
    VM_TMEM_EVENT_SHIFT,
    VM_TMEM_EVENT_COMMIT
} vm_tmem_event_kind;
enum { VM_TMEM_EVENT_BY = 4, VM_TMEM_EVENT_COLUMNS = 512, VM_TMEM_EVENT_THREADS = 32 };
/* All executions of one instruction by one warp of a CTA; allocations: those that got the same columns. */
typedef struct vm_tmem_event {
    vm_tmem_event_kind kind;
    uint64_t cta; /* linear */
    uint32_t cta_id[3];
    uint32_t warp, pc;
    const ptx_instruction *instruction;
    uint64_t first, last, count; /* order among the events of the CTA, from 1 */
    uint32_t lanes[4];           /* bit per lane; 0: none */
    uint32_t column, column_end; /* [column, column_end) of all executions */
    uint32_t registers;          /* LOAD, STORE: of each thread */
    uint32_t barrier;            /* COMMIT: shared offset of the mbarrier */
    bool pair;                   /* cta_group::2 */
    /* LOAD, STORE: the waits that completed it; MMA to SHIFT: commits; COMMIT: waits at the mbarrier */
    const ptx_instruction *by[VM_TMEM_EVENT_BY];
    uint32_t by_count, by_warp; /* by_warp: of the first */
    bool by_more;               /* there were others */
    uint64_t issued, open; /* executions, of COMMIT: times CTAs signalled; those that nothing completed */
    uint32_t uncommitted[VM_TMEM_EVENT_THREADS]; /* by the thread that issued it, since its last commit */
} vm_tmem_event;
typedef struct vm_tmem_history { /* of a CTA and of those that did the same, to the last number */
    uint64_t ctas;
    size_t event_count;
    const vm_tmem_event *events; /* by `first` */
} vm_tmem_history;
enum { VM_TMEM_HISTORIES = 64 }; /* different ones that are kept */

typedef struct vm_result {
    vm_status status;
    size_t finding_count;
    const vm_finding *findings; /* in a deterministic order */
    uint64_t findings_dropped;
    uint64_t warp_instructions, ctas;
    uint32_t async_classes;                /* bit per vm_async_class that the run used */
    const vm_tmem_history *tmem_histories; /* in the order of the first CTA of each */
    size_t tmem_history_count;
    uint64_t tmem_ctas_dropped; /* CTAs with histories that were not kept */
    const char *level;
    uint32_t threads;
} vm_result;
/* Runs to the end. The result lives in the arena. Same launch and seed: same result, whatever threads is. */
vm_result *vm_run(base_arena *arena, const vm_program *program, vm_launch *launch);
#endif
