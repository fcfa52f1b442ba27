/* SPDX-License-Identifier: Apache-2.0
 * Float quotients by a constant whose reciprocal is exact (a power of two) become products, which round the
 * same number once and so give the same bits; a product may then join a sum in one fma. In and out: flat
 * form. Only float32 and float64, which the target multiplies natively; their products keep subnormals. */
#include <math.h>
#include "lower/lower_optimise.h"
#include "num/num.h"

/* 1 / value, where that is finite and no rounding is in it. */
static bool exact_reciprocal(num_dtype dtype, double value, double *reciprocal) {
    int exponent;
    double half =
        fabs(frexp(value, &exponent)); /* value = +-half * 2^exponent; half is 0.5 of powers of two */
    *reciprocal = 1 / value;
    if (!isfinite(value) || half != 0.5 || !isfinite(*reciprocal))
        return false;
    uint64_t bits = num_encode(dtype, *reciprocal, NUM_RN, false);
    return *reciprocal != 0 && num_decode(dtype, bits) == *reciprocal;
}

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    lower_context *context = user;
    num_dtype dtype = (num_dtype)e->type.dtype;
    double reciprocal;
    if (e->op != IR_DIV || (dtype != NUM_DTYPE_F32 && dtype != NUM_DTYPE_F64))
        return e;
    const ir_expr *divisor = e->args[1]->op == IR_BROADCAST ? e->args[1]->args[0] : e->args[1];
    if (divisor->op != IR_FLOAT || !exact_reciprocal(dtype, divisor->at.real, &reciprocal))
        return e;
    const ir_expr *factor = ir_float(context->module, dtype, reciprocal);
    if (divisor != e->args[1])
        factor = ir_make(context->module, IR_BROADCAST, e->type, &factor, 1);
    return ir_binary(context->module, IR_MUL, e->args[0], factor);
}

void lower_optimise_divide(lower_context *context) {
    static const ir_where quotients = {.effects = IR_INSIDE_QUOTIENT};
    lower_rewrite_expressions(context, context->function->body, &quotients, rewrite, context);
}
