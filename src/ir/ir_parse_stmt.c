/* SPDX-License-Identifier: Apache-2.0
 * Statements of the text form, one line each, and the blocks under them. A line that fails is reported and
 * dropped, but what it names is still declared, so that one mistake is one report. */
#include "ir/ir_parse.h"
#include <string.h>

static ir_stmt *add(ir_parser *parser, ir_stmt *block, ir_stmt_kind kind, size_t begin) {
    ir_stmt *statement = ir_stmt_create(parser->module, kind, ir_parser_span_from(parser, begin));
    ir_block_add(parser->module, block, statement);
    return statement;
}

static ir_stmt *new_block(ir_parser *parser) {
    return ir_stmt_create(parser->module, IR_STMT_BLOCK, ir_parser_span(parser));
}

/* ---- blocks ---- */

void ir_parser_skip_block(ir_parser *parser) {
    size_t open = 0;
    if (parser->token.kind != IR_TOKEN_INDENT)
        return;
    do {
        open += parser->token.kind == IR_TOKEN_INDENT;
        open -= parser->token.kind == IR_TOKEN_DEDENT;
        ir_parser_advance(parser);
    } while (open && parser->token.kind != IR_TOKEN_END);
    parser->failed = false;
}

void ir_parser_block(ir_parser *parser, ir_stmt *block) {
    size_t mark = parser->open.count;
    if (parser->token.kind != IR_TOKEN_INDENT) {
        ir_parser_fail(parser, "T0302", ir_parser_span(parser), "write pass for an empty block",
                       "expected an indented block here");
        parser->failed = false;
        return;
    }
    if (parser->depth >= IR_STATEMENT_LIMIT) {
        ir_parser_fail(parser, "T0308", ir_parser_span(parser), NULL,
                       "statements are nested more than %d levels deep", IR_STATEMENT_LIMIT);
        ir_parser_skip_block(parser);
        return;
    }
    parser->depth++;
    ir_parser_advance(parser);
    ir_parser_statements(parser, block);
    if (parser->token.kind == IR_TOKEN_DEDENT)
        ir_parser_advance(parser);
    parser->depth--;
    ir_parser_close(parser, mark);
}

/* ---- declarations ---- */

static void parse_let(ir_parser *parser, ir_stmt *block, size_t begin) {
    base_text name;
    base_span span;
    ir_type type;
    if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
        !ir_parser_type(parser, &type))
        return;
    ir_var *var = ir_var_create(parser->module, base_name(parser->module->names, name.data, name.size), type,
                                IR_VAR_LET, span);
    const ir_expr *value = ir_parser_need_sign(parser, "=") ? ir_parser_expr(parser, IR_BIND_ANY) : NULL;
    ir_parser_declare(parser, name, span, var, NULL);
    if (!value)
        return;
    ir_stmt *statement = add(parser, block, IR_STMT_LET, begin);
    statement->as.let.var = var;
    statement->as.let.value = value;
}

/* alloc NAME: type   and   view NAME: type = pointer */
static void parse_declaration(ir_parser *parser, ir_stmt *block, size_t begin, bool view) {
    base_text name;
    base_span span;
    ir_type element;
    ir_tensor_type type;
    const ir_expr *data = NULL;
    if (!ir_parser_new_name(parser, &name, &span) || !ir_parser_need_sign(parser, ":") ||
        !ir_parser_type(parser, &element) || !ir_parser_tensor_type(parser, element, &type))
        return;
    if (view && ir_parser_need_sign(parser, "="))
        data = ir_parser_expr(parser, IR_BIND_ANY);
    ir_tensor *tensor =
        ir_tensor_create(parser->module, base_name(parser->module->names, name.data, name.size), &type,
                         view ? IR_TENSOR_VIEW : IR_TENSOR_ALLOCATION, data, span);
    ir_parser_declare(parser, name, span, NULL, tensor);
    if (view && !data)
        return;
    ir_stmt *statement = add(parser, block, view ? IR_STMT_DECLARE : IR_STMT_ALLOCATE, begin);
    statement->as.allocate.tensor = tensor; /* declare has the same member */
}

/* NAME: dtype [= value]: one element of local storage, and its first store. */
static void parse_scalar(ir_parser *parser, ir_stmt *block, base_text name, base_span span) {
    ir_type element;
    const ir_expr *one = ir_int(parser->module, NUM_DTYPE_I32, 1),
                  *zero = ir_int(parser->module, NUM_DTYPE_I32, 0);
    if (!ir_parser_type(parser, &element))
        return;
    if (element.kind != IR_TYPE_PRIM) {
        ir_parser_fail(parser, "T0306", span, "bind a pointer with let",
                       "a scalar holds a number, not a pointer");
        return;
    }
    ir_tensor_type type = {.dtype = (num_dtype)element.dtype,
                           .lanes = element.lanes,
                           .scope = IR_SCOPE_LOCAL,
                           .rank = 1,
                           .shape = &one,
                           .align = 64};
    ir_tensor *tensor =
        ir_tensor_create(parser->module, base_name(parser->module->names, name.data, name.size), &type,
                         IR_TENSOR_ALLOCATION, NULL, span);
    tensor->is_scalar = true;
    ir_parser_declare(parser, name, span, NULL, tensor);
    ir_stmt *allocate = add(parser, block, IR_STMT_ALLOCATE, span.begin);
    allocate->as.allocate.tensor = tensor;
    if (!ir_parser_take_sign(parser, "="))
        return;
    const ir_expr *value = ir_parser_expr(parser, IR_BIND_ANY);
    if (!value)
        return;
    ir_stmt *store = add(parser, block, IR_STMT_STORE, span.begin);
    store->as.store.tensor = tensor;
    store->as.store.count = 1;
    store->as.store.indices = base_arena_copy(parser->module->arena, &zero, sizeof(const ir_expr *));
    store->as.store.value = value;
}

/* ---- control ---- */

static void parse_if(ir_parser *parser, ir_stmt *block, size_t begin) {
    const ir_expr *condition = ir_parser_expr(parser, IR_BIND_ANY);
    bool good = condition && ir_parser_need_sign(parser, ":");
    ir_stmt *statement = good ? add(parser, block, IR_STMT_IF, begin)
                              : ir_stmt_create(parser->module, IR_STMT_IF, BASE_NO_SPAN);
    statement->as.branch.condition = condition;
    statement->as.branch.then_body = new_block(parser);
    if (!good || !ir_parser_end_line(parser))
        ir_parser_skip_line(parser);
    ir_parser_block(parser, statement->as.branch.then_body);
    size_t other = parser->token.begin;
    if (ir_parser_is_word(parser, "elif")) {
        statement->as.branch.else_body = new_block(parser);
        if (parser->depth >= IR_STATEMENT_LIMIT) {
            ir_parser_fail(parser, "T0308", ir_parser_span(parser), NULL,
                           "statements are nested more than %d levels deep", IR_STATEMENT_LIMIT);
            ir_parser_skip_line(parser);
            ir_parser_skip_block(parser);
            return;
        }
        ir_parser_advance(parser);
        parser->depth++;
        parse_if(parser, statement->as.branch.else_body, other);
        parser->depth--;
    } else if (ir_parser_take_word(parser, "else")) {
        statement->as.branch.else_body = new_block(parser);
        if (!ir_parser_need_sign(parser, ":") || !ir_parser_end_line(parser))
            ir_parser_skip_line(parser);
        ir_parser_block(parser, statement->as.branch.else_body);
    }
}

static bool parse_loop_kind(ir_parser *parser, ir_loop_kind *kind) {
    for (int i = IR_LOOP_SERIAL; i <= IR_LOOP_PRAGMA; i++)
        if (ir_parser_take_word(parser, ir_loop_word((ir_loop_kind)i))) {
            *kind = (ir_loop_kind)i;
            return true;
        }
    return ir_parser_expected(parser, "serial, unroll, vectorized or pragma_unroll") != NULL;
}

/* kind(extent, start=, step=, factor=): */
static bool parse_bounds(ir_parser *parser, ir_stmt *loop) {
    if (!parse_loop_kind(parser, &loop->as.loop.kind) || !ir_parser_need_sign(parser, "(") ||
        !(loop->as.loop.extent = ir_parser_expr(parser, IR_BIND_ANY)))
        return false;
    while (ir_parser_take_sign(parser, ",")) {
        const ir_expr **part = ir_parser_is_word(parser, "start")  ? &loop->as.loop.start
                               : ir_parser_is_word(parser, "step") ? &loop->as.loop.step
                                                                   : NULL;
        bool factor = ir_parser_is_word(parser, "factor");
        if (!part && !factor)
            return ir_parser_expected(parser, "start=, step= or factor=") != NULL;
        ir_parser_advance(parser);
        if (!ir_parser_need_sign(parser, "="))
            return false;
        if (factor && !ir_parser_count(parser, 1, INT32_MAX, "the factor", &loop->as.loop.factor))
            return false;
        if (part && !(*part = ir_parser_expr(parser, IR_BIND_ANY)))
            return false;
    }
    return ir_parser_need_sign(parser, ")") && ir_parser_need_sign(parser, ":");
}

static void parse_for(ir_parser *parser, ir_stmt *block, size_t begin) {
    ir_stmt *loop = ir_stmt_create(parser->module, IR_STMT_FOR, BASE_NO_SPAN);
    base_text name = {0};
    base_span span;
    ir_type type = ir_type_prim(NUM_DTYPE_I32, 1);
    size_t mark = parser->open.count;
    bool named = ir_parser_new_name(parser, &name, &span);
    bool good = named && (!ir_parser_take_sign(parser, ":") || ir_parser_type(parser, &type));
    if (good && !ir_parser_take_word(parser, "in"))
        good = ir_parser_expected(parser, "`in`") != NULL;
    good = good && parse_bounds(parser, loop);
    num_dtype dtype = type.kind == IR_TYPE_PRIM ? (num_dtype)type.dtype : NUM_DTYPE_I32;
    dtype = num_dtype_is_integer(dtype) ? dtype : NUM_DTYPE_I32;
    if (!loop->as.loop.start)
        loop->as.loop.start = ir_int(parser->module, dtype, 0);
    if (!loop->as.loop.step)
        loop->as.loop.step = ir_int(parser->module, dtype, 1);
    loop->span = ir_parser_span_from(parser, begin);
    if (!good || !ir_parser_end_line(parser))
        ir_parser_skip_line(parser);
    loop->as.loop.body = new_block(parser);
    if (named) {
        loop->as.loop.var = ir_var_create(
            parser->module, base_name(parser->module->names, name.data, name.size), type, IR_VAR_LOOP, span);
        ir_parser_declare(parser, name, span, loop->as.loop.var, NULL);
    }
    ir_parser_block(parser, loop->as.loop.body);
    ir_parser_close(parser, mark);
    if (good)
        ir_block_add(parser->module, block, loop);
}

static void parse_while(ir_parser *parser, ir_stmt *block, size_t begin) {
    const ir_expr *condition = ir_parser_expr(parser, IR_BIND_ANY);
    bool good = condition && ir_parser_need_sign(parser, ":");
    ir_stmt *loop = good ? add(parser, block, IR_STMT_WHILE, begin)
                         : ir_stmt_create(parser->module, IR_STMT_WHILE, BASE_NO_SPAN);
    loop->as.while_loop.condition = condition;
    loop->as.while_loop.body = new_block(parser);
    if (!good || !ir_parser_end_line(parser))
        ir_parser_skip_line(parser);
    ir_parser_block(parser, loop->as.while_loop.body);
}

static void parse_nested(ir_parser *parser, ir_stmt *block, size_t begin) {
    ir_stmt *nested = add(parser, block, IR_STMT_BLOCK, begin);
    if (!ir_parser_need_sign(parser, ":") || !ir_parser_end_line(parser))
        ir_parser_skip_line(parser);
    ir_parser_block(parser, nested);
}

/* ---- stores and effects ---- */

/* The target was read as an expression; what it reads is what the statement writes. */
static void parse_store(ir_parser *parser, ir_stmt *block, const ir_expr *target, size_t begin) {
    base_span place = ir_parser_span_from(parser, begin);
    ir_parser_advance(parser);
    const ir_expr *value = ir_parser_expr(parser, IR_BIND_ANY);
    if (!value)
        return;
    ir_stmt *statement;
    switch (target->op) {
    case IR_LOAD:
        statement = add(parser, block, IR_STMT_STORE, begin);
        statement->as.store.tensor = (ir_tensor *)(uintptr_t)target->at.tensor;
        statement->as.store.count = target->count;
        statement->as.store.indices = target->args;
        statement->as.store.value = value;
        return;
    case IR_POINTER_LOAD:
        if (!ir_type_equal(target->type, value->type)) {
            ir_parser_fail(parser, "T0325", place, "say the type as in p[i : float32x4] = v",
                           "what is stored has another type than the element");
            return;
        }
        statement = add(parser, block, IR_STMT_POINTER_STORE, begin);
        statement->as.pointer_store.base = target->args[0];
        statement->as.pointer_store.index = target->args[1];
        statement->as.pointer_store.origin = target->at.origin;
        statement->as.pointer_store.value = value;
        return;
    case IR_REGISTER:
        statement = add(parser, block, IR_STMT_ASSIGN, begin);
        statement->as.assign.var = (ir_var *)(uintptr_t)target->at.var;
        statement->as.assign.value = value;
        return;
    default:
        ir_parser_fail(parser, "T0332", place,
                       "stores go to an element A[i], a scalar declared as x: int32, or a register",
                       "this cannot be stored to");
    }
}

static void parse_expression(ir_parser *parser, ir_stmt *block, size_t begin) {
    const ir_expr *e = ir_parser_expr(parser, IR_BIND_ANY);
    if (!e)
        return;
    if (ir_parser_is_sign(parser, "=")) {
        parse_store(parser, block, e, begin);
        return;
    }
    ir_stmt *statement = add(parser, block, IR_STMT_EVALUATE, begin);
    statement->as.evaluate.value = e;
}

/* Is this NAME followed by a colon? */
static bool declares_scalar(const ir_parser *parser) {
    size_t at = parser->token.end;
    base_text text = parser->lexer.text;
    while (at < text.size && text.data[at] == ' ')
        at++;
    return at < text.size && text.data[at] == ':';
}

/* A statement of one line. */
static void parse_line(ir_parser *parser, ir_stmt *block) {
    size_t begin = parser->token.begin;
    static const struct {
        const char *word;
        ir_stmt_kind kind;
    } words[] = {{"break", IR_STMT_BREAK}, {"continue", IR_STMT_CONTINUE}, {"return", IR_STMT_RETURN}};
    base_text name;
    base_span span;
    if (ir_parser_take_word(parser, "let")) {
        parse_let(parser, block, begin);
    } else if (ir_parser_take_word(parser, "alloc")) {
        parse_declaration(parser, block, begin, false);
    } else if (ir_parser_take_word(parser, "view")) {
        parse_declaration(parser, block, begin, true);
    } else if (ir_parser_take_word(parser, "pass")) {
        /* says that the block is empty */
    } else if (parser->token.kind == IR_TOKEN_NAME && declares_scalar(parser)) {
        if (ir_parser_new_name(parser, &name, &span)) {
            ir_parser_advance(parser);
            parse_scalar(parser, block, name, span);
        }
    } else {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (ir_parser_take_word(parser, words[i].word)) {
                add(parser, block, words[i].kind, begin);
                return;
            }
        parse_expression(parser, block, begin);
    }
}

static void parse_statement(ir_parser *parser, ir_stmt *block) {
    size_t begin = parser->token.begin;
    if (ir_parser_take_word(parser, "if")) {
        parse_if(parser, block, begin);
    } else if (ir_parser_take_word(parser, "for")) {
        parse_for(parser, block, begin);
    } else if (ir_parser_take_word(parser, "while")) {
        parse_while(parser, block, begin);
    } else if (ir_parser_take_word(parser, "block")) {
        parse_nested(parser, block, begin);
    } else {
        parse_line(parser, block);
        if (parser->failed || !ir_parser_end_line(parser))
            ir_parser_skip_line(parser);
    }
}

void ir_parser_statements(ir_parser *parser, ir_stmt *block) {
    unsigned stray = 0; /* indented blocks that nothing opened */
    for (;;) {
        switch (parser->token.kind) {
        case IR_TOKEN_END:
            return;
        case IR_TOKEN_DEDENT:
            if (stray == 0)
                return;
            stray--;
            ir_parser_advance(parser);
            break;
        case IR_TOKEN_INDENT:
            ir_parser_fail(parser, "T0302", ir_parser_span(parser), NULL, "nothing opened a block here");
            parser->failed = false;
            stray++;
            ir_parser_advance(parser);
            break;
        default:
            parse_statement(parser, block);
        }
    }
}
