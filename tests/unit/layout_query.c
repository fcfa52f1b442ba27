/* SPDX-License-Identifier: Apache-2.0
 * The questions about layouts against brute force: every layout of a bounded family up to 512 elements, with
 * and without offset, copies, threads and swizzle, is laid down element by element and the answers are read
 * off. covers: A12 A16 A17 A22 A23 */
#include "unit/unit.h"
#include "layout/query.h"
#include "layout/shared.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 512, COPIES = 3 };

/* The slow model: positions of every copy of every element, by counting the iters up one by one. */
typedef struct slow {
    int64_t size, copies;
    int64_t at[MOST][COPIES][LAYOUT_AXIS_COUNT];
} slow;

static int64_t slow_xor(layout_swizzle z, int64_t a) {
    if (!z.present)
        return a;
    for (unsigned bit = 0; bit < z.length; bit++) {
        unsigned low = z.per_element + bit, high = low + z.atom;
        unsigned from = z.outer ? low : high, to = z.outer ? high : low;
        a ^= (a >> from & 1) << to; /* `to` bits are never `from` bits */
    }
    return a;
}

static void lay_down(const layout_tile *layout, slow *s) {
    int64_t digits[8] = {0};
    s->size = 1;
    s->copies = 1;
    for (uint32_t i = 0; i < layout->shard_count; i++)
        s->size *= layout->shard[i].extent;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        s->copies *= layout->replica[i].extent;
    assert_true(s->size <= MOST && s->copies <= COPIES && layout->replica_count <= 1);
    for (int64_t k = 0; k < s->size; k++) {
        for (int64_t c = 0; c < s->copies; c++) {
            int64_t *at = s->at[k][c];
            memcpy(at, layout->offset, sizeof layout->offset);
            for (uint32_t i = 0; i < layout->shard_count; i++)
                at[layout->shard[i].axis] += digits[i] * layout->shard[i].stride;
            if (layout->replica_count == 1)
                at[layout->replica[0].axis] += c * layout->replica[0].stride;
            at[LAYOUT_AXIS_M] = slow_xor(layout->swizzle, at[LAYOUT_AXIS_M]);
        }
        for (uint32_t i = layout->shard_count; i-- > 0;) {
            if (++digits[i] < layout->shard[i].extent)
                break;
            digits[i] = 0;
        }
    }
}

static void by_axis(const layout_map *map, const int64_t *position, int64_t *at) {
    memset(at, 0, sizeof *at * LAYOUT_AXIS_COUNT);
    for (uint32_t s = 0; s < map->axis_count; s++)
        at[map->axes[s]] = position[s];
}

static void check_map(const layout_map *map, const slow *s) {
    static int64_t planes[MOST * LAYOUT_AXIS_COUNT];
    int64_t coordinate[4], position[LAYOUT_AXIS_COUNT], at[LAYOUT_AXIS_COUNT];
    int64_t copies[COPIES * LAYOUT_AXIS_COUNT];
    layout_map_all(map, planes);
    for (int64_t k = 0; k < s->size; k++) {
        layout_map_coordinate(map, k, coordinate);
        assert_int_equal(layout_map_flat(map, coordinate), k);
        layout_map_at(map, coordinate, position);
        by_axis(map, position, at);
        assert_memory_equal(at, s->at[k][0], sizeof at);
        for (uint32_t a = 0; a < map->axis_count; a++)
            assert_int_equal(planes[a * map->size + k], position[a]);
        assert_int_equal(layout_map_copies(map, coordinate, COPIES, copies), s->copies);
        for (int64_t c = 0; c < s->copies; c++) {
            by_axis(map, &copies[c * map->axis_count], at);
            assert_memory_equal(at, s->at[k][c], sizeof at);
        }
    }
}

static bool holds(const slow *s, int64_t k, const int64_t *at) {
    for (int64_t c = 0; c < s->copies; c++)
        if (memcmp(s->at[k][c], at, sizeof s->at[k][c]) == 0)
            return true;
    return false;
}

typedef struct held {
    const int64_t *at;
    int64_t element;
} held;
static int by_place(const void *a, const void *b) { /* the family is on m and laneid only */
    const int64_t *x = ((const held *)a)->at, *y = ((const held *)b)->at;
    int64_t m = x[LAYOUT_AXIS_M] - y[LAYOUT_AXIS_M], lane = x[LAYOUT_AXIS_LANEID] - y[LAYOUT_AXIS_LANEID];
    int64_t element = ((const held *)a)->element - ((const held *)b)->element;
    int64_t first = m != 0 ? m : lane;
    return first != 0 ? (first > 0) - (first < 0) : (element > 0) - (element < 0);
}

static bool same_place(const held *a, const held *b) {
    return memcmp(a->at, b->at, sizeof(int64_t) * LAYOUT_AXIS_COUNT) == 0;
}

static void check_injective(const layout_map *map, const slow *s) {
    static held places[MOST * COPIES];
    size_t count = 0;
    bool collide = false;
    for (int64_t k = 0; k < s->size; k++)
        for (int64_t c = 0; c < s->copies; c++)
            places[count++] = (held){s->at[k][c], k};
    qsort(places, count, sizeof *places, by_place);
    for (size_t i = 1; i < count && !collide; i++) /* copies of one element may share a place */
        collide = places[i - 1].element != places[i].element && same_place(&places[i - 1], &places[i]);
    layout_collision found;
    layout_answer answer = layout_injective(map, &found);
    assert_int_equal(answer, collide ? LAYOUT_NO : LAYOUT_YES);
    if (collide) {
        assert_true(found.first >= 0 && found.first < found.second && found.second < s->size);
        assert_true(holds(s, found.first, found.position) && holds(s, found.second, found.position));
    }
}

/* The elements on a full place, and those with one coordinate of it. */
static void check_inverse(base_arena *arena, const layout_map *map, const slow *s, int64_t element) {
    for (uint32_t n = 0; n <= map->axis_count; n++) {
        uint32_t axes = n == map->axis_count ? map->axis_mask : 1u << map->axes[n];
        int64_t want[LAYOUT_AXIS_COUNT];
        memcpy(want, s->at[element][s->copies - 1], sizeof want);
        if (n % 2 == 1)
            want[map->axes[0]]++; /* often where nothing is */
        size_t count = 0, seen = 0;
        for (int64_t k = 0; k < s->size; k++)
            for (int64_t c = 0; c < s->copies; c++) {
                bool same = true;
                for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
                    same = same && (!(axes >> a & 1) || s->at[k][c][a] == want[a]);
                count += same;
            }
        layout_holdings found;
        layout_find(arena, map, want, axes, MOST * COPIES, &found);
        assert_true(found.complete);
        assert_int_equal(found.count, count);
        for (size_t i = 0; i < found.count; i++) {
            seen += holds(s, found.items[i].flat, found.items[i].position);
            if (i > 0)
                assert_true(found.items[i - 1].position[LAYOUT_AXIS_M] <=
                            found.items[i].position[LAYOUT_AXIS_M]);
        }
        assert_int_equal(seen, count);
    }
}

static int64_t slow_vector(const layout_map *map, const slow *s, unsigned bits) {
    int64_t best = 1;
    for (int64_t v = 2; v * bits <= 128 && map->shape[map->rank - 1] % v == 0; v *= 2) {
        for (int64_t k = 0; k < s->size; k++)
            for (int64_t c = 0; c < s->copies; c++) {
                int64_t want[LAYOUT_AXIS_COUNT];
                memcpy(want, s->at[k / v * v][c], sizeof want);
                if (want[LAYOUT_AXIS_M] % v != 0)
                    return best;
                want[LAYOUT_AXIS_M] += k % v;
                if (memcmp(want, s->at[k][c], sizeof want) != 0)
                    return best;
            }
        best = v;
    }
    return best;
}

static void check_vector(base_arena *arena, const layout_map *map, const slow *s, unsigned bits) {
    layout_vector vector = layout_widest_vector(arena, map, bits, 16);
    int64_t want = slow_vector(map, s, bits);
    assert_non_null(vector.why);
    assert_true(vector.exact ? vector.elements == want : vector.elements <= want);
    assert_true(vector.exact || (map->layout->swizzle.present && map->layout->replica_count > 0));
}

static void check_canonical(base_arena *arena, const layout_tile *layout, const layout_map *map,
                            const slow *s) {
    const layout_tile *canonical = layout_canonical(arena, layout);
    const layout_map *again = layout_map_make(arena, canonical, map->shape, map->rank, NULL);
    layout_difference difference;
    assert_non_null(again);
    assert_true(layout_equal(arena, layout, canonical));
    assert_int_equal(layout_compare(arena, map, again, &difference), LAYOUT_YES);
    int64_t footprint = 0, highest = -1, exact = 0;
    for (int64_t k = 0; k < s->size; k++)
        for (int64_t c = 0; c < s->copies; c++)
            highest = s->at[k][c][LAYOUT_AXIS_M] > highest ? s->at[k][c][LAYOUT_AXIS_M] : highest;
    assert_true(layout_footprint(layout, LAYOUT_AXIS_M, &footprint));
    assert_true(layout_span(layout, LAYOUT_AXIS_M, &exact));
    assert_true(highest < footprint);
    if (!layout->swizzle.present && highest >= 0)
        assert_int_equal(highest + 1, exact);
}

/* Variants: 0 plain, 1 an offset, 2 copies, 3 the first iter on threads, 4 and 5 swizzled. */
static const layout_tile *variant(base_arena *arena, layout_iter *iters, uint32_t count, unsigned which) {
    layout_iter replica = {2, 5, LAYOUT_AXIS_M};
    int64_t offsets[LAYOUT_AXIS_COUNT] = {[LAYOUT_AXIS_M] = 12};
    layout_iter first = iters[0];
    if (which == 3)
        iters[0].axis = LAYOUT_AXIS_LANEID;
    const layout_tile *tile = layout_make(arena, iters, count, &replica, which == 2, offsets,
                                          which == 1 ? 1u << LAYOUT_AXIS_M : 0, NULL);
    iters[0] = first;
    assert_non_null(tile);
    if (which < 4)
        return tile;
    return layout_compose(arena, tile, (layout_swizzle){true, which == 5, 1, 2, (uint8_t)(which - 2)}, NULL);
}

/* A shape that cuts across the iters, or follows them. */
static uint32_t shape_for(const layout_iter *iters, uint32_t count, unsigned which, int64_t *shape) {
    int64_t size = 1;
    for (uint32_t i = 0; i < count; i++)
        size *= iters[i].extent;
    if (which % 3 == 0) {
        shape[0] = size;
        return 1;
    }
    if (which % 3 == 1 && size % 4 == 0) {
        shape[0] = size / 4;
        shape[1] = 4;
        return 2;
    }
    for (uint32_t i = 0; i < count; i++)
        shape[i] = iters[i].extent;
    return count;
}

static void check_one(base_heap *heap, layout_iter *iters, uint32_t count, unsigned which, slow *s) {
    base_arena *arena = base_arena_create(heap);
    const layout_tile *layout = variant(arena, iters, count, which % 6);
    if (layout == NULL) { /* a swizzle over negative addresses */
        assert_true(which % 6 >= 4);
        base_arena_destroy(arena);
        return;
    }
    int64_t shape[4];
    uint32_t rank = shape_for(iters, count, which / 6, shape);
    layout_error error = {NULL};
    const layout_map *map = layout_map_make(arena, layout, shape, rank, &error);
    if (map == NULL)
        fail_msg("%s", error.text);
    lay_down(layout, s);
    check_map(map, s);
    check_injective(map, s);
    check_inverse(arena, map, s, which % s->size);
    check_vector(arena, map, s, 8u << which % 3);
    check_canonical(arena, layout, map, s);
    base_arena_destroy(arena);
}

static void whole_family(void **state) {
    static const int64_t extents[] = {1, 2, 3, 4, 8}, strides[] = {0, 1, 2, 3, 4, 8, 24, -1};
    base_heap *heap = base_arena_heap(*state);
    slow *s = malloc(sizeof *s);
    unsigned which = 0;
    for (uint32_t count = 1; count <= 3; count++)
        for (unsigned e = 0; e < (count == 1 ? 5 : count == 2 ? 25 : 125); e++)
            for (unsigned t = 0; t < (count == 1 ? 8 : count == 2 ? 64 : 512); t++) {
                layout_iter iters[3];
                unsigned x = e, y = t;
                for (uint32_t i = 0; i < count; i++, x /= 5, y /= 8)
                    iters[i] = (layout_iter){extents[x % 5], strides[y % 8], LAYOUT_AXIS_M};
                which = which * 1103515245u + 12345u;
                check_one(heap, iters, count, which >> 16 & 0xfff, s);
            }
    free(s);
}

/* Every pair of a smaller family: layout_compare against all elements. */
static void pairs(void **state) {
    static const char *const texts[] = {"S[(4,6):(6,1)]",
                                        "S[24:1]",
                                        "S[(2,12):(12,1)]",
                                        "S[(8,3):(3,1)]",
                                        "S[(3,8):(8,1)]",
                                        "S[(4,6):(1,4)]",
                                        "S[(2,2,6):(1,2,4)]",
                                        "S[(4,6):(6,1)]+2",
                                        "S[(4,6):(6,1)]+R[2:24]",
                                        "S[(4,6):(6,1)]+R[2:-24]+24",
                                        "S[(4,6):(6,1)]+R[(2,2):(24,0)]",
                                        "Z(0,1,2)*S[24:1]",
                                        "Z(0,1,2)*S[(4,6):(6,1)]",
                                        "Z(0,1,4)*S[24:1]",
                                        "Z(0,1,5)*S[24:1]",
                                        "S[(4,6):(1@laneid,1)]",
                                        "S[(4,6):(1@laneid,1)]+R[2:1@warpid]",
                                        "S[(2,2,6):(2@laneid,1@laneid,1)]",
                                        "S[(4,3,2):(6,2,1)]",
                                        "S[(4,3,2):(6,-2,1)]+4",
                                        "S[(2,12):(1@wid_in_wg,1@laneid)]",
                                        "S[(2,12):(32@tid_in_wg,1@tid_in_wg)]",
                                        "S[24:0]",
                                        "S[(2,12):(0,0)]",
                                        "S[(6,4):(4,1)]",
                                        "S[(6,4):(4,1)]+R[3:0]"};
    enum { COUNT = sizeof texts / sizeof texts[0] };
    base_arena *arena = *state;
    const layout_map *maps[COUNT];
    int64_t shape[2] = {24, 1};
    slow *s = malloc(2 * sizeof *s);
    unsigned yes = 0, no = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const layout_tile *layout = layout_parse(arena, texts[i], strlen(texts[i]), NULL, NULL);
        assert_non_null(layout);
        maps[i] = layout_map_make(arena, layout, shape, 2, NULL);
        assert_non_null(maps[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            layout_difference d;
            layout_answer answer = layout_compare(arena, maps[i], maps[j], &d);
            bool skip = (i >= 15 && i <= 17) || (j >= 15 && j <= 17) || i == 20 || i == 21 || j == 20 ||
                        j == 21 || maps[i]->layout->replica_count > 1 || maps[j]->layout->replica_count > 1;
            yes += answer == LAYOUT_YES;
            no += answer == LAYOUT_NO;
            if (skip || answer == LAYOUT_UNKNOWN) /* named by another axis; unknown only under two swizzles */
                continue;
            lay_down(maps[i]->layout, &s[0]);
            lay_down(maps[j]->layout, &s[1]);
            bool same = true;
            for (int64_t k = 0; k < 24; k++) {
                for (int64_t c = 0; c < s[0].copies; c++)
                    same = same && holds(&s[1], k, s[0].at[k][c]);
                for (int64_t c = 0; c < s[1].copies; c++)
                    same = same && holds(&s[0], k, s[1].at[k][c]);
            }
            if (same != (answer == LAYOUT_YES))
                fail_msg("%s and %s", texts[i], texts[j]);
            if (!same && d.why == NULL)
                assert_true(holds(&s[0], d.flat, d.first) && holds(&s[1], d.flat, d.second));
        }
    assert_int_equal(layout_compare(arena, maps[20], maps[21], &(layout_difference){0}), LAYOUT_YES);
    assert_int_equal(layout_compare(arena, maps[15], maps[17], &(layout_difference){0}), LAYOUT_YES);
    assert_int_equal(layout_compare(arena, maps[0], maps[10], &(layout_difference){0}), LAYOUT_NO);
    assert_int_equal(layout_compare(arena, maps[8], maps[10], &(layout_difference){0}), LAYOUT_YES);
    assert_true(yes > COUNT && no > COUNT);
    free(s);
}

/* A layout far too large to enumerate answers all the same. */
static void large(void **state) {
    base_arena *arena = *state;
    const char *text = "S[(1048576,1024,1024):(1048576,1024,1)]+3";
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, NULL);
    int64_t shape[2] = {1048576, 1048576}, position[LAYOUT_AXIS_COUNT] = {0}, coordinate[2];
    const layout_map *map = layout_map_make(arena, layout, shape, 2, NULL);
    layout_collision collision;
    layout_holdings found;
    assert_int_equal(layout_injective(map, &collision), LAYOUT_YES);
    position[LAYOUT_AXIS_M] = 1048576LL * 777777 + 88888 + 3;
    layout_find(arena, map, position, 1u << LAYOUT_AXIS_M, 10, &found);
    assert_true(found.complete);
    assert_int_equal(found.count, 1);
    layout_map_coordinate(map, found.items[0].flat, coordinate);
    assert_int_equal(coordinate[0], 777777);
    assert_int_equal(coordinate[1], 88888);
    layout_vector vector = layout_widest_vector(arena, map, 16, 16);
    assert_int_equal(vector.elements, 1);
    assert_string_equal(vector.why, "the offset 3 is no multiple of 2 elements");
    /* all elements at one place: the limit ends the search, and says so */
    const char *one = "S[(1048576,1048576):(0,0)]";
    map = layout_map_make(arena, layout_parse(arena, one, strlen(one), NULL, NULL), shape, 2, NULL);
    position[LAYOUT_AXIS_M] = 0;
    layout_find(arena, map, position, 1u << LAYOUT_AXIS_M, 10, &found);
    assert_false(found.complete);
    assert_int_equal(found.count, 10);
}

static layout_banks banks_of(base_arena *arena, const char *text, const int64_t *shape, int64_t step,
                             unsigned bits, unsigned width) {
    int64_t elements[32];
    layout_banks banks;
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
    assert_non_null(layout);
    const layout_map *map = layout_map_make(arena, layout, shape, 2, &error);
    assert_non_null(map);
    for (int lane = 0; lane < 32; lane++)
        elements[lane] = lane * step;
    if (!layout_bank_conflicts(arena, map, elements, 32, bits, width, &banks, &error))
        fail_msg("%s", error.text);
    return banks;
}

static void bank_conflicts(void **state) {
    base_arena *arena = *state;
    const int64_t square[2] = {32, 32}, wide[2] = {32, 64};
    layout_banks banks = banks_of(arena, "S[(32,32):(32,1)]", square, 32, 32, 4);
    assert_int_equal(banks.wavefronts, 32); /* a column of row-major rows: all in bank 0 */
    assert_int_equal(banks.ideal, 1);
    assert_int_equal(banks.conflicts.count, 1);
    assert_int_equal(banks.conflicts.items[0].bank, 0);
    assert_int_equal(banks.conflicts.items[0].words, 32);
    assert_true(banks.conflicts.items[0].lanes == 0xffffffffu);
    assert_int_equal(banks_of(arena, "S[(32,32):(33,1)]", square, 32, 32, 4).wavefronts, 1);
    banks = banks_of(arena, "Z(2,3,3)*S[(32,32):(32,1)]", square, 32, 32, 4);
    assert_int_equal(banks.wavefronts, 4); /* rows 8 apart meet */
    assert_int_equal(banks.conflicts.count, 8);
    assert_true(banks.conflicts.items[0].lanes == 0x01010101u);
    assert_int_equal(banks_of(arena, "S[(32,32):(32,1)]", square, 1, 32, 4).wavefronts, 1);
    banks = banks_of(arena, "S[(32,64):(64,1)]", wide, 64, 16, 16);
    assert_int_equal(banks.wavefronts, 32); /* 4 passes of 8 lanes, each all in one bank group */
    assert_int_equal(banks.ideal, 4);
    assert_int_equal(banks_of(arena, "Z(3,3,3)*S[(32,64):(64,1)]", wide, 64, 16, 16).wavefronts, 4);
    assert_int_equal(banks_of(arena, "Z(3,2,3)*S[(32,64):(64,1)]", wide, 64, 16, 16).wavefronts, 8);
    /* one word for all lanes is a broadcast */
    assert_int_equal(banks_of(arena, "S[(32,32):(0,1)]", square, 32, 32, 4).wavefronts, 1);
}

static void bank_refusals(void **state) {
    static const struct {
        const char *layout;
        unsigned bits, width;
        int64_t step;
        const char *text;
    } rows[] = {
        {"S[(8,32):(32,1)]", 16, 16, 4, "lane 1: m 4 of 16-bit elements is not aligned to 16 bytes"},
        {"S[(8,32):(1,8)]", 32, 16, 4, "lane 0 cannot access 16 bytes at once: element 0 is at m 0"},
        {"S[(8,32):(32,1)]", 32, 3, 1, "3 bytes per lane of 32-bit elements"},
        {"S[(8,32):(32,1)]", 64, 4, 1, "4 bytes per lane of 64-bit elements"},
        {"S[(8,32):(1@laneid,1)]", 32, 4, 1, "it has laneid"},
        {"S[(8,32):(32,1)]", 32, 4, 9, "lane 29: element 261 of 256"},
    };
    const int64_t shape[2] = {8, 32};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t elements[32];
        layout_banks banks;
        layout_error error = {NULL};
        const layout_tile *layout = layout_parse(*state, rows[i].layout, strlen(rows[i].layout), NULL, NULL);
        const layout_map *map = layout_map_make(*state, layout, shape, 2, NULL);
        for (int lane = 0; lane < 32; lane++)
            elements[lane] = lane * rows[i].step;
        assert_false(
            layout_bank_conflicts(*state, map, elements, 32, rows[i].bits, rows[i].width, &banks, &error));
        if (strstr(error.text, rows[i].text) == NULL)
            fail_msg("%s: %s", rows[i].layout, error.text);
    }
}

static void domain(void **state) {
    layout_error error = {NULL};
    const char *text = "S[(4,8):(8,1)]";
    const layout_tile *layout = layout_parse(*state, text, strlen(text), NULL, NULL);
    assert_null(layout_map_make(*state, layout, (int64_t[]){4, 9}, 2, &error));
    assert_string_equal(error.text, "layout S[(4,8):(8,1)] has 32 elements, but the shape (4, 9) has 36");
    assert_null(layout_map_make(*state, layout, (int64_t[]){4, 0}, 2, &error));
    assert_string_equal(error.text, "extent 0 of dimension 1 is not positive");
    const layout_map *map = layout_map_make(*state, layout, (int64_t[]){4, 8}, 2, &error);
    assert_false(layout_map_inside(*state, map, (int64_t[]){3, 8}, &error));
    assert_string_equal(error.text, "coordinate 8 of dimension 1 is outside [0, 8)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(whole_family),   UNIT_WITH_ARENA(pairs),         UNIT_WITH_ARENA(large),
        UNIT_WITH_ARENA(bank_conflicts), UNIT_WITH_ARENA(bank_refusals), UNIT_WITH_ARENA(domain),
    };
    return cmocka_run_group_tests_name("layout_query", tests, NULL, NULL);
}
