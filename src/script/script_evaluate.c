/* SPDX-License-Identifier: Apache-2.0
 * The module level: -D definitions, imports and aliases, statements in order, decorated functions to IR
 * functions with their parameters and sizes. */
#include "script/script_evaluate.h"
#include <stdio.h>
#include <string.h>

/* ---- imports ---- */

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
                                          "enum", "typing",    "os"};
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (strcmp(path, modules[i]) == 0)
            return true;
    return false;
}

static script_value import_path(script_evaluator *e, const char *path) {
    if (script_is_python_module(path))
        return namespace_value(path);
    if (!is_dialect_package(path))
        return foreign(e, path);
    if (is_root_name(last_part(path)) && strcmp(path, "tirx") != 0)
        return namespace_value("");
    return (script_value){.kind = SCRIPT_VALUE_MODULE, .as.string.text = path};
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
        return foreign(e, base_arena_format(e->arena, "%s.%s", package, name));
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

static void import_star(script_evaluator *e, const char *package, base_span span) {
    const char *path;
    if (!is_dialect_package(package)) {
        script_not_supported(e, span, "from %s import *", package);
        return;
    }
    for (size_t i = 0; (path = script_word(i, NULL, NULL)) != NULL; i++)
        if (!strchr(path, '.'))
            script_bind(e, path, (script_value){.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find(path)},
                        SCRIPT_BIND_PLAIN, span);
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
        const char *name = item->text;
        if (from && strcmp(name, "*") == 0) {
            import_star(e, node->text, item->span);
            continue;
        }
        script_value v =
            from ? import_name(e, node->text ? node->text : "", name, item->span) : import_path(e, name);
        const char *bound = item->text2 ? item->text2 : name;
        if (!from && !item->text2) { /* import a.b binds a */
            size_t size = strcspn(name, ".");
            bound = base_arena_string(e->arena, name, size);
            if (name[size] != 0)
                v = import_path(e, bound);
        }
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

static void predefine(script_evaluator *e, const script_ast *ast) {
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
    script_node *node = script_parse_expression(e->arena, e->diagnostics, file, options);
    script_value v = node ? script_expression(e, node) : script_poison();
    script_bind(e, definition->name, v, SCRIPT_BIND_PLAIN, span);
    base_map_set(e->defined, BASE_KEY(base_name_of(e->names, definition->name)), e);
}

/* ---- parameters ---- */

static void add_parameter(script_evaluator *e, const char *name, ir_tensor *tensor, ir_var *var) {
    ir_parameter parameter = {.name = base_name_of(e->names, name), .tensor = tensor, .var = var};
    base_vector_push(e->arena, &e->function->parameters, parameter);
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
    ir_tensor *tensor = ir_tensor_create(e->module, p->text, &type->type, IR_TENSOR_PARAMETER, NULL, p->span);
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

void script_build_kernel(script_evaluator *e, const script_node *node, const script_value *constants,
                         ir_function **out) {
    script_scope *outer = e->scope;
    base_span place = node->name_span.file ? node->name_span : node->span;
    bool direct = e->scope == e->module_scope && !constants;
    ir_function *function =
        ir_function_create(e->module, direct ? node->text : script_kernel_name(e, node->text), place);
    *out = function;
    e->function = function;
    e->block = function->body;
    e->is_python = false;
    e->let_values = base_map_create(e->arena);
    e->let_queries = base_map_create(e->arena);
    e->unnamed = base_map_create(e->arena);
    e->collisions = base_map_create(e->arena);
    e->gone = base_map_create(e->arena);
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
}

/* ---- the module ---- */

static script_evaluator *evaluator(base_arena *arena, base_diagnostics *diagnostics, const script_ast *ast,
                                   const script_options *options) {
    script_evaluator *e = BASE_NEW(arena, script_evaluator);
    e->arena = arena;
    e->diagnostics = diagnostics;
    e->module = ir_module_create(arena, diagnostics);
    e->names = e->module->names;
    e->steps_left = e->step_limit = options->step_limit ? options->step_limit : 10000000;
    e->unreachable = base_map_create(arena);
    e->depth_limit = options->depth_limit ? options->depth_limit : 200;
    e->is_python = true;
    e->gone = base_map_create(arena);
    e->defined = base_map_create(arena);
    e->let_values = base_map_create(arena);
    e->let_queries = base_map_create(arena);
    e->unnamed = base_map_create(arena);
    e->sources = base_map_create(arena);
    e->collisions = base_map_create(arena);
    e->builtin_scope = script_scope_open(e, false);
    predefine(e, ast);
    e->module_scope = script_scope_open(e, true);
    return e;
}

static const script_options defaults = {NULL, 0, 0, 0};

ir_module *script_evaluate(base_arena *arena, base_diagnostics *diagnostics, const script_ast *ast,
                           const char *entry, const script_options *options) {
    if (!options)
        options = &defaults;
    script_evaluator *e = evaluator(arena, diagnostics, ast, options);
    e->entry = entry;
    for (size_t i = 0; i < options->define_count; i++)
        define(e, options, &options->defines[i]);
    script_statements(e, &ast->body);
    script_choose_kernels(e, ast, options);
    return e->module;
}

/* ---- a layout alone ---- */

const layout_tile *script_evaluate_layout(base_arena *arena, base_diagnostics *diagnostics, uint32_t file) {
    script_ast *none = BASE_NEW(arena, script_ast);
    script_evaluator *e = evaluator(arena, diagnostics, none, &defaults);
    const layout_tile *layout = NULL;
    import_star(e, "tvm_tirx", BASE_NO_SPAN);
    for (int i = 0; i < LAYOUT_AXIS_COUNT; i++)
        script_bind(e, layout_axis_name((layout_axis)i),
                    (script_value){.kind = SCRIPT_VALUE_AXIS, .as.axis = (layout_axis)i}, SCRIPT_BIND_PLAIN,
                    BASE_NO_SPAN);
    script_node *node = script_parse_expression(arena, diagnostics, file, &defaults);
    script_value v = node ? script_expression(e, node) : script_poison();
    base_span span = node ? node->span : BASE_NO_SPAN;
    if (script_to_layout(e, v, &layout, span) && !layout)
        script_error(e, "T0205", span, "a layout is wanted, not %s", script_value_name(arena, v));
    return layout;
}
