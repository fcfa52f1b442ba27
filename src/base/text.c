/* SPDX-License-Identifier: Apache-2.0
 * Text slices, hashing, UTF-8, string builder, interned names, 64-bit map. All memory is an arena's.
 * Hashes depend on bytes only, so that tables behave the same in every run. */
#include "base/text.h"
#include "base/format.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

base_text base_text_of(const char *string) {
    return (base_text){string, strlen(string)};
}

bool base_text_equal(base_text a, base_text b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool base_text_is(base_text a, const char *string) {
    return base_text_equal(a, base_text_of(string));
}

/* Multiply to 128 bits and fold: every input bit reaches every output bit. */
static inline uint64_t mix(uint64_t a, uint64_t b) {
    a ^= 0x9e3779b97f4a7c15u;
    b ^= 0xd6e8feb86659fd93u;
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64) ^ (a << 32 | a >> 32);
}

uint64_t base_hash_mix(uint64_t a, uint64_t b) {
    return mix(a, b);
}

static inline uint64_t read_little(const unsigned char *data, size_t size) {
    uint64_t word = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == 8) {
        memcpy(&word, data, 8);
        return word;
    }
#endif
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)data[i] << (8 * i);
    return word;
}

uint64_t base_hash(const void *data, size_t size, uint64_t seed) {
    const unsigned char *bytes = data;
    uint64_t hash = mix(seed, size);
    for (; size >= 8; bytes += 8, size -= 8)
        hash = mix(hash, read_little(bytes, 8));
    if (size != 0)
        hash = mix(hash, read_little(bytes, size));
    return hash;
}

size_t base_utf8_decode(const char *data, size_t size, uint32_t *character) {
    const unsigned char *bytes = (const unsigned char *)data;
    unsigned first = bytes[0];
    *character = first;
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size < length)
        return 0;
    uint32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0u) != 0x80u)
            return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *character = code;
    return length;
}

void base_builder_start(base_builder *builder, base_arena *arena) {
    builder->arena = arena;
    builder->size = 0;
    builder->capacity = 64;
    builder->data = base_arena_allocate(arena, builder->capacity);
}

void base_builder_grow(base_builder *builder, size_t more) {
    if (more < builder->capacity - builder->size)
        return;
    size_t wanted = 0;
    if (__builtin_add_overflow(builder->size, more, &wanted) || wanted > SIZE_MAX / 4)
        base_heap_escape(base_arena_heap(builder->arena), BASE_OUT_OF_MEMORY);
    size_t capacity = builder->capacity;
    while (capacity <= wanted)
        capacity *= 2;
    if (base_arena_extend(builder->arena, builder->data, builder->capacity, capacity)) {
        builder->capacity = capacity;
        return;
    }
    char *grown = base_arena_allocate(builder->arena, capacity);
    memcpy(grown, builder->data, builder->size + 1);
    builder->data = grown;
    builder->capacity = capacity;
}

void base_builder_decimal(base_builder *builder, int64_t value) {
    char digits[24], *first = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--first = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        *--first = '-';
    base_builder_add(builder, first, (size_t)(digits + sizeof digits - first));
}

void base_builder_repeat(base_builder *builder, char c, size_t count) {
    base_builder_grow(builder, count);
    memset(builder->data + builder->size, c, count);
    builder->size += count;
    builder->data[builder->size] = 0;
}

void base_builder_format(base_builder *builder, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = builder->capacity - builder->size;
    int size = base_format_list(builder->data + builder->size, room, format, arguments);
    va_end(arguments);
    if (size < 0) {
        builder->data[builder->size] = 0;
        base_heap_escape(base_arena_heap(builder->arena), BASE_OUT_OF_MEMORY);
    }
    if ((size_t)size >= room) {
        builder->data[builder->size] = 0;
        base_builder_grow(builder, (size_t)size);
        va_start(arguments, format);
        base_format_list(builder->data + builder->size, (size_t)size + 1, format, arguments);
        va_end(arguments);
    }
    builder->size += (size_t)size;
}

void base_builder_json(base_builder *builder, const char *data, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t plain = 0; /* what stands for itself */
        while (i + plain < size && data[i + plain] >= 0x20 && data[i + plain] < 0x7f &&
               data[i + plain] != '"' && data[i + plain] != '\\')
            plain++;
        if (plain != 0) {
            base_builder_add(builder, data + i, plain);
            i += plain;
            continue;
        }
        uint32_t character = 0;
        size_t length = base_utf8_decode(data + i, size - i, &character);
        if (length == 0) {
            base_builder_string(builder, "\\ufffd");
            length = 1;
        } else if (character == '"' || character == '\\') {
            base_builder_char(builder, '\\');
            base_builder_char(builder, data[i]);
        } else if (character == '\n') {
            base_builder_string(builder, "\\n");
        } else if (character == '\t') {
            base_builder_string(builder, "\\t");
        } else if (character == '\r') {
            base_builder_string(builder, "\\r");
        } else if (character < 0x20 || character == 0x7f) {
            base_builder_format(builder, "\\u%04x", (unsigned)character);
        } else {
            base_builder_add(builder, data + i, length);
        }
        i += length;
    }
}

/* Interned names: open addressing, linear probing, at most half full. */
typedef struct name_entry {
    const char *data; /* NULL: free */
    uint32_t size, hash;
} name_entry;

struct base_names {
    base_arena *arena;
    name_entry *entries;
    size_t count, capacity; /* capacity is a power of two */
};

base_names *base_names_create(base_arena *arena) {
    base_names *names = BASE_NEW(arena, base_names);
    names->arena = arena;
    names->capacity = 64;
    names->entries = BASE_NEW_ARRAY(arena, name_entry, names->capacity);
    return names;
}

static void names_grow(base_names *names) {
    size_t capacity = names->capacity * 2;
    name_entry *entries = BASE_NEW_ARRAY(names->arena, name_entry, capacity);
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->entries[i].data == NULL)
            continue;
        size_t slot = names->entries[i].hash & (capacity - 1);
        while (entries[slot].data != NULL)
            slot = (slot + 1) & (capacity - 1);
        entries[slot] = names->entries[i];
    }
    names->entries = entries;
    names->capacity = capacity;
}

const char *base_name(base_names *names, const char *data, size_t size) {
    uint64_t full = base_hash(data, size, 0);
    uint32_t hash = (uint32_t)(full ^ full >> 32);
    if (size > UINT32_MAX)
        base_heap_escape(base_arena_heap(names->arena), BASE_OUT_OF_MEMORY);
    if ((names->count + 1) * 2 > names->capacity)
        names_grow(names);
    size_t slot = hash & (names->capacity - 1);
    for (; names->entries[slot].data != NULL; slot = (slot + 1) & (names->capacity - 1)) {
        const name_entry *entry = &names->entries[slot];
        if (entry->hash == hash && entry->size == size && (size == 0 || memcmp(entry->data, data, size) == 0))
            return entry->data;
    }
    names->entries[slot] = (name_entry){base_arena_string(names->arena, data, size), (uint32_t)size, hash};
    names->count++;
    return names->entries[slot].data;
}

const char *base_name_of(base_names *names, const char *string) {
    return base_name(names, string, strlen(string));
}

base_map *base_map_create(base_arena *arena) {
    base_map *map = BASE_NEW(arena, base_map);
    map->arena = arena;
    return map;
}

enum { MAP_SHIFT_FIRST = 64 - 4 };

static void map_grow(base_map *map) {
    unsigned shift = map->entries ? map->shift - 1 : MAP_SHIFT_FIRST;
    struct base_map_entry *old = map->entries, *entries = BASE_NEW_ARRAY(map->arena, struct base_map_entry,
                                                                         (size_t)1 << (64 - shift));
    for (size_t i = 0; old && i < (size_t)1 << (64 - map->shift); i++)
        if (old[i].key != 0)
            *base_map_slot(entries, shift, old[i].key) = old[i];
    map->entries = entries;
    map->shift = shift;
}

void base_map_set(base_map *map, uint64_t key, void *value) {
    if (key == 0) {
        map->count += map->has_zero ? 0 : 1;
        map->has_zero = true;
        map->zero = value;
        return;
    }
    if (!map->entries || (map->count + 1) * 2 > (size_t)1 << (64 - map->shift))
        map_grow(map);
    struct base_map_entry *entry = base_map_slot(map->entries, map->shift, key);
    map->count += entry->key == 0 ? 1 : 0;
    *entry = (struct base_map_entry){key, value};
}

size_t base_map_count(const base_map *map) {
    return map->count;
}
