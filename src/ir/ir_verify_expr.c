/* SPDX-License-Identifier: Apache-2.0
 * One operation over its arguments: are the types allowed, is the result's type right, does what it names
 * exist. Knows nothing of statements and scopes. */
#include "ir/ir_verify.h"
#include "ptx/ptx_pattern.h"

/* ---- kinds of types ---- */

static bool is_scalar(ir_type type) {
    return type.kind == IR_TYPE_PRIM && type.lanes == 1;
}

static bool is_integer_scalar(ir_type type) {
    return ir_type_is_integer(type) && type.lanes == 1;
}

static bool is_number(ir_type type) {
    return ir_type_is_integer(type) || ir_type_is_float(type);
}

static bool is_predicate(ir_type type) {
    return is_scalar(type) && (ir_type_is_bool(type) || ir_type_is_integer(type));
}

static bool is_mask(ir_type type) {
    return is_integer_scalar(type) && num_dtype_bits((num_dtype)type.dtype) == 32;
}

/* ---- reports ---- */

static void wrong_arguments(ir_verifier *v, const ir_expr *e, const char *wanted) {
    base_builder given;
    base_builder_start(&given, v->arena);
    for (uint32_t i = 0; i < e->count && i < 8; i++) {
        base_builder_string(&given, i ? ", " : "");
        ir_type_print(e->args[i]->type, &given);
    }
    ir_verifier_report(v, "T0320", NULL, "`%s` in `%s` takes %s, not (%s)", ir_op_information(e->op)->name,
                       ir_verifier_shown(v, e), wanted, given.data);
}

static void wrong_result(ir_verifier *v, const ir_expr *e, ir_type wanted) {
    ir_verifier_report(v, "T0320", NULL, "`%s` has type %s, but the operation gives %s",
                       ir_verifier_shown(v, e), ir_verifier_type(v, e->type), ir_verifier_type(v, wanted));
}

static void need(ir_verifier *v, const ir_expr *e, bool good, const char *wanted) {
    if (!good)
        wrong_arguments(v, e, wanted);
}

static bool same_types(const ir_expr *e) {
    for (uint32_t i = 1; i < e->count; i++)
        if (!ir_type_equal(e->args[i]->type, e->args[0]->type))
            return false;
    return true;
}

/* ---- groups of operations ---- */

static void check_constant(ir_verifier *v, const ir_expr *e) {
    num_dtype dtype = (num_dtype)e->type.dtype;
    bool good;
    if (e->op == IR_INT)
        good = is_predicate(e->type) &&
               (ir_type_is_bool(e->type) ? e->at.integer == (e->at.integer != 0)
                                         : num_wrap(dtype, e->at.integer) == e->at.integer);
    else
        good = ir_type_is_float(e->type) && e->type.lanes == 1 &&
               (e->at.real != e->at.real || ir_float(v->module, dtype, e->at.real) == e);
    if (!good)
        ir_verifier_report(v, "T0337", NULL, "a constant of type %s is not wrapped or rounded to its type",
                           ir_verifier_type(v, e->type));
}

static void check_var(ir_verifier *v, const ir_expr *e) {
    if (!e->at.var || (e->op == IR_REGISTER) != (e->at.var->kind == IR_VAR_REGISTER)) {
        ir_verifier_report(v, "T0338", NULL, "an operation `%s` names no variable of its kind",
                           ir_op_information(e->op)->name);
        return;
    }
    if (!ir_type_equal(e->type, e->at.var->type))
        wrong_result(v, e, e->at.var->type);
    if (e->op == IR_REGISTER && v->form == IR_FORM_TENSOR)
        ir_verifier_report(v, "T0330", NULL, "register `%s` in tensor form", e->at.var->name);
}

static bool check_region(ir_verifier *v, const ir_expr *e) {
    const ir_tensor *tensor = e->at.tensor;
    if (e->count != 2 * tensor->type.rank) {
        ir_verifier_report(v, "T0322", NULL,
                           "a region of `%s` has a start and an extent for each of %u ax%s, not %u numbers",
                           tensor->name, tensor->type.rank, tensor->type.rank == 1 ? "is" : "es", e->count);
        return false;
    }
    for (uint32_t i = 0; i < e->count; i++)
        if (!ir_type_is_integer(e->args[i]->type) || e->args[i]->type.lanes != 1) {
            ir_verifier_report(v, "T0322", NULL, "`%s` of a region of `%s` has type %s; expected an integer",
                               ir_verifier_shown(v, e->args[i]), tensor->name,
                               ir_verifier_type(v, e->args[i]->type));
            return false;
        }
    return true;
}

/* Name, scope and dispatch as text; then operands; then pairs of text and value. */
static void check_tile(ir_verifier *v, const ir_expr *e) {
    bool good = e->count >= 4, named = false;
    for (uint32_t i = 0; good && i < 3; i++)
        good = e->args[i]->op == IR_STRING;
    good = good && e->args[3]->op == IR_REGION;
    for (uint32_t i = 3; good && i < e->count; i++) {
        named |= e->args[i]->op == IR_STRING;
        if (!named)
            continue;
        good = e->args[i]->op == IR_STRING && ++i < e->count;
    }
    need(v, e, good, "three texts, operands of which the first is a region, and pairs of text and value");
    if (v->form == IR_FORM_FLAT)
        ir_verifier_report(v, "T0330", NULL, "`tile_operation` in flat form");
}

static void check_tensor_op(ir_verifier *v, const ir_expr *e) {
    const ir_tensor *tensor = e->at.tensor;
    ir_type type;
    if (!tensor) {
        ir_verifier_report(v, "T0338", NULL, "an operation `%s` names no tensor",
                           ir_op_information(e->op)->name);
        return;
    }
    if (e->op == IR_REGION && !check_region(v, e))
        return;
    if (v->form == IR_FORM_FLAT && (e->op != IR_DATA || tensor->kind == IR_TENSOR_VIEW)) {
        ir_verifier_report(v, "T0330", NULL, "`%s` in flat form", ir_verifier_shown(v, e));
        return;
    }
    if (e->op == IR_LOAD && tensor->type.scope == IR_SCOPE_TMEM)
        ir_verifier_report(v, "T0335", "copy it to registers with tcgen05.ld first",
                           "`%s` is tensor memory and has no value here", ir_verifier_shown(v, e));
    if (e->op != IR_DATA && e->op != IR_REGION &&
        !ir_verify_indices(v, tensor, e->args, e->count, e->op == IR_LOAD))
        return;
    ir_infer(e->op, e->args, e->count, (ir_attribute){.tensor = tensor}, &type);
    if (!ir_type_equal(type, e->type))
        wrong_result(v, e, type);
}

bool ir_verify_indices(ir_verifier *v, const ir_tensor *tensor, const ir_expr *const *indices, uint32_t count,
                       bool vector) {
    if (count != tensor->type.rank) {
        ir_verifier_report(v, "T0322", NULL, "`%s` has %u ax%s, but %u ind%s given", tensor->name,
                           tensor->type.rank, tensor->type.rank == 1 ? "is" : "es", count,
                           count == 1 ? "ex is" : "ices are");
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool last = i + 1 == count;
        if (ir_type_is_integer(indices[i]->type) && (indices[i]->type.lanes == 1 || (vector && last)))
            continue;
        ir_verifier_report(
            v, "T0322", NULL, "index `%s` of axis %u of `%s` has type %s; expected an integer%s",
            ir_verifier_shown(v, indices[i]), i, tensor->name, ir_verifier_type(v, indices[i]->type),
            vector && last ? " or an integer vector" : "");
        return false;
    }
    return true;
}

static unsigned bits_of(ir_type type) {
    return type.kind == IR_TYPE_POINTER ? 64
           : type.kind == IR_TYPE_PRIM  ? num_dtype_bits((num_dtype)type.dtype) * type.lanes
                                        : 0;
}

/* A single element of less than 8 bits stands in a byte of its own, in the low bits. */
static unsigned image_bits(ir_type type) {
    unsigned bits = bits_of(type);
    return type.kind == IR_TYPE_PRIM && bits < 8 ? 8 : bits;
}

static void check_conversion(ir_verifier *v, const ir_expr *e) {
    const ir_expr *a = e->args[0];
    ir_type type = e->type;
    switch (e->op) {
    case IR_CAST:
        need(v, e, a->type.kind == IR_TYPE_PRIM && type.kind == IR_TYPE_PRIM && a->type.lanes == type.lanes,
             "numbers with the lanes of the result");
        break;
    case IR_REINTERPRET:
        need(v, e, bits_of(a->type) && image_bits(a->type) == image_bits(type),
             "a value of the result's width");
        break;
    case IR_RAMP:
        need(v, e, same_types(e) && is_integer_scalar(a->type) && type.lanes > 1, "two equal integer types");
        if (!ir_type_equal(ir_type_scalar(type), a->type))
            wrong_result(v, e, ir_type_prim((num_dtype)a->type.dtype, type.lanes));
        break;
    case IR_BROADCAST:
        need(v, e, is_scalar(a->type) && type.lanes > 1, "a scalar");
        if (!ir_type_equal(ir_type_scalar(type), a->type))
            wrong_result(v, e, ir_type_prim((num_dtype)a->type.dtype, type.lanes));
        break;
    case IR_VECTOR:
        need(v, e, e->count > 1 && is_scalar(a->type) && same_types(e), "two or more scalars of one type");
        break;
    default:
        need(v, e, a->type.kind == IR_TYPE_PRIM, "a vector");
        if (e->at.integer < 0 || e->at.integer >= a->type.lanes)
            ir_verifier_report(v, "T0338", NULL, "lane %lld of `%s`, which has %u", (long long)e->at.integer,
                               ir_verifier_shown(v, a), a->type.lanes);
    }
}

static void check_pointer_op(ir_verifier *v, const ir_expr *e) {
    bool pointer = e->args[0]->type.kind == IR_TYPE_POINTER;
    need(v, e, pointer && is_integer_scalar(e->args[1]->type), "a pointer and an integer");
    bool loads = e->op == IR_POINTER_LOAD;
    if (loads ? e->type.kind != IR_TYPE_PRIM : e->type.kind != IR_TYPE_POINTER)
        ir_verifier_report(v, "T0320", NULL, "`%s` has type %s; expected %s", ir_verifier_shown(v, e),
                           ir_verifier_type(v, e->type), loads ? "a number" : "a pointer");
    if (e->op == IR_POINTER_OFFSET || !e->at.origin)
        return;
    if (e->at.origin->op != IR_LOAD && e->at.origin->op != IR_ADDRESS)
        ir_verifier_report(v, "T0338", NULL, "the origin of `%s` is no element of a tensor",
                           ir_verifier_shown(v, e));
}

static void check_atomic(ir_verifier *v, const ir_expr *e) {
    ir_type pointer = e->args[0]->type, value = e->args[1]->type;
    unsigned bits = is_scalar(value) ? num_dtype_bits((num_dtype)value.dtype) : 0;
    bool any = e->op == IR_ATOMIC_ADD || e->op == IR_ATOMIC_EXCHANGE;
    bool good = pointer.kind == IR_TYPE_POINTER && (bits == 32 || bits == 64) &&
                (pointer.dtype == NUM_DTYPE_NONE || (pointer.dtype == value.dtype && pointer.lanes == 1)) &&
                pointer.scope != IR_SCOPE_LOCAL && pointer.scope != IR_SCOPE_TMEM;
    if (e->op == IR_ATOMIC_CAS)
        good = good && ir_type_equal(e->args[2]->type, value);
    need(v, e, good && (any || ir_type_is_integer(value)),
         any ? "a global or shared pointer and a 32- or 64-bit value of its element type"
             : "a global or shared pointer and 32- or 64-bit integers of its element type");
}

static void check_collective(ir_verifier *v, const ir_expr *e) {
    switch (e->op) {
    case IR_CTA_SYNC_AND:
    case IR_CTA_SYNC_OR:
        need(v, e, is_predicate(e->args[0]->type), "a bool or an integer");
        break;
    case IR_NANOSLEEP:
        need(v, e, is_integer_scalar(e->args[0]->type), "an integer");
        break;
    case IR_VOTE_ALL:
    case IR_VOTE_ANY:
    case IR_VOTE_BALLOT:
        need(v, e, is_mask(e->args[0]->type) && is_predicate(e->args[1]->type),
             "a 32-bit mask and a predicate");
        break;
    case IR_REDUX_ADD:
    case IR_REDUX_MIN:
    case IR_REDUX_MAX:
        need(v, e, is_mask(e->args[0]->type) && is_mask(e->args[1]->type),
             "a 32-bit mask and a 32-bit integer");
        break;
    default:
        need(v, e,
             is_mask(e->args[0]->type) && is_scalar(e->args[1]->type) &&
                 is_integer_scalar(e->args[2]->type) && is_integer_scalar(e->args[3]->type),
             "a 32-bit mask, a scalar, and two integers");
    }
}

static void check_effect(ir_verifier *v, const ir_expr *e) {
    bool prints = e->op == IR_PRINTF;
    if (e->count == 0 || (prints ? e->args[0]->op != IR_STRING : !is_predicate(e->args[0]->type)))
        ir_verifier_report(v, "T0320", NULL, "`%s` needs %s first", ir_verifier_shown(v, e),
                           prints ? "its format text" : "a condition");
    for (uint32_t i = 1; i < e->count; i++)
        if (e->args[i]->type.kind == IR_TYPE_VOID)
            ir_verifier_report(v, "T0339", NULL, "`%s` gives no value", ir_verifier_shown(v, e->args[i]));
}

static void check_source_call(ir_verifier *v, const ir_expr *e) {
    bool good = e->count >= 3;
    for (uint32_t i = 0; good && i < 3; i++)
        good = e->args[i]->op == IR_STRING;
    need(v, e, good, "a name, a source text and the name of a type first");
}

/* Unsigned integers are untyped bits: they carry packed halves and small floats too. */
static ptx_type ptx_type_of(ir_type type) {
    if (type.kind == IR_TYPE_POINTER)
        return PTX_TYPE_U64;
    switch ((num_dtype)type.dtype) {
    case NUM_DTYPE_BOOL:
        return PTX_TYPE_PRED;
    case NUM_DTYPE_I8:
    case NUM_DTYPE_U8:
        return PTX_TYPE_B32; /* extended, as ld.u8 and cvt have it */
    case NUM_DTYPE_I16:
        return PTX_TYPE_S16;
    case NUM_DTYPE_U16:
        return PTX_TYPE_B16;
    case NUM_DTYPE_I32:
        return PTX_TYPE_S32;
    case NUM_DTYPE_U32:
        return PTX_TYPE_B32;
    case NUM_DTYPE_I64:
        return PTX_TYPE_S64;
    case NUM_DTYPE_U64:
        return PTX_TYPE_B64;
    case NUM_DTYPE_F16:
        return PTX_TYPE_F16;
    case NUM_DTYPE_BF16:
        return PTX_TYPE_BF16;
    case NUM_DTYPE_F32:
    case NUM_DTYPE_TF32:
        return PTX_TYPE_F32;
    case NUM_DTYPE_F64:
        return PTX_TYPE_F64;
    default:
        return PTX_TYPE_NONE;
    }
}

ptx_type ir_ptx_type(ir_type type) {
    return ptx_type_of(type);
}

/* Results of ptx have one type; a predicate among other results comes as a word of theirs. */
static void check_ptx(ir_verifier *v, const ir_expr *e) {
    base_builder why, accepted;
    ptx_pattern pattern;
    base_builder_start(&why, v->arena);
    base_builder_start(&accepted, v->arena);
    if (e->count < 2 || e->args[0]->op != IR_STRING || e->args[1]->op != IR_STRING) {
        wrong_arguments(v, e, "a pattern and the name of a type first");
        return;
    }
    uint32_t lanes = e->type.kind == IR_TYPE_VOID ? 0 : e->type.lanes, count = e->count - 2;
    bool good = ptx_pattern_parse(v->arena, &v->module->patterns, e->args[0]->at.string, &pattern, &why);
    if (good && (pattern.results != lanes || pattern.arguments != count)) {
        base_builder_format(&why, "the pattern has %u results and %u arguments, the operation %u and %u",
                            pattern.results, pattern.arguments, lanes, count);
        good = false;
    }
    ptx_type *types = BASE_NEW_ARRAY(v->arena, ptx_type, lanes + count + 1);
    for (uint32_t i = 0; good && i < lanes; i++)
        types[i] = ptx_type_of(e->type);
    for (uint32_t i = 0; good && i < count; i++) {
        const ir_expr *a = e->args[i + 2];
        types[lanes + i] = ptx_type_of(a->type);
        good = types[lanes + i] != PTX_TYPE_NONE && (a->type.kind == IR_TYPE_POINTER || a->type.lanes == 1);
        if (!good)
            base_builder_format(&why, "argument %u is %s", i, ir_verifier_type(v, a->type));
    }
    if (good)
        ptx_pattern_predicates(&pattern, types);
    if (!good ||
        !ptx_pattern_check(v->arena, &v->module->patterns, &pattern, types, types + lanes, &why, &accepted))
        ir_verifier_report(v, "T0518",
                           accepted.size ? base_arena_format(v->arena, "accepted: %s", accepted.data) : NULL,
                           "`%s`: %s", e->args[0]->at.string, why.size ? why.data : "no PTX instruction");
}

static void check_condition_op(ir_verifier *v, const ir_expr *e) {
    ir_type condition = e->args[0]->type, value = e->args[1]->type;
    need(v, e,
         ir_type_is_bool(condition) && (condition.lanes == 1 || condition.lanes == value.lanes) &&
             (value.kind == IR_TYPE_PRIM || value.kind == IR_TYPE_POINTER) &&
             ir_type_equal(value, e->args[2]->type),
         "a bool and two values of one type");
}

static void check_computation(ir_verifier *v, const ir_expr *e) {
    ir_type type = e->args[0]->type;
    bool same = same_types(e);
    switch (e->op) {
    case IR_NEG:
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_MIN:
    case IR_MAX:
    case IR_FMA:
    case IR_ABS:
        need(v, e, same && is_number(type), e->count > 1 ? "numbers of one type" : "a number");
        break;
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
    case IR_BITAND:
    case IR_BITOR:
    case IR_BITXOR:
    case IR_BITNOT:
    case IR_SHL:
    case IR_SHR:
    case IR_POPCOUNT:
    case IR_CLZ:
        need(v, e, same && ir_type_is_integer(type), e->count > 1 ? "integers of one type" : "an integer");
        break;
    case IR_EQ:
    case IR_NE:
    case IR_LT:
    case IR_LE:
    case IR_GT:
    case IR_GE:
        need(v, e, same && (type.kind == IR_TYPE_PRIM || type.kind == IR_TYPE_POINTER), "values of one type");
        break;
    case IR_AND:
    case IR_OR:
    case IR_NOT:
        need(v, e, same && ir_type_is_bool(type), "bool");
        break;
    default: /* division, mathematics, isnan, isinf */
        need(v, e, same && ir_type_is_float(type), e->count > 1 ? "floats of one type" : "a float");
    }
}

/* ---- the table ---- */

static void check_arguments(ir_verifier *v, const ir_expr *e) {
    if (e->op >= IR_NEG && e->op <= IR_NOT)
        check_computation(v, e);
    else if (e->op == IR_SELECT || e->op == IR_IF_THEN_ELSE)
        check_condition_op(v, e);
    else if (e->op >= IR_CAST && e->op <= IR_LANE)
        check_conversion(v, e);
    else if (e->op >= IR_ABS && e->op <= IR_ISINF)
        check_computation(v, e);
    else if (e->op >= IR_POINTER_OFFSET && e->op <= IR_POINTER_ADDRESS)
        check_pointer_op(v, e);
    else if (e->op >= IR_ATOMIC_ADD && e->op <= IR_ATOMIC_CAS)
        check_atomic(v, e);
    else if (e->op == IR_PRINTF || e->op == IR_TRAP_UNLESS)
        check_effect(v, e);
    else if (e->op == IR_SOURCE_CALL)
        check_source_call(v, e);
    else if (e->op == IR_TILE)
        check_tile(v, e);
    else if (e->op == IR_PTX)
        check_ptx(v, e);
    else if (e->op == IR_SHARED_ADDRESS)
        need(v, e, e->args[0]->type.kind == IR_TYPE_POINTER, "a pointer");
    else if (e->count)
        check_collective(v, e);
}

/* Types that ir_infer knows must be what it says; ops that take any result type are checked with their
 * arguments. */
static bool result_follows(ir_op op) {
    return op != IR_POINTER_LOAD && op != IR_POINTER_ADDRESS && op != IR_POINTER_OFFSET && op != IR_PRINTF &&
           op != IR_TRAP_UNLESS;
}

void ir_verify_operation(ir_verifier *v, const ir_expr *e) {
    const ir_op_info *info = ir_op_information(e->op);
    size_t before = v->errors;
    if (info->arguments >= 0 && e->count != (uint32_t)info->arguments) {
        ir_verifier_report(v, "T0321", NULL, "`%s` takes %d argument%s, not %u", info->name, info->arguments,
                           info->arguments == 1 ? "" : "s", e->count);
        return;
    }
    for (uint32_t i = 0; i < e->count; i++) {
        bool text = e->op == IR_PRINTF || e->op == IR_TILE || (e->op == IR_TRAP_UNLESS && i > 0) ||
                    e->op == IR_SOURCE_CALL || (e->op == IR_PTX && i < 2);
        if (e->args[i]->type.kind == IR_TYPE_VOID || (e->args[i]->type.kind == IR_TYPE_STRING && !text)) {
            ir_verifier_report(v, "T0339", NULL, "`%s` is no value for `%s`",
                               ir_verifier_shown(v, e->args[i]), info->name);
            return;
        }
        if (e->args[i]->op == IR_REGION && e->op != IR_TILE) {
            ir_verifier_report(v, "T0339", "it is an operand of tile operations", "`%s` is no value for `%s`",
                               ir_verifier_shown(v, e->args[i]), info->name);
            return;
        }
    }
    switch (ir_op_attribute(e->op)) {
    case IR_ATTRIBUTE_REAL:
        check_constant(v, e);
        return;
    case IR_ATTRIBUTE_VAR:
        check_var(v, e);
        return;
    case IR_ATTRIBUTE_TENSOR:
        check_tensor_op(v, e);
        return;
    case IR_ATTRIBUTE_INTEGER:
        if (e->op == IR_INT) {
            check_constant(v, e);
            return;
        }
        if (e->op != IR_LANE && (e->at.integer < 0 || e->at.integer > 2))
            ir_verifier_report(v, "T0338", NULL, "axis %lld of `%s`", (long long)e->at.integer, info->name);
        break;
    default:
        break;
    }
    check_arguments(v, e);
    ir_type type;
    if (v->errors == before && result_follows(e->op) &&
        ir_infer(e->op, e->args, e->count, (ir_attribute){.integer = e->at.integer}, &type) &&
        !ir_type_equal(type, e->type))
        wrong_result(v, e, type);
}
