/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target of layouts: lines of text are layouts, CuTe layouts and fragment names at once. What parses is
 * printed and read back, canonicalised, mapped, inverted, compared, cut, packed, multiplied and drawn; small
 * ones are checked element by element. */
#include "layout/cute.h"
#include "layout/shared.h"
#include "layout/tmem.h"
#include "view/view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    base_heap *heap;
    const char *text;
    size_t size;
} input;

static void fail(const char *what, const char *text) {
    fprintf(stderr, "%s\n%s\n", what, text);
    abort();
}

static const layout_map *own_map(base_arena *arena, const layout_tile *layout) {
    int64_t *shape = BASE_NEW_ARRAY(arena, int64_t, layout->shard_count);
    for (uint32_t i = 0; i < layout->shard_count; i++)
        shape[i] = layout->shard[i].extent;
    return layout_map_make(arena, layout, shape, layout->shard_count, NULL);
}

static void check_elements(base_arena *arena, const layout_map *map, const char *text) {
    int64_t position[LAYOUT_AXIS_COUNT], *at = BASE_NEW_ARRAY(arena, int64_t, LAYOUT_AXIS_COUNT);
    int64_t *coordinate = BASE_NEW_ARRAY(arena, int64_t, (size_t)map->rank + 1);
    for (int64_t k = 0; k < map->size && k < 64; k++) {
        uint32_t axes = 0;
        layout_map_coordinate(map, k, coordinate);
        if (!layout_apply(map->layout, coordinate, map->rank, map->shape, at, &axes, NULL, arena))
            fail("an element inside cannot be placed", text);
        layout_map_at(map, coordinate, position);
        for (uint32_t s = 0; s < map->axis_count; s++)
            if (position[s] != at[map->axes[s]])
                fail("two ways to place an element differ", text);
        layout_holdings held;
        layout_find(arena, map, at, map->axis_mask, 256, &held);
        bool seen = !held.complete;
        for (size_t i = 0; i < held.count; i++)
            seen = seen || held.items[i].flat == k;
        if (!seen)
            fail("the inverse misses an element", text);
    }
}

static void draw(base_arena *arena, const layout_map *map) {
    base_builder out;
    if (map->size > 512)
        return;
    const view_figure *figure =
        view_layout(arena, map, &(view_options){.bits = map->size % 2 ? 16 : 0}, NULL);
    if (figure == NULL || figure->physical.rows * figure->physical.columns > 1 << 16)
        return;
    base_builder_start(&out, arena);
    view_text(figure, true, 80, &out);
    view_svg(figure, &out);
    view_html(figure, &out);
}

static void operate(base_arena *arena, const layout_tile *layout, const layout_map *map) {
    layout_error error = {NULL};
    layout_collision collision;
    uint32_t rank = map->rank;
    int64_t *begin = BASE_NEW_ARRAY(arena, int64_t, (size_t)rank + 1), footprint = 0;
    int64_t *end = BASE_NEW_ARRAY(arena, int64_t, (size_t)rank + 1), elements[32];
    layout_banks banks;
    for (uint32_t d = 0; d < rank; d++) {
        begin[d] = map->shape[d] / 3;
        end[d] = map->shape[d] - map->shape[d] / 4;
    }
    layout_slice(arena, layout, map->shape, rank, begin, end, &error);
    layout_unpack(arena, layout, 4, &error);
    layout_pack(arena, layout, 2, &error);
    layout_storage(arena, layout);
    layout_canonical_fused(arena, layout, &error);
    layout_footprint(layout, LAYOUT_AXIS_M, &footprint);
    layout_injective(map, &collision);
    layout_widest_vector(arena, map, 16, 16);
    for (int64_t lane = 0; lane < 32; lane++)
        elements[lane] = lane % map->size;
    layout_bank_conflicts(arena, map, elements, 32, 32, 4, &banks, &error);
    const layout_tile *twice =
        layout_product(arena, layout, layout, map->shape, map->shape, rank, false, &error);
    int64_t *whole = BASE_NEW_ARRAY(arena, int64_t, (size_t)rank + 1);
    bool fits = twice != NULL;
    for (uint32_t d = 0; d < rank; d++)
        fits = !__builtin_mul_overflow(map->shape[d], map->shape[d], &whole[d]) && fits;
    if (fits) {
        layout_outer_of(arena, layout, twice, whole, map->shape, rank, true, &error);
        layout_inner_of(arena, layout, twice, whole, map->shape, rank, false, &error);
    }
    layout_mma_shared(arena, LAYOUT_MODE_AUTO, 16, map->shape, rank, &error);
}

static void one_layout(base_arena *arena, const layout_tile *layout, const layout_map **last) {
    const char *text = layout_text_of(arena, layout);
    size_t consumed = 0;
    const layout_tile *again = layout_parse(arena, text, strlen(text), &consumed, NULL);
    if (again == NULL || consumed != strlen(text) || !layout_equal(arena, layout, again) ||
        strcmp(layout_text_of(arena, again), text) != 0)
        fail("the printed layout is another one", text);
    const layout_map *map = own_map(arena, layout);
    if (map == NULL)
        fail("a layout without its own shape", text);
    check_elements(arena, map, text);
    operate(arena, layout, map);
    draw(arena, map);
    layout_difference difference;
    const layout_map *canonical =
        layout_map_make(arena, layout_canonical(arena, layout), map->shape, map->rank, NULL);
    if (canonical == NULL || layout_compare(arena, map, canonical, &difference) == LAYOUT_NO)
        fail("the canonical form is another map", text);
    if (*last != NULL && (*last)->size == map->size)
        (void)layout_compare(arena, *last, map, &difference);
    *last = map;
    layout_cute cute, back;
    if (layout_cute_from(arena, map, &cute, NULL)) {
        base_builder out;
        base_builder_start(&out, arena);
        layout_cute_print(&cute, &out);
        if (!layout_cute_read(arena, out.data, out.size, &back, NULL) && map->layout->swizzle.atom <= 20 &&
            map->layout->swizzle.length <= 20 && map->layout->swizzle.per_element <= 20)
            fail("CuTe's text does not read back", out.data);
    }
}

static void one_line(base_arena *arena, const char *text, size_t size, const layout_map **last) {
    layout_error error = {NULL};
    layout_cute cute, result;
    layout_fragment_request request;
    const layout_tile *layout = layout_parse(arena, text, size, NULL, &error);
    if ((layout == NULL) != (error.text != NULL))
        fail("refused without a reason", "");
    if (layout != NULL)
        one_layout(arena, layout, last);
    if (layout_cute_read(arena, text, size, &cute, NULL)) {
        int64_t shape[LAYOUT_CUTE_RANK];
        layout = layout_cute_tile(arena, &cute, shape, NULL);
        if (layout != NULL)
            one_layout(arena, layout, last);
        layout_cute_complement(arena, &cute, 1000, &result, NULL);
        if (layout_cute_size(&cute) < 4096)
            layout_cute_compose(arena, &cute, &cute, &result, NULL);
    }
    if (layout_fragment_parse(arena, text, size, size % 2 == 0, 0, &request, &error))
        view_fragment(arena, &request, "fragment", &error);
}

static void run(void *user) {
    input *in = user;
    base_arena *arena = base_arena_create(in->heap);
    const layout_map *last = NULL;
    for (size_t begin = 0, lines = 0; begin < in->size && lines < 4; lines++) {
        const char *end = memchr(in->text + begin, '\n', in->size - begin);
        size_t size = end ? (size_t)(end - in->text) - begin : in->size - begin;
        one_line(arena, in->text + begin, size, &last);
        begin += size + 1;
    }
    base_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    base_heap *heap = base_heap_create(&(base_heap_options){.limit_bytes = (size_t)256 << 20});
    input in = {heap, (const char *)data, size};
    (void)base_heap_run(heap, run, &in); /* a limit is an end like another */
    base_heap_destroy(heap);
    return 0;
}
