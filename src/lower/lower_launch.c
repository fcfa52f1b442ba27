/* SPDX-License-Identifier: Apache-2.0
 * The launch plan: the map of shared memory, its bytes, what the launch asks for, and where local tensors go.
 * In: flat form, dead code gone. Out: the same; only the plan is written. Must not know what a device offers
 * beyond the fixed limits of the programming model. */
#include "lower/lower_internal.h"

/* CUDA C++ Programming Guide, technical specifications: local memory per thread, the same on every
 * architecture we target; static shared memory likewise. */
enum { LOCAL_LIMIT = 512 * 1024 };

/* ---- local tensors ---- */
struct lower_locals {
    base_arena *arena;
    base_map *reasons; /* ir_tensor id + 1 -> first reason against registers */
    ir_memo *met;
};

static void refuse(lower_locals *locals, const ir_tensor *tensor, const char *reason) {
    uint64_t key = (uint64_t)tensor->id + 1;
    if (!base_map_get(locals->reasons, key))
        base_map_set(locals->reasons, key, (void *)(uintptr_t)reason);
}

static bool is_local(const ir_expr *e) {
    return e->op == IR_DATA && e->at.tensor->type.scope == IR_SCOPE_LOCAL;
}

static void judge_index(lower_locals *locals, const ir_expr *base, const ir_expr *index) {
    if (base->op == IR_REINTERPRET && is_local(base->args[0])) {
        refuse(locals, base->args[0]->at.tensor, "accessed as another element type");
    } else if (is_local(base) && !ir_is_int(index, NULL) &&
               !base_map_get(locals->reasons, (uint64_t)base->at.tensor->id + 1)) {
        base_builder text;
        base_builder_start(&text, locals->arena);
        base_builder_string(&text, "indexed at run time by ");
        ir_expr_print(index, &text);
        refuse(locals, base->at.tensor, text.data);
    }
}

static void judge_expression(void *user, const ir_expr *e) {
    if (e->op == IR_POINTER_LOAD) {
        judge_index(user, e->args[0], e->args[1]);
        return;
    }
    for (uint32_t i = 0; i < e->count && e->op != IR_REINTERPRET; i++)
        if (is_local(e->args[i]))
            refuse(user, e->args[i]->at.tensor, "its address is taken");
}

static void judge_operand(void *user, const ir_expr **e) {
    lower_locals *locals = user;
    if (is_local(*e))
        refuse(locals, (*e)->at.tensor, "its address is taken");
    static const ir_where tensors = {.effects = IR_INSIDE_TENSOR};
    ir_expr_visit_new_where(locals->met, *e, &tensors, judge_expression, locals);
}

static void judge_statement(void *user, ir_stmt *s) {
    if (s->kind != IR_STMT_POINTER_STORE) {
        ir_stmt_expressions(s, judge_operand, user);
        return;
    }
    const ir_expr *operands[] = {s->as.pointer_store.index, s->as.pointer_store.value};
    judge_index(user, s->as.pointer_store.base, s->as.pointer_store.index);
    judge_operand(user, &operands[0]);
    judge_operand(user, &operands[1]);
}

lower_locals *lower_judge_locals(const ir_function *function) {
    base_arena *arena = function->module->arena;
    lower_locals *locals = BASE_NEW(arena, lower_locals);
    *locals = (lower_locals){arena, base_map_create(arena), ir_memo_open(function->module)};
    lower_visit_statements(function->body, judge_statement, locals);
    ir_memo_close(locals->met);
    return locals;
}

bool lower_local_is_static(const lower_locals *locals, const ir_tensor *tensor, const char **reason) {
    const char *why = base_map_get(locals->reasons, (uint64_t)tensor->id + 1);
    *reason = why ? why : "every index is a constant";
    return !why;
}

/* ---- storage ---- */
typedef struct plan_state {
    lower_context *context;
    lower_locals *locals; /* NULL: nobody asked */
} plan_state;

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

static void plan_local(plan_state *state, const ir_stmt *s, uint64_t bytes) {
    lower_context *context = state->context;
    const ir_tensor *tensor = s->as.allocate.tensor;
    lower_local row = {.name = tensor->name, .span = tensor->span};
    if (!state->locals)
        state->locals = lower_judge_locals(context->function);
    row.in_registers = lower_local_is_static(state->locals, tensor, &row.reason);
    base_vector_push(context->arena, &context->plan->locals, row);
    if (bytes > LOCAL_LIMIT)
        base_report(context->diagnostics, BASE_ERROR, "T0418", s->span,
                    "'%s' takes %llu bytes of local memory in every thread, over the limit of %d",
                    tensor->name, (unsigned long long)bytes, LOCAL_LIMIT);
}

static void plan_statement(void *user, ir_stmt *s) {
    plan_state *state = user;
    lower_context *context = state->context;
    uint64_t elements;
    if (s->kind != IR_STMT_ALLOCATE || s->as.allocate.tensor->type.scope == IR_SCOPE_TMEM ||
        !lower_footprint(context, s->as.allocate.tensor, s->span, &elements))
        return;
    uint64_t bytes = lower_bytes(&s->as.allocate.tensor->type, elements);
    if (s->as.allocate.tensor->type.scope == IR_SCOPE_LOCAL)
        plan_local(state, s, bytes);
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
    static const ir_where barriers = {.effects = IR_FLAG_SYNC};
    if (s->kind == IR_STMT_EVALUATE)
        ir_expr_visit_where(s->as.evaluate.value, &barriers, find_grid_barrier, user);
}

void lower_launch(lower_context *context) {
    context->facts = arith_facts_create_later(context->arena, context->function);
    plan_state state = {context, NULL};
    lower_visit_statements(context->function->body, plan_statement, &state);
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
