/* SPDX-License-Identifier: Apache-2.0
 * The rule table (arith_rules.def) as trees: what the rewriter matches, and what the tests evaluate and hand
 * to a prover. Knows nothing of expressions but their operations. */
#ifndef TIRC_ARITH_ARITH_RULE_H
#define TIRC_ARITH_ARITH_RULE_H
#include "ir/ir.h"

typedef enum arith_node_kind {
    ARITH_NODE_OP,       /* an operation of the IR over arguments */
    ARITH_NODE_VARIABLE, /* x y z */
    ARITH_NODE_TRUTH,    /* p q */
    ARITH_NODE_CONSTANT, /* C D E */
    ARITH_NODE_NUMBER,
    ARITH_NODE_BITS,  /* conditions only: the width of the type */
    ARITH_NODE_EXACT, /* conditions only: no operation of the argument overflows */
    ARITH_NODE_POWER,
    ARITH_NODE_MASK
} arith_node_kind;

typedef struct arith_node arith_node;
struct arith_node {
    arith_node_kind kind;
    ir_op op;
    unsigned slot;     /* of VARIABLE, TRUTH, CONSTANT: which binding */
    int64_t number;    /* NUMBER; False and True are 0 and 1 with is_truth */
    bool is_truth;     /* the value is a truth value */
    bool is_constant;  /* made of constants and numbers alone */
    unsigned exchange; /* 1 + number of this operation among those whose order does not matter; 0: it does */
    unsigned count;
    const arith_node *args[3];
};

enum { ARITH_SLOTS = 8, ARITH_CONDITIONS = 8 };
extern const char arith_slot_names[ARITH_SLOTS + 1]; /* "xyzpqCDE" */

typedef struct arith_rule {
    const char *name, *pattern_text, *result_text, *conditions_text;
    const arith_node *pattern, *result;
    unsigned condition_count, exchanges;
    const arith_node *conditions[ARITH_CONDITIONS]; /* all must hold */
    unsigned uses[ARITH_SLOTS];                     /* in the pattern */
} arith_rule;

/* Every rule, in the order of the table. A row that cannot be read gives NULL: a bug, which the tests find.
 */
const arith_rule *arith_rules_read(base_arena *arena, size_t *count);
#endif
