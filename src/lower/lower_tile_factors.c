/* SPDX-License-Identifier: Apache-2.0
 * Scale factors of gemm_async: SFA and SFB in tensor memory (PTX ISA 9.7.16.10.7). The factors of row i stand
 * in lane i % 32 of every window of 32 lanes, i / 32 cells further, one after the other in the bytes of a
 * cell. Must not know which elements they scale. */
#include "layout/query.h"
#include "lower/lower_tile_mma.h"

enum { WINDOW = 32, PER_CELL = 4 };

/* What one of them must be. */
typedef struct demand {
    const char *word;
    int64_t rows, steps, per;
    bool in_halves; /* the second half of the rows is 64 lanes on: pairs with M = 128 */
} demand;

const char *lower_tile_factors_read(lower_tile *op, lower_tile_mma *p) {
    const ir_expr *a = lower_tile_attribute(op, "SFA", 0), *b = lower_tile_attribute(op, "SFB", 0);
    p->is_scaled = a || b;
    if (!p->is_scaled)
        return NULL;
    if (!a || !b)
        return "SFA= and SFB= come together";
    if (!lower_tile_read_region(op->context, a, &p->sfa) || !lower_tile_read_region(op->context, b, &p->sfb))
        return "SFA= and SFB= are parts of at most 16 axes, none of them empty";
    const lower_tile_region *wrong = p->sfa.tensor->type.scope != IR_SCOPE_TMEM   ? &p->sfa
                                     : p->sfb.tensor->type.scope != IR_SCOPE_TMEM ? &p->sfb
                                                                                  : NULL;
    if (wrong)
        return base_arena_format(
            op->context->arena,
            "the scale factors '%s' must be in tensor memory, not in %s: copy_async takes "
            "them there from shared memory",
            wrong->tensor->name, ir_scope_name(wrong->tensor->type.scope));
    if (p->sfa.rank < 2 || p->sfb.rank < 2)
        return "scale factors have two axes, rows and factors along K";
    return NULL;
}

static const char *misplaced(lower_tile *op, const demand *want, const lower_tile_region *region) {
    base_arena *arena = op->context->arena;
    return base_arena_format(
        arena,
        "%s: '%s' lies at %s, and factors of %lld rows, %lld for an instruction, are read from %s%lld, "
        "%lld, %lld%s",
        want->word, region->tensor->name,
        region->tensor->type.layout ? layout_text_of(arena, region->tensor->type.layout)
                                    : "a lane for each row",
        (long long)want->rows, (long long)want->per,
        want->in_halves ? "lane i % 32 of each half of the lanes, a half of the rows in each: sf_tmem_layout("
                        : "sf_tmem_layout(",
        (long long)(want->rows + WINDOW - 1) / WINDOW * WINDOW, (long long)(want->steps * want->per),
        (long long)want->per,
        want->in_halves ? ") has every row in each" : "), as TMEMPool.alloc_sf gives it");
}

/* Whether row and factor stand where they are read; sets *first at row 0. */
static bool stands(const layout_map *map, uint32_t rank, const demand *want, int64_t into, int64_t row,
                   int64_t factor, int64_t *first) {
    int64_t coordinate[LOWER_TILE_AXES] = {0}, position[LAYOUT_AXIS_COUNT], at[LAYOUT_AXIS_COUNT] = {0};
    coordinate[rank - 2] = row;
    coordinate[rank - 1] = factor;
    layout_map_at(map, coordinate, position);
    for (uint32_t a = 0; a < map->axis_count; a++)
        at[map->axes[a]] = position[a];
    bool upper = want->in_halves && row >= want->rows / 2;
    int64_t along = upper ? row - want->rows / 2 : row, s = factor % want->per;
    int64_t column = at[LAYOUT_AXIS_TCOL] + into - s - along / WINDOW * PER_CELL;
    if (row == 0 && s == 0)
        *first = column;
    return at[LAYOUT_AXIS_TLANE] == along % WINDOW + 64 * upper && column == *first &&
           column % want->per == 0;
}

static const char *place(lower_tile *op, const demand *want, const lower_tile_region *region,
                         lower_tile_factors *out) {
    base_arena *arena = op->context->arena;
    layout_error error = {NULL};
    uint32_t rank = region->rank;
    int64_t rows = region->size[rank - 2], columns = region->size[rank - 1];
    int64_t whole = (want->rows + WINDOW - 1) / WINDOW * WINDOW, *first;
    for (uint32_t i = 0; i + 2 < rank; i++)
        if (region->size[i] != 1)
            return base_arena_format(arena, "%s: '%s' has more than two extents over 1", want->word,
                                     region->tensor->name);
    if ((rows != want->rows && (rows != whole || want->in_halves)) || columns != want->steps * want->per)
        return base_arena_format(
            arena,
            "%s: the region of '%s' is (%lld, %lld); of %lld rows and %lld steps of K with %lld "
            "factors it is (%lld, %lld)",
            want->word, region->tensor->name, (long long)rows, (long long)columns, (long long)want->rows,
            (long long)want->steps, (long long)want->per, (long long)want->rows,
            (long long)(want->steps * want->per));
    const char *reason = lower_tile_tmem_part(op, region, &out->cells);
    if (reason)
        return reason;
    if (out->cells.into == PER_CELL)
        return base_arena_format(arena, "%s: which byte of a cell the region of '%s' starts at must be known",
                                 want->word, region->tensor->name);
    const layout_map *map = layout_map_make(arena, out->cells.layout, region->size, rank, &error);
    unsigned windows = want->in_halves ? 3 : 15;
    if (!map || lower_tile_windows(out->cells.layout) != windows)
        return misplaced(op, want, region);
    int64_t into = out->cells.into;
    out->first = first = BASE_NEW_ARRAY(arena, int64_t, want->steps);
    for (int64_t step = 0; step < want->steps; step++)
        for (int64_t row = 0; row < want->rows; row++)
            for (int64_t s = 0; s < want->per; s++)
                if (!stands(map, rank, want, into, row, step * want->per + s, &first[step]))
                    return misplaced(op, want, region);
    return NULL;
}

const char *lower_tile_factors_place(lower_tile *op, lower_tile_mma *p) {
    bool halves = p->group == 2 && p->m == 64;
    demand want = {"SFA", p->m, p->k / p->depth, p->per, false};
    const char *reason = place(op, &want, &p->sfa, &p->a_factors);
    if (reason)
        return reason;
    want.word = "SFB";
    want.rows = p->n;
    want.in_halves = halves;
    return place(op, &want, &p->sfb, &p->b_factors);
}

uint32_t lower_tile_factors_bits(const lower_tile_mma *p, int64_t step) {
    return p->is_scaled ? (uint32_t)(p->b_factors.first[step] % PER_CELL) << 4 |
                              (uint32_t)(p->a_factors.first[step] % PER_CELL) << 29
                        : 0;
}
