/* SPDX-License-Identifier: Apache-2.0
 * Cases of mma.sync, mma.sp and wmma: fragments are whatever the registers hold, so a difference in the
 * fragment map shows as well as one in the sums. */
#include "cases.h"
#include <stdio.h>
#include <string.h>

static void list(case_text *text, const char *prefix, unsigned first, unsigned count) {
    case_put(text, "{");
    for (unsigned k = 0; k < count; k++)
        case_put(text, "%s%s%u", k ? ", " : "", prefix, first + k);
    case_put(text, "}");
}

static unsigned inputs(case_builder *b, case_kind kind, unsigned count) {
    unsigned first = case_input(b, kind);
    for (unsigned k = 1; k < count; k++)
        case_input(b, kind);
    return first;
}

typedef struct product_row {
    const char *text; /* modifiers */
    unsigned d, a, b, c;
    case_kind kind_a, kind_b, kind_c;
    unsigned version;
    bool sparse;
} product_row;

#define F16 CASE_F16X2, CASE_F16X2
#define INT CASE_BITS, CASE_BITS
/* clang-format off */
static const product_row products[] = {
    {"m8n8k4.row.col.f16.f16.f16.f16", 4, 2, 2, 4, F16, CASE_F16X2, 80, false},
    {"m8n8k4.row.row.f16.f16.f16.f16", 4, 2, 2, 4, F16, CASE_F16X2, 80, false},
    {"m8n8k4.col.col.f32.f16.f16.f32", 8, 2, 2, 8, F16, CASE_F32, 80, false},
    {"m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 8, F16, CASE_F32, 80, false},
    {"m8n8k4.col.row.f32.f16.f16.f32", 8, 2, 2, 8, F16, CASE_F32, 80, false},
    {"m8n8k4.row.col.f32.f16.f16.f16", 8, 2, 2, 4, F16, CASE_F16X2, 80, false},
    {"m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, F16, CASE_F16X2, 80, false},
    {"m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, F16, CASE_F16X2, 80, false},
    {"m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, F16, CASE_F32, 80, false},
    {"m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4, F16, CASE_F32, 80, false},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4, CASE_BF16X2, CASE_BF16X2, CASE_F32, 80, false},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4, CASE_BF16X2, CASE_BF16X2, CASE_F32, 80, false},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4, CASE_F32, CASE_F32, CASE_F32, 80, false},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, CASE_F32, CASE_F32, CASE_F32, 80, false},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 4, CASE_E4M3X4, CASE_E4M3X4, CASE_F32, 84, false},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, 4, CASE_E4M3X4, CASE_E5M2X4, CASE_F32, 84, false},
    {"m16n8k32.row.col.f32.e5m2.e4m3.f32", 4, 4, 2, 4, CASE_E5M2X4, CASE_E4M3X4, CASE_F32, 84, false},
    {"m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, 4, CASE_E5M2X4, CASE_E5M2X4, CASE_F32, 84, false},
    {"m16n8k16.row.col.f32.e4m3.e4m3.f32", 4, 2, 1, 4, CASE_E4M3X4, CASE_E4M3X4, CASE_F32, 87, false},
    {"m16n8k16.row.col.f32.e5m2.e4m3.f32", 4, 2, 1, 4, CASE_E5M2X4, CASE_E4M3X4, CASE_F32, 87, false},
    {"m16n8k32.row.col.f16.e4m3.e4m3.f16", 2, 4, 2, 2, CASE_E4M3X4, CASE_E4M3X4, CASE_F16X2, 87, false},
    {"m16n8k16.row.col.f16.e5m2.e5m2.f16", 2, 2, 1, 2, CASE_E5M2X4, CASE_E5M2X4, CASE_F16X2, 87, false},
    {"m8n8k16.row.col.s32.s8.s8.s32", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m8n8k16.row.col.satfinite.s32.u8.s8.s32", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m16n8k16.row.col.s32.s8.u8.s32", 4, 2, 1, 4, INT, CASE_INT, 80, false},
    {"m16n8k16.row.col.satfinite.s32.u8.u8.s32", 4, 2, 1, 4, INT, CASE_INT, 80, false},
    {"m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m16n8k32.row.col.s32.u8.s8.s32", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m8n8k32.row.col.s32.s4.u4.s32", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m8n8k32.row.col.satfinite.s32.u4.u4.s32", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m16n8k32.row.col.s32.s4.s4.s32", 4, 2, 1, 4, INT, CASE_INT, 80, false},
    {"m16n8k64.row.col.s32.u4.s4.s32", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m16n8k64.row.col.satfinite.s32.s4.s4.s32", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 1, 2, INT, CASE_INT, 80, false},
    {"m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 1, 4, INT, CASE_INT, 80, false},
    {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 4, INT, CASE_INT, 80, false},
    {"m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 2, 4, F16, CASE_F32, 80, true},
    {"m16n8k32.row.col.f32.f16.f16.f32", 4, 4, 4, 4, F16, CASE_F32, 80, true},
    {"m16n8k32.row.col.f16.f16.f16.f16", 2, 4, 4, 2, F16, CASE_F16X2, 80, true},
    {"m16n8k32.row.col.f32.bf16.bf16.f32", 4, 4, 4, 4, CASE_BF16X2, CASE_BF16X2, CASE_F32, 80, true},
    {"m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 2, 4, INT, CASE_INT, 80, true},
    {"m16n8k64.row.col.s32.s8.u8.s32", 4, 4, 4, 4, INT, CASE_INT, 80, true},
    {"m16n8k64.row.col.f32.e4m3.e4m3.f32", 4, 4, 4, 4, CASE_E4M3X4, CASE_E4M3X4, CASE_F32, 84, true},
};
/* clang-format on */

static void multiply(case_builder *b, const product_row *p) {
    char name[64];
    snprintf(name, sizeof name, "mma%s.%s", p->sparse ? "_sp" : "", p->text);
    case_start(b, name, 64);
    b->c.matrix = true;
    b->version = p->version;
    unsigned a = inputs(b, p->kind_a, p->a), bb = inputs(b, p->kind_b, p->b), c = inputs(b, p->kind_c, p->c);
    for (unsigned f = 0; f < (p->sparse ? 2u : 1u); f++) {
        snprintf(name, sizeof name, "mma%s.sync.aligned.%s", p->sparse ? ".sp" : "", p->text);
        unsigned d = case_part_add(b, name, p->d);
        if (p->sparse) { /* pairs of positions in order: every nibble is 0x4, 0x8, 0xc, 0x9, 0xd or 0xe */
            case_put(&b->body, "mov.b32 %%t3, 0x%s;\n", f ? "4e9d8c4e" : "d8e49c4d");
        }
        case_put(&b->body, "%s ", name);
        list(&b->body, "%o", d, p->d);
        case_put(&b->body, ", ");
        list(&b->body, "%i", a, p->a);
        case_put(&b->body, ", ");
        list(&b->body, "%i", bb, p->b);
        case_put(&b->body, ", ");
        list(&b->body, "%i", c, p->c);
        bool one_selector = strstr(p->text, "k64") || strstr(p->text, "m16n8k64");
        case_put(&b->body, p->sparse ? ", %%t3, %u;\n" : ";\n", one_selector ? 0 : f);
    }
    case_end(b);
}

static void doubles(case_builder *b, const char *shape, unsigned d, unsigned a, unsigned bb) {
    char name[64];
    snprintf(name, sizeof name, "mma.%s.f64", shape);
    case_start(b, name, 32);
    b->c.matrix = true;
    unsigned total = a + bb + d;
    case_put(&b->body, ".reg .f64 %%s<%u>, %%d<%u>;\n", total + 1, d + 1);
    for (unsigned i = 0; i < total; i++) {
        unsigned word = case_input(b, CASE_F64_LOW);
        case_input(b, CASE_F64_HIGH);
        case_put(&b->body, "mov.b64 %%s%u, {%%i%u, %%i%u};\n", i, word, word + 1);
    }
    static const char *const rounds[] = {"", ".rz", ".rm", ".rp"};
    for (unsigned r = 0; r < 4; r++) {
        snprintf(name, sizeof name, "mma.sync.aligned.%s.row.col%s.f64.f64.f64.f64", shape, rounds[r]);
        unsigned o = case_part_add(b, name, 2 * d);
        case_put(&b->body, "%s ", name);
        list(&b->body, "%d", 0, d);
        case_put(&b->body, ", ");
        list(&b->body, "%s", 0, a);
        case_put(&b->body, ", ");
        list(&b->body, "%s", a, bb);
        case_put(&b->body, ", ");
        list(&b->body, "%s", a + bb, d);
        case_put(&b->body, ";\n");
        for (unsigned i = 0; i < d; i++)
            case_put(&b->body, "mov.b64 {%%o%u, %%o%u}, %%d%u;\n", o + 2 * i, o + 2 * i + 1, i);
    }
    case_end(b);
}

/* wmma.load of numbered memory shows which element each register of each lane holds (the layout is not
 * documented); then wmma.mma of any registers. */
typedef struct wmma_row {
    const char *shape, *type, *result;
    unsigned d, a, b, c, bytes;
    case_kind kind, kind_c;
} wmma_row;
/* clang-format off */
static const wmma_row wmmas[] = {
    {"m16n16k16", "f16", "f32", 8, 8, 8, 8, 2, CASE_F16X2, CASE_F32},
    {"m16n16k16", "f16", "f16", 4, 8, 8, 4, 2, CASE_F16X2, CASE_F16X2},
    {"m32n8k16", "f16", "f32", 8, 8, 8, 8, 2, CASE_F16X2, CASE_F32},
    {"m8n32k16", "f16", "f32", 8, 8, 8, 8, 2, CASE_F16X2, CASE_F32},
    {"m16n16k16", "bf16", "f32", 8, 4, 4, 8, 2, CASE_BF16X2, CASE_F32},
    {"m16n16k8", "tf32", "f32", 8, 4, 4, 8, 4, CASE_F32, CASE_F32},
    {"m16n16k16", "s8", "s32", 8, 2, 2, 8, 1, CASE_BITS, CASE_INT},
    {"m32n8k16", "u8", "s32", 8, 4, 1, 8, 1, CASE_BITS, CASE_INT},
    {"m8n32k16", "s8", "s32", 8, 1, 4, 8, 1, CASE_BITS, CASE_INT},
};
/* clang-format on */

static void fragments(case_builder *b, const wmma_row *w) {
    char name[64];
    snprintf(name, sizeof name, "wmma.%s.%s.%s", w->shape, w->type, w->result);
    case_start(b, name, 32);
    b->c.matrix = true;
    unsigned a = inputs(b, w->kind, w->a), bb = inputs(b, w->kind, w->b), c = inputs(b, w->kind_c, w->c);
    /* memory: byte i of 4096 holds a number that tells 16-bit and wider elements apart */
    case_put(&b->before, ".shared .align 128 .b8 sm[4096];\n");
    case_put(
        &b->body,
        ".reg .b64 pa;\nmov.u64 pa, sm;\ncvta.shared.u64 pa, pa;\nmov.u32 %%t5, sm;\nshl.b32 %%t3, %%t7, 7;\n"
        "add.u32 %%t5, %%t5, %%t3;\nshl.b32 %%t3, %%t7, %u;\n",
        w->bytes == 1   ? 7
        : w->bytes == 2 ? 6
                        : 5);
    for (unsigned i = 0; i < 32; i++) {
        if (w->bytes == 1)
            case_put(&b->body,
                     "add.u32 %%t4, %%t3, %u;\nmul.lo.u32 %%t4, %%t4, 0x01010101;\n"
                     "add.u32 %%t4, %%t4, 0x03020100;\n",
                     4 * i);
        else if (w->bytes == 2)
            case_put(&b->body,
                     "add.u32 %%t4, %%t3, %u;\nmul.lo.u32 %%t4, %%t4, 0x00010001;\nadd.u32 %%t4, %%t4, "
                     "0x00010000;\n",
                     2 * i);
        else
            case_put(&b->body, "add.u32 %%t4, %%t3, %u;\n", i);
        case_put(&b->body, "st.shared.b32 [%%t5+%u], %%t4;\n", 4 * i);
    }
    case_put(&b->body, "bar.sync 0;\n");
    static const char *const layouts[] = {"row", "col"};
    bool half = strcmp(w->result, "f16") == 0;
    for (unsigned l = 0; l < 2; l++) {
        const struct {
            char which;
            const char *type;
            unsigned count;
        } loads[] = {{'a', w->type, w->a}, {'b', w->type, w->b}, {'c', w->result, w->c}};
        for (unsigned k = 0; k < 3; k++) {
            snprintf(name, sizeof name, "wmma.load.%c.sync.aligned.%s.%s.%s", loads[k].which, layouts[l],
                     w->shape, loads[k].type);
            if (half && k < 2)
                continue;
            unsigned o = case_part_add(b, name, loads[k].count);
            case_put(&b->body, "%s ", name);
            list(&b->body, "%o", o, loads[k].count);
            case_put(&b->body, ", [pa], 32;\n");
        }
    }
    for (unsigned l = 0; l < 2; l++) {
        if (half || strcmp(w->type, "f16") == 0)
            snprintf(name, sizeof name, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s", layouts[l], layouts[!l],
                     w->shape, w->result, w->result);
        else
            snprintf(name, sizeof name, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s", layouts[l], layouts[!l],
                     w->shape, w->result, w->type, w->type, w->result);
        unsigned o = case_part_add(b, name, w->d);
        case_put(&b->body, "%s ", name);
        list(&b->body, "%o", o, w->d);
        case_put(&b->body, ", ");
        list(&b->body, "%i", a, w->a);
        case_put(&b->body, ", ");
        list(&b->body, "%i", bb, w->b);
        case_put(&b->body, ", ");
        list(&b->body, "%i", c, w->c);
        case_put(&b->body, ";\n");
    }
    case_end(b);
}

void cases_matrix(case_taker *take, void *user) {
    case_builder b = {.take = take, .user = user};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        multiply(&b, &products[i]);
    doubles(&b, "m8n8k4", 2, 1, 1);
    doubles(&b, "m16n8k4", 4, 2, 1);
    doubles(&b, "m16n8k8", 4, 4, 2);
    doubles(&b, "m16n8k16", 4, 8, 4);
}

void cases_wmma(case_taker *take, void *user) {
    case_builder b = {.take = take, .user = user};
    for (size_t i = 0; i < sizeof wmmas / sizeof wmmas[0]; i++)
        fragments(&b, &wmmas[i]);
}
