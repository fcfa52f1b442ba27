/* SPDX-License-Identifier: Apache-2.0
 * Pictures: every element stands in both grids where the layout says, in one colour; texts of small pictures
 * to the letter; what is too large to draw; the size and the form of SVG and HTML. covers: B6 B7 B8 B26 B30
 * B31 B32 B33 B37 */
#include "unit/unit.h"
#include "view/view.h"
#include <stdlib.h>
#include <string.h>

static const layout_map *map_of(base_arena *arena, const char *text, uint32_t rank, const int64_t *shape) {
    layout_error error = {NULL};
    const layout_tile *layout = layout_parse(arena, text, strlen(text), NULL, &error);
    const layout_map *map = layout == NULL ? NULL : layout_map_make(arena, layout, shape, rank, &error);
    if (map == NULL)
        fail_msg("%s: %s", text, error.text);
    return map;
}

static const view_figure *figure_of(base_arena *arena, const char *text, uint32_t rank, const int64_t *shape,
                                    unsigned bits) {
    layout_error error = {NULL};
    const view_figure *f =
        view_layout(arena, map_of(arena, text, rank, shape), &(view_options){.bits = bits}, &error);
    if (f == NULL)
        fail_msg("%s: %s", text, error.text);
    return f;
}

static const view_figure *fragment_of(base_arena *arena, const char *name, bool pack) {
    layout_fragment_request request;
    layout_error error = {NULL};
    if (!layout_fragment_parse(arena, name, strlen(name), pack, 0, &request, &error))
        fail_msg("%s: %s", name, error.text);
    return view_fragment(arena, &request, name, &error);
}

static void grids_agree(void **state) {
    static const struct {
        const char *layout;
        uint32_t rank;
        int64_t shape[3];
        unsigned bits;
        int64_t rows, columns; /* physical */
    } rows[] = {
        {"S[(4,4):(4,1)]", 2, {4, 4}, 0, 4, 4},
        {"S[(4,4):(5,1)]+2", 2, {4, 4}, 0, 6, 4},
        {"S[(4,4):(4,1)]", 2, {4, 4}, 32, 1, 32},
        {"Z(3,3,3)*S[(128,64):(64,1)]", 2, {128, 64}, 16, 128, 64},
        {"S[(8,4,2):(4@laneid,1@laneid,1)]", 2, {8, 8}, 0, 32, 2},
        {"S[(4,2,8,8,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]", 2, {64, 64}, 0, 128, 32},
        {"S[(128,512):(1@TLane,1@TCol)]", 2, {128, 512}, 0, 128, 512},
        {"S[(2,128,112):(112@TCol,1@TLane,1@TCol)]", 3, {2, 128, 112}, 0, 128, 224},
        {"S[(4,32,4):(4@TCol,1@TLane,1@TCol)]+R[4:32@TLane]", 2, {128, 4}, 0, 128, 16},
        {"S[(2,4,8):(1@gpuid_y,8,1)]+R[2:1@gpuid_x]", 3, {2, 4, 8}, 0, 4, 32},
        {"S[100:1]", 1, {100}, 0, 7, 16},
        {"S[(4,4):(4,-1)]+3", 2, {4, 4}, 0, 4, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        base_arena *arena = *state;
        const view_figure *f = figure_of(arena, rows[i].layout, rows[i].rank, rows[i].shape, rows[i].bits);
        if (f->physical.rows != rows[i].rows || f->physical.columns != rows[i].columns)
            fail_msg("%s: %lld x %lld", rows[i].layout, (long long)f->physical.rows,
                     (long long)f->physical.columns);
        int64_t held = 0, cells = f->physical.rows * f->physical.columns,
                *seen = calloc((size_t)f->map->size, 8);
        for (int64_t c = 0; c < cells; c++) {
            int32_t e = f->physical.element[c];
            assert_int_equal(e < 0, f->physical.colour[c] == VIEW_EMPTY);
            if (e < 0)
                continue;
            held += seen[e]++ == 0;
            assert_true(f->physical.colour[c] < VIEW_COLOURS);
        }
        assert_int_equal(held, f->map->size); /* all of these are injective */
        for (int64_t e = 0; e < f->map->size; e++) {
            assert_int_equal(f->logical.element[e], e);
            assert_int_equal(seen[e], f->map->layout->replica_count ? f->map->layout->replica[0].extent : 1);
        }
        free(seen);
    }
}

/* Tensor memory: 128 lanes, four windows of 32 by warp; the colours follow the windows. */
static void tensor_memory(void **state) {
    const view_figure *f = figure_of(*state, "S[(64,32):(1@TLane,1@TCol)]", 2, (int64_t[]){64, 32}, 0);
    assert_int_equal(f->physical.rows, 128);
    assert_int_equal(f->physical.bands.count, 4);
    for (int64_t w = 0; w < 4; w++) {
        assert_int_equal(f->physical.bands.items[w].first, 32 * w);
        assert_int_equal(f->physical.bands.items[w].last, 32 * w + 31);
        for (int64_t r = 32 * w; r < 32 * w + 32; r++)
            assert_int_equal(f->physical.colour[r * 32] == VIEW_EMPTY ? w : f->physical.colour[r * 32] / 4,
                             w);
    }
    assert_string_equal(f->physical.bands.items[3].text, "warp 3 window");
    assert_int_equal(f->physical.element[63 * 32 + 5], 63 * 32 + 5);
    assert_int_equal(f->physical.element[64 * 32], -1);
}

static const char *text_of(const view_figure *f, bool colour, unsigned width) {
    base_builder out;
    base_builder_start(&out, f->arena);
    view_text(f, colour, width, &out);
    return out.data;
}

static void terminal(void **state) {
    assert_string_equal(
        text_of(figure_of(*state, "S[(2,4):(1,2)]", 2, (int64_t[]){2, 4}, 0), false, 80),
        "S[(2,4):(1,2)]\n"
        "8 elements. A cell on the left says where it lives (m); a cell on the right says which "
        "element it holds.\n\n"
        "logical, shape (2, 4)   memory on m, rows of 4\n"
        "       j 0 1 2 3               m   0   1   2   3\n"
        "       0 0 2 4 6               0 0,0 1,0 0,1 1,1\n"
        "       1 1 3 5 7               4 0,2 1,2 0,3 1,3\n");
    /* colour changes no character of the text */
    const view_figure *f = fragment_of(*state, "tcgen05.ld.16x64b.x1", false);
    const char *plain = text_of(f, false, 100), *bright = text_of(f, true, 100);
    base_builder stripped;
    base_builder_start(&stripped, *state);
    for (const char *c = bright; *c != 0; c++) {
        if (*c == '\x1b') {
            c = strchr(c, 'm');
            continue;
        }
        base_builder_char(&stripped, *c);
    }
    assert_string_equal(stripped.data, plain);
    assert_true(strlen(bright) > strlen(plain));
    /* a large grid shows its corner and says so */
    const char *large =
        text_of(figure_of(*state, "S[(128,512):(1@TLane,1@TCol)]", 2, (int64_t[]){128, 512}, 0), false, 100);
    assert_non_null(strstr(large, "shown: 40 of 128 rows"));
    for (const char *line = strstr(large, "\n\n") + 1; *line != 0; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 125);
}

/* Lanes, bits per lane, cells and registers per thread, in words. */
static void fragment_words(void **state) {
    static const struct {
        const char *name;
        bool pack;
        const char *words;
    } rows[] = {
        {"tcgen05.ld.16x128b.x4", false,
         "One warp reads 16 lanes x 512 bits = 256 cells of tensor memory; 8 registers of "
         "32 bits per thread (8 x 32 = 256)."},
        {"tcgen05.ld.16x128b.x1", false, "16 lanes x 128 bits = 64 cells of tensor memory; 2 registers"},
        {"tcgen05.ld.16x128b.x2", false, "16 lanes x 256 bits = 128 cells of tensor memory; 4 registers"},
        {"tcgen05.ld.16x128b.x8", false, "16 lanes x 1024 bits = 512 cells of tensor memory; 16 registers"},
        {"tcgen05.st.32x32b.x8", false,
         "One warp writes 32 lanes x 256 bits = 256 cells of tensor memory; 8 registers"},
        {"tcgen05.ld.sync.aligned.16x256b.x2.b32", false, "16 lanes x 512 bits = 256 cells"},
        {"tcgen05.ld.32x32b.x2", true,
         "32 lanes x 64 bits = 128 cells of tensor memory, the low 16 bits of each; 2 registers"},
        {"tcgen05.st.32x32b.x2.unpack::16b", false,
         "writes 32 lanes x 64 bits = 128 cells of tensor memory, the low 16 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const view_figure *f = fragment_of(*state, rows[i].name, rows[i].pack);
        if (strstr(f->words.items[0], rows[i].words) == NULL)
            fail_msg("%s: %s", rows[i].name, f->words.items[0]);
    }
    base_builder out;
    base_builder_start(&out, *state);
    view_place(fragment_of(*state, "tcgen05.ld.16x128b.x4", false), 9 * 16 + 6, false, &out);
    assert_string_equal(out.data, "lane 6, register 3");
    layout_fragment_request request;
    layout_error error = {NULL};
    assert_true(layout_fragment_parse(*state, "tcgen05.ld.16x32bx2.x4", 22, false, 32, &request, &error));
    const view_figure *apart = view_fragment(*state, &request, "tcgen05.ld.16x32bx2.x4", &error);
    assert_non_null(strstr(apart->words.items[1], "The second half lies 32 columns to the right"));
}

static void fragment_refusals(void **state) {
    static const char *const rows[][2] = {
        {"tcgen05.ld.m128n64k16.x4", "m128n64k16 is a shape of a matrix multiplication"},
        {"tcgen05.ld.16x128b.x128",
         "16x128b.x128 needs 256 registers per thread; the limit is 128, so x64 is the largest"},
        {"tcgen05.ld.16x128b", "tcgen05.ld needs a repeat count, x1 to x128"},
        {"tcgen05.st.x4", "tcgen05.st needs a shape"},
        {"tcgen05.ld.16x64b.x3", "x3: the repeat count is a power of two"},
        {"tcgen05.ld.16x64b.x2.unpack::16b", "'unpack::16b' is no part of tcgen05.ld"},
        {"tcgen05.commit", "of tcgen05 there are the fragments of ld, st and atom (registers)"},
        {"ldmatrix.x3", "move 1, 2 or 4 matrices, not 3"},
        {"wgmma.m64n12", "wgmma has N from 8 to 256 in steps of 8, not 12"},
        {"wgmma.m128n64", "wanted wgmma.m64nN"},
        {"mma.m16n8k64", "there is no fragment 'mma.m16n8k64': mma has SHAPE.TYPE.A"},
        {"", "there is no fragment ''"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_fragment_request request;
        layout_error error = {NULL};
        assert_false(
            layout_fragment_parse(*state, rows[i][0], strlen(rows[i][0]), false, 0, &request, &error));
        if (error.text == NULL || strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
}

static void too_large(void **state) {
    static const struct {
        const char *layout;
        int64_t shape[2];
        const char *text;
    } rows[] = {
        {"S[(1048576,1048576):(1048576,1)]",
         {1048576, 1048576},
         "elements to draw, copies included: 1099511627776; a picture shows at most 1048576"},
        {"S[(2,2):(1099511627776,1)]", {2, 2}, "places on axis m"},
        {"S[(2,2):(1099511627776@TLane,1@TCol)]", {2, 2}, "rows of the physical grid"},
        {"S[(4096,256):(1@tx,8192)]", {4096, 256}, "cells of the physical grid"},
        {"S[(4,4):(4,1)]+R[1099511627776:0]", {4, 4}, "elements to draw, copies included"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_error error = {NULL};
        const layout_map *map = map_of(*state, rows[i].layout, 2, rows[i].shape);
        assert_null(view_layout(*state, map, &(view_options){0}, &error));
        if (error.text == NULL || strstr(error.text, rows[i].text) == NULL)
            fail_msg("%s: %s", rows[i].layout, error.text);
    }
}

/* Every tag closed, in order; attributes quoted. */
static void check_markup(const char *text) {
    char open[32][16];
    int depth = 0;
    for (const char *c = strchr(text, '<'); c != NULL; c = strchr(c, '<')) {
        bool closes = c[1] == '/';
        const char *name = c + 1 + closes, *end = name;
        size_t size = strcspn(name, " />"), quotes = 0;
        for (; *end != '>' || quotes % 2 == 1; end++)
            quotes += *end == '"';
        assert_true(size > 0 && size < 16 && quotes % 2 == 0);
        if (closes) {
            assert_true(depth > 0);
            depth--;
            assert_int_equal(strlen(open[depth]), size);
            assert_memory_equal(open[depth], name, size);
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            memcpy(open[depth], name, size);
            open[depth++][size] = 0;
        }
        c = end;
    }
    assert_int_equal(depth, 0);
}

static size_t count_of(const char *text, const char *word) {
    size_t count = 0;
    for (const char *c = strstr(text, word); c != NULL; c = strstr(c + 1, word))
        count++;
    return count;
}

static void svg(void **state) {
    static const struct {
        const char *layout;
        int64_t shape[2];
        unsigned bits;
        size_t most;
    } rows[] = {{"S[(4,4):(4,1)]", {4, 4}, 0, 20000},
                {"Z(3,3,3)*S[(128,64):(64,1)]", {128, 64}, 16, 200000},
                {"S[(128,512):(1@TLane,1@TCol)]", {128, 512}, 0, 2 << 20},
                {"S[(128,512):(513,1)]", {128, 512}, 0, 2 << 20},
                {"S[(128,512):(1,129)]", {128, 512}, 0, 2 << 20}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        base_builder out;
        base_builder_start(&out, *state);
        view_svg(figure_of(*state, rows[i].layout, 2, rows[i].shape, rows[i].bits), &out);
        check_markup(out.data);
        if (out.size > rows[i].most)
            fail_msg("%s: %zu bytes", rows[i].layout, out.size);
        assert_int_equal(count_of(out.data, "prefers-color-scheme:dark"), 1);
        assert_int_equal(count_of(out.data, "http"), 1); /* the name space: nothing is fetched */
        /* cells as boxes with both coordinates, or two pictures in two themes and two corners of 64 boxes */
        size_t boxes = count_of(out.data, "<rect class=\"k") + count_of(out.data, "<rect class=\"o\""),
               pictures = count_of(out.data, "<image class=");
        assert_int_equal(boxes, i == 0 ? 32 : 128);
        assert_int_equal(pictures, i == 0 ? 0 : 4);
    }
    base_builder out;
    base_builder_start(&out, *state);
    view_svg(figure_of(*state, "S[(4,4):(1,4)]", 2, (int64_t[]){4, 4}, 0), &out);
    assert_int_equal(count_of(out.data, ">3,2</text>"), 1); /* the cell of m 11 */
    assert_int_equal(count_of(out.data, ">11</text>"), 1);
}

static void html(void **state) {
    base_builder out;
    base_builder_start(&out, *state);
    view_html(figure_of(*state, "Z(0,2,2)*S[(4,4):(4,1)]+R[2:16]", 2, (int64_t[]){4, 4}, 0), &out);
    assert_non_null(strstr(
        out.data, "{\"shape\":[4,4],\"origin\":[0],\"axes\":[\"m\"],\"iters\":[[4,4,0],[4,1,0]],"
                  "\"copies\":[[2,16,0]],\"swizzle\":{\"per\":0,\"length\":2,\"atom\":2,\"outer\":false}"));
    assert_int_equal(count_of(out.data, "http"), 2); /* name spaces */
    assert_int_equal(count_of(out.data, "<script src") + count_of(out.data, "<link"), 0);
}

static void marked_access(void **state) {
    int64_t elements[32];
    layout_banks banks;
    const layout_map *map = map_of(*state, "S[(32,32):(32,1)]", 2, (int64_t[]){32, 32});
    for (int lane = 0; lane < 32; lane++)
        elements[lane] = 32 * lane;
    assert_true(layout_bank_conflicts(*state, map, elements, 32, 32, 4, &banks, NULL));
    const view_figure *f = view_layout(
        *state, map,
        &(view_options){
            .bits = 32, .banks = &banks, .bank_elements = elements, .bank_lanes = 32, .bank_width = 4},
        NULL);
    for (int64_t r = 0; r < 32; r++)
        for (int64_t c = 0; c < 32; c++)
            assert_int_equal(f->physical.mark[r * 32 + c], c == 0 ? r + 1 : 0);
    assert_string_equal(f->words.items[1],
                        "The outlined access of 32 lanes, 4 bytes each, takes 32 passes of shared "
                        "memory; without bank conflicts 1.");
    const view_figure *twice = figure_of(*state, "S[(4,2):(1,1)]", 2, (int64_t[]){4, 2}, 0);
    assert_string_equal(twice->words.items[1],
                        "Not injective: (0, 1) and (1, 0) share a place; cells show the first.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(grids_agree),
        UNIT_WITH_ARENA(tensor_memory),
        UNIT_WITH_ARENA(terminal),
        UNIT_WITH_ARENA(fragment_words),
        UNIT_WITH_ARENA(fragment_refusals),
        UNIT_WITH_ARENA(too_large),
        UNIT_WITH_ARENA(svg),
        UNIT_WITH_ARENA(html),
        UNIT_WITH_ARENA(marked_access),
    };
    return cmocka_run_group_tests_name("view_figure", tests, NULL, NULL);
}
