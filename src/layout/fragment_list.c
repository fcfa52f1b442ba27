/* SPDX-License-Identifier: Apache-2.0
 * The names of fragments, each of which layout_fragment_parse takes. Sizes that may be any multiple stand
 * with the usual ones. */
#include "layout/fragment_internal.h"
#include <stdarg.h>
#include <string.h>

typedef struct names {
    base_arena *arena;
    BASE_VECTOR(const char *) list;
} names;

static void add(names *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(names *n, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *name = base_arena_format_list(n->arena, format, arguments);
    va_end(arguments);
    base_vector_push(n->arena, &n->list, name);
}

static void transfers(names *n) {
    for (unsigned m = 0; m < LAYOUT_MOVEMENT_COUNT; m++)
        for (int count = 1; count <= 128; count *= 2) {
            layout_transfer transfer = {.movement = (layout_movement)m, .count = count};
            layout_transfer_size size;
            if (!layout_transfer_measure(n->arena, &transfer, &size, NULL))
                continue;
            add(n, "tcgen05.ld.%s.x%d", layout_movement_name((layout_movement)m), count);
            add(n, "tcgen05.st.%s.x%d", layout_movement_name((layout_movement)m), count);
        }
}

static void tiles(names *n) {
    for (unsigned m = 0; m < LAYOUT_MOVEMENT_16X32BX2; m++)
        for (int rows = 64; rows <= 128; rows += 64)
            for (int columns = 16; columns <= 256; columns *= 2)
                for (unsigned bits = 16; bits <= 32; bits += 16)
                    if (layout_tcgen05_atom(n->arena, (layout_movement)m, rows, columns, bits, NULL))
                        add(n, "tcgen05.atom.%s.%dx%d.b%u", layout_movement_name((layout_movement)m), rows,
                            columns, bits);
    for (char letter = 'A'; letter <= 'G'; letter++)
        for (int columns = 16; columns <= 256; columns *= 2) {
            add(n, "tcgen05.mma.%c.n%d", letter, columns);
            if (letter == 'C' || letter == 'F')
                add(n, "tcgen05.mma.%c.n%d.upper", letter, columns);
        }
    static const char *const copies[] = {
        "128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"};
    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++)
        add(n, "tcgen05.cp.%s", copies[i]);
    for (int per = 1; per <= 4; per *= 2)
        for (int rows = 128; rows <= 256; rows += 128)
            add(n, "tcgen05.sf.%dx8.%dX", rows, per);
}

static void operands(names *n, bool sparse) {
    const char *types;
    int m, columns, k;
    for (uint32_t i = 0; fragment_mma_row(i, sparse, &types, &m, &columns, &k); i++)
        for (const char *type = types + 1; *type; type += strcspn(type, " ") + 1)
            for (char operand = 'A'; operand <= 'B'; operand++)
                add(n, "mma.%sm%dn%dk%d.%.*s.%c", sparse ? "sp." : "", m, columns, k, (int)strcspn(type, " "),
                    type, operand);
}

static void accumulators(names *n) {
    static const char *const dense[] = {"m16n8.f16", "m16n8.f32", "m16n8.s32",  "m16n8.f64",
                                        "m8n8.s32",  "m8n8.f64",  "m8n8k4.f16", "m8n8k4.f32"};
    for (size_t i = 0; i < sizeof dense / sizeof dense[0]; i++)
        add(n, "mma.%s.D", dense[i]);
    for (char operand = 'A'; operand <= 'B'; operand++) {
        add(n, "mma.m8n8k4.f16.%c.row", operand);
        add(n, "mma.m8n8k4.f16.%c.col", operand);
    }
}

static void warpgroups(names *n) {
    static const char *const a[] = {"m64k16.f16", "m64k16.bf16", "m64k8.tf32", "m64k32.s8",
                                    "m64k32.u8",  "m64k32.e4m3", "m64k32.e5m2"};
    for (int columns = 8; columns <= 256; columns += 8) {
        add(n, "wgmma.m64n%d", columns);
        add(n, "wgmma.m64n%d.f16", columns);
    }
    for (size_t i = 0; i < sizeof a / sizeof a[0]; i++)
        add(n, "wgmma.%s.A", a[i]);
}

const char *const *layout_fragment_names(base_arena *arena, size_t *count) {
    names n = {.arena = arena};
    transfers(&n);
    tiles(&n);
    operands(&n, false);
    operands(&n, true);
    accumulators(&n);
    warpgroups(&n);
    for (int i = 1; i <= 4; i *= 2) {
        add(&n, "ldmatrix.x%d", i);
        add(&n, "ldmatrix.x%d.trans", i);
        add(&n, "stmatrix.x%d", i);
        add(&n, "stmatrix.x%d.trans", i);
    }
    *count = n.list.count;
    return n.list.items;
}
