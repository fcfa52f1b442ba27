/* SPDX-License-Identifier: Apache-2.0
 * What the files of the CUDA writer share. Private to src/cuda. */
#ifndef TIRC_CUDA_CUDA_INTERNAL_H
#define TIRC_CUDA_CUDA_INTERNAL_H
#include "cuda/cuda.h"
#include "arith/arith_bounds.h"

/* Headers, included only when something of them is used. */
typedef enum cuda_include {
    CUDA_FP16 = 1,
    CUDA_BF16 = 2,
    CUDA_FP8 = 4,
    CUDA_FP6 = 8,
    CUDA_FP4 = 16,
    CUDA_CONSTANTS = 32,
    CUDA_STDIO = 64,
    CUDA_DRIVER = 128,
    CUDA_STDINT = 256,
    CUDA_COOPERATIVE = 512
} cuda_include;

typedef enum cuda_helper {
#define CUDA_HELPER(enumerator, includes, text) enumerator,
#include "cuda/cuda_helpers.def"
#undef CUDA_HELPER
    CUDA_HELPER_COUNT
} cuda_helper;

/* What is seen of a value: its low bits only, all of it, or an index, which is taken not to overflow. */
typedef enum cuda_context { CUDA_WHOLE, CUDA_LOW, CUDA_INDEX } cuda_context;

typedef struct cuda_scope cuda_scope; /* names that are visible, cuda_names.c */

/* A vector type that CUDA does not bring; declared at the top of the unit. */
typedef struct cuda_vector_type {
    num_dtype dtype;
    unsigned lanes;
    const char *name;
} cuda_vector_type;

/* A function around one PTX instruction (cuda_ptx.c). */
typedef struct cuda_instruction {
    const ir_expr *of; /* the first that it was made for */
    const char *stem, *name, *text;
} cuda_instruction;

typedef struct cuda_writer {
    base_arena *arena;
    base_diagnostics *diagnostics;
    const cuda_options *options;
    ir_module *module;
    const ir_function *function;
    const lower_plan *plan;
    arith_facts *facts;
    base_builder *out; /* text of the kernels */
    bool reserve_half; /* the headers for half and bfloat16 are included */
    bool took_half;    /* a name was given that those headers have */
    unsigned includes; /* cuda_include bits */
    uint64_t helpers;  /* cuda_helper bits */
    BASE_VECTOR(cuda_vector_type) vectors;
    BASE_VECTOR(cuda_instruction) instructions;
    cuda_scope *scope;
    base_map *names;   /* ir_var or ir_tensor -> its C name */
    base_map *externs; /* names of dynamic arenas of the unit -> element type text */
    unsigned indent;
    base_map *contexts[3];    /* by cuda_context: ir_var and ir_tensor that are read so */
    const ir_expr *plain;     /* one sum that is taken not to overflow, or NULL */
    cuda_context context;     /* of the expression being written */
    base_span span;           /* the statement being written */
    uint32_t line_file, line; /* where the next output line belongs, for #line */
} cuda_writer;

/* ---- cuda_names.c ---- */
void cuda_scope_open(cuda_writer *w);
void cuda_scope_close(cuda_writer *w);
/* A C name like the wish, not reserved and not visible here; remembered for object when it is not NULL. */
const char *cuda_name_new(cuda_writer *w, const void *object, const char *wish, const char *suffix);
/* This very name is used in the current scope. */
void cuda_name_take(cuda_writer *w, const char *name);
const char *cuda_name_of(cuda_writer *w, const void *object);
/* The wish as an identifier: other characters become _. */
const char *cuda_identifier(base_arena *arena, const char *wish);

/* ---- cuda_types.c ---- */
/* Text of a type; notes what it includes. 8-bit floats that CUDA has no type for are unsigned char. */
const char *cuda_type(cuda_writer *w, ir_type type);
const char *cuda_scalar(cuda_writer *w, num_dtype dtype);
/* Element type of arrays and pointers: 4-bit elements are stored in bytes. */
const char *cuda_storage(cuda_writer *w, num_dtype dtype);
bool cuda_is_own_float(num_dtype dtype); /* one that CUDA has no type for */
bool cuda_vector_is_builtin(num_dtype dtype, unsigned lanes);
void cuda_use(cuda_writer *w, cuda_helper helper);
void cuda_literal_integer(cuda_writer *w, num_dtype dtype, int64_t value);
void cuda_literal_float(cuda_writer *w, num_dtype dtype, double value);
void cuda_literal_string(cuda_writer *w, const char *text);

/* ---- cuda_expr.c, cuda_float.c, cuda_call.c ---- */
/* nested: the text stands as an operand, so a binary needs parentheses. */
void cuda_expr(cuda_writer *w, const ir_expr *e, bool nested);
void cuda_index(cuda_writer *w, const ir_expr *e);
void cuda_pointer_element(cuda_writer *w, const ir_expr *base, const ir_expr *index, ir_type type);
void cuda_cast(cuda_writer *w, const ir_expr *e);
/* Float operations; false when op is not one. */
bool cuda_float_operation(cuda_writer *w, const ir_expr *e, bool nested);
/* Synchronisation, collectives, atomics, output; false when op is not one. */
bool cuda_call(cuda_writer *w, const ir_expr *e);
/* PTX instructions and addresses in shared memory; false when op is neither. */
bool cuda_ptx(cuda_writer *w, const ir_expr *e);
/* name(a, b, ...) */
void cuda_apply(cuda_writer *w, const char *name, const ir_expr *const *args, uint32_t count);

/* ---- cuda_print.c ---- */
void cuda_write_headers(unsigned includes, base_builder *out);
void cuda_write_vector_types(cuda_writer *w, base_builder *out);

/* ---- cuda_source.c ---- */
/* Source texts, each once, in the order in which the kernels call functions of them. */
typedef struct cuda_source_function {
    const ir_expr *call;
    base_span span; /* the statement that calls it first */
} cuda_source_function;
typedef struct cuda_sources {
    base_arena *arena;
    base_map *seen; /* texts */
    base_span span;
    BASE_VECTOR(cuda_source_function) functions; /* the first call for each text */
    BASE_VECTOR(cuda_source_function) calls;     /* all */
} cuda_sources;
cuda_sources cuda_sources_find(base_arena *arena, const lower_result *lowered);
unsigned cuda_sources_includes(const cuda_sources *sources); /* headers of the types that the texts mention */
void cuda_write_source(const ir_expr *call, base_builder *out);

/* ---- cuda_wrap.c: signed arithmetic that may wrap ---- */
void cuda_find_contexts(cuda_writer *w);
cuda_context cuda_argument_context(const ir_expr *e, uint32_t i, cuda_context context);
/* Of the value of LET, ASSIGN and POINTER_STORE. */
cuda_context cuda_value_context(const cuda_writer *w, const ir_stmt *s);
bool cuda_may_wrap(cuda_writer *w, const ir_expr *e);
void cuda_wrapping(cuda_writer *w, const ir_expr *e, bool nested);

/* ---- cuda_stmt.c, cuda_kernel.c ---- */
void cuda_block(cuda_writer *w, const ir_stmt *block); /* the statements, no braces */
void cuda_line(cuda_writer *w);                        /* indentation of a new line */
void cuda_kernel(cuda_writer *w, const lower_plan *plan);

/* ---- cuda_host.c ---- */
void cuda_host(cuda_writer *w, const lower_plan *plan);
/* The helpers that the text uses. */
void cuda_host_helpers(const base_builder *text, base_builder *out);
#endif
