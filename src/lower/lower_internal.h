/* SPDX-License-Identifier: Apache-2.0
 * What the passes share: the context of one function, the pass type, tree copies and small questions about
 * statements. Private to src/lower. */
#ifndef TIRC_LOWER_LOWER_INTERNAL_H
#define TIRC_LOWER_LOWER_INTERNAL_H
#include "arith/arith_prove.h"
#include "lower/lower.h"

/* One function on its way. Passes rewrite function in place and may add to plan. */
typedef struct lower_context {
    base_arena *arena;
    base_diagnostics *diagnostics;
    ir_module *module;
    const lower_options *options;
    ir_function *function;
    lower_plan *plan;
    arith_facts *facts; /* of the running pass; made again by every pass that asks */
    unsigned inside;    /* lower_under_conditions: how many are at work */
    base_map *answers;  /* lower_tile_memo.c's */
    void *tile_plan;    /* room for lower_tile_plan */
    size_t tile_plan_size;
} lower_context;
typedef void (*lower_pass_run)(lower_context *context);

/* Must-run passes, one per file of the same name. */
void lower_arithmetic(lower_context *context);
void lower_unwritten(lower_context *context);
void lower_tensor_memory(lower_context *context);
void lower_storage(lower_context *context);
void lower_unroll(lower_context *context);
void lower_tiles(lower_context *context);
void lower_vectorize(lower_context *context);
void lower_views(lower_context *context);
void lower_vectors(lower_context *context);
void lower_layouts(lower_context *context);
void lower_packed(lower_context *context);
void lower_simplify(lower_context *context);
void lower_division(lower_context *context);
void lower_dead(lower_context *context);
void lower_lazy(lower_context *context);
void lower_launch(lower_context *context);

/* ---- lower_lifetimes.c ---- */
/* A view that lower_views resolved, offset in its elements (NULL: none). */
void lower_note_part(lower_context *context, const ir_tensor *tensor, const ir_expr *offset);
void lower_lifetimes(lower_context *context);

/* ---- lower_tree.c ---- */
typedef BASE_VECTOR(ir_stmt *) lower_statements;
/* What a copy replaces: variables and tensors by id. */
typedef struct lower_substitution {
    ir_module *module;
    base_map *vars;    /* ir_var id -> ir_expr */
    base_map *tensors; /* ir_tensor id -> ir_tensor */
    ir_where where;
    uint64_t met; /* variables of what was rewritten so far, as in ir_expr */
    ir_memo *memo;
} lower_substitution;
void lower_substitution_start(lower_substitution *substitution, ir_module *module);
void lower_substitution_end(lower_substitution *substitution);
void lower_substitute_var(lower_substitution *substitution, const ir_var *var, const ir_expr *value);
void lower_substitute_tensor(lower_substitution *substitution, const ir_tensor *from, const ir_tensor *to);
const ir_expr *lower_substitute(lower_substitution *substitution, const ir_expr *e);
/* Deep copy; variables and tensors that the statement declares are fresh. */
ir_stmt *lower_stmt_copy(lower_substitution *substitution, const ir_stmt *statement);

/* Rebuilds every block: fn appends to out what stands instead of the statement (whose blocks are done
 * already). */
typedef void (*lower_statement_function)(void *user, ir_stmt *statement, lower_statements *out);
void lower_map_statements(lower_context *context, ir_stmt *block, lower_statement_function fn, void *user);
/* The same; the assumptions that hold at the statement are open in context->facts while fn runs. */
void lower_map_guarded(lower_context *context, ir_stmt *block, lower_statement_function fn, void *user);
/* Whether the test holds for the statement or one inside: for passes that have nothing to do in most
 * functions. */
bool lower_any_statement(const ir_stmt *statement, bool (*test)(const ir_stmt *statement));
/* lower_written.c: whether each read of a local tensor of at most so many elements comes after a write of it.
 */
enum { LOWER_WRITTEN_ELEMENTS = 1024 };
bool lower_written_first(ir_stmt *body, const ir_tensor *tensor);
/* Calls fn on every statement, outer before inner. */
void lower_visit_statements(ir_stmt *statement, void (*fn)(void *user, ir_stmt *statement), void *user);
/* Whether an expression of the statement or of one inside has any of these effects inside (ir_expr). */
bool lower_any_inside(const ir_stmt *statement, unsigned effects);
/* Rewrites every expression of every statement below, where fn may change something. */
void lower_rewrite_expressions(lower_context *context, ir_stmt *statement, const ir_where *where,
                               ir_rewrite_function fn, void *user);
/* The same; fn may ask context->facts for what holds where the expression stands. */
void lower_rewrite_guarded(lower_context *context, ir_stmt *statement, const ir_where *where,
                           ir_rewrite_function fn, void *user);
/* For fn of lower_rewrite_guarded: e with its lazy operands rewritten once more, each under its condition. */
const ir_expr *lower_under_conditions(lower_context *context, const ir_expr *e, const ir_where *where,
                                      ir_rewrite_function fn, void *user);

/* ---- lower_index.c; context->facts must be set ---- */
/* The pointer that a tensor's element numbers count from: DATA of a parameter or allocation or a pointer
 * variable, retyped to the tensor's scalar element type where that differs. */
const ir_expr *lower_base(lower_context *context, const ir_tensor *tensor);
/* The parameter or allocation behind the pointer; NULL when it is not known here. */
const ir_tensor *lower_root(const ir_tensor *tensor);
/* Number of the first scalar element at a coordinate, counted from lower_base, the layout's origin included.
 * NULL after an error was reported at span. The last index may be a RAMP: its base is taken. */
const ir_expr *lower_index(lower_context *context, const ir_tensor *tensor, const ir_expr *const *indices,
                           base_span span);
/* Whether count neighbours along the last axis, from this index on, are neighbours in storage. */
bool lower_is_contiguous(lower_context *context, const ir_tensor *tensor, const ir_expr *last, int64_t count);
/* Elements that storage of this tensor needs: highest mapped position + 1. False and a report when it is not
 * a positive constant. */
bool lower_footprint(lower_context *context, const ir_tensor *tensor, base_span span, uint64_t *elements);
/* Bytes of this many elements: 4-bit elements are packed two to a byte. */
uint64_t lower_bytes(const ir_tensor_type *type, uint64_t elements);
/* a op b, after the narrower or unsigned side of two integer types was converted. */
const ir_expr *lower_integer_binary(ir_module *module, ir_op op, const ir_expr *a, const ir_expr *b);

/* ---- lower_vectors.c; context->facts must be set ---- */
typedef enum lower_alignment { LOWER_ALIGNED, LOWER_MISALIGNED, LOWER_ALIGNMENT_UNKNOWN } lower_alignment;
/* Whether chunk neighbours from this element on are one aligned access. */
lower_alignment lower_access_alignment(lower_context *context, const ir_tensor *tensor,
                                       const ir_expr *const *indices, unsigned chunk, base_span span);
/* Most lanes of one access: 16 bytes. */
unsigned lower_chunk_limit(num_dtype dtype);

/* ---- lower_launch.c ---- */
/* How each local allocation of the function is accessed: one walk for all of them. */
typedef struct lower_locals lower_locals;
lower_locals *lower_judge_locals(const ir_function *function);
/* Whether the allocation is only ever accessed at constant indices; reason is a text for people. */
bool lower_local_is_static(const lower_locals *locals, const ir_tensor *tensor, const char **reason);
#endif
