/* SPDX-License-Identifier: Apache-2.0
 * Types of the text form: float32x4, handle, float32*shared, and tensor types with shape, scope, alignment,
 * layout or strides. */
#include "ir/ir_parse.h"
#include <string.h>

static bool parse_scope(ir_parser *parser, ir_scope *scope) {
    static const char *const words[] = {"global", "shared", "local", "tmem"};
    static const ir_scope scopes[] = {IR_SCOPE_GLOBAL, IR_SCOPE_SHARED, IR_SCOPE_LOCAL, IR_SCOPE_TMEM};
    for (size_t i = 0; i < 4; i++) {
        if (!ir_parser_take_word(parser, words[i]))
            continue;
        *scope = scopes[i];
        if (*scope == IR_SCOPE_SHARED && ir_parser_take_sign(parser, ".")) {
            *scope = IR_SCOPE_SHARED_DYN;
            if (!ir_parser_take_word(parser, "dyn"))
                return ir_parser_expected(parser, "`dyn`") != NULL;
        }
        return true;
    }
    return ir_parser_expected(parser, "a scope: global, shared, shared.dyn, local or tmem") != NULL;
}

bool ir_parser_type(ir_parser *parser, ir_type *type) {
    base_text word = ir_parser_text(parser);
    if (parser->token.kind != IR_TOKEN_NAME)
        return ir_parser_expected(parser, "a type") != NULL;
    if (base_text_is(word, "void")) {
        *type = (ir_type){.kind = IR_TYPE_VOID, .lanes = 1};
    } else if (base_text_is(word, "string")) {
        *type = (ir_type){.kind = IR_TYPE_STRING, .lanes = 1};
    } else if (base_text_is(word, "handle")) {
        *type = ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_GLOBAL);
    } else if (base_text_is(word, "tensormap")) {
        *type = ir_type_tensor_map();
    } else if (!ir_prim_find(word.data, word.size, type)) {
        return ir_parser_fail(parser, "T0306", ir_parser_span(parser),
                              "types are bool, int32, float16, float32x4 ..., handle, float32*shared, void",
                              "`%.*s` is not a type", (int)(word.size > 100 ? 100 : word.size),
                              word.data) != NULL;
    }
    ir_parser_advance(parser);
    if ((type->kind != IR_TYPE_PRIM && type->kind != IR_TYPE_POINTER) || !ir_parser_take_sign(parser, "*"))
        return true;
    ir_scope scope;
    if (!parse_scope(parser, &scope))
        return false;
    *type = ir_type_pointer((num_dtype)type->dtype, type->lanes, scope);
    return true;
}

bool ir_parser_count(ir_parser *parser, int64_t lowest, int64_t highest, const char *what, int64_t *value) {
    base_span span = ir_parser_span(parser);
    const ir_expr *e = parser->token.kind == IR_TOKEN_NUMBER ? ir_parser_number(parser, false)
                                                             : ir_parser_expected(parser, "a whole number");
    if (!e)
        return false;
    if (!ir_is_int(e, value) || *value < lowest || *value > highest)
        return ir_parser_fail(parser, "T0305", span, NULL, "%s must be a whole number from %lld to %lld",
                              what, (long long)lowest, (long long)highest) != NULL;
    return true;
}

static bool parse_align(ir_parser *parser, ir_tensor_type *type) {
    int64_t value;
    base_span span = ir_parser_span(parser);
    if (!ir_parser_need_sign(parser, "=") || !ir_parser_count(parser, 1, 1 << 30, "the alignment", &value))
        return false;
    if (value & (value - 1))
        return ir_parser_fail(parser, "T0306", span, NULL, "the alignment must be a power of two, not %lld",
                              (long long)value) != NULL;
    type->align = (uint32_t)value;
    return true;
}

/* The layout's own text is read by the layout module from where the token after `=` starts. */
static bool parse_layout(ir_parser *parser, ir_tensor_type *type) {
    layout_error error = {0};
    size_t used = 0, begin;
    if (!ir_parser_need_sign(parser, "="))
        return false;
    begin = parser->token.begin;
    const char *text = parser->lexer.text.data + begin;
    if (parser->token.kind != IR_TOKEN_NAME && parser->token.kind != IR_TOKEN_SIGN &&
        parser->token.kind != IR_TOKEN_NUMBER)
        return ir_parser_expected(parser, "a layout") != NULL;
    const char *end = memchr(text, '\n', parser->lexer.text.size - begin);
    size_t size = end ? (size_t)(end - text) : parser->lexer.text.size - begin;
    type->layout = layout_parse(parser->module->arena, text, size, &used, &error);
    if (!type->layout || used == 0 || used > size)
        return ir_parser_fail(parser, "T0312", ir_parser_span(parser), NULL, "this is not a layout: %s",
                              error.text ? error.text : "its text could not be read") != NULL;
    ir_lexer_move(&parser->lexer, begin + used);
    ir_parser_advance(parser);
    return true;
}

/* strides=(n, 1): one expression per axis. */
static bool parse_strides(ir_parser *parser, ir_tensor_type *type) {
    const ir_expr **strides = BASE_NEW_ARRAY(parser->module->arena, const ir_expr *, type->rank + 1);
    if (!ir_parser_need_sign(parser, "=") || !ir_parser_need_sign(parser, "("))
        return false;
    for (uint32_t i = 0; i < type->rank; i++)
        if ((i && !ir_parser_need_sign(parser, ",")) || !(strides[i] = ir_parser_expr(parser, IR_BIND_ANY)))
            return false;
    type->strides = strides;
    return ir_parser_need_sign(parser, ")");
}

bool ir_parser_tensor_type(ir_parser *parser, ir_type element, ir_tensor_type *type) {
    BASE_VECTOR(const ir_expr *) shape = {0};
    memset(type, 0, sizeof *type);
    if (element.kind != IR_TYPE_PRIM)
        return ir_parser_fail(parser, "T0306", ir_parser_span(parser), NULL,
                              "the elements of a tensor are numbers, not pointers") != NULL;
    type->dtype = (num_dtype)element.dtype;
    type->lanes = element.lanes;
    type->align = 64;
    if (!ir_parser_need_sign(parser, "["))
        return false;
    while (!ir_parser_is_sign(parser, "]")) {
        if (shape.count && !ir_parser_need_sign(parser, ","))
            return false;
        const ir_expr *extent = ir_parser_expr(parser, IR_BIND_ANY);
        if (!extent)
            return false;
        base_vector_push(parser->module->arena, &shape, extent);
    }
    ir_parser_advance(parser);
    type->rank = (uint32_t)shape.count;
    type->shape = (const ir_expr *const *)shape.items;
    if (ir_parser_is_word(parser, "global") || ir_parser_is_word(parser, "shared") ||
        ir_parser_is_word(parser, "local") || ir_parser_is_word(parser, "tmem"))
        if (!parse_scope(parser, &type->scope))
            return false;
    if (ir_parser_take_word(parser, "align") && !parse_align(parser, type))
        return false;
    if (ir_parser_take_word(parser, "layout"))
        return parse_layout(parser, type);
    if (ir_parser_take_word(parser, "strides") && !parse_strides(parser, type))
        return false;
    if (!type->strides || !ir_parser_take_word(parser, "origin"))
        return true;
    return ir_parser_need_sign(parser, "=") && (type->origin = ir_parser_expr(parser, IR_BIND_ANY)) != NULL;
}
