/* SPDX-License-Identifier: Apache-2.0
 * Python's lexical rules: logical lines, indentation, implicit and backslash joining, names, numbers, string
 * extents, operators. Reads tokens one at a time, so that memory does not grow with the text; knows no
 * grammar and decodes no literal. */
#include "script/script_lex.h"
#include <string.h>

/* clang-format off */
static const char *const word_texts[SCRIPT_WORD_COUNT] = {
    "", "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    "(", ")", "[", "]", "{", "}", ",", ":", ";", ".", "...", "->", ":=", "=", "!",
    "+", "-", "*", "**", "/", "//", "%", "@", "&", "|", "^", "~", "<<", ">>", "<", ">", "<=", ">=", "==", "!=",
    "+=", "-=", "*=", "**=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", "<<=", ">>=",
};
/* clang-format on */

const char *script_word_text(script_word_kind word) {
    return word < SCRIPT_WORD_COUNT ? word_texts[word] : "";
}

/* Keywords stand in the order of the alphabet: the first that starts with a letter, "a" to "z" and one
 * behind. */
static const uint8_t first_keyword[27] = {
    SCRIPT_WORD_AND,      SCRIPT_WORD_BREAK,      SCRIPT_WORD_CLASS,     SCRIPT_WORD_DEF,
    SCRIPT_WORD_ELIF,     SCRIPT_WORD_FINALLY,    SCRIPT_WORD_GLOBAL,    SCRIPT_WORD_IF,
    SCRIPT_WORD_IF,       SCRIPT_WORD_LAMBDA,     SCRIPT_WORD_LAMBDA,    SCRIPT_WORD_LAMBDA,
    SCRIPT_WORD_NONLOCAL, SCRIPT_WORD_NONLOCAL,   SCRIPT_WORD_OR,        SCRIPT_WORD_PASS,
    SCRIPT_WORD_RAISE,    SCRIPT_WORD_RAISE,      SCRIPT_WORD_TRY,       SCRIPT_WORD_TRY,
    SCRIPT_WORD_WHILE,    SCRIPT_WORD_WHILE,      SCRIPT_WORD_WHILE,     SCRIPT_WORD_YIELD,
    SCRIPT_WORD_YIELD,    SCRIPT_WORD_OPEN_ROUND, SCRIPT_WORD_OPEN_ROUND};

script_word_kind script_keyword(const char *data, size_t size) {
    if (size < 2 || size > 8)
        return SCRIPT_WORD_NONE;
    int word = SCRIPT_WORD_FALSE, end = SCRIPT_WORD_AND; /* the three with a capital */
    if (data[0] >= 'a' && data[0] <= 'z') {
        word = first_keyword[data[0] - 'a'];
        end = first_keyword[data[0] - 'a' + 1];
    }
    for (; word < end; word++) {
        const char *text = word_texts[word];
        if (text[1] == data[1] && strncmp(text, data, size) == 0 && text[size] == 0)
            return (script_word_kind)word;
    }
    return SCRIPT_WORD_NONE;
}

base_diagnostic *script_lexer_error(script_lexer *lexer, const char *code, uint32_t begin, uint32_t end,
                                    const char *format, ...) {
    if (lexer->quiet || lexer->line_failed)
        return NULL;
    lexer->line_failed = true;
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *diagnostic = base_report_list(lexer->diagnostics, BASE_ERROR, code,
                                                   script_lexer_span(lexer, begin, end), format, arguments);
    va_end(arguments);
    return diagnostic;
}

static void lexer_help(script_lexer *lexer, base_diagnostic *diagnostic, const char *text) {
    if (diagnostic && text)
        base_help(lexer->diagnostics, diagnostic, "%s", text);
}

/* ---- characters ---- */

/* Size of the UTF-8 sequence at p, 0 when it is malformed (overlong forms, surrogates and values over
 * U+10FFFF included: RFC 3629). */
static uint32_t utf8_size(const char *data, uint32_t at, uint32_t end, uint32_t *value) {
    unsigned char c = (unsigned char)data[at];
    uint32_t size = c < 0x80                ? 1
                    : c >= 0xC2 && c < 0xE0 ? 2
                    : c >= 0xE0 && c < 0xF0 ? 3
                    : c >= 0xF0 && c < 0xF5 ? 4
                                            : 0;
    if (size == 0 || at + size > end)
        return 0;
    uint32_t v = size == 1 ? c : c & (0x7Fu >> size);
    for (uint32_t i = 1; i < size; i++) {
        unsigned char next = (unsigned char)data[at + i];
        if ((next & 0xC0) != 0x80)
            return 0;
        v = v << 6 | (next & 0x3F);
    }
    if ((size == 3 && (v < 0x800 || (v >= 0xD800 && v < 0xE000))) ||
        (size == 4 && (v < 0x10000 || v > 0x10FFFF)))
        return 0;
    *value = v;
    return size;
}

/* Code points over U+007F that cannot stand in a name: the punctuation, symbol, separator, private and emoji
 * blocks of Unicode. Coarser than Python's XID tables; anything else over U+007F is taken as a letter. */
static bool is_symbol(uint32_t v) {
    static const uint32_t ranges[][2] = {
        {0x80, 0xA9},       {0xAB, 0xB4},        {0xB6, 0xB6},     {0xB8, 0xB9},     {0xBB, 0xBF},
        {0xD7, 0xD7},       {0xF7, 0xF7},        {0x2000, 0x203E}, {0x2041, 0x2053}, {0x2055, 0x2070},
        {0x2074, 0x207E},   {0x2080, 0x208E},    {0x20A0, 0x20CF}, {0x2190, 0x2BFF}, {0x2E00, 0x2E7F},
        {0x3000, 0x3004},   {0x3008, 0x3020},    {0x3030, 0x3030}, {0xE000, 0xF8FF}, {0xFD3E, 0xFD3F},
        {0xFE10, 0xFE1F},   {0xFE30, 0xFE32},    {0xFE45, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},
        {0xFF1A, 0xFF20},   {0xFF3B, 0xFF3E},    {0xFF40, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF},
        {0x1F000, 0x1FAFF}, {0xF0000, 0x10FFFF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (v >= ranges[i][0] && v <= ranges[i][1])
            return true;
    return false;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* What an ASCII character may begin or be: bits. */
enum {
    LETTER = 1 /* and _ */,
    DIGIT = 2,
    OPERATOR = 4 /* all but ! */,
    STRING = 8 /* a quote or a letter before it */
};
/* clang-format off */
static const uint8_t character_bits[256] = {
    [0x20] = 0, 0, 8, 0, 0, 4, 4, 8, 4, 4, 4, 4, 4, 4, 4, 4,
    [0x30] = 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 0,
    [0x40] = 4, 1, 9, 1, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    [0x50] = 1, 1, 9, 1, 1, 9, 1, 1, 1, 1, 1, 4, 0, 4, 4, 1,
    [0x60] = 0, 1, 9, 1, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    [0x70] = 1, 1, 9, 1, 1, 9, 1, 1, 1, 1, 1, 4, 4, 4, 4, 0,
};
/* clang-format on */

static inline bool is_a(char c, unsigned bits) {
    return character_bits[(unsigned char)c] & bits;
}

bool script_name_starts(const char *data, uint32_t at, uint32_t end, uint32_t *size) {
    if (at >= end)
        return false;
    char c = data[at];
    *size = 1;
    if ((unsigned char)c < 0x80)
        return is_a(c, LETTER);
    uint32_t value;
    *size = utf8_size(data, at, end, &value);
    if (*size == 0) { /* reported by script_lexer_check_text: pass it as a letter */
        *size = 1;
        return true;
    }
    return !is_symbol(value) &&
           !(value >= 0x300 && value <= 0x36F); /* a combining mark cannot start a name */
}

bool script_name_continues(const char *data, uint32_t at, uint32_t end, uint32_t *size) {
    if (script_name_starts(data, at, end, size))
        return true;
    if (at >= end)
        return false;
    if (is_digit(data[at]))
        return true;
    uint32_t value;
    *size = utf8_size(data, at, end, &value);
    return *size > 1 && (value == 0xB7 || (value >= 0x300 && value <= 0x36F));
}

static uint32_t name_end(const script_lexer *lexer, uint32_t at) {
    const char *data = lexer->data;
    const uint32_t end = lexer->end;
    for (uint32_t size;; at += size) {
        while (at < end && is_a(data[at], LETTER | DIGIT))
            at++;
        if (at >= end || (unsigned char)data[at] < 0x80 || !script_name_continues(data, at, end, &size))
            return at;
    }
}

/* Bytes of the line end at a place: LF, CR, or CR LF. 0: none. */
static uint32_t line_end_size(const script_lexer *lexer, uint32_t at) {
    if (at >= lexer->end)
        return 0;
    if (lexer->data[at] == '\n')
        return 1;
    if (lexer->data[at] == '\r')
        return at + 1 < lexer->end && lexer->data[at + 1] == '\n' ? 2 : 1;
    return 0;
}

static uint32_t to_line_end(const script_lexer *lexer, uint32_t at) {
    while (at < lexer->end && lexer->data[at] != '\n' && lexer->data[at] != '\r')
        at++;
    return at;
}

/* ---- start ---- */

void script_lexer_start(script_lexer *lexer, base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                        uint32_t begin, uint32_t end, uint32_t depth_limit, bool field) {
    memset(lexer, 0, sizeof *lexer);
    base_text text = base_source_text(base_diagnostics_sources(diagnostics), file);
    lexer->arena = arena;
    lexer->diagnostics = diagnostics;
    lexer->file = file;
    lexer->data = text.data ? text.data : "";
    lexer->end = end > text.size ? (uint32_t)text.size : end;
    lexer->at = begin;
    lexer->at_line_start = !field;
    lexer->base_brackets = field;
    lexer->depth_limit = depth_limit;
    if (begin == 0 && lexer->end >= 3 && memcmp(lexer->data, "\xEF\xBB\xBF", 3) == 0)
        lexer->at = 3;
    base_vector_push(arena, &lexer->indentations, (script_indentation){0, 0});
}

void script_lexer_check_text(script_lexer *lexer) {
    uint32_t at = 0, first = 0, bad = 0, value, nul = 0, nul_at = 0;
    while (at < lexer->end) {
        unsigned char c = (unsigned char)lexer->data[at];
        uint64_t eight;
        if (lexer->end - at >= sizeof eight) { /* most texts are ASCII without a zero byte */
            memcpy(&eight, lexer->data + at, sizeof eight);
            if (((eight | (eight - 0x0101010101010101u)) & 0x8080808080808080u) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        if (c < 0x80) {
            if (c == 0 && nul++ == 0)
                nul_at = at;
            at++;
            continue;
        }
        uint32_t size = utf8_size(lexer->data, at, lexer->end, &value);
        if (size == 0 && bad++ == 0)
            first = at;
        at += size ? size : 1;
    }
    if (bad) {
        base_diagnostic *d =
            base_report(lexer->diagnostics, BASE_ERROR, "T0102", script_lexer_span(lexer, first, first + 1),
                        "byte 0x%02X is not valid UTF-8 (%u such byte%s in the file); a script is UTF-8 text",
                        (unsigned)(unsigned char)lexer->data[first], bad, bad == 1 ? "" : "s");
        lexer_help(lexer, d, "save the file as UTF-8");
    }
    if (nul)
        base_report(lexer->diagnostics, BASE_ERROR, "T0103", script_lexer_span(lexer, nul_at, nul_at + 1),
                    "NUL byte (%u in the file); a script is text", nul);
}

/* ---- strings ---- */

typedef struct string_shape {
    uint32_t body; /* first byte after the opening quotes */
    char quote;
    bool triple, raw, field;
} string_shape;

/* Reads prefix and opening quotes; false when no string starts here. */
static bool string_open(const script_lexer *lexer, uint32_t at, string_shape *shape) {
    uint32_t begin = at;
    bool raw = false, field = false, bytes = false, unicode = false;
    while (at < lexer->end && at < begin + 2 && lexer->data[at] != '"' && lexer->data[at] != '\'') {
        char c = lexer->data[at] | 0x20;
        bool *flag = c == 'r' ? &raw : c == 'f' ? &field : c == 'b' ? &bytes : c == 'u' ? &unicode : NULL;
        if (!flag || *flag)
            return false;
        *flag = true;
        at++;
    }
    if (at >= lexer->end || (lexer->data[at] != '"' && lexer->data[at] != '\'') || (bytes && field) ||
        (unicode && at > begin + 1))
        return false;
    shape->quote = lexer->data[at];
    shape->triple =
        at + 2 < lexer->end && lexer->data[at + 1] == shape->quote && lexer->data[at + 2] == shape->quote;
    shape->body = at + (shape->triple ? 3 : 1);
    shape->raw = raw;
    shape->field = field;
    return true;
}

static bool quote_closes(const script_lexer *lexer, const string_shape *shape, uint32_t at) {
    if (lexer->data[at] != shape->quote)
        return false;
    return !shape->triple || (at + 2 < lexer->end && lexer->data[at + 1] == shape->quote &&
                              lexer->data[at + 2] == shape->quote);
}

static uint32_t skip_string(script_lexer *lexer, uint32_t begin, uint32_t depth, bool *closed);

/* From after "{" to after its "}". *closed false: the field does not end. */
static uint32_t skip_field(script_lexer *lexer, const string_shape *shape, uint32_t at, uint32_t depth,
                           bool *closed) {
    *closed = false;
    if (depth > 2 * SCRIPT_FIELDS_MOST) {
        lexer->fields_too_deep = true;
        return at;
    }
    uint32_t open = 0, size;
    bool in_spec = false;
    while (at < lexer->end) {
        char c = lexer->data[at];
        if (in_spec) {
            if (quote_closes(lexer, shape, at) || (!shape->triple && line_end_size(lexer, at)))
                return at;
            if (c == '}') {
                *closed = true;
                return at + 1;
            }
            at++;
            if (c == '{') {
                at = skip_field(lexer, shape, at, depth + 1, closed);
                if (!*closed)
                    return at;
                *closed = false;
            }
            continue;
        }
        string_shape inner;
        if ((c == '"' || c == '\'' || (c | 0x20) == 'r' || (c | 0x20) == 'f' || (c | 0x20) == 'b' ||
             (c | 0x20) == 'u') &&
            string_open(lexer, at, &inner)) {
            at = skip_string(lexer, at, depth + 1, closed);
            if (!*closed)
                return at;
            *closed = false;
        } else if (script_name_starts(lexer->data, at, lexer->end, &size)) {
            at = name_end(lexer, at);
        } else if (c == '#') {
            at = to_line_end(lexer, at);
        } else if (c == '}' && open == 0) {
            *closed = true;
            return at + 1;
        } else {
            if (!shape->triple && lexer->fields_end_lines && line_end_size(lexer, at))
                return at;
            in_spec = c == ':' && open == 0;
            if (c == '(' || c == '[' || c == '{')
                open++;
            else if ((c == ')' || c == ']' || c == '}') && open > 0)
                open--;
            at++;
        }
    }
    return at;
}

static uint32_t skip_string(script_lexer *lexer, uint32_t begin, uint32_t depth, bool *closed) {
    string_shape shape;
    *closed = false;
    if (!string_open(lexer, begin, &shape))
        return begin + 1;
    uint32_t at = shape.body;
    while (at < lexer->end) {
        char c = lexer->data[at];
        if (quote_closes(lexer, &shape, at)) {
            *closed = true;
            return at + (shape.triple ? 3 : 1);
        }
        if (c == '\\') {
            at++;
            if (shape.field && at < lexer->end && (lexer->data[at] == '{' || lexer->data[at] == '}'))
                continue;
            if (shape.field && !shape.raw && at + 1 < lexer->end && lexer->data[at] == 'N' &&
                lexer->data[at + 1] == '{')
                at++;
            uint32_t size = line_end_size(lexer, at);
            at += size ? size : at < lexer->end;
            continue;
        }
        if (!shape.triple && line_end_size(lexer, at))
            return at;
        at++;
        if (shape.field && c == '{') {
            if (at < lexer->end && lexer->data[at] == '{') {
                at++;
                continue;
            }
            at = skip_field(lexer, &shape, at, depth + 1, closed);
            if (!*closed)
                return at;
            *closed = false;
        }
    }
    return at;
}

uint32_t script_lexer_string_end(script_lexer *lexer, uint32_t begin, bool *closed) {
    uint32_t end = skip_string(lexer, begin, 0, closed);
    string_shape shape;
    if (*closed || !string_open(lexer, begin, &shape))
        return end;
    /* One string without an end makes fields stop at line ends from here on, so that every byte is scanned a
     * bounded number of times. */
    lexer->fields_end_lines = true;
    return shape.triple ? lexer->end : to_line_end(lexer, shape.body);
}

uint32_t script_lexer_field_end(script_lexer *lexer, uint32_t begin, uint32_t at, bool *closed) {
    string_shape shape;
    *closed = false;
    return string_open(lexer, begin, &shape) ? skip_field(lexer, &shape, at, 0, closed) : at;
}

static void read_string(script_lexer *lexer, script_token *token) {
    bool closed;
    token->kind = SCRIPT_TOKEN_STRING;
    token->end = script_lexer_string_end(lexer, token->begin, &closed);
    if (lexer->fields_too_deep) {
        script_lexer_error(lexer, "T0115", token->begin, token->begin + 1,
                           "f-strings are nested more than %u levels deep", SCRIPT_FIELDS_MOST);
        lexer->line_failed = true;
        lexer->fields_too_deep = false;
    } else if (!closed) {
        string_shape shape;
        string_open(lexer, token->begin, &shape);
        base_diagnostic *d = script_lexer_error(
            lexer, "T0104", token->begin, shape.body, "this %s is not closed: expected %c%s %s",
            shape.field ? "f-string" : "string", shape.quote,
            !shape.triple        ? ""
            : shape.quote == '"' ? "\"\""
                                 : "''",
            shape.triple ? "before the end of the file" : "before the end of the line");
        lexer_help(lexer, d,
                   shape.triple  ? NULL
                   : shape.field ? "close every { of the f-string, and end it with its quote on the same line"
                                 : "a string over several lines needs three quotes at both ends");
    }
    lexer->at = token->end;
}

/* ---- numbers ---- */

static bool digit_of_base(char c, int base) {
    if (base == 16)
        return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    return c >= '0' && c < '0' + base;
}

/* Digits with single underscores between them; *good false at a misplaced underscore. */
static uint32_t skip_digits(const script_lexer *lexer, uint32_t at, int base, bool *good) {
    uint32_t begin = at;
    while (at < lexer->end && (digit_of_base(lexer->data[at], base) || lexer->data[at] == '_')) {
        if (lexer->data[at] == '_' &&
            (at == begin || at + 1 >= lexer->end || !digit_of_base(lexer->data[at + 1], base)))
            *good = false;
        at++;
    }
    return at;
}

static uint32_t skip_real(const script_lexer *lexer, uint32_t at, script_token *token, bool *good) {
    if (at < lexer->end && lexer->data[at] == '.') {
        token->kind = SCRIPT_TOKEN_REAL;
        at = skip_digits(lexer, at + 1, 10, good);
    }
    if (at < lexer->end && (lexer->data[at] | 0x20) == 'e') {
        uint32_t digits = at + 1;
        if (digits < lexer->end && (lexer->data[digits] == '+' || lexer->data[digits] == '-'))
            digits++;
        if (digits < lexer->end && is_digit(lexer->data[digits])) {
            token->kind = SCRIPT_TOKEN_REAL;
            at = skip_digits(lexer, digits, 10, good);
        }
    }
    return at;
}

/* Python lets a keyword follow a number directly, as in "1if x else 2". */
static bool keyword_follows(const script_lexer *lexer, uint32_t at) {
    uint32_t end = name_end(lexer, at);
    switch (script_keyword(lexer->data + at, end - at)) {
    case SCRIPT_WORD_AND:
    case SCRIPT_WORD_ELSE:
    case SCRIPT_WORD_FOR:
    case SCRIPT_WORD_IF:
    case SCRIPT_WORD_IN:
    case SCRIPT_WORD_IS:
    case SCRIPT_WORD_NOT:
    case SCRIPT_WORD_OR:
        return true;
    default:
        return false;
    }
}

static void read_number(script_lexer *lexer, script_token *token) {
    uint32_t at = token->begin, size;
    const char *data = lexer->data, *what = NULL, *help = NULL;
    bool good = true;
    char second = at + 1 < lexer->end ? data[at + 1] | 0x20 : 0;
    token->kind = SCRIPT_TOKEN_INTEGER;
    if (data[at] == '0' && (second == 'x' || second == 'o' || second == 'b')) {
        int base = second == 'x' ? 16 : second == 'o' ? 8 : 2;
        uint32_t digits = at + 2;
        if (digits + 1 < lexer->end && data[digits] == '_' && digit_of_base(data[digits + 1], base))
            digits++;
        at = skip_digits(lexer, digits, base, &good);
        if (at == digits)
            what = base == 16  ? "a hexadecimal number needs digits"
                   : base == 8 ? "an octal number needs digits 0 to 7"
                               : "a binary number needs digits 0 and 1";
        else if (at < lexer->end && is_digit(data[at]))
            what = base == 8 ? "an octal number has digits 0 to 7" : "a binary number has digits 0 and 1";
    } else {
        at = skip_digits(lexer, at, 10, &good);
        uint32_t whole = at;
        at = skip_real(lexer, at, token, &good);
        if (at < lexer->end && (data[at] | 0x20) == 'j') {
            token->kind = SCRIPT_TOKEN_IMAGINARY;
            at++;
        }
        if (token->kind == SCRIPT_TOKEN_INTEGER && data[token->begin] == '0')
            for (uint32_t i = token->begin; i < whole; i++)
                if (data[i] != '0' && data[i] != '_') {
                    what = "a decimal number does not start with 0";
                    help = "write 0o for an octal number, or drop the zeros";
                }
    }
    if (!good)
        what = "an underscore in a number stands between two digits";
    if (script_name_continues(data, at, lexer->end, &size) && !keyword_follows(lexer, at)) {
        at = name_end(lexer, at);
        if (!what)
            what = "expected an operator between a number and a name";
    }
    if (what)
        lexer_help(lexer,
                   script_lexer_error(lexer, "T0105", token->begin, at, "bad number \"%.*s\": %s",
                                      (int)(at - token->begin > 40 ? 40 : at - token->begin),
                                      data + token->begin, what),
                   help);
    token->end = lexer->at = at;
}

/* ---- operators ---- */

static inline char character_at(const script_lexer *lexer, uint32_t at) {
    return at < lexer->end ? lexer->data[at] : (char)0;
}

/* The word, or the word with "=" at the place. */
static script_word_kind with_assign(const script_lexer *lexer, uint32_t at, script_word_kind plain,
                                    script_word_kind assign, uint32_t *size) {
    bool found = character_at(lexer, at) == '=';
    *size += found;
    return found ? assign : plain;
}

/* The word at the place, its doubled form, and both with "=". */
static script_word_kind doubled(const script_lexer *lexer, uint32_t at, script_word_kind plain,
                                script_word_kind twice, script_word_kind assign,
                                script_word_kind twice_assign, uint32_t *size) {
    if (character_at(lexer, at + 1) != lexer->data[at])
        return with_assign(lexer, at + 1, plain, assign, size);
    *size += 1;
    return with_assign(lexer, at + 2, twice, twice_assign, size);
}

static script_word_kind operator_at(const script_lexer *lexer, uint32_t at, uint32_t *size) {
    *size = 1;
    switch (lexer->data[at]) {
    case '(':
        return SCRIPT_WORD_OPEN_ROUND;
    case ')':
        return SCRIPT_WORD_CLOSE_ROUND;
    case '[':
        return SCRIPT_WORD_OPEN_SQUARE;
    case ']':
        return SCRIPT_WORD_CLOSE_SQUARE;
    case '{':
        return SCRIPT_WORD_OPEN_CURLY;
    case '}':
        return SCRIPT_WORD_CLOSE_CURLY;
    case ',':
        return SCRIPT_WORD_COMMA;
    case ';':
        return SCRIPT_WORD_SEMICOLON;
    case '~':
        return SCRIPT_WORD_TILDE;
    case '.':
        *size = character_at(lexer, at + 1) == '.' && character_at(lexer, at + 2) == '.' ? 3 : 1;
        return *size == 3 ? SCRIPT_WORD_ELLIPSIS : SCRIPT_WORD_DOT;
    case ':':
        /* In a replacement field, ":=" is a format specification that starts with "=". */
        if (lexer->base_brackets && lexer->brackets.count == 0)
            return SCRIPT_WORD_COLON;
        return with_assign(lexer, at + 1, SCRIPT_WORD_COLON, SCRIPT_WORD_WALRUS, size);
    case '=':
        return with_assign(lexer, at + 1, SCRIPT_WORD_ASSIGN, SCRIPT_WORD_EQ, size);
    case '!':
        return with_assign(lexer, at + 1, SCRIPT_WORD_BANG, SCRIPT_WORD_NE, size);
    case '+':
        return with_assign(lexer, at + 1, SCRIPT_WORD_PLUS, SCRIPT_WORD_PLUS_ASSIGN, size);
    case '-':
        *size = character_at(lexer, at + 1) == '>' ? 2 : 1;
        return *size == 2 ? SCRIPT_WORD_ARROW
                          : with_assign(lexer, at + 1, SCRIPT_WORD_MINUS, SCRIPT_WORD_MINUS_ASSIGN, size);
    case '%':
        return with_assign(lexer, at + 1, SCRIPT_WORD_PERCENT, SCRIPT_WORD_PERCENT_ASSIGN, size);
    case '@':
        return with_assign(lexer, at + 1, SCRIPT_WORD_AT, SCRIPT_WORD_AT_ASSIGN, size);
    case '&':
        return with_assign(lexer, at + 1, SCRIPT_WORD_AMPERSAND, SCRIPT_WORD_AMPERSAND_ASSIGN, size);
    case '|':
        return with_assign(lexer, at + 1, SCRIPT_WORD_BAR, SCRIPT_WORD_BAR_ASSIGN, size);
    case '^':
        return with_assign(lexer, at + 1, SCRIPT_WORD_CARET, SCRIPT_WORD_CARET_ASSIGN, size);
    case '*':
        return doubled(lexer, at, SCRIPT_WORD_STAR, SCRIPT_WORD_DOUBLE_STAR, SCRIPT_WORD_STAR_ASSIGN,
                       SCRIPT_WORD_DOUBLE_STAR_ASSIGN, size);
    case '/':
        return doubled(lexer, at, SCRIPT_WORD_SLASH, SCRIPT_WORD_DOUBLE_SLASH, SCRIPT_WORD_SLASH_ASSIGN,
                       SCRIPT_WORD_DOUBLE_SLASH_ASSIGN, size);
    case '<':
        return doubled(lexer, at, SCRIPT_WORD_LT, SCRIPT_WORD_SHIFT_LEFT, SCRIPT_WORD_LE,
                       SCRIPT_WORD_SHIFT_LEFT_ASSIGN, size);
    case '>':
        return doubled(lexer, at, SCRIPT_WORD_GT, SCRIPT_WORD_SHIFT_RIGHT, SCRIPT_WORD_GE,
                       SCRIPT_WORD_SHIFT_RIGHT_ASSIGN, size);
    default:
        return SCRIPT_WORD_NONE;
    }
}

static void open_bracket(script_lexer *lexer, const script_token *token) {
    char c = lexer->data[token->begin];
    script_bracket bracket = {token->begin, c == '(' ? ')' : c == '[' ? ']' : '}'};
    base_vector_push(lexer->arena, &lexer->brackets, bracket);
}

/* False: the closing bracket is passed over. */
static bool close_bracket(script_lexer *lexer, const script_token *token) {
    char c = lexer->data[token->begin];
    if (lexer->brackets.count == 0) {
        if (lexer->brackets_dropped > 0)
            lexer->brackets_dropped--;
        else
            script_lexer_error(lexer, "T0114", token->begin, token->end,
                               "'%c' closes nothing: no '%c' is open", c,
                               c == ')'   ? '('
                               : c == ']' ? '['
                                          : '{');
        return false;
    }
    script_bracket *top = &lexer->brackets.items[lexer->brackets.count - 1];
    if (top->close != c) {
        base_diagnostic *d = script_lexer_error(lexer, "T0114", token->begin, token->end,
                                                "expected '%c' but found '%c'", top->close, c);
        if (d)
            base_note(lexer->diagnostics, d, script_lexer_span(lexer, top->begin, top->begin + 1),
                      "'%c' is opened here", lexer->data[top->begin]);
        /* It closes the nearest bracket of its own kind, if there is one. The search ends within the depth
         * limit, so that a long run of wrong brackets stays linear. */
        for (size_t i = 0; i < lexer->depth_limit && i < lexer->brackets.count; i++)
            if (lexer->brackets.items[lexer->brackets.count - 1 - i].close == c) {
                lexer->brackets.count -= i;
                break;
            }
    }
    lexer->brackets.count--;
    return true;
}

static void read_unknown(script_lexer *lexer, script_token *token) {
    static const struct {
        uint32_t value;
        const char *help;
    } helps[] = {
        {'$', NULL},
        {'?', "a choice is written: a if condition else b"},
        {'!', "negation is written: not x"},
        {'`', "text is written in quotes: \"...\""},
        {0xA0, "this is a no-break space, often left by copying from a web page; write a plain space"},
        {0x2018, "use the plain quote '"},
        {0x2019, "use the plain quote '"},
        {0x201C, "use the plain quote \""},
        {0x201D, "use the plain quote \""},
        {0x2013, "use the plain minus sign -"},
        {0x2212, "use the plain minus sign -"},
        {0xD7, "use * for a product"},
        {0x2264, "use <="},
        {0x2265, "use >="},
        {0x2260, "use !="},
        {0x200B, "this is a zero-width space, often left by copying from a web page; remove it"},
        {0xFEFF, "this is a byte order mark; it may only be the first character of a file"},
    };
    uint32_t value = 0, size = utf8_size(lexer->data, token->begin, lexer->end, &value);
    token->end = token->begin + (size ? size : 1);
    lexer->at = token->end;
    if (value == 0) /* NUL: reported by script_lexer_check_text */
        return;
    base_diagnostic *d;
    if (value > 0x20 && value < 0x7F)
        d = script_lexer_error(lexer, "T0101", token->begin, token->end, "'%c' has no meaning here",
                               (char)value);
    else
        d = script_lexer_error(lexer, "T0101", token->begin, token->end,
                               "character U+%04X has no meaning outside strings and comments", value);
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (helps[i].value == value)
            lexer_help(lexer, d, helps[i].help);
}

/* False: nothing to return, go on. */
static bool read_word(script_lexer *lexer, script_token *token) {
    uint32_t size;
    script_word_kind word = operator_at(lexer, token->begin, &size);
    if (word == SCRIPT_WORD_NONE || (word == SCRIPT_WORD_BANG && !lexer->base_brackets)) {
        read_unknown(lexer, token);
        return false;
    }
    token->kind = SCRIPT_TOKEN_WORD;
    token->word = word;
    token->end = lexer->at = token->begin + size;
    if (word == SCRIPT_WORD_OPEN_ROUND || word == SCRIPT_WORD_OPEN_SQUARE || word == SCRIPT_WORD_OPEN_CURLY)
        open_bracket(lexer, token);
    else if (word == SCRIPT_WORD_CLOSE_ROUND || word == SCRIPT_WORD_CLOSE_SQUARE ||
             word == SCRIPT_WORD_CLOSE_CURLY)
        return close_bracket(lexer, token);
    return true;
}

/* ---- lines and indentation ---- */

static void report_tabs(script_lexer *lexer, uint32_t begin) {
    lexer_help(
        lexer,
        script_lexer_error(lexer, "T0109", begin, lexer->at,
                           "tabs and spaces are mixed so that the indentation depends on the width of a tab"),
        "indent with spaces only; tirc fmt does it");
}

/* Compares a line's indentation with the open blocks. True: an INDENT is due. */
static bool place_line(script_lexer *lexer, script_indentation line, uint32_t begin) {
    script_indentation top = lexer->indentations.items[lexer->indentations.count - 1];
    if (line.column == top.column) {
        if (line.tab_column != top.tab_column)
            report_tabs(lexer, begin);
        return false;
    }
    if (line.column > top.column) {
        if (line.tab_column <= top.tab_column)
            report_tabs(lexer, begin);
        base_vector_push(lexer->arena, &lexer->indentations, line);
        return true;
    }
    while (line.column < lexer->indentations.items[lexer->indentations.count - 1].column) {
        lexer->indentations.count--;
        lexer->pending_dedents++;
    }
    top = lexer->indentations.items[lexer->indentations.count - 1];
    if (line.column != top.column) {
        lexer_help(
            lexer,
            script_lexer_error(lexer, "T0110", begin, lexer->at,
                               "this line's indentation of %u matches no block around it; the nearest is %u",
                               line.column, top.column),
            "indent the lines of one block alike");
        /* Taken as a line of the block it left last, so that the lines after it are judged by it. */
        base_vector_push(lexer->arena, &lexer->indentations, line);
        lexer->pending_dedents--;
    } else if (line.tab_column != top.tab_column) {
        report_tabs(lexer, begin);
    }
    return false;
}

/* White space at a line's start. The first backslash-joined piece that is indented decides, as in Python. */
static script_indentation measure(script_lexer *lexer) {
    script_indentation line = {0, 0};
    uint32_t joined = 0, size;
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = lexer->data[lexer->at];
        if (c == ' ') {
            line.column++;
            line.tab_column++;
        } else if (c == '\t') {
            line.column = (line.column / 8 + 1) * 8;
            line.tab_column++;
        } else if (c == '\f') {
            line = (script_indentation){0, 0};
        } else if (c == '\\' && (size = line_end_size(lexer, lexer->at + 1)) > 0 &&
                   lexer->at + 1 + size < lexer->end) {
            joined = joined ? joined : line.column;
            lexer->at += size;
        } else if (c != 0) {
            break;
        }
    }
    return joined ? (script_indentation){joined, joined} : line;
}

/* At the start of a line outside brackets. True: the token is an INDENT or DEDENT. */
static bool start_line(script_lexer *lexer, script_token *token) {
    uint32_t begin = lexer->at;
    script_indentation line = measure(lexer);
    lexer->at_line_start = false;
    lexer->physical_start = true;
    lexer->physical_column = line.column;
    if (lexer->at >= lexer->end || lexer->data[lexer->at] == '#' || line_end_size(lexer, lexer->at))
        return false;
    lexer->line_failed = memchr(lexer->data + begin, 0, lexer->at - begin) != NULL; /* reported already */
    lexer->line_column = line.column;
    token->begin = begin;
    token->end = lexer->at;
    token->column = line.column;
    token->starts_line = true;
    if (place_line(lexer, line, begin)) {
        token->kind = SCRIPT_TOKEN_INDENT;
        return true;
    }
    if (lexer->pending_dedents == 0)
        return false;
    lexer->pending_dedents--;
    token->kind = SCRIPT_TOKEN_DEDENT;
    token->begin = lexer->at;
    return true;
}

static void skip_space(script_lexer *lexer) {
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = lexer->data[lexer->at];
        if (c == ' ' || c == '\f')
            lexer->physical_column++;
        else if (c == '\t')
            lexer->physical_column = (lexer->physical_column / 8 + 1) * 8;
        else if (c == 0) /* reported by script_lexer_check_text */
            lexer->line_failed = true;
        else
            break;
    }
}

/* After the last byte: the NEWLINE a last line without one lacks, the DEDENTs, END. */
static void end_of_text(script_lexer *lexer, script_token *token) {
    token->begin = token->end = lexer->end;
    if (lexer->brackets.count > 0) {
        script_bracket *top = &lexer->brackets.items[lexer->brackets.count - 1];
        script_lexer_error(lexer, "T0113", top->begin, top->begin + 1, "'%c' is never closed: expected '%c'",
                           lexer->data[top->begin], top->close);
        lexer->line_failed = true;
        lexer->brackets.count = 0;
    }
    if (lexer->base_brackets) {
        token->kind = SCRIPT_TOKEN_END;
    } else if (lexer->line_has_code) {
        lexer->line_has_code = false;
        token->kind = SCRIPT_TOKEN_NEWLINE;
    } else if (lexer->indentations.count > 1) {
        lexer->indentations.count--;
        token->kind = SCRIPT_TOKEN_DEDENT;
    } else {
        token->kind = SCRIPT_TOKEN_END;
    }
}

/* A line end. True: it is a token. */
static bool end_of_line(script_lexer *lexer, script_token *token, uint32_t size) {
    token->begin = lexer->at;
    token->end = lexer->at += size;
    lexer->physical_start = true;
    lexer->physical_column = 0;
    if (lexer->brackets.count > 0 || lexer->base_brackets) {
        token->kind = SCRIPT_TOKEN_BREAK;
        return lexer->keep_comments;
    }
    lexer->at_line_start = true;
    token->kind = lexer->line_has_code ? SCRIPT_TOKEN_NEWLINE : SCRIPT_TOKEN_BREAK;
    bool result = lexer->line_has_code || lexer->keep_comments;
    lexer->line_has_code = false;
    return result;
}

/* A backslash: joins lines, or stands alone by mistake. */
static void join_line(script_lexer *lexer) {
    uint32_t size = line_end_size(lexer, lexer->at + 1);
    if (size && lexer->at + 1 + size < lexer->end) {
        lexer->at += 1 + size;
        lexer->physical_start = true;
        lexer->physical_column = 0;
        return;
    }
    script_lexer_error(lexer, "T0117", lexer->at, lexer->at + 1,
                       lexer->at + 1 + size >= lexer->end
                           ? "'\\' joins a line with the next one, but the file ends here"
                           : "'\\' joins a line with the next one: nothing may follow it on its own line");
    lexer->at++;
}

/* A name or keyword; rest: behind its first character. */
static void read_name(script_lexer *lexer, script_token *token, uint32_t rest) {
    token->end = lexer->at = name_end(lexer, rest);
    token->word = script_keyword(lexer->data + token->begin, token->end - token->begin);
    token->kind = token->word ? SCRIPT_TOKEN_WORD : SCRIPT_TOKEN_NAME;
}

/* Most tokens: a name of ASCII letters or an operator inside a line, blanks before it. False: nothing was
 * taken. */
static bool read_common(script_lexer *lexer, script_token *token) {
    const char *data = lexer->data;
    uint32_t at = lexer->at;
    const uint32_t end = lexer->end;
    if (lexer->at_line_start || lexer->pending_dedents > 0)
        return false;
    while (at < end && data[at] == ' ')
        at++;
    if (at >= end || !is_a(data[at], LETTER | OPERATOR))
        return false;
    const char c = data[at], next = at + 1 < end ? data[at + 1] : (char)0;
    if ((is_a(c, STRING) && is_a(next, STRING)) || (c == '.' && is_digit(next)))
        return false; /* it may be a string or a number */
    uint32_t to = at;
    if (is_a(c, LETTER)) {
        while (to < end && is_a(data[to], LETTER | DIGIT))
            to++;
        if (to < end && (unsigned char)data[to] >= 0x80)
            return false;
    }
    *token = (script_token){.begin = at,
                            .depth = (uint32_t)lexer->brackets.count,
                            .starts_line = lexer->physical_start,
                            .column = lexer->physical_column += at - lexer->at};
    lexer->physical_start = false;
    lexer->line_has_code = true;
    if (to == at)
        return read_word(lexer, token);
    token->word = script_keyword(data + at, to - at);
    token->kind = token->word ? SCRIPT_TOKEN_WORD : SCRIPT_TOKEN_NAME;
    token->end = lexer->at = to;
    return true;
}

static void read_any(script_lexer *lexer, script_token *token) {
    for (;;) {
        memset(token, 0, sizeof *token);
        if (lexer->pending_dedents > 0) {
            lexer->pending_dedents--;
            token->kind = SCRIPT_TOKEN_DEDENT;
            token->begin = token->end = lexer->at;
            token->column = lexer->line_column;
            return;
        }
        if (lexer->at_line_start && lexer->brackets.count == 0 && start_line(lexer, token))
            return;
        if (lexer->pending_dedents > 0)
            continue;
        skip_space(lexer);
        if (lexer->at >= lexer->end) {
            end_of_text(lexer, token);
            return;
        }
        token->begin = lexer->at;
        char c = lexer->data[lexer->at];
        uint32_t size = line_end_size(lexer, lexer->at);
        if (size) {
            if (end_of_line(lexer, token, size))
                return;
            continue;
        }
        token->depth = (uint32_t)lexer->brackets.count;
        token->starts_line = lexer->physical_start;
        token->column = lexer->physical_column;
        if (c == '#') {
            token->kind = SCRIPT_TOKEN_COMMENT;
            token->end = lexer->at = to_line_end(lexer, lexer->at);
            if (lexer->keep_comments)
                return;
            continue;
        }
        if (c == '\\') {
            lexer->line_has_code = true;
            join_line(lexer);
            continue;
        }
        lexer->physical_start = false;
        lexer->line_has_code = true;
        string_shape shape;
        if (is_a(c, STRING) && string_open(lexer, lexer->at, &shape)) {
            read_string(lexer, token);
            return;
        }
        if (is_a(c, LETTER | DIGIT) || (unsigned char)c >= 0x80 || c == '.') {
            if (is_digit(c) ||
                (c == '.' && lexer->at + 1 < lexer->end && is_digit(lexer->data[lexer->at + 1]))) {
                read_number(lexer, token);
                return;
            }
            if (script_name_starts(lexer->data, lexer->at, lexer->end, &size)) {
                read_name(lexer, token, lexer->at + size);
                return;
            }
        }
        if (read_word(lexer, token))
            return;
    }
}

void script_lexer_next(script_lexer *lexer, script_token *token) {
    if (!read_common(lexer, token))
        read_any(lexer, token);
}

void script_lexer_restart_line(script_lexer *lexer, const script_token *token) {
    lexer->brackets_dropped += (uint32_t)lexer->brackets.count;
    lexer->brackets.count = 0;
    lexer->at = token->begin;
    while (lexer->at > 0 && lexer->data[lexer->at - 1] != '\n' && lexer->data[lexer->at - 1] != '\r')
        lexer->at--;
    lexer->at_line_start = true;
    lexer->line_has_code = false;
}
