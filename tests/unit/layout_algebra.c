/* SPDX-License-Identifier: Apache-2.0
 * Products, sums, slices, scopes and swizzles: laws on random layouts, the right value wherever the reference
 * implementation is known to slip (Q1 to Q10), and CuTe's notation.
 * covers: A12 A16 A22 A23 */
#include "unit/unit.h"
#include "layout/cute.h"
#include "layout/query.h"
#include "layout/shared.h"
#include "layout/tmem.h"
#include <string.h>

static uint32_t random_state = 88172645u;
static uint32_t below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

static const layout_tile *read(base_arena *arena, const char *text) {
    size_t consumed = 0;
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), &consumed, &error);
    if (layout == NULL || consumed != strlen(text))
        fail_msg("%s: %s", text, error.text);
    return layout;
}

static const char *print(base_arena *arena, const layout_tile *layout) {
    base_builder out;
    assert_non_null(layout);
    base_builder_start(&out, arena);
    layout_print(layout, &out);
    return out.data;
}

static void at(base_arena *arena, const layout_tile *layout, const int64_t *coordinate, uint32_t rank,
               const int64_t *shape, int64_t *position) {
    uint32_t axes = 0;
    assert_true(layout_apply(layout, coordinate, rank, shape, position, &axes, NULL, arena));
}

/* ---- slips of the reference ---- */
static void slips(void **state) {
    base_arena *arena = *state;
    layout_error error = {NULL};
    /* Q1: offsets that meet on one axis add */
    assert_string_equal(
        print(arena, layout_canonical_fused(
                         arena, read(arena, "S[(2,32):(1@wid_in_wg,1@laneid)]+1@wid_in_wg+5@laneid"), NULL)),
        "S[64:1@tid_in_wg]+37@tid_in_wg");
    /* Q2: only what counts elements scales, offsets included */
    assert_string_equal(
        print(arena,
              layout_unpack(arena, read(arena, "S[(8,4):(1@laneid,2)]+R[2:4@warpid]+6+3@warpid"), 2, NULL)),
        "S[(8,4,2):(1@laneid,4,1)]+R[2:4@warpid]+12+3@warpid");
    assert_string_equal(
        print(arena, layout_pack(arena, read(arena, "S[(8,4):(1@laneid,1)]+6+3@warpid"), 2, NULL)),
        "S[(8,2):(1@laneid,1)]+3+3@warpid");
    /* Q3: a slice that carries into a digit that is full is no layout */
    assert_null(layout_slice(arena, read(arena, "S[(2,2,4):(100,10,1)]"), (int64_t[]){16}, 1, (int64_t[]){6},
                             (int64_t[]){10}, &error));
    assert_non_null(strstr(error.text, "dimension 0: [6, 10)"));
    /* Q4: bounds of a dimension of one iter are checked */
    assert_null(layout_slice(arena, read(arena, "S[(8,8):(8,1)]"), (int64_t[]){8, 8}, 2, (int64_t[]){0, 4},
                             (int64_t[]){8, 9}, &error));
    assert_string_equal(error.text, "dimension 1: [4, 9) is not inside [0, 8)");
    assert_null(layout_slice(arena, read(arena, "S[(8,8):(8,1)]"), (int64_t[]){8, 8}, 2, (int64_t[]){3, 4},
                             (int64_t[]){3, 8}, &error));
    assert_string_equal(error.text, "dimension 0: [3, 3) is empty");
    /* Q5: bx numbers CTAs of the grid; the chain thread, CTA, grid ends */
    layout_scope narrow, wide;
    assert_true(layout_scopes(arena, read(arena, "S[(4,128):(1@bx,1@tx)]"), &narrow, &wide, &error));
    assert_int_equal(narrow, LAYOUT_SCOPE_THREAD);
    assert_int_equal(wide, LAYOUT_SCOPE_GRID);
    /* Q6: warps of warpgroups are warps of the CTA */
    assert_string_equal(
        print(arena, layout_canonical_fused(arena, read(arena, "S[(2,4):(1@wgid,1@wid_in_wg)]"), NULL)),
        "S[8:1@warpid]");
    /* Q7: an iter that does not split at a warp is said, not dropped */
    assert_null(layout_outer_of(arena, read(arena, "S[2:1@laneid]"), read(arena, "S[(5,2):(24@tx,1@tx)]"),
                                (int64_t[]){10}, (int64_t[]){2}, 1, true, &error));
    assert_string_equal(error.text, "the iter 5:24@tx does not divide at the warp");
    /* Q8: a pipeline stage steps over everything that the stage before fills */
    layout_collision collision;
    const int64_t stages[3] = {2, 128, 8}, narrow_stages[3] = {3, 32, 4};
    const layout_tile *factors = layout_tmem_scale_factors(arena, 128, 8, 1, 1, 2, &error);
    assert_int_equal(layout_injective(layout_map_make(arena, factors, stages, 3, NULL), &collision),
                     LAYOUT_YES);
    int64_t position[LAYOUT_AXIS_COUNT];
    at(arena, factors, (int64_t[]){1, 0, 0}, 3, stages, position);
    assert_int_equal(position[LAYOUT_AXIS_TCOL], 32);
    factors = layout_tmem_scale_factors(arena, 32, 4, 1, 1, 3, &error);
    at(arena, factors, (int64_t[]){2, 31, 3}, 3, narrow_stages, position);
    assert_int_equal(position[LAYOUT_AXIS_TLANE], 31);
    assert_int_equal(position[LAYOUT_AXIS_TCOL], 11);
    /* Q9, Q10: room by the highest address, padding included */
    int64_t footprint = 0;
    assert_true(layout_footprint(read(arena, "S[(3,4):(16,2)]"), LAYOUT_AXIS_M, &footprint));
    assert_int_equal(footprint, 39);
    assert_true(layout_footprint(read(arena, "Z(3,3,3)*S[(8,40):(64,1)]"), LAYOUT_AXIS_M, &footprint));
    assert_int_equal(footprint, 512);
}

static void scopes(void **state) {
    base_arena *arena = *state;
    layout_scope narrow, wide;
    layout_error error = {NULL};
    assert_false(layout_scopes(arena, read(arena, "S[(2,8):(1@wgid,1@laneid)]"), &narrow, &wide, &error));
    assert_string_equal(error.text,
                        "axis wgid numbers warpgroups, but the other thread axes end at the warp: "
                        "nothing says which warp of a warpgroup is meant");
    assert_false(layout_scopes(arena, read(arena, "S[(2,8):(1@tx,1@laneid)]"), &narrow, &wide, &error));
    assert_string_equal(error.text,
                        "axes tx and laneid both number threads, one within a cta, the other within a warp");
    assert_null(layout_canonical_fused(arena, read(arena, "S[(2,8):(1@tx,1@laneid)]"), &error));
    /* the same threads under two names */
    assert_true(
        layout_equal(arena, read(arena, "S[(4,32):(1@warpid,1@laneid)]"), read(arena, "S[128:1@tx]")));
    assert_false(
        layout_equal(arena, read(arena, "S[(4,32):(2@warpid,1@laneid)]"), read(arena, "S[128:1@tx]")));
    assert_false(layout_equal(arena, read(arena, "Z(3,3,3)*S[512:1]"), read(arena, "S[512:1]")));
    assert_false(layout_equal(arena, read(arena, "Z(3,3,3)*S[512:1]"), read(arena, "Z(3,2,3)*S[512:1]")));
    assert_true(layout_equal(arena, read(arena, "Z(3,3,3)"), read(arena, "Z(3,3,3)*S[(8,64):(64,1)]")));
}

static void swizzle_refusals(void **state) {
    static const char *const rows[][2] = {
        {"Z(3,3,2)*S[512:1]", "a swizzle of length 3 needs an atom length of at least 3, not 2"},
        {"Z(-1,3,3)*S[512:1]", "the per_element of a swizzle is a count of bits from 0 to 40, not -1"},
        {"Z(3,3,50)*S[512:1]", "the atom_len of a swizzle is a count of bits from 0 to 40, not 50"},
        {"Z(20,3,30)*S[512:1]", "the swizzle Z(20,3,30) spans 53 address bits; the limit is 40"},
        {"Z(3,3,3)*S[(8,64):(1@laneid,1)]", "shard iter 0 of its tile, 8:1@laneid, is on laneid"},
        {"Z(3,3,3)*S[8:1]+R[2:1@TCol]", "replica iter 0 of its tile, 2:1@TCol, is on TCol"},
        {"Z(3,3,3)*S[8:1]+4@TCol", "its tile has the offset 4 on TCol"},
        {"Z(3,3,3)*S[8:-1]", "its tile reaches down to -7 on m"},
        {"Z(3,3)*S[8:1]", "expected ','"},
        {"Z(3,3,3,up)*S[8:1]", "expected inner or outer"},
        {"Z(3,3,3)*Z(3,3,3)*S[8:1]", "expected 'S['"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        assert_null(layout_parse(*state, rows[i][0], strlen(rows[i][0]), NULL, &error));
        if (error.text == NULL || strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
    for (const char *const *text =
             (const char *const[]){"Z(3,2,3)*S[(8,64):(64,1)]+8", "Z(0,3,4,outer)*S[64:1]", NULL};
         *text != NULL; text++)
        assert_string_equal(print(*state, read(*state, *text)), *text);
}

/* ---- laws ---- */
static const layout_tile *random_tile(base_arena *arena, const int64_t *shape, uint32_t rank) {
    static const layout_axis axes[] = {LAYOUT_AXIS_M, LAYOUT_AXIS_M, LAYOUT_AXIS_TCOL, LAYOUT_AXIS_LANEID};
    static const int64_t strides[] = {1, 2, 3, 4, 5, 8, 12, 16, 64};
    layout_iter iters[16];
    uint32_t count = 0;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t rest = shape[d];
        while (rest > 1 && below(2) != 0) {
            int64_t factor = 1 + below((uint32_t)rest);
            while (rest % factor != 0)
                factor--;
            iters[count++] = (layout_iter){factor, strides[below(9)], axes[below(4)]};
            rest /= factor;
        }
        iters[count++] = (layout_iter){rest, strides[below(9)], axes[below(4)]};
    }
    int64_t offsets[LAYOUT_AXIS_COUNT] = {[LAYOUT_AXIS_M] = below(3)};
    const layout_tile *tile = layout_make(arena, iters, count, NULL, 0, offsets, below(2), NULL);
    assert_non_null(tile);
    return tile;
}

static void random_pair(int64_t *a, int64_t *b, int64_t *whole, uint32_t rank) {
    static const int64_t extents[] = {1, 2, 3, 4, 6};
    for (uint32_t d = 0; d < rank; d++) {
        a[d] = extents[below(5)];
        b[d] = extents[below(5)];
        whole[d] = a[d] * b[d];
    }
}

static void split_coordinate(int64_t flat, const int64_t *shape, uint32_t rank, int64_t *coordinate) {
    for (uint32_t d = rank; d-- > 0; flat /= shape[d])
        coordinate[d] = flat % shape[d];
}

/* T(o * I + i) = span * Outer(o) + Inner(i) per axis of the inner, and the outer operand comes back. */
static void products(void **state) {
    uint32_t back = 0;
    for (int round = 0; round < 400; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        int64_t a[2], b[2], whole[2], x[2], o[2], i[2], got[LAYOUT_AXIS_COUNT], p[LAYOUT_AXIS_COUNT],
            q[LAYOUT_AXIS_COUNT];
        random_pair(a, b, whole, 2);
        const layout_tile *outer = random_tile(arena, a, 2), *inner = random_tile(arena, b, 2);
        const layout_tile *t = layout_product(arena, inner, outer, a, b, 2, false, NULL);
        const layout_tile *canonical = layout_canonical(arena, inner);
        const layout_tile *plain = layout_canonical(arena, outer);
        assert_non_null(t);
        for (int64_t k = 0; k < whole[0] * whole[1]; k++) {
            split_coordinate(k, whole, 2, x);
            for (int d = 0; d < 2; d++) {
                o[d] = x[d] / b[d];
                i[d] = x[d] % b[d];
            }
            at(arena, t, x, 2, whole, got);
            at(arena, plain, o, 2, a, p);
            at(arena, canonical, i, 2, b, q);
            for (unsigned s = 0; s < LAYOUT_AXIS_COUNT; s++) {
                int64_t span = 1;
                bool there = false;
                for (uint32_t n = 0; n < canonical->shard_count; n++)
                    there = there || (unsigned)canonical->shard[n].axis == s;
                assert_true(!there || layout_span(canonical, (layout_axis)s, &span));
                assert_int_equal(got[s], span * (p[s] - outer->offset[s]) + outer->offset[s] + q[s]);
            }
        }
        layout_error error = {NULL};
        const layout_tile *again = layout_outer_of(arena, inner, t, whole, b, 2, false, &error);
        if (again != NULL) {
            const layout_tile *twice = layout_product(arena, inner, again, a, b, 2, false, NULL);
            assert_true(layout_equal(arena, twice, t));
            back++;
        }
        const layout_tile *rest = layout_inner_of(arena, outer, t, whole, a, 2, false, &error);
        if (rest != NULL)
            assert_true(layout_equal(arena, layout_product(arena, rest, outer, a, b, 2, false, NULL), t));
        base_arena_destroy(arena);
    }
    assert_true(back > 250);
}

static void sums(void **state) {
    uint32_t back = 0;
    for (int round = 0; round < 300; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        int64_t a[2], b[2], whole[2], x[2], l[2], r[2], pairs[4];
        int64_t got[LAYOUT_AXIS_COUNT], p[LAYOUT_AXIS_COUNT], q[LAYOUT_AXIS_COUNT];
        random_pair(a, b, whole, 2);
        const layout_tile *left = random_tile(arena, a, 2), *right = random_tile(arena, b, 2);
        const layout_tile *sum = layout_direct_sum(arena, left, right, a, b, 2, NULL);
        for (int64_t k = 0; k < whole[0] * whole[1]; k++) {
            split_coordinate(k, whole, 2, x);
            for (int d = 0; d < 2; d++) {
                l[d] = x[d] / b[d];
                r[d] = x[d] % b[d];
                pairs[2 * d] = a[d];
                pairs[2 * d + 1] = b[d];
            }
            at(arena, sum, x, 2, whole, got);
            at(arena, left, l, 2, a, p);
            at(arena, right, r, 2, b, q);
            for (unsigned s = 0; s < LAYOUT_AXIS_COUNT; s++)
                assert_int_equal(got[s], p[s] + q[s]);
        }
        const layout_tile *other = layout_addend_of(arena, right, sum, pairs, b, 2, true, NULL);
        const layout_tile *first = layout_addend_of(arena, left, sum, pairs, a, 2, false, NULL);
        if (other != NULL) {
            assert_true(layout_equal(arena, layout_direct_sum(arena, other, right, a, b, 2, NULL), sum));
            back++;
        }
        if (first != NULL)
            assert_true(layout_equal(arena, layout_direct_sum(arena, left, first, a, b, 2, NULL), sum));
        base_arena_destroy(arena);
    }
    assert_true(back > 200);
}

/* Slice, then apply, is apply at the offset; with and without a swizzle. Every box of every dimension. */
static void slices(void **state) {
    uint32_t made = 0, refused = 0;
    for (int round = 0; round < 250; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        int64_t a[2], b[2], whole[2], x[2], y[2], extent[2], p[LAYOUT_AXIS_COUNT], q[LAYOUT_AXIS_COUNT];
        random_pair(a, b, whole, 2);
        const layout_tile *tile = random_tile(arena, whole, 2);
        const layout_tile *swizzled =
            round % 2 ? layout_compose(arena, tile, (layout_swizzle){true, round % 4 == 1, 1, 2, 2}, NULL)
                      : NULL;
        tile = swizzled != NULL ? swizzled : tile;
        for (int box = 0; box < 12; box++) {
            int64_t begin[2], end[2];
            for (int d = 0; d < 2; d++) {
                begin[d] = below((uint32_t)whole[d]);
                end[d] = begin[d] + 1 + below((uint32_t)(whole[d] - begin[d]));
                extent[d] = end[d] - begin[d];
            }
            const layout_tile *slice = layout_slice(arena, tile, whole, 2, begin, end, NULL);
            if (slice == NULL) {
                refused++;
                continue;
            }
            made++;
            for (int64_t k = 0; k < extent[0] * extent[1]; k++) {
                split_coordinate(k, extent, 2, x);
                for (int d = 0; d < 2; d++)
                    y[d] = begin[d] + x[d];
                at(arena, slice, x, 2, extent, p);
                at(arena, tile, y, 2, whole, q);
                assert_memory_equal(p, q, sizeof p);
            }
        }
        base_arena_destroy(arena);
    }
    assert_true(made > 1500 && refused > 50);
}

static void packing(void **state) {
    for (int round = 0; round < 300; round++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        int64_t shape[2] = {1 + below(6), 1 + below(6)}, n = 1 << below(4);
        const layout_tile *tile = random_tile(arena, shape, 2);
        const layout_tile *swizzled =
            round % 3 == 0 ? layout_compose(arena, tile, (layout_swizzle){true, false, 2, 1, 2}, NULL) : NULL;
        tile = swizzled != NULL ? swizzled : tile;
        const layout_tile *wide = layout_unpack(arena, tile, n, NULL);
        assert_non_null(wide);
        const layout_tile *again = layout_pack(arena, wide, n, NULL);
        assert_non_null(again);
        assert_true(layout_equal(arena, tile, again));
        base_arena_destroy(arena);
    }
    layout_error error = {NULL};
    assert_null(layout_pack(*state, read(*state, "Z(1,3,3)*S[512:1]"), 4, &error));
    assert_string_equal(error.text,
                        "the swizzle keeps 2 elements together, fewer than the 4 to pack into one");
    assert_null(layout_unpack(*state, read(*state, "Z(1,3,3)*S[512:1]"), 3, &error));
    assert_non_null(strstr(error.text, "powers of two only, not by 3"));
}

static void refused_operations(void **state) {
    base_arena *arena = *state;
    layout_error error = {NULL};
    const layout_tile *row = read(arena, "S[(8,8):(8,1)]");
    const int64_t eight[2] = {8, 8}, nine[2] = {9, 8};
    assert_null(layout_product_to(arena, row, nine, eight, 2, &error));
    assert_string_equal(error.text, "dimension 0: 9 is no multiple of the tile's 8");
    assert_null(layout_product(arena, row, read(arena, "S[1099511627776:4194304]"),
                               (int64_t[]){INT64_C(1) << 40, 1}, eight, 2, false, &error));
    assert_non_null(strstr(error.text, "do not fit in 64 bits: shard iter 0 is 1099511627776:268435456@m"));
    assert_null(layout_outer_of(arena, row, row, nine, eight, 2, false, &error));
    assert_string_equal(error.text, "dimension 0: 9 is no multiple of 8");
    assert_null(layout_product(arena, row, read(arena, "Z(3,3,3)*S[64:1]"), eight, eight, 2, false, &error));
    assert_null(layout_broadcast(arena, row, 4, 3, LAYOUT_AXIS_M, &error));
    assert_string_equal(error.text, "iter 3 is behind the 2 iters of the layout");
    assert_string_equal(print(arena, layout_broadcast(arena, row, 4, 1, LAYOUT_AXIS_M, &error)),
                        "S[(8,4,8):(8,0,1)]");
    const int64_t *shapes[2] = {(int64_t[]){3, 4}, (int64_t[]){2, 6}};
    uint32_t ranks[2] = {2, 2}, *separators[2];
    assert_null(layout_group_many(arena, read(arena, "S[12:1]"), 2, shapes, ranks, separators, &error));
    assert_string_equal(error.text, "the shapes have no common refinement: one has a boundary at 2 elements, "
                                    "another at 3, and neither divides the other");
}

/* ---- shared operand tiles: every width, mode and the choice ---- */
static void operand_tiles(void **state) {
    base_arena *arena = *state;
    static const unsigned widths[] = {4, 8, 16, 32, 64};
    for (unsigned w = 0; w < 5; w++)
        for (unsigned mode = 1; mode <= 3; mode++) {
            unsigned bits = widths[w];
            int64_t columns = 128 * (1 << mode) / bits, together = 128 / bits;
            int64_t shape[3] = {2, 24, 3 * columns}, x[3], got[LAYOUT_AXIS_COUNT];
            const layout_tile *tile = layout_mma_shared(arena, (layout_mode)mode, bits, shape, 3, NULL);
            assert_non_null(tile);
            for (int64_t k = 0; k < 2 * 24 * 3 * columns; k++) {
                split_coordinate(k, shape, 3, x);
                at(arena, tile, x, 3, shape, got);
                /* 16-byte chunks of a row move by the row's place in the atom */
                int64_t chunk = x[2] % columns / together ^ (x[1] % 8) >> (3 - mode);
                assert_int_equal(got[LAYOUT_AXIS_M], x[0] * 24 * 3 * columns + x[2] / columns * 24 * columns +
                                                         x[1] * columns + chunk * together + x[2] % together);
            }
        }
    static const struct {
        unsigned bits;
        int64_t columns;
        layout_mode mode;
    } choices[] = {{16, 64, LAYOUT_MODE_128B}, {16, 32, LAYOUT_MODE_64B}, {16, 16, LAYOUT_MODE_32B},
                   {16, 8, LAYOUT_MODE_NONE},  {16, 96, LAYOUT_MODE_64B}, {16, 80, LAYOUT_MODE_32B},
                   {8, 128, LAYOUT_MODE_128B}, {8, 64, LAYOUT_MODE_64B},  {32, 32, LAYOUT_MODE_128B},
                   {4, 256, LAYOUT_MODE_128B}, {4, 64, LAYOUT_MODE_32B},  {64, 8, LAYOUT_MODE_64B}};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        layout_mode mode = LAYOUT_MODE_AUTO;
        int64_t shape[2] = {128, choices[i].columns};
        assert_true(layout_mma_choose(arena, LAYOUT_MODE_AUTO, choices[i].bits, shape, 2, &mode, NULL));
        assert_int_equal(mode, choices[i].mode);
    }
    assert_int_equal(layout_mma_alignment(LAYOUT_MODE_128B), 1024);
    assert_int_equal(layout_mma_alignment(LAYOUT_MODE_32B), 256);
}

/* Case B15: the message names the row bytes, the rule of 8, or the rank. */
static void case_B15(void **state) {
    static const struct {
        layout_mode mode;
        unsigned bits;
        uint32_t rank;
        int64_t shape[2];
        const char *text;
    } rows[] = {
        {LAYOUT_MODE_128B,
         16,
         2,
         {128, 32},
         "a row of 32 elements of 16 bits is 64 bytes, but the 128B swizzle "
         "needs a multiple of 128 bytes (64 elements); the widest mode that "
         "fits is 64B"},
        {LAYOUT_MODE_128B, 16, 2, {12, 64}, "dimension 0 has 12 rows, but a swizzle atom has 8"},
        {LAYOUT_MODE_128B,
         16,
         1,
         {128, 0},
         "a matrix operand tile needs at least 2 dimensions (rows, columns), not 1"},
        {LAYOUT_MODE_32B, 16, 2, {8, 12}, "no swizzle's atom divides this row"},
        {LAYOUT_MODE_AUTO, 6, 2, {8, 64}, "there is no matrix operand tile of 6-bit elements"},
        {LAYOUT_MODE_AUTO, 16, 2, {-8, 64}, "extent -8 of dimension 0 is not positive"},
        {LAYOUT_MODE_AUTO, 16, 2, {INT64_C(1) << 60, 64}, "does not fit in 64 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        assert_null(
            layout_mma_shared(*state, rows[i].mode, rows[i].bits, rows[i].shape, rows[i].rank, &error));
        if (error.text == NULL || strstr(error.text, rows[i].text) == NULL)
            fail_msg("row %zu: %s", i, error.text);
    }
}

/* ---- CuTe ---- */
static layout_cute cute_of(base_arena *arena, const char *text) {
    layout_cute cute;
    layout_error error = {NULL};
    if (!layout_cute_read(arena, text, strlen(text), &cute, &error))
        fail_msg("%s: %s", text, error.text);
    return cute;
}

static const char *cute_text(base_arena *arena, const layout_cute *cute) {
    base_builder out;
    base_builder_start(&out, arena);
    layout_cute_print(cute, &out);
    return out.data;
}

static void cute_notation(void **state) {
    static const struct {
        const char *cute, *tile, *again;
    } rows[] = {
        {"(8,8):(8,1)", "S[(8,8):(8,1)]", "(8,8):(8,1)"},
        {"(4,8):(1,4)", "S[(4,8):(1,4)]", "(4,8):(1,4)"},
        {"((2,4),8):((1,16),2)", "S[(4,2,8):(16,1,2)]", "((2,4),8):((1,16),2)"},
        {"((_2,_4),_8):((_1,_16),_2)", "S[(4,2,8):(16,1,2)]", "((2,4),8):((1,16),2)"},
        {"(4,8)", "S[(4,8):(1,4)]", "(4,8):(1,4)"},
        {"16:2", "S[16:2]", "16:2"},
        {"((2,(3,4)),5):((1,(2,6)),24)", "S[(4,3,2,5):(6,2,1,24)]", "(24,5):(1,24)"},
        {"Sw<3,3,3> o 0 o (8,64):(64,1)", "Z(3,3,3)*S[(8,64):(64,1)]", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
        {"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "Z(3,3,3)*S[(8,64):(64,1)]",
         "Sw<3,3,3> o 0 o (8,64):(64,1)"},
        {"Sw<2,0,-3> o 5 o (8,8):(8,1)", "Z(0,2,3,outer)*S[(8,8):(8,1)]+5", "Sw<2,0,-3> o 5 o (8,8):(8,1)"},
        {"Sw<0,4,3> o 64 o (4,8):(8,1)", "S[(4,8):(8,1)]+64", "Sw<0,4,3> o 64 o (4,8):(8,1)"},
    };
    base_arena *arena = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t shape[LAYOUT_CUTE_RANK], x[LAYOUT_CUTE_RANK], got[LAYOUT_AXIS_COUNT];
        layout_cute cute = cute_of(arena, rows[i].cute), again;
        const layout_tile *tile = layout_cute_tile(arena, &cute, shape, NULL);
        assert_string_equal(print(arena, tile), rows[i].tile);
        const layout_map *map = layout_map_make(arena, tile, shape, cute.rank, NULL);
        assert_non_null(map);
        assert_true(layout_cute_from(arena, map, &again, NULL));
        assert_string_equal(cute_text(arena, &again), rows[i].again);
        /* one coordinate, one address: CuTe numbers elements with the first mode fastest */
        for (int64_t k = 0; k < map->size; k++) {
            int64_t rest = k;
            for (uint32_t d = 0; d < cute.rank; rest /= shape[d++])
                x[d] = rest % shape[d];
            at(arena, tile, x, cute.rank, shape, got);
            assert_int_equal(got[LAYOUT_AXIS_M], layout_cute_at(&cute, k));
            assert_int_equal(got[LAYOUT_AXIS_M], layout_cute_at(&again, k));
        }
    }
}

static void cute_refusals(void **state) {
    static const char *const rows[][2] = {
        {"(8,8):(8)", "the strides do not nest as the shape does"},
        {"((2,4),8):(1,2)", "the strides do not nest as the shape does"},
        {"(8,0):(1,8)", "extent 0 of mode 1 of the CuTe layout is not positive"},
        {"(8,8):(1@0,1@1)", "a stride on a basis (@) is a coordinate"},
        {"(8,", "expected a number"},
        {"(8,8", "expected ',' or ')'"},
        {"8:1)", "expected the end"},
        {"Sw<3,3> o 0 o 8:1", "expected Sw<bits,base,shift>"},
        {"(9223372036854775807,2):(1,1)", "does not fit in 64 bits"},
        {"99999999999999999999:1", "does not fit in 64 bits"},
        {"((((((((((((((((((((((((((((((((((8))))))))))))))))))))))))))))))))))", "nests deeper than 32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_cute cute;
        layout_error error = {NULL};
        assert_false(layout_cute_read(*state, rows[i][0], strlen(rows[i][0]), &cute, &error));
        if (error.text == NULL || strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
    static const char *const unsayable[][2] = {{"S[(8,4):(1@laneid,1)]", "this layout has the axis laneid"},
                                               {"S[32:1]+R[2:32]", "this layout has 1 replica iters"}};
    for (size_t i = 0; i < 2; i++) {
        layout_cute cute;
        layout_error error = {NULL};
        const layout_map *map =
            layout_map_make(*state, read(*state, unsayable[i][0]), (int64_t[]){8, 4}, 2, NULL);
        assert_false(layout_cute_from(*state, map, &cute, &error));
        assert_non_null(strstr(error.text, unsayable[i][1]));
    }
}

/* A map that no layout says is refused, with the mode and the numbers. */
static void case_A01(void **state) {
    base_arena *arena = *state;
    layout_cute result, a = cute_of(arena, "(4,6,8):(2,3,5)"), b = cute_of(arena, "6:3");
    layout_error error = {NULL};
    static const int64_t want[] = {0, 6, 7, 8, 9, 15};
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(layout_cute_at(&a, layout_cute_at(&b, i)), want[i]);
    assert_false(layout_cute_compose(arena, &a, &b, &result, &error));
    assert_string_equal(error.text,
                        "no layout says it: the mode 6:3 of the right side does not divide into the "
                        "extent 4 of the left side's mode 4:2");
}

/* The left side is one run of six: the right side comes out as it went in. */
static void case_A04(void **state) {
    base_arena *arena = *state;
    layout_cute result, a = cute_of(arena, "(2,3):(1,2)"), b = cute_of(arena, "(2,3):(3,1)");
    layout_error error = {NULL};
    assert_true(layout_cute_compose(arena, &a, &b, &result, &error));
    assert_string_equal(cute_text(arena, &result), "(2,3):(3,1)");
    for (int64_t i = 0; i < 6; i++)
        assert_int_equal(layout_cute_at(&result, i), layout_cute_at(&b, i));
}

/* No mode of extent 1 is printed. */
static void case_A05(void **state) {
    base_arena *arena = *state;
    layout_cute result, a = cute_of(arena, "4:2");
    layout_error error = {NULL};
    assert_true(layout_cute_complement(arena, &a, 8, &result, &error));
    assert_string_equal(cute_text(arena, &result), "2:1");
}

/* Many elements on one place: said with two of them, never an internal error. */
static void case_A13(void **state) {
    static const struct {
        const char *layout;
        int64_t shape[2], first, second, place;
    } rows[] = {{"S[8:0]", {8, 1}, 0, 1, 0}, {"S[(4,2):(1,1)]", {4, 2}, 1, 2, 1}};
    for (int i = 0; i < 2; i++) {
        layout_collision c;
        const layout_map *map = layout_map_make(*state, read(*state, rows[i].layout), rows[i].shape, 2, NULL);
        assert_int_equal(layout_injective(map, &c), LAYOUT_NO);
        assert_true(c.first == rows[i].first && c.second == rows[i].second);
        assert_int_equal(c.position[LAYOUT_AXIS_M], rows[i].place);
    }
}

/* One access, four layouts of a (4, 8) tensor. */
static void case_A22(void **state) {
    static const char *const layouts[] = {"S[(4,8):(8,1)]", "S[(4,8):(1,4)]", "S[(4,8):(8,1)]+64",
                                          "S[(4,8):(16,1)]"};
    const int64_t shape[2] = {4, 8};
    int64_t got[LAYOUT_AXIS_COUNT];
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 8; j++) {
            const int64_t want[] = {i * 8 + j, j * 4 + i, i * 8 + j + 64, i * 16 + j};
            for (int k = 0; k < 4; k++) {
                at(*state, read(*state, layouts[k]), (int64_t[]){i, j}, 2, shape, got);
                assert_int_equal(got[LAYOUT_AXIS_M], want[k]);
            }
        }
}

static void cute_laws(void **state) {
    base_arena *arena = *state;
    layout_cute result, a = cute_of(arena, "(4,2):(1,16)"), b;
    layout_error error = {NULL};
    assert_true(layout_cute_complement(arena, &a, 64, &result, &error));
    assert_string_equal(cute_text(arena, &result), "(4,2):(4,32)");
    a = cute_of(arena, "(4,2):(1,3)");
    assert_false(layout_cute_complement(arena, &a, 64, &result, &error));
    a = cute_of(arena, "(8,16):(16,1)");
    b = cute_of(arena, "(4,8):(8,1)");
    assert_true(layout_cute_compose(arena, &a, &b, &result, &error));
    for (int64_t i = 0; i < 32; i++)
        assert_int_equal(layout_cute_at(&result, i), layout_cute_at(&a, layout_cute_at(&b, i)));
    /* random ones: whatever is not refused is right (checked inside, and again here) */
    uint32_t made = 0;
    for (int round = 0; round < 2000; round++) {
        static const int64_t extents[] = {2, 3, 4, 6, 8}, strides[] = {1, 2, 3, 4, 6, 8, 12};
        layout_cute x = {.rank = 2, .at = {0, 1, 2}}, y = x;
        for (int k = 0; k < 2; k++) {
            x.extents[k] = extents[below(5)];
            x.strides[k] = strides[below(7)];
            y.extents[k] = extents[below(5)];
            y.strides[k] = strides[below(7)];
        }
        if (!layout_cute_compose(arena, &x, &y, &result, &error))
            continue;
        made++;
        assert_int_equal(layout_cute_size(&result), layout_cute_size(&y));
        for (int64_t i = 0; i < layout_cute_size(&y); i++)
            assert_int_equal(layout_cute_at(&result, i), layout_cute_at(&x, layout_cute_at(&y, i)));
    }
    assert_true(made > 300 && made < 1900);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(slips),
        UNIT_WITH_ARENA(scopes),
        UNIT_WITH_ARENA(swizzle_refusals),
        UNIT_WITH_ARENA(products),
        UNIT_WITH_ARENA(sums),
        UNIT_WITH_ARENA(slices),
        UNIT_WITH_ARENA(packing),
        UNIT_WITH_ARENA(refused_operations),
        UNIT_WITH_ARENA(operand_tiles),
        UNIT_WITH_ARENA(case_B15),
        UNIT_WITH_ARENA(cute_notation),
        UNIT_WITH_ARENA(cute_refusals),
        UNIT_WITH_ARENA(case_A01),
        UNIT_WITH_ARENA(case_A04),
        UNIT_WITH_ARENA(case_A05),
        UNIT_WITH_ARENA(case_A13),
        UNIT_WITH_ARENA(case_A22),
        UNIT_WITH_ARENA(cute_laws),
    };
    return cmocka_run_group_tests_name("layout_algebra", tests, NULL, NULL);
}
