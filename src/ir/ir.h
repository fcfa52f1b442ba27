/* SPDX-License-Identifier: Apache-2.0
 * The IR: types, immutable interned expressions, a mutable statement tree, functions.
 *
 * Two forms share these types. The tensor form is what scripts build: LOAD, ADDRESS and STORE name a tensor
 * and one index per axis; views are DECL statements. The flat form is what the CUDA and PTX writers read:
 * every access is POINTER_LOAD / POINTER_STORE on a base pointer (DATA of a parameter or an allocation, or a
 * pointer variable) with one scalar index, and no DECL remains. ir_verify checks the form it is told.
 *
 * Expressions are hash-consed in the module: equal structure = equal pointer. Sharing is not evaluation: an
 * expression that reads memory is a description, evaluated where its statement stands. Spans sit on
 * statements. Knows nothing of scripts, passes or back ends. */
#ifndef TIRC_IR_IR_H
#define TIRC_IR_IR_H
#include "base/diagnostic.h"
#include "layout/layout.h"
#include "num/dtype.h"
#include "ptx/ptx_pattern.h"

typedef enum ir_scope {
    IR_SCOPE_GLOBAL,
    IR_SCOPE_SHARED,
    IR_SCOPE_SHARED_DYN,
    IR_SCOPE_LOCAL,
    IR_SCOPE_TMEM
} ir_scope;
const char *ir_scope_name(ir_scope scope); /* "global" "shared" "shared.dyn" "local" "tmem" */

typedef enum ir_type_kind { IR_TYPE_VOID, IR_TYPE_PRIM, IR_TYPE_POINTER, IR_TYPE_STRING } ir_type_kind;
/* A value type, passed by value. PRIM: dtype x lanes. POINTER: to dtype (NONE = untyped) x lanes in scope. */
typedef struct ir_type {
    uint8_t kind, dtype, scope;
    uint16_t lanes;
} ir_type;
static inline ir_type ir_type_prim(num_dtype dtype, unsigned lanes) {
    return (ir_type){.kind = IR_TYPE_PRIM, .dtype = (uint8_t)dtype, .lanes = (uint16_t)lanes};
}
static inline ir_type ir_type_pointer(num_dtype dtype, unsigned lanes, ir_scope scope) {
    return (ir_type){
        .kind = IR_TYPE_POINTER, .dtype = (uint8_t)dtype, .scope = (uint8_t)scope, .lanes = (uint16_t)lanes};
}
/* The descriptor of a tensor for TMA: a parameter of 128 bytes; used as a value it is their address. */
ir_type ir_type_tensor_map(void);
bool ir_type_is_tensor_map(ir_type type);
static inline bool ir_type_equal(ir_type a, ir_type b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.scope == b.scope && a.lanes == b.lanes;
}
static inline bool ir_type_is_integer(ir_type type) { /* PRIM of integer dtype, any lanes */
    return type.kind == IR_TYPE_PRIM && num_dtype_is_integer((num_dtype)type.dtype);
}
static inline bool ir_type_is_float(ir_type type) {
    return type.kind == IR_TYPE_PRIM && num_dtype_is_float((num_dtype)type.dtype);
}
static inline bool ir_type_is_bool(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.dtype == NUM_DTYPE_BOOL;
}
ir_type ir_type_scalar(ir_type type); /* lanes 1 */
/* The register type that a scalar or pointer has as an operand of IR_PTX; NONE: it cannot be one. */
ptx_type ir_ptx_type(ir_type type);
/* "int32", "float32x4", "handle", "float32*global" */
void ir_type_print(ir_type type, base_builder *out);

typedef enum ir_op {
#define IR_OP(enumerator, name, arguments, flags, text) enumerator,
#include "ir/ir_ops.def"
#undef IR_OP
    IR_OP_COUNT
} ir_op;

enum ir_op_flags {
    /* Also of everything inside an expression: ir_expr.effects. */
    IR_FLAG_READS = 1,
    IR_FLAG_WRITES = 2,
    IR_FLAG_SYNC = 4,
    IR_FLAG_DIVERGENT = 8,
    IR_FLAG_BOUNDED = 16,
    /* Of an operation alone. */
    IR_FLAG_PURE = 1 << 16,
    IR_FLAG_FOLD = 1 << 17,
    IR_FLAG_EXACT = 1 << 18,
    IR_FLAG_ORDER_FREE = 1 << 19
};
/* What is somewhere inside an expression, beside the flags R, W, S, D and B of its operations. */
enum ir_inside {
    IR_INSIDE_REGISTER = 1 << 5,         /* a REGISTER */
    IR_INSIDE_MEMORY = 1 << 6,           /* flag R on anything else */
    IR_INSIDE_DIVISION = 1 << 7,         /* an integer division by what is no constant other than 0 */
    IR_INSIDE_QUOTIENT = 1 << 8,         /* a quotient, a remainder or a shift, of any type */
    IR_INSIDE_LAZY = 1 << 9,             /* AND, OR, IF_THEN_ELSE: operands that may not be evaluated */
    IR_INSIDE_TENSOR = 1 << 10,          /* LOAD, ADDRESS, REGION, DATA */
    IR_INSIDE_REINTERPRET = 1 << 11,     /* a REINTERPRET */
    IR_INSIDE_POINTER_LOAD = 1 << 12,    /* a POINTER_LOAD */
    IR_INSIDE_POINTER_ADDRESS = 1 << 13, /* a POINTER_ADDRESS */
    IR_INSIDE_NIBBLE = 1 << 14,          /* a value of 4 bits, or a pointer to some */
    IR_INSIDE_LANES = 1 << 15            /* a value of several lanes */
};
typedef struct ir_op_info {
    const char *enumerator, *name, *text;
    int arguments;
    unsigned flags;
} ir_op_info;
extern const ir_op_info ir_op_table[IR_OP_COUNT];
static inline const ir_op_info *ir_op_information(ir_op op) {
    return &ir_op_table[op];
}

typedef struct ir_expr ir_expr;
typedef struct ir_var ir_var;
typedef struct ir_tensor ir_tensor;
typedef struct ir_stmt ir_stmt;
typedef struct ir_function ir_function;
typedef struct ir_module ir_module;

/* What ir_verify and the text parser allow; deeper or larger input gets a diagnostic. */
#define IR_DEPTH_LIMIT     1000    /* levels of an expression */
#define IR_SIZE_LIMIT      1000000 /* nodes of an expression written out as a tree */
#define IR_STATEMENT_LIMIT 200     /* statements inside statements */

struct ir_expr {
    ir_op op : 16;
    ir_type type;
    uint32_t id; /* dense within the module, in order of creation: children have smaller ids */
    uint32_t count;
    uint32_t size;      /* nodes when written out as a tree, shared ones again; sticks at UINT32_MAX */
    uint16_t depth;     /* 0 for a leaf, sticks at UINT16_MAX; ir_verify allows IR_DEPTH_LIMIT, so that passes
                           may recurse */
    uint16_t effects;   /* R, W, S, D and B flags of everything inside, and enum ir_inside */
    uint64_t variables; /* bit id % 64 of each VAR and REGISTER inside, and inside origins: a clear bit means
                           that none has it */
    ir_module *module;
    union {
        int64_t integer;         /* INT, LANE, THREAD_IDX ... */
        double real;             /* FLOAT */
        const char *string;      /* STRING */
        const ir_var *var;       /* VAR, REGISTER */
        const ir_tensor *tensor; /* LOAD, ADDRESS, DATA, REGION */
        const ir_expr *origin; /* POINTER_LOAD, POINTER_ADDRESS: the LOAD or ADDRESS it came from, or NULL */
    } at;
    const ir_expr *args[];
};

typedef enum ir_var_kind {
    IR_VAR_PARAMETER, /* scalar parameter of the kernel, and the sizes that tensor parameters bring */
    IR_VAR_LET,
    IR_VAR_LOOP,
    IR_VAR_REGISTER /* mutable; assigned by IR_STMT_ASSIGN; only after lowering */
} ir_var_kind;
struct ir_var {
    const char *name; /* as the author wrote it; not unique */
    ir_type type;
    ir_var_kind kind;
    uint32_t id; /* dense within the module */
    base_span span;
    const ir_expr
        *value; /* of a LET that a pass removed: what it stood for, for provenance only; else NULL */
};

/* What a tensor is: the same contract for parameters, allocations and views. */
typedef struct ir_tensor_type {
    num_dtype dtype;
    uint16_t lanes; /* element lanes: alloc_local((1,), "float32x4") has 4 */
    ir_scope scope;
    uint32_t rank;
    const ir_expr *const *shape; /* integer expressions over constants and PARAMETER variables */
    const layout_tile *layout;   /* NULL: dense row-major of the shape, or strides */
    /* Not NULL: elements per step of each axis, integer expressions as in the shape (in a view also of its
     * kernel's values), for strides that are not constants; layout is NULL then. */
    const ir_expr *const *strides;
    const ir_expr *origin; /* with strides: the element number of coordinate 0; NULL: 0 */
    uint32_t align;        /* bytes, power of two; default 64 */
} ir_tensor_type;

/* What a TMA copy reads: boxes of a tensor parameter, dimension 0 the innermost. The launch makes it and
 * gives it in a parameter of 128 bytes, which lowering adds behind the author's. */
enum { IR_MAP_RANK = 5 };
typedef struct ir_tensor_map {
    const struct ir_tensor *of;
    uint32_t rank;
    const ir_expr *dims[IR_MAP_RANK], *strides[IR_MAP_RANK]; /* in elements, over parameters */
    const ir_expr *offset; /* of coordinate 0, in elements, over parameters; NULL: 0 */
    uint32_t box[IR_MAP_RANK];
    unsigned swizzle; /* address bits that flip: 0 to 3 for none, 32B, 64B, 128B */
    bool is_padded;   /* elements of 4 bits, in shared memory 16 of them in 16 bytes */
    bool fills_nan;   /* what a box has outside of the tensor; else 0 */
    num_dtype dtype;  /* of the elements; a view may see others than the parameter has */
} ir_tensor_map;

typedef enum ir_tensor_kind { IR_TENSOR_PARAMETER, IR_TENSOR_ALLOCATION, IR_TENSOR_VIEW } ir_tensor_kind;
struct ir_tensor {
    const char *name;
    ir_tensor_type type;
    ir_tensor_kind kind;
    bool is_scalar;           /* written as a scalar (x, not x[0]); only for printing: not part of equality */
    bool is_pooled;           /* a pool placed it, so its bytes are its own while it is in use; likewise */
    const ir_expr *data;      /* VIEW: the pointer it is declared over; else NULL */
    const ir_tensor_map *map; /* PARAMETER that is a tensor map (flat form); else NULL */
    uint32_t id;              /* dense within the module */
    base_span span;
};

typedef enum ir_loop_kind {
    IR_LOOP_SERIAL,
    IR_LOOP_UNROLL,     /* expanded by lowering; constant extent */
    IR_LOOP_VECTORIZED, /* turned into vector accesses where possible, else serial */
    IR_LOOP_PRAGMA      /* serial, with #pragma unroll [factor] */
} ir_loop_kind;

typedef enum ir_stmt_kind {
    IR_STMT_BLOCK,         /* statements in order; a name scope */
    IR_STMT_LET,           /* var = value */
    IR_STMT_ALLOCATE,      /* tensor: new storage, alive to the end of the enclosing block */
    IR_STMT_DECLARE,       /* tensor: a view; no storage (tensor form only) */
    IR_STMT_STORE,         /* tensor[indices] = value (tensor form only) */
    IR_STMT_POINTER_STORE, /* base[index] = value (flat form only) */
    IR_STMT_ASSIGN,        /* register var = value (flat form only) */
    IR_STMT_IF,
    IR_STMT_FOR,
    IR_STMT_WHILE,
    IR_STMT_BREAK,
    IR_STMT_CONTINUE,
    IR_STMT_RETURN,
    IR_STMT_EVALUATE /* an expression for its effect */
} ir_stmt_kind;

struct ir_stmt {
    ir_stmt_kind kind;
    base_span span;
    union {
        struct {
            BASE_VECTOR(ir_stmt *) body;
        } block;
        struct {
            ir_var *var;
            const ir_expr *value;
        } let, assign;
        struct {
            ir_tensor *tensor;
        } allocate, declare;
        struct {
            ir_tensor *tensor;
            uint32_t count;
            const ir_expr *const *indices;
            const ir_expr *value;
        } store;
        struct {
            const ir_expr *base, *index, *value; /* index as in POINTER_LOAD, of the value's type */
            const ir_expr *origin;               /* ADDRESS expression of the element written, or NULL */
        } pointer_store;
        struct {
            const ir_expr *condition;
            ir_stmt *then_body, *else_body; /* BLOCKs; else_body may be NULL */
        } branch;
        struct {
            ir_var *var;
            /* var = start, start + step ... while below start + extent; step: positive integer constant */
            const ir_expr *start, *extent, *step;
            ir_loop_kind kind;
            int64_t factor; /* PRAGMA: unroll factor; 0: none given */
            ir_stmt *body;
        } loop;
        struct {
            const ir_expr *condition; /* evaluated before every round */
            ir_stmt *body;
        } while_loop;
        struct {
            const ir_expr *value;
        } evaluate;
    } as;
};

/* A parameter in signature order: exactly one of tensor and var. */
typedef struct ir_parameter {
    const char *name;
    ir_tensor *tensor;
    ir_var *var;
} ir_parameter;

/* How the kernel is launched; expressions over constants and PARAMETER variables. */
/* Values of launch fields that are words; 0: not given. Names in the order of the enumerations: ir_words.c.
 */
typedef enum ir_cluster_policy {
    IR_CLUSTER_POLICY_NONE,
    IR_CLUSTER_POLICY_DEFAULT,
    IR_CLUSTER_POLICY_SPREAD,
    IR_CLUSTER_POLICY_LOAD_BALANCING
} ir_cluster_policy;
typedef enum ir_cluster_size {
    IR_CLUSTER_SIZE_NONE,
    IR_CLUSTER_SIZE_DEFAULT,
    IR_CLUSTER_SIZE_PORTABLE, /* at most what every device of the kind takes */
    IR_CLUSTER_SIZE_ANY       /* also what needs the non-portable size allowed */
} ir_cluster_size;
/* Domains of memory synchronisation: a fence of one does not wait for what kernels of another have written.
 */
typedef enum ir_sync_domain {
    IR_SYNC_DOMAIN_NONE,
    IR_SYNC_DOMAIN_DEFAULT,
    IR_SYNC_DOMAIN_REMOTE
} ir_sync_domain;
const char *ir_sync_domain_name(ir_sync_domain domain);       /* NULL behind the last */
const char *ir_cluster_policy_name(ir_cluster_policy policy); /* NULL behind the last */
const char *ir_cluster_size_name(ir_cluster_size size);

typedef struct ir_launch {
    bool present;           /* the function has a device entry */
    const ir_expr *grid[3]; /* never NULL when present */
    const ir_expr *block[3];
    const ir_expr *cluster[3];                                        /* NULL: none given */
    const ir_expr *dynamic_smem_bytes;                                /* as asked for; NULL: none */
    int64_t min_blocks_per_sm, max_blocks_per_cluster, max_registers; /* 0: not given */
    bool cooperative;
    bool follows;      /* a further region of the function before it in the module, launched behind that */
    bool programmatic; /* may start before the launch before it has ended */
    bool has_priority, has_carveout;
    int32_t priority; /* lower ones first */
    int32_t carveout; /* shared memory of an SM that is preferred, in percent */
    ir_cluster_policy cluster_policy;
    ir_cluster_size cluster_size;
    int32_t preferred[3]; /* CTAs of the larger clusters that are made where there is room; [0] 0: none */
    ir_sync_domain sync_domain;
    bool has_domain_map;
    int32_t domain_map[2]; /* numbers of the default and of the remote domain */
    base_span span;
} ir_launch;

struct ir_function {
    const char *name;
    BASE_VECTOR(ir_parameter) parameters;
    ir_launch launch;
    ir_stmt *body; /* BLOCK */
    base_span span;
    ir_module *module;
};

struct ir_module {
    base_arena *arena;
    base_names *names;
    base_diagnostics *diagnostics;
    BASE_VECTOR(ir_function *) functions;
    struct ir_intern *intern; /* private to ir */
    ptx_pattern_cache patterns;
    uint32_t next_expr, next_var, next_tensor;
};

/* ---- construction (ir_build.c) ---- */
ir_module *ir_module_create(base_arena *arena, base_diagnostics *diagnostics);
/* With a table of names that is there already and lives as long. */
ir_module *ir_module_create_with(base_arena *arena, base_diagnostics *diagnostics, base_names *names);
/* Adds the function to module->functions. */
ir_function *ir_function_create(ir_module *module, const char *name, base_span span);
ir_var *ir_var_create(ir_module *module, const char *name, ir_type type, ir_var_kind kind, base_span span);
ir_var *ir_var_copy(ir_module *module, const ir_var *var); /* another one, of the same module, named alike */
ir_tensor *ir_tensor_create(ir_module *module, const char *name, const ir_tensor_type *type,
                            ir_tensor_kind kind, const ir_expr *data, base_span span);
/* Raw constructor: interns, no folding, no checks (ir_verify checks). */
const ir_expr *ir_make(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args, uint32_t count);
const ir_expr *ir_int(ir_module *module, num_dtype dtype, int64_t value);
const ir_expr *ir_float(ir_module *module, num_dtype dtype, double value);
const ir_expr *ir_bool(ir_module *module, bool value);
const ir_expr *ir_string(ir_module *module, const char *string);
const ir_expr *ir_var_use(ir_module *module, const ir_var *var); /* VAR or REGISTER by kind */
const ir_expr *ir_query(ir_module *module, ir_op op, int axis);  /* THREAD_IDX ... int32; LANE via ir_lane */
const ir_expr *ir_lane(ir_module *module, const ir_expr *vector, unsigned lane);
const ir_expr *ir_load(ir_module *module, const ir_tensor *tensor, const ir_expr *const *indices,
                       uint32_t count);
const ir_expr *ir_address(ir_module *module, const ir_tensor *tensor, const ir_expr *const *indices,
                          uint32_t count);
const ir_expr *ir_data(ir_module *module, const ir_tensor *tensor);
/* One start and one extent per axis; an operand of TILE only. */
const ir_expr *ir_region(ir_module *module, const ir_tensor *tensor, const ir_expr *const *starts,
                         const ir_expr *const *extents);
const ir_expr *ir_pointer_load(ir_module *module, ir_type type, const ir_expr *base, const ir_expr *index,
                               const ir_expr *origin);
const ir_expr *ir_pointer_address(ir_module *module, ir_type type, const ir_expr *base, const ir_expr *index,
                                  const ir_expr *origin);
/* Folding constructors: constants fold (num semantics), x+0 and x*1 vanish, (x+c1)+c2 joins for integers.
 * They never change a value on any input. Arguments must already have equal types. */
const ir_expr *ir_unary(ir_module *module, ir_op op, const ir_expr *a);
const ir_expr *ir_binary(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b);
const ir_expr *ir_select(ir_module *module, ir_op select_or_if_then_else, const ir_expr *condition,
                         const ir_expr *a, const ir_expr *b);
const ir_expr *ir_fma(ir_module *module, const ir_expr *a, const ir_expr *b, const ir_expr *c);
const ir_expr *ir_cast(ir_module *module, ir_type to, const ir_expr *a);
const ir_expr *ir_reinterpret(ir_module *module, ir_type to, const ir_expr *a); /* of numbers */
/* Same op and attribute over other arguments, folded again where it folds. */
const ir_expr *ir_rebuild(ir_module *module, const ir_expr *like, const ir_expr *const *args);
/* A scalar INT constant. */
static inline bool ir_is_int(const ir_expr *e, int64_t *value) {
    if (e->op != IR_INT)
        return false;
    if (value)
        *value = e->at.integer;
    return true;
}
/* True when evaluation reads memory or registers, or has an effect. */
static inline bool ir_expr_reads(const ir_expr *e) {
    return (e->effects & (IR_FLAG_READS | IR_FLAG_WRITES | IR_FLAG_SYNC)) != 0;
}
static inline bool ir_expr_has_effect(const ir_expr *e) { /* WRITES or SYNC anywhere inside */
    return (e->effects & (IR_FLAG_WRITES | IR_FLAG_SYNC)) != 0;
}

ir_stmt *ir_stmt_create(ir_module *module, ir_stmt_kind kind, base_span span);
void ir_block_add(ir_module *module, ir_stmt *block, ir_stmt *statement);

/* ---- tables by expression (ir_memo.c) ---- */
/* One value for each expression, faster than a map where most expressions of a function come by. Lent by the
 * module from open to close; not closed, it is only never used again. */
typedef struct ir_memo {
    uint32_t *stamps, capacity, stamp;
    const void **values; /* valid where the stamp is the memo's */
    struct ir_intern *intern;
    base_arena *arena;
    struct ir_memo *next;
} ir_memo;
ir_memo *ir_memo_open(ir_module *module);
void ir_memo_close(ir_memo *memo);
void ir_memo_clear(ir_memo *memo);
/* Room for e and for what is inside, whose numbers are smaller. */
void ir_memo_reserve(ir_memo *memo, const ir_expr *e);
/* NULL when absent. */
static inline const void *ir_memo_get(const ir_memo *memo, const ir_expr *e) {
    return e->id < memo->capacity && memo->stamps[e->id] == memo->stamp ? memo->values[e->id] : NULL;
}
static inline void ir_memo_set(ir_memo *memo, const ir_expr *e, const void *value) {
    if (e->id >= memo->capacity)
        ir_memo_reserve(memo, e);
    memo->stamps[e->id] = memo->stamp;
    memo->values[e->id] = value;
}

/* ---- walking (ir_walk.c) ---- */
/* Post-order, memoised rewrite of an expression: fn gets an expression whose arguments are already rewritten.
 */
typedef const ir_expr *(*ir_rewrite_function)(void *user, const ir_expr *e);
/* Which expressions a walk is about; one that none of these holds for is left alone with all that is inside.
 */
typedef struct ir_where {
    unsigned effects;   /* any of these inside, as in ir_expr */
    uint64_t variables; /* any of these inside, as in ir_expr */
    uint32_t size;      /* so many nodes, as in ir_expr: 2 for all that have arguments; 0: not asked */
} ir_where;
static inline bool ir_is_where(const ir_where *where, const ir_expr *e) {
    return (e->effects & where->effects) || (e->variables & where->variables) ||
           e->size > where->size - 1u; /* nothing is over UINT32_MAX */
}
/* where: fn is not asked elsewhere; NULL: it is asked everywhere. memo: results of calls with the same fn and
 * user; NULL: of this call alone. */
const ir_expr *ir_expr_rewrite(ir_module *module, const ir_expr *e, const ir_where *where,
                               ir_rewrite_function fn, void *user, ir_memo *memo);
/* The same with a map, for a few expressions of many. */
const ir_expr *ir_expr_rewrite_few(ir_module *module, const ir_expr *e, ir_rewrite_function fn, void *user,
                                   base_map *memo);
/* Calls fn on every expression below e, each once, children first. */
void ir_expr_visit(const ir_expr *e, void (*fn)(void *user, const ir_expr *e), void *user);
void ir_expr_visit_where(const ir_expr *e, const ir_where *where, void (*fn)(void *user, const ir_expr *e),
                         void *user);
/* The same over many expressions: calls fn on what no earlier visit with this memo has met. */
void ir_expr_visit_new(ir_memo *met, const ir_expr *e, void (*fn)(void *user, const ir_expr *e), void *user);
void ir_expr_visit_new_where(ir_memo *met, const ir_expr *e, const ir_where *where,
                             void (*fn)(void *user, const ir_expr *e), void *user);
/* Calls fn on the direct expressions of a statement (not of its sub-statements) by address, so fn may
 * replace. */
void ir_stmt_expressions(ir_stmt *statement, void (*fn)(void *user, const ir_expr **e), void *user);
/* Calls fn on every statement below and including this one, outermost first, in order. */
void ir_stmt_visit(ir_stmt *statement, void (*fn)(void *user, ir_stmt *statement), void *user);
/* Deep copy of a verified function into the same module (statements, variables and tensors fresh; names
 * kept). The copy is not added to module->functions. */
ir_function *ir_function_copy(const ir_function *function);

/* ---- text (ir_print.c, ir_parse.c) ---- */
void ir_module_print(const ir_module *module, base_builder *out);
void ir_expr_print(const ir_expr *e, base_builder *out); /* infix, as a person would write it: i * 8 + j */
/* NULL when there were errors (reported to the module's diagnostics). file is a number in the sources. */
ir_module *ir_module_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file);

/* ---- checking (ir_verify.c, ir_equal.c) ---- */
typedef enum ir_form { IR_FORM_TENSOR, IR_FORM_FLAT } ir_form;
/* Reports what is malformed as T03xx; true when well formed. */
bool ir_verify(const ir_module *module, ir_form form);
/* Structural equality up to names of variables and tensors, spans and is_scalar; *difference (may be NULL)
 * gets the place in words. */
bool ir_function_equal(const ir_function *a, const ir_function *b, base_builder *difference);
/* True when they differ; difference gets the words, places the two statements (no place where there is none).
 */
bool ir_function_difference(const ir_function *a, const ir_function *b, base_builder *difference,
                            base_span places[2]);
#endif
