/* SPDX-License-Identifier: Apache-2.0
 * copy_async between global and shared memory by TMA: cp.async.bulk.tensor over a tensor map that the launch
 * makes of the global tensor (PTX ISA 9.7.9.27). The shared layout says how large a box one instruction can
 * fill; the boxes follow each other. One thread issues, the caller waits on its mbarrier or bulk group. Must
 * not know how maps are encoded. */
#include "lower/lower_tile.h"
#include "lower/lower_tile_instruction.h"
#include <string.h>

enum { PADDED_BOX = 128, BOX_LIMIT = 256, RUN_LIMIT = 4096, BOXES_LIMIT = 4096, SHARED_LIMIT = 1 << 18 };

typedef struct plan {
    const lower_tile_region *global, *shared;
    bool is_load;
    layout_mode mode;
    ir_tensor_map map;
    int64_t pieces[LOWER_TILE_AXES], size[LOWER_TILE_AXES]; /* of each axis of the global region */
    int shared_axis[LOWER_TILE_AXES];                       /* -1: an axis of extent 1 */
    const ir_expr *barrier;                                 /* shared address */
    int64_t group;
    const ir_expr *mask;   /* of CTAs that all receive it, or NULL */
    const ir_expr *policy; /* of the cache, or NULL */
    const char *reduces;   /* "add" and so on, or NULL */
} plan;

static bool is_shared(const lower_tile_region *region) {
    return region->tensor->type.scope == IR_SCOPE_SHARED || region->tensor->type.scope == IR_SCOPE_SHARED_DYN;
}

/* ---- the global tensor ---- */

/* The parameter that a view of it stands on, so many elements behind its start; NULL: something else. */
static const ir_tensor *parameter_of(lower_tile *op, const ir_tensor *tensor, int64_t *offset) {
    unsigned bits = num_dtype_bits(tensor->type.dtype);
    *offset = 0;
    while (tensor->kind == IR_TENSOR_VIEW) {
        const ir_expr *data = tensor->data;
        int64_t moved;
        while (data && (data->op == IR_POINTER_ADDRESS || data->op == IR_REINTERPRET)) {
            if (data->op == IR_POINTER_ADDRESS) {
                if (!arith_is_constant(op->context->facts, data->args[1], &moved) || moved > INT32_MAX ||
                    moved < INT32_MIN || num_dtype_bits((num_dtype)data->type.dtype) != bits)
                    return NULL;
                *offset += moved;
            }
            data = data->args[0];
        }
        if (!data || data->op != IR_DATA)
            return NULL;
        tensor = data->at.tensor;
    }
    return tensor->kind == IR_TENSOR_PARAMETER ? tensor : NULL;
}

static const char *read_global(lower_tile *op, plan *p) {
    base_arena *arena = op->context->arena;
    const lower_tile_region *g = p->global;
    const ir_tensor_type *type = &g->tensor->type;
    int64_t offset, origin = 0;
    const ir_tensor *parameter = parameter_of(op, g->tensor, &offset);
    if (!parameter)
        return base_arena_format(arena,
                                 "'%s' is no parameter of the kernel, nor a view of one that starts at a "
                                 "constant: the launch makes tensor maps of parameters",
                                 g->tensor->name);
    if (g->rank < 1 || g->rank > IR_MAP_RANK)
        return base_arena_format(arena, "'%s' has %u axes, a tensor map 1 to 5", g->tensor->name, g->rank);
    p->map = (ir_tensor_map){.of = parameter, .rank = g->rank, .dtype = type->dtype};
    int64_t shape[LOWER_TILE_AXES];
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_error error = {NULL};
    const layout_tile *group = NULL;
    for (uint32_t i = 0; type->layout && i < g->rank; i++)
        if (!arith_is_constant(op->context->facts, type->shape[i], &shape[i]))
            return base_arena_format(arena, "'%s' has a layout over a shape that is not constant",
                                     g->tensor->name);
    if (type->layout && type->layout->swizzle.present)
        return base_arena_format(arena, "'%s' has a layout with a swizzle", g->tensor->name);
    if (type->origin && !arith_is_constant(op->context->facts, type->origin, &origin))
        return base_arena_format(arena, "the origin of '%s' is not a constant", g->tensor->name);
    offset += origin + (type->layout ? type->layout->offset[LAYOUT_AXIS_M] : 0);
    if (offset * num_dtype_bits(type->dtype) % 128)
        return base_arena_format(arena, "'%s' starts %lld elements behind '%s', no multiple of 16 bytes",
                                 g->tensor->name, (long long)offset, parameter->name);
    if (offset)
        p->map.offset = ir_int(op->module, NUM_DTYPE_I64, offset);
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

/* The shared tile's layout, and where the region starts in it. */
typedef struct places {
    layout_prepared plain;
    int64_t begin[LOWER_TILE_AXES];
} places;

static places start_places(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape) {
    places s = {.plain = layout_prepare(op->context->arena, plain, shape, p->shared->rank)};
    for (uint32_t i = 0; i < p->shared->rank; i++)
        if (!arith_is_constant(op->context->facts, p->shared->start[i], &s.begin[i]))
            s.begin[i] = 0;
    return s;
}

static int64_t place_of(lower_tile *op, const plan *p, const places *s, const int64_t *at) {
    int64_t coordinate[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p->shared->rank; i++)
        coordinate[i] = s->begin[i];
    for (uint32_t i = 0; i < p->global->rank; i++)
        if (p->shared_axis[i] >= 0)
            coordinate[p->shared_axis[i]] += at[i];
    return lower_tile_position(op, &s->plain, coordinate);
}

/* How many neighbours along the last axis stay together, as a divisor of its extent. */
static int64_t find_run_length(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape,
                               int64_t extent) {
    places s = start_places(op, p, plain, shape);
    int64_t at[LOWER_TILE_AXES] = {0}, start = place_of(op, p, &s, at), run = 1;
    uint32_t last = p->global->rank - 1;
    for (; run < extent && run < RUN_LIMIT; run++) {
        at[last] = run;
        if (place_of(op, p, &s, at) != start + run)
            break;
    }
    for (run = run < BOX_LIMIT ? run : BOX_LIMIT; extent % run; run--)
        ;
    return run;
}

/* A box fills shared memory row by row; every element of the first box is looked at by runs of 16 bytes. */
static bool look_at_box(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape) {
    places s = start_places(op, p, plain, shape);
    int64_t at[LOWER_TILE_AXES] = {0}, start = place_of(op, p, &s, at), total = 1;
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
        if (place_of(op, p, &s, at) != start + n)
            return false;
    }
    return true;
}

/* Both look at many elements: once for all copies of the same shape into the same place of a layout. */
typedef struct box_question {
    const char *what;
    const layout_tile *layout;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], size[LOWER_TILE_AXES], axis[LOWER_TILE_AXES];
    int64_t extent, shared_rank, global_rank, bits;
} box_question;

static void ask(lower_tile *op, const plan *p, const int64_t *shape, const char *what, box_question *q) {
    memset(q, 0, sizeof *q);
    q->what = what;
    q->layout = p->shared->tensor->type.layout;
    q->shared_rank = p->shared->rank, q->global_rank = p->global->rank;
    q->bits = num_dtype_bits(p->shared->tensor->type.dtype);
    memcpy(q->shape, shape, p->shared->rank * sizeof *shape);
    for (uint32_t i = 0; i < p->shared->rank; i++)
        if (!arith_is_constant(op->context->facts, p->shared->start[i], &q->begin[i]))
            q->begin[i] = 0;
    for (uint32_t i = 0; i < p->global->rank; i++)
        q->axis[i] = p->shared_axis[i];
}

static int64_t run_length(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape,
                          int64_t extent) {
    box_question q;
    int64_t run;
    ask(op, p, shape, "run", &q);
    q.extent = extent;
    return lower_tile_recall(op, &q, sizeof q, &run)
               ? run
               : lower_tile_remember(op, &q, sizeof q, find_run_length(op, p, plain, shape, extent));
}

static bool box_is_dense(lower_tile *op, const plan *p, const layout_tile *plain, const int64_t *shape) {
    box_question q;
    int64_t dense;
    ask(op, p, shape, "box", &q);
    memcpy(q.size, p->size, p->global->rank * sizeof *q.size);
    return (lower_tile_recall(op, &q, sizeof q, &dense)
                ? dense
                : lower_tile_remember(op, &q, sizeof q, look_at_box(op, p, plain, shape))) != 0;
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
    if (p->map.is_padded &&
        (p->mode == LAYOUT_MODE_32B || p->mode == LAYOUT_MODE_64B || g->size[g->rank - 1] % PADDED_BOX))
        return base_arena_format(
            arena,
            "elements of 4 bits go to bytes of '%s' 128 at a time, under no swizzle or that "
            "of 128 bytes",
            tensor->name);
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
        if (i == last && p->map.is_padded && limit > PADDED_BOX)
            limit = PADDED_BOX;
        limit = limit > BOX_LIMIT ? BOX_LIMIT : limit;
        p->size[i] = p->size[i] < limit ? p->size[i] : limit;
        while (g->size[i] % p->size[i])
            p->size[i]--;
        p->pieces[i] = g->size[i] / p->size[i];
        if (__builtin_mul_overflow(boxes, p->pieces[i], &boxes) || boxes > BOXES_LIMIT)
            return base_arena_format(arena, "'%s' would need more than %d boxes", tensor->name, BOXES_LIMIT);
    }
    const char *reason = lower_tile_starts_alike(op, s, plain, shape, 1);
    if (reason)
        return reason;
    if (p->map.is_padded && p->size[last] != PADDED_BOX)
        found = false;
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

/* What the bulk reductions take (PTX ISA 9.7.9.27.1.3), by the type of the map. */
static const char *read_reduction(lower_tile *op, plan *p) {
    static const struct {
        const char *word;
        num_dtype types[8];
    } rows[] = {
        {"add",
         {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64, NUM_DTYPE_F16, NUM_DTYPE_BF16,
          NUM_DTYPE_F32}},
        {"min", {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64, NUM_DTYPE_F16, NUM_DTYPE_BF16}},
        {"max", {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64, NUM_DTYPE_F16, NUM_DTYPE_BF16}},
        {"inc", {NUM_DTYPE_U32}},
        {"dec", {NUM_DTYPE_U32}},
        {"and", {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64}},
        {"or", {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64}},
        {"xor", {NUM_DTYPE_U32, NUM_DTYPE_I32, NUM_DTYPE_U64, NUM_DTYPE_I64}},
    };
    base_arena *arena = op->context->arena;
    const ir_expr *given = lower_tile_attribute(op, "use_tma_reduce", 0);
    if (!given)
        return NULL;
    if (p->is_load)
        return "use_tma_reduce= is for copies to global memory";
    p->reduces = given->at.string;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, p->reduces))
            continue;
        base_builder names;
        base_builder_start(&names, arena);
        for (int t = 0; t < 8 && rows[i].types[t] != NUM_DTYPE_NONE; t++) {
            if (rows[i].types[t] == p->map.dtype)
                return NULL;
            base_builder_format(&names, "%s%s", t ? ", " : "", num_dtype_name(rows[i].types[t]));
        }
        return base_arena_format(arena, "use_tma_reduce=\"%s\" takes %s, and '%s' is %s", p->reduces,
                                 names.data, p->global->tensor->name, num_dtype_name(p->map.dtype));
    }
    return base_arena_format(arena, "use_tma_reduce=\"%s\": it is add, min, max, inc, dec, and, or or xor",
                             p->reduces);
}

/* cache_hint=: a policy by name, as createpolicy makes it of all of the data, or a uint64 of one. */
static const char *read_policy(lower_tile *op, plan *p) {
    static const struct {
        const char *word;
        uint64_t policy; /* CUTLASS cute/arch/copy_sm90_desc.hpp, TMA::CacheHintSm90 */
    } rows[] = {{"evict_normal", 0x1000000000000000},
                {"evict_first", 0x12F0000000000000},
                {"evict_last", 0x14F0000000000000}};
    const ir_expr *given = lower_tile_attribute(op, "cache_hint", 0);
    if (!given || (given->op == IR_STRING && !given->at.string[0]))
        return NULL;
    if (given->op != IR_STRING) {
        p->policy = ir_cast(op->module, ir_type_prim(NUM_DTYPE_U64, 1), given);
        return NULL;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!strcmp(rows[i].word, given->at.string))
            p->policy = ir_int(op->module, NUM_DTYPE_U64, (int64_t)rows[i].policy);
    return p->policy
               ? NULL
               : base_arena_format(op->context->arena,
                                   "cache_hint=\"%s\": it is evict_normal, evict_first, evict_last, or a "
                                   "uint64 that createpolicy made",
                                   given->at.string);
}

/* oob=: what a load finds outside of the tensor. */
static const char *read_fill(lower_tile *op, plan *p) {
    const ir_expr *given = lower_tile_attribute(op, "oob", 0);
    const char *word = given ? given->at.string : "zero";
    p->map.fills_nan = !strcmp(word, "nan");
    if (!p->map.fills_nan && strcmp(word, "zero"))
        return base_arena_format(op->context->arena, "oob=\"%s\": it is zero or nan", word);
    if (given && !p->is_load)
        return "oob= is for loads: a store leaves out what is outside";
    if (p->map.fills_nan && (!num_dtype_is_float(p->map.dtype) || num_dtype_bits(p->map.dtype) < 16))
        return base_arena_format(op->context->arena,
                                 "oob=\"nan\" is for floats of 16 bits and more, and '%s' is %s",
                                 p->global->tensor->name, num_dtype_name(p->map.dtype));
    return NULL;
}

/* Elements of 4 bits go to shared memory packed, or as bytes that gemm_async reads (A_type=). */
static const char *read_types(lower_tile *op, plan *p) {
    num_dtype shared = p->shared->tensor->type.dtype, global = p->global->tensor->type.dtype;
    p->map.is_padded = global == NUM_DTYPE_F4E2M1FN && shared == NUM_DTYPE_U8;
    if ((shared == global || p->map.is_padded) && num_dtype_bits(global) != 6)
        return NULL;
    return base_arena_format(op->context->arena, "'%s' is %s and '%s' is %s", p->shared->tensor->name,
                             num_dtype_name(shared), p->global->tensor->name, num_dtype_name(global));
}

static const char *make_plan(lower_tile *op, plan *p) {
    const lower_tile_region *to = &op->operands[0].region, *from = &op->operands[1].region;
    bool load = is_shared(to);
    *p = (plan){.global = load ? from : to, .shared = load ? to : from, .is_load = load};
    if (p->global->tensor->type.scope != IR_SCOPE_GLOBAL || !is_shared(p->shared))
        return "it moves between global and shared memory";
    const ir_expr *barrier = lower_tile_attribute(op, "mbar", 0);
    if (load && !barrier)
        return "a load needs mbar=, the mbarrier that counts its bytes";
    p->group = lower_tile_constant(op, "cta_group", 1);
    p->mask = lower_tile_attribute(op, "cta_mask", 0);
    int64_t none;
    if (p->mask && ir_is_int(p->mask, &none) && none == 0)
        p->mask = NULL;
    if (p->mask && !load)
        return "cta_mask= is for loads: a store comes from one CTA";
    const char *reason = read_global(op, p);
    if (reason || (reason = read_types(op, p)) || (reason = read_reduction(op, p)) ||
        (reason = read_fill(op, p)) || (reason = read_policy(op, p)) || (reason = read_shared(op, p)))
        return reason;
    if (load)
        p->barrier = barrier_address(op, barrier);
    return NULL;
}

const char *lower_tile_refuse_tma(lower_tile *op) {
    return make_plan(op, lower_tile_plan(op, sizeof(plan)));
}

/* ---- writing ---- */

static bool same_map(const ir_tensor_map *a, const ir_tensor_map *b) {
    return a->of == b->of && a->rank == b->rank && a->swizzle == b->swizzle && a->dtype == b->dtype &&
           a->is_padded == b->is_padded && a->fills_nan == b->fills_nan && a->offset == b->offset &&
           !memcmp(a->box, b->box, sizeof a->box) && !memcmp(a->dims, b->dims, sizeof a->dims) &&
           !memcmp(a->strides, b->strides, sizeof a->strides);
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

static void coordinates(base_builder *out, uint32_t rank, uint32_t first) {
    for (uint32_t i = 0; i < rank; i++)
        base_builder_format(out, "%s$%u", i ? ", " : "", first + i);
}

static const char *load_pattern(lower_tile *op, const plan *p, uint32_t rank) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_format(
        &out,
        "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s%s%s "
        "[$0], [$1, {",
        rank, p->mask ? ".multicast::cluster" : "", p->group == 2 ? ".cta_group::2" : "",
        p->policy ? ".L2::cache_hint" : "");
    coordinates(&out, rank, 3);
    base_builder_string(&out, "}], [$2]");
    uint32_t next = 3 + rank;
    if (p->mask)
        base_builder_format(&out, ", $%u", next++);
    if (p->policy)
        base_builder_format(&out, ", $%u", next);
    return out.data;
}

static const char *store_pattern(lower_tile *op, const plan *p, uint32_t rank) {
    base_builder out;
    base_builder_start(&out, op->context->arena);
    base_builder_format(&out, "cp.%sasync.bulk.tensor.%ud.global.shared::cta%s%s.tile.bulk_group%s [$1, {",
                        p->reduces ? "reduce." : "", rank, p->reduces ? "." : "",
                        p->reduces ? p->reduces : "", p->policy ? ".L2::cache_hint" : "");
    coordinates(&out, rank, 2);
    base_builder_string(&out, "}], [$0]");
    if (p->policy)
        base_builder_format(&out, ", $%u", 2 + rank);
    return out.data;
}

/* Coordinates and the place in shared memory of one box. */
static void emit_box(lower_tile *op, const plan *p, const ir_tensor *map, const int64_t *at, ir_stmt *block) {
    const lower_tile_region *g = p->global, *s = p->shared;
    ir_module *module = op->module;
    const ir_expr *indices[LOWER_TILE_AXES], *args[5 + IR_MAP_RANK];
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
    if (p->policy)
        args[count++] = p->policy;
    const char *pattern = p->is_load ? load_pattern(op, p, g->rank) : store_pattern(op, p, g->rank);
    ir_block_add(module, block, lower_tile_instruction(op, pattern, args, count));
}

void lower_tile_emit_tma(lower_tile *op) {
    const plan *p = op->plan;
    const ir_tensor *map = map_parameter(op, &p->map);
    ir_stmt *block = lower_tile_block(op);
    int64_t total = 1, at[LOWER_TILE_AXES];
    for (uint32_t i = 0; i < p->global->rank; i++)
        total *= p->pieces[i];
    for (int64_t n = 0; n < total; n++) {
        int64_t rest = n;
        for (uint32_t i = p->global->rank; i-- > 0;) {
            at[i] = rest % p->pieces[i] * p->size[i];
            rest /= p->pieces[i];
        }
        emit_box(op, p, map, at, block);
    }
    base_vector_push(op->context->arena, op->out, block);
}
