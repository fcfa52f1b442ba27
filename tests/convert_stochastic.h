/* SPDX-License-Identifier: Apache-2.0
 * cvt.rs (PTX ISA 9.4, 9.7.10.24) beside the slow model: the boundary values of .f32 with random bits of
 * every kind, and every pattern of random bits with a few values of each kind. */
#ifndef TIRC_TESTS_CONVERT_STOCHASTIC_H
#define TIRC_TESTS_CONVERT_STOCHASTIC_H
#include "convert_forms.h"

/* Which of the 32 random bits an element takes, the weightiest first; elements from the lowest. */
typedef struct random_layout {
    unsigned count, digits;
    uint8_t bits[4][16];
} random_layout;

#define UP(n)   n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define DOWN(n) n, n - 1, n - 2, n - 3, n - 4, n - 5, n - 6, n - 7
static const random_layout layout_f16 = {
    2,
    13,
    {{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, {28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16}}};
static const random_layout layout_bf16 = {2, 16, {{DOWN(15), DOWN(7)}, {DOWN(31), DOWN(23)}}};
static const random_layout layout_bytes = {
    4, 16, {{DOWN(15), DOWN(7)}, {UP(0), UP(8)}, {DOWN(31), DOWN(23)}, {UP(16), UP(24)}}};
static const random_layout layout_e2m1 = {
    4, 16, {{DOWN(23), DOWN(7)}, {UP(0), UP(16)}, {DOWN(31), DOWN(15)}, {UP(8), UP(24)}}};

static uint32_t random_part(const random_layout *layout, unsigned element, uint32_t random) {
    uint32_t part = 0;
    for (unsigned k = 0; k < layout->digits; k++)
        part = part << 1 | (random >> layout->bits[element][k] & 1);
    return part;
}

typedef struct stochastic_form {
    const char *to;
    bool relu, satfinite;
    const random_layout *layout;
} stochastic_form;

static uint64_t stochastic_expected(const stochastic_form *f, const model_type *to, uint32_t bits,
                                    uint32_t part) {
    exact x = model_decode(type_of("f32"), bits);
    if (x.nan)
        return model_nan(to);
    if (f->relu && (x.negative || (!x.infinite && !x.significand)))
        x = (exact){0};
    uint64_t sign = x.negative ? model_sign(to) : 0;
    if (x.infinite)
        return model_overflow(to, sign, f->satfinite);
    uint32_t gone;
    uint64_t code = model_stochastic(to, x, f->layout->digits, &gone);
    if (gone == UINT32_MAX)
        return model_overflow(to, sign, f->satfinite);
    code += gone + part >= (uint32_t)1 << f->layout->digits;
    return code > model_largest(to) ? model_overflow(to, sign, f->satfinite) : sign | code;
}

/* in[i]: a value and random bits; other[i]: a value. The elements from the lowest: the value, the other, the
 * value negated, the other negated. */
static void stochastic_text(char *out, const char *version, const stochastic_form *f) {
    size_t size = 0;
    bool four = f->layout->count == 4;
    const char *target = !strcmp(f->to, "e2m1") ? "%h2" : "%w2";
    add_text(out, &size, ".version %s\n.target %s\n.address_size 64\n",
             strcmp(version, "sm_107a") ? "8.7" : "9.4", version);
    add_text(out, &size, "%s",
             ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
             ".reg .b16 %h<8>;\n.reg .b32 %w<16>;\n.reg .b64 %d<16>;\n.reg .f32 %f<8>;\n"
             "mov.u32 %w8, %ctaid.x;\nmov.u32 %w9, %tid.x;\nmad.lo.s32 %w8, %w8, 256, %w9;\n"
             "mul.wide.u32 %d8, %w8, 8;\nld.param.u64 %d9, [p0];\nadd.s64 %d9, %d9, %d8;\n"
             "ld.param.u64 %d10, [p1];\nadd.s64 %d10, %d10, %d8;\n"
             "ld.param.u64 %d11, [p2];\nadd.s64 %d11, %d11, %d8;\n"
             "ld.global.v2.u32 {%w0, %w5}, [%d9];\nld.global.u32 %w1, [%d10];\n"
             "mov.b32 %f0, %w0;\nmov.b32 %f1, %w1;\n"
             "xor.b32 %w3, %w0, 0x80000000;\nxor.b32 %w4, %w1, 0x80000000;\nmov.b32 %f2, %w3;\nmov.b32 %f3, "
             "%w4;\n");
    add_text(out, &size, "cvt.rs%s%s.%sx%u.f32 %s, %s, %%w5;\n", f->relu ? ".relu" : "",
             f->satfinite ? ".satfinite" : "", f->to, f->layout->count, target,
             four ? "{%f3, %f2, %f1, %f0}" : "%f1, %f0");
    add_text(out, &size, "cvt.u64.%s %%d2, %s;\nst.global.u64 [%%d11], %%d2;\nret;\n}\n",
             target[1] == 'h' ? "u16" : "u32", target);
}

static void stochastic_check(convert_test *test, const stochastic_form *f, const number_list *l) {
    const model_type *to = type_of(f->to);
    char text[4096];
    stochastic_text(text, test->target, f);
    uint64_t *in = l->items, *other = calloc(2 * l->count, 8), *out = other + l->count, bad = 0;
    for (size_t i = 0; i < l->count; i++)
        other[i] = (uint32_t)in[l->count - 1 - i];
    test->forms++, test->values += l->count * f->layout->count;
    if (!test->run(test->user, text, in, other, out, l->count)) {
        printf("cvt.rs to %s did not run\n", f->to);
        bad = 1;
    }
    unsigned width = f->layout->count == 2 ? 16 : to->bits == 4 ? 4 : 8;
    for (size_t i = 0; i < l->count; i++)
        for (unsigned k = 0; k < f->layout->count; k++) {
            uint32_t x = (uint32_t)(k & 1 ? other[i] : in[i]) ^ (k & 2 ? 0x80000000u : 0),
                     random = (uint32_t)(in[i] >> 32);
            uint64_t want = stochastic_expected(f, to, x, random_part(f->layout, k, random)),
                     got = out[i] >> (k * width) & (((uint64_t)1 << width) - 1);
            if (got != want && bad++ < 3)
                printf("cvt.rs%s%s to %s of %#x with %#x, element %u: %#llx, expected %#llx\n",
                       f->relu ? ".relu" : "", f->satfinite ? ".satfinite" : "", f->to, x, random, k,
                       (unsigned long long)got, (unsigned long long)want);
        }
    test->failures += bad;
    free(other);
}

/* Values where the random bits decide: between two numbers, below the least, above the largest. */
static number_list deciding(const model_type *to, unsigned digits) {
    number_list l = {0};
    exact codes[] = {{0},
                     model_magnitude(to, 1),
                     model_magnitude(to, (uint64_t)1 << to->mantissa),
                     model_magnitude(to, model_largest(to) / 2),
                     model_magnitude(to, model_largest(to))};
    const model_type *single = type_of("f32");
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++)
        for (unsigned part = 1; part <= 2; part++) {
            exact x = codes[c];
            if (!x.significand)
                x.exponent = model_magnitude(to, 1).exponent;
            x.significand = (x.significand << digits) + ((uint64_t)part * 0x55555 & ((1u << digits) - 1));
            x.exponent -= (int)digits;
            add(&l, model_encode(single, x, ROUND_RN, true));
        }
    return l;
}

static inline void convert_stochastic(convert_test *test) {
    static const stochastic_form forms[] = {
        {.to = "f16", .layout = &layout_f16},    {.to = "bf16", .layout = &layout_bf16},
        {.to = "e4m3", .layout = &layout_bytes}, {.to = "e5m2", .layout = &layout_bytes},
        {.to = "e2m3", .layout = &layout_bytes}, {.to = "e3m2", .layout = &layout_bytes},
        {.to = "e2m1", .layout = &layout_e2m1},
    };
    if (!strcmp(test->target, "sm_90a"))
        return;
    number_list single = inputs("f32");
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        stochastic_form f = forms[k];
        const random_layout *layout = f.layout;
        number_list every = {0}, values = deciding(type_of(f.to), layout->digits);
        for (size_t v = 0; v < values.count; v++) /* each pattern in the half that the first element reads */
            for (uint32_t r = 0; r >> 16 == 0; r++) {
                uint32_t random = layout == &layout_e2m1 ? (r & 0xff) | (r & 0xff00) << 8 : r;
                add(&every, values.items[v] |
                                (uint64_t)(random | ~random << (layout == &layout_e2m1 ? 8 : 16)) << 32);
            }
        number_list some = {0};
        uint32_t state = 12345;
        for (size_t v = 0; v < single.count; v++)
            for (int kind = 0; kind < 3; kind++) {
                state = state * 1664525 + 1013904223;
                uint32_t random = kind == 0 ? 0 : kind == 1 ? UINT32_MAX : state;
                add(&some, single.items[v] | (uint64_t)random << 32);
            }
        while (some.count % BLOCK)
            add(&some, some.items[0]);
        bool narrow = layout->count == 4;
        for (unsigned flags = 0; flags < 4; flags++) {
            f.relu = flags & 1, f.satfinite = flags & 2;
            if (narrow && !f.satfinite)
                continue;
            stochastic_check(test, &f, &some);
            if (!f.relu && f.satfinite)
                stochastic_check(test, &f, &every);
        }
        free(every.items), free(values.items), free(some.items);
    }
    free(single.items);
}
#endif
