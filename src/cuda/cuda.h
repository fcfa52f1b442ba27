/* SPDX-License-Identifier: Apache-2.0
 * Flat IR to CUDA C++ text. Knows nothing of PTX. */
#ifndef TIRC_CUDA_CUDA_H
#define TIRC_CUDA_CUDA_H
#include "lower/lower.h"

typedef struct cuda_options {
    bool line_directives; /* #line to the script */
    bool host;            /* with a launch function for each kernel that has a device entry */
} cuda_options;
/* Appends a complete translation unit: headers, helpers used, kernels. False when there were errors. */
bool cuda_print(const lower_result *lowered, const cuda_options *options, base_builder *out);

/* A unit for another compiler: the source texts that the kernels call, and around each signature that they
 * are called with a function of C linkage that PTX can call. */
#define CUDA_UNIT_NAME "unit.cu" /* the file's name for the other compiler */
typedef struct cuda_wrapper {
    const char *name;
    const ir_expr *call; /* the first one with this signature */
    base_span span;      /* of the statement that makes it */
} cuda_wrapper;
typedef struct cuda_unit_part {
    const ir_expr *call;
    uint32_t line, lines;
    base_span span; /* the statement that makes the call */
    base_span text; /* where the text stands in the script; file 0: it does not stand there as it is */
} cuda_unit_part;
typedef struct cuda_unit {
    const char *text;
    size_t size;
    BASE_VECTOR(cuda_wrapper) wrappers;
    BASE_VECTOR(cuda_unit_part) parts;
} cuda_unit;
/* NULL: the kernels call no such function. */
const cuda_unit *cuda_unit_create(base_arena *arena, const lower_result *lowered);
const cuda_wrapper *cuda_unit_wrapper(const cuda_unit *unit, const ir_expr *call);
/* The part that a line (from 1) belongs to, and its place in the script; NULL: none. */
const cuda_unit_part *cuda_unit_place(const cuda_unit *unit, const base_sources *sources, uint32_t line,
                                      base_span *span);
/* How a value goes into and comes out of a wrapper: 0, as it is; else as so many 32-bit words. */
unsigned cuda_unit_words(ir_type type);
#endif
