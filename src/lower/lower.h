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
    base_diagnostics *diagnostics; /* where problems are reported; NULL: the module's */
    bool verify;                   /* run ir_verify after every pass (on in test builds) */
    const char *skip;              /* comma-separated optimise_* passes to leave out */
    const char *dump_after;        /* pass name: its result is printed to *dump; "all" */
    base_builder *dump;
    bool sorted_parameters; /* the reference's order: tensors by name, then scalars by name */
    bool unwritten_stay;    /* locals that may be read before they are written stay in memory, where that is
                               found */
} lower_options;

/* Where a local tensor went, and why (for --stats). */
typedef struct lower_local {
    const char *name;
    bool in_registers;
    const char *reason;
    base_span span;
} lower_local;

/* From the first statement that touches a tensor to the last, loops counting whole; numbers order statements.
 */
typedef struct lower_use {
    bool used;
    uint32_t first, last;
    base_span first_span, last_span;
    uint32_t touched_first, touched_last; /* as they stand in the text: loops do not count whole */
} lower_use;

/* A tensor in shared memory: offset is within the static or the dynamic part, bytes. */
typedef struct lower_shared {
    const char *name;
    bool dynamic;
    uint64_t offset, bytes, align;
    uint64_t padding; /* bytes that its alignment skips */
    const ir_tensor *tensor;
    base_span span;
    lower_use use; /* accesses under its own name */
} lower_shared;

/* A view into shared memory; offset is in bytes from the root's first byte. */
typedef struct lower_part {
    const char *name;
    const ir_tensor *tensor, *root;
    bool known; /* offset and bytes are constants */
    uint64_t offset, bytes;
    base_span span;
    lower_use use;
} lower_part;
bool lower_parts_meet(const lower_part *a, const lower_part *b); /* share a byte */
bool lower_uses_meet(const lower_use *a, const lower_use *b);    /* are in use at once */

/* The launch plan of one kernel. Grid and block stay expressions when they depend on parameters. */
typedef struct lower_plan {
    const char *name;        /* the script's function */
    const char *kernel_name; /* name + "_kernel" */
    const ir_function *function;
    uint64_t static_smem_bytes, dynamic_smem_bytes; /* dynamic: max of needed and asked for */
    BASE_VECTOR(lower_shared) shared;
    BASE_VECTOR(lower_part) parts;
    BASE_VECTOR(lower_local) locals;
} lower_plan;

/* What an architecture gives a CTA. */
enum { LOWER_STATIC_SHARED_LIMIT = 48 * 1024 };
typedef struct lower_device {
    const char *name; /* without a or f */
    unsigned number;
    uint32_t shared_per_cta; /* static and dynamic together, after opting in */
    uint32_t shared_per_sm, reserved_per_cta;
    uint32_t threads_per_sm, ctas_per_sm;
    uint32_t cluster_portable, cluster_limit; /* CTAs; 0: no clusters */
} lower_device;
const lower_device *lower_device_at(size_t index);         /* NULL behind the last */
const lower_device *lower_device_find(const char *target); /* "sm_90a"; NULL: not known */
/* Reports what the device would refuse as far as constants tell; false after errors. */
bool lower_plan_check(base_diagnostics *diagnostics, const lower_plan *plan, const lower_device *device);
/* Notes that name the three largest allocations in shared memory. */
void lower_plan_note_largest(base_diagnostics *diagnostics, base_diagnostic *d, const lower_plan *plan);
/* Whether a launch has to raise the kernel's limit of dynamic shared memory first. */
bool lower_plan_opt_in(const lower_plan *plan);
bool lower_plan_cluster(const lower_plan *plan, int64_t *ctas); /* false: not a constant */
/* Whether a launch has to allow clusters of more than the portable size; device may be NULL. */
bool lower_plan_non_portable(const lower_plan *plan, const lower_device *device);

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
