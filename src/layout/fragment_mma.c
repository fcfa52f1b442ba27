/* SPDX-License-Identifier: Apache-2.0
 * Fragments of mma.sync (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and its
 * neighbours). One rule makes them all: lane 4g + t holds words of 32 bits (64 for f64), rows g and g + 8 of
 * A, column g of B, and along k word t of each group of four. */
#include "layout/fragment_internal.h"
#include "layout/layout_internal.h"
#include <string.h>

/* The element types that share a width in registers, and the shapes with them. The 4-bit e2m1 stands in
 * bytes in the shapes that mix it with 8-bit types, in half-bytes in m16n8k64. */
static const struct mma_row {
    const char *types;
    unsigned bits;
    int m, n, k;
} mma_rows[] = {
    {" f16 bf16 ", 16, 16, 8, 8},
    {" f16 bf16 ", 16, 16, 8, 16},
    {" tf32 ", 32, 16, 8, 4},
    {" tf32 ", 32, 16, 8, 8},
    {" s8 u8 ", 8, 8, 8, 16},
    {" s8 u8 e4m3 e5m2 ", 8, 16, 8, 16},
    {" s8 u8 e4m3 e5m2 e3m2 e2m3 e2m1 ", 8, 16, 8, 32},
    {" s4 u4 ", 4, 8, 8, 32},
    {" s4 u4 ", 4, 16, 8, 32},
    {" s4 u4 e2m1 ", 4, 16, 8, 64},
    {" b1 ", 1, 8, 8, 128},
    {" b1 ", 1, 16, 8, 128},
    {" b1 ", 1, 16, 8, 256},
    {" f64 ", 64, 8, 8, 4},
    {" f64 ", 64, 16, 8, 4},
    {" f64 ", 64, 16, 8, 8},
    {" f64 ", 64, 16, 8, 16},
};

/* Of mma.sp: k counts what A stands for, of which half is stored (PTX ISA, "Sparse matrix storage" and the
 * fragments behind it: A has the fragment of the dense shape with half of k, B that of all of k). */
static const struct mma_row sparse_rows[] = {
    {" f16 bf16 ", 16, 16, 8, 16}, {" f16 bf16 ", 16, 16, 8, 32},
    {" tf32 ", 32, 16, 8, 8},      {" tf32 ", 32, 16, 8, 16},
    {" s8 u8 ", 8, 16, 8, 32},     {" s8 u8 e4m3 e5m2 e3m2 e2m3 e2m1 ", 8, 16, 8, 64},
    {" s4 u4 ", 4, 16, 8, 64},     {" s4 u4 e2m1 ", 4, 16, 8, 128},
};

bool fragment_mma_row(uint32_t index, bool sparse, const char **types, int *m, int *n, int *k) {
    const struct mma_row *rows = sparse ? sparse_rows : mma_rows;
    if (index >= (sparse ? sizeof sparse_rows / sizeof sparse_rows[0] : sizeof mma_rows / sizeof mma_rows[0]))
        return false;
    *types = rows[index].types;
    *m = rows[index].m;
    *n = rows[index].n;
    *k = rows[index].k;
    return true;
}

static bool listed(const char *types, base_text type) {
    for (const char *at = types; *at != 0; at++)
        if (*at == ' ' && strncmp(at + 1, type.data, type.size) == 0 && at[1 + type.size] == ' ')
            return type.size > 0;
    return false;
}

typedef struct list {
    layout_iter iters[8];
    uint32_t count;
} list;

static void add(list *l, int64_t extent, int64_t stride, layout_axis axis) {
    if (extent > 1)
        l->iters[l->count++] = (layout_iter){extent, stride, axis};
}

static const layout_tile *operand_tile(base_arena *arena, char operand, const struct mma_row *row,
                                       layout_error *error) {
    list l = {.count = 0};
    int64_t together = row->bits >= 32 ? 1 : 32 / row->bits, groups = row->k / (4 * together);
    int64_t halves = row->m / 8;
    if (operand == 'A') {
        add(&l, halves, together, LAYOUT_AXIS_M);
        add(&l, 8, 4, LAYOUT_AXIS_LANEID);
        add(&l, groups, halves * together, LAYOUT_AXIS_M);
        add(&l, 4, 1, LAYOUT_AXIS_LANEID);
        add(&l, together, 1, LAYOUT_AXIS_M);
    } else if (operand == 'B') {
        add(&l, groups, together, LAYOUT_AXIS_M);
        add(&l, 4, 1, LAYOUT_AXIS_LANEID);
        add(&l, together, 1, LAYOUT_AXIS_M);
        add(&l, 8, 4, LAYOUT_AXIS_LANEID);
    } else {
        add(&l, halves, 2, LAYOUT_AXIS_M);
        add(&l, 8, 4, LAYOUT_AXIS_LANEID);
        add(&l, 4, 1, LAYOUT_AXIS_LANEID);
        add(&l, 2, 1, LAYOUT_AXIS_M);
    }
    if (row->k == 4 && operand != 'D' && l.iters[0].axis == LAYOUT_AXIS_LANEID) /* one element: slot 0 */
        l.iters[l.count++] = (layout_iter){1, 1, LAYOUT_AXIS_M};
    return layout_make(arena, l.iters, l.count, NULL, 0, NULL, 0, error);
}

static void describe(base_arena *arena, layout_fragment_request *request, char operand, int threads,
                     const char *name) {
    int64_t elements = request->shape[0] * request->shape[1] / threads;
    unsigned wide = request->bits == 64 ? 64 : 32, together = wide / request->bits;
    fragment_say(
        arena, request,
        "%s of %s: %lld x %lld elements of %u bits; each of %d threads holds %lld of them in %lld "
        "register%s of %u bits%s.",
        operand == 'D'   ? (threads == 128 ? "D" : "C and D")
        : operand == 'A' ? "A"
                         : "B",
        name, (long long)request->shape[0], (long long)request->shape[1], request->bits, threads,
        (long long)elements, (long long)(elements / together), elements / together == 1 ? "" : "s", wide,
        together == 1 ? ""
                      : base_arena_format(arena, ", %u to a register, the first in the low bits", together));
    if (together > 1)
        fragment_say(arena, request, "Slot s is part s %% %u of register s / %u.", together, together);
    if (threads == 128)
        fragment_say(arena, request, "Warp w of the warpgroup holds rows 16w to 16w + 15.");
    bool two = request->shape[0] > 8; /* of rows, for A and D */
    fragment_say(arena, request, "Lane 4g + t holds %s%s.",
                 operand == 'B' ? "column g"
                 : two          ? "rows g and g + 8"
                                : "row g",
                 operand != 'D'          ? ", and along k the word t of each group of four"
                 : request->shape[1] > 8 ? ", columns 2t and 2t + 1 of each group of eight"
                                         : ", columns 2t and 2t + 1");
}

/* m16n8k16, m16n8; k is 0 when it is left out. */
static bool read_shape(base_text word, int *m, int *n, int *k) {
    int *numbers[3] = {m, n, k}, part = -1;
    *m = *n = *k = 0;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.data[i];
        if (part < 2 && c == "mnk"[part + 1])
            part++;
        else if (part < 0 || c < '0' || c > '9' || *numbers[part] > 999)
            return false;
        else
            *numbers[part] = 10 * *numbers[part] + (c - '0');
    }
    return part >= 1;
}

static bool refuse_shape(base_arena *arena, base_text shape, base_text type, bool sparse,
                         layout_error *error) {
    base_builder text;
    const char *types;
    int m, n, k;
    base_builder_start(&text, arena);
    for (uint32_t i = 0; fragment_mma_row(i, sparse, &types, &m, &n, &k); i++)
        if (listed(types, type))
            base_builder_format(&text, text.size == 0 ? "m%dn%dk%d" : ", m%dn%dk%d", m, n, k);
    if (!sparse && base_text_is(type, "f16"))
        base_builder_string(&text, ", m8n8k4");
    if (text.size == 0)
        return layout_refuse(arena, error,
                             "'%.*s' is no element type of an mma operand: f16, bf16, tf32, f64, s8, u8, "
                             "e4m3, e5m2, e3m2, e2m3, e2m1, s4, u4, b1",
                             (int)(type.size < 40 ? type.size : 40), type.data) != NULL;
    return layout_refuse(arena, error, "there is no fragment of mma%s.%.*s with %.*s; with it there are %s",
                         sparse ? ".sp" : "", (int)(shape.size < 40 ? shape.size : 40), shape.data,
                         (int)type.size, type.data, text.data) != NULL;
}

bool fragment_mma(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                  layout_error *error) {
    const char *begin = r->at;
    base_text shape = fragment_word(r), type, last, order;
    struct mma_row row = {.bits = 32};
    int k = 0;
    if (base_text_is(shape, "sp"))
        return fragment_mma_sparse(arena, r, request, error);
    type = fragment_word(r);
    last = fragment_word(r);
    order = fragment_word(r);
    if (type.size == 1 && last.size == 0) { /* m16n8.D: 32 bits */
        last = type;
        type = (base_text){"", 0};
    }
    char operand = last.size == 1 ? last.data[0] : 0;
    operand = operand == 'C' ? 'D' : operand;
    bool column = base_text_is(order, "col"), ordered = column || base_text_is(order, "row");
    bool shaped = read_shape(shape, &row.m, &row.n, &k);
    bool quad = row.m == 8 && row.n == 8 && (k == 4 || (k == 0 && operand == 'D')) &&
                (base_text_is(type, "f16") || (operand == 'D' && base_text_is(type, "f32")));
    if ((operand != 'A' && operand != 'B' && operand != 'D') || r->at < r->end || !shaped ||
        (order.size > 0 && (!quad || !ordered || operand == 'D')))
        return layout_refuse(
                   arena, error,
                   "there is no fragment 'mma.%.*s': mma has SHAPE.TYPE.A, B, C and D, as mma.m16n8k16.f16.A "
                   "and mma.m16n8.f32.D",
                   (int)(r->end - begin < 60 ? r->end - begin : 60), begin) != NULL;
    if (quad)
        return fragment_quad(arena, operand, base_text_is(type, "f32") ? 32 : 16,
                             ordered && column != (operand == 'B'), request, error);
    if (operand == 'D') {
        static const char *const words[] = {"f16", "f32", "s32", "f64"};
        static const unsigned widths[] = {16, 32, 32, 64};
        bool found = type.size == 0;
        for (unsigned i = 0; i < 4; i++)
            if (base_text_is(type, words[i])) {
                row.bits = widths[i];
                found = true;
            }
        if (!found || row.n != 8 || (row.m != 8 && row.m != 16))
            return layout_refuse(arena, error,
                                 "accumulators of mma are m8n8 or m16n8 of f16, f32, s32 or f64, not "
                                 "%.*s of %.*s",
                                 (int)(shape.size < 40 ? shape.size : 40), shape.data,
                                 (int)(type.size < 40 ? type.size : 40), type.data) != NULL;
    } else {
        size_t i = 0, count = sizeof mma_rows / sizeof mma_rows[0];
        while (i < count && !(listed(mma_rows[i].types, type) && mma_rows[i].m == row.m &&
                              mma_rows[i].n == row.n && mma_rows[i].k == k))
            i++;
        if (i == count)
            return refuse_shape(arena, shape, type, false, error);
        row = mma_rows[i];
    }
    request->shape[0] = operand == 'B' ? row.k : row.m;
    request->shape[1] = operand == 'A' ? row.k : row.n;
    request->bits = row.bits;
    request->tile = operand_tile(arena, operand, &row, error);
    if (request->tile == NULL)
        return false;
    describe(arena, request, operand, 32, base_arena_format(arena, "mma.%.*s", (int)shape.size, shape.data));
    return true;
}

bool fragment_mma_sparse(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                         layout_error *error) {
    const char *begin = r->at;
    base_text shape = fragment_word(r), type = fragment_word(r), last = fragment_word(r);
    struct mma_row row = {.bits = 32};
    int k = 0;
    char operand = last.size == 1 ? last.data[0] : 0;
    size_t i = 0, count = sizeof sparse_rows / sizeof sparse_rows[0];
    if ((operand != 'A' && operand != 'B') || r->at < r->end || !read_shape(shape, &row.m, &row.n, &k))
        return layout_refuse(arena, error,
                             "there is no fragment 'mma.sp.%.*s': mma.sp has SHAPE.TYPE.A and B, as "
                             "mma.sp.m16n8k32.f16.A; C and D are those of mma.m16n8",
                             (int)(r->end - begin < 60 ? r->end - begin : 60), begin) != NULL;
    while (i < count && !(listed(sparse_rows[i].types, type) && sparse_rows[i].m == row.m &&
                          sparse_rows[i].n == row.n && sparse_rows[i].k == k))
        i++;
    if (i == count)
        return refuse_shape(arena, shape, type, true, error);
    row = sparse_rows[i];
    if (operand == 'A')
        row.k /= 2;
    request->shape[0] = operand == 'B' ? row.k : row.m;
    request->shape[1] = operand == 'A' ? row.k : row.n;
    request->bits = row.bits;
    request->tile = operand_tile(arena, operand, &row, error);
    if (request->tile == NULL)
        return false;
    describe(arena, request, operand, 32,
             base_arena_format(arena, "mma.sp.%.*s", (int)shape.size, shape.data));
    if (operand == 'A')
        fragment_say(arena, request, "Columns count the elements that are stored, %s of the matrix.",
                     row.bits == 32 ? "one of every 2" : "2 of every 4");
    return true;
}

/* The accumulator m64nN (f32, s32, f16), and A from registers: four warps, each with the fragment of m16. */
bool fragment_wgmma(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                    layout_error *error) {
    base_text shape = fragment_word(r), type = fragment_word(r), last = fragment_word(r);
    base_text rest = {shape.data + 3, shape.size > 3 ? shape.size - 3 : 0};
    bool m64 = rest.size > 0 && strncmp(shape.data, "m64", 3) == 0;
    int n = m64 ? fragment_counted(rest, 'n') : -1, k = m64 ? fragment_counted(rest, 'k') : -1;
    bool operand_a = base_text_is(last, "A"),
         wide = type.size == 0 || base_text_is(type, "f32") || base_text_is(type, "s32");
    request->shape[0] = 64;
    if (r->at < r->end || (last.size > 0 && !operand_a && !base_text_is(last, "D")) ||
        (operand_a ? k : n) < 0 || (!operand_a && !wide && !base_text_is(type, "f16")))
        return layout_refuse(
                   arena, error,
                   "wanted wgmma.m64nN, as in wgmma.m64n128 (f32 or s32) and wgmma.m64n128.f16, or A "
                   "from registers, wgmma.m64k16.f16.A") != NULL;
    if (!operand_a) {
        request->bits = wide ? 32 : 16;
        request->shape[1] = n;
        request->tile = layout_wgmma_accumulator(arena, n, error);
    } else {
        struct mma_row row = {.m = 16, .n = 8, .k = k};
        row.bits = listed(" f16 bf16 ", type)          ? 16
                   : listed(" tf32 ", type)            ? 32
                   : listed(" s8 u8 e4m3 e5m2 ", type) ? 8
                                                       : 0;
        if (row.bits == 0 || (unsigned)k * row.bits != 256)
            return layout_refuse(
                       arena, error,
                       "A of wgmma is m64k16 of f16 or bf16, m64k8 of tf32, m64k32 of s8, u8, e4m3 or "
                       "e5m2, not %.*s of %.*s",
                       (int)(shape.size < 40 ? shape.size : 40), shape.data,
                       (int)(type.size < 40 ? type.size : 40), type.data) != NULL;
        const layout_tile *one = operand_tile(arena, 'A', &row, error);
        layout_iter iters[9] = {{4, 1, LAYOUT_AXIS_WID_IN_WG}};
        if (one == NULL)
            return false;
        for (uint32_t i = 0; i < one->shard_count; i++)
            iters[i + 1] = one->shard[i];
        request->bits = row.bits;
        request->shape[1] = k;
        request->tile = layout_make(arena, iters, one->shard_count + 1, NULL, 0, NULL, 0, error);
    }
    if (request->tile == NULL)
        return false;
    describe(arena, request, operand_a ? 'A' : 'D', 128,
             base_arena_format(arena, "wgmma.%.*s", (int)shape.size, shape.data));
    return true;
}
