/* SPDX-License-Identifier: Apache-2.0
 * Memory: a heap counts every byte and owns arenas; running out of memory or over a limit unwinds to
 * base_heap_run, the only non-local exit of the library. Knows nothing of what is stored.
 * A heap belongs to one thread at a time; threads that work at once have one heap each. */
#ifndef TIRC_BASE_HEAP_H
#define TIRC_BASE_HEAP_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct base_heap base_heap;
typedef struct base_arena base_arena;

/* How a protected run ended. */
typedef enum base_outcome { BASE_DONE, BASE_OUT_OF_MEMORY, BASE_LIMIT_REACHED } base_outcome;

/* new_size 0 frees; old NULL allocates; NULL result = no memory. Sizes are exact, so a hook can account. */
typedef void *(*base_allocate_function)(void *user, void *old, size_t old_size, size_t new_size);

typedef struct base_heap_options {
    base_allocate_function allocate; /* NULL: pages of the system */
    void *user;
    size_t limit_bytes; /* 0: no limit; reaching it is BASE_LIMIT_REACHED */
} base_heap_options;

base_heap *base_heap_create(const base_heap_options *options); /* NULL options: defaults. NULL: no memory */
void base_heap_destroy(base_heap *heap);                       /* destroys every arena still alive */
size_t base_heap_used(const base_heap *heap);
size_t base_heap_peak(const base_heap *heap);

/* Size of the chunks that arenas take from here on, instead of 64 KiB growing to 1 MiB: small ones let tests
 * see every allocation at the hook. */
void base_heap_set_chunk(base_heap *heap, size_t bytes);

/* Runs body(argument). When an allocation fails inside, arenas created during the run are destroyed and the
 * reason is returned. Runs nest; the innermost catches. */
base_outcome base_heap_run(base_heap *heap, void (*body)(void *argument), void *argument);
/* Leaves the innermost run with this outcome; aborts the process when there is none (a bug in tirc). */
_Noreturn void base_heap_escape(base_heap *heap, base_outcome outcome);

base_arena *base_arena_create(base_heap *heap);
void base_arena_destroy(base_arena *arena);
base_heap *base_arena_heap(const base_arena *arena);
/* Zeroed, aligned to 16; size 0 gives a unique pointer. Never NULL: failure escapes. */
void *base_arena_allocate(base_arena *arena, size_t size);
/* count * size with overflow check. */
void *base_arena_allocate_array(base_arena *arena, size_t count, size_t size);
/* More room for the block where it stands, when nothing was allocated after it and the chunk has it; the room
 * is zero. False: it stays as it is. */
bool base_arena_extend(base_arena *arena, void *block, size_t size, size_t wanted);
void *base_arena_copy(base_arena *arena, const void *data, size_t size);
char *base_arena_string(base_arena *arena, const char *data, size_t size); /* copy, zero-terminated */
char *base_arena_format(base_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *base_arena_format_list(base_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#define BASE_NEW(arena, type)              ((type *)base_arena_allocate((arena), sizeof(type)))
#define BASE_NEW_ARRAY(arena, type, count) ((type *)base_arena_allocate_array((arena), (count), sizeof(type)))

/* Growing arrays in an arena: struct { T *items; size_t count, capacity; } */
#define BASE_VECTOR(type)                                                                                    \
    struct {                                                                                                 \
        type *items;                                                                                         \
        size_t count, capacity;                                                                              \
    }
void *base_vector_grow(base_arena *arena, void *items, size_t count, size_t *capacity, size_t item_size);
#define base_vector_push(arena, vector, ...)                                                                 \
    ((vector)->count == (vector)->capacity                                                                   \
         ? (void)((vector)->items = base_vector_grow((arena), (vector)->items, (vector)->count,              \
                                                     &(vector)->capacity, sizeof(*(vector)->items)))         \
         : (void)0,                                                                                          \
     (void)((vector)->items[(vector)->count++] = (__VA_ARGS__)))
#endif
