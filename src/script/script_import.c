/* SPDX-License-Identifier: Apache-2.0
 * Imports: names of the dialect's packages, of Python's modules that the table knows, and files that whoever
 * calls us reads. Reads nothing itself. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- names of packages ---- */

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Packages whose names are the dialect's: what is imported from them is looked up in the table. */
static bool is_dialect_package(const char *path) {
    static const char *const roots[] = {"tvm", "tvm_tirx", "tirx"};
    for (size_t i = 0; i < 3; i++)
        if (starts_with(path, roots[i]) && (path[strlen(roots[i])] == 0 || path[strlen(roots[i])] == '.'))
            return true;
    return false;
}

static const char *last_part(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static bool is_root_name(const char *name) {
    return strcmp(name, "tirx") == 0 || strcmp(name, "T") == 0 || strcmp(name, "Tx") == 0;
}

static script_value namespace_value(const char *prefix) {
    return (script_value){.kind = SCRIPT_VALUE_NAMESPACE, .as.string.text = prefix};
}

static script_value foreign(script_evaluator *e, const char *name) {
    return (script_value){.kind = SCRIPT_VALUE_FOREIGN,
                          .as.string.text = base_arena_string(e->arena, name, strlen(name))};
}

/* Modules of Python itself that the table has words of; other names of them are errors where they are used.
 */
bool script_is_python_module(const char *path) {
    static const char *const modules[] = {"math", "functools", "itertools", "dataclasses",
                                          "enum", "typing",    "os",        "collections"};
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strcmp(path, modules[i]) == 0)
            return true;
    return false;
}

/* ---- files of the script's own ---- */

enum { MOST_FILES = 200 };

static script_value file_value(script_file *file) {
    return (script_value){.kind = SCRIPT_VALUE_FILE, .as.file = file};
}

static script_file *known_file(script_evaluator *e, const char *name) {
    for (size_t i = 0; i < e->files.count; i++)
        if (strcmp(e->files.items[i]->name, name) == 0)
            return e->files.items[i];
    return NULL;
}

/* a.b as the file a/b.py, or the package a/b/__init__.py; 0: there is none. */
static uint32_t read_file(script_evaluator *e, const char *name, bool *is_package) {
    static const char *const endings[] = {".py", "/__init__.py"};
    for (size_t i = 0; e->options->read && i < sizeof(endings) / sizeof(endings[0]); i++) {
        char *path = base_arena_format(e->arena, "%s%s", name, endings[i]);
        for (size_t k = 0; k < strlen(name); k++)
            if (path[k] == '.')
                path[k] = '/';
        uint32_t file = e->options->read(e->options->read_user, path);
        *is_package = i == 1;
        if (file)
            return file;
    }
    return 0;
}

/* The file's statements in a scope of their own, outside of whatever is being built. Its kernels are the
 * importer's only when a run names them. */
static void evaluate_file(script_evaluator *e, script_file *file, uint32_t number) {
    size_t kernels = e->module->functions.count, errors = base_diagnostics_errors(e->diagnostics);
    script_options options = *e->options;
    options.names = e->names;
    script_ast *ast = script_parse(e->arena, e->diagnostics, number, &options);
    script_evaluator outer = *e;
    e->function = NULL;
    e->block = NULL;
    e->is_python = true;
    e->entry = NULL;
    e->closure = NULL;
    e->self = NULL;
    e->class = NULL;
    e->calls = 0;
    e->depth = 0;
    e->first_body = e->bodies;
    e->scope = NULL;
    e->builtin_scope = script_scope_open(e, false);
    script_predefine(e, ast);
    e->module_scope = file->scope = script_scope_open(e, true);
    e->running = file;
    script_statements(e, &ast->body);
    file->is_broken = base_diagnostics_errors(e->diagnostics) > errors;
    e->function = outer.function;
    e->block = outer.block;
    e->is_python = outer.is_python;
    e->entry = outer.entry;
    e->closure = outer.closure;
    e->self = outer.self;
    e->class = outer.class;
    e->calls = outer.calls;
    e->depth = outer.depth;
    e->first_body = outer.first_body;
    e->scope = outer.scope;
    e->builtin_scope = outer.builtin_scope;
    e->module_scope = outer.module_scope;
    e->running = outer.running;
    e->module->functions.count = kernels;
}

static void report_cycle(script_evaluator *e, const script_file *file, base_span span) {
    base_diagnostic *d = script_error(e, "T0283", span, "'%s' imports itself, by way of %s", file->name,
                                      e->running == file ? "its own text" : e->running->name);
    base_note(e->diagnostics, d, file->span, "it was first imported here");
    base_help(e->diagnostics, d, "move what both need into a third file");
}

static bool import_file(script_evaluator *e, const char *name, base_span span, script_file **out);

static script_file *new_file(script_evaluator *e, const char *name, size_t size, base_span span) {
    script_file *file = BASE_NEW(e->arena, script_file);
    *file = (script_file){.name = base_arena_string(e->arena, name, size), .span = span};
    base_vector_push(e->arena, &e->files, file);
    return file;
}

/* The packages around a.b.c: a and a.b run first, where they have a file. */
static void import_packages(script_evaluator *e, const char *name, base_span span) {
    for (size_t size = strcspn(name, "."); name[size]; size += 1 + strcspn(name + size + 1, ".")) {
        const char *package = base_arena_string(e->arena, name, size);
        script_file *file = known_file(e, package);
        if (!file && !import_file(e, package, span, &file) && !file)
            new_file(e, package, size, span);
    }
}

/* True: *out is the file, evaluated. False: there is none (*out NULL), or it was reported. */
static bool import_file(script_evaluator *e, const char *name, base_span span, script_file **out) {
    script_file *file = known_file(e, name);
    *out = file;
    if (file && file->is_running) {
        report_cycle(e, file, span);
        return false;
    }
    if (file)
        return true;
    bool is_package;
    uint32_t number = read_file(e, name, &is_package);
    if (!number)
        return false;
    import_packages(e, name, span);
    if ((file = known_file(e, name))) { /* its package imported it */
        *out = file;
        return !file->is_running;
    }
    *out = file = new_file(e, name, strlen(name), span);
    file->is_running = true;
    file->is_package = is_package;
    if (e->files.count > MOST_FILES) {
        script_error(e, "T0285", span, "more than %d imported files", MOST_FILES);
        return false;
    }
    if (!script_enter(e, span))
        return false;
    evaluate_file(e, file, number);
    script_leave(e);
    file->is_running = false;
    return true;
}

script_value script_file_attribute(script_evaluator *e, const script_file *file, const char *name,
                                   base_span span) {
    script_binding *binding = file->scope ? script_scope_find(e, file->scope, name) : NULL;
    script_file *inner = known_file(e, base_arena_format(e->arena, "%s.%s", file->name, name));
    if (binding) {
        binding->is_read = true;
        return binding->value;
    }
    if (inner && !inner->is_running)
        return file_value(inner);
    if (file->is_broken || file->is_running) /* its own errors say why */
        return file->is_broken ? script_poison() : (report_cycle(e, file, span), script_poison());
    base_diagnostic *d = script_error(e, "T0284", span, "'%s' has no name '%s'", file->name, name);
    const char *near =
        file->scope ? script_nearest(name, file->scope->names.items, file->scope->names.count) : NULL;
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
    return script_poison();
}

/* "..b" in the package p.q is p.b; at the top, or in a file that is in no package, the dots say the folder
 * itself. */
static const char *absolute_name(script_evaluator *e, const char *name) {
    size_t dots = strspn(name, ".");
    const char *home = e->running ? e->running->name : "";
    size_t size = strlen(home);
    if (!dots)
        return name;
    for (size_t i = e->running && e->running->is_package; i < dots; i++) /* a package's own file is in it */
        while (size > 0 && home[--size] != '.') {
        }
    return base_arena_format(e->arena, "%.*s%s%s", (int)size, home, size && name[dots] ? "." : "",
                             name + dots);
}

static script_value import_path(script_evaluator *e, const char *path, base_span span) {
    script_file *file = NULL;
    if (script_is_python_module(path))
        return namespace_value(path);
    if (!is_dialect_package(path))
        return import_file(e, path, span, &file) ? file_value(file)
               : file                            ? script_poison()
                                                 : foreign(e, path);
    if (is_root_name(last_part(path)) && strcmp(path, "tirx") != 0)
        return namespace_value("");
    return (script_value){.kind = SCRIPT_VALUE_MODULE, .as.string.text = path};
}

static script_value import_from_file(script_evaluator *e, const char *package, const char *name,
                                     base_span span) {
    script_file *file = NULL, *inner = NULL;
    const char *absolute = absolute_name(e, package);
    const char *full = *absolute ? base_arena_format(e->arena, "%s.%s", absolute, name) : name;
    script_file *known = known_file(e, absolute); /* one that still runs has what it has bound so far */
    bool runs = known && known->is_running;
    bool found = runs || (*absolute && import_file(e, absolute, span, &file));
    file = runs ? known : file;
    if (file && !found)
        return script_poison();
    if (found && file->scope && script_scope_find(e, file->scope, name))
        return script_file_attribute(e, file, name, span);
    if (import_file(e, full, span, &inner))
        return file_value(inner);
    if (inner)
        return script_poison();
    return found ? script_file_attribute(e, file, name, span) : foreign(e, full);
}

/* import a.b.c binds a: a package that may have no file of its own. */
static script_value import_package(script_evaluator *e, const char *path, base_span span) {
    script_file *whole = NULL;
    bool found = import_file(e, path, span, &whole);
    if (whole && !found)
        return script_poison();
    const char *first = base_arena_string(e->arena, path, strcspn(path, "."));
    script_file *file = known_file(e, first);
    return found && file ? file_value(file) : import_path(e, first, span);
}

static void import_names(script_evaluator *e, const char *package, base_span span) {
    script_file *file = NULL;
    if (!import_file(e, absolute_name(e, package), span, &file)) {
        if (!file)
            script_not_supported(e, span, "from %s import *", package);
        return;
    }
    for (size_t i = 0; file->scope && i < file->scope->names.count; i++) {
        const char *name = file->scope->names.items[i];
        if (name[0] != '_')
            script_bind(e, name, script_file_attribute(e, file, name, span), SCRIPT_BIND_PLAIN, span);
    }
}

/* Parts of the dialect's packages that are no dialect: compilers, run time, tests. */
static bool is_host_package(const char *path) {
    static const char *const parts[] = {"testing", "runtime", "target", "contrib", "ir",    "support",
                                        "driver",  "rpc",     "relax",  "te",      "s_tir", "utils"};
    const char *part = strchr(path, '.');
    if (!part)
        return true;
    size_t size = strcspn(++part, ".");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strlen(parts[i]) == size && memcmp(part, parts[i], size) == 0)
            return true;
    return false;
}

/* from PACKAGE import NAME */
static script_value import_name(script_evaluator *e, const char *package, const char *name, base_span span) {
    static const char *const modules[] = {"script", "ir",  "layout",  "lang",   "backend",
                                          "cuda",   "tir", "runtime", "target", "testing"};
    if (script_is_python_module(package)) {
        script_value v = script_namespace_find(e, package, name);
        if (!script_is_poison(v) || strcmp(package, "math") == 0)
            return script_is_poison(v) ? script_unknown_word(e, package, name, span) : v;
    }
    if (!is_dialect_package(package))
        return import_from_file(e, package, name, span);
    if (is_root_name(name))
        return namespace_value("");
    script_value v = script_namespace_find(e, "", name);
    if (!script_is_poison(v))
        return v;
    if (strcmp(last_part(package), "cuda") == 0 || strcmp(last_part(package), "launch") == 0) {
        v = script_namespace_find(e, "cuda", name);
        if (!script_is_poison(v))
            return v;
    }
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strcmp(modules[i], name) == 0)
            return (script_value){.kind = SCRIPT_VALUE_MODULE,
                                  .as.string.text = base_arena_format(e->arena, "%s.%s", package, name)};
    if (is_host_package(package))
        return foreign(e, base_arena_format(e->arena, "%s.%s", package, name));
    return script_unknown_word(e, "", name, span);
}

void script_import_words(script_evaluator *e, base_span span) {
    const char *path;
    for (size_t i = 0; (path = script_word(i, NULL, NULL)) != NULL; i++)
        if (!strchr(path, '.'))
            script_bind(e, path, (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find(path)},
                        SCRIPT_BIND_PLAIN, span);
}

static script_value import_item(script_evaluator *e, const script_node *node, const script_node *item,
                                const char **bound) {
    const char *name = item->text;
    *bound = item->text2 ? item->text2 : name;
    if (node->kind == SCRIPT_FROM_IMPORT)
        return import_name(e, node->text ? node->text : "", name, item->span);
    if (item->text2 || !strchr(name, '.'))
        return import_path(e, name, item->span);
    *bound = base_arena_string(e->arena, name, strcspn(name, "."));
    return is_dialect_package(name) || script_is_python_module(name) ? import_path(e, *bound, item->span)
                                                                     : import_package(e, name, item->span);
}

void script_import(script_evaluator *e, const script_node *node) {
    bool from = node->kind == SCRIPT_FROM_IMPORT;
    if (from && node->text && strcmp(node->text, "__future__") == 0)
        return;
    if (script_in_kernel(e) && !e->is_python) {
        base_diagnostic *d = script_error(e, "T0265", node->span, "an import in the body of a kernel");
        base_help(e->diagnostics, d, "import before the function");
        return;
    }
    for (size_t i = 0; i < node->items.count; i++) {
        const script_node *item = node->items.items[i];
        const char *bound;
        if (from && strcmp(item->text, "*") == 0) {
            if (is_dialect_package(node->text))
                script_import_words(e, item->span);
            else
                import_names(e, node->text, item->span);
            continue;
        }
        script_value v = import_item(e, node, item, &bound);
        script_bind(e, bound, v, SCRIPT_BIND_PLAIN, item->span);
    }
}

/* True when an import of the file names the dialect itself; only then T and Tx are not predefined. */
static bool imports_dialect(const script_ast *ast) {
    for (size_t i = 0; i < ast->body.count; i++) {
        const script_node *node = ast->body.items[i];
        if (node->kind != SCRIPT_IMPORT && node->kind != SCRIPT_FROM_IMPORT)
            continue;
        for (size_t j = 0; j < node->items.count; j++) {
            const script_node *item = node->items.items[j];
            if (!item->text)
                continue;
            if (node->kind == SCRIPT_FROM_IMPORT && node->text && is_dialect_package(node->text) &&
                (is_root_name(item->text)))
                return true;
            if (node->kind == SCRIPT_IMPORT && is_dialect_package(item->text) &&
                is_root_name(last_part(item->text)))
                return true;
        }
    }
    return false;
}

void script_predefine(script_evaluator *e, const script_ast *ast) {
    static const char *const words[] = {"S", "R", "TileLayout"};
    static const layout_axis axes[] = {LAYOUT_AXIS_TLANE,    LAYOUT_AXIS_TCOL, LAYOUT_AXIS_WARPID,
                                       LAYOUT_AXIS_LANEID,   LAYOUT_AXIS_WGID, LAYOUT_AXIS_TID_IN_WG,
                                       LAYOUT_AXIS_WID_IN_WG};
    if (!imports_dialect(ast)) {
        script_bind(e, "T", namespace_value(""), SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
        script_bind(e, "Tx", namespace_value(""), SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
    }
    for (size_t i = 0; i < 3; i++)
        script_bind(e, words[i],
                    (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find(words[i])},
                    SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++)
        script_bind(e, layout_axis_name(axes[i]),
                    (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = axes[i]}, SCRIPT_BIND_PLAIN,
                    BASE_NO_SPAN);
    script_bind(e, "Axis", namespace_value("Axis"), SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
    script_bind(e, "__name__", script_string(e->arena, "tirc", 4), SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
}
