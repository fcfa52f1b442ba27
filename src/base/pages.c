/* SPDX-License-Identifier: Apache-2.0
 * Blocks for heaps. Tiny ones are malloc's; small ones are cut from slabs and reused by size; large ones are
 * mappings of their own, which go back to the system at once. */
#include "base/pages.h"
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct base_pages_slab {
    struct base_pages_slab *older;
} slab;

/* SLAB is the size of a large page on x86-64 and on aarch64 with small pages of 4 KiB. */
enum {
    SLAB = 2 * 1024 * 1024,
    SLAB_HEADER = 64,
    TINY = 4096,
    LARGE = SLAB - SLAB_HEADER,
    STEP = 64,
    LOOK = 16
};

static size_t round_up(size_t size, size_t to) {
    return (size + to - 1) / to * to;
}

/* A mapping of size bytes, a multiple of SLAB, at a multiple of SLAB. */
static void *map(size_t size) {
    if (size > SIZE_MAX - SLAB)
        return NULL;
    char *at = mmap(NULL, size + SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    char *start = at + (SLAB - (uintptr_t)at % SLAB) % SLAB, *end = at + size + SLAB;
    if (start > at)
        munmap(at, (size_t)(start - at));
    if (end > start + size)
        munmap(start + size, (size_t)(end - (start + size)));
#ifdef MADV_HUGEPAGE
    madvise(start, size, MADV_HUGEPAGE); /* a wish: refused, small pages serve as well */
#endif
    return start;
}

/* The largest power of two that is not larger. */
static unsigned class_of(size_t size) {
    return 63u - (unsigned)__builtin_clzll(size);
}

/* One that was given back and has room: of the class of that size those that reach it, else any of the next.
 */
static void *take_returned(base_pages *pages, size_t *size) {
    unsigned class = class_of(*size);
    struct base_pages_block **at = &pages->returned[class];
    for (unsigned looked = 0; *at && (*at)->size < *size; at = &(*at)->next)
        if (++looked == LOOK) {
            at = &pages->returned[class + 1];
            break;
        }
    if (!*at)
        at = &pages->returned[class + 1];
    struct base_pages_block *found = *at;
    if (found) {
        *at = found->next;
        *size = found->size;
    }
    return found;
}

static void *take_small(base_pages *pages, size_t *size, bool *zeroed) {
    void *block = take_returned(pages, size);
    if (block)
        return block;
    *size = round_up(*size, STEP);
    if ((size_t)(pages->end - pages->next) < *size) {
        slab *fresh = map(SLAB);
        if (!fresh)
            return NULL;
        fresh->older = pages->slabs;
        pages->slabs = fresh;
        pages->next = (char *)fresh + SLAB_HEADER;
        pages->end = (char *)fresh + SLAB;
    }
    block = pages->next;
    pages->next += *size;
    *zeroed = true;
    return block;
}

void *base_pages_take(base_pages *pages, size_t *size, bool *zeroed) {
    *zeroed = false;
    if (*size < TINY)
        return malloc(*size);
    if (*size < LARGE)
        return take_small(pages, size, zeroed);
    if (*size > SIZE_MAX / 2)
        return NULL;
    *zeroed = true;
    *size = round_up(*size, SLAB);
    return map(*size);
}

void base_pages_give(base_pages *pages, void *block, size_t size) {
    if (size < TINY) {
        free(block);
    } else if (size < LARGE) {
        struct base_pages_block *returned = block;
        returned->size = size;
        returned->next = pages->returned[class_of(size)];
        pages->returned[class_of(size)] = returned;
    } else {
        munmap(block, size);
    }
}

void base_pages_destroy(base_pages *pages) {
    for (slab *s = pages->slabs; s;) {
        slab *older = s->older;
        munmap(s, SLAB);
        s = older;
    }
    *pages = (base_pages){0};
}
