/* SPDX-License-Identifier: Apache-2.0
 * Register fragments (PTX ISA, "tcgen05.ld", "Matrix Fragments for mma", "wgmma", "ldmatrix"). */
#include "layout/fragment.h"
#include "layout/layout_internal.h"
#include <string.h>

/* ---- tcgen05.ld and st ---- */
static const struct movement_row {
    const char *name;
    int lanes, columns, registers; /* of .x1 */
    int most;                      /* the largest .xN: 128 registers */
} movements[LAYOUT_MOVEMENT_COUNT] = {
    [LAYOUT_MOVEMENT_32X32B] = {"32x32b", 32, 1, 1, 128},
    [LAYOUT_MOVEMENT_16X64B] = {"16x64b", 16, 2, 1, 128},
    [LAYOUT_MOVEMENT_16X128B] = {"16x128b", 16, 4, 2, 64},
    [LAYOUT_MOVEMENT_16X256B] = {"16x256b", 16, 8, 4, 32},
    [LAYOUT_MOVEMENT_16X32BX2] = {"16x32bx2", 16, 2, 1, 128},
};

const char *layout_movement_name(layout_movement movement) {
    return (unsigned)movement < LAYOUT_MOVEMENT_COUNT ? movements[movement].name : "?";
}

bool layout_movement_find(const char *name, size_t size, layout_movement *movement) {
    for (unsigned i = 0; i < LAYOUT_MOVEMENT_COUNT; i++)
        if (strlen(movements[i].name) == size && memcmp(movements[i].name, name, size) == 0) {
            *movement = (layout_movement)i;
            return true;
        }
    return false;
}

bool layout_transfer_measure(base_arena *arena, const layout_transfer *transfer, layout_transfer_size *size,
                             layout_error *error) {
    const struct movement_row *row = &movements[transfer->movement];
    int n = transfer->count;
    if (n < 1 || n > 128 || (n & (n - 1)) != 0)
        return layout_refuse(arena, error, "x%d: the repeat count is a power of two from x1 to x128", n) !=
               NULL;
    if (n > row->most)
        return layout_refuse(arena, error,
                             "%s.x%d needs %d registers per thread; the limit is 128, so x%d is the largest",
                             row->name, n, n * row->registers, row->most) != NULL;
    if (transfer->split < 0 || transfer->split > 511 ||
        (transfer->split != 0 && transfer->movement != LAYOUT_MOVEMENT_16X32BX2))
        return layout_refuse(arena, error, "%s takes no column offset %lld of a second half", row->name,
                             (long long)transfer->split) != NULL;
    size->lanes = row->lanes;
    size->columns = row->columns * n * (transfer->pack ? 2 : 1);
    size->cells = size->lanes * size->columns;
    size->registers = row->registers * n;
    size->bits_per_lane = size->columns * (transfer->pack ? 16 : 32);
    return true;
}

void layout_transfer_cell(const layout_transfer *transfer, int lane, int reg, int *row, int64_t *column) {
    int t = lane, r = reg, scale = transfer->pack ? 2 : 1;
    int64_t split = transfer->split != 0 ? transfer->split : (int64_t)transfer->count * scale;
    switch (transfer->movement) {
    case LAYOUT_MOVEMENT_32X32B:
        *row = t;
        *column = (int64_t)r * scale;
        break;
    case LAYOUT_MOVEMENT_16X64B:
        *row = t / 4 + 8 * (t % 2);
        *column = (int64_t)(2 * r + t / 2 % 2) * scale;
        break;
    case LAYOUT_MOVEMENT_16X128B:
        *row = t / 4 + 8 * (r % 2);
        *column = (int64_t)(4 * (r / 2) + t % 4) * scale;
        break;
    case LAYOUT_MOVEMENT_16X256B:
        *row = t / 4 + 8 * (r / 2 % 2);
        *column = (int64_t)(8 * (r / 4) + 2 * (t % 4) + r % 2) * scale;
        break;
    default: /* the immediate counts columns of tensor memory, packed or not */
        *row = t % 16;
        *column = (int64_t)r * scale + (t < 16 ? 0 : split);
    }
}

typedef struct list {
    layout_iter iters[10];
    uint32_t count;
} list;

static void add(list *l, int64_t extent, int64_t stride, layout_axis axis) {
    l->iters[l->count++] = (layout_iter){extent, stride, axis};
}

static const layout_tile *make(base_arena *arena, const list *l, layout_error *error) {
    return layout_make(arena, l->iters, l->count, NULL, 0, NULL, 0, error);
}

/* Rows of 16 and columns of one instruction; `slots` elements per register. */
static void add_movement(list *l, layout_movement movement, int64_t n, int64_t slots) {
    layout_axis lane = LAYOUT_AXIS_LANEID, m = LAYOUT_AXIS_M;
    switch (movement) {
    case LAYOUT_MOVEMENT_16X64B:
        add(l, 2, 1, lane);
        add(l, 8, 4, lane);
        add(l, n, slots, m);
        add(l, 2, 2, lane);
        break;
    case LAYOUT_MOVEMENT_16X128B:
        add(l, 2, slots, m);
        add(l, 8, 4, lane);
        add(l, n, 2 * slots, m);
        add(l, 4, 1, lane);
        break;
    case LAYOUT_MOVEMENT_16X256B:
        add(l, 2, 2 * slots, m);
        add(l, 8, 4, lane);
        add(l, n, 4 * slots, m);
        add(l, 4, 1, lane);
        add(l, 2, slots, m);
        break;
    default: /* 16x32bx2, its halves side by side */
        add(l, 16, 1, lane);
        add(l, 2, 16, lane);
        add(l, n, slots, m);
    }
    if (slots > 1)
        add(l, slots, 1, m);
}

const layout_tile *layout_transfer_layout(base_arena *arena, const layout_transfer *transfer,
                                          layout_error *error) {
    layout_transfer_size size;
    list l = {.count = 0};
    int64_t slots = transfer->pack ? 2 : 1;
    if (!layout_transfer_measure(arena, transfer, &size, error))
        return NULL;
    if (transfer->split != 0 && transfer->split != transfer->count * slots)
        return layout_refuse(arena, error,
                             "the halves of 16x32bx2 are %lld columns apart, %lld would make them one tile",
                             (long long)transfer->split, (long long)(transfer->count * slots));
    if (transfer->movement == LAYOUT_MOVEMENT_32X32B) {
        add(&l, 32, 1, LAYOUT_AXIS_LANEID);
        add(&l, transfer->count * slots, 1, LAYOUT_AXIS_M);
    } else {
        add_movement(&l, transfer->movement, transfer->count, slots);
    }
    return make(arena, &l, error);
}

/* The 64-row image of datapath B read with 32x32b: the column halves lie on different threads. */
static const layout_tile *folded_rows(base_arena *arena, int64_t columns, unsigned bits,
                                      layout_error *error) {
    list l = {.count = 0};
    int64_t half = columns / 2;
    if (bits != 32 || columns % 2 != 0 || half < 1 || half > 128 || (half & (half - 1)) != 0)
        return layout_refuse(
            arena, error,
            "32x32b reads 64 rows only as the folded image of datapath B: 32-bit elements and "
            "twice x1 to x128 columns, not %u bits and %lld columns",
            bits, (long long)columns);
    add(&l, 64, 1, LAYOUT_AXIS_TID_IN_WG);
    add(&l, 2, 64, LAYOUT_AXIS_TID_IN_WG);
    add(&l, half, 1, LAYOUT_AXIS_M);
    return make(arena, &l, error);
}

const layout_tile *layout_tcgen05_atom(base_arena *arena, layout_movement movement, int64_t rows,
                                       int64_t columns, unsigned bits, layout_error *error) {
    const struct movement_row *row = &movements[movement];
    bool by_thread = movement == LAYOUT_MOVEMENT_32X32B;
    list l = {.count = 0};
    if (movement == LAYOUT_MOVEMENT_16X32BX2)
        return layout_refuse(arena, error, "16x32bx2 has two column ranges and no fragment of one tile");
    if (bits != 16 && bits != 32)
        return layout_refuse(arena, error, "a fragment has elements of 16 or 32 bits, not %u", bits);
    if (by_thread && rows == 64)
        return folded_rows(arena, columns, bits, error);
    if (rows != 128 && (by_thread || rows != 64))
        return layout_refuse(arena, error, "%s moves fragments of %s rows, not %lld", row->name,
                             by_thread ? "128" : "64 or 128", (long long)rows);
    int64_t slots = 32 / bits, step = row->columns * slots, n = columns / step;
    if (columns <= 0 || columns % step != 0 || n > row->most || (n & (n - 1)) != 0)
        return layout_refuse(
            arena, error,
            "%lld columns of %u bits are %s.x%lld%s; the repeat count is a power of two up to "
            "x%d",
            (long long)columns, bits, row->name, (long long)n, columns % step != 0 ? " and a rest" : "",
            row->most);
    if (by_thread) {
        add(&l, rows, 1, LAYOUT_AXIS_TID_IN_WG);
        add(&l, columns, 1, LAYOUT_AXIS_M);
        return make(arena, &l, error);
    }
    add(&l, 4, 1, LAYOUT_AXIS_WID_IN_WG);
    if (rows == 128) /* a second instruction for the upper 16 lanes of each window */
        add(&l, 2, row->registers * n * slots, LAYOUT_AXIS_M);
    add_movement(&l, movement, n, slots);
    return make(arena, &l, error);
}

/* ---- mma, wgmma, ldmatrix ---- */
/* clang-format off */
static const layout_fragment fragments[] = {
    {"mma.m16n8k8.f16.A", "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]", {16, 8}, 16, "A of m16n8k8, f16 and bf16"},
    {"mma.m16n8k8.f16.B", "S[(4,2,8):(1@laneid,1,4@laneid)]", {8, 8}, 16, "B of m16n8k8, f16 and bf16"},
    {"mma.m16n8k16.f16.A", "S[(2,8,2,4,2):(2,4@laneid,4,1@laneid,1)]", {16, 16}, 16, "A of m16n8k16, f16 and bf16"},
    {"mma.m16n8k16.f16.B", "S[(2,4,2,8):(2,1@laneid,1,4@laneid)]", {16, 8}, 16, "B of m16n8k16, f16 and bf16"},
    {"mma.m16n8k32.s8.A", "S[(2,8,2,4,4):(4,4@laneid,8,1@laneid,1)]", {16, 32}, 8, "A of m16n8k32, 8-bit"},
    {"mma.m16n8k32.s8.B", "S[(2,4,4,8):(4,1@laneid,1,4@laneid)]", {32, 8}, 8, "B of m16n8k32, 8-bit"},
    {"mma.m16n8k8.tf32.A", "S[(2,8,2,4):(1,4@laneid,2,1@laneid)]", {16, 8}, 32, "A of m16n8k8, tf32"},
    {"mma.m16n8k8.tf32.B", "S[(2,4,8):(1,1@laneid,4@laneid)]", {8, 8}, 32, "B of m16n8k8, tf32"},
    {"mma.m16n8.D", "S[(2,8,4,2):(2,4@laneid,1@laneid,1)]", {16, 8}, 32, "C and D of every m16n8k*, f32 and s32"},
};
/* clang-format on */

const layout_fragment *layout_fragment_at(uint32_t index) {
    return index < sizeof fragments / sizeof fragments[0] ? &fragments[index] : NULL;
}

const layout_fragment *layout_fragment_find(const char *name, size_t size) {
    for (uint32_t i = 0; i < sizeof fragments / sizeof fragments[0]; i++)
        if (strlen(fragments[i].name) == size && memcmp(fragments[i].name, name, size) == 0)
            return &fragments[i];
    return NULL;
}

const layout_tile *layout_wgmma_accumulator(base_arena *arena, int64_t n, layout_error *error) {
    list l = {.count = 0};
    if (n < 8 || n > 256 || n % 8 != 0)
        return layout_refuse(arena, error, "wgmma has N from 8 to 256 in steps of 8, not %lld", (long long)n);
    add(&l, 4, 1, LAYOUT_AXIS_WID_IN_WG);
    add(&l, 2, 2, LAYOUT_AXIS_M);
    add(&l, 8, 4, LAYOUT_AXIS_LANEID);
    add(&l, n / 8, 4, LAYOUT_AXIS_M);
    add(&l, 4, 1, LAYOUT_AXIS_LANEID);
    add(&l, 2, 1, LAYOUT_AXIS_M);
    return make(arena, &l, error);
}

const layout_tile *layout_matrix_fragment(base_arena *arena, int count, bool transposed,
                                          layout_error *error) {
    list l = {.count = 0};
    if (count != 1 && count != 2 && count != 4)
        return layout_refuse(arena, error, "ldmatrix and stmatrix move 1, 2 or 4 matrices, not %d", count);
    /* Lane 4r + w has word w of row r; transposed, element (i, j) goes where (j, i) would. */
    if (transposed) {
        add(&l, 4, 1, LAYOUT_AXIS_LANEID);
        add(&l, 2, 1, LAYOUT_AXIS_M);
    } else {
        add(&l, 8, 4, LAYOUT_AXIS_LANEID);
    }
    add(&l, count, 2, LAYOUT_AXIS_M);
    if (transposed) {
        add(&l, 8, 4, LAYOUT_AXIS_LANEID);
    } else {
        add(&l, 4, 1, LAYOUT_AXIS_LANEID);
        add(&l, 2, 1, LAYOUT_AXIS_M);
    }
    return make(arena, &l, error);
}
