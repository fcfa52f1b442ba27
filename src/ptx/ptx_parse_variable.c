/* SPDX-License-Identifier: Apache-2.0
 * Constants, variable declarations with initialisers, register declarations and parameter lists (PTX
 * ISA 4.5, 5.4). */
#include "ptx/ptx_parse.h"
#include <string.h>

/* ---- constant expressions ---- */

typedef struct constant {
    uint64_t bits;
    ptx_immediate_kind kind;
} constant;

static bool parse_binary(ptx_parser *parser, int level, unsigned depth, constant *out);

bool ptx_parse_starts_constant(const ptx_parser *parser) {
    const ptx_token *token = &parser->lex.token;
    return token->kind == PTX_TOKEN_INT || token->kind == PTX_TOKEN_F32 || token->kind == PTX_TOKEN_F64 ||
           (token->kind == PTX_TOKEN_PUNCT &&
            (token->punct == '-' || token->punct == '~' || token->punct == '+' || token->punct == '!' ||
             token->punct == '('));
}

static bool not_integer(ptx_parser *parser, base_span span) {
    base_report(parser->diagnostics, BASE_ERROR, "T0510", span, "this operator needs integer constants");
    return false;
}

static bool parse_unary(ptx_parser *parser, unsigned depth, constant *out) {
    const ptx_token token = parser->lex.token;
    base_span span = ptx_parse_here(parser);
    if (depth > PTX_DEPTH_MAX) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", span, "a constant nests deeper than %d levels",
                    PTX_DEPTH_MAX);
        return false;
    }
    if (token.kind == PTX_TOKEN_INT || token.kind == PTX_TOKEN_F32 || token.kind == PTX_TOKEN_F64) {
        ptx_lexer_next(&parser->lex);
        out->bits = token.bits;
        out->kind = token.kind == PTX_TOKEN_INT   ? PTX_IMMEDIATE_INT
                    : token.kind == PTX_TOKEN_F32 ? PTX_IMMEDIATE_F32
                                                  : PTX_IMMEDIATE_F64;
        return true;
    }
    if (ptx_parse_accept(parser, '(')) {
        if (ptx_parse_word_is(parser, ".s64") || ptx_parse_word_is(parser, ".u64")) {
            ptx_lexer_next(&parser->lex);
            return ptx_parse_expect(parser, ')', "after the cast") && parse_unary(parser, depth + 1, out);
        }
        return parse_binary(parser, 0, depth + 1, out) &&
               ptx_parse_expect(parser, ')', "to close the constant");
    }
    if (token.kind == PTX_TOKEN_PUNCT && strchr("-+~!", token.punct) != NULL && token.punct != '\0') {
        ptx_lexer_next(&parser->lex);
        if (!parse_unary(parser, depth + 1, out)) {
            return false;
        }
        if (out->kind != PTX_IMMEDIATE_INT) {
            if (token.punct != '-' && token.punct != '+') {
                return not_integer(parser, span);
            }
            out->bits ^= token.punct == '+'               ? 0
                         : out->kind == PTX_IMMEDIATE_F32 ? UINT64_C(1) << 31
                                                          : UINT64_C(1) << 63;
            return true;
        }
        out->bits = token.punct == '-'   ? 0 - out->bits
                    : token.punct == '~' ? ~out->bits
                    : token.punct == '!' ? !out->bits
                                         : out->bits;
        return true;
    }
    base_report(parser->diagnostics, BASE_ERROR, "T0510", span, "expected a constant, found %s",
                ptx_parse_token_text(parser));
    return false;
}

/* C's precedence, lowest first. */
static const char *const binary_levels[] = {"|", "^", "&", "LR", "+-", "*/%"};
#define BINARY_LEVELS ((int)(sizeof(binary_levels) / sizeof(binary_levels[0])))

static bool apply(ptx_parser *parser, char operator, base_span span, constant *left, uint64_t right) {
    int64_t a = (int64_t)left->bits, b = (int64_t)right;
    switch (operator) {
    case '|':
        left->bits |= right;
        return true;
    case '^':
        left->bits ^= right;
        return true;
    case '&':
        left->bits &= right;
        return true;
    case 'L':
        left->bits = right < 64 ? left->bits << right : 0;
        return true;
    case 'R':
        left->bits = (uint64_t)(a >> (right < 64 ? right : 63));
        return true;
    case '+':
        left->bits += right;
        return true;
    case '-':
        left->bits -= right;
        return true;
    case '*':
        left->bits *= right;
        return true;
    default:
        break;
    }
    if (b == 0) {
        base_report(parser->diagnostics, BASE_ERROR, "T0510", span, "division by zero in a constant");
        return false;
    }
    if (b == -1) {
        left->bits = operator== '/' ? 0 - left->bits : 0;
    } else {
        left->bits = (uint64_t)(operator== '/' ? a / b : a % b);
    }
    return true;
}

static bool parse_binary(ptx_parser *parser, int level, unsigned depth, constant *out) {
    if (level == BINARY_LEVELS) {
        return parse_unary(parser, depth, out);
    }
    if (!parse_binary(parser, level + 1, depth, out)) {
        return false;
    }
    while (parser->lex.token.kind == PTX_TOKEN_PUNCT && parser->lex.token.punct != '\0' &&
           strchr(binary_levels[level], parser->lex.token.punct) != NULL) {
        char operator= parser->lex.token.punct;
        base_span span = ptx_parse_here(parser);
        constant right = {0};
        ptx_lexer_next(&parser->lex);
        if (!parse_binary(parser, level + 1, depth, &right)) {
            return false;
        }
        if (out->kind != PTX_IMMEDIATE_INT || right.kind != PTX_IMMEDIATE_INT) {
            return not_integer(parser, span);
        }
        if (!apply(parser, operator, span, out, right.bits)) {
            return false;
        }
    }
    return true;
}

bool ptx_parse_constant(ptx_parser *parser, uint64_t *bits, ptx_immediate_kind *kind) {
    constant value = {0};
    if (!parse_binary(parser, 0, 0, &value)) {
        return false;
    }
    *bits = value.bits;
    *kind = value.kind;
    return true;
}

/* A single literal with optional sign, not an expression: after .align 16 another directive may follow. */
bool ptx_parse_integer(ptx_parser *parser, int64_t minimum, int64_t maximum, const char *what,
                       int64_t *value) {
    base_span span = ptx_parse_here(parser);
    bool minus = ptx_parse_accept(parser, '-');
    const ptx_token token = parser->lex.token;
    if (token.kind != PTX_TOKEN_INT) {
        base_report(parser->diagnostics, BASE_ERROR, "T0510", span, "expected %s, found %s", what,
                    ptx_parse_token_text(parser));
        return false;
    }
    int64_t number = (int64_t)(minus ? 0 - token.bits : token.bits);
    ptx_lexer_next(&parser->lex);
    if (number < minimum || number > maximum || (!minus && token.bits > INT64_MAX)) {
        base_report(parser->diagnostics, BASE_ERROR, "T0510", span,
                    "expected %s from %lld to %lld, found %s%llu", what, (long long)minimum,
                    (long long)maximum, minus ? "-" : "", (unsigned long long)token.bits);
        return false;
    }
    *value = number;
    return true;
}

/* ---- initialisers ---- */

static bool parse_symbol_initial(ptx_parser *parser, ptx_initial *initial) {
    const char *name = ptx_parse_name(parser, "a constant or a symbol");
    base_span span = ptx_parse_since(parser, parser->lex.previous_end - (uint32_t)(name ? strlen(name) : 0));
    if (name == NULL) {
        return false;
    }
    bool is_mask = strcmp(name, "mask") == 0, is_generic = strcmp(name, "generic") == 0;
    if (ptx_parse_is(parser, '(') && (is_mask || is_generic)) {
        /* The grammar nests one deep, mask(0xff, generic(x)): an endless chain of either must not recurse. */
        if (initial->generic || (is_mask && initial->mask != 0)) {
            base_report(parser->diagnostics, BASE_ERROR, "T0510", span,
                        "%s( is not possible here; expected a symbol", name);
            return false;
        }
        ptx_lexer_next(&parser->lex);
        if (is_mask) {
            ptx_immediate_kind kind;
            if (!ptx_parse_constant(parser, &initial->mask, &kind) ||
                !ptx_parse_expect(parser, ',', "after the mask")) {
                return false;
            }
            if (initial->mask == 0 || kind != PTX_IMMEDIATE_INT) {
                base_report(parser->diagnostics, BASE_ERROR, "T0510", span,
                            "a mask selects at least one bit");
                return false;
            }
        } else {
            initial->generic = true;
        }
        return parse_symbol_initial(parser, initial) &&
               ptx_parse_expect(parser, ')', "to close the initialiser");
    }
    ptx_symbol *symbol = ptx_scope_find(parser, name);
    if (symbol != NULL && symbol->kind == PTX_SYMBOL_VARIABLE) {
        initial->variable = symbol->of.variable;
    } else if ((initial->variable = base_map_get(parser->module->variable_index, BASE_KEY(name))) == NULL &&
               (initial->function = base_map_get(parser->module->function_index, BASE_KEY(name))) == NULL) {
        base_report(parser->diagnostics, BASE_ERROR, "T0512", span,
                    "'%s' is not declared before this initialiser", name);
        return false;
    }
    return true;
}

static bool parse_one_initial(ptx_parser *parser, const ptx_variable *variable, ptx_initial *initial) {
    *initial = (ptx_initial){0};
    if (parser->lex.token.kind != PTX_TOKEN_NAME) {
        ptx_immediate_kind kind = PTX_IMMEDIATE_INT;
        if (!ptx_parse_constant(parser, &initial->bits, &kind)) {
            return false;
        }
        if (variable->type == PTX_TYPE_F32 && kind == PTX_IMMEDIATE_F64) {
            double wide = 0;
            memcpy(&wide, &initial->bits, sizeof(wide));
            float narrow = (float)wide;
            uint32_t bits = 0;
            memcpy(&bits, &narrow, sizeof(bits));
            initial->bits = bits;
        }
        return true;
    }
    /* generic(x), mask(m, x) and x may each carry "+ offset" behind them. */
    if (!parse_symbol_initial(parser, initial)) {
        return false;
    }
    if (ptx_parse_is(parser, '+') || ptx_parse_is(parser, '-')) {
        ptx_immediate_kind kind = PTX_IMMEDIATE_INT;
        return ptx_parse_constant(parser, &initial->bits, &kind);
    }
    return true;
}

#define DIMENSIONS_MAX 16
typedef struct shape {
    int64_t extents[DIMENSIONS_MAX]; /* -1: [] */
    unsigned rank;
} shape;

/* Elements that one step of dimension `level` holds; 0 when that is more than anything may hold. */
static uint64_t inner_elements(const shape *dimensions, unsigned level) {
    uint64_t product = 1;
    for (unsigned i = level + 1; i < dimensions->rank; i++) {
        uint64_t extent = dimensions->extents[i] > 0 ? (uint64_t)dimensions->extents[i] : 1;
        if (__builtin_mul_overflow(product, extent, &product) || product > PTX_INITIAL_MAX) {
            return 0;
        }
    }
    return product;
}

static bool parse_initial_list(ptx_parser *parser, ptx_variable *variable, const shape *dimensions,
                               unsigned level) {
    base_span open = ptx_parse_here(parser);
    if (!ptx_parse_expect(parser, '{', "to open the initialiser")) {
        return false;
    }
    if (level >= DIMENSIONS_MAX) {
        base_report(parser->diagnostics, BASE_ERROR, "T0511", open,
                    "an initialiser nests deeper than %d levels", DIMENSIONS_MAX);
        return false;
    }
    while (!ptx_parse_is(parser, '}')) {
        if (ptx_parse_is(parser, '{')) {
            uint64_t inner = inner_elements(dimensions, level);
            size_t wanted = variable->initial.count + inner;
            if (!parse_initial_list(parser, variable, dimensions, level + 1)) {
                return false;
            }
            if (inner == 0 || wanted > PTX_INITIAL_MAX) {
                base_report(parser->diagnostics, BASE_ERROR, "T0511", open,
                            "this initialiser has more than %u elements", PTX_INITIAL_MAX);
                return false;
            }
            while (variable->initial.count < wanted) {
                base_vector_push(parser->arena, &variable->initial, (ptx_initial){0});
            }
        } else {
            ptx_initial initial;
            if (!parse_one_initial(parser, variable, &initial)) {
                return false;
            }
            base_vector_push(parser->arena, &variable->initial, initial);
        }
        if (!ptx_parse_accept(parser, ',')) {
            break;
        }
    }
    return ptx_parse_expect(parser, '}', "to close the initialiser");
}

/* ---- declarators ---- */

bool ptx_parse_space(const ptx_parser *parser, ptx_space *space) {
    static const struct {
        const char *word;
        ptx_space space;
    } rows[] = {{".global", PTX_SPACE_GLOBAL},      {".shared", PTX_SPACE_SHARED},
                {".shared::cta", PTX_SPACE_SHARED}, {".shared::cluster", PTX_SPACE_SHARED},
                {".local", PTX_SPACE_LOCAL},        {".param", PTX_SPACE_PARAM},
                {".const", PTX_SPACE_CONST},        {".reg", PTX_SPACE_REG},
                {".sreg", PTX_SPACE_REG},           {".tex", PTX_SPACE_GLOBAL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (ptx_parse_word_is(parser, rows[i].word)) {
            *space = rows[i].space;
            return true;
        }
    }
    return false;
}

static bool parse_align(ptx_parser *parser, uint32_t *align) {
    int64_t value = 0;
    base_span span = ptx_parse_here(parser);
    ptx_lexer_next(&parser->lex);
    if (!ptx_parse_integer(parser, 1, 1 << 30, "an alignment", &value)) {
        return false;
    }
    if ((value & (value - 1)) != 0) {
        base_report(parser->diagnostics, BASE_ERROR, "T0513", span,
                    "an alignment is a power of two, not %lld", (long long)value);
        return false;
    }
    *align = (uint32_t)value;
    return true;
}

static void skip_attribute(ptx_parser *parser) {
    ptx_lexer_next(&parser->lex);
    while (parser->lex.token.kind != PTX_TOKEN_END && !ptx_parse_is(parser, ';') &&
           !ptx_parse_accept(parser, ')')) {
        ptx_lexer_next(&parser->lex);
    }
}

/* The words from the state space to the name: .global .align 16 .v4 .f32, or .param .u64 .ptr .global
 * .align 8. */
static bool parse_declaration_words(ptx_parser *parser, ptx_variable *variable) {
    variable->vector = 1;
    while (parser->lex.token.kind == PTX_TOKEN_WORD) {
        const ptx_token *token = &parser->lex.token;
        const char *text = parser->lex.data + token->begin + 1;
        size_t size = token->end - token->begin - 1;
        ptx_type type;
        ptx_space space;
        if (ptx_parse_word_is(parser, ".align")) {
            if (!parse_align(parser, variable->is_pointer ? &variable->pointer_align : &variable->align)) {
                return false;
            }
            continue;
        }
        if (ptx_parse_word_is(parser, ".attribute")) {
            skip_attribute(parser);
            continue;
        }
        if (ptx_parse_word_is(parser, ".ptr")) {
            variable->is_pointer = true;
        } else if (ptx_parse_word_is(parser, ".v2") || ptx_parse_word_is(parser, ".v4")) {
            variable->vector = (uint32_t)(text[1] - '0');
        } else if (ptx_type_find(text, size, &type)) {
            variable->type = type;
        } else if (variable->is_pointer && ptx_parse_space(parser, &space)) {
            variable->pointer_space = space;
        } else {
            base_report(parser->diagnostics, BASE_ERROR, "T0513", ptx_parse_here(parser),
                        "%s does not belong into a declaration; expected .align, a type or a name",
                        ptx_parse_token_text(parser));
            return false;
        }
        ptx_lexer_next(&parser->lex);
    }
    if (variable->type == PTX_TYPE_NONE) {
        base_report(parser->diagnostics, BASE_ERROR, "T0513", ptx_parse_here(parser),
                    "expected a type like .b32, found %s", ptx_parse_token_text(parser));
        return false;
    }
    return true;
}

static bool parse_dimensions(ptx_parser *parser, ptx_variable *variable, shape *dimensions) {
    base_span span = ptx_parse_here(parser);
    variable->elements = 1;
    while (ptx_parse_accept(parser, '[')) {
        int64_t extent = -1;
        ptx_immediate_kind kind = PTX_IMMEDIATE_INT;
        uint64_t bits = 0;
        if (!ptx_parse_is(parser, ']')) {
            if (!ptx_parse_constant(parser, &bits, &kind)) {
                return false;
            }
            extent = (int64_t)bits;
            if (kind != PTX_IMMEDIATE_INT || extent < 0) {
                base_report(parser->diagnostics, BASE_ERROR, "T0513", span,
                            "an array extent is a number from 0 up");
                return false;
            }
        }
        if (dimensions->rank == DIMENSIONS_MAX || !ptx_parse_expect(parser, ']', "after the extent")) {
            base_report(parser->diagnostics, BASE_ERROR, "T0511", span, "an array has at most %d dimensions",
                        DIMENSIONS_MAX);
            return false;
        }
        dimensions->extents[dimensions->rank++] = extent;
        variable->is_array = true;
        if (__builtin_mul_overflow(variable->elements, extent < 0 ? 0 : extent, &variable->elements)) {
            base_report(parser->diagnostics, BASE_ERROR, "T0513", span,
                        "this array does not fit 64 bits of address");
            return false;
        }
    }
    return true;
}

/* name[dims] = initialiser */
static bool parse_declarator(ptx_parser *parser, ptx_variable *variable) {
    shape dimensions = {.rank = 0};
    variable->span = ptx_parse_here(parser);
    variable->name = ptx_parse_name(parser, "the variable's name");
    if (variable->name == NULL || !parse_dimensions(parser, variable, &dimensions)) {
        return false;
    }
    if (ptx_parse_accept(parser, '=')) {
        if (ptx_parse_is(parser, '{')) {
            if (!parse_initial_list(parser, variable, &dimensions, 0)) {
                return false;
            }
        } else {
            ptx_initial initial;
            if (!parse_one_initial(parser, variable, &initial)) {
                return false;
            }
            base_vector_push(parser->arena, &variable->initial, initial);
        }
        size_t count = variable->initial.count;
        if (variable->is_array && dimensions.extents[0] < 0) {
            uint64_t inner = inner_elements(&dimensions, 0);
            variable->elements = (int64_t)(inner ? (count + inner - 1) / inner * inner : 0);
        }
        if ((uint64_t)variable->elements < UINT64_MAX / 4 &&
            count > (uint64_t)variable->elements * variable->vector) {
            base_report(parser->diagnostics, BASE_ERROR, "T0513", variable->span,
                        "'%s' has %lld elements, its initialiser %zu", variable->name,
                        (long long)variable->elements, count);
            return false;
        }
    }
    if (!ptx_variable_measure(variable) || variable->bytes > INT64_MAX / 2) {
        base_report(parser->diagnostics, BASE_ERROR, "T0513", variable->span,
                    "'%s' does not fit 64 bits of address", variable->name);
        return false;
    }
    return true;
}

/* ---- declarations ---- */

static bool declare_register(ptx_parser *parser, const ptx_variable *words) {
    base_span span = ptx_parse_here(parser);
    const char *name = ptx_parse_name(parser, "a register's name");
    if (name == NULL) {
        return false;
    }
    if (words->vector != 1) {
        base_report(parser->diagnostics, BASE_ERROR, "T0513", span,
                    "vector registers are not supported; declare %u scalars and write {a, b}", words->vector);
        return false;
    }
    ptx_symbol symbol = {.kind = PTX_SYMBOL_REGISTER, .type = words->type};
    if (ptx_parse_accept(parser, '<')) {
        int64_t count = 0;
        if (!ptx_parse_integer(parser, 1, UINT32_MAX, "a number of registers", &count) ||
            !ptx_parse_expect(parser, '>', "after the number of registers")) {
            return false;
        }
        symbol.kind = PTX_SYMBOL_RANGE;
        symbol.count = (uint64_t)count;
        name = base_name_of(parser->module->names, base_arena_format(parser->arena, "%s<", name));
    } else {
        symbol.of.reg = ptx_register_create(parser->module, parser->function, ptx_scope_unique(parser, name),
                                            words->type);
    }
    return ptx_scope_declare(parser, name, symbol, span);
}

static void declare_global(ptx_parser *parser, ptx_variable *variable) {
    ptx_module *module = parser->module;
    ptx_variable *known = base_map_get(module->variable_index, BASE_KEY(variable->name));
    if (known == NULL) {
        base_map_set(module->variable_index, BASE_KEY(variable->name), variable);
        base_vector_push(parser->arena, &module->variables, variable);
    } else if (known->linkage == PTX_LINK_EXTERN || known->linkage == PTX_LINK_COMMON ||
               known->linkage == PTX_LINK_WEAK) {
        *known = *variable; /* the definition completes the declaration */
    } else if (variable->linkage != PTX_LINK_EXTERN) {
        base_diagnostic *d = base_report(parser->diagnostics, BASE_ERROR, "T0508", variable->span,
                                         "variable '%s' is declared already", variable->name);
        base_note(parser->diagnostics, d, known->span, "the first declaration");
    }
}

static void declare_local(ptx_parser *parser, ptx_variable *variable) {
    const char *written = variable->name;
    variable->owner = parser->function;
    variable->name = ptx_scope_unique(parser, written);
    base_vector_push(parser->arena, &parser->function->variables, variable);
    ptx_scope_declare(parser, written, (ptx_symbol){.kind = PTX_SYMBOL_VARIABLE, .of.variable = variable},
                      variable->span);
}

void ptx_parse_variables(ptx_parser *parser, ptx_linkage linkage) {
    ptx_variable words = {.linkage = linkage};
    bool good = ptx_parse_space(parser, &words.space);
    bool is_register = words.space == PTX_SPACE_REG;
    base_span span = ptx_parse_here(parser);
    ptx_lexer_next(&parser->lex);
    if (is_register && parser->function == NULL) {
        base_report(parser->diagnostics, BASE_ERROR, "T0513", span,
                    "registers are declared inside a function");
        good = false;
    }
    good = good && parse_declaration_words(parser, &words);
    while (good) {
        if (is_register) {
            good = declare_register(parser, &words);
        } else {
            ptx_variable *variable = BASE_NEW(parser->arena, ptx_variable);
            *variable = words;
            good = parse_declarator(parser, variable);
            if (good && parser->function == NULL) {
                declare_global(parser, variable);
            } else if (good) {
                declare_local(parser, variable);
            }
        }
        if (!good || !ptx_parse_accept(parser, ',')) {
            break;
        }
    }
    if (good && ptx_parse_accept(parser, ';')) {
        return;
    }
    if (good) {
        ptx_parse_expect(parser, ';', "after the declaration");
    }
    ptx_parse_skip_statement(parser);
}

void ptx_parse_parameters(ptx_parser *parser, ptx_function *function, bool returns) {
    ptx_lexer_next(&parser->lex);
    while (!ptx_parse_is(parser, ')')) {
        ptx_variable *variable = BASE_NEW(parser->arena, ptx_variable);
        if (!ptx_parse_space(parser, &variable->space) ||
            (variable->space != PTX_SPACE_PARAM && variable->space != PTX_SPACE_REG)) {
            base_report(parser->diagnostics, BASE_ERROR, "T0504", ptx_parse_here(parser),
                        "expected .param or .reg to begin a parameter, found %s",
                        ptx_parse_token_text(parser));
            break;
        }
        ptx_lexer_next(&parser->lex);
        if (!parse_declaration_words(parser, variable) || !parse_declarator(parser, variable)) {
            break;
        }
        base_span span = variable->span;
        const char *name = variable->name;
        if (strcmp(name, "_") != 0 && parser->scope != NULL) {
            ptx_symbol symbol = {.kind = PTX_SYMBOL_VARIABLE, .of.variable = variable};
            if (variable->space == PTX_SPACE_REG) {
                symbol.kind = PTX_SYMBOL_REGISTER;
                symbol.of.reg = ptx_register_create(parser->module, function, name, variable->type);
            }
            base_map_set(parser->used_names, BASE_KEY(name), (void *)(uintptr_t)2);
            ptx_scope_declare(parser, name, symbol, span);
        }
        if (returns) {
            base_vector_push(parser->arena, &function->returns, variable);
        } else {
            base_vector_push(parser->arena, &function->parameters, variable);
        }
        if (!ptx_parse_accept(parser, ',')) {
            break;
        }
    }
    if (ptx_parse_accept(parser, ')')) {
        return;
    }
    ptx_parse_expect(parser, ')', "to close the parameters");
    while (parser->lex.token.kind != PTX_TOKEN_END && !ptx_parse_is(parser, '{') &&
           !ptx_parse_is(parser, ';') && !ptx_parse_accept(parser, ')')) {
        ptx_lexer_next(&parser->lex);
    }
}
