/* SPDX-License-Identifier: Apache-2.0
 * Kernels with constexpr parameters: T.jit makes a template, specialize() the kernel for given constants. The
 * same constants give the same kernel. */
#include "script/script_evaluate.h"
#include <string.h>

typedef struct script_instance {
    script_value constants; /* DICT, in the order of the parameters */
    ir_function *kernel;
} script_instance;

struct script_template {
    const script_node *node;
    script_scope *scope;
    bool is_plain; /* a kernel without constants, built only when somebody asks for it */
    BASE_VECTOR(script_instance) instances;
};

script_value script_template_make(script_evaluator *e, const script_node *node, bool is_plain) {
    script_value v = {.kind = SCRIPT_VALUE_TEMPLATE};
    v.as.template = BASE_NEW(e->arena, script_template);
    v.as.template->node = node;
    v.as.template->scope = e->scope;
    v.as.template->is_plain = is_plain;
    return v;
}

bool script_template_is_plain(script_value v) {
    return v.kind == SCRIPT_VALUE_TEMPLATE && v.as.template->is_plain;
}

const script_node *script_template_node(const script_template *template) {
    return template->node;
}

typedef enum parameter_role { AT_LAUNCH, CONSTANT, MAY_BE_ABSENT } parameter_role;

/* By its annotation, which is evaluated in full only when the kernel is built. */
static parameter_role role_of(const script_node *p) {
    const script_node *a = p->a;
    if (!a)
        return AT_LAUNCH;
    if (a->kind == SCRIPT_CALL || a->kind == SCRIPT_SUBSCRIPT)
        a = a->a;
    const char *name = a->kind == SCRIPT_ATTRIBUTE || a->kind == SCRIPT_NAME ? a->text : "";
    return strcmp(name, "constexpr") == 0  ? CONSTANT
           : strcmp(name, "Optional") == 0 ? MAY_BE_ABSENT
                                           : AT_LAUNCH;
}

static bool is_hashable(script_value v) {
    return v.kind != SCRIPT_VALUE_LIST && v.kind != SCRIPT_VALUE_DICT && v.kind != SCRIPT_VALUE_SET &&
           !script_is_ir(v);
}

static void say_definition(script_evaluator *e, base_diagnostic *d, const script_node *node) {
    base_builder names;
    base_builder_start(&names, e->arena);
    base_note(e->diagnostics, d, node->name_span.file ? node->name_span : node->span, "'%s' is defined here",
              node->text);
    for (size_t i = 0; i < node->parameters.count; i++)
        if (role_of(node->parameters.items[i]) == CONSTANT)
            base_builder_format(&names, "%s%s", names.size ? ", " : "", node->parameters.items[i]->text);
    if (names.size)
        base_help(e->diagnostics, d, "its constants are %s", names.data);
}

/* Every given constant has its parameter. */
static bool check_given(script_evaluator *e, const script_node *node, const script_list *given,
                        base_span span) {
    bool good = true;
    for (size_t i = 0; i + 1 < given->items.count; i += 2) {
        const char *name = given->items.items[i].as.string.text;
        script_value v = given->items.items[i + 1];
        const script_node *p = script_parameter_named(node, name);
        parameter_role role = p ? role_of(p) : AT_LAUNCH;
        base_diagnostic *d = NULL;
        if (role == AT_LAUNCH)
            d = script_error(e, "T0384", span,
                             p ? "'%s' of '%s' is given at launch, not by specialize"
                               : "specialize got '%s', which is no parameter of '%s'",
                             name, node->text);
        else if (role == MAY_BE_ABSENT && v.kind != SCRIPT_VALUE_NONE)
            d = script_error(e, "T0384", span,
                             "'%s' of '%s' is optional: specialize takes only None for it, not %s", name,
                             node->text, script_value_name(e->arena, v));
        else if (role == CONSTANT && !is_hashable(v))
            d = script_error(e, "T0384", span, "'%s' of '%s' is a constant that never changes, not %s", name,
                             node->text, script_value_name(e->arena, v));
        if (d)
            say_definition(e, d, node);
        good &= !d;
    }
    return good;
}

script_value script_specialise(script_evaluator *e, script_template *template, script_value constants,
                               base_span span) {
    const script_node *node = template->node;
    script_value full = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    script_scope *outer = e->scope;
    base_builder missing;
    base_builder_start(&missing, e->arena);
    bool good = check_given(e, node, constants.as.list, span);
    if (e->function) {
        script_not_supported(e, span, "specialize inside a kernel");
        return script_poison();
    }
    for (size_t i = 0; i < node->parameters.count; i++) {
        const script_node *p = node->parameters.items[i];
        parameter_role role = role_of(p);
        if (role == AT_LAUNCH)
            continue;
        script_value key = script_string(e->arena, p->text, strlen(p->text));
        script_value *given = script_dict_find(constants, key);
        if (!given && role == MAY_BE_ABSENT)
            continue;
        script_value v = given ? *given : script_poison();
        if (!given && p->b) {
            e->scope = template->scope;
            v = script_expression(e, p->b);
            e->scope = outer;
        } else if (!given)
            base_builder_format(&missing, "%s%s", missing.size ? ", " : "", p->text);
        good &= !script_is_poison(v);
        script_list_add(e->arena, full, key);
        script_list_add(e->arena, full, v);
    }
    if (missing.size) {
        base_diagnostic *d =
            script_error(e, "T0384", span, "'%s' needs a constant for %s", node->text, missing.data);
        say_definition(e, d, node);
    }
    if (!good)
        return script_poison();
    script_value result = {.kind = SCRIPT_VALUE_KERNEL};
    for (size_t i = 0; i < template->instances.count; i++)
        if (script_value_equal(template->instances.items[i].constants, full, 20)) {
            result.as.kernel = template->instances.items[i].kernel;
            return result;
        }
    e->scope = template->scope;
    script_build_kernel(e, node, &full, &result.as.kernel);
    e->scope = outer;
    base_vector_push(e->arena, &template->instances, ((script_instance){full, result.as.kernel}));
    return result;
}

/* kernel.specialize(M=256, K=64) */
script_value script_word_specialize(script_evaluator *e, const script_call *call) {
    script_value constants = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    for (size_t i = 0; i < call->keywords.items.count; i++) {
        const script_argument *item = &call->keywords.items.items[i];
        script_list_add(e->arena, constants, script_string(e->arena, item->name, strlen(item->name)));
        script_list_add(e->arena, constants, item->value);
    }
    return script_specialise(e, call->receiver.as.template, constants, call->span);
}

/* Optional(type), in the older dialects Optional[type]: a parameter that a specialisation can leave out. */
script_value script_word_optional(script_evaluator *e, const script_call *call) {
    script_value v = {.kind = SCRIPT_VALUE_OPTIONAL};
    v.as.meta = base_arena_copy(e->arena, &call->value[0], sizeof(call->value[0]));
    return v;
}

/* constexpr: an annotation; what it means is in the parameters of a template. */
script_value script_word_constexpr(script_evaluator *e, const script_call *call) {
    base_diagnostic *d =
        script_error(e, "T0384", call->span, "constexpr is the type of a parameter of @T.jit");
    base_help(e->diagnostics, d, "@T.jit, then KERNEL.specialize(NAME=...)");
    return script_poison();
}

/* kernel.with_attr("global_symbol", "name"), or a dict of attributes. The others are the older host's. */
script_value script_word_with_attr(script_evaluator *e, const script_call *call) {
    script_value attributes = call->value[0];
    if (attributes.kind != SCRIPT_VALUE_DICT) {
        attributes = script_list_make(e->arena, SCRIPT_VALUE_DICT);
        script_list_add(e->arena, attributes, call->value[0]);
        script_list_add(e->arena, attributes, call->given[1] ? call->value[1] : script_none());
    }
    for (size_t i = 0; i + 1 < attributes.as.list->items.count; i += 2) {
        const char *key, *name;
        if (!script_constant_string(e, attributes.as.list->items.items[i], &key, call->span, "an attribute"))
            return script_poison();
        if (strcmp(key, "global_symbol") != 0)
            continue;
        script_value v = attributes.as.list->items.items[i + 1];
        if (!script_constant_string(e, v, &name, call->span, "the name of a kernel"))
            return script_poison();
        if (!script_is_identifier(name)) {
            script_error(e, "T0205", call->span, "'%.60s' is no name of a kernel", name);
            return script_poison();
        }
        if (strcmp(call->receiver.as.kernel->name, name) != 0)
            call->receiver.as.kernel->name = base_name_of(e->names, script_kernel_name(e, name));
    }
    return call->receiver;
}
