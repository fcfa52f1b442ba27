/* SPDX-License-Identifier: Apache-2.0
 * Makes a failing kernel smaller while it fails on the same road: statements with what stands below them go,
 * blocks lose their heads, bracketed expressions become one of their parts or a constant. Works on text; a
 * wrong guess does not compile, fails on another road, and is dropped. */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct reducer {
    settings *settings;
    const failure *found;
    settings quick;
    time_t end;
} reducer;

static bool still_fails(reducer *r, const char *text) {
    kernel_text kernel;
    failure now = {"", ""};
    unsigned runs = 0;
    bool fails = false;
    if (!check_parse(text, strlen(text), &kernel))
        return false;
    bool needs_nvcc = !strncmp(r->found->road, "nvcc", 4) || !strcmp(r->found->road, "CUDA text");
    tirc_session *session = tirc_session_create(NULL);
    tirc_module *ptx = NULL;
    r->quick = *r->settings;
    r->quick.all_roads = !needs_nvcc;
    if (needs_nvcc)
        ptx = check_compile(&r->quick, &kernel, 1, session, &now);
    if (needs_nvcc && !ptx)
        fails = !strcmp(now.road, r->found->road);
    else
        fails =
            !check_kernel(&r->quick, &kernel, session, ptx, &now, &runs) && !strcmp(now.road, r->found->road);
    r->settings->number = r->quick.number;
    tirc_session_destroy(session);
    /* another message on the same road is another failure */
    const char *code = strstr(r->found->what, "[T");
    char wanted[8];
    snprintf(wanted, sizeof wanted, "%.7s", code ? code : "");
    if (fails && (strncmp(now.what, r->found->what, 4) != 0 || !strstr(now.what, wanted)))
        fails = false;
    return fails;
}

static char *spliced(const char *text, size_t from, size_t to, const char *with) {
    size_t size = strlen(text), added = strlen(with);
    char *result = malloc(size - (to - from) + added + 1);
    if (!result)
        exit(2);
    memcpy(result, text, from);
    memcpy(result + from, with, added);
    memcpy(result + from + added, text + to, size - to + 1);
    return result;
}

/* Takes the candidate when it still fails; frees what is not kept. */
static bool keep_if_failing(reducer *r, char **text, char *candidate) {
    if (strcmp(*text, candidate) != 0 && time(NULL) < r->end && still_fails(r, candidate)) {
        free(*text);
        *text = candidate;
        return true;
    }
    free(candidate);
    return false;
}

static size_t line_end(const char *text, size_t at) {
    return at + strcspn(text + at, "\n") + (text[at + strcspn(text + at, "\n")] == '\n');
}
static size_t indent_at(const char *text, size_t at) {
    return strspn(text + at, " ");
}
/* The line with everything that stands deeper below it. */
static size_t block_end(const char *text, size_t at) {
    size_t indent = indent_at(text, at), end = line_end(text, at);
    while (text[end] && (text[end] == '\n' || indent_at(text, end) > indent))
        end = line_end(text, end);
    return end;
}

/* The lines below a head, one step to the left. */
static char *without_head(const char *text, size_t at) {
    size_t body = line_end(text, at), end = block_end(text, at);
    char *result = spliced(text, at, at, "");
    size_t to = at;
    for (size_t from = body; from < end;) {
        size_t next = line_end(text, from), skip = indent_at(text, from) >= 4 ? 4 : 0;
        memcpy(result + to, text + from + skip, next - from - skip);
        to += next - from - skip;
        from = next;
    }
    strcpy(result + to, text + end);
    return result;
}

static bool drop_lines(reducer *r, char **text) {
    bool any = false;
    size_t start = 0;
    for (int i = 0; i < 3; i++) /* comment, decorator, def */
        start = line_end(*text, start);
    for (size_t at = start; (*text)[at];) {
        size_t end = block_end(*text, at);
        if (keep_if_failing(r, text, spliced(*text, at, end, ""))) {
            any = true;
            continue;
        }
        if (line_end(*text, at) < end && keep_if_failing(r, text, without_head(*text, at))) {
            any = true;
            continue;
        }
        at = line_end(*text, at);
    }
    return any;
}

static size_t closing(const char *text, size_t open) {
    int depth = 0;
    for (size_t i = open; text[i] && text[i] != '\n'; i++) {
        depth += text[i] == '(' || text[i] == '[';
        depth -= text[i] == ')' || text[i] == ']';
        if (depth == 0)
            return i;
    }
    return 0;
}

/* Operands inside a bracket: cut at commas and spaces of its own level. */
static bool shrink_bracket(reducer *r, char **text, size_t name, size_t open, size_t close) {
    size_t from = open + 1;
    int depth = 0;
    for (size_t i = open + 1; i <= close; i++) {
        char c = (*text)[i];
        if (depth == 0 && (c == ',' || c == ' ' || i == close)) {
            if (i > from) {
                char part[4096];
                snprintf(part, sizeof part, "%.*s", (int)(i - from), *text + from);
                if (i - from < sizeof part && keep_if_failing(r, text, spliced(*text, name, close + 1, part)))
                    return true;
            }
            from = i + 1;
        }
        depth += c == '(' || c == '[';
        depth -= c == ')' || c == ']';
    }
    return false;
}

static bool simplify(reducer *r, char **text) {
    bool any = false;
    size_t start = 0;
    for (int i = 0; i < 3; i++)
        start = line_end(*text, start);
    for (size_t i = start; (*text)[i]; i++) {
        if ((*text)[i] != '(')
            continue;
        size_t close = closing(*text, i), name = i;
        if (!close)
            continue;
        while (name > start &&
               (strchr("._", (*text)[name - 1]) || ((*text)[name - 1] >= '0' && (*text)[name - 1] <= 'z' &&
                                                    !strchr(":;<=>?@[\\]^`", (*text)[name - 1]))))
            name--;
        if (shrink_bracket(r, text, name, i, close)) {
            any = true;
            i = name ? name - 1 : 0;
            continue;
        }
        if (close - name > 6 && (keep_if_failing(r, text, spliced(*text, name, close + 1, "T.int32(1)")) ||
                                 keep_if_failing(r, text, spliced(*text, name, close + 1, "tx"))))
            any = true;
    }
    return any;
}

char *check_reduce(settings *s, const kernel_text *kernel, const failure *found) {
    reducer r = {.settings = s, .found = found, .end = time(NULL) + 60};
    char *text = malloc(kernel->size + 1);
    if (!text)
        exit(2);
    memcpy(text, kernel->text, kernel->size);
    text[kernel->size] = 0;
    if (!still_fails(&r, text))
        return text;
    for (int round = 0; round < 6; round++) {
        bool any = drop_lines(&r, &text);
        if (strcmp(found->road, "plain") != 0) /* else a simpler index or divisor could be wrong by itself */
            any |= simplify(&r, &text);
        if (!any)
            break;
    }
    return text;
}
