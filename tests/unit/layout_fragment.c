/* SPDX-License-Identifier: Apache-2.0
 * Fragments by name: every mma and wgmma operand against the row and column that the PTX ISA gives for
 * element i of a lane, ldmatrix, whole tiles of tcgen05, their words, and names that are none. covers: B6 B26
 * B30 B31 B32 B35 */
#include "unit/unit.h"
#include "layout/fragment.h"
#include "layout/query.h"
#include "layout/tmem.h"
#include <string.h>

static bool parse(base_arena *arena, const char *name, layout_fragment_request *request,
                  layout_error *error) {
    *error = (layout_error){NULL};
    return layout_fragment_parse(arena, name, strlen(name), false, 0, request, error);
}

/* name, elements per thread, row and column of element i in lane 4g + t. Each formula is the PTX ISA's own
 * for that shape, not one rule for all. */
/* clang-format off */
#define OPERANDS(X)                                                                                          \
    X("mma.m16n8k8.f16.A", 4, i < 2 ? g : g + 8, 2 * t + (i & 1))                                             \
    X("mma.m16n8k8.bf16.B", 2, 2 * t + i, g)                                                                  \
    X("mma.m16n8k16.f16.A", 8, i < 2 || (4 <= i && i < 6) ? g : g + 8, 2 * t + (i & 1) + (i < 4 ? 0 : 8))     \
    X("mma.m16n8k16.f16.B", 4, 2 * t + (i & 1) + (i < 2 ? 0 : 8), g)                                          \
    X("mma.m16n8k4.tf32.A", 2, i == 0 ? g : g + 8, t)                                                         \
    X("mma.m16n8k4.tf32.B", 1, t, g)                                                                          \
    X("mma.m16n8k8.tf32.A", 4, i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4)                               \
    X("mma.m16n8k8.tf32.B", 2, i == 0 ? t : t + 4, g)                                                         \
    X("mma.m8n8k16.s8.A", 4, g, 4 * t + i)                                                                    \
    X("mma.m8n8k16.u8.B", 4, 4 * t + i, g)                                                                    \
    X("mma.m16n8k16.e4m3.A", 8, i < 4 ? g : g + 8, 4 * t + (i & 3))                                           \
    X("mma.m16n8k16.s8.B", 4, 4 * t + i, g)                                                                   \
    X("mma.m16n8k32.s8.A", 16, i < 4 || (8 <= i && i < 12) ? g : g + 8, 4 * t + (i & 3) + (i < 8 ? 0 : 16))   \
    X("mma.m16n8k32.e5m2.B", 8, 4 * t + (i & 3) + (i < 4 ? 0 : 16), g)                                        \
    X("mma.m16n8k32.e2m1.B", 8, 4 * t + (i & 3) + (i < 4 ? 0 : 16), g)                                        \
    X("mma.m8n8k32.s4.A", 8, g, 8 * t + i)                                                                    \
    X("mma.m8n8k32.u4.B", 8, 8 * t + i, g)                                                                    \
    X("mma.m16n8k32.s4.A", 16, i < 8 ? g : g + 8, 8 * t + (i & 7))                                            \
    X("mma.m16n8k32.s4.B", 8, 8 * t + i, g)                                                                   \
    X("mma.m16n8k64.s4.A", 32, i < 8 || (16 <= i && i < 24) ? g : g + 8, 8 * t + (i & 7) + (i < 16 ? 0 : 32)) \
    X("mma.m16n8k64.e2m1.B", 16, 8 * t + (i & 7) + (i < 8 ? 0 : 32), g)                                       \
    X("mma.m8n8k128.b1.A", 32, g, 32 * t + i)                                                                 \
    X("mma.m8n8k128.b1.B", 32, 32 * t + i, g)                                                                 \
    X("mma.m16n8k128.b1.A", 64, i < 32 ? g : g + 8, 32 * t + (i & 31))                                        \
    X("mma.m16n8k256.b1.A", 128, i < 32 || (64 <= i && i < 96) ? g : g + 8, 32 * t + (i & 31) + (i < 64 ? 0 : 128)) \
    X("mma.m16n8k256.b1.B", 64, 32 * t + (i & 31) + (i < 32 ? 0 : 128), g)                                    \
    X("mma.m8n8k4.f64.A", 1, g, t)                                                                            \
    X("mma.m8n8k4.f64.B", 1, t, g)                                                                            \
    X("mma.m16n8k4.f64.A", 2, i == 0 ? g : g + 8, t)                                                          \
    X("mma.m16n8k8.f64.A", 4, i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4)                                      \
    X("mma.m16n8k8.f64.B", 2, i == 0 ? t : t + 4, g)                                                          \
    X("mma.m16n8k16.f64.A", 8, i % 2 == 0 ? g : g + 8, i % 2 == 0 ? 2 * i + t : 2 * i - 2 + t)                \
    X("mma.m16n8k16.f64.B", 4, 4 * i + t, g)                                                                  \
    X("mma.m16n8.D", 4, i < 2 ? g : g + 8, 2 * t + (i & 1))                                                   \
    X("mma.m16n8.f16.C", 4, i < 2 ? g : g + 8, 2 * t + (i & 1))                                            \
    X("mma.m16n8.f64.D", 4, i < 2 ? g : g + 8, 2 * t + (i & 1))                                               \
    X("mma.m8n8.s32.D", 2, g, 2 * t + i)                                                                      \
    X("mma.m8n8k4.f16.A", 4, 8 * (g % 4) + t + (g < 4 ? 0 : 4), i)                                            \
    X("mma.m8n8k4.f16.A.col", 4, 8 * (g % 4) + i + (g < 4 ? 0 : 4), t)                                        \
    X("mma.m8n8k4.f16.B", 4, i, 8 * (g % 4) + t + (g < 4 ? 0 : 4))                                            \
    X("mma.m8n8k4.f16.B.row", 4, t, 8 * (g % 4) + i + (g < 4 ? 0 : 4))                                        \
    X("mma.m8n8k4.f16.D", 8, 8 * (g % 4) + t + (g < 4 ? 0 : 4), i)                                            \
    X("mma.m8n8.f32.C", 8, 8 * (g % 4) + (t & 1) + (i & 2) + (g < 4 ? 0 : 4), (i & 4) + (t & 2) + (i & 1))   \
    X("mma.sp.m16n8k16.f16.A", 4, i < 2 ? g : g + 8, 2 * t + (i & 1))                                         \
    X("mma.sp.m16n8k32.bf16.A", 8, i < 2 || (4 <= i && i < 6) ? g : g + 8, 2 * t + (i & 1) + (i < 4 ? 0 : 8)) \
    X("mma.sp.m16n8k32.f16.B", 8, 2 * t + (i & 1) + 8 * (i / 2), g)                                           \
    X("mma.sp.m16n8k8.tf32.A", 2, i == 0 ? g : g + 8, t)                                                      \
    X("mma.sp.m16n8k128.s4.A", 32, i < 8 || (16 <= i && i < 24) ? g : g + 8, 8 * t + (i & 7) + (i < 16 ? 0 : 32)) \
    X("mma.sp.m16n8k64.e4m3.B", 16, 4 * t + (i & 3) + 16 * (i / 4), g)
/* clang-format on */

enum {
#define X(name, count, row, column) 1 +
    OPERAND_COUNT = OPERANDS(X) 0
#undef X
};

static bool place(size_t which, int i, int g, int t, int64_t *at) {
    size_t k = 0;
#define X(name, count, row, column)                                                                          \
    if (k++ == which) {                                                                                      \
        at[0] = (row);                                                                                       \
        at[1] = (column);                                                                                    \
        return i < (count);                                                                                  \
    }
    OPERANDS(X)
#undef X
    return false;
}

static const struct {
    const char *name;
    int elements;
} operands[] = {
#define X(name, count, row, column) {name, count},
    OPERANDS(X)
#undef X
};

/* Slot i of lane 4g + t is element i, and the elements of all lanes are the whole tile. */
static void mma_operands(void **state) {
    for (size_t k = 0; k < OPERAND_COUNT; k++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        layout_fragment_request request;
        layout_error error;
        int64_t at[2], position[LAYOUT_AXIS_COUNT];
        if (!parse(arena, operands[k].name, &request, &error))
            fail_msg("%s: %s", operands[k].name, error.text);
        const layout_map *map = layout_map_make(arena, request.tile, request.shape, 2, &error);
        assert_non_null(map);
        assert_int_equal(map->size, 32 * operands[k].elements);
        assert_int_equal(map->axis_mask, 1u << LAYOUT_AXIS_M | 1u << LAYOUT_AXIS_LANEID);
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < operands[k].elements; i++) {
                assert_true(place(k, i, lane / 4, lane % 4, at));
                assert_true(layout_map_inside(arena, map, at, NULL));
                layout_map_at(map, at, position);
                for (uint32_t s = 0; s < map->axis_count; s++)
                    if (position[s] != (map->axes[s] == LAYOUT_AXIS_M ? i : lane))
                        fail_msg("%s: element %d of lane %d", operands[k].name, i, lane);
            }
        base_arena_destroy(arena);
    }
    /* the table that the algebra's vectors use says the same */
    for (uint32_t i = 0; layout_fragment_at(i) != NULL; i++) {
        const layout_fragment *f = layout_fragment_at(i);
        layout_fragment_request request;
        layout_error error;
        assert_true(parse(*state, f->name, &request, &error));
        assert_true(layout_equal(*state, request.tile,
                                 layout_parse(*state, f->layout, strlen(f->layout), NULL, NULL)));
        assert_true(request.bits == f->bits && request.shape[0] == f->shape[0] &&
                    request.shape[1] == f->shape[1]);
    }
}

/* Every name of the list is one, once, and the list holds every shape of every table. */
static void list_of_names(void **state) {
    size_t count;
    const char *const *names = layout_fragment_names(*state, &count);
    assert_true(count > 300);
    for (size_t i = 0; i < count; i++) {
        layout_fragment_request request;
        layout_error error;
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        if (!parse(arena, names[i], &request, &error))
            fail_msg("%s: %s", names[i], error.text);
        assert_true(request.word_count > 0 && request.word_count <= 5);
        base_arena_destroy(arena);
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                fail_msg("%s stands twice", names[i]);
    }
}

static void wgmma_operands(void **state) {
    static const struct {
        const char *name;
        int k, part; /* elements of a register */
    } rows[] = {{"wgmma.m64k16.bf16.A", 16, 2}, {"wgmma.m64k8.tf32.A", 8, 1}, {"wgmma.m64k32.e4m3.A", 32, 4}};
    for (size_t n = 0; n < 3; n++) {
        layout_fragment_request request;
        layout_error error;
        int64_t position[LAYOUT_AXIS_COUNT];
        assert_true(parse(*state, rows[n].name, &request, &error));
        const layout_map *map = layout_map_make(*state, request.tile, request.shape, 2, NULL);
        for (int64_t r = 0; r < 64; r++)
            for (int64_t c = 0; c < rows[n].k; c++) {
                int p = rows[n].part;
                int64_t registers = r / 8 % 2 + 2 * (c / (4 * p));
                layout_map_at(map, (int64_t[]){r, c}, position);
                for (uint32_t s = 0; s < map->axis_count; s++)
                    assert_int_equal(position[s], map->axes[s] == LAYOUT_AXIS_WID_IN_WG ? r / 16
                                                  : map->axes[s] == LAYOUT_AXIS_LANEID
                                                      ? 4 * (r % 8) + c % (4 * p) / p
                                                      : p * registers + c % p);
            }
    }
}

/* Whole tiles by name are those of the factories. */
static void tensor_memory(void **state) {
    base_arena *arena = *state;
    layout_fragment_request request;
    layout_error error;
    for (unsigned m = 0; m < LAYOUT_MOVEMENT_16X32BX2; m++)
        for (int64_t rows = 64; rows <= 128; rows += 64)
            for (int64_t columns = 1; columns <= 512; columns++)
                for (unsigned bits = 16; bits <= 32; bits += 16) {
                    const char *name = base_arena_format(arena, "tcgen05.atom.%s.%lldx%lld.b%u",
                                                         layout_movement_name((layout_movement)m),
                                                         (long long)rows, (long long)columns, bits);
                    const layout_tile *want =
                        layout_tcgen05_atom(arena, (layout_movement)m, rows, columns, bits, NULL);
                    bool ok = parse(arena, name, &request, &error);
                    assert_int_equal(ok, want != NULL);
                    if (ok)
                        assert_true(layout_equal(arena, request.tile, want) && request.word_count == 2);
                }
    static const int rows[] = {128, 64, 64, 128, 64, 64, 32};
    for (int letter = 'A'; letter <= 'G'; letter++)
        for (int upper = 0; upper < 2; upper++) {
            const char *name =
                base_arena_format(arena, "tcgen05.mma.%c.n64%s", letter, upper ? ".upper" : "");
            const layout_tile *want =
                layout_tmem_datapath(arena, (char)letter, rows[letter - 'A'], 64, upper, NULL);
            assert_int_equal(parse(arena, name, &request, &error), want != NULL);
            assert_true(want == NULL || layout_equal(arena, request.tile, want));
        }
    static const char *const copies[][2] = {{"128x256b", ""},
                                            {"4x256b", ""},
                                            {"128x128b", ""},
                                            {"64x128b", "warpx2::02_13"},
                                            {"64x128b", "warpx2::01_23"},
                                            {"32x128b", "warpx4"}};
    for (size_t i = 0; i < 6; i++) {
        const char *name = base_arena_format(arena, "tcgen05.cp.%s%s%s", copies[i][0],
                                             *copies[i][1] ? "." : "", copies[i][1]);
        int64_t columns = strstr(copies[i][0], "256") ? 8 : 4;
        assert_true(parse(arena, name, &request, &error));
        assert_true(layout_equal(arena, request.tile,
                                 layout_tmem_copy(arena, copies[i][0], copies[i][1], columns, NULL)));
    }
    for (int per = 1; per <= 4; per *= 2) {
        assert_true(parse(arena, base_arena_format(arena, "tcgen05.sf.128x8.%dX", per), &request, &error));
        assert_true(
            layout_equal(arena, request.tile, layout_tmem_scale_factors(arena, 128, 8, per, 1, 0, NULL)));
    }
}

static void words(void **state) {
    static const char *const rows[][2] = {
        {"mma.m16n8k32.s8.A", "A of mma.m16n8k32: 16 x 32 elements of 8 bits; each of 32 threads holds 16 of "
                              "them in 4 registers of 32 bits, 4 to a register, the first in the low bits."},
        {"mma.m8n8k4.f64.B",
         "B of mma.m8n8k4: 4 x 8 elements of 64 bits; each of 32 threads holds 1 of them in 1 register of 64 "
         "bits."},
        {"mma.m16n8.f16.D", "C and D of mma.m16n8: 16 x 8 elements of 16 bits; each of 32 threads holds 4 of "
                            "them in 2 registers of 32 bits, 2 to a register"},
        {"mma.m8n8.D", "Lane 4g + t holds row g, columns 2t and 2t + 1."},
        {"mma.m16n8k16.f16.A",
         "Lane 4g + t holds rows g and g + 8, and along k the word t of each group of four."},
        {"wgmma.m64n64", "64 x 64 elements of 32 bits; each of 128 threads holds 32 of them in 32 registers"},
        {"wgmma.m64n64.f16", "each of 128 threads holds 32 of them in 16 registers of 32 bits"},
        {"wgmma.m64k16.f16.A", "Warp w of the warpgroup holds rows 16w to 16w + 15."},
        {"ldmatrix.x4", "4 matrices of 8 x 8 elements of 16 bits, drawn side by side; lane 8q + r gives the "
                        "address of one row of 16 bytes, row r of matrix q."},
        {"ldmatrix.x1.trans", "Lane 4r + w gets elements 2w and 2w + 1 of column r of every matrix"},
        {"stmatrix.x2", "Lane 4r + w gives elements 2w and 2w + 1 of row r"},
        {"tcgen05.atom.16x256b.128x64.b16",
         "holds 128 x 64 elements of 16 bits, 32 registers of 32 bits per thread, 2 elements to a register."},
        {"tcgen05.atom.16x64b.128x64", "Each warp issues 16x64b twice, for the lower and the upper 16 lanes"},
        {"tcgen05.atom.16x64b.64x64", "Each warp issues 16x64b once"},
        {"tcgen05.mma.F.n64.upper",
         "Rows 16w to 16w + 15 lie on the upper 16 lanes of the window of warp w."},
        {"tcgen05.mma.G.n64", "the accumulator of cta_group::1, M = 32, .ws; 32 rows per CTA, 16 columns"},
        {"tcgen05.mma.B.n64", "part q of 2 lies on lanes 64 further"},
        {"tcgen05.cp.32x128b.warpx4",
         "Copies 32 rows of 128 bits from shared memory into 4 columns of tensor "
         "memory, each row to 4 lanes."},
        {"tcgen05.sf.128x4.4X", "128 rows of 4, scale_vec::4X: 4 of a row per MMA"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_fragment_request request;
        layout_error error;
        bool found = false;
        if (!parse(*state, rows[i][0], &request, &error))
            fail_msg("%s: %s", rows[i][0], error.text);
        for (uint32_t w = 0; w < request.word_count; w++)
            found = found || strstr(request.words[w], rows[i][1]) != NULL;
        if (!found)
            fail_msg("%s: %s %s", rows[i][0], request.words[0], request.words[1]);
    }
}

static void refused(void **state) {
    static const char *const rows[][2] = {
        {"mma.m16n8k64.f16.A", "there is no fragment of mma.m16n8k64 with f16; with it there are m16n8k8, "
                               "m16n8k16"},
        {"mma.m16n8k16.f17.A", "'f17' is no element type of an mma operand"},
        {"mma.m16n8k16.A", "'' is no element type of an mma operand"},
        {"mma.m16n8k16.f16.E", "mma has SHAPE.TYPE.A, B, C and D"},
        {"mma.m16n8k16.f16.A.x", "there is no fragment 'mma."},
        {"mma.m64n8.D", "accumulators of mma are m8n8 or m16n8"},
        {"mma.m16n8.u8.D", "accumulators of mma are m8n8 or m16n8 of f16, f32, s32 or f64, not m16n8 of u8"},
        {"mma.m99999999999n8k8.f16.A", "there is no fragment 'mma."},
        {"mma.", "there is no fragment 'mma."},
        {"wgmma.m64k16.s8.A", "A of wgmma is m64k16 of f16 or bf16"},
        {"wgmma.m64n64.f64", "wanted wgmma.m64nN"},
        {"wgmma", "wanted wgmma.m64nN"},
        {"tcgen05.atom.16x256b.128", "wanted tcgen05.atom, a shape"},
        {"tcgen05.atom.16x32bx2.64x8", "16x32bx2 has two column ranges"},
        {"tcgen05.atom.16x256b.128x7", "7 columns of 32 bits are 16x256b.x0 and a rest"},
        {"tcgen05.mma.H.n64", "the letter of a datapath (A to G)"},
        {"tcgen05.mma.D.n64.upper", "datapath D has no sub-slab 1"},
        {"tcgen05.mma.B.n63", "datapath B needs columns in multiples of 2, not 63"},
        {"tcgen05.cp.64x128b", "tcgen05.cp has no form 64x128b"},
        {"tcgen05.cp.64x", "wanted tcgen05.cp and a shape"},
        {"tcgen05.sf.128x4.3X", "wanted tcgen05.sf, rows x factors"},
        {"tcgen05.sf.100x4.1X", "scale factors have rows in multiples of 32, not 100"},
        {"tcgen05.shift", "of tcgen05 there are the fragments of ld, st and atom"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        layout_fragment_request request;
        layout_error error;
        assert_false(parse(*state, rows[i][0], &request, &error));
        if (error.text == NULL || strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], error.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(mma_operands),  UNIT_WITH_ARENA(list_of_names), UNIT_WITH_ARENA(wgmma_operands),
        UNIT_WITH_ARENA(tensor_memory), UNIT_WITH_ARENA(words),         UNIT_WITH_ARENA(refused),
    };
    return cmocka_run_group_tests_name("layout_fragment", tests, NULL, NULL);
}
