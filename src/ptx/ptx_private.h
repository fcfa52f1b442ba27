/* SPDX-License-Identifier: Apache-2.0
 * What the files of this module share: sizes, provenance text, and how much an operand holds. */
#ifndef TIRC_PTX_PTX_PRIVATE_H
#define TIRC_PTX_PTX_PRIVATE_H
#include "ptx/ptx.h"

/* Sets bytes from type, vector and elements; false on overflow. */
bool ptx_variable_measure(ptx_variable *variable);
/* One line "//@ ..." without newline (ptx_origin.c). */
void ptx_origin_print(const ptx_origin *origin, base_builder *out);
void ptx_operand_print(const ptx_operand *operand, base_builder *out);
int ptx_op_written(const ptx_instruction *instruction); /* leading operands that are destinations */
bool ptx_op_reads_destination(ptx_op op);
struct ptx_table;
/* Modifiers and operands of one instruction against the table, whatever the target (ptx_verify.c). */
bool ptx_verify_instruction(base_arena *arena, struct ptx_table *table, const ptx_instruction *instruction,
                            base_builder *why, base_builder *accepted);
/* ".nan" of comparisons and ".NaN" of qualifiers share an enumerator. */
const char *ptx_mod_text(ptx_op op, ptx_mod mod);
#endif
