/* SPDX-License-Identifier: Apache-2.0
 * Proofs of comparisons: by bounds and residues, and by sums that cannot overflow compared with the sums that
 * enclosing conditions and loops order. Every proof is about the values that evaluation gives, wrap-around
 * included. Bounded work for each question. Knows no pass. */
#ifndef TIRC_ARITH_ARITH_PROVE_H
#define TIRC_ARITH_ARITH_PROVE_H
#include "arith/arith_context.h"

/* True when the bool expression holds here whatever runs; false means "not proved". */
bool arith_can_prove(arith_facts *facts, const ir_expr *condition);
/* 1: a op b always holds here, -1: it never does, 0: open. op: one of the six comparisons. */
int arith_compare(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b);
/* Whether that is 1, in less work. */
bool arith_always(arith_facts *facts, ir_op op, const ir_expr *a, const ir_expr *b);
#endif
