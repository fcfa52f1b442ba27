/* SPDX-License-Identifier: Apache-2.0
 * A palette PNG in base64, so that a grid of many cells stays small inside of an SVG. The stream is deflate
 * with two kinds of repeats only, the byte before and the row above, under the fixed code: a few operations
 * per byte, and rows of one colour and rows that repeat shrink to almost nothing (RFC 1950, 1951, PNG
 * specification). Cells are drawn `scale` pixels wide, so that no viewer smooths their edges away. */
#include "view/view.h"
#include <string.h>

typedef struct bit_writer {
    base_builder *out;
    uint32_t bits, count;
} bit_writer;

static void put_bits(bit_writer *w, uint32_t value, uint32_t count) {
    w->bits |= value << w->count;
    for (w->count += count; w->count >= 8; w->count -= 8, w->bits >>= 8)
        base_builder_char(w->out, (char)(w->bits & 0xff));
}

/* Huffman codes go in with their highest bit first. */
static void put_code(bit_writer *w, uint32_t code, uint32_t count) {
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < count; i++)
        reversed |= (code >> i & 1) << (count - 1 - i);
    put_bits(w, reversed, count);
}

static void put_literal(bit_writer *w, uint8_t byte) {
    if (byte < 144)
        put_code(w, 0x30u + byte, 8);
    else
        put_code(w, 0x190u + (byte - 144u), 9);
}

/* A run of `length` (3 to 258) bytes as they stand `distance` (1 to 32768) bytes before. */
static void put_run(bit_writer *w, uint32_t length, uint32_t distance) {
    static const uint16_t base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                      31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    uint32_t i = 28;
    while (base[i] > length)
        i--;
    uint32_t code = 257 + i;
    if (code < 280)
        put_code(w, code - 256, 7);
    else
        put_code(w, 0xc0 + code - 280, 8);
    put_bits(w, length - base[i], extra[i]);
    uint32_t d = distance - 1, high = 0;
    while (d >> high > 3)
        high++;
    put_code(w, d < 4 ? d : 2 * high + (d >> high), 5);
    put_bits(w, d & ((1u << high) - 1), high);
}

/* Adler-32; 5,552 bytes are the most before its sums overflow 32 bits. */
static void checksum(const uint8_t *data, size_t size, base_builder *out) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size;) {
        for (size_t end = i + 5552 < size ? i + 5552 : size; i < end; i++) {
            a += data[i];
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    for (int shift = 24; shift >= 0; shift -= 8)
        base_builder_char(out, (char)((b << 16 | a) >> shift & 0xff));
}

static void deflate(const uint8_t *data, size_t stride, size_t rows, base_builder *out) {
    bit_writer w = {out, 0, 0};
    base_builder_add(out, "\x78\x01", 2);
    put_bits(&w, 3, 3); /* the last block, fixed code */
    for (size_t y = 0; y < rows; y++) {
        const uint8_t *row = data + y * stride;
        bool again = y > 0 && stride <= 32768 && memcmp(row, row - stride, stride) == 0;
        for (size_t i = 0; i < stride;) {
            size_t run = 0;
            while (run < 258 && i + run < stride &&
                   (again || (y + i > 0 && row[i + run] == data[y * stride + i - 1])))
                run++;
            if (run >= 3)
                put_run(&w, (uint32_t)run, again ? (uint32_t)stride : 1);
            else
                put_literal(&w, row[i]);
            i += run >= 3 ? run : 1;
        }
    }
    put_code(&w, 0, 7); /* end of block */
    put_bits(&w, 0, 7);
    checksum(data, stride * rows, out);
}

static void put_word(base_builder *out, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        base_builder_char(out, (char)(value >> shift & 0xff));
}

static uint32_t crc(const char *data, size_t size) {
    uint32_t value = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        value ^= (uint8_t)data[i];
        for (int k = 0; k < 8; k++)
            value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    }
    return ~value;
}

/* type and data in one */
static void put_chunk(base_builder *out, const base_builder *chunk) {
    put_word(out, (uint32_t)chunk->size - 4);
    base_builder_add(out, chunk->data, chunk->size);
    put_word(out, crc(chunk->data, chunk->size));
}

static void base64(const base_builder *in, base_builder *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in->size; i += 3) {
        uint32_t left = (uint32_t)(in->size - i < 3 ? in->size - i : 3), word = 0;
        for (uint32_t k = 0; k < 3; k++)
            word = word << 8 | (k < left ? (uint8_t)in->data[i + k] : 0);
        for (uint32_t k = 0; k < 4; k++)
            base_builder_char(out, k <= left ? digits[word >> (18 - 6 * k) & 63] : '=');
    }
}

void view_png(base_arena *arena, const view_pixels *p, bool dark, base_builder *out) {
    base_builder file, chunk;
    uint32_t width = p->width * p->scale_x, height = p->height * p->scale_y;
    uint8_t *rows = BASE_NEW_ARRAY(arena, uint8_t, (size_t)height * ((size_t)width + 1));
    base_builder_start(&file, arena);
    base_builder_add(&file, "\x89PNG\r\n\x1a\n", 8);
    base_builder_start(&chunk, arena);
    base_builder_string(&chunk, "IHDR");
    put_word(&chunk, width);
    put_word(&chunk, height);
    base_builder_add(&chunk, "\x08\x03\0\0\0", 5); /* 8 bits of palette index */
    put_chunk(&file, &chunk);
    base_builder_start(&chunk, arena);
    base_builder_string(&chunk, "PLTE");
    for (unsigned i = 0; i <= VIEW_COLOURS; i++) {
        uint32_t c = i < VIEW_COLOURS ? view_colour(i, dark, true) : 0;
        for (int shift = 16; shift >= 0; shift -= 8)
            base_builder_char(&chunk, (char)(c >> shift & 0xff));
    }
    put_chunk(&file, &chunk);
    base_builder_start(&chunk, arena);
    base_builder_string(&chunk, "tRNS");
    base_builder_repeat(&chunk, '\xff', VIEW_COLOURS);
    base_builder_char(&chunk, 0);
    put_chunk(&file, &chunk);
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = rows + (size_t)y * ((size_t)width + 1);
        if (y % p->scale_y != 0) {
            memcpy(row, row - width - 1, (size_t)width + 1);
            continue;
        }
        *row++ = 0; /* filter: none */
        for (uint32_t x = 0; x < p->width; x++) {
            uint8_t index = p->indices[(size_t)(y / p->scale_y) * p->width + x];
            memset(row, index == VIEW_EMPTY ? VIEW_COLOURS : index, p->scale_x);
            row += p->scale_x;
        }
    }
    base_builder_start(&chunk, arena);
    base_builder_string(&chunk, "IDAT");
    deflate(rows, (size_t)width + 1, height, &chunk);
    put_chunk(&file, &chunk);
    base_builder_start(&chunk, arena);
    base_builder_string(&chunk, "IEND");
    put_chunk(&file, &chunk);
    base64(&file, out);
}
