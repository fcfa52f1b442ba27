/* SPDX-License-Identifier: Apache-2.0
 * Every form of cvt (PTX ISA 9.4, 9.7.10.24) but the stochastic ones (convert_stochastic.h) with the slow
 * model of numbers beside it: all patterns of sources up to 16 bits, boundary values of the others, one
 * kernel for each form. Who runs the kernels is the test's own affair. */
#ifndef TIRC_TESTS_CONVERT_FORMS_H
#define TIRC_TESTS_CONVERT_FORMS_H
#include "number_inputs.h"
#include <stdarg.h>
#include <stdio.h>

enum { BLOCK = 256 };

/* The model's name of a PTX type. */
static const struct {
    const char *ptx, *model;
} names[] = {
    {"s8", "int8"},
    {"s16", "int16"},
    {"s32", "int32"},
    {"s64", "int64"},
    {"u8", "uint8"},
    {"u16", "uint16"},
    {"u32", "uint32"},
    {"u64", "uint64"},
    {"f16", "float16"},
    {"bf16", "bfloat16"},
    {"tf32", "tfloat32"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"e4m3", "float8_e4m3fn"},
    {"e5m2", "float8_e5m2"},
    {"e2m3", "float6_e2m3fn"},
    {"e3m2", "float6_e3m2fn"},
    {"e2m1", "float4_e2m1fn"},
    {"ue8m0", "float8_e8m0fnu"},
};

/* Formats of PTX that are no element types of the language (PTX ISA 9.4, 5.2.3 and 5.2.4). */
static const model_type ue5m3 = {"ue5m3", 8, MODEL_FLOAT, 5, 3, 15, TOP_UNSIGNED, 0};
static const model_type s2f6 = {"s2f6", 8, MODEL_SIGNED, 0, 0, 0, TOP_IEEE, 0}; /* in units of 1/64 */

static const model_type *type_of(const char *ptx) {
    if (!strcmp(ptx, "ue5m3"))
        return &ue5m3;
    if (!strcmp(ptx, "s2f6"))
        return &s2f6;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i].ptx, ptx))
            return model_find(names[i].model);
    abort();
}

typedef struct form {
    const char *rounding; /* "", ".rn", ".rni" ... */
    bool ftz, sat, satfinite, relu, pzo;
    int scaled; /* factors: 0, 1 or 2 */
    const char *to, *from;
    bool pair; /* two elements: .x2 of a narrow type */
} form;

static void form_text(char *out, size_t size, const form *f) {
    const char *x2 = f->pair ? "x2" : "";
    static const char *const scales[] = {"", ".scaled::n1::ue8m0", ".scaled::n2::ue8m0"};
    snprintf(out, size, "cvt%s%s%s%s%s%s%s.%s%s.%s%s", f->rounding, f->ftz ? ".ftz" : "",
             f->sat ? ".sat" : "", f->satfinite ? ".satfinite" : "", f->relu ? ".relu" : "",
             f->pzo ? ".pzo" : "", scales[f->scaled], f->to, x2, f->from, strcmp(f->from, "f32") ? x2 : "");
}

/* ---- the model of a form ---- */
static model_rounding rounding_of(const form *f) {
    const char *r = f->rounding;
    return !strncmp(r, ".rna", 4)  ? ROUND_RNA
           : !strncmp(r, ".rz", 3) ? ROUND_RZ
           : !strncmp(r, ".rp", 3) ? ROUND_RP
           : !strncmp(r, ".rm", 3) ? ROUND_RM
                                   : ROUND_RN;
}

static bool is_integral(const form *f) {
    return strlen(f->rounding) == 4 && f->rounding[3] == 'i';
}

static bool is_subnormal(const model_type *t, exact x) {
    exact least = {.significand = 1, .exponent = 1 - t->bias};
    return !x.nan && !x.infinite && x.significand && exact_compare(x, least) < 0;
}

/* Rounded to a whole number of the same type. */
static exact whole(const model_type *t, exact x, model_rounding r) {
    if (x.nan || x.infinite || x.exponent >= 0)
        return x;
    bool negative = x.negative;
    uint64_t bits = model_to_integer(64, true, x, r, 0);
    (void)t;
    return exact_of_integer(negative, negative ? 0 - bits : bits);
}

/* The value divided by a ue8m0 on the way down, multiplied on the way up. */
static exact scaled(const form *f, const model_type *from, exact x, unsigned factor) {
    if (f->scaled == 1 && is_subnormal(from, x))
        x.significand = 0;
    x.nan |= factor == 255;
    int power = (int)factor - 127;
    x.exponent += !strcmp(f->to, "bf16") ? power : -power;
    return x;
}

static uint64_t expected(const form *f, const model_type *to, const model_type *from, uint64_t bits,
                         unsigned factor) {
    exact x = model_decode(from, bits);
    if (from == &s2f6)
        x.exponent -= 6;
    if (f->scaled)
        x = scaled(f, from, x, factor);
    model_rounding r = rounding_of(f);
    const exact one = {.significand = 1}, zero = {0};
    bool single_in = !strcmp(f->from, "f32"), single_out = !strcmp(f->to, "f32");
    /* to .f16 an H200 keeps them: .rp gives the least number */
    if (f->ftz && single_in && strcmp(f->to, "f16") && is_subnormal(from, x))
        x.significand = 0;
    if (to == &s2f6) {
        if (f->relu && x.negative && !x.nan)
            x = zero;
        x.exponent += 6;
        return model_to_integer(8, true, x, r, 127);
    }
    if (to->kind != MODEL_FLOAT) {
        if (from->kind == MODEL_FLOAT) {
            bool top = from->bits == 64 || to->bits == 64; /* NaN: PTX ISA 9.0, cvt */
            return model_to_integer(to->bits, to->kind == MODEL_SIGNED, x, r,
                                    top ? (uint64_t)1 << (to->bits - 1) : 0);
        }
        if (f->sat)
            return model_to_integer(to->bits, to->kind == MODEL_SIGNED, x, ROUND_RZ, 0);
        return model_cast(to, from, bits);
    }
    if (is_integral(f))
        x = whole(from, x, r), r = ROUND_RN;
    if (f->sat) { /* to [0, 1]; NaN gives +0 */
        if (x.nan || x.negative || (!x.infinite && !x.significand))
            x = zero;
        else if (x.infinite || exact_compare(x, one) > 0)
            x = one;
    }
    if (f->relu && !x.nan && (x.negative || (!x.infinite && !x.significand)))
        x = zero;
    uint64_t result = model_encode(to, x, r, f->satfinite);
    if (f->ftz && single_out && is_subnormal(to, model_decode(to, result)))
        result &= 0x80000000u;
    exact rounded = model_decode(to, result);
    if (f->pzo && !rounded.nan && !rounded.infinite && !rounded.significand)
        result = 0;
    return result;
}

/* ---- the kernel of a form: out[i] = cvt in[i], 64 bits each; pairs also take in[count - 1 - i] ---- */
static unsigned register_bits(const model_type *t) {
    return t->bits <= 8 && (t->kind == MODEL_FLOAT || t == &s2f6) ? 8 : t->bits < 16 ? 16 : t->bits;
}

static char letter(unsigned bits) {
    return bits == 64 ? 'd' : bits == 32 ? 'w' : 'h';
}

__attribute__((format(printf, 3, 4))) static void add_text(char *out, size_t *size, const char *pattern,
                                                           ...) {
    va_list arguments;
    va_start(arguments, pattern);
    *size += (size_t)vsnprintf(out + *size, 4096 - *size, pattern, arguments);
    va_end(arguments);
}

static void kernel_text(char *out, const char *version, const form *f, const model_type *to,
                        const model_type *from) {
    char name[96];
    form_text(name, sizeof name, f);
    size_t size = 0;
    add_text(out, &size, ".version %s\n.target %s\n.address_size 64\n",
             !strcmp(version, "sm_107a")   ? "9.4"
             : !strcmp(version, "sm_100a") ? "9.2"
                                           : "8.6",
             version);
    add_text(out, &size, "%s",
             ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
             ".reg .b8 %c<4>;\n.reg .b16 %h<8>;\n.reg .b32 %w<16>;\n.reg .b64 %d<16>;\n"
             "mov.u32 %w8, %ctaid.x;\nmov.u32 %w9, %tid.x;\nmad.lo.s32 %w8, %w8, 256, %w9;\n"
             "mul.wide.u32 %d8, %w8, 8;\nld.param.u64 %d9, [p0];\nadd.s64 %d9, %d9, %d8;\n"
             "ld.param.u64 %d10, [p1];\nadd.s64 %d10, %d10, %d8;\n"
             "ld.param.u64 %d11, [p2];\nadd.s64 %d11, %d11, %d8;\n"
             "ld.global.u64 %d0, [%d9];\nld.global.u64 %d1, [%d10];\n"
             "cvt.u32.u64 %w0, %d0;\ncvt.u32.u64 %w1, %d1;\ncvt.u16.u64 %h0, %d0;\ncvt.u16.u64 %h1, %d1;\n");
    const char *factor = f->scaled == 2 ? ", %h5" : f->scaled == 1 ? ", %c3" : "";
    if (f->scaled) /* in the upper half of in[i] */
        add_text(out, &size, "%s", "shr.u64 %d3, %d0, 32;\ncvt.u16.u64 %h5, %d3;\ncvt.u8.u64 %c3, %d3;\n");
    bool four = from->bits == 4;
    if (!f->pair) {
        add_text(out, &size, "%s %%%c2, %%%c0;\n", name,
                 letter(register_bits(to) < 16 ? 16 : register_bits(to)), letter(register_bits(from)));
    } else {
        unsigned bits = register_bits(from) * 2;
        if (bits == 32) /* in[i] is the lower element */
            add_text(out, &size, "%s",
                     "shl.b32 %w1, %w1, 16;\nand.b32 %w0, %w0, 65535;\nor.b32 %w3, %w0, %w1;\n");
        else if (bits == 16)
            add_text(out, &size,
                     "shl.b16 %%h1, %%h1, %d;\nor.b16 %%h3, %%h0, %%h1;\ncvt.u8.u16 %%c1, %%h3;\n",
                     four ? 4 : 8);
        const char *target = to->bits == 4 ? "%c0" : register_bits(to) == 8 ? "%h2" : "%w2";
        if (bits == 64)
            add_text(out, &size, "%s %s, %%w1, %%w0%s;\n", name, target, factor);
        else
            add_text(out, &size, "%s %s, %s%s;\n", name, target,
                     bits == 32 ? "%w3"
                     : four     ? "%c1"
                                : "%h3",
                     factor);
        if (to->bits == 4)
            add_text(out, &size, "%s", "cvt.u16.u8 %h2, %c0;\n");
    }
    unsigned bits = register_bits(to) * (f->pair ? 2 : 1);
    if (bits <= 16)
        add_text(out, &size, "%s", "cvt.u64.u16 %d2, %h2;\n");
    else if (bits == 32)
        add_text(out, &size, "%s", "cvt.u64.u32 %d2, %w2;\n");
    add_text(out, &size, "%s", "st.global.u64 [%d11], %d2;\nret;\n}\n");
}

/* NaNs are one value where PTX or the hardware leaves their bits open: from and to .f64, and where .bf16 is a
 * part of .f32 or a copy keeps them. An H200 gives 0x7fffe000 for those of .tf32, and .rna does not look at
 * them: it may give an infinity. */
static bool same(const form *f, const model_type *t, exact from, uint64_t got, uint64_t want) {
    if (got == want)
        return true;
    if (from.nan && !strcmp(f->to, "tf32"))
        return model_is_nan(t, got) || !strcmp(f->rounding, ".rna");
    bool open = !strcmp(f->from, "f64") || !strcmp(f->from, "bf16") || !strcmp(f->to, "f64") ||
                !strcmp(f->to, "bf16") || !strcmp(f->from, f->to);
    return open && model_is_nan(t, got) && model_is_nan(t, want);
}

/* How a test runs a kernel: k(in, other, out), count / 256 blocks of 256; what failed it says itself. */
typedef struct convert_test {
    const char *target; /* sm_90a; sm_100a; sm_107a, which has all forms */
    bool (*run)(void *user, const char *ptx, const uint64_t *in, const uint64_t *other, uint64_t *out,
                size_t count);
    void *user;
    uint64_t forms, values, failures;
} convert_test;

/* Scale factors that go with the values in turn: one, the ends, NaN, and what keeps values in range. */
static unsigned factor_of(size_t i) {
    static const uint8_t factors[] = {127, 126, 128, 0, 254, 255, 120, 134, 1, 64, 190};
    return factors[i % (sizeof factors)];
}

static void check(convert_test *test, const form *f, const number_list *l) {
    const model_type *to = type_of(f->to), *from = type_of(f->from);
    char name[96], text[4096];
    form_text(name, sizeof name, f);
    kernel_text(text, test->target, f, to, from);
    uint64_t *in = calloc(3 * l->count, 8), *other = in + l->count, *out = other + l->count;
    for (size_t i = 0; i < l->count; i++) {
        in[i] = l->items[i], other[i] = l->items[l->count - 1 - i];
        if (f->scaled) /* the factor of the upper element above */
            in[i] |= (uint64_t)(factor_of(i) | factor_of(i / 7) << 8) << 32;
    }
    test->forms++, test->values += l->count;
    if (!test->run(test->user, text, in, other, out, l->count)) {
        printf("%s did not run\n", name);
        test->failures++;
        free(in);
        return;
    }
    /* an 8-bit integer comes extended into its register */
    unsigned width =
        to->bits == 4 || (to->kind != MODEL_FLOAT && to->bits == 8) ? to->bits : register_bits(to);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1, bad = 0;
    for (size_t i = 0; i < l->count; i++) {
        size_t mirror = l->count - 1 - i;
        uint64_t lower = expected(f, to, from, l->items[i], factor_of(i)),
                 upper = expected(f, to, from, other[i], factor_of(f->scaled == 1 ? i : i / 7));
        bool low = same(f, to, model_decode(from, l->items[i]), out[i] & mask, lower),
             high = !f->pair || same(f, to, model_decode(from, other[i]), out[i] >> width & mask, upper);
        if (!low && bad++ < 3)
            printf("%s of %#llx: %#llx, expected %#llx\n", name, (unsigned long long)in[i],
                   (unsigned long long)(out[i] & mask), (unsigned long long)lower);
        if (!high && bad++ < 3)
            printf("%s of %#llx, upper element: %#llx, expected %#llx\n", name,
                   (unsigned long long)in[mirror], (unsigned long long)(out[i] >> width & mask),
                   (unsigned long long)upper);
    }
    test->failures += bad;
    free(in);
}

/* Runs the form with no flag, and with each set of those that it may have: 1 ftz, 2 sat, 4 satfinite, 8 relu,
 * 16 pzo; must: flags that it always has. */
static void with_flags(convert_test *test, form f, unsigned may, unsigned must, const number_list *l) {
    for (unsigned flags = 0; flags < 32; flags++) {
        if ((flags & ~(may | must)) || (flags & must) != must)
            continue;
        f.ftz = flags & 1, f.sat = flags & 2, f.satfinite = flags & 4, f.relu = flags & 8;
        f.pzo = flags & 16;
        check(test, &f, l);
    }
}

enum { FTZ = 1, SAT = 2, SATFINITE = 4, RELU = 8, PZO = 16 };
#define EACH(name, ...)                                                                                      \
    for (const char *const *name = (const char *const[]){__VA_ARGS__, NULL}; *name; name++)

static number_list inputs(const char *ptx) {
    return number_inputs(type_of(ptx));
}

/* Whether the source has numbers that the destination lacks. */
static bool may_saturate(const model_type *to, const model_type *from) {
    if (from->kind == MODEL_SIGNED)
        return to->kind == MODEL_UNSIGNED || to->bits < from->bits;
    return to->kind == MODEL_UNSIGNED ? to->bits < from->bits : to->bits <= from->bits;
}

static inline void convert_integers(convert_test *test) {
    EACH(from, "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64") {
        number_list l = inputs(*from);
        EACH(to, "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")
        with_flags(test, (form){.rounding = "", .to = *to, .from = *from},
                   may_saturate(type_of(*to), type_of(*from)) ? SAT : 0, 0, &l);
        EACH(r, ".rn", ".rz", ".rm", ".rp") {
            EACH(to, "f16", "f32", "f64")
            with_flags(test, (form){.rounding = *r, .to = *to, .from = *from},
                       strcmp(*to, "f32") ? SAT : SAT | FTZ, 0, &l);
            if (strcmp(*from, "s8") && strcmp(*from, "u8"))
                with_flags(test, (form){.rounding = *r, .to = "bf16", .from = *from}, 0, 0, &l);
        }
        free(l.items);
    }
}

static inline void convert_to_integers(convert_test *test) {
    EACH(from, "f16", "bf16", "f32", "f64") {
        number_list l = inputs(*from);
        bool single = !strcmp(*from, "f32"), brain = !strcmp(*from, "bf16");
        EACH(r, ".rni", ".rzi", ".rmi", ".rpi") {
            EACH(to, "s8", "u8", "s16", "s32", "s64", "u16", "u32", "u64")
            if (!brain || (strcmp(*to, "s8") && strcmp(*to, "u8")))
                with_flags(test, (form){.rounding = *r, .to = *to, .from = *from},
                           single  ? FTZ | SAT
                           : brain ? 0
                                   : SAT,
                           0, &l);
            with_flags(test, (form){.rounding = *r, .to = *from, .from = *from},
                       single  ? FTZ | SAT
                       : brain ? 0
                               : SAT,
                       0, &l);
        }
        free(l.items);
    }
}

static inline void convert_scalars(convert_test *test) {
    number_list half = inputs("f16"), brain = inputs("bf16"), single = inputs("f32"), twice = inputs("f64");
    with_flags(test, (form){.rounding = "", .to = "f32", .from = "f16"}, FTZ | SAT, 0, &half);
    with_flags(test, (form){.rounding = "", .to = "f64", .from = "f16"}, SAT, 0, &half);
    with_flags(test, (form){.rounding = "", .to = "f64", .from = "f32"}, FTZ | SAT, 0, &single);
    with_flags(test, (form){.rounding = "", .to = "f32", .from = "f32"}, FTZ | SAT, 0, &single);
    with_flags(test, (form){.rounding = "", .to = "f64", .from = "f64"}, SAT, 0, &twice);
    with_flags(test, (form){.rounding = "", .to = "f16", .from = "f16"}, SAT, 0, &half);
    with_flags(test, (form){.rounding = "", .to = "f32", .from = "bf16"}, FTZ, 0, &brain);
    with_flags(test, (form){.rounding = "", .to = "bf16", .from = "f16"}, 0, 0, &half);
    with_flags(test, (form){.rounding = "", .to = "f64", .from = "bf16"}, 0, 0, &brain);
    with_flags(test, (form){.rounding = "", .to = "f16", .from = "bf16"}, 0, 0, &brain);
    bool all = strcmp(test->target, "sm_90a"), latest = !strcmp(test->target, "sm_107a");
    EACH(r, ".rn", ".rz", ".rm", ".rp") {
        with_flags(test, (form){.rounding = *r, .to = "f16", .from = "f32"}, FTZ | SAT, 0, &single);
        with_flags(test, (form){.rounding = *r, .to = "f16", .from = "f64"}, SAT, 0, &twice);
        with_flags(test, (form){.rounding = *r, .to = "f32", .from = "f64"}, FTZ | SAT, 0, &twice);
        with_flags(test, (form){.rounding = *r, .to = "bf16", .from = "f16"}, 0, 0, &half);
        with_flags(test, (form){.rounding = *r, .to = "bf16", .from = "f32"}, FTZ, 0, &single);
        with_flags(test, (form){.rounding = *r, .to = "f32", .from = "bf16"}, FTZ, 0, &brain);
        with_flags(test, (form){.rounding = *r, .to = "f64", .from = "bf16"}, 0, 0, &brain);
        if (latest)
            EACH(to, "f16", "bf16")
        with_flags(test, (form){.rounding = *r, .to = *to, .from = "f32"}, strcmp(*to, "f16") ? FTZ : 0, PZO,
                   &single);
        with_flags(test, (form){.rounding = *r, .to = "bf16", .from = "f64"}, 0, 0, &twice);
        with_flags(test, (form){.rounding = *r, .to = "f16", .from = "bf16"}, 0, 0, &brain);
    }
    EACH(r, ".rn", ".rz") {
        EACH(to, "f16", "bf16")
        with_flags(test, (form){.rounding = *r, .to = *to, .from = "f32"},
                   RELU | SATFINITE | (latest ? PZO : 0), 0, &single);
        with_flags(test, (form){.rounding = *r, .to = "tf32", .from = "f32"},
                   RELU | (all ? SATFINITE : 0) | (latest ? PZO : 0), 0, &single);
    }
    with_flags(test, (form){.rounding = ".rna", .to = "tf32", .from = "f32"}, SATFINITE, 0, &single);
    free(half.items), free(brain.items), free(single.items), free(twice.items);
}

static inline void convert_pairs(convert_test *test) {
    bool all = strcmp(test->target, "sm_90a"), latest = !strcmp(test->target, "sm_107a");
    number_list half = inputs("f16"), brain = inputs("bf16"), single = inputs("f32");
    EACH(r, ".rn", ".rz") {
        EACH(to, "f16", "bf16")
        with_flags(test, (form){.rounding = *r, .to = *to, .from = "f32", .pair = true},
                   RELU | SATFINITE | (latest ? PZO : 0), 0, &single);
    }
    EACH(narrow, "e4m3", "e5m2", "e2m1", "e2m3", "e3m2") {
        bool old = !strcmp(*narrow, "e4m3") || !strcmp(*narrow, "e5m2");
        if (!old && !all)
            continue;
        number_list l = inputs(*narrow);
        EACH(r, ".rn", ".rz")
        for (int scale = 0; scale < 2; scale++) { /* .rz, .pzo and .scaled::n1: PTX ISA 9.4 */
            if (!latest && (scale || !strcmp(*r, ".rz")))
                continue;
            form f = {.rounding = *r, .to = *narrow, .pair = true, .scaled = scale};
            unsigned may = RELU | (latest ? PZO : 0);
            f.from = "f32";
            with_flags(test, f, may, SATFINITE, &single);
            f.from = "f16";
            with_flags(test, f, may, SATFINITE, &half);
            f.from = "bf16";
            if (all)
                with_flags(test, f, may, SATFINITE, &brain);
        }
        with_flags(test, (form){.rounding = ".rn", .to = "f16", .from = *narrow, .pair = true}, RELU, 0, &l);
        for (int scale = 0; scale <= 2 && all; scale += 2)
            with_flags(
                test, (form){.rounding = ".rn", .to = "bf16", .from = *narrow, .pair = true, .scaled = scale},
                RELU | SATFINITE, 0, &l);
        free(l.items);
    }
    free(half.items), free(brain.items), free(single.items);
}

/* Scale factors, fixed-point numbers and ue5m3. */
static inline void convert_scales(convert_test *test) {
    if (!strcmp(test->target, "sm_90a"))
        return;
    bool latest = !strcmp(test->target, "sm_107a");
    number_list half = inputs("f16"), brain = inputs("bf16"), single = inputs("f32"), scale = inputs("ue8m0"),
                fixed = inputs("s2f6"), plain = inputs("ue5m3");
    EACH(r, ".rz", ".rp") {
        with_flags(test, (form){.rounding = *r, .to = "ue8m0", .from = "f32", .pair = true}, SATFINITE, 0,
                   &single);
        with_flags(test, (form){.rounding = *r, .to = "ue8m0", .from = "bf16", .pair = true}, SATFINITE, 0,
                   &brain);
    }
    with_flags(test, (form){.rounding = ".rn", .to = "bf16", .from = "ue8m0", .pair = true}, 0, 0, &scale);
    for (int factors = 0; factors <= 2; factors += 2) {
        EACH(r, ".rn", ".rz") {
            form f = {.rounding = *r, .to = "s2f6", .from = "f32", .pair = true, .scaled = factors};
            if (!latest && !strcmp(*r, ".rz"))
                continue;
            with_flags(test, f, RELU, SATFINITE, &single);
            f.from = "bf16";
            with_flags(test, f, RELU, SATFINITE, &brain);
        }
        with_flags(test,
                   (form){.rounding = ".rn", .to = "bf16", .from = "s2f6", .pair = true, .scaled = factors},
                   RELU | SATFINITE, 0, &fixed);
        if (latest)
            with_flags(
                test,
                (form){.rounding = ".rn", .to = "bf16", .from = "ue5m3", .pair = true, .scaled = factors},
                SATFINITE, 0, &plain);
    }
    EACH(r, ".rn", ".rz", ".rp")
    for (int factors = 0; factors <= (strcmp(*r, ".rp") ? 1 : 0) && latest; factors++) {
        form f = {.rounding = *r, .to = "ue5m3", .from = "f32", .pair = true, .scaled = factors};
        with_flags(test, f, SATFINITE, 0, &single);
        f.from = "f16";
        with_flags(test, f, SATFINITE, 0, &half);
        f.from = "bf16";
        with_flags(test, f, SATFINITE, 0, &brain);
    }
    if (latest)
        with_flags(test, (form){.rounding = ".rn", .to = "f16", .from = "ue5m3", .pair = true}, 0, 0, &plain);
    free(half.items), free(brain.items), free(single.items);
    free(scale.items), free(fixed.items), free(plain.items);
}

/* cvt.pack of every type: in[i] holds a and b, other[i] what fills the rest. */
static inline void convert_packed(convert_test *test) {
    number_list l = inputs("s32");
    size_t count = l.count;
    uint64_t *in = calloc(3 * count, 8), *other = in + count, *out = other + count;
    for (size_t i = 0; i < count; i++) {
        in[i] = (uint32_t)l.items[i] | l.items[(i * 7 + 3) % count] << 32;
        other[i] = (uint32_t)(i * 2654435761u);
    }
    EACH(type, "u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16") {
        unsigned bits = (unsigned)atoi(*type + 1);
        char text[2048];
        size_t size = 0;
        add_text(text, &size, ".version 8.6\n.target sm_90a\n.address_size 64\n%s",
                 ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n"
                 ".reg .b32 %w<16>;\n.reg .b64 %d<16>;\n"
                 "mov.u32 %w8, %ctaid.x;\nmov.u32 %w9, %tid.x;\nmad.lo.s32 %w8, %w8, 256, %w9;\n"
                 "mul.wide.u32 %d8, %w8, 8;\nld.param.u64 %d9, [p0];\nadd.s64 %d9, %d9, %d8;\n"
                 "ld.param.u64 %d10, [p1];\nadd.s64 %d10, %d10, %d8;\n"
                 "ld.param.u64 %d11, [p2];\nadd.s64 %d11, %d11, %d8;\n"
                 "ld.global.v2.u32 {%w0, %w1}, [%d9];\nld.global.u32 %w2, [%d10];\n");
        add_text(text, &size, "cvt.pack.sat.%s.s32%s %%w3, %%w0, %%w1%s;\n", *type, bits < 16 ? ".b32" : "",
                 bits < 16 ? ", %w2" : "");
        add_text(text, &size, "%s", "cvt.u64.u32 %d2, %w3;\nst.global.u64 [%d11], %d2;\nret;\n}\n");
        test->forms++, test->values += count;
        uint64_t bad = test->run(test->user, text, in, other, out, count) ? 0 : 1;
        int64_t low = **type == 's' ? -((int64_t)1 << (bits - 1)) : 0, high = low + ((int64_t)1 << bits) - 1;
        for (size_t i = 0; i < count && !bad; i++) {
            uint64_t want = bits < 16 ? other[i] << 2 * bits : 0;
            for (int k = 0; k < 2; k++) {
                int64_t v = (int32_t)(in[i] >> 32 * k);
                v = v < low ? low : v > high ? high : v;
                want |= ((uint64_t)v & (((uint64_t)1 << bits) - 1)) << (k ? 0 : bits);
            }
            if (out[i] != (want & UINT32_MAX) && bad++ < 3)
                printf("cvt.pack.sat.%s of %#llx: %#llx, expected %#llx\n", *type, (unsigned long long)in[i],
                       (unsigned long long)out[i], (unsigned long long)(want & UINT32_MAX));
        }
        test->failures += bad;
    }
    free(in);
    free(l.items);
}

/* Around all 2^16 numbers of the 16-bit types, where rounding decides. */
static inline void convert_every_target(convert_test *test) {
    EACH(to, "f16", "bf16") {
        number_list l = {0};
        add_targets(&l, type_of("f32"), type_of(*to), true);
        for (size_t i = 0; l.count % BLOCK; i++)
            add(&l, l.items[i]);
        EACH(r, ".rn", ".rz")
        check(test, &(form){.rounding = *r, .to = *to, .from = "f32"}, &l);
        free(l.items);
    }
}

static inline void convert_all(convert_test *test) {
    convert_integers(test);
    convert_to_integers(test);
    convert_scalars(test);
    convert_pairs(test);
    convert_scales(test);
    convert_packed(test);
    convert_every_target(test);
}
#endif
