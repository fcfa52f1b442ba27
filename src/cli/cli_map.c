/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps of tirc run: --tensor-map m=A,box=64x16,swizzle=128. Lists are innermost first, as in the
 * driver's functions. The rules of maps are the library's. */
#include "cli/cli_map.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_OPEN = 0xffff };

static tirc_status fail(cli_input *input, const char *name, const char *what, const char *value) {
    char text[512];
    snprintf(text, sizeof text, "tensor map `%s`: %s `%s`", name, what, value);
    tirc_diagnostic_add(input->session, true, "T0815", text,
                        "as in --tensor-map m=A,box=64x16,swizzle=128; see tirc run --help");
    return TIRC_ERROR;
}

/* "64x16": up to five numbers; how many, 0: not understood. */
static uint32_t read_list(const char *text, int64_t out[5]) {
    uint32_t count = 0;
    for (;;) {
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || errno || count == 5)
            return 0;
        out[count++] = value;
        if (*end == 0)
            return count;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
}

typedef struct word_number {
    const char *word;
    uint32_t number;
} word_number;
static const word_number types[] = {{"uint8", 0},       {"int8", 0},       {"uint16", 1},   {"int16", 1},
                                    {"uint32", 2},      {"int32", 3},      {"uint64", 4},   {"int64", 5},
                                    {"float16", 6},     {"float32", 7},    {"float64", 8},  {"bfloat16", 9},
                                    {"float32ftz", 10}, {"tf32", 11},      {"tf32ftz", 12}, {"u4align8", 13},
                                    {"u4align16", 14},  {"u6align16", 15}, {NULL, 0}};
static const word_number swizzles[] = {{"none", 0},      {"32", 1},        {"64", 2},
                                       {"128", 3},       {"128atom32", 4}, {"128atom32flip8", 5},
                                       {"128atom64", 6}, {NULL, 0}};
static const word_number interleaves[] = {{"none", 0}, {"16", 1}, {"32", 2}, {NULL, 0}};
static const word_number wides[] = {{"w", 1}, {"w128", 2}, {NULL, 0}}; /* im2col::w, im2col::w::128 */
static const word_number fills[] = {{"zero", 0}, {"nan", 1}, {NULL, 0}};
static const word_number promotions[] = {{"none", 0}, {"64", 1}, {"128", 2}, {"256", 3}, {NULL, 0}};

static bool read_word(const word_number *words, const char *text, uint32_t *out) {
    for (; words->word; ++words)
        if (!strcmp(words->word, text)) {
            *out = words->number;
            return true;
        }
    return false;
}

static bool set_list(const char *key, const char *value, cli_map *m) {
    int64_t list[5];
    uint32_t count = read_list(value, list);
    bool is_dims = !strcmp(key, "dims"), is_strides = !strcmp(key, "strides"), is_box = !strcmp(key, "box");
    bool is_steps = !strcmp(key, "steps"), is_lower = !strcmp(key, "lower"), is_upper = !strcmp(key, "upper");
    if (!count)
        return false;
    for (uint32_t i = 0; i < count; ++i) {
        if (is_dims)
            m->dims[i] = (uint64_t)list[i];
        else if (is_strides)
            m->strides[i] = (uint64_t)list[i];
        else if (is_box)
            m->box[i] = list[i] < 0 || list[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)list[i];
        else if (is_steps)
            m->steps[i] = list[i] < 0 || list[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)list[i];
        else if (is_lower)
            m->lower[i] = list[i] < -100000 || list[i] > 100000 ? 100000 : (int32_t)list[i];
        else if (is_upper)
            m->upper[i] = list[i] < -100000 || list[i] > 100000 ? 100000 : (int32_t)list[i];
        else if (count != 1 || list[0] < 0)
            return false;
    }
    if (is_dims)
        m->map.rank = count;
    if (is_dims)
        m->map.dims = m->dims;
    if (is_strides)
        m->map.strides = m->strides;
    if (is_box)
        m->map.box = m->box;
    if (is_steps)
        m->map.element_strides = m->steps;
    if (!strcmp(key, "channels"))
        m->map.channels_per_pixel = (uint32_t)list[0];
    if (!strcmp(key, "pixels"))
        m->map.pixels_per_column = (uint32_t)list[0];
    if (!strcmp(key, "offset"))
        m->map.address = (uint64_t)list[0];
    return true;
}

static bool set_field(const char *key, const char *value, cli_map *m, bool *known) {
    static const char *const lists[] = {"dims",  "strides",  "box",    "steps", "lower",
                                        "upper", "channels", "pixels", "offset"};
    *known = true;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; ++i)
        if (!strcmp(key, lists[i]))
            return set_list(key, value, m);
    if (!strcmp(key, "type"))
        return read_word(types, value, &m->map.type);
    if (!strcmp(key, "swizzle"))
        return read_word(swizzles, value, &m->map.swizzle);
    if (!strcmp(key, "wide"))
        return read_word(wides, value, &m->map.wide);
    if (!strcmp(key, "interleave"))
        return read_word(interleaves, value, &m->map.interleave);
    if (!strcmp(key, "fill"))
        return read_word(fills, value, &m->map.oob_fill);
    if (!strcmp(key, "l2"))
        return read_word(promotions, value, &m->map.l2_promotion);
    *known = false;
    return false;
}

tirc_status cli_map_parse(cli_input *input, const char *name, const char *text, cli_map *out) {
    memset(out, 0, sizeof *out);
    out->map.size = sizeof out->map;
    out->map.type = TYPE_OPEN;
    out->map.lower = out->lower;
    out->map.upper = out->upper;
    for (int i = 0; i < 5; ++i)
        out->box[i] = out->steps[i] = 1;
    size_t size = strcspn(text, ",");
    if (!size || size >= sizeof out->tensor)
        return fail(input, name, "a tensor is wanted first in", text);
    memcpy(out->tensor, text, size);
    while (text[size]) {
        char part[160];
        const char *from = text + size + 1;
        size_t length = strcspn(from, ",");
        size += 1 + length;
        if (length >= sizeof part)
            return fail(input, name, "too long:", from);
        snprintf(part, sizeof part, "%.*s", (int)length, from);
        char *equals = strchr(part, '=');
        bool known = false;
        if (!equals)
            return fail(input, name, "KEY=VALUE is wanted, not", part);
        *equals = 0;
        if (!set_field(part, equals + 1, out, &known))
            return fail(input, name, known ? "not understood:" : "no such key:", known ? equals + 1 : part);
    }
    return TIRC_OK;
}

tirc_status cli_map_complete(cli_input *input, const char *name, const tirc_array *array, cli_map *map) {
    tirc_tensor_map *m = &map->map;
    tirc_dtype dtype = {0};
    if (!array->dtype || !tirc_dtype_find(array->dtype, &dtype))
        return fail(input, name, "there is no tensor", map->tensor);
    if (m->type == TYPE_OPEN && !read_word(types, array->dtype, &m->type)) {
        if (dtype.bits % 8 || dtype.bits > 64)
            return fail(input, name, "add type=...: no map type for", array->dtype);
        m->type = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 4;
    }
    if (!m->dims) {
        if (array->rank == 0 || array->rank > 5)
            return fail(input, name, "a map has 1 to 5 dimensions; add dims=... for", map->tensor);
        m->rank = array->rank;
        for (uint32_t i = 0; i < m->rank; ++i)
            map->dims[i] = (uint64_t)array->shape[m->rank - 1 - i];
        m->dims = map->dims;
    }
    if (!m->strides) {
        uint64_t stride = map->dims[0] * dtype.bits / 8;
        for (uint32_t i = 0; i + 1 < m->rank; ++i) {
            map->strides[i] = stride;
            stride *= map->dims[i + 1];
        }
        m->strides = map->strides;
    }
    if (!m->box && !m->pixels_per_column && !m->wide)
        return fail(input, name, "box=... is wanted, or channels=... and pixels=..., for", map->tensor);
    return TIRC_OK;
}
