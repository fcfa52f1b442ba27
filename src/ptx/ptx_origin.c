/* SPDX-License-Identifier: Apache-2.0
 * Provenance as a comment before the instruction, and back:
 *   //@ load "shared" "As" 64 -1 : "i + 1" (add %r3 1) , "j" ?
 * direction, space, tensor, one extent per axis (-1: not a constant), then per axis the author's text and the
 * expression over registers. A comment that does not read as such is a warning: it changes no result. */
#include "ptx/ptx_parse.h"
#include <string.h>

static const char *const index_ops[] = {
    [PTX_INDEX_ADD] = "add",           [PTX_INDEX_SUB] = "sub",           [PTX_INDEX_MUL] = "mul",
    [PTX_INDEX_FLOORDIV] = "floordiv", [PTX_INDEX_FLOORMOD] = "floormod",
};

/* ---- printing ---- */

static void print_string(base_builder *out, const char *text) {
    base_builder_char(out, '"');
    base_builder_json(out, text, strlen(text));
    base_builder_char(out, '"');
}

static void print_index(base_builder *out, const ptx_index *index, unsigned depth) {
    if (index == NULL || depth > PTX_DEPTH_MAX) {
        base_builder_char(out, '?');
        return;
    }
    switch (index->op) {
    case PTX_INDEX_CONSTANT:
        base_builder_decimal(out, index->constant);
        return;
    case PTX_INDEX_REGISTER:
        base_builder_name(out, index->reg->name);
        return;
    case PTX_INDEX_SPECIAL:
        base_builder_char(out, '%');
        base_builder_name(out, ptx_special_name((ptx_special)index->constant));
        return;
    case PTX_INDEX_ADD:
    case PTX_INDEX_SUB:
    case PTX_INDEX_MUL:
    case PTX_INDEX_FLOORDIV:
    case PTX_INDEX_FLOORMOD:
        base_builder_char(out, '(');
        base_builder_name(out, index_ops[index->op]);
        base_builder_char(out, ' ');
        print_index(out, index->a, depth + 1);
        base_builder_char(out, ' ');
        print_index(out, index->b, depth + 1);
        base_builder_char(out, ')');
        return;
    case PTX_INDEX_UNKNOWN:
        break;
    }
    base_builder_char(out, '?');
}

void ptx_origin_print(const ptx_origin *origin, base_builder *out) {
    base_builder_string(out, origin->is_store ? "//@ store " : "//@ load ");
    print_string(out, origin->space ? origin->space : "");
    base_builder_char(out, ' ');
    print_string(out, origin->tensor ? origin->tensor : "");
    for (uint32_t i = 0; i < origin->rank; i++) {
        base_builder_char(out, ' ');
        base_builder_decimal(out, origin->extents ? origin->extents[i] : -1);
    }
    base_builder_string(out, " :");
    for (uint32_t i = 0; i < origin->rank; i++) {
        const ptx_index *index = origin->indices[i];
        base_builder_string(out, i ? " , " : " ");
        print_string(out, index != NULL && index->text ? index->text : "");
        base_builder_char(out, ' ');
        print_index(out, index, 0);
    }
}

/* ---- reading ---- */

typedef struct origin_reader {
    ptx_parser *parser;
    ptx_lexer *lex;
} origin_reader;

static bool at_punct(const origin_reader *reader, char punct) {
    return reader->lex->token.kind == PTX_TOKEN_PUNCT && reader->lex->token.punct == punct;
}

static bool accept(origin_reader *reader, char punct) {
    if (!at_punct(reader, punct)) {
        return false;
    }
    ptx_lexer_next(reader->lex);
    return true;
}

static unsigned hex_digit(char c) {
    return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

static void add_character(base_builder *out, uint32_t code) {
    if (code < 0x80) {
        base_builder_char(out, (char)code);
    } else if (code < 0x800) {
        base_builder_char(out, (char)(0xc0 | code >> 6));
        base_builder_char(out, (char)(0x80 | (code & 0x3f)));
    } else {
        base_builder_char(out, (char)(0xe0 | code >> 12));
        base_builder_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
        base_builder_char(out, (char)(0x80 | (code & 0x3f)));
    }
}

/* At the character behind a backslash; returns the bytes read. */
static size_t read_escape(const char *p, size_t size, base_builder *out) {
    if (*p == 'u' && size > 4) {
        unsigned code = 0;
        for (int i = 1; i <= 4; i++) {
            code = (code << 4 | (hex_digit(p[i]) & 15)) & 0xffff;
        }
        add_character(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code == 0 ? 0xfffd : code);
        return 5;
    }
    static const char from[] = "ntrbf", to[] = "\n\t\r\b\f";
    const char *known = strchr(from, *p);
    base_builder_char(out, known != NULL && *known ? to[known - from] : *p);
    return 1;
}

/* Undoes the JSON escapes that base_builder_json writes; bytes that are no UTF-8 become U+FFFD, as they do
 * there. */
static const char *read_string(origin_reader *reader) {
    const ptx_token token = reader->lex->token;
    if (token.kind != PTX_TOKEN_STRING || token.end - token.begin < 2 ||
        reader->lex->data[token.end - 1] != '"') {
        return NULL;
    }
    base_builder text;
    base_builder_start(&text, reader->parser->arena);
    const char *p = reader->lex->data + token.begin + 1, *end = reader->lex->data + token.end - 1;
    while (p < end) {
        uint32_t code = 0;
        size_t length = base_utf8_decode(p, (size_t)(end - p), &code);
        if (*p == '\\' && p + 1 < end) {
            p++;
            /* An escaped byte that is no ASCII is read as itself. */
            p += (unsigned char)*p < 0x80 ? read_escape(p, (size_t)(end - p), &text) : 0;
        } else if (length == 0 || code == 0) {
            add_character(&text, 0xfffd);
            p++;
        } else {
            base_builder_add(&text, p, length);
            p += length;
        }
    }
    ptx_lexer_next(reader->lex);
    return base_name(reader->parser->module->names, text.data, text.size);
}

static bool read_integer(origin_reader *reader, int64_t *value) {
    bool minus = accept(reader, '-');
    if (reader->lex->token.kind != PTX_TOKEN_INT) {
        return false;
    }
    *value = (int64_t)(minus ? 0 - reader->lex->token.bits : reader->lex->token.bits);
    ptx_lexer_next(reader->lex);
    return true;
}

static ptx_index *read_index(origin_reader *reader, unsigned depth);

static bool read_binary(origin_reader *reader, unsigned depth, ptx_index *index) {
    const ptx_token token = reader->lex->token;
    if (token.kind != PTX_TOKEN_NAME) {
        return false;
    }
    for (ptx_index_op op = PTX_INDEX_ADD; op <= PTX_INDEX_FLOORMOD; op++) {
        if (strlen(index_ops[op]) == token.end - token.begin &&
            memcmp(index_ops[op], reader->lex->data + token.begin, token.end - token.begin) == 0) {
            index->op = op;
            ptx_lexer_next(reader->lex);
            index->a = read_index(reader, depth + 1);
            index->b = index->a ? read_index(reader, depth + 1) : NULL;
            return index->b != NULL && accept(reader, ')');
        }
    }
    return false;
}

static bool read_name(origin_reader *reader, ptx_index *index) {
    ptx_parser *parser = reader->parser;
    const ptx_token token = reader->lex->token;
    const char *name =
        base_name(parser->module->names, reader->lex->data + token.begin, token.end - token.begin);
    ptx_symbol *symbol = ptx_scope_find(parser, name);
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_REGISTER) {
        index->op = PTX_INDEX_REGISTER;
        index->reg = symbol->of.reg;
        ptx_lexer_next(reader->lex);
        return true;
    }
    ptx_lexer saved = parser->lex;
    ptx_operand operand = {0};
    parser->lex = *reader->lex;
    bool found = ptx_parse_special(parser, &operand);
    *reader->lex = parser->lex;
    parser->lex = saved;
    index->op = PTX_INDEX_SPECIAL;
    index->constant = (int64_t)operand.bits;
    return found && operand.bits < PTX_SPECIAL_COUNT;
}

static ptx_index *read_index(origin_reader *reader, unsigned depth) {
    ptx_index *index = BASE_NEW(reader->parser->arena, ptx_index);
    bool good = false;
    if (depth > PTX_DEPTH_MAX) {
        return NULL;
    }
    if (accept(reader, '?')) {
        good = true;
    } else if (accept(reader, '(')) {
        good = read_binary(reader, depth, index);
    } else if (reader->lex->token.kind == PTX_TOKEN_NAME) {
        good = read_name(reader, index);
    } else {
        index->op = PTX_INDEX_CONSTANT;
        good = read_integer(reader, &index->constant);
    }
    return good ? index : NULL;
}

static bool read_origin(origin_reader *reader, ptx_origin *origin) {
    base_arena *arena = reader->parser->arena;
    const ptx_token first = reader->lex->token;
    int64_t extents[64];
    const ptx_index *indices[64];
    bool is_load = first.end - first.begin == 4 && memcmp(reader->lex->data + first.begin, "load", 4) == 0;
    origin->is_store =
        first.end - first.begin == 5 && memcmp(reader->lex->data + first.begin, "store", 5) == 0;
    if (!is_load && !origin->is_store) {
        return false;
    }
    ptx_lexer_next(reader->lex);
    origin->space = read_string(reader);
    origin->tensor = origin->space ? read_string(reader) : NULL;
    if (origin->tensor == NULL) {
        return false;
    }
    while (!at_punct(reader, ':') && origin->rank < 64) {
        if (!read_integer(reader, &extents[origin->rank++])) {
            return false;
        }
    }
    if (!accept(reader, ':')) {
        return false;
    }
    for (uint32_t i = 0; i < origin->rank; i++) {
        const char *text = i == 0 || accept(reader, ',') ? read_string(reader) : NULL;
        ptx_index *index = text != NULL ? read_index(reader, 0) : NULL;
        if (index == NULL) {
            return false;
        }
        index->text = text;
        indices[i] = index;
    }
    origin->extents = base_arena_copy(arena, extents, origin->rank * sizeof(extents[0]));
    origin->indices = base_arena_copy(arena, indices, origin->rank * sizeof(indices[0]));
    return reader->lex->token.kind == PTX_TOKEN_END;
}

const ptx_origin *ptx_parse_origin(ptx_parser *parser, uint32_t begin, uint32_t end) {
    ptx_lexer lexer = {.data = parser->lex.data,
                       .size = end,
                       .position = begin,
                       .file = parser->lex.file,
                       .diagnostics = parser->diagnostics};
    origin_reader reader = {parser, &lexer};
    ptx_origin *origin = BASE_NEW(parser->arena, ptx_origin);
    ptx_lexer_next(&lexer);
    if (read_origin(&reader, origin)) {
        return origin;
    }
    base_report(parser->diagnostics, BASE_WARNING, "T0517", (base_span){parser->lex.file, begin, end},
                "this //@ comment is no provenance that tirc writes; it is ignored");
    return NULL;
}
