/* SPDX-License-Identifier: Apache-2.0
 * copy_async between the shared memories of two CTAs of a cluster: cp.async.bulk of the runs that lie
 * together on both sides (PTX ISA 9.7.9.25.5.2). The bytes count on an mbarrier of the CTA that receives
 * them; one thread issues. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"

enum { ELEMENTS_LIMIT = 1 << 18, CHUNKS_LIMIT = 1024 };

/* One side, its positions counted from axes that start at 0 where only a run knows. */
typedef struct side {
    const lower_tile_region *region;
    const layout_tile *layout;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES];
} side;

typedef struct plan {
    side to, from;
    int64_t total, chunk; /* elements */
    int64_t *first;       /* of each chunk: the element at its lowest place */
    unsigned bits;
    const ir_expr *rank, *barrier;
} plan;

static bool is_shared(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_SHARED || region->tensor->type.scope == IR_SCOPE_SHARED_DYN;
}

static const char *read_side(lower_tile *op, const lower_tile_region *region, side *out) {
    base_arena *arena = op->context->arena;
    layout_error error = {NULL};
    *out = (side){.region = region};
    for (uint32_t i = 0; i < region->rank; i++) {
        if (!arith_is_constant(op->context->facts, region->tensor->type.shape[i], &out->shape[i]) ||
            region->size[i] < 1)
            return base_arena_format(arena, "the extents of '%s' must be constants", region->tensor->name);
        if (!arith_is_constant(op->context->facts, region->start[i], &out->begin[i]))
            out->begin[i] = 0;
    }
    out->layout = region->tensor->type.layout ? region->tensor->type.layout
                                              : layout_row_major(arena, out->shape, region->rank, &error);
    return out->layout ? NULL : error.text;
}

/* Coordinates of element n of the region, relative to its start. */
static void element(const side *s, int64_t n, int64_t *at) {
    for (uint32_t i = s->region->rank; i-- > 0;) {
        at[i] = n % s->region->size[i];
        n /= s->region->size[i];
    }
}

static int64_t place_of(lower_tile *op, const side *s, int64_t n) {
    int64_t at[LOWER_TILE_AXES], position[LAYOUT_AXIS_COUNT];
    uint32_t axes;
    layout_error error = {NULL};
    element(s, n, at);
    for (uint32_t i = 0; i < s->region->rank; i++)
        at[i] += s->begin[i];
    return layout_apply(s->layout, at, s->region->rank, s->shape, position, &axes, &error, op->context->arena)
               ? position[LAYOUT_AXIS_M]
               : -1;
}

/* Every chunk must be one run of memory, and the same one, moved, on the other side. */
static bool chunks_are_runs(plan *p, const int64_t *to, const int64_t *from) {
    for (int64_t begin = 0; begin < p->total; begin += p->chunk) {
        int64_t low = from[begin], high = from[begin], first = begin;
        for (int64_t n = begin; n < begin + p->chunk; n++) {
            if (to[n] - to[begin] != from[n] - from[begin])
                return false;
            if (from[n] < low) {
                low = from[n];
                first = n;
            }
            high = from[n] > high ? from[n] : high;
        }
        if (high - low != p->chunk - 1 || low * p->bits % 128 || to[first] * p->bits % 128)
            return false;
        p->first[begin / p->chunk] = first;
    }
    return true;
}

static const char *find_chunks(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    int64_t *to = BASE_NEW_ARRAY(arena, int64_t, p->total), *from = BASE_NEW_ARRAY(arena, int64_t, p->total);
    for (int64_t n = 0; n < p->total; n++) {
        to[n] = place_of(op, &p->to, n);
        from[n] = place_of(op, &p->from, n);
    }
    p->first = BASE_NEW_ARRAY(arena, int64_t, CHUNKS_LIMIT);
    for (int64_t count = 1; count <= CHUNKS_LIMIT && count <= p->total; count++) {
        p->chunk = p->total / count;
        if (p->total % count == 0 && p->chunk * p->bits % 128 == 0 && chunks_are_runs(p, to, from))
            return NULL;
    }
    return base_arena_format(arena, "'%s' and '%s' have no runs of whole 16 bytes in common",
                             p->to.region->tensor->name, p->from.region->tensor->name);
}

/* A start that only a run knows must leave the runs as they are: whole 16 bytes, or whole patterns of the
 * swizzle. */
static const char *starts_alike(lower_tile *op, const side *s, unsigned bits) {
    layout_swizzle z = s->layout->swizzle;
    layout_tile *plain = base_arena_copy(op->context->arena, s->layout, sizeof *plain);
    plain->swizzle = (layout_swizzle){0};
    int64_t unit = z.present && z.length ? (int64_t)1 << (z.per_element + z.atom + z.length) : 128 / bits;
    return lower_tile_starts_alike(op, s->region, plain, s->shape, unit);
}

static const char *make_plan(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    *p = (plan){.total = 1, .bits = num_dtype_bits(from->tensor->type.dtype)};
    if (!is_shared(to) || !is_shared(from))
        return "it moves from shared memory to that of another CTA of the cluster";
    p->rank = lower_tile_attribute(op, "remote_cta_id", 0);
    p->barrier = lower_tile_attribute(op, "mbar", 0);
    if (!p->rank || !p->barrier)
        return "it needs remote_cta_id=, the rank of the other CTA, and mbar=, which counts the bytes there";
    if (p->rank->type.kind != IR_TYPE_PRIM || !ir_type_is_integer(p->rank->type) ||
        p->barrier->type.kind != IR_TYPE_POINTER)
        return "remote_cta_id= is an integer and mbar= a pointer into shared memory";
    if (to->tensor->type.dtype != from->tensor->type.dtype || p->bits < 8)
        return base_arena_format(arena, "'%s' is %s and '%s' is %s", to->tensor->name,
                                 num_dtype_name(to->tensor->type.dtype), from->tensor->name,
                                 num_dtype_name(from->tensor->type.dtype));
    const char *reason = read_side(op, to, &p->to);
    if (reason || (reason = read_side(op, from, &p->from)) || (reason = starts_alike(op, &p->to, p->bits)) ||
        (reason = starts_alike(op, &p->from, p->bits)))
        return reason;
    int64_t other = 1;
    for (uint32_t i = 0; i < to->rank; i++)
        p->total = p->total > ELEMENTS_LIMIT ? p->total : p->total * to->size[i];
    for (uint32_t i = 0; i < from->rank; i++)
        other = other > ELEMENTS_LIMIT ? other : other * from->size[i];
    if (p->total != other || p->total > ELEMENTS_LIMIT)
        return base_arena_format(arena,
                                 "the regions of '%s' and '%s' have different numbers of elements, or more "
                                 "than shared memory",
                                 to->tensor->name, from->tensor->name);
    if (!lower_tile_align(op, to->tensor, 16) || !lower_tile_align(op, from->tensor, 16))
        return "both sides must start at a multiple of 16 bytes";
    return find_chunks(op, p);
}

const char *lower_tile_refuse_dsmem(lower_tile *op) {
    return make_plan(op, lower_tile_plan(op, sizeof(plan)));
}

static const ir_expr *address_at(lower_tile *op, const side *s, int64_t n) {
    const ir_expr *indices[LOWER_TILE_AXES];
    int64_t at[LOWER_TILE_AXES];
    element(s, n, at);
    for (uint32_t i = 0; i < s->region->rank; i++)
        indices[i] = at[i] ? lower_tile_integer(op, IR_ADD, s->region->start[i], lower_tile_int(op, at[i]))
                           : s->region->start[i];
    return lower_tile_shared(op, ir_address(op->module, s->region->tensor, indices, s->region->rank));
}

void lower_tile_emit_dsmem(lower_tile *op) {
    const plan *p = op->plan;
    ir_stmt *block = lower_tile_block(op);
    const char *map = "mapa.shared::cluster.u32 %0, $0, $1";
    const ir_expr *rank = lower_tile_word(op, p->rank), *there[] = {lower_tile_shared(op, p->barrier), rank};
    const ir_expr *barrier = lower_tile_result(op, block, map, NUM_DTYPE_U32, 1, there, 2);
    for (int64_t c = 0; c < p->total / p->chunk; c++) {
        const ir_expr *place[] = {address_at(op, &p->to, p->first[c]), rank};
        const ir_expr *args[] = {lower_tile_result(op, block, map, NUM_DTYPE_U32, 1, place, 2),
                                 address_at(op, &p->from, p->first[c]),
                                 ir_int(op->module, NUM_DTYPE_U32, p->chunk * p->bits / 8), barrier};
        ir_block_add(
            op->module, block,
            lower_tile_instruction(op,
                                   "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                                   "[$0], [$1], $2, [$3]",
                                   args, 4));
    }
    base_vector_push(op->context->arena, op->out, block);
}
