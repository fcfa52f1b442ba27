/* SPDX-License-Identifier: Apache-2.0
 * Constant bounds and modular sets of integer expressions. Facts are sound under wrap-around: what may
 * overflow its type has no bounds, and keeps only the power-of-two part of its modulus. Immutable lets and
 * loop variables carry facts; memory and mutable registers never do. Knows no pass. */
#ifndef TIRC_ARITH_ARITH_BOUNDS_H
#define TIRC_ARITH_ARITH_BOUNDS_H
#include "ir/ir.h"

/* low <= value <= high. known false: nothing is known beyond the type (all of uint64, floats, vectors). */
typedef struct arith_range {
    bool known;
    int64_t low, high;
} arith_range;

/* value = modulus * k + remainder. modulus 0: the value is remainder; 1: nothing known;
 * otherwise 0 <= remainder < modulus. */
typedef struct arith_modular {
    int64_t modulus, remainder;
} arith_modular;

typedef struct arith_facts arith_facts;
/* Facts of every variable of a function, by one walk over its statements; index queries get their ranges from
 * the launch. function NULL: no variable has facts until arith_bind gives some. */
arith_facts *arith_facts_create(base_arena *arena, const ir_function *function);
/* The walk is made at the first question: for who asks seldom, and changes nothing before. */
arith_facts *arith_facts_create_later(base_arena *arena, const ir_function *function);
/* Gives back what the module lent. May be asked no more; NULL: nothing to do. */
void arith_facts_release(arith_facts *facts);
/* The seam for callers that know more (guards, launch sizes): before the first question about the variable.
 */
void arith_bind(arith_facts *facts, const ir_var *var, arith_range range, arith_modular modular);

arith_range arith_bounds(arith_facts *facts, const ir_expr *e);
arith_modular arith_modular_set(arith_facts *facts, const ir_expr *e);
/* Proofs; false means "not proved". */
bool arith_is_non_negative(arith_facts *facts, const ir_expr *e);
bool arith_is_positive(arith_facts *facts, const ir_expr *e);
bool arith_is_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor);
bool arith_is_never_multiple(arith_facts *facts, const ir_expr *e, int64_t divisor);
/* True when the value is one constant whatever runs. */
bool arith_is_constant(arith_facts *facts, const ir_expr *e, int64_t *value);
#endif
