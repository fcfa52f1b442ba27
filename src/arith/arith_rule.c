/* SPDX-License-Identifier: Apache-2.0
 * The rule table as mk/arith.awk has read it. Must not know what a rule means. */
#include "arith/arith_rule.h"

_Static_assert(IR_OP_COUNT <= UINT8_MAX, "operations in a byte");

const char arith_slot_names[ARITH_SLOTS + 1] = "xyzpqCDE";

/* Choices of one operation. */
typedef struct choice_range {
    uint16_t first, count;
} choice_range;

#include "arith_rules.inc"

const arith_rule *arith_rules(size_t *count) {
    *count = sizeof rules / sizeof *rules;
    return rules;
}

const arith_choice *arith_choices(ir_op op, size_t *count) {
    *count = by_op[op].count;
    return choices + by_op[op].first;
}
