/* SPDX-License-Identifier: Apache-2.0
 * Text to tokens, one at a time, in one pass over the bytes (PTX ISA 4.1-4.5). Comments vanish, except that
 * the last
 * "//@" comment before a token is remembered: it carries provenance. */
#include "ptx/ptx_lex.h"
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_follow(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
}

static int hex_value(char c) {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static char at(const ptx_lexer *lexer, uint32_t position) {
    return position < lexer->size ? lexer->data[position] : '\0';
}

static base_span span_of(const ptx_lexer *lexer, uint32_t begin, uint32_t end) {
    return (base_span){lexer->file, begin, end};
}

/* Skips blanks and comments; says whether a line ended on the way. */
static bool skip_space(ptx_lexer *lexer) {
    bool newline = false;
    uint32_t p = lexer->position;
    while (p < lexer->size) {
        char c = lexer->data[p];
        if (c == '\n') {
            newline = true;
            p++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            p++;
        } else if (c == '/' && at(lexer, p + 1) == '/') {
            uint32_t begin = p;
            const char *end = memchr(lexer->data + p, '\n', lexer->size - p);
            p = end != NULL ? (uint32_t)(end - lexer->data) : lexer->size;
            if (p - begin > 3 && lexer->data[begin + 2] == '@') {
                lexer->origin_begin = begin + 3;
                lexer->origin_end = p;
            }
        } else if (c == '/' && at(lexer, p + 1) == '*') {
            const char *end =
                lexer->size - p > 2 ? memmem(lexer->data + p + 2, lexer->size - p - 2, "*/", 2) : NULL;
            if (end == NULL) {
                base_report(lexer->diagnostics, BASE_ERROR, "T0502", span_of(lexer, p, p + 2),
                            "this comment has no end; expected */");
                p = lexer->size;
            } else {
                p = (uint32_t)(end - lexer->data) + 2;
            }
        } else {
            break;
        }
    }
    lexer->position = p;
    return newline;
}

/* 0f and 0d: the digits are the bits of the value. */
static bool lex_float_bits(ptx_lexer *lexer, ptx_token *token) {
    char c = at(lexer, lexer->position + 1);
    unsigned digits = c == 'f' || c == 'F' ? 8 : c == 'd' || c == 'D' ? 16 : 0;
    uint32_t p = lexer->position + 2;
    uint64_t bits = 0;
    unsigned count = 0;
    if (digits == 0)
        return false;
    while (hex_value(at(lexer, p)) >= 0) {
        bits = bits << 4 | (uint64_t)hex_value(at(lexer, p));
        count++;
        p++;
    }
    token->kind = digits == 8 ? PTX_TOKEN_F32 : PTX_TOKEN_F64;
    token->bits = digits == 8 ? (uint32_t)bits : bits;
    lexer->position = p;
    if (count != digits) {
        base_report(lexer->diagnostics, BASE_ERROR, "T0503", span_of(lexer, token->begin, p),
                    "a floating constant 0%c needs exactly %u hexadecimal digits, found %u", c, digits,
                    count);
    }
    return true;
}

static void lex_decimal_fraction(ptx_lexer *lexer, ptx_token *token) {
    char buffer[64];
    uint32_t p = lexer->position;
    while (is_digit(at(lexer, p)))
        p++;
    if (at(lexer, p) == '.') {
        p++;
        while (is_digit(at(lexer, p)))
            p++;
    }
    if ((at(lexer, p) == 'e' || at(lexer, p) == 'E') &&
        (is_digit(at(lexer, p + 1)) ||
         ((at(lexer, p + 1) == '-' || at(lexer, p + 1) == '+') && is_digit(at(lexer, p + 2))))) {
        p += 2;
        while (is_digit(at(lexer, p)))
            p++;
    }
    uint32_t size = p - lexer->position;
    if (size >= sizeof(buffer)) {
        base_report(
            lexer->diagnostics, BASE_ERROR, "T0503", span_of(lexer, token->begin, p),
            "this decimal constant has more than %zu characters; write it as 0d with 16 hexadecimal digits",
            sizeof(buffer) - 1);
        size = sizeof(buffer) - 1;
    }
    memcpy(buffer, lexer->data + lexer->position, size);
    buffer[size] = '\0';
    double value = strtod(buffer, NULL);
    memcpy(&token->bits, &value, sizeof(value));
    token->kind = PTX_TOKEN_F64;
    lexer->position = p;
}

static void lex_number(ptx_lexer *lexer, ptx_token *token) {
    uint32_t p = lexer->position;
    unsigned base = 10;
    char second = at(lexer, p + 1);
    if (at(lexer, p) == '0' && lex_float_bits(lexer, token))
        return;
    if (at(lexer, p) == '0' && (second == 'x' || second == 'X')) {
        base = 16;
        p += 2;
    } else if (at(lexer, p) == '0' && (second == 'b' || second == 'B')) {
        base = 2;
        p += 2;
    } else {
        uint32_t q = p;
        while (is_digit(at(lexer, q)))
            q++;
        if ((at(lexer, q) == '.' && is_digit(at(lexer, q + 1))) ||
            ((at(lexer, q) == 'e' || at(lexer, q) == 'E') &&
             (is_digit(at(lexer, q + 1)) || at(lexer, q + 1) == '-' || at(lexer, q + 1) == '+'))) {
            lex_decimal_fraction(lexer, token);
            return;
        }
        base = at(lexer, p) == '0' ? 8 : 10;
    }
    token->kind = PTX_TOKEN_INT;
    bool overflow = false, any = false;
    uint64_t value = 0;
    for (int digit; (digit = hex_value(at(lexer, p))) >= 0 && (unsigned)digit < base; p++) {
        overflow = overflow || __builtin_mul_overflow(value, base, &value) ||
                   __builtin_add_overflow(value, (uint64_t)digit, &value);
        any = true;
    }
    if (at(lexer, p) == 'U')
        p++;
    bool tail = false;
    while (is_follow(at(lexer, p))) {
        tail = true;
        p++;
    }
    token->bits = value;
    lexer->position = p;
    if (overflow) {
        base_report(lexer->diagnostics, BASE_ERROR, "T0503", span_of(lexer, token->begin, p),
                    "this integer does not fit 64 bits");
    } else if (!any || tail) {
        base_report(lexer->diagnostics, BASE_ERROR, "T0503", span_of(lexer, token->begin, p),
                    "not a number of base %u; expected digits, with an optional U behind them", base);
    }
}

static void lex_string(ptx_lexer *lexer, ptx_token *token) {
    uint32_t p = lexer->position + 1;
    while (p < lexer->size && lexer->data[p] != '"' && lexer->data[p] != '\n') {
        p += lexer->data[p] == '\\' && p + 1 < lexer->size ? 2 : 1;
    }
    token->kind = PTX_TOKEN_STRING;
    if (at(lexer, p) == '"') {
        p++;
    } else {
        base_report(lexer->diagnostics, BASE_ERROR, "T0502", span_of(lexer, token->begin, token->begin + 1),
                    "this string has no end on its line; expected a closing \"");
    }
    lexer->position = p < lexer->size ? p : lexer->size;
}

static void lex_word(ptx_lexer *lexer, ptx_token *token) {
    uint32_t p = lexer->position + 1;
    token->kind = PTX_TOKEN_WORD;
    while (is_follow(at(lexer, p)) ||
           (at(lexer, p) == ':' && at(lexer, p + 1) == ':' && is_follow(at(lexer, p + 2)))) {
        p += at(lexer, p) == ':' ? 2 : 1;
    }
    lexer->position = p;
}

void ptx_lexer_next(ptx_lexer *lexer) {
    ptx_token *token = &lexer->token;
    for (;;) {
        uint32_t before = lexer->position;
        lexer->origin_end = 0;
        lexer->previous_end = before;
        bool newline = skip_space(lexer);
        uint32_t p = lexer->position;
        *token = (ptx_token){.begin = p, .line_start = newline || p == 0, .touches = p == before};
        char c = at(lexer, p);
        if (p >= lexer->size) {
            token->kind = PTX_TOKEN_END;
        } else if (is_digit(c)) {
            lex_number(lexer, token);
        } else if (c == '.' && is_follow(at(lexer, p + 1))) {
            lex_word(lexer, token);
        } else if (is_follow(c) || (c == '%' && is_follow(at(lexer, p + 1)) && !is_digit(at(lexer, p + 1)))) {
            token->kind = PTX_TOKEN_NAME;
            for (p++; is_follow(at(lexer, p)); p++) {
            }
            lexer->position = p;
        } else if (c == '"') {
            lex_string(lexer, token);
        } else if (c > ' ' && c < 127) {
            token->kind = PTX_TOKEN_PUNCT;
            token->punct = c;
            lexer->position = p + 1;
            if ((c == '<' || c == '>') && at(lexer, p + 1) == c) {
                token->punct = c == '<' ? 'L' : 'R';
                lexer->position = p + 2;
            }
        } else {
            /* A run of bytes that PTX has no use for is one problem, not one per byte. */
            while (p < lexer->size &&
                   ((unsigned char)lexer->data[p] >= 127 || (unsigned char)lexer->data[p] < ' ') &&
                   strchr("\n\t\r\f\v", lexer->data[p] ? lexer->data[p] : 1) == NULL)
                p++;
            p = p == lexer->position ? p + 1 : p;
            base_report(lexer->diagnostics, BASE_ERROR, "T0501", span_of(lexer, lexer->position, p),
                        "byte 0x%02x is no part of PTX; expected ASCII text", (unsigned)(unsigned char)c);
            lexer->position = p;
            continue;
        }
        token->end = lexer->position;
        return;
    }
}

void ptx_lexer_start(ptx_lexer *lexer, base_diagnostics *diagnostics, uint32_t file, base_text text) {
    *lexer =
        (ptx_lexer){.data = text.data, .size = (uint32_t)text.size, .file = file, .diagnostics = diagnostics};
    ptx_lexer_next(lexer);
}
