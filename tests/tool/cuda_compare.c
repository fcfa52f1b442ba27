/* SPDX-License-Identifier: Apache-2.0
 * cuda_compare [-n VIEW=ROOT]... [-p] EXPECTED ACTUAL: do the statements of a CUDA listing stand in the
 * emitted text?
 *
 * Both texts are parsed and normalised before they are compared: comments, preprocessor lines and parentheses
 * go; view names are mapped to their root; integer index arithmetic becomes a polynomial with folded
 * constants; scalars that are set once and never again are put into their uses; float literals are compared
 * by value. Expected lines may use `...` for a right side or an end that is left out. A line of EXPECTED
 * without a semicolon is an expression that must occur somewhere. Without -p (partial), every store and call
 * of ACTUAL must be one of EXPECTED. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory: everything lives to the end of the process ---- */
static void *make(size_t size) {
    void *data = calloc(1, size + 1);
    if (!data)
        exit(2);
    return data;
}
static char *text_of(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int size = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *out = make((size_t)size + 1);
    va_start(list, format);
    vsnprintf(out, (size_t)size + 1, format, list);
    va_end(list);
    return out;
}

/* ---- tokens ---- */
typedef struct token {
    char kind; /* 'a' name, 'n' number, 's' string, otherwise punctuation; 0 end */
    char *text;
    bool first_on_line;
} token;
typedef struct tokens {
    token *list;
    size_t count;
} tokens;

static size_t punctuation_size(const char *at) {
    static const char *const three[] = {"...", "<<=", ">>="};
    static const char *const two[] = {"<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=",
                                      "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "->", "::"};
    for (size_t i = 0; i < sizeof three / sizeof *three; ++i)
        if (!strncmp(at, three[i], 3))
            return 3;
    for (size_t i = 0; i < sizeof two / sizeof *two; ++i)
        if (!strncmp(at, two[i], 2))
            return 2;
    return 1;
}

static tokens lex(const char *at) {
    tokens out = {make((strlen(at) + 2) * sizeof(token)), 0};
    bool line_start = true;
    while (*at) {
        if (*at == '\n') {
            line_start = true;
            ++at;
        } else if (isspace((unsigned char)*at)) {
            ++at;
        } else if (*at == '#' && line_start) {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            size_t size = 1;
            char kind = '.';
            if (isalpha((unsigned char)*at) || *at == '_') {
                kind = 'a';
                while (isalnum((unsigned char)at[size]) || at[size] == '_')
                    ++size;
            } else if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
                kind = 'n';
                while (isalnum((unsigned char)at[size]) || at[size] == '.' ||
                       ((at[size] == '+' || at[size] == '-') && strchr("eEpP", at[size - 1])))
                    ++size;
            } else if (*at == '"' || *at == '\'') {
                kind = 's';
                while (at[size] && at[size] != *at)
                    size += at[size] == '\\' ? 2 : 1;
                ++size;
            } else {
                size = punctuation_size(at);
                kind = *at;
            }
            out.list[out.count++] = (token){kind, text_of("%.*s", (int)size, at), line_start};
            line_start = false;
            at += size;
        }
    }
    out.list[out.count] = (token){0, text_of(""), true};
    return out;
}

/* ---- expressions ---- */
typedef struct expr expr;
struct expr {
    char kind; /* 'v' name, 'i' integer, 'f' float, 'o' operator, 'c' call, 'x' subscript, 'k' cast, 'm'
                  member, 'w' ... */
    char *text;
    double real;
    long long integer;
    expr *args[16];
    int count;
};
typedef struct parser {
    tokens tokens;
    size_t at;
    bool failed;
} parser;

static token *peek(parser *p, size_t ahead) {
    size_t at = p->at + ahead;
    return &p->tokens.list[at < p->tokens.count ? at : p->tokens.count];
}
static bool is(parser *p, const char *text) {
    return peek(p, 0)->kind && peek(p, 0)->kind != 's' && !strcmp(peek(p, 0)->text, text);
}
static bool accept(parser *p, const char *text) {
    if (!is(p, text))
        return false;
    ++p->at;
    return true;
}
static expr *node(char kind, char *text, expr *a, expr *b) {
    expr *e = make(sizeof *e);
    e->kind = kind;
    e->text = text;
    if (a)
        e->args[e->count++] = a;
    if (b)
        e->args[e->count++] = b;
    return e;
}

static bool is_type_word(const char *word) {
    static const char *const words[] = {
        "int",      "float",   "double",   "half",        "bool",          "char",    "short",    "long",
        "unsigned", "signed",  "uint",     "uchar",       "ushort",        "int64_t", "uint64_t", "void",
        "const",    "float2",  "float3",   "float4",      "int2",          "int3",    "int4",     "uint2",
        "uint4",    "half2",   "half4",    "nv_bfloat16", "__nv_bfloat16", "__half",  "uint8_t",  "int8_t",
        "uint16_t", "int16_t", "uint32_t", "int32_t",     "size_t",        "double2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (!strcmp(words[i], word))
            return true;
    return false;
}

/* At "(" TYPE ")" : the cast's type as text, else NULL; the position is left after it. */
static char *accept_cast(parser *p) {
    size_t start = p->at;
    if (!accept(p, "(") || !is_type_word(peek(p, 0)->text)) {
        p->at = start;
        return NULL;
    }
    char *type = text_of("");
    while (peek(p, 0)->kind == 'a' || is(p, "*"))
        type = text_of("%s%s%s", type, *type && !is(p, "*") ? " " : "", p->tokens.list[p->at++].text);
    if (accept(p, ")"))
        return type;
    p->at = start;
    return NULL;
}

static expr *parse_expression(parser *p, int least);

static expr *parse_number(const char *text) {
    expr *e = node('i', text_of("%s", text), NULL, NULL);
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (strchr(text, '.') || strpbrk(text, "pP") || (!hex && strpbrk(text, "eEfF"))) {
        e->kind = 'f';
        e->real = strtod(text, NULL);
    } else {
        e->integer = strtoll(text, NULL, 0);
    }
    return e;
}

static expr *parse_primary(parser *p) {
    token *t = peek(p, 0);
    char *cast = accept_cast(p);
    if (cast)
        return node('k', cast, parse_expression(p, 20), NULL);
    if (accept(p, "(")) {
        expr *e = parse_expression(p, 0);
        if (!accept(p, ")"))
            p->failed = true;
        return e;
    }
    ++p->at;
    if (t->kind == 'a')
        return node('v', t->text, NULL, NULL);
    if (t->kind == 'n')
        return parse_number(t->text);
    if (t->kind == 's')
        return node('v', t->text, NULL, NULL);
    if (!strcmp(t->text, "..."))
        return node('w', t->text, NULL, NULL);
    if (strchr("-!~*&+", t->kind) && strlen(t->text) == 1)
        return node('o', text_of("u%s", t->text), parse_expression(p, 20), NULL);
    if (!strcmp(t->text, "++") || !strcmp(t->text, "--"))
        return node('o', text_of("u%s", t->text), parse_expression(p, 20), NULL);
    p->failed = true;
    return node('w', t->text, NULL, NULL);
}

static expr *parse_postfix(parser *p) {
    expr *e = parse_primary(p);
    for (;;) {
        if (accept(p, "[")) {
            e = node('x', NULL, e, parse_expression(p, 0));
            if (!accept(p, "]"))
                p->failed = true;
        } else if (accept(p, "(")) {
            expr *call = node('c', NULL, e, NULL);
            while (!is(p, ")") && !p->failed && call->count < 16) {
                call->args[call->count++] = parse_expression(p, 1);
                if (!accept(p, ","))
                    break;
            }
            if (!accept(p, ")"))
                p->failed = true;
            e = call;
        } else if (is(p, ".") || is(p, "::")) {
            char *separator = p->tokens.list[p->at++].text;
            e = node('m', text_of("%s%s", separator, p->tokens.list[p->at++].text), e, NULL);
        } else if (is(p, "++") || is(p, "--")) {
            e = node('o', text_of("u%s", p->tokens.list[p->at++].text), e, NULL);
        } else {
            return e;
        }
    }
}

static int precedence(const char *op) {
    static const struct {
        const char *op;
        int level;
    } table[] = {{"?", 2},  {"||", 3}, {"&&", 4}, {"|", 5},  {"^", 6},  {"&", 7},   {"==", 8},
                 {"!=", 8}, {"<", 9},  {">", 9},  {"<=", 9}, {">=", 9}, {"<<", 10}, {">>", 10},
                 {"+", 11}, {"-", 11}, {"*", 12}, {"/", 12}, {"%", 12}};
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
        if (!strcmp(op, table[i].op))
            return table[i].level;
    return -1;
}

static expr *parse_expression(parser *p, int least) {
    expr *left = parse_postfix(p);
    for (;;) {
        int level = peek(p, 0)->kind && peek(p, 0)->kind != 's' ? precedence(peek(p, 0)->text) : -1;
        if (level < 0 || level < least || least >= 20)
            return left;
        char *op = p->tokens.list[p->at++].text;
        if (!strcmp(op, "?")) {
            expr *yes = parse_expression(p, 0);
            if (!accept(p, ":"))
                p->failed = true;
            expr *e = node('o', op, left, yes);
            e->args[e->count++] = parse_expression(p, 2);
            left = e;
            continue;
        }
        left = node('o', op, left, parse_expression(p, level + 1));
    }
}

/* ---- statements, flattened in order ---- */
typedef struct statement {
    char kind; /* 'd' scalar declaration, 'a' array, 'x' expression, '=' assignment, 'h' head of control, '}'
                  , 's' signature, 'e' bare expression (expected only) */
    char *type, *name;
    expr *left, *right;
    bool matched;
} statement;
typedef struct program {
    statement *list;
    size_t count;
} program;

static statement *add(program *out, char kind) {
    if (out->count % 256 == 0) {
        out->list = realloc(out->list, (out->count + 256) * sizeof *out->list);
        if (!out->list)
            exit(2);
    }
    statement *s = &out->list[out->count++];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    return s;
}

static void parse_statement(parser *p, program *out);

static void parse_block(parser *p, program *out) {
    while (!is(p, "}") && peek(p, 0)->kind && !p->failed)
        parse_statement(p, out);
    accept(p, "}");
    add(out, '}');
}

static void parse_body(parser *p, program *out) {
    if (accept(p, "{"))
        parse_block(p, out);
    else {
        parse_statement(p, out);
        add(out, '}');
    }
}

/* Tokens up to the matching close of the parenthesis that was just opened, joined. */
static char *skip_parentheses(parser *p) {
    char *text = text_of("");
    for (int depth = 1; peek(p, 0)->kind;) {
        char *t = p->tokens.list[p->at++].text;
        depth += !strcmp(t, "(") - !strcmp(t, ")");
        if (!depth)
            break;
        text = text_of("%s%s%s", text, *text ? " " : "", t);
    }
    return text;
}

static void parse_declaration(parser *p, program *out) {
    char *type = text_of(""), *qualifiers = text_of("");
    while (peek(p, 0)->kind == 'a' || is(p, "*")) {
        token *next = peek(p, 1);
        bool attribute = !strcmp(peek(p, 0)->text, "alignas") || !strcmp(peek(p, 0)->text, "__align__");
        if (attribute) {
            p->at += 2;
            qualifiers = text_of("%s align(%s)", qualifiers, skip_parentheses(p));
            continue;
        }
        if (*type && peek(p, 0)->kind == 'a' && next->kind && strchr("[=;,", next->kind))
            break;
        char *word = p->tokens.list[p->at++].text;
        if (!strcmp(word, "__shared__") || !strcmp(word, "extern"))
            qualifiers = text_of("%s %s", qualifiers, word);
        else if (strcmp(word, "const"))
            type = text_of("%s%s%s", type, *type && strcmp(word, "*") ? " " : "", word);
    }
    char *name = p->tokens.list[p->at++].text;
    statement *s = add(out, 'd');
    s->name = name;
    s->type = text_of("%s%s", type, qualifiers);
    if (accept(p, "[")) {
        s->kind = 'a';
        s->left = is(p, "]") ? NULL : parse_expression(p, 0);
        accept(p, "]");
    }
    if (accept(p, "="))
        s->right = parse_expression(p, 0);
    if (!accept(p, ";"))
        p->failed = true;
}

static bool starts_declaration(parser *p) {
    token *t = peek(p, 0);
    if (t->kind != 'a')
        return false;
    if (!strcmp(t->text, "alignas") || !strcmp(t->text, "__shared__") || !strcmp(t->text, "extern"))
        return true;
    return is_type_word(t->text) && (peek(p, 1)->kind == 'a' || !strcmp(peek(p, 1)->text, "*"));
}

static void parse_assignment(parser *p, program *out) {
    expr *left = parse_expression(p, 0);
    char *op = peek(p, 0)->text;
    size_t size = strlen(op);
    if (peek(p, 0)->kind && peek(p, 0)->kind != 's' && size && op[size - 1] == '=' && precedence(op) < 0) {
        ++p->at;
        expr *right = parse_expression(p, 0);
        statement *s = add(out, '=');
        s->left = left;
        s->right = size == 1 ? right : node('o', text_of("%.*s", (int)size - 1, op), left, right);
    } else {
        add(out, 'x')->right = left;
    }
}

static void parse_for(parser *p, program *out) {
    if (!accept(p, "("))
        p->failed = true;
    char *head = skip_parentheses(p);
    statement *s = add(out, 'h');
    s->name = text_of("for %s", head);
    parse_body(p, out);
}

static void parse_statement(parser *p, program *out) {
    if (accept(p, "{")) {
        parse_block(p, out);
    } else if (accept(p, ";")) {
        return;
    } else if (accept(p, "for")) {
        parse_for(p, out);
    } else if (is(p, "if") || is(p, "while")) {
        char *word = p->tokens.list[p->at++].text;
        accept(p, "(");
        expr *condition = parse_expression(p, 0);
        accept(p, ")");
        statement *s = add(out, 'h');
        s->name = word;
        s->right = condition;
        parse_body(p, out);
        if (accept(p, "else")) {
            add(out, 'h')->name = text_of("else");
            parse_body(p, out);
        }
    } else if (is(p, "break") || is(p, "continue") || is(p, "return")) {
        add(out, 'h')->name = p->tokens.list[p->at++].text;
        accept(p, ";");
    } else if (starts_declaration(p)) {
        parse_declaration(p, out);
    } else {
        size_t start = p->at;
        parse_assignment(p, out);
        bool line_end = peek(p, 0)->first_on_line;
        if (!accept(p, ";")) {
            if (line_end && out->list[out->count - 1].kind == 'x')
                out->list[out->count - 1].kind = 'e';
            else
                p->failed = true;
        }
        if (p->at == start)
            ++p->at;
    }
}

/* A kernel's signature: extern "C" __global__ void __launch_bounds__(N) NAME(PARAMETERS) { */
static bool parse_signature(parser *p, program *out) {
    size_t look = p->at;
    bool global = false;
    for (; look < p->tokens.count && strcmp(p->tokens.list[look].text, "{") &&
           strcmp(p->tokens.list[look].text, ";");
         ++look)
        global |= !strcmp(p->tokens.list[look].text, "__global__");
    if (!global)
        return false;
    char *text = text_of("");
    for (; p->at < look; ++p->at)
        text = text_of("%s%s%s", text, *text ? " " : "", p->tokens.list[p->at].text);
    if (is(p, ";")) { /* a forward declaration */
        ++p->at;
        return true;
    }
    add(out, 's')->name = text;
    accept(p, "{");
    parse_block(p, out);
    return true;
}

static program parse(const char *text, const char *name) {
    parser p = {lex(text), 0, false};
    program out = {0};
    while (peek(&p, 0)->kind && !p.failed) {
        if (parse_signature(&p, &out))
            continue;
        /* helpers and typedefs before the kernels: skip to their end */
        if (is(&p, "static") || is(&p, "typedef") || is(&p, "template") || is(&p, "struct") ||
            is(&p, "__device__") || is(&p, "__forceinline__") || is(&p, "namespace") || is(&p, "using") ||
            is(&p, "inline")) {
            int depth = 0;
            while (peek(&p, 0)->kind) {
                char *t = p.tokens.list[p.at++].text;
                depth += !strcmp(t, "{") - !strcmp(t, "}");
                if (!depth && (!strcmp(t, ";") || !strcmp(t, "}")))
                    break;
            }
            accept(&p, ";");
            continue;
        }
        parse_statement(&p, &out);
    }
    if (p.failed) {
        printf("%s: not understood near `%s`\n", name, peek(&p, 0)->text);
        exit(1);
    }
    return out;
}

/* ---- normal forms ---- */
static const char *map_from[32], *map_to[32];
static int map_count;
static program *definitions; /* whose once-set scalars are put into uses */

static const char *mapped(const char *name) {
    for (int i = 0; i < map_count; ++i)
        if (!strcmp(map_from[i], name))
            return map_to[i];
    return name;
}

static expr *definition_of(const char *name) {
    expr *found = NULL;
    for (size_t i = 0; definitions && i < definitions->count; ++i) {
        statement *s = &definitions->list[i];
        if (s->kind == 'd' && !strcmp(s->name, name)) {
            if (found || !s->right)
                return NULL;
            found = s->right;
        }
        if (s->kind == '=' && s->left->kind == 'v' && !strcmp(s->left->text, name))
            return NULL;
    }
    return found;
}

static char *canonical(expr *e, bool index);

/* A sum of monomials: sorted products of atoms with integer coefficients. */
typedef struct polynomial {
    char *atoms[256];
    long long coefficients[256];
    int count;
} polynomial;

static void add_term(polynomial *p, char *atom, long long coefficient) {
    for (int i = 0; i < p->count; ++i)
        if (!strcmp(p->atoms[i], atom)) {
            p->coefficients[i] += coefficient;
            return;
        }
    if (p->count < 256) {
        p->atoms[p->count] = atom;
        p->coefficients[p->count++] = coefficient;
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *join_atoms(const char *a, const char *b) {
    char *parts[64];
    int count = 0;
    char *all = *a && *b ? text_of("%s\x01%s", a, b) : text_of("%s%s", a, b);
    for (char *t = strtok(all, "\x01"); t && count < 64; t = strtok(NULL, "\x01"))
        parts[count++] = t;
    qsort(parts, (size_t)count, sizeof *parts, by_text);
    char *out = text_of("");
    for (int i = 0; i < count; ++i)
        out = text_of("%s%s%s", out, i ? "\x01" : "", parts[i]);
    return out;
}

static void expand(expr *e, long long scale, polynomial *out) {
    expr *definition = e->kind == 'v' ? definition_of(e->text) : NULL;
    if (definition) {
        expand(definition, scale, out);
    } else if (e->kind == 'i') {
        add_term(out, text_of(""), scale * e->integer);
    } else if (e->kind == 'k' && (!strcmp(e->text, "int") || !strcmp(e->text, "int64_t"))) {
        expand(e->args[0], scale, out);
    } else if (e->kind == 'o' && e->count == 2 && (!strcmp(e->text, "+") || !strcmp(e->text, "-"))) {
        expand(e->args[0], scale, out);
        expand(e->args[1], *e->text == '-' ? -scale : scale, out);
    } else if (e->kind == 'o' && e->count == 1 && !strcmp(e->text, "u-")) {
        expand(e->args[0], -scale, out);
    } else if (e->kind == 'o' && e->count == 2 && !strcmp(e->text, "*")) {
        polynomial *a = make(sizeof *a), *b = make(sizeof *b);
        expand(e->args[0], 1, a);
        expand(e->args[1], 1, b);
        for (int i = 0; i < a->count; ++i)
            for (int j = 0; j < b->count; ++j)
                add_term(out, join_atoms(a->atoms[i], b->atoms[j]),
                         scale * a->coefficients[i] * b->coefficients[j]);
    } else {
        add_term(out, canonical(e, false), scale);
    }
}

static char *canonical_index(expr *e) {
    polynomial *p = make(sizeof *p);
    char *terms[256], *out = text_of("");
    int count = 0;
    expand(e, 1, p);
    for (int i = 0; i < p->count; ++i)
        if (p->coefficients[i])
            terms[count++] = text_of("%s*%lld", p->atoms[i], p->coefficients[i]);
    qsort(terms, (size_t)count, sizeof *terms, by_text);
    for (int i = 0; i < count; ++i)
        out = text_of("%s%s%s", out, i ? "+" : "", terms[i]);
    return count ? out : text_of("0");
}

/* base[index] as one form for A[i], *(A + i), &A[i] and *(float4*)(A + i). */
static char *canonical_place(expr *pointer, const char *type) {
    if (pointer->kind == 'o' && pointer->count == 2 && !strcmp(pointer->text, "+"))
        return text_of("%s{%s}[%s]", canonical(pointer->args[0], false), type,
                       canonical_index(pointer->args[1]));
    return text_of("%s{%s}[0]", canonical(pointer, false), type);
}

static char *canonical(expr *e, bool index) {
    if (index)
        return canonical_index(e);
    expr *definition = e->kind == 'v' ? definition_of(e->text) : NULL;
    if (definition)
        return canonical(definition, false);
    switch (e->kind) {
    case 'v':
        return text_of("%s", mapped(e->text));
    case 'w':
        return text_of("...");
    case 'i':
        return text_of("%lld", e->integer);
    case 'f':
        return text_of("%.17g", e->real);
    case 'm':
        return text_of("%s%s", canonical(e->args[0], false), e->text);
    case 'k':
        if (!strcmp(e->text, "int") && e->args[0]->kind == 'm')
            return canonical(e->args[0], false);
        return text_of("(%s)(%s)", e->text, canonical(e->args[0], false));
    case 'x':
        return text_of("%s{}[%s]", canonical(e->args[0], false), canonical_index(e->args[1]));
    case 'c': {
        char *out = text_of("%s(", canonical(e->args[0], false));
        for (int i = 1; i < e->count; ++i)
            out = text_of("%s%s%s", out, i > 1 ? "," : "", canonical(e->args[i], false));
        return text_of("%s)", out);
    }
    default:
        break;
    }
    if (!strcmp(e->text, "u*") && e->args[0]->kind == 'k') {
        char *type = e->args[0]->text;
        return canonical_place(e->args[0]->args[0], text_of("%.*s", (int)strcspn(type, "*"), type));
    }
    if (!strcmp(e->text, "u*"))
        return canonical_place(e->args[0], "");
    char *out = text_of("(%s", e->text);
    for (int i = 0; i < e->count; ++i)
        out = text_of("%s %s", out, canonical(e->args[i], false));
    return text_of("%s)", out);
}

static char *statement_text(statement *s) {
    switch (s->kind) {
    case 'd':
        return text_of("%s %s = %s", s->type, s->name, s->right ? canonical_index(s->right) : "");
    case 'a':
        return text_of("%s %s[%s]", s->type, mapped(s->name), s->left ? canonical_index(s->left) : "");
    case '=':
        return text_of("%s = %s", canonical(s->left, false), canonical(s->right, false));
    case 'x':
    case 'e':
        return canonical(s->right, false);
    case 'h':
        return s->right ? text_of("%s (%s)", s->name, canonical(s->right, false)) : text_of("%s", s->name);
    case 's':
        return text_of("%s", s->name);
    default:
        return text_of("}");
    }
}

/* An expected text may end in "..." */
static bool agrees(const char *expected, const char *actual) {
    const char *dots = strstr(expected, "...");
    return dots ? !strncmp(expected, actual, (size_t)(dots - expected)) : !strcmp(expected, actual);
}

static bool has_effect(const statement *s) {
    return (s->kind == '=' && s->left->kind != 'v') || s->kind == 'x';
}

static int compare(program *expected, program *actual, bool partial) {
    size_t from = 0;
    int problems = 0;
    definitions = actual;
    for (size_t i = 0; i < expected->count; ++i) {
        statement *want = &expected->list[i];
        if (want->kind == '}' || (want->kind == 'x' && want->right->kind == 'w'))
            continue;
        char *text = statement_text(want);
        if (want->kind == 'e') {
            bool occurs = false;
            for (size_t k = 0; !occurs && k < actual->count; ++k)
                occurs = strstr(statement_text(&actual->list[k]), text) != NULL;
            if (!occurs)
                printf("missing expression: %s\n", text), ++problems;
            continue;
        }
        size_t k = want->kind == 'd' || want->kind == 'a' || want->kind == 's' ? 0 : from;
        while (k < actual->count &&
               !(actual->list[k].kind == want->kind && agrees(text, statement_text(&actual->list[k]))))
            ++k;
        if (k == actual->count) {
            printf("missing: %s\n", text);
            ++problems;
            continue;
        }
        actual->list[k].matched = true;
        if (want->kind != 'd' && want->kind != 'a' && want->kind != 's')
            from = k + 1;
    }
    for (size_t k = 0; !partial && k < actual->count; ++k)
        if (has_effect(&actual->list[k]) && !actual->list[k].matched)
            printf("not in the listing: %s\n", statement_text(&actual->list[k])), ++problems;
    if (problems)
        for (size_t k = 0; k < actual->count; ++k)
            printf("    emitted: %s\n", statement_text(&actual->list[k]));
    return problems ? 1 : 0;
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = make(1 << 20);
    if (!file) {
        printf("cannot read %s\n", path);
        exit(2);
    }
    text[fread(text, 1, (1 << 20) - 1, file)] = 0;
    fclose(file);
    return text;
}

int main(int count, char **words) {
    bool partial = false;
    int at = 1;
    for (; at < count && words[at][0] == '-'; ++at) {
        if (!strcmp(words[at], "-p")) {
            partial = true;
            continue;
        }
        char *equals = at + 1 < count ? strchr(words[at + 1], '=') : NULL;
        if (strcmp(words[at], "-n") || !equals || map_count == 32)
            return 2;
        *equals = 0;
        map_from[map_count] = words[++at];
        map_to[map_count++] = equals + 1;
    }
    if (at + 2 != count)
        return 2;
    program expected = parse(read_file(words[at]), words[at]),
            actual = parse(read_file(words[at + 1]), words[at + 1]);
    return compare(&expected, &actual, partial);
}
