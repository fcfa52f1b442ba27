/* SPDX-License-Identifier: Apache-2.0
 * Cases of wgmma: every type, A in registers and in shared memory, every swizzle and orientation, several N,
 * scale-d and the sign of the operands. Shared memory holds any elements: a difference in an address map
 * shows. */
#include "cases.h"
#include <stdio.h>
#include <string.h>

typedef struct wgmma_kind {
    const char *types;   /* after the shape */
    unsigned k, bytes_k; /* K, and its bytes in a row: 32 */
    bool half;           /* D of f16 */
    bool integer;
    bool transposes;
    case_kind a, b, d;
    bool signs;
} wgmma_kind;
/* clang-format off */
static const wgmma_kind kinds[] = {
    {"f32.f16.f16", 16, 32, false, false, true, CASE_F16X2, CASE_F16X2, CASE_F32, true},
    {"f16.f16.f16", 16, 32, true, false, true, CASE_F16X2, CASE_F16X2, CASE_F16X2, true},
    {"f32.bf16.bf16", 16, 32, false, false, true, CASE_BF16X2, CASE_BF16X2, CASE_F32, true},
    {"f32.tf32.tf32", 8, 32, false, false, false, CASE_F32, CASE_F32, CASE_F32, true},
    {"f32.e4m3.e4m3", 32, 32, false, false, false, CASE_E4M3X4, CASE_E4M3X4, CASE_F32, true},
    {"f32.e5m2.e4m3", 32, 32, false, false, false, CASE_E5M2X4, CASE_E4M3X4, CASE_F32, true},
    {"f32.e4m3.e5m2", 32, 32, false, false, false, CASE_E4M3X4, CASE_E5M2X4, CASE_F32, true},
    {"f32.e5m2.e5m2", 32, 32, false, false, false, CASE_E5M2X4, CASE_E5M2X4, CASE_F32, true},
    {"f16.e4m3.e4m3", 32, 32, true, false, false, CASE_E4M3X4, CASE_E4M3X4, CASE_F16X2, true},
    {"f16.e5m2.e5m2", 32, 32, true, false, false, CASE_E5M2X4, CASE_E5M2X4, CASE_F16X2, true},
    {"s32.s8.s8", 32, 32, false, true, false, CASE_BITS, CASE_BITS, CASE_INT, false},
    {"s32.u8.s8", 32, 32, false, true, false, CASE_BITS, CASE_BITS, CASE_INT, false},
    {"s32.u8.u8", 32, 32, false, true, false, CASE_BITS, CASE_BITS, CASE_INT, false},
    {"satfinite.s32.s8.s8", 32, 32, false, true, false, CASE_BITS, CASE_BITS, CASE_INT, false},
    {"s32.b1.b1.and.popc", 256, 32, false, true, false, CASE_BITS, CASE_BITS, CASE_INT, false},
};
/* clang-format on */

typedef struct variant {
    const char *name;
    bool registers;        /* A */
    bool a_major, b_major; /* M- and N-major */
    unsigned swizzle;      /* bytes: 0, 32, 64, 128 */
    int scale_d, sign_a, sign_b;
    unsigned a_offset, b_offset; /* bytes into the swizzle's row */
} variant;

static unsigned code_of(unsigned swizzle) {
    return swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
}

/* Bytes of an operand with `rows` rows (M or N), and its descriptor without address. */
static unsigned operand_layout(unsigned rows, bool major, unsigned swizzle, uint64_t *descriptor) {
    unsigned leading, stride, bytes;
    if (!major && swizzle == 0) {
        leading = 128;
        stride = 256;
        bytes = rows * 32;
    } else if (!major) {
        leading = 16;
        stride = 8 * swizzle;
        bytes = rows * swizzle;
    } else if (swizzle == 0) { /* 16-bit elements: chunks of 8 rows by 8 k */
        stride = 128;
        leading = 128 * (rows / 8);
        bytes = 2 * leading;
    } else {
        stride = 8 * swizzle;
        leading = 16 * swizzle;
        unsigned repeats = (rows * 2 + swizzle - 1) / swizzle;
        bytes = repeats * leading;
    }
    *descriptor =
        (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)code_of(swizzle) << 62;
    return bytes;
}

static void list(case_text *text, const char *prefix, unsigned first, unsigned count) {
    case_put(text, "{");
    for (unsigned k = 0; k < count; k++)
        case_put(text, "%s%s%u", k ? ", " : "", prefix, first + k);
    case_put(text, "}");
}

/* Copies `bytes` of inputs of this kind to sm + at, spread over 128 threads. */
static void fill(case_builder *b, case_kind kind, unsigned at, unsigned bytes) {
    unsigned words = (bytes + 511) / 512;
    for (unsigned i = 0; i < words; i++)
        case_put(&b->body, "st.shared.b32 [%%t4+%u], %%i%u;\n", at + 512 * i, case_input(b, kind));
}

static void multiply(case_builder *b, const wgmma_kind *k, unsigned n, const variant *v) {
    char name[96];
    snprintf(name, sizeof name, "wgmma.m64n%uk%u.%s/%s", n, k->k, k->types, v->name);
    case_start(b, name, 128);
    b->c.matrix = true;
    b->target = "sm_90a";
    b->version = strstr(k->types, "u8.s8") ? 84 : 80;
    unsigned d_count = k->half ? n / 4 : n / 2, d = 0, a = 0;
    for (unsigned i = 0; i < d_count; i++)
        d = case_input(b, k->d) - i;
    uint64_t descriptor_a, descriptor_b;
    unsigned bytes_a = operand_layout(64, v->a_major, v->swizzle, &descriptor_a);
    unsigned bytes_b = operand_layout(n, v->b_major, v->swizzle, &descriptor_b);
    unsigned base_b = (bytes_a + 1023) / 1024 * 1024;
    case_put(&b->before, ".shared .align 1024 .b8 sm[%u];\n", base_b + (bytes_b + 1023) / 1024 * 1024);
    case_put(&b->body,
             ".reg .b32 sa;\n.reg .b64 da, db, la;\n.reg .pred sd;\nmov.u32 sa, sm;\nshl.b32 %%t4, %%t7, 2;\n"
             "add.u32 %%t4, %%t4, sa;\nshr.u32 sa, sa, 4;\ncvt.u64.u32 la, sa;\n");
    if (v->registers)
        for (unsigned i = 0; i < 4; i++)
            a = case_input(b, k->a) - i;
    else
        fill(b, k->a, 0, bytes_a);
    fill(b, k->b, base_b, bytes_b);
    case_put(&b->body, "add.s64 da, la, 0x%llx;\nadd.s64 db, la, 0x%llx;\nsetp.ne.s32 sd, %d, 0;\n",
             (unsigned long long)(descriptor_a + (v->a_offset >> 4)),
             (unsigned long long)(descriptor_b + ((base_b + v->b_offset) >> 4)), v->scale_d);
    case_put(&b->body, "fence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n");
    case_put(&b->body, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s ", n, k->k, k->types);
    unsigned o = case_part_add(b, "d", d_count);
    list(&b->body, "%i", d, d_count);
    if (v->registers) {
        case_put(&b->body, ", ");
        list(&b->body, "%i", a, 4);
    } else {
        case_put(&b->body, ", da");
    }
    case_put(&b->body, ", db, sd");
    if (k->signs)
        case_put(&b->body, ", %d, %d", v->sign_a, v->sign_b);
    if (k->transposes)
        case_put(&b->body, v->registers ? ", %d" : ", %d, %d", v->registers ? v->b_major : v->a_major,
                 v->b_major);
    case_put(&b->body, ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (unsigned i = 0; i < d_count; i++)
        case_put(&b->body, "mov.b32 %%o%u, %%i%u;\n", o + i, d + i);
    case_end(b);
}

void cases_wgmma(case_taker *take, void *user) {
    case_builder builder = {.take = take, .user = user}, *b = &builder;
    static const variant variants[] = {
        {"none", false, false, false, 0, 1, 1, 1, 0, 0},
        {"32B", false, false, false, 32, 1, 1, 1, 0, 0},
        {"64B", false, false, false, 64, 1, -1, 1, 32, 0},
        {"128B", false, false, false, 128, 1, 1, -1, 32, 96},
        {"registers-128B", true, false, false, 128, 1, 1, 1, 0, 64},
        {"zero-64B", false, false, false, 64, 0, 1, 1, 0, 32},
        {"mn-none", false, true, true, 0, 1, 1, 1, 0, 0},
        {"mn-32B", false, true, true, 32, 1, 1, 1, 0, 0},
        {"mn-64B", false, true, true, 64, 1, 1, 1, 0, 0},
        {"mn-128B", false, true, true, 128, 1, 1, 1, 0, 0},
        {"k-mn-128B", false, false, true, 128, 1, 1, 1, 0, 0},
        {"registers-mn-64B", true, false, true, 64, 1, -1, -1, 0, 0},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
            bool major = variants[v].a_major || variants[v].b_major;
            if (major && !kinds[k].transposes)
                continue;
            multiply(b, &kinds[k], 64, &variants[v]);
            if (v == 3 || v == 4) {
                multiply(b, &kinds[k], 8, &variants[v]);
                multiply(b, &kinds[k], 256, &variants[v]);
            }
            if (v == 1)
                multiply(b, &kinds[k], kinds[k].integer ? 48 : 40, &variants[v]);
        }
}
