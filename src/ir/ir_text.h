/* SPDX-License-Identifier: Apache-2.0
 * What printer and parser of the text form share: words, binding strengths, and the printer's naming.
 * docs/ir.md specifies the form. Not for other modules. */
#ifndef TIRC_IR_IR_TEXT_H
#define TIRC_IR_IR_TEXT_H
#include "ir/ir_private.h"

/* Binding strength of the infix operators; the larger binds tighter. */
enum {
    IR_BIND_ANY = 0,
    IR_BIND_OR = 1,
    IR_BIND_AND = 2,
    IR_BIND_NOT = 3,
    IR_BIND_COMPARE = 4, /* does not chain */
    IR_BIND_BITOR = 5,
    IR_BIND_BITXOR = 6,
    IR_BIND_BITAND = 7,
    IR_BIND_SHIFT = 8,
    IR_BIND_SUM = 9,
    IR_BIND_PRODUCT = 10,
    IR_BIND_UNARY = 11,
    IR_BIND_POSTFIX = 12
};
typedef struct ir_infix {
    ir_op op;
    const char *sign;
    int bind;
} ir_infix;
const ir_infix *ir_infix_of(ir_op op); /* NULL: written as a call */
const ir_infix *ir_infix_find(const char *sign, size_t size);

bool ir_op_find(const char *name, size_t size, ir_op *op);
/* "float32", "float32x4" as they stand; no aliases, so that few words are taken. */
bool ir_prim_find(const char *name, size_t size, ir_type *type);
/* A word that no variable or tensor can have as its name in the text form. */
bool ir_word_reserved(const char *name, size_t size);
const char *ir_loop_word(ir_loop_kind kind);

/* The same one-element local tensor, whether written as a scalar or with [0] (x and x[0]). */
bool ir_tensor_prints_as_scalar(const ir_tensor *tensor);
/* indices are exactly the [0] that the scalar form leaves out. */
bool ir_index_is_zero(const ir_expr *const *indices, uint32_t count);

/* Names while printing. names NULL: every thing is called as its author called it. */
typedef struct ir_printer {
    base_builder *out;
    struct ir_naming *naming;
} ir_printer;
const char *ir_printer_name(ir_printer *printer, const ir_var *var, const ir_tensor *tensor);
void ir_print_expr(ir_printer *printer, const ir_expr *e, int bind);
void ir_print_access(ir_printer *printer, const ir_expr *base, const ir_expr *index, ir_type type,
                     ir_type usual, const ir_expr *origin);
void ir_print_indices(ir_printer *printer, const ir_tensor *tensor, const ir_expr *const *indices,
                      uint32_t count);
/* The author's name as an identifier. */
void ir_print_identifier(base_builder *out, const char *name);
#endif
