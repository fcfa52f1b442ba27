/* SPDX-License-Identifier: Apache-2.0
 * Tokens, reports and names in scope for the parser of the text form. Knows no grammar. */
#include "ir/ir_parse.h"
#include <stdarg.h>
#include <string.h>

void ir_parser_advance(ir_parser *parser) {
    parser->token = ir_lexer_next(&parser->lexer);
    if (parser->token.kind == IR_TOKEN_BAD) {
        parser->failed = true;
        parser->errors++;
    }
}

base_text ir_parser_text(const ir_parser *parser) {
    return (base_text){parser->lexer.text.data + parser->token.begin,
                       parser->token.end - parser->token.begin};
}

base_span ir_parser_span(const ir_parser *parser) {
    return (base_span){parser->lexer.file, (uint32_t)parser->token.begin, (uint32_t)parser->token.end};
}

base_span ir_parser_span_from(const ir_parser *parser, size_t begin) {
    size_t end = parser->token.begin;
    const char *text = parser->lexer.text.data;
    while (end > begin && (text[end - 1] == ' ' || text[end - 1] == '\n' || text[end - 1] == '\r'))
        end--;
    return (base_span){parser->lexer.file, (uint32_t)begin, (uint32_t)end};
}

void *ir_parser_fail(ir_parser *parser, const char *code, base_span span, const char *help,
                     const char *format, ...) {
    if (!parser->failed && !parser->quiet) {
        va_list arguments;
        va_start(arguments, format);
        base_diagnostic *diagnostic =
            base_report_list(parser->module->diagnostics, BASE_ERROR, code, span, format, arguments);
        va_end(arguments);
        if (help)
            base_help(parser->module->diagnostics, diagnostic, "%s", help);
    }
    parser->errors += parser->quiet ? 0 : 1;
    parser->failed = true;
    return NULL;
}

void *ir_parser_expected(ir_parser *parser, const char *what) {
    base_text text = ir_parser_text(parser);
    int size = text.size > 40 ? 40 : (int)text.size;
    switch (parser->token.kind) {
    case IR_TOKEN_END:
        return ir_parser_fail(parser, "T0301", ir_parser_span(parser), NULL,
                              "expected %s, but the text ends here", what);
    case IR_TOKEN_NEWLINE:
        return ir_parser_fail(parser, "T0301", ir_parser_span(parser), NULL,
                              "expected %s, but the line ends here", what);
    case IR_TOKEN_INDENT:
    case IR_TOKEN_DEDENT:
        return ir_parser_fail(parser, "T0302", ir_parser_span(parser), NULL,
                              "expected %s, but the indentation changes here", what);
    default:
        return ir_parser_fail(parser, "T0301", ir_parser_span(parser), NULL, "expected %s, found `%.*s`",
                              what, size, text.data);
    }
}

bool ir_parser_is_sign(const ir_parser *parser, const char *sign) {
    return parser->token.kind == IR_TOKEN_SIGN && base_text_is(ir_parser_text(parser), sign);
}

bool ir_parser_is_word(const ir_parser *parser, const char *word) {
    return parser->token.kind == IR_TOKEN_NAME && base_text_is(ir_parser_text(parser), word);
}

bool ir_parser_take_sign(ir_parser *parser, const char *sign) {
    bool found = ir_parser_is_sign(parser, sign);
    if (found)
        ir_parser_advance(parser);
    return found;
}

bool ir_parser_take_word(ir_parser *parser, const char *word) {
    bool found = ir_parser_is_word(parser, word);
    if (found)
        ir_parser_advance(parser);
    return found;
}

bool ir_parser_need_sign(ir_parser *parser, const char *sign) {
    char what[8] = {'`', sign[0], sign[1] ? sign[1] : '`', sign[1] ? '`' : 0};
    if (ir_parser_take_sign(parser, sign))
        return true;
    ir_parser_expected(parser, what);
    return false;
}

bool ir_parser_end_line(ir_parser *parser) {
    if (parser->token.kind != IR_TOKEN_NEWLINE && parser->token.kind != IR_TOKEN_END)
        return ir_parser_expected(parser, "the end of the line") != NULL;
    ir_parser_advance(parser);
    return true;
}

void ir_parser_skip_line(ir_parser *parser) {
    while (parser->token.kind != IR_TOKEN_NEWLINE && parser->token.kind != IR_TOKEN_END)
        ir_parser_advance(parser);
    if (parser->token.kind == IR_TOKEN_NEWLINE)
        ir_parser_advance(parser);
    parser->failed = parser->token.kind == IR_TOKEN_BAD;
    parser->nest = 0;
}

/* ---- names ---- */

ir_symbol *ir_parser_find(const ir_parser *parser, base_text name) {
    return base_map_get(parser->symbols, BASE_KEY(base_name(parser->module->names, name.data, name.size)));
}

void ir_parser_declare(ir_parser *parser, base_text name, base_span span, ir_var *var, ir_tensor *tensor) {
    const char *interned = base_name(parser->module->names, name.data, name.size);
    ir_symbol *outer = base_map_get(parser->symbols, BASE_KEY(interned));
    if (outer && !parser->quiet) {
        base_diagnostic *diagnostic = base_report(parser->module->diagnostics, BASE_ERROR, "T0304", span,
                                                  "`%s` has a meaning here already", interned);
        base_note(parser->module->diagnostics, diagnostic, outer->span, "it was given here");
        base_help(parser->module->diagnostics, diagnostic, "choose another name");
        parser->errors++;
    }
    ir_symbol *symbol = BASE_NEW(parser->module->arena, ir_symbol);
    *symbol = (ir_symbol){interned, var, tensor, outer, span};
    base_map_set(parser->symbols, BASE_KEY(interned), symbol);
    base_vector_push(parser->module->arena, &parser->open, symbol);
}

void ir_parser_close(ir_parser *parser, size_t mark) {
    while (parser->open.count > mark) {
        ir_symbol *symbol = parser->open.items[--parser->open.count];
        base_map_set(parser->symbols, BASE_KEY(symbol->name), symbol->outer);
    }
}

bool ir_parser_new_name(ir_parser *parser, base_text *name, base_span *span) {
    if (parser->token.kind != IR_TOKEN_NAME)
        return ir_parser_expected(parser, "a name") != NULL;
    *name = ir_parser_text(parser);
    *span = ir_parser_span(parser);
    if (ir_word_reserved(name->data, name->size))
        return ir_parser_fail(parser, "T0304", *span, "add a suffix, as in min_1",
                              "`%.*s` is a word of the text form and cannot be a name",
                              (int)(name->size > 100 ? 100 : name->size), name->data) != NULL;
    ir_parser_advance(parser);
    return true;
}
