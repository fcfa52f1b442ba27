/* SPDX-License-Identifier: Apache-2.0
 * From a layout to two grids. The logical grid has the last dimension as columns and the others as rows. In
 * the physical grid registers and columns of tensor memory run to the right, threads and lanes down; a layout
 * on m alone is broken into rows, of 128 bytes when the element's width is known, so that columns are banks.
 */
#include "layout/tmem.h"
#include "view/view.h"
#include <string.h>

enum { ALL_BANKS_BITS = 1024 };
#define FAR (INT64_C(1) << 60)

static void say(view_figure *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(view_figure *f, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = base_arena_format_list(f->arena, format, arguments);
    va_end(arguments);
    base_vector_push(f->arena, &f->words, text);
}

static void *refuse(base_arena *arena, layout_error *error, const char *text, int64_t count, int64_t limit) {
    layout_refuse(arena, error, "%s: %lld; a picture shows at most %lld", text, (long long)count,
                  (long long)limit);
    return NULL;
}

/* The number, and the longest iter that is to blame for it. */
static void *too_many(base_arena *arena, layout_error *error, const layout_tile *layout, int64_t total) {
    const layout_iter *longest = NULL;
    const char *what = "shard";
    uint32_t place = 0;
    for (uint32_t i = 0; i < layout->shard_count + layout->replica_count; i++) {
        bool shard = i < layout->shard_count;
        const layout_iter *iter = shard ? &layout->shard[i] : &layout->replica[i - layout->shard_count];
        if (longest && iter->extent <= longest->extent)
            continue;
        longest = iter;
        what = shard ? "shard" : "replica";
        place = shard ? i : i - layout->shard_count;
    }
    layout_refuse(
        arena, error,
        "elements to draw, copies included: %lld; a picture shows at most %d; %s iter %u alone has %lld",
        (long long)total, VIEW_ELEMENT_LIMIT, what, (unsigned)place,
        longest ? (long long)longest->extent : 1LL);
    return NULL;
}

/* Replica copies of one element. */
static bool copy_count(const layout_tile *layout, int64_t *count) {
    *count = 1;
    for (uint32_t i = 0; i < layout->replica_count; i++)
        if (__builtin_mul_overflow(*count, layout->replica[i].extent, count))
            return false;
    return true;
}

static bool is_column_axis(layout_axis axis) {
    return axis == LAYOUT_AXIS_M || axis == LAYOUT_AXIS_TCOL || axis == LAYOUT_AXIS_F;
}

/* Extremes of every axis over all elements and copies. */
static void find_bounds(const layout_map *map, int64_t *low, int64_t *high) {
    for (uint32_t s = 0; s < map->axis_count; s++)
        low[s] = high[s] = map->origin[s];
    const layout_tile *layout = map->layout;
    for (uint32_t i = 0; i < layout->shard_count + layout->replica_count; i++) {
        const layout_iter *iter =
            i < layout->shard_count ? &layout->shard[i] : &layout->replica[i - layout->shard_count];
        int64_t reach = (iter->extent - 1) * iter->stride;
        for (uint32_t s = 0; s < map->axis_count; s++)
            if (map->axes[s] == iter->axis) {
                low[s] += reach < 0 ? reach : 0;
                high[s] += reach > 0 ? reach : 0;
            }
    }
    if (layout->swizzle.present) { /* anywhere in the periods that it touches */
        int64_t period = layout_swizzle_period(layout->swizzle);
        low[map->m_slot] -= low[map->m_slot] % period;
        high[map->m_slot] += period - 1 - high[map->m_slot] % period;
    }
}

static bool place_axes(view_figure *f, unsigned bits, layout_error *error) {
    const layout_map *map = f->map;
    view_placement *p = &f->placement;
    int64_t low[LAYOUT_AXIS_COUNT], high[LAYOUT_AXIS_COUNT], rows = 1;
    find_bounds(map, low, high);
    for (uint32_t s = 0; s < map->axis_count; s++)
        if (low[s] < -FAR || high[s] > FAR)
            return refuse(f->arena, error,
                          base_arena_format(f->arena, "the farthest place on axis %s",
                                            layout_axis_name(map->axes[s])),
                          high[s] > FAR ? high[s] : -low[s], FAR) != NULL;
    p->column_slot = map->axis_count;
    for (uint32_t s = 0; s < map->axis_count; s++)
        if (is_column_axis(map->axes[s]) && p->column_slot == map->axis_count)
            p->column_slot = s;
    for (uint32_t s = 0; s < map->axis_count; s++) {
        if (s == p->column_slot)
            continue;
        /* Lanes of tensor memory and of warps are shown from 0 on, all of a window. */
        if (low[s] > 0 && !is_column_axis(map->axes[s]))
            low[s] -= low[s] % 32;
        int64_t span = high[s] - low[s] + 1;
        if (map->axes[s] == LAYOUT_AXIS_TLANE && low[s] >= 0 && high[s] < LAYOUT_TMEM_LANES) {
            low[s] = 0;
            span = LAYOUT_TMEM_LANES;
        }
        p->rows[p->row_count++] = (view_row_axis){s, low[s], span};
        if (span > VIEW_CELL_LIMIT || (rows *= span) > VIEW_CELL_LIMIT)
            return refuse(f->arena, error,
                          base_arena_format(f->arena, "rows of the physical grid, down to axis %s",
                                            layout_axis_name(map->axes[s])),
                          rows, VIEW_CELL_LIMIT) != NULL;
    }
    int64_t columns = 1;
    if (p->column_slot < map->axis_count) {
        p->column_low = low[p->column_slot];
        if (__builtin_sub_overflow(high[p->column_slot], p->column_low, &columns) ||
            columns >= VIEW_CELL_LIMIT)
            return refuse(f->arena, error,
                          base_arena_format(f->arena, "places on axis %s",
                                            layout_axis_name(map->axes[p->column_slot])),
                          columns, VIEW_CELL_LIMIT) != NULL;
        columns++;
    }
    p->column_span = columns;
    if (p->row_count == 0 && p->column_slot < map->axis_count) {
        int64_t width = bits != 0 && ALL_BANKS_BITS % bits == 0 ? ALL_BANKS_BITS / bits : f->logical.columns;
        p->wraps = true;
        p->column_low -= p->column_low % width + (p->column_low % width < 0 ? width : 0);
        rows = (high[p->column_slot] - p->column_low) / width + 1;
        columns = p->column_span = width;
    }
    if (rows * columns > VIEW_CELL_LIMIT)
        return refuse(f->arena, error, "cells of the physical grid", rows * columns, VIEW_CELL_LIMIT) != NULL;
    f->physical.rows = rows;
    f->physical.columns = columns;
    return true;
}

/* The cell of a position. */
static void cell_of(const view_placement *p, const int64_t *position, int64_t *row, int64_t *column) {
    *row = 0;
    for (uint32_t i = 0; i < p->row_count; i++)
        *row = *row * p->rows[i].span + position[p->rows[i].slot] - p->rows[i].low;
    *column = p->column_span == 1 && !p->wraps ? 0 : position[p->column_slot] - p->column_low;
    if (p->wraps) {
        *row = *column / p->column_span;
        *column %= p->column_span;
    }
}

static void make_cells(view_figure *f, view_grid *g, bool marks) {
    size_t count = (size_t)(g->rows * g->columns);
    g->colour = BASE_NEW_ARRAY(f->arena, uint8_t, count);
    g->element = BASE_NEW_ARRAY(f->arena, int32_t, count);
    g->mark = marks ? BASE_NEW_ARRAY(f->arena, uint8_t, count) : NULL;
    memset(g->colour, VIEW_EMPTY, count);
    for (size_t i = 0; i < count; i++)
        g->element[i] = -1;
}

/* Few threads: by lane, quads of one hue. Many: by warp, shades by 8 lanes. Memory: by 16-byte chunk of the
 * 128 bytes when they are known, else by row. */
static uint8_t colour_of(const view_figure *f, unsigned bits, int64_t row, int64_t column) {
    const view_placement *p = &f->placement;
    if (p->wraps && bits != 0) {
        int64_t chunk = column * bits / 128;
        return (uint8_t)(chunk % 8 * 4 + row % 4);
    }
    if (p->wraps && f->map->layout->swizzle.present)
        return (uint8_t)((column >> f->map->layout->swizzle.per_element) % 8 * 4 + row % 4);
    if (p->wraps)
        return (uint8_t)(row % 8 * 4 + 4 * column / p->column_span);
    if (f->physical.rows > 32)
        return (uint8_t)(row / 32 % 8 * 4 + row % 32 / 8);
    return (uint8_t)(row / 4 % 8 * 4 + row % 4);
}

static void fill(view_figure *f, unsigned bits, int64_t copies) {
    const layout_map *map = f->map;
    int64_t *coordinate = BASE_NEW_ARRAY(f->arena, int64_t, (size_t)map->rank + 1);
    int64_t *places = BASE_NEW_ARRAY(f->arena, int64_t, (size_t)(copies * map->axis_count) + 1);
    for (int64_t k = 0; k < map->size; k++) {
        layout_map_coordinate(map, k, coordinate);
        layout_map_copies(map, coordinate, copies, places);
        for (int64_t c = copies; c-- > 0;) {
            int64_t row = 0, column = 0;
            cell_of(&f->placement, places + c * map->axis_count, &row, &column);
            int64_t cell = row * f->physical.columns + column;
            uint8_t colour = colour_of(f, bits, row, column);
            if (f->physical.element[cell] < 0 || f->physical.element[cell] > k)
                f->physical.element[cell] = (int32_t)k; /* of several elements, the first */
            f->physical.colour[cell] = colour;
            f->logical.colour[k] = colour; /* the base copy, done last */
        }
        f->logical.element[k] = (int32_t)k;
    }
}

static void shape_logical(view_figure *f) {
    const layout_map *map = f->map;
    view_grid *g = &f->logical;
    g->columns = map->rank == 0 ? 1 : map->shape[map->rank - 1];
    if (map->rank == 1 && g->columns > 16) { /* one dimension is broken into rows */
        int64_t width = g->columns > 1024 ? 64 : 16;
        g->columns = width;
    }
    g->rows = (map->size + g->columns - 1) / g->columns;
    g->row_step = map->rank == 1 ? g->columns : 1;
    g->column_step = g->column_parts = 1;
    g->row_name = map->rank < 2 ? "" : map->rank == 2 ? "i" : "rows";
    g->column_name = map->rank == 2 ? "j" : map->rank == 1 ? "i" : "last";
    base_builder name;
    base_builder_start(&name, f->arena);
    base_builder_string(&name, "logical, shape (");
    for (uint32_t d = 0; d < map->rank; d++)
        base_builder_format(&name, d == 0 ? "%lld" : ", %lld", (long long)map->shape[d]);
    base_builder_string(&name, ")");
    g->name = name.data;
}

static const char *axis_words(layout_axis axis) {
    switch (axis) {
    case LAYOUT_AXIS_LANEID:
        return "lane";
    case LAYOUT_AXIS_TX:
        return "thread";
    case LAYOUT_AXIS_TID_IN_WG:
        return "thread of warpgroup";
    case LAYOUT_AXIS_WARPID:
    case LAYOUT_AXIS_WID_IN_WG:
        return "warp";
    case LAYOUT_AXIS_TCOL:
        return "TMEM column";
    case LAYOUT_AXIS_TLANE:
        return "TMEM lane";
    default:
        return layout_axis_name(axis);
    }
}

static void name_physical(view_figure *f, unsigned bits) {
    const layout_map *map = f->map;
    const view_placement *p = &f->placement;
    view_grid *g = &f->physical;
    base_builder rows;
    base_builder_start(&rows, f->arena);
    bool threads = false;
    for (uint32_t i = 0; i < p->row_count; i++) {
        base_builder_format(&rows, i == 0 ? "%s" : " / %s", axis_words(map->axes[p->rows[i].slot]));
        threads = threads || layout_axis_is_thread(map->axes[p->rows[i].slot]);
    }
    g->row_name = p->wraps ? "m" : rows.data;
    g->row_first = p->wraps ? p->column_low : p->row_count == 1 ? p->rows[0].low : 0;
    g->row_step = p->wraps ? p->column_span : 1;
    g->column_step = p->wraps && bits != 0 ? bits : 1;
    g->column_parts = p->wraps && bits != 0 ? 32 : 1;
    g->column_first = p->wraps ? 0 : p->column_low;
    g->column_name = p->column_slot >= map->axis_count ? ""
                     : p->wraps && bits != 0           ? "bank"
                     : p->wraps                        ? layout_axis_name(map->axes[p->column_slot])
                     : threads && map->axes[p->column_slot] == LAYOUT_AXIS_M
                         ? "register slot"
                         : axis_words(map->axes[p->column_slot]);
    f->place_words = p->wraps ? layout_axis_name(map->axes[p->column_slot])
                              : base_arena_format(f->arena, "%s%s%s", g->row_name, *g->column_name ? ":" : "",
                                                  g->column_name);
    if (p->wraps && bits != 0)
        g->name =
            base_arena_format(f->arena, "memory, rows of 128 bytes (32 banks), %u bits per element", bits);
    else if (p->wraps)
        g->name = base_arena_format(f->arena, "memory on %s, rows of %lld", f->place_words,
                                    (long long)p->column_span);
    else
        g->name =
            base_arena_format(f->arena, "physical, %s down%s%s", g->row_name, *g->column_name ? ", " : "",
                              *g->column_name ? base_arena_format(f->arena, "%s right", g->column_name) : "");
    /* Windows of 32 lanes: warps. */
    layout_axis axis = p->row_count == 1 ? map->axes[p->rows[0].slot] : LAYOUT_AXIS_M;
    if (axis == LAYOUT_AXIS_TLANE ||
        ((axis == LAYOUT_AXIS_TX || axis == LAYOUT_AXIS_TID_IN_WG) && g->rows > 32))
        for (int64_t w = 0; w * 32 < g->rows; w++) {
            int64_t last = w * 32 + 31 < g->rows ? w * 32 + 31 : g->rows - 1;
            view_band band = {w * 32, last,
                              base_arena_format(f->arena,
                                                axis == LAYOUT_AXIS_TLANE ? "warp %lld window" : "warp %lld",
                                                (long long)(w + g->row_first / 32))};
            base_vector_push(f->arena, &g->bands, band);
        }
}

static void describe(view_figure *f, int64_t copies) {
    const layout_map *map = f->map;
    layout_collision collision;
    layout_answer injective = layout_injective(map, &collision);
    say(f,
        "%lld elements%s%s. A cell on the left says where it lives (%s); a cell on the right says which "
        "element it holds.",
        (long long)map->size,
        copies > 1 ? base_arena_format(f->arena, ", each in %lld copies", (long long)copies) : "",
        map->layout->swizzle.present ? ", swizzled" : "", f->place_words);
    if (injective == LAYOUT_NO) {
        base_builder text;
        base_builder_start(&text, f->arena);
        base_builder_string(&text, "Not injective: ");
        view_coordinate(f, collision.first, false, &text);
        base_builder_string(&text, " and ");
        view_coordinate(f, collision.second, false, &text);
        base_builder_string(&text, " share a place; cells show the first.");
        base_vector_push(f->arena, &f->words, text.data);
    }
}

static void mark_access(view_figure *f, const view_options *options) {
    const layout_banks *banks = options->banks;
    int64_t each = options->bits == 0 ? 1 : (int64_t)options->bank_width * 8 / options->bits;
    for (uint32_t lane = 0; lane < options->bank_lanes; lane++)
        for (int64_t k = 0; k < each; k++) {
            int64_t element = options->bank_elements[lane] + k, row = 0, column = 0;
            int64_t *coordinate = BASE_NEW_ARRAY(f->arena, int64_t, f->map->rank),
                    position[LAYOUT_AXIS_COUNT];
            layout_map_coordinate(f->map, element, coordinate);
            layout_map_at(f->map, coordinate, position);
            cell_of(&f->placement, position, &row, &column);
            f->logical.mark[element] = (uint8_t)(lane + 1);
            f->physical.mark[row * f->physical.columns + column] = (uint8_t)(lane + 1);
        }
    say(f,
        "The outlined access of %u lanes, %u bytes each, takes %u pass%s of shared memory; without bank "
        "conflicts %u.",
        (unsigned)options->bank_lanes, options->bank_width, (unsigned)banks->wavefronts,
        banks->wavefronts == 1 ? "" : "es", (unsigned)banks->ideal);
}

static view_figure *start(base_arena *arena, const layout_map *map, const view_options *options,
                          layout_error *error) {
    view_figure *f = BASE_NEW(arena, view_figure);
    int64_t copies = 0, total = 0;
    f->arena = arena;
    f->map = map;
    if (!copy_count(map->layout, &copies) || __builtin_mul_overflow(copies, map->size, &total))
        total = INT64_MAX;
    if (total > VIEW_ELEMENT_LIMIT)
        return too_many(arena, error, map->layout, total);
    f->title = options->title != NULL ? options->title : layout_text_of(arena, map->layout);
    shape_logical(f);
    if (!place_axes(f, options->bits, error))
        return NULL;
    make_cells(f, &f->logical, options->banks != NULL);
    make_cells(f, &f->physical, options->banks != NULL);
    name_physical(f, options->bits);
    fill(f, options->bits, copies);
    describe(f, copies);
    if (options->banks != NULL)
        mark_access(f, options);
    return f;
}

const view_figure *view_layout(base_arena *arena, const layout_map *map, const view_options *options,
                               layout_error *error) {
    /* Thread axes of one scope chain are shown as one: warp and lane as the thread. */
    const layout_tile *fused = layout_canonical_fused(arena, map->layout, NULL);
    const layout_map *shown = map;
    view_options named = *options;
    if (named.title == NULL)
        named.title = layout_text_of(arena, map->layout);
    if (fused != NULL && layout_has_thread_axis(fused))
        shown = layout_map_make(arena, fused, map->shape, map->rank, error);
    return shown == NULL ? NULL : start(arena, shown, &named, error);
}

const view_figure *view_fragment(base_arena *arena, const layout_fragment_request *request, const char *name,
                                 layout_error *error) {
    const layout_tile *tile = request->tile;
    if (tile == NULL) {
        layout_transfer beside = request->transfer;
        beside.split = 0;
        tile = layout_transfer_layout(arena, &beside, error);
    }
    layout_scope narrow, wide;
    if (tile != NULL && !request->is_transfer && layout_scopes(arena, tile, &narrow, &wide, NULL) &&
        wide == LAYOUT_SCOPE_WARPGROUP) /* warp and lane as one thread of the warpgroup */
        tile = layout_canonical_fused(arena, tile, error);
    const layout_map *map = tile == NULL ? NULL : layout_map_make(arena, tile, request->shape, 2, error);
    if (map == NULL)
        return NULL;
    view_figure *f = start(arena, map, &(view_options){.title = name}, error);
    if (f == NULL)
        return NULL;
    f->fragment = true;
    f->packed = request->is_transfer && request->transfer.pack;
    const char *reading = f->words.items[0]; /* how to read the grids comes last */
    f->words.count = 0;
    for (uint32_t i = 0; i < request->word_count; i++)
        say(f, "%s", request->words[i]);
    if (request->is_transfer) {
        f->logical.name = base_arena_format(arena, "tensor memory, %d lanes x %d columns",
                                            request->size.lanes, request->size.columns);
        f->logical.row_name = "lane";
        f->logical.column_name = "column";
        f->physical.name = base_arena_format(arena, "registers, 32 threads x %d", request->size.registers);
        f->physical.row_name = "thread";
        f->physical.column_name = f->packed ? "register half" : "register";
        f->place_words = f->packed ? "thread:register half" : "thread:register";
        say(f,
            "A cell on the left says where it goes (%s); a cell on the right says which lane and column it "
            "holds.",
            f->place_words);
    } else {
        say(f, "%s", reading);
    }
    return f;
}

/* ---- words ---- */
void view_coordinate(const view_figure *f, int64_t element, bool brief, base_builder *out) {
    const layout_map *map = f->map;
    int64_t weight = map->size;
    base_builder_string(out, brief ? "" : "(");
    for (uint32_t d = 0; d < map->rank; d++) {
        weight /= map->shape[d];
        base_builder_format(out,
                            d == 0  ? "%lld"
                            : brief ? ",%lld"
                                    : ", %lld",
                            (long long)(element / weight % map->shape[d]));
    }
    base_builder_string(out, brief ? "" : ")");
}

void view_place(const view_figure *f, int64_t element, bool brief, base_builder *out) {
    const layout_map *map = f->map;
    const view_placement *p = &f->placement;
    int64_t *coordinate = BASE_NEW_ARRAY(f->arena, int64_t, (size_t)map->rank + 1),
            position[LAYOUT_AXIS_COUNT];
    layout_map_coordinate(map, element, coordinate);
    layout_map_at(map, coordinate, position);
    if (!brief) { /* rows first, then the column */
        for (uint32_t i = 0; i < map->axis_count; i++) {
            uint32_t slot = i < p->row_count ? p->rows[i].slot : p->column_slot;
            base_builder_format(out, i == 0 ? "%s %lld" : ", %s %lld",
                                f->fragment && slot == p->column_slot ? f->physical.column_name
                                                                      : axis_words(map->axes[slot]),
                                (long long)position[slot]);
        }
        return;
    }
    for (uint32_t i = 0; i < p->row_count; i++)
        base_builder_format(out, i == 0 ? "%lld" : "/%lld", (long long)position[p->rows[i].slot]);
    if (p->column_slot < map->axis_count)
        base_builder_format(out, p->row_count == 0 ? "%lld" : ":%lld", (long long)position[p->column_slot]);
}
