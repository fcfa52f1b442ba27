/* SPDX-License-Identifier: Apache-2.0
 * Which kernels of a script a run wants: kernels by their names, templates and factory functions with the
 * constants of -D. Everything else of the module is left out. */
#include "script/script_evaluate.h"
#include <string.h>

typedef BASE_VECTOR(const char *) name_list;

/* ---- candidates ---- */

static const char *last_name(const script_node *node) {
    if (node->kind == SCRIPT_CALL)
        node = node->a;
    return (node->kind == SCRIPT_ATTRIBUTE || node->kind == SCRIPT_NAME) && node->text ? node->text : "";
}

static bool defines_kernel(const script_nodes *body, unsigned depth) {
    static const char *const words[] = {"function", "prim_func", "jit", "kernel"};
    for (size_t i = 0; i < body->count && depth > 0; i++) {
        const script_node *node = body->items[i];
        for (size_t j = 0; node->kind == SCRIPT_FUNCTION && j < node->decorators.count; j++)
            for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
                if (strcmp(last_name(node->decorators.items[j]), words[k]) == 0)
                    return true;
        if (script_form_of(node->kind) != SCRIPT_FORM_BLOCK)
            continue;
        if (defines_kernel(&node->body, depth - 1) || defines_kernel(&node->orelse, depth - 1))
            return true;
    }
    return false;
}

/* Kernels, templates, and plain functions that define a kernel inside. */
static void candidate_names(script_evaluator *e, const script_ast *ast, bool with_kernels, name_list *names) {
    for (size_t i = 0; i < ast->body.count; i++) {
        const script_node *node = ast->body.items[i];
        script_binding *binding =
            node->kind == SCRIPT_FUNCTION ? script_scope_find(e, e->module_scope, node->text) : NULL;
        if (!binding)
            continue;
        bool is_plain = binding->value.kind == SCRIPT_VALUE_FUNCTION;
        bool is_template =
            binding->value.kind == SCRIPT_VALUE_TEMPLATE && !script_template_is_plain(binding->value);
        if (is_template || (is_plain && defines_kernel(&node->body, 30)) ||
            (with_kernels && node->decorators.count > 0 && !is_plain))
            base_vector_push(e->arena, &names[0], node->text);
    }
}

static const char *join(script_evaluator *e, const name_list *names) {
    base_builder list;
    base_builder_start(&list, e->arena);
    base_builder_string(&list, "");
    for (size_t i = 0; i < names->count && i < 40; i++)
        base_builder_format(&list, "%s%s", i > 0 ? ", " : "", names->items[i]);
    return list.data;
}

/* ---- constants from the command line ---- */

static const script_define *define_of(const script_options *options, const char *name) {
    for (size_t i = options->define_count; i > 0; i--)
        if (strcmp(options->defines[i - 1].name, name) == 0)
            return &options->defines[i - 1];
    return NULL;
}

/* -D of names that the function does not take and the file never mentions is a slip. */
static bool check_defines(script_evaluator *e, const script_node *node, const script_options *options) {
    bool good = true;
    for (size_t i = 0; i < options->define_count; i++) {
        const char *name = options->defines[i].name;
        script_binding *binding = script_scope_find(e, e->module_scope, name);
        if (script_parameter_named(node, name) || !binding || binding->is_read)
            continue;
        name_list names = {0};
        for (size_t j = 0; j < node->parameters.count; j++)
            if (node->parameters.items[j]->text)
                base_vector_push(e->arena, &names, node->parameters.items[j]->text);
        base_diagnostic *d = script_error(e, "T0381", binding->span,
                                          "'%s' takes no '%s', and nothing reads it", node->text, name);
        const char *near = script_nearest(name, names.items, names.count);
        if (near)
            base_help(e->diagnostics, d, "did you mean -D %s=...?", near);
        else if (names.count > 0)
            base_help(e->diagnostics, d, "it takes %s", join(e, &names));
        good = false;
    }
    return good;
}

static script_value defined_value(script_evaluator *e, const char *name) {
    return script_scope_find(e, e->module_scope, name)->value;
}

static script_value call_factory(script_evaluator *e, script_value function, const script_options *options) {
    const script_node *node = function.as.closure->node;
    base_span place = node->name_span.file ? node->name_span : node->span;
    script_arguments arguments = {0};
    name_list missing = {0};
    bool takes_rest = false, good;
    for (size_t i = 0; i < node->parameters.count; i++)
        takes_rest |= node->parameters.items[i]->op == SCRIPT_PARAMETER_DOUBLE_STAR;
    good = takes_rest || check_defines(e, node, options);
    for (size_t i = 0; i < node->parameters.count; i++) {
        const script_node *p = node->parameters.items[i];
        bool star = p->op == SCRIPT_PARAMETER_STAR || p->op == SCRIPT_PARAMETER_DOUBLE_STAR;
        const script_define *definition = star || !p->text ? NULL : define_of(options, p->text);
        if (definition) {
            script_value v = defined_value(e, p->text);
            bool by_place = p->op == SCRIPT_PARAMETER_POSITIONAL_ONLY;
            good &= !script_is_poison(v);
            base_vector_push(e->arena, &arguments.items,
                             (script_argument){.name = by_place ? NULL : p->text, .value = v, .span = place});
        } else if (!star && !p->b)
            base_vector_push(e->arena, &missing, p->text);
    }
    for (size_t i = 0; takes_rest && i < options->define_count; i++) {
        const char *name = options->defines[i].name;
        script_value v = defined_value(e, name);
        good &= !script_is_poison(v);
        if (!script_parameter_named(node, name))
            base_vector_push(e->arena, &arguments.items,
                             (script_argument){.name = name, .value = v, .span = place});
    }
    if (missing.count > 0) {
        base_diagnostic *d =
            script_error(e, "T0381", place, "'%s' needs a value for %s", node->text, join(e, &missing));
        base_help(e->diagnostics, d, "give it on the command line: -D %s=...", missing.items[0]);
        return script_poison();
    }
    return good ? script_call_value(e, function, &arguments, NULL, place, place) : script_poison();
}

static script_value call_template(script_evaluator *e, script_value template, const script_options *options) {
    const script_node *node = script_template_node(template.as.template);
    script_value constants = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    bool good = check_defines(e, node, options);
    for (size_t i = 0; i < node->parameters.count; i++) {
        const char *name = node->parameters.items[i]->text;
        if (!name || !define_of(options, name))
            continue;
        script_list_add(e->arena, constants, script_string(e->arena, name, strlen(name)));
        script_list_add(e->arena, constants, defined_value(e, name));
    }
    return good ? script_specialise(e, template.as.template, constants,
                                    node->name_span.file ? node->name_span : node->span)
                : script_poison();
}

/* ---- what was chosen ---- */

typedef BASE_VECTOR(ir_function *) function_list;

static void collect_kernels(script_evaluator *e, script_value v, unsigned depth, function_list *list) {
    if (script_template_is_plain(v))
        v = script_specialise(e, v.as.template, script_list_make(e->arena, SCRIPT_VALUE_DICT), e->statement);
    if (v.kind == SCRIPT_VALUE_KERNEL) {
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i] == v.as.kernel)
                return;
        size_t at = 0, count = e->module->functions.count;
        base_vector_push(e->arena, list, v.as.kernel);
        while (at < count && e->module->functions.items[at] != v.as.kernel)
            at++;
        for (at++; at < count && e->module->functions.items[at]->launch.follows; at++) /* its other regions */
            base_vector_push(e->arena, list, e->module->functions.items[at]);
    } else if (v.kind == SCRIPT_VALUE_LIST || v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_DICT) {
        for (size_t i = 0; i < v.as.list->items.count && depth > 0; i++)
            collect_kernels(e, v.as.list->items.items[i], depth - 1, list);
    } else if (v.kind == SCRIPT_VALUE_CLASS || v.kind == SCRIPT_VALUE_OBJECT) {
        const script_scope *scope = v.kind == SCRIPT_VALUE_CLASS ? v.as.class->scope : v.as.object->fields;
        for (size_t i = 0; i < scope->names.count && depth > 0; i++)
            collect_kernels(e, script_scope_find(e, scope, scope->names.items[i])->value, depth - 1, list);
    }
}

static void keep(script_evaluator *e, script_value v, base_span span, const char *name) {
    function_list list = {0};
    if (script_is_poison(v) || base_diagnostics_errors(e->diagnostics) > 0)
        return;
    collect_kernels(e, v, 4, &list);
    if (list.count == 0) {
        base_diagnostic *d = script_error(e, "T0383", span, "'%s' gives %s, not a kernel", name,
                                          script_value_name(e->arena, v));
        base_help(e->diagnostics, d, "return the decorated function, or what specialize() gives");
        return;
    }
    e->module->functions.count = 0;
    for (size_t i = 0; i < list.count; i++)
        base_vector_push(e->arena, &e->module->functions, list.items[i]);
}

static script_value run_entry(script_evaluator *e, script_value v, const script_options *options) {
    if (v.kind == SCRIPT_VALUE_FUNCTION && v.as.closure->role == SCRIPT_ROLE_PLAIN)
        return call_factory(e, v, options);
    if (v.kind == SCRIPT_VALUE_TEMPLATE && !script_template_is_plain(v))
        return call_template(e, v, options);
    return v;
}

/* NAME, or CLASS.NAME */
static script_value find_entry(script_evaluator *e, const char *path, base_span *span) {
    char first[128];
    size_t size = strcspn(path, ".");
    if (size >= sizeof(first))
        return script_poison();
    memcpy(first, path, size);
    first[size] = 0;
    script_binding *binding = script_scope_find(e, e->module_scope, first);
    if (!binding)
        return script_poison();
    *span = binding->span;
    if (path[size] == 0)
        return binding->value;
    if (binding->value.kind != SCRIPT_VALUE_CLASS)
        return script_poison();
    binding = script_scope_find(e, binding->value.as.class->scope, path + size + 1);
    return binding ? binding->value : script_poison();
}

static void report_missing(script_evaluator *e, const script_ast *ast) {
    base_span start = {ast->file, 0, 0};
    name_list names = {0};
    base_diagnostic *d = script_error(e, "T0206", start, "the file has no kernel '%s'", e->entry);
    candidate_names(e, ast, true, &names);
    if (names.count > 0)
        base_help(e->diagnostics, d, "it has: %s", join(e, &names));
}

void script_choose_kernels(script_evaluator *e, const script_ast *ast, const script_options *options) {
    base_span start = {ast->file, 0, 0}, span = start;
    if (base_diagnostics_errors(e->diagnostics) > 0)
        return;
    if (e->entry) {
        script_value v = find_entry(e, e->entry, &span);
        function_list list = {0};
        bool runs = (v.kind == SCRIPT_VALUE_FUNCTION && v.as.closure->role == SCRIPT_ROLE_PLAIN) ||
                    v.kind == SCRIPT_VALUE_TEMPLATE;
        collect_kernels(e, v, 4, &list);
        if (runs || list.count > 0)
            keep(e, run_entry(e, v, options), span, e->entry);
        else
            report_missing(e, ast);
        return;
    }
    if (e->module->functions.count > 0)
        return;
    name_list names = {0};
    candidate_names(e, ast, false, &names);
    if (names.count == 1) {
        script_binding *binding = script_scope_find(e, e->module_scope, names.items[0]);
        keep(e, run_entry(e, binding->value, options), binding->span, names.items[0]);
    } else if (names.count > 1) {
        base_diagnostic *d =
            script_error(e, "T0382", start, "the file has %zu functions that make a kernel", names.count);
        base_help(e->diagnostics, d, "FILE:NAME says which: %s", join(e, &names));
    } else {
        base_diagnostic *d = script_error(e, "T0206", start, "the file has no kernel");
        base_help(e->diagnostics, d, "a kernel is a function under @T.function or @T.prim_func");
    }
}
