/* SPDX-License-Identifier: Apache-2.0
 * What the files of the kernel generator share: its random numbers, the value ranges that keep every kernel
 * well defined, and the text under construction. The generator knows the language only, nothing of tirc's
 * code. */
#ifndef TIRC_GENERATE_H
#define TIRC_GENERATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum type { I8, I16, I32, I64, U8, U16, U32, U64, BOOL, F16, BF16, F32, F64, TYPE_COUNT } type;
__extension__ typedef __int128 wide;
typedef struct range {
    wide low, high;
} range; /* of integers; unused for floats */

typedef struct value {
    const char *text; /* an expression that needs no parentheses around it */
    type type;
    range range;
    bool is_load; /* bits as they lie in memory: a NaN keeps its payload on every road */
} value;

typedef struct variable {
    const char *name;
    type type;
    range range; /* what it may hold; assignments stay inside */
    bool is_mutable;
} variable;

typedef struct array {
    const char *name;
    type type;
    int rank, shape[4];
    int own_axis; /* axis that takes the thread's own number; -1: every element may be used */
    bool is_input, is_writable, is_dense, is_readable;
    int atomic; /* 1 + the operation of all its atomics, so that their order does not matter; 0: none yet */
} array;

typedef struct chunk chunk;
typedef struct generator {
    uint64_t state;
    chunk *chunks; /* texts of the kernel under construction */
    char *out;     /* finished text */
    size_t out_size, out_room;
    int indent;
    variable variables[160];
    int variable_count;
    array arrays[96];
    int array_count;
    int next_name;
    bool wraps;              /* signed sums may overflow: defined in the IR, undefined in CUDA C++ */
    bool no_floats;          /* integers and truth values only */
    int nest;                /* expressions inside index expressions */
    int budget;              /* statements left */
    int depth;               /* nested control statements */
    int loops;               /* enclosing loops that break may leave; 0 directly inside an unrolled one */
    const char *own;         /* the thread's own number, as a variable */
    int own_count;           /* it is below this here */
    const char *lane_number; /* linear thread index in the block */
    int threads, block, grid;
} generator;

/* ---- generate_text.c ---- */
uint64_t random_bits(generator *g);
int below(generator *g, int count);
bool chance(generator *g, int percent);
__attribute__((format(printf, 2, 3))) const char *format(generator *g, const char *pattern, ...);
__attribute__((format(printf, 2, 3))) void line(generator *g, const char *pattern, ...);
void forget_texts(generator *g);
const char *fresh_name(generator *g);
const char *type_name(type t);
int type_bits(type t);
bool is_float(type t);
bool is_integer(type t);
bool is_signed(type t);
range full_range(type t);
type any_type(generator *g);
type any_integer(generator *g);
type any_float(generator *g);

/* ---- generate_expression.c ---- */
value expression(generator *g, type t, int depth);
value bool_expression(generator *g, int depth);
value int_expression(generator *g, type t, int depth);
value float_expression(generator *g, type t, int depth);
value narrow(generator *g, value v, wide low, wide high);
value convert(generator *g, value v, type to);
value literal(generator *g, type t);
value leaf(generator *g, type t);
const char *index_text(generator *g, int extent);
value load(generator *g, const array *a);
const char *integer_text(generator *g, wide number);
type common_type(type a, type b);
range join(range a, range b);

/* ---- generate_operation.c ---- */
value int_operation(generator *g, type t, int depth);
value float_operation(generator *g, type t, int depth);

/* ---- generate_analyzer.c ---- */
value divided_sum(generator *g, type t);
void guarded_segment(generator *g);

/* ---- generate_statement.c ---- */
void store_anywhere(generator *g, value v);
void statements(generator *g, int count);
void add_variable(generator *g, const char *name, type t, range r, bool is_mutable);
void declare_scalar(generator *g, value v, range r);
void declare_let(generator *g, value v);
void store_output(generator *g, const array *a, value v);
const char *element_text(generator *g, const array *a);

/* ---- generate_segment.c ---- */
void shared_segment(generator *g);
void arena_segment(generator *g);
void warp_segment(generator *g);
void vector_segment(generator *g);
void atomic_segment(generator *g);
void shared_atomic_segment(generator *g);

/* ---- generate_kernel.c ---- */
void exact_kernel(generator *g, const char *name, bool wraps);
void bounded_kernel(generator *g, const char *name);
#endif
