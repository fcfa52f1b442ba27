/* SPDX-License-Identifier: Apache-2.0
 * The evaluator's state and the functions its files share: names, conversion, operators, tensors, layouts,
 * launch, loops, statements, and the dialect table. Private to script/. Knows nothing of passes. */
#ifndef TIRC_SCRIPT_SCRIPT_EVALUATE_H
#define TIRC_SCRIPT_SCRIPT_EVALUATE_H
#include "layout/shared.h"
#include "num/num.h"
#include "script/script_value.h"

/* ---- names (script_environment.c) ---- */
typedef enum script_binding_kind {
    SCRIPT_BIND_PLAIN,
    SCRIPT_BIND_LET,     /* immutable value */
    SCRIPT_BIND_POINTER, /* immutable pointer */
    SCRIPT_BIND_LOOP,    /* loop variable */
    SCRIPT_BIND_PARAMETER
} script_binding_kind;
typedef struct script_binding {
    const char *name;
    script_value value;
    script_binding_kind kind;
    bool is_read;
    base_span span;
} script_binding;
struct script_scope {
    script_scope *parent;
    base_map *map;    /* name -> binding; of a scope with many names */
    bool is_function; /* the outermost scope of a function body: assignments never look past it */
    bool is_comprehension;
    bool is_class;       /* the body of a class: its functions do not see the names */
    base_map *elsewhere; /* names of global and nonlocal statements -> the scope that has them, or NULL */
    struct {
        const char **items;
        uint32_t count, capacity;
    } names;
    script_binding **bindings; /* one beside each name */
    uint64_t filter;           /* a bit for each name: most look-ups end here */
};
script_scope *script_scope_open(script_evaluator *e, bool is_function);
void script_scope_close(script_evaluator *e);
/* Innermost binding that an expression sees, or NULL. */
script_binding *script_find(script_evaluator *e, const char *name);
/* Binding that an assignment would reach: not past the function's own scope. */
script_binding *script_find_local(script_evaluator *e, const char *name);
script_binding *script_bind(script_evaluator *e, const char *name, script_value value,
                            script_binding_kind kind, base_span span);
script_value script_lookup(script_evaluator *e, const char *name, base_span span); /* reports T0201 */
/* The same for a name of e->names, as those of the tree are. */
script_value script_lookup_name(script_evaluator *e, const char *name, base_span span);
script_binding *script_find_local_name(script_evaluator *e, const char *name);
script_binding *script_bind_name(script_evaluator *e, const char *name, script_value value,
                                 script_binding_kind kind, base_span span);
script_binding *script_scope_get(const script_scope *scope, const char *name);
/* One scope alone. */
script_binding *script_scope_find(script_evaluator *e, const script_scope *scope, const char *name);
script_binding *script_scope_bind(script_evaluator *e, script_scope *scope, const char *name,
                                  script_value value, script_binding_kind kind, base_span span);
void script_declare_elsewhere(script_evaluator *e, const script_node *node); /* global, nonlocal */

/* ---- state ---- */
typedef enum script_flow { SCRIPT_NEXT, SCRIPT_BREAK_LOOP, SCRIPT_CONTINUE_LOOP, SCRIPT_LEAVE } script_flow;
typedef enum script_nest_kind { SCRIPT_NEST_SERIAL, SCRIPT_NEST_UNROLL, SCRIPT_NEST_WHILE } script_nest_kind;

/* The extents that scope ids of the older dialects bring; axis values NULL: not given. */
typedef struct script_scope_ids {
    const ir_expr *grid[3], *block[3], *cluster[3], *clusters[3];
    const ir_expr *warps, *warpgroups, *warps_in_group, *lanes;
    base_span grid_span, block_span, warps_span;
    bool used;
    uint32_t implied; /* axes that got 1 because a later one was bound: bit axis of the grid, 3 + axis of the
                         block */
} script_scope_ids;

/* A key of func_attr and where it was set. */
typedef struct script_set_key {
    const ir_function *function;
    const char *key;
    base_span span;
} script_set_key;

struct script_evaluator {
    base_map *ptx_instructions;     /* script_ptx.c: hash of the name -> what is known of it */
    struct script_matcher *matcher; /* script_ptx.c: room that no instruction uses now */
    base_arena *arena; /* for what lives while the script runs; what the IR refers to is in the module's */
    base_diagnostics *diagnostics;
    ir_module *module;
    base_names *names;
    const char *entry;
    bool entry_found;
    uint64_t steps_left;
    uint64_t step_limit;
    uint32_t depth, depth_limit; /* levels inside the function that runs */
    uint32_t level;              /* and of all of them */
    uint32_t calls;              /* functions that run */
    uint32_t bodies, first_body; /* bodies of statements; how many are around the kernel's or module's own */
    base_map *unreachable;       /* jumps, branches and loops that were looked at for what is behind them */
    bool unwinding;              /* a limit was reached: poison up to the body of the kernel or module */
    bool is_refilled, stopped;   /* the second time everything ends */
    script_scope *scope, *module_scope, *builtin_scope;
    const script_options *options;
    BASE_VECTOR(script_file *) files; /* imported so far */
    script_file *running;             /* the one whose statements run; NULL: the script itself */
    uint32_t library_file;            /* its text among the sources; 0: not loaded */
    script_scope *library;            /* of script_library.c, made when it is needed */
    base_map *gone;                   /* names of closed blocks -> binding, to say where a name was bound */
    base_map *defined;                /* names given by -D */
    script_value result;              /* of the function being returned from */
    const script_closure *closure;    /* the function that runs, or NULL */
    const script_object *self;        /* its object, or NULL */
    const script_class *class;        /* whose body runs, or NULL */
    BASE_VECTOR(ir_tensor *) created; /* while the object of a meta class is made: what was allocated */
    unsigned constructing;

    /* the kernel being built; function NULL: compile-time Python */
    ir_function *function;
    ir_stmt *block;
    base_span statement;
    base_map *layouts;       /* layout -> the module's copy of it */
    base_map *unnamed;       /* tensors that no assignment named yet */
    base_map *sources;       /* name of a function of CUDA source text -> the text */
    base_map *collisions;    /* tensors whose colliding elements were reported */
    base_map *let_values;    /* ir_var -> ir_expr */
    base_map *let_queries;   /* lets of an index of the launch: ir_var -> ir_expr */
    base_map *handle_params; /* ir_var -> index + 1 */
    bool is_python;          /* inside a plain function: Python's own rules */
    bool was_first_dynamic;
    script_pool *pool; /* the one that owns the dynamic arena, or NULL */
    base_span dynamic_span, entry_span;
    bool has_entry, has_launch_config;
    uint32_t region, regions;        /* `with device_entry` that this kernel is made of; met so far */
    size_t region_start, region_end; /* its statements in the function's block */
    bool is_entry_implied;           /* launch_thread before the marker of the entry */
    script_scope_ids ids;
    BASE_VECTOR(script_nest_kind) nest;
    uint32_t ir_depth;     /* statements around the block that is filled */
    uint32_t inline_depth; /* ir_depth where the statements of an inline function began; 0: none runs */
    unsigned lazy_depth;   /* inside a side that may not be evaluated */
    unsigned error_bodies; /* inside bodies that are looked at for their errors alone */
    uint32_t temporary;
    BASE_VECTOR(script_set_key) function_keys; /* script_launch.c: what func_attr was given */
    struct script_choice *choice;              /* script_frame.c: the T.If that is open */
    base_span library_caller; /* where the script called what the library is running; file 0: nothing */
};

base_diagnostic *script_error(script_evaluator *e, const char *code, base_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
enum { SCRIPT_MAX_LEVEL = 1500 }; /* each takes about a kilobyte of the stack */
static inline bool script_is_stopped(const script_evaluator *e) {
    return e->stopped || e->unwinding;
}
bool script_enter_limit(script_evaluator *e, base_span span);
/* Counts a step and a level; false: a limit was reached (reported once). Leave with script_leave. */
static inline bool script_enter(script_evaluator *e, base_span span) {
    if (script_is_stopped(e) || e->steps_left == 0 || e->depth >= e->depth_limit ||
        e->level >= SCRIPT_MAX_LEVEL)
        return script_enter_limit(e, span);
    e->steps_left--;
    e->depth++;
    e->level++;
    return true;
}
static inline void script_leave(script_evaluator *e) {
    e->depth--;
    e->level--;
}
void script_charge(script_evaluator *e, size_t items);
bool script_may_suggest(const script_evaluator *e);
/* False, and reported: that many statements more around the block would be too deep for the IR. */
bool script_deeper(script_evaluator *e, uint32_t count, base_span span);
void script_emit(script_evaluator *e, ir_stmt *statement);
bool script_in_kernel(const script_evaluator *e); /* IR can be built here */
/* Reports when words of the device body stand outside one. */
bool script_need_kernel(script_evaluator *e, base_span span, const char *what);
const char *script_temporary_name(script_evaluator *e, const char *stem);
/* The nearest of the candidates to a wrong word, or NULL. */
const char *script_nearest(const char *word, const char *const *candidates, size_t count);

/* ---- expressions (script_expression.c, script_operator.c) ---- */
script_value script_expression(script_evaluator *e, const script_node *node);
script_value script_subscript_index(script_evaluator *e, const script_node *node);
script_value script_get_item(script_evaluator *e, script_value object, script_value index, base_span span,
                             base_span index_span);
script_value script_get_attribute(script_evaluator *e, script_value object, const char *name, base_span span);
/* The method or property "family.name" of the table; *found false: there is none, nothing reported. */
script_value script_member(script_evaluator *e, script_value object, const char *family, const char *name,
                           base_span span, bool *found);
script_value script_binary(script_evaluator *e, script_operator op, script_value a, script_value b,
                           base_span span);
script_value script_unary(script_evaluator *e, script_operator op, script_value a, base_span span);
script_value script_compare(script_evaluator *e, script_operator op, script_value a, script_value b,
                            base_span span);
bool script_dict_set(script_evaluator *e, script_value dict, script_value key, script_value value,
                     base_span span);
script_value script_logic(script_evaluator *e, script_operator op, script_value a, script_value b,
                          base_span span);
/* SELECT or IF_THEN_ELSE over promoted sides. */
script_value script_choose(script_evaluator *e, ir_op op, const ir_expr *condition, script_value a,
                           script_value b, base_span span);
/* IR operands of equal type after promotion; both NULL after an error. */
bool script_promote(script_evaluator *e, script_value a, script_value b, const ir_expr **x, const ir_expr **y,
                    base_span span);
/* A compile-time iterable as a list; false: reported. */
bool script_iterate(script_evaluator *e, script_value v, script_list **list, base_span span);

/* A name of a package that does not exist here; an error where it is used. */
script_value script_foreign(script_evaluator *e, script_value package, const char *name);
script_value script_foreign_used(script_evaluator *e, script_value v, base_span span); /* reports T0265 */
bool script_is_python_module(const char *path);

/* ---- calls (script_call.c) ---- */
typedef struct script_argument {
    const char *name; /* NULL: positional */
    script_value value;
    base_span span;
} script_argument;
typedef struct script_arguments {
    BASE_VECTOR(script_argument) items;
} script_arguments;
enum { SCRIPT_MAX_PARAMETERS = 24 };
typedef struct script_call {
    const script_dialect_word *word;
    base_span span;      /* of the whole call */
    base_span name_span; /* of what is called */
    const script_node *node;
    script_value receiver; /* methods */
    size_t count;          /* parameters of the signature */
    bool given[SCRIPT_MAX_PARAMETERS];
    script_value value[SCRIPT_MAX_PARAMETERS];
    base_span place[SCRIPT_MAX_PARAMETERS];
    script_arguments rest;     /* *rest */
    script_arguments keywords; /* **keywords */
} script_call;
/* The argument of that name, or NULL when it was not given or is None. */
const script_value *script_argument_of(const script_call *call, const char *name);
/* A compile-time integer argument; `otherwise` where it is not given. False: reported. */
bool script_argument_int(script_evaluator *e, const script_call *call, const char *name, int64_t otherwise,
                         int64_t *value);
/* The parameter of a function of the tree, or NULL. */
const script_node *script_parameter_named(const script_node *function, const char *name);
void script_left_out(script_evaluator *e, const script_call *call, const char *name);
base_span script_argument_span(const script_call *call, const char *name);
bool script_collect_arguments(script_evaluator *e, const script_node *call, script_arguments *out);
script_value script_call_value(script_evaluator *e, script_value callee, script_arguments *arguments,
                               const script_node *node, base_span span, base_span name_span);
script_value script_call_closure(script_evaluator *e, script_closure *closure, script_arguments *arguments,
                                 base_span span);

script_value script_call_partial(script_evaluator *e, const script_partial *partial,
                                 const script_arguments *arguments, const script_node *node, base_span span,
                                 base_span name_span);

/* ---- what compile-time Python shares (script_builtin.c, script_text.c) ---- */
enum {
    SCRIPT_MAX_ITEMS = 1 << 20,   /* of a sequence */
    SCRIPT_MAX_ENTRIES = 1 << 16, /* of a dict or set */
    SCRIPT_MAX_TEXT = 1 << 24
};
script_value script_dict_item(script_evaluator *e, script_value dict, script_value key, base_span span);
script_value script_dict_join(script_evaluator *e, script_value a, script_value b, base_span span);
script_value script_as_tuple(script_evaluator *e, script_value v);
script_value script_text_percent(script_evaluator *e, script_value text, script_value values, base_span span);
bool script_set_add(script_evaluator *e, script_value set, script_value v, base_span span);
script_value script_set_operator(script_evaluator *e, script_operator op, script_value a, script_value b,
                                 base_span span);
bool script_format_value(script_evaluator *e, script_value v, const char *text, base_span span,
                         base_builder *out);

/* ---- items of sequences, iterators (script_sequence.c) ---- */
size_t script_text_length(const char *text, size_t size); /* characters of UTF-8 */
size_t script_text_offset(const char *text, size_t size, size_t character);
void script_text_characters(script_evaluator *e, script_value text, script_list *out);
/* An item or a slice of a tuple, list or text; of a range. */
script_value script_sequence_item(script_evaluator *e, script_value object, script_value index,
                                  base_span span);
script_value script_range_item(script_evaluator *e, script_value object, script_value index, base_span span);
bool script_range_constants(script_value range, int64_t *start, int64_t *count, int64_t *step);
void script_list_assign(script_evaluator *e, script_value object, script_value index, script_value value,
                        base_span span, base_span value_span);
script_value script_list_take(script_list *list, size_t at);
void script_delete_item(script_evaluator *e, script_value object, script_value index, base_span span);
script_value script_no_key(script_evaluator *e, script_value key, base_span span); /* reports T0263 */
script_value script_iterator_make(script_evaluator *e, script_list *list);
bool script_iterator_find(script_value v, script_value item);
void script_iterator_rest(script_evaluator *e, script_value v, script_list **list);
script_value script_augment(script_evaluator *e, script_operator op, script_value before, script_value value,
                            base_span span, base_span value_span);

/* ---- classes written in the dialect (script_library.c) ---- */
bool script_library_find(script_evaluator *e, const char *name, script_value *out);

/* ---- tile operations (script_tile.c) ---- */
/* "copy", "cta.copy", "tile.wg.sum" as a word with its scope, or a namespace on the way there. */
bool script_tile_find(script_evaluator *e, const char *path, script_value *out);
/* The tile operation of the same name as a word for values, when the arguments are tensors; else NULL. */
const script_dialect_word *script_tile_overload(const script_dialect_word *word,
                                                const script_arguments *arguments);

/* ---- conversion (script_convert.c) ---- */
/* A value as IR, in its own type (int -> int32, float -> float32); NULL: reported. */
const ir_expr *script_to_expr(script_evaluator *e, script_value v, base_span span);
/* As IR of a given type: literals take it, others are cast. */
const ir_expr *script_to_type(script_evaluator *e, script_value v, ir_type type, base_span span);
/* A scalar integer expression, int32 unless it is wider; for indices and extents. */
const ir_expr *script_to_index(script_evaluator *e, script_value v, base_span span, const char *what);
const ir_expr *script_to_condition(script_evaluator *e, script_value v, base_span span, const char *what);
const ir_expr *script_cast(script_evaluator *e, const ir_expr *x, ir_type type, base_span span);
bool script_is_ir(script_value v); /* an expression, a tensor or scalar: takes part in IR arithmetic */
/* Compile-time readers; false: reported. what: "the unroll factor". */
bool script_constant_int(script_evaluator *e, script_value v, int64_t *value, base_span span,
                         const char *what);
bool script_constant_bool(script_evaluator *e, script_value v, bool *value, base_span span, const char *what);
bool script_constant_string(script_evaluator *e, script_value v, const char **text, base_span span,
                            const char *what);
/* A dtype given as a string, a type or a DTYPE. */
bool script_to_dtype(script_evaluator *e, script_value v, ir_type *type, base_span span);
bool script_parse_dtype(const char *text, size_t size, ir_type *type); /* "float32x4" */
const char *script_type_name(script_evaluator *e, ir_type type);
bool script_expr_constant(script_evaluator *e, const ir_expr *x, int64_t *value); /* through lets */

/* ---- tensors (script_tensor.c, script_view.c) ---- */
ir_type script_element_type(const ir_tensor *tensor);
bool script_is_single(const ir_tensor *tensor); /* rank 1 with one element: readable by name */
const ir_expr *script_load_single(script_evaluator *e, ir_tensor *tensor);
script_value script_tensor_item(script_evaluator *e, ir_tensor *tensor, script_value index, base_span span,
                                base_span index_span);
/* Index expressions of a load, store or address; false: reported, or *region set for a region. */
bool script_indices(script_evaluator *e, ir_tensor *tensor, script_value index, base_span span,
                    const ir_expr *const **indices, script_value *region);
const ir_expr *script_region_load(script_evaluator *e, script_region *region, base_span span);
bool script_region_indices(script_evaluator *e, script_region *region, base_span span,
                           const ir_expr *const **indices);
/* stop - start; a constant where the difference is one. NULL: reported. */
const ir_expr *script_length(script_evaluator *e, const ir_expr *stop, const ir_expr *start, base_span span);
void script_store(script_evaluator *e, ir_tensor *tensor, const ir_expr *const *indices, uint32_t count,
                  script_value value, base_span target_span, base_span value_span);
/* As ir_tensor_create, with a layout that the module keeps. */
ir_tensor *script_tensor_create(script_evaluator *e, const char *name, const ir_tensor_type *type,
                                ir_tensor_kind kind, const ir_expr *data, base_span span);
/* A one-element tensor, allocated here. */
ir_tensor *script_scalar_create(script_evaluator *e, const char *name, ir_type type, ir_scope scope,
                                base_span span);
/* Notes new storage: it has no name yet, and belongs to the object whose constructor runs. */
void script_created(script_evaluator *e, ir_tensor *tensor);
/* A tensor value that nobody named yet takes the name of its first target. */
void script_name_tensor(script_evaluator *e, script_value v, const char *name, base_span span);
bool script_check_layout(script_evaluator *e, const ir_tensor_type *type, base_span span);
const ir_expr *script_root_pointer(script_evaluator *e, const ir_tensor *tensor);
bool script_shape(script_evaluator *e, script_value v, base_span span, uint32_t *rank,
                  const ir_expr *const **shape);
bool script_constant_shape(script_evaluator *e, const ir_tensor_type *type, int64_t *shape);
/* The constant layout of a tensor, dense when it was given none; NULL: reported. */
const layout_tile *script_layout_of(script_evaluator *e, const ir_tensor *tensor, base_span span);
/* Pointer to an element, of its type and in its scope; NULL: reported. */
const ir_expr *script_element_address(script_evaluator *e, ir_tensor *tensor, script_value index,
                                      base_span span);
bool script_is_multiple(script_evaluator *e, const ir_expr *x, int64_t n); /* by its form */
/* Extents of view(...), one -1 inferred; axis numbers of permute(...). false: reported. */
bool script_view_shape(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                       ir_tensor_type *type);
bool script_read_order(script_evaluator *e, const script_call *call, const ir_tensor *tensor,
                       uint32_t *order);
script_value script_tensor_sub(script_evaluator *e, script_value subject, script_value index, base_span span);
script_value script_make_view(script_evaluator *e, const ir_tensor_type *type, const ir_expr *data,
                              base_span span);
script_value script_allocate(script_evaluator *e, const ir_tensor_type *type, base_span span);
/* The type that shape, dtype, scope, align and layout of a call say; false: reported. */
bool script_read_type(script_evaluator *e, const script_call *call, script_tensor_type *type);
ir_tensor *script_need_tensor(script_evaluator *e, script_value v, base_span span, const char *what);
const ir_expr *script_to_pointer(script_evaluator *e, script_value v, base_span span, const char *what);

/* ---- parts by coordinates (script_window.c) and by factors (script_factors.c) ---- */
script_value script_window_item(script_evaluator *e, script_window *window, script_value index,
                                base_span span, base_span index_span);
void script_window_store(script_evaluator *e, script_window *window, script_value index, script_value value,
                         base_span target_span, base_span index_span, base_span value_span);
script_value script_window_attribute(script_evaluator *e, script_value window, const char *name,
                                     base_span span);
const ir_expr *script_window_single(script_evaluator *e, script_window *window, base_span span);
/* All of it as a region of the tensor below; POISON: reported, it is none. */
script_value script_window_region(script_evaluator *e, script_window *window, base_span span);
bool script_window_is_single(const script_window *window); /* one element: readable by name */
void script_window_name(script_evaluator *e, script_window *window, const char *name);
uint32_t script_window_rank(const script_window *window);
/* The [picks] behind A.tile(...) and A.chunk(...). */
script_value script_indexer_item(script_evaluator *e, script_value indexer, script_value picks,
                                 base_span span);

/* ---- PTX instructions (script_ptx.c) ---- */
script_value script_ptx_root(script_evaluator *e); /* script_ptx_name.c, as the next two */
script_value script_ptx_attribute(script_evaluator *e, script_value object, const char *name);
script_value script_ptx_item(script_evaluator *e, script_value object, script_value index, base_span span);
/* The name with the first underscore of a family of two words as a dot: shfl_sync, elect_sync, st_async. */
const char *script_ptx_family(script_evaluator *e, const char *text);
/* Words for a help: what is nearest to the first wrong part of a name; op: PTX_OP_NONE, or of the table. */
const char *script_ptx_suggest(script_evaluator *e, const char *text, int op);
script_value script_ptx_call(script_evaluator *e, script_value callee, script_arguments *arguments,
                             const script_node *node, base_span span, base_span name_span);
/* One instruction by its full name; keywords pred= and preserve_dst=. NONE: it was emitted. */
script_value script_ptx_instruction(script_evaluator *e, const char *text, const script_arguments *arguments,
                                    base_span span, base_span name_span);
/* The IR of a pattern that is known to be right; results in one type. */
const ir_expr *script_ptx_make(script_evaluator *e, ir_type type, const char *pattern,
                               const ir_expr *const *values, uint32_t count);
/* A pointer, tensor or uint32 as an address in shared memory; NULL: reported. */
const ir_expr *script_ptx_shared_address(script_evaluator *e, script_value v, base_span span);
/* Whether the call is meant for the older function "ptx.NAME" and not for an instruction of that name. */
bool script_ptx_is_function_style(script_evaluator *e, const script_dialect_word *word,
                                  const script_arguments *arguments);

/* ---- tensor memory (script_tmem.c) ---- */
/* Address in tensor memory, uint32, of an element or (indices NULL) of the first; NULL: reported. */
const ir_expr *script_tmem_address(script_evaluator *e, const ir_tensor *tensor,
                                   const ir_expr *const *indices, base_span span);
/* Address, row and column: the address displaced, each half wrapping by itself. */
script_value script_tmem_offset(script_evaluator *e, const script_value *parts, base_span span);
/* A tensor over an address, which is taken here. */
script_value script_tmem_declare(script_evaluator *e, script_tensor_type *type, script_value address,
                                 base_span span, base_span address_span);
/* The same of a pointer that address_of or ptr_to made. */
const ir_expr *script_tmem_pointer_address(script_evaluator *e, const ir_expr *pointer, base_span span);

/* ---- pools (script_pool.c) ---- */
void script_name_pool(script_evaluator *e, script_value v, const char *name, base_span span);
void script_pool_finish(script_evaluator *e); /* at the end of a kernel: it has to be committed */
/* The argument swizzle_mode, "auto" when it is left out (script_factory.c). */
bool script_layout_mode(script_evaluator *e, const script_call *call, layout_mode *mode);

/* ---- layouts (script_layout.c) ---- */
script_value script_layout_item(script_evaluator *e, const script_dialect_word *word, script_value index,
                                base_span span);
script_value script_layout_operator(script_evaluator *e, script_operator op, script_value a, script_value b,
                                    base_span span, bool *handled);
/* Position of a coordinate of IR values: a dict from axis name to value. POISON: reported. */
script_value script_layout_position(script_evaluator *e, const layout_tile *layout,
                                    const ir_expr **coordinate, uint32_t rank, const int64_t *shape,
                                    base_span span);
/* A layout argument: TileLayout, spec, "default" (NULL), None. false: reported. */
bool script_to_layout(script_evaluator *e, script_value v, const layout_tile **layout, base_span span);
bool script_layout_axis(script_evaluator *e, script_value v, layout_axis *axis, base_span span);
/* The same for a type whose shape is known: its layout, or strides that the launch gives. */
bool script_type_layout(script_evaluator *e, script_value v, ir_tensor_type *type, base_span span);
/* Afterwards, when the shape is known: a swizzle without a tile takes its domain from the tensor. */
bool script_spread_swizzle(script_evaluator *e, script_value v, ir_tensor_type *type, base_span span);

/* ---- strides that the launch gives (script_strides.c) ---- */
/* The value as an extent or stride that is no constant; NULL when it is one, or after a report. */
const ir_expr *script_layout_symbol_of(script_evaluator *e, script_value v, base_span span, const char *what);
bool script_is_symbolic(script_value v);
const ir_expr *const *script_dense_strides(script_evaluator *e, const ir_tensor_type *type);
/* The layout value of a tensor without a constant one. */
script_value script_strided_layout(script_evaluator *e, const ir_tensor_type *type);
/* Reports strides where they cannot be: on storage, and on parameters when the launch does not know them. */
bool script_check_strides(script_evaluator *e, const ir_tensor_type *type, bool is_parameter, base_span span);
script_value script_strided_apply(script_evaluator *e, const script_layout_spec *spec,
                                  const ir_expr *const *coordinate, uint32_t rank, base_span span);

/* ---- launch and loops ---- */
/* Whether the item of a with is device_entry(...), and then whether it belongs to another kernel than the one
 * built. */
bool script_is_entry_item(script_evaluator *e, const script_node *item);
bool script_mark_entry(script_evaluator *e, base_span span); /* false: reported, there was one */
/* device_entry(1, 1, 1, 128, 1, 1, attrs={...}): the form that the reference prints (script_legacy.c). */
void script_printed_launch(script_evaluator *e, const script_call *call);
/* T.ptx.FAMILY(operands..., "modifier", "", ..., flags): the name with its modifiers, which leave the
 * arguments. */
const char *script_printed_ptx(script_evaluator *e, const char *family, script_arguments *arguments);
/* for i in thread_binding(...): no loop, but an index of the launch. */
void script_for_bound(script_evaluator *e, const script_node *node, const script_loop *loop);
void script_jump(script_evaluator *e, bool is_break, base_span span);
void script_launch_finish(script_evaluator *e, base_span span);
void script_for_kernel(script_evaluator *e, const script_node *node);

/* ---- statements (script_statement.c, script_assign.c) ---- */
script_flow script_statements(script_evaluator *e, const script_nodes *body);
/* False, and reported: the name is a let, a loop variable or a parameter of the kernel. */
bool script_may_rebind(script_evaluator *e, const char *name, base_span span);
/* The items of a with from this one on, then its body. */
script_flow script_with_items(script_evaluator *e, const script_node *node, size_t from);
void script_for_loop(script_evaluator *e, const script_node *node, const script_loop *loop);

/* ---- statements in the builder's style (script_frame.c) ---- */
typedef enum script_frame_kind {
    SCRIPT_FRAME_IF,
    SCRIPT_FRAME_THEN,
    SCRIPT_FRAME_ELSE,
    SCRIPT_FRAME_WHILE,
    SCRIPT_FRAME_ROLE
} script_frame_kind;
/* Opens a frame or loop around the rest of the with; before: statements of the block before its value was
 * made. */
script_flow script_with_frame(script_evaluator *e, script_value v, const script_node *node, size_t from,
                              size_t before);
void script_frame_unopened(script_evaluator *e, script_value v); /* an error for one that stands alone */
void script_body(script_evaluator *e, ir_stmt *block, const script_nodes *body); /* own block and scope */
/* Binds a value to a fresh let, evaluated where it stands. */
script_value script_make_let(script_evaluator *e, const ir_expr *value, base_span span);
/* assert and static_assert: checked now, or a trap at run time. */
void script_check(script_evaluator *e, script_value condition, const char *message, base_span span);
void script_assign(script_evaluator *e, const script_node *target, script_value value, base_span value_span);
void script_annotated_assign(script_evaluator *e, const script_node *node);
void script_augmented_assign(script_evaluator *e, const script_node *node);
void script_define_function(script_evaluator *e, const script_node *node);
void script_import_words(script_evaluator *e, base_span span); /* every word under its own name */
/* Names that a file has without importing them. */
void script_predefine(script_evaluator *e, const script_ast *ast);
script_value script_file_attribute(script_evaluator *e, const script_file *file, const char *name,
                                   base_span span);
void script_import(script_evaluator *e, const script_node *node);
/* constants: a DICT of the parameters that a specialisation fixes, or NULL. */
void script_build_kernel(script_evaluator *e, const script_node *node, const script_value *constants,
                         ir_function **out);

const char *script_kernel_name(script_evaluator *e, const char *name); /* the name, or one with a number */
bool script_is_identifier(const char *name);

/* What words that are decorators do: the data of their rows. */
enum {
    SCRIPT_DECORATOR_KERNEL,
    SCRIPT_DECORATOR_TEMPLATE,
    SCRIPT_DECORATOR_INLINE,
    SCRIPT_DECORATOR_MACRO,
    SCRIPT_DECORATOR_META,
    SCRIPT_DECORATOR_MODULE,
    SCRIPT_DECORATOR_PROPERTY,
    SCRIPT_DECORATOR_STATIC,
    SCRIPT_DECORATOR_CLASS,
    SCRIPT_DECORATOR_RECORD,
    SCRIPT_DECORATOR_SETTER,
    SCRIPT_DECORATOR_CACHE,
    SCRIPT_DECORATOR_NOTHING /* wraps and the like */
};
/* ---- decorators, inline functions, templates (script_decorate.c, script_template.c) ---- */
script_closure *script_closure_make(script_evaluator *e, const script_node *node, const char *name);
/* The decorators of a function or class, outermost first. false: nothing is defined, and why is said or the
 * name is bound to what is not available. */
bool script_decorators(script_evaluator *e, const script_node *node, script_list **list);
script_value script_setter_of(script_evaluator *e, script_value property);
bool script_is_decorator(script_value v, int which);
script_value script_decorate(script_evaluator *e, script_value decorator, script_value v,
                             const script_node *node, base_span span);
script_value script_template_make(script_evaluator *e, const script_node *node, bool is_plain);
bool script_template_is_plain(script_value v); /* a kernel that is built when it is asked for */
/* The kernel for these constants; POISON: reported. */
script_value script_specialise(script_evaluator *e, script_template *template, script_value constants,
                               base_span span);
const script_node *script_template_node(const script_template *template);

/* ---- classes (script_class.c) ---- */
void script_define_class(script_evaluator *e, const script_node *node);
script_value script_construct(script_evaluator *e, script_class *class, script_arguments *arguments,
                              base_span span);
script_value script_object_attribute(script_evaluator *e, script_value object, const char *name,
                                     base_span span, bool *found);
void script_object_assign(script_evaluator *e, script_value object, const script_node *target,
                          script_value value, base_span value_span);
static inline bool script_is_enumeration(const script_class *class) {
    return class->kind == SCRIPT_CLASS_ENUM || class->kind == SCRIPT_CLASS_NUMBERS;
}
bool script_is_subclass(const script_class *class, const script_class *base);
/* A function of the class that the object belongs to, bound to it; NULL closure: none. */
script_closure *script_find_method(script_evaluator *e, const script_class *class, const char *name);
script_value script_call_method(script_evaluator *e, script_value object, const char *name,
                                const script_value *argument, base_span span);
script_value script_call_method_two(script_evaluator *e, script_value object, const char *name,
                                    script_value first, script_value second, base_span span);
/* Truth of a compile-time value, by __bool__ and __len__ of objects; false: it has none (IR, or reported). */
bool script_truth(script_evaluator *e, script_value v, bool *truth, base_span span);
bool script_need_truth(script_evaluator *e, script_value v, bool *truth, base_span span, const char *what);
/* str() or repr() of an object; false: it has none. */
bool script_object_text(script_evaluator *e, const script_object *object, bool repr, unsigned depth,
                        base_builder *out);
void script_name_object(script_evaluator *e, script_value object, const char *name, unsigned depth,
                        base_span span);

/* ---- which kernels a run wants (script_entry.c) ---- */
void script_choose_kernels(script_evaluator *e, const script_ast *ast, const script_options *options);

/* ---- the dialect table (script_dialect.c) ---- */
typedef enum script_word_kind {
    SCRIPT_WORD_FUNCTION,  /* called */
    SCRIPT_WORD_PROPERTY,  /* computed when read */
    SCRIPT_WORD_VALUE,     /* a marker or constant: handler makes it */
    SCRIPT_WORD_SUBSCRIPT, /* S[...], R[...] */
    SCRIPT_WORD_LATER      /* known, not supported yet */
} script_word_kind;
struct script_dialect_word {
    const char *path; /* "alloc_shared", "cuda.cta_sync", "Tensor.view", "python.len", "math.sqrt" */
    size_t size;      /* of the path */
    script_word_kind kind;
    const char *signature; /* "shape, dtype=, *, scope=" ; "name=" optional, "*rest", "**rest" */
    script_value (*handler)(script_evaluator *e, const script_call *call);
    int data; /* an op or variant for handlers that serve several words */
    const char *summary;
};
const script_dialect_word *script_word_find(const char *path);
/* The word "family.name". */
const script_dialect_word *script_word_of(const char *family, const char *name);
/* The parameters of a word's signature: those before `positional` take arguments without a name. */
typedef struct script_parameter {
    uint16_t begin; /* of its name in the signature */
    uint8_t size;
    bool is_optional;
} script_parameter;
typedef struct script_signature {
    uint16_t first; /* of the table of parameters */
    uint8_t count, positional;
    bool has_rest, has_keywords;
} script_signature;
const script_signature *script_signature_of(const script_dialect_word *word,
                                            const script_parameter **parameters);
/* The word "prefix.name", "name" for an empty prefix; a dtype; a namespace. POISON: no such word, nothing
 * reported. */
script_value script_namespace_find(script_evaluator *e, const char *prefix, const char *name);
/* Reports an unknown word of a namespace with the nearest one. */
script_value script_unknown_word(script_evaluator *e, const char *prefix, const char *name, base_span span);
void script_not_supported(script_evaluator *e, base_span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
script_value script_word_value(script_evaluator *e, const script_dialect_word *word, base_span span);

#define WORD(path, kind, signature, handler, data, summary)                                                  \
    script_value handler(script_evaluator *e, const script_call *call);
#define LATER(path, summary)
#include "script/script_dialect.def"
#undef WORD
#undef LATER
#endif
