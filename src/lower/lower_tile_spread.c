/* SPDX-License-Identifier: Apache-2.0
 * Registers that a layout spreads over the threads of a scope: the factors of the walk's dimensions, each a
 * number of the thread or a step through its slots, common to all spread operands. Must not know what is
 * done with an element. */
#include "lower/lower_tile.h"
#include <string.h>

typedef struct spread {
    const layout_tile *group; /* grouped by the region's extents, threads on one axis */
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_axis axis;
} spread;

static const char *say(lower_tile_walk *walk, const lower_tile_region *region, const char *what) {
    base_arena *arena = walk->op->context->arena;
    return base_arena_format(arena, "the layout %s of '%s' %s",
                             layout_text_of(arena, region->tensor->type.layout), region->tensor->name, what);
}

static layout_axis axis_of(layout_scope scope) {
    return scope == LAYOUT_SCOPE_WARP        ? LAYOUT_AXIS_LANEID
           : scope == LAYOUT_SCOPE_WARPGROUP ? LAYOUT_AXIS_TID_IN_WG
                                             : LAYOUT_AXIS_TX;
}

static int64_t size_of(const layout_iter *iters, uint32_t count) {
    int64_t size = 1;
    for (uint32_t i = 0; i < count; i++)
        size *= iters[i].extent;
    return size;
}

/* Starts that only a run knows stay outside: an axis of one step through the slots moves the slot. */
static const char *read_starts(lower_tile_walk *walk, uint32_t o, const int64_t *shape, int64_t *begin,
                               int64_t *end) {
    lower_tile *op = walk->op;
    const lower_tile_region *region = &op->operands[o].region;
    uint32_t separators[LOWER_TILE_AXES + 1];
    layout_error error = {NULL};
    const layout_tile *group = layout_group(op->context->arena, region->tensor->type.layout, shape,
                                            region->rank, separators, &error);
    for (uint32_t i = 0; i < region->rank; i++) {
        if (region->size[i] < 0)
            return say(walk, region, "needs a region whose extents are constants");
        begin[i] = 0;
        if (!arith_is_constant(op->context->facts, region->start[i], &begin[i])) {
            const layout_iter *iter = group ? &group->shard[separators[i]] : NULL;
            if (!group || separators[i + 1] - separators[i] != 1 || iter->axis != LAYOUT_AXIS_M)
                return say(walk, region,
                           "spreads an axis over threads where the region starts at a value that is not a "
                           "constant");
            const ir_expr *moved =
                lower_tile_integer(op, IR_MUL, region->start[i], lower_tile_int(op, iter->stride));
            walk->slot_moved[o] =
                walk->slot_moved[o] ? lower_tile_integer(op, IR_ADD, walk->slot_moved[o], moved) : moved;
        }
        end[i] = begin[i] + region->size[i];
    }
    return NULL;
}

static const char *read_spread(lower_tile_walk *walk, uint32_t o, spread *out) {
    lower_tile *op = walk->op;
    base_arena *arena = op->context->arena;
    const lower_tile_region *region = &op->operands[o].region;
    int64_t shape[LOWER_TILE_AXES], begin[LOWER_TILE_AXES], end[LOWER_TILE_AXES];
    layout_error error = {NULL};
    layout_scope narrow, wide;
    for (uint32_t i = 0; i < region->rank; i++)
        if (!arith_is_constant(op->context->facts, region->tensor->type.shape[i], &shape[i]))
            return say(walk, region, "needs a shape of constants");
    const char *reason = read_starts(walk, o, shape, begin, end);
    if (reason)
        return reason;
    if (region->tensor->type.layout->swizzle.present)
        return say(walk, region, "has a swizzle, which registers do not have");
    const layout_tile *slice =
        layout_slice(arena, region->tensor->type.layout, shape, region->rank, begin, end, &error);
    if (!slice)
        return base_arena_format(arena, "the region of '%s' has no layout of its own: %s",
                                 region->tensor->name, error.text ? error.text : "it cuts through a factor");
    const layout_tile *fused = layout_canonical_fused(arena, slice, &error);
    if (!fused || !layout_scopes(arena, fused, &narrow, &wide, &error))
        return base_arena_format(arena, "'%s': %s", region->tensor->name, error.text);
    /* a region that one thread holds has no thread axis left, but an offset */
    out->axis = axis_of(op->scope);
    if (wide != LAYOUT_SCOPE_NONE && (narrow != LAYOUT_SCOPE_THREAD || wide != op->scope))
        return say(walk, region,
                   base_arena_format(arena,
                                     "numbers each %s within the %s; at scope %s it must number each thread "
                                     "within the %s",
                                     layout_scope_name(narrow), layout_scope_name(wide),
                                     lower_tile_scope_word(op->scope), lower_tile_scope_word(op->scope)));
    for (int a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout_axis_is_thread((layout_axis)a) && fused->offset[a])
            return say(walk, region, "starts behind the first thread in this region");
    out->group = layout_group(arena, fused, region->size, region->rank, out->separators, &error);
    if (!out->group)
        return base_arena_format(arena, "'%s': %s", region->tensor->name, error.text);
    for (uint32_t i = 0; i < out->group->shard_count; i++)
        if (out->group->shard[i].extent > 1 && out->group->shard[i].axis != LAYOUT_AXIS_M &&
            out->group->shard[i].axis != out->axis)
            return say(walk, region, "uses an axis that is neither slots nor threads of this scope");
    walk->slot_offset[o] = out->group->offset[LAYOUT_AXIS_M];
    return NULL;
}

/* Shard and replica iters on the thread axis must number the threads 0, 1, ... without gaps. */
static const char *check_threads(lower_tile_walk *walk, uint32_t o, const spread *s) {
    lower_tile *op = walk->op;
    layout_iter iters[LOWER_TILE_AXES * 4];
    uint32_t count = 0;
    walk->replica_extent = walk->replica_stride = 1;
    for (uint32_t i = 0; i < s->group->shard_count + s->group->replica_count; i++) {
        const layout_iter *iter =
            i < s->group->shard_count ? &s->group->shard[i] : &s->group->replica[i - s->group->shard_count];
        if (iter->extent == 1)
            continue;
        if (i >= s->group->shard_count) {
            if (iter->axis != s->axis || walk->replica_extent != 1)
                return say(walk, &op->operands[o].region, "has copies in more than one step of the threads");
            walk->replica_extent = iter->extent;
            walk->replica_stride = iter->stride;
        }
        if (iter->axis != s->axis)
            continue;
        if (count == sizeof(iters) / sizeof(iters[0]))
            return say(walk, &op->operands[o].region, "has too many factors");
        iters[count++] = *iter;
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && iters[j - 1].stride > iters[j].stride; j--) {
            layout_iter swap = iters[j];
            iters[j] = iters[j - 1], iters[j - 1] = swap;
        }
    walk->holders = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (iters[i].stride != walk->holders)
            return say(walk, &op->operands[o].region, "leaves out threads between those that hold something");
        walk->holders *= iters[i].extent;
    }
    if (walk->holders > op->threads)
        return base_arena_format(op->context->arena, "'%s' is spread over %lld threads, the %s has %lld",
                                 op->operands[o].region.tensor->name, (long long)walk->holders,
                                 lower_tile_scope_word(op->scope), (long long)op->threads);
    return NULL;
}

/* The factors of a dimension, outer first. */
static void start_digits(lower_tile_walk *walk, const spread *s) {
    uint32_t o = (uint32_t)walk->primary;
    const lower_tile_region *region = &walk->op->operands[o].region;
    for (uint32_t i = 0; i < region->rank; i++) {
        int d = walk->dimension[o][i];
        for (uint32_t k = s->separators[i]; d >= 0 && k < s->separators[i + 1]; k++) {
            const layout_iter *iter = &s->group->shard[k];
            lower_tile_digit digit = {.extent = iter->extent, .dimension = (uint32_t)d};
            digit.is_thread = iter->axis != LAYOUT_AXIS_M;
            digit.stride[o] = iter->stride;
            digit.weight = size_of(iter + 1, s->separators[i + 1] - k - 1);
            base_vector_push(walk->op->context->arena, &walk->digits, digit);
        }
    }
}

/* Dimensions that the registers do not have: every thread goes through them. */
static const char *fill_dimensions(lower_tile_walk *walk) {
    for (uint32_t d = 0; d < walk->rank; d++) {
        bool found = false;
        for (size_t i = 0; i < walk->digits.count; i++)
            found |= walk->digits.items[i].dimension == d;
        if (found)
            continue;
        if (walk->size[d] < 0)
            return "an extent that is not a constant meets registers that a layout spreads over threads";
        lower_tile_digit digit = {.extent = walk->size[d], .weight = 1, .dimension = d};
        base_vector_push(walk->op->context->arena, &walk->digits, digit);
    }
    return NULL;
}

/* Splits a digit so that its inner part has this extent. */
static bool split(lower_tile_walk *walk, size_t index, int64_t inner) {
    lower_tile_digit digit = walk->digits.items[index];
    if (digit.extent == inner)
        return true;
    if (digit.extent % inner)
        return false;
    lower_tile_digit outer = digit;
    outer.extent = digit.extent / inner;
    outer.weight = digit.weight * inner;
    for (int o = 0; o < LOWER_TILE_OPERANDS; o++)
        outer.stride[o] = digit.stride[o] * inner;
    digit.extent = inner;
    base_vector_push(walk->op->context->arena, &walk->digits, digit);
    memmove(&walk->digits.items[index + 1], &walk->digits.items[index],
            (walk->digits.count - index - 1) * sizeof digit);
    walk->digits.items[index] = outer;
    walk->digits.items[index + 1] = digit;
    return true;
}

/* Steps of a further operand through the digits of one dimension, from the innermost on. */
static bool join_axis(lower_tile_walk *walk, uint32_t o, uint32_t dimension, const layout_iter *iters,
                      uint32_t count, layout_axis axis) {
    int64_t weight = 1;
    while (count > 0) {
        layout_iter iter = iters[--count];
        while (iter.extent > 1) {
            size_t at = walk->digits.count;
            for (size_t i = 0; i < walk->digits.count; i++)
                if (walk->digits.items[i].dimension == dimension && walk->digits.items[i].weight == weight &&
                    walk->digits.items[i].extent > 1)
                    at = i;
            if (at == walk->digits.count)
                return false;
            int64_t extent = walk->digits.items[at].extent;
            int64_t common = extent < iter.extent ? extent : iter.extent;
            if (extent % common || iter.extent % common || !split(walk, at, common))
                return false;
            at += extent != common;
            lower_tile_digit *digit = &walk->digits.items[at];
            if (digit->is_thread != (iter.axis == axis) ||
                (digit->is_thread && digit->stride[walk->primary] != iter.stride))
                return false;
            digit->stride[o] = iter.stride;
            iter.extent /= common;
            iter.stride *= common;
            weight *= common;
        }
    }
    return true;
}

/* Threads that the walk tells apart and this operand does not must all hold its element. */
static bool covers(const lower_tile_walk *walk, uint32_t o, const spread *s) {
    for (size_t i = 0; i < walk->digits.count; i++) {
        const lower_tile_digit *digit = &walk->digits.items[i];
        bool follows = false, copied = false;
        for (uint32_t a = 0; a < walk->op->operands[o].region.rank; a++)
            follows |= walk->dimension[o][a] == (int)digit->dimension;
        for (uint32_t r = 0; r < s->group->replica_count; r++)
            copied |= s->group->replica[r].axis == s->axis &&
                      s->group->replica[r].stride <= digit->stride[walk->primary] &&
                      s->group->replica[r].stride * s->group->replica[r].extent >=
                          digit->stride[walk->primary] * digit->extent;
        if (digit->is_thread && digit->extent > 1 && !follows && !copied)
            return false;
    }
    return true;
}

const char *lower_tile_spread_start(lower_tile_walk *walk) {
    lower_tile *op = walk->op;
    spread first, other;
    const char *reason = read_spread(walk, (uint32_t)walk->primary, &first);
    if (reason || (reason = check_threads(walk, (uint32_t)walk->primary, &first)))
        return reason;
    start_digits(walk, &first);
    if ((reason = fill_dimensions(walk)))
        return reason;
    for (uint32_t o = 0; o < op->count; o++) {
        const lower_tile_region *region = &op->operands[o].region;
        if (!op->operands[o].is_region || !region->is_spread || (int)o == walk->primary)
            continue;
        if ((reason = read_spread(walk, o, &other)))
            return reason;
        bool joined = true;
        for (uint32_t i = 0; joined && i < region->rank; i++)
            joined =
                walk->dimension[o][i] < 0 ||
                join_axis(walk, o, (uint32_t)walk->dimension[o][i], &other.group->shard[other.separators[i]],
                          other.separators[i + 1] - other.separators[i], other.axis);
        if (!joined || (!walk->reduces && !covers(walk, o, &other)))
            return base_arena_format(
                op->context->arena,
                "'%s' and '%s' give the elements to different threads: %s and %s; give both one layout, or "
                "go through shared memory",
                op->operands[walk->primary].region.tensor->name, region->tensor->name,
                layout_text_of(op->context->arena, op->operands[walk->primary].region.tensor->type.layout),
                layout_text_of(op->context->arena, region->tensor->type.layout));
    }
    return NULL;
}
