/* SPDX-License-Identifier: Apache-2.0
 * Instruction and matrix descriptors of tcgen05: every legal combination of PTX tables 39 and 42 to 44 goes
 * through, every reserved bit and every illegal shape is named, and the addresses of a matrix descriptor are
 * those of the canonical CuTe layouts (9.7.16.3.3) read by the layout module. */
#include "unit/unit.h"
#include <stdlib.h>
#include <string.h>
#include "layout/cute.h"
#include "vm/vm_tensor_descriptor.h"

typedef struct row { /* a row of table 39: what M and N may be, written out */
    vm_tensor_form form;
    const char *m, *n;
} row;
#define STEPS_8                                                                                              \
    "8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128 136 144 152 160 168 176 184 192 200 208 216 224 "    \
    "232 240 248 256"
#define STEPS_16 "16 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256"
#define STEPS_32 "32 64 96 128 160 192 224 256"
#define STEPS_I8 "8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256"
static const row rows[] = {
    {{VM_TENSOR_F16, 1, false, false, false, false, 0}, "64 128", STEPS_8},
    {{VM_TENSOR_F16, 2, false, false, false, false, 0}, "128 256", STEPS_16},
    {{VM_TENSOR_F16, 1, true, false, false, false, 0}, "32 64 128", "64 128 256"},
    {{VM_TENSOR_F16, 1, true, true, false, false, 0}, "32 64 128", "64 128"},
    {{VM_TENSOR_F16, 1, false, true, false, false, 0}, "64 128", STEPS_8},
    {{VM_TENSOR_F16, 1, false, false, true, true, 0}, "128", STEPS_8},
    {{VM_TENSOR_F16, 2, false, false, true, true, 0}, "128 256", STEPS_16},
    {{VM_TENSOR_TF32, 1, false, false, false, false, 0}, "64 128", STEPS_8},
    {{VM_TENSOR_TF32, 2, false, false, true, false, 0}, "128 256", STEPS_16},
    {{VM_TENSOR_TF32, 1, true, false, true, false, 0}, "32 64 128", "64 128 256"},
    {{VM_TENSOR_F8F6F4, 1, false, false, true, false, 0}, "64 128", STEPS_8},
    {{VM_TENSOR_F8F6F4, 2, false, false, false, false, 0}, "128 256", STEPS_16},
    {{VM_TENSOR_F8F6F4, 1, true, false, false, false, 0}, "32 64 128", "64 128 256"},
    {{VM_TENSOR_I8, 1, false, false, false, false, 0}, "64 128", STEPS_I8},
    {{VM_TENSOR_I8, 2, false, false, false, false, 0}, "128 256", STEPS_32},
    {{VM_TENSOR_I8, 1, true, false, false, false, 0}, "32 64 128", "64 128 256"},
    {{VM_TENSOR_MXF8F6F4, 1, false, false, false, false, 1}, "128", STEPS_8},
    {{VM_TENSOR_MXF8F6F4, 2, false, false, false, false, 1}, "128 256", STEPS_16},
    {{VM_TENSOR_MXF8F6F4, 2, false, true, false, false, 1}, "256", STEPS_16},
    {{VM_TENSOR_MXF4, 1, false, false, false, false, 2}, "128", STEPS_8},
    {{VM_TENSOR_MXF4, 2, false, false, false, false, 2}, "128 256", STEPS_16},
    {{VM_TENSOR_MXF4NVF4, 1, false, false, false, false, 2}, "128", STEPS_8},
    {{VM_TENSOR_MXF4NVF4, 1, false, false, false, false, 4}, "128", STEPS_8},
    {{VM_TENSOR_MXF4NVF4, 2, false, false, false, false, 4}, "128 256", STEPS_16},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool listed(const char *list, unsigned number) {
    for (const char *at = list; *at != 0;) {
        char *end;
        if (strtoul(at, &end, 10) == number)
            return true;
        for (at = end; *at == ' '; at++)
            ;
    }
    return false;
}

static bool names_bits(const vm_tensor_violations *violations, unsigned low, unsigned high) {
    for (unsigned i = 0; i < violations->count; i++)
        if (violations->list[i].low <= low && high <= violations->list[i].high)
            return true;
    return false;
}

/* A legal descriptor of the row, to vary. */
static uint32_t legal(const row *r) {
    uint32_t sparse = (uint32_t)r->form.sparse << 2;
    uint32_t m = (uint32_t)strtoul(r->m, NULL, 10), n = 64;
    uint32_t shape = m / 16 << 24 | n / 8 << 17;
    switch (r->form.kind) {
    case VM_TENSOR_F16:
    case VM_TENSOR_F8F6F4:
        return shape | 1 << 4 | sparse;
    case VM_TENSOR_TF32:
        return shape | 1 << 4 | 2 << 7 | 2 << 10 | sparse;
    case VM_TENSOR_I8:
        return shape | 2 << 4 | sparse;
    case VM_TENSOR_MXF8F6F4:
        return shape | 1 << 23 | sparse;
    default:
        return shape | 1 << 7 | 1 << 10 | 1 << 23 | sparse;
    }
}

static void shapes(void **state) {
    (void)state;
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned m = 0; m < 32; m++)
            for (unsigned n = 0; n < 64; n++) {
                uint32_t idesc = (legal(&rows[i]) & ~(31u << 24 | 63u << 17)) | m << 24 | n << 17;
                vm_tensor_instruction in;
                vm_tensor_violations v;
                vm_tensor_instruction_decode(idesc, &rows[i].form, &in, &v);
                bool m_good = listed(rows[i].m, m * 16), n_good = listed(rows[i].n, n * 8);
                if (names_bits(&v, 24, 28) == m_good || names_bits(&v, 17, 22) == n_good)
                    fail_msg("row %u M %u N %u: %u violations", i, m * 16, n * 8, v.count);
                if (m_good && n_good)
                    assert_int_equal(v.count, 0);
                assert_int_equal(in.m, m * 16);
                assert_int_equal(in.n, n * 8);
            }
}

/* Bytes with a transposed B: N in steps of 16, of 32 in a pair. */
static void transposed_bytes(void **state) {
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        const vm_tensor_form *form = &rows[i].form;
        bool bytes =
            form->kind == VM_TENSOR_F8F6F4 || form->kind == VM_TENSOR_I8 || form->kind == VM_TENSOR_MXF8F6F4;
        if (form->ws || !bytes)
            continue;
        for (unsigned n = 0; n < 64; n++) {
            uint32_t idesc = (legal(&rows[i]) & ~(63u << 17)) | n << 17 | 1 << 16;
            vm_tensor_instruction in;
            vm_tensor_violations v;
            vm_tensor_instruction_decode(idesc, form, &in, &v);
            assert_int_equal(v.count == 0, listed(form->cta_group == 2 ? STEPS_32 : STEPS_16, n * 8));
        }
    }
}

/* Table 42 to 44: each value of each field, alone. */
static void fields(void **state) {
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        const vm_tensor_form *form = &rows[i].form;
        vm_tensor_kind kind = form->kind;
        bool scaled = kind >= VM_TENSOR_MXF8F6F4, fp4 = kind >= VM_TENSOR_MXF4;
        uint32_t base = legal(&rows[i]);
        vm_tensor_instruction in;
        vm_tensor_violations v;
        vm_tensor_instruction_decode(base, form, &in, &v);
        assert_int_equal(v.count, 0);
        for (unsigned code = 0; code < 8; code++) {
            static const char *const types[] = {"0 1", "2", "0 1 3 4 5", "0 1", "0 1 3 4 5", "1", "1"};
            bool good = listed(types[kind], code);
            vm_tensor_instruction_decode((base & ~(7u << 7)) | code << 7, form, &in, &v);
            /* f16 and bf16 do not mix */
            assert_int_equal(v.count == 0, good && !(kind == VM_TENSOR_F16 && code == 1));
            vm_tensor_instruction_decode((base & ~(7u << 10)) | code << 10, form, &in, &v);
            assert_int_equal(v.count == 0, good && !(kind == VM_TENSOR_F16 && code == 1));
        }
        for (unsigned code = 0; code < 4; code++) {
            vm_tensor_instruction_decode((base & ~(3u << 4)) | code << 4, form, &in, &v);
            static const char *const accumulators[] = {"0 1", "1", "0 1", "2"};
            const char *ids = form->scale_vec == 1 ? "0 1 2 3" : form->scale_vec == 2 ? "0 2" : "0";
            assert_int_equal(v.count == 0, listed(scaled ? ids : accumulators[kind], code));
            vm_tensor_instruction_decode((base & ~(3u << 29)) | code << 29, form, &in, &v);
            if (scaled)
                assert_int_equal(v.count == 0, listed(ids, code));
            vm_tensor_instruction_decode((base & ~3u) | code, form, &in, &v);
            assert_int_equal(v.count == 0, code == 0 || (form->sparse && !scaled));
            vm_tensor_instruction_decode((base & ~(3u << 30)) | code << 30, form, &in, &v);
            if (!scaled)
                assert_int_equal(v.count == 0, code == 0 || form->ws);
        }
        struct {
            unsigned bit;
            bool good;
        } bits[] = {{2, false},
                    {3, kind == VM_TENSOR_I8},
                    {6, false},
                    {12, false},
                    {13, kind != VM_TENSOR_I8},
                    {14, kind != VM_TENSOR_I8},
                    {15, !fp4 && !form->a_in_tmem},
                    {16, !fp4},
                    {23, kind == VM_TENSOR_MXF4NVF4 && form->scale_vec == 4},
                    {29, scaled && form->scale_vec == 1}};
        for (unsigned b = 0; b < sizeof bits / sizeof bits[0]; b++) {
            if ((bits[b].bit == 12 && !fp4) || (bits[b].bit == 29 && scaled))
                continue;
            vm_tensor_instruction_decode(base ^ 1u << bits[b].bit, form, &in, &v);
            if ((v.count == 0) != bits[b].good || (v.count > 0 && !names_bits(&v, bits[b].bit, bits[b].bit)))
                fail_msg("row %u bit %u: %u violations", i, bits[b].bit, v.count);
        }
    }
}

static void worked_example(void **state) {
    vm_tensor_instruction in;
    vm_tensor_violations v;
    vm_tensor_form form = {VM_TENSOR_F16, 1, false, false, false, false, 0};
    vm_tensor_instruction_decode(0x08200490, &form, &in, &v);
    assert_int_equal(v.count, 0);
    assert_true(in.a == NUM_DTYPE_BF16 && in.b == NUM_DTYPE_BF16 && in.d == NUM_DTYPE_F32);
    assert_true(in.m == 128 && in.n == 128 && in.k == 16 && !in.transpose_a && !in.transpose_b);
    vm_tensor_instruction_decode(33u << 17 | 2u << 24 | 3 << 4, &form, &in, &v);
    base_builder out;
    base_builder_start(&out, *state);
    vm_tensor_violations_print(&v, &out);
    assert_string_equal(out.data,
                        "bits 4-5 (type of D) = 3; accepted: 0 f16, 1 f32\n"
                        "bits 24-28 (M >> 4) = 2; accepted: 4 or 8: M = 64 or 128 with cta_group::1\n"
                        "bits 17-22 (N >> 3) = 33; accepted: N = 8 to 256 in steps of 8");
}

static void matrix_fields(void **state) {
    (void)state;
    vm_tensor_matrix m;
    vm_tensor_violations v;
    uint64_t base = UINT64_C(1) << 46 | 0x123 | UINT64_C(0x20) << 16 | UINT64_C(0x40) << 32;
    vm_tensor_matrix_decode(base, &m, &v);
    assert_int_equal(v.count, 0);
    assert_true(m.start == 0x1230 && m.leading == 0x200 && m.stride == 0x400);
    for (unsigned bit = 0; bit < 64; bit++) {
        bool address = bit < 14 || (bit >= 16 && bit < 30) || (bit >= 32 && bit < 46);
        vm_tensor_matrix_decode(base ^ UINT64_C(1) << bit, &m, &v);
        bool good = address || bit == 61 || bit == 62 || bit == 63;
        /* swizzle code 4 (bit 63), 2 (bit 62) and 1 (bit 61) are all known */
        if ((v.count == 0) != good || (!good && !names_bits(&v, bit, bit)))
            fail_msg("bit %u: %u violations", bit, v.count);
    }
    for (uint64_t code = 0; code < 8;
         code++) /* table 41: swizzles of 128, 64 and 32 bytes have a base offset */
        for (uint64_t offset = 1; offset < 8; offset++) {
            vm_tensor_matrix_decode(base | code << 61 | offset << 49, &m, &v);
            bool has = code == 2 || code == 4 || code == 6;
            assert_true(m.base_offset == offset && (v.count == 0) == has);
            assert_true(has || code % 2 == 1 || names_bits(&v, 49, 51));
        }
    static const int modes[8] = {0, 4, 3, -1, 2, -1, 1, -1};
    for (uint64_t code = 0; code < 8; code++) {
        vm_tensor_matrix_decode(base | code << 61, &m, &v);
        assert_int_equal(v.count == 0, modes[code] >= 0);
        if (modes[code] >= 0)
            assert_int_equal(m.swizzle, modes[code]);
    }
}

/* Which orders and swizzles an element width allows (table 54), and where a pattern may start. */
static void matrix_rules(void **state) {
    (void)state;
    static const struct {
        num_dtype type;
        unsigned bits;
    } types[] = {{NUM_DTYPE_TF32, 32},    {NUM_DTYPE_F16, 16},     {NUM_DTYPE_BF16, 16},
                 {NUM_DTYPE_F8E4M3FN, 8}, {NUM_DTYPE_I8, 8},       {NUM_DTYPE_U8, 8},
                 {NUM_DTYPE_F6E3M2FN, 8}, {NUM_DTYPE_F4E2M1FN, 8}, {NUM_DTYPE_F4E2M1FN, 4}};
    for (unsigned t = 0; t < sizeof types / sizeof types[0]; t++)
        for (int swizzle = 0; swizzle < 5; swizzle++)
            for (int mn = 0; mn < 2; mn++)
                for (uint32_t start = 0; start < 2048; start += 16) {
                    vm_tensor_matrix m = {.start = start, .swizzle = (vm_tensor_swizzle)swizzle};
                    vm_tensor_violations v = {0};
                    vm_tensor_matrix_check(&m, types[t].type, types[t].bits, mn, &v);
                    bool small = types[t].type == NUM_DTYPE_F6E3M2FN || types[t].type == NUM_DTYPE_F4E2M1FN;
                    bool order = !mn || (!small && (types[t].bits == 32) == (swizzle == 4));
                    /* inside one atom row of the pattern's first row */
                    static const uint32_t periods[] = {1, 256, 512, 1024, 512},
                                          widths[] = {1, 32, 64, 128, 128};
                    bool placed = start % periods[swizzle] < widths[swizzle];
                    assert_int_equal(v.count == 0, order && placed);
                }
}

/* A tile that is moved with its pattern by lines of 128 bytes is the same tile, when the base offset says how
 * far. */
static void base_offsets(void **state) {
    (void)state;
    static const uint32_t periods[] = {1, 256, 512, 1024};
    for (int swizzle = 1; swizzle < 4; swizzle++)
        for (unsigned bits = 4; bits <= 32; bits *= 2)
            for (int mn = 0; mn < (bits == 8 || bits == 16 ? 2 : 1); mn++)
                for (uint32_t lines = 0; lines < 16; lines++) {
                    vm_tensor_matrix at = {.start = 4096,
                                           .leading = 4096,
                                           .stride = periods[swizzle],
                                           .swizzle = (vm_tensor_swizzle)swizzle},
                                     moved = at;
                    moved.start += 128 * lines;
                    moved.base_offset = lines % 8;
                    for (uint32_t r = 0; r < 64; r++)
                        for (uint32_t k = 0; k < 256 / bits; k++)
                            assert_int_equal(vm_tensor_matrix_address(&moved, bits, mn, r, k),
                                             vm_tensor_matrix_address(&at, bits, mn, r, k) + 128 * lines);
                    for (moved.base_offset = 0; moved.base_offset < 8; moved.base_offset++) {
                        vm_tensor_violations v = {0};
                        vm_tensor_matrix_check(&moved, bits == 4 ? NUM_DTYPE_F4E2M1FN : NUM_DTYPE_U8, bits,
                                               false, &v);
                        bool good = (lines - moved.base_offset) * 128 % periods[swizzle] == 0;
                        assert_int_equal(v.count == 0, good);
                        assert_true(good ||
                                    names_bits(&v, moved.base_offset ? 49 : 0, moved.base_offset ? 51 : 13));
                    }
                }
}

static uint32_t cute_swizzle(unsigned bits, unsigned base, unsigned shift, uint32_t x) {
    uint32_t mask = ((1u << bits) - 1) << (base + shift);
    return x ^ (x & mask) >> shift;
}

/* Canonical layouts in elements, as PTX prints them in units of 128 bits: T is 16 bytes. */
static void canonical(void **state) {
    base_arena *arena = *state;
    static const struct {
        int swizzle;
        bool mn;
        unsigned b, m, s; /* Swizzle<b, m, s> on bytes */
        const char *text; /* T, U, V, W: T, 2T, 4T, 8T elements; S, L: the strides of the descriptor */
    } layouts[] = {
        {0, false, 0, 4, 3, "((8,4),(T,2)):((T,S),(1,L))"},
        {1, false, 1, 4, 3, "((8,4),(T,2)):((U,S),(1,T))"},
        {2, false, 2, 4, 3, "((8,4),(T,2)):((V,S),(1,T))"},
        {3, false, 3, 4, 3, "((8,4),(T,2)):((W,S),(1,T))"},
        {4, false, 2, 5, 2, "((8,4),(T,2)):((W,S),(1,T))"},
        {0, true, 0, 4, 3, "((T,1,8),(8,4)):((1,T,S),(T,L))"},
        {1, true, 1, 4, 3, "((T,2,4),(8,4)):((1,T,L),(U,S))"},
        {2, true, 2, 4, 3, "((T,4,2),(8,4)):((1,T,L),(V,S))"},
        {3, true, 3, 4, 3, "((T,8,2),(8,4)):((1,T,L),(W,S))"},
        {4, true, 2, 5, 2, "((T,8,2),(4,8)):((1,T,L),(W,S))"},
    };
    static const unsigned widths[] = {4, 8, 16, 32};
    for (unsigned i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        for (unsigned w = layouts[i].mn; w < 4; w++) {
            unsigned bits = widths[w];
            int t = (int)(128 / bits);
            uint32_t stride = 4096, leading = 16384 + 2048;
            const int letters[] = {['L' - 'L'] = (int)(leading * 8 / bits),
                                   ['S' - 'L'] = (int)(stride * 8 / bits),
                                   ['T' - 'L'] = t,
                                   ['U' - 'L'] = 2 * t,
                                   ['V' - 'L'] = 4 * t,
                                   ['W' - 'L'] = 8 * t};
            char text[160];
            int length = 0;
            for (const char *c = layouts[i].text; *c; c++)
                length += *c >= 'L' && *c <= 'W'
                              ? snprintf(text + length, sizeof text - (size_t)length, "%d", letters[*c - 'L'])
                              : snprintf(text + length, sizeof text - (size_t)length, "%c", *c);
            layout_cute cute;
            layout_error error = {NULL};
            if (!layout_cute_read(arena, text, strlen(text), &cute, &error))
                fail_msg("%s: %s", text, error.text);
            /* sizes of the two modes */
            uint32_t rows_count = 1, ks = 1;
            for (uint32_t l = cute.at[0]; l < cute.at[1]; l++)
                rows_count *= (uint32_t)cute.extents[l];
            for (uint32_t l = cute.at[1]; l < cute.at[2]; l++)
                ks *= (uint32_t)cute.extents[l];
            vm_tensor_matrix matrix = {.start = 0x3000,
                                       .leading = leading,
                                       .stride = stride,
                                       .swizzle = (vm_tensor_swizzle)layouts[i].swizzle};
            for (uint32_t r = 0; r < rows_count; r++)
                for (uint32_t k = 0; k < ks; k++) {
                    uint32_t element = (uint32_t)layout_cute_at(&cute, (int64_t)k * rows_count + r);
                    uint32_t want =
                        cute_swizzle(layouts[i].b, layouts[i].m, layouts[i].s, 0x3000 + element * bits / 8);
                    uint32_t got = vm_tensor_matrix_address(&matrix, bits, layouts[i].mn, r, k);
                    if (want != got)
                        fail_msg("layout %u, %u bits, (%u, %u): %u, not %u", i, bits, r, k, got, want);
                }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),        cmocka_unit_test(transposed_bytes), cmocka_unit_test(fields),
        UNIT_WITH_ARENA(worked_example), cmocka_unit_test(matrix_fields),    cmocka_unit_test(matrix_rules),
        cmocka_unit_test(base_offsets),  UNIT_WITH_ARENA(canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
