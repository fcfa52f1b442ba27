/* SPDX-License-Identifier: Apache-2.0
 * CuTe's notation, read and written, and the two operations of its algebra that tile layouts lack. */
#include "layout/cute.h"
#include "layout/layout_internal.h"
#include <string.h>

enum { DEPTH_LIMIT = 32, SIZE_LIMIT = 1 << 22 };

/* ---- reading ---- */
typedef struct cute_reader {
    base_arena *arena;
    const char *text;
    size_t size, at;
    layout_error *error;
} cute_reader;

/* A flattened tuple: the leaves, the depth of each and how many brackets open before it, to compare the tree
 * of the strides with that of the shape. */
typedef struct leaf_list {
    int64_t values[LAYOUT_CUTE_LEAVES];
    uint32_t count;
    uint32_t at[LAYOUT_CUTE_RANK + 1], rank;
    char tree[4 * LAYOUT_CUTE_LEAVES];
    uint32_t tree_size;
} leaf_list;

static char peek(cute_reader *r) {
    while (r->at < r->size && (r->text[r->at] == ' ' || (r->text[r->at] >= '\t' && r->text[r->at] <= '\r')))
        r->at++;
    return r->at < r->size ? r->text[r->at] : 0;
}

static bool take(cute_reader *r, char c) {
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool expected(cute_reader *r, const char *what) {
    return layout_refuse(r->arena, r->error, "expected %s at byte %zu of the CuTe layout", what, r->at) !=
           NULL;
}

/* 8, -8, and _8 for a compile-time 8. */
static bool read_number(cute_reader *r, int64_t *value) {
    take(r, '_');
    bool negative = take(r, '-');
    char c = peek(r);
    if (c < '0' || c > '9')
        return expected(r, "a number");
    for (*value = 0; r->at < r->size && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++) {
        int64_t digit = r->text[r->at] - '0';
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, negative ? -digit : digit, value))
            return layout_refuse(r->arena, r->error,
                                 "the number at byte %zu of the CuTe layout does not fit in 64 bits",
                                 r->at) != NULL;
    }
    if (r->at < r->size && r->text[r->at] == '@')
        return layout_refuse(r->arena, r->error,
                             "byte %zu: a stride on a basis (@) is a coordinate, not an address",
                             r->at) != NULL;
    return true;
}

static bool read_tuple(cute_reader *r, leaf_list *list, unsigned depth);

static bool read_entry(cute_reader *r, leaf_list *list, unsigned depth) {
    if (peek(r) == '(')
        return read_tuple(r, list, depth + 1);
    if (list->count == LAYOUT_CUTE_LEAVES)
        return layout_refuse(r->arena, r->error, "the CuTe layout has more than %d extents",
                             LAYOUT_CUTE_LEAVES) != NULL;
    list->tree[list->tree_size++] = 'n';
    return read_number(r, &list->values[list->count++]);
}

static bool read_tuple(cute_reader *r, leaf_list *list, unsigned depth) {
    if (depth > DEPTH_LIMIT || list->tree_size + 2 >= sizeof list->tree - LAYOUT_CUTE_LEAVES)
        return layout_refuse(r->arena, r->error, "the CuTe layout nests deeper than %d brackets",
                             DEPTH_LIMIT) != NULL;
    take(r, '(');
    list->tree[list->tree_size++] = '(';
    do {
        if (depth == 0) {
            if (list->rank == LAYOUT_CUTE_RANK)
                return layout_refuse(r->arena, r->error, "the CuTe layout has more than %d modes",
                                     LAYOUT_CUTE_RANK) != NULL;
            list->at[list->rank++] = list->count;
        }
        if (!read_entry(r, list, depth))
            return false;
    } while (take(r, ','));
    list->at[list->rank < LAYOUT_CUTE_RANK ? list->rank : LAYOUT_CUTE_RANK] = list->count;
    list->tree[list->tree_size++] = ')';
    return take(r, ')') || expected(r, "',' or ')'");
}

static bool read_list(cute_reader *r, leaf_list *list) {
    memset(list, 0, sizeof *list);
    if (peek(r) == '(')
        return read_tuple(r, list, 0);
    list->at[list->rank++] = 0;
    list->at[1] = 1;
    return read_entry(r, list, 0);
}

static bool word(cute_reader *r, const char *text) {
    size_t size = strlen(text);
    peek(r);
    if (r->size - r->at < size || memcmp(r->text + r->at, text, size) != 0)
        return false;
    r->at += size;
    return true;
}

/* Whether `o` comes next as a word of its own. */
static bool ring(cute_reader *r) {
    return peek(r) == 'o' && word(r, "o");
}

/* smem_ptr[16b](unset): the swizzle counts bytes, elements have 16 bits. */
static bool read_pointer(cute_reader *r, layout_cute *cute) {
    int64_t bits = 8;
    while (r->at < r->size && r->text[r->at] != '[' && r->text[r->at] != ' ')
        r->at++;
    if (take(r, '[') && (!read_number(r, &bits) || !take(r, 'b') || !take(r, ']')))
        return expected(r, "the width of a pointer, as in smem_ptr[16b](unset)");
    if (bits != 4 && bits != 8 && bits != 16 && bits != 32 && bits != 64)
        return layout_refuse(r->arena, r->error, "a pointer to elements of %lld bits", (long long)bits) !=
               NULL;
    while (peek(r) != 0 && r->text[r->at] != ')')
        r->at++;
    if (!take(r, ')'))
        return expected(r, "')'");
    int shift = bits == 4 ? 1 : -(int)(bits >= 16) - (int)(bits >= 32) - (int)(bits >= 64);
    if ((int)cute->swizzle.per_element + shift < 0)
        return layout_refuse(r->arena, r->error, "the swizzle splits elements of %lld bits",
                             (long long)bits) != NULL;
    cute->swizzle.per_element = (uint8_t)((int)cute->swizzle.per_element + shift);
    return true;
}

/* Sw<B,M,S> o OFFSET o; S below 0 flips the upper bits by the lower ones. */
static bool read_swizzle(cute_reader *r, layout_cute *cute) {
    int64_t b = 0, m = 0, s = 0;
    if (!word(r, "Sw<") && !word(r, "Swizzle<"))
        return true;
    if (!read_number(r, &b) || !take(r, ',') || !read_number(r, &m) || !take(r, ',') || !read_number(r, &s) ||
        !take(r, '>'))
        return expected(r, "Sw<bits,base,shift>");
    if (b < 0 || b > 20 || m < 0 || m > 20 || s < -20 || s > 20)
        return layout_refuse(r->arena, r->error, "Sw<%lld,%lld,%lld> is no swizzle of address bits",
                             (long long)b, (long long)m, (long long)s) != NULL;
    cute->swizzle = (layout_swizzle){true, s < 0, (uint8_t)m, (uint8_t)b, (uint8_t)(s < 0 ? -s : s)};
    if (!ring(r))
        return expected(r, "'o'");
    char c = peek(r);
    if ((c >= 'a' && c <= 'z') ? !read_pointer(r, cute) : !read_number(r, &cute->offset))
        return false;
    return ring(r) || expected(r, "'o'");
}

bool layout_cute_read(base_arena *arena, const char *text, size_t size, layout_cute *cute,
                      layout_error *error) {
    cute_reader r = {arena, text, size, 0, error};
    leaf_list *extents = BASE_NEW(arena, leaf_list), *strides = BASE_NEW(arena, leaf_list);
    memset(cute, 0, sizeof *cute);
    if (!read_swizzle(&r, cute) || !read_list(&r, extents))
        return false;
    bool given = take(&r, ':');
    if (given && !read_list(&r, strides))
        return false;
    if (peek(&r) != 0)
        return expected(&r, given ? "the end" : "':'");
    if (given && (strides->tree_size != extents->tree_size ||
                  memcmp(strides->tree, extents->tree, extents->tree_size) != 0))
        return layout_refuse(arena, error,
                             "the strides do not nest as the shape does: %u modes of %u extents, %u of %u "
                             "strides",
                             (unsigned)extents->rank, (unsigned)extents->count, (unsigned)strides->rank,
                             (unsigned)strides->count) != NULL;
    cute->rank = extents->rank;
    memcpy(cute->at, extents->at, sizeof cute->at);
    int64_t stride = 1;
    for (uint32_t i = 0; i < extents->count; i++) {
        if (extents->values[i] <= 0)
            return layout_refuse(arena, error, "extent %lld of mode %u of the CuTe layout is not positive",
                                 (long long)extents->values[i], i) != NULL;
        cute->extents[i] = extents->values[i];
        cute->strides[i] = given ? strides->values[i] : stride;
        if (__builtin_mul_overflow(stride, extents->values[i], &stride))
            return layout_refuse(
                       arena, error,
                       "the size of the CuTe layout does not fit in 64 bits: mode %u has the extent %lld", i,
                       (long long)extents->values[i]) != NULL;
    }
    return true;
}

/* ---- writing ---- */
static void print_side(const layout_cute *cute, const int64_t *values, base_builder *out) {
    base_builder_string(out, cute->rank > 1 ? "(" : "");
    for (uint32_t d = 0; d < cute->rank; d++) {
        uint32_t begin = cute->at[d], end = cute->at[d + 1];
        base_builder_string(out, d > 0 ? "," : "");
        base_builder_string(out, end - begin > 1 ? "(" : "");
        for (uint32_t i = begin; i < end; i++)
            base_builder_format(out, i == begin ? "%lld" : ",%lld", (long long)values[i]);
        base_builder_string(out, end - begin > 1 ? ")" : "");
    }
    base_builder_string(out, cute->rank > 1 ? ")" : "");
}

void layout_cute_print(const layout_cute *cute, base_builder *out) {
    if (cute->swizzle.present || cute->offset != 0) /* Sw<0,4,3> flips nothing; it lets an offset be said */
        base_builder_format(out, "Sw<%d,%d,%d> o %lld o ", cute->swizzle.present ? cute->swizzle.length : 0,
                            cute->swizzle.present ? cute->swizzle.per_element : 4,
                            !cute->swizzle.present ? 3
                            : cute->swizzle.outer  ? -(int)cute->swizzle.atom
                                                   : (int)cute->swizzle.atom,
                            (long long)cute->offset);
    print_side(cute, cute->extents, out);
    base_builder_char(out, ':');
    print_side(cute, cute->strides, out);
}

const layout_tile *layout_cute_tile(base_arena *arena, const layout_cute *cute, int64_t *shape,
                                    layout_error *error) {
    layout_iter iters[LAYOUT_CUTE_LEAVES];
    int64_t offsets[LAYOUT_AXIS_COUNT] = {[LAYOUT_AXIS_M] = cute->offset};
    uint32_t count = 0;
    for (uint32_t d = 0; d < cute->rank; d++) {
        shape[d] = 1;
        for (uint32_t i = cute->at[d + 1]; i-- > cute->at[d];) {
            iters[count++] = (layout_iter){cute->extents[i], cute->strides[i], LAYOUT_AXIS_M};
            shape[d] *= cute->extents[i]; /* within the size, which was checked */
        }
    }
    const layout_tile *tile = layout_make(arena, iters, count, NULL, 0, offsets,
                                          cute->offset != 0 ? 1u << LAYOUT_AXIS_M : 0, error);
    return tile != NULL && cute->swizzle.present && cute->swizzle.length > 0
               ? layout_compose(arena, tile, cute->swizzle, error)
               : tile;
}

bool layout_cute_from(base_arena *arena, const layout_map *map, layout_cute *cute, layout_error *error) {
    const layout_tile *layout = map->layout;
    memset(cute, 0, sizeof *cute);
    for (uint32_t s = 0; s < map->axis_count; s++)
        if (map->axes[s] != LAYOUT_AXIS_M)
            return layout_refuse(arena, error,
                                 "CuTe's shape:stride has one address; this layout has the axis %s",
                                 layout_axis_name(map->axes[s])) != NULL;
    if (layout->replica_count > 0)
        return layout_refuse(arena, error,
                             "CuTe's shape:stride has no replicas; this layout has %u replica iters",
                             (unsigned)layout->replica_count) != NULL;
    if (map->rank > LAYOUT_CUTE_RANK || map->rank == 0)
        return layout_refuse(arena, error, "a CuTe layout has 1 to %d modes here, the shape %u",
                             LAYOUT_CUTE_RANK, (unsigned)map->rank) != NULL;
    uint32_t *at = BASE_NEW_ARRAY(arena, uint32_t, (size_t)map->rank + 1);
    const layout_tile *grouped =
        layout_group(arena, layout_canonical(arena, layout), map->shape, map->rank, at, error);
    if (grouped == NULL)
        return false;
    uint32_t count = 0;
    for (uint32_t d = 0; d < map->rank; d++) {
        layout_tile part = {.shard = grouped->shard + at[d], .shard_count = at[d + 1] - at[d]};
        const layout_tile *local = layout_canonical(arena, &part);
        cute->at[d] = count;
        if (count + local->shard_count > LAYOUT_CUTE_LEAVES)
            return layout_refuse(arena, error, "the layout has more than %d iters", LAYOUT_CUTE_LEAVES) !=
                   NULL;
        for (uint32_t i = local->shard_count; i-- > 0; count++) {
            cute->extents[count] = local->shard[i].extent;
            cute->strides[count] = local->shard[i].extent == 1 ? 0 : local->shard[i].stride;
        }
    }
    cute->rank = map->rank;
    cute->at[map->rank] = count;
    cute->swizzle = layout->swizzle;
    cute->offset = layout->offset[LAYOUT_AXIS_M];
    return true;
}

/* ---- algebra ---- */
int64_t layout_cute_size(const layout_cute *cute) {
    int64_t size = 1;
    for (uint32_t i = 0; i < cute->at[cute->rank]; i++)
        size *= cute->extents[i];
    return size;
}

int64_t layout_cute_at(const layout_cute *cute, int64_t index) {
    uint32_t count = cute->at[cute->rank];
    int64_t address = cute->offset;
    for (uint32_t i = 0; i < count; i++) { /* the last digit takes what is left, as beyond the end */
        int64_t digit = i + 1 < count ? index % cute->extents[i] : index;
        address = (int64_t)((uint64_t)address + (uint64_t)digit * (uint64_t)cute->strides[i]);
        index /= cute->extents[i];
    }
    return layout_swizzle_apply(cute->swizzle, address);
}

void layout_cute_coalesce(const layout_cute *cute, layout_cute *result) {
    layout_cute from = *cute;
    *result = (layout_cute){.rank = 1, .swizzle = from.swizzle, .offset = from.offset};
    uint32_t count = 0;
    for (uint32_t i = 0; i < from.at[from.rank]; i++) {
        int64_t next = 0;
        if (from.extents[i] == 1)
            continue;
        if (count > 0 &&
            !__builtin_mul_overflow(result->extents[count - 1], result->strides[count - 1], &next) &&
            next == from.strides[i]) {
            result->extents[count - 1] *= from.extents[i];
            continue;
        }
        result->extents[count] = from.extents[i];
        result->strides[count++] = from.strides[i];
    }
    if (count == 0)
        result->extents[count++] = 1;
    result->at[1] = count;
}

/* The modes r with r(i) = a(i * stride) for i < extent; a is coalesced. */
static bool compose_leaf(base_arena *arena, const layout_cute *a, int64_t extent, int64_t stride,
                         layout_cute *result, uint32_t *count, layout_error *error) {
    uint32_t n = a->at[1], begin = *count;
    int64_t skip = stride, left = extent;
    for (uint32_t i = 0; i < n && left > 1 && stride != 0; i++) {
        int64_t e = a->extents[i], s = a->strides[i], step = skip;
        bool last = i + 1 == n;
        if (skip % e == 0 && !last) { /* the stride passes over all of this mode */
            skip /= e;
            continue;
        }
        if (!last && e % skip != 0)
            return layout_refuse(
                       arena, error,
                       "no layout says it: the mode %lld:%lld of the right side does not divide into "
                       "the extent %lld of the left side's mode %lld:%lld",
                       (long long)extent, (long long)stride, (long long)e, (long long)e,
                       (long long)s) != NULL;
        int64_t have = last ? left : e / skip;
        int64_t take_now = have < left ? have : left;
        if (take_now < left && left % take_now != 0)
            return layout_refuse(
                       arena, error,
                       "no layout says it: %lld steps of %lld do not divide into the left side's mode "
                       "%lld:%lld",
                       (long long)extent, (long long)stride, (long long)e, (long long)s) != NULL;
        if (*count == LAYOUT_CUTE_LEAVES || __builtin_mul_overflow(s, step, &result->strides[*count]))
            return layout_refuse(arena, error, "the composition is too large") != NULL;
        result->extents[(*count)++] = take_now;
        left /= take_now;
        skip = 1;
    }
    if (*count == begin) {
        if (*count == LAYOUT_CUTE_LEAVES)
            return layout_refuse(arena, error, "the composition is too large") != NULL;
        result->extents[*count] = extent; /* 1, or a stride of 0: stays where it is */
        result->strides[(*count)++] = 0;
    }
    return true;
}

bool layout_cute_compose(base_arena *arena, const layout_cute *a, const layout_cute *b, layout_cute *result,
                         layout_error *error) {
    layout_cute left;
    uint32_t count = 0;
    int64_t size = layout_cute_size(b);
    if (b->swizzle.present || a->swizzle.present)
        return layout_refuse(arena, error, "a swizzled layout does not compose mode by mode") != NULL;
    if (b->offset != 0)
        return layout_refuse(arena, error, "the right side of a composition has the offset %lld",
                             (long long)b->offset) != NULL;
    layout_cute_coalesce(a, &left);
    *result = (layout_cute){.rank = b->rank, .offset = a->offset};
    for (uint32_t d = 0; d < b->rank; d++) {
        result->at[d] = count;
        for (uint32_t i = b->at[d]; i < b->at[d + 1]; i++) {
            if (b->strides[i] < 0)
                return layout_refuse(arena, error, "the right side's stride %lld is negative",
                                     (long long)b->strides[i]) != NULL;
            if (!compose_leaf(arena, &left, b->extents[i], b->strides[i], result, &count, error))
                return false;
        }
    }
    result->at[b->rank] = count;
    /* Modes of b that carry into each other break the mode-by-mode answer; so every element is tried. */
    if (size > SIZE_LIMIT)
        return layout_refuse(arena, error, "%lld elements are too many to check a composition",
                             (long long)size) != NULL;
    for (int64_t i = 0; i < size; i++)
        if (layout_cute_at(result, i) != layout_cute_at(a, layout_cute_at(b, i)))
            return layout_refuse(
                       arena, error,
                       "no layout says it mode by mode: element %lld is at %lld, the modes give %lld",
                       (long long)i, (long long)layout_cute_at(a, layout_cute_at(b, i)),
                       (long long)layout_cute_at(result, i)) != NULL;
    return true;
}

bool layout_cute_complement(base_arena *arena, const layout_cute *cute, int64_t size, layout_cute *result,
                            layout_error *error) {
    layout_cute c;
    layout_cute_coalesce(cute, &c);
    uint32_t n = c.at[1], count = 0;
    int64_t filled = 1; /* [0, filled) is covered */
    *result = (layout_cute){.rank = 1};
    if (cute->swizzle.present || cute->offset != 0 || size <= 0)
        return layout_refuse(arena, error, "a complement in %lld of a layout with a swizzle or an offset",
                             (long long)size) != NULL;
    for (uint32_t i = 1; i < n; i++) /* by rising stride */
        for (uint32_t k = i; k > 0 && c.strides[k] < c.strides[k - 1]; k--) {
            int64_t e = c.extents[k], s = c.strides[k];
            c.extents[k] = c.extents[k - 1], c.strides[k] = c.strides[k - 1];
            c.extents[k - 1] = e, c.strides[k - 1] = s;
        }
    for (uint32_t i = 0; i < n; i++) {
        if (c.extents[i] == 1 || c.strides[i] == 0)
            continue;
        if (c.strides[i] < filled || c.strides[i] % filled != 0)
            return layout_refuse(
                       arena, error,
                       "there is no complement: the mode %lld:%lld overlaps what smaller strides fill, "
                       "[0, %lld)",
                       (long long)c.extents[i], (long long)c.strides[i], (long long)filled) != NULL;
        if (c.strides[i] > filled) {
            result->extents[count] = c.strides[i] / filled;
            result->strides[count++] = filled;
        }
        if (__builtin_mul_overflow(c.extents[i], c.strides[i], &filled))
            return layout_refuse(arena, error, "the layout reaches beyond 64 bits") != NULL;
    }
    int64_t rest = size / filled + (size % filled != 0);
    if (rest > 1 || count == 0) {
        result->extents[count] = rest > 1 ? rest : 1;
        result->strides[count++] = rest > 1 ? filled : 0;
    }
    result->at[1] = count;
    layout_cute_coalesce(result, result);
    return true;
}
