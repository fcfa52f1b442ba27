/* SPDX-License-Identifier: Apache-2.0
 * What the files of ir share among themselves: raw interning, type inference, scratch for walks.
 * Not for other modules. */
#ifndef TIRC_IR_IR_PRIVATE_H
#define TIRC_IR_IR_PRIVATE_H
#include "ir/ir.h"
#include "num/num.h"

/* The attribute of an expression, as the union of struct ir_expr. */
typedef union ir_attribute {
    uint64_t bits;
    int64_t integer;
    double real;
    const char *string;
    const ir_var *var;
    const ir_tensor *tensor;
    const ir_expr *origin;
} ir_attribute;

/* One walk over expressions: a stamp per expression id, and a stack. Reused, as walks are many and short. */
typedef struct ir_scratch {
    uint32_t *stamps, capacity, stamp;
    struct ir_frame {
        const ir_expr *e;
        uint32_t next;
    } * stack;
    size_t stack_count, stack_capacity;
} ir_scratch;

enum { IR_RECENT_INTS = 128 };

struct ir_intern {
    const ir_expr **slots;
    uint32_t *hashes;                    /* of the slots; 0: free */
    size_t capacity, count, room;        /* it grows when count reaches room */
    unsigned shift;                      /* 32 - log2 of the capacity */
    const ir_expr *ints[IR_RECENT_INTS]; /* INTs that were made last, by type and value: the most are small */
    BASE_VECTOR(ir_scratch *) scratches; /* one per level of walks inside walks */
    size_t scratch_level;
    ir_memo *memos; /* that nobody uses now */
    /* Modules that share a table (the struct copied, as lowering does) count with it. */
    uint32_t next_expr, next_var, next_tensor;
};

/* Interns exactly this expression; no folding. */
const ir_expr *ir_intern_expr(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args,
                              uint32_t count, ir_attribute attribute);

/* What kind of attribute an op carries. */
typedef enum ir_attribute_kind {
    IR_ATTRIBUTE_NONE,
    IR_ATTRIBUTE_INTEGER,
    IR_ATTRIBUTE_REAL,
    IR_ATTRIBUTE_STRING,
    IR_ATTRIBUTE_VAR,
    IR_ATTRIBUTE_TENSOR,
    IR_ATTRIBUTE_ORIGIN
} ir_attribute_kind;
ir_attribute_kind ir_op_attribute(ir_op op);

/* The type that the op gives over these arguments; false when the arguments alone do not say (cast, int ...).
 * The text form writes a type exactly where it differs from this. */
bool ir_infer(ir_op op, const ir_expr *const *args, uint32_t count, ir_attribute attribute, ir_type *type);

/* The constant inside e: a scalar, or broadcast to every lane; NULL when e is neither. */
static inline const ir_expr *ir_constant(const ir_expr *e) {
    if (e->op == IR_BROADCAST)
        e = e->args[0];
    return e->op == IR_INT || e->op == IR_FLOAT ? e : NULL;
}
/* Value of op over constants (scalars, or vectors where all lanes are equal); NULL when it does not fold. */
const ir_expr *ir_fold_constants(ir_module *module, ir_op op, ir_type type, const ir_expr *const *args,
                                 uint32_t count);

/* ir_expr_rewrite without folding on the way up. */
const ir_expr *ir_expr_rewrite_plainly(ir_module *module, const ir_expr *e, const ir_where *where,
                                       ir_rewrite_function fn, void *user, ir_memo *memo);

ir_type ir_tensor_element(const ir_tensor *tensor);
#endif
