/* SPDX-License-Identifier: Apache-2.0
 * The lexer of the text form. Knows no words and no grammar; on a character it cannot place it reports, gives
 * one BAD token and drops the rest of the line. */
#include "ir/ir_lex.h"
#include <string.h>

void ir_lexer_start(ir_lexer *lexer, base_diagnostics *diagnostics, uint32_t file) {
    memset(lexer, 0, sizeof *lexer);
    lexer->text = base_source_text(base_diagnostics_sources(diagnostics), file);
    lexer->file = file;
    lexer->diagnostics = diagnostics;
    lexer->indent_count = 1;
    lexer->line_start = true;
}

void ir_lexer_move(ir_lexer *lexer, size_t position) {
    lexer->position = position;
}

static int peek(const ir_lexer *lexer, size_t ahead) {
    size_t at = lexer->position + ahead;
    return at < lexer->text.size ? (unsigned char)lexer->text.data[at] : -1;
}

static bool is_digit(int c) {
    return c >= '0' && c <= '9';
}

static bool is_word(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void skip_line(ir_lexer *lexer) {
    while (peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
        lexer->position++;
}

static base_span span_here(const ir_lexer *lexer, size_t begin, size_t end) {
    return (base_span){lexer->file, (uint32_t)begin, (uint32_t)end};
}

static ir_token bad(ir_lexer *lexer, size_t begin, size_t end, const char *text) {
    if (!lexer->quiet)
        base_report(lexer->diagnostics, BASE_ERROR, "T0315", span_here(lexer, begin, end), "%s", text);
    skip_line(lexer);
    return (ir_token){IR_TOKEN_BAD, begin, end};
}

/* Skips empty lines and measures the next one; pushes or pops blocks. */
static bool begin_line(ir_lexer *lexer, ir_token *token) {
    size_t column = 0, begin;
    for (;;) {
        begin = lexer->position;
        column = 0;
        while (peek(lexer, 0) == ' ')
            lexer->position++, column++;
        size_t text = lexer->position;
        while (peek(lexer, 0) == '\r' || peek(lexer, 0) == '\t' || peek(lexer, 0) == ' ')
            lexer->position++;
        if (peek(lexer, 0) == '#')
            skip_line(lexer);
        if (peek(lexer, 0) < 0) {
            column = 0;
            break;
        }
        if (peek(lexer, 0) != '\n') {
            if (lexer->position != text && !lexer->quiet)
                base_report(lexer->diagnostics, BASE_ERROR, "T0302", span_here(lexer, text, lexer->position),
                            "a line is indented with spaces only");
            break;
        }
        lexer->position++;
    }
    lexer->line_start = false;
    uint32_t top = lexer->indents[lexer->indent_count - 1];
    if (column > top && lexer->indent_count < sizeof lexer->indents / sizeof *lexer->indents) {
        lexer->indents[lexer->indent_count++] = (uint32_t)column;
        *token = (ir_token){IR_TOKEN_INDENT, begin, lexer->position};
        return true;
    }
    while (lexer->indents[lexer->indent_count - 1] > column) {
        lexer->indent_count--;
        lexer->dedents++;
    }
    if (lexer->dedents && lexer->indents[lexer->indent_count - 1] != column && !lexer->quiet)
        base_report(lexer->diagnostics, BASE_ERROR, "T0302", span_here(lexer, begin, lexer->position),
                    "this indentation matches no open block; expected %u spaces",
                    lexer->indents[lexer->indent_count - 1]);
    return false;
}

static void skip_number(ir_lexer *lexer) {
    if (peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X')) {
        lexer->position += 2;
    } else {
        while (is_digit(peek(lexer, 0)))
            lexer->position++;
        if (peek(lexer, 0) == '.' && is_digit(peek(lexer, 1))) {
            lexer->position++;
            while (is_digit(peek(lexer, 0)))
                lexer->position++;
        }
        int sign = peek(lexer, 1);
        if ((peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') &&
            (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(lexer, 2)))))
            lexer->position += 2;
    }
    while (is_word(peek(lexer, 0)))
        lexer->position++;
}

static ir_token string_token(ir_lexer *lexer) {
    size_t begin = lexer->position++;
    for (;;) {
        int c = peek(lexer, 0);
        if (c < 0 || c == '\n')
            return bad(lexer, begin, lexer->position, "this text has no closing quote on its line");
        if (c == 0)
            return bad(lexer, lexer->position, lexer->position + 1, "a zero byte cannot stand in text");
        lexer->position++;
        if (c == '"')
            return (ir_token){IR_TOKEN_STRING, begin, lexer->position};
        if (c == '\\' && peek(lexer, 0) >= 0 && peek(lexer, 0) != '\n')
            lexer->position++;
    }
}

static ir_token sign_token(ir_lexer *lexer) {
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "<<", ">>", "//"};
    size_t begin = lexer->position;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (peek(lexer, 0) == pairs[i][0] && peek(lexer, 1) == pairs[i][1]) {
            lexer->position += 2;
            return (ir_token){IR_TOKEN_SIGN, begin, lexer->position};
        }
    int c = peek(lexer, 0);
    if (c <= 0 || !strchr("+-*/%&|^~<>=()[],:.@", c))
        return bad(lexer, begin, begin + 1, "this character has no meaning here");
    lexer->position++;
    return (ir_token){IR_TOKEN_SIGN, begin, lexer->position};
}

ir_token ir_lexer_next(ir_lexer *lexer) {
    ir_token token;
    if (lexer->line_start && begin_line(lexer, &token))
        return token;
    if (lexer->dedents) {
        lexer->dedents--;
        return (ir_token){IR_TOKEN_DEDENT, lexer->position, lexer->position};
    }
    while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\t' || peek(lexer, 0) == '\r')
        lexer->position++;
    if (peek(lexer, 0) == '#')
        skip_line(lexer);
    size_t begin = lexer->position;
    int c = peek(lexer, 0);
    if (c == '\n') {
        lexer->position++;
        lexer->in_line = false;
        lexer->line_start = true;
        return (ir_token){IR_TOKEN_NEWLINE, begin, begin};
    }
    if (c < 0 && lexer->in_line) { /* a last line without its newline ends too */
        lexer->in_line = false;
        lexer->line_start = true;
        return (ir_token){IR_TOKEN_NEWLINE, begin, begin};
    }
    if (c < 0)
        return (ir_token){IR_TOKEN_END, begin, begin};
    lexer->in_line = true;
    if (is_digit(c)) {
        skip_number(lexer);
        return (ir_token){IR_TOKEN_NUMBER, begin, lexer->position};
    }
    if (is_word(c)) {
        while (is_word(peek(lexer, 0)))
            lexer->position++;
        return (ir_token){IR_TOKEN_NAME, begin, lexer->position};
    }
    return c == '"' ? string_token(lexer) : sign_token(lexer);
}
