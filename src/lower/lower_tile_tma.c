/* SPDX-License-Identifier: Apache-2.0
 * copy_async between global and shared memory by TMA: cp.async.bulk.tensor over a tensor map that the launch
 * makes of the global tensor (PTX ISA 9.7.9.27). The shared layout says how large a box one instruction can
 * fill; the boxes follow each other. One thread issues, the caller waits on its mbarrier or bulk group. Must
 * not know how maps are encoded. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum { BOX_LIMIT = 256, RUN_LIMIT = 4096, BOXES_LIMIT = 4096, SHARED_LIMIT = 1 << 18 };

typedef struct plan {
    const lower_tile_region *global, *shared;
    bool is_load;
    layout_mode mode;
    ir_tensor_map map;
    int64_t pieces[LOWER_TILE_AXES], size[LOWER_TILE_AXES]; /* of each axis of the global region */
    int shared_axis[LOWER_TILE_AXES];                       /* -1: an axis of extent 1 */
    const ir_expr *barrier;                                 /* shared address */
    int64_t group;
    const ir_expr *mask; /* of CTAs that all receive it, or NULL */
} plan;

static bool is_shared(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_SHARED || region->tensor->type.scope == IR_SCOPE_SHARED_DYN;
}

/* ---- the global tensor ---- */

static const char *read_global(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *g = p->global;
    const ir_tensor_type *type = &g->tensor->type;
    if (g->tensor->kind != IR_TENSOR_PARAMETER)
        return base_arena_format(arena,
                                 "'%s' is a view: the launch makes tensor maps of parameters of the kernel",
                                 g->tensor->name);
    if (g->rank < 1 || g->rank > IR_MAP_RANK)
        return base_arena_format(arena, "'%s' has %u axes, a tensor map 1 to 5", g->tensor->name, g->rank);
    p->map = (ir_tensor_map){.of = g->tensor, .rank = g->rank};
    int64_t shape[LOWER_TILE_AXES];
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_error error = {NULL};
    const layout_tile *group = NULL;
    for (uint32_t i = 0; type->layout && i < g->rank; i++)
        if (!arith_is_constant(op->context->facts, type->shape[i], &shape[i]))
            return base_arena_format(arena, "'%s' has a layout over a shape that is not constant",
                                     g->tensor->name);
    if (type->layout && (type->layout->swizzle.present || type->layout->offset[LAYOUT_AXIS_M]))
        return base_arena_format(arena, "'%s' has a layout with a swizzle or an origin", g->tensor->name);
    if (type->origin)
        return base_arena_format(arena, "'%s' has an origin", g->tensor->name);
    if (type->layout && !(group = layout_group(arena, type->layout, shape, g->rank, separators, &error)))
        return base_arena_format(arena, "'%s': %s", g->tensor->name, error.text);
    const ir_expr *dense = lower_tile_int(op, 1);
    for (uint32_t d = 0; d < g->rank; d++) {
        uint32_t axis = g->rank - 1 - d;
        int64_t extent = 1;
        if (group && separators[axis + 1] - separators[axis] != 1)
            return base_arena_format(arena, "axis %u of '%s' has no single stride", axis, g->tensor->name);
        p->map.dims[d] = type->shape[axis];
        p->map.strides[d] = group           ? lower_tile_int(op, group->shard[separators[axis]].stride)
                            : type->strides ? type->strides[axis]
                                            : dense;
        dense = lower_tile_integer(op, IR_MUL, dense, type->shape[axis]);
        bool single = arith_is_constant(op->context->facts, type->shape[axis], &extent) && extent == 1;
        int64_t stride;
        if (d == 0 && !single && !(ir_is_int(p->map.strides[0], &stride) && stride == 1))
            return base_arena_format(arena, "the last axis of '%s' does not have the stride 1",
                                     g->tensor->name);
    }
    return NULL;
}

/* ---- the shared tile ---- */

static int64_t place_of(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape,
                        const int64_t *at) {
    int64_t coordinate[LOWER_TILE_AXES], position[LAYOUT_AXIS_COUNT];
    uint32_t axes;
    layout_error error = {NULL};
    for (uint32_t i = 0; i < p->shared->rank; i++)
        coordinate[i] = 0;
    for (uint32_t i = 0; i < p->global->rank; i++)
        if (p->shared_axis[i] >= 0)
            coordinate[p->shared_axis[i]] = at[i];
    for (uint32_t i = 0; i < p->shared->rank; i++) {
        int64_t begin;
        if (arith_is_constant(op->context->facts, p->shared->start[i], &begin))
            coordinate[i] += begin;
    }
    return layout_apply(plain, coordinate, p->shared->rank, shape, position, &axes, &error,
                        op->context->arena)
               ? position[LAYOUT_AXIS_M]
               : -1;
}

/* How many neighbours along the last axis stay together, as a divisor of its extent. */
static int64_t run_length(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape,
                          int64_t extent) {
    int64_t at[LOWER_TILE_AXES] = {0}, start = place_of(op, p, plain, shape, at), run = 1;
    uint32_t last = p->global->rank - 1;
    for (; run < extent && run < RUN_LIMIT; run++) {
        at[last] = run;
        if (place_of(op, p, plain, shape, at) != start + run)
            break;
    }
    for (run = run < BOX_LIMIT ? run : BOX_LIMIT; extent % run; run--)
        ;
    return run;
}

/* A box fills shared memory row by row; every element of the first box is looked at by runs of 16 bytes. */
static bool box_is_dense(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape) {
    int64_t at[LOWER_TILE_AXES] = {0}, start = place_of(op, p, plain, shape, at), total = 1;
    uint32_t rank = p->global->rank;
    for (uint32_t i = 0; i < rank; i++)
        if ((total *= p->size[i]) > SHARED_LIMIT)
            return false;
    int64_t step = 128 / num_dtype_bits(p->shared->tensor->type.dtype);
    if (step < 1 || p->size[rank - 1] % step)
        step = 1;
    for (int64_t n = 0; n < total; n += step) {
        int64_t rest = n;
        for (uint32_t i = rank; i-- > 0;) {
            at[i] = rest % p->size[i];
            rest /= p->size[i];
        }
        if (place_of(op, p, plain, shape, at) != start + n)
            return false;
    }
    return true;
}

static const char *read_shared(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *g = p->global, *s = p->shared;
    const ir_tensor *tensor = s->tensor;
    unsigned bits = num_dtype_bits(tensor->type.dtype);
    int64_t shape[LOWER_TILE_AXES];
    layout_error error = {NULL};
    uint32_t next = 0;
    for (uint32_t i = 0; i < s->rank; i++)
        if (!arith_is_constant(op->context->facts, tensor->type.shape[i], &shape[i]) || s->size[i] < 1)
            return base_arena_format(arena, "the extents of '%s' must be constants", tensor->name);
    for (uint32_t i = 0; i < g->rank; i++) {
        p->shared_axis[i] = -1;
        if (g->size[i] < 1)
            return base_arena_format(arena, "the extents of the region of '%s' must be constants",
                                     g->tensor->name);
        while (g->size[i] > 1 && next < s->rank && s->size[next] == 1)
            next++;
        if (g->size[i] > 1 && (next == s->rank || s->size[next] != g->size[i]))
            return base_arena_format(arena, "the extents of '%s' and '%s' differ", g->tensor->name,
                                     tensor->name);
        if (g->size[i] > 1)
            p->shared_axis[i] = (int)next++;
    }
    while (next < s->rank)
        if (s->size[next++] != 1)
            return base_arena_format(arena, "the extents of '%s' and '%s' differ", g->tensor->name,
                                     tensor->name);
    const layout_tile *layout =
        tensor->type.layout ? tensor->type.layout : layout_row_major(arena, shape, s->rank, &error);
    layout_swizzle z = layout->swizzle, wanted;
    bool found = !z.present || z.length == 0;
    for (int mode = LAYOUT_MODE_32B; !found && mode <= LAYOUT_MODE_128B; mode++)
        if (layout_mode_swizzle((layout_mode)mode, bits, &wanted) && wanted.per_element == z.per_element &&
            wanted.length == z.length && wanted.atom == z.atom && !z.outer) {
            p->mode = (layout_mode)mode;
            found = true;
        }
    layout_tile *plain = BASE_NEW(arena, layout_tile);
    *plain = *layout;
    plain->swizzle = (layout_swizzle){0};
    uint32_t last = g->rank - 1;
    int64_t boxes = 1;
    for (uint32_t i = 0; i < g->rank; i++) {
        p->size[i] = g->size[i];
        int64_t limit = i < last ? BOX_LIMIT : run_length(op, p, plain, shape, g->size[i]);
        if (i == last && p->mode && limit * bits / 8 > 16 << p->mode)
            limit = (16 << p->mode) * 8 / bits;
        limit = limit > BOX_LIMIT ? BOX_LIMIT : limit;
        p->size[i] = p->size[i] < limit ? p->size[i] : limit;
        while (g->size[i] % p->size[i])
            p->size[i]--;
        p->pieces[i] = g->size[i] / p->size[i];
        if (__builtin_mul_overflow(boxes, p->pieces[i], &boxes) || boxes > BOXES_LIMIT)
            return base_arena_format(arena, "'%s' would need more than %d boxes", tensor->name, BOXES_LIMIT);
    }
    if (!found || p->size[last] * bits % 128 || !box_is_dense(op, p, plain, shape))
        return base_arena_format(
            arena,
            "'%s' has the layout %s, whose rows no box of TMA fills: rows of whole 16 bytes one after the "
            "other, "
            "or mma_shared_layout(\"%s\", SwizzleMode.SWIZZLE_128B_ATOM, shape)",
            tensor->name, tensor->type.layout ? layout_text_of(arena, tensor->type.layout) : "row-major",
            num_dtype_name(tensor->type.dtype));
    if (!lower_tile_align(op, tensor, p->mode ? (16 << p->mode) * 8 : 128))
        return base_arena_format(arena, "'%s' is not certain to start at a multiple of %d bytes",
                                 tensor->name, p->mode ? (16 << p->mode) * 8 : 128);
    for (uint32_t d = 0; d < g->rank; d++)
        p->map.box[d] = (uint32_t)p->size[last - d];
    p->map.swizzle = (unsigned)p->mode;
    return NULL;
}

static const ir_expr *barrier_address(lower_tile *op, const ir_expr *barrier) {
    return barrier->type.kind == IR_TYPE_POINTER ? lower_tile_shared(op, barrier)
                                                 : lower_tile_word(op, barrier);
}

static const char *make_plan(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    bool load = is_shared(to);
    *p = (plan){.global = load ? from : to, .shared = load ? to : from, .is_load = load};
    if (p->global->tensor->type.scope != IR_SCOPE_GLOBAL || !is_shared(p->shared))
        return "it moves between global and shared memory";
    if (to->tensor->type.dtype != from->tensor->type.dtype)
        return base_arena_format(arena, "'%s' is %s and '%s' is %s", to->tensor->name,
                                 num_dtype_name(to->tensor->type.dtype), from->tensor->name,
                                 num_dtype_name(from->tensor->type.dtype));
    if (num_dtype_bits(to->tensor->type.dtype) < 8)
        return "elements of less than 8 bits need a map of their own kind";
    const ir_expr *barrier = lower_tile_attribute(op, "mbar", 0);
    if (load && !barrier)
        return "a load needs mbar=, the mbarrier that counts its bytes";
    p->group = lower_tile_constant(op, "cta_group", 1);
    p->mask = lower_tile_attribute(op, "cta_mask", 0);
    int64_t none;
    if (p->mask && ir_is_int(p->mask, &none) && none == 0)
        p->mask = NULL;
    const char *reason = read_global(op, p);
    if (!reason)
        reason = read_shared(op, p);
    if (!reason && load)
        p->barrier = barrier_address(op, barrier);
    return reason;
}

const char *lower_tile_refuse_tma(lower_tile *op) {
    plan p;
    return make_plan(op, &p);
}

/* ---- writing ---- */

static bool same_map(const ir_tensor_map *a, const ir_tensor_map *b) {
    return a->of == b->of && a->rank == b->rank && a->swizzle == b->swizzle &&
           !memcmp(a->box, b->box, sizeof a->box);
}

/* The parameter of this map, made at the first use. */
static const ir_tensor *map_parameter(lower_tile *op, const ir_tensor_map *map) {
    ir_function *function = op->context->function;
    uint32_t known = 0;
    for (size_t i = 0; i < function->parameters.count; i++) {
        const ir_tensor *tensor = function->parameters.items[i].tensor;
        if (tensor && tensor->map && same_map(tensor->map, map))
            return tensor;
        known += tensor && tensor->map && tensor->map->of == map->of;
    }
    const ir_expr **shape = BASE_NEW_ARRAY(op->context->arena, const ir_expr *, 1);
    shape[0] = lower_tile_int(op, 128);
    ir_tensor_type type = {
        .dtype = NUM_DTYPE_U8, .lanes = 1, .scope = IR_SCOPE_GLOBAL, .rank = 1, .shape = shape, .align = 64};
    const char *name = known ? base_arena_format(op->context->arena, "%s_map_%u", map->of->name, known)
                             : base_arena_format(op->context->arena, "%s_map", map->of->name);
    ir_tensor *tensor = ir_tensor_create(op->module, name, &type, IR_TENSOR_PARAMETER, NULL, map->of->span);
    tensor->map = base_arena_copy(op->context->arena, map, sizeof *map);
    base_vector_push(op->context->arena, &function->parameters, ((ir_parameter){name, tensor, NULL}));
    return tensor;
}

static const char *load_pattern(lower_tile *op, const plan *p, uint32_t rank) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_format(
        &out,
        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s%s "
        "[$0], [$1, {",
        rank, p->mask ? ".multicast::cluster" : "", p->group == 2 ? ".cta_group::2" : "");
    for (uint32_t i = 0; i < rank; i++)
        base_builder_format(&out, "%s$%u", i ? ", " : "", 3 + i);
    base_builder_string(&out, "}], [$2]");
    if (p->mask)
        base_builder_format(&out, ", $%u", 3 + rank);
    return out.data;
}

static const char *store_pattern(lower_tile *op, uint32_t rank) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_format(&out, "cp.async.bulk.tensor.%ud.global.shared::cta.tile.bulk_group [$1, {", rank);
    for (uint32_t i = 0; i < rank; i++)
        base_builder_format(&out, "%s$%u", i ? ", " : "", 2 + i);
    base_builder_string(&out, "}], [$0]");
    return out.data;
}

/* Coordinates and the place in shared memory of one box. */
static void emit_box(lower_tile *op, const plan *p, const ir_tensor *map, const int64_t *at, ir_stmt *block) {
    const lower_tile_region *g = p->global, *s = p->shared;
    ir_module *module = op->module;
    const ir_expr *indices[LOWER_TILE_AXES], *args[4 + IR_MAP_RANK];
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->rank; i++)
        indices[i] = s->start[i];
    for (uint32_t i = 0; i < g->rank; i++)
        if (p->shared_axis[i] >= 0 && at[i])
            indices[p->shared_axis[i]] =
                lower_tile_integer(op, IR_ADD, indices[p->shared_axis[i]], lower_tile_int(op, at[i]));
    args[count++] = lower_tile_shared(op, ir_address(module, s->tensor, indices, s->rank));
    args[count++] = ir_data(module, map);
    if (p->is_load)
        args[count++] = p->barrier;
    for (uint32_t d = 0; d < g->rank; d++) {
        uint32_t axis = g->rank - 1 - d;
        const ir_expr *x = at[axis]
                               ? lower_tile_integer(op, IR_ADD, g->start[axis], lower_tile_int(op, at[axis]))
                               : g->start[axis];
        args[count++] = ir_cast(module, ir_type_prim(NUM_DTYPE_I32, 1), x);
    }
    if (p->is_load && p->mask)
        args[count++] = ir_cast(module, ir_type_prim(NUM_DTYPE_U16, 1), p->mask);
    ir_block_add(
        module, block,
        lower_tile_instruction(op, p->is_load ? load_pattern(op, p, g->rank) : store_pattern(op, g->rank),
                               args, count));
}

void lower_tile_emit_tma(lower_tile *op) {
    plan p;
    make_plan(op, &p);
    const ir_tensor *map = map_parameter(op, &p.map);
    ir_stmt *block = lower_tile_block(op);
    int64_t total = 1, at[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p.global->rank; i++)
        total *= p.pieces[i];
    for (int64_t n = 0; n < total; n++) {
        int64_t rest = n;
        for (uint32_t i = p.global->rank; i-- > 0;) {
            at[i] = rest % p.pieces[i] * p.size[i];
            rest /= p.pieces[i];
        }
        emit_box(op, &p, map, at, block);
    }
    base_vector_push(op->context->arena, op->out, block);
}
