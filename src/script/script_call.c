/* SPDX-License-Identifier: Apache-2.0
 * Calls: arguments against the signature of a word or the parameters of a plain function, and running the
 * latter. What words do is in their handlers. */
#include "script/script_evaluate.h"
#include <string.h>

static void make_room(script_evaluator *e, script_arguments *arguments, size_t count) {
    if (count > 0)
        arguments->items.items = BASE_NEW_ARRAY(e->arena, script_argument, count);
    arguments->items.capacity = count;
}

bool script_collect_arguments(script_evaluator *e, const script_node *call, script_arguments *out) {
    bool good = true;
    make_room(e, out, call->items.count);
    for (size_t i = 0; i < call->items.count; i++) {
        const script_node *item = call->items.items[i];
        script_argument argument = {.span = item->span};
        script_list *more;
        const script_node *value_node = item->kind == SCRIPT_KEYWORD || item->kind == SCRIPT_STARRED ||
                                                item->kind == SCRIPT_DOUBLE_STARRED
                                            ? item->a
                                            : item;
        argument.value = script_expression(e, value_node);
        argument.span = value_node ? value_node->span : item->span;
        if (script_is_poison(argument.value)) {
            good = false;
            continue;
        }
        if (item->kind == SCRIPT_STARRED) {
            if (!script_iterate(e, argument.value, &more, item->span)) {
                good = false;
                continue;
            }
            for (size_t j = 0; j < more->items.count; j++) {
                argument.value = more->items.items[j];
                base_vector_push(e->arena, &out->items, argument);
            }
            continue;
        }
        if (item->kind == SCRIPT_DOUBLE_STARRED) {
            if (argument.value.kind != SCRIPT_VALUE_DICT) {
                script_error(e, "T0205", item->span, "** takes a dict, not %s",
                             script_value_name(e->arena, argument.value));
                good = false;
                continue;
            }
            more = argument.value.as.list;
            for (size_t j = 0; j + 1 < more->items.count; j += 2) {
                script_argument named = {.span = item->span, .value = more->items.items[j + 1]};
                if (more->items.items[j].kind == SCRIPT_VALUE_STRING)
                    named.name = more->items.items[j].as.string.text;
                base_vector_push(e->arena, &out->items, named);
            }
            continue;
        }
        argument.name = item->kind == SCRIPT_KEYWORD ? item->text : NULL;
        base_vector_push(e->arena, &out->items, argument);
    }
    return good;
}

/* ---- signatures of words ---- */

static bool is_parameter(const script_dialect_word *word, const script_parameter *p, const char *name,
                         size_t size) {
    return p->size == size && memcmp(word->signature + p->begin, name, size) == 0;
}

static const script_value *argument_at(const script_call *call, const char *name, size_t *index) {
    const script_parameter *parameters;
    const script_signature *s = script_signature_of(call->word, &parameters);
    size_t size = strlen(name);
    for (size_t i = 0; i < s->count; i++)
        if (call->given[i] && is_parameter(call->word, &parameters[i], name, size)) {
            *index = i;
            return call->value[i].kind != SCRIPT_VALUE_NONE ? &call->value[i] : NULL;
        }
    return NULL;
}

const script_value *script_argument_of(const script_call *call, const char *name) {
    size_t index;
    return argument_at(call, name, &index);
}

bool script_argument_int(script_evaluator *e, const script_call *call, const char *name, int64_t otherwise,
                         int64_t *value) {
    const script_value *v = script_argument_of(call, name);
    *value = otherwise;
    return !v || script_constant_int(e, *v, value, script_argument_span(call, name), name);
}

const script_node *script_parameter_named(const script_node *function, const char *name) {
    for (size_t i = 0; i < function->parameters.count; i++)
        if (function->parameters.items[i]->text && strcmp(function->parameters.items[i]->text, name) == 0)
            return function->parameters.items[i];
    return NULL;
}

base_span script_argument_span(const script_call *call, const char *name) {
    size_t index;
    return argument_at(call, name, &index) ? call->place[index] : call->span;
}

/* Arguments that are accepted and mean nothing yet. */
void script_left_out(script_evaluator *e, const script_call *call, const char *name) {
    if (!script_argument_of(call, name))
        return;
    base_report(e->diagnostics, BASE_WARNING, "T0254", script_argument_span(call, name),
                "%s= of %s is left out", name, call->word->path);
}

static const char *word_name(const script_dialect_word *word) {
    const char *name = word->path;
    if (strncmp(name, "python.", 7) == 0)
        name += 7;
    return name;
}

static void say_signature(script_evaluator *e, base_diagnostic *d, const script_dialect_word *word) {
    base_help(e->diagnostics, d, "%s(%s)", word_name(word), word->signature);
}

static void report_keyword(script_evaluator *e, const script_call *call, const script_argument *argument) {
    const script_parameter *parameters;
    const script_signature *s = script_signature_of(call->word, &parameters);
    const char *names[SCRIPT_MAX_PARAMETERS];
    for (size_t i = 0; i < s->count; i++)
        names[i] =
            base_arena_string(e->arena, call->word->signature + parameters[i].begin, parameters[i].size);
    base_diagnostic *d = script_error(e, "T0204", argument->span, "%s takes no argument '%s'",
                                      word_name(call->word), argument->name);
    const char *near = script_nearest(argument->name, names, s->count);
    if (near)
        base_help(e->diagnostics, d, "did you mean '%s'?", near);
    else if (strcmp(argument->name, "name") == 0)
        base_help(e->diagnostics, d, "the name comes from the assignment");
    else
        say_signature(e, d, call->word);
}

static bool place_keyword(script_evaluator *e, script_call *call, const script_argument *argument) {
    const script_parameter *parameters;
    const script_signature *s = script_signature_of(call->word, &parameters);
    size_t size = strlen(argument->name);
    for (size_t i = 0; i < s->count; i++) {
        if (!is_parameter(call->word, &parameters[i], argument->name, size))
            continue;
        if (call->given[i]) {
            script_error(e, "T0204", argument->span, "%s got '%s' twice", word_name(call->word),
                         argument->name);
            return false;
        }
        call->given[i] = true;
        call->value[i] = argument->value;
        call->place[i] = argument->span;
        return true;
    }
    if (s->has_keywords) {
        base_vector_push(e->arena, &call->keywords.items, *argument);
        return true;
    }
    report_keyword(e, call, argument);
    return false;
}

static bool bind_word(script_evaluator *e, script_call *call, const script_arguments *arguments) {
    const script_parameter *parameters;
    const script_signature *s = script_signature_of(call->word, &parameters);
    bool good = true;
    size_t next = 0, positional = s->positional;
    call->count = s->count;
    for (size_t i = 0; i < arguments->items.count; i++) {
        const script_argument *argument = &arguments->items.items[i];
        if (argument->name) {
            good &= place_keyword(e, call, argument);
        } else if (next < positional) {
            call->given[next] = true;
            call->value[next] = argument->value;
            call->place[next++] = argument->span;
        } else if (s->has_rest) {
            base_vector_push(e->arena, &call->rest.items, *argument);
        } else {
            base_diagnostic *d =
                script_error(e, "T0203", argument->span, "%s takes %zu positional argument%s",
                             word_name(call->word), positional, positional == 1 ? "" : "s");
            say_signature(e, d, call->word);
            return false;
        }
    }
    for (size_t i = 0; i < s->count; i++) {
        const script_parameter *p = &parameters[i];
        if (call->given[i] || p->is_optional)
            continue;
        base_diagnostic *d =
            script_error(e, "T0203", call->span, "%s needs an argument '%.*s'", word_name(call->word),
                         (int)p->size, call->word->signature + p->begin);
        say_signature(e, d, call->word);
        good = false;
    }
    return good;
}

/* Methods and getters of the tensor type, called with their operand. */
static bool takes_tensor(script_evaluator *e, const script_dialect_word *word,
                         const script_arguments *arguments, size_t at, base_span span) {
    for (size_t i = 0; i <= at; i++) {
        script_value_kind wanted = i < at ? SCRIPT_VALUE_TENSOR_TYPE : SCRIPT_VALUE_TENSOR;
        const script_argument *given = i < arguments->items.count ? &arguments->items.items[i] : NULL;
        if (given && !given->name && given->value.kind == wanted)
            continue;
        base_diagnostic *d = script_error(
            e, "T0205", given ? given->span : span, "%s needs a tensor%s as its %s argument, not %s",
            word->path, i < at ? " type" : "", i == 0 ? "first" : "second",
            given && !given->name ? script_value_name(e->arena, given->value) : "nothing");
        base_help(e->diagnostics, d,
                  at ? "a getter of __expr_properties__ takes the type and the tensor: getter(B.ty, B)"
                     : "B.ty.%s(B, ...) is B.%s(...)",
                  word->path + 7, word->path + 7);
        return false;
    }
    return true;
}

static script_value call_word(script_evaluator *e, const script_dialect_word *word, script_value *receiver,
                              script_arguments *arguments, const script_node *node, base_span span,
                              base_span name_span) {
    script_call storage = {.word = word}, *call = &storage;
    script_arguments shifted = *arguments;
    call->span = span;
    call->name_span = name_span;
    call->node = node;
    if (word->kind == SCRIPT_WORD_SUBSCRIPT) {
        base_diagnostic *d = script_error(e, "T0264", span, "%s is not called", word_name(word));
        base_help(e->diagnostics, d, "it takes brackets: %s[...]", word_name(word));
        return script_poison();
    }
    if (receiver) {
        call->receiver = *receiver;
    } else if (strncmp(word->path, "Tensor.", 7) == 0) {
        /* B.ty.view(B, ...): the tensor comes first; a getter takes the type before it */
        size_t at = word->kind == SCRIPT_WORD_PROPERTY;
        if (!takes_tensor(e, word, arguments, at, span))
            return script_poison();
        call->receiver = arguments->items.items[at].value;
        shifted.items.items += at + 1;
        shifted.items.count -= at + 1;
    }
    if (!bind_word(e, call, &shifted))
        return script_poison();
    return word->handler(e, call);
}

/* Casts: float32(x); float32() is a size that is not named yet. */
static script_value call_type(script_evaluator *e, script_value type, const script_arguments *arguments,
                              base_span span) {
    ir_type to = type.as.type;
    if (to.kind != IR_TYPE_PRIM) {
        script_error(e, "T0264", span, "%s is not called", script_value_name(e->arena, type));
        return script_poison();
    }
    if (arguments->items.count == 0) {
        script_value symbol = {.kind = SCRIPT_VALUE_SYMBOL};
        symbol.as.type = to;
        return symbol;
    }
    const script_argument *argument = &arguments->items.items[0];
    if (arguments->items.count > 1 || argument->name) {
        script_error(e, "T0203", span, "%s takes one value", script_type_name(e, to));
        return script_poison();
    }
    if (argument->value.kind == SCRIPT_VALUE_STRING && num_dtype_is_float((num_dtype)to.dtype)) {
        const char *text = argument->value.as.string.text;
        double value = strcmp(text, "inf") == 0    ? (double)__builtin_inff()
                       : strcmp(text, "-inf") == 0 ? -(double)__builtin_inff()
                                                   : (double)__builtin_nanf("");
        if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0 || strcmp(text, "nan") == 0) {
            const ir_expr *x = script_to_type(e, script_float(value), to, argument->span);
            return x ? script_expr(x) : script_poison();
        }
        script_error(e, "T0205", argument->span, "of strings only \"inf\", \"-inf\" and \"nan\" are floats");
        return script_poison();
    }
    const ir_expr *x = script_to_type(e, argument->value, to, argument->span);
    return x ? script_expr(x) : script_poison();
}

static script_value call_bound(script_evaluator *e, const script_bound *bound,
                               const script_arguments *arguments, base_span span) {
    const script_object *outer = e->self;
    script_arguments all = {0};
    make_room(e, &all, arguments->items.count + 1);
    base_vector_push(e->arena, &all.items, (script_argument){.value = *bound->receiver, .span = span});
    for (size_t i = 0; i < arguments->items.count; i++)
        base_vector_push(e->arena, &all.items, arguments->items.items[i]);
    e->self = bound->receiver->kind == SCRIPT_VALUE_OBJECT ? bound->receiver->as.object : NULL;
    script_value v = script_call_closure(e, bound->closure, &all, span);
    e->self = outer;
    return v;
}

static script_value construct(script_evaluator *e, script_class *class, script_arguments *arguments,
                              base_span span) {
    if (!script_enter(e, span))
        return script_poison();
    script_value v = script_construct(e, class, arguments, span);
    script_leave(e);
    return v;
}

script_value script_call_value(script_evaluator *e, script_value callee, script_arguments *arguments,
                               const script_node *node, base_span span, base_span name_span) {
    switch (callee.kind) {
    case SCRIPT_VALUE_POISON:
        return callee;
    case SCRIPT_VALUE_WORD: {
        const script_dialect_word *tile = script_tile_overload(callee.as.word, arguments);
        return call_word(e, tile ? tile : callee.as.word, NULL, arguments, node, span, name_span);
    }
    case SCRIPT_VALUE_METHOD:
        return call_word(e, callee.as.method.word, callee.as.method.receiver, arguments, node, span,
                         name_span);
    case SCRIPT_VALUE_FUNCTION:
        return script_call_closure(e, callee.as.closure, arguments, span);
    case SCRIPT_VALUE_BOUND:
        return call_bound(e, callee.as.bound, arguments, span);
    case SCRIPT_VALUE_PARTIAL:
        return script_call_partial(e, callee.as.partial, arguments, node, span, name_span);
    case SCRIPT_VALUE_CLASS:
        return construct(e, callee.as.class, arguments, span);
    case SCRIPT_VALUE_OBJECT:
        if (script_find_method(e, callee.as.object->class, "__call__")) {
            script_value method = script_get_attribute(e, callee, "__call__", span);
            return script_call_value(e, method, arguments, node, span, name_span);
        }
        script_error(e, "T0264", name_span, "%s cannot be called", script_value_name(e->arena, callee));
        return script_poison();
    case SCRIPT_VALUE_TYPE:
        return call_type(e, callee, arguments, span);
    case SCRIPT_VALUE_PTX:
        return script_ptx_call(e, callee, arguments, node, span, name_span);
    case SCRIPT_VALUE_FOREIGN:
    case SCRIPT_VALUE_MODULE:
        return script_foreign_used(e, callee, name_span);
    case SCRIPT_VALUE_KERNEL:
        script_not_supported(e, name_span, "a call of the kernel '%s' from a script", callee.as.kernel->name);
        return script_poison();
    default:
        script_error(e, "T0264", name_span, "%s cannot be called", script_value_name(e->arena, callee));
        return script_poison();
    }
}

/* ---- plain functions ---- */

static bool give_parameter(script_evaluator *e, script_closure *closure, size_t index,
                           const script_arguments *arguments, bool *used, size_t *next, base_span span) {
    const script_node *p = closure->node->parameters.items[index];
    if (p->op == SCRIPT_PARAMETER_STAR || p->op == SCRIPT_PARAMETER_DOUBLE_STAR) {
        bool star = p->op == SCRIPT_PARAMETER_STAR;
        script_value rest = script_list_make(e->arena, star ? SCRIPT_VALUE_TUPLE : SCRIPT_VALUE_DICT);
        for (size_t i = 0; i < arguments->items.count; i++) {
            const script_argument *argument = &arguments->items.items[i];
            if (used[i] || (argument->name == NULL) != star)
                continue;
            used[i] = true;
            if (!star)
                script_list_add(e->arena, rest,
                                script_string(e->arena, argument->name, strlen(argument->name)));
            script_list_add(e->arena, rest, argument->value);
        }
        if (p->text && p->text[0])
            script_bind(e, p->text, rest, SCRIPT_BIND_PLAIN, p->span);
        return true;
    }
    if (p->op != SCRIPT_PARAMETER_KEYWORD_ONLY) {
        while (*next < arguments->items.count && arguments->items.items[*next].name)
            ++*next;
        if (*next < arguments->items.count) {
            used[*next] = true;
            script_bind(e, p->text, arguments->items.items[(*next)++].value, SCRIPT_BIND_PLAIN, p->span);
            return true;
        }
    }
    for (size_t i = 0; i < arguments->items.count; i++) {
        if (used[i] || !arguments->items.items[i].name ||
            strcmp(arguments->items.items[i].name, p->text) != 0)
            continue;
        used[i] = true;
        script_bind(e, p->text, arguments->items.items[i].value, SCRIPT_BIND_PLAIN, p->span);
        return true;
    }
    if (closure->has_default[index]) {
        script_bind(e, p->text, closure->defaults->items.items[index], SCRIPT_BIND_PLAIN, p->span);
        return true;
    }
    base_diagnostic *d = script_error(e, "T0203", span, "%s needs an argument '%s'", closure->name, p->text);
    base_note(e->diagnostics, d, closure->node->span, "%s is defined here", closure->name);
    return false;
}

static bool bind_closure(script_evaluator *e, script_closure *closure, const script_arguments *arguments,
                         base_span span) {
    bool *used = BASE_NEW_ARRAY(e->arena, bool, arguments->items.count + 1);
    size_t next = 0;
    bool good = true;
    /* **keywords last: it takes what no named parameter took */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < closure->node->parameters.count; i++)
            if ((closure->node->parameters.items[i]->op == SCRIPT_PARAMETER_DOUBLE_STAR) == (pass == 1))
                good &= give_parameter(e, closure, i, arguments, used, &next, span);
    for (size_t i = 0; good && i < arguments->items.count; i++) {
        if (used[i])
            continue;
        const script_argument *argument = &arguments->items.items[i];
        base_diagnostic *d =
            argument->name
                ? script_error(e, "T0204", argument->span, "%s takes no argument '%s'", closure->name,
                               argument->name)
                : script_error(e, "T0203", argument->span, "too many arguments for %s", closure->name);
        base_note(e->diagnostics, d, closure->node->span, "%s is defined here", closure->name);
        good = false;
    }
    return good;
}

static script_value run_closure(script_evaluator *e, script_closure *closure, script_arguments *arguments,
                                base_span span) {
    if (!script_enter(e, span))
        return script_poison();
    script_scope *caller = e->scope;
    const script_closure *running = e->closure;
    bool was_python = e->is_python, is_inline = closure->role == SCRIPT_ROLE_INLINE;
    uint32_t outer_depth = e->inline_depth, depth = e->depth;
    const base_span outer_caller = e->library_caller;
    if (is_inline && !script_need_kernel(e, span, "an inline function")) {
        script_leave(e);
        return script_poison();
    }
    if (!closure->is_dynamic)
        e->scope = closure->scope;
    script_scope_open(e, true);
    if (e->library_file && closure->node->span.file == e->library_file && span.file != e->library_file)
        e->library_caller = span;
    e->closure = closure;
    e->depth = 0;
    e->calls++;
    e->is_python = !is_inline;
    e->inline_depth = is_inline ? e->ir_depth : 0;
    script_value result = script_poison();
    if (bind_closure(e, closure, arguments, span)) {
        if (closure->node->kind == SCRIPT_LAMBDA) {
            result = script_expression(e, closure->node->a);
        } else {
            size_t errors = base_diagnostics_errors(e->diagnostics);
            e->result = script_none();
            script_statements(e, &closure->node->body);
            result = base_diagnostics_errors(e->diagnostics) == errors ? e->result : script_poison();
        }
    }
    e->scope = caller;
    e->library_caller = outer_caller;
    e->closure = running;
    e->depth = depth;
    e->calls--;
    e->is_python = was_python;
    e->inline_depth = outer_depth;
    script_leave(e);
    return result;
}

/* The arguments of a call of a cached function as a key; NONE: one of them cannot be in a dict. */
static script_value cache_key(script_evaluator *e, const script_arguments *arguments) {
    script_value key = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (size_t i = 0; i < arguments->items.count; i++) {
        const script_argument *argument = &arguments->items.items[i];
        script_value v = argument->value;
        if (!script_value_is_constant(v) && v.kind != SCRIPT_VALUE_TUPLE && v.kind != SCRIPT_VALUE_OBJECT)
            return script_none();
        if (argument->name)
            script_list_add(e->arena, key, script_string(e->arena, argument->name, strlen(argument->name)));
        script_list_add(e->arena, key, v);
    }
    return key;
}

/* functools.cache: a call with the same constants gives the result from before. */
script_value script_call_closure(script_evaluator *e, script_closure *closure, script_arguments *arguments,
                                 base_span span) {
    script_value key = closure->results ? cache_key(e, arguments) : script_none();
    if (key.kind == SCRIPT_VALUE_NONE)
        return run_closure(e, closure, arguments, span);
    script_value results = {.kind = SCRIPT_VALUE_DICT, .as.list = closure->results};
    script_value *found = script_dict_find(results, key);
    if (found)
        return *found;
    script_value v = run_closure(e, closure, arguments, span);
    if (!script_is_poison(v) && !script_is_ir(v))
        script_dict_set(e, results, key, v, span);
    return v;
}
