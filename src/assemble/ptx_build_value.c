/* SPDX-License-Identifier: Apache-2.0
 * Expressions to operands, one per lane: what is computed where, what is remembered, what is branched over.
 * The instructions of each operation are elsewhere. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"
#include <string.h>

enum { MAXIMUM_DEPTH = 600, MOST_LANES = 65536 };

static const ptx_operand *keep(ptx_builder *b, ptx_operand operand) {
    return base_arena_copy(b->arena, &operand, sizeof(operand));
}

static unsigned lanes_of(const ir_expr *e) {
    return e->type.kind == IR_TYPE_PRIM && e->type.lanes > 1 ? e->type.lanes : 1;
}

void ptx_build_bind(ptx_builder *b, const ir_var *var, const ptx_operand *operands) {
    base_map_set(b->variables, (uint64_t)var->id + 1, (void *)(uintptr_t)operands);
}

const ptx_operand *ptx_build_bound(const ptx_builder *b, const ir_var *var) {
    return base_map_get(b->variables, (uint64_t)var->id + 1);
}

const ptx_operand *ptx_build_mutable(ptx_builder *b, const ir_var *var) {
    const ptx_operand *known = ptx_build_bound(b, var);
    if (known)
        return known;
    unsigned lanes = var->type.kind == IR_TYPE_PRIM && var->type.lanes > 1 ? var->type.lanes : 1;
    ptx_operand *registers = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        registers[i] = ptx_build_register(b, ptx_build_class_of(var->type));
        uint32_t id = registers[i].of.reg->id;
        if (id >= b->mutable_capacity) {
            size_t capacity = b->mutable_capacity ? b->mutable_capacity * 2 : 256;
            while (capacity <= id)
                capacity *= 2;
            uint8_t *fresh = BASE_NEW_ARRAY(b->arena, uint8_t, capacity);
            if (b->mutable_capacity)
                memcpy(fresh, b->mutable_registers, b->mutable_capacity);
            b->mutable_registers = fresh;
            b->mutable_capacity = capacity;
        }
        b->mutable_registers[id] = 1;
    }
    ptx_build_bind(b, var, registers);
    return registers;
}

bool ptx_build_is_mutable(const ptx_builder *b, ptx_operand operand) {
    return operand.kind == PTX_OPERAND_REGISTER && operand.of.reg->id < b->mutable_capacity &&
           b->mutable_registers[operand.of.reg->id];
}

const ptx_operand *ptx_build_zero(ptx_builder *b) {
    if (!b->zeros) {
        b->zeros = BASE_NEW_ARRAY(b->arena, ptx_operand, MOST_LANES);
        for (unsigned i = 0; i < MOST_LANES; i++)
            b->zeros[i] = ptx_build_int(0);
    }
    return b->zeros;
}

/* ---- leaves ---- */

static ptx_operand float_constant(ptx_builder *b, ir_type type, double value) {
    uint64_t bits = num_encode(type.dtype, value, NUM_RN, false);
    ptx_build_class class = ptx_build_class_of(type);
    if (class == PTX_CLASS_F32)
        return ptx_build_f32_bits((uint32_t)bits);
    if (class == PTX_CLASS_F64)
        return ptx_build_f64_bits(bits);
    return ptx_build_constant(b, class, ptx_build_int((int64_t)bits));
}

static ptx_operand linear_thread(ptx_builder *b) {
    const uint64_t key = base_hash_mix(77, 1);
    ptx_operand *known = base_map_get(b->constants, key);
    if (known)
        return *known;
    bool nested = b->in_prologue;
    const ptx_operand *want = b->want;
    b->want = NULL;
    b->in_prologue = true;
    ptx_operand x = ptx_build_special(b, PTX_SPECIAL_TID_X, PTX_CLASS_R32);
    int64_t extent[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        if (!b->plan->function->launch.present || !b->plan->function->launch.block[i] ||
            !ir_is_int(b->plan->function->launch.block[i], &extent[i]))
            extent[i] = 0;
    if (extent[1] != 1 || extent[2] != 1) {
        ptx_operand y = ptx_build_special(b, PTX_SPECIAL_TID_Y, PTX_CLASS_R32),
                    width = ptx_build_int(extent[0]);
        if (extent[0] == 0)
            width = ptx_build_special(b, PTX_SPECIAL_NTID_X, PTX_CLASS_R32);
        if (extent[2] != 1) {
            ptx_operand z = ptx_build_special(b, PTX_SPECIAL_TID_Z, PTX_CLASS_R32);
            ptx_operand height = ptx_build_special(b, PTX_SPECIAL_NTID_Y, PTX_CLASS_R32);
            y = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, PTX_MOD_S32),
                                  PTX_ARGS(z, height, y));
        }
        x = ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_MAD, PTX_MODS(PTX_MOD_LO, PTX_MOD_S32),
                              PTX_ARGS(y, width, x));
    }
    b->in_prologue = nested;
    b->want = want;
    known = BASE_NEW(b->arena, ptx_operand);
    *known = x;
    base_map_set(b->constants, key, known);
    return x;
}

static ptx_operand query(ptx_builder *b, const ir_expr *e) {
    unsigned axis = (unsigned)e->at.integer % 3;
    switch (e->op) {
    case IR_THREAD_IDX:
        return ptx_build_special(b, (ptx_special)(PTX_SPECIAL_TID_X + axis), PTX_CLASS_R32);
    case IR_BLOCK_IDX:
        return ptx_build_special(b, (ptx_special)(PTX_SPECIAL_CTAID_X + axis), PTX_CLASS_R32);
    case IR_BLOCK_DIM: {
        const ir_launch *launch = &b->plan->function->launch;
        int64_t extent;
        if (launch->present && launch->block[axis] && ir_is_int(launch->block[axis], &extent))
            return ptx_build_int(extent);
        return ptx_build_special(b, (ptx_special)(PTX_SPECIAL_NTID_X + axis), PTX_CLASS_R32);
    }
    case IR_GRID_DIM:
        return ptx_build_special(b, (ptx_special)(PTX_SPECIAL_NCTAID_X + axis), PTX_CLASS_R32);
    case IR_LINEAR_THREAD:
        return linear_thread(b);
    default:
        break;
    }
    /* Lanes are numbered by the linear thread index, so %laneid needs no arithmetic; %warpid is not promised
     * to be the index / 32 (PTX ISA, "Special Registers"), so that one is computed. */
    if (e->op == IR_LANE_ID)
        return ptx_build_special(b, PTX_SPECIAL_LANEID, PTX_CLASS_R32);
    ptx_operand x = linear_thread(b);
    return ptx_build_compute(b, PTX_CLASS_R32, PTX_OP_SHR, PTX_MODS(PTX_MOD_U32),
                             PTX_ARGS(x, ptx_build_int(5)));
}

static const ptx_operand *variable(ptx_builder *b, const ir_expr *e) {
    const ptx_operand *known = ptx_build_bound(b, e->at.var);
    if (known)
        return known;
    const ptx_build_address *address = base_map_get(b->addresses, (uint64_t)e->at.var->id + 1);
    if (address)
        return keep(b, ptx_build_pointer_value(b, *address));
    ptx_build_error(b, "T0650", "variable %s has no value here: this is a bug in tirc", e->at.var->name);
    return ptx_build_zero(b);
}

/* ---- lazy operands ---- */

/* Whether evaluating this side where the script would not is wrong or wasteful; what is computed already does
 * not count. */
static bool is_lazy_within(ptx_builder *b, const ir_expr *e, unsigned *budget) {
    if (*budget == 0) /* many shared parts: branching is always right */
        return true;
    --*budget;
    if (!(ptx_build_traits(e) & (PTX_TRAIT_GUARDED | PTX_TRAIT_EXPENSIVE)) ||
        ptx_build_recall(&b->pure, e->id) || ptx_build_recall(&b->fleeting, e->id))
        return false;
    for (uint32_t i = 0; i < e->count; i++)
        if (is_lazy_within(b, e->args[i], budget))
            return true;
    /* Its own doing, then, if its parts are innocent. */
    unsigned flags = ir_op_information(e->op)->flags;
    bool divides = e->op >= IR_FLOORDIV && e->op <= IR_TRUNCMOD;
    return e->op == IR_POINTER_LOAD || divides || (flags & (IR_FLAG_BOUNDED | IR_FLAG_WRITES | IR_FLAG_SYNC));
}

static bool is_lazy(ptx_builder *b, const ir_expr *e) {
    unsigned budget = 500;
    return is_lazy_within(b, e, &budget);
}

static void value_to(ptx_builder *b, const ir_expr *e, const ptx_operand *to) {
    ptx_build_mark mark = ptx_build_scope_open(b);
    ptx_build_value_into(b, e, to);
    ptx_build_scope_close(b, mark);
}

static const ptx_operand *fresh_lanes(ptx_builder *b, ir_type type, unsigned lanes) {
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned i = 0; i < lanes; i++)
        to[i] = ptx_build_register(b, ptx_build_class_of(type));
    return to;
}

static const ptx_operand *lazy_select(ptx_builder *b, const ir_expr *e, ptx_operand condition) {
    condition = ptx_build_as_predicate(b, condition);
    const ptx_operand *to = fresh_lanes(b, e->type, lanes_of(e));
    ptx_label *other = ptx_build_label(b, "else"), *end = ptx_build_label(b, "end");
    ptx_build_branch(b, condition, true, other);
    value_to(b, e->args[1], to);
    ptx_build_branch(b, (ptx_operand){0}, false, end);
    ptx_build_place(b, other);
    value_to(b, e->args[2], to);
    ptx_build_place(b, end);
    return to;
}

static const ptx_operand *logical(ptx_builder *b, const ir_expr *e) {
    bool is_and = e->op == IR_AND;
    const ptx_operand *x = ptx_build_value(b, e->args[0]);
    if (!is_lazy(b, e->args[1]) || lanes_of(e) > 1) {
        const ptx_operand *y = ptx_build_value(b, e->args[1]);
        ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes_of(e));
        for (unsigned i = 0; i < lanes_of(e); i++)
            to[i] = ptx_build_binary(b, e->op, ir_type_scalar(e->type), x[i], y[i]);
        return to;
    }
    const ptx_operand *to = fresh_lanes(b, e->type, 1);
    ptx_label *end = ptx_build_label(b, is_and ? "and" : "or");
    ptx_build_move(b, PTX_CLASS_PRED, to[0], x[0]);
    ptx_build_branch(b, to[0], is_and, end);
    value_to(b, e->args[1], to);
    ptx_build_place(b, end);
    return to;
}

static const ptx_operand *choice(ptx_builder *b, const ir_expr *e, const ptx_operand *want) {
    const ptx_operand *condition = ptx_build_value(b, e->args[0]);
    bool lazy = e->op == IR_IF_THEN_ELSE && lanes_of(e->args[0]) == 1 &&
                (is_lazy(b, e->args[1]) || is_lazy(b, e->args[2]));
    if (lazy)
        return lazy_select(b, e, condition[0]);
    unsigned lanes = lanes_of(e), conditions = lanes_of(e->args[0]);
    const ptx_operand *x = ptx_build_value(b, e->args[1]), *y = ptx_build_value(b, e->args[2]);
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        ptx_operand predicate = ptx_build_as_predicate(b, condition[conditions > 1 ? i : 0]);
        b->want = want;
        to[i] = ptx_build_select(b, ir_type_scalar(e->type), predicate, x[i], y[i]);
        b->want = NULL;
    }
    return to;
}

/* ---- a * b + c ---- */

/* The product that an addition may take in: used once and not computed already. */
static const ir_expr *product_in(ptx_builder *b, const ir_expr *e) {
    if (e->op != IR_MUL || ptx_build_use_count(b, e) != 1)
        return NULL;
    if (ptx_build_recall(&b->pure, e->id) || ptx_build_recall(&b->fleeting, e->id))
        return NULL;
    return e;
}

/* Integers always, floats when contraction is on: x * y + z, x * y - z and z - x * y in one instruction. */
static const ptx_operand *contracted(ptx_builder *b, const ir_expr *e, const ptx_operand *want) {
    ir_type scalar = ir_type_scalar(e->type);
    bool is_float = ir_type_is_float(e->type);
    if (e->type.kind != IR_TYPE_PRIM || (is_float && !b->options->contract))
        return NULL;
    if (ptx_build_class_of(e->type) == PTX_CLASS_BYTE || (!is_float && !ir_type_is_integer(e->type)))
        return NULL;
    if (e->op != IR_ADD && (e->op != IR_SUB || !is_float))
        return NULL;
    const ir_expr *product = product_in(b, e->args[0]), *other = e->args[1];
    bool negate_product = false, negate_other = e->op == IR_SUB;
    if (!product) {
        product = product_in(b, e->args[1]), other = e->args[0];
        negate_product = e->op == IR_SUB, negate_other = false;
    }
    if (!product)
        return NULL;
    unsigned lanes = lanes_of(e);
    const ptx_operand *x = ptx_build_value(b, product->args[0]), *y = ptx_build_value(b, product->args[1]);
    const ptx_operand *z = ptx_build_value(b, other);
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        ptx_operand left = negate_product ? ptx_build_unary(b, IR_NEG, scalar, x[i]) : x[i];
        ptx_operand added = negate_other ? ptx_build_unary(b, IR_NEG, scalar, z[i]) : z[i];
        b->want = want;
        to[i] = ptx_build_fma(b, scalar, left, y[i], added);
        b->want = NULL;
    }
    return to;
}

/* ---- every other operation ---- */

static bool is_comparison(ir_op op) {
    return op == IR_EQ || op == IR_NE || op == IR_LT || op == IR_LE || op == IR_GT || op == IR_GE;
}

/* No sign bit as an int32 or int64 would have one: unsigned values only below half of their range. */
static bool has_no_top_bit(ptx_builder *b, const ir_expr *e) {
    arith_range range = arith_bounds(b->facts, e);
    if (num_dtype_class((num_dtype)e->type.dtype) == NUM_SIGNED)
        return arith_is_non_negative(b->facts, e);
    unsigned bits = num_dtype_bits((num_dtype)e->type.dtype);
    return bits < 32 || (range.known && range.high <= (bits == 32 ? INT32_MAX : INT64_MAX));
}

static ptx_operand one_lane(ptx_builder *b, const ir_expr *e, const ptx_operand *args) {
    ir_type type = ir_type_scalar(e->args[0]->type);
    switch (e->op) {
    case IR_FMA:
        return ptx_build_fma(b, type, args[0], args[1], args[2]);
    case IR_CAST:
        return ptx_build_cast(b, ir_type_scalar(e->type), type, args[0]);
    case IR_FLOORDIV:
    case IR_FLOORMOD:
    case IR_TRUNCDIV:
    case IR_TRUNCMOD:
        return ptx_build_divide(b, e->op, type, args[0], args[1], has_no_top_bit(b, e->args[0]),
                                arith_is_positive(b->facts, e->args[1]));
    default:
        break;
    }
    if (is_comparison(e->op))
        return ptx_build_compare(b, e->op, type, args[0], args[1]);
    if (ptx_build_is_math(e->op))
        return ptx_build_math(b, e->op, type, args[0], e->count > 1 ? args[1] : args[0]);
    return e->count > 1 ? ptx_build_binary(b, e->op, type, args[0], args[1])
                        : ptx_build_unary(b, e->op, type, args[0]);
}

static const ptx_operand *elementwise(ptx_builder *b, const ir_expr *e, const ptx_operand *want) {
    if (e->count == 0 || e->count > 3) {
        ptx_build_error(b, "T0650", "operation %s has no PTX form: this is a bug in tirc",
                        ir_op_information(e->op)->name);
        return keep(b, ptx_build_int(0));
    }
    const ptx_operand *args[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < e->count; i++)
        args[i] = ptx_build_value(b, e->args[i]);
    unsigned lanes = lanes_of(e);
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned lane = 0; lane < lanes; lane++) {
        ptx_operand lane_args[3];
        for (uint32_t i = 0; i < e->count; i++)
            lane_args[i] = args[i][lanes_of(e->args[i]) > 1 ? lane : 0];
        b->want = want;
        to[lane] = one_lane(b, e, lane_args);
        b->want = NULL;
    }
    return to;
}

static const ptx_operand *vector(ptx_builder *b, const ir_expr *e) {
    unsigned lanes = lanes_of(e);
    ptx_operand *to = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    if (e->op == IR_VECTOR) {
        for (unsigned i = 0; i < lanes; i++)
            to[i] = i < e->count ? ptx_build_scalar(b, e->args[i]) : ptx_build_int(0);
        return to;
    }
    to[0] = ptx_build_scalar(b, e->args[0]);
    for (unsigned i = 1; i < lanes; i++)
        to[i] = e->op == IR_BROADCAST ? to[0]
                                      : ptx_build_binary(b, IR_ADD, ir_type_scalar(e->type), to[i - 1],
                                                         ptx_build_scalar(b, e->args[1]));
    return to;
}

static const ptx_operand *compute(ptx_builder *b, const ir_expr *e, const ptx_operand *want) {
    switch (e->op) {
    case IR_AND:
    case IR_OR:
        return logical(b, e);
    case IR_SELECT:
    case IR_IF_THEN_ELSE:
        return choice(b, e, want);
    case IR_REINTERPRET:
        if (e->type.kind == IR_TYPE_POINTER)
            return keep(b, ptx_build_pointer(b, e));
        if (e->args[0]->type.kind == IR_TYPE_POINTER)
            return keep(b, ptx_build_pointer_bits(b, e));
        return ptx_build_reinterpret(b, e->type, e->args[0]->type, ptx_build_value(b, e->args[0]));
    case IR_RAMP:
    case IR_BROADCAST:
    case IR_VECTOR:
        return vector(b, e);
    case IR_LANE: {
        const ptx_operand *lanes = ptx_build_value(b, e->args[0]);
        unsigned count = lanes_of(e->args[0]);
        return &lanes[e->at.integer >= 0 && (uint64_t)e->at.integer < count ? e->at.integer : 0];
    }
    case IR_POINTER_LOAD:
        return ptx_build_load(b, e, want);
    case IR_DATA:
    case IR_POINTER_OFFSET:
    case IR_POINTER_ADDRESS:
        return keep(b, ptx_build_pointer(b, e));
    case IR_WARP_ID:
        return keep(b, query(b, e));
    case IR_CLOCK: {
        ptx_operand clock = {.kind = PTX_OPERAND_SPECIAL, .bits = PTX_SPECIAL_CLOCK64};
        return keep(b,
                    ptx_build_compute(b, PTX_CLASS_R64, PTX_OP_MOV, PTX_MODS(PTX_MOD_U64), PTX_ARGS(clock)));
    }
    case IR_PTX:
        b->want = want;
        return ptx_build_pattern(b, e);
    case IR_SHARED_ADDRESS:
        return keep(b, ptx_build_shared_address(b, e->args[0]));
    case IR_ADD:
    case IR_SUB: {
        const ptx_operand *fused = contracted(b, e, want);
        return fused ? fused : elementwise(b, e, want);
    }
    default:
        break;
    }
    if (ir_op_information(e->op)->flags & (IR_FLAG_WRITES | IR_FLAG_SYNC))
        return ptx_build_effect(b, e, true);
    return elementwise(b, e, want);
}

static const ptx_operand *leaf(ptx_builder *b, const ir_expr *e) {
    switch (e->op) {
    case IR_INT:
        return keep(b, ptx_build_int(e->at.integer));
    case IR_FLOAT:
        return keep(b, float_constant(b, e->type, e->at.real));
    case IR_VAR:
        return variable(b, e);
    case IR_REGISTER:
        return ptx_build_mutable(b, e->at.var);
    case IR_THREAD_IDX:
    case IR_BLOCK_IDX:
    case IR_BLOCK_DIM:
    case IR_GRID_DIM:
    case IR_LANE_ID:
    case IR_LINEAR_THREAD:
        return keep(b, query(b, e));
    default:
        return NULL;
    }
}

const ptx_operand *ptx_build_value(ptx_builder *b, const ir_expr *e) {
    const ptx_operand *want = b->want;
    b->want = NULL;
    const ptx_operand *value = leaf(b, e);
    if (value)
        return value;
    unsigned traits = ptx_build_traits(e);
    ptx_build_memo *memo = traits & PTX_TRAIT_READS ? &b->fleeting : &b->pure;
    bool remember = !(traits & PTX_TRAIT_EFFECT) && (b->keep_fleeting || memo == &b->pure);
    value = remember ? ptx_build_recall(memo, e->id) : NULL;
    if (value)
        return value;
    if (b->depth > MAXIMUM_DEPTH) {
        ptx_build_error(b, "T0651", "the expression is nested deeper than %d operations", MAXIMUM_DEPTH);
        return ptx_build_zero(b);
    }
    b->depth++;
    /* A wanted register holds this value only until its next assignment, so only its own statement may know.
     */
    value = compute(b, e, lanes_of(e) == 1 ? want : NULL);
    b->depth--;
    /* A wanted register holds this value only until it gets its next one. */
    bool wanted = want && value[0].kind == PTX_OPERAND_REGISTER && value[0].of.reg == want->of.reg;
    if (remember && !wanted)
        ptx_build_remember(b, memo, e->id, value);
    return value;
}

ptx_operand ptx_build_scalar(ptx_builder *b, const ir_expr *e) {
    return ptx_build_value(b, e)[0];
}

ptx_operand ptx_build_predicate(ptx_builder *b, const ir_expr *e) {
    return ptx_build_as_predicate(b, ptx_build_scalar(b, e));
}

void ptx_build_value_into(ptx_builder *b, const ir_expr *e, const ptx_operand *to) {
    unsigned lanes = lanes_of(e);
    ptx_build_class class = ptx_build_class_of(e->type);
    b->want = lanes == 1 ? to : NULL;
    const ptx_operand *value = ptx_build_value(b, e);
    b->want = NULL;
    if (lanes == 1) {
        ptx_build_move(b, class, to[0], value[0]);
        return;
    }
    /* A lane may be read after another lane's register was overwritten, so copies of registers come first. */
    ptx_operand *copies = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    for (unsigned i = 0; i < lanes; i++) {
        copies[i] = value[i];
        if (ptx_build_is_mutable(b, value[i]) && value[i].of.reg != to[i].of.reg) {
            copies[i] = ptx_build_register(b, class);
            ptx_build_move(b, class, copies[i], value[i]);
        }
    }
    for (unsigned i = 0; i < lanes; i++)
        ptx_build_move(b, class, to[i], copies[i]);
}
