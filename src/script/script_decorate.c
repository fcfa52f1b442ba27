/* SPDX-License-Identifier: Apache-2.0
 * Functions of the script and their decorators: closures, kernels, inline functions, members of classes.
 * Building a kernel is in script_evaluate.c, constexpr parameters in script_template.c. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- closures ---- */

script_closure *script_closure_make(script_evaluator *e, const script_node *node, const char *name) {
    script_closure *closure = BASE_NEW(e->arena, script_closure);
    size_t count = node->parameters.count;
    bool *has = BASE_NEW_ARRAY(e->arena, bool, count + 1);
    closure->node = node;
    closure->scope = e->scope;
    closure->owner = e->scope->is_class ? e->class : NULL;
    while (closure->scope->is_class && closure->scope->parent)
        closure->scope = closure->scope->parent;
    closure->name = name;
    closure->defaults = BASE_NEW(e->arena, script_list);
    closure->has_default = has;
    for (size_t i = 0; i < count; i++) {
        const script_node *p = node->parameters.items[i];
        has[i] = p->b != NULL;
        base_vector_push(e->arena, &closure->defaults->items,
                         p->b ? script_expression(e, p->b) : script_poison());
    }
    return closure;
}

static script_value closure_value(script_closure *closure) {
    return (script_value){.kind = SCRIPT_VALUE_FUNCTION, .as.closure = closure};
}

/* A macro keeps the values that names had where it was defined; names from then on are not seen. */
static script_scope *snapshot(script_evaluator *e, const script_scope *scope) {
    if (!scope || scope == e->builtin_scope)
        return (script_scope *)(uintptr_t)scope;
    script_scope *copy = BASE_NEW(e->arena, script_scope);
    script_charge(e, scope->names.count);
    copy->parent = snapshot(e, scope->parent);
    copy->is_function = scope->is_function;
    for (size_t i = 0; i < scope->names.count; i++) {
        const script_binding *b = script_scope_find(e, scope, scope->names.items[i]);
        script_scope_bind(e, copy, b->name, b->value, b->kind, b->span);
    }
    return copy;
}

/* ---- decorators ---- */

script_value script_word_decorator(script_evaluator *e, const script_call *call) {
    script_value v = {.kind = SCRIPT_VALUE_DECORATOR};
    script_value options = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    v.as.decorator.word = call->word;
    for (size_t i = 0; i < call->keywords.items.count; i++) {
        const script_argument *item = &call->keywords.items.items[i];
        script_list_add(e->arena, options, script_string(e->arena, item->name, strlen(item->name)));
        script_list_add(e->arena, options, item->value);
    }
    v.as.decorator.options = base_arena_copy(e->arena, &options, sizeof(options));
    /* inline(f), cache(f): called with the function itself; wraps(f) says only whose name and text it has */
    if (strcmp(call->word->path, "functools.wraps") != 0 && call->rest.items.count == 1 &&
        call->rest.items.items[0].value.kind == SCRIPT_VALUE_FUNCTION)
        return script_decorate(e, v, call->rest.items.items[0].value, NULL, call->span);
    return v;
}

static bool is_decorator_word(script_value v) {
    return v.kind == SCRIPT_VALUE_WORD && v.as.word->handler == script_word_decorator;
}

bool script_is_decorator(script_value v, int which) {
    return is_decorator_word(v)               ? v.as.word->data == which
           : v.kind == SCRIPT_VALUE_DECORATOR ? v.as.decorator.word->data == which
                                              : false;
}

static int decorator_kind(script_value v) {
    return is_decorator_word(v)               ? v.as.word->data
           : v.kind == SCRIPT_VALUE_DECORATOR ? v.as.decorator.word->data
                                              : -1;
}

/* The package that @a.b.c(...) begins with, when it is not available; else poison. */
static script_value foreign_decorator(script_evaluator *e, const script_node *node) {
    const script_node *root = node;
    while (root->kind == SCRIPT_CALL || root->kind == SCRIPT_ATTRIBUTE || root->kind == SCRIPT_SUBSCRIPT)
        root = root->a;
    script_binding *binding = root->kind == SCRIPT_NAME ? script_find(e, root->text) : NULL;
    if (!binding)
        return script_poison();
    if (binding->value.kind == SCRIPT_VALUE_FOREIGN)
        return binding->value;
    if (binding->value.kind != SCRIPT_VALUE_MODULE)
        return script_poison();
    const script_node *callee = node->kind == SCRIPT_CALL ? node->a : node;
    if (callee->kind == SCRIPT_NAME)
        return binding->value;
    script_value v = script_expression(e, callee);
    return v.kind == SCRIPT_VALUE_MODULE ? v : script_poison();
}

bool script_decorators(script_evaluator *e, const script_node *node, script_list **list) {
    bool good = true;
    *list = BASE_NEW(e->arena, script_list);
    for (size_t i = 0; i < node->decorators.count; i++) {
        const script_node *decorator = node->decorators.items[i];
        script_value v = foreign_decorator(e, decorator);
        if (!script_is_poison(v)) {
            /* tests and host code of a file are no concern of its kernels: an error only when it is used */
            script_bind(e, node->text,
                        (script_value){.kind = SCRIPT_VALUE_FOREIGN,
                                       .as.string.text = base_arena_format(e->arena, "%s (decorated by %s)",
                                                                           node->text, v.as.string.text)},
                        SCRIPT_BIND_PLAIN, node->span);
            return false;
        }
        v = script_expression(e, decorator);
        bool callable = is_decorator_word(v) || v.kind == SCRIPT_VALUE_DECORATOR ||
                        v.kind == SCRIPT_VALUE_FUNCTION || v.kind == SCRIPT_VALUE_CLASS ||
                        v.kind == SCRIPT_VALUE_PARTIAL || v.kind == SCRIPT_VALUE_BOUND;
        if (!callable && !script_is_poison(v)) {
            base_diagnostic *d =
                script_error(e, "T0208", decorator->span, "%s is no decorator of the dialect",
                             script_value_name(e->arena, v));
            base_help(e->diagnostics, d, "@T.function or @T.prim_func makes a kernel");
        }
        good &= callable;
        base_vector_push(e->arena, &(*list)->items, v);
    }
    if (!good)
        script_bind(e, node->text, script_poison(), SCRIPT_BIND_PLAIN, node->span);
    return good;
}

/* @name.setter: the property of this name, with a function that its assignment calls. */
script_value script_setter_of(script_evaluator *e, script_value property) {
    script_value v = {.kind = SCRIPT_VALUE_DECORATOR};
    v.as.decorator.word = script_word_find("property.setter");
    v.as.decorator.options = base_arena_copy(e->arena, &property, sizeof(property));
    return v;
}

static script_value role_of(script_evaluator *e, script_value v, script_role role) {
    v.as.closure = base_arena_copy(e->arena, v.as.closure, sizeof(*v.as.closure));
    v.as.closure->role = role;
    return v;
}

/* What Python makes of @decorator over the value; kernels are not built here. */
script_value script_decorate(script_evaluator *e, script_value decorator, script_value v,
                             const script_node *node, base_span span) {
    static const script_role roles[] = {[SCRIPT_DECORATOR_PROPERTY] = SCRIPT_ROLE_PROPERTY,
                                        [SCRIPT_DECORATOR_STATIC] = SCRIPT_ROLE_STATIC,
                                        [SCRIPT_DECORATOR_CLASS] = SCRIPT_ROLE_CLASS,
                                        [SCRIPT_DECORATOR_INLINE] = SCRIPT_ROLE_INLINE,
                                        [SCRIPT_DECORATOR_MACRO] = SCRIPT_ROLE_INLINE};
    int kind = decorator_kind(decorator);
    if (script_is_poison(v) || kind == SCRIPT_DECORATOR_NOTHING)
        return v;
    if (kind < 0) {
        script_arguments arguments = {0};
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = v, .span = span});
        return script_call_value(e, decorator, &arguments, node, span, span);
    }
    if (kind == SCRIPT_DECORATOR_SETTER && v.kind == SCRIPT_VALUE_FUNCTION) {
        script_value property = role_of(e, *decorator.as.decorator.options, SCRIPT_ROLE_PROPERTY);
        property.as.closure->setter = v.as.closure;
        return property;
    }
    if (kind == SCRIPT_DECORATOR_CACHE && v.kind == SCRIPT_VALUE_FUNCTION) {
        v = role_of(e, v, v.as.closure->role);
        v.as.closure->results = script_list_make(e->arena, SCRIPT_VALUE_DICT).as.list;
        return v;
    }
    if (kind == SCRIPT_DECORATOR_CACHE)
        return v;
    if (v.kind != SCRIPT_VALUE_FUNCTION || (size_t)kind >= sizeof(roles) / sizeof(roles[0])) {
        script_error(e, "T0208", span, "this decorator does not go with %s", script_value_name(e->arena, v));
        return script_poison();
    }
    if (roles[kind] == SCRIPT_ROLE_PLAIN) { /* kernels: script_define_function has taken them */
        script_error(e, "T0208", span, "a kernel is decorated where it is defined");
        return script_poison();
    }
    v = role_of(e, v, roles[kind]);
    if (kind == SCRIPT_DECORATOR_MACRO) {
        bool hygienic = true;
        if (decorator.kind == SCRIPT_VALUE_DECORATOR && decorator.as.decorator.options) {
            script_value *option =
                script_dict_find(*decorator.as.decorator.options, script_string(e->arena, "hygienic", 8));
            if (option && !script_constant_bool(e, *option, &hygienic, span, "hygienic"))
                return script_poison();
        }
        v.as.closure->is_dynamic = !hygienic;
        if (hygienic)
            v.as.closure->scope = snapshot(e, v.as.closure->scope);
    }
    return v;
}

/* ---- definitions ---- */

static script_value kernel_value(script_evaluator *e, const script_node *node) {
    ir_function *function = NULL;
    if (e->function) {
        script_not_supported(e, node->span, "a kernel inside a kernel");
        return script_poison();
    }
    script_build_kernel(e, node, NULL, &function);
    script_value v = {.kind = SCRIPT_VALUE_KERNEL};
    v.as.kernel = function;
    return v;
}

/* A kernel of the file that the run does not ask for by its name. */
static bool is_unwanted(const script_evaluator *e, const script_node *node) {
    return e->entry && e->scope == e->module_scope && strcmp(e->entry, node->text) != 0;
}

void script_define_function(script_evaluator *e, const script_node *node) {
    script_list *decorators;
    script_value v = script_poison();
    size_t i = node->decorators.count;
    if (e->entry && e->scope == e->module_scope && strcmp(e->entry, node->text) == 0)
        e->entry_found = true;
    if (!script_decorators(e, node, &decorators))
        return;
    if (i == 0 && script_in_kernel(e) && !e->is_python)
        v = closure_value(script_closure_make(e, node, node->text));
    else if (i > 0 && script_is_decorator(decorators->items.items[i - 1], SCRIPT_DECORATOR_KERNEL)) {
        i--;
        v = is_unwanted(e, node) ? script_template_make(e, node, true) : kernel_value(e, node);
    } else if (i > 0 && script_is_decorator(decorators->items.items[i - 1], SCRIPT_DECORATOR_TEMPLATE)) {
        i--;
        v = script_template_make(e, node, false);
    } else
        v = closure_value(script_closure_make(e, node, node->text));
    for (; i > 0; i--)
        v = script_decorate(e, decorators->items.items[i - 1], v, node, node->decorators.items[i - 1]->span);
    script_bind(e, node->text, v, SCRIPT_BIND_PLAIN, node->name_span.file ? node->name_span : node->span);
}
