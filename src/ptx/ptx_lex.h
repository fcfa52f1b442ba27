/* SPDX-License-Identifier: Apache-2.0
 * Tokens of PTX text. Knows no grammar. */
#ifndef TIRC_PTX_PTX_LEX_H
#define TIRC_PTX_PTX_LEX_H
#include "base/diagnostic.h"

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* identifier, with %, $ or _ in front where written */
    PTX_TOKEN_WORD,   /* .word, .word::word; the text starts at the dot */
    PTX_TOKEN_INT,    /* bits */
    PTX_TOKEN_F32,    /* 0f3F800000 */
    PTX_TOKEN_F64,    /* 0d..., or a decimal fraction */
    PTX_TOKEN_STRING, /* quotes included in the span */
    PTX_TOKEN_PUNCT   /* one character, or '<' '<' as 'L' and '>' '>' as 'R' */
} ptx_token_kind;

typedef struct ptx_token {
    ptx_token_kind kind;
    char punct;
    bool line_start; /* first on its line */
    bool touches;    /* no space before it */
    uint32_t begin, end;
    uint64_t bits;
} ptx_token;

typedef struct ptx_lexer {
    const char *data;
    uint32_t size, position, file;
    base_diagnostics *diagnostics;
    ptx_token token;                   /* the current one */
    uint32_t previous_end;             /* end of the token before it */
    uint32_t origin_begin, origin_end; /* the last "//@" comment before the current token; end 0: none */
} ptx_lexer;

void ptx_lexer_start(ptx_lexer *lexer, base_diagnostics *diagnostics, uint32_t file, base_text text);
void ptx_lexer_next(ptx_lexer *lexer);
#endif
