/* SPDX-License-Identifier: Apache-2.0
 * Laws that hold without exception: the inverse of the inverse is the layout; without copies and strides of 0
 * two layouts are one function exactly when they have one canonical form, over every layout of a bounded
 * family; what an operation promises on every element, for chains of operations. covers: A12 A23 */
#include "unit/unit.h"
#include "layout/query.h"
#include <stdlib.h>
#include <string.h>

static uint32_t random_state = 1234567891u;
static uint32_t below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* ---- canonical forms ---- */
enum { MOST = 216 };

static uint64_t function_of(const layout_iter *iters, uint32_t count) {
    int64_t at[2 * MOST], size = 1, digits[3] = {0};
    for (uint32_t i = 0; i < count; i++)
        size *= iters[i].extent;
    for (int64_t k = 0; k < size; k++) {
        at[2 * k] = at[2 * k + 1] = 0;
        for (uint32_t i = 0; i < count; i++)
            at[2 * k + (iters[i].axis == LAYOUT_AXIS_LANEID)] += digits[i] * iters[i].stride;
        for (uint32_t i = count; i-- > 0;) {
            if (++digits[i] < iters[i].extent)
                break;
            digits[i] = 0;
        }
    }
    return base_hash(at, sizeof *at * 2 * (size_t)size, (uint64_t)size);
}

/* Each function has one form and each form one function: two maps, both ways. The hashes have 64 bits, and
 * there are some 10^5 of them. */
static void canonical_iff_equal(void **state) {
    static const int64_t extents[] = {1, 2, 3, 4, 6}, strides[] = {1, 2, 3, 4, 6, -1};
    base_arena *keep = *state;
    base_map *form_of = base_map_create(keep), *function_of_form = base_map_create(keep);
    size_t layouts = 0;
    for (uint32_t count = 1; count <= 3; count++) {
        uint32_t choices = 1;
        for (uint32_t i = 0; i < count; i++)
            choices *= 60;
        for (uint32_t choice = 0; choice < choices; choice++) {
            layout_iter iters[3];
            int64_t size = 1;
            uint32_t x = choice;
            for (uint32_t i = 0; i < count; i++, x /= 60) {
                iters[i] = (layout_iter){extents[x % 5], strides[x / 5 % 6],
                                         x / 30 % 2 ? LAYOUT_AXIS_LANEID : LAYOUT_AXIS_M};
                size *= iters[i].extent;
            }
            if (size == 1 || (count == 3 && choice % 3 != 0)) /* a third of the largest family */
                continue;
            base_arena *arena = base_arena_create(base_arena_heap(keep));
            const layout_tile *layout = layout_make(arena, iters, count, NULL, 0, NULL, 0, NULL);
            const char *text = layout_text_of(arena, layout_canonical(arena, layout));
            uint64_t function = function_of(iters, count) | 1, form = base_hash(text, strlen(text), 0) | 1;
            const char *other = base_map_get(form_of, function);
            const uint64_t *reverse = base_map_get(function_of_form, form);
            if (other == NULL)
                base_map_set(form_of, function, base_arena_string(keep, text, strlen(text)));
            else if (strcmp(other, text) != 0)
                fail_msg("%s and %s are one function", other, text);
            if (reverse == NULL) {
                uint64_t *copy = BASE_NEW(keep, uint64_t);
                *copy = function;
                base_map_set(function_of_form, form, copy);
            } else if (*reverse != function) {
                fail_msg("%s stands for two functions", text);
            }
            layouts++;
            base_arena_destroy(arena);
        }
    }
    assert_true(layouts > 70000);
    assert_true(base_map_count(form_of) < layouts / 10 * 9); /* functions are written in many ways */
    assert_int_equal(base_map_count(form_of), base_map_count(function_of_form));
}

/* ---- inverses ---- */
static const layout_tile *random_layout(base_arena *arena, bool swizzled) {
    static const int64_t extents[] = {2, 3, 4, 5, 8};
    static const layout_axis axes[] = {LAYOUT_AXIS_M, LAYOUT_AXIS_M, LAYOUT_AXIS_LANEID, LAYOUT_AXIS_TCOL};
    layout_iter iters[4];
    uint32_t count = 1 + below(3), order[4];
    int64_t next[LAYOUT_AXIS_COUNT], offsets[LAYOUT_AXIS_COUNT] = {[LAYOUT_AXIS_M] = below(5)};
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        next[a] = 1;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t k = below(i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (uint32_t i = 0; i < count; i++) { /* strides that leave no two elements on one place */
        layout_iter *iter = &iters[order[i]];
        layout_axis axis = swizzled ? LAYOUT_AXIS_M : axes[below(4)];
        *iter = (layout_iter){extents[below(5)], next[axis], axis};
        next[axis] = next[axis] * iter->extent + below(3);
    }
    const layout_tile *tile = layout_make(arena, iters, count, NULL, 0, offsets, 1u << LAYOUT_AXIS_M, NULL);
    assert_non_null(tile);
    return swizzled ? layout_compose(arena, tile, (layout_swizzle){true, below(2), 1, 2, 2}, NULL) : tile;
}

/* The inverse, place by place, and the inverse of that table: the layout again, and nothing else. */
static void inverse_of_inverse(void **state) {
    for (int round = 0; round < 400; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        const layout_tile *layout = random_layout(arena, round % 2);
        int64_t size = 0, coordinate = 0, position[LAYOUT_AXIS_COUNT];
        layout_collision collision;
        assert_true(layout_size(layout, &size));
        const layout_map *map = layout_map_make(arena, layout, &size, 1, NULL);
        assert_int_equal(layout_injective(map, &collision), LAYOUT_YES);
        int64_t *owner = BASE_NEW_ARRAY(arena, int64_t, (size_t)size), found_all = 0;
        for (int64_t k = 0; k < size; k++)
            owner[k] = -1;
        for (int64_t k = 0; k < size; k++) {
            int64_t place[LAYOUT_AXIS_COUNT] = {0};
            layout_holdings found;
            layout_map_at(map, &k, position);
            for (uint32_t s = 0; s < map->axis_count; s++)
                place[map->axes[s]] = position[s];
            layout_find(arena, map, place, map->axis_mask, 4, &found);
            assert_true(found.complete && found.count == 1);
            assert_memory_equal(found.items[0].position, place, sizeof place);
            owner[found.items[0].flat] =
                k; /* the inverse sends this place to found; its inverse sends found here */
            found_all += found.items[0].flat == k;
            /* one further on every axis is nobody's or its owner's */
            place[map->axes[below(map->axis_count)]]++;
            layout_find(arena, map, place, map->axis_mask, 4, &found);
            assert_true(found.complete && found.count <= 1);
            if (found.count == 1) {
                layout_map_coordinate(map, found.items[0].flat, &coordinate);
                layout_map_at(map, &coordinate, position);
                for (uint32_t s = 0; s < map->axis_count; s++)
                    assert_int_equal(position[s], place[map->axes[s]]);
            }
        }
        assert_int_equal(found_all, size);
        for (int64_t k = 0; k < size; k++)
            assert_int_equal(owner[k], k);
        base_arena_destroy(arena);
    }
}

/* ---- chains ---- */
/* Permute, cut, unpack, cut, pack as they come: element by element against the first layout. */
static void chains(void **state) {
    size_t cuts = 0, packs = 0;
    for (int round = 0; round < 300; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        int64_t shape[2] = {2 + below(5), 4 * (1 + below(3))}, begin[2], end[2], turned[2],
                p[LAYOUT_AXIS_COUNT], q[LAYOUT_AXIS_COUNT];
        layout_iter iters[2] = {{shape[0], 4 * (int64_t)(1 + below(20)), LAYOUT_AXIS_M},
                                {shape[1], 1, LAYOUT_AXIS_M}};
        const layout_tile *first = layout_make(arena, iters, 2, NULL, 0, NULL, 0, NULL);
        if (round % 3 == 0)
            first = layout_compose(arena, first, (layout_swizzle){true, false, 2, 1, 2}, NULL);
        uint32_t axes;
        const layout_tile *wide = layout_unpack(arena, first, 2, NULL);
        assert_non_null(wide);
        int64_t wide_shape[2] = {shape[0], 2 * shape[1]};
        for (int d = 0; d < 2; d++) { /* the last dimension in whole fours, which packing needs */
            int64_t step = d == 1 ? 4 : 1, room = wide_shape[d] / step;
            begin[d] = step * below((uint32_t)room);
            end[d] = begin[d] + step * (1 + below((uint32_t)(room - begin[d] / step)));
            turned[d] = end[d] - begin[d];
        }
        const layout_tile *cut = layout_slice(arena, wide, wide_shape, 2, begin, end, NULL);
        if (cut != NULL) {
            const layout_tile *flipped = layout_permute(arena, cut, turned, 2, (uint32_t[]){1, 0}, NULL);
            assert_non_null(flipped);
            int64_t flipped_shape[2] = {turned[1], turned[0]};
            for (int64_t i = 0; i < turned[0]; i++)
                for (int64_t j = 0; j < turned[1]; j++) {
                    int64_t narrow = begin[1] + j;
                    assert_true(
                        layout_apply(flipped, (int64_t[]){j, i}, 2, flipped_shape, p, &axes, NULL, arena));
                    assert_true(layout_apply(first, (int64_t[]){begin[0] + i, narrow / 2}, 2, shape, q, &axes,
                                             NULL, arena));
                    assert_int_equal(p[LAYOUT_AXIS_M], 2 * q[LAYOUT_AXIS_M] + narrow % 2);
                }
            cuts++;
            const layout_tile *again = layout_pack(arena, cut, 2, NULL);
            if (again != NULL) {
                int64_t packed[2] = {turned[0], turned[1] / 2};
                for (int64_t i = 0; i < packed[0]; i++)
                    for (int64_t j = 0; j < packed[1]; j++) {
                        assert_true(layout_apply(again, (int64_t[]){i, j}, 2, packed, p, &axes, NULL, arena));
                        assert_true(layout_apply(first, (int64_t[]){begin[0] + i, begin[1] / 2 + j}, 2, shape,
                                                 q, &axes, NULL, arena));
                        assert_int_equal(p[LAYOUT_AXIS_M], q[LAYOUT_AXIS_M]);
                    }
                packs++;
            }
        }
        base_arena_destroy(arena);
    }
    assert_true(cuts > 250 && packs > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(canonical_iff_equal),
        UNIT_WITH_ARENA(inverse_of_inverse),
        UNIT_WITH_ARENA(chains),
    };
    return cmocka_run_group_tests_name("layout_laws", tests, NULL, NULL);
}
