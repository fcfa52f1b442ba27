/* SPDX-License-Identifier: Apache-2.0
 * Compile-time values of the evaluator: what a name of a script can stand for while the IR is built.
 * Private to script/. Knows values only: how they are computed is in script_evaluate.h and its files. */
#ifndef TIRC_SCRIPT_SCRIPT_VALUE_H
#define TIRC_SCRIPT_SCRIPT_VALUE_H
#include "script/script_ast.h"

typedef struct script_value script_value;
typedef struct script_scope script_scope;
typedef struct script_dialect_word script_dialect_word;
typedef struct script_evaluator script_evaluator;
typedef struct script_pool script_pool;         /* script_pool.c */
typedef struct script_template script_template; /* script_kernel.c */
typedef struct script_partial script_partial;   /* script_builtin.c */
typedef struct script_window script_window;     /* script_part.h */
typedef struct script_indexer script_indexer;   /* script_factors.c */
typedef struct script_iterator script_iterator; /* script_sequence.c */

typedef enum script_value_kind {
    SCRIPT_VALUE_POISON, /* stands for something that was wrong and reported; silences what follows */
    SCRIPT_VALUE_NONE,
    SCRIPT_VALUE_ELLIPSIS,
    SCRIPT_VALUE_BOOL,
    SCRIPT_VALUE_INT,   /* 64 bits; flag: the value is unsigned and over INT64_MAX */
    SCRIPT_VALUE_FLOAT, /* real */
    SCRIPT_VALUE_STRING,
    SCRIPT_VALUE_TUPLE,
    SCRIPT_VALUE_LIST,
    SCRIPT_VALUE_DICT,     /* list: key, value, key, value */
    SCRIPT_VALUE_SET,      /* list, without duplicates, in the order of insertion */
    SCRIPT_VALUE_SLICE,    /* list of three */
    SCRIPT_VALUE_RANGE,    /* list of three: start, stop, step; IR values allowed */
    SCRIPT_VALUE_ITERATOR, /* gives each item once */
    SCRIPT_VALUE_FUNCTION,
    SCRIPT_VALUE_BOUND,       /* a function of a class with its object */
    SCRIPT_VALUE_PARTIAL,     /* functools.partial */
    SCRIPT_VALUE_CLASS,       /* a class of the script */
    SCRIPT_VALUE_OBJECT,      /* an instance of one */
    SCRIPT_VALUE_TEMPLATE,    /* a kernel with constexpr parameters, to be specialised */
    SCRIPT_VALUE_OPTIONAL,    /* Optional(type): meta */
    SCRIPT_VALUE_FIELD,       /* field(default_factory=f): meta, NULL without one; auto(): flag */
    SCRIPT_VALUE_WORD,        /* a row of the dialect table */
    SCRIPT_VALUE_METHOD,      /* a word with its receiver */
    SCRIPT_VALUE_NAMESPACE,   /* text: path prefix in the dialect table, "" for the root */
    SCRIPT_VALUE_PTX,         /* text: what follows T.ptx so far, in PTX's spelling */
    SCRIPT_VALUE_PTX_ADDRESS, /* T.ptx.addr: list of base and offset */
    SCRIPT_VALUE_MODULE,      /* text: dotted name of a package that was imported by name */
    SCRIPT_VALUE_FILE,        /* an imported file */
    SCRIPT_VALUE_FOREIGN,     /* text: a name of a package that is not available at compile time */
    SCRIPT_VALUE_EXPR,        /* flag: an index query, which a plain assignment binds as a let */
    SCRIPT_VALUE_TENSOR,      /* scalars too */
    SCRIPT_VALUE_REGION,
    SCRIPT_VALUE_WINDOW,      /* a part of a tensor that starts at values of the kernel */
    SCRIPT_VALUE_BOUNDS,      /* of one axis of a region: min, extent */
    SCRIPT_VALUE_INDEXER,     /* tile(...) or chunk(...), before its [picks] */
    SCRIPT_VALUE_TYPE,        /* a value type: dtype constructor, pointer type */
    SCRIPT_VALUE_DTYPE,       /* what .dtype gives: compares equal to its name */
    SCRIPT_VALUE_TENSOR_TYPE, /* Tensor(...) / Buffer(...) */
    SCRIPT_VALUE_LET_TYPE,    /* let, let[...]; flag: a type was given */
    SCRIPT_VALUE_SYMBOL,      /* int32() or dynamic("n"), not named yet */
    SCRIPT_VALUE_AXIS,
    SCRIPT_VALUE_AXIS_TERM,   /* 4 @ laneid */
    SCRIPT_VALUE_LAYOUT_SPEC, /* S[..] + R[..] + offset */
    SCRIPT_VALUE_LAYOUT,
    SCRIPT_VALUE_ITER,       /* one part of a layout: extent, stride, axis */
    SCRIPT_VALUE_TMEM_POOL,  /* TMEMPool(...) */
    SCRIPT_VALUE_POOL,       /* SMEMPool() */
    SCRIPT_VALUE_LAUNCH,     /* LaunchConfig(...) */
    SCRIPT_VALUE_ATTRIBUTES, /* KernelAttributes(...) */
    SCRIPT_VALUE_LOOP,       /* serial(...), unroll(...), grid(...) */
    SCRIPT_VALUE_META,       /* meta_var(x): a name for a compile-time value */
    SCRIPT_VALUE_DECORATOR,  /* a word that makes something of a function or class */
    SCRIPT_VALUE_KERNEL,     /* a decorated function */
    SCRIPT_VALUE_FRAME       /* device_entry(), attr(), If(c): may stand in a with */
} script_value_kind;

typedef struct script_list {
    BASE_VECTOR(script_value) items;
    /* of a dict or set: hash of a key -> its place + 1, for keys before `indexed`; arena NULL: look-up is
     * linear */
    base_arena *arena;
    base_map *index;
    size_t indexed;
    struct script_value *factory; /* of a defaultdict: makes the value of a missing key, or NULL */
} script_list;

/* What a decorator made of a function. */
typedef enum script_role {
    SCRIPT_ROLE_PLAIN,
    SCRIPT_ROLE_INLINE, /* its statements are spliced into the kernel, under the kernel's rules */
    SCRIPT_ROLE_PROPERTY,
    SCRIPT_ROLE_STATIC,
    SCRIPT_ROLE_CLASS
} script_role;

/* An imported file: a.b of a/b.py. scope NULL: a package without a file. */
typedef struct script_file {
    const char *name;
    script_scope *scope;
    base_span span; /* of the import that came first */
    bool is_running, is_broken, is_package;
} script_file;

typedef struct script_class script_class;
/* A function of the script: its definition and where it was defined. */
typedef struct script_closure {
    const script_node *node; /* FUNCTION or LAMBDA */
    script_scope *scope;
    const char *name;
    script_role role;
    bool is_dynamic;           /* macro(hygienic=False): names are looked up where it is called */
    const script_class *owner; /* the class whose body defines it, or NULL */
    script_list *defaults;     /* one per parameter; POISON kind marks "none" through has_default */
    const bool *has_default;
    struct script_closure *setter; /* of a property: assigns it, or NULL */
    script_list *results;          /* of a cached function: a DICT from arguments to results, or NULL */
} script_closure;

typedef struct script_field {
    const char *name;
    script_value *value; /* default */
    bool has_default, is_factory;
} script_field;

typedef enum script_class_kind {
    SCRIPT_CLASS_PLAIN,
    SCRIPT_CLASS_META, /* its objects own what their constructors allocate */
    SCRIPT_CLASS_RECORD,
    SCRIPT_CLASS_ENUM,
    SCRIPT_CLASS_NUMBERS /* an enumeration whose members are integers */
} script_class_kind;

struct script_class {
    const char *name;
    base_span span;
    script_scope *scope; /* the names of its body */
    script_class *base;
    script_class_kind kind;
    bool is_frozen, is_ordered;       /* records: fields are not assigned; they are compared in order */
    bool is_tuple;                    /* a named tuple: also one of its fields */
    BASE_VECTOR(script_field) fields; /* of a record, those of the base first */
};

typedef struct script_object {
    const script_class *class;
    script_scope *fields;
    bool is_constructed;
    struct script_object *real; /* the object that super() is a view of, or NULL */
} script_object;

typedef struct script_bound {
    script_closure *closure;
    script_value *receiver;
} script_bound;

typedef struct script_region {
    ir_tensor *tensor;
    uint32_t count;
    const ir_expr *const *starts, *const *extents;
    const bool *is_range; /* the axis was written as a slice or left out */
} script_region;

/* A tensor type as written, with what the writer left open. */
typedef struct script_tensor_type {
    ir_tensor_type type;
    bool has_scope, has_align;
    bool has_layout;        /* an explicit layout object: type.layout */
    const ir_expr *pointer; /* data= of a declaration, or NULL */
} script_tensor_type;

/* An extent or a stride that the launch gives; NULL: the number of the iter. */
typedef struct script_layout_symbol {
    const ir_expr *extent, *stride;
} script_layout_symbol;
typedef struct script_layout_spec {
    BASE_VECTOR(layout_iter) shard, replica;
    BASE_VECTOR(script_layout_symbol) symbols; /* none, or one beside each of shard */
    const ir_expr *origin;                     /* added on m, or NULL */
    int64_t offset[LAYOUT_AXIS_COUNT];
    uint32_t offset_axes;
} script_layout_spec;

typedef struct script_loop_axis {
    const ir_expr *start, *extent;
} script_loop_axis;
typedef struct script_loop {
    ir_loop_kind kind;
    num_dtype dtype;
    int64_t step, factor;
    uint32_t count;
    script_loop_axis *axes;
    bool is_grid;
    const ir_expr *bound; /* thread_binding: the index of the launch that the variable is, or NULL */
} script_loop;

typedef struct script_launch {
    const ir_expr *grid[3], *block[3], *cluster[3], *dynamic_smem_bytes; /* cluster[0] NULL: none */
    bool cooperative, programmatic, has_priority, has_carveout;
    int32_t priority, carveout;
    ir_cluster_policy cluster_policy;
    ir_cluster_size cluster_size;
    int32_t preferred[3];
    ir_sync_domain sync_domain;
    bool has_domain_map;
    int32_t domain_map[2];
    base_span span;
} script_launch;

typedef struct script_attributes {
    int64_t min_blocks_per_sm, max_blocks_per_cluster, max_registers;
    bool required_block_size;
} script_attributes;

struct script_value {
    script_value_kind kind;
    bool flag;
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct {
            const char *text;
            size_t size;
        } string;
        script_list *list;
        script_iterator *iterator;
        script_file *file;
        script_closure *closure;
        script_bound *bound;
        script_class *class;
        script_object *object;
        script_template *template;
        script_partial *partial;
        const script_dialect_word *word;
        struct {
            const script_dialect_word *word;
            script_value *receiver;
        } method;
        const ir_expr *expr;
        ir_tensor *tensor;
        script_region *region;
        script_window *window;
        struct {
            const ir_expr *min, *extent;
        } bounds;
        script_indexer *indexer;
        ir_type type; /* TYPE, DTYPE, LET_TYPE, SYMBOL */
        script_tensor_type *tensor_type;
        layout_axis axis;
        struct {
            layout_axis axis;
            int64_t value;
        } term;
        script_layout_spec *spec;
        const layout_tile *layout;
        layout_iter iter;
        script_pool *pool;
        struct script_tmem_pool *tmem_pool;
        script_launch *launch;
        script_attributes *attributes;
        script_loop *loop;
        struct script_frame *frame; /* script_frame.c; NULL: there is nothing to open */
        script_value *meta;
        struct {
            const script_dialect_word *word;
            script_value *options; /* a DICT, or NULL */
        } decorator;
        ir_function *kernel;
    } as;
};

/* ---- script_value.c ---- */
static inline script_value script_poison(void) {
    return (script_value){.kind = SCRIPT_VALUE_POISON};
}
static inline script_value script_none(void) {
    return (script_value){.kind = SCRIPT_VALUE_NONE};
}
static inline script_value script_bool(bool value) {
    return (script_value){.kind = SCRIPT_VALUE_BOOL, .as.boolean = value};
}
static inline script_value script_int(int64_t value) {
    return (script_value){.kind = SCRIPT_VALUE_INT, .as.integer = value};
}
static inline script_value script_float(double value) {
    return (script_value){.kind = SCRIPT_VALUE_FLOAT, .as.real = value};
}
static inline script_value script_expr(const ir_expr *expr) {
    return (script_value){.kind = SCRIPT_VALUE_EXPR, .as.expr = expr};
}
static inline script_value script_tensor(ir_tensor *tensor) {
    return (script_value){.kind = SCRIPT_VALUE_TENSOR, .as.tensor = tensor};
}
static inline script_value script_type(ir_type type) {
    return (script_value){.kind = SCRIPT_VALUE_TYPE, .as.type = type};
}
static inline bool script_is_poison(script_value v) {
    return v.kind == SCRIPT_VALUE_POISON;
}
script_value script_string(base_arena *arena, const char *text, size_t size);
script_value script_list_make(base_arena *arena, script_value_kind kind); /* TUPLE, LIST, DICT ... */
script_value script_list_make_of(base_arena *arena, script_value_kind kind, size_t count); /* with room */
void script_list_add(base_arena *arena, script_value list, script_value item);
/* What a person calls the value: "an int", "a tensor of shape (4, 8) and dtype float32". */
const char *script_value_name(base_arena *arena, script_value v);
/* Text as str() and f-strings give it; false: the value has no text. repr: quotes around strings. e: calls
 * __str__ and __repr__ of objects; NULL: there are none. */
bool script_value_text(script_evaluator *e, script_value v, bool repr, base_builder *out);
bool script_value_text_at(script_evaluator *e, script_value v, bool repr, unsigned depth, base_builder *out);
/* Python's ==, for compile-time values. */
bool script_value_equal(script_value a, script_value b, unsigned depth);
bool script_value_is_constant(script_value v); /* None, bool, number, string */
/* Truth of a compile-time value; false: it has none (IR). */
bool script_value_truth(script_value v, bool *truth);
/* An int or bool. */
bool script_value_integer(script_value v, int64_t *value);
script_value *script_dict_find(script_value dict, script_value key);
/* Equal values have equal ones; false: the value has none. */
bool script_value_hash(script_value v, uint64_t *hash);
/* Place of a key among every stride-th item, or SIZE_MAX. */
size_t script_list_find(script_list *list, script_value key, size_t stride);
void script_list_moved(script_list *list);                    /* after items changed their places */
const char *script_window_title(const script_window *window); /* the tensor that the window is in */
#endif
