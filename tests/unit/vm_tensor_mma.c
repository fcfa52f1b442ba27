/* SPDX-License-Identifier: Apache-2.0
 * tcgen05.mma as PTX on the machine: every kind, type pair, shape, major order and swizzle, .ws, pairs of
 * CTAs, A and scale factors in tensor memory, on all schedules. Operands are placed by the formulas of the
 * PTX ISA written out here; sampled cells of D are compared with the model, and all other cells must not
 * change. */
#include "unit/vm_tensor_kernel.h"
#include <stdlib.h>
#include "unit/vm_tensor_model.h"
#include "vm/vm_tensor_descriptor.h"

enum { B_OFFSET = 24576 };

static uint64_t seed = 7;
static uint32_t random32(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}
static unsigned pick(unsigned below) {
    return random32() % below;
}

typedef struct setup {
    vm_tensor_kind kind;
    num_dtype a, b, d, scale;
    unsigned group, m, n, k, vec;
    bool ws, a_in_tmem, transpose_a, transpose_b, half, negate_a, negate_b, saturate, mask, enable, shift;
    unsigned scale_d, id_a, id_b;
    vm_tensor_matrix a_matrix, b_matrix;
    uint32_t d_column, a_column, sfa_column, sfb_column;
} setup;

static const num_dtype small[] = {NUM_DTYPE_F8E4M3FN, NUM_DTYPE_F8E5M2, NUM_DTYPE_F6E2M3FN,
                                  NUM_DTYPE_F6E3M2FN, NUM_DTYPE_F4E2M1FN};
static const unsigned small_code[] = {0, 1, 3, 4, 5};

static unsigned type_code(num_dtype type) {
    for (unsigned i = 0; i < 5; i++)
        if (small[i] == type)
            return small_code[i];
    return type == NUM_DTYPE_TF32 ? 2 : type == NUM_DTYPE_BF16 || type == NUM_DTYPE_I8 ? 1 : 0;
}
static bool is_packed(const setup *s) {
    return s->kind == VM_TENSOR_MXF4 || s->kind == VM_TENSOR_MXF4NVF4;
}
static uint32_t descriptor_of(const setup *s) {
    uint32_t bits = (uint32_t)s->negate_a << 13 | (uint32_t)s->negate_b << 14 |
                    (uint32_t)s->transpose_a << 15 | (uint32_t)s->transpose_b << 16 | s->n / 8 << 17 |
                    s->m / 16 << 24;
    bits |= is_packed(s) ? 1u << 7 | 1u << 10 : type_code(s->a) << 7 | type_code(s->b) << 10;
    if (s->vec != 0)
        return bits | s->id_b << 4 | s->id_a << 29 | (s->scale == NUM_DTYPE_F8E8M0FNU ? 1u << 23 : 0);
    return bits |
           (s->d == NUM_DTYPE_F32   ? 1u
            : s->d == NUM_DTYPE_I32 ? 2u
                                    : 0u)
               << 4 |
           (uint32_t)s->saturate << 3;
}

static vm_tensor_matrix random_matrix(const setup *s, num_dtype type, bool mn, unsigned rows,
                                      uint32_t offset) {
    static const unsigned widths[] = {16, 32, 64, 128, 128};
    unsigned bits = vm_tensor_container_bits(s->kind, type);
    vm_tensor_matrix m = {.start = offset};
    m.swizzle = (vm_tensor_swizzle)(mn && bits == 32 ? 4 : pick(mn ? 4 : 5));
    unsigned width = widths[m.swizzle], es = bits / 8;
    if (!mn) {
        bool plain = m.swizzle == VM_TENSOR_SWIZZLE_NONE;
        m.stride = plain ? 256 : 8 * width;
        m.leading = plain ? 128 : 16;
        if (!plain && width > 32)
            m.start += 32 * pick(width / 32);
        return m;
    }
    if (m.swizzle == VM_TENSOR_SWIZZLE_NONE) {
        m.leading = 128;
        m.stride = 128 * (s->k / 8);
    } else {
        unsigned deep = m.swizzle == VM_TENSOR_SWIZZLE_128B_32B ? 4 : 8;
        m.stride = deep * width;
        m.leading = m.stride * (s->k / deep);
    }
    (void)rows, (void)es;
    return m;
}
/* The pattern starts some lines of 128 bytes later. */
static void move_pattern(vm_tensor_matrix *m) {
    if (m->swizzle == VM_TENSOR_SWIZZLE_NONE || m->swizzle == VM_TENSOR_SWIZZLE_128B_32B || pick(3))
        return;
    m->base_offset = pick(8);
    m->start += 128 * m->base_offset;
}
static uint64_t encode_matrix(const vm_tensor_matrix *m) {
    static const uint64_t codes[] = {0, 6, 4, 2, 1};
    return m->start >> 4 | (uint64_t)m->base_offset << 49 | (uint64_t)(m->leading >> 4) << 16 |
           (uint64_t)(m->stride >> 4) << 32 | UINT64_C(1) << 46 | codes[m->swizzle] << 61;
}

static uint32_t random_code(num_dtype type) {
    unsigned bits = type == NUM_DTYPE_TF32 ? 32 : num_dtype_bits(type);
    if (num_dtype_is_integer(type) || bits <= 6)
        return random32() & ((1u << bits) - 1);
    double value = (double)(int32_t)random32() / 0x1p31 * ldexp(1, (int)pick(8) - 4);
    return (uint32_t)num_encode(type == NUM_DTYPE_TF32 ? NUM_DTYPE_F32 : type, value, NUM_RN, true);
}

/* One code into an image of shared memory: elements of 4 bits two to a byte, or in groups of 16 to 16 bytes.
 */
static void place(uint8_t *image, const setup *s, num_dtype type, const vm_tensor_matrix *m, bool mn,
                  unsigned row, unsigned k, uint32_t code) {
    unsigned bits = vm_tensor_container_bits(s->kind, type), width = num_dtype_bits(type);
    if (is_packed(s)) {
        uint8_t *at = image + vm_tensor_matrix_address(m, 4, false, row, k);
        *at = (uint8_t)((*at & (k % 2 ? 0x0f : 0xf0)) | code << 4 * (k % 2));
        return;
    }
    if (bits == 8 && width < 8) { /* bit by bit behind the start of the group */
        uint8_t *at = image + vm_tensor_matrix_address(m, 8, mn, row, k / 16 * 16);
        for (unsigned i = 0; i < width; i++) {
            unsigned bit = k % 16 * width + i;
            at[bit / 8] = (uint8_t)((at[bit / 8] & ~(1u << bit % 8)) | (code >> i & 1) << bit % 8);
        }
        return;
    }
    memcpy(image + vm_tensor_matrix_address(m, bits, mn, row, k), &code, bits / 8);
}

/* Lane and column of D[m, n], by the table of datapaths; *cta: which of the pair. */
static void place_of_d(const setup *s, unsigned m, unsigned n, unsigned *cta, unsigned *lane,
                       unsigned *column) {
    *cta = 0;
    if (s->group == 2) {
        unsigned rows = s->m / 2;
        *cta = m / rows;
        bool upper = s->m == 128 && n >= s->n / 2;
        *lane = m % rows + (upper ? 64 : 0);
        *column = upper ? n - s->n / 2 : n;
    } else if (s->ws && s->m == 64) {
        *lane = m + (n >= s->n / 2 ? 64 : 0);
        *column = n % (s->n / 2);
    } else if (s->ws && s->m == 32) {
        *lane = m + 32 * (n / (s->n / 4));
        *column = n % (s->n / 4);
    } else if (s->m == 64) {
        *lane = 32 * (m / 16) + m % 16 + (s->half ? 16 : 0);
        *column = n;
    } else {
        *lane = m;
        *column = n;
    }
    *column += s->d_column;
}

static uint32_t a_codes[256][64], b_codes[256][64];
static uint8_t factors_a[256][4], factors_b[256][4];

typedef struct world {
    uint8_t *shared[2];
    uint32_t *cells[2], *out[2]; /* [column][lane] */
} world;

static void fill(const setup *s, const world *w) {
    for (unsigned c = 0; c < s->group; c++) {
        for (unsigned i = 0; i < IMAGE; i++)
            w->shared[c][i] = (uint8_t)random32();
        for (unsigned i = 0; i < COLUMNS * LANES; i++)
            w->cells[c][i] = random32() & (s->d == NUM_DTYPE_F16 ? 0x3fff : 0x3fffffff);
    }
    for (unsigned r = 0; r < s->m; r++)
        for (unsigned k = 0; k < s->k; k++) {
            unsigned rows = s->m / s->group, c = r / rows;
            a_codes[r][k] = random_code(s->a);
            if (!s->a_in_tmem)
                place(w->shared[c], s, s->a, &s->a_matrix, s->transpose_a, r % rows, k, a_codes[r][k]);
        }
    for (unsigned n = 0; n < s->n; n++)
        for (unsigned k = 0; k < s->k; k++) {
            unsigned columns = s->n / s->group;
            b_codes[n][k] = random_code(s->b);
            place(w->shared[n / columns], s, s->b, &s->b_matrix, s->transpose_b, n % columns, k,
                  b_codes[n][k]);
        }
    /* A beside every column of D that uses it */
    for (unsigned m = 0; s->a_in_tmem && m < s->m; m++)
        for (unsigned n = 0; n < s->n; n++) {
            unsigned c, lane, column;
            place_of_d(s, m, n, &c, &lane, &column);
            for (unsigned k = 0; k < s->k; k++) {
                unsigned bits = vm_tensor_container_bits(s->kind, s->a), at = k * bits;
                unsigned shift = at % 32 + (bits == 8 && s->a == NUM_DTYPE_F4E2M1FN ? 2 : 0);
                uint32_t *cell = &w->cells[c][(s->a_column + at / 32) * LANES + lane];
                uint32_t ones = bits == 32 ? ~0u : ((1u << num_dtype_bits(s->a)) - 1) << shift;
                *cell = (*cell & ~ones) | a_codes[m][k] << shift;
            }
        }
    for (unsigned v = 0; v < s->vec; v++) {
        for (unsigned m = 0; m < s->m; m++) {
            unsigned rows = s->m / s->group, r = m % rows;
            factors_a[m][v] = s->scale == NUM_DTYPE_F8E8M0FNU ? (uint8_t)(120 + pick(16)) : random32() & 0x7e;
            for (unsigned copy = 0; copy < 4; copy++)
                memcpy((uint8_t *)&w->cells[m / rows][(s->sfa_column + r / 32) * LANES + r % 32 + 32 * copy] +
                           s->id_a + v,
                       &factors_a[m][v], 1);
        }
        for (unsigned n = 0; n < s->n; n++) {
            bool halves = s->group == 2 && s->m == 128;
            unsigned upper = halves && n >= s->n / 2, i = upper ? n - s->n / 2 : n;
            factors_b[n][v] = s->scale == NUM_DTYPE_F8E8M0FNU ? (uint8_t)(120 + pick(16)) : random32() & 0x7e;
            for (unsigned c = 0; c < s->group; c++)
                for (unsigned copy = 0; copy < (halves ? 2 : 4); copy++)
                    memcpy((uint8_t *)&w->cells[c][(s->sfb_column + i / 32) * LANES + i % 32 + 64 * upper +
                                                   32 * copy] +
                               s->id_b + v,
                           &factors_b[n][v], 1);
        }
    }
}

static uint32_t expected(const setup *s, vm_numerics numerics, unsigned m, unsigned n, uint32_t c) {
    uint32_t fa[4], fb[4];
    for (unsigned i = 0; i < 4; i++)
        fa[i] = factors_a[m][i], fb[i] = factors_b[n][i];
    if (s->d == NUM_DTYPE_I32) {
        int64_t sum = s->enable ? (int32_t)c : 0;
        for (unsigned k = 0; k < s->k; k++)
            sum += (int64_t)model_element(s->a, a_codes[m][k]) * (int64_t)model_element(s->b, b_codes[n][k]);
        if (s->saturate)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return (uint32_t)sum;
    }
    model_problem p = {.numerics = (int)numerics,
                       .a_type = s->a,
                       .b_type = s->b,
                       .d_type = s->d,
                       .scale_type = s->scale,
                       .depth = s->k,
                       .group = is_packed(s) ? 16 : 1,
                       .block = s->vec ? s->k / s->vec : 0,
                       .fraction_bits = is_packed(s) ? 35 : 25,
                       .scale_d = s->scale_d,
                       .negate_a = s->negate_a,
                       .negate_b = s->negate_b,
                       .a = a_codes[m],
                       .b = b_codes[n],
                       .factor_a = fa,
                       .factor_b = fb,
                       .c = s->enable ? c : 0};
    if (s->d == NUM_DTYPE_F16)
        p.c &= 0xffff;
    return model_cell(&p);
}

static const char *instruction_of(base_arena *arena, const setup *s) {
    base_builder out;
    base_builder_start(&out, arena);
    base_builder_format(&out, "tcgen05.mma%s.cta_group::%u.kind::%s", s->ws ? ".ws" : "", s->group,
                        vm_tensor_kind_name(s->kind));
    if (s->vec)
        base_builder_format(&out, ".block_scale.scale_vec::%uX", s->vec);
    if (s->shift)
        base_builder_string(&out, ".ashift");
    base_builder_format(&out, " [%%r22], %s, %%rd11, %%r20", s->a_in_tmem ? "[%r23]" : "%rd10");
    if (s->vec)
        base_builder_string(&out, ", [%r24], [%r25]");
    if (s->mask)
        base_builder_string(&out, s->group == 2 ? ", {%r31, %r30, %r30, %r31, %r30, %r31, %r30, %r30}"
                                                : ", {%r31, %r30, %r30, %r31}");
    base_builder_string(&out, ", %p5");
    if (s->scale_d)
        base_builder_format(&out, ", %u", s->scale_d);
    base_builder_string(&out, ";");
    return out.data;
}

static const uint32_t masks[2][4] = {{0x00ff0000, 0, 0, 0x00ff0000}, {0, 0x00ff0000, 0, 0}};

static void describe(const setup *s, char *text, size_t size) {
    snprintf(text, size, "%s %s%s x %s%s -> %s m%u n%u group %u%s%s", vm_tensor_kind_name(s->kind),
             num_dtype_name(s->a), s->transpose_a ? "^T" : "", num_dtype_name(s->b),
             s->transpose_b ? "^T" : "", num_dtype_name(s->d), s->m, s->n, s->group, s->ws ? " ws" : "",
             s->shift       ? " A in tmem, shifted"
             : s->a_in_tmem ? " A in tmem"
                            : "");
}

/* .ashift leaves A with every row but the last of 32 replaced by the next: how far on a cell comes from. */
static unsigned shifted_from(const setup *s, unsigned cell) {
    unsigned column = cell / LANES;
    return s->shift && column >= s->a_column && column < s->a_column + 8 && cell % 32 != 31;
}

static void run(const setup *s, vm_numerics numerics, vm_schedule schedule) {
    base_heap *heap = base_heap_create(NULL);
    base_arena *arena = base_arena_create(heap);
    char what[200];
    describe(s, what, sizeof what);
    vm_case *c = vm_case_load(arena, vm_tensor_kernel(arena, s->group, instruction_of(arena, s), NULL, NULL));
    uint8_t *shared = vm_case_buffer(c, "shared", (size_t)s->group * IMAGE);
    uint32_t *cells = vm_case_buffer(c, "cells", (size_t)s->group * COLUMNS * LANES * 4);
    uint32_t *out = vm_case_buffer(c, "out", (size_t)s->group * COLUMNS * LANES * 4);
    uint32_t *scalars = vm_case_buffer(c, "scalars", 64);
    world w = {{shared, shared + IMAGE}, {cells, cells + COLUMNS * LANES}, {out, out + COLUMNS * LANES}};
    fill(s, &w);
    uint64_t a = s->a_in_tmem ? 0 : encode_matrix(&s->a_matrix), b = encode_matrix(&s->b_matrix);
    memcpy(scalars, &a, 8), memcpy(scalars + 2, &b, 8);
    uint32_t lane = s->half ? 16u << 16 : 0;
    uint32_t rest[] = {descriptor_of(s),   s->enable,     s->d_column | lane,
                       s->a_column | lane, s->sfa_column, s->sfb_column};
    memcpy(scalars + 4, rest, sizeof rest);
    c->launch.schedule = schedule;
    c->launch.numerics = numerics;
    vm_tensor_launch(c, s->group);
    /* D of f16 leaves the upper halves of its cells undefined, and the dump reads whole cells */
    bool halves = s->d == NUM_DTYPE_F16 && strcmp(vm_case_findings(c), "tmem-unwritten") == 0;
    if (c->result->status != VM_COMPLETE || (c->result->finding_count != 0 && !halves))
        fail_msg("%s: status %d, %s; %s", what, c->result->status, vm_case_findings(c),
                 c->result->finding_count && c->result->findings[0].text ? c->result->findings[0].text : "");
    uint8_t *is_d = base_arena_allocate(arena, 2 * COLUMNS * LANES);
    memset(is_d, 0, 2 * COLUMNS * LANES);
    for (unsigned m = 0; m < s->m; m++)
        for (unsigned n = 0; n < s->n; n++) {
            unsigned cta, l, column;
            place_of_d(s, m, n, &cta, &l, &column);
            unsigned at = column * LANES + l;
            if (s->mask && masks[0][l / 32] >> l % 32 & 1 && cta == 0)
                continue;
            if (s->mask && masks[1][l / 32] >> l % 32 & 1 && cta == 1)
                continue;
            assert_false(is_d[cta * COLUMNS * LANES + at]);
            is_d[cta * COLUMNS * LANES + at] = 1;
            if (s->d != NUM_DTYPE_I32 && pick(s->m * s->n / 48) != 0)
                continue;
            uint32_t want = expected(s, numerics, m, n, w.cells[cta][at]);
            if (w.out[cta][at] != want)
                fail_msg("%s, %s: D[%u, %u] is %#x, not %#x", what, vm_numerics_name(numerics), m, n,
                         w.out[cta][at], want);
        }
    for (unsigned cta = 0; cta < s->group; cta++)
        for (unsigned i = 0; i < COLUMNS * LANES; i++)
            if (!is_d[cta * COLUMNS * LANES + i] && w.out[cta][i] != w.cells[cta][i + shifted_from(s, i)])
                fail_msg("%s: column %u, lane %u of CTA %u changed", what, i / LANES, i % LANES, cta);
    base_heap_destroy(heap);
}

/* A random legal form of a kind. */
static setup random_setup(vm_tensor_kind kind) {
    setup s = {.kind = kind, .group = 1 + (pick(3) == 0), .enable = pick(4) != 0};
    bool scaled = kind >= VM_TENSOR_MXF8F6F4;
    static const unsigned depths[] = {16, 8, 32, 32, 32, 64, 64};
    s.k = depths[kind];
    s.ws = !scaled && s.group == 1 && pick(4) == 0;
    s.m = s.ws ? 32u << pick(3) : s.group == 2 ? 128u << pick(2) : scaled || pick(2) ? 128 : 64;
    unsigned step = s.group == 2 ? 32 : 16;
    s.n = s.ws ? 64u << pick(3) : step * (1 + pick(256 / step));
    s.d = NUM_DTYPE_F32;
    switch (kind) {
    case VM_TENSOR_F16:
        s.d = pick(3) ? NUM_DTYPE_F32 : NUM_DTYPE_F16;
        s.a = s.b = s.d == NUM_DTYPE_F32 && pick(2) ? NUM_DTYPE_BF16 : NUM_DTYPE_F16;
        break;
    case VM_TENSOR_TF32:
        s.a = s.b = NUM_DTYPE_TF32;
        break;
    case VM_TENSOR_F8F6F4:
        s.d = pick(2) ? NUM_DTYPE_F32 : NUM_DTYPE_F16;
        s.a = small[pick(5)], s.b = small[pick(5)];
        break;
    case VM_TENSOR_I8:
        s.d = NUM_DTYPE_I32;
        s.a = pick(2) ? NUM_DTYPE_I8 : NUM_DTYPE_U8, s.b = pick(2) ? NUM_DTYPE_I8 : NUM_DTYPE_U8;
        s.saturate = pick(2);
        break;
    case VM_TENSOR_MXF8F6F4:
        s.a = small[pick(5)], s.b = small[pick(5)];
        s.vec = 1;
        break;
    default:
        s.a = s.b = NUM_DTYPE_F4E2M1FN;
        s.vec = kind == VM_TENSOR_MXF4 || pick(2) ? 2 : 4;
        break;
    }
    s.scale = !scaled ? NUM_DTYPE_NONE : s.vec == 4 && pick(2) ? NUM_DTYPE_F8E4M3FN : NUM_DTYPE_F8E8M0FNU;
    s.id_a = scaled ? pick(4) / s.vec * s.vec : 0;
    s.id_b = scaled ? pick(4) / s.vec * s.vec : 0;
    s.a_in_tmem = pick(3) == 0;
    bool can_a = num_dtype_bits(s.a) >= 8 && !is_packed(&s),
         can_b = num_dtype_bits(s.b) >= 8 && !is_packed(&s);
    s.shift = s.a_in_tmem && !scaled && !s.ws && s.m >= 128 && pick(2);
    s.transpose_a = can_a && !s.a_in_tmem && pick(2);
    s.transpose_b = can_b && pick(2);
    s.negate_a = kind != VM_TENSOR_I8 && pick(2);
    s.negate_b = kind != VM_TENSOR_I8 && pick(2);
    s.half = s.group == 1 && !s.ws && s.m == 64 && pick(2);
    s.mask = !scaled && !s.ws && pick(3) == 0;
    s.scale_d = kind <= VM_TENSOR_TF32 && !s.ws && pick(3) == 0 ? pick(16) : 0;
    s.a_matrix = random_matrix(&s, s.a, s.transpose_a, s.m / s.group, 0);
    s.b_matrix = random_matrix(&s, s.b, s.transpose_b, s.n / s.group, B_OFFSET);
    move_pattern(&s.a_matrix);
    move_pattern(&s.b_matrix);
    s.d_column = pick(4) * 16;
    s.a_column = 320 + pick(16);
    s.sfa_column = 352;
    s.sfb_column = 368 + pick(8);
    return s;
}

static void random_forms(vm_tensor_kind kind, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        setup s = random_setup(kind);
        run(&s,
            i % 5 == 3                        ? VM_NUMERICS_FP32
            : i % 5 == 4 && s.m * s.n <= 8192 ? VM_NUMERICS_EXACT
                                              : VM_NUMERICS_HW,
            (vm_schedule)(i % 3));
    }
}

#define KIND(name, value, count)                                                                             \
    static void name(void **state) {                                                                         \
        (void)state;                                                                                         \
        random_forms(value, count);                                                                          \
    }
KIND(kind_f16, VM_TENSOR_F16, 24)
KIND(kind_tf32, VM_TENSOR_TF32, 12)
KIND(kind_f8f6f4, VM_TENSOR_F8F6F4, 24)
KIND(kind_i8, VM_TENSOR_I8, 10)
KIND(kind_mxf8f6f4, VM_TENSOR_MXF8F6F4, 14)
KIND(kind_mxf4, VM_TENSOR_MXF4, 8)
KIND(kind_mxf4nvf4, VM_TENSOR_MXF4NVF4, 14)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_f16),      cmocka_unit_test(kind_tf32),     cmocka_unit_test(kind_f8f6f4),
        cmocka_unit_test(kind_i8),       cmocka_unit_test(kind_mxf8f6f4), cmocka_unit_test(kind_mxf4),
        cmocka_unit_test(kind_mxf4nvf4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
