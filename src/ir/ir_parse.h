/* SPDX-License-Identifier: Apache-2.0
 * The parser of the text form, shared by its files: state, names in scope, and the three levels of grammar.
 * A function that fails has reported, returns NULL or false, and the line is skipped. Not for other modules.
 */
#ifndef TIRC_IR_IR_PARSE_H
#define TIRC_IR_IR_PARSE_H
#include "ir/ir_lex.h"

/* What a name means; outer: what it meant before. */
typedef struct ir_symbol {
    const char *name;
    ir_var *var; /* one of the two */
    ir_tensor *tensor;
    struct ir_symbol *outer;
    base_span span;
} ir_symbol;

typedef struct ir_parser {
    ir_module *module;
    ir_lexer lexer;
    ir_token token;
    base_map *symbols; /* name -> ir_symbol */
    BASE_VECTOR(ir_symbol *) open;
    unsigned nest;  /* expressions inside expressions on this line */
    unsigned depth; /* statements inside statements */
    bool failed;    /* this line has been reported */
    bool quiet;
    size_t errors;
} ir_parser;

/* ---- tokens and reports (ir_parse_token.c) ---- */
void ir_parser_advance(ir_parser *parser);
base_text ir_parser_text(const ir_parser *parser);
base_span ir_parser_span(const ir_parser *parser);
base_span ir_parser_span_from(const ir_parser *parser, size_t begin); /* to the end of the last token used */
/* NULL always, so that callers can return it; help may be NULL. One report per line. */
void *ir_parser_fail(ir_parser *parser, const char *code, base_span span, const char *help,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
void *ir_parser_expected(ir_parser *parser, const char *what); /* T0301 at the current token */
bool ir_parser_is_sign(const ir_parser *parser, const char *sign);
bool ir_parser_is_word(const ir_parser *parser, const char *word);
bool ir_parser_take_sign(ir_parser *parser, const char *sign); /* takes it when it is there */
bool ir_parser_take_word(ir_parser *parser, const char *word);
bool ir_parser_need_sign(ir_parser *parser, const char *sign); /* else reports */
bool ir_parser_end_line(ir_parser *parser);                    /* needs the end of the line */
void ir_parser_skip_line(ir_parser *parser);                   /* after a failure: past the next NEWLINE */
ir_symbol *ir_parser_find(const ir_parser *parser, base_text name);
/* Declares in the open scope; reports a name that is taken or reserved. */
void ir_parser_declare(ir_parser *parser, base_text name, base_span span, ir_var *var, ir_tensor *tensor);
void ir_parser_close(ir_parser *parser, size_t mark);
/* A name that is being declared; false when the token is none. */
bool ir_parser_new_name(ir_parser *parser, base_text *name, base_span *span);

/* ---- types (ir_parse_type.c) ---- */
bool ir_parser_type(ir_parser *parser, ir_type *type);
/* From the element type on: dtype[shape] scope align= layout= ; element was read already. */
bool ir_parser_tensor_type(ir_parser *parser, ir_type element, ir_tensor_type *type);
bool ir_parser_count(ir_parser *parser, int64_t lowest, int64_t highest, const char *what, int64_t *value);

/* ---- expressions (ir_parse_expr.c) ---- */
const ir_expr *ir_parser_expr(ir_parser *parser, int bind);
const ir_expr *ir_parser_number(ir_parser *parser, bool negative);

/* ---- statements (ir_parse_stmt.c) ---- */
/* An indented block after a line's end; declarations in it close with it. */
void ir_parser_block(ir_parser *parser, ir_stmt *block);
void ir_parser_statements(ir_parser *parser, ir_stmt *block); /* up to DEDENT or END */
void ir_parser_skip_block(ir_parser *parser);                 /* the block that starts here, if one does */
#endif
