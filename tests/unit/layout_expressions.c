/* SPDX-License-Identifier: Apache-2.0
 * Every vector of layout_expressions.def: a small evaluator of their expressions on top of the library.
 * covers: A12 A16 A17 A20 A23 B6 B7 B26 B28 B30 */
#include "unit/unit.h"
#include "layout/fragment.h"
#include "layout/pool.h"
#include "layout/query.h"
#include "layout/shared.h"
#include "layout/tmem.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    K_ERROR,
    K_NONE,
    K_BOOL,
    K_INT,
    K_TEXT,
    K_LIST,
    K_LAYOUT,
    K_PLACE,
    K_SCOPES,
    K_POOL
} kind;
typedef struct value {
    kind kind;
    int64_t number;
    const char *text;
    struct value *items;
    uint32_t count;
    const layout_tile *layout;
    layout_pool *pool;
    int64_t position[LAYOUT_AXIS_COUNT];
    uint32_t axes;
} value;

typedef struct evaluator {
    base_arena *arena;
    const char *at;
    int64_t i; /* the loop variable */
    layout_error error;
} evaluator;

typedef struct arguments {
    value items[8];
    uint32_t count;
    value shape;
    bool has_shape, cuda;
} arguments;

static value evaluate(evaluator *e);

static value number(int64_t n) {
    return (value){.kind = K_INT, .number = n};
}
static value boolean(bool b) {
    return (value){.kind = K_BOOL, .number = b};
}
static value of_layout(evaluator *e, const layout_tile *layout) {
    (void)e;
    return layout == NULL ? (value){.kind = K_ERROR} : (value){.kind = K_LAYOUT, .layout = layout};
}
/* NULL with a text is a refusal, without one a "no". */
static value answer(evaluator *e, const layout_tile *layout) {
    return layout == NULL && e->error.text == NULL ? (value){.kind = K_NONE} : of_layout(e, layout);
}
static value list_of(evaluator *e, const int64_t *numbers, uint32_t count) {
    value v = {.kind = K_LIST, .count = count, .items = BASE_NEW_ARRAY(e->arena, value, count + 1)};
    for (uint32_t i = 0; i < count; i++)
        v.items[i] = number(numbers[i]);
    return v;
}
static const int64_t *numbers(evaluator *e, const value *list) {
    assert_int_equal(list->kind, K_LIST);
    int64_t *out = BASE_NEW_ARRAY(e->arena, int64_t, list->count + 1);
    for (uint32_t i = 0; i < list->count; i++)
        out[i] = list->items[i].number;
    return out;
}

static void space(evaluator *e) {
    while (*e->at == ' ')
        e->at++;
}
static bool take(evaluator *e, const char *token) {
    space(e);
    if (strncmp(e->at, token, strlen(token)) != 0)
        return false;
    e->at += strlen(token);
    return true;
}
static void need(evaluator *e, const char *token) {
    if (!take(e, token))
        fail_msg("expected %s at %s", token, e->at);
}

static const layout_tile *read(evaluator *e, const char *text) {
    size_t consumed = 0;
    const layout_tile *layout = layout_parse(e->arena, text, strlen(text), &consumed, &e->error);
    if (layout == NULL || text[consumed] != 0)
        fail_msg("%s: %s", text, e->error.text);
    return layout;
}

static void read_arguments(evaluator *e, arguments *a) {
    memset(a, 0, sizeof *a);
    while (!take(e, ")")) {
        if (take(e, "shape=")) {
            a->shape = evaluate(e);
            a->has_shape = true;
        } else if (take(e, "cuda=True")) {
            a->cuda = true;
        } else {
            assert_true(a->count < 8);
            a->items[a->count++] = evaluate(e);
        }
        take(e, ",");
    }
}

/* ---- factories ---- */
static unsigned bits_of(const char *dtype) {
    static const struct {
        const char *name;
        unsigned bits;
    } rows[] = {
        {"float16", 16}, {"bfloat16", 16}, {"float32", 32}, {"float8_e4m3fn", 8}, {"float4_e2m1fn", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, dtype) == 0)
            return rows[i].bits;
    fail_msg("no dtype %s", dtype);
    return 0;
}

static layout_movement movement_of(const char *name) {
    layout_movement movement = LAYOUT_MOVEMENT_32X32B;
    assert_true(layout_movement_find(name, strlen(name), &movement));
    return movement;
}

static value apply(evaluator *e, const layout_tile *layout, const int64_t *coordinate, uint32_t rank,
                   const int64_t *shape) {
    value v = {.kind = K_PLACE};
    if (!layout_apply(layout, coordinate, rank, shape, v.position, &v.axes, &e->error, e->arena))
        v.kind = K_ERROR;
    return v;
}

static bool same_slice(evaluator *e, const layout_tile *layout, const value *shape, const value *region) {
    int64_t begin[4], end[4], extent[4], c[4], full[4];
    uint32_t rank = shape->count;
    for (uint32_t d = 0; d < rank; d++) {
        begin[d] = region->items[d].items[0].number;
        end[d] = region->items[d].items[1].number;
        extent[d] = end[d] - begin[d];
    }
    const layout_tile *slice = layout_slice(e->arena, layout, numbers(e, shape), rank, begin, end, &e->error);
    if (slice == NULL)
        return false;
    const layout_map *map = layout_map_make(e->arena, slice, extent, rank, &e->error);
    assert_non_null(map);
    for (int64_t k = 0; k < map->size; k++) {
        layout_map_coordinate(map, k, c);
        for (uint32_t d = 0; d < rank; d++)
            full[d] = begin[d] + c[d];
        value a = apply(e, layout, full, rank, numbers(e, shape)), b = apply(e, slice, c, rank, extent);
        if (memcmp(a.position, b.position, sizeof a.position) != 0)
            return false;
    }
    return true;
}

static bool atom_matches(evaluator *e, const char *shape, int count) {
    layout_transfer transfer = {.movement = movement_of(shape), .count = count};
    layout_transfer_size size;
    assert_true(layout_transfer_measure(e->arena, &transfer, &size, NULL));
    int64_t whole[2] = {64, size.columns};
    const layout_tile *atom =
        layout_tcgen05_atom(e->arena, transfer.movement, 64, size.columns, 32, &e->error);
    assert_non_null(atom);
    for (int thread = 0; thread < 128; thread++)
        for (int r = 0; r < size.registers; r++) {
            int row = 0;
            int64_t at[2];
            layout_transfer_cell(&transfer, thread % 32, r, &row, &at[1]);
            at[0] = row + 16 * (thread / 32);
            value v = apply(e, atom, at, 2, whole);
            if (v.position[LAYOUT_AXIS_WID_IN_WG] != thread / 32 ||
                v.position[LAYOUT_AXIS_LANEID] != thread % 32 || v.position[LAYOUT_AXIS_M] != r)
                return false;
        }
    return true;
}

static value wavefronts(evaluator *e, const layout_tile *layout, int64_t columns) {
    int64_t shape[2] = {8, columns}, result[64], rows[8];
    const layout_map *map = layout_map_make(e->arena, layout, shape, 2, &e->error);
    assert_non_null(map);
    for (int64_t c = 0; c < columns; c += 8) {
        layout_banks banks;
        for (int64_t r = 0; r < 8; r++)
            rows[r] = r * columns + c;
        assert_true(layout_bank_conflicts(e->arena, map, rows, 8, 16, 16, &banks, &e->error));
        result[c / 8] = banks.wavefronts;
    }
    return list_of(e, result, (uint32_t)(columns / 8));
}

static value cp_lanes(evaluator *e, const char *shape, const char *multicast, int64_t row) {
    const layout_tile *tile = layout_tmem_copy(e->arena, shape, multicast, 4, &e->error);
    int64_t size = 0, lanes[8], copies[8 * 2];
    assert_non_null(tile);
    assert_true(layout_size(tile, &size));
    int64_t whole[2] = {size / 4, 4}, at[2] = {row, 0};
    const layout_map *map = layout_map_make(e->arena, tile, whole, 2, &e->error);
    assert_non_null(map);
    int64_t count = layout_map_copies(map, at, 8, copies);
    assert_true(count <= 8);
    for (int64_t i = 0; i < count; i++)
        lanes[i] = copies[i * map->axis_count];
    assert_int_equal(map->axes[0], LAYOUT_AXIS_TLANE);
    return list_of(e, lanes, (uint32_t)count);
}

static value columns(evaluator *e, const layout_tile *layout, int64_t size) {
    int64_t out[32], zero = 0;
    uint32_t count = 0;
    int64_t origin = apply(e, layout, &zero, 1, &size).position[LAYOUT_AXIS_M];
    for (int64_t bit = 1; bit < size; bit *= 2)
        out[count++] = apply(e, layout, &bit, 1, &size).position[LAYOUT_AXIS_M] ^ origin;
    return list_of(e, out, count);
}

static value vector_of(evaluator *e, const layout_tile *layout, unsigned bits) {
    int64_t size = 0;
    assert_true(layout_size(layout, &size));
    const layout_map *map = layout_map_make(e->arena, layout, &size, 1, &e->error);
    assert_non_null(map);
    return number(layout_widest_vector(e->arena, map, bits, 16).elements);
}

/* Where the pool puts a row-major tensor. */
static int64_t place(evaluator *e, layout_pool *pool, const int64_t *shape, uint32_t rank, unsigned bits,
                     int64_t align) {
    const layout_tile *tile = layout_row_major(e->arena, shape, rank, &e->error);
    const layout_tile *placed = layout_pool_place(e->arena, pool, "tensor", tile, bits, align, &e->error);
    assert_non_null(placed);
    int64_t begin = pool->blocks.items[pool->blocks.count - 1].begin;
    assert_int_equal(placed->offset[LAYOUT_AXIS_M] * bits, begin * 8);
    return begin;
}

static value pool_demo(evaluator *e) {
    layout_pool pool = {0};
    int64_t result[4];
    result[0] = place(e, &pool, (int64_t[]){3}, 1, 32, 0);
    result[1] = place(e, &pool, (int64_t[]){128, 64}, 2, 16, 1024);
    result[2] = place(e, &pool, (int64_t[]){128}, 1, 32, 0);
    assert_true(layout_pool_move(e->arena, &pool, 1024, &e->error));
    assert_true(layout_pool_commit(e->arena, &pool, -1, &result[3], &e->error));
    return list_of(e, result, 4);
}

static value call(evaluator *e, const char *name, size_t size) {
    arguments a;
    read_arguments(e, &a);
    value *v = a.items;
#define IS(word) (size == sizeof word - 1 && memcmp(name, word, size) == 0)
    if (IS("L"))
        return of_layout(e, read(e, v[0].text));
    if (IS("Z")) {
        layout_swizzle z = {true, a.count > 4 && v[4].number == 0, (uint8_t)v[0].number, (uint8_t)v[1].number,
                            (uint8_t)v[2].number};
        return of_layout(e, layout_compose(e->arena, read(e, v[3].text), z, &e->error));
    }
    if (IS("mma_shared_layout"))
        return of_layout(e, layout_mma_shared(e->arena, (layout_mode)v[1].number, bits_of(v[0].text),
                                              numbers(e, &v[2]), v[2].count, &e->error));
    if (IS("check_mma_alloc")) {
        layout_mode mode;
        return layout_mma_choose(e->arena, (layout_mode)v[2].number, bits_of(v[1].text), numbers(e, &v[0]),
                                 v[0].count, &mode, &e->error)
                   ? boolean(true)
                   : (value){.kind = K_ERROR};
    }
    if (IS("tmem_datapath"))
        return of_layout(e, layout_tmem_datapath(e->arena, v[0].text[0], v[1].number, v[2].number,
                                                 a.count > 3 ? (int)v[3].number : 0, &e->error));
    if (IS("tcgen05_atom"))
        return of_layout(e, layout_tcgen05_atom(e->arena, movement_of(v[0].text), v[1].items[0].number,
                                                v[1].items[1].number,
                                                a.count > 2 ? (unsigned)v[2].number : 32, &e->error));
    if (IS("sf_tmem"))
        return of_layout(e, layout_tmem_scale_factors(e->arena, v[0].number, v[1].number, v[2].number,
                                                      a.count > 3 ? v[3].number : 1, 0, &e->error));
    if (IS("Pool"))
        return (value){.kind = K_POOL, .pool = BASE_NEW(e->arena, layout_pool)};
    if (IS("pool_demo"))
        return pool_demo(e);
    if (IS("pool_bytes")) {
        layout_pool pool = {0};
        place(e, &pool, numbers(e, &v[0]), v[0].count, (unsigned)v[1].number, 0);
        return number(pool.cursor);
    }
    if (IS("wgmma_acc"))
        return of_layout(e, layout_wgmma_accumulator(e->arena, v[0].number, &e->error));
    if (IS("same_slice"))
        return boolean(same_slice(e, v[0].layout, &v[1], &v[2]));
    if (IS("atom_matches_ptx"))
        return boolean(atom_matches(e, v[0].text, (int)v[1].number));
    if (IS("cp_lanes"))
        return cp_lanes(e, v[0].text, v[1].text, v[2].number);
    if (IS("ldmatrix_wavefronts"))
        return wavefronts(e, v[0].layout, v[1].number);
    if (IS("max_vector_fast"))
        return vector_of(e, v[0].layout, (unsigned)v[1].number);
    if (IS("gf2_columns"))
        return columns(e, v[0].layout, v[1].items[0].number);
    fail_msg("no function %.*s", (int)size, name);
    return (value){.kind = K_ERROR};
}

/* ---- methods ---- */
static value apply_call(evaluator *e, const layout_tile *layout, const arguments *a, bool image) {
    int64_t coordinate[8];
    for (uint32_t i = 0; i < a->count; i++)
        coordinate[i] = a->items[i].number;
    const int64_t *shape = a->has_shape ? numbers(e, &a->shape) : NULL;
    if (!image)
        return apply(e, layout, coordinate, a->count, shape);
    const layout_map *map = layout_map_make(e->arena, layout, shape, a->count, &e->error);
    assert_non_null(map);
    int64_t copies[16 * LAYOUT_AXIS_COUNT];
    int64_t count = layout_map_copies(map, coordinate, 16, copies);
    value v = {
        .kind = K_LIST, .count = (uint32_t)count, .items = BASE_NEW_ARRAY(e->arena, value, (size_t)count)};
    for (int64_t k = 0; k < count; k++) {
        v.items[k].kind = K_PLACE;
        v.items[k].axes = map->axis_mask;
        for (uint32_t s = 0; s < map->axis_count; s++)
            v.items[k].position[map->axes[s]] = copies[k * map->axis_count + s];
    }
    return v;
}

static value group_many(evaluator *e, const layout_tile *layout, const value *shapes) {
    const int64_t *lists[4];
    uint32_t ranks[4], *separators[4];
    for (uint32_t k = 0; k < shapes->count; k++) {
        lists[k] = numbers(e, &shapes->items[k]);
        ranks[k] = shapes->items[k].count;
    }
    const layout_tile *got =
        layout_group_many(e->arena, layout, shapes->count, lists, ranks, separators, &e->error);
    if (got == NULL)
        return (value){.kind = K_ERROR};
    value v = of_layout(e, got);
    v.count = shapes->count; /* beside the layout */
    v.items = BASE_NEW_ARRAY(e->arena, value, shapes->count);
    for (uint32_t k = 0; k < shapes->count; k++) {
        int64_t at[16];
        for (uint32_t i = 0; i <= ranks[k]; i++)
            at[i] = separators[k][i];
        v.items[k] = list_of(e, at, ranks[k] + 1);
    }
    return v;
}

static value slice(evaluator *e, const layout_tile *layout, const value *shape, const value *region) {
    int64_t begin[4], end[4];
    for (uint32_t d = 0; d < shape->count; d++) {
        begin[d] = region->items[d].items[0].number;
        end[d] = region->items[d].items[1].number;
    }
    const layout_tile *got =
        layout_slice(e->arena, layout, numbers(e, shape), shape->count, begin, end, &e->error);
    return got == NULL ? (value){.kind = K_NONE} : of_layout(e, got);
}

static value tiles(evaluator *e, const layout_tile *self, const char *name, size_t size, arguments *a) {
    value *v = a->items;
    const int64_t *first = numbers(e, &v[1]), *second = numbers(e, &v[2]);
    uint32_t rank = v[2].count;
    if (IS("tile"))
        return of_layout(
            e, layout_product(e->arena, self, v[0].layout, first, second, rank, a->cuda, &e->error));
    if (IS("direct_sum"))
        return of_layout(e, layout_direct_sum(e->arena, v[0].layout, self, first, second, rank, &e->error));
    if (IS("is_tile_inner"))
        return answer(e,
                      layout_outer_of(e->arena, self, v[0].layout, first, second, rank, a->cuda, &e->error));
    if (IS("is_tile_outer"))
        return answer(e,
                      layout_inner_of(e->arena, self, v[0].layout, first, second, rank, a->cuda, &e->error));
    return answer(e, layout_addend_of(e->arena, self, v[0].layout, first, second, rank,
                                      IS("is_direct_sum_right"), &e->error));
}

static value method(evaluator *e, value self, const char *name, size_t size) {
    arguments a;
    read_arguments(e, &a);
    value *v = a.items;
    if (self.kind == K_POOL) {
        assert_true(IS("alloc"));
        return number(place(e, self.pool, numbers(e, &v[0]), v[0].count, (unsigned)v[1].number, 0));
    }
    const layout_tile *layout = self.layout;
    assert_true(self.kind == K_LAYOUT);
    if (IS("apply") || IS("image"))
        return apply_call(e, layout, &a, IS("image"));
    if (IS("canon"))
        return of_layout(e, a.cuda ? layout_canonical_fused(e->arena, layout, &e->error)
                                   : layout_canonical(e->arena, layout));
    if (IS("storage"))
        return of_layout(e, layout_storage(e->arena, layout));
    if (IS("pack"))
        return of_layout(e, layout_pack(e->arena, layout, v[0].number, &e->error));
    if (IS("unpack"))
        return of_layout(e, layout_unpack(e->arena, layout, v[0].number, &e->error));
    if (IS("slice"))
        return slice(e, layout, &v[0], &v[1]);
    if (IS("group_many"))
        return group_many(e, layout, &v[0]);
    if (IS("span") || IS("footprint")) {
        int64_t n = 0;
        layout_axis axis = LAYOUT_AXIS_M;
        assert_true(a.count == 0 || layout_axis_find(v[0].text, strlen(v[0].text), &axis));
        assert_true(IS("span") ? layout_span(layout, axis, &n) : layout_footprint(layout, axis, &n));
        return number(n);
    }
    if (IS("scope")) {
        layout_scope narrow, wide;
        if (!layout_scopes(e->arena, layout, &narrow, &wide, &e->error))
            return (value){.kind = K_ERROR};
        return (value){.kind = K_SCOPES,
                       .text = base_arena_format(e->arena, "%s , %s", layout_scope_name(narrow),
                                                 layout_scope_name(wide))};
    }
    if (IS("apply_to_shape")) {
        int64_t digits[16];
        uint32_t count = 0;
        assert_true(layout_apply_digits(layout, numbers(e, &v[0]), v[0].count, numbers(e, &v[1]), digits,
                                        &count, &e->error, e->arena));
        return list_of(e, digits, count);
    }
    return tiles(e, layout, name, size, &a);
#undef IS
}

/* ---- expressions ---- */
static value constant(evaluator *e, const char *name, size_t size) {
    static const struct {
        const char *name, *fragment;
        int64_t number;
    } rows[] = {{"NONE", NULL, 0},
                {"SW32", NULL, 1},
                {"SW64", NULL, 2},
                {"SW128", NULL, 3},
                {"True", NULL, 1},
                {"False", NULL, 0},
                {"D_FRAG", "mma.m16n8.D", 0},
                {"A_FRAG_K16", "mma.m16n8k16.f16.A", 0},
                {"B_FRAG_K16", "mma.m16n8k16.f16.B", 0},
                {"A_FRAG_K32_8BIT", "mma.m16n8k32.s8.A", 0},
                {"A_FRAG_TF32_K8", "mma.m16n8k8.tf32.A", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strlen(rows[i].name) == size && memcmp(rows[i].name, name, size) == 0) {
            if (rows[i].fragment == NULL)
                return number(rows[i].number);
            const layout_fragment *f = layout_fragment_find(rows[i].fragment, strlen(rows[i].fragment));
            assert_non_null(f);
            return of_layout(e, read(e, f->layout));
        }
    if (size == 1 && *name == 'i')
        return number(e->i);
    fail_msg("no name %.*s", (int)size, name);
    return (value){.kind = K_ERROR};
}

static value bracket(evaluator *e, const char *end) {
    value v = {.kind = K_LIST, .items = BASE_NEW_ARRAY(e->arena, value, 64)};
    const char *start = e->at;
    bool comma = false;
    while (!take(e, end)) {
        v.items[v.count++] = evaluate(e);
        if (take(e, "for i in range(")) {
            int64_t n = strtoll(e->at, NULL, 10);
            const char *after = strchr(e->at, ']') + 1;
            for (v.count = 0; v.count < n; v.count++) {
                e->i = v.count;
                e->at = start;
                v.items[v.count] = evaluate(e);
            }
            e->at = after;
            return v;
        }
        comma = take(e, ",") || comma;
    }
    return *end == ')' && !comma ? v.items[0] : v;
}

static value primary(evaluator *e) {
    space(e);
    if (isdigit((unsigned char)*e->at)) {
        char *rest = NULL;
        int64_t n = strtoll(e->at, &rest, 10);
        e->at = rest;
        return number(n);
    }
    if (*e->at == '"') {
        const char *end = strchr(e->at + 1, '"');
        value v = {.kind = K_TEXT, .text = base_arena_string(e->arena, e->at + 1, (size_t)(end - e->at - 1))};
        e->at = end + 1;
        return v;
    }
    if (take(e, "["))
        return bracket(e, "]");
    if (take(e, "("))
        return bracket(e, ")");
    const char *name = e->at;
    while (isalnum((unsigned char)*e->at) || *e->at == '_')
        e->at++;
    size_t size = (size_t)(e->at - name);
    return take(e, "(") ? call(e, name, size) : constant(e, name, size);
}

static value postfix(evaluator *e) {
    value v = primary(e);
    for (;;) {
        if (take(e, "[\"m\"]")) {
            assert_int_equal(v.kind, K_PLACE);
            v = number(v.position[LAYOUT_AXIS_M]);
        } else if (*e->at == '.') {
            const char *name = ++e->at;
            while (isalnum((unsigned char)*e->at) || *e->at == '_')
                e->at++;
            size_t size = (size_t)(e->at - name);
            need(e, "(");
            v = method(e, v, name, size);
        } else {
            return v;
        }
    }
}

static value product(evaluator *e) {
    value v = postfix(e);
    for (;;) {
        if (take(e, "//"))
            v.number /= postfix(e).number;
        else if (take(e, "*"))
            v.number *= postfix(e).number;
        else if (take(e, "%"))
            v.number %= postfix(e).number;
        else
            return v;
    }
}

static value evaluate(evaluator *e) {
    value v = product(e);
    while (take(e, "+"))
        v.number += product(e).number;
    if (take(e, "or ")) {
        value other = evaluate(e);
        v = v.number != 0 ? v : other;
    }
    return v;
}

/* ---- results ---- */
static void print(const value *v, base_builder *out) {
    static const char *const words[] = {"error", "None"};
    if (v->kind <= K_NONE)
        base_builder_string(out, words[v->kind]);
    else if (v->kind == K_BOOL)
        base_builder_string(out, v->number != 0 ? "True" : "False");
    else if (v->kind == K_INT)
        base_builder_format(out, "%lld", (long long)v->number);
    else if (v->kind == K_SCOPES)
        base_builder_string(out, v->text);
    else if (v->kind == K_LIST) {
        base_builder_char(out, '[');
        for (uint32_t i = 0; i < v->count; i++) {
            base_builder_string(out, i > 0 ? ", " : "");
            print(&v->items[i], out);
        }
        base_builder_char(out, ']');
    }
}

/* "TLane=5, TCol=3" up to the end; the order of the axes does not count. */
static void compare_place(const char *id, const value *got, const char *text, size_t size) {
    value want = {.kind = K_PLACE};
    const char *end = text + size;
    assert_int_equal(got->kind, K_PLACE);
    while (text < end) {
        size_t name = strcspn(text, "=");
        layout_axis axis = LAYOUT_AXIS_M;
        assert_true(layout_axis_find(text, name, &axis));
        char *rest = NULL;
        want.position[axis] = strtoll(text + name + 1, &rest, 10);
        want.axes |= 1u << axis;
        text = rest + strspn(rest, ", ");
    }
    if (got->axes != want.axes || memcmp(got->position, want.position, sizeof want.position) != 0)
        fail_msg("%s: another place", id);
}

static const char *layout_text(base_arena *arena, const layout_tile *layout) {
    layout_tile without = *layout; /* offsets of 0 are no difference */
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout->offset[a] == 0)
            without.offset_axes &= ~(1u << a);
    base_builder out;
    base_builder_start(&out, arena);
    layout_print(&without, &out);
    return out.data;
}

static void compare(evaluator *e, const char *id, const value *got, const char *want) {
    base_builder out;
    base_builder_start(&out, e->arena);
    if (*want == '{') {
        assert_int_equal(got->kind, K_LIST);
        for (uint32_t i = 0; i < got->count; i++) {
            size_t size = strcspn(want + 1, "}");
            assert_int_equal(*want, '{');
            compare_place(id, &got->items[i], want + 1, size);
            want += size + 2;
            want += strspn(want, " ;");
        }
        assert_string_equal(want, "");
    } else if ((*want == 'S' || *want == 'Z') && got->kind == K_LAYOUT) {
        const char *beside = strstr(want, " , ");
        size_t size = beside == NULL ? strlen(want) : (size_t)(beside - want);
        const char *text = layout_text(e->arena, got->layout);
        const char *again = layout_text(e->arena, read(e, base_arena_string(e->arena, want, size)));
        if (strcmp(text, again) != 0)
            fail_msg("%s: %s, not %s", id, text, again);
        if (beside != NULL) {
            value list = {.kind = K_LIST, .items = got->items, .count = got->count};
            print(&list, &out);
            assert_string_equal(out.data, beside + 3);
        }
    } else if (strchr(want, '=') != NULL) {
        compare_place(id, got, want, strlen(want));
    } else {
        print(got, &out);
        if (strcmp(out.data, want) != 0)
            fail_msg("%s: %s, not %s", id, out.data, want);
    }
}

static void every_vector(void **state) {
    static const struct {
        const char *id, *expression, *want;
    } rows[] = {
#define VECTOR(id, expression, want) {id, expression, want},
#include "unit/layout_expressions.def"
    };
    size_t done = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        evaluator e = {.arena = *state, .at = rows[i].expression};
        value got = evaluate(&e);
        assert_string_equal(e.at, "");
        compare(&e, rows[i].id, &got, rows[i].want);
        done++;
    }
    assert_int_equal(done, 136);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(every_vector)};
    return cmocka_run_group_tests_name("layout_expressions", tests, NULL, NULL);
}
