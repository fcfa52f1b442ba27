/* SPDX-License-Identifier: Apache-2.0
 * Tokens of the text form, one at a time. Lines and indentation are tokens, as in Python; a statement is one
 * line. Not for other modules. */
#ifndef TIRC_IR_IR_LEX_H
#define TIRC_IR_IR_LEX_H
#include "ir/ir_text.h"

typedef enum ir_token_kind {
    IR_TOKEN_END,
    IR_TOKEN_NEWLINE,
    IR_TOKEN_INDENT,
    IR_TOKEN_DEDENT,
    IR_TOKEN_NAME,
    IR_TOKEN_NUMBER,
    IR_TOKEN_STRING,
    IR_TOKEN_SIGN,
    IR_TOKEN_BAD /* already reported */
} ir_token_kind;

typedef struct ir_token {
    ir_token_kind kind;
    size_t begin, end;
} ir_token;

typedef struct ir_lexer {
    base_text text;
    uint32_t file;
    base_diagnostics *diagnostics;
    size_t position;
    uint32_t indents[IR_STATEMENT_LIMIT + 8]; /* columns of the open blocks; [0] is 0 */
    uint32_t indent_count;
    uint32_t dedents; /* still to be given */
    bool line_start, in_line, quiet;
} ir_lexer;

void ir_lexer_start(ir_lexer *lexer, base_diagnostics *diagnostics, uint32_t file);
ir_token ir_lexer_next(ir_lexer *lexer);
/* Goes on at this place of the same line. */
void ir_lexer_move(ir_lexer *lexer, size_t position);
#endif
