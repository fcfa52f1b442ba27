/* SPDX-License-Identifier: Apache-2.0
 * Where a heap without an allocation function of its own takes its blocks from: mappings aligned to the
 * processor's large pages, which the system is asked to use, since a first touch of each small page costs
 * more than what is then done with it. Counts nothing, and knows nothing of arenas. One thread at a time. */
#ifndef TIRC_BASE_PAGES_H
#define TIRC_BASE_PAGES_H
#include <stdbool.h>
#include <stddef.h>

enum { BASE_PAGES_CLASSES = 32 };

typedef struct base_pages {
    struct base_pages_slab *slabs;
    char *next, *end; /* of the newest slab: what was never handed out */
    struct base_pages_block {
        struct base_pages_block *next;
        size_t size;
    } * returned[BASE_PAGES_CLASSES]; /* by the power of two that their sizes reach */
} base_pages;

/* Aligned to 16, of *size bytes or more: *size becomes what it has. *zeroed: the block was never used before.
 * NULL: no memory. */
void *base_pages_take(base_pages *pages, size_t *size, bool *zeroed);
/* size: what taking it made of the size that was asked for. */
void base_pages_give(base_pages *pages, void *block, size_t size);
/* Every small block is gone; large ones have been given back before. */
void base_pages_destroy(base_pages *pages);
#endif
