/* SPDX-License-Identifier: Apache-2.0
 * Compound statements, blocks, and whole files. A header that fails is reported once; the blocks under it are
 * still read, so that their own problems show in the same run. */
#include "script/script_statement.h"
#include <string.h>

/* ---- blocks ---- */

static void parse_statements(script_parser *parser, script_nodes *out, bool top) {
    for (;;) {
        if (parser->token.kind == SCRIPT_TOKEN_END || (!top && parser->token.kind == SCRIPT_TOKEN_DEDENT))
            return;
        script_parser_statement(parser, out);
    }
}

/* After a header failed: to its colon at the line's end, or past the line. True: a block may follow. */
static void skip_header(script_parser *parser) {
    while (parser->token.kind != SCRIPT_TOKEN_NEWLINE && parser->token.kind != SCRIPT_TOKEN_END) {
        if (script_parser_at_new_statement(parser)) {
            script_parser_skip_line(parser);
            return;
        }
        if (script_parser_at(parser, SCRIPT_WORD_COLON) && parser->token.depth == 0 &&
            script_parser_peek(parser)->kind == SCRIPT_TOKEN_NEWLINE)
            return;
        script_parser_advance(parser);
    }
}

/* The indented lines after a header; header is its span, for the note. */
static bool parse_indented(script_parser *parser, script_nodes *out, base_span header, const char *what,
                           bool failed) {
    if (parser->token.kind == SCRIPT_TOKEN_NEWLINE)
        script_parser_advance(parser);
    if (parser->token.kind != SCRIPT_TOKEN_INDENT) {
        if (failed)
            return false;
        /* The line after the header is a new one, so that this report is not hidden by the header's own. */
        base_diagnostic *d =
            script_parser_error(parser, "T0112", "expected an indented block after %s but found %s", what,
                                script_parser_found(parser, &parser->token));
        if (d)
            base_note(parser->diagnostics, d, header, "the block belongs to this line");
        if (d && parser->token.kind == SCRIPT_TOKEN_DEDENT)
            script_parser_help(parser, d, "write pass for a block that does nothing");
        parser->lexer.line_failed = false;
        return false;
    }
    uint32_t depth = parser->depth;
    bool line_failed = parser->lexer.line_failed;
    parser->lexer.line_failed |= failed; /* one report of the depth is enough */
    bool entered = script_parser_enter(parser);
    parser->lexer.line_failed = line_failed;
    if (!entered) { /* passed over by token, not by recursion */
        size_t open = 0;
        do {
            open += parser->token.kind == SCRIPT_TOKEN_INDENT;
            open -= parser->token.kind == SCRIPT_TOKEN_DEDENT;
            script_parser_advance(parser);
        } while (open > 0 && parser->token.kind != SCRIPT_TOKEN_END);
        return false;
    }
    script_parser_advance(parser);
    parse_statements(parser, out, false);
    if (parser->token.kind == SCRIPT_TOKEN_DEDENT)
        script_parser_advance(parser);
    parser->depth = depth;
    return true;
}

static void report_colon(script_parser *parser, const char *what) {
    const char *found = script_parser_found(parser, &parser->token);
    if (script_parser_at(parser, SCRIPT_WORD_ASSIGN)) {
        base_diagnostic *d = script_parser_error(parser, "T0121", "'=' cannot stand in %s", what);
        script_parser_help(parser, d, "to compare, write ==");
        return;
    }
    base_diagnostic *d =
        script_parser_error(parser, "T0118", "expected ':' after %s but found %s", what, found);
    if (script_parser_at(parser, SCRIPT_WORD_IF) && strcmp(what, "'else'") == 0)
        script_parser_help(parser, d, "write: elif");
}

/* ":" and what follows. header_good false: the header was reported already. */
static bool parse_block(script_parser *parser, script_nodes *out, uint32_t begin, const char *what,
                        bool header_good) {
    base_span header =
        script_lexer_span(&parser->lexer, begin, parser->last_end > begin ? parser->last_end : begin);
    if (!header_good)
        skip_header(parser);
    if (!script_parser_at(parser, SCRIPT_WORD_COLON)) {
        if (header_good) {
            report_colon(parser, what);
            skip_header(parser);
            script_parser_take(parser, SCRIPT_WORD_COLON);
        }
        parse_indented(parser, out, header, what, true);
        return false;
    }
    script_parser_advance(parser);
    if (parser->token.kind == SCRIPT_TOKEN_NEWLINE || parser->token.kind == SCRIPT_TOKEN_END)
        return parse_indented(parser, out, header, what, !header_good) && header_good;
    switch (parser->token.kind == SCRIPT_TOKEN_WORD ? parser->token.word : SCRIPT_WORD_NONE) {
    case SCRIPT_WORD_IF:
    case SCRIPT_WORD_FOR:
    case SCRIPT_WORD_WHILE:
    case SCRIPT_WORD_WITH:
    case SCRIPT_WORD_DEF:
    case SCRIPT_WORD_CLASS:
    case SCRIPT_WORD_TRY: {
        base_diagnostic *d =
            script_parser_error(parser, "T0120", "expected a simple statement on the line of %s but found %s",
                                what, script_parser_found(parser, &parser->token));
        script_parser_help(parser, d, "put the block on lines of its own");
        script_parser_skip_line(parser);
        if (parser->token.kind == SCRIPT_TOKEN_INDENT)
            parse_indented(parser, out, header, what, true);
        return false;
    }
    default:
        script_parser_simple_line(parser, out);
        return header_good;
    }
}

/* Turns a statement whose header or block structure failed into an ERROR that keeps its blocks. */
static script_node *finish_compound(script_parser *parser, script_node *node, uint32_t begin, bool good) {
    node->span =
        script_lexer_span(&parser->lexer, begin, parser->last_end > begin ? parser->last_end : begin);
    if (!good)
        node->kind = SCRIPT_ERROR;
    return node;
}

/* ---- if, while, for, with, try ---- */

static bool parse_else(script_parser *parser, script_nodes *out, bool *good) {
    uint32_t begin = parser->token.begin;
    if (!script_parser_take(parser, SCRIPT_WORD_ELSE))
        return false;
    *good &= parse_block(parser, out, begin, "'else'", true);
    return true;
}

/* elif chains become nested IFs, as in Python's tree, without recursion here. */
static script_node *parse_if(script_parser *parser) {
    uint32_t begin = parser->token.begin, depth = parser->depth;
    script_node *first = NULL, *last = NULL;
    script_nodes chain = {0};
    bool good = true;
    do {
        uint32_t start = parser->token.begin;
        script_node *node = script_parser_node(parser, SCRIPT_IF);
        const char *what = last ? "the elif condition" : "the if condition";
        bool entered = !last || script_parser_enter(parser);
        script_parser_advance(parser);
        node->a = entered ? script_parser_named(parser) : NULL;
        parser->depth = depth + (uint32_t)chain.count;
        good &= parse_block(parser, &node->body, start, what, node->a != NULL);
        node->span.begin = start;
        if (entered) {
            if (last)
                script_nodes_add(parser->arena, &last->orelse, node);
            else
                first = node;
            last = node;
            script_nodes_add(parser->arena, &chain, node);
        }
    } while (script_parser_at(parser, SCRIPT_WORD_ELIF));
    parse_else(parser, &last->orelse, &good);
    parser->depth = depth;
    for (size_t i = 0; i < chain.count; i++)
        finish_compound(parser, chain.items[i], chain.items[i]->span.begin, true);
    return finish_compound(parser, first, begin, good);
}

static script_node *parse_while(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_WHILE);
    script_parser_advance(parser);
    node->a = script_parser_named(parser);
    parser->loops++;
    bool good = parse_block(parser, &node->body, begin, "the while condition", node->a != NULL);
    parser->loops--;
    parse_else(parser, &node->orelse, &good);
    return finish_compound(parser, node, begin, good);
}

static script_node *parse_for(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_FOR);
    script_parser_advance(parser);
    node->a = script_parser_targets(parser);
    bool good = node->a && script_parser_check_target(parser, node->a, "assign to", false) &&
                script_parser_expect(parser, SCRIPT_WORD_IN, "after the loop's target") &&
                (node->b = script_parser_tuple(parser)) != NULL;
    parser->loops++;
    good = parse_block(parser, &node->body, begin, "the for header", good);
    parser->loops--;
    parse_else(parser, &node->orelse, &good);
    return finish_compound(parser, node, begin, good);
}

static bool parse_with_item(script_parser *parser, script_nodes *items) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_WITH_ITEM);
    node->a = script_parser_expression(parser);
    if (!node->a)
        return false;
    if (script_parser_take(parser, SCRIPT_WORD_AS)) {
        node->b = script_parser_at(parser, SCRIPT_WORD_STAR) ? NULL : script_parser_expression(parser);
        if (!node->b || !script_parser_check_target(parser, node->b, "assign to", false))
            return false;
    }
    node = script_parser_finish(parser, node, begin);
    if (node)
        script_nodes_add(parser->arena, items, node);
    return node != NULL;
}

/* with (A as a, B as b): a "(" may also start a plain expression, so this reading is tried first. */
static bool parse_round_with(script_parser *parser, script_nodes *items) {
    script_parser saved = script_parser_save(parser);
    script_nodes found = {0};
    parser->lexer.quiet = true;
    script_parser_advance(parser);
    bool good = true;
    while (good && !script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND)) {
        good = parse_with_item(parser, &found);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA))
            break;
    }
    good = good && found.count > 0 && script_parser_take(parser, SCRIPT_WORD_CLOSE_ROUND) &&
           script_parser_at(parser, SCRIPT_WORD_COLON);
    if (good) {
        parser->lexer.quiet = saved.lexer.quiet;
        *items = found;
        return true;
    }
    if (*parser->nodes < SCRIPT_NODES_MOST) /* else nothing more is read anyway */
        *parser = saved;
    return false;
}

static script_node *parse_with(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_WITH);
    script_parser_advance(parser);
    bool good = true;
    if (!script_parser_at(parser, SCRIPT_WORD_OPEN_ROUND) || !parse_round_with(parser, &node->items))
        do
            good = parse_with_item(parser, &node->items);
        while (good && script_parser_take(parser, SCRIPT_WORD_COMMA));
    good = parse_block(parser, &node->body, begin, "the with header", good);
    return finish_compound(parser, node, begin, good);
}

static script_node *parse_handler(script_parser *parser, bool *good) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_HANDLER);
    bool header = true;
    script_parser_advance(parser);
    script_parser_take(parser, SCRIPT_WORD_STAR);
    if (!script_parser_at(parser, SCRIPT_WORD_COLON) && parser->token.kind != SCRIPT_TOKEN_NEWLINE) {
        node->a = script_parser_expression(parser);
        header = node->a != NULL;
        if (header && script_parser_take(parser, SCRIPT_WORD_AS)) {
            header = parser->token.kind == SCRIPT_TOKEN_NAME;
            if (header)
                node->text = script_parser_text(parser, &parser->token);
            else
                script_parser_error(parser, "T0120", "expected a name after 'as' but found %s",
                                    script_parser_found(parser, &parser->token));
            if (header)
                script_parser_advance(parser);
        }
    }
    *good &= parse_block(parser, &node->body, begin, "'except'", header);
    return finish_compound(parser, node, begin, true);
}

static script_node *parse_try(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_TRY);
    script_parser_advance(parser);
    bool good = parse_block(parser, &node->body, begin, "'try'", true);
    while (script_parser_at(parser, SCRIPT_WORD_EXCEPT))
        script_nodes_add(parser->arena, &node->items, parse_handler(parser, &good));
    parse_else(parser, &node->orelse, &good);
    if (script_parser_at(parser, SCRIPT_WORD_FINALLY)) {
        uint32_t start = parser->token.begin;
        node->c = script_parser_node(parser, SCRIPT_HANDLER);
        script_parser_advance(parser);
        good &= parse_block(parser, &node->c->body, start, "'finally'", true);
        finish_compound(parser, node->c, start, true);
    }
    if (good && node->items.count == 0 && !node->c) {
        base_diagnostic *d = script_parser_error(
            parser, "T0120", "expected 'except' or 'finally' after a try block but found %s",
            script_parser_found(parser, &parser->token));
        if (d)
            base_note(parser->diagnostics, d, script_lexer_span(&parser->lexer, begin, begin + 3),
                      "the try stands here");
        parser->lexer.line_failed = false;
        good = false;
    }
    return finish_compound(parser, node, begin, good);
}

/* ---- def, class ---- */

bool script_parser_type_parameters(script_parser *parser, script_nodes *parameters) {
    script_parser_advance(parser);
    while (!script_parser_at(parser, SCRIPT_WORD_CLOSE_SQUARE)) {
        uint32_t begin = parser->token.begin;
        script_node *node = script_parser_node(parser, SCRIPT_PARAMETER);
        node->op = script_parser_take(parser, SCRIPT_WORD_STAR)          ? SCRIPT_PARAMETER_STAR
                   : script_parser_take(parser, SCRIPT_WORD_DOUBLE_STAR) ? SCRIPT_PARAMETER_DOUBLE_STAR
                                                                         : SCRIPT_PARAMETER_PLAIN;
        if (parser->token.kind != SCRIPT_TOKEN_NAME) {
            script_parser_error(parser, "T0120", "expected a type parameter's name but found %s",
                                script_parser_found(parser, &parser->token));
            return false;
        }
        node->text = script_parser_text(parser, &parser->token);
        node->name_span = script_parser_span(parser);
        script_parser_advance(parser);
        if (script_parser_take(parser, SCRIPT_WORD_COLON) && !(node->a = script_parser_expression(parser)))
            return false;
        if (!script_parser_finish(parser, node, begin))
            return false;
        script_nodes_add(parser->arena, parameters, node);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA))
            break;
    }
    return script_parser_expect(parser, SCRIPT_WORD_CLOSE_SQUARE, "after the type parameters");
}

static bool parse_name(script_parser *parser, script_node *node, const char *what) {
    if (parser->token.kind != SCRIPT_TOKEN_NAME) {
        base_diagnostic *d = script_parser_error(parser, "T0120", "expected %s but found %s", what,
                                                 script_parser_found(parser, &parser->token));
        if (parser->token.kind == SCRIPT_TOKEN_WORD && parser->token.word <= SCRIPT_WORD_YIELD)
            script_parser_help(parser, d, "a reserved word cannot be a name");
        return false;
    }
    node->text = script_parser_text(parser, &parser->token);
    node->name_span = script_parser_span(parser);
    script_parser_advance(parser);
    return true;
}

static bool parse_signature(script_parser *parser, script_node *node) {
    if (!parse_name(parser, node, "the function's name"))
        return false;
    if (script_parser_at(parser, SCRIPT_WORD_OPEN_SQUARE) &&
        !script_parser_type_parameters(parser, &node->items))
        return false;
    if (!script_parser_expect(parser, SCRIPT_WORD_OPEN_ROUND, "after the function's name") ||
        !script_parser_parameters(parser, &node->parameters, SCRIPT_WORD_CLOSE_ROUND) ||
        !script_parser_expect(parser, SCRIPT_WORD_CLOSE_ROUND, "after the parameters"))
        return false;
    return !script_parser_take(parser, SCRIPT_WORD_ARROW) ||
           (node->b = script_parser_expression(parser)) != NULL;
}

static script_node *parse_def(script_parser *parser, script_nodes *decorators) {
    uint32_t begin = parser->token.begin, loops = parser->loops, functions = parser->functions;
    script_node *node = script_parser_node(parser, SCRIPT_FUNCTION);
    node->decorators = *decorators;
    script_parser_advance(parser);
    bool good = parse_signature(parser, node);
    parser->loops = 0;
    parser->functions = functions + 1;
    good = parse_block(parser, &node->body, begin, "the function's header", good);
    parser->loops = loops;
    parser->functions = functions;
    return finish_compound(parser, node, begin, good);
}

static script_node *parse_class(script_parser *parser, script_nodes *decorators) {
    uint32_t begin = parser->token.begin, loops = parser->loops, functions = parser->functions;
    script_node *node = script_parser_node(parser, SCRIPT_CLASS);
    node->decorators = *decorators;
    script_parser_advance(parser);
    bool good = parse_name(parser, node, "the class's name");
    if (good && script_parser_at(parser, SCRIPT_WORD_OPEN_SQUARE))
        good = script_parser_type_parameters(parser, &node->parameters);
    uint32_t open = parser->token.begin;
    if (good && script_parser_take(parser, SCRIPT_WORD_OPEN_ROUND))
        good = script_parser_arguments(parser, &node->items, open);
    parser->loops = parser->functions = 0;
    good = parse_block(parser, &node->body, begin, "the class header", good);
    parser->loops = loops;
    parser->functions = functions;
    return finish_compound(parser, node, begin, good);
}

/* ---- what is delimited but not supported ---- */

static script_node *unsupported(script_parser *parser, const char *text, script_node *inside,
                                uint32_t begin) {
    script_node *node = script_parser_node(parser, SCRIPT_UNSUPPORTED);
    node->text = text;
    node->a = inside;
    return finish_compound(parser, node, begin, true);
}

static script_node *parse_async(script_parser *parser, script_nodes *decorators) {
    uint32_t begin = parser->token.begin;
    script_parser_advance(parser);
    script_node *inside = script_parser_at(parser, SCRIPT_WORD_DEF)    ? parse_def(parser, decorators)
                          : script_parser_at(parser, SCRIPT_WORD_FOR)  ? parse_for(parser)
                          : script_parser_at(parser, SCRIPT_WORD_WITH) ? parse_with(parser)
                                                                       : NULL;
    if (inside)
        return unsupported(parser, "async", inside, begin);
    script_parser_error(parser, "T0120", "expected 'def', 'for' or 'with' after 'async' but found %s",
                        script_parser_found(parser, &parser->token));
    script_parser_skip_line(parser);
    return script_parser_failed(parser, begin);
}

/* "match" is a name unless its line ends in ":" and a block of cases follows. */
static bool at_match(script_parser *parser) {
    if (parser->token.kind != SCRIPT_TOKEN_NAME || !script_parser_text_is(parser, &parser->token, "match"))
        return false;
    const script_token *next = script_parser_peek(parser);
    if (next->kind == SCRIPT_TOKEN_NEWLINE || next->kind == SCRIPT_TOKEN_END)
        return false;
    script_parser saved = script_parser_save(parser);
    parser->lexer.quiet = true;
    script_token last = parser->token;
    while (parser->token.kind != SCRIPT_TOKEN_NEWLINE && parser->token.kind != SCRIPT_TOKEN_END) {
        last = parser->token;
        script_parser_advance(parser);
    }
    bool found = last.word == SCRIPT_WORD_COLON && parser->token.kind == SCRIPT_TOKEN_NEWLINE;
    script_parser_advance(parser);
    found = found && parser->token.kind == SCRIPT_TOKEN_INDENT &&
            script_parser_text_is(parser, script_parser_peek(parser), "case");
    *parser = saved;
    return found;
}

/* The subject is read; the cases are passed over by their indentation. */
static script_node *parse_match(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_parser_advance(parser);
    script_node *subject = script_parser_tuple(parser);
    if (!subject || !script_parser_at(parser, SCRIPT_WORD_COLON))
        script_parser_skip_line(parser);
    while (parser->token.kind != SCRIPT_TOKEN_INDENT && parser->token.kind != SCRIPT_TOKEN_END)
        script_parser_advance(parser);
    size_t open = 0;
    do {
        open += parser->token.kind == SCRIPT_TOKEN_INDENT;
        open -= parser->token.kind == SCRIPT_TOKEN_DEDENT;
        script_parser_advance(parser);
    } while (open > 0 && parser->token.kind != SCRIPT_TOKEN_END);
    return unsupported(parser, "match", subject, begin);
}

/* ---- statements ---- */

static script_node *parse_decorated(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_nodes decorators = {0};
    bool good = true;
    while (script_parser_take(parser, SCRIPT_WORD_AT)) {
        script_node *decorator = script_parser_named(parser);
        if (decorator && parser->token.kind != SCRIPT_TOKEN_NEWLINE)
            script_parser_error(parser, "T0120",
                                "expected the end of the line after a decorator but found %s",
                                script_parser_found(parser, &parser->token)),
                decorator = NULL;
        if (!decorator) {
            good = false;
            script_parser_skip_line(parser);
            continue;
        }
        script_nodes_add(parser->arena, &decorators, decorator);
        script_parser_advance(parser);
    }
    script_node *node;
    if (script_parser_at(parser, SCRIPT_WORD_DEF)) {
        node = parse_def(parser, &decorators);
    } else if (script_parser_at(parser, SCRIPT_WORD_CLASS)) {
        node = parse_class(parser, &decorators);
    } else if (script_parser_at(parser, SCRIPT_WORD_ASYNC)) {
        node = parse_async(parser, &decorators);
    } else {
        if (good) {
            script_parser_error(parser, "T0120", "expected 'def' or 'class' after a decorator but found %s",
                                script_parser_found(parser, &parser->token));
            if (parser->token.kind != SCRIPT_TOKEN_INDENT && parser->token.kind != SCRIPT_TOKEN_DEDENT)
                script_parser_skip_line(parser);
        }
        return script_parser_failed(parser, begin);
    }
    if (!good)
        node->kind = SCRIPT_ERROR;
    return node;
}

/* else, elif, except, finally and closing indentation in the wrong place. */
static void parse_stray(script_parser *parser, script_nodes *out) {
    uint32_t begin = parser->token.begin;
    script_node *node;
    if (parser->token.kind == SCRIPT_TOKEN_INDENT) {
        base_diagnostic *d =
            script_parser_error(parser, "T0111", "this line is indented, but no block starts above it");
        script_parser_help(parser, d, "align it with the line above");
        parser->lexer.line_failed = false; /* the line itself is read as if it stood right */
        node = script_parser_failed(parser, begin);
        base_span header = node->span;
        parse_indented(parser, &node->body, header, "", true);
    } else {
        script_parser_error(parser, "T0120", "%s has no statement above it to belong to",
                            script_parser_found(parser, &parser->token));
        node = script_parser_failed(parser, begin);
        script_parser_advance(parser);
        parse_block(parser, &node->body, begin, "", false);
    }
    script_nodes_add(parser->arena, out, node);
}

void script_parser_statement(script_parser *parser, script_nodes *out) {
    script_nodes none = {0};
    script_node *node = NULL;
    uint32_t depth = parser->depth;
    if (parser->token.kind == SCRIPT_TOKEN_NEWLINE || parser->token.kind == SCRIPT_TOKEN_DEDENT) {
        script_parser_advance(parser);
        return;
    }
    if (parser->token.kind == SCRIPT_TOKEN_INDENT) {
        parse_stray(parser, out);
        parser->depth = depth;
        return;
    }
    switch (parser->token.kind == SCRIPT_TOKEN_WORD ? parser->token.word : SCRIPT_WORD_NONE) {
    case SCRIPT_WORD_IF:
        node = parse_if(parser);
        break;
    case SCRIPT_WORD_WHILE:
        node = parse_while(parser);
        break;
    case SCRIPT_WORD_FOR:
        node = parse_for(parser);
        break;
    case SCRIPT_WORD_WITH:
        node = parse_with(parser);
        break;
    case SCRIPT_WORD_TRY:
        node = parse_try(parser);
        break;
    case SCRIPT_WORD_DEF:
        node = parse_def(parser, &none);
        break;
    case SCRIPT_WORD_CLASS:
        node = parse_class(parser, &none);
        break;
    case SCRIPT_WORD_ASYNC:
        node = parse_async(parser, &none);
        break;
    case SCRIPT_WORD_AT:
        node = parse_decorated(parser);
        break;
    case SCRIPT_WORD_ELIF:
    case SCRIPT_WORD_ELSE:
    case SCRIPT_WORD_EXCEPT:
    case SCRIPT_WORD_FINALLY:
        parse_stray(parser, out);
        break;
    default:
        if (at_match(parser))
            node = parse_match(parser);
        else
            script_parser_simple_line(parser, out);
    }
    parser->depth = depth;
    if (node)
        script_nodes_add(parser->arena, out, node);
}

script_ast *script_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                         const script_options *options) {
    uint32_t nodes = 0;
    script_parser parser;
    script_ast *ast = BASE_NEW(arena, script_ast);
    ast->arena = arena;
    ast->sources = base_diagnostics_sources(diagnostics);
    ast->file = file;
    script_parser_start(&parser, arena, diagnostics, file, options, &nodes);
    ast->names = parser.names;
    script_lexer_check_text(&parser.lexer);
    script_parser_advance(&parser);
    parse_statements(&parser, &ast->body, true);
    return ast;
}

script_node *script_parse_expression(base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                                     const script_options *options) {
    uint32_t nodes = 0;
    script_parser parser;
    size_t errors = base_diagnostics_errors(diagnostics);
    script_parser_start(&parser, arena, diagnostics, file, options, &nodes);
    script_lexer_check_text(&parser.lexer);
    script_parser_advance(&parser);
    if (parser.token.kind == SCRIPT_TOKEN_INDENT) /* leading blanks mean nothing here */
        script_parser_advance(&parser);
    script_node *node = script_parser_tuple(&parser);
    while (node && (parser.token.kind == SCRIPT_TOKEN_NEWLINE || parser.token.kind == SCRIPT_TOKEN_DEDENT))
        script_parser_advance(&parser);
    if (node && parser.token.kind != SCRIPT_TOKEN_END)
        script_parser_error(&parser, "T0120", "expected one expression but found %s behind it",
                            script_parser_found(&parser, &parser.token));
    return base_diagnostics_errors(diagnostics) == errors ? node : NULL;
}
