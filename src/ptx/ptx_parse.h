/* SPDX-License-Identifier: Apache-2.0
 * What the files of the PTX parser share. Not for other modules. */
#ifndef TIRC_PTX_PTX_PARSE_H
#define TIRC_PTX_PTX_PARSE_H
#include "ptx/ptx_lex.h"
#include "ptx/ptx_private.h"

#define PTX_DEPTH_MAX   200        /* nested {} scopes, parentheses of constants and indices */
#define PTX_VECTOR_MAX  256        /* elements of one {...} operand; the longest that PTX has is 128 */
#define PTX_INITIAL_MAX (1u << 24) /* elements of an initialiser, padding of inner braces included */

typedef enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER,
    PTX_SYMBOL_RANGE, /* prefix<count>: registers come to life when first named */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TABLE
} ptx_symbol_kind;

typedef struct ptx_symbol {
    ptx_symbol_kind kind;
    ptx_type type;  /* RANGE */
    uint64_t count; /* RANGE */
    union {
        ptx_register *reg;
        ptx_variable *variable;
        ptx_label *label;
        ptx_table_declaration *table;
    } of;
    base_span span;
} ptx_symbol;

typedef struct ptx_scope {
    struct ptx_scope *parent;
    base_map *symbols; /* interned name to ptx_symbol; made when first needed */
    base_map *targets; /* the same for labels and tables: they have names of their own */
    size_t first_pending;
    base_span open;
} ptx_scope;

/* A label or table named before it stands in the text. */
typedef struct ptx_pending {
    const char *name;
    base_span span;
    ptx_operand *operand; /* kind LABEL or TABLE; NULL: slot */
    ptx_label **slot;
} ptx_pending;

typedef struct ptx_parser {
    ptx_lexer lex;
    ptx_module *module;
    base_arena *arena;
    base_diagnostics *diagnostics;
    base_map *ops;      /* interned mnemonic to a row number */
    base_map *heads;    /* interned first word to the largest number of words of its family */
    base_map *mods;     /* interned modifier to its number */
    base_map *specials; /* interned name to its number */
    ptx_function *function;
    ptx_scope *scope;
    unsigned depth;
    base_map *used_names; /* names taken in the function: registers and variables, and labels */
    BASE_VECTOR(ptx_pending) pending;
    BASE_VECTOR(ptx_operand) stack; /* operands under construction */
    unsigned registers_named;       /* in the instruction being read */
    uint32_t loc_file, loc_line, loc_column;
} ptx_parser;

/* ---- shared steps (ptx_parse.c) ---- */
base_span ptx_parse_here(const ptx_parser *parser);
base_span ptx_parse_since(const ptx_parser *parser, uint32_t begin);
bool ptx_parse_is(const ptx_parser *parser, char punct);
bool ptx_parse_accept(ptx_parser *parser, char punct);
bool ptx_parse_expect(ptx_parser *parser, char punct, const char *where);
bool ptx_parse_word_is(const ptx_parser *parser, const char *word); /* with its dot */
const char *ptx_parse_name(ptx_parser *parser, const char *what);   /* interned; NULL after a report */
const char *ptx_parse_token_text(const ptx_parser *parser);         /* for messages */
void ptx_parse_skip_statement(ptx_parser *parser);
void ptx_parse_skip_block(ptx_parser *parser);     /* at '{': past its '}' */
bool ptx_parse_line_directive(ptx_parser *parser); /* .file .loc .pragma .section; false: another word */

/* ---- constants and variables (ptx_parse_variable.c) ---- */
bool ptx_parse_starts_constant(const ptx_parser *parser);
bool ptx_parse_constant(ptx_parser *parser, uint64_t *bits, ptx_immediate_kind *kind);
bool ptx_parse_integer(ptx_parser *parser, int64_t minimum, int64_t maximum, const char *what,
                       int64_t *value);
bool ptx_parse_space(const ptx_parser *parser, ptx_space *space);
/* At the state space word. Declares into the module or, inside a function, into the scope. */
void ptx_parse_variables(ptx_parser *parser, ptx_linkage linkage);
/* "(" parameters ")": into list; with_scope: names become visible. */
void ptx_parse_parameters(ptx_parser *parser, ptx_function *function, bool returns);

/* ---- bodies (ptx_parse_body.c, ptx_scope.c) ---- */
void ptx_parse_body(ptx_parser *parser);
ptx_symbol *ptx_scope_find(ptx_parser *parser, const char *name); /* registers and variables */
bool ptx_scope_declare(ptx_parser *parser, const char *name, ptx_symbol symbol, base_span span);
bool ptx_scope_declare_target(ptx_parser *parser, const char *name, ptx_symbol symbol, base_span span);
const char *ptx_scope_unique(ptx_parser *parser, const char *name); /* "$2" where taken */
void ptx_scope_open(ptx_parser *parser, base_span span);
void ptx_scope_close(ptx_parser *parser); /* resolves labels; the outermost reports what is left */

/* ---- instructions (ptx_parse_instruction.c, ptx_parse_operand.c) ---- */
void ptx_parse_instruction(ptx_parser *parser);
bool ptx_parse_operand(ptx_parser *parser, ptx_op op, ptx_operand *operand);
bool ptx_parse_list(ptx_parser *parser, ptx_operand *operand);    /* at '(' */
bool ptx_parse_special(ptx_parser *parser, ptx_operand *operand); /* at a %name that is no register */
/* The comment [begin, end) as provenance; NULL after a warning. */
const ptx_origin *ptx_parse_origin(ptx_parser *parser, uint32_t begin, uint32_t end);
#endif
