/* SPDX-License-Identifier: Apache-2.0
 * The parser's common ground: taking tokens, reporting, limits. Knows no grammar. */
#include "script/script_parser.h"
#include <stdio.h>
#include <string.h>

void script_parser_start(script_parser *parser, base_arena *arena, base_diagnostics *diagnostics,
                         uint32_t file, const script_options *options, uint32_t *nodes) {
    memset(parser, 0, sizeof *parser);
    parser->arena = arena;
    parser->diagnostics = diagnostics;
    parser->depth_limit = options && options->depth_limit ? options->depth_limit : SCRIPT_DEPTH_DEFAULT;
    if (parser->depth_limit > SCRIPT_DEPTH_MOST)
        parser->depth_limit = SCRIPT_DEPTH_MOST;
    parser->nodes = nodes;
    parser->names = options && options->names ? options->names : base_names_create(arena);
    script_lexer_start(&parser->lexer, arena, diagnostics, file, 0, UINT32_MAX, parser->depth_limit, false);
}

void script_parser_advance(script_parser *parser) {
    script_token_kind kind = parser->token.kind;
    if (kind != SCRIPT_TOKEN_NEWLINE && kind != SCRIPT_TOKEN_INDENT && kind != SCRIPT_TOKEN_DEDENT &&
        kind != SCRIPT_TOKEN_END)
        parser->last_end = parser->token.end;
    if (parser->has_ahead) {
        parser->token = parser->ahead;
        parser->has_ahead = false;
    } else {
        script_lexer_next(&parser->lexer, &parser->token);
    }
}

const script_token *script_parser_peek(script_parser *parser) {
    if (!parser->has_ahead) {
        script_lexer_next(&parser->lexer, &parser->ahead);
        parser->has_ahead = true;
    }
    return &parser->ahead;
}

bool script_parser_take(script_parser *parser, script_word_kind word) {
    if (!script_parser_at(parser, word))
        return false;
    script_parser_advance(parser);
    return true;
}

bool script_parser_expect(script_parser *parser, script_word_kind word, const char *where) {
    if (script_parser_take(parser, word))
        return true;
    script_parser_error(parser, "T0120", "expected '%s' %s but found %s", script_word_text(word), where,
                        script_parser_found(parser, &parser->token));
    return false;
}

const char *script_parser_text(script_parser *parser, const script_token *token) {
    return base_name(parser->names, parser->lexer.data + token->begin, token->end - token->begin);
}

bool script_parser_text_is(const script_parser *parser, const script_token *token, const char *text) {
    return token->end - token->begin == strlen(text) &&
           memcmp(parser->lexer.data + token->begin, text, token->end - token->begin) == 0;
}

const char *script_parser_found(script_parser *parser, const script_token *token) {
    int size = (int)(token->end - token->begin > 40 ? 40 : token->end - token->begin);
    const char *text = parser->lexer.data + token->begin;
    switch (token->kind) {
    case SCRIPT_TOKEN_END:
        return parser->lexer.base_brackets ? "the end of the replacement field" : "the end of the file";
    case SCRIPT_TOKEN_NEWLINE:
        return "the end of the line";
    case SCRIPT_TOKEN_INDENT:
        return "an indented line";
    case SCRIPT_TOKEN_DEDENT:
        return "the end of the block";
    case SCRIPT_TOKEN_NAME:
        return base_arena_format(parser->arena, "the name '%.*s'", size, text);
    case SCRIPT_TOKEN_INTEGER:
    case SCRIPT_TOKEN_REAL:
    case SCRIPT_TOKEN_IMAGINARY:
        return base_arena_format(parser->arena, "the number %.*s", size, text);
    case SCRIPT_TOKEN_STRING:
        return "a string";
    default:
        if (token->word <= SCRIPT_WORD_YIELD)
            return base_arena_format(parser->arena, "the reserved word '%.*s'", size, text);
        return base_arena_format(parser->arena, "'%.*s'", size, text);
    }
}

bool script_parser_at_new_statement(script_parser *parser) {
    const script_token *token = &parser->token;
    const script_lexer *lexer = &parser->lexer;
    if (token->depth == 0 || !token->starts_line || lexer->base_brackets)
        return false;
    switch (token->word) { /* never inside an expression */
    case SCRIPT_WORD_ASSERT:
    case SCRIPT_WORD_BREAK:
    case SCRIPT_WORD_CLASS:
    case SCRIPT_WORD_CONTINUE:
    case SCRIPT_WORD_DEF:
    case SCRIPT_WORD_DEL:
    case SCRIPT_WORD_ELIF:
    case SCRIPT_WORD_EXCEPT:
    case SCRIPT_WORD_FINALLY:
    case SCRIPT_WORD_GLOBAL:
    case SCRIPT_WORD_IMPORT:
    case SCRIPT_WORD_NONLOCAL:
    case SCRIPT_WORD_PASS:
    case SCRIPT_WORD_RAISE:
    case SCRIPT_WORD_RETURN:
    case SCRIPT_WORD_TRY:
    case SCRIPT_WORD_WHILE:
    case SCRIPT_WORD_WITH:
        return true;
    default:
        break;
    }
    if (token->column > lexer->line_column)
        return false;
    if (token->kind == SCRIPT_TOKEN_NAME) { /* like the start of an assignment or a call */
        uint32_t at = token->end;
        while (at < lexer->end && lexer->data[at] == ' ')
            at++;
        return at < lexer->end && strchr("=.([:+-*/", lexer->data[at]) && lexer->data[at] != 0;
    }
    switch (token->word) {
    case SCRIPT_WORD_AT:
    case SCRIPT_WORD_ASYNC:
    case SCRIPT_WORD_ELSE:
    case SCRIPT_WORD_FOR:
    case SCRIPT_WORD_FROM:
    case SCRIPT_WORD_IF:
        return true;
    default:
        return false;
    }
}

static base_diagnostic *report(script_parser *parser, const char *code, base_span span, const char *format,
                               va_list arguments) {
    if (parser->lexer.quiet || parser->lexer.line_failed)
        return NULL;
    parser->lexer.line_failed = true;
    return base_report_list(parser->diagnostics, BASE_ERROR, code, span, format, arguments);
}

base_diagnostic *script_parser_error(script_parser *parser, const char *code, const char *format, ...) {
    script_lexer *lexer = &parser->lexer;
    if (!lexer->quiet && !lexer->line_failed && script_parser_at_new_statement(parser) &&
        parser->token.depth <= lexer->brackets.count) {
        script_bracket open = lexer->brackets.items[parser->token.depth - 1];
        base_diagnostic *d =
            script_parser_error_at(parser, "T0113", script_parser_span(parser),
                                   "expected '%c' before %s, which reads like a new statement", open.close,
                                   script_parser_found(parser, &parser->token));
        if (d)
            base_note(parser->diagnostics, d, script_lexer_span(lexer, open.begin, open.begin + 1),
                      "'%c' is opened here and never closed", lexer->data[open.begin]);
        return NULL;
    }
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *d = report(parser, code, script_parser_span(parser), format, arguments);
    va_end(arguments);
    return d;
}

base_diagnostic *script_parser_error_at(script_parser *parser, const char *code, base_span span,
                                        const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *d = report(parser, code, span, format, arguments);
    va_end(arguments);
    return d;
}

void script_parser_help(script_parser *parser, base_diagnostic *diagnostic, const char *text) {
    if (diagnostic)
        base_help(parser->diagnostics, diagnostic, "%s", text);
}

script_parser script_parser_save(script_parser *parser) {
    script_parser saved = *parser;
    script_lexer *lexer = &saved.lexer;
    lexer->brackets.items = base_arena_copy(parser->arena, lexer->brackets.items,
                                            lexer->brackets.count * sizeof *lexer->brackets.items);
    lexer->brackets.capacity = lexer->brackets.count;
    lexer->indentations.items =
        base_arena_copy(parser->arena, lexer->indentations.items,
                        lexer->indentations.count * sizeof *lexer->indentations.items);
    lexer->indentations.capacity = lexer->indentations.count;
    return saved;
}

/* Nothing more is read: the rest of the file is taken as empty. */
static void stop(script_parser *parser) {
    script_lexer *lexer = &parser->lexer;
    lexer->quiet = true;
    lexer->at = lexer->end;
    lexer->brackets.count = 0;
    lexer->pending_dedents = 0;
    parser->has_ahead = false;
    script_lexer_next(lexer, &parser->token);
}

static inline size_t node_size(script_node_kind kind) {
    static const uint8_t sizes[] = {[SCRIPT_FORM_LEAF] = offsetof(script_node, a),
                                    [SCRIPT_FORM_PAIR] = offsetof(script_node, c),
                                    [SCRIPT_FORM_LIST] = offsetof(script_node, body),
                                    [SCRIPT_FORM_BLOCK] = sizeof(script_node)};
    return sizes[script_form_of(kind)];
}

static void too_many_nodes(script_parser *parser) {
    if (*parser->nodes == SCRIPT_NODES_MOST) {
        parser->lexer.line_failed = false;
        base_diagnostic *d = script_parser_error_at(
            parser, "T0116", script_parser_span(parser),
            "the script has more than %u names, numbers and operations", SCRIPT_NODES_MOST);
        script_parser_help(parser, d, "pass large tables to the kernel as tensors");
    }
    stop(parser);
}

script_node *script_parser_node(script_parser *parser, script_node_kind kind) {
    if (++*parser->nodes >= SCRIPT_NODES_MOST)
        too_many_nodes(parser);
    script_node *node = base_arena_allocate(parser->arena, node_size(kind));
    node->kind = kind;
    node->height = 1;
    node->span = script_parser_span(parser);
    return node;
}

script_node *script_parser_widen(script_parser *parser, const script_node *leaf, script_node_kind kind) {
    script_node *node = base_arena_allocate(parser->arena, node_size(kind));
    memcpy(node, leaf, node_size(leaf->kind));
    node->kind = kind;
    return node;
}

static void raise_height(uint32_t *height, const script_node *child) {
    if (child && child->height >= *height)
        *height = child->height + 1;
}

script_node *script_parser_finish(script_parser *parser, script_node *node, uint32_t begin) {
    node->span =
        script_lexer_span(&parser->lexer, begin, parser->last_end > begin ? parser->last_end : begin);
    script_node_form form = script_form_of(node->kind);
    if (form >= SCRIPT_FORM_PAIR) {
        raise_height(&node->height, node->a);
        raise_height(&node->height, node->b);
    }
    if (form >= SCRIPT_FORM_LIST) {
        raise_height(&node->height, node->c);
        for (size_t i = 0; i < node->items.count; i++)
            raise_height(&node->height, node->items.items[i]);
    }
    if (form == SCRIPT_FORM_BLOCK)
        for (size_t i = 0; i < node->parameters.count; i++)
            raise_height(&node->height, node->parameters.items[i]);
    if (node->height <= parser->depth_limit)
        return node;
    base_diagnostic *d =
        script_parser_error_at(parser, "T0115", node->name_span.file ? node->name_span : node->span,
                               "this expression is nested more than %u levels deep", parser->depth_limit);
    script_parser_help(parser, d, "name its parts by assignments, or put them into a loop or a list");
    return NULL;
}

bool script_parser_enter(script_parser *parser) {
    if (parser->depth < parser->depth_limit) {
        parser->depth++;
        return true;
    }
    base_diagnostic *d = script_parser_error_at(parser, "T0115", script_parser_span(parser),
                                                "nested more than %u levels deep", parser->depth_limit);
    script_parser_help(parser, d, "name its parts by assignments or functions");
    return false;
}

void script_parser_leave(script_parser *parser) {
    parser->depth--;
}
