/* SPDX-License-Identifier: Apache-2.0
 * PTX text to a module: the directives of module scope and functions (PTX ISA 11). Recovers at ';' and at
 * directives, so that one run reports every problem. */
#include "ptx/ptx_parse.h"
#include <string.h>

base_span ptx_parse_here(const ptx_parser *parser) {
    const ptx_token *token = &parser->lex.token;
    uint32_t end = token->end > token->begin ? token->end : token->begin;
    return (base_span){parser->lex.file, token->begin, end};
}

base_span ptx_parse_since(const ptx_parser *parser, uint32_t begin) {
    uint32_t end = parser->lex.previous_end > begin ? parser->lex.previous_end : begin;
    return (base_span){parser->lex.file, begin, end};
}

bool ptx_parse_is(const ptx_parser *parser, char punct) {
    return parser->lex.token.kind == PTX_TOKEN_PUNCT && parser->lex.token.punct == punct;
}

bool ptx_parse_accept(ptx_parser *parser, char punct) {
    if (!ptx_parse_is(parser, punct)) {
        return false;
    }
    ptx_lexer_next(&parser->lex);
    return true;
}

const char *ptx_parse_token_text(const ptx_parser *parser) {
    const ptx_token *token = &parser->lex.token;
    if (token->kind == PTX_TOKEN_END) {
        return "the end of the text";
    }
    uint32_t size = token->end - token->begin;
    return base_arena_format(parser->arena, "'%.*s%s'", (int)(size > 40 ? 40 : size),
                             parser->lex.data + token->begin, size > 40 ? "..." : "");
}

bool ptx_parse_expect(ptx_parser *parser, char punct, const char *where) {
    if (ptx_parse_accept(parser, punct)) {
        return true;
    }
    base_report(parser->diagnostics, BASE_ERROR, "T0504", ptx_parse_here(parser),
                "expected '%c' %s, found %s", punct, where, ptx_parse_token_text(parser));
    return false;
}

bool ptx_parse_word_is(const ptx_parser *parser, const char *word) {
    const ptx_token *token = &parser->lex.token;
    size_t size = strlen(word);
    return token->kind == PTX_TOKEN_WORD && token->end - token->begin == size &&
           memcmp(parser->lex.data + token->begin, word, size) == 0;
}

const char *ptx_parse_name(ptx_parser *parser, const char *what) {
    const ptx_token *token = &parser->lex.token;
    if (token->kind != PTX_TOKEN_NAME) {
        base_report(parser->diagnostics, BASE_ERROR, "T0504", ptx_parse_here(parser), "expected %s, found %s",
                    what, ptx_parse_token_text(parser));
        return NULL;
    }
    const char *name =
        base_name(parser->module->names, parser->lex.data + token->begin, token->end - token->begin);
    ptx_lexer_next(&parser->lex);
    return name;
}

/* Past the next ';', or up to a brace that stands first on its line: inside an instruction braces only hold
 * vectors. */
void ptx_parse_skip_statement(ptx_parser *parser) {
    for (;;) {
        const ptx_token *token = &parser->lex.token;
        if (token->kind == PTX_TOKEN_END) {
            return;
        }
        if (ptx_parse_accept(parser, ';')) {
            return;
        }
        if (token->line_start && (ptx_parse_is(parser, '}') || ptx_parse_is(parser, '{'))) {
            return;
        }
        if (token->line_start && token->kind == PTX_TOKEN_WORD &&
            (ptx_parse_word_is(parser, ".visible") || ptx_parse_word_is(parser, ".entry") ||
             ptx_parse_word_is(parser, ".func") || ptx_parse_word_is(parser, ".extern"))) {
            return;
        }
        ptx_lexer_next(&parser->lex);
    }
}

void ptx_parse_skip_block(ptx_parser *parser) {
    base_span open = ptx_parse_here(parser);
    unsigned depth = 0;
    do {
        if (parser->lex.token.kind == PTX_TOKEN_END) {
            base_report(parser->diagnostics, BASE_ERROR, "T0505", open, "this '{' has no '}'");
            return;
        }
        depth += ptx_parse_is(parser, '{');
        depth -= ptx_parse_is(parser, '}');
        ptx_lexer_next(&parser->lex);
    } while (depth > 0);
}

/* .file N "name" [, time, size] */
static void parse_file(ptx_parser *parser) {
    int64_t number = 0;
    ptx_lexer_next(&parser->lex);
    if (!ptx_parse_integer(parser, 0, 65535, "a file number", &number)) {
        ptx_parse_skip_statement(parser);
        return;
    }
    const ptx_token *token = &parser->lex.token;
    if (token->kind != PTX_TOKEN_STRING || token->end - token->begin < 2) {
        base_report(parser->diagnostics, BASE_ERROR, "T0504", ptx_parse_here(parser),
                    "expected the file's name in quotes, found %s", ptx_parse_token_text(parser));
        return;
    }
    ptx_module *module = parser->module;
    const char *name =
        base_name(module->names, parser->lex.data + token->begin + 1, token->end - token->begin - 2);
    while (module->files.count <= (size_t)number) {
        base_vector_push(parser->arena, &module->files, NULL);
    }
    module->files.items[number] = name;
    ptx_lexer_next(&parser->lex);
    while (ptx_parse_accept(parser, ',')) {
        if (parser->lex.token.kind == PTX_TOKEN_INT) {
            ptx_lexer_next(&parser->lex);
        }
    }
}

/* .loc file line column [, function_name label [+ n]] [, inlined_at file line column]: the place itself is
 * kept. */
static void parse_loc(ptx_parser *parser) {
    int64_t file = 0, line = 0, column = 0;
    ptx_lexer_next(&parser->lex);
    if (!ptx_parse_integer(parser, 0, UINT32_MAX, "a file number", &file) ||
        !ptx_parse_integer(parser, 0, UINT32_MAX, "a line", &line) ||
        !ptx_parse_integer(parser, 0, UINT32_MAX, "a column", &column)) {
        ptx_parse_skip_statement(parser);
        return;
    }
    parser->loc_file = (uint32_t)file;
    parser->loc_line = (uint32_t)line;
    parser->loc_column = (uint32_t)column;
    while (ptx_parse_is(parser, ',')) {
        ptx_lexer_next(&parser->lex);
        const char *name = ptx_parse_name(parser, "function_name or inlined_at");
        if (name == NULL) {
            ptx_parse_skip_statement(parser);
            return;
        }
        if (strcmp(name, "function_name") == 0) {
            if (ptx_parse_name(parser, "a label of .debug_str") == NULL) {
                return;
            }
            if (ptx_parse_accept(parser, '+') &&
                !ptx_parse_integer(parser, 0, UINT32_MAX, "an offset", &file)) {
                return;
            }
        } else {
            for (int i = 0; i < 3; i++) {
                if (!ptx_parse_integer(parser, 0, UINT32_MAX, "file, line and column of the call", &file)) {
                    return;
                }
            }
        }
    }
}

bool ptx_parse_line_directive(ptx_parser *parser) {
    if (ptx_parse_word_is(parser, ".file")) {
        parse_file(parser);
    } else if (ptx_parse_word_is(parser, ".loc")) {
        parse_loc(parser);
    } else if (ptx_parse_word_is(parser, ".pragma")) {
        /* Hints to ptxas ("nounroll"); nothing that executes or prints PTX depends on them. */
        ptx_parse_skip_statement(parser);
    } else if (ptx_parse_word_is(parser, ".section")) {
        ptx_lexer_next(&parser->lex);
        ptx_lexer_next(&parser->lex);
        if (ptx_parse_is(parser, '{')) {
            ptx_parse_skip_block(parser);
        } else {
            ptx_parse_expect(parser, '{', "to open the section");
        }
    } else {
        return false;
    }
    return true;
}

static void parse_version(ptx_parser *parser) {
    ptx_lexer_next(&parser->lex);
    const ptx_token *token = &parser->lex.token;
    const char *text = parser->lex.data + token->begin;
    uint32_t size = token->end - token->begin, major = 0, i = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9' && major < 100; i++) {
        major = major * 10 + (uint32_t)(text[i] - '0');
    }
    bool good = token->kind == PTX_TOKEN_F64 && i > 0 && i + 2 == size && text[i] == '.' &&
                text[i + 1] >= '0' && text[i + 1] <= '9' && major < 100;
    if (!good) {
        base_report(parser->diagnostics, BASE_ERROR, "T0506", ptx_parse_here(parser),
                    "expected a version like 8.7 after .version, found %s", ptx_parse_token_text(parser));
    } else {
        parser->module->version = major * 10 + (uint32_t)(text[i + 1] - '0');
    }
    if (token->kind != PTX_TOKEN_WORD) {
        ptx_lexer_next(&parser->lex);
    }
}

static void parse_target(ptx_parser *parser) {
    ptx_lexer_next(&parser->lex);
    const char *target = ptx_parse_name(parser, "a target like sm_90a");
    if (target == NULL) {
        return;
    }
    parser->module->target = target;
    base_builder options;
    base_builder_start(&options, parser->arena);
    while (ptx_parse_accept(parser, ',')) {
        const char *option = ptx_parse_name(parser, "a target option like debug");
        if (option == NULL) {
            return;
        }
        /* ptxas refuses .target debug without the DWARF sections, and those are not kept. */
        if (strcmp(option, "debug") != 0) {
            base_builder_format(&options, "%s%s", options.size ? ", " : "", option);
        }
    }
    parser->module->target_options = options.data;
}

static void parse_address_size(ptx_parser *parser) {
    int64_t size = 64;
    ptx_lexer_next(&parser->lex);
    base_span span = ptx_parse_here(parser);
    if (!ptx_parse_integer(parser, 0, 1024, "32 or 64", &size)) {
        return;
    }
    if (size != 32 && size != 64) {
        base_report(parser->diagnostics, BASE_ERROR, "T0506", span, ".address_size is 32 or 64, not %lld",
                    (long long)size);
        return;
    }
    parser->module->address_size = (uint32_t)size;
}

/* .alias name, aliasee; every use of the name means the aliasee. */
static void parse_alias(ptx_parser *parser) {
    ptx_lexer_next(&parser->lex);
    base_span span = ptx_parse_here(parser);
    const char *alias = ptx_parse_name(parser, "the alias");
    bool good = alias != NULL && ptx_parse_expect(parser, ',', "between alias and function");
    const char *name = good ? ptx_parse_name(parser, "the function") : NULL;
    if (name != NULL) {
        ptx_function *function = base_map_get(parser->module->function_index, BASE_KEY(name));
        ptx_function *declared = base_map_get(parser->module->function_index, BASE_KEY(alias));
        if (function == NULL || declared == NULL) {
            base_report(parser->diagnostics, BASE_ERROR, "T0509", span,
                        "an alias needs both functions declared before it; '%s' is not",
                        function ? alias : name);
        } else {
            declared->alias = function;
        }
    }
    ptx_parse_skip_statement(parser);
}

static void parse_three(ptx_parser *parser, uint32_t values[3]) {
    for (int i = 0; i < 3; i++) {
        int64_t value = 0;
        if (!ptx_parse_integer(parser, 0, UINT32_MAX, "a positive number", &value)) {
            return;
        }
        values[i] = (uint32_t)value;
        if (i < 2 && !ptx_parse_accept(parser, ',')) {
            break;
        }
    }
    /* Dimensions that are not written count as 1; all zero means absent. */
    for (int i = 0; i < 3; i++) {
        values[i] = values[i] ? values[i] : 1;
    }
}

static bool parse_count(ptx_parser *parser, uint32_t *count) {
    int64_t value = 0;
    if (ptx_parse_integer(parser, 0, UINT32_MAX, "a positive number", &value)) {
        *count = (uint32_t)value;
    }
    return true;
}

/* .maxntid and the like, between the parameters and the body (PTX ISA 11.4, 11.7). */
static bool parse_performance_directive(ptx_parser *parser, ptx_function *function) {
    char word[32] = "";
    const ptx_token *token = &parser->lex.token;
    uint32_t size = token->end - token->begin;
    if (token->kind != PTX_TOKEN_WORD || size >= sizeof(word)) {
        return false;
    }
    memcpy(word, parser->lex.data + token->begin, size);
    uint32_t ignored = 0;
    struct {
        const char *word;
        uint32_t *three, *one;
        bool *flag;
    } const rows[] = {
        {".maxntid", function->max_threads, NULL, NULL},
        {".reqntid", function->required_threads, NULL, NULL},
        {".reqnctapercluster", function->cluster, NULL, NULL},
        {".minnctapersm", NULL, &function->min_blocks, NULL},
        {".maxnctapersm", NULL, &function->max_blocks, NULL},
        {".maxnreg", NULL, &function->max_registers, NULL},
        {".maxclusterrank", NULL, &function->max_cluster_rank, NULL},
        {".abi_preserve", NULL, &ignored, NULL},
        {".abi_preserve_control", NULL, &ignored, NULL},
        {".explicitcluster", NULL, NULL, &function->explicit_cluster},
        {".noreturn", NULL, NULL, &function->noreturn},
        {".blocksareclusters", NULL, NULL, &function->blocks_are_clusters},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(word, rows[i].word) != 0) {
            continue;
        }
        ptx_lexer_next(&parser->lex);
        if (rows[i].three != NULL) {
            parse_three(parser, rows[i].three);
        } else if (rows[i].one != NULL) {
            parse_count(parser, rows[i].one);
        } else {
            *rows[i].flag = true;
        }
        return true;
    }
    return false;
}

/* The object for a function's name: a new one, or the declaration that this text completes. */
static ptx_function *function_object(ptx_parser *parser, const char *name, bool is_entry, base_span span) {
    ptx_module *module = parser->module;
    ptx_function *known = base_map_get(module->function_index, BASE_KEY(name));
    if (known == NULL) {
        ptx_function *function = ptx_function_create(module, name, is_entry);
        function->span = span;
        return function;
    }
    return known;
}

static void reset_signature(ptx_function *function) {
    function->parameters.count = 0;
    function->returns.count = 0;
}

static void finish_function(ptx_parser *parser, ptx_function *function) {
    while (parser->lex.token.kind == PTX_TOKEN_WORD) {
        if (parse_performance_directive(parser, function) || ptx_parse_line_directive(parser)) {
            continue;
        }
        base_report(parser->diagnostics, BASE_ERROR, "T0507", ptx_parse_here(parser),
                    "%s is no directive of a function; expected one like .maxntid, or the body",
                    ptx_parse_token_text(parser));
        ptx_lexer_next(&parser->lex);
    }
    if (ptx_parse_accept(parser, ';')) {
        return;
    }
    if (!ptx_parse_is(parser, '{')) {
        ptx_parse_expect(parser, '{', "to open the body, or ';'");
        ptx_parse_skip_statement(parser);
        return;
    }
    function->has_body = true;
    parser->function = function;
    ptx_parse_body(parser);
    parser->function = NULL;
}

/* At .entry or .func. */
static void parse_function(ptx_parser *parser, ptx_linkage linkage) {
    bool is_entry = ptx_parse_word_is(parser, ".entry");
    uint32_t begin = parser->lex.token.begin;
    ptx_lexer_next(&parser->lex);
    if (ptx_parse_word_is(parser, ".attribute")) {
        ptx_lexer_next(&parser->lex);
        while (parser->lex.token.kind != PTX_TOKEN_END && !ptx_parse_accept(parser, ')')) {
            ptx_lexer_next(&parser->lex);
        }
    }
    bool early_noreturn = ptx_parse_word_is(parser, ".noreturn");
    if (early_noreturn) {
        ptx_lexer_next(&parser->lex);
    }
    /* The signature is read into a draft: the name that says which function it is comes after the returns. */
    ptx_function *draft = BASE_NEW(parser->arena, ptx_function);
    parser->scope = NULL;
    parser->used_names = base_map_create(parser->arena);
    ptx_scope_open(parser, ptx_parse_here(parser));
    if (ptx_parse_is(parser, '(')) {
        ptx_parse_parameters(parser, draft, true);
    }
    base_span span = ptx_parse_here(parser);
    const char *name = ptx_parse_name(parser, "the function's name");
    if (name == NULL) {
        parser->scope = NULL;
        ptx_parse_skip_statement(parser);
        return;
    }
    if (ptx_parse_is(parser, '(')) {
        ptx_parse_parameters(parser, draft, false);
    }
    ptx_function *function = function_object(parser, name, is_entry, span);
    if (function->has_body) {
        ptx_token token = parser->lex.token;
        if (!(token.kind == PTX_TOKEN_PUNCT && token.punct == ';')) {
            base_diagnostic *d = base_report(parser->diagnostics, BASE_ERROR, "T0508", span,
                                             "function '%s' has a body already", name);
            base_note(parser->diagnostics, d, function->span, "the first body");
        }
        draft->name = name;
        draft->is_entry = is_entry;
        function = draft; /* read for its own problems, then forgotten */
    } else {
        reset_signature(function);
        function->parameters.items = draft->parameters.items;
        function->parameters.count = draft->parameters.count;
        function->parameters.capacity = draft->parameters.capacity;
        function->returns.items = draft->returns.items;
        function->returns.count = draft->returns.count;
        function->returns.capacity = draft->returns.capacity;
        function->registers.items = draft->registers.items;
        function->registers.count = draft->registers.count;
        function->registers.capacity = draft->registers.capacity;
        function->is_entry = is_entry;
        if (linkage != PTX_LINK_NONE) {
            function->linkage = linkage;
        }
        for (size_t i = 0; i < function->parameters.count; i++) {
            function->parameters.items[i]->owner = function;
        }
        for (size_t i = 0; i < function->returns.count; i++) {
            function->returns.items[i]->owner = function;
        }
    }
    function->noreturn = function->noreturn || early_noreturn;
    function->span = ptx_parse_since(parser, begin);
    finish_function(parser, function);
    parser->scope = NULL;
}

static ptx_linkage parse_linkage(ptx_parser *parser) {
    static const struct {
        const char *word;
        ptx_linkage linkage;
    } rows[] = {{".extern", PTX_LINK_EXTERN},
                {".visible", PTX_LINK_VISIBLE},
                {".weak", PTX_LINK_WEAK},
                {".common", PTX_LINK_COMMON}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (ptx_parse_word_is(parser, rows[i].word)) {
            ptx_lexer_next(&parser->lex);
            return rows[i].linkage;
        }
    }
    return PTX_LINK_NONE;
}

static void parse_module_item(ptx_parser *parser) {
    ptx_space space;
    if (ptx_parse_accept(parser, ';')) {
        return;
    }
    if (parser->lex.token.kind != PTX_TOKEN_WORD) {
        base_report(parser->diagnostics, BASE_ERROR, "T0507", ptx_parse_here(parser),
                    "expected a directive like .global, .func or .entry, found %s",
                    ptx_parse_token_text(parser));
        /* On to something that can begin an item, so that a stray body costs one message. */
        do {
            ptx_lexer_next(&parser->lex);
        } while (parser->lex.token.kind != PTX_TOKEN_END &&
                 !(parser->lex.token.kind == PTX_TOKEN_WORD && parser->lex.token.line_start));
        return;
    }
    if (ptx_parse_word_is(parser, ".version")) {
        parse_version(parser);
    } else if (ptx_parse_word_is(parser, ".target")) {
        parse_target(parser);
    } else if (ptx_parse_word_is(parser, ".address_size")) {
        parse_address_size(parser);
    } else if (ptx_parse_word_is(parser, ".alias")) {
        parse_alias(parser);
    } else if (!ptx_parse_line_directive(parser)) {
        ptx_linkage linkage = parse_linkage(parser);
        if (ptx_parse_word_is(parser, ".entry") || ptx_parse_word_is(parser, ".func")) {
            parse_function(parser, linkage);
        } else if (ptx_parse_space(parser, &space)) {
            ptx_parse_variables(parser, linkage);
        } else {
            base_report(parser->diagnostics, BASE_ERROR, "T0507", ptx_parse_here(parser),
                        "%s does not begin anything at module scope", ptx_parse_token_text(parser));
            if (linkage == PTX_LINK_NONE) {
                ptx_lexer_next(&parser->lex);
            }
            ptx_parse_skip_statement(parser);
            if (ptx_parse_is(parser, '}') || ptx_parse_is(parser, '{')) {
                ptx_lexer_next(&parser->lex);
            }
        }
    }
}

static void build_word_maps(ptx_parser *parser) {
    base_names *names = parser->module->names;
    parser->ops = base_map_create(parser->arena);
    parser->heads = base_map_create(parser->arena);
    parser->mods = base_map_create(parser->arena);
    parser->specials = base_map_create(parser->arena);
    for (uintptr_t op = 1; op < PTX_OP_COUNT; op++) {
        const char *text = ptx_op_name((ptx_op)op);
        uintptr_t words = 1;
        for (const char *c = text; *c; c++) {
            words += *c == '.';
        }
        const char *dot = strchr(text, '.');
        const char *head = base_name(names, text, dot ? (size_t)(dot - text) : strlen(text));
        base_map_set(parser->ops, BASE_KEY(base_name_of(names, text)), (void *)op);
        if ((uintptr_t)base_map_get(parser->heads, BASE_KEY(head)) < words) {
            base_map_set(parser->heads, BASE_KEY(head), (void *)words);
        }
    }
    for (uintptr_t mod = 1; mod < PTX_MOD_COUNT; mod++) {
        base_map_set(parser->mods, BASE_KEY(base_name_of(names, ptx_mod_name((ptx_mod)mod))), (void *)mod);
    }
    base_map_set(parser->mods, BASE_KEY(base_name_of(names, "nan")), (void *)(uintptr_t)PTX_MOD_NAN);
    for (uintptr_t special = 1; special < PTX_SPECIAL_COUNT; special++) {
        base_map_set(parser->specials, BASE_KEY(base_name_of(names, ptx_special_name((ptx_special)special))),
                     (void *)special);
    }
}

ptx_module *ptx_parse(base_arena *arena, base_diagnostics *diagnostics, uint32_t file) {
    base_text text = base_source_text(base_diagnostics_sources(diagnostics), file);
    ptx_parser *parser = BASE_NEW(arena, ptx_parser);
    parser->module = ptx_module_create(arena, diagnostics);
    parser->arena = arena;
    parser->diagnostics = diagnostics;
    build_word_maps(parser);
    ptx_lexer_start(&parser->lex, diagnostics, file, text);
    if (parser->lex.token.kind == PTX_TOKEN_END) {
        base_report(diagnostics, BASE_ERROR, "T0506", (base_span){file, 0, 0},
                    "there is no PTX here; expected .version, .target and functions");
        return NULL;
    }
    if (!ptx_parse_word_is(parser, ".version")) {
        base_report(diagnostics, BASE_ERROR, "T0506", ptx_parse_here(parser),
                    "PTX begins with .version, found %s", ptx_parse_token_text(parser));
    }
    while (parser->lex.token.kind != PTX_TOKEN_END) {
        parse_module_item(parser);
    }
    if (parser->module->target[0] == '\0') {
        base_report(diagnostics, BASE_ERROR, "T0506", ptx_parse_here(parser), "this PTX has no .target");
    }
    return parser->module;
}
