/* SPDX-License-Identifier: Apache-2.0
 * Laws of the layout algebra on random layouts, checked on every element against a model that counts up the
 * coordinates one by one; and what the operations refuse.
 * covers: A12 A23 */
#include "unit/unit.h"
#include "layout/layout.h"
#include <string.h>

static uint32_t random_state = 2463534242u;
static uint32_t below(uint32_t limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

static const layout_tile *random_layout(base_arena *arena) {
    static const int64_t extents[] = {1, 2, 2, 3, 4, 4, 6, 8},
                         strides[] = {0, 1, 2, 3, 4, 8, 16, -1, -5, 100};
    static const layout_axis axes[] = {LAYOUT_AXIS_M, LAYOUT_AXIS_M, LAYOUT_AXIS_LANEID, LAYOUT_AXIS_TCOL};
    layout_iter shard[5], replica[2];
    uint32_t count = below(5) + 1, copies = below(3);
    int64_t offsets[LAYOUT_AXIS_COUNT] = {0};
    uint32_t offset_axes = 0;
    for (uint32_t i = 0; i < count; i++)
        shard[i] = (layout_iter){extents[below(8)], strides[below(10)], axes[below(4)]};
    for (uint32_t i = 0; i < copies; i++)
        replica[i] = (layout_iter){extents[below(8)], strides[below(10)], axes[below(4)]};
    for (uint32_t i = below(3); i > 0; i--) {
        layout_axis axis = axes[below(4)];
        offsets[axis] = (int64_t)below(40) - 8;
        offset_axes |= 1u << axis;
    }
    layout_error error = {NULL};
    const layout_tile *layout =
        layout_make(arena, shard, count, replica, copies, offsets, offset_axes, &error);
    assert_non_null(layout);
    return layout;
}

static int64_t size_of(const layout_tile *layout) {
    int64_t size = 0;
    assert_true(layout_size(layout, &size));
    return size;
}

/* A shape with this many elements. */
static uint32_t random_shape(int64_t size, int64_t *shape) {
    uint32_t rank = 0;
    while (size > 1 && rank < 4) {
        int64_t factor = 1 + below((uint32_t)size);
        while (size % factor != 0)
            factor--;
        shape[rank++] = factor;
        size /= factor;
    }
    shape[rank++] = size;
    return rank;
}

/* The model: counts through the digits of the iters; positions of element `flat` in row-major order. */
static void model_position(const layout_tile *layout, int64_t flat, int64_t *position) {
    int64_t digits[64] = {0};
    for (; flat > 0; flat--)
        for (uint32_t i = layout->shard_count; i-- > 0;) {
            if (++digits[i] < layout->shard[i].extent)
                break;
            digits[i] = 0;
        }
    memcpy(position, layout->offset, sizeof layout->offset);
    for (uint32_t i = 0; i < layout->shard_count; i++)
        position[layout->shard[i].axis] += digits[i] * layout->shard[i].stride;
}

static void check_position(base_arena *arena, const layout_tile *layout, const int64_t *coordinate,
                           uint32_t rank, const int64_t *shape, const int64_t *want) {
    int64_t got[LAYOUT_AXIS_COUNT];
    uint32_t axes = 0;
    assert_true(layout_apply(layout, coordinate, rank, shape, got, &axes, NULL, arena));
    if (memcmp(got, want, sizeof got) != 0) {
        base_builder out;
        base_builder_start(&out, arena);
        layout_print(layout, &out);
        fail_msg("wrong position of %s", out.data);
    }
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        assert_true(got[a] == 0 || (axes >> a & 1));
}

static void next_coordinate(int64_t *coordinate, const int64_t *shape, uint32_t rank) {
    for (uint32_t d = rank; d-- > 0;) {
        if (++coordinate[d] < shape[d])
            return;
        coordinate[d] = 0;
    }
}

static void functions_agree(void **state) {
    base_arena *arena = *state;
    for (int round = 0; round < 150; round++) {
        const layout_tile *layout = random_layout(arena), *canonical = layout_canonical(arena, layout);
        int64_t shape[5], coordinate[5] = {0}, want[LAYOUT_AXIS_COUNT];
        uint32_t rank = random_shape(size_of(layout), shape), separators[6];
        const layout_tile *grouped = layout_group(arena, layout, shape, rank, separators, NULL);
        int64_t highest[LAYOUT_AXIS_COUNT];
        for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
            highest[a] = layout->offset[a];
        int64_t size = size_of(layout);
        assert_true(size_of(canonical) == size);
        for (int64_t flat = 0; flat < size; flat++) {
            model_position(layout, flat, want);
            check_position(arena, layout, &flat, 1, NULL, want);
            check_position(arena, canonical, &flat, 1, NULL, want);
            check_position(arena, layout, coordinate, rank, shape, want);
            if (grouped != NULL)
                check_position(arena, grouped, coordinate, rank, shape, want);
            for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
                highest[a] = want[a] > highest[a] ? want[a] : highest[a];
            next_coordinate(coordinate, shape, rank);
        }
        for (uint32_t d = 0; grouped != NULL && d < rank; d++) {
            int64_t product = 1;
            for (uint32_t i = separators[d]; i < separators[d + 1]; i++)
                product *= grouped->shard[i].extent;
            assert_true(product == shape[d]);
        }
        /* The span is one past the highest position of any copy. */
        for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++) {
            int64_t span = 0;
            for (uint32_t i = 0; i < layout->replica_count; i++)
                if (layout->replica[i].axis == a && layout->replica[i].stride > 0)
                    highest[a] += (layout->replica[i].extent - 1) * layout->replica[i].stride;
            assert_true(layout_span(layout, (layout_axis)a, &span));
            assert_int_equal(span, highest[a] + 1);
        }
    }
}

static void canonical_is_one_form(void **state) {
    base_arena *arena = *state;
    for (int round = 0; round < 300; round++) {
        const layout_tile *layout = random_layout(arena), *canonical = layout_canonical(arena, layout);
        /* Cut every iter in two, add unit iters and a zero offset, and turn the replicas around. */
        layout_iter shard[32], replica[2];
        uint32_t count = 0;
        for (uint32_t i = 0; i < layout->shard_count; i++) {
            layout_iter iter = layout->shard[i];
            shard[count++] = (layout_iter){1, below(100), LAYOUT_AXIS_TLANE};
            int64_t inner = 1 + below((uint32_t)iter.extent);
            while (iter.extent % inner != 0)
                inner--;
            shard[count++] = (layout_iter){iter.extent / inner, iter.stride * inner, iter.axis};
            shard[count++] = (layout_iter){inner, iter.stride, iter.axis};
        }
        for (uint32_t i = 0; i < layout->replica_count; i++)
            replica[layout->replica_count - 1 - i] = layout->replica[i];
        const layout_tile *other =
            layout_make(arena, size_of(layout) == 1 ? layout->shard : shard,
                        size_of(layout) == 1 ? layout->shard_count : count, replica, layout->replica_count,
                        layout->offset, layout->offset_axes | 1u << LAYOUT_AXIS_BX, NULL);
        assert_non_null(other);
        assert_true(layout_equal(arena, layout, other));
        assert_true(layout_equal(arena, canonical, layout));
        base_builder once, twice;
        base_builder_start(&once, arena);
        base_builder_start(&twice, arena);
        layout_print(canonical, &once);
        layout_print(layout_canonical(arena, canonical), &twice);
        assert_string_equal(once.data, twice.data);
        /* A changed stride of an iter that counts is another layout. */
        layout_iter changed[8];
        memcpy(changed, canonical->shard, sizeof changed[0] * canonical->shard_count);
        if (size_of(layout) > 1) {
            changed[0].stride += 1000000;
            other = layout_make(arena, changed, canonical->shard_count, canonical->replica,
                                canonical->replica_count, canonical->offset, canonical->offset_axes, NULL);
            assert_false(layout_equal(arena, layout, other));
        }
    }
}

static void permuted(void **state) {
    base_arena *arena = *state;
    int done = 0;
    for (int round = 0; round < 400; round++) {
        const layout_tile *layout = random_layout(arena);
        int64_t shape[5], new_shape[5], coordinate[5] = {0}, moved[5], want[LAYOUT_AXIS_COUNT];
        uint32_t rank = random_shape(size_of(layout), shape), order[5] = {0, 1, 2, 3, 4}, axes = 0;
        for (uint32_t d = rank; d > 1; d--) {
            uint32_t pick = below(d), kept = order[d - 1];
            order[d - 1] = order[pick];
            order[pick] = kept;
        }
        const layout_tile *turned = layout_permute(arena, layout, shape, rank, order, NULL);
        if (turned == NULL)
            continue;
        done++;
        for (uint32_t d = 0; d < rank; d++)
            new_shape[d] = shape[order[d]];
        for (int64_t flat = 0; flat < size_of(layout); flat++) {
            for (uint32_t d = 0; d < rank; d++)
                moved[d] = coordinate[order[d]];
            assert_true(layout_apply(layout, coordinate, rank, shape, want, &axes, NULL, arena));
            check_position(arena, turned, moved, rank, new_shape, want);
            next_coordinate(coordinate, shape, rank);
        }
    }
    assert_true(done > 100);
}

static const layout_tile *read(base_arena *arena, const char *text) {
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
    if (layout == NULL)
        fail_msg("%s: %s", text, error.text);
    return layout;
}

static void prints_as(base_arena *arena, const layout_tile *layout, const char *want) {
    base_builder out;
    base_builder_start(&out, arena);
    assert_non_null(layout);
    layout_print(layout, &out);
    assert_string_equal(out.data, want);
}

/* Element i's part k lies at n times its element-counting position, plus k. */
static void widths(void **state) {
    base_arena *arena = *state;
    static const layout_axis counting[] = {LAYOUT_AXIS_M, LAYOUT_AXIS_TCOL};
    for (int round = 0; round < 60; round++) {
        const layout_tile *layout = random_layout(arena);
        int64_t n = (int64_t[]){1, 2, 3, 4, 8}[below(5)];
        const layout_tile *narrow = layout_unpack(arena, layout, n, NULL);
        assert_non_null(narrow);
        layout_axis side = narrow->shard[narrow->shard_count - 1].axis;
        assert_true(side == LAYOUT_AXIS_M || side == LAYOUT_AXIS_TCOL);
        for (int64_t part = 0; part < size_of(narrow); part++) {
            int64_t want[LAYOUT_AXIS_COUNT];
            model_position(layout, part / n, want);
            for (size_t a = 0; a < 2; a++)
                want[counting[a]] *= n;
            want[side] += part % n;
            check_position(arena, narrow, &part, 1, NULL, want);
        }
        const layout_tile *back = layout_pack(arena, narrow, n, NULL);
        assert_non_null(back);
        assert_true(layout_equal(arena, back, layout) || size_of(layout) == 1);
    }
    prints_as(arena,
              layout_unpack(arena, read(arena, "S[(128,64):(1@TLane,1@TCol)]+3@TLane+8@TCol"), 2, NULL),
              "S[(128,64,2):(1@TLane,2@TCol,1@TCol)]+3@TLane+16@TCol");
    prints_as(arena, layout_pack(arena, read(arena, "S[(4,8,16):(1@laneid,32,1)]+64"), 4, NULL),
              "S[(4,8,4):(1@laneid,8,1)]+16");
    layout_error error = {NULL};
    static const char *const not_packed[] = {"S[(4,6):(8,1)]", "S[(4,8):(8,2)]", "S[(4,8):(9,1)]",
                                             "S[8:1]+2",       "S[8:1@laneid]",  "S[]",
                                             "S[8:1]+R[2:2]"};
    for (size_t i = 0; i < sizeof not_packed / sizeof not_packed[0]; i++) {
        error.text = NULL;
        assert_null(layout_pack(arena, read(arena, not_packed[i]), 4, &error));
        assert_non_null(error.text);
    }
    assert_null(layout_unpack(arena, read(arena, "S[8:1]"), 0, &error));
    assert_null(layout_pack(arena, read(arena, "S[8:1]"), -1, &error));
    assert_null(layout_unpack(arena, read(arena, "S[8:1000000000000]"), 1LL << 40, &error));
}

static void storage(void **state) {
    prints_as(*state, layout_storage(*state, read(*state, "S[(8,4,2):(4@laneid,1@laneid,1)]")), "S[2:1]");
    prints_as(*state,
              layout_storage(
                  *state, read(*state, "S[(2,8,4):(1@TLane,4@laneid,1)]+R[(2,4):(1@tx,32@TLane)]+5+6@wgid")),
              "S[(2,4):(1@TLane,1)]+R[4:32@TLane]+5");
    assert_true(layout_has_thread_axis(read(*state, "S[(8,2):(1@laneid,1)]")));
    assert_true(layout_has_thread_axis(read(*state, "S[8:1]+R[2:1@tx]")));
    assert_true(layout_has_thread_axis(read(*state, "S[8:1]+0@bx")));
    assert_false(layout_has_thread_axis(read(*state, "S[(8,8):(1@TLane,1@TCol)]+R[2:1@P]+3")));
}

static void text_reads_back(void **state) {
    base_arena *arena = *state;
    for (int round = 0; round < 300; round++) {
        const layout_tile *layout = random_layout(arena);
        base_builder out, again;
        base_builder_start(&out, arena);
        layout_print(layout, &out);
        base_builder_string(&out, " , more");
        size_t consumed = 0;
        const layout_tile *back = layout_parse(arena, out.data, out.size, &consumed, NULL);
        assert_non_null(back);
        assert_int_equal(consumed, out.size - 7);
        base_builder_start(&again, arena);
        layout_print(back, &again);
        assert_memory_equal(again.data, out.data, consumed);
        assert_int_equal(again.size, consumed);
    }
    prints_as(arena, read(arena, "S[ (8, 8,) : (laneid, 2@m) ] - 3 + -4@TCol + 10"),
              "S[(8,8):(1@laneid,2)]+7+-4@TCol");
    prints_as(arena, read(arena, "S[4,8]"), "S[(4,8):(8,1)]");
    prints_as(arena, read(arena, "S[(4,8)]+R[2:4@warpid]"), "S[(4,8):(8,1)]+R[2:4@warpid]");
    prints_as(arena, read(arena, "S[]"), "S[]");
    prints_as(arena, read(arena, "S[2:-9223372036854775808]+0"), "S[2:-9223372036854775808]+0");
}

static void text_refused(void **state) {
    static const char *const rows[][2] = {
        {"", "expected 'S['"},
        {"R[2:1]", "expected 'S['"},
        {"S", "expected '['"},
        {"S[", "expected a number"},
        {"S[8", "expected ',', ':' or ']'"},
        {"S[8:", "expected a number"},
        {"S[(8,8:(1,1)]", "expected ',' or ')'"},
        {"S[(8,8):(1)]", "2 extents but 1 strides"},
        {"S[8:1@]", "expected the name of an axis"},
        {"S[8:1@lane]", "'lane' is no axis"},
        {"S[8:1]+", "expected R[...] or an offset"},
        {"S[8:1]+S[4:1]", "expected R[...] or an offset"},
        {"S[8:1]+R[2:1]+R[2:1]", "a second R"},
        {"S[0:1]", "extent 0 of shard 0 is not positive"},
        {"S[-8:1]", "extent -8 of shard 0 is not positive"},
        {"S[8:1]+R[0:1]", "extent 0 of replica 0"},
        {"S[99999999999999999999:1]", "does not fit in 64 bits"},
        {"S[(4294967296,4294967296):(1,1)]", "shard extents does not fit"},
        {"S[4294967296,4294967296]", "does not fit in 64 bits"},
        {"S[4294967296:4294967296]", "positions that the layout reaches"},
        {"S[(2,2):(9223372036854775807,1)]", "positions that the layout reaches"},
        {"S[8:1]+9223372036854775807", "positions that the layout reaches"},
        {"S[1:1]+9223372036854775807", "positions that the layout reaches"},
        {"S[8:1]+9223372036854775807+1", "the offset on m does not fit"},
        {"S[8:1]--9223372036854775808", "the offset on m does not fit"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        assert_null(layout_parse(*state, rows[i][0], strlen(rows[i][0]), NULL, &error));
        if (strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
    /* Every piece of a text, and every byte of it changed: an answer, never a crash. */
    static const char whole[] = "S[(8,2,4):(4@laneid,1,-3@TCol)]+R[2:4@warpid]+5@warpid-7";
    for (size_t size = 0; size < sizeof whole; size++) {
        layout_error error = {NULL};
        const layout_tile *layout = layout_parse(*state, whole, size, NULL, &error);
        assert_true((layout == NULL) == (error.text != NULL));
        for (int byte = 0; byte < 256; byte += 3) {
            char changed[sizeof whole];
            memcpy(changed, whole, sizeof whole);
            changed[size] = (char)byte;
            layout_parse(*state, changed, sizeof whole, NULL, &error);
        }
    }
}

static void refused(void **state) {
    base_arena *arena = *state;
    layout_error error = {NULL};
    int64_t position[LAYOUT_AXIS_COUNT], far[] = {INT64_MAX, 3}, shape[] = {8, 0};
    uint32_t axes = 0, separators[4], order[] = {0, 0}, out[] = {0, 2};
    assert_null(layout_row_major(arena, shape, 2, &error));
    assert_string_equal(error.text, "extent 0 of dimension 1 is not positive");
    assert_null(layout_row_major(arena, (int64_t[]){1LL << 40, 1LL << 40}, 2, &error));
    assert_null(layout_group(arena, read(arena, "S[8:1]"), shape, 2, separators, &error));
    assert_string_equal(error.text, "layout S[8:1] cannot be grouped by the shape (8, 0)");
    assert_null(layout_permute(arena, read(arena, "S[(8,8):(8,1)]"), (int64_t[]){8, 8}, 2, order, &error));
    assert_null(layout_permute(arena, read(arena, "S[(8,8):(8,1)]"), (int64_t[]){8, 8}, 2, out, &error));
    assert_false(layout_apply(read(arena, "S[(8,8):(8,1)]"), far, 2, NULL, position, &axes, &error, arena));
    assert_string_equal(error.text, "the position of the coordinate does not fit in 64 bits");
    assert_false(
        layout_apply(read(arena, "S[64:1]"), far, 2, (int64_t[]){7, 9}, position, &axes, &error, arena));
    assert_false(layout_apply(read(arena, "S[8:1]"), far, 2, NULL, position, &axes, NULL, arena));
    assert_null(layout_make(arena, &(layout_iter){8, 1, (layout_axis)99}, 1, NULL, 0, NULL, 0, &error));
    /* Rank 0: one element, at the origin. */
    const layout_tile *scalar = layout_row_major(arena, NULL, 0, &error);
    int64_t span = 0, size = 0;
    assert_true(layout_size(scalar, &size) && layout_span(scalar, LAYOUT_AXIS_M, &span));
    assert_true(size == 1 && span == 1);
    assert_true(layout_apply(scalar, NULL, 0, shape, position, &axes, &error, arena));
    assert_int_equal(position[LAYOUT_AXIS_M], 0);
    /* More iters than an apply keeps on the stack. */
    layout_iter many[40];
    int64_t digits[40], long_shape[40];
    for (uint32_t i = 0; i < 40; i++) {
        many[i] = (layout_iter){i % 2 + 1, i, LAYOUT_AXIS_M};
        digits[i] = i % 2;
        long_shape[i] = i % 2 + 1;
    }
    const layout_tile *wide = layout_make(arena, many, 40, NULL, 0, NULL, 0, &error);
    assert_true(layout_apply(wide, digits, 40, NULL, position, &axes, &error, arena));
    assert_int_equal(position[LAYOUT_AXIS_M], 400);
    assert_true(layout_apply(wide, digits, 40, long_shape, position, &axes, &error, arena));
    assert_int_equal(position[LAYOUT_AXIS_M], 400);
}

static void axis_names(void **state) {
    (void)state;
    size_t memory = 0;
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++) {
        layout_axis found = LAYOUT_AXIS_COUNT;
        const char *name = layout_axis_name((layout_axis)a);
        assert_true(layout_axis_find(name, strlen(name), &found));
        assert_int_equal(found, a);
        memory += layout_axis_is_memory((layout_axis)a);
    }
    assert_int_equal(memory, 6);
    assert_false(layout_axis_find("lane", 4, &(layout_axis){LAYOUT_AXIS_M}));
    assert_false(layout_axis_is_memory(LAYOUT_AXIS_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(functions_agree), UNIT_WITH_ARENA(canonical_is_one_form),
        UNIT_WITH_ARENA(permuted),        UNIT_WITH_ARENA(widths),
        UNIT_WITH_ARENA(storage),         UNIT_WITH_ARENA(text_reads_back),
        UNIT_WITH_ARENA(text_refused),    UNIT_WITH_ARENA(refused),
        cmocka_unit_test(axis_names),
    };
    return cmocka_run_group_tests_name("layout_tile", tests, NULL, NULL);
}
