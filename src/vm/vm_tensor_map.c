/* SPDX-License-Identifier: Apache-2.0
 * Tensor maps as data: rules, our encoding, replacing a field, swizzled addresses. Knows no machine state. */
#include "vm/vm_tensor_map.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct tensor_type_row {
    uint8_t bits;
    bool is_float;
} tensor_type_row;
static const tensor_type_row type_rows[VM_TENSOR_TYPE_COUNT] = {
    [VM_TENSOR_U8] = {8, false},         [VM_TENSOR_U16] = {16, false},
    [VM_TENSOR_U32] = {32, false},       [VM_TENSOR_S32] = {32, false},
    [VM_TENSOR_U64] = {64, false},       [VM_TENSOR_S64] = {64, false},
    [VM_TENSOR_F16] = {16, true},        [VM_TENSOR_F32] = {32, true},
    [VM_TENSOR_F64] = {64, true},        [VM_TENSOR_BF16] = {16, true},
    [VM_TENSOR_F32_FTZ] = {32, true},    [VM_TENSOR_TF32] = {32, true},
    [VM_TENSOR_TF32_FTZ] = {32, true},   [VM_TENSOR_U4_ALIGN8] = {4, false},
    [VM_TENSOR_U4_ALIGN16] = {4, false}, [VM_TENSOR_U6_ALIGN16] = {6, false}};

uint32_t vm_tensor_type_bits(vm_tensor_type type) {
    return type < VM_TENSOR_TYPE_COUNT ? type_rows[type].bits : 8;
}

/* ---- swizzles ---- */
bool vm_tensor_swizzle_of(uint32_t number, vm_tensor_swizzle *swizzle, vm_tensor_atom *atom) {
    *swizzle = number <= 3 ? (vm_tensor_swizzle)number : VM_TENSOR_SWIZZLE_128;
    *atom = number > 3 ? (vm_tensor_atom)(number - 3) : VM_TENSOR_ATOM_16;
    return number <= 6;
}

uint32_t vm_tensor_swizzle_number(vm_tensor_swizzle swizzle, vm_tensor_atom atom) {
    return (uint32_t)swizzle + (swizzle == VM_TENSOR_SWIZZLE_128 ? (uint32_t)atom : 0);
}

uint32_t vm_tensor_swizzle_span(vm_tensor_swizzle swizzle) {
    static const uint8_t spans[] = {0, 32, 64, 128, 96};
    return spans[swizzle];
}

uint32_t vm_tensor_swizzle_address(vm_tensor_swizzle swizzle, vm_tensor_atom atom, uint32_t address) {
    uint32_t line = address >> 7;
    switch (swizzle) {
    case VM_TENSOR_SWIZZLE_32:
    case VM_TENSOR_SWIZZLE_96:
        return address ^ (line & 1) << 4;
    case VM_TENSOR_SWIZZLE_64:
        return address ^ (line & 3) << 4;
    case VM_TENSOR_SWIZZLE_128:
        switch (atom) {
        case VM_TENSOR_ATOM_32:
            return address ^ (line & 3) << 5;
        case VM_TENSOR_ATOM_32_FLIP_8: /* and the halves of 16 bytes change places in every other line */
            return address ^ (line & 3) << 5 ^ (line & 1) << 3;
        case VM_TENSOR_ATOM_64:
            return address ^ (line & 1) << 6;
        default:
            return address ^ (line & 7) << 4;
        }
    default:
        return address;
    }
}

uint32_t vm_tensor_pixels(const vm_tensor_map *map) {
    return map->mode == VM_TENSOR_IM2COL_W128 ? 128 : map->pixels;
}

/* ---- rules ---- */
typedef struct tensor_check {
    vm_tensor_problem *problems;
    size_t count;
} tensor_check;

static void broken(tensor_check *c, vm_tensor_rule rule, uint32_t index, int64_t value, int64_t limit) {
    if (c->count < VM_TENSOR_PROBLEMS)
        c->problems[c->count++] = (vm_tensor_problem){rule, index, value, limit};
}

static void check_tensor(tensor_check *c, const vm_tensor_map *map, uint32_t rank) {
    bool padded = map->type == VM_TENSOR_U4_ALIGN16 || map->type == VM_TENSOR_U6_ALIGN16;
    uint32_t unit = padded || map->interleave == VM_TENSOR_INTERLEAVE_32 ? 32 : 16;
    if (map->address % unit != 0)
        broken(c, VM_TENSOR_RULE_ADDRESS, 0, (int64_t)map->address, unit);
    for (uint32_t i = 0; i < rank; i++)
        if (map->dim[i] == 0 || map->dim[i] > 1ull << 32)
            broken(c, VM_TENSOR_RULE_DIM, i, (int64_t)map->dim[i], 0);
    uint32_t multiple = padded ? 128 : map->type == VM_TENSOR_U4_ALIGN8 ? 2 : 1;
    if (map->dim[0] % multiple != 0)
        broken(c, VM_TENSOR_RULE_DIM_MULTIPLE, 0, (int64_t)map->dim[0], multiple);
    for (uint32_t i = 0; i + 1 < rank; i++) {
        if (map->stride[i] % unit != 0)
            broken(c, VM_TENSOR_RULE_STRIDE_MULTIPLE, i, (int64_t)map->stride[i], unit);
        if (map->stride[i] >= 1ull << 40)
            broken(c, VM_TENSOR_RULE_STRIDE_LIMIT, i, (int64_t)map->stride[i], 0);
    }
    for (uint32_t i = 0; i < rank; i++) /* of dimension 0 too, although it counts under an interleave only */
        if (map->step[i] == 0 || map->step[i] > 8)
            broken(c, VM_TENSOR_RULE_STEP, i, map->step[i], 8);
}

/* Bytes of the inner dimension of the box, against 16-byte chunks and the span of the swizzle. */
static void check_inner(tensor_check *c, const vm_tensor_map *map, uint64_t elements,
                        vm_tensor_rule bytes_rule, vm_tensor_rule packed_rule) {
    bool padded = map->type == VM_TENSOR_U4_ALIGN16 || map->type == VM_TENSOR_U6_ALIGN16;
    uint64_t bits = elements * vm_tensor_type_bits(map->type), span = vm_tensor_swizzle_span(map->swizzle);
    if (padded && elements != 128) {
        broken(c, packed_rule, 0, (int64_t)elements, 128);
        return;
    }
    if (bits % 128 != 0)
        broken(c, bytes_rule, 0, (int64_t)(bits / 8), 16);
    uint64_t bytes = padded ? 128 : bits / 8;
    if (span && map->interleave == VM_TENSOR_INTERLEAVE_NONE && bytes > span)
        broken(c, VM_TENSOR_RULE_SWIZZLE_SPAN, 0, (int64_t)bytes, (int64_t)span);
}

/* cuTensorMapEncode refuses boxes that no shared memory holds; steps are divided as the driver divides them.
 */
static void check_total(tensor_check *c, const vm_tensor_map *map, uint64_t elements) {
    uint64_t bytes = elements * vm_tensor_type_bits(map->type) / 8, most = 228 * 1024;
    if (bytes > most)
        broken(c, VM_TENSOR_RULE_TOTAL, 0, (int64_t)bytes, (int64_t)most);
}

static void check_tiled(tensor_check *c, const vm_tensor_map *map, uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        if (map->box[i] == 0 || map->box[i] > 256)
            broken(c, VM_TENSOR_RULE_BOX, i, map->box[i], 256);
    check_inner(c, map, map->box[0], VM_TENSOR_RULE_BOX_BYTES, VM_TENSOR_RULE_BOX_PACKED);
    uint64_t elements = 1;
    for (uint32_t i = 0; i < rank; i++)
        elements *= map->box[i] <= 256 && map->step[i] ? map->box[i] / map->step[i] : 1;
    check_total(c, map, elements);
}

static void check_im2col(tensor_check *c, const vm_tensor_map *map, uint32_t rank) {
    if (rank < 3) {
        broken(c, VM_TENSOR_RULE_RANK_IM2COL, 0, map->rank, 3);
        return;
    }
    /* (C, W, H, D, N), or (W, H, D, C, N) under an interleave */
    uint32_t first = map->interleave == VM_TENSOR_INTERLEAVE_NONE;
    bool wide = vm_tensor_is_wide(map->mode);
    uint32_t pixels = vm_tensor_pixels(map);
    int32_t half = wide || rank == 3 ? 32768 : rank == 4 ? 128 : 16;
    for (uint32_t i = 0; i < (wide ? 1 : rank - 2); i++) {
        bool bad = map->lower[i] < -half || map->lower[i] >= half;
        if (bad)
            broken(c, VM_TENSOR_RULE_CORNER_LOWER, i, map->lower[i], half);
        if (map->upper[i] < -half || map->upper[i] >= half)
            broken(c, VM_TENSOR_RULE_CORNER_UPPER, i, map->upper[i], half);
        else if (!bad && map->dim[first + i] <= 1ull << 32) {
            int64_t extent = (int64_t)map->dim[first + i] + map->upper[i] - map->lower[i];
            if (extent <= 0)
                broken(c, VM_TENSOR_RULE_CORNER_EMPTY, first + i, extent, 1);
        }
    }
    if (map->channels == 0 || map->channels > 256)
        broken(c, VM_TENSOR_RULE_CHANNELS, 0, map->channels, 256);
    check_inner(c, map, map->channels, VM_TENSOR_RULE_CHANNELS_BYTES, VM_TENSOR_RULE_CHANNELS_PACKED);
    if (pixels == 0 || pixels > 1024)
        broken(c, VM_TENSOR_RULE_PIXELS, 0, pixels, 1024);
    if (map->channels <= 256 && pixels <= 1024)
        check_total(c, map, (uint64_t)map->channels * pixels);
    bool narrow = map->swizzle != VM_TENSOR_SWIZZLE_64 && map->swizzle != VM_TENSOR_SWIZZLE_128;
    if (wide && (narrow || map->atom > VM_TENSOR_ATOM_32))
        broken(c, VM_TENSOR_RULE_WIDE_SWIZZLE, 0, vm_tensor_swizzle_number(map->swizzle, map->atom), 0);
    if (wide && map->interleave != VM_TENSOR_INTERLEAVE_NONE)
        broken(c, VM_TENSOR_RULE_WIDE_INTERLEAVE, 0, map->interleave, 0);
}

static void check_modes(tensor_check *c, const vm_tensor_map *map) {
    bool padded = map->type == VM_TENSOR_U4_ALIGN16 || map->type == VM_TENSOR_U6_ALIGN16;
    uint32_t number = vm_tensor_swizzle_number(map->swizzle, map->atom);
    if (map->interleave == VM_TENSOR_INTERLEAVE_32 && map->swizzle != VM_TENSOR_SWIZZLE_32)
        broken(c, VM_TENSOR_RULE_INTERLEAVE_SWIZZLE, 0, number, 1);
    if (map->interleave != VM_TENSOR_INTERLEAVE_NONE && map->type == VM_TENSOR_U6_ALIGN16)
        broken(c, VM_TENSOR_RULE_INTERLEAVE_PACKED, 0, map->interleave, 0);
    if (map->swizzle == VM_TENSOR_SWIZZLE_96)
        broken(c, VM_TENSOR_RULE_SWIZZLE_96, 0, 4, 0);
    if (map->atom != VM_TENSOR_ATOM_16 && map->swizzle != VM_TENSOR_SWIZZLE_128)
        broken(c, VM_TENSOR_RULE_ATOM, 0, map->atom, 0);
    if (padded && map->swizzle != VM_TENSOR_SWIZZLE_NONE &&
        (map->swizzle != VM_TENSOR_SWIZZLE_128 || map->atom == VM_TENSOR_ATOM_32_FLIP_8))
        broken(c, VM_TENSOR_RULE_SWIZZLE_PACKED, 0, number, 0);
    if (map->promotion > 3)
        broken(c, VM_TENSOR_RULE_PROMOTION, 0, map->promotion, 3);
    if (map->fill == VM_TENSOR_FILL_NAN && !type_rows[map->type].is_float)
        broken(c, VM_TENSOR_RULE_FILL_TYPE, 0, map->type, 0);
}

size_t vm_tensor_map_check(const vm_tensor_map *map, vm_tensor_problem problems[VM_TENSOR_PROBLEMS]) {
    tensor_check c = {problems, 0};
    if ((unsigned)map->type >= VM_TENSOR_TYPE_COUNT)
        broken(&c, VM_TENSOR_RULE_TYPE, 0, map->type, VM_TENSOR_TYPE_COUNT - 1);
    if ((unsigned)map->interleave > VM_TENSOR_INTERLEAVE_32)
        broken(&c, VM_TENSOR_RULE_INTERLEAVE, 0, map->interleave, 2);
    if ((unsigned)map->swizzle > VM_TENSOR_SWIZZLE_96 || (unsigned)map->atom > VM_TENSOR_ATOM_64)
        broken(&c, VM_TENSOR_RULE_SWIZZLE, 0, vm_tensor_swizzle_number(map->swizzle, map->atom), 6);
    if ((unsigned)map->fill > VM_TENSOR_FILL_NAN)
        broken(&c, VM_TENSOR_RULE_FILL, 0, map->fill, 1);
    if (map->rank == 0 || map->rank > VM_TENSOR_RANK)
        broken(&c, VM_TENSOR_RULE_RANK, 0, map->rank, 5);
    if (c.count) /* the rules below need numbers that mean something */
        return c.count;
    if (map->interleave != VM_TENSOR_INTERLEAVE_NONE && map->rank < 3)
        broken(&c, VM_TENSOR_RULE_RANK_INTERLEAVE, 0, map->rank, 3);
    check_tensor(&c, map, map->rank);
    if (map->mode == VM_TENSOR_TILED)
        check_tiled(&c, map, map->rank);
    else
        check_im2col(&c, map, map->rank);
    check_modes(&c, map);
    return c.count;
}

void vm_tensor_problem_text(const vm_tensor_problem *problem, char *text, size_t size) {
    static const char *const texts[VM_TENSOR_RULE_COUNT] = {
#define X(name, words) words,
        VM_TENSOR_RULES(X)
#undef X
    };
    size_t at = 0;
    if (size)
        text[0] = 0;
    for (const char *p = texts[problem->rule]; *p && at + 1 < size; p++) {
        int written = 1;
        if (*p != '%') {
            text[at] = *p;
            text[at + 1] = 0;
        } else if (*++p == 'i')
            written = snprintf(text + at, size - at, "%u", problem->index);
        else if (*p == 'a')
            written = snprintf(text + at, size - at, "0x%llx", (unsigned long long)problem->value);
        else
            written = snprintf(text + at, size - at, "%lld",
                               (long long)(*p == 'l' ? problem->limit : problem->value));
        at += (size_t)written;
    }
}

/* ---- our encoding ---- */
/* Offsets; the rest is zero. */
enum {
    AT_MAGIC = 0,
    AT_MODE = 8,
    AT_TYPE = 9,
    AT_RANK = 10,
    AT_INTERLEAVE = 11,
    AT_SWIZZLE = 12,
    AT_ATOM = 13,
    AT_PROMOTION = 14,
    AT_FILL = 15,
    AT_ADDRESS = 16,
    AT_DIM = 24,    /* 5 of 5 bytes */
    AT_STEP = 49,   /* 5 of 1 */
    AT_BOX = 54,    /* 5 of 2 */
    AT_STRIDE = 64, /* 4 of 8 */
    AT_LOWER = 96,  /* 3 of 2 */
    AT_UPPER = 102,
    AT_CHANNELS = 108,
    AT_PIXELS = 110,
    AT_CHECK = 120
};
static const uint8_t magic[8] = {'t', 'i', 'r', 'c', 'T', 'M', 'A', 1};

static void put(uint8_t *to, unsigned bytes, uint64_t value) {
    uint64_t most = bytes < 8 ? (1ull << 8 * bytes) - 1 : UINT64_MAX;
    value = value > most ? most : value;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void put_signed(uint8_t *to, int32_t value) {
    value = value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value;
    put(to, 2, (uint16_t)value);
}

static uint64_t get(const uint8_t *from, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | from[i];
    return value;
}

static uint64_t checksum(const uint8_t *bytes) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < AT_CHECK; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

void vm_tensor_map_write(const vm_tensor_map *map, uint8_t bytes[VM_TENSOR_MAP_BYTES]) {
    memset(bytes, 0, VM_TENSOR_MAP_BYTES);
    memcpy(bytes, magic, sizeof magic);
    bytes[AT_MODE] = (uint8_t)map->mode;
    put(bytes + AT_TYPE, 1, map->type);
    put(bytes + AT_RANK, 1, map->rank);
    put(bytes + AT_INTERLEAVE, 1, map->interleave);
    put(bytes + AT_SWIZZLE, 1, map->swizzle);
    put(bytes + AT_ATOM, 1, map->atom);
    put(bytes + AT_PROMOTION, 1, map->promotion);
    put(bytes + AT_FILL, 1, map->fill);
    put(bytes + AT_ADDRESS, 8, map->address);
    for (unsigned i = 0; i < VM_TENSOR_RANK; i++) {
        put(bytes + AT_DIM + 5 * i, 5, map->dim[i]);
        put(bytes + AT_STEP + i, 1, map->step[i]);
        put(bytes + AT_BOX + 2 * i, 2, map->box[i]);
    }
    for (unsigned i = 0; i + 1 < VM_TENSOR_RANK; i++)
        put(bytes + AT_STRIDE + 8 * i, 8, map->stride[i]);
    for (unsigned i = 0; i < 3; i++) {
        put_signed(bytes + AT_LOWER + 2 * i, map->lower[i]);
        put_signed(bytes + AT_UPPER + 2 * i, map->upper[i]);
    }
    put(bytes + AT_CHANNELS, 2, map->channels);
    put(bytes + AT_PIXELS, 2, map->pixels);
    put(bytes + AT_CHECK, 8, checksum(bytes));
}

vm_tensor_read vm_tensor_map_read(const uint8_t bytes[VM_TENSOR_MAP_BYTES], vm_tensor_map *map) {
    memset(map, 0, sizeof *map);
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return VM_TENSOR_READ_FOREIGN;
    if (get(bytes + AT_CHECK, 8) != checksum(bytes) || bytes[AT_MODE] > VM_TENSOR_IM2COL_W128)
        return VM_TENSOR_READ_DAMAGED;
    map->mode = (vm_tensor_mode)bytes[AT_MODE];
    map->type = (vm_tensor_type)bytes[AT_TYPE];
    map->rank = bytes[AT_RANK];
    map->interleave = (vm_tensor_interleave)bytes[AT_INTERLEAVE];
    map->swizzle = (vm_tensor_swizzle)bytes[AT_SWIZZLE];
    map->atom = (vm_tensor_atom)bytes[AT_ATOM];
    map->promotion = bytes[AT_PROMOTION];
    map->fill = (vm_tensor_fill)bytes[AT_FILL];
    map->address = get(bytes + AT_ADDRESS, 8);
    for (unsigned i = 0; i < VM_TENSOR_RANK; i++) {
        map->dim[i] = get(bytes + AT_DIM + 5 * i, 5);
        map->step[i] = (uint32_t)get(bytes + AT_STEP + i, 1);
        map->box[i] = (uint32_t)get(bytes + AT_BOX + 2 * i, 2);
    }
    for (unsigned i = 0; i + 1 < VM_TENSOR_RANK; i++)
        map->stride[i] = get(bytes + AT_STRIDE + 8 * i, 8);
    for (unsigned i = 0; i < 3; i++) {
        map->lower[i] = (int16_t)get(bytes + AT_LOWER + 2 * i, 2);
        map->upper[i] = (int16_t)get(bytes + AT_UPPER + 2 * i, 2);
    }
    map->channels = (uint32_t)get(bytes + AT_CHANNELS, 2);
    map->pixels = (uint32_t)get(bytes + AT_PIXELS, 2);
    return VM_TENSOR_READ_OK;
}

/* ---- tensormap.replace ---- */
bool vm_tensor_map_replace(vm_tensor_map *map, vm_tensor_field field, uint32_t ordinal, uint64_t value) {
    /* The numbers of .elemtype are not those of CUtensorMapDataType: PTX ISA 9.0, Table 33. */
    static const uint8_t types[] = {
        VM_TENSOR_U8,       VM_TENSOR_U16,       VM_TENSOR_U32,        VM_TENSOR_S32,
        VM_TENSOR_U64,      VM_TENSOR_S64,       VM_TENSOR_F16,        VM_TENSOR_F32,
        VM_TENSOR_F32_FTZ,  VM_TENSOR_F64,       VM_TENSOR_BF16,       VM_TENSOR_TF32,
        VM_TENSOR_TF32_FTZ, VM_TENSOR_U4_ALIGN8, VM_TENSOR_U4_ALIGN16, VM_TENSOR_U6_ALIGN16};
    bool inner = ordinal < VM_TENSOR_RANK;
    switch (field) {
    case VM_TENSOR_FIELD_GLOBAL_ADDRESS:
        map->address = value;
        return true;
    case VM_TENSOR_FIELD_RANK:
        map->rank = (uint32_t)value + 1;
        return value < VM_TENSOR_RANK;
    case VM_TENSOR_FIELD_BOX_DIM:
        if (inner)
            map->box[ordinal] = (uint32_t)value;
        return inner;
    case VM_TENSOR_FIELD_GLOBAL_DIM:
        if (inner)
            map->dim[ordinal] = value;
        return inner;
    case VM_TENSOR_FIELD_GLOBAL_STRIDE:
        inner = ordinal + 1 < VM_TENSOR_RANK;
        if (inner)
            map->stride[ordinal] = value;
        return inner;
    case VM_TENSOR_FIELD_ELEMENT_STRIDE:
        if (inner)
            map->step[ordinal] = (uint32_t)value;
        return inner;
    case VM_TENSOR_FIELD_ELEMTYPE:
        if (value < VM_TENSOR_TYPE_COUNT)
            map->type = (vm_tensor_type)types[value];
        return value < VM_TENSOR_TYPE_COUNT;
    case VM_TENSOR_FIELD_INTERLEAVE_LAYOUT:
        map->interleave = (vm_tensor_interleave)(value & 3);
        return value <= VM_TENSOR_INTERLEAVE_32;
    case VM_TENSOR_FIELD_SWIZZLE_MODE:
        map->swizzle = (vm_tensor_swizzle)(value & 7);
        return value <= VM_TENSOR_SWIZZLE_96;
    case VM_TENSOR_FIELD_SWIZZLE_ATOMICITY:
        map->atom = (vm_tensor_atom)(value & 3);
        return value <= VM_TENSOR_ATOM_64;
    case VM_TENSOR_FIELD_FILL_MODE:
        map->fill = (vm_tensor_fill)(value & 1);
        return value <= VM_TENSOR_FILL_NAN;
    }
    return false;
}
