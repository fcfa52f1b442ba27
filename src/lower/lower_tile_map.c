/* SPDX-License-Identifier: Apache-2.0
 * Tile operations that give every element of the destination a value of the sources' elements at the same
 * place: copy, cast, fill, and arithmetic; and permute_layout, which moves elements between two layouts that
 * may share their storage. Must not know how elements are given to threads (lower_tile_walk.c). */
#include "lower/lower_tile.h"
#include <string.h>

static bool is(const lower_tile *op, const char *name) {
    return !strcmp(op->name, name);
}

/* ---- values ---- */

static const ir_expr *constant(const lower_tile *op, ir_type type, double value) {
    num_dtype dtype = (num_dtype)type.dtype;
    const ir_expr *e = num_dtype_is_float(dtype) ? ir_float(op->module, dtype, value)
                                                 : ir_int(op->module, dtype, (int64_t)value);
    return type.lanes == 1 ? e : ir_make(op->module, IR_BROADCAST, type, &e, 1);
}

static const ir_expr *unary(const lower_tile *op, ir_op operation, const ir_expr *a) {
    return ir_make(op->module, operation, a->type, &a, 1);
}

static const ir_expr *binary(const lower_tile *op, ir_op operation, const ir_expr *a, const ir_expr *b) {
    const ir_expr *args[] = {a, b};
    return ir_make(op->module, operation, a->type, args, 2);
}

static const struct {
    const char *name;
    ir_op operation;
    bool floats; /* only of floats */
} arithmetic[] = {
    {"sqrt", IR_SQRT, true}, {"exp", IR_EXP, true},        {"exp2", IR_EXP2, true},
    {"log2", IR_LOG2, true}, {"reciprocal", IR_DIV, true}, {"silu", IR_DIV, true},
    {"add", IR_ADD, false},  {"sub", IR_SUB, false},       {"mul", IR_MUL, false},
    {"fdiv", IR_DIV, true},  {"maximum", IR_MAX, false},   {"minimum", IR_MIN, false},
    {"fma", IR_FMA, false},
};
enum { ARITHMETIC = sizeof(arithmetic) / sizeof(arithmetic[0]) };

static int find_arithmetic(const lower_tile *op) {
    for (int i = 0; i < (int)ARITHMETIC; i++)
        if (is(op, arithmetic[i].name))
            return i;
    return -1;
}

/* x * scale + bias, where they were given. */
static const ir_expr *scaled(const lower_tile *op, const ir_expr *x, const ir_expr *scale,
                             const ir_expr *bias) {
    if (scale)
        x = binary(op, IR_MUL, x, scale);
    return bias ? binary(op, IR_ADD, x, bias) : x;
}

/* binary_chain: the operation that an attribute names, -1 when it names none of two operands. */
static int chained(const lower_tile *op, const char *attribute) {
    const ir_expr *given = lower_tile_attribute(op, attribute, 0);
    for (int i = 0; i < (int)ARITHMETIC; i++)
        if (given && given->op == IR_STRING && !strcmp(given->at.string, arithmetic[i].name) &&
            ir_op_information(arithmetic[i].operation)->arguments == 2 &&
            strcmp(arithmetic[i].name, "reciprocal") && strcmp(arithmetic[i].name, "silu"))
            return i;
    return -1;
}

/* (operand0 op0 data) op1 operand1, or with the second the other way round. */
static const ir_expr *chain(const lower_tile *op, const ir_expr *const *x) {
    const ir_expr *first = binary(op, arithmetic[chained(op, "op0")].operation, x[1], x[0]);
    ir_op second = arithmetic[chained(op, "op1")].operation;
    return lower_tile_constant(op, "reverse1", 0) ? binary(op, second, x[2], first)
                                                  : binary(op, second, first, x[2]);
}

static const ir_expr *compute(const lower_tile *op, const ir_expr *const *x) {
    int row = find_arithmetic(op);
    const ir_expr *one;
    if (is(op, "binary_chain"))
        return chain(op, x);
    if (row < 0)
        return x[0];
    ir_op operation = arithmetic[row].operation;
    if (is(op, "reciprocal"))
        return binary(op, IR_DIV, constant(op, x[0]->type, 1), x[0]);
    if (is(op, "silu")) {
        one = constant(op, x[0]->type, 1);
        return binary(op, IR_DIV, x[0], binary(op, IR_ADD, one, unary(op, IR_EXP, unary(op, IR_NEG, x[0]))));
    }
    if (is(op, "fma")) {
        const ir_expr *args[] = {x[0], x[1], x[2]};
        return ir_make(op->module, IR_FMA, x[0]->type, args, 3);
    }
    return ir_op_information(operation)->arguments == 1 ? unary(op, operation, x[0])
                                                        : binary(op, operation, x[0], x[1]);
}

/* The type that the operation computes in: of the first source that has elements, else the destination's. */
static num_dtype computed_in(const lower_tile *op) {
    for (uint32_t i = 1; i < op->count; i++)
        if (op->operands[i].is_region)
            return op->operands[i].region.tensor->type.dtype;
    return op->operands[0].region.tensor->type.dtype;
}

static const ir_expr *converted(const lower_tile *op, const ir_expr *x, num_dtype dtype) {
    ir_type type = ir_type_prim(dtype, x->type.lanes);
    return ir_type_equal(type, x->type) ? x : ir_make(op->module, IR_CAST, type, &x, 1);
}

/* ---- which elements meet ---- */

static bool converts(const lower_tile *op) {
    return !is(op, "copy") && !is(op, "permute_layout");
}

static const char *check_types(const lower_tile *op) {
    base_arena *arena = op->context->arena;
    const ir_tensor *to = op->operands[0].region.tensor;
    int row = find_arithmetic(op);
    num_dtype dtype = computed_in(op);
    for (uint32_t i = 1; i < op->count; i++) {
        const ir_tensor *from = op->operands[i].is_region ? op->operands[i].region.tensor : NULL;
        if (from && !converts(op) && from->type.dtype != to->type.dtype)
            return base_arena_format(arena, "'%s' is %s and '%s' is %s; cast converts while it copies",
                                     to->name, num_dtype_name(to->type.dtype), from->name,
                                     num_dtype_name(from->type.dtype));
        if (from && from->type.dtype != dtype)
            return base_arena_format(arena, "the sources are of %s and %s: cast one of them first",
                                     num_dtype_name(dtype), num_dtype_name(from->type.dtype));
    }
    for (int i = 0; i < 2 && is(op, "binary_chain"); i++) {
        row = chained(op, i ? "op1" : "op0");
        if (row < 0)
            return base_arena_format(arena, "op%d= is one of add, sub, mul, fdiv, maximum, minimum", i);
        if (arithmetic[row].floats && !num_dtype_is_float(dtype))
            break;
    }
    if (row >= 0 && arithmetic[row].floats && !num_dtype_is_float(dtype))
        return base_arena_format(arena, "it is a function of floats, and the source is %s",
                                 num_dtype_name(dtype));
    if (row >= 0 && num_dtype_is_float(dtype) && num_dtype_bits(dtype) < 16)
        return base_arena_format(arena, "there is no arithmetic in %s: cast to float32 and back",
                                 num_dtype_name(dtype));
    return NULL;
}

/* bias= and scale= as further operands behind the source. */
typedef struct extras {
    int scale, bias; /* operand, or -1 */
} extras;
static extras add_extras(lower_tile *op) {
    static const char *const names[] = {"scale", "bias"};
    int at[2] = {-1, -1};
    for (int i = 0; i < 2; i++) {
        const ir_expr *value = lower_tile_attribute(op, names[i], 0);
        if (!value || is(op, "fma") || op->count == LOWER_TILE_OPERANDS)
            continue;
        lower_tile_operand *operand = &op->operands[op->count];
        *operand = (lower_tile_operand){.is_region = value->op == IR_REGION, .value = value};
        if (operand->is_region && !lower_tile_read_region(op->context, value, &operand->region))
            continue;
        at[i] = (int)op->count++;
    }
    return (extras){at[0], at[1]};
}

/* Two threads would each write half of one byte. */
static const char *check_halves(lower_tile *op, const lower_tile_walk *walk) {
    const ir_tensor *to = op->operands[0].region.tensor;
    if (num_dtype_bits(to->type.dtype) >= 8 || to->type.scope == IR_SCOPE_LOCAL || walk->alone)
        return NULL;
    int64_t last = walk->rank ? walk->size[walk->rank - 1] : 1;
    if (num_dtype_bits(to->type.dtype) == 4 && last > 0 && last % 8 == 0)
        return NULL;
    return base_arena_format(op->context->arena,
                             "two threads would write parts of one byte of '%s': its rows must be whole "
                             "groups of 8 elements of 4 bits; or use scope thread",
                             to->name);
}

const char *lower_tile_refuse_map(lower_tile *op) {
    lower_tile copy = *op;
    lower_tile_walk walk;
    if (is(op, "zero"))
        copy.count = 1;
    add_extras(&copy);
    const char *reason = check_types(&copy);
    if (!reason)
        reason = lower_tile_walk_start(&copy, &walk);
    return reason ? reason : check_halves(&copy, &walk);
}

/* select's condition over the element's indices in the destination's region. */
static const ir_expr *condition_at(lower_tile *op, const lower_tile_place *to, unsigned lane) {
    lower_substitution substitution;
    const ir_expr *index;
    lower_substitution_start(&substitution, op->module);
    for (uint32_t i = 0; (index = lower_tile_attribute(op, "index", i)); i++) {
        const lower_tile_region *region = &op->operands[0].region;
        const ir_expr *at = i < to->count && !region->is_spread ? to->indices[i] : lower_tile_int(op, 0);
        if (i + 1 == to->count && lane)
            at = lower_tile_integer(op, IR_ADD, at, lower_tile_int(op, lane));
        at = lower_tile_integer(op, IR_SUB, at, region->start[i]);
        lower_substitute_var(&substitution, index->at.var, ir_cast(op->module, index->type, at));
    }
    const ir_expr *condition = lower_substitute(&substitution, lower_tile_attribute(op, "pred", 0));
    lower_substitution_end(&substitution);
    return condition;
}

static void write_element(lower_tile *op, const lower_tile_place *places, unsigned lanes, ir_stmt *block,
                          void *user) {
    const extras *extra = user;
    const ir_expr *x[LOWER_TILE_OPERANDS] = {NULL}, *value;
    const ir_tensor *to = op->operands[0].region.tensor;
    num_dtype dtype = computed_in(op);
    for (uint32_t i = 1; i < op->count; i++) {
        x[i - 1] = op->operands[i].is_region ? lower_tile_load(op, &places[i], lanes) : op->operands[i].value;
        if (x[i - 1]->type.lanes < lanes)
            x[i - 1] = ir_make(op->module, IR_BROADCAST, ir_type_prim((num_dtype)x[i - 1]->type.dtype, lanes),
                               &x[i - 1], 1);
        x[i - 1] = converted(op, x[i - 1], dtype);
    }
    if (is(op, "zero"))
        value = constant(op, ir_type_prim(dtype, lanes), 0);
    else if (is(op, "select")) {
        const ir_expr **parts = BASE_NEW_ARRAY(op->context->arena, const ir_expr *, lanes);
        for (unsigned i = 0; i < lanes; i++)
            parts[i] = condition_at(op, &places[0], i);
        const ir_expr *condition =
            lanes == 1 ? parts[0]
                       : ir_make(op->module, IR_VECTOR, ir_type_prim(NUM_DTYPE_BOOL, lanes), parts, lanes);
        const ir_expr *args[] = {condition, x[0], x[1]};
        value = ir_make(op->module, IR_SELECT, x[0]->type, args, 3);
    } else {
        x[0] = scaled(op, x[0], extra->scale < 0 ? NULL : x[extra->scale - 1],
                      extra->bias < 0 ? NULL : x[extra->bias - 1]);
        value = compute(op, x);
    }
    value = converted(op, value, to->type.dtype);
    const ir_expr *indices[LOWER_TILE_AXES];
    memcpy(indices, places[0].indices, sizeof indices);
    if (lanes > 1) {
        const ir_expr *base = indices[places[0].count - 1];
        const ir_expr *args[] = {base, ir_int(op->module, (num_dtype)base->type.dtype, 1)};
        indices[places[0].count - 1] =
            ir_make(op->module, IR_RAMP, ir_type_prim((num_dtype)base->type.dtype, lanes), args, 2);
    }
    ir_block_add(op->module, block, lower_tile_store(op, places[0].tensor, indices, places[0].count, value));
}

void lower_tile_emit_map(lower_tile *op) {
    lower_tile_walk walk;
    if (is(op, "zero"))
        op->count = 1;
    extras extra = add_extras(op);
    if (!lower_tile_walk_start(op, &walk))
        lower_tile_walk_emit(&walk, write_element, &extra);
}

/* ---- permute_layout ---- */

static bool shares_storage(const lower_tile *op) {
    const ir_tensor *a = lower_root(op->operands[0].region.tensor),
                    *b = lower_root(op->operands[1].region.tensor);
    return !a || !b || a == b;
}

const char *lower_tile_refuse_permute(lower_tile *op) {
    const char *reason = lower_tile_refuse_map(op);
    if (reason || !shares_storage(op))
        return reason;
    return base_arena_format(
        op->context->arena,
        "'%s' and '%s' may share their storage, and elements would be overwritten before "
        "they are read: copy to registers, synchronise, and copy back",
        op->operands[0].region.tensor->name, op->operands[1].region.tensor->name);
}

void lower_tile_emit_permute(lower_tile *op) {
    lower_tile_emit_map(op);
}
