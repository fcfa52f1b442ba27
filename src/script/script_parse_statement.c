/* SPDX-License-Identifier: Apache-2.0
 * Simple statements, and the way from a failed line to the next: one report a logical line, then on. */
#include "script/script_statement.h"
#include <string.h>

/* ---- recovery ---- */

void script_parser_skip_line(script_parser *parser) {
    while (parser->token.kind != SCRIPT_TOKEN_NEWLINE && parser->token.kind != SCRIPT_TOKEN_END) {
        if (parser->token.kind == SCRIPT_TOKEN_INDENT || parser->token.kind == SCRIPT_TOKEN_DEDENT)
            return;
        if (script_parser_at_new_statement(parser)) {
            /* An open bracket hid the line ends: its line ends here. */
            parser->has_ahead = false;
            script_lexer_restart_line(&parser->lexer, &parser->token);
            script_lexer_next(&parser->lexer, &parser->token);
            return;
        }
        script_parser_advance(parser);
    }
    if (parser->token.kind == SCRIPT_TOKEN_NEWLINE)
        script_parser_advance(parser);
}

script_node *script_parser_failed(script_parser *parser, uint32_t begin) {
    script_node *node = script_parser_node(parser, SCRIPT_ERROR);
    node->span =
        script_lexer_span(&parser->lexer, begin, parser->last_end > begin ? parser->last_end : begin);
    return node;
}

/* ---- assignments and expression statements ---- */

static bool at_line_end(const script_parser *parser) {
    return parser->token.kind == SCRIPT_TOKEN_NEWLINE || parser->token.kind == SCRIPT_TOKEN_END ||
           script_parser_at(parser, SCRIPT_WORD_SEMICOLON);
}

static script_operator augmented_operator(const script_parser *parser) {
    static const uint8_t ops[] = {
        SCRIPT_OP_ADD,      SCRIPT_OP_SUB, SCRIPT_OP_MUL,    SCRIPT_OP_POW,    SCRIPT_OP_DIV,
        SCRIPT_OP_FLOORDIV, SCRIPT_OP_MOD, SCRIPT_OP_MATMUL, SCRIPT_OP_BITAND, SCRIPT_OP_BITOR,
        SCRIPT_OP_BITXOR,   SCRIPT_OP_SHL, SCRIPT_OP_SHR,
    };
    if (parser->token.kind != SCRIPT_TOKEN_WORD || parser->token.word < SCRIPT_WORD_PLUS_ASSIGN)
        return SCRIPT_OP_NONE;
    return (script_operator)ops[parser->token.word - SCRIPT_WORD_PLUS_ASSIGN];
}

/* Only a name, attribute or subscript: for annotations and augmented assignment. */
static bool check_single_target(script_parser *parser, const script_node *target, const char *what) {
    if (target->kind == SCRIPT_NAME || target->kind == SCRIPT_ATTRIBUTE || target->kind == SCRIPT_SUBSCRIPT)
        return true;
    script_parser_error_at(parser, "T0122", target->span,
                           "%s takes a name, an attribute or a subscript, not %s", what,
                           script_node_name(target->kind));
    return false;
}

static script_node *parse_annotated(script_parser *parser, script_node *target, uint32_t begin) {
    script_node *node = script_parser_node(parser, SCRIPT_ANNOTATED_ASSIGN);
    if (!check_single_target(parser, target, "an annotation"))
        return NULL;
    script_parser_advance(parser);
    node->a = target;
    node->b = script_parser_expression(parser);
    if (!node->b)
        return NULL;
    if (script_parser_take(parser, SCRIPT_WORD_ASSIGN) && !(node->c = script_parser_value(parser)))
        return NULL;
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_chain(script_parser *parser, script_node *target, uint32_t begin) {
    script_node *node = script_parser_node(parser, SCRIPT_ASSIGN);
    node->name_span = script_parser_span(parser);
    node->a = target;
    while (script_parser_at(parser, SCRIPT_WORD_ASSIGN)) {
        if (node->a->kind == SCRIPT_UNSUPPORTED ||
            !script_parser_check_target(parser, node->a, "assign to", false)) {
            script_parser_check_target(parser, node->a, "assign to", false);
            return NULL;
        }
        script_nodes_add(parser->arena, &node->items, node->a);
        script_parser_advance(parser);
        node->a = script_parser_value(parser);
        if (!node->a)
            return NULL;
    }
    return script_parser_finish(parser, node, begin);
}

/* print "x" and exec "x" were statements in Python 2. */
static bool report_old_statement(script_parser *parser, const script_node *node) {
    bool print = node->kind == SCRIPT_NAME && strcmp(node->text, "print") == 0;
    bool exec = node->kind == SCRIPT_NAME && strcmp(node->text, "exec") == 0;
    if (!print && !exec)
        return false;
    base_diagnostic *d = script_parser_error_at(parser, "T0126", node->span,
                                                "'%s' is a function: expected '(' behind it but found %s",
                                                node->text, script_parser_found(parser, &parser->token));
    script_parser_help(parser, d, print ? "write: print(...)" : "write: exec(...)");
    return true;
}

static script_node *parse_expression_statement(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *first = script_parser_value(parser);
    if (!first)
        return NULL;
    if (script_parser_at(parser, SCRIPT_WORD_COLON))
        return parse_annotated(parser, first, begin);
    if (script_parser_at(parser, SCRIPT_WORD_ASSIGN))
        return parse_chain(parser, first, begin);
    script_operator op = augmented_operator(parser);
    if (op != SCRIPT_OP_NONE) {
        script_node *node = script_parser_node(parser, SCRIPT_AUGMENTED_ASSIGN);
        node->op = op;
        node->name_span = script_parser_span(parser);
        node->a = first;
        if (!check_single_target(parser, first, "augmented assignment"))
            return NULL;
        script_parser_advance(parser);
        node->b = script_parser_value(parser);
        return node->b ? script_parser_finish(parser, node, begin) : NULL;
    }
    if (!at_line_end(parser) && report_old_statement(parser, first))
        return NULL;
    script_node *node = script_parser_node(parser, SCRIPT_EXPRESSION_STATEMENT);
    node->a = first;
    return script_parser_finish(parser, node, begin);
}

/* ---- imports ---- */

/* NAME.NAME.NAME; *text is the joined text. */
static bool parse_dotted(script_parser *parser, base_builder *text, const char *what) {
    for (;;) {
        if (parser->token.kind != SCRIPT_TOKEN_NAME) {
            script_parser_error(parser, "T0120", "expected %s but found %s", what,
                                script_parser_found(parser, &parser->token));
            return false;
        }
        base_builder_add(text, parser->lexer.data + parser->token.begin,
                         parser->token.end - parser->token.begin);
        script_parser_advance(parser);
        if (!script_parser_take(parser, SCRIPT_WORD_DOT))
            return true;
        base_builder_char(text, '.');
    }
}

/* [as NAME] */
static script_node *parse_alias(script_parser *parser, bool dotted) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_ALIAS);
    base_builder text;
    base_builder_start(&text, parser->arena);
    node->name_span = script_parser_span(parser);
    if (!dotted && script_parser_take(parser, SCRIPT_WORD_STAR)) {
        node->text = "*";
        return script_parser_finish(parser, node, begin);
    }
    if (dotted ? !parse_dotted(parser, &text, "a module's name") : parser->token.kind != SCRIPT_TOKEN_NAME) {
        script_parser_error(parser, "T0120", "expected a name to import but found %s",
                            script_parser_found(parser, &parser->token));
        return NULL;
    }
    if (dotted) {
        node->text = text.data;
    } else {
        node->text = script_parser_text(parser, &parser->token);
        script_parser_advance(parser);
    }
    node->name_span.end = parser->last_end;
    if (script_parser_take(parser, SCRIPT_WORD_AS)) {
        if (parser->token.kind != SCRIPT_TOKEN_NAME) {
            script_parser_error(parser, "T0120", "expected a name after 'as' but found %s",
                                script_parser_found(parser, &parser->token));
            return NULL;
        }
        node->text2 = script_parser_text(parser, &parser->token);
        script_parser_advance(parser);
    }
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_import(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_IMPORT);
    script_parser_advance(parser);
    do {
        script_node *alias = parse_alias(parser, true);
        if (!alias)
            return NULL;
        script_nodes_add(parser->arena, &node->items, alias);
    } while (script_parser_take(parser, SCRIPT_WORD_COMMA));
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_from(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_FROM_IMPORT);
    base_builder module;
    base_builder_start(&module, parser->arena);
    script_parser_advance(parser);
    node->name_span = script_parser_span(parser);
    while (script_parser_at(parser, SCRIPT_WORD_DOT) || script_parser_at(parser, SCRIPT_WORD_ELLIPSIS)) {
        base_builder_string(&module, script_parser_at(parser, SCRIPT_WORD_DOT) ? "." : "...");
        script_parser_advance(parser);
    }
    if ((module.size == 0 || !script_parser_at(parser, SCRIPT_WORD_IMPORT)) &&
        !parse_dotted(parser, &module, "a module's name"))
        return NULL;
    node->text = module.data;
    node->name_span.end = parser->last_end;
    if (!script_parser_expect(parser, SCRIPT_WORD_IMPORT, "after the module's name"))
        return NULL;
    bool round = script_parser_take(parser, SCRIPT_WORD_OPEN_ROUND);
    for (;;) {
        script_node *alias = parse_alias(parser, false);
        if (!alias)
            return NULL;
        if (alias->text[0] == '*' && (round || node->items.count > 0)) {
            script_parser_error_at(parser, "T0120", alias->span, "'*' stands alone after 'import'");
            return NULL;
        }
        script_nodes_add(parser->arena, &node->items, alias);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA) ||
            (round && script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND)))
            break;
        if (at_line_end(parser)) {
            base_diagnostic *d =
                script_parser_error(parser, "T0120", "expected a name after ',' but found %s",
                                    script_parser_found(parser, &parser->token));
            script_parser_help(parser, d, "a trailing comma needs parentheses around the names");
            return NULL;
        }
    }
    if (round && !script_parser_expect(parser, SCRIPT_WORD_CLOSE_ROUND, "after the imported names"))
        return NULL;
    return script_parser_finish(parser, node, begin);
}

/* ---- the others ---- */

static script_node *parse_word_only(script_parser *parser, script_node_kind kind) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, kind);
    if (kind != SCRIPT_PASS && parser->loops == 0) {
        script_parser_error(parser, "T0128", "'%s' stands outside a loop",
                            script_word_text(parser->token.word));
        return NULL;
    }
    script_parser_advance(parser);
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_return(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_RETURN);
    if (parser->functions == 0) {
        script_parser_error(parser, "T0128", "'return' stands outside a function");
        return NULL;
    }
    script_parser_advance(parser);
    if (!at_line_end(parser) && !(node->a = script_parser_tuple(parser)))
        return NULL;
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_assert(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_ASSERT);
    script_parser_advance(parser);
    if (!(node->a = script_parser_expression(parser)))
        return NULL;
    if (script_parser_take(parser, SCRIPT_WORD_COMMA) && !(node->b = script_parser_expression(parser)))
        return NULL;
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_raise(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_RAISE);
    script_parser_advance(parser);
    if (!at_line_end(parser)) {
        if (!(node->a = script_parser_expression(parser)))
            return NULL;
        if (script_parser_take(parser, SCRIPT_WORD_FROM) && !(node->b = script_parser_expression(parser)))
            return NULL;
    }
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_delete(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_DELETE);
    script_parser_advance(parser);
    do {
        if (at_line_end(parser) && node->items.count > 0)
            break;
        script_node *target = script_parser_expression(parser);
        if (!target || !script_parser_check_target(parser, target, "delete", false))
            return NULL;
        script_nodes_add(parser->arena, &node->items, target);
    } while (script_parser_take(parser, SCRIPT_WORD_COMMA));
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_names(script_parser *parser, script_node_kind kind) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, kind);
    script_parser_advance(parser);
    do {
        if (parser->token.kind != SCRIPT_TOKEN_NAME) {
            script_parser_error(parser, "T0120", "expected a name but found %s",
                                script_parser_found(parser, &parser->token));
            return NULL;
        }
        script_node *name = script_parser_expression(parser);
        if (name && name->kind != SCRIPT_NAME) {
            script_parser_error_at(parser, "T0120", name->span, "expected a plain name but found %s",
                                   script_node_name(name->kind));
            return NULL;
        }
        if (!name)
            return NULL;
        script_nodes_add(parser->arena, &node->items, name);
    } while (script_parser_take(parser, SCRIPT_WORD_COMMA));
    return script_parser_finish(parser, node, begin);
}

/* type NAME[...] = EXPRESSION (Python 3.12); "type" is a name everywhere else. */
static script_node *parse_type_alias(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_UNSUPPORTED);
    node->text = "a type alias";
    script_parser_advance(parser);
    script_parser_advance(parser);
    script_nodes parameters = {0};
    if (script_parser_at(parser, SCRIPT_WORD_OPEN_SQUARE) &&
        !script_parser_type_parameters(parser, &parameters))
        return NULL;
    if (!script_parser_expect(parser, SCRIPT_WORD_ASSIGN, "after the type's name"))
        return NULL;
    node->a = script_parser_expression(parser);
    return node->a ? script_parser_finish(parser, node, begin) : NULL;
}

static script_node *parse_simple(script_parser *parser) {
    if (parser->token.kind == SCRIPT_TOKEN_NAME && script_parser_text_is(parser, &parser->token, "type") &&
        script_parser_peek(parser)->kind == SCRIPT_TOKEN_NAME)
        return parse_type_alias(parser);
    switch (parser->token.kind == SCRIPT_TOKEN_WORD ? parser->token.word : SCRIPT_WORD_NONE) {
    case SCRIPT_WORD_PASS:
        return parse_word_only(parser, SCRIPT_PASS);
    case SCRIPT_WORD_BREAK:
        return parse_word_only(parser, SCRIPT_BREAK);
    case SCRIPT_WORD_CONTINUE:
        return parse_word_only(parser, SCRIPT_CONTINUE);
    case SCRIPT_WORD_RETURN:
        return parse_return(parser);
    case SCRIPT_WORD_ASSERT:
        return parse_assert(parser);
    case SCRIPT_WORD_RAISE:
        return parse_raise(parser);
    case SCRIPT_WORD_DEL:
        return parse_delete(parser);
    case SCRIPT_WORD_GLOBAL:
        return parse_names(parser, SCRIPT_GLOBAL);
    case SCRIPT_WORD_NONLOCAL:
        return parse_names(parser, SCRIPT_NONLOCAL);
    case SCRIPT_WORD_IMPORT:
        return parse_import(parser);
    case SCRIPT_WORD_FROM:
        return parse_from(parser);
    default:
        return parse_expression_statement(parser);
    }
}

static void report_line_end(script_parser *parser) {
    const char *found = script_parser_found(parser, &parser->token);
    if (script_parser_at(parser, SCRIPT_WORD_ASSIGN)) {
        base_diagnostic *d = script_parser_error(
            parser, "T0121", "'=' cannot stand here: an assignment is a statement of its own");
        script_parser_help(parser, d, "to compare, write ==");
        return;
    }
    base_diagnostic *d =
        script_parser_error(parser, "T0120", "expected the end of the statement but found %s", found);
    switch (parser->token.kind) {
    case SCRIPT_TOKEN_NAME:
    case SCRIPT_TOKEN_INTEGER:
    case SCRIPT_TOKEN_REAL:
    case SCRIPT_TOKEN_STRING:
        script_parser_help(parser, d, "an operator, ',' or ';' may be missing before it");
        break;
    default:
        if (script_parser_at(parser, SCRIPT_WORD_COLON))
            script_parser_help(parser, d, "blocks start with if, for, while, with, def or class");
    }
}

void script_parser_simple_line(script_parser *parser, script_nodes *out) {
    for (;;) {
        uint32_t begin = parser->token.begin, depth = parser->depth;
        script_node *node = parse_simple(parser);
        if (node && !at_line_end(parser)) {
            report_line_end(parser);
            node = NULL;
        }
        parser->depth = depth;
        if (!node) {
            script_parser_skip_line(parser);
            script_nodes_add(parser->arena, out, script_parser_failed(parser, begin));
            return;
        }
        script_nodes_add(parser->arena, out, node);
        bool more = script_parser_take(parser, SCRIPT_WORD_SEMICOLON);
        if (parser->token.kind == SCRIPT_TOKEN_NEWLINE || parser->token.kind == SCRIPT_TOKEN_END) {
            if (parser->token.kind == SCRIPT_TOKEN_NEWLINE)
                script_parser_advance(parser);
            return;
        }
        if (!more)
            return;
    }
}
