/* SPDX-License-Identifier: Apache-2.0
 * The syntax tree of a script: Python's grammar, tiers A and B. Private to script/. Shapes follow Python's
 * own ast module in names and meaning, so that it can serve as the oracle in tests. */
#ifndef TIRC_SCRIPT_SCRIPT_AST_H
#define TIRC_SCRIPT_SCRIPT_AST_H
#include "script/script.h"

typedef enum script_node_kind {
    /* expressions */
    SCRIPT_NAME,      /* text */
    SCRIPT_INTEGER,   /* integer; is_wide: over INT64_MAX, the bits are a uint64_t's;
                         over 64 bits is an error */
    SCRIPT_REAL,      /* real */
    SCRIPT_STRING,    /* text, size: decoded, adjacent literals joined */
    SCRIPT_BYTES,     /* text, size: the same for b"..." */
    SCRIPT_FSTRING,   /* items: STRING and FORMATTED */
    SCRIPT_FORMATTED, /* a: value; text: conversion and spec as written ("!r:>8"), "" if none; items: the
                         spec's parts, STRING and FORMATTED, none when there is no spec */
    SCRIPT_TRUE,
    SCRIPT_FALSE,
    SCRIPT_NONE,
    SCRIPT_ELLIPSIS,
    SCRIPT_TUPLE,
    SCRIPT_LIST,
    SCRIPT_SET,       /* items */
    SCRIPT_DICT,      /* items: key, value, key, value; a NULL key: ** of the value */
    SCRIPT_ATTRIBUTE, /* a . text */
    SCRIPT_SUBSCRIPT, /* a [ b ]; b is a TUPLE for several */
    SCRIPT_SLICE,     /* a : b : c, each may be NULL */
    SCRIPT_CALL,      /* a ( items ): positional, STARRED, KEYWORD, DOUBLE_STARRED */
    SCRIPT_KEYWORD,   /* text = a */
    SCRIPT_STARRED,   /* * a */
    SCRIPT_DOUBLE_STARRED,
    SCRIPT_UNARY,       /* op a */
    SCRIPT_BINARY,      /* a op b */
    SCRIPT_BOOLEAN,     /* op and/or, items: two or more */
    SCRIPT_COMPARE,     /* items: operands; ops[i] between items[i] and items[i+1] */
    SCRIPT_CONDITIONAL, /* a if b else c */
    SCRIPT_LAMBDA,      /* parameters, a */
    SCRIPT_LIST_COMPREHENSION,
    SCRIPT_SET_COMPREHENSION,
    SCRIPT_GENERATOR,          /* a; items: FOR_CLAUSE */
    SCRIPT_DICT_COMPREHENSION, /* a: key, b: value; items: FOR_CLAUSE */
    SCRIPT_FOR_CLAUSE,         /* for a in b; items: if conditions */
    SCRIPT_NAMED,              /* text := a */
    /* statements */
    SCRIPT_EXPRESSION_STATEMENT, /* a */
    SCRIPT_ASSIGN,               /* items: targets (chained: several); a: value */
    SCRIPT_ANNOTATED_ASSIGN,     /* a: target, b: annotation, c: value or NULL */
    SCRIPT_AUGMENTED_ASSIGN,     /* a op= b */
    SCRIPT_IF,                   /* a; body; orelse */
    SCRIPT_FOR,                  /* a: target in b; body; orelse */
    SCRIPT_WHILE,                /* a; body; orelse */
    SCRIPT_WITH,                 /* items: WITH_ITEM; body */
    SCRIPT_WITH_ITEM,            /* a as b, b may be NULL */
    SCRIPT_BREAK,
    SCRIPT_CONTINUE,
    SCRIPT_PASS,
    SCRIPT_RETURN, /* a or NULL */
    SCRIPT_ASSERT, /* a, b or NULL */
    SCRIPT_RAISE,  /* a or NULL; from b or NULL */
    SCRIPT_DELETE,
    SCRIPT_GLOBAL,
    SCRIPT_NONLOCAL,    /* items */
    SCRIPT_IMPORT,      /* items: ALIAS */
    SCRIPT_FROM_IMPORT, /* text: module with leading dots; items: ALIAS; "*" is an ALIAS named * */
    SCRIPT_ALIAS,       /* text as text2 (NULL: none) */
    SCRIPT_FUNCTION,    /* text: name; decorators, parameters, b: return annotation or NULL; body;
                            items: type parameters, as PARAMETERs whose a is the bound */
    SCRIPT_PARAMETER,   /* text; a: annotation or NULL; b: default or NULL; op: kind */
    SCRIPT_CLASS,       /* text; decorators; items: bases and keywords; body; parameters: type parameters */
    SCRIPT_TRY,         /* body; items: HANDLER; orelse; c: finally, a HANDLER, or NULL */
    SCRIPT_HANDLER,     /* except a as text: body; a and text may be NULL */
    SCRIPT_UNSUPPORTED, /* text: the construct's name ("yield", "async", "match", ...); reported when reached;
                           a: what stands inside, or NULL */
    SCRIPT_ERROR        /* a statement that did not parse; already reported; body: what stands under it */
} script_node_kind;

typedef enum script_operator {
    SCRIPT_OP_NONE,
    SCRIPT_OP_ADD,
    SCRIPT_OP_SUB,
    SCRIPT_OP_MUL,
    SCRIPT_OP_DIV,
    SCRIPT_OP_FLOORDIV,
    SCRIPT_OP_MOD,
    SCRIPT_OP_POW,
    SCRIPT_OP_MATMUL,
    SCRIPT_OP_SHL,
    SCRIPT_OP_SHR,
    SCRIPT_OP_BITAND,
    SCRIPT_OP_BITOR,
    SCRIPT_OP_BITXOR,
    SCRIPT_OP_POSITIVE,
    SCRIPT_OP_NEGATIVE,
    SCRIPT_OP_INVERT,
    SCRIPT_OP_NOT,
    SCRIPT_OP_AND,
    SCRIPT_OP_OR,
    SCRIPT_OP_EQ,
    SCRIPT_OP_NE,
    SCRIPT_OP_LT,
    SCRIPT_OP_LE,
    SCRIPT_OP_GT,
    SCRIPT_OP_GE,
    SCRIPT_OP_IS,
    SCRIPT_OP_IS_NOT,
    SCRIPT_OP_IN,
    SCRIPT_OP_NOT_IN,
    /* kinds of PARAMETER */
    SCRIPT_PARAMETER_PLAIN,
    SCRIPT_PARAMETER_POSITIONAL_ONLY, /* before a / */
    SCRIPT_PARAMETER_KEYWORD_ONLY,
    SCRIPT_PARAMETER_STAR,
    SCRIPT_PARAMETER_DOUBLE_STAR
} script_operator;
const char *script_operator_text(script_operator op); /* "+", "not in" */
const char *script_node_name(script_node_kind kind);  /* as a person calls it: "a list comprehension" */

typedef struct script_node script_node;
typedef struct script_nodes {
    script_node **items;
    uint32_t count, capacity;
} script_nodes;
void script_nodes_add(base_arena *arena, script_nodes *nodes, script_node *node);

/* A tree has thousands of nodes, most of them small: a node is allocated up to the end of what its kind uses,
 * which its form says. Fields behind that may not be touched. */
typedef enum script_node_form {
    SCRIPT_FORM_LEAF,
    SCRIPT_FORM_PAIR,
    SCRIPT_FORM_LIST,
    SCRIPT_FORM_BLOCK
} script_node_form;
struct script_node {
    script_node_kind kind : 8;
    script_operator op : 8;
    bool is_wide : 1;    /* INTEGER */
    uint32_t height;     /* levels of nodes below and including this one; at most the depth limit */
    base_span span;      /* whole node */
    base_span name_span; /* the name or operator inside, where there is one */
    const char *text;
    union {
        size_t size; /* of a STRING's text */
        int64_t integer;
        double real;
        script_operator *ops; /* COMPARE: items.count - 1 */
    };
    /* not in a LEAF */
    script_node *a, *b;
    /* not in a PAIR */
    script_node *c;
    script_nodes items;
    /* not in a LIST */
    script_nodes body, orelse, decorators, parameters;
    const char *text2;
};
extern const uint8_t script_forms[SCRIPT_ERROR + 1];
static inline script_node_form script_form_of(script_node_kind kind) {
    return (script_node_form)script_forms[kind];
}

struct script_ast {
    base_arena *arena;
    const base_sources *sources; /* for places in the printed form */
    uint32_t file;
    base_names *names; /* the text of every NAME is one of them */
    script_nodes body;
};
/* One expression, for -D NAME=EXPR. NULL after errors. */
script_node *script_parse_expression(base_arena *arena, base_diagnostics *diagnostics, uint32_t file,
                                     const script_options *options);
#endif
