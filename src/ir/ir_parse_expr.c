/* SPDX-License-Identifier: Apache-2.0
 * Expressions of the text form, by binding strength. Builds exactly what is written: nothing folds, and types
 * that do not fit each other are left to ir_verify. */
#include "ir/ir_parse.h"
#include <math.h>

typedef BASE_VECTOR(const ir_expr *) expression_list;

/* Every level of an expression opens at most three levels here. */
enum { NEST_LIMIT = 3 * IR_DEPTH_LIMIT + 8 };

static const ir_expr *make(ir_parser *parser, ir_op op, ir_type type, const ir_expr *const *args,
                           uint32_t count, ir_attribute attribute, size_t begin) {
    const ir_expr *e = ir_intern_expr(parser->module, op, type, args, count, attribute);
    if (e->depth > IR_DEPTH_LIMIT)
        return ir_parser_fail(parser, "T0307", ir_parser_span_from(parser, begin),
                              "give a part of it a name with let",
                              "this expression is more than %d levels deep", IR_DEPTH_LIMIT);
    if (e->size > IR_SIZE_LIMIT)
        return ir_parser_fail(parser, "T0307", ir_parser_span_from(parser, begin),
                              "give a part of it a name with let", "this expression has more than %d parts",
                              IR_SIZE_LIMIT);
    return e;
}

/* The type comes from the arguments. */
static const ir_expr *make_inferred(ir_parser *parser, ir_op op, const ir_expr *const *args, uint32_t count,
                                    ir_attribute attribute, size_t begin) {
    ir_type type;
    if (!ir_infer(op, args, count, attribute, &type))
        return ir_parser_fail(parser, "T0306", ir_parser_span_from(parser, begin),
                              "write it in brackets, as in reinterpret[float32](x)",
                              "`%s` does not say its type here", ir_op_information(op)->name);
    return make(parser, op, type, args, count, attribute, begin);
}

/* Expressions up to the closing sign, which is taken. */
static bool parse_list(ir_parser *parser, const char *close, expression_list *list) {
    while (!ir_parser_is_sign(parser, close)) {
        if (list->count && !ir_parser_need_sign(parser, ","))
            return false;
        const ir_expr *e = ir_parser_expr(parser, IR_BIND_ANY);
        if (!e)
            return false;
        base_vector_push(parser->module->arena, list, e);
    }
    ir_parser_advance(parser);
    return true;
}

/* ---- calls ---- */

static bool callable(ir_op op) {
    ir_attribute_kind kind = ir_op_attribute(op);
    return op == IR_LANE || kind == IR_ATTRIBUTE_NONE;
}

/* Lanes or a lane number: the last argument, and no part of the expression. */
static bool take_number(ir_parser *parser, expression_list *list, size_t begin, int64_t lowest,
                        int64_t *value) {
    if (list->count < 2 || !ir_is_int(list->items[list->count - 1], value) || *value < lowest ||
        *value > UINT16_MAX)
        return ir_parser_fail(parser, "T0309", ir_parser_span_from(parser, begin), NULL,
                              "the last argument must be a number of lanes or a lane, from %d to %d",
                              (int)lowest, UINT16_MAX) != NULL;
    list->count--;
    return true;
}

static const ir_expr *finish_call(ir_parser *parser, ir_op op, size_t begin, const ir_type *written,
                                  expression_list *list) {
    const ir_op_info *info = ir_op_information(op);
    ir_attribute attribute = {0};
    ir_type type = written ? *written : ir_type_prim(NUM_DTYPE_I32, 1);
    if (op == IR_LANE && !take_number(parser, list, begin, 0, &attribute.integer))
        return NULL;
    if ((op == IR_RAMP || op == IR_BROADCAST) && !written) {
        int64_t lanes;
        if (!take_number(parser, list, begin, 2, &lanes))
            return NULL;
        type = list->items[0]->type;
        type.lanes = (uint16_t)lanes;
    } else if (!written &&
               !ir_infer(op, (const ir_expr *const *)list->items, (uint32_t)list->count, attribute, &type)) {
        if (info->arguments < 0 || list->count == (size_t)info->arguments)
            return ir_parser_fail(parser, "T0306", ir_parser_span_from(parser, begin),
                                  "write it as in cast[int32](x)", "`%s` needs its type in brackets",
                                  info->name);
    }
    if (info->arguments >= 0 && list->count != (size_t)info->arguments)
        return ir_parser_fail(parser, "T0309", ir_parser_span_from(parser, begin), NULL,
                              "`%s` takes %d argument%s, not %zu", info->name, info->arguments,
                              info->arguments == 1 ? "" : "s", list->count);
    return make(parser, op, type, (const ir_expr *const *)list->items, (uint32_t)list->count, attribute,
                begin);
}

static const ir_expr *parse_query(ir_parser *parser, ir_op op, size_t begin) {
    static const char *const axes[] = {"x", "y", "z"};
    if (!ir_parser_need_sign(parser, "."))
        return NULL;
    for (int axis = 0; axis < 3; axis++)
        if (ir_parser_take_word(parser, axes[axis]))
            return make_inferred(parser, op, NULL, 0, (ir_attribute){.integer = axis}, begin);
    return ir_parser_expected(parser, "x, y or z");
}

static const ir_expr *parse_call(ir_parser *parser, ir_op op) {
    size_t begin = parser->token.begin;
    base_span name = ir_parser_span(parser);
    expression_list list = {0};
    ir_type type;
    bool written = false;
    ir_parser_advance(parser);
    if (op == IR_THREAD_IDX || op == IR_BLOCK_IDX || op == IR_BLOCK_DIM || op == IR_GRID_DIM)
        return parse_query(parser, op, begin);
    if (!callable(op))
        return ir_parser_fail(parser, "T0309", name, NULL, "`%s` is not written as a call",
                              ir_op_information(op)->name);
    if (ir_parser_take_sign(parser, "[")) {
        if (!ir_parser_type(parser, &type) || !ir_parser_need_sign(parser, "]"))
            return NULL;
        written = true;
    }
    if (!ir_parser_need_sign(parser, "(") || !parse_list(parser, ")", &list))
        return NULL;
    return finish_call(parser, op, begin, written ? &type : NULL, &list);
}

static const ir_expr *parse_cast(ir_parser *parser, ir_type type) {
    size_t begin = parser->token.begin;
    ir_parser_advance(parser);
    if (!ir_parser_need_sign(parser, "("))
        return NULL;
    const ir_expr *a = ir_parser_expr(parser, IR_BIND_ANY);
    if (!a || !ir_parser_need_sign(parser, ")"))
        return NULL;
    return make(parser, IR_CAST, type, &a, 1, (ir_attribute){0}, begin);
}

/* ---- text ---- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

static const ir_expr *parse_string(ir_parser *parser) {
    base_text text = ir_parser_text(parser);
    base_builder out;
    base_builder_start(&out, parser->module->arena);
    for (size_t i = 1; i + 1 < text.size; i++) {
        char c = text.data[i];
        if (c != '\\') {
            base_builder_char(&out, c);
            continue;
        }
        c = text.data[++i];
        if (c == 'x') {
            int high = i + 3 < text.size ? hex_digit(text.data[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text.data[i + 2]) : -1;
            if (low < 0 || high * 16 + low == 0)
                return ir_parser_fail(parser, "T0315", ir_parser_span(parser), NULL,
                                      "\\x needs two hexadecimal digits that are not 00");
            base_builder_char(&out, (char)(high * 16 + low));
            i += 2;
        } else if (c == 'n' || c == 't' || c == '"' || c == '\\') {
            base_builder_char(&out, (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c));
        } else {
            return ir_parser_fail(parser, "T0315", ir_parser_span(parser),
                                  "use \\n, \\t, \\\", \\\\ or \\x1b", "unknown escape in text");
        }
    }
    ir_parser_advance(parser);
    return ir_string(parser->module, out.data);
}

/* ---- accesses ---- */

/* base[index : type @ origin], after the bracket. */
static const ir_expr *parse_pointer_access(ir_parser *parser, const ir_expr *base, bool address,
                                           size_t begin) {
    ir_type type;
    bool written = false;
    const ir_expr *origin = NULL, *index = ir_parser_expr(parser, IR_BIND_ANY);
    if (!index)
        return NULL;
    if (ir_parser_take_sign(parser, ":")) {
        if (!ir_parser_type(parser, &type))
            return NULL;
        written = true;
    }
    if (ir_parser_take_sign(parser, "@") && !(origin = ir_parser_expr(parser, IR_BIND_ANY)))
        return NULL;
    if (origin && origin->op != IR_LOAD && origin->op != IR_ADDRESS)
        return ir_parser_fail(parser, "T0309", ir_parser_span_from(parser, begin), NULL,
                              "behind @ stands the element of a tensor, as in A[i, j]");
    if (!ir_parser_need_sign(parser, "]"))
        return NULL;
    const ir_expr *args[] = {base, index};
    ir_op op = address && !ir_parser_is_sign(parser, "[") ? IR_POINTER_ADDRESS : IR_POINTER_LOAD;
    ir_attribute attribute = {.origin = origin};
    return written ? make(parser, op, type, args, 2, attribute, begin)
                   : make_inferred(parser, op, args, 2, attribute, begin);
}

/* A tensor's name: T.data, T.region(...), T[...], or the name alone for a scalar. */
static const ir_expr *parse_tensor(ir_parser *parser, const ir_tensor *tensor, bool address, size_t begin) {
    ir_attribute attribute = {.tensor = tensor};
    expression_list list = {0};
    if (ir_parser_take_sign(parser, ".")) {
        if (ir_parser_take_word(parser, "region"))
            return ir_parser_need_sign(parser, "(") && parse_list(parser, ")", &list)
                       ? make_inferred(parser, IR_REGION, (const ir_expr *const *)list.items,
                                       (uint32_t)list.count, attribute, begin)
                       : NULL;
        if (!ir_parser_take_word(parser, "data"))
            return ir_parser_expected(parser, "`data` or `region`");
        return make_inferred(parser, IR_DATA, NULL, 0, attribute, begin);
    }
    if (ir_parser_take_sign(parser, "[")) {
        if (!parse_list(parser, "]", &list))
            return NULL;
    } else if (ir_tensor_prints_as_scalar(tensor)) {
        base_vector_push(parser->module->arena, &list, ir_int(parser->module, NUM_DTYPE_I32, 0));
    } else {
        return ir_parser_fail(
            parser, "T0309", ir_parser_span_from(parser, begin),
            "write an element as A[i, j], its address as &A[i, j], or the pointer as A.data",
            "a tensor is no value");
    }
    ir_op op = address && !ir_parser_is_sign(parser, "[") ? IR_ADDRESS : IR_LOAD;
    return make_inferred(parser, op, (const ir_expr *const *)list.items, (uint32_t)list.count, attribute,
                         begin);
}

static const ir_expr *parse_word(ir_parser *parser, bool address) {
    base_text word = ir_parser_text(parser);
    size_t begin = parser->token.begin;
    ir_symbol *symbol = ir_parser_find(parser, word);
    ir_type type = ir_type_prim(NUM_DTYPE_F32, 1);
    ir_op op;
    if (symbol) {
        ir_parser_advance(parser);
        return symbol->tensor ? parse_tensor(parser, symbol->tensor, address, begin)
                              : ir_var_use(parser->module, symbol->var);
    }
    if (base_text_is(word, "True") || base_text_is(word, "False")) {
        ir_parser_advance(parser);
        return ir_bool(parser->module, word.data[0] == 'T');
    }
    if (ir_prim_find(word.data, word.size, &type))
        return parse_cast(parser, type);
    if (ir_op_find(word.data, word.size, &op))
        return parse_call(parser, op);
    if (ir_word_reserved(word.data, word.size))
        return ir_parser_expected(parser, "a value");
    return ir_parser_fail(parser, "T0303", ir_parser_span(parser), NULL, "nothing is called `%.*s` here",
                          (int)(word.size > 100 ? 100 : word.size), word.data);
}

/* inf, nan, and with a type behind: inf_float16. NULL without a report when the token is neither. */
static const ir_expr *parse_special(ir_parser *parser, bool negative) {
    base_text word = ir_parser_text(parser);
    ir_type type = ir_type_prim(NUM_DTYPE_F32, 1);
    if (parser->token.kind != IR_TOKEN_NAME || word.size < 3)
        return NULL;
    bool infinite = word.data[0] == 'i';
    base_text head = {word.data, 3};
    if ((!base_text_is(head, "inf") && !base_text_is(head, "nan")) ||
        !ir_word_reserved(word.data, word.size) || (word.size > 3 && word.data[3] != '_'))
        return NULL;
    if (word.size > 3)
        ir_prim_find(word.data + 4, word.size - 4, &type);
    if (!ir_type_is_float(type) || type.lanes != 1)
        return NULL;
    ir_parser_advance(parser);
    double value = infinite ? HUGE_VAL : (double)NAN;
    return ir_float(parser->module, (num_dtype)type.dtype, negative ? -value : value);
}

static const ir_expr *parse_postfix(ir_parser *parser, bool address) {
    size_t begin = parser->token.begin;
    const ir_expr *e;
    if (parser->token.kind == IR_TOKEN_NUMBER) {
        e = ir_parser_number(parser, false);
    } else if (parser->token.kind == IR_TOKEN_STRING) {
        e = parse_string(parser);
    } else if (ir_parser_take_sign(parser, "(")) {
        e = ir_parser_expr(parser, IR_BIND_ANY);
        if (e && !ir_parser_need_sign(parser, ")"))
            return NULL;
    } else if (parser->token.kind == IR_TOKEN_NAME) {
        e = parse_special(parser, false);
        if (!e)
            e = parse_word(parser, address);
    } else {
        return ir_parser_expected(parser, "a value");
    }
    while (e && ir_parser_take_sign(parser, "["))
        e = parse_pointer_access(parser, e, address, begin);
    return e;
}

/* ---- operators ---- */

static const ir_expr *parse_unary(ir_parser *parser) {
    size_t begin = parser->token.begin;
    const ir_expr *e;
    if (++parser->nest > NEST_LIMIT)
        return ir_parser_fail(parser, "T0307", ir_parser_span(parser), "give a part of it a name with let",
                              "this expression is nested more than %d levels deep", IR_DEPTH_LIMIT);
    if (ir_parser_take_sign(parser, "-")) {
        if (parser->token.kind == IR_TOKEN_NUMBER)
            e = ir_parser_number(parser, true);
        else if (!(e = parse_special(parser, true)) && !parser->failed && (e = parse_unary(parser)))
            e = make_inferred(parser, IR_NEG, &e, 1, (ir_attribute){0}, begin);
    } else if (ir_parser_take_sign(parser, "~")) {
        e = parse_unary(parser);
        if (e)
            e = make_inferred(parser, IR_BITNOT, &e, 1, (ir_attribute){0}, begin);
    } else if (ir_parser_take_sign(parser, "&")) {
        e = parse_postfix(parser, true);
        if (e && e->op != IR_ADDRESS && e->op != IR_POINTER_ADDRESS)
            return ir_parser_fail(parser, "T0309", ir_parser_span_from(parser, begin), NULL,
                                  "behind & stands an element, as in &A[i, j]");
    } else {
        e = parse_postfix(parser, false);
    }
    parser->nest--;
    return e;
}

static const ir_infix *infix_here(const ir_parser *parser) {
    base_text text = ir_parser_text(parser);
    if (parser->token.kind != IR_TOKEN_SIGN && parser->token.kind != IR_TOKEN_NAME)
        return NULL;
    return ir_infix_find(text.data, text.size);
}

const ir_expr *ir_parser_expr(ir_parser *parser, int bind) {
    size_t begin = parser->token.begin;
    const ir_expr *left;
    if (++parser->nest > NEST_LIMIT)
        return ir_parser_fail(parser, "T0307", ir_parser_span(parser), "give a part of it a name with let",
                              "this expression is nested more than %d levels deep", IR_DEPTH_LIMIT);
    bool typed =
        parser->token.end < parser->lexer.text.size && parser->lexer.text.data[parser->token.end] == '[';
    if (bind <= IR_BIND_NOT && !typed && ir_parser_take_word(parser, "not")) {
        left = ir_parser_expr(parser, IR_BIND_NOT);
        if (left)
            left = make_inferred(parser, IR_NOT, &left, 1, (ir_attribute){0}, begin);
    } else {
        left = parse_unary(parser);
    }
    for (const ir_infix *infix; left && (infix = infix_here(parser)) && infix->bind >= bind;) {
        ir_parser_advance(parser);
        const ir_expr *right = ir_parser_expr(parser, infix->bind + 1);
        if (!right)
            return NULL;
        const ir_expr *args[] = {left, right};
        left = make_inferred(parser, infix->op, args, 2, (ir_attribute){0}, begin);
        const ir_infix *next = infix_here(parser);
        if (left && infix->bind == IR_BIND_COMPARE && next && next->bind == IR_BIND_COMPARE)
            return ir_parser_fail(parser, "T0301", ir_parser_span(parser), "write a < b and b < c",
                                  "comparisons do not chain");
    }
    parser->nest--;
    return left;
}
