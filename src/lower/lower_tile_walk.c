/* SPDX-License-Identifier: Apache-2.0
 * The walk of a tile operation over its elements: which operand axes go together, which thread takes which
 * element, how many neighbours at once, and the loops. Threads take neighbouring chunks in turn, so that a
 * warp's accesses join; where an operand is spread over registers, its layout says who takes what
 * (lower_tile_spread.c). Must not know what is done with an element. */
#include "lower/lower_tile.h"
#include <string.h>

/* Rounds that a loop over registers may be written out for; above, the array is indexed at run time. */
enum { UNROLL_LIMIT = 1024 };

/* ---- which axes go together ---- */

static bool extents_equal(const lower_tile_region *a, uint32_t i, const lower_tile_region *b, uint32_t j) {
    if (a->size[i] >= 0 || b->size[j] >= 0)
        return a->size[i] == b->size[j];
    return a->extent[i] == b->extent[j];
}

static const char *extents_text(lower_context *context, const lower_tile_region *region) {
    base_builder out;
    base_builder_start(&out, context->arena);
    base_builder_char(&out, '(');
    for (uint32_t i = 0; i < region->rank; i++) {
        base_builder_string(&out, i ? ", " : "");
        ir_expr_print(region->extent[i], &out);
    }
    base_builder_char(&out, ')');
    return out.data;
}

/* Axes longer than 1, in order. */
static uint32_t long_axes(const lower_tile_region *region, uint32_t *axes) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < region->rank; i++)
        if (region->size[i] != 1)
            axes[count++] = i;
    return count;
}

/* Either the axes longer than 1 are the same in order, or the axes pair up from the last, where an extent of
 * 1 meets every element. */
static bool match(lower_tile_walk *walk, uint32_t o) {
    const lower_tile_region *first = &walk->op->operands[0].region, *region = &walk->op->operands[o].region;
    uint32_t mine[LOWER_TILE_AXES], theirs[LOWER_TILE_AXES];
    uint32_t count = long_axes(first, mine), other = long_axes(region, theirs);
    int *dimension = walk->dimension[o];
    for (uint32_t i = 0; i < region->rank; i++)
        dimension[i] = -1;
    bool same = count == other;
    for (uint32_t i = 0; same && i < count; i++)
        same = extents_equal(first, mine[i], region, theirs[i]);
    if (same) {
        for (uint32_t i = 0; i < count; i++)
            dimension[theirs[i]] = (int)i;
        return true;
    }
    for (uint32_t i = 0; i < other; i++) {
        uint32_t behind = region->rank - 1 - theirs[i];
        if (behind >= first->rank)
            return false;
        uint32_t axis = first->rank - 1 - behind, d = 0;
        if (!extents_equal(first, axis, region, theirs[i]))
            return false;
        while (mine[d] != axis)
            d++;
        dimension[theirs[i]] = (int)d;
    }
    return true;
}

const char *lower_tile_walk_start(lower_tile *op, lower_tile_walk *walk) {
    lower_context *context = op->context;
    const lower_tile_region *first = &op->operands[0].region;
    *walk = (lower_tile_walk){.op = op, .primary = -1, .alone = op->scope == LAYOUT_SCOPE_THREAD};
    uint32_t axes[LOWER_TILE_AXES], most = 0;
    bool own = true;
    walk->rank = long_axes(first, axes);
    for (uint32_t i = 0; i < walk->rank; i++) {
        walk->size[i] = first->size[axes[i]];
        walk->extent[i] = first->extent[axes[i]];
    }
    for (uint32_t o = 0; o < op->count; o++) {
        const lower_tile_region *region = &op->operands[o].region;
        if (!op->operands[o].is_region)
            continue;
        if (region->tensor->type.scope == IR_SCOPE_TMEM)
            return base_arena_format(context->arena,
                                     "'%s' is tensor memory, which threads do not address: copy_async moves "
                                     "it to registers of a warpgroup and back",
                                     region->tensor->name);
        if (region->tensor->type.lanes > 1)
            return base_arena_format(context->arena, "the elements of '%s' are vectors of %u",
                                     region->tensor->name, region->tensor->type.lanes);
        if (!match(walk, o))
            return base_arena_format(context->arena, "the extents differ: %s has %s, %s has %s",
                                     first->tensor->name, extents_text(context, first), region->tensor->name,
                                     extents_text(context, region));
        uint32_t covered = 0;
        for (uint32_t i = 0; region->is_spread && i < region->rank; i++)
            covered += walk->dimension[o][i] >= 0;
        if (region->is_spread && (walk->primary < 0 || covered > most)) {
            walk->primary = (int)o;
            most = covered;
        }
        own &= region->tensor->type.scope == IR_SCOPE_LOCAL && !region->is_spread;
    }
    walk->alone |= own;
    if (walk->alone && walk->primary >= 0)
        return base_arena_format(
            context->arena, "'%s' is spread over threads by its layout %s: use the scope of those threads",
            op->operands[walk->primary].region.tensor->name,
            layout_text_of(context->arena, op->operands[walk->primary].region.tensor->type.layout));
    if (walk->alone)
        return NULL;
    for (uint32_t o = 0; o < op->count; o++) {
        const ir_tensor *tensor = op->operands[o].is_region ? op->operands[o].region.tensor : NULL;
        if (tensor && tensor->type.scope == IR_SCOPE_LOCAL && !op->operands[o].region.is_spread)
            return base_arena_format(
                context->arena,
                "'%s' is an array that each thread has for itself, so nothing says which thread of the %s "
                "holds what: give it a layout such as S[(%lld, n) : (1@%s, 1)], or use scope thread",
                tensor->name, lower_tile_scope_word(op->scope), op->threads ? (long long)op->threads : 32ll,
                op->scope == LAYOUT_SCOPE_WARP        ? "laneid"
                : op->scope == LAYOUT_SCOPE_WARPGROUP ? "tid_in_wg"
                                                      : "tx");
    }
    if (!op->threads)
        return op->scope == LAYOUT_SCOPE_CTA
                   ? "the number of threads of the block is not a constant"
                   : base_arena_format(
                         context->arena, "the block is not a constant multiple of the %d of a %s",
                         op->scope == LAYOUT_SCOPE_WARP ? 32 : 128, lower_tile_scope_word(op->scope));
    return walk->primary >= 0 ? lower_tile_spread_start(walk) : NULL;
}

/* ---- the plan of one width ---- */

typedef struct nest {
    ir_var *var;
    const ir_expr *extent;
} nest;

typedef struct plan {
    lower_tile_walk *walk;
    unsigned lanes;
    int vector; /* dimension whose neighbours go together */
    const ir_expr *at[LOWER_TILE_AXES];
    const ir_expr *slot[LOWER_TILE_OPERANDS]; /* of spread operands */
    const ir_expr *guard;                     /* NULL: every thread */
    BASE_VECTOR(nest) nests;                  /* outer first */
    ir_stmt *chunk;                           /* let of the chunk's number, or NULL */
    int64_t rounds;                           /* -1: not a constant */
} plan;

static const ir_expr *and_also(lower_tile *op, const ir_expr *a, const ir_expr *b) {
    return a ? ir_binary(op->module, IR_AND, a, b) : b;
}

static const ir_expr *scaled(lower_tile *op, const ir_expr *x, int64_t factor) {
    return factor == 1 ? x : lower_tile_integer(op, IR_MUL, x, lower_tile_int(op, factor));
}

static const ir_expr *sum(lower_tile *op, const ir_expr *a, const ir_expr *b) {
    int64_t zero;
    if (!a || (ir_is_int(a, &zero) && zero == 0))
        return b;
    if (ir_is_int(b, &zero) && zero == 0)
        return a;
    return lower_tile_integer(op, IR_ADD, a, b);
}

static ir_var *add_loop(plan *p, const ir_expr *extent, int64_t constant) {
    static const char *const names[] = {"i", "j", "k", "l", "i4", "i5", "i6", "i7"};
    lower_tile *op = p->walk->op;
    nest n = {lower_tile_counter(op, names[p->nests.count % 8], extent), extent};
    base_vector_push(op->context->arena, &p->nests, n);
    if (constant < 0 || p->rounds < 0 || __builtin_mul_overflow(p->rounds, constant, &p->rounds))
        p->rounds = -1;
    return n.var;
}

/* Extent of a dimension in chunks of the walk; only the vector's is divided, exactly. */
static const ir_expr *chunks(plan *p, uint32_t d, int64_t *constant) {
    lower_tile_walk *walk = p->walk;
    unsigned lanes = (int)d == p->vector ? p->lanes : 1;
    *constant = walk->size[d] < 0 ? -1 : walk->size[d] / lanes;
    return *constant < 0 ? walk->extent[d] : lower_tile_int(walk->op, *constant);
}

/* Dimensions from the slowest to the fastest in the tensor that lies in global memory, else in the first. */
static void order_dimensions(lower_tile_walk *walk, uint32_t *order) {
    lower_tile *op = walk->op;
    uint32_t chosen = 0;
    int64_t step[LOWER_TILE_AXES];
    for (uint32_t o = op->count; o-- > 0;)
        if (op->operands[o].is_region && op->operands[o].region.tensor->type.scope == IR_SCOPE_GLOBAL)
            chosen = o;
    for (uint32_t d = 0; d < walk->rank; d++) {
        order[d] = d;
        step[d] = INT64_MAX;
    }
    const lower_tile_region *region = &op->operands[chosen].region;
    const ir_tensor_type *type = &region->tensor->type;
    int64_t shape[LOWER_TILE_AXES];
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_error error = {NULL};
    const layout_tile *group = NULL;
    for (uint32_t i = 0; i < type->rank; i++)
        if (!arith_is_constant(op->context->facts, type->shape[i], &shape[i]))
            return;
    if (type->layout)
        group = layout_group(op->context->arena, type->layout, shape, type->rank, separators, &error);
    if (!group)
        return;
    for (uint32_t i = 0; i < region->rank; i++) {
        int d = walk->dimension[chosen][i];
        if (d >= 0)
            step[d] = group->shard[separators[i + 1] - 1].stride;
        if (d >= 0 && step[d] < 0)
            return;
    }
    for (uint32_t i = 1; i < walk->rank; i++) /* stable: equal steps keep their order */
        for (uint32_t j = i; j > 0 && step[order[j - 1]] < step[order[j]]; j--) {
            uint32_t swap = order[j];
            order[j] = order[j - 1], order[j - 1] = swap;
        }
}

/* Every thread does everything: a loop for each dimension. */
static void plan_alone(plan *p) {
    lower_tile_walk *walk = p->walk;
    lower_tile *op = walk->op;
    for (uint32_t d = 0; d < walk->rank; d++) {
        int64_t constant;
        const ir_expr *extent = chunks(p, d, &constant);
        if (constant == 1) {
            p->at[d] = lower_tile_int(op, 0);
            continue;
        }
        ir_var *var = add_loop(p, extent, constant);
        p->at[d] = scaled(op, ir_var_use(op->module, var), (int)d == p->vector ? p->lanes : 1);
    }
}

/* The chunk's number is written once, and taken apart from there. */
static const ir_expr *bind_chunk(plan *p, const ir_expr *chunk) {
    lower_tile *op = p->walk->op;
    if (p->walk->rank < 2 || chunk->count == 0)
        return chunk;
    p->chunk = ir_stmt_create(op->module, IR_STMT_LET, op->span);
    p->chunk->as.let.var = ir_var_create(op->module, "chunk", chunk->type, IR_VAR_LET, op->span);
    p->chunk->as.let.value = chunk;
    arith_bind(op->context->facts, p->chunk->as.let.var, arith_bounds(op->context->facts, chunk),
               arith_modular_set(op->context->facts, chunk));
    return ir_var_use(op->module, p->chunk->as.let.var);
}

/* Chunk number = round * threads + thread, taken apart from the fastest dimension on. */
static void plan_threads(plan *p) {
    lower_tile_walk *walk = p->walk;
    lower_tile *op = walk->op;
    uint32_t order[LOWER_TILE_AXES];
    int64_t total = 1, extents[LOWER_TILE_AXES];
    const ir_expr *all = NULL, *parts[LOWER_TILE_AXES];
    order_dimensions(walk, order);
    for (uint32_t d = 0; d < walk->rank; d++) {
        parts[d] = chunks(p, d, &extents[d]);
        all = all ? lower_tile_integer(op, IR_MUL, all, parts[d]) : parts[d];
        if (extents[d] < 0 || total < 0 || __builtin_mul_overflow(total, extents[d], &total))
            total = -1;
    }
    if (!all)
        all = lower_tile_int(op, 1);
    const ir_expr *chunk = op->thread, *threads = lower_tile_int(op, op->threads);
    if (total < 0 || total > op->threads) {
        const ir_expr *rounds =
            lower_tile_integer(op, IR_FLOORDIV, sum(op, all, lower_tile_int(op, op->threads - 1)), threads);
        ir_var *var = add_loop(p, rounds, total < 0 ? -1 : (total + op->threads - 1) / op->threads);
        chunk = lower_tile_integer(
            op, IR_ADD, lower_tile_integer(op, IR_MUL, ir_var_use(op->module, var), threads), chunk);
    }
    chunk = bind_chunk(p, chunk);
    if (total < 0 || total % op->threads)
        p->guard = lower_tile_integer(op, IR_LT, chunk, all);
    for (uint32_t k = walk->rank; k-- > 0;) {
        uint32_t d = order[k];
        const ir_expr *digit = k ? lower_tile_integer(op, IR_FLOORMOD, chunk, parts[d]) : chunk;
        if (k)
            chunk = lower_tile_integer(op, IR_FLOORDIV, chunk, parts[d]);
        p->at[d] = scaled(op, digit, (int)d == p->vector ? p->lanes : 1);
    }
}

/* The digits of the thread's own number, and loops through its slots. */
static void plan_spread(plan *p) {
    lower_tile_walk *walk = p->walk;
    lower_tile *op = walk->op;
    for (uint32_t d = 0; d < walk->rank; d++)
        p->at[d] = lower_tile_int(op, 0);
    for (uint32_t o = 0; o < op->count; o++)
        p->slot[o] = sum(op, walk->slot_moved[o], lower_tile_int(op, walk->slot_offset[o]));
    if (walk->holders < op->threads)
        p->guard = lower_tile_integer(op, IR_LT, op->thread, lower_tile_int(op, walk->holders));
    if (walk->replica_extent > 1 && !op->operands[0].region.is_spread) {
        const ir_expr *copy = lower_tile_integer(
            op, IR_FLOORMOD,
            lower_tile_integer(op, IR_FLOORDIV, op->thread, lower_tile_int(op, walk->replica_stride)),
            lower_tile_int(op, walk->replica_extent));
        p->guard = and_also(op, p->guard, lower_tile_integer(op, IR_EQ, copy, lower_tile_int(op, 0)));
    }
    for (size_t i = 0; i < walk->digits.count; i++) {
        const lower_tile_digit *digit = &walk->digits.items[i];
        const ir_expr *value;
        unsigned lanes =
            !digit->is_thread && digit->weight == 1 && (int)digit->dimension == p->vector ? p->lanes : 1;
        if (digit->extent == lanes)
            continue;
        if (digit->is_thread) {
            value = op->thread;
            if (digit->stride[walk->primary] > 1)
                value = lower_tile_integer(op, IR_FLOORDIV, value,
                                           lower_tile_int(op, digit->stride[walk->primary]));
            if (digit->stride[walk->primary] * digit->extent < op->threads)
                value = lower_tile_integer(op, IR_FLOORMOD, value, lower_tile_int(op, digit->extent));
        } else
            value = ir_var_use(op->module,
                               add_loop(p, lower_tile_int(op, digit->extent / lanes), digit->extent / lanes));
        value = scaled(op, value, lanes);
        p->at[digit->dimension] = sum(op, p->at[digit->dimension], scaled(op, value, digit->weight));
        for (uint32_t o = 0; o < op->count && !digit->is_thread; o++)
            if (op->operands[o].is_region && op->operands[o].region.is_spread && digit->stride[o])
                p->slot[o] = sum(op, p->slot[o], scaled(op, value, digit->stride[o]));
    }
}

/* Neighbours along the last dimension: what one access of every operand could move, by the digits. */
static bool spread_takes(const lower_tile_walk *walk, unsigned lanes) {
    for (size_t i = 0; i < walk->digits.count; i++) {
        const lower_tile_digit *digit = &walk->digits.items[i];
        if (digit->dimension + 1 != walk->rank || digit->weight != 1 || digit->extent == 1)
            continue;
        bool good = !digit->is_thread && digit->extent % lanes == 0;
        for (uint32_t o = 0; good && o < walk->op->count; o++)
            if (walk->op->operands[o].is_region && walk->op->operands[o].region.is_spread)
                good = digit->stride[o] == 1;
        return good;
    }
    return false;
}

static void make_plan(lower_tile_walk *walk, unsigned lanes, plan *p) {
    *p = (plan){.walk = walk, .lanes = lanes, .vector = lanes > 1 ? (int)walk->rank - 1 : -1, .rounds = 1};
    if (walk->alone)
        plan_alone(p);
    else if (walk->primary >= 0)
        plan_spread(p);
    else
        plan_threads(p);
}

/* ---- places ---- */

static const ir_expr *ramp(lower_tile *op, const ir_expr *base, unsigned lanes) {
    const ir_expr *args[] = {base, ir_int(op->module, (num_dtype)base->type.dtype, 1)};
    return ir_make(op->module, IR_RAMP, ir_type_prim((num_dtype)base->type.dtype, lanes), args, 2);
}

/* Where operand o is; the view of a spread operand's slots stands in for it. */
static void find_place(const plan *p, uint32_t o, const ir_tensor *slots, lower_tile_place *place) {
    lower_tile_walk *walk = p->walk;
    lower_tile *op = walk->op;
    const lower_tile_region *region = &op->operands[o].region;
    *place = (lower_tile_place){.tensor = region->tensor, .count = region->rank, .lanes = 1};
    if (region->is_spread) {
        place->tensor = slots;
        place->count = 1;
        place->indices[0] = p->slot[o];
        place->lanes = p->lanes;
        return;
    }
    for (uint32_t i = 0; i < region->rank; i++) {
        int d = walk->dimension[o][i];
        place->indices[i] = d < 0 ? region->start[i] : sum(op, region->start[i], p->at[d]);
        if (d >= 0 && d == p->vector)
            place->lanes = p->lanes;
    }
}

/* Elements of one access of 16 bytes at most. */
static unsigned chunk_of(const ir_tensor *tensor, unsigned lanes) {
    unsigned limit = lower_chunk_limit(tensor->type.dtype);
    return lanes < limit ? lanes : limit;
}

static bool is_storage(const ir_tensor *tensor) {
    return tensor->type.scope != IR_SCOPE_LOCAL;
}

/* Whether every operand has `lanes` neighbours together, in accesses that are certain to be aligned. */
static bool takes(lower_tile_walk *walk, unsigned lanes, const ir_tensor *const *slots) {
    lower_tile *op = walk->op;
    if (walk->rank == 0 || walk->size[walk->rank - 1] < 0 || walk->size[walk->rank - 1] % lanes)
        return false;
    if (walk->primary >= 0 && !spread_takes(walk, lanes))
        return false;
    plan p;
    make_plan(walk, lanes, &p);
    for (uint32_t o = 0; o < op->count; o++) {
        if (!op->operands[o].is_region)
            continue;
        const lower_tile_region *region = &op->operands[o].region;
        lower_tile_place place;
        unsigned bits = num_dtype_bits(region->tensor->type.dtype), chunk = chunk_of(region->tensor, lanes);
        find_place(&p, o, slots[o], &place);
        if (place.lanes == 1)
            continue;
        if (bits == 6 || bits == 1)
            return false;
        if (!region->is_spread && walk->dimension[o][region->rank - 1] != (int)walk->rank - 1)
            return false;
        if (region->is_spread && lower_access_alignment(op->context, place.tensor, place.indices, chunk,
                                                        op->span) != LOWER_ALIGNED)
            return false;
        if (!region->is_spread &&
            (!lower_is_contiguous(op->context, place.tensor, place.indices[place.count - 1], chunk) ||
             lower_access_alignment(op->context, place.tensor, place.indices, chunk, op->span) !=
                 LOWER_ALIGNED))
            return false;
    }
    return true;
}

static int64_t elements(const lower_tile_walk *walk) {
    int64_t total = 1;
    for (uint32_t d = 0; d < walk->rank; d++)
        if (walk->size[d] < 0 || __builtin_mul_overflow(total, walk->size[d], &total))
            return INT64_MAX;
    return total;
}

/* As wide as 16 bytes of the narrowest element in storage, while every thread has something to do. */
static unsigned choose_lanes(lower_tile_walk *walk, const ir_tensor *const *slots) {
    lower_tile *op = walk->op;
    unsigned lanes = 0, narrow = 64;
    for (uint32_t o = 0; o < op->count; o++) {
        const ir_tensor *tensor = op->operands[o].is_region ? op->operands[o].region.tensor : NULL;
        if (!tensor || !is_storage(tensor))
            continue;
        unsigned limit = lower_chunk_limit(tensor->type.dtype);
        lanes = limit > lanes ? limit : lanes;
        narrow = num_dtype_bits(tensor->type.dtype) < narrow ? num_dtype_bits(tensor->type.dtype) : narrow;
    }
    bool divided = !walk->alone && walk->primary < 0;
    int64_t total = elements(walk);
    for (; lanes > 1; lanes /= 2) {
        if (divided && total / lanes < op->threads && lanes * narrow > 32)
            continue;
        if (takes(walk, lanes, slots))
            return lanes;
    }
    return 1;
}

unsigned lower_tile_walk_lanes(lower_tile_walk *walk) {
    static const ir_tensor *const none[LOWER_TILE_OPERANDS];
    return choose_lanes(walk, none);
}

/* ---- writing ---- */

/* The slots of this thread as a plain array over the same registers. */
ir_tensor *lower_tile_slots(lower_tile *op, const ir_tensor *tensor) {
    int64_t span = 1;
    layout_span(tensor->type.layout, LAYOUT_AXIS_M, &span);
    ir_tensor_type type = tensor->type;
    const ir_expr **shape = BASE_NEW_ARRAY(op->context->arena, const ir_expr *, 1);
    shape[0] = lower_tile_int(op, span > 0 ? span : 1);
    type.rank = 1;
    type.shape = shape;
    type.layout = NULL;
    ir_stmt *declare = ir_stmt_create(op->module, IR_STMT_DECLARE, op->span);
    declare->as.declare.tensor = ir_tensor_create(
        op->module, tensor->name, &type, IR_TENSOR_VIEW,
        tensor->kind == IR_TENSOR_VIEW ? tensor->data : ir_data(op->module, tensor), tensor->span);
    base_vector_push(op->context->arena, op->out, declare);
    return declare->as.declare.tensor;
}

static ir_stmt *with_first(lower_tile *op, ir_stmt *first, const ir_stmt *block) {
    ir_stmt *around = ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
    ir_block_add(op->module, around, first);
    for (size_t i = 0; i < block->as.block.body.count; i++)
        ir_block_add(op->module, around, block->as.block.body.items[i]);
    return around;
}

void lower_tile_walk_emit(lower_tile_walk *walk, lower_tile_body body, void *user) {
    lower_tile *op = walk->op;
    ir_tensor *slots[LOWER_TILE_OPERANDS] = {NULL};
    lower_tile_place places[LOWER_TILE_OPERANDS];
    bool registers = false;
    for (uint32_t o = 0; o < op->count; o++) {
        const lower_tile_region *region = &op->operands[o].region;
        if (!op->operands[o].is_region)
            continue;
        registers |= region->tensor->type.scope == IR_SCOPE_LOCAL;
        if (region->is_spread)
            slots[o] = lower_tile_slots(op, region->tensor);
    }
    plan p;
    make_plan(walk, choose_lanes(walk, (const ir_tensor *const *)slots), &p);
    ir_stmt *block = ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
    for (uint32_t o = 0; o < op->count; o++)
        if (op->operands[o].is_region)
            find_place(&p, o, slots[o], &places[o]);
    body(op, places, p.lanes, block, user);
    bool unrolled = registers && p.rounds >= 0 && p.rounds <= UNROLL_LIMIT;
    /* what does not change from round to round is asked once */
    bool inner = p.guard && (p.nests.count > 0 || p.chunk) && walk->primary < 0;
    ir_stmt *s = block;
    if (inner) {
        ir_stmt *around = ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
        if (p.chunk)
            ir_block_add(op->module, around, p.chunk);
        ir_block_add(op->module, around, lower_tile_if(op, p.guard, s));
        s = around;
    } else if (p.chunk)
        s = with_first(op, p.chunk, s);
    for (size_t i = p.nests.count; i-- > 0;) {
        ir_stmt *around = ir_stmt_create(op->module, IR_STMT_BLOCK, op->span);
        ir_block_add(op->module, around,
                     lower_tile_loop(op, p.nests.items[i].var, p.nests.items[i].extent, unrolled, s));
        s = around;
    }
    if (p.guard && !inner && (!p.chunk || p.nests.count > 0)) {
        base_vector_push(op->context->arena, op->out, lower_tile_if(op, p.guard, s));
        return;
    }
    if (p.chunk && p.nests.count == 0) { /* a name of its own scope */
        base_vector_push(op->context->arena, op->out, s);
        return;
    }
    for (size_t i = 0; i < s->as.block.body.count; i++)
        base_vector_push(op->context->arena, op->out, s->as.block.body.items[i]);
}

const ir_expr *lower_tile_load(lower_tile *op, const lower_tile_place *place, unsigned lanes) {
    const ir_expr *indices[LOWER_TILE_AXES];
    memcpy(indices, place->indices, sizeof indices);
    if (place->lanes > 1)
        indices[place->count - 1] = ramp(op, indices[place->count - 1], place->lanes);
    const ir_expr *load = ir_load(op->module, place->tensor, indices, place->count);
    if (place->lanes < lanes)
        load = ir_make(op->module, IR_BROADCAST, ir_type_prim((num_dtype)load->type.dtype, lanes), &load, 1);
    return load;
}
