/* SPDX-License-Identifier: Apache-2.0
 * From the name of an instruction to its fragment. */
#include "layout/fragment_internal.h"
#include "layout/layout_internal.h"
#include <stdarg.h>
#include <string.h>

base_text fragment_word(fragment_reader *r) {
    const char *begin = r->at;
    while (r->at < r->end && *r->at != '.')
        r->at++;
    base_text word = {begin, (size_t)(r->at - begin)};
    if (r->at < r->end)
        r->at++;
    return word;
}

static int digits(const char *text, size_t size) {
    int n = 0;
    if (size == 0 || size > 5)
        return -1;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        n = 10 * n + (text[i] - '0');
    }
    return n;
}

int fragment_counted(base_text word, char letter) {
    return word.size < 2 || word.size > 5 || word.data[0] != letter ? -1
                                                                    : digits(word.data + 1, word.size - 1);
}

bool fragment_pair(base_text word, int64_t *first, int64_t *second) {
    const char *x = word.size == 0 ? NULL : memchr(word.data, 'x', word.size);
    if (x == NULL)
        return false;
    *first = digits(word.data, (size_t)(x - word.data));
    *second = digits(x + 1, (size_t)(word.data + word.size - x - 1));
    return *first >= 0 && *second >= 0;
}

void fragment_say(base_arena *arena, layout_fragment_request *request, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    request->words[request->word_count++] = base_arena_format_list(arena, format, arguments);
    va_end(arguments);
}

/* m16n8k16 and the like. */
static bool is_mma_shape(base_text word) {
    bool digits = false, n = false;
    if (word.size < 4 || word.data[0] != 'm')
        return false;
    for (size_t i = 1; i < word.size; i++) {
        char c = word.data[i];
        n = n || (c == 'n' && digits);
        digits = c >= '0' && c <= '9';
        if (!digits && c != 'n' && c != 'k')
            return false;
    }
    return n;
}

static void describe_transfer(base_arena *arena, layout_fragment_request *request) {
    const layout_transfer_size *size = &request->size;
    bool pack = request->transfer.pack;
    fragment_say(
        arena, request,
        "One warp %s %d lanes x %d bits = %d cells of tensor memory%s; %d register%s of 32 bits per thread "
        "(%d x 32 = %d).",
        request->store ? "writes" : "reads", size->lanes, size->bits_per_lane, size->cells,
        pack ? ", the low 16 bits of each" : "", size->registers, size->registers == 1 ? "" : "s",
        size->registers, 32 * size->registers);
    if (pack)
        fragment_say(arena, request,
                     "Register r holds column 2c in its low half and column 2c + 1 in its high half; slot 2r "
                     "is the low half.");
    if (request->tile == NULL)
        fragment_say(arena, request,
                     "The second half lies %lld columns to the right of the first; it is drawn beside it.",
                     (long long)request->transfer.split);
    fragment_say(
        arena, request,
        "The warp's window starts at TMEM lane 32 x (warp in warpgroup)%s; rows and columns count from the "
        "address.",
        size->lanes == 16 ? ", or 16 further" : "");
}

static bool transfer(base_arena *arena, fragment_reader *r, bool pack, int64_t split,
                     layout_fragment_request *request, layout_error *error) {
    bool shaped = false, counts = false;
    request->is_transfer = true;
    request->transfer.pack = pack;
    request->transfer.split = split;
    while (r->at < r->end) {
        base_text word = fragment_word(r);
        int n = fragment_counted(word, 'x');
        if (is_mma_shape(word))
            return layout_refuse(
                       arena, error,
                       "%.*s is a shape of a matrix multiplication (rows, columns, depth); ld and st "
                       "move TMEM lanes by bits: 32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2",
                       (int)word.size, word.data) != NULL;
        if (!shaped && layout_movement_find(word.data, word.size, &request->transfer.movement))
            shaped = true;
        else if (!counts && n >= 0) {
            request->transfer.count = n;
            counts = true;
        } else if (base_text_is(word, request->store ? "unpack::16b" : "pack::16b"))
            request->transfer.pack = true;
        else if (!base_text_is(word, "sync") && !base_text_is(word, "aligned") && !base_text_is(word, "b32"))
            return layout_refuse(arena, error,
                                 "'%.*s' is no part of tcgen05.%s; wanted: a shape (32x32b, 16x64b, 16x128b, "
                                 "16x256b, 16x32bx2), then x1 to x128%s",
                                 (int)(word.size < 40 ? word.size : 40), word.data,
                                 request->store ? "st" : "ld",
                                 request->store ? ", unpack::16b" : ", pack::16b") != NULL;
    }
    if (!shaped || !counts)
        return layout_refuse(arena, error, "tcgen05.%s needs %s", request->store ? "st" : "ld",
                             shaped ? "a repeat count, x1 to x128"
                                    : "a shape: 32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2") != NULL;
    if (!layout_transfer_measure(arena, &request->transfer, &request->size, error))
        return false;
    request->shape[0] = request->size.lanes;
    request->shape[1] = request->size.columns;
    request->bits = request->transfer.pack ? 16 : 32;
    request->tile = layout_transfer_layout(arena, &request->transfer, error);
    if (request->tile == NULL && error != NULL)
        error->text = NULL; /* two separate tiles: no single layout, but a fragment all the same */
    describe_transfer(arena, request);
    return true;
}

static bool matrix(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                   layout_error *error) {
    bool transposed = false;
    int count = 1;
    while (r->at < r->end) {
        base_text word = fragment_word(r);
        int n = fragment_counted(word, 'x');
        if (n >= 0)
            count = n;
        else if (base_text_is(word, "trans"))
            transposed = true;
        else if (!base_text_is(word, "sync") && !base_text_is(word, "aligned") &&
                 !base_text_is(word, "m8n8") && !base_text_is(word, "shared") && !base_text_is(word, "b16"))
            return layout_refuse(arena, error,
                                 "'%.*s' is no part of ldmatrix and stmatrix: m8n8, x1, x2, x4, trans",
                                 (int)(word.size < 40 ? word.size : 40), word.data) != NULL;
    }
    request->tile = layout_matrix_fragment(arena, count, transposed, error);
    request->shape[0] = 8;
    request->shape[1] = 8 * (int64_t)count;
    request->bits = 16;
    if (request->tile == NULL)
        return false;
    fragment_say(
        arena, request,
        "%d matri%s of 8 x 8 elements of 16 bits, drawn side by side; lane %sgives the address of one "
        "row of 16 bytes%s.",
        count, count == 1 ? "x" : "ces", count == 1 ? "r " : "8q + r ",
        count == 1 ? "" : ", row r of matrix q");
    fragment_say(
        arena, request,
        "Lane 4r + w %s elements 2w and 2w + 1 of %s r of every matrix, in register q of 32 bits for "
        "matrix q; slot s is half s %% 2 of register s / 2.",
        request->store ? "gives" : "gets", transposed ? "column" : "row");
    return true;
}

bool layout_fragment_parse(base_arena *arena, const char *name, size_t size, bool pack, int64_t split,
                           layout_fragment_request *request, layout_error *error) {
    fragment_reader r = {name, name + size};
    memset(request, 0, sizeof *request);
    base_text word = fragment_word(&r);
    if (base_text_is(word, "tcgen05")) {
        word = fragment_word(&r);
        request->store = base_text_is(word, "st");
        if (request->store || base_text_is(word, "ld"))
            return transfer(arena, &r, pack, split, request, error);
        if (pack || split != 0)
            return layout_refuse(arena, error, "packing and a second half belong to tcgen05.ld and st") !=
                   NULL;
        return fragment_tensor_memory(arena, word, &r, request, error);
    }
    if (pack || split != 0)
        return layout_refuse(arena, error, "packing and a second half belong to tcgen05.ld and st") != NULL;
    request->store = base_text_is(word, "stmatrix");
    if (request->store || base_text_is(word, "ldmatrix"))
        return matrix(arena, &r, request, error);
    if (base_text_is(word, "wgmma"))
        return fragment_wgmma(arena, &r, request, error);
    if (base_text_is(word, "mma"))
        return fragment_mma(arena, &r, request, error);
    return layout_refuse(arena, error,
                         "there is no fragment '%.*s'; there are tcgen05.ld.16x128b.x4, tcgen05.st..., "
                         "tcgen05.atom.16x256b.128x64, tcgen05.mma.F.n64, tcgen05.cp.32x128b.warpx4, "
                         "tcgen05.sf.128x4.4X, mma.m16n8k16.f16.A, mma.m16n8.f32.D, mma.sp.m16n8k32.f16.A, "
                         "wgmma.m64n128, "
                         "wgmma.m64k16.f16.A, ldmatrix.x4.trans and stmatrix.x4",
                         (int)(size < 60 ? size : 60), name) != NULL;
}
