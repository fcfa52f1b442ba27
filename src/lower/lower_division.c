/* SPDX-License-Identifier: Apache-2.0
 * Floor division and modulo. In: FLOORDIV and FLOORMOD of any operands. Out: shifts and masks for powers of
 * two, truncating operations where the signs make them equal; the general case stays, and the writers have a
 * sequence for it. */
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

static const ir_where quotients = {.effects = IR_INSIDE_QUOTIENT};

static const ir_expr *rewrite(void *user, const ir_expr *e) {
    lower_context *context = user;
    ir_module *module = context->module;
    e = lower_under_conditions(context, e, &quotients, rewrite, context);
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
    return e;
}

void lower_division(lower_context *context) {
    if (!lower_any_inside(context->function->body, quotients.effects))
        return;
    context->facts = arith_facts_create(context->arena, context->function);
    lower_rewrite_guarded(context, context->function->body, &quotients, rewrite, context);
}
