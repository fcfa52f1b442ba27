/* SPDX-License-Identifier: Apache-2.0
 * What the lowerings of tile operations share: an operation read into operands, the questions about its
 * regions, and the walk that gives every element to a thread. Private to src/lower. */
#ifndef TIRC_LOWER_LOWER_TILE_H
#define TIRC_LOWER_LOWER_TILE_H
#include "lower/lower_internal.h"

enum { LOWER_TILE_OPERANDS = 6, LOWER_TILE_AXES = 16 };

/* Part of a tensor. size: the extent where it is a constant, else -1. */
typedef struct lower_tile_region {
    ir_tensor *tensor;
    uint32_t rank;
    const ir_expr *start[LOWER_TILE_AXES], *extent[LOWER_TILE_AXES];
    int64_t size[LOWER_TILE_AXES];
    bool is_spread; /* registers whose layout says which thread holds what */
} lower_tile_region;

typedef struct lower_tile_operand {
    bool is_region;
    lower_tile_region region;
    const ir_expr *value; /* else: one number for every element */
} lower_tile_operand;

typedef struct lower_tile {
    lower_context *context;
    ir_module *module;
    const ir_expr *call; /* TILE */
    base_span span;
    const char *name, *dispatch;
    layout_scope scope;
    int64_t threads;       /* of the scope; 0: not a constant */
    const ir_expr *thread; /* index within the scope */
    uint32_t count;
    lower_tile_operand operands[LOWER_TILE_OPERANDS];
    lower_statements *out; /* what stands instead of the operation */
    void *plan;            /* of the way that was asked last and did not refuse */
} lower_tile;

/* ---- lower_tile.c ---- */
/* Room for what a way finds out when it is asked, in op->plan for when it is taken; until the next one is
 * asked. */
void *lower_tile_plan(lower_tile *op, size_t size);
/* Value of an attribute, NULL when it was not given; nth counts those of one name. */
const ir_expr *lower_tile_attribute(const lower_tile *op, const char *name, uint32_t nth);
/* An attribute that is a constant of the compilation; `otherwise` when it was not given. */
int64_t lower_tile_constant(const lower_tile *op, const char *name, int64_t otherwise);
bool lower_tile_read_region(lower_context *context, const ir_expr *region, lower_tile_region *out);
const char *lower_tile_scope_word(layout_scope scope); /* "thread", "warp", "warpgroup", "cta", "cluster" */
/* "As[0:128, 0:64] (shared, float16)", for messages. */
const char *lower_tile_region_text(lower_context *context, const lower_tile_region *region);
ir_stmt *lower_tile_store(lower_tile *op, const ir_tensor *tensor, const ir_expr *const *indices,
                          uint32_t count, const ir_expr *value);
/* A fresh loop variable that counts from 0 below extent, known to the facts. */
ir_var *lower_tile_counter(lower_tile *op, const char *name, const ir_expr *extent);
/* The loop around a block; UNROLL stands for whatever suits the goal. */
ir_stmt *lower_tile_loop(lower_tile *op, ir_var *var, const ir_expr *extent, bool unrolled, ir_stmt *body);
ir_stmt *lower_tile_if(lower_tile *op, const ir_expr *condition, ir_stmt *body);
const ir_expr *lower_tile_int(const lower_tile *op, int64_t value);
const ir_expr *lower_tile_integer(const lower_tile *op, ir_op operation, const ir_expr *a, const ir_expr *b);

/* Whether the scope is the whole block. */
bool lower_tile_is_block(const lower_tile *op);
/* The first way that takes an operation, as if a script had said it: NULL or what the last one lacks. */
const char *lower_tile_refuse_any(lower_tile *op);
void lower_tile_emit_any(lower_tile *op);

/* ---- lower_tile_compound.c ---- */
/* The barrier of a warp or a block. */
void lower_tile_meet(lower_tile *op);

/* ---- lower_tile_spread.c: registers that a layout spreads over threads ---- */
/* One factor of a dimension of the walk: where its steps go in each operand. */
typedef struct lower_tile_digit {
    int64_t extent, weight;              /* weight: elements of its dimension per step */
    bool is_thread;                      /* a number of the thread; else a step through the slots */
    int64_t stride[LOWER_TILE_OPERANDS]; /* threads, or slots of each spread operand */
    uint32_t dimension;
} lower_tile_digit;

/* ---- lower_tile_walk.c ---- */
/* How the elements of an operation are gone through, decided before anything is written. */
typedef struct lower_tile_walk {
    lower_tile *op;
    uint32_t rank; /* dimensions: the axes of the first operand that are longer than 1 */
    int64_t size[LOWER_TILE_AXES];
    const ir_expr *extent[LOWER_TILE_AXES];
    /* of each operand and axis the dimension that it follows, -1 for none */
    int dimension[LOWER_TILE_OPERANDS][LOWER_TILE_AXES];
    int primary; /* the spread operand that says which thread does what, or -1 */
    BASE_VECTOR(lower_tile_digit) digits;
    int64_t slot_offset[LOWER_TILE_OPERANDS];
    const ir_expr *slot_moved[LOWER_TILE_OPERANDS]; /* offset that only a run knows, or NULL */
    int64_t holders;                                /* threads that hold something */
    int64_t replica_extent, replica_stride;         /* copies of every element, one thread speaks */
    bool reduces; /* the second operand has one element for many of the first */
    bool alone;   /* every thread does all of it: thread scope, or registers of its own */
} lower_tile_walk;
/* NULL, or why these operands cannot be walked together. */
const char *lower_tile_walk_start(lower_tile *op, lower_tile_walk *walk);
const char *lower_tile_spread_start(lower_tile_walk *walk);

/* One operand at one place of the walk: an element, or `lanes` neighbours. */
typedef struct lower_tile_place {
    const ir_tensor *tensor;
    const ir_expr *indices[LOWER_TILE_AXES];
    uint32_t count;
    unsigned lanes;
} lower_tile_place;
typedef void (*lower_tile_body)(lower_tile *op, const lower_tile_place *places, unsigned lanes,
                                ir_stmt *block, void *user);
/* Neighbours that one access moves, without spread operands. */
unsigned lower_tile_walk_lanes(lower_tile_walk *walk);
/* Writes the loops, with the body at every place. */
void lower_tile_walk_emit(lower_tile_walk *walk, lower_tile_body body, void *user);
/* Declares the slots of this thread as a plain array over the same registers. */
ir_tensor *lower_tile_slots(lower_tile *op, const ir_tensor *tensor);
const ir_expr *lower_tile_load(lower_tile *op, const lower_tile_place *place, unsigned lanes);

/* ---- lower_tile_scope.c ---- */
typedef struct lower_tile_guards lower_tile_guards;
lower_tile_guards *lower_tile_guards_create(lower_context *context);
void lower_tile_guards_let(lower_tile_guards *guards, const ir_var *var, const ir_expr *value);
typedef enum lower_tile_guard {
    LOWER_TILE_BOUND, /* of a loop: its value decides how often */
    LOWER_TILE_HOLDS,
    LOWER_TILE_FAILS
} lower_tile_guard;
void lower_tile_guards_push(lower_tile_guards *guards, const ir_expr *condition, base_span span,
                            lower_tile_guard kind);
void lower_tile_guards_pop(lower_tile_guards *guards);
/* Reports when the threads of the scope do not come here together. */
/* Reports when more than one thread comes here for certain. */
bool lower_tile_guards_single(lower_tile_guards *guards, const lower_tile *op);
bool lower_tile_guards_check(lower_tile_guards *guards, const lower_tile *op);

/* ---- the lowerings: NULL or why not; then what does it ---- */
const char *lower_tile_refuse_map(lower_tile *op);
void lower_tile_emit_map(lower_tile *op);
const char *lower_tile_refuse_ldmatrix(lower_tile *op);
void lower_tile_emit_ldmatrix(lower_tile *op);
const char *lower_tile_refuse_compound(lower_tile *op);
void lower_tile_emit_compound(lower_tile *op);
const char *lower_tile_refuse_permute(lower_tile *op);
void lower_tile_emit_permute(lower_tile *op);
const char *lower_tile_refuse_reduce_alone(lower_tile *op);
void lower_tile_emit_reduce_alone(lower_tile *op);
const char *lower_tile_refuse_reduce_groups(lower_tile *op);
void lower_tile_emit_reduce_groups(lower_tile *op);
const char *lower_tile_refuse_reduce_spread(lower_tile *op);
void lower_tile_emit_reduce_spread(lower_tile *op);
const char *lower_tile_refuse_ldgsts(lower_tile *op);
void lower_tile_emit_ldgsts(lower_tile *op);
const char *lower_tile_refuse_mma_sync(lower_tile *op);
void lower_tile_emit_mma_sync(lower_tile *op);
const char *lower_tile_refuse_cp(lower_tile *op);
void lower_tile_emit_cp(lower_tile *op);
const char *lower_tile_refuse_dsmem(lower_tile *op);
void lower_tile_emit_dsmem(lower_tile *op);
const char *lower_tile_refuse_tma(lower_tile *op);
void lower_tile_emit_tma(lower_tile *op);
const char *lower_tile_refuse_tmem(lower_tile *op);
void lower_tile_emit_tmem(lower_tile *op);
const char *lower_tile_refuse_mma(lower_tile *op);
void lower_tile_emit_mma(lower_tile *op);

/* ---- lower_tile_memo.c ---- */
/* The answer to a question that was asked before in this function; the question is bytes that say all of it.
 */
bool lower_tile_recall(lower_tile *op, const void *question, size_t size, int64_t *value);
int64_t lower_tile_remember(lower_tile *op, const void *question, size_t size, int64_t value);
#endif
