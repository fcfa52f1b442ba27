/* SPDX-License-Identifier: Apache-2.0
 * From the name of an instruction to its fragment. */
#include "layout/fragment.h"
#include "layout/layout_internal.h"
#include <string.h>

typedef struct name_reader {
    const char *at, *end;
} name_reader;

/* The next word up to a dot. */
static base_text next_word(name_reader *r) {
    const char *begin = r->at;
    while (r->at < r->end && *r->at != '.')
        r->at++;
    base_text word = {begin, (size_t)(r->at - begin)};
    if (r->at < r->end)
        r->at++;
    return word;
}

/* "x4", "n128": the letter and a number of at most 4 digits; -1 when it is none. */
static int counted(base_text word, char letter) {
    int n = 0;
    if (word.size < 2 || word.size > 5 || word.data[0] != letter)
        return -1;
    for (size_t i = 1; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '9')
            return -1;
        n = 10 * n + (word.data[i] - '0');
    }
    return n;
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

static bool transfer(base_arena *arena, name_reader *r, bool pack, int64_t split,
                     layout_fragment_request *request, layout_error *error) {
    bool shaped = false, counts = false;
    request->is_transfer = true;
    request->transfer.pack = pack;
    request->transfer.split = split;
    while (r->at < r->end) {
        base_text word = next_word(r);
        int n = counted(word, 'x');
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
    return true;
}

static bool matrix(base_arena *arena, name_reader *r, layout_fragment_request *request, layout_error *error) {
    bool transposed = false;
    int count = 1;
    while (r->at < r->end) {
        base_text word = next_word(r);
        int n = counted(word, 'x');
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
    return request->tile != NULL;
}

static bool named(base_arena *arena, const char *name, size_t size, layout_fragment_request *request,
                  layout_error *error) {
    const layout_fragment *fragment = layout_fragment_find(name, size);
    if (fragment == NULL) {
        base_builder text;
        base_builder_start(&text, arena);
        for (uint32_t i = 0; layout_fragment_at(i) != NULL; i++)
            base_builder_format(&text, i == 0 ? "%s" : ", %s", layout_fragment_at(i)->name);
        return layout_refuse(
                   arena, error,
                   "there is no fragment '%.*s'; there are tcgen05.ld and tcgen05.st with a shape and "
                   "a count, ldmatrix.x4, stmatrix.x4, wgmma.m64n128, %s",
                   (int)(size < 60 ? size : 60), name, text.data) != NULL;
    }
    request->tile = layout_parse(arena, fragment->layout, strlen(fragment->layout), NULL, error);
    request->shape[0] = fragment->shape[0];
    request->shape[1] = fragment->shape[1];
    request->bits = fragment->bits;
    return request->tile != NULL;
}

static bool wgmma(base_arena *arena, name_reader *r, layout_fragment_request *request, layout_error *error) {
    base_text word = next_word(r);
    int n = -1;
    if (word.size > 3 && memcmp(word.data, "m64", 3) == 0)
        n = counted((base_text){word.data + 3, word.size - 3}, 'n');
    if (n < 0)
        return layout_refuse(arena, error, "wgmma needs m64nN, as in wgmma.m64n128") != NULL;
    request->tile = layout_wgmma_accumulator(arena, n, error);
    request->shape[0] = 64;
    request->shape[1] = n;
    request->bits = 32;
    return request->tile != NULL;
}

bool layout_fragment_parse(base_arena *arena, const char *name, size_t size, bool pack, int64_t split,
                           layout_fragment_request *request, layout_error *error) {
    name_reader r = {name, name + size};
    memset(request, 0, sizeof *request);
    base_text word = next_word(&r);
    if (base_text_is(word, "tcgen05")) {
        word = next_word(&r);
        request->store = base_text_is(word, "st");
        if (request->store || base_text_is(word, "ld"))
            return transfer(arena, &r, pack, split, request, error);
        return layout_refuse(arena, error, "of tcgen05, ld and st have fragments, not '%.*s'",
                             (int)(word.size < 40 ? word.size : 40), word.data) != NULL;
    }
    if (pack || split != 0)
        return layout_refuse(arena, error, "packing and a second half belong to tcgen05.ld and st") != NULL;
    request->store = base_text_is(word, "stmatrix");
    if (request->store || base_text_is(word, "ldmatrix"))
        return matrix(arena, &r, request, error);
    if (base_text_is(word, "wgmma"))
        return wgmma(arena, &r, request, error);
    return named(arena, name, size, request, error);
}
