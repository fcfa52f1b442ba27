/* SPDX-License-Identifier: Apache-2.0
 * The module level: -D definitions, statements in order, decorated functions to IR functions with their
 * parameters and sizes. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <string.h>

/* ---- -D NAME=EXPR ---- */

bool script_is_identifier(const char *name) {
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return size > 0 && name[size] == 0 && !(name[0] >= '0' && name[0] <= '9');
}

static void define(script_evaluator *e, const script_options *options, const script_define *definition) {
    const char *text = definition->text ? definition->text : "1";
    const char *title = base_arena_format(e->arena, "-D %s", definition->name);
    uint32_t file = base_sources_add(base_diagnostics_sources(e->diagnostics), title, text, strlen(text));
    base_span span = {file, 0, (uint32_t)strlen(text)};
    if (!script_is_identifier(definition->name)) {
        script_error(e, "T0209", span, "'%s' is no name that -D can define", definition->name);
        return;
    }
    script_options names_kept = *options;
    names_kept.names = e->names;
    script_node *node = script_parse_expression(e->arena, e->diagnostics, file, &names_kept);
    script_value v = node ? script_expression(e, node) : script_poison();
    script_bind(e, definition->name, v, SCRIPT_BIND_PLAIN, span);
    base_map_set(e->defined, BASE_KEY(base_name_of(e->names, definition->name)), e);
}

/* ---- parameters ---- */

static void add_parameter(script_evaluator *e, const char *name, ir_tensor *tensor, ir_var *var) {
    ir_parameter parameter = {.name = base_name_of(e->names, name), .tensor = tensor, .var = var};
    base_vector_push(e->module->arena, &e->function->parameters, parameter);
}

static void tensor_parameter(script_evaluator *e, const script_node *p, const script_tensor_type *type) {
    if (type->type.scope != IR_SCOPE_GLOBAL) {
        script_error(e, "T0205", p->a->span, "a parameter is in global memory, not in %s",
                     ir_scope_name(type->type.scope));
        script_bind(e, p->text, script_poison(), SCRIPT_BIND_PLAIN, p->span);
        return;
    }
    if (!script_check_strides(e, &type->type, true, p->a->span)) {
        script_bind(e, p->text, script_poison(), SCRIPT_BIND_PLAIN, p->span);
        return;
    }
    ir_tensor *tensor = script_tensor_create(e, p->text, &type->type, IR_TENSOR_PARAMETER, NULL, p->span);
    add_parameter(e, p->text, tensor, NULL);
    script_bind(e, p->text, script_tensor(tensor), SCRIPT_BIND_PLAIN, p->span);
}

static void value_parameter(script_evaluator *e, const script_node *p, ir_type type) {
    script_binding *old = script_find_local(e, p->text);
    ir_var *var;
    if (old && old->kind == SCRIPT_BIND_PARAMETER && old->value.kind == SCRIPT_VALUE_EXPR) {
        /* a quoted extent named it before */
        if (!ir_type_equal(old->value.as.expr->type, type)) {
            base_diagnostic *d =
                script_error(e, "T0233", p->span, "'%s' is %s here and %s as an extent before", p->text,
                             script_type_name(e, type), script_type_name(e, old->value.as.expr->type));
            base_note(e->diagnostics, d, old->span, "the extent is here");
            return;
        }
        var = (ir_var *)(uintptr_t)old->value.as.expr->at.var;
    } else
        var = ir_var_create(e->module, p->text, type, IR_VAR_PARAMETER, p->span);
    add_parameter(e, p->text, NULL, var);
    script_bind(e, p->text, script_expr(ir_var_use(e->module, var)), SCRIPT_BIND_PARAMETER, p->span);
}

/* A parameter that a specialisation fixes or leaves out: a name for its value. */
static bool constant_parameter(script_evaluator *e, const script_node *p, const script_value *constants) {
    if (!constants || !p->text)
        return false;
    script_value *v = script_dict_find(*constants, script_string(e->arena, p->text, strlen(p->text)));
    if (v)
        script_bind(e, p->text, *v, SCRIPT_BIND_PLAIN, p->span);
    return v != NULL;
}

static void parameter(script_evaluator *e, const script_node *p, const script_value *constants) {
    const script_node *annotation = p->a;
    if (constant_parameter(e, p, constants))
        return;
    if (p->op != SCRIPT_PARAMETER_PLAIN && p->op != SCRIPT_OP_NONE) {
        script_not_supported(e, p->span, "this kind of parameter in a kernel");
        return;
    }
    if (p->b)
        script_not_supported(e, p->b->span, "a default value of a kernel's parameter");
    if (!annotation) {
        base_diagnostic *d = script_error(e, "T0207", p->span, "parameter '%s' has no type", p->text);
        base_help(e->diagnostics, d, "write %s: T.Tensor((M, N), \"float32\"), or %s: T.int32", p->text,
                  p->text);
        script_bind(e, p->text, script_poison(), SCRIPT_BIND_PLAIN, p->span);
        return;
    }
    if (annotation->kind == SCRIPT_BINARY && annotation->op == SCRIPT_OP_BITOR &&
        annotation->b->kind == SCRIPT_NONE)
        annotation = annotation->a;
    script_value v = script_expression(e, annotation);
    if (v.kind == SCRIPT_VALUE_OPTIONAL)
        v = *v.as.meta;
    if (v.kind == SCRIPT_VALUE_TENSOR_TYPE) {
        tensor_parameter(e, p, v.as.tensor_type);
    } else if (v.kind == SCRIPT_VALUE_TYPE || v.kind == SCRIPT_VALUE_SYMBOL || v.kind == SCRIPT_VALUE_DTYPE) {
        value_parameter(e, p, v.as.type);
    } else if (v.kind == SCRIPT_VALUE_WORD && strcmp(v.as.word->path, "TensorMap") == 0) {
        value_parameter(e, p, ir_type_tensor_map());
    } else if (v.kind == SCRIPT_VALUE_WORD && strcmp(v.as.word->path, "handle") == 0) {
        value_parameter(e, p, ir_type_pointer(NUM_DTYPE_NONE, 1, IR_SCOPE_GLOBAL));
    } else {
        if (!script_is_poison(v)) {
            base_diagnostic *d =
                script_error(e, "T0207", annotation->span, "the type of a parameter cannot be %s",
                             script_value_name(e->arena, v));
            base_help(e->diagnostics, d, "a tensor type, T.handle, or an element type such as T.int32");
        }
        script_bind(e, p->text, script_poison(), SCRIPT_BIND_PLAIN, p->span);
    }
}

/* def f[n](...): a size of the call, as a quoted extent is. */
static void type_parameter(script_evaluator *e, const script_node *p) {
    ir_var *var =
        ir_var_create(e->module, p->text, ir_type_prim(NUM_DTYPE_I32, 1), IR_VAR_PARAMETER, p->span);
    script_bind(e, p->text, script_expr(ir_var_use(e->module, var)), SCRIPT_BIND_PARAMETER, p->span);
}

/* ---- sizes that nobody passes yet ---- */

typedef struct size_collector {
    script_evaluator *e;
    base_map *seen;
} size_collector;

static void collect_expr(void *user, const ir_expr *x) {
    size_collector *c = user;
    if (x->op != IR_VAR || x->at.var->kind != IR_VAR_PARAMETER || base_map_get(c->seen, BASE_KEY(x->at.var)))
        return;
    base_map_set(c->seen, BASE_KEY(x->at.var), c);
    add_parameter(c->e, x->at.var->name, NULL, (ir_var *)(uintptr_t)x->at.var);
}

static void collect_shape(size_collector *c, const ir_tensor *tensor) {
    for (uint32_t i = 0; i < tensor->type.rank; i++) {
        ir_expr_visit(tensor->type.shape[i], collect_expr, c);
        if (tensor->type.strides)
            ir_expr_visit(tensor->type.strides[i], collect_expr, c);
    }
    if (tensor->type.origin)
        ir_expr_visit(tensor->type.origin, collect_expr, c);
}

static void collect_address(void *user, const ir_expr **x) {
    if (*x)
        ir_expr_visit(*x, collect_expr, user);
}

static void collect_statement(void *user, ir_stmt *statement) {
    if (statement->kind == IR_STMT_DECLARE)
        collect_shape(user, statement->as.declare.tensor);
    ir_stmt_expressions(statement, collect_address, user);
}

static void append_sizes(script_evaluator *e) {
    ir_function *f = e->function;
    size_collector c = {e, base_map_create(e->arena)};
    size_t count = f->parameters.count;
    for (size_t i = 0; i < count; i++)
        if (f->parameters.items[i].var)
            base_map_set(c.seen, BASE_KEY(f->parameters.items[i].var), e);
    for (size_t i = 0; i < count; i++)
        if (f->parameters.items[i].tensor) {
            f->parameters.items[i].name = f->parameters.items[i].tensor->name;
            collect_shape(&c, f->parameters.items[i].tensor);
        }
    for (int i = 0; i < 3; i++) {
        const ir_expr *parts[3] = {f->launch.grid[i], f->launch.block[i], f->launch.cluster[i]};
        for (int j = 0; j < 3; j++)
            collect_address(&c, &parts[j]);
    }
    collect_address(&c, &f->launch.dynamic_smem_bytes);
    ir_stmt_visit(f->body, collect_statement, &c);
}

/* ---- kernels ---- */

static void check_function_name(script_evaluator *e, const ir_function *function) {
    for (size_t i = 0; i < e->module->functions.count; i++) {
        const ir_function *other = e->module->functions.items[i];
        if (other == function || other->name != function->name)
            continue;
        base_diagnostic *d =
            script_error(e, "T0229", function->span, "a second kernel named '%s'", function->name);
        base_note(e->diagnostics, d, other->span, "the first is here");
        return;
    }
}

/* The kernel of a factory that is called again, or for other constants: f, f_1, f_2, ... */
const char *script_kernel_name(script_evaluator *e, const char *name) {
    const char *unique = name;
    for (unsigned n = 0, used = 1; used;
         unique = used ? base_arena_format(e->arena, "%s_%u", name, ++n) : unique) {
        used = 0;
        for (size_t i = 0; i < e->module->functions.count; i++)
            used |= strcmp(e->module->functions.items[i]->name, unique) == 0;
    }
    return unique;
}

/* One kernel: the whole function but for its other regions. */
static ir_function *build_region(script_evaluator *e, const script_node *node,
                                 const script_value *constants) {
    script_scope *outer = e->scope;
    base_span place = node->name_span.file ? node->name_span : node->span;
    bool direct = e->scope == e->module_scope && !constants && e->region == 0;
    ir_function *function =
        ir_function_create(e->module, direct ? node->text : script_kernel_name(e, node->text), place);
    e->function = function;
    e->block = function->body;
    e->is_python = false;
    e->let_values = base_map_create(e->arena);
    e->let_queries = base_map_create(e->arena);
    e->unnamed = base_map_create(e->arena);
    e->collisions = base_map_create(e->arena);
    e->gone = base_map_create(e->arena);
    e->regions = 0;
    e->region_start = e->region_end = 0;
    e->was_first_dynamic = e->has_entry = e->has_launch_config = e->is_entry_implied = false;
    e->pool = NULL;
    e->ids = (script_scope_ids){.used = false};
    e->nest.count = 0;
    e->ir_depth = 1;
    e->temporary = 0;
    e->statement = place;
    uint32_t calls = e->calls, first_body = e->first_body;
    e->calls = 0;
    e->first_body = e->bodies;
    script_scope_open(e, true);
    for (size_t i = 0; i < node->items.count; i++)
        type_parameter(e, node->items.items[i]);
    for (size_t i = 0; i < node->parameters.count; i++) /* shapes before them may name constants */
        constant_parameter(e, node->parameters.items[i], constants);
    for (size_t i = 0; i < node->parameters.count; i++)
        parameter(e, node->parameters.items[i], constants);
    script_statements(e, &node->body);
    e->calls = calls;
    e->first_body = first_body;
    script_pool_finish(e);
    script_launch_finish(e, place);
    append_sizes(e);
    check_function_name(e, function);
    e->scope = outer;
    e->function = NULL;
    e->block = NULL;
    e->is_python = true;
    return function;
}

/* What stands between regions would be done by the host; names for values are all that it can be here. */
static void check_between(script_evaluator *e, const ir_function *function) {
    for (size_t i = 0; i < function->body->as.block.body.count; i++) {
        const ir_stmt *s = function->body->as.block.body.items[i];
        bool inside = i >= e->region_start && i < e->region_end;
        if (inside || s->kind == IR_STMT_LET || s->kind == IR_STMT_DECLARE)
            continue;
        script_not_supported(e, s->span, "a statement of the host, outside of the device regions");
        return;
    }
}

/* A function with several `with device_entry(...)` gives a kernel for each, launched in this order. */
void script_build_kernel(script_evaluator *e, const script_node *node, const script_value *constants,
                         ir_function **out) {
    uint32_t regions = 1;
    *out = NULL;
    for (uint32_t i = 0; i < regions; i++) {
        size_t errors = base_diagnostics_errors(e->diagnostics);
        e->region = i;
        ir_function *function = build_region(e, node, constants);
        regions = e->regions > regions ? e->regions : regions;
        if (i == 0)
            *out = function;
        function->launch.follows = i > 0;
        if (regions > 1 && base_diagnostics_errors(e->diagnostics) == errors)
            check_between(e, function);
    }
    e->region = 0;
}

/* ---- the module ---- */

static script_evaluator *evaluator(base_arena *arena, base_arena *of_module, base_diagnostics *diagnostics,
                                   const script_ast *ast, const script_options *options) {
    script_evaluator *e = BASE_NEW(arena, script_evaluator);
    e->arena = arena;
    e->diagnostics = diagnostics;
    e->names = ast->names;
    e->module = ir_module_create_with(of_module, diagnostics, e->names);
    e->steps_left = e->step_limit = options->step_limit ? options->step_limit : 10000000;
    e->unreachable = base_map_create(arena);
    e->depth_limit = options->depth_limit ? options->depth_limit : 200;
    e->is_python = true;
    e->options = options;
    e->gone = base_map_create(arena);
    e->defined = base_map_create(arena);
    e->let_values = base_map_create(arena);
    e->let_queries = base_map_create(arena);
    e->layouts = base_map_create(arena);
    e->unnamed = base_map_create(arena);
    e->sources = base_map_create(arena);
    e->collisions = base_map_create(arena);
    e->builtin_scope = script_scope_open(e, false);
    script_predefine(e, ast);
    e->module_scope = script_scope_open(e, true);
    return e;
}

static const script_options defaults = {0};

ir_module *script_evaluate(base_arena *arena, base_diagnostics *diagnostics, const script_ast *ast,
                           const char *entry, const script_options *options) {
    if (!options)
        options = &defaults;
    base_arena *own = base_arena_create(base_arena_heap(arena));
    script_evaluator *e = evaluator(own, arena, diagnostics, ast, options);
    e->entry = entry;
    for (size_t i = 0; i < options->define_count; i++)
        define(e, options, &options->defines[i]);
    script_statements(e, &ast->body);
    script_choose_kernels(e, ast, options);
    ir_module *module = e->module;
    base_arena_destroy(own);
    return module;
}

/* ---- a layout alone ---- */

const layout_tile *script_evaluate_layout(base_arena *arena, base_diagnostics *diagnostics, uint32_t file) {
    script_ast *none = BASE_NEW(arena, script_ast);
    none->names = base_names_create(arena);
    const script_options options = {.names = none->names};
    script_evaluator *e = evaluator(arena, arena, diagnostics, none, &defaults);
    const layout_tile *layout = NULL;
    script_import_words(e, BASE_NO_SPAN);
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
        script_bind(e, layout_axis_name((layout_axis)i),
                    (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = (layout_axis)i}, SCRIPT_BIND_PLAIN,
                    BASE_NO_SPAN);
    script_node *node = script_parse_expression(arena, diagnostics, file, &options);
    script_value v = node ? script_expression(e, node) : script_poison();
    base_span span = node ? node->span : BASE_NO_SPAN;
    if (script_to_layout(e, v, &layout, span) && !layout)
        script_error(e, "T0205", span, "a layout is wanted, not %s", script_value_name(arena, v));
    return layout;
}
