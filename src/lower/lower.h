/* SPDX-License-Identifier: Apache-2.0
 * Lowering: tensor form to flat form, by a flat list of passes (lower.c reads like a table of contents), one
 * per file. Passes named lower_* must run; passes named optimise_* may be skipped. Knows nothing of CUDA or
 * PTX text. */
#ifndef TIRC_LOWER_LOWER_H
#define TIRC_LOWER_LOWER_H
#include "ir/ir.h"

typedef enum lower_goal {
    LOWER_FOR_CUDA, /* readable: names, loops and index forms of the author are kept */
    LOWER_FOR_PTX /* no ptxas behind it: locals in registers, hoisting, strength reduction, address sharing */
} lower_goal;

typedef struct lower_options {
    lower_goal goal;
    bool verify;            /* run ir_verify after every pass (on in test builds) */
    const char *skip;       /* comma-separated optimise_* passes to leave out */
    const char *dump_after; /* pass name: its result is printed to *dump; "all" */
    base_builder *dump;
    bool sorted_parameters; /* the reference's order: tensors by name, then scalars by name */
} lower_options;

/* Where a local tensor went, and why (for --stats). */
typedef struct lower_local {
    const char *name;
    bool in_registers;
    const char *reason;
    base_span span;
} lower_local;

/* A tensor in shared memory: offset is within the static or the dynamic part, bytes. */
typedef struct lower_shared {
    const char *name;
    bool dynamic;
    uint64_t offset, bytes, align;
} lower_shared;

/* The launch plan of one kernel. Grid and block stay expressions when they depend on parameters. */
typedef struct lower_plan {
    const char *name;        /* the script's function */
    const char *kernel_name; /* name + "_kernel" */
    const ir_function *function;
    uint64_t static_smem_bytes, dynamic_smem_bytes; /* dynamic: max of needed and asked for */
    BASE_VECTOR(lower_shared) shared;
    BASE_VECTOR(lower_local) locals;
} lower_plan;

typedef struct lower_result {
    ir_module *module; /* flat form; the input module is not changed: functions are copied first */
    BASE_VECTOR(lower_plan *) plans; /* one per function, same order */
} lower_result;

/* NULL when there were errors. */
lower_result *lower_module(base_arena *arena, ir_module *module, const lower_options *options);
/* Bytes of an allocation, as planned: highest mapped element, 4-bit elements two to a byte; 0 when lowering
 * would have refused it. */
uint64_t lower_tensor_bytes(const ir_tensor *tensor);
/* The pass list, in order, for --help and docs; NULL at the end. */
const char *lower_pass(size_t index, const char **summary);
#endif
