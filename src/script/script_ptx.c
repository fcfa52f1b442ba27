/* SPDX-License-Identifier: Apache-2.0
 * T.ptx: calls of PTX instructions, whose names script_ptx_name.c reads. The arguments are matched against
 * the operands that the instruction table lists; what fits becomes one IR_PTX and stores of its results. Must
 * not know what any instruction does. */
#include "ptx/ptx_pattern.h"
#include "script/script_evaluate.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- arguments ---- */

typedef struct given {
    script_value v;
    base_span span;
    uint32_t group; /* values of the list that begins here, 0: none does */
} given;

typedef struct destination {
    ir_tensor *tensor;
    const ir_expr *const *indices;
    uint32_t count;
    ir_type element, carrier; /* as the tensor has it; as the instruction gives it */
    bool is_predicate;
    base_span span;
} destination;

enum { MAX_VALUES = 300 };
typedef struct script_matcher {
    script_evaluator *e;
    const char *name;
    ptx_pattern pattern;
    const ptx_pattern_form *form;
    given values[MAX_VALUES];
    uint32_t count;
    destination results[MAX_VALUES];
    uint32_t result_count;
    const ir_expr *args[MAX_VALUES];
    uint32_t arg_count;
    ptx_pattern_operand operands[16];
    uint32_t operand_count;
    bool is_hard; /* something was reported: no other form is tried */
    uint32_t furthest;
    base_span where;
    char why[300];
} matcher;

/* The lists are long: their room is used again. */
static matcher *matcher_take(script_evaluator *e) {
    matcher *m = e->matcher ? e->matcher : BASE_NEW(e->arena, matcher);
    e->matcher = NULL;
    m->e = e;
    m->name = NULL;
    m->form = NULL;
    m->pattern = (ptx_pattern){0};
    m->count = m->result_count = m->arg_count = m->operand_count = m->furthest = 0;
    memset(m->operands, 0, sizeof m->operands);
    m->is_hard = false;
    m->where = BASE_NO_SPAN;
    m->why[0] = '\0';
    return m;
}

static void matcher_give(matcher *m) {
    m->e->matcher = m;
}

/* Keeps the reason that got furthest through the arguments. */
__attribute__((format(printf, 4, 5))) static bool
refuse(matcher *m, uint32_t at, const ptx_pattern_rule *rule, const char *format, ...) {
    char text[240];
    va_list arguments;
    if (m->why[0] && at < m->furthest)
        return false;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    m->furthest = at;
    if (at < m->count)
        m->where = m->values[at].span;
    if (rule && at < m->count)
        snprintf(m->why, sizeof m->why, "argument %u (%s) %s", at + 1, rule->name, text);
    else
        snprintf(m->why, sizeof m->why, "%s", text);
    return false;
}

static bool is_sink(script_value v) {
    return v.kind == SCRIPT_VALUE_PTX && strcmp(v.as.string.text, "SINK") == 0;
}

static const char *type_of(matcher *m, ir_type type) {
    return script_type_name(m->e, type);
}

static ir_type bits_type(unsigned bits) {
    return ir_type_prim(bits == 8    ? NUM_DTYPE_U8
                        : bits == 16 ? NUM_DTYPE_U16
                        : bits == 32 ? NUM_DTYPE_U32
                                     : NUM_DTYPE_U64,
                        1);
}

static unsigned bits_of(ir_type type) {
    return type.kind == IR_TYPE_POINTER ? 64 : num_dtype_bits((num_dtype)type.dtype) * type.lanes;
}

/* The scalar type in which a value travels: itself where a register can have it, else its bits. */
static bool carrier_of(ir_type type, ir_type *carrier) {
    unsigned bits = type.kind == IR_TYPE_PRIM ? bits_of(type) : 0;
    *carrier = type;
    if (type.kind == IR_TYPE_PRIM && type.lanes == 1 && ir_ptx_type(type) != PTX_TYPE_NONE)
        return true;
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        return false;
    *carrier = bits_type(bits);
    return true;
}

static const ir_expr *reinterpreted(matcher *m, const ir_expr *x, ir_type type) {
    if (ir_type_equal(x->type, type))
        return x;
    return x->type.lanes == 1 && type.lanes == 1 && x->type.kind == IR_TYPE_PRIM
               ? ir_reinterpret(m->e->module, type, x)
               : ir_make(m->e->module, IR_REINTERPRET, type, &x, 1);
}

static ptx_pattern_operand add_argument(matcher *m, const ir_expr *x) {
    for (uint32_t i = 0; i < m->arg_count; i++)
        if (m->args[i] == x)
            return (ptx_pattern_operand){.kind = PTX_PATTERN_ARGUMENT, .index = i};
    m->args[m->arg_count] = x;
    return (ptx_pattern_operand){.kind = PTX_PATTERN_ARGUMENT, .index = m->arg_count++};
}

/* ---- destinations ---- */

static bool take_destination(matcher *m, uint32_t at, const ptx_pattern_rule *rule, bool is_predicate,
                             ptx_pattern_operand *operand) {
    script_value v = m->values[at].v;
    destination d = {.span = m->values[at].span, .is_predicate = is_predicate};
    if (is_sink(v)) {
        *operand = (ptx_pattern_operand){.kind = PTX_PATTERN_SINK};
        return true;
    }
    if (v.kind == SCRIPT_VALUE_TENSOR && script_is_single(v.as.tensor)) {
        const ir_expr **zero = BASE_NEW_ARRAY(m->e->arena, const ir_expr *, 1);
        zero[0] = ir_int(m->e->module, NUM_DTYPE_I32, 0);
        d.tensor = v.as.tensor;
        d.indices = zero;
        d.count = 1;
    } else if (v.kind == SCRIPT_VALUE_EXPR && v.as.expr->op == IR_LOAD) {
        d.tensor = (ir_tensor *)(uintptr_t)v.as.expr->at.tensor;
        d.indices = v.as.expr->args;
        d.count = v.as.expr->count;
        if (d.indices[d.count - 1]->type.lanes > 1)
            return refuse(m, at, rule, "is several elements; name them one by one");
    } else if (v.kind == SCRIPT_VALUE_EXPR && v.as.expr->op == IR_VAR) {
        return refuse(m, at, rule,
                      "is written by the instruction, and '%s' is a let, which keeps its value: use a "
                      "scalar, x: T.int32, or a tensor element",
                      v.as.expr->at.var->name);
    } else {
        return refuse(m, at, rule,
                      "is written by the instruction: a mutable scalar or a tensor element, not %s",
                      script_value_name(m->e->arena, v));
    }
    d.element = script_element_type(d.tensor);
    if (is_predicate)
        d.carrier = ir_type_prim(NUM_DTYPE_BOOL, 1);
    else if (!carrier_of(d.element, &d.carrier))
        return refuse(m, at, rule, "is %s, which no register holds", type_of(m, d.element));
    if (!is_predicate && rule->bits && rule->bits >= 8 && bits_of(d.carrier) != rule->bits &&
        !(rule->role == PTX_ROLE_MOVED))
        if (bits_of(d.carrier) < rule->bits || rule->type == PTX_TYPE_NONE)
            return refuse(m, at, rule, "takes %u bits, '%s' is %s", rule->bits, d.tensor->name,
                          type_of(m, d.element));
    *operand = (ptx_pattern_operand){.kind = PTX_PATTERN_RESULT, .index = m->result_count};
    m->results[m->result_count++] = d;
    return true;
}

/* ---- sources ---- */

static bool is_float_type(ptx_type type) {
    return type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 || type == PTX_TYPE_F32 || type == PTX_TYPE_TF32 ||
           type == PTX_TYPE_F64;
}

static bool is_signed_type(ptx_type type) {
    return type == PTX_TYPE_S8 || type == PTX_TYPE_S16 || type == PTX_TYPE_S32 || type == PTX_TYPE_S64;
}

static const ir_expr *literal_value(matcher *m, uint32_t at, const ptx_pattern_rule *rule) {
    script_value v = m->values[at].v;
    unsigned bits = rule->bits ? rule->bits : 32;
    num_dtype real = rule->type == PTX_TYPE_F64    ? NUM_DTYPE_F64
                     : rule->type == PTX_TYPE_F16  ? NUM_DTYPE_F16
                     : rule->type == PTX_TYPE_BF16 ? NUM_DTYPE_BF16
                                                   : NUM_DTYPE_F32;
    int64_t value = 0;
    if (is_float_type(rule->type)) {
        double x = v.kind == SCRIPT_VALUE_FLOAT ? v.as.real : 0;
        if (v.kind != SCRIPT_VALUE_FLOAT && script_value_integer(v, &value))
            x = (double)value;
        return ir_float(m->e->module, real, x);
    }
    if (v.kind == SCRIPT_VALUE_FLOAT) {
        refuse(m, at, rule,
               "is the float literal %g, which .%s would cut: write an integer, or reinterpret it", v.as.real,
               rule->type ? ptx_type_name(rule->type) : "b32");
        return NULL;
    }
    script_value_integer(v, &value);
    int64_t low = bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    int64_t high = bits >= 64 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    if (value < low || value > high) {
        refuse(m, at, rule, "is %lld, which %u bits do not hold", (long long)value, bits);
        return NULL;
    }
    bool is_signed = is_signed_type(rule->type);
    num_dtype dtype = bits <= 8    ? (is_signed ? NUM_DTYPE_I8 : NUM_DTYPE_U8)
                      : bits == 16 ? (is_signed ? NUM_DTYPE_I16 : NUM_DTYPE_U16)
                      : bits == 32 ? (is_signed ? NUM_DTYPE_I32 : NUM_DTYPE_U32)
                                   : (is_signed ? NUM_DTYPE_I64 : NUM_DTYPE_U64);
    return ir_int(m->e->module, dtype, value);
}

static bool is_literal(script_value v) {
    return v.kind == SCRIPT_VALUE_INT || v.kind == SCRIPT_VALUE_FLOAT || v.kind == SCRIPT_VALUE_BOOL;
}

/* The expression of an argument; NULL: it has none. */
static const ir_expr *expression(matcher *m, uint32_t at, const ptx_pattern_rule *rule) {
    script_value v = m->values[at].v;
    if (v.kind == SCRIPT_VALUE_EXPR)
        return v.as.expr;
    if (v.kind == SCRIPT_VALUE_TENSOR && v.as.tensor->type.scope == IR_SCOPE_TMEM)
        return script_tmem_address(m->e, v.as.tensor, NULL, m->values[at].span);
    if (v.kind == SCRIPT_VALUE_TENSOR && script_is_single(v.as.tensor))
        return script_to_expr(m->e, v, m->values[at].span);
    refuse(m, at, rule, "is %s, not a value", is_sink(v) ? "SINK" : script_value_name(m->e->arena, v));
    return NULL;
}

/* A pointer as a number: 32 bits are an address of shared or tensor memory, 64 a generic one. */
static const ir_expr *pointer_number(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                                     const ir_expr *x) {
    ir_scope scope = (ir_scope)x->type.scope;
    if (scope == IR_SCOPE_TMEM)
        return script_tmem_pointer_address(m->e, x, m->values[at].span);
    if (rule->bits == 64)
        return ir_make(m->e->module, IR_REINTERPRET, ir_type_prim(NUM_DTYPE_U64, 1), &x, 1);
    if (rule->bits == 32 && (scope == IR_SCOPE_SHARED || scope == IR_SCOPE_SHARED_DYN))
        return ir_make(m->e->module, IR_SHARED_ADDRESS, ir_type_prim(NUM_DTYPE_U32, 1), &x, 1);
    refuse(m, at, rule, "is %s, which is no value of %u bits", type_of(m, x->type), rule->bits);
    return NULL;
}

static bool take_value(matcher *m, uint32_t at, const ptx_pattern_rule *rule, ptx_pattern_operand *operand) {
    script_value v = m->values[at].v;
    const ir_expr *x = is_literal(v) ? literal_value(m, at, rule) : expression(m, at, rule);
    ir_type carrier;
    if (!x)
        return false;
    if (x->type.kind == IR_TYPE_POINTER && !(x = pointer_number(m, at, rule, x)))
        return false;
    if (!carrier_of(x->type, &carrier))
        return refuse(m, at, rule, "is %s, which no register holds", type_of(m, x->type));
    x = reinterpreted(m, x, carrier);
    if (ir_type_is_bool(x->type) && rule->bits > 1 && !is_float_type(rule->type))
        x = ir_cast(m->e->module, bits_type(rule->bits), x);
    unsigned bits = bits_of(x->type);
    bool wide = bits > rule->bits && rule->type != PTX_TYPE_NONE && rule->bits <= 16;
    if (rule->bits > 1 && bits != rule->bits && !wide && rule->role != PTX_ROLE_MOVED)
        return refuse(m, at, rule, "is %s, but .%s%.0u takes %u bits: convert it", type_of(m, x->type),
                      rule->type ? ptx_type_name(rule->type) : "b", 0u, rule->bits);
    if (is_float_type(rule->type) && rule->bits >= 32 && !ir_type_is_float(x->type))
        return refuse(m, at, rule, "is %s, but .%s takes a float of %u bits; T.reinterpret keeps the bits",
                      type_of(m, x->type), ptx_type_name(rule->type), rule->bits);
    *operand = add_argument(m, x);
    return true;
}

static bool take_predicate(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                           ptx_pattern_operand *operand) {
    script_value v = m->values[at].v;
    const ir_expr *x;
    int64_t value;
    if (script_value_integer(v, &value))
        x = ir_bool(m->e->module, value != 0);
    else
        x = expression(m, at, rule);
    if (!x)
        return false;
    if (x->type.kind != IR_TYPE_PRIM || x->type.lanes != 1 || ir_type_is_float(x->type))
        return refuse(m, at, rule, "is %s, but a predicate is needed: a bool or an integer",
                      type_of(m, x->type));
    if (!ir_type_is_bool(x->type))
        x = ir_binary(m->e->module, IR_NE, x, ir_int(m->e->module, (num_dtype)x->type.dtype, 0));
    *operand = add_argument(m, x);
    return true;
}

static bool take_constant(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                          ptx_pattern_operand *operand) {
    script_value v = m->values[at].v;
    int64_t value;
    bool known = script_value_integer(v, &value) ||
                 (v.kind == SCRIPT_VALUE_EXPR && script_expr_constant(m->e, v.as.expr, &value));
    if (!known)
        return refuse(m, at, rule, "has to be a constant");
    *operand = (ptx_pattern_operand){.kind = PTX_PATTERN_CONSTANT, .bits = (uint64_t)value};
    return true;
}

/* ---- addresses ---- */

static bool is_shared(ir_scope scope) {
    return scope == IR_SCOPE_SHARED || scope == IR_SCOPE_SHARED_DYN;
}

static const ir_expr *address_expression(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                                         script_value v) {
    int64_t value;
    if (v.kind == SCRIPT_VALUE_TENSOR && v.as.tensor->type.scope == IR_SCOPE_TMEM)
        return script_tmem_address(m->e, v.as.tensor, NULL, m->values[at].span);
    if (v.kind == SCRIPT_VALUE_TENSOR &&
        (v.as.tensor->type.scope != IR_SCOPE_LOCAL || !script_is_single(v.as.tensor))) {
        if (rule->space == PTX_PLACE_TENSOR && script_is_single(v.as.tensor))
            return script_to_expr(m->e, v, m->values[at].span); /* the address that a slot holds */
        return ir_data(m->e->module, v.as.tensor);
    }
    if (script_value_integer(v, &value)) {
        bool narrow = rule->space == PTX_PLACE_SHARED || rule->space == PTX_PLACE_TENSOR;
        return ir_int(m->e->module, narrow ? NUM_DTYPE_U32 : NUM_DTYPE_U64, value);
    }
    given was = m->values[at];
    m->values[at].v = v;
    const ir_expr *x = expression(m, at, rule);
    m->values[at].v = was.v;
    return x;
}

static bool wrong_address(matcher *m, uint32_t at, const ptx_pattern_rule *rule, const ir_expr *x) {
    static const char *const wanted[] = {
        [PTX_PLACE_GENERIC] = "a generic address: a pointer or uint64",
        [PTX_PLACE_GLOBAL] = "an address in global memory: a pointer to it or uint64",
        [PTX_PLACE_SHARED] = "an address in shared memory: a pointer to it or uint32",
        [PTX_PLACE_LOCAL] = "an address in local, const or param memory, which T.ptx does not take",
        [PTX_PLACE_TENSOR] = "an address in tensor memory: uint32, as tcgen05.alloc wrote it",
    };
    return refuse(m, at, rule, "is %s, but the instruction takes %s", type_of(m, x->type),
                  wanted[rule->space]);
}

/* The reference prints a scalar in shared memory as one of the thread, "bar: T.uint64". Where such a text
 * takes the address of one for shared memory, there was one. */
static bool was_shared(script_evaluator *e, const ir_expr **x, base_span span) {
    static const char header[] = "# from tvm.script import";
    const ir_expr *address = *x;
    const base_sources *sources = base_diagnostics_sources(e->diagnostics);
    if (address->op != IR_ADDRESS && address->op != IR_DATA)
        return false;
    ir_tensor *tensor = (ir_tensor *)(uintptr_t)address->at.tensor;
    base_text text = base_source_text(sources, tensor->span.file);
    base_text line =
        base_source_line(sources, tensor->span.file, base_span_place(sources, tensor->span).line);
    size_t head = text.size < 400 ? text.size : 400; /* comments may stand before it */
    if (!tensor->is_scalar || tensor->kind != IR_TENSOR_ALLOCATION || memchr(line.data, '=', line.size) ||
        !memmem(text.data, head, header, sizeof(header) - 1))
        return false;
    tensor->type.scope = IR_SCOPE_SHARED;
    *x = address->op == IR_DATA ? ir_data(e->module, tensor)
                                : ir_address(e->module, tensor, address->args, address->count);
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0287", tensor->span,
                    "'%s' is taken as shared memory, which the printed text leaves out", tensor->name);
    base_note(e->diagnostics, d, span, "its address in shared memory is taken here");
    return true;
}

static bool take_address(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                         ptx_pattern_operand *operand) {
    script_value v = m->values[at].v;
    int64_t offset = 0;
    if (v.kind == SCRIPT_VALUE_PTX_ADDRESS) {
        offset = v.as.list->items.items[1].as.integer;
        v = v.as.list->items.items[0];
    }
    const ir_expr *x = address_expression(m, at, rule, v);
    if (!x)
        return false;
    bool is_pointer = x->type.kind == IR_TYPE_POINTER;
    ir_scope scope = (ir_scope)x->type.scope;
    unsigned bits = is_pointer ? 0 : ir_type_is_integer(x->type) && x->type.lanes == 1 ? bits_of(x->type) : 1;
    bool untyped = is_pointer && x->type.dtype == NUM_DTYPE_NONE && scope == IR_SCOPE_GLOBAL;
    switch (rule->space) {
    case PTX_PLACE_SHARED:
        if (is_pointer && (is_shared(scope) || untyped ||
                           (scope == IR_SCOPE_LOCAL && was_shared(m->e, &x, m->values[at].span))))
            x = ir_make(m->e->module, IR_SHARED_ADDRESS, ir_type_prim(NUM_DTYPE_U32, 1), &x, 1);
        else if (bits != 32)
            return wrong_address(m, at, rule, x);
        break;
    case PTX_PLACE_GLOBAL:
        if (is_pointer ? scope != IR_SCOPE_GLOBAL : bits != 64)
            return wrong_address(m, at, rule, x);
        break;
    case PTX_PLACE_GENERIC:
        if (is_pointer ? scope == IR_SCOPE_TMEM : bits != 64)
            return wrong_address(m, at, rule, x);
        break;
    case PTX_PLACE_TENSOR:
        if (is_pointer && scope == IR_SCOPE_TMEM)
            x = script_tmem_pointer_address(m->e, x, m->values[at].span);
        else if (bits != 32)
            return wrong_address(m, at, rule, x);
        break;
    default:
        return wrong_address(m, at, rule, x);
    }
    if (!x)
        return false;
    ptx_pattern_operand *base = BASE_NEW_ARRAY(m->e->arena, ptx_pattern_operand, 1);
    base[0] = add_argument(m, x);
    *operand = (ptx_pattern_operand){
        .kind = PTX_PATTERN_ADDRESS, .bits = (uint64_t)offset, .count = 1, .args = base};
    return true;
}

/* [map, {c0, c1}]: the map is a generic address, coordinates are 32-bit integers. */
static bool take_coordinates(matcher *m, uint32_t at, const ptx_pattern_rule *rule,
                             ptx_pattern_operand *operand) {
    static const ptx_pattern_rule coordinate = {
        .role = PTX_ROLE_VALUE, .name = "coordinate", .type = PTX_TYPE_S32, .bits = 32};
    ptx_pattern_operand address, *both = BASE_NEW_ARRAY(m->e->arena, ptx_pattern_operand, 2);
    if (!take_address(m, at, rule, &address))
        return false;
    both[0] = address.args[0];
    both[1] = (ptx_pattern_operand){.kind = PTX_PATTERN_VECTOR, .count = rule->count};
    both[1].args = BASE_NEW_ARRAY(m->e->arena, ptx_pattern_operand, rule->count + 1);
    for (uint32_t i = 0; i < rule->count; i++)
        if (!take_value(m, at + 1 + i, &coordinate, &both[1].args[i]))
            return false;
    *operand = (ptx_pattern_operand){.kind = PTX_PATTERN_ADDRESS, .count = 2, .args = both};
    return true;
}

/* ---- matching ---- */

static bool match(matcher *m, uint32_t rule, uint32_t at);

static bool take_one(matcher *m, uint32_t at, const ptx_pattern_rule *rule, ptx_pattern_operand *operand) {
    if (rule->written)
        return take_destination(m, at, rule,
                                rule->role == PTX_ROLE_PREDICATE ||
                                    (rule->role == PTX_ROLE_PAIR && rule->type == PTX_TYPE_PRED),
                                operand);
    switch (rule->role) {
    case PTX_ROLE_PREDICATE:
        return take_predicate(m, at, rule, operand);
    case PTX_ROLE_CONSTANT:
        return take_constant(m, at, rule, operand);
    case PTX_ROLE_CONSTANT_OR_PREDICATE:
        return m->values[at].v.kind == SCRIPT_VALUE_INT ? take_constant(m, at, rule, operand)
                                                        : take_predicate(m, at, rule, operand);
    case PTX_ROLE_ADDRESS:
        return take_address(m, at, rule, operand);
    case PTX_ROLE_COORDINATES:
        return take_coordinates(m, at, rule, operand);
    case PTX_ROLE_PAIR:
        if (rule->type == PTX_TYPE_PRED)
            return take_predicate(m, at, rule, operand);
        return take_value(m, at, rule, operand);
    default:
        return take_value(m, at, rule, operand);
    }
}

/* A vector or pair of `count` values from `at` on, and then the rest. */
static bool take_group(matcher *m, uint32_t index, uint32_t at, uint32_t count, ptx_pattern_kind kind) {
    ptx_pattern_rule part = m->form->rules[index], *rule = &part;
    uint32_t results = m->result_count, args = m->arg_count, operands = m->operand_count;
    ptx_pattern_operand *items = BASE_NEW_ARRAY(m->e->arena, ptx_pattern_operand, count + 1);
    if (rule->role == PTX_ROLE_MOVED) {
        part.bits /= count;
        part.type = PTX_TYPE_NONE;
    }
    if (kind == PTX_PATTERN_WIDE) {
        part.bits = 64;
        part.type = PTX_TYPE_B64;
    }
    bool good = at + count <= m->count;
    if (!good)
        refuse(m, m->count, NULL, "%s takes %u values, %u are left", rule->name, count, m->count - at);
    for (uint32_t i = 0; good && i < count; i++) {
        if (kind == PTX_PATTERN_PAIR && i == 1)
            good = rule->written ? take_destination(m, at + i, rule, true, &items[i])
                                 : take_predicate(m, at + i, rule, &items[i]);
        else
            good = take_one(m, at + i, rule, &items[i]);
    }
    if (good) {
        m->operands[m->operand_count++] = (ptx_pattern_operand){.kind = kind, .count = count, .args = items};
        good = match(m, index + 1, at + count);
    }
    if (!good) {
        m->result_count = results;
        m->arg_count = args;
        m->operand_count = operands;
    }
    return good;
}

/* One operand from `used` values; NULL operand: nothing, or _ where the rule writes. */
static bool take_single(matcher *m, uint32_t index, uint32_t at, uint32_t used) {
    const ptx_pattern_rule *rule = &m->form->rules[index];
    uint32_t results = m->result_count, args = m->arg_count, operands = m->operand_count;
    ptx_pattern_operand operand = {.kind = PTX_PATTERN_SINK};
    bool good = at + used <= m->count;
    if (!good)
        refuse(m, m->count, NULL, "an argument for %s is missing", rule->name);
    good = good && (used == 0 || take_one(m, at, rule, &operand));
    if (good) {
        if (used || rule->sinkable || rule->role == PTX_ROLE_SINK)
            m->operands[m->operand_count++] = operand;
        good = match(m, index + 1, at + used);
    }
    if (!good) {
        m->result_count = results;
        m->arg_count = args;
        m->operand_count = operands;
    }
    return good;
}

/* Bits of an argument as it stands; 0: a literal or _, which takes any. */
static unsigned width_at(const matcher *m, uint32_t at) {
    script_value v = m->values[at].v;
    if (v.kind == SCRIPT_VALUE_EXPR)
        return bits_of(v.as.expr->type);
    return v.kind == SCRIPT_VALUE_TENSOR ? bits_of(script_element_type(v.as.tensor)) : 0;
}

/* mov packs and unpacks: one value of the type's width, or parts that make it up. */
static bool match_moved(matcher *m, uint32_t index, uint32_t at) {
    const ptx_pattern_rule *rule = &m->form->rules[index];
    unsigned part = 0;
    if (at >= m->count)
        return refuse(m, at, NULL, "an argument for %s is missing", rule->name);
    for (uint32_t i = at; part == 0 && i < m->count && i < at + 8; i++)
        part = width_at(m, i);
    if (part == 0 || part >= rule->bits || width_at(m, at) >= rule->bits)
        return take_single(m, index, at, 1);
    return take_group(m, index, at, rule->bits / part, PTX_PATTERN_VECTOR) || take_single(m, index, at, 1);
}

static bool match_vector(matcher *m, uint32_t index, uint32_t at) {
    const ptx_pattern_rule *rule = &m->form->rules[index];
    if (rule->count)
        return take_group(m, index, at, rule->count, PTX_PATTERN_VECTOR);
    if (at < m->count && m->values[at].group)
        return take_group(m, index, at, m->values[at].group, PTX_PATTERN_VECTOR);
    for (uint32_t count = m->count - at; count >= 1; count--)
        if (take_group(m, index, at, count, PTX_PATTERN_VECTOR))
            return true;
    return refuse(m, at, rule, "is a vector: give its values as a list");
}

/* 128 bits are two values of 64, the lower half first. */
static bool take_wide(matcher *m, uint32_t index, uint32_t at) {
    const ptx_pattern_rule *rule = &m->form->rules[index];
    if ((rule->optional || rule->sinkable) && at < m->count && is_sink(m->values[at].v))
        return take_single(m, index, at, 1);
    if (at + 2 > m->count)
        return refuse(m, at, NULL, "%s has 128 bits: give its lower and its upper half, two uint64",
                      rule->name);
    return take_group(m, index, at, 2, PTX_PATTERN_WIDE);
}

static bool match(matcher *m, uint32_t index, uint32_t at) {
    if (index == m->form->count)
        return at == m->count || refuse(m, at, NULL, "%u arguments are given, %u are taken", m->count, at);
    const ptx_pattern_rule *rule = &m->form->rules[index];
    switch (rule->role) {
    case PTX_ROLE_OTHER:
        return refuse(m, at, NULL, "the operand %s cannot be written in a script", rule->name);
    case PTX_ROLE_SINK:
        return take_single(m, index, at, at < m->count && is_sink(m->values[at].v) ? 1 : 0);
    case PTX_ROLE_PAIR:
        return (at + 2 <= m->count && take_group(m, index, at, 2, PTX_PATTERN_PAIR)) ||
               take_single(m, index, at, 1);
    case PTX_ROLE_MOVED:
        return match_moved(m, index, at);
    case PTX_ROLE_VECTOR:
        if (!rule->optional)
            return match_vector(m, index, at);
        return (at < m->count && match_vector(m, index, at)) || match(m, index + 1, at);
    case PTX_ROLE_COORDINATES:
        if (at + 1 + rule->count > m->count)
            return refuse(m, m->count, NULL, "a tensor map and %u coordinates are taken", rule->count);
        return take_single(m, index, at, 1 + rule->count);
    default:
        break;
    }
    if (rule->bits == 128 && rule->role == PTX_ROLE_VALUE)
        return take_wide(m, index, at);
    if (rule->optional || rule->sinkable)
        return (at < m->count && take_single(m, index, at, 1)) || take_single(m, index, at, 0);
    return take_single(m, index, at, 1);
}

/* ---- the call ---- */

static bool flatten(matcher *m, script_value v, base_span span) {
    if (v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_LIST) {
        uint32_t first = m->count;
        for (size_t i = 0; i < v.as.list->items.count; i++)
            if (!flatten(m, v.as.list->items.items[i], span))
                return false;
        if (m->count > first)
            m->values[first].group = m->count - first;
        return true;
    }
    if (m->count >= MAX_VALUES - 2) {
        script_error(m->e, "T0518", span, "an instruction of more than %d operands", MAX_VALUES - 2);
        return false;
    }
    m->values[m->count++] = (given){v, span, 0};
    return true;
}

/* The one type in which all results come: theirs where they agree, else bits of their width. */
static bool result_type(matcher *m, ir_type *type) {
    bool any = false, same = true;
    *type = ir_type_prim(NUM_DTYPE_BOOL, 1);
    for (uint32_t i = 0; i < m->result_count; i++) {
        if (m->results[i].is_predicate)
            continue;
        ir_type carrier = m->results[i].carrier;
        if (any && bits_of(carrier) != bits_of(*type))
            return refuse(m, i, NULL, "the destinations have different widths");
        same &= !any || ir_type_equal(carrier, *type);
        if (!any)
            *type = carrier;
        any = true;
    }
    if (!same)
        *type = bits_type(bits_of(*type));
    return true;
}

static bool check(matcher *m, ir_type type, base_builder *accepted) {
    script_evaluator *e = m->e;
    base_builder why;
    base_builder_start(&why, e->arena);
    ptx_type *types = BASE_NEW_ARRAY(e->arena, ptx_type, m->result_count + m->arg_count + 1);
    for (uint32_t i = 0; i < m->result_count; i++)
        types[i] = ir_ptx_type(type);
    for (uint32_t i = 0; i < m->arg_count; i++)
        types[m->result_count + i] = ir_ptx_type(m->args[i]->type);
    m->pattern.operands = m->operands;
    m->pattern.operand_count = m->operand_count;
    m->pattern.results = m->result_count;
    m->pattern.arguments = m->arg_count;
    ptx_pattern_predicates(&m->pattern, types);
    if (ptx_pattern_check(e->arena, &e->module->patterns, &m->pattern, types, types + m->result_count, &why,
                          accepted))
        return true;
    return refuse(m, m->count, NULL, "%s", why.data);
}

static const ir_expr *result_as(matcher *m, const destination *d, const ir_expr *x) {
    ir_module *module = m->e->module;
    if (d->is_predicate)
        return ir_type_is_bool(x->type)
                   ? x
                   : ir_binary(module, IR_NE, x,
                               ir_type_is_float(x->type) ? ir_float(module, (num_dtype)x->type.dtype, 0)
                                                         : ir_int(module, (num_dtype)x->type.dtype, 0));
    return reinterpreted(m, reinterpreted(m, x, d->carrier), d->element);
}

/* What a result has where the guard is false, or what the instruction adds to: the destination's value. */
static uint32_t kept_argument(matcher *m, const destination *d, ir_type type, bool preserve) {
    ir_module *module = m->e->module;
    const ir_expr *x = ir_type_is_float(type)  ? ir_float(module, (num_dtype)type.dtype, 0)
                       : ir_type_is_bool(type) ? ir_bool(module, false)
                                               : ir_int(module, (num_dtype)type.dtype, 0);
    if (preserve) {
        const ir_expr *old = ir_load(module, d->tensor, d->indices, d->count);
        if (d->is_predicate)
            x = ir_cast(module, type, old);
        else
            x = reinterpreted(m, reinterpreted(m, old, d->carrier), type);
    }
    return add_argument(m, x).index;
}

static void emit(matcher *m, ir_type type, base_span span) {
    script_evaluator *e = m->e;
    base_builder pattern, type_text;
    base_builder_start(&pattern, e->arena);
    base_builder_start(&type_text, e->arena);
    ptx_pattern_print(&m->pattern, &pattern);
    type.lanes = (uint16_t)(m->result_count ? m->result_count : 1);
    if (m->result_count == 0)
        type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
    ir_type_print(type, &type_text);
    const ir_expr **args = BASE_NEW_ARRAY(e->arena, const ir_expr *, m->arg_count + 2);
    args[0] = ir_string(e->module, pattern.data);
    args[1] = ir_string(e->module, type_text.data);
    memcpy(args + 2, m->args, m->arg_count * sizeof(*args));
    const ir_expr *x = ir_make(e->module, IR_PTX, type, args, m->arg_count + 2);
    if (m->result_count == 0) {
        ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_EVALUATE, e->statement);
        statement->as.evaluate.value = x;
        script_emit(e, statement);
        return;
    }
    if (m->result_count > 1)
        x = script_make_let(e, x, span).as.expr;
    for (uint32_t i = 0; i < m->result_count; i++) {
        const destination *d = &m->results[i];
        const ir_expr *value = m->result_count > 1 ? ir_lane(e->module, x, i) : x;
        script_store(e, d->tensor, d->indices, d->count, script_expr(result_as(m, d, value)), d->span, span);
    }
}

static bool take_guard(matcher *m, const script_arguments *arguments, bool *preserve) {
    static const ptx_pattern_rule rule = {.role = PTX_ROLE_PREDICATE, .name = "pred"};
    *preserve = false;
    m->pattern.guard = -1;
    for (size_t i = 0; i < arguments->items.count; i++) {
        const script_argument *a = &arguments->items.items[i];
        ptx_pattern_operand operand;
        if (!a->name)
            continue;
        if (strcmp(a->name, "preserve_dst") == 0) {
            if (!script_constant_bool(m->e, a->value, preserve, a->span, "preserve_dst"))
                return false;
            continue;
        }
        if (strcmp(a->name, "pred") != 0) {
            base_diagnostic *d =
                script_error(m->e, "T0204", a->span, "a PTX instruction takes no argument '%s'", a->name);
            base_help(m->e->diagnostics, d, "pred= guards it, preserve_dst=True keeps what it would write");
            return false;
        }
        m->values[m->count] = (given){a->value, a->span, 0};
        if (!take_predicate(m, m->count, &rule, &operand)) {
            script_error(m->e, "T0522", a->span, "pred= is %s; a guard is a bool or an integer",
                         script_value_name(m->e->arena, a->value));
            return false;
        }
        m->pattern.guard = operand.index;
    }
    return true;
}

static void keep_results(matcher *m, ir_type type, bool preserve) {
    bool reads = m->pattern.op == PTX_OP_WGMMA_MMA_ASYNC || m->pattern.op == PTX_OP_WGMMA_MMA_ASYNC_SP;
    if (m->result_count == 0 || (m->pattern.guard < 0 && !reads))
        return;
    m->pattern.keep = BASE_NEW_ARRAY(m->e->arena, uint32_t, m->result_count);
    m->pattern.keep_count = m->result_count;
    for (uint32_t i = 0; i < m->result_count; i++)
        m->pattern.keep[i] = kept_argument(m, &m->results[i], type, preserve || reads);
}

static script_value no_instruction(script_evaluator *e, base_span span, const char *text, ptx_op op,
                                   const base_builder *why, const base_builder *accepted) {
    base_diagnostic *d = script_error(e, "T0519", span, "T.ptx `%s`: %s", text, why->data);
    const char *near = script_ptx_suggest(e, text, op);
    if (accepted->size)
        base_help(e->diagnostics, d, "%saccepted: %s", near, accepted->data);
    else if (*near)
        base_help(e->diagnostics, d, "%s", near);
    return script_poison();
}

static script_value misfit(matcher *m, const char *accepted, base_span span) {
    base_diagnostic *d = script_error(m->e, "T0518", m->where.end ? m->where : span, "`%s`: %s", m->name,
                                      m->why[0] ? m->why : "the operands do not fit");
    base_help(m->e->diagnostics, d, "accepted: %s", accepted);
    return script_poison();
}

/* A name of an instruction as scripts write it, and its forms: kernels write few of them, many times. */
typedef struct known_name {
    struct known_name *next; /* of another name with the same hash */
    const char *text;
    ptx_pattern pattern; /* opcode, modifiers and types */
    const char *name;    /* in the table's order */
    ptx_pattern_form *forms;
    uint32_t count;
    const char *accepted; /* the forms in words */
} known_name;

static const known_name *know(script_evaluator *e, const char *text, base_span span) {
    base_builder why, accepted, name;
    uint64_t hash = base_hash(text, strlen(text), 0);
    if (!e->ptx_instructions)
        e->ptx_instructions = base_map_create(e->arena);
    known_name *first = base_map_get(e->ptx_instructions, hash);
    for (const known_name *k = first; k; k = k->next)
        if (strcmp(k->text, text) == 0)
            return k;
    known_name *fresh = BASE_NEW(e->arena, known_name);
    base_builder_start(&why, e->arena);
    base_builder_start(&accepted, e->arena);
    base_builder_start(&name, e->arena);
    if (ptx_pattern_name(e->arena, &e->module->patterns, text, strlen(text), &fresh->pattern, &why))
        fresh->count = ptx_pattern_forms(e->arena, &e->module->patterns, &fresh->pattern, &fresh->forms, &why,
                                         &accepted);
    else if (fresh->pattern.op != PTX_OP_NONE)
        ptx_pattern_near(e->arena, &e->module->patterns, &fresh->pattern, &accepted);
    if (fresh->count == 0) {
        no_instruction(e, span, text, fresh->pattern.op, &why, &accepted);
        return NULL;
    }
    ptx_pattern_print_name(&fresh->pattern, &name);
    fresh->next = first;
    fresh->text = base_arena_string(e->arena, text, strlen(text));
    fresh->name = name.data;
    fresh->accepted = accepted.data;
    base_map_set(e->ptx_instructions, hash, fresh);
    return fresh;
}

static script_value instruction(matcher *m, const known_name *known, const script_arguments *arguments,
                                base_span span) {
    script_evaluator *e = m->e;
    bool preserve, found = false;
    ir_type type = {0};
    m->pattern = known->pattern;
    m->name = known->name;
    for (size_t i = 0; i < arguments->items.count; i++)
        if (!arguments->items.items[i].name &&
            !flatten(m, arguments->items.items[i].value, arguments->items.items[i].span))
            return script_poison();
    if (!take_guard(m, arguments, &preserve))
        return script_poison();
    uint32_t guards = m->arg_count;
    for (uint32_t i = 0; i < known->count && !found; i++) {
        base_builder ignored;
        base_builder_start(&ignored, e->arena);
        m->form = &known->forms[i];
        m->result_count = m->operand_count = 0;
        m->arg_count = guards;
        found = match(m, 0, 0) && result_type(m, &type) && check(m, type, &ignored);
    }
    if (!found)
        return misfit(m, known->accepted, span);
    if (preserve && (m->pattern.guard < 0 || m->result_count == 0)) {
        script_error(e, "T0522", span, "preserve_dst= needs pred= and a destination");
        return script_poison();
    }
    keep_results(m, type, preserve);
    m->pattern.arguments = m->arg_count;
    emit(m, type, span);
    return script_none();
}

script_value script_ptx_instruction(script_evaluator *e, const char *text, const script_arguments *arguments,
                                    base_span span, base_span name_span) {
    if (!script_need_kernel(e, span, "a PTX instruction"))
        return script_poison();
    const known_name *known = know(e, script_ptx_family(e, text), name_span);
    if (!known)
        return script_poison();
    matcher *m = matcher_take(e);
    script_value result = instruction(m, known, arguments, span);
    matcher_give(m);
    return result;
}

/* ---- helpers of the namespace ---- */

/* T.ptx.pred(x): a predicate operand. T.ptx.addr(base, bytes): [base+bytes]. */
static script_value helper(script_evaluator *e, const char *text, const script_arguments *arguments,
                           base_span span) {
    size_t count = arguments->items.count;
    const script_argument *item = arguments->items.items;
    if (strcmp(text, "pred") == 0) {
        if (count != 1) {
            script_error(e, "T0203", span, "T.ptx.pred takes one value");
            return script_poison();
        }
        if (item[0].value.kind == SCRIPT_VALUE_BOOL)
            return item[0].value;
        const ir_expr *x = script_to_condition(e, item[0].value, item[0].span, "a predicate");
        return x ? script_expr(x) : script_poison();
    }
    int64_t offset;
    if (count != 2) {
        script_error(e, "T0203", span, "T.ptx.addr takes a base and an offset in bytes");
        return script_poison();
    }
    if (!script_constant_int(e, item[1].value, &offset, item[1].span, "the offset of an address"))
        return script_poison();
    if (item[0].value.kind == SCRIPT_VALUE_PTX_ADDRESS || offset < INT32_MIN || offset > INT32_MAX) {
        script_error(e, "T0522", item[1].span, "T.ptx.addr takes a plain base and an offset of 32 bits");
        return script_poison();
    }
    script_value v = script_list_make(e->arena, SCRIPT_VALUE_PTX_ADDRESS);
    script_list_add(e->arena, v, item[0].value);
    script_list_add(e->arena, v, script_int(offset));
    return v;
}

/* Jumps and calls have labels and functions, which a script has not; the kernel's own words make them. */
static bool is_control(script_evaluator *e, const char *text, base_span span) {
    static const struct {
        const char *op, *instead;
    } controls[] = {
        {"bra", "if, while, break and continue make branches"},
        {"brx", "if and elif make the choice among several"},
        {"call",
         "T.cuda.func_call(name, arguments..., SOURCE, ty=...) calls a function of CUDA source text"}};
    size_t size = strcspn(text, ".");
    for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
        if (strlen(controls[i].op) != size || strncmp(text, controls[i].op, size) != 0)
            continue;
        base_diagnostic *d = script_error(
            e, "T0286", span, "`%s` takes a label or a function, which a script cannot name", text);
        base_help(e->diagnostics, d, "%s", controls[i].instead);
        return true;
    }
    return false;
}

script_value script_ptx_call(script_evaluator *e, script_value callee, script_arguments *arguments,
                             const script_node *node, base_span span, base_span name_span) {
    const char *text = callee.as.string.text;
    if (strcmp(text, "pred") == 0 || strcmp(text, "addr") == 0)
        return helper(e, text, arguments, span);
    text = script_printed_ptx(e, text, arguments);
    const script_dialect_word *word = script_word_of("ptx", text); /* the older function style */
    if (word && word->kind == SCRIPT_WORD_FUNCTION && script_ptx_is_function_style(e, word, arguments)) {
        script_value as_word = {.kind = SCRIPT_VALUE_WORD, .as.word = word};
        return script_call_value(e, as_word, arguments, node, span, name_span);
    }
    if (is_control(e, text, name_span))
        return script_poison();
    return script_ptx_instruction(e, text, arguments, span, name_span);
}

const ir_expr *script_ptx_make(script_evaluator *e, ir_type type, const char *pattern,
                               const ir_expr *const *values, uint32_t count) {
    base_builder text;
    const ir_expr **args = BASE_NEW_ARRAY(e->arena, const ir_expr *, count + 2);
    base_builder_start(&text, e->arena);
    ir_type_print(type, &text);
    args[0] = ir_string(e->module, pattern);
    args[1] = ir_string(e->module, text.data);
    if (count)
        memcpy(args + 2, values, count * sizeof(*args));
    return ir_make(e->module, IR_PTX, type, args, count + 2);
}

const ir_expr *script_ptx_shared_address(script_evaluator *e, script_value v, base_span span) {
    static const ptx_pattern_rule rule = {
        .role = PTX_ROLE_ADDRESS, .name = "address", .space = PTX_PLACE_SHARED};
    ptx_pattern_operand operand;
    if (script_is_poison(v))
        return NULL;
    matcher *m = matcher_take(e);
    m->values[0] = (given){v, span, 0};
    m->count = 1;
    const ir_expr *x = take_address(m, 0, &rule, &operand) ? m->args[0] : NULL;
    if (!x)
        script_error(e, "T0518", span, "%s", m->why);
    matcher_give(m);
    if (!x)
        return NULL;
    if (operand.bits)
        x = ir_binary(e->module, IR_ADD, x,
                      ir_int(e->module, (num_dtype)x->type.dtype, (int64_t)operand.bits));
    return script_cast(e, x, ir_type_prim(NUM_DTYPE_U32, 1), span);
}
