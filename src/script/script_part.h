/* SPDX-License-Identifier: Apache-2.0
 * Parts of tensors: each axis is split into digits, and each digit is picked or kept. What a layout or a
 * moved pointer can say becomes a view; everything else a window, whose elements are named by coordinates of
 * the tensor it is a part of. Private to the files of parts. */
#ifndef TIRC_SCRIPT_SCRIPT_PART_H
#define TIRC_SCRIPT_SCRIPT_PART_H
#include "script/script_evaluate.h"

enum { SCRIPT_PART_RANK = 16, SCRIPT_PART_FACTORS = 8, SCRIPT_PART_DIGITS = 48 };

/* One digit of an axis, from the outermost on. */
typedef struct script_piece {
    int64_t split;        /* its extent; 0: the axis, not split, with an extent of the launch */
    const ir_expr *begin; /* where the part starts in it; NULL: at the constant `first` */
    int64_t first;
    const ir_expr *extent; /* how far it goes; NULL: one step, and no axis of the result */
} script_piece;
typedef struct script_part {
    uint32_t count;
    script_piece pieces[SCRIPT_PART_FACTORS];
} script_part;

/* One part for each axis of a tensor or window; at most SCRIPT_PART_DIGITS digits in all. */
script_value script_take_parts(script_evaluator *e, script_value subject, const script_part *parts,
                               base_span span);
/* Name, shape and element type of a tensor or window, for messages and for reading indices. */
ir_tensor *script_part_face(script_value subject);

/* A digit of the parent's axis, weight steps each: start + what index `to` of the window says. */
typedef struct script_window_piece {
    uint32_t axis;
    int64_t weight, first, length;
    const ir_expr *start; /* or NULL: first */
    int32_t to;           /* axis of the window; -1: picked */
} script_window_piece;
struct script_window {
    script_value parent; /* a tensor or a window */
    ir_tensor face;      /* never part of the IR */
    bool is_reshape;     /* the same elements in the same order under another shape: no pieces */
    bool is_named;
    uint32_t count;
    script_window_piece pieces[SCRIPT_PART_DIGITS];
};
/* Whether coordinates of the tensor say where an element is: not when its layout has threads, nor in tensor
 * memory. */
bool script_may_window(const ir_tensor *tensor, const layout_tile *layout);
script_value script_window_make(script_evaluator *e, script_value parent, const script_part *parts,
                                base_span span);
/* Its axes reordered; the same elements under another shape of as many. */
script_value script_window_permute(script_evaluator *e, script_value parent, const uint32_t *order,
                                   base_span span);
script_value script_window_reshape(script_evaluator *e, script_value parent, const int64_t *shape,
                                   uint32_t rank, base_span span);
#endif
