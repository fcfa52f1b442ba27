/* SPDX-License-Identifier: Apache-2.0
 * The other way round of product.c: given a whole and one operand, the other operand, or that there is none.
 * Replica iters of the whole that the given operand has too are its own, and belong to no one else. */
#include "layout/layout_internal.h"

/* "No" is not a refusal: NULL with no text. */
static const layout_tile *no(layout_error *error) {
    if (error != NULL)
        error->text = NULL;
    return NULL;
}

static bool canonical_pair(base_arena *arena, const layout_tile **a, const layout_tile **b, bool fused,
                           layout_error *error) {
    *a = fused ? layout_canonical_fused(arena, *a, error) : layout_canonical(arena, *a);
    *b = *a == NULL ? NULL : fused ? layout_canonical_fused(arena, *b, error) : layout_canonical(arena, *b);
    return *b != NULL;
}

typedef struct division {
    const layout_tile *whole, *part;
    uint32_t *whole_at, *part_at; /* whole_at: both halves of each dimension in turn */
    layout_iter *rest, *replica;
    uint32_t rest_count, replica_count;
} division;

/* Groups the whole by factors (2 per dimension) and the part by its shape. */
static bool start(base_arena *arena, division *v, const int64_t *factors, const int64_t *shape, uint32_t rank,
                  layout_error *error) {
    v->whole_at = BASE_NEW_ARRAY(arena, uint32_t, 2 * (size_t)rank + 1);
    v->part_at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)rank + 1);
    v->whole = layout_group(arena, v->whole, factors, 2 * rank, v->whole_at, error);
    v->part = v->whole == NULL ? NULL : layout_group(arena, v->part, shape, rank, v->part_at, error);
    if (v->part == NULL)
        return false;
    v->rest = BASE_NEW_ARRAY(arena, layout_iter, v->whole->shard_count);
    v->replica = BASE_NEW_ARRAY(arena, layout_iter, v->whole->replica_count);
    v->rest_count = v->replica_count = 0;
    return true;
}

/* Replicas of the whole without those of the part, each of which pairs with one. */
static void other_replicas(base_arena *arena, division *v) {
    bool *used = BASE_NEW_ARRAY(arena, bool, v->part->replica_count);
    for (uint32_t i = 0; i < v->whole->replica_count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < v->part->replica_count && !found; j++)
            if (!used[j] && layout_same_iter(&v->whole->replica[i], &v->part->replica[j]))
                found = used[j] = true;
        if (!found)
            v->replica[v->replica_count++] = v->whole->replica[i];
    }
}

static const layout_tile *finish(base_arena *arena, const division *v, layout_error *error) {
    int64_t offsets[LAYOUT_AXIS_COUNT];
    uint32_t axes = v->whole->offset_axes | v->part->offset_axes;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (__builtin_sub_overflow(v->whole->offset[a], v->part->offset[a], &offsets[a]))
            return layout_refuse(arena, error, "the offsets on %s do not subtract in 64 bits",
                                 layout_axis_name((layout_axis)a));
    return layout_make(arena, v->rest, v->rest_count, v->replica, v->replica_count, offsets, axes, error);
}

static bool factor(base_arena *arena, const int64_t *whole, const int64_t *part, uint32_t rank,
                   bool part_last, int64_t *factors, layout_error *error) {
    for (uint32_t d = 0; d < rank; d++) {
        if (part[d] <= 0 || whole[d] <= 0 || whole[d] % part[d] != 0)
            return layout_refuse(arena, error, "dimension %u: %lld is no multiple of %lld", (unsigned)d,
                                 (long long)whole[d], (long long)part[d]) != NULL;
        factors[2 * d] = part_last ? whole[d] / part[d] : part[d];
        factors[2 * d + 1] = part_last ? part[d] : whole[d] / part[d];
    }
    return true;
}

static bool unscale(const layout_tile *inner, layout_iter *iter) {
    int64_t span = 1;
    bool there = false;
    for (uint32_t i = 0; i < inner->shard_count; i++)
        there = there || inner->shard[i].axis == iter->axis;
    if (!there || iter->extent == 1)
        return true;
    if (!layout_span(inner, iter->axis, &span) || span <= 0 || iter->stride % span != 0)
        return false;
    iter->stride /= span;
    return true;
}

/* Whether the scopes allow it; splits the whole at the part's scope where the whole names wider axes. */
static bool match_scopes(base_arena *arena, const layout_tile **whole, const layout_tile *part,
                         bool part_inner, bool fused, bool *answer, layout_error *error) {
    layout_scope wn, ww, pn, pw;
    *answer = false;
    if (!layout_scopes(arena, *whole, &wn, &ww, error) || !layout_scopes(arena, part, &pn, &pw, error))
        return false;
    *answer = true;
    if (wn == LAYOUT_SCOPE_NONE || pn == LAYOUT_SCOPE_NONE)
        return true;
    *answer = part_inner ? wn == pn && pw >= ww : ww == pw && wn >= pn;
    bool split = part_inner ? ww < pw : pn < wn;
    if (!*answer || !split || !fused)
        return true;
    *whole = layout_split_scope(arena, *whole, part_inner ? pw : pn, error);
    return *whole != NULL;
}

static bool last_iters_match(const division *v, uint32_t d) {
    uint32_t count = v->part_at[d + 1] - v->part_at[d], end = v->whole_at[2 * d + 2];
    if (count > end - v->whole_at[2 * d])
        return false;
    for (uint32_t j = 0; j < count; j++) {
        const layout_iter *a = &v->part->shard[v->part_at[d] + j], *b = &v->whole->shard[end - count + j];
        if (a->extent != b->extent || (a->extent != 1 && !layout_same_iter(a, b)))
            return false;
    }
    return true;
}

const layout_tile *layout_outer_of(base_arena *arena, const layout_tile *inner, const layout_tile *tiled,
                                   const int64_t *tiled_shape, const int64_t *inner_shape, uint32_t rank,
                                   bool fused, layout_error *error) {
    if (!layout_same_swizzle(inner->swizzle, tiled->swizzle))
        return no(error);
    division v = {.whole = layout_under(arena, tiled, tiled_shape, rank, error)};
    v.part = v.whole == NULL ? NULL : layout_under(arena, inner, inner_shape, rank, error);
    int64_t *factors = BASE_NEW_ARRAY(arena, int64_t, 2 * (size_t)rank);
    bool answer = true;
    if (v.part == NULL || !canonical_pair(arena, &v.whole, &v.part, fused, error) ||
        !match_scopes(arena, &v.whole, v.part, true, fused, &answer, error))
        return NULL;
    if (!answer)
        return no(error);
    if (!factor(arena, tiled_shape, inner_shape, rank, true, factors, error) ||
        !start(arena, &v, factors, inner_shape, rank, error))
        return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        if (!last_iters_match(&v, d))
            return no(error);
        uint32_t rest = v.whole_at[2 * d + 2] - (v.part_at[d + 1] - v.part_at[d]);
        for (uint32_t i = v.whole_at[2 * d]; i < rest; i++) {
            v.rest[v.rest_count] = v.whole->shard[i];
            if (!unscale(v.part, &v.rest[v.rest_count++]))
                return no(error);
        }
    }
    other_replicas(arena, &v); /* not scaled by the product, so not unscaled here */
    return finish(arena, &v, error);
}

const layout_tile *layout_inner_of(base_arena *arena, const layout_tile *outer, const layout_tile *tiled,
                                   const int64_t *tiled_shape, const int64_t *outer_shape, uint32_t rank,
                                   bool fused, layout_error *error) {
    if (outer->swizzle.present)
        return no(error); /* a swizzle is never the outer layout */
    division v = {.whole = layout_under(arena, tiled, tiled_shape, rank, error), .part = outer};
    int64_t *factors = BASE_NEW_ARRAY(arena, int64_t, 2 * (size_t)rank);
    int64_t *inner_shape = BASE_NEW_ARRAY(arena, int64_t, rank);
    bool answer = true;
    if (v.whole == NULL || !canonical_pair(arena, &v.whole, &v.part, fused, error) ||
        !match_scopes(arena, &v.whole, v.part, false, fused, &answer, error))
        return NULL;
    if (!answer)
        return no(error);
    const layout_tile *split = v.whole;
    if (!factor(arena, tiled_shape, outer_shape, rank, false, factors, error) ||
        !start(arena, &v, factors, outer_shape, rank, error))
        return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t count = v.part_at[d + 1] - v.part_at[d], begin = v.whole_at[2 * d];
        if (count > v.whole_at[2 * d + 2] - begin)
            return no(error);
        for (uint32_t j = 0; j < count; j++) {
            const layout_iter *a = &v.part->shard[v.part_at[d] + j], *b = &v.whole->shard[begin + j];
            if (a->extent != b->extent || (a->extent != 1 && a->axis != b->axis))
                return no(error);
        }
        for (uint32_t i = begin + count; i < v.whole_at[2 * d + 2]; i++)
            v.rest[v.rest_count++] = v.whole->shard[i];
        inner_shape[d] = factors[2 * d + 1];
    }
    other_replicas(arena, &v);
    const layout_tile *inner = finish(arena, &v, error);
    /* The strides of the leading iters depend on the span of what is left, so the product decides. */
    const layout_tile *again =
        inner == NULL ? NULL
                      : layout_product(arena, inner, v.part, outer_shape, inner_shape, rank, fused, NULL);
    if (again == NULL || !layout_equal(arena, again, split))
        return no(error);
    return tiled->swizzle.present ? layout_compose(arena, inner, tiled->swizzle, error) : inner;
}

const layout_tile *layout_addend_of(base_arena *arena, const layout_tile *addend, const layout_tile *sum,
                                    const int64_t *sum_shape, const int64_t *shape, uint32_t rank,
                                    bool addend_is_right, layout_error *error) {
    if (addend->swizzle.present || sum->swizzle.present)
        return no(error);
    division v = {.whole = layout_canonical(arena, sum), .part = layout_canonical(arena, addend)};
    if (!start(arena, &v, sum_shape, shape, rank, error))
        return NULL;
    for (uint32_t d = 0; d < rank; d++) {
        uint32_t middle = v.whole_at[2 * d + 1];
        uint32_t mine = addend_is_right ? middle : v.whole_at[2 * d];
        uint32_t mine_end = addend_is_right ? v.whole_at[2 * d + 2] : middle;
        uint32_t other = addend_is_right ? v.whole_at[2 * d] : middle;
        uint32_t other_end = addend_is_right ? middle : v.whole_at[2 * d + 2];
        if (mine_end - mine != v.part_at[d + 1] - v.part_at[d])
            return no(error);
        for (uint32_t j = 0; j < mine_end - mine; j++) {
            const layout_iter *a = &v.part->shard[v.part_at[d] + j], *b = &v.whole->shard[mine + j];
            if (a->extent != b->extent || (a->extent != 1 && !layout_same_iter(a, b)))
                return no(error);
        }
        for (uint32_t i = other; i < other_end; i++)
            v.rest[v.rest_count++] = v.whole->shard[i];
    }
    other_replicas(arena, &v);
    return finish(arena, &v, error);
}
