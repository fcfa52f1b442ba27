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

/* Nodes stand in one table, arguments before what they are arguments of. */
typedef struct arith_node {
    uint8_t kind;     /* arith_node_kind */
    uint8_t op;       /* ir_op */
    uint8_t slot;     /* of VARIABLE, TRUTH, CONSTANT: which binding */
    uint8_t exchange; /* 1 + number of this operation among those whose order does not matter; 0: it does */
    uint8_t count;
    bool is_truth;    /* the value is a truth value */
    bool is_constant; /* made of constants and numbers alone */
    uint8_t back[3];  /* how far before this node each argument stands */
    int32_t number;   /* NUMBER; False and True are 0 and 1 with is_truth */
} arith_node;
static inline const arith_node *arith_node_arg(const arith_node *n, unsigned i) {
    return n - n->back[i];
}

enum { ARITH_SLOTS = 8, ARITH_CONDITIONS = 8 };
extern const char arith_slot_names[ARITH_SLOTS + 1]; /* "xyzpqCDE" */

typedef struct arith_rule {
    const char *name, *pattern_text, *result_text, *conditions_text;
    const arith_node *pattern, *result;
    uint8_t condition_count, exchanges;
    const arith_node *conditions[ARITH_CONDITIONS]; /* all must hold */
    uint8_t uses[ARITH_SLOTS];                      /* in the pattern */
} arith_rule;

/* A rule with a certain operation at the root. */
typedef struct arith_choice {
    uint16_t rule;    /* its number */
    bool exchange;    /* the operands match in the other order too */
    uint8_t needs[2]; /* operation of each of the first two operands, SELECT for both of its kinds;
                         IR_OP_COUNT: any */
} arith_choice;

/* Every rule, in the order of the table; read when tirc is built (mk/arith.awk). */
const arith_rule *arith_rules(size_t *count);
/* Those for one operation, in the same order. */
const arith_choice *arith_choices(ir_op op, size_t *count);
#endif
