/* SPDX-License-Identifier: Apache-2.0
 * Statements to instructions: structured control becomes forward branches and do-while loops. */
#include "assemble/ptx_build_internal.h"
#include "num/num.h"

static void statement(ptx_builder *b, const ir_stmt *s);

enum { MAXIMUM_NESTING = 400, SMALL_CONDITION = 12 };

static ptx_operand always(void) {
    return (ptx_operand){0};
}

/* ---- expressions of one statement ---- */

/* Opens the statement's own values: what reads memory may be reused inside it unless something in it writes.
 */
static void begin(ptx_builder *b, const ir_stmt *s, const ir_expr *const *roots, size_t count) {
    if (s->span.file)
        b->span = s->span;
    ptx_build_forget_fleeting(b);
    b->keep_fleeting = true;
    for (size_t i = 0; i < count; i++)
        if (ptx_build_traits(roots[i]) & PTX_TRAIT_EFFECT)
            b->keep_fleeting = false;
    ptx_build_count_uses(b, roots, count);
}

static void end(ptx_builder *b) {
    ptx_build_forget_fleeting(b);
    b->want = NULL;
}

static bool is_pointer(const ir_var *var) {
    return var->type.kind == IR_TYPE_POINTER;
}

static void bind_pointer(ptx_builder *b, const ir_var *var, const ir_expr *value) {
    ptx_build_address *address = BASE_NEW(b->arena, ptx_build_address);
    *address = ptx_build_address_of(b, value);
    address->space = ptx_build_space((ir_scope)var->type.scope);
    if (ptx_build_is_mutable(b, address->base)) {
        ptx_build_class class = ptx_build_class_of(var->type);
        ptx_operand copy = ptx_build_register(b, class);
        ptx_build_move(b, class, copy, address->base);
        address->base = copy;
    }
    base_map_set(b->addresses, (uint64_t)var->id + 1, address);
}

static void let(ptx_builder *b, const ir_stmt *s) {
    const ir_var *var = s->as.let.var;
    const ir_expr *value = s->as.let.value;
    begin(b, s, &value, 1);
    if (is_pointer(var)) {
        bind_pointer(b, var, value);
        end(b);
        return;
    }
    const ptx_operand *operands = ptx_build_value(b, value);
    unsigned lanes = value->type.kind == IR_TYPE_PRIM && value->type.lanes > 1 ? value->type.lanes : 1;
    ptx_operand *kept = BASE_NEW_ARRAY(b->arena, ptx_operand, lanes);
    ptx_build_class class = ptx_build_class_of(value->type);
    for (unsigned i = 0; i < lanes; i++) {
        kept[i] = operands[i];
        if (!ptx_build_is_mutable(b, operands[i]))
            continue;
        /* The variable keeps this value when the register takes the next one. */
        kept[i] = ptx_build_register(b, class);
        ptx_build_move(b, class, kept[i], operands[i]);
    }
    ptx_build_bind(b, var, kept);
    end(b);
}

static void assign(ptx_builder *b, const ir_stmt *s) {
    const ir_expr *value = s->as.assign.value;
    begin(b, s, &value, 1);
    const ptx_operand *registers = ptx_build_mutable(b, s->as.assign.var);
    if (is_pointer(s->as.assign.var)) {
        b->want = registers;
        ptx_build_address address = ptx_build_address_of(b, value);
        b->want = registers;
        ptx_operand pointer = ptx_build_pointer_value(b, address);
        b->want = NULL;
        ptx_build_move(b, ptx_build_class_of(value->type), registers[0], pointer);
    } else {
        ptx_build_value_into(b, value, registers);
    }
    end(b);
}

static void store(ptx_builder *b, const ir_stmt *s) {
    const ir_expr *roots[3] = {s->as.pointer_store.base, s->as.pointer_store.index,
                               s->as.pointer_store.value};
    begin(b, s, roots, 3);
    ptx_build_store(b, s);
    end(b);
}

static void evaluate(ptx_builder *b, const ir_stmt *s) {
    const ir_expr *value = s->as.evaluate.value;
    if (!(ptx_build_traits(value) & PTX_TRAIT_EFFECT))
        return;
    begin(b, s, &value, 1);
    if (ir_op_information(value->op)->flags & (IR_FLAG_WRITES | IR_FLAG_SYNC))
        ptx_build_effect(b, value, false);
    else
        ptx_build_value(b, value);
    end(b);
}

/* ---- conditions ---- */

static ptx_operand condition(ptx_builder *b, const ir_stmt *s, const ir_expr *e) {
    begin(b, s, &e, 1);
    ptx_operand predicate = ptx_build_predicate(b, e);
    end(b);
    return predicate;
}

/* Branches to the label when e is false; conjunctions branch part by part, negations turn the branch round.
 */
static void branch_unless(ptx_builder *b, const ir_stmt *s, const ir_expr *e, ptx_label *label) {
    bool negated = true;
    while (e->op == IR_NOT) {
        e = e->args[0];
        negated = !negated;
    }
    if (negated && e->op == IR_AND && e->type.lanes <= 1) {
        branch_unless(b, s, e->args[0], label);
        branch_unless(b, s, e->args[1], label);
        return;
    }
    ptx_build_branch(b, condition(b, s, e), negated, label);
}

static bool is_constant(const ir_expr *e, bool *value) {
    int64_t number;
    if (!ir_is_int(e, &number))
        return false;
    *value = number != 0;
    return true;
}

/* ---- control ---- */

static void scoped(ptx_builder *b, const ir_stmt *body) {
    ptx_build_mark mark = ptx_build_scope_open(b);
    statement(b, body);
    ptx_build_scope_close(b, mark);
}

/* The one jump that a body consists of, so that the condition can branch there itself. */
static ptx_label *jump_of(ptx_builder *b, const ir_stmt *body) {
    while (body && body->kind == IR_STMT_BLOCK && body->as.block.body.count == 1)
        body = body->as.block.body.items[0];
    if (!body)
        return NULL;
    if (body->kind == IR_STMT_BREAK && b->loop) {
        b->loop->end_used = true;
        return b->loop->end;
    }
    if (body->kind == IR_STMT_CONTINUE && b->loop) {
        b->loop->next_used = true;
        return b->loop->next;
    }
    if (body->kind == IR_STMT_RETURN) {
        b->end_used = true;
        return b->end;
    }
    return NULL;
}

static bool leaves(const ir_stmt *body) {
    while (body->kind == IR_STMT_BLOCK && body->as.block.body.count)
        body = body->as.block.body.items[body->as.block.body.count - 1];
    return body->kind == IR_STMT_BREAK || body->kind == IR_STMT_CONTINUE || body->kind == IR_STMT_RETURN;
}

static bool is_empty(const ir_stmt *body) {
    return !body || (body->kind == IR_STMT_BLOCK && body->as.block.body.count == 0);
}

static void branch(ptx_builder *b, const ir_stmt *s) {
    const ir_stmt *then_body = s->as.branch.then_body, *else_body = s->as.branch.else_body;
    bool known;
    if (is_constant(s->as.branch.condition, &known)) {
        if (known || else_body)
            scoped(b, known ? then_body : else_body);
        return;
    }
    ptx_label *jump = is_empty(else_body) ? jump_of(b, then_body) : NULL;
    if (jump) {
        ptx_build_branch(b, condition(b, s, s->as.branch.condition), false, jump);
        return;
    }
    ptx_label *other = ptx_build_label(b, "else");
    /* What only the later parts of a conjunction compute is not there on the other side. */
    ptx_build_mark mark = ptx_build_scope_open(b);
    branch_unless(b, s, s->as.branch.condition, other);
    scoped(b, then_body);
    if (s->as.branch.condition->op == IR_AND)
        ptx_build_scope_close(b, mark);
    if (is_empty(else_body)) {
        ptx_build_place(b, other);
        return;
    }
    ptx_label *after = ptx_build_label(b, "endif");
    if (!leaves(then_body))
        ptx_build_branch(b, always(), false, after);
    ptx_build_place(b, other);
    scoped(b, else_body);
    ptx_build_place(b, after);
}

static ptx_build_loop loop_open(ptx_builder *b) {
    return (ptx_build_loop){b->loop, ptx_build_label(b, "next"), ptx_build_label(b, "endloop"), false, false};
}

static void loop_body(ptx_builder *b, ptx_build_loop *loop, const ir_stmt *body) {
    b->loop = loop;
    scoped(b, body);
    b->loop = loop->outer;
    if (loop->next_used)
        ptx_build_place(b, loop->next);
}

/* Both parts of the trip test as operands: the counter stops at start + extent. */
static void for_loop(ptx_builder *b, const ir_stmt *s) {
    const ir_expr *start = s->as.loop.start, *extent = s->as.loop.extent;
    ir_type type = s->as.loop.var->type;
    ptx_build_class class = ptx_build_class_of(type);
    int64_t first, count = 0, stride = 1;
    ir_is_int(s->as.loop.step, &stride);
    bool constant_extent = ir_is_int(extent, &count);
    if (constant_extent && count <= 0)
        return;
    const ir_expr *roots[2] = {start, extent};
    begin(b, s, roots, 2);
    /* Not a mutable variable: within one round it keeps its value. */
    ptx_operand register_of_counter = ptx_build_register(b, class);
    const ptx_operand *counter = base_arena_copy(b->arena, &register_of_counter, sizeof(register_of_counter));
    ptx_build_bind(b, s->as.loop.var, counter);
    ptx_operand begin_value = ptx_build_scalar(b, start), length = ptx_build_scalar(b, extent);
    ptx_operand stop = ir_is_int(start, &first) && first == 0
                           ? length
                           : ptx_build_binary(b, IR_ADD, type, begin_value, length);
    if (ir_is_int(start, &first) && constant_extent)
        stop = ptx_build_int(num_wrap(type.dtype, first + count));
    else if (ptx_build_is_mutable(b, stop)) {
        ptx_operand kept = ptx_build_register(b, class);
        ptx_build_move(b, class, kept, stop);
        stop = kept;
    }
    ptx_build_loop loop = loop_open(b);
    if (!constant_extent) {
        loop.end_used = true;
        ptx_operand none = ptx_build_compare(b, IR_LE, type, length, ptx_build_int(0));
        ptx_build_branch(b, none, false, loop.end);
    }
    ptx_build_move(b, class, counter[0], begin_value);
    end(b);
    ptx_label *again = ptx_build_label(b, "loop");
    ptx_build_place(b, again);
    loop_body(b, &loop, s->as.loop.body);
    if (!(constant_extent && count <= stride) || loop.next_used) {
        ptx_mod sum = class == PTX_CLASS_R64 ? PTX_MOD_S64 : PTX_MOD_S32;
        ptx_build_emit(b, PTX_OP_ADD, PTX_MODS(sum), PTX_ARGS(counter[0], counter[0], ptx_build_int(stride)));
        ptx_build_branch(b, ptx_build_compare(b, IR_LT, type, counter[0], stop), false, again);
    }
    if (loop.end_used)
        ptx_build_place(b, loop.end);
}

static void count_operations(void *user, const ir_expr *e) {
    (void)e;
    ++*(unsigned *)user;
}

/* while: tested once before and again after each round, so that a round has one branch; a condition too large
 * to write twice stands at the head instead. */
static void while_loop(ptx_builder *b, const ir_stmt *s) {
    const ir_expr *test = s->as.while_loop.condition;
    unsigned size = 0;
    bool known = false, endless = is_constant(test, &known) && known;
    if (is_constant(test, &known) && !known)
        return;
    ir_expr_visit(test, count_operations, &size);
    bool twice = size <= SMALL_CONDITION && !endless;
    ptx_build_loop loop = loop_open(b);
    ptx_label *again = ptx_build_label(b, "while");
    if (!twice)
        ptx_build_place(b, again);
    ptx_build_mark mark = ptx_build_scope_open(b);
    if (!endless) {
        branch_unless(b, s, test, loop.end);
        loop.end_used = true;
    }
    if (twice) {
        ptx_build_scope_close(b, mark);
        ptx_build_place(b, again);
        mark = ptx_build_scope_open(b);
    }
    loop_body(b, &loop, s->as.while_loop.body);
    ptx_build_scope_close(b, mark);
    if (twice) {
        mark = ptx_build_scope_open(b);
        ptx_build_branch(b, condition(b, s, test), false, again);
        ptx_build_scope_close(b, mark);
    } else {
        ptx_build_branch(b, always(), false, again);
    }
    if (loop.end_used)
        ptx_build_place(b, loop.end);
}

static void jump(ptx_builder *b, const ir_stmt *s) {
    ptx_label *target = jump_of(b, s);
    if (s->span.file)
        b->span = s->span;
    if (target)
        ptx_build_branch(b, always(), false, target);
}

static void block(ptx_builder *b, const ir_stmt *s) {
    for (size_t i = 0; i < s->as.block.body.count; i++) {
        const ir_stmt *inner = s->as.block.body.items[i];
        statement(b, inner);
        /* Nothing runs after a jump, and ptxas takes unreachable code for a mistake in loops. */
        if (inner->kind == IR_STMT_BREAK || inner->kind == IR_STMT_CONTINUE || inner->kind == IR_STMT_RETURN)
            return;
    }
}

static void statement(ptx_builder *b, const ir_stmt *s) {
    if (b->depth > MAXIMUM_NESTING) {
        ptx_build_error(b, "T0651", "statements are nested deeper than %d levels", MAXIMUM_NESTING);
        return;
    }
    b->depth++;
    switch (s->kind) {
    case IR_STMT_BLOCK:
        block(b, s);
        break;
    case IR_STMT_LET:
        let(b, s);
        break;
    case IR_STMT_ASSIGN:
        assign(b, s);
        break;
    case IR_STMT_POINTER_STORE:
        store(b, s);
        break;
    case IR_STMT_EVALUATE:
        evaluate(b, s);
        break;
    case IR_STMT_IF:
        branch(b, s);
        break;
    case IR_STMT_FOR:
        for_loop(b, s);
        break;
    case IR_STMT_WHILE:
        while_loop(b, s);
        break;
    case IR_STMT_BREAK:
    case IR_STMT_CONTINUE:
    case IR_STMT_RETURN:
        jump(b, s);
        break;
    case IR_STMT_ALLOCATE: /* storage is made where the tensor is first used */
        break;
    case IR_STMT_DECLARE:
    case IR_STMT_STORE:
        ptx_build_error(b, "T0650", "a tensor statement reached the PTX writer: this is a bug in tirc");
        break;
    }
    b->depth--;
}

void ptx_build_block(ptx_builder *b, const ir_stmt *body) {
    statement(b, body);
}
