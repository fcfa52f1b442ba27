/* SPDX-License-Identifier: Apache-2.0
 * The text form: S[(8,4,2):(4@laneid,1@laneid,1)]+R[2:4@warpid]+5@warpid, and under a swizzle of 3 bits
 * Z(3,3,3)*S[(8,64):(64,1)], Z(3,3,3,outer)*S[...]. What is printed reads back as the same layout. The reader
 * also takes spaces, S[8,8] (row-major), a bare axis for stride 1, -5 beside +-5, and a swizzle alone, which
 * is one over its own period. Unlike a sum of Python objects, a text has one S and at most one R. */
#include "layout/layout_internal.h"
#include <string.h>

static void print_value(int64_t value, layout_axis axis, base_builder *out) {
    base_builder_format(out, "%lld", (long long)value);
    if (axis != LAYOUT_AXIS_M)
        base_builder_format(out, "@%s", layout_axis_name(axis));
}

static void print_iters(const char *open, const layout_iter *iters, uint32_t count, base_builder *out) {
    base_builder_string(out, open);
    if (count > 1)
        base_builder_char(out, '(');
    for (uint32_t i = 0; i < count; i++)
        base_builder_format(out, i == 0 ? "%lld" : ",%lld", (long long)iters[i].extent);
    if (count > 0)
        base_builder_string(out, count > 1 ? "):(" : ":");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            base_builder_char(out, ',');
        print_value(iters[i].stride, iters[i].axis, out);
    }
    base_builder_string(out, count > 1 ? ")]" : "]");
}

void layout_print(const layout_tile *layout, base_builder *out) {
    if (layout->swizzle.present)
        base_builder_format(out, "Z(%u,%u,%u%s)*", (unsigned)layout->swizzle.per_element,
                            (unsigned)layout->swizzle.length, (unsigned)layout->swizzle.atom,
                            layout->swizzle.outer ? ",outer" : "");
    print_iters("S[", layout->shard, layout->shard_count, out);
    if (layout->replica_count > 0)
        print_iters("+R[", layout->replica, layout->replica_count, out);
    for (unsigned a = 0; a < LAYOUT_AXIS_COUNT; a++)
        if (layout->offset_axes >> a & 1) {
            base_builder_char(out, '+');
            print_value(layout->offset[a], (layout_axis)a, out);
        }
}

const char *layout_text_of(base_arena *arena, const layout_tile *layout) {
    base_builder text;
    base_builder_start(&text, arena);
    layout_print(layout, &text);
    return text.data;
}

const char *layout_shape_text(base_arena *arena, const int64_t *shape, uint32_t rank) {
    base_builder text;
    base_builder_start(&text, arena);
    base_builder_char(&text, '(');
    for (uint32_t d = 0; d < rank; d++)
        base_builder_format(&text, d == 0 ? "%lld" : ", %lld", (long long)shape[d]);
    base_builder_char(&text, ')');
    return text.data;
}

typedef BASE_VECTOR(layout_iter) iter_list;

typedef struct reader {
    base_arena *arena;
    const char *text;
    size_t size, at;
    layout_error *error;
} reader;

static bool expected(reader *r, const char *what) {
    if (r->at < r->size)
        return layout_refuse(r->arena, r->error, "expected %s at byte %zu of the layout", what, r->at) !=
               NULL;
    return layout_refuse(r->arena, r->error, "expected %s, but the layout's text ends", what) != NULL;
}

/* White space is passed only together with what stands behind it, so that a layout ends at its last word. */
static size_t past_space(const reader *r) {
    size_t at = r->at;
    while (at < r->size && (r->text[at] == ' ' || (r->text[at] >= '\t' && r->text[at] <= '\r')))
        at++;
    return at;
}

static char peek(const reader *r) {
    size_t at = past_space(r);
    return at < r->size ? r->text[at] : 0;
}

static bool take(reader *r, char c) {
    if (peek(r) != c)
        return false;
    r->at = past_space(r) + 1;
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool read_integer(reader *r, int64_t *value) {
    bool negative = take(r, '-');
    if (!is_digit(peek(r)))
        return expected(r, "a number");
    *value = 0;
    for (r->at = past_space(r); r->at < r->size && is_digit(r->text[r->at]); r->at++) {
        int64_t digit = r->text[r->at] - '0';
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, negative ? -digit : digit, value))
            return layout_refuse(r->arena, r->error,
                                 "the number at byte %zu of the layout does not fit in 64 bits",
                                 r->at) != NULL;
    }
    return true;
}

static bool read_axis(reader *r, layout_axis *axis) {
    if (!is_letter(peek(r)))
        return expected(r, "the name of an axis");
    size_t begin = past_space(r);
    r->at = begin;
    while (r->at < r->size && (is_letter(r->text[r->at]) || is_digit(r->text[r->at])))
        r->at++;
    if (layout_axis_find(r->text + begin, r->at - begin, axis))
        return true;
    size_t size = r->at - begin < 40 ? r->at - begin : 40;
    return layout_refuse(
               r->arena, r->error,
               "'%.*s' is no axis; the axes are m, TLane, TCol, P, F, Bank, bx, by, bz, cbx, cby, cbz, "
               "tx, warpid, laneid, wgid, tid_in_wg and wid_in_wg, and pid, gpuid_x, gpuid_y and gpuid_z of "
               "a "
               "device mesh",
               (int)size, r->text + begin) != NULL;
}

/* 4, 4@laneid, and where allowed laneid for 1@laneid. */
static bool read_value(reader *r, int64_t *value, layout_axis *axis) {
    *axis = LAYOUT_AXIS_M;
    if (is_letter(peek(r))) {
        *value = 1;
        return read_axis(r, axis);
    }
    return read_integer(r, value) && (!take(r, '@') || read_axis(r, axis));
}

/* A list in brackets or bare, up to ':' or ']'; extents or strides by `strides`. */
static bool read_list(reader *r, bool strides, iter_list *list) {
    bool bracket = take(r, '(');
    for (;;) {
        char c = peek(r);
        if (c == ')' || c == ']' || c == ':')
            break;
        layout_iter item = {0, 0, LAYOUT_AXIS_M};
        if (!(strides ? read_value(r, &item.stride, &item.axis) : read_integer(r, &item.extent)))
            return false;
        base_vector_push(r->arena, list, item);
        if (!take(r, ','))
            break;
    }
    return !bracket || take(r, ')') || expected(r, "',' or ')'");
}

static bool read_iters(reader *r, iter_list *list) {
    iter_list strides = {NULL, 0, 0};
    if (!take(r, '['))
        return expected(r, "'['");
    if (!read_list(r, false, list))
        return false;
    bool given = take(r, ':');
    if (given && !read_list(r, true, &strides))
        return false;
    if (!take(r, ']'))
        return expected(r, given ? "',' or ']'" : "',', ':' or ']'");
    if (list->count > UINT32_MAX)
        return layout_refuse(r->arena, r->error, "the layout has too many iters") != NULL;
    if (given && strides.count != list->count)
        return layout_refuse(r->arena, r->error, "%zu extents but %zu strides", list->count, strides.count) !=
               NULL;
    int64_t stride = 1;
    for (size_t i = list->count; i-- > 0;) {
        list->items[i].stride = given ? strides.items[i].stride : stride;
        list->items[i].axis = given ? strides.items[i].axis : LAYOUT_AXIS_M;
        if (!given && __builtin_mul_overflow(stride, list->items[i].extent, &stride))
            return layout_refuse(r->arena, r->error,
                                 "the product of the extents does not fit in 64 bits: extent %zu is %lld", i,
                                 (long long)list->items[i].extent) != NULL;
    }
    return true;
}

static bool read_offset(reader *r, bool negative, int64_t *offsets, uint32_t *axes) {
    int64_t value = 0;
    layout_axis axis = LAYOUT_AXIS_M;
    if (!is_digit(peek(r)) && peek(r) != '-')
        return expected(r, "R[...] or an offset");
    if (!read_value(r, &value, &axis))
        return false;
    if ((negative && __builtin_sub_overflow(0, value, &value)) ||
        __builtin_add_overflow(offsets[axis], value, &offsets[axis]))
        return layout_refuse(r->arena, r->error, "the offset on %s does not fit in 64 bits",
                             layout_axis_name(axis)) != NULL;
    *axes |= 1u << axis;
    return true;
}

/* Z(3,3,3), Z(3,3,3,outer), behind the Z. */
static bool read_swizzle(reader *r, layout_swizzle *swizzle) {
    uint8_t *const fields[] = {&swizzle->per_element, &swizzle->length, &swizzle->atom};
    if (!take(r, '('))
        return expected(r, "'('");
    for (unsigned i = 0; i < 3; i++) {
        int64_t value = 0;
        if (i > 0 && !take(r, ','))
            return expected(r, "','");
        if (!read_integer(r, &value))
            return false;
        if (value < 0 || value > 40)
            return layout_refuse(r->arena, r->error,
                                 "the %s of a swizzle is a count of bits from 0 to 40, not %lld",
                                 (const char *const[]){"per_element", "swizzle_len", "atom_len"}[i],
                                 (long long)value) != NULL;
        *fields[i] = (uint8_t)value;
    }
    swizzle->present = true;
    if (take(r, ',')) {
        size_t at = past_space(r);
        bool outer = r->size - at >= 5 && memcmp(r->text + at, "outer", 5) == 0;
        if (!outer && (r->size - at < 5 || memcmp(r->text + at, "inner", 5) != 0))
            return expected(r, "inner or outer");
        swizzle->outer = outer;
        r->at = at + 5;
    }
    return take(r, ')') || expected(r, "')'");
}

static const layout_tile *read_tile(reader *r) {
    iter_list shard = {NULL, 0, 0}, replica = {NULL, 0, 0};
    int64_t offsets[LAYOUT_AXIS_COUNT] = {0};
    uint32_t axes = 0;
    bool has_replica = false;
    if (!take(r, 'S')) {
        expected(r, "'S['");
        return NULL;
    }
    bool ok = read_iters(r, &shard);
    while (ok) {
        bool negative = take(r, '-');
        if (!negative && !take(r, '+'))
            break;
        if (!negative && peek(r) == 'R') {
            if (has_replica)
                return layout_refuse(r->arena, r->error, "a second R at byte %zu of the layout", r->at);
            has_replica = true;
            take(r, 'R');
            ok = read_iters(r, &replica);
        } else {
            ok = read_offset(r, negative, offsets, &axes);
        }
    }
    return ok ? layout_make(r->arena, shard.items, (uint32_t)shard.count, replica.items,
                            (uint32_t)replica.count, offsets, axes, r->error)
              : NULL;
}

const layout_tile *layout_parse(base_arena *arena, const char *text, size_t size, size_t *consumed,
                                layout_error *error) {
    reader r = {arena, text, size, 0, error};
    layout_swizzle swizzle = {0};
    const layout_tile *tile = NULL;
    bool ok = !take(&r, 'Z') || read_swizzle(&r, &swizzle);
    bool bare = swizzle.present && !take(&r, '*');
    if (ok && !bare)
        ok = (tile = read_tile(&r)) != NULL;
    if (consumed != NULL)
        *consumed = r.at;
    if (!ok)
        return NULL;
    return swizzle.present ? layout_compose(arena, tile, swizzle, error) : tile;
}
