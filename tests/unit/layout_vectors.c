/* SPDX-License-Identifier: Apache-2.0
 * The algebra against tables of known values (layout_vectors.def).
 * covers: A12 A17 A20 A23 */
#include "unit/unit.h"
#include "layout/layout.h"
#include <stdlib.h>
#include <string.h>

#define UNPACK(...) __VA_ARGS__

typedef struct apply_row {
    const char *id, *layout;
    uint32_t rank;
    int64_t coordinate[6], shape[6];
    const char *want;
} apply_row;

typedef struct group_row {
    const char *layout;
    uint32_t rank;
    int64_t shape[6];
    const char *want;
    uint32_t separators[7];
} group_row;

static const apply_row apply_rows[] = {
#define APPLY(id, layout, rank, coordinate, shape, want)                                                     \
    {id, layout, rank, {UNPACK coordinate}, {UNPACK shape}, want},
#define CANONICAL(id, layout, want)
#define SPAN(id, layout, axis, want)
#define GROUP(layout, rank, shape, want, separators)
#include "unit/layout_vectors.def"
#undef APPLY
#undef GROUP
};

static const group_row group_rows[] = {
#define APPLY(id, layout, rank, coordinate, shape, want)
#define GROUP(layout, rank, shape, want, separators)                                                         \
    {layout, rank, {UNPACK shape}, want, {UNPACK separators}},
#include "unit/layout_vectors.def"
#undef CANONICAL
#undef GROUP
};

static const struct {
    const char *id, *layout, *want;
} canonical_rows[] = {
#define CANONICAL(id, layout, want) {id, layout, want},
#define GROUP(layout, rank, shape, want, separators)
#include "unit/layout_vectors.def"
#undef CANONICAL
#undef SPAN
};

static const struct {
    const char *id, *layout, *axis;
    int64_t want;
} span_rows[] = {
#define CANONICAL(id, layout, want)
#define SPAN(id, layout, axis, want) {id, layout, axis, want},
#include "unit/layout_vectors.def"
};

static const layout_tile *read(base_arena *arena, const char *text) {
    size_t consumed = 0;
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), &consumed, &error);
    if (layout == NULL)
        fail_msg("%s: %s", text, error.text);
    assert_int_equal(consumed, strlen(text));
    return layout;
}

static const char *print(base_arena *arena, const layout_tile *layout) {
    base_builder out;
    base_builder_start(&out, arena);
    layout_print(layout, &out);
    return out.data;
}

/* "TLane=5 TCol=3" */
static void read_positions(const char *text, const char *end, int64_t *position, uint32_t *axes) {
    memset(position, 0, sizeof *position * LAYOUT_AXIS_COUNT);
    *axes = 0;
    while (text < end) {
        size_t name = strcspn(text, "=");
        layout_axis axis = LAYOUT_AXIS_M;
        assert_true(layout_axis_find(text, name, &axis));
        char *rest = NULL;
        position[axis] = strtoll(text + name + 1, &rest, 10);
        *axes |= 1u << axis;
        text = *rest == ' ' ? rest + 1 : rest;
    }
}

/* The n-th copy of an element: replica digits in mixed radix, the first slowest. */
static void add_replica(const layout_tile *layout, int64_t n, int64_t *position, uint32_t *axes) {
    for (uint32_t i = layout->replica_count; i-- > 0;) {
        const layout_iter *iter = &layout->replica[i];
        position[iter->axis] += n % iter->extent * iter->stride;
        *axes |= 1u << iter->axis;
        n /= iter->extent;
    }
}

static void apply_table(void **state) {
    for (size_t i = 0; i < sizeof apply_rows / sizeof apply_rows[0]; i++) {
        const apply_row *row = &apply_rows[i];
        const layout_tile *layout = read(*state, row->layout);
        int64_t got[LAYOUT_AXIS_COUNT], want[LAYOUT_AXIS_COUNT];
        uint32_t got_axes = 0, want_axes = 0;
        layout_error error = {NULL};
        const int64_t *shape = row->shape[0] != 0 ? row->shape : NULL;
        bool ok = layout_apply(layout, row->coordinate, row->rank, shape, got, &got_axes, &error, *state);
        if (strcmp(row->want, "error") == 0) {
            assert_false(ok);
            assert_non_null(strstr(error.text, "the coordinate has 3 entries, the layout 2 shard iters"));
            continue;
        }
        assert_true(ok);
        int64_t copies = 0;
        for (const char *text = row->want; *text != 0; copies++) {
            size_t open = *text == '{', size = strcspn(text + open, "}");
            read_positions(text + open, text + open + size, want, &want_axes);
            int64_t copy[LAYOUT_AXIS_COUNT];
            uint32_t axes = got_axes;
            memcpy(copy, got, sizeof copy);
            if (open)
                add_replica(layout, copies, copy, &axes);
            if (axes != want_axes || memcmp(copy, want, sizeof want) != 0)
                fail_msg("%s: %s copy %lld: not %s", row->id, row->layout, (long long)copies, text);
            text += open + size + open;
            text += strspn(text, " ;");
        }
        int64_t replicas = 1;
        for (uint32_t k = 0; k < layout->replica_count; k++)
            replicas *= layout->replica[k].extent;
        assert_true(copies == replicas || row->want[0] != '{');
    }
}

static void canonical_table(void **state) {
    for (size_t i = 0; i < sizeof canonical_rows / sizeof canonical_rows[0]; i++) {
        const layout_tile *layout = read(*state, canonical_rows[i].layout);
        const layout_tile *canonical = layout_canonical(*state, layout);
        const layout_tile *want = read(*state, canonical_rows[i].want);
        if (strcmp(print(*state, canonical), print(*state, want)) != 0)
            fail_msg("%s: %s becomes %s, not %s", canonical_rows[i].id, canonical_rows[i].layout,
                     print(*state, canonical), canonical_rows[i].want);
        assert_true(layout_equal(*state, layout, want));
    }
}

static void span_table(void **state) {
    for (size_t i = 0; i < sizeof span_rows / sizeof span_rows[0]; i++) {
        int64_t span = 0;
        layout_axis axis = LAYOUT_AXIS_M;
        assert_true(layout_axis_find(span_rows[i].axis, strlen(span_rows[i].axis), &axis));
        assert_true(layout_span(read(*state, span_rows[i].layout), axis, &span));
        assert_int_equal(span, span_rows[i].want);
    }
}

static void group_table(void **state) {
    size_t refused = 0;
    for (size_t i = 0; i < sizeof group_rows / sizeof group_rows[0]; i++) {
        const group_row *row = &group_rows[i];
        uint32_t separators[7] = {0};
        layout_error error = {NULL};
        const layout_tile *layout = read(*state, row->layout);
        const layout_tile *got = layout_group(*state, layout, row->shape, row->rank, separators, &error);
        if (row->want[0] == 0) {
            assert_null(got);
            assert_non_null(strstr(error.text, "cannot be grouped by the shape ("));
            refused++;
            continue;
        }
        assert_non_null(got);
        assert_string_equal(print(*state, got), print(*state, read(*state, row->want)));
        assert_memory_equal(separators, row->separators, sizeof separators[0] * (row->rank + 1));
    }
    assert_true(refused > 5 && refused < sizeof group_rows / sizeof group_rows[0] / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(apply_table),
        UNIT_WITH_ARENA(canonical_table),
        UNIT_WITH_ARENA(span_table),
        UNIT_WITH_ARENA(group_table),
    };
    return cmocka_run_group_tests_name("layout_vectors", tests, NULL, NULL);
}
