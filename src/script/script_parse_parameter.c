/* SPDX-License-Identifier: Apache-2.0
 * Parameters of functions and lambdas: names, annotations, defaults, and the order Python asks for. */
#include "script/script_parser.h"
#include <string.h>

static bool add_parameter(script_parser *parser, script_nodes *parameters, script_node *parameter,
                          base_map *names) {
    uint64_t key = base_hash(parameter->text, strlen(parameter->text), 0);
    const script_node *earlier = base_map_get(names, key);
    script_nodes_add(parser->arena, parameters, parameter);
    if (!earlier)
        base_map_set(names, key, parameter);
    if (!earlier || strcmp(earlier->text, parameter->text) != 0)
        return true;
    base_diagnostic *d = script_parser_error_at(parser, "T0123", parameter->name_span,
                                                "the parameter '%s' is declared twice", parameter->text);
    if (d)
        base_note(parser->diagnostics, d, earlier->name_span, "the first one stands here");
    return false;
}

/* name[: annotation][= default], with stars before it taken already. */
static script_node *parse_parameter(script_parser *parser, script_operator op, bool annotated) {
    uint32_t begin = parser->token.begin;
    if (parser->token.kind != SCRIPT_TOKEN_NAME) {
        base_diagnostic *d = script_parser_error(parser, "T0120", "expected a parameter's name but found %s",
                                                 script_parser_found(parser, &parser->token));
        if (parser->token.kind == SCRIPT_TOKEN_WORD && parser->token.word <= SCRIPT_WORD_YIELD)
            script_parser_help(parser, d, "a reserved word cannot be a name");
        return NULL;
    }
    script_node *node = script_parser_node(parser, SCRIPT_PARAMETER);
    node->op = op;
    node->text = script_parser_text(parser, &parser->token);
    node->name_span = script_parser_span(parser);
    script_parser_advance(parser);
    if (annotated && script_parser_take(parser, SCRIPT_WORD_COLON)) {
        bool starred = op == SCRIPT_PARAMETER_STAR && script_parser_at(parser, SCRIPT_WORD_STAR);
        node->a = starred ? script_parser_element(parser) : script_parser_expression(parser);
        if (!node->a)
            return NULL;
    }
    node = script_parser_finish(parser, node, begin); /* without the default, as in Python's tree */
    if (!node || !script_parser_at(parser, SCRIPT_WORD_ASSIGN))
        return node;
    if (op == SCRIPT_PARAMETER_STAR || op == SCRIPT_PARAMETER_DOUBLE_STAR) {
        script_parser_error(parser, "T0125", "a '%s' parameter has no default value",
                            op == SCRIPT_PARAMETER_STAR ? "*" : "**");
        return NULL;
    }
    script_parser_advance(parser);
    node->b = script_parser_expression(parser);
    if (node->b && node->b->height >= node->height)
        node->height = node->b->height + 1;
    return node->b ? node : NULL;
}

typedef struct parameter_state {
    bool keyword_only, bare_star, slash, double_star;
    const script_node *defaulted; /* the first plain parameter with a default */
} parameter_state;

static bool take_slash(script_parser *parser, script_nodes *parameters, parameter_state *state) {
    if (state->slash || state->keyword_only || parameters->count == 0) {
        script_parser_error(parser, "T0125",
                            "'/' stands once, after the positional parameters and before '*'");
        return false;
    }
    state->slash = true;
    for (size_t i = 0; i < parameters->count; i++)
        parameters->items[i]->op = SCRIPT_PARAMETER_POSITIONAL_ONLY;
    script_parser_advance(parser);
    return true;
}

static bool check_default(script_parser *parser, const script_node *node, parameter_state *state) {
    if (node->op != SCRIPT_PARAMETER_PLAIN)
        return true;
    if (node->b && !state->defaulted)
        state->defaulted = node;
    if (node->b || !state->defaulted)
        return true;
    base_diagnostic *d =
        script_parser_error_at(parser, "T0125", node->name_span,
                               "the parameter '%s' without a default follows one with a default", node->text);
    if (d)
        base_note(parser->diagnostics, d, state->defaulted->name_span, "this one has a default");
    return false;
}

bool script_parser_parameters(script_parser *parser, script_nodes *parameters, script_word_kind close) {
    parameter_state state = {0};
    base_map *names = base_map_create(parser->arena);
    bool annotated = close != SCRIPT_WORD_COLON;
    while (!script_parser_at(parser, close)) {
        if (state.double_star) {
            script_parser_error(parser, "T0125", "nothing may follow the '**' parameter");
            return false;
        }
        script_operator op = state.keyword_only ? SCRIPT_PARAMETER_KEYWORD_ONLY : SCRIPT_PARAMETER_PLAIN;
        bool named = true;
        if (script_parser_at(parser, SCRIPT_WORD_SLASH)) {
            if (!take_slash(parser, parameters, &state))
                return false;
            named = false;
        } else if (script_parser_at(parser, SCRIPT_WORD_STAR)) {
            if (state.keyword_only) {
                script_parser_error(parser, "T0125", "'*' stands once among the parameters");
                return false;
            }
            script_parser_advance(parser);
            state.keyword_only = true;
            state.bare_star = script_parser_at(parser, SCRIPT_WORD_COMMA) || script_parser_at(parser, close);
            named = !state.bare_star;
            op = SCRIPT_PARAMETER_STAR;
        } else if (script_parser_take(parser, SCRIPT_WORD_DOUBLE_STAR)) {
            state.double_star = true;
            op = SCRIPT_PARAMETER_DOUBLE_STAR;
        }
        if (named) {
            state.bare_star = state.bare_star && op != SCRIPT_PARAMETER_KEYWORD_ONLY;
            script_node *parameter = parse_parameter(parser, op, annotated);
            if (!parameter || !check_default(parser, parameter, &state) ||
                !add_parameter(parser, parameters, parameter, names))
                return false;
        }
        if (!script_parser_take(parser, SCRIPT_WORD_COMMA))
            break;
    }
    if (state.bare_star) {
        script_parser_error(parser, "T0125", "expected a parameter after '*' but found %s",
                            script_parser_found(parser, &parser->token));
        return false;
    }
    return true;
}
