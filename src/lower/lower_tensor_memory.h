/* SPDX-License-Identifier: Apache-2.0
 * What the rules of tensor memory share: the walk over a function with its guards, the allocations seen so
 * far, and addresses taken apart. Private to src/lower/lower_tensor_memory*.c. */
#ifndef TIRC_LOWER_LOWER_TENSOR_MEMORY_H
#define TIRC_LOWER_LOWER_TENSOR_MEMORY_H
#include "lower/lower_internal.h"
#include "ptx/ptx_pattern.h"

enum { TMEM_COLUMNS = 512, TMEM_MAX_GUARDS = 64 };

typedef struct tmem_guard {
    const ir_expr *condition;
    bool negated;
    base_span span;
} tmem_guard;

/* An address taken apart: what tcgen05.alloc wrote, plus lanes and columns. */
typedef struct tmem_address {
    const ir_expr *root; /* the LOAD of a slot, or a variable; NULL: not understood */
    const ir_expr *row;  /* added to lane, or NULL */
    const ir_expr *step; /* added to column, or NULL */
    int64_t lane, column;
} tmem_address;

typedef struct tmem_event { /* one allocation, release or relinquishing */
    ptx_op op;
    int64_t columns;        /* -1: not a constant */
    const ir_tensor *slot;  /* of the allocation */
    const ir_expr *element; /* ADDRESS of the slot's element; NULL: not understood */
    tmem_address address;   /* of the release */
    base_span span;
    tmem_guard *guards;
    uint32_t guard_count;
    bool published; /* a barrier or a wait stands behind it */
    bool behind;    /* a barrier that the whole block passes stands behind it */
} tmem_event;

typedef struct tmem_capture { /* a binding that reads a slot */
    const ir_var *var;
    const ir_tensor *slot;
    const tmem_event *allocation; /* before it, not published; NULL */
    base_span span;
    bool reported;
} tmem_capture;

typedef struct tmem_walk {
    lower_context *context;
    base_arena *arena;
    base_diagnostics *diagnostics;
    base_map *lets; /* ir_var -> value */
    tmem_guard guards[TMEM_MAX_GUARDS];
    uint32_t guard_count;
    BASE_VECTOR(tmem_event *) events;
    BASE_VECTOR(tmem_capture) captures;
    BASE_VECTOR(const ir_tensor *) tensors;
    base_span span; /* of the statement */
    int64_t group;  /* the first cta_group; 0: none yet */
    base_span group_span;
    bool group_reported, lane_reported, pair_reported;
    base_span first_use;        /* of a load or store; file 0: none */
    const tmem_event *too_many; /* the first allocation over all columns, with all of them */
    int64_t too_many_columns;
    bool jumped; /* a return, break or continue before it: not all threads come here */
} tmem_walk;

/* ---- lower_tensor_memory_address.c: questions about expressions and guards; report nothing ---- */
const ir_expr *tmem_resolve(const tmem_walk *w, const ir_expr *e); /* through lets */
/* True when the condition certainly holds in some lanes of a warp only. what: how it says so. */
bool tmem_picks_lanes(const tmem_walk *w, const ir_expr *condition, bool negated, const char **what);
/* True when it certainly has the same value in all lanes of a warp. */
bool tmem_is_uniform(const tmem_walk *w, const ir_expr *e);
/* True when it has the same value in all threads of the block. */
bool tmem_is_block_uniform(const tmem_walk *w, const ir_expr *e);
/* The guards hold in all lanes of each warp that comes here. */
bool tmem_whole_warps(const tmem_walk *w);
/* The one warp that the guards let through; -1: several or unknown. */
int64_t tmem_only_warp(const tmem_walk *w);
/* Threads of a block, 0 when they are not a constant. */
int64_t tmem_threads(const tmem_walk *w);
/* The value of an operand, [value + offset] too; NULL: it is no argument. */
const ir_expr *tmem_operand(const ir_expr *e, const ptx_pattern *pattern, uint32_t operand);
/* A constant operand, written so or known; false: it is none. */
bool tmem_constant(const tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, uint32_t operand,
                   int64_t *value);
/* Which operand of ld, st, mma, cp and dealloc is the address in tensor memory. */
uint32_t tmem_address_operand(const ptx_pattern *pattern);
tmem_address tmem_operand_address(const tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern,
                                  uint32_t operand);
tmem_address tmem_address_of(const tmem_walk *w, const ir_expr *e);
/* The root reads the slot element that this allocation wrote. */
bool tmem_is_allocated_by(const tmem_address *address, const tmem_event *allocation);
/* Whoever runs what stands under these guards has run a before: a stands under no guard that is not one of
 * them. */
bool tmem_precedes(const tmem_event *a, const tmem_guard *guards, uint32_t count);
/* Columns that an instruction with this name touches: ld, st; 0: another. */
int64_t tmem_width(const char *name);
const ir_tensor *tmem_slot_of(const tmem_walk *w, const ir_expr *e); /* shared tensor that it names */
int64_t tmem_columns_of(const ir_tensor *tensor);                    /* -1: not known */

base_diagnostic *tmem_report(tmem_walk *w, base_severity severity, const char *code, base_span span,
                             const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- lower_tensor_memory_place.c: who issues it, and where it goes ---- */
/* The only allocation that writes the slot of this address; NULL: none, or several. */
const tmem_event *tmem_allocation_of(const tmem_walk *w, const tmem_address *address);
void tmem_check_place(tmem_walk *w, const ir_expr *e, const ptx_pattern *pattern, const char *name);
void tmem_check_release(tmem_walk *w, tmem_event *release);
void tmem_check_declaration(tmem_walk *w, const ir_tensor *tensor);

/* ---- lower_tensor_memory_wait.c: waits and fences along the text ---- */
void lower_tensor_memory_waits(lower_context *context);
#endif
