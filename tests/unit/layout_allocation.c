/* SPDX-License-Identifier: Apache-2.0
 * Allocation failure: one run that uses everything of base and layout, with the n-th allocation failing for
 * every n, and under every memory limit. Each ends as an outcome, with nothing left behind, and the same heap
 * can then do the run in full. */
#include "unit/unit_memory.h"
#include "base/diagnostic.h"
#include "layout/layout.h"
#include <string.h>

typedef struct work {
    base_heap *heap;
    int scale;       /* how much of everything */
    uint64_t result; /* hash of all that was made */
    int finished;
} work;

static void use_text(base_arena *arena, int scale, base_builder *out) {
    base_names *names = base_names_create(arena);
    base_map *map = base_map_create(arena);
    for (uint64_t i = 0; i < 30 * (uint64_t)scale; i++) {
        const char *name = base_name_of(names, base_arena_format(arena, "name number %d", (int)(i % 700)));
        base_map_set(map, i * 0x10001, base_arena_string(arena, name, strlen(name)));
        if (i % 50 == 0)
            base_builder_format(out, "%s %zu\n", (const char *)base_map_get(map, i * 0x10001),
                                base_map_count(map));
    }
}

static void use_diagnostics(base_arena *arena, int scale, base_builder *out) {
    base_sources *sources = base_sources_create(arena);
    base_builder text;
    base_builder_start(&text, arena);
    for (int i = 0; i < 20 * scale; i++)
        base_builder_format(&text, "line %d of\tthe source \xc3\xa9\n", i);
    uint32_t file = base_sources_add(sources, "source.py", text.data, text.size);
    base_diagnostics *list = base_diagnostics_create(arena, sources);
    for (uint32_t i = 0; i < 3 * (uint32_t)scale; i++) {
        base_span span = {file, i * 131, i * 131 + 7};
        base_diagnostic *d =
            base_report(list, i % 3 ? BASE_ERROR : BASE_WARNING, "T0001", span, "number %u", i);
        base_note(list, d, span, "a note");
        base_help(list, d, "help %u", i);
    }
    for (int format = BASE_TEXT; format <= BASE_SARIF; format++)
        base_diagnostics_render(list, (base_format)format, false, out);
}

static void use_layouts(base_arena *arena, int scale, base_builder *out) {
    static const char *const texts[] = {"S[(8,4,2):(4@laneid,1@laneid,1)]+R[2:4@warpid]+5@warpid",
                                        "S[(64,64):(1,64)]", "S[(64", "S[(128,64):(1@TLane,1@TCol)]"};
    for (int round = 0; round < 4 * scale; round++) {
        layout_error error = {NULL};
        const char *text = texts[round % 4];
        const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
        if (layout == NULL) {
            base_builder_string(out, error.text);
            continue;
        }
        uint32_t separators[3], axes = 0;
        int64_t position[LAYOUT_AXIS_COUNT], size = 0;
        layout_size(layout, &size);
        const layout_tile *turned =
            layout_permute(arena, layout, (int64_t[]){8, size / 8}, 2, (uint32_t[]){1, 0}, &error);
        if (turned != NULL)
            layout_print(layout_canonical(arena, turned), out);
        layout_group(arena, layout, (int64_t[]){3, size}, 2, separators, &error);
        layout_apply(layout, &size, 1, NULL, position, &axes, &error, arena);
        layout_print(layout_storage(arena, layout_unpack(arena, layout, 4, &error)), out);
        base_builder_format(out, " %s %d\n", error.text,
                            layout_equal(arena, layout, turned ? turned : layout));
    }
}

static void body(void *argument) {
    work *w = argument;
    w->finished = 0;
    base_arena *results = base_arena_create(w->heap);
    base_builder out;
    base_builder_start(&out, results);
    for (int part = 0; part < 3; part++) {
        base_arena *scratch = base_arena_create(w->heap);
        part == 0   ? use_text(scratch, w->scale, &out)
        : part == 1 ? use_diagnostics(scratch, w->scale, &out)
                    : use_layouts(scratch, w->scale, &out);
        base_arena_destroy(scratch);
    }
    w->result = base_hash(out.data, out.size, 0);
    w->finished = 1;
    base_arena_destroy(results);
}

static void fail_each(int scale, size_t chunk, size_t at_least) {
    work w = {NULL, scale, 0, 0};
    size_t calls = unit_fail_each(body, &w, &w.heap, chunk, 1);
    assert_true(calls > at_least);
    uint64_t last = w.result;
    assert_true(w.finished);
    w.heap = base_heap_create(NULL);
    assert_int_equal(base_heap_run(w.heap, body, &w), BASE_DONE);
    base_heap_destroy(w.heap);
    assert_true(w.result == last);
}

static void every_chunk_fails(void **state) {
    (void)state;
    fail_each(100, 0, 12);
}

static void every_allocation_fails(void **state) {
    (void)state;
    fail_each(3, 1, 300);
}

static void every_limit(void **state) {
    (void)state;
    base_heap *free_heap = base_heap_create(NULL);
    work w = {free_heap, 100, 0, 0};
    assert_int_equal(base_heap_run(w.heap, body, &w), BASE_DONE);
    size_t peak = base_heap_peak(free_heap);
    base_heap_destroy(free_heap);
    size_t stopped = 0, done = 0;
    for (size_t limit = 4096; limit < peak + 200000; limit += 50021) {
        unit_books b = {0, 0, 0, 0};
        w.heap = base_heap_create(&(base_heap_options){unit_counted, &b, limit});
        base_outcome outcome = base_heap_run(w.heap, body, &w);
        assert_int_equal(outcome, limit < peak ? BASE_LIMIT_REACHED : BASE_DONE);
        assert_true(base_heap_peak(w.heap) <= limit);
        stopped += outcome == BASE_LIMIT_REACHED;
        done += outcome == BASE_DONE;
        base_heap_destroy(w.heap);
        assert_int_equal(b.live, 0);
    }
    assert_true(stopped > 5 && done > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_fails),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(every_limit),
    };
    return cmocka_run_group_tests_name("layout_allocation", tests, NULL, NULL);
}
