/* SPDX-License-Identifier: Apache-2.0
 * Literals: numbers to values, string escapes to bytes, f-strings to their parts. An f-string's expressions
 * are read by a parser of their own over the bytes between the braces. */
#include "script/script_parser.h"
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* The digits without underscores and prefix. */
static char *plain_digits(script_parser *parser, uint32_t begin, uint32_t end) {
    char *digits = base_arena_allocate(parser->arena, end - begin + 1);
    size_t size = 0;
    for (uint32_t i = begin; i < end; i++)
        if (parser->lexer.data[i] != '_')
            digits[size++] = parser->lexer.data[i];
    return digits;
}

static script_node *parse_integer(script_parser *parser, script_node *node) {
    uint32_t begin = parser->token.begin, end = parser->token.end;
    const char *data = parser->lexer.data;
    uint64_t base = 10, value = 0;
    char second = end - begin > 2 ? data[begin + 1] | 0x20 : 0;
    if (data[begin] == '0' && (second == 'x' || second == 'o' || second == 'b')) {
        base = second == 'x' ? 16 : second == 'o' ? 8 : 2;
        begin += 2;
    }
    for (uint32_t i = begin; i < end; i++) {
        char c = data[i];
        if (c == '_')
            continue;
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        if (digit >= base) /* the lexer has reported it */
            break;
        if (value > (UINT64_MAX - digit) / base) {
            script_parser_error(parser, "T0106", "this integer does not fit into 64 bits; the most is %llu",
                                (unsigned long long)UINT64_MAX);
            return NULL;
        }
        value = value * base + digit;
    }
    node->is_wide = value > INT64_MAX;
    memcpy(&node->integer, &value, sizeof value);
    return node;
}

/* strtod with the C locale's point, whatever the process has set. */
static double real_value(const char *digits) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    double value = strtod(digits, NULL);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return value;
}

script_node *script_parser_number(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_INTEGER);
    node->name_span = node->span;
    if (parser->token.kind == SCRIPT_TOKEN_INTEGER) {
        if (!parse_integer(parser, node))
            return NULL;
    } else if (parser->token.kind == SCRIPT_TOKEN_REAL) {
        node->kind = SCRIPT_REAL;
        node->real = real_value(plain_digits(parser, begin, parser->token.end));
    } else {
        node = script_parser_widen(parser, node, SCRIPT_UNSUPPORTED);
        node->text = "an imaginary number";
    }
    script_parser_advance(parser);
    return script_parser_finish(parser, node, begin);
}

/* ---- escapes ---- */

static int hex_value(char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

static void add_utf8(base_builder *out, uint32_t v) {
    if (v < 0x80) {
        base_builder_char(out, (char)v);
    } else if (v < 0x800) {
        base_builder_char(out, (char)(0xC0 | v >> 6));
        base_builder_char(out, (char)(0x80 | (v & 0x3F)));
    } else {
        if (v < 0x10000) {
            base_builder_char(out, (char)(0xE0 | v >> 12));
        } else {
            base_builder_char(out, (char)(0xF0 | v >> 18));
            base_builder_char(out, (char)(0x80 | (v >> 12 & 0x3F)));
        }
        base_builder_char(out, (char)(0x80 | (v >> 6 & 0x3F)));
        base_builder_char(out, (char)(0x80 | (v & 0x3F)));
    }
}

typedef struct literal {
    bool raw, bytes, field, triple;
    uint32_t begin, body, end; /* whole literal; text between the quotes is [body, end) */
} literal;

/* \x, \u, \U: count hexadecimal digits at *at. */
static bool decode_hex(script_parser *parser, const literal *text, base_builder *out, uint32_t *at,
                       int count) {
    uint32_t value = 0, begin = *at - 2;
    for (int i = 0; i < count; i++) {
        int digit = *at < text->end ? hex_value(parser->lexer.data[*at]) : -1;
        if (digit < 0) {
            script_parser_error_at(parser, "T0107", script_lexer_span(&parser->lexer, begin, *at),
                                   "'\\%c' needs %d hexadecimal digits", parser->lexer.data[begin + 1],
                                   count);
            return false;
        }
        value = value << 4 | (uint32_t)digit;
        ++*at;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        script_parser_error_at(parser, "T0107", script_lexer_span(&parser->lexer, begin, *at),
                               "U+%04X is not a character", value);
        return false;
    }
    if (text->bytes)
        base_builder_char(out, (char)value);
    else
        add_utf8(out, value);
    return true;
}

static void warn_escape(script_parser *parser, uint32_t at) {
    if (parser->lexer.quiet)
        return;
    base_diagnostic *d =
        base_report(parser->diagnostics, BASE_WARNING, "T0130", script_lexer_span(&parser->lexer, at, at + 2),
                    "'\\%c' is no escape; the backslash stays in the string", parser->lexer.data[at + 1]);
    script_parser_help(parser, d, "write two backslashes, or a raw string r\"...\"");
}

/* The escape at *at (on the backslash). */
static bool decode_escape(script_parser *parser, const literal *text, base_builder *out, uint32_t *at) {
    static const char names[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    const char *data = parser->lexer.data;
    uint32_t begin = *at;
    if (begin + 1 >= text->end) { /* before a brace of an f-string, or in a literal the lexer has reported */
        base_builder_char(out, '\\');
        *at += 1;
        return true;
    }
    char c = data[begin + 1];
    *at += 2;
    if (c == '\n')
        return true;
    if (c == '\r') {
        *at += *at < text->end && data[*at] == '\n';
        return true;
    }
    for (size_t i = 0; i + 1 < sizeof names; i += 2)
        if (names[i] == c) {
            base_builder_char(out, names[i + 1]);
            return true;
        }
    if (c >= '0' && c <= '7') {
        uint32_t value = (uint32_t)(c - '0');
        for (int i = 0; i < 2 && *at < text->end && data[*at] >= '0' && data[*at] <= '7'; i++)
            value = value * 8 + (uint32_t)(data[(*at)++] - '0');
        if (text->bytes)
            base_builder_char(out, (char)value);
        else
            add_utf8(out, value);
        return true;
    }
    if (c == 'x')
        return decode_hex(parser, text, out, at, 2);
    if (!text->bytes && (c == 'u' || c == 'U'))
        return decode_hex(parser, text, out, at, c == 'u' ? 4 : 8);
    if (!text->bytes && c == 'N') {
        base_diagnostic *d =
            script_parser_error_at(parser, "T0107", script_lexer_span(&parser->lexer, begin, *at),
                                   "'\\N{...}' is not supported: tirc has no table of character names");
        script_parser_help(parser, d, "write the character itself, or \\u with its number");
        return false;
    }
    if ((unsigned char)c < 0x80)
        warn_escape(parser, begin);
    base_builder_char(out, '\\');
    *at = begin + 1;
    return true;
}

/* Literal text from at to limit into out. */
static bool decode_text(script_parser *parser, const literal *text, uint32_t at, uint32_t limit,
                        base_builder *out) {
    const char *data = parser->lexer.data;
    literal part = *text;
    part.end = limit;
    while (at < limit) {
        char c = data[at];
        if (c == '\\' && !text->raw) {
            if (!decode_escape(parser, &part, out, &at))
                return false;
            continue;
        }
        if (c == '\r') { /* line ends inside a string read as LF */
            base_builder_char(out, '\n');
            at += at + 1 < limit && data[at + 1] == '\n' ? 2 : 1;
            continue;
        }
        if (text->bytes && (unsigned char)c >= 0x80) {
            script_parser_error_at(parser, "T0107", script_lexer_span(&parser->lexer, at, at + 1),
                                   "a bytes literal holds ASCII characters only; write \\x");
            return false;
        }
        base_builder_char(out, c);
        at++;
    }
    return true;
}

/* ---- f-strings ---- */

typedef struct literal_parts {
    script_nodes *items;
    base_builder text; /* literal text since the last field */
} literal_parts;

static void flush_text(script_parser *parser, literal_parts *parts) {
    if (parts->text.size == 0)
        return;
    script_node *node = script_parser_node(parser, SCRIPT_STRING);
    node->text = parts->text.data;
    node->size = parts->text.size;
    script_nodes_add(parser->arena, parts->items, node);
    base_builder_start(&parts->text, parser->arena);
}

static bool parse_parts(script_parser *parser, const literal *text, uint32_t at, uint32_t limit, bool is_spec,
                        literal_parts *parts);

/* "!r", ":spec" behind a field's expression; the token in hand of the field's own parser. */
static bool parse_field_end(script_parser *parser, script_parser *inner, const literal *text,
                            script_node *node, uint32_t close, bool debug) {
    uint32_t begin = inner->token.begin;
    if (script_parser_take(inner, SCRIPT_WORD_BANG)) {
        char c = inner->token.kind == SCRIPT_TOKEN_NAME && inner->token.end == inner->token.begin + 1
                     ? inner->lexer.data[inner->token.begin]
                     : 0;
        if (c != 'r' && c != 's' && c != 'a') {
            script_parser_error(inner, "T0108", "expected a conversion !r, !s or !a but found %s",
                                script_parser_found(inner, &inner->token));
            return false;
        }
        script_parser_advance(inner);
    }
    if (script_parser_at(inner, SCRIPT_WORD_COLON)) {
        literal_parts spec = {.items = &node->items};
        base_builder_start(&spec.text, parser->arena);
        if (!parse_parts(parser, text, inner->token.end, close, true, &spec))
            return false;
        flush_text(parser, &spec);
        node->text2 = ""; /* a specification stands there, even an empty one */
    } else if (inner->token.kind != SCRIPT_TOKEN_END) {
        script_parser_error(inner, "T0108", "expected '}', '!' or ':' in a replacement field but found %s",
                            script_parser_found(inner, &inner->token));
        return false;
    }
    node->text =
        base_arena_string(parser->arena, parser->lexer.data + begin, close > begin ? close - begin : 0);
    if (debug && node->text[0] == 0)
        node->text = "!r";
    return true;
}

/* The replacement field whose "{" stands at open and whose "}" at close. */
static script_node *parse_field(script_parser *parser, const literal *text, uint32_t open, uint32_t close,
                                literal_parts *parts) {
    script_parser inner = *parser;
    inner.has_ahead = false;
    memset(&inner.token, 0, sizeof inner.token);
    script_lexer_start(&inner.lexer, parser->arena, parser->diagnostics, parser->lexer.file, open + 1, close,
                       parser->depth_limit, true);
    inner.lexer.quiet = parser->lexer.quiet;
    inner.lexer.line_failed = parser->lexer.line_failed;
    inner.lexer.fields_end_lines = parser->lexer.fields_end_lines;
    script_parser_advance(&inner);
    script_node *node = script_parser_node(&inner, SCRIPT_FORMATTED);
    if (inner.token.kind == SCRIPT_TOKEN_END)
        script_parser_error_at(&inner, "T0108", script_lexer_span(&parser->lexer, open, close + 1),
                               "a replacement field needs an expression; a plain brace is written {{");
    else
        node->a = script_parser_value(&inner);
    bool debug = node->a && script_parser_at(&inner, SCRIPT_WORD_ASSIGN);
    bool good = node->a != NULL;
    if (debug) { /* f"{x=}" shows the expression as written */
        uint32_t end = inner.token.end;
        while (end < close && parser->lexer.data[end] == ' ')
            end++;
        good = decode_text(parser, &(literal){.raw = true, .end = end}, open + 1, end, &parts->text);
        script_parser_advance(&inner);
    }
    flush_text(parser, parts);
    good = good && parse_field_end(parser, &inner, text, node, close, debug);
    parser->lexer.line_failed |= inner.lexer.line_failed;
    if (!good)
        return NULL;
    node = script_parser_finish(&inner, node, open);
    if (node)
        node->span.end = close + 1;
    return node;
}

static bool parse_parts(script_parser *parser, const literal *text, uint32_t at, uint32_t limit, bool is_spec,
                        literal_parts *parts) {
    const char *data = parser->lexer.data;
    uint32_t begin = at;
    while (at < limit) {
        char c = data[at];
        bool twice = !is_spec && at + 1 < limit && data[at + 1] == c;
        if (c == '\\') {
            bool brace = at + 1 < limit && (data[at + 1] == '{' || data[at + 1] == '}');
            at += text->raw || brace ? 1 : 2;
            continue;
        }
        if (c != '{' && c != '}') {
            at++;
            continue;
        }
        if (!decode_text(parser, text, begin, twice ? at + 1 : at, &parts->text))
            return false;
        if (twice) {
            begin = at += 2;
            continue;
        }
        if (c == '}') {
            base_diagnostic *d =
                script_parser_error_at(parser, "T0108", script_lexer_span(&parser->lexer, at, at + 1),
                                       "'}' closes no replacement field");
            script_parser_help(parser, d, "a plain brace in an f-string is written }}");
            return false;
        }
        bool closed;
        uint32_t end = script_lexer_field_end(&parser->lexer, text->begin, at + 1, &closed);
        if (!closed || end > limit) {
            script_parser_error_at(parser, "T0108", script_lexer_span(&parser->lexer, at, at + 1),
                                   "this replacement field is not closed: expected '}'");
            return false;
        }
        if (!script_parser_enter(parser))
            return false;
        script_node *field = parse_field(parser, text, at, end - 1, parts);
        script_parser_leave(parser);
        if (!field)
            return false;
        script_nodes_add(parser->arena, parts->items, field);
        begin = at = end;
    }
    return decode_text(parser, text, begin, limit, &parts->text);
}

/* ---- string literals ---- */

static literal open_literal(const script_parser *parser, const script_token *token) {
    const char *data = parser->lexer.data;
    literal text = {.begin = token->begin};
    uint32_t at = token->begin;
    for (; at < token->end && data[at] != '"' && data[at] != '\''; at++) {
        text.raw |= (data[at] | 0x20) == 'r';
        text.bytes |= (data[at] | 0x20) == 'b';
        text.field |= (data[at] | 0x20) == 'f';
    }
    text.triple = at + 2 < token->end && data[at + 1] == data[at] && data[at + 2] == data[at];
    uint32_t quotes = text.triple ? 3 : 1;
    text.body = at + quotes;
    text.end = token->end;
    if (token->end >= text.body + quotes && data[token->end - 1] == data[at])
        text.end -= quotes; /* else the lexer has reported it */
    return text;
}

script_node *script_parser_strings(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_STRING);
    script_nodes items = {0};
    literal_parts parts = {.items = &items};
    base_builder_start(&parts.text, parser->arena);
    bool bytes = false, has_fields = false;
    for (bool first = true; parser->token.kind == SCRIPT_TOKEN_STRING; first = false) {
        literal text = open_literal(parser, &parser->token);
        if (!first && bytes != text.bytes) {
            script_parser_error(parser, "T0120", "a bytes literal cannot be joined with a string");
            return NULL;
        }
        bytes = text.bytes;
        has_fields |= text.field;
        if (text.field ? !parse_parts(parser, &text, text.body, text.end, false, &parts)
                       : !decode_text(parser, &text, text.body, text.end, &parts.text))
            return NULL;
        script_parser_advance(parser);
    }
    if (has_fields) {
        flush_text(parser, &parts);
        node = script_parser_widen(parser, node, SCRIPT_FSTRING);
        node->items = items;
    } else {
        node->kind = bytes ? SCRIPT_BYTES : SCRIPT_STRING;
        node->text = parts.text.data ? parts.text.data : "";
        node->size = parts.text.size;
    }
    return script_parser_finish(parser, node, begin);
}
