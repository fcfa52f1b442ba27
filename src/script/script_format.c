/* SPDX-License-Identifier: Apache-2.0
 * tirc fmt: canonical spacing, indentation by four, at most two blank lines, brackets that do not fit 100
 * columns (or end in a comma) one item a line. Works on tokens, so that comments, parentheses and literals
 * stay as written. Knows the grammar only through script_parse, which must accept the text first. */
#include "script/script_lex.h"
#include <string.h>

#define FORMAT_WIDTH  100u
#define FORMAT_INDENT 4u
#define FORMAT_BLANKS 2u
/* A round that adds no trailing comma yields the text it got, so rounds end; this many are never needed. */
#define FORMAT_ROUNDS 8

typedef struct format_token {
    script_token token;
    uint32_t match;  /* of a bracket: the other one */
    uint32_t width;  /* columns of all tokens before it on one line, its own space included */
    uint32_t fixed;  /* comments and trailing commas before it: what keeps a bracket open */
    bool space;      /* before it, when it does not start a line */
    bool adds_comma; /* of an opening bracket: a comma may be added behind its last item */
    bool opened;     /* of an opening bracket: laid out one item a line */
} format_token;

typedef struct format_line {
    uint32_t column; /* of a comment line: as written */
    uint32_t blanks;
    script_token comment;
} format_line;

typedef struct formatter {
    base_arena *arena;
    base_builder *out;
    script_lexer lexer;
    BASE_VECTOR(format_token) tokens;  /* of the logical line in hand */
    BASE_VECTOR(format_line) comments; /* lines of comments since the last logical line */
    BASE_VECTOR(uint32_t) columns;     /* indentation of the open blocks, as written */
    uint32_t blanks;
    uint32_t column; /* of the output line */
    uint32_t indent; /* of the output line, when nothing is on it yet */
    bool at_start;
} formatter;

/* ---- output ---- */

static uint32_t text_columns(const char *text, uint32_t size) {
    uint32_t columns = 0;
    for (uint32_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

static void start_line(formatter *f, uint32_t indent) {
    base_builder_char(f->out, '\n');
    f->at_start = true;
    f->indent = f->column = indent;
}

static void write_text(formatter *f, const char *text, uint32_t size, uint32_t spaces) {
    base_builder_repeat(f->out, ' ', f->at_start ? f->indent : spaces);
    base_builder_add(f->out, text, size);
    f->column += (f->at_start ? 0 : spaces) + text_columns(text, size);
    f->at_start = false;
}

static void write_comment(formatter *f, const script_token *token) {
    uint32_t end = token->end;
    while (end > token->begin && (f->lexer.data[end - 1] == ' ' || f->lexer.data[end - 1] == '\t' ||
                                  f->lexer.data[end - 1] == '\f'))
        end--;
    write_text(f, f->lexer.data + token->begin, end - token->begin, 2);
}

static bool is_comment(const formatter *f, uint32_t i) {
    return f->tokens.items[i].token.kind == SCRIPT_TOKEN_COMMENT;
}

/* A token; a comment ends the output line, the rest goes on at the line's indentation. */
static void write_token(formatter *f, uint32_t i, uint32_t indent) {
    const format_token *t = &f->tokens.items[i];
    if (t->token.kind != SCRIPT_TOKEN_COMMENT) {
        write_text(f, f->lexer.data + t->token.begin, t->token.end - t->token.begin, t->space);
        return;
    }
    if (t->token.starts_line && !f->at_start)
        start_line(f, indent);
    write_comment(f, &t->token);
    start_line(f, indent);
}

/* ---- spaces ---- */

static bool is_open(script_word_kind word) {
    return word == SCRIPT_WORD_OPEN_ROUND || word == SCRIPT_WORD_OPEN_SQUARE ||
           word == SCRIPT_WORD_OPEN_CURLY;
}

static bool is_close(script_word_kind word) {
    return word == SCRIPT_WORD_CLOSE_ROUND || word == SCRIPT_WORD_CLOSE_SQUARE ||
           word == SCRIPT_WORD_CLOSE_CURLY;
}

/* Can a value end with this token, so that an operator behind it has two operands and a bracket belongs to
 * it? */
static bool ends_value(const script_token *token) {
    switch (token->kind) {
    case SCRIPT_TOKEN_NAME:
    case SCRIPT_TOKEN_INTEGER:
    case SCRIPT_TOKEN_REAL:
    case SCRIPT_TOKEN_IMAGINARY:
    case SCRIPT_TOKEN_STRING:
        return true;
    default:
        return is_close(token->word) || token->word == SCRIPT_WORD_ELLIPSIS ||
               token->word == SCRIPT_WORD_TRUE || token->word == SCRIPT_WORD_FALSE ||
               token->word == SCRIPT_WORD_NONE_VALUE;
    }
}

/* An open bracket while spaces are decided. */
typedef struct format_scope {
    uint32_t open;    /* index of its token */
    uint32_t lambdas; /* whose colon is still to come */
    bool subscript, wide_colon, annotated;
} format_scope;

typedef struct spacing {
    formatter *f;
    BASE_VECTOR(format_scope) scopes;
    uint32_t keyword; /* index of a soft keyword that starts the line, or UINT32_MAX */
} spacing;

static bool value_before(const spacing *s, uint32_t i) {
    while (i > 0 && is_comment(s->f, i - 1))
        i--;
    return i > 0 && i - 1 != s->keyword && ends_value(&s->f->tokens.items[i - 1].token);
}

/* A subscript's colons have spaces when one of its bounds is more than a name or number. */
static bool has_wide_colon(const formatter *f, uint32_t open) {
    uint32_t close = f->tokens.items[open].match;
    bool wide = false, colon = false;
    for (uint32_t i = open + 1; i < close; i++) {
        const script_token *t = &f->tokens.items[i].token;
        script_word_kind word = t->word;
        colon |= word == SCRIPT_WORD_COLON;
        bool sign = (word == SCRIPT_WORD_MINUS || word == SCRIPT_WORD_PLUS || word == SCRIPT_WORD_TILDE) &&
                    !ends_value(&f->tokens.items[i - 1].token);
        wide |= t->kind == SCRIPT_TOKEN_WORD && !sign && word != SCRIPT_WORD_COLON &&
                word != SCRIPT_WORD_COMMA && word != SCRIPT_WORD_DOT && word != SCRIPT_WORD_NONE_VALUE &&
                word != SCRIPT_WORD_ELLIPSIS;
        if (is_open(word))
            i = f->tokens.items[i].match;
    }
    return wide && colon;
}

/* Space before token i, behind token i - 1, when neither is a bracket's inner side or a comma. */
static bool operator_space(const spacing *s, uint32_t i, const format_scope *scope) {
    const script_token *left = &s->f->tokens.items[i - 1].token, *right = &s->f->tokens.items[i].token;
    bool sign_left = left->kind == SCRIPT_TOKEN_WORD && left->word >= SCRIPT_WORD_PLUS &&
                     left->word <= SCRIPT_WORD_TILDE && !value_before(s, i - 1);
    if (sign_left)
        return false;
    if (right->word == SCRIPT_WORD_ASSIGN ||
        left->word == SCRIPT_WORD_ASSIGN) /* keyword=value, name: type = value */
        return !scope || scope->lambdas == 0 ? !scope || scope->annotated : false;
    if (right->word == SCRIPT_WORD_DOT)
        return left->kind == SCRIPT_TOKEN_INTEGER || left->word == SCRIPT_WORD_FROM;
    if (left->word == SCRIPT_WORD_DOT)
        return right->word == SCRIPT_WORD_IMPORT;
    if (left->word == SCRIPT_WORD_ELLIPSIS)
        return right->kind != SCRIPT_TOKEN_NAME && right->word != SCRIPT_WORD_ELLIPSIS;
    if (is_open(right->word))
        return right->word == SCRIPT_WORD_OPEN_CURLY || !value_before(s, i);
    return true;
}

static bool colon_space(const spacing *s, uint32_t i, const format_scope *scope, bool before) {
    if (!scope || !scope->subscript || scope->lambdas > 0)
        return !before;
    if (!scope->wide_colon)
        return false;
    const script_token *other = &s->f->tokens.items[before ? i - 1 : i].token;
    return other->word != SCRIPT_WORD_COLON && !(before && is_open(other->word));
}

static bool space_before(const spacing *s, uint32_t i, const format_scope *scope, bool colon_of_lambda) {
    const script_token *left = &s->f->tokens.items[i - 1].token, *right = &s->f->tokens.items[i].token;
    if (is_open(left->word) || is_close(right->word) || right->word == SCRIPT_WORD_COMMA ||
        right->word == SCRIPT_WORD_SEMICOLON)
        return false;
    if (left->word == SCRIPT_WORD_COMMA || left->word == SCRIPT_WORD_SEMICOLON)
        return true;
    if (right->word == SCRIPT_WORD_COLON)
        return !colon_of_lambda && colon_space(s, i, scope, true);
    if (left->word == SCRIPT_WORD_COLON)
        return colon_of_lambda || colon_space(s, i, scope, false);
    return operator_space(s, i, scope);
}

static format_scope *top_scope(spacing *s) {
    return s->scopes.count ? &s->scopes.items[s->scopes.count - 1] : NULL;
}

static void match_brackets(formatter *f) {
    BASE_VECTOR(uint32_t) open = {0};
    for (uint32_t i = 0; i < f->tokens.count; i++) {
        script_word_kind word = f->tokens.items[i].token.word;
        if (is_open(word)) {
            base_vector_push(f->arena, &open, i);
        } else if (is_close(word) && open.count > 0) {
            uint32_t other = open.items[--open.count];
            f->tokens.items[i].match = other;
            f->tokens.items[other].match = i;
        }
    }
}

/* "match (x):" and "case (x):": the word is no value that the bracket belongs to. A colon outside brackets
 * tells. */
static uint32_t soft_keyword(const formatter *f) {
    const script_token *first = &f->tokens.items[0].token;
    uint32_t size = first->end - first->begin;
    const char *text = f->lexer.data + first->begin;
    if (first->kind != SCRIPT_TOKEN_NAME ||
        !((size == 5 && memcmp(text, "match", 5) == 0) || (size == 4 && memcmp(text, "case", 4) == 0)))
        return UINT32_MAX;
    for (uint32_t i = 0; i < f->tokens.count; i++) {
        if (f->tokens.items[i].token.word == SCRIPT_WORD_COLON)
            return 0;
        if (is_open(f->tokens.items[i].token.word))
            i = f->tokens.items[i].match;
    }
    return UINT32_MAX;
}

/* Decides the space before every token. */
static void decide_spaces(formatter *f) {
    spacing s = {.f = f, .keyword = soft_keyword(f)};
    uint32_t base_lambdas = 0;
    bool lambda_colon = false; /* the token before is a lambda's colon */
    for (uint32_t i = 0; i < f->tokens.count; i++) {
        format_token *t = &f->tokens.items[i];
        script_word_kind word = t->token.word;
        format_scope *scope = top_scope(&s);
        uint32_t *lambdas = scope ? &scope->lambdas : &base_lambdas;
        bool closes_lambda = word == SCRIPT_WORD_COLON && *lambdas > 0;
        if (i > 0) {
            format_scope bare = {.lambdas = base_lambdas};
            const format_scope *seen = scope ? scope : base_lambdas ? &bare : NULL;
            t->space = space_before(&s, i, seen, closes_lambda || lambda_colon);
            if (word == SCRIPT_WORD_COLON && closes_lambda)
                t->space = false;
        }
        lambda_colon = closes_lambda;
        if (closes_lambda)
            --*lambdas;
        else if (word == SCRIPT_WORD_LAMBDA)
            ++*lambdas;
        else if (scope && word == SCRIPT_WORD_COLON)
            scope->annotated = true;
        else if (scope && word == SCRIPT_WORD_COMMA && scope->lambdas == 0)
            scope->annotated = false;
        if (is_open(word)) {
            bool subscript = word == SCRIPT_WORD_OPEN_SQUARE && value_before(&s, i);
            format_scope inner = {
                .open = i, .subscript = subscript, .wide_colon = subscript && has_wide_colon(f, i)};
            base_vector_push(f->arena, &s.scopes, inner);
        } else if (is_close(word) && s.scopes.count > 0) {
            s.scopes.count--;
        }
    }
}

/* ---- brackets ---- */

/* First comma of the bracket's own level from i on, or limit. A lambda's commas are its own. */
static uint32_t item_end(const formatter *f, uint32_t i, uint32_t limit) {
    uint32_t lambdas = 0;
    for (; i < limit; i++) {
        script_word_kind word = f->tokens.items[i].token.word;
        if (word == SCRIPT_WORD_COMMA && lambdas == 0)
            return i;
        lambdas += word == SCRIPT_WORD_LAMBDA;
        lambdas -= word == SCRIPT_WORD_COLON && lambdas > 0;
        if (is_open(word))
            i = f->tokens.items[i].match;
    }
    return limit;
}

/* Sets adds_comma of an opening bracket, and tells whether the bracket ends in a comma that asks for one item
 * a line. A tuple of one and a subscript of one keep their comma in the line. */
static bool classify_bracket(formatter *f, const spacing *s, uint32_t open) {
    format_token *t = &f->tokens.items[open];
    uint32_t close = t->match, last = close, first = item_end(f, open + 1, close);
    bool is_value = value_before(s, open), comprehension = false;
    bool call = t->token.word == SCRIPT_WORD_OPEN_ROUND &&
                (is_value || (open > 0 && f->tokens.items[open - 1].token.word == SCRIPT_WORD_IMPORT));
    bool display =
        t->token.word == SCRIPT_WORD_OPEN_CURLY || (t->token.word == SCRIPT_WORD_OPEN_SQUARE && !is_value);
    for (uint32_t i = open + 1; i < close; i++) {
        comprehension |= f->tokens.items[i].token.word == SCRIPT_WORD_FOR;
        if (is_open(f->tokens.items[i].token.word))
            i = f->tokens.items[i].match;
    }
    while (last > open + 1 && is_comment(f, last - 1))
        last--;
    t->adds_comma = !comprehension && (call || display || first < close);
    bool ends_in_comma = last > open + 1 && f->tokens.items[last - 1].token.word == SCRIPT_WORD_COMMA;
    bool single = first == last - 1;
    return ends_in_comma && (call || display || !single);
}

static void measure(formatter *f) {
    spacing s = {.f = f, .keyword = soft_keyword(f)};
    uint32_t width = 0, fixed = 0;
    for (uint32_t i = 0; i < f->tokens.count; i++) {
        format_token *t = &f->tokens.items[i];
        width += t->space;
        t->width = width;
        t->fixed = fixed;
        if (t->token.kind == SCRIPT_TOKEN_COMMENT)
            fixed++;
        else
            width += text_columns(f->lexer.data + t->token.begin, t->token.end - t->token.begin);
        if (is_open(t->token.word) && classify_bracket(f, &s, i))
            fixed++;
    }
}

static uint32_t fixed_in(const formatter *f, uint32_t begin, uint32_t end) {
    if (begin >= end)
        return 0;
    uint32_t after =
        end < f->tokens.count ? f->tokens.items[end].fixed : f->tokens.items[f->tokens.count - 1].fixed;
    if (end == f->tokens.count) /* the last token may be a comment, never an open bracket */
        after += is_comment(f, end - 1);
    return after - f->tokens.items[begin].fixed;
}

/* Columns of the tokens [begin, end) on one line, from the first one's own text on. */
static uint32_t flat_width(const formatter *f, uint32_t begin, uint32_t end) {
    if (begin >= end)
        return 0;
    const format_token *last = &f->tokens.items[end - 1];
    uint32_t size = is_comment(f, end - 1) ? 0
                                           : text_columns(f->lexer.data + last->token.begin,
                                                          last->token.end - last->token.begin);
    return last->width + size - f->tokens.items[begin].width;
}

static bool fits(const formatter *f, uint32_t begin, uint32_t end, uint32_t more) {
    return flat_width(f, begin, end) + f->column + more <= FORMAT_WIDTH;
}

/* ---- layout ---- */

static void layout(formatter *f, uint32_t begin, uint32_t end, uint32_t indent, bool inside, uint32_t more);

/* How early a line inside brackets breaks before this token; 0: never. */
static int break_level(const formatter *f, uint32_t i, uint32_t begin) {
    const script_token *t = &f->tokens.items[i].token, *before = &f->tokens.items[i - 1].token;
    if (t->kind == SCRIPT_TOKEN_STRING && before->kind == SCRIPT_TOKEN_STRING)
        return 6;
    if (t->kind != SCRIPT_TOKEN_WORD)
        return 0;
    bool clause = f->tokens.items[begin].token.word == SCRIPT_WORD_FOR;
    switch (t->word) {
    case SCRIPT_WORD_FOR:
        return 9;
    case SCRIPT_WORD_IF:
    case SCRIPT_WORD_ELSE:
        return 8;
    case SCRIPT_WORD_AND:
    case SCRIPT_WORD_OR:
        return 7;
    case SCRIPT_WORD_IN:
        return clause || before->word == SCRIPT_WORD_NOT ? 0 : 5;
    case SCRIPT_WORD_NOT:
        return ends_value(before) ? 5 : 0;
    case SCRIPT_WORD_IS:
    case SCRIPT_WORD_LT:
    case SCRIPT_WORD_GT:
    case SCRIPT_WORD_LE:
    case SCRIPT_WORD_GE:
    case SCRIPT_WORD_EQ:
    case SCRIPT_WORD_NE:
        return 5;
    case SCRIPT_WORD_BAR:
    case SCRIPT_WORD_CARET:
    case SCRIPT_WORD_AMPERSAND:
        return 4;
    case SCRIPT_WORD_SHIFT_LEFT:
    case SCRIPT_WORD_SHIFT_RIGHT:
        return 3;
    case SCRIPT_WORD_PLUS:
    case SCRIPT_WORD_MINUS:
        return ends_value(before) ? 2 : 0;
    case SCRIPT_WORD_STAR:
    case SCRIPT_WORD_SLASH:
    case SCRIPT_WORD_DOUBLE_SLASH:
    case SCRIPT_WORD_PERCENT:
    case SCRIPT_WORD_AT:
        return ends_value(before) ? 1 : 0;
    default:
        return 0;
    }
}

static int highest_break(const formatter *f, uint32_t begin, uint32_t end) {
    int highest = 0;
    for (uint32_t i = begin; i < end; i++) {
        int level = i > begin ? break_level(f, i, begin) : 0;
        highest = level > highest ? level : highest;
        if (is_open(f->tokens.items[i].token.word))
            i = f->tokens.items[i].match;
    }
    return highest;
}

/* One piece a line, broken before the operators that bind least. */
static void layout_operators(formatter *f, uint32_t begin, uint32_t end, uint32_t indent, int level,
                             uint32_t more) {
    uint32_t piece = begin;
    for (uint32_t i = begin + (is_open(f->tokens.items[begin].token.word) ? 0 : 1); i <= end; i++) {
        if (i == end || (i > begin && break_level(f, i, begin) == level)) {
            layout(f, piece, i, indent, true, i == end ? more : 0);
            if (i == end)
                return;
            if (!f->at_start)
                start_line(f, indent);
            piece = i;
        }
        if (is_open(f->tokens.items[i].token.word))
            i = f->tokens.items[i].match;
    }
}

/* The bracket at open, one item a line. */
static void layout_bracket(formatter *f, uint32_t open, uint32_t indent) {
    uint32_t close = f->tokens.items[open].match, i = open + 1, inner = indent + FORMAT_INDENT;
    write_token(f, open, indent);
    while (i < close && is_comment(f, i) && !f->tokens.items[i].token.starts_line)
        write_token(f, i++, inner);
    if (!f->at_start)
        start_line(f, inner);
    while (i < close) {
        if (is_comment(f, i)) {
            write_token(f, i++, inner);
            continue;
        }
        uint32_t end = item_end(f, i, close), last = end;
        while (last > i && is_comment(f, last - 1))
            last--;
        bool comma = end < close || f->tokens.items[open].adds_comma;
        layout(f, i, last, inner, true, comma);
        if (comma)
            write_text(f, ",", 1, 0);
        for (i = last; i < end; i++)
            write_token(f, i, inner);
        i += end < close;
        while (i < close && is_comment(f, i) && !f->tokens.items[i].token.starts_line && !f->at_start)
            write_token(f, i++, inner);
        if (!f->at_start)
            start_line(f, inner);
    }
    f->indent = f->column = indent;
    write_token(f, close, indent);
}

/* Brackets of the range's own level to open, from the right, until what stands before the leftmost one fits.
 */
static void choose_brackets(formatter *f, uint32_t begin, uint32_t end) {
    bool any = false;
    uint32_t tail = end, fallback = UINT32_MAX;
    for (uint32_t i = begin; i < end; i++) {
        if (!is_open(f->tokens.items[i].token.word))
            continue;
        uint32_t close = f->tokens.items[i].match;
        f->tokens.items[i].opened = fixed_in(f, i, close + 1) > 0;
        if (f->tokens.items[i].opened && !any)
            tail = i; /* what stands before the first one that must open */
        any |= f->tokens.items[i].opened;
        i = close;
    }
    if (any && flat_width(f, begin, tail) + 1 + f->column <= FORMAT_WIDTH)
        return;
    for (int wanted = 12; wanted >= 0; wanted -= 12) { /* first the brackets that are worth opening */
        for (uint32_t i = tail; i-- > begin;) {
            if (!is_close(f->tokens.items[i].token.word))
                continue;
            uint32_t open = f->tokens.items[i].match;
            if (i > open + 1 && flat_width(f, open + 1, i) > (uint32_t)wanted) {
                f->tokens.items[open].opened = true;
                fallback = open;
                if (flat_width(f, begin, open + 1) + f->column <= FORMAT_WIDTH)
                    return;
            }
            i = open;
        }
        if (fallback != UINT32_MAX)
            return;
    }
}

static void layout(formatter *f, uint32_t begin, uint32_t end, uint32_t indent, bool inside, uint32_t more) {
    if (begin >= end)
        return;
    bool flat = fixed_in(f, begin, end) == 0;
    if (flat && fits(f, begin, end, more)) {
        for (uint32_t i = begin; i < end; i++)
            write_token(f, i, indent);
        return;
    }
    int level = inside && !fits(f, begin, end, more) ? highest_break(f, begin, end) : 0;
    if (level > 0) {
        layout_operators(f, begin, end, indent, level, more);
        return;
    }
    choose_brackets(f, begin, end);
    for (uint32_t i = begin; i < end; i++) {
        if (is_open(f->tokens.items[i].token.word) && f->tokens.items[i].opened) {
            layout_bracket(f, i, indent);
            i = f->tokens.items[i].match;
        } else if (is_open(f->tokens.items[i].token.word)) {
            for (uint32_t close = f->tokens.items[i].match; i < close; i++)
                write_token(f, i, indent);
            write_token(f, i, indent);
        } else {
            write_token(f, i, indent);
        }
    }
}

/* ---- lines ---- */

static void write_blanks(formatter *f, uint32_t blanks) {
    if (f->out->size == 0)
        return;
    base_builder_repeat(f->out, '\n', blanks > FORMAT_BLANKS ? FORMAT_BLANKS : blanks);
}

/* Comment lines go to the block their column shows, between the block before and the one behind them. */
static void write_comments(formatter *f, size_t old_level, size_t new_level) {
    for (size_t i = 0; i < f->comments.count; i++) {
        const format_line *line = &f->comments.items[i];
        size_t level = old_level > new_level ? old_level : new_level;
        while (level > new_level && level < f->columns.count && f->columns.items[level] > line->column)
            level--;
        write_blanks(f, line->blanks);
        f->at_start = true;
        f->indent = f->column = (uint32_t)level * FORMAT_INDENT;
        write_comment(f, &line->comment);
        base_builder_char(f->out, '\n');
    }
    f->comments.count = 0;
}

static void write_line(formatter *f, uint32_t level) {
    uint32_t end = (uint32_t)f->tokens.count, comment = end;
    if (is_comment(f, end - 1))
        comment = --end;
    while (end > 1 && f->tokens.items[end - 1].token.word == SCRIPT_WORD_SEMICOLON)
        end--; /* a last ";" separates nothing */
    match_brackets(f);
    decide_spaces(f);
    measure(f);
    write_blanks(f, f->blanks);
    f->blanks = 0;
    f->at_start = true;
    f->indent = f->column = level * FORMAT_INDENT;
    layout(f, 0, end, level * FORMAT_INDENT, false, 0);
    if (comment < f->tokens.count)
        write_comment(f, &f->tokens.items[comment].token);
    base_builder_char(f->out, '\n');
    f->tokens.count = 0;
}

/* The tokens of one logical line, its first one in hand; its NEWLINE is taken. */
static void read_line(formatter *f, script_token *token) {
    while (token->kind != SCRIPT_TOKEN_NEWLINE && token->kind != SCRIPT_TOKEN_END) {
        if (token->kind != SCRIPT_TOKEN_BREAK)
            base_vector_push(f->arena, &f->tokens, (format_token){.token = *token});
        script_lexer_next(&f->lexer, token);
    }
}

static void format_once(base_arena *arena, base_diagnostics *diagnostics, uint32_t file, base_builder *out) {
    formatter f = {.arena = arena, .out = out};
    script_token token;
    size_t level = 0, old_level = 0;
    bool after_comment = false;
    script_lexer_start(&f.lexer, arena, diagnostics, file, 0, UINT32_MAX, SCRIPT_DEPTH_MOST, false);
    f.lexer.keep_comments = true;
    f.lexer.quiet = true;
    base_vector_push(arena, &f.columns, 0);
    for (;;) {
        script_lexer_next(&f.lexer, &token);
        switch (token.kind) {
        case SCRIPT_TOKEN_END:
            write_comments(&f, old_level, 0);
            return;
        case SCRIPT_TOKEN_INDENT:
            level++;
            f.columns.count = level;
            base_vector_push(arena, &f.columns, token.column);
            break;
        case SCRIPT_TOKEN_DEDENT:
            level -= level > 0;
            break;
        case SCRIPT_TOKEN_BREAK:
            f.blanks += !after_comment;
            after_comment = false;
            break;
        case SCRIPT_TOKEN_COMMENT: {
            format_line line = {token.column, f.blanks, token};
            base_vector_push(arena, &f.comments, line);
            f.blanks = 0;
            after_comment = true;
            break;
        }
        case SCRIPT_TOKEN_NEWLINE:
            break;
        default:
            write_comments(&f, old_level, level);
            old_level = level;
            f.columns.count = level + 1;
            read_line(&f, &token);
            write_line(&f, (uint32_t)level);
        }
    }
}

bool script_format(base_arena *arena, base_diagnostics *diagnostics, uint32_t file, base_builder *out) {
    size_t errors = base_diagnostics_errors(diagnostics);
    script_parse(arena, diagnostics, file, NULL);
    if (base_diagnostics_errors(diagnostics) != errors)
        return false;
    base_sources *sources = base_sources_create(arena);
    base_diagnostics *unused = base_diagnostics_create(arena, sources);
    base_text text = base_source_text(base_diagnostics_sources(diagnostics), file);
    base_builder last;
    for (int round = 0;; round++) {
        uint32_t copy = base_sources_add(sources, "", text.size ? text.data : "", text.size);
        base_builder_start(&last, arena);
        format_once(arena, unused, copy, &last);
        if (round == FORMAT_ROUNDS ||
            (last.size == text.size && (last.size == 0 || memcmp(last.data, text.data, last.size) == 0)))
            break;
        text = (base_text){last.data, last.size};
    }
    if (last.size)
        base_builder_add(out, last.data, last.size);
    return true;
}
