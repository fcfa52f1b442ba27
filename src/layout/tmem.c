/* SPDX-License-Identifier: Apache-2.0
 * Layouts of tensor memory (PTX ISA, "Tensor Memory", "Data path layout organization", "Scale factor layout"
 * and "tcgen05.cp"). */
#include "layout/tmem.h"
#include "layout/layout_internal.h"
#include <string.h>

typedef struct list {
    layout_iter iters[8];
    uint32_t count;
} list;

static void add(list *l, int64_t extent, int64_t stride, layout_axis axis) {
    l->iters[l->count++] = (layout_iter){extent, stride, axis};
}

static const layout_tile *make(base_arena *arena, const list *shard, const list *replica, int64_t lane_offset,
                               layout_error *error) {
    int64_t offsets[LAYOUT_AXIS_COUNT] = {[LAYOUT_AXIS_TLANE] = lane_offset};
    return layout_make(arena, shard->iters, shard->count, replica->iters, replica->count, offsets,
                       lane_offset != 0 ? 1u << LAYOUT_AXIS_TLANE : 0, error);
}

static const list none;

static const struct datapath {
    char letter;
    int rows, folds; /* column ranges laid side by side on the lanes */
} datapaths[] = {{'A', 128, 1}, {'B', 64, 2}, {'C', 64, 1}, {'D', 128, 1},
                 {'E', 64, 2},  {'F', 64, 1}, {'G', 32, 4}};

static const struct datapath *find_datapath(char letter) {
    for (unsigned i = 0; i < sizeof datapaths / sizeof datapaths[0]; i++)
        if (datapaths[i].letter == letter)
            return &datapaths[i];
    return NULL;
}

const layout_tile *layout_tmem_datapath(base_arena *arena, char letter, int64_t rows, int64_t columns,
                                        int sub_slab, layout_error *error) {
    const struct datapath *path = find_datapath(letter);
    bool slabs = letter == 'C' || letter == 'F'; /* 16 of the 32 lanes of each window */
    if (path == NULL)
        return layout_refuse(arena, error, "there is no datapath '%c'; datapaths are A to G", letter);
    if (rows != path->rows)
        return layout_refuse(arena, error, "datapath %c has %d rows per CTA, not %lld", letter, path->rows,
                             (long long)rows);
    if (sub_slab < 0 || sub_slab > 1 || (sub_slab == 1 && !slabs))
        return layout_refuse(arena, error, "datapath %c has no sub-slab %d", letter, sub_slab);
    if (columns <= 0 || columns % path->folds != 0)
        return layout_refuse(arena, error, "datapath %c needs columns in %smultiples of %d, not %lld", letter,
                             columns <= 0 ? "positive " : "", path->folds, (long long)columns);
    list shard = none;
    if (slabs) {
        add(&shard, 4, 32, LAYOUT_AXIS_TLANE);
        add(&shard, 16, 1, LAYOUT_AXIS_TLANE);
    } else {
        add(&shard, rows, 1, LAYOUT_AXIS_TLANE);
    }
    if (path->folds > 1)
        add(&shard, path->folds, rows, LAYOUT_AXIS_TLANE);
    add(&shard, columns / path->folds, 1, LAYOUT_AXIS_TCOL);
    return make(arena, &shard, &none, 16 * sub_slab, error);
}

bool layout_tmem_letter(base_arena *arena, int m, int cta_group, bool ws, char *letter, layout_error *error) {
    if (ws && (cta_group != 1 || (m != 64 && m != 128)))
        return layout_refuse(arena, error,
                             "a .ws operand layout exists for cta_group 1 with M = 64 or 128, not %d with %d",
                             cta_group, m) != NULL;
    *letter = cta_group == 1 && m == 128   ? 'D'
              : cta_group == 1 && m == 64  ? (ws ? 'E' : 'F')
              : cta_group == 2 && m == 256 ? 'A'
              : cta_group == 2 && m == 128 ? 'B'
                                           : 0;
    return *letter != 0 ||
           layout_refuse(arena, error,
                         "no datapath for M = %d with cta_group %d; M is 64 or 128 in group 1, "
                         "128 or 256 in group 2",
                         m, cta_group) != NULL;
}

/* An operand that folds its columns, by how the shape writes the fold; false when it does not. */
static bool folded(const layout_tmem_mma *mma, const int64_t *shape, uint32_t rank, int64_t m, list *out) {
    const int64_t *g = mma->group;
    if (mma->operand == 'D' && ((rank == 2 && g != NULL && g[1] == 2) || (rank == 4 && shape[2] == 2))) {
        int64_t s = rank == 4 ? shape[1] : g[0], n = rank == 4 ? shape[3] : g[2];
        int64_t columns = 0;
        if (shape[0] != m || s <= 0 || n <= 0 || __builtin_mul_overflow(s, n, &columns) ||
            __builtin_mul_overflow(columns, 2, &columns) || (rank == 2 && shape[1] != columns))
            return false;
        add(out, m, 1, LAYOUT_AXIS_TLANE);
        add(out, s, n, LAYOUT_AXIS_TCOL);
        add(out, 2, 64, LAYOUT_AXIS_TLANE);
        add(out, n, 1, LAYOUT_AXIS_TCOL);
        return true;
    }
    if (rank != 3 || g != NULL)
        return false;
    if (shape[0] == 2 && shape[1] == m)
        add(out, 2, 64, LAYOUT_AXIS_TLANE);
    if (shape[0] == m || shape[1] == m)
        add(out, m, 1, LAYOUT_AXIS_TLANE);
    if (mma->operand == 'D' && shape[1] == 2 && shape[0] == m)
        add(out, 2, 64, LAYOUT_AXIS_TLANE);
    add(out, shape[2], 1, LAYOUT_AXIS_TCOL);
    return out->count == 3;
}

static const layout_tile *one_per_cell(base_arena *arena, const layout_tile *tile, const layout_tmem_mma *mma,
                                       layout_error *error) {
    if (tile == NULL || mma->operand != 'D' || mma->bits != 16)
        return tile == NULL ? NULL : layout_canonical(arena, tile);
    layout_iter *shard = base_arena_copy(arena, tile->shard, sizeof *shard * tile->shard_count);
    for (uint32_t i = 0; i < tile->shard_count; i++)
        if (shard[i].axis == LAYOUT_AXIS_TCOL && __builtin_mul_overflow(shard[i].stride, 2, &shard[i].stride))
            return layout_refuse(arena, error, "the columns of the accumulator do not fit in 64 bits");
    const layout_tile *wide = layout_make(arena, shard, tile->shard_count, tile->replica, tile->replica_count,
                                          tile->offset, tile->offset_axes, error);
    return wide == NULL ? NULL : layout_canonical(arena, wide);
}

const layout_tile *layout_tmem_operand(base_arena *arena, const layout_tmem_mma *mma, const int64_t *shape,
                                       uint32_t rank, layout_error *error) {
    char letter = 0;
    if (mma->sparse || mma->m == 32)
        return layout_refuse(arena, error, "there is no operand layout for %s",
                             mma->sparse ? "a sparse A" : "M = 32");
    if (mma->operand != 'A' && mma->operand != 'D')
        return layout_refuse(arena, error, "operand '%c' is not in tensor memory; A and D are", mma->operand);
    if (!layout_tmem_letter(arena, mma->m, mma->cta_group, mma->ws, &letter, error))
        return NULL;
    int64_t m = mma->m / mma->cta_group;
    bool folds = letter == 'B' || letter == 'E', plain = rank == 2 && shape[0] == m && mma->group == NULL;
    list shard = none, replica = none;
    if (plain && mma->operand == 'D') {
        return one_per_cell(arena, layout_tmem_datapath(arena, letter, m, shape[1], 0, error), mma, error);
    }
    if (plain && letter != 'E') { /* A, and A of B, which both halves of the lanes hold */
        add(&shard, m, 1, LAYOUT_AXIS_TLANE);
        add(&shard, shape[1], 1, LAYOUT_AXIS_TCOL);
        if (letter == 'B')
            add(&replica, 2, 64, LAYOUT_AXIS_TLANE);
    } else if (!folds || !folded(mma, shape, rank, m, &shard)) {
        return layout_refuse(arena, error,
                             "operand %c of M = %d, cta_group %d (datapath %c) has no layout of shape %s; it "
                             "has %lld rows per CTA%s",
                             mma->operand, mma->m, mma->cta_group, letter,
                             layout_shape_text(arena, shape, rank), (long long)m,
                             folds ? ", and (2, rows, columns) folds the columns" : "");
    }
    return one_per_cell(arena, make(arena, &shard, &replica, 0, error), mma, error);
}

static bool check_factors(base_arena *arena, int64_t rows, int64_t row_step, int64_t factors,
                          int64_t factor_step, layout_error *error) {
    if (rows <= 0 || rows % row_step != 0 || rows > INT64_C(1) << 30)
        return layout_refuse(arena, error, "scale factors have rows in multiples of %lld, not %lld",
                             (long long)row_step, (long long)rows) != NULL;
    if (factors <= 0 || factors % factor_step != 0 || factors > INT64_C(1) << 30)
        return layout_refuse(arena, error, "%lld factors per row are no multiple of %lld", (long long)factors,
                             (long long)factor_step) != NULL;
    return true;
}

const layout_tile *layout_tmem_scale_factors(base_arena *arena, int64_t rows, int64_t factors, int64_t per,
                                             int64_t reuse, int64_t stages, layout_error *error) {
    if (per != 1 && per != 2 && per != 4)
        return layout_refuse(arena, error, "an MMA takes 1, 2 or 4 scale factors per row, not %lld",
                             (long long)per);
    if (!check_factors(arena, rows, 32, factors, per, error))
        return NULL;
    if (reuse < 1 || stages < 0)
        return layout_refuse(arena, error,
                             "reuse %lld and stages %lld: reuse is at least 1, stages at least 0",
                             (long long)reuse, (long long)stages);
    int64_t windows = rows / 32, steps = factors / per, packed = 4 / per;
    while (steps % packed != 0)
        packed /= 2;
    /* A cell holds `packed` steps; the cells of all row windows stand side by side before the next step. */
    int64_t panels = steps / packed;
    list shard = none, replica = none;
    if (stages > 0)
        add(&shard, stages, 4 * windows * panels, LAYOUT_AXIS_TCOL);
    add(&shard, windows, 4, LAYOUT_AXIS_TCOL);
    add(&shard, 32, 1, LAYOUT_AXIS_TLANE);
    add(&shard, panels, 4 * windows, LAYOUT_AXIS_TCOL);
    add(&shard, packed, per, LAYOUT_AXIS_TCOL);
    add(&shard, per, 1, LAYOUT_AXIS_TCOL);
    if (reuse > 1)
        add(&shard, reuse, 0, LAYOUT_AXIS_TCOL);
    add(&replica, 4, 32, LAYOUT_AXIS_TLANE);
    const layout_tile *tile = make(arena, &shard, &replica, 0, error);
    return tile == NULL ? NULL : layout_canonical(arena, tile);
}

const layout_tile *layout_shared_scale_factors(base_arena *arena, int64_t rows, int64_t factors,
                                               layout_error *error) {
    if (!check_factors(arena, rows, 128, factors, 4, error))
        return NULL;
    list shard = none;
    add(&shard, rows / 128, 512 * (factors / 4), LAYOUT_AXIS_M);
    add(&shard, 4, 4, LAYOUT_AXIS_M);
    add(&shard, 32, 16, LAYOUT_AXIS_M);
    add(&shard, factors / 4, 512, LAYOUT_AXIS_M);
    add(&shard, 4, 1, LAYOUT_AXIS_M);
    return make(arena, &shard, &none, 0, error);
}

static const struct copy_row {
    const char *shape, *multicast;
    int outer, outer_step, rows, row_step; /* lanes: outer * outer_step + row * row_step */
    int copies, copy_step;
} copy_rows[] = {
    {"128x256b", "", 1, 0, 128, 1, 1, 0},
    {"4x256b", "", 1, 0, 4, 32, 1, 0},
    {"128x128b", "", 1, 0, 128, 1, 1, 0},
    {"64x128b", "warpx2::02_13", 1, 0, 64, 1, 2, 64},
    {"64x128b", "warpx2::01_23", 2, 64, 32, 1, 2, 32},
    {"32x128b", "warpx4", 1, 0, 32, 1, 4, 32},
};

const layout_tile *layout_tmem_copy(base_arena *arena, const char *shape, const char *multicast,
                                    int64_t columns, layout_error *error) {
    for (unsigned i = 0; i < sizeof copy_rows / sizeof copy_rows[0]; i++) {
        const struct copy_row *row = &copy_rows[i];
        if (strcmp(row->shape, shape) != 0 || strcmp(row->multicast, multicast) != 0)
            continue;
        list shard = none, replica = none;
        if (row->outer > 1)
            add(&shard, row->outer, row->outer_step, LAYOUT_AXIS_TLANE);
        add(&shard, row->rows, row->row_step, LAYOUT_AXIS_TLANE);
        add(&shard, columns, 1, LAYOUT_AXIS_TCOL);
        if (row->copies > 1)
            add(&replica, row->copies, row->copy_step, LAYOUT_AXIS_TLANE);
        return make(arena, &shard, &replica, 0, error);
    }
    return layout_refuse(arena, error,
                         "tcgen05.cp has no form %.20s%s%.20s; it has 128x256b, 4x256b, 128x128b, "
                         "64x128b.warpx2::02_13, 64x128b.warpx2::01_23 and 32x128b.warpx4",
                         shape, *multicast != 0 ? "." : "", multicast);
}

const layout_tile *layout_wg_local(base_arena *arena, int64_t rows, int64_t columns, layout_error *error) {
    list shard = none;
    if (rows > 128)
        return layout_refuse(arena, error, "a warpgroup has 128 threads, one row each, not %lld",
                             (long long)rows);
    add(&shard, rows, 1, LAYOUT_AXIS_TID_IN_WG);
    add(&shard, columns, 1, LAYOUT_AXIS_M);
    return make(arena, &shard, &none, 0, error);
}
