/* SPDX-License-Identifier: Apache-2.0
 * Statements in the builder's style: with T.If(c): with T.Then(): ... with T.Else(): ..., with T.While(c):,
 * with T.serial(n) as i:. They build what the plain statements build, also from a plain function that a
 * kernel calls. The words only make a frame; script_with_frame opens it. Knows nothing of other things that
 * stand in a with (script_statement.c). */
#include "script/script_evaluate.h"

typedef struct script_frame {
    script_frame_kind kind;
    const ir_expr *condition;
    base_span span;
    bool has_registers, increase; /* of a role */
    script_value registers;
} script_frame;

/* What T.If opened: Then and Else stand directly in its body, and nothing else does. */
struct script_choice {
    ir_stmt *branch, *outside;
    bool has_then, has_else;
};

static script_value frame_value(script_evaluator *e, script_frame_kind kind, const ir_expr *condition,
                                base_span span) {
    script_value v = {.kind = SCRIPT_VALUE_FRAME};
    v.as.frame = BASE_NEW(e->arena, script_frame);
    *v.as.frame = (script_frame){.kind = kind, .condition = condition, .span = span};
    return v;
}

script_value script_word_frame(script_evaluator *e, const script_call *call) {
    script_frame_kind kind = (script_frame_kind)call->word->data;
    const ir_expr *condition = NULL;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (kind == SCRIPT_FRAME_IF || kind == SCRIPT_FRAME_WHILE) {
        condition = script_is_poison(call->value[0])
                        ? NULL
                        : script_to_condition(e, call->value[0], call->place[0],
                                              kind == SCRIPT_FRAME_IF ? "the test of an if"
                                                                      : "the condition of a while");
        if (condition && condition->type.lanes != 1) {
            script_error(e, "T0234", call->place[0], "the condition is one truth value, not a vector");
            condition = NULL;
        }
        if (!condition)
            condition = ir_bool(e->module, false); /* reported; the body still shows its errors */
    }
    return frame_value(e, kind, condition, call->span);
}

/* WarpRole(warp, 1, regs=48): the part of one warp or of a range (start, stop) of warpgroups, which may begin
 * with a change of their registers. */
script_value script_word_role(script_evaluator *e, const script_call *call) {
    script_value index = call->value[0], wanted = call->value[1], test;
    const script_value *registers = script_argument_of(call, "regs");
    const script_value *increase = script_argument_of(call, "increase");
    bool is_increase = false;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    if (increase && !script_constant_bool(e, *increase, &is_increase, script_argument_span(call, "increase"),
                                          "the direction of the register change"))
        return script_poison();
    if (wanted.kind == SCRIPT_VALUE_TUPLE && wanted.as.list->items.count == 2) {
        const script_value *range = wanted.as.list->items.items;
        script_value above = script_compare(e, SCRIPT_OP_LE, range[0], index, call->span);
        test = script_logic(e, SCRIPT_OP_AND, above,
                            script_compare(e, SCRIPT_OP_LT, index, range[1], call->span), call->span);
    } else if (!script_to_expr(e, wanted, call->place[1])) {
        return script_poison();
    } else
        test = script_compare(e, SCRIPT_OP_EQ, index, wanted, call->span);
    const ir_expr *condition =
        script_is_poison(test) ? NULL : script_to_condition(e, test, call->place[0], "the test of a role");
    script_value v =
        frame_value(e, SCRIPT_FRAME_ROLE, condition ? condition : ir_bool(e->module, false), call->span);
    v.as.frame->has_registers = registers && registers->kind != SCRIPT_VALUE_NONE;
    v.as.frame->increase = is_increase;
    if (v.as.frame->has_registers)
        v.as.frame->registers = *registers;
    return v;
}

script_value script_word_bind(script_evaluator *e, const script_call *call) {
    const script_value *type = script_argument_of(call, "ty");
    const ir_expr *value;
    ir_type wanted;
    if (!script_need_kernel(e, call->span, call->word->path))
        return script_poison();
    value = script_to_expr(e, call->value[0], call->place[0]);
    if (value && type && type->kind != SCRIPT_VALUE_NONE) {
        if (!script_to_dtype(e, *type, &wanted, script_argument_span(call, "ty")))
            return script_poison();
        value = script_cast(e, value, wanted, call->place[0]);
    }
    if (!value)
        return script_poison();
    script_value v = script_expr(value);
    v.flag = true; /* the assignment binds it, once and for good */
    return v;
}

script_value script_word_refused(script_evaluator *e, const script_call *call) {
    base_diagnostic *d =
        script_error(e, "T0282", call->name_span, "a kernel script has no %s", call->word->path);
    base_help(e->diagnostics, d, "instead: %s", call->word->summary);
    return script_poison();
}

/* The items of a with after this one, and its body, in a block of their own. */
static script_flow fill(script_evaluator *e, ir_stmt *block, const script_node *node, size_t from) {
    ir_stmt *outer = e->block;
    script_flow flow = SCRIPT_NEXT;
    if (!script_deeper(e, 1, node->span))
        return SCRIPT_NEXT;
    e->block = block;
    if (!e->is_python)
        script_scope_open(e, false);
    flow = script_with_items(e, node, from);
    if (!e->is_python)
        script_scope_close(e);
    e->block = outer;
    e->ir_depth--;
    return flow;
}

static script_flow open_choice(script_evaluator *e, const script_frame *frame, const script_node *node,
                               size_t from) {
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_IF, e->statement);
    ir_stmt *between = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    statement->as.branch.condition = frame->condition;
    statement->as.branch.then_body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    struct script_choice choice = {.branch = statement, .outside = between}, *outer = e->choice;
    e->choice = &choice;
    script_flow flow = fill(e, between, node, from);
    e->choice = outer;
    if (between->as.block.body.count > 0 || !choice.has_then) {
        base_diagnostic *d =
            script_error(e, "T0288", frame->span,
                         choice.has_then ? "a statement directly in T.If, outside T.Then and T.Else"
                                         : "T.If without T.Then");
        base_help(e->diagnostics, d, "with T.If(condition): with T.Then(): ... with T.Else(): ...");
    }
    return flow;
}

static script_flow open_side(script_evaluator *e, const script_frame *frame, const script_node *node,
                             size_t from) {
    struct script_choice *choice = e->choice;
    bool is_then = frame->kind == SCRIPT_FRAME_THEN;
    const char *name = is_then ? "T.Then" : "T.Else";
    ir_stmt *block = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    if (!choice || choice->outside != e->block) {
        base_diagnostic *d = script_error(e, "T0288", frame->span, "%s not directly in T.If", name);
        base_help(e->diagnostics, d, "with T.If(condition): with T.Then(): ... with T.Else(): ...");
    } else if (is_then ? choice->has_then : choice->has_else) {
        script_error(e, "T0288", frame->span, "a second %s of one T.If", name);
    } else if (is_then) {
        choice->has_then = true;
        block = choice->branch->as.branch.then_body;
    } else {
        choice->has_else = true;
        choice->branch->as.branch.else_body = block;
    }
    return fill(e, block, node, from);
}

static script_flow open_role(script_evaluator *e, const script_frame *frame, const script_node *node,
                             size_t from) {
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_IF, e->statement), *outer = e->block;
    statement->as.branch.condition = frame->condition;
    statement->as.branch.then_body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    if (frame->has_registers) {
        script_value word = {.kind = SCRIPT_VALUE_WORD, .as.word = script_word_find("ptx.setmaxnreg")};
        script_arguments arguments = {0};
        base_vector_push(e->arena, &arguments.items,
                         (script_argument){.value = script_bool(frame->increase), .span = frame->span});
        base_vector_push(e->arena, &arguments.items,
                         (script_argument){.value = frame->registers, .span = frame->span});
        e->block = statement->as.branch.then_body;
        script_call_value(e, word, &arguments, NULL, frame->span, frame->span);
        e->block = outer;
    }
    return fill(e, statement->as.branch.then_body, node, from);
}

static script_flow open_while(script_evaluator *e, const script_frame *frame, const script_node *node,
                              size_t from, size_t before) {
    ir_stmt *statement = ir_stmt_create(e->module, IR_STMT_WHILE, e->statement);
    if (e->block->as.block.body.count != before)
        script_error(
            e, "T0245", frame->span,
            "the condition of a while is evaluated every round: it cannot hold a reduction or a view");
    statement->as.while_loop.condition = frame->condition;
    statement->as.while_loop.body = ir_stmt_create(e->module, IR_STMT_BLOCK, node->span);
    script_emit(e, statement);
    base_vector_push(e->arena, &e->nest, SCRIPT_NEST_WHILE);
    script_flow flow = fill(e, statement->as.while_loop.body, node, from);
    e->nest.count--;
    return flow;
}

/* A for whose iterable is known: the rest of the with is its body. */
static script_flow open_loop(script_evaluator *e, script_value loop, const script_node *node, size_t from) {
    const script_node *item = node->items.items[from - 1];
    if (!item->b) {
        base_diagnostic *d =
            script_error(e, "T0288", item->a->span, "with a loop and no name for its variable");
        base_help(e->diagnostics, d, "with ... as i:");
        return script_with_items(e, node, from);
    }
    script_node *loop_node = BASE_NEW(e->arena, script_node);
    *loop_node = (script_node){.kind = SCRIPT_FOR, .span = node->span, .a = item->b, .b = item->a};
    if (from == node->items.count)
        loop_node->body = node->body;
    else {
        script_node *rest = BASE_NEW(e->arena, script_node);
        *rest = *node;
        rest->items = (script_nodes){0};
        for (size_t i = from; i < node->items.count; i++)
            script_nodes_add(e->arena, &rest->items, node->items.items[i]);
        script_nodes_add(e->arena, &loop_node->body, rest);
    }
    script_for_loop(e, loop_node, loop.as.loop);
    return SCRIPT_NEXT;
}

script_flow script_with_frame(script_evaluator *e, script_value v, const script_node *node, size_t from,
                              size_t before) {
    if (v.kind == SCRIPT_VALUE_LOOP)
        return open_loop(e, v, node, from);
    if (node->items.items[from - 1]->b) {
        base_diagnostic *d = script_error(e, "T0288", node->items.items[from - 1]->b->span,
                                          "this frame gives no value that could have a name");
        base_help(e->diagnostics, d, "leave out `as` and the name");
    }
    const script_frame *frame = v.as.frame;
    switch (frame->kind) {
    case SCRIPT_FRAME_IF:
        return open_choice(e, frame, node, from);
    case SCRIPT_FRAME_THEN:
    case SCRIPT_FRAME_ELSE:
        return open_side(e, frame, node, from);
    case SCRIPT_FRAME_ROLE:
        return open_role(e, frame, node, from);
    case SCRIPT_FRAME_WHILE:
        break;
    }
    return open_while(e, frame, node, from, before);
}

void script_frame_unopened(script_evaluator *e, script_value v) {
    if (!v.as.frame)
        return;
    base_diagnostic *d = script_error(e, "T0288", v.as.frame->span, "a frame that no with opens");
    base_help(e->diagnostics, d, "with T.If(condition): with T.Then(): ...; with T.While(condition): ...");
}
