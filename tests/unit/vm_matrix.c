/* SPDX-License-Identifier: Apache-2.0
 * mma.sync of every dense form of floats against sums over the fragment formulas of PTX turned around, in
 * every numeric model; block scaling; ldmatrix, stmatrix and movmatrix of 8- and 16-bit elements; what goes
 * wrong. The recorded results of a GPU are in tests/recorded. */
#include <string.h>
#include "unit/vm_help.h"

static uint64_t seed = 0x243f6a8885a308d3u;
static uint32_t next_random(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 16);
}

/* A kernel of one warp: `in` words of each thread in %i0.., `out` words from %o0.. */
static const char *kernel(base_arena *arena, const char *target, unsigned version, unsigned in, unsigned out,
                          const char *before, const char *body) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_format(
        &text,
        ".version %u.%u\n.target %s\n.address_size 64\n%s.visible .entry k(.param .u64 a, .param .u64 b)\n"
        "{\n.reg .b32 %%i<%u>, %%o<%u>, %%t<8>;\n.reg .b64 %%a<8>;\n.reg .pred %%p<4>;\n"
        "ld.param.u64 %%a0, [a];\nld.param.u64 %%a1, [b];\nmov.u32 %%t7, %%tid.x;\n"
        "mul.wide.u32 %%a2, %%t7, %u;\nadd.s64 %%a0, %%a0, %%a2;\nmul.wide.u32 %%a2, %%t7, %u;\n"
        "add.s64 %%a1, %%a1, %%a2;\n",
        version / 10, version % 10, target, before, in + 1, out + 1, 4 * in, 4 * out);
    for (unsigned i = 0; i < in; i++)
        base_builder_format(&text, "ld.global.b32 %%i%u, [%%a0+%u];\n", i, 4 * i);
    base_builder_format(&text, "%s\n", body);
    for (unsigned i = 0; i < out; i++)
        base_builder_format(&text, "st.global.b32 [%%a1+%u], %%o%u;\n", 4 * i, i);
    base_builder_string(&text, "ret;\n}\n");
    return text.data;
}

static void list(base_builder *text, const char *prefix, unsigned first, unsigned count) {
    base_builder_char(text, '{');
    for (unsigned k = 0; k < count; k++)
        base_builder_format(text, "%s%s%u", k ? ", " : "", prefix, first + k);
    base_builder_string(text, "}");
}

typedef struct type {
    const char *name;
    num_dtype dtype;
    unsigned container, shift, bits;
} type;
static const type types[] = {{"f16", NUM_DTYPE_F16, 16, 0, 16},     {"bf16", NUM_DTYPE_BF16, 16, 0, 16},
                             {"tf32", NUM_DTYPE_TF32, 32, 0, 32},   {"e4m3", NUM_DTYPE_F8E4M3FN, 8, 0, 8},
                             {"e5m2", NUM_DTYPE_F8E5M2, 8, 0, 8},   {"e3m2", NUM_DTYPE_F6E3M2FN, 8, 0, 6},
                             {"e2m3", NUM_DTYPE_F6E2M3FN, 8, 0, 6}, {"e2m1", NUM_DTYPE_F4E2M1FN, 8, 2, 4},
                             {"fp4", NUM_DTYPE_F4E2M1FN, 4, 0, 4}};

typedef struct product {
    unsigned k;
    const type *a, *b;
    bool half;
    unsigned sm;
    const char *kind; /* modifiers before the types; "" */
    const char *scale;
    unsigned scales, byte_a, thread_a, byte_b, thread_b;
} product;

static uint32_t element(const uint32_t *in, unsigned words, unsigned lane, unsigned first, unsigned k,
                        const type *t, unsigned rows, unsigned row) {
    unsigned per = 32 / t->container, r = rows * (k / (4 * per)) + row;
    uint32_t word = in[((lane & ~3u) + k / per % 4) * words + first + r];
    return word >> (k % per * t->container + t->shift) & (t->bits == 32 ? UINT32_MAX : (1u << t->bits) - 1);
}

static uint32_t expected(const product *p, vm_numerics numerics, const uint32_t *in, unsigned words,
                         unsigned a_count, unsigned b_count, unsigned row, unsigned n) {
    vm_fused_value x[64], y[64], scale_a[4], scale_b[4];
    for (unsigned k = 0; k < p->k; k++) {
        x[k] = vm_fused_decode(p->a->dtype, element(in, words, row % 8 * 4, 0, k, p->a, 2, row / 8));
        y[k] = vm_fused_decode(p->b->dtype, element(in, words, n * 4, a_count, k, p->b, 1, 0));
    }
    unsigned c = a_count + b_count, lane = row % 8 * 4 + n / 2, i = row / 8 * 2 + n % 2,
             after = c + (p->half ? 2 : 4);
    uint32_t start =
        p->half ? in[lane * words + c + i / 2] >> 16 * (i % 2) & 0xffff : in[lane * words + c + i];
    num_dtype scale = strcmp(p->scale, "ue4m3") == 0 ? NUM_DTYPE_F8E4M3FN : NUM_DTYPE_F8E8M0FNU;
    for (unsigned s = 0; s < p->scales; s++) {
        uint32_t of_a = in[(row % 8 * 4 + 2 * p->thread_a + row / 8) * words + after];
        uint32_t of_b = in[(n * 4 + p->thread_b) * words + after + 1];
        unsigned mask = scale == NUM_DTYPE_F8E4M3FN ? 0x7f : 0xff;
        scale_a[s] = vm_fused_decode(scale, of_a >> 8 * (p->byte_a + s) & mask);
        scale_b[s] = vm_fused_decode(scale, of_b >> 8 * (p->byte_b + s) & mask);
    }
    num_dtype output = p->half ? NUM_DTYPE_F16 : NUM_DTYPE_F32;
    vm_fused_model model =
        vm_fused_model_of(numerics, p->sm, VM_FUSED_MMA, p->a->dtype, p->k, output, p->scales != 0);
    return vm_fused_sum(&model, p->k, x, y, p->scales ? scale_a : NULL, p->scales ? scale_b : NULL,
                        p->scales ? p->k / p->scales : 0, start);
}

/* Registers with numbers of one size; now and then any bits. */
static uint32_t random_word(const type *t) {
    uint32_t word = 0;
    if (next_random() % 64 == 0)
        return next_random() ^ next_random() << 16;
    for (unsigned e = 0; e < 32 / t->container; e++) {
        uint32_t r = next_random(), code = r;
        if (t->dtype == NUM_DTYPE_F16)
            code = (r & 0x83ff) | (10 + (r >> 16) % 8) << 10;
        if (t->dtype == NUM_DTYPE_BF16)
            code = (r & 0x807f) | (122 + (r >> 16) % 8) << 7;
        if (t->dtype == NUM_DTYPE_TF32)
            code = (r << 16 & 0x80000000u) | (r << 8 & 0x7fffff) | (122 + (r >> 24) % 8) << 23;
        word |= (t->bits == 32 ? code : (code & ((1u << t->bits) - 1)) << t->shift)
                << e * (t->container % 32);
    }
    return word;
}

static void check_product(base_arena *arena, const product *p) {
    unsigned a_count = 16 * p->k * p->a->container / 1024, b_count = 8 * p->k * p->b->container / 1024;
    unsigned c_count = p->half ? 2 : 4, words = a_count + b_count + c_count + (p->scales ? 2 : 0);
    static const type single = {"f32", NUM_DTYPE_TF32, 32, 0, 32};
    base_builder body;
    base_builder_start(&body, arena);
    const char *d = p->half ? "f16" : "f32", *a = strcmp(p->a->name, "fp4") == 0 ? "e2m1" : p->a->name,
               *b = strcmp(p->b->name, "fp4") == 0 ? "e2m1" : p->b->name;
    base_builder_format(&body, "mma.sync.aligned.m16n8k%u.row.col%s.%s.%s.%s.%s%s%s ", p->k, p->kind, d, a, b,
                        d, p->scales ? "." : "", p->scale);
    list(&body, "%o", 0, c_count);
    base_builder_string(&body, ", ");
    list(&body, "%i", 0, a_count);
    base_builder_string(&body, ", ");
    list(&body, "%i", a_count, b_count);
    base_builder_string(&body, ", ");
    list(&body, "%i", a_count + b_count, c_count);
    if (p->scales)
        base_builder_format(&body, ", %%i%u, {%u, %u}, %%i%u, {%u, %u}", words - 2, p->byte_a, p->thread_a,
                            words - 1, p->byte_b, p->thread_b);
    base_builder_string(&body, ";\n");
    vm_case *c = vm_case_load(arena, kernel(arena, p->sm == 120 ? "sm_120a" : "sm_90", p->sm == 120 ? 87 : 84,
                                            words, c_count, "", body.data));
    uint32_t *in = vm_case_buffer(c, "in", 32 * 4 * words), *out = vm_case_buffer(c, "out", 32 * 4 * c_count);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned i = 0; i < words; i++) {
                const type *t = i < a_count             ? p->a
                                : i < a_count + b_count ? p->b
                                : p->half               ? &types[0]
                                                        : &single;
                bool scale = i >= a_count + b_count + c_count;
                in[lane * words + i] = scale ? 0x7c7e8280u + (next_random() & 0x03030303) : random_word(t);
            }
        c->launch.numerics = (vm_numerics)round;
        c->launch.schedule = (vm_schedule)round;
        c->launch.level = round == 1 ? "x86-64" : NULL;
        vm_case_run(c, 1, 32);
        if (c->result->status == VM_BAD_LAUNCH)
            continue; /* another kind of processor */
        vm_case_clean(c);
        for (unsigned row = 0; row < 16; row++)
            for (unsigned n = 0; n < 8; n++) {
                unsigned lane = row % 8 * 4 + n / 2, i = row / 8 * 2 + n % 2;
                uint32_t got =
                    p->half ? out[lane * c_count + i / 2] >> 16 * (i % 2) & 0xffff : out[lane * c_count + i];
                uint32_t want = expected(p, c->launch.numerics, in, words, a_count, b_count, row, n);
                if (got != want)
                    fail_msg("%s numerics %u, element %u,%u: %#x instead of %#x", body.data, round, row, n,
                             got, want);
            }
    }
}

static void products(void **state) {
    base_arena *arena = *state;
    for (unsigned half = 0; half < 2; half++) {
        check_product(arena, &(product){8, &types[0], &types[0], half, 90, "", "", 0, 0, 0, 0, 0});
        check_product(arena, &(product){16, &types[0], &types[0], half, 90, "", "", 0, 0, 0, 0, 0});
    }
    check_product(arena, &(product){8, &types[1], &types[1], false, 90, "", "", 0, 0, 0, 0, 0});
    check_product(arena, &(product){16, &types[1], &types[1], false, 90, "", "", 0, 0, 0, 0, 0});
    check_product(arena, &(product){4, &types[2], &types[2], false, 90, "", "", 0, 0, 0, 0, 0});
    check_product(arena, &(product){8, &types[2], &types[2], false, 90, "", "", 0, 0, 0, 0, 0});
    for (unsigned a = 3; a < 8; a++)
        for (unsigned b = 3; b < 8; b++)
            for (unsigned half = 0; half < 2; half++)
                check_product(arena, &(product){32, &types[a], &types[b], half, 120, ".kind::f8f6f4", "", 0,
                                                0, 0, 0, 0});
}

static void scaled_products(void **state) {
    base_arena *arena = *state;
    for (unsigned a = 3; a < 8; a++)
        for (unsigned i = 0; i < 4; i++)
            check_product(arena, &(product){32, &types[a], &types[7 - a + 3], false, 120,
                                            i % 2 ? ".kind::mxf8f6f4.block_scale"
                                                  : ".kind::mxf8f6f4.block_scale.scale_vec::1X",
                                            "ue8m0", 1, i, i % 2, 3 - i, i});
    for (unsigned i = 0; i < 4; i++) {
        check_product(arena, &(product){64, &types[8], &types[8], false, 120,
                                        ".kind::mxf4.block_scale.scale_vec::2X", "ue8m0", 2, i % 2 * 2, i % 2,
                                        i / 2 * 2, i});
        check_product(arena, &(product){64, &types[8], &types[8], false, 120,
                                        ".kind::mxf4nvf4.block_scale.scale_vec::2X", "ue8m0", 2, i / 2 * 2,
                                        i % 2, i % 2 * 2, i});
        check_product(arena,
                      &(product){64, &types[8], &types[8], false, 120,
                                 ".kind::mxf4nvf4.block_scale.scale_vec::4X", "ue4m3", 4, 0, i % 2, 0, i});
    }
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */
#define SHARED_BYTES 1024
static const char fill[] = /* 32 bytes of every thread, then %t3: the 16-byte row that the lane names */
    "mov.u32 %t5, sm;\nshl.b32 %t4, %t7, 5;\nadd.u32 %t4, %t4, %t5;\n"
    "st.shared.v4.b32 [%t4], {%i0, %i1, %i2, %i3};\nst.shared.v4.b32 [%t4+16], {%i4, %i5, %i6, %i7};\n"
    "bar.sync 0;\nmul.lo.u32 %t3, %t7, 11;\nadd.u32 %t3, %t3, 3;\nand.b32 %t3, %t3, 63;\nshl.b32 %t3, %t3, "
    "4;\n"
    "add.u32 %t3, %t3, %t5;\n";
static unsigned row_of(unsigned lane) {
    return ((lane * 11 + 3) & 63) * 16;
}

static vm_case *move_case(base_arena *arena, const char *target, const char *instruction, unsigned in,
                          unsigned out, uint32_t **words, uint32_t **results) {
    base_builder body;
    base_builder_start(&body, arena);
    base_builder_format(&body, "%s%s", fill, instruction);
    vm_case *c = vm_case_load(
        arena, kernel(arena, target, 86, in, out, ".shared .align 128 .b8 sm[1024];\n", body.data));
    *words = vm_case_buffer(c, "in", 32 * 4 * in);
    *results = vm_case_buffer(c, "out", 32 * 4 * out);
    for (unsigned i = 0; i < 32 * in; i++)
        (*words)[i] = next_random();
    return c;
}

static void load_matrices(void **state) {
    base_arena *arena = *state;
    static const struct {
        const char *form;
        unsigned count, bits;
        bool trans, wide; /* wide: 16 x 16 */
    } forms[] = {
        {"m8n8.x1.shared.b16", 1, 16, false, false},
        {"m8n8.x2.trans.shared::cta.b16", 2, 16, true, false},
        {"m8n8.x4.shared.b16", 4, 16, false, false},
        {"m8n8.x4.trans.shared.b16", 4, 16, true, false},
        {"m8n16.x1.shared.b8x16.b4x16_p64", 1, 4, false, false},
        {"m8n16.x2.shared.b8x16.b6x16_p32", 2, 6, false, false},
        {"m8n16.x4.shared.b8x16.b4x16_p64", 4, 4, false, false},
        {"m16n16.x1.trans.shared.b8", 1, 8, true, true},
        {"m16n16.x2.trans.shared.b8", 2, 8, true, true},
        {"m16n16.x1.trans.shared.b8x16.b6x16_p32", 1, 6, true, true},
        {"m16n16.x2.trans.shared.b8x16.b4x16_p64", 2, 4, true, true},
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        unsigned registers = forms[f].count * (forms[f].wide ? 2 : 1);
        base_builder text;
        base_builder_start(&text, arena);
        base_builder_format(&text, "ldmatrix.sync.aligned.%s ", forms[f].form);
        list(&text, "%o", 0, registers);
        base_builder_string(&text, ", [%t3];\n");
        uint32_t *in, *out;
        vm_case *c = move_case(arena, "sm_100a", text.data, 8, registers, &in, &out);
        vm_case_run(c, 1, 32);
        vm_case_clean(c);
        const uint8_t *memory = (const uint8_t *)in;
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned r = 0; r < registers; r++) {
                uint32_t want = 0;
                for (unsigned e = 0; e < (forms[f].bits == 16 ? 2u : 4u); e++) {
                    unsigned line, column;
                    if (forms[f].wide) { /* rows of memory are columns of the matrix */
                        line = r / 2 * 16 + lane % 4 * 4 + r % 2 * 2 + e % 2;
                        column = lane / 4 + e / 2 * 8;
                    } else if (forms[f].trans) {
                        line = 8 * r + lane % 4 * 2 + e;
                        column = lane / 4;
                    } else {
                        line = 8 * r + lane / 4;
                        column = lane % 4 * (forms[f].bits == 16 ? 2 : 4) + e;
                    }
                    const uint8_t *row = memory + row_of(line);
                    if (forms[f].bits == 16) {
                        want |= (uint32_t)(row[2 * column] | row[2 * column + 1] << 8) << 16 * e;
                        continue;
                    }
                    for (unsigned bit = 0; bit < forms[f].bits; bit++) {
                        unsigned at = column * forms[f].bits + bit;
                        want |= (uint32_t)(row[at / 8] >> at % 8 & 1) << (8 * e + bit);
                    }
                }
                if (out[lane * registers + r] != want)
                    fail_msg("%s lane %u register %u: %#x instead of %#x", forms[f].form, lane, r,
                             out[lane * registers + r], want);
            }
    }
}

static void store_matrices(void **state) {
    base_arena *arena = *state;
    static const struct {
        const char *form;
        unsigned count;
        bool trans, bytes;
    } forms[] = {{"m8n8.x1.shared.b16", 1, false, false},     {"m8n8.x2.trans.shared.b16", 2, true, false},
                 {"m8n8.x4.shared.b16", 4, false, false},     {"m8n8.x4.trans.shared.b16", 4, true, false},
                 {"m16n8.x1.trans.shared.b8", 1, true, true}, {"m16n8.x2.trans.shared.b8", 2, true, true},
                 {"m16n8.x4.trans.shared.b8", 4, true, true}};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        base_builder text;
        base_builder_start(&text, arena);
        base_builder_format(&text, "stmatrix.sync.aligned.%s [%%t3], ", forms[f].form);
        list(&text, "%i", 8, forms[f].count);
        base_builder_string(&text, ";\nbar.sync 0;\nld.shared.v4.b32 {%o0, %o1, %o2, %o3}, [%t4];\n"
                                   "ld.shared.v4.b32 {%o4, %o5, %o6, %o7}, [%t4+16];\n");
        uint32_t *in, *out;
        vm_case *c = move_case(arena, "sm_100a", text.data, 12, 8, &in, &out);
        vm_case_run(c, 1, 32);
        vm_case_clean(c);
        uint8_t memory[SHARED_BYTES];
        for (unsigned lane = 0; lane < 32; lane++)
            memcpy(memory + 32 * lane, in + 12 * lane, 32);
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned r = 0; r < forms[f].count; r++)
                for (unsigned byte = 0; byte < 4; byte++) {
                    unsigned e = forms[f].bytes ? byte : byte / 2, line, column;
                    if (forms[f].bytes) {
                        line = 2 * (lane % 4) + e % 2;
                        column = lane / 4 + e / 2 * 8;
                    } else {
                        line = forms[f].trans ? lane % 4 * 2 + e : lane / 4;
                        column = 2 * (forms[f].trans ? lane / 4 : lane % 4 * 2 + e) + byte % 2;
                    }
                    memory[row_of(8 * r + line) + column] = (uint8_t)(in[12 * lane + 8 + r] >> 8 * byte);
                }
        if (memcmp(memory, out, sizeof memory) != 0)
            fail_msg("stmatrix %s", forms[f].form);
    }
}

static void transposes(void **state) {
    base_arena *arena = *state;
    vm_case *c = vm_case_load(
        arena, kernel(arena, "sm_90", 80, 1, 1, "", "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;\n"));
    uint16_t *in = vm_case_buffer(c, "in", 128), *out = vm_case_buffer(c, "out", 128);
    for (unsigned i = 0; i < 64; i++)
        in[i] = (uint16_t)next_random();
    vm_case_run(c, 1, 32);
    vm_case_clean(c);
    for (unsigned row = 0; row < 8; row++)
        for (unsigned column = 0; column < 8; column++)
            assert_int_equal(out[8 * row + column], in[8 * column + row]);
}

/* ---- wmma: whole matrices through memory ---- */
typedef struct whole {
    const char *shape, *a, *b, *d; /* types */
    unsigned m, n, k, bits, a_count, b_count, d_count;
    bool floats;
} whole;

static unsigned index_of(bool column, unsigned row, unsigned at, unsigned leading) {
    return column ? at * leading + row : row * leading + at;
}

/* Small whole numbers: every model gives the same sum. */
static void put_number(uint8_t *memory, unsigned bits, bool floats, unsigned index, int value) {
    if (bits < 8) {
        memory[index * bits / 8] |= (uint8_t)((value & ((1 << bits) - 1)) << index * bits % 8);
    } else if (!floats) {
        memory[index] = (uint8_t)value;
    } else if (bits == 16) {
        uint16_t half = num_f32_to_f16((float)value);
        memcpy(memory + 2 * index, &half, 2);
    } else if (bits == 32) {
        float single = (float)value;
        memcpy(memory + 4 * index, &single, 4);
    } else {
        double wide = value;
        memcpy(memory + 8 * index, &wide, 8);
    }
}

static void check_whole(base_arena *arena, const whole *w, bool a_column, bool b_column, bool d_column) {
    static const char *const names[] = {"row", "col"};
    bool wide = w->bits == 64, packed = w->bits < 8;
    unsigned lead_a = (a_column ? w->m : w->k) + (packed ? 0 : 16),
             lead_b = (b_column ? w->k : w->n) + (packed ? 0 : 16), lead_d = (d_column ? w->m : w->n) + 8;
    base_builder body;
    base_builder_start(&body, arena);
    base_builder_format(&body,
                        ".reg .%s x<9>, y<9>;\n.reg .%s z<9>;\nwmma.load.a.sync.aligned.%s.%s.global.%s ",
                        wide ? "f64" : "b32", wide ? "f64" : "b32", names[a_column], w->shape, w->a);
    list(&body, "x", 0, w->a_count);
    base_builder_format(&body, ", [%%rd90], %u;\nwmma.load.b.sync.aligned.%s.%s.%s ", lead_a, names[b_column],
                        w->shape, w->b);
    list(&body, "y", 0, w->b_count);
    base_builder_format(&body, ", [%%rd91], %u;\nwmma.load.c.sync.aligned.%s.%s.%s ", lead_b, names[d_column],
                        w->shape, w->d);
    list(&body, "z", 0, w->d_count);
    base_builder_format(&body, ", [%%rd92], %u;\n", lead_d);
    if (strcmp(w->a, "b1") == 0)
        base_builder_format(&body, "wmma.mma.xor.popc.sync.aligned.row.col.%s.s32.b1.b1.s32 ", w->shape);
    else if (strcmp(w->a, "f16") == 0)
        base_builder_format(&body, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s ", names[a_column], names[b_column],
                            w->shape, w->d, w->d);
    else
        base_builder_format(&body, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s ", names[a_column],
                            names[b_column], w->shape, w->d, w->a, w->b, w->d);
    list(&body, "z", 0, w->d_count);
    base_builder_string(&body, ", ");
    list(&body, "x", 0, w->a_count);
    base_builder_string(&body, ", ");
    list(&body, "y", 0, w->b_count);
    base_builder_string(&body, ", ");
    list(&body, "z", 0, w->d_count);
    base_builder_format(&body, ";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%rd92], ", names[d_column],
                        w->shape, w->d);
    list(&body, "z", 0, w->d_count);
    base_builder_format(&body, ", %u;\n", lead_d);
    vm_case *c = vm_case_load(arena, vm_case_kernel(arena, 3, "", body.data));
    uint8_t *a = vm_case_buffer(c, "a", 16384), *b = vm_case_buffer(c, "b", 16384),
            *d = vm_case_buffer(c, "d", 16384);
    static int x[32][128], y[128][32], z[32][32];
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned k = 0; k < w->k; k++) {
            x[i][k] = w->bits == 1 ? (int)(next_random() & 1) : (int)(next_random() % 15) - 7;
            put_number(a, w->bits, w->floats, index_of(a_column, i, k, lead_a), x[i][k]);
        }
    for (unsigned k = 0; k < w->k; k++)
        for (unsigned j = 0; j < w->n; j++) {
            y[k][j] = w->bits == 1 ? (int)(next_random() & 1) : (int)(next_random() % 15) - 7;
            put_number(b, w->bits, w->floats, index_of(b_column, k, j, lead_b), y[k][j]);
        }
    unsigned d_bits = strcmp(w->d, "f16") == 0 ? 16 : wide ? 64 : 32;
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned j = 0; j < w->n; j++) {
            z[i][j] = (int)(next_random() % 31) - 15;
            unsigned at = index_of(d_column, i, j, lead_d);
            if (w->floats)
                put_number(d, d_bits, true, at, z[i][j]);
            else
                memcpy(d + 4 * at, &z[i][j], 4);
        }
    vm_case_run(c, 1, 32);
    vm_case_clean(c);
    for (unsigned i = 0; i < w->m; i++)
        for (unsigned j = 0; j < w->n; j++) {
            int sum = z[i][j], got;
            for (unsigned k = 0; k < w->k; k++)
                sum += w->bits == 1 ? x[i][k] ^ y[k][j] : x[i][k] * y[k][j];
            const uint8_t *at = d + index_of(d_column, i, j, lead_d) * d_bits / 8;
            uint64_t bits = 0;
            memcpy(&bits, at, d_bits / 8);
            got = !w->floats     ? (int)bits
                  : d_bits == 16 ? (int)num_decode(NUM_DTYPE_F16, bits)
                  : d_bits == 32 ? (int)num_decode(NUM_DTYPE_F32, bits)
                                 : (int)num_decode(NUM_DTYPE_F64, bits);
            if (got != sum)
                fail_msg("%s: element %u,%u is %d instead of %d", body.data, i, j, got, sum);
        }
}

static void whole_matrices(void **state) {
    base_arena *arena = *state;
    static const whole shapes[] = {
        {"m16n16k16", "f16", "f16", "f32", 16, 16, 16, 16, 8, 8, 8, true},
        {"m16n16k16", "f16", "f16", "f16", 16, 16, 16, 16, 8, 8, 4, true},
        {"m32n8k16", "f16", "f16", "f32", 32, 8, 16, 16, 8, 8, 8, true},
        {"m8n32k16", "f16", "f16", "f16", 8, 32, 16, 16, 8, 8, 4, true},
        {"m16n16k8", "tf32", "tf32", "f32", 16, 16, 8, 32, 4, 4, 8, true},
        {"m8n8k4", "f64", "f64", "f64", 8, 8, 4, 64, 1, 1, 2, true},
        {"m16n16k16", "s8", "s8", "s32", 16, 16, 16, 8, 2, 2, 8, false},
        {"m32n8k16", "s8", "s8", "s32", 32, 8, 16, 8, 4, 1, 8, false},
        {"m8n32k16", "s8", "s8", "s32", 8, 32, 16, 8, 1, 4, 8, false},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (unsigned l = 0; l < 8; l++)
            check_whole(arena, &shapes[s], l & 1, l >> 1 & 1, l >> 2 & 1);
    static const whole narrow[] = {{"m8n8k32", "s4", "s4", "s32", 8, 8, 32, 4, 1, 1, 2, false},
                                   {"m8n8k128", "b1", "b1", "s32", 8, 8, 128, 1, 1, 1, 2, false}};
    for (size_t s = 0; s < 2; s++)
        for (unsigned l = 0; l < 2; l++)
            check_whole(arena, &narrow[s], false, true, l);
}

/* ---- what goes wrong ---- */
static const char *findings_of(base_arena *arena, const char *target, const char *body, uint32_t threads,
                               uint32_t *first_size) {
    vm_case *c =
        vm_case_load(arena, kernel(arena, target, 87, 8, 4, ".shared .align 1024 .b8 sm[4096];\n", body));
    vm_case_buffer(c, "in", 128 * 4 * 8);
    vm_case_buffer(c, "out", 128 * 4 * 4);
    vm_case_run(c, 1, threads);
    assert_int_equal(c->result->status, VM_COMPLETE);
    if (first_size != NULL)
        *first_size = c->result->finding_count ? (uint32_t)c->result->findings[0].size : 0;
    return vm_case_findings(c);
}

static void wrong_uses(void **state) {
    base_arena *arena = *state;
    uint32_t lanes;
    const char *load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%o0, %o1, %o2, %o3}, [%t4];\n";
    char text[1024];
#define BODY(format, ...) (snprintf(text, sizeof text, format, __VA_ARGS__), text)
    const char *start = "mov.u32 %t4, sm;\nshl.b32 %t5, %t7, 4;\nadd.u32 %t4, %t4, %t5;\n";
    assert_string_equal(findings_of(arena, "sm_90", BODY("%s%s", start, load), 32, NULL), "");
    assert_string_equal(
        findings_of(arena, "sm_90", BODY("%sadd.u32 %%t4, %%t4, 8;\n%s", start, load), 32, &lanes),
        "misaligned");
    assert_int_equal(lanes, 16);
    assert_string_equal(
        findings_of(arena, "sm_90", BODY("%sadd.u32 %%t4, %%t4, 4000;\n%s", start, load), 32, NULL),
        "out-of-bounds");
    /* the other lanes have left */
    assert_string_equal(findings_of(arena, "sm_90",
                                    BODY("%ssetp.gt.u32 %%p0, %%t7, 15;\n@%%p0 ret;\n%s", start, load), 32,
                                    &lanes),
                        "matrix-partial");
    assert_int_equal(lanes, 0xffff);
    /* a warp that is not whole */
    assert_string_equal(findings_of(arena, "sm_90", BODY("%s%s", start, load), 20, &lanes), "matrix-partial");
    assert_int_equal(lanes, 0xfffff);
    /* lanes that come by different ways, but do come */
    assert_string_equal(
        findings_of(
            arena, "sm_90",
            BODY("%ssetp.gt.u32 %%p0, %%t7, 15;\n@%%p0 bra M;\nadd.u32 %%t6, %%t7, 1;\nM:\n%s", start, load),
            32, NULL),
        "");
    const char *scaled = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 "
                         "{%o0, %o1, %o2, %o3}, {%i0, %i1, %i2, %i3}, {%i4, %i5}, {%i0, %i1, %i2, %i3}, ";
    assert_string_equal(
        findings_of(arena, "sm_120a", BODY("%s%%i6, {2, 1}, %%i7, {0, 3};\n", scaled), 32, NULL), "");
    assert_string_equal(
        findings_of(arena, "sm_120a", BODY("%s%%i6, {1, 1}, %%i7, {0, 3};\n", scaled), 32, NULL),
        "matrix-selector");
    assert_string_equal(
        findings_of(arena, "sm_120a", BODY("%s%%i6, {0, 2}, %%i7, {0, 3};\n", scaled), 32, NULL),
        "matrix-selector");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        UNIT_WITH_ARENA(products),       UNIT_WITH_ARENA(scaled_products), UNIT_WITH_ARENA(load_matrices),
        UNIT_WITH_ARENA(store_matrices), UNIT_WITH_ARENA(transposes),      UNIT_WITH_ARENA(wrong_uses),
        UNIT_WITH_ARENA(whole_matrices),
    };
    return cmocka_run_group_tests_name("vm_matrix", tests, NULL, NULL);
}
