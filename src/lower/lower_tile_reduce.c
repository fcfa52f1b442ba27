/* SPDX-License-Identifier: Apache-2.0
 * Reductions sum, max and min over axes of a region: by each thread alone, by groups of lanes over shared or
 * global memory, or over registers that a layout spreads over threads. A sum adds in the order of the
 * elements that one thread meets; groups then join by xor shuffles, near lanes last. */
#include "lower/lower_tile.h"
#include "num/num.h"
#include <string.h>

typedef struct reduction {
    lower_tile *op;
    const lower_tile_region *to, *from;
    bool reduced[LOWER_TILE_AXES];
    uint32_t to_axis[LOWER_TILE_AXES]; /* of the source's kept axes longer than 1: the destination's */
    ir_op combine;
    bool negates; /* the result, before the destination takes part */
    num_dtype dtype;
} reduction;

/* reduce_negate says by an attribute what it is. */
static bool combine_of(const lower_tile *op, reduction *r) {
    const ir_expr *given = lower_tile_attribute(op, "reduce_op", 0);
    r->negates = !strcmp(op->name, "reduce_negate");
    const char *name = r->negates ? given && given->op == IR_STRING ? given->at.string : "" : op->name;
    r->combine = !strcmp(name, "sum") ? IR_ADD : !strcmp(name, "max") ? IR_MAX : IR_MIN;
    return r->combine != IR_MIN || !strcmp(name, "min");
}

/* Which axes vanish, and the destination's axis of each that stays. */
static const char *start(lower_tile *op, reduction *r) {
    base_arena *arena = op->context->arena;
    const ir_expr *axis;
    int64_t value;
    *r = (reduction){.op = op, .to = &op->operands[0].region, .from = &op->operands[1].region};
    if (!combine_of(op, r))
        return "reduce_op= is one of sum, max, min";
    r->dtype = r->from->tensor->type.dtype;
    int64_t rank = r->from->rank;
    for (uint32_t i = 0; (axis = lower_tile_attribute(op, "axes", i)) || i == 0; i++) {
        if (!axis)
            value = -1;
        else if (!arith_is_constant(op->context->facts, axis, &value))
            return "axes= must be constants";
        if (value < -rank || value >= rank)
            return base_arena_format(arena, "axis %lld: '%s' has %lld axes", (long long)value,
                                     r->from->tensor->name, (long long)rank);
        r->reduced[value < 0 ? value + rank : value] = true;
    }
    if (r->to->tensor->type.dtype != r->dtype)
        return base_arena_format(arena, "'%s' is %s and '%s' is %s; a reduction keeps the type",
                                 r->to->tensor->name, num_dtype_name(r->to->tensor->type.dtype),
                                 r->from->tensor->name, num_dtype_name(r->dtype));
    if (num_dtype_is_float(r->dtype) ? num_dtype_bits(r->dtype) < 16 : r->dtype == NUM_DTYPE_BOOL)
        return base_arena_format(arena, "there is no arithmetic in %s", num_dtype_name(r->dtype));
    uint32_t next = 0;
    bool same = true;
    for (uint32_t i = 0; i < r->from->rank; i++) {
        if (r->reduced[i] || r->from->size[i] == 1)
            continue;
        while (next < r->to->rank && r->to->size[next] == 1)
            next++;
        same = same && next < r->to->rank &&
               (r->to->size[next] >= 0 ? r->to->size[next] == r->from->size[i]
                                       : r->to->extent[next] == r->from->extent[i]);
        if (same)
            r->to_axis[i] = next++;
    }
    while (same && next < r->to->rank)
        same = r->to->size[next++] == 1;
    for (int o = 0; o < 2; o++)
        if (op->operands[o].region.tensor->type.scope == IR_SCOPE_TMEM)
            return "tensor memory is read to registers first, with copy_async";
    return same ? NULL
                : base_arena_format(arena,
                                    "the extents of '%s' are not those of '%s' without the reduced axes",
                                    r->to->tensor->name, r->from->tensor->name);
}

/* ---- values ---- */

static const ir_expr *identity(const reduction *r) {
    ir_module *module = r->op->module;
    bool is_float = num_dtype_is_float(r->dtype);
    if (r->combine == IR_ADD)
        return is_float ? ir_float(module, r->dtype, 0) : ir_int(module, r->dtype, 0);
    bool high = r->combine == IR_MIN;
    if (is_float)
        return ir_float(module, r->dtype, high ? __builtin_inf() : -__builtin_inf());
    unsigned bits = num_dtype_bits(r->dtype);
    if (num_dtype_class(r->dtype) == NUM_UNSIGNED)
        return ir_int(module, r->dtype, high ? num_wrap(r->dtype, -1) : 0);
    int64_t low = bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    return ir_int(module, r->dtype, high ? -(low + 1) : low);
}

static ir_stmt *block_of(const reduction *r) {
    return ir_stmt_create(r->op->module, IR_STMT_BLOCK, r->op->span);
}

static ir_tensor *accumulator(const reduction *r, ir_stmt *block) {
    ir_module *module = r->op->module;
    const ir_expr **shape = BASE_NEW_ARRAY(r->op->context->arena, const ir_expr *, 1);
    shape[0] = ir_int(module, NUM_DTYPE_I32, 1);
    ir_tensor_type type = {
        .dtype = r->dtype, .lanes = 1, .scope = IR_SCOPE_LOCAL, .rank = 1, .shape = shape, .align = 16};
    ir_tensor *tensor = ir_tensor_create(module, "acc", &type, IR_TENSOR_ALLOCATION, NULL, r->op->span);
    tensor->is_scalar = true;
    ir_stmt *allocate = ir_stmt_create(module, IR_STMT_ALLOCATE, r->op->span);
    allocate->as.allocate.tensor = tensor;
    ir_block_add(module, block, allocate);
    return tensor;
}

static const ir_expr *read(const reduction *r, const ir_tensor *acc) {
    const ir_expr *zero = ir_int(r->op->module, NUM_DTYPE_I32, 0);
    return ir_load(r->op->module, acc, &zero, 1);
}

static void write(const reduction *r, const ir_tensor *acc, ir_stmt *block, const ir_expr *value) {
    const ir_expr *zero = ir_int(r->op->module, NUM_DTYPE_I32, 0);
    ir_block_add(r->op->module, block, lower_tile_store(r->op, acc, &zero, 1, value));
}

static const ir_expr *combined(const reduction *r, const ir_expr *a, const ir_expr *b) {
    const ir_expr *args[] = {a, b};
    return ir_make(r->op->module, r->combine, a->type, args, 2);
}

static void fold(const reduction *r, const ir_tensor *acc, ir_stmt *block, const ir_expr *value) {
    write(r, acc, block, combined(r, read(r, acc), value));
}

/* accum: what the destination holds takes part, before everything else. */
static bool accumulates(const reduction *r) {
    return lower_tile_constant(r->op, "accum", 0) != 0;
}

static const char *check_accum(lower_tile *op) {
    int64_t value;
    const ir_expr *accum = lower_tile_attribute(op, "accum", 0);
    return accum && !arith_is_constant(op->context->facts, accum, &value) ? "accum= must be a constant"
                                                                          : NULL;
}

static void finish(const reduction *r, const ir_tensor *tensor, const ir_expr *const *indices, uint32_t count,
                   const ir_tensor *acc, ir_stmt *block) {
    const ir_expr *value = read(r, acc);
    if (r->negates)
        value = ir_make(r->op->module, IR_NEG, value->type, &value, 1);
    if (accumulates(r))
        value = combined(r, ir_load(r->op->module, tensor, indices, count), value);
    ir_block_add(r->op->module, block, lower_tile_store(r->op, tensor, indices, count, value));
}

/* Indices of both sides where the axes of the source stand at these numbers; NULL: 0. */
static void place(const reduction *r, const ir_expr *const *at, const ir_expr **from, const ir_expr **to) {
    for (uint32_t i = 0; i < r->to->rank; i++)
        to[i] = r->to->start[i];
    for (uint32_t i = 0; i < r->from->rank; i++) {
        from[i] = at[i] ? lower_tile_integer(r->op, IR_ADD, r->from->start[i], at[i]) : r->from->start[i];
        if (!r->reduced[i] && at[i])
            to[r->to_axis[i]] = lower_tile_integer(r->op, IR_ADD, r->to->start[r->to_axis[i]], at[i]);
    }
}

/* ---- every thread alone ---- */

static bool is_own(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_LOCAL && !region->is_spread;
}

const char *lower_tile_refuse_reduce_alone(lower_tile *op) {
    reduction r;
    const char *reason = start(op, &r);
    if (reason || (reason = check_accum(op)))
        return reason;
    if (r.to->is_spread || r.from->is_spread)
        return base_arena_format(op->context->arena, "'%s' is spread over threads by its layout",
                                 r.to->is_spread ? r.to->tensor->name : r.from->tensor->name);
    if (op->scope != LAYOUT_SCOPE_THREAD && !(is_own(r.to) && is_own(r.from)))
        return base_arena_format(op->context->arena,
                                 "each thread reduces all of it alone at scope thread, and at others only "
                                 "arrays of its own");
    return NULL;
}

/* A loop over an axis, or its one element. */
static ir_var *axis_loop(const reduction *r, uint32_t axis, const ir_expr **at) {
    static const char *const names[] = {"i", "j", "k", "l"};
    if (r->from->size[axis] == 1)
        return NULL;
    ir_var *var = lower_tile_counter(r->op, names[axis % 4], r->from->extent[axis]);
    *at = ir_var_use(r->op->module, var);
    return var;
}

enum { UNROLL_LIMIT = 1024 };

static bool unrolls(const reduction *r) {
    int64_t total = 1;
    bool registers =
        r->from->tensor->type.scope == IR_SCOPE_LOCAL || r->to->tensor->type.scope == IR_SCOPE_LOCAL;
    for (uint32_t i = 0; i < r->from->rank && registers; i++)
        if (r->from->size[i] < 0 || (total *= r->from->size[i]) > UNROLL_LIMIT)
            return false;
    return registers;
}

void lower_tile_emit_reduce_alone(lower_tile *op) {
    reduction r;
    const ir_expr *at[LOWER_TILE_AXES] = {NULL}, *from[LOWER_TILE_AXES], *to[LOWER_TILE_AXES];
    ir_var *vars[LOWER_TILE_AXES];
    start(op, &r);
    bool unrolled = unrolls(&r);
    for (uint32_t i = 0; i < r.from->rank; i++)
        vars[i] = axis_loop(&r, i, &at[i]);
    place(&r, at, from, to);
    ir_stmt *outer = block_of(&r), *inner = block_of(&r);
    ir_tensor *acc = accumulator(&r, outer);
    bool first = accumulates(&r) && !r.negates;
    write(&r, acc, outer, first ? ir_load(op->module, r.to->tensor, to, r.to->rank) : identity(&r));
    fold(&r, acc, inner, ir_load(op->module, r.from->tensor, from, r.from->rank));
    for (uint32_t i = r.from->rank; i-- > 0;)
        if (r.reduced[i] && vars[i]) {
            ir_stmt *around = block_of(&r);
            ir_block_add(op->module, around,
                         lower_tile_loop(op, vars[i], r.from->extent[i], unrolled, inner));
            inner = around;
        }
    for (size_t i = 0; i < inner->as.block.body.count; i++)
        ir_block_add(op->module, outer, inner->as.block.body.items[i]);
    if (first)
        ir_block_add(op->module, outer, lower_tile_store(op, r.to->tensor, to, r.to->rank, read(&r, acc)));
    else
        finish(&r, r.to->tensor, to, r.to->rank, acc, outer);
    for (uint32_t i = r.from->rank; i-- > 0;)
        if (!r.reduced[i] && vars[i]) {
            ir_stmt *around = block_of(&r);
            ir_block_add(op->module, around,
                         lower_tile_loop(op, vars[i], r.from->extent[i], unrolled, outer));
            outer = around;
        }
    base_vector_push(op->context->arena, op->out, outer);
}

/* ---- groups of lanes over memory ---- */

static const ir_expr *shuffled(const reduction *r, const ir_expr *value, int64_t distance) {
    ir_module *module = r->op->module;
    const ir_expr *args[] = {ir_int(module, NUM_DTYPE_U32, 0xffffffff), value,
                             ir_int(module, NUM_DTYPE_I32, distance), ir_int(module, NUM_DTYPE_I32, 32)};
    return ir_make(module, IR_SHUFFLE_XOR, value->type, args, 4);
}

static const char *check_shuffle(const reduction *r) {
    return num_dtype_bits(r->dtype) < 16
               ? base_arena_format(r->op->context->arena, "lanes exchange values of 16 bits and more, not %s",
                                   num_dtype_name(r->dtype))
               : NULL;
}

const char *lower_tile_refuse_reduce_groups(lower_tile *op) {
    reduction r;
    const char *reason = start(op, &r);
    if (reason || (reason = check_accum(op)) || (reason = check_shuffle(&r)))
        return reason;
    if (op->scope == LAYOUT_SCOPE_THREAD)
        return "it takes the lanes of a warp or more";
    for (int o = 0; o < 2; o++)
        if (op->operands[o].region.tensor->type.scope == IR_SCOPE_LOCAL)
            return base_arena_format(op->context->arena,
                                     "'%s' is in registers, not in shared or global memory",
                                     op->operands[o].region.tensor->name);
    if (op->threads == 0 || op->threads % 32)
        return "the threads of the scope are not a constant multiple of 32";
    for (uint32_t i = 0; i < r.from->rank; i++)
        if (r.from->size[i] < 0)
            return "the extents are not constants";
    return NULL;
}

/* The axes of one kind taken out of a running number, the last fastest. */
static void take_apart(const reduction *r, const ir_expr *number, bool reduced, const ir_expr **at) {
    int64_t left = 0;
    for (uint32_t i = 0; i < r->from->rank; i++)
        left += r->reduced[i] == reduced && r->from->size[i] > 1;
    for (uint32_t i = r->from->rank; i-- > 0;) {
        if (r->reduced[i] != reduced || r->from->size[i] == 1)
            continue;
        const ir_expr *extent = lower_tile_int(r->op, r->from->size[i]);
        at[i] = --left ? lower_tile_integer(r->op, IR_FLOORMOD, number, extent) : number;
        number = lower_tile_integer(r->op, IR_FLOORDIV, number, extent);
    }
}

void lower_tile_emit_reduce_groups(lower_tile *op) {
    reduction r;
    start(op, &r);
    int64_t outputs = 1, length = 1, group = 1;
    for (uint32_t i = 0; i < r.from->rank; i++)
        *(r.reduced[i] ? &length : &outputs) *= r.from->size[i];
    while (group < length && group < 32)
        group *= 2;
    int64_t together = op->threads / group, rounds = (outputs + together - 1) / together;
    int64_t steps = (length + group - 1) / group;
    const ir_expr *at[LOWER_TILE_AXES] = {NULL}, *from[LOWER_TILE_AXES], *to[LOWER_TILE_AXES];
    const ir_expr *lane = lower_tile_integer(op, IR_FLOORMOD, op->thread, lower_tile_int(op, group));
    const ir_expr *output = lower_tile_integer(op, IR_FLOORDIV, op->thread, lower_tile_int(op, group));
    const ir_expr *element = lane;
    ir_var *round = NULL, *step = NULL;
    if (rounds > 1) {
        round = lower_tile_counter(op, "i", lower_tile_int(op, rounds));
        output = lower_tile_integer(
            op, IR_ADD,
            lower_tile_integer(op, IR_MUL, ir_var_use(op->module, round), lower_tile_int(op, together)),
            output);
    }
    if (steps > 1) {
        step = lower_tile_counter(op, "j", lower_tile_int(op, steps));
        element = lower_tile_integer(
            op, IR_ADD,
            lower_tile_integer(op, IR_MUL, ir_var_use(op->module, step), lower_tile_int(op, group)), element);
    }
    take_apart(&r, output, false, at);
    take_apart(&r, element, true, at);
    place(&r, at, from, to);
    ir_stmt *body = block_of(&r), *inner = block_of(&r), *around;
    ir_tensor *acc = accumulator(&r, body);
    write(&r, acc, body, identity(&r));
    fold(&r, acc, inner, ir_load(op->module, r.from->tensor, from, r.from->rank));
    const ir_expr *exists = NULL;
    if (rounds * together != outputs)
        exists = lower_tile_integer(op, IR_LT, output, lower_tile_int(op, outputs));
    const ir_expr *inside =
        steps * group != length ? lower_tile_integer(op, IR_LT, element, lower_tile_int(op, length)) : NULL;
    if (inside && exists)
        inside = ir_binary(op->module, IR_AND, exists, inside);
    if (inside || exists) {
        around = block_of(&r);
        ir_block_add(op->module, around, lower_tile_if(op, inside ? inside : exists, inner));
        inner = around;
    }
    if (step) {
        around = block_of(&r);
        ir_block_add(op->module, around, lower_tile_loop(op, step, lower_tile_int(op, steps), false, inner));
        inner = around;
    }
    for (size_t i = 0; i < inner->as.block.body.count; i++)
        ir_block_add(op->module, body, inner->as.block.body.items[i]);
    for (int64_t distance = group / 2; distance > 0; distance /= 2)
        fold(&r, acc, body, shuffled(&r, read(&r, acc), distance));
    around = block_of(&r);
    finish(&r, r.to->tensor, to, r.to->rank, acc, around);
    const ir_expr *first = lower_tile_integer(op, IR_EQ, lane, lower_tile_int(op, 0));
    if (exists)
        first = ir_binary(op->module, IR_AND, first, exists);
    ir_block_add(op->module, body, lower_tile_if(op, first, around));
    if (round) {
        base_vector_push(op->context->arena, op->out,
                         lower_tile_loop(op, round, lower_tile_int(op, rounds), false, body));
        return;
    }
    base_vector_push(op->context->arena, op->out, body);
}

/* ---- registers spread over threads ---- */

/* The walk over the source, with the destination's axes at the dimensions that stay. */
static const char *start_spread(lower_tile *op, reduction *r, lower_tile *walked, lower_tile_walk *walk) {
    const char *reason = start(op, r);
    if (reason || (reason = check_accum(op)) || (reason = check_shuffle(r)))
        return reason;
    if (!r->from->is_spread || !r->to->is_spread)
        return base_arena_format(op->context->arena, "'%s' is not spread over threads by its layout",
                                 r->from->is_spread ? r->to->tensor->name : r->from->tensor->name);
    *walked = *op;
    walked->operands[0] = op->operands[1];
    walked->operands[1] = op->operands[0];
    walked->count = 1;
    if ((reason = lower_tile_walk_start(walked, walk)))
        return reason;
    walked->count = 2;
    walk->reduces = true;
    walk->digits.count = 0;
    for (uint32_t i = 0; i < r->to->rank; i++)
        walk->dimension[1][i] = -1;
    for (uint32_t i = 0; i < r->from->rank; i++)
        if (!r->reduced[i] && walk->dimension[0][i] >= 0)
            walk->dimension[1][r->to_axis[i]] = walk->dimension[0][i];
    walk->slot_moved[0] = NULL;
    if ((reason = lower_tile_spread_start(walk)))
        return reason;
    if (walk->holders % 32)
        return base_arena_format(op->context->arena,
                                 "only %lld threads hold a part, and warps exchange whole",
                                 (long long)walk->holders);
    return NULL;
}

static bool is_reduced(const reduction *r, const lower_tile_walk *walk, uint32_t dimension) {
    for (uint32_t i = 0; i < r->from->rank; i++)
        if (walk->dimension[0][i] == (int)dimension)
            return r->reduced[i];
    return false;
}

/* Steps of a reduced number of the thread: lanes of a warp, and warps behind them. */
typedef struct crossing {
    int64_t lanes, lane_stride; /* 1: none */
    int64_t warps, warp_stride; /* of threads */
} crossing;

static bool split_digit(const lower_tile_digit *digit, crossing *out) {
    int64_t stride = digit->stride[0], inside = 1;
    *out = (crossing){1, stride, 1, stride};
    while (stride > 0 && stride * inside < 32 && inside < digit->extent)
        inside *= 2;
    if (digit->extent % inside || stride * inside > 32 || (inside < digit->extent && stride * inside % 32))
        return false;
    out->lanes = inside;
    out->warps = digit->extent / inside;
    out->warp_stride = stride * inside;
    return (stride & (stride - 1)) == 0 || inside == 1;
}

const char *lower_tile_refuse_reduce_spread(lower_tile *op) {
    reduction r;
    lower_tile walked;
    lower_tile_walk walk;
    crossing c;
    const char *reason = start_spread(op, &r, &walked, &walk);
    for (size_t i = 0; !reason && i < walk.digits.count; i++) {
        const lower_tile_digit *digit = &walk.digits.items[i];
        if (!digit->is_thread || digit->extent == 1 || !is_reduced(&r, &walk, digit->dimension))
            continue;
        if (!split_digit(digit, &c))
            reason = "the lanes that hold one result are no power of two";
        else if (c.warps > 1 && (!lower_tile_is_block(op) || walk.holders != op->threads))
            reason = base_arena_format(
                op->context->arena,
                "elements of one result of '%s' are in different warps, which meet at the "
                "block's barrier: at scope cta, all of whose threads hold some, or store them "
                "to shared memory and reduce there",
                r.to->tensor->name);
    }
    return reason;
}

/* Every thread's part in shared memory, for other warps. */
static const ir_tensor *scratch_of(const reduction *r) {
    ir_module *module = r->op->module;
    const ir_expr **shape = BASE_NEW_ARRAY(r->op->context->arena, const ir_expr *, 1);
    shape[0] = lower_tile_int(r->op, r->op->threads);
    ir_tensor_type type = {
        .dtype = r->dtype, .lanes = 1, .scope = IR_SCOPE_SHARED, .rank = 1, .shape = shape, .align = 16};
    ir_stmt *allocate = ir_stmt_create(module, IR_STMT_ALLOCATE, r->op->span);
    allocate->as.allocate.tensor =
        ir_tensor_create(module, "parts", &type, IR_TENSOR_ALLOCATION, NULL, r->op->span);
    base_vector_push(r->op->context->arena, r->op->out, allocate);
    return allocate->as.allocate.tensor;
}

static void meet(const reduction *r, ir_stmt *block) {
    ir_stmt *s = ir_stmt_create(r->op->module, IR_STMT_EVALUATE, r->op->span);
    s->as.evaluate.value =
        ir_make(r->op->module, IR_CTA_SYNC, (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, NULL, 0);
    ir_block_add(r->op->module, block, s);
}

/* The parts of the warps that hold one result, in the order of the warps. */
static void fold_warps(const reduction *r, const crossing *c, const ir_tensor *scratch, const ir_tensor *acc,
                       ir_stmt *block) {
    lower_tile *op = r->op;
    const ir_expr *thread = op->thread,
                  *number = lower_tile_integer(
                      op, IR_FLOORMOD,
                      lower_tile_integer(op, IR_FLOORDIV, thread, lower_tile_int(op, c->warp_stride)),
                      lower_tile_int(op, c->warps));
    const ir_expr *first = lower_tile_integer(
        op, IR_SUB, thread, lower_tile_integer(op, IR_MUL, number, lower_tile_int(op, c->warp_stride)));
    ir_block_add(op->module, block, lower_tile_store(op, scratch, &thread, 1, read(r, acc)));
    meet(r, block);
    for (int64_t w = 0; w < c->warps; w++) {
        const ir_expr *at = lower_tile_integer(op, IR_ADD, first, lower_tile_int(op, w * c->warp_stride));
        const ir_expr *part = ir_load(op->module, scratch, &at, 1);
        write(r, acc, block, w ? combined(r, read(r, acc), part) : part);
    }
    meet(r, block);
}

void lower_tile_emit_reduce_spread(lower_tile *op) {
    reduction r;
    lower_tile walked;
    lower_tile_walk walk;
    start_spread(op, &r, &walked, &walk);
    const ir_tensor *from = lower_tile_slots(op, r.from->tensor), *to = lower_tile_slots(op, r.to->tensor);
    const ir_expr *slot[2];
    for (int o = 0; o < 2; o++) {
        slot[o] = lower_tile_int(op, walk.slot_offset[o]);
        if (walk.slot_moved[o])
            slot[o] = lower_tile_integer(op, IR_ADD, walk.slot_moved[o], slot[o]);
    }
    ir_var **vars = BASE_NEW_ARRAY(op->context->arena, ir_var *, walk.digits.count + 1);
    for (size_t i = 0; i < walk.digits.count; i++) {
        const lower_tile_digit *digit = &walk.digits.items[i];
        if (digit->is_thread || digit->extent == 1)
            continue;
        vars[i] = lower_tile_counter(op, is_reduced(&r, &walk, digit->dimension) ? "j" : "i",
                                     lower_tile_int(op, digit->extent));
        for (int o = 0; o < 2; o++)
            if (digit->stride[o])
                slot[o] = lower_tile_integer(op, IR_ADD, slot[o],
                                             lower_tile_integer(op, IR_MUL, ir_var_use(op->module, vars[i]),
                                                                lower_tile_int(op, digit->stride[o])));
    }
    crossing c;
    const ir_tensor *scratch = NULL;
    for (size_t i = 0; i < walk.digits.count && !scratch; i++)
        if (walk.digits.items[i].is_thread && is_reduced(&r, &walk, walk.digits.items[i].dimension) &&
            split_digit(&walk.digits.items[i], &c) && c.warps > 1)
            scratch = scratch_of(&r);
    ir_stmt *body = block_of(&r), *inner = block_of(&r), *around;
    ir_tensor *acc = accumulator(&r, body);
    write(&r, acc, body, identity(&r));
    fold(&r, acc, inner, ir_load(op->module, from, &slot[0], 1));
    for (int kept = 0; kept < 2; kept++) {
        for (size_t i = walk.digits.count; i-- > 0;) {
            const lower_tile_digit *digit = &walk.digits.items[i];
            if (!vars[i] || is_reduced(&r, &walk, digit->dimension) == (kept != 0))
                continue;
            around = block_of(&r);
            ir_block_add(
                op->module, around,
                lower_tile_loop(op, vars[i], lower_tile_int(op, digit->extent), true, kept ? body : inner));
            *(kept ? &body : &inner) = around;
        }
        if (kept)
            break;
        for (size_t i = 0; i < inner->as.block.body.count; i++)
            ir_block_add(op->module, body, inner->as.block.body.items[i]);
        for (size_t i = 0; i < walk.digits.count; i++) {
            const lower_tile_digit *digit = &walk.digits.items[i];
            if (digit->is_thread && is_reduced(&r, &walk, digit->dimension) && split_digit(digit, &c))
                for (int64_t step = c.lanes / 2; step > 0; step /= 2)
                    fold(&r, acc, body, shuffled(&r, read(&r, acc), step * c.lane_stride));
        }
        for (size_t i = 0; i < walk.digits.count && scratch; i++) {
            const lower_tile_digit *digit = &walk.digits.items[i];
            if (digit->is_thread && is_reduced(&r, &walk, digit->dimension) && split_digit(digit, &c) &&
                c.warps > 1)
                fold_warps(&r, &c, scratch, acc, body);
        }
        finish(&r, to, &slot[1], 1, acc, body);
    }
    if (walk.holders < op->threads) {
        base_vector_push(
            op->context->arena, op->out,
            lower_tile_if(op, lower_tile_integer(op, IR_LT, op->thread, lower_tile_int(op, walk.holders)),
                          body));
        return;
    }
    base_vector_push(op->context->arena, op->out, body);
}
