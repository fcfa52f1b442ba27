/* SPDX-License-Identifier: Apache-2.0
 * What an access costs: the widest vector, and the bank conflicts of a warp. Shared memory has 32 banks of 4
 * bytes; different words of one bank are served one after the other, one word serves every lane that wants
 * it, and a pass moves 128 bytes: 32 lanes of 4 bytes, 16 of 8, 8 of 16 (CUDA programming guide, "Shared
 * memory"). */
#include "layout/query.h"
#include "layout/layout_internal.h"
#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, START_LIMIT = 1 << 20 };

static const char *say(base_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *say(base_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *text = base_arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

/* Why vectors of v elements are no legal accesses below the swizzle; NULL when they are. Merged iters: only
 * steps of 1 inside the last one follow each other, and every start is aligned when all that adds up to it
 * is. */
static const char *blocked(base_arena *arena, const layout_tile *c, int64_t v) {
    const layout_iter *last = &c->shard[c->shard_count - 1];
    if (last->axis != LAYOUT_AXIS_M || last->stride != 1)
        return say(arena, "neighbours along the last dimension are %lld apart on %s", (long long)last->stride,
                   layout_axis_name(last->axis));
    if (last->extent % v != 0)
        return say(arena, "runs of %lld elements do not divide into %lld", (long long)last->extent,
                   (long long)v);
    for (uint32_t i = 0; i + 1 < c->shard_count; i++)
        if (c->shard[i].axis == LAYOUT_AXIS_M && c->shard[i].stride % v != 0)
            return say(arena, "the iter %lld:%lld steps by %lld, no multiple of %lld elements",
                       (long long)c->shard[i].extent, (long long)c->shard[i].stride,
                       (long long)c->shard[i].stride, (long long)v);
    for (uint32_t i = 0; i < c->replica_count; i++)
        if (c->replica[i].axis == LAYOUT_AXIS_M && c->replica[i].extent > 1 && c->replica[i].stride % v != 0)
            return say(arena, "the copies are %lld apart, no multiple of %lld elements",
                       (long long)c->replica[i].stride, (long long)v);
    if (c->offset[LAYOUT_AXIS_M] % v != 0)
        return say(arena, "the offset %lld is no multiple of %lld elements",
                   (long long)c->offset[LAYOUT_AXIS_M], (long long)v);
    return NULL;
}

/* Whether the XOR leaves every run of v together: tried on every start when there are not too many. */
static layout_answer together(const layout_map *map, const layout_tile *c, int64_t v) {
    const layout_swizzle *z = &map->layout->swizzle;
    int64_t span = 0;
    if (!z->present || z->length == 0 || v <= (int64_t)1 << z->per_element)
        return LAYOUT_YES;
    if (!z->outer && layout_span(c, LAYOUT_AXIS_M, &span) && span <= (int64_t)1 << (z->per_element + z->atom))
        return LAYOUT_YES; /* no address reaches the bits that flip others */
    if (map->size / v > START_LIMIT || c->replica_count > 0)
        return LAYOUT_UNKNOWN;
    for (int64_t start = 0; start < map->size; start += v) {
        int64_t at = c->offset[LAYOUT_AXIS_M], flat = start;
        for (uint32_t i = c->shard_count; i-- > 0; flat /= c->shard[i].extent)
            at += flat % c->shard[i].extent * c->shard[i].stride;
        int64_t first = layout_swizzle_apply(*z, at);
        for (int64_t k = 0; k < v; k++)
            if (first % v != 0 || layout_swizzle_apply(*z, at + k) != first + k)
                return LAYOUT_NO;
    }
    return LAYOUT_YES;
}

layout_vector layout_widest_vector(base_arena *arena, const layout_map *map, unsigned bits,
                                   unsigned limit_bytes) {
    layout_vector result = {1, true, NULL};
    const layout_tile *c = layout_canonical(arena, map->layout);
    int64_t row = map->rank == 0 ? 1 : map->shape[map->rank - 1];
    if (bits == 0 || c->shard_count == 0)
        return result.why = "there is one element", result;
    for (int64_t v = 2;; v *= 2) {
        if ((uint64_t)v * bits > 8 * (uint64_t)limit_bytes)
            result.why = say(arena, "an access moves at most %u bytes", limit_bytes);
        else if (row % v != 0)
            result.why =
                say(arena, "the last dimension, %lld, does not divide by %lld", (long long)row, (long long)v);
        else
            result.why = blocked(arena, c, v);
        if (result.why != NULL)
            return result;
        layout_answer answer = together(map, c, v);
        if (answer != LAYOUT_YES) {
            result.exact = answer == LAYOUT_NO;
            result.why = say(arena, "the swizzle keeps %lld elements together%s",
                             1LL << map->layout->swizzle.per_element,
                             result.exact ? "" : "; whether more stay in place was not tried");
            return result;
        }
        result.elements = v;
    }
}

static bool lane_address(base_arena *arena, const layout_map *map, int64_t element, uint32_t lane,
                         unsigned bits, unsigned width, int64_t *address, layout_error *error) {
    int64_t coordinate[64], position[LAYOUT_AXIS_COUNT], first = 0, count = (int64_t)width * 8 / bits;
    if (element < 0 || count > map->size - element)
        return layout_refuse(arena, error, "lane %u: element %lld of %lld and the %lld from there on",
                             (unsigned)lane, (long long)element, (long long)map->size,
                             (long long)count) != NULL;
    for (int64_t k = 0; k < count; k++) {
        layout_map_coordinate(map, element + k, coordinate);
        layout_map_at(map, coordinate, position);
        first = k == 0 ? position[map->m_slot] : first;
        if (position[map->m_slot] != first + k)
            return layout_refuse(
                       arena, error,
                       "lane %u cannot access %u bytes at once: element %lld is at m %lld, the next "
                       "ones are not behind it",
                       (unsigned)lane, width, (long long)element, (long long)first) != NULL;
    }
    int64_t bit = 0;
    if (first < 0 || __builtin_mul_overflow(first, (int64_t)bits, &bit) || bit % (8 * (int64_t)width) != 0)
        return layout_refuse(arena, error, "lane %u: m %lld of %u-bit elements is not aligned to %u bytes",
                             (unsigned)lane, (long long)first, bits, width) != NULL;
    *address = bit / 8;
    return true;
}

/* One pass' lanes; returns how often the busiest bank is asked. */
static uint32_t serve(base_arena *arena, layout_banks *banks, uint32_t group, uint32_t begin, uint32_t end,
                      unsigned width) {
    int64_t words[BANKS][32];
    uint32_t count[BANKS] = {0}, lanes[BANKS] = {0}, most = 0;
    uint32_t reach = width < BANK_BYTES ? 1 : width / BANK_BYTES;
    for (uint32_t lane = begin; lane < end; lane++)
        for (uint32_t w = 0; w < reach; w++) {
            int64_t word = banks->address[lane] / BANK_BYTES + w;
            uint32_t bank = (uint32_t)(word % BANKS), i = 0;
            while (i < count[bank] && words[bank][i] != word)
                i++;
            if (i == count[bank])
                words[bank][count[bank]++] = word;
            lanes[bank] |= 1u << lane;
            most = count[bank] > most ? count[bank] : most;
        }
    for (uint32_t bank = 0; bank < BANKS; bank++)
        if (count[bank] > 1)
            base_vector_push(arena, &banks->conflicts,
                             (layout_bank_conflict){group, bank, count[bank], lanes[bank]});
    return most;
}

static uint32_t distinct_words(const layout_banks *banks, uint32_t lanes, unsigned width) {
    uint32_t count = 0, reach = width < BANK_BYTES ? 1 : width / BANK_BYTES;
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (uint32_t w = 0; w < reach; w++) {
            bool seen = false;
            for (uint32_t other = 0; other < lane && !seen; other++) {
                int64_t from = banks->address[other] / BANK_BYTES,
                        word = banks->address[lane] / BANK_BYTES + w;
                seen = word >= from && word < from + (int64_t)reach;
            }
            count += !seen;
        }
    return count;
}

bool layout_bank_conflicts(base_arena *arena, const layout_map *map, const int64_t *elements, uint32_t lanes,
                           unsigned bits, unsigned width, layout_banks *banks, layout_error *error) {
    *banks = (layout_banks){.group_lanes = width <= 4 ? 32 : width == 8 ? 16 : 8};
    if (width == 0 || width > 16 || (width & (width - 1)) != 0 || bits == 0 || 8 * width % bits != 0)
        return layout_refuse(arena, error,
                             "%u bytes per lane of %u-bit elements: an access is 1, 2, 4, 8 or 16 bytes of "
                             "whole elements",
                             width, bits) != NULL;
    if (lanes == 0 || lanes > 32)
        return layout_refuse(arena, error, "a warp has 32 lanes, not %u", (unsigned)lanes) != NULL;
    for (uint32_t s = 0; s < map->axis_count; s++)
        if (map->axes[s] != LAYOUT_AXIS_M)
            return layout_refuse(
                       arena, error,
                       "banks are those of shared memory, so the layout must be on m alone; it has %s",
                       layout_axis_name(map->axes[s])) != NULL;
    if (map->axis_count == 0)
        return layout_refuse(arena, error, "the layout has no axis m") != NULL;
    if (map->rank > 64)
        return layout_refuse(arena, error, "the shape has %u dimensions; the limit is 64",
                             (unsigned)map->rank) != NULL;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (!lane_address(arena, map, elements[lane], lane, bits, width, &banks->address[lane], error))
            return false;
    for (uint32_t begin = 0, group = 0; begin < lanes; begin += banks->group_lanes, group++) {
        uint32_t end = begin + banks->group_lanes < lanes ? begin + banks->group_lanes : lanes;
        banks->wavefronts += serve(arena, banks, group, begin, end, width);
    }
    uint32_t words = distinct_words(banks, lanes, width);
    banks->ideal = (words + BANKS - 1) / BANKS;
    return true;
}
