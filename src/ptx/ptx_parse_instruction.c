/* SPDX-License-Identifier: Apache-2.0
 * One instruction: guard, mnemonic, modifiers, operands. Whether they fit together is the verifier's
 * question. */
#include "ptx/ptx_parse.h"
#include <string.h>

static bool parse_guard(ptx_parser *parser, ptx_instruction *instruction) {
    ptx_lexer_next(&parser->lex);
    instruction->guard_negated = ptx_parse_accept(parser, '!');
    base_span span = ptx_parse_here(parser);
    const char *name = ptx_parse_name(parser, "a predicate register after '@'");
    if (name == NULL) {
        return false;
    }
    ptx_symbol *symbol = ptx_scope_find(parser, name);
    if (symbol == NULL || symbol->kind != PTX_SYMBOL_REGISTER) {
        base_report(parser->diagnostics, BASE_ERROR, "T0512", span,
                    "'%s' is not a declared predicate register", name);
        return false;
    }
    instruction->guard = symbol->of.reg;
    parser->registers_named++;
    return true;
}

/* The longest mnemonic that the words at the current token spell; leaves the lexer behind it. */
static bool parse_opcode(ptx_parser *parser, ptx_instruction *instruction) {
    base_names *names = parser->module->names;
    uint32_t begin = parser->lex.token.begin;
    const char *data = parser->lex.data;
    base_span span = ptx_parse_here(parser);
    const char *head = ptx_parse_name(parser, "an instruction");
    if (head == NULL) {
        return false;
    }
    uintptr_t longest = (uintptr_t)base_map_get(parser->heads, BASE_KEY(head));
    uintptr_t op = (uintptr_t)base_map_get(parser->ops, BASE_KEY(head));
    ptx_lexer after = parser->lex;
    for (uintptr_t words = 1;
         words < longest && parser->lex.token.kind == PTX_TOKEN_WORD && parser->lex.token.touches; words++) {
        const char *text = base_name(names, data + begin, parser->lex.token.end - begin);
        uintptr_t longer = (uintptr_t)base_map_get(parser->ops, BASE_KEY(text));
        ptx_lexer_next(&parser->lex);
        if (longer != 0) {
            op = longer;
            after = parser->lex;
        }
    }
    parser->lex = after;
    if (op == 0) {
        base_report(parser->diagnostics, BASE_ERROR, "T0515", span, "'%s' is no PTX instruction%s", head,
                    longest > 0 ? " by itself; expected the words of its family after it" : "");
        return false;
    }
    instruction->op = (ptx_op)op;
    return true;
}

static bool add_modifier(ptx_parser *parser, ptx_instruction *instruction) {
    const ptx_token *token = &parser->lex.token;
    const char *text =
        base_name(parser->module->names, parser->lex.data + token->begin + 1, token->end - token->begin - 1);
    ptx_mod mod = (ptx_mod)(uintptr_t)base_map_get(parser->mods, BASE_KEY(text));
    if (mod == PTX_MOD_NONE) {
        base_report(parser->diagnostics, BASE_ERROR, "T0516", ptx_parse_here(parser),
                    "'.%s' is no modifier that any PTX instruction has (here: %s)", text,
                    ptx_op_name(instruction->op));
        return false;
    }
    if (instruction->mod_count == PTX_MODS_MAX) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", ptx_parse_here(parser),
                    "an instruction has at most %d modifiers", PTX_MODS_MAX);
        return false;
    }
    instruction->mods[instruction->mod_count++] = mod;
    if ((int)mod < PTX_TYPE_COUNT) {
        if (instruction->type == PTX_TYPE_NONE) {
            instruction->type = (ptx_type)mod;
        } else if (instruction->type2 == PTX_TYPE_NONE) {
            instruction->type2 = (ptx_type)mod;
        }
    }
    ptx_lexer_next(&parser->lex);
    return true;
}

static bool parse_modifiers(ptx_parser *parser, ptx_instruction *instruction) {
    while (parser->lex.token.kind == PTX_TOKEN_WORD) {
        if (!add_modifier(parser, instruction)) {
            return false;
        }
    }
    return true;
}

/* A label, or the name of a jump table, of call targets or of a prototype: resolved when its scope closes. */
static bool push_target(ptx_parser *parser, uint8_t kind, const char **name, base_span *span) {
    *span = ptx_parse_here(parser);
    *name = ptx_parse_name(parser,
                           kind == PTX_OPERAND_LABEL ? "a label" : "the name of a target list or prototype");
    if (*name == NULL) {
        return false;
    }
    base_vector_push(parser->arena, &parser->stack, (ptx_operand){.kind = kind});
    return true;
}

static bool push_operand(ptx_parser *parser, ptx_op op) {
    ptx_operand operand;
    if (!ptx_parse_operand(parser, op, &operand)) {
        return false;
    }
    base_vector_push(parser->arena, &parser->stack, operand);
    return true;
}

/* (returns), callee, (arguments), targets: everything but the callee may be absent. */
static bool parse_call(ptx_parser *parser, const char **target, base_span *span) {
    ptx_operand list = {0};
    if (ptx_parse_is(parser, '(')) {
        if (!ptx_parse_list(parser, &list)) {
            return false;
        }
        base_vector_push(parser->arena, &parser->stack, list);
        if (!ptx_parse_expect(parser, ',', "between the returned values and the function")) {
            return false;
        }
    }
    base_span callee = ptx_parse_here(parser);
    if (!push_operand(parser, PTX_OP_CALL)) {
        return false;
    }
    uint8_t kind = parser->stack.items[parser->stack.count - 1].kind;
    if (kind != PTX_OPERAND_FUNCTION && kind != PTX_OPERAND_REGISTER) {
        base_report(parser->diagnostics, BASE_ERROR, "T0504", callee,
                    "a call needs a function or a register here");
        return false;
    }
    while (ptx_parse_accept(parser, ',')) {
        if (ptx_parse_is(parser, '(')) {
            list = (ptx_operand){0};
            if (!ptx_parse_list(parser, &list)) {
                return false;
            }
            base_vector_push(parser->arena, &parser->stack, list);
        } else {
            return push_target(parser, PTX_OPERAND_TABLE, target, span);
        }
        if (parser->stack.count > 255) {
            return false;
        }
    }
    return true;
}

static bool parse_operands(ptx_parser *parser, ptx_instruction *instruction, const char **target,
                           base_span *span) {
    if (ptx_parse_is(parser, ';')) {
        return true;
    }
    if (instruction->op == PTX_OP_BRA) {
        return push_target(parser, PTX_OPERAND_LABEL, target, span);
    }
    if (instruction->op == PTX_OP_CALL) {
        return parse_call(parser, target, span);
    }
    for (unsigned index = 0;; index++) {
        if (index == 64) {
            base_report(parser->diagnostics, BASE_ERROR, "T0511", ptx_parse_here(parser),
                        "an instruction has at most 64 operands");
            return false;
        }
        if (instruction->op == PTX_OP_BRX_IDX && index == 1) {
            return push_target(parser, PTX_OPERAND_TABLE, target, span);
        }
        if (!push_operand(parser, instruction->op)) {
            return false;
        }
        /* ld ... [a].unified */
        if (parser->lex.token.kind == PTX_TOKEN_WORD && !add_modifier(parser, instruction)) {
            return false;
        }
        if (!ptx_parse_accept(parser, ',')) {
            return true;
        }
    }
}

static void finish_operands(ptx_parser *parser, ptx_instruction *instruction, const char *target,
                            base_span span) {
    size_t count = parser->stack.count;
    instruction->operand_count = (uint8_t)count;
    instruction->operands = base_arena_allocate_array(parser->arena, count, sizeof(ptx_operand));
    if (count > 0) {
        memcpy(instruction->operands, parser->stack.items, count * sizeof(ptx_operand));
    }
    if (target != NULL) {
        base_vector_push(
            parser->arena, &parser->pending,
            (ptx_pending){.name = target, .span = span, .operand = &instruction->operands[count - 1]});
    }
}

void ptx_parse_instruction(ptx_parser *parser) {
    ptx_instruction instruction = {0};
    uint32_t begin = parser->lex.token.begin;
    uint32_t origin_begin = parser->lex.origin_begin, origin_end = parser->lex.origin_end;
    const char *target = NULL;
    base_span target_span = BASE_NO_SPAN;
    parser->stack.count = 0;
    parser->registers_named = 0;
    bool good = !ptx_parse_is(parser, '@') || parse_guard(parser, &instruction);
    good = good && parse_opcode(parser, &instruction) && parse_modifiers(parser, &instruction) &&
           parse_operands(parser, &instruction, &target, &target_span);
    if (good && parser->registers_named >= PTX_REGISTERS_MAX / 2) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", ptx_parse_since(parser, begin),
                    "an instruction names at most %d registers, this one %u", PTX_REGISTERS_MAX / 2 - 1,
                    parser->registers_named);
        good = false;
    }
    good = good && ptx_parse_expect(parser, ';', "after the instruction");
    if (!good) {
        ptx_parse_skip_statement(parser);
        return;
    }
    instruction.span = ptx_parse_since(parser, begin);
    instruction.loc_file = parser->loc_file;
    instruction.loc_line = parser->loc_line;
    instruction.loc_column = parser->loc_column;
    if (origin_end != 0) {
        instruction.origin = ptx_parse_origin(parser, origin_begin, origin_end);
    }
    finish_operands(parser, &instruction, target, target_span);
    base_vector_push(parser->arena, &parser->function->instructions, instruction);
}
