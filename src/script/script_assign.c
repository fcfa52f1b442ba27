/* SPDX-License-Identifier: Apache-2.0
 * Assignments: the rules of language.md 2.7 inside a kernel (scalars, lets, pointers, names for tensors),
 * Python's own rules outside and in plain functions. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <string.h>

static bool is_kernel_rules(const script_evaluator *e) {
    return script_in_kernel(e) && !e->is_python;
}

/* ---- what may not be assigned ---- */

static bool refuse_immutable(script_evaluator *e, const script_binding *old, base_span span,
                             bool is_augmented) {
    const char *code, *what, *help;
    switch (old->kind) {
    case SCRIPT_BIND_LET:
        code = is_augmented ? "T0220" : "T0221";
        what = "a let: its value never changes";
        help = "for a value that changes write `%s: T.int32 = ...`";
        break;
    case SCRIPT_BIND_POINTER:
        code = "T0222";
        what = "a pointer, which is bound once";
        help = "give the other pointer a name of its own, not '%s'";
        break;
    case SCRIPT_BIND_LOOP:
        code = "T0224";
        what = "the variable of a loop";
        help = "copy it first: `%s_now: T.int32 = ...`";
        break;
    case SCRIPT_BIND_PARAMETER:
        code = "T0223";
        what = "a parameter of the kernel";
        help = "copy it first: `%s_now: T.int32 = ...`";
        break;
    default:
        return false;
    }
    if (script_is_poison(old->value))
        return true;
    base_diagnostic *d = script_error(e, code, span, "'%s' cannot be assigned: it is %s", old->name, what);
    base_note(e->diagnostics, d, old->span, "'%s' was bound here", old->name);
    char text[160];
    const char *hole = strstr(help, "%s");
    snprintf(text, sizeof(text), "%.*s%.60s%s", (int)(hole - help), help, old->name, hole + 2);
    base_help(e->diagnostics, d, "%s", text);
    return true;
}

bool script_may_rebind(script_evaluator *e, const char *name, base_span span) {
    script_binding *old = is_kernel_rules(e) ? script_find_local(e, name) : NULL;
    return !old || !refuse_immutable(e, old, span, false);
}

/* ---- lets and scalars ---- */

static script_value make_let(script_evaluator *e, const char *name, const ir_expr *value, base_span span) {
    ir_var *var = ir_var_create(e->module, name, value->type, IR_VAR_LET, span);
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_LET, e->statement);
    statement->as.let.var = var;
    statement->as.let.value = value;
    script_emit(e, statement);
    if (value->op == IR_INT)
        base_map_set(e->let_values, BASE_KEY(var), (void *)(uintptr_t)value);
    if (value->op == IR_BLOCK_IDX || value->op == IR_THREAD_IDX)
        base_map_set(e->let_queries, BASE_KEY(var), (void *)(uintptr_t)value);
    return script_expr(ir_var_use(e->module, var));
}

script_value script_make_let(script_evaluator *e, const ir_expr *value, base_span span) {
    if (e->lazy_depth > 0) {
        base_diagnostic *d =
            script_error(e, "T0248", span,
                         "a reduction in a place that is not always evaluated, such as one side of "
                         "a condition");
        base_help(e->diagnostics, d, "give its value a name first, or write an if");
    }
    return make_let(e, script_temporary_name(e, "t"), value, span);
}

static void store_scalar(script_evaluator *e, ir_tensor *tensor, script_value value, base_span span,
                         base_span value_span) {
    const ir_expr **zero = BASE_NEW_ARRAY(e->arena, const ir_expr *, 1);
    zero[0] = ir_int(e->module, NUM_DTYPE_I32, 0);
    script_store(e, tensor, zero, 1, value, span, value_span);
}

/* x = 3 where x is an array: the reader may mean its elements, and nothing is stored there. */
static void warn_lost_tensor(script_evaluator *e, const char *name, base_span span) {
    script_binding *old = script_find_local(e, name);
    if (!old || !old->span.file || old->value.kind != SCRIPT_VALUE_TENSOR ||
        script_is_single(old->value.as.tensor))
        return;
    base_diagnostic *d = base_report(
        e->diagnostics, BASE_WARNING, "T0389", span,
        "this '%s' is a new scalar; from here on it hides the tensor, into which nothing is stored", name);
    base_note(e->diagnostics, d, old->span, "the tensor '%s' is here", name);
    base_help(e->diagnostics, d, "an element is assigned by its index: `%s[...] = ...`", name);
}

static void new_scalar(script_evaluator *e, const char *name, const ir_expr *value, base_span span) {
    warn_lost_tensor(e, name, span);
    ir_tensor *tensor = script_scalar_create(e, name, value->type, IR_SCOPE_LOCAL, span);
    if (!tensor)
        return;
    script_bind(e, name, script_tensor(tensor), SCRIPT_BIND_PLAIN, span);
    store_scalar(e, tensor, script_expr(value), span, span);
}

static bool is_number(script_value v) {
    return v.kind == SCRIPT_VALUE_INT || v.kind == SCRIPT_VALUE_FLOAT || v.kind == SCRIPT_VALUE_BOOL;
}

/* Something that has a value of a primitive type, and so can be stored. */
static bool is_storable(script_value v) {
    if (v.kind == SCRIPT_VALUE_EXPR)
        return v.as.expr->type.kind == IR_TYPE_PRIM;
    return is_number(v) || v.kind == SCRIPT_VALUE_REGION ||
           (v.kind == SCRIPT_VALUE_TENSOR && v.as.tensor->is_scalar);
}

/* ---- names ---- */

/* Tensors of a list take the list's name and their place: regs_0, regs_1; those of a dict their key. */
static void name_elements(script_evaluator *e, const char *name, script_value list, unsigned depth,
                          base_span span) {
    bool is_dict = list.kind == SCRIPT_VALUE_DICT;
    for (size_t i = is_dict; i < list.as.list->items.count && depth > 0; i += is_dict ? 2 : 1) {
        script_value item = list.as.list->items.items[i];
        bool is_list = item.kind == SCRIPT_VALUE_LIST || item.kind == SCRIPT_VALUE_TUPLE;
        if (item.kind != SCRIPT_VALUE_TENSOR && !is_list)
            continue;
        script_value key = is_dict ? list.as.list->items.items[i - 1] : script_int((int64_t)i);
        base_builder text;
        base_builder_start(&text, e->arena);
        base_builder_format(&text, "%s_", name);
        script_value_text(e, key, false, &text);
        if (is_list)
            name_elements(e, text.data, item, depth - 1, span);
        else
            script_name_tensor(e, item, text.data, span);
    }
}

/* n = T.int32(): a size of the call. A parameter of that name is the same size. */
static void bind_symbol(script_evaluator *e, const script_node *target, script_value value,
                        const script_binding *old) {
    if (old && old->kind == SCRIPT_BIND_PARAMETER && old->value.kind == SCRIPT_VALUE_EXPR) {
        if (!ir_type_equal(old->value.as.expr->type, value.as.type)) {
            base_diagnostic *d = script_error(
                e, "T0233", target->span, "'%s' is %s here and %s as a parameter", target->text,
                script_type_name(e, value.as.type), script_type_name(e, old->value.as.expr->type));
            base_note(e->diagnostics, d, old->span, "the parameter is here");
        }
        return;
    }
    ir_var *var = ir_var_create(e->module, target->text, value.as.type, IR_VAR_PARAMETER, target->span);
    script_bind(e, target->text, script_expr(ir_var_use(e->module, var)),
                e->function ? SCRIPT_BIND_PARAMETER : SCRIPT_BIND_PLAIN, target->span);
}

static void assign_name_python(script_evaluator *e, const script_node *target, script_value value) {
    if (e->scope == e->module_scope &&
        base_map_get(e->defined, BASE_KEY(base_name_of(e->names, target->text)))) {
        return; /* -D decides */
    }
    if (value.kind == SCRIPT_VALUE_META)
        value = *value.as.meta;
    if (value.kind == SCRIPT_VALUE_SYMBOL) {
        bind_symbol(e, target, value, NULL);
        return;
    }
    if (e->constructing == 0) /* what a constructor allocates is named after the object and the field */
        script_name_tensor(e, value, target->text, target->span);
    script_bind(e, target->text, value, SCRIPT_BIND_PLAIN, target->span);
}

static void bind_expr(script_evaluator *e, const script_node *target, script_value value,
                      base_span value_span) {
    const ir_expr *x = value.as.expr;
    const char *name = target->text;
    if (x->type.kind == IR_TYPE_POINTER) {
        script_bind(e, name, make_let(e, name, x, target->span), SCRIPT_BIND_POINTER, target->span);
    } else if (x->type.kind != IR_TYPE_PRIM) {
        script_error(e, "T0205", value_span, "the right side gives no value to assign");
        script_bind(e, name, script_poison(), SCRIPT_BIND_PLAIN, target->span);
    } else if (value.flag && x->op == IR_VAR && x->at.var->kind == IR_VAR_PARAMETER) {
        script_bind(e, name, script_expr(x), SCRIPT_BIND_PARAMETER, target->span);
    } else if (value.flag) { /* an index query: a constant one leaves no statement */
        script_value bound = x->op == IR_INT ? script_expr(x) : make_let(e, name, x, target->span);
        script_bind(e, name, bound, SCRIPT_BIND_LET, target->span);
    } else {
        new_scalar(e, name, x, target->span);
    }
}

/* A name that reads as one element is that element: of a scalar, here or around an inline function, or of
 * the tensor whose element an inline function was given. */
static bool store_into_name(script_evaluator *e, const script_node *target, const script_binding *old,
                            script_value value, base_span value_span) {
    if (!old || !is_storable(value))
        return false;
    if (old->value.kind == SCRIPT_VALUE_TENSOR && script_is_single(old->value.as.tensor)) {
        store_scalar(e, old->value.as.tensor, value, target->span, value_span);
        return true;
    }
    if (old->value.kind != SCRIPT_VALUE_EXPR || old->value.as.expr->op != IR_LOAD ||
        old->kind != SCRIPT_BIND_PLAIN)
        return false;
    const ir_expr *load = old->value.as.expr;
    script_store(e, (ir_tensor *)(uintptr_t)load->at.tensor, load->args, load->count, value, target->span,
                 value_span);
    return true;
}

static void assign_name(script_evaluator *e, const script_node *target, script_value value,
                        base_span value_span) {
    const char *name = target->text;
    script_binding *old = script_find_local_name(e, name);
    if (value.kind == SCRIPT_VALUE_SYMBOL) {
        bind_symbol(e, target, value, old);
        return;
    }
    if (old && refuse_immutable(e, old, target->span, false))
        return;
    if (old && old->value.kind == SCRIPT_VALUE_WINDOW && script_window_is_single(old->value.as.window) &&
        is_storable(value)) {
        script_window_store(e, old->value.as.window, script_int(0), value, target->span, target->span,
                            value_span);
        return;
    }
    if (store_into_name(e, target, old ? old : script_find(e, name), value, value_span))
        return;
    switch (value.kind) {
    case SCRIPT_VALUE_META:
        script_bind(e, name, *value.as.meta, SCRIPT_BIND_PLAIN, target->span);
        return;
    case SCRIPT_VALUE_EXPR:
        bind_expr(e, target, value, value_span);
        return;
    case SCRIPT_VALUE_TENSOR:
        if (value.as.tensor->is_scalar && !base_map_get(e->unnamed, BASE_KEY(value.as.tensor))) {
            new_scalar(e, name, script_load_single(e, value.as.tensor), target->span);
            return;
        }
        script_name_tensor(e, value, name, target->span);
        break;
    case SCRIPT_VALUE_WINDOW:
        script_window_name(e, value.as.window, name);
        break;
    case SCRIPT_VALUE_POOL:
        script_name_pool(e, value, name, target->span);
        break;
    case SCRIPT_VALUE_OBJECT:
        script_name_object(e, value, name, 6, target->span);
        break;
    case SCRIPT_VALUE_INT:
    case SCRIPT_VALUE_FLOAT:
    case SCRIPT_VALUE_BOOL: {
        const ir_expr *x = script_to_expr(e, value, value_span);
        if (x)
            new_scalar(e, name, x, target->span);
        return;
    }
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
    case SCRIPT_VALUE_DICT:
        name_elements(e, name, value, 4, target->span);
        break;
    default:
        break;
    }
    script_bind(e, name, value, SCRIPT_BIND_PLAIN, target->span);
}

/* ---- other targets ---- */

/* In a kernel a list of scalars is a row of variables: assigning one stores. */
static bool store_into_item(script_evaluator *e, const script_node *target, script_value object,
                            script_value index, script_value value, base_span value_span) {
    int64_t i;
    if (!is_kernel_rules(e) || !is_storable(value))
        return false;
    const script_value *item = NULL;
    if (object.kind == SCRIPT_VALUE_DICT)
        item = script_dict_find(object, index);
    else if ((object.kind == SCRIPT_VALUE_LIST || object.kind == SCRIPT_VALUE_TUPLE) &&
             script_value_integer(index, &i)) {
        int64_t count = (int64_t)object.as.list->items.count;
        if (i >= -count && i < count)
            item = &object.as.list->items.items[i < 0 ? i + count : i];
    }
    if (!item || item->kind != SCRIPT_VALUE_TENSOR || !script_is_single(item->as.tensor))
        return false;
    store_scalar(e, item->as.tensor, value, target->span, value_span);
    return true;
}

static void assign_to_item(script_evaluator *e, const script_node *target, script_value object,
                           script_value index, script_value value, base_span value_span) {
    if (script_is_poison(object) || script_is_poison(index) || script_is_poison(value))
        return;
    if (object.kind == SCRIPT_VALUE_TENSOR) {
        const ir_expr *const *indices;
        script_value region;
        ir_tensor *tensor = object.as.tensor;
        if (!script_indices(e, tensor, index, target->b->span, &indices, &region))
            return;
        if (region.kind == SCRIPT_VALUE_REGION &&
            !script_region_indices(e, region.as.region, target->span, &indices))
            return;
        script_store(e, tensor, indices, tensor->type.rank, value, target->span, value_span);
        return;
    }
    if (object.kind == SCRIPT_VALUE_WINDOW) {
        script_window_store(e, object.as.window, index, value, target->span, target->b->span, value_span);
        return;
    }
    if (store_into_item(e, target, object, index, value, value_span))
        return;
    if (object.kind == SCRIPT_VALUE_DICT) {
        script_dict_set(e, object, index, value, target->b->span);
        return;
    }
    if (object.kind == SCRIPT_VALUE_LIST) {
        script_list_assign(e, object, index, value, target->b->span, value_span);
        return;
    }
    if (object.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, object.as.object->class, "__setitem__")) {
        script_call_method_two(e, object, "__setitem__", index, value, target->span);
        return;
    }
    script_error(e, "T0262", target->span, "the items of %s cannot be assigned",
                 script_value_name(e->arena, object));
}

static void assign_item(script_evaluator *e, const script_node *target, script_value value,
                        base_span value_span) {
    script_value object = script_expression(e, target->a);
    script_value index = script_subscript_index(e, target->b);
    assign_to_item(e, target, object, index, value, value_span);
}

static bool has_duplicate(script_evaluator *e, const script_node *target) {
    for (size_t i = 0; i < target->items.count; i++)
        for (size_t j = 0; j < i && j < 64; j++) {
            const script_node *a = target->items.items[i], *b = target->items.items[j];
            if (a->kind != SCRIPT_NAME || b->kind != SCRIPT_NAME || strcmp(a->text, b->text) != 0 ||
                strcmp(a->text, "_") == 0)
                continue;
            script_error(e, "T0229", a->span, "'%s' stands twice in one target", a->text);
            return true;
        }
    return false;
}

/* All values are read before any is stored, as in Python: a, b = b, a exchanges. */
static void settle_values(script_evaluator *e, script_list *values, base_span span) {
    for (size_t i = 1; i < values->items.count; i++) {
        script_value *v = &values->items.items[i];
        if (v->kind == SCRIPT_VALUE_TENSOR && v->as.tensor->is_scalar &&
            !base_map_get(e->unnamed, BASE_KEY(v->as.tensor)))
            *v = script_expr(script_load_single(e, v->as.tensor));
        if (v->kind == SCRIPT_VALUE_EXPR && v->as.expr->type.kind == IR_TYPE_PRIM &&
            ir_expr_reads(v->as.expr))
            *v = script_make_let(e, v->as.expr, span);
    }
}

static void assign_tuple(script_evaluator *e, const script_node *target, script_value value,
                         base_span value_span) {
    script_list *given, *values = BASE_NEW(e->arena, script_list);
    size_t count = target->items.count, star = count;
    if (script_is_poison(value)) { /* the names still exist, and say nothing more */
        for (size_t i = 0; i < count; i++)
            script_assign(e, target->items.items[i], value, value_span);
        return;
    }
    if (has_duplicate(e, target) || !script_iterate(e, value, &given, value_span))
        return;
    for (size_t i = 0; i < count; i++)
        if (target->items.items[i]->kind == SCRIPT_STARRED)
            star = i;
    size_t have = given->items.count;
    if (star == count ? have != count : have + 1 < count) {
        script_error(e, "T0229", target->span, "%zu target%s for %zu value%s", count, count == 1 ? "" : "s",
                     have, have == 1 ? "" : "s");
        return;
    }
    for (size_t i = 0; i < have; i++)
        base_vector_push(e->arena, &values->items, given->items.items[i]);
    if (is_kernel_rules(e) && star == count)
        settle_values(e, values, value_span);
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const script_node *item = target->items.items[i];
        if (i != star) {
            script_assign(e, item, values->items.items[next++], value_span);
            continue;
        }
        script_value rest = script_list_make(e->arena, SCRIPT_VALUE_LIST);
        for (size_t left = have - (count - 1); left > 0; left--)
            script_list_add(e->arena, rest, values->items.items[next++]);
        script_assign(e, item->a, rest, value_span);
    }
}

void script_assign(script_evaluator *e, const script_node *target, script_value value, base_span value_span) {
    if (!script_enter(e, target->span))
        return;
    switch (target->kind) {
    case SCRIPT_NAME:
        if (is_kernel_rules(e))
            assign_name(e, target, value, value_span);
        else
            assign_name_python(e, target, value);
        break;
    case SCRIPT_SUBSCRIPT:
        assign_item(e, target, value, value_span);
        break;
    case SCRIPT_TUPLE:
    case SCRIPT_LIST:
        assign_tuple(e, target, value, value_span);
        break;
    case SCRIPT_ATTRIBUTE: {
        script_value object = script_expression(e, target->a);
        if (object.kind == SCRIPT_VALUE_TENSOR || object.kind == SCRIPT_VALUE_WINDOW)
            script_error(e, "T0227", target->span, "'%s' of a tensor is read-only", target->text);
        else if (object.kind == SCRIPT_VALUE_OBJECT)
            script_object_assign(e, object, target, value, value_span);
        else if (object.kind == SCRIPT_VALUE_CLASS)
            script_scope_bind(e, object.as.class->scope, target->text, value, SCRIPT_BIND_PLAIN,
                              target->span);
        else if (!script_is_poison(object))
            script_error(e, "T0227", target->span, "attributes of %s cannot be assigned",
                         script_value_name(e->arena, object));
        break;
    }
    default:
        script_error(e, "T0229", target->span, "%s cannot be assigned", script_node_name(target->kind));
        break;
    }
    script_leave(e);
}

/* ---- name: annotation = value ---- */

/* A declaration makes a new variable. In an inner block a reader may take it for the one from before. */
static void warn_hidden(script_evaluator *e, const script_node *target) {
    script_binding *old = script_find_local_name(e, target->text);
    bool is_parameter =
        old && (old->kind == SCRIPT_BIND_PARAMETER || (old->value.kind == SCRIPT_VALUE_TENSOR &&
                                                       old->value.as.tensor->kind == IR_TENSOR_PARAMETER));
    if (!old || !old->span.file || (!is_parameter && script_scope_find(e, e->scope, target->text)) ||
        (old->value.kind != SCRIPT_VALUE_TENSOR && old->kind == SCRIPT_BIND_PLAIN))
        return;
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0389", target->span,
                    is_parameter ? "this '%s' is new, and hides the parameter of the kernel"
                                 : "this '%s' is new, and hides the one from before until the block ends",
                    target->text);
    base_note(e->diagnostics, d, old->span, "'%s' from before is here", target->text);
    base_help(e->diagnostics, d,
              is_parameter ? "give it a name of its own" : "to change that one, leave the annotation out");
}

/* A float bound to an integer loses its fraction, as in a store. */
static void warn_let_truncates(script_evaluator *e, const char *name, script_value value, ir_type to,
                               base_span span) {
    bool is_real = value.kind == SCRIPT_VALUE_FLOAT ||
                   (value.kind == SCRIPT_VALUE_EXPR && value.as.expr->type.kind == IR_TYPE_PRIM &&
                    num_dtype_is_float((num_dtype)value.as.expr->type.dtype));
    if (!is_real || !ir_type_is_integer(to))
        return;
    base_diagnostic *d =
        base_report(e->diagnostics, BASE_WARNING, "T0235", span,
                    "the let '%s' of %s is bound to a float: the value is truncated toward zero", name,
                    script_type_name(e, to));
    base_help(e->diagnostics, d, "write T.cast(value, \"%s\") if this is meant", script_type_name(e, to));
}

static void annotated_let(script_evaluator *e, const script_node *node, script_value annotation,
                          script_value value) {
    const char *name = node->a->text;
    base_span span = node->a->span;
    script_binding_kind kind = SCRIPT_BIND_LET;
    if (!node->c) {
        base_diagnostic *d = script_error(e, "T0225", node->span, "a let needs its value where it stands");
        base_help(e->diagnostics, d, "write `%s: T.let = ...`", name);
        script_bind(e, name, script_poison(), kind, span);
        return;
    }
    script_binding *old = script_find_local_name(e, name);
    if (old && (old->kind == SCRIPT_BIND_LET || old->kind == SCRIPT_BIND_POINTER) &&
        refuse_immutable(e, old, span, false))
        return;
    warn_hidden(e, node->a);
    if (value.kind == SCRIPT_VALUE_META)
        value = *value.as.meta;
    if (value.kind == SCRIPT_VALUE_STRING) {
        script_bind(e, name, value, kind, span);
        return;
    }
    const ir_expr *x = NULL;
    if (annotation.flag && annotation.as.type.kind == IR_TYPE_PRIM)
        warn_let_truncates(e, name, value, annotation.as.type, node->c->span);
    if (!script_is_poison(value)) {
        bool pointer = annotation.flag && annotation.as.type.kind == IR_TYPE_POINTER;
        x = annotation.flag && !pointer ? script_to_type(e, value, annotation.as.type, node->c->span)
                                        : script_to_expr(e, value, node->c->span);
        if (x && pointer && x->type.kind != IR_TYPE_POINTER) {
            script_error(e, "T0233", node->c->span, "a pointer was expected, not %s",
                         script_type_name(e, x->type));
            x = NULL;
        }
        if (x && pointer && annotation.as.type.dtype != NUM_DTYPE_NONE &&
            !ir_type_equal(x->type, annotation.as.type)) {
            ir_type type = ir_type_pointer((num_dtype)annotation.as.type.dtype, annotation.as.type.lanes,
                                           (ir_scope)x->type.scope);
            x = ir_make(e->module, IR_REINTERPRET, type, &x, 1);
        }
        if (x && x->type.kind != IR_TYPE_PRIM && x->type.kind != IR_TYPE_POINTER) {
            script_error(e, "T0205", node->c->span, "the right side gives no value to bind");
            x = NULL;
        }
    }
    script_bind_name(e, name, x ? make_let(e, name, x, span) : script_poison(), kind, span);
}

static void annotated_scalar(script_evaluator *e, const script_node *node, ir_type type, script_value value) {
    const char *name = node->a->text;
    base_span span = node->a->span;
    script_binding *old = script_find_local_name(e, name);
    if (old && (old->kind == SCRIPT_BIND_LET || old->kind == SCRIPT_BIND_POINTER) &&
        refuse_immutable(e, old, span, false))
        return;
    warn_hidden(e, node->a);
    /* the value belongs to the names from before: convert it first */
    const ir_expr *x = NULL;
    if (node->c && !script_is_poison(value) && value.kind != SCRIPT_VALUE_FLOAT)
        x = script_is_ir(value) ? script_to_expr(e, value, node->c->span)
                                : script_to_type(e, value, type, node->c->span);
    ir_tensor *tensor = script_scalar_create(e, name, type, IR_SCOPE_LOCAL, span);
    script_bind(e, name, tensor ? script_tensor(tensor) : script_poison(), SCRIPT_BIND_PLAIN, span);
    if (!tensor || !node->c)
        return;
    if (value.kind == SCRIPT_VALUE_FLOAT)
        store_scalar(e, tensor, value, span, node->c->span);
    else if (x)
        store_scalar(e, tensor, script_expr(x), span, node->c->span);
}

static void annotated_array(script_evaluator *e, const script_node *node, const script_tensor_type *type) {
    if (node->c) {
        base_diagnostic *d = script_error(e, "T0228", node->c->span, "an array has no initial value");
        base_help(e->diagnostics, d, "store its elements in a loop");
        return;
    }
    script_value tensor = script_allocate(e, &type->type, node->span);
    script_name_tensor(e, tensor, node->a->text, node->a->span);
    script_bind(e, node->a->text, tensor, SCRIPT_BIND_PLAIN, node->a->span);
}

void script_annotated_assign(script_evaluator *e, const script_node *node) {
    script_value value = node->c ? script_expression(e, node->c) : script_poison();
    if (!is_kernel_rules(e)) { /* a hint for readers */
        if (node->c)
            script_assign(e, node->a, value, node->c->span);
        return;
    }
    if (node->a->kind != SCRIPT_NAME) {
        script_error(e, "T0229", node->a->span, "an annotation stands at a name");
        return;
    }
    script_value annotation = script_expression(e, node->b);
    ir_type type;
    if (annotation.kind == SCRIPT_VALUE_LET_TYPE) {
        annotated_let(e, node, annotation, value);
        return;
    }
    if (annotation.kind == SCRIPT_VALUE_TENSOR_TYPE &&
        annotation.as.tensor_type->type.scope == IR_SCOPE_LOCAL) {
        annotated_array(e, node, annotation.as.tensor_type);
        return;
    }
    bool handle = annotation.kind == SCRIPT_VALUE_WORD && strcmp(annotation.as.word->path, "handle") == 0;
    if (handle || (annotation.kind == SCRIPT_VALUE_TYPE && annotation.as.type.kind == IR_TYPE_POINTER)) {
        base_diagnostic *d = script_error(e, "T0228", node->b->span, "a pointer is no mutable scalar");
        base_help(e->diagnostics, d, "bind it once: `%s: T.let[T.handle(...)] = ...`", node->a->text);
        script_bind(e, node->a->text, script_poison(), SCRIPT_BIND_PLAIN, node->a->span);
        return;
    }
    if (annotation.kind == SCRIPT_VALUE_POISON || !script_to_dtype(e, annotation, &type, node->b->span)) {
        script_bind(e, node->a->text, script_poison(), SCRIPT_BIND_PLAIN, node->a->span);
        return;
    }
    annotated_scalar(e, node, type, value);
}

/* ---- target op= value ---- */

static void augmented_item(script_evaluator *e, const script_node *node, script_value value) {
    script_value object = script_expression(e, node->a->a);
    script_value index = script_subscript_index(e, node->a->b);
    const ir_expr *const *indices;
    script_value region;
    if (object.kind == SCRIPT_VALUE_WINDOW) {
        script_value old = script_get_item(e, object, index, node->a->span, node->a->b->span);
        script_value result = script_binary(e, node->op, old, value, node->span);
        if (!script_is_poison(result))
            script_window_store(e, object.as.window, index, result, node->a->span, node->a->b->span,
                                node->b->span);
        return;
    }
    if (object.kind != SCRIPT_VALUE_TENSOR) {
        script_value old = script_get_item(e, object, index, node->a->span, node->a->b->span);
        script_value result = script_augment(e, node->op, old, value, node->span, node->b->span);
        if (!script_is_poison(result))
            assign_to_item(e, node->a, object, index, result, node->b->span);
        return;
    }
    ir_tensor *tensor = object.as.tensor;
    script_value old = script_get_item(e, object, index, node->a->span, node->a->b->span);
    script_value result = script_binary(e, node->op, old, value, node->span);
    if (script_is_poison(result) || !script_indices(e, tensor, index, node->a->b->span, &indices, &region) ||
        (region.kind == SCRIPT_VALUE_REGION &&
         !script_region_indices(e, region.as.region, node->a->span, &indices)))
        return;
    script_store(e, tensor, indices, tensor->type.rank, result, node->a->span, node->b->span);
}

void script_augmented_assign(script_evaluator *e, const script_node *node) {
    script_value value = script_expression(e, node->b);
    if (node->a->kind == SCRIPT_SUBSCRIPT) {
        augmented_item(e, node, value);
        return;
    }
    if (node->a->kind != SCRIPT_NAME) {
        script_value before = script_expression(e, node->a);
        script_value result = script_augment(e, node->op, before, value, node->span, node->b->span);
        if (!script_is_poison(result))
            script_assign(e, node->a, result, node->b->span);
        return;
    }
    script_binding *old = is_kernel_rules(e) ? script_find_local(e, node->a->text) : NULL;
    if (old && refuse_immutable(e, old, node->a->span, true))
        return;
    script_value before = script_lookup(e, node->a->text, node->a->span);
    script_value result = script_augment(e, node->op, before, value, node->span, node->b->span);
    if (!script_is_poison(result))
        script_assign(e, node->a, result, node->b->span);
}
