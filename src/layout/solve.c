/* SPDX-License-Identifier: Apache-2.0
 * The two questions that are equations in the digits of a layout: which elements lie at a place, and whether
 * two share one. Both search the iters by falling stride and leave a branch as soon as the iters that remain
 * cannot reach the target any more; layouts that people write are decided at once. A search that takes too
 * many steps gives up and says so. */
#include "layout/query.h"
#include "layout/layout_internal.h"
#include <stdlib.h>
#include <string.h>

enum { STEP_LIMIT = 4 << 20 };
#define FAR (INT64_MAX / 8) /* differences of places up to here do not overflow */

/* The lowest number has no opposite; the highest stands for it, which is as far away. */
static int64_t magnitude(int64_t value) {
    return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

static int64_t floor_div(int64_t a, int64_t b) { /* b > 0 */
    return a / b - (a % b < 0);
}

/* ---- elements at a place ---- */
typedef struct term {
    int64_t extent, stride;
    int64_t weight; /* of the digit in the element's number; 0 for replicas */
    uint32_t axis;
    bool fixed;        /* its axis is asked for */
    int64_t low, high; /* what the terms behind it on its axis can add */
} term;

typedef struct finder {
    base_arena *arena;
    const layout_map *map;
    term *terms;
    uint32_t count;
    int64_t left[LAYOUT_AXIS_COUNT];     /* still to be made up on fixed axes */
    int64_t position[LAYOUT_AXIS_COUNT]; /* made so far */
    int64_t flat;
    uint64_t steps;
    size_t limit;
    bool gave_up;
    BASE_VECTOR(layout_holding) found;
} finder;

static void search(finder *f, uint32_t at) {
    if (f->gave_up || ++f->steps > STEP_LIMIT) {
        f->gave_up = true;
        return;
    }
    if (at == f->count) {
        layout_holding item = {.flat = f->flat};
        if (f->found.count >= f->limit) {
            f->gave_up = true;
            return;
        }
        memcpy(item.position, f->position, sizeof item.position);
        if (f->map->layout->swizzle.present)
            item.position[LAYOUT_AXIS_M] =
                layout_swizzle_apply(f->map->layout->swizzle, item.position[LAYOUT_AXIS_M]);
        base_vector_push(f->arena, &f->found, item);
        return;
    }
    const term *t = &f->terms[at];
    int64_t first = 0, last = t->extent - 1;
    if (t->fixed) {
        /* left - c * stride has to lie in [low, high] */
        int64_t a = f->left[t->axis] - t->high, b = f->left[t->axis] - t->low;
        if (t->stride == 0 ? a > 0 || b < 0 : false)
            return;
        if (t->stride > 0) {
            first = -floor_div(-a, t->stride) > first ? -floor_div(-a, t->stride) : first;
            last = floor_div(b, t->stride) < last ? floor_div(b, t->stride) : last;
        } else if (t->stride < 0) {
            first = -floor_div(b, -t->stride) > first ? -floor_div(b, -t->stride) : first;
            last = floor_div(-a, -t->stride) < last ? floor_div(-a, -t->stride) : last;
        }
    }
    for (int64_t c = first; c <= last && !f->gave_up; c++) {
        f->left[t->axis] -= c * t->stride;
        f->position[t->axis] += c * t->stride;
        f->flat += c * t->weight;
        search(f, at + 1);
        f->left[t->axis] += c * t->stride;
        f->position[t->axis] -= c * t->stride;
        f->flat -= c * t->weight;
    }
}

static int by_stride(const void *left, const void *right) {
    const term *a = left, *b = right;
    if (a->fixed != b->fixed)
        return a->fixed ? -1 : 1;
    if (a->axis != b->axis)
        return a->axis < b->axis ? -1 : 1;
    int64_t x = magnitude(a->stride), y = magnitude(b->stride);
    if (x != y)
        return x > y ? -1 : 1;
    return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static void add_terms(finder *f, const layout_iter *iters, uint32_t count, bool shard, uint32_t axes) {
    int64_t weight = 1;
    for (uint32_t i = count; i-- > 0; weight *= iters[i].extent)
        if (iters[i].extent > 1)
            f->terms[f->count++] = (term){iters[i].extent,
                                          iters[i].stride,
                                          shard ? weight : 0,
                                          iters[i].axis,
                                          (axes >> iters[i].axis & 1) != 0,
                                          0,
                                          0};
}

static int by_place(const void *left, const void *right) {
    const layout_holding *a = left, *b = right;
    int64_t x = a->position[LAYOUT_AXIS_M], y = b->position[LAYOUT_AXIS_M];
    if (x != y)
        return x < y ? -1 : 1;
    if (a->flat != b->flat)
        return a->flat < b->flat ? -1 : 1;
    int order = memcmp(a->position, b->position, sizeof a->position);
    return order < 0 ? -1 : order > 0;
}

void layout_find(base_arena *arena, const layout_map *map, const int64_t *position, uint32_t axes,
                 size_t limit, layout_holdings *found) {
    const layout_tile *layout = map->layout;
    finder f = {.arena = arena, .map = map, .limit = limit};
    *found = (layout_holdings){NULL, 0, true};
    f.terms = BASE_NEW_ARRAY(arena, term, (size_t)layout->shard_count + layout->replica_count);
    add_terms(&f, layout->shard, layout->shard_count, true, axes);
    add_terms(&f, layout->replica, layout->replica_count, false, axes);
    if (f.count > 1)
        qsort(f.terms, f.count, sizeof *f.terms, by_stride);
    for (uint32_t i = f.count; i-- > 0;) {
        int64_t reach = (f.terms[i].extent - 1) * f.terms[i].stride;
        int64_t low = f.terms[i].low + (reach < 0 ? reach : 0),
                high = f.terms[i].high + (reach > 0 ? reach : 0);
        if (magnitude(reach) > FAR || low < -FAR || high > FAR) {
            found->complete = false; /* the bounds would not fit */
            return;
        }
        if (i > 0 && f.terms[i - 1].axis == f.terms[i].axis) {
            f.terms[i - 1].low = low;
            f.terms[i - 1].high = high;
        }
    }
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++) {
        int64_t want = position[a];
        f.position[a] = layout->offset[a];
        if (!(axes >> a & 1))
            continue;
        if (layout->swizzle.present && a == LAYOUT_AXIS_M) {
            if (want < 0)
                return;
            want = layout_swizzle_undo(layout->swizzle, want);
        }
        bool reached = false; /* an axis without terms is fixed at the offset */
        for (uint32_t i = 0; i < f.count; i++)
            reached = reached || f.terms[i].axis == a;
        if (__builtin_sub_overflow(want, layout->offset[a], &f.left[a]) || (!reached && f.left[a] != 0) ||
            f.left[a] < -2 * FAR || f.left[a] > 2 * FAR)
            return; /* no element is there */
    }
    search(&f, 0);
    if (f.found.count > 1)
        qsort(f.found.items, f.found.count, sizeof *f.found.items, by_place);
    *found = (layout_holdings){f.found.items, f.found.count, !f.gave_up};
}

/* ---- two elements at one place ---- */
/* Digits differ by d with |d| < extent; they collide when the differences cancel on every axis. An axis
 * stands alone, since each iter moves on one, so one axis with a cancelling difference of elements is enough.
 */
typedef struct canceller {
    const layout_iter *iters[64];
    int64_t reach[65], divisor[65]; /* of the iters from here on */
    int64_t step[64];               /* the difference found */
    uint32_t shard[64];             /* index of the shard iter; UINT32_MAX for replicas */
    uint32_t count;
    uint64_t steps;
} canceller;

static int64_t gcd(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return magnitude(a);
}

/* YES: step[at..] cancels left, and some element digit differs. */
static layout_answer cancel(canceller *c, uint32_t at, int64_t left, bool differs) {
    if (++c->steps > STEP_LIMIT)
        return LAYOUT_UNKNOWN;
    if (at == c->count)
        return left == 0 && differs ? LAYOUT_YES : LAYOUT_NO;
    if (magnitude(left) > c->reach[at] || (c->divisor[at] != 0 && left % c->divisor[at] != 0))
        return LAYOUT_NO;
    const layout_iter *iter = c->iters[at];
    int64_t stride = magnitude(iter->stride), most = iter->extent - 1, low = -most, high = most;
    if (stride != 0) { /* |left + d * stride| <= reach of the rest */
        int64_t rest = c->reach[at + 1];
        int64_t first = -floor_div(rest + left, stride), last = floor_div(rest - left, stride);
        low = first > low ? first : low;
        high = last < high ? last : high;
    } else if (c->shard[at] == UINT32_MAX) {
        low = high = 0; /* copies at one place */
    }
    /* Outward from 0, so that the elements found lie near each other. */
    int64_t begin = low > 0 ? low : high < 0 ? high : 0;
    for (int64_t k = 0; begin + k <= high || begin - k >= low; k++)
        for (int sign = 1; sign >= (k == 0 ? 1 : -1); sign -= 2) {
            int64_t d = begin + sign * k;
            if (d < low || d > high)
                continue;
            c->step[at] = d;
            layout_answer answer =
                cancel(c, at + 1, left + d * stride, differs || (d != 0 && c->shard[at] != UINT32_MAX));
            if (answer != LAYOUT_NO)
                return answer;
        }
    return LAYOUT_NO;
}

static void add_iter(canceller *c, const layout_iter *iter, uint32_t shard) {
    uint32_t i = c->count++; /* by falling stride */
    for (; i > 0 && magnitude(c->iters[i - 1]->stride) < magnitude(iter->stride); i--) {
        c->iters[i] = c->iters[i - 1];
        c->shard[i] = c->shard[i - 1];
    }
    c->iters[i] = iter;
    c->shard[i] = shard;
}

static layout_answer axis_cancels(const layout_tile *layout, layout_axis axis, canceller *c) {
    *c = (canceller){.count = 0};
    uint32_t moving = 0;
    for (uint32_t i = 0; i < layout->shard_count + layout->replica_count; i++) {
        bool shard = i < layout->shard_count;
        const layout_iter *iter = shard ? &layout->shard[i] : &layout->replica[i - layout->shard_count];
        if (iter->axis != axis || iter->extent == 1)
            continue;
        if (c->count == 64)
            return LAYOUT_UNKNOWN;
        add_iter(c, iter, shard ? i : UINT32_MAX);
        moving += shard;
    }
    if (moving == 0)
        return LAYOUT_NO;
    bool sparse = true; /* each stride beyond all that the smaller ones reach: a number system */
    for (uint32_t i = c->count; i-- > 0;) {
        int64_t stride = magnitude(c->iters[i]->stride);
        sparse = sparse && stride > c->reach[i + 1];
        int64_t reach = (c->iters[i]->extent - 1) * stride;
        if (reach > FAR || c->reach[i + 1] > FAR)
            return LAYOUT_UNKNOWN;
        c->reach[i] = c->reach[i + 1] + reach;
        c->divisor[i] = gcd(c->divisor[i + 1], stride);
    }
    return sparse ? LAYOUT_NO : cancel(c, 0, 0, false);
}

/* One element takes the falling digits, the other the rising ones, all others 0; copies likewise. */
static void take_collision(const layout_map *map, const canceller *c, layout_axis axis,
                           layout_collision *collision) {
    const layout_tile *layout = map->layout;
    collision->first = collision->second = 0;
    memcpy(collision->position, layout->offset, sizeof collision->position);
    for (uint32_t k = 0; k < c->count; k++) {
        int64_t weight = 1, d = c->iters[k]->stride < 0 ? -c->step[k] : c->step[k];
        collision->position[axis] += (d < 0 ? -d : 0) * c->iters[k]->stride;
        if (c->shard[k] == UINT32_MAX)
            continue;
        for (uint32_t i = c->shard[k] + 1; i < layout->shard_count; i++)
            weight *= layout->shard[i].extent;
        collision->first += (d < 0 ? -d : 0) * weight;
        collision->second += (d > 0 ? d : 0) * weight;
    }
    if (layout->swizzle.present)
        collision->position[LAYOUT_AXIS_M] =
            layout_swizzle_apply(layout->swizzle, collision->position[LAYOUT_AXIS_M]);
    if (collision->first > collision->second) {
        int64_t first = collision->first;
        collision->first = collision->second;
        collision->second = first;
    }
}

layout_answer layout_injective(const layout_map *map, layout_collision *collision) {
    layout_answer result = LAYOUT_YES;
    canceller c;
    for (uint32_t s = 0; s < map->axis_count; s++) {
        layout_answer answer = axis_cancels(map->layout, map->axes[s], &c);
        if (answer == LAYOUT_UNKNOWN)
            result = LAYOUT_UNKNOWN;
        if (answer == LAYOUT_YES) {
            take_collision(map, &c, map->axes[s], collision);
            return LAYOUT_NO;
        }
    }
    return result;
}
