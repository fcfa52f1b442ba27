/* SPDX-License-Identifier: Apache-2.0
 * Tokens of a script, one at a time: Python's lexical rules. Private to script/. Knows no grammar. */
#ifndef TIRC_SCRIPT_SCRIPT_LEX_H
#define TIRC_SCRIPT_SCRIPT_LEX_H
#include "script/script.h"

typedef enum script_token_kind {
    SCRIPT_TOKEN_END,
    SCRIPT_TOKEN_NEWLINE, /* end of a logical line */
    SCRIPT_TOKEN_INDENT,
    SCRIPT_TOKEN_DEDENT,
    SCRIPT_TOKEN_NAME,
    SCRIPT_TOKEN_INTEGER,
    SCRIPT_TOKEN_REAL,
    SCRIPT_TOKEN_IMAGINARY,
    SCRIPT_TOKEN_STRING,  /* any string literal, prefix and quotes included */
    SCRIPT_TOKEN_COMMENT, /* only with keep_comments */
    SCRIPT_TOKEN_BREAK,   /* only with keep_comments: a line end inside brackets, or of a line without code */
    SCRIPT_TOKEN_WORD     /* keyword, operator or bracket: see word */
} script_token_kind;

/* Keywords, then operators. The order is that of the table in script_lex.c. */
typedef enum script_word_kind {
    SCRIPT_WORD_NONE,
    SCRIPT_WORD_FALSE,
    SCRIPT_WORD_NONE_VALUE,
    SCRIPT_WORD_TRUE,
    SCRIPT_WORD_AND,
    SCRIPT_WORD_AS,
    SCRIPT_WORD_ASSERT,
    SCRIPT_WORD_ASYNC,
    SCRIPT_WORD_AWAIT,
    SCRIPT_WORD_BREAK,
    SCRIPT_WORD_CLASS,
    SCRIPT_WORD_CONTINUE,
    SCRIPT_WORD_DEF,
    SCRIPT_WORD_DEL,
    SCRIPT_WORD_ELIF,
    SCRIPT_WORD_ELSE,
    SCRIPT_WORD_EXCEPT,
    SCRIPT_WORD_FINALLY,
    SCRIPT_WORD_FOR,
    SCRIPT_WORD_FROM,
    SCRIPT_WORD_GLOBAL,
    SCRIPT_WORD_IF,
    SCRIPT_WORD_IMPORT,
    SCRIPT_WORD_IN,
    SCRIPT_WORD_IS,
    SCRIPT_WORD_LAMBDA,
    SCRIPT_WORD_NONLOCAL,
    SCRIPT_WORD_NOT,
    SCRIPT_WORD_OR,
    SCRIPT_WORD_PASS,
    SCRIPT_WORD_RAISE,
    SCRIPT_WORD_RETURN,
    SCRIPT_WORD_TRY,
    SCRIPT_WORD_WHILE,
    SCRIPT_WORD_WITH,
    SCRIPT_WORD_YIELD,
    SCRIPT_WORD_OPEN_ROUND,
    SCRIPT_WORD_CLOSE_ROUND,
    SCRIPT_WORD_OPEN_SQUARE,
    SCRIPT_WORD_CLOSE_SQUARE,
    SCRIPT_WORD_OPEN_CURLY,
    SCRIPT_WORD_CLOSE_CURLY,
    SCRIPT_WORD_COMMA,
    SCRIPT_WORD_COLON,
    SCRIPT_WORD_SEMICOLON,
    SCRIPT_WORD_DOT,
    SCRIPT_WORD_ELLIPSIS,
    SCRIPT_WORD_ARROW,
    SCRIPT_WORD_WALRUS,
    SCRIPT_WORD_ASSIGN,
    SCRIPT_WORD_BANG, /* only inside a replacement field of an f-string */
    SCRIPT_WORD_PLUS,
    SCRIPT_WORD_MINUS,
    SCRIPT_WORD_STAR,
    SCRIPT_WORD_DOUBLE_STAR,
    SCRIPT_WORD_SLASH,
    SCRIPT_WORD_DOUBLE_SLASH,
    SCRIPT_WORD_PERCENT,
    SCRIPT_WORD_AT,
    SCRIPT_WORD_AMPERSAND,
    SCRIPT_WORD_BAR,
    SCRIPT_WORD_CARET,
    SCRIPT_WORD_TILDE,
    SCRIPT_WORD_SHIFT_LEFT,
    SCRIPT_WORD_SHIFT_RIGHT,
    SCRIPT_WORD_LT,
    SCRIPT_WORD_GT,
    SCRIPT_WORD_LE,
    SCRIPT_WORD_GE,
    SCRIPT_WORD_EQ,
    SCRIPT_WORD_NE,
    /* augmented assignment, in the order of their operators from PLUS to SHIFT_RIGHT without TILDE */
    SCRIPT_WORD_PLUS_ASSIGN,
    SCRIPT_WORD_MINUS_ASSIGN,
    SCRIPT_WORD_STAR_ASSIGN,
    SCRIPT_WORD_DOUBLE_STAR_ASSIGN,
    SCRIPT_WORD_SLASH_ASSIGN,
    SCRIPT_WORD_DOUBLE_SLASH_ASSIGN,
    SCRIPT_WORD_PERCENT_ASSIGN,
    SCRIPT_WORD_AT_ASSIGN,
    SCRIPT_WORD_AMPERSAND_ASSIGN,
    SCRIPT_WORD_BAR_ASSIGN,
    SCRIPT_WORD_CARET_ASSIGN,
    SCRIPT_WORD_SHIFT_LEFT_ASSIGN,
    SCRIPT_WORD_SHIFT_RIGHT_ASSIGN,
    SCRIPT_WORD_COUNT
} script_word_kind;

typedef struct script_token {
    script_token_kind kind;
    script_word_kind word;
    uint32_t begin, end;
    uint32_t depth;   /* brackets open before it */
    bool starts_line; /* nothing but white space before it on its physical line */
    uint32_t column;  /* of a token that starts a line: its indentation, tabs to multiples of 8 */
} script_token;

typedef struct script_bracket {
    uint32_t begin; /* place of the opening bracket */
    char close;
} script_bracket;
typedef struct script_indentation {
    uint32_t column, tab_column; /* tabs to multiples of 8, tabs as 1 */
} script_indentation;

#define SCRIPT_FIELDS_MOST                                                                                   \
    16u /* f-strings inside one another: each level is read again by its own parser                          \
         */
#define SCRIPT_DEPTH_DEFAULT 200u
#define SCRIPT_DEPTH_MOST    1000u /* whatever the options say: the parser recurses on the C stack */

typedef struct script_lexer {
    base_arena *arena;
    base_diagnostics *diagnostics;
    uint32_t file;
    const char *data;
    uint32_t at, end;
    bool keep_comments;
    bool quiet;          /* scanning ahead: no reports */
    bool line_failed;    /* something of this logical line was reported */
    bool at_line_start;  /* indentation is to be measured */
    bool physical_start; /* nothing but white space on this physical line so far */
    bool line_has_code;  /* a NEWLINE is due at the line's end */
    bool fields_too_deep;
    bool fields_end_lines; /* after an unclosed string: see script_lexer_string_end */
    uint32_t line_column;  /* indentation of the logical line */
    uint32_t physical_column;
    uint32_t depth_limit;
    uint32_t brackets_dropped; /* given up as never closed: as many closing ones are passed over */
    uint32_t pending_dedents;
    uint32_t base_brackets; /* 1 inside a replacement field: line ends are white space */
    BASE_VECTOR(script_bracket) brackets;
    BASE_VECTOR(script_indentation) indentations;
} script_lexer;

/* A lexer over the bytes [begin, end) of the file. field: of an f-string, where line ends are white space. */
void script_lexer_start(script_lexer *lexer, base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                        uint32_t begin, uint32_t end, uint32_t depth_limit, bool field);
/* Whole-file checks, once: size, byte order mark, UTF-8. */
void script_lexer_check_text(script_lexer *lexer);
void script_lexer_next(script_lexer *lexer, script_token *token);
/* Gives up all open brackets: the token, read already, starts a new logical line. The token's own place is
 * lexed again by the next call. */
void script_lexer_restart_line(script_lexer *lexer, const script_token *token);
/* First byte after the string literal that starts at begin (prefix included), scanning replacement fields
 * of f-strings. *closed tells whether its end was found. */
uint32_t script_lexer_string_end(script_lexer *lexer, uint32_t begin, bool *closed);
/* First byte after the replacement field whose "{" stands before at, in the f-string that starts at begin. */
uint32_t script_lexer_field_end(script_lexer *lexer, uint32_t begin, uint32_t at, bool *closed);
const char *script_word_text(script_word_kind word);
script_word_kind script_keyword(const char *data, size_t size); /* NONE for a name */
static inline base_span script_lexer_span(const script_lexer *lexer, uint32_t begin, uint32_t end) {
    return (base_span){lexer->file, begin, end};
}
/* Reports unless quiet, and marks the line as failed. NULL when quiet or the line has failed before. */
base_diagnostic *script_lexer_error(script_lexer *lexer, const char *code, uint32_t begin, uint32_t end,
                                    const char *format, ...) __attribute__((format(printf, 5, 6)));
bool script_name_starts(const char *data, uint32_t at, uint32_t end, uint32_t *size);
bool script_name_continues(const char *data, uint32_t at, uint32_t end, uint32_t *size);
#endif
