/* SPDX-License-Identifier: Apache-2.0
 * Products of small matrices, exact for integers and bits, in a named numeric model for floats
 * (vm_fused_sum.h), a chain of fused multiply-adds in increasing k for f64 (PTX ISA 9.7.14.5.14; the order is
 * MMA-Sim's). Knows no registers. */
#include <math.h>
#include <string.h>
#include "vm/vm_matrix.h"

static num_dtype dtype_of(ptx_type type) {
    switch (type) {
    case PTX_TYPE_F16:
        return NUM_DTYPE_F16;
    case PTX_TYPE_BF16:
        return NUM_DTYPE_BF16;
    case PTX_TYPE_TF32:
        return NUM_DTYPE_TF32;
    case PTX_TYPE_E4M3:
    case PTX_TYPE_UE4M3:
        return NUM_DTYPE_F8E4M3FN;
    case PTX_TYPE_E5M2:
        return NUM_DTYPE_F8E5M2;
    case PTX_TYPE_E3M2:
        return NUM_DTYPE_F6E3M2FN;
    case PTX_TYPE_E2M3:
        return NUM_DTYPE_F6E2M3FN;
    case PTX_TYPE_E2M1:
        return NUM_DTYPE_F4E2M1FN;
    case PTX_TYPE_UE8M0:
        return NUM_DTYPE_F8E8M0FNU;
    default:
        return NUM_DTYPE_F32;
    }
}

/* ---- floats ---- */
enum { ROW = VM_MATRIX_K };
typedef struct decoded { /* one row of A, or one column of B */
    vm_fused_value value[ROW];
    int32_t significand[ROW], exponent[ROW]; /* signed */
    bool special;
} decoded;

static void decode_row(const vm_matrix_form *f, ptx_type type, bool negate, const uint64_t *codes,
                       decoded *out) {
    num_dtype dtype = dtype_of(type);
    out->special = false;
    for (unsigned k = 0; k < f->k; k++) {
        vm_fused_value v = vm_fused_decode(dtype, vm_matrix_element(f, type, (uint32_t)codes[k]));
        if (negate)
            v.negative = !v.negative;
        out->value[k] = v;
        out->special |= v.class != VM_FUSED_FINITE;
        out->significand[k] = v.negative ? -(int32_t)v.significand : (int32_t)v.significand;
        out->exponent[k] = v.exponent;
    }
}

/* vm_fused_sum of hw for finite values of formats with few bits, in one step. */
static uint32_t fast_sum(const vm_fused_model *model, unsigned count, const decoded *a, const decoded *b,
                         int fraction, const vm_fused_value *c) {
    int largest = c->exponent;
    for (unsigned k = 0; k < count; k++) {
        int exponent = a->exponent[k] + b->exponent[k];
        largest = exponent > largest ? exponent : largest;
    }
    int64_t sum = 0;
    int up = model->fraction - fraction; /* products have `fraction` bits after the point */
    for (unsigned k = 0; k < count; k++) {
        int64_t product = (int64_t)a->significand[k] * b->significand[k];
        int down = largest - a->exponent[k] - b->exponent[k];
        uint64_t magnitude = (uint64_t)(product < 0 ? -product : product) << up >> (down > 63 ? 63 : down);
        sum += product < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
    }
    int shift = model->fraction - c->fraction - (largest - c->exponent);
    uint64_t magnitude = shift >= 0    ? (uint64_t)c->significand << shift
                         : shift < -63 ? 0
                                       : (uint64_t)c->significand >> -shift;
    sum += c->negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return vm_fused_round(model, sum < 0, sum < 0 ? (uint64_t)-sum : (uint64_t)sum,
                          largest - model->fraction);
}

/* Shapes that a processor does not have: ptxas makes them from others. Read off an H200 (tests/recorded), all
 * to the bit, and taken for every sm_9x and sm_10x.
 *
 * fp8: elements become f16; those of columns 0, 1, 4, 5 ... are summed first, then the others from there,
 * both in the accumulator's type and starting from zero; c is added last, rounded to nearest. */
static uint32_t halves_sum(const vm_fused_model *model, unsigned count, const decoded *a, const decoded *b,
                           uint32_t c) {
    vm_fused_value x[VM_MATRIX_K / 2], y[VM_MATRIX_K / 2];
    uint32_t sum = 0;
    for (unsigned half = 0; half < 2; half++) {
        unsigned n = 0;
        for (unsigned k = 0; k < count; k++)
            if ((k >> 1 & 1) == half) {
                x[n] = a->value[k];
                y[n++] = b->value[k];
            }
        sum = vm_fused_sum(model, n, x, y, NULL, NULL, 0, sum);
    }
    vm_fused_value one = vm_fused_decode(NUM_DTYPE_F16, 0x3c00), value = vm_fused_decode(model->output, sum);
    vm_fused_model add = {.numerics = VM_NUMERICS_EXACT, .output = model->output};
    return vm_fused_sum(&add, 1, &value, &one, NULL, NULL, 0, c);
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* m8n8k4 of f16: a chain of f32 multiply-adds in increasing k, from c for an f16 result, which is rounded at
 * the end, else from zero, with c added last. */
static uint32_t quad_sum(bool half, unsigned count, const uint64_t *a, const uint64_t *b, uint32_t c) {
    float sum = half ? num_f16_to_f32((uint16_t)c) : 0.0f;
    for (unsigned k = 0; k < count; k++)
        sum = fmaf(num_f16_to_f32((uint16_t)a[k]), num_f16_to_f32((uint16_t)b[k]), sum);
    if (half)
        return isnan(sum) ? 0x7fff : num_f32_to_f16(sum);
    sum += float_of(c);
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return isnan(sum) ? 0x7fffffff : bits;
}

static uint32_t widen(const vm_matrix_form *f, uint64_t c) { /* an f16 accumulator of an f32 result */
    if (f->c == f->d)
        return (uint32_t)c;
    float value = num_f16_to_f32((uint16_t)c);
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void decode_scales(const vm_matrix_form *f, const uint32_t *codes, vm_fused_value *out) {
    for (unsigned s = 0; s < f->scales; s++)
        out[s] = vm_fused_decode(dtype_of(f->scale), codes[s] & (f->scale == PTX_TYPE_UE4M3 ? 0x7f : 0xff));
}

static void multiply_floats(const vm_matrix_form *f, vm_numerics numerics, unsigned sm, const uint64_t *a,
                            const uint64_t *b, const uint64_t *c, const uint32_t *scale_a,
                            const uint32_t *scale_b, uint64_t *d) {
    num_dtype output = f->d == PTX_TYPE_F16 ? NUM_DTYPE_F16 : NUM_DTYPE_F32;
    vm_fused_model model =
        vm_fused_model_of(numerics, sm, f->unit, dtype_of(f->a), f->k, output, f->scales != 0);
    if (f->wmma && f->a == PTX_TYPE_TF32)
        model.step = 4; /* ptxas makes it of two m16n8k4; an H200 agrees (tests/recorded) */
    vm_fused_value row_scales[4], column_scales[4];
    decoded rows[VM_MATRIX_M], column;
    for (unsigned i = 0; i < f->m; i++)
        decode_row(f, f->a, f->negate_a, a + (size_t)i * f->k, &rows[i]);
    bool bytes = f->a == PTX_TYPE_E4M3 || f->a == PTX_TYPE_E5M2;
    bool emulated = numerics == VM_NUMERICS_HW && f->unit == VM_FUSED_MMA && sm >= 90 && sm < 120;
    bool simple = numerics == VM_NUMERICS_HW && f->scales == 0 && model.step == 0 && model.group == 0;
    for (unsigned j = 0; j < f->n; j++) {
        decode_row(f, f->b, f->negate_b, b + (size_t)j * f->k, &column);
        if (f->scales)
            decode_scales(f, scale_b + (size_t)j * f->scales, column_scales);
        for (unsigned i = 0; i < f->m; i++) {
            uint32_t start = widen(f, c[(size_t)i * f->n + j]);
            vm_fused_value decoded_c = vm_fused_decode(output, start);
            if (f->scales)
                decode_scales(f, scale_a + (size_t)i * f->scales, row_scales);
            int fraction = rows[i].value[0].fraction + column.value[0].fraction;
            if (emulated && (f->quads || bytes)) {
                d[(size_t)i * f->n + j] = f->quads
                                              ? quad_sum(output == NUM_DTYPE_F16, f->k, a + (size_t)i * f->k,
                                                         b + (size_t)j * f->k, start)
                                              : halves_sum(&model, f->k, &rows[i], &column, start);
                continue;
            }
            bool fast = simple && !rows[i].special && !column.special && decoded_c.class == VM_FUSED_FINITE;
            d[(size_t)i * f->n + j] =
                fast
                    ? fast_sum(&model, f->k, &rows[i], &column, fraction, &decoded_c)
                    : vm_fused_sum(&model, f->k, rows[i].value, column.value, f->scales ? row_scales : NULL,
                                   f->scales ? column_scales : NULL, f->scales ? f->k / f->scales : 0, start);
        }
    }
}

/* ---- integers and bits ---- */
static int64_t integer_of(ptx_type type, uint64_t code) {
    switch (type) {
    case PTX_TYPE_S8:
        return (int8_t)code;
    case PTX_TYPE_U8:
        return (uint8_t)code;
    case PTX_TYPE_S4:
        return (int64_t)(code & 7) - (int64_t)(code & 8);
    default:
        return (int64_t)(code & 15);
    }
}

static void multiply_integers(const vm_matrix_form *f, const uint64_t *a, const uint64_t *b,
                              const uint64_t *c, uint64_t *d) {
    bool bits = f->a == PTX_TYPE_B1;
    for (unsigned i = 0; i < f->m; i++)
        for (unsigned j = 0; j < f->n; j++) {
            const uint64_t *x = a + (size_t)i * f->k, *y = b + (size_t)j * f->k;
            int64_t sum = (int32_t)c[(size_t)i * f->n + j];
            for (unsigned k = 0; k < f->k; k++)
                sum += bits ? (int64_t)((f->exclusive ? x[k] ^ y[k] : x[k] & y[k]) & 1)
                            : integer_of(f->a, x[k]) * integer_of(f->b, y[k]);
            if (f->saturate)
                sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[(size_t)i * f->n + j] = (uint32_t)sum;
        }
}

void vm_matrix_multiply(const vm_matrix_form *form, vm_numerics numerics, unsigned sm, const uint64_t *a,
                        const uint64_t *b, const uint64_t *c, const uint32_t *scale_a,
                        const uint32_t *scale_b, uint64_t *d) {
    if (vm_matrix_is_float(form->a))
        multiply_floats(form, numerics, sm, a, b, c, scale_a, scale_b, d);
    else
        multiply_integers(form, a, b, c, d);
}
