/* SPDX-License-Identifier: Apache-2.0
 * What holds at a place of a function: scopes of assumptions on top of the facts of arith_bounds.h. A
 * condition refines the expressions it compares, and what those are made of, while its scope is open; the
 * condition itself is known, and so is the order of its two sides where neither has constant bounds.
 * Conditions that read memory say nothing: the next evaluation may differ. Knows no pass. */
#ifndef TIRC_ARITH_ARITH_CONTEXT_H
#define TIRC_ARITH_ARITH_CONTEXT_H
#include "arith/arith_bounds.h"

/* Opens a scope in which the condition has this truth value. What that says is worked out when something is
 * asked inside. */
void arith_enter(arith_facts *facts, const ir_expr *condition, bool truth);
/* Opens the scope of a loop's body: it runs, and its variable lies below its end. */
void arith_enter_loop(arith_facts *facts, const ir_stmt *loop);
/* Opens the scope of what follows a statement of the same block, when passing the statement says something
 * (`if i >= n: return`); nothing otherwise. */
void arith_enter_after(arith_facts *facts, const ir_stmt *statement);
size_t arith_depth(const arith_facts *facts);
/* Closes scopes until this many are open. */
void arith_leave_to(arith_facts *facts, size_t depth);
/* Two places with the same number have the same assumptions. */
uint64_t arith_scope_number(const arith_facts *facts);
/* Steps of work so far; for tests and bench. */
uint64_t arith_steps(const arith_facts *facts);
#endif
