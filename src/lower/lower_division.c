/* SPDX-License-Identifier: Apache-2.0
 * Floor division and modulo. In: FLOORDIV and FLOORMOD of any operands. Out: shifts and masks for powers of
 * two, truncating operations where the signs make them equal; for PTX the general case as truncating
 * operations and a correction, for CUDA the operation stays and the writer calls a function. */
#include "lower/lower_internal.h"
#include "num/num.h"

static bool power_of_two(const ir_expr *e, unsigned *log2) {
    int64_t value;
    if (!ir_is_int(e, &value) || value <= 0 || (value & (value - 1)))
        return false;
    for (*log2 = 0; (int64_t)1 << *log2 != value;)
        ++*log2;
    return true;
}

static bool is_unsigned(ir_type type) {
    return num_dtype_class((num_dtype)type.dtype) == NUM_UNSIGNED;
}

/* q and r truncate; they floor after one step down when r is not zero and its sign is not the divisor's. */
static const ir_expr *correct(lower_context *context, const ir_expr *e) {
    ir_module *module = context->module;
    const ir_expr *a = e->args[0], *b = e->args[1];
    const ir_expr *zero = ir_int(module, (num_dtype)a->type.dtype, 0);
    const ir_expr *one = ir_int(module, (num_dtype)a->type.dtype, 1);
    const ir_expr *r = ir_binary(module, IR_TRUNCMOD, a, b), *off;
    if (arith_is_positive(context->facts, b))
        off = ir_binary(module, IR_LT, r, zero);
    else
        off = ir_binary(module, IR_AND, ir_binary(module, IR_NE, r, zero),
                        ir_binary(module, IR_LT, ir_binary(module, IR_BITXOR, r, b), zero));
    if (e->op == IR_FLOORMOD)
        return ir_select(module, IR_SELECT, off, ir_binary(module, IR_ADD, r, b), r);
    const ir_expr *q = ir_binary(module, IR_TRUNCDIV, a, b);
    return ir_select(module, IR_SELECT, off, ir_binary(module, IR_SUB, q, one), q);
}

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    lower_context *context = user;
    ir_module *module = context->module;
    if ((e->op != IR_FLOORDIV && e->op != IR_FLOORMOD) || e->type.lanes != 1)
        return e;
    const ir_expr *a = e->args[0], *b = e->args[1];
    num_dtype dtype = (num_dtype)e->type.dtype;
    bool quotient = e->op == IR_FLOORDIV;
    unsigned log2;
    if (power_of_two(b, &log2))
        return quotient ? ir_binary(module, IR_SHR, a, ir_int(module, dtype, log2))
                        : ir_binary(module, IR_BITAND, a, ir_int(module, dtype, ((int64_t)1 << log2) - 1));
    bool same = is_unsigned(e->type) ||
                (arith_is_non_negative(context->facts, a) && arith_is_positive(context->facts, b));
    if (same)
        return ir_binary(module, quotient ? IR_TRUNCDIV : IR_TRUNCMOD, a, b);
    return context->options->goal == LOWER_FOR_PTX ? correct(context, e) : e;
}

void lower_division(lower_context *context) {
    context->facts = arith_facts_create(context->arena, context->function);
    lower_rewrite_expressions(context, context->function->body, rewrite, context);
}
