/* SPDX-License-Identifier: Apache-2.0
 * Inputs, digests and the frame of the kernels of the conformance set. Must not know any instruction. */
#include "cases.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void case_put(case_text *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (text->size + (size_t)size + 1 > text->capacity) {
        text->capacity = 2 * (text->size + (size_t)size + 1);
        text->data = realloc(text->data, text->capacity);
        if (text->data == NULL)
            abort();
    }
    va_start(list, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, list);
    va_end(list);
    text->size += (size_t)size;
}

void case_start(case_builder *b, const char *name, unsigned threads) {
    case_taker *take = b->take;
    void *user = b->user;
    memset(b, 0, sizeof *b);
    b->take = take;
    b->user = user;
    b->version = 80;
    b->target = "sm_90";
    snprintf(b->c.name, sizeof b->c.name, "%s", name);
    b->c.blocks = CASE_BLOCKS;
    b->c.threads = threads;
}

unsigned case_input(case_builder *b, case_kind kind) {
    if (b->c.in_words == CASE_INPUTS)
        abort();
    b->c.kinds[b->c.in_words] = (uint8_t)kind;
    return b->c.in_words++;
}

unsigned case_part_add(case_builder *b, const char *name, unsigned words) {
    if (b->c.part_count == CASE_PARTS)
        abort();
    case_part *part = &b->c.parts[b->c.part_count++];
    snprintf(part->name, sizeof part->name, "%s", name);
    part->first = b->c.out_words;
    part->count = words;
    b->c.out_words += words;
    return part->first;
}

void case_end(case_builder *b) {
    recorded_case *c = &b->c;
    case_text text = {0};
    case_put(&text, ".version %u.%u\n.target %s\n.address_size 64\n%s", b->version / 10, b->version % 10,
             b->target, b->before.data ? b->before.data : "");
    case_put(&text, ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n");
    case_put(&text, ".reg .b32 %%i<%u>, %%o<%u>, %%t<8>;\n.reg .b64 %%a<8>;\n", c->in_words + 1,
             c->out_words + 1);
    case_put(&text,
             "ld.param.u64 %%a0, [in];\nld.param.u64 %%a1, [out];\nmov.u32 %%t7, %%tid.x;\nmov.u32 %%t1, "
             "%%ctaid.x;\n"
             "mov.u32 %%t2, %%ntid.x;\nmad.lo.u32 %%t0, %%t1, %%t2, %%t7;\nmul.wide.u32 %%a2, %%t0, %u;\n"
             "add.s64 %%a0, %%a0, %%a2;\nmul.wide.u32 %%a2, %%t0, %u;\nadd.s64 %%a1, %%a1, %%a2;\n",
             4 * c->in_words, 4 * c->out_words);
    for (unsigned i = 0; i < c->in_words; i++)
        case_put(&text, "ld.global.b32 %%i%u, [%%a0+%u];\n", i, 4 * i);
    case_put(&text, "%s", b->body.data);
    for (unsigned i = 0; i < c->out_words; i++)
        case_put(&text, "st.global.b32 [%%a1+%u], %%o%u;\n", 4 * i, i);
    case_put(&text, "ret;\n}\n");
    c->ptx = text.data;
    b->take(b->user, c);
    free(text.data);
    free(b->before.data);
    free(b->body.data);
}

/* ---- inputs ---- */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A float of any format: `exponent_bits` and `fraction_bits`; how: by the block's number. Blocks 0 to 2 hold
 * values near each other, 3 wide exponents, 4 few bits (sums cancel), 5 many zeros, 6 special values, 7 any
 * bits. */
static uint64_t some_float(uint64_t random, unsigned style, bool matrix, unsigned exponent_bits,
                           unsigned fraction_bits) {
    uint64_t sign = (random & 1) << (exponent_bits + fraction_bits), fraction = random >> 1;
    uint64_t choice = random >> 54, top = (1u << exponent_bits) - 1, bias = top >> 1, exponent;
    fraction &= ((uint64_t)1 << fraction_bits) - 1;
    uint64_t spread = exponent_bits < 5 ? 5 : 9, wide = exponent_bits < 6 ? top : 49;
    exponent = bias - spread / 2 + choice % spread;
    switch (style) {
    case 3:
        exponent = exponent_bits < 6 ? choice % top : bias - 24 + choice % wide;
        break;
    case 4:
        fraction &= ~(((uint64_t)1 << (fraction_bits > 2 ? fraction_bits - 2 : 0)) - 1);
        break;
    case 5:
        if (choice % 3)
            return choice % 2 ? sign : 0;
        exponent = bias - spread + choice % (2 * spread);
        break;
    case 6: {
        if (choice % (matrix ? 64 : 2))
            break;
        uint64_t low = fraction_bits ? (uint64_t)1 << (fraction_bits - 1) : 0,
                 all = ((uint64_t)1 << fraction_bits) - 1;
        const uint64_t specials[][2] = {{0, 0},         {top, 0},        {top, low},      {top, 1},
                                        {top - 1, all}, {0, 1},          {0, all},        {1, 0},
                                        {bias, 0},      {top, all},      {0, low},        {top - 1, 0},
                                        {bias, 1},      {bias + 1, all}, {bias - 1, all}, {1, all}};
        exponent = specials[(random >> 40) % 16][0];
        fraction = specials[(random >> 40) % 16][1];
        break;
    }
    case 7:
        exponent = choice % (top + (matrix ? 0 : 1));
        break;
    default:
        break;
    }
    return sign | exponent << fraction_bits | fraction;
}

static uint32_t input_word(const recorded_case *c, unsigned style, uint64_t random, uint64_t partner) {
    uint32_t word = 0;
    switch ((case_kind)c->kinds[partner]) {
    case CASE_ZERO:
        return 0;
    case CASE_F32:
        return (uint32_t)some_float(random, style, c->matrix, 8, 23);
    case CASE_F64_LOW:
        return (uint32_t)some_float(random, style, c->matrix, 11, 52);
    case CASE_F64_HIGH:
        return (uint32_t)(some_float(random, style, c->matrix, 11, 52) >> 32);
    case CASE_F16X2:
    case CASE_BF16X2:
        for (unsigned i = 0; i < 2; i++) {
            bool half = c->kinds[partner] == CASE_F16X2;
            word |= (uint32_t)some_float(mix(random + i), style, c->matrix, half ? 5 : 8, half ? 10 : 7)
                    << 16 * i;
        }
        return word;
    case CASE_E4M3X4:
    case CASE_E5M2X4:
        for (unsigned i = 0; i < 4; i++) {
            bool wide = c->kinds[partner] == CASE_E5M2X4;
            word |= (uint32_t)some_float(mix(random + i), style, c->matrix, wide ? 5 : 4, wide ? 2 : 3)
                    << 8 * i;
        }
        return word;
    case CASE_INT: {
        static const uint32_t edges[] = {
            0,     1,     2,       0xffffffffu, 0x7fffffffu, 0x80000000u, 0x7ffffffeu, 0x80000001u,
            0xffu, 0x80u, 0xffffu, 0x8000u,     0x7fffu,     31,          32,          0xfffffffeu};
        if (style >= 4 && random % 2)
            return edges[(random >> 8) % 16];
        return (uint32_t)(random >> 16) >> (style % 4 * 7);
    }
    case CASE_INT_HIGH:
        return style % 2 ? (uint32_t)(random >> 16) : (uint32_t) - (int32_t)(random >> 16 & 1);
    case CASE_SHIFT:
        return style == 7 ? (uint32_t)random : (uint32_t)(random % 71);
    case CASE_LANE:
        return (uint32_t)(random % 32);
    case CASE_BYTES:
        for (unsigned i = 0; i < 4; i++)
            word |= (uint32_t)(uint8_t)((int)(random >> 8 * i & 15) - 8) << 8 * i;
        return word;
    case CASE_BITS:
        break;
    }
    return (uint32_t)(random >> 16);
}

uint32_t *case_inputs(const recorded_case *c) {
    size_t count = (size_t)c->blocks * c->threads * c->in_words, n = 0;
    uint32_t *words = malloc((count + 1) * sizeof *words);
    if (words == NULL)
        abort();
    uint64_t seed = case_digest(14695981039346656037u, c->name, strlen(c->name));
    for (unsigned block = 0; block < c->blocks; block++)
        for (unsigned thread = 0; thread < c->threads; thread++)
            for (unsigned i = 0; i < c->in_words; i++, n++) {
                /* both halves of a double come from one number */
                unsigned of = c->kinds[i] == CASE_F64_HIGH ? i - 1 : i;
                uint64_t random = mix(seed ^ mix(((uint64_t)block * c->threads + thread) * 1024 + of));
                words[n] = input_word(c, block % 8, random, i);
            }
    return words;
}

uint64_t case_digest(uint64_t digest, const void *bytes, size_t size) { /* FNV-1a */
    const uint8_t *p = bytes;
    for (size_t i = 0; i < size; i++)
        digest = (digest ^ p[i]) * 1099511628211u;
    return digest;
}

uint64_t case_part_digest(const recorded_case *c, const case_part *part, const uint32_t *out,
                          unsigned block) {
    uint64_t digest = 14695981039346656037u;
    for (unsigned thread = 0; thread < c->threads; thread++)
        for (unsigned i = 0; i < part->count; i++) {
            uint32_t w = out[((size_t)block * c->threads + thread) * c->out_words + part->first + i];
            uint8_t bytes[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
            digest = case_digest(digest, bytes, 4);
        }
    return digest;
}

void cases_make(case_taker *take, void *user) {
    cases_scalar(take, user);
    cases_memory(take, user);
    cases_matrix(take, user);
    cases_wgmma(take, user);
    cases_wmma(take, user);
}
