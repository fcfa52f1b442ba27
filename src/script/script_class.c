/* SPDX-License-Identifier: Apache-2.0
 * Classes of the script: bodies, records, enumerations, objects and their attributes. Objects are values of
 * the compile time; what a meta class allocates in its constructor belongs to the object. Knows nothing of
 * kernels but that their rules store into fields that hold one element. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- look-up along the bases ---- */

static script_binding *class_find(script_evaluator *e, const script_class *class, const char *name) {
    for (; class; class = class->base) {
        script_binding *found = script_scope_find(e, class->scope, name);
        if (found)
            return found;
    }
    return NULL;
}

bool script_is_subclass(const script_class *class, const script_class *base) {
    for (; class; class = class->base)
        if (class == base)
            return true;
    return false;
}

static script_value bound_value(script_evaluator *e, script_closure *closure, script_value receiver) {
    script_value v = {.kind = SCRIPT_VALUE_BOUND};
    v.as.bound = BASE_NEW(e->arena, script_bound);
    v.as.bound->closure = closure;
    v.as.bound->receiver = base_arena_copy(e->arena, &receiver, sizeof(receiver));
    return v;
}

script_closure *script_find_method(script_evaluator *e, const script_class *class, const char *name) {
    script_binding *found = class_find(e, class, name);
    return found && found->value.kind == SCRIPT_VALUE_FUNCTION ? found->value.as.closure : NULL;
}

/* Calls a special method such as __len__; NONE receiver kinds have none. */
script_value script_call_method(script_evaluator *e, script_value object, const char *name,
                                const script_value *argument, base_span span) {
    script_closure *closure = script_find_method(e, object.as.object->class, name);
    script_arguments arguments = {0};
    if (argument)
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = *argument, .span = span});
    return script_call_value(e, bound_value(e, closure, object), &arguments, NULL, span, span);
}

script_value script_call_method_two(script_evaluator *e, script_value object, const char *name,
                                    script_value first, script_value second, base_span span) {
    script_closure *closure = script_find_method(e, object.as.object->class, name);
    script_arguments arguments = {0};
    base_vector_push(e->arena, &arguments.items, (script_argument){.value = first, .span = span});
    base_vector_push(e->arena, &arguments.items, (script_argument){.value = second, .span = span});
    return script_call_value(e, bound_value(e, closure, object), &arguments, NULL, span, span);
}

/* ---- what Python asks of an object ---- */

bool script_truth(script_evaluator *e, script_value v, bool *truth, base_span span) {
    if (v.kind != SCRIPT_VALUE_OBJECT)
        return script_value_truth(v, truth);
    const script_class *class = v.as.object->class;
    const char *name = script_find_method(e, class, "__bool__")  ? "__bool__"
                       : script_find_method(e, class, "__len__") ? "__len__"
                                                                 : NULL;
    return script_value_truth(name ? script_call_method(e, v, name, NULL, span) : v, truth);
}

bool script_need_truth(script_evaluator *e, script_value v, bool *truth, base_span span, const char *what) {
    if (script_truth(e, v, truth, span))
        return true;
    if (!script_is_poison(v))
        script_constant_bool(e, v, truth, span, what);
    return false;
}

/* As Python writes records and members of enumerations, else by __str__ and __repr__. */
bool script_object_text(script_evaluator *e, const script_object *object, bool repr, unsigned depth,
                        base_builder *out) {
    const script_class *class = object->class;
    script_value v = {.kind = SCRIPT_VALUE_OBJECT, .as.object = (script_object *)(uintptr_t)object};
    const char *method = NULL;
    if (e && !repr && script_find_method(e, class, "__str__"))
        method = "__str__";
    else if (e && script_find_method(e, class, "__repr__"))
        method = "__repr__";
    if (method) {
        script_value text = script_call_method(e, v, method, NULL, class->span);
        if (text.kind != SCRIPT_VALUE_STRING)
            return false;
        base_builder_add(out, text.as.string.text, text.as.string.size);
        return true;
    }
    if (depth == 0)
        return false;
    if (script_is_enumeration(class)) {
        const script_value *name = &script_scope_find(e, object->fields, "name")->value;
        const script_value *value = &script_scope_find(e, object->fields, "value")->value;
        if (class->kind == SCRIPT_CLASS_NUMBERS && !repr)
            return script_value_text_at(e, *value, true, depth - 1, out);
        base_builder_format(out, repr ? "<%s.%s: " : "%s.%s", class->name, name->as.string.text);
        return !repr ||
               (script_value_text_at(e, *value, true, depth - 1, out) && (base_builder_char(out, '>'), true));
    }
    if (class->kind != SCRIPT_CLASS_RECORD)
        return false;
    base_builder_format(out, "%s(", class->name);
    for (size_t i = 0; i < class->fields.count; i++) {
        const script_binding *field = script_scope_find(e, object->fields, class->fields.items[i].name);
        base_builder_format(out, i > 0 ? ", %s=" : "%s=", class->fields.items[i].name);
        if (!field || out->size > (1u << 20) || !script_value_text_at(e, field->value, true, depth - 1, out))
            return false;
    }
    base_builder_char(out, ')');
    return true;
}

/* What a name of a class is for one of its objects, or for the class itself. */
static script_value member_value(script_evaluator *e, script_value owner, script_value class,
                                 script_value member, base_span span) {
    if (member.kind != SCRIPT_VALUE_FUNCTION)
        return member;
    script_closure *closure = member.as.closure;
    script_arguments none = {0};
    switch (closure->role) {
    case SCRIPT_ROLE_STATIC:
        return member;
    case SCRIPT_ROLE_CLASS:
        return bound_value(e, closure, class);
    case SCRIPT_ROLE_PROPERTY:
        if (owner.kind == SCRIPT_VALUE_CLASS)
            return member;
        return script_call_value(e, bound_value(e, closure, owner), &none, NULL, span, span);
    default:
        return owner.kind == SCRIPT_VALUE_CLASS ? member : bound_value(e, closure, owner);
    }
}

static script_value class_value(const script_class *class) {
    return (script_value){.kind = SCRIPT_VALUE_CLASS, .as.class = (script_class *)(uintptr_t) class};
}

static script_value object_names(script_evaluator *e, const script_object *object) {
    script_value dict = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    for (size_t i = 0; i < object->fields->names.count; i++) {
        const char *name = object->fields->names.items[i];
        script_list_add(e->arena, dict, script_string(e->arena, name, strlen(name)));
        script_list_add(e->arena, dict, script_scope_find(e, object->fields, name)->value);
    }
    return dict;
}

script_value script_object_attribute(script_evaluator *e, script_value owner, const char *name,
                                     base_span span, bool *found) {
    const script_class *class = owner.kind == SCRIPT_VALUE_CLASS ? owner.as.class : owner.as.object->class;
    script_binding *binding = NULL;
    *found = true;
    if (owner.kind == SCRIPT_VALUE_OBJECT) {
        const script_object *object = owner.as.object;
        if ((binding = script_scope_find(e, object->fields, name)))
            return binding->value;
        if (strcmp(name, "__class__") == 0)
            return class_value(class);
        if (strcmp(name, "__dict__") == 0)
            return object_names(e, object);
        if (object->real) /* super(): functions of the base, on the whole object */
            owner.as.object = object->real;
    }
    if ((binding = class_find(e, class, name)))
        return member_value(e, owner, class_value(class), binding->value, span);
    if (class->is_tuple && owner.kind == SCRIPT_VALUE_OBJECT) {
        script_value v = script_member(e, owner, "NamedTuple", name, span, found);
        if (*found)
            return v;
        *found = true;
    }
    if ((strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0) &&
        owner.kind == SCRIPT_VALUE_CLASS)
        return script_string(e->arena, class->name, strlen(class->name));
    *found = false;
    return script_poison();
}

/* ---- assignment to a field ---- */

void script_object_assign(script_evaluator *e, script_value owner, const script_node *target,
                          script_value value, base_span value_span) {
    script_object *object = owner.as.object;
    script_binding *old = script_scope_find(e, object->fields, target->text);
    if (object->class->is_frozen && object->is_constructed) {
        script_error(e, "T0227", target->span, "'%s' of a frozen record cannot be assigned", target->text);
        return;
    }
    script_binding *member = class_find(e, object->class, target->text);
    if (member && member->value.kind == SCRIPT_VALUE_FUNCTION &&
        member->value.as.closure->role == SCRIPT_ROLE_PROPERTY) {
        script_closure *setter = member->value.as.closure->setter;
        script_arguments arguments = {0};
        base_vector_push(e->arena, &arguments.items, (script_argument){.value = value, .span = value_span});
        if (setter) {
            script_call_value(e, bound_value(e, setter, owner), &arguments, NULL, target->span, target->span);
            return;
        }
        script_error(e, "T0227", target->span, "'%s' of %s is a property: it is computed, not assigned",
                     target->text, script_value_name(e->arena, owner));
        return;
    }
    if (old && script_in_kernel(e) && !e->is_python && old->value.kind == SCRIPT_VALUE_TENSOR &&
        script_is_single(old->value.as.tensor)) {
        const ir_expr **zero = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
        zero[0] = ir_int(e->module, NUM_DTYPE_I32, 0);
        script_store(e, old->value.as.tensor, zero, 1, value, target->span, value_span);
        return;
    }
    if (value.kind == SCRIPT_VALUE_META)
        value = *value.as.meta;
    script_scope_bind(e, object->fields, target->text, value, SCRIPT_BIND_PLAIN, target->span);
}

/* ---- names of what objects hold ---- */

static void name_value(script_evaluator *e, script_value v, const char *name, unsigned depth,
                       base_span span) {
    if (v.kind == SCRIPT_VALUE_OBJECT) {
        script_name_object(e, v, name, depth, span);
    } else if (v.kind == SCRIPT_VALUE_LIST || v.kind == SCRIPT_VALUE_TUPLE) {
        for (size_t i = 0; i < v.as.list->items.count && depth > 0; i++)
            name_value(e, v.as.list->items.items[i], base_arena_format(e->arena, "%s_%zu", name, i),
                       depth - 1, span);
    } else if (v.kind == SCRIPT_VALUE_TENSOR || v.kind == SCRIPT_VALUE_POOL) {
        script_name_tensor(e, v, name, span);
    }
}

/* state = PipelineState(...): its tensors are state_stage, state_phase; those of lists state_full_0, ... */
void script_name_object(script_evaluator *e, script_value v, const char *name, unsigned depth,
                        base_span span) {
    const script_object *object = v.as.object;
    for (size_t i = 0; i < object->fields->names.count && depth > 0; i++) {
        const char *field = object->fields->names.items[i];
        name_value(e, script_scope_find(e, object->fields, field)->value,
                   base_arena_format(e->arena, "%s_%s", name, field), depth - 1, span);
    }
}

/* ---- what a constructor allocated ---- */

static bool holds(script_evaluator *e, script_value v, const ir_tensor *tensor, unsigned depth) {
    if (v.kind == SCRIPT_VALUE_TENSOR)
        return v.as.tensor == tensor;
    if (depth == 0)
        return false;
    if (v.kind == SCRIPT_VALUE_OBJECT) {
        const script_scope *fields = v.as.object->fields;
        for (size_t i = 0; i < fields->names.count; i++)
            if (holds(e, script_scope_find(e, fields, fields->names.items[i])->value, tensor, depth - 1))
                return true;
    } else if (v.kind == SCRIPT_VALUE_LIST || v.kind == SCRIPT_VALUE_TUPLE || v.kind == SCRIPT_VALUE_DICT) {
        for (size_t i = 0; i < v.as.list->items.count; i++)
            if (holds(e, v.as.list->items.items[i], tensor, depth - 1))
                return true;
    }
    return false;
}

void script_created(script_evaluator *e, ir_tensor *tensor) {
    base_map_set(e->unnamed, BASE_KEY(tensor), tensor);
    if (e->constructing > 0)
        base_vector_push(e->arena, &e->created, tensor);
}

static void check_owned(script_evaluator *e, script_value object, size_t first, base_span span) {
    for (size_t i = first; i < e->created.count; i++) {
        const ir_tensor *tensor = e->created.items[i];
        if (holds(e, object, tensor, 6))
            continue;
        base_diagnostic *d =
            script_error(e, "T0380", tensor->span.file ? tensor->span : span,
                         "the constructor of '%s' allocates a tensor that no field of the object holds",
                         object.as.object->class->name);
        base_note(e->diagnostics, d, span, "the object is made here");
        base_help(e->diagnostics, d, "assign it to self.NAME, or allocate it outside and pass it in");
    }
}

/* ---- objects ---- */

static bool fill_record(script_evaluator *e, script_object *object, const script_arguments *arguments,
                        base_span span) {
    const script_class *class = object->class;
    size_t next = 0;
    bool good = true;
    for (size_t i = 0; i < arguments->items.count; i++) {
        const script_argument *argument = &arguments->items.items[i];
        const char *name = argument->name;
        if (!name && next < class->fields.count)
            name = class->fields.items[next++].name;
        bool known = false;
        for (size_t j = 0; name && j < class->fields.count; j++)
            known |= strcmp(class->fields.items[j].name, name) == 0;
        if (!known) {
            base_diagnostic *d =
                name
                    ? script_error(e, "T0204", argument->span, "%s takes no argument '%s'", class->name, name)
                    : script_error(e, "T0203", argument->span, "too many arguments for %s", class->name);
            base_note(e->diagnostics, d, class->span, "%s is defined here", class->name);
            good = false;
        } else if (script_scope_find(e, object->fields, name)) {
            script_error(e, "T0204", argument->span, "%s got '%s' twice", class->name, name);
            good = false;
        } else {
            script_scope_bind(e, object->fields, name, argument->value, SCRIPT_BIND_PLAIN, argument->span);
        }
    }
    for (size_t i = 0; i < class->fields.count; i++) {
        const script_field *field = &class->fields.items[i];
        script_arguments none = {0};
        if (script_scope_find(e, object->fields, field->name))
            continue;
        if (!field->has_default) {
            base_diagnostic *d =
                script_error(e, "T0203", span, "%s needs an argument '%s'", class->name, field->name);
            base_note(e->diagnostics, d, class->span, "%s is defined here", class->name);
            good = false;
            continue;
        }
        script_value v =
            field->is_factory ? script_call_value(e, *field->value, &none, NULL, span, span) : *field->value;
        script_scope_bind(e, object->fields, field->name, v, SCRIPT_BIND_PLAIN, span);
    }
    return good;
}

/* Mode(3): the member of an enumeration with that value. */
static script_value enum_member(script_evaluator *e, const script_class *class,
                                const script_arguments *arguments, base_span span) {
    for (size_t i = 0; arguments->items.count == 1 && i < class->scope->names.count; i++) {
        script_binding *member = script_scope_find(e, class->scope, class->scope->names.items[i]);
        if (member->value.kind != SCRIPT_VALUE_OBJECT || member->value.as.object->class != class)
            continue;
        script_binding *value = script_scope_find(e, member->value.as.object->fields, "value");
        if (value && script_value_equal(value->value, arguments->items.items[0].value, 20))
            return member->value;
    }
    script_error(e, "T0262", span, "%s has no member of that value", class->name);
    return script_poison();
}

static script_object *object_make(script_evaluator *e, const script_class *class) {
    script_object *object = BASE_NEW(e->arena, script_object);
    object->class = class;
    object->fields = BASE_NEW(e->arena, script_scope);
    return object;
}

script_value script_construct(script_evaluator *e, script_class *class, script_arguments *arguments,
                              base_span span) {
    if (script_is_enumeration(class))
        return enum_member(e, class, arguments, span);
    script_object *object = object_make(e, class);
    script_value v = {.kind = SCRIPT_VALUE_OBJECT, .as.object = object};
    script_closure *init = script_find_method(e, class, "__init__");
    size_t first = e->created.count;
    script_value result = script_none();
    e->constructing++;
    if (init) {
        result = script_call_value(e, bound_value(e, init, v), arguments, NULL, span, span);
    } else if (class->kind == SCRIPT_CLASS_RECORD) {
        script_arguments none = {0};
        script_closure *after = script_find_method(e, class, "__post_init__");
        if (!fill_record(e, object, arguments, span))
            result = script_poison();
        else if (after)
            result = script_call_value(e, bound_value(e, after, v), &none, NULL, span, span);
    } else if (arguments->items.count > 0) {
        base_diagnostic *d = script_error(e, "T0203", arguments->items.items[0].span,
                                          "%s takes no arguments: it has no __init__", class->name);
        base_note(e->diagnostics, d, class->span, "%s is defined here", class->name);
        result = script_poison();
    }
    e->constructing--;
    object->is_constructed = true;
    if (script_is_poison(result))
        v = result;
    else if (class->kind == SCRIPT_CLASS_META)
        check_owned(e, v, first, span);
    if (e->constructing == 0)
        e->created.count = 0;
    return v;
}

/* replace(record, x=1), asdict(record), astuple(record) */
script_value script_word_record(script_evaluator *e, const script_call *call) {
    script_value v = call->receiver.kind == SCRIPT_VALUE_OBJECT ? call->receiver : call->value[0];
    if (v.kind != SCRIPT_VALUE_OBJECT || v.as.object->class->kind != SCRIPT_CLASS_RECORD) {
        script_error(e, "T0205", call->place[0], "%s takes a record, not %s", call->word->path,
                     script_value_name(e->arena, v));
        return script_poison();
    }
    const script_class *class = v.as.object->class;
    script_value result =
        script_list_make(e->arena, call->word->data == 2 ? SCRIPT_VALUE_TUPLE : SCRIPT_VALUE_DICT);
    script_arguments arguments = {0};
    for (size_t i = 0; i < class->fields.count; i++) {
        const char *name = class->fields.items[i].name;
        script_binding *field = script_scope_find(e, v.as.object->fields, name);
        script_argument argument = {
            .name = name, .value = field ? field->value : script_none(), .span = call->span};
        bool changed = false;
        for (size_t j = 0; j < call->keywords.items.count; j++)
            changed |= strcmp(call->keywords.items.items[j].name, name) == 0;
        if (!changed)
            base_vector_push(e->arena, &arguments.items, argument);
        if (call->word->data == 1)
            script_list_add(e->arena, result, script_string(e->arena, name, strlen(name)));
        script_list_add(e->arena, result, argument.value);
    }
    if (call->word->data != 0)
        return result;
    for (size_t i = 0; i < call->keywords.items.count; i++)
        base_vector_push(e->arena, &arguments.items, call->keywords.items.items[i]);
    return script_construct(e, (script_class *)(uintptr_t) class, &arguments, call->span);
}

/* fields(record): objects that have the names. */
script_value script_word_fields(script_evaluator *e, const script_call *call) {
    script_value v = call->value[0];
    const script_class *class = v.kind == SCRIPT_VALUE_CLASS ? v.as.class : NULL;
    if (v.kind == SCRIPT_VALUE_OBJECT)
        class = v.as.object->class;
    if (!class || class->kind != SCRIPT_CLASS_RECORD) {
        script_error(e, "T0205", call->place[0], "fields takes a record, not %s",
                     script_value_name(e->arena, v));
        return script_poison();
    }
    script_class *field_class = BASE_NEW(e->arena, script_class);
    field_class->name = "Field";
    field_class->span = class->span;
    field_class->scope = BASE_NEW(e->arena, script_scope);
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
    for (size_t i = 0; i < class->fields.count; i++) {
        const char *name = class->fields.items[i].name;
        script_object *field = object_make(e, field_class);
        script_scope_bind(e, field->fields, "name", script_string(e->arena, name, strlen(name)),
                          SCRIPT_BIND_PLAIN, class->span);
        field->is_constructed = true;
        script_list_add(e->arena, result, (script_value){.kind = SCRIPT_VALUE_OBJECT, .as.object = field});
    }
    return result;
}

/* super(): the object seen as one of the base of the class whose function runs. */
script_value script_word_super(script_evaluator *e, const script_call *call) {
    const script_class *owner = e->closure ? e->closure->owner : NULL;
    if (!owner || !e->self || !owner->base) {
        base_diagnostic *d = script_error(e, "T0386", call->span,
                                          owner && e->self ? "'%s' has no base class of the script"
                                                           : "super() stands in a method of a class%.0s",
                                          owner ? owner->name : "");
        base_help(e->diagnostics, d, "a class without a base needs no super().__init__()");
        return script_poison();
    }
    script_object *view = BASE_NEW(e->arena, script_object);
    *view = *e->self;
    view->class = owner->base;
    view->real = (script_object *)(uintptr_t)(e->self->real ? e->self->real : e->self);
    return (script_value){.kind = SCRIPT_VALUE_OBJECT, .as.object = view};
}

/* ---- definitions ---- */

/* field(default=..., default_factory=...) */
script_value script_word_field(script_evaluator *e, const script_call *call) {
    const script_value *value = script_argument_of(call, "default");
    const script_value *factory = script_argument_of(call, "default_factory");
    script_value v = {.kind = SCRIPT_VALUE_FIELD};
    if (!factory && value)
        return *value;
    v.as.meta = factory ? base_arena_copy(e->arena, factory, sizeof(*factory)) : NULL;
    return v;
}

static void collect_fields(script_evaluator *e, script_class *class, const script_node *node) {
    for (size_t i = 0; class->base && i < class->base->fields.count; i++)
        base_vector_push(e->arena, &class->fields, class->base->fields.items[i]);
    for (size_t i = 0; i < node->body.count; i++) {
        const script_node *statement = node->body.items[i];
        if (statement->kind != SCRIPT_ANNOTATED_ASSIGN || statement->a->kind != SCRIPT_NAME)
            continue;
        script_field field = {.name = statement->a->text};
        script_binding *value = statement->c ? script_scope_find(e, class->scope, field.name) : NULL;
        if (value) {
            bool is_field = value->value.kind == SCRIPT_VALUE_FIELD;
            field.is_factory = is_field;
            field.has_default = !is_field || value->value.as.meta;
            field.value = is_field ? value->value.as.meta : &value->value;
        }
        size_t at = 0;
        while (at < class->fields.count && strcmp(class->fields.items[at].name, field.name) != 0)
            at++;
        if (at < class->fields.count)
            class->fields.items[at] = field;
        else
            base_vector_push(e->arena, &class->fields, field);
    }
}

static void collect_members(script_evaluator *e, script_class *class, const script_node *node) {
    int64_t last = 0;
    for (size_t i = 0; i < node->body.count; i++) {
        const script_node *statement = node->body.items[i];
        if (statement->kind != SCRIPT_ASSIGN || statement->items.items[0]->kind != SCRIPT_NAME)
            continue;
        const char *name = statement->items.items[0]->text;
        script_binding *binding = script_scope_find(e, class->scope, name);
        if (!binding)
            continue;
        script_value value = binding->value;
        if (value.kind == SCRIPT_VALUE_FIELD) /* auto() */
            value = script_int(last + 1);
        script_value_integer(value, &last);
        script_object *member = object_make(e, class);
        script_scope_bind(e, member->fields, "name", script_string(e->arena, name, strlen(name)),
                          SCRIPT_BIND_PLAIN, statement->span);
        script_scope_bind(e, member->fields, "value", value, SCRIPT_BIND_PLAIN, statement->span);
        member->is_constructed = true;
        binding->value = (script_value){.kind = SCRIPT_VALUE_OBJECT, .as.object = member};
    }
}

script_value script_word_auto(script_evaluator *e, const script_call *call) {
    (void)e;
    (void)call;
    return (script_value){.kind = SCRIPT_VALUE_FIELD, .flag = true};
}

static bool is_word(script_value v, const char *path) {
    return v.kind == SCRIPT_VALUE_WORD && strcmp(v.as.word->path, path) == 0;
}

/* false: the class cannot exist here; bound or reported already. */
static bool read_base(script_evaluator *e, script_class *class, const script_node *node,
                      const script_node *item) {
    if (item->kind == SCRIPT_KEYWORD) /* metaclass=ABCMeta and options of one */
        return true;
    script_value v = script_expression(e, item->kind == SCRIPT_SUBSCRIPT ? item->a : item);
    if (script_is_poison(v))
        return false;
    if (v.kind == SCRIPT_VALUE_CLASS) {
        if (!class->base) {
            class->base = v.as.class;
            class->kind = class->kind == SCRIPT_CLASS_PLAIN ? v.as.class->kind : class->kind;
            return true;
        }
        script_error(e, "T0386", item->span, "'%s' has a second base class; one is possible", class->name);
        return false;
    }
    if (is_word(v, "enum.Enum") || is_word(v, "enum.IntEnum")) {
        class->kind = is_word(v, "enum.Enum") ? SCRIPT_CLASS_ENUM : SCRIPT_CLASS_NUMBERS;
        return true;
    }
    if (is_word(v, "typing.NamedTuple")) {
        class->kind = SCRIPT_CLASS_RECORD;
        class->is_tuple = class->is_ordered = class->is_frozen = true;
        return true;
    }
    if (is_word(v, "python.object") || (v.kind == SCRIPT_VALUE_WORD && v.as.word->data == 'E'))
        return true; /* object, and Python's own exceptions */
    if (v.kind == SCRIPT_VALUE_FOREIGN || v.kind == SCRIPT_VALUE_MODULE) {
        if (strncmp(v.as.string.text, "typing", 6) == 0 || strncmp(v.as.string.text, "abc.", 4) == 0)
            return true;
        /* an error only where the class is used */
        script_bind(e, class->name,
                    (script_value){.kind = SCRIPT_VALUE_FOREIGN,
                                   .as.string.text = base_arena_format(e->arena, "%s (a class on %s)",
                                                                       class->name, v.as.string.text)},
                    SCRIPT_BIND_PLAIN, node->span);
        return false;
    }
    script_error(e, "T0386", item->span, "%s is no class to build on", script_value_name(e->arena, v));
    return false;
}

static void apply_decorators(script_evaluator *e, script_class *class, const script_list *decorators,
                             const script_node *node, script_value *v) {
    for (size_t i = decorators->items.count; i > 0; i--) {
        script_value d = decorators->items.items[i - 1];
        if (script_is_decorator(d, SCRIPT_DECORATOR_META))
            class->kind = SCRIPT_CLASS_META;
        else if (script_is_decorator(d, SCRIPT_DECORATOR_RECORD))
            class->kind = SCRIPT_CLASS_RECORD;
        else if (!script_is_decorator(d, SCRIPT_DECORATOR_MODULE) &&
                 !script_is_decorator(d, SCRIPT_DECORATOR_NOTHING))
            *v = script_decorate(e, d, *v, node, node->decorators.items[i - 1]->span);
        if (d.kind == SCRIPT_VALUE_DECORATOR && d.as.decorator.options) {
            script_value key = script_string(e->arena, "frozen", 6);
            script_value *frozen = script_dict_find(*d.as.decorator.options, key);
            bool truth;
            class->is_frozen |= frozen && script_value_truth(*frozen, &truth) && truth;
            const script_value *order =
                script_dict_find(*d.as.decorator.options, script_string(e->arena, "order", 5));
            class->is_ordered |= order && script_value_truth(*order, &truth) && truth;
        }
    }
}

void script_define_class(script_evaluator *e, const script_node *node) {
    script_list *decorators;
    script_class *class = BASE_NEW(e->arena, script_class);
    class->name = node->text;
    class->span = node->name_span.file ? node->name_span : node->span;
    if (e->entry && strcmp(e->entry, node->text) == 0)
        e->entry_found = true;
    if (script_in_kernel(e) && !e->is_python) {
        script_not_supported(e, class->span, "a class inside a kernel");
        script_bind(e, node->text, script_poison(), SCRIPT_BIND_PLAIN, node->span);
        return;
    }
    if (!script_decorators(e, node, &decorators))
        return;
    for (size_t i = 0; i < node->items.count; i++)
        if (!read_base(e, class, node, node->items.items[i])) {
            if (!script_find_local(e, node->text))
                script_bind(e, node->text, script_poison(), SCRIPT_BIND_PLAIN, node->span);
            return;
        }
    const script_class *outer = e->class;
    e->class = class;
    class->scope = script_scope_open(e, true);
    class->scope->is_class = true;
    script_statements(e, &node->body);
    e->scope = class->scope->parent;
    e->class = outer;
    script_value v = {.kind = SCRIPT_VALUE_CLASS, .as.class = class};
    apply_decorators(e, class, decorators, node, &v);
    if (class->base)
        class->is_frozen |= class->base->is_frozen;
    if (class->kind == SCRIPT_CLASS_RECORD)
        collect_fields(e, class, node);
    else if (script_is_enumeration(class))
        collect_members(e, class, node);
    script_bind(e, node->text, v, SCRIPT_BIND_PLAIN, class->span);
}
