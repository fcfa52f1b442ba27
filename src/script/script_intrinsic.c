/* SPDX-License-Identifier: Apache-2.0
 * Words that make one IR operation or a few: arithmetic by name, mathematics, casts, vectors, limits. */
#include "script/script_evaluate.h"
#include <math.h>
#include <string.h>

static script_value expr_or_poison(const ir_expr *x) {
    return x ? script_expr(x) : script_poison();
}

static script_value wrong_type(script_evaluator *e, const script_call *call, const char *wanted,
                               ir_type type) {
    script_error(e, "T0205", call->span, "%s takes %s, not %s", call->word->path, wanted,
                 script_type_name(e, type));
    return script_poison();
}

/* ---- operators by name ---- */

script_value script_word_operator(script_evaluator *e, const script_call *call) {
    return script_binary(e, (script_operator)call->word->data, call->value[0], call->value[1], call->span);
}

script_value script_word_unary(script_evaluator *e, const script_call *call) {
    return script_unary(e, (script_operator)call->word->data, call->value[0], call->span);
}

script_value script_word_logic(script_evaluator *e, const script_call *call) {
    return script_logic(e, (script_operator)call->word->data, call->value[0], call->value[1], call->span);
}

static script_value fold_constants(script_evaluator *e, ir_op op, script_value a, script_value b,
                                   base_span span) {
    int64_t x, y;
    bool integers = script_value_integer(a, &x) && script_value_integer(b, &y);
    script_value less = script_compare(e, SCRIPT_OP_LT, a, b, span);
    switch (op) {
    case IR_MIN:
        return script_is_poison(less) ? less : less.as.boolean ? a : b;
    case IR_MAX:
        return script_is_poison(less) ? less : less.as.boolean ? b : a;
    case IR_POW:
        return script_binary(e, SCRIPT_OP_POW, a, b, span);
    default:
        break;
    }
    if (!integers || y == 0 || (x == INT64_MIN && y == -1)) {
        script_error(e, integers ? "T0261" : "T0262", span,
                     "the quotient of these compile-time values does not exist");
        return script_poison();
    }
    return script_int(op == IR_TRUNCDIV ? x / y : x % y);
}

script_value script_word_binary(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    const ir_expr *x, *y;
    int64_t zero;
    if (!script_is_ir(call->value[0]) && !script_is_ir(call->value[1]))
        return fold_constants(e, op, call->value[0], call->value[1], call->span);
    if (!script_promote(e, call->value[0], call->value[1], &x, &y, call->span))
        return script_poison();
    if ((op == IR_TRUNCDIV || op == IR_TRUNCMOD) && !ir_type_is_integer(x->type))
        return wrong_type(e, call, "integers", x->type);
    if ((op == IR_TRUNCDIV || op == IR_TRUNCMOD) && ir_is_int(y, &zero) && zero == 0) {
        script_error(e, "T0261", call->span, "division by zero");
        return script_poison();
    }
    if (op == IR_POW && !ir_type_is_float(x->type))
        return wrong_type(e, call, "floats", x->type);
    return script_expr(ir_binary(e->module, op, x, y));
}

/* a // b rounded up: floordiv(a, b) and one more when something is left; a + b - 1 could overflow. */
script_value script_word_ceildiv(script_evaluator *e, const script_call *call) {
    script_value a = call->value[0], b = call->value[1];
    script_value quotient = script_binary(e, SCRIPT_OP_FLOORDIV, a, b, call->span);
    script_value rest = script_binary(e, SCRIPT_OP_MOD, a, b, call->span);
    if (script_is_poison(quotient) || script_is_poison(rest))
        return script_poison();
    script_value more = script_compare(e, SCRIPT_OP_NE, rest, script_int(0), call->span);
    if (more.kind == SCRIPT_VALUE_BOOL)
        return script_binary(e, SCRIPT_OP_ADD, quotient, script_int(more.as.boolean), call->span);
    return script_binary(e, SCRIPT_OP_ADD, quotient, more, call->span);
}

script_value script_word_fma(script_evaluator *e, const script_call *call) {
    const ir_expr *a, *b, *c, *common;
    if (!script_promote(e, call->value[0], call->value[1], &a, &b, call->span) ||
        !script_promote(e, script_expr(a), call->value[2], &common, &c, call->span))
        return script_poison();
    b = script_cast(e, b, common->type, call->span);
    if (!b)
        return script_poison();
    if (!ir_type_is_float(common->type))
        return wrong_type(e, call, "floats", common->type);
    return script_expr(ir_fma(e->module, common, b, c));
}

/* ---- mathematics ---- */

static double fold_real(ir_op op, double x, bool *known) {
    *known = true;
    switch (op) {
    case IR_ABS:
        return fabs(x);
    case IR_FLOOR:
        return floor(x);
    case IR_CEIL:
        return ceil(x);
    case IR_TRUNC:
        return trunc(x);
    default:
        *known = false;
        return 0;
    }
}

script_value script_word_math(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    script_value v = call->value[0];
    int64_t i;
    bool known;
    if (op == IR_ABS && script_value_integer(v, &i))
        return i < 0 ? script_unary(e, SCRIPT_OP_NEGATIVE, script_int(i), call->span) : script_int(i);
    if (v.kind == SCRIPT_VALUE_FLOAT) {
        double folded = fold_real(op, v.as.real, &known);
        if (known)
            return script_float(folded);
    }
    if (script_value_integer(v, &i))
        v = script_float((double)i);
    const ir_expr *x = script_to_expr(e, v, call->span);
    if (!x)
        return script_poison();
    bool integer = ir_type_is_integer(x->type);
    if (integer && (op == IR_FLOOR || op == IR_CEIL || op == IR_TRUNC || op == IR_ROUND))
        return script_expr(x);
    if (integer && (op == IR_ISNAN || op == IR_ISINF))
        return script_expr(ir_bool(e->module, false));
    if (!ir_type_is_float(x->type) && !(integer && op == IR_ABS)) {
        script_value wrong = wrong_type(e, call, "a float", x->type);
        return wrong;
    }
    return script_expr(ir_unary(e->module, op, x));
}

/* roundf: ties away from zero; exact, since x - trunc(x) is. */
script_value script_word_round(script_evaluator *e, const script_call *call) {
    const ir_expr *x = script_to_expr(e, call->value[0], call->span);
    if (!x || ir_type_is_integer(x->type))
        return expr_or_poison(x);
    if (!ir_type_is_float(x->type))
        return wrong_type(e, call, "a float", x->type);
    script_value value = script_expr(x), whole = script_expr(ir_unary(e->module, IR_TRUNC, x));
    script_value rest = script_binary(e, SCRIPT_OP_SUB, value, whole, call->span);
    const ir_expr *left = script_to_expr(e, rest, call->span);
    script_value far = script_compare(e, SCRIPT_OP_GE, script_expr(ir_unary(e->module, IR_ABS, left)),
                                      script_float(0.5), call->span);
    script_value negative = script_compare(e, SCRIPT_OP_LT, value, script_float(0), call->span);
    if (!script_is_ir(far) || !script_is_ir(negative))
        return script_poison();
    const ir_expr *sign = script_to_condition(e, negative, call->span, "a sign");
    script_value up = script_binary(e, SCRIPT_OP_ADD, whole, script_float(1), call->span);
    script_value down = script_binary(e, SCRIPT_OP_SUB, whole, script_float(1), call->span);
    script_value away = script_choose(e, IR_SELECT, sign, down, up, call->span);
    const ir_expr *condition = script_to_condition(e, far, call->span, "a tie");
    return script_choose(e, IR_SELECT, condition, away, whole, call->span);
}

static const ir_expr *float_argument(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    int64_t i;
    if (script_value_integer(v, &i))
        v = script_float((double)i);
    const ir_expr *x = script_to_expr(e, v, call->span);
    if (x && !ir_type_is_float(x->type)) {
        wrong_type(e, call, "a float", x->type);
        return NULL;
    }
    return x;
}

/* Two floats of one type; numbers known while compiling become float32, as alone. The exact remainder of
 * float64 has no sequence yet. */
script_value script_word_math_pair(script_evaluator *e, const script_call *call) {
    ir_op op = (ir_op)call->word->data;
    script_value v[2] = {call->value[0], call->value[1]};
    const ir_expr *x, *y;
    bool constants = !script_is_ir(v[0]) && !script_is_ir(v[1]);
    for (int i = 0; constants && i < 2; i++) {
        int64_t whole;
        if (script_value_integer(v[i], &whole))
            v[i] = script_float((double)whole);
        x = script_to_expr(e, v[i], call->place[i]);
        if (!x)
            return script_poison();
        v[i] = script_expr(x);
    }
    if (!script_promote(e, v[0], v[1], &x, &y, call->span))
        return script_poison();
    if (!ir_type_is_float(x->type))
        return wrong_type(e, call, "floats", x->type);
    return script_expr(ir_binary(e->module, op, x, y));
}

script_value script_word_sigmoid(script_evaluator *e, const script_call *call) {
    const ir_expr *x = float_argument(e, call);
    if (!x)
        return script_poison();
    const ir_expr *power = ir_unary(e->module, IR_EXP, ir_unary(e->module, IR_NEG, x));
    script_value below = script_binary(e, SCRIPT_OP_ADD, script_expr(power), script_float(1), call->span);
    return script_binary(e, SCRIPT_OP_DIV, script_float(1), below, call->span);
}

script_value script_word_isfinite(script_evaluator *e, const script_call *call) {
    const ir_expr *x = float_argument(e, call);
    if (!x)
        return script_poison();
    const ir_expr *not_finite =
        ir_binary(e->module, IR_OR, ir_unary(e->module, IR_ISNAN, x), ir_unary(e->module, IR_ISINF, x));
    return script_expr(ir_unary(e->module, IR_NOT, not_finite));
}

script_value script_word_bits(script_evaluator *e, const script_call *call) {
    const ir_expr *x = script_to_expr(e, call->value[0], call->span);
    if (!x)
        return script_poison();
    if (!ir_type_is_integer(x->type))
        return wrong_type(e, call, "an integer", x->type);
    return script_expr(ir_unary(e->module, (ir_op)call->word->data, x));
}

script_value script_word_select(script_evaluator *e, const script_call *call) {
    bool truth;
    if (call->value[0].kind == SCRIPT_VALUE_BOOL && script_value_truth(call->value[0], &truth))
        return call->value[truth ? 1 : 2];
    const ir_expr *condition = script_to_condition(e, call->value[0], call->place[0], "the condition");
    return condition ? script_choose(e, (ir_op)call->word->data, condition, call->value[1], call->value[2],
                                     call->span)
                     : script_poison();
}

/* ---- conversions ---- */

script_value script_word_cast(script_evaluator *e, const script_call *call) {
    int dtype_at = call->word->data == 1 ? 0 : 1;
    ir_type type;
    script_value v = call->value[1 - dtype_at];
    if (!script_to_dtype(e, call->value[dtype_at], &type, call->place[dtype_at]))
        return script_poison();
    if (type.lanes == 1 && script_is_ir(v)) { /* a vector keeps its lanes */
        const ir_expr *x = script_to_expr(e, v, call->place[1 - dtype_at]);
        if (!x)
            return script_poison();
        if (x->type.kind == IR_TYPE_PRIM)
            type.lanes = x->type.lanes;
        v = script_expr(x);
    }
    return expr_or_poison(script_to_type(e, v, type, call->place[1 - dtype_at]));
}

script_value script_word_reinterpret(script_evaluator *e, const script_call *call) {
    ir_type type;
    script_value to = call->value[0];
    if (to.kind == SCRIPT_VALUE_TYPE && to.as.type.kind == IR_TYPE_POINTER)
        type = to.as.type;
    else if (to.kind == SCRIPT_VALUE_WORD && strcmp(to.as.word->path, "handle") == 0)
        type = ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_GLOBAL);
    else if (to.kind == SCRIPT_VALUE_STRING && strcmp(to.as.string.text, "handle") == 0)
        type = ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_GLOBAL);
    else if (!script_to_dtype(e, to, &type, call->place[0]))
        return script_poison();
    const ir_expr *x = script_to_expr(e, call->value[1], call->place[1]);
    if (!x)
        return script_poison();
    /* a type that names no memory stays in that of the pointer */
    if (type.kind == IR_TYPE_POINTER && x->type.kind == IR_TYPE_POINTER && type.scope == IR_SCOPE_GLOBAL)
        type.scope = x->type.scope;
    if (type.kind == IR_TYPE_POINTER && ir_type_is_integer(x->type) &&
        num_dtype_bits((num_dtype)x->type.dtype) < 64)
        x = ir_cast(e->module, ir_type_prim(NUM_DTYPE_U64, 1), x);
    unsigned from = x->type.kind == IR_TYPE_POINTER ? 64
                    : x->type.kind == IR_TYPE_PRIM  ? num_dtype_bits((num_dtype)x->type.dtype) * x->type.lanes
                                                    : 0;
    unsigned bits = type.kind == IR_TYPE_POINTER ? 64 : num_dtype_bits((num_dtype)type.dtype) * type.lanes;
    if (from != bits) {
        base_diagnostic *d =
            script_error(e, "T0233", call->span, "%s has %u bits, %s has %u", script_type_name(e, x->type),
                         from, script_type_name(e, type), bits);
        base_help(e->diagnostics, d, "T.cast converts the value");
        return script_poison();
    }
    if (ir_type_equal(x->type, type))
        return script_expr(x);
    if (x->type.kind == IR_TYPE_PRIM && type.kind == IR_TYPE_PRIM && x->type.lanes == 1 && type.lanes == 1)
        return script_expr(ir_reinterpret(e->module, type, x));
    return script_expr(ir_make(e->module, IR_REINTERPRET, type, &x, 1));
}

script_value script_word_limit(script_evaluator *e, const script_call *call) {
    ir_type type = ir_type_prim(NUM_DTYPE_F32, 1);
    int which = call->word->data;
    if (call->given[0] && !script_to_dtype(e, call->value[0], &type, call->place[0]))
        return script_poison();
    num_dtype dtype = (num_dtype)type.dtype;
    if (num_dtype_is_float(dtype)) {
        double huge = (double)__builtin_inff();
        /* the largest finite value: what saturation gives */
        double finite = dtype == NUM_DTYPE_F64 ? 1.7976931348623157e308
                                               : num_decode(dtype, num_encode(dtype, 1e300, NUM_RN, true));
        double least = dtype == NUM_DTYPE_F8E8M0FNU ? num_decode(dtype, 0) : -finite; /* it has no sign */
        double value = which == 2 ? huge : which == 1 ? finite : least;
        return script_expr(ir_float(e->module, dtype, value));
    }
    if (which == 2 || dtype == NUM_DTYPE_BOOL)
        return wrong_type(e, call, which == 2 ? "a float type" : "a number type", type);
    return script_expr(
        ir_int(e->module, dtype, which == 1 ? (int64_t)num_maximum(dtype) : num_minimum(dtype)));
}

/* ---- vectors ---- */

static bool lane_count(script_evaluator *e, const script_call *call, size_t index, int64_t *lanes) {
    if (!script_constant_int(e, call->value[index], lanes, call->place[index], "a number of lanes"))
        return false;
    if (*lanes >= 1 && *lanes <= 64)
        return true;
    script_error(e, "T0234", call->place[index], "a vector of %lld lanes; 1 to 64 are possible",
                 (long long)*lanes);
    return false;
}

script_value script_word_ramp(script_evaluator *e, const script_call *call) {
    int64_t lanes;
    const ir_expr *args[2];
    if (!lane_count(e, call, 2, &lanes) ||
        !script_promote(e, call->value[0], call->value[1], &args[0], &args[1], call->span))
        return script_poison();
    ir_type type = args[0]->type;
    if (!ir_type_is_integer(type) || type.lanes != 1)
        return wrong_type(e, call, "integers", type);
    if (lanes == 1)
        return script_expr(args[0]);
    return script_expr(
        ir_make(e->module, IR_RAMP, ir_type_prim((num_dtype)type.dtype, (unsigned)lanes), args, 2));
}

script_value script_word_broadcast(script_evaluator *e, const script_call *call) {
    int64_t lanes;
    const ir_expr *x = script_to_expr(e, call->value[0], call->place[0]);
    if (!x || !lane_count(e, call, 1, &lanes))
        return script_poison();
    if (x->type.kind != IR_TYPE_PRIM || x->type.lanes != 1)
        return wrong_type(e, call, "a scalar", x->type);
    if (lanes == 1)
        return script_expr(x);
    return script_expr(
        ir_make(e->module, IR_BROADCAST, ir_type_prim((num_dtype)x->type.dtype, (unsigned)lanes), &x, 1));
}

/* ---- others ---- */

script_value script_word_likely(script_evaluator *e, const script_call *call) {
    (void)e;
    return call->value[0];
}

script_value script_word_evaluate(script_evaluator *e, const script_call *call) {
    if (!script_need_kernel(e, call->span, "evaluate"))
        return script_poison();
    if (call->value[0].kind == SCRIPT_VALUE_EXPR && ir_expr_has_effect(call->value[0].as.expr)) {
        ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_EVALUATE, e->statement);
        statement->as.evaluate.value = call->value[0].as.expr;
        script_emit(e, statement);
    } else if (call->value[0].kind == SCRIPT_VALUE_TENSOR && !script_is_single(call->value[0].as.tensor)) {
        script_to_expr(e, call->value[0], call->place[0]); /* says why a tensor is no value */
    }
    return script_none();
}

script_value script_word_static_assert(script_evaluator *e, const script_call *call) {
    const script_value *message = script_argument_of(call, "message");
    bool truth;
    if (!script_value_truth(call->value[0], &truth)) {
        script_constant_bool(e, call->value[0], &truth, call->place[0], "the condition of static_assert");
        return script_none();
    }
    script_check(e, script_bool(truth),
                 message && message->kind == SCRIPT_VALUE_STRING ? message->as.string.text : NULL,
                 call->span);
    return script_none();
}
