/* SPDX-License-Identifier: Apache-2.0
 * Folding: every rule gives what it should, nothing else folds, and random expressions built with and without
 * folding have the same value under an evaluator that shares nothing with the folder. */
#include "unit/unit.h"
#include "unit/ir_help.h"
#include "num/num.h"
#include <math.h>
#include <string.h>

/* ---- an evaluator in 128-bit integers and in native floats ---- */

typedef struct value {
    __int128 integer;
    double real;
    bool open; /* no defined value: division by zero, negative shift, float to integer out of range */
} value;

enum { VARS = 3 };
typedef struct environment {
    const ir_var *vars[NUM_DTYPE_COUNT][VARS];
    value values[NUM_DTYPE_COUNT][VARS];
} environment;

static bool is_signed(num_dtype dtype) {
    return num_dtype_class(dtype) == NUM_SIGNED;
}

static __int128 wrap(num_dtype dtype, __int128 v) {
    __int128 range = (__int128)1 << num_dtype_bits(dtype);
    if (dtype == NUM_DTYPE_BOOL)
        return v != 0;
    v %= range;
    v += v < 0 ? range : 0;
    return is_signed(dtype) && v >= range / 2 ? v - range : v;
}

static double round_real(num_dtype dtype, double v) {
    if (dtype == NUM_DTYPE_F64)
        return v;
    if (dtype == NUM_DTYPE_F32)
        return (float)v;
    return num_decode(dtype, num_encode(dtype, v, NUM_RN, false));
}

static value evaluate(const environment *env, const ir_expr *e);

static value evaluate_integers(const ir_expr *e, num_dtype dtype, const value *v) {
    __int128 a = v[0].integer, b = v[1].integer, r = 0;
    unsigned bits = num_dtype_bits(dtype), n = 0;
    bool open = false;
    switch (e->op) {
    case IR_NEG:
        r = -a;
        break;
    case IR_ADD:
        r = a + b;
        break;
    case IR_SUB:
        r = a - b;
        break;
    case IR_MUL:
        r = wrap(NUM_DTYPE_U64, a) * wrap(NUM_DTYPE_U32, b) +
            ((wrap(NUM_DTYPE_U64, b) >> 32) * wrap(NUM_DTYPE_U32, a) << 32);
        break;
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        open = b == 0;
        if (open)
            break;
        r = a / b;
        if (e->op == IR_FLOORDIV || e->op == IR_FLOORMOD)
            r -= a % b != 0 && (a < 0) != (b < 0);
        if (e->op == IR_FLOORMOD || e->op == IR_TRUNCMOD)
            r = a - r * b;
        break;
    case IR_MIN:
        r = a < b ? a : b;
        break;
    case IR_MAX:
        r = a < b ? b : a;
        break;
    case IR_ABS:
        r = a < 0 ? -a : a;
        break;
    case IR_BITAND:
        r = a & b;
        break;
    case IR_BITOR:
        r = a | b;
        break;
    case IR_BITXOR:
        r = a ^ b;
        break;
    case IR_BITNOT:
        r = ~a;
        break;
    case IR_SHL:
        open = b < 0;
        r = b >= bits || open ? 0 : wrap(NUM_DTYPE_U64, a) << b;
        break;
    case IR_SHR:
        open = b < 0;
        r = open ? 0 : b >= bits ? (a < 0 ? -1 : 0) : a >> b;
        break;
    case IR_POPCOUNT:
        for (unsigned i = 0; i < bits; i++)
            r += (a >> i) & 1;
        break;
    case IR_CLZ:
        while (n < bits && !((a >> (bits - 1 - n)) & 1))
            n++;
        r = n;
        break;
    default:
        open = true;
    }
    return (value){.integer = wrap(dtype, r), .open = open};
}

static value evaluate_reals(const ir_expr *e, num_dtype dtype, const value *v) {
    double a = v[0].real, b = v[1].real, r = 0;
    bool open = false;
    if (dtype == NUM_DTYPE_F32) { /* in float throughout, not in double */
        float x = (float)a, y = (float)b;
        switch (e->op) {
        case IR_ADD:
            return (value){.real = x + y};
        case IR_SUB:
            return (value){.real = x - y};
        case IR_MUL:
            return (value){.real = x * y};
        case IR_DIV:
            return (value){.real = x / y};
        case IR_SQRT:
            return (value){.real = sqrtf(x)};
        case IR_FMOD:
            return (value){.real = fmodf(x, y)};
        case IR_FMA:
            return (value){.real = fmaf(x, y, (float)v[2].real)};
        default:
            break;
        }
    }
    switch (e->op) {
    case IR_NEG:
        r = -a;
        break;
    case IR_ADD:
        r = a + b;
        break;
    case IR_SUB:
        r = a - b;
        break;
    case IR_MUL:
        r = a * b;
        break;
    case IR_DIV:
        r = a / b;
        break;
    case IR_SQRT:
        r = sqrt(a);
        break;
    case IR_FMOD:
        r = (double)fmodl(a, b);
        break;
    case IR_FMA:
        r = fma(a, b, v[2].real);
        open = dtype != NUM_DTYPE_F64;
        break; /* half: see fma_rounds_once */
    case IR_ABS:
        r = fabs(a);
        break;
    case IR_FLOOR:
        r = floor(a);
        break;
    case IR_CEIL:
        r = ceil(a);
        break;
    case IR_TRUNC:
        r = trunc(a);
        break;
    case IR_ROUND:
        r = nearbyint(a);
        break;
    case IR_MIN:
        r = a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : fmin(a, b);
        break;
    case IR_MAX:
        r = a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : fmax(a, b);
        break;
    default:
        open = true;
    }
    return (value){.real = round_real(dtype, r), .open = open};
}

static value evaluate_comparison(const ir_expr *e, bool real, const value *v) {
    bool less = real ? v[0].real < v[1].real : v[0].integer < v[1].integer;
    bool more = real ? v[0].real > v[1].real : v[0].integer > v[1].integer;
    bool same = real ? v[0].real == v[1].real : v[0].integer == v[1].integer;
    switch (e->op) {
    case IR_EQ:
        return (value){.integer = same};
    case IR_NE:
        return (value){.integer = !same};
    case IR_LT:
        return (value){.integer = less};
    case IR_LE:
        return (value){.integer = less || same};
    case IR_GT:
        return (value){.integer = more};
    case IR_GE:
        return (value){.integer = more || same};
    case IR_AND:
        return (value){.integer = v[0].integer && v[1].integer};
    case IR_OR:
        return (value){.integer = v[0].integer || v[1].integer};
    case IR_NOT:
        return (value){.integer = !v[0].integer};
    case IR_ISNAN:
        return (value){.integer = v[0].real != v[0].real};
    default:
        return (value){.integer = isinf(v[0].real) != 0};
    }
}

static value evaluate_cast(num_dtype from, num_dtype to, value v) {
    if (num_dtype_is_float(from) && num_dtype_is_float(to))
        return (value){.real = round_real(to, v.real)};
    if (num_dtype_is_float(from)) {
        if (to == NUM_DTYPE_BOOL)
            return (value){.integer = !(v.real == 0)};
        if (!(fabs(v.real) < 0x1p100))
            return (value){.open = true};
        __int128 whole = (__int128)v.real;
        return (value){.integer = whole, .open = wrap(to, whole) != whole};
    }
    if (!num_dtype_is_float(to))
        return (value){.integer = wrap(to, v.integer)};
    if (to == NUM_DTYPE_F32)
        return (value){.real = (float)v.integer};
    if (to == NUM_DTYPE_F64)
        return (value){.real = (double)v.integer};
    bool exact = (__int128)(double)v.integer == v.integer;
    return (value){.real = round_real(to, (double)v.integer), .open = !exact};
}

static value evaluate(const environment *env, const ir_expr *e) {
    value v[3] = {{0}};
    num_dtype dtype = (num_dtype)e->type.dtype;
    if (e->op == IR_INT)
        return (value){.integer =
                           is_signed(dtype) ? (__int128)e->at.integer : (__int128)(uint64_t)e->at.integer};
    if (e->op == IR_FLOAT)
        return (value){.real = e->at.real};
    if (e->op == IR_VAR) {
        for (int i = 0; i < VARS; i++)
            if (env->vars[dtype][i] == e->at.var)
                return env->values[dtype][i];
        fail_msg("unknown variable");
    }
    for (uint32_t i = 0; i < e->count; i++)
        v[i] = evaluate(env, e->args[i]);
    if (e->op == IR_IF_THEN_ELSE && !v[0].open)
        return v[0].integer ? v[1] : v[2];
    if ((e->op == IR_AND && !v[0].open && !v[0].integer) || (e->op == IR_OR && !v[0].open && v[0].integer))
        return v[0];
    for (uint32_t i = 0; i < e->count; i++)
        if (v[i].open)
            return v[i];
    num_dtype from = (num_dtype)e->args[0]->type.dtype;
    if (e->op == IR_SELECT)
        return v[0].integer ? v[1] : v[2];
    if (e->op == IR_CAST)
        return evaluate_cast(from, dtype, v[0]);
    if (dtype == NUM_DTYPE_BOOL)
        return evaluate_comparison(e, num_dtype_is_float(from), v);
    return num_dtype_is_float(dtype) ? evaluate_reals(e, dtype, v) : evaluate_integers(e, dtype, v);
}

/* ---- random pairs: raw and folded ---- */

typedef struct pair {
    const ir_expr *raw, *folded;
} pair;

static uint64_t random_state;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
static unsigned pick(unsigned count) {
    return (unsigned)((next_random() >> 17) % count);
}

static double random_real(num_dtype dtype) {
    static const double edges[] = {0.0,       -0.0, 1.0,   -1.0, 2.0,   0.5, INFINITY,
                                   -INFINITY, NAN,  1e-45, 3e38, 65504, 1.5, 3};
    if (pick(2))
        return round_real(dtype, edges[pick(14)]);
    if (pick(2))
        return round_real(dtype, (double)(int64_t)next_random() * 0x1p-60);
    return num_decode(dtype, next_random() >> (64 - num_dtype_bits(dtype)));
}

static __int128 random_integer(num_dtype dtype) {
    static const int edges[] = {0, 1, -1, 2, 3, 7, 8, 15, 31, 32, 63, 64};
    switch (pick(4)) {
    case 0:
        return wrap(dtype, (__int128)num_maximum(dtype) - pick(3));
    case 1:
        return wrap(dtype, (__int128)num_minimum(dtype) + pick(3));
    case 2:
        return wrap(dtype, (__int128)next_random());
    default:
        return wrap(dtype, edges[pick(12)]);
    }
}

static value random_value(num_dtype dtype) {
    if (dtype == NUM_DTYPE_BOOL)
        return (value){.integer = pick(2)};
    return num_dtype_is_float(dtype) ? (value){.real = random_real(dtype)}
                                     : (value){.integer = random_integer(dtype)};
}

static pair make_pair(ir_module *module, const environment *env, num_dtype dtype, unsigned depth);

static pair leaf_pair(ir_module *module, const environment *env, num_dtype dtype) {
    const ir_expr *e;
    value v = random_value(dtype);
    if (pick(2))
        e = ir_var_use(module, env->vars[dtype][pick(VARS)]);
    else
        e = num_dtype_is_float(dtype) ? ir_float(module, dtype, v.real)
                                      : ir_int(module, dtype, (int64_t)v.integer);
    return (pair){e, e};
}

static const num_dtype dtypes[] = {NUM_DTYPE_BOOL, NUM_DTYPE_I8,  NUM_DTYPE_I16, NUM_DTYPE_I32, NUM_DTYPE_I64,
                                   NUM_DTYPE_U8,   NUM_DTYPE_U16, NUM_DTYPE_U32, NUM_DTYPE_U64, NUM_DTYPE_F16,
                                   NUM_DTYPE_BF16, NUM_DTYPE_F32, NUM_DTYPE_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static pair op_pair(ir_module *module, ir_op op, ir_type type, const pair *p, uint32_t count) {
    const ir_expr *raw[] = {p[0].raw, p[1].raw, p[2].raw},
                  *folded[] = {p[0].folded, p[1].folded, p[2].folded};
    pair result = {ir_make(module, op, type, raw, count), NULL};
    if (op == IR_CAST)
        result.folded = ir_cast(module, type, folded[0]);
    else if (op == IR_SELECT || op == IR_IF_THEN_ELSE)
        result.folded = ir_select(module, op, folded[0], folded[1], folded[2]);
    else if (count == 3)
        result.folded = ir_rebuild(module, ir_make(module, op, type, raw, count), folded);
    else if (count == 2)
        result.folded = ir_binary(module, op, folded[0], folded[1]);
    else
        result.folded = ir_unary(module, op, folded[0]);
    return result;
}

static pair make_pair(ir_module *module, const environment *env, num_dtype dtype, unsigned depth) {
    static const ir_op whole[] = {IR_NEG,      IR_ADD,      IR_SUB,      IR_MUL, IR_FLOORDIV, IR_FLOORMOD,
                                  IR_TRUNCDIV, IR_TRUNCMOD, IR_MIN,      IR_MAX, IR_ABS,      IR_BITAND,
                                  IR_BITOR,    IR_BITXOR,   IR_BITNOT,   IR_SHL, IR_SHR,      IR_ADD,
                                  IR_SUB,      IR_MUL,      IR_POPCOUNT, IR_CLZ};
    static const ir_op real[] = {IR_NEG,   IR_ADD,   IR_SUB,  IR_MUL,   IR_DIV, IR_SQRT, IR_FMA, IR_ABS,
                                 IR_FLOOR, IR_TRUNC, IR_CEIL, IR_ROUND, IR_MIN, IR_MAX,  IR_FMOD};
    static const ir_op truth[] = {IR_EQ,  IR_NE, IR_LT,  IR_LE,    IR_GT,   IR_GE,
                                  IR_AND, IR_OR, IR_NOT, IR_ISNAN, IR_ISINF};
    ir_type type = ir_type_prim(dtype, 1);
    pair p[3] = {{0}};
    num_dtype over = dtype;
    ir_op op;
    if (depth == 0 || pick(5) == 0)
        return leaf_pair(module, env, dtype);
    if (pick(8) == 0) {
        p[0] = make_pair(module, env, NUM_DTYPE_BOOL, depth - 1);
        p[1] = make_pair(module, env, dtype, depth - 1);
        p[2] = pick(3) ? make_pair(module, env, dtype, depth - 1) : p[1];
        return op_pair(module, pick(2) ? IR_SELECT : IR_IF_THEN_ELSE, type, p, 3);
    }
    if (pick(8) == 0) {
        p[0] = make_pair(module, env, dtypes[pick(DTYPES)], depth - 1);
        return op_pair(module, IR_CAST, type, p, 1);
    }
    if (dtype == NUM_DTYPE_BOOL) {
        op = truth[pick(11)];
        over = op == IR_ISNAN || op == IR_ISINF ? dtypes[9 + pick(4)] : dtypes[pick(DTYPES)];
        over = op == IR_AND || op == IR_OR || op == IR_NOT ? NUM_DTYPE_BOOL : over;
    } else {
        op = num_dtype_is_float(dtype) ? real[pick(dtype == NUM_DTYPE_F64 ? 14 : 15)] : whole[pick(22)];
    }
    uint32_t count = (uint32_t)ir_op_information(op)->arguments;
    for (uint32_t i = 0; i < count; i++)
        p[i] = i && pick(6) == 0 ? p[0] : make_pair(module, env, over, depth - 1);
    return op_pair(module, op, type, p, count);
}

static bool same_value(num_dtype dtype, value a, value b) {
    if (!num_dtype_is_float(dtype))
        return a.integer == b.integer;
    return (a.real != a.real && b.real != b.real) ||
           (a.real == b.real && (a.real != 0 || signbit(a.real) == signbit(b.real)));
}

static void folding_keeps_values(void **state) {
    base_diagnostics *diagnostics = base_diagnostics_create(*state, base_sources_create(*state));
    ir_module *module = ir_module_create(*state, diagnostics);
    environment env = {0};
    unsigned compared = 0, smaller = 0;
    random_state = 88172645463325252u;
    for (int d = 0; d < DTYPES; d++)
        for (int i = 0; i < VARS; i++)
            env.vars[dtypes[d]][i] =
                ir_var_create(module, "v", ir_type_prim(dtypes[d], 1), IR_VAR_LET, BASE_NO_SPAN);
    for (int round = 0; round < 40000; round++) {
        num_dtype dtype = dtypes[(unsigned)round % DTYPES];
        pair p = make_pair(module, &env, dtype, 4);
        assert_true(ir_type_equal(p.raw->type, p.folded->type));
        smaller += p.folded->size < p.raw->size;
        for (int sample = 0; sample < 4; sample++) {
            for (int d = 0; d < DTYPES; d++)
                for (int i = 0; i < VARS; i++)
                    env.values[dtypes[d]][i] = random_value(dtypes[d]);
            value raw = evaluate(&env, p.raw);
            if (raw.open)
                continue;
            value folded = evaluate(&env, p.folded);
            compared++;
            if (folded.open || !same_value(dtype, raw, folded)) {
                base_builder out;
                base_builder_start(&out, *state);
                ir_expr_print(p.raw, &out);
                base_builder_string(&out, "\n  became  ");
                ir_expr_print(p.folded, &out);
                fail_msg("round %d: %s (%g and %g, %lld and %lld)", round, out.data, raw.real, folded.real,
                         (long long)raw.integer, (long long)folded.integer);
            }
        }
    }
    assert_true(compared > 60000);
    assert_true(smaller > 15000);
}

/* Every operation over every pair of edge constants folds to the evaluator's value or not at all. */
static void constants_fold_exactly(void **state) {
    base_diagnostics *diagnostics = base_diagnostics_create(*state, base_sources_create(*state));
    ir_module *module = ir_module_create(*state, diagnostics);
    environment env = {0};
    unsigned folded_count = 0;
    for (int op = IR_NEG; op <= IR_ISINF; op++) {
        const ir_op_info *info = ir_op_information((ir_op)op);
        if (!(info->flags & IR_FLAG_FOLD) || info->arguments > 2 || op == IR_CAST || op == IR_REINTERPRET)
            continue;
        for (int d = 0; d < DTYPES; d++) {
            random_state = 77 + (uint64_t)(op * DTYPES + d);
            for (int i = 0; i < 60; i++) {
                const ir_expr *args[2];
                for (int k = 0; k < 2; k++) {
                    value v = random_value(dtypes[d]);
                    args[k] = num_dtype_is_float(dtypes[d]) ? ir_float(module, dtypes[d], v.real)
                                                            : ir_int(module, dtypes[d], (int64_t)v.integer);
                }
                const ir_expr *e = info->arguments == 1 ? ir_unary(module, (ir_op)op, args[0])
                                                        : ir_binary(module, (ir_op)op, args[0], args[1]);
                if (e->op != IR_INT && e->op != IR_FLOAT)
                    continue;
                const ir_expr *raw = ir_make(module, (ir_op)op, e->type, args, (uint32_t)info->arguments);
                value expected = evaluate(&env, raw), actual = evaluate(&env, e);
                folded_count++;
                if (expected.open || !same_value((num_dtype)e->type.dtype, expected, actual))
                    fail_msg("%s of %s: %g, %lld", info->name, num_dtype_name(dtypes[d]), actual.real,
                             (long long)actual.integer);
            }
        }
    }
    assert_true(folded_count > 8000);
}

/* ---- single rules, as text ---- */

/* clang-format off */
static const char *const unfolded_text =
    "tir 1\nfunction f(x: int32, u: uint32, s: int8, a: float32, b: float32, c: bool, d: bool, h: float16, p: int32*global):\n"
    "    alloc A: int32[8] local\n    pass\n";
static const struct { const char *from, *to; } rules[] = {
    {"x + 0", "x"}, {"0 + x", "x"}, {"x - 0", "x"}, {"x * 1", "x"}, {"1 * x", "x"}, {"x * 0", "0"}, {"0 * x", "0"},
    {"x // 1", "x"}, {"x % 1", "0"}, {"truncdiv(x, 1)", "x"}, {"truncmod(x, 1)", "0"},
    {"x // 0", "x // 0"}, {"x % 0", "x % 0"}, {"5 // 0", "5 // 0"}, {"-7 // 2", "-4"}, {"-7 % 2", "1"},
    {"truncdiv(-7, 2)", "-3"}, {"truncmod(-7, 2)", "-1"},
    {"x + 3 + 4", "x + 7"}, {"x + 3 - 5", "x - 2"}, {"x - 3 - 4", "x - 7"}, {"x - 3 + 3", "x"}, {"3 + x + 4", "x + 7"},
    {"u + 4294967295_uint32 + 1_uint32", "u"}, {"u - 1_uint32 - 1_uint32", "u - 2_uint32"},
    {"x + 2147483647 + 2147483647", "x - 2"}, {"s + 100_int8 + 100_int8", "s - 56_int8"},
    {"x * 3 * 4", "x * 12"}, {"x * 65536 * 65536", "0"}, {"x - x", "0"}, {"a - a", "a - a"},
    {"A[x] - A[x]", "A[x] - A[x]"}, {"min(x, x)", "x"}, {"min(a, a)", "min(a, a)"},
    {"-(-x)", "x"}, {"-(-a)", "a"}, {"~(~x)", "x"}, {"not (not c)", "c"},
    {"not (x < 3)", "x >= 3"}, {"not (x == 3)", "x != 3"}, {"not (a < b)", "not a < b"}, {"not (a == b)", "a != b"},
    {"x == x", "True"}, {"x < x", "False"}, {"a == a", "a == a"}, {"A[x] == A[x]", "A[x] == A[x]"},
    {"c and True", "c"}, {"True and c", "c"}, {"False and c", "False"}, {"c or False", "c"}, {"True or c", "True"},
    {"c and False", "False"}, {"c or True", "True"},
    {"a + 0.0", "a + 0.0"}, {"a + -0.0", "a"}, {"-0.0 + a", "a"}, {"a - 0.0", "a"}, {"a - -0.0", "a - -0.0"},
    {"a * 1.0", "a"}, {"1.0 * a", "a"}, {"a / 1.0", "a"}, {"a * 0.0", "a * 0.0"}, {"0.1 + 0.2", "0.3"},
    {"a + 1.0 + 1.0", "a + 1.0 + 1.0"}, {"a * 2.0 * 2.0", "a * 2.0 * 2.0"}, {"0.1_float64 + 0.2_float64", "0.30000000000000004_float64"},
    {"h * 1.0_float16", "h"}, {"1.0_float16 / 3.0_float16", "0.3333_float16"}, {"60000.0_float16 + 60000.0_float16", "inf_float16"},
    {"1.0 / 0.0", "inf"}, {"min(nan, 1.0)", "1.0"}, {"max(-0.0, 0.0)", "0.0"}, {"min(0.0, -0.0)", "-0.0"},
    {"nan == nan", "False"}, {"nan != nan", "True"}, {"isnan(nan)", "True"}, {"isinf(-inf)", "True"},
    {"1 << 31", "-2147483648"}, {"1 << 32", "0"}, {"-1 >> 40", "-1"}, {"4294967295_uint32 >> 32_uint32", "0_uint32"},
    {"1 << -1", "1 << -1"}, {"x << 0", "x"}, {"x >> 0", "x"},
    {"x & -1", "x"}, {"x & 0", "0"}, {"x | 0", "x"}, {"x ^ 0", "x"}, {"u & 4294967295_uint32", "u"},
    {"popcount(-1_int8)", "8_int8"}, {"clz(1_uint16)", "15_uint16"}, {"clz(0)", "32"}, {"abs(-2147483648)", "-2147483648"},
    {"abs(u)", "u"}, {"abs(abs(x))", "abs(x)"},
    {"select(True, x, 1)", "x"}, {"if_then_else(False, x, 1)", "1"}, {"select(c, x, x)", "x"},
    {"int32(x)", "x"}, {"int8(300)", "44_int8"}, {"uint32(-1)", "4294967295_uint32"}, {"bool(7)", "True"}, {"int32(True)", "1"},
    {"float32(16777217)", "16777216.0"}, {"int32(-2.9)", "-2"}, {"int32(1e+30)", "int32(1e+30)"}, {"int32(nan)", "int32(nan)"},
    {"uint8(-1.0)", "uint8(-1.0)"}, {"uint8(-0.5)", "0_uint8"}, {"float16(65520.0)", "inf_float16"},
    {"float8_e4m3fn(1000.0)", "448.0_float8_e4m3fn"}, {"float32(0.1_float16)", "0.099975586"}, {"tfloat32(0.1)", "0.1_tfloat32"},
    {"tfloat32(0.5)", "0.5_tfloat32"},
    {"reinterpret[int32](1.0)", "1065353216"}, {"reinterpret[float32](1065353216)", "1.0"},
    {"reinterpret[float32](-1)", "reinterpret[float32](-1)"}, {"reinterpret[int32](x)", "x"},
    {"fma(2.0, 3.0, 1.0)", "7.0"}, {"fma(2, 3, 1)", "7"},
    {"broadcast(2, 4) * broadcast(3, 4)", "broadcast(6, 4)"}, {"broadcast(x, 4) + broadcast(0, 4)", "broadcast(x, 4)"},
    {"float32x2(broadcast(3, 2))", "broadcast(3.0, 2)"}, {"lane(broadcast(x, 4), 2)", "x"},
    {"lane(ramp(x, 2, 4), 3)", "x + 6"}, {"lane(vector(x, 1, 2), 1)", "1"},
    {"atomic_add(p, 1) * 0", "atomic_add(p, 1) * 0"}, {"atomic_add(p, 1) % 1", "atomic_add(p, 1) % 1"},
    {"select(True, x, atomic_add(p, 1))", "select(True, x, atomic_add(p, 1))"},
    {"if_then_else(True, x, atomic_add(p, 1))", "x"}, {"atomic_add(p, 1) & 0", "atomic_add(p, 1) & 0"},
    {"atomic_add(p, 1) > 0 and False", "atomic_add(p, 1) > 0 and False"}, {"False and atomic_add(p, 1) > 0", "False"},
};
/* clang-format on */

/* Same expression through the folding constructors: a rewrite that rebuilds every node from its leaves. */
static const ir_expr *fold_again(ir_module *module, const ir_expr *e) {
    const ir_expr *args[8], *same;
    if (e->count == 0)
        return e;
    for (uint32_t i = 0; i < e->count; i++)
        args[i] = fold_again(module, e->args[i]);
    switch (e->op) {
    case IR_CAST:
        return ir_cast(module, e->type, args[0]);
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
        return ir_select(module, e->op, args[0], args[1], args[2]);
    case IR_LANE:
        return ir_lane(module, args[0], (unsigned)e->at.integer);
    default:
        break;
    }
    if (ir_op_information(e->op)->flags & IR_FLAG_FOLD) {
        if (e->count == 1 && e->op != IR_REINTERPRET)
            return ir_unary(module, e->op, args[0]);
        if (e->count == 2)
            return ir_binary(module, e->op, args[0], args[1]);
        /* rebuild folds only over other arguments: start from a node over fresh variables */
        const ir_expr *fresh[3];
        for (uint32_t i = 0; i < e->count; i++)
            fresh[i] =
                ir_var_use(module, ir_var_create(module, "w", args[i]->type, IR_VAR_LET, BASE_NO_SPAN));
        same = ir_make(module, e->op, e->type, fresh, e->count);
        return ir_rebuild(module, same, args);
    }
    return ir_rebuild(module, e, args);
}

static void single_rules(void **state) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        base_builder out;
        char *text = base_arena_format(*state, "%s    %s\n", unfolded_text, rules[i].from);
        ir_module *module = help_parse(*state, text, &out);
        if (!module)
            fail_msg("%s: %s", rules[i].from, out.data);
        const ir_stmt *body = module->functions.items[0]->body;
        const ir_expr *e = fold_again(module, body->as.block.body.items[1]->as.evaluate.value);
        ir_expr_print(e, &out);
        if (strcmp(out.data, rules[i].to) != 0)
            fail_msg("%s became %s; expected %s", rules[i].from, out.data, rules[i].to);
    }
}

/* The product of two 8-bit significands lies exactly between two bfloat16, and a tiny addend decides. */
static void fma_rounds_once(void **state) {
    static const double cases[][4] = {
        {3, 129.0 / 128, 0, 194.0 / 64},          {3, 129.0 / 128, -0x1p-60, 193.0 / 64},
        {3, 129.0 / 128, 0x1p-60, 194.0 / 64},    {3, 131.0 / 128, 0, 196.0 / 64},
        {3, 131.0 / 128, 0x1p-60, 197.0 / 64},    {3, 131.0 / 128, -0x1p-60, 196.0 / 64},
        {-3, 131.0 / 128, -0x1p-60, -197.0 / 64}, {1, 1, -1, 0},
    };
    ir_module *module =
        ir_module_create(*state, base_diagnostics_create(*state, base_sources_create(*state)));
    ir_type type = ir_type_prim(NUM_DTYPE_BF16, 1);
    const ir_expr *v = ir_var_use(module, ir_var_create(module, "v", type, IR_VAR_LET, BASE_NO_SPAN));
    const ir_expr *like = ir_make(module, IR_FMA, type, (const ir_expr *[]){v, v, v}, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ir_expr *args[3];
        for (int k = 0; k < 3; k++)
            args[k] = ir_float(module, NUM_DTYPE_BF16, cases[i][k]);
        const ir_expr *e = ir_rebuild(module, like, args);
        assert_int_equal(e->op, IR_FLOAT);
        assert_true(e->at.real == cases[i][3]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(folding_keeps_values),
        UNIT_WITH_ARENA(constants_fold_exactly),
        UNIT_WITH_ARENA(single_rules),
        UNIT_WITH_ARENA(fma_rounds_once),
    };
    return cmocka_run_group_tests_name("ir_fold", tests, NULL, NULL);
}
