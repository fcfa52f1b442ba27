/* SPDX-License-Identifier: Apache-2.0
 * Names of what tcgen05 does to whole tiles: tcgen05.atom (what a warpgroup holds after ld), tcgen05.mma
 * (where an accumulator lies), tcgen05.cp (where a copy arrives), tcgen05.sf (where scale factors lie). */
#include "layout/fragment_internal.h"
#include "layout/layout_internal.h"
#include "layout/tmem.h"

/* tcgen05.atom.16x256b.128x64, .b16 for packed halves. */
static bool atom(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                 layout_error *error) {
    layout_movement movement;
    base_text shape = fragment_word(r), tile = fragment_word(r), bits = fragment_word(r);
    request->bits = base_text_is(bits, "b16") ? 16 : 32;
    if (!layout_movement_find(shape.data, shape.size, &movement) ||
        !fragment_pair(tile, &request->shape[0], &request->shape[1]) || r->at < r->end ||
        (bits.size > 0 && !base_text_is(bits, "b16") && !base_text_is(bits, "b32")))
        return layout_refuse(
                   arena, error,
                   "wanted tcgen05.atom, a shape (32x32b, 16x64b, 16x128b, 16x256b), rows x columns "
                   "and b16 or b32, as in tcgen05.atom.16x256b.128x64.b16") != NULL;
    request->tile =
        layout_tcgen05_atom(arena, movement, request->shape[0], request->shape[1], request->bits, error);
    if (request->tile == NULL)
        return false;
    int64_t registers = request->shape[0] * request->shape[1] * request->bits / 32 / 128;
    bool twice = request->shape[0] == 128 && movement != LAYOUT_MOVEMENT_32X32B;
    fragment_say(
        arena, request,
        "A warpgroup of 128 threads holds %lld x %lld elements of %u bits, %lld register%s of 32 bits "
        "per thread%s.",
        (long long)request->shape[0], (long long)request->shape[1], request->bits, (long long)registers,
        registers == 1 ? "" : "s", request->bits == 16 ? ", 2 elements to a register" : "");
    fragment_say(arena, request,
                 twice
                     ? "Each warp issues %s twice, for the lower and the upper 16 lanes of its window of 32."
                     : "Each warp issues %s once, on its own window of 32 lanes.",
                 layout_movement_name(movement));
    return true;
}

/* tcgen05.mma.F.n64, .upper for the upper half of each window. */
static bool accumulator(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                        layout_error *error) {
    static const struct {
        const char *words;
        int rows, folds;
    } paths[] = {{"cta_group::2, M = 256", 128, 1},          {"cta_group::2, M = 128, dense A", 64, 2},
                 {"cta_group::2, M = 128, sparse A", 64, 1}, {"cta_group::1, M = 128", 128, 1},
                 {"cta_group::1, M = 64, .ws", 64, 2},       {"cta_group::1, M = 64, not .ws", 64, 1},
                 {"cta_group::1, M = 32, .ws", 32, 4}};
    base_text letter = fragment_word(r), columns = fragment_word(r), half = fragment_word(r);
    int n = fragment_counted(columns, 'n');
    bool upper = base_text_is(half, "upper");
    if (letter.size != 1 || letter.data[0] < 'A' || letter.data[0] > 'G' || n < 0 || r->at < r->end ||
        (half.size > 0 && !upper))
        return layout_refuse(arena, error,
                             "wanted tcgen05.mma, the letter of a datapath (A to G) and the columns, as in "
                             "tcgen05.mma.F.n64; C and F also with .upper") != NULL;
    unsigned path = (unsigned)(letter.data[0] - 'A');
    request->shape[0] = paths[path].rows;
    request->shape[1] = n;
    request->bits = 32;
    request->tile = layout_tmem_datapath(arena, letter.data[0], paths[path].rows, n, upper, error);
    if (request->tile == NULL)
        return false;
    fragment_say(arena, request, "Datapath %c: the accumulator of %s; %d rows per CTA, %d columns of cells.",
                 letter.data[0], paths[path].words, paths[path].rows, n / paths[path].folds);
    if (paths[path].folds > 1)
        fragment_say(arena, request,
                     "The columns are folded: part q of %d lies on lanes %d further than part q - 1.",
                     paths[path].folds, 128 / paths[path].folds);
    else if (paths[path].rows == 64)
        fragment_say(arena, request, "Rows 16w to 16w + 15 lie on the %s 16 lanes of the window of warp w.",
                     upper ? "upper" : "lower");
    return true;
}

/* tcgen05.cp.64x128b.warpx2::02_13 */
static bool copy(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                 layout_error *error) {
    base_text shape = fragment_word(r), multicast = {r->at, (size_t)(r->end - r->at)};
    int64_t rows = 0, bits = 0;
    if (shape.size < 2 || shape.data[shape.size - 1] != 'b' ||
        !fragment_pair((base_text){shape.data, shape.size - 1}, &rows, &bits) || bits % 32 != 0)
        return layout_refuse(arena, error,
                             "wanted tcgen05.cp and a shape: 128x256b, 4x256b, 128x128b, "
                             "64x128b.warpx2::02_13, 64x128b.warpx2::01_23 or 32x128b.warpx4") != NULL;
    request->shape[0] = rows;
    request->shape[1] = bits / 32;
    request->bits = 32;
    request->tile =
        layout_tmem_copy(arena, base_arena_string(arena, shape.data, shape.size),
                         base_arena_string(arena, multicast.data, multicast.size), bits / 32, error);
    if (request->tile == NULL)
        return false;
    int64_t copies = request->tile->replica_count > 0 ? request->tile->replica[0].extent : 1;
    fragment_say(arena, request,
                 "Copies %lld rows of %lld bits from shared memory into %lld columns of tensor memory%s.",
                 (long long)rows, (long long)bits, (long long)(bits / 32),
                 copies > 1 ? base_arena_format(arena, ", each row to %lld lanes", (long long)copies) : "");
    return true;
}

/* tcgen05.sf.128x4.1X: rows x factors */
static bool scale_factors(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                          layout_error *error) {
    base_text tile = fragment_word(r), vector = fragment_word(r);
    int per = base_text_is(vector, "1X")   ? 1
              : base_text_is(vector, "2X") ? 2
              : base_text_is(vector, "4X") ? 4
                                           : 0;
    if (!fragment_pair(tile, &request->shape[0], &request->shape[1]) || per == 0 || r->at < r->end)
        return layout_refuse(arena, error,
                             "wanted tcgen05.sf, rows x factors and 1X, 2X or 4X, as in "
                             "tcgen05.sf.128x4.4X") != NULL;
    request->bits = 8;
    request->tile = layout_tmem_scale_factors(arena, request->shape[0], request->shape[1], per, 1, 0, error);
    if (request->tile == NULL)
        return false;
    fragment_say(
        arena, request,
        "Scale factors of 8 bits, %lld rows of %lld, scale_vec::%dX: %d of a row per MMA; 4 to a cell "
        "of tensor memory, so columns count bytes.",
        (long long)request->shape[0], (long long)request->shape[1], per, per);
    fragment_say(arena, request, "Each of the four windows of 32 lanes holds a copy.");
    return true;
}

bool fragment_tensor_memory(base_arena *arena, base_text kind, fragment_reader *r,
                            layout_fragment_request *request, layout_error *error) {
    if (base_text_is(kind, "atom"))
        return atom(arena, r, request, error);
    if (base_text_is(kind, "mma"))
        return accumulator(arena, r, request, error);
    if (base_text_is(kind, "cp"))
        return copy(arena, r, request, error);
    if (base_text_is(kind, "sf"))
        return scale_factors(arena, r, request, error);
    return layout_refuse(
               arena, error,
               "of tcgen05 there are the fragments of ld, st and atom (registers), and of mma, cp and "
               "sf (tensor memory), not of '%.*s'",
               (int)(kind.size < 40 ? kind.size : 40), kind.data) != NULL;
}
