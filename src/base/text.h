/* SPDX-License-Identifier: Apache-2.0
 * Text slices, a string builder, interned names, and a hash map keyed by 64-bit values. */
#ifndef TIRC_BASE_TEXT_H
#define TIRC_BASE_TEXT_H
#include "base/heap.h"
#include <string.h>

/* A borrowed piece of text, not zero-terminated. */
typedef struct base_text {
    const char *data;
    size_t size;
} base_text;
base_text base_text_of(const char *string);
bool base_text_equal(base_text a, base_text b);
bool base_text_is(base_text a, const char *string);
uint64_t base_hash(const void *data, size_t size, uint64_t seed);
uint64_t base_hash_mix(uint64_t a, uint64_t b);

/* The character at data (size >= 1) and its length in bytes; 0 when the bytes are not valid UTF-8. */
size_t base_utf8_decode(const char *data, size_t size, uint32_t *character);

/* Builder: grows in an arena; data is always zero-terminated. */
typedef struct base_builder {
    base_arena *arena;
    char *data;
    size_t size, capacity;
} base_builder;
void base_builder_start(base_builder *builder, base_arena *arena);
void base_builder_grow(base_builder *builder,
                       size_t more); /* room for that many bytes and the closing zero */
static inline void base_builder_add(base_builder *builder, const char *data, size_t size) {
    if (size >= builder->capacity - builder->size)
        base_builder_grow(builder, size);
    if (size != 0)
        memcpy(builder->data + builder->size, data, size);
    builder->size += size;
    builder->data[builder->size] = 0;
}
static inline void base_builder_string(base_builder *builder, const char *string) {
    base_builder_add(builder, string, strlen(string));
}
static inline void base_builder_char(base_builder *builder, char c) {
    if (builder->capacity - builder->size > 1) { /* room for the closing zero too */
        builder->data[builder->size++] = c;
        builder->data[builder->size] = 0;
    } else {
        base_builder_add(builder, &c, 1);
    }
}
/* base_builder_string for what is short and not known at compile time, such as names. */
static inline void base_builder_name(base_builder *builder, const char *name) {
    size_t room = builder->capacity - builder->size, i = 0;
    char *to = builder->data + builder->size;
    while (i < room && (to[i] = name[i]) != 0)
        i++;
    if (i < room) {
        builder->size += i;
    } else {
        builder->data[builder->size] = 0;
        base_builder_string(builder, name);
    }
}
void base_builder_decimal(base_builder *builder, int64_t value);
void base_builder_repeat(base_builder *builder, char c, size_t count);
void base_builder_format(base_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds the text as the inside of a JSON string (no quotes added); invalid UTF-8 becomes U+FFFD. */
void base_builder_json(base_builder *builder, const char *data, size_t size);

/* Interned names: equal text gives the same pointer within one table. */
typedef struct base_names base_names;
base_names *base_names_create(base_arena *arena);
const char *base_name(base_names *names, const char *data, size_t size);
const char *base_name_of(base_names *names, const char *string);

/* Map from a 64-bit key (an integer or a pointer) to a pointer. Arena memory, insertion only, keys unique. */
typedef struct base_map {
    base_arena *arena;
    struct base_map_entry {
        uint64_t key; /* 0: free */
        void *value;
    } * entries; /* NULL until something is kept; at most half full */
    size_t count;
    unsigned shift; /* 64 - log2 of the number of entries */
    bool has_zero;  /* the value of key 0 lives beside the table */
    void *zero;
} base_map;
base_map *base_map_create(base_arena *arena);
void base_map_set(base_map *map, uint64_t key, void *value);
/* Keys are numbers of things, addresses and hashes: a product's high bits spread them all. */
static inline struct base_map_entry *base_map_slot(struct base_map_entry *entries, unsigned shift,
                                                   uint64_t key) {
    size_t mask = SIZE_MAX >> shift, slot = (key * 0x9e3779b97f4a7c15u) >> shift;
    while (entries[slot].key != 0 && entries[slot].key != key)
        slot = (slot + 1) & mask;
    return &entries[slot];
}
/* NULL when absent. */
static inline void *base_map_get(const base_map *map, uint64_t key) {
    if (key == 0)
        return map->zero;
    return map->entries ? base_map_slot(map->entries, map->shift, key)->value : NULL;
}
size_t base_map_count(const base_map *map);
#define BASE_KEY(pointer) ((uint64_t)(uintptr_t)(pointer))
#endif
