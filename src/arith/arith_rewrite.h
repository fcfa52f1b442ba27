/* SPDX-License-Identifier: Apache-2.0
 * Rewrites integer and truth expressions by the table arith_rules.def: each result has the same value
 * wherever the facts of the place hold, overflow included, and is cheaper. Knows no pass. */
#ifndef TIRC_ARITH_ARITH_REWRITE_H
#define TIRC_ARITH_ARITH_REWRITE_H
#include "arith/arith_prove.h"
#include "arith/arith_rule.h"

typedef struct arith_rewriter {
    base_arena *arena;
    ir_module *module;
    arith_facts *facts;
    const arith_rule *rules;
    size_t rule_count;
    uint64_t *hits; /* per rule */
    uint64_t steps; /* patterns tried */
} arith_rewriter;

/* The rewriter uses the assumptions that are open in facts when it is asked. */
arith_rewriter *arith_rewriter_create(base_arena *arena, ir_module *module, arith_facts *facts);
/* One expression whose arguments are rewritten already: for ir_expr_rewrite. */
const ir_expr *arith_rewrite(arith_rewriter *rewriter, const ir_expr *e);
/* The expression with everything inside; memory and time grow with its distinct parts. */
const ir_expr *arith_simplify(arith_rewriter *rewriter, const ir_expr *e);
#endif
