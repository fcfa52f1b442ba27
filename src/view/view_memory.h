/* SPDX-License-Identifier: Apache-2.0
 * A map of a memory as a picture: bytes (or columns) down, lines of the source (or events) across, a box for
 * each tensor from the line that first touches it to the last. Knows no kernels and no layouts. */
#ifndef TIRC_VIEW_MEMORY_H
#define TIRC_VIEW_MEMORY_H
#include "base/text.h"

typedef struct view_memory_box {
    const char *name;
    uint64_t offset, bytes;
    uint32_t first, last; /* lines; 0: never used */
    bool part;            /* a view into an allocation, drawn inside of it */
    bool shared;          /* in use at once with another on the same bytes */
    unsigned slot;        /* parts: below others of the same rows, of view_memory.slots */
} view_memory_box;

typedef struct view_memory {
    const char *title; /* "static shared memory, 512 bytes" */
    const view_memory_box *boxes;
    size_t count;
    uint64_t total;
    unsigned slots;                 /* that the rows of parts are high; 0: 1 */
    unsigned column;                /* least width of a column, in pixels; 0: 64 */
    const char *unit, *when, *what; /* NULL: "byte", "line", "tensor" */
} view_memory;

enum { VIEW_MEMORY_BOXES = 400 }; /* most in one map; the rest is said, not drawn */

/* One SVG file that follows the reader's light or dark theme: the maps side by side under the title. */
void view_memory_svg(base_arena *arena, const char *title, const view_memory *maps, size_t count,
                     base_builder *out);
#endif
