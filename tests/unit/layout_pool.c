/* SPDX-License-Identifier: Apache-2.0
 * Pools of shared memory: places by footprint, alignment, reuse and sizes; random pools against a map of
 * every byte. Slips Q9 and Q10 of the reference, failure cases B01, B02 and B11. covers: B6 B7 */
#include "unit/unit.h"
#include "layout/pool.h"
#include "layout/query.h"
#include "layout/shared.h"
#include <stdlib.h>
#include <string.h>

static const layout_tile *read(base_arena *arena, const char *text) {
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
    if (layout == NULL)
        fail_msg("%s: %s", text, error.text);
    return layout;
}

static int64_t place(base_arena *arena, layout_pool *pool, const char *text, unsigned bits, int64_t align) {
    layout_error error = {NULL};
    if (layout_pool_place(arena, pool, text, read(arena, text), bits, align, &error) == NULL)
        fail_msg("%s: %s", text, error.text);
    return pool->blocks.items[pool->blocks.count - 1].begin;
}

/* Q9: a padded tile takes its padding with it; the reference steps by the product of the shape, 12 elements,
 * and lays the next tile over element (2, 3) at 38. */
static void q9_footprint_not_product(void **state) {
    layout_pool pool = {0};
    assert_int_equal(place(*state, &pool, "S[(3,4):(16,2)]", 32, 0), 0);
    assert_int_equal(place(*state, &pool, "S[4:1]", 32, 0), 39 * 4);
    assert_int_equal(pool.high, 43 * 4);
    const layout_tile *next = layout_pool_place(*state, &pool, "c", read(*state, "S[4:1]"), 32, 0, NULL);
    assert_int_equal(next->offset[LAYOUT_AXIS_M], 43);
}

/* Q10: the room of one tensor is that of its highest address, origin, copies and swizzle included. */
static void q10_highest_address(void **state) {
    static const struct {
        const char *layout;
        unsigned bits;
        int64_t bytes;
    } rows[] = {{"S[(4,8):(16,1)]", 32, 56 * 4},
                {"S[(4,8):(1,4)]", 32, 32 * 4},
                {"S[(4,8):(8,1)]+64", 32, 96 * 4},
                {"S[(3,5):(6,1)]", 4, 9},
                {"S[(8,8):(8,1)]+R[2:100]", 8, 164},
                {"S[8:0]", 64, 8},
                {"Z(0,2,3)*S[(5,8):(8,1)]", 32, 160},
                {"Z(0,2,3)*S[37:1]", 32, 160},
                {"S[(2,3):(3,1)]", 6, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_pool pool = {0};
        place(*state, &pool, rows[i].layout, rows[i].bits, 0);
        assert_int_equal(pool.high, rows[i].bytes);
    }
}

/* B01: 20 bytes, then a block aligned to 128: the total holds the block at its place. B02: a tile under the
 * 128-byte swizzle starts on its period whatever was asked. */
static void cases_B01_B02(void **state) {
    layout_pool pool = {0};
    assert_int_equal(place(*state, &pool, "S[5:1]", 32, 0), 0);
    assert_int_equal(place(*state, &pool, "S[300:1]", 8, 128), 128);
    assert_int_equal(pool.high, 428);
    assert_int_equal(pool.blocks.items[1].padding, 108);
    pool = (layout_pool){0};
    place(*state, &pool, "S[32:1]", 32, 0);
    assert_int_equal(place(*state, &pool, "Z(3,3,3)*S[(8,64):(64,1)]", 16, 16), 1024);
    assert_int_equal(place(*state, &pool, "Z(4,1,3)*S[(8,32):(32,1)]", 8, 0), 2048);
    place(*state, &pool, "S[3:1]", 8, 0);
    assert_int_equal(place(*state, &pool, "S[2:1]", 64, 0), 2312); /* elements are never cut */
    place(*state, &pool, "S[1:1]", 8, 0);
    assert_int_equal(place(*state, &pool, "S[4:1]", 6, 0), 2331); /* 24 bits are whole in 3 bytes */
}

/* B11: a slot on top of a tile that is still alive. */
static void case_B11(void **state) {
    layout_pool pool = {0};
    size_t first = 0, second = 0;
    layout_error error = {NULL};
    place(*state, &pool, "S[1:1]", 32, 0);
    place(*state, &pool, "S[16:1]", 32, 0);
    assert_false(layout_pool_overlap(&pool, &first, &second));
    assert_true(layout_pool_move(*state, &pool, 0, &error));
    place(*state, &pool, "S[(8,8):(8,1)]", 16, 0);
    first = second = 0;
    assert_true(layout_pool_overlap(&pool, &first, &second));
    assert_true(first == 0 && second == 2);
    assert_true(layout_pool_overlap(&pool, &first, &second));
    assert_true(first == 1 && second == 2);
    assert_false(layout_pool_overlap(&pool, &first, &second));
    pool = (layout_pool){0};
    first = second = 0;
    assert_false(layout_pool_overlap(&pool, &first, &second));
}

static void sizes(void **state) {
    layout_pool pool = {.limit = 1000};
    layout_error error = {NULL};
    int64_t bytes = 0;
    place(*state, &pool, "S[100:1]", 32, 0);
    assert_null(layout_pool_place(*state, &pool, "B", read(*state, "S[151:1]"), 32, 0, &error));
    assert_string_equal(error.text,
                        "'B' needs 604 bytes from byte 400 on, up to byte 1004; the pool ends at 1000");
    assert_int_equal(pool.blocks.count, 1); /* a refusal leaves no trace */
    assert_int_equal(pool.cursor, 400);
    assert_false(layout_pool_commit(*state, &pool, 399, &bytes, &error));
    assert_string_equal(error.text, "399 bytes are committed, but the pool reaches up to byte 400");
    assert_false(layout_pool_commit(*state, &pool, 1001, &bytes, &error));
    assert_string_equal(error.text, "1001 bytes are committed, but the pool ends at 1000");
    assert_true(layout_pool_commit(*state, &pool, 640, &bytes, &error));
    assert_int_equal(bytes, 640);
    assert_false(layout_pool_move(*state, &pool, -4, &error));
    assert_string_equal(error.text, "the base of a pool cannot move to byte -4");
    assert_false(layout_pool_move(*state, &pool, 1001, &error));
    assert_string_equal(error.text, "the base of a pool cannot move to byte 1001: it ends at 1000");
    assert_true(layout_pool_move(*state, &pool, 800, &error)); /* a move alone raises the mark */
    assert_true(layout_pool_move(*state, &pool, 16, &error));
    assert_true(layout_pool_commit(*state, &pool, -1, &bytes, &error));
    assert_int_equal(bytes, 800);
}

static void refused(void **state) {
    static const struct {
        const char *layout;
        unsigned bits;
        int64_t align;
        const char *text;
    } rows[] = {
        {"S[(8,8):(8,1)]", 32, 24, "the alignment of 'T' is 24 bytes; it has to be a power of two"},
        {"S[(8,8):(8,1)]", 32, -16, "the alignment of 'T' is -16 bytes"},
        {"S[(8,8):(1@laneid,1)]", 32, 0, "shard iter 0, 8:1@laneid, is on laneid, and a pool has bytes only"},
        {"S[8:1]+R[2:1@warpid]", 32, 0, "replica iter 0, 2:1@warpid, is on warpid"},
        {"S[(8,8):(8,-1)]+7", 32, 0, "shard iter 1, 8:-1@m, steps down"},
        {"S[8:1]+4@TCol", 32, 0, "its layout has the offset 4 on TCol"},
        {"S[8:1]+-4", 32, 0, "its layout has the offset -4 on m"},
        {"S[(4,2):(2305843009213693951,1)]", 32, 0, "the place of 'T' does not fit in 64 bits"},
        {"S[8:1]", 0, 0, "elements of 0 bits have no place in a pool"},
        {"S[8:1]", 6, INT64_C(1) << 62, "the alignment of 'T' does not fit in 64 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_pool pool = {.cursor = 4};
        layout_error error = {NULL};
        assert_null(layout_pool_place(*state, &pool, "T", read(*state, rows[i].layout), rows[i].bits,
                                      rows[i].align, &error));
        if (error.text == NULL || strstr(error.text, rows[i].text) == NULL)
            fail_msg("row %zu: %s", i, error.text);
        assert_int_equal(pool.blocks.count, 0);
    }
}

static uint32_t random_state = 2463534242u;
static uint32_t below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* Every element of every tensor lands inside of its block, and no two tensors touch one byte unless the base
 * moved back between them. */
static void random_pools(void **state) {
    static const char *const layouts[] = {"S[(5,7):(9,1)]",          "S[(5,7):(1,6)]+3",
                                          "Z(1,2,2)*S[(6,8):(8,1)]", "Z(0,2,3,outer)*S[33:1]",
                                          "S[(3,4):(16,2)]+R[2:1]",  "S[24:1]"};
    static const unsigned widths[] = {4, 8, 16, 32, 64, 6};
    enum { ROOM = 1 << 16 };
    uint8_t *owner = calloc(1, ROOM);
    size_t moved = 0;
    for (int round = 0; round < 60; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        layout_pool pool = {.limit = ROOM};
        size_t overlaps_found = 0, first = 0, second = 0;
        bool back = false;
        memset(owner, 0, ROOM);
        for (unsigned t = 1; t <= 12; t++) {
            const layout_tile *tile = read(arena, layouts[below(6)]);
            unsigned bits = widths[below(6)];
            int64_t align = below(2) ? 1 << below(9) : 0, size = 0, copies[2 * LAYOUT_AXIS_COUNT];
            if (below(8) == 0 && round % 2) {
                back = back || pool.cursor > 0;
                assert_true(layout_pool_move(arena, &pool, below((uint32_t)pool.cursor + 1), NULL));
                moved++;
            }
            const layout_tile *placed = layout_pool_place(arena, &pool, "t", tile, bits, align, NULL);
            assert_non_null(placed);
            const layout_pool_block *block = &pool.blocks.items[pool.blocks.count - 1];
            assert_true(align == 0 || block->begin % align == 0);
            assert_true(layout_size(placed, &size));
            const layout_map *map = layout_map_make(arena, placed, &size, 1, NULL);
            for (int64_t k = 0; k < size; k++) {
                int64_t n = layout_map_copies(map, &k, 2, copies);
                for (int64_t c = 0; c < n; c++) {
                    int64_t low = copies[c] * bits / 8, high = (copies[c] * bits + bits - 1) / 8;
                    assert_true(low >= block->begin && high < block->begin + block->bytes);
                    for (; low <= high; low++) {
                        overlaps_found += owner[low] != 0 && owner[low] != t;
                        owner[low] = (uint8_t)t;
                    }
                }
            }
        }
        bool any = layout_pool_overlap(&pool, &first, &second);
        assert_true(back || (!any && overlaps_found == 0));
        assert_true(any || overlaps_found == 0);
        base_arena_destroy(arena);
    }
    assert_true(moved > 20);
    free(owner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(q9_footprint_not_product),
        UNIT_WITH_ARENA(q10_highest_address),
        UNIT_WITH_ARENA(cases_B01_B02),
        UNIT_WITH_ARENA(case_B11),
        UNIT_WITH_ARENA(sizes),
        UNIT_WITH_ARENA(refused),
        UNIT_WITH_ARENA(random_pools),
    };
    return cmocka_run_group_tests_name("layout_pool", tests, NULL, NULL);
}
