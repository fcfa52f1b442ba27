/* SPDX-License-Identifier: Apache-2.0
 * Heap and arenas. Every byte taken from the allocation function is counted, the heap's own record included.
 * A heap and all that hangs on it belongs to one thread at a time: threads that work at once have one heap
 * each, and hand over results as copies. Knows nothing of what is stored. */
#include "base/heap.h"
#include "base/format.h"
#include "base/pages.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_ASAN 1
#endif
#endif
#ifdef HEAP_ASAN
#include <sanitizer/asan_interface.h>
/* Room between two neighbours, so that an overrun of a multiple of 16 bytes is seen too; malloc knows leaks.
 */
enum { HEAP_GAP = 16, HEAP_PAGES = 0 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { HEAP_GAP = 0, HEAP_PAGES = 1 };
#endif

enum { ALIGNMENT = 16, CHUNK_FIRST = 64 * 1024, CHUNK_LARGEST = 1024 * 1024 };

typedef struct chunk chunk;
struct chunk {
    chunk *next;
    size_t size;  /* whole block, this record included */
    size_t asked; /* what of it counts */
    bool zeroed;  /* what is free is zero */
};
#define CHUNK_HEADER ((sizeof(chunk) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1))

struct base_arena {
    base_heap *heap;
    base_arena *older, *newer;
    uint64_t serial;
    chunk *chunks; /* the first one is the one being filled */
    char *free;    /* what of it was never handed out */
    size_t left;
    bool dirty; /* that is not zero */
    size_t next_size;
};

typedef struct run_frame run_frame;
struct run_frame {
    jmp_buf place;
    run_frame *outer;
    uint64_t first_serial; /* arenas from this serial on belong to the run */
};

struct base_heap {
    base_allocate_function allocate; /* NULL: pages */
    void *user;
    base_pages pages;
    size_t limit, used, peak;
    size_t chunk; /* 0: growing */
    base_arena *newest;
    uint64_t next_serial;
    run_frame *frame;
};

static void *allocate_default(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

base_heap *base_heap_create(const base_heap_options *options) {
    base_heap_options chosen = {0};
    if (options != NULL)
        chosen = *options;
    if (chosen.allocate == NULL && !HEAP_PAGES)
        chosen.allocate = allocate_default;
    if (chosen.limit_bytes != 0 && chosen.limit_bytes < sizeof(base_heap))
        return NULL;
    base_heap *heap =
        chosen.allocate ? chosen.allocate(chosen.user, NULL, 0, sizeof *heap) : malloc(sizeof *heap);
    if (heap == NULL)
        return NULL;
    memset(heap, 0, sizeof *heap);
    heap->allocate = chosen.allocate;
    heap->user = chosen.user;
    heap->limit = chosen.limit_bytes;
    heap->used = heap->peak = sizeof *heap;
    heap->next_serial = 1;
    return heap;
}

void base_heap_destroy(base_heap *heap) {
    if (heap == NULL)
        return;
    while (heap->newest != NULL)
        base_arena_destroy(heap->newest);
    base_pages_destroy(&heap->pages);
    if (heap->allocate)
        heap->allocate(heap->user, heap, sizeof *heap, 0);
    else
        free(heap);
}

size_t base_heap_used(const base_heap *heap) {
    return heap->used;
}

size_t base_heap_peak(const base_heap *heap) {
    return heap->peak;
}

void base_heap_set_chunk(base_heap *heap, size_t bytes) {
    heap->chunk = bytes < 2 * CHUNK_HEADER ? 2 * CHUNK_HEADER : bytes;
}

/* The two places where memory is taken and given back; failure escapes. *size becomes what the block has;
 * what was asked for counts, so that limits do not depend on what was used before. */
static void *take(base_heap *heap, size_t *size, bool *zeroed) {
    if (heap->limit != 0 && (*size > heap->limit || heap->used > heap->limit - *size))
        base_heap_escape(heap, BASE_LIMIT_REACHED);
    size_t asked = *size;
    *zeroed = false;
    void *block = heap->allocate ? heap->allocate(heap->user, NULL, 0, asked)
                                 : base_pages_take(&heap->pages, size, zeroed);
    if (block == NULL)
        base_heap_escape(heap, BASE_OUT_OF_MEMORY);
    heap->used += asked;
    if (heap->used > heap->peak)
        heap->peak = heap->used;
    return block;
}

static void give(base_heap *heap, void *block, size_t size, size_t asked) {
    heap->used -= asked;
    if (heap->allocate)
        heap->allocate(heap->user, block, size, 0);
    else
        base_pages_give(&heap->pages, block, size);
}

base_outcome base_heap_run(base_heap *heap, void (*body)(void *argument), void *argument) {
    run_frame frame;
    frame.outer = heap->frame;
    frame.first_serial = heap->next_serial;
    heap->frame = &frame;
    /* _setjmp: the signal mask is not part of what a run changes. */
    int code = _setjmp(frame.place);
    if (code == 0) {
        body(argument);
        heap->frame = frame.outer;
        return BASE_DONE;
    }
    base_outcome outcome = (base_outcome)(code - 1);
    heap->frame = frame.outer;
    if (outcome != BASE_DONE)
        while (heap->newest != NULL && heap->newest->serial >= frame.first_serial)
            base_arena_destroy(heap->newest);
    return outcome;
}

void base_heap_escape(base_heap *heap, base_outcome outcome) {
    if (heap->frame == NULL) {
        fputs("tirc: bug: memory ran out outside of a protected run\n", stderr);
        abort();
    }
    _longjmp(heap->frame->place, (int)outcome + 1);
}

base_arena *base_arena_create(base_heap *heap) {
    bool zeroed;
    size_t size = sizeof(base_arena); /* too small to become more */
    base_arena *arena = take(heap, &size, &zeroed);
    memset(arena, 0, sizeof *arena);
    arena->heap = heap;
    arena->serial = heap->next_serial++;
    arena->next_size = heap->chunk != 0 ? heap->chunk : CHUNK_FIRST;
    arena->older = heap->newest;
    if (heap->newest != NULL)
        heap->newest->newer = arena;
    heap->newest = arena;
    return arena;
}

void base_arena_destroy(base_arena *arena) {
    if (arena == NULL)
        return;
    base_heap *heap = arena->heap;
    for (chunk *c = arena->chunks; c != NULL;) {
        chunk *next = c->next;
        ASAN_UNPOISON_MEMORY_REGION(c, c->size);
        give(heap, c, c->size, c->asked);
        c = next;
    }
    if (arena->newer != NULL)
        arena->newer->older = arena->older;
    else
        heap->newest = arena->older;
    if (arena->older != NULL)
        arena->older->newer = arena->newer;
    give(heap, arena, sizeof *arena, sizeof *arena);
}

base_heap *base_arena_heap(const base_arena *arena) {
    return arena->heap;
}

static chunk *chunk_create(base_arena *arena, size_t size) {
    bool zeroed;
    size_t asked = size;
    chunk *c = take(arena->heap, &size, &zeroed);
    c->zeroed = zeroed;
    c->asked = asked;
    c->next = NULL;
    c->size = size;
    ASAN_POISON_MEMORY_REGION((char *)c + CHUNK_HEADER, size - CHUNK_HEADER);
    return c;
}

static inline size_t step_of(size_t size) {
    return ((size == 0 ? 1 : size) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + HEAP_GAP;
}

/* A large block gets a chunk of its own behind the one being filled, so that the rest of that one is not
 * lost. */
static void *allocate_own(base_arena *arena, size_t size, bool clear) {
    chunk *own = chunk_create(arena, CHUNK_HEADER + step_of(size)), *first = arena->chunks;
    own->next = first ? first->next : NULL;
    *(first ? &first->next : &arena->chunks) = own;
    char *block = (char *)own + CHUNK_HEADER;
    ASAN_UNPOISON_MEMORY_REGION(block, size);
    if (clear && !own->zeroed)
        memset(block, 0, size);
    return block;
}

static void chunk_begin(base_arena *arena) {
    chunk *fresh = chunk_create(arena, arena->next_size);
    if (arena->heap->chunk == 0 && arena->next_size < CHUNK_LARGEST)
        arena->next_size *= 2;
    fresh->next = arena->chunks;
    arena->chunks = fresh;
    arena->free = (char *)fresh + CHUNK_HEADER;
    arena->left = fresh->size - CHUNK_HEADER;
    arena->dirty = !fresh->zeroed;
}

/* Memory that is cleared only when that is asked for. */
static inline void *allocate_raw(base_arena *arena, size_t size, bool clear) {
    if (size > SIZE_MAX / 2)
        base_heap_escape(arena->heap, BASE_OUT_OF_MEMORY);
    size_t step = step_of(size);
    if (step > arena->left) {
        if (step > (arena->next_size - CHUNK_HEADER) / 4)
            return allocate_own(arena, size, clear);
        chunk_begin(arena);
    }
    char *block = arena->free;
    arena->free += step;
    arena->left -= step;
    ASAN_UNPOISON_MEMORY_REGION(block, size);
    if (clear && arena->dirty)
        memset(block, 0, size);
    return block;
}

void *base_arena_allocate(base_arena *arena, size_t size) {
    return allocate_raw(arena, size, true);
}

void *base_arena_allocate_array(base_arena *arena, size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total))
        base_heap_escape(arena->heap, BASE_OUT_OF_MEMORY);
    return base_arena_allocate(arena, total);
}

bool base_arena_extend(base_arena *arena, void *block, size_t size, size_t wanted) {
    char *begin = block;
    if (HEAP_GAP != 0 || size > SIZE_MAX / 2 || wanted > SIZE_MAX / 2 || wanted < size)
        return false;
    size_t step = step_of(size), more = step_of(wanted) - step;
    if (begin + step != arena->free || more > arena->left)
        return false;
    arena->free += more;
    arena->left -= more;
    if (arena->dirty)
        memset(begin + size, 0, wanted - size);
    return true;
}

void *base_arena_copy(base_arena *arena, const void *data, size_t size) {
    void *block = allocate_raw(arena, size, false);
    if (size != 0)
        memcpy(block, data, size);
    return block;
}

char *base_arena_string(base_arena *arena, const char *data, size_t size) {
    if (size == SIZE_MAX)
        base_heap_escape(arena->heap, BASE_OUT_OF_MEMORY);
    char *block = allocate_raw(arena, size + 1, false);
    if (size != 0)
        memcpy(block, data, size);
    block[size] = 0;
    return block;
}

char *base_arena_format(base_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = base_arena_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

char *base_arena_format_list(base_arena *arena, const char *format, va_list arguments) {
    char small[256];
    va_list again;
    va_copy(again, arguments);
    int size = base_format_list(small, sizeof small, format, arguments);
    char *text = NULL;
    if (size < 0) {
        /* Only a text over 2 GiB gets here. */
        va_end(again);
        base_heap_escape(arena->heap, BASE_OUT_OF_MEMORY);
    }
    if ((size_t)size < sizeof small) {
        text = base_arena_string(arena, small, (size_t)size);
    } else {
        text = base_arena_allocate(arena, (size_t)size + 1);
        base_format_list(text, (size_t)size + 1, format, again);
    }
    va_end(again);
    return text;
}

void *base_vector_grow(base_arena *arena, void *items, size_t count, size_t *capacity, size_t item_size) {
    size_t wanted = *capacity < 4 ? 8 : *capacity;
    if (*capacity >= 4 && __builtin_mul_overflow(*capacity, (size_t)2, &wanted))
        base_heap_escape(arena->heap, BASE_OUT_OF_MEMORY);
    size_t bytes = 0;
    if (count != 0 && !__builtin_mul_overflow(wanted, item_size, &bytes) &&
        base_arena_extend(arena, items, *capacity * item_size, bytes)) {
        *capacity = wanted;
        return items;
    }
    void *grown = base_arena_allocate_array(arena, wanted, item_size);
    if (count != 0)
        memcpy(grown, items, count * item_size);
    *capacity = wanted;
    return grown;
}
