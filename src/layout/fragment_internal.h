/* SPDX-License-Identifier: Apache-2.0
 * What the files that read names of fragments share. */
#ifndef TIRC_LAYOUT_FRAGMENT_INTERNAL_H
#define TIRC_LAYOUT_FRAGMENT_INTERNAL_H
#include "layout/fragment.h"

typedef struct fragment_reader {
    const char *at, *end;
} fragment_reader;

/* The next word up to a dot. */
base_text fragment_word(fragment_reader *r);
/* "x4", "n128": the letter and a number of at most 4 digits; -1 when it is none. */
int fragment_counted(base_text word, char letter);
/* "128x64": false when it is no pair of numbers of at most 5 digits. */
bool fragment_pair(base_text word, int64_t *first, int64_t *second);
/* A sentence for the request. */
void fragment_say(base_arena *arena, layout_fragment_request *request, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What stands behind "mma.", "wgmma." and "tcgen05.", ld and st left out. */
bool fragment_mma(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                  layout_error *error);
/* A, B or D of the four products of m8n8k4 with f16 operands; bits of D; other_order: A column-major, B
 * row-major. */
bool fragment_quad(base_arena *arena, char operand, unsigned bits, bool other_order,
                   layout_fragment_request *request, layout_error *error);
/* mma.sp: of A the elements that are stored, half of each row. */
bool fragment_mma_sparse(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                         layout_error *error);
bool fragment_wgmma(base_arena *arena, fragment_reader *r, layout_fragment_request *request,
                    layout_error *error);
bool fragment_tensor_memory(base_arena *arena, base_text kind, fragment_reader *r,
                            layout_fragment_request *request, layout_error *error);

/* Shapes and types of mma.sync for the list of names; false behind the last. */
bool fragment_mma_row(uint32_t index, bool sparse, const char **types, int *m, int *n, int *k);
#endif
