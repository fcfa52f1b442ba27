/* SPDX-License-Identifier: Apache-2.0
 * What the verifier's files share: the instruction being checked, and why an operand did not fit. */
#ifndef TIRC_PTX_PTX_VERIFY_H
#define TIRC_PTX_PTX_VERIFY_H
#include "ptx/ptx_table.h"

typedef struct ptx_verifier {
    const ptx_module *module;
    base_diagnostics *diagnostics;
    base_arena *arena;
    ptx_table *table;
    const ptx_function *function;
    const ptx_instruction *instruction;
    unsigned sm;
    char suffix; /* of the target: 0, 'a', 'f' */
    unsigned version;
    bool any_target;            /* form and operands only */
    bool destination, in_group; /* the operand being checked is written; is part of a pair or vector */
    base_map *fitting;          /* signature -> ptx_form that takes it; NULL: not kept */
    char why[200];              /* why the last operand rule did not hold */
} ptx_verifier;

/* Whether the operands go with the form. reached: the operand that failed; UINT32_MAX: their number is wrong.
 */
bool ptx_verify_operands(ptx_verifier *v, const ptx_form *form, unsigned *reached);
#endif
