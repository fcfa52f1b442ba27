/* SPDX-License-Identifier: Apache-2.0
 * Expressions of the script: one AST node to one value. Operators, calls and tensor accesses have their own
 * files. */
#include "script/script_evaluate.h"
#include <string.h>

/* ---- literals ---- */

static script_value formatted(script_evaluator *e, const script_node *node, base_builder *out) {
    script_value v = script_expression(e, node->a);
    if (script_is_poison(v))
        return v;
    const char *spec = node->text ? node->text : "";
    bool repr = spec[0] == '!' && (spec[1] == 'r' || spec[1] == 'a');
    if (spec[0] == '!')
        spec += spec[1] ? 2 : 1;
    if (spec[0] == ':')
        spec++;
    base_builder nested;
    base_builder_start(&nested, e->arena);
    if (node->items.count > 0) { /* {value:{width}} */
        for (size_t j = 0; j < node->items.count; j++) {
            const script_node *item = node->items.items[j];
            if (item->kind == SCRIPT_STRING)
                base_builder_add(&nested, item->text, item->size);
            else if (script_is_poison(formatted(e, item, &nested)))
                return script_poison();
        }
        spec = nested.data ? nested.data : "";
    }
    if (*spec) {
        if (repr) {
            base_builder text;
            base_builder_start(&text, e->arena);
            script_value_text(e, v, true, &text);
            v = script_string(e->arena, text.data ? text.data : "", text.size);
        }
        return script_format_value(e, v, spec, node->span, out) ? v : script_poison();
    }
    if (!script_value_text(e, v, repr, out)) {
        base_diagnostic *d = script_error(e, "T0262", node->span, "%s has no text while compiling",
                                          script_value_name(e->arena, v));
        base_help(e->diagnostics, d, "an f-string takes compile-time values only");
        return script_poison();
    }
    return v;
}

static script_value fstring(script_evaluator *e, const script_node *node) {
    base_builder text;
    base_builder_start(&text, e->arena);
    bool good = true;
    for (size_t i = 0; i < node->items.count; i++) {
        const script_node *item = node->items.items[i];
        if (item->kind == SCRIPT_STRING)
            base_builder_add(&text, item->text, item->size);
        else
            good &= !script_is_poison(formatted(e, item, &text));
    }
    return good ? script_string(e->arena, text.data ? text.data : "", text.size) : script_poison();
}

static script_value sequence(script_evaluator *e, const script_node *node, script_value_kind kind) {
    script_value list = script_list_make_of(e->arena, kind, node->items.count);
    bool good = true;
    for (size_t i = 0; i < node->items.count; i++) {
        const script_node *item = node->items.items[i];
        if (item->kind == SCRIPT_STARRED) {
            script_list *more;
            script_value v = script_expression(e, item->a);
            if (!script_iterate(e, v, &more, item->span)) {
                good = false;
                continue;
            }
            for (size_t j = 0; j < more->items.count; j++)
                script_list_add(e->arena, list, more->items.items[j]);
            continue;
        }
        script_value v = script_expression(e, item);
        good &= !script_is_poison(v);
        script_list_add(e->arena, list, v);
    }
    return good ? list : script_poison();
}

bool script_dict_set(script_evaluator *e, script_value dict, script_value key, script_value value,
                     base_span span) {
    if (key.kind == SCRIPT_VALUE_LIST || key.kind == SCRIPT_VALUE_DICT || script_is_ir(key)) {
        script_error(e, "T0262", span, "%s cannot be the key of a dict", script_value_name(e->arena, key));
        return false;
    }
    size_t count = dict.as.list->items.count / 2;
    script_charge(e, 1);
    script_value *old = script_dict_find(dict, key);
    if (!old && count >= SCRIPT_MAX_ENTRIES) {
        script_error(e, "T0263", span, "a dict of over %d entries", SCRIPT_MAX_ENTRIES);
        return false;
    }
    if (old) {
        *old = value;
        return true;
    }
    script_list_add(e->arena, dict, key);
    script_list_add(e->arena, dict, value);
    return true;
}

static script_value dict(script_evaluator *e, const script_node *node) {
    script_value result = script_list_make_of(e->arena, SCRIPT_VALUE_DICT, node->items.count);
    bool good = true;
    for (size_t i = 0; i + 1 < node->items.count; i += 2) {
        const script_node *key_node = node->items.items[i], *value_node = node->items.items[i + 1];
        script_value value = script_expression(e, value_node);
        if (key_node) {
            script_value key = script_expression(e, key_node);
            if (script_is_poison(key) || script_is_poison(value))
                good = false;
            else
                good &= script_dict_set(e, result, key, value, key_node->span);
            continue;
        }
        if (value.kind != SCRIPT_VALUE_DICT) {
            if (!script_is_poison(value))
                script_error(e, "T0262", value_node->span, "** takes a dict, not %s",
                             script_value_name(e->arena, value));
            good = false;
            continue;
        }
        for (size_t j = 0; j + 1 < value.as.list->items.count; j += 2)
            script_dict_set(e, result, value.as.list->items.items[j], value.as.list->items.items[j + 1],
                            value_node->span);
    }
    return good ? result : script_poison();
}

static script_value set(script_evaluator *e, const script_node *node) {
    script_value result = script_list_make(e->arena, SCRIPT_VALUE_SET);
    script_value list = sequence(e, node, SCRIPT_VALUE_LIST);
    if (script_is_poison(list))
        return list;
    for (size_t i = 0; i < list.as.list->items.count; i++)
        if (!script_set_add(e, result, list.as.list->items.items[i], node->span))
            return script_poison();
    return result;
}

/* ---- comprehensions ---- */

static bool bind_target(script_evaluator *e, const script_node *target, script_value value) {
    if (target->kind == SCRIPT_NAME) {
        script_bind(e, target->text, value, SCRIPT_BIND_PLAIN, target->span);
        return true;
    }
    script_list *items;
    if (target->kind != SCRIPT_TUPLE && target->kind != SCRIPT_LIST) {
        script_error(e, "T0229", target->span, "the target of a comprehension is a name, not %s",
                     script_node_name(target->kind));
        return false;
    }
    if (!script_iterate(e, value, &items, target->span))
        return false;
    if (items->items.count != target->items.count) {
        script_error(e, "T0262", target->span, "%u names for %zu values", target->items.count,
                     items->items.count);
        return false;
    }
    for (size_t i = 0; i < items->items.count; i++)
        if (!bind_target(e, target->items.items[i], items->items.items[i]))
            return false;
    return true;
}

static bool comprehend(script_evaluator *e, const script_node *node, size_t clause, script_value result) {
    if (clause == node->items.count) {
        script_value v = script_expression(e, node->a);
        if (script_is_poison(v))
            return false;
        if (node->kind == SCRIPT_DICT_COMPREHENSION) {
            script_value value = script_expression(e, node->b);
            return !script_is_poison(value) && script_dict_set(e, result, v, value, node->a->span);
        }
        if (node->kind == SCRIPT_SET_COMPREHENSION)
            return script_set_add(e, result, v, node->a->span);
        script_list_add(e->arena, result, v);
        return true;
    }
    const script_node *part = node->items.items[clause];
    script_list *items;
    script_value iterable = script_expression(e, part->b);
    if (!script_iterate(e, iterable, &items, part->b->span))
        return false;
    for (size_t i = 0; i < items->items.count; i++) {
        if (!script_enter(e, part->span))
            return false;
        bool good = bind_target(e, part->a, items->items.items[i]), wanted = true;
        for (size_t j = 0; good && wanted && j < part->items.count; j++) {
            script_value condition = script_expression(e, part->items.items[j]);
            if (!script_truth(e, condition, &wanted, node->span)) {
                if (!script_is_poison(condition))
                    script_error(e, "T0210", part->items.items[j]->span,
                                 "a condition of a comprehension must be known while compiling");
                good = false;
            }
        }
        if (good && wanted)
            good = comprehend(e, node, clause + 1, result);
        script_leave(e);
        if (!good)
            return false;
    }
    return true;
}

static script_value comprehension(script_evaluator *e, const script_node *node) {
    script_value result =
        script_list_make(e->arena, node->kind == SCRIPT_DICT_COMPREHENSION  ? SCRIPT_VALUE_DICT
                                   : node->kind == SCRIPT_SET_COMPREHENSION ? SCRIPT_VALUE_SET
                                                                            : SCRIPT_VALUE_LIST);
    script_scope_open(e, false)->is_comprehension = true;
    bool good = comprehend(e, node, 0, result);
    script_scope_close(e);
    if (!good)
        return script_poison();
    return node->kind == SCRIPT_GENERATOR ? script_iterator_make(e, result.as.list) : result;
}

/* ---- and, or, comparisons, conditional ---- */

static script_value combine(script_evaluator *e, script_operator op, script_value a, script_value b,
                            base_span span) {
    const ir_expr *x = script_to_condition(e, a, span, "an operand of `and` and `or`");
    const ir_expr *y = script_to_condition(e, b, span, "an operand of `and` and `or`");
    if (!x || !y)
        return script_poison();
    if (x->type.lanes != y->type.lanes) {
        script_error(e, "T0234", span, "truth values of %u and %u lanes do not go together",
                     (unsigned)x->type.lanes, (unsigned)y->type.lanes);
        return script_poison();
    }
    return script_expr(ir_binary(e->module, op == SCRIPT_OP_AND ? IR_AND : IR_OR, x, y));
}

/* `and` and `or` of IR: a compile-time operand decides or vanishes. */
script_value script_logic(script_evaluator *e, script_operator op, script_value a, script_value b,
                          base_span span) {
    bool truth;
    if (script_is_poison(a) || script_is_poison(b))
        return script_poison();
    if (script_truth(e, a, &truth, span))
        return truth == (op == SCRIPT_OP_AND) ? b : a;
    return combine(e, op, a, b, span);
}

static script_value boolean(script_evaluator *e, const script_node *node) {
    script_value result = script_expression(e, node->items.items[0]);
    for (size_t i = 1; i < node->items.count; i++) {
        bool truth;
        if (script_is_poison(result))
            return result;
        if (script_truth(e, result, &truth, node->span) && truth != (node->op == SCRIPT_OP_AND))
            return result;
        bool lazy = script_is_ir(result);
        e->lazy_depth += lazy;
        script_value next = script_expression(e, node->items.items[i]);
        e->lazy_depth -= lazy;
        result = script_logic(e, node->op, result, next, node->span);
    }
    return result;
}

static script_value comparison(script_evaluator *e, const script_node *node) {
    script_value left = script_expression(e, node->items.items[0]), result = script_poison();
    for (size_t i = 1; i < node->items.count; i++) {
        script_value right = script_expression(e, node->items.items[i]);
        script_value pair = script_compare(e, node->ops[i - 1], left, right, node->span);
        result = i == 1 ? pair : script_logic(e, SCRIPT_OP_AND, result, pair, node->span);
        if (script_is_poison(result) || (result.kind == SCRIPT_VALUE_BOOL && !result.as.boolean))
            return result; /* what follows is not evaluated */
        left = right;
    }
    return result;
}

script_value script_choose(script_evaluator *e, ir_op op, const ir_expr *condition, script_value a,
                           script_value b, base_span span) {
    const ir_expr *x, *y;
    if (!script_promote(e, a, b, &x, &y, span))
        return script_poison();
    if (condition->type.lanes != 1 && condition->type.lanes != x->type.lanes) {
        script_error(e, "T0234", span, "a condition of %u lanes chooses between values of %u lanes",
                     (unsigned)condition->type.lanes, (unsigned)x->type.lanes);
        return script_poison();
    }
    return script_expr(ir_select(e->module, op, condition, x, y));
}

static script_value conditional(script_evaluator *e, const script_node *node) {
    script_value test = script_expression(e, node->b);
    bool truth;
    if (script_is_poison(test))
        return test;
    if (script_truth(e, test, &truth, node->b->span))
        return script_expression(e, truth ? node->a : node->c);
    const ir_expr *condition = script_to_condition(e, test, node->b->span, "the condition");
    e->lazy_depth++;
    script_value a = script_expression(e, node->a), b = script_expression(e, node->c);
    e->lazy_depth--;
    return condition ? script_choose(e, IR_IF_THEN_ELSE, condition, a, b, node->span) : script_poison();
}

/* ---- attributes ---- */

/* Methods and properties of a kind of value live in the table under its name. */
script_value script_member(script_evaluator *e, script_value object, const char *family, const char *name,
                           base_span span, bool *found) {
    const script_dialect_word *word = script_word_of(family, name);
    *found = false;
    if (!word)
        return script_poison();
    *found = true;
    if (word->kind == SCRIPT_WORD_LATER)
        return script_word_value(e, word, span);
    if (word->kind == SCRIPT_WORD_PROPERTY) {
        script_call call = {.word = word, .span = span, .name_span = span, .receiver = object};
        return word->handler(e, &call);
    }
    script_value method = {.kind = SCRIPT_VALUE_METHOD};
    method.as.method.word = word;
    method.as.method.receiver = BASE_NEW(e->arena, script_value);
    *method.as.method.receiver = object;
    return method;
}

static script_value no_attribute(script_evaluator *e, script_value object, const char *family,
                                 const char *name, base_span span) {
    base_diagnostic *d =
        script_error(e, "T0202", span, "%s has no attribute '%s'", script_value_name(e->arena, object), name);
    if (family && strcmp(family, "Tensor") == 0 &&
        (strcmp(name, "strides") == 0 || strcmp(name, "offset") == 0))
        base_help(e->diagnostics, d, "strides and origin of a tensor live in its layout: .layout");
    return script_poison();
}

script_value script_foreign(script_evaluator *e, script_value package, const char *name) {
    return (script_value){.kind = SCRIPT_VALUE_FOREIGN,
                          .as.string.text =
                              base_arena_format(e->arena, "%s.%s", package.as.string.text, name)};
}

script_value script_foreign_used(script_evaluator *e, script_value v, base_span span) {
    const char *name = v.as.string.text;
    base_diagnostic *d = script_error(
        e, "T0265", span, "%s is not available while compiling: tirc runs no Python packages", name);
    if (v.kind == SCRIPT_VALUE_FOREIGN && script_may_suggest(e) && !strchr(name, ' '))
        base_help(e->diagnostics, d,
                  e->options->read ? "the folders of -I have no %.*s.py"
                                   : "if %.*s.py is a file of yours, -I FOLDER says where it is",
                  (int)strcspn(name, "."), name);
    return script_poison();
}

/* Names of the table's tensor members, as the type lists them. */
static script_value member_table(script_evaluator *e, script_word_kind kind) {
    script_value dict_value = script_list_make(e->arena, SCRIPT_VALUE_DICT);
    const char *path;
    for (size_t i = 0; (path = script_word(i, NULL, NULL)) != NULL; i++) {
        const script_dialect_word *word = script_word_find(path);
        if (strncmp(path, "Tensor.", 7) != 0 || word->kind != kind)
            continue;
        script_list_add(e->arena, dict_value, script_string(e->arena, path + 7, strlen(path + 7)));
        script_list_add(e->arena, dict_value, (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = word});
    }
    return dict_value;
}

static script_value dtype_value(ir_type type) {
    script_value v = script_type(type);
    v.kind = SCRIPT_VALUE_DTYPE;
    return v;
}

static script_value type_attribute(script_evaluator *e, script_value object, const char *name,
                                   base_span span) {
    ir_type type = object.as.type;
    if (strcmp(name, "ty") == 0) /* handle().ty, int32().ty */
        return script_type(type);
    if (type.kind == IR_TYPE_POINTER) {
        if (strcmp(name, "storage_scope") == 0 || strcmp(name, "scope") == 0) {
            const char *scope = ir_scope_name((ir_scope)type.scope);
            return script_string(e->arena, scope, strlen(scope));
        }
        if (strcmp(name, "element_type") == 0)
            return script_type(ir_type_prim((num_dtype)type.dtype, type.lanes));
    } else {
        if (strcmp(name, "dtype") == 0 && object.kind == SCRIPT_VALUE_TYPE) /* a DataType has none */
            return dtype_value(type);
        if (strcmp(name, "bits") == 0)
            return script_int(num_dtype_bits((num_dtype)type.dtype));
        if (strcmp(name, "lanes") == 0)
            return script_int(type.lanes);
    }
    return no_attribute(e, object, NULL, name, span);
}

static script_value tensor_type_attribute(script_evaluator *e, script_value object, const char *name,
                                          base_span span) {
    const script_tensor_type *type = object.as.tensor_type;
    if (strcmp(name, "dtype") == 0)
        return script_type(ir_type_prim(type->type.dtype, type->type.lanes));
    if (strcmp(name, "scope") == 0 || strcmp(name, "storage_scope") == 0) {
        const char *scope = ir_scope_name(type->type.scope);
        return script_string(e->arena, scope, strlen(scope));
    }
    if (strcmp(name, "align") == 0 || strcmp(name, "data_alignment") == 0)
        return script_int(type->type.align ? type->type.align : 64);
    if (strcmp(name, "shape") == 0) {
        script_value shape = script_list_make(e->arena, SCRIPT_VALUE_TUPLE);
        for (uint32_t i = 0; i < type->type.rank; i++) {
            int64_t extent;
            script_list_add(e->arena, shape,
                            ir_is_int(type->type.shape[i], &extent) ? script_int(extent)
                                                                    : script_expr(type->type.shape[i]));
        }
        return shape;
    }
    if (strcmp(name, "layout") == 0 && type->type.layout)
        return (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = type->type.layout};
    bool found;
    script_value own = script_member(e, object, "TensorType", name, span, &found);
    if (found)
        return own;
    if (strcmp(name, "__expr_methods__") == 0)
        return member_table(e, SCRIPT_WORD_FUNCTION);
    if (strcmp(name, "__expr_properties__") == 0)
        return member_table(e, SCRIPT_WORD_PROPERTY);
    const script_dialect_word *word = script_word_of("Tensor", name);
    if (word && word->kind == SCRIPT_WORD_FUNCTION) /* unbound: the tensor is the first argument */
        return (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = word};
    return no_attribute(e, object, NULL, name, span);
}

/* A region has its source and its ranges; what a tensor variable has, a view of the part has. */
static script_value region_attribute(script_evaluator *e, script_value object, const char *name,
                                     base_span span) {
    bool found;
    script_value v = script_member(e, object, "Region", name, span, &found);
    if (found)
        return v;
    const char *tensor = object.as.region->tensor->name;
    if (!script_word_of("Tensor", name))
        return no_attribute(e, object, NULL, name, span);
    base_diagnostic *d = script_error(e, "T0202", span,
                                      "a region has no attribute '%s': it belongs to tensor variables", name);
    base_help(e->diagnostics, d, "%s.sub[...] gives a tensor over the part; a region has source and region",
              tensor);
    return script_poison();
}

script_value script_get_attribute(script_evaluator *e, script_value object, const char *name,
                                  base_span span) {
    const char *family = NULL;
    switch (object.kind) {
    case SCRIPT_VALUE_POISON:
        return object;
    case SCRIPT_VALUE_NAMESPACE: {
        script_value v = script_namespace_find(e, object.as.string.text, name);
        if (script_is_poison(v) && script_is_python_module(object.as.string.text))
            return script_foreign(e, object, name);
        if (script_is_poison(v))
            return script_unknown_word(e, object.as.string.text, name, span);
        return v.kind == SCRIPT_VALUE_WORD ? script_word_value(e, v.as.word, span) : v;
    }
    case SCRIPT_VALUE_PTX:
        return script_ptx_attribute(e, object, name);
    case SCRIPT_VALUE_MODULE: {
        /* `import tvm` and then a path down to the dialect */
        script_value v = object;
        v.as.string.text = base_arena_format(e->arena, "%s.%s", object.as.string.text, name);
        static const char *const words[] = {"ir_module", "DataType", "PrimType", "PointerType"};
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (strcmp(name, words[i]) == 0)
                return (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find(name)};
        if (strcmp(name, "tirx") == 0 || strcmp(name, "T") == 0)
            return (script_value){.kind = SCRIPT_VALUE_NAMESPACE, .as.string.text = ""};
        return v;
    }
    case SCRIPT_VALUE_FILE:
        return script_file_attribute(e, object.as.file, name, span);
    case SCRIPT_VALUE_FOREIGN: /* torch.float16: an error where it is used */
        return script_foreign(e, object, name);
    case SCRIPT_VALUE_INT: /* of a constant, and of a member of an enumeration that is a word */
        if (strcmp(name, "value") == 0)
            return object;
        family = "int";
        break;
    case SCRIPT_VALUE_KERNEL:
        family = "Kernel";
        break;
    case SCRIPT_VALUE_TYPE:
    case SCRIPT_VALUE_DTYPE:
    case SCRIPT_VALUE_SYMBOL:
        return type_attribute(e, object, name, span);
    case SCRIPT_VALUE_TENSOR_TYPE:
        return tensor_type_attribute(e, object, name, span);
    case SCRIPT_VALUE_TENSOR:
        family = "Tensor";
        break;
    case SCRIPT_VALUE_EXPR:
        family = "Expr";
        break;
    case SCRIPT_VALUE_LAYOUT:
        family = "Layout";
        break;
    case SCRIPT_VALUE_ITER:
        family = "Iter";
        break;
    case SCRIPT_VALUE_BOUNDS:
        family = "Range";
        break;
    case SCRIPT_VALUE_AXIS:
        family = "Axis";
        break;
    case SCRIPT_VALUE_WORD: /* TileLayout.from_iters, Axis.laneid, ... */
        family = strcmp(object.as.word->path, "TileLayout") == 0 ? "TileLayout" : NULL;
        if (strncmp(object.as.word->path, "python.", 7) == 0) {
            family = object.as.word->path; /* dict.fromkeys */
            if (strcmp(name, "__name__") == 0)
                return script_string(e->arena, family + 7, strlen(family + 7));
        }
        break;
    case SCRIPT_VALUE_POOL:
        family = "SMEMPool";
        break;
    case SCRIPT_VALUE_TMEM_POOL:
        family = "TMEMPool";
        break;
    case SCRIPT_VALUE_LAYOUT_SPEC:
        if (!script_is_symbolic(object)) { /* TileLayout() around it goes without saying */
            const layout_tile *layout;
            if (!script_to_layout(e, object, &layout, span))
                return script_poison();
            object = (script_value){.kind = SCRIPT_VALUE_LAYOUT, .as.layout = layout};
            family = "Layout";
            break;
        }
        if (strcmp(name, "apply") == 0) {
            family = "Layout";
            break;
        }
        script_error(e, "T0210", span, "'%s' of a layout with values of the launch: only apply knows them",
                     name);
        return script_poison();
    case SCRIPT_VALUE_LIST:
        family = "list";
        break;
    case SCRIPT_VALUE_TUPLE:
        family = "tuple";
        break;
    case SCRIPT_VALUE_DICT:
        family = "dict";
        break;
    case SCRIPT_VALUE_SET:
        family = "set";
        break;
    case SCRIPT_VALUE_TEMPLATE:
        family = "Template";
        if (script_template_is_plain(object)) {
            family = "Kernel";
            object =
                script_specialise(e, object.as.template, script_list_make(e->arena, SCRIPT_VALUE_DICT), span);
            if (script_is_poison(object))
                return object;
        }
        break;
    case SCRIPT_VALUE_OBJECT:
    case SCRIPT_VALUE_CLASS: {
        bool has;
        script_value v = script_object_attribute(e, object, name, span, &has);
        return has ? v : no_attribute(e, object, NULL, name, span);
    }
    case SCRIPT_VALUE_FUNCTION:
        if (strcmp(name, "__name__") == 0)
            return script_string(e->arena, object.as.closure->name, strlen(object.as.closure->name));
        if (strcmp(name, "setter") == 0 && object.as.closure->role == SCRIPT_ROLE_PROPERTY)
            return script_setter_of(e, object);
        break;
    case SCRIPT_VALUE_STRING:
        family = "str";
        break;
    case SCRIPT_VALUE_REGION:
        return region_attribute(e, object, name, span);
    case SCRIPT_VALUE_WINDOW:
        return script_window_attribute(e, object, name, span);
    default:
        break;
    }
    bool found = false;
    script_value v = script_poison();
    if (family)
        v = script_member(e, object, family, name, span, &found);
    if (!found && object.kind == SCRIPT_VALUE_TENSOR && object.as.tensor->is_scalar)
        v = script_member(e, object, "Expr", name, span, &found);
    return found ? v : no_attribute(e, object, family, name, span);
}

/* ---- subscripts ---- */

script_value script_subscript_index(script_evaluator *e, const script_node *node) {
    if (node->kind == SCRIPT_SLICE) {
        script_value slice = script_list_make_of(e->arena, SCRIPT_VALUE_SLICE, 3);
        const script_node *parts[3] = {node->a, node->b, node->c};
        bool good = true;
        for (int i = 0; i < 3; i++) {
            script_value v = parts[i] ? script_expression(e, parts[i]) : script_none();
            good &= !script_is_poison(v);
            script_list_add(e->arena, slice, v);
        }
        return good ? slice : script_poison();
    }
    if (node->kind != SCRIPT_TUPLE)
        return script_expression(e, node);
    script_value tuple = script_list_make_of(e->arena, SCRIPT_VALUE_TUPLE, node->items.count);
    bool good = true;
    for (size_t i = 0; i < node->items.count; i++) {
        const script_node *item = node->items.items[i];
        script_list *more;
        if (item->kind == SCRIPT_STARRED) {
            if (!script_iterate(e, script_expression(e, item->a), &more, item->span)) {
                good = false;
                continue;
            }
            for (size_t j = 0; j < more->items.count; j++)
                script_list_add(e->arena, tuple, more->items.items[j]);
            continue;
        }
        script_value v = script_subscript_index(e, item);
        good &= !script_is_poison(v);
        script_list_add(e->arena, tuple, v);
    }
    return good ? tuple : script_poison();
}

static script_value lane_of(script_evaluator *e, script_value object, script_value index, base_span span) {
    int64_t lane;
    const ir_expr *x = object.as.expr;
    if (x->type.kind != IR_TYPE_PRIM || x->type.lanes == 1) {
        script_error(e, "T0211", span, "%s has no items to index", script_value_name(e->arena, object));
        return script_poison();
    }
    if (!script_constant_int(e, index, &lane, span, "a lane number"))
        return script_poison();
    if (lane < 0 || lane >= x->type.lanes) {
        script_error(e, "T0263", span, "lane %lld of a vector of %u lanes", (long long)lane,
                     (unsigned)x->type.lanes);
        return script_poison();
    }
    return script_expr(ir_lane(e->module, x, (unsigned)lane));
}

/* Buffer[shape, dtype]: the oldest spelling of Buffer(shape, dtype). */
static script_value subscript_call(script_evaluator *e, script_value word, script_value index, base_span span,
                                   base_span index_span) {
    script_arguments arguments = {0};
    for (size_t i = 0; i < index.as.list->items.count; i++)
        base_vector_push(e->arena, &arguments.items,
                         (script_argument){.value = index.as.list->items.items[i], .span = index_span});
    return script_call_value(e, word, &arguments, NULL, span, span);
}

script_value script_get_item(script_evaluator *e, script_value object, script_value index, base_span span,
                             base_span index_span) {
    if (script_is_poison(object) || script_is_poison(index))
        return script_poison();
    switch (object.kind) {
    case SCRIPT_VALUE_PTX:
        return script_ptx_item(e, object, index, index_span);
    case SCRIPT_VALUE_TENSOR:
        return script_tensor_item(e, object.as.tensor, index, span, index_span);
    case SCRIPT_VALUE_TUPLE:
    case SCRIPT_VALUE_LIST:
    case SCRIPT_VALUE_STRING:
        return script_sequence_item(e, object, index, index_span);
    case SCRIPT_VALUE_RANGE:
        return script_range_item(e, object, index, index_span);
    case SCRIPT_VALUE_DICT:
        return script_dict_item(e, object, index, index_span);
    case SCRIPT_VALUE_METHOD:
        if (object.as.method.word->handler == script_word_tensor_sub)
            return script_tensor_sub(e, *object.as.method.receiver, index, span);
        break;
    case SCRIPT_VALUE_WINDOW:
        return script_window_item(e, object.as.window, index, span, index_span);
    case SCRIPT_VALUE_INDEXER:
        return script_indexer_item(e, object, index, span);
    case SCRIPT_VALUE_WORD:
        if (object.as.word->kind == SCRIPT_WORD_SUBSCRIPT)
            return script_layout_item(e, object.as.word, index, span);
        if (strcmp(object.as.word->path, "Optional") == 0) { /* Optional[type] */
            script_arguments arguments = {0};
            base_vector_push(e->arena, &arguments.items,
                             (script_argument){.value = index, .span = index_span});
            return script_call_value(e, object, &arguments, NULL, span, span);
        }
        if (strcmp(object.as.word->path, "Buffer") == 0 && index.kind == SCRIPT_VALUE_TUPLE)
            return subscript_call(e, object, index, span, index_span);
        break;
    case SCRIPT_VALUE_LET_TYPE: {
        script_value type = index;
        if (type.kind == SCRIPT_VALUE_WORD && strcmp(type.as.word->path, "handle") == 0)
            type = script_type(ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_GLOBAL));
        if (type.kind != SCRIPT_VALUE_TYPE && type.kind != SCRIPT_VALUE_DTYPE)
            break;
        script_value let = {.kind = SCRIPT_VALUE_LET_TYPE, .flag = true};
        let.as.type = type.as.type;
        return let;
    }
    case SCRIPT_VALUE_TYPE: {
        /* float32[4]: the type of a local array, in annotations */
        uint32_t rank;
        const ir_expr *const *shape;
        if (object.as.type.kind != IR_TYPE_PRIM || !script_shape(e, index, index_span, &rank, &shape))
            break;
        script_tensor_type *type = BASE_NEW(e->arena, script_tensor_type);
        type->type = (ir_tensor_type){.dtype = (num_dtype)object.as.type.dtype,
                                      .lanes = object.as.type.lanes,
                                      .scope = IR_SCOPE_LOCAL,
                                      .rank = rank,
                                      .shape = shape,
                                      .align = 64};
        type->has_scope = true;
        return (script_value){.kind = SCRIPT_VALUE_TENSOR_TYPE, .as.tensor_type = type};
    }
    case SCRIPT_VALUE_OBJECT:
        if (script_find_method(e, object.as.object->class, "__getitem__"))
            return script_call_method(e, object, "__getitem__", &index, span);
        if (object.as.object->class->kind == SCRIPT_CLASS_RECORD) { /* as a named tuple */
            script_list *list;
            if (!script_iterate(e, object, &list, span))
                return script_poison();
            return script_sequence_item(e, (script_value){.kind = SCRIPT_VALUE_TUPLE, .as.list = list}, index,
                                        index_span);
        }
        break;
    case SCRIPT_VALUE_CLASS: { /* Mode["NAME"] of an enumeration */
        bool found = false;
        script_value v = script_poison();
        if (script_is_enumeration(object.as.class) && index.kind == SCRIPT_VALUE_STRING)
            v = script_object_attribute(e, object, index.as.string.text, span, &found);
        if (found)
            return v;
        break;
    }
    case SCRIPT_VALUE_EXPR:
        return lane_of(e, object, index, index_span);
    case SCRIPT_VALUE_FOREIGN:
        if (strncmp(object.as.string.text, "typing.", 7) == 0) /* Literal["a"]: for readers alone */
            return object;
        return script_foreign_used(e, object, span);
    default:
        break;
    }
    script_error(e, "T0262", span, "%s cannot be indexed with %s", script_value_name(e->arena, object),
                 script_value_name(e->arena, index));
    return script_poison();
}

/* ---- the dispatch ---- */

static script_value integer_literal(const script_node *node) {
    script_value v = script_int(node->integer);
    v.flag = node->is_wide;
    return v;
}

static script_value call(script_evaluator *e, const script_node *node) {
    script_value callee = script_expression(e, node->a);
    script_arguments arguments = {0};
    bool lazy = callee.kind == SCRIPT_VALUE_WORD && callee.as.word->data == IR_IF_THEN_ELSE &&
                strcmp(callee.as.word->path, "if_then_else") == 0;
    e->lazy_depth += lazy;
    bool good = script_collect_arguments(e, node, &arguments);
    e->lazy_depth -= lazy;
    if (script_is_poison(callee) || !good)
        return script_poison();
    return script_call_value(e, callee, &arguments, node, node->span, node->a->span);
}

/* name := value binds in the function, also from inside a comprehension. */
static bool bind_walrus(script_evaluator *e, const script_node *node, script_value v) {
    script_scope *inner = e->scope;
    while (e->scope->is_comprehension && e->scope->parent)
        e->scope = e->scope->parent;
    bool good = script_may_rebind(e, node->text, node->span);
    if (good)
        script_bind(e, node->text, v, SCRIPT_BIND_PLAIN, node->span);
    e->scope = inner;
    return good;
}

static script_value evaluate(script_evaluator *e, const script_node *node) {
    switch (node->kind) {
    case SCRIPT_NAME: {
        script_value v = script_lookup_name(e, node->text, node->span);
        return v.kind == SCRIPT_VALUE_WORD ? script_word_value(e, v.as.word, node->span) : v;
    }
    case SCRIPT_INTEGER:
        return integer_literal(node);
    case SCRIPT_REAL:
        return script_float(node->real);
    case SCRIPT_STRING:
        return script_string(e->arena, node->text, node->size);
    case SCRIPT_FSTRING:
        return fstring(e, node);
    case SCRIPT_TRUE:
    case SCRIPT_FALSE:
        return script_bool(node->kind == SCRIPT_TRUE);
    case SCRIPT_NONE:
        return script_none();
    case SCRIPT_ELLIPSIS:
        return (script_value){.kind = SCRIPT_VALUE_ELLIPSIS};
    case SCRIPT_TUPLE:
        return sequence(e, node, SCRIPT_VALUE_TUPLE);
    case SCRIPT_LIST:
        return sequence(e, node, SCRIPT_VALUE_LIST);
    case SCRIPT_DICT:
        return dict(e, node);
    case SCRIPT_SET:
        return set(e, node);
    case SCRIPT_ATTRIBUTE:
        return script_get_attribute(e, script_expression(e, node->a), node->text,
                                    node->name_span.file ? node->name_span : node->span);
    case SCRIPT_SUBSCRIPT: {
        script_value object = script_expression(e, node->a);
        return script_get_item(e, object, script_subscript_index(e, node->b), node->span, node->b->span);
    }
    case SCRIPT_CALL:
        return call(e, node);
    case SCRIPT_UNARY: {
        script_value a = script_expression(e, node->a);
        return script_unary(e, node->op, a, node->span);
    }
    case SCRIPT_BINARY: {
        script_value a = script_expression(e, node->a);
        script_value b = script_expression(e, node->b);
        return script_binary(e, node->op, a, b, node->span);
    }
    case SCRIPT_BOOLEAN:
        return boolean(e, node);
    case SCRIPT_COMPARE:
        return comparison(e, node);
    case SCRIPT_CONDITIONAL:
        return conditional(e, node);
    case SCRIPT_LAMBDA:
        return (script_value){.kind = SCRIPT_VALUE_FUNCTION,
                              .as.closure = script_closure_make(e, node, "lambda")};
    case SCRIPT_LIST_COMPREHENSION:
    case SCRIPT_SET_COMPREHENSION:
    case SCRIPT_GENERATOR:
    case SCRIPT_DICT_COMPREHENSION:
        return comprehension(e, node);
    case SCRIPT_NAMED: {
        script_value v = script_expression(e, node->a);
        return bind_walrus(e, node, v) ? v : script_poison();
    }
    case SCRIPT_ERROR:
        return script_poison();
    default:
        script_not_supported(e, node->span, "%s as an expression",
                             node->kind == SCRIPT_UNSUPPORTED && node->text ? node->text
                                                                            : script_node_name(node->kind));
        return script_poison();
    }
}

script_value script_expression(script_evaluator *e, const script_node *node) {
    if (!node || !script_enter(e, node->span))
        return script_poison();
    script_value v = evaluate(e, node);
    script_leave(e);
    return v;
}
