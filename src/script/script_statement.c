/* SPDX-License-Identifier: Apache-2.0
 * Statements: each kind once, with the kernel's rules (IR is built) and Python's (run while compiling). */
#include "script/script_evaluate.h"
#include <string.h>

static bool is_kernel_rules(const script_evaluator *e) {
    return script_in_kernel(e) && !e->is_python;
}

void script_body(script_evaluator *e, ir_stmt *block, const script_nodes *body) {
    ir_stmt *outer = e->block;
    if (!script_deeper(e, 1, e->statement))
        return;
    e->block = block;
    script_scope_open(e, false);
    script_statements(e, body);
    script_scope_close(e);
    e->block = outer;
    e->ir_depth--;
}

/* Statements whose frame is broken still show their own errors; what they build is thrown away. The names
 * that they bind may have been meant for what follows: those say nothing more. */
enum { MOST_ERROR_BODIES = 8 };

static void body_for_errors(script_evaluator *e, const script_nodes *body) {
    ir_stmt *outer = e->block;
    /* a recursion whose end is wrong would go on in both sides of each level */
    if (e->error_bodies >= MOST_ERROR_BODIES || !script_deeper(e, 1, e->statement))
        return;
    e->error_bodies++;
    e->block = ir_stmt_create(e->module, IR_STMT_BLOCK, e->statement);
    script_scope *scope = script_scope_open(e, false);
    script_statements(e, body);
    script_scope_close(e);
    e->error_bodies--;
    for (size_t i = 0; i < scope->names.count; i++)
        if (!script_find_local(e, scope->names.items[i]))
            script_bind(e, scope->names.items[i], script_poison(), SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
    e->block = outer;
    e->ir_depth--;
}

/* ---- if ---- */

static script_flow if_statement(script_evaluator *e, const script_node *node) {
    script_value test = script_expression(e, node->a);
    bool truth;
    if (!is_kernel_rules(e)) {
        int64_t constant; /* T.bool(True), as the reference prints constants */
        bool is_constant = test.kind == SCRIPT_VALUE_EXPR && ir_is_int(test.as.expr, &constant);
        if (is_constant || script_truth(e, test, &truth, node->a->span))
            return script_statements(e, (is_constant ? constant != 0 : truth) ? &node->body : &node->orelse);
        if (!script_is_poison(test)) {
            base_diagnostic *d =
                script_error(e, "T0245", node->a->span, "a plain function cannot branch on %s",
                             script_value_name(e->arena, test));
            base_help(e->diagnostics, d, "T.if_then_else(condition, a, b) chooses at run time");
        }
        return SCRIPT_NEXT;
    }
    if (test.kind == SCRIPT_VALUE_BOOL)
        return script_statements(e, test.as.boolean ? &node->body : &node->orelse);
    if (script_is_poison(test)) {
        body_for_errors(e, &node->body);
        body_for_errors(e, &node->orelse);
        return SCRIPT_NEXT;
    }
    if (!script_is_ir(test)) {
        base_diagnostic *d =
            script_error(e, "T0245", node->a->span, "the test of an if is a truth value, not %s",
                         script_value_name(e->arena, test));
        base_help(e->diagnostics, d, "write a comparison, such as x != 0");
        return SCRIPT_NEXT;
    }
    const ir_expr *condition = script_to_condition(e, test, node->a->span, "the test of an if");
    if (condition && condition->type.lanes != 1) {
        script_error(e, "T0234", node->a->span, "the test of an if is one truth value, not a vector");
        condition = NULL;
    }
    if (!condition) {
        body_for_errors(e, &node->body);
        body_for_errors(e, &node->orelse);
        return SCRIPT_NEXT;
    }
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_IF, e->statement);
    statement->as.branch.condition = condition;
    statement->as.branch.then_body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    if (node->orelse.count > 0)
        statement->as.branch.else_body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    script_body(e, statement->as.branch.then_body, &node->body);
    if (node->orelse.count > 0)
        script_body(e, statement->as.branch.else_body, &node->orelse);
    return SCRIPT_NEXT;
}

/* ---- loops ---- */

static script_flow for_python(script_evaluator *e, const script_node *node) {
    script_list *items;
    script_value iterable = script_expression(e, node->b);
    if (!script_iterate(e, iterable, &items, node->b->span))
        return SCRIPT_NEXT;
    for (size_t i = 0; i < items->items.count && !script_is_stopped(e); i++) {
        if (!script_enter(e, node->span))
            return SCRIPT_LEAVE;
        script_assign(e, node->a, items->items.items[i], node->b->span);
        script_flow flow = script_statements(e, &node->body);
        script_leave(e);
        if (flow == SCRIPT_LEAVE)
            return flow;
        if (flow == SCRIPT_BREAK_LOOP)
            return SCRIPT_NEXT;
    }
    return script_statements(e, &node->orelse);
}

static script_flow while_python(script_evaluator *e, const script_node *node) {
    for (;;) {
        bool truth;
        script_value test = script_expression(e, node->a);
        if (!script_truth(e, test, &truth, node->a->span)) {
            if (!script_is_poison(test))
                script_error(e, "T0245", node->a->span, "a plain function cannot loop on %s",
                             script_value_name(e->arena, test));
            return SCRIPT_NEXT;
        }
        if (!truth)
            return script_statements(e, &node->orelse);
        if (!script_enter(e, node->span))
            return SCRIPT_LEAVE;
        script_flow flow = script_statements(e, &node->body);
        script_leave(e);
        if (flow == SCRIPT_LEAVE || script_is_stopped(e))
            return SCRIPT_LEAVE;
        if (flow == SCRIPT_BREAK_LOOP)
            return SCRIPT_NEXT;
    }
}

static void while_kernel(script_evaluator *e, const script_node *node) {
    size_t before = e->block->as.block.body.count;
    script_value test = script_expression(e, node->a);
    const ir_expr *condition = script_is_poison(test)
                                   ? NULL
                                   : script_to_condition(e, test, node->a->span, "the condition of a while");
    if (condition && condition->type.lanes != 1) {
        script_error(e, "T0234", node->a->span, "the condition of a while is one truth value, not a vector");
        condition = NULL;
    }
    if (e->block->as.block.body.count != before)
        script_error(
            e, "T0245", node->a->span,
            "the condition of a while is evaluated every round: it cannot hold a reduction or a view");
    if (node->orelse.count > 0)
        script_not_supported(e, node->orelse.items[0]->span, "else of a loop");
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_WHILE, e->statement);
    statement->as.while_loop.condition = condition ? condition : ir_bool(e->module, false);
    statement->as.while_loop.body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    base_vector_push(e->arena, &e->nest, SCRIPT_NEST_WHILE);
    script_body(e, statement->as.while_loop.body, &node->body);
    e->nest.count--;
}

void script_jump(script_evaluator *e, bool is_break, base_span span) {
    const char *name = is_break ? "break" : "continue";
    if (e->nest.count == 0) {
        script_error(e, "T0242", span, "%s outside a loop", name);
        return;
    }
    if (e->nest.items[e->nest.count - 1] == SCRIPT_NEST_UNROLL) {
        base_diagnostic *d = script_error(e, "T0242", span, "%s inside an unrolled or vectorized loop", name);
        base_help(e->diagnostics, d, "use T.serial(n, unroll=True)");
        return;
    }
    script_emit(e, ir_stmt_create(e->module, is_break ? IR_STMT_BREAK : IR_STMT_CONTINUE, span));
}

/* ---- return, assert, raise ---- */

static script_flow return_statement(script_evaluator *e, const script_node *node) {
    script_value value = node->a ? script_expression(e, node->a) : script_none();
    if (!is_kernel_rules(e)) {
        if (e->scope == e->module_scope)
            script_error(e, "T0246", node->span, "return outside a function");
        e->result = value;
        return SCRIPT_LEAVE;
    }
    int64_t zero = 1;
    if (script_is_poison(value))
        return SCRIPT_NEXT;
    if (e->inline_depth > 0) {
        if (e->ir_depth == e->inline_depth) {
            e->result = value;
            return SCRIPT_LEAVE;
        }
        base_diagnostic *d = script_error(e, "T0385", node->span,
                                          "return under a branch or loop of the kernel: an inline function "
                                          "is spliced, and has no end to jump to");
        base_help(e->diagnostics, d, "turn the condition around, or set a scalar");
        return SCRIPT_NEXT;
    }
    if (value.kind != SCRIPT_VALUE_NONE && !(script_value_integer(value, &zero) && zero == 0)) {
        base_diagnostic *d = script_error(e, "T0246", node->span, "a kernel returns nothing");
        base_help(e->diagnostics, d, "`return 0` or `return` ends the thread");
        return SCRIPT_NEXT;
    }
    script_emit(e, ir_stmt_create(e->module, IR_STMT_RETURN, node->span));
    return SCRIPT_NEXT;
}

/* The message of an assert: a string, or (kind, [parts]) in the older dialects. */
static const char *assert_message(script_evaluator *e, const script_node *node) {
    script_value v = node ? script_expression(e, node) : script_none();
    base_builder text;
    base_builder_start(&text, e->arena);
    if (v.kind == SCRIPT_VALUE_TUPLE && v.as.list->items.count == 2) {
        script_value parts = v.as.list->items.items[1];
        script_list *list;
        if (parts.kind == SCRIPT_VALUE_LIST && script_iterate(e, parts, &list, node->span))
            for (size_t i = 0; i < list->items.count; i++)
                script_value_text(e, list->items.items[i], false, &text);
        else
            script_value_text(e, parts, false, &text);
    } else if (v.kind != SCRIPT_VALUE_NONE)
        script_value_text(e, v, false, &text);
    return text.data && text.size > 0 ? text.data : NULL;
}

void script_check(script_evaluator *e, script_value condition, const char *message, base_span span) {
    bool truth;
    if (script_is_poison(condition))
        return;
    if (script_truth(e, condition, &truth, span)) {
        if (!truth)
            script_error(e, "T0266", span,
                         message ? "the assertion is false: %s" : "the assertion is false%s",
                         message ? message : "");
        return;
    }
    if (!script_need_kernel(e, span, "an assertion on run-time values"))
        return;
    const ir_expr *args[2] = {script_to_condition(e, condition, span, "the condition of an assertion")};
    if (!args[0])
        return;
    if (message)
        args[1] = ir_string(e->module, message);
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_EVALUATE, e->statement);
    statement->as.evaluate.value = ir_make(
        e->module, IR_TRAP_UNLESS, (ir_type){.kind = IR_TYPE_VOID, .lanes = 1}, args, message ? 2 : 1);
    script_emit(e, statement);
}

static void raise_statement(script_evaluator *e, const script_node *node) {
    const char *text = "an error was raised";
    if (is_kernel_rules(e)) {
        script_not_supported(e, node->span, "raise in a kernel");
        return;
    }
    if (node->a && node->a->kind == SCRIPT_CALL && node->a->items.count > 0) {
        script_value v = script_expression(e, node->a->items.items[0]);
        if (v.kind == SCRIPT_VALUE_STRING)
            text = v.as.string.text;
    }
    script_error(e, "T0267", node->span, "the script raised an error: %s", text);
}

/* ---- with, expression statements ---- */

static bool is_context(script_evaluator *e, script_value v) {
    return v.kind == SCRIPT_VALUE_OBJECT && script_find_method(e, v.as.object->class, "__enter__") &&
           script_find_method(e, v.as.object->class, "__exit__");
}

/* Objects of the script that can be entered are left after the body, without an exception. */
static script_flow with_object(script_evaluator *e, const script_node *node, size_t from, script_value v) {
    const script_node *item = node->items.items[from];
    script_arguments nothing = {0};
    script_value entered = script_call_method(e, v, "__enter__", NULL, item->a->span);
    if (item->b)
        script_assign(e, item->b, entered, item->a->span);
    script_flow flow = script_with_items(e, node, from + 1);
    for (int i = 0; i < 3; i++)
        base_vector_push(e->arena, &nothing.items,
                         (script_argument){.value = script_none(), .span = item->a->span});
    script_value leave = script_get_attribute(e, v, "__exit__", item->a->span);
    script_call_value(e, leave, &nothing, NULL, item->a->span, item->a->span);
    return flow;
}

/* with device_entry(...): one kernel of a function that may have several, each in its order. */
static script_flow entry_region(script_evaluator *e, const script_node *node, size_t at) {
    bool is_mine = e->regions++ == e->region;
    if (!is_mine)
        return SCRIPT_NEXT;
    e->region_start = e->block->as.block.body.count;
    script_flow flow = SCRIPT_NEXT;
    if (!script_is_poison(script_expression(e, node->items.items[at]->a)))
        flow = script_with_items(e, node, at + 1);
    e->region_end = e->block->as.block.body.count;
    return flow;
}

script_flow script_with_items(script_evaluator *e, const script_node *node, size_t from) {
    for (size_t i = from; i < node->items.count; i++) {
        const script_node *item = node->items.items[i];
        if (script_is_entry_item(e, item))
            return entry_region(e, node, i);
        size_t before = script_in_kernel(e) && e->block ? e->block->as.block.body.count : 0;
        script_value v = script_expression(e, item->a);
        if (v.kind == SCRIPT_VALUE_LOOP || (v.kind == SCRIPT_VALUE_FRAME && v.as.frame))
            return script_with_frame(e, v, node, i + 1, before);
        if (is_context(e, v))
            return with_object(e, node, i, v);
        if (v.kind == SCRIPT_VALUE_EXPR && v.flag) { /* with launch_thread(...) as tx: */
            if (item->b)
                script_assign(e, item->b, v, item->a->span);
            continue;
        }
        if (v.kind == SCRIPT_VALUE_EXPR || v.kind == SCRIPT_VALUE_TENSOR || v.kind == SCRIPT_VALUE_BOOL) {
            base_diagnostic *d = script_error(e, "T0288", item->a->span, "with opens a frame; this is %s",
                                              script_value_name(e->arena, v));
            base_help(e->diagnostics, d, "if ...: or with T.If(...), T.Then():");
            v = script_poison();
        } else if (v.kind != SCRIPT_VALUE_FRAME && !script_is_poison(v))
            script_not_supported(e, item->a->span, "with %s", script_value_name(e->arena, v));
        if (item->b)
            script_assign(e, item->b, v.kind == SCRIPT_VALUE_FRAME ? script_none() : script_poison(),
                          item->a->span);
    }
    return script_statements(e, &node->body);
}

/* Nothing of a script is caught: an import always succeeds, and what is raised ends the compilation with its
 * message. So the body runs, and of the rest `else` and `finally`. */
static script_flow try_statement(script_evaluator *e, const script_node *node) {
    if (is_kernel_rules(e)) {
        script_not_supported(e, node->span, "%s in a kernel", script_node_name(node->kind));
        return SCRIPT_NEXT;
    }
    script_flow flow = script_statements(e, &node->body);
    if (flow == SCRIPT_NEXT)
        flow = script_statements(e, &node->orelse);
    if (node->c) {
        script_flow last = script_statements(e, &node->c->body);
        flow = last == SCRIPT_NEXT ? flow : last;
    }
    return flow;
}

static void delete_statement(script_evaluator *e, const script_node *node) {
    for (size_t i = 0; i < node->items.count; i++) {
        const script_node *target = node->items.items[i];
        if (target->kind == SCRIPT_SUBSCRIPT) {
            script_value object = script_expression(e, target->a);
            script_value index = script_subscript_index(e, target->b);
            if (!script_is_poison(object) && !script_is_poison(index))
                script_delete_item(e, object, index, target->span);
        } else if (target->kind == SCRIPT_NAME && (e->is_python || !script_in_kernel(e))) {
            script_binding *old = script_find_local(e, target->text);
            if (!old)
                script_lookup(e, target->text, target->span);
            else
                old->value = script_poison();
        } else
            script_not_supported(e, target->span, "del of this");
    }
}

/* A wrong value without a report would leave a hole in the kernel that nobody sees. */
static void expect_report(script_evaluator *e, script_value v, const script_node *node) {
    if (script_is_poison(v) && base_diagnostics_errors(e->diagnostics) == 0)
        script_error(e, "T0298", node->span,
                     "tirc could not evaluate this and does not know why: please report it");
}

static void expression_statement(script_evaluator *e, const script_node *node) {
    script_value v = script_expression(e, node->a);
    expect_report(e, v, node);
    switch (v.kind) {
    case SCRIPT_VALUE_EXPR:
        if (script_in_kernel(e) && ir_expr_has_effect(v.as.expr)) {
            ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_EVALUATE, e->statement);
            statement->as.evaluate.value = v.as.expr;
            script_emit(e, statement);
        }
        break;
    case SCRIPT_VALUE_LOOP: {
        base_diagnostic *d = script_error(e, "T0240", node->span, "a loop that no for runs");
        base_help(e->diagnostics, d, "write `for i in ...:`");
        break;
    }
    case SCRIPT_VALUE_FRAME:
        script_frame_unopened(e, v);
        break;
    case SCRIPT_VALUE_PTX: {
        base_diagnostic *d = script_error(e, "T0264", node->span,
                                          "the PTX instruction `%s` is named, not called", v.as.string.text);
        base_help(e->diagnostics, d, "write parentheses with its operands, destinations first");
        break;
    }
    case SCRIPT_VALUE_WORD: {
        const script_dialect_word *word = v.as.word;
        base_diagnostic *d = script_error(e, "T0264", node->span, "'%s' is named, not called", word->path);
        base_help(e->diagnostics, d, "write parentheses: %s(%s)", word->path, word->signature);
        break;
    }
    default: /* docstrings, numbers, what calls return */
        break;
    }
}

/* ---- the dispatch ---- */

static script_flow statement(script_evaluator *e, const script_node *node) {
    switch (node->kind) {
    case SCRIPT_EXPRESSION_STATEMENT:
        expression_statement(e, node);
        break;
    case SCRIPT_ASSIGN:
        if (node->items.count > 1 && is_kernel_rules(e)) {
            script_not_supported(e, node->span, "a chained assignment in a kernel");
            break;
        } else {
            script_value v = script_expression(e, node->a);
            expect_report(e, v, node);
            for (size_t i = 0; i < node->items.count; i++)
                script_assign(e, node->items.items[i], v, node->a->span);
        }
        break;
    case SCRIPT_ANNOTATED_ASSIGN:
        script_annotated_assign(e, node);
        break;
    case SCRIPT_AUGMENTED_ASSIGN:
        script_augmented_assign(e, node);
        break;
    case SCRIPT_IF:
        return if_statement(e, node);
    case SCRIPT_FOR:
        if (!is_kernel_rules(e))
            return for_python(e, node);
        script_for_kernel(e, node);
        break;
    case SCRIPT_WHILE:
        if (!is_kernel_rules(e))
            return while_python(e, node);
        while_kernel(e, node);
        break;
    case SCRIPT_WITH:
        return script_with_items(e, node, 0);
    case SCRIPT_BREAK:
    case SCRIPT_CONTINUE:
        if (!is_kernel_rules(e))
            return node->kind == SCRIPT_BREAK ? SCRIPT_BREAK_LOOP : SCRIPT_CONTINUE_LOOP;
        script_jump(e, node->kind == SCRIPT_BREAK, node->span);
        break;
    case SCRIPT_PASS:
    case SCRIPT_ERROR:
        break;
    case SCRIPT_RETURN:
        return return_statement(e, node);
    case SCRIPT_ASSERT: {
        script_value condition = script_expression(e, node->a);
        script_check(e, condition, assert_message(e, node->b), node->span);
        break;
    }
    case SCRIPT_RAISE:
        raise_statement(e, node);
        return is_kernel_rules(e) ? SCRIPT_NEXT : SCRIPT_LEAVE;
    case SCRIPT_IMPORT:
    case SCRIPT_FROM_IMPORT:
        script_import(e, node);
        break;
    case SCRIPT_FUNCTION:
        script_define_function(e, node);
        break;
    case SCRIPT_CLASS:
        script_define_class(e, node);
        break;
    case SCRIPT_GLOBAL:
    case SCRIPT_NONLOCAL:
        if (is_kernel_rules(e)) { /* assignments there are stores of the kernel */
            base_diagnostic *d =
                script_error(e, "T0282", node->span, "%s in a kernel", script_node_name(node->kind));
            base_help(
                e->diagnostics, d,
                "a scalar around an inline function is assigned by its name alone; a value of the module is "
                "computed in a plain function");
        } else
            script_declare_elsewhere(e, node);
        break;
    case SCRIPT_TRY:
        return try_statement(e, node);
    case SCRIPT_DELETE:
        delete_statement(e, node);
        break;
    default:
        script_not_supported(e, node->span, "%s",
                             node->kind == SCRIPT_UNSUPPORTED && node->text ? node->text
                                                                            : script_node_name(node->kind));
        break;
    }
    return SCRIPT_NEXT;
}

static bool has_break(const script_nodes *body) {
    for (size_t i = 0; i < body->count; i++) {
        const script_node *s = body->items[i];
        bool inner = s->kind == SCRIPT_FOR || s->kind == SCRIPT_WHILE; /* whose break leaves it alone */
        bool has_body = inner || s->kind == SCRIPT_IF || s->kind == SCRIPT_WITH || s->kind == SCRIPT_TRY;
        /* a word may be break_loop() */
        if (s->kind == SCRIPT_BREAK || s->kind == SCRIPT_EXPRESSION_STATEMENT ||
            (has_body &&
             ((!inner && has_break(&s->body)) || (s->kind != SCRIPT_WITH && has_break(&s->orelse)))))
            return true;
    }
    return false;
}

/* Nothing behind the statement runs: a jump, a branch of which both sides end in one, a loop without an end.
 */
static bool leaves(const script_node *s);

static bool body_leaves(const script_nodes *body) {
    for (size_t i = 0; i < body->count; i++)
        if (leaves(body->items[i]))
            return true;
    return false;
}

static bool leaves(const script_node *s) {
    switch (s->kind) {
    case SCRIPT_RETURN:
    case SCRIPT_RAISE:
    case SCRIPT_BREAK:
    case SCRIPT_CONTINUE:
        return true;
    case SCRIPT_IF:
        return body_leaves(&s->body) && body_leaves(&s->orelse);
    case SCRIPT_WHILE:
        return s->a && (s->a->kind == SCRIPT_TRUE || (s->a->kind == SCRIPT_INTEGER && s->a->integer != 0)) &&
               !has_break(&s->body);
    default:
        return false;
    }
}

/* Behind a jump of the same body; said once for a body, however often it runs. */
static void warn_unreachable(script_evaluator *e, const script_nodes *body, size_t at) {
    const script_node *jump = body->items[at], *next = at + 1 < body->count ? body->items[at + 1] : NULL;
    if (!next || (jump->kind != SCRIPT_RETURN && jump->kind != SCRIPT_RAISE && jump->kind != SCRIPT_BREAK &&
                  jump->kind != SCRIPT_CONTINUE && jump->kind != SCRIPT_IF && jump->kind != SCRIPT_WHILE))
        return;
    if (base_map_get(e->unreachable, BASE_KEY(jump)))
        return;
    base_map_set(e->unreachable, BASE_KEY(jump), e);
    if (!leaves(jump))
        return;
    base_diagnostic *d = base_report(e->diagnostics, BASE_WARNING, "T0388", next->span,
                                     "this is never reached: the statement before it leaves the block");
    base_note(e->diagnostics, d, jump->span, "the block ends here");
}

script_flow script_statements(script_evaluator *e, const script_nodes *body) {
    base_span outer = e->statement;
    script_flow flow = SCRIPT_NEXT;
    bool goes_on = e->calls == 0 && e->bodies == e->first_body;
    e->bodies++;
    for (size_t i = 0; i < body->count && flow == SCRIPT_NEXT; i++) {
        if (!script_enter(e, body->items[i]->span))
            break;
        /* inside a plain function the kernel's own statement stays the place of what is built */
        if (!e->is_python || !script_in_kernel(e))
            e->statement = body->items[i]->span;
        flow = statement(e, body->items[i]);
        script_leave(e);
        warn_unreachable(e, body, i);
        if (goes_on)
            e->unwinding = false;
    }
    e->bodies--;
    e->statement = outer;
    return flow;
}
