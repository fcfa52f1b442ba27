/* SPDX-License-Identifier: Apache-2.0
 * Expressions of Python's grammar, by recursive descent over the token in hand. Every function returns NULL
 * after a report. Knows no statements and evaluates nothing. */
#include "script/script_parser.h"
#include <string.h>

static script_node *parse_binary(script_parser *parser, int lowest);
static script_node *parse_disjunction(script_parser *parser);

/* ---- names of what was expected ---- */

static void expression_expected(script_parser *parser) {
    const script_token *token = &parser->token;
    const char *found = script_parser_found(parser, token);
    if (token->kind == SCRIPT_TOKEN_WORD && token->word == SCRIPT_WORD_BANG) {
        script_parser_error(parser, "T0119", "expected an expression but found %s", found);
        return;
    }
    base_diagnostic *d = script_parser_error(parser, "T0119", "expected an expression but found %s", found);
    if (token->kind != SCRIPT_TOKEN_WORD)
        return;
    char before = token->begin > 0 ? parser->lexer.data[token->begin - 1] : ' ';
    if (token->word == SCRIPT_WORD_AMPERSAND && before == '&')
        script_parser_help(parser, d, "write: a and b");
    else if (token->word == SCRIPT_WORD_BAR && before == '|')
        script_parser_help(parser, d, "write: a or b");
    else if (token->word == SCRIPT_WORD_GT && before == '<')
        script_parser_help(parser, d, "write: a != b");
    else if (token->word > SCRIPT_WORD_TRUE && token->word <= SCRIPT_WORD_YIELD)
        script_parser_help(parser, d, "a reserved word cannot be a name");
}

/* ---- atoms ---- */

static script_node *parse_simple_atom(script_parser *parser, script_node_kind kind) {
    script_node *node = script_parser_node(parser, kind);
    if (kind == SCRIPT_NAME)
        node->text = script_parser_text(parser, &parser->token);
    node->name_span = node->span; /* one token: there is nothing to finish */
    script_parser_advance(parser);
    return node;
}

static bool at_comprehension(script_parser *parser) {
    return script_parser_at(parser, SCRIPT_WORD_FOR) || (script_parser_at(parser, SCRIPT_WORD_ASYNC) &&
                                                         script_parser_peek(parser)->word == SCRIPT_WORD_FOR);
}

/* for TARGETS in VALUE if CONDITION ..., one clause after the other. */
static bool parse_clauses(script_parser *parser, script_node *node, bool *is_async) {
    while (at_comprehension(parser)) {
        uint32_t begin = parser->token.begin;
        *is_async |= script_parser_take(parser, SCRIPT_WORD_ASYNC);
        script_parser_advance(parser);
        script_node *clause = script_parser_node(parser, SCRIPT_FOR_CLAUSE);
        clause->a = script_parser_targets(parser);
        if (!clause->a || !script_parser_check_target(parser, clause->a, "assign to", false) ||
            !script_parser_expect(parser, SCRIPT_WORD_IN, "in a comprehension's for"))
            return false;
        clause->b = parse_disjunction(parser);
        if (!clause->b)
            return false;
        while (script_parser_take(parser, SCRIPT_WORD_IF)) {
            script_node *condition = parse_disjunction(parser);
            if (condition && script_parser_at(parser, SCRIPT_WORD_WALRUS))
                condition = NULL,
                script_parser_error(parser, "T0120", "':=' in a condition needs parentheses");
            if (!condition)
                return false;
            script_nodes_add(parser->arena, &clause->items, condition);
        }
        clause = script_parser_finish(parser, clause, begin);
        if (!clause)
            return false;
        script_nodes_add(parser->arena, &node->items, clause);
    }
    return true;
}

/* An async comprehension stands as one unsupported value. */
static script_node *finish_comprehension(script_parser *parser, script_node *node, uint32_t begin,
                                         bool is_async) {
    node = script_parser_finish(parser, node, begin);
    if (!node || !is_async)
        return node;
    script_node *whole = script_parser_node(parser, SCRIPT_UNSUPPORTED);
    whole->text = "an asynchronous comprehension";
    whole->a = node;
    return script_parser_finish(parser, whole, begin);
}

/* "NAME =" alone at the start of a line inside a bracket: an assignment that an open bracket swallowed. */
static bool at_swallowed_assignment(const script_parser *parser, base_span *name) {
    const char *data = parser->lexer.data;
    uint32_t end = parser->token.begin;
    while (end > 0 && data[end - 1] == ' ')
        end--;
    uint32_t begin = end;
    while (begin > 0 && ((unsigned char)data[begin - 1] >= 0x80 || data[begin - 1] == '_' ||
                         (data[begin - 1] >= '0' && data[begin - 1] <= '9') ||
                         ((data[begin - 1] | 0x20) >= 'a' && (data[begin - 1] | 0x20) <= 'z')))
        begin--;
    uint32_t line = begin;
    while (line > 0 && (data[line - 1] == ' ' || data[line - 1] == '\t'))
        line--;
    *name = script_lexer_span(&parser->lexer, begin, end);
    return begin < end && line > 0 && (data[line - 1] == '\n' || data[line - 1] == '\r') &&
           begin - line <= parser->lexer.line_column;
}

static bool expect_close(script_parser *parser, script_word_kind close, uint32_t open, const char *what) {
    if (script_parser_take(parser, close))
        return true;
    const char *found = script_parser_found(parser, &parser->token), *text = script_word_text(close);
    base_diagnostic *d;
    base_span name;
    bool assign = script_parser_at(parser, SCRIPT_WORD_ASSIGN);
    if (assign && at_swallowed_assignment(parser, &name))
        d = script_parser_error_at(parser, "T0113", name, "expected '%s' before this assignment", text),
        assign = false;
    else if (assign)
        d = script_parser_error(parser, "T0121", "'=' cannot stand in %s", what);
    else
        d = script_parser_error(parser, "T0120", "expected ',' or '%s' in %s but found %s", text, what,
                                found);
    if (d)
        base_note(parser->diagnostics, d, script_lexer_span(&parser->lexer, open, open + 1),
                  "the bracket is opened here");
    if (assign)
        script_parser_help(parser, d, "to compare, write ==");
    return false;
}

/* What a star stands before; nested ones go round script_parser_expression, so they count as levels here. */
static script_node *parse_starred_value(script_parser *parser) {
    if (!script_parser_enter(parser))
        return NULL;
    script_node *node = parse_binary(parser, 0);
    script_parser_leave(parser);
    return node;
}

/* "*a" or a named expression. */
script_node *script_parser_element(script_parser *parser) {
    if (!script_parser_at(parser, SCRIPT_WORD_STAR))
        return script_parser_named(parser);
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_STARRED);
    script_parser_advance(parser);
    node->a = parse_starred_value(parser);
    return node->a ? script_parser_finish(parser, node, begin) : NULL;
}

/* Elements up to and with the closing bracket, the first of them read already (or NULL). */
static bool parse_elements(script_parser *parser, script_node *node, script_node *first,
                           script_word_kind close, uint32_t open, const char *what) {
    if (first) {
        script_nodes_add(parser->arena, &node->items, first);
        if (!script_parser_at(parser, close) && !script_parser_at(parser, SCRIPT_WORD_COMMA))
            return expect_close(parser, close, open, what);
        script_parser_take(parser, SCRIPT_WORD_COMMA);
    }
    while (!script_parser_at(parser, close)) {
        script_node *element = script_parser_element(parser);
        if (!element)
            return false;
        script_nodes_add(parser->arena, &node->items, element);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA))
            break;
    }
    return expect_close(parser, close, open, what);
}

/* yield, yield from: kept so that the evaluator can name it. */
static script_node *parse_yield(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_UNSUPPORTED);
    node->text = "yield";
    script_parser_advance(parser);
    if (script_parser_take(parser, SCRIPT_WORD_FROM)) {
        node->a = script_parser_expression(parser);
        if (!node->a)
            return NULL;
    } else if (parser->token.kind != SCRIPT_TOKEN_NEWLINE && parser->token.kind != SCRIPT_TOKEN_END &&
               !script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND) &&
               !script_parser_at(parser, SCRIPT_WORD_SEMICOLON) &&
               !script_parser_at(parser, SCRIPT_WORD_ASSIGN)) {
        node->a = script_parser_tuple(parser);
        if (!node->a)
            return NULL;
    }
    return script_parser_finish(parser, node, begin);
}

script_node *script_parser_value(script_parser *parser) {
    return script_parser_at(parser, SCRIPT_WORD_YIELD) ? parse_yield(parser) : script_parser_tuple(parser);
}

static script_node *parse_round(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_parser_advance(parser);
    script_node *first = NULL;
    if (script_parser_at(parser, SCRIPT_WORD_YIELD)) {
        first = parse_yield(parser);
        return first && expect_close(parser, SCRIPT_WORD_CLOSE_ROUND, begin, "these parentheses") ? first
                                                                                                  : NULL;
    }
    if (!script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND)) {
        first = script_parser_element(parser);
        if (!first)
            return NULL;
        if (at_comprehension(parser)) {
            bool is_async = false;
            script_node *node = script_parser_node(parser, SCRIPT_GENERATOR);
            node->a = first;
            return parse_clauses(parser, node, &is_async) &&
                           expect_close(parser, SCRIPT_WORD_CLOSE_ROUND, begin, "this generator expression")
                       ? finish_comprehension(parser, node, begin, is_async)
                       : NULL;
        }
        if (!script_parser_at(parser, SCRIPT_WORD_COMMA)) {
            if (!expect_close(parser, SCRIPT_WORD_CLOSE_ROUND, begin, "these parentheses"))
                return NULL;
            if (first->kind != SCRIPT_STARRED)
                return first;
            script_parser_error_at(parser, "T0120", first->span, "'*' needs a tuple, list or call around it");
            return NULL;
        }
    }
    script_node *node = script_parser_node(parser, SCRIPT_TUPLE);
    return parse_elements(parser, node, first, SCRIPT_WORD_CLOSE_ROUND, begin, "this tuple")
               ? script_parser_finish(parser, node, begin)
               : NULL;
}

static script_node *parse_square(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_parser_advance(parser);
    script_node *node = script_parser_node(parser, SCRIPT_LIST), *first = NULL;
    if (!script_parser_at(parser, SCRIPT_WORD_CLOSE_SQUARE)) {
        first = script_parser_element(parser);
        if (!first)
            return NULL;
        if (at_comprehension(parser)) {
            bool is_async = false;
            node->kind = SCRIPT_LIST_COMPREHENSION;
            node->a = first;
            return parse_clauses(parser, node, &is_async) &&
                           expect_close(parser, SCRIPT_WORD_CLOSE_SQUARE, begin, "this list comprehension")
                       ? finish_comprehension(parser, node, begin, is_async)
                       : NULL;
        }
    }
    return parse_elements(parser, node, first, SCRIPT_WORD_CLOSE_SQUARE, begin, "this list")
               ? script_parser_finish(parser, node, begin)
               : NULL;
}

/* One "key: value" or "** value" of a dict display; key stays NULL for **. */
static bool parse_pair(script_parser *parser, script_node **key, script_node **value) {
    if (script_parser_take(parser, SCRIPT_WORD_DOUBLE_STAR)) {
        *value = parse_starred_value(parser);
        return *value != NULL;
    }
    if (!*key && !(*key = script_parser_expression(parser)))
        return false;
    if (!script_parser_expect(parser, SCRIPT_WORD_COLON, "after a dictionary's key"))
        return false;
    *value = script_parser_expression(parser);
    return *value != NULL;
}

static script_node *parse_dict(script_parser *parser, script_node *key, uint32_t begin) {
    script_node *node = script_parser_node(parser, SCRIPT_DICT), *value = NULL;
    bool is_async = false;
    if (!parse_pair(parser, &key, &value))
        return NULL;
    if (key && at_comprehension(parser)) {
        node->kind = SCRIPT_DICT_COMPREHENSION;
        node->a = key;
        node->b = value;
        return parse_clauses(parser, node, &is_async) &&
                       expect_close(parser, SCRIPT_WORD_CLOSE_CURLY, begin, "this dictionary comprehension")
                   ? finish_comprehension(parser, node, begin, is_async)
                   : NULL;
    }
    for (;;) {
        script_nodes_add(parser->arena, &node->items, key);
        script_nodes_add(parser->arena, &node->items, value);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA) ||
            script_parser_at(parser, SCRIPT_WORD_CLOSE_CURLY))
            break;
        key = value = NULL;
        if (!parse_pair(parser, &key, &value))
            return NULL;
    }
    return expect_close(parser, SCRIPT_WORD_CLOSE_CURLY, begin, "this dictionary")
               ? script_parser_finish(parser, node, begin)
               : NULL;
}

static script_node *parse_curly(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_parser_advance(parser);
    if (script_parser_at(parser, SCRIPT_WORD_CLOSE_CURLY)) {
        script_node *empty = script_parser_node(parser, SCRIPT_DICT);
        script_parser_advance(parser);
        return script_parser_finish(parser, empty, begin);
    }
    if (script_parser_at(parser, SCRIPT_WORD_DOUBLE_STAR))
        return parse_dict(parser, NULL, begin);
    script_node *first = script_parser_element(parser);
    if (!first)
        return NULL;
    if (script_parser_at(parser, SCRIPT_WORD_COLON) && first->kind != SCRIPT_STARRED)
        return parse_dict(parser, first, begin);
    script_node *node = script_parser_node(parser, SCRIPT_SET);
    if (at_comprehension(parser)) {
        bool is_async = false;
        node->kind = SCRIPT_SET_COMPREHENSION;
        node->a = first;
        return parse_clauses(parser, node, &is_async) &&
                       expect_close(parser, SCRIPT_WORD_CLOSE_CURLY, begin, "this set comprehension")
                   ? finish_comprehension(parser, node, begin, is_async)
                   : NULL;
    }
    return parse_elements(parser, node, first, SCRIPT_WORD_CLOSE_CURLY, begin, "this set")
               ? script_parser_finish(parser, node, begin)
               : NULL;
}

static script_node *parse_atom(script_parser *parser) {
    switch (parser->token.kind) {
    case SCRIPT_TOKEN_NAME:
        return parse_simple_atom(parser, SCRIPT_NAME);
    case SCRIPT_TOKEN_INTEGER:
    case SCRIPT_TOKEN_REAL:
    case SCRIPT_TOKEN_IMAGINARY:
        return script_parser_number(parser);
    case SCRIPT_TOKEN_STRING:
        return script_parser_strings(parser);
    case SCRIPT_TOKEN_WORD:
        break;
    default:
        expression_expected(parser);
        return NULL;
    }
    switch (parser->token.word) {
    case SCRIPT_WORD_TRUE:
        return parse_simple_atom(parser, SCRIPT_TRUE);
    case SCRIPT_WORD_FALSE:
        return parse_simple_atom(parser, SCRIPT_FALSE);
    case SCRIPT_WORD_NONE_VALUE:
        return parse_simple_atom(parser, SCRIPT_NONE);
    case SCRIPT_WORD_ELLIPSIS:
        return parse_simple_atom(parser, SCRIPT_ELLIPSIS);
    case SCRIPT_WORD_OPEN_ROUND:
        return parse_round(parser);
    case SCRIPT_WORD_OPEN_SQUARE:
        return parse_square(parser);
    case SCRIPT_WORD_OPEN_CURLY:
        return parse_curly(parser);
    default:
        expression_expected(parser);
        return NULL;
    }
}

/* ---- calls and subscripts ---- */

/* One argument; seen tells what stood before it. */
typedef struct argument_order {
    base_span keyword, double_star; /* the first of each kind, or no place */
} argument_order;

static script_node *parse_starred_argument(script_parser *parser, argument_order *order) {
    uint32_t begin = parser->token.begin;
    bool twice = script_parser_at(parser, SCRIPT_WORD_DOUBLE_STAR);
    script_node *node = script_parser_node(parser, twice ? SCRIPT_DOUBLE_STARRED : SCRIPT_STARRED);
    if (!twice && order->double_star.file) {
        script_parser_error(parser, "T0124", "'*' arguments come before '**' arguments");
        return NULL;
    }
    script_parser_advance(parser);
    node->a = script_parser_expression(parser);
    node = node->a ? script_parser_finish(parser, node, begin) : NULL;
    if (node && twice && !order->double_star.file)
        order->double_star = node->span;
    return node;
}

static script_node *parse_keyword_argument(script_parser *parser, argument_order *order, base_map *names) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_KEYWORD);
    node->text = script_parser_text(parser, &parser->token);
    node->name_span = script_parser_span(parser);
    uint64_t key = base_hash(node->text, strlen(node->text), 0);
    const script_node *earlier = base_map_get(names, key);
    if (earlier && strcmp(earlier->text, node->text) == 0) {
        base_diagnostic *d =
            script_parser_error(parser, "T0129", "the keyword argument '%s' is given twice", node->text);
        if (d)
            base_note(parser->diagnostics, d, earlier->name_span, "the first one stands here");
        return NULL;
    }
    if (!earlier)
        base_map_set(names, key, node);
    script_parser_advance(parser);
    script_parser_advance(parser);
    node->a = script_parser_expression(parser);
    node = node->a ? script_parser_finish(parser, node, begin) : NULL;
    if (node && !order->keyword.file)
        order->keyword = node->name_span;
    return node;
}

static bool check_positional(script_parser *parser, const script_node *node, const argument_order *order) {
    base_span earlier = order->double_star.file ? order->double_star : order->keyword;
    if (!earlier.file)
        return true;
    base_diagnostic *d = script_parser_error_at(parser, "T0124", node->span,
                                                "a positional argument stands after a keyword argument");
    if (d)
        base_note(parser->diagnostics, d, earlier, "the keyword argument stands here");
    script_parser_help(parser, d, "move it forward, or give it its name");
    return false;
}

/* A generator as a call's only argument takes the call's parentheses. */
static script_node *parse_bare_generator(script_parser *parser, script_node *first, uint32_t open,
                                         bool alone) {
    bool is_async = false;
    script_node *node = script_parser_node(parser, SCRIPT_GENERATOR);
    node->a = first;
    if (!parse_clauses(parser, node, &is_async))
        return NULL;
    if (!alone || !script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND)) {
        script_parser_error_at(parser, "T0120", first->span,
                               "a generator expression beside other arguments needs its own parentheses");
        return NULL;
    }
    script_parser_advance(parser);
    return finish_comprehension(parser, node, open, is_async);
}

bool script_parser_arguments(script_parser *parser, script_nodes *items, uint32_t begin) {
    argument_order order = {BASE_NO_SPAN, BASE_NO_SPAN};
    base_map *names = NULL;
    while (!script_parser_at(parser, SCRIPT_WORD_CLOSE_ROUND)) {
        script_node *argument;
        if (script_parser_at(parser, SCRIPT_WORD_STAR) || script_parser_at(parser, SCRIPT_WORD_DOUBLE_STAR)) {
            argument = parse_starred_argument(parser, &order);
        } else if (parser->token.kind == SCRIPT_TOKEN_NAME &&
                   script_parser_peek(parser)->word == SCRIPT_WORD_ASSIGN) {
            if (!names)
                names = base_map_create(parser->arena);
            argument = parse_keyword_argument(parser, &order, names);
        } else {
            argument = script_parser_named(parser);
            if (argument && at_comprehension(parser)) {
                argument = parse_bare_generator(parser, argument, begin, items->count == 0);
                if (argument)
                    script_nodes_add(parser->arena, items, argument);
                return argument != NULL;
            }
            if (argument && script_parser_at(parser, SCRIPT_WORD_ASSIGN)) {
                base_diagnostic *d =
                    script_parser_error_at(parser, "T0122", argument->span,
                                           "expected a keyword argument's name before '=' but found %s",
                                           script_node_name(argument->kind));
                script_parser_help(parser, d, "to compare, write ==");
                argument = NULL;
            }
            if (argument && !check_positional(parser, argument, &order))
                argument = NULL;
        }
        if (!argument)
            return false;
        script_nodes_add(parser->arena, items, argument);
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA))
            break;
    }
    return expect_close(parser, SCRIPT_WORD_CLOSE_ROUND, begin, "this call");
}

static bool at_slice_end(const script_parser *parser) {
    return script_parser_at(parser, SCRIPT_WORD_COMMA) ||
           script_parser_at(parser, SCRIPT_WORD_CLOSE_SQUARE) || script_parser_at(parser, SCRIPT_WORD_COLON);
}

static script_node *parse_index(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *first = NULL;
    if (!script_parser_at(parser, SCRIPT_WORD_COLON)) {
        first = script_parser_element(parser);
        if (!first || !script_parser_at(parser, SCRIPT_WORD_COLON))
            return first;
    }
    script_node *node = script_parser_node(parser, SCRIPT_SLICE);
    script_node **bounds[] = {&node->a, &node->b, &node->c};
    node->a = first;
    for (int i = 1; i < 3 && script_parser_take(parser, SCRIPT_WORD_COLON); i++)
        if (!at_slice_end(parser) && !(*bounds[i] = script_parser_expression(parser)))
            return NULL;
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_subscript(script_parser *parser) {
    uint32_t open = parser->token.begin;
    script_parser_advance(parser);
    uint32_t begin = parser->token.begin;
    script_node *first = parse_index(parser);
    if (!first)
        return NULL;
    if (script_parser_at(parser, SCRIPT_WORD_COMMA) || first->kind == SCRIPT_STARRED) {
        script_node *tuple = script_parser_node(parser, SCRIPT_TUPLE);
        script_nodes_add(parser->arena, &tuple->items, first);
        while (script_parser_take(parser, SCRIPT_WORD_COMMA) &&
               !script_parser_at(parser, SCRIPT_WORD_CLOSE_SQUARE)) {
            script_node *next = parse_index(parser);
            if (!next)
                return NULL;
            script_nodes_add(parser->arena, &tuple->items, next);
        }
        first = script_parser_finish(parser, tuple, begin);
    }
    return first && expect_close(parser, SCRIPT_WORD_CLOSE_SQUARE, open, "this subscript") ? first : NULL;
}

static script_node *parse_trailer(script_parser *parser, script_node *left, uint32_t begin) {
    script_node *node = NULL;
    uint32_t open = parser->token.begin;
    base_span span = script_parser_span(parser);
    if (script_parser_at(parser, SCRIPT_WORD_DOT)) {
        node = script_parser_node(parser, SCRIPT_ATTRIBUTE);
        script_parser_advance(parser);
        if (parser->token.kind != SCRIPT_TOKEN_NAME) {
            base_diagnostic *d =
                script_parser_error(parser, "T0120", "expected a name after '.' but found %s",
                                    script_parser_found(parser, &parser->token));
            if (parser->token.kind == SCRIPT_TOKEN_WORD && parser->token.word <= SCRIPT_WORD_YIELD)
                script_parser_help(
                    parser, d,
                    "a reserved word cannot be an attribute; the dialects add an underscore to it");
            return NULL;
        }
        node->text = script_parser_text(parser, &parser->token);
        node->name_span = script_parser_span(parser);
        script_parser_advance(parser);
    } else if (script_parser_at(parser, SCRIPT_WORD_OPEN_ROUND)) {
        node = script_parser_node(parser, SCRIPT_CALL);
        node->name_span = span;
        script_parser_advance(parser);
        if (!script_parser_arguments(parser, &node->items, open))
            return NULL;
    } else {
        node = script_parser_node(parser, SCRIPT_SUBSCRIPT);
        node->name_span = span;
        node->b = parse_subscript(parser);
        if (!node->b)
            return NULL;
    }
    node->a = left;
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_primary(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = parse_atom(parser);
    while (node &&
           (script_parser_at(parser, SCRIPT_WORD_DOT) || script_parser_at(parser, SCRIPT_WORD_OPEN_ROUND) ||
            script_parser_at(parser, SCRIPT_WORD_OPEN_SQUARE)))
        node = parse_trailer(parser, node, begin);
    return node;
}

/* ---- operators ---- */

typedef struct binary_level {
    uint8_t level; /* higher binds tighter */
    uint8_t op;
} binary_level;

/* clang-format off */
static const binary_level binary_levels[SCRIPT_WORD_COUNT] = {
    [SCRIPT_WORD_BAR] = {1, SCRIPT_OP_BITOR},
    [SCRIPT_WORD_CARET] = {2, SCRIPT_OP_BITXOR},
    [SCRIPT_WORD_AMPERSAND] = {3, SCRIPT_OP_BITAND},
    [SCRIPT_WORD_SHIFT_LEFT] = {4, SCRIPT_OP_SHL}, [SCRIPT_WORD_SHIFT_RIGHT] = {4, SCRIPT_OP_SHR},
    [SCRIPT_WORD_PLUS] = {5, SCRIPT_OP_ADD}, [SCRIPT_WORD_MINUS] = {5, SCRIPT_OP_SUB},
    [SCRIPT_WORD_STAR] = {6, SCRIPT_OP_MUL}, [SCRIPT_WORD_SLASH] = {6, SCRIPT_OP_DIV},
    [SCRIPT_WORD_DOUBLE_SLASH] = {6, SCRIPT_OP_FLOORDIV}, [SCRIPT_WORD_PERCENT] = {6, SCRIPT_OP_MOD},
    [SCRIPT_WORD_AT] = {6, SCRIPT_OP_MATMUL},
};
/* clang-format on */

/* "-x", "await x", "x ** y": ** binds tighter than a sign on its left, looser than one on its right. */
static script_node *parse_unary(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_operator op = script_parser_at(parser, SCRIPT_WORD_PLUS)    ? SCRIPT_OP_POSITIVE
                         : script_parser_at(parser, SCRIPT_WORD_MINUS) ? SCRIPT_OP_NEGATIVE
                         : script_parser_at(parser, SCRIPT_WORD_TILDE) ? SCRIPT_OP_INVERT
                                                                       : SCRIPT_OP_NONE;
    if (op != SCRIPT_OP_NONE) {
        script_node *node = script_parser_node(parser, SCRIPT_UNARY);
        node->op = op;
        node->name_span = script_parser_span(parser);
        if (!script_parser_enter(parser))
            return NULL;
        script_parser_advance(parser);
        node->a = parse_unary(parser);
        script_parser_leave(parser);
        return node->a ? script_parser_finish(parser, node, begin) : NULL;
    }
    script_node *left;
    if (script_parser_at(parser, SCRIPT_WORD_AWAIT)) {
        left = script_parser_node(parser, SCRIPT_UNSUPPORTED);
        left->text = "await";
        script_parser_advance(parser);
        left->a = parse_primary(parser);
        left = left->a ? script_parser_finish(parser, left, begin) : NULL;
    } else {
        left = parse_primary(parser);
    }
    if (!left || !script_parser_at(parser, SCRIPT_WORD_DOUBLE_STAR))
        return left;
    script_node *node = script_parser_node(parser, SCRIPT_BINARY);
    node->op = SCRIPT_OP_POW;
    node->name_span = script_parser_span(parser);
    node->a = left;
    if (!script_parser_enter(parser))
        return NULL;
    script_parser_advance(parser);
    node->b = parse_unary(parser);
    script_parser_leave(parser);
    return node->b ? script_parser_finish(parser, node, begin) : NULL;
}

/* The operators behind left, which starts at begin. */
static script_node *parse_binary_behind(script_parser *parser, script_node *left, uint32_t begin,
                                        int lowest) {
    while (left && binary_levels[parser->token.word].level > lowest) {
        binary_level found = binary_levels[parser->token.word];
        script_node *node = script_parser_node(parser, SCRIPT_BINARY);
        node->op = (script_operator)found.op;
        node->name_span = script_parser_span(parser);
        node->a = left;
        script_parser_advance(parser);
        node->b = parse_binary(parser, found.level);
        left = node->b ? script_parser_finish(parser, node, begin) : NULL;
    }
    return left;
}

static script_node *parse_binary(script_parser *parser, int lowest) {
    uint32_t begin = parser->token.begin;
    return parse_binary_behind(parser, parse_unary(parser), begin, lowest);
}

/* The comparison operator in hand; takes it. */
static script_operator take_comparison(script_parser *parser) {
    script_operator op;
    if (parser->token.kind != SCRIPT_TOKEN_WORD)
        return SCRIPT_OP_NONE;
    switch (parser->token.word) {
    case SCRIPT_WORD_EQ:
        op = SCRIPT_OP_EQ;
        break;
    case SCRIPT_WORD_NE:
        op = SCRIPT_OP_NE;
        break;
    case SCRIPT_WORD_LT:
        op = SCRIPT_OP_LT;
        break;
    case SCRIPT_WORD_LE:
        op = SCRIPT_OP_LE;
        break;
    case SCRIPT_WORD_GT:
        op = SCRIPT_OP_GT;
        break;
    case SCRIPT_WORD_GE:
        op = SCRIPT_OP_GE;
        break;
    case SCRIPT_WORD_IN:
        op = SCRIPT_OP_IN;
        break;
    case SCRIPT_WORD_IS:
        script_parser_advance(parser);
        return script_parser_take(parser, SCRIPT_WORD_NOT) ? SCRIPT_OP_IS_NOT : SCRIPT_OP_IS;
    case SCRIPT_WORD_NOT:
        if (script_parser_peek(parser)->word != SCRIPT_WORD_IN)
            return SCRIPT_OP_NONE;
        script_parser_advance(parser);
        op = SCRIPT_OP_NOT_IN;
        break;
    default:
        return SCRIPT_OP_NONE;
    }
    script_parser_advance(parser);
    return op;
}

static script_node *parse_comparison_behind(script_parser *parser, script_node *left, uint32_t begin) {
    script_node *node = NULL;
    if (!left)
        return NULL;
    BASE_VECTOR(script_operator) ops = {0};
    for (;;) {
        base_span span = script_parser_span(parser);
        script_operator op = take_comparison(parser);
        if (op == SCRIPT_OP_NONE)
            break;
        if (!node) {
            node = script_parser_node(parser, SCRIPT_COMPARE);
            node->name_span = span;
            script_nodes_add(parser->arena, &node->items, left);
        }
        base_vector_push(parser->arena, &ops, op);
        script_node *right = parse_binary(parser, 0);
        if (!right)
            return NULL;
        script_nodes_add(parser->arena, &node->items, right);
    }
    if (!node)
        return left;
    node->ops = ops.items;
    return script_parser_finish(parser, node, begin);
}

/* Can a word go on with an expression whose first operand was read? Most have one operand. */
static bool is_infix(script_word_kind word) {
    return binary_levels[word].level > 0 || (word >= SCRIPT_WORD_LT && word <= SCRIPT_WORD_NE) ||
           word == SCRIPT_WORD_IN || word == SCRIPT_WORD_IS || word == SCRIPT_WORD_NOT ||
           word == SCRIPT_WORD_AND || word == SCRIPT_WORD_OR;
}

static script_node *parse_inversion(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    if (!script_parser_at(parser, SCRIPT_WORD_NOT)) {
        script_node *left = parse_unary(parser);
        return !left || !is_infix(parser->token.word)
                   ? left
                   : parse_comparison_behind(parser, parse_binary_behind(parser, left, begin, 0), begin);
    }
    script_node *node = script_parser_node(parser, SCRIPT_UNARY);
    node->op = SCRIPT_OP_NOT;
    node->name_span = script_parser_span(parser);
    if (!script_parser_enter(parser))
        return NULL;
    script_parser_advance(parser);
    node->a = parse_inversion(parser);
    script_parser_leave(parser);
    return node->a ? script_parser_finish(parser, node, begin) : NULL;
}

/* "and" or "or" and more behind left. */
static script_node *parse_boolean_behind(script_parser *parser, script_node *left, uint32_t begin,
                                         script_word_kind word, script_operator op,
                                         script_node *(*parse)(script_parser *)) {
    if (!left || !script_parser_at(parser, word))
        return left;
    script_node *node = script_parser_node(parser, SCRIPT_BOOLEAN);
    node->op = op;
    node->name_span = script_parser_span(parser);
    script_nodes_add(parser->arena, &node->items, left);
    while (script_parser_take(parser, word)) {
        script_node *right = parse(parser);
        if (!right)
            return NULL;
        script_nodes_add(parser->arena, &node->items, right);
    }
    return script_parser_finish(parser, node, begin);
}

static script_node *parse_conjunction(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *left = parse_inversion(parser);
    return parse_boolean_behind(parser, left, begin, SCRIPT_WORD_AND, SCRIPT_OP_AND, parse_inversion);
}

static script_node *parse_disjunction(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *left = parse_inversion(parser);
    if (!left || !is_infix(parser->token.word))
        return left;
    left = parse_boolean_behind(parser, left, begin, SCRIPT_WORD_AND, SCRIPT_OP_AND, parse_inversion);
    return parse_boolean_behind(parser, left, begin, SCRIPT_WORD_OR, SCRIPT_OP_OR, parse_conjunction);
}

/* ---- lambda, conditional, := ---- */

static script_node *parse_lambda(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_LAMBDA);
    node->name_span = script_parser_span(parser);
    script_parser_advance(parser);
    if (!script_parser_parameters(parser, &node->parameters, SCRIPT_WORD_COLON) ||
        !script_parser_expect(parser, SCRIPT_WORD_COLON, "after a lambda's parameters"))
        return NULL;
    node->a = script_parser_expression(parser);
    return node->a ? script_parser_finish(parser, node, begin) : NULL;
}

static script_node *parse_conditional(script_parser *parser) {
    uint32_t begin = parser->token.begin;
    script_node *value = parse_disjunction(parser);
    if (!value || !script_parser_at(parser, SCRIPT_WORD_IF))
        return value;
    script_node *node = script_parser_node(parser, SCRIPT_CONDITIONAL);
    node->name_span = script_parser_span(parser);
    script_parser_advance(parser);
    node->a = value;
    node->b = parse_disjunction(parser);
    if (!node->b)
        return NULL;
    if (!script_parser_at(parser, SCRIPT_WORD_ELSE)) {
        base_diagnostic *d =
            script_parser_error(parser, "T0120", "expected 'else' after the condition but found %s",
                                script_parser_found(parser, &parser->token));
        script_parser_help(parser, d, "a choice is written: a if condition else b");
        return NULL;
    }
    script_parser_advance(parser);
    node->c = script_parser_expression(parser);
    return node->c ? script_parser_finish(parser, node, begin) : NULL;
}

script_node *script_parser_expression(script_parser *parser) {
    if (!script_parser_enter(parser))
        return NULL;
    script_node *node =
        script_parser_at(parser, SCRIPT_WORD_LAMBDA) ? parse_lambda(parser) : parse_conditional(parser);
    script_parser_leave(parser);
    return node;
}

script_node *script_parser_named(script_parser *parser) {
    if (parser->token.kind != SCRIPT_TOKEN_NAME || script_parser_peek(parser)->word != SCRIPT_WORD_WALRUS)
        return script_parser_expression(parser);
    uint32_t begin = parser->token.begin;
    script_node *node = script_parser_node(parser, SCRIPT_NAMED);
    node->text = script_parser_text(parser, &parser->token);
    node->name_span = script_parser_span(parser);
    script_parser_advance(parser);
    script_parser_advance(parser);
    node->a = script_parser_expression(parser);
    return node->a ? script_parser_finish(parser, node, begin) : NULL;
}

/* ---- tuples without brackets ---- */

/* What can follow a trailing comma of a tuple without brackets. */
static bool at_tuple_end(const script_parser *parser) {
    if (parser->token.kind == SCRIPT_TOKEN_NEWLINE || parser->token.kind == SCRIPT_TOKEN_END)
        return true;
    switch (parser->token.kind == SCRIPT_TOKEN_WORD ? parser->token.word : SCRIPT_WORD_NONE) {
    case SCRIPT_WORD_ASSIGN:
    case SCRIPT_WORD_CLOSE_ROUND:
    case SCRIPT_WORD_CLOSE_SQUARE:
    case SCRIPT_WORD_CLOSE_CURLY:
    case SCRIPT_WORD_COLON:
    case SCRIPT_WORD_SEMICOLON:
    case SCRIPT_WORD_IN:
    case SCRIPT_WORD_BANG:
        return true;
    default:
        return parser->token.word >= SCRIPT_WORD_PLUS_ASSIGN && parser->token.word < SCRIPT_WORD_COUNT;
    }
}

static script_node *parse_bare_tuple(script_parser *parser, script_node *(*parse)(script_parser *)) {
    uint32_t begin = parser->token.begin;
    script_node *first = parse(parser);
    if (!first || !script_parser_at(parser, SCRIPT_WORD_COMMA))
        return first;
    script_node *tuple = script_parser_node(parser, SCRIPT_TUPLE);
    script_nodes_add(parser->arena, &tuple->items, first);
    while (script_parser_take(parser, SCRIPT_WORD_COMMA) && !at_tuple_end(parser)) {
        script_node *next = parse(parser);
        if (!next)
            return NULL;
        script_nodes_add(parser->arena, &tuple->items, next);
    }
    return script_parser_finish(parser, tuple, begin);
}

static script_node *parse_plain_element(script_parser *parser) {
    return script_parser_at(parser, SCRIPT_WORD_STAR) ? script_parser_element(parser)
                                                      : script_parser_expression(parser);
}

script_node *script_parser_tuple(script_parser *parser) {
    return parse_bare_tuple(parser, parse_plain_element);
}

static script_node *parse_target(script_parser *parser) {
    return script_parser_at(parser, SCRIPT_WORD_STAR) ? script_parser_element(parser)
                                                      : parse_binary(parser, 0);
}

script_node *script_parser_targets(script_parser *parser) {
    return parse_bare_tuple(parser, parse_target);
}

bool script_parser_check_target(script_parser *parser, const script_node *node, const char *what,
                                bool starred) {
    switch (node->kind) {
    case SCRIPT_NAME:
    case SCRIPT_ATTRIBUTE:
    case SCRIPT_SUBSCRIPT:
        return true;
    case SCRIPT_STARRED:
        if (starred)
            return script_parser_check_target(parser, node->a, what, false);
        script_parser_error_at(parser, "T0122", node->span, "a starred target stands in a list or tuple");
        return false;
    case SCRIPT_TUPLE:
    case SCRIPT_LIST: {
        const script_node *star = NULL;
        for (size_t i = 0; i < node->items.count; i++) {
            const script_node *item = node->items.items[i];
            if (!script_parser_check_target(parser, item, what, true))
                return false;
            if (item->kind == SCRIPT_STARRED && star) {
                script_parser_error_at(parser, "T0122", item->span, "only one target can be starred");
                return false;
            }
            star = item->kind == SCRIPT_STARRED ? item : star;
        }
        return true;
    }
    default: {
        base_diagnostic *d = script_parser_error_at(
            parser, "T0122", node->span, "cannot %s %s; expected a name, an attribute or a subscript", what,
            script_node_name(node->kind));
        if (script_parser_at(parser, SCRIPT_WORD_ASSIGN))
            script_parser_help(parser, d, "to compare, write ==");
        return false;
    }
    }
}
