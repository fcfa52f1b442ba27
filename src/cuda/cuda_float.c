/* SPDX-License-Identifier: Apache-2.0
 * Float operations and conversions. half and bfloat16 have their own sums and products; everything else of
 * the narrow types is computed in float and rounded once: for + - * / sqrt that is the exact result, as float
 * has more than twice their digits and two more. Knows nothing of memory. */
#include "cuda/cuda_internal.h"
#include "num/num.h"

static num_dtype dtype_of(const ir_expr *e) {
    return (num_dtype)e->type.dtype;
}
static bool is_float(const ir_expr *e) {
    return e->type.kind == IR_TYPE_PRIM && num_dtype_is_float(dtype_of(e));
}
/* A type whose arithmetic is done in float. */
static bool is_narrow(num_dtype dtype) {
    return num_dtype_is_float(dtype) && num_dtype_bits(dtype) <= 16;
}
static bool is_16(num_dtype dtype) {
    return dtype == NUM_DTYPE_F16 || dtype == NUM_DTYPE_BF16;
}

/* ---- to and from float ---- */
static void own_conversion(cuda_writer *w, const char *name, num_dtype dtype) {
    const num_format *f = num_format_of(dtype);
    cuda_use(w, HELPER_NARROW);
    base_builder_format(w->out, "%s<%u, %d, %d>(", name, f->mantissa_bits, f->bias,
                        f->special == NUM_SPECIAL_SIGN);
}

static void as_float(cuda_writer *w, const ir_expr *e) {
    num_dtype dtype = dtype_of(e);
    if (!is_narrow(dtype)) {
        cuda_expr(w, e, true);
        return;
    }
    if (is_16(dtype)) {
        cuda_apply(w, dtype == NUM_DTYPE_F16 ? "__half2float" : "__bfloat162float", &e, 1);
        return;
    }
    if (cuda_is_own_float(dtype))
        own_conversion(w, "tirc_from_float8", dtype);
    else
        base_builder_string(w->out, "((float)");
    cuda_expr(w, e, !cuda_is_own_float(dtype));
    base_builder_char(w->out, ')');
}

/* Opens the rounding to a narrow type; ")" closes it. */
static void round_to(cuda_writer *w, num_dtype dtype) {
    if (cuda_is_own_float(dtype)) {
        own_conversion(w, "tirc_to_float8", dtype);
        return;
    }
    const char *type = cuda_scalar(w, dtype);
    base_builder_format(w->out, "%s(",
                        dtype == NUM_DTYPE_F16    ? "__float2half_rn"
                        : dtype == NUM_DTYPE_BF16 ? "__float2bfloat16_rn"
                                                  : type);
}

/* ---- operations ---- */
typedef struct math_row {
    ir_op op;
    const char *single, *wide;
} math_row;

static const math_row functions[] = {
    {IR_FLOOR, "floorf", "floor"}, {IR_CEIL, "ceilf", "ceil"},    {IR_TRUNC, "truncf", "trunc"},
    {IR_ROUND, "rintf", "rint"},   {IR_SQRT, "sqrtf", "sqrt"},    {IR_RSQRT, "rsqrtf", "rsqrt"},
    {IR_EXP, "expf", "exp"},       {IR_EXP2, "exp2f", "exp2"},    {IR_LOG, "logf", "log"},
    {IR_LOG2, "log2f", "log2"},    {IR_LOG10, "log10f", "log10"}, {IR_SIN, "sinf", "sin"},
    {IR_COS, "cosf", "cos"},       {IR_TANH, "tanhf", "tanh"},    {IR_POW, "powf", "pow"},
    {IR_ERF, "erff", "erf"},       {IR_ABS, "fabsf", "fabs"},     {IR_MIN, "fminf", "fmin"},
    {IR_MAX, "fmaxf", "fmax"},     {IR_FMA, "fmaf", "fma"},       {IR_TAN, "tanf", "tan"},
    {IR_ASIN, "asinf", "asin"},    {IR_ACOS, "acosf", "acos"},    {IR_ATAN, "atanf", "atan"},
    {IR_ATAN2, "atan2f", "atan2"}, {IR_SINH, "sinhf", "sinh"},    {IR_COSH, "coshf", "cosh"},
    {IR_ASINH, "asinhf", "asinh"}, {IR_ACOSH, "acoshf", "acosh"}, {IR_ATANH, "atanhf", "atanh"},
    {IR_EXP10, "exp10f", "exp10"}, {IR_EXPM1, "expm1f", "expm1"}, {IR_LOG1P, "log1pf", "log1p"},
    {IR_CBRT, "cbrtf", "cbrt"},    {IR_HYPOT, "hypotf", "hypot"}, {IR_FMOD, "fmodf", "fmod"},
};

static const math_row *find_function(ir_op op) {
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (functions[i].op == op)
            return &functions[i];
    return NULL;
}

static const char *operator_text(ir_op op) {
    switch (op) {
    case IR_ADD:
        return "+";
    case IR_SUB:
        return "-";
    case IR_MUL:
        return "*";
    case IR_DIV:
        return "/";
    case IR_EQ:
        return "==";
    case IR_NE:
        return "!=";
    case IR_LT:
        return "<";
    case IR_LE:
        return "<=";
    case IR_GT:
        return ">";
    case IR_GE:
        return ">=";
    default:
        return NULL;
    }
}

static void infix(cuda_writer *w, const ir_expr *e, bool through_float, bool nested) {
    if (nested)
        base_builder_char(w->out, '(');
    for (uint32_t i = 0; i < 2; i++) {
        if (i) {
            base_builder_char(w->out, ' ');
            base_builder_name(w->out, operator_text(e->op));
            base_builder_char(w->out, ' ');
        }
        if (through_float)
            as_float(w, e->args[i]);
        else
            cuda_expr(w, e->args[i], true);
    }
    if (nested)
        base_builder_char(w->out, ')');
}

static void call_through_float(cuda_writer *w, const ir_expr *e, const char *name) {
    base_builder_format(w->out, "%s(", name);
    for (uint32_t i = 0; i < e->count; i++) {
        if (i)
            base_builder_string(w->out, ", ");
        as_float(w, e->args[i]);
    }
    base_builder_char(w->out, ')');
}

static void minus(cuda_writer *w, const ir_expr *e, bool through_float, bool nested) {
    base_builder_string(w->out, nested ? "(-" : "-");
    bool wrap = e->args[0]->op == IR_FLOAT;
    if (wrap)
        base_builder_char(w->out, '(');
    if (through_float)
        as_float(w, e->args[0]);
    else
        cuda_expr(w, e->args[0], true);
    base_builder_string(w->out, wrap ? ")" : "");
    base_builder_string(w->out, nested ? ")" : "");
}

/* Functions that half and bfloat16 have themselves. */
static const char *own_function(ir_op op) {
    switch (op) {
    case IR_MIN:
        return "__hmin";
    case IR_MAX:
        return "__hmax";
    case IR_FMA:
        return "__hfma";
    case IR_ABS:
        return "__habs";
    default:
        return NULL;
    }
}

static bool narrow_operation(cuda_writer *w, const ir_expr *e, bool nested) {
    num_dtype dtype = dtype_of(e);
    const math_row *row = find_function(e->op);
    bool own = is_16(dtype);
    if (own && (e->op == IR_ADD || e->op == IR_SUB || e->op == IR_MUL)) {
        infix(w, e, false, nested);
        return true;
    }
    if (own && e->op == IR_NEG) {
        minus(w, e, false, nested);
        return true;
    }
    if (own && own_function(e->op)) {
        cuda_apply(w, own_function(e->op), e->args, e->count);
        return true;
    }
    if (!row && !operator_text(e->op) && e->op != IR_NEG)
        return false;
    round_to(w, dtype);
    if (row)
        call_through_float(w, e, row->single);
    else if (e->op == IR_NEG)
        minus(w, e, true, false);
    else
        infix(w, e, true, false);
    base_builder_char(w->out, ')');
    return true;
}

bool cuda_float_operation(cuda_writer *w, const ir_expr *e, bool nested) {
    if (!e->count || !is_float(e->args[0]))
        return false;
    num_dtype from = dtype_of(e->args[0]);
    if (e->op == IR_ISNAN || e->op == IR_ISINF) {
        base_builder_string(w->out, nested ? "(" : "");
        call_through_float(w, e, e->op == IR_ISNAN ? "isnan" : "isinf");
        base_builder_string(w->out, nested ? ")" : "");
        return true;
    }
    if (e->type.dtype == NUM_DTYPE_BOOL && operator_text(e->op)) {
        infix(w, e, true, nested);
        return true;
    }
    if (!is_float(e))
        return false;
    if (is_narrow(from))
        return narrow_operation(w, e, nested);
    const math_row *row = operator_text(e->op) ? NULL : find_function(e->op);
    bool round = from == NUM_DTYPE_TF32; /* computed as float, kept with 10 digits */
    if (round) {
        cuda_use(w, HELPER_TF32);
        base_builder_string(w->out, "tirc_to_tf32(");
    }
    bool done = true;
    if (row)
        cuda_apply(w, from == NUM_DTYPE_F64 ? row->wide : row->single, e->args, e->count);
    else if (e->op == IR_NEG)
        minus(w, e, false, nested);
    else if (operator_text(e->op))
        infix(w, e, false, nested && !round);
    else
        done = false;
    if (round)
        base_builder_char(w->out, ')');
    return done;
}

/* ---- conversions ---- */
static void simple_cast(cuda_writer *w, ir_type to, const ir_expr *a) {
    base_builder_format(w->out, "((%s)", cuda_type(w, to));
    cuda_expr(w, a, true);
    base_builder_char(w->out, ')');
}

/* Toward zero, clamped to the type, NaN to 0: what cvt.rzi does. */
static void float_to_integer(cuda_writer *w, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    num_dtype to = dtype_of(e);
    bool wide = dtype_of(a) == NUM_DTYPE_F64;
    bool is_signed = num_dtype_class(to) == NUM_SIGNED;
    unsigned bits = num_dtype_bits(to);
    const char *name = bits == 64 ? (is_signed ? "ll" : "ull") : (is_signed ? "int" : "uint");
    if (bits < 32 && is_signed)
        base_builder_format(w->out, "((%s)max(%lld, min(%lld, ", cuda_type(w, e->type),
                            (long long)num_minimum(to), (long long)num_maximum(to));
    else if (bits < 32)
        base_builder_format(w->out, "((%s)min(%lluu, ", cuda_type(w, e->type),
                            (unsigned long long)num_maximum(to));
    base_builder_format(w->out, "__%s2%s_rz(", wide ? "double" : "float", name);
    as_float(w, a);
    base_builder_char(w->out, ')');
    if (bits < 32)
        base_builder_string(w->out, is_signed ? ")))" : "))");
}

/* A double or an integer of 32 bits and more as float, rounded to odd. */
static void as_odd(cuda_writer *w, const ir_expr *a) {
    num_dtype from = dtype_of(a);
    cuda_use(w, HELPER_ODD);
    base_builder_string(w->out, "tirc_odd(");
    if (num_dtype_is_integer(from) && num_dtype_bits(from) == 32)
        base_builder_string(w->out,
                            num_dtype_class(from) == NUM_SIGNED ? "(long long)" : "(unsigned long long)");
    cuda_expr(w, a, true);
    base_builder_char(w->out, ')');
}

/* The source as float, when another rounding to fewer digits follows. */
static void as_float_exactly(cuda_writer *w, const ir_expr *a) {
    num_dtype from = dtype_of(a);
    if (from == NUM_DTYPE_F64 || (num_dtype_is_integer(from) && num_dtype_bits(from) >= 32))
        as_odd(w, a);
    else if (num_dtype_is_float(from))
        as_float(w, a);
    else
        simple_cast(w, ir_type_prim(NUM_DTYPE_F32, 1), a);
}

/* Into half, bfloat16 and narrower, with one rounding. */
static void to_narrow(cuda_writer *w, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    num_dtype from = dtype_of(a), to = dtype_of(e);
    bool integer = num_dtype_is_integer(from), is_signed = num_dtype_class(from) == NUM_SIGNED;
    if (from == NUM_DTYPE_F64 && !cuda_is_own_float(to)) {
        cuda_scalar(w, to);
        cuda_apply(w,
                   to == NUM_DTYPE_F16    ? "__double2half"
                   : to == NUM_DTYPE_BF16 ? "__double2bfloat16"
                                          : cuda_scalar(w, to),
                   e->args, 1);
        return;
    }
    if (to == NUM_DTYPE_BF16 && integer && num_dtype_bits(from) >= 32) {
        /* float would round first: 24 digits are not twice 8 and two more of an integer's 63. */
        cuda_scalar(w, to);
        bool wide = num_dtype_bits(from) == 64;
        cuda_apply(w,
                   wide ? (is_signed ? "__ll2bfloat16_rn" : "__ull2bfloat16_rn")
                        : (is_signed ? "__int2bfloat16_rn" : "__uint2bfloat16_rn"),
                   e->args, 1);
        return;
    }
    round_to(w, to);
    if (from == NUM_DTYPE_F64 || to == NUM_DTYPE_F8E8M0FNU)
        as_float_exactly(w, a);
    else if (num_dtype_is_float(from)) /* exact, or of integers that saturate wherever float rounds */
        as_float(w, a);
    else
        simple_cast(w, ir_type_prim(NUM_DTYPE_F32, 1), a);
    base_builder_char(w->out, ')');
}

void cuda_cast(cuda_writer *w, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    num_dtype from = dtype_of(a), to = dtype_of(e);
    if (from == to) {
        cuda_expr(w, a, true);
    } else if (to == NUM_DTYPE_BOOL) {
        base_builder_char(w->out, '(');
        if (num_dtype_is_float(from)) {
            as_float(w, a);
            base_builder_string(w->out, from == NUM_DTYPE_F64 ? " != 0.0)" : " != 0.0f)");
        } else {
            cuda_expr(w, a, true);
            base_builder_string(w->out, " != 0)");
        }
    } else if (num_dtype_is_float(from) && num_dtype_is_integer(to)) {
        float_to_integer(w, e);
    } else if (is_narrow(to)) {
        to_narrow(w, e);
    } else if (to == NUM_DTYPE_TF32) {
        cuda_use(w, HELPER_TF32);
        base_builder_string(w->out, "tirc_to_tf32(");
        as_float_exactly(w, a);
        base_builder_char(w->out, ')');
    } else if (is_narrow(from)) {
        base_builder_string(w->out, to == NUM_DTYPE_F64 ? "((double)" : "");
        as_float(w, a);
        base_builder_string(w->out, to == NUM_DTYPE_F64 ? ")" : "");
    } else if (from == NUM_DTYPE_TF32 && to == NUM_DTYPE_F32) {
        cuda_expr(w, a, true);
    } else {
        simple_cast(w, e->type, a);
    }
}
