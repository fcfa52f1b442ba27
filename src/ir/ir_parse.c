/* SPDX-License-Identifier: Apache-2.0
 * Modules and the heads of functions in the text form (docs/ir.md): parameters, launch, registers, and the
 * things that only origins mention. */
#include "ir/ir_parse.h"
#include <string.h>

static const char *name_of(ir_parser *parser, base_text name) {
    return base_name(parser->module->names, name.data, name.size);
}

/* ---- parameters ---- */

static void skip_parameter(ir_parser *parser) {
    int open = 0;
    while (parser->token.kind != IR_TOKEN_NEWLINE && parser->token.kind != IR_TOKEN_END) {
        if (ir_parser_is_sign(parser, "(") || ir_parser_is_sign(parser, "["))
            open++;
        if (ir_parser_is_sign(parser, ")") || ir_parser_is_sign(parser, "]"))
            open--;
        if (open < 0 || (open == 0 && ir_parser_is_sign(parser, ",")))
            return;
        ir_parser_advance(parser);
    }
}

/* Shapes may name scalars that stand later, so a first round over the list declares the scalars alone. */
static void declare_scalars(ir_parser *parser) {
    ir_lexer lexer = parser->lexer;
    ir_token token = parser->token;
    base_text name;
    base_span span;
    ir_type type;
    parser->quiet = parser->lexer.quiet = true;
    while (!ir_parser_is_sign(parser, ")") && parser->token.kind != IR_TOKEN_NEWLINE &&
           parser->token.kind != IR_TOKEN_END) {
        if (ir_parser_new_name(parser, &name, &span) && ir_parser_take_sign(parser, ":") &&
            ir_parser_type(parser, &type) && !ir_parser_is_sign(parser, "[")) {
            ir_var *var = ir_var_create(parser->module, name_of(parser, name), type, IR_VAR_PARAMETER, span);
            if (!ir_parser_find(parser, name))
                ir_parser_declare(parser, name, span, var, NULL);
        }
        skip_parameter(parser);
        if (!ir_parser_take_sign(parser, ","))
            break;
    }
    parser->lexer = lexer;
    parser->token = token;
    parser->failed = parser->quiet = false;
}

static bool parse_parameter(ir_parser *parser, ir_function *function) {
    base_text name;
    base_span span;
    ir_type type;
    ir_parameter parameter = {0};
    if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
        !ir_parser_type(parser, &type))
        return false;
    parameter.name = name_of(parser, name);
    ir_symbol *known = ir_parser_find(parser, name);
    if (ir_parser_is_sign(parser, "[")) {
        ir_tensor_type tensor;
        if (!ir_parser_tensor_type(parser, type, &tensor))
            return false;
        parameter.tensor =
            ir_tensor_create(parser->module, parameter.name, &tensor, IR_TENSOR_PARAMETER, NULL, span);
        ir_parser_declare(parser, name, span, NULL, parameter.tensor);
    } else if (known && known->var && known->span.begin == span.begin) {
        parameter.var = known->var;
    } else { /* the name was taken: declaring it again says so */
        parameter.var = ir_var_create(parser->module, parameter.name, type, IR_VAR_PARAMETER, span);
        ir_parser_declare(parser, name, span, parameter.var, NULL);
    }
    base_vector_push(parser->module->arena, &function->parameters, parameter);
    return true;
}

static bool parse_sizes(ir_parser *parser) {
    base_text name;
    base_span span;
    ir_type type;
    if (!ir_parser_take_sign(parser, "["))
        return true;
    do {
        if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
            !ir_parser_type(parser, &type))
            return false;
        ir_parser_declare(parser, name, span,
                          ir_var_create(parser->module, name_of(parser, name), type, IR_VAR_PARAMETER, span),
                          NULL);
    } while (ir_parser_take_sign(parser, ","));
    return ir_parser_need_sign(parser, "]");
}

static bool parse_signature(ir_parser *parser, ir_function *function) {
    if (!parse_sizes(parser) || !ir_parser_need_sign(parser, "("))
        return false;
    declare_scalars(parser);
    while (!ir_parser_is_sign(parser, ")"))
        if ((function->parameters.count && !ir_parser_need_sign(parser, ",")) ||
            !parse_parameter(parser, function))
            return false;
    ir_parser_advance(parser);
    return ir_parser_need_sign(parser, ":") && ir_parser_end_line(parser);
}

/* ---- launch ---- */

static bool parse_triple(ir_parser *parser, const ir_expr **triple) {
    if (!ir_parser_need_sign(parser, "="))
        return false;
    for (int i = 0; i < 3; i++)
        if (!ir_parser_need_sign(parser, i ? "," : "(") || !(triple[i] = ir_parser_expr(parser, IR_BIND_ANY)))
            return false;
    return ir_parser_need_sign(parser, ")");
}

static bool parse_limit(ir_parser *parser, int64_t *value) {
    return ir_parser_need_sign(parser, "=") && ir_parser_count(parser, 1, INT32_MAX, "this limit", value);
}

static bool parse_number(ir_parser *parser, int64_t lowest, int64_t highest, const char *what, bool *given,
                         int32_t *out) {
    int64_t value;
    if (!ir_parser_need_sign(parser, "="))
        return false;
    bool negative = ir_parser_take_sign(parser, "-");
    if (!ir_parser_count(parser,
                         negative     ? 0
                         : lowest < 0 ? 0
                                      : lowest,
                         negative ? -lowest : highest, what, &value))
        return false;
    *given = true;
    *out = (int32_t)(negative ? -value : value);
    return true;
}

/* One of the names of an enumeration, counted from 1. */
static bool parse_choice(ir_parser *parser, const char *(*name)(int), const char *wanted, int *out) {
    if (!ir_parser_need_sign(parser, "="))
        return false;
    for (int i = 1; name(i); i++)
        if (ir_parser_take_word(parser, name(i))) {
            *out = i;
            return true;
        }
    return ir_parser_expected(parser, wanted) != NULL;
}
static const char *policy_name(int value) {
    return ir_cluster_policy_name((ir_cluster_policy)value);
}
static const char *size_name(int value) {
    return ir_cluster_size_name((ir_cluster_size)value);
}

static const char *domain_name(int value) {
    return ir_sync_domain_name((ir_sync_domain)value);
}

/* (n, ...): as many numbers as there is room for. */
static bool parse_counts(ir_parser *parser, int64_t lowest, int64_t highest, const char *what, int32_t *out,
                         size_t count) {
    int64_t value;
    if (!ir_parser_need_sign(parser, "="))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!ir_parser_need_sign(parser, i ? "," : "(") ||
            !ir_parser_count(parser, lowest, highest, what, &value))
            return false;
        out[i] = (int32_t)value;
    }
    return ir_parser_need_sign(parser, ")");
}

static bool parse_launch_option(ir_parser *parser, ir_launch *launch, size_t which) {
    int choice = 0;
    switch (which) {
    case 8:
        return launch->programmatic = true;
    case 9:
        return parse_number(parser, INT32_MIN, INT32_MAX, "the priority", &launch->has_priority,
                            &launch->priority);
    case 10:
        return parse_number(parser, 0, 100, "the carve-out", &launch->has_carveout, &launch->carveout);
    case 11:
        if (!parse_choice(parser, policy_name, "default, spread or load_balancing", &choice))
            return false;
        launch->cluster_policy = (ir_cluster_policy)choice;
        return true;
    case 13:
        return parse_counts(parser, 1, INT32_MAX, "an extent of the preferred cluster", launch->preferred, 3);
    case 14:
        if (!parse_choice(parser, domain_name, "default or remote", &choice))
            return false;
        launch->sync_domain = (ir_sync_domain)choice;
        return true;
    case 15:
        launch->has_domain_map = true;
        return parse_counts(parser, 0, 255, "a domain", launch->domain_map, 2);
    default:
        if (!parse_choice(parser, size_name, "default, require_portable or allow_non_portable", &choice))
            return false;
        launch->cluster_size = (ir_cluster_size)choice;
        return true;
    }
}

static bool parse_launch_line(ir_parser *parser, ir_launch *launch) {
    base_span span = ir_parser_span(parser);
    static const char *const words[] = {"grid",
                                        "block",
                                        "cluster",
                                        "dynamic_smem_bytes",
                                        "min_blocks_per_sm",
                                        "max_blocks_per_cluster",
                                        "max_registers",
                                        "cooperative",
                                        "programmatic",
                                        "priority",
                                        "carveout",
                                        "cluster_policy",
                                        "cluster_size",
                                        "preferred_cluster",
                                        "sync_domain",
                                        "sync_domain_map",
                                        "follows"};
    enum { WORDS = sizeof words / sizeof words[0] };
    const bool given[] = {launch->grid[0] != NULL,
                          launch->block[0] != NULL,
                          launch->cluster[0] != NULL,
                          launch->dynamic_smem_bytes != NULL,
                          launch->min_blocks_per_sm != 0,
                          launch->max_blocks_per_cluster != 0,
                          launch->max_registers != 0,
                          launch->cooperative,
                          launch->programmatic,
                          launch->has_priority,
                          launch->has_carveout,
                          launch->cluster_policy != 0,
                          launch->cluster_size != 0,
                          launch->preferred[0] != 0,
                          launch->sync_domain != 0,
                          launch->has_domain_map,
                          launch->follows};
    size_t which = 0;
    while (which < WORDS && !ir_parser_take_word(parser, words[which]))
        which++;
    if (which < WORDS && given[which])
        return ir_parser_fail(parser, "T0313", span, NULL, "`%s` is given twice", words[which]) != NULL;
    switch (which) {
    case 0:
        return parse_triple(parser, launch->grid);
    case 1:
        return parse_triple(parser, launch->block);
    case 2:
        return parse_triple(parser, launch->cluster);
    case 3:
        return ir_parser_need_sign(parser, "=") &&
               (launch->dynamic_smem_bytes = ir_parser_expr(parser, IR_BIND_ANY)) != NULL;
    case 4:
        return parse_limit(parser, &launch->min_blocks_per_sm);
    case 5:
        return parse_limit(parser, &launch->max_blocks_per_cluster);
    case 6:
        return parse_limit(parser, &launch->max_registers);
    case 7:
        launch->cooperative = true;
        return true;
    case WORDS - 1:
        launch->follows = true;
        return true;
    case WORDS:
        return ir_parser_expected(parser,
                                  "grid, block, cluster, dynamic_smem_bytes, a limit or cooperative") != NULL;
    default:
        return parse_launch_option(parser, launch, which);
    }
}

static void parse_launch(ir_parser *parser, ir_launch *launch, size_t begin) {
    launch->present = true;
    launch->span = ir_parser_span_from(parser, begin);
    if (!ir_parser_need_sign(parser, ":") || !ir_parser_end_line(parser)) {
        ir_parser_skip_line(parser);
        ir_parser_skip_block(parser);
        return;
    }
    if (parser->token.kind != IR_TOKEN_INDENT) {
        ir_parser_fail(parser, "T0302", ir_parser_span(parser), NULL,
                       "expected the indented lines of launch here");
        parser->failed = false;
        return;
    }
    ir_parser_advance(parser);
    while (parser->token.kind != IR_TOKEN_DEDENT && parser->token.kind != IR_TOKEN_END) {
        if (parser->token.kind == IR_TOKEN_INDENT) {
            ir_parser_expected(parser, "a line of launch");
            ir_parser_skip_block(parser);
        } else if (!parse_launch_line(parser, launch) || !ir_parser_end_line(parser)) {
            ir_parser_skip_line(parser);
        }
    }
    if (parser->token.kind == IR_TOKEN_DEDENT)
        ir_parser_advance(parser);
    if (!launch->grid[0] || !launch->block[0]) {
        ir_parser_fail(parser, "T0313", launch->span, NULL, "launch needs a grid and a block");
        parser->failed = false;
    }
}

/* ---- registers and origins ---- */

/* register NAME: type */
static bool parse_register(ir_parser *parser) {
    base_text name;
    base_span span;
    ir_type type;
    if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
        !ir_parser_type(parser, &type))
        return false;
    ir_parser_declare(parser, name, span,
                      ir_var_create(parser->module, name_of(parser, name), type, IR_VAR_REGISTER, span),
                      NULL);
    return true;
}

/* origin var NAME: type   or   origin parameter|alloc|view NAME: tensor type */
static bool parse_origin(ir_parser *parser) {
    static const char *const kinds[] = {"parameter", "alloc", "view", "var"};
    base_text name;
    base_span span;
    ir_type type;
    ir_tensor_type tensor;
    int kind = 0;
    while (kind < 4 && !ir_parser_take_word(parser, kinds[kind]))
        kind++;
    if (kind == 4)
        return ir_parser_expected(parser, "var, parameter, alloc or view") != NULL;
    if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
        !ir_parser_type(parser, &type))
        return false;
    const char *text = name_of(parser, name);
    if (kind == 3) {
        ir_parser_declare(parser, name, span, ir_var_create(parser->module, text, type, IR_VAR_LET, span),
                          NULL);
        return true;
    }
    if (!ir_parser_tensor_type(parser, type, &tensor))
        return false;
    ir_parser_declare(parser, name, span, NULL,
                      ir_tensor_create(parser->module, text, &tensor, (ir_tensor_kind)kind, NULL, span));
    return true;
}

static void parse_head(ir_parser *parser, ir_function *function) {
    for (;;) {
        size_t begin = parser->token.begin;
        if (ir_parser_is_word(parser, "launch")) {
            if (function->launch.present)
                ir_parser_fail(parser, "T0313", ir_parser_span(parser), NULL, "`launch` is given twice");
            parser->failed = false;
            ir_parser_advance(parser);
            parse_launch(parser, &function->launch, begin);
            continue;
        }
        bool is_register = ir_parser_is_word(parser, "register");
        if (!is_register && !ir_parser_is_word(parser, "origin"))
            return;
        ir_parser_advance(parser);
        if (!(is_register ? parse_register(parser) : parse_origin(parser)) || !ir_parser_end_line(parser))
            ir_parser_skip_line(parser);
    }
}

/* ---- functions and modules ---- */

static void check_function_name(ir_parser *parser, const ir_function *function) {
    for (size_t i = 0; i < parser->module->functions.count; i++) {
        const ir_function *other = parser->module->functions.items[i];
        if (other == function || other->name != function->name)
            continue;
        base_diagnostic *diagnostic =
            base_report(parser->module->diagnostics, BASE_ERROR, "T0314", function->span,
                        "two functions are called `%s`", function->name);
        base_note(parser->module->diagnostics, diagnostic, other->span, "the first one is here");
        parser->errors++;
        return;
    }
}

static void parse_function(ir_parser *parser) {
    base_span span = ir_parser_span(parser);
    size_t mark = parser->open.count;
    if (parser->token.kind != IR_TOKEN_NAME) {
        ir_parser_expected(parser, "the function's name");
        ir_parser_skip_line(parser);
        ir_parser_skip_block(parser);
        return;
    }
    ir_function *function = ir_function_create(parser->module, name_of(parser, ir_parser_text(parser)), span);
    check_function_name(parser, function);
    ir_parser_advance(parser);
    if (!parse_signature(parser, function)) { /* without its names the body would be all errors */
        ir_parser_skip_line(parser);
        ir_parser_skip_block(parser);
    } else if (parser->token.kind != IR_TOKEN_INDENT) {
        ir_parser_fail(parser, "T0302", ir_parser_span(parser), "write pass for an empty body",
                       "expected an indented body here");
        parser->failed = false;
    } else {
        ir_parser_advance(parser);
        parse_head(parser, function);
        parser->depth = 1;
        ir_parser_statements(parser, function->body);
        parser->depth = 0;
        if (parser->token.kind == IR_TOKEN_DEDENT)
            ir_parser_advance(parser);
    }
    ir_parser_close(parser, mark);
}

static void parse_version(ir_parser *parser) {
    base_span span = ir_parser_span(parser);
    if (!ir_parser_take_word(parser, "tir")) {
        ir_parser_fail(parser, "T0311", span, "put `tir 1` on the first line",
                       "the text form starts with the line `tir 1`");
        parser->failed = false;
        return;
    }
    if (parser->token.kind != IR_TOKEN_NUMBER || !base_text_is(ir_parser_text(parser), "1"))
        ir_parser_fail(parser, "T0311", ir_parser_span(parser), NULL,
                       "this version of the text form is not known; "
                       "expected 1");
    else
        ir_parser_advance(parser);
    if (parser->failed || !ir_parser_end_line(parser))
        ir_parser_skip_line(parser);
}

ir_module *ir_module_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file) {
    ir_parser *parser = BASE_NEW(arena, ir_parser);
    size_t before = base_diagnostics_errors(diagnostics);
    parser->module = ir_module_create(arena, diagnostics);
    parser->symbols = base_map_create(arena);
    ir_lexer_start(&parser->lexer, diagnostics, file);
    ir_parser_advance(parser);
    parse_version(parser);
    while (parser->token.kind != IR_TOKEN_END) {
        if (ir_parser_take_word(parser, "function")) {
            parse_function(parser);
        } else if (parser->token.kind == IR_TOKEN_INDENT || parser->token.kind == IR_TOKEN_DEDENT) {
            ir_parser_expected(parser, "a function");
            parser->failed = false;
            ir_parser_advance(parser);
        } else {
            ir_parser_expected(parser, "`function`");
            ir_parser_skip_line(parser);
            ir_parser_skip_block(parser);
        }
    }
    return parser->errors || base_diagnostics_errors(diagnostics) != before ? NULL : parser->module;
}
