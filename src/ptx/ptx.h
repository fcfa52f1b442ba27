/* SPDX-License-Identifier: Apache-2.0
 * The PTX module: what the machine executes, what static checks read, what is printed for the driver. Two
 * producers: ptx_build (our flat IR) and ptx_parse (anybody's text). Modifiers, types and operands are kept
 * as written, so printing and parsing back gives the same module. The instruction table (ptx_table.def) is
 * data: it says which modifiers, types and operands each instruction takes, and since which PTX version and
 * target. */
#ifndef TIRC_PTX_PTX_H
#define TIRC_PTX_PTX_H
#include "base/diagnostic.h"

/* Scalar types as PTX names them. */
/* clang-format off */
#define PTX_TYPES(X) \
    X(B8, 8) \
    X(B16, 16) \
    X(B32, 32) \
    X(B64, 64) \
    X(B128, 128) \
    X(U8, 8) \
    X(U16, 16) \
    X(U32, 32) \
    X(U64, 64) \
    X(S8, 8) \
    X(S16, 16) \
    X(S32, 32) \
    X(S64, 64) \
    X(F16, 16) \
    X(BF16, 16) \
    X(F16X2, 32) \
    X(BF16X2, 32) \
    X(F32, 32) \
    X(TF32, 32) \
    X(F64, 64) \
    X(F32X2, 64) \
    X(U16X2, 32) \
    X(S16X2, 32) X(E4M3, 8) X(E5M2, 8) X(E4M3X2, 16) X(E5M2X2, 16) X(E2M3X2, 16) X(E3M2X2, 16) X(E2M1X2, 8) \
        X(UE8M0X2, 16) X(U4, 4) X(S4, 4) X(U2, 2) X(S2, 2) X(B1, 1) X(E2M3, 8) X(E3M2, 8) X(E2M1, 4) \
            X(UE8M0, 8) X(UE4M3, 8) X(E4M3X4, 32) X(E5M2X4, 32) X(E2M3X4, 32) X(E3M2X4, 32) X(E2M1X4, 16) \
                X(S2F6X2, 16) X(UE5M3X2, 16) \
                X(PRED, 1) X(TEXREF, 64) X(SAMPLERREF, 64) X(SURFREF, 64)
/* clang-format on */
/* Packed, like opcodes and modifiers: a module has thousands of instructions, and most of one is these. */
typedef enum __attribute__((packed)) ptx_type {
    PTX_TYPE_NONE,
#define X(name, bits) PTX_TYPE_##name,
    PTX_TYPES(X)
#undef X
        PTX_TYPE_COUNT
} ptx_type;
const char *ptx_type_name(ptx_type type); /* "f32", lower case, no dot */
unsigned ptx_type_bits(ptx_type type);
bool ptx_type_find(const char *name, size_t size, ptx_type *type);

typedef enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_CONST,
    PTX_SPACE_REG,
    PTX_SPACE_TENSOR
} ptx_space;

/* Opcodes and modifiers: enumerators come from ptx_table.def through ptx_enums.h: PTX_OP_ADD,
 * PTX_OP_TCGEN05_LD (the family and its operation joined), PTX_MOD_RN, PTX_MOD_SYNC, PTX_MOD_SHARED__CTA,
 * PTX_MOD_X4 ... Types are modifiers too: PTX_MOD_F32. */
#include "ptx/ptx_enums.h"
const char *ptx_op_name(ptx_op op);                /* "add", "tcgen05.ld", "cp.async.bulk.tensor" */
bool ptx_op_is_memory(ptx_op op);                  /* touches memory, by the table */
const char *ptx_mod_name(ptx_mod mod);             /* "rn", "shared::cta", no leading dot */
const char *ptx_special_name(ptx_special special); /* "tid.x", no leading '%' */
unsigned ptx_special_bits(ptx_special special);    /* 1 for a predicate, 32 or 64 */

typedef struct ptx_register {
    const char *name; /* unique in the function; scoped duplicates get a "$2" suffix on reading */
    ptx_type type;
    uint32_t id; /* index in function->registers */
} ptx_register;

typedef struct ptx_variable ptx_variable;
typedef struct ptx_function ptx_function;

/* One element of an initialiser: a number, or the address of a symbol plus an offset. */
typedef struct ptx_initial {
    uint64_t bits; /* value, or byte offset from the symbol */
    ptx_variable *variable;
    ptx_function *function;
    bool generic;  /* generic(symbol) */
    uint64_t mask; /* mask(0xff00, symbol): the byte of the address to store; 0: none */
} ptx_initial;

typedef enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_EXTERN,
    PTX_LINK_VISIBLE,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
} ptx_linkage;

struct ptx_variable {
    const char *name;
    ptx_space space;
    ptx_type type;
    ptx_linkage linkage;
    uint32_t align;   /* bytes; 0: natural */
    uint32_t vector;  /* 1, 2 or 4 */
    int64_t elements; /* 1 for a scalar; product of dimensions; 0 for [] (extern, or param pointer arrays) */
    bool is_array;
    uint64_t bytes;                   /* elements * vector * type; 0 for [] */
    BASE_VECTOR(ptx_initial) initial; /* empty: zero (global, const) or undefined */
    ptx_space pointer_space;
    uint32_t pointer_align;
    bool is_pointer;     /* .param .u64 .ptr .global .align 16 p */
    ptx_function *owner; /* function-scope variables; NULL at module scope */
    base_span span;
    uint64_t address; /* for the consumer (the machine lays out memory); 0 from the parser */
};

typedef enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_IMMEDIATE, /* bits; integers sign-extended to 64, floats as bits of the width written (0f 32,
                              0d 64) */
    PTX_OPERAND_SPECIAL,   /* %tid.x, %laneid, %clock64 ... */
    PTX_OPERAND_VARIABLE,  /* address of a variable, plus offset in bits */
    PTX_OPERAND_FUNCTION,  /* address or callee */
    PTX_OPERAND_LABEL,
    PTX_OPERAND_MEMORY, /* [base + offset]: base is args[0] (REGISTER, VARIABLE, or IMMEDIATE) ; more args:
                           [map, {c0,c1}, ...] */
    PTX_OPERAND_VECTOR, /* {a, b, ...} in args */
    PTX_OPERAND_SINK,   /* _ */
    PTX_OPERAND_PAIR,   /* p|q in args */
    PTX_OPERAND_LIST,   /* ( ... ) of a call, in args */
    PTX_OPERAND_TABLE,  /* name of a .branchtargets, .calltargets or .callprototype declaration */
    PTX_OPERAND_MASKED  /* d.b0, a.h1, a.b7210 of video instructions: args[0]; bits: 'b' or 'h' << 56, the
                           number of  digits << 48, one digit per 4 bits from the top (b7210: 0x7210) */
} ptx_operand_kind;

typedef enum ptx_immediate_kind {
    PTX_IMMEDIATE_INT,
    PTX_IMMEDIATE_F32,
    PTX_IMMEDIATE_F64
} ptx_immediate_kind;

typedef struct ptx_operand ptx_operand;
struct ptx_operand {
    uint8_t kind;
    uint8_t immediate; /* ptx_immediate_kind */
    bool negated;      /* !p, or -r where PTX allows it */
    uint16_t count;    /* args */
    uint64_t bits;     /* IMMEDIATE value; byte offset of VARIABLE and MEMORY (two's complement); SPECIAL:
                          ptx_special */
    union {
        ptx_register *reg;
        ptx_variable *variable;
        ptx_function *function;
        struct ptx_label *label;
        struct ptx_table_declaration *table;
    } of;
    ptx_operand *args;
};

typedef struct ptx_label {
    const char *name; /* unique in the function, like registers */
    uint32_t target;  /* index into function->instructions; == count: the end */
} ptx_label;

/* .branchtargets, .calltargets, .callprototype */
typedef struct ptx_table_declaration {
    const char *name;
    enum { PTX_TABLE_BRANCH, PTX_TABLE_CALL, PTX_TABLE_PROTOTYPE } kind;
    BASE_VECTOR(ptx_label *) labels;
    BASE_VECTOR(ptx_function *) functions;
    ptx_function *prototype; /* PROTOTYPE: a body-less function with parameters and returns */
    uint32_t position;       /* instruction index before which it stands, for printing */
} ptx_table_declaration;

/* Logical index of an access: a small expression over registers, for findings. */
typedef enum ptx_index_op {
    PTX_INDEX_UNKNOWN, /* printed as text only */
    PTX_INDEX_CONSTANT,
    PTX_INDEX_REGISTER,
    PTX_INDEX_SPECIAL,
    PTX_INDEX_ADD,
    PTX_INDEX_SUB,
    PTX_INDEX_MUL,
    PTX_INDEX_FLOORDIV,
    PTX_INDEX_FLOORMOD
} ptx_index_op;
typedef struct ptx_index ptx_index;
struct ptx_index {
    ptx_index_op op;
    int64_t constant; /* CONSTANT; SPECIAL: ptx_special */
    ptx_register *reg;
    const ptx_index *a, *b;
    const char *text; /* the author's expression, e.g. "i * 8 + j"; never NULL at the root */
};
/* Provenance of a memory instruction of ours: "As[i, j]" of the script. */
typedef struct ptx_origin {
    const char *tensor;
    uint32_t rank;
    const ptx_index *const *indices;
    const int64_t *extents; /* -1: not a constant */
    const char *space;      /* "global", "shared", ... as the language says */
    bool is_store;
} ptx_origin;

#define PTX_MODS_MAX 20
/* Registers that one instruction names, guard included: wgmma writes 128 and reads them too. The parser and
 * the verifier hold every instruction to it. */
#define PTX_REGISTERS_MAX 288
typedef struct ptx_instruction {
    ptx_op op;
    uint8_t mod_count, operand_count;
    bool guard_negated;
    ptx_register *guard;        /* @p or @!p; NULL: none */
    ptx_mod mods[PTX_MODS_MAX]; /* in the order written, types included */
    ptx_type type,
        type2; /* first and second type modifier, NONE when absent (cvt: type = to, type2 = from) */
    ptx_operand *operands;
    base_span span;                          /* place in the .ptx text, or in the script for ours */
    uint32_t loc_file, loc_line, loc_column; /* .loc in force; 0: none. loc_file indexes module->files */
    const ptx_origin *origin;
} ptx_instruction;
bool ptx_has(const ptx_instruction *instruction, ptx_mod mod);

struct ptx_function {
    const char *name;
    ptx_linkage linkage;
    bool is_entry, has_body, noreturn;
    bool foreign; /* made by another compiler for a module of ours: its accesses need not say where they come
                     from */
    BASE_VECTOR(ptx_variable *) parameters; /* space PARAM (or REG for old-style functions) */
    BASE_VECTOR(ptx_variable *) returns;
    BASE_VECTOR(ptx_register *) registers;
    BASE_VECTOR(ptx_variable *) variables; /* .local .shared .param declared in the body */
    BASE_VECTOR(ptx_label *) labels;
    BASE_VECTOR(ptx_table_declaration *) tables;
    BASE_VECTOR(ptx_instruction) instructions;
    uint32_t max_threads[3], required_threads[3], min_blocks, max_blocks, max_registers,
        cluster[3]; /* 0: absent */
    uint32_t max_cluster_rank;
    bool explicit_cluster, blocks_are_clusters;
    ptx_function *alias; /* .alias this, alias: a call of this one is a call of that; NULL: none */
    base_span span;
    uint32_t id; /* index in module->functions */
};

typedef struct ptx_module {
    base_arena *arena;
    base_names *names;
    base_diagnostics *diagnostics;
    uint32_t version;           /* 87 for .version 8.7 */
    const char *target;         /* "sm_90a" */
    const char *target_options; /* the rest of .target: "debug", "texmode_unified"; "" */
    uint32_t address_size;
    BASE_VECTOR(ptx_variable *) variables;
    BASE_VECTOR(ptx_function *)
    functions;                       /* declarations and definitions; a definition replaces its declaration */
    BASE_VECTOR(const char *) files; /* .file table, index as written; holes are NULL */
    base_map *function_index, *variable_index; /* interned name to object; module scope only */
    struct ptx_table **table;                  /* of the instructions; made at the first question about one */
} ptx_module;

/* ---- construction (ptx_module.c) ---- */
ptx_module *ptx_module_create(base_arena *arena, base_diagnostics *diagnostics);
ptx_function *ptx_function_create(ptx_module *module, const char *name, bool is_entry);
ptx_register *ptx_register_create(ptx_module *module, ptx_function *function, const char *name,
                                  ptx_type type);
/* The same with a name that lives as long as the module and that no other register of the function has. */
ptx_register *ptx_register_create_named(ptx_module *module, ptx_function *function, const char *name,
                                        ptx_type type);
ptx_function *ptx_function_find(const ptx_module *module, const char *name);
ptx_variable *ptx_variable_find(const ptx_module *module, const char *name);

/* ---- text (ptx_lex.c, ptx_parse*.c, ptx_print.c) ---- */
/* Reports T05xx; NULL when nothing could be made of it. Check base_diagnostics_errors. */
ptx_module *ptx_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file);
typedef struct ptx_print_options {
    bool origins; /* //@ comments, read back by ptx_parse */
    bool lines;   /* .file and .loc */
} ptx_print_options;
void ptx_print(const ptx_module *module, const ptx_print_options *options, base_builder *out);
/* Opcode and modifiers: "add.rn.f32". */
void ptx_instruction_form(const ptx_instruction *instruction, base_builder *out);
void ptx_instruction_print(const ptx_function *function, const ptx_instruction *instruction,
                           base_builder *out);

/* ---- checks and analyses ---- */
/* Modifiers, types, operand kinds and widths against the table; labels; T06xx. ours: memory instructions must
 * have an origin. */
bool ptx_verify(const ptx_module *module, bool ours);
/* True when every instruction exists on this target; reports nothing. What is no form anywhere does not
 * count. */
bool ptx_module_exists_on(const ptx_module *module, const char *target);
/* Of a module that passed: one cta_group in each kernel and what it calls; T0749. */
bool ptx_verify_groups(const ptx_module *module);
/* Lowest .version (87 for 8.7) that the target, the directives and every instruction, modifier and special
 * register of the module need, from the table. */
uint32_t ptx_module_minimum_version(const ptx_module *module);
/* Structural equality: everything the text says, names included; places in the text, arenas and addresses are
 * not compared. lines: .loc too; origins: origins too. difference, when not NULL, gets a sentence about the
 * first one. */
bool ptx_module_equal(const ptx_module *a, const ptx_module *b, bool lines, bool origins,
                      base_builder *difference);
/* Basic blocks, predecessors, immediate post-dominators (virtual exit = block_count). */
typedef struct ptx_block {
    uint32_t begin, end; /* instructions */
    uint32_t *successors, successor_count;
    uint32_t *predecessors, predecessor_count;
    uint32_t post_dominator; /* block index, or block_count for the virtual exit */
    bool reachable;
} ptx_block;
typedef struct ptx_graph {
    uint32_t block_count;
    ptx_block *blocks;
    uint32_t *block_of; /* per instruction */
} ptx_graph;
const ptx_graph *ptx_graph_build(base_arena *arena, const ptx_function *function);
/* Which operands an instruction writes and reads as registers, guards and addresses included. */
typedef struct ptx_uses {
    ptx_register *written[PTX_REGISTERS_MAX];
    ptx_register *read[PTX_REGISTERS_MAX];
    uint32_t written_count, read_count;
} ptx_uses;
void ptx_instruction_uses(const ptx_instruction *instruction, ptx_uses *uses);
/* Live ranges: per register the set of blocks it is live into, as bit rows; and counts. */
typedef struct ptx_liveness {
    uint32_t words; /* 64-bit words per block row */
    uint64_t *live_in, *live_out;
    uint32_t virtual_registers; /* declared and used */
} ptx_liveness;
const ptx_liveness *ptx_liveness_compute(base_arena *arena, const ptx_function *function,
                                         const ptx_graph *graph);
#endif
