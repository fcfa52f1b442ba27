/* SPDX-License-Identifier: Apache-2.0
 * The launch plan: the map of shared memory, its bytes, what the launch asks for, and where local tensors go.
 * In: flat form, dead code gone. Out: the same; only the plan is written. Must not know what a device offers
 * beyond the fixed limits of the programming model. */
#include "lower/lower_internal.h"

/* CUDA C++ Programming Guide, technical specifications: local memory per thread, the same on every
 * architecture we target; static shared memory likewise. */
enum { LOCAL_LIMIT = 512 * 1024 };

/* ---- local tensors ---- */
typedef struct local_question {
    const ir_tensor *tensor;
    base_builder text;
    const char *why; /* first reason against registers */
} local_question;

static bool is_data_of(const ir_expr *e, const ir_tensor *tensor) {
    return e->op == IR_DATA && e->at.tensor == tensor;
}

static void judge_index(local_question *q, const ir_expr *base, const ir_expr *index) {
    if (q->why)
        return;
    if (base->op == IR_REINTERPRET && is_data_of(base->args[0], q->tensor)) {
        q->why = "accessed as another element type";
    } else if (is_data_of(base, q->tensor) && !ir_is_int(index, NULL)) {
        base_builder_string(&q->text, "indexed at run time by ");
        ir_expr_print(index, &q->text);
        q->why = q->text.data;
    }
}

static void judge_expression(void *user, const ir_expr *e) {
    local_question *q = user;
    if (e->op == IR_POINTER_LOAD) {
        judge_index(q, e->args[0], e->args[1]);
        return;
    }
    for (uint32_t i = 0; i < e->count && !q->why; i++)
        if (is_data_of(e->args[i], q->tensor) && e->op != IR_REINTERPRET)
            q->why = "its address is taken";
}

static void judge_operand(void *user, const ir_expr **e) {
    local_question *q = user;
    if (is_data_of(*e, q->tensor) && !q->why)
        q->why = "its address is taken";
    ir_expr_visit(*e, judge_expression, user);
}

static void judge_statement(void *user, ir_stmt *s) {
    local_question *q = user;
    if (s->kind != IR_STMT_POINTER_STORE) {
        ir_stmt_expressions(s, judge_operand, user);
        return;
    }
    const ir_expr *operands[] = {s->as.pointer_store.index, s->as.pointer_store.value};
    judge_index(q, s->as.pointer_store.base, s->as.pointer_store.index);
    judge_operand(q, &operands[0]);
    judge_operand(q, &operands[1]);
}

bool lower_local_is_static(const ir_function *function, const ir_tensor *tensor, const char **reason) {
    local_question q = {.tensor = tensor};
    base_builder_start(&q.text, function->module->arena);
    lower_visit_statements(function->body, judge_statement, &q);
    *reason = q.why ? q.why : "every index is a constant";
    return !q.why;
}

/* ---- storage ---- */
static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

static void plan_shared(lower_context *context, const ir_stmt *s, uint64_t bytes) {
    lower_plan *plan = context->plan;
    const ir_tensor *tensor = s->as.allocate.tensor;
    lower_shared row = {.name = tensor->name,
                        .dynamic = tensor->type.scope == IR_SCOPE_SHARED_DYN,
                        .bytes = bytes,
                        .align = tensor->type.align,
                        .tensor = tensor,
                        .span = tensor->span};
    if (row.dynamic) {
        plan->dynamic_smem_bytes = bytes;
    } else {
        row.offset = align_up(plan->static_smem_bytes, row.align);
        row.padding = row.offset - plan->static_smem_bytes;
        plan->static_smem_bytes = row.offset + bytes;
    }
    base_vector_push(context->arena, &plan->shared, row);
    if (row.dynamic || plan->static_smem_bytes <= LOWER_STATIC_SHARED_LIMIT)
        return;
    base_diagnostic *d =
        base_report(context->diagnostics, BASE_ERROR, "T0416", s->span,
                    "static shared memory reaches %llu bytes with '%s', over the limit of %d",
                    (unsigned long long)plan->static_smem_bytes, tensor->name, LOWER_STATIC_SHARED_LIMIT);
    base_help(context->diagnostics, d,
              "allocate one arena with scope \"shared.dyn\" and declare views into it");
}

static void plan_local(lower_context *context, const ir_stmt *s, uint64_t bytes) {
    const ir_tensor *tensor = s->as.allocate.tensor;
    lower_local row = {.name = tensor->name, .span = tensor->span};
    row.in_registers = lower_local_is_static(context->function, tensor, &row.reason);
    base_vector_push(context->arena, &context->plan->locals, row);
    if (bytes > LOCAL_LIMIT)
        base_report(context->diagnostics, BASE_ERROR, "T0418", s->span,
                    "'%s' takes %llu bytes of local memory in every thread, over the limit of %d",
                    tensor->name, (unsigned long long)bytes, LOCAL_LIMIT);
}

static void plan_statement(void *user, ir_stmt *s) {
    lower_context *context = user;
    uint64_t elements;
    if (s->kind != IR_STMT_ALLOCATE || s->as.allocate.tensor->type.scope == IR_SCOPE_TMEM ||
        !lower_footprint(context, s->as.allocate.tensor, s->span, &elements))
        return;
    uint64_t bytes = lower_bytes(&s->as.allocate.tensor->type, elements);
    if (s->as.allocate.tensor->type.scope == IR_SCOPE_LOCAL)
        plan_local(context, s, bytes);
    else
        plan_shared(context, s, bytes);
}

/* ---- what the launch asks for ---- */
static void check_dynamic(lower_context *context, const ir_launch *launch) {
    lower_plan *plan = context->plan;
    int64_t asked;
    if (!launch->dynamic_smem_bytes || !ir_is_int(launch->dynamic_smem_bytes, &asked))
        return;
    if (asked >= 0 && (uint64_t)asked >= plan->dynamic_smem_bytes) {
        plan->dynamic_smem_bytes = (uint64_t)asked;
        return;
    }
    base_diagnostic *d =
        base_report(context->diagnostics, BASE_ERROR, "T0417", launch->span,
                    "dynamic_smem_bytes is %lld, but the kernel's shared.dyn tensor needs %llu",
                    (long long)asked, (unsigned long long)plan->dynamic_smem_bytes);
    base_help(context->diagnostics, d, "leave dynamic_smem_bytes out, or ask for at least what is needed");
}

static void check_attributes(lower_context *context, const ir_launch *launch) {
    base_diagnostics *diagnostics = context->diagnostics;
    if (launch->max_registers && launch->min_blocks_per_sm)
        base_report(
            diagnostics, BASE_ERROR, "T0420", launch->span,
            "a register cap and launch bounds cannot both be given: each fixes the registers per thread");
    if (launch->max_blocks_per_cluster && !launch->min_blocks_per_sm)
        base_report(
            diagnostics, BASE_ERROR, "T0420", launch->span,
            "max_blocks_per_cluster needs min_blocks_per_sm, which stands before it in launch bounds");
    if (launch->max_registers < 0 || launch->min_blocks_per_sm < 0 || launch->max_blocks_per_cluster < 0)
        base_report(diagnostics, BASE_ERROR, "T0420", launch->span, "kernel attributes must be positive");
}

/* A barrier of the grid needs every CTA to be there. */
static void find_grid_barrier(void *user, const ir_expr *e) {
    bool *found = user;
    *found = *found || e->op == IR_GRID_SYNC;
}

static void look_for_grid_barrier(void *user, ir_stmt *s) {
    if (s->kind == IR_STMT_EVALUATE)
        ir_expr_visit(s->as.evaluate.value, find_grid_barrier, user);
}

void lower_launch(lower_context *context) {
    context->facts = arith_facts_create_later(context->arena, context->function);
    lower_visit_statements(context->function->body, plan_statement, context);
    lower_lifetimes(context);
    const ir_launch *launch = &context->function->launch;
    bool cooperative = false;
    lower_visit_statements(context->function->body, look_for_grid_barrier, &cooperative);
    context->function->launch.cooperative |= cooperative;
    if (!launch->present)
        return;
    check_dynamic(context, launch);
    check_attributes(context, launch);
}
