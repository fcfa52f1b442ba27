/* SPDX-License-Identifier: Apache-2.0
 * What the optimise_* passes share: what an expression depends on, sums of products, facts about loops.
 * Private to src/lower. */
#ifndef TIRC_LOWER_LOWER_OPTIMISE_H
#define TIRC_LOWER_LOWER_OPTIMISE_H
#include "lower/lower_internal.h"

/* ---- lower_optimise.c ---- */
enum lower_trait {
    LOWER_READS_MEMORY = IR_INSIDE_MEMORY, /* memory, clocks, collectives: moves over nothing that writes */
    LOWER_READS_REGISTER = IR_INSIDE_REGISTER,    /* moves over no assignment of those registers */
    LOWER_EFFECT = IR_FLAG_WRITES | IR_FLAG_SYNC, /* stays where it is */
    LOWER_GUARDED = IR_INSIDE_DIVISION, /* may be wrong where the script does not evaluate it: division */
    LOWER_EXPENSIVE = IR_FLAG_BOUNDED
};
static inline unsigned lower_traits_of(const ir_expr *e) {
    return e->effects &
           (LOWER_READS_MEMORY | LOWER_READS_REGISTER | LOWER_EFFECT | LOWER_GUARDED | LOWER_EXPENSIVE);
}

/* What a statement (with everything below) defines and does. */
typedef struct lower_effects {
    base_map *defined;  /* ir_var id + 1 of LETs and loops; allocations too */
    base_map *assigned; /* ir_var id + 1 of registers */
    bool writes;        /* memory, or anything with an effect */
} lower_effects;
void lower_effects_of(lower_context *context, ir_stmt *statement, lower_effects *effects);
/* True when e has the same value everywhere in the statement: no variable of it is defined, no register
 * assigned there, and it reads no memory. */
typedef struct lower_invariance {
    const lower_effects *effects;
    ir_memo *memo;
} lower_invariance;
bool lower_is_invariant(lower_invariance *invariance, const ir_expr *e);
bool lower_has_continue(const ir_stmt *body); /* one that belongs to the loop whose body this is */

/* A signed integer expression as constant + sum of coefficient * product of atoms. */
enum { LOWER_TERM_ATOMS = 6, LOWER_TERMS = 24 };
typedef struct lower_term {
    int64_t coefficient;
    uint32_t count;
    const ir_expr *atoms[LOWER_TERM_ATOMS]; /* by id */
} lower_term;
typedef struct lower_sum {
    int64_t constant;
    uint32_t count;
    lower_term terms[LOWER_TERMS]; /* in order of first appearance */
} lower_sum;
/* False when e is not a scalar signed integer, has too many terms, or constants overflow. */
bool lower_sum_of(const ir_expr *e, lower_sum *sum);
/* Terms with keep[i], without the constant; NULL when there are none. */
const ir_expr *lower_sum_rebuild(ir_module *module, ir_type type, const lower_sum *sum, const bool *keep);

ir_stmt *lower_new_let(lower_context *context, const char *name, const ir_expr *value, base_span span);

/* ---- lower_optimise_alias.c ---- */
typedef struct lower_aliases {
    base_map *roots; /* pointer variables: ir_var id + 1 -> ir_tensor that they point into */
} lower_aliases;
void lower_aliases_start(lower_aliases *aliases, lower_context *context);
const ir_tensor *lower_pointed_tensor(const lower_aliases *aliases,
                                      const ir_expr *pointer); /* NULL: unknown */
bool lower_may_touch(const lower_aliases *aliases, const ir_expr *a, const ir_expr *b);

/* ---- lower_optimise_watch.c ---- */
/* Loads that are good until something changes what they read; numbers count from 0 since the last restart. */
typedef struct lower_watch lower_watch;
lower_watch *lower_watch_create(base_arena *arena, const lower_aliases *aliases);
void lower_watch_restart(lower_watch *watch);
/* A load through the pointer; inside: the rest of its address. */
uint32_t lower_watch_add(lower_watch *watch, const ir_expr *pointer, const ir_expr *inside);
bool lower_watch_is_good(const lower_watch *watch, uint32_t number);
void lower_watch_forget(lower_watch *watch, uint32_t number);
void lower_watch_store(lower_watch *watch, const ir_expr *pointer);
void lower_watch_assign(lower_watch *watch, const ir_var *var);
void lower_watch_all(lower_watch *watch); /* anything may have been written */

/* ---- passes, one per file ---- */
void lower_optimise_unroll(lower_context *context);
void lower_optimise_promote(lower_context *context);
void lower_optimise_propagate(lower_context *context);
void lower_optimise_divide(lower_context *context);
void lower_optimise_select(lower_context *context);
void lower_optimise_addresses(lower_context *context);
void lower_optimise_widen(lower_context *context);
void lower_optimise_induction(lower_context *context);
void lower_optimise_hoist(lower_context *context);
void lower_optimise_loads(lower_context *context);
void lower_optimise_share(lower_context *context);
void lower_optimise_dead(lower_context *context);
#endif
