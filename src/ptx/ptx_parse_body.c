/* SPDX-License-Identifier: Apache-2.0
 * The body of a function: declarations, labels, jump tables and nested scopes; each instruction is read by
 * ptx_parse_instruction. */
#include "ptx/ptx_parse.h"
#include <string.h>

/* Is the name at the current token followed by ':'? Only blanks may stand between. */
static bool is_label(const ptx_parser *parser) {
    const ptx_lexer *lex = &parser->lex;
    uint32_t p = lex->token.end;
    while (p < lex->size && (lex->data[p] == ' ' || lex->data[p] == '\t')) {
        p++;
    }
    return p < lex->size && lex->data[p] == ':' && !(p + 1 < lex->size && lex->data[p + 1] == ':');
}

static void parse_branch_targets(ptx_parser *parser, ptx_table_declaration *table) {
    size_t first = parser->pending.count;
    do {
        base_span span = ptx_parse_here(parser);
        const char *name = ptx_parse_name(parser, "a label");
        if (name == NULL) {
            break;
        }
        base_vector_push(parser->arena, &table->labels, NULL);
        base_vector_push(parser->arena, &parser->pending, (ptx_pending){.name = name, .span = span});
    } while (ptx_parse_accept(parser, ','));
    /* The vector has stopped moving: now the slots have addresses. */
    for (size_t i = 0; i < table->labels.count && first + i < parser->pending.count; i++) {
        parser->pending.items[first + i].slot = &table->labels.items[i];
    }
}

static void parse_call_targets(ptx_parser *parser, ptx_table_declaration *table) {
    do {
        base_span span = ptx_parse_here(parser);
        const char *name = ptx_parse_name(parser, "a function");
        if (name == NULL) {
            break;
        }
        ptx_function *function = base_map_get(parser->module->function_index, BASE_KEY(name));
        if (function == NULL) {
            base_report(parser->diagnostics, BASE_ERROR, "T0512", span, "function '%s' is not declared",
                        name);
        } else {
            base_vector_push(parser->arena, &table->functions, function);
        }
    } while (ptx_parse_accept(parser, ','));
}

/* .callprototype (returns) _ (parameters) [.noreturn] */
static void parse_prototype(ptx_parser *parser, ptx_table_declaration *table) {
    ptx_function *prototype = BASE_NEW(parser->arena, ptx_function);
    ptx_scope *scope = parser->scope;
    prototype->name = "_";
    table->prototype = prototype;
    parser->scope = NULL; /* the names of a prototype's parameters mean nothing */
    if (ptx_parse_is(parser, '(')) {
        ptx_parse_parameters(parser, prototype, true);
    }
    if (ptx_parse_name(parser, "'_' in the function's place") != NULL && ptx_parse_is(parser, '(')) {
        ptx_parse_parameters(parser, prototype, false);
    }
    parser->scope = scope;
    while (parser->lex.token.kind == PTX_TOKEN_WORD) {
        prototype->noreturn = prototype->noreturn || ptx_parse_word_is(parser, ".noreturn");
        ptx_lexer_next(&parser->lex);
        if (parser->lex.token.kind == PTX_TOKEN_INT) {
            ptx_lexer_next(&parser->lex); /* .abi_preserve N */
        }
    }
}

static void declare_label(ptx_parser *parser, const char *name, base_span span) {
    ptx_function *function = parser->function;
    ptx_label *label = BASE_NEW(parser->arena, ptx_label);
    /* Labels have a name space of their own: "L" the label and "L" the register may meet. */
    label->name = name;
    const char *key = base_name_of(parser->module->names, base_arena_format(parser->arena, "%s:", name));
    const char *unique = ptx_scope_unique(parser, key);
    if (unique != key) {
        size_t size = strlen(name);
        label->name = base_name_of(parser->module->names,
                                   base_arena_format(parser->arena, "%s%s", name, unique + size + 1));
    }
    label->target = (uint32_t)function->instructions.count;
    if (ptx_scope_declare_target(parser, name, (ptx_symbol){.kind = PTX_SYMBOL_LABEL, .of.label = label},
                                 span)) {
        base_vector_push(parser->arena, &function->labels, label);
    }
}

static void declare_table(ptx_parser *parser, const char *name, base_span span) {
    ptx_function *function = parser->function;
    ptx_table_declaration *table = BASE_NEW(parser->arena, ptx_table_declaration);
    const char *key = base_name_of(parser->module->names, base_arena_format(parser->arena, "%s:", name));
    const char *unique = ptx_scope_unique(parser, key);
    table->name = name;
    if (unique != key) {
        table->name = base_name_of(parser->module->names,
                                   base_arena_format(parser->arena, "%s%s", name, unique + strlen(name) + 1));
    }
    table->position = (uint32_t)function->instructions.count;
    if (ptx_parse_word_is(parser, ".branchtargets")) {
        table->kind = PTX_TABLE_BRANCH;
        ptx_lexer_next(&parser->lex);
        parse_branch_targets(parser, table);
    } else if (ptx_parse_word_is(parser, ".calltargets")) {
        table->kind = PTX_TABLE_CALL;
        ptx_lexer_next(&parser->lex);
        parse_call_targets(parser, table);
    } else {
        table->kind = PTX_TABLE_PROTOTYPE;
        ptx_lexer_next(&parser->lex);
        parse_prototype(parser, table);
    }
    if (ptx_scope_declare_target(parser, name, (ptx_symbol){.kind = PTX_SYMBOL_TABLE, .of.table = table},
                                 span)) {
        base_vector_push(parser->arena, &function->tables, table);
    }
    if (!ptx_parse_expect(parser, ';', "after the list")) {
        ptx_parse_skip_statement(parser);
    }
}

static void parse_label(ptx_parser *parser) {
    base_span span = ptx_parse_here(parser);
    const char *name = ptx_parse_name(parser, "a label");
    ptx_parse_accept(parser, ':');
    if (ptx_parse_word_is(parser, ".branchtargets") || ptx_parse_word_is(parser, ".calltargets") ||
        ptx_parse_word_is(parser, ".callprototype")) {
        declare_table(parser, name, span);
    } else {
        declare_label(parser, name, span);
    }
}

static void open_scope(ptx_parser *parser) {
    base_span span = ptx_parse_here(parser);
    if (parser->depth >= PTX_DEPTH_MAX) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", span, "{} scopes nest deeper than %d levels",
                    PTX_DEPTH_MAX);
        ptx_parse_skip_block(parser);
        return;
    }
    ptx_lexer_next(&parser->lex);
    parser->depth++;
    ptx_scope_open(parser, span);
}

static void parse_statement(ptx_parser *parser) {
    const ptx_token *token = &parser->lex.token;
    ptx_space space;
    if (token->kind == PTX_TOKEN_WORD) {
        if (ptx_parse_line_directive(parser)) {
            return;
        }
        if (ptx_parse_space(parser, &space)) {
            ptx_parse_variables(parser, PTX_LINK_NONE);
            return;
        }
        base_report(parser->diagnostics, BASE_ERROR, "T0507", ptx_parse_here(parser),
                    "%s is no directive of a function body; expected one like .reg, or an instruction",
                    ptx_parse_token_text(parser));
        ptx_lexer_next(&parser->lex);
        ptx_parse_skip_statement(parser);
    } else if (token->kind == PTX_TOKEN_NAME && is_label(parser)) {
        parse_label(parser);
    } else if (token->kind == PTX_TOKEN_NAME || ptx_parse_is(parser, '@')) {
        ptx_parse_instruction(parser);
    } else {
        base_report(parser->diagnostics, BASE_ERROR, "T0504", ptx_parse_here(parser),
                    "expected an instruction, a label or a directive, found %s",
                    ptx_parse_token_text(parser));
        ptx_lexer_next(&parser->lex);
        ptx_parse_skip_statement(parser);
    }
}

/* A function that begins inside another one: the '}' before it is missing. */
static bool begins_function(const ptx_parser *parser) {
    return parser->lex.token.line_start &&
           (ptx_parse_word_is(parser, ".visible") || ptx_parse_word_is(parser, ".entry") ||
            ptx_parse_word_is(parser, ".func") || ptx_parse_word_is(parser, ".extern"));
}

void ptx_parse_body(ptx_parser *parser) {
    base_span open = ptx_parse_here(parser);
    ptx_lexer_next(&parser->lex);
    parser->depth = 1;
    parser->loc_file = parser->loc_line = parser->loc_column = 0;
    while (parser->depth > 0) {
        if (parser->lex.token.kind == PTX_TOKEN_END || begins_function(parser)) {
            base_span scope = parser->depth > 1 ? parser->scope->open : open;
            base_diagnostic *d = base_report(parser->diagnostics, BASE_ERROR, "T0505", ptx_parse_here(parser),
                                             "the body of '%s' is not closed: expected '}', found %s",
                                             parser->function->name, ptx_parse_token_text(parser));
            base_note(parser->diagnostics, d, scope, "opened here");
            while (parser->depth > 0) {
                ptx_scope_close(parser);
                parser->depth--;
            }
            return;
        }
        if (ptx_parse_is(parser, '{')) {
            open_scope(parser);
        } else if (ptx_parse_accept(parser, '}')) {
            ptx_scope_close(parser);
            parser->depth--;
        } else if (!ptx_parse_accept(parser, ';')) {
            parse_statement(parser);
        }
    }
}
