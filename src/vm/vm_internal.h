/* SPDX-License-Identifier: Apache-2.0
 * Inside of the machine; only src/vm includes it.
 *
 * Decoding (vm_decode*.c, vm_allocate.c) turns each PTX function into vm_op records. A vm_op works on 32
 * lanes:
 *  - a register of up to 32 bits is one row of 32 x u32, of 64 bits one array of 32 x u64 (two rows), of 128
 * bits 32 x u64 low halves and then 32 x u64 high halves (four rows); narrower integers are kept
 * zero-extended; a predicate is a u32 lane mask;
 *  - operands are references: byte offset | selector. Selector 0 is the frame of the running function, 1 the
 * launch pool (constants, kernel parameters, launch sizes: broadcast rows, filled once per run), 2 the rows
 * of the warp (tid, laneid), 3 the rows of the CTA (ctaid). So constants and uniform values cost no
 * instruction. Modifiers such as .ftz, .sat, 16-bit wrapping are decomposed into several lane operations at
 * decode.
 *
 * Execution: the engine (level/vm_engine.c, one build per processor level) runs one split of one warp until
 * something happens that another file handles. A split is (pc, lane mask, call frame). Blocks are laid out in
 * an order in which a block stands after everything that leads to it inside its loop, so running the split
 * with the lowest pc (deepest call first) and merging equal pcs reconverges at the immediate post-dominator
 * or before it. That is a hint only: a split that spins hands over to the others (vm_control.c). */
#ifndef TIRC_VM_VM_INTERNAL_H
#define TIRC_VM_VM_INTERNAL_H
#include <pthread.h>
#include <string.h>
#include "num/num.h"
#include "vm/vm.h"

#define VM_LANES     32
#define VM_ROW_BYTES 128u
#define VM_ALL_LANES 0xffffffffu

/* ---- operations ---- */
typedef enum vm_lane {
#define VM_LANE(name, rows, sources) VM_LANE_##name,
#include "vm/vm_lanes.def"
#undef VM_LANE
    VM_LANE_COUNT
} vm_lane;
typedef struct vm_lane_shape {
    uint8_t rows, sources;
} vm_lane_shape;
extern const vm_lane_shape vm_lane_shapes[VM_LANE_COUNT];

/* Lane operations that the engine runs inline; the others go through a table of functions. */
/* clang-format off */
#define VM_HOT_LANES(X) \
    X(MOV32) \
    X(MOV64) \
    X(SELP32) \
    X(ADD32) \
    X(SUB32) \
    X(MUL32) \
    X(MAD32) \
    X(AND32) \
    X(OR32) \
    X(XOR32) \
    X(SHL32) \
    X(SHRU32) \
    X(SHRS32) \
    X(ADD64) \
    X(SUB64) X(MUL64) X(AND64) X(SHL64) X(SHRU64) X(SHRS64) X(MULWS32) X(MULWU32) X(SEXT32) X(ZEXT32) \
        X(TRUNC64) X(ADDF32) X(SUBF32) X(MULF32) X(FMAF32) X(EQ32) X(NE32) X(LTS32) X(LES32) X(LTU32) \
            X(LEU32) X(EQ64) X(NE64) X(LTS64) X(LES64) X(LTU64) X(LEU64) X(LTF32) X(LEF32)
/* clang-format on */
typedef enum vm_code {
    VM_CODE_LANE,       /* sub: vm_lane; d, a, b, c, imm */
    VM_CODE_LOAD,       /* sub: vm_access bits; d or extras; a, b, c; imm: offset */
    VM_CODE_STORE,      /* the same; d or extras are read */
    VM_CODE_LOAD_ROW,   /* a load of one 32-bit element a lane, global, indexed, base in the pool */
    VM_CODE_STORE_ROW,  /* the same */
    VM_CODE_LOAD_GROUP, /* sub: 2 or 4 loads of adjacent 32-bit elements follow; done at once they are skipped
                         */
    VM_CODE_CHECK_LOAD, /* the same as LOAD and STORE, in programs of vm_load_checked: vm_race.h looks first
                         */
    VM_CODE_CHECK_STORE,
    VM_CODE_EXTERNAL, /* sub: vm_external; all its operands in extras and d, a, b, c as its row says */
    VM_CODE_GUARD, /* a: predicate, sub: 1 negated. Lanes for the operations up to UNGUARD; x: index of it */
    VM_CODE_UNGUARD,
    VM_CODE_BRANCH,    /* x: target */
    VM_CODE_BRANCH_IF, /* a: predicate, sub: 1 negated; x: target; else the next operation */
    VM_CODE_SWITCH,    /* a: index row; extras: count, targets */
    VM_CODE_JOIN,      /* first of a block that other splits may reach */
    VM_CODE_EXIT,
    VM_CODE_RETURN,
    VM_CODE_TRAP,
#define X(name) VM_CODE_HOT_##name,
    VM_HOT_LANES(X)
#undef X
        VM_CODE_COUNT
} vm_code;

typedef struct vm_op {
    uint16_t code, sub;
    uint32_t d, a, b, c; /* references */
    uint32_t x;          /* target, or index into program->extras: count, then references */
    uint64_t imm;
} vm_op;

/* References while decoding: kind << 30 | index (virtual register, or row). Bit 29 in an extras list:
 * written. */
#define VM_REF_KIND(ref)  ((ref) >> 30)
#define VM_REF_INDEX(ref) ((ref)&0x1fffffffu)
#define VM_REF_WRITTEN    0x20000000u
#define VM_REF_NONE       0xffffffffu
#define VM_TARGET_OP                                                                                         \
    0x80000000u /* while decoding: a branch target that is an operation, not an instruction */
enum { VM_REF_FRAME = 0, VM_REF_POOL = 1, VM_REF_WARP = 2, VM_REF_CTA = 3 };
#define VM_REF(kind, index) ((uint32_t)(kind) << 30 | (uint32_t)(index))

#define VM_SPECIAL_FRAME 0xfff0u /* SPECIAL: first byte of the frame's local memory */
/* Rows of a warp (selector 2) and of a CTA (selector 3). */
enum { VM_WARP_TID_X, VM_WARP_TID_Y, VM_WARP_TID_Z, VM_WARP_LANE, VM_WARP_INDEX, VM_WARP_ROWS };
/* WINDOW: where the CTA's shared memory begins in shared::cluster. */
enum { VM_CTA_X, VM_CTA_Y, VM_CTA_Z, VM_CTA_WINDOW, VM_CTA_ROWS };

/* Memory access: bits of sub. */
typedef enum vm_space {
    VM_GLOBAL,
    VM_SHARED,
    VM_LOCAL,
    VM_CONST,
    VM_PARAM,
    VM_GENERIC,
    VM_FRAME /* local memory relative to the frame: .local and .param variables of the function */
} vm_space;
typedef enum vm_address_form {
    VM_ADDRESS_32,      /* a: 32-bit row */
    VM_ADDRESS_64,      /* a: 64-bit row */
    VM_ADDRESS_INDEXED, /* a: 64-bit base, b: 32-bit index, c: log2(scale) << 1 | signed (a number) */
    VM_ADDRESS_FIXED    /* imm only */
} vm_address_form;
#define VM_ACCESS(space, log2_size, count, sign, wide, form, poll)                                           \
    ((uint16_t)((space) | (log2_size) << 3 | ((count)-1) << 6 | (sign) << 9 | (wide) << 10 | (form) << 11 |  \
                (poll) << 13))
#define VM_ACCESS_SPACE(sub)  ((vm_space)((sub)&7))
#define VM_ACCESS_LOG2(sub)   ((sub) >> 3 & 7)
#define VM_ACCESS_COUNT(sub)  (((sub) >> 6 & 7) + 1)
#define VM_ACCESS_SIGNED(sub) ((sub) >> 9 & 1)  /* sign-extend to the register */
#define VM_ACCESS_WIDE(sub)   ((sub) >> 10 & 1) /* the register is 64 bits */
#define VM_ACCESS_FORM(sub)   ((vm_address_form)((sub) >> 11 & 3))
#define VM_ACCESS_POLL(sub)   ((sub) >> 13 & 1)
#define VM_ACCESS_CLUSTER     (1u << 14) /* .shared::cluster: may be another CTA's */
#define VM_ACCESS_WATCHED     (1u << 14) /* FRAME, in checked programs: a .local variable */
#define VM_ACCESS_STRONG      (1u << 15) /* in checked programs: .volatile, .relaxed, .acquire, .release */
#define VM_ACCESS_FORM_SHIFT  11
#define VM_ACCESS_FORM_MASK   (3 << VM_ACCESS_FORM_SHIFT)

/* Operations outside the engine. VM_EXTERNAL(name) has a function vm_external_<name>. */
/* clang-format off */
/* Those from LISTED on have all their operands in extras (read, or VM_REF_WRITTEN; NONE: absent) and numbers
 * in imm. */
#define VM_EXTERNALS(X) \
    X(ACCESS) /* never decoded: loads and stores that the engine hands over */ \
    X(ATOM) \
    X(SHFL) \
    X(VOTE) \
    X(MATCH) \
    X(REDUX) \
    X(ELECT) \
    X(WARP_BARRIER) \
    X(BARRIER) \
    X(CALL) \
    X(CALL_INDIRECT) \
    X(PRINTF) \
    X(ASSERT) \
    X(SPECIAL) \
    X(ISSPACEP) X(DIVIDE_CHECK) X(POLL) X(UNSUPPORTED) X(ALLOCA) X(STACKSAVE) X(STACKRESTORE) X(MALLOC) \
            VM_EXTERNALS_LISTED(X)
#define VM_EXTERNALS_LISTED(X) \
    X(MBARRIER) X(CLUSTER_ARRIVE) X(CLUSTER_WAIT) X(CLUSTER_MAP) X(CLUSTER_RANK) X(ASYNC_STORE) \
    X(ASYNC_REDUCE) X(TRY_CANCEL) X(QUERY_CANCEL) X(REGISTERS) \
    X(BULK_COPY) X(TENSOR_COPY) X(COPY_ASYNC) X(COPY_GROUP) X(STORE_BULK) X(TENSORMAP) X(PROXY_FENCE) X(RACE_FENCE) \
    X(TMEM_ALLOC) X(TMEM_DEALLOC) X(TMEM_RELINQUISH) X(TMEM_LOAD) X(TMEM_STORE) X(TMEM_WAIT) \
    X(TMEM_FENCE) X(TMEM_NEED) \
    X(TENSOR_MMA) X(TENSOR_CP) X(TENSOR_SHIFT) X(TENSOR_COMMIT) \
    X(MMA) X(LDMATRIX) X(STMATRIX) X(MOVMATRIX) \
    X(WGMMA) X(WGMMA_GROUP) X(WGMMA_TOUCH) X(WGMMA_KEEP) X(WGMMA_UNFENCED) X(WMMA_MOVE)
/* clang-format on */
typedef enum vm_external {
#define X(name) VM_EXTERNAL_##name,
    VM_EXTERNALS(X)
#undef X
        VM_EXTERNAL_COUNT
} vm_external;
bool vm_external_listed(unsigned external); /* all operands in extras */

/* What an operation outside the engine wants next. */
typedef enum vm_action {
    VM_GO,    /* the next operation */
    VM_AGAIN, /* nothing done: the split waits at this operation (its state is set) */
    VM_JUMP,  /* the current split's pc, frame or mask was set */
    VM_YIELD, /* done; let others run before the next operation */
    VM_HALT   /* the CTA ends */
} vm_action;

/* Arithmetic of SOFT32, SOFT64, HALF, F32X2. */
typedef enum vm_arith {
    VM_ARITH_ADD,
    VM_ARITH_SUB,
    VM_ARITH_MUL,
    VM_ARITH_FMA,
    VM_ARITH_DIV,
    VM_ARITH_SQRT,
    VM_ARITH_RCP,
    VM_ARITH_MIN,
    VM_ARITH_MAX,
    VM_ARITH_NEG,
    VM_ARITH_ABS,
    VM_ARITH_EX2,
    VM_ARITH_TANH,
    VM_ARITH_CVT /* rounds source a of 64 bits to 32: SOFT */
} vm_arith;
/* imm of VM_LANE_INTTOFLOAT: 1 signed, 2 to .f64, rounding in bits 4 to 6. */
#define VM_INTTOFLOAT_ODD 0x80u
/* imm of VM_LANE_ENCODE, DECODE and STOCHASTIC: the format in the low byte, a num_dtype or one of PTX alone.
 */
enum {
    VM_FORMAT_UE5M3 = 0xf0,
    VM_FORMAT_S2F6 = 0xf1,
    VM_ENCODE_SATURATE = 1 << 16,
    VM_ENCODE_RELU = 1 << 17,
    VM_ENCODE_FTZ = 1 << 18,
    VM_ENCODE_PAYLOAD = 1 << 19, /* of a NaN; .f32.f64, .f16.f64 */
    VM_ENCODE_PZO = 1 << 20,     /* no negative zero */
    VM_DECODE_FLUSH = 1 << 16
};
#define VM_HALF_BF16    0x100u
#define VM_HALF_PACKED  0x200u
#define VM_HALF_FTZ     0x400u
#define VM_HALF_SAT     0x800u
#define VM_HALF_RELU    0x1000u
#define VM_HALF_NAN     0x2000u
#define VM_HALF_XORSIGN 0x4000u
#define VM_HALF_ABS     0x8000u
typedef enum vm_testp {
    VM_TESTP_FINITE,
    VM_TESTP_INFINITE,
    VM_TESTP_NUMBER,
    VM_TESTP_NOTANUMBER,
    VM_TESTP_NORMAL,
    VM_TESTP_SUBNORMAL
} vm_testp;

/* ---- addresses ---- */
/* Generic windows of 2^40 bytes; what is above VM_GLOBAL_BASE is the global heap. State-space addresses of
 * shared, local, const and param are offsets in their window. */
#define VM_WINDOW_BITS      40
#define VM_WINDOW(space_id) ((uint64_t)(space_id) << VM_WINDOW_BITS)
#define VM_SHARED_BASE      VM_WINDOW(1)
#define VM_LOCAL_BASE       VM_WINDOW(2)
#define VM_CONST_BASE       VM_WINDOW(3)
#define VM_PARAM_BASE       VM_WINDOW(4)
#define VM_CODE_BASE        VM_WINDOW(5)
#define VM_GLOBAL_BASE      VM_WINDOW(0x70)
#define VM_HEAP_BASE        (VM_GLOBAL_BASE + (1ull << 36)) /* buffers of the caller; module variables below */
#define VM_ADDRESS_END      VM_WINDOW(0x80)                 /* one past the last global address */
#define VM_GUARD_BYTES      4096u
#define VM_SHARED_RESERVED  1024u /* the system's own bytes at the start of shared memory, sm_80 and later */
#define VM_SHARED_LIMIT     (227u * 1024u)
#define VM_LOCAL_LIMIT      (512u * 1024u) /* bytes per lane, as cudaLimitStackSize can reach */
#define VM_DEPTH_LIMIT      20000u
#define VM_ROWS_LIMIT       (1u << 20) /* register rows of one warp: 128 MiB */
#define VM_BARRIERS         16

typedef struct vm_allocation {
    uint64_t begin, end;
    uint8_t *host;
    const char *name;
    bool read_only;
} vm_allocation;

/* ---- a decoded module ---- */
typedef enum vm_fill_kind {
    VM_FILL_PARAM,          /* bytes of the kernel's parameters */
    VM_FILL_SPECIAL,        /* value: vm_launch_value */
    VM_FILL_DYNAMIC_SHARED, /* address of the dynamic shared array, plus value */
    VM_FILL_BUFFER_END
} vm_fill_kind;
typedef enum vm_launch_value {
    VM_VALUE_NTID_X,
    VM_VALUE_NTID_Y,
    VM_VALUE_NTID_Z,
    VM_VALUE_NCTAID_X,
    VM_VALUE_NCTAID_Y,
    VM_VALUE_NCTAID_Z,
    VM_VALUE_NWARPID,
    VM_VALUE_DYNAMIC_SHARED_BYTES,
    VM_VALUE_TOTAL_SHARED_BYTES
} vm_launch_value;
enum { VM_POOL_32, VM_POOL_64, VM_POOL_FILL }; /* what a pool row is: a constant, or filled at launch */
/* A pool row that a launch fills. */
typedef struct vm_fill {
    uint32_t row, kernel; /* kernel: function id for PARAM, else 0 */
    vm_fill_kind kind;
    uint64_t value;  /* PARAM: byte offset */
    uint8_t size;    /* PARAM: bytes */
    bool sign, wide; /* sign-extended; the row pair is 64-bit */
    bool window;     /* add VM_SHARED_BASE (generic address) */
} vm_fill;

typedef struct vm_parameter {
    uint32_t offset, bytes; /* in the parameter bank of a kernel, or in the frame's local memory */
} vm_parameter;

typedef struct vm_function {
    const ptx_function *source;
    uint32_t first_op, op_count;
    uint32_t predicates, rows; /* of a frame; rows include those of the predicates */
    uint32_t virtual_registers;
    uint32_t local_bytes; /* per lane */
    uint32_t parameter_bytes;
    vm_parameter *parameters, *returns;
    uint32_t static_shared_end; /* entries: VM_SHARED_RESERVED when there is none */
    uint32_t dynamic_align;
    bool clears; /* reads registers that nothing wrote: frames start as zero */
    bool decoded;
    bool grouped; /* what it may call needs SMs: several CTAs run together (vm_sm.c) */
    bool serial;  /* what it may call needs all CTAs in one deterministic interleaving */
    bool polls;   /* has polls of memory */
    bool reached; /* by an entry */
    /* where registers went, for evaluating origins: reference, and the operations [begin, end] where it holds
     */
    uint32_t *register_ref, *register_begin, *register_end;
} vm_function;

/* A call: where its parameters stand in the caller's local memory. */
typedef struct vm_call_site {
    uint32_t function; /* id in the module; UINT32_MAX: indirect */
    uint32_t argument_count, return_count;
    const vm_parameter *arguments, *returns;
} vm_call_site;

typedef struct vm_program_variable {
    const ptx_variable *variable;
    uint64_t address; /* in its state space */
    bool dynamic;     /* .extern .shared [] */
    bool placed;
    const vm_function *entry; /* while laying out: the last kernel that was seen to use it */
} vm_program_variable;

struct vm_program {
    base_arena *arena;
    const ptx_module *module;
    vm_approximations approximations;
    BASE_VECTOR(vm_op) ops;
    BASE_VECTOR(uint32_t) instruction_of; /* per op: index in its function's instructions */
    BASE_VECTOR(uint32_t) extras;
    BASE_VECTOR(vm_call_site) calls; /* CALL, CALL_INDIRECT, PRINTF, ASSERT, MALLOC: imm is the index */
    vm_function *functions;          /* parallel to module->functions */
    size_t function_count;
    uint8_t reported[PTX_OP_COUNT]; /* opcodes that a warning has named as missing */
    BASE_VECTOR(uint32_t) pool; /* initial rows of the launch pool, one broadcast value per 32-bit element */
    uint32_t pool_rows;
    BASE_VECTOR(uint8_t) pool_kind; /* per row: VM_POOL_ */
    base_map *pool_of;              /* (value, width) to row + 1 */
    BASE_VECTOR(vm_fill) fills;
    base_map *variable_of; /* ptx_variable to vm_program_variable */
    BASE_VECTOR(vm_program_variable *) variables;
    uint8_t *const_bank;
    uint64_t const_bytes;
    BASE_VECTOR(vm_allocation) globals; /* host: initial bytes, NULL when zero */
    BASE_VECTOR(const ptx_function *) entries;
    bool clustered;     /* some instruction reaches other CTAs: shared addresses carry the rank of the CTA */
    bool checked;       /* decoded for vm_launch.check */
    uint8_t race_shift; /* checked: log2 of the bytes of the narrowest access to shared memory */
    bool proxies;       /* something of the async proxy reads shared memory (vm_proxy.h) */
};
const vm_function *vm_program_function_at(const vm_program *program, uint32_t pc);
const ptx_instruction *vm_program_instruction_at(const vm_program *program, uint32_t pc);

/* ---- running ---- */
typedef struct vm_frame vm_frame;
struct vm_frame {
    vm_frame *parent;
    const vm_function *function;
    uint32_t references; /* splits and callee frames */
    uint32_t return_pc;
    uint32_t call_pc;
    uint32_t row, local; /* first row; first byte of local memory */
    uint32_t depth;
    uint32_t stack; /* bytes taken by alloca above function->local_bytes */
};

typedef enum vm_split_state {
    VM_SPLIT_READY,
    VM_SPLIT_COLLECTIVE, /* waits at a warp collective for other lanes */
    VM_SPLIT_BARRIER,    /* arrived at a CTA barrier, waits */
    VM_SPLIT_RELEASED,   /* passes the barrier when it runs next */
    VM_SPLIT_PARKED      /* waits (vm_park) and does its operation again when it is woken */
} vm_split_state;
/* What a parked split waits for. */
typedef enum vm_park {
    VM_PARK_MBARRIER,  /* detail: offset of the barrier in the CTA's shared memory */
    VM_PARK_CLUSTER,   /* barrier.cluster.wait */
    VM_PARK_ALLOC,     /* tcgen05.alloc: permit or columns */
    VM_PARK_PAIR,      /* the other CTA of the pair */
    VM_PARK_REGISTERS, /* setmaxnreg.inc */
    VM_PARK_WGMMA,     /* wgmma.mma_async; detail: first warp of the warpgroup */
    VM_PARK_COUNT
} vm_park;
typedef struct vm_split {
    uint32_t pc, mask;
    vm_frame *frame;
    vm_split_state state;
    uint32_t wait;   /* barrier number; COLLECTIVE: lanes waited for */
    uint32_t turns;  /* how often it used up its budget: the fewest turns run first */
    uint32_t result; /* barrier.red result for its lanes */
    bool timed_out;  /* woken because nobody could go on: a wait that may fail fails */
    uint64_t detail; /* PARKED: what exactly, by vm_park in wait */
} vm_split;

typedef struct vm_cta vm_cta;
typedef struct vm_warp {
    vm_cta *cta;
    uint32_t index;
    uint32_t live;    /* lanes that exist and have not exited */
    uint32_t lanes;   /* that exist */
    bool resting;     /* exited whole; the frame in splits[0] is kept for the next CTA */
    uint8_t *base[4]; /* by selector, less the selector, so that base[ref & 3] + ref is the operand */
    uint8_t *rows;
    uint32_t row_capacity;
    uint8_t *local;          /* word k of lane l at k * 128 + l * 4 */
    uint32_t local_capacity; /* bytes per lane */
    vm_split splits[VM_LANES];
    uint32_t split_count, current;
    uint32_t next_pc;           /* a split at or after this pc lets others run first; UINT32_MAX: runs on */
    uint32_t budget;            /* back-edges left */
    uint32_t polls;             /* since the split was chosen */
    uint64_t steps, turn_steps; /* turn_steps: when its turn began */
    bool idle;                  /* the last run ended in polls only */
    /* cta->events at the last thing it did that others can wait for (arrivals, atomics, commits), and at the
     * last time that it learned of others' (barriers, mbarrier waits, polls); of those, from other CTAs */
    uint64_t released, acquired, cluster_acquired;
    struct vm_tmem_warp *tmem;   /* vm_tmem_machine.h; NULL: none yet */
    uint32_t cluster_arrived;    /* lanes that have arrived at barrier.cluster in this phase */
    uint32_t cluster_owed;       /* lanes that have arrived and not waited yet */
    uint32_t registers;          /* setmaxnreg: of each lane; 0: as launched */
    struct vm_wgmma_warp *wgmma; /* vm_wgmma.h; NULL: none yet */
    vm_frame *free_frames;
    uint32_t frame_count;
    _Alignas(64) uint32_t mask_row[VM_LANES]; /* -1 in active lanes while the mask is partial */
    _Alignas(64) uint32_t scratch[8 * VM_LANES];
} vm_warp;

typedef struct vm_barrier {
    uint32_t expected; /* threads; 0: all */
    uint32_t arrived;  /* threads of complete warps */
    bool active;
    uint8_t reduce; /* 0 none, 1 and, 2 or, 3 popc */
    uint32_t accumulated;
    uint32_t first_pc;
    uint32_t contributed;   /* bit per warp counted in this phase */
    uint32_t last_count;    /* threads of the phase before; 0: none yet */
    uint64_t last_event;    /* cta->events when it ended */
    struct vm_clock *clock; /* vm_race.h: what those who have arrived publish; NULL: nothing */
    uint32_t *pending;      /* per warp: lanes that arrived while others of the warp have not */
} vm_barrier;

typedef struct vm_found { /* a finding and the key that orders and merges it */
    vm_finding finding;
    uint32_t pc, other_pc; /* other_pc: of races, else UINT32_MAX */
} vm_found;

typedef struct vm_commit vm_commit;
typedef struct vm_grid vm_grid;
typedef struct vm_group vm_group; /* vm_sm.h: SMs whose CTAs run together */
/* A streaming multiprocessor, as far as kernels can notice. Only of CTAs in groups. */
typedef struct vm_sm {
    uint32_t id;
    struct vm_tmem *tmem; /* vm_tmem.c */
    vm_cta *permit;       /* the CTA that holds the right to allocate tensor memory */
    vm_group *group;
} vm_sm;
typedef struct vm_cluster vm_cluster; /* vm_cluster.h */
#define VM_FLIGHT_GRANULE 128u /* bytes of shared memory that one counter of vm_cta.flight stands for */
struct vm_cta {
    vm_grid *run;
    vm_group *group;              /* NULL: this CTA runs alone */
    vm_sm *sm;                    /* NULL: this CTA runs alone */
    struct vm_async_queue *async; /* NULL until needed; the group's when there is one */
    struct vm_mbarriers *mbarriers;
    struct vm_slots *slots;      /* vm_slot.h; NULL: none yet */
    struct vm_copy_cta *copies;  /* vm_copy.h; NULL: none yet */
    struct vm_proxy *proxy;      /* vm_proxy.h; NULL: not watched */
    struct vm_race *race;        /* vm_race.h; NULL: not checked */
    uint32_t rank, cluster_size; /* in the cluster; size 0: the launch has none */
    vm_cta **peers;              /* by rank */
    uint32_t window;             /* rank << 24 when addresses have ranks, else 0 */
    vm_cluster *cluster;         /* NULL: none, see vm_cluster_of */
    bool exited;                 /* of a group: has ended, others of its cluster have not */
    uint64_t stop_key;           /* the run goes on while this is not behind vm_grid.stop_at */
    uint32_t registers;          /* setmaxnreg: free registers of the CTA */
    uint16_t
        *flight; /* per granule of shared memory: ranges of asynchronous operations over it; NULL: none */
    uint32_t flights; /* how many ranges are counted there */
    uint8_t *guard;   /* per granule of shared memory: live mbarriers and address slots in it; NULL: none */
    uint32_t guards;  /* how many are counted there */
    uint64_t events;  /* counts vm_warp_released and vm_warp_acquired */
    struct vm_tmem_cta *tmem;     /* vm_tmem_machine.h; NULL: it has not used tensor memory */
    struct vm_tensor_cta *tensor; /* vm_tensor.h; NULL: it has not used the matrix unit */
    base_arena *arena;            /* the worker's, for machine state */
    base_arena *report;           /* findings and text since the last commit; NULL: none yet */
    uint32_t id[3];
    uint64_t linear;
    uint8_t *shared; /* [0, shared_bytes), reserved bytes included */
    uint32_t shared_bytes;
    vm_warp *warps;
    uint32_t warp_count, live_warps;
    vm_barrier barriers[VM_BARRIERS];
    uint32_t open_barriers; /* bit per barrier that has arrivals */
    uint32_t used_barriers; /* bit per barrier that has had a phase */
    uint64_t writes;        /* version of shared and global memory as this CTA changed it */
    uint64_t steps, step_limit;
    bool turn_moved; /* a warp handed over in this round */
    bool in_order;   /* a warp that exits hands over to the next one (vm_schedule_follow) */
    uint32_t turn;   /* index of the warp that runs, or ran last */
    uint32_t budget; /* of each turn */
    uint64_t seen_writes, idle_rounds;
    uint32_t parked;   /* splits that are PARKED */
    uint32_t timeouts; /* rounds in a row in which waits failed and nothing else happened */
    bool moved;        /* set when a round did something */
    bool polled;       /* of a group: some split polls memory */
    uint64_t random;   /* state of VM_SCHEDULE_RANDOM */
    vm_status status;
    const vm_allocation *recent[2]; /* allocations of the last global accesses; never NULL, may be empty */
    BASE_VECTOR(vm_found) found;
    uint64_t found_dropped;
    BASE_VECTOR(vm_tmem_event) tmem_events; /* vm_tmem_record.h; since the last commit */
    const vm_warp *observer; /* waits at a barrier here and has just seen a phase; NULL: nobody */
    base_builder print;
    _Alignas(64) uint32_t rows[VM_CTA_ROWS][VM_LANES];
};

typedef struct vm_level vm_level;
struct vm_grid {
    const vm_program *program;
    const vm_launch *launch;
    const vm_function *kernel;
    const vm_level *level;
    vm_allocation *allocations; /* sorted by address */
    size_t allocation_count;
    uint8_t *const_bank; /* the program's, or the caller's copy of it */
    uint8_t *pool;       /* the launch pool */
    uint8_t *warp_rows;  /* VM_WARP_ROWS rows per warp of a CTA */
    uint8_t *parameters;
    uint64_t parameter_bytes;
    uint32_t shared_bytes, dynamic_shared;
    uint32_t threads_per_cta, warps_per_cta;
    uint64_t cta_count;
    bool serial;
    bool grouped;                      /* CTAs run in groups of SMs (vm_sm.h) */
    uint32_t cluster[3], cluster_size; /* size 0: the launch has no clusters */
    uint64_t cluster_count, group_count;
    _Atomic uint32_t async_classes; /* used so far */
    uint32_t residents;             /* CTAs that live on an SM at a time */
    uint64_t heap_next, heap_end;   /* device malloc */
    uint64_t workspace;             /* of a cooperative launch's grid barrier; 0: none */
    /* work distribution and the commit in CTA order (vm_commit.c) */
    pthread_mutex_t lock, atomic_lock;
    uint64_t next_cta;            /* first CTA not handed out */
    _Atomic uint64_t next_commit; /* first CTA not committed; atomic: these are read without the lock */
    _Atomic uint64_t stop_at;     /* CTAs after this one no longer matter */
    _Atomic bool stop;
    bool lost_memory;
    vm_commit *commit;
};

typedef void (*vm_lane_function)(void *d, const void *a, const void *b, const void *c, uint64_t imm);
typedef enum vm_leave {
    VM_LEAVE_BLOCKED, /* no split can run */
    VM_LEAVE_YIELD,   /* budget or polls used up */
    VM_LEAVE_EXITED,  /* no lane left */
    VM_LEAVE_HALT     /* the CTA's status says why */
} vm_leave;
struct vm_level {
    const char *name;
    vm_leave (*run)(vm_warp *warp);
    const vm_lane_function *lanes;
};
#define VM_BUDGET (1u << 16) /* back-edges before a split lets others run */
/* Levels compiled in, best first; NULL at the end. */
const vm_level *vm_level_choose(const char *name); /* NULL: unknown or not available here */

/* vm_decode.c */
bool vm_decode_function(vm_program *program, const ptx_function *function);

/* vm_memory.c */
/* vm_launch.unchecked */
static inline bool vm_unchecked(const vm_cta *cta) {
    return cta->run->launch->unchecked;
}
const vm_allocation *vm_memory_find(const vm_grid *run, uint64_t address); /* containing it, or NULL */
const vm_allocation *vm_memory_below(const vm_grid *run, uint64_t address);
/* Host place of an access, or NULL after reporting. address is in `space`; local memory is not handled here.
 */
uint8_t *vm_memory_host(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                        uint64_t size, bool store);
/* The same for bytes at any address, without alignment. */
uint8_t *vm_memory_range(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                         uint64_t size, bool store);
/* Reads or writes bytes at a generic address for one lane, local memory included. False after reporting. */
bool vm_memory_read(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address, void *to,
                    uint64_t size);
bool vm_memory_write(vm_warp *warp, uint32_t pc, unsigned lane, vm_space space, uint64_t address,
                     const void *from, uint64_t size);
bool vm_memory_local_reserve(vm_warp *warp, uint32_t bytes);
uint64_t vm_memory_address(const vm_warp *warp, const vm_op *op, unsigned lane);
vm_action vm_memory_access(vm_warp *warp, const vm_op *op, uint32_t mask);

/* vm_control.c */
bool vm_control_pick(vm_warp *warp); /* chooses the next split: current, base, next_pc; false: none ready */
void vm_control_branch(vm_warp *warp, uint32_t taken_pc, uint32_t taken, uint32_t next_pc);
void vm_control_arrive(vm_warp *warp,
                       uint32_t pc); /* the current split stands at pc: merge with those there */
void vm_control_switch(vm_warp *warp, const vm_op *op, uint32_t pc);
void vm_control_spend(vm_warp *warp); /* the current split used up its budget */
void vm_control_exit(vm_warp *warp, uint32_t lanes);
void vm_control_return(vm_warp *warp);
void vm_control_merge(vm_warp *warp, uint32_t index); /* into splits with the same pc and frame */
void vm_control_load(vm_warp *warp);                  /* base[0] for the current split's frame */
vm_frame *vm_control_frame(vm_warp *warp);            /* zeroed, one reference */
void vm_control_release(vm_warp *warp, vm_frame *frame);
/* Leaves only `keep` lanes in the current split; the others become a ready split at the same place. */
void vm_control_isolate(vm_warp *warp, uint32_t keep);
void vm_call_return(vm_warp *warp); /* vm_call.c: hands back the results of the current frame and leaves it */
bool vm_call_rows_reserve(vm_warp *warp, uint32_t rows);

/* External operations: warp->splits[warp->current].pc is the operation's own pc; mask the lanes that execute.
 */
typedef vm_action (*vm_external_function)(vm_warp *warp, const vm_op *op, uint32_t mask);
extern const vm_external_function vm_externals[VM_EXTERNAL_COUNT];
#define X(name) vm_action vm_external_##name(vm_warp *warp, const vm_op *op, uint32_t mask);
VM_EXTERNALS(X)
#undef X

/* vm_barrier.c */
void vm_barrier_exit(vm_warp *warp); /* lanes exited: barriers may complete */

/* vm_tensor_move.c: the matrix unit forgets what another CTA did */
void vm_tensor_start(vm_cta *cta);

/* vm_schedule.c */
void vm_schedule_start(vm_cta *cta, uint64_t linear); /* prepares a CTA to run */
typedef enum vm_progress { VM_CTA_DONE, VM_CTA_STALLED, VM_CTA_RUNNING } vm_progress;
vm_progress vm_schedule_run(vm_cta *cta, bool alone);
/* Waits that may fail fail, so that loops around them can look at something else. */
bool vm_schedule_time_out(vm_cta *cta);

/* vm_deadlock.c: who waits for what. */
void vm_deadlock(vm_cta *cta); /* of a CTA alone: reports and ends it */
void vm_deadlock_describe(const vm_cta *cta, base_builder *text);
void vm_deadlock_report(vm_cta *cta, const base_builder *text);
/* "line 12" of an operation, or its name when it has none. */
void vm_deadlock_place(const vm_program *program, uint32_t pc, base_builder *text);

/* vm_commit.c: results of CTAs, put together in CTA order. */

vm_commit *vm_commit_create(vm_grid *run, base_heap *heap);
/* Hands over what the CTAs [first, first + count) found and printed, and empties the CTA's lists. */
void vm_commit_add(vm_grid *run, vm_cta *cta, uint64_t first, uint64_t count, uint64_t steps);
void vm_commit_skip(vm_grid *run, uint64_t linear); /* a CTA that never starts */
void vm_commit_finish(const vm_commit *commit, base_arena *arena, vm_result *result);
/* vm_launch.c: checks and prepares; false: bad launch, the findings of `result` say why. */
bool vm_launch_prepare(vm_grid *run, base_arena *scratch, base_arena *arena, const vm_program *program,
                       vm_launch *launch, vm_result *result);
vm_cta *vm_schedule_create(vm_grid *run, base_arena *arena);
/* The current split waits; answer VM_AGAIN. It does the operation again once somebody wakes it. */
void vm_schedule_park(vm_warp *warp, vm_park why, uint64_t detail);
/* Wakes who is parked for this reason and detail (UINT64_MAX: any) in the CTA. */
void vm_schedule_wake(vm_cta *cta, vm_park why, uint64_t detail);

/* vm_finding.c: adds to the CTA's findings; returns the finding when it is new, to fill in more. */
base_arena *vm_finding_arena(vm_cta *cta); /* for findings' texts and printed text */
vm_finding *vm_finding_add(vm_cta *cta, vm_finding_kind kind, uint32_t pc, const vm_warp *warp,
                           unsigned lane);
/* A finding about two operations; here: the indices of the first one are those of this lane. NULL: not new.
 */
vm_finding *vm_finding_pair(vm_warp *warp, vm_finding_kind kind, uint32_t pc, uint32_t other_pc,
                            unsigned lane, bool here);
/* Fills in a place in shared memory. */
void vm_finding_shared(const vm_cta *cta, vm_finding *finding, uint64_t address, uint64_t size);
void vm_finding_access(vm_warp *warp, vm_finding_kind kind, uint32_t pc, unsigned lane, ptx_space space,
                       uint64_t address, uint64_t size, uint64_t required, bool store);

/* The run as a whole, or this CTA, has to end. */
static inline bool vm_schedule_over(const vm_cta *cta) {
    const vm_grid *run = cta->run;
    return run->stop || run->stop_at < cta->stop_key || cta->steps > cta->step_limit;
}
static inline void vm_schedule_turn(vm_warp *warp) {
    warp->turn_steps = warp->steps;
    warp->budget = warp->cta->budget;
    warp->polls = 0;
    warp->cta->turn = warp->index;
}
/* All lanes of a warp exit at once: what vm_schedule_run would do then, without leaving the engine. NULL: it
 * has to. */
static inline vm_warp *vm_schedule_follow(vm_warp *warp) {
    vm_cta *cta = warp->cta;
    if (!cta->in_order || warp->index + 1 == cta->warp_count || warp[1].live == 0)
        return NULL;
    uint64_t steps = warp->steps - warp->turn_steps;
    cta->steps += steps;
    if (vm_schedule_over(cta)) {
        cta->steps -= steps;
        return NULL;
    }
    cta->live_warps--;
    cta->turn_moved = true;
    warp->idle = false;
    vm_schedule_turn(warp + 1);
    return warp + 1;
}

/* The warp did something that others can wait for; it learned what others did before. */
static inline void vm_warp_released(vm_warp *warp) {
    warp->released = ++warp->cta->events;
}
static inline void vm_warp_acquired(vm_warp *warp) {
    warp->acquired = ++warp->cta->events;
}

/* Operand of a reference. */
static inline void *vm_operand(const vm_warp *warp, uint32_t ref) {
    return warp->base[ref & 3] + ref;
}
static inline uint32_t vm_operand32(const vm_warp *warp, uint32_t ref, unsigned lane) {
    return ((const uint32_t *)vm_operand(warp, ref))[lane];
}
static inline uint64_t vm_operand64(const vm_warp *warp, uint32_t ref, unsigned lane) {
    return ((const uint64_t *)vm_operand(warp, ref))[lane];
}
static inline unsigned vm_first_lane(uint32_t mask) {
    return (unsigned)__builtin_ctz(mask);
}
#define VM_FOR_LANES(lane, mask)                                                                             \
    for (uint32_t rest_##lane = (mask), lane = 0;                                                            \
         rest_##lane && ((lane = (uint32_t)__builtin_ctz(rest_##lane)), 1); rest_##lane &= rest_##lane - 1)
#endif
