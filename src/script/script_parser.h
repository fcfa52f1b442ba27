/* SPDX-License-Identifier: Apache-2.0
 * What the parser's files share: tokens in hand, limits, reports. Private to script/. */
#ifndef TIRC_SCRIPT_SCRIPT_PARSER_H
#define TIRC_SCRIPT_SCRIPT_PARSER_H
#include "script/script_ast.h"
#include "script/script_lex.h"

/* A node takes about 70 bytes; a script is written by hand, tables belong into tensors. */
#define SCRIPT_NODES_MOST 1000000u

typedef struct script_parser {
    base_arena *arena;
    base_names *names;
    base_diagnostics *diagnostics;
    script_lexer lexer;
    script_token token; /* in hand */
    script_token ahead; /* behind it, when has_ahead */
    bool has_ahead;
    uint32_t last_end; /* of the last token taken that is not white space */
    uint32_t depth, depth_limit;
    uint32_t *nodes; /* made so far, shared with the parsers of replacement fields */
    uint32_t functions, loops, classes_around; /* that stand around the statement in hand */
} script_parser;

void script_parser_start(script_parser *parser, base_arena *arena, base_diagnostics *diagnostics,
                         uint32_t file, const script_options *options, uint32_t *nodes);
void script_parser_advance(script_parser *parser);
const script_token *script_parser_peek(script_parser *parser);
static inline bool script_parser_at(const script_parser *parser, script_word_kind word) {
    return parser->token.word == word; /* other tokens have no word */
}
/* Takes the word if it is in hand. */
bool script_parser_take(script_parser *parser, script_word_kind word);
/* The same, reporting "expected WORD what" otherwise. */
bool script_parser_expect(script_parser *parser, script_word_kind word, const char *where);
static inline base_span script_parser_span(const script_parser *parser) { /* of the token in hand */
    return script_lexer_span(&parser->lexer, parser->token.begin, parser->token.end);
}
const char *script_parser_text(script_parser *parser, const script_token *token);
bool script_parser_text_is(const script_parser *parser, const script_token *token, const char *text);
/* "the name 'x'", "'+'", "the end of the line": what a message says was found. */
const char *script_parser_found(script_parser *parser, const script_token *token);
/* Reports at the token in hand; an open bracket before a new statement is reported instead. Returns NULL when
 * the line has a report already. */
base_diagnostic *script_parser_error(script_parser *parser, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
base_diagnostic *script_parser_error_at(script_parser *parser, const char *code, base_span span,
                                        const char *format, ...) __attribute__((format(printf, 4, 5)));
void script_parser_help(script_parser *parser, base_diagnostic *diagnostic, const char *text);
/* The token in hand starts a line inside brackets, but reads like a new statement. */
bool script_parser_at_new_statement(script_parser *parser);
/* For trying one reading of the text before another. */
script_parser script_parser_save(script_parser *parser);

script_node *script_parser_node(script_parser *parser, script_node_kind kind);
/* The leaf again as a kind with more fields. */
script_node *script_parser_widen(script_parser *parser, const script_node *leaf, script_node_kind kind);
/* Sets span (begin to the last token taken) and height; NULL after reporting one that is too deep. */
script_node *script_parser_finish(script_parser *parser, script_node *node, uint32_t begin);
bool script_parser_enter(script_parser *parser); /* one level down; false after reporting too many */
void script_parser_leave(script_parser *parser);

/* Each returns NULL after reporting. */
script_node *script_parser_expression(script_parser *parser); /* no tuple, no :=, no star */
script_node *script_parser_named(script_parser *parser);      /* with := */
script_node *script_parser_tuple(script_parser *parser);      /* a, *b, c */
script_node *script_parser_element(script_parser *parser);    /* *a, or with := */
script_node *script_parser_value(script_parser *parser);      /* tuple or yield: right sides */
script_node *script_parser_targets(script_parser *parser);    /* for TARGETS in */
script_node *script_parser_strings(script_parser *parser);    /* the string literals in hand, joined */
script_node *script_parser_number(script_parser *parser);
/* a call's arguments after "(" up to and with ")"; begin of "(" */
bool script_parser_arguments(script_parser *parser, script_nodes *items, uint32_t begin);
/* parameters up to the closing word, which is left in hand */
bool script_parser_parameters(script_parser *parser, script_nodes *parameters, script_word_kind close);
/* May it be assigned to? Reports if not. what: "assign to", "delete". */
bool script_parser_check_target(script_parser *parser, const script_node *node, const char *what,
                                bool starred);
#endif
