/* SPDX-License-Identifier: Apache-2.0
 * One operand of an instruction (PTX ISA 6): registers, constants, special registers, symbols, addresses,
 * vectors, pairs, selectors. Operands under construction stand on the parser's stack and are copied once. */
#include "ptx/ptx_parse.h"
#include <string.h>

static bool parse_operand_at(ptx_parser *parser, ptx_op op, unsigned depth, ptx_operand *operand);

/* Moves what stands above `base` on the stack into the arena. */
static void take_arguments(ptx_parser *parser, size_t base, ptx_operand *operand) {
    size_t count = parser->stack.count - base;
    operand->args = base_arena_allocate_array(parser->arena, count, sizeof(ptx_operand));
    if (count > 0) {
        memcpy(operand->args, parser->stack.items + base, count * sizeof(ptx_operand));
    }
    operand->count = (uint16_t)count;
    parser->stack.count = base;
}

/* Elements separated by ',' up to `close`. */
static bool parse_elements(ptx_parser *parser, ptx_op op, unsigned depth, char close, ptx_operand *operand) {
    size_t base = parser->stack.count;
    base_span open = ptx_parse_here(parser);
    ptx_lexer_next(&parser->lex);
    while (!ptx_parse_is(parser, close)) {
        ptx_operand element = {0};
        if (parser->stack.count - base >= PTX_VECTOR_MAX) {
            base_report(parser->diagnostics, BASE_ERROR, "T0511", open,
                        "more than %d elements between '%c' and '%c'", PTX_VECTOR_MAX,
                        parser->lex.data[open.begin], close);
            parser->stack.count = base;
            return false;
        }
        if (!parse_operand_at(parser, op, depth + 1, &element)) {
            parser->stack.count = base;
            return false;
        }
        base_vector_push(parser->arena, &parser->stack, element);
        if (!ptx_parse_accept(parser, ',')) {
            break;
        }
    }
    take_arguments(parser, base, operand);
    return ptx_parse_expect(parser, close, "to close the list");
}

bool ptx_parse_list(ptx_parser *parser, ptx_operand *operand) {
    operand->kind = PTX_OPERAND_LIST;
    return parse_elements(parser, PTX_OP_CALL, 1, ')', operand);
}

static bool parse_immediate(ptx_parser *parser, ptx_operand *operand) {
    ptx_immediate_kind kind = PTX_IMMEDIATE_INT;
    if (!ptx_parse_constant(parser, &operand->bits, &kind)) {
        return false;
    }
    operand->kind = PTX_OPERAND_IMMEDIATE;
    operand->immediate = (uint8_t)kind;
    return true;
}

/* %pm3, %pm3_64, %envreg17: families of numbered special registers. */
static bool find_numbered(const char *name, uint64_t *bits) {
    const char *digits = name;
    ptx_special special = PTX_SPECIAL_NONE;
    unsigned limit = 0, number = 0, count = 0;
    if (strncmp(name, "%pm", 3) == 0) {
        digits = name + 3;
        special = PTX_SPECIAL_PM;
        limit = 8;
    } else if (strncmp(name, "%envreg", 7) == 0) {
        digits = name + 7;
        special = PTX_SPECIAL_ENVREG;
        limit = 32;
    } else {
        return false;
    }
    for (; *digits >= '0' && *digits <= '9' && count < 3; digits++, count++) {
        number = number * 10 + (unsigned)(*digits - '0');
    }
    if (special == PTX_SPECIAL_PM && strcmp(digits, "_64") == 0) {
        special = PTX_SPECIAL_PM_64;
        digits += 3;
    }
    *bits = (uint64_t)special | (uint64_t)number << 16;
    return count > 0 && number < limit && *digits == '\0';
}

bool ptx_parse_special(ptx_parser *parser, ptx_operand *operand) {
    const ptx_token token = parser->lex.token;
    base_names *names = parser->module->names;
    const char *text = parser->lex.data + token.begin;
    size_t size = token.end - token.begin;
    ptx_lexer saved = parser->lex;
    ptx_lexer_next(&parser->lex);
    const ptx_token *next = &parser->lex.token;
    operand->kind = PTX_OPERAND_SPECIAL;
    bool is_word = size == 7 && memcmp(text, "WARP_SZ", 7) == 0;
    if (!is_word && text[0] != '%') {
        parser->lex = saved;
        return false;
    }
    if (next->kind == PTX_TOKEN_WORD && next->touches) {
        const char *joined = base_name(names, text + 1, next->end - token.begin - 1);
        operand->bits = (uintptr_t)base_map_get(parser->specials, BASE_KEY(joined));
        if (operand->bits != 0) {
            ptx_lexer_next(&parser->lex);
            return true;
        }
    }
    const char *name = base_name(names, text + !is_word, size - !is_word);
    operand->bits = (uintptr_t)base_map_get(parser->specials, BASE_KEY(name));
    bool alone = operand->bits != 0 && operand->bits != PTX_SPECIAL_PM &&
                 operand->bits != PTX_SPECIAL_PM_64 && operand->bits != PTX_SPECIAL_ENVREG &&
                 (operand->bits == PTX_SPECIAL_WARP_SIZE) == is_word;
    if (alone || find_numbered(base_name(names, text, size), &operand->bits)) {
        return true;
    }
    parser->lex = saved;
    return false;
}

static void register_operand(ptx_parser *parser, ptx_register *reg, ptx_operand *operand) {
    operand->kind = PTX_OPERAND_REGISTER;
    operand->of.reg = reg;
    parser->registers_named++;
}

/* A name that is no register: variable (with "+ n"), function, special register. */
static bool parse_symbol(ptx_parser *parser, const char *name, base_span span, ptx_operand *operand) {
    ptx_symbol *symbol = ptx_scope_find(parser, name);
    ptx_variable *variable = symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE
                                 ? symbol->of.variable
                                 : base_map_get(parser->module->variable_index, BASE_KEY(name));
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_REGISTER) {
        register_operand(parser, symbol->of.reg, operand);
        return true;
    }
    if (variable != NULL) {
        operand->kind = PTX_OPERAND_VARIABLE;
        operand->of.variable = variable;
        return true;
    }
    ptx_function *function = base_map_get(parser->module->function_index, BASE_KEY(name));
    if (function != NULL) {
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->of.function = function;
        return true;
    }
    base_diagnostic *d =
        base_report(parser->diagnostics, BASE_ERROR, "T0512", span, "'%s' is not declared", name);
    base_help(
        parser->diagnostics, d, "%s",
        name[0] == '%'
            ? "declare it with .reg in this scope or around it; special registers are spelled as in PTX "
              "ISA 10, like %tid.x"
            : "variables and functions stand before their first use");
    return false;
}

/* "+ n" or "- n" behind a base. */
static bool parse_offset(ptx_parser *parser, uint64_t *offset) {
    ptx_immediate_kind kind = PTX_IMMEDIATE_INT;
    base_span span = ptx_parse_here(parser);
    *offset = 0;
    if (!ptx_parse_is(parser, '+') && !ptx_parse_is(parser, '-')) {
        return true;
    }
    if (!ptx_parse_constant(parser, offset, &kind)) {
        return false;
    }
    if (kind != PTX_IMMEDIATE_INT) {
        base_report(parser->diagnostics, BASE_ERROR, "T0510", span, "an offset is an integer");
        return false;
    }
    return true;
}

/* [base + n], [map, {c0, c1}], [texture, sampler, {x, y}] */
static bool parse_memory(ptx_parser *parser, ptx_op op, unsigned depth, ptx_operand *operand) {
    size_t base = parser->stack.count;
    operand->kind = PTX_OPERAND_MEMORY;
    ptx_lexer_next(&parser->lex);
    do {
        ptx_operand part = {0};
        if (parser->stack.count - base >= 8) {
            base_report(parser->diagnostics, BASE_ERROR, "T0511", ptx_parse_here(parser),
                        "an address has at most 8 parts");
            parser->stack.count = base;
            return false;
        }
        if (!parse_operand_at(parser, op, depth + 1, &part)) {
            parser->stack.count = base;
            return false;
        }
        if (parser->stack.count == base) {
            if (part.kind == PTX_OPERAND_VARIABLE) {
                operand->bits = part.bits;
                part.bits = 0;
            } else if (!parse_offset(parser, &operand->bits)) {
                parser->stack.count = base;
                return false;
            }
        }
        base_vector_push(parser->arena, &parser->stack, part);
    } while (ptx_parse_accept(parser, ','));
    take_arguments(parser, base, operand);
    return ptx_parse_expect(parser, ']', "to close the address");
}

/* a.b0, d.h1, a.b7210: only video instructions select parts of a register. */
static void parse_selector(ptx_parser *parser, ptx_operand *operand) {
    const ptx_token *token = &parser->lex.token;
    if (token->kind != PTX_TOKEN_WORD || !token->touches || operand->kind != PTX_OPERAND_REGISTER) {
        return;
    }
    const char *text = parser->lex.data + token->begin + 1;
    uint32_t size = token->end - token->begin - 1;
    if (size < 2 || size > 5 || (text[0] != 'b' && text[0] != 'h')) {
        return;
    }
    uint64_t digits = 0;
    for (uint32_t i = 1; i < size; i++) {
        if (text[i] < '0' || text[i] > '7') {
            return;
        }
        digits = digits << 4 | (uint64_t)(text[i] - '0');
    }
    ptx_operand *inner = base_arena_copy(parser->arena, operand, sizeof(*operand));
    *operand = (ptx_operand){.kind = PTX_OPERAND_MASKED,
                             .count = 1,
                             .args = inner,
                             .bits = (uint64_t)text[0] << 56 | (uint64_t)(size - 1) << 48 | digits};
    ptx_lexer_next(&parser->lex);
}

static bool parse_named(ptx_parser *parser, ptx_operand *operand) {
    const ptx_token token = parser->lex.token;
    const char *text = parser->lex.data + token.begin;
    base_span span = ptx_parse_here(parser);
    const char *name = base_name(parser->module->names, text, token.end - token.begin);
    if (name[0] == '_' && name[1] == '\0') {
        ptx_lexer_next(&parser->lex);
        operand->kind = PTX_OPERAND_SINK;
        return true;
    }
    ptx_symbol *symbol = ptx_scope_find(parser, name);
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_REGISTER) {
        ptx_lexer_next(&parser->lex);
        register_operand(parser, symbol->of.reg, operand);
        parse_selector(parser, operand);
        return true;
    }
    if ((text[0] == '%' || text[0] == 'W') && ptx_parse_special(parser, operand)) {
        return true;
    }
    ptx_lexer_next(&parser->lex);
    if (!parse_symbol(parser, name, span, operand)) {
        return false;
    }
    return operand->kind != PTX_OPERAND_VARIABLE || parse_offset(parser, &operand->bits);
}

static bool parse_negated(ptx_parser *parser, ptx_op op, unsigned depth, ptx_operand *operand) {
    ptx_lexer saved = parser->lex;
    ptx_lexer_next(&parser->lex);
    if (parser->lex.token.kind == PTX_TOKEN_NAME) {
        base_span span = ptx_parse_here(parser);
        if (!parse_operand_at(parser, op, depth + 1, operand)) {
            return false;
        }
        if (operand->kind != PTX_OPERAND_REGISTER && operand->kind != PTX_OPERAND_MASKED &&
            operand->kind != PTX_OPERAND_SPECIAL) {
            base_report(parser->diagnostics, BASE_ERROR, "T0504", span,
                        "only a register can be negated here");
            return false;
        }
        operand->negated = true;
        return true;
    }
    parser->lex = saved;
    return parse_immediate(parser, operand);
}

static bool parse_simple(ptx_parser *parser, ptx_op op, unsigned depth, ptx_operand *operand) {
    base_span span = ptx_parse_here(parser);
    if (depth > 4) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", span, "operands nest deeper than PTX allows");
        return false;
    }
    if (ptx_parse_is(parser, '[')) {
        return parse_memory(parser, op, depth, operand);
    }
    if (ptx_parse_is(parser, '{')) {
        operand->kind = PTX_OPERAND_VECTOR;
        return parse_elements(parser, op, depth, '}', operand);
    }
    if (ptx_parse_is(parser, '!') || ptx_parse_is(parser, '-')) {
        return parse_negated(parser, op, depth, operand);
    }
    if (ptx_parse_starts_constant(parser)) {
        return parse_immediate(parser, operand);
    }
    if (parser->lex.token.kind == PTX_TOKEN_NAME) {
        return parse_named(parser, operand);
    }
    base_report(parser->diagnostics, BASE_ERROR, "T0504", span, "expected an operand, found %s",
                ptx_parse_token_text(parser));
    return false;
}

static bool parse_operand_at(ptx_parser *parser, ptx_op op, unsigned depth, ptx_operand *operand) {
    if (!parse_simple(parser, op, depth, operand)) {
        return false;
    }
    if (!ptx_parse_is(parser, '|')) {
        return true;
    }
    ptx_lexer_next(&parser->lex);
    ptx_operand *args = BASE_NEW_ARRAY(parser->arena, ptx_operand, 2);
    args[0] = *operand;
    if (!parse_simple(parser, op, depth + 1, &args[1])) {
        return false;
    }
    *operand = (ptx_operand){.kind = PTX_OPERAND_PAIR, .count = 2, .args = args};
    return true;
}

bool ptx_parse_operand(ptx_parser *parser, ptx_op op, ptx_operand *operand) {
    *operand = (ptx_operand){0};
    return parse_operand_at(parser, op, 0, operand);
}
