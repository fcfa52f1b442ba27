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
enum { ROW = 64, COLUMNS = 64 }; /* depth of the float forms; columns at a time */
typedef struct decoded {         /* one row of A, or one column of B */
    vm_fused_value value[ROW];
} decoded;

static void decode_row(const vm_matrix_form *f, ptx_type type, bool negate, const uint64_t *codes,
                       decoded *out) {
    num_dtype dtype = dtype_of(type);
    for (unsigned k = 0; k < f->k; k++) {
        out->value[k] = vm_fused_decode(dtype, vm_matrix_element(f, type, (uint32_t)codes[k]));
        out->value[k].negative ^= negate;
    }
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

/* The fast road: finite values of one step. What is special is left to `slow`. */
typedef struct field { /* of a format: fraction, exponent's mask and bias, padding */
    unsigned fraction, mask, padding;
    int bias;
    bool ones; /* only the code of ones is no number (e4m3); else the greatest exponent; none for formats
                  below 8 bits */
} field;

static bool field_of(ptx_type type, field *out) {
    switch (type) {
    case PTX_TYPE_F16:
        *out = (field){10, 31, 0, 15, false};
        return true;
    case PTX_TYPE_BF16:
        *out = (field){7, 255, 0, 127, false};
        return true;
    case PTX_TYPE_TF32:
        *out = (field){10, 255, 13, 127, false};
        return true;
    case PTX_TYPE_E4M3:
        *out = (field){3, 15, 0, 7, true};
        return true;
    case PTX_TYPE_E5M2:
        *out = (field){2, 31, 0, 15, false};
        return true;
    case PTX_TYPE_F32:
        *out = (field){23, 255, 0, 127, false};
        return true;
    default:
        return false;
    }
}

/* False: infinity or NaN. */
static inline bool take_fields(const field *t, uint64_t code, bool negate, int32_t *significand,
                               int32_t *exponent) {
    uint32_t bits = (uint32_t)code >> t->padding, fraction = bits & ((1u << t->fraction) - 1);
    uint32_t exponent_field = bits >> t->fraction & t->mask;
    bool negative = (bits >> t->fraction) > t->mask;
    if (exponent_field == t->mask && (!t->ones || fraction == 7))
        return false;
    int32_t value = (int32_t)(fraction | (exponent_field ? 1u << t->fraction : 0));
    *significand = negative != negate ? -value : value;
    *exponent =
        value == 0 ? VM_FUSED_ZERO_EXPONENT : (int32_t)(exponent_field ? exponent_field : 1) - t->bias;
    return true;
}

typedef struct columns {
    int32_t significand[ROW][COLUMNS], exponent[ROW][COLUMNS], c_exponent[COLUMNS], largest[COLUMNS];
    int64_t sum[COLUMNS];
    int32_t c[COLUMNS];
    bool special[COLUMNS], c_special[COLUMNS];
} columns;

static uint32_t slow_sum(const vm_matrix_form *f, const vm_fused_model *model, const uint64_t *a,
                         const uint64_t *b, uint32_t c) {
    decoded row, column;
    decode_row(f, f->a, f->negate_a, a, &row);
    decode_row(f, f->b, f->negate_b, b, &column);
    return vm_fused_sum(model, f->k, row.value, column.value, NULL, NULL, 0, c);
}

/* Adds the accumulator, c * 2^(c_exponent - fraction), to the products' sum, and rounds. */
static uint32_t finish_sum(const vm_fused_model *model, int64_t sum, int largest, int32_t c, int c_exponent,
                           unsigned fraction) {
    int shift = model->fraction - (int)fraction - (largest - c_exponent);
    uint64_t magnitude = (uint64_t)(c < 0 ? -(int64_t)c : c);
    magnitude = shift >= 0 ? magnitude << shift : shift < -63 ? 0 : magnitude >> -shift;
    sum += c < 0 ? -(int64_t)magnitude : (int64_t)magnitude;
    return vm_fused_round(model, sum < 0, sum < 0 ? (uint64_t)-sum : (uint64_t)sum,
                          largest - model->fraction);
}

static void multiply_fast(const vm_matrix_form *f, const vm_fused_model *model, vm_matrix_add_function add,
                          const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d) {
    field of_a, of_b, of_c;
    field_of(f->a, &of_a);
    field_of(f->b, &of_b);
    field_of(model->output == NUM_DTYPE_F16 ? PTX_TYPE_F16 : PTX_TYPE_F32, &of_c);
    columns s;
    int32_t a_significand[ROW], a_exponent[ROW];
    vm_matrix_sums job = {f->k,
                          0,
                          COLUMNS,
                          model->fraction - of_a.fraction - of_b.fraction,
                          a_significand,
                          a_exponent,
                          s.significand[0],
                          s.exponent[0],
                          s.c_exponent,
                          s.largest,
                          s.sum};
    for (unsigned first = 0; first < f->n; first += COLUMNS) {
        job.columns = f->n - first < COLUMNS ? f->n - first : COLUMNS;
        unsigned padded = (job.columns + 15) / 16 * 16;
        for (unsigned k = 0; k < f->k; k++)
            for (unsigned j = job.columns; j < padded; j++)
                s.significand[k][j] = s.exponent[k][j] = 0;
        for (unsigned j = 0; j < job.columns; j++) {
            s.special[j] = false;
            for (unsigned k = 0; k < f->k; k++)
                if (!take_fields(&of_b, b[(size_t)(first + j) * f->k + k], f->negate_b, &s.significand[k][j],
                                 &s.exponent[k][j])) {
                    s.special[j] = true;
                    s.significand[k][j] = s.exponent[k][j] = 0;
                }
        }
        for (unsigned i = 0; i < f->m; i++) {
            bool special = false;
            for (unsigned k = 0; k < f->k; k++)
                special |= !take_fields(&of_a, a[(size_t)i * f->k + k], f->negate_a, &a_significand[k],
                                        &a_exponent[k]);
            const uint64_t *from = c + (size_t)i * f->n + first;
            uint64_t *to = d + (size_t)i * f->n + first;
            for (unsigned j = 0; j < padded; j++) {
                s.c[j] = s.c_exponent[j] = 0;
                s.c_special[j] = j < job.columns &&
                                 !take_fields(&of_c, widen(f, from[j]), false, &s.c[j], &s.c_exponent[j]);
            }
            if (!special)
                add(&job);
            for (unsigned j = 0; j < job.columns; j++)
                to[j] =
                    special || s.special[j] || s.c_special[j]
                        ? slow_sum(f, model, a + (size_t)i * f->k, b + (size_t)(first + j) * f->k,
                                   widen(f, from[j]))
                        : finish_sum(model, s.sum[j], s.largest[j], s.c[j], s.c_exponent[j], of_c.fraction);
        }
    }
}

static void multiply_floats(const vm_matrix_form *f, vm_numerics numerics, unsigned sm, const uint64_t *a,
                            const uint64_t *b, const uint64_t *c, const uint32_t *scale_a,
                            const uint32_t *scale_b, vm_matrix_add_function add, uint64_t *d) {
    num_dtype output = f->d == PTX_TYPE_F16 ? NUM_DTYPE_F16 : NUM_DTYPE_F32;
    vm_fused_model model =
        vm_fused_model_of(numerics, sm, f->unit, dtype_of(f->a), f->k, output, f->scales != 0);
    if (f->wmma && f->a == PTX_TYPE_TF32)
        model.step = 4; /* ptxas makes it of two m16n8k4; an H200 agrees (tests/recorded) */
    bool bytes = f->a == PTX_TYPE_E4M3 || f->a == PTX_TYPE_E5M2;
    bool emulated =
        numerics == VM_NUMERICS_HW && f->unit == VM_FUSED_MMA && sm >= 90 && sm < 120 && (f->quads || bytes);
    field unused;
    if (numerics == VM_NUMERICS_HW && !emulated && f->scales == 0 && model.step == 0 &&
        field_of(f->a, &unused) && field_of(f->b, &unused)) {
        multiply_fast(f, &model, add, a, b, c, d);
        return;
    }
    vm_fused_value row_scales[4], column_scales[4];
    decoded rows[VM_MATRIX_M], column;
    for (unsigned i = 0; i < f->m; i++)
        decode_row(f, f->a, f->negate_a, a + (size_t)i * f->k, &rows[i]);
    for (unsigned j = 0; j < f->n; j++) {
        decode_row(f, f->b, f->negate_b, b + (size_t)j * f->k, &column);
        if (f->scales)
            decode_scales(f, scale_b + (size_t)j * f->scales, column_scales);
        for (unsigned i = 0; i < f->m; i++) {
            uint32_t start = widen(f, c[(size_t)i * f->n + j]);
            if (f->scales)
                decode_scales(f, scale_a + (size_t)i * f->scales, row_scales);
            uint64_t *to = &d[(size_t)i * f->n + j];
            if (emulated && f->quads)
                *to = quad_sum(output == NUM_DTYPE_F16, f->k, a + (size_t)i * f->k, b + (size_t)j * f->k,
                               start);
            else if (emulated)
                *to = halves_sum(&model, f->k, &rows[i], &column, start);
            else
                *to = vm_fused_sum(&model, f->k, rows[i].value, column.value, f->scales ? row_scales : NULL,
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
                        const uint32_t *scale_b, vm_matrix_add_function add, uint64_t *d) {
    if (vm_matrix_is_float(form->a))
        multiply_floats(form, numerics, sm, a, b, c, scale_a, scale_b, add, d);
    else
        multiply_integers(form, a, b, c, d);
}

/* ---- levels ---- */
void vm_matrix_add_v1(const vm_matrix_sums *job);
void vm_matrix_add_v3(const vm_matrix_sums *job);
void vm_matrix_add_v4(const vm_matrix_sums *job);
void vm_matrix_add_generic(const vm_matrix_sums *job);

vm_matrix_add_function vm_matrix_add_choose(const char *level) {
#if defined(__x86_64__)
    return strcmp(level, "x86-64-v4") == 0   ? vm_matrix_add_v4
           : strcmp(level, "x86-64-v3") == 0 ? vm_matrix_add_v3
                                             : vm_matrix_add_v1;
#else
    (void)level;
    return vm_matrix_add_generic;
#endif
}
