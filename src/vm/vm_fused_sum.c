/* SPDX-License-Identifier: Apache-2.0
 * The scalar numeric models of the matrix units; see vm_fused_sum.h. Knows no registers, fragments or
 * descriptors. */
#include "vm/vm_fused_sum.h"
#include <math.h>
#include <string.h>

const char *vm_numerics_name(vm_numerics numerics) {
    static const char *const names[] = {"hw", "fp32", "exact"};
    return names[numerics];
}

#define NAN_F32 0x7fffffffu
#define NAN_F16 0x7fffu

/* ---- decoding ---- */
typedef struct format {
    num_dtype dtype;
    uint8_t exponent_bits, fraction, padding;
    int16_t bias;
    bool infinity; /* IEEE: the largest exponent is infinity and NaN; else only the code of ones is NaN */
    bool nan;
} format;

static const format formats[] = {
    {NUM_DTYPE_F16, 5, 10, 0, 15, true, true},      {NUM_DTYPE_BF16, 8, 7, 0, 127, true, true},
    {NUM_DTYPE_TF32, 8, 10, 13, 127, true, true},   {NUM_DTYPE_F32, 8, 23, 0, 127, true, true},
    {NUM_DTYPE_F8E4M3FN, 4, 3, 0, 7, false, true},  {NUM_DTYPE_F8E5M2, 5, 2, 0, 15, true, true},
    {NUM_DTYPE_F6E2M3FN, 2, 3, 0, 1, false, false}, {NUM_DTYPE_F6E3M2FN, 3, 2, 0, 3, false, false},
    {NUM_DTYPE_F4E2M1FN, 2, 1, 0, 1, false, false},
};

vm_fused_value vm_fused_decode(num_dtype dtype, uint32_t bits) {
    vm_fused_value value = {.class = VM_FUSED_NAN};
    if (dtype == NUM_DTYPE_F8E8M0FNU) { /* a power of two; all ones is NaN */
        bits &= 0xff;
        if (bits != 0xff)
            value = (vm_fused_value){.exponent = (int16_t)((int)bits - 127), .significand = 1};
        return value;
    }
    const format *f = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].dtype == dtype)
            f = &formats[i];
    if (f == NULL)
        return value;
    bits >>= f->padding;
    uint32_t ones = (1u << (f->exponent_bits + f->fraction)) - 1;
    uint32_t code = bits & ones, fraction = code & ((1u << f->fraction) - 1), field = code >> f->fraction;
    value.negative = bits >> (f->exponent_bits + f->fraction) & 1;
    value.fraction = f->fraction;
    if (f->infinity && field == (1u << f->exponent_bits) - 1) {
        value.class = fraction != 0 ? VM_FUSED_NAN : VM_FUSED_INFINITE;
        return value;
    }
    if (f->nan && !f->infinity && code == ones)
        return value;
    value.class = VM_FUSED_FINITE;
    value.significand = fraction | (field != 0 ? 1u << f->fraction : 0);
    value.exponent = (int16_t)((field != 0 ? (int)field : 1) - f->bias);
    if (value.significand == 0)
        value.exponent = VM_FUSED_ZERO_EXPONENT;
    return value;
}

/* ---- models ---- */
static bool is_fp8(num_dtype dtype) {
    return dtype == NUM_DTYPE_F8E4M3FN || dtype == NUM_DTYPE_F8E5M2;
}

/* MMA-Sim, simulator/nv_ptx.py: 23 bits on Volta, 24 on Turing, Ampere and Ada, 25 from Hopper on; fp8 keeps
 * 13 on Ada and in Hopper's wgmma, and their f32 results have 13 bits after the point; Ampere and Ada add
 * their largest shapes in two steps. */
vm_fused_model vm_fused_model_of(vm_numerics numerics, unsigned sm, vm_fused_unit unit, num_dtype input,
                                 unsigned k, num_dtype output, bool block_scale) {
    vm_fused_model model = {.numerics = numerics, .output = output, .output_fraction = 23};
    bool ampere = sm >= 80 && sm < 90, ada = sm == 89;
    model.fraction = sm < 75 ? 23 : sm < 90 ? 24 : 25;
    if (is_fp8(input) && ((unit == VM_FUSED_MMA && ada) || unit == VM_FUSED_WGMMA))
        model.fraction = model.output_fraction = 13;
    if (unit == VM_FUSED_MMA && ampere &&
        ((input == NUM_DTYPE_TF32 && k == 8) ||
         ((input == NUM_DTYPE_F16 || input == NUM_DTYPE_BF16) && k == 16) || (is_fp8(input) && k == 32)))
        model.step = (uint16_t)(k / 2);
    if (block_scale && k == 64) {
        model.fraction = 35;
        model.group = 16;
    }
    return model;
}

/* ---- special values ---- */
static uint32_t nan_of(const vm_fused_model *model) {
    return model->output == NUM_DTYPE_F16 ? NAN_F16 : NAN_F32;
}
static uint32_t infinity_of(const vm_fused_model *model, bool negative) {
    return model->output == NUM_DTYPE_F16 ? 0x7c00u | (uint32_t)negative << 15
                                          : 0x7f800000u | (uint32_t)negative << 31;
}

typedef struct special {
    bool nan, infinite[2]; /* by sign */
} special;

static bool is_zero(const vm_fused_value *v) {
    return v->class == VM_FUSED_FINITE && v->significand == 0;
}

static void special_product(special *s, const vm_fused_value *a, const vm_fused_value *b) {
    if (a->class == VM_FUSED_NAN || b->class == VM_FUSED_NAN)
        s->nan = true;
    else if (a->class == VM_FUSED_INFINITE || b->class == VM_FUSED_INFINITE) {
        if (is_zero(a) || is_zero(b))
            s->nan = true;
        else
            s->infinite[a->negative != b->negative] = true;
    }
}

/* True when the result does not depend on finite numbers. */
static bool special_result(const vm_fused_model *model, const special *s, uint32_t *result) {
    if (s->nan || (s->infinite[0] && s->infinite[1])) {
        *result = nan_of(model);
        return true;
    }
    if (!s->infinite[0] && !s->infinite[1])
        return false;
    *result = infinity_of(model, s->infinite[1]);
    return true;
}

/* ---- hw ---- */
typedef struct term { /* significand * 2^lowest, aligned by `exponent` */
    int64_t significand;
    int lowest, exponent;
} term;

static int64_t signed_of(bool negative, uint64_t magnitude) {
    return negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

static term product_of(const vm_fused_value *a, const vm_fused_value *b) {
    return (term){signed_of(a->negative != b->negative, (uint64_t)a->significand * b->significand),
                  a->exponent + b->exponent - a->fraction - b->fraction, a->exponent + b->exponent};
}

static void scale_term(term *t, const vm_fused_value *scale) {
    t->significand *= (int64_t)scale->significand;
    t->lowest += scale->exponent - scale->fraction;
    t->exponent += scale->exponent;
}

/* Terms of a group added exactly; the group's exponent is that of its scales alone. Small formats only: the
 * products span few bits. */
static term group_of(unsigned count, const vm_fused_value *a, const vm_fused_value *b) {
    term sum = {0, INT32_MAX, 0};
    for (unsigned k = 0; k < count; k++) {
        term t = product_of(&a[k], &b[k]);
        if (t.significand != 0 && t.lowest < sum.lowest)
            sum.lowest = t.lowest;
    }
    if (sum.lowest == INT32_MAX)
        sum.lowest = 0;
    for (unsigned k = 0; k < count; k++) {
        term t = product_of(&a[k], &b[k]);
        if (t.significand != 0)
            sum.significand += t.significand * ((int64_t)1 << (t.lowest - sum.lowest));
    }
    return sum;
}

/* Cut toward zero at 2^unit. */
static int64_t cut(const term *t, int unit) {
    int shift = t->lowest - unit;
    uint64_t magnitude = t->significand < 0 ? (uint64_t)-t->significand : (uint64_t)t->significand;
    if (shift >= 0)
        magnitude = shift > 62 ? 0 : magnitude << shift; /* only zeros stand so far up */
    else
        magnitude = -shift > 63 ? 0 : magnitude >> -shift;
    return signed_of(t->significand < 0, magnitude);
}

uint32_t vm_fused_round(const vm_fused_model *model, bool negative, uint64_t magnitude, int exponent) {
    bool half = model->output == NUM_DTYPE_F16;
    if (magnitude == 0)
        return 0;
    int kept = half ? 10 : model->output_fraction, smallest = half ? -14 : -126, largest = half ? 15 : 127;
    int top = 63 - __builtin_clzll(magnitude) + exponent; /* exponent of the leading bit */
    if (top < smallest)
        top = smallest;
    int drop = top - kept - exponent; /* low bits that the result does not have */
    uint64_t code;
    if (drop <= 0) {
        code = magnitude << -drop;
    } else if (drop > 63) {
        code = 0; /* far below half of the smallest number */
    } else {
        code = magnitude >> drop;
        uint64_t rest = magnitude & (((uint64_t)1 << drop) - 1), tie = (uint64_t)1 << (drop - 1);
        if (half && (rest > tie || (rest == tie && code & 1)))
            code++;
    }
    if (code == 0)
        return 0;
    if (code >> (kept + 1)) { /* rounding carried */
        code >>= 1;
        top++;
    }
    if (top > largest)
        return infinity_of(model, negative);
    uint32_t sign = (uint32_t)negative << (half ? 15 : 31);
    unsigned stored = half ? 10 : 23;
    uint32_t fraction = (uint32_t)code << (stored - (unsigned)kept);
    uint32_t field = code >> kept ? (uint32_t)(top - smallest + 1) : 0;
    return sign | field << stored | (fraction & ((1u << stored) - 1));
}

typedef struct operands {
    const vm_fused_value *a, *b, *scale_a, *scale_b;
    unsigned block;
} operands;

static term term_of(const vm_fused_model *model, const operands *o, unsigned k) {
    term t = model->group > 1 ? group_of(model->group, o->a + k, o->b + k) : product_of(o->a + k, o->b + k);
    if (o->scale_a != NULL) {
        scale_term(&t, &o->scale_a[k / o->block]);
        scale_term(&t, &o->scale_b[k / o->block]);
    }
    return t;
}

static uint32_t hw_step(const vm_fused_model *model, const operands *o, unsigned first, unsigned end,
                        uint32_t c) {
    vm_fused_value decoded = vm_fused_decode(model->output, c);
    special s = {.nan = decoded.class == VM_FUSED_NAN};
    if (decoded.class == VM_FUSED_INFINITE)
        s.infinite[decoded.negative] = true;
    unsigned stride = model->group > 1 ? model->group : 1;
    for (unsigned k = first; k < end; k++)
        special_product(&s, &o->a[k], &o->b[k]);
    for (unsigned k = first; o->scale_a != NULL && k < end; k++)
        if (o->scale_a[k / o->block].class == VM_FUSED_NAN || o->scale_b[k / o->block].class == VM_FUSED_NAN)
            s.nan = true;
    uint32_t result;
    if (special_result(model, &s, &result))
        return result;
    term accumulator = {signed_of(decoded.negative, decoded.significand), decoded.exponent - decoded.fraction,
                        decoded.exponent};
    accumulator.lowest -= model->scale_c;
    accumulator.exponent -= decoded.significand != 0 ? model->scale_c : 0;
    int largest = accumulator.exponent;
    for (unsigned k = first; k < end; k += stride) {
        term t = term_of(model, o, k);
        if (t.exponent > largest)
            largest = t.exponent;
    }
    int unit = largest - model->fraction;
    int64_t sum = cut(&accumulator, unit);
    for (unsigned k = first; k < end; k += stride) {
        term t = term_of(model, o, k);
        sum += cut(&t, unit);
    }
    return vm_fused_round(model, sum < 0, sum < 0 ? (uint64_t)-sum : (uint64_t)sum, unit);
}

/* ---- exact sums: fixed point from 2^LOWEST up, in two's complement ---- */
enum { LOWEST = -640, WORDS = 22 };
typedef struct wide {
    uint64_t word[WORDS];
} wide;

static void wide_add(wide *w, bool negative, uint64_t magnitude, int exponent) {
    if (magnitude == 0)
        return;
    unsigned position = (unsigned)(exponent - LOWEST), first = position / 64, shift = position % 64;
    uint64_t part[2] = {magnitude << shift, shift ? magnitude >> (64 - shift) : 0};
    uint64_t carry = 0;
    for (unsigned i = first; i < WORDS; i++) {
        uint64_t add = i - first < 2 ? part[i - first] : 0, old = w->word[i];
        uint64_t sum = negative ? old - add - carry : old + add + carry;
        carry = negative ? old < add || (carry && old == add) : sum < old || (carry && sum == old);
        w->word[i] = sum;
    }
}

/* Nearest even. Past the largest finite number stands infinity. */
static uint32_t wide_round(const wide *from, num_dtype output) {
    wide w = *from;
    bool half = output == NUM_DTYPE_F16, negative = w.word[WORDS - 1] >> 63;
    if (negative) {
        uint64_t carry = 1;
        for (unsigned i = 0; i < WORDS; i++) {
            w.word[i] = ~w.word[i] + carry;
            carry = carry && w.word[i] == 0;
        }
    }
    int top = WORDS - 1;
    while (top >= 0 && w.word[top] == 0)
        top--;
    if (top < 0)
        return 0;
    /* 62 leading bits and one that says whether anything stands below: enough for one rounding */
    int leading = top * 64 + 63 - __builtin_clzll(w.word[top]), low = leading - 61;
    uint64_t bits = 0;
    for (int i = 0; i < 62; i++) {
        int at = low + i;
        if (at >= 0)
            bits |= (w.word[at / 64] >> (at % 64) & 1) << i;
    }
    bool rest = false;
    for (int at = 0; at < low; at++)
        rest |= w.word[at / 64] >> (at % 64) & 1;
    bits = bits << 1 | rest;
    int exponent = low - 1 + LOWEST, kept = half ? 10 : 23, smallest = half ? -14 : -126;
    int place = leading + LOWEST < smallest ? smallest : leading + LOWEST, drop = place - kept - exponent;
    uint64_t code = drop > 63 ? 0 : bits >> drop;
    if (drop <= 63) {
        uint64_t below = bits & (((uint64_t)1 << drop) - 1), tie = (uint64_t)1 << (drop - 1);
        code += below > tie || (below == tie && code & 1);
    }
    if (code >> (kept + 1)) {
        code >>= 1;
        place++;
    }
    uint32_t sign = (uint32_t)negative << (half ? 15 : 31);
    if (place > (half ? 15 : 127))
        return sign | (half ? 0x7c00u : 0x7f800000u);
    uint32_t field = code >> kept ? (uint32_t)(place - smallest + 1) : 0;
    return sign | field << kept | ((uint32_t)code & ((1u << kept) - 1));
}

static void wide_product(wide *w, const operands *o, unsigned k) {
    term t = product_of(&o->a[k], &o->b[k]);
    if (o->scale_a != NULL) {
        scale_term(&t, &o->scale_a[k / o->block]);
        scale_term(&t, &o->scale_b[k / o->block]);
    }
    wide_add(w, t.significand < 0, (uint64_t)(t.significand < 0 ? -t.significand : t.significand), t.lowest);
}

static void wide_value(wide *w, const vm_fused_value *v) {
    wide_add(w, v->negative, v->significand, v->exponent - v->fraction);
}

static uint32_t exact_sum(const vm_fused_model *model, const operands *o, unsigned count, uint32_t c) {
    vm_fused_value decoded = vm_fused_decode(model->output, c);
    special s = {.nan = decoded.class == VM_FUSED_NAN};
    if (decoded.class == VM_FUSED_INFINITE)
        s.infinite[decoded.negative] = true;
    for (unsigned k = 0; k < count; k++)
        special_product(&s, &o->a[k], &o->b[k]);
    for (unsigned k = 0; o->scale_a != NULL && k < count; k++)
        if (o->scale_a[k / o->block].class == VM_FUSED_NAN || o->scale_b[k / o->block].class == VM_FUSED_NAN)
            s.nan = true;
    uint32_t result;
    if (special_result(model, &s, &result))
        return result;
    wide w = {{0}};
    decoded.exponent = (int16_t)(decoded.exponent - model->scale_c);
    wide_value(&w, &decoded);
    for (unsigned k = 0; k < count; k++)
        wide_product(&w, o, k);
    return wide_round(&w, model->output);
}

/* ---- fp32 ---- */
static uint32_t chain(const vm_fused_model *model, const operands *o, unsigned count, uint32_t c) {
    bool half = model->output == NUM_DTYPE_F16;
    vm_fused_model single = {.numerics = VM_NUMERICS_EXACT, .output = NUM_DTYPE_F32};
    uint32_t sum = c;
    if (half) {
        float value = num_f16_to_f32((uint16_t)c);
        memcpy(&sum, &value, 4);
    }
    if (model->scale_c != 0) {
        float value;
        memcpy(&value, &sum, 4);
        value = ldexpf(value, -model->scale_c);
        memcpy(&sum, &value, 4);
    }
    for (unsigned k = 0; k < count; k++) {
        operands one = {o->a + k, o->b + k, NULL, NULL, 1};
        if (o->scale_a != NULL) {
            one.scale_a = o->scale_a + k / o->block;
            one.scale_b = o->scale_b + k / o->block;
        }
        /* -0 stays -0 while -0 is added */
        bool negative_zeros = sum == 0x80000000u && (is_zero(one.a) || is_zero(one.b)) &&
                              one.a->negative != one.b->negative && one.a->class == VM_FUSED_FINITE &&
                              one.b->class == VM_FUSED_FINITE;
        sum = exact_sum(&single, &one, 1, sum);
        if (negative_zeros && sum == 0)
            sum = 0x80000000u;
    }
    if (!half)
        return sum;
    float value;
    memcpy(&value, &sum, 4);
    return isnan(value) ? NAN_F16 : num_f32_to_f16(value);
}

uint32_t vm_fused_sum(const vm_fused_model *model, unsigned count, const vm_fused_value *a,
                      const vm_fused_value *b, const vm_fused_value *scale_a, const vm_fused_value *scale_b,
                      unsigned block, uint32_t c) {
    operands o = {a, b, scale_a, scale_b, block ? block : 1};
    if (model->numerics == VM_NUMERICS_EXACT)
        return exact_sum(model, &o, count, c);
    if (model->numerics == VM_NUMERICS_FP32)
        return chain(model, &o, count, c);
    unsigned step = model->step ? model->step : count;
    for (unsigned k = 0; k < count; k += step)
        c = hw_step(model, &o, k, k + step < count ? k + step : count, c);
    return c;
}
