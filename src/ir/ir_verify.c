/* SPDX-License-Identifier: Apache-2.0
 * Is a module well formed? Walks the statements with the scopes that are open, and reports every problem at
 * the statement where it is. Changes nothing. */
#include "ir/ir_verify.h"
#include <stdarg.h>
#include <string.h>

/* ---- reports ---- */

base_diagnostic *ir_verifier_report(ir_verifier *v, const char *code, const char *help, const char *format,
                                    ...) {
    va_list arguments;
    va_start(arguments, format);
    base_diagnostic *diagnostic =
        base_report_list(v->module->diagnostics, BASE_ERROR, code, v->span, format, arguments);
    va_end(arguments);
    if (help)
        base_help(v->module->diagnostics, diagnostic, "%s", help);
    v->errors++;
    return diagnostic;
}

const char *ir_verifier_shown(ir_verifier *v, const ir_expr *e) {
    base_builder out;
    base_builder_start(&out, v->arena);
    if (e->size > 200)
        base_builder_format(&out, "<an expression of %u parts>", e->size);
    else
        ir_expr_print(e, &out);
    if (out.size > 90) {
        out.size = 87;
        base_builder_string(&out, "...");
    }
    return out.data;
}

const char *ir_verifier_type(ir_verifier *v, ir_type type) {
    base_builder out;
    base_builder_start(&out, v->arena);
    ir_type_print(type, &out);
    return out.data;
}

/* ---- scopes ---- */

void ir_verifier_define(ir_verifier *v, const void *key, const char *name, base_span span) {
    ir_definition *known = base_map_get(v->definitions, BASE_KEY(key));
    if (known) {
        base_diagnostic *diagnostic = ir_verifier_report(v, "T0324", NULL, "`%s` is defined twice", name);
        base_note(v->module->diagnostics, diagnostic, known->span, "it was defined here");
    }
    ir_definition *definition = BASE_NEW(v->arena, ir_definition);
    *definition = (ir_definition){span, true};
    base_map_set(v->definitions, BASE_KEY(key), definition);
    base_vector_push(v->arena, &v->open, definition);
}

bool ir_verifier_is_live(const ir_verifier *v, const void *key) {
    const ir_definition *definition = base_map_get(v->definitions, BASE_KEY(key));
    return definition && definition->live;
}

static void close_scope(ir_verifier *v, size_t mark) {
    while (v->open.count > mark)
        v->open.items[--v->open.count]->live = false;
}

static void need_live(ir_verifier *v, const void *key, const char *name) {
    if (ir_verifier_is_live(v, key))
        return;
    const ir_definition *ended = base_map_get(v->definitions, BASE_KEY(key));
    base_diagnostic *diagnostic = ir_verifier_report(
        v, "T0323", NULL, "`%s` is %s", name, ended ? "used after its block has ended" : "not defined here");
    if (ended)
        base_note(v->module->diagnostics, diagnostic, ended->span, "it was defined here");
}

static void check_part(void *user, const ir_expr *e) {
    ir_verifier *v = user;
    if (!base_map_get(v->checked, BASE_KEY(e))) {
        base_map_set(v->checked, BASE_KEY(e), v);
        ir_verify_operation(v, e);
    }
    if (e->op == IR_VAR && e->at.var) {
        need_live(v, e->at.var, e->at.var->name);
    } else if (e->op == IR_REGISTER && e->at.var) {
        if (!base_map_get(v->assigned, BASE_KEY(e->at.var)))
            ir_verifier_report(v, "T0340", NULL, "register `%s` is read but never assigned", e->at.var->name);
    } else if (ir_op_attribute(e->op) == IR_ATTRIBUTE_TENSOR && e->at.tensor) {
        need_live(v, e->at.tensor, e->at.tensor->name);
    }
}

bool ir_verifier_root(ir_verifier *v, const ir_expr *e) {
    size_t before = v->errors;
    if (!e) {
        ir_verifier_report(v, "T0321", NULL, "an expression is missing");
        return false;
    }
    if (e->depth > IR_DEPTH_LIMIT || e->size > IR_SIZE_LIMIT) {
        ir_verifier_report(v, "T0307", "give a part of it a name",
                           "an expression of %u parts, %u levels deep; at most %d and %d are allowed",
                           e->size, e->depth, IR_SIZE_LIMIT, IR_DEPTH_LIMIT);
        return false;
    }
    ir_expr_visit(e, check_part, v);
    return v->errors == before;
}

/* ---- statements ---- */

static void check_block(ir_verifier *v, const ir_stmt *block);

static bool need_form(ir_verifier *v, ir_form form, const char *what) {
    if (v->form == form)
        return true;
    ir_verifier_report(v, "T0330", NULL, "%s in %s form", what, v->form == IR_FORM_FLAT ? "flat" : "tensor");
    return false;
}

static void need_type(ir_verifier *v, const char *name, ir_type wanted, const ir_expr *value) {
    if (!ir_type_equal(wanted, value->type))
        ir_verifier_report(v, "T0325", NULL, "`%s` of type %s is stored in `%s`; expected %s",
                           ir_verifier_shown(v, value), ir_verifier_type(v, value->type), name,
                           ir_verifier_type(v, wanted));
}

static void check_let(ir_verifier *v, const ir_stmt *s) {
    ir_var *var = s->as.let.var;
    if (ir_verifier_root(v, s->as.let.value))
        need_type(v, var->name, var->type, s->as.let.value);
    if (var->kind != IR_VAR_LET || (var->type.kind != IR_TYPE_PRIM && var->type.kind != IR_TYPE_POINTER))
        ir_verifier_report(v, "T0338", NULL, "`%s` cannot be bound by let", var->name);
    ir_verifier_define(v, var, var->name, s->span);
}

static void check_allocate(ir_verifier *v, const ir_stmt *s) {
    const ir_tensor *tensor = s->as.allocate.tensor;
    if (tensor->kind != IR_TENSOR_ALLOCATION || tensor->type.scope == IR_SCOPE_GLOBAL)
        ir_verifier_report(v, "T0338", NULL, "`%s` in scope %s cannot be allocated by a kernel", tensor->name,
                           ir_scope_name(tensor->type.scope));
    ir_verify_tensor(v, tensor);
    if (tensor->type.scope == IR_SCOPE_SHARED_DYN && v->form == IR_FORM_TENSOR) {
        if (v->dynamic) {
            base_diagnostic *diagnostic = ir_verifier_report(
                v, "T0310", "allocate one pool and declare views into it",
                "`%s` is a second dynamic shared allocation; a kernel has one", tensor->name);
            base_note(v->module->diagnostics, diagnostic, v->dynamic->span, "the first one is `%s`",
                      v->dynamic->as.allocate.tensor->name);
        } else {
            v->dynamic = s;
        }
    }
    ir_verifier_define(v, tensor, tensor->name, s->span);
}

static void measure_view(void *user, const ir_expr *e) {
    struct {
        ir_verifier *v;
        uintptr_t depth;
    } *measure = user;
    if (ir_op_attribute(e->op) != IR_ATTRIBUTE_TENSOR || !e->at.tensor)
        return;
    uintptr_t depth = (uintptr_t)base_map_get(measure->v->views, BASE_KEY(e->at.tensor));
    if (depth > measure->depth)
        measure->depth = depth;
}

static bool scopes_agree(ir_scope a, ir_scope b) {
    bool a_shared = a == IR_SCOPE_SHARED || a == IR_SCOPE_SHARED_DYN;
    bool b_shared = b == IR_SCOPE_SHARED || b == IR_SCOPE_SHARED_DYN;
    return a == b || (a_shared && b_shared);
}

static void check_declare(ir_verifier *v, const ir_stmt *s) {
    const ir_tensor *tensor = s->as.declare.tensor;
    struct {
        ir_verifier *v;
        uintptr_t depth;
    } measure = {v, 0};
    need_form(v, IR_FORM_TENSOR, "a view");
    ir_verify_tensor(v, tensor);
    if (ir_verifier_root(v, tensor->data)) {
        ir_type type = tensor->data->type;
        bool address = tensor->type.scope == IR_SCOPE_TMEM && ir_type_is_integer(type);
        if (type.kind != IR_TYPE_POINTER && !address)
            ir_verifier_report(v, "T0336", NULL, "view `%s` is over `%s` of type %s; expected a pointer",
                               tensor->name, ir_verifier_shown(v, tensor->data), ir_verifier_type(v, type));
        else if (!address && !scopes_agree((ir_scope)type.scope, tensor->type.scope))
            ir_verifier_report(v, "T0336", NULL, "view `%s` in scope %s is over a pointer to scope %s",
                               tensor->name, ir_scope_name(tensor->type.scope),
                               ir_scope_name((ir_scope)type.scope));
        ir_expr_visit(tensor->data, measure_view, &measure);
    }
    if (++measure.depth > IR_STATEMENT_LIMIT)
        ir_verifier_report(v, "T0341", NULL, "view `%s` stands over %d others", tensor->name,
                           IR_STATEMENT_LIMIT);
    base_map_set(v->views, BASE_KEY(tensor), (void *)measure.depth);
    ir_verifier_define(v, tensor, tensor->name, s->span);
}

static void check_store(ir_verifier *v, const ir_stmt *s) {
    const ir_tensor *tensor = s->as.store.tensor;
    bool good = true;
    if (!need_form(v, IR_FORM_TENSOR, "a store to a tensor"))
        return;
    need_live(v, tensor, tensor->name);
    for (uint32_t i = 0; i < s->as.store.count; i++)
        good = ir_verifier_root(v, s->as.store.indices[i]) && good;
    good = good && ir_verify_indices(v, tensor, s->as.store.indices, s->as.store.count, true);
    good = ir_verifier_root(v, s->as.store.value) && good;
    if (tensor->type.scope == IR_SCOPE_TMEM)
        ir_verifier_report(v, "T0335", "write it with tcgen05.st",
                           "`%s` is tensor memory and cannot be stored to", tensor->name);
    if (!good)
        return;
    ir_type type;
    ir_infer(IR_LOAD, s->as.store.indices, s->as.store.count, (ir_attribute){.tensor = tensor}, &type);
    need_type(v, tensor->name, type, s->as.store.value);
}

static void check_pointer_store(ir_verifier *v, const ir_stmt *s) {
    const ir_expr *base = s->as.pointer_store.base, *index = s->as.pointer_store.index;
    const ir_expr *value = s->as.pointer_store.value, *origin = s->as.pointer_store.origin;
    need_form(v, IR_FORM_FLAT, "a store to a pointer");
    bool good = ir_verifier_root(v, base);
    good = ir_verifier_root(v, index) && good;
    good = ir_verifier_root(v, value) && good;
    if (good && (base->type.kind != IR_TYPE_POINTER || !ir_type_is_integer(index->type) ||
                 index->type.lanes != 1 || value->type.kind != IR_TYPE_PRIM))
        ir_verifier_report(v, "T0320", NULL,
                           "a store of %s to %s [%s]; expected a number, a pointer, an integer",
                           ir_verifier_type(v, value->type), ir_verifier_type(v, base->type),
                           ir_verifier_type(v, index->type));
    if (origin && origin->op != IR_ADDRESS && origin->op != IR_LOAD)
        ir_verifier_report(v, "T0338", NULL, "the origin of a store is no element of a tensor");
}

static void check_assign(ir_verifier *v, const ir_stmt *s) {
    const ir_var *var = s->as.assign.var;
    need_form(v, IR_FORM_FLAT, "an assignment");
    if (var->kind != IR_VAR_REGISTER)
        ir_verifier_report(v, "T0332", "make it a scalar, x: int32 = 0",
                           "`%s` is a value and cannot be assigned again", var->name);
    if (ir_verifier_root(v, s->as.assign.value))
        need_type(v, var->name, var->type, s->as.assign.value);
}

static void check_condition(ir_verifier *v, const ir_expr *condition) {
    if (ir_verifier_root(v, condition) && (!ir_type_is_bool(condition->type) || condition->type.lanes != 1))
        ir_verifier_report(v, "T0326", NULL, "condition `%s` has type %s; expected bool",
                           ir_verifier_shown(v, condition), ir_verifier_type(v, condition->type));
}

static bool check_bound(ir_verifier *v, const char *what, const ir_var *var, const ir_expr *bound) {
    if (!ir_verifier_root(v, bound))
        return false;
    if (ir_type_equal(bound->type, var->type))
        return true;
    ir_verifier_report(v, "T0327", NULL, "the %s `%s` of loop `%s` has type %s; expected %s", what,
                       ir_verifier_shown(v, bound), var->name, ir_verifier_type(v, bound->type),
                       ir_verifier_type(v, var->type));
    return false;
}

static void check_for(ir_verifier *v, const ir_stmt *s) {
    const ir_var *var = s->as.loop.var;
    size_t mark = v->open.count;
    int64_t step;
    if (!ir_type_is_integer(var->type) || var->type.lanes != 1 || var->kind != IR_VAR_LOOP)
        ir_verifier_report(v, "T0327", NULL, "loop variable `%s` is no integer of a loop", var->name);
    check_bound(v, "start", var, s->as.loop.start);
    check_bound(v, "extent", var, s->as.loop.extent);
    if (check_bound(v, "step", var, s->as.loop.step) && (!ir_is_int(s->as.loop.step, &step) || step <= 0))
        ir_verifier_report(v, "T0327", NULL, "the step of loop `%s` is `%s`; expected a positive constant",
                           var->name, ir_verifier_shown(v, s->as.loop.step));
    if (s->as.loop.factor < 0 || (s->as.loop.factor && s->as.loop.kind != IR_LOOP_PRAGMA))
        ir_verifier_report(v, "T0327", NULL, "loop `%s` has an unroll factor that its kind does not take",
                           var->name);
    ir_verifier_define(v, var, var->name, s->span);
    v->loops++;
    check_block(v, s->as.loop.body);
    v->loops--;
    close_scope(v, mark);
}

static void check_branch(ir_verifier *v, const ir_stmt *s) {
    check_condition(v, s->as.branch.condition);
    check_block(v, s->as.branch.then_body);
    if (s->as.branch.else_body)
        check_block(v, s->as.branch.else_body);
}

static void check_stmt(ir_verifier *v, const ir_stmt *s) {
    v->span = s->span;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        check_block(v, s);
        break;
    case IR_STMT_LET:
        check_let(v, s);
        break;
    case IR_STMT_ALLOCATE:
        check_allocate(v, s);
        break;
    case IR_STMT_DECLARE:
        check_declare(v, s);
        break;
    case IR_STMT_STORE:
        check_store(v, s);
        break;
    case IR_STMT_POINTER_STORE:
        check_pointer_store(v, s);
        break;
    case IR_STMT_ASSIGN:
        check_assign(v, s);
        break;
    case IR_STMT_IF:
        check_branch(v, s);
        break;
    case IR_STMT_FOR:
        check_for(v, s);
        break;
    case IR_STMT_WHILE:
        check_condition(v, s->as.while_loop.condition);
        v->loops++;
        check_block(v, s->as.while_loop.body);
        v->loops--;
        break;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
        if (!v->loops)
            ir_verifier_report(v, "T0331", NULL, "%s outside a loop",
                               s->kind == IR_STMT_BREAK ? "break" : "continue");
        break;
    case IR_STMT_RETURN:
        break;
    case IR_STMT_EVALUATE:
        if (ir_verifier_root(v, s->as.evaluate.value) && s->as.evaluate.value->type.kind == IR_TYPE_STRING)
            ir_verifier_report(v, "T0339", NULL, "text is no statement");
        break;
    }
}

static void check_block(ir_verifier *v, const ir_stmt *block) {
    size_t mark = v->open.count;
    if (v->depth >= IR_STATEMENT_LIMIT) {
        ir_verifier_report(v, "T0308", NULL, "statements are nested more than %d levels deep",
                           IR_STATEMENT_LIMIT);
        return;
    }
    v->depth++;
    for (size_t i = 0; i < block->as.block.body.count; i++)
        check_stmt(v, block->as.block.body.items[i]);
    v->depth--;
    close_scope(v, mark);
}

/* ---- functions ---- */

static void note_assignment(void *user, ir_stmt *s) {
    ir_verifier *v = user;
    if (s->kind == IR_STMT_ASSIGN)
        base_map_set(v->assigned, BASE_KEY(s->as.assign.var), v);
}

static void check_name(ir_verifier *v, size_t index) {
    const ir_function *function = v->module->functions.items[index];
    for (size_t i = 0; i < index; i++) {
        const ir_function *other = v->module->functions.items[i];
        if (strcmp(other->name, function->name) != 0)
            continue;
        base_diagnostic *diagnostic =
            ir_verifier_report(v, "T0314", NULL, "two functions are called `%s`", function->name);
        base_note(v->module->diagnostics, diagnostic, other->span, "the first one is here");
    }
}

static size_t verify_function(ir_module *module, size_t index, ir_form form) {
    const ir_function *function = module->functions.items[index];
    base_arena *arena = module->arena;
    ir_verifier v = {.module = module,
                     .arena = arena,
                     .form = form,
                     .definitions = base_map_create(arena),
                     .assigned = base_map_create(arena),
                     .views = base_map_create(arena),
                     .checked = base_map_create(arena),
                     .span = function->span};
    check_name(&v, index);
    ir_verify_head(&v, function);
    ir_stmt_visit(function->body, note_assignment, &v);
    check_block(&v, function->body);
    return v.errors;
}

bool ir_verify(const ir_module *module, ir_form form) {
    ir_module *open = (ir_module *)(uintptr_t)module; /* the arena and the diagnostics are written to */
    size_t errors = 0;
    for (size_t i = 0; i < module->functions.count; i++)
        errors += verify_function(open, i, form);
    return errors == 0;
}
