/* SPDX-License-Identifier: Apache-2.0
 * Tensor memory and register fragments against formulas written without iters: the datapaths, operands, scale
 * factors and copies, and every shape and count of tcgen05.ld and st.
 * covers: B6 B7 B26 B27 B28 B30 B31 B32 B33 B34 B36 B37 */
#include "unit/unit.h"
#include "layout/fragment.h"
#include "layout/query.h"
#include "layout/tmem.h"
#include <string.h>

typedef struct place {
    int64_t lane, column;
} place;

/* Every element of a (rows, columns) layout on TLane and TCol. */
static void check_lanes(base_arena *arena, const layout_tile *tile, int64_t rows, int64_t columns,
                        place (*want)(int64_t r, int64_t c, int64_t columns)) {
    int64_t shape[2] = {rows, columns};
    layout_error error = {NULL};
    assert_non_null(tile);
    const layout_map *map = layout_map_make(arena, tile, shape, 2, &error);
    if (map == NULL)
        fail_msg("%s", error.text);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            int64_t position[LAYOUT_AXIS_COUNT], at[LAYOUT_AXIS_COUNT] = {0};
            layout_map_at(map, (int64_t[]){r, c}, position);
            for (uint32_t s = 0; s < map->axis_count; s++)
                at[map->axes[s]] = position[s];
            place p = want(r, c, columns);
            assert_int_equal(at[LAYOUT_AXIS_TLANE], p.lane);
            assert_int_equal(at[LAYOUT_AXIS_TCOL], p.column);
            assert_true(p.lane >= 0 && p.lane < LAYOUT_TMEM_LANES);
        }
    layout_collision collision;
    assert_int_equal(layout_injective(map, &collision), LAYOUT_YES);
}

static place plain(int64_t r, int64_t c, int64_t n) {
    (void)n;
    return (place){r, c};
}
static place folded(int64_t r, int64_t c, int64_t n) {
    return (place){r + 64 * (c / (n / 2)), c % (n / 2)};
}
static place slabs(int64_t r, int64_t c, int64_t n) {
    (void)n;
    return (place){32 * (r / 16) + r % 16, c};
}
static place upper_slabs(int64_t r, int64_t c, int64_t n) {
    (void)n;
    return (place){32 * (r / 16) + 16 + r % 16, c};
}
static place fourfold(int64_t r, int64_t c, int64_t n) {
    return (place){r + 32 * (c / (n / 4)), c % (n / 4)};
}

static void datapaths(void **state) {
    base_arena *arena = *state;
    for (int64_t n = 8; n <= 256; n += 8) {
        check_lanes(arena, layout_tmem_datapath(arena, 'A', 128, n, 0, NULL), 128, n, plain);
        check_lanes(arena, layout_tmem_datapath(arena, 'B', 64, n, 0, NULL), 64, n, folded);
        check_lanes(arena, layout_tmem_datapath(arena, 'C', 64, n, 1, NULL), 64, n, upper_slabs);
        check_lanes(arena, layout_tmem_datapath(arena, 'D', 128, n, 0, NULL), 128, n, plain);
        check_lanes(arena, layout_tmem_datapath(arena, 'E', 64, n, 0, NULL), 64, n, folded);
        check_lanes(arena, layout_tmem_datapath(arena, 'F', 64, n, 0, NULL), 64, n, slabs);
        check_lanes(arena, layout_tmem_datapath(arena, 'F', 64, n, 1, NULL), 64, n, upper_slabs);
        check_lanes(arena, layout_tmem_datapath(arena, 'G', 32, n, 0, NULL), 32, n, fourfold);
    }
    static const struct {
        char letter;
        int64_t rows, columns;
        int slab;
        const char *text;
    } rows[] = {{'B', 128, 32, 0, "datapath B has 64 rows per CTA, not 128"},
                {'D', 128, 8, 1, "datapath D has no sub-slab 1"},
                {'F', 64, 8, 2, "datapath F has no sub-slab 2"},
                {'E', 64, 7, 0, "datapath E needs columns in multiples of 2, not 7"},
                {'G', 32, 6, 0, "datapath G needs columns in multiples of 4, not 6"},
                {'G', 32, -4, 0, "not -4"},
                {'H', 32, 4, 0, "there is no datapath 'H'; datapaths are A to G"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        assert_null(
            layout_tmem_datapath(arena, rows[i].letter, rows[i].rows, rows[i].columns, rows[i].slab, &error));
        assert_non_null(strstr(error.text, rows[i].text));
    }
}

static void operands(void **state) {
    base_arena *arena = *state;
    static const int64_t group[3] = {4, 2, 8};
    static const struct {
        layout_tmem_mma mma;
        uint32_t rank;
        int64_t shape[4];
        const char *want; /* starting with S: the layout, else the refusal */
    } rows[] = {
        {{'D', 128, 1, false, false, NULL, 0}, 2, {128, 64}, "S[(128,64):(1@TLane,1@TCol)]"},
        {{'D', 256, 2, false, false, NULL, 0}, 2, {128, 64}, "S[(128,64):(1@TLane,1@TCol)]"},
        {{'D', 64, 1, false, false, NULL, 0}, 2, {64, 64}, "S[(4,16,64):(32@TLane,1@TLane,1@TCol)]"},
        {{'D', 64, 1, true, false, NULL, 0}, 2, {64, 64}, "S[(64,2,32):(1@TLane,64@TLane,1@TCol)]"},
        {{'D', 128, 2, false, false, NULL, 0}, 2, {64, 64}, "S[(64,2,32):(1@TLane,64@TLane,1@TCol)]"},
        {{'D', 128, 2, false, false, NULL, 0}, 3, {2, 64, 32}, "S[(128,32):(1@TLane,1@TCol)]"},
        {{'D', 128, 2, false, false, NULL, 0}, 3, {64, 2, 32}, "S[(64,2,32):(1@TLane,64@TLane,1@TCol)]"},
        {{'D', 128, 2, false, false, NULL, 0},
         4,
         {64, 4, 2, 8},
         "S[(64,4,2,8):(1@TLane,8@TCol,64@TLane,1@TCol)]"},
        {{'D', 128, 2, false, false, group, 0},
         2,
         {64, 64},
         "S[(64,4,2,8):(1@TLane,8@TCol,64@TLane,1@TCol)]"},
        {{'D', 128, 1, false, false, NULL, 16}, 2, {128, 64}, "S[(128,64):(1@TLane,2@TCol)]"},
        {{'D', 128, 2, false, false, NULL, 16}, 2, {64, 64}, "S[(64,2,32):(1@TLane,64@TLane,2@TCol)]"},
        {{'A', 128, 1, false, false, NULL, 16}, 2, {128, 16}, "S[(128,16):(1@TLane,1@TCol)]"},
        {{'A', 128, 1, false, false, NULL, 0}, 2, {128, 16}, "S[(128,16):(1@TLane,1@TCol)]"},
        {{'A', 64, 1, false, false, NULL, 0}, 2, {64, 16}, "S[(64,16):(1@TLane,1@TCol)]"},
        {{'A', 128, 2, false, false, NULL, 0}, 2, {64, 16}, "S[(64,16):(1@TLane,1@TCol)]+R[2:64@TLane]"},
        {{'A', 64, 1, true, false, NULL, 0}, 3, {2, 64, 16}, "S[(128,16):(1@TLane,1@TCol)]"},
        {{'A', 64, 1, true, false, NULL, 0}, 2, {64, 16}, "datapath E) has no layout of shape (64, 16)"},
        {{'D', 128, 1, false, false, NULL, 0}, 2, {64, 16}, "it has 128 rows per CTA"},
        {{'D', 128, 1, true, false, NULL, 0}, 2, {128, 16}, "S[(128,16):(1@TLane,1@TCol)]"},
        {{'A', 128, 1, true, false, NULL, 0}, 2, {128, 16}, "S[(128,16):(1@TLane,1@TCol)]"},
        {{'D', 128, 2, true, false, NULL, 0},
         2,
         {64, 16},
         "a .ws operand layout exists for cta_group 1 with M = 64 or 128, not 2 with 128"},
        {{'D', 192, 1, false, false, NULL, 0}, 2, {192, 16}, "no datapath for M = 192 with cta_group 1"},
        {{'D', 32, 1, false, false, NULL, 0}, 2, {32, 16}, "there is no operand layout for M = 32"},
        {{'D', 128, 1, false, true, NULL, 0}, 2, {128, 16}, "there is no operand layout for a sparse A"},
        {{'B', 128, 1, false, false, NULL, 0}, 2, {128, 16}, "operand 'B' is not in tensor memory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        const layout_tile *tile =
            layout_tmem_operand(arena, &rows[i].mma, rows[i].shape, rows[i].rank, &error);
        if (rows[i].want[0] == 'S') {
            base_builder out;
            base_builder_start(&out, arena);
            assert_non_null(tile);
            layout_print(tile, &out);
            assert_string_equal(out.data, rows[i].want);
        } else {
            assert_null(tile);
            if (strstr(error.text, rows[i].want) == NULL)
                fail_msg("row %zu: %s", i, error.text);
        }
    }
}

/* Scale factors in tensor memory: 4 bytes to a cell, a copy in every window, and the shared image of them. */
static void scale_factors(void **state) {
    base_arena *arena = *state;
    for (int64_t per = 1; per <= 4; per *= 2)
        for (int64_t k = per; k <= 16; k += per)
            for (int64_t rows = 32; rows <= 256; rows += 32) {
                int64_t packed = 4 / per, shape[2] = {rows, k}, copies[8];
                while (k / per % packed != 0)
                    packed /= 2;
                const layout_tile *tile = layout_tmem_scale_factors(arena, rows, k, per, 1, 0, NULL);
                const layout_map *map = layout_map_make(arena, tile, shape, 2, NULL);
                assert_non_null(map);
                for (int64_t m = 0; m < rows; m++)
                    for (int64_t s = 0; s < k; s++) {
                        int64_t j = s / per, column = 4 * (m / 32) + 4 * (rows / 32) * (j / packed) +
                                                      per * (j % packed) + s % per;
                        assert_int_equal(layout_map_copies(map, (int64_t[]){m, s}, 4, copies), 4);
                        for (int64_t q = 0; q < 4; q++)
                            for (uint32_t a = 0; a < map->axis_count; a++)
                                assert_int_equal(copies[map->axis_count * q + a],
                                                 map->axes[a] == LAYOUT_AXIS_TLANE ? m % 32 + 32 * q
                                                                                   : column);
                    }
            }
    int64_t shape[2] = {256, 8}, position[LAYOUT_AXIS_COUNT];
    const layout_map *image =
        layout_map_make(arena, layout_shared_scale_factors(arena, 256, 8, NULL), shape, 2, NULL);
    for (int64_t m = 0; m < 256; m++)
        for (int64_t s = 0; s < 8; s++) {
            layout_map_at(image, (int64_t[]){m, s}, position);
            assert_int_equal(position[0],
                             512 * (m / 128 * 2 + s / 4) + 16 * (m % 32) + 4 * (m % 128 / 32) + s % 4);
        }
    layout_error error = {NULL};
    assert_null(layout_tmem_scale_factors(arena, 100, 4, 1, 1, 0, &error));
    assert_string_equal(error.text, "scale factors have rows in multiples of 32, not 100");
    assert_null(layout_tmem_scale_factors(arena, 128, 6, 4, 1, 0, &error));
    assert_null(layout_tmem_scale_factors(arena, 128, 6, 3, 1, 0, &error));
    assert_null(layout_tmem_scale_factors(arena, 128, 4, 1, 0, 0, &error));
    assert_null(layout_shared_scale_factors(arena, 96, 4, &error));
}

static void copies(void **state) {
    static const struct {
        const char *shape, *multicast;
        int64_t rows, row, lanes[4];
    } rows[] = {
        {"128x256b", "", 128, 77, {77, -1}},
        {"4x256b", "", 4, 3, {96, -1}},
        {"128x128b", "", 128, 127, {127, -1}},
        {"64x128b", "warpx2::02_13", 64, 40, {40, 104, -1}},
        {"64x128b", "warpx2::01_23", 64, 40, {72, 104, -1}},
        {"32x128b", "warpx4", 32, 5, {5, 37, 69, 101}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t shape[2] = {rows[i].rows, 4}, out[8];
        const layout_tile *tile = layout_tmem_copy(*state, rows[i].shape, rows[i].multicast, 4, NULL);
        const layout_map *map = layout_map_make(*state, tile, shape, 2, NULL);
        assert_non_null(map);
        int64_t count = layout_map_copies(map, (int64_t[]){rows[i].row, 3}, 4, out);
        for (int64_t c = 0; c < 4 && rows[i].lanes[c] >= 0; c++) {
            assert_true(c < count);
            assert_int_equal(out[2 * c], rows[i].lanes[c]);
            assert_int_equal(out[2 * c + 1], 3);
        }
    }
    layout_error error = {NULL};
    assert_null(layout_tmem_copy(*state, "64x128b", "", 4, &error));
    assert_non_null(strstr(error.text, "tcgen05.cp has no form 64x128b"));
    assert_null(layout_wg_local(*state, 129, 4, &error));
    int64_t size = 0;
    assert_true(layout_size(layout_wg_local(*state, 128, 8, NULL), &size) && size == 1024);
}

/* Every legal instruction moves each of its cells into exactly one register, lanes * columns = 32 *
 * registers; the layout says the same as the formula; beyond 128 registers it is refused. st takes the same
 * map. */
static void movements(void **state) {
    static const int limit[] = {128, 128, 64, 32, 128};
    unsigned legal = 0;
    for (int movement = 0; movement < LAYOUT_MOVEMENT_COUNT; movement++)
        for (int n = 1; n <= 256; n *= 2)
            for (int pack = 0; pack < 2; pack++) {
                base_arena *arena = base_arena_create(base_arena_heap(*state));
                layout_transfer t = {(layout_movement)movement, n, pack != 0, 0};
                layout_transfer_size size;
                layout_error error = {NULL};
                bool ok = layout_transfer_measure(arena, &t, &size, &error);
                assert_int_equal(ok, n <= limit[movement]);
                if (!ok) {
                    assert_non_null(
                        strstr(error.text, n > 128 ? "power of two from x1 to x128" : "the limit is 128"));
                    base_arena_destroy(arena);
                    continue;
                }
                legal++;
                assert_int_equal(size.lanes * size.columns, 32 * size.registers * (pack ? 2 : 1));
                assert_int_equal(size.cells, size.lanes * size.columns);
                assert_true(size.registers <= 128);
                int64_t shape[2] = {size.lanes, size.columns}, position[LAYOUT_AXIS_COUNT];
                const layout_map *map =
                    layout_map_make(arena, layout_transfer_layout(arena, &t, NULL), shape, 2, NULL);
                assert_non_null(map);
                bool *seen = BASE_NEW_ARRAY(arena, bool, (size_t)size.cells);
                for (int lane = 0; lane < 32; lane++)
                    for (int r = 0; r < size.registers; r++)
                        for (int half = 0; half <= pack; half++) {
                            int row = 0;
                            int64_t column = 0;
                            layout_transfer_cell(&t, lane, r, &row, &column);
                            column += half;
                            assert_true(row < size.lanes && column < size.columns);
                            assert_false(seen[row * size.columns + column]);
                            seen[row * size.columns + column] = true;
                            layout_map_at(map, (int64_t[]){row, column}, position);
                            for (uint32_t s = 0; s < map->axis_count; s++)
                                assert_int_equal(position[s], map->axes[s] == LAYOUT_AXIS_LANEID
                                                                  ? lane
                                                                  : r * (1 + pack) + half);
                        }
                base_arena_destroy(arena);
            }
    assert_int_equal(legal, 2 * (8 + 8 + 7 + 6 + 8)); /* 74 forms, as ptxas accepts */
}

static void measures(void **state) {
    /* the table of .16x128b: 128, 256, 512, 1024 bits a lane and 2, 4, 8, 16 registers; x4 moves 256 cells */
    for (int n = 1; n <= 8; n *= 2) {
        layout_transfer_size size;
        assert_true(layout_transfer_measure(*state, &(layout_transfer){LAYOUT_MOVEMENT_16X128B, n, false, 0},
                                            &size, NULL));
        assert_int_equal(size.lanes, 16);
        assert_int_equal(size.bits_per_lane, 128 * n);
        assert_int_equal(size.registers, 2 * n);
        assert_int_equal(size.cells, 64 * n);
        /* packing keeps the registers and walks twice the columns, 16 bits of each */
        assert_true(layout_transfer_measure(*state, &(layout_transfer){LAYOUT_MOVEMENT_16X128B, n, true, 0},
                                            &size, NULL));
        assert_int_equal(size.registers, 2 * n);
        assert_int_equal(size.columns, 8 * n);
        assert_int_equal(size.bits_per_lane, 128 * n);
    }
    int row = 0;
    int64_t column = 0;
    layout_transfer_cell(&(layout_transfer){LAYOUT_MOVEMENT_16X32BX2, 4, false, 100}, 17, 3, &row, &column);
    assert_int_equal(row, 1);
    assert_int_equal(column, 103);
    layout_error error = {NULL};
    layout_transfer_size size;
    assert_false(layout_transfer_measure(*state, &(layout_transfer){LAYOUT_MOVEMENT_16X64B, 3, false, 0},
                                         &size, &error));
    assert_false(layout_transfer_measure(*state, &(layout_transfer){LAYOUT_MOVEMENT_16X64B, 4, false, 8},
                                         &size, &error));
    assert_string_equal(error.text, "16x64b takes no column offset 8 of a second half");
    assert_null(
        layout_transfer_layout(*state, &(layout_transfer){LAYOUT_MOVEMENT_16X32BX2, 4, false, 100}, &error));
}

/* Warpgroup fragments: each warp has 16 (of 64) or 32 (of 128) rows, and the formulas of one instruction. */
static void atoms(void **state) {
    for (int movement = LAYOUT_MOVEMENT_16X64B; movement <= LAYOUT_MOVEMENT_16X256B; movement++)
        for (int n = 1; n <= 128; n *= 2)
            for (int64_t rows = 64; rows <= 128; rows += 64)
                for (unsigned bits = 16; bits <= 32; bits += 16) {
                    base_arena *arena = base_arena_create(base_arena_heap(*state));
                    layout_transfer t = {(layout_movement)movement, n, false, 0};
                    layout_transfer_size size;
                    int64_t slots = 32 / bits, position[LAYOUT_AXIS_COUNT];
                    if (!layout_transfer_measure(arena, &t, &size, NULL)) {
                        base_arena_destroy(arena);
                        continue;
                    }
                    int64_t shape[2] = {rows, size.columns * slots};
                    const layout_map *map = layout_map_make(
                        arena, layout_tcgen05_atom(arena, t.movement, rows, shape[1], bits, NULL), shape, 2,
                        NULL);
                    assert_non_null(map);
                    for (int lane = 0; lane < 32; lane++)
                        for (int r = 0; r < size.registers; r++)
                            for (int64_t k = 0; k < rows / 16 * slots; k++) {
                                int row = 0;
                                int64_t column = 0, slab = k / slots % (rows / 64),
                                        warp = k / slots / (rows / 64);
                                layout_transfer_cell(&t, lane, r, &row, &column);
                                int64_t at[2] = {row + 16 * slab + rows / 4 * warp,
                                                 column * slots + k % slots};
                                layout_map_at(map, at, position);
                                for (uint32_t s = 0; s < map->axis_count; s++)
                                    assert_int_equal(position[s],
                                                     map->axes[s] == LAYOUT_AXIS_LANEID ? lane
                                                     : map->axes[s] == LAYOUT_AXIS_M
                                                         ? (slab * size.registers + r) * slots + k % slots
                                                         : warp);
                            }
                    base_arena_destroy(arena);
                }
    layout_error error = {NULL};
    assert_null(layout_tcgen05_atom(*state, LAYOUT_MOVEMENT_32X32B, 64, 6, 32, &error));
    assert_null(layout_tcgen05_atom(*state, LAYOUT_MOVEMENT_32X32B, 32, 8, 32, &error));
    assert_string_equal(error.text, "32x32b moves fragments of 128 rows, not 32");
    assert_null(layout_tcgen05_atom(*state, LAYOUT_MOVEMENT_16X128B, 64, 12, 32, &error));
    assert_null(layout_tcgen05_atom(*state, LAYOUT_MOVEMENT_16X128B, 64, 8, 8, &error));
    assert_null(layout_tcgen05_atom(*state, LAYOUT_MOVEMENT_16X256B, 64, 512, 32, &error));
}

static void matrix_fragments(void **state) {
    base_arena *arena = *state;
    int64_t position[LAYOUT_AXIS_COUNT];
    /* every fragment fills 32 lanes and as many registers as the elements need, each once */
    for (uint32_t i = 0; layout_fragment_at(i) != NULL; i++) {
        const layout_fragment *f = layout_fragment_at(i);
        layout_collision collision;
        int64_t lanes = 0, slots = 0;
        const layout_tile *tile = layout_parse(arena, f->layout, strlen(f->layout), NULL, NULL);
        const layout_map *map = layout_map_make(arena, tile, f->shape, 2, NULL);
        assert_non_null(map);
        assert_int_equal(layout_injective(map, &collision), LAYOUT_YES);
        assert_true(layout_span(tile, LAYOUT_AXIS_LANEID, &lanes) &&
                    layout_span(tile, LAYOUT_AXIS_M, &slots));
        assert_int_equal(lanes, 32);
        assert_int_equal(lanes * slots, map->size);
        assert_true(layout_fragment_find(f->name, strlen(f->name)) == f);
    }
    for (int64_t n = 8; n <= 256; n += 8) {
        int64_t shape[2] = {64, n};
        const layout_map *map =
            layout_map_make(arena, layout_wgmma_accumulator(arena, n, NULL), shape, 2, NULL);
        for (int64_t r = 0; r < 64; r++)
            for (int64_t c = 0; c < n; c++) {
                layout_map_at(map, (int64_t[]){r, c}, position);
                for (uint32_t s = 0; s < map->axis_count; s++)
                    assert_int_equal(position[s], map->axes[s] == LAYOUT_AXIS_WID_IN_WG ? r / 16
                                                  : map->axes[s] == LAYOUT_AXIS_LANEID
                                                      ? 4 * (r % 8) + c % 8 / 2
                                                      : 4 * (c / 8) + 2 * (r / 8 % 2) + c % 2);
            }
    }
    for (int count = 1; count <= 4; count *= 2)
        for (int t = 0; t < 2; t++) {
            int64_t shape[2] = {8, 8 * count};
            const layout_map *map =
                layout_map_make(arena, layout_matrix_fragment(arena, count, t != 0, NULL), shape, 2, NULL);
            for (int64_t i = 0; i < 8; i++)
                for (int64_t j = 0; j < 8 * count; j++) {
                    int64_t a = t ? j % 8 : i, b = t ? i : j % 8; /* within its matrix */
                    layout_map_at(map, (int64_t[]){i, j}, position);
                    for (uint32_t s = 0; s < map->axis_count; s++)
                        assert_int_equal(position[s], map->axes[s] == LAYOUT_AXIS_LANEID
                                                          ? 4 * a + b / 2
                                                          : 2 * (j / 8) + b % 2);
                }
        }
    assert_null(layout_wgmma_accumulator(arena, 12, NULL));
    assert_null(layout_matrix_fragment(arena, 3, false, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(datapaths), UNIT_WITH_ARENA(operands),         UNIT_WITH_ARENA(scale_factors),
        UNIT_WITH_ARENA(copies),    UNIT_WITH_ARENA(movements),        UNIT_WITH_ARENA(measures),
        UNIT_WITH_ARENA(atoms),     UNIT_WITH_ARENA(matrix_fragments),
    };
    return cmocka_run_group_tests_name("layout_tmem", tests, NULL, NULL);
}
