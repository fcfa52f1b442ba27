/* SPDX-License-Identifier: Apache-2.0
 * The fast loops of the matrix unit at every processor level against the model of vm_tensor_model.h: each
 * kind and type pair, ordinary numbers, all codes, equal numbers that make sums tall, zeros, tiny and huge
 * numbers. */
#include "unit/unit.h"
#include <stdlib.h>
#include "unit/vm_tensor_model.h"
#include "vm/vm_tensor_multiply.h"

static uint64_t seed;
static uint32_t random32(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

enum flavour { ORDINARY, ANY, EQUAL, SPARSE, TINY, HUGE_NUMBERS, FLAVOURS };

static uint32_t random_code(num_dtype type, enum flavour flavour) {
    unsigned bits = type == NUM_DTYPE_TF32 ? 32 : num_dtype_bits(type);
    uint32_t code = random32() & (bits == 32 ? 0xffffffffu : (1u << bits) - 1);
    num_dtype as = type == NUM_DTYPE_TF32 ? NUM_DTYPE_F32 : type;
    if (num_dtype_is_integer(type))
        return flavour == EQUAL ? 0x7f : code;
    double value = (double)(int32_t)random32() / 0x1p31;
    switch (flavour) {
    case ANY:
        return code;
    case EQUAL:
        value = 1.9999;
        break;
    case SPARSE:
        value = random32() % 4 == 0 ? value : 0;
        break;
    case TINY:
        value *= ldexp(1, -(int)(random32() % 130));
        break;
    case HUGE_NUMBERS:
        value *= ldexp(1, (int)(random32() % 130));
        break;
    default:
        value *= ldexp(1, (int)(random32() % 10) - 5);
        break;
    }
    return (uint32_t)num_encode(as, value, NUM_RZ, true);
}

typedef struct shape {
    num_dtype a, b, d, scale;
    unsigned depth, block, group, fraction;
    uint8_t scale_c;
} shape;
enum { ROWS_MOST = 128, COLUMNS = 8 };
static unsigned rows = 16, columns = COLUMNS; /* 16: in the middle of a column; 128: the whole, in place */

static uint32_t d_cells[COLUMNS][VM_TENSOR_ROWS], before[COLUMNS][VM_TENSOR_ROWS];
static uint32_t a_codes[ROWS_MOST][64], b_codes[COLUMNS][64];
static uint8_t factor_a[ROWS_MOST][4], factor_b[COLUMNS][4];

static void pack(num_dtype type, unsigned count, unsigned depth, uint32_t codes[][64], void *to) {
    for (unsigned r = 0; r < count; r++)
        for (unsigned k = 0; k < depth; k++) {
            unsigned i = r * depth + k;
            if (type == NUM_DTYPE_TF32)
                ((uint32_t *)to)[i] = codes[r][k];
            else if (type == NUM_DTYPE_F16 || type == NUM_DTYPE_BF16)
                ((uint16_t *)to)[i] = (uint16_t)codes[r][k];
            else
                ((uint8_t *)to)[i] = (uint8_t)codes[r][k];
        }
}

static uint8_t random_factor(num_dtype type, enum flavour flavour) {
    if (flavour == ANY)
        return (uint8_t)random32();
    if (type == NUM_DTYPE_F8E8M0FNU)
        return (uint8_t)(flavour == TINY           ? random32() % 60
                         : flavour == HUGE_NUMBERS ? 250
                                                   : 118 + random32() % 16);
    return (uint8_t)(random32() & 0x7e);
}

static const char *const levels[] = {"x86-64", "x86-64-v3", "x86-64-v4", "generic"};

static void check(const shape *s, vm_numerics numerics, enum flavour flavour, enum flavour c_flavour) {
    static _Alignas(64) uint8_t scratch[VM_TENSOR_SCRATCH];
    static _Alignas(4) uint8_t a[ROWS_MOST * 64 * 4], b[COLUMNS * 64 * 4];
    for (unsigned r = 0; r < rows; r++)
        for (unsigned k = 0; k < s->depth; k++)
            a_codes[r][k] = random_code(s->a, flavour);
    for (unsigned n = 0; n < COLUMNS; n++)
        for (unsigned k = 0; k < s->depth; k++)
            b_codes[n][k] = random_code(s->b, flavour == TINY && n % 2 ? ORDINARY : flavour);
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned r = 0; r < rows; r++)
            factor_a[r][i] = random_factor(s->scale, flavour);
        for (unsigned n = 0; n < COLUMNS; n++)
            factor_b[n][i] = random_factor(s->scale, flavour);
    }
    for (unsigned n = 0; n < COLUMNS; n++)
        for (unsigned l = 0; l < VM_TENSOR_ROWS; l++)
            before[n][l] =
                s->d == NUM_DTYPE_I32 ? random32() : random_code(s->d, n % 8 == 7 ? SPARSE : c_flavour);
    pack(s->a, rows, s->depth, a_codes, a);
    pack(s->b, COLUMNS, s->depth, b_codes, b);
    uint32_t *d[COLUMNS];
    uint8_t column_lane[COLUMNS] = {0}, lane[8] = {16};
    for (unsigned i = 0; rows == ROWS_MOST && i < 8; i++)
        lane[i] = (uint8_t)(16 * i);
    for (unsigned n = 0; n < COLUMNS; n++)
        d[n] = d_cells[n];
    vm_tensor_job job = {.model = {.numerics = numerics,
                                   .output = s->d,
                                   .fraction = (uint8_t)s->fraction,
                                   .output_fraction = 23,
                                   .group = (uint16_t)(s->group > 1 ? s->group : 0),
                                   .scale_c = s->scale_c},
                         .a_type = s->a,
                         .b_type = s->b,
                         .rows = rows,
                         .columns = columns,
                         .depth = s->depth,
                         .negate_a = random32() & 1,
                         .negate_b = random32() & 1,
                         .enable_d = random32() % 4 != 0,
                         .integer = s->d == NUM_DTYPE_I32,
                         .saturate = random32() & 1,
                         .a = a,
                         .b = b,
                         .block = s->block,
                         .scale_type = s->scale,
                         .factor_a = factor_a,
                         .factor_b = factor_b,
                         .d = d,
                         .column_lane = column_lane,
                         .lane = lane,
                         .keep = {rows == 16 && random32() % 2 ? 0x00f00000u : 0, 0, 0, 0}};
    if (job.integer)
        job.negate_a = job.negate_b = false;
    static uint32_t want[COLUMNS][ROWS_MOST];
    for (unsigned n = 0; n < COLUMNS; n++)
        for (unsigned r = 0; r < rows; r++) {
            uint32_t c = before[n][lane[r / 16] + r % 16];
            uint32_t fa[4], fb[4];
            for (unsigned i = 0; i < 4; i++)
                fa[i] = factor_a[r][i], fb[i] = factor_b[n][i];
            if (job.integer) {
                int64_t sum = job.enable_d ? (int32_t)c : 0;
                for (unsigned k = 0; k < s->depth; k++)
                    sum += (int64_t)model_element(s->a, a_codes[r][k]) *
                           (int64_t)model_element(s->b, b_codes[n][k]);
                if (job.saturate)
                    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
                want[n][r] = (uint32_t)sum;
                continue;
            }
            model_problem p = {.numerics = (int)numerics,
                               .a_type = s->a,
                               .b_type = s->b,
                               .d_type = s->d,
                               .scale_type = s->scale,
                               .depth = s->depth,
                               .group = s->group,
                               .block = s->block,
                               .fraction_bits = s->fraction,
                               .scale_d = s->scale_c,
                               .negate_a = job.negate_a,
                               .negate_b = job.negate_b,
                               .a = a_codes[r],
                               .b = b_codes[n],
                               .factor_a = fa,
                               .factor_b = fb,
                               .c = job.enable_d ? c & (s->d == NUM_DTYPE_F16 ? 0xffffu : ~0u) : 0};
            want[n][r] = model_cell(&p);
        }
    for (unsigned i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        vm_tensor_multiply multiply = vm_tensor_multiply_choose(levels[i]);
        if (multiply == NULL)
            continue;
        memcpy(d_cells, before, sizeof before);
        multiply(&job, scratch);
        for (unsigned n = 0; n < COLUMNS; n++)
            for (unsigned l = 0; l < VM_TENSOR_ROWS; l++) {
                bool written =
                    (rows == ROWS_MOST || l / 16 == 1) && n < columns && !(job.keep[l / 32] >> l % 32 & 1);
                uint32_t expected = written ? want[n][l % rows] : before[n][l];
                if (d_cells[n][l] != expected)
                    fail_msg(
                        "%s, %s %s x %s -> %s, flavours %d %d: lane %u column %u is %#x, not %#x (c %#x%s)",
                        levels[i], vm_numerics_name(numerics), num_dtype_name(s->a), num_dtype_name(s->b),
                        num_dtype_name(s->d), flavour, c_flavour, l, n, d_cells[n][l], expected, before[n][l],
                        job.enable_d ? "" : ", not used");
            }
    }
}

static void every_flavour(const shape *s) {
    for (int numerics = 0; numerics < (s->d == NUM_DTYPE_I32 ? 1 : 3); numerics++)
        for (int flavour = 0; flavour < FLAVOURS; flavour++)
            for (int c = 0; c < FLAVOURS; c++)
                if (c == flavour || (numerics == 0 && s->depth != 32))
                    check(s, (vm_numerics)numerics, (enum flavour)flavour, (enum flavour)c);
}

static const num_dtype small[] = {NUM_DTYPE_F8E4M3FN, NUM_DTYPE_F8E5M2, NUM_DTYPE_F6E2M3FN,
                                  NUM_DTYPE_F6E3M2FN, NUM_DTYPE_F4E2M1FN};

static void kind_f16(void **state) {
    (void)state;
    for (uint8_t scale = 0; scale < 16; scale += 15)
        for (int half = 0; half < 2; half++)
            every_flavour(&(shape){NUM_DTYPE_F16, NUM_DTYPE_F16, half ? NUM_DTYPE_F16 : NUM_DTYPE_F32,
                                   NUM_DTYPE_NONE, 16, 0, 1, 25, scale});
    every_flavour(&(shape){NUM_DTYPE_BF16, NUM_DTYPE_BF16, NUM_DTYPE_F32, NUM_DTYPE_NONE, 16, 0, 1, 25, 0});
    every_flavour(&(shape){NUM_DTYPE_BF16, NUM_DTYPE_BF16, NUM_DTYPE_F32, NUM_DTYPE_NONE, 16, 0, 1, 25, 15});
}
/* Columns of D that are read and written where they stand, and a number of columns that is no whole block. */
static void in_place(void **state) {
    (void)state;
    static const num_dtype types[] = {NUM_DTYPE_F16, NUM_DTYPE_BF16, NUM_DTYPE_F8E4M3FN};
    rows = ROWS_MOST;
    for (unsigned i = 0; i < 3; i++) {
        unsigned depth = types[i] == NUM_DTYPE_F8E4M3FN ? 32 : 16;
        for (int flavour = 0; flavour < FLAVOURS; flavour++) {
            columns = flavour % 2 ? COLUMNS : 6;
            for (int numerics = 0; numerics < 2; numerics++)
                check(&(shape){types[i], types[i], NUM_DTYPE_F32, NUM_DTYPE_NONE, depth, 0, 1, 25, 0},
                      (vm_numerics)numerics, (enum flavour)flavour, (enum flavour)flavour);
        }
    }
    rows = 16;
    columns = COLUMNS;
}
static void kind_tf32(void **state) {
    (void)state;
    every_flavour(&(shape){NUM_DTYPE_TF32, NUM_DTYPE_TF32, NUM_DTYPE_F32, NUM_DTYPE_NONE, 8, 0, 1, 25, 0});
}
static void kind_f8f6f4(void **state) {
    (void)state;
    for (unsigned i = 0; i < 25; i++)
        every_flavour(&(shape){small[i / 5], small[i % 5], i % 2 ? NUM_DTYPE_F16 : NUM_DTYPE_F32,
                               NUM_DTYPE_NONE, 32, 0, 1, 25, 0});
}
static void kind_i8(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        every_flavour(&(shape){i & 1 ? NUM_DTYPE_I8 : NUM_DTYPE_U8, i & 2 ? NUM_DTYPE_I8 : NUM_DTYPE_U8,
                               NUM_DTYPE_I32, NUM_DTYPE_NONE, 32, 0, 1, 25, 0});
}
static void kind_mxf8f6f4(void **state) {
    (void)state;
    for (unsigned i = 0; i < 25; i++)
        every_flavour(
            &(shape){small[i / 5], small[i % 5], NUM_DTYPE_F32, NUM_DTYPE_F8E8M0FNU, 32, 32, 1, 25, 0});
}
static void kind_mxf4(void **state) {
    (void)state;
    every_flavour(&(shape){NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F32, NUM_DTYPE_F8E8M0FNU, 64, 32,
                           16, 35, 0});
    every_flavour(&(shape){NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F32, NUM_DTYPE_F8E8M0FNU, 64, 16,
                           16, 35, 0});
    every_flavour(&(shape){NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F4E2M1FN, NUM_DTYPE_F32, NUM_DTYPE_F8E4M3FN, 64, 16,
                           16, 35, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_f16), cmocka_unit_test(kind_tf32),     cmocka_unit_test(kind_f8f6f4),
        cmocka_unit_test(kind_i8),  cmocka_unit_test(kind_mxf8f6f4), cmocka_unit_test(kind_mxf4),
        cmocka_unit_test(in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
