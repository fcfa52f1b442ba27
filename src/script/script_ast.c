/* SPDX-License-Identifier: Apache-2.0
 * The tree's names and its printed form: one node a line, its role in the parent first, places last. Knows
 * nothing of how a tree came to be. */
#include "script/script_ast.h"
#include <string.h>

const char *script_operator_text(script_operator op) {
    /* clang-format off */
    static const char *const texts[] = {
        "", "+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^", "+", "-", "~", "not", "and", "or",
        "==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in",
        "plain", "positional-only", "keyword-only", "*", "**",
    };
    /* clang-format on */
    return (size_t)op < sizeof texts / sizeof *texts ? texts[op] : "";
}

typedef struct node_shape {
    const char *name;   /* in the printed tree */
    const char *phrase; /* in messages */
    const char *a, *b, *c, *items, *body, *orelse, *decorators, *parameters;
    bool placeless; /* Python's tree gives it no place either */
} node_shape;

/* clang-format off */
static const node_shape shapes[] = {
    [SCRIPT_NAME] = {.name = "Name", .phrase = "a name"},
    [SCRIPT_INTEGER] = {.name = "Integer", .phrase = "an integer"},
    [SCRIPT_REAL] = {.name = "Real", .phrase = "a number"},
    [SCRIPT_STRING] = {.name = "String", .phrase = "a string"},
    [SCRIPT_BYTES] = {.name = "Bytes", .phrase = "a bytes literal"},
    [SCRIPT_FSTRING] = {.name = "FString", .phrase = "an f-string", .items = "part"},
    [SCRIPT_FORMATTED] = {.name = "Formatted", .phrase = "a replacement field", .a = "value", .items = "spec"},
    [SCRIPT_TRUE] = {.name = "True", .phrase = "True"},
    [SCRIPT_FALSE] = {.name = "False", .phrase = "False"},
    [SCRIPT_NONE] = {.name = "None", .phrase = "None"},
    [SCRIPT_ELLIPSIS] = {.name = "Ellipsis", .phrase = "'...'"},
    [SCRIPT_TUPLE] = {.name = "Tuple", .phrase = "a tuple", .items = "item"},
    [SCRIPT_LIST] = {.name = "List", .phrase = "a list", .items = "item"},
    [SCRIPT_SET] = {.name = "Set", .phrase = "a set", .items = "item"},
    [SCRIPT_DICT] = {.name = "Dict", .phrase = "a dictionary", .items = "item"},
    [SCRIPT_ATTRIBUTE] = {.name = "Attribute", .phrase = "an attribute", .a = "value"},
    [SCRIPT_SUBSCRIPT] = {.name = "Subscript", .phrase = "a subscript", .a = "value", .b = "index"},
    [SCRIPT_SLICE] = {.name = "Slice", .phrase = "a slice", .a = "lower", .b = "upper", .c = "step"},
    [SCRIPT_CALL] = {.name = "Call", .phrase = "a call", .a = "function", .items = "argument"},
    [SCRIPT_KEYWORD] = {.name = "Keyword", .phrase = "a keyword argument", .a = "value"},
    [SCRIPT_STARRED] = {.name = "Starred", .phrase = "a starred expression", .a = "value"},
    [SCRIPT_DOUBLE_STARRED] = {.name = "DoubleStarred", .phrase = "a '**' argument", .a = "value"},
    [SCRIPT_UNARY] = {.name = "Unary", .phrase = "an operation", .a = "operand"},
    [SCRIPT_BINARY] = {.name = "Binary", .phrase = "an operation", .a = "left", .b = "right"},
    [SCRIPT_BOOLEAN] = {.name = "Boolean", .phrase = "a logical expression", .items = "operand"},
    [SCRIPT_COMPARE] = {.name = "Compare", .phrase = "a comparison", .items = "operand"},
    [SCRIPT_CONDITIONAL] = {.name = "Conditional", .phrase = "a conditional expression", .a = "then", .b = "test", .c = "else"},
    [SCRIPT_LAMBDA] = {.name = "Lambda", .phrase = "a lambda", .a = "value", .parameters = "parameter"},
    [SCRIPT_LIST_COMPREHENSION] = {.name = "ListComprehension", .phrase = "a list comprehension", .a = "element", .items = "for"},
    [SCRIPT_SET_COMPREHENSION] = {.name = "SetComprehension", .phrase = "a set comprehension", .a = "element", .items = "for"},
    [SCRIPT_GENERATOR] = {.name = "Generator", .phrase = "a generator expression", .a = "element", .items = "for"},
    [SCRIPT_DICT_COMPREHENSION] = {.name = "DictComprehension", .phrase = "a dictionary comprehension", .a = "key", .b = "value", .items = "for"},
    [SCRIPT_FOR_CLAUSE] = {.name = "ForClause", .phrase = "a for clause", .a = "target", .b = "in", .items = "if", .placeless = true},
    [SCRIPT_NAMED] = {.name = "Named", .phrase = "a ':=' assignment", .a = "value"},
    [SCRIPT_EXPRESSION_STATEMENT] = {.name = "Expression", .phrase = "an expression statement", .a = "value"},
    [SCRIPT_ASSIGN] = {.name = "Assign", .phrase = "an assignment", .a = "value", .items = "target"},
    [SCRIPT_ANNOTATED_ASSIGN] = {.name = "AnnotatedAssign", .phrase = "an annotated assignment", .a = "target", .b = "annotation", .c = "value"},
    [SCRIPT_AUGMENTED_ASSIGN] = {.name = "AugmentedAssign", .phrase = "an augmented assignment", .a = "target", .b = "value"},
    [SCRIPT_IF] = {.name = "If", .phrase = "an if statement", .a = "test", .body = "body", .orelse = "else"},
    [SCRIPT_FOR] = {.name = "For", .phrase = "a for statement", .a = "target", .b = "in", .body = "body", .orelse = "else"},
    [SCRIPT_WHILE] = {.name = "While", .phrase = "a while statement", .a = "test", .body = "body", .orelse = "else"},
    [SCRIPT_WITH] = {.name = "With", .phrase = "a with statement", .items = "item", .body = "body"},
    [SCRIPT_WITH_ITEM] = {.name = "WithItem", .phrase = "a with item", .a = "value", .b = "as", .placeless = true},
    [SCRIPT_BREAK] = {.name = "Break", .phrase = "break"},
    [SCRIPT_CONTINUE] = {.name = "Continue", .phrase = "continue"},
    [SCRIPT_PASS] = {.name = "Pass", .phrase = "pass"},
    [SCRIPT_RETURN] = {.name = "Return", .phrase = "a return statement", .a = "value"},
    [SCRIPT_ASSERT] = {.name = "Assert", .phrase = "an assert statement", .a = "test", .b = "message"},
    [SCRIPT_RAISE] = {.name = "Raise", .phrase = "a raise statement", .a = "exception", .b = "from"},
    [SCRIPT_DELETE] = {.name = "Delete", .phrase = "a del statement", .items = "target"},
    [SCRIPT_GLOBAL] = {.name = "Global", .phrase = "a global statement", .items = "name"},
    [SCRIPT_NONLOCAL] = {.name = "Nonlocal", .phrase = "a nonlocal statement", .items = "name"},
    [SCRIPT_IMPORT] = {.name = "Import", .phrase = "an import", .items = "name"},
    [SCRIPT_FROM_IMPORT] = {.name = "FromImport", .phrase = "an import", .items = "name"},
    [SCRIPT_ALIAS] = {.name = "Alias", .phrase = "an imported name"},
    [SCRIPT_FUNCTION] = {.name = "Function", .phrase = "a function", .b = "returns", .items = "type", .body = "body", .decorators = "decorator", .parameters = "parameter"},
    [SCRIPT_PARAMETER] = {.name = "Parameter", .phrase = "a parameter", .a = "annotation", .b = "default"},
    [SCRIPT_CLASS] = {.name = "Class", .phrase = "a class", .items = "base", .body = "body", .decorators = "decorator", .parameters = "type"},
    [SCRIPT_TRY] = {.name = "Try", .phrase = "a try statement", .c = "finally", .items = "handler", .body = "body", .orelse = "else"},
    [SCRIPT_HANDLER] = {.name = "Handler", .phrase = "an except clause", .a = "type", .body = "body"},
    [SCRIPT_UNSUPPORTED] = {.name = "Unsupported", .phrase = "an unsupported construct", .a = "value"},
    [SCRIPT_ERROR] = {.name = "Error", .phrase = "text with an error", .body = "body"},
};
/* clang-format on */

/* clang-format off */
#define ROW(kind, form) [SCRIPT_##kind] = SCRIPT_FORM_##form
const uint8_t script_forms[SCRIPT_ERROR + 1] = {
    ROW(NAME, LEAF), ROW(INTEGER, LEAF), ROW(REAL, LEAF), ROW(STRING, LEAF), ROW(BYTES, LEAF), ROW(TRUE, LEAF),
    ROW(FALSE, LEAF), ROW(NONE, LEAF), ROW(ELLIPSIS, LEAF),
    ROW(ATTRIBUTE, PAIR), ROW(SUBSCRIPT, PAIR), ROW(KEYWORD, PAIR), ROW(STARRED, PAIR),
    ROW(DOUBLE_STARRED, PAIR), ROW(UNARY, PAIR), ROW(BINARY, PAIR), ROW(NAMED, PAIR),
    ROW(EXPRESSION_STATEMENT, PAIR), ROW(AUGMENTED_ASSIGN, PAIR), ROW(WITH_ITEM, PAIR), ROW(BREAK, PAIR),
    ROW(CONTINUE, PAIR), ROW(PASS, PAIR), ROW(RETURN, PAIR), ROW(ASSERT, PAIR), ROW(RAISE, PAIR),
    ROW(PARAMETER, PAIR),
    ROW(FSTRING, LIST), ROW(TUPLE, LIST), ROW(LIST, LIST), ROW(SET, LIST), ROW(DICT, LIST), ROW(SLICE, LIST),
    ROW(CALL, LIST), ROW(BOOLEAN, LIST), ROW(COMPARE, LIST), ROW(CONDITIONAL, LIST),
    ROW(LIST_COMPREHENSION, LIST), ROW(SET_COMPREHENSION, LIST), ROW(GENERATOR, LIST),
    ROW(DICT_COMPREHENSION, LIST), ROW(FOR_CLAUSE, LIST), ROW(ASSIGN, LIST), ROW(ANNOTATED_ASSIGN, LIST),
    ROW(DELETE, LIST), ROW(GLOBAL, LIST), ROW(NONLOCAL, LIST), ROW(IMPORT, LIST), ROW(FROM_IMPORT, LIST),
    ROW(FORMATTED, BLOCK), ROW(LAMBDA, BLOCK), ROW(IF, BLOCK), ROW(FOR, BLOCK), ROW(WHILE, BLOCK),
    ROW(WITH, BLOCK), ROW(ALIAS, BLOCK), ROW(FUNCTION, BLOCK), ROW(CLASS, BLOCK), ROW(TRY, BLOCK),
    ROW(HANDLER, BLOCK), ROW(UNSUPPORTED, BLOCK), ROW(ERROR, BLOCK),
};
#undef ROW
/* clang-format on */

void script_nodes_add(base_arena *arena, script_nodes *nodes, script_node *node) {
    if (nodes->count == nodes->capacity) { /* most lists are short */
        uint32_t wanted = nodes->capacity == 0 ? 2 : 2 * nodes->capacity;
        script_node **items = BASE_NEW_ARRAY(arena, script_node *, wanted);
        if (nodes->count > 0)
            memcpy(items, nodes->items, nodes->count * sizeof *items);
        nodes->items = items;
        nodes->capacity = wanted;
    }
    nodes->items[nodes->count++] = node;
}

const char *script_node_name(script_node_kind kind) {
    return (size_t)kind < sizeof shapes / sizeof *shapes && shapes[kind].phrase ? shapes[kind].phrase
                                                                                : "a node";
}

static void add_quoted(base_builder *out, const char *text, size_t size) {
    base_builder_string(out, " \"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            base_builder_format(out, "\\%c", c);
        else if (c >= 0x20 && c < 0x7F)
            base_builder_char(out, (char)c);
        else
            base_builder_format(out, "\\x%02x", c);
    }
    base_builder_char(out, '"');
}

static void print_value(const script_node *node, base_builder *out) {
    switch (node->kind) {
    case SCRIPT_INTEGER:
        if (node->is_wide)
            base_builder_format(out, " %llu", (unsigned long long)node->integer);
        else
            base_builder_format(out, " %lld", (long long)node->integer);
        break;
    case SCRIPT_REAL:
        base_builder_format(out, " %.17g", node->real);
        break;
    case SCRIPT_STRING:
    case SCRIPT_BYTES:
        add_quoted(out, node->text, node->size);
        break;
    case SCRIPT_FORMATTED:
        if (node->text && node->text[0] == '!')
            base_builder_format(out, " !%c", node->text[1]);
        break;
    case SCRIPT_COMPARE:
        for (size_t i = 0; i + 1 < node->items.count; i++)
            base_builder_format(out, " %s", script_operator_text(node->ops[i]));
        break;
    case SCRIPT_UNARY:
    case SCRIPT_BINARY:
    case SCRIPT_BOOLEAN:
    case SCRIPT_AUGMENTED_ASSIGN:
        base_builder_format(out, " %s", script_operator_text(node->op));
        break;
    default:
        if (node->text)
            add_quoted(out, node->text, strlen(node->text));
        if (script_form_of(node->kind) == SCRIPT_FORM_BLOCK && node->text2)
            add_quoted(out, node->text2, strlen(node->text2));
        if (node->kind == SCRIPT_PARAMETER)
            base_builder_format(out, " %s", script_operator_text(node->op));
    }
}

typedef struct printer {
    base_builder *out;
    const base_sources *sources;
} printer;

static void print_node(const printer *to, const script_node *node, const char *role, size_t indent,
                       bool places);

static void print_list(const printer *to, const script_nodes *nodes, const char *role, size_t indent,
                       bool places) {
    for (size_t i = 0; i < nodes->count; i++)
        print_node(to, nodes->items[i], role ? role : "item", indent, places);
}

static void print_node(const printer *to, const script_node *node, const char *role, size_t indent,
                       bool places) {
    base_builder_repeat(to->out, ' ', indent);
    if (role)
        base_builder_format(to->out, "%s: ", role);
    if (!node) {
        base_builder_string(to->out, "-\n");
        return;
    }
    const node_shape *shape = &shapes[node->kind];
    base_builder_string(to->out, shape->name);
    print_value(node, to->out);
    if (places && !shape->placeless && to->sources) {
        base_span last = node->span;
        last.begin = last.end;
        base_place begin = base_span_place(to->sources, node->span), end = base_span_place(to->sources, last);
        base_builder_format(to->out, " @%u:%u-%u:%u", begin.line, begin.column, end.line, end.column);
    }
    base_builder_char(to->out, '\n');
    /* A replacement field's own places are not Python's; they would only mislead. */
    places = places && node->kind != SCRIPT_FSTRING;
    indent += 2;
    script_node_form form = script_form_of(node->kind);
    if (form == SCRIPT_FORM_BLOCK) {
        print_list(to, &node->decorators, shape->decorators, indent, places);
        print_list(to, &node->parameters, shape->parameters, indent, places);
    }
    const script_node *children[] = {form >= SCRIPT_FORM_PAIR ? node->a : NULL,
                                     form >= SCRIPT_FORM_PAIR ? node->b : NULL,
                                     form >= SCRIPT_FORM_LIST ? node->c : NULL};
    const char *roles[] = {shape->a, shape->b, shape->c};
    for (int i = 0; i < 3; i++)
        if (children[i])
            print_node(to, children[i], roles[i], indent, places);
    if (form >= SCRIPT_FORM_LIST)
        print_list(to, &node->items, shape->items, indent, places);
    if (form == SCRIPT_FORM_BLOCK) {
        print_list(to, &node->body, shape->body, indent, places);
        print_list(to, &node->orelse, shape->orelse, indent, places);
    }
}

void script_ast_print(const script_ast *ast, base_builder *out) {
    printer to = {out, ast->sources};
    base_builder_string(out, "Module\n");
    for (size_t i = 0; i < ast->body.count; i++)
        print_node(&to, ast->body.items[i], NULL, 2, true);
}
