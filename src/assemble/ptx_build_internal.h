/* SPDX-License-Identifier: Apache-2.0
 * What the files of ptx_build share: the builder of one kernel, instruction emission, values and addresses.
 * Private to src/assemble. */
#ifndef TIRC_PTX_PTX_BUILD_INTERNAL_H
#define TIRC_PTX_PTX_BUILD_INTERNAL_H
#include "arith/arith_bounds.h"
#include "assemble/ptx_build.h"

/* Register files of a kernel. 8- and 16-bit integers live sign- or zero-extended in 32-bit registers, bytes
 * of 8-bit floats in 16-bit ones, truth in predicates, global pointers in 64 bits, other pointers in 32. */
typedef enum ptx_build_class {
    PTX_CLASS_PRED,
    PTX_CLASS_R32,
    PTX_CLASS_R64,
    PTX_CLASS_F32,
    PTX_CLASS_F64,
    PTX_CLASS_HALF, /* float16, bfloat16 */
    PTX_CLASS_BYTE, /* 8-bit and narrower floats */
    PTX_CLASS_COUNT
} ptx_build_class;

/* Where something lies: a register or a variable, plus bytes. */
typedef struct ptx_build_address {
    ptx_space space;
    ptx_operand base;
    int64_t offset;
} ptx_build_address;

typedef struct ptx_build_loop {
    struct ptx_build_loop *outer;
    ptx_label *next, *end; /* targets of continue and break */
    bool next_used, end_used;
} ptx_build_loop;

/* Values already computed, valid where the current place is dominated by their computation: by expression id,
 * with a log so that leaving a scope forgets what the scope added. */
typedef struct ptx_build_memo {
    const void **values;
    size_t capacity;
    BASE_VECTOR(uint32_t) log;
} ptx_build_memo;

/* A .param variable for the argument of this number (from 1; 0: the result) of calls. */
typedef struct ptx_build_passed {
    size_t number;
    ptx_variable *variable;
} ptx_build_passed;

typedef struct ptx_builder {
    base_arena *arena;
    base_diagnostics *diagnostics;
    ptx_module *module;
    ptx_function *function;
    ir_module *ir;
    const lower_plan *plan;
    const ptx_build_options *options;
    BASE_VECTOR(ptx_instruction) prologue; /* runs once at entry: parameters, special registers, constants */
    bool in_prologue;
    uint32_t counters[PTX_CLASS_COUNT], labels, symbols, wides, bytes;
    ptx_build_memo pure;               /* values that hold until their scope ends */
    ptx_build_memo fleeting;           /* values that hold until the statement ends */
    bool keep_fleeting;                /* false in statements whose expressions have effects */
    uint32_t *uses, *use_stamp, stamp; /* references inside the current statement */
    size_t expr_capacity;
    base_map *variables, *addresses; /* ir_var id + 1 -> operands; ir_var id + 1 -> address (pointers) */
    base_map *tensors;               /* ir_tensor id + 1 -> ptx_build_address */
    base_map *pointer_values;        /* ir_var id + 1 -> ir_expr that a pointer variable was first given */
    base_map *constants;             /* by kind and bits: registers of the prologue */
    arith_facts *facts;
    base_map *stored;           /* roots that the kernel may write: tensor id + 1 */
    ir_memo *met;               /* of the search for stores */
    bool stores_anywhere;       /* a store through a pointer of unknown root */
    uint8_t *mutable_registers; /* per ptx_register id */
    size_t mutable_capacity;
    const ptx_operand
        *want; /* where the expression being evaluated should leave its result; NULL: anywhere */
    ptx_build_loop *loop;
    ptx_label *end;
    bool end_used;
    base_span span, placed; /* placed: whose line and column the next fields are */
    base_place place;
    unsigned depth;
    ptx_operand *zeros; /* lanes to go on with after an error */
    bool failed;
    ptx_variable *printf_argument[2], *printf_result, *printf_values; /* made at the first printf */
    ptx_function *vprintf;
    const cuda_unit *unit;                /* functions of CUDA source text; NULL: none */
    BASE_VECTOR(ptx_build_passed) passed; /* .param variables of calls */
} ptx_builder;

enum {
    PTX_TRAIT_READS = 1,    /* memory or mutable registers */
    PTX_TRAIT_EFFECT = 2,   /* evaluated exactly as often as written */
    PTX_TRAIT_GUARDED = 4,  /* must not run where the script would not run it: divides, reads memory */
    PTX_TRAIT_EXPENSIVE = 8 /* worth a branch when it may be skipped */
};

/* ---- ptx_build_emit.c ---- */
#define PTX_MODS(...)                                                                                        \
    (const ptx_mod[]){__VA_ARGS__}, (unsigned)(sizeof((const ptx_mod[]){__VA_ARGS__}) / sizeof(ptx_mod))
#define PTX_ARGS(...)                                                                                        \
    (const ptx_operand[]){__VA_ARGS__},                                                                      \
        (unsigned)(sizeof((const ptx_operand[]){__VA_ARGS__}) / sizeof(ptx_operand))
/* The instruction stays valid until the next one is emitted. */
ptx_instruction *ptx_build_emit(ptx_builder *b, ptx_op op, const ptx_mod *mods, unsigned mod_count,
                                const ptx_operand *args, unsigned count);
/* d = op.mods args: a fresh register of the class, or the wanted one, comes back. */
ptx_operand ptx_build_compute(ptx_builder *b, ptx_build_class class, ptx_op op, const ptx_mod *mods,
                              unsigned mod_count, const ptx_operand *args, unsigned count);
ptx_operand ptx_build_register(ptx_builder *b, ptx_build_class class);
/* The wanted register when there is one, else a fresh one; only for the last instruction of a sequence. */
ptx_operand ptx_build_result(ptx_builder *b, ptx_build_class class);
void ptx_build_move(ptx_builder *b, ptx_build_class class, ptx_operand to, ptx_operand from);
ptx_operand ptx_build_int(int64_t value);
ptx_operand ptx_build_f32(double value);
ptx_operand ptx_build_f64(double value);
ptx_operand ptx_build_f32_bits(uint32_t bits);
ptx_operand ptx_build_f64_bits(uint64_t bits);
ptx_operand ptx_build_variable(ptx_variable *variable, int64_t offset);
ptx_operand ptx_build_group(ptx_builder *b, ptx_operand_kind kind, const ptx_operand *args, unsigned count);
ptx_operand ptx_build_negated(ptx_operand predicate);
bool ptx_build_is_immediate(ptx_operand operand);
/* A special register, read once at entry. */
ptx_operand ptx_build_special(ptx_builder *b, ptx_special special, ptx_build_class class);
/* A register that holds this constant, set once at entry. */
ptx_operand ptx_build_constant(ptx_builder *b, ptx_build_class class, ptx_operand immediate);
/* Same operand, in a register. */
ptx_operand ptx_build_in_register(ptx_builder *b, ptx_build_class class, ptx_operand operand);
ptx_label *ptx_build_label(ptx_builder *b, const char *stem);
void ptx_build_place(ptx_builder *b, ptx_label *label);
/* Branch when the predicate (or, negated, its opposite) holds; NONE operand: always. */
void ptx_build_branch(ptx_builder *b, ptx_operand predicate, bool negated, ptx_label *label);
ptx_build_class ptx_build_class_of(ir_type type);
ptx_mod ptx_build_bits_mod(ptx_build_class class);
unsigned ptx_build_class_bits(ptx_build_class class);
void ptx_build_error(ptx_builder *b, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- ptx_build_memo.c ---- */
typedef struct ptx_build_mark {
    size_t at[2];
} ptx_build_mark;
ptx_build_mark ptx_build_scope_open(const ptx_builder *b);
void ptx_build_scope_close(ptx_builder *b, ptx_build_mark mark);
void ptx_build_forget_fleeting(ptx_builder *b);
const void *ptx_build_recall(const ptx_build_memo *memo, uint32_t id);
void ptx_build_remember(ptx_builder *b, ptx_build_memo *memo, uint32_t id, const void *value);
unsigned ptx_build_traits(const ir_expr *e);
/* Counts references between the expressions of one statement. */
void ptx_build_count_uses(ptx_builder *b, const ir_expr *const *roots, size_t count);
unsigned ptx_build_use_count(const ptx_builder *b, const ir_expr *e);

/* ---- ptx_build_value.c ---- */
/* One operand per lane; lives as long as the arena. */
const ptx_operand *ptx_build_value(ptx_builder *b, const ir_expr *e);
ptx_operand ptx_build_scalar(ptx_builder *b, const ir_expr *e);
ptx_operand ptx_build_predicate(ptx_builder *b, const ir_expr *e); /* a predicate register */
const ptx_operand *ptx_build_zero(ptx_builder *b);                 /* lanes to go on with after an error */
void ptx_build_value_into(ptx_builder *b, const ir_expr *e, const ptx_operand *to);
void ptx_build_bind(ptx_builder *b, const ir_var *var, const ptx_operand *operands);
const ptx_operand *ptx_build_bound(const ptx_builder *b, const ir_var *var);
/* The registers of a mutable variable, made at first sight. */
const ptx_operand *ptx_build_mutable(ptx_builder *b, const ir_var *var);
bool ptx_build_is_mutable(const ptx_builder *b, ptx_operand operand);

/* ---- ptx_build_arithmetic.c, ptx_build_division.c, ptx_build_convert.c, ptx_build_math*.c ---- */
/* One lane each; type is the scalar type of the arguments or, for casts, of both sides. */
ptx_operand ptx_build_binary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y);
ptx_operand ptx_build_unary(ptx_builder *b, ir_op op, ir_type type, ptx_operand x);
ptx_operand ptx_build_fma(ptx_builder *b, ir_type type, ptx_operand x, ptx_operand y, ptx_operand z);
ptx_operand ptx_build_compare(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y);
ptx_operand ptx_build_select(ptx_builder *b, ir_type type, ptx_operand predicate, ptx_operand x,
                             ptx_operand y);
/* Brings the low bits of a 32-bit register into the extended form of an 8- or 16-bit type. */
ptx_operand ptx_build_wrap(ptx_builder *b, num_dtype dtype, ptx_operand x);
ptx_operand ptx_build_divide(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y,
                             bool known_non_negative, bool positive_divisor);
/* ---- ptx_build_narrow.c: floats of 8 bits and fewer ---- */
ptx_operand ptx_build_narrow_to_f32(ptx_builder *b, num_dtype from, ptx_operand x);
ptx_operand ptx_build_f32_to_narrow(ptx_builder *b, num_dtype to, ptx_operand x);
/* A number of the class, .from in PTX, as float32 rounded to odd. */
ptx_operand ptx_build_f32_odd(ptx_builder *b, ptx_build_class class, ptx_mod from, ptx_operand x);
ptx_operand ptx_build_cast(ptx_builder *b, ir_type to, ir_type from, ptx_operand x);
ptx_operand ptx_build_as_predicate(ptx_builder *b, ptx_operand x);
ptx_operand ptx_build_math(ptx_builder *b, ir_op op, ir_type type, ptx_operand x, ptx_operand y);
ptx_operand ptx_build_math_f64(ptx_builder *b, ir_op op, ptx_operand x, ptx_operand y);
bool ptx_build_is_math(ir_op op);
/* Same bits, other type; lanes may differ. */
const ptx_operand *ptx_build_reinterpret(ptx_builder *b, ir_type to, ir_type from, const ptx_operand *x);
/* 32-bit words that hold the lanes as memory would, and back. */
void ptx_build_pack(ptx_builder *b, ir_type type, const ptx_operand *lanes, ptx_operand *words);
void ptx_build_unpack(ptx_builder *b, ir_type type, const ptx_operand *words, ptx_operand *lanes);

/* ---- ptx_build_memory.c ---- */
ptx_build_address ptx_build_address_of(ptx_builder *b, const ir_expr *pointer);
ptx_operand ptx_build_pointer(ptx_builder *b, const ir_expr *pointer); /* in one register or immediate */
ptx_operand ptx_build_pointer_value(ptx_builder *b, ptx_build_address address);
ptx_operand ptx_build_generic(ptx_builder *b, ptx_build_address address); /* 64-bit generic address */
ptx_operand ptx_build_pointer_bits(ptx_builder *b,
                                   const ir_expr *e); /* REINTERPRET of a pointer as integer */
const ptx_operand *ptx_build_load(ptx_builder *b, const ir_expr *e, const ptx_operand *want);
void ptx_build_store(ptx_builder *b, const ir_stmt *statement);
ptx_operand ptx_build_memory_operand(ptx_builder *b, ptx_build_address address);
ptx_mod ptx_build_space_mod(ptx_space space);
ptx_space ptx_build_space(ir_scope scope);
void ptx_build_find_stores(ptx_builder *b, const ir_stmt *body);

/* ---- ptx_build_origin.c ---- */
/* From a LOAD or ADDRESS expression; without one, the pointer and its flat index. */
const ptx_origin *ptx_build_origin(ptx_builder *b, const ir_expr *origin, const ir_expr *pointer,
                                   const ir_expr *index, bool is_store);

/* ---- ptx_build_call.c ---- */
const ptx_operand *ptx_build_effect(ptx_builder *b, const ir_expr *e, bool used);

/* ---- ptx_build_source.c ---- */
/* The functions of CUDA source text as PTX, in a module that the kernels can be added to. false after
 * reporting. */
bool ptx_build_sources(ptx_module **module, const lower_result *lowered, const ptx_build_options *options,
                       const cuda_unit **unit);
const ptx_operand *ptx_build_source_call(ptx_builder *b, const ir_expr *e);

/* ---- ptx_build_call.c ---- */
ptx_operand ptx_build_text(ptx_builder *b, const char *text); /* generic address of a zero-terminated text */
ptx_variable *ptx_build_call_parameter(ptx_builder *b, ptx_type type, const char *name);

/* ---- ptx_build_pattern.c ---- */
const ptx_operand *ptx_build_pattern(ptx_builder *b, const ir_expr *e); /* one operand per result */
ptx_operand ptx_build_shared_address(ptx_builder *b, const ir_expr *pointer);

/* ---- ptx_build_tidy.c ---- */
/* Drops instructions whose results nobody reads and branches to the next instruction. */
/* ---- ptx_build_copies.c ---- */
void ptx_build_copies(ptx_builder *b);
void ptx_build_tidy(ptx_builder *b);

/* ---- ptx_build_statement.c ---- */
void ptx_build_block(ptx_builder *b, const ir_stmt *block);
#endif
